#!/usr/bin/env python3
"""Finds where two fingers hold a scanned body, by the gradient of how far their pushes are from balance.

  grasp.py [--device NAME] [--plot OUT.png]

The body is a lumpy thing of 8 cm as a scanner gives it: noise of 0.2 mm, and a hole where it stood. Two round fingertips touch it, at
places that do not face each other. Both push equally along the normals of their contacts, and what is left over is

  E = |sum over fingers of the mean of (n_i; p_i x n_i / L)|^2,

means by the contacts' activities, torques by a length L: 0 where the pushes balance without friction, which is where fingers hold a
body best. E is smooth in the contacts' positions, normals and activities, and so in the fingers' places. Fingers go down it along the
surface, by Levenberg and Marquardt's method, and are kept at touch by the gradient of the distance.
"""
import time

import numpy as np

import abut
import common

ENOUGH = 2.5e-3  # of E: what is left over is a twentieth of a push
SEED, STARTS, STEPS, DEPTH, STEP, SOFT = 5, 6, 25, 3e-4, 8e-3, 8e-4
LENGTH, SCALE = 0.04, 100.0  # [m] a torque counts as so much; [1/m^2] of the damping


def ball(rows, columns, radius):
    """A ball whose radius [m] is a function of its points' directions: vertices (N, 3) and faces of four and three."""
    t, p = np.meshgrid(np.linspace(0, np.pi, rows + 2)[1:-1], np.linspace(0, 2 * np.pi, columns, endpoint=False), indexing="ij")
    way = np.stack([np.sin(t) * np.cos(p), np.sin(t) * np.sin(p), np.cos(t)], -1).reshape(-1, 3)
    way = np.vstack([way, [[0, 0, 1], [0, 0, -1]]])
    faces, ring = [], np.arange(columns)
    for i in range(rows - 1):
        a = i * columns
        faces += [[a + k, a + columns + k, a + columns + (k + 1) % columns, a + (k + 1) % columns] for k in ring]
    top, last = rows * columns, (rows - 1) * columns
    faces += [[top, k, (k + 1) % columns] for k in ring] + [[top + 1, last + (k + 1) % columns, last + k] for k in ring]
    return way * radius(way)[:, None], faces


def scan(random):
    """The body: bumps, noise, and a hole at its foot and one at its side."""
    axes = random.normal(size=(6, 3))
    axes /= np.linalg.norm(axes, axis=1, keepdims=True)

    def radius(way):
        return 0.036 + 0.006 * np.tanh(2.5 * np.sin(2.2 * way @ axes.T)).sum(1) / 3 + 2e-4 * random.normal(size=len(way))

    vertices, faces = ball(40, 60, radius)
    middle = np.array([vertices[f].mean(0) for f in faces])
    hole = (middle[:, 2] < -0.03) & (np.hypot(middle[:, 0], middle[:, 1]) < 0.008)
    return vertices, [f for f, gone in zip(faces, hole) if not gone]


def unbalance(near):
    """What is left over of both pushes, r (6), and for each of its numbers the gradients by the contacts' p, n and activity."""
    w, p, n = near.activity, near.p, near.n
    all_of = np.array([w[near.pose == i].sum() for i in range(2)])
    share = (w / all_of[near.pose])[:, None]
    b = np.concatenate([n, np.cross(p, n) / LENGTH], 1)
    mean = np.array([(share * b)[near.pose == i].sum(0) for i in range(2)])
    by = []
    for e in np.eye(6):
        by.append({"p": share * np.cross(n, e[3:]) / LENGTH, "n": share * (e[:3] + np.cross(e[3:], p) / LENGTH),
                   "activity": ((b - mean[near.pose]) @ e) / all_of[near.pose]})
    return mean.sum(0), by


