"""Boxed linear complementarity problems from Python."""
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
