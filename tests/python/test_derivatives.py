"""A battery of derivatives by random numbers: bodies, poses, scenes, shapes and motions that nobody chose, beside differences.

Each run draws a seed and prints it; ABUT_TEST_SEED=N repeats one. differences.py says how slopes are measured.
"""
import itertools
import os

import numpy as np
import pytest
import random_bodies as bodies
import random_scenes as scenes
import worlds
from differences import OFFSETS, SEED, Slopes, Tally, generator, only, slopes

import abut

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")  # scenes and bodies by random numbers are told to be odd
PAIRS = [pair for pair in itertools.combinations_with_replacement(bodies.FAMILIES, 2) if pair != ("heights", "heights")]


@pytest.fixture(scope="module")
def context(request):
    capture = request.config.pluginmanager.getplugin("capturemanager")
    with capture.global_and_fixture_disabled():
        print(f"\nABUT_TEST_SEED={SEED}", flush=True)
    return abut.Context(os.environ.get("ABUT_TEST_DEVICE", "host"), "f64")


# ---- the method ----


def test_method():
    """What is off by three times what is allowed is told, on smooth slopes and beyond kinks; hills and noise hide nothing."""
    x, along = np.random.default_rng(1).normal(size=400), 1e-2 * OFFSETS[:, None]
    kinks = np.arange(400) % 10 == 0
    measured, exact = slopes(np.sin(3 * x + 2 * along) + 0.5 * kinks * np.abs(along), 1e-2), 2 * np.cos(3 * x)
    for off, found in ((0, 0), (3e-5, 5), (0.5 * kinks, 0), ((0.5 + 3e-5) * kinks, 5), (-0.6 * kinks, 5)):
        tally = Tally("method")
        tally.add("f", exact + off, measured, 1.0)
        assert len(tally.wrong) == found and tally.kinks == 40 and tally.compared == 360, off
    hill = slopes(np.exp(-((x[:50] + along / 1e-4) / 3) ** 2), 1e-2)  # narrower than the first steps
    for off, found in ((1, 0), (1 + 3e-4, 5)):
        tally = Tally("hill")
        tally.add("f", -2e4 / 9 * x[:50] * np.exp(-(x[:50] / 3) ** 2) * off, hill, 1e4)
        assert len(tally.wrong) == found and tally.compared > 40, off
    near = 1e-2 * OFFSETS[:, None]
    ramp = slopes(np.where(np.abs(near) < 1e-4, np.maximum(near, 0), 0) * np.ones(20), 1e-2)  # 0 at all wide steps, with a kink between
    for off, found in ((0, 0), (1e-4, 5), (-1, 0), (-1.0001, 5)):
        tally = Tally("ramp")
        tally.add("f", np.full(20, 1 + off), ramp, 1.0)
        assert len(tally.wrong) == found and tally.kinks == 20, off
    noise = slopes(np.random.default_rng(2).normal(size=(len(OFFSETS), 400)), 1e-2)
    tally = Tally("noise")
    tally.add("f", np.zeros(400), noise, 1.0)
    assert tally.compared + tally.kinks == 0 and tally.unsettled == 400
    with pytest.raises(AssertionError, match=f"ABUT_TEST_SEED={SEED}"):
        tally.check(kinks=0.9)


# ---- contacts ----

OUTPUTS = ("p", "d", "n", "activity", "weight")
REDUCTIONS = ("energy", "activity", "soft_minimum", "mean_distance", "soft_distance", "distance")


