#!/usr/bin/env python3
"""How smooth energy and activity are while bodies by a word pass each other.

  word_paths.py [--share 0.25] [--csv OUT.csv] [--device cpu]

Body 2 passes body 1 on twelve straight lines of 1,201 poses, both turning. A pass counts while no contact of activity 0.1 or more is deeper
than `share` of the thinner body's thickness. Printed for each pair, as medians and at most over the passes, energies as shares of a pass's largest:
  second   the largest second difference of the energy, times the square of the number of poses
  step     the largest change of the energy between two poses
  active   the largest change of the sum of activities between two poses, as a share of the largest sum
It runs with any build that has `Scene.find_contacts`, so that two builds can be held side by side.
"""
import argparse
import csv
import json
import pathlib
import tempfile

import numpy as np

import abut

WORDS = {"ball": ({"sphere": .05}, .05, .05), "capsule": ({"capsule": [.03, .06]}, .03, .09), "cube": ({"box": [.05] * 3}, .05, .087),
         "box": ({"box": [.1, .06, .03]}, .03, .12), "bar": ({"box": [.12, .02, .02]}, .02, .124),
         "plate": ({"box": [.08, .08, .01]}, .01, .113), "cylinder": ({"cylinder": [.05, .05]}, .05, .07)}  # half thickness, reach [m]
PAIRS = ("ball-ball ball-capsule capsule-capsule ball-cube capsule-box cylinder-cylinder cylinder-box cube-cube box-box cube-box bar-bar "
         "bar-plate plate-plate").split()
POSES, PASSES, SEED = 1201, 12, 5


def unit(v):
    return v / np.linalg.norm(v)


def turning(random, share):
    """Quaternions (POSES, 4) on the way from one to a share of the way to another."""
    a, b = unit(random.normal(size=4)), unit(random.normal(size=4))
    b = b if a @ b > 0 else -b
    angle, t = np.arccos(min(a @ b, 1.0)), share * np.linspace(0, 1, POSES)[:, None]
    return (np.sin((1 - t) * angle) * a + np.sin(t * angle) * b) / np.sin(angle)


def passing(random, thin, far):
    """Positions (POSES, 14) of both bodies."""
    across = unit(random.normal(size=3))
    along = unit(np.cross(across, random.normal(size=3)))
    beside = random.uniform(.3, .95) * thin
    q = np.zeros((POSES, 14))
    q[:, 7:10] = across * beside + np.outer(np.linspace(-.8, .8, POSES) * far, along)
    q[:, 3:7], q[:, 10:] = turning(random, .2), turning(random, .2)
    return q


def measure(scene, q, deepest):
    """second, step and active of a pass, or None where the bodies hardly touch."""
    near = scene.find_contacts(q, threshold=1e-9)
    energy = np.bincount(near.world, near.activity * np.maximum(-near.d, 0) ** 2, POSES)
    active = np.bincount(near.world, near.activity, POSES)
    deep = np.zeros(POSES)
    counted = near.activity > .1
    np.maximum.at(deep, near.world[counted], -near.d[counted])
    fits = np.convolve(deep > deepest, np.ones(5), "same") == 0
    if fits.sum() < 30 or energy[fits].max() <= 0:
        return None
    energy, active = energy / energy[fits].max(), active / active[fits].max()
    both = fits[1:] & fits[:-1]
    return (np.abs(np.diff(energy, 2))[fits[1:-1]].max() * POSES ** 2, np.abs(np.diff(energy))[both].max(), np.abs(np.diff(active))[both].max())


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--share", type=float, default=.25)
    parser.add_argument("--csv", type=pathlib.Path)
    parser.add_argument("--device", default="cpu")
    given = parser.parse_args()
    context, rows = abut.Context(given.device, precision="f64"), []
    for pair in PAIRS:
        (one, thin1, far1), (two, thin2, far2) = (WORDS[word] for word in pair.split("-"))
        free = {"joint": {"type": "free"}, "density": 500}
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "pair.scene.json"
            path.write_text(json.dumps({"links": [{**free, "bodies": [one]}, {**free, "position": [1, 0, 0], "bodies": [two]}],
                                        "pairs": [{"a": 0, "b": 1}]}))
            scene = abut.Scene(path, context)
        random = np.random.default_rng(SEED)
        made = [measure(scene, passing(random, thin1 + thin2, far1 + far2), given.share * 2 * min(thin1, thin2)) for _ in range(PASSES)]
        made = np.array([m for m in made if m])
        row = [pair, len(made), *np.median(made, 0), *made.max(0)]
        rows.append(row)
        print(f"{pair:18} {row[1]:2} passes: second {row[2]:8.3g} ({row[5]:.3g}), step {row[3]:6.3f} ({row[6]:.3f}), "
              f"active {row[4]:6.3f} ({row[7]:.3f})")
    if given.csv:
        with given.csv.open("w", newline="") as file:
            out = csv.writer(file)
            out.writerow(["pair", "passes", "second", "step", "active", "second_most", "step_most", "active_most"])
            out.writerows([row[0], row[1], *(f"{x:.4g}" for x in row[2:])] for row in rows)


if __name__ == "__main__":
    main()
