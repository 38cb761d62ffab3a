"""abut.gradcheck: derivatives beside differences, where they agree and where nothing is smooth."""
import numpy as np
import pytest

import abut

# A link that a motor pushes along a rail.
SLIDER = """{"timestep": 0.002, "divergence": 1e6, "pairs": [], "actuators": [{"kind": "motor", "joint": "cart"}], "links": [
    {"name": "cart", "joint": {"type": "slide", "axis": [1, 0, 0]}, "mass": 1, "inertia": [[1, 0, 0], [0, 1, 0], [0, 0, 1]],
     "bodies": []}]}"""


@pytest.fixture(scope="module")
def context():
    return abut.Context("host", precision="f64")


def box(context, half):
    corners = np.array([[x, y, z] for z in (-1, 1) for y in (-1, 1) for x in (-1, 1)]) * half
    faces = [[0, 2, 3, 1], [4, 5, 7, 6], [0, 1, 5, 4], [2, 6, 7, 3], [0, 4, 6, 2], [1, 3, 7, 5]]
    return context.body(corners, faces, axes=np.full((1, 3), half), exponents=[[0.3, 0.3]])


@pytest.mark.parametrize("width", [6, 7])
def test_pairs_agree_with_differences(context, width):
    pair = context.pair(box(context, 0.1), box(context, 0.05))
    random = np.random.default_rng(3)
    pose1, pose2 = np.zeros((8, width)), random.normal(size=(8, width)) * 0.3
    pose2[:, :3] = [0.01, 0.02, 0.13]
    if width == 7:
        pose1[:, 3], pose2[:, 3] = 1, 2  # a quaternion of any length
    for kind in ("energy", "activity", "soft_minimum"):
        found = abut.gradcheck(pair, pose1, pose2, kind=kind)
        assert found.smooth.sum() >= 6, kind
        assert found.error[found.smooth].max() < 1e-5, kind
        assert np.abs(found.derivative).max() > 0, kind


def test_a_step_too_long_is_not_smooth(context):
    pair = context.pair(box(context, 0.1), box(context, 0.05))
    found = abut.gradcheck(pair, np.zeros((6, 6)), np.array([0, 0, 0.149, 0, 0, 0.1]), kind="activity", step=0.02)
    assert not found.smooth.all()


def test_scenes_agree_with_differences(context, tmp_path):
    path = tmp_path / "ball.scene.json"
    path.write_text('{"timestep": 0.002, "links": [{"bodies": [{"box": [1, 1, 0.1]}]}, {"joint": {"type": "free"}, "density": 500, '
                    '"position": [0, 0, 0.149], "bodies": [{"sphere": 0.05}]}], "pairs": [{"a": 0, "b": 1}]}')
    scene = context.scene(path)
    q = np.tile(scene.start(), (4, 1))
    q[:, 2] += [0, 1e-4, -5e-4, 0.1]
    found = abut.gradcheck(scene, q, np.zeros((4, scene.nv)), steps=3)
    assert found.smooth.all()
    assert found.error.max() < 1e-4


def test_what_is_refused(context):
    pair = context.pair(box(context, 0.1), box(context, 0.05))
    with pytest.raises(ValueError, match="neither an abut.Pair nor an abut.Scene"):
        abut.gradcheck(context, np.zeros(6), np.zeros(6))
    with pytest.raises(ValueError, match="no|derivative"):
        abut.gradcheck(pair, np.zeros(6), np.zeros(6), kind="nearness")
    with pytest.raises(ValueError, match="u works only with a scene"):
        abut.gradcheck(pair, np.zeros(6), np.zeros(6), np.zeros(1))
    narrow = abut.Context("host")
    with pytest.raises(ValueError, match="precision 'f64'"):
        abut.gradcheck(narrow.pair(box(narrow, 0.1), box(narrow, 0.05)), np.zeros(6), np.zeros(6))


def test_rows_that_are_no_good_confirm_nothing_and_spoil_no_others(context, tmp_path):
    pair = context.pair(box(context, 0.1), box(context, 0.05))
    pose2 = np.tile([0.01, 0.02, 0.13, 0.1, 0.2, 0.3], (3, 1))
    pose2[1, 0] = np.nan
    found = abut.gradcheck(pair, np.zeros(6), pose2)
    assert found.smooth.tolist() == [True, False, True]
    assert np.isnan(found.error[1]) and found.error[[0, 2]].max() < 1e-5
    path = tmp_path / "slider.scene.json"
    path.write_text(SLIDER)
    scene = context.scene(path)
    found = abut.gradcheck(scene, scene.start(), np.array([[0.0], [1e12], [1.0]]), steps=2)
    assert found.smooth.tolist() == [True, False, True]
    assert np.isnan(found.error[1])


def test_controls_may_have_rows_that_states_lack(context, tmp_path):
    path = tmp_path / "slider.scene.json"
    path.write_text(SLIDER)
    scene = context.scene(path)
    found = abut.gradcheck(scene, scene.start(), np.zeros(1), np.array([[0.0], [1.0], [2.0]]), steps=3)
    assert found.error.shape == (3,) and found.error.max() < 1e-6


def test_kinks_are_not_smooth(context):
    pair = context.pair(box(context, 0.1), box(context, 0.1))
    found = abut.gradcheck(pair, np.zeros(6), np.array([[0, 0, 0.03, 0, 0, 0], [0, 0, 0, 0, 0, 0], [0.15, 0.075, 0, 0, 0, 0]]), kind="distance")
    assert (~found.smooth | (found.error < 1e-3)).all()
    assert not found.smooth.all()


def test_what_scenes_refuse(context, tmp_path):
    path = tmp_path / "slider.scene.json"
    path.write_text(SLIDER)
    scene = context.scene(path)
    with pytest.raises(ValueError, match=r"u has shape \(3,\), not \(..., 1\)"):
        abut.gradcheck(scene, scene.start(), np.zeros(1), np.zeros(3))
    with pytest.raises(ValueError, match="kind works only with a pair"):
        abut.gradcheck(scene, scene.start(), np.zeros(1), kind="energy")
