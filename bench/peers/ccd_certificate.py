#!/usr/bin/env python3
"""Whether answers to queries of collision in time hold, checked by distances in float64, a million queries in some minutes.

  ccd_certificate.py --program build/bench/ccd_abut [--rows N] [--precision f64|f32|both]
  ccd_certificate.py --golden FOLDER        the check itself: known answers pass, late ones are found

Points against triangles and edges against edges, half of each, of eleven groups: random, near, parallel, degenerate, touching, coplanar,
still, huge (far from the origin), scaled (by powers of ten from -15 to 15), grid (whole numbers), creeping. Of most, every other row
is aimed at a hit or a near miss. All numbers are those of the precision, so that the question is exact. Each is asked with separations of 0 and of 1e-3, and with a tenth of the first
distance to be kept and without.

The distance of both features is computed at TIMES times up to toi, from formulas of points, edges and triangles of this file's own. It
must be above r = separation + keep max(d0 - separation, 0) there, but for the check's own rounding. Where a row ends as a hit, it must not be
above r by more than docs/ccd.md allows. Prints by group how many are not, and the largest excess over r at hits, in units of the
largest component of a difference of vertices; ends with 1 where a row violates. Needs numpy, and the program a build of abut.
"""
import argparse
import os
import pathlib
import subprocess
import sys
import tempfile

import numpy as np

import ccd_problems as cp

TIMES = 20
CHUNK = 20000
KEPT = ((0., 0.), (1e-3, 0.), (0., .1), (1e-3, .1))  # separation and keep
EARLY = {"f64": 2. ** -46, "f32": 2. ** -18}
FREE, HIT, LIMIT, WITHIN, BAD = range(5)


# ---- distances ----
def dot(a, b):
    return (a * b).sum(-1)


def length(a):
    """Also of vectors whose squares are no numbers."""
    most = np.abs(a).max(-1, keepdims=True)
    by = np.where(most > 0, most, 1.)
    return most[..., 0] * np.sqrt(dot(a / by, a / by))


def quotient(a, b):
    """0 where there is none."""
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        q = a / b
    return np.where(np.isfinite(q), q, 0.)


def point_segment(p, a, b):
    e = b - a
    t = np.clip(quotient(dot(p - a, e), dot(e, e)), 0., 1.)
    return length(a + t[..., None] * e - p)


def point_triangle(p, a, b, c):
    """By the sides, and by the point's foot where it is inside."""
    sides = np.min([point_segment(p, a, b), point_segment(p, b, c), point_segment(p, c, a)], axis=0)
    u, v, w = b - a, c - a, p - a
    n = np.cross(u, v)
    square = dot(n, n)
    s, t = quotient(dot(np.cross(w, v), n), square), quotient(dot(np.cross(u, w), n), square)
    inside = (s >= 0) & (t >= 0) & (s + t <= 1) & (square > 0)
    across = n / np.where(inside, np.sqrt(np.where(inside, square, 1.)), 1.)[..., None]
    return np.where(inside, np.minimum(sides, np.abs(dot(w, across))), sides)


def edge_edge(a, b, c, d):
    """By the ends, and by the common normal where its feet are inside."""
    ends = np.min([point_segment(a, c, d), point_segment(b, c, d), point_segment(c, a, b), point_segment(d, a, b)], axis=0)
    u, v, w = b - a, d - c, c - a
    n = np.cross(u, v)
    square = dot(n, n)
    s, t = quotient(dot(np.cross(w, v), n), square), quotient(dot(np.cross(w, u), n), square)
    inside = (s >= 0) & (s <= 1) & (t >= 0) & (t <= 1) & (square > 0)
    across = n / np.where(inside, np.sqrt(np.where(inside, square, 1.)), 1.)[..., None]
    return np.where(inside, np.minimum(ends, np.abs(dot(w, across))), ends)


def sizes(kind, x0, x1):
    """The largest component of a difference of vertices of both features, at either end, and the largest coordinate."""
    first = 1 if kind == cp.POINT_TRIANGLE else 2
    with np.errstate(over="ignore"):
        apart = [np.abs(x[:, :first, None] - x[:, None, first:]).max((1, 2, 3)) for x in (x0, x1)]
    return np.maximum(*apart), np.maximum(np.abs(x0).max((1, 2)), np.abs(x1).max((1, 2)))


