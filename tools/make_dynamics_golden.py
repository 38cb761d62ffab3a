#!/usr/bin/env python3
"""Write golden cases of worlds: tools/make_dynamics_golden.py [CASE...] [--out tests/golden-dynamics]

Each case is a folder cone-NAME of scene.json with its bodies, inputs.npz and expected.npz; the first axis is the world.
Names are those of the specification's section on golden cases, and more inputs: par_mass_scale, par_friction, par_stiffness,
par_gravity (parameters of each world), w (where the solver starts; else 0), u_rollout (controls of each step of the rollout).
An entry of expected.npz that is not a number is not stated by the specification and is not compared. status_mask: bits of
`status` that are; status_float32: `status` where float32 cannot hold the input.
Answers are those of bench/peers/dynamics_reference.py, in float64, never abut's own. Needs jax and numpy (PyPI).
"""
import argparse
import json
import pathlib
import shutil

from dynamics_answers import CONTACTS, NONE, ROOT, again, clean, dr, jax, jnp, np, rounded, write
from tree_reference import quat_mul, quat_to_mat

BOX_FACES = [[0, 1, 3, 2], [4, 6, 7, 5], [0, 4, 5, 1], [2, 3, 7, 6], [0, 2, 6, 4], [1, 5, 7, 3]]


def unit(x):
    return x / np.linalg.norm(x)


# ---- scenes ----
def load(scene):
    return dr.load_scene(clean(scene))


def states(sc, rng, count, spread, speed):
    q = np.stack([dr.integrate(sc, jnp.asarray(sc.q0), x) for x in rng.normal(size=(count, sc.nv)) * spread])
    return dict(q=q, v=rng.normal(size=(count, sc.nv)) * np.broadcast_to(speed, (count,))[:, None],
                cotangent=rng.normal(size=(count, 2 * sc.nv)))


def solid(rng, mass):
    S = rng.normal(size=(3, 3))
    S = S @ S.T + .5 * np.eye(3)
    return dict(mass=mass, com=rng.normal(size=3) * .1, inertia=.01 * (np.trace(S) * np.eye(3) - S))


def link(rng, parent, joint, mass=1., **more):
    """A link at a random place; massless if the mass is 0."""
    joint = dict(joint)
    if joint["type"] in ("hinge", "slide", "ball"):
        joint = dict(position=rng.normal(size=3) * .1, axis=unit(rng.normal(size=3))) | joint
    return dict(parent=parent, position=rng.normal(size=3) * .3, quaternion=unit(rng.normal(size=4)), joint=joint,
                **(solid(rng, mass) if mass else {}), **more)


def scene_of(links, actuators=(), pairs=(), **options):
    return dict(contact_model="cone", timestep=.002) | options | dict(links=links, actuators=list(actuators), pairs=list(pairs))


def friction_loss(out):
    """Both zones of friction loss, on every type of joint; a world without gravity sticks."""
    for name, options in (("friction-loss", {}), ("friction-loss-exact-smooth", dict(diagonal="exact", cone_smoothing=.3))):
        rng = np.random.default_rng(101)
        links = [link(rng, -1, dict(type="free", frictionloss=.6, solref_friction=[.03, 1.5], solimp_friction=[.7, .9, .001, .5, 2])),
                 link(rng, 0, dict(type="hinge", frictionloss=3., solref_friction=[-200., -10.], damping=.1)),
                 link(rng, 1, dict(type="slide", frictionloss=.05, armature=.02, solimp_friction=[.5, .99, .01, .3, 3])),
                 link(rng, 2, dict(type="ball", frictionloss=.2)),
                 link(rng, -1, dict(type="hinge", frictionloss=1., axis=[0, 0, 1]))]
        s = scene_of(links, [dict(kind="motor", joint=4), dict(kind="motor", joint=2, gear=2.)], **options)
        sc = load(s)
        x = states(sc, rng, 5, .3, [.5, .05, .001, 1., .01])
        gravity = np.tile([0., 0, -9.81], (5, 1))
        gravity[[1, 2]] = 0
        write(out / ("cone-" + name), s, x | dict(u=[[.5, .1], [.2, .1], [0, 0], [-3, 4], [1.2, -.01]], par_gravity=gravity))


