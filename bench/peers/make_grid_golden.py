#!/usr/bin/env python3
"""Write the golden case of grids with corrections: python bench/peers/make_grid_golden.py OUT_FOLDER

A bracket on a coarse grid with two levels of corrections around its surface, against a superquadric
less a ball of one level. Answers are the reference's, in float64. Needs jax and numpy (PyPI).
"""
import json
import pathlib
import sys
from dataclasses import asdict

import jax
jax.config.update("jax_enable_x64", True)
import jax.numpy as jnp  # noqa: E402
import numpy as np  # noqa: E402

from compare_jax import load_grid, read_obj, rotation  # noqa: E402
from manifold_reference import Smoothing, manifold, spline_eval  # noqa: E402

KEPT = (8, 8), (0, 6)


# ---- grids ----
def box(x, low, high):
    q = np.maximum(np.asarray(low) - x, x - np.asarray(high))
    return np.minimum(q.max(-1), 0) + np.linalg.norm(np.maximum(q, 0), axis=-1)


def bracket(x):
    return np.minimum(box(x, (-.3, -.2, -.25), (.3, .2, -.1)), box(x, (-.3, -.2, -.25), (-.15, .2, .25)))


def ball(x):
    return np.linalg.norm(x - np.array([.1, .05, 0.]), axis=-1) - .18


def smooth(c):
    """A spline's values at its own nodes."""
    for axis in range(3):
        ends = [(1, 1) if a == axis else (0, 0) for a in range(3)]
        p = np.moveaxis(np.pad(c, ends), axis, 0)
        c = np.moveaxis((p[:-2] + 4 * p[1:-1] + p[2:]) / 6, 0, axis)
    return c


def fit(values, free):
    """Coefficients, 0 but for the free ones, whose spline is near the values."""
    c = np.zeros_like(values)
    for _ in range(12):
        c += np.where(free, values - smooth(c), 0.)
    return c


def free_nodes(blocks, shape):
    """Nodes from 0 whose supports lie in blocks of 8 cells a side."""
    cells = np.zeros([n + 12 for n in shape], bool)
    for i, j, k in 8 * blocks + 2:
        cells[i:i + 8, j:j + 8, k:k + 8] = True
    free = np.ones(shape, bool)
    for at in np.ndindex(4, 4, 4):
        free &= cells[tuple(slice(a, a + n) for a, n in zip(at, shape))]
    return free


