"""abut.jax.closest: answers, derivatives of both modes, transformations, the way through the host, bad input."""
import numpy as np
import pytest
from test_closest import poses, smooth_shapes

import abut

jax = pytest.importorskip("jax")
jax.config.update("jax_enable_x64", True)

import jax.numpy as jnp  # noqa: E402
from jax.test_util import check_grads  # noqa: E402

import abut.jax as aj  # noqa: E402
from abut import _table, _xla  # noqa: E402

ANSWERS = ("d", "n", "p1", "p2")
FAILS = (ValueError, jax.errors.JaxRuntimeError)
METHODS = [("exact", 6, {}), ("gumbel", 7, {"temperature": 0.1}), ("gaussian", 6, {"seed": 2**63 + 3}),
           ("zeroth", 7, {"samples": 5})]


def pair_of_poses(context, count, width=7, reach=1.0):
    return tuple(jnp.asarray(poses(count, k, width, reach), context.dtype) for k in (1, 2))


def some_shapes(context):
    return [*smooth_shapes(context), abut.Shape("box", (0.3, 0.2, 0.1), context=context),
            abut.Shape("hull", np.random.default_rng(1).normal(size=(20, 3)), context=context)]


def cotangents(made, seed=8):
    rng = np.random.default_rng(seed)
    return tuple(jnp.asarray(rng.normal(size=value.shape), value.dtype) for value in made)


def test_answers(context):
    a, b = smooth_shapes(context)
    p1, p2 = pair_of_poses(context, 20)
    wanted = abut.closest(a, b, p1, p2)
    for query in (aj.closest, jax.jit(aj.closest, static_argnums=(0, 1))):
        for name, value in zip(ANSWERS, query(a, b, p1, p2)):
            assert np.array_equal(value, getattr(wanted, name)) and value.dtype == context.dtype
    d, n, q1, q2 = aj.closest(a, b, None, p2.reshape(4, 5, 7))
    assert d.shape == (4, 5) and n.shape == q1.shape == q2.shape == (4, 5, 3)


@pytest.mark.parametrize("method,width,options", METHODS)
def test_reverse(context, method, width, options):
    """Gradients are those of abut.closest_vjp."""
    shapes, rng = some_shapes(context), np.random.default_rng(5)
    one, two = rng.integers(0, 4, (2, 30))
    p1, p2 = pair_of_poses(context, 30, width)

    @jax.jit
    def gradients(x, y, k):
        made, pull = jax.vjp(lambda *p: aj.closest(shapes, shapes, *p, method, one=one, two=k, **options), x, y)
        return pull(type(made)(*bars))

    r = abut.closest(shapes, shapes, p1, p2, one=one, two=two)
    bars = cotangents([getattr(r, name) for name in ANSWERS])
    wanted = abut.closest_vjp(r, **dict(zip(ANSWERS, bars)), method=method, **options)
    within = 1e-12 if context.precision == "f64" else 1e-5
    for got, slope in zip(gradients(p1, p2, two), (wanted.pose1, wanted.pose2)):
        scale = np.abs(slope).max(-1, keepdims=True) + np.abs(wanted.twists).max(-1, keepdims=True)
        assert (np.abs(got - slope) <= within * scale).all()


@pytest.mark.parametrize("width", [6, 7])
def test_forward(context, width):
    """Tangents are the Jacobian's by how poses move, also of twists that are large."""
    a, b = smooth_shapes(context)
    p1, p2 = pair_of_poses(context, 10, width)
    along = cotangents((p1, p2))
    made, t = jax.jvp(lambda *p: aj.closest(a, b, *p), (p1, p2), along)
    assert all(np.array_equal(x, getattr(abut.closest(a, b, p1, p2), name)) for x, name in zip(made, ANSWERS))
    _, pull = jax.vjp(lambda *p: aj.closest(a, b, *p), p1, p2)
    bars = cotangents(made, 9)
    forward = sum(float((x * bar).sum()) for x, bar in zip(t, bars))
    reverse = sum(float((g * x).sum()) for g, x in zip(pull(type(made)(*bars)), along))
    assert forward == pytest.approx(reverse, rel=1e-9 if context.precision == "f64" else 1e-3)
    twists = np.concatenate([abut._closest.twists_of(np.asarray(p), np.asarray(s)) for p, s in zip((p1, p2), along)], -1)
    wanted = abut.closest_jvp(abut.closest(a, b, p1, p2), twists)
    for x, name in zip(t, ANSWERS):
        np.testing.assert_allclose(x, getattr(wanted, name), rtol=0, atol=1e-11 if context.precision == "f64" else 1e-4)


