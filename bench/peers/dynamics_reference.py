"""Reference dynamics with the contact model "cone" in JAX: small, slow, float64, and independent of the C and OpenCL code.

It is the oracle behind tests/golden-dynamics. Section numbers are those of the model's specification. Trees are those of
tree_reference.py, contacts come from manifold_reference.py, both beside this file. check_dynamics.py compares it with MuJoCo.
The cone's cost is written with rotated coordinates and not by zones, another road than an implementation's: agreement is a check of both.

Shapes: L = links, nq, nv, nu, C = contact slots of all pairs together, Pn = pairs.
State: q (nq), v (nv), w (nv) the acceleration that warm-starts the solver. Parameters: see default_parameters.
"""
import jax
jax.config.update("jax_enable_x64", True)
import jax.numpy as jnp  # noqa: E402
import numpy as np  # noqa: E402

import manifold_reference as mr  # noqa: E402
from tree_reference import (DOFS, bias, default_parameters, difference, energy_momentum, exp_rate, forces,  # noqa: E402, F401
                            forward_kinematics, integrate, jacobian, load_scene, mass_matrix, read_mesh)

_exp_se3 = mr.exp_se3
mr.exp_se3 = lambda s: s if isinstance(s, tuple) else _exp_se3(s)      # a pose may be given as (R, t)

MINIMUM, MIN_IMP, MAX_IMP, MIN_MU = 1e-15, 1e-4, 0.9999, 1e-5
NOT_FINITE, DIVERGED, OVERFLOW, NOT_CONVERGED, SINGULAR, BAD_INPUT = 1, 2, 4, 8, 16, 32


# ---- contacts (section 7) ----
def contacts(sc, q, par=None):
    """All slots of all pairs, pair by pair: p, d, n, activity, owner and opposing link, pair; and whether the capacity was exceeded."""
    par = par or default_parameters(sc)
    R, x, _ = forward_kinematics(sc, q)
    out, over = [], jnp.array(False)
    for k, pr in enumerate(sc.pairs):
        def pose(e):
            f, Rb, tb = sc.links[e[0]]["bodies"][e[1]]
            return sc.bodies[f], (R[e[0]] @ Rb, x[e[0]] + R[e[0]] @ tb)
        (b1, T1), (b2, T2) = pose(pr["a"]), pose(pr["b"])
        c = mr.manifold(T1, T2, b1, b2, pr["sm"], *pr["kept"])
        K1, K2, N1, N2 = pr["kept"]
        size = lambda K, n: min(K, n) if K else n
        n1, n2 = size(N1, len(b1["V"])), size(N2, len(b2["V"])) if pr["sm"].two_sided else 0
        ee = size(K1, len(b1["E"])) * size(K2, len(b2["E"])) if pr["sm"].edge_edge else 0
        side = np.repeat([0, 1, 0, 1], [n1, n2, ee, ee])
        ends = np.array([pr["a"][0], pr["b"][0]])
        act = c["activity"]
        cap = sc.options["capacity"]
        if cap:
            rank = jnp.cumsum(act > 0)
            over = over | (rank[-1] > cap)
            act = jnp.where(rank <= cap, act, 0.)
        turns = (T1, T2)[is_still(sc, ends[1]) and not is_still(sc, ends[0])][0]
        out.append(dict(p=c["p"] - .5 * pr["margin"] * c["n"], d=c["d"], n=c["n"], activity=act, owner=ends[side], opposing=ends[1 - side],
                        pair=np.full(len(side), k), axes=jnp.tile(turns, (len(side), 1, 1))))
    if not out: return None, over
    return {k: (jnp if k in ("p", "d", "n", "activity", "axes") else np).concatenate([o[k] for o in out]) for k in out[0]}, over


def is_still(sc, link):
    return not sc.ancestor[link].any()


def given_axes(sc, R, con):
    """The axes that pyramids of given contacts turn with: the owner's, or those of an opposing link that stands still beside it."""
    turns = [b if is_still(sc, b) and not is_still(sc, a) else a for a, b in zip(con["owner"], con["opposing"])]
    return R[np.array(turns)]


