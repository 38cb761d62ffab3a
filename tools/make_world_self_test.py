#!/usr/bin/env python3
"""Writes what devices are asked about worlds: make_world_self_test.py > src/world/self_test_answers.inl

A tree of a free link, a hinge and a slide with limits, friction loss and a motor, with contacts that
are given; two worlds, one step. Answers by bench/peers/dynamics_reference.py, in float64.
"""
import json
import pathlib
import sys

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "bench" / "peers"))
import dynamics_reference as dr  # noqa: E402

SCENE = {
    "timestep": 0.004, "impratio": 2,
    "links": [
        {"mass": 1.2, "com": [0.02, -0.01, 0.03], "inertia": [[0.02, 0.001, 0], [0.001, 0.03, 0.002], [0, 0.002, 0.025]],
         "joint": {"type": "free"}},
        {"parent": 0, "position": [0.1, 0, 0.05], "quaternion": [0.9, 0.1, -0.3, 0.2], "mass": 0.4, "com": [0.05, 0, 0],
         "inertia": [[0.001, 0, 0], [0, 0.002, 0], [0, 0, 0.002]],
         "joint": {"type": "hinge", "position": [0, 0.01, 0], "axis": [0.2, 1, 0.1], "damping": 0.05, "armature": 0.01,
                   "limits": [-0.5, 0.2]}},
        {"parent": 1, "position": [0.1, 0, 0], "mass": 0.3, "inertia": [[0.001, 0, 0], [0, 0.001, 0], [0, 0, 0.001]],
         "joint": {"type": "slide", "axis": [1, 0, 0.5], "frictionloss": 0.4, "stiffness": 20, "rest": 0.01}}],
    "actuators": [{"kind": "motor", "joint": 1, "gear": 1.5}],
    "pairs": [{"friction": 0.7}]}
CONTACTS = 3


def numbers(name, array):
    flat = np.asarray(array).reshape(-1)
    rows = [", ".join(f"{x:.17g}" for x in flat[i:i + 4]) for i in range(0, len(flat), 4)]
    return f"static const double {name}[{len(flat)}] = {{\n  " + ",\n  ".join(rows) + "};\n"


def main():
    scene = dr.load_scene(json.loads(json.dumps(SCENE)))
    rng = np.random.default_rng(5)
    q = np.array([[0.1, 0.2, 0.3, 0.8, 0.2, -0.5, 0.1, 0.25, 0.03], [-0.2, 0, 0.1, -0.3, 0.9, 0.1, 0.4, -0.1, -0.02]])
    v = rng.normal(size=(2, 8))
    u = np.array([[0.6], [-1.1]])
    p = rng.normal(size=(2, CONTACTS, 3)) * 0.2
    d = -rng.uniform(0.0005, 0.004, size=(2, CONTACTS))
    n = rng.normal(size=(2, CONTACTS, 3))
    n /= np.linalg.norm(n, axis=-1, keepdims=True)
    activity = rng.uniform(0.4, 1, size=(2, CONTACTS))
    links = dict(owner=np.array([0, 2, 0]), opposing=np.array([-1, -1, 2]), pair=np.zeros(CONTACTS, int))
    steps = [dr.step(scene, q[i], v[i], u[i], given=dict(links, p=p[i], d=d[i], n=n[i], activity=activity[i],
                                                         pairs=scene.pairs)) for i in range(2)]
    cotangent = rng.normal(size=(2, 16))
    slopes = [dr.step_derivatives(scene, q[i], v[i], u[i], given=dict(links, p=p[i], d=d[i], n=n[i], activity=activity[i],
                                                                      pairs=scene.pairs)) for i in range(2)]
    print("/* Made by tools/make_world_self_test.py. */")
    text = json.dumps(SCENE).replace('"', '\\"')
    print("static const char scene_text[] =")
    print("\n".join(f'  "{line}"' for line in lines_of(text)) + ";")
    for name, array in (("start_q", q), ("start_v", v), ("controls", u), ("points", p), ("distances", d),
                        ("normals", n), ("activities", activity), ("next_q", [s[0] for s in steps]),
                        ("next_v", [s[1] for s in steps]), ("accelerations", [s[2]["qacc"] for s in steps]),
                        ("cotangents", cotangent), ("q_gradients", [c @ s[0][:, :8] for c, s in zip(cotangent, slopes)]),
                        ("v_gradients", [c @ s[0][:, 8:] for c, s in zip(cotangent, slopes)]),
                        ("control_gradients", [c @ s[1] for c, s in zip(cotangent, slopes)])):
        print(numbers(name, array), end="")


def lines_of(text):
    """Cut at blanks, so that no escape is."""
    line = ""
    for word in text.split(" "):
        if len(line) + len(word) > 90:
            yield line
            line = ""
        line += word + " "
    yield line.rstrip()


main()
