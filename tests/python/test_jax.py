"""abut.jax: golden answers, derivatives of both modes and orders, batches, programs, refusals."""
import gc
import threading
import weakref

import conftest
import numpy as np
import pytest
from conftest import OUTPUTS, WITHIN

import abut

jax = pytest.importorskip("jax")
jax.config.update("jax_enable_x64", True)

import jax.numpy as jnp  # noqa: E402
from jax.test_util import check_grads  # noqa: E402

import abut.jax as aj  # noqa: E402
from abut import _forms as aj_forms, _table, _xla  # noqa: E402

SMOOTH = ("mean_distance", "activity", "energy", "soft_minimum", "distance", "soft_distance")
FAILS = (ValueError, jax.errors.JaxRuntimeError)


def close(got, wanted, tolerance):
    """Within a tolerance, relative to the largest wanted number where that is above 1."""
    wanted = np.asarray(wanted)
    np.testing.assert_allclose(got, wanted, rtol=0,
                               atol=tolerance * max(1.0, np.abs(wanted).max(initial=0.0)))


def equal(got, wanted):
    """To the bit, but for numbers below the least normal one, which XLA's products count as 0."""
    def normal(x):
        x = np.asarray(x)
        if x.dtype.kind != "f":
            return x
        return np.where(np.abs(x) < np.finfo(x.dtype).tiny, x.dtype.type(0), x)
    np.testing.assert_array_equal(normal(got), normal(wanted))


def floats(pair, want=OUTPUTS):
    """Contacts without their statuses, which have no derivatives."""
    def f(x, y):
        c = aj.contacts(pair, x, y, want=want)
        return tuple(getattr(c, o) for o in want)
    return f


@pytest.fixture
def blocks(double):
    """Two bodies of few vertices, and all that is smooth: for derivatives of a few poses."""
    figure, part = conftest.figure_and_part(double)
    return abut.Pair(part, part, {"vertices": (6, 6), "edge_edge": False, "select": "softsort", "edge_contacts": "pairs"})


def few(count, seed=0):
    """Poses that are apart by an overlap, away from kinks."""
    rng = np.random.default_rng(seed)
    return (0.02 * rng.normal(size=(count, 6)),
            0.02 * rng.normal(size=(count, 6)) + [0.05, 0.03, 0.04, 0.3, 0.2, -0.4])


# ---- answers ----

@pytest.mark.parametrize("name", conftest.CASES)
def test_golden(double, name):
    pair, poses, bars, wanted = conftest.golden(double, name)
    s1, s2 = jnp.asarray(poses["s1"]), jnp.asarray(poses["s2"])
    f = jax.jit(floats(pair))
    for output, got in zip(OUTPUTS, f(s1, s2)):
        if output in wanted:
            close(got, wanted[output], WITHIN[output])
    if "vjp_g1" in wanted:
        there = [o for o in OUTPUTS if o + "_bar" in bars]
        f = floats(pair, there)
        loss = lambda x, y: sum((bars[o + "_bar"] * out).sum() for o, out in zip(there, f(x, y)))
        for side, g in enumerate(jax.jit(jax.grad(loss, (0, 1)))(s1, s2), 1):
            scale = np.abs(wanted[f"vjp_g{side}"]).max()
            close(g / scale, wanted[f"vjp_g{side}"] / scale, 1e-7)
    if "jvp_d" in wanted:
        along = [jnp.broadcast_to(jnp.asarray(t), s1.shape) for t in wanted["tangent"]]
        slopes = jax.jit(lambda *a: jax.jvp(floats(pair), a[:2], a[2:])[1])(s1, s2, *along)
        for output, got in zip(OUTPUTS, slopes):
            scale = np.abs(wanted["jvp_" + output]).max()
            close(got / scale, wanted["jvp_" + output] / scale, 1e-7)
    if "mean_g1" in wanted:
        mean = jax.jit(jax.grad(lambda x, y: aj.reduce(pair, x, y, "mean_distance").sum(), (0, 1)))
        for side, g in enumerate(mean(s1, s2), 1):
            close(g, wanted[f"mean_g{side}"], 1e-7)


