"""Reference for closed-form fields, round features, edges and arcs in fields, and normal cones, in JAX: float64, small, slow.

It extends manifold_reference.py beside it and shares no code with the kernels. The sections "Edges in fields" (10) and "Normal
cones" (11) of docs/dev/spec.md give the formulas; numbers in brackets are theirs. `python bench/peers/round_reference.py` checks
itself; it needs jax, numpy and scipy (PyPI).

A shape is a dict: V (N,3) and r (N) are the contact vertices and their radii, E (M,2) and re (M) the edges. `arc`, where it is
there, holds for every edge R (M), psi (M), e1 (M,3), e2 (M,3) of 10.3; psi = 0 marks a straight edge. `cones` holds axis (N,3),
half (N), eaxis (M,3), ehalf (M) in radians. `cores` are primitives beside those of manifold_reference.
"""
import pathlib
import sys
from dataclasses import dataclass, replace

import jax
jax.config.update("jax_enable_x64", True)
import jax.numpy as jnp  # noqa: E402
import numpy as np  # noqa: E402

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import manifold_reference as mr  # noqa: E402

STEPS = 60                 # bisections: the root to rounding, whatever the bracket
FLAT = np.radians(1.)      # a vertex with a narrower cone has no slot
HELD = np.radians(30.)     # normals are held for narrower cones
WIDE = np.radians(100.)    # a vertex with a wider cone counts everywhere
SLIVER = np.radians(.5)    # a face with a smaller angle at a vertex does not count there


@dataclass(frozen=True)
class Smoothing(mr.Smoothing):
    select: str = "gate"
    tilt: float = 0.05         # slope of the field against which an edge's point is drawn to its end
    gain: float = 0.005        # an edge's point counts where it is so much deeper than the edge's end [m]
    part: float = 0.02         # distance to the far end, and between an edge's two points, below which they count as one [m]
    inset: float = 0.01        # how far a point is moved back from where the pull to its end took it [m]
    slope: float = 0.05        # under the root of an edge's distance over |grad phi|; below 0: d = phi - r
    samples: int = 1           # intervals in which an edge's least field is looked for
    cone_inner: float = 0.0    # a contact counts fully up to so far outside its feature's cone [degrees]
    cone_outer: float = 0.0    # and not at all from here on; 0: no cones [degrees]
    cone_hold: float = 0.0     # a narrow feature's normal is held so near its cone [degrees]


# ---- closed-form fields (10.1) ----
def ramp(v):
    """max(v, 0), rounded on |v| < 1: twice continuously differentiable."""
    return jnp.where(v >= 1, v, jnp.where(v <= -1, 0., (v + 1) ** 3 * (3 - v) / 16))


def beyond(x, c, w):
    """How far x lies beyond [-c, c], with its sign, rounded over w on both sides; x itself where c = 0."""
    return w * (ramp((x - c) / w) - ramp((-x - c) / w))


def grown(delta, inner, radius):
    """Distance of a core grown by `radius`. delta: how far the point lies beyond the core in each direction; inner: the values
    of the core's planes, None where the core is a point, a line or a sheet."""
    e2 = 1e-4 * radius ** 2
    phi = jnp.sqrt(delta @ delta + e2) - jnp.sqrt(radius ** 2 + e2)
    if inner is not None:
        s, w = mr.lse(inner, .25 * radius), .5 * radius
        phi = phi + s - w * ramp(s / w)
    return phi


def box_core(x, core, radius, solid):
    return grown(beyond(x, core, .5 * radius), jnp.concatenate([x - core, -x - core]) if solid else None, radius)


def disc_core(x, core, radius):
    w = .5 * radius
    r = jnp.sqrt(x[0] ** 2 + x[1] ** 2 + 1e-4 * radius ** 2)
    return grown(jnp.stack([w * ramp((r - core[0]) / w), beyond(x[2], core[1], w)]),
                 jnp.stack([r - core[0], x[2] - core[1], -x[2] - core[1]]), radius)


def core_phi(q, x):
    y = q["R"].T @ (x - q["t"]) if "R" in q else x
    return box_core(y, q["core"], q["radius"], q["solid"]) if q["kind"] == "box" else disc_core(y, q["core"], q["radius"])


def primitives(shape, sm, x):
    """Distance, unit normal and sign of every primitive, in the order of section 4 with the cores last."""
    d, g, s = [], [], []

    def take(one, sign):
        d.append(one[0])
        g.append(one[1])
        s.append(sign)
    if "sq" in shape:
        q = shape["sq"]
        a, b = jax.vmap(mr.sq_eval, (None, 0, 0, 0, 0))(x, q["a"], q["eps"], q["R"], q["t"])
        d, g, s = list(a), list(b), list(q["sign"])
    for c in shape.get("cp", []):
        take(mr.cp_eval(x, c["n"], c["p"], sm.plane), c["sign"])
    for c in shape.get("opc", []):
        take(mr.opc_eval(x, c["n"], c["p"], c["width"]), c["sign"])
    for c in shape.get("grid", []):
        take(mr.grid_eval(x, c["coefficients"], c["origin"], c["spacing"], c.get("levels", ())), c["sign"])
    for c in shape.get("height", []):
        take(mr.height_eval(x, c["coefficients"], c["size"], c["base"], sm.plane), c["sign"])
    for c in shape.get("cores", []):
        take(jax.value_and_grad(lambda y, c=c: core_phi(c, y))(x), c.get("sign", 1.))
    normals = jax.vmap(lambda v: mr.unit(v, sm.normal))(jnp.stack(g))
    return jnp.stack(d), normals, jnp.stack([jnp.asarray(v, float) for v in s])


