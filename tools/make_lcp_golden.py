"""Golden steps with hard contacts that those of the reference do not reach: normals that turn with bodies,
friction losses of joints, pairs with a friction of their own, a bounce beside a contact that rests.

    PYTHONPATH=REFERENCE python tools/make_lcp_golden.py OUT

REFERENCE holds lcp_reference.py and make_golden_lcp.py, which are not of this project. What the reference
lacks, boxed rows of friction losses and several coefficients, is here, and its derivatives are compared with
differences before they are written.
"""
import json
import os
import sys

import jax
import jax.numpy as jnp
import numpy as np
import lcp_reference as reference
from lcp_reference import CLAMPING, TIED, Model, Rows
from make_golden_lcp import Z, jumpworm, save_steps, scene_of, sphere_inertia

STEP = 1e-6  # of differences


def turned(rng, size):
    return np.asarray(reference.quat_add(np.array([1.0, 0, 0, 0]), size * rng.normal(size=3)))


def dome(radius=0.1, below=0.3, mass=0.7, **settings):
    """A ball on a fixed sphere about the origin."""
    def contacts(_, x):
        length = (x[0] @ x[0])**0.5
        n = x[0] / length
        return [(0, -1, x[0] - radius * n, length - radius - below, n)]
    links = [dict(joint="free", mass=mass, inertia=sphere_inertia(mass, radius))]
    return Model(links, contacts, gear=np.eye(6), **settings)


def ball_on_ball(radius=0.1, **settings):
    """A ball on a ball on a plane: the upper one bounces while the lower one rests."""
    def contacts(_, x):
        apart = x[1] - x[0]
        length = (apart @ apart)**0.5
        n = apart / length
        return [(1, 0, x[1] - n * radius, length - 2 * radius, n), (0, -1, x[0] - radius * Z, x[0][2] - radius, Z)]
    links = [dict(joint="free", mass=m, inertia=sphere_inertia(m, radius)) for m in (0.7, 0.4)]
    return Model(links, contacts, gear=np.eye(12)[:, [0, 7, 10]], **settings)


class Losing(Model):
    """losses (nv) [N or N m]; pair_of: the pair of each candidate; mus: of each pair."""
    def rows_at(self, q, chosen):
        J, d = super().rows_at(q, chosen)
        return reference.module(q).concatenate([J, np.eye(self.nv)[self.losses > 0]]), d


