#!/usr/bin/env python3
"""Where two or three fingertips hold a drill, by derivatives of closest points: from random places to touch, in balance.

  contact_grasp.py [--device NAME] [--plot OUT.png]

The drill is a set of convex hulls: battery, handle, body, chuck and bit. Each fingertip is a ball, and touches the hull that is nearest.
With its closest point p on the drill, the normal n there and the distance d, the residual is

  (d / D of each finger,  sum of n,  sum of p x n / L)

so that 0 means: all fingers touch, and equal pushes along their normals cancel in force and in torque, without friction. Steps are those
of Levenberg and Marquardt for the fingers' places, all starts in one batch. On a flat face n does not change however a finger moves, and
nothing tells one on the wrong side to go elsewhere; `gumbel` smooths edges and corners into the faces around them. It smooths less where
nothing better is found, and behind the last temperature fingers are nudged by chance and go on, as they are with other derivatives.
"""
import time

import numpy as np

import abut
import common
import solids

SEED, STARTS, TIP = 4, 60, 0.01  # TIP [m] radius of a fingertip
METHODS = {"gumbel": [("gumbel", {"temperature": t}) for t in (0.1, 0.02, 0.002)], "exact": [("exact", {})], "finite": [("finite", {})]}
STEPS, PATIENCE, NUDGE = 80, 3, 0.03  # PATIENCE: steps in a row that gain nothing; NUDGE [m] along each axis
NEAR, LENGTH, LONGEST = 0.03, 0.1, 0.03  # [m] D and L; a step's longest move
DAMPING, BALANCED = 10.0, 1e-3  # [1/m^2]; sum of squares


def prism(radius, x, sides=12):
    """A frustum around x: two radii and two ends [m]."""
    angles = 2 * np.pi * (np.arange(sides) + 0.5) / sides
    return np.concatenate([np.stack([np.full(sides, end), r * np.cos(angles), r * np.sin(angles)], 1) for r, end in zip(radius, x)])


def slab(below, above):
    """A hull of two rectangles: x from, x to, half of y, z."""
    return np.array([[x, y * r[2], r[3]] for r in (below, above) for x in r[:2] for y in (-1, 1)])


def drill():
    """Hulls by name, in metres, and their colours."""
    return {"battery": (slab((-0.055, 0.05, 0.035, -0.16), (-0.055, 0.05, 0.035, -0.125)), (0.35, 0.37, 0.42)),
            "handle": (slab((-0.045, 0.005, 0.017, -0.125), (-0.025, 0.025, 0.021, -0.02)), (0.93, 0.62, 0.2)),
            "body": (prism((0.033, 0.033), (-0.085, 0.065)), (0.93, 0.62, 0.2)),
            "chuck": (prism((0.027, 0.014), (0.065, 0.11)), (0.45, 0.47, 0.52)),
            "bit": (prism((0.004, 0.004), (0.11, 0.19), 6), (0.7, 0.72, 0.76))}


class Grip:
    """Fingertips around the hulls, as a residual of their places."""

    def __init__(self, context):
        self.hulls = [abut.Shape("hull", vertices, context=context) for vertices, _ in drill().values()]
        self.tip = abut.Shape("sphere", TIP, context=context)

    def contacts(self, x):
        """Of places (N, F, 3): the answers of all hulls, (N, F, hulls), and which one is nearest."""
        poses = np.concatenate([x, np.zeros_like(x)], -1)[:, :, None, :]
        shape = (*x.shape[:2], len(self.hulls))
        r = abut.closest(self.hulls, self.tip, None, np.broadcast_to(poses, (*shape, 6)), one=np.broadcast_to(np.arange(shape[2]), shape))
        return r, np.argmin(r.d, -1)

    def residual(self, x):
        r, which = self.contacts(x)
        d, n, p = (chosen(a, which) for a in (r.d, r.n, r.p1))
        return np.concatenate([d / NEAR, n.sum(1), np.cross(p, n).sum(1) / LENGTH], 1)

    def slope(self, x, method, **settings):
        """The residual's derivative by all places, (N, F + 6, 3 F)."""
        r, which = self.contacts(x)
        n, p = (chosen(a, which)[..., None] for a in (r.n, r.p1))
        j = abut.closest_jacobian(r, method, want=("d", "n", "p1"), **settings)
        of_d, of_n, of_p = (chosen(a, which)[..., 6:9] for a in (j.d, j.n, j.p1))
        of_torque = (np.cross(of_p, n, axis=2) + np.cross(p, of_n, axis=2)) / LENGTH
        fingers = x.shape[1]
        touch = np.zeros((len(x), fingers, fingers, 3))
        touch[:, range(fingers), range(fingers)] = of_d / NEAR
        sums = np.concatenate([of_n, of_torque], 2).swapaxes(1, 2)  # (N, 6, F, 3)
        return np.concatenate([touch, sums], 1).reshape(len(x), fingers + 6, 3 * fingers)


