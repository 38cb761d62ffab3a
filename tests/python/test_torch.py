"""abut.torch: golden answers, derivatives of both modes, torch.func, torch.compile, bad input."""
import gc
import os
import shutil
import threading

import conftest
import pytest
from conftest import CASES, OUTPUTS, WITHIN, golden_pair

torch = pytest.importorskip("torch")

import numpy as np  # noqa: E402

import abut  # noqa: E402
import abut.torch as at  # noqa: E402
from abut import _forms, _torch_arrays  # noqa: E402

REDUCTIONS = ("mean_distance", "activity", "energy", "soft_minimum", "distance",
              "soft_distance")
F64 = {"dtype": torch.float64}


def context(precision):
    return abut.Context(os.environ.get("ABUT_TEST_DEVICE"), precision)


@pytest.fixture(scope="module")
def f64():
    return context("f64")


@pytest.fixture(scope="module")
def f32():
    return context("f32")


def arrays(case, name):
    return {key: torch.from_numpy(a) for key, a in conftest.golden_arrays(case, name).items()}


@pytest.fixture(scope="module")
def small(f64):
    """Few slots, so that finite differences by every number take little time."""
    return golden_pair(f64, "figure-gate", vertices=(6, 5), edges=(4, 3))


@pytest.fixture(scope="module")
def poses():
    """Of bodies that overlap; two of them."""
    given = arrays("figure-gate", "poses")
    return given["s1"][:2].contiguous(), given["s2"][:2].contiguous()


def with_grad(*tensors):
    return tuple(t.clone().requires_grad_() for t in tensors)


def same(got, wanted, tolerance=1e-12):
    got, wanted = got.detach(), wanted.detach()
    assert got.shape == wanted.shape
    scale = max(1.0, float(wanted.abs().max())) if wanted.numel() else 1.0
    assert float((got - wanted).abs().max()) <= tolerance * scale


# ---- values and golden answers ----


@pytest.mark.parametrize("case", CASES)
def test_golden(f64, case):
    pair = golden_pair(f64, case)
    given, bars, expected = (arrays(case, name) for name in ("poses", "cotangents", "expected"))
    x1, x2 = with_grad(given["s1"], given["s2"])
    made = at.contacts(pair, x1, x2)._asdict()
    assert not made["status"].any()
    for name in OUTPUTS:
        assert made[name].shape == expected[name].shape
        assert float((made[name].detach() - expected[name]).abs().max()) <= WITHIN[name]

    def compare(got, wanted):
        largest = max(float(w.abs().max()) for w in wanted)
        for g, w in zip(got, wanted):
            assert g.shape == w.shape
            assert float((g - w).abs().max()) <= 1e-7 * largest

    vjp = torch.autograd.grad([made[name] for name in OUTPUTS], (x1, x2),
                              [bars[f"{name}_bar"] for name in OUTPUTS])
    compare(vjp, (expected["vjp_g1"], expected["vjp_g2"]))
    for mean in (at.reduce(pair, x1, x2, "mean_distance"), at.contacts(pair, x1, x2).d.mean(1)):
        compare(torch.autograd.grad(mean.sum(), (x1, x2)),
                (expected["mean_g1"], expected["mean_g2"]))
    along = tuple(t.expand_as(given["s1"]) for t in expected["tangent"])
    _, slopes = torch.func.jvp(lambda *x: at.contacts(pair, *x)[:4], (given["s1"], given["s2"]),
                               along)
    for name, slope in zip(OUTPUTS, slopes):
        compare((slope,), (expected[f"jvp_{name}"],))


@pytest.mark.parametrize("want", [OUTPUTS, ("d",), ("n", "activity"), ()])
def test_values_are_numpys(f32, want):
    pair = golden_pair(f32, "figure-gate")
    given = arrays("figure-gate", "poses")
    x1, x2 = given["s1"].float(), given["s2"].float()
    got, wanted = at.contacts(pair, x1, x2, want=want), abut.contacts(pair, x1.numpy(), x2.numpy())
    for name in OUTPUTS:
        if name in want:
            assert getattr(got, name).dtype == torch.float32
            assert np.array_equal(getattr(got, name).numpy(), getattr(wanted, name))
        else:
            assert getattr(got, name) is None
    assert got.status.dtype == torch.uint8 and got.status.shape == (len(x1),)