def pyramid_frame(n, axes):
    """Rows n, |n| t1, |n| t2, where the arms +-t1, +-t2 are the cross nearest to the columns of axes: of all turns about n it has the
    largest sum of fourth powers of t1 and t2 along them. t1 is the arm that has most along the columns times (1, 2, 4)."""
    r = jnp.sqrt(n @ n + 1e-20)
    m = axes.T @ n / r
    a = jnp.eye(3)[jnp.argmin(jnp.abs(m))]
    a = a - m * (m @ a)
    a = a / jnp.linalg.norm(a)
    b = jnp.cross(m, a)
    re, im = a ** 2 - b ** 2, 2 * a * b                                  # squares of a + ib
    turn = jnp.arctan2(jnp.sum(2 * re * im), jnp.sum(re ** 2 - im ** 2)) / 4
    arms = [jnp.cos(turn + k) * a + jnp.sin(turn + k) * b for k in np.arange(4) * np.pi / 2]
    t1 = jnp.stack(arms)[jnp.argmax(jnp.stack(arms) @ jnp.array([1., 2., 4.]))]
    return jnp.stack([n, r * axes @ t1, r * axes @ jnp.cross(m, t1)])


def contact_frame(n):
    """Rows n, |n| t1, |n| t2; t by Duff et al. 2017, which switches on the plane n_z = 0."""
    r = jnp.sqrt(n @ n + 1e-20)
    m = n / r
    s = jnp.where(m[2] < 0, -1., 1.)
    a = -1 / (s + m[2])
    b = m[0] * m[1] * a
    t1 = jnp.array([1 + s * m[0] ** 2 * a, s * b, -s * m[0]])
    t2 = jnp.array([b, s + m[1] ** 2 * a, -m[1]])
    return jnp.stack([n, r * t1, r * t2])


def impedance(solimp, r):
    """d(r) (section 8)."""
    d0, d1, w, mid, pw = solimp
    d0, d1, mid = (jnp.clip(x, MIN_IMP, MAX_IMP) for x in (d0, d1, mid))
    pw = jnp.maximum(pw, 1.)
    x = jnp.minimum(jnp.abs(r) / jnp.maximum(w, MINIMUM), 1.)
    y = jnp.where(x <= mid, x ** pw / mid ** (pw - 1), 1 - (1 - x) ** pw / (1 - mid) ** (pw - 1))
    return jnp.where((w <= MINIMUM) | (d0 == d1), (d0 + d1) / 2, d0 + y * (d1 - d0))


def reference_gains(solref, solimp, h):
    """K, B of a_ref = -B v - K d(r) r."""
    t, z = solref
    d1 = float(np.clip(solimp[1], MIN_IMP, MAX_IMP))
    if t <= 0: return -t / d1 ** 2, -z / d1
    t = max(t, 2 * h)
    return 1 / (d1 * t * z) ** 2, 2 / (d1 * t)


def stiffnesses(imp, act, A):
    """D = 1/R of a row whose impedance is scaled by its activity."""
    e = act * imp
    return e / jnp.maximum((1 - e) * A, MINIMUM)


def contact_stiffnesses(imp, act, A):
    """D of a contact, linear in its activity."""
    return act * stiffnesses(imp, 1., A)


