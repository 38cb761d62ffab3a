#!/usr/bin/env python3
"""Lays an astronaut on a lifebuoy by Gauss-Newton steps, whose line search begins with what collision in time allows.

  lay.py [--device NAME] [--plot OUT.png]

Springs pull the astronaut's middle to a point below the buoy, and springs of abut's contacts hold it up: what is minimised is half the
sum of the squares of the pull and, of each vertex that is nearer than GAP to the other body, of what it is too near; and of edges that
are in the other body. Far away nothing pushes, so that a Gauss-Newton step goes straight to the pull's end. The energy is lower there,
and a line search on energies alone takes it, whatever is in the way. `abut.ccd` between the pose and that after the whole step says how
far the astronaut may go and keep a tenth of each distance; a line search that begins there comes to rest on the buoy.

Starts are one batch. What is asserted is measured along every step without abut: distances of the meshes' triangles, and how deep
vertices lie in the other mesh.
"""
import os
import pathlib

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # for matrices this small threads of NumPy's only wait for each other

import numpy as np

import abut
import common
import solids

ROOT = pathlib.Path(__file__).parents[1]
SEED, STARTS, STEPS, HALVINGS = 3, 6, 60, 14
MIDDLE = np.array([0.05, 0.03, 0.55])  # of the astronaut, in its own frame [m]
TARGET, PULL = np.array([0, 0, -0.5]), np.array([20.0, 20.0, 2.0])  # where it is pulled to [m], how much by along each axis [N/m]
GAP, PUSH, EDGES = 0.006, 1000.0, 10.0  # [m] [N/m], and edges as much more, because they share their contacts
DAMPING, LEVER, TURN = 0.01, 0.3, 0.5  # as a share of the pull; a turn of 1 is as a way of so much [m]; the most of a step [rad]
KEEP, STILL, SAMPLES = 0.1, 1e-6, 8  # STILL: steps of the last round are shorter


# ---- poses ----


def rotations(pose):
    """(N, 7) -> (N, 3, 3)"""
    return abut.pose.to_matrix(pose)[:, :3, :3]


def middles(pose):
    """Where the astronaut's middle is, (N, 3)."""
    return np.einsum("nij,j->ni", rotations(pose), MIDDLE) + pose[:, :3]


def moved(pose, twist):
    """Poses after world twists (N, 6) about the middle, m + tau and exp(hat phi) R: a share of the twist is that share of an arc."""
    turn = abut.pose.exp(np.concatenate([np.zeros_like(twist[:, :3]), twist[:, 3:]], 1))
    there = abut.pose.compose(turn, np.concatenate([np.zeros_like(pose[:, :3]), pose[:, 3:]], 1))
    there[:, :3] = middles(pose) + twist[:, :3] - np.einsum("nij,j->ni", rotations(there), MIDDLE)
    return there


# ---- what is measured, without abut's help ----


def dot(a, b):
    return np.einsum("...i,...i->...", a, b)


def length(a):
    return np.sqrt(dot(a, a))


def point_triangle(p, a, b, c):
    """Distances of points and triangles, row by row: of the plane where the point is above the triangle, else of its edges."""
    n = np.cross(b - a, c - a)
    inside = np.ones(len(p), bool)
    edges = np.full(len(p), np.inf)
    for u, v in ((a, b), (b, c), (c, a)):
        along = v - u
        inside &= dot(np.cross(along, p - u), n) >= 0
        t = np.clip(dot(p - u, along) / dot(along, along), 0, 1)
        edges = np.minimum(edges, length(p - u - t[:, None] * along))
    return np.where(inside, np.abs(dot(p - a, n)) / length(n), edges)


def edge_edge(a, b, c, d):
    """Distances of lines where their nearest points are within both edges, else infinite: ends are vertices' matter."""
    u, v, w = b - a, d - c, a - c
    uu, uv, vv, uw, vw = (dot(x, y) for x, y in ((u, u), (u, v), (v, v), (u, w), (v, w)))
    det = uu * vv - uv * uv
    with np.errstate(divide="ignore", invalid="ignore"):
        s, t = (uv * vw - vv * uw) / det, (uu * vw - uv * uw) / det
        d = length(w + s[:, None] * u - t[:, None] * v)
    return np.where((det > 1e-12 * uu * vv) & (s >= 0) & (s <= 1) & (t >= 0) & (t <= 1), d, np.inf)


