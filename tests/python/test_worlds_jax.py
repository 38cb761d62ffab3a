"""abut.jax of worlds: NumPy's answers to the bit, gradients, scan, vmap, programs, refusals."""
import gc
import re
import weakref

import numpy as np
import pytest
import worlds

import abut

jax = pytest.importorskip("jax")
jax.config.update("jax_enable_x64", True)

import jax.numpy as jnp  # noqa: E402
from jax.test_util import check_grads  # noqa: E402

import abut.jax as aj  # noqa: E402
from abut import _table, _xla  # noqa: E402

FAILS = (ValueError, jax.errors.JaxRuntimeError)


def equal(got, wanted):
    np.testing.assert_array_equal(np.asarray(got), np.asarray(wanted))


@pytest.fixture
def tree(double):
    return worlds.Case(double, "cone-tree-rollout")


def state(case):
    return tuple(case.read(name) for name in "qvu")


# ---- answers ----

@pytest.mark.parametrize("name", ["cone-tree-rollout", "cone-boxes-resting", "cone-actuators-rk4"])
def test_equal_to_numpy(context, name):
    case = worlds.Case(context, name)
    q, v, u = state(case)
    scene, rng = case.scene, np.random.default_rng(1)
    options = {"mass_scale": rng.uniform(0.5, 2, scene.links).astype(case.dtype),
               "gravity": np.array([0, 1, -5], case.dtype), "w": 0.1 * np.ones_like(v)}
    if scene.pairs:
        options["friction"] = np.full(scene.pairs, 0.3, case.dtype)
    wanted = scene.step(q, v, u, steps=4, record=2, **options)
    got = jax.jit(lambda *s: aj.step(scene, *s, steps=4, record=2, **options))(q, v, u)
    for field in ("q", "v", "w", "status", "q_record", "v_record"):
        equal(getattr(got, field), getattr(wanted, field))
        assert getattr(got, field).dtype == getattr(wanted, field).dtype
    assert got.iterations is None and got.mass is None
    bars = {field + "_bar": rng.normal(size=getattr(wanted, field).shape).astype(case.dtype)
            for field in ("q", "v", "q_record", "v_record")}

    def loss(q, v, u, options):
        s = aj.step(scene, q, v, u, steps=4, record=2, **options)
        return sum((bars[field + "_bar"] * getattr(s, field)).sum() for field in ("q", "v", "q_record", "v_record"))

    given = [x for x in (q, v, u) if x is not None]
    slopes = jax.jit(jax.grad(lambda o, *s: loss(*s, *(None,) * (3 - len(s)), o), tuple(range(1 + len(given)))))(
        options, *given)
    names = ("q", "v", "u")[:len(given)]
    g = scene.vjp(q, v, u, steps=4, record=2, made=wanted, wrt=(*names, *sorted(set(options) - {"w"})),
                  **options, **bars)
    for slope, field in zip(slopes[1:], names):
        equal(slope, getattr(g, field))
    for field in set(options) - {"w"}:
        np.testing.assert_allclose(slopes[0][field], getattr(g, field).sum(0), rtol=1e-5)
    assert not slopes[0]["w"].any()


def test_gradients_by_differences(double, tmp_path):
    """Of all that has derivatives, by numbers, with quaternions whose length is not 1."""
    scene = abut.Scene(worlds.write_scene(tmp_path, **worlds.MIXED), double)
    q, v = worlds.random_states(scene, 2)
    rng = np.random.default_rng(2)
    q[:, 3:7] *= 1.3

    def f(q, v, controls, mass_scale, gravity):
        s = aj.rollout(scene, q, v, controls, record=2, mass_scale=mass_scale, gravity=gravity)
        return s.q, s.v, s.q_record, s.v_record

    check_grads(f, (q, v, rng.normal(size=(2, 4, 2)), rng.uniform(0.5, 2, (2, 4)), rng.normal(size=3)), 1,
                ["fwd", "rev"], atol=1e-5, rtol=1e-5)