def test_quaternions(small, poses):
    x1, x2 = (torch.from_numpy(abut.pose.exp(p.numpy())) for p in poses)
    assert x1.shape == (2, 7)
    same(at.contacts(small, x1, x2).d, at.contacts(small, *poses).d, 1e-9)
    assert torch.autograd.gradcheck(lambda *x: at.reduce(small, *x, "mean_distance"),
                                    with_grad(x1, x2), check_forward_ad=True)


def test_leading_axes_broadcast(small, poses):
    x1, x2 = poses
    c = at.contacts(small, x1[0], x2)
    same(c.p[1], at.contacts(small, x1[0], x2[1]).p)
    assert at.contacts(small, x1[0], x2[0]).d.shape == (small.C,)
    lone, many = with_grad(x1[0], x2.expand(3, 2, 6))
    g1, g2 = torch.autograd.grad(at.reduce(small, lone, many, "energy").sum(), (lone, many))
    assert g1.shape == (6,) and g2.shape == (3, 2, 6)
    _, wanted = with_grad(x1, x2)
    g = torch.autograd.grad(at.reduce(small, x1[0], wanted, "energy").sum(), wanted)[0]
    same(g2, g.expand(3, 2, 6))


def test_empty_batch(small):
    x1, x2 = with_grad(torch.zeros(0, 6, **F64), torch.zeros(0, 6, **F64))
    c = at.contacts(small, x1, x2)
    assert c.p.shape == (0, small.C, 3)
    assert torch.autograd.grad(c.d.sum(), x2)[0].shape == (0, 6)


def test_strided_and_negated_poses(small, poses):
    x1, x2 = poses
    wide = torch.stack([x2, torch.zeros_like(x2)], -1)[..., 0]
    assert not wide.is_contiguous()
    same(at.contacts(small, x1, wide).d, at.contacts(small, x1, x2).d, 0)
    turned = torch.complex(torch.zeros_like(x2), -x2).conj().imag
    assert turned.is_neg()
    same(at.contacts(small, x1, turned).d, at.contacts(small, x1, x2).d, 0)


def test_pose_that_is_not_finite(small, poses):
    x1, x2 = with_grad(*poses)
    with torch.no_grad():
        x2[1, 0] = float("nan")
    c = at.contacts(small, x1, x2)
    assert c.status.tolist() == [0, 1] and c.d[1].isnan().all() and c.d[0].isfinite().all()
    g = torch.autograd.grad(c.d.sum(), x2)[0]
    assert g[1].isnan().all() and g[0].isfinite().all()


def test_list_of_pairs(f64, small, poses):
    other = abut.Pair(small.bodies[1], small.bodies[0], {**small.smoothing, "vertices": (3, 3)})
    x1, x2 = with_grad(*poses)
    for index in (torch.tensor([1, 0]), [1, 0], np.array([1, 0], np.uint32)):
        c = at.contacts([small, other], x1, x2, index=index)
        same(c.d[0, :other.C], at.contacts(other, x1, x2).d[0])
        same(c.d[1], at.contacts(small, x1, x2).d[1])
    which = torch.tensor([1, 0])
    assert torch.autograd.gradcheck(
        lambda *x: at.contacts([small, other], *x, index=which)[:4], (x1, x2),
        check_forward_ad=True, fast_mode=True)
    got = torch.func.vmap(lambda x, i: at.reduce([small, other], x1[0], x, "energy", index=i))
    same(got(x2, which), at.reduce([small, other], x1[0], x2, "energy", index=which))


# ---- derivatives ----


@pytest.mark.parametrize("want", [OUTPUTS, ("d",), ("p", "activity")])
def test_gradcheck_of_contacts(small, poses, want):
    assert torch.autograd.gradcheck(
        lambda *x: [c for c in at.contacts(small, *x, want=want)[:4] if c is not None],
        with_grad(*poses), check_forward_ad=True)


@pytest.mark.parametrize("kind", REDUCTIONS)
def test_gradcheck_of_reductions(small, poses, kind):
    def f(*x):
        return at.reduce(small, *x, kind)

    x = with_grad(*poses)
    assert torch.autograd.gradcheck(f, x, check_forward_ad=True)
    assert torch.autograd.gradgradcheck(f, x, check_fwd_over_rev=True, check_rev_over_rev=True)


