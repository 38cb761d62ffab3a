"""abut.torch by shapes: against NumPy's derivatives and differences, what is missing, refusals."""
import conftest
import numpy as np
import pytest
import torch
from conftest import OUTPUTS

import abut
import abut.torch as at

NAMES = ("vertices", "axes", "exponents", "position", "plane_normals", "plane_points", "cloud_points", "cloud_normals",
         "cloud_widths", "grid_coefficients")


def tensors(body, names=NAMES):
    """A body's numbers as leaves."""
    dtype = torch.float64 if body.context.precision == "f64" else torch.float32
    shape = body.shape()

    def leaf(x):
        return torch.tensor(x, dtype=dtype, requires_grad=True)
    made = {name: getattr(shape, name) for name in names}
    return {name: [leaf(x) for x in value] if isinstance(value, list) else leaf(value) for name, value in made.items()}


def small(context):
    """A pair of few vertices that keeps all of them, so that nothing is left out."""
    mesh = 0.13 * np.random.default_rng(4).normal(size=(2, 10, 3))
    a = context.body(mesh[0], axes=[[0.2, 0.1, 0.1], [0.05, 0.05, 0.3]], exponents=[[0.5, 0.8], [0.6, 1.0]],
                     position=[[0, 0, 0], [0.1, 0, 0]], operation=["add", "subtract"], rotation=[[1, 0, 0, 0], [2, 0.3, 0, 0.5]])
    b = context.body(mesh[1], axes=(0.12, 0.1, 0.15), exponents=(1, 0.9))
    return abut.Pair(a, b, {"penetration": 0.02, "edge_edge": False})


def poses(count):
    return (torch.zeros(count, 6, dtype=torch.float64),
            torch.tensor(0.1 * np.random.default_rng(2).normal(size=(count, 6)), dtype=torch.float64))


def test_golden(contexts):
    pair, given, bars, _ = conftest.golden(contexts["f64"], "composed")
    answers = np.load(conftest.ROOT / "tests" / "golden-shape" / "composed.npz")
    poses = [given[name][answers["pose"]] for name in ("s1", "s2")]
    cut = {name: bars[name + "_bar"][answers["pose"]] for name in OUTPUTS}
    s1, s2 = map(torch.tensor, poses)
    s2.requires_grad_()
    a, b = (tensors(body) for body in pair.bodies)
    c = at.contacts(pair, s1, s2, shape1=a, shape2=b)
    there = abut.contacts(pair, *poses)
    for name in OUTPUTS:
        assert np.array_equal(getattr(c, name).detach().numpy(), getattr(there, name))
    sum((getattr(c, name) * torch.tensor(cut[name])).sum() for name in OUTPUTS).backward()
    wanted = abut.shape_vjp(pair, *poses, **cut)
    compared = 0
    for side, mine, exact in zip("ab", (a, b), wanted):
        for name in NAMES:
            value = getattr(exact, name)
            for k, (x, y) in enumerate(zip(mine[name], value) if isinstance(value, tuple) else [(mine[name], value)]):
                np.testing.assert_allclose(x.grad.numpy(), conftest.by_given(name, x.detach().numpy(), y), rtol=1e-12, atol=1e-300)
                if y.size:
                    rows = answers[f"{side}_{name}{k if isinstance(value, tuple) else ''}"]
                    assert np.abs(y - rows.sum(0)).max() < 1e-7 * len(rows) * np.abs(rows).max()
                    compared += 1
    assert compared > 10
    np.testing.assert_allclose(s2.grad.numpy(), abut.vjp(pair, *poses, **cut)[1], rtol=1e-12)