@pytest.mark.parametrize("width", [6, 7])
def test_equal_to_numpy(pair, width):
    """To the bit: the same calls of the library."""
    dtype = pair.dtype
    rng = np.random.default_rng(2)
    p1, p2 = (conftest.random_poses(5, dtype, seed, width) for seed in (1, 2))
    p2[3, 0] = np.nan
    got, wanted = jax.jit(lambda x, y: aj.contacts(pair, x, y))(p1, p2), abut.contacts(pair, p1, p2)
    for one, other in zip(got, wanted):
        equal(one, other)
    assert got.status.dtype == jnp.uint8 and list(got.status) == [0, 0, 0, 1, 0]
    t1, t2 = rng.normal(size=(2, 5, width)).astype(dtype)
    bars = [rng.normal(size=out.shape).astype(dtype) for out in got[:4]]
    _, slopes = jax.jvp(floats(pair), (p1, p2), (t1, t2))
    for one, other in zip(slopes, abut.jvp(pair, p1, p2, tangent1=t1, tangent2=t2)):
        equal(one, other)
    g = jax.vjp(floats(pair), jnp.asarray(p1), jnp.asarray(p2))[1](tuple(map(jnp.asarray, bars)))
    for one, other in zip(g, abut.vjp(pair, p1, p2, **dict(zip(OUTPUTS, bars)))):
        equal(one, other)
    for kind in (*SMOOTH, "minimum_distance"):
        equal(aj.reduce(pair, p1, p2, kind), abut.reduce(pair, p1, p2, kind).value)
    for kind in SMOOTH:
        f = lambda x, y: aj.reduce(pair, x, y, kind)  # noqa: B023, E731
        value, pull = jax.vjp(f, p1, p2)
        r = abut.reduce(pair, p1, p2, kind, grad=True)
        equal(value, r.value)
        for one, other in zip(pull(jnp.ones(5, dtype)), r[1:]):
            equal(one, other)
        grad = jax.grad(lambda x, y: f(x, y).sum(), (0, 1))
        _, products = jax.jvp(grad, (p1, p2), (t1, t2))
        for one, other in zip(products, abut.hvp(pair, p1, p2, kind, tangent1=t1, tangent2=t2)):
            equal(one, other)


def test_want(pair):
    p1, p2 = (conftest.random_poses(3, pair.dtype, seed) for seed in (1, 2))
    c = aj.contacts(pair, p1, p2, want=("d",))
    assert c.p is None and c.n is None and c.activity is None
    equal(c.d, abut.contacts(pair, p1, p2).d)
    assert aj.contacts(pair, p1[0], p2[0]).p.shape == (pair.C, 3)
    assert aj.contacts(pair, p1[0], p2[:, None]).d.shape == (3, 1, pair.C)
    assert aj.contacts(pair, p1[:0], p2[:0]).d.shape == (0, pair.C)
    assert aj.reduce(pair, p1[0], p2[0], "energy").shape == ()


def calls_of(program, *args):
    """Results of every call of the library in a compiled program, as XLA's text has them."""
    text = jax.jit(program).lower(*args).compile().as_text()
    return [line for line in text.splitlines() if "custom-call(" in line and '"abut"' in line]


def test_nothing_is_computed_in_vain(pair):
    p1, p2 = (jnp.asarray(conftest.random_poses(3, pair.dtype, seed)) for seed in (1, 2))
    loss = lambda y: (aj.contacts(pair, p1, y).d ** 2).sum()  # noqa: E731
    points = f"[3,{pair.C},3]"
    for program in (loss, jax.grad(loss), jax.value_and_grad(loss)):
        calls = calls_of(program, p2)
        assert calls and not any(points in call for call in calls)
    forward, backward = calls_of(jax.value_and_grad(loss), p2)
    assert backward.split("custom-call(")[0].count("[3,6]") == 1  # the moving pose's alone
    assert len(calls_of(jax.value_and_grad(lambda y: aj.reduce(pair, p1, y, "energy").sum()),
                        p2)) == 1
    assert len(calls_of(jax.grad(lambda y: aj.contacts(pair, p1, y).d.sum()), p2)) == 1
    assert not any(points in c for c in calls_of(
        lambda y, t: jax.jvp(lambda x: aj.contacts(pair, p1, x).d, (y,), (t,))[1], p2, p2))
    assert not calls_of(lambda y: (aj.contacts(pair, p1, y), y)[1], p2)