def limits(out):
    """Limits from both sides, within the width of the impedance and beyond it, with every form of solref."""
    for name, options in (("limits", {}), ("limits-smooth", dict(limit_smoothing=.01)), ("limits-exact", dict(diagonal="exact")),
                          ("limits-exact-smooth", dict(diagonal="exact", cone_smoothing=.5, limit_smoothing=.004))):
        rng = np.random.default_rng(103)
        links = [link(rng, -1, dict(type="hinge", limits=[-.3, .2], solref_limit=[.01, .8], solimp_limit=[.8, .97, .02, .3, 3], damping=.1)),
                 link(rng, 0, dict(type="slide", limits=[-.05, .05], solref_limit=[-800, -30], solimp_limit=[.95, .95, .001, .5, 2])),
                 link(rng, 1, dict(type="hinge", limits=[.1, .4], frictionloss=.02)),
                 link(rng, 0, dict(type="slide", limits=[-.2, .6], solref_limit=[.003, 1.], solimp_limit=[.9, .99, 0., .5, 1])),
                 link(rng, 3, dict(type="ball"))]
        s = scene_of(links, **options)
        sc = load(s)
        x = states(sc, rng, 5, .3, [.5, .5, 2., 1., 0.])
        x["q"][:, :4] = [[-.31, .06, .05, -.2005], [.26, -.051, .43, .7], [.1, .01, .2, .1], [-.304, .03, .401, -.25], [.206, .053, .08, .61]]
        write(out / ("cone-" + name), s, x)


def actuators(out):
    """Every kind of actuator on every joint that supports it, clipped and not; springs, also of balls; quaternions of any length."""
    for name, options in (("actuators", {}), ("actuators-rk4", dict(integrator="rk4"))):
        rng = np.random.default_rng(107)
        links = [link(rng, -1, dict(type="free")),
                 link(rng, 0, dict(type="hinge", stiffness=3., rest=.2, damping=.2)),
                 link(rng, 0, dict(type="slide", stiffness=20., rest=-.05, damping=.1, armature=.05)),
                 link(rng, 1, dict(type="ball", stiffness=4., damping=.05)),
                 link(rng, -1, dict(type="ball", stiffness=2.)),
                 link(rng, 4, dict(type="fixed")),
                 link(rng, 5, dict(type="slide", axis=[1, 2, 2]))]
        acts = [dict(kind="motor", joint=0, dof=k, gear=g) for k, g in ((0, 1.5), (4, -.5))]
        acts += [dict(kind="motor", joint=3, dof=2, gear=.7, force_limits=[-.5, .4]), dict(kind="motor", joint=4, dof=1)]
        for j, k in ((1, 3.), (2, 30.), (6, 5.)):
            acts += [dict(kind="motor", joint=j, gear=-2., force_limits=[-1, 2]),
                     dict(kind="position", joint=j, gear=1.3, kp=k, kv=.1 * k, force_limits=[-2, 2]),
                     dict(kind="velocity", joint=j, gear=.8, kv=.2 * k)]
        s = scene_of(links, acts, **options)
        sc = load(s)
        x = states(sc, rng, 4, .5, [.5, 1., 0., 2.])
        x["q"][1, 3:7] *= 2.5
        x["q"][1, -5:-1] *= .1
        x["q"][2, -5:-1] = [-1, 0, 0, 0]  # the identity, as the negated quaternion
        x["q"][3, -5:-1] = [.02, .6, -.8, .1]                         # near half a turn
        write(out / ("cone-" + name), s, x | dict(u=rng.normal(size=(4, len(acts))) * np.array([.3, 1., 4., 1.])[:, None]))