class Grip:
    """Two fingers at places (2, 3) [m], in one list of contacts."""

    def __init__(self, body, finger):
        # Wider than fitted to so small a finger: the score then follows lumps, and not the scan's triangles.
        self.pair = abut.Pair(body, finger, {"penetration": SOFT})

    def poses(self, x):
        return np.concatenate([x, np.zeros((2, 3))], 1)

    def unbalance(self, x):
        """r (6), and its derivative by both places (6, 6)."""
        near = abut.active(self.pair, None, self.poses(x), threshold=1e-6)
        r, by = unbalance(near)
        return r, np.array([near.vjp(**each)[1][:, :3].ravel() for each in by])

    def distance(self, x):
        r = abut.reduce(self.pair, None, self.poses(x), "soft_distance", grad=True)
        return r.value, r.grad2[:, :3]

    def touch(self, x, rounds=4):
        """Moves fingers to DEPTH below touch, the shortest way."""
        for _ in range(rounds):
            d, g = self.distance(x)
            x = x - np.clip(d + DEPTH, -5e-3, 5e-3)[:, None] * g / np.sum(g * g, 1, keepdims=True)
        return x

    def descend(self, x):
        """-> places, E after each step, by Levenberg and Marquardt along the surface."""
        damping, (r, J) = 1.0, self.unbalance(x)
        kept = [r @ r]
        for _ in range(STEPS):
            out = self.distance(x)[1]
            out = out / np.linalg.norm(out, axis=1, keepdims=True)
            along = np.eye(6)
            for i in range(2):
                along[3 * i:3 * i + 3, 3 * i:3 * i + 3] -= np.outer(out[i], out[i])
            J = J @ along
            step = -np.linalg.solve(J.T @ J + damping * SCALE * np.eye(6), J.T @ r).reshape(2, 3)
            step *= min(1.0, STEP / np.linalg.norm(step, axis=1).max())
            there = self.touch(x + step)
            found, ahead = self.unbalance(there)
            damping *= 0.3 if found @ found < r @ r else 4.0
            if found @ found < r @ r:
                x, r, J = there, found, ahead
            kept.append(r @ r)
        return x, kept


def check_slope(grip, x, random):
    """How far the derivative along a way is from central differences, as a share of the largest entry."""
    J = grip.unbalance(x)[1]
    way = random.normal(size=(2, 3))
    h = 1e-9  # [m]
    ahead, back = grip.unbalance(x + h * way)[0], grip.unbalance(x - h * way)[0]
    return np.abs((ahead - back) / (2 * h) - J @ way.ravel()).max() / np.abs(J).max()


def plot(path, vertices, before, after, scores):
    plt = common.pyplot()
    figure = plt.figure(figsize=(9, 3.6))
    for i, (name, places) in enumerate((("before", before), ("after", after))):
        axes = figure.add_subplot(1, 3, i + 1, projection="3d")
        axes.scatter(*vertices.T, s=1, c="0.6")
        axes.scatter(*places.T, s=120, c="tab:red", depthshade=False)
        axes.plot(*places.T, c="tab:red")
        axes.set_title(f"fingers {name}")
        for set_limits in (axes.set_xlim, axes.set_ylim, axes.set_zlim):
            set_limits(-0.045, 0.045)
        axes.set_box_aspect((1, 1, 1), zoom=1.5)
        axes.set_axis_off()
    axes = figure.add_subplot(1, 3, 3)
    for kept in scores:
        axes.plot(kept)
    axes.set_xlabel("steps")
    axes.set_yscale("log")
    axes.set_ylabel("unbalance")
    axes.grid(alpha=0.3)
    figure.tight_layout()
    figure.savefig(path, dpi=100)


def main():
    context, picture = common.begin()
    random = np.random.default_rng(SEED)
    begin = time.perf_counter()
    vertices, faces = scan(random)
    body = context.body(vertices, faces)
    grip = Grip(body, context.body(*ball(14, 24, lambda way: np.full(len(way), 0.008))))

    starts, ends, kept = [], [], []
    for _ in range(STARTS):
        way = random.normal(size=3)
        way /= np.linalg.norm(way)
        other = -way + 0.6 * random.normal(size=3)      # roughly from the other side
        starts.append(grip.touch(0.05 * np.array([way, other / np.linalg.norm(other)]), 12))
        end, values = grip.descend(starts[-1])
        ends.append(end)
        kept.append(values)
    error = max(check_slope(grip, x, random) for x in starts)
    print(f"gradients against differences: {error:.1e} of the largest entry at most")
    first, last = np.array([k[0] for k in kept]), np.array([k[-1] for k in kept])
    for i in np.argsort(last):
        print(f"unbalance {first[i]:.4f} -> {last[i]:.2e}; fingers {1e3 * np.linalg.norm(ends[i][0] - ends[i][1]):.1f} mm apart")
    print(f"{np.count_nonzero(last < ENOUGH)} of {STARTS} pushes balance; {time.perf_counter() - begin:.1f} s")
    if picture:
        i = int(np.argmax(first * (last < ENOUGH)))
        plot(picture, vertices, starts[i], ends[i], kept)
    assert error < 1e-4
    assert (last < ENOUGH).sum() >= STARTS - 1, "nearly all grasps come to balance"
    assert np.abs([grip.distance(x)[0] + DEPTH for x in ends]).max() < 1e-4, "fingers stay at touch"


if __name__ == "__main__":
    main()
