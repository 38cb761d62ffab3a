"""abut.jax.ccd and abut.jax.ccd_queries: answers, derivatives of both modes, transformations, the way through the host."""
import gc

import numpy as np
import pytest
from conftest import figure_and_part
from test_ccd import KINDS, POSES, cubes, some_features, thrown

import abut
from abut import CcdStatus

jax = pytest.importorskip("jax")
jax.config.update("jax_enable_x64", True)

import jax.numpy as jnp  # noqa: E402
from jax.test_util import check_grads  # noqa: E402

import abut.jax as aj  # noqa: E402
from abut import _table, _xla  # noqa: E402

FAILS = (ValueError, jax.errors.JaxRuntimeError)


def moves(context, count, seed=5, width=7):
    return [jnp.asarray(pose, context.dtype) for pose in thrown(count, seed, width)]


def features(context, kind, count, seed=1):
    return [jnp.asarray(x, context.dtype) for x in some_features(kind, count, seed)]


def within(context):
    return 1e-11 if context.precision == "f64" else 2e-4


def test_answers(context):
    meshes, poses = cubes(context), moves(context, 20)
    options = {"separation": 0.01, "keep": 0.1, "tolerance": 1e-5, "iterations": 40}
    wanted = abut.ccd(meshes, *poses, **options)

    def query(*p):
        return aj.ccd(meshes, *p, **options)

    for made in (query(*poses), jax.jit(query)(*poses)):
        for name, value in made._asdict().items():
            assert np.array_equal(value, getattr(wanted, name)) and value.dtype == getattr(wanted, name).dtype
    arcs = aj.ccd(meshes, *poses, motion="arc", center1=(0.1, 0, 0), center2=(0, 0.2, 0), separation=0.01)
    assert np.array_equal(arcs.toi, abut.ccd(meshes, *poses, motion="arc", center1=(0.1, 0, 0), center2=(0, 0.2, 0),
                                             separation=0.01).toi)
    grid = aj.ccd(meshes, None, None, poses[2].reshape(4, 5, 7), poses[3][:5])
    assert grid.toi.shape == (4, 5) and grid.p1.shape == (4, 5, 3)


@pytest.mark.parametrize("kind", KINDS)
def test_answers_of_queries(context, kind):
    x0, x1 = features(context, kind, 20)
    many = jnp.linspace(0, 0.1, 20, dtype=context.dtype)
    options = {"keep": 0.125, "end": 0.75, "error": 1e-6}
    wanted = abut.ccd_queries(kind, x0, x1, separation=many, context=context, **options)
    made = jax.jit(lambda *x: aj.ccd_queries(kind, *x[:2], separation=x[2], context=context, **options))(x0, x1, many)
    for name, value in made._asdict().items():
        assert np.array_equal(value, getattr(wanted, name)) and value.dtype == getattr(wanted, name).dtype
    for options in ({"method": "additive"}, {"plain": True, "iterations": 3}, {"relative_error": 1e-6, "tolerance": 1e-3}):
        wanted = abut.ccd_queries(kind, x0, x1, context=context, **options)
        assert np.array_equal(aj.ccd_queries(kind, x0, x1, context=context, **options).toi, wanted.toi)


def test_low_parts(contexts):
    context = contexts["f32"]
    x0, x1 = some_features("ee", 10)
    high = [x.astype(np.float32) for x in (x0, x1)]
    low = [(x - h).astype(np.float32) for x, h in zip((x0, x1), high)]
    options = {"x0_low": low[0], "x1_low": low[1], "relative_error": 2.0**-48, "context": context}
    assert np.array_equal(aj.ccd_queries("ee", *high, **options).toi, abut.ccd_queries("ee", *high, **options).toi)


