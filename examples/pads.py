#!/usr/bin/env python3
"""Finds the shape of a gripper's pads so that what they hold touches them widely, by gradients with respect to their shape.

  pads.py [--device NAME] [--plot OUT.png]

A parallel gripper closes two pads on a round bar that lies in it turned by up to 20 degrees to either side. Pads are superquadrics,
ellipsoids at first: they touch the bar in a point each. Their faces stay where they are, and each pad is as large as before, width times
length. What is sought is how long and wide they are and how flat, so that contacts spread as far as they can along the pads,

  S = sum a_i |q_i - m|^2 / sum a_i,   m = sum a_i q_i / sum a_i,

with a the activities of the contacts and q their places in the plane of the pads, in the harmonic mean over all turns of the bar, for which
the turn that spreads least counts most. Pads that are short touch little of the bar, and off pads that are narrow a bar that is turned
runs: in between lies a best shape. Contact points lie on the pads' own mesh, too, and this mesh lies on their field: `follow` lets it
move along in the gradient, and at each step the program puts a box's mesh onto the field.
"""
import time

import numpy as np

import abut
import common
import solids

TURNS = np.radians([-20, -12, -4, 4, 12, 20])  # of the bar
FACE, THICK, SIDE = 0.0115, 0.008, 0.012  # [m] the faces are so far off the middle; half sizes of the pads at first
RADIUS, LONG = 0.012, 0.06  # [m] of the bar, and half its length
SOFT = 4e-4  # [m] the pair's `penetration`
UNION = 1e-4  # [m] of pads, which do not touch each other
FLATTEST, ROUNDEST = 0.2, 1.2  # exponents
CELLS, GRADIENTS = 12, 40  # of a pad's mesh along each side of a box; of the search


def bar(context):
    """A round bar along z, of 49 rings of 36 vertices."""
    angle, z = np.meshgrid(2 * np.pi * np.arange(36) / 36, np.linspace(-LONG, LONG, 49))
    vertices = np.stack([RADIUS * np.cos(angle), RADIUS * np.sin(angle), z], -1).reshape(-1, 3)
    return context.body(vertices, axes=(RADIUS, RADIUS, LONG), exponents=(0.1, 1.0))


def cube(cells):
    """A cube's surface from -1 to 1: vertices (V, 3), and triangles (F, 3) that run counterclockwise seen from outside."""
    x = np.linspace(-1, 1, cells + 1)
    u, v = (c.ravel() for c in np.meshgrid(x, x, indexing="ij"))
    at = np.arange((cells + 1) ** 2).reshape(cells + 1, cells + 1)
    quads = np.stack([at[:-1, :-1], at[1:, :-1], at[1:, 1:], at[:-1, 1:]], -1).reshape(-1, 4)
    points, faces = [], []
    for axis in range(3):
        for sign in (1, -1):
            points.append(np.roll(np.stack([np.full(len(u), float(sign)), u, v], 1), axis, 1))
            faces.append((quads if sign > 0 else quads[:, ::-1]) + (len(points) - 1) * len(u))
    vertices, index = np.unique(np.round(np.concatenate(points), 9), axis=0, return_inverse=True)
    four = index.ravel()[np.concatenate(faces)]
    return vertices, np.concatenate([four[:, [0, 1, 2]], four[:, [0, 2, 3]]])


# The search's numbers: the logarithm of length over width, and two that put the exponents between their bounds.
def to_shape(u):
    """Axes and exponents of both pads."""
    axes = np.array([THICK, SIDE * np.exp(-u[0] / 2), SIDE * np.exp(u[0] / 2)])
    return axes, FLATTEST + (ROUNDEST - FLATTEST) / (1 + np.exp(-u[1:]))