def signed(shape, sm, x):
    """Composed field as in section 4: distance, contact normal."""
    d, g, pol = primitives(shape, sm, x)
    if len(d) == 1:
        return d[0], g[0]
    z = -d / sm.union
    zp = jnp.where(pol > 0, z, -mr.FAR)
    phi, gp = -mr.lse(zp * sm.union, sm.union), jax.nn.softmax(zp) @ g
    if not shape.get("subtract", False):
        return phi, mr.unit(gp, sm.normal)
    zm = jnp.where(pol < 0, z, -mr.FAR)
    pair = jnp.stack([phi, mr.lse(zm * sm.union, sm.union)])
    w = jax.nn.softmax(pair / sm.union)
    return mr.lse(pair, sm.union), mr.unit(w[0] * gp - w[1] * (jax.nn.softmax(zm) @ g), sm.normal)


def gradient(shape, sm, x):
    """Distance and its true gradient, by which an edge's point is found."""
    return jax.value_and_grad(lambda y: signed(shape, sm, y)[0])(x)


# ---- edges and arcs (10.3) ----
# An edge is a dict: near (3), u (3), e1 (3), e2 (3), R, psi. A straight one has psi = 0, an arc does not use u.
def along(edge, t):
    """Point of an edge at the share t of its length. An arc's form keeps all digits where R is large."""
    a = edge["psi"] * t
    bow = edge["R"] * (jnp.sin(a) * edge["e2"] - 2 * jnp.sin(.5 * a) ** 2 * edge["e1"])
    return edge["near"] + jnp.where(edge["psi"] > 0, bow, t * edge["u"])


def speed(edge, t):
    a = edge["psi"] * t
    return jnp.where(edge["psi"] > 0, edge["R"] * edge["psi"] * (jnp.cos(a) * edge["e2"] - jnp.sin(a) * edge["e1"]), edge["u"])


def length(edge, sm):
    return jnp.where(edge["psi"] > 0, edge["R"] * edge["psi"], jnp.sqrt(edge["u"] @ edge["u"] + sm.distance))


def turned(edge, far):
    """The same edge from its other end, which is at `far`."""
    c, s = jnp.cos(edge["psi"]), jnp.sin(edge["psi"])
    return dict(edge, near=far, u=-edge["u"], e1=c * edge["e1"] + s * edge["e2"], e2=s * edge["e1"] - c * edge["e2"])


def straight(P, Q):
    zero = jnp.zeros(3)
    return dict(near=jnp.asarray(P), u=jnp.asarray(Q) - jnp.asarray(P), e1=zero, e2=zero, R=jnp.array(0.), psi=jnp.array(0.))


def least(shape, sm, edge, second=False):
    """Share t in [0, 1] of the edge where phi + tilt L t^2/2 is least, and F''/(tilt L) there. Its derivative is the implicit
    function theorem's; `second` makes its second derivative right, too."""
    def slope(t, edge):
        return gradient(shape, sm, along(edge, t))[1] @ speed(edge, t) + sm.tilt * length(edge, sm) * t
    fixed = jax.lax.stop_gradient(edge)
    pull = sm.tilt * length(fixed, sm)

    def height(t):
        return signed(shape, sm, along(fixed, t))[0] + .5 * pull * t * t
    ts = jnp.linspace(0., 1., sm.samples + 1)
    i = jnp.argmin(jax.vmap(height)(ts))
    at = ts[i]
    lo, hi = jnp.maximum(i - 1, 0) / sm.samples, jnp.minimum(i + 1, sm.samples) / sm.samples
    rises = slope(at, fixed) > 0
    inner = (lo < at) & (at < hi)
    lo, hi = jnp.where(inner & ~rises, at, lo), jnp.where(inner & rises, at, hi)
    at0, at1 = (at == 0) & (slope(at, fixed) >= 0), (at == 1) & (slope(at, fixed) <= 0)

    def body(_, s):
        # A minimum lies between both ends: their slopes have both signs, or the lower one falls towards the other.
        (x1, f1, v1), (x2, f2, v2) = s
        m = .5 * (x1 + x2)
        fm, vm = slope(m, fixed), height(m)
        enclosed, alike, lower = (f1 > 0) != (f2 > 0), (fm > 0) == (f1 > 0), vm < jnp.minimum(v1, v2)
        beyond = jnp.where(enclosed, alike, (v1 < v2) == (lower & alike))  # between m and the second end
        return (m, fm, vm), tuple(jnp.where(beyond, x, y) for x, y in zip(s[1], s[0]))
    ends = [(x, slope(x, fixed), height(x)) for x in (lo, hi)]
    found = jax.lax.fori_loop(0, STEPS, body, tuple(ends))
    t = jnp.where(at0, 0., jnp.where(at1, 1., .5 * (found[0][0] + found[1][0])))
    bend = jax.lax.stop_gradient(jax.grad(slope)(t, fixed))
    curve = jnp.maximum(bend, .1 * pull)
    # The step's value is 0 to rounding, its derivative is dt. A second such step has the right second derivative; where the
    # curvature is bounded below, dt is no root's derivative and stays as it is.
    one = t - jnp.where(at0 | at1, 0., slope(t, edge) / curve)
    if second:
        one = one - jnp.where(at0 | at1 | (bend < .1 * pull), 0., slope(one, edge) / curve)
    return one, bend / pull


