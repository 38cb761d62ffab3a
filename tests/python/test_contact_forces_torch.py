"""abut.torch of contact forces: NumPy's answers, gradients, refusals."""
import abut
import forces
import numpy as np
import pytest

torch = pytest.importorskip("torch")

import abut.torch as at  # noqa: E402

PAIRS = [("box", "floor"), ("box", "ball"), 2]


@pytest.fixture
def scene(double, tmp_path):
    return forces.scene_of(double, tmp_path)


def tensors(scene):
    return [torch.from_numpy(array) for array in forces.states(scene)]


def test_equal_to_numpy(context, tmp_path):
    scene = forces.scene_of(context, tmp_path)
    got = at.contact_forces(scene, *tensors(scene), pairs=PAIRS)
    wanted = scene.contact_forces(*forces.states(scene), pairs=PAIRS)
    np.testing.assert_array_equal(got.link.numpy(), wanted.link)
    for name in ("pair", "normal"):
        np.testing.assert_allclose(getattr(got, name).numpy(), getattr(wanted, name), rtol=1e-6)
    np.testing.assert_array_equal(got.touching.numpy(), wanted.touching)
    assert got.touching.dtype == torch.bool and got.status.tolist() == [0] * 4


def test_gradients(scene):
    def loss(*state):
        f = at.contact_forces(scene, *state, pairs=PAIRS)
        return (f.link[..., :3] ** 2).sum() + f.link[..., 3:].sum() + (f.pair[..., 0] + 2 * f.pair[..., 2]).sum()

    given = [t.requires_grad_() for t in tensors(scene)]
    assert torch.autograd.gradcheck(loss, given, eps=1e-6, atol=1e-3, rtol=1e-4)


def test_refusals(scene, double, tmp_path):
    q, v, u = tensors(scene)
    with pytest.raises(NotImplementedError, match=r"\(reverse mode\), but no tangents"):
        torch.func.jvp(lambda y: at.contact_forces(scene, q, y, u).link, (v,), (v,))
    hard = forces.scene_of(double, tmp_path, contact_model="lcp")
    v.requires_grad_()
    f = at.contact_forces(hard, q, v, u)
    with pytest.raises(abut.Error, match="gradients only with soft contacts"):
        f.link.sum().backward()
    slope, = torch.autograd.grad(at.contact_forces(scene, q, v, u).link.square().sum(), v, create_graph=True)
    with pytest.raises(NotImplementedError, match="forces of contacts have only first derivatives"):
        slope.sum().backward()