def distance_at(kind, x0, x1, t, scale, real=float):
    """Of rows whose vertices are scaled to about 1 first, by powers of two."""
    by = np.exp2(-np.floor(np.log2(np.where(scale > 0, scale, 1.))))[:, None, None].astype(real)
    x0, x1, t = x0.astype(real) * by, x1.astype(real) * by, t[:, None, None].astype(real)
    x = [(1 - t) * x0[:, i:i + 1] + t * x1[:, i:i + 1] for i in range(4)]
    x = [part[:, 0] for part in x]
    return (point_triangle if kind == cp.POINT_TRIANGLE else edge_edge)(*x) / by[:, 0, 0]


# ---- the check ----
def check_in(real, kind, x0, x1, answers, separation, keep, precision):
    """As check, by distances in `real`."""
    size, most = sizes(kind, x0, x1)
    toi, status = answers["toi"], answers["status"]
    share = keep * np.maximum(answers["d0"] - separation, 0.)
    r, slack = separation + share, 4e-15 * size + 2e-15 * most + 1e-15 * separation
    good, hit = (status != BAD) & (status != WITHIN), status == HIT
    below = np.full(len(x0), -np.inf)
    for k in range(TIMES + 1):
        d = distance_at(kind, x0, x1, toi * (k / TIMES), most, real)
        below = np.maximum(below, np.where(good, (r - slack) - d, -np.inf))
    excess = np.where(hit, d - r, -np.inf)
    early = np.where(hit, excess - share / 2 - slack, -np.inf) / (EARLY[precision] * np.where(size > 0, size, 1.))
    return below.astype(float), (excess / np.where(size > 0, size, 1.)).astype(float), early.astype(float)


def check(kind, x0, x1, answers, separation, keep, precision):
    """-> how much each row's distance falls below r, at most over all times, beyond the check's rounding; the excess over r at its end
    over the size, -inf where there is no hit; and what of it no share explains, over what is allowed. Rows that look wrong are looked
    at again in long doubles: a point's foot on a sliver is not well known in doubles."""
    found = check_in(float, kind, x0, x1, answers, separation, keep, precision)
    again = np.flatnonzero((found[0] > 0) | (found[2] > .5))
    if len(again):
        part = {name: a[again] for name, a in answers.items()}
        for first, second in zip(found, check_in(np.longdouble, kind, x0[again], x1[again], part, separation, keep, precision)):
            first[again] = second
    return found


# ---- awkward rows ----
def ends(count, random, spread=1.):
    return random.normal(size=(count, 4, 3)), random.normal(size=(count, 4, 3)) * spread


def near(count, random):
    x0, step = ends(count, random)
    return x0, x0 + step * 10. ** random.uniform(-6, 0, (count, 1, 1))


def parallel(count, random):
    """Edges along one direction, triangles that a point stays over."""
    x0, step = ends(count, random, .5)
    x0[:, 3] = x0[:, 2] + (x0[:, 1] - x0[:, 0]) * random.uniform(-2, 2, (count, 1))
    x1 = x0 + step[:, :1]
    x1[:, 2:] += step[:, 1:2] * 10. ** random.uniform(-8, 0, (count, 1, 1))
    return x0, x1


def degenerate(count, random):
    """Two vertices in one place, or nearly, or three in a line."""
    x0, step = ends(count, random)
    x1, which = x0 + step, random.integers(3, size=count)
    for x in (x0, x1):
        x[:, 3] = np.where((which == 0)[:, None], x[:, 2], x[:, 3])
        x[:, 3] = np.where((which == 1)[:, None], x[:, 2] + 1e-9 * random.normal(size=(count, 3)), x[:, 3])
        x[:, 3] = np.where((which == 2)[:, None], x[:, 1] + 2 * (x[:, 2] - x[:, 1]), x[:, 3])
    return x0, x1


