#!/usr/bin/env python3
"""Closest points of convex shapes: abut beside Coal, on one core each, by turns, on the same pairs.

  python3 bench/peers/closest.py --build build --hulls FOLDER [--eigen FOLDER] [--write]
  python3 bench/peers/closest.py --hulls FOLDER --only coal

Sets of 10,000 pairs with a fixed seed, shapes turned anyhow, overlapping and apart: hulls of the groups of FOLDER's .obj files,
polytopes of 12 vertices (icosahedra, each stretched along three axes), spheres, capsules, boxes, and these three kinds mixed.
The centres of both lie on a random line. Overlapping: as far apart as a random share of what both shapes reach along it, so that a
point is in both. Apart: a random gap is between them along it, up to the mean of both diagonals.

Coal (PyPI: coal) computes in float64, one query after the other, compiled here with its headers, Eigen's and Boost's; abut in
float32 in one call for all pairs, built by `ninja -C BUILD bench/closest_abut`. Both are bound to one core. Prints times in
microseconds a pair, medians over the rounds, and ratios, within each round, of the faster of two ways to ask Coal over abut, of the
wall's time and of the processor's, which other programs disturb less; then how well Coal's answers agree with abut's in float64, and
what the shapes themselves say where they do not (closest_certificate.py).
--write keeps bench/results/closest-coal.json, or with --sizes closest-sizes.json. Needs numpy and scipy, g++ and a build of abut.
"""
import argparse
import collections
import importlib.util
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile

import numpy as np
from scipy.spatial import ConvexHull

import closest_certificate as cc
import closest_shapes as cs
import run

ROOT = run.ROOT
HERE = run.HERE
RESULT = ROOT / "bench" / "results" / "closest-coal.json"
PAIRS, POLYTOPES, PRIMITIVES = 10000, 100, 40
SIZES = 8, 32, 128, 512, 2048
BY_SIZE = ROOT / "bench" / "results" / "closest-sizes.json"
APART = 1e-6  # [m] answers that differ by more are looked into

Program = collections.namedtuple("Program", "command environment")


# ---- shapes ----
def read_hulls(folder):
    """The vertices of each object group of each .obj file."""
    hulls = []
    for path in sorted(folder.glob("*.obj")):
        groups = []
        for line in path.read_text().splitlines():
            word, *rest = line.split() or [""]
            if word == "o":
                groups.append([])
            elif word == "v":
                groups[-1].append([float(x) for x in rest[:3]])
        hulls += [{"kind": "hull", "numbers": [np.array(g)]} for g in groups]
    if not hulls:
        raise SystemExit(f"{folder} has no hulls")
    return hulls


def icosahedra(random):
    phi = (1 + 5 ** .5) / 2
    corners = [np.roll([0, a, b * phi], k) for k in range(3) for a in (-1, 1) for b in (-1, 1)]
    radii = random.uniform(.5, 1.5, (POLYTOPES, 3))
    return [{"kind": "hull", "numbers": [cs.unit(np.array(corners)) * r]} for r in radii]


def by_size(random):
    """Hulls of so many vertices each, on ellipsoids: all of them are on the hull."""
    def one(count):
        return {"kind": "hull", "numbers": [cs.unit(random.normal(size=(count, 3))) * random.uniform(.5, 1.5, 3)]}
    return {f"{count} vertices": [one(count) for _ in range(10)] for count in SIZES}


def primitives(kind, random):
    sizes = random.uniform(.1, 1, (PRIMITIVES, 3))
    take = {"sphere": lambda s: s[0], "capsule": lambda s: s[:2], "box": lambda s: s}[kind]
    return [{"kind": kind, "numbers": [take(s)]} for s in sizes]


def sets(hulls, random):
    simple = {name: primitives(kind, random) for name, kind in (("spheres", "sphere"), ("capsules", "capsule"), ("boxes", "box"))}
    found = {"hulls": hulls} if hulls else {}
    return found | {"12 vertices": icosahedra(random)} | simple | {"mixed": sum(simple.values(), [])}


# ---- pairs ----
def centre(shape):
    return np.mean(shape["numbers"][0], axis=0) if shape["kind"] == "hull" else np.zeros(3)


