"""tools/compare_laws.py: what it measures of cases that take a second, and what it makes of a law that is not there."""
import sys

import conftest
import numpy as np
import pytest

import abut

sys.path.insert(0, str(conftest.ROOT / "tools"))
import compare_laws as laws  # noqa: E402


@pytest.fixture(scope="module")
def double():
    return abut.Context("host", "f64")


def test_slide(double, tmp_path):
    """Both laws stop a box where friction does; the gradient is v / (mu g)."""
    for law, most in (("cone", 0.02), ("lcp", 0.006)):
        trial = laws.Trial(double, tmp_path, laws.CASES["slide"], law, 2)
        assert abs(trial.error()) < most
        gradient, quotient = trial.gradient()
        np.testing.assert_allclose([gradient, quotient], 2.0 / (0.5 * laws.G), rtol=0.02)


def test_drop(double, tmp_path):
    """Hard contacts bounce as they are told, and their gradient is that of the closed form."""
    trial = laws.Trial(double, tmp_path, laws.CASES["drop"], "lcp", 2)
    assert abs(trial.error()) < 1e-6
    time = laws.CASES["drop"].until - np.sqrt(2 * laws.HEIGHT / laws.G)
    speed = laws.RESTITUTION * np.sqrt(2 * laws.G * laws.HEIGHT)
    assert trial.gradient()[0] == pytest.approx((laws.G * time - speed) / laws.G, abs=2e-3)


def test_words():
    assert laws.print_gradient(0.5, 1.0) == "0.50"
    assert laws.print_gradient(-3.0, 1.0) == "-3.00, the wrong way"
    assert laws.print_gradient(1e-5, 1.0) == "0.00, no slope"
    assert laws.print_gradient(0.0, 0.0) == "both 0"


def test_absent(double, tmp_path, monkeypatch):
    """A law that scenes know and this build does not compute is told as absent; what else is wrong ends it."""
    def refuse(*_):
        raise abut.Error(-1, "contact_model: \"spring\" is not computed here")
    monkeypatch.setattr(laws, "Trial", refuse)
    assert laws.row(double, tmp_path, "slide", "spring") == "| slide | spring | absent | | | |"
    monkeypatch.undo()
    with pytest.raises(abut.Error, match="no contact model"):
        laws.row(double, tmp_path, "slide", "stiff")
