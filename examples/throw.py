#!/usr/bin/env python3
"""Throws a box so that it comes to rest on a target, by the gradient of the rollout.

  throw.py [--device NAME] [--plot OUT.png]

The box (throw.scene.json) leaves the hand at 0.5 m, flies, bounces, slides and rests within a
second of 200 steps. Sought are its six velocities at the start, so that it ends on a point of the
floor with its long side along a given heading. Each row of the rollout's Jacobian is one gradient; Gauss
and Newton's method with damping does the rest. Beside it: the same with central differences in
place of gradients, and random search that adapts its step, each with the same number of simulated
steps.
"""
import pathlib
import time

import numpy as np

import abut
import common

STEPS, STARTS, SEED = 200, 8, 7
TARGET, HEADING = np.array([2.0, 0.6]), 1.0  # [m], [rad]
LEVER = 0.15  # [m] a radian of heading counts as so much
BUDGET = 145  # rollouts of each start
ENOUGH = 1e-6  # [m]
GRADIENT = 4.3  # a gradient counts as so many rollouts; measured: 4.1 to 4.3


def along(q):
    """The long side's direction on the floor, and its slope by the quaternion's numbers."""
    w, x, y, z = q[:, 3:].T
    zero = np.zeros_like(w)
    slope = 2 * np.array([[zero, zero, -2 * y, -2 * z], [z, y, x, w]])  # by w, x, y, z
    return np.array([1 - 2 * (y * y + z * z), 2 * (x * y + w * z)]), slope


def residuals(q):
    """How far off rows of positions are (N, 3) [m], and its slopes by positions (N, 3, 7)."""
    at, slope = along(q)
    across = np.array([-np.sin(HEADING), np.cos(HEADING)])
    r = np.column_stack([q[:, :2] - TARGET, LEVER * across @ at])
    slopes = np.zeros((len(q), 3, 7))
    slopes[:, 0, 0] = slopes[:, 1, 1] = 1.0
    slopes[:, 2, 3:] = LEVER * np.einsum("k,kcn->nc", across, slope)
    return r, slopes


class Throw:
    """Many throws at once, and how many rollouts they have cost each."""

    def __init__(self, scene):
        self.scene, self.start, self.cost = scene, scene.start(), 0

    def miss(self, v):
        self.cost += 1
        q = np.broadcast_to(self.start, (len(v), 7))
        return residuals(self.scene.step(q, v, steps=STEPS).q)

    def by_gradients(self, v, slopes):
        """The Jacobian (N, 3, 6) of the residuals: three gradients of every throw, one batch."""
        self.cost += 3 * GRADIENT
        q = np.broadcast_to(self.start, (len(v), 3, 7))
        v = np.broadcast_to(v[:, None], (len(v), 3, 6))
        return self.scene.vjp(q, v, steps=STEPS, q_bar=slopes, wrt=("v",)).v

    def by_differences(self, v, slopes, small=1e-5):
        self.cost += 12
        moves = small * np.concatenate([np.eye(6), -np.eye(6)])
        q = np.broadcast_to(self.start, (len(v), 12, 7))
        end = self.scene.step(q, v[:, None] + moves, steps=STEPS).q
        r = residuals(end.reshape(-1, 7))[0].reshape(len(v), 12, 3)
        return (r[:, :6] - r[:, 6:]).transpose(0, 2, 1) / (2 * small)


def descend(throw, v, jacobian, price):
    """Damped least squares, all throws together, a round at the price of so many rollouts: the
    last ones, and rows of (rollouts, the miss of each)."""
    throw.cost = 0
    r, slopes = throw.miss(v)
    damping = np.full(len(v), 1e-2)
    path = [(throw.cost, np.linalg.norm(r, axis=1))]
    while throw.cost + price <= BUDGET and path[-1][1].max() > ENOUGH:
        J = jacobian(v, slopes)
        H = J.transpose(0, 2, 1) @ J + damping[:, None, None] * np.eye(6)
        step = -np.linalg.solve(H, np.einsum("nrc,nr->nc", J, r)[..., None])[..., 0]
        # A bounce off another corner is another function: steps stay short beside the throw itself.
        step *= np.minimum(1.0, 0.7 / np.linalg.norm(step, axis=1))[:, None]
        r_next, slopes_next = throw.miss(v + step)
        better = np.linalg.norm(r_next, axis=1) < np.linalg.norm(r, axis=1)
        v = np.where(better[:, None], v + step, v)
        r = np.where(better[:, None], r_next, r)
        slopes = np.where(better[:, None, None], slopes_next, slopes)
        damping = np.clip(damping * np.where(better, 0.2, 10.0), 1e-6, 1e2)
        path.append((throw.cost, np.linalg.norm(r, axis=1)))
    return v, path