def test_differences(double):
    a, b = smooth_shapes(double)
    for width in (6, 7):
        check_grads(lambda *p: tuple(aj.closest(a, b, *p, "exact")), pair_of_poses(double, 4, width), 1,
                    modes=("fwd", "rev"), eps=1e-5, atol=1e-6, rtol=1e-6)


def test_transformations(double):
    a, b = smooth_shapes(double)
    p1, p2 = pair_of_poses(double, 6)

    def row(x, y):
        return aj.closest(a, b, x, y, "exact")

    whole = row(p1, p2)
    assert all(map(np.array_equal, whole, jax.vmap(row)(p1, p2)))
    assert np.array_equal(jax.vmap(row, in_axes=(None, 0))(p1[0], p2).d, row(p1[0], p2).d)
    reverse, forward = (jax.vmap(make(row, argnums=1))(p1, p2) for make in (jax.jacrev, jax.jacfwd))
    for x, y in zip(reverse, forward):
        np.testing.assert_allclose(x, y, atol=1e-10)
    g = jax.jit(jax.grad(lambda y: row(p1, y).d.sum()))(p2)
    np.testing.assert_allclose(g, reverse.d, atol=1e-12)
    shapes, which = some_shapes(double), jnp.arange(6) % 4
    listed = jax.jit(jax.vmap(lambda k, x, y: aj.closest(shapes, b, x, y, one=k).d))(which, p1, p2)
    assert np.array_equal(listed, aj.closest(shapes, b, p1, p2, one=which).d)
    linear = jax.linearize(lambda y: row(p1, y).n, p2)[1]
    np.testing.assert_allclose(jax.linear_transpose(linear, p2)(whole.n)[0],
                               jax.vjp(lambda y: row(p1, y).n, p2)[1](whole.n)[0], atol=1e-12)

    def descend(y, _):
        return y + 0.01 * jax.grad(lambda y: row(p1, y).d.sum())(y), row(p1, y).d

    _, distances = jax.jit(lambda y: jax.lax.scan(descend, y, None, length=5))(p2)
    assert (np.diff(distances, axis=0) > 0).all()


def test_through_the_host(context):
    """What devices without the host's memory take: the same numbers."""
    shapes = some_shapes(context)
    p1, p2 = pair_of_poses(context, 12)
    one, two = (jnp.asarray(np.random.default_rng(3).integers(0, 4, 12), jnp.uint32) for _ in range(2))
    settings = _table.closest_settings("gumbel", {"temperature": 0.1, "cutoff": 3.0})
    for given, some in (({"pose1": p1, "pose2": p2}, shapes[:2]), ({"pose1": p1, "pose2": p2, "one": one, "two": two}, shapes)):
        subject = abut._closest.subject_of(*(some, some) if "one" in given else some, "one" in given, 7, *settings)
        answers = _xla.bind("closest", subject, given, (*_table.CALLS["closest"].outputs,))
        bars = cotangents([answers[name] for name in ("d", "n", "p1", "p2")])
        for call, more in (("closest", {}), ("closest_jvp", {**answers, "twists_tangent": jnp.ones((12, 12), context.dtype)}),
                           ("closest_vjp", {**answers, "d_bar": bars[0], "p1_bar": bars[2]})):
            names = ["twists_gradient"] if call == "closest_vjp" else list(_table.CALLS[call].outputs)
            plan = _table.plan_of(call, subject, {**given, **more}, names)
            operands = [{**given, **more}[array] for array in plan.inputs]
            wanted = _xla.PRIMITIVES[call].bind(*operands, plan=plan)
            got = jax.jit(lambda *x: _xla.through_host(*x, plan=plan))(*operands)
            assert len(got) == len(wanted) == len(names) and all(map(np.array_equal, got, wanted))


