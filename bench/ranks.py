#!/usr/bin/env python3
"""What ranks of MPI gain: gradients of one batch by one process and by two ranks, by turns in one run.

    python3 bench/ranks.py BUILD [--bodies A B] [--poses 100000] [--rounds 15] [--write]

A processor with two cores is wanted, which nothing else uses: a machine that is busy gives two processes twice the share of one. One process
computes on both halves of it (`--device pocl/1`), one on a half (`pocl/1.0`), and two ranks on a half each. All write energies and gradients
into a folder; 256 poses by the same three tell what the start takes, which the ratios are without. A last run by ranks tells, by its timeline, what part of
the time each waits for an answer of rank 0 (exchange), and at its end for the others. With --write the figures are
kept in bench/results/ranks.json, with device and commit. Exit status 77 without mpirun. Needs NumPy.
"""
import argparse
import json
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parent.parent
MPIRUN = ["mpirun", "--allow-run-as-root", "--oversubscribe", "--bind-to", "none"]
WAYS = {"one process, both halves": ([], ["pocl/1"]), "one process, one half": ([], ["pocl/1.0"]),
        "two ranks, a half each": (MPIRUN, ["pocl/1.0", "pocl/1.1"])}
FEW = 256


def write_poses(folder, count):
    """Body 2 about body 1, in any direction and turned by up to 1.5 rad: many touch."""
    random = np.random.default_rng(1)
    poses = np.zeros((count, 12))
    poses[:, 6:9] = random.uniform(-0.6, 0.6, (count, 3))
    poses[:, 9:] = random.uniform(-1.5, 1.5, (count, 3))
    np.save(folder / f"{count}.npy", poses)


def command_of(options, folder, way, count, *more):
    launcher, devices = WAYS[way]
    words = list(launcher)
    for i, device in enumerate(devices):
        words += [":"] * (i > 0) + (["-n", "1"] if launcher else [])
        words += [str(options.build / "src/cli/abut"), "gradient", *map(str, options.bodies), "--poses", str(folder / f"{count}.npy"),
                  "--reduce", "energy", "-o", f"{folder}/out/", "--device", device, "-q", *more]
    return words


def seconds_of(options, folder, way, count):
    shutil.rmtree(folder / "out", ignore_errors=True)
    began = time.perf_counter()
    subprocess.run(command_of(options, folder, way, count), check=True)
    return time.perf_counter() - began


def measure(options, folder):
    times = {way: {count: [] for count in (FEW, options.poses)} for way in WAYS}
    for way in WAYS:
        seconds_of(options, folder, way, FEW)  # programs are compiled
    for turn in range(options.rounds):
        for way in list(WAYS)[turn % 3:] + list(WAYS)[:turn % 3]:
            for count in times[way]:
                times[way][count].append(seconds_of(options, folder, way, count))
    return times


def shares_of(options, folder):
    """The largest of all ranks, of the time from the first block to the end."""
    shutil.rmtree(folder / "out", ignore_errors=True)
    subprocess.run(command_of(options, folder, list(WAYS)[2], options.poses, "--timeline", str(folder / "ranks")), check=True)
    spans = [e for e in json.loads((folder / "ranks.json").read_text())["traceEvents"] if e["ph"] == "X"]
    whole = max(e["ts"] + e["dur"] for e in spans)
    of = lambda kind: max(sum(e["dur"] for e in spans if e["pid"] == rank and e["cat"] == kind) for rank in range(2)) / whole
    return {"exchange_share": of("ask"), "write_share": of("write"), "end_share": of("end")}


def figures_of(times, poses):
    """Medians of rounds; `net` is without what 256 poses take."""
    both, half, ranks = WAYS
    net = {way: [t - s for t, s in zip(of[poses], of[FEW])] for way, of in times.items()}
    ratio = lambda a, b: statistics.median(x / y for x, y in zip(net[a], net[b]))
    return {"start_s": {way: statistics.median(of[FEW]) for way, of in times.items()},
            "whole_s": {way: statistics.median(of[poses]) for way, of in times.items()},
            "net_poses_a_second": {way: (poses - FEW) / statistics.median(net[way]) for way in net},
            "ranks_over_one_process": ratio(both, ranks), "ranks_over_half": ratio(half, ranks),
            "process_over_half": ratio(half, both),
            "start_of_ranks_over_one_s": statistics.median(times[ranks][FEW]) - statistics.median(times[both][FEW])}


def tell(figures):
    for name, value in figures.items():
        for way, number in value.items() if isinstance(value, dict) else [("", value)]:
            print(f"{name:28} {way:28} {number:.4g}")


def keep(options, figures):
    said = lambda *words: subprocess.run(words, capture_output=True, text=True, cwd=ROOT, check=False).stdout.strip()
    devices = json.loads(said(str(options.build / "src/cli/abut"), "devices", "--json"))
    kept = {"commit": said("git", "rev-parse", "--short", "HEAD"), "devices": devices, "poses": options.poses, "rounds": options.rounds,
            "mpirun": said("mpirun", "--version").splitlines()[0], "bodies": [p.name for p in options.bodies], **figures}
    (ROOT / "bench/results/ranks.json").write_text(json.dumps(kept, indent=1) + "\n")


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("build", type=Path)
    p.add_argument("--bodies", type=Path, nargs=2, default=[ROOT / "assets/figure.body.json", ROOT / "assets/part.body.json"])
    p.add_argument("--poses", type=int, default=100000)
    p.add_argument("--rounds", type=int, default=15)
    p.add_argument("--write", action="store_true")
    options = p.parse_args()
    options.build = options.build.resolve()
    if not shutil.which("mpirun"):
        print("not run: no mpirun")
        return 77
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for count in (FEW, options.poses):
            write_poses(folder, count)
        figures = figures_of(measure(options, folder), options.poses)
        figures.update(shares_of(options, folder))
    tell(figures)
    if options.write:
        keep(options, figures)
    return 0


if __name__ == "__main__":
    sys.exit(main())