def test_gradcheck(contexts):
    pair = small(contexts["f64"])
    pose1, pose2 = poses(2)
    pose2.requires_grad_()
    names = ("axes", "exponents", "position", "rotation")
    a = tensors(pair.bodies[0], names)

    def call(pose2, *numbers):
        c = at.contacts(pair, pose1, pose2, shape1=dict(zip(names, numbers)), want=("p", "d", "activity"))
        return c.p, c.d, c.activity
    assert torch.autograd.gradcheck(call, (pose2, *a.values()), eps=1e-7, atol=1e-5, rtol=1e-5, fast_mode=True)
    for kind in ("energy", "soft_minimum"):
        def reduced(*numbers, kind=kind):
            return at.reduce(pair, pose1, pose2.detach(), kind, shape1=dict(zip(names, numbers)))
        assert torch.autograd.gradcheck(reduced, tuple(a.values()), eps=1e-7, atol=1e-5, rtol=1e-5, fast_mode=True)


def test_reductions_are_sums_over_the_batch(contexts):
    pair = small(contexts["f64"])
    pose1, pose2 = poses(300)  # more than a block
    weights = torch.tensor(np.random.default_rng(0).normal(size=300))
    a = tensors(pair.bodies[0], ("axes", "vertices"))
    value, nearest = at.reduce(pair, pose1, pose2, "energy", nearest=True, shape1=a)
    assert not nearest.requires_grad
    (value * weights).sum().backward()
    rows = abut.shape_gradient(pair, pose1.numpy(), pose2.numpy(), "energy", each_pose=True)[0]
    np.testing.assert_allclose(a["axes"].grad, np.tensordot(weights.numpy(), rows.axes, 1), rtol=1e-9, atol=1e-15)
    np.testing.assert_allclose(a["vertices"].grad, np.tensordot(weights.numpy(), rows.vertices, 1), rtol=1e-9, atol=1e-12)
    a["axes"].grad = None
    at.reduce(pair, pose1, pose2, "energy", shape1=a).mean().backward()
    np.testing.assert_allclose(a["axes"].grad, rows.axes.mean(0), rtol=1e-9, atol=1e-15)


def test_what_is_not_asked_for(contexts):
    """Gradients that nobody wants are none; numbers that are the body's own change nothing."""
    pair = small(contexts["f64"])
    pose1, pose2 = poses(2)
    a, b = tensors(pair.bodies[0], ("axes",)), tensors(pair.bodies[1], ("exponents",))
    frozen = {"axes": a["axes"], "position": torch.tensor(pair.bodies[0].shape().position)}
    c = at.contacts(pair, pose1, pose2, want=("d",), shape1=frozen, shape2=b)
    assert c.p is None and c.d.shape == (2, pair.C) and frozen["position"].grad is None
    c.d.sum().backward()
    exact = abut.shape_vjp(pair, pose1.numpy(), pose2.numpy(), d=np.ones((2, pair.C)))
    np.testing.assert_allclose(a["axes"].grad, exact[0].axes, rtol=1e-12)
    np.testing.assert_allclose(b["exponents"].grad, exact[1].exponents, rtol=1e-12)
    with torch.no_grad():
        assert not at.contacts(pair, pose1, pose2, shape1=a).d.requires_grad
    followed = at.contacts(pair, pose1, pose2, want=("d",), shape1=a, follow=True).d.sum()
    exact = abut.shape_vjp(pair, pose1.numpy(), pose2.numpy(), d=np.ones((2, pair.C)), follow=True)[0].axes
    np.testing.assert_allclose(torch.autograd.grad(followed, a["axes"])[0], exact, rtol=1e-12)
    empty = at.contacts(pair, pose1[:0], pose2[:0], shape1=a)
    empty.d.sum().backward()
    assert empty.d.shape == (0, pair.C) and torch.isfinite(a["axes"].grad).all()
    pose2[0, 0] = torch.nan
    c = at.contacts(pair, pose1, pose2, want=("d",), shape1=a)
    a["axes"].grad = None
    c.d[1].sum().backward()
    assert c.status.tolist() == [1, 0] and torch.isfinite(a["axes"].grad).all()