def pierces(a, b, t):
    """Whether edges go through triangles (N, 3, 3), by the signs of tetrahedra."""
    def volume(p, q, r, s):
        return dot(np.cross(q - p, r - p), s - p)
    around = [volume(a, b, t[:, k], t[:, (k + 1) % 3]) > 0 for k in range(3)]
    sides = volume(t[:, 0], t[:, 1], t[:, 2], a) > 0, volume(t[:, 0], t[:, 1], t[:, 2], b) > 0
    return (sides[0] != sides[1]) & (around[0] == around[1]) & (around[1] == around[2])


class Solid:
    """A closed mesh: vertices (V, 3) and triangles (F, 3)."""

    def __init__(self, vertices, triangles):
        self.vertices, self.triangles = vertices, triangles
        self.corners = vertices[triangles]
        self.middle = self.corners.mean(1)
        self.radius = length(self.corners - self.middle[:, None]).max(1)

    def at(self, pose):
        return Solid(self.vertices @ rotations(pose[None])[0].T + pose[:3], self.triangles)

    def beside(self, other, most):
        """Triangles that may be within `most` of the other's box."""
        lower, upper = other.vertices.min(0), other.vertices.max(0)
        away = length(self.middle - np.clip(self.middle, lower, upper))
        return np.flatnonzero(away - self.radius <= most)

    def swallows(self, points):
        """Which points lie inside, by the angle that the mesh is seen at."""
        r = self.corners[None] - points[:, None, None]
        l = length(r)
        a, b, c = r[:, :, 0], r[:, :, 1], r[:, :, 2]
        up = dot(a, np.cross(b, c))
        down = (l[:, :, 0] * l[:, :, 1] * l[:, :, 2] + dot(a, b) * l[:, :, 2] + dot(b, c) * l[:, :, 0] + dot(c, a) * l[:, :, 1])
        return np.abs(np.arctan2(up, down).sum(1)) > np.pi  # of 2 pi

    def depth(self, points):
        """How deep the deepest of points lies inside."""
        some = points[self.swallows(points)]
        return max((point_triangle(np.broadcast_to(p, self.middle.shape), *self.corners.swapaxes(0, 1)).min() for p in some), default=0.0)


def between(a, b):
    """Distances of all points of two sets."""
    return np.sqrt(np.maximum(dot(a, a)[:, None] + dot(b, b) - 2 * a @ b.T, 0))


def apart(s, t):
    """The least distance of pairs of triangles (N, 3, 3) that do not cross."""
    found = [point_triangle(x[:, k], *y.swapaxes(0, 1)).min() for x, y in ((s, t), (t, s)) for k in range(3)]
    found += [edge_edge(s[:, k], s[:, (k + 1) % 3], t[:, m], t[:, (m + 1) % 3]).min() for k in range(3) for m in range(3)]
    return min(found)


def distance(one, two):
    """Of two meshes: how far apart, or 0 or less where they cross, by the depth of the deepest vertex."""
    slack = 1e-6  # for what `between` loses [m]
    most = between(one.vertices, two.vertices).min() + slack
    rows, columns = one.beside(two, most), two.beside(one, most)
    least = between(one.middle[rows], two.middle[columns]) - one.radius[rows, None] - two.radius[columns] - slack
    i, j = np.nonzero(least <= most)
    least, i, j = least[i, j], rows[i], columns[j]
    first = np.argsort(least)[:50]  # the distance of a few pairs leaves out most of the others
    near = least <= apart(one.corners[i[first]], two.corners[j[first]])
    s, t = one.corners[i[near]], two.corners[j[near]]
    if any(pierces(x[:, k], x[:, (k + 1) % 3], y).any() for x, y in ((s, t), (t, s)) for k in range(3)):
        return -max(one.depth(two.vertices), two.depth(one.vertices))
    return apart(s, t)


# ---- the descent ----


