#!/usr/bin/env python3
"""Write golden answers of round features, edges in fields and normal cones: tools/make_round_golden.py [CASE...] [--out tests/golden-round]

tests/golden-round/README.md names the files. A seed sets the poses, the cotangents and the size of every body (0.7 to 1.4 of the
plain one). Answers are those of bench/peers/round_reference.py in float64, computed of the files as they were written, and never
abut's own. Each case is checked as it is written: all is finite, derivatives meet differences, swapped bodies have the same
contacts. `--check` computes the named cases, or all that are there, again and compares. `--second` writes the second derivatives
of a case beside it. `--masks` looks again for slots whose derivatives jump at the poses of a case, and leaves these out.
Needs jax, numpy and scipy (PyPI).
"""
import argparse
import json
import pathlib
import sys
import time
from dataclasses import asdict, fields, replace

import numpy as np
from scipy.spatial import ConvexHull
from scipy.spatial.transform import Rotation

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "bench/peers"))
import round_reference as rr  # noqa: E402
from round_reference import jax, jnp, mr  # noqa: E402

NAMES = ("p", "d", "n", "activity")
BOX_FACES = rr.BOX_FACES


# ---- poses ----
def hat(w): return np.array([[0., -w[2], w[1]], [w[2], 0., -w[0]], [-w[1], w[0], 0.]])


def log_se3(R, t):
    """Twist of section 3 whose exponential is (R, t)."""
    w = Rotation.from_matrix(R).as_rotvec()
    a2 = w @ w
    a, W = np.sqrt(a2), hat(w)
    b, c = (.5 - a2 / 24, 1 / 6 - a2 / 120) if a2 < 1e-8 else ((1 - np.cos(a)) / a2, (a - np.sin(a)) / (a2 * a))
    return np.r_[np.linalg.solve(np.eye(3) + b * W + c * (W @ W), t), w]


def turn(*w): return Rotation.from_rotvec(w).as_matrix()


# ---- bodies: dict of the shape (for the oracle), V and F of the mesh, and the parts that the file states ----
def hull(P):
    """Returns outward triangles of the convex hull of P."""
    P, h = np.asarray(P), ConvexHull(P)
    out = lambda s, e: np.cross(P[s[1]] - P[s[0]], P[s[2]] - P[s[0]]) @ e[:3] > 0
    return [[int(i) for i in (s if out(s, e) else s[::-1])] for s, e in zip(h.simplices, h.equations)]


def body(shape, V, F=None, features=True, cones=False):
    return dict(shape=shape, V=np.asarray(V, float), F=hull(V) if F is None else F, features=features, cones=cones)


def ball(r, rings=5, around=8):
    a = [(np.sin(t) * np.cos(p), np.sin(t) * np.sin(p), np.cos(t)) for t in np.linspace(0, np.pi, rings + 2)[1:-1]
         for p in 2 * np.pi * np.arange(around) / around]
    return r * np.array([(0, 0, -1), (0, 0, 1)] + a)


def sphere(r): return body(rr.sphere(r), ball(r))


def capsule(r, h):
    b = ball(r)
    return body(rr.capsule(r, h), np.concatenate([b[b[:, 2] * s >= -1e-12] + [0, 0, s * h] for s in (-1, 1)]))


def box(h, round=0., **stated): return body(rr.box(h, round), rr.corners(np.asarray(h, float)), BOX_FACES, **stated)


def cylinder(R, h, round=0., n=16, **stated):
    a = 2 * np.pi * np.arange(n) / n
    ring = lambda z: np.c_[R * np.cos(a), R * np.sin(a), np.full(n, z)]
    sides = [[i, (i + 1) % n, n + (i + 1) % n, n + i] for i in range(n)]
    return body(rr.cylinder(R, h, round), np.r_[ring(-h), ring(h)], sides + [list(range(n))[::-1], list(range(n, 2 * n))], **stated)


def plate(a, h, n):
    """A closed plate, half lengths a, a, h, with n x n squares on top, whose field is a box core: its inner vertices are flat."""
    g = np.linspace(-a, a, n + 1)
    top = np.array([(x, y, h) for y in g for x in g])
    V = np.r_[top, [(-a, -a, -h), (a, -a, -h), (-a, a, -h), (a, a, -h)]]
    at, low = lambda i, j: j * (n + 1) + i, len(top)
    F = [[at(i, j), at(i + 1, j), at(i + 1, j + 1), at(i, j + 1)] for j in range(n) for i in range(n)]
    line = range(n, -1, -1)
    F += [[low, low + 1] + [at(i, 0) for i in line], [low + 3, low + 2] + [at(n - i, n) for i in line],
          [low + 2, low] + [at(0, n - i) for i in line], [low + 1, low + 3] + [at(n, i) for i in line], [low, low + 2, low + 3, low + 1]]
    E, rho = rr.sharp_edges(V, F), .02 * h
    s = rr.features(V, 0, E, 0, [rr.core("box", np.array([a, a, h]) - rho, rho)])
    return body(dict(s, cones=rr.mesh_cones(V, F, E)), V, F, features=False)