def given_links(rng):
    inertia = lambda m, h: np.diag(m / 3 * np.array([h[1]**2 + h[2]**2, h[0]**2 + h[2]**2, h[0]**2 + h[1]**2]))
    free = lambda x, m: dict(parent=-1, position=x, joint=dict(type="free"), mass=m, com=[.01, .0, -.02], inertia=inertia(m, [.1, .12, .08]))
    arm = dict(type="hinge", axis=[0, 1, 0], damping=.05, armature=.01, limits=[-.1, .1], frictionloss=.05, solref_limit=[.015, .9],
               solimp_limit=[.8, .95, .02, .4, 2.5])
    return [free([0, 0, .1], 1.3), free([.4, .1, .1], .7),
            dict(parent=1, position=[.1, 0, .1], joint=arm, mass=.3, com=[.05, 0, 0], inertia=inertia(.3, [.1, .03, .03]))]


GIVEN_PAIRS = [dict(friction=.8), dict(friction=.4, solref=[.01, 1.2], solimp=[.8, .99, .003, .3, 3.]),
               dict(friction=.6, solref=[-900., -40.], margin=.002), dict(condim=1)]


def given_contacts(rng, count, ends, pairs):
    """Contacts at random places, with normals that point up or down and any activities; ends: owner and opposing link."""
    ends = np.array(ends * 2)
    C = len(ends)
    n = rng.normal(size=(count, C, 3)) * .3 + [0, 0, 1.]
    n *= np.where(rng.uniform(size=(count, C, 1)) < .2, -1, 1) / np.linalg.norm(n, axis=-1, keepdims=True)
    activity = np.ones((count, C))
    activity[:, C // 3:] = rng.uniform(0, 1, (count, C - C // 3)) ** 3
    activity[:, -2] = 0
    return dict(p=rng.normal(size=(count, C, 3)) * .1 + [.2, 0, 0], d=rng.normal(size=(count, C)) * .002 - .001, n=n, activity=activity,
                owner=ends[:, 0], opposing=ends[:, 1], pair=np.arange(C) % pairs)


GIVEN_ENDS = [(0, -1), (0, -1), (1, -1), (1, 0), (2, -1), (2, 0)]


def given_case(out, name, seed, more=lambda rng, x: x, links=given_links, ends=GIVEN_ENDS, pairs=GIVEN_PAIRS, speeds=(.05, .3, 2.), qacc=True,
               **options):
    rng = np.random.default_rng(seed)
    s = scene_of(links(rng), pairs=pairs, **options)
    sc = load(s)
    count = len(speeds)
    x = states(sc, rng, count, .1, speeds) | given_contacts(rng, count, ends, len(pairs))
    if qacc:
        x["cotangent_qacc"] = rng.normal(size=(count, sc.nv))
    write(out / name, s, more(rng, x))


def given(out):
    given_case(out, "cone-given-rk4", 109, integrator="rk4", qacc=False)
    given_case(out, "cone-given-smooth", 113, cone_smoothing=.5, limit_smoothing=.01, impratio=2.)
    given_case(out, "cone-given-exact-pyramidal", 127, cone="pyramidal", diagonal="exact", impratio=1.5)
    given_case(out, "cone-given-pyramidal-smooth", 131, cone="pyramidal", cone_smoothing=.4, limit_smoothing=.02)


def short_normals(out):
    def shorten(rng, x):
        x["n"] *= 10. ** -(np.arange(x["n"].shape[1]) % 7)[None, :, None]
        x["n"][0, 3] = 0
        return x

    def less(rng, x):
        x["n"] *= 10. ** -(np.arange(x["n"].shape[1]) % 4)[None, :, None]
        return x
    given_case(out, "cone-given-short-normals", 137, shorten)
    given_case(out, "cone-given-short-normals-exact", 139, less, diagonal="exact", cone_smoothing=.2)


def parameters(out):
    """Worlds that differ in their parameters."""
    def differ(rng, x):
        N = len(x["q"])
        return x | dict(par_mass_scale=rng.uniform(.5, 2, (N, 3)), par_friction=np.abs(rng.normal(size=(N, 4))) + .01,
                        par_stiffness=rng.uniform(.1, 3, (N, 4)), par_gravity=rng.normal(size=(N, 3)) * 5)
    given_case(out, "cone-given-parameters", 149, differ, speeds=(.05, .3, 1., 2.))
    given_case(out, "cone-given-parameters-pyramidal", 151, differ, cone="pyramidal", diagonal="exact", qacc=False)


def massless_chain(out):
    """Several joints per body: chains of massless links under contacts; a hinge with many turns."""
    def chain(rng):
        e = np.eye(3)
        links = [dict(parent=i - 1, joint=dict(type="slide", axis=e[i])) for i in range(3)]
        links += [dict(parent=i - 1, joint=dict(type="hinge", axis=e[5 - i], position=[.02, 0, .01])) for i in (3, 4)]
        links += [link(rng, 4, dict(type="hinge", axis=[1, 0, 0], limits=[-.1, .1], frictionloss=.02), 1.2)]
        links += [dict(parent=5, position=[.1, .05, 0], joint=dict(type="ball", damping=.02, position=[.01, .02, .03])),
                  link(rng, 6, dict(type="slide", frictionloss=.2, stiffness=5., damping=.1), .4)]
        return links

    def turn(rng, x):
        x["q"][1, 3] += 40.
        return x
    given_case(out, "cone-massless-chain", 157, turn, chain, [(5, -1), (5, -1), (7, -1), (7, 5)], GIVEN_PAIRS[:3])


def undone(out):
    """One iteration: worlds that need more, one without contacts that needs none, one that starts at its solution."""
    def links(rng):
        found = given_links(rng)
        found[2]["joint"].pop("frictionloss")
        return found

    def start(rng, x):
        sc = load(scene_of(links(rng), pairs=GIVEN_PAIRS))
        x["activity"][1] = 0
        x["q"][1, -1] = .03                                           # within its limits
        fixed = {k: np.where(x[k] < 0, len(sc.links), x[k]) for k in ("owner", "opposing")} | dict(pair=x["pair"])
        con = fixed | {k: jnp.asarray(x[k][3]) for k in CONTACTS}
        x["w"] = np.zeros_like(x["v"])
        x["w"][3] = dr.step(sc, jnp.asarray(x["q"][3]), jnp.asarray(x["v"][3]), jnp.zeros(0), given=con)[2]["qacc"]
        return x
    given_case(out, "cone-status-undone", 163, start, links=links, speeds=(2., .5, 1., 2., 3.), iterations=1)


def stopped(out):
    """Worlds that stop among worlds that continue."""
    rng = np.random.default_rng(167)
    links = [link(rng, -1, dict(type="free")), link(rng, -1, dict(type="hinge", damping=.02)), link(rng, 1, dict(type="ball", stiffness=1.))]
    s = scene_of(links, [dict(kind="motor", joint=1)], divergence=20.)
    sc = load(s)
    x = states(sc, rng, 12, .3, 1.) | dict(u=rng.normal(size=(12, 1)))
    x["v"][1, 6] = 30
    x["q"][2, 1] = NONE
    x["v"][3, 7] = np.inf
    x["q"][4, -4:] = 0
    x["v"][5] *= 1e200
    x["u"][7] = 1e12
    x["u"][8] = NONE
    x["q"][9, 3:7] = 0
    x["v"][10, 0] = -25
    scale = np.ones((12, 3))
    scale[6, 0] = 0
    write(out / "cone-status-stopped", s, x | dict(par_mass_scale=scale))


def tree_rollout(out):
    """A rollout with controls of its own at every step; one world diverges on the way and keeps its state."""
    rng = np.random.default_rng(173)
    links = [link(rng, -1, dict(type="hinge", damping=.1, frictionloss=.05)), link(rng, 0, dict(type="ball", damping=.05)),
             link(rng, 1, dict(type="slide", limits=[-.1, .1], damping=.2)), link(rng, -1, dict(type="free"))]
    s = scene_of(links, [dict(kind="motor", joint=0), dict(kind="position", joint=2, kp=20., kv=1.), dict(kind="motor", joint=3, dof=5)],
                 divergence=30., timestep=.005, limit_smoothing=.01)
    sc = load(s)
    x = states(sc, rng, 3, .2, .5)
    us = rng.normal(size=(3, 20, 3))
    us[2, :, 0] = 500.
    write(out / "cone-tree-rollout", s, x | dict(u=us[:, 0], u_rollout=us, cotangent_rollout=rng.normal(size=(3, 2 * sc.nv))))


def hinges(out):
    """A tree of 20 hinges, branching, 7 deep at most."""
    rng = np.random.default_rng(179)
    links = [link(rng, -1 if i == 0 else max(0, i - int(rng.integers(1, 5))), dict(type="hinge", damping=.02, armature=.01), rng.uniform(.3, 1))
             for i in range(20)]
    s = scene_of(links, [dict(kind="motor", joint=j) for j in (0, 7, 19)])
    sc = load(s)
    write(out / "cone-hinges-20", s, states(sc, rng, 2, .5, 1.) | dict(u=rng.normal(size=(2, 3))))


# ---- bodies ----
def write_box(folder, name, h):
    """A superquadric near a box of half sides h, with the box as its mesh."""
    folder.mkdir(parents=True, exist_ok=True)
    corners = np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)]) * np.array(h)
    (folder / f"{name}.obj").write_text("".join("v %.17g %.17g %.17g\n" % tuple(v) for v in corners)
                                        + "".join("f " + " ".join(str(i + 1) for i in f) + "\n" for f in BOX_FACES))
    part = dict(axes=list(h), exponents=[.1, .1], position=[0, 0, 0], quaternion=[1, 0, 0, 0], operation="add")
    (folder / f"{name}.body.json").write_text(json.dumps(dict(name=name, mesh=f"{name}.obj", superquadrics=[part]), indent=1) + "\n")