# ---- derivatives ----

def test_gradients_of_contacts(blocks):
    x, y = few(2)
    check_grads(floats(blocks), (x, y), order=1, modes=["fwd", "rev"], eps=1e-7, rtol=1e-6,
                atol=1e-6)


@pytest.mark.parametrize("kind", SMOOTH)
def test_gradients_of_reductions(blocks, kind):
    x, y = few(2)
    check_grads(lambda x, y: aj.reduce(blocks, x, y, kind), (x, y), order=2, modes=["fwd", "rev"],
                eps=1e-7, rtol=1e-6, atol=1e-6)


def test_second_derivatives_of_contacts(blocks):
    x, y = (v[0] for v in few(1))
    rng = np.random.default_rng(4)
    bars = [rng.normal(size=out.shape) for out in floats(blocks)(x, y)]

    def loss(x, y):
        """Of which neither the contacts nor their use is linear."""
        found = floats(blocks)(x, y)
        return sum((bar * out + 0.1 * out * out).sum() for bar, out in zip(bars, found))

    check_grads(jax.grad(loss, (0, 1)), (x, y), order=1, modes=["fwd", "rev"], eps=1e-7, rtol=1e-5,
                atol=1e-5)
    both = jnp.concatenate([x, y])
    f = lambda z: loss(z[:6], z[6:])  # noqa: E731
    H = jax.jit(jax.hessian(f))(both)
    scale = np.abs(H).max()
    close(H / scale, H.T / scale, 1e-9)
    close(jax.jacrev(jax.grad(f))(both) / scale, H / scale, 1e-9)
    t = jnp.asarray(rng.normal(size=12))
    close(jax.grad(lambda z: jax.jvp(f, (z,), (t,))[1])(both) / scale, H @ t / scale, 1e-8)
    with pytest.raises(NotImplementedError, match="forward mode over forward mode"):
        jax.jacfwd(jax.jacfwd(f))(both)
    with pytest.raises(NotImplementedError, match="no third derivatives"):
        jax.jacfwd(jax.jacfwd(jax.grad(f)))(both)


def test_hessian(double_pair):
    """Of a reduction, in every order of modes; the same as the library's own."""
    p1, p2 = (v[0] for v in few(1))
    for kind in SMOOTH:
        f = lambda z: aj.reduce(double_pair, z[:6], z[6:], kind)  # noqa: B023, E731
        z = jnp.concatenate([p1, p2])
        wanted = abut.hessian(double_pair, p1, p2, kind)
        scale = np.abs(wanted).max()
        orders = ((jax.jacfwd, jax.jacrev), (jax.jacrev, jax.jacrev), (jax.jacrev, jax.jacfwd),
                  (jax.jacfwd, jax.jacfwd))
        for outer, inner in orders:
            close(jax.jit(outer(inner(f)))(z) / scale, wanted / scale, 1e-9)
    with pytest.raises(NotImplementedError, match="beyond the second"):
        jax.jacfwd(jax.hessian(f))(z)


def test_no_silent_zero(double_pair):
    p1, p2 = few(1)
    with pytest.raises(NotImplementedError, match="soft_minimum"):
        jax.grad(lambda y: aj.reduce(double_pair, p1, y, "minimum_distance").sum())(p2)


# ---- batches ----