class Pads:
    """Two pads, one at each side. Their contact mesh is a box's, put onto their field; or these vertices are, as `follow` has it."""

    def __init__(self, context, held, u, vertices=None):
        self.context, self.held, self.u = context, held, u
        self.poses = np.concatenate([np.zeros((len(TURNS), 3)), TURNS[:, None] * [1, 0, 0]], 1)
        axes, exponents = to_shape(u)
        middle = np.array([[1.0, 0, 0], [-1.0, 0, 0]]) * (FACE + THICK)
        box, self.faces = cube(CELLS)
        if vertices is None:
            vertices = np.concatenate([box * axes + offset for offset in middle])
        body = context.body(vertices, np.concatenate([self.faces, self.faces + len(box)]), axes=np.tile(axes, (2, 1)),
                            exponents=np.tile(exponents, (2, 1)), position=middle)
        shape = body.shape()
        shape.vertices = body.project(vertices, union=UNION)
        self.body, self.vertices = context.body(shape), shape.vertices
        self.pair = abut.Pair(self.body, held, {"penetration": SOFT, "floor": 1e-3, "edge_edge": False,
                                                "union": UNION})

    def at(self, u, vertices=None):
        return Pads(self.context, self.held, u, vertices)

    def spread(self):
        """S of each turn [m^2], their harmonic mean, and its cotangents."""
        c = abut.contacts(self.pair, None, self.poses, want=("p", "activity"))
        q, all_of = c.p[..., 1:], c.activity.sum(1, keepdims=True)
        share = c.activity / all_of
        away = q - np.einsum("ni,nik->nk", share, q)[:, None]
        square = (away ** 2).sum(-1)
        spread = (share * square).sum(1)
        p_bar = np.zeros_like(c.p)
        p_bar[..., 1:] = 2 * share[..., None] * away
        activity_bar = (square - spread[:, None]) / all_of
        mean = 1 / np.mean(1 / spread)
        by = (mean / spread) ** 2 / len(TURNS)
        return spread, mean, {"p": by[:, None, None] * p_bar, "activity": by[:, None] * activity_bar}

    def slope(self):
        """The mean of S and its gradient by the search's numbers."""
        _, mean, bars = self.spread()
        g = abut.shape_vjp(self.pair, None, self.poses, **bars, follow=True)[0]
        axes, exponents = to_shape(self.u)
        share = (exponents - FLATTEST) / (ROUNDEST - FLATTEST)
        by_axes, by_exponents = g.axes.sum(0), g.exponents.sum(0)
        return mean, np.concatenate([[0.5 * (axes[2] * by_axes[2] - axes[1] * by_axes[1])],
                                              by_exponents * (ROUNDEST - FLATTEST) * share * (1 - share)])


def check_follow(pads):
    """How far the gradient is from differences of pads whose mesh goes along normals alone, as `follow` has it."""
    exact, step = pads.slope()[1], 1e-4
    near = [(pads.at(pads.u + way, pads.vertices).spread()[1] - pads.at(pads.u - way, pads.vertices).spread()[1]) / (2 * step)
            for way in step * np.eye(3)]
    return np.abs(exact - near).max() / np.abs(near).max()


