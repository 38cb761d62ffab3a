"""examples/cheetah.py, much shortened, on a planar hopper of this test; and on gymnasium's model where its wheel is there."""
import importlib.util
import pathlib
import sys

import numpy as np
import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "examples"))
jax = pytest.importorskip("jax", reason="Python's jax is not there")
mujoco = pytest.importorskip("mujoco", reason="Python's mujoco is not there")
import abut  # noqa: E402
import abut.mujoco  # noqa: E402
import cheetah  # noqa: E402

HOPPER = """<mujoco><option timestep="0.01"/>
  <default><geom friction="0.8" condim="3"/><joint damping="1" armature="0.1"/></default>
  <worldbody><geom type="plane" size="40 40 1"/>
    <body pos="0 0 0.45">
      <joint type="slide" axis="1 0 0" armature="0" damping="0"/><joint type="slide" axis="0 0 1" armature="0" damping="0"/>
      <joint type="hinge" axis="0 1 0" armature="0" damping="0"/>
      <geom type="capsule" fromto="-0.2 0 0 0.2 0 0" size="0.05" mass="3"/>
      <body pos="-0.2 0 0"><joint name="back" type="hinge" axis="0 1 0" stiffness="30"/>
        <geom type="capsule" fromto="0 0 -0.1 0 0 -0.4" size="0.04" mass="0.5"/></body>
      <body pos="0.2 0 0"><joint name="front" type="hinge" axis="0 1 0" stiffness="30"/>
        <geom type="capsule" fromto="0 0 -0.1 0 0 -0.4" size="0.04" mass="0.5"/></body>
    </body></worldbody>
  <actuator><motor joint="back" gear="30" ctrlrange="-1 1" ctrllimited="true"/>
    <motor joint="front" gear="30" ctrlrange="-1 1" ctrllimited="true"/></actuator></mujoco>"""


@pytest.fixture(scope="module")
def loaded():
    model = mujoco.MjModel.from_xml_string(HOPPER)
    return model, abut.from_mujoco(model, abut.Context("host"))


@pytest.fixture(autouse=True)
def few(monkeypatch):
    monkeypatch.setattr(cheetah, "WORLDS", 8)
    monkeypatch.setattr(cheetah, "CONTROLS", 4)


@pytest.fixture
def begun(loaded):
    """A learner, states on the ground, and what chance decides."""
    scene = loaded[1]
    learner, q, v, rng = cheetah.beginner(scene, 0)
    settled = scene.step(q, v, steps=40)
    return learner, settled.q, settled.v, cheetah.chances(scene, rng)


def slope(scene, begun):
    learner, q, v, chance = begun
    return jax.jit(jax.value_and_grad(lambda actor: cheetah.short_rollout(actor, learner[4], learner[5], scene, q, v,
                                                                          chance["noise"])[0]))


def test_gradients_of_the_loss_are_those_of_differences(loaded, begun, monkeypatch):
    monkeypatch.setattr(cheetah, "LONGEST", 1e12)
    look, actor = slope(loaded[1], begun), begun[0][0]
    gradient = look(actor)[1]
    norm = np.sqrt(sum((np.asarray(g) ** 2).sum() for g in jax.tree.leaves(gradient)))
    assert np.isfinite(norm) and norm > 1e-3
    ends = [float(look(jax.tree.map(lambda x, g: x + s * np.asarray(g) / norm, actor, gradient))[0]) for s in (3e-3, -3e-3)]
    assert (ends[0] - ends[1]) / 6e-3 == pytest.approx(norm, rel=0.02)


def test_the_loss_falls(loaded, begun):
    look, (actor, state, *_) = slope(loaded[1], begun), begun[0]
    losses = []
    for _ in range(10):
        loss, gradient = look(actor)
        assert all(np.isfinite(g).all() for g in jax.tree.leaves(gradient))
        losses.append(float(loss))
        actor, state = cheetah.adam(actor, state, gradient, 2e-3)
    assert losses[-1] < losses[0] - 0.01


def test_gradients_of_states_are_shortened(monkeypatch):
    monkeypatch.setattr(cheetah, "LONGEST", 2.0)
    steep = np.array([[0.01, 0.0], [30.0, 40.0], [np.nan, 1.0], [np.inf, 0.0]], np.float32)
    q, v = cheetah.shorten(None, (steep, np.zeros((4, 3), np.float32)))[0]
    assert q == pytest.approx(np.array([[0.01, 0], [0.3, 0.4], [0, 0], [0, 0]]))
    assert (np.asarray(v) == 0).all()


def test_statistics_are_those_of_all_observations():
    rng = np.random.default_rng(0)
    parts = [rng.normal(3, 2, (n, 4)) for n in (5, 80, 300)]
    kept = 0.0, np.zeros(4), np.zeros(4)
    for part in parts:
        kept = cheetah.merged(kept, part)
    whole = np.concatenate(parts)
    assert kept[0] == len(whole)
    assert kept[1] == pytest.approx(whole.mean(0)) and kept[2] / kept[0] == pytest.approx(whole.var(0))


def test_an_iteration_moves_all_and_sets_back_what_lies_on_its_back(loaded, begun):
    model, scene = loaded
    learner, q, v, chance = begun
    q = q.copy()
    q[0, 2] = 3.0
    chance["anew"][:] = False
    after, q_next, v_next = cheetah.iteration_of(scene)(learner, q, v, chance, np.float32(1e-3))
    for part in (0, 2, 4):
        for old, new in zip(jax.tree.leaves(learner[part]), jax.tree.leaves(after[part])):
            assert np.isfinite(new).all() and (np.asarray(new) != old).any()
    assert np.asarray(q_next)[0] == pytest.approx(chance["q"][0]) and np.asarray(v_next)[0] == pytest.approx(chance["v"][0])
    assert (np.asarray(q_next)[1:] != chance["q"][1:]).all()
    total, states, _ = cheetah.judge(model, after, controls=10)
    assert np.isfinite(total) and states.shape == (11, scene.nq)


def test_the_model_of_gymnasium(capsys):
    if importlib.util.find_spec("gymnasium") is None:
        pytest.skip("the half_cheetah model is not there: pip install --no-deps gymnasium")
    model = mujoco.MjModel.from_xml_path(str(cheetah.model_file()))
    scene = abut.from_mujoco(model, abut.Context("host"))
    learner, curve = cheetah.train(scene, model, 2, 0, 1)
    assert curve.shape == (3, 3) and np.isfinite(curve).all()
    assert capsys.readouterr().out.count("in MuJoCo") == 3


def test_a_missing_model_is_told(monkeypatch):
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(SystemExit, match="pip install --no-deps gymnasium"):
        cheetah.model_file()
