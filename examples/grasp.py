#!/usr/bin/env python3
"""Finds where two fingers hold a scanned body, by the gradient of how far their pushes are from balance.

  grasp.py [--device NAME] [--plot OUT.png]

The body is a lumpy thing of 8 cm as a scanner gives it: noise of 0.2 mm, and a hole where it stood. Two round fingertips touch it, at
places that do not face each other. Both push equally along the normals of their contacts, and what is left over is

  E = |sum over fingers of the mean of (n_i; p_i x n_i / L)|^2,

n_i being what pushes the finger, means by the contacts' activities, torques by a length L. It is 0 where the pushes cancel without
friction: on one line, along the normals at both its ends. E is smooth in the contacts' positions, normals and activities, and so in the
fingers' places. Fingers go down it along the surface, by Levenberg and Marquardt's method, and are kept at touch by the gradient of the
distance. So small a finger feels each triangle of the scan, and would stop at the first that is tilted well: contacts are wide at first,
by the pair's `penetration`, and E follows lumps alone; then they are narrowed in turns.
"""
import time

import numpy as np

import abut
import common

ENOUGH = 2.5e-3  # of E: what is left over is a twentieth of a push
SOFT = 6.4e-3, 3.2e-3, 1.6e-3  # [m] the `penetration` of each turn
SEED, STARTS, STEPS, DEPTH, STEP = 5, 12, 12, 3e-4, 8e-3  # STEPS a turn; DEPTH, STEP [m]
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
    """The body: bumps, noise, and a hole at its foot."""
    axes = random.normal(size=(6, 3))
    axes /= np.linalg.norm(axes, axis=1, keepdims=True)

    def radius(way):
        return 0.036 + 0.006 * np.tanh(2.5 * np.sin(2.2 * way @ axes.T)).sum(1) / 3 + 2e-4 * random.normal(size=len(way))

    vertices, faces = ball(40, 60, radius)
    middle = np.array([vertices[f].mean(0) for f in faces])
    hole = (middle[:, 2] < -0.03) & (np.hypot(middle[:, 0], middle[:, 1]) < 0.008)
    return vertices, [f for f, gone in zip(faces, hole) if not gone]


def pushes(near, layout):
    """Both fingers' pushes (2, 6), and for each of their sum's numbers the gradients by the contacts' p, n and activity."""
    # Normals point out of the opposing body: out of the scan only where the finger, body 2, owns the point.
    vertex, edge = layout.vertex_offset[1], layout.edge_offset
    body1 = (near.slot < vertex) | (near.slot >= edge[0]) & (near.slot < edge[1])
    sign = np.where(body1, -1.0, 1.0)[:, None]
    w, p, n = near.activity, near.p, sign * near.n
    all_of = np.array([w[near.pose == i].sum() for i in range(2)])
    share = (w / all_of[near.pose])[:, None]
    b = np.concatenate([n, np.cross(p, n) / LENGTH], 1)
    mean = np.array([(share * b)[near.pose == i].sum(0) for i in range(2)])
    by = []
    for e in np.eye(6):
        by.append({"p": share * np.cross(n, e[3:]) / LENGTH, "n": sign * share * (e[:3] + np.cross(e[3:], p) / LENGTH),
                   "activity": ((b - mean[near.pose]) @ e) / all_of[near.pose]})
    return mean, by


class Grip:
    """Two fingers at places (2, 3) [m], in one list of contacts."""

    def __init__(self, body, finger, soft):
        # The vertices of both lie close, and touch wherever edges would.
        self.pair = abut.Pair(body, finger, {"penetration": soft, "edge_edge": False})

    def poses(self, x):
        return np.concatenate([x, np.zeros((2, 3))], 1)

    def pushes(self, x):
        near = abut.active(self.pair, None, self.poses(x), threshold=1e-6)
        return near, *pushes(near, self.pair.layout)

    def unbalance(self, x):
        """What is left over of both pushes, r (6), and its derivative by both places (6, 6)."""
        near, push, by = self.pushes(x)
        return push.sum(0), np.array([near.vjp(**each)[1][:, :3].ravel() for each in by])

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
        x = self.touch(x)
        damping, (r, J) = 1.0, self.unbalance(x)
        kept = [r @ r]
        for _ in range(STEPS):
            along = np.eye(6)
            for i, n in enumerate(self.distance(x)[1]):
                along[3 * i:3 * i + 3, 3 * i:3 * i + 3] -= np.outer(n, n) / (n @ n)
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


