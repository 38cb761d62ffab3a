#!/usr/bin/env python3
"""How far gradients of energy and activity jump along lines through two bodies in touch.

  PYTHONPATH=BUILD/python python3 bench/jumps.py [--pairs "figure-part"] [--lines 8] [--poses 400]
                                                 [--step 3e-5] [--seed 0]

Needs numpy; the build does not run it. Pairs of bare meshes take part where the environment's
ABUT_SHARED names a folder with data/meshes: heatsink and mug are two of them. In float64.

Body 2, turned at random, comes along a random line until its energy is above 0, goes on by a hundredth
of the smaller diagonal, and then in steps of --step metres. A jump is how far a gradient at one pose lies
from the line through those at the two poses before, and from that through the two behind it, whichever
is less, over the largest gradient on the line: a smooth gradient has none, whichever way it bends.
Printed are the largest jump in per cent and how many of a hundred steps jump by more than 1 and 5.
"""
import argparse
import os
import pathlib

import numpy as np

import abut

ROOT = pathlib.Path(__file__).resolve().parent.parent
FIXED = np.array([0, 0, 0, 1.0, 0, 0, 0])
REDUCTIONS = "energy", "activity", "soft_minimum"
PAIRS = {"figure-part": ("figure.body.json", "part.body.json"), "ring-box": ("ring.body.json", "box.body.json")}
MESHES = {"heatsink-mug": ("heatsink", "mug"), "nut-bolt": ("nut_m16", "bolt_m16")}


def pairs():
    found = {name: [ROOT / "assets" / file for file in files] for name, files in PAIRS.items()}
    folder = pathlib.Path(os.environ.get("ABUT_SHARED", "/none")) / "data/meshes"
    for name, words in MESHES.items():
        files = [sorted(folder.glob(f"*{word}*.*")) for word in words]
        if all(files):
            found[name] = [file[0] for file in files]
    return found


def values(pair, poses, reduction):
    return np.asarray(abut.reduce(pair, FIXED, poses, reduction).value)


def line(pair, size, random, poses, step):
    """Poses along a line into body 1; None where it misses."""
    way = random.normal(size=3)
    way /= np.linalg.norm(way)
    turn = random.normal(size=4)
    turn /= np.linalg.norm(turn)
    beside = 0.1 * size * random.normal(size=3)

    def at(along):
        along = np.atleast_1d(along)
        return np.column_stack([beside + along[:, None] * way, np.tile(turn, (len(along), 1))])

    coarse = np.linspace(2.0, -0.5, 1000) * size
    touching = np.flatnonzero(values(pair, at(coarse), "activity") > 0.5)
    if not len(touching):
        return None
    return at(coarse[touching[0]] - 0.01 * size - step * np.arange(poses))


def jumps(gradients):
    """Of each pose but the two first and the two last, over the largest gradient."""
    ahead = np.linalg.norm(gradients[2:-2] - (2 * gradients[1:-3] - gradients[:-4]), axis=1)
    back = np.linalg.norm(gradients[2:-2] - (2 * gradients[3:-1] - gradients[4:]), axis=1)
    return np.minimum(ahead, back) / np.linalg.norm(gradients, axis=1).max()


def measure(pair, size, options):
    random = np.random.default_rng(options.seed)
    found = {reduction: [] for reduction in REDUCTIONS}
    lines = tries = 0
    while lines < options.lines and tries < 10 * options.lines:
        tries += 1
        poses = line(pair, size, random, options.poses, options.step)
        if poses is None:
            continue
        lines += 1
        for reduction in REDUCTIONS:
            r = abut.reduce(pair, FIXED, poses, reduction, grad=True)
            found[reduction].append(jumps(np.asarray(r.grad2)[:, :3]))
    return {reduction: 100 * np.concatenate(all_) for reduction, all_ in found.items() if all_}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--pairs", default="")
    parser.add_argument("--lines", type=int, default=8)
    parser.add_argument("--poses", type=int, default=400)
    parser.add_argument("--step", type=float, default=3e-5)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    context = abut.Context(precision="f64")
    known = pairs()
    print("| pair | reduction | largest jump [%] | steps above 1 % [%] | above 5 % [%] |\n|---|---|---|---|---|")
    for name in filter(None, options.pairs.split(",")) if options.pairs else known:
        a, b = (context.load(file) for file in known[name])
        pair = abut.Pair(a, b)
        for reduction, share in measure(pair, min(a.diagonal, b.diagonal), options).items():
            print(f"| {name} | {reduction} | {share.max():.3g} | {100 * (share > 1).mean():.2g} | "
                  f"{100 * (share > 5).mean():.2g} |", flush=True)


if __name__ == "__main__":
    main()