def near_poses(pair, rng, count):
    """Poses of both bodies (count, 7) at which they nearly touch: the second comes in from far out, along a line that passes by the
    middle of the first."""
    reach, deep = sum(body.diagonal for body in pair.bodies), pair.smoothing["penetration"]
    one = np.concatenate([rng.normal(size=(count, 3)), bodies.quaternions(rng, count)], 1)
    way = rng.normal(size=(count, 3))
    way /= np.linalg.norm(way, axis=1, keepdims=True)
    turn = bodies.quaternions(rng, count)
    beside = 0.15 * min(body.diagonal for body in pair.bodies) * rng.uniform(-1, 1, size=(count, 3))

    def at(far):
        return abut.pose.compose(one, np.concatenate([beside + far[:, None] * way, turn], 1))
    wanted = rng.uniform(-2, 2, size=count) * deep
    outer, inner = np.full(count, reach), np.full(count, reach)
    for share in np.linspace(1, 0, 60):  # the outermost place at which they touch
        far = np.full(count, share * reach)
        near = abut.reduce(pair, one, at(far), "distance").value < wanted
        found = (inner == reach) & near
        inner = np.where(found, far, inner)
        outer = np.where(inner == reach, far, outer)
    for _ in range(30):
        middle = 0.5 * (inner + outer)
        near = abut.reduce(pair, one, at(middle), "distance").value < wanted
        inner, outer = np.where(near, middle, inner), np.where(near, outer, middle)
    return one, at(inner)


def directions(rng, poses, size):
    """Tangents of poses' numbers, of which positions move as far as turns do at the bodies' size."""
    made = rng.normal(size=poses.shape)
    made[..., :3] *= size
    return made


@pytest.mark.parametrize("families", PAIRS, ids="-".join)
def test_contacts(context, families):
    """Contacts by both poses: JVP beside differences, VJP and blocks of lists beside JVP; second derivatives; reductions."""
    rng = generator("contacts", *families)
    tally, second = Tally(f"contacts of {families}"), Tally(f"second derivatives of {families}")
    pair = abut.Pair(*(bodies.make(context, rng, family) for family in families),
                     {"edge_contacts": "pairs"} if rng.random() < 0.25 else None)
    deep, size = pair.smoothing["penetration"], min(body.diagonal for body in pair.bodies)
    one, two = near_poses(pair, rng, 4)
    if rng.random() < 0.5:
        one, two = abut.pose.log(one), abut.pose.log(two)
    else:
        one, two = (x * ([1] * 3 + [rng.uniform(0.5, 2)] * 4) for x in (one, two))  # quaternions of any length
    one, two = (np.repeat(x, 2, 0) for x in (one, two))
    along1, along2 = (directions(rng, x, size) for x in (one, two))
    widest = 0.3 * deep / size
    steps = widest * OFFSETS[:, None, None]
    moved = one + steps * along1, two + steps * along2

    made = abut.jvp(pair, one, two, tangent1=along1, tangent2=along2, want=OUTPUTS)
    values = abut.contacts(pair, *moved, want=OUTPUTS)
    natural = {"p": size, "d": size, "n": 1.0, "activity": 0.25 * size / deep, "weight": 1.0}
    scales, balanced = {}, {}
    for name in OUTPUTS:
        tested, measured = getattr(made, name), slopes(getattr(values, name), widest)
        apart = np.abs(tested)
        scales[name] = np.maximum(natural[name], apart.max(-1, keepdims=True) if name in "pn" else apart)
        tally.add(name, tested, measured, scales[name])
        balanced[name] = rng.normal(size=tested.shape) / scales[name]

    g1, g2 = abut.vjp(pair, one, two, **balanced)
    parts = [getattr(made, name) * balanced[name] for name in OUTPUTS]
    tally.equal("vjp", (g1 * along1).sum(-1) + (g2 * along2).sum(-1), sum(x.reshape(len(one), -1).sum(-1) for x in parts),
                sum(np.abs(x).reshape(len(one), -1).sum(-1) for x in parts))

    listed = abut.jacobian(pair, one, two, threshold=0.01)
    both = np.concatenate([along1, along2], -1)
    dense = np.concatenate([getattr(made, name)[listed.pose, listed.slot].reshape(len(listed), -1) for name in OUTPUTS[:4]], -1)
    size_of = np.concatenate([np.broadcast_to(scales[name][listed.pose, listed.slot].reshape(len(listed), -1), (len(listed), width))
                              for name, width in zip(OUTPUTS[:4], (3, 1, 3, 1))], -1)
    tally.equal("jacobian of a list", np.einsum("kij,kj->ki", listed.jacobian, both[listed.pose]), dense, size_of)

    active = (values.activity[0] > 0.01) & (values.activity[0] < 0.999)
    bars = {name: x * active.reshape(active.shape + (1,) * (x.ndim - 2)) for name, x in balanced.items()}
    change = {name: rng.normal(size=x.shape) * x for name, x in bars.items()}
    tall = {name: x + steps.reshape(-1, *[1] * x.ndim) * change[name] for name, x in bars.items()}
    products = abut.vjp_tangent(pair, one, two, tangent1=along1, tangent2=along2, **bars,
                                **{name + "_tangent": x for name, x in change.items()})
    for name, tested, gradient in zip(("vjp_tangent 1", "vjp_tangent 2"), products, abut.vjp(pair, *moved, **tall)):
        scale = np.maximum(np.abs(tested).max(-1, keepdims=True), 1e-3 / (size * deep))
        second.add(name, tested, slopes(gradient, widest), scale)

    for kind in REDUCTIONS:
        found = abut.reduce(pair, one, two, kind, grad=True)
        tested = (found.grad1 * along1).sum(-1) + (found.grad2 * along2).sum(-1)
        level = {"energy": deep * size, "activity": size / deep}.get(kind, size)
        tally.add(kind, tested, slopes(abut.reduce(pair, *moved, kind).value, widest), np.maximum(np.abs(tested), 0.1 * level))
        if kind in ("energy", "activity", "soft_minimum"):
            ends = abut.reduce(pair, *moved, kind, grad=True)
            products = abut.hvp(pair, one, two, kind, tangent1=along1, tangent2=along2)
            for side, tested, gradient in zip((1, 2), products, (ends.grad1, ends.grad2)):
                scale = np.maximum(np.abs(tested).max(-1, keepdims=True), 1e-3 * level / deep)
                second.add(f"hvp of {kind} {side}", tested, slopes(gradient, widest), scale)
    print(tally, second, f"{active.sum()} active", sep="\n")
    assert active.any(), f"nothing touches; repeat it with ABUT_TEST_SEED={SEED}"
    tally.check(kinks=0.1, nonzero=100)
    second.check(kinks=0.5, nonzero=20)


