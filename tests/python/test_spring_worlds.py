"""Worlds whose contacts are springs, of NumPy arrays: golden answers, their numbers' gradients, refusals."""
import numpy as np
import pytest
import worlds

import abut


@pytest.fixture
def finger(context):
    return worlds.Finger(context)


def near(got, wanted, context):
    close = 1e-7 if context.precision == "f64" else 2e-2
    np.testing.assert_allclose(got, wanted, rtol=0, atol=close * np.abs(wanted).max())


def test_numbers(context, tmp_path):
    scene = worlds.Finger(context).scene
    numbers = scene.springs()
    assert numbers.shape == (1, 6) and numbers.dtype == context.dtype and scene.contacts == 1
    np.testing.assert_allclose(numbers, [[5000, 0.5, 0.1, 0.01, 5e-4, 2e-4]], rtol=1e-6)
    with pytest.raises(abut.Error, match="the contacts of the scene are not springs"):
        abut.Scene(worlds.write_scene(tmp_path, **worlds.FREE), context).springs()


def test_rollout(finger, context):
    got = finger.scene.step(finger.q, finger.v, controls=finger.controls, record=1, want=("multipliers",))
    close = 1e-10 if context.precision == "f64" else 1e-5
    np.testing.assert_allclose(got.q_record, finger.expected["euler_2_q"][1:], atol=close)
    assert got.status == abut.WorldStatus.OK and got.multipliers.shape == (1, 3)


def test_gradients(finger, context):
    wrt = ("q", "v", "springs", "friction", "stiffness")
    g = finger.vjp(wrt=wrt)
    near(g.q, finger.expected["euler_2_q0_bar"], context)
    near(g.v, finger.expected["euler_2_v0_bar"], context)
    law = finger.expected["euler_2_parameters_bar"]
    near(g.springs[0], law, context)
    # In the scene's place, the same numbers: then friction counts for nothing.
    given = finger.vjp(wrt=wrt, springs=finger.scene.springs(), friction=[7.0])
    np.testing.assert_array_equal(given.springs, g.springs)
    assert given.friction == 0 and g.friction == g.springs[0, 1]
    np.testing.assert_allclose(g.stiffness, 5000 * g.springs[:, 0], rtol=1e-5)


def test_worlds_of_their_own(double):
    """Numbers of each world; their gradient against differences."""
    finger = worlds.Finger(double)
    law = np.tile(finger.scene.springs(), (3, 1, 1))
    law[1, 0, 0] *= 0.5
    law[2, 0, 1] = 0.0
    got = finger.scene.step(finger.q, finger.v, controls=finger.controls, springs=law)
    for one, own in zip(got.q, law):
        np.testing.assert_array_equal(one, finger.scene.step(finger.q, finger.v, controls=finger.controls, springs=own).q)
    assert len({tuple(q) for q in got.q}) == 3
    along, h = law * [[1, -2, 0.5, 1, -1, 0.3]], 1e-6
    g = finger.vjp(wrt=("springs",), springs=law).springs
    quotient = (finger.value(springs=law + h * along) - finger.value(springs=law - h * along)) / (2 * h)
    np.testing.assert_allclose((g * along).sum((1, 2)), quotient, rtol=1e-5)


ROLLING = {"contact_model": "spring", "links": [
    {"bodies": [{"plane": [5, 5]}]},
    {"joint": {"type": "free"}, "position": [0, 0, 0.1], "density": 1000, "bodies": [{"sphere": 0.1}]}],
    "pairs": [{"a": 1, "b": 0, "friction": 0.8, "contact": {"k": 1e5, "dissipation": "smooth"}}]}


def test_at_contacts(context, tmp_path):
    """A ball without a cloud has one contact, and rolls on; its forces are by slot."""
    scene = abut.Scene(worlds.write_scene(tmp_path, **ROLLING), context)
    got = scene.step(scene.start(), [1, 0, 0, 0, 10, 0], steps=100, want=("multipliers",))
    assert got.status == abut.WorldStatus.OK and got.multipliers.shape == (scene.contacts, 3)
    np.testing.assert_allclose(got.v[[0, 4]], [1, 10], rtol=1e-3)
    np.testing.assert_allclose(got.multipliers.sum(0)[0], 9.81 * 1000 * 4 / 3 * np.pi * 1e-3, rtol=1e-2)


def test_gradients_at_contacts(double, tmp_path):
    """By the springs' numbers and the state, against differences, through implicit steps."""
    scene = abut.Scene(worlds.write_scene(tmp_path, **ROLLING), double)
    q, v, law = scene.start(), np.array([0.7, 0.1, -0.2, 0.3, 5, 0.4]), scene.springs()
    rng = np.random.default_rng(3)
    bar, v_along, law_along, h = rng.normal(size=6), rng.normal(size=6), law * rng.normal(size=law.shape), 1e-6

    def value(by):
        return bar @ scene.step(q, v + by * v_along, springs=law + by * law_along, steps=5).v
    g = scene.vjp(q, v, springs=law, steps=5, v_bar=bar, wrt=("v", "springs"))
    quotient = (value(h) - value(-h)) / (2 * h)
    np.testing.assert_allclose(g.v @ v_along + (g.springs * law_along).sum(), quotient, rtol=1e-6)


def test_refusals(finger, context):
    scene, q, v = finger.scene, finger.q, finger.v
    with pytest.raises(ValueError, match=r"springs has shape \(6,\), not \(..., 1, 6\)"):
        scene.step(q, v, springs=np.ones(6))
    with pytest.raises(abut.Error, match="the contacts of the scene are not springs"):
        soft = worlds.Case(context, "cone-boxes-resting").scene
        soft.vjp(soft.start(), np.zeros(soft.nv), v_bar=np.ones(soft.nv), wrt=("springs",))
    law = scene.springs()
    law[0, 5] = 0.0
    assert scene.step(q, v, springs=law).status == abut.WorldStatus.BAD_INPUT
    tangents = scene.jvp(q, v, springs=scene.springs(), v_tangent=np.ones(5))
    np.testing.assert_array_equal(tangents.q, scene.jvp(q, v, v_tangent=np.ones(5)).q)