@pytest.mark.parametrize("name", ["cone-tree-rollout", "cone-boxes-resting", "cone-actuators-rk4"])
def test_tangents_equal_to_numpy(context, name):
    case = worlds.Case(context, name)
    q, v, u = state(case)
    scene, rng = case.scene, np.random.default_rng(1)
    given = {"q": q, "v": v, "u": u, "mass_scale": rng.uniform(0.5, 2, (len(q), scene.links)).astype(case.dtype),
             "gravity": np.tile(np.array([0, 1, -5], case.dtype), (len(q), 1))}
    if scene.pairs:
        given.update({name: np.full((len(q), scene.pairs), 0.8, case.dtype) for name in ("friction", "stiffness")})
    given = {name: x for name, x in given.items() if x is not None}
    along = {name: rng.normal(size=x.shape).astype(case.dtype) for name, x in given.items()}
    wanted = scene.jvp(**given, steps=4, record=2, **{name + "_tangent": t for name, t in along.items()})

    @jax.jit
    def forward(given, along):
        return jax.jvp(lambda given: aj.step(scene, **given, steps=4, record=2), (given,), (along,))

    made, moved = forward(given, along)
    states = scene.step(**given, steps=4, record=2)
    for field in ("q", "v", "q_record", "v_record"):
        equal(getattr(made, field), getattr(states, field))
        equal(getattr(moved, field), getattr(wanted, field))
    assert not moved.w.any() and moved.status.dtype == jax.dtypes.float0
    _, linear = jax.linearize(lambda given: aj.step(scene, **given, steps=4, record=2).v, given)
    equal(linear(along), wanted.v)
    wanted = scene.jvp(**given, gravity_tangent=along["gravity"])
    equal(jax.jvp(lambda g: aj.step(scene, **{**given, "gravity": g}).q, (given["gravity"],),
                  (along["gravity"],))[1], wanted.q)


# ---- transformations ----

def test_scan(tree):
    """Steps in a scan are a rollout, and so are their gradients."""
    scene = tree.scene
    q, v, controls = (tree.read(name)[:2] for name in ("q", "v", "u_rollout"))  # those that do not stop
    a, b = (np.random.default_rng(k).normal(size=x.shape) for k, x in enumerate((q, v)))

    def scanned(q, v, controls):
        def body(carry, u):
            s = aj.step(scene, *carry[:2], u, w=carry[2])
            return (s.q, s.v, s.w), s.q
        (q, v, _), kept = jax.lax.scan(body, (q, v, jnp.zeros_like(v)), jnp.swapaxes(controls, 0, 1))
        return q, v, jnp.swapaxes(kept, 0, 1)

    whole = aj.rollout(scene, q, v, controls)
    for one, other in zip(jax.jit(scanned)(q, v, controls), (whole.q, whole.v, whole.q_record)):
        equal(one, other)
    np.testing.assert_allclose(whole.q_record, tree.expected["rollout_q"][:2], atol=1e-9)

    def of_scan(*x):
        q, v, kept = scanned(*x)
        return (a * q).sum() + (b * v).sum() + (kept[:, 4] ** 2).sum()

    def of_rollout(*x):
        s = aj.rollout(scene, *x)
        return (a * s.q).sum() + (b * s.v).sum() + (s.q_record[:, 4] ** 2).sum()

    for one, other in zip(jax.jit(jax.grad(of_scan, (0, 1, 2)))(q, v, controls),
                          jax.grad(of_rollout, (0, 1, 2))(q, v, controls)):
        np.testing.assert_allclose(one, other, atol=1e-11 * np.abs(other).max())


def test_vmap_and_jacobians(tree):
    scene, (q, v, u) = tree.scene, state(tree)
    whole = scene.step(q, v, u)
    equal(jax.vmap(lambda *s: aj.step(scene, *s).q)(q, v, u), whole.q)
    equal(jax.vmap(lambda q, g: aj.step(scene, q, v, u, gravity=g).v, (None, 0))(
        q, np.zeros((2, 3)))[1], scene.step(q, v, u, gravity=np.zeros(3)).v)
    A = jax.jacrev(lambda v: aj.step(scene, q[0], v, u[0]).v)(v[0])
    rows = [scene.vjp(q[0], v[0], u[0], v_bar=row, wrt=("v",)).v for row in np.eye(scene.nv)]
    np.testing.assert_allclose(A, rows, rtol=1e-12, atol=1e-14)
    each = jax.vmap(jax.grad(lambda q, v, u: aj.step(scene, q, v, u).v.sum()))(q, v, u)
    np.testing.assert_allclose(each, jax.grad(lambda q: aj.step(scene, q, v, u).v.sum())(q), rtol=1e-12)


def test_forward_jacobians(tree):
    """A column each: those of reverse mode, and of the linear model."""
    scene, (q, v, u) = tree.scene, state(tree)
    f = lambda q, v, u: aj.step(scene, q, v, u, steps=3).v  # noqa: E731
    given = q[0], v[0], u[0]
    for one, other in zip(jax.jit(jax.jacfwd(f, (0, 1, 2)))(*given), jax.jacrev(f, (0, 1, 2))(*given)):
        np.testing.assert_allclose(one, other, atol=1e-12 * np.abs(other).max())
    B = jax.jacfwd(lambda u: aj.step(scene, q[0], v[0], u).v)(u[0])
    np.testing.assert_allclose(B, scene.transition(q[0], v[0], u[0]).B[scene.nv:], rtol=1e-12, atol=1e-14)
    along = jax.vmap(lambda t: jax.jvp(lambda v: f(q, v, u), (v,), (t,))[1])(np.stack([v, 2 * v]))
    np.testing.assert_allclose(along[1], 2 * along[0], rtol=1e-12)