# ---- worlds ----

# What a world's status may tell that is as good to differentiate as any.
TOLD = abut.WorldStatus.FAST | abut.WorldStatus.GAINED | abut.WorldStatus.SWEPT | abut.WorldStatus.DEEP
SCENES = [(law, {"joint": joint}) for law in scenes.LAWS for joint in scenes.JOINTS]
SCENES += [(law, {"actuator": actuator}) for law in scenes.LAWS for actuator in scenes.ACTUATORS]
SCENES += [(law, {"equality": equality, "joint": "free"}) for law in ("cone", "pyramid", "lcp") for equality in scenes.EQUALITIES]
SCENES += [(law, {"sweep": "sweep", "joint": "free"}) for law in ("cone", "lcp", "spring")]


def near_states(scene, rng, count, fast, clouds):
    """Positions (count, nq) at which bodies nearly touch: the best of random ones, the free body laid upon the ground; velocities."""
    steps = rng.normal(size=(count, 30, scene.nv)) * np.where(np.arange(scene.nv) < 3, 0.01, 0.3)
    q = scene.add(np.tile(scene.start(), (count, 30, 1)), steps)
    if clouds:  # which push from afar
        q = q[:, 0]
        q[:, 2] = rng.uniform(0.04, 0.08, size=count)
    else:
        lowest = scene.distances(q, [("body", "ground")]).d[..., 0]
        q[..., 2] -= lowest - rng.normal(size=lowest.shape) * 3e-4
        names = scene.link_names
        pairs = [(names[a], names[b]) for a, b in scene.bodies[scene.candidates][..., 0] if (names[a], names[b]) != ("body", "ground")]
        others = scene.distances(q, pairs).d
        off = np.where(others > -2e-3, np.abs(others), 1.0).min(-1) + (others.min(-1) < -2e-3)  # none deep, the nearest near
        q = q[np.arange(count), np.argmin(off, 1)]
    v = fast * rng.normal(size=(count, scene.nv)) * 0.3
    return q, v


