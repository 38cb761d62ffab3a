"""Boxed linear complementarity problems from Python."""
import json
import pathlib

import abut
import numpy as np
import pytest

GOLDEN = pathlib.Path(__file__).parent.parent / "golden-dynamics"
ONE = {"A": np.diag([2.0, 1, 1]), "b": [-4, 3, -0.5], "parent": [-1, 0, 0], "mu": [0, 0.5, 0.5]}


def test_one(context):
    got = abut.solve_lcp(**ONE, context=context)
    np.testing.assert_allclose(got.f, [2, -1, 0.5], rtol=1e-6)
    np.testing.assert_allclose(got.w, [0, 2, 0], atol=1e-5)
    assert got.classes.tolist() == [abut.LcpClass.CLAMPING, abut.LcpClass.LOWER, abut.LcpClass.CLAMPING]
    assert abut.LcpEnd(int(got.how)) == abut.LcpEnd.PIVOTED and got.how.shape == ()
    again = abut.solve_lcp(**ONE, guess=got.classes, context=context)
    assert abut.LcpEnd(int(again.how)) == abut.LcpEnd.WARM
    np.testing.assert_allclose(again.f, got.f, rtol=1e-6)


def test_golden(contexts):
    problems, expected = (np.load(GOLDEN / "lcp-random" / f"{file}.npz") for file in ("problems", "expected"))
    got = abut.solve_lcp(problems["A"], problems["b"], problems["parent"], mu=problems["mu"], context=contexts["f64"])
    np.testing.assert_allclose(got.f, expected["f"], atol=1e-9 * np.abs(expected["f"]).max())
    assert (got.classes == expected["classes"]).all() and (got.how <= abut.LcpEnd.LEMKE).all()
    assert (got.residual <= 1e-10 * np.abs(problems["b"]).max(-1)).all()


def test_boxes(context):
    A = np.array([[2.0, 0], [0, 4]])
    got = abut.solve_lcp(np.stack([A, A]), [[-3, 1], [-3, 9]], [-1, -2], box=[0, 1], context=context)
    np.testing.assert_allclose(got.f, [[1.5, -0.25], [1.5, -1]], rtol=1e-6)


def test_shapes(context):
    none = abut.solve_lcp(np.zeros((0, 3, 3)), np.zeros((0, 3)), [-1, 0, 0], context=context)
    assert none.f.shape == (0, 3) and none.how.shape == (0,)
    for wrong in ({"A": np.zeros((3, 2))}, {"b": [0, 0]}, {"parent": [-1, 0]}, {"parent": [-1, 0, 2**32]},
                  {"parent": [-1.0, 0, 0]}, {"mu": [0, 1]}, {"guess": [0, 1, 7]}):
        with pytest.raises(ValueError):
            abut.solve_lcp(**{**ONE, **wrong}, context=context)
    with pytest.raises(abut.Error):
        abut.solve_lcp(**{**ONE, "parent": [-1, 0, 1]}, context=context)
    bad = abut.solve_lcp(**{**ONE, "b": [np.nan, 0, 0]}, context=context)
    assert abut.LcpEnd(int(bad.how)) == abut.LcpEnd.BAD and not bad.f.any()


@pytest.mark.parametrize("gap, speeds, energy", [
    (0.0, [-0.6, 0.4, 0.4, 0.4, 0.4], 1.0), (1e-4, [-0.54, 0.39, 0.39, 0.39, 0.39], 0.89),
    (1e-3, [-0.17, -0.12, 0.21, 0.37, 0.71], 0.73), (2.1e-3, [0.0, 0.0, 0.0, 0.0, 1.0], 1.0)])
def test_newtons_cradle(gap, speeds, energy, contexts, tmp_path):
    """The figures of docs/lcp.md: a ball of 1 m/s hits four in a row, with steps of 2 ms and a restitution of 1."""
    path = tmp_path / "cradle.scene.json"
    path.write_text(json.dumps({
        "contact_model": "lcp", "timestep": 0.002, "gravity": [0, 0, 0],
        "links": [{"joint": {"type": "slide", "axis": [1, 0, 0]}, "density": 1000, "position": [i * (0.1 + gap), 0, 0],
                   "bodies": [{"sphere": 0.05}]} for i in range(5)],
        "pairs": [{"a": i, "b": i + 1, "restitution": 1, "friction": 0} for i in range(4)]}))
    start = 0.05 if gap else 0.0  # of the first ball, before the others
    with abut.Scene(path, contexts["f64"]) as scene:
        at = scene.step([-start, 0.0, 0, 0, 0], [1.0, 0, 0, 0, 0], steps=100)
    assert at.status == 0
    np.testing.assert_allclose(at.v, speeds, atol=6e-3 if 0 < gap < 2e-3 else 5e-4)
    assert at.v.sum() == pytest.approx(1.0, abs=1e-4) and (at.v ** 2).sum() == pytest.approx(energy, abs=6e-3)
