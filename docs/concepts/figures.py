#!/usr/bin/env python3
"""Draws the plots of the concept pages from abut's own numbers; needs numpy and matplotlib, and the build does not run it.

  PYTHONPATH=build/python python3 docs/concepts/figures.py [NAME ...]

NAMEs are those of FIGURES at the end of this file, without .png; all of them if none is given. Each takes some seconds.
"""
import json
import pathlib
import sys
import tempfile

import abut
import matplotlib
import numpy as np

matplotlib.use("Agg")
from matplotlib import pyplot  # noqa: E402  (the backend has to be chosen first)

HERE = pathlib.Path(__file__).parent
ASSETS = HERE.parents[1] / "assets"
BLUE, RED, YELLOW, GREY = "#30638e", "#d1495b", "#edae49", "#888888"
MM = 1e3  # of a metre
FACES = [[0, 1, 3, 2], [4, 6, 7, 5], [0, 4, 5, 1], [2, 3, 7, 6], [0, 2, 6, 4], [1, 5, 7, 3]]


def cube(half):
    """A closed mesh of a cube about the origin."""
    return abut.body(half * np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)]), FACES)


def panels(count, size, shared_x=False):
    figure, axes = pyplot.subplots(1, count, figsize=size, dpi=90, sharex=shared_x)
    for one in np.atleast_1d(axes):
        for side in ("top", "right"):
            one.spines[side].set_visible(False)
        one.grid(alpha=0.3)
    return figure, axes


def save(figure, name):
    figure.tight_layout()
    figure.savefig(HERE / f"{name}.png")
    pyplot.close(figure)


def above(heights):
    """Twists of a body at some heights over the origin."""
    return np.array([[0.0, 0.0, height, 0.0, 0.0, 0.0] for height in heights])


def rocked(angles):
    """Poses of a cube of 60 mm over one of 100 mm, 2 mm apart where it is level, turned about y; and their derivatives."""
    poses, rates = np.zeros((2, len(angles), 7))
    poses[:, 2], poses[:, 3], poses[:, 5] = 0.082, np.cos(angles / 2), np.sin(angles / 2)
    rates[:, 3], rates[:, 5] = -np.sin(angles / 2) / 2, np.cos(angles / 2) / 2
    return poses, rates


def rock(kind, **options):
    """Angles [degrees], a reduction there [mm], and its derivative by the angle [mm / rad]."""
    angles = np.radians(np.linspace(-2, 2, 321))
    poses, rates = rocked(angles)
    r = abut.reduce(abut.Pair(cube(0.05), cube(0.03)), None, poses, kind, grad=True, **options)
    return np.degrees(angles), MM * r.value, MM * (r.grad2 * rates).sum(-1)


