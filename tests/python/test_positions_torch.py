"""abut.torch of poses and distances: NumPy's answers to the bit, derivatives, refusals."""
import numpy as np
import positions
import pytest

torch = pytest.importorskip("torch")

import abut.torch as at  # noqa: E402

PAIRS = [("lower", "post"), 2, ("ball", "upper")]
CALLS = {"poses": at.poses, "distances": lambda scene, q: at.distances(scene, q, PAIRS)}


@pytest.fixture
def scene(double, tmp_path):
    return positions.scene_of(double, tmp_path)


def test_equal_to_numpy(context, tmp_path):
    scene = positions.scene_of(context, tmp_path)
    q = positions.positions(scene).reshape(2, 3, -1)
    np.testing.assert_array_equal(at.poses(scene, torch.from_numpy(q)).numpy(), scene.poses(q))
    for words in ({}, {"smooth": False}, {"temperature": 1e-3}):
        got = at.distances(scene, torch.from_numpy(q), PAIRS, **words)
        np.testing.assert_array_equal(got.numpy(), scene.distances(q, PAIRS, **words).d)
    assert at.distances(scene, torch.from_numpy(q), []).shape == (2, 3, 0)


@pytest.mark.parametrize("name", CALLS)
def test_derivatives(scene, name):
    """In both modes, along the numbers of q."""
    q = torch.from_numpy(positions.positions(scene)).requires_grad_()
    assert torch.autograd.gradcheck(lambda x: CALLS[name](scene, x), (q,), eps=1e-6, atol=1e-5, check_forward_ad=True)


def test_jacobian(scene):
    q = positions.positions(scene)
    wanted = scene.distances(q, PAIRS, grad=True).grad
    for made in (torch.func.jacrev, torch.func.jacfwd):
        got = torch.func.vmap(made(lambda x: at.distances(scene, x, PAIRS)))(torch.from_numpy(q))
        np.testing.assert_allclose(got.numpy(), wanted, atol=1e-14)


@pytest.mark.parametrize("name", CALLS)
def test_no_second_ones(scene, name):
    q = torch.from_numpy(scene.start()).requires_grad_()
    slope, = torch.autograd.grad(CALLS[name](scene, q).square().sum(), q, create_graph=True)
    with pytest.raises(NotImplementedError, match="have only first derivatives"):
        slope.sum().backward()


def test_refusals(scene):
    with pytest.raises(ValueError, match=r"q has shape \(3,\)"):
        at.poses(scene, torch.zeros(3, dtype=torch.float64))
    with pytest.raises(ValueError, match="float32"):
        at.distances(scene, torch.zeros(scene.nq))