def search(throw, v, rng):
    """Random search: keep what is better; longer steps after a gain, shorter ones after none."""
    throw.cost = 0
    best = np.linalg.norm(throw.miss(v)[0], axis=1)
    length = np.full(len(v), 0.3)
    path = [(throw.cost, best)]
    while throw.cost < BUDGET:
        trial = v + length[:, None] * rng.normal(size=v.shape)
        miss = np.linalg.norm(throw.miss(trial)[0], axis=1)
        better = miss < best
        v, best = np.where(better[:, None], trial, v), np.where(better, miss, best)
        length = np.clip(length * np.where(better, 1.5, 1.5 ** -0.25), 1e-4, 1.0)
        path.append((throw.cost, best))
    return v, path


def starts(rng):
    """Throws somewhere ahead, hardly spinning."""
    return np.column_stack([rng.normal([1.5, 0.2, 1.0], 0.4, (STARTS, 3)),
                            rng.normal(0, 0.7, (STARTS, 3))])


def oblique(points):
    return points[..., 0] + 0.2 * points[..., 1], points[..., 2] + 0.4 * points[..., 1]


def outline(pose):
    """A line along the edges of the box."""
    corners = np.array([0.12, 0.08, 0.05]) * (2 * np.array([
        [0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0], [0, 0, 0], [0, 0, 1], [1, 0, 1], [1, 0, 0],
        [1, 0, 1], [1, 1, 1], [1, 1, 0], [1, 1, 1], [0, 1, 1], [0, 1, 0], [0, 1, 1],
        [0, 0, 1]]) - 1)
    w, axis = pose[3], pose[4:]
    cross = np.cross(axis, corners)
    return pose[:3] + corners + 2 * (w * cross + np.cross(axis, cross))


def plot(path, scene, first, last, paths):
    pyplot = common.pyplot()
    figure, (left, right) = pyplot.subplots(1, 2, figsize=(9.6, 3.8), dpi=90)
    for (name, rows), colour in zip(paths.items(), ("#30638e", "#edae49", "#d1495b")):
        cost, miss = [row[0] for row in rows], 1e3 * np.array([row[1] for row in rows])
        left.fill_between(cost, miss.min(1), miss.max(1), color=colour, alpha=0.15, linewidth=0)
        left.plot(cost, np.median(miss, 1), color=colour, label=name)
    left.set(xlabel="rollouts (a gradient counts as 4.3)", ylabel="miss [mm]", yscale="log",
             title=f"{STARTS} starts: median, least and most", ylim=(1e-3, 5e3))
    left.legend(frameon=False)
    for v, colour in ((first, "#999999"), (last, "#30638e")):
        q = np.broadcast_to(scene.start(), (len(v), 7))
        made = scene.step(q, v, steps=STEPS, record=2).q_record[0]
        right.plot(*oblique(made[:, :3]), color=colour, linewidth=0.8)
        for pose in made[np.r_[0:100:12, len(made) - 1]]:
            right.plot(*oblique(outline(pose)), color=colour, linewidth=1.2)
    right.plot(*oblique(np.append(TARGET, 0.0)), "x", color="#d1495b", markersize=11,
               markeredgewidth=2.5)
    right.set(title="one throw: first (grey), found", xlabel="x, and y aslant [m]",
              ylabel="z, and y aslant [m]", aspect="equal")
    for axes in (left, right):
        axes.spines[["top", "right"]].set_visible(False)
        axes.grid(alpha=0.3)
    figure.tight_layout()
    figure.savefig(path)


def main():
    context, picture = common.begin()
    scene = abut.Scene(pathlib.Path(__file__).with_name("throw.scene.json"), context)
    throw, rng, begin = Throw(scene), np.random.default_rng(SEED), time.perf_counter()
    v = starts(rng)

    _, slopes = throw.miss(v)
    exact, near = throw.by_gradients(v, slopes), throw.by_differences(v, slopes)
    error = np.abs(exact - near).max((1, 2)) / np.abs(near).max((1, 2))
    print(f"gradients through {STEPS} steps against differences: {error.max():.1e} of the "
          "largest at most")
    assert error.max() < 1e-4

    found, by_gradient = descend(throw, v, throw.by_gradients, 1 + 3 * GRADIENT)
    _, by_difference = descend(throw, v, throw.by_differences, 1 + 12)
    _, at_random = search(throw, v, rng)
    paths = {"gradient": by_gradient, "central differences": by_difference,
             "random search": at_random}
    for name, rows in paths.items():
        miss = 1e3 * rows[-1][1]
        print(f"{name:20} {rows[-1][0]:4.0f} rollouts: {np.median(miss):8.3f} mm off in the median, "
              f"{miss.max():7.2f} at most, {(miss < 5).sum()} of {STARTS} within 5 mm")
    print(f"{time.perf_counter() - begin:.1f} s")
    if picture:
        plot(picture, scene, v, found, paths)
    miss = by_gradient[-1][1]
    assert (miss < 5e-3).sum() >= STARTS - 1, "throws that the gradient brought to the target"
    assert np.median(miss) < 0.1 * np.median(at_random[-1][1]), "the gradient against random search"


if __name__ == "__main__":
    main()