# ---- fields ------------------------------------------------------------------------------------
def draw_field():
    """The field of a flange's mesh, on a plane and along a line."""
    body, count, reach = abut.load(ASSETS / "part.obj"), 161, 0.4
    line = np.linspace(-reach, reach, count)
    points = np.zeros((count, count, 3))
    points[..., 0], points[..., 1] = np.meshgrid(line, line)
    d = MM * body.evaluate(points.reshape(-1, 3))[0].reshape(count, count)
    figure, (left, right) = panels(2, (9.0, 3.8))
    extent = [-MM * reach, MM * reach] * 2
    image = left.imshow(np.rint(d / 5) * 5, extent=extent, origin="lower", cmap="RdBu", vmin=-150, vmax=150, interpolation="nearest")
    left.contour(MM * line, MM * line, d, levels=np.arange(-25, 151, 25), colors="k", linewidths=0.4, linestyles="solid")
    left.contour(MM * line, MM * line, d, levels=[0], colors="k", linewidths=1.8)
    left.axhline(0, color=RED, linewidth=1.2)
    left.set(xlabel="x [mm]", ylabel="y [mm]", title="on a level cut")
    figure.colorbar(image, ax=left, label="signed distance [mm]")
    right.plot(MM * line, d[count // 2], color=RED, linewidth=2)
    right.axhline(0, color="k", linewidth=1.8)
    right.fill_between(MM * line, -60, 0, where=d[count // 2] < 0, color=GREY, alpha=0.25, linewidth=0)
    right.set(xlabel="x [mm]", ylabel="signed distance [mm]", title="along the red line; grey is inside", ylim=(-60, 110))
    save(figure, "field")


def bracket():
    """A closed mesh of an L, 60 mm long, from a profile in x and z."""
    profile = np.array([[0, 0], [0.08, 0], [0.08, 0.02], [0.02, 0.02], [0.02, 0.06], [0, 0.06]])
    vertices = np.array([[x, y, z] for y in (0, 0.06) for x, z in profile])
    sides = [[i, i + 6, (i + 1) % 6 + 6, (i + 1) % 6] for i in range(6)]
    return abut.body(vertices, [list(range(6)), list(range(11, 5, -1)), *sides], vertices_kept="all")


def draw_features():
    """Contact meshes that abut makes of two meshes."""
    figure = pyplot.figure(figsize=(9.0, 3.9), dpi=80)
    bodies = (("an L, --vertices all", bracket(), (25, -60)),
              ("figure.obj, --vertices 200", abut.load(ASSETS / "figure.obj", vertices=200), (15, -55)))
    for i, (name, body, view) in enumerate(bodies):
        shape = body.shape()
        axes = figure.add_subplot(1, 2, i + 1, projection="3d")
        vertices = MM * np.asarray(shape.vertices)
        for edge in np.asarray(shape.edges):
            axes.plot(*vertices[edge].T, color=BLUE, linewidth=1.0)
        axes.scatter(*vertices.T, color=RED, s=7, depthshade=False)
        axes.set_box_aspect(np.ptp(vertices, axis=0), zoom=1.35 if i else 1.0)
        axes.view_init(*view)
        axes.set_axis_off()
        axes.set_title(f"{name}: {len(vertices)} vertices, {len(shape.edges)} edges")
    save(figure, "features")


# ---- contacts ----------------------------------------------------------------------------------
def draw_activity():
    """A cube comes down on another cube: activity of one of its vertices and the energy, for three penetrations."""
    figure, (left, right) = panels(2, (9.0, 3.6))
    a, b = cube(0.05), cube(0.03)
    poses = above(np.linspace(0.075, 0.087, 241))
    for penetration, colour in ((0.0003, RED), (0.001, YELLOW), (0.003, BLUE)):
        pair = abut.Pair(a, b, {"penetration": penetration})
        c = abut.contacts(pair, None, poses)
        slot = np.argmax(c.activity[0] - c.activity[-1])
        left.plot(MM * c.d[:, slot], c.activity[:, slot], color=colour, linewidth=2, label=f"{MM * penetration:g} mm")
        right.plot(MM * c.d[:, slot], MM * MM * abut.reduce(pair, None, poses, "energy").value, color=colour, linewidth=2)
    left.axhline(0.5, color=GREY, linewidth=1, linestyle="--")
    left.set(xlabel="d of a vertex [mm]", ylabel="activity", title="how much this vertex is a contact")
    left.legend(frameon=False, title="penetration")
    right.set(xlabel="d of a vertex [mm]", ylabel="[mm²]", title="energy of all contacts", ylim=(-1, 60))
    save(figure, "activity")


def draw_rocking(name, curves):
    figure, (left, right) = panels(2, (9.0, 3.6))
    for colour, label, (angles, values, rates) in curves:
        left.plot(angles, values, color=colour, linewidth=2)
        right.plot(angles, rates, color=colour, linewidth=2, label=label)
    right.legend(frameon=False, fontsize=8, loc="lower left")
    left.set(xlabel="angle [degrees]", ylabel="[mm]", title="one number per pose")
    right.set(xlabel="angle [degrees]", ylabel="[mm / rad]", title="its derivative by the angle")
    save(figure, name)


def draw_distances():
    """A cube rocks above another cube: three distances by its angle, and their derivatives."""
    kinds = (("distance", RED), ("soft_distance", YELLOW), ("soft_minimum", BLUE))
    draw_rocking("distances", [(colour, kind, rock(kind)) for kind, colour in kinds])


# ---- smoothing ---------------------------------------------------------------------------------
def draw_temperatures():
    """The same path, and the soft distance at three temperatures."""
    curves = [(colour, f"T = {MM * t:g} mm", rock("soft_distance", temperature=t))
              for t, colour in ((0.00003, RED), (0.0001, YELLOW), (0.0003, BLUE))]
    draw_rocking("temperatures", [(GREY, "distance", rock("distance")), *curves])


# ---- gradients ---------------------------------------------------------------------------------
def draw_approach():
    """A cube comes down on another cube: derivatives by the height, before touch and in it."""
    a, b = cube(0.05), cube(0.03)
    heights = np.linspace(0.076, 0.1, 385)
    gap, poses = MM * (heights - 0.08), above(heights)
    figure, (left, right) = panels(2, (9.0, 3.6))
    for kind, colour, width in (("soft_minimum", BLUE, 7), ("soft_distance", YELLOW, 4), ("distance", RED, 1.5)):
        left.plot(gap, abut.reduce(abut.Pair(a, b), None, poses, kind, grad=True).grad2[:, 2], color=colour, linewidth=width, label=kind)
    energy = abut.reduce(abut.Pair(a, b), None, poses, "energy", grad=True).grad2[:, 2]
    left.plot(gap, energy / np.abs(energy).max(), color=GREY, linewidth=2, label="energy, scaled to 1")
    left.set(xlabel="distance [mm]", ylabel="derivative by the height", title="distances and energy", ylim=(-1.1, 1.2))
    left.legend(frameon=False, loc=(0.45, 0.08))
    for penetration, floor, colour in ((0.003, 0, BLUE), (0.001, 0, YELLOW), (0.0003, 0, RED), (0.0003, 1e-3, GREY)):
        pair = abut.Pair(a, b, {"penetration": penetration, "floor": floor})
        size = np.abs(abut.reduce(pair, None, poses, "activity", grad=True).grad2[:, 2])
        right.semilogy(gap, np.where(size > 0, size, np.nan), color=colour, linewidth=2, linestyle="--" if floor else "-",
                       label=f"penetration {MM * penetration:g} mm" + (f", floor {floor:g}" if floor else ""))
    right.set(xlabel="distance [mm]", ylabel="size of the derivative [1/m]", title="sum of activity", ylim=(1e-9, 1e9))
    right.legend(frameon=False, fontsize=8, loc="upper right")
    save(figure, "approach")


def slid(law, folder):
    """A cube on a plane with friction 0.3, for half a second of gravity with a horizontal part: its way [m] and the way's derivative."""
    scene = {"timestep": 0.004, "contact_model": law,
             "links": [{"name": "floor", "bodies": [{"plane": [5, 5]}]},
                       {"name": "box", "position": [0, 0, 0.05], "joint": {"type": "free"}, "density": 500, "bodies": [{"box": [0.05, 0.05, 0.05]}]}],
             "pairs": [{"a": "box", "b": "floor", "friction": 0.3}]}
    path = folder / f"{law}.scene.json"
    path.write_text(json.dumps(scene), encoding="utf-8")
    made = abut.Scene(path)
    level = np.linspace(0, 5, 41)
    gravity = np.stack([level, 0 * level, 0 * level - 9.81], 1)
    q, v = np.tile(made.start(), (41, 1)), np.zeros((41, made.nv))
    bar = np.tile(np.eye(made.nq)[0], (41, 1))
    end = made.step(q, v, steps=125, gravity=gravity)
    return level, end.q[:, 0], made.vjp(q, v, steps=125, gravity=gravity, q_bar=bar, wrt=("gravity",)).gravity[:, 0]


def draw_laws():
    figure, (left, right) = panels(2, (9.0, 3.6))
    with tempfile.TemporaryDirectory() as folder:
        for law, colour, width in (("lcp", RED, 5), ("cone", BLUE, 2), ("spring", YELLOW, 2)):
            level, way, gradient = slid(law, pathlib.Path(folder))
            left.plot(level, MM * way, color=colour, linewidth=width, label=law)
            right.semilogy(level, np.where(gradient > 0, MM * gradient, np.nan), color=colour, linewidth=width)
    for one in (left, right):
        one.axvline(0.3 * 9.81, color=GREY, linewidth=1, linestyle="--")
    left.legend(frameon=False, title="contact law")
    left.set(xlabel="horizontal part of gravity [m/s²]", ylabel="way in 0.5 s [mm]", title="how far the box slides")
    right.set(xlabel="horizontal part of gravity [m/s²]", ylabel="[mm per m/s²]", title="its derivative; 0 is not drawn", ylim=(0.1, 1e3))
    save(figure, "laws")


FIGURES = {"field": draw_field, "features": draw_features, "activity": draw_activity, "distances": draw_distances,
           "temperatures": draw_temperatures, "approach": draw_approach, "laws": draw_laws}

if __name__ == "__main__":
    for wanted in sys.argv[1:] or FIGURES:
        FIGURES[wanted]()
