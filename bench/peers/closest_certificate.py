#!/usr/bin/env python3
"""Whether answers to closest points hold, checked from the shapes alone, a million pairs in a minute or two.

  closest_certificate.py PROBLEM ANSWERS               answers in a file, as closest_abut and closest_coal write them
  closest_certificate.py --program FILE [--pairs N]    random pairs of all kinds of shapes, answered by closest_abut
  closest_certificate.py --golden FOLDER               the check itself: known answers pass, damaged ones are found

For every unit n, g(n) = n . s2(-n) - n . s1(n) is a lower bound of the signed distance. What an answer must have:

  unit      n is a unit vector
  below     g(n) <= d
  gap       |d - g(n)| <= gap; a gap that is not known counts as 0
  settled   the gap is within the tolerance, where the status says so
  most      no other normal is better than the gap allows: g(m) <= d + gap for random m, all around and close to n
  inside1   p1 is in shape 1, and `inside2`, p2 in shape 2: by facets and formulas, of other shapes by many directions
  points    p2 = p1 + d n

all within the gap and a rounding, a share of both shapes' diagonals and of the positions. Prints for each the worst row, in units of
what is allowed, and how many miss it; ends with 1 where one does. Needs numpy and scipy.
"""
import argparse
import json
import pathlib
import subprocess
import sys
import tempfile

import numpy as np
from scipy.spatial import ConvexHull, QhullError

import closest_shapes as cs

ROUNDING = {"f64": 1e-12, "f32": 4e-6}  # of both diagonals together
CHUNK = 50000
DIRECTIONS = 64
NEAR = (1e-8, 1e-6, 1e-4, 1e-2, .3)


# ---- points in shapes ----
def facets(vertices):
    """Outer normals and offsets of a hull, or None of a flat one."""
    try:
        return ConvexHull(vertices).equations
    except QhullError:
        return None


def outside_by_directions(shape, x, n, directions):
    """How far x is beyond the farthest of many tangent planes, those along n and x among them: a lower bound."""
    own = cs.unit(np.where(np.linalg.norm(x, axis=1, keepdims=True) > 0, x, [1., 0, 0]))
    planes = [n, own, *(np.broadcast_to(m, x.shape) for m in directions)]
    return np.max([((x - cs.support(shape, m)) * m).sum(1) for m in planes], axis=0)


def outside(shape, x, n, directions):
    """How far points (N, 3) of the shape's frame, where it should have normals n, are beyond its surface or a plane that
    bounds it; 0 and below within."""
    kind, numbers, radius = shape["kind"], shape["numbers"], shape.get("radius", 0.)
    if kind == "sphere":
        return np.linalg.norm(x, axis=1) - numbers[0] - radius
    if kind == "capsule":
        r, h = numbers[0]
        along = np.clip(x[:, 2], -h, h)
        return np.linalg.norm(x - cs.on_axis(along), axis=1) - r - radius
    if kind == "box":
        over = np.abs(x) - numbers[0]
        return np.where((over > 0).any(1), np.linalg.norm(np.maximum(over, 0), axis=1), over.max(1)) - radius
    if kind == "hull" and not radius:
        planes = facets(np.asarray(numbers[0], float))
        if planes is not None:
            return (x @ planes[:, :3].T + planes[:, 3]).max(1)
    return outside_by_directions(shape, x, n, directions)


def outsides(shapes, rows, pose, p, n, directions):
    """Of points in the world, row by row."""
    R = cs.rotations(pose)
    x, n = cs.turned_back(R, p - pose[:, :3]), cs.turned_back(R, n)
    out = np.empty(len(x))
    for k, places in cs.by_shape(rows):
        out[places] = outside(shapes[k], x[places], n[places], directions)
    return out


# ---- the check ----
def other_normals(n, random):
    """One all around, and one close to n at each of several distances."""
    around = [cs.unit(random.normal(size=n.shape))]
    return around + [cs.unit(n + near * random.normal(size=n.shape)) for near in NEAR]


def sizes(shapes, problem):
    """Both diagonals together, and how far from the origin the pair is."""
    L = np.array([cs.diagonal(s) for s in shapes])
    far = np.maximum(np.abs(problem["pose1"][:, :3]).max(1), np.abs(problem["pose2"][:, :3]).max(1))
    return L[problem["one"]] + L[problem["two"]], far