def reach(shape, u):
    """How far the shape goes from its centre along unit vectors (N, 3)."""
    kind, x = shape["kind"], shape["numbers"][0]
    if kind == "hull":
        planes = ConvexHull(x - centre(shape)).equations
        with np.errstate(divide="ignore"):
            return np.where((slope := u @ planes[:, :3].T) > 0, -planes[:, 3] / slope, np.inf).min(1)
    if kind == "sphere":
        return np.full(len(u), x)
    if kind == "box":
        with np.errstate(divide="ignore"):
            return (x / np.abs(u)).min(1)
    r, h = x
    across, along = np.hypot(u[:, 0], u[:, 1]), np.abs(u[:, 2])
    side = r / np.maximum(across, 1e-300)
    cap = h * along + np.sqrt(np.maximum(r * r - (h * across) ** 2, 0))
    return np.where(side * along <= h, side, cap)


def reaches(shapes, rows, u):
    out = np.empty(len(u))
    for k, places in cs.by_shape(rows):
        out[places] = reach(shapes[k], u[places])
    return out


def poses(count, size, random):
    return np.concatenate([random.uniform(-size, size, (count, 3)), cs.unit(random.normal(size=(count, 4)))], 1)


def pairs(shapes, overlapping, random):
    """Shape 1 within a size of the origin, shape 2 from it along u."""
    L = np.array([cs.diagonal(s) for s in shapes])
    batch = {name: random.integers(len(shapes), size=PAIRS) for name in ("one", "two")}
    batch |= {name: poses(PAIRS, L.mean(), random) for name in ("pose1", "pose2")}
    u, share = cs.unit(random.normal(size=(PAIRS, 3))), random.uniform(size=PAIRS)
    R1, R2 = cs.rotations(batch["pose1"]), cs.rotations(batch["pose2"])
    centres = np.array([centre(s) for s in shapes])
    offset = cs.turned(R1, centres[batch["one"]]) - cs.turned(R2, centres[batch["two"]])
    batch["pose2"][:, :3] = batch["pose1"][:, :3] + offset
    if overlapping:
        ends = reaches(shapes, batch["one"], cs.turned_back(R1, u)), reaches(shapes, batch["two"], cs.turned_back(R2, -u))
        far = share * sum(ends)
    else:
        far = share * (L[batch["one"]] + L[batch["two"]]) / 2 - cs.separations(shapes, batch, u)
    batch["pose2"][:, :3] += far[:, None] * u
    return batch


# ---- programs ----
def coal_prefix():
    """Where the package has its headers and its library."""
    found = importlib.util.find_spec("coal")
    if not found:
        raise SystemExit("no package coal; --coal names a folder with its include and lib")
    return next(p for p in pathlib.Path(found.origin).parents if (p / "include" / "coal").is_dir())


def make_coal(options, folder):
    """Compiled with the alignment that Coal's own library was built with: -march would choose another."""
    prefix = options.coal or coal_prefix()
    program = folder / "closest_coal"
    subprocess.run(["g++", "-std=c++17", "-O3", "-march=native", "-DNDEBUG", "-DEIGEN_MAX_ALIGN_BYTES=16", "-isystem", prefix / "include",
                    "-isystem", options.eigen, HERE / "closest_coal.cpp", f"-L{prefix / 'lib'}", f"-Wl,-rpath,{prefix / 'lib'}",
                    f"-Wl,-rpath-link,{prefix / 'lib'}", "-lcoal", "-o", program], check=True)
    return Program([program], {})


def make_abut(options):
    subprocess.run(["ninja", "-C", options.build, "bench/closest_abut"], check=True, stdout=subprocess.DEVNULL)
    return Program([options.build / "bench" / "closest_abut", "-d", options.device], {"POCL_MAX_PTHREAD_COUNT": "1"})


def ask(program, *words):
    command = [str(word) for word in [*program.command, *words]]
    done = subprocess.run(command, capture_output=True, text=True, env=os.environ | program.environment)
    if done.returncode:
        raise SystemExit(f"{program.command[0]}: {done.stderr.strip()}")
    return json.loads(done.stdout)


