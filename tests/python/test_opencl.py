"""abut.opencl: arrays of pyopencl against the NumPy functions, to the bit."""
import conftest
import numpy as np
import pytest

import abut

cl = pytest.importorskip("pyopencl")
cla = pytest.importorskip("pyopencl.array")
ao = pytest.importorskip("abut.opencl")


@pytest.fixture(scope="module")
def queue():
    for platform in cl.get_platforms():
        for device in platform.get_devices():
            if "Portable Computing" in platform.name:
                return cl.CommandQueue(cl.Context([device]))
    pytest.skip("no PoCL")


@pytest.fixture(scope="module", params=["f32", "f64"])
def pair(request, queue):
    context = abut.Context(precision=request.param, queue=queue)
    return context.pair(*conftest.figure_and_part(context))


def test_equal(queue, pair):
    p1, p2 = (conftest.random_poses(5, pair.dtype, seed) for seed in (1, 2))
    on1, on2 = cla.to_device(queue, p1), cla.to_device(queue, p2)
    wanted = abut.contacts(pair, p1, p2)
    got = ao.contacts(pair, on1, on2)
    for name in ("p", "d", "n", "activity"):
        np.testing.assert_array_equal(getattr(got, name).get(), getattr(wanted, name))
    d = cla.empty(queue, (5, pair.C), pair.dtype)
    some = ao.contacts(pair, on1, on2, out={"d": d})
    assert some.d is d and some.p is None and not some.status.any()
    np.testing.assert_array_equal(d.get(), wanted.d)
    for one, other in zip(ao.vjp(pair, on1, on2, d=d), abut.vjp(pair, p1, p2, d=wanted.d)):
        np.testing.assert_array_equal(one.get(), other)
    along = ao.jvp(pair, on1, on2, tangent2=on1, want=("n",))
    np.testing.assert_array_equal(along.n.get(), abut.jvp(pair, p1, p2, tangent2=p1).n)
    r, s = ao.reduce(pair, on1, on2, "energy"), abut.reduce(pair, p1, p2, "energy", grad=True)
    np.testing.assert_array_equal(r.value, s.value)
    np.testing.assert_array_equal(r.grad2.get(), s.grad2)


def test_one_output_for_two(queue, pair):
    p, d = cla.zeros(queue, (5, 6), pair.dtype), cla.zeros(queue, (5, pair.C), pair.dtype)
    with pytest.raises(abut.Error, match="d and activity overlap in OpenCL memory, and both are written"):
        ao.contacts(pair, p, p, out={"d": d, "activity": d})
    assert not d.get().any()


def test_refusals(queue, pair):
    p = cla.zeros(queue, (5, 6), pair.dtype)
    other = cla.zeros(queue, (5, 6), np.float64 if pair.dtype == np.float32 else np.float32)
    for call, words in ((lambda: ao.contacts(pair, p.get(), p), "pose1 is a ndarray, not a pyopencl array"),
                        (lambda: ao.contacts(pair, p, other), "pose2 has shape .* of float"),
                        (lambda: ao.contacts(pair, p, p[1:4]), "and pose2"),
                        (lambda: ao.contacts(pair, p[1:], p[1:]), "does not begin"),
                        (lambda: ao.contacts(pair, p, p, out={"d": p}), "not .5, "),
                        (lambda: ao.contacts(pair, p, p, out={"e": p}), "'e'"),
                        (lambda: ao.vjp(pair, p, p, d=p), "d has shape"),
                        (lambda: ao.jvp(pair, p, p), "tangent1 or tangent2")):
        with pytest.raises(ValueError, match=words):
            call()
    with abut.Context("host") as context:
        plain = context.pair(*conftest.figure_and_part(context))
        with pytest.raises(ValueError, match="without a queue"):
            ao.contacts(plain, p, p)
    with pytest.raises(ValueError, match="give device or queue, not both"):
        abut.Context("pocl", queue=queue)
