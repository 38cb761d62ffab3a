"""Witness points as quadratic programmes of two variables, for the peers that are optimisers.

E-E: edges p + x1 t1 and q + x2 t2, x in [0, 1]^2, with the ridge of docs/dev/spec.md, section 6, at its default
     values (length 1, ridge 0.01).
V-F: point v and triangle a + x1 u + x2 w, x1, x2 >= 0, x1 + x2 <= 1.
Both: min 1/2 x'Mx + c'x where Gx <= h. Coordinates are uniform in the unit cube, as in bench/witness.c.
"""
import numpy as np

RIDGE = 0.01
BOX = np.array([[1, 0], [0, 1], [-1, 0], [0, -1]]), np.array([1, 1, 0, 0]), np.array([0.5, 0.5])
TRIANGLE = np.array([[-1, 0], [0, -1], [1, 1]]), np.array([0, 0, 1]), np.array([1, 1]) / 3


def queries(what, count, real=np.float32):
    random = np.random.default_rng(1)
    shapes = {"edges": [(2, 3), (2, 3)], "faces": [(3,), (3, 3)]}[what]
    return [random.random((count, *shape)).astype(real) for shape in shapes]


def quadratic(what, first, second):
    """M, c of one query; works on numpy's and on JAX's arrays."""
    if what == "edges":
        u, w, b = first[1] - first[0], second[0] - second[1], first[0] - second[0]
    else:
        u, w, b = second[1] - second[0], second[2] - second[0], second[0] - first
    ridge = RIDGE if what == "edges" else 0.0
    return (u @ u + ridge, u @ w, w @ w + ridge), (b @ u - 0.5 * ridge, b @ w - 0.5 * ridge)


def points(what, first, second, x):
    """The witness point on the first edge, or the projection onto the triangle."""
    if what == "edges":
        return first[0] + x[0] * (first[1] - first[0])
    return second[0] + x[0] * (second[1] - second[0]) + x[1] * (second[2] - second[0])


def exact(what, first, second):
    """The hard minimiser in float64 by enumeration of the active set -> points (N, 3)."""
    first, second = first.astype(float), second.astype(float)
    rows = [sum(quadratic(what, f, s), ()) for f, s in zip(first, second)]
    a, b, d, c1, c2 = np.array(rows).T
    det = a * d - b * b
    inner = np.stack([(b * c2 - d * c1) / det, (b * c1 - a * c2) / det], 1)
    zero, one = np.zeros_like(a), np.ones_like(a)
    clip = lambda t: np.clip(t, 0, 1)
    tried = [inner, np.stack([zero, clip(-c2 / d)], 1), np.stack([clip(-c1 / a), zero], 1)]
    if what == "edges":
        tried += [np.stack([one, clip(-(b + c2) / d)], 1), np.stack([clip(-(b + c1) / a), one], 1)]
        inside = ((inner >= 0) & (inner <= 1)).all(1)
    else:
        t = clip((d - b + c2 - c1) / (a - 2 * b + d))
        tried += [np.stack([t, 1 - t], 1)]
        inside = (inner >= 0).all(1) & (inner.sum(1) <= 1)
    x = np.stack(tried, 1)
    cost = 0.5 * (a[:, None] * x[..., 0] ** 2 + d[:, None] * x[..., 1] ** 2)
    cost += b[:, None] * x[..., 0] * x[..., 1] + c1[:, None] * x[..., 0] + c2[:, None] * x[..., 1]
    cost[:, 0] = np.where(inside, cost[:, 0], np.inf)
    best = x[np.arange(len(x)), cost.argmin(1)]
    return np.array([points(what, f, s, y) for f, s, y in zip(first, second, best)])


def off_exact(what, arguments, found, count=1000):
    """Median distance of the found points from the hard minimisers, over the first queries [m]."""
    first, second = (x[:count] for x in arguments)
    off = np.linalg.norm(np.asarray(found[:count], float) - exact(what, first, second), axis=1)
    return float(np.median(off))