def test_forward_through_a_scan(tree):
    scene, (q, v, u) = tree.scene, tuple(x[:2] for x in state(tree))

    def scanned(u):
        def body(carry, _):
            s = aj.step(scene, *carry[:2], u, w=carry[2])
            return (s.q, s.v, s.w), None
        return jax.lax.scan(body, (q, v, jnp.zeros_like(v)), None, 5)[0][0]

    t = np.ones_like(u)
    got = jax.jit(lambda u: jax.jvp(scanned, (u,), (t,))[1])(u)
    wanted = scene.jvp(q, v, u, u_tangent=t, steps=5).q
    np.testing.assert_allclose(got, wanted, atol=1e-12 * np.abs(wanted).max())


def test_linear_in_tangents(tree):
    """Derivatives are differentiable by what they are linear in, both ways."""
    scene, (q, v, u) = tree.scene, state(tree)
    f = lambda u: aj.step(scene, q, v, u, steps=2).v  # noqa: E731
    t, bar = np.random.default_rng(1).normal(size=u.shape), np.random.default_rng(2).normal(size=v.shape)
    push = lambda t: jax.jvp(f, (u,), (t,))[1]  # noqa: E731
    pull = lambda bar: jax.vjp(f, u)[1](bar)[0]  # noqa: E731
    moved, slope = push(t), pull(bar)
    np.testing.assert_allclose((moved * bar).sum(1), (slope * t).sum(1), rtol=1e-10)
    equal(jax.jvp(push, (u,), (t,))[1], moved)
    equal(jax.vjp(push, u)[1](bar)[0], slope)
    equal(jax.jvp(pull, (v,), (bar,))[1], slope)
    equal(jax.vjp(pull, v)[1](t)[0], moved)
    equal(jax.linear_transpose(jax.linearize(f, u)[1], u)(bar)[0], slope)


def test_states_that_nothing_keeps(tree):
    """record beyond steps."""
    scene, (q, v, u) = tree.scene, state(tree)
    f = lambda v: aj.step(scene, q, v, u, record=5)  # noqa: E731
    assert f(v).q_record.shape == (3, 0, scene.nq)
    slope = jax.grad(lambda v: f(v).v.sum() + f(v).q_record.sum())(v)
    equal(slope, scene.vjp(q, v, u, v_bar=np.ones_like(v), wrt=("v",)).v)
    equal(jax.jvp(f, (v,), (v,))[1].v, scene.jvp(q, v, u, v_tangent=v).v)


def test_only_what_is_used(tree):
    """A loss on v alone asks for no w, no status, and for no gradient but by u."""
    scene, (q, v, u) = tree.scene, state(tree)
    text = str(jax.jit(jax.grad(lambda u: aj.step(scene, q, v, u, record=1).v.sum())).lower(u).as_text())
    results = re.findall(r"custom_call @abut\(.*-> (.*)$", text, re.M)
    assert len(results) == 2 and results[1] == f"tensor<{'x'.join(map(str, u.shape))}xf64>"  # by u alone
    text = str(jax.jit(lambda u: jax.jvp(lambda u: aj.step(scene, q, v, u, record=1).v, (u,), (u,))[1]).lower(
        u).as_text())
    tangents = re.findall(r"custom_call @abut\((.*)\) \{.*-> (.*)$", text, re.M)[-1]
    # q, v, u, the q and the kept q that are reached, and along u; of v.
    assert tangents[0].count("%") == 6 and tangents[1] == f"tensor<{'x'.join(map(str, v.shape))}xf64>"


def test_through_the_host(tree, monkeypatch):
    """As on devices whose memory the library does not share."""
    scene, (q, v, u) = tree.scene, state(tree)
    worlds = _table.OfWorlds(scene, 3, 1, False)

    def host(call, given, names):
        plan = _table.plan_of(call, worlds, given, names)
        return dict(zip(names, _xla.through_host(*(given[name] for name in plan.inputs), plan=plan)))

    given = {"q": q, "v": v, "u": u}
    made = host("steps", given, list(_table.CALLS["steps"].outputs))
    wanted = scene.step(q, v, u, steps=3, record=1)
    for name, one in made.items():
        equal(one, getattr(wanted, name.replace("_next", "")))
    bar = np.ones_like(v)
    given |= {"q_next": made["q_next"], "q_record": made["q_record"]}
    g = host("steps_vjp", {**given, "v_next_bar": bar}, ["q_gradient", "u_gradient"])
    wanted = scene.vjp(q, v, u, steps=3, record=1, v_bar=bar)
    equal(g["q_gradient"], wanted.q)
    equal(g["u_gradient"], wanted.u)
    moved = host("steps_jvp", {**given, "q_tangent": q, "u_tangent": u}, ["q_next_tangent", "v_record_tangent"])
    wanted = scene.jvp(q, v, u, steps=3, record=1, q_tangent=q, u_tangent=u)
    equal(moved["q_next_tangent"], wanted.q)
    equal(moved["v_record_tangent"], wanted.v_record)