def normals(vertices, x):
    """The scan's normals below fingers, of planes through its points nearby: nothing of the contacts is in them."""
    found = []
    for place in x:
        some = vertices[np.linalg.norm(vertices - place, axis=1) < 0.011]
        n = np.linalg.svd(some - some.mean(0))[2][-1]
        found.append(n * np.sign(n @ (place - some.mean(0))))
    return np.array(found)


def tilt(vertices, x):
    """The largest angle [degrees] between the line of both fingers and the scan's normals below them."""
    line = (x[0] - x[1]) / np.linalg.norm(x[0] - x[1])
    return np.degrees(np.arccos(np.clip(normals(vertices, x) @ line * [1, -1], -1, 1)).max())


def plot(path, vertices, before, after, scores):
    plt = common.pyplot()
    figure = plt.figure(figsize=(9, 3.6))
    view = np.cross(*before)                        # across both fingers
    view /= np.linalg.norm(view)
    for i, (name, places) in enumerate((("before", before), ("after", after))):
        axes = figure.add_subplot(1, 3, i + 1, projection="3d")
        axes.view_init(np.degrees(np.arcsin(view[2])), np.degrees(np.arctan2(view[1], view[0])))
        axes.scatter(*vertices.T, s=1, c="0.6")
        axes.scatter(*places.T, s=120, c="tab:red", depthshade=False)
        axes.quiver(*places.T, *(-0.03 * normals(vertices, places)).T, color="tab:red")
        axes.set_title(f"fingers and pushes {name}")
        for set_limits in (axes.set_xlim, axes.set_ylim, axes.set_zlim):
            set_limits(-0.045, 0.045)
        axes.set_box_aspect((1, 1, 1), zoom=1.5)
        axes.set_axis_off()
    axes = figure.add_subplot(1, 3, 3)
    for kept in scores:
        axes.plot(kept, lw=1)
    for turn in range(1, len(SOFT)):
        axes.axvline(turn * (STEPS + 1) - 0.5, c="k", ls=":", lw=1)
    axes.set_xlabel("steps; narrower at dots")
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
    body, finger = context.body(vertices, faces), context.body(*ball(14, 24, lambda way: np.full(len(way), 0.008)))
    grips = [Grip(body, finger, soft) for soft in SOFT]
    sharp = grips[-1]

    starts, ends, kept = [], [], []
    for _ in range(STARTS):
        way = random.normal(size=3)
        way /= np.linalg.norm(way)
        other = -way + 0.6 * random.normal(size=3)      # roughly from the other side
        starts.append(sharp.touch(0.05 * np.array([way, other / np.linalg.norm(other)]), 12))
        x, scores = starts[-1], []
        for grip in grips:
            x, values = grip.descend(x)
            scores += values
        ends.append(x)
        kept.append(scores)
    error = max(check_slope(grip, x, random) for x in starts for grip in grips)
    print(f"gradients against differences: {error:.1e} of the largest entry at most")
    left = [[np.sum(sharp.unbalance(x)[0] ** 2) for x in places] for places in (starts, ends)]
    tilts = [[tilt(vertices, x) for x in places] for places in (starts, ends)]
    for i in np.argsort(left[1]):
        print(f"unbalance {left[0][i]:.4f} -> {left[1][i]:.2e}; normals off the fingers' line by {tilts[0][i]:.0f} -> "
              f"{tilts[1][i]:.1f} degrees; fingers {1e3 * np.linalg.norm(ends[i][0] - ends[i][1]):.1f} mm apart")
    balanced = np.array(left[1]) < ENOUGH
    along = np.min([np.sum(sharp.pushes(x)[1][:, :3] * normals(vertices, x), 1) for x in ends])
    print(f"{np.count_nonzero(balanced)} of {STARTS} pushes balance; {along:.2f} of a push is along the scan's normal at least; "
          f"{time.perf_counter() - begin:.1f} s")
    if picture:
        i = int(np.argmax(left[0] * balanced))
        plot(picture, vertices, starts[i], ends[i], kept)
    assert error < 1e-4
    assert balanced.all(), "all grasps come to balance"
    assert along > 0.9, "fingers are pushed out of the scan"
    assert max(tilts[1]) < 5, "fingers face each other, along the scan's normals"
    assert np.abs([sharp.distance(x)[0] + DEPTH for x in ends]).max() < 1e-4, "fingers stay at touch"


if __name__ == "__main__":
    main()