def plot(path, first, last, walked, spreads, scanned):
    plt = common.pyplot()
    figure, axes = plt.subplots(1, 4, figsize=(12.6, 3.5), gridspec_kw={"width_ratios": (1, 1, 1, 1)})
    for column, (pads, title) in enumerate(((first, "ellipsoids"), (last, f"after {len(walked) - 1} steps"))):
        eye = solids.View(40, 20, (0, 0, 0), 0.098, (420, 400))
        rows = np.arange(48 * 36).reshape(48, 36)
        ring = np.stack([rows, np.roll(rows, -1, 1), np.roll(rows, -1, 1) + 36, rows, np.roll(rows, -1, 1) + 36, rows + 36], -1)
        c, s = np.cos(TURNS[-1]), np.sin(TURNS[-1])
        turn = np.array([[1, 0, 0], [0, c, -s], [0, s, c]])
        eye.mesh(pads.held.mesh()[0] @ turn.T, ring.reshape(-1, 3), np.array([0.80, 0.80, 0.80]))
        for vertices in np.split(pads.vertices, 2):
            eye.mesh(vertices, pads.faces, np.array([0.62, 0.74, 0.86]))
        axes[column].imshow(eye.image(), interpolation="antialiased")
        axes[column].set_title(title, fontsize=11)
        axes[column].set_axis_off()
    for pads, colour, size in ((first, "#c1272d", 26), (last, "#0072b2", 16)):
        c = abut.contacts(pads.pair, None, pads.poses[-1:], want=("p", "activity"))
        some = (c.activity[0] > 0.05) & (c.p[0, :, 0] > 0)
        axes[2].scatter(*(1e3 * c.p[0, some, 1:].T), s=size * c.activity[0, some], c=colour, linewidths=0)
        half, (roundness, _) = to_shape(pads.u)
        t = np.linspace(0, 2 * np.pi, 400)
        y, z = (np.sign(x) * np.abs(x) ** roundness for x in (np.cos(t), np.sin(t)))
        axes[2].plot(1e3 * half[1] * y, 1e3 * half[2] * z, color=colour, lw=1)
    axes[2].set(aspect="equal", xlabel="y [mm]", ylabel="z [mm]")
    axes[2].set_title("contacts on a pad, bar at 20°", fontsize=11)
    axes[3].plot(*scanned, color="0.6", lw=1.4, label="flattest pads of any length")
    axes[3].plot(np.exp(walked[:, 0]), 1e3 * np.sqrt(spreads), "o-", ms=3, color="#0072b2", lw=1, label="steps")
    axes[3].plot(1, 1e3 * np.sqrt(spreads[0]), "o", color="#c1272d")
    axes[3].set(xlabel="length / width", ylabel="spread of contacts, √S [mm]", xscale="log")
    axes[3].set_xticks((1, 2, 4, 8), ("1", "2", "4", "8"))
    axes[3].minorticks_off()
    axes[3].legend(fontsize=8, frameon=False, loc="lower right")
    for panel in axes[2:]:
        panel.spines[["top", "right"]].set_visible(False)
    figure.tight_layout(pad=0.6)
    figure.savefig(path, dpi=90)


def main():
    context, picture = common.begin()
    begin = time.perf_counter()
    first = Pads(context, bar(context), np.array([0.0, 1.4, 1.4]))
    error = check_follow(first)
    print(f"gradients against differences: {error:.1e} of the largest entry")

    def look(u):
        S, g = first.at(u).slope()
        return -1e6 * S, -1e6 * g  # [mm^2], downwards

    walked, costs = common.descend(look, first.u, GRADIENTS, 0.6, enough=1e-4)
    spreads = -1e-6 * costs
    last = first.at(walked[-1])
    axes, exponents = to_shape(walked[-1])
    before, after = (1e3 * np.sqrt(p.spread()[0]) for p in (first, last))
    print(f"pads of {2e3 * SIDE:.1f} x {2e3 * SIDE:.1f} mm -> {2e3 * axes[1]:.1f} x {2e3 * axes[2]:.1f} mm, exponents "
          f"{to_shape(first.u)[1][0]:.2f} {to_shape(first.u)[1][1]:.2f} -> {exponents[0]:.2f} {exponents[1]:.2f}")
    print(f"spread of contacts {before.mean():.2f} -> {after.mean():.2f} mm; at 20 degrees {before[-1]:.2f} -> {after[-1]:.2f} mm")
    ratios = np.exp(np.linspace(-0.2, 2.2, 13))
    there = np.array([1e3 * np.sqrt(last.at(np.array([np.log(r), *walked[-1][1:]])).spread()[1]) for r in ratios])
    best = there.argmax()
    print(f"the best of {len(ratios)} lengths tried: {ratios[best]:.2f} of the width, {there[best]:.2f} mm; found {np.exp(walked[-1][0]):.2f}, "
          f"{1e3 * np.sqrt(spreads[-1]):.2f} mm; {len(walked) - 1} steps, {time.perf_counter() - begin:.1f} s")
    if picture:
        plot(picture, first, last, walked, spreads, (ratios, there))
    assert error < 1e-3
    assert (after > 2 * before).all(), "contacts spread, at every turn of the bar"
    assert 1e3 * np.sqrt(spreads[-1]) > 0.98 * there[best], "no length that is tried is better by much"


if __name__ == "__main__":
    main()