def test_second_derivatives_of_contacts(small, poses):
    """By abut_vjp_tangent."""
    def f(*x):
        return at.contacts(small, *x)[:4]

    assert torch.autograd.gradgradcheck(f, with_grad(*poses), check_fwd_over_rev=True,
                                        check_rev_over_rev=True, fast_mode=True)


def test_cotangents_differentiate(small, poses):
    """The gradient is linear in the cotangents: its derivative by these needs no second one."""
    x1, x2 = poses

    def slope(bar):
        return torch.func.vjp(lambda y: at.contacts(small, x1, y, want=("d",)).d, x2)[1](bar)[0]

    bar = torch.ones(2, small.C, **F64, requires_grad=True)
    assert torch.autograd.gradcheck(slope, (bar,), check_forward_ad=True)


def test_hessians_of_contacts(small, poses):
    """One loss by contacts, the same by a reduction."""
    x1, x2 = poses[0][0], poses[1][0]

    def by_contacts(y):
        c = at.contacts(small, x1, y, want=("d", "activity"))
        return (c.activity * (-c.d).clamp(min=0).square()).sum()

    wanted = torch.func.hessian(lambda y: at.reduce(small, x1, y, "energy"))(x2)
    same(torch.func.hessian(by_contacts)(x2), wanted, 1e-9)
    same(torch.func.jacrev(torch.func.jacrev(by_contacts))(x2), wanted, 1e-9)
    same(torch.func.jacrev(torch.func.jacfwd(by_contacts))(x2), wanted, 1e-9)
    same(torch.autograd.functional.hessian(by_contacts, x2), wanted, 1e-9)


def test_what_has_no_derivative_is_refused(small, poses):
    x1, x2 = with_grad(*poses)
    with pytest.raises(NotImplementedError, match="soft_minimum"):
        at.reduce(small, x1, x2, "minimum_distance").sum().backward()
    with pytest.raises(NotImplementedError, match="soft_minimum"):
        torch.func.jvp(lambda y: at.reduce(small, poses[0], y, "minimum_distance"), (poses[1],),
                       (poses[1],))
    with pytest.raises(NotImplementedError, match="forward mode over forward mode"):
        torch.func.jacfwd(torch.func.jacfwd(
            lambda y: at.contacts(small, poses[0], y).d.sum()))(poses[1])
    with pytest.raises(NotImplementedError, match="third"):
        torch.func.jacrev(torch.func.hessian(
            lambda y: at.reduce(small, poses[0][0], y, "energy")))(poses[1][0])


def test_only_what_is_wanted_is_computed(small, poses, monkeypatch):
    """A loss on d alone neither computes nor keeps p and n."""
    from abut import _torch
    seen, plain = [], _torch.run

    def run(plan, *given):
        seen.append(plan)
        return plain(plan, *given)

    monkeypatch.setattr(_torch, "run", run)
    x1, x2 = with_grad(*poses)
    c = at.contacts(small, x1, x2)
    kept = [t for t in c.d.grad_fn.saved_tensors if t is not None]
    assert len(kept) == 2 and all(t.shape == (2, 6) for t in kept)
    c.d.sum().backward()
    assert [(plan.call, plan.inputs) for plan in seen[1:]] == [("vjp", ("pose1", "pose2", "d_bar"))]


def test_memory_of_large_outputs_is_used_again(f32):
    """Not before the last that sees it is gone."""
    pair = golden_pair(f32, "figure-gate")
    x = arrays("figure-gate", "poses")["s2"].float().repeat(50, 1)
    first = at.contacts(pair, x[0], x, want=("p",)).p
    kept, copy, place = first[3:5].numpy(), first.clone(), first.data_ptr()
    assert first.nbytes >= 1 << 20
    del first
    second = at.contacts(pair, x[1], x, want=("p",)).p
    assert second.data_ptr() != place and np.array_equal(kept, copy[3:5].numpy())
    del kept
    third = at.contacts(pair, x[0], x, want=("p",)).p
    assert third.data_ptr() == place and torch.equal(third, copy)


