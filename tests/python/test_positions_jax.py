"""abut.jax of poses and distances: NumPy's answers to the bit, derivatives, programs, refusals."""
import numpy as np
import positions
import pytest

jax = pytest.importorskip("jax")
jax.config.update("jax_enable_x64", True)

import abut.jax as aj  # noqa: E402
import jax.numpy as jnp  # noqa: E402
from jax.test_util import check_grads  # noqa: E402

PAIRS = [("lower", "post"), 2, ("ball", "upper")]
CALLS = {"poses": aj.poses, "distances": lambda scene, q: aj.distances(scene, q, PAIRS)}


@pytest.fixture
def scene(double, tmp_path):
    return positions.scene_of(double, tmp_path)


def test_equal_to_numpy(context, tmp_path):
    scene = positions.scene_of(context, tmp_path)
    q = positions.positions(scene).reshape(2, 3, -1)
    np.testing.assert_array_equal(jax.jit(lambda x: aj.poses(scene, x))(q), scene.poses(q))
    for words in ({}, {"smooth": False}, {"temperature": 1e-3}):
        got = jax.jit(lambda x, words=words: aj.distances(scene, x, PAIRS, **words))(q)
        np.testing.assert_array_equal(got, scene.distances(q, PAIRS, **words).d)
    assert aj.distances(scene, q).shape == (2, 3, 5)
    assert aj.distances(scene, q, []).shape == (2, 3, 0)


@pytest.mark.parametrize("name", CALLS)
def test_derivatives(scene, name):
    """In both modes, along the numbers of q."""
    check_grads(lambda x: CALLS[name](scene, x), (jnp.asarray(positions.positions(scene)),), order=1, modes=("fwd", "rev"),
                atol=1e-5, rtol=1e-5, eps=1e-6)


def test_jacobian(scene):
    q = positions.positions(scene)
    wanted = scene.distances(q, PAIRS, grad=True).grad
    for made in (jax.jacrev, jax.jacfwd):
        got = jax.vmap(made(lambda x: aj.distances(scene, x, PAIRS)))(q)
        np.testing.assert_allclose(got, wanted, atol=1e-14)


def test_goal(scene):
    """The end of the arm goes to a place by the gradient of its pose: inverse kinematics."""
    goal = jnp.array([0.3, 0.2])

    @jax.jit
    def off(q):
        pose = aj.poses(scene, q)[2]
        along = jnp.array([1 - 2 * pose[6] ** 2, 2 * pose[3] * pose[6]])
        return ((pose[:2] + 0.35 * along - goal) ** 2).sum()

    q = jnp.asarray(scene.start()).at[:2].set([0.3, 0.3])
    step = jax.jit(lambda q: q - 2.0 * jax.grad(off)(q))
    for _ in range(100):
        q = step(q)
    assert off(q) < 1e-8


@pytest.mark.parametrize("name", CALLS)
def test_no_second_ones(scene, name):
    q = jnp.asarray(scene.start())
    with pytest.raises(NotImplementedError, match="have only first derivatives"):
        jax.hessian(lambda x: CALLS[name](scene, x).sum())(q)


def test_refusals(scene):
    with pytest.raises(ValueError, match=r"q has shape \(3,\)"):
        aj.poses(scene, jnp.zeros(3))
    with pytest.raises(ValueError, match="float32"):
        aj.distances(scene, jnp.zeros(scene.nq, jnp.float32))
    run = jax.jit(lambda x: aj.distances(scene, x, temperature=-1.0))
    with pytest.raises((ValueError, jax.errors.JaxRuntimeError), match="temperature"):
        run(jnp.asarray(scene.start())).block_until_ready()