def batched_programs(pair):
    """What is mapped: of two poses, each with a tangent."""
    d = lambda x, y: aj.contacts(pair, x, y, want=("d",)).d  # noqa: E731
    energy = lambda x, y: aj.reduce(pair, x, y, "energy")  # noqa: E731
    loss = lambda x, y: (d(x, y) ** 2).sum()  # noqa: E731
    return {
        "contacts": lambda x, y, t: aj.contacts(pair, x, y),
        "grad": lambda x, y, t: jax.grad(loss, (0, 1))(x, y),
        "jvp": lambda x, y, t: jax.jvp(d, (x, y), (t, t)),
        "jvp of one": lambda x, y, t: jax.jvp(lambda x: d(x, y), (x,), (t,)),
        "jvp of grad": lambda x, y, t: jax.jvp(jax.grad(loss, 1), (x, y), (t, t)),
        "grad of grad": lambda x, y, t: jax.grad(lambda x: jax.grad(loss)(x, y) @ t)(x),
        "grad of jvp": lambda x, y, t: jax.grad(lambda x: jax.jvp(loss, (x, y), (t, t))[1])(x),
        "reduce": lambda x, y, t: energy(x, y),
        "value_and_grad": lambda x, y, t: jax.value_and_grad(energy, (0, 1))(x, y),
        "hessian": lambda x, y, t: jax.hessian(energy)(x, y) @ t,
    }


@pytest.mark.parametrize("name", batched_programs(None))
@pytest.mark.parametrize("axes", [(0, 0, 0), (None, 0, 0), (0, None, None), (1, 0, None)])
def test_vmap(blocks, name, axes):
    program = batched_programs(blocks)[name]
    rng = np.random.default_rng(9)
    x, y = few(3)
    args = [x, y, rng.normal(size=(3, 6))]
    whole = [a[0] if axis is None else a.T if axis else a for a, axis in zip(args, axes)]
    got = jax.jit(jax.vmap(program, axes))(*whole)
    for k in range(3):
        alone = program(*(jnp.asarray(a[0 if axis is None else k]) for a, axis in zip(args, axes)))
        for one, other in zip(jax.tree.leaves(got), jax.tree.leaves(alone)):
            close(one[k], other, 1e-12)


def test_vmap_twice(blocks):
    x, y = few(3)
    each = lambda x, y: aj.contacts(blocks, x, y).d  # noqa: E731
    got = jax.vmap(jax.vmap(each, (None, 0)), (0, None))(x, y)
    equal(got, abut.contacts(blocks, x[:, None], y).d)


def test_jacobians(blocks):
    x, y = (v[0] for v in few(1))
    f = lambda y: aj.contacts(blocks, x, y).d  # noqa: E731
    ahead, back = jax.jit(jax.jacfwd(f))(y), jax.jit(jax.jacrev(f))(y)
    assert ahead.shape == (blocks.C, 6)
    close(ahead, back, 1e-12)


