#!/usr/bin/env python3
"""The reference of the contact model against MuJoCo: python bench/peers/check_dynamics.py [--seed N] [--trees N] [--scenes N] [--states N]

Random trees (every joint, springs, dampers, armature, friction loss in both zones, limits, every actuator with force limits, bodies of
several joints), euler and rk4, and boxes on a plane whose contacts, MuJoCo's own, are given to the reference: elliptic, exact diagonal,
pyramidal, condim 1. Prints the largest difference of each array, relative to its largest entry, and ends with 1 where one is
above the limit. Needs jax, numpy and mujoco (PyPI).
"""
import argparse
import copy
import sys

import jax
import jax.numpy as jnp
import mujoco
import numpy as np

import dynamics_reference as dr

LIMIT = {"M": 1e-12, "bias": 1e-12, "transition": 1e-6}                # of others 1e-10
SOFT = dict(solref_limit="solreflimit", solimp_limit="solimplimit", solref_friction="solreffriction", solimp_friction="solimpfriction")


def unit(x):
    return x / np.linalg.norm(x)


# ---- scenes ----
def random_joint(rng, kind):
    j = dict(type=kind, frictionloss=float(rng.choice([0, .05, 1.5])), armature=rng.uniform(.01, .1), damping=rng.uniform(.05, .3),
             solref_friction=[rng.uniform(.01, .04), rng.uniform(.7, 1.3)])
    if kind == "free":
        return j
    j |= dict(position=rng.normal(size=3) * .1, axis=unit(rng.normal(size=3)), stiffness=rng.uniform(.5, 2))
    if kind != "ball":
        low = rng.uniform(-.3, 0)
        j |= dict(rest=rng.normal() * .2, limits=[low, low + rng.uniform(.2, .4)], solimp_limit=[.85, .97, .02, .4, 3.],
                  solref_limit=[[.015, .9], [-900., -40.]][int(rng.integers(2))])
    return j


def random_tree(rng, count):
    """Parents before children, depth first; a link in three is a chain of massless links, in MuJoCo one body."""
    links, stack = [], [-1]
    for i in range(count):
        kind = ["free", "hinge", "ball", "slide", "hinge", "slide"][i % 6]
        parent = int(rng.choice(stack)) if i and kind != "free" else -1
        S = rng.normal(size=(3, 3))
        S = S @ S.T + .5 * np.eye(3)
        solid = dict(mass=rng.uniform(.5, 2), com=rng.normal(size=3) * .1, inertia=.01 * (np.trace(S) * np.eye(3) - S))
        place = dict(position=rng.normal(size=3) * .3, quaternion=unit(rng.normal(size=4)))
        while stack[-1] != parent:
            stack.pop()
        if i % 3 == 1:
            for extra in ("slide", "hinge"):
                links.append(dict(parent=parent, joint=random_joint(rng, extra), **place))
                parent, place = len(links) - 1, {}
        links.append(dict(parent=parent, joint=random_joint(rng, kind), **place, **solid))
        stack.append(len(links) - 1)
    acts = []
    for i, l in enumerate(links):
        kind = l["joint"]["type"]
        limits = dict(force_limits=[-.6, .8]) if rng.uniform() < .5 else {}
        if kind in ("ball", "free"):
            acts.append(dict(kind="motor", joint=i, dof=int(rng.integers(dr.DOFS[kind])), gear=rng.uniform(.5, 2), **limits))
        else:
            acts.append(dict(kind=["motor", "position", "velocity"][len(acts) % 3], joint=i, gear=rng.uniform(-2, 2), kp=3., kv=.3, **limits))
    return dict(timestep=.004, links=links, actuators=acts, iterations=100)