class Laying:
    """Half of a sum of squares at a batch of poses of the ring."""

    def __init__(self, context):
        self.bodies = [context.load(ROOT / f"assets/{name}.body.json") for name in ("ring", "figure")]
        self.pair = abut.Pair(*self.bodies)
        self.edges = self.pair.layout.edge_offset[0]

    def contacts(self, near):
        """Residuals, which contacts have any, and their derivatives by d and by activity."""
        edge = near.slot >= self.edges
        a = np.where(edge, near.activity, 1.0)
        short = np.maximum(np.where(edge, 0.0, GAP) - near.d, 0)
        root = np.sqrt(PUSH * np.where(edge, EDGES, 1.0) * a)
        some = (short > 0) & (a > 0)
        return root * short, some, -root, np.where(edge, root * short / 2 / np.maximum(a, 1e-30), 0)

    def energy(self, pose):
        near = abut.active(self.pair, None, pose, threshold=1e-9)
        r = self.contacts(near)[0]
        return np.sum(PULL * (middles(pose) - TARGET) ** 2, 1) / 2 + np.bincount(near.pose, r * r / 2, len(pose))

    def step(self, pose):
        """-> Gauss-Newton steps (N, 6), damped a little, and slopes (N, 6), as world twists."""
        near = abut.jacobian(self.pair, None, pose, threshold=1e-9)
        r, some, by_d, by_a = self.contacts(near)
        rows = by_d[:, None] * near.jacobian[:, 3, -7:] + by_a[:, None] * near.jacobian[:, 7, -7:]
        rows = abut.pose.gradient_to_frame(pose[near.pose], rows, "aligned") * some[:, None]
        rows[:, 3:] += np.cross((pose[:, :3] - middles(pose))[near.pose], rows[:, :3])  # turns are about the middle
        g, H = np.zeros((len(pose), 6)), np.zeros((len(pose), 6, 6))
        g[:, :3], H[:, np.arange(3), np.arange(3)] = PULL * (middles(pose) - TARGET), PULL
        np.add.at(g, near.pose, rows * r[:, None])
        np.add.at(H, near.pose, rows[:, :, None] * rows[:, None, :])
        H += DAMPING * PULL[2] * np.diag([1, 1, 1, LEVER ** 2, LEVER ** 2, LEVER ** 2])
        step = -np.linalg.solve(H, g[:, :, None])[:, :, 0]
        return step / np.maximum(np.linalg.norm(step[:, 3:], axis=1, keepdims=True) / TURN, 1), g


def descend(laying, pose, filtered):
    """-> poses (K + 1, N, 7), the K steps (K, N, 6) that were taken, and which shares of them (K, N) were allowed."""
    ways, steps, shares = [pose], [], []
    energy = laying.energy(pose)
    for _ in range(STEPS):
        step, g = laying.step(pose)
        share = np.ones(len(pose))
        if filtered:
            share = abut.ccd(laying.pair, None, None, pose, moved(pose, step), motion="arc", center2=MIDDLE, keep=KEEP).toi
        shares.append(share)
        down, taken, fell = np.sum(g * step, 1), np.zeros_like(step), np.zeros(len(pose), bool)
        pose, energy = pose.copy(), energy.copy()
        for k in range(HALVINGS):
            some = np.flatnonzero(~fell)
            if not len(some):
                break
            part = share[some] / 2 ** k
            there = moved(pose[some], part[:, None] * step[some])
            found = laying.energy(there)
            better = found <= energy[some] + 1e-4 * part * down[some]
            at = some[better]
            taken[at] = part[better, None] * step[at]
            pose[at], energy[at], fell[at] = there[better], found[better], True
        ways.append(pose)
        steps.append(taken)
        if np.abs(taken).max() < STILL:
            break
    return np.array(ways), np.array(steps), np.array(shares)


def measure(laying, ways, steps):
    """Distances (N lists of (time, distance)) along all steps, and the least share of a distance that a step keeps."""
    ring, figure = (Solid(m.vertices, m.triangles.astype(int)) for m in laying.pair.ccd_meshes())
    reach = np.linalg.norm(figure.vertices - MIDDLE, axis=1).max()
    lines, least = [], np.inf
    for i in range(ways.shape[1]):
        line = [(0, distance(ring, figure.at(ways[0, i])))]
        for k, step in enumerate(steps[:, i]):
            d0 = line[-1][1]
            far = np.linalg.norm(step[:3]) + reach * np.linalg.norm(step[3:])
            if far == 0:
                continue
            # No vertex goes farther than `far`: where that is well below the distance only the end is looked at.
            for t in [1.0] if far < 0.8 * d0 else np.arange(1, SAMPLES + 1) / SAMPLES:
                there = moved(ways[k, i][None], t * step[None])[0]
                line.append((k + t, distance(ring, figure.at(there))))
                least = min(least, line[-1][1] / d0) if d0 > 0 else least
        lines.append(np.array(line))
    return lines, least


