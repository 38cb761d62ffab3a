#!/usr/bin/env python3
"""Make what the self-tests of every device compute, and the answers in float64:

  python tools/make_self_test.py [SRC]

Writes below SRC (the library's, unless named)
  engine/self_test/bodies.inl            two small bodies with every kind of primitive
  contact/self_test_answers.inl  three poses of them (apart, touching, deep), contacts, a
                                  vector-Jacobian product, a Jacobian-vector product and a
                                  Hessian-vector product of the mean distance
  contact/self_test_lists.inl    active contacts of the same poses where a gate selects, products
                                  of derivatives of these alone
  contact/self_test_fields.inl   the same as of all contacts for edges in fields, of the same poses of
                                  both bodies with stated features and a core each, without grid and
                                  height field
  contact/self_test_shapes.inl   a vector-Jacobian product by all numbers of both bodies, of the
                                  same poses together
  query/self_test_answers.inl     witness points of edges and faces, with derivatives; both fields
  view/render/self_test_answers.inl    where rays enter the first body, and its field

The answers are what docs/dev/spec.md says, and come from bench/peers/manifold_reference.py and
round_reference.py, which share no code with the kernels, and from their automatic derivatives. What goes in, but for rays, is
a multiple of a power of two, so that float32 takes it as it is. Needs jax and numpy (PyPI).
"""
import pathlib
import sys
from dataclasses import replace

import jax
import jax.numpy as jnp
import numpy as np

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "bench/peers"))
from manifold_reference import (Smoothing, distance, ee_witness, exp_se3, level_nodes, manifold,  # noqa: E402
                                natural_coefficients, sdf, soft_distance, vf_project)  # noqa: E402
import round_reference as rr  # noqa: E402

jax.config.update("jax_enable_x64", True)

OUTPUTS = ("p", "d", "n", "activity")
WEIGHED = (*OUTPUTS, "weight")  # of all contacts
EDGES_KEPT, VERTICES_KEPT = (4, 4), (4, 0)
SMOOTHING = Smoothing(length=0.5, union=0.0625, plane=0.0625, normal=2.0**-40, penetration=0.0625,
                      neighbour=0.0625, clash=0.25, sign=0.25, sort=0.0625, clip=0.125,
                      minimum=0.125, compare=0.125, ridge=0.015625, distance=2.0**-20, trace=1,
                      inside=True)
# Contacts that cannot be active are not computed: docs/lists.md.
LIST_SMOOTHING = replace(SMOOTHING, select="gate", trace=0, floor=2.0**-10)
LIST_THRESHOLD = 7 / 2048
# For edges in fields; the other settings do not affect them.
FIELD_SMOOTHING = rr.Smoothing(**{**vars(SMOOTHING), "select": "gate", "tilt": 0.125, "inset": 2.0**-6, "part": 0.125,
                                  "gain": 2.0**-5, "slope": 0.0625, "samples": 4, "floor": 2.0**-10})
FIELD_KEPT = (4, 3, 4, 0)  # edges of 1, of 2, vertices of 1, of 2
FACES = ((0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3))

# Hexahedra whose edges differ, so that no two scores tie.
VERTICES = (
    np.array([[-32, -24, -15], [-34, -22, 17], [-31, 25, -18], [-30, 23, 16],
              [33, -26, -17], [31, -25, 19], [32, 22, -16], [35, 24, 14]]) / 64,
    np.array([[-18, -33, -25], [-17, -30, 23], [-20, 31, -24], [-19, 34, 26],
              [16, -32, -22], [19, -31, 25], [17, 32, -27], [21, 30, 24]]) / 64)

# axes, exponents, position, quaternion (w, x, y, z), operation
SUPERQUADRICS = (
    (((0.5, 0.375, 0.25), (0.5, 0.75), (0, 0, 0), (1, 0.125, -0.25, 0.0625), 1),
     ((0.25, 0.1875, 0.5), (1, 1.5), (0.375, 0.125, 0.125), (0.5, 0.5, -0.25, 1), -1)),
    (((0.25, 0.5, 0.375), (0.75, 0.25), (0, 0.03125, 0), (1, -0.0625, 0.125, 0.25), 1),))
# normal, point
PLANES = ((1, 0.25, 0, 0.25, 0, 0), (-1, 0, 0.5, -0.25, 0, 0), (0, 1, -0.25, 0, 0.5, 0),
          (0.125, -1, 0, 0, -0.5, 0), (0, 0.25, 1, 0, 0, 0.3125), (0.25, 0, -1, 0, 0, -0.3125))
