#!/usr/bin/env python3
"""Contacts of edges in fields against exact depths: python bench/peers/round_states.py [--count 100] [--seed 0] [--cones] [--library] [--coal]

States of 13 kinds are drawn at random: boxes at each other's corners, faces and edges, flush and across; bars and plates across;
a sphere, a capsule and a cylinder on a box; two cylinders; a convex mesh on a box and on another one. Nine in ten overlap, by 0.1
to 10 mm. The exact depth is the least translation that separates the two, found on the hull of the Minkowski difference of their
vertices, with the radii of rounded bodies added; a cylinder counts as a prism of 256 sides. Neither it nor the contacts share code.

The contacts are those of round_reference.py or, with --library, those of abut's Python package (build it and put it into
PYTHONPATH), which reads the same bodies from files. Printed per kind: the states whose deepest active contact is deeper than the
truth by more than a fifth and 0.3 mm; those that are missed, whose truth is 0.5 mm or more and whose deepest active contact has
less than half of it; the mean number of active contacts; the share of the depth that contacts have, by quantiles of 5, 50 and 95 %.
A contact is active from an activity of 0.1 on. --coal compares the exact depths with coal's (PyPI) instead, where bodies are
primitives. Needs numpy, scipy and, without --library, jax (PyPI).
"""
import argparse
import json
import pathlib
import sys
import tempfile
from dataclasses import asdict

import numpy as np
from scipy.optimize import nnls
from scipy.spatial import ConvexHull
from scipy.spatial.transform import Rotation

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent.parent / "tools"))
import make_round_golden as files  # noqa: E402
from make_round_golden import jax, jnp, rr  # noqa: E402

PEN = 1e-3
ACTIVE = .1
SIDES = 256


# ---- bodies: how they are written and computed, and what is exact of them: points and a radius ----
def box(h, round=0.):
    h = np.asarray(h, float)
    return dict(files.box(h, round), points=rr.corners(h - round), radius=round, coal=("Box", *2 * (h - round)))


def sphere(r): return dict(files.sphere(r), points=np.zeros((1, 3)), radius=r, coal=("Sphere", 1e-9))


def capsule(r, h):
    return dict(files.capsule(r, h), points=np.array([[0, 0, -h], [0, 0, h]]), radius=r, coal=("Capsule", 1e-9, 2 * h))


def cylinder(R, h, round=0.):
    a = 2 * np.pi * np.arange(SIDES) / SIDES
    ring = lambda z: np.c_[(R - round) * np.cos(a), (R - round) * np.sin(a), np.full(SIDES, z)]
    return dict(files.cylinder(R, h, round), points=np.r_[ring(round - h), ring(h - round)], radius=round,
                coal=("Cylinder", R - round, 2 * (h - round)))


def lump(size):
    """A convex mesh of 18 corners, its field the polyhedron of its faces."""
    g = np.random.default_rng(7).normal(size=(18, 3))
    V = size * g / np.linalg.norm(g, axis=1, keepdims=True) * np.array([1, .8, .7])
    F = files.hull(V)
    n = np.array([np.cross(V[f[1]] - V[f[0]], V[f[2]] - V[f[0]]) for f in F])
    n /= np.linalg.norm(n, axis=1, keepdims=True)
    E = rr.sharp_edges(V, F)
    s = rr.features(V, 0, E, 0, [])
    s |= dict(cp=[dict(n=jnp.asarray(n), p=jnp.asarray(V[[f[0] for f in F]]), sign=1.)], cones=rr.mesh_cones(V, F, E))
    return dict(files.body(s, V, F, features=False), points=V, radius=0.)