def boxes(rng, count, **options):
    """Boxes over a plane, the last with a hinged flap; MuJoCo finds the contacts, `sizes` is for it alone."""
    links, sizes = [], []
    for i in range(count):
        h = rng.uniform(.06, .14, 3)
        m = 8000 * np.prod(h) * .5
        links.append(dict(parent=-1, position=[.5 * i, 0, h[2] - .002], joint=dict(type="free"), mass=m, com=[0, 0, 0],
                          inertia=np.diag(m / 3 * (h @ h - h * h))))
        sizes.append(h)
    h = np.array([.08, .05, .02])
    joint = dict(type="hinge", axis=[0, 1, 0], position=[-.08, 0, 0], damping=.05, armature=.01, limits=[-.05, .3], frictionloss=.05)
    links.append(dict(parent=count - 1, position=[sizes[-1][0] + .09, 0, .021 - links[-1]["position"][2]], joint=joint, mass=.3, com=[0, 0, 0],
                      inertia=np.diag(.1 * (h @ h - h * h))))
    sizes.append(h)
    return dict(timestep=.002, links=links, iterations=100, **options), sizes


# ---- the same for MuJoCo ----
def text(x):
    return " ".join(repr(float(v)) for v in np.ravel(x))


def joint_xml(i, j):
    if j["type"] == "fixed":
        return ""
    out = f'<joint name="j{i}" type="{j["type"]}"' + "".join(f' {k}="{j.get(k, 0)}"' for k in ("damping", "armature", "frictionloss"))
    if j["type"] != "free":
        out += f' pos="{text(j.get("position", [0, 0, 0]))}" stiffness="{j.get("stiffness", 0)}"'
        if j["type"] != "ball":
            out += f' axis="{text(j.get("axis", [0, 0, 1]))}" springref="{j.get("rest", 0)}"'
    if "limits" in j:
        out += f' limited="true" range="{text(j["limits"])}"'
    return out + "".join(f' {mj}="{text(j[k])}"' for k, mj in SOFT.items() if k in j) + "/>"


def body_xml(scene, i, sizes, geom):
    l, joints = scene["links"][i], joint_xml(i, scene["links"][i]["joint"])
    place = f'pos="{text(l.get("position", [0, 0, 0]))}" quat="{text(l.get("quaternion", [1, 0, 0, 0]))}"'
    while "mass" not in l:                                             # the chain's joints are one body's
        i = next(k for k, x in enumerate(scene["links"]) if x["parent"] == i)
        l = scene["links"][i]
        joints += joint_xml(i, l["joint"])
    I = l["inertia"]
    out = f'<body {place}>{joints}<inertial pos="{text(l["com"])}" mass="{text(l["mass"])}" ' \
          f'fullinertia="{text([I[0][0], I[1][1], I[2][2], I[0][1], I[0][2], I[1][2]])}"/>'
    if sizes:
        out += f'<geom type="box" size="{text(sizes[i])}" {geom} contype="1" conaffinity="2"/>'
    return out + "".join(body_xml(scene, k, sizes, geom) for k, x in enumerate(scene["links"]) if x["parent"] == i) + "</body>"


def actuator_xml(scene, a):
    kind, gear = scene["links"][a["joint"]]["joint"]["type"], np.zeros(6)
    gear[a.get("dof", 0)] = a.get("gear", 1.)
    gains = dict(motor="", position=f'kp="{a.get("kp")}" kv="{a.get("kv")}"', velocity=f'kv="{a.get("kv")}"')[a["kind"]]
    force = f'forcelimited="true" forcerange="{text(a["force_limits"])}"' if "force_limits" in a else ""
    return f'<{a["kind"]} joint="j{a["joint"]}" gear="{text(gear)}" {gains} {force}/>' if kind != "fixed" else ""


def to_mujoco(scene, sizes=None, geom=""):
    exact = '<flag diagexact="enable"/>' if scene.get("diagonal") == "exact" else ""
    plane = f'<geom type="plane" size="5 5 .1" {geom} contype="2" conaffinity="1"/>' if sizes else ""
    integrator = dict(euler="Euler", rk4="RK4")[scene.get("integrator", "euler")]
    roots = (i for i, l in enumerate(scene["links"]) if l["parent"] < 0)
    return mujoco.MjModel.from_xml_string(
        f'<mujoco><compiler angle="radian" autolimits="false"/><option timestep="{scene["timestep"]}" integrator="{integrator}" '
        f'cone="{scene.get("cone", "elliptic")}" impratio="{scene.get("impratio", 1.)}" solver="Newton" jacobian="dense" '
        f'tolerance="0" iterations="100" ls_iterations="100" ls_tolerance="1e-8" gravity="0 0 -9.81">{exact}</option>'
        f'<worldbody>{plane}{"".join(body_xml(scene, i, sizes, geom) for i in roots)}</worldbody>'
        f'<actuator>{"".join(actuator_xml(scene, a) for a in scene.get("actuators", []))}</actuator></mujoco>')