def rise(x):
    """Weight 1 - exp(-x^2) of x >= 0, as a gate's."""
    return 1 - jnp.exp(-jnp.clip(x, 0., 30.) ** 2)


def edge_contacts(shape, sm, edge, far, r, ends, second=False):
    """Edge of radius r with its other end at `far`, in the field's frame; ends (2): phi there. Of the point drawn to `near`, then
    of the one drawn to `far`: x (2,3), d (2), n (2,3), weight (2), and t (2), length (2), F''/(tilt L) (2)."""
    L = length(edge, sm)
    sides = (edge, turned(edge, far))
    own, flat = (jnp.stack(z) for z in zip(*(least(shape, sm, e, second) for e in sides)))
    # Two points that nearly meet move to their middle, which the pull to either end does not shift. Others move back from where
    # they were drawn to, off the rim of what supports them.
    gap = 1 - own[0] - own[1]
    meet = jnp.exp(-(gap * L / sm.part) ** 2)
    moved = own + .5 * meet * gap + (1 - meet) * sm.inset / L
    x = jnp.stack([along(e, t) for e, t in zip(sides, moved)])
    phi, n = jax.vmap(lambda y: signed(shape, sm, y))(x)
    won = ends - phi - .5 * sm.tilt * L * moved ** 2
    w = rise(won / sm.gain) * rise((1 - moved) * L / sm.part) * (1 - .5 * meet)
    f = jnp.ones(2)
    if sm.slope >= 0:
        g = jax.vmap(lambda y: gradient(shape, sm, y)[1])(x)
        square = jnp.sum(g * g, -1)
        u = jnp.clip((square - .1) / .2, 0., 1.)                      # smaller gradients are those of a body's middle
        f = 1 + (jnp.sqrt((1 + sm.slope) / (square + sm.slope)) - 1) * u ** 3 * (10. - 15. * u + 6. * u * u)
    return x, phi * f - r, n, w, own, jnp.stack([L, L]), flat


# ---- normal cones (11) ----
def coned(n, axis, half, sm):
    """Contact normal n and the feature's cone, all in one frame: the normal that is reported, the cone's weight."""
    inner, outer, hold = (np.radians(v) for v in (sm.cone_inner, sm.cone_outer, sm.cone_hold))
    step = lambda u: u ** 3 * (10. - 15. * u + 6. * u * u)
    c = -(n @ axis)
    one, zero = jnp.cos(jnp.minimum(half + inner, np.pi)), jnp.cos(jnp.minimum(half + outer, np.pi))
    zero = jnp.minimum(zero, one - 1e-3)
    w = jnp.where(half + inner >= np.pi - 1e-9, 1., step(jnp.clip((c - zero) / (one - zero), 0., 1.)))
    H = jnp.maximum(jnp.sin(half + hold), 1e-6)
    p = n + c * axis
    far = p @ p > H * H
    s = jnp.sqrt(jnp.where(far, p @ p, 1.))
    share = jnp.where(far, 1. + step(jnp.clip(s / H - 1., 0., 1.)) * (H / s - 1.), 1.)
    q = share * p
    m = q - axis * jnp.sqrt(jnp.maximum(1. - q @ q, 1e-12))
    return jnp.where((half < HELD) & (c > 0) & far, m, n), w


def has_cones(sm): return sm.cone_outer > sm.cone_inner


def slots(shape, sm):
    """The vertices that have slots: with cones those of flat places are left out (11)."""
    N = len(shape["V"])
    return np.nonzero(np.asarray(shape["cones"]["half"]) >= FLAT)[0] if has_cones(sm) and "cones" in shape else np.arange(N)


def everywhere(shape):
    """Cones of a shape for which none are stated: every contact counts."""
    N, M = len(shape["V"]), len(shape.get("E", ()))
    z = lambda k: jnp.tile(jnp.array([0., 0., 1.]), (k, 1))
    return dict(axis=z(N), half=jnp.full(N, np.pi), eaxis=z(M), ehalf=jnp.full(M, np.pi))