def can_be_told(scene, q, v, steps, given, hard):
    """Which worlds come through, and which of these touch. Of hard contacts those whose forces are the only ones: no more than two push
    in a step, of rough ones no more than one, none pushes without bound, and nothing spins fast where one slides: what slides slower than
    some 1e-6 of the fastest row counts as held."""
    end = scene.step(q, v, steps=steps, **given, want=("multipliers",))
    good = end.status & ~np.uint32(TOLD) == 0
    touching = good & (np.abs(end.multipliers).max((1, 2)) > 1e-2)
    for n in range(1, steps + 1 if hard else 1):
        now = {name: x[:, :n] if name == "controls" else x for name, x in given.items()}
        end = scene.step(q, v, steps=n, **now, want=("multipliers",))
        forces = end.multipliers
        rough = (forces[..., 1:] != 0).any((1, 2))
        only_ones = (forces[..., 0] > 0).sum(-1) <= np.where(rough, 1, 2)
        good &= only_ones & (np.abs(end.v).max(1) < np.where(rough, 15, 300)) & (np.abs(forces).max((1, 2)) < 1e5)
    return good, good & touching


def random_worlds(context, folder, rng, law, what):
    """A scene, how many steps, and states and what else is given of worlds that may be differentiated, up to four; some touch."""
    for _ in range(6):
        if law == "clouds":
            scenes.write_clouds(folder, rng)
        scene = context.scene(worlds.write_scene(folder, **scenes.make(rng, law, **what)))
        count, steps = 40, int(rng.integers(1, 5))
        q, v = near_states(scene, rng, count, 25 if what.get("sweep") else 1, law == "clouds")
        given = {"mass_scale": rng.uniform(0.7, 1.4, size=(count, scene.links)),
                 "friction": rng.uniform(0.2, 1, size=(count, scene.parameters)),
                 "stiffness": rng.uniform(0.7, 1.4, size=(count, scene.parameters)),
                 "gravity": [0, 0, -9.81] + rng.normal(size=(count, 3))}
        if scene.nu and rng.random() < 0.5:
            given["controls"] = rng.normal(size=(count, steps, scene.nu))
        elif scene.nu:
            given["u"] = rng.normal(size=(count, scene.nu))
        if law in ("spring", "clouds"):
            given["springs"] = scene.springs() * rng.uniform(0.8, 1.2, size=(count, scene.pairs, 6))
        good, touching = can_be_told(scene, q, v, steps, given, law == "lcp")
        kept = np.argsort(np.where(touching, 0, np.where(good, 1, 2)), kind="stable")[:min(4, good.sum())]
        if touching.any():
            break
    assert touching.any(), f"no world touches that may be differentiated; repeat it with ABUT_TEST_SEED={SEED}"
    return scene, steps, {"q": q[kept], "v": v[kept], **{name: x[kept] for name, x in given.items()}}


def told(names):
    """As the package names what a gradient or a tangent is of: `controls` are u's of each step."""
    return ["u" if name == "controls" else name for name in names]


def summed(bars, measured):
    """The slopes of a sum of numbers times their cotangents, of those of the numbers, and the sum of their sizes."""
    parts = [(bar.reshape(len(bar), -1), Slopes(*(x.reshape(len(bar), -1) for x in of))) for bar, of in zip(bars, measured)]
    total = {name: sum(((np.abs(bar) if name.endswith("doubt") else bar) * getattr(of, name)).sum(-1) for bar, of in parts)
             for name in Slopes._fields[:6]}
    ends = [sum(choose(bar * of.low, bar * of.high).sum(-1) for bar, of in parts) for choose in (np.minimum, np.maximum)]
    return Slopes(*total.values(), *ends), sum((np.abs(bar) * np.abs(of.value)).sum(-1) for bar, of in parts)


