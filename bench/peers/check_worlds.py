#!/usr/bin/env python3
"""The library's worlds against MuJoCo: python bench/peers/check_worlds.py [--seed N] [--trees N] [--scenes N] [--states N]

The random trees and the boxes on a plane of check_dynamics.py, stepped by abut in float64: mass, bias, accelerations, forces of
constraints, the state after one step and after 100, A and B of euler against mjd_transitionFD; of boxes with MuJoCo's own contacts
given, one step. Prints the largest difference of each array, relative to its largest entry, and ends with 1 where one is above
the limit. Needs abut's package, numpy and mujoco, and what check_dynamics.py needs.
"""
import argparse
import json
import pathlib
import sys
import tempfile

import mujoco
import numpy as np

import abut
from check_dynamics import Worst, boxes, given_of, mujoco_answers, random_tree, to_mujoco

STEPS = 100
LIMIT = {"M": 1e-12, "bias": 1e-12, "A, B": 1e-6}                      # of others 1e-10


def plain(x):
    if isinstance(x, dict):
        return {k: plain(v) for k, v in x.items()}
    if isinstance(x, (list, tuple, np.ndarray)):
        return [plain(v) for v in x]
    return x.item() if isinstance(x, np.generic) else x


def load(scene, context):
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder, "random.scene.json")
        path.write_text(json.dumps(plain(scene | dict(tolerance=1e-13))))
        return abut.Scene(path, context)


def start(m, d, q, v, u):
    mujoco.mj_resetData(m, d)
    d.qpos[:], d.qvel[:], d.ctrl[:] = q, v, u


def compare_step(worst, m, scene, q, v, u, contacts=None):
    """One state's step and what it computes on the way."""
    d = mujoco.MjData(m)
    want = mujoco_answers(m, d, q, v, u)
    got = scene.step(q, v, u, contacts=contacts and contacts(d), want=("mass", "bias", "smooth", "acceleration", "constraint"))
    names = dict(M=got.mass, bias=got.bias, qacc_smooth=got.smooth, constraint=got.constraint, qacc=got.acceleration)
    for name, x in want.items():
        if not (m.opt.integrator == mujoco.mjtIntegrator.mjINT_RK4 and name == "qacc"):   # the last stage's
            worst.add(name, names[name], x)
    start(m, d, q, v, u)
    mujoco.mj_step(m, d)
    worst.add("q1", got.q, d.qpos)
    worst.add("v1", got.v, d.qvel)
    return int(got.status) == 0


def compare_transition(worst, m, scene, q, v, u):
    d, A, B = mujoco.MjData(m), np.zeros((2 * m.nv, 2 * m.nv)), np.zeros((2 * m.nv, m.nu))
    start(m, d, q, v, u)
    mujoco.mjd_transitionFD(m, d, 1e-6, True, A, B, None, None)
    got = scene.transition(q, v, u)
    worst.add("A, B", np.hstack([got.A, got.B]), np.hstack([A, B]))


def compare_roll(worst, m, scene, q, v, u):
    d = mujoco.MjData(m)
    start(m, d, q, v, u)
    for _ in range(STEPS):
        mujoco.mj_step(m, d)
    got = scene.step(q, v, u, steps=STEPS)
    worst.add(f"q{STEPS}", got.q, d.qpos)
    worst.add(f"v{STEPS}", got.v, d.qvel)


def check_trees(worst, random, context, options):
    done = True
    for _ in range(options.trees):
        for integrator in ("euler", "rk4"):
            text = random_tree(random, 5) | dict(integrator=integrator)
            scene, m = load(text, context), to_mujoco(text)
            for k in range(options.states):
                q = scene.add(scene.start(), random.normal(size=scene.nv) * .4)
                v, u = random.normal(size=scene.nv) * [.02, 1.][k % 2], random.normal(size=m.nu)
                done &= compare_step(worst, m, scene, q, v, u)
                compare_roll(worst, m, scene, q, v, u)
                if integrator == "euler":
                    compare_transition(worst, m, scene, q, v, u)
    print(f"trees: {options.trees * 2 * options.states} states")
    return done


def as_given(m, d, slots):
    c = given_of(m, d, slots)
    at = {k: np.where(c[k] == m.nbody - 1, -1, c[k]) for k in ("owner", "opposing")}
    at["owner"][d.ncon:], at["opposing"][d.ncon:] = 0, -1               # those that fill it up, of activity 0
    return abut.GivenContacts(at["owner"], at["opposing"], np.zeros(slots, int), c["p"], c["d"], c["n"], c["activity"])


def check_contacts(worst, random, context, options):
    kinds = [dict(), dict(impratio=5.), dict(diagonal="exact"), dict(cone="pyramidal"), dict(cone="pyramidal", impratio=3.), dict(condim=1)]
    soft = [dict(solref=[.02, 1.], solimp=[.9, .95, .001, .5, 2], margin=0.),
            dict(solref=[-2000., -80.], solimp=[.8, .98, .004, .3, 3.], margin=.01)]
    seen, slots, done = 0, 32, True
    for k in range(options.scenes):
        kind = dict(kinds[k % len(kinds)])
        condim, law = kind.pop("condim", 3), soft[(k // len(kinds) + k) % 2]
        text, sizes = boxes(random, 3, **kind)
        geom = "".join(f'{name}="{" ".join(repr(float(v)) for v in np.ravel(x))}" ' for name, x in law.items())
        m = to_mujoco(text, sizes, geom + f'friction=".6 .005 .0001" condim="{condim}"')
        d = mujoco.MjData(m)
        mujoco.mj_forward(m, d)
        margin = d.contact[0].includemargin if d.ncon else 0.
        scene = load(text | dict(pairs=[dict(law, friction=.6, condim=condim, margin=margin)]), context)
        for s in range(options.states):
            q = scene.add(scene.start(), random.normal(size=scene.nv) * .01)
            v = random.normal(size=scene.nv) * [.01, .3, 1.5][s % 3]

            def contacts(d):
                nonlocal seen
                seen += d.ncon
                return as_given(m, d, slots)
            done &= compare_step(worst, m, scene, q, v, np.zeros(0), contacts)
    print(f"boxes: {seen} contacts of {options.scenes * options.states} states")
    return done


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    for name, default in (("seed", 0), ("trees", 4), ("scenes", 18), ("states", 6)):
        parser.add_argument("--" + name, type=int, default=default)
    parser.add_argument("--device", default="host")
    options = parser.parse_args()
    context = abut.Context(options.device, precision="f64")
    failed = False
    for what, check in (("trees", check_trees), ("contacts", check_contacts)):
        worst = Worst()
        if not check(worst, np.random.default_rng(options.seed), context, options):
            print(f"{what}: a world has a status")
            failed = True
        for name, x in worst.items():
            limit = LIMIT.get(name, 1e-10)
            failed |= x > limit
            print(f"{what:10} {name:12} {x:.1e}{'' if x <= limit else f', above {limit:.0e}'}")
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