# ---- comparing ----
def coal_time(reply, what="pass_median"):
    """Of the faster way to ask."""
    return min(reply[way][what] for way in ("distance", "solver"))


def time_set(programs, path, options):
    """Rounds of both -> their replies."""
    calls = {"coal": lambda p: ask(p, path, path.with_suffix(".coal"), options.passes),
             "abut": lambda p: ask(p, "-p", "f32", "-r", options.passes, "-o", path.with_suffix(".f32"), path)}
    replies = collections.defaultdict(list)
    for _ in range(options.rounds):
        for name, program in programs.items():
            replies[name].append(calls[name](program))
    return replies


def summary(replies):
    row = {"coal version": replies["coal"][0]["version"]} if replies.get("coal") else {}
    for way in ("distance", "solver"):
        for what in ("median", "mean", "pass_median", "processor"):
            each = [r[way][what] for r in replies.get("coal", [])]
            row |= {f"coal {way} {what}": (min if what == "mean" else statistics.median)(each)} if each else {}
    if replies.get("abut"):
        row |= {f"abut {what}": statistics.median(r[what] for r in replies["abut"]) for what in ("median", "processor")}
        row |= {"abut least": min(r["least"] for r in replies["abut"]), "unsettled": replies["abut"][0]["unsettled"],
                "device": replies["abut"][0]["device"]}
    if replies.get("abut") and replies.get("coal"):
        ratios = [coal_time(c) / a["median"] for c, a in zip(replies["coal"], replies["abut"])]
        spent = [coal_time(c, "processor") / a["processor"] for c, a in zip(replies["coal"], replies["abut"])]
        row |= {"ratio": statistics.median(ratios), "ratio_least": min(ratios), "ratio_most": max(ratios),
                "ratio_processor": statistics.median(spent)}
    return row


def lower_bound(shapes, batch, answers):
    """g of the answers' normals; a normal that is none bounds nothing."""
    n = answers["n"]
    none = ~(np.abs(np.linalg.norm(n, axis=1) - 1) < 1e-6)
    g = cs.separations(shapes, batch, np.where(none[:, None], [1., 0, 0], n))
    return np.where(none, -np.inf, g)


def coal_alone(shapes, batch, answers):
    """How far Coal's d is from what its own normal shows, and its points from its d."""
    off = np.abs(answers["d"] - lower_bound(shapes, batch, answers))
    step = np.linalg.norm(answers["p2"] - answers["p1"] - answers["d"][:, None] * answers["n"], axis=1)
    return {"overlapping": float((answers["d"] < 0).mean()), "normal off": int((~(off <= APART)).sum()),
            "normal off by": float(off.max()), "points off": int((~(step <= APART)).sum())}


def wrong(d, g, best, gap):
    """Where d is not what its own normal shows, or another normal shows more. Of two that differ by APART, one is half off."""
    return (d > g + gap + APART / 2) | (best > d + gap + APART / 2) | ~np.isfinite(d)


def agreement(shapes, batch, coal, abut):
    """Where d differs by more than APART, and whose is wrong: the larger g of both normals decides."""
    g_coal, g_abut = (lower_bound(shapes, batch, a) for a in (coal, abut))
    best = np.maximum(g_coal, g_abut)
    differ = ~(np.abs(coal["d"] - abut["d"]) <= APART)
    coal_wrong, abut_wrong = wrong(coal["d"], g_coal, best, 0.), wrong(abut["d"], g_abut, best, abut["gap"])
    certain = cc.check(shapes, batch, abut)
    return {"differ": int(differ.sum()), "most": float(np.abs(coal["d"] - abut["d"]).max()),
            "coal wrong": int((differ & coal_wrong & ~abut_wrong).sum()),
            "abut wrong": int((differ & abut_wrong & ~coal_wrong).sum()), "both wrong": int((differ & abut_wrong & coal_wrong).sum()),
            "undecided": int((differ & ~abut_wrong & ~coal_wrong).sum()),
            "abut misses": {name: rows for name, (rows, _, _) in certain.items() if rows}, "gap, most": float(abut["gap"].max())}