@pytest.mark.parametrize("width", [6, 7])
def test_reverse(context, width):
    """Gradients are those of abut.ccd_gradient."""
    meshes, poses = cubes(context), moves(context, 20, width=width)
    bar = jnp.asarray(np.random.default_rng(7).normal(size=20), context.dtype)
    g = jax.jit(jax.grad(lambda *p: (bar * aj.ccd(meshes, *p, separation=0.05).toi).sum(), argnums=(0, 1, 2, 3)))(*poses)
    r = abut.ccd(meshes, *poses, separation=0.05)
    wanted = abut.ccd_gradient(r, toi=bar)
    assert (wanted.status == CcdStatus.HIT).sum() > 10
    for got, name in zip(g, POSES):
        slope = getattr(wanted, name)
        np.testing.assert_allclose(got, slope, atol=within(context) * np.abs(slope).max())
        assert not np.asarray(got)[wanted.status != CcdStatus.HIT].any()
    x0, x1 = features(context, "pt", 20)
    options = {"separation": 0.05, "context": context}
    g = jax.grad(lambda *x: (bar * aj.ccd_queries("pt", *x, **options).toi).sum(), argnums=(0, 1))(x0, x1)
    wanted = abut.ccd_queries_gradient(abut.ccd_queries("pt", x0, x1, **options), toi=bar)
    for got, slope in zip(g, wanted[:2]):
        np.testing.assert_allclose(got, slope, atol=within(context) * np.abs(slope).max())


def test_forward(context):
    """Tangents are the transposes of gradients, also of some poses alone."""
    meshes, poses = cubes(context), moves(context, 20)
    rng = np.random.default_rng(8)
    along = [jnp.asarray(rng.normal(size=p.shape), p.dtype) for p in poses]
    made, t = jax.jvp(lambda *p: aj.ccd(meshes, *p, separation=0.05).toi, poses, along)
    assert np.array_equal(made, abut.ccd(meshes, *poses, separation=0.05).toi)
    g = abut.ccd_gradient(abut.ccd(meshes, *poses, separation=0.05))
    wanted = sum((getattr(g, name) * a).sum(-1) for name, a in zip(POSES, along))
    np.testing.assert_allclose(t, wanted, atol=within(context) * np.abs(wanted).max())
    alone = jax.jvp(lambda p: aj.ccd(meshes, *poses[:3], p, separation=0.05).toi, poses[3:], along[3:])[1]
    np.testing.assert_allclose(alone, (g.to2 * along[3]).sum(-1), atol=within(context) * np.abs(wanted).max())


def smooth_rows(meshes, poses, options):
    """Rows whose derivative differences find, too: no other feature is about to touch."""
    g = abut.ccd_gradient(abut.ccd(meshes, *poses, **options))
    steps = np.random.default_rng(9).normal(size=(4, len(poses[0]), 6))
    ends = [abut.ccd(meshes, *(abut.pose.step(p, h * s, "aligned") for p, s in zip(poses, steps)), **options).toi
            for h in (1e-4, -1e-4)]
    wanted = (g.by1 * np.concatenate(steps[:2], -1)).sum(-1) + (g.by2 * np.concatenate(steps[2:], -1)).sum(-1)
    return (g.status == CcdStatus.HIT) & (np.abs((ends[0] - ends[1]) / 2e-4 - wanted) < 1e-3 * (1 + np.abs(wanted)))


def test_differences(double):
    meshes, poses = cubes(double), thrown(20, 5)
    options = {"separation": 0.05, "tolerance": 1e-13}
    smooth = np.flatnonzero(smooth_rows(meshes, poses, options))[:4]
    assert len(smooth) == 4
    check_grads(lambda *p: aj.ccd(meshes, *p, **options).toi, [jnp.asarray(p[smooth]) for p in poses], 1,
                modes=("fwd", "rev"), eps=1e-5, atol=1e-4, rtol=1e-4)