def touching(count, random):
    """Two features that meet in a vertex at a dyadic time, of whole numbers."""
    x0 = random.integers(-64, 65, (count, 4, 3)).astype(float)
    x1 = random.integers(-64, 65, (count, 4, 3)).astype(float)
    at = random.integers(0, 3, count)[:, None] / 2 + .25 * (random.integers(2, size=count)[:, None] == 0)
    at = np.clip(at, .25, 1.)
    goal = x0[:, 3] + at * (x1[:, 3] - x0[:, 3])
    x1[:, 0] = x0[:, 0] + (goal - x0[:, 0]) / at
    return x0, x1


def coplanar(count, random):
    x0, step = ends(count, random)
    x1 = x0 + step
    x0[..., 2] = x1[..., 2] = random.choice([0., 1., .3], (count, 1))
    lifted = random.integers(2, size=count) == 0
    x0[lifted, 0, 2] += 10. ** random.uniform(-9, 0, lifted.sum())
    return x0, x1


def still(count, random):
    x0, step = ends(count, random)
    x1 = x0.copy()
    x1[:, 0] += step[:, 0] * (random.integers(2, size=count) == 0)[:, None]
    return x0, x1


def huge(count, random):
    x0, step = ends(count, random)
    far = random.normal(size=(count, 1, 3)) * 10. ** random.uniform(2, 6, (count, 1, 1))
    return x0 + far, x0 + far + step


def scaled(count, random):
    x0, step = ends(count, random)
    by = 10. ** random.uniform(-15, 15, (count, 1, 1))
    return x0 * by, (x0 + step) * by


def grid(count, random):
    return (random.integers(-2, 3, (count, 4, 3)).astype(float) for _ in range(2))


def creeping(count, random):
    """Past each other by little: what is near at a time comes from a touch that is moved away."""
    x0, x1 = touching(count, random)
    off = random.normal(size=(count, 3)) * 10. ** random.uniform(-9, -1, (count, 1))
    x0[:, 0] += off
    x1[:, 0] += off
    return x0 / 64, x1 / 64


def anyhow(count, random):
    x0, step = ends(count, random, 2.)
    return x0, x0 + step


def aim(kind, x0, x1, random):
    """Moves the first feature of every other row, so that a point of it comes close to one of the other, or into it, at some time."""
    count, first = len(x0), 1 if kind == cp.POINT_TRIANGLE else 2
    weights = [random.dirichlet(np.ones(n), count)[..., None] for n in (first, 4 - first)]
    t = random.uniform(.1, 1, (count, 1, 1))
    x = x0 + t * (x1 - x0)
    gap = (weights[1] * x[:, first:]).sum(1) - (weights[0] * x[:, :first]).sum(1)
    size = np.abs(x0 - x0.mean(1, keepdims=True)).max((1, 2))
    off = random.normal(size=(count, 3)) * (size * 10. ** random.uniform(-9, -1, count))[:, None]
    taken = (random.integers(2, size=count) == 0)[:, None, None]
    x1 = x1.copy()
    x1[:, :first] += np.where(taken, (gap + off)[:, None] / t, 0.)
    return x0, x1


GROUPS = {"random": anyhow, "near": near, "parallel": parallel, "degenerate": degenerate, "touching": touching, "coplanar": coplanar,
          "still": still, "huge": huge, "scaled": scaled, "grid": grid, "creeping": creeping}


def rows_of(name, kind, count, random, precision):
    x0, x1 = GROUPS[name](count, random)
    x0, x1 = (x0, x1) if name in ("touching", "grid", "creeping") else aim(kind, x0, x1, random)
    return (x.astype(np.float32).astype(float) if precision == "f32" else x for x in (x0, x1))


# ---- asking ----
def answers_of(options, folder, kind, x0, x1, separation, keep, precision):
    cp.write_problem(folder / "rows", kind=np.full(len(x0), kind), x0=x0, x1=x1)
    subprocess.run([str(w) for w in (options.program, "-d", options.device, "-p", precision, "-r", 1, "-S", separation, "-s", keep, "-o",
                                     folder / "answers", folder / "rows")], check=True, stdout=subprocess.DEVNULL, env=os.environ)
    return cp.read_answers(folder / "answers")


