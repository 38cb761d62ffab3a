"""abut.torch.ccd and abut.torch.ccd_queries: answers, derivatives of both modes, torch.func, bad input."""
import numpy as np
import pytest
from test_ccd import KINDS, POSES, cubes, some_features, thrown

torch = pytest.importorskip("torch")

import abut  # noqa: E402
import abut.torch as at  # noqa: E402
from abut import CcdStatus  # noqa: E402


def moves(context, count, seed=5, width=7):
    return [torch.from_numpy(np.asarray(pose, context.dtype)) for pose in thrown(count, seed, width)]


def features(context, kind, count, seed=1):
    return [torch.from_numpy(np.asarray(x, context.dtype)) for x in some_features(kind, count, seed)]


def numbers(shape, context, seed=7):
    return torch.from_numpy(np.random.default_rng(seed).normal(size=shape).astype(context.dtype))


def test_answers(context):
    meshes, poses = cubes(context), moves(context, 20)
    options = {"separation": 0.01, "keep": 0.1, "motion": "arc", "center1": (0.1, 0, 0), "center2": (0, 0.2, 0)}
    made, wanted = at.ccd(meshes, *poses, **options), abut.ccd(meshes, *poses, **options)
    for name, value in made._asdict().items():
        assert np.array_equal(value.numpy(), getattr(wanted, name))
    grid = at.ccd(meshes, None, None, poses[2].reshape(4, 5, 7), poses[3][:5])
    assert grid.toi.shape == (4, 5) and grid.p1.shape == (4, 5, 3)


@pytest.mark.parametrize("kind", KINDS)
def test_answers_of_queries(context, kind):
    x0, x1 = features(context, kind, 20)
    many = torch.linspace(0, 0.1, 20, dtype=x0.dtype)
    options = {"separation": many, "keep": 0.125, "end": 0.75, "context": context}
    made, wanted = at.ccd_queries(kind, x0, x1, **options), abut.ccd_queries(kind, x0, x1, **options)
    for name, value in made._asdict().items():
        assert np.array_equal(value.numpy(), getattr(wanted, name))


def test_low_parts(contexts):
    context = contexts["f32"]
    x0, x1 = some_features("ee", 10)
    high = [torch.from_numpy(x.astype(np.float32)) for x in (x0, x1)]
    low = [torch.from_numpy((x - h.numpy()).astype(np.float32)) for x, h in zip((x0, x1), high)]
    options = {"x0_low": low[0], "x1_low": low[1], "relative_error": 2.0**-48, "context": context}
    made = at.ccd_queries("ee", *high, **options)
    assert np.array_equal(made.toi.numpy(), abut.ccd_queries("ee", *high, **options).toi)


@pytest.mark.parametrize("width", [6, 7])
def test_backward(context, width):
    """Gradients are those of abut.ccd_gradient."""
    meshes, poses = cubes(context), [p.requires_grad_() for p in moves(context, 20, width=width)]
    bar = numbers(20, context)
    made = at.ccd(meshes, *poses, separation=0.05)
    assert made.toi.requires_grad and not made.n.requires_grad and not made.p1.requires_grad
    wanted = abut.ccd_gradient(abut.ccd(meshes, *(p.detach() for p in poses), separation=0.05))
    assert (wanted.status == CcdStatus.HIT).sum() > 10
    for got, name in zip(torch.autograd.grad(made.toi, poses, bar), POSES):
        np.testing.assert_allclose(got.numpy(), bar.numpy()[:, None] * getattr(wanted, name), rtol=1e-6)
    made = at.ccd(meshes, *(p.detach() for p in poses[:3]), poses[3], separation=0.05)
    alone, = torch.autograd.grad(made.toi.sum(), poses[3])
    assert np.array_equal(alone.numpy(), wanted.to2)
    x = [a.requires_grad_() for a in features(context, "pt", 20)]
    wanted = abut.ccd_queries_gradient(abut.ccd_queries("pt", *(a.detach() for a in x), separation=0.05, context=context))
    made = at.ccd_queries("pt", *x, separation=0.05, context=context)
    for got, slope in zip(torch.autograd.grad(made.toi, x, bar), wanted[:2]):
        np.testing.assert_allclose(got.numpy(), bar.numpy()[:, None, None] * slope, rtol=1e-6)


def test_modes_agree(context):
    """Forward mode is the transpose of reverse mode."""
    meshes, poses = cubes(context), tuple(moves(context, 10))
    x = tuple(features(context, "ee", 10))
    for query, given in ((lambda *p: at.ccd(meshes, *p, separation=0.05).toi, poses),
                         (lambda *a: at.ccd_queries("ee", *a, separation=0.05, context=context).toi, x)):
        along = tuple(numbers(a.shape, context, k) for k, a in enumerate(given))
        made, tangents = torch.func.jvp(query, given, along)
        bar = numbers(made.shape, context, 9)
        _, pull = torch.func.vjp(query, *given)
        reverse = sum((g * t).sum() for g, t in zip(pull(bar), along))
        forward = (tangents * bar).sum().item()
        assert forward == pytest.approx(reverse.item(), rel=1e-9 if context.precision == "f64" else 1e-3)
        last = torch.func.jvp(lambda a: query(*given[:-1], a), given[-1:], along[-1:])[1]
        both = torch.func.jvp(query, given, (*map(torch.zeros_like, given[:-1]), along[-1]))[1]
        assert torch.allclose(last, both)