def test_transformations(double):
    meshes, poses = cubes(double), moves(double, 6)

    def row(*p):
        return aj.ccd(meshes, *p, separation=0.05)

    whole = row(*poses)
    assert all(map(np.array_equal, whole, jax.vmap(row)(*poses)))
    fixed = jax.vmap(row, in_axes=(None, None, 0, 0))(poses[0][0], poses[1][0], *poses[2:])
    assert np.array_equal(fixed.toi, row(poses[0][0], poses[1][0], *poses[2:]).toi)
    reverse, forward = (jax.vmap(make(lambda *p: row(*p).toi, argnums=3))(*poses) for make in (jax.jacrev, jax.jacfwd))
    np.testing.assert_allclose(reverse, forward, atol=1e-12)
    np.testing.assert_allclose(reverse, abut.ccd_gradient(abut.ccd(meshes, *poses, separation=0.05)).to2, atol=1e-12)
    x0, x1 = features(double, "ee", 6)
    many = jnp.linspace(0, 0.1, 6)

    def query(a, b, separation):
        return aj.ccd_queries("ee", a, b, separation=separation, context=double)

    assert all(map(np.array_equal, query(x0, x1, many), jax.vmap(query)(x0, x1, many)))
    g = jax.jit(jax.vmap(jax.grad(lambda a, b, c: query(a, b, c).toi)))(x0, x1, many)
    wanted = abut.ccd_queries_gradient(abut.ccd_queries("ee", x0, x1, separation=many, context=double))
    np.testing.assert_allclose(g, wanted.x0, atol=1e-12)

    def descend(b, _):
        """Vertices at time 1 go where the touch is later."""
        return b + 0.01 * jax.grad(lambda b: query(x0, b, many).toi.sum())(b), query(x0, b, many).toi.sum()

    _, times = jax.jit(lambda b: jax.lax.scan(descend, b, None, length=5))(x1)
    assert times[-1] > times[0]


def test_through_the_host(context):
    """What devices without the host's memory take: the same numbers."""
    meshes, poses = cubes(context), moves(context, 12)
    x0, x1 = features(context, "pe", 12)
    many = jnp.linspace(0, 0.1, 12, dtype=context.dtype)
    moved = _table.OfMeshes(meshes, poses[0].shape[-1], _table.move_settings(
        {"motion": 1, "center1": (0.1, 0.0, 0.0), "center2": (0.0, 0.2, 0.0), "separation": 0.05, "keep": 0.1, "tolerance": 1e-4}))
    asked = _table.OfFeatures(context, 3, _table.feature_settings({"kind": 1, "keep": 0.1}))
    queries = {"x0": x0, "x1": x1, "separations": many, "ends": 1 - many}
    for name, subject, given in (("ccd", moved, dict(zip(_table.POSES, poses))), ("ccd_queries", asked, queries)):
        for call in (name, name + "_gradient"):
            plan = _table.plan_of(call, subject, given, _table.CALLS[call].outputs)
            operands = [given[array] for array in plan.inputs]
            wanted = _xla.PRIMITIVES[call].bind(*operands, plan=plan)
            got = jax.jit(lambda *x: _xla.through_host(*x, plan=plan))(*operands)
            assert len(got) == len(wanted) > 4 and all(map(np.array_equal, got, wanted))


def test_pairs(context):
    pair = abut.Pair(*figure_and_part(context))
    to2 = jnp.asarray([[0, 0, 0, 1, 0, 0, 0], [9.0, 0, 0, 1, 0, 0, 0]], context.dtype)
    from2 = to2 + jnp.asarray([3.0, 0, 0, 0, 0, 0, 0], context.dtype)
    program = jax.jit(lambda *p: aj.ccd(pair, None, None, *p, separation=1e-3).toi)
    wanted = abut.ccd(pair, None, None, from2, to2, separation=1e-3).toi
    assert np.array_equal(program(from2, to2), wanted)
    pair.close()
    assert np.array_equal(program(from2, to2), wanted)


def test_closed(double):
    """A program keeps its meshes from being collected, and fails where they are closed."""
    poses = moves(double, 3)
    program = jax.jit(lambda *p: aj.ccd(cubes(double), *p).toi)
    program(*poses)
    gc.collect()
    program(*poses)
    meshes = cubes(double)
    program = jax.jit(lambda *p: aj.ccd(meshes, *p).toi)
    program(*poses)
    meshes[0].close()
    with pytest.raises(FAILS, match="stale"):
        jax.block_until_ready(program(*poses))