def check_all(kind, x0, x1, answers, separation, keep, precision):
    parts = [check(kind, x0[k:k + CHUNK], x1[k:k + CHUNK], {name: a[k:k + CHUNK] for name, a in answers.items()}, separation, keep, precision)
             for k in range(0, len(x0), CHUNK)]
    return (np.concatenate(part) for part in zip(*parts))


def check_program(options, folder, precision):
    random, violations, late, bare = np.random.default_rng(options.seed), 0, 0, -np.inf
    each = -(-options.rows // (len(GROUPS) * len(KEPT) * 2))
    print(f"{precision}: {each * len(GROUPS) * len(KEPT) * 2:,} rows, {TIMES + 1} times each")
    for name in GROUPS:
        counts, worst, most, wrong, early = np.zeros(5, int), -np.inf, -np.inf, 0, 0
        for separation, keep in KEPT:
            for kind in (cp.POINT_TRIANGLE, cp.EDGE_EDGE):
                x0, x1 = rows_of(name, kind, each, random, precision)
                # A rounded 1e-3 is not 1e-3: the program's float.
                xi = float(np.float32(separation)) if precision == "f32" else separation
                answers = answers_of(options, folder, kind, x0, x1, separation, keep, precision)
                below, excess, over = check_all(kind, x0, x1, answers, xi, keep, precision)
                counts += np.bincount(answers["status"].astype(int), minlength=5)
                wrong += int((~(below <= 0)).sum())
                early += int((over > 1).sum())
                worst = max(worst, float(below.max()))
                most = max(most, float(excess.max())) if not keep else most
        print(f"  {name:10} free {counts[0]:7} hit {counts[1]:6} limit {counts[2]:5} within {counts[3]:6} bad {counts[4]}; below r: {wrong}"
              f"; earlier than allowed: {early}; excess at hits that keep nothing {most:.2g}")
        violations, late = violations + wrong, late + early
        bare = max(bare, most) if name != "huge" else bare
    unit = 2. ** (-53 if precision == "f64" else -24)
    print(f"  {violations} violations; {late} hits earlier than allowed; largest excess {bare:.3g} of the size, {bare / unit:.1f} units of "
          "roundoff (huge left out)")
    return violations == 0 and late == 0


# ---- the check itself ----
def check_golden(folder):
    """Known times: none is early, and one that is 1e-6 later is found."""
    with np.load(folder / "queries.npz") as file:
        golden = {name: file[name] for name in file.files}
    names, good = [str(name) for name in golden["kinds"]], True
    for kind, name in ((cp.POINT_TRIANGLE, "pt"), (cp.EDGE_EDGE, "ee")):
        rows = np.flatnonzero([names[k] == name if isinstance(k, (int, np.integer)) else str(k) == name for k in golden["kind"]])
        rows = rows[(golden["status"][rows] == HIT) & (golden["r"][rows] > 0)]
        for late in (0., 1e-3):
            below = []
            for i in rows:
                answers = {"toi": np.array([min(golden["toi_lo"][i] + late, 1.)]), "status": np.array([HIT]), "d0": np.array([0.])}
                below.append(check(kind, golden["X0"][i:i + 1], golden["X1"][i:i + 1], answers, golden["r"][i], 0., "f64")[0][0])
            found = int((np.array(below) > 0).sum())
            print(f"{name}: {len(rows)} known times, {late:g} later: {found} found")
            good &= found == 0 if not late else found > .8 * len(rows)
    return good


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--golden", type=pathlib.Path, help="a folder of queries.npz with known times")
    parser.add_argument("--program", type=pathlib.Path, help="bench/ccd_abut of a build")
    parser.add_argument("--rows", type=int, default=10 ** 6, help="in each precision")
    parser.add_argument("--precision", choices=["f64", "f32", "both"], default="both")
    parser.add_argument("--device", default="pocl")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    if options.golden:
        return 0 if check_golden(options.golden) else 1
    if not options.program:
        parser.error("--program or --golden")
    with tempfile.TemporaryDirectory() as folder:
        wanted = ["f64", "f32"] if options.precision == "both" else [options.precision]
        return 0 if all([check_program(options, pathlib.Path(folder), precision) for precision in wanted]) else 1


if __name__ == "__main__":
    sys.exit(main())