def starts():
    """Above the box, lying, turned about the vertical and tilted by chance."""
    random = np.random.default_rng(SEED)
    pose = np.zeros((STARTS, 7))
    lying = abut.pose.exp(np.tile([0, 0, 0, -np.pi / 2, 0, 0], (STARTS, 1)))
    turn = abut.pose.exp(random.normal(size=(STARTS, 6)) * [0, 0, 0, .2, .2, .0])
    about = abut.pose.exp(random.uniform(-np.pi, np.pi, (STARTS, 1)) * [0, 0, 0, 0, 0, 1])
    pose[:, 3:] = abut.pose.compose(turn, abut.pose.compose(about, lying))[:, 3:]
    pose[:, :3] = random.normal(size=(STARTS, 3)) * [.03, .03, .03] + [0, 0, 0.6] - np.einsum("nij,j->ni", rotations(pose), MIDDLE)
    return pose


def draw(axes, laying, pose, title):
    eye = solids.View(-52, 22, (0, 0, 0.08), 1.42, (540, 690))
    for mesh, at, colour in zip(laying.pair.ccd_meshes(), (None, pose), ([0.93, 0.45, 0.25], [0.62, 0.74, 0.86])):
        vertices = mesh.vertices if at is None else mesh.vertices @ rotations(at[None])[0].T + at[:3]
        eye.mesh(vertices, mesh.triangles.astype(int), np.array(colour))
    axes.imshow(eye.image(), interpolation="antialiased")
    axes.set_title(title, fontsize=12)
    axes.set_axis_off()


def plot(path, laying, found):
    plt = common.pyplot()
    figure, axes = plt.subplots(1, 4, figsize=(11.4, 3.8), gridspec_kw={"width_ratios": (1, 1, 1, 1.1)})
    (bare, crossed), (safe, lines) = found["line search alone"], found["with abut.ccd"]
    draw(axes[0], laying, safe[0, 0], "start")
    draw(axes[1], laying, bare[-1, 0], "line search alone, at the end")
    draw(axes[2], laying, safe[-1, 0], "with abut.ccd, at the end")
    for some, colour, name in ((crossed, "#c1272d", "line search alone"), (lines, "#0072b2", "with abut.ccd")):
        for k, line in enumerate(some):
            axes[3].plot(*line.T * [[1], [1e3]], color=colour, lw=1.3, label=name if k == 0 else None)
    axes[3].axhline(0, color="0.3", lw=.8)
    axes[3].set(xlim=(0, 8), ylim=(-140, 340))
    axes[3].set_title("distance, depth below 0 [mm]", fontsize=12)
    axes[3].set_xlabel("steps", fontsize=11)
    axes[3].legend(fontsize=11, frameon=False, loc=(.2, .5))
    axes[3].grid(alpha=.3)
    axes[3].spines[["top", "right"]].set_visible(False)
    figure.tight_layout(pad=.5)
    figure.savefig(path, dpi=90)


def main():
    context, picture = common.begin()
    laying, found = Laying(context), {}
    for name, filtered in (("line search alone", False), ("with abut.ccd", True)):
        ways, steps, shares = descend(laying, starts(), filtered)
        lines, kept = measure(laying, ways, steps)
        found[name] = ways, lines
        least, last = (np.array([f(line[:, 1]) for line in lines]) for f in (np.min, lambda d: d[-1]))
        height = middles(ways[-1])[:, 2]
        way = (f"{1e3 * least.min():.2f} mm apart at least, with {kept:.7f} of a distance kept" if filtered else
               f"{1e3 * -least.min():.0f} mm deep on the way")
        print(f"{name}: {np.count_nonzero(shares < 1)} of {shares.size} steps cut, {np.count_nonzero(least <= 0)} of {STARTS} starts pass "
              f"through\n  {way}; at the end {1e3 * last.min():.1f} to {1e3 * last.max():.1f} mm apart, the middle {height.min():.3f} to "
              f"{height.max():.3f} m high")
        if not filtered:
            assert (least < -0.05).all() and (height < -0.3).all(), "the line search alone takes every start through the buoy"
        else:
            assert (least > 0).all() and kept >= KEEP, "with the filter none goes through, and a tenth is kept"
            assert (height > 0).all() and (last < 2 * GAP).all(), "and all lie on the buoy"
            assert np.abs(steps[-1]).max() < 1e-4, "at rest"
    if picture:
        plot(picture, laying, found)


if __name__ == "__main__":
    main()