# position, normal, width
CLOUD = ((0.4375, 0, 0, 1, 0.125, 0, 0.25), (-0.375, 0, 0.0625, -1, 0, 0.25, 0.3125),
         (0, 0.5, 0, 0, 1, 0.125, 0.25), (0.0625, -0.5, 0, 0.125, -1, 0, 0.375),
         (0, 0.125, 0.375, 0.25, 0, 1, 0.3125), (0, 0, -0.4375, 0, 0.125, -1, 0.25))

# kind, half lengths (of a disc radius, half length, 0), radius, position, quaternion, operation
CORES = (("disc", (0.1875, 0.25, 0), 0.0625, (-0.1875, 0.125, 0), (1, 0.25, 0.5, 0.125), 1),
         ("box", (0.1875, 0.125, 0.25), 0.125, (0.0625, -0.125, 0.0625), (1, 0.5, -0.25, 0.125), 1))

# Approximately a ball, with corrections in its middle: in steps of which both are integer multiples, so that a byte holds each.
GRID_SIDE, GRID_SPACING, GRID_ORIGIN = 12, 0.15625, (-0.84375, -0.875, -0.859375)
GRID_STEP, GRID_CORRECTION_STEP, GRID_BLOCK = 2.0**-6, 2.0**-9, (1, 1, 1)

# A slab with a wavy top, whose heights are integer multiples of a step, too.
HEIGHT_STEP, HEIGHT_SIZE, HEIGHT_BASE = 2.0**-6, (0.375, 0.4375), 0.3125
HEIGHT_STEPS = ((3, 7, 12, 9, 4, -2), (-1, 4, 8, 11, 6, 1), (-6, 0, 5, 8, 10, 3), (-9, -4, 2, 3, 7, 5),
                (-5, -8, -3, 1, 2, 6))


# Explicit features of either body: place and radius; ends, radius, centre and axis of an arc. Arcs have the radius 25/64.
FEATURES = (
    (np.array([[24, 7, 16, 2], [7, 24, 16, 0], [-30, -20, -16, 0], [30, -24, -15, 3], [-28, 22, 14, 1]]) / 64,
     ((0, 1, 2 / 64, (0, 0, 0.25), (0, 0, 1)), (0, 3, 1 / 64), (1, 4, 0), (2, 3, 0), (2, 4, 1 / 64))),
    (np.array([[8, 24, 7, 0], [8, 7, 24, 1], [-18, -33, -25, 2], [20, -30, 24, 0], [-16, 31, -22, 0]]) / 64,
     ((0, 1, 0, (0.125, 0, 0), (1, 0, 0)), (0, 4, 1 / 64), (1, 3, 2 / 64), (2, 3, 0), (2, 4, 0))))
# Kind, half lengths, radius, position, quaternion, operation.
FEATURE_CORES = (("box", (0.125, 0, 0.1875), 0.125, (0.25, -0.125, 0.0625), (1, 0.25, 0, -0.125), 1),
         ("disc", (0.1875, 0.125), 0.0625, (-0.0625, 0.25, 0.125), (0.5, 1, 0.25, 0), 1))


def grid_steps():
    x = np.array(GRID_ORIGIN)[:, None, None, None] + GRID_SPACING * np.mgrid[[slice(GRID_SIDE)] * 3]
    place = np.mgrid[[slice(8)] * 3]
    inner = np.all((place > 1) & (place < 7), axis=0)
    corrections = np.where(inner, (7 * place[0] + 3 * place[1] + 5 * place[2]) % 11 - 5, 0)
    return np.round((np.linalg.norm(x, axis=0) - 0.34375) / GRID_STEP).astype(int), corrections


# At the second pose eleven edge contacts have weights between 0 and 1.
POSES = (np.array([[0, 0, 0, 0.125, -0.25, 0.5], [0.125, 0, 0.1875, 0.375, -0.625, -0.625],
                   [-0.25, 0.125, 0.25, -0.375, 0.25, 0.75]]),
         np.array([[1.5, 0.75, -0.5, -0.25, 0.5, 0.125], [-0.5625, 0.125, -0.3125, -0.25, 0.625, 0],
                   [0.0625, 0.25, 0.125, 0.5, 0.125, -0.25]]))
TANGENTS = (np.array([[0.5, -0.25, 0.125, 0.25, 0.5, -0.375], [-0.125, 0.5, 0.25, 0.75, -0.25, 0.5],
                      [0.25, 0.375, -0.5, -0.25, 0.125, 0.5]]),
            np.array([[-0.25, 0.125, 0.5, -0.5, 0.25, 0.375],
                      [0.375, 0.25, -0.5, 0.125, 0.5, -0.25],
                      [-0.5, 0.25, 0.125, 0.375, -0.25, 0.25]]))

