"""Reference trees in JAX: scenes, states, kinematics, inertia and forces; sections 1 to 6 of the specification.

The other half is dynamics_reference.py: contacts, the solver and the step.
M is a sum of J'IJ and not CRBA, the bias is a derivative along the motion and not RNE: other roads than an implementation's.
"""
import json
import pathlib
from dataclasses import dataclass, field

import jax
jax.config.update("jax_enable_x64", True)
import jax.numpy as jnp  # noqa: E402
import numpy as np  # noqa: E402

import manifold_reference as mr  # noqa: E402

DOFS = dict(fixed=0, hinge=1, slide=1, ball=3, free=6)
COORDS = dict(fixed=0, hinge=1, slide=1, ball=4, free=7)


# ---- rotations (section 2) ----
def quat_to_mat(q):
    w, x, y, z = q / jnp.sqrt(q @ q)
    return jnp.array([[1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
                      [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
                      [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)]])


def quat_mul(a, b):
    return jnp.concatenate([jnp.array([a[0] * b[0] - a[1:] @ b[1:]]), a[0] * b[1:] + b[0] * a[1:] + jnp.cross(a[1:], b[1:])])


def quat_exp(w):
    """Rotation vector -> quaternion; series near 0."""
    t2 = w @ w
    small = t2 < 1e-8
    t = jnp.sqrt(jnp.where(small, 1., t2))
    s = jnp.where(small, .5 - t2 / 48, jnp.sin(t / 2) / t)
    return jnp.concatenate([jnp.array([jnp.where(small, 1 - t2 / 8 + t2 * t2 / 384, jnp.cos(t / 2))]), s * w])


def quat_log(q):
    """Quaternion of any length -> rotation vector of at most pi."""
    q = q / jnp.sqrt(q @ q)
    q = jnp.where(q[0] < 0, -q, q)
    s2 = q[1:] @ q[1:]
    small = s2 < 1e-10
    s = jnp.sqrt(jnp.where(small, 1., s2))
    k = jnp.where(small, 2 / q[0] * (1 - s2 / (3 * q[0] ** 2)), 2 * jnp.arctan2(s, q[0]) / s)
    return k * q[1:]


def quat_conj(q): return q * jnp.array([1., -1, -1, -1])


# ---- scene (section 1) ----
@dataclass
class Scene:
    links: list
    actuators: list
    pairs: list
    bodies: dict
    gravity: np.ndarray
    options: dict
    nq: int = 0
    nv: int = 0
    qadr: list = field(default_factory=list)
    vadr: list = field(default_factory=list)


def read_mesh(path):
    V, F = [], []
    for l in path.read_text().splitlines():
        w = l.split()
        if w and w[0] == "v": V.append([float(x) for x in w[1:4]])
        if w and w[0] == "f": F.append([int(x.split("/")[0]) - 1 for x in w[1:]])
    return np.array(V), F


def read_body(path):
    b = json.loads(path.read_text())
    V, F = read_mesh(path.parent / b["mesh"])
    E = np.unique(np.array([sorted((f[i], f[(i + 1) % len(f)])) for f in F for i in range(len(f))]), axis=0)
    sign = lambda c: -1. if c.get("operation", "add") == "subtract" else 1.
    shape = dict(V=jnp.asarray(V), E=jnp.asarray(E), F=F)
    if b.get("superquadrics"):
        q = b["superquadrics"]
        col = lambda k: jnp.array([c[k] for c in q], float)
        shape["sq"] = dict(a=col("axes"), eps=col("exponents"), t=col("position"), sign=jnp.array([sign(c) for c in q]),
                           R=jnp.stack([quat_to_mat(jnp.array(c["quaternion"], float)) for c in q]))
        shape["subtract"] = any(sign(c) < 0 for c in q)
    assert not b.get("polyhedra") and not b.get("pointclouds"), "the dynamics cases use superquadrics"
    return shape


def mesh_mass(V, F, density):
    """Mass, centre, inertia about it of a closed mesh whose faces run one way, either way (section 3)."""
    m, h, S = 0., np.zeros(3), np.zeros((3, 3))
    o = V.mean(0)
    for f in F:
        for k in range(1, len(f) - 1):
            T = V[[f[0], f[k], f[k + 1]]] - o
            vol = np.linalg.det(T) / 6
            s = T.sum(0)
            m += vol; h += vol * s / 4; S += vol / 20 * (T.T @ T + np.outer(s, s))
    if m < 0: m, h, S = -m, -h, -S
    c = h / m
    S = S - m * np.outer(c, c)
    return density * m, c + o, density * (np.trace(S) * np.eye(3) - S)


def load_scene(path):
    """scene.json (or a dict) -> Scene. Body files are relative to the scene's folder."""
    j, base = (path, pathlib.Path(".")) if isinstance(path, dict) else (json.loads(pathlib.Path(path).read_text()), pathlib.Path(path).parent)
    opt = dict(timestep=.002, integrator="euler", cone="elliptic", impratio=1., diagonal="approximate", iterations=30, tolerance=1e-10,
               line_iterations=30, line_tolerance=1e-3, cone_smoothing=0., limit_smoothing=0., capacity=0, divergence=1e6)
    opt |= {k: j[k] for k in opt if k in j}
    sc = Scene([], [dict(a) for a in j.get("actuators", [])], [dict(p) for p in j.get("pairs", [])], {}, np.array(j.get("gravity", [0, 0, -9.81]), float), opt)
    for l in j["links"]:
        l = dict(dict(parent=-1, position=[0, 0, 0], quaternion=[1, 0, 0, 0], bodies=[]), **l)
        l["joint"] = dict(dict(type="fixed", position=[0, 0, 0], axis=[0, 0, 1], damping=0., armature=0., stiffness=0., rest=0., frictionloss=0.,
                               limits=None, solref_limit=[.02, 1], solimp_limit=[.9, .95, .001, .5, 2], solref_friction=[.02, 1],
                               solimp_friction=[.9, .95, .001, .5, 2]), **l.get("joint", {}))
        bodies = []
        for b in l["bodies"]:
            f = b["file"]
            if f not in sc.bodies: sc.bodies[f] = read_body(base / f)
            bodies.append((f, quat_to_mat(jnp.array(b.get("quaternion", [1., 0, 0, 0]))), jnp.array(b.get("position", [0., 0, 0]))))
        l["bodies"] = bodies
        if "density" in l:
            m, h, I = 0., np.zeros(3), np.zeros((3, 3))
            for f, R, t in bodies:
                bm, bc, bI = mesh_mass(np.asarray(sc.bodies[f]["V"]), sc.bodies[f]["F"], l["density"])
                bc, bI = np.asarray(R) @ bc + t, np.asarray(R) @ bI @ np.asarray(R).T
                m += bm; h += bm * bc; I += bI + bm * (bc @ bc * np.eye(3) - np.outer(bc, bc))
            l["mass"], l["com"] = m, h / m
            l["inertia"] = I - m * (l["com"] @ l["com"] * np.eye(3) - np.outer(l["com"], l["com"]))
        l.setdefault("mass", 0.); l.setdefault("com", [0, 0, 0]); l.setdefault("inertia", np.zeros((3, 3)))
        sc.qadr.append(sc.nq); sc.vadr.append(sc.nv)
        sc.nq += COORDS[l["joint"]["type"]]; sc.nv += DOFS[l["joint"]["type"]]
        sc.links.append(l)
    named = {l["name"]: i for i, l in enumerate(sc.links) if "name" in l}
    for act in sc.actuators: act["joint"] = named.get(act["joint"], act["joint"])
    for p in sc.pairs:
        for end in ("a", "b"):
            if end in p:
                e = p[end] if isinstance(p[end], list) else [p[end], 0]
                p[end] = [named.get(e[0], e[0]), e[1]]
    per_dof = lambda k: np.concatenate([np.full(DOFS[l["joint"]["type"]], l["joint"][k]) for l in sc.links] + [np.zeros(0)]).astype(float)
    sc.damping, sc.armature, sc.frictionloss = per_dof("damping"), per_dof("armature"), per_dof("frictionloss")
    sc.ancestor = np.zeros((len(sc.links) + 1, sc.nv))                   # the last row is the world
    for i, l in enumerate(sc.links):
        sc.ancestor[i] = sc.ancestor[l["parent"]]
        sc.ancestor[i, sc.vadr[i]:sc.vadr[i] + DOFS[l["joint"]["type"]]] = 1
    for p in sc.pairs:
        p.update({k: v for k, v in dict(friction=.8, solref=[.02, 1.], solimp=[.9, .95, .001, .5, 2.], condim=3, margin=0.).items() if k not in p})
        s = p.get("smoothing", {})
        s = s if isinstance(s, dict) else json.loads((base / s).read_text())
        s = dict(s); p["kept"] = (*s.pop("edges", [0, 0]), *s.pop("vertices", [0, 0]))
        p["sm"] = mr.Smoothing(**s, margin=p["margin"])
    sc.q0 = initial(sc)
    sc.link_invweight, sc.dof_invweight = (np.asarray(x) for x in inverse_weights(sc))
    return sc


def initial(sc):
    """q at which every hinge and slide is at its start, every ball the identity and every free link at its stated pose."""
    q = np.zeros(sc.nq)
    for l, a in zip(sc.links, sc.qadr):
        if l["joint"]["type"] in ("hinge", "slide"): q[a] = l["joint"].get("start", 0)
        if l["joint"]["type"] == "ball": q[a] = 1
        if l["joint"]["type"] == "free": q[a:a + 3], q[a + 3:a + 7] = l["position"], np.array(l["quaternion"]) / np.linalg.norm(l["quaternion"])
    return q


def default_parameters(sc):
    """What a step is differentiated by, beside state and control (section 10)."""
    return dict(mass_scale=jnp.ones(len(sc.links)), friction=jnp.array([float(p["friction"]) for p in sc.pairs]),
                stiffness=jnp.ones(len(sc.pairs)), gravity=jnp.asarray(sc.gravity))


# ---- tangent space (section 2) ----
def integrate(sc, q, d):
    """q (+) d, d (nv)."""
    out = []
    for l, a, b in zip(sc.links, sc.qadr, sc.vadr):
        t = l["joint"]["type"]
        if t in ("hinge", "slide"): out.append(q[a:a + 1] + d[b:b + 1])
        if t == "free": out.append(q[a:a + 3] + d[b:b + 3]); a, b = a + 3, b + 3
        if t in ("ball", "free"):
            r = quat_mul(q[a:a + 4] / jnp.sqrt(q[a:a + 4] @ q[a:a + 4]), quat_exp(d[b:b + 3]))
            out.append(r / jnp.sqrt(r @ r))
    return jnp.concatenate(out) if out else q


def difference(sc, q, r):
    """d with r (+) d = q."""
    out = []
    for l, a in zip(sc.links, sc.qadr):
        t = l["joint"]["type"]
        if t in ("hinge", "slide"): out.append(q[a:a + 1] - r[a:a + 1])
        if t == "free": out.append(q[a:a + 3] - r[a:a + 3]); a += 3
        if t in ("ball", "free"): out.append(quat_log(quat_mul(quat_conj(r[a:a + 4]), q[a:a + 4])))
    return jnp.concatenate(out) if out else q


def exp_rate(sc, s, v):
    """d/dt of s where q = q0 (+) s moves with velocity v: the inverse of the exponential's derivative (section 11)."""
    for l, b in zip(sc.links, sc.vadr):
        t = l["joint"]["type"]
        if t in ("ball", "free"):
            b += 3 * (t == "free")
            w = s[b:b + 3]
            c, t2 = jnp.cross(w, v[b:b + 3]), w @ w
            small = t2 < 1e-3
            th = jnp.sqrt(jnp.where(small, 1., t2)) / 2
            k = jnp.where(small, 1 / 12 + t2 / 720 + t2 ** 2 / 30240 + t2 ** 3 / 1209600, (1 - th / jnp.tan(th)) / (4 * th ** 2))
            v = v.at[b:b + 3].add(c / 2 + k * jnp.cross(w, c))
    return v


# ---- kinematics (section 4) ----
def forward_kinematics(sc, q):
    """-> R (L+1,3,3), x (L+1,3) of the links, the world last; motion axes S (nv,6): angular, linear velocity at the world's origin."""
    R, x, S = [jnp.eye(3)] * (len(sc.links) + 1), [jnp.zeros(3)] * (len(sc.links) + 1), []
    for i, (l, a) in enumerate(zip(sc.links, sc.qadr)):
        J, t, p = l["joint"], l["joint"]["type"], l["parent"]
        Ri = R[p] @ quat_to_mat(jnp.array(l["quaternion"], float))
        xi = x[p] + R[p] @ jnp.array(l["position"], float)
        jp, ax = jnp.array(J["position"], float), jnp.array(J["axis"], float)
        ax = ax / jnp.linalg.norm(ax)
        if t == "free":
            xi, Ri = q[a:a + 3], quat_to_mat(q[a + 3:a + 7])
            S += [jnp.concatenate([jnp.zeros(3), e]) for e in jnp.eye(3)] + [jnp.concatenate([w, jnp.cross(xi, w)]) for w in Ri.T]
        elif t == "slide":
            w = Ri @ ax
            xi = xi + w * q[a]
            S.append(jnp.concatenate([jnp.zeros(3), w]))
        elif t in ("hinge", "ball"):
            anchor, w = xi + Ri @ jp, Ri @ ax
            Ri = Ri @ quat_to_mat(quat_exp(ax * q[a]) if t == "hinge" else q[a:a + 4])
            xi = anchor - Ri @ jp
            S += [jnp.concatenate([w, jnp.cross(anchor, w)]) for w in ([w] if t == "hinge" else Ri.T)]
        R[i], x[i] = Ri, xi
    return jnp.stack(R), jnp.stack(x), jnp.stack(S) if S else jnp.zeros((0, 6))


def jacobian(sc, S, link, p):
    """Linear Jacobian (3,nv) of the point p carried by a link; the angular one is jacobian(...)[1]."""
    m = jnp.asarray(sc.ancestor)[link][:, None]
    return (m * (S[:, 3:] + jnp.cross(S[:, :3], p))).T, (m * S[:, :3]).T


def link_terms(sc, q):
    R, x, S = forward_kinematics(sc, q)
    out = []
    for i, l in enumerate(sc.links):
        c = x[i] + R[i] @ jnp.array(l["com"], float)
        out.append((l["mass"], R[i] @ jnp.array(l["inertia"], float) @ R[i].T, c, *jacobian(sc, S, i, c)))
    return out


def mass_matrix(sc, q, par):
    M = jnp.diag(jnp.asarray(sc.armature))
    for s, (m, I, _, Jv, Jw) in zip(par["mass_scale"], link_terms(sc, q)):
        M = M + s * (m * Jv.T @ Jv + Jw.T @ I @ Jw)
    return M


def bias(sc, q, v, par):
    """c(q, v) with M a + c = forces: Coriolis, centrifugal and gravity (section 5)."""
    rates = lambda t: [(Jv @ v, Jw @ v) for *_, Jv, Jw in link_terms(sc, integrate(sc, q, t * v))]
    _, acc = jax.jvp(rates, (0.,), (1.,))
    c = jnp.zeros(sc.nv)
    for s, (m, I, _, Jv, Jw), (a, al) in zip(par["mass_scale"], link_terms(sc, q), acc):
        w = Jw @ v
        c = c + s * (m * Jv.T @ (a - par["gravity"]) + Jw.T @ (I @ al + jnp.cross(w, I @ w)))
    return c


def inverse_weights(sc):
    """Mean of the diagonal of J inv(M) J' at q0 with the stated masses: of a link's centre (L+1), of a joint's dofs (nv). 0 where nothing moves."""
    par = default_parameters(sc)
    if not sc.nv: return np.zeros(len(sc.links) + 1), np.zeros(0)
    Minv = jnp.linalg.inv(mass_matrix(sc, sc.q0, par))
    lw = [jnp.trace(Jv @ Minv @ Jv.T) / 3 for *_, Jv, _ in link_terms(sc, sc.q0)] + [0.]
    d = jnp.diag(Minv)
    groups = []
    for l, b in zip(sc.links, sc.vadr):
        t = l["joint"]["type"]
        groups += dict(fixed=[], hinge=[(b, 1)], slide=[(b, 1)], ball=[(b, 3)], free=[(b, 3), (b + 3, 3)])[t]
    return jnp.array(lw), jnp.concatenate([jnp.full(n, d[b:b + n].mean()) for b, n in groups])


def forces(sc, q, v, u):
    """Actuators, springs and dampers (section 6)."""
    f = -jnp.asarray(sc.damping) * v
    for l, a, b in zip(sc.links, sc.qadr, sc.vadr):
        k, t = l["joint"]["stiffness"], l["joint"]["type"]
        if k and t in ("hinge", "slide"): f = f.at[b].add(-k * (q[a] - l["joint"]["rest"]))
        if k and t == "ball": f = f.at[b:b + 3].add(-k * quat_log(q[a:a + 4]))
    for k, act in enumerate(sc.actuators):
        i, g = act["joint"], act.get("gear", 1.)
        a, b = sc.qadr[i] + act.get("dof", 0), sc.vadr[i] + act.get("dof", 0)
        kind = act["kind"]
        c = jnp.clip(u[k], *act["control_limits"]) if "control_limits" in act else u[k]
        F = {"motor": lambda: c, "position": lambda: act["kp"] * (c - g * q[a]) - act.get("kv", 0.) * g * v[b],
             "velocity": lambda: act["kv"] * (c - g * v[b]),
             "affine": lambda: act.get("gain", 1.) * c + act.get("bias", 0.) - act.get("kp", 0.) * g * q[a] - act.get("kv", 0.) * g * v[b]}[kind]()
        if "force_limits" in act: F = jnp.clip(F, *act["force_limits"])
        f = f.at[b].add(g * F)
    return f


# ---- energy and momentum (section 12) ----
def energy_momentum(sc, q, v, par=None):
    """Kinetic and potential energy, linear and angular momentum about the world's origin (section 12)."""
    par = par or default_parameters(sc)
    E = jnp.zeros(2); p = jnp.zeros(3); Lm = jnp.zeros(3)
    for s, (m, I, c, Jv, Jw) in zip(par["mass_scale"], link_terms(sc, q)):
        a, w = Jv @ v, Jw @ v
        E = E + s * jnp.array([.5 * m * a @ a + .5 * w @ I @ w, -m * c @ par["gravity"]])
        p, Lm = p + s * m * a, Lm + s * (m * jnp.cross(c, a) + I @ w)
    E = E.at[0].add(.5 * jnp.sum(jnp.asarray(sc.armature) * v * v))
    for l, a in zip(sc.links, sc.qadr):
        k, t = l["joint"]["stiffness"], l["joint"]["type"]
        if k and t in ("hinge", "slide"): E = E.at[1].add(.5 * k * (q[a] - l["joint"]["rest"]) ** 2)
        if k and t == "ball": E = E.at[1].add(.5 * k * jnp.sum(quat_log(q[a:a + 4]) ** 2))
    return E, p, Lm