def frame(a, b, h, rho):
    """Four bars around a square hole: half lengths a outside, b inside, h along z."""
    m, w = (a + b) / 2, (a - b) / 2
    bars = [((a, w, h), (0, m, 0)), ((a, w, h), (0, -m, 0)), ((w, b, h), (m, 0, 0)), ((w, b, h), (-m, 0, 0))]
    cores = [rr.core("box", np.array(c) - rho, rho, R=jnp.eye(3), t=jnp.array(t, float)) for c, t in bars]
    square = lambda r, z: [(-r, -r, z), (r, -r, z), (r, r, z), (-r, r, z)]
    V = np.array(square(a, -h) + square(a, h) + square(b, -h) + square(b, h), float)
    ring = lambda k: [[k + i, k + (i + 1) % 4] for i in range(4)]
    # The four inner corners are concave and left out.
    E = sorted(sorted(e) for e in ring(0) + ring(4) + ring(8) + ring(12) + [[i, i + 4] for i in range(4)])
    F = [[i, (i + 1) % 4, 4 + (i + 1) % 4, 4 + i] for i in range(4)]
    F += [[8 + i, 12 + i, 12 + (i + 1) % 4, 8 + (i + 1) % 4] for i in range(4)]
    F += [[4 + i, 4 + (i + 1) % 4, 12 + (i + 1) % 4, 12 + i] for i in range(4)]
    F += [[i, 8 + i, 8 + (i + 1) % 4, (i + 1) % 4] for i in range(4)]
    return body(rr.features(V, 0, E, 0, cores), V, F)


def bracket(k):
    """A plate and an upright with a bore through the plate; its inner corner is concave. k: scale."""
    rho = .0006 * k
    q = turn(0, .1, 0)  # the bore is slightly tilted
    q = Rotation.from_quat(Rotation.from_matrix(q).as_quat()).as_matrix()
    box = lambda h, t: rr.core("box", np.array(h) * k - rho, rho, R=jnp.eye(3), t=jnp.array(t) * k)
    bore = rr.core("disc", np.array([.012, .03]) * k - rho, rho, R=jnp.asarray(q), t=jnp.array([.02, 0, 0]) * k, sign=-1.)
    cores = [box([.05, .03, .01], [0., 0, 0]), box([.01, .03, .04], [-.04, 0, .03]), bore]
    L = np.array([(-.05, -.01), (.05, -.01), (.05, .01), (-.03, .01), (-.03, .07), (-.05, .07)]) * k
    prism = np.array([(x, y, z) for y in (-.03 * k, .03 * k) for x, z in L])
    a = 2 * np.pi * np.arange(8) / 8
    rim = np.c_[.012 * k * np.cos(a), .012 * k * np.sin(a), 0 * a] @ q.T + np.array([.02, 0, 0]) * k
    rim = rim + np.outer((.01 * k - rim[:, 2]) / q[2, 2], q[:, 2])  # along the bore, to the upper face
    E = [(s + i, s + (i + 1) % 6) for s in (0, 6) for i in range(6)] + [(i, i + 6) for i in range(6) if i != 3]
    E += [(12 + i, 12 + (i + 1) % 8) for i in range(8)]
    E = sorted(tuple(sorted(e)) for e in E)
    F = [list(range(6)), list(range(6, 12))[::-1]] + [[(i + 1) % 6, i, 6 + i, 6 + (i + 1) % 6] for i in range(6)]
    return body(dict(rr.features(np.r_[prism, rim], 0, E, 0, cores), subtract=True), prism, F)


def lump(h, r=0.):
    """26 vertices of a 3 x 3 x 3 lattice drawn half way to an ellipsoid, in the planes of its hull; edges of more than 20 degrees.
    r: radius of vertices and edges, by which the planes are moved outwards; the file then states cones."""
    g = np.array([(x, y, z) for x in (-1, 0, 1) for y in (-1, 0, 1) for z in (-1, 0, 1) if (x, y, z) != (0, 0, 0)], float)
    size = np.linalg.norm(g, axis=1, keepdims=True)
    V = (.5 * g / size ** 1.3 + .5 * g / size) * np.array(h)
    V = V * (1 + .02 * np.random.default_rng(4).normal(size=(26, 1)))  # no two are alike, so that scores do not tie
    F = hull(V)
    n = np.array([np.cross(V[f[1]] - V[f[0]], V[f[2]] - V[f[0]]) for f in F])
    n /= np.linalg.norm(n, axis=1, keepdims=True)
    assert len({i for f in F for i in f}) == 26
    E = rr.sharp_edges(V, F)
    planes = dict(n=jnp.asarray(n), p=jnp.asarray(V[[f[0] for f in F]] + r * n), sign=1.)
    s = dict(rr.features(V, r, E, r, []), cp=[planes], cones=rr.mesh_cones(V, F, E))
    return body(s, V, F, cones=r > 0)


