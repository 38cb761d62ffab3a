#!/usr/bin/env python3
"""Elastic chains in the plane that fall onto each other, by implicit Euler and a barrier, with steps that are known to be safe.

  chains.py [--device NAME] [--plot OUT.png]

A hammock hangs from two nails; two hoops and a strip fall into it. Points are masses, springs join them, and every point that is nearer
than GAP to an edge of any chain, its own among them, is pushed away by the barrier -K (d - GAP)^2 ln(d / GAP). A time step is the minimum
of the incremental potential, found by Newton steps with projected Hessians and a backtracking line search.

The barrier knows of distances only, not of sides: a step that jumps over an edge finds a lower energy beyond it, and stays. So the line
search begins with what `abut.step_filter` allows of a step, for all pairs of a point and an edge at once. Both precisions do the
same; one run goes without the filter. What is asserted is computed here, by other formulas, on all pairs: along each step that the filter
allows every pair keeps a tenth of its distance, and no two edges ever cross. Without the filter they do.
"""
import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # for matrices this small threads of NumPy's only wait for each other

import numpy as np

import abut
import common

STEPS, EARLY, DT = 50, 6, 0.04  # EARLY: where the run without the filter ends; [s]
GRAVITY, MASS, THROWN = 9.81, 0.01, 1.0  # [m/s^2] [kg] of a point, [m/s] down
GAP, K = 0.01, 60.0  # [m] [N/m] of the barrier
KEEP, NEWTON, ENOUGH, HALVINGS = 0.1, 30, 1e-5, 12  # ENOUGH: the largest way of a last Newton step [m]
SAMPLES = np.linspace(0, 1, 9)[1:]  # of a step, where it is looked at


class Chains:
    """Points (N, 2), edges (E, 2), springs (S, 2) with lengths and stiffnesses, nails (N), and which chain a point is of."""

    def __init__(self):
        self.x, self.edges, self.springs, self.stiffness, self.chain = [], [], [], [], []

    def add(self, points, closed, reaches):
        """A chain whose point i has a spring to i + reach, for every reach and its stiffness [N/m]."""
        first, count = len(self.x), len(points)
        for reach, stiffness in reaches.items():
            ends = range(count if closed else count - reach)
            some = [(first + i, first + (i + reach) % count) for i in ends]
            self.springs += some
            self.stiffness += [stiffness] * len(some)
            self.edges += some if reach == 1 else []
        self.x += list(points)
        self.chain += [max(self.chain, default=-1) + 1] * count

    def done(self):
        self.x, self.edges, self.springs = np.array(self.x), np.array(self.edges), np.array(self.springs)
        self.stiffness, self.chain = np.array(self.stiffness, float), np.array(self.chain)
        self.length = np.linalg.norm(np.diff(self.x[self.springs], axis=1)[:, 0], axis=1)
        p, e = np.meshgrid(np.arange(len(self.x)), np.arange(len(self.edges)), indexing="ij")
        pairs = np.concatenate([p.reshape(-1, 1), self.edges[e.ravel()]], 1)
        self.pairs = pairs[(pairs[:, :1] != pairs[:, 1:]).all(1)]  # (P, 3): a point and an edge that is not its own
        i, j = np.triu_indices(len(self.edges), 1)
        crossing = np.concatenate([self.edges[i], self.edges[j]], 1)
        self.crossing = crossing[[len(set(row)) == 4 for row in crossing]]
        return self


def scene():
    s, chains = np.linspace(-1, 1, 31), Chains()
    chains.add(np.stack([0.6 * s, 0.3 * s * s - 0.3], 1), False, {1: 1500})
    chains.nails = np.array([0, len(s) - 1])
    turn = 2 * np.pi * np.arange(18) / 18
    hoop = np.stack([np.cos(turn), np.sin(turn)], 1)
    chains.add([-0.14, 0.1] + 0.15 * hoop, True, {1: 800, 2: 200, 9: 20})
    chains.add([0.13, 0.36] + 0.13 * hoop, True, {1: 800, 2: 200, 9: 20})
    chains.add(np.stack([0.4 * s[::2] - 0.05, 0.62 + 0.08 * s[::2]], 1), False, {1: 800, 2: 200, 4: 20})
    return chains.done()


def gaps(x, pairs):
    """Distances of points and edges (..., P), the vectors from the edges' nearest points, and where these lie on the edges."""
    p, a, b = (x[..., pairs[:, k], :] for k in range(3))
    along, t = b - a, 0
    t = np.clip(np.sum((p - a) * along, -1) / np.sum(along * along, -1), 0, 1)
    away = p - a - t[..., None] * along
    return np.sqrt(np.sum(away * away, -1)), away, t