def test_memory_of_large_outputs_is_not_used_again_below_views():
    """The status of many worlds is seen as signed numbers, with nothing else that holds it."""
    pool, given = _torch_arrays.Pool(), ((1 << 10, 1 << 9), np.dtype(np.uint32))
    seen = pool.take(*given).view(np.int32)
    seen[:] = 7
    part = seen[3:]
    del seen
    pool.take(*given)[:] = 9
    assert (part == 7).all()
    where = part.ctypes.data
    del part
    assert any(array.ctypes.data <= where < array.ctypes.data + array.nbytes for array in [pool.take(*given) for _ in range(2)])


# ---- torch.func ----


@pytest.mark.parametrize("kind", REDUCTIONS)
def test_transforms_of_reductions(small, poses, kind):
    x1, x2 = poses
    func = torch.func

    def f(y):
        return at.reduce(small, x1[0], y, kind)

    many = torch.cat([x2, x2 + 1e-3])
    x = x1[0].numpy(), many.numpy()
    wanted = torch.from_numpy(abut.reduce(small, *x, kind, grad=True).grad2)
    same(func.vmap(func.grad(f))(many), wanted)
    same(func.grad(lambda y: func.vmap(f)(y).sum())(many), wanted)
    same(func.vmap(func.jacfwd(f))(many), wanted)
    same(func.vmap(func.jacrev(f))(many), wanted)
    along = torch.ones_like(many)
    same(func.vmap(lambda y, t: func.jvp(f, (y,), (t,))[1])(many, along), wanted.sum(1))
    same(func.jvp(func.vmap(f), (many,), (along,))[1], wanted.sum(1))
    whole = torch.from_numpy(abut.hessian(small, *x, kind, moving=2))
    for hessian in (func.hessian(f), func.jacrev(func.jacrev(f)), func.jacrev(func.jacfwd(f)),
                    func.jacfwd(func.jacfwd(f))):
        same(func.vmap(hessian)(many), whole, 1e-9)
        same(hessian(many[0]), whole[0], 1e-9)
    mapped = func.vmap(lambda y, t: func.jvp(f, (y,), (t,))[1])
    slope = func.jvp(lambda z: mapped(z, along), (many,), (along,))[1]
    same(slope, whole.sum((1, 2)), 1e-9)
    slope = func.jvp(lambda z: func.jvp(func.vmap(f), (z,), (along,))[1], (many,), (along,))[1]
    same(slope, whole.sum((1, 2)), 1e-9)


def test_vmap_of_contacts(small, poses):
    """Both poses mapped, one alone, along other axes, and twice."""
    x1, x2 = poses
    wanted = at.contacts(small, x1, x2)

    def f(*x):
        return at.contacts(small, *x)

    for got in (torch.func.vmap(f)(x1, x2),
                torch.func.vmap(f, in_dims=(1, 1))(x1.T.contiguous(), x2.T.contiguous())):
        for name, value in wanted._asdict().items():
            same(getattr(got, name), value, 0)
    half = torch.func.vmap(f, in_dims=(None, 0))(x1[1], x2)
    same(half.n, at.contacts(small, x1[1], x2).n, 0)
    both = torch.func.vmap(torch.func.vmap(f, in_dims=(None, 0)), in_dims=(0, None))(x1, x2)
    for i in range(2):
        for k in range(2):
            same(both.p[i, k], f(x1[i], x2[k]).p, 0)
    inner = torch.func.vmap(f, in_dims=(0, None))(x1, x2)  # a batch inside
    assert inner.d.shape == (2, 2, small.C)
    same(inner.d[0], at.contacts(small, x1[0], x2).d, 0)


def test_jacobians_of_contacts(small, poses):
    x1, x2 = poses[0][0], poses[1][0]
    for name in (*OUTPUTS, "weight"):
        def f(*x, name=name):
            return getattr(at.contacts(small, *x, want=(name,)), name)

        forward = torch.func.jacfwd(f, argnums=(0, 1))(x1, x2)
        backward = torch.func.jacrev(f, argnums=(0, 1))(x1, x2)
        columns = [torch.from_numpy(getattr(abut.jvp(
            small, x1.numpy(), x2.numpy(), want=(name,), tangent2=row), name)) for row in np.eye(6)]
        for one, other in zip(forward, backward):
            same(one, other, 1e-10)
        same(forward[1], torch.stack(columns, -1))