def test_several_pairs(context):
    a, b = conftest.figure_and_part(context)
    pairs = [abut.Pair(a, b), abut.Pair(b, b), abut.Pair(b, a, {"edge_edge": False})]
    p1, p2 = (conftest.random_poses(8, context.dtype, seed) for seed in (1, 2))
    which = np.array([2, 0, 1, 1, 0, 2, 2, 0])
    got = jax.jit(lambda x, y, k: aj.contacts(pairs, x, y, index=k))(p1, p2, which)
    wanted = abut.contacts(pairs, p1, p2, index=which)
    for one, other in zip(got, wanted):
        equal(one, other)
    g = jax.grad(lambda x, y: aj.reduce(pairs, x, y, "energy", index=which).sum(), (0, 1))(p1, p2)
    r = abut.reduce(pairs, p1, p2, "energy", grad=True, index=which)
    for one, other in zip(g, r[1:]):
        equal(one, other)
    bar = np.random.default_rng(0).normal(size=got.d.shape).astype(context.dtype)
    loss = lambda x, y, k: (bar[0] * aj.contacts(pairs, x, y, index=k).d).sum()  # noqa: E731
    mapped = jax.vmap(jax.grad(loss), (0, None, 0))(p1, p2[0], which)
    bars = np.broadcast_to(bar[0], bar.shape)
    equal(mapped, abut.vjp(pairs, p1, p2[0], d=bars, index=which)[0])
    same = [pairs[0]] * 20  # more than the handler keeps beside it
    equal(aj.reduce(same, p1, p2, "energy", index=which),
          abut.reduce(pairs[0], p1, p2, "energy").value)
    with pytest.raises(FAILS, match="entry 0 names pair 3, but the batch's list has only 3 pairs"):
        jax.block_until_ready(aj.contacts(pairs, p1, p2, index=jnp.asarray(which + 1)))
    with pytest.raises(ValueError, match="does not exist; there are 3"):
        aj.contacts(pairs, p1, p2, index=which + 1)
    with pytest.raises(FAILS, match="entry 0 names pair 3, but the batch's list has only 3 pairs"):
        jax.block_until_ready(aj.contacts(pairs, p1, p2, index=jnp.asarray(which + 2 ** 32)))
    for index in (None, 0.5, np.zeros(3, int)):
        with pytest.raises(ValueError, match="index"):
            aj.contacts(pairs, p1, p2, index=index)
    with pytest.raises(ValueError, match="index"):
        aj.contacts(pairs[0], p1, p2, index=which)


def test_through_the_host(pair):
    """What GPUs and TPUs get, tried on the CPU: every operation gives what XLA's calls give."""
    rng = np.random.default_rng(6)
    p1, p2, t1, t2 = (jnp.asarray(0.1 * rng.normal(size=(3, 6)), pair.dtype) for _ in range(4))
    d, s = (jnp.asarray(rng.normal(size=(3, pair.C)), pair.dtype) for _ in range(2))
    k = jnp.asarray([0, 1, 0], jnp.uint32)
    given = {"pose1": p1, "pose2": p2, "pose1_tangent": t1, "pose2_tangent": t2, "d_bar": d, "activity_bar": s, "activity_slope": s,
             "index": k}
    both = ("pose1_gradient", "pose2_gradient")
    tangents = ("p_tangent", "d_tangent", "n_tangent", "activity_tangent")
    for call, left_out, names in (
            ("contacts", (), ("d", "n", "status")), ("contacts", (), ("p", "d", "n", "activity", "status")),
            ("jvp", (), tangents), ("jvp", ("pose1_tangent",), ("d_tangent",)), ("vjp", (), both),
            ("vjp", ("activity_bar",), both[1:]), ("vjp_tangent", ("pose2_tangent", "activity_bar"), both),
            ("reduce", (), ("distance",)), ("reduce", (), ("energy",)), ("gradient", (), ("soft_minimum", both[1])),
            ("hessian_product", ("pose1_tangent",), both[:1])):
        kind = {"gradient": "soft_minimum", "hessian_product": "energy"}.get(call, "")
        for pairs, indexed in (((pair,), False), ((pair, pair), True)):
            there = [name for name in given if name not in left_out and (indexed or name != "index")]
            plan = _table.plan_of(call, _table.OfPairs(pairs, indexed, 6, kind), there, names)
            operands = [given[name] for name in plan.inputs]
            wanted = _xla.PRIMITIVES[call].bind(*operands, plan=plan)
            got = jax.jit(lambda *a: _xla.through_host(*a, plan=plan))(*operands)
            assert len(got) == len(wanted)
            for one, other in zip(got, wanted):
                assert one.dtype == other.dtype
                # XLA's threads make subnormal numbers zero, which slopes of thousands then multiply.
                np.testing.assert_allclose(one, other, rtol=0, atol=1e4 * np.finfo(pair.dtype).tiny)


# ---- programs ----

