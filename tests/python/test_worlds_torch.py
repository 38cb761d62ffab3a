"""abut.torch of worlds: NumPy's answers to the bit, gradients, torch.func, refusals."""
import numpy as np
import pytest
import worlds

torch = pytest.importorskip("torch")

import abut  # noqa: E402
import abut.torch as at  # noqa: E402


@pytest.fixture
def tree(double):
    return worlds.Case(double, "cone-tree-rollout")


def tensors(*arrays):
    return tuple(None if a is None else torch.from_numpy(a) for a in arrays)


def state(case):
    return tensors(*(case.read(name) for name in "qvu"))


def with_grad(*given):
    return tuple(t.clone().requires_grad_() for t in given)


def equal(got, wanted):
    np.testing.assert_array_equal(got.detach().numpy(), wanted)


@pytest.mark.parametrize("name", ["cone-tree-rollout", "cone-boxes-resting", "cone-actuators-rk4"])
def test_equal_to_numpy(context, name):
    case = worlds.Case(context, name)
    q, v, u = (case.read(array) for array in "qvu")
    scene, rng = case.scene, np.random.default_rng(1)
    options = {"mass_scale": rng.uniform(0.5, 2, (len(q), scene.links)).astype(case.dtype),
               "gravity": np.tile(np.array([0, 1, -5], case.dtype), (len(q), 1)), "w": 0.1 * np.ones_like(v)}
    wanted = scene.step(q, v, u, steps=4, record=2, **options)
    given = {key: torch.from_numpy(a).requires_grad_() for key, a in
             {"q": q, "v": v, "u": u, **options}.items() if a is not None}
    got = at.step(scene, **given, steps=4, record=2)
    for field in ("q", "v", "w", "q_record", "v_record"):
        equal(getattr(got, field), getattr(wanted, field))
    assert got.status.dtype == torch.int32 and got.status.tolist() == wanted.status.tolist()
    assert not got.w.requires_grad
    bars = {field + "_bar": rng.normal(size=getattr(wanted, field).shape).astype(case.dtype)
            for field in ("q", "v", "q_record", "v_record")}
    loss = sum((torch.from_numpy(bars[field + "_bar"]) * getattr(got, field)).sum()
               for field in ("q", "v", "q_record", "v_record"))
    loss.backward()
    wrt = [key for key in given if key != "w"]
    g = scene.vjp(q, v, u, steps=4, record=2, made=wanted, wrt=wrt, **options, **bars)
    for key in wrt:
        equal(given[key].grad, getattr(g, key))
    assert given["w"].grad is None


def test_gradcheck(double, tmp_path):
    scene = abut.Scene(worlds.write_scene(tmp_path, **worlds.MIXED), double)
    q, v = worlds.random_states(scene, 2)
    rng = np.random.default_rng(2)
    q[:, 3:7] *= 1.3
    given = with_grad(*tensors(q, v, rng.normal(size=(2, 4, 2)), rng.uniform(0.5, 2, (2, 4)), rng.normal(size=3)))

    def f(q, v, controls, mass_scale, gravity):
        s = at.rollout(scene, q, v, controls, record=2, mass_scale=mass_scale, gravity=gravity)
        return s.q, s.v, s.q_record, s.v_record

    assert torch.autograd.gradcheck(f, given, atol=1e-6, check_forward_ad=True)


def test_steps_are_a_rollout(tree):
    q, v, controls = tensors(*(tree.read(name)[:2] for name in ("q", "v", "u_rollout")))
    one, other = with_grad(q, v, controls), with_grad(q, v, controls)
    s = at.rollout(tree.scene, *one)
    (s.q.square().sum() + s.v.sum() + s.q_record[:, 4].sum()).backward()
    loss, q, v, w = 0, *other[:2], None
    for k in range(controls.shape[1]):
        made = at.step(tree.scene, q, v, other[2][:, k], w=w)
        q, v, w = made.q, made.v, made.w
        loss = loss + (q.sum() if k == 4 else 0)
    equal(q, s.q.detach().numpy())
    (loss + q.square().sum() + v.sum()).backward()
    for a, b in zip(one, other):
        np.testing.assert_allclose(a.grad, b.grad, atol=1e-11 * float(b.grad.abs().max()))


def test_torch_func(tree):
    scene, (q, v, u) = tree.scene, state(tree)
    f = lambda q, v, u: at.step(scene, q, v, u).v.sum()  # noqa: E731
    whole = torch.func.grad(f, (0, 1, 2))(q, v, u)
    each = torch.func.vmap(torch.func.grad(f, (0, 1, 2)))(q, v, u)
    for a, b in zip(each, whole):
        np.testing.assert_allclose(a, b, rtol=1e-12)
    A = torch.func.jacrev(lambda v: at.step(scene, q[0], v, u[0]).v)(v[0])
    rows = [scene.vjp(q[0], v[0], u[0], v_bar=row, wrt=("v",)).v for row in np.eye(scene.nv)]
    np.testing.assert_allclose(A, rows, rtol=1e-12, atol=1e-14)
    mapped = torch.func.vmap(lambda g: at.step(scene, q, v, u, gravity=g).v)(torch.zeros(2, 3, dtype=q.dtype))
    equal(mapped[1], scene.step(q, v, u, gravity=np.zeros(3)).v)