# ---- the exact signed distance ----
class Difference:
    """The hull of B - A at fixed turns: the signed distance of the two at any place of B."""
    def __init__(self, A, B, R):
        self.points = ((B["points"] @ R.T)[:, None] - A["points"][None]).reshape(-1, 3)
        self.radius = A["radius"] + B["radius"]
        spread = np.linalg.svd(self.points - self.points.mean(0), compute_uv=False)
        self.planes = None
        if len(self.points) > 3 and spread[-1] > 1e-9:
            hull = ConvexHull(self.points)
            self.planes, self.points = hull.equations, self.points[hull.vertices]

    def signed(self, t):
        """-depth or distance with B at t: where the origin lies in the hull moved by t."""
        if self.planes is not None:
            level = self.planes[:, 3] - self.planes[:, :3] @ t
            if level.max() <= 0:
                return level.max() - self.radius
        # The point of the hull nearest to the origin, by Lawson and Hanson's least distance programming; lengths near 1.
        scale = np.abs(self.points + t).max()
        E = np.r_[(self.points + t).T / scale, np.ones((1, len(self.points)))]
        u, _ = nnls(E, np.r_[0, 0, 0, 1.], maxiter=50 * E.shape[1])
        return np.linalg.norm(E[:3] @ u) / u.sum() * scale - self.radius

    def place(self, start, way, want):
        """The outermost l with the signed distance `want` at start + l way."""
        far = 1.
        f = lambda l: self.signed(start + l * way) - want
        inner = 0.
        if f(0.) >= 0:                      # the middle is not so deep: this state is less deep than was asked for
            return None
        for _ in range(40):
            m = .5 * (inner + far)
            inner, far = (m, far) if f(m) < 0 else (inner, m)
        return start + far * way


def by_coal(A, B, R, t):
    import coal
    shapes = [getattr(coal, b["coal"][0])(*b["coal"][1:]) for b in (A, B)]
    out, request = [], coal.DistanceRequest()
    request.enable_signed_distance, request.gjk_tolerance, request.epa_tolerance = True, 1e-9, 1e-9
    request.gjk_max_iterations = request.epa_max_iterations = 500
    for Q, x in zip(R, t):
        result = coal.DistanceResult()
        d = coal.distance(shapes[0], coal.Transform3s.Identity(), shapes[1], coal.Transform3s(Q, x), request, result)
        out.append(d - A["radius"] - B["radius"])
    return np.array(out)


# ---- states ----
def turn(*w): return Rotation.from_rotvec(w).as_matrix()


def tip(v, rng, lean):
    """A turn that takes v to -z, with a random spin and a lean about a random axis."""
    v = np.asarray(v, float) / np.linalg.norm(v)
    R = Rotation.align_vectors([[0, 0, -1.]], [v])[0].as_matrix()
    return turn(*(rng.normal(size=2) * lean), 0) @ turn(0, 0, rng.uniform(-np.pi, np.pi)) @ R


RIDGE = turn(np.pi / 4, 0, 0)       # one of a box's edges along x uppermost


def normals(h, rng):
    """Outward at a box's face, edge or corner."""
    s = rng.choice([-1, 1], 3) * rng.permutation([[1, 0, 0], [1, 1, 0], [1, 1, 1]][rng.integers(3)])
    return s / np.linalg.norm(s), s * h