SMOOTHING = dict(length=.2, union=.002, plane=.002, normal=1e-12, penetration=.002, neighbour=.004, clash=.1, sign=.1, sort=.002, clip=.02,
                 minimum=.02, compare=.05, ridge=.001, distance=1e-10, trace=0, inside=False, select="softsort", edge_edge=True, two_sided=True,
                 edges=[0, 0], vertices=[0, 0])
# For boxes on larger boxes: pairs of edges would touch the larger one's far edges, and rollouts would be chaotic.
VERTICES = SMOOTHING | dict(edge_edge=False)
TABLE = dict(name="table", joint=dict(type="fixed"), bodies=[dict(file="b.body.json")])


def box_link(h, position, **more):
    m = 8 * np.prod(h) * 500
    inertia = np.diag(m / 3 * np.array([h[1]**2 + h[2]**2, h[0]**2 + h[2]**2, h[0]**2 + h[1]**2]))
    return dict(position=position, joint=dict(type="free"), mass=m, com=[0, 0, 0], inertia=inertia, bodies=[dict(file="a.body.json")]) | more


def about(axis, angle):
    return np.concatenate([[np.cos(angle / 2)], np.sin(angle / 2) * unit(np.array(axis, float))])


def boxes_stack(out):
    """Three boxes on a table, pairs of different friction, stiffness and smoothing, worlds of different parameters."""
    rng = np.random.default_rng(181)
    folder, h, H = out / "cone-boxes-stack", [.1, .08, .06], [.4, .4, .1]
    write_box(folder, "a", h)
    write_box(folder, "b", H)
    links = [box_link(h, [0, 0, .1 + (2 * i + 1) * .0597]) for i in range(3)] + [TABLE]
    pairs = [dict(a=[i, 0], b=[i - 1 if i else 3, 0], friction=[.8, .5, .3][i], solref=[[.02, 1.], [.015, 1.1], [-2000., -80.]][i],
                  smoothing=VERTICES | dict(penetration=[.002, .003, .002][i])) for i in range(3)]
    sc_scene = scene_of(links, pairs=pairs)
    q = np.zeros((2, 3, 7))
    for i in range(3):
        q[:, i, :3] = links[i]["position"]
        q[:, i, :2] += rng.normal(size=(2, 2)) * .01
        q[0, i, 3:] = about([0, 0, 1], [.1, .5, -.3][i])
        q[1, i, 3:] = about([.01, -.02, 1], [.3, .2, .6][i])
    v = rng.normal(size=(2, 18)) * np.array([[.01], [.2]])
    write(folder, sc_scene, dict(q=q.reshape(2, 21), v=v, cotangent=rng.normal(size=(2, 36)), par_friction=[[.8, .5, .3], [.2, .9, .6]],
                                 par_stiffness=[[1, 1, 1], [.5, 2, 1.5]], par_mass_scale=[[1, 1, 1, 1], [1.5, .7, 1, 1]],
                                 cotangent_rollout=rng.normal(size=(2, 36)), steps=[8, 8]))