def misses(shapes, problem, answers, rounding=ROUNDING["f64"], seed=0):
    """By what share of the allowance each row misses each condition, (N) arrays by name: above 1 it does."""
    random = np.random.default_rng(seed)
    n, d, gap = answers["n"], answers["d"], np.nan_to_num(answers["gap"])
    size, far = sizes(shapes, problem)
    loose = rounding * (size + .1 * far)
    directions = cs.unit(random.normal(size=(DIRECTIONS, 3)))
    g = cs.separations(shapes, problem, n)
    most = np.max([cs.separations(shapes, problem, m) for m in other_normals(n, random)], axis=0)
    out1 = outsides(shapes, problem["one"], problem["pose1"], answers["p1"], n, directions)
    out2 = outsides(shapes, problem["two"], problem["pose2"], answers["p2"], -n, directions)
    step = np.linalg.norm(answers["p2"] - answers["p1"] - d[:, None] * n, axis=1)
    close = gap + loose
    settled = np.where(answers["status"] == 0, gap / (1.01 * rounding * size), 0.)
    return {"unit": np.abs(np.linalg.norm(n, axis=1) - 1) / rounding, "below": (g - d) / loose,
            "gap": np.abs(d - g) / close, "settled": settled, "most": (most - d) / close,
            "inside1": out1 / close, "inside2": out2 / close, "points": step / close}


def part(batch, places):
    return {name: x[places] for name, x in batch.items()}


def check(shapes, problem, answers, rounding=ROUNDING["f64"], seed=0):
    """-> for each condition, how many rows miss it, the worst share of the allowance and its row. No answer at all misses all."""
    found = {}
    for first in range(0, len(problem["one"]), CHUNK):
        places = slice(first, first + CHUNK)
        for name, share in misses(shapes, part(problem, places), part(answers, places), rounding, seed + first).items():
            share = np.where(np.isfinite(share), share, np.inf)
            at = int(np.argmax(share))
            rows, worst, where = found.get(name, (0, -np.inf, 0))
            worst, where = max((worst, where), (float(share[at]), first + at))
            found[name] = rows + int((share > 1).sum()), worst, where
    return found


def report(found, about):
    """Whether no row misses any condition."""
    print(about)
    for name, (rows, worst, where) in found.items():
        print(f"  {name:8} worst {worst:.2g}, row {where}" + (f"; MISSED by {rows} rows" if rows else ""))
    return not any(rows for rows, _, _ in found.values())


# ---- the check itself ----
def golden(folder):
    """Known answers. Where |d| is about 1e-9 they keep n to 3e-7 alone: such rows are not settled, by so large a gap."""
    shapes = json.loads((folder / "shapes.json").read_text())
    with np.load(folder / "inputs.npz") as file:
        problem = {name: file[name] for name in ("one", "two", "pose1", "pose2")}
    with np.load(folder / "expected.npz") as file:
        answers = {name: file[name] for name in ("d", "n", "p1", "p2")}
    vague = np.abs(answers["d"]) < 2e-9
    gap = np.where(vague, 3e-7 * sizes(shapes, problem)[0], 0.)
    return shapes, problem, answers | {"gap": gap, "status": vague.astype(float)}


def damaged(shapes, problem, answers, random):
    """Answers that are wrong by little, each with the condition that must find it in most rows."""
    d, n, p1, p2 = (answers[name] for name in ("d", "n", "p1", "p2"))
    step = 1e-9 * sizes(shapes, problem)[0]
    out = step[:, None] * n
    across = cs.unit(np.cross(n, random.normal(size=n.shape)))
    other = cs.unit(n + .05 * across)
    g = cs.separations(shapes, problem, other)
    yield "d, too large", "gap", {"d": d + step}
    yield "d, too small", "below", {"d": d - step}
    yield "d, too large, with its point", "gap", {"d": d + step, "p2": p2 + out}
    yield "d, uncertain but said to be settled", "settled", {"gap": step}
    yield "n, turned", "gap", {"n": other}
    yield "n, turned, with its own g and point", "most", {"n": other, "d": g, "p2": p1 + g[:, None] * other}
    yield "n, the other way round", "gap", {"n": -n}
    yield "n, no unit vector", "unit", {"n": n * (1 + 1e-9)}
    yield "points, moved out of shape 1", "inside1", {"p1": p1 + out, "p2": p2 + out}
    yield "points, moved out of shape 2", "inside2", {"p1": p1 - out, "p2": p2 - out}
    yield "points, exchanged", "points", {"p1": p2, "p2": p1}
    yield "points, one moved across", "points", {"p1": p1 + step[:, None] * across}
    yield "no numbers", "gap", {"d": np.full_like(d, np.nan)}


