"""Golden steps of worlds of springs that those of the reference do not reach: joint limits, springs that rest
elsewhere, actuators of all kinds with gears and limited forces, several pairs, several bodies a link, each
displaced and turned, smooth dissipation; derivatives by pairs' numbers, scales of mass and gravity.

    PYTHONPATH=REFERENCE python tools/make_spring_worlds_golden.py OUT

REFERENCE holds spring_reference.py, which is not of this project. What it lacks is here, from docs/spring.md and
docs/scenes.md, and all derivatives are automatic.
"""
import json
import os
import sys

os.environ.setdefault("XLA_FLAGS", "--xla_backend_optimization_level=0 --xla_llvm_disable_expensive_passes=true")
import jax
import jax.numpy as jnp
import numpy as np
from spring_reference import Model, Spring, aopc_of_mesh, dissipation, pair_force, place, quat_matrix

STATES, STEPS = 8, 20
NUMBERS = ("k", "mu", "v_d", "v_s", "eps2", "eps3")
LIMIT = (1e4, 1e-3, 0.1)  # of a limit: stiffness, temperature, velocity


def brick(half, cells=2):
    """A box with `cells` squared quads per side."""
    index, faces = {}, []
    for axis in range(3):
        for side in (-1, 1):
            for i in range(cells):
                for j in range(cells):
                    face = []
                    for a, b in ((i, j), (i + 1, j), (i + 1, j + 1), (i, j + 1)):
                        p = np.empty(3)
                        p[axis], p[axis - 2], p[axis - 1] = side, 2 * a / cells - 1, 2 * b / cells - 1
                        face.append(index.setdefault(tuple(half * p), len(index)))
                    faces.append(face[::side])
    return np.array(list(index)), faces


def write_mesh(path, mesh):
    with open(path, "w") as file:
        file.writelines("v %.17g %.17g %.17g\n" % tuple(p) for p in mesh[0])
        file.writelines("f " + " ".join(str(i + 1) for i in face) + "\n" for face in mesh[1])


