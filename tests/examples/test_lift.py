"""examples/lift.py, much shortened: its plans get better, and MuJoCo goes the same way by the same controls."""
import pathlib
import sys

import numpy as np
import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "examples"))
import lift  # noqa: E402


@pytest.fixture(scope="module")
def loaded():
    return lift.load("host")


def test_rounds_lower_the_cost(loaded):
    _, scene, start = loaded
    planner = lift.Planner(scene, start.u)
    costs = [planner.improve(start.q, start.v) for _ in range(4)]
    for before, after in costs:
        assert np.isfinite(before) and after <= before
    assert [before for before, _ in costs[1:]] == pytest.approx([after for _, after in costs[:-1]], rel=1e-6)
    assert costs[-1][1] < 0.5 * costs[0][0]


def grip(start):
    """The fingers about the block, which close."""
    q = start.q.copy()
    q[7:] = *q[:2], 0.007, np.pi / 6, 0.008, 0.008
    return start._replace(q=q, u=np.append(q[7:11], [1e-3, 1e-3]))


@pytest.mark.parametrize("held", [False, True])
def test_the_slope_of_a_plan_is_that_of_differences(loaded, held):
    """A and B of a whole plan against rollouts, away from the block and beside it."""
    _, scene, start = loaded
    at = grip(start) if held else start
    planner, u = lift.Planner(scene, at.u), np.tile(at.u, (lift.KNOTS, 1))

    def end(u):
        return scene.step(at.q, at.v, controls=np.repeat(u, lift.SUBSTEPS, axis=0), record=1)

    made = end(u)
    nominal = made._replace(q_record=made.q_record[None], v_record=made.v_record[None])
    A, B = planner.models(at.q, at.v, u, nominal)
    way = np.random.default_rng(1).normal(size=u.shape) * lift.FARTHEST
    x = np.zeros(2 * scene.nv)
    for k in range(lift.KNOTS):
        x = A[k] @ x + B[k] @ way[k]
    step = 1e-5
    left, right = end(u - step * way), end(u + step * way)
    difference = np.concatenate([scene.subtract(right.q, left.q), right.v - left.v]) / (2 * step)
    assert np.isfinite(x).all() and np.abs(x).max() > 1e-3
    assert np.abs(x - difference).max() < 1e-6 * np.abs(difference).max()


def test_slopes_of_the_cost_are_those_of_differences(loaded):
    _, scene, start = loaded
    q, v = start.q.copy(), np.random.default_rng(0).normal(size=scene.nv)
    q[9], aim = 0.03, (0.01, 0.02, 0.06)
    J = lift.slopes()
    for i, way in enumerate(np.eye(2 * scene.nv)):
        ends = [lift.residuals(scene.add(q, s * way[:scene.nv])[None], (v + s * way[scene.nv:])[None], aim)[0]
                for s in (1e-6, -1e-6)]
        assert np.abs((ends[0] - ends[1]) / 2e-6 - J[:, i]).max() < 1e-6, i


def test_mujoco_comes_over_the_block_as_abut_does(loaded):
    model, scene, start = loaded
    path, controls, costs = lift.control(lift.Planner(scene, start.u), lift.in_abut(scene), start, 5)
    replayed = lift.replay(lift.in_mujoco(model, start), start, controls)
    off = [np.linalg.norm(lift.places(way[-1][0][None])[0]) for way in (path, replayed)]
    assert np.hypot(*start.q[:2]) > 0.07 and max(off) < 0.01
    assert abs(off[0] - off[1]) < 1e-4
    assert costs[-1, 1] < 0.1 * costs[0, 0]


def test_both_lift_a_block_between_the_fingers(loaded):
    model, scene, start = loaded
    held = grip(start)
    path, controls, _ = lift.control(lift.Planner(scene, held.u), lift.in_abut(scene), held, 8)
    replayed = lift.replay(lift.in_mujoco(model, held), held, controls)
    assert lift.height(path)[-1] > 0.015
    assert abs(lift.height(path)[-1] - lift.height(replayed)[-1]) < 0.005