def boxes_pyramids(out):
    """Boxes that slide on a tilted table, and on each other: pyramids rotate with the table and with the lower box. A margin."""
    rng = np.random.default_rng(223)
    folder, h, H = out / "cone-boxes-pyramids", [.1, .08, .06], [.4, .4, .1]
    write_box(folder, "a", h)
    write_box(folder, "b", H)
    askew = about([.3, -.2, 1], .7)
    table = TABLE | dict(quaternion=askew)
    pairs = [dict(a=[0, 0], b=["table", 0], friction=.5, margin=.004, smoothing=VERTICES),
             dict(a=[1, 0], b=[0, 0], friction=.4, solref=[.015, 1.1], smoothing=VERTICES)]
    s = scene_of([box_link(h, [0, 0, .164]), box_link(h, [0, 0, .283]), table], pairs=pairs, cone="pyramidal", impratio=1.5)
    turn = np.asarray(quat_to_mat(jnp.asarray(askew)))
    q = np.zeros((3, 2, 7))
    for i, (lift, spins) in enumerate((((.1637, .2833), (0., .4)), ((.1635, .283), (.9, -.2)), ((.1644, .2838), (-.5, .6)))):
        for k in range(2):
            q[i, k, :3] = turn @ [*rng.normal(size=2) * .01, lift[k]]
            q[i, k, 3:] = np.asarray(quat_mul(jnp.asarray(askew), jnp.asarray(about([.004 * i, -.003 * k, 1], spins[k]))))
    v = rng.normal(size=(3, 12)) * np.array([[.01], [.2], [.6]])
    write(folder, s, dict(q=q.reshape(3, 14), v=v, cotangent=rng.normal(size=(3, 24)), cotangent_rollout=rng.normal(size=(3, 24)),
                          steps=[8, 8, 8]))