def test_forms(double):
    meshes, poses = cubes(double), moves(double, 5)
    matrices = jnp.asarray(abut.pose.to_matrix(np.asarray(poses[3])))
    made, pull = jax.vjp(lambda m: aj.ccd(meshes, *poses[:3], m, separation=0.05).toi, matrices)
    r = abut.ccd(meshes, *poses, separation=0.05)
    np.testing.assert_allclose(made, r.toi, atol=1e-8)
    np.testing.assert_allclose(pull(jnp.ones(5))[0][:, :3, 3], abut.ccd_gradient(r).to2[:, :3], atol=1e-6)


def test_bad_input(context):
    meshes, poses = cubes(context), [np.array(p) for p in moves(context, 6)]
    poses[3][1, 0], poses[2][3, 3:], poses[0][4, 5] = np.nan, 0, np.inf
    bad = np.isin(np.arange(6), [1, 3, 4])
    toi, pull = jax.vjp(lambda *p: aj.ccd(meshes, *p, separation=0.05).toi, *poses)
    for value in (toi, *pull(jnp.ones_like(toi))):
        assert np.isfinite(value).all() and not np.asarray(value)[bad].any()
    x0, x1 = (np.array(x) for x in features(context, "pe", 4))
    x0[1, 0, 0] = np.nan
    toi, pull = jax.vjp(lambda *x: aj.ccd_queries("pe", *x, context=context).toi, x0, x1)
    for value in (toi, *pull(jnp.ones_like(toi))):
        assert np.isfinite(value).all() and not np.asarray(value)[1].any()


def test_empty(double):
    g = jax.grad(lambda p: aj.ccd(cubes(double), None, None, None, p).toi.sum())(jnp.zeros((0, 7)))
    assert g.shape == (0, 7)
    g = jax.grad(lambda x: aj.ccd_queries("pp", x, x, context=double).toi.sum())(jnp.zeros((0, 2, 3)))
    assert g.shape == (0, 2, 3)


def test_refusals(context):
    meshes, poses = cubes(context), dict(zip(POSES, moves(context, 3)))
    for wrong in ({"to1": poses["to1"].astype(jnp.float16)}, {"to1": poses["to1"][:, :5]}, {"to2": poses["to2"][:2]},
                  {"motion": "screw"}, {"pair": meshes[:1]}, {"center1": (0, 0)}, dict.fromkeys(POSES), {"separation": "far"},
                  {"iterations": -1}):
        with pytest.raises(ValueError):
            aj.ccd(**{"pair": meshes, **poses, **wrong})
    with pytest.raises(FAILS, match="separation"):
        jax.block_until_ready(aj.ccd(meshes, **poses, separation=-1.0))
    x0, x1 = features(context, "pt", 3)
    for wrong in ({"kind": "tp"}, {"x0": x0[:, :3]}, {"x1": x1[:2]}, {"method": "exact"}, {"separation": np.zeros(2)},
                  {"x0": x0.astype(jnp.float16)}, {"iterations": -1}):
        with pytest.raises(ValueError):
            aj.ccd_queries(**{"kind": "pt", "x0": x0, "x1": x1, "context": context, **wrong})
    with pytest.raises(FAILS, match="keep"):
        jax.block_until_ready(aj.ccd_queries("pt", x0, x1, keep=1.0, context=context).toi)
    many = jnp.zeros(3, context.dtype)
    with pytest.raises(NotImplementedError, match="x0 and x1"):
        jax.grad(lambda s: aj.ccd_queries("pt", x0, x1, separation=s, context=context).toi.sum())(many)
    with pytest.raises(NotImplementedError, match="only first derivatives"):
        jax.hessian(lambda x: aj.ccd_queries("pt", x, x1, context=context).toi.sum())(x0)
    with pytest.raises(NotImplementedError, match="only first derivatives"):
        jax.hessian(lambda p: aj.ccd(meshes, *list(poses.values())[:3], p).toi.sum())(poses["to2"])
