"""abut.jax by shapes: against NumPy's derivatives and differences, under jit, what is missing, refusals."""
import conftest
import jax
import jax.numpy as jnp
import numpy as np
import pytest

import abut
import abut.jax as aj

jax.config.update("jax_enable_x64", True)
ALONE = ("vertices", "axes", "exponents", "position")
LISTS = ("plane_normals", "plane_points", "cloud_points", "cloud_normals", "cloud_widths", "grid_coefficients")


def arrays(body, names=ALONE + LISTS):
    shape, dtype = body.shape(), body.context.dtype
    return {name: [jnp.asarray(x, dtype) for x in value] if isinstance(value := getattr(shape, name), list)
            else jnp.asarray(value, dtype) for name in names}


def small(context):
    mesh = 0.13 * np.random.default_rng(4).normal(size=(2, 10, 3))
    a = context.body(mesh[0], axes=[[0.2, 0.1, 0.1], [0.05, 0.05, 0.3]], exponents=[[0.5, 0.8], [0.6, 1.0]],
                     position=[[0, 0, 0], [0.1, 0, 0]], operation=["add", "subtract"], rotation=[[1, 0, 0, 0], [2, 0.3, 0, 0.5]])
    b = context.body(mesh[1], axes=(0.12, 0.1, 0.15), exponents=(1, 0.9))
    return abut.Pair(a, b, {"penetration": 0.02, "edge_edge": False})


def poses(count):
    return jnp.zeros((count, 6)), jnp.asarray(0.1 * np.random.default_rng(2).normal(size=(count, 6)))


def test_golden(contexts):
    pair, given, bars, _ = conftest.golden(contexts["f64"], "composed")
    s1, s2 = (jnp.asarray(given[name][:2]) for name in ("s1", "s2"))
    cut = {name: bars[name + "_bar"][:2] for name in conftest.OUTPUTS}

    def total(s2, a, b):
        c = aj.contacts(pair, s1, s2, shape1=a, shape2=b)
        return sum((getattr(c, name) * cut[name]).sum() for name in conftest.OUTPUTS)
    a, b = map(arrays, pair.bodies)
    by_pose, by_a, by_b = jax.jit(jax.grad(total, (0, 1, 2)))(s2, a, b)
    wanted = abut.shape_vjp(pair, given["s1"][:2], given["s2"][:2], **cut)
    for given_, mine, exact in zip((a, b), (by_a, by_b), wanted):
        for name in ALONE + LISTS:
            of = [x[name] if name in LISTS else [x[name]] for x in (given_, mine)]
            value = getattr(exact, name)
            for numbers, x, y in zip(*of, value if name in LISTS else [value]):
                np.testing.assert_allclose(x, conftest.by_given(name, numbers, y), rtol=1e-12, atol=1e-300)
    np.testing.assert_allclose(by_pose, abut.vjp(pair, given["s1"][:2], given["s2"][:2], **cut)[1], rtol=1e-12)


def test_differences(contexts):
    pair = small(contexts["f64"])
    pose1, pose2 = poses(2)
    a = {**arrays(pair.bodies[0], ("axes", "exponents", "position")), "rotation": jnp.asarray(pair.bodies[0].shape().rotation)}

    def energy(a):
        c = aj.contacts(pair, pose1, pose2, shape1=a)
        return (c.activity * c.d ** 2).sum() + c.p.sum()
    g, f = jax.grad(energy)(a), jax.jit(energy)
    for name, value in a.items():
        way = jnp.asarray(np.random.default_rng(0).normal(size=value.shape))
        ends = [f({**a, name: value + sign * 1e-6 * way}) for sign in (1, -1)]
        np.testing.assert_allclose((ends[0] - ends[1]) / 2e-6, (g[name] * way).sum(), rtol=1e-6)


def test_lengths_of_normals_count_for_nothing(contexts):
    rng = np.random.default_rng(3)
    cube, ball = np.concatenate([np.eye(3), -np.eye(3)]), rng.normal(size=(40, 3))
    ball /= np.linalg.norm(ball, axis=1, keepdims=True)
    mesh = 0.13 * rng.normal(size=(10, 3))
    a = contexts["f64"].body(mesh, plane_normals=2 * cube, plane_points=0.1 * cube + 0.02 * np.roll(cube, 1, 1),
                             cloud_points=0.1 * ball, cloud_normals=rng.uniform(0.5, 3, size=(40, 1)) * ball,
                             cloud_widths=[np.full(40, 0.05)])
    b = contexts["f64"].body(mesh[::-1], axes=(0.12, 0.1, 0.15), exponents=(1, 0.9))
    pair = abut.Pair(a, b, {"penetration": 0.02, "edge_edge": False})
    pose1, pose2 = poses(2)
    given = arrays(a, ("plane_normals", "cloud_normals"))

    def energy(given):
        c = aj.contacts(pair, pose1, pose2, shape1=given)
        return (c.activity * c.d ** 2).sum() + c.d.sum()
    g, f = jax.grad(energy)(given), jax.jit(energy)
    for name, (n,) in given.items():
        way = jnp.asarray(rng.normal(size=n.shape))
        ends = [f({**given, name: [n + sign * 1e-6 * way]}) for sign in (1, -1)]
        np.testing.assert_allclose((ends[0] - ends[1]) / 2e-6, (g[name][0] * way).sum(), rtol=1e-6)
        assert abs((g[name][0] * n).sum(1)).max() < 1e-12 * abs(g[name][0]).max()