def test_automatic_pairs(double, tmp_path):
    """Friction has a column for each listed pair, and for each body that is in automatic pairs."""
    box = {"joint": {"type": "free"}, "density": 500, "position": [0, 0, 0.1], "bodies": [{"box": [0.1, 0.1, 0.1]}]}
    path = worlds.write_scene(tmp_path, links=[{"bodies": [{"plane": [5, 5]}]}, box], automatic={"friction": 0.4})
    with abut.Scene(path, double) as scene:
        q, v, friction = scene.start(), np.r_[1.0, np.zeros(5)], np.array([0.2, 0.3])
        assert (scene.pairs, scene.parameters) == (0, 2)
        f = jax.jit(lambda friction: aj.step(scene, q, v, steps=20, friction=friction).v)
        equal(f(friction), scene.step(q, v, steps=20, friction=friction).v)
        wanted = scene.vjp(q, v, steps=20, friction=friction, v_bar=np.ones(6), wrt=("friction",)).friction
        assert wanted[1]
        equal(jax.grad(lambda friction: f(friction).sum())(friction), wanted)


# ---- refusals and lives ----

def test_refusals(tree, contexts):
    scene, (q, v, u) = tree.scene, state(tree)
    for given, text in [({"q": q[:, 1:]}, "q has shape"), ({"u": u[:, :1]}, "u has shape"),
                        ({"gravity": np.zeros((5, 3))}, "do not have the same batch"), ({"steps": 1.5}, "steps is 1.5"),
                        ({"controls": u[:, None]}, "not both"),
                        ({"q": jnp.asarray(q, jnp.float32)}, "q is float32")]:
        with pytest.raises(ValueError, match=text):
            aj.step(scene, **{"q": q, "v": v, "u": u, **given})
    for twice in (jax.jacrev, jax.jacfwd):
        for once in (jax.jacrev, jax.jacfwd):
            with pytest.raises(NotImplementedError, match="steps of worlds have only first derivatives"):
                twice(once(lambda v: aj.step(scene, q[0], v, u[0]).v.sum()))(v[0])


def test_closed_scenes(tree):
    q, v, u = state(tree)
    f = jax.jit(lambda v: aj.step(tree.scene, q, v, u).v)
    f(v)
    tree.scene.close()
    with pytest.raises(FAILS):
        f(v).block_until_ready()


def test_programs_keep_scenes(double, tmp_path):
    scene = abut.Scene(worlds.write_scene(tmp_path, **worlds.FREE), double)
    q, v = scene.start(), np.ones(6)
    wanted = scene.step(q, v).q
    f = jax.jit(lambda v, scene=scene: aj.step(scene, q, v).q)
    f(v)
    program = jax.jit(lambda v, scene=scene: aj.step(scene, q, v).q).lower(v).compile()
    gone = weakref.ref(scene)
    del scene, f
    gc.collect()
    assert gone() is not None
    equal(program(v), wanted)


def test_springs(double):
    """Numbers of springs have gradients, and no tangents."""
    finger = worlds.Finger(double)
    law = finger.scene.springs()

    def loss(q, law):
        made = aj.rollout(finger.scene, q, finger.v, finger.controls, springs=law)
        return made.q @ finger.bar[:5] + made.v @ finger.bar[5:]

    g = finger.vjp(record=1, wrt=("q", "springs"), springs=law)
    for program in (jax.grad(loss, (0, 1)), jax.jit(jax.grad(loss, (0, 1)))):
        by_q, by_law = program(finger.q, law)
        equal(by_law, g.springs)
        equal(by_q, g.q)
    laws = jnp.stack([law, 0.5 * law])
    rows = jax.vmap(jax.grad(loss, 1), (None, 0))(finger.q, laws)
    np.testing.assert_allclose(rows[0], g.springs, rtol=1e-12)
    with pytest.raises(NotImplementedError, match="no tangents"):
        jax.jvp(lambda law: loss(finger.q, law), (law,), (law,))
    jax.jvp(lambda q: loss(q, law), (finger.q,), (finger.q,))