def test_forward_mode_of_dual_numbers(small, poses):
    with torch.autograd.forward_ad.dual_level():
        y = torch.autograd.forward_ad.make_dual(poses[1], torch.ones_like(poses[1]))
        value, slope = torch.autograd.forward_ad.unpack_dual(
            at.reduce(small, poses[0], y, "energy"))
    wanted = abut.reduce(small, poses[0].numpy(), poses[1].numpy(), "energy", grad=True)
    same(value, torch.from_numpy(wanted.value))
    same(slope, torch.from_numpy(wanted.grad2.sum(1)))


# ---- torch.compile ----

OPS = torch.ops.abut


def op_arguments(name, pair, poses):
    x1, x2 = with_grad(*poses)
    bars = [torch.ones(2, pair.C, 3, **F64), torch.ones(2, pair.C, **F64), None, None, None]
    along = [torch.ones(2, 6, **F64, requires_grad=True), None]
    fixed = poses
    return {
        "contacts": ("p,d,activity", None, x1, x2),
        "vjp": ("p,d,n,activity", None, x1, x2,
                *(b if b is None else b.clone().requires_grad_() for b in bars)),
        "jvp": ("d,n", None, x1, x2, *along),
        "vjp_tangent": ("", None, *fixed, *(a if a is None else a.detach() for a in along), *bars,
                        *[None] * 5),
        "reduce": ("minimum_distance", None, *fixed),
        "gradient": ("soft_minimum", None, x1, x2),
        "hvp": ("energy", None, *fixed, *along),
    }[name]


@pytest.mark.parametrize("name", ["contacts", "vjp", "jvp", "vjp_tangent", "reduce", "gradient",
                                  "hvp"])
def test_opcheck(small, poses, name):
    report = torch.library.opcheck(getattr(OPS, name).default,
                                   ([small.number], *op_arguments(name, small, poses)))
    assert set(report.values()) == {"SUCCESS"}


BACKENDS = ["aot_eager"] + (["inductor"] if shutil.which("g++") or shutil.which("clang++") else [])


@pytest.mark.parametrize("backend", BACKENDS)
def test_compile(small, poses, backend):
    def loss(x1, x2):
        c = at.contacts(small, x1, x2, want=("d", "activity"))
        depth = (c.activity * (-c.d).clamp(min=0).square()).sum(1)
        return (depth + at.reduce(small, x1, x2, "soft_minimum").sin()).sum()

    compiled = torch.compile(loss, fullgraph=True, backend=backend)
    for x1, x2 in (poses, (poses[0][0], poses[1]), (poses[0], torch.cat([poses[1]] * 2)[1:3]),
                   (poses[0][0], poses[1].repeat(3, 1))):
        given = with_grad(x1, x2)
        got, wanted = compiled(*given), loss(*given)
        same(got, wanted)
        for g, w in zip(torch.autograd.grad(got, given), torch.autograd.grad(wanted, given)):
            same(g, w)
    with torch.no_grad():
        same(compiled(*poses), loss(*poses))


def test_compile_keeps_pairs_apart(f64, small, poses):
    """One function, another pair: no program of the first one's."""
    other = abut.Pair(*small.bodies, {**small.smoothing, "vertices": (3, 3), "penetration": 0.05})
    compiled = torch.compile(lambda pair, *x: at.reduce(pair, *x, "soft_minimum"), fullgraph=True,
                             backend="aot_eager")
    for pair in (small, other, small):
        same(compiled(pair, *poses), at.reduce(pair, *poses, "soft_minimum"), 0)
    assert float((compiled(other, *poses) - compiled(small, *poses)).abs().max()) > 1e-6
    many = torch.compile(lambda *x, index: at.contacts([small, other], *x, index=index).d,
                         fullgraph=True, backend="aot_eager")
    which = torch.tensor([1, 0])
    same(many(*poses, index=which), at.contacts([small, other], *poses, index=which).d, 0)


