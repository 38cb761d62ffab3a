"""abut.torch.closest: answers, derivatives of both modes, torch.func, bad input."""
import numpy as np
import pytest
from test_closest import IDENTITY, poses, smooth_shapes

torch = pytest.importorskip("torch")

import abut  # noqa: E402
import abut.torch as at  # noqa: E402

ANSWERS = ("d", "n", "p1", "p2")


def pair_of_poses(context, count, width=7, reach=1.0):
    return tuple(torch.from_numpy(poses(count, k, width, reach).astype(context.dtype)) for k in (1, 2))


def some_shapes(context):
    return [*smooth_shapes(context), abut.Shape("box", (0.3, 0.2, 0.1), context=context),
            abut.Shape("hull", np.random.default_rng(1).normal(size=(20, 3)), context=context)]


def loss(answer):
    return (answer.d.sum() + (answer.n * torch.arange(3)).sum() + answer.p1[..., 0].sum()
            + (answer.p2[..., 1] ** 2).sum())


def test_answers(context):
    a, b = smooth_shapes(context)
    p1, p2 = pair_of_poses(context, 20)
    made = at.closest(a, b, p1, p2)
    wanted = abut.closest(a, b, p1, p2)
    for name, value in zip(ANSWERS, made):
        assert np.array_equal(value.numpy(), getattr(wanted, name))
    d, n, q1, q2 = at.closest(a, b, None, p2.reshape(4, 5, 7))
    assert d.shape == (4, 5) and n.shape == q1.shape == q2.shape == (4, 5, 3)


@pytest.mark.parametrize("method,options", [("exact", {}), ("gumbel", {"temperature": 0.1}), ("gaussian", {"seed": 3}),
                                            ("zeroth", {"samples": 5})])
@pytest.mark.parametrize("width", [6, 7])
def test_backward(context, width, method, options):
    """Gradients are those of abut.closest_vjp."""
    shapes, rng = some_shapes(context), np.random.default_rng(5)
    one, two = rng.integers(0, 4, (2, 30))
    p1, p2 = (p.requires_grad_() for p in pair_of_poses(context, 30, width))
    made = at.closest(shapes, shapes, p1, p2, method, one=one, two=torch.from_numpy(two), **options)
    bars = [torch.from_numpy(rng.normal(size=value.shape).astype(context.dtype)) for value in made]
    g = torch.autograd.grad(made, (p1, p2), bars)
    r = abut.closest(shapes, shapes, p1.detach(), p2.detach(), one=one, two=two)
    wanted = abut.closest_vjp(r, **dict(zip(ANSWERS, bars)), method=method, **options)
    assert np.array_equal(g[0].numpy(), wanted.pose1) and np.array_equal(g[1].numpy(), wanted.pose2)
    alone, = torch.autograd.grad(at.closest(shapes, shapes, p1.detach(), p2, method, one=one, two=two, **options).d.sum(), p2)
    assert np.array_equal(alone.numpy(), abut.closest_vjp(r, d=1, method=method, **options).pose2)


@pytest.mark.parametrize("width", [6, 7])
def test_modes_agree(context, width):
    """Forward mode is the transpose of reverse mode, also of twists that are large."""
    a, b = smooth_shapes(context)
    p1, p2 = pair_of_poses(context, 10, width)
    if width == 6:
        p1[:, 3:] *= 2
        p2[0, 3:] = 0
    rng = np.random.default_rng(6)
    along = [torch.from_numpy(rng.normal(size=p.shape).astype(context.dtype)) for p in (p1, p2)]

    def query(*poses):
        return tuple(at.closest(a, b, *poses, "exact"))

    made, tangents = torch.func.jvp(query, (p1, p2), tuple(along))
    bars = [torch.from_numpy(rng.normal(size=value.shape).astype(context.dtype)) for value in made]
    _, pull = torch.func.vjp(query, p1, p2)
    forward = sum((t * bar).sum() for t, bar in zip(tangents, bars))
    reverse = sum((g * t).sum() for g, t in zip(pull(tuple(bars)), along))
    assert forward.item() == pytest.approx(reverse.item(), rel=1e-9 if context.precision == "f64" else 1e-3)
    alone = torch.func.jvp(lambda p: query(p1, p), (p2,), (along[1],))[1]
    both = torch.func.jvp(query, (p1, p2), (torch.zeros_like(p1), along[1]))[1]
    assert all(torch.equal(x, y) for x, y in zip(alone, both))


def test_gradcheck(double):
    """Of ellipsoids, apart and overlapping, and of balls."""
    ball, point = abut.Shape("sphere", 0.3, context=double), abut.Shape("hull", [[0.1, 0, 0]], radius=0.2, context=double)
    for width in (6, 7):
        for first, second, reach in ((*smooth_shapes(double), 1.0), (*smooth_shapes(double), 0.1), (ball, point, 1.0)):
            given = tuple(p.requires_grad_() for p in pair_of_poses(double, 4, width, reach))
            assert torch.autograd.gradcheck(lambda *p: tuple(at.closest(first, second, *p, "exact")), given,
                                            check_forward_ad=True)