def chosen(array, which):
    """Each finger's entry, of the hull that is nearest."""
    index = which.reshape(*which.shape, *[1] * (array.ndim - 2))
    return np.take_along_axis(array, index, 2)[:, :, 0]


class Descent:
    """Levenberg and Marquardt's steps on all rows at once, each with the first of `turns` until it gains nothing."""

    def __init__(self, grip, x, turns):
        self.grip, self.turns, self.random = grip, turns, np.random.default_rng(SEED)
        self.x, self.cost = x.copy(), np.sum(grip.residual(x) ** 2, 1)
        self.best, self.least = self.x.copy(), self.cost.copy()
        self.turn, self.idle, self.damping = np.zeros(len(x), int), np.zeros(len(x), int), np.ones(len(x))

    def move(self):
        """What is proposed, no finger by more than LONGEST."""
        r = self.grip.residual(self.x)
        J = np.zeros((len(r), r.shape[1], self.x[0].size))
        for k, (method, settings) in enumerate(self.turns):
            some = np.flatnonzero(self.turn == k)
            if len(some):
                J[some] = self.grip.slope(self.x[some], method, **settings)
        A = J.swapaxes(1, 2) @ J + (DAMPING * self.damping)[:, None, None] * np.eye(J.shape[2])
        step = -np.linalg.solve(A, J.swapaxes(1, 2) @ r[:, :, None]).reshape(self.x.shape)
        return step * np.minimum(1, LONGEST / np.maximum(np.linalg.norm(step, axis=2).max(1), 1e-30))[:, None, None]

    def step(self):
        there = self.x + self.move()
        found = np.sum(self.grip.residual(there) ** 2, 1)
        better = found < self.cost
        self.idle = np.where(found < 0.999 * self.cost, 0, self.idle + 1)
        self.x, self.cost = np.where(better[:, None, None], there, self.x), np.where(better, found, self.cost)
        self.damping *= np.where(better, 0.3, 5.0)
        self.keep_best()
        self.go_on()

    def keep_best(self):
        better = self.cost < self.least
        self.best, self.least = np.where(better[:, None, None], self.x, self.best), np.where(better, self.cost, self.least)

    def go_on(self):
        """The next turn for rows that gain nothing; those behind the last one begin again, nudged unless they are there."""
        weary = self.idle >= PATIENCE
        self.turn[weary] += 1
        self.idle[weary], self.damping[weary] = 0, 1.0
        behind = self.turn == len(self.turns)
        self.turn[behind] = 0
        some = np.flatnonzero(behind & (self.least > 1e-12))
        self.x[some] += NUDGE * self.random.normal(size=self.x[some].shape)
        self.cost = np.sum(self.grip.residual(self.x) ** 2, 1)

    def run(self):
        """-> places (STEPS + 1, N, F, 3), the best ones so far, and their sums of squares."""
        ways, costs = [self.best], [self.least]
        for _ in range(STEPS):
            self.step()
            ways.append(self.best)
            costs.append(self.least)
        return np.array(ways), np.array(costs)


def starts(fingers, random):
    """Fingers anywhere on a ball around the drill."""
    way = random.normal(size=(STARTS, fingers, 3))
    return 0.16 * way / np.linalg.norm(way, axis=2, keepdims=True) + [0.02, 0, -0.05]