def test_compiled_program_of_a_pair_that_is_gone(f64, small, poses):
    pair = abut.Pair(*small.bodies, small.smoothing)
    number = [pair.number]
    OPS.contacts(number, "d", None, *poses)
    pair.close()
    with pytest.raises(ValueError, match="closed"):
        OPS.contacts(number, "d", None, *poses)
    del pair
    gc.collect()
    with pytest.raises(ValueError, match="gone"):
        OPS.contacts(number, "d", None, *poses)
    with pytest.raises(ValueError, match="gone"):
        OPS.contacts([0], "d", None, *poses)


@pytest.mark.skipif(not hasattr(torch.library, "register_vmap"), reason="torch before 2.5")
def test_compile_of_vmap(small, poses):
    mapped = torch.func.vmap(lambda y: at.reduce(small, poses[0][0], y, "energy"))
    same(torch.compile(mapped, fullgraph=True, backend="aot_eager")(poses[1]), mapped(poses[1]))


def test_export(small, poses):
    class Depth(torch.nn.Module):
        def forward(self, x1, x2):
            return at.contacts(small, x1, x2, want=("d",)).d

    program = torch.export.export(Depth(), poses)
    same(program.module()(*poses), at.contacts(small, *poses).d, 0)


# ---- use ----


def test_threads(small, poses):
    x = with_grad(*poses)
    wanted = torch.autograd.grad(at.contacts(small, *x).d.sum(), x)
    wrong = []

    def work():
        try:
            for _ in range(10):
                x = with_grad(*poses)
                for g, w in zip(torch.autograd.grad(at.contacts(small, *x).d.sum(), x), wanted):
                    same(g, w, 0)
        except BaseException as error:  # told of by the thread that asserts
            wrong.append(error)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_adam_separates_every_start(f32):
    ctx = f32
    a, b = (ctx.load(conftest.GOLDEN / "figure-gate" / f"{name}.body.json") for name in "ab")
    size = max(a.diagonal, b.diagonal)
    # A broad soft minimum hears all vertices; edges, which it does not ask for, are left out.
    pair = abut.Pair(a, b, {"penetration": 0.1 * size})
    starts = 0.05 * size * torch.randn(100, 6, generator=torch.Generator().manual_seed(0))
    fixed = torch.zeros(6)
    starts = starts[at.reduce(pair, fixed, starts, "minimum_distance") < 0][:64]
    assert len(starts) == 64
    x = starts.clone().requires_grad_()
    opt = torch.optim.Adam([x], lr=1e-2 * size)
    for _ in range(100):
        opt.zero_grad()
        (-at.reduce(pair, fixed, x, "soft_minimum")).clamp(min=0).sum().backward()
        opt.step()
    assert (at.reduce(pair, fixed, x.detach(), "minimum_distance") > 0).all()


def test_forms_of_poses(small):
    """Matrices, None and both kinds beside each other, with derivatives through all."""
    twists = torch.from_numpy(conftest.random_poses(10, np.float64))
    twists[0] = 0.0
    quaternions = torch.from_numpy(abut.pose.exp(twists.numpy()))
    matrices = torch.from_numpy(abut.pose.to_matrix(twists.numpy()))
    origin, eye = torch.zeros(6, **F64), torch.eye(4, **F64)
    wanted = torch.from_numpy(abut.reduce(small, None, quaternions.numpy(), "soft_distance").value)
    for one, two in ((None, quaternions), (None, matrices), (origin, quaternions), (eye, twists)):
        same(at.reduce(small, one, two, "soft_distance"), wanted, 1e-11)
    slopes = []
    for form in (lambda x: x, lambda x: _forms.to_matrix(torch, _forms.exp(torch, x))):
        x, = with_grad(twists)
        at.reduce(small, eye, form(x), "soft_distance").sum().backward()
        slopes.append(x.grad)
    same(slopes[1], slopes[0], 1e-9)
    same(slopes[0], torch.from_numpy(abut.reduce(small, origin.numpy(), twists.numpy(), "soft_distance",
                                                 grad=True).grad2), 1e-9)


# ---- bad input ----