def test_func(double):
    """vmap, jacobians of both modes, grad of vmap."""
    a, b = smooth_shapes(double)
    p1, p2 = pair_of_poses(double, 6)

    def one_row(x, y):
        return tuple(at.closest(a, b, x, y, "exact"))

    whole = one_row(p1, p2)
    rows = torch.func.vmap(one_row)(p1, p2)
    assert all(torch.equal(x, y) for x, y in zip(whole, rows))
    fixed = torch.func.vmap(one_row, in_dims=(None, 0))(p1[0], p2)
    assert torch.equal(fixed[0], one_row(p1[0], p2)[0])
    reverse = torch.func.vmap(torch.func.jacrev(one_row, argnums=1))(p1, p2)
    forward = torch.func.vmap(torch.func.jacfwd(one_row, argnums=1))(p1, p2)
    for x, y in zip(reverse, forward):
        assert x.shape == y.shape and torch.allclose(x, y, atol=1e-10)
    g = torch.func.vmap(torch.func.grad(lambda x, y: one_row(x, y)[0], argnums=1))(p1, p2)
    assert torch.allclose(g, reverse[0], atol=1e-12)
    shapes, which = some_shapes(double), torch.tensor([0, 1, 2, 3, 0, 1])
    listed = torch.func.vmap(lambda k, x, y: at.closest(shapes, b, x, y, one=k).d)(which, p1, p2)
    assert torch.equal(listed, at.closest(shapes, b, p1, p2, one=which).d)


def test_forms(double):
    """Matrices, and poses of two kinds."""
    a, b = smooth_shapes(double)
    p1, p2 = pair_of_poses(double, 5)
    matrices = torch.from_numpy(abut.pose.to_matrix(p2.numpy())).requires_grad_()
    made = at.closest(a, b, p1, matrices, "exact")
    assert torch.allclose(made.d, at.closest(a, b, p1, p2).d)
    made.d.sum().backward()
    slope = abut.closest_vjp(abut.closest(a, b, p1, p2), d=1, method="exact").pose2
    assert np.allclose(matrices.grad[:, :3, 3].numpy(), slope[:, :3])
    twist = torch.from_numpy(poses(5, 2, 6)).requires_grad_()
    at.closest(a, b, p1, twist, "exact").d.sum().backward()
    direct = torch.from_numpy(poses(5, 2, 6)).requires_grad_()
    at.closest(a, b, torch.from_numpy(abut.pose.log(p1.numpy())), direct, "exact").d.sum().backward()
    assert torch.allclose(twist.grad, direct.grad, atol=1e-9)


def test_bad_poses(context):
    a, b = smooth_shapes(context)
    for width in (6, 7):
        p1, p2 = pair_of_poses(context, 6, width)
        p2[1, 0], p2[4, 5] = torch.nan, torch.inf
        bad = torch.tensor([False, True, False, width == 7, True, False])
        if width == 7:
            p2[3, 3:] = 0
        x, y = p1.clone().requires_grad_(), p2.clone().requires_grad_()
        made = at.closest(a, b, x, y)
        assert all(torch.isnan(value[bad]).all() and torch.isfinite(value[~bad]).all() for value in made) and made.d[~bad].all()
        loss(made).backward()
        for g in (x.grad, y.grad):
            assert torch.isfinite(g).all() and not g[bad].any() and g[~bad].any()
        _, t = torch.func.jvp(lambda *p: tuple(at.closest(a, b, *p)), (p1, p2), (torch.ones_like(p1), torch.ones_like(p2)))
        assert all(torch.isfinite(value).all() and not value[bad].any() for value in t)


def test_descent(double):
    """Two boxes that overlap face to face part along the normal, and a corner finds a target on a face."""
    box = abut.Shape("box", (0.5, 0.4, 0.3), context=double)
    x = torch.tensor([0.2, 0.1, 0.0, 0.1, 0.2, 0.3], dtype=torch.float64, requires_grad=True)
    for _ in range(100):
        d = at.closest(box, box, torch.zeros(6, dtype=torch.float64), x).d
        if d > 0:
            break
        g, = torch.autograd.grad(d, x)
        with torch.no_grad():
            x += 0.02 * g
    assert d > 0


def test_empty(double):
    a, b = smooth_shapes(double)
    none = torch.zeros((0, 7), dtype=torch.float64, requires_grad=True)
    made = at.closest(a, b, none, None)
    assert made.n.shape == (0, 3)
    made.p1.sum().backward()
    assert none.grad.shape == (0, 7)


def test_refusals(context):
    a, b = smooth_shapes(context)
    p = torch.from_numpy(poses(3).astype(context.dtype))
    for wrong in ({"pose1": p.numpy()}, {"pose1": p.to(torch.float16)}, {"pose1": p[:, :5]}, {"pose2": p[:2]},
                  {"method": "smooth"}, {"shape1": [a, b]}, {"one": [0, 0, 0]}, {"shape1": [a], "one": [1, 0, 0]},
                  {"shape1": [a], "one": [0, 0]}, {"shape1": 3}, {"samples": -1}):
        with pytest.raises(ValueError):
            at.closest(**{"shape1": a, "shape2": b, "pose1": p, "pose2": p, **wrong})
    with pytest.raises(TypeError):
        at.closest(a, b, p, p, sharpness=3)
    q = p.clone().requires_grad_()
    made = at.closest(a, b, p, q, "exact")
    g, = torch.autograd.grad(made.d.sum(), q, create_graph=True)
    with pytest.raises(NotImplementedError, match="only first derivatives"):
        g.sum().backward()
    if context.precision == "f32":
        made = at.closest(a, b, p, q, "finite")
        with pytest.raises(abut.Error, match="float64"):
            made.d.sum().backward()


def test_compiled(double):
    """A program goes around it."""
    a, b = smooth_shapes(double)
    p = torch.tensor([IDENTITY] * 3, dtype=torch.float64)
    p[:, 0] = torch.arange(3)
    compiled = torch.compile(lambda x: at.closest(a, b, None, x).d * 2, backend="eager")
    assert torch.equal(compiled(p), at.closest(a, b, None, p).d * 2)
