#!/usr/bin/env python3
"""Which friction a box's slide and its push off the middle tell, by a scene's fitted smoothing.

  PYTHONPATH=BUILD/python python3 bench/pushed_friction.py [--friction 0.35] [--law cone]

Needs numpy, scipy and mujoco; the build does not run it. The record is of MuJoCo. Two motions: a box of 20 x 10 x 6 cm slides at 1 m/s
with nothing else; and a ball on a slide pushes it at 0.3 m/s, 2 cm off its middle, for 0.8 s. Friction
between box and table is found by least squares over the box's place and turn at 40 times; all else is
the record's.
"""
import argparse
import json
import pathlib
import tempfile

import mujoco
import numpy as np
import scipy.optimize

import abut

STEP, STEPS, EVERY = 0.002, 400, 10
LONG, WIDE, HIGH, MASS = 0.1, 0.05, 0.03, 1.0
MJCF = """<mujoco><option timestep="{step}" cone="elliptic"/><worldbody>
<geom name="table" type="plane" size="5 5 1" friction="{mu} 0 0"/>
<body name="box" pos="0 0 {high}"><freejoint/><geom name="box" type="box" size="{long} {wide} {high}" mass="{mass}"
friction="{mu} 0 0"/></body>
<body name="ball" pos="-0.145 {off} {high}"><joint type="slide" axis="1 0 0" damping="0"/>
<geom name="ball" type="sphere" size="0.04" mass="0.5" friction="0.3 0 0" contype="0" conaffinity="0"/></body>
</worldbody><contact><pair geom1="box" geom2="table" friction="{mu} {mu} 1e-6 1e-6 1e-6" condim="3"/>{push}</contact>
<actuator><velocity joint="{joint}" kv="200"/></actuator></mujoco>"""


def scene_of(context, push, law):
    pairs = [{"a": 1, "b": 0, "friction": 0.5}] + ([{"a": 2, "b": 1, "friction": 0.3}] if push else [])
    links = [{"bodies": [{"plane": [5, 5]}]},
             {"position": [0, 0, HIGH], "joint": {"type": "free"}, "density": MASS / (8 * LONG * WIDE * HIGH),
              "bodies": [{"box": [LONG, WIDE, HIGH]}]},
             {"position": [-0.145, 0.02, HIGH], "joint": {"type": "slide", "axis": [1, 0, 0]}, "mass": 0.5,
              "bodies": [{"sphere": 0.04}]}]
    scene = {"contact_model": law, "timestep": STEP, "links": links, "pairs": pairs,
             "actuators": [{"kind": "velocity", "joint": 2, "kv": 200}]}
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "push.scene.json"
        path.write_text(json.dumps(scene))
        return abut.Scene(path, context)


def features(q):
    """Place and turn of the box, in lengths, at kept times; q (times, 7) of a free joint."""
    yaw = 2 * np.arctan2(q[:, 6], q[:, 3])
    return np.column_stack([q[:, :2], LONG * yaw])


def by_mujoco(mu, push):
    pair = '<pair geom1="ball" geom2="box" friction="0.3 0.3 1e-6 1e-6 1e-6" condim="3"/>' if push else ""
    text = MJCF.format(step=STEP, mu=mu, high=HIGH, long=LONG, wide=WIDE, mass=MASS, off=0.02, push=pair, joint="push")
    model = mujoco.MjModel.from_xml_string(text.replace('type="slide"', 'name="push" type="slide"'))
    data = mujoco.MjData(model)
    data.ctrl[0] = 0.3 if push else 0.0
    data.qvel[0] = 0.0 if push else 1.0
    out = []
    for i in range(STEPS):
        mujoco.mj_step(model, data)
        if (i + 1) % EVERY == 0:
            out.append(data.qpos[:7].copy())
    return features(np.array(out))


def by_abut(scene, mu, push):
    v = np.zeros(scene.nv)
    v[0] = 0.0 if push else 1.0
    friction = np.full(scene.pairs, 0.3)
    friction[0] = mu
    r = scene.step(scene.start(), v, u=[0.3 if push else 0.0], steps=STEPS, record=EVERY, friction=friction)
    return features(np.asarray(r.q_record)[:, :7])


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--friction", type=float, default=0.35)
    parser.add_argument("--law", default="cone")
    options = parser.parse_args()
    context = abut.Context(precision="f64")
    print("| motion | law | true friction | found | farthest off [mm] |\n|---|---|---|---|---|")
    for push in (False, True):
        scene = scene_of(context, push, options.law)
        record = by_mujoco(options.friction, push)

        def off(mu, scene=scene, record=record, push=push):
            return float(((by_abut(scene, mu, push) - record) ** 2).sum())

        tried = np.linspace(0.2, 0.6, 9)
        middle = tried[np.argmin([off(mu) for mu in tried])]
        found = scipy.optimize.minimize_scalar(off, bounds=(middle - 0.05, middle + 0.05), method="bounded",
                                               options={"xatol": 1e-4}).x
        worst = 1e3 * np.abs(by_abut(scene, found, push) - record).max()
        print(f"| {'pushed' if push else 'slides'} | {options.law} | {options.friction} | {found:.3f} | {worst:.2f} |",
              flush=True)


if __name__ == "__main__":
    main()
