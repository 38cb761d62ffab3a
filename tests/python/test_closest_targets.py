"""bench/peers/closest_targets.py on a few problems made here: what its page says of the methods must hold roughly, and what it steps by
must be the residual's derivative."""
import pathlib
import sys

import numpy as np
import pytest

import abut

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "bench" / "peers"))
import closest_targets as ct  # noqa: E402


@pytest.fixture(scope="module")
def problems():
    return ct.problems_of(ct.made(20, 10, np.random.default_rng(3)), abut.Context("host", precision="f64"))


def quantiles(problems, name):
    row = ct.measure(problems, name)
    print(name, row)
    assert np.isfinite(row["quantiles"]).all()
    return np.array(row["quantiles"])


def test_an_icosahedron_has_its_faces():
    unit = ct.icosahedron()
    faces = ct.faces_of(unit)
    assert np.allclose(np.linalg.norm(unit, axis=1), 1) and len(faces) == 20
    assert (np.bincount(faces.ravel()) == 5).all()


def test_targets_lie_on_their_shapes(problems):
    for shapes, target in ((problems.first, problems.target1), (problems.second, problems.target2)):
        point = abut.Shape("sphere", 0., context=shapes[0].context)
        poses = np.concatenate([target, np.tile([1., 0, 0, 0], (len(target), 1))], 1)
        d = abut.closest(shapes, point, None, poses, one=problems.pair).d
        assert np.abs(d).max() < 1e-12


def test_steps_follow_the_residual(problems):
    pose = problems.start
    r, answer = ct.residual(problems, pose)
    J = ct.slope(answer, pose, ("finite", {}), 0)
    twist = 1e-6 * np.random.default_rng(0).normal(size=(len(pose), 6))
    ahead, back = (ct.residual(problems, ct.moved(pose, s * twist)) for s in (1, -1))
    # Rows of body 2 are turned into the world, at another pose by another rotation.
    turn = [np.einsum("nij,nkj,nk->ni", ct.rotations(pose), ct.rotations(ct.moved(pose, s * twist)), x[0][:, 3:6])
            for s, x in ((1, ahead), (-1, back))]
    found = (ahead[0] - back[0]) / 2
    found[:, 3:6] = (turn[0] - turn[1]) / 2
    off = np.abs(found - np.einsum("nij,nj->ni", J, twist)).max(1)
    assert np.median(off) < 1e-11 and np.mean(off < 1e-9) > 0.95  # but where a closest point leaps between


def test_gumbel_reaches_most_and_differences_few(problems):
    gumbel, finite = (quantiles(problems, name) for name in ("gumbel, 0.1 L", "finite, h 1e-6"))
    assert gumbel[0, 2] < 1e-28 and gumbel[1, 3] < 1e-28
    assert finite[0, 2] > 1e-2


def test_gaussian_reaches_vertices(problems):
    assert quantiles(problems, "gaussian, M 20, epsilon 0.3")[1, 2] < 1e-28


def test_continued_reaches_faces_too(problems):
    assert quantiles(problems, "gumbel, 0.1 to 0.001 L, continued")[0, 3] < 1e-20
    assert quantiles(problems, "gumbel, 0.1 and 0.02 L, continued, nudged")[:, 4].max() < 1e-6