def boxes_capacity(out):
    """More contacts than the capacity, and fewer; a floor of activities."""
    rng = np.random.default_rng(191)
    folder, h, H = out / "cone-boxes-capacity", [.1, .1, .1], [.4, .4, .1]
    write_box(folder, "a", h)
    write_box(folder, "b", H)
    s = scene_of([box_link(h, [0, 0, .1995]), TABLE], pairs=[dict(a=[0, 0], b=["table", 0], smoothing=SMOOTHING | dict(floor=1e-3))], capacity=3)
    q = np.tile([0, 0, .1995, 1, 0, 0, 0.], (4, 1))
    q[1, 2], q[1, 3:] = .1 + .1 * (np.cos(.5) + np.sin(.5)) - .0008, about([1, 0, 0], .5)
    q[2, 2] = .4
    q[3, 2], q[3, 3:] = .1 + .1 * np.sqrt(3) - .001, about([1, -1, 0], np.arctan(np.sqrt(2)))
    write(folder, s, dict(q=q, v=rng.normal(size=(4, 6)) * .1, cotangent=rng.normal(size=(4, 12))))


def bars(out):
    """Two bars that cross on their edges: only contacts between edges."""
    rng = np.random.default_rng(211)
    folder, h = out / "cone-crossed-bars", [.3, .03, .03]
    write_box(folder, "a", h)
    lower = dict(name="lower", quaternion=about([1, 0, 0], np.pi / 4), bodies=[dict(file="a.body.json")])
    s = scene_of([lower, box_link(h, [0, 0, .0845])], pairs=[dict(a=["upper", 0], b=["lower", 0], friction=.7, smoothing=SMOOTHING)])
    s["links"][1]["name"] = "upper"
    q = np.zeros((3, 7))
    for i, (yaw, roll, lift) in enumerate(((np.pi / 2, np.pi / 4, -.0006), (1.2, .75, .0002), (1.4, .8, -.002))):
        c, d = about([0, 0, 1], yaw), about([1, 0, 0], roll)
        q[i] = [.01 * i, -.02 * i, .06 * np.sqrt(2) + lift, *np.asarray(quat_mul(c, d))]
    write(folder, s, dict(q=q, v=rng.normal(size=(3, 6)) * np.array([[0], [.2], [.5]]), cotangent=rng.normal(size=(3, 12)),
                          cotangent_rollout=rng.normal(size=(3, 12)), steps=[10, 10, 10]))