def rows(sc, q, v, con, par):
    """All soft constraints at (q, v): three blocks of rows, elliptic contacts (C,3), unilateral rows, Huber rows (section 8)."""
    h, o = sc.options["timestep"], sc.options
    R, x, S = forward_kinematics(sc, q)
    ell = uni = None
    U, UD, Ur = [], [], []
    if con is not None:
        solve = lambda Y: jnp.linalg.solve(mass_matrix(sc, q, par), Y)
        pr = con["pair"]
        get = lambda k: np.array([np.asarray(p[k], float) for p in con.get("pairs", sc.pairs)])[pr]
        if "frame" in con: F = con["frame"]
        elif o["cone"] == "elliptic": F = jax.vmap(contact_frame)(con["n"])
        else: F = jax.vmap(pyramid_frame)(con["n"], con["axes"] if "axes" in con else given_axes(sc, R, con))
        Jp = jax.vmap(lambda i, j, p: jacobian(sc, S, i, p)[0] - jacobian(sc, S, j, p)[0])(con["owner"], con["opposing"], con["p"])
        J = F @ Jp                                                       # (C,3,nv)
        solimp = get("solimp")
        g = np.array([reference_gains(p["solref"], p["solimp"], h) for p in con.get("pairs", sc.pairs)])[pr]
        chi = par["stiffness"][pr] if "pairs" not in con else jnp.ones(len(pr))
        fr = jnp.maximum(par["friction"][pr] if "pairs" not in con else jnp.asarray(get("friction")), MIN_MU)
        r = con["d"] - get("margin")
        imp = jax.vmap(impedance)(jnp.asarray(solimp), r)
        vel = J @ v
        K, B = g[:, 0] * chi, g[:, 1] * jnp.sqrt(chi)
        A = jnp.asarray(sc.link_invweight[con["owner"]] + sc.link_invweight[con["opposing"]])
        if o["diagonal"] == "exact":
            A = jnp.einsum("cv,vc->c", J[:, 0], solve(J[:, 0].T)) / (jnp.sum(con["n"] ** 2, -1) + 1e-20)
        A = jnp.where(A > 0, A, 1.)                                      # nothing moves: J is 0
        ref = jnp.stack([-B * vel[:, 0] - K * imp * r, -B * vel[:, 1], -B * vel[:, 2]], 1)
        flat, cone = get("condim") == 1, o["cone"] == "elliptic"
        act = con["activity"]
        D1 = contact_stiffnesses(imp, act, A)
        if cone:
            ell = dict(J=J, ref=ref, D=jnp.where(flat, 0., D1), fr=fr, mu=fr / np.sqrt(max(o["impratio"], MINIMUM)))
        else:
            mu2 = fr ** 2 / max(o["impratio"], MINIMUM)
            Ap = A * (1 + fr ** 2) if o["diagonal"] != "exact" else None
            for k in (1, 2):
                for s in (1, -1):
                    Jk = J[:, 0] + s * fr[:, None] * J[:, k]
                    Ak = Ap if Ap is not None else _pyramid_diagonal(J, fr, solve)
                    U.append(Jk); Ur.append(-B * (Jk @ v) - K * imp * r)
                    UD.append(jnp.where(flat, 0., contact_stiffnesses(imp, act, Ak) / (2 * mu2)))
        if flat.any():
            U.append(J[:, 0]); Ur.append(ref[:, 0]); UD.append(jnp.where(flat, D1, 0.))
    Hu = dict(J=[], D=[], ref=[], f=[])
    dof_A = jnp.diag(jnp.linalg.inv(mass_matrix(sc, q, par))) if o["diagonal"] == "exact" and sc.nv else sc.dof_invweight
    for l, a, b in zip(sc.links, sc.qadr, sc.vadr):
        Jt = l["joint"]
        if Jt["limits"] is not None:
            K, B = reference_gains(Jt["solref_limit"], Jt["solimp_limit"], h)
            for s, end in zip((1., -1.), Jt["limits"]):
                r = s * (q[a] - end)
                act = jax.nn.sigmoid(-r / o["limit_smoothing"]) if o["limit_smoothing"] else (r < 0).astype(float)
                imp = impedance(jnp.array(Jt["solimp_limit"], float), r)
                U.append(s * jnp.eye(sc.nv)[b:b + 1]); Ur.append((-B * s * v[b] - K * imp * r)[None])
                UD.append(stiffnesses(imp, act, dof_A[b])[None])
        for k in range(b, b + DOFS[Jt["type"]]):
            if sc.frictionloss[k] > 0:
                K, B = reference_gains(Jt["solref_friction"], Jt["solimp_friction"], h)
                imp = impedance(jnp.array(Jt["solimp_friction"], float), 0.)
                Hu["J"].append(jnp.eye(sc.nv)[k]); Hu["ref"].append(-B * v[k]); Hu["f"].append(sc.frictionloss[k])
                Hu["D"].append(stiffnesses(imp, 1., dof_A[k]))
    if U: uni = dict(J=jnp.concatenate(U), ref=jnp.concatenate(Ur), D=jnp.concatenate(UD))
    hub = {k: jnp.stack([jnp.asarray(z) for z in x]) for k, x in Hu.items()} if Hu["J"] else None
    return ell, uni, hub