def make_grid(distance, low, high, spacing, bands):
    """bands: of each level, how near the surface a block's middle must be."""
    low = np.array(low)
    size = np.round((np.array(high) - low) / spacing).astype(int) + 1
    nodes = lambda shape, h: low + h * np.stack(np.meshgrid(*map(np.arange, shape), indexing="ij"), -1)
    file = {"coefficients": distance(nodes(size, spacing)), "origin": low.astype(float), "spacing": np.float64(spacing)}
    dense, parents = [], None
    for level, band in enumerate(bands, 1):
        h = spacing / 2 ** level
        shape = 2 ** level * (size - 1) + 1
        sides = 2 ** (level - 1) * -(-(size - 1) // 4)
        blocks = np.stack(np.meshgrid(*map(np.arange, sides), indexing="ij"), -1).reshape(-1, 3)
        blocks = blocks[np.abs(distance(low + h * (8 * blocks + 4))) < band]
        if parents is not None:
            blocks = blocks[[tuple(b // 2) in parents for b in blocks]]
        parents = {tuple(b) for b in blocks}
        u = nodes(shape, h)
        so_far = jax.vmap(lambda x: spline_eval((x - low) / spacing, jnp.asarray(file["coefficients"])))(u.reshape(-1, 3))
        for i, c in enumerate(dense, 1):
            padded = jnp.pad(jnp.asarray(c), 2)
            so_far += jax.vmap(lambda x: spline_eval((x - low) / (spacing / 2 ** i) + 2, padded))(u.reshape(-1, 3))
        within = free_nodes(blocks, shape)
        inner = np.zeros(shape, bool)                            # away from where points are clipped
        rim = 2 * 2 ** level + 2
        inner[tuple(slice(rim, n - rim) for n in shape)] = True
        c = fit(distance(u) - np.asarray(so_far).reshape(shape), within & inner).astype(np.float32)
        dense.append(c.astype(float))
        room = np.pad(c, [(0, 8 * s - n if 8 * s > n else 0) for s, n in zip(sides, shape)])
        file[f"blocks_{level}"] = blocks.astype(np.int32)
        file[f"corrections_{level}"] = np.stack([room[8 * i:8 * i + 8, 8 * j:8 * j + 8, 8 * k:8 * k + 8] for i, j, k in blocks])
    return file


# ---- the case ----
def prism(outline, low, high):
    n = len(outline)
    vertices = [(x, y, z) for y in (low, high) for x, z in outline]
    return vertices, [list(range(n)), [2 * n - 1 - i for i in range(n)]] + \
        [[i, n + i, n + (i + 1) % n, (i + 1) % n] for i in range(n)]


def write_body(folder, name, mesh, grid, body, operation):
    vertices, faces = mesh
    (folder / f"{name}.obj").write_text("".join("v %.17g %.17g %.17g\n" % v for v in vertices)
                                        + "".join("f " + " ".join(str(i + 1) for i in f) + "\n" for f in faces))
    np.savez_compressed(folder / f"{name}0.grid.npz", **grid)
    body = {"name": name, "mesh": f"{name}.obj", **body, "grids": [{"file": f"{name}0.grid.npz", "operation": operation}]}
    (folder / f"{name}.body.json").write_text(json.dumps(body, indent=1) + "\n")


def read_body(folder, name):
    body = json.loads((folder / f"{name}.body.json").read_text())
    real = lambda x: jnp.asarray(np.asarray(x, float))
    vertices, edges = read_obj(folder / body["mesh"])
    sign = lambda p: 1. if p["operation"] == "add" else -1.
    shape = {"V": real(vertices), "E": jnp.asarray(edges),
             "grid": [{**load_grid(folder / g["file"], real), "sign": sign(g)} for g in body["grids"]],
             "subtract": any(sign(g) < 0 for g in body["grids"])}
    if "superquadrics" in body:
        q = body["superquadrics"]
        shape["sq"] = {"a": real([s["axes"] for s in q]), "eps": real([s["exponents"] for s in q]),
                       "t": real([s["position"] for s in q]), "R": real([rotation(s["quaternion"]) for s in q]),
                       "sign": real([sign(s) for s in q])}
    return shape


def answers(shapes, smoothing, s1, s2, rng):
    f = lambda x, y: manifold(x, y, *shapes, smoothing, *KEPT[0], *KEPT[1])
    found = {k: np.asarray(v) for k, v in jax.jit(jax.vmap(f))(s1, s2).items()}
    bar = {k: rng.normal(size=v.shape[1:]) / v.shape[1] for k, v in found.items()}
    gradient = lambda g: jax.jit(jax.vmap(jax.grad(g, argnums=(0, 1))))(s1, s2)
    mean = gradient(lambda x, y: f(x, y)["d"].mean())
    vjp = gradient(lambda x, y: sum(jnp.sum(v * bar[k]) for k, v in f(x, y).items()))
    tangent = rng.normal(size=(2, 6))
    moved = jax.jit(jax.vmap(lambda x, y: jax.jvp(f, (x, y), tuple(tangent))[1]))(s1, s2)
    bars = {k + "_bar": np.broadcast_to(v, found[k].shape) for k, v in bar.items()}
    return bars, {**found, "mean_g1": mean[0], "mean_g2": mean[1], "vjp_g1": vjp[0], "vjp_g2": vjp[1],
                  "tangent": tangent, **{"jvp_" + k: np.asarray(v) for k, v in moved.items()}}


def main(folder):
    folder.mkdir(parents=True, exist_ok=True)
    rng = np.random.default_rng(41)
    outline = [(-.3, -.25), (-.3, .25), (-.15, .25), (-.15, -.1), (.3, -.1), (.3, -.25)]
    write_body(folder, "a", prism(outline, -.2, .2),
               make_grid(bracket, (-.6, -.5, -.55), (.6, .5, .55), .05, (.07, .03)), {}, "add")
    square = [(-.25, -.3), (-.25, .3), (.25, .3), (.25, -.3)]
    solid = {"axes": [.25, .2, .3], "exponents": [.3, .4], "position": [0, 0, 0], "quaternion": [1, 0, 0, 0], "operation": "add"}
    write_body(folder, "b", prism(square, -.2, .2),
               make_grid(ball, (-.4, -.45, -.5), (.6, .55, .5), 0.0625, (.08,)), {"superquadrics": [solid]}, "subtract")
    smoothing = Smoothing(length=.1, sort=.003, neighbour=.01, union=.01, select="gate", floor=1e-3)
    (folder / "smoothing.json").write_text(
        json.dumps({**asdict(smoothing), "edges": KEPT[0], "vertices": KEPT[1]}, indent=1) + "\n")
    s1 = rng.normal(size=(8, 6)) * np.array([.2] * 3 + [.5] * 3)
    s2 = s1 + rng.normal(size=(8, 6)) * np.array([.2] * 3 + [.8] * 3)
    s2[-1, :3] += [.7, 0, .4]
    bars, found = answers([read_body(folder, name) for name in "ab"], smoothing, s1, s2, rng)
    assert all(np.isfinite(v).all() for v in found.values())
    np.savez_compressed(folder / "poses.npz", s1=s1, s2=s2)
    np.savez_compressed(folder / "cotangents.npz", **bars)
    np.savez_compressed(folder / "expected.npz", **found)
    print(f"{found['d'].shape[1]} contacts of {len(s1)} poses, active {(found['activity'] > .1).sum(1)}")


if __name__ == "__main__":
    main(pathlib.Path(sys.argv[1]))
