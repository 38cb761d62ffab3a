"""abut.jax of contact forces: NumPy's answers to the bit, gradients, refusals."""
import forces
import numpy as np
import pytest

jax = pytest.importorskip("jax")
jax.config.update("jax_enable_x64", True)

import abut.jax as aj  # noqa: E402
from jax.test_util import check_grads  # noqa: E402

PAIRS = [("box", "floor"), ("box", "ball"), 2]
FAILS = (ValueError, jax.errors.JaxRuntimeError)


@pytest.fixture
def scene(double, tmp_path):
    return forces.scene_of(double, tmp_path)


def test_equal_to_numpy(context, tmp_path):
    scene = forces.scene_of(context, tmp_path)
    given = forces.states(scene)
    got = jax.jit(lambda *s: aj.contact_forces(scene, *s, pairs=PAIRS))(*given)
    wanted = scene.contact_forces(*given, pairs=PAIRS)
    np.testing.assert_array_equal(got.link, wanted.link)
    for name in ("pair", "normal"):
        np.testing.assert_allclose(getattr(got, name), getattr(wanted, name), rtol=1e-6)
    np.testing.assert_array_equal(got.touching, wanted.touching)
    assert got.touching.dtype == bool and (got.status == 0).all()


def test_gradients(scene):
    def loss(*state):
        f = aj.contact_forces(scene, *state, pairs=PAIRS)
        return (f.link[..., :3] ** 2).sum() + f.link[..., 3:].sum() + (f.pair[..., 0] + 2 * f.pair[..., 2]).sum()

    check_grads(loss, forces.states(scene), order=1, modes=("rev",), atol=1e-3, rtol=1e-4, eps=1e-6)


def test_refusals(scene, double, tmp_path):
    q, v, u = forces.states(scene)
    run = jax.jit(lambda x: jax.jvp(lambda y: aj.contact_forces(scene, q, y, u).link, (x,), (x,)))
    with pytest.raises(NotImplementedError, match=r"\(reverse mode\), but no tangents"):
        run(v)
    with pytest.raises(NotImplementedError, match="forces of contacts have only first derivatives"):
        jax.grad(lambda x: jax.grad(lambda y: (aj.contact_forces(scene, q, y, u).link ** 2).sum())(x).sum())(v)
    hard = forces.scene_of(double, tmp_path, contact_model="lcp")
    assert aj.contact_forces(hard, q, v, u).link.shape == (4, 5, 6)
    with pytest.raises(FAILS, match="gradients only with soft contacts"):
        jax.jit(jax.grad(lambda x: aj.contact_forces(hard, q, x, u).link.sum()))(v).block_until_ready()