def test_reductions_and_what_is_not_asked_for(contexts):
    pair = small(contexts["f64"])
    pose1, pose2 = poses(5)
    weights = jnp.arange(5.0)
    a = arrays(pair.bodies[0], ("axes", "position"))

    def loss(axes, position, kind="energy"):
        value, nearest = aj.reduce(pair, pose1, pose2, kind, nearest=True, shape1={"axes": axes, "position": position})
        return (value * weights).sum() + 0 * nearest.sum()
    rows = abut.shape_gradient(pair, np.asarray(pose1), np.asarray(pose2), "energy", each_pose=True)[0].axes
    np.testing.assert_allclose(jax.jit(jax.grad(loss))(a["axes"], a["position"]), np.tensordot(weights, rows, 1), rtol=1e-9,
                               atol=1e-15)
    # The same numbers twice in the batch's own axis, and one call for each under vmap.
    each = jax.vmap(lambda x: aj.reduce(pair, pose1, pose2, "energy", shape1={"axes": x}))(jnp.stack([a["axes"], 1.1 * a["axes"]]))
    np.testing.assert_allclose(each[0], abut.reduce(pair, np.asarray(pose1), np.asarray(pose2), "energy").value, rtol=1e-12)
    assert each.shape == (2, 5) and not np.allclose(each[0], each[1])
    followed = jax.grad(lambda x: aj.contacts(pair, pose1, pose2, want=("d",), shape1={"axes": x}, follow=True).d.sum())(a["axes"])
    exact = abut.shape_vjp(pair, np.asarray(pose1), np.asarray(pose2), d=np.ones((5, pair.C)), follow=True)[0].axes
    np.testing.assert_allclose(followed, exact, rtol=1e-12)
    assert jax.grad(lambda x: aj.contacts(pair, pose1[:0], pose2[:0], shape1={"axes": x}).d.sum())(a["axes"]).shape == (2, 3)
    one = aj.contacts(pair, None, pose2[0], shape1=a)
    assert one.d.shape == (pair.C,) and one.status == 0


def test_large_batches_in_float32(contexts):
    pair = small(contexts["f32"])
    pose = jnp.asarray(np.asarray(poses(4000)[1]), jnp.float32)
    axes = arrays(pair.bodies[0], ("axes",))["axes"]
    step = jax.jit(jax.value_and_grad(lambda x: aj.contacts(pair, None, pose, want=("d",), shape1={"axes": x}).d.mean()))
    for _ in range(2):
        value, g = step(axes)
        axes = axes - 1e-3 * g / jnp.abs(g).max()
    assert g.dtype == jnp.float32 and np.isfinite(value) and np.isfinite(g).all()


def test_refusals(contexts):
    pair = small(contexts["f64"])
    pose1, pose2 = poses(2)
    axes = arrays(pair.bodies[0], ("axes",))["axes"]
    for call, error, what in (
            (lambda: aj.contacts([pair], pose1, pose2, shape1={"axes": axes}, index=[0, 0]), ValueError, "one abut.Pair"),
            (lambda: aj.contacts(pair, pose1, pose2, shape1={"axis": axes}), ValueError, "shape1 'axis' is not among"),
            (lambda: aj.contacts(pair, pose1, pose2, shape2={"axes": axes}), ValueError, r"shape2\['axes'\] has shape \(2, 3\)"),
            (lambda: aj.contacts(pair, pose1, pose2, shape1={"axes": jnp.asarray(axes, jnp.float32)}), ValueError, "float32"),
            (lambda: aj.contacts(pair, pose1, pose2, want=("weight",), shape1={"axes": axes}), ValueError, "weights have no"),
            (lambda: aj.reduce(pair, pose1, pose2, "minimum_distance", shape1={"axes": axes}), ValueError, "by shapes"),
            (lambda: jax.jvp(lambda x: aj.contacts(pair, pose1, pose2, shape1={"axes": x}).d, (axes,), (axes,)), TypeError, "vjp"),
            (lambda: jax.block_until_ready(aj.contacts(pair, pose1, pose2, shape1={"axes": -axes}).d), Exception, "axis 0 is -0.2")):
        with pytest.raises(error, match=what):
            call()