# ---- files ----
def write_body(folder, name, B):
    s, L = B["shape"], lambda x: np.asarray(x, float).tolist()
    lines = ["v %.17g %.17g %.17g\n" % tuple(v) for v in B["V"]] + ["f " + " ".join(str(i + 1) for i in f) + "\n" for f in B["F"]]
    (folder / f"{name}.obj").write_text("".join(lines))
    out = {"name": name, "mesh": f"{name}.obj"}
    op = lambda c: "add" if c.get("sign", 1.) > 0 else "subtract"
    if s.get("cp"):
        out["polyhedra"] = [{"planes": np.hstack([c["n"], c["p"]]).tolist(), "operation": op(c)} for c in s["cp"]]
    if s.get("cores"):
        quat = lambda c: L(np.roll(Rotation.from_matrix(np.asarray(c.get("R", np.eye(3)))).as_quat(), 1))
        out["cores"] = [{c["kind"]: L(c["core"]), "radius": float(c["radius"]), "position": L(c.get("t", np.zeros(3))),
                         "quaternion": quat(c), "operation": op(c)} for c in s["cores"]]
    V, E, re = np.asarray(s["V"]), s["E"], s["re"]
    if B["features"]:
        psi = np.asarray(s["arc"]["psi"]) if "arc" in s else np.zeros(len(E))
        out["features"] = {"vertices": [[*v, float(r)] for v, r in zip(L(V), s["r"])],
                           "edges": [[int(i), int(j), float(r)] for (i, j), r, a in zip(E, re, psi) if not a]}
        if psi.any():
            assert not (np.diff(psi > 0) < 0).any(), "edges come before arcs"
            arc = {k: np.asarray(v) for k, v in s["arc"].items()}
            centre = V[E[:, 0]] - arc["R"][:, None] * arc["e1"]
            axis = np.cross(arc["e1"], arc["e2"])
            out["features"]["arcs"] = [[int(i), int(j), float(r), *c, *a] for (i, j), r, c, a, p in zip(E, re, L(centre), L(axis), psi) if p]
    else:
        out["sharp"] = 20
    if B["cones"]:
        c = {k: np.asarray(v) for k, v in s["cones"].items()}
        out["cones"] = {"vertices": [[*a, float(h)] for a, h in zip(L(c["axis"]), np.degrees(c["half"]))],
                        "edges": [[int(i), int(j), *a, float(h)] for (i, j), a, h in zip(E, L(c["eaxis"]), np.degrees(c["ehalf"]))]}
    (folder / f"{name}.body.json").write_text(json.dumps(out))


def read_body(folder, name):
    """Returns the shape in a file, for the oracle."""
    file = json.loads((folder / f"{name}.body.json").read_text())
    V, F = [], []
    for line in (folder / file["mesh"]).read_text().splitlines():
        w = line.split()
        if w[0] == "v":
            V.append([float(x) for x in w[1:4]])
        else:
            F.append([int(x) - 1 for x in w[1:]])
    sign = lambda q: -1. if q.get("operation") == "subtract" else 1.
    cp = [dict(n=jnp.array(q["planes"])[:, :3], p=jnp.array(q["planes"])[:, 3:], sign=sign(q)) for q in file.get("polyhedra", [])]
    place = lambda q: dict(R=jnp.asarray(Rotation.from_quat(np.roll(q["quaternion"], -1)).as_matrix()), t=jnp.array(q["position"]))
    cores = []
    for q in file.get("cores", []):
        kind = "box" if "box" in q else "disc"
        cores.append(rr.core(kind, q[kind], q["radius"], sign=sign(q), **place(q)))
    if "features" in file:
        f = file["features"]
        v, arcs = np.array(f["vertices"], float).reshape(-1, 4), np.array(f.get("arcs", []), float).reshape(-1, 9)
        e = np.array([x + [0.] * 6 for x in f["edges"]] + arcs.tolist()).reshape(-1, 9)
        E, V3 = e[:, :2].astype(int), v[:, :3]
        s = dict(V=jnp.asarray(V3), r=jnp.asarray(v[:, 3]), E=E, re=jnp.asarray(e[:, 2]))
        if len(arcs):
            s["arc"] = rr.arcs(V3, E, e[:, 3:6], e[:, 6:])
    else:
        s = rr.features(V, 0, rr.sharp_edges(V, F, file.get("sharp", 20)), 0, [])
    c = file.get("cones")
    if c:
        a, b = np.array(c["vertices"]).reshape(-1, 4), np.array(c["edges"]).reshape(-1, 6)
        assert np.array_equal(b[:, :2], s["E"])
        s["cones"] = {k: jnp.asarray(z) for k, z in dict(axis=a[:, :3], half=np.radians(a[:, 3]), eaxis=b[:, 2:5], ehalf=np.radians(b[:, 5])).items()}
    elif c is None and "features" not in file:
        s["cones"] = rr.mesh_cones(V, F, s["E"])
    return dict(s, cp=cp, cores=cores, subtract=any(z["sign"] < 0 for z in cp + cores))


