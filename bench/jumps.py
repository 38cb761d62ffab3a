#!/usr/bin/env python3
"""How far gradients of energy and activity jump along lines through two bodies in touch.

  PYTHONPATH=BUILD/python python3 bench/jumps.py [--pairs "figure-part"] [--lines 8] [--poses 400]
                                                 [--step 0.008] [--seed 0]

Needs numpy; the build does not run it. A heat sink of twelve fins and a mug are bare meshes of this
program's own; nut and bolt take part where the environment's ABUT_SHARED names a folder with
data/meshes. In float64.

Body 2, turned at random, comes along a random line until its energy is above 0, goes on by a hundredth
of the smaller diagonal, and then in steps of --step times the fitted `penetration`, so that what is only
steep is none. A jump is how far a gradient at one pose lies from the line through those at the two poses
before, and from that through the two behind it, whichever is less, over the largest gradient on the
line: a smooth gradient has none, whichever way it bends.
Printed are the largest jump in per cent and how many of a hundred steps jump by more than 1 and 5.
"""
import argparse
import os
import pathlib
import tempfile

import numpy as np

import abut

ROOT = pathlib.Path(__file__).resolve().parent.parent
FIXED = np.array([0, 0, 0, 1.0, 0, 0, 0])
REDUCTIONS = "energy", "activity", "soft_minimum"
PAIRS = {"figure-part": ("figure.body.json", "part.body.json"), "ring-box": ("ring.body.json", "box.body.json")}
MESHES = {"nut-bolt": ("nut_m16", "bolt_m16")}


# ---- a heat sink and a mug [m] ----
def box(low, high):
    corners = [[(low, high)[i][0], (low, high)[j][1], (low, high)[k][2]] for i in (0, 1) for j in (0, 1)
               for k in (0, 1)]
    return corners, [[0, 1, 3, 2], [4, 6, 7, 5], [0, 4, 5, 1], [2, 3, 7, 6], [0, 2, 6, 4], [1, 5, 7, 3]]


def swept(rings, closed):
    """Faces between rings of as many points, one behind the other."""
    count, around = len(rings), len(rings[0])
    faces = [[r * around + i, r * around + (i + 1) % around, (r + 1) % count * around + (i + 1) % around,
              (r + 1) % count * around + i] for r in range(count if closed else count - 1) for i in range(around)]
    if not closed:
        faces += [list(range(around))[::-1], [(count - 1) * around + i for i in range(around)]]
    return np.concatenate(rings).tolist(), faces


def together(*solids):
    points, faces = [], []
    for solid_points, solid_faces in solids:
        faces += [[i + len(points) for i in face] for face in solid_faces]
        points += solid_points
    return points, faces


def heatsink():
    fins = [box((x, -0.03, 0.004), (x + 0.0015, 0.03, 0.03)) for x in np.linspace(-0.03, 0.0285, 12)]
    return together(box((-0.03, -0.03, 0.0), (0.03, 0.03, 0.005)), *fins)


def mug():
    angle = 2 * np.pi * np.arange(48) / 48
    profile = [(0.0, 0.036), (0.0, 0.04), (0.095, 0.04), (0.095, 0.037), (0.005, 0.037), (0.005, 0.002)]
    rings = [np.c_[r * np.cos(angle), r * np.sin(angle), np.full(48, z)] for z, r in profile]
    bend = np.linspace(-0.55 * np.pi, 0.55 * np.pi, 24)
    handle = [np.c_[0.036 + (0.025 + 0.005 * np.cos(angle[::4])) * np.cos(b), 0.005 * np.sin(angle[::4]),
                    0.048 + (0.025 + 0.005 * np.cos(angle[::4])) * np.sin(b)] for b in bend]
    return together(swept(rings, False), swept(handle, False))


def write_obj(path, points, faces):
    lines = ["v " + " ".join(f"{x:.9g}" for x in point) for point in points]
    lines += ["f " + " ".join(str(i + 1) for i in face) for face in faces]
    path.write_text("\n".join(lines) + "\n")
    return path


def pairs(made):
    """Two files of each pair; made: a folder for those of this program."""
    found = {name: [ROOT / "assets" / file for file in files] for name, files in PAIRS.items()}
    found["heatsink-mug"] = [write_obj(made / "heatsink.obj", *heatsink()), write_obj(made / "mug.obj", *mug())]
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
        poses = line(pair, size, random, options.poses, options.step * pair.smoothing["penetration"])
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
    parser.add_argument("--step", type=float, default=0.008)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    context = abut.Context(precision="f64")
    folder = tempfile.TemporaryDirectory()
    known = pairs(pathlib.Path(folder.name))
    print("| pair | reduction | largest jump [%] | steps above 1 % [%] | above 5 % [%] |\n|---|---|---|---|---|")
    for name in filter(None, options.pairs.split(",")) if options.pairs else known:
        a, b = (context.load(file) for file in known[name])
        pair = abut.Pair(a, b)
        for reduction, share in measure(pair, min(a.diagonal, b.diagonal), options).items():
            print(f"| {name} | {reduction} | {share.max():.3g} | {100 * (share > 1).mean():.2g} | "
                  f"{100 * (share > 5).mean():.2g} |", flush=True)


if __name__ == "__main__":
    main()
