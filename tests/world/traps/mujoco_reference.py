#!/usr/bin/env python3
"""MuJoCo's figures of the traps that are of boxes, for mujoco.json: mujoco_reference.py [--write]

The same scenes, by MuJoCo's C engine with its defaults but for elliptic cones, the time step and the friction of 0.8 that
pairs of a scene have. Needs mujoco; the figures say of which version they are.
"""
import json
import pathlib
import sys
import tempfile

import mujoco

import runs
import scenes
import traps


def numbers(x):
    return " ".join(map(repr, x))


def model_of(scene):
    parts = [f'<mujoco><option timestep="{scene["timestep"]}" cone="elliptic"/><default><geom friction="0.8" type="box"/></default>'
             '<worldbody>']
    for link in scene["links"]:
        shape, = link["bodies"]
        if "plane" in shape:  # a slab below z = 0
            half = [*shape["plane"], 1.0]
            parts.append(f'<geom size="{numbers(half)}" pos="0 0 -1"/>')
        else:
            parts.append(f'<body pos="{numbers(link["position"])}" quat="{numbers(link["quaternion"])}"><freejoint/>'
                         f'<geom size="{numbers(shape["box"])}" mass="{link["mass"]!r}"/></body>')
    return mujoco.MjModel.from_xml_string("".join(parts) + "</worldbody></mujoco>")


class Fall(runs.Run):
    """As of abut, but of MuJoCo, a world alone."""

    def __init__(self, trap, start):
        model = model_of(trap.scene)
        data = mujoco.MjData(model)
        if start:
            data.qpos[:] = start
        self.solids = trap.scene["links"][1:]
        self.times, self.q_of, self.v_of = [0.0], list(data.qpos), list(data.qvel)
        for _ in range(round(trap.seconds / scenes.STEP / trap.record)):
            mujoco.mj_step(model, data, trap.record)
            self.times.append(data.time)
            self.q_of += list(data.qpos)
            self.v_of += list(data.qvel)
        self.kept, self.worlds, self.nq, self.nv = len(self.times), 1, model.nq, model.nv


def main():
    kept = {"by": f"MuJoCo {mujoco.__version__}, tests/world/traps/mujoco_reference.py"}
    with tempfile.TemporaryDirectory() as name:
        for trap in (scenes.make(of, pathlib.Path(name), True, None) for of in ("stack", "dominoes", "pile")):
            falls = [Fall(trap, start) for start in trap.q or [None]]
            last = falls[0].kept - 1
            figures = {"rise": float(f"{max(f.rise() for f in falls):.3g}")}
            if trap.name == "stack":
                figures["height"] = round(falls[0].pose(last, 9)[2], 5)
            elif trap.name == "dominoes":
                figures["times"] = [round(t, 4) for t in traps.tilts_past(falls[0], 0.6)]
                figures["tilts"] = [round(traps.lean(falls[0].pose(last, i)), 4) for i in range(10)]
            else:
                figures["kinetic"] = [float(f"{f.energy(last)[0]:.2g}") for f in falls]
                figures["heights"] = [round(sum(f.pose(last, i)[2] for i in range(50)) / 50, 4) for f in falls]
            kept[trap.name] = figures
    text = json.dumps(kept, indent=1) + "\n"
    print(text, end="")
    if "--write" in sys.argv:
        (traps.HERE / "mujoco.json").write_text(text)


if __name__ == "__main__":
    main()
