#!/usr/bin/env python3
"""Contact poses by Gauss-Newton, with each method of derivatives of closest points: how often they are reached.

  PYTHONPATH=build/python python3 bench/peers/closest_targets.py [TARGETS.npz] [--problems N] [--only WORD] [--device NAME] [--write]

The task is that of Table I of Montaut et al. 2023. Two icosahedra, each stretched along three axes, are to touch in given points: one of
body 1, a vertex or inside a face, and a vertex of body 2. The residual is what both closest points miss them by, each in its body's
frame, and the signed distance; C is its square, and 0 where both shapes touch in both points. Steps are those of Gauss and Newton for
the twist of body 2, with 1e-9 of the trace of J^T J on its diagonal, no further than 1 rad, and halved up to 15 times until C falls;
where it does not fall a problem is at its end, as it is after 50 steps.

"Continued" does not end there. It goes on with a lower temperature, which follows the shapes more closely and shows ways down that a
higher one blurs. Behind the last one "uphill" takes a whole step by gumbel at 0.2 L although C rises, and "nudged" moves body 2 by a
random twist; then both begin again with the first temperature, and the best pose counts. All have 50 steps altogether.

TARGETS.npz has `unit` (12, 3), `radii` (P, 2, 3), `target1`, `target2` (P, E, 3), `on_face` (P, E) and `start` (P, E, 7), the first pose
of body 2. Without it such problems are made. Random numbers are new in each step: a row counts as the step times the number of all
problems, plus its place among the rows that still go on. Prints tables with quantiles of C, beside those of an independent reference
(of 10,000 problems, or of 240). --write keeps bench/results/closest-targets.json, renews the table of
docs/benchmarks/closest-derivatives.md, and draws the picture there. Needs NumPy, and matplotlib to draw. A minute.
"""
import argparse
import collections
import json
import pathlib
import sys
import time

import numpy as np

import abut
import run

ROOT = pathlib.Path(__file__).resolve().parents[2]
RESULT, PAGE = ROOT / "bench" / "results" / "closest-targets.json", ROOT / "docs" / "benchmarks" / "closest-derivatives.md"
PICTURE = PAGE.parent / "closest-targets.png"
BEGIN, END = "<!-- targets: begin -->", "<!-- targets: end -->"
STEPS, HALVINGS, DAMPING, TURN = 50, 15, 1e-9, 1.0  # TURN [rad]
ENOUGH, NUDGE, SHIFT = 1e-20, 0.6, 0.2  # of C; [rad] and [m] of a nudge along each axis
UPHILL = 0.2  # temperature of a step that C need not follow
SHARES = 0.1, 0.25, 0.5, 0.75, 0.9
NAMES = "D1", "Q1", "median", "Q3", "D9"
GROUPS = "all", "a vertex", "on a face"

Problems = collections.namedtuple("Problems", "first second pair target1 target2 on_face start")
Method = collections.namedtuple("Method", "turns escape reference")  # turns: methods and their settings


def gumbel(*temperatures):
    return [("gumbel", {"temperature": t}) for t in temperatures]


# The reference's quantiles: of all, of vertices, of faces; None is not known.
METHODS = {
    "gumbel, 0.05 L": Method(gumbel(.05), None, ((2e-31, 4e-31, 8e-31, 3e-30, 2e-3), (2e-31, 3e-31, 7e-31, 2e-30, 1e-29),
                                                  (2e-31, 4e-31, 9e-31, 2e-29, 3e-2))),
    "gumbel, 0.08 L": Method(gumbel(.08), None, ((None, None, None, 2e-30, 2e-4), (None,) * 4 + (8e-30,), (None,) * 4 + (1e-2,))),
    "gumbel, 0.1 L": Method(gumbel(.1), None, ((None, None, None, 2e-30, 2e-4), (None,) * 4 + (9e-30,), (None,) * 4 + (2e-2,))),
    "gumbel, 0.1 to 0.001 L, continued": Method(gumbel(.1, .05, .02, .01, .005, .002, .001), None, ((None,) * 5,) * 3),
    "gumbel, 0.1 and 0.02 L, continued, uphill": Method(gumbel(.1, .02), "uphill", ((None,) * 5,) * 3),
    "gumbel, 0.1 and 0.02 L, continued, nudged": Method(gumbel(.1, .02), "nudged", ((None,) * 5,) * 2 + ((None,) * 4 + (1e-6,),)),
    "gaussian, M 20, epsilon 0.3": Method([("gaussian", {"epsilon": .3})], None, (
        (2e-31, 4e-31, 9e-31, 3e-30, 3e-2), (None,) * 4 + (4e-29,), (None,) * 4 + (.1,))),
    "gaussian, M 20, epsilon 0.1": Method([("gaussian", {"epsilon": .1})], None, ((None, None, .7, None, None),) + ((None,) * 5,) * 2),
    "zeroth, M 20, epsilon 0.02": Method([("zeroth", {})], None, ((4e-29, 2e-4, .5, 1., 3.),) + ((None,) * 5,) * 2),
    "finite, h 1e-6": Method([("finite", {})], None, ((3e-18, .3, 1., 2., 4.),) + ((None,) * 5,) * 2),
    "finite, h 1e-2": Method([("finite", {"epsilon": 1e-2})], None, ((4e-8, .3, 2., 3., 5.),) + ((None,) * 5,) * 2)}