@pytest.mark.parametrize("law, what", SCENES, ids=lambda x: x if isinstance(x, str) else "-".join(map(str, x.values())))
def test_worlds(context, tmp_path, law, what):
    """Rollouts by state, controls and parameters: JVP beside differences, VJP beside JVP, and beside differences where there is none; the
    matrices of a step beside JVP."""
    rng = generator("worlds", law, sorted(what.items()))
    tally = Tally(f"worlds of {law}, {what}")
    scene, steps, given = random_worlds(context, tmp_path, rng, law, what)
    count, time = len(given["q"]), steps * scene.timestep
    forces = ("acceleration", "link_forces", "pair_forces") if law in ("cone", "pyramid") else ()
    middle = scene.step(**given, steps=steps, want=forces)
    q_bar, v_bar = rng.normal(size=given["q"].shape), rng.normal(size=given["v"].shape)
    bars = scene.map("gradient_to_tangent", middle.q, q_bar), v_bar
    gradient = scene.vjp(**given, steps=steps, q_bar=q_bar, v_bar=v_bar, wrt=told(given))
    force_bars = {name: rng.normal(size=getattr(middle, name).shape) for name in forces}
    if forces:
        by_forces = scene.vjp(**given, steps=steps, **{name + "_bar": bar for name, bar in force_bars.items()}, wrt=told(given))
    tangents = {}
    for name, value in given.items():
        widest = {"q": 3e-4, "v": 1e-2, "gravity": 1.0}.get(name, 0.1)
        along = rng.normal(size=given["v"].shape if name == "q" else value.shape) * (value if name == "springs" else 1)
        by = widest * OFFSETS.reshape(-1, *[1] * along.ndim) * along
        end = scene.step(**{**given, name: scene.add(value, by) if name == "q" else value + by}, steps=steps, want=forces)
        good = (end.status == middle.status).all(0)  # what stops or begins within the steps is no slope
        ends = slopes(scene.subtract(end.q, middle.q), widest, np.abs(middle.q).max()), slopes(end.v, widest)
        least = (1.0, 1.0) if name == "q" else (time, 1.0) if name == "v" else (time ** 2, time)  # what q and v change by, about

        def product(of):
            grad = getattr(of, *told([name]))
            grad = scene.map("gradient_to_tangent", value, grad) if name == "q" else grad
            return (grad * along).reshape(count, -1).sum(-1)
        if forces:
            measured, size = summed(force_bars.values(), [slopes(getattr(end, force), widest) for force in forces])
            tally.add(f"forces by {name}", product(by_forces)[good], only(measured, good), np.maximum(1.0, size)[good])
        if name == "springs":  # which have no tangents
            measured, size = summed(bars, ends)
            tally.add(name, product(gradient)[good], only(measured, good), np.maximum(time, size)[good])
            continue
        tangents[name] = scene.map("slope_from_tangent", value, along) if name == "q" else along
        made = scene.jvp(**given, steps=steps, **{told([name])[0] + "_tangent": tangents[name]})
        tested = scene.map("slope_to_tangent", middle.q, made.q), made.v
        for side, one, measured, level in zip("qv", tested, ends, least):
            scale = np.maximum(np.abs(one).max(-1, keepdims=True), level) * np.ones_like(one)
            tally.add(f"{side} by {name}", one[good], only(measured, good), scale[good])
        parts = [bar * x for bar, x in zip(bars, tested)]
        size = np.maximum(least[1], sum(np.abs(x).sum(-1) for x in parts))
        tally.equal(f"vjp by {name}", product(gradient), sum(x.sum(-1) for x in parts), size, within=1e-7)

    first = {name: x for name, x in given.items() if name != "controls"}
    if "controls" in given:
        first["u"], tangents["u"] = given["controls"][:, 0], tangents.pop("controls")[:, 0]
    want = [name for name in tangents if name not in ("q", "v", "u")]
    matrices = scene.transition(**first, want=want)
    made = scene.jvp(**first, **{name + "_tangent": x for name, x in tangents.items()})
    state = np.concatenate([scene.map("slope_to_tangent", given["q"], tangents["q"]), tangents["v"]], -1)
    parts = [(matrices.A, state)] + [(getattr(matrices, "B" if name == "u" else name), tangents[name])
                                     for name in [*want, "u"] if name in tangents]
    moved = np.concatenate([scene.map("slope_to_tangent", made.step.q, made.q), made.v], -1)
    tally.equal("transition", sum(np.einsum("nij,nj->ni", *part) for part in parts), moved,
                np.maximum(1.0, sum(np.einsum("nij,nj->ni", *map(np.abs, part)) for part in parts)), within=1e-7)
    print(tally, f"{count} worlds, statuses {middle.status}", sep="\n")
    tally.check(kinks=0.3, nonzero=20)


# ---- convex shapes ----