def read_case(folder):
    file = json.loads((folder / "smoothing.json").read_text())
    known = {f.name for f in fields(rr.Smoothing)}
    return read_body(folder, "a"), read_body(folder, "b"), rr.Smoothing(**{k: v for k, v in file.items() if k in known}), file["edges"]


# ---- placing the second body ----
def place(f, turns, start, way, want, far):
    """Places the second body at turns, start + l way, such that the least d over all slots is `want` (the outermost from `far` inward)."""
    g = jax.jit(jax.vmap(lambda R, t: jnp.min(f((jnp.eye(3), jnp.zeros(3)), (R, t))["d"])))
    at = lambda l: np.asarray(g(turns, start + l[:, None] * way)) - want
    grid = np.linspace(0, 1, 41)
    values = np.stack([at(far * s) for s in grid])               # (41, N)
    hi, lo = np.zeros(len(want)), np.zeros(len(want))
    for i in range(len(want)):
        other = np.nonzero(np.sign(values[:, i]) != np.sign(values[-1, i]))[0]
        j = min(other[-1], 39) if len(other) else 39
        lo[i], hi[i] = far[i] * grid[j], far[i] * grid[j + 1]
    top = np.sign(at(hi))
    for _ in range(36):
        m = .5 * (lo + hi)
        same = np.sign(at(m)) == top
        hi, lo = np.where(same, m, hi), np.where(same, lo, m)
    return start + hi[:, None] * way


def around(size, pen, exact=True, keep=range(16), up=False):
    """16 poses around a convex body, of which `keep` are taken: far, apart, at touch, 1 and 10 penetrations deep, each flush, nearly
    flush and turned at random. up: the flush ones all along z."""
    def relative(f, rng):
        want = np.array([3, 0, -1, -10, 0, -1, -10, -1, 3, 0, -1, -10, 0, -1, -10, 40]) * pen
        n = len(want)
        R, way = np.zeros((n, 3, 3)), np.zeros((n, 3))
        axis = np.eye(3)[[2] * 8 if up else [2, 2, 2, 2, 0, 0, 1, 1]] * np.array([1] * 8 if up else [1, 1, 1, 1, 1, -1, 1, -1])[:, None]
        for i in range(n):
            quarter = turn(*(np.pi / 2 * rng.integers(0, 4) * np.eye(3)[rng.integers(0, 3)]))
            if i < 8:
                R[i] = (quarter if i % 2 else np.eye(3)) @ turn(*(np.zeros(3) if exact and i in (1, 2, 3) else rng.normal(size=3) * .006))
                if i == 7:
                    R[i] = turn(np.pi / 4 + .002, 0, 0) @ R[i]           # an edge on a face
                way[i] = axis[i]
            else:
                R[i] = Rotation.random(random_state=int(rng.integers(1 << 30))).as_matrix()
                v = rng.normal(size=3)
                if up:
                    v[2] = 1 + abs(v[2])
                way[i] = v / np.linalg.norm(v)
        start = rng.normal(size=(n, 3)) * .2 * size
        start -= (start * way).sum(1, keepdims=True) * way
        k = list(keep)
        return R[k], place(f, R[k], start[k], way[k], want[k], np.full(len(k), 4. * size))
    return relative


def rolling(size, pen):
    """A box against the first body, a cylinder: rims and sides, from touching to 10 deep, flat caps, rims from above and below."""
    def relative(f, rng):
        want = np.array([0, -1, -10, 3, -1, -10, -1, -3, -1, -10, -3, -1]) * pen
        n = len(want)
        R, way = np.zeros((n, 3, 3)), np.zeros((n, 3))
        for i in range(n):
            phi = rng.uniform(-np.pi, np.pi)
            tip = (0., 0., 0., np.pi / 2, np.pi / 2, np.pi / 2, .8, .8, 2.2, .6, 1.2, .9)[i]
            # The angle between the box's upper face and its direction, with a random spin about the face's normal.
            R[i] = turn(0, 0, phi) @ turn(0, tip, 0) @ turn(*((np.zeros(3) if i < 2 else rng.normal(size=3) * .02))) @ turn(0, 0, rng.uniform(-3, 3))
            if i > 8:
                R[i] = Rotation.random(random_state=int(rng.integers(1 << 30))).as_matrix()
            way[i] = turn(0, 0, phi) @ turn(0, tip, 0) @ [0, 0, 1]
        start = rng.normal(size=(n, 3)) * .15 * size
        start -= (start * way).sum(1, keepdims=True) * way
        return R, place(f, R, start, way, want, np.full(n, 4. * size))
    return relative