# ---- the manifold (10.2, 10.3) ----
def manifold(s1, s2, shape1, shape2, sm, K1=0, K2=0, N1=0, N2=0, behind=False, second=False):
    """Poses s1, s2, (6,) or (R, t) -> dict of p (C,3), d (C,), n (C,3), activity (C,), in world coordinates.

    Slots: vertices of 1, vertices of 2, edges of 1, edges of 2, two of each edge. `behind` adds weight (C,), what the sigmoid is
    multiplied by; edge_t and edge_length (C,), 0 of vertices; flatness (C,), F''/(tilt L); element (C,), the feature's number.
    """
    T, shapes = [s if isinstance(s, tuple) else mr.exp_se3(s) for s in (s1, s2)], [shape1, shape2]
    cones = has_cones(sm)
    assert not cones or (sm.two_sided and sm.edge_edge), "cones need both sides and edges"
    assert sm.select == "gate" or not (K1 or K2 or N1 or N2), "features with radii are kept by gate only"
    vertices, edges = [], []

    def contact(x, d, n, r, w, more, Ta, Tb, axis, half):
        """In the field's frame -> in the world's."""
        if cones:
            n, v = jax.vmap(lambda n, a, h: coned(n, a, h, sm))(n, axis @ Ta[0].T @ Tb[0], half)
            w = w * v
        p = x - r[:, None] * n
        return (p @ Tb[0].T + Tb[1], d, n @ Tb[0].T, w, *more)
    for i, K, N in ((0, K1, N1), (1, K2, N2)):
        Ta, Tb, A, B = T[i], T[1 - i], shapes[i], shapes[1 - i]
        c = A.get("cones") or everywhere(A)
        x = ((A["V"] @ Ta[0].T + Ta[1]) - Tb[1]) @ Tb[0]
        r = A.get("r", jnp.zeros(len(x)))
        phi, n = jax.vmap(lambda y: signed(B, sm, y))(x)
        if i == 0 or sm.two_sided:
            k = jnp.asarray(slots(A, sm))
            w = jnp.ones(len(k))
            if N:
                order = jnp.argsort(phi[k] - r[k])
                k, w = (k[order], w) if N >= len(k) else (lambda j, w: (k[j], w))(*mr.gate_topk(r[k] - phi[k], N, sm.sort))
            zero = jnp.zeros(len(k))
            vertices.append(contact(x[k], (phi - r)[k], n[k], r[k], w, (zero, zero, zero + jnp.inf, k), Ta, Tb,
                                    c["axis"][k], c["half"][k]))
        E = np.asarray(A.get("E", np.zeros((0, 2), int)))
        if len(E) and sm.edge_edge:
            M, I, J = len(E), E[:, 0], E[:, 1]
            re = A.get("re", jnp.zeros(M))
            arc = A.get("arc") or dict(R=jnp.zeros(M), psi=jnp.zeros(M), e1=jnp.zeros((M, 3)), e2=jnp.zeros((M, 3)))
            chord = jnp.linalg.norm(A["V"][J] - A["V"][I], axis=1)
            score = .5 * (jnp.where(arc["psi"] > 0, arc["R"] * arc["psi"], chord) - phi[I] - phi[J]) + re
            k, w = jnp.arange(M), jnp.ones(M)
            if K:
                k, w = mr.gate_topk(score, K, sm.sort) if K < M else (jnp.argsort(-score), w)
            I, J = jnp.asarray(I)[k], jnp.asarray(J)[k]
            to = lambda v: v[k] @ Ta[0].T @ Tb[0]
            edge = dict(near=x[I], u=x[J] - x[I], e1=to(arc["e1"]), e2=to(arc["e2"]), R=arc["R"][k], psi=arc["psi"][k])
            q, d, n, v, t, L, flat = jax.vmap(lambda edge, far, r, ends: edge_contacts(B, sm, edge, far, r, ends, second))(
                edge, x[J], re[k], jnp.stack([phi[I], phi[J]], 1))
            one, two = lambda z: z.reshape(-1), lambda z: jnp.repeat(z, 2, 0)
            edges.append(contact(q.reshape(-1, 3), one(d), n.reshape(-1, 3), two(re[k]), one(w[:, None] * v),
                                 (one(t), one(L), one(flat), two(k)), Ta, Tb, two(c["eaxis"][k]), two(c["ehalf"][k])))
    p, d, n, w, t, L, flat, k = (jnp.concatenate(z) for z in zip(*vertices, *edges))
    out = dict(p=p, d=d, n=n, activity=mr.above_floor(w * jax.nn.sigmoid(-d / sm.penetration), sm.floor))
    return dict(out, weight=w, edge_t=t, edge_length=L, flatness=flat, element=k) if behind else out


def energy(contacts):
    """Sum of activity times squared depth (section 7)."""
    return jnp.sum(contacts["activity"] * jnp.maximum(-contacts["d"], 0.) ** 2)


# ---- features and cones of bodies (10.4, 11) ----
BOX_E = np.array(sorted((i, i | b) for i in range(8) for b in (1, 2, 4) if not i & b))
BOX_FACES = [[0, 2, 3, 1], [4, 5, 7, 6], [0, 1, 5, 4], [2, 6, 7, 3], [0, 4, 6, 2], [1, 3, 7, 5]]     # of corners(), outward


def corners(c): return np.array([[c[k] * (1 if i >> k & 1 else -1) for k in range(3)] for i in range(8)], float)