def step(model, q, v, u):
    """A step as in the reference, with losses and frictions of pairs. None if a row is tied or no solution is found."""
    M, c, J, d, chosen = reference.smooth(model, q, v, model.mass)
    count, held = len(chosen[0]), model.losses[model.losses > 0]
    free = v + model.dt * np.linalg.solve(M, model.gear @ u - model.damping * v - c)
    parent = sum([[-1, 3 * k, 3 * k] for k in range(count)], []) + [-1] * len(chosen[1]) + [-2] * len(held)
    pair = np.array([model.pair_of[k] for k in chosen[0]], int)
    mu = [model.mus[pair[i // 3]] if p >= 0 else 0.0 for i, p in enumerate(parent)]
    box = np.r_[np.zeros(len(parent) - len(held)), model.dt * held]
    rows = Rows(parent, mu, box)
    s, bounce, R = (np.array(x) for x in reference.target(model, count, J, d, v))
    A, b = J @ np.linalg.solve(M, J.T), J @ free - s
    f, classes, how = reference.boxed_lcp(A, b, rows)
    if how != 1 or TIED in classes:
        return None
    after = free + np.linalg.solve(M, J.T @ f)
    return dict(q=np.array(model.add(q, model.dt * after)), v=after, f=f, classes=classes, rows=rows, A=A, b=b, J=J, M=M,
                s=s, bounce=bounce > 0, R=R, chosen=chosen, count=count, free=free, d=d, a=(free - v) / model.dt,
                pair=pair)


def by_friction(model, r):
    """dv+/dmu of each pair (nv, pairs)."""
    C, U, E, _ = reference.mapping(r["rows"], r["classes"])
    J, M, columns = r["J"], r["M"], []
    K = J[C].T + J[U].T @ E
    MK = np.linalg.solve(M, K)
    P = np.eye(model.nv) - MK @ reference.pinv(J[C] @ MK) @ J[C]
    for p in range(len(model.mus)):
        own = np.array([i < 3 * r["count"] and r["pair"][i // 3] == p for i in U], bool)
        columns.append(P @ np.linalg.solve(M, J[U].T @ (np.sign(E) * own[:, None]) @ r["f"][C]))
    return np.stack(columns, 1)


def derivatives(model, q, v, u, r):
    return dict(reference.jacobians(model, q, v, u, r, elastic="none"), dv_dmu=by_friction(model, r))


def off_differences(model, q, v, u, j):
    worst = 0.0
    for k in range(2 * model.nv):
        e = STEP * np.eye(2 * model.nv)[k]
        sides = [step(model, np.array(model.add(q, t * e[:model.nv])), v + t * e[model.nv:], u) for t in (1, -1)]
        if None in sides:
            return np.inf
        by = np.r_[reference.difference(model, sides[1]["q"], sides[0]["q"]), sides[0]["v"] - sides[1]["v"]]
        worst = max(worst, np.abs(j["A"][:, k] - by / (2 * STEP)).max() / np.abs(j["A"]).max())
    return worst


def states_of(model, rng):
    """Returns a state for each number of pushing pairs, in all of which a joint's friction loss holds."""
    seen = {}
    while len(seen) < 3:
        q = np.r_[0.1, 0.0499 - 0.002 * rng.random(), 0.15 * rng.normal(size=3)]
        v = np.r_[0.5 * rng.normal(size=2), rng.choice([0.02, 0.5]) * rng.normal(size=3)]
        u = 0.5 * rng.normal(size=3)
        r = step(model, q, v, u)
        if r is None or r["count"] < 2 or CLAMPING not in r["classes"][-4:]:
            continue
        pushing = len(set(r["pair"][r["f"][:3 * r["count"]:3] > 1e-6]))
        if pushing not in seen and off_differences(model, q, v, u, derivatives(model, q, v, u, r)) < 1e-6:
            seen[pushing] = (q, v, u)
    return list(seen.values())


def save_losing(folder, model, states):
    os.makedirs(folder, exist_ok=True)
    scene = scene_of(model)
    for link, loss in zip(scene["links"], model.losses):
        if loss > 0:
            link["joint"]["frictionloss"] = float(loss)
    scene["pairs"] = [dict(friction=mu, restitution=model.restitution) for mu in model.mus]
    with open(folder + "/scene.json", "w") as file:
        json.dump(scene, file, indent=1)
    for i, (q, v, u) in enumerate(states):
        r = step(model, q, v, u)
        chosen, zero = r["chosen"][0], jnp.zeros(model.nv)

        def geometry(e):
            all_ = model.geoms(*model.poses(model.add(jnp.asarray(q), e)))
            return tuple(jnp.stack([jnp.asarray(all_[k][part]) for k in chosen]) for part in (2, 3, 4))
        state = dict(q=q, v=v, u=u, pair=r["pair"])
        state.update(zip(("p", "d", "n"), geometry(zero)))
        state.update(zip(("dp", "dd", "dn"), jax.jacfwd(geometry)(zero)))
        every = model.geoms(*model.poses(q))
        state.update(owner=[every[k][0] for k in chosen], other=[every[k][1] for k in chosen])
        np.savez_compressed(f"{folder}/state{i}.npz", **state)
        expected = {{"A": "lcp_A", "b": "lcp_b"}.get(k, k): r[k] for k in ("M", "J", "A", "b", "s", "f", "classes", "bounce")}
        expected.update(derivatives(model, q, v, u, r), q1=r["q"], v1=r["v"], v_free=r["free"])
        np.savez_compressed(f"{folder}/expected{i}.npz", **expected)


def finish(folder):
    """Writes files without truth values, and with derivatives by links' mass scales."""
    with open(folder + "/scene.json") as file:
        mass = np.array([link["mass"] for link in json.load(file)["links"]])
    for name in os.listdir(folder):
        if name.startswith("expected"):
            arrays = dict(np.load(folder + "/" + name))
            arrays = {k: x.astype(np.uint8) if x.dtype == bool else x for k, x in arrays.items()}
            np.savez_compressed(folder + "/" + name, dv_dscale=arrays["dv_dmass"] * mass,
                                **{k: x for k, x in arrays.items() if k != "dv_dscale"})


def main(out):
    rng = np.random.default_rng(7)

    def at(direction, distance):
        return np.array(direction) / np.linalg.norm(direction) * distance

    def spin(size):
        return size * rng.normal(size=3)
    save_steps(out + "/lcp-dome", dome(dt=2e-3, mu=0.4, margin=0.01, slop=2e-4), [
        (np.r_[at((0.3, 0.2, 0.9), 0.399), turned(rng, 0.5)], np.r_[0.3, -0.2, -0.4, spin(2)], 0.3 * rng.normal(size=6)),
        (np.r_[at((0.5, -0.4, 0.6), 0.3999), turned(rng, 0.5)], np.r_[0.1, 0.2, -0.3, spin(1)], 0.3 * rng.normal(size=6)),
        (np.r_[at((-0.3, 0.2, -0.9), 0.4008), turned(rng, 0.5)], np.r_[0.2, -0.3, 1.5, spin(1)], 0.3 * rng.normal(size=6))])
    model = ball_on_ball(dt=2e-3, mu=0.3, restitution=0.6, slop=1e-4, margin=0.005)
    low = np.array([0, 0, 0.0995])
    save_steps(out + "/lcp-ball-on-ball", model, [
        (np.r_[low, turned(rng, 0.4), low + at((0.2, 0.3, 0.9), 0.1995), turned(rng, 0.4)],
         np.r_[0.1, -0.2, -0.02, spin(1), 0.3, 0.1, -1.2, spin(1)], 0.3 * rng.normal(size=3))])
    model = jumpworm(dt=2e-3, mu=0.6, margin=0.01, slop=1e-4)
    model.__class__ = Losing
    model.losses, model.mus, model.pair_of = np.array([0.3, 0, 0.02, 0.01, 0.05]), [0.6, 0.25], [0, 0] + [1] * 6
    save_losing(out + "/lcp-losses", model, states_of(model, np.random.default_rng(11)))
    for name in ("dome", "ball-on-ball", "losses"):
        finish(out + "/lcp-" + name)


if __name__ == "__main__":
    main(sys.argv[1])