def single_error(single, exact, shapes, batch):
    """Of d in float32, over both diagonals."""
    return float((np.abs(single["d"] - exact["d"]) / cc.sizes(shapes, batch)[0]).max())


def compare(programs, path, shapes, batch, options):
    cs.write_problem(path, shapes, batch)
    row = summary(time_set(programs, path, options))
    if "coal" in programs:
        coal = cs.read_answers(path.with_suffix(".coal"))
        row["coal alone"] = coal_alone(shapes, batch, coal)
    if "abut" in programs:
        ask(programs["abut"], "-p", "f64", "-r", 1, "-o", path.with_suffix(".f64"), path)
        abut = cs.read_answers(path.with_suffix(".f64"))
        row["float32 off"] = single_error(cs.read_answers(path.with_suffix(".f32")), abut, shapes, batch)
    if len(programs) == 2:
        row["agreement"] = agreement(shapes, batch, coal, abut)
    return row


# ---- telling ----
COLUMNS = {"a query, median": "coal distance median", "best pass": "coal distance mean", "median pass": "coal distance pass_median",
           "processor": "coal distance processor", "solver, best": "coal solver mean", "median": "coal solver pass_median",
           "its processor": "coal solver processor", "abut, best": "abut least", "abut, median": "abut median",
           "abut, processor": "abut processor", "ratio": "ratio", "least": "ratio_least", "most": "ratio_most",
           "of processor": "ratio_processor"}


def table(rows):
    lines = ["| | " + " | ".join(COLUMNS) + " |", "|---" * (len(COLUMNS) + 1) + "|"]
    for name, row in rows.items():
        lines.append(f"| {name} | " + " | ".join(f"{row[key]:.3g}" if key in row else "" for key in COLUMNS.values()) + " |")
    return "\n".join(lines)


def tell(rows):
    print(table(rows))
    for name, row in rows.items():
        for what in ("coal alone", "float32 off", "agreement"):
            if what in row:
                print(f"{name}: {what}: {json.dumps(row[what])}")


def about(options):
    commit = run.output_of(["git", "describe", "--always", "--dirty"]) or "?"
    return {"processor": run.processor(), "commit": commit, "pairs": PAIRS, "rounds": options.rounds, "passes": options.passes,
            "unit": "microseconds a pair, one core"}


def pin(core):
    """Of this process and those that it starts."""
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {core})


def measure(options, folder):
    only = options.only.split(",")
    programs = {"coal": lambda: make_coal(options, folder), "abut": lambda: make_abut(options)}
    programs = {name: make() for name, make in programs.items() if name in only}
    pin(options.core)
    hulls, rows = read_hulls(options.hulls) if options.hulls else [], {}
    random = np.random.default_rng(options.seed)
    for name, shapes in (by_size(random) if options.sizes else sets(hulls, random)).items():
        for overlapping in (True, False):
            label = f"{name}, {'overlapping' if overlapping else 'apart'}"
            batch = pairs(shapes, overlapping, np.random.default_rng([options.seed, *label.encode()]))
            rows[label] = compare(programs, folder / "pairs", shapes, batch, options)
            print(f"{label} done", file=sys.stderr, flush=True)
    return rows


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build")
    parser.add_argument("--hulls", type=pathlib.Path, help="a folder of .obj files whose object groups are convex; without it, no hulls")
    parser.add_argument("--coal", type=pathlib.Path, help="a folder with include and lib; else that of the package coal")
    parser.add_argument("--eigen", type=pathlib.Path, default=pathlib.Path("/usr/include/eigen3"))
    parser.add_argument("--only", default="coal,abut")
    parser.add_argument("--device", default="pocl")
    parser.add_argument("--core", type=int, default=0)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--passes", type=int, default=20)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--sizes", action="store_true", help="hulls of 8 to 2048 vertices instead, which Coal climbs and abut looks through")
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        rows = measure(options, pathlib.Path(folder))
    tell(rows)
    if options.write:
        (BY_SIZE if options.sizes else RESULT).write_text(json.dumps({"about": about(options), "sets": rows}, indent=1) + "\n")


if __name__ == "__main__":
    main()
