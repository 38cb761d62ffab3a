#!/usr/bin/env python3
"""What derivatives of closest points cost beside the query itself, by each method, on one core.

  python3 bench/peers/closest_methods.py --build build [--hulls FOLDER] [--write]

10,000 pairs of hulls, apart and overlapping, as closest.py makes them: of the groups of FOLDER's .obj files, or without it of stretched
icosahedra. Jacobians of d, n, p1 and p2 by both bodies' twists, from host arrays to host arrays, in one call for all pairs; exact,
gumbel and gaussian begin from answers that are there, so that the query is not in their time; zeroth and finite make queries of their
own. float32, and float64 for finite, which has no other, beside the query in float64. Medians of the calls' processor time, in turns, in
microseconds a pair; ratios are those of medians within a turn. Beside them the paper's Table II (Montaut et al. 2023), of another
machine. `ninja -C BUILD bench/closest_abut` is built by this. --write keeps bench/results/closest-methods.json and renews the table of
docs/benchmarks/closest-derivatives.md. Needs numpy and scipy, and no Python package of abut. A minute.
"""
import argparse
import json
import pathlib
import statistics
import tempfile

import numpy as np

import closest
import closest_shapes as cs
import run

ROOT = run.ROOT
RESULT, PAGE = ROOT / "bench" / "results" / "closest-methods.json", ROOT / "docs" / "benchmarks" / "closest-derivatives.md"
BEGIN, END = "<!-- methods: begin -->", "<!-- methods: end -->"
# Of closest_abut: its number of the method, or none for the query; its precision; the paper's microseconds.
METHODS = {"query": (None, "f32", 2.), "exact": (0, "f32", None), "gumbel, level 1": (1, "f32", 1.7), "gumbel, level 2": (11, "f32", None),
           "gaussian, M 20": (2, "f32", 8.9), "zeroth, M 20": (3, "f32", 122.), "query, float64": (None, "f64", None),
           "finite, float64": (4, "f64", None)}


def beside(name):
    """The query that a method is compared with."""
    return "query, float64" if name.endswith("float64") else "query"


def time_methods(program, path, options):
    """Every method once a turn -> medians of times, and ratios to the query of the same turn."""
    times = {name: [] for name in METHODS}
    for _ in range(options.turns):
        for name, (number, precision, _) in METHODS.items():
            method = [] if number is None else ["-j", number]
            times[name].append(closest.ask(program, "-p", precision, "-r", options.calls, *method, path)["processor"])
    return {name: {"us": statistics.median(each),
                   "ratio": statistics.median(a / b for a, b in zip(each, times[beside(name)]))} for name, each in times.items()}


def measure(options):
    program = closest.make_abut(options)
    closest.pin(options.core)
    shapes = closest.read_hulls(options.hulls) if options.hulls else closest.icosahedra(np.random.default_rng(options.seed))
    rows = {}
    with tempfile.TemporaryDirectory() as folder:
        for label, overlapping in (("apart", False), ("overlapping", True)):
            path = pathlib.Path(folder) / label
            cs.write_problem(path, shapes, closest.pairs(shapes, overlapping, np.random.default_rng([options.seed, overlapping])))
            rows[label] = time_methods(program, path, options)
    return rows


def table(rows):
    lines = ["| | apart [us] | over the query | overlapping [us] | over the query | the paper [us] | over its query |",
             "|---" * 7 + "|"]
    for name, (_, _, paper) in METHODS.items():
        cells = [f"{rows[label][name][what]:.3g}" for label in rows for what in ("us", "ratio")]
        theirs = [f"{paper:.3g}", f"{paper / METHODS['query'][2]:.2g}"] if paper else ["", ""]
        lines.append(f"| {name} | " + " | ".join(cells + theirs) + " |")
    return "\n".join(lines)


def write(rows, about):
    RESULT.write_text(json.dumps({"about": about, "sets": rows}, indent=1) + "\n")
    before, rest = PAGE.read_text().split(BEGIN)
    tail = f"{about['shapes']}; {about['processor']}, one core; commit {about['commit']}."
    PAGE.write_text(f"{before}{BEGIN}\n{table(rows)}\n\n{tail}\n{END}{rest.split(END)[1]}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build")
    parser.add_argument("--hulls", type=pathlib.Path, help="a folder of .obj files whose object groups are convex; else icosahedra")
    parser.add_argument("--device", default="pocl")
    parser.add_argument("--core", type=int, default=0)
    parser.add_argument("--turns", type=int, default=3)
    parser.add_argument("--calls", type=int, default=15, help="of a turn")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args()
    rows = measure(options)
    print(table(rows))
    if options.write:
        commit = run.output_of(["git", "describe", "--always", "--dirty"]) or "?"
        write(rows, {"shapes": "hulls of meshes" if options.hulls else "stretched icosahedra", "processor": run.processor(),
                     "commit": commit, "calls": options.turns * options.calls, "unit": "microseconds a pair, one core"})


if __name__ == "__main__":
    main()