def test_forms(double):
    a, b = smooth_shapes(double)
    p1, p2 = pair_of_poses(double, 5)
    matrices = jnp.asarray(abut.pose.to_matrix(np.asarray(p2)))
    made, pull = jax.vjp(lambda m: aj.closest(a, b, p1, m, "exact").d, matrices)
    np.testing.assert_allclose(made, aj.closest(a, b, p1, p2).d, atol=1e-12)
    slope = abut.closest_vjp(abut.closest(a, b, p1, p2), d=1, method="exact").pose2
    np.testing.assert_allclose(pull(jnp.ones(5))[0][:, :3, 3], slope[:, :3], atol=1e-12)


def test_bad_poses(context):
    a, b = smooth_shapes(context)
    for width in (6, 7):
        p1, p2 = map(np.array, pair_of_poses(context, 6, width))
        p2[1, 0], p2[4, 5] = np.nan, np.inf
        bad = np.array([False, True, False, width == 7, True, False])
        if width == 7:
            p2[3, 3:] = 0
        query = jax.jit(lambda *p: aj.closest(a, b, *p))
        made, pull = jax.vjp(query, p1, p2)
        _, t = jax.jvp(query, (p1, p2), (np.ones_like(p1), np.ones_like(p2)))
        for value in made:
            assert np.isnan(np.asarray(value)[bad]).all() and np.isfinite(np.asarray(value)[~bad]).all()
        for value in (*pull(jax.tree.map(jnp.ones_like, made)), *t):
            assert np.isfinite(value).all() and not np.asarray(value)[bad].any() and np.asarray(value)[~bad].any()


def test_empty(double):
    a, b = smooth_shapes(double)
    g = jax.grad(lambda p: aj.closest(a, b, p, None).p1.sum())(jnp.zeros((0, 7)))
    assert g.shape == (0, 7)


def test_refusals(context):
    a, b = smooth_shapes(context)
    p = jnp.asarray(poses(3), context.dtype)
    for wrong in ({"pose1": p.astype(jnp.float16)}, {"pose1": p[:, :5]}, {"pose2": p[:2]}, {"method": "smooth"},
                  {"shape1": [a, b]}, {"one": [0, 0, 0]}, {"shape1": [a], "one": [1, 0, 0]}, {"shape1": [a], "one": [0, 0]},
                  {"shape1": [a], "one": [0.0, 0.0, 0.0]}, {"shape1": 3}, {"samples": -1}):
        with pytest.raises(ValueError):
            aj.closest(**{"shape1": a, "shape2": b, "pose1": p, "pose2": p, **wrong})
    with pytest.raises(TypeError):
        aj.closest(a, b, p, p, sharpness=3)
    for row in ([0, 2, 0], [0, -1, 0]):
        with pytest.raises(FAILS, match="two of entry 1"):
            jax.block_until_ready(aj.closest([a], [b, a], p, p, one=jnp.zeros(3, int), two=jnp.asarray(row)))
    with pytest.raises(NotImplementedError, match="only first derivatives"):
        jax.hessian(lambda y: aj.closest(a, b, p, y).d.sum())(p)
    with pytest.raises(FAILS, match="temperature"):
        jax.block_until_ready(jax.grad(lambda y: aj.closest(a, b, p, y, temperature=-1.0).d.sum())(p))
    if context.precision == "f32":
        with pytest.raises(FAILS, match="float64"):
            jax.block_until_ready(jax.grad(lambda y: aj.closest(a, b, p, y, "finite").d.sum())(p))


def test_closed(double):
    a, b = smooth_shapes(double)
    p = jnp.asarray(poses(3))
    program = jax.jit(lambda y: aj.closest(a, b, None, y).d)
    program(p)
    a.close()
    with pytest.raises(FAILS, match="stale"):
        jax.block_until_ready(program(p))