def crossings(x, quads):
    """How many pairs of edges cross, by the sides that their ends are on."""
    a, b, c, d = (x[..., quads[:, k], :] for k in range(4))

    def side(u, v, w):
        return (v[..., 0] - u[..., 0]) * (w[..., 1] - u[..., 1]) - (v[..., 1] - u[..., 1]) * (w[..., 0] - u[..., 0]) > 0

    return np.sum((side(a, b, c) != side(a, b, d)) & (side(c, d, a) != side(c, d, b)), -1)


class Step:
    """The incremental potential of a time step: inertia around where points would fly to, springs, and the barrier."""

    def __init__(self, chains, flown):
        self.chains, self.flown = chains, flown

    def near(self, x):
        some = self.chains.pairs
        d = gaps(x, some)[0]
        return some[d < GAP]

    def energy(self, x):
        c = self.chains
        stretch = np.linalg.norm(x[c.springs[:, 1]] - x[c.springs[:, 0]], axis=1) - c.length
        d = gaps(x, self.near(x))[0]
        barrier = np.inf if (d <= 0).any() else -K * np.sum((d - GAP) ** 2 * np.log(d / GAP))
        return MASS / 2 * np.sum((x - self.flown) ** 2) + DT ** 2 * (c.stiffness @ stretch ** 2 / 2 + barrier)

    def newton(self, x):
        """The step down (N, 2) of a Hessian without its negative parts."""
        c, n = self.chains, len(x)
        g, H = MASS * (x - self.flown), MASS * np.eye(2 * n)
        along = x[c.springs[:, 1]] - x[c.springs[:, 0]]
        long = np.linalg.norm(along, axis=1)
        way = along / long[:, None]
        tension = DT ** 2 * c.stiffness * (long - c.length)
        part = np.maximum(tension / long, 0)[:, None, None]
        block = part * np.eye(2) + (DT ** 2 * c.stiffness[:, None, None] - part) * way[:, :, None] * way[:, None, :]
        self._add(g, H, c.springs, np.array([-1.0, 1.0]), tension[:, None] * way, block)
        near = self.near(x)
        d, away, t = gaps(x, near)
        n = away / d[:, None]
        slope = -K * (2 * (d - GAP) * np.log(d / GAP) + (d - GAP) ** 2 / d)
        bend = -K * (2 * np.log(d / GAP) + 4 * (d - GAP) / d - ((d - GAP) / d) ** 2)
        weights = np.stack([np.ones_like(t), t - 1, -t], 1)
        self._add(g, H, near, weights, DT ** 2 * slope[:, None] * n, DT ** 2 * bend[:, None, None] * n[:, :, None] * n[:, None, :])
        free = np.setdiff1d(np.arange(2 * len(x)), np.concatenate([2 * c.nails, 2 * c.nails + 1]))
        step = np.zeros(2 * len(x))
        step[free] = np.linalg.solve(H[np.ix_(free, free)], -g.ravel()[free])
        return step.reshape(-1, 2), g

    @staticmethod
    def _add(g, H, rows, weights, force, block):
        """Terms of differences sum_k weights_k x_rows_k, with their slopes (M, 2) and blocks (M, 2, 2)."""
        weights = np.broadcast_to(weights, rows.shape)
        axis = np.arange(2)
        for k in range(rows.shape[1]):
            np.add.at(g, rows[:, k], weights[:, k, None] * force)
            for m in range(rows.shape[1]):
                at = 2 * rows[:, k, None, None] + axis[:, None], 2 * rows[:, m, None, None] + axis
                np.add.at(H, at, (weights[:, k] * weights[:, m])[:, None, None] * block)