def features(V, r, E, re, cores):
    E = np.asarray(E, int).reshape(-1, 2)
    return dict(V=jnp.asarray(V, float), r=jnp.full(len(V), float(r)), E=E, re=jnp.full(len(E), float(re)), cores=cores)


def arcs(V, E, centre, axis):
    """The dict `arc` of circular edges E (M,2) around centre (M,3) and axis (M,3), which is right-handed from i to j; a row of
    zeros in axis marks a straight edge."""
    V, E, centre, axis = (np.asarray(z) for z in (V, E, centre, axis))
    bent = (np.linalg.norm(axis, axis=1) > 0)[:, None]
    a = np.where(bent, axis / np.linalg.norm(np.where(bent, axis, 1.), axis=1, keepdims=True), 0.)
    P, Q = V[E[:, 0]] - centre, V[E[:, 1]] - centre
    R = np.linalg.norm(P, axis=1)
    e1 = np.where(bent, P / np.maximum(R, 1e-300)[:, None], 0.)
    e2 = np.cross(a, e1)
    psi = np.where(bent[:, 0], np.arctan2((e2 * Q).sum(1), (e1 * Q).sum(1)), 0.)
    assert ((psi >= 0) & (psi <= np.pi / 2 + 1e-9)).all(), "an arc is at most a quarter turn"
    return {k: jnp.asarray(v) for k, v in dict(R=np.where(bent[:, 0], R, 0.), psi=psi, e1=e1, e2=e2).items()}


def core(kind, half, radius, **more):
    half = np.asarray(half, float)
    return dict(kind=kind, core=jnp.asarray(half), radius=radius, solid=bool((half > 0).all()), **more)


def sphere(r):
    s = features([[0, 0, 0]], r, [], 0, [core("box", [0, 0, 0], r)])
    return dict(s, cones=everywhere(s))


def capsule(r, h):
    s = features([[0, 0, -h], [0, 0, h]], r, [[0, 1]], r, [core("box", [0, 0, h], r)])
    ends = dict(axis=jnp.array([[0., 0, -1], [0, 0, 1]]), half=jnp.full(2, np.pi / 2))
    return dict(s, cones=dict(everywhere(s), **ends))


def box(h, round=0.):
    """round 0: sharp corners and edges in a field rounded by a fiftieth of the shortest half length."""
    h = np.asarray(h, float)
    rho = round or .02 * h.min()
    s = features(corners(h - round), round, BOX_E, round, [core("box", h - rho, rho)])
    return dict(s, cones=mesh_cones(corners(h), BOX_FACES, BOX_E))


def cylinder(R, h, round=0., count=8):
    """count vertices and as many arcs on each rim. An arc's cone holds the normals of all of its points around the axis at its
    middle, a vertex's those of its own place."""
    rho = round or .02 * min(R, h)
    a = np.arange(count) * 2 * np.pi / count
    ring = np.c_[np.cos(a), np.sin(a)] * (R - round)
    V = np.concatenate([np.c_[ring, np.full(count, z)] for z in (round - h, h - round)])
    E = np.array(sorted(tuple(sorted((k + i, k + (i + 1) % count))) for k in (0, count) for i in range(count)))
    forth = (E[:, 1] - E[:, 0] == 1)                    # the arc from the last vertex to the first one is turned
    axis = np.where(forth, 1., -1.)[:, None] * np.array([[0., 0, 1]])
    s = features(V, round, E, round, [core("disc", [R - rho, h - rho], rho)])
    s["arc"] = arcs(V, E, np.array([[0., 0, 1]]) * V[E[:, 0], 2:], axis)
    out = lambda p: np.c_[p[:, :2] / np.linalg.norm(p[:, :2], axis=1, keepdims=True), np.sign(p[:, 2])] / np.sqrt(2)
    half = np.arccos(np.cos(np.pi / count) / np.sqrt(2))
    s["cones"] = dict(axis=jnp.asarray(out(V)), half=jnp.full(len(V), np.pi / 4),
                      eaxis=jnp.asarray(out(.5 * (V[E[:, 0]] + V[E[:, 1]]))), ehalf=jnp.full(len(E), half))
    return s


def outward(V, F):
    """The faces, turned if the mesh's volume is negative."""
    volume = sum(np.linalg.det(V[[f[0], f[k], f[k + 1]]]) for f in F for k in range(1, len(f) - 1))
    return [list(f)[::-1] for f in F] if volume < 0 else [list(f) for f in F]


def sharp_edges(V, F, degrees=20.):
    """Edges (E,2), i < j in lexicographic order, at which two faces meet convexly at more than `degrees` between their normals, or
    that have another number of faces than two."""
    V, at = np.asarray(V, float), {}
    for f in outward(V, F):
        n = sum(np.cross(V[f[k]] - V[f[0]], V[f[k + 1]] - V[f[0]]) for k in range(1, len(f) - 1))
        for k in range(len(f)):
            e = tuple(sorted((f[k], f[(k + 1) % len(f)])))
            at.setdefault(e, []).append((n / max(np.linalg.norm(n), 1e-300), V[f].mean(0)))
    keep = []
    for e, g in sorted(at.items()):
        if len(g) == 2:
            (n1, c1), (n2, c2) = g
            if np.degrees(np.arccos(np.clip(n1 @ n2, -1, 1))) <= degrees or n1 @ (c2 - c1) + n2 @ (c1 - c2) > 0:
                continue
        keep.append(e)
    return np.array(keep, int).reshape(-1, 2)