# Pairs of edges, one row each: crossing, passing end to end, and meeting at an end.
EDGES = (np.array([[-32, -8, 4, 40, 12, -4], [0, 0, 0, 16, 24, 8], [-24, 16, 8, 24, 16, 10]]) / 64,
         np.array([[4, -40, 12, -4, 36, 20], [40, 24, 8, 48, -8, 16],
                   [24, 20, -32, 28, 12, 30]]) / 64)
EDGE_TANGENTS = (np.array([[8, -16, 4, -12, 6, 20], [4, 10, -8, 16, -4, 2],
                           [-6, 12, 16, 4, -20, 8]]) / 32,
                 np.array([[-4, 12, 8, 16, -10, 6], [20, -8, 4, 6, 14, -12],
                           [10, 6, -14, -8, 4, 18]]) / 32)
# Points above, beside and below triangles; also points for the fields.
POINTS = np.array([[8, 12, 20], [48, -8, 6], [-20, 24, -12]]) / 64
TRIANGLES = np.array([[-32, -24, 0, 40, -16, 4, 4, 48, 8], [-16, -32, -4, 32, -24, 8, 8, 16, 2],
                      [-40, 8, 0, 16, 24, -8, -12, 48, 12]]) / 64
POINT_TANGENTS = np.array([[4, -8, 12], [-6, 10, 2], [14, 4, -10]]) / 32
TRIANGLE_TANGENTS = np.array([[2, -4, 6, 8, 10, -12, 4, 6, -2], [-8, 2, 4, 6, -10, 12, 2, 4, 14],
                              [6, 8, -4, -2, 12, 10, -14, 4, 2]]) / 32
POINT_BARS = (np.array([[4, -2, 3], [-5, 1, 2], [3, 5, -4]]) / 4,
              np.array([[-1, 4, 2], [3, -3, 5], [2, -4, 1]]) / 4)
INTERIOR_BARS = np.array([[3], [-5], [2]]) / 4
# Origins and targets in the first body's frame; the last ray misses it.
RAYS = ((2, 0.25, 0.125), (0, 0.0625, 0)), ((-1.5, -1, 0.75), (0, 0, 0.0625)), \
       ((0.25, 2, -0.5), (0.125, 0, 0)), ((0.5, 0.25, 2), (0.25, 0.125, 0)), \
       ((2, 2, 2), (2, -2, 1.5))
RAY_LENGTH = 4.0
GRID_PATTERNS = 6  # of integers, to be multiplied with derivatives by a grid's many coefficients


def units(v):
    v = np.asarray(v, float)
    return v / np.linalg.norm(v, axis=-1, keepdims=True)