# ---- comparing ----
class Worst(dict):
    def add(self, name, got, want):
        got, want = np.asarray(got), np.asarray(want)
        error = np.abs(got - want).max(initial=0.) / max(np.abs(want).max(initial=0.), 1e-300)
        self[name] = max(self.get(name, 0.), error if np.isfinite(error) else np.inf)


def mujoco_answers(m, d, q, v, u):
    d.qpos[:], d.qvel[:], d.ctrl[:], d.qacc_warmstart[:] = q, v, u, 0
    mujoco.mj_forward(m, d)
    M = np.zeros((m.nv, m.nv))
    mujoco.mj_fullM(m, d, M) if mujoco.__version__ >= "3.3.3" else mujoco.mj_fullM(m, M, d.qM)
    return dict(M=M, bias=d.qfrc_bias.copy(), qacc_smooth=d.qacc_smooth.copy(), constraint=d.qfrc_constraint.copy(), qacc=d.qacc.copy())


def invweights(worst, sc, m, links):
    own = [i for i in links if sc.links[i]["mass"] > 0]
    worst.add("invweight", np.concatenate([sc.link_invweight[own], sc.dof_invweight]),
              np.concatenate([m.body_invweight0[1:, 0], m.dof_invweight0]))


def compare_state(worst, m, f, q, v, u, given, transition):
    d = mujoco.MjData(m)
    want = mujoco_answers(m, d, q, v, u)
    got = f(q, v, u, given(d) if given else None)
    step = mujoco.MjData(m)
    step.qpos[:], step.qvel[:], step.ctrl[:] = q, v, u
    if transition:
        A, B = np.zeros((2 * m.nv, 2 * m.nv)), np.zeros((2 * m.nv, m.nu))
        mujoco.mjd_transitionFD(m, step, 1e-6, True, A, B, None, None)
        worst.add("transition", np.hstack([got["A"], got["B"]]), np.hstack([A, B]))
        step.qpos[:], step.qvel[:], step.ctrl[:] = q, v, u
    step.qacc_warmstart[:] = 0
    mujoco.mj_step(m, step)
    for k, x in want.items():
        if not (m.opt.integrator == mujoco.mjtIntegrator.mjINT_RK4 and k == "qacc"):   # the last stage's
            worst.add(k, got[k], x)
    worst.add("q1", got["q1"], step.qpos)
    worst.add("v1", got["v1"], step.qvel)
    return d


def step_of(sc, transition):
    def f(q, v, u, given):
        q1, v1, info = dr.step(sc, q, v, u, given=given)
        par = dr.default_parameters(sc)
        out = dict(M=info["M"], bias=dr.bias(sc, q, v, par), qacc_smooth=info["qacc_smooth"], constraint=info["fc"], qacc=info["qacc"],
                   q1=q1, v1=v1)
        if transition:
            out["A"], out["B"], _ = dr.step_derivatives(sc, q, v, u)
        return out
    return jax.jit(f)


def check_trees(worst, rng, options):
    for k in range(options.trees):
        for integrator in ("euler", "rk4"):
            scene = random_tree(rng, 5) | dict(integrator=integrator)
            sc, m = dr.load_scene(copy.deepcopy(scene)), to_mujoco(scene)
            invweights(worst, sc, m, range(len(sc.links)))
            f, transition = step_of(sc, integrator == "euler"), integrator == "euler"
            for _ in range(options.states):
                q = np.asarray(dr.integrate(sc, jnp.asarray(sc.q0), rng.normal(size=sc.nv) * .4))
                compare_state(worst, m, f, q, rng.normal(size=sc.nv) * rng.choice([.02, 1.]), rng.normal(size=m.nu), None, transition)