def boxes_rk4(out):
    """Four stages, each with its own manifold; the exact diagonal."""
    rng = np.random.default_rng(193)
    folder, h, H = out / "cone-boxes-rk4", [.08, .1, .06], [.4, .4, .1]
    write_box(folder, "a", h)
    write_box(folder, "b", H)
    s = scene_of([box_link(h, [0, 0, .1595]), TABLE], pairs=[dict(a=[0, 0], b=[1, 0], friction=.5, smoothing=VERTICES)], integrator="rk4",
                 diagonal="exact", timestep=.001)
    q = np.tile([0, 0, .1595, 1, 0, 0, 0.], (2, 1))
    q[1, 2], q[1, 3:] = .161, about([1, .3, .2], .02)
    write(folder, s, dict(q=q, v=rng.normal(size=(2, 6)) * np.array([[.02], [.3]]), cotangent=rng.normal(size=(2, 12)),
                          cotangent_rollout=rng.normal(size=(2, 12)), steps=[5, 5]))


def arm(out):
    """A hinged arm of two bodies, whose mass comes from their density, on a table; one pair without friction."""
    rng = np.random.default_rng(197)
    folder = out / "cone-arm-two-bodies"
    write_box(folder, "a", [.1, .06, .05])
    write_box(folder, "b", [.6, .4, .1])
    bodies = [dict(file="a.body.json", position=[.25, 0, .02], quaternion=about([0, 0, 1], .3)),
              dict(file="a.body.json", position=[-.2, .05, .025], quaternion=about([1, 0, 0], .1))]
    links = [dict(name="table", position=[0, 0, -.1], bodies=[dict(file="b.body.json")]),
             dict(name="mast", parent=-1, position=[0, 0, .05], joint=dict(type="slide", armature=.1, frictionloss=.1)),
             dict(name="arm", parent=1, joint=dict(type="hinge", axis=[0, 1, 0], position=[.01, 0, .03], damping=.02), density=300., bodies=bodies)]
    pairs = [dict(a=["arm", 0], b=["table", 0], friction=.4, smoothing=SMOOTHING),
             dict(a=["arm", 1], b=["table", 0], condim=1, margin=.0005, smoothing=SMOOTHING)]
    s = scene_of(links, [dict(kind="position", joint="arm", kp=5., kv=.2)], pairs)
    write(folder, s, dict(q=[[-.0205, 0.], [-.02, .008], [-.0215, .002]], v=[[0, 0.], [-.3, .5], [.1, -1]], u=[[0.], [.2], [-.1]],
                          cotangent=rng.normal(size=(3, 4))))