# ---- problems ----
def icosahedron():
    """Its corners at distance 1."""
    g = (1 + 5 ** .5) / 2
    corners = np.array([np.roll([0, a, b * g], k) for k in range(3) for a in (-1, 1) for b in (-1, 1)])
    return corners / np.linalg.norm(corners[0])


def faces_of(unit):
    """Its 20 triangles: three corners, each an edge from both others."""
    near = unit @ unit.T > 0.4
    return np.array([(i, j, k) for i in range(12) for j in range(i) for k in range(j) if near[i, j] and near[j, k] and near[i, k]])


def made(pairs, each, random):
    """What a file of targets holds, made here: half of body 1's are vertices."""
    unit = icosahedron()
    faces = faces_of(unit)
    radii, on_face = random.uniform(.5, 1.5, (pairs, 2, 3)), np.tile(np.arange(each) >= each // 2, (pairs, 1))
    weights = random.dirichlet(np.ones(3), (pairs, each))
    inside = np.einsum("pek,pekx->pex", weights, unit[faces[random.integers(len(faces), size=(pairs, each))]])
    corner1, corner2 = (unit[random.integers(12, size=(pairs, each))] for _ in range(2))
    start = random.normal(size=(pairs, each, 7))
    start[..., :3] *= 1.2 / np.linalg.norm(start[..., :3], axis=-1, keepdims=True)
    start[..., 3:] /= np.linalg.norm(start[..., 3:], axis=-1, keepdims=True)
    return {"unit": unit, "radii": radii, "target1": np.where(on_face[..., None], inside, corner1) * radii[:, None, 0],
            "target2": corner2 * radii[:, None, 1], "on_face": on_face, "start": start}


def problems_of(file, context, most=None):
    """All problems in one batch, or `most` of them evenly."""
    bodies = [[abut.Shape("hull", file["unit"] * r, context=context) for r in file["radii"][:, k]] for k in (0, 1)]
    pairs, each = file["on_face"].shape
    count = pairs * each
    chosen = np.arange(count) if most is None or most >= count else np.arange(most) * count // most
    rows = {name: file[name].reshape(count, -1)[chosen] for name in ("target1", "target2", "start")}
    return Problems(*bodies, chosen // each, rows["target1"], rows["target2"], file["on_face"].ravel()[chosen] > 0, rows["start"])


def of_rows(problems, rows):
    return problems._replace(**{name: getattr(problems, name)[rows] for name in Problems._fields[2:]})


# ---- residuals and steps ----
def rotations(pose):
    w, v = pose[:, 3, None], pose[:, 4:]
    columns = []
    for axis in np.eye(3):
        across = 2 * np.cross(v, axis)
        columns.append(axis + w * across + np.cross(v, across))
    return np.stack(columns, -1)


def moved(pose, twist):
    """Poses behind twists (tau, phi): t + tau, and exp(hat phi) R."""
    half = np.linalg.norm(twist[:, 3:], axis=1, keepdims=True) / 2
    w, v = np.cos(half), twist[:, 3:] / 2 * np.sinc(half / np.pi)
    w0, v0 = pose[:, 3:4], pose[:, 4:]
    q = np.concatenate([w * w0 - np.sum(v * v0, 1, keepdims=True), w * v0 + w0 * v + np.cross(v, v0)], 1)
    return np.concatenate([pose[:, :3] + twist[:, :3], q / np.linalg.norm(q, axis=1, keepdims=True)], 1)


def residual(problems, pose):
    """-> r (N, 7), its rows of body 2 turned into the world, and the answer that it is of."""
    still = np.array([0, 0, 0, 1, 0, 0, 0.])
    answer = abut.closest(problems.first, problems.second, still, pose, one=problems.pair, two=problems.pair)
    placed = np.einsum("nij,nj->ni", rotations(pose), problems.target2) + pose[:, :3]
    return np.concatenate([answer.p1 - problems.target1, answer.p2 - placed, answer.d[:, None]], 1), answer


def slope(answer, pose, how, first):
    """The residual's derivative by body 2's twist (N, 7, 6): body 2's frame moves along."""
    method, settings = how
    if method in ("gaussian", "zeroth"):
        settings = settings | {"first": first}
    j = abut.closest_jacobian(answer, method, want=("d", "p1", "p2"), **settings)
    J = np.concatenate([j.p1[..., 6:], j.p2[..., 6:], j.d[:, None, 6:]], 1)
    J[:, 3:6, :3] -= np.eye(3)
    J[:, 3:6, 3:] -= np.cross(np.eye(3), (answer.p2 - pose[:, :3])[:, None, :]).swapaxes(1, 2)
    return J


def step_of(J, r):
    A, b = J.swapaxes(1, 2) @ J, J.swapaxes(1, 2) @ r[..., None]
    A += DAMPING * np.maximum(np.trace(A, axis1=1, axis2=2), 1e-300)[:, None, None] * np.eye(6)
    step = -np.linalg.solve(A, b)[..., 0]
    return step / np.maximum(np.linalg.norm(step[:, 3:], axis=1, keepdims=True) / TURN, 1)


def search(problems, pose, step, cost):
    """Halves steps until the cost falls -> poses, and where it fell."""
    pose, open_rows = pose.copy(), np.arange(len(pose))
    for k in range(HALVINGS + 1):
        there = moved(pose[open_rows], step[open_rows] / 2 ** k)
        r, _ = residual(of_rows(problems, open_rows), there)
        falls = np.sum(r * r, 1) < cost[open_rows]
        pose[open_rows[falls]] = there[falls]
        open_rows = open_rows[~falls]
        if not len(open_rows):
            break
    fell = np.ones(len(pose), bool)
    fell[open_rows] = False
    return pose, fell


def nudged(pose, random):
    return moved(pose, random.normal(size=(len(pose), 6)) * np.repeat([SHIFT, NUDGE], 3))


def uphill(problems, pose):
    """A whole step by a high temperature, which looks beyond the next kinks."""
    r, answer = residual(problems, pose)
    return moved(pose, step_of(slope(answer, pose, gumbel(UPHILL)[0], 0), r))


class Descent:
    """Gauss and Newton on all problems at once. Each takes the first of the method's turns until C does not fall, then the next."""

    def __init__(self, problems, method):
        self.problems, self.method, self.random = problems, method, np.random.default_rng(1)
        count = len(problems.start)
        self.pose, self.turn, self.taken = problems.start.copy(), np.zeros(count, int), np.zeros(count, int)
        self.best, self.unsettled, self.again = np.full(count, np.inf), 0, 0

    def step(self, rows, turn, first):
        """One step of some rows."""
        here, pose = of_rows(self.problems, rows), self.pose[rows]
        r, answer = residual(here, pose)
        cost = np.sum(r * r, 1)
        self.best[rows] = np.minimum(self.best[rows], cost)
        self.unsettled += answer.unsettled
        move = step_of(slope(answer, pose, self.method.turns[turn], first), r)
        self.pose[rows], fell = search(here, pose, move, cost)
        self.turn[rows[~fell]] += 1
        self.taken[rows[fell]] += 1

    def begin_again(self):
        """Moves what is at the end of its turns and has not arrived."""
        rows = np.flatnonzero((self.turn == len(self.method.turns)) & (self.best > ENOUGH))
        if len(rows):
            pose = self.pose[rows]
            self.pose[rows] = uphill(of_rows(self.problems, rows), pose) if self.method.escape == "uphill" else nudged(pose, self.random)
            self.turn[rows] = 0
            self.again += len(rows)

    def run(self, steps=STEPS):
        """-> C of all problems, each the least of its way."""
        for k in range(steps):
            turn = self.turn.copy()
            for which in range(len(self.method.turns)):
                rows = np.flatnonzero(turn == which)
                if len(rows):
                    self.step(rows, which, k * len(turn))
            if self.method.escape:
                self.begin_again()
        r, _ = residual(self.problems, self.pose)
        return np.minimum(self.best, np.sum(r * r, 1))


# ---- telling ----
def quantiles(cost, on_face):
    """Of all, of vertices, of faces -> (3, 5)."""
    return [np.quantile(cost[rows], SHARES).tolist() if rows.any() else [float("nan")] * len(SHARES)
            for rows in (on_face >= 0, ~on_face, on_face)]


def measure(problems, name):
    begin, descent = time.perf_counter(), Descent(problems, METHODS[name])
    cost = descent.run()
    return {"quantiles": quantiles(cost, problems.on_face), "reached": float(np.mean(cost < ENOUGH)), "steps": float(descent.taken.mean()),
            "again": descent.again / len(cost), "unsettled": descent.unsettled, "seconds": time.perf_counter() - begin}


def words(numbers):
    return " | ".join("" if x is None else f"{x:.0e}".replace("e-0", "e-").replace("e+00", "") for x in numbers)


def over(found, asked):
    """The largest of our quantiles over the reference's."""
    ratios = [x / y for x, y in zip(found, asked) if y is not None]
    return f"{max(ratios):.2g}" if ratios else ""


def table(rows):
    lines = ["| method | body 1's target | " + " | ".join(NAMES) + " | | reference " + " | ".join(NAMES) + " | most over it |",
             "|---|---" + "|---" * 12 + "|"]
    for name, row in rows.items():
        for group, found, asked in zip(GROUPS, row["quantiles"], METHODS[name].reference):
            lines.append(f"| {name if group == 'all' else ''} | {group} | {words(found)} | | {words(asked)} | {over(found, asked)} |")
    lines += ["", "| method | C below 1e-20 | steps that lowered C | begun again | answers that did not settle | seconds |",
              "|---" * 6 + "|"]
    return "\n".join(lines + [f"| {name} | {100 * row['reached']:.1f} % | {row['steps']:.1f} | {row['again']:.2f} | {row['unsettled']} | "
                              f"{row['seconds']:.1f} |" for name, row in rows.items()])


def draw_row(axes, y, found, colour):
    """From D1 to D9 a line, from Q1 to Q3 a bar, the median a dot."""
    d1, q1, median, q3, d9 = np.maximum(found, 1e-33)
    axes.plot([d1, d9], [y, y], color=colour, lw=2)
    axes.plot([q1, q3], [y, y], color=colour, lw=9, solid_capstyle="butt", alpha=.55)
    axes.plot([median], [y], "o", color=colour, ms=7, markeredgecolor="white")


def draw(rows, path):
    import matplotlib
    matplotlib.use("Agg")
    from matplotlib import pyplot as plt
    figure, axes = plt.subplots(figsize=(9.5, .62 * len(rows) + 1.5))
    for y, row in enumerate(rows.values()):
        for shift, found, colour in zip((-.18, .18), row["quantiles"][1:], ("#0072b2", "#c1272d")):
            draw_row(axes, y + shift, found, colour)
    axes.set_xscale("log")
    axes.set_yticks(range(len(rows)), [name.replace(", continued", ",\ncontinued") for name in rows], fontsize=12)
    axes.invert_yaxis()
    axes.tick_params(axis="x", labelsize=12)
    axes.set_xlabel("C at the end: line from D1 to D9, bar from Q1 to Q3, dot at the median", fontsize=12)
    axes.grid(axis="x", alpha=.3)
    axes.spines[["top", "right"]].set_visible(False)
    for colour, label in (("#0072b2", "body 1's target is a vertex"), ("#c1272d", "body 1's target lies on a face")):
        axes.plot([], [], color=colour, lw=9, alpha=.55, label=label)
    figure.legend(*axes.get_legend_handles_labels(), fontsize=12, frameon=False, loc="upper center", ncol=2)
    figure.tight_layout(rect=(0, 0, 1, .95))
    figure.savefig(path, dpi=90)


def write(rows, about):
    RESULT.write_text(json.dumps({"about": about, "methods": rows}, indent=1) + "\n")
    before, rest = PAGE.read_text().split(BEGIN)
    after = rest.split(END)[1]
    tail = f"{about['problems']} problems, float64; {about['device']}; commit {about['commit']}."
    PAGE.write_text(f"{before}{BEGIN}\n{table(rows)}\n\n{tail}\n{END}{after}")
    draw(rows, PICTURE)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("targets", nargs="?", type=pathlib.Path, help="without it problems are made")
    parser.add_argument("--problems", type=int, help="so many of them, evenly; all")
    parser.add_argument("--only", default="", help="methods whose names have this word")
    parser.add_argument("--device", help="one of abut.devices(), or host")
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args()
    context = abut.Context(options.device, precision="f64")
    file = np.load(options.targets) if options.targets else made(100, 100, np.random.default_rng(0))
    problems, rows = problems_of(file, context, options.problems), {}
    for name in METHODS:
        if options.only in name:
            rows[name] = measure(problems, name)
            print(f"{name}: {rows[name]['seconds']:.1f} s", file=sys.stderr, flush=True)
    print(table(rows))
    if options.write:
        commit = run.output_of(["git", "describe", "--always", "--dirty"]) or "?"
        write(rows, {"problems": len(problems.start), "device": context.device.name, "commit": commit})


if __name__ == "__main__":
    main()