def test_turned_by_quaternions(contexts):
    """The length of a quaternion counts for nothing, and its gradient is across it."""
    pair = small(contexts["f64"])
    pose1, pose2 = poses(2)
    q = tensors(pair.bodies[0], ("rotation",))["rotation"]
    for scale in (1.0, 3.0):
        x = (scale * q).detach().requires_grad_()
        loss = at.reduce(pair, pose1, pose2, "mean_distance", shape1={"rotation": x}).sum()
        g, = torch.autograd.grad(loss, x)
        assert (g * x).sum(1).abs().max() < 1e-12 * g.abs().max()
        if scale == 1.0:
            first, value = g, loss
    np.testing.assert_allclose(3 * g, first, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(loss.item(), value.item(), rtol=1e-12)


def test_an_optimiser(contexts):
    pair = small(contexts["f32"])
    target = abut.reduce(pair, None, np.zeros((1, 6)), "mean_distance").value[0] + 0.02
    axes = tensors(pair.bodies[1], ("axes",))["axes"]
    adam = torch.optim.Adam([axes], lr=3e-3)
    losses = []
    for _ in range(50):
        adam.zero_grad()
        loss = (at.reduce(pair, torch.zeros(6), torch.zeros(1, 6), "mean_distance", shape2={"axes": axes}) - target).square().sum()
        loss.backward()
        adam.step()
        losses.append(loss.item())
    assert losses[-1] < 0.02 * losses[0]


def test_refusals(contexts):
    pair = small(contexts["f64"])
    pose1, pose2 = poses(2)
    axes = tensors(pair.bodies[0], ("axes",))["axes"]
    for call, error, what in (
            (lambda: at.contacts([pair], pose1, pose2, shape1={"axes": axes}, index=[0, 0]), ValueError, "one abut.Pair"),
            (lambda: at.contacts(pair, pose1, pose2, shape1={"axis": axes}), ValueError, "shape1 'axis' is not among"),
            (lambda: at.contacts(pair, pose1, pose2, shape1=[axes]), ValueError, "shape1 is a list, not a mapping"),
            (lambda: at.contacts(pair, pose1, pose2, shape2={"axes": axes}), ValueError, r"shape2\['axes'\] has shape \(2, 3\)"),
            (lambda: at.contacts(pair, pose1, pose2, shape1={"axes": axes.float()}), ValueError, "float32"),
            (lambda: at.contacts(pair, pose1, pose2, shape1={"axes": axes.detach().numpy()}), ValueError, "not a tensor"),
            (lambda: at.contacts(pair, pose1, pose2, shape1={"cloud_points": axes}), ValueError, "not a list of 0"),
            (lambda: at.contacts(pair, pose1, pose2, want=("weight",), shape1={"axes": axes}), ValueError, "weights have no"),
            (lambda: at.contacts(pair, pose1, pose2, follow=True), ValueError, "follow works only with shape1 or shape2"),
            (lambda: at.reduce(pair, pose1, pose2, "soft_distance", shape1={"axes": axes}), ValueError, "by shapes"),
            (lambda: at.contacts(pair, pose1, pose2, shape1={"axes": -axes}), abut.Error, "axis 0 is -0.2")):
        with pytest.raises(error, match=what):
            call()
    d = at.contacts(pair, pose1, pose2, shape1={"axes": axes}).d.sum()
    g, = torch.autograd.grad(d, axes, create_graph=True)
    with pytest.raises(NotImplementedError, match="only first derivatives by shapes"):
        (g.sum() + axes.sum()).backward()
    with pytest.raises(NotImplementedError, match="only first derivatives by shapes"):
        torch.func.jvp(lambda x: at.contacts(pair, pose1, pose2, shape1={"axes": x}).d, (axes.detach(),), (axes.detach(),))
    with abut.Pair(*pair.bodies, pair.smoothing) as closed:
        at.contacts(closed, pose1, pose2, shape1={"axes": axes})
    with pytest.raises(ValueError, match="closed"):
        at.contacts(closed, pose1, pose2, shape1={"axes": axes})