def figures(out):
    """Two figures of 18 superquadrics, falling onto each other: the bodies of tests/golden/figure-gate."""
    rng = np.random.default_rng(199)
    folder, source = out / "cone-figure-pair", ROOT / "tests" / "golden" / "figure-gate"
    folder.mkdir(parents=True, exist_ok=True)
    for name in ("a.obj", "a.body.json"):
        shutil.copyfile(source / name, folder / name)
    D = np.linalg.norm(np.ptp(dr.read_mesh(folder / "a.obj")[0], 0))
    smoothing = SMOOTHING | dict(length=.06 * D, union=.004 * D, plane=.004 * D, penetration=.005 * D, neighbour=.005 * D, sort=.001 * D,
                                 clip=.1, minimum=.1, compare=.1, ridge=.01, distance=1e-10 * D * D, edges=[18, 18])
    free = lambda name: dict(name=name, joint=dict(type="free"), density=200., bodies=[dict(file="a.body.json")])
    s = scene_of([free("lower"), free("upper")], pairs=[dict(a=["lower", 0], b=["upper", 0], friction=.6, smoothing=smoothing)])
    (folder / "scene.json").write_text(json.dumps(clean(s)))
    sc = dr.load_scene(folder / "scene.json")
    slots = 2 * len(sc.bodies["a.body.json"]["V"])
    distance = jax.jit(lambda q: jnp.min(dr.contacts(sc, q)[0]["d"][:slots]))
    qs, vs = [], []
    for _ in range(2):
        q, way = np.array(sc.q0), unit(rng.normal(size=3) * .3 + [0, 0, 1])
        q[3:7], q[10:14] = unit(rng.normal(size=4)), unit(rng.normal(size=4))
        low, high = 0., 1.5 * D
        for _ in range(18):  # the farthest contact, 0.2 % of the size deep
            q[7:10] = q[:3] + way * (low + high) / 2
            low, high = (low, (low + high) / 2) if distance(q) > -.002 * D else ((low + high) / 2, high)
        v = rng.normal(size=12) * .1
        v[6:9] -= way * .5
        qs.append(q)
        vs.append(v)
    write(folder, s, dict(q=qs, v=vs, cotangent=rng.normal(size=(2, 24)), cotangent_rollout=rng.normal(size=(2, 24)), steps=[20, 20]))


GROUPS = dict(friction=friction_loss, limits=limits, actuators=actuators, given=given, short=short_normals, parameters=parameters,
              chain=massless_chain, undone=undone, stopped=stopped, rollout=tree_rollout, hinges=hinges, stack=boxes_stack,
              pyramids=boxes_pyramids, capacity=boxes_capacity, bars=bars, rk4=boxes_rk4, arm=arm, figures=figures)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("cases", nargs="*", metavar="CASE", help="of " + ", ".join(GROUPS))
    parser.add_argument("--rounded", type=pathlib.Path, nargs="+", metavar="FOLDER", help="print what inputs rounded to float32 cost, write nothing")
    parser.add_argument("--again", type=pathlib.Path, nargs="+", metavar="FOLDER", help="answer the inputs of these folders anew")
    parser.add_argument("--out", type=pathlib.Path, default=ROOT / "tests" / "golden-dynamics")
    options = parser.parse_args()
    for folder in options.rounded or ():
        rounded(folder)
    for folder in options.again or ():
        again(folder)
    if options.rounded or options.again:
        return
    for name in options.cases or GROUPS:
        GROUPS[name](options.out)


if __name__ == "__main__":
    main()