@pytest.mark.parametrize("kinds", list(itertools.combinations_with_replacement(bodies.SHAPES, 2)), ids="-".join)
def test_shapes(context, kinds):
    """Closest points by both poses. Where a shape is touched on a face or an edge the distance alone has a slope that is its own."""
    rng = generator("shapes", *kinds)
    tally, count = Tally(f"shapes {kinds}"), 24
    one, two = (bodies.shape(context, rng, kind) for kind in kinds)
    size = one.span + two.span
    pose1, pose2 = (np.concatenate([rng.normal(size=(count, 3)), bodies.quaternions(rng, count)], 1) for _ in range(2))
    apart = abut.closest(one, two, pose1, pose2)
    pose2[:, :3] += (rng.uniform(-0.05, 0.1, size=(count, 1)) * size - apart.d[:, None]) * apart.n  # from lightly in to lightly out
    along1, along2 = directions(rng, pose1, size), directions(rng, pose2, size)
    # The normal of a round shape on a flat one is good to the root of the gap, which a row that is not converged leaves larger.
    widest, r = 1e-3, abut.closest(one, two, pose1, pose2, tolerance=1e-14)
    steps = widest * OFFSETS[:, None, None]
    moved = abut.closest(one, two, pose1 + steps * along1, pose2 + steps * along2, tolerance=1e-14)
    twists = np.concatenate([np.einsum("nkp,np->nk", abut.pose.gradient_from_frame(pose[:, None], np.eye(6), "aligned"), along)
                             for pose, along in ((pose1, along1), (pose2, along2))], 1)
    made = abut.closest_jvp(r, twists, method="exact")
    good = (r.status == abut.ClosestStatus.CONVERGED) & (moved.status <= abut.ClosestStatus.DEGENERATE).all(0)
    whole = good & (made.status == abut.ClosestStatus.CONVERGED)
    bars = {}
    for name, scale in (("d", size), ("n", 1.0), ("p1", size), ("p2", size)):
        tested, rows = getattr(made, name), good if name == "d" else whole
        level = np.maximum(scale, np.abs(tested).max(-1, keepdims=True) if tested.ndim > 1 else np.abs(tested))
        measured = slopes(getattr(moved, name), widest)
        tally.add(name, tested[rows], only(measured, rows), (level * np.ones_like(tested))[rows])
        bars[name] = rng.normal(size=tested.shape) / level
    parts = [(getattr(made, name) * bar).reshape(count, -1) for name, bar in bars.items()]
    total, level = sum(x.sum(-1) for x in parts), sum(np.abs(x).sum(-1) for x in parts)
    gradient = abut.closest_vjp(r, **bars, method="exact")
    tally.equal("vjp by twists", (gradient.twists * twists).sum(-1), total, level, within=1e-6)
    tally.equal("vjp by poses", (gradient.pose1 * along1).sum(-1) + (gradient.pose2 * along2).sum(-1), total, level, within=1e-6)
    tally.equal("d by gumbel", abut.closest_jvp(r, twists, want=("d",)).d, made.d, size)
    print(tally, f"{good.sum()} rows, {whole.sum()} of them not flat", sep="\n")
    tally.check(kinks=0.4, nonzero=5)


# ---- time of impact ----


def solid(context, rng):
    """A mesh of collision in time: a dented ball, a box, a tetrahedron or a wire."""
    kind = rng.integers(4)
    if kind == 0:
        v, faces = bodies.ball()
        dented = v * rng.uniform(0.3, 0.6, size=3) + 0.03 * rng.normal(size=v.shape)
        return abut.CcdMesh(bodies.turned(rng, dented), faces, context=context)
    if kind == 1:
        return abut.CcdMesh(bodies.turned(rng, bodies.CUBE * rng.uniform(0.2, 0.6, size=3)), bodies.SIDES, context=context)
    v = 0.5 * rng.normal(size=(4, 3))
    if kind == 2:
        return abut.CcdMesh(v, [[0, 1, 2], [0, 3, 1], [1, 3, 2], [2, 3, 0]], context=context)
    return abut.CcdMesh(v, [[0, 1, 2]], [[2, 3]], context=context)


