"""Worlds of pyopencl's arrays: to the bit what NumPy's are."""
import numpy as np
import pytest
import worlds

import abut

cl = pytest.importorskip("pyopencl")
import pyopencl.array as cla  # noqa: E402

import abut.opencl as ao  # noqa: E402


@pytest.fixture(scope="module")
def queue():
    for platform in cl.get_platforms():
        if "Portable" in platform.name:
            return cl.CommandQueue(cl.Context([platform.get_devices()[0]]))
    pytest.skip("PoCL is not there")


@pytest.mark.parametrize("name", ["cone-tree-rollout", "cone-boxes-resting"])
def test_equal_to_numpy(queue, name):
    with abut.Context(queue=queue) as context:
        case = worlds.Case(context, name)
        q, v, u = (case.read(array) for array in "qvu")
        friction = np.full((len(q), case.scene.pairs), 0.4, np.float32) if case.scene.pairs else None
        there = [None if a is None else cla.to_device(queue, a) for a in (q, v, u, friction)]
        got = ao.step(case.scene, *there[:3], friction=there[3], steps=4, record=2, want=("mass", "bias"))
        wanted = case.scene.step(q, v, u, friction=friction, steps=4, record=2, want=("mass", "bias"))
        for field in ("q", "v", "w", "q_record", "v_record", "bias"):
            array = getattr(got, field)
            assert isinstance(array, cla.Array)
            np.testing.assert_array_equal(array.get(), getattr(wanted, field))
        np.testing.assert_array_equal(got.mass.get(), np.tril(wanted.mass))
        np.testing.assert_array_equal(got.status, wanted.status)
        further = ao.step(case.scene, got.q, got.v, there[2], w=got.w, friction=there[3])
        again = case.scene.step(wanted.q, wanted.v, u, w=wanted.w, friction=friction)
        np.testing.assert_array_equal(further.v.get(), again.v)


def test_refusals(queue, tmp_path):
    path = worlds.write_scene(tmp_path, **worlds.FREE)
    with abut.Context(queue=queue) as context:
        scene = abut.Scene(path, context)
        q, v = cla.zeros(queue, (3, 7), np.float32), cla.zeros(queue, (3, 6), np.float32)
        with pytest.raises(ValueError, match="q is not a pyopencl array"):
            ao.step(scene, np.zeros((3, 7)), v)
        with pytest.raises(ValueError, match=r"v has shape \(3, 7\)"):
            ao.step(scene, q, q)
        with pytest.raises(ValueError, match=r"gravity has shape"):
            ao.step(scene, q, v, gravity=cla.zeros(queue, (3,), np.float32))
    with abut.Context("host") as context, pytest.raises(ValueError, match="without a queue"):
        ao.step(abut.Scene(path, context), q, v)


def test_springs(queue):
    with abut.Context(queue=queue) as context:
        finger = worlds.Finger(context)
        law = np.array([[[2500, 0.2, 0.1, 0.01, 5e-4, 2e-4]]], np.float32)
        given = [finger.q[None], finger.v[None], law]
        q, v, there = (cla.to_device(queue, a) for a in given)
        got = ao.step(finger.scene, q, v, steps=20, springs=there)
        wanted = finger.scene.step(*given[:2], steps=20, springs=law)
        np.testing.assert_array_equal(got.q.get(), wanted.q)
        assert np.abs(wanted.q - finger.scene.step(*given[:2], steps=20).q).max() > 0