def kinds():
    """Name: bodies of A and B, three sizes each, and a function of (A, B, generator): turn of B, a place that its way starts from, way."""
    def on_face(turned, spread=.6):
        def draw(A, B, rng):
            h = A["V"].max(0)
            return turned(rng), np.r_[rng.uniform(-spread, spread, 2) * h[:2], 0], np.array([0, 0, 1.])
        return draw

    def across(A, B, rng):
        R = RIDGE.T @ turn(0, 0, rng.uniform(.2, np.pi - .2)) @ RIDGE @ turn(*(rng.normal(size=3) * .05))
        up = RIDGE.T @ [0, 0, 1.]
        return R, RIDGE.T @ np.r_[rng.normal(size=2) * .2 * A["V"].max(0)[:2].min(), 0], up

    def blades(A, B, rng):
        R = turn(0, 0, rng.normal() * .2) @ turn(np.pi / 2, 0, 0) @ turn(*(rng.normal(size=3) * .25))
        side = np.r_[0., rng.choice([-1, 1]), rng.normal() * .4]
        return R, np.r_[rng.normal(size=1) * .02, 0, rng.normal() * .002], side / np.linalg.norm(side)

    def anywhere(A, B, rng):
        n, place = normals(A["V"].max(0), rng)
        R = Rotation.random(random_state=int(rng.integers(1 << 30))).as_matrix()
        if rng.random() < .5:           # B's own axis lies along or against A's normal, nearly
            R = np.linalg.qr(np.c_[n, rng.normal(size=(3, 2))])[0][:, rng.permutation(3)] @ turn(*(rng.normal(size=3) * .02))
            R[:, 0] *= np.sign(np.linalg.det(R))
        way = n + rng.normal(size=3) * .1
        return R, .5 * place * (n == 0) * rng.uniform(-1, 1, 3), way / np.linalg.norm(way)
    sizes = (.8, 1., 1.3)
    h1, h2 = np.array([.05, .03, .02]), np.array([.025, .035, .015])
    pair = lambda a, b: [(a(k), b(s)) for k, s in zip(sizes, (1., 1.25, .8))]
    boxes = pair(lambda k: box(h1 * k), lambda k: box(h2 * k))
    yield "boxes, corner", boxes, on_face(lambda rng: tip(rng.choice([-1, 1], 3), rng, .3))
    yield "boxes, face", boxes, on_face(lambda rng: tip(np.eye(3)[rng.integers(3)], rng, .02), 1.)
    yield "boxes, edge", boxes, on_face(lambda rng: tip(np.roll([0, 1, rng.choice([-1, 1])], rng.integers(3)), rng, .1), 1.)
    yield "boxes, flush", boxes, on_face(lambda rng: turn(0, 0, np.pi / 2 * rng.integers(4)), 1.)
    yield "boxes, across", pair(lambda k: box([.05 * k, .02 * k, .02 * k]), lambda k: box([.04 * k, .015 * k, .015 * k])), across
    yield "bars, across", pair(lambda k: box([.15 * k, .015 * k, .015 * k]), lambda k: box([.12 * k, .012 * k, .012 * k])), across
    yield "plates, across", pair(lambda k: box([.1 * k, .08 * k, .005 * k]), lambda k: box([.07 * k, .09 * k, .006 * k])), blades
    yield "sphere and box", pair(lambda k: box(h1 * k), lambda k: sphere(.015 * k)), anywhere
    yield "capsule and box", pair(lambda k: box(h1 * k), lambda k: capsule(.012 * k, .03 * k)), anywhere
    yield "cylinder and box", pair(lambda k: box(h1 * k), lambda k: cylinder(.025 * k, .02 * k)), anywhere
    yield "two cylinders", pair(lambda k: cylinder(.03 * k, .025 * k, .002 * k), lambda k: cylinder(.02 * k, .035 * k, .002 * k)), anywhere
    yield "mesh and box", pair(lambda k: box(h1 * k), lambda k: lump(.03 * k)), anywhere
    yield "two meshes", pair(lambda k: lump(.04 * k), lambda k: lump(.03 * k)), anywhere


def draw(A, B, where, count, rng):
    """Turns, places and exact signed distances of count states."""
    out = []
    while len(out) < count:
        R, start, way = where(A, B, rng)
        exact = Difference(A, B, R)
        want = rng.uniform(0, 3e-3) if rng.random() < .1 else -10 ** rng.uniform(-4, -2)
        t = exact.place(start, way, want)
        if t is not None:
            out.append((R, t, exact.signed(t)))
    return [np.array(z) for z in zip(*out)]


# ---- contacts ----
def smoothing(A, B, cones):
    """What a scene's pair would have: lengths of the penetration, an inset no less than the bodies' rounding."""
    curved = any("arc" in b["shape"] for b in (A, B))
    more = dict(cone_inner=15., cone_outer=35., cone_hold=2.) if cones else {}
    return rr.Smoothing(length=.03, penetration=PEN, neighbour=PEN, sort=PEN, distance=1e-11, union=PEN / 2, plane=PEN / 2, inset=PEN,
                        part=2 * PEN, gain=PEN / 2, samples=8 if curved else 1, **more)


compiled = {}