def rotation(wxyz):
    w, x, y, z = units(wxyz)
    return np.array([[1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
                     [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
                     [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)]])


def shape(body):
    pairs = {tuple(sorted((f[i], f[i - 1]))) for f in FACES for i in range(len(f))}
    axes, exponents, positions, quaternions, signs = zip(*SUPERQUADRICS[body])
    real = lambda x: jnp.asarray(np.asarray(x, float))
    out = {"V": real(VERTICES[body]), "E": jnp.asarray(sorted(pairs)),
           "sq": {"a": real(axes), "eps": real(exponents), "t": real(positions),
                  "R": real([rotation(q) for q in quaternions]), "sign": real(signs)},
           "subtract": min(signs) < 0}
    if body == 0:
        planes = np.asarray(PLANES, float)
        out["cp"] = [{"n": real(units(planes[:, :3])), "p": real(planes[:, 3:]), "sign": 1.0}]
        coefficients, corrections = grid_steps()
        nodes = level_nodes(coefficients.shape, 1, [GRID_BLOCK], [GRID_CORRECTION_STEP * corrections])
        out["grid"] = [{"coefficients": real(GRID_STEP * coefficients), "origin": real(GRID_ORIGIN),
                        "spacing": real(GRID_SPACING), "levels": [real(nodes)], "sign": 1.0}]
    else:
        cloud = np.asarray(CLOUD, float)
        out["opc"] = [{"n": real(units(cloud[:, 3:6])), "p": real(cloud[:, :3]),
                       "width": real(cloud[:, 6]), "sign": 1.0}]
        heights = HEIGHT_STEP * np.asarray(HEIGHT_STEPS, float)
        out["height"] = [{"coefficients": real(natural_coefficients(heights)),
                          "size": real(HEIGHT_SIZE), "base": HEIGHT_BASE, "sign": 1.0}]
    kind, half, radius, position, quaternion, sign = CORES[body]
    out["cores"] = [{"kind": kind, "half": real(half), "radius": real(radius), "R": real(rotation(quaternion)),
                     "t": real(position), "sign": sign, "solid": True}]
    return out


def touching_shape(body):
    """The same with stated features and a core, as round_reference has it, without grid and height field: JAX compiles both for
    an hour where edges look for their least place in them."""
    places, edges = FEATURES[body]
    kind, half, radius, position, quaternion, sign = FEATURE_CORES[body]
    ends = np.array([e[:2] for e in edges])
    bows = np.array([[*e[3], *e[4]] if len(e) > 3 else [0.] * 6 for e in edges])
    core = rr.core(kind, half, radius, R=jnp.asarray(rotation(quaternion)), t=jnp.asarray(position, float), sign=float(sign))
    bare = {name: value for name, value in shape(body).items() if name not in ("grid", "height")}
    return dict(bare, V=jnp.asarray(places[:, :3]), r=jnp.asarray(places[:, 3]), E=ends,
                re=jnp.asarray([float(e[2]) for e in edges]), arc=rr.arcs(places[:, :3], ends, bows[:, :3], bows[:, 3:]),
                cores=[core])


def cotangents(out, outputs=OUTPUTS):
    """Like put_cotangents of self_test.c: by the position in the array of one pose."""
    return {name: jnp.asarray((np.arange(out[name].size) * 7 % 11 - 5) / 4).reshape(out[name].shape)
            for name in outputs}


def answers():
    shapes = shape(0), shape(1)
    contacts = jax.jit(lambda s1, s2: manifold(s1, s2, *shapes, SMOOTHING, *EDGES_KEPT,
                                               *VERTICES_KEPT, weigh=True))
    mean_gradient = jax.grad(lambda s1, s2: contacts(s1, s2)["d"].mean(), argnums=(0, 1))
    results = {}
    for pose in zip(*POSES, *TANGENTS):
        at, along = pose[:2], pose[2:]
        values, back = jax.vjp(contacts, *at)
        found = {name: values[name] for name in WEIGHED}
        found["distance"] = distance(values["d"], values["weight"])
        found["soft_distance"] = soft_distance(values["d"], values["weight"], SMOOTHING.penetration / 16)
        found.update(zip(("vjp_1", "vjp_2"), back(cotangents(values, WEIGHED))))
        forward = jax.jvp(contacts, at, along)[1]
        found.update({"jvp_" + name: forward[name] for name in WEIGHED})
        found.update(zip(("hessian_1", "hessian_2"), jax.jvp(mean_gradient, at, along)[1]))
        for name, value in found.items():
            results.setdefault(name, []).append(np.ravel(value))
    return {name: np.concatenate(rows) for name, rows in results.items()}


def extrapolated(at_step, step, within):
    """A difference quotient whose error falls as the square of the step, without it and the next term; `within`: how far those of
    larger steps may be off, as a share of the largest number."""
    q = [at_step(step / 2.0**k) for k in range(3)]
    low, high = (4 * q[1] - q[0]) / 3, (4 * q[2] - q[1]) / 3
    off = np.abs(high - low).max() / np.abs(high).max()
    assert off < within, f"derivatives have not settled by {off}: one of them jumps nearby"
    return (16 * high - low) / 15


def field_answers_of_poses():
    """For edges in fields. Derivatives are differences, because JAX compiles automatic ones for an hour."""
    shapes = touching_shape(0), touching_shape(1)

    @jax.jit
    def made(s1, s2):
        out = rr.manifold(s1, s2, *shapes, FIELD_SMOOTHING, *FIELD_KEPT, behind=True)
        return dict(out, weight=jnp.where(out["edge_length"] > 0, out["weight"], 1.0))  # as in abut, without a vertex's gate
    results = {}
    for pose in zip(*POSES, *TANGENTS):
        x, along = np.concatenate(pose[:2]), np.concatenate(pose[2:])
        at = lambda z: {name: np.asarray(value) for name, value in made(z[:6], z[6:]).items()}
        values = at(x)
        found = {name: values[name] for name in WEIGHED}
        found["distance"] = distance(jnp.asarray(values["d"]), jnp.asarray(values["weight"]))
        found["soft_distance"] = soft_distance(jnp.asarray(values["d"]), jnp.asarray(values["weight"]), FIELD_SMOOTHING.penetration / 16)
        bars = {name: np.asarray(bar) for name, bar in cotangents(values, WEIGHED).items()}
        flat = lambda z: np.concatenate([np.ravel(at(z)[name]) for name in WEIGHED])
        moved = lambda v: extrapolated(lambda h: (flat(x + h * v) - flat(x - h * v)) / (2 * h), 2.0**-16, 1e-7)
        ends = np.cumsum([values[name].size for name in WEIGHED])[:-1]
        found.update({"jvp_" + name: part for name, part in zip(WEIGHED, np.split(moved(along), ends))})
        weights = np.concatenate([np.ravel(bars[name]) for name in WEIGHED])
        slopes = np.array([weights @ moved(v) for v in np.eye(12)])
        mean = lambda z: at(z)["d"].mean()
        mixed = lambda v, h: (mean(x + h * (v + along)) - mean(x + h * (v - along)) - mean(x - h * (v - along))
                              + mean(x - h * (v + along))) / (4 * h * h)
        product = extrapolated(lambda h: np.array([mixed(v, h) for v in np.eye(12)]), 2.0**-14, 1e-4)
        found.update(vjp_1=slopes[:6], vjp_2=slopes[6:], hessian_1=product[:6], hessian_2=product[6:])
        for name, value in found.items():
            results.setdefault(name, []).append(np.ravel(value))
    return {name: np.concatenate(rows) for name, rows in results.items()}


def list_answers():
    """Returns dense arrays with zeros for inactive contacts; derivatives of the active ones."""
    shapes = shape(0), shape(1)
    contacts = jax.jit(lambda s1, s2: manifold(s1, s2, *shapes, LIST_SMOOTHING, *EDGES_KEPT, 0, 0))
    results, poses, slots = {}, [], []
    for number, pose in enumerate(zip(*POSES, *TANGENTS)):
        at, along = pose[:2], pose[2:]
        values, back = jax.vjp(contacts, *at)
        ratio = np.asarray(values["activity"]) / LIST_THRESHOLD
        assert np.all(np.abs(ratio - 1) > 0.01), "an activity is too close to the threshold"
        active = ratio > 1
        alone = lambda x: jnp.where(active.reshape(-1, *[1] * (x.ndim - 1)), x, 0.0)
        found = {name: alone(values[name]) for name in OUTPUTS}
        bars = {name: alone(bar) for name, bar in cotangents(values).items()}
        found.update(zip(("vjp_1", "vjp_2"), back(bars)))
        forward = jax.jvp(contacts, at, along)[1]
        found.update({"jvp_" + name: alone(forward[name]) for name in OUTPUTS})
        poses += [number] * int(active.sum())
        slots += list(np.flatnonzero(active))
        for name, value in found.items():
            results.setdefault(name, []).append(np.ravel(value))
    return poses, slots, {name: np.concatenate(rows) for name, rows in results.items()}


def numbers_of(of):
    """Returns the numbers for derivatives by shapes, a flat dict of arrays; rotations as twists."""
    q = of["sq"]
    found = {"vertices": of["V"], "axes": q["a"], "exponents": q["eps"], "position": q["t"],
             "rotation": jnp.zeros_like(q["t"])}
    for c in of.get("cp", []):
        found |= {"plane_normals": c["n"], "plane_points": c["p"]}
    for c in of.get("opc", []):
        found |= {"cloud_points": c["p"], "cloud_normals": c["n"], "cloud_widths": c["width"]}
    for c in of["cores"]:
        found |= {"core_half": c["half"], "core_radius": c["radius"], "core_position": c["t"], "core_rotation": jnp.zeros(3)}
    for g in of.get("grid", []):
        found |= {"coefficients": g["coefficients"], "nodes": g["levels"][0]}
    return found


def with_numbers(of, x):
    turn = jax.vmap(lambda w: exp_se3(jnp.concatenate([jnp.zeros(3), w]))[0])(x["rotation"])
    out = dict(of, V=x["vertices"], sq=dict(of["sq"], a=x["axes"], eps=x["exponents"], t=x["position"],
                                            R=of["sq"]["R"] @ turn))
    out["cp"] = [dict(c, n=x["plane_normals"], p=x["plane_points"]) for c in of.get("cp", [])]
    out["opc"] = [dict(c, p=x["cloud_points"], n=x["cloud_normals"], width=x["cloud_widths"])
                  for c in of.get("opc", [])]
    out["cores"] = [dict(c, half=x["core_half"], radius=x["core_radius"], t=x["core_position"],
                         R=c["R"] @ exp_se3(jnp.concatenate([jnp.zeros(3), x["core_rotation"]]))[0]) for c in of["cores"]]
    out["grid"] = [dict(g, coefficients=x["coefficients"], levels=[x["nodes"]]) for g in of.get("grid", [])]
    return out


def shape_answers():
    """Returns the number of contacts per pose, and derivatives of the sum over all poses, by body; for a grid the products with GRID_PATTERNS patterns."""
    bodies = shape(0), shape(1)

    def total(x, y, s1, s2):
        made = [with_numbers(body, numbers) for body, numbers in zip(bodies, (x, y))]
        values = manifold(s1, s2, *made, SMOOTHING, *EDGES_KEPT, *VERTICES_KEPT)
        bars = cotangents(values)
        return sum(jnp.sum(values[name] * bars[name]) for name in OUTPUTS)
    slopes = jax.jit(jax.grad(total, argnums=(0, 1)))
    each = [slopes(*map(numbers_of, bodies), *map(jnp.asarray, pose)) for pose in zip(*POSES)]
    summed = jax.tree_util.tree_map(lambda *parts: sum(parts), *each)
    found = {}
    contacts = jax.eval_shape(lambda: manifold(*(jnp.asarray(p[0]) for p in POSES), *bodies, SMOOTHING,
                                               *EDGES_KEPT, *VERTICES_KEPT))["d"].size
    for i, by in enumerate(summed):
        if "nodes" in by:
            nodes, at = by.pop("nodes"), tuple(slice(8 * k + 2, 8 * k + 10) for k in GRID_BLOCK)
            place = np.mgrid[[slice(8)] * 3]
            inner = np.all((place > 1) & (place < 7), axis=0)  # others may not be changed
            grid = np.concatenate([np.ravel(by.pop("coefficients")), np.ravel(np.where(inner, nodes[at], 0))])
            place = np.arange(grid.size)
            by["grid"] = [grid @ ((place * 7 + k) % 11 - 5) for k in range(GRID_PATTERNS)]
        found |= {f"by_{name}_{i + 1}": value for name, value in by.items()}
    return contacts, found


def witness_answers():
    """Returns arrays (queries, numbers): witness points and their derivatives."""
    edges = jax.vmap(lambda p, q: ee_witness(p.reshape(2, 3), q.reshape(2, 3), SMOOTHING))
    faces = jax.vmap(lambda v, t: vf_project(v, t.reshape(3, 3), SMOOTHING))
    real = lambda arrays: tuple(jnp.asarray(a) for a in arrays)
    found = {}
    values, moved = jax.jvp(edges, real(EDGES), real(EDGE_TANGENTS))
    for name, value, tangent in zip(("points_1", "points_2", "interior"), values, moved):
        found["edges_" + name], found["edges_jvp_" + name] = value, tangent
    back = jax.vjp(edges, *real(EDGES))[1]
    found["edges_vjp_1"], found["edges_vjp_2"] = back((*real(POINT_BARS),
                                                       jnp.asarray(INTERIOR_BARS[:, 0])))
    at = real((POINTS, TRIANGLES))
    found["faces_projected"], found["faces_jvp_projected"] = jax.jvp(
        faces, at, real((POINT_TANGENTS, TRIANGLE_TANGENTS)))
    back = jax.vjp(faces, *at)[1]
    found["faces_vjp_points"], found["faces_vjp_triangles"] = back(jnp.asarray(POINT_BARS[0]))
    return found


def field_answers(body, points):
    return jax.vmap(lambda x: sdf(shape(body), SMOOTHING, x))(jnp.asarray(points))


def rays():
    """Returns rows of origin, direction, length; and where each ray first enters the first body, or -1."""
    rows, entries = [], []
    field = jax.jit(lambda x: sdf(shape(0), SMOOTHING, x)[0])
    for start, towards in RAYS:
        origin = np.asarray(start, float)
        direction = units(np.asarray(towards, float) - origin)
        at = lambda t: float(field(origin + t * direction))
        grid = np.linspace(0, RAY_LENGTH, 2001)
        inside = next((i for i, t in enumerate(grid) if at(t) <= 0), None)
        entry = -1.0
        if inside:
            low, high = grid[inside - 1], grid[inside]
            for _ in range(60):
                middle = (low + high) / 2
                low, high = (low, middle) if at(middle) <= 0 else (middle, high)
            entry = low
        rows.append([*origin, *direction, RAY_LENGTH])
        entries.append(entry)
    return np.array(rows), np.array(entries)


def c_array(name, values, form="{:.17g}", of="double"):
    lines, line = [], " "
    for value in np.ravel(values):
        word = form.format(float(value) if of == "double" else int(value))
        if len(line) + len(word) + 2 > 100:
            lines.append(line)
            line = " "
        line += " " + word + ","
    return f"static const {of} {name}[] = {{\n" + "\n".join(lines + [line]) + "\n};\n"


def c_list(values):
    return "{" + ", ".join(f"{v:.17g}" for v in values) + "}"


def c_superquadrics(body):
    rows = [f"  {{{c_list(a)}, {c_list(e)}, {c_list(t)}, {c_list(q)},\n"
            f"   {'ABUT_ADD' if sign > 0 else 'ABUT_SUBTRACT'}}},\n"
            for a, e, t, q, sign in SUPERQUADRICS[body]]
    return (f"static const abut_superquadric superquadrics_{body + 1}[] = {{\n" + "".join(rows)
            + "};\n")


def c_core(body):
    kind, half, radius, position, quaternion, sign = CORES[body]
    return (f"static const abut_core core_{body + 1} = {{\n  ABUT_CORE_{kind.upper()}, {c_list(half)}, {radius:.17g}, "
            f"{c_list(position)}, {c_list(quaternion)},\n  {'ABUT_ADD' if sign > 0 else 'ABUT_SUBTRACT'}}};\n")


def c_grid():
    coefficients, corrections = grid_steps()
    return (f"#define GRID_SIDE {GRID_SIDE}\n#define GRID_SPACING {GRID_SPACING:.17g}\n"
            f"#define GRID_STEP {GRID_STEP:.17g}\n"
            f"#define GRID_CORRECTION_STEP {GRID_CORRECTION_STEP:.17g}\n\n"
            + c_array("grid_origin", GRID_ORIGIN) + "\n"
            + c_array("grid_block", GRID_BLOCK, "{}", "int32_t") + "\n"
            + c_array("grid_coefficients", coefficients, "{}", "int8_t") + "\n"
            + c_array("grid_corrections", corrections, "{}", "int8_t"))


def c_heights():
    rows, columns = np.shape(HEIGHT_STEPS)
    return (f"#define HEIGHT_ROWS {rows}\n#define HEIGHT_COLUMNS {columns}\n"
            f"#define HEIGHT_STEP {HEIGHT_STEP:.17g}\n#define HEIGHT_BASE {HEIGHT_BASE:.17g}\n\n"
            + c_array("height_size", HEIGHT_SIZE) + "\n"
            + c_array("height_steps", HEIGHT_STEPS, "{}", "int8_t"))


def c_smoothing():
    lines = ["static void set_smoothing(abut_smoothing *s)\n{\n"]
    for name, value in vars(SMOOTHING).items():
        if name in ("select", "edge_edge", "two_sided"):
            continue # as by default
        text = str(value).lower() if isinstance(value, bool) else f"{value:.17g}"
        lines.append(f"  s->{'union_' if name == 'union' else name} = {text};\n")
    for name, kept in (("edges", EDGES_KEPT), ("vertices", VERTICES_KEPT)):
        lines += [f"  s->{name}[{i}] = {kept[i]};\n" for i in range(2)]
    return "".join(lines) + "}\n"


def c_edge(from_, to, radius, *arc):
    bow = f", true, {c_list(arc[0])}, {c_list(arc[1])}" if arc else ", false, {0, 0, 0}, {0, 0, 1}"
    return f"  {{{from_}, {to}, {radius:.17g}{bow}}},\n"


def c_features(body):
    places, edges = FEATURES[body]
    kind, half, radius, position, quaternion, sign = FEATURE_CORES[body]
    rows = "".join(c_edge(*e) for e in edges)
    return (c_array(f"feature_vertices_{body + 1}", places) + "\n"
            + f"static const abut_feature_edge feature_edges_{body + 1}[] = {{\n{rows}}};\n\n"
            + f"static const abut_core feature_core_{body + 1} = {{ABUT_CORE_{kind.upper()}, {c_list((*half, 0)[:3])}, {radius:.17g},\n"
            f"  {c_list(position)}, {c_list(quaternion)}, {'ABUT_ADD' if sign > 0 else 'ABUT_SUBTRACT'}}};\n")


MADE = "/* Made by tools/make_self_test.py: change that. */\n"


def bodies_text():
    parts = [MADE, c_array("face_sizes", [len(f) for f in FACES], "{}", "uint32_t"),
             c_array("face_indices", [i for f in FACES for i in f], "{}", "uint32_t")]
    for body in range(2):
        parts += [c_array(f"vertices_{body + 1}", VERTICES[body]), c_superquadrics(body), c_core(body),
                  c_features(body)]
    return "\n".join(parts + [c_array("planes", PLANES), c_array("cloud", CLOUD), c_grid(),
                             c_heights(), c_smoothing()])


def manifold_text():
    found = answers()
    contacts = found["d"].size // len(POSES[0])
    parts = [MADE + f"#define SELF_TEST_POSES {len(POSES[0])}\n"
             f"#define SELF_TEST_CONTACTS {contacts}\n"]
    for i in range(2):
        parts += [c_array(f"pose_{i + 1}", POSES[i]), c_array(f"tangent_{i + 1}", TANGENTS[i])]
    return "\n".join(parts + [c_array("expected_" + name, value, "{:.12g}")
                              for name, value in found.items()])


def lists_text():
    poses, slots, found = list_answers()
    fields = "".join(f"  s->{name} = {getattr(LIST_SMOOTHING, name):.17g};\n"
                     for name in ("trace", "floor"))
    parts = [MADE + f"#define SELF_TEST_LISTED {found['d'].size // len(POSES[0])}\n"
             f"#define SELF_TEST_THRESHOLD {LIST_THRESHOLD:.17g}\n",
             "static void set_list_smoothing(abut_smoothing *s)\n{\n  s->select = ABUT_SELECT_GATE;\n"
             f"{fields}  s->vertices[0] = s->vertices[1] = 0;\n}}\n",
             c_array("list_poses", poses, "{}", "uint32_t"),
             c_array("list_slots", slots, "{}", "uint32_t")]
    return "\n".join(parts + [c_array("list_" + name, value, "{:.12g}")
                              for name, value in found.items()])


def fields_text():
    found = field_answers_of_poses()
    numbers = ("tilt", "inset", "part", "gain", "slope", "samples", "floor")
    fields = "".join(f"  s->{name} = {getattr(FIELD_SMOOTHING, name):.17g};\n" for name in numbers)
    kept = "".join(f"  s->{'edges' if i < 2 else 'vertices'}[{i % 2}] = {k};\n" for i, k in enumerate(FIELD_KEPT))
    parts = [MADE + f"#define SELF_TEST_TOUCHING {found['d'].size // len(POSES[0])}\n",
             "static void set_field_smoothing(abut_smoothing *s)\n{\n  s->select = ABUT_SELECT_GATE;\n"
             f"  s->edge_contacts = ABUT_EDGES_FIELD;\n{fields}{kept}}}\n"]
    return "\n".join(parts + [c_array("field_" + name, value, "{:.12g}") for name, value in found.items()])


def shapes_text():
    contacts, found = shape_answers()
    parts = [MADE + f"#define SELF_TEST_PATTERNS {GRID_PATTERNS}\n#define SELF_TEST_SHAPE_POSES {len(POSES[0])}\n"
             f"#define SELF_TEST_SHAPE_CONTACTS {contacts}\n"]
    parts += [c_array(f"shape_pose_{i + 1}", POSES[i]) for i in range(2)]
    return "\n".join(parts + [c_array("expected_" + name, value, "{:.12g}") for name, value in found.items()])


def points_text():
    parts = [MADE + f"#define SELF_TEST_QUERIES {len(POINTS)}\n"]
    for i in range(2):
        parts += [c_array(f"edges_{i + 1}", EDGES[i]),
                  c_array(f"edge_tangents_{i + 1}", EDGE_TANGENTS[i]),
                  c_array(f"point_bars_{i + 1}", POINT_BARS[i])]
    parts += [c_array("interior_bars", INTERIOR_BARS), c_array("points", POINTS),
              c_array("triangles", TRIANGLES), c_array("point_tangents", POINT_TANGENTS),
              c_array("triangle_tangents", TRIANGLE_TANGENTS)]
    found = witness_answers()
    for body in range(2):
        distance, normal = field_answers(body, POINTS)
        found.update({f"distance_{body + 1}": distance, f"normal_{body + 1}": normal})
    return "\n".join(parts + [c_array("expected_" + name, value, "{:.12g}")
                              for name, value in found.items()])


def render_text():
    rows, entries = rays()
    towards = np.array([t for _, t in RAYS], float)
    points = (rows[:, :3] + 3 * towards) / 4
    distance, normal = field_answers(0, points)
    added = sum(s[4] > 0 for s in SUPERQUADRICS[0]) + 3 # with the polyhedron, the grid and the core
    parts = [MADE + f"#define SELF_TEST_RAYS {len(rows)}\n#define SELF_TEST_ADDED {added}.0\n",
             c_array("rays", rows), c_array("expected_entries", entries, "{:.12g}"),
             c_array("picture_points", points),
             c_array("expected_picture_distance", distance, "{:.12g}")]
    return "\n".join(parts + [c_array(f"expected_picture_{axis}", normal[:, i], "{:.12g}")
                              for i, axis in enumerate("xyz")])


def main():
    folder = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "src"
    for name, made in (("engine/self_test/bodies.inl", bodies_text),
                       ("contact/self_test_answers.inl", manifold_text),
                       ("contact/self_test_lists.inl", lists_text),
                       ("contact/self_test_fields.inl", fields_text),
                       ("contact/self_test_shapes.inl", shapes_text),
                       ("query/self_test_answers.inl", points_text),
                       ("view/render/self_test_answers.inl", render_text)):
        (folder / name).write_text(made())


if __name__ == "__main__":
    main()