def check_damage(shapes, problem, answers):
    """Whether each kind of damage is found in most rows by its condition, and in nearly all by any."""
    good = True
    for what, condition, wrong in damaged(shapes, problem, answers, np.random.default_rng(1)):
        share = misses(shapes, problem, answers | wrong)
        missed = {name: ~(x <= 1) for name, x in share.items()}
        by_it, by_any = missed[condition].mean(), np.any(list(missed.values()), axis=0).mean()
        found = by_it > .5 and by_any > .99
        print(f"  {what}: found in {100 * by_any:.0f} % of rows, by `{condition}` in {100 * by_it:.0f} %" + ("" if found else ": MISSED"))
        good &= bool(found)
    return good


# ---- random pairs ----
def random_numbers(kind, random):
    size = random.uniform(.2, 1, 3)
    numbers = {"hull": [random.normal(size=(random.integers(4, 40), 3)) * size], "sphere": [size[0]],
               "superquadric": [size, random.uniform(.1, 1.9, 2)]}
    return numbers.get(kind, [size[:2] if kind in ("capsule", "cylinder", "cone") else size])


def random_shapes(random, count=96):
    """Of all kinds in turn, every other round with a radius."""
    return [{"kind": cs.KINDS[i % 8], "numbers": random_numbers(cs.KINDS[i % 8], random)}
            | ({"radius": random.uniform(.01, .3)} if i // 8 % 2 else {}) for i in range(count)]


def random_poses(count, random):
    return np.concatenate([random.uniform(-1, 1, (count, 3)), cs.unit(random.normal(size=(count, 4)))], 1)


def random_pairs(shapes, count, random):
    """Turned anyhow; centres from together to far enough that shapes are certainly apart."""
    pairs = {"one": random.integers(len(shapes), size=count), "two": random.integers(len(shapes), size=count),
             "pose1": random_poses(count, random), "pose2": random_poses(count, random)}
    n = cs.unit(random.normal(size=(count, 3)))
    pairs["pose2"][:, :3] = pairs["pose1"][:, :3]
    touching = -cs.separations(shapes, pairs, n)
    pairs["pose2"][:, :3] += random.uniform(0, 1.6, (count, 1)) * touching[:, None] * n
    return pairs


def check_program(options, folder):
    """Leaves the files `pairs` and `answers` in the folder."""
    random = np.random.default_rng(1)
    shapes = random_shapes(random)
    problem = random_pairs(shapes, options.pairs, random)
    cs.write_problem(folder / "pairs", shapes, problem)
    subprocess.run([options.program, "-d", options.device, "-p", options.precision, "-r", "1", "-o", folder / "answers", folder / "pairs"],
                   check=True, stdout=subprocess.DEVNULL)
    return check_answers(shapes, problem, cs.read_answers(folder / "answers"), options.precision)


def check_answers(shapes, problem, answers, precision):
    for status, count in zip(*np.unique(answers["status"], return_counts=True)):
        print(f"status {int(status)}: {count} rows")
    return report(check(shapes, problem, answers, ROUNDING[precision]), f"{len(problem['one'])} pairs, {precision}")


def check_golden(folder):
    shapes, problem, answers = golden(folder)
    holds = report(check(shapes, problem, answers), f"{len(problem['one'])} known answers")
    exact = answers["status"] == 0
    print(f"damage to the {exact.sum()} of them whose normal is exact:")
    return check_damage(shapes, part(problem, exact), part(answers, exact)) and holds


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("problem", nargs="?")
    parser.add_argument("answers", nargs="?")
    parser.add_argument("--golden", type=pathlib.Path, help="a folder of shapes.json, inputs.npz and expected.npz with d, n, p1, p2")
    parser.add_argument("--program", type=pathlib.Path, help="bench/closest_abut of a build")
    parser.add_argument("--pairs", type=int, default=10 ** 6)
    parser.add_argument("--device", default="pocl")
    parser.add_argument("--precision", choices=list(ROUNDING), default="f64", help="in which the answers were computed")
    parser.add_argument("--keep", type=pathlib.Path, help="a folder for the files of random pairs and their answers")
    options = parser.parse_args()
    if options.golden:
        return 0 if check_golden(options.golden) else 1
    if options.program:
        with tempfile.TemporaryDirectory() as folder:
            return 0 if check_program(options, options.keep or pathlib.Path(folder)) else 1
    if not options.answers:
        parser.error("two files, --program or --golden")
    shapes, problem = cs.read_problem(options.problem)
    return 0 if check_answers(shapes, problem, cs.read_answers(options.answers), options.precision) else 1


if __name__ == "__main__":
    sys.exit(main())
