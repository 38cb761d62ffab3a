#!/usr/bin/env python3
"""Operations and bytes of a step a world, kernel by kernel, as Oclgrind with bench/counts counts them.

    python3 bench/world_counts.py build SCENE STATES.npz

Prints a table. STATES: arrays q and v of many worlds, of which the first 2 and the first 6 are stepped:
what a world costs is their difference. Needs what `gpus.py --count` needs, and NumPy; takes a minute or
two. Lanes are those that the library takes on a GPU of no known kind; an addition, a product or a
comparison is one operation, a fused multiply-add two.
"""
import os
import pathlib
import subprocess
import sys
import tempfile

import numpy as np

import gpus

WORLDS = (2, 6)


def start(build, out, scene, states, worlds):
    with np.load(states) as file:
        np.savez(out / f"{worlds}.npz", **{name: file[name][:worlds] for name in "qv"})
    env = {**os.environ, "ABUT_COUNTS": str(out / f"{worlds}.csv"), "ABUT_TUNING": "", "ABUT_CACHE_DIR": "off"}
    return subprocess.Popen(["oclgrind", "--max-wgsize", str(gpus.GROUP), "--plugins", out / "counts.so",
                             build / "src" / "cli" / "abut", "simulate", scene, "--states", out / f"{worlds}.npz",
                             "--steps", "1", "-o", out / f"{worlds}.out.npz", "-q", "--device", "oclgrind"], env=env)


def sums(path):
    """kernel -> launches, operations, elementary functions, bytes read, bytes written."""
    found = {}
    for line in path.read_text().splitlines():
        if line.startswith("#"):
            continue
        name, *numbers = line.split(",")
        of = dict(zip(gpus.FIELDS, map(int, numbers)))
        row = found.setdefault(name, [0] * 5)
        for i, x in enumerate((1, of["single"], of["functions"], of["read"], of["written"])):
            row[i] += x
    return found


def main():
    build, scene, states = (pathlib.Path(word).resolve() for word in sys.argv[1:])
    with tempfile.TemporaryDirectory() as folder:
        out = pathlib.Path(folder)
        gpus.make(build, out)
        runs = [start(build, out, scene, states, n) for n in WORLDS]
        if any([run.wait() for run in runs]):
            sys.exit("counting failed")
        few, many = (sums(out / f"{n}.csv") for n in WORLDS)
    rows = []
    for name, row in many.items():
        each = [(b - a) / (WORLDS[1] - WORLDS[0]) for a, b in zip(few.get(name, [0] * 5), row)]
        rows.append((name, row[0], *each[1:]))
    total = ["all", *[sum(row[i] for row in rows) for i in range(1, 6)]]
    print("| kernel | launches | operations | elementary functions | bytes read | bytes written |\n|---|---|---|---|---|---|")
    for name, *numbers in [*sorted(rows, key=lambda row: -row[2]), total]:
        print(f"| {name} | " + " | ".join(f"{x:,.0f}" for x in numbers) + " |")


if __name__ == "__main__":
    main()