class World(Model):
    """Bodies by (link, place on it); p: springs (pairs, 6), mass_scale (links) and gravity of this world."""
    def __init__(self, scene, clouds):
        super().__init__(dict(scene, pairs=[]))
        name = {l["name"]: i for i, l in enumerate(scene["links"])}
        joints = [l["joint"] for l in scene["links"] if l["joint"]["type"] != "fixed"]
        self.rest = np.array([j.get("rest", 0.0) for j in joints])
        self.limits = [(i, j["limits"], j.get("limit_spring", LIMIT)) for i, j in enumerate(joints) if "limits" in j]
        self.ends = [[(name[end[0]], end[1]) for end in (p["a"], p["b"])] for p in scene["pairs"]]
        self.kinds = [p["contact"]["dissipation"] for p in scene["pairs"]]
        self.smooth = "smooth" if all(k == "smooth" for k in self.kinds) else "c1"
        self.clouds = clouds
        self.usual = dict(springs=np.array([[p["contact"][n] for n in NUMBERS] for p in scene["pairs"]]),
                          mass_scale=np.ones(len(scene["links"])), gravity=np.array(scene["gravity"]))

    def moving(self, q, p):
        """Returns for each link its mass, centre of mass, Jacobian, angular Jacobian in the link, inertia."""
        for l, scale, (R, t, S) in zip(self.scene["links"], p["mass_scale"], self.kinematics(q)):
            c = t + R @ np.array(l.get("com", [0, 0, 0]), float)
            yield (scale * l.get("mass", 0.0), c, S[3:] + jnp.cross(S[:3].T, c).T, R.T @ S[:3],
                   scale * np.array(l.get("inertia", np.zeros((3, 3))), float))

    def mass(self, q, p):
        return jnp.diag(jnp.asarray(self.armature)) + sum(m * Jc.T @ Jc + Jw.T @ I @ Jw
                                                          for m, _, Jc, Jw, I in self.moving(q, p))

    def bias_of(self, q, v, p):
        def energy(q):
            return 0.5 * v @ self.mass(q, p) @ v + sum(m * p["gravity"] @ c for m, c, _, _, _ in self.moving(q, p))
        return jax.jvp(lambda q: self.mass(q, p) @ v, (q,), (v,))[1] - jax.grad(energy)(q)

    def actuation(self, q, v, u):
        f = jnp.zeros(self.n)
        for i, (d, a) in enumerate(self.actuators):
            gear = a.get("gear", 1.0)
            own = {"motor": lambda: u[i], "velocity": lambda: a["kv"] * (u[i] - gear * v[d]),
                   "position": lambda: a["kp"] * (u[i] - gear * q[d]) - a.get("kv", 0.0) * gear * v[d]}[a["kind"]]()
            f = f.at[d].add(gear * (jnp.clip(own, *a["force_limits"]) if "force_limits" in a else own))
        return f

    def passive(self, q, v):
        f = super().passive(q - self.rest, v)
        for d, (low, high), (k, e, speed) in self.limits:
            for side, gone in ((1, low - q[d]), (-1, q[d] - high)):
                f = f.at[d].add(side * k * e * jax.nn.softplus(gone / e) * dissipation(side * v[d] / speed, self.smooth))
        return f

    def body(self, kin, v, end):
        R, t, S = kin[end[0]]
        b = self.scene["links"][end[0]]["bodies"][end[1]]
        Rb = R @ quat_matrix(np.array(b["quaternion"], float))
        return place(self.clouds[b["file"]], Rb, t + R @ np.array(b["position"]), S[:3] @ v, S[3:] @ v)

    def contact_of(self, q, v, p):
        kin, f = self.kinematics(q), jnp.zeros(self.n)
        for ends, kind, numbers in zip(self.ends, self.kinds, p["springs"]):
            law = Spring(*numbers, dissipation=kind)
            for (link, _), W in zip(ends, pair_force(*(self.body(kin, v, end) for end in ends), law)):
                f = f + kin[link][2][3:].T @ W[:3] + kin[link][2][:3].T @ W[3:]
        return f

    def force_of(self, q, v, u, p):
        return self.actuation(q, v, u) + self.passive(q, v) - self.bias_of(q, v, p) + self.contact_of(q, v, p)

    def next(self, q, v, u, p, integrator):
        h = self.h
        if integrator == "rk4":
            def stage(k, c):
                qi, vi = q + c * h * k[0], v + c * h * k[1]
                k = vi, jnp.linalg.solve(self.mass(qi, p), self.force_of(qi, vi, u, p))
                return k, k
            _, (kq, kv) = jax.lax.scan(stage, (0 * q, 0 * v), jnp.array([0.0, 0.5, 0.5, 1.0]))
            weight = jnp.array([1.0, 2.0, 2.0, 1.0]) / 6
            return q + h * weight @ kq, v + h * weight @ kv
        slope = -jnp.diag(self.damping) if integrator == "euler" else jax.jacfwd(lambda v: self.force_of(q, v, u, p))(v)
        after = v + h * jnp.linalg.solve(self.mass(q, p) - h * slope, self.force_of(q, v, u, p))
        return q + h * after, after

    def roll(self, q, v, u, p, integrator):
        def one(state, _):
            return self.next(*state, u, p, integrator), None
        return jax.lax.scan(one, (q, v), None, STEPS)[0]


def scene_of(kind):
    def contact(**numbers):
        return dict(dict(k=5000, mu=0.5, v_d=0.1, v_s=0.01, eps2=5e-4, eps3=2e-4, dissipation=kind, reaction="point"),
                    **numbers)

    def body(file, position, quaternion=(1, 0, 0, 0)):
        return dict(file=file, position=list(position), quaternion=list(quaternion))
    inertia = [[0.002, 1e-4, 0], [1e-4, 0.003, 0], [0, 0, 0.0025]]
    return dict(
        contact_model="spring", clouds=True, timestep=0.002, integrator="euler", gravity=[0.3, -0.2, -9.81],
        links=[
            dict(name="base", parent=-1, joint=dict(type="fixed"), position=[0.1, -0.2, 0.3], quaternion=[0.9, 0.1, -0.2, 0.3],
                 bodies=[body("large.obj", (0, 0, 0)), body("small.obj", (0.3, 0.02, 0.01), (0.7, 0, 0, 0.7))]),
            dict(name="lift", parent=0, mass=0.1, joint=dict(
                type="slide", axis=[0.1, 0, 1], limits=[-0.0005, 0.01], limit_spring=[3000, 5e-4, 0.2], stiffness=40, rest=0.004,
                frictionloss=0.4)),
            dict(name="arm", parent=1, position=[0, 0, 0.03], mass=0.6, com=[0.1, 0.01, 0.12], inertia=inertia,
                 joint=dict(type="hinge", axis=[0.1, 1, 0], position=[0, 0, 0.05], damping=0.03, armature=0.004, stiffness=0.7,
                            rest=-0.1, limits=[-0.3, 0.002]),
                 bodies=[body("small.obj", (0.02, 0.01, 0.1195), (1, 0.02, 0.01, 0.2)),
                         body("small.obj", (0.29, 0, 0.0697), (0.98, 0, 0.01, 0.1))]),
            dict(name="drawer", parent=0, mass=0.4, com=[-0.01, 0, 0.1], inertia=inertia, position=[-0.08, 0.01, 0.12],
                 quaternion=[0.99, 0, 0, 0.1],
                 joint=dict(type="slide", axis=[1, 0.1, 0], damping=1.5, frictionloss=0.2, limits=[-0.05, 0.05]),
                 bodies=[body("small.obj", (0, 0.01, 0.03), (0.98, 0.1, 0, 0))])],
        actuators=[dict(kind="motor", joint="lift", gear=1.7, force_limits=[-0.8, 0.6]),
                   dict(kind="position", joint="arm", gear=-1.3, kp=3, kv=0.3),
                   dict(kind="velocity", joint="drawer", gear=0.7, kv=4, force_limits=[-1.5, 2])],
        pairs=[dict(a=["arm", 0], b=["base", 0], contact=contact()),
               dict(a=["base", 1], b=["arm", 1], contact=contact(k=3000, mu=0.8, v_d=0.2, v_s=0.02, eps2=1e-3, eps3=4e-4)),
               dict(a=["drawer", 0], b=["arm", 0], contact=contact(mu=0.2, eps2=2e-3))])


