#!/usr/bin/env python3
"""Makes identify_records.json: two motions of a box on a table, by MuJoCo.

  record_motions.py [--check]

The first motion is a slide: the box has a velocity and comes to rest. The second motion is a push: a ball on a rail, driven by a known
force, pushes the box through its middle. The force ends, the box slides on, and damping stops the ball.
--check compares the motions with the file, and writes nothing.
"""
import argparse
import json
import pathlib
import sys

import mujoco
import numpy as np

FILE = pathlib.Path(__file__).with_name("identify_records.json")
GIVEN = {"timestep": 0.002, "every": 10,  # [s]; steps between two positions
         "box": [0.1, 0.05, 0.03], "ball": 0.03, "ball_mass": 0.5, "gap": 0.01,  # [m] half lengths, radius, between ball and box; [kg]
         "speed": 1.0, "slide_steps": 200,  # [m/s] of the slide
         "force": 14.0, "force_steps": 250, "push_steps": 500}  # [N] of the push
TRUTH = {"mass": 1.3, "friction": 0.35, "damping": 4.0}  # [kg] of the box; between box and table; [N s/m] of the rail
MODEL = """<mujoco><option timestep="{timestep}" cone="elliptic"/><worldbody>
<geom type="plane" size="5 5 1" friction="{friction}"/>
<body pos="0 0 {box[2]}"><freejoint/>
  <geom name="box" type="box" size="{box[0]} {box[1]} {box[2]}" mass="{mass}" friction="{friction}"/></body>
<body pos="{start} 0 {box[2]}"><joint name="rail" type="slide" axis="1 0 0" damping="{damping}"/>
  <geom name="ball" type="sphere" size="{ball}" mass="{ball_mass}" contype="0" conaffinity="0"/></body></worldbody>
<contact><pair geom1="ball" geom2="box" condim="1"/></contact>
<actuator><motor joint="rail"/></actuator></mujoco>"""


def motion(speed, ball, forces):
    """Positions along x of box and ball [m] at every kept step; the ball begins at `ball`."""
    model = mujoco.MjModel.from_xml_string(MODEL.format(**GIVEN, **TRUTH, start=-GIVEN["box"][0] - GIVEN["ball"] - GIVEN["gap"]))
    data = mujoco.MjData(model)
    data.qvel[0], data.qpos[7] = speed, ball
    kept = []
    for k, force in enumerate(forces):
        data.ctrl[0] = force
        mujoco.mj_step(model, data)
        if (k + 1) % GIVEN["every"] == 0:
            kept.append(data.qpos[[0, 7]].copy())
    return np.round(kept, 6)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--check", action="store_true")
    check = parser.parse_args().check
    slide = motion(GIVEN["speed"], -1.0, np.zeros(GIVEN["slide_steps"]))  # the ball is out of the way
    push = motion(0.0, 0.0, np.where(np.arange(GIVEN["push_steps"]) < GIVEN["force_steps"], GIVEN["force"], 0.0))
    made = {"mujoco": mujoco.__version__, "given": GIVEN, "truth": TRUTH,
            "slide": {"box": slide[:, 0].tolist()}, "push": {"box": push[:, 0].tolist(), "ball": push[:, 1].tolist()}}
    if not check:
        FILE.write_text("{" + ",\n ".join(f"{json.dumps(key)}: {json.dumps(value)}" for key, value in made.items()) + "}\n")
        return
    kept = json.loads(FILE.read_text())
    if kept["mujoco"] != made["mujoco"]:
        print(f"the file is of MuJoCo {kept['mujoco']}, this is {made['mujoco']}")
        sys.exit(77)
    assert kept["given"] == GIVEN and kept["truth"] == TRUTH
    for name in ("slide", "push"):
        for body, x in made[name].items():
            assert len(x) == len(kept[name][body]), f"{name}, {body}: as many positions"
            assert np.abs(np.subtract(x, kept[name][body])).max() < 1e-4, f"{name}, {body}: the same positions"


if __name__ == "__main__":
    main()