def _pyramid_diagonal(J, fr, solve):
    """Of the first edge, as MuJoCo takes it for all four."""
    Jk = J[:, 0] + fr[:, None] * J[:, 1]
    return jnp.einsum("cv,vc->c", Jk, solve(Jk.T))


# ---- the cone's cost (section 9) ----
def rho(z, t):
    """relu(z)^2 made twice differentiable on |z| < t -> value, first and second derivative. Exact outside, up to a constant t^2/3."""
    ts = jnp.where(t > 0, t, 1.)
    inside = (jnp.abs(z) < t)
    c = jnp.clip(z + ts, 0., None)
    p = jnp.maximum(z, 0.)
    return (jnp.where(inside, c ** 3 / (6 * ts), jnp.where(z > 0, p ** 2 + t ** 2 / 3, 0.)),
            jnp.where(inside, c ** 2 / (2 * ts), 2 * p), jnp.where(inside, c / ts, 2. * (z > 0)))


def cost_terms(j, blk, kind, t):
    """jar -> cost, gradient, curvature per row (3x3 blocks for elliptic)."""
    D = blk["D"]
    if kind == "uni":
        v, g, H = rho(-j, t)
        return .5 * D @ v, -.5 * D * g, .5 * D * H
    if kind == "hub":
        Rf = blk["f"] / D
        a, b = rho(j - Rf, t), rho(-j - Rf, t)
        return .5 * D @ (j * j - a[0] - b[0]), .5 * D * (2 * j - a[1] + b[1]), .5 * D * (2 - a[2] - b[2])
    fr, mu = blk["fr"], blk["mu"]
    k, c = fr / mu, jnp.sqrt(1 + mu ** 2)
    s2 = jnp.sum(j[:, 1:] ** 2, -1)
    flat = s2 < 1e-30
    s = jnp.sqrt(jnp.where(flat, 1e-30, s2))
    e = jnp.where(flat[:, None], 0., j[:, 1:] / s[:, None])
    s = jnp.where(flat, 0., s)
    z1, z2 = (fr * s - j[:, 0]) / c, -(mu * j[:, 0] + k * s) / c
    r1, r2 = rho(z1, t), rho(z2, mu * t)
    gn = .5 * D * (-r1[1] - mu * r2[1]) / c
    nn, ns, ss = (.5 * D / c ** 2 * x for x in (r1[2] + mu ** 2 * r2[2], mu * k * r2[2] - fr * r1[2], fr ** 2 * r1[2] + k ** 2 * r2[2]))
    # g_S / S without its cancellation at rest (section 15): the mean of rho2'' from z2 to mu z1.
    low, high, wide = z2, mu * z1, mu * t
    mean = (rho(high, wide)[1] - rho(low, wide)[1]) / jnp.where(flat, 1., high - low)
    inside = (low > -wide) & (high < wide)
    mean = jnp.where(inside, ((low + high) / 2 + wide) / jnp.where(wide > 0, wide, 1.), mean)
    mean = jnp.where(low >= wide, 2., jnp.where(high <= -wide, 0., mean))
    lat = jnp.where(flat, ss, .5 * D * k ** 2 * mean)
    ee = e[:, :, None] * e[:, None, :]
    tt = ss[:, None, None] * ee + lat[:, None, None] * (jnp.eye(2) - ee)
    top = jnp.concatenate([nn[:, None], ns[:, None] * e], 1)[:, None]
    H = jnp.concatenate([top, jnp.concatenate([(ns[:, None] * e)[:, :, None], tt], 2)], 1)
    return .5 * D @ (r1[0] + r2[0]), jnp.concatenate([gn[:, None], lat[:, None] * j[:, 1:]], 1), H