def given_of(m, d, slots):
    """MuJoCo's contacts in the reference's form, filled up with some of activity 0."""
    links = np.arange(m.nbody) - 1
    con = dict(p=np.zeros((slots, 3)), d=np.zeros(slots), n=np.tile([0., 0, 1], (slots, 1)), frame=np.tile(np.eye(3), (slots, 1, 1)),
               activity=np.zeros(slots), owner=np.zeros(slots, int), opposing=np.full(slots, m.nbody - 1))
    assert d.ncon <= slots
    for k in range(d.ncon):
        c = d.contact[k]
        ends = [int(links[m.geom_bodyid[g]]) for g in (c.geom[0], c.geom[1])]
        con["p"][k], con["d"][k], con["frame"][k], con["activity"][k] = c.pos, c.dist, np.reshape(c.frame, (3, 3)), 1.
        con["n"][k] = c.frame[:3]
        con["owner"][k], con["opposing"][k] = (e if e >= 0 else m.nbody - 1 for e in ends[::-1])
    return con


def check_contacts(worst, rng, options):
    kinds = [dict(), dict(impratio=5.), dict(diagonal="exact"), dict(cone="pyramidal"), dict(cone="pyramidal", impratio=3.), dict(condim=1)]
    geoms = [dict(solref=[.02, 1.], solimp=[.9, .95, .001, .5, 2], margin=0.),
             dict(solref=[-2000., -80.], solimp=[.8, .98, .004, .3, 3.], margin=.01)]
    slots, seen = 32, 0
    for k in range(options.scenes):
        kind = dict(kinds[k % len(kinds)])
        condim = kind.pop("condim", 3)
        soft = geoms[(k // len(kinds) + k) % 2]
        scene, sizes = boxes(rng, 3, **kind)
        geom = "".join(f'{name}="{text(x)}" ' for name, x in soft.items()) + f'friction=".6 .005 .0001" condim="{condim}"'
        m = to_mujoco(scene, sizes, geom)
        sc = dr.load_scene(copy.deepcopy(scene))
        at = mujoco.MjData(m)
        mujoco.mj_forward(m, at)
        margin = at.contact[0].includemargin if at.ncon else 0.
        pair = dict(friction=.6, condim=condim, margin=margin, solref=soft["solref"], solimp=soft["solimp"])
        invweights(worst, sc, m, range(len(sc.links)))
        step = step_of(sc, False)
        places = {}

        def f(q, v, u, con):
            key = tuple(con["owner"]), tuple(con["opposing"])          # which are constants of the compiled function
            if key not in places:
                fixed = dict(owner=con["owner"], opposing=con["opposing"], pair=np.zeros(slots, int), pairs=[pair])
                places[key] = jax.jit(lambda q, v, u, c: step.__wrapped__(q, v, u, c | fixed))
            return places[key](q, v, u, {k: con[k] for k in ("p", "d", "n", "frame", "activity")})
        for s in range(options.states):
            d = rng.normal(size=sc.nv) * .01
            q = np.asarray(dr.integrate(sc, jnp.asarray(sc.q0), d))
            v = rng.normal(size=sc.nv) * [.01, .3, 1.5][s % 3]
            seen += compare_state(worst, m, f, q, v, np.zeros(0), lambda d: given_of(m, d, slots), False).ncon
    print(f"contacts: {seen} of {options.scenes * options.states} states")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    for name, default in (("seed", 0), ("trees", 2), ("scenes", 6), ("states", 4)):
        parser.add_argument("--" + name, type=int, default=default)
    options = parser.parse_args()
    failed = False
    for what, check in (("trees", check_trees), ("contacts", check_contacts)):
        worst = Worst()
        check(worst, np.random.default_rng(options.seed), options)
        for name, x in worst.items():
            limit = LIMIT.get(name, 1e-10)
            failed |= x > limit
            print(f"{what:10} {name:12} {x:.1e}{'' if x <= limit else f', above {limit:.0e}'}")
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