def fitting(size, pen, clear):
    """A peg in a hole along z: pushed sideways against a wall by 3 apart to 10 deep, leaning, half way in, and on the frame's face."""
    def relative(f, rng):
        want = np.array([0, -1, -10, -1, -10, -3, 0, -1, -10, -1]) * pen
        n = len(want)
        R, way, start = np.zeros((n, 3, 3)), np.zeros((n, 3)), np.zeros((n, 3))
        for i in range(n):
            if i < 6:
                R[i] = turn(*(rng.normal(size=3) * (.004 if i < 3 else .02)))
                v = np.r_[rng.normal(size=2), 0] if i % 3 else np.eye(3)[rng.integers(0, 2)]
                way[i] = v / np.linalg.norm(v)
                start[i] = np.r_[rng.normal(size=2) * .05 * clear, rng.uniform(-.4, .4) * size]
            elif i < 9:  # beside the hole, on the frame
                R[i] = turn(*(rng.normal(size=3) * .02))
                way[i], start[i] = [0, 0, 1], [*(rng.normal(size=2) * .4 * size), 0]
            else:
                R[i] = Rotation.random(random_state=int(rng.integers(1 << 30))).as_matrix()
                v = rng.normal(size=3)
                way[i] = v / np.linalg.norm(v)
                start[i] = rng.normal(size=3) * .02 * size
        return R, place(f, R, start, way, want, np.where(np.arange(n) < 6, .35 * size, 5 * size))
    return relative


# ---- a case ----
def each(f): return jax.jit(jax.vmap(f))


def numbers(out): return {k: np.asarray(v) for k, v in out.items()}


class Case:
    """The answers for the files of a folder."""
    def __init__(self, folder):
        self.folder = folder
        self.a, self.b, self.sm, self.K = read_case(folder)
        self.f = lambda x, y: rr.manifold(x, y, self.a, self.b, self.sm, *self.K)
        self.values = each(self.f)
        self.vertices = len(rr.slots(self.a, self.sm)) + len(rr.slots(self.b, self.sm))

    def along(self, s1, s2, tan):
        if not hasattr(self, "pushed"):
            self.pushed = each(lambda x, y: jax.jvp(self.f, (x, y), (jnp.asarray(tan[0]), jnp.asarray(tan[1])))[1])
        return numbers(self.pushed(s1, s2))

    def steady(self, s1, s2, tan, jvp):
        """Returns slots whose derivatives do not jump (N, C). A jump is equally large in second differences over any length."""
        keep = np.ones(jvp["d"].shape, bool)
        for h in np.random.default_rng(2).normal(size=(3, 2, *s1.shape)) * 1e-8:
            one, two = self.along(s1 + h[0], s2 + h[1], tan), self.along(s1 - h[0], s2 - h[1], tan)
            for k in NAMES:
                off = np.abs(one[k] + two[k] - 2 * jvp[k]) > 1e-6 * np.abs(jvp[k]).max()
                keep &= ~(off.any(-1) if off.ndim == 3 else off)
        return keep

    def total(self, x, y, c):
        out = self.f(x, y)
        return sum(jnp.sum(out[k] * c[k]) for k in NAMES)

    def answers(self, s1, s2, bar, tan, G):
        """Values, sums and derivatives; G: the compiled gradient of the sum of outputs times cotangents."""
        r = numbers(self.values(s1, s2))
        n, C = r["d"].shape
        more = numbers(each(lambda x, y: rr.manifold(x, y, self.a, self.b, self.sm, *self.K, behind=True))(s1, s2))
        by_d = {k: np.full((n, C), 1 / C) if k == "d" else np.zeros_like(r[k]) for k in NAMES}
        vjp, mean = ([np.asarray(z) for z in G(s1, s2, c)] for c in (bar, by_d))
        dv = -r["d"][:, :self.vertices] / self.sm.penetration
        top = dv.max(1, keepdims=True)
        return dict(**r, mean_g1=mean[0], mean_g2=mean[1], vjp_g1=vjp[0], vjp_g2=vjp[1], tangent=tan,
                    **{"jvp_" + k: v for k, v in self.along(s1, s2, tan).items()},
                    energy=(r["activity"] * np.maximum(-r["d"], 0.) ** 2).sum(1), activity_sum=r["activity"].sum(1),
                    minimum_distance=r["d"][:, :self.vertices].min(1),
                    soft_minimum=-self.sm.penetration * (np.log(np.exp(dv - top).sum(1)) + top[:, 0]),
                    weight=more["weight"], edge_t=more["edge_t"], edge_length=more["edge_length"],
                    flat=(more["edge_length"] > 0) & (more["flatness"] < 2), element=more["element"].astype(np.int32)), by_d