def objective(a, M, a0, blocks, t):
    """-> cost, gradient (nv), Hessian (nv,nv), constraint force in joint space (nv), multipliers per block."""
    d = a - a0
    c, g, H, lam = .5 * d @ M @ d, M @ d, M, []
    f = jnp.zeros_like(a)
    for blk, kind in zip(blocks, ("ell", "uni", "hub")):
        if blk is None: lam.append(None); continue
        cc, gg, hh = cost_terms(blk["J"] @ a - blk["ref"], blk, kind, t)
        if kind == "ell":
            g1, H1 = jnp.einsum("ck,ckv->v", gg, blk["J"]), jnp.einsum("ckv,ckl,clw->vw", blk["J"], hh, blk["J"])
        else:
            g1, H1 = gg @ blk["J"], (blk["J"].T * hh) @ blk["J"]
        c, g, H, f = c + cc, g + g1, H + H1, f - g1
        lam.append(-gg)
    return c, g, H, f, lam


def cone_solve(sc, M, a0, blocks, warm):
    """Newton's method with an exact line search -> a, iterations, converged (section 9)."""
    o, tau = sc.options, sc.options["cone_smoothing"]
    cost = lambda a: objective(a, M, a0, blocks, tau)[0]
    start = jnp.where(cost(warm) < cost(a0), warm, a0)

    def search(a, dx):
        def slope(al):
            _, g, H, _, _ = objective(a + al * dx, M, a0, blocks, tau)
            return g @ dx, dx @ H @ dx
        s0 = jnp.abs(slope(0.)[0])
        def body(s):
            al, lo, hi, k, _ = s
            d1, d2 = slope(al)
            ok = jnp.abs(d1) <= o["line_tolerance"] * s0
            lo, hi = jnp.where(d1 < 0, al, lo), jnp.where(d1 < 0, hi, al)
            new = al - d1 / d2
            mid = jnp.where(jnp.isfinite(hi), .5 * (lo + hi), 2 * al)
            new = jnp.where((new > lo) & (new < hi), new, mid)
            return jnp.where(ok, al, new), lo, hi, k + 1, ok
        return jax.lax.while_loop(lambda s: (~s[4]) & (s[3] < o["line_iterations"]), body, (1., 0., jnp.inf, 0, False))[0]

    def body(s):
        a, k, _ = s
        _, g, H, _, _ = objective(a, M, a0, blocks, tau)
        dx = -jnp.linalg.solve(H, g)
        done = -(g @ dx) <= o["tolerance"] ** 2 * (a0 @ M @ a0 + a @ M @ a)
        return jnp.where(done, a, a + search(a, dx) * dx), jnp.where(done, k, k + 1), done
    return jax.lax.while_loop(lambda s: (~s[2]) & (s[1] < o["iterations"]), body, (start, 0, False))


def acceleration(sc, q, v, u, par, warm, given=None, extra=0.):
    """-> a, M, force total, info. Differentiable to first order in everything (section 10)."""
    M = mass_matrix(sc, q, par)
    f = forces(sc, q, v, u) + extra - bias(sc, q, v, par)
    a0 = jnp.linalg.solve(M, f)
    con, over = (given, jnp.array(False)) if given is not None else contacts(sc, q, par)
    blocks = rows(sc, q, v, con, par)
    stop = jax.lax.stop_gradient
    a, it, ok = cone_solve(sc, *(jax.tree.map(stop, x) for x in (M, a0, blocks, warm)))
    tau = sc.options["cone_smoothing"]
    a = stop(a)
    _, g, H, _, _ = objective(a, M, a0, blocks, tau)
    a = a - jnp.linalg.solve(stop(H), g)                 # value: one more Newton step; derivative: the implicit function theorem
    _, _, _, fc, lam = objective(a, M, a0, blocks, tau)
    return a, M, f + fc, dict(qacc=a, qacc_smooth=a0, M=M, lam=lam, blocks=blocks, contacts=con, iterations=it, converged=ok, overflow=over, fc=fc)