def mesh_cones(V, F, E):
    """Cones of the mesh's vertices and of its edges E (M,2) (11.1). Vertices at one place are one."""
    V = np.asarray(V, float)
    size = np.ptp(V, axis=0).max() + 1e-300
    _, first, back = np.unique(np.round((V - V.min(0)) / (1e-7 * size)).astype(np.int64), axis=0, return_index=True,
                               return_inverse=True)
    W = first[back.reshape(-1)]
    around, sides = {}, {}
    for f in outward(V, F):
        for k in range(1, len(f) - 1):
            t = [f[0], f[k], f[k + 1]]
            P = V[t]
            m = np.cross(P[1] - P[0], P[2] - P[0])
            area, longest = np.linalg.norm(m), max(np.linalg.norm(P[i] - P[i - 1]) for i in range(3))
            if area <= 1e-9 * longest ** 2:
                continue
            for i in range(3):
                u, v = P[(i + 1) % 3] - P[i], P[(i + 2) % 3] - P[i]
                angle = np.arctan2(np.linalg.norm(np.cross(u, v)), u @ v)
                around.setdefault(W[t[i]], []).append((m / area, angle))
                a, b = W[t[i]], W[t[(i + 1) % 3]]
                sides.setdefault((min(a, b), max(a, b)), []).append((m / area, a < b))
    shut = lambda s: len(s) == 2 and s[0][1] != s[1][1]
    rim = {v for e, s in sides.items() if not shut(s) for v in e}
    axis, half = np.tile([0., 0, 1], (len(V), 1)), np.full(len(V), np.pi)
    for i, w in enumerate(W):
        near = [(n, a) for n, a in around.get(w, []) if a > SLIVER]
        if w in rim or not near:
            continue
        n, a = np.array([z[0] for z in near]), np.array([z[1] for z in near])
        m = a @ n
        if np.linalg.norm(m) < 1e-6 * a.sum():
            continue
        axis[i] = m / np.linalg.norm(m)
        half[i] = np.arctan2(np.linalg.norm(np.cross(axis[i], n), axis=1), n @ axis[i]).max()
        if half[i] > WIDE:
            half[i] = np.pi
    eaxis, ehalf = np.tile([0., 0, 1], (len(E), 1)), np.full(len(E), np.pi)
    for k, (i, j) in enumerate(np.asarray(E).reshape(-1, 2)):
        s = sides.get((min(W[i], W[j]), max(W[i], W[j])), [])
        if shut(s) and np.linalg.norm(s[0][0] + s[1][0]) > 1e-9:
            n1, n2 = s[0][0], s[1][0]
            eaxis[k] = (n1 + n2) / np.linalg.norm(n1 + n2)
            ehalf[k] = .5 * np.arctan2(np.linalg.norm(np.cross(n1, n2)), n1 @ n2)
    return {k: jnp.asarray(v) for k, v in dict(axis=axis, half=half, eaxis=eaxis, ehalf=ehalf).items()}