def write_case(out, name, A, B, sm, K, relative, seed):
    """Writes a case. relative: function of the contacts' function and a generator: turns, places (N) of body 2 in body 1's frame."""
    began = time.time()
    folder = out / name
    folder.mkdir(parents=True, exist_ok=True)
    for key, one in (("a", A), ("b", B)):
        write_body(folder, key, one)
        again = read_body(folder, key)
        same = lambda x, y: jax.tree.all(jax.tree.map(lambda u, v: np.allclose(u, v, atol=1e-13), x, y))
        assert all(same(one["shape"][k], again[k]) for k in ("V", "r", "E", "re", "arc") if k in one["shape"]), name
        assert not rr.has_cones(sm) or same(one["shape"]["cones"], again["cones"]), name
    file = dict(asdict(sm), edges=list(K), vertices=[0, 0], edge_contacts="field")
    if not rr.has_cones(sm):
        file = {k: v for k, v in file.items() if not k.startswith("cone_")}
    (folder / "smoothing.json").write_text(json.dumps(file, indent=1))
    case = Case(folder)
    rng = np.random.default_rng([seed, sum(map(ord, name))])
    R, t = relative(case.f, rng)
    n = len(R)
    w = rng.normal(size=(n, 6)) * np.r_[[.05] * 3, [.5] * 3]
    w[0] = 0
    R1, t1 = (np.asarray(z) for z in jax.vmap(mr.exp_se3)(w))
    s1, s2 = w, np.stack([log_se3(P @ Q, P @ x + y) for P, Q, x, y in zip(R1, R, t, t1)])
    tan = rng.normal(size=(2, 6))
    r, jvp = numbers(case.values(s1, s2)), case.along(s1, s2, tan)
    C = r["d"].shape[1]
    # Where derivatives jump (for example, an edge's point just at its end), those of poses at a tiny distance differ.
    smooth, jump = case.steady(s1, s2, tan, jvp), 0.
    hairs = rng.normal(size=(3, 2, n, 6)) * 1e-7
    for h in np.concatenate([hairs, -hairs]):  # both directions, because a pose may be exactly at the jump
        near, value = case.along(s1 + h[0], s2 + h[1], tan), case.values(s1 + h[0], s2 + h[1])
        for k in NAMES:
            off = np.abs(near[k] - jvp[k]) > 1e-3 * np.abs(jvp[k]).max()
            smooth &= ~(off.any(-1) if off.ndim == 3 else off)
            jump = max(jump, np.abs(np.asarray(value[k]) - r[k]).max() / np.abs(r[k]).max())
    bar = {k: rng.normal(size=v.shape[1:]) / C for k, v in r.items()}
    bar = {k: np.where(smooth if v.ndim == 1 else smooth[..., None], v, 0.) for k, v in bar.items()}
    G = each(jax.grad(case.total, argnums=(0, 1)))
    found, by_d = case.answers(s1, s2, bar, tan, G)
    mean = [found["mean_g1"], found["mean_g2"]]
    h = rng.normal(size=(2, n, 6)) * 1e-7
    steady = np.stack([np.abs(np.asarray(z) - y).max(-1) for z, y in zip(G(s1 + h[0], s2 + h[1], by_d), mean)]).max(0)
    # The mean is over all slots, so it jumps if one of them jumps.
    steady = (steady < 1e-3 * max(np.abs(z).max() for z in mean)) & smooth.all(1)
    found |= dict(smooth=smooth, mean_smooth=steady, vertex_slots=case.vertices)
    # Checks.
    for k, z in found.items():
        assert np.isfinite(z).all(), (name, k)
    value, worst = each(case.total), 0.
    for i in rng.choice(n, 3, replace=False):
        e = 1e-7 * np.concatenate([np.eye(12), -np.eye(12)])
        u = np.asarray(value(s1[i] + e[:, :6], s2[i] + e[:, 6:], {k: np.repeat(v[i:i + 1], 24, 0) for k, v in bar.items()}))
        fd = (u[:12] - u[12:]) / 2e-7
        worst = max(worst, np.abs(np.r_[found["vjp_g1"][i], found["vjp_g2"][i]] - fd).max() / np.abs(fd).max())
    # Swapped bodies: the same slots with groups in another order.
    o = numbers(each(lambda x, y: rr.manifold(y, x, case.b, case.a, sm, K[1], K[0]))(s1, s2))
    kept = lambda s, k: 2 * (min(k, len(s["E"])) if k else len(s["E"]))
    va, V, ea, eb = len(rr.slots(case.a, sm)), case.vertices, kept(case.a, K[0]), kept(case.b, K[1])
    order = np.r_[V - va:V, 0:V - va, V + eb:V + eb + ea, V:V + eb]
    swapped = max(np.abs(o[k][:, order] - r[k]).max() for k in NAMES)
    assert swapped < 1e-9, (name, swapped)
    np.savez_compressed(folder / "poses.npz", s1=s1, s2=s2)
    np.savez_compressed(folder / "cotangents.npz", **{k + "_bar": v for k, v in bar.items()})
    np.savez_compressed(folder / "expected.npz", **found)
    active, listed = r["activity"] > .1, lambda z: np.nonzero(z)[0].tolist()
    print(f"{name}: {n} poses, {C} slots, active {active.sum(1).mean():.1f} ({active[:, V:].sum(1).mean():.1f} of edges), least d by pose mm "
          f"{' '.join('%.2f' % (1e3 * z) for z in r['d'].min(1))}; VJP against differences {worst:.1e}, swapped {swapped:.0e}, "
          f"not smooth {(~smooth).sum()} slots of {smooth.size} in poses {listed((~smooth).any(1))}, mean not smooth {listed(~steady)}, "
          f"change by 1e-7 {jump:.1e}, flat {found['flat'].sum()} slots, {sum(p.stat().st_size for p in folder.iterdir()) / 1e3:.0f} kB, "
          f"{time.time() - began:.0f} s", flush=True)