def throws(context, rng, motion, count):
    """Two meshes, their poses at both ends, of which the second mesh comes from afar to the first, and what else a call takes."""
    meshes = solid(context, rng), solid(context, rng)
    centers = {f"center{i}": rng.normal(size=3) * 0.2 for i in (1, 2)} if motion == "arc" else {}
    poses = []
    for far in (0, 0, 2.5, 0):
        way = rng.normal(size=(count, 3))
        way *= far / np.linalg.norm(way, axis=1, keepdims=True)
        poses.append(np.concatenate([way + 0.15 * rng.normal(size=(count, 3)), bodies.quaternions(rng, count)], 1))
    for before, after in (poses[:2], poses[2:]):  # turns of up to a radian
        twist = np.concatenate([np.zeros((count, 3)), 0.5 * rng.normal(size=(count, 3))], 1)
        after[:, 3:] = abut.pose.compose(before, abut.pose.exp(twist))[:, 3:]
    options = {"motion": motion, "separation": rng.uniform(0.005, 0.05), "tolerance": 1e-14, **centers}
    return meshes, poses, options


@pytest.mark.parametrize("turn", range(6))
@pytest.mark.parametrize("motion", ["linear", "arc"])
def test_times_of_impact(context, motion, turn):
    """By both poses of both meshes, at a fixed distance."""
    rng = generator("impacts", motion, turn)
    tally = Tally(f"times of impact, {motion}, {turn}")
    for _ in range(10):  # wires may miss each other
        meshes, poses, options = throws(context, rng, motion, 12)
        if (abut.ccd(meshes, *poses, **options).status == abut.CcdStatus.HIT).sum() > 3:
            break
    along = [rng.normal(size=pose.shape) for pose in poses]
    widest = 1e-3
    steps = widest * OFFSETS[:, None, None]
    moved = abut.ccd(meshes, *[pose + steps * way for pose, way in zip(poses, along)], **options)
    gradient = abut.ccd_gradient(abut.ccd(meshes, *poses, **options))
    good = (moved.status == abut.CcdStatus.HIT).all(0) & (gradient.status == abut.CcdStatus.HIT)
    tested = sum((by * way).sum(-1) for by, way in zip((gradient.from1, gradient.to1, gradient.from2, gradient.to2), along))
    measured = slopes(moved.toi, widest)
    tally.add("toi", tested[good], only(measured, good), np.maximum(0.3, np.abs(tested[good])))
    print(tally, f"{good.sum()} hits of 12", sep="\n")
    tally.check(kinks=0.4, nonzero=1)


@pytest.mark.parametrize("kind", ["pp", "pe", "pt", "ee"])
def test_times_of_features(context, kind):
    """Of two features, by their vertices at both ends."""
    rng = generator("features", kind)
    tally, count, width = Tally(f"times of {kind}"), 60, {"pp": 2, "pe": 3, "pt": 4, "ee": 4}[kind]
    first = 2 if kind == "ee" else 1
    x0, x1 = rng.normal(size=(2, count, width, 3)) * {"pp": 0.1, "pe": 0.3, "pt": 0.5, "ee": 0.5}[kind]
    way = rng.normal(size=(count, 1, 3))
    x0[:, first:] += 2 * way / np.linalg.norm(way, axis=-1, keepdims=True)
    x1[:, first:] -= 2 * way / np.linalg.norm(way, axis=-1, keepdims=True)
    along0, along1 = rng.normal(size=(2, *x0.shape))
    widest, options = 1e-3, {"separation": rng.uniform(0.1, 0.3), "context": context}
    steps = widest * OFFSETS.reshape(-1, 1, 1, 1)
    moved = abut.ccd_queries(kind, x0 + steps * along0, x1 + steps * along1, **options)
    gradient = abut.ccd_queries_gradient(abut.ccd_queries(kind, x0, x1, **options))
    good = (moved.status == abut.CcdStatus.HIT).all(0) & (gradient.status == abut.CcdStatus.HIT)
    tested = (gradient.x0 * along0 + gradient.x1 * along1).sum((-2, -1))
    measured = slopes(moved.toi, widest)
    tally.add("toi", tested[good], only(measured, good), np.maximum(0.3, np.abs(tested[good])))
    print(tally, f"{good.sum()} hits of {count}", sep="\n")
    tally.check(kinks=0.2, nonzero=5)