@pytest.mark.parametrize("name", ["cone-tree-rollout", "cone-boxes-resting", "cone-actuators-rk4"])
def test_forward_mode(context, name):
    case = worlds.Case(context, name)
    scene, rng = case.scene, np.random.default_rng(1)
    given = {"q": case.read("q"), "v": case.read("v"), "u": case.read("u")}
    given = {key: x for key, x in given.items() if x is not None}
    given["gravity"] = np.tile(np.array([0, 1, -5], case.dtype), (len(given["q"]), 1))
    along = {key: rng.normal(size=x.shape).astype(case.dtype) for key, x in given.items()}
    wanted = scene.jvp(**given, steps=4, record=2, **{key + "_tangent": x for key, x in along.items()})

    def f(*t):
        s = at.step(scene, **dict(zip(given, t)), steps=4, record=2)
        return s.q, s.v, s.q_record, s.v_record

    primals, tangents = tensors(*given.values()), tensors(*along.values())
    _, moved = torch.func.jvp(f, primals, tangents)
    for got, field in zip(moved, ("q", "v", "q_record", "v_record")):
        equal(got, getattr(wanted, field))
    with torch.autograd.forward_ad.dual_level():
        s = f(*(torch.autograd.forward_ad.make_dual(*both) for both in zip(primals, tangents)))
        equal(torch.autograd.forward_ad.unpack_dual(s[0]).tangent, wanted.q)


def test_forward_jacobians(tree):
    scene, (q, v, u) = tree.scene, state(tree)
    f = lambda q, v, u: at.step(scene, q, v, u, steps=3).v  # noqa: E731
    given = q[0], v[0], u[0]
    for one, other in zip(torch.func.jacfwd(f, (0, 1, 2))(*given), torch.func.jacrev(f, (0, 1, 2))(*given)):
        np.testing.assert_allclose(one, other, atol=1e-12 * float(other.abs().max()))
    each = torch.func.vmap(torch.func.jacfwd(lambda u, q, v: at.step(scene, q, v, u).v))(u, q, v)
    B = scene.transition(*(t.numpy() for t in (q, v, u))).B[:, scene.nv:]
    np.testing.assert_allclose(each, B, rtol=1e-12, atol=1e-12 * np.abs(B).max())
    # The last acceleration counts as constant.
    s, moved = torch.func.jvp(lambda w: at.step(scene, q, v, u, w=w)[:2], (torch.zeros_like(v),), (v,))
    assert not any(t.any() for t in moved)


def test_compile(tree):
    scene, (q, v, u) = tree.scene, state(tree)
    f = lambda v: 2 * at.step(scene, q, v, u).v + 1  # noqa: E731
    a, b = with_grad(v, v)
    torch.compile(f, backend="aot_eager")(a).sum().backward()
    f(b).sum().backward()
    equal(a.grad, b.grad.numpy())


def test_refusals(tree):
    scene, (q, v, u) = tree.scene, state(tree)
    for given, text in [({"q": q[:, 1:]}, "q has shape"), ({"v": v.float()}, "v is torch.float32"),
                        ({"gravity": torch.zeros(5, 3, dtype=q.dtype)}, "do not have the same batch"),
                        ({"steps": -2}, "steps is -2"), ({"controls": u[:, None]}, "not both"),
                        ({"v": v.to("meta")}, "v is on meta")]:
        with pytest.raises(ValueError, match=text):
            at.step(scene, **{"q": q, "v": v, "u": u, **given})
    (v,) = with_grad(v)
    (slope,) = torch.autograd.grad(at.step(scene, q, v, u).v.square().sum(), v, create_graph=True)
    with pytest.raises(NotImplementedError, match="steps of worlds have only first derivatives"):
        slope.sum().backward()
    f = lambda v: at.step(scene, q, v, u).v.square().sum()  # noqa: E731
    for one in (torch.func.grad, torch.func.jacfwd):
        for other in (torch.func.grad, torch.func.jacfwd):
            with pytest.raises(NotImplementedError, match="steps of worlds have only first derivatives"):
                one(lambda v: other(f)(v).sum())(v.detach())


def test_springs(double):
    """Numbers of springs have gradients, and no tangents."""
    finger = worlds.Finger(double)
    law = torch.from_numpy(finger.scene.springs()).requires_grad_()
    q, v, controls = with_grad(*tensors(finger.q, finger.v, finger.controls))
    made = at.rollout(finger.scene, q, v, controls, springs=law)
    (made.q @ torch.from_numpy(finger.bar[:5]) + made.v @ torch.from_numpy(finger.bar[5:])).backward()
    g = finger.vjp(record=1, wrt=("q", "springs"), springs=law.detach().numpy())
    equal(law.grad, g.springs)
    equal(q.grad, g.q)
    def end(numbers):
        return at.step(finger.scene, q, v, springs=numbers).q
    with pytest.raises(NotImplementedError, match="no tangents"):
        torch.func.jvp(end, (law.detach(),), (torch.ones(1, 6, dtype=torch.float64),))