def valid_input(sc, q, v, u):
    """Whether everything is finite and no quaternion has length 0."""
    ok = jnp.isfinite(q).all() & jnp.isfinite(v).all() & jnp.isfinite(u).all()
    for l, a in zip(sc.links, sc.qadr):
        a += 3 * (l["joint"]["type"] == "free")
        if l["joint"]["type"] in ("ball", "free"): ok = ok & (jnp.sum(q[a:a + 4] ** 2) > 0)
    return ok


def step(sc, q, v, u, par=None, warm=None, given=None):
    """One time step -> q', v', info (section 11)."""
    par, h = par or default_parameters(sc), sc.options["timestep"]
    warm = jnp.zeros(sc.nv) if warm is None else warm
    a, M, f, info = acceleration(sc, q, v, u, par, warm, given)
    if sc.options["integrator"] == "euler":
        if sc.damping.any(): a = jnp.linalg.solve(M + h * jnp.diag(jnp.asarray(sc.damping)), f)
        v1 = v + h * a
        q1 = integrate(sc, q, h * v1)
    else:
        vs, accs, w, over, conv = [v], [a], info["qacc"], info["overflow"], info["converged"]
        for c in (.5, .5, 1.):
            sg = c * h * vs[-1]
            qi, vi = integrate(sc, q, sg), v + c * h * accs[-1]
            ai, _, _, inf = acceleration(sc, qi, vi, u, par, w, given)
            vs.append(exp_rate(sc, sg, vi)); accs.append(ai); w = inf["qacc"]
            over, conv = over | inf["overflow"], conv & inf["converged"]
        info |= dict(overflow=over, converged=conv, qacc=w)
        comb = lambda z: (z[0] + 2 * z[1] + 2 * z[2] + z[3]) / 6
        v1, q1 = v + h * comb(accs), integrate(sc, q, h * comb(vs))
    readable = valid_input(sc, q, v, u)
    definite = jnp.isfinite(jnp.linalg.cholesky(jnp.where(readable, M, jnp.eye(sc.nv)))).all() if sc.nv else jnp.array(True)
    finite = jnp.isfinite(v1).all() & jnp.isfinite(q1).all()
    big = jnp.max(jnp.abs(v1), initial=0.) > sc.options["divergence"]
    info["status"] = NOT_FINITE * ~finite + DIVERGED * (finite & big) + OVERFLOW * info["overflow"] + NOT_CONVERGED * ~info["converged"] \
        + SINGULAR * ~definite + BAD_INPUT * ~readable
    keep = finite & ~big & definite & readable
    return jnp.where(keep, q1, q), jnp.where(keep, v1, v), info


def rollout(sc, q, v, us, par=None, steps=None):
    """us (T,nu) -> q (T,nq), v (T,nv), status (T)."""
    par = par or default_parameters(sc)
    T = len(us) if steps is None else steps
    us = jnp.zeros((T, 0)) if us is None else us
    def one(s, u):
        q1, v1, info = step(sc, s[0], s[1], u, par, s[2])
        return (q1, v1, jax.lax.stop_gradient(info["qacc"])), (q1, v1, info["status"])
    return jax.lax.scan(jax.checkpoint(one), (q, v, jnp.zeros(sc.nv)), us)[1]


def step_derivatives(sc, q, v, u, par=None, warm=None, given=None):
    """A (2nv,2nv), B (2nv,nu) and d/d parameters, all in the tangent space of q and q' (section 10)."""
    par = par or default_parameters(sc)
    q1 = step(sc, q, v, u, par, warm, given)[0]
    def f(d, v, u, par):
        a, b, _ = step(sc, integrate(sc, q, d), v, u, par, warm, given)
        return jnp.concatenate([difference(sc, a, jax.lax.stop_gradient(q1)), b])
    Jd, Jv, Ju, Jp = jax.jacfwd(f, argnums=(0, 1, 2, 3))(jnp.zeros(sc.nv), v, u, par)
    return jnp.concatenate([Jd, Jv], 1), Ju, Jp