def test_func(double):
    """vmap, jacobians of both modes, grad of vmap, also with settings of rows."""
    meshes, poses = cubes(double), moves(double, 6)

    def row(*p):
        return at.ccd(meshes, *p, separation=0.05)

    whole = row(*poses)
    assert all(map(torch.equal, whole, torch.func.vmap(row)(*poses)))
    fixed = torch.func.vmap(row, in_dims=(None, None, 0, 0))(poses[0][0], poses[1][0], *poses[2:])
    assert torch.equal(fixed.toi, row(poses[0][0], poses[1][0], *poses[2:]).toi)
    reverse, forward = (torch.func.vmap(make(lambda *p: row(*p).toi, argnums=3))(*poses)
                        for make in (torch.func.jacrev, torch.func.jacfwd))
    wanted = abut.ccd_gradient(abut.ccd(meshes, *poses, separation=0.05)).to2
    assert torch.allclose(reverse, forward, atol=1e-12) and np.allclose(reverse.numpy(), wanted, atol=1e-12)
    x0, x1 = features(double, "ee", 6)
    many = torch.linspace(0, 0.1, 6, dtype=torch.float64)

    def query(a, b, separation):
        return at.ccd_queries("ee", a, b, separation=separation, context=double)

    assert all(map(torch.equal, query(x0, x1, many), torch.func.vmap(query)(x0, x1, many)))
    g = torch.func.vmap(torch.func.grad(lambda a, b, c: query(a, b, c).toi))(x0, x1, many)
    wanted = abut.ccd_queries_gradient(abut.ccd_queries("ee", x0, x1, separation=many, context=double))
    assert np.allclose(g.numpy(), wanted.x0, atol=1e-12)


def test_descent(double):
    """A gradient step of the vertices at time 1 makes touches later."""
    x0, x1 = features(double, "pt", 20)
    x1.requires_grad_()
    before = at.ccd_queries("pt", x0, x1, separation=0.01, context=double).toi.sum()
    before.backward()
    with torch.no_grad():
        after = at.ccd_queries("pt", x0, x1 + 1e-3 * x1.grad, separation=0.01, context=double).toi.sum()
    assert after > before


def test_forms(double):
    """Matrices, and poses of two kinds."""
    meshes, poses = cubes(double), moves(double, 5)
    matrices = torch.from_numpy(abut.pose.to_matrix(poses[3].numpy())).requires_grad_()
    made = at.ccd(meshes, *poses[:3], matrices, separation=0.05)
    r = abut.ccd(meshes, *poses, separation=0.05)
    assert np.allclose(made.toi.detach().numpy(), r.toi)
    made.toi.sum().backward()
    assert np.allclose(matrices.grad[:, :3, 3].numpy(), abut.ccd_gradient(r).to2[:, :3], atol=1e-6)
    twist = torch.from_numpy(abut.pose.log(poses[2].numpy()))
    assert np.allclose(at.ccd(meshes, None, None, twist, poses[3], separation=0.05).toi.numpy(),
                       abut.ccd(meshes, None, None, *poses[2:], separation=0.05).toi)


def test_bad_input(context):
    meshes, poses = cubes(context), moves(context, 6)
    poses[3][1, 0], poses[0][4, 5] = torch.nan, torch.inf
    poses[2][3, 3:] = 0
    bad = torch.tensor([False, True, False, True, True, False])
    poses = [p.requires_grad_() for p in poses]
    made = at.ccd(meshes, *poses, separation=0.05)
    assert torch.equal(made.status == CcdStatus.BAD_INPUT, bad) and not made.toi[bad].any()
    made.toi.sum().backward()
    assert all(torch.isfinite(p.grad).all() and not p.grad[bad].any() for p in poses)


def test_empty(double):
    none = torch.zeros((0, 7), dtype=torch.float64, requires_grad=True)
    made = at.ccd(cubes(double), None, None, None, none)
    assert made.p1.shape == (0, 3)
    made.toi.sum().backward()
    assert none.grad.shape == (0, 7)


def test_refusals(context):
    meshes, poses = cubes(context), dict(zip(POSES, moves(context, 3)))
    for wrong in ({"to1": poses["to1"].numpy()}, {"to1": poses["to1"].to(torch.float16)}, {"to1": poses["to1"][:, :5]},
                  {"to2": poses["to2"][:2]}, {"motion": "screw"}, {"pair": meshes[:1]}, {"center1": (0, 0)},
                  dict.fromkeys(POSES), {"separation": "far"}):
        with pytest.raises(ValueError):
            at.ccd(**{"pair": meshes, **poses, **wrong})
    with pytest.raises(abut.Error, match="separation"):
        at.ccd(meshes, **poses, separation=-1.0)
    x0, x1 = features(context, "pt", 3)
    for wrong in ({"kind": "tp"}, {"x0": x0[:, :3]}, {"x0": x0.numpy()}, {"x1": x1[:2]}, {"method": "exact"},
                  {"separation": torch.zeros(2, dtype=x0.dtype)}, {"separation": np.zeros(3, context.dtype)},
                  {"separation": torch.zeros(3, dtype=x0.dtype, requires_grad=True)}, {"x0": x0.to(torch.float16)}):
        with pytest.raises(ValueError):
            at.ccd_queries(**{"kind": "pt", "x0": x0, "x1": x1, "context": context, **wrong})
    q = x0.clone().requires_grad_()
    g, = torch.autograd.grad(at.ccd_queries("pt", q, x1, separation=0.05, context=context).toi.sum(), q, create_graph=True)
    with pytest.raises(NotImplementedError, match="only first derivatives"):
        g.sum().backward()


def test_compiled(double):
    """A program goes around it."""
    meshes, poses = cubes(double), moves(double, 3)
    compiled = torch.compile(lambda x: at.ccd(meshes, None, None, poses[2], x).toi * 2, backend="eager")
    assert torch.equal(compiled(poses[3]), at.ccd(meshes, None, None, *poses[2:]).toi * 2)