def write_second(folder):
    """Writes hessians.npz: gradients of energy and of the mean of d, and their derivatives along the case's tangent, for both poses."""
    began, case = time.time(), Case(folder)
    with np.load(folder / "poses.npz") as file:
        s = np.c_[file["s1"], file["s2"]]
    with np.load(folder / "expected.npz") as file:
        tan, first = file["tangent"].reshape(12), file["smooth"].all(1)
    f = lambda z: rr.manifold(z[:6], z[6:], case.a, case.b, case.sm, *case.K, second=True)
    out, text = {"tangent": tan.reshape(2, 6)}, []
    for name, value in (("energy", lambda z: rr.energy(f(z))), ("mean", lambda z: f(z)["d"].mean())):
        product = each(lambda z, value=value: jax.jvp(jax.grad(value), (z,), (jnp.asarray(tan),)))
        g, h = (np.asarray(z) for z in product(s))
        slope = each(jax.grad(value))
        # A jump is equally large in second differences over any length. The remainder decreases with the square of the length.
        hairs = 1e-8 * np.concatenate([np.random.default_rng(1).normal(size=(3, *s.shape)), np.broadcast_to(tan, (1, *s.shape))])
        near = [np.abs(np.asarray(product(s + e)[1]) + np.asarray(product(s - e)[1]) - 2 * h).max(1) for e in hairs]
        smooth = (np.max(near, 0) < 1e-6 * np.abs(h).max()) & first
        fd = (np.asarray(slope(s + 1e-7 * tan)) - np.asarray(slope(s - 1e-7 * tan))) / 2e-7
        off = np.abs(h - fd).max(1) / np.abs(h).max()
        assert np.isfinite(h).all() and off[smooth].max() < 1e-4, (folder.name, name, off)
        out |= {f"{name}_g1": g[:, :6], f"{name}_g2": g[:, 6:], f"{name}_h1": h[:, :6], f"{name}_h2": h[:, 6:], f"{name}_h_smooth": smooth}
        text.append(f"{name} against differences {off[smooth].max():.1e}, not smooth {np.nonzero(~smooth)[0].tolist()}")
    np.savez_compressed(folder / "hessians.npz", **out)
    print(f"{folder.name}: second derivatives, {'; '.join(text)}, {time.time() - began:.0f} s", flush=True)


def check(folder):
    """Recomputes a case: the largest difference of each answer, for derivatives only where they are smooth."""
    case = Case(folder)
    load = lambda name: dict(np.load(folder / name))
    s, bar, old = load("poses.npz"), load("cotangents.npz"), load("expected.npz")
    found, _ = case.answers(s["s1"], s["s2"], {k: bar[k + "_bar"] for k in NAMES}, old["tangent"], each(jax.grad(case.total, argnums=(0, 1))))
    worst = {}
    for k, v in found.items():
        o, keep = old[k], np.ones(old[k].shape, bool)
        if k.startswith("jvp"):
            keep &= old["smooth"].reshape(old["smooth"].shape + (1,) * (o.ndim - 2))
        if k.startswith("mean_g"):
            keep &= old["mean_smooth"][:, None]
        worst[k] = np.abs(np.where(keep, v.astype(float) - o, 0.)).max() / (np.abs(o).max() if "jvp" in k or "_g" in k else 1.)
    assert old["vertex_slots"] == case.vertices
    print(folder.name, " ".join(f"{k} {v:.0e}" for k, v in worst.items()), flush=True)
    return max(worst.values()) < 1e-6


def write_masks(folder):
    """Omits slots that jump: recomputes the masks, the cotangents and their products; the rest of the case is unchanged."""
    began, case = time.time(), Case(folder)
    load = lambda name: dict(np.load(folder / name))
    s, bar, old = load("poses.npz"), load("cotangents.npz"), load("expected.npz")
    smooth = old["smooth"] & case.steady(s["s1"], s["s2"], old["tangent"], {k: old["jvp_" + k] for k in NAMES})
    text = f"{(old['smooth'] & ~smooth).sum()} more slots jump, in poses {np.nonzero((old['smooth'] & ~smooth).any(1))[0].tolist()}"
    if (old["smooth"] & ~smooth).any():
        bar = {k: np.where(smooth if v.ndim == 2 else smooth[..., None], v, 0.) for k, v in bar.items()}
        G = each(jax.grad(case.total, argnums=(0, 1)))
        vjp = G(s["s1"], s["s2"], {k: bar[k + "_bar"] for k in NAMES})
        old |= dict(vjp_g1=np.asarray(vjp[0]), vjp_g2=np.asarray(vjp[1]), smooth=smooth)
        np.savez_compressed(folder / "cotangents.npz", **bar)
    old["mean_smooth"] = old["mean_smooth"] & smooth.all(1)
    np.savez_compressed(folder / "expected.npz", **old)
    print(f"{folder.name}: {text}, mean jumps at {np.nonzero(~old['mean_smooth'])[0].tolist()}, {time.time() - began:.0f} s", flush=True)
    return True