# ---- self-check ----
class Check:
    def __init__(self):
        self.rng, self.failed = np.random.default_rng(0), []
        self.sm = Smoothing(penetration=1e-3, gain=5e-4, part=2e-3, inset=1e-3, union=1e-3)

    def say(self, name, ok, value):
        print(f"{'ok  ' if ok else 'FAIL'} {name}: {value}", flush=True)
        if not ok:
            self.failed.append(name)

    def fields(self):
        """Against the exact distance outside the core."""
        shapes = dict(box=box([.05, .03, .02], .004), sphere=sphere(.02), capsule=capsule(.02, .05), cylinder=cylinder(.03, .05, .004))
        for name, S in shapes.items():
            q = S["cores"][0]
            X = self.rng.uniform(-.08, .08, (2000, 3)) * (self.rng.random((2000, 1)) < .9)
            field = lambda y, S=S: signed(S, self.sm, y)[0]
            d = np.array(jax.jit(jax.vmap(field))(X))
            c, r = np.array(q["core"]), q["radius"]
            Q = abs(X) - c if q["kind"] == "box" else np.c_[np.hypot(X[:, 0], X[:, 1]) - c[0], abs(X[:, 2]) - c[1]]
            exact = np.linalg.norm(np.maximum(Q, 0), axis=1) - r
            off = abs(d - exact)[exact > -.4 * r].max() / r
            H = jax.jit(jax.vmap(jax.hessian(field)))(np.r_[X[:100], np.zeros((1, 3))])
            self.say(f"field of a {name} outside, share of its radius", off < .01 and bool(jnp.isfinite(H).all()), off)

    def crossings(self):
        """Depth and normal of two ridges that cross are those of their two lines."""
        B, turn = box([.15, .015, .015]), lambda *w: mr.exp_se3(jnp.r_[jnp.zeros(3), jnp.array(w, float)])[0]
        f = jax.jit(lambda s: manifold((jnp.eye(3), jnp.zeros(3)), s, B, B, self.sm))
        roll = turn(np.pi / 4, 0, 0)
        up = roll.T @ jnp.array([0., 0, 1])
        for yaw in (.4, 1., 1.5):
            place = roll.T @ jnp.array([.01, .003, 2 * .015 * np.sqrt(2) - .0008])
            c = {k: np.array(v) for k, v in f((roll.T @ turn(0, 0, yaw) @ roll, place)).items()}
            k = c["activity"] > .1
            right = k.sum() == 4 and abs(c["d"][k] + .0008).max() < 1.5e-4 and abs(abs(c["n"][k] @ np.array(up)) - 1).max() < 1e-3
            self.say(f"ridges crossing at {yaw} rad, d mm", right, (c["d"][k] * 1e3).round(4))

    def arc_points(self):
        """t of arcs against a dense search for the least F; an arc of radius 1e6 against its chord."""
        sm = self.sm
        worst = 0.
        many = np.linspace(0, 1, 200001)
        for name, S, samples in (("convex", box([.05, .03, .02], .003), 8), ("convex, undivided", box([.05, .03, .02], .003), 1),
                                 ("cylinder", cylinder(.03, .02, .002), 8)):
            sm = replace(self.sm, samples=samples)
            solve = jax.jit(lambda e, S=S, sm=sm: least(S, sm, e)[0])
            F = jax.jit(lambda e, S=S, sm=sm: jax.vmap(lambda t: signed(S, sm, along(e, t))[0] + .5 * sm.tilt * length(e, sm) * t * t)(many))
            inner, worst = 0, 0.
            for _ in range(24):
                R, psi = self.rng.uniform(.01, .08), self.rng.uniform(.3, np.pi / 2)
                frame = np.linalg.qr(self.rng.normal(size=(3, 3)))[0]
                middle = np.cos(psi / 2) * frame[:, 0] + np.sin(psi / 2) * frame[:, 1]
                # Its middle dips into the body's side or face, curved as the rim that rolls on it.
                at = np.array([self.rng.uniform(-.02, .02), self.rng.uniform(-.01, .01), .0195]) - middle * R
                if samples == 1:          # one dip only: bowed towards the face
                    frame = np.array([[np.cos(psi / 2), np.sin(psi / 2), 0], [0, 0, 1], [-np.sin(psi / 2), np.cos(psi / 2), 0]]).T[[0, 1, 2]]
                    e1, e2 = np.array([-np.sin(psi / 2), 0, -np.cos(psi / 2)]), np.array([np.cos(psi / 2), 0, -np.sin(psi / 2)])
                    lean = np.array(mr.exp_se3(jnp.r_[jnp.zeros(3), self.rng.normal(size=3) * .15])[0])
                    frame = lean @ np.c_[e1, e2, np.cross(e1, e2)]
                    at = np.array([0, 0, .0195 + R])
                e = dict(near=jnp.asarray(at + R * frame[:, 0]), u=jnp.zeros(3), e1=jnp.asarray(frame[:, 0]), e2=jnp.asarray(frame[:, 1]),
                         R=jnp.array(R), psi=jnp.array(psi))
                values = np.array(F(e))
                t = float(solve(e))
                inner += 0 < t < 1
                at_t = float(np.interp(t, many, values))
                worst = max(worst, at_t - values.min())
            self.say(f"an arc's F over the least of a dense search, {name}, m ({inner} of 24 inside)", worst < 1e-9 and inner > 4, worst)
        B, R, L = box([.05, .03, .02]), 1e6, .06
        P, u, side = np.array([-.04, .01, .0195]), np.array([1., .2, .03]) / np.linalg.norm([1., .2, .03]), np.array([0, 0, 1.])
        e1 = side - (side @ u) * u
        e1 /= np.linalg.norm(e1)
        bow = dict(near=jnp.asarray(P), u=jnp.zeros(3), e1=jnp.asarray(e1), e2=jnp.asarray(u), R=jnp.array(R), psi=jnp.array(L / R))
        f = jax.jit(lambda e, far: edge_contacts(B, self.sm, e, far, 0., jnp.stack([signed(B, self.sm, y)[0] for y in (e["near"], far)])))
        one, two = f(bow, along(bow, 1.)), f(straight(P, P + L * u), jnp.asarray(P + L * u))
        off = max(float(jnp.abs(a - b).max()) for a, b in zip(one[:5], two[:5]))
        # A flat stretch turns a slope's difference of L/R into one of t that is 1/tilt times as large.
        self.say("an arc of radius 1e6 m against a straight edge", off < 4 * L / (R * self.sm.tilt) and float(two[3].max()) > .5, off)

    def rolling(self):
        """A cylinder on a plane's face, turned in steps through a full turn: how the sum of activities changes."""
        floor = dict(features(np.zeros((0, 3)), 0, [], 0, [core("box", [1., 1., .05], .001)]))
        for R, h, round in ((.03, .02, 0.), (.03, .02, .002), (.1, .1, 0.)):
            for samples in (1, 8):
                sm = replace(self.sm, samples=samples)
                S = cylinder(R, h, round)
                side = jnp.array([[1., 0, 0], [0, 0, -1.], [0, 1, 0]])

                def at(a, S=S, sm=sm, side=side, R=R):
                    spin = mr.exp_se3(jnp.array([0., 0, 0, 0, 0, 1]) * a)[0]
                    c = manifold((jnp.eye(3), jnp.zeros(3)), (side @ spin, jnp.array([0., 0, .051 + R - .0005])), floor, S, sm)
                    depth = jnp.maximum(-c["d"], 0.)
                    force = c["activity"] * depth
                    return c["activity"].sum(), force.sum(), (force * c["p"][:, 0]).sum() / force.sum()
                a, force, lever = (np.array(z) for z in jax.jit(jax.vmap(at))(jnp.linspace(0, 2 * np.pi, 721)))
                print(f"     rolling cylinder R {R} round {round} samples {samples}: sum of activities {a.min():.3f} to {a.max():.3f} "
                      f"(spread {(np.ptp(a) / a.mean()) * 100:.0f} %), sum of activity depth {force.min() * 1e3:.3f} to {force.max() * 1e3:.3f} mm, "
                      f"lever {abs(lever).max() * 1e3:.3f} mm", flush=True)

    def cones(self):
        cube = mesh_cones(corners([1, 1, 1]), BOX_FACES, BOX_E)
        C = corners([1, 1, 1])
        right = np.allclose(cube["axis"], C / 3 ** .5) and np.allclose(cube["half"], np.arccos(3 ** -.5)) and np.allclose(cube["ehalf"], np.pi / 4)
        self.say("cones of a cube", right, np.degrees(cube["half"][0]))
        apart = mesh_cones(np.concatenate([C[q] for q in BOX_FACES]), np.arange(24).reshape(6, 4).tolist(), [])
        self.say("cones of a cube with faces apart", np.allclose(apart["half"], np.arccos(3 ** -.5)), np.degrees(apart["half"][0]))
        sm = replace(self.sm, cone_inner=15., cone_outer=35., cone_hold=2.)
        z = jnp.array([0., 0, 1])
        lean = lambda a: jnp.array([np.sin(np.radians(a)), 0, -np.cos(np.radians(a))])
        w = [float(coned(lean(a), z, 0., sm)[1]) for a in (14., 25., 36.)]
        m = coned(lean(30.), z, 0., sm)[0]
        self.say("weight at 14, 25 and 36 degrees, held normal", w[0] == 1 and 0 < w[1] < 1 and w[2] == 0 and
                 abs(float(m[0]) - np.sin(np.radians(2.))) < 1e-9 and abs(float(m @ m) - 1) < 1e-9, (w, m))
        every = float(coned(lean(170.), z, np.pi, sm)[1])
        self.say("a cone of everything", every == 1, every)

    def slopes(self):
        """VJP against central differences, all outputs; and Hessian-vector products of energy against differences of gradients."""
        A = box([.05] * 3)
        for name, one, two, sm in (("boxes", A, A, self.sm), ("cylinder and box", cylinder(.03, .02, .002), A, replace(self.sm, samples=8)),
                                   ("boxes with cones", A, A, replace(self.sm, cone_inner=15., cone_outer=35., cone_hold=2.))):
            F = jax.jit(lambda a, b, one=one, two=two, sm=sm: manifold(a, b, one, two, sm))
            ct = {k: jnp.array(self.rng.normal(size=v.shape)) for k, v in F(jnp.zeros(6), jnp.zeros(6)).items()}
            value = lambda z, F=F, ct=ct: sum(jnp.vdot(F(z[:6], z[6:])[k], ct[k]) for k in ct)
            many, grad = jax.jit(jax.vmap(value)), jax.jit(jax.vmap(jax.grad(value)))
            w = self.rng.normal(size=(6, 3))
            z = np.c_[self.rng.normal(size=(6, 6)) * np.r_[[.006] * 3, [.3] * 3], w / np.linalg.norm(w, axis=1)[:, None] * .075,
                      self.rng.normal(size=(6, 3)) * .5]
            g = np.array(grad(z))
            fd = np.stack([(np.array(many(z + e)) - np.array(many(z - e))) / 2e-7 for e in 1e-7 * np.eye(12)], 1)
            worst = (abs(g - fd).max(1) / abs(fd).max(1)).max()
            self.say(f"VJP against central differences, {name}", worst < 1e-4, worst)

    def run(self, only):
        for name in only or ("fields", "crossings", "cones", "arc_points", "rolling", "slopes"):
            getattr(self, name)()
        edges = sharp_edges(corners([1, 1, 1]), [[0, 1, 3], [0, 3, 2], [4, 6, 7], [4, 7, 5], [0, 4, 5], [0, 5, 1], [2, 3, 7], [2, 7, 6],
                                                 [0, 2, 6], [0, 6, 4], [1, 5, 7], [1, 7, 3]])
        self.say("sharp edges of a triangulated cube", len(edges) == 12, len(edges))
        sys.exit(bool(self.failed))


if __name__ == "__main__":
    Check().run(sys.argv[1:])