def by_reference(A, B, sm, R, t):
    """d and activity. Numbers are arguments, so that bodies of one form are compiled once."""
    leaves, tree = jax.tree.flatten((A["shape"], B["shape"]))
    number = [not isinstance(z, (str, bool)) and np.asarray(z).dtype.kind == "f" for z in leaves]
    fixed = [None if k else z for z, k in zip(leaves, number)]
    key = (sm, tree, tuple(np.shape(z) if k else np.asarray(z).tobytes() for z, k in zip(leaves, number)))
    if key not in compiled or rr.has_cones(sm):          # with cones, which vertices are flat is no number
        def f(numbers, R, t):
            if rr.has_cones(sm):
                a, b = A["shape"], B["shape"]
            else:
                numbers = iter(numbers)
                a, b = jax.tree.unflatten(tree, [next(numbers) if k else z for z, k in zip(fixed, number)])
            c = rr.manifold((jnp.eye(3), jnp.zeros(3)), (R, t), a, b, sm)
            return c["d"], c["activity"]
        compiled[key] = jax.jit(jax.vmap(f, (None, 0, 0)))
    return [np.asarray(z) for z in compiled[key]([jnp.asarray(z) for z, k in zip(leaves, number) if k], R, t)]


def by_library(A, B, sm, R, t):
    import abut
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        files.write_body(folder, "a", A)
        files.write_body(folder, "b", B)
        file = dict(asdict(sm), edges=[0, 0], vertices=[0, 0], edge_contacts="field")
        (folder / "smoothing.json").write_text(json.dumps({k: v for k, v in file.items() if rr.has_cones(sm) or not k.startswith("cone_")}))
        pair = abut.Pair(abut.load(folder / "a.body.json"), abut.load(folder / "b.body.json"), abut.load_smoothing(folder / "smoothing.json"))
        quaternions = np.roll(Rotation.from_matrix(R).as_quat(), 1, axis=1)
        c = abut.contacts(pair, np.r_[np.zeros(3), 1, np.zeros(3)], np.c_[t, quaternions])
        return np.array(c.d, float), np.array(c.activity, float)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=100, help="states of each kind")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--cones", action="store_true", help="with normal cones of 15, 35 and 2 degrees")
    parser.add_argument("--library", action="store_true", help="abut's Python package in place of the reference")
    parser.add_argument("--coal", action="store_true", help="compare the exact depths with coal's")
    parser.add_argument("--kind", help="only kinds whose name holds this text")
    options = parser.parse_args()
    totals = np.zeros(4, int)
    print(f"{'kind':18} {'states':>6} {'too deep':>8} {'missed':>6} {'of':>5} {'apart':>5} {'active':>6}   "
          "share of the depth, 5, 50, 95 %; worst excess mm")
    for number, (name, pairs, where) in enumerate(kinds()):
        if options.kind and options.kind not in name:
            continue
        rng = np.random.default_rng([options.seed, number])
        truth, found, active = [], [], []
        for k, (A, B) in enumerate(pairs):
            count = options.count // len(pairs) + (k < options.count % len(pairs))
            R, t, exact = draw(A, B, where, count, rng)
            if options.coal:
                if "coal" in A and "coal" in B:
                    off = np.sort(1e3 * np.abs(by_coal(A, B, R, t) - exact))
                    print(f"{name:18} {count} states: off by {off[len(off) // 2]:.1e} mm at the median, {off[-1]:.1e} at most", flush=True)
                continue
            d, a = (by_library if options.library else by_reference)(A, B, smoothing(A, B, options.cones), R, t)
            on = a > ACTIVE
            truth.append(np.maximum(-exact, 0.))
            found.append(np.where(on, -d, 0.).max(1))
            active.append(on.sum(1))
        if options.coal:
            continue
        truth, found, active = (np.concatenate(z) for z in (truth, found, active))
        deep, there = found > 1.2 * truth + 3e-4, truth >= 5e-4
        missed = there & (found < .5 * truth)
        share = np.quantile(found[there] / truth[there], [.05, .5, .95])
        totals += [len(truth), deep.sum(), missed.sum(), there.sum()]
        print(f"{name:18} {len(truth):6} {deep.sum():8} {missed.sum():6} {there.sum():5} {(truth == 0).sum():5} {active[truth > 0].mean():6.1f}   "
              f"{' '.join('%.2f' % z for z in share)}; {1e3 * (found - truth).max():.2f}", flush=True)
    print(f"{'all':18} {totals[0]:6} {totals[1]:8} {totals[2]:6} {totals[3]:5}")


if __name__ == "__main__":
    main()