@pytest.mark.parametrize("given, words", [
    (lambda x: (x.float(), x), "pose1 is torch.float32.*torch.float64"),
    (lambda x: (x, x.half()), "pose2 is torch.float16"),
    (lambda x: (x, x.long()), "pose2 is torch.int64"),
    (lambda x: (x, x.to("meta")), "pose2 is on meta"),
    (lambda x: (x, x.to_sparse()), "sparse"),
    (lambda x: (x.numpy(), x), "pose1 is a ndarray"),
    (lambda x: (x, x[:, :5]), r"pose2 has shape \(2, 5\)"),
    (lambda x: (x, x[0, 0]), r"pose2 has shape \(\)"),
    (lambda x: (None, None), "are both None"),
    (lambda x: (x, torch.zeros(2, 4, 5, **F64)), r"pose2 has shape \(2, 4, 5\)"),
    (lambda x: (x, x.repeat(2, 1)[:3]), r"pose1 has shape \(2, 6\) and pose2 \(3, 6\)"),
])
def test_bad_poses(small, poses, given, words):
    for call in (lambda *x: at.contacts(small, *x), lambda *x: at.reduce(small, *x, "energy")):
        with pytest.raises(ValueError, match=words):
            call(*given(poses[1]))


def test_bad_arguments(small, poses):
    with pytest.raises(ValueError, match="'q'"):
        at.contacts(small, *poses, want=("q",))
    with pytest.raises(ValueError, match="'depth'"):
        at.reduce(small, *poses, "depth")
    with pytest.raises(ValueError, match="needs index"):
        at.contacts([small], *poses)
    with pytest.raises(ValueError, match="there is one pair"):
        at.contacts(small, *poses, index=[0, 0])
    with pytest.raises(ValueError, match="index has shape"):
        at.contacts([small], *poses, index=[0, 0, 0])
    with pytest.raises(ValueError, match="does not exist; there are 1"):
        at.contacts([small], *poses, index=[0, 1])
    with pytest.raises(ValueError, match="float"):
        at.contacts([small], *poses, index=torch.zeros(2))
    with pytest.raises(ValueError, match="abut.Pair"):
        at.contacts("pair", *poses, index=[0, 0])
    pair = abut.Pair(*small.bodies, small.smoothing)
    pair.close()
    with pytest.raises(ValueError, match="closed"):
        at.contacts(pair, *poses)


def test_example():
    conftest.follows_separate("separate_torch.py")


def test_nearest(contexts):
    pair = abut.Pair(*conftest.figure_and_part(contexts["f32"]))
    p1, p2 = (torch.from_numpy(conftest.random_poses(5, np.float32, seed)) for seed in (1, 2))
    wanted = abut.reduce(pair, p1, p2, "energy", grad=True, nearest=True)
    for needs in (False, True):
        y = p2.clone().requires_grad_(needs)
        value, nearest = at.reduce(pair, p1, y, "energy", nearest=True)
        np.testing.assert_array_equal(value.detach(), wanted.value)
        np.testing.assert_array_equal(nearest, wanted.nearest)
        assert not nearest.requires_grad and value.requires_grad == needs
    value.sum().backward()
    np.testing.assert_array_equal(y.grad, wanted.grad2)
    with torch.autograd.forward_ad.dual_level():
        dual = torch.autograd.forward_ad.make_dual(p2, torch.ones_like(p2))
        value, nearest = at.reduce(pair, p1, dual, "energy", nearest=True)
        slope = torch.autograd.forward_ad.unpack_dual(value).tangent
        np.testing.assert_allclose(slope, wanted.grad2.sum(1), rtol=1e-4, atol=1e-8)
    compiled = torch.compile(lambda y: at.reduce(pair, p1, y, "energy", nearest=True),
                             fullgraph=True, backend="aot_eager")
    np.testing.assert_array_equal(compiled(p2)[1], wanted.nearest)


def test_value_in_place(contexts):
    pair = abut.Pair(*conftest.figure_and_part(contexts["f32"]))
    p1, p2 = (torch.from_numpy(conftest.random_poses(5, np.float32, seed)) for seed in (1, 2))
    y = p2.clone().requires_grad_()
    at.reduce(pair, p1, y, "energy").mul_(2.0).sum().backward()
    np.testing.assert_allclose(y.grad, 2.0 * abut.reduce(pair, p1, p2, "energy", grad=True).grad2,
                               rtol=1e-6)