def test_scan(double_pair):
    fixed, x = (jnp.asarray(v) for v in few(4))
    rate = 1e-6  # so that a step does not enlarge what rounding leaves
    loss = lambda y: aj.contacts(double_pair, fixed, y).activity.sum()  # noqa: E731
    step = lambda x, _: (x - rate * jax.grad(loss)(x), None)  # noqa: E731
    got, _ = jax.jit(lambda x: jax.lax.scan(step, x, None, length=5))(x)
    y = np.asarray(x)
    for _ in range(5):
        ones = np.ones((4, double_pair.C))
        y = y - rate * abut.vjp(double_pair, fixed, y, activity=ones)[1]
    close(got, y, 1e-12)
    through = lambda x: loss(jax.lax.scan(step, x, None, length=2)[0])  # noqa: E731
    unrolled = lambda x: loss(step(step(x, None)[0], None)[0])  # noqa: E731
    close(jax.grad(through)(x), jax.grad(unrolled)(x), 1e-9)


def test_threads(pair):
    """Two programs of one pair at once."""
    p1, p2 = (jnp.asarray(conftest.random_poses(4, pair.dtype, seed)) for seed in (1, 2))
    programs = [jax.jit(lambda x, y: aj.contacts(pair, x, y).d),
                jax.jit(jax.grad(lambda x, y: aj.contacts(pair, x, y).activity.sum()))]
    wanted = [np.asarray(f(p1, p2)) for f in programs]
    wrong = []

    def work(f, answer):
        for _ in range(20):
            if not np.array_equal(np.asarray(f(p1, p2)), answer):
                wrong.append(f)

    threads = [threading.Thread(target=work, args=both) for both in zip(programs, wanted)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_closed_pair(context):
    a, b = conftest.figure_and_part(context)
    pair = abut.Pair(a, b)
    p1, p2 = (conftest.random_poses(2, context.dtype, seed) for seed in (1, 2))
    f = jax.jit(lambda x, y: aj.contacts(pair, x, y).d)
    g = jax.jit(jax.grad(lambda x, y: aj.reduce(pair, x, y, "energy").sum()))
    f(p1, p2), g(p1, p2)
    pair.close()
    others = [abut.Pair(b, a) for _ in range(3)]  # of which one has the closed one's place
    for program in (f, g):
        with pytest.raises(FAILS, match="INVALID_ARGUMENT.*ABUT_ERROR_HANDLE.*stale"):
            jax.block_until_ready(program(p1, p2))
    with pytest.raises(ValueError, match="this Pair is closed"):
        aj.contacts(pair, p1, p2)
    del others


def test_program_keeps_its_pair(context):
    p1, p2 = (conftest.random_poses(2, context.dtype, seed) for seed in (1, 2))
    pair = abut.Pair(*conftest.figure_and_part(context))
    wanted = abut.contacts(pair, p1, p2).d
    program = jax.jit(lambda x, y, pair=pair: aj.contacts(pair, x, y).d).lower(p1, p2).compile()
    del pair
    jax.clear_caches()
    gc.collect()
    equal(program(p1, p2), wanted)


def test_forms_of_poses(double_pair):
    """Matrices, None and both kinds beside each other, with derivatives through all."""
    twists = conftest.random_poses(20, np.float64)
    twists[0] = 0.0
    quaternions, origin = abut.pose.exp(twists), np.zeros(6)
    matrices = abut.pose.to_matrix(twists)
    wanted = abut.reduce(double_pair, None, quaternions, "soft_distance")
    for one, two in ((None, quaternions), (None, matrices), (origin, quaternions), (np.eye(4), twists)):
        call = jax.jit(lambda one, two: aj.reduce(double_pair, one, two, "soft_distance"))
        close(call(one, two), wanted.value, 1e-11)
        close(aj.contacts(double_pair, one, two).d, abut.contacts(double_pair, one, two).d, 1e-11)

    def along(forms):
        return jax.grad(lambda x: aj.reduce(double_pair, np.zeros(7) + np.eye(7)[3], forms(x),
                                            "soft_distance").sum())(jnp.asarray(twists))
    direct = along(lambda x: x)  # twists become quaternions beside the other one
    close(along(lambda x: aj_forms.to_matrix(jnp, aj_forms.exp(jnp, x))), direct, 1e-9)
    g = abut.reduce(double_pair, origin, twists, "soft_distance", grad=True).grad2
    close(direct, g, 1e-9)


def test_refusals(pair):
    dtype = pair.dtype
    other = np.float64 if dtype == np.float32 else np.float32
    p1, p2 = (jnp.asarray(conftest.random_poses(2, dtype, seed)) for seed in (1, 2))
    f = jax.jit(lambda x, y: aj.contacts(pair, x, y).d)
    with pytest.raises(ValueError, match=f"pose2 is {np.dtype(other).name}, but the context"):
        f(p1, p2.astype(other))
    with pytest.raises(ValueError, match="pose1 is int32"):
        aj.reduce(pair, p1.astype(jnp.int32), p2, "energy")
    equal(aj.contacts(pair, np.asarray(p1).tolist(), np.asarray(p2, other)).d,
          abut.contacts(pair, p1, np.asarray(p2, other)).d)
    with pytest.raises(ValueError, match=r"pose1 has shape \(2, 5\)"):
        f(p1[:, :5], p2)
    with pytest.raises(ValueError, match="are both None"):
        aj.contacts(pair, None, None)
    with pytest.raises(ValueError, match="do not have the same batch"):
        f(p1, jnp.concatenate([p2, p2[:1]]))
    with pytest.raises(ValueError, match="want 'q'"):
        aj.contacts(pair, p1, p2, want=("q",))
    with pytest.raises(ValueError, match="'least' is not among"):
        aj.reduce(pair, p1, p2, "least")
    with pytest.raises(ValueError, match="has dtype str32, expected numbers"):
        aj.contacts(pair, p1, ["a"])


def test_float64_must_be_enabled(double_pair):
    jax.config.update("jax_enable_x64", False)
    try:
        with pytest.raises(ValueError, match="jax_enable_x64"):
            aj.contacts(double_pair, np.zeros(6), np.zeros(6))
    finally:
        jax.config.update("jax_enable_x64", True)


def test_example():
    conftest.follows_separate("separate_jax.py")


def test_nearest(contexts):
    pair = abut.Pair(*conftest.figure_and_part(contexts["f32"]))
    p1, p2 = (conftest.random_poses(5, np.float32, seed) for seed in (1, 2))
    wanted = abut.reduce(pair, p1, p2, "energy", nearest=True)
    sloped = abut.reduce(pair, p1, p2, "energy", grad=True, nearest=True)  # by other kernels
    both = jax.jit(lambda x, y: aj.reduce(pair, x, y, "energy", nearest=True))
    value, nearest = both(p1, p2)
    np.testing.assert_array_equal(nearest, wanted.nearest)
    np.testing.assert_array_equal(value, wanted.value)

    def loss(y):
        value, nearest = aj.reduce(pair, p1, y, "energy", nearest=True)
        return value.sum() + nearest.sum(), nearest

    slope, nearest = jax.jit(jax.grad(loss, has_aux=True))(p2)
    np.testing.assert_array_equal(nearest, wanted.nearest)  # which counts as constant
    np.testing.assert_allclose(slope, sloped.grad2, rtol=1e-5, atol=1e-9)
    for same in aj.reduce(pair, p1, p2, "minimum_distance", nearest=True):
        np.testing.assert_array_equal(same, wanted.nearest)


def test_eager_pairs_go(contexts):
    pair = abut.Pair(*conftest.figure_and_part(contexts["f32"]))
    p = conftest.random_poses(2, np.float32)
    aj.contacts(pair, p, p)
    gone = weakref.ref(pair)
    del pair
    jax.clear_caches()
    gc.collect()
    assert gone() is None
    other = abut.Pair(*conftest.figure_and_part(contexts["f32"]))
    with pytest.raises(ValueError, match="does not exist; there are 2"):
        aj.contacts([other, other], p, p, index=2 ** 32)
