#!/usr/bin/env python3
"""Write the golden case of height fields: python bench/peers/make_height_golden.py OUT_FOLDER

Waves with a ditch, which another height field takes out of them, against a superquadric. Answers are the reference's, in
float64. Needs jax and numpy (PyPI).
"""
import json
import pathlib
import sys
from dataclasses import asdict

import jax
jax.config.update("jax_enable_x64", True)
import numpy as np  # noqa: E402

from compare_jax import load_shape  # noqa: E402
from make_grid_golden import KEPT, answers, prism  # noqa: E402
from manifold_reference import Smoothing  # noqa: E402

ROWS, COLUMNS, SIZE, SCALE, BASE = 8, 9, (.4, .35), .125, .25


def waves():
    x, y = np.meshgrid(np.linspace(-1, 1, COLUMNS), np.linspace(-1, 1, ROWS))
    return np.round(np.sin(3 * x + .5) * np.cos(2.5 * y) + .25 * np.cos(5 * x * y), 3)


def ground_mesh(heights):
    """Triangles between the nodes: a mesh without walls is enough for contacts."""
    x, y = np.meshgrid(SIZE[0] * np.linspace(-1, 1, COLUMNS), SIZE[1] * np.linspace(-1, 1, ROWS))
    vertices = list(zip(x.ravel(), y.ravel(), SCALE * heights.ravel()))
    quads = [(r * COLUMNS + c, r * COLUMNS + c + 1, (r + 1) * COLUMNS + c + 1, (r + 1) * COLUMNS + c)
             for r in range(ROWS - 1) for c in range(COLUMNS - 1)]
    return vertices, [f for a, b, c, d in quads for f in ((a, b, c), (a, c, d))]


def write_body(folder, name, mesh, body):
    vertices, faces = mesh
    (folder / f"{name}.obj").write_text("".join("v %.17g %.17g %.17g\n" % tuple(v) for v in vertices)
                                        + "".join("f " + " ".join(str(i + 1) for i in f) + "\n" for f in faces))
    (folder / f"{name}.body.json").write_text(json.dumps({"name": name, "mesh": f"{name}.obj", **body}, indent=1) + "\n")


def main(folder):
    folder.mkdir(parents=True, exist_ok=True)
    rng = np.random.default_rng(43)
    heights = waves()
    ditch = [[-.02, .03, -.01], [-.05, .04, .02], [.01, .06, -.03], [0., .02, .05]]
    write_body(folder, "a", ground_mesh(heights), {"height_fields": [
        {"heights": heights.tolist(), "size": SIZE, "scale": SCALE, "base": BASE},
        {"heights": (np.asarray(ditch) + .3).tolist(), "size": [.5, .05], "base": .02, "operation": "subtract"}]})
    square = [(-.15, -.1), (-.15, .1), (.15, .1), (.15, -.1)]
    solid = {"axes": [.15, .12, .1], "exponents": [.3, .4], "position": [0, 0, 0], "quaternion": [1, 0, 0, 0]}
    write_body(folder, "b", prism(square, -.12, .12), {"superquadrics": [solid]})
    smoothing = Smoothing(length=.1, sort=.003, neighbour=.01, union=.01, select="gate", floor=1e-3)
    (folder / "smoothing.json").write_text(
        json.dumps({**asdict(smoothing), "edges": KEPT[0], "vertices": KEPT[1]}, indent=1) + "\n")
    s1 = rng.normal(size=(8, 6)) * np.array([.2] * 3 + [.5] * 3)
    place = np.concatenate([rng.uniform([-.4, -.35, -.1], [.4, .35, .2], (8, 3)), rng.normal(size=(8, 3)) * .6], 1)
    s2 = s1 + place
    bars, found = answers([load_shape(folder / f"{name}.body.json", float) for name in "ab"], smoothing, s1, s2, rng)
    assert all(np.isfinite(v).all() for v in found.values())
    np.savez_compressed(folder / "poses.npz", s1=s1, s2=s2)
    np.savez_compressed(folder / "cotangents.npz", **bars)
    np.savez_compressed(folder / "expected.npz", **found)
    print(f"{found['d'].shape[1]} contacts of {len(s1)} poses, active {(found['activity'] > .1).sum(1)}")


if __name__ == "__main__":
    main(pathlib.Path(sys.argv[1]))