def write_case(folder, kind, integrators):
    os.makedirs(folder, exist_ok=True)
    meshes = {"large.obj": brick(0.1), "small.obj": brick(0.05)}
    for name, mesh in meshes.items():
        write_mesh(f"{folder}/{name}", mesh)
    scene = scene_of(kind)
    with open(folder + "/scene.json", "w") as file:
        json.dump(scene, file, indent=1)
        file.write("\n")
    world = World(scene, {name: aopc_of_mesh(*mesh) for name, mesh in meshes.items()})
    rng, n = np.random.default_rng(5), world.n
    q = np.array([4e-4, 1e-3, 2e-3]) * rng.normal(size=(STATES, n))
    q[:, 2] += np.array([0, 0.02])[np.arange(STATES) % 2]
    v, u = 0.05 * rng.normal(size=(STATES, n)), 0.5 * rng.normal(size=(STATES, len(world.actuators)))
    p = dict(springs=world.usual["springs"] * np.exp(0.1 * rng.normal(size=(STATES, len(world.ends), 6))),
             mass_scale=np.exp(0.1 * rng.normal(size=(STATES, len(scene["links"])))),
             gravity=world.usual["gravity"] + 0.2 * rng.normal(size=(STATES, 3)))
    bar = rng.normal(size=(STATES, 2 * n))
    out = dict(q=q, v=v, u=u, bar=bar, **p)
    for integrator in integrators:
        def step(q, v, u, p):
            return jnp.concatenate(world.next(q, v, u, p, integrator))

        def roll(q, v, u, p):
            return jnp.concatenate(world.roll(q, v, u, p, integrator))

        def back(q, v, u, p, bar):
            return jax.vjp(roll, q, v, u, p)[1](bar)
        out[f"{integrator}_step"] = jax.jit(jax.vmap(step))(q, v, u, p)
        A = jax.jit(jax.vmap(jax.jacfwd(step, (0, 1, 2))))(q, v, u, p)
        out[f"{integrator}_A"], out[f"{integrator}_B"] = jnp.concatenate(A[:2], 2), A[2]
        out[f"{integrator}_roll"] = jax.jit(jax.vmap(roll))(q, v, u, p)
        by_q, by_v, by_u, by_p = jax.jit(jax.vmap(back))(q, v, u, p, bar)
        out.update({f"{integrator}_{k}_bar": x for k, x in dict(by_p, q=by_q, v=by_v, u=by_u).items()})
    forces = np.abs(jax.vmap(world.contact_of)(q, v, p))
    print(folder, "contact forces up to", forces.max(0), "least", forces.min(0))
    np.savez_compressed(folder + "/expected.npz", **{k: np.asarray(x) for k, x in out.items()})


def main(out):
    write_case(out + "/spring-joints", "c1", ("euler", "rk4", "implicit"))
    write_case(out + "/spring-joints-smooth", "smooth", ("euler", "implicit"))


if __name__ == "__main__":
    main(sys.argv[1])