def cases(seed):
    rng = np.random.default_rng([seed, 5])
    k = lambda: float(rng.uniform(.7, 1.4))
    K = [k() for _ in range(24)]
    pen = 1e-3
    base = rr.Smoothing(length=.03, penetration=pen, neighbour=pen, sort=pen, distance=1e-11, union=5e-4, plane=5e-4, inset=pen,
                        part=2 * pen, gain=pen / 2)
    cones = dict(cone_inner=15., cone_outer=35., cone_hold=2.)
    h1, h2 = np.array([.05, .03, .02]), np.array([.025, .035, .015])
    yield "box-box", box(h1 * K[0]), box(h2 * K[1]), base, (0, 0), around(.04, pen)
    yield "sphere-box", sphere(.01 * K[2]), box(h1 * K[3]), replace(base, penetration=2 * pen, gain=.8 * pen, part=5 * pen, inset=3 * pen), \
        (0, 0), around(.04, 2 * pen)
    yield "capsule-box", capsule(.008 * K[4], .03 * K[4]), box(h1 * K[5], .003 * K[5]), \
        replace(base, penetration=2 * pen, gain=pen, part=4 * pen, inset=.008 * K[4], floor=1e-3), (0, 0), around(.04, 2 * pen)
    yield "box-round", box(h1 * K[6], .003 * K[6]), box(h2 * K[7], .005 * K[7]), replace(base, inset=5 * pen * K[7], tilt=.08), (0, 0), \
        around(.04, pen)
    yield "capsule-capsule", capsule(.008 * K[8], .03 * K[8]), capsule(.012 * K[9], .02 * K[9]), \
        replace(base, penetration=2 * pen, gain=pen, part=6 * pen, inset=2 * pen, slope=-1.), (0, 0), around(.03, 2 * pen)
    yield "cylinder-box", cylinder(.03 * K[10], .02 * K[10], .002 * K[10]), box(h1 * K[11]), replace(base, inset=2 * pen, samples=8), (0, 0), \
        rolling(.04, pen)
    yield "hole", frame(.05 * K[12], .02 * K[12], .015 * K[12], .0006 * K[12]), box(np.array([.0192, .0185, .03]) * K[12]), \
        replace(base, samples=8), (0, 0), fitting(.04 * K[12], pen, .001 * K[12])
    yield "union-less-third", bracket(K[13]), box(np.array([.02, .012, .025]) * K[14], .0008 * K[14]), \
        replace(base, samples=8, inset=.8 * pen, slope=.1), (0, 0), around(.045, pen, False)
    yield "kept", lump([.04 * K[15], .035 * K[15], .03 * K[15]]), box(h2 * K[16], features=False), base, (6, 6), around(.04, pen, False)
    yield "cones-box-box", box(h1 * K[17], cones=True), box(h2 * K[18], features=False), replace(base, **cones), (0, 0), \
        around(.04, pen, keep=[*range(1, 15)])
    yield "cones-mesh", plate(.06 * K[19], .012 * K[19], 8), box(h2 * K[20], .004 * K[20], cones=True), \
        replace(base, inset=4 * pen * K[20], **cones), (0, 0), around(.05, pen, keep=[2, 3, 5, 7, 10, 11], up=True)
    yield "cones-held", lump([.04 * K[21], .035 * K[21], .03 * K[21]], .0005), box(h2 * K[22], .003 * K[22], cones=True), \
        replace(base, inset=3 * pen * K[22], **cones), (6, 6), around(.04, pen, False, keep=[*range(1, 15)])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("case", nargs="*")
    parser.add_argument("--out", type=pathlib.Path, default=ROOT / "tests/golden-round")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--second", action="store_true")
    parser.add_argument("--masks", action="store_true")
    options = parser.parse_args()
    if options.check or options.second or options.masks:
        names = options.case or sorted(p.parent.name for p in options.out.glob("*/expected.npz"))
        done = [(check if options.check else write_masks if options.masks else write_second)(options.out / name) for name in names]
        sys.exit(options.check and not all(done))
    for name, *rest in cases(options.seed):
        if not options.case or name in options.case:
            write_case(options.out, name, *rest, options.seed)


if __name__ == "__main__":
    main()