class Run:
    """The chains' fall in a precision, with the filter or without, and what was measured on its way."""

    def __init__(self, chains, context, filtered):
        self.chains, self.context, self.filtered = chains, context, filtered
        self.searches = self.cut = self.over = self.asked = 0
        self.least, self.crossed, self.nearest = np.inf, 0, np.inf
        self.x = chains.x.astype(context.dtype)
        self.ways = [self.x]

    def share(self, x, step):
        """How much of a step the line search begins with."""
        if not self.filtered:
            return 1.0
        flat = np.zeros((len(x), 1), x.dtype)
        safe = abut.step_filter(np.hstack([x, flat]), np.hstack([step, flat]), {"pe": self.chains.pairs}, keep=KEEP,
                                context=self.context)
        self.asked += safe.asked
        self.cut += safe.share < 1
        return safe.share

    def watch(self, x, step, share):
        """Looks at all pairs along the step that was allowed, and at edges along all of the step, with float64's digits."""
        x, there, whole = (np.asarray(y, float) for y in (x, x + x.dtype.type(share) * step, x + step))
        d0 = gaps(x, self.chains.pairs)[0]
        d = gaps(x + SAMPLES[:, None, None] * (there - x), self.chains.pairs)[0]
        self.least = min(self.least, (d / d0).min())
        self.nearest = min(self.nearest, d.min())
        self.over += (crossings(x + SAMPLES[:, None, None] * (whole - x), self.chains.crossing) > 0).any()
        self.searches += 1

    def search(self, potential, x):
        """One Newton step -> positions, and whether it went anywhere."""
        step, g = potential.newton(np.asarray(x, float))
        now, down, step = potential.energy(np.asarray(x, float)), np.sum(g * step), step.astype(x.dtype)
        share = self.share(x, step)
        self.watch(x, step, share)
        for k in range(HALVINGS):
            there = x + x.dtype.type(share / 2 ** k) * step
            if potential.energy(np.asarray(there, float)) <= now + 1e-4 * share / 2 ** k * down:
                return there, np.abs(step).max() > ENOUGH
        return x, False

    def fall(self, steps):
        v = np.where(self.chains.chain[:, None] > 0, [0, -THROWN], 0.0)
        for _ in range(steps):
            flown = self.x + DT * v - [0, DT ** 2 * GRAVITY]
            flown[self.chains.nails] = self.chains.x[self.chains.nails]
            potential, x = Step(self.chains, flown), self.x
            for _ in range(NEWTON):
                x, goes_on = self.search(potential, x)
                self.crossed = max(self.crossed, int(crossings(np.asarray(x, float), self.chains.crossing)))
                if not goes_on:
                    break
            v, self.x = (np.asarray(x, float) - self.x) / DT, x
            self.ways.append(x)
        return self

    def report(self, name):
        print(f"{name}: {self.searches} line searches, whole steps cross in {self.over}; at most {self.crossed} pairs of edges cross, "
              f"{int(crossings(np.asarray(self.x, float), self.chains.crossing))} at the end; nearest {1e3 * self.nearest:.4f} mm")
        if self.filtered:
            print(f"  the filter cuts {self.cut} and asks {self.asked / self.searches:.0f} of {len(self.chains.pairs)} pairs; at least "
                  f"{self.least:.4f} of a distance is kept")


def draw(axes, run, x, title):
    for k, colour in enumerate(("0.25", "#0072b2", "#c1272d", "#e69f00")):
        for edge in run.chains.edges[run.chains.chain[run.chains.edges[:, 0]] == k]:
            axes.plot(*x[edge].T, color=colour, lw=2.2, solid_capstyle="round")
        axes.plot(*x[run.chains.chain == k].T, "o", ms=2.8, color=colour)
    axes.plot(*x[run.chains.nails].T, "o", ms=8, color="0.25")
    axes.set_title(title, fontsize=12)
    axes.set(xlim=(-.65, .65), ylim=(-.68, .74), aspect="equal")
    axes.set_axis_off()


def plot(path, filtered, bare):
    plt = common.pyplot()
    figure, axes = plt.subplots(1, 4, figsize=(12.4, 3.7), sharex=True, sharey=True)
    draw(axes[0], filtered, filtered.ways[0], "start")
    draw(axes[1], bare, bare.x, f"{EARLY * DT:.2f} s, line search alone")
    draw(axes[2], filtered, filtered.ways[EARLY], f"{EARLY * DT:.2f} s, with abut.step_filter")
    draw(axes[3], filtered, filtered.x, f"{STEPS * DT:.2f} s, with abut.step_filter")
    figure.subplots_adjust(left=.005, right=.995, bottom=.01, top=.92, wspace=.03)
    figure.savefig(path, dpi=90)


def main():
    context, picture = common.begin()
    single = abut.Context(common.options().device, precision="f32")
    chains = scene()
    assert crossings(chains.x, chains.crossing) == 0 and gaps(chains.x, chains.pairs)[0].min() > GAP
    runs = {"float64": Run(chains, context, True), "float32": Run(chains, single, True),
            "float64, no filter": Run(chains, context, False)}
    for name, run in runs.items():
        run.fall(STEPS if run.filtered else EARLY).report(name)
    *filtered, bare = runs.values()
    if picture:
        plot(picture, filtered[0], bare)
    for run in filtered:
        assert run.searches > 200 and run.over > 0, "hundreds of line searches, and steps among them that cross"
        assert run.least >= KEEP, "every pair keeps a tenth of its distance"
        assert run.crossed == 0 and run.nearest > 0, "nothing ever crosses"
    assert bare.crossed > 0, "without the filter something does"


if __name__ == "__main__":
    main()