def draw_stage(axes, grip, x, title):
    """The drill, the fingers, and what each pushes with."""
    eye = solids.View(-58, 16, (0.03, 0, -0.05), 0.36, (800, 720))
    for vertices, colour in drill().values():
        eye.hull(vertices, np.array(colour))
    r, which = grip.contacts(x[None])
    for place, n in zip(x, chosen(r.n, which)[0]):
        eye.ball(place, TIP, np.array([0.2, 0.45, 0.8]))
        (u, v, _), (u2, v2, _) = eye.pixels(place + 0.06 * n), eye.pixels(place + 0.8 * TIP * n)
        axes.annotate("", (u2, v2), (u, v), arrowprops={"arrowstyle": "-|>", "color": "#c1272d", "lw": 2, "mutation_scale": 16})
    axes.imshow(eye.image(), interpolation="antialiased")
    axes.set_title(title, fontsize=12)
    axes.set_axis_off()


def worth_drawing(grip, ways, costs):
    """A start that comes to balance on handle and body, far from where it began."""
    names = list(drill())
    _, which = grip.contacts(ways[-1])
    held = np.isin(which, [names.index("handle"), names.index("body")]).all(1) & (costs[-1] < 1e-9)
    return int(np.argmax(np.where(held, costs[0], 0)))


def plot(path, grip, found):
    plt = common.pyplot()
    figure, axes = plt.subplots(2, 4, figsize=(11.4, 5.6), gridspec_kw={"width_ratios": (1, 1, 1, .8)})
    for row, (fingers, runs) in zip(axes, found.items()):
        ways, costs = runs["gumbel"]
        i = worth_drawing(grip, ways, costs)
        end = int(np.argmax(costs[:, i] < 1e-9))
        for panel, step in zip(row, (0, max(1, np.count_nonzero(costs[:, i] > 0.5) - 1), end)):
            draw_stage(panel, grip, ways[step, i], f"{f'step {step}' if step else 'start'}: residual {np.sqrt(costs[step, i]):.1g}")
        row[0].text(-.02, .5, f"{fingers} fingers", fontsize=13, rotation=90, va="center", ha="right", transform=row[0].transAxes)
        for (name, (_, each)), colour in zip(runs.items(), ("#c1272d", "#0072b2", "0.4")):
            row[3].plot(np.mean(each < BALANCED, 1), color=colour, lw=2, label=name)
        row[3].set_ylim(-.03, 1.03)
        row[3].set_yticks((0, .5, 1), ("0", "half", "all"), fontsize=11)
        row[3].set_title("starts in balance", fontsize=12)
        row[3].grid(alpha=.3)
        row[3].spines[["top", "right"]].set_visible(False)
    axes[1, 3].legend(fontsize=11, frameon=False)
    axes[1, 3].set_xlabel("steps", fontsize=12)
    figure.tight_layout(pad=.5)
    figure.savefig(path, dpi=80)


def report(grip, fingers, method, ways, costs):
    done = costs[-1] < BALANCED
    r = np.abs(grip.residual(ways[-1, done]))
    off = f"; these miss by {1e3 * NEAR * r[:, :fingers].max():.1f} mm, {r[:, fingers:].max():.0e} of a push at most" if done.any() else ""
    print(f"{fingers} fingers, {method}: {np.count_nonzero(done)} of {STARTS} starts balance; the median of squares goes from "
          f"{np.median(costs[0]):.3g} to {np.median(costs[-1]):.1e}{off}")


def main():
    context, picture = common.begin()
    random, begin, grip = np.random.default_rng(SEED), time.perf_counter(), Grip(context)
    found = {}
    for fingers in (2, 3):
        x = starts(fingers, random)
        found[fingers] = {method: Descent(grip, x, turns).run() for method, turns in METHODS.items()}
        for method, run in found[fingers].items():
            report(grip, fingers, method, *run)
    print(f"{time.perf_counter() - begin:.1f} s")
    if picture:
        plot(picture, grip, found)
    for fingers, least in ((2, 0.85), (3, 0.6)):
        done = {method: np.mean(costs[-1] < BALANCED) for method, (_, costs) in found[fingers].items()}
        ways, costs = found[fingers]["gumbel"]
        assert np.isfinite(ways).all() and np.isfinite(costs).all()
        assert np.median(costs[-1]) < 1e-4 * np.median(costs[0]), "squares fall by orders of magnitude"
        assert done["gumbel"] > max(least, done["exact"], done["finite"]), "most starts balance, and more than by other derivatives"


if __name__ == "__main__":
    main()
