"""Poses of links and distances of pairs: closed forms, differences, and an arm that is pushed out of a post."""
import json

import abut
import numpy as np
import positions
import pytest


@pytest.fixture
def scene(context, tmp_path):
    return positions.scene_of(context, tmp_path)


@pytest.fixture
def exact(double, tmp_path):
    return positions.scene_of(double, tmp_path)


def limit(scene, f64, f32):
    return f64 if scene.context.precision == "f64" else f32


def test_poses(scene):
    """Of hinges about z in closed form, and of a free link its own numbers."""
    q = positions.positions(scene)
    poses = scene.poses(q)
    assert poses.shape == (6, scene.links, 7) and poses.dtype == scene.context.dtype
    one, two = q[:, 0].astype(float), q[:, 1].astype(float)
    elbow = np.stack([0.4 * np.cos(one), 0.4 * np.sin(one), 0.3 + 0 * one], 1)
    turned = np.stack([np.cos((one + two) / 2), 0 * one, 0 * one, np.sin((one + two) / 2)], 1)
    np.testing.assert_allclose(poses[:, 2, :3], elbow, atol=limit(scene, 1e-15, 1e-6))
    np.testing.assert_allclose(poses[:, 2, 3:], turned, atol=limit(scene, 1e-15, 1e-6))
    np.testing.assert_allclose(poses[:, 3], q[:, 2:], atol=limit(scene, 1e-15, 1e-6))
    np.testing.assert_array_equal(scene.poses(q.reshape(2, 3, -1)), poses.reshape(2, 3, *poses.shape[1:]))
    np.testing.assert_array_equal(scene.poses(q[0]), poses[0])


def test_names(scene):
    assert scene.link_names == ("post", "upper", "lower", "ball")


def test_moved_links_are_told(double, tmp_path):
    path = tmp_path / "moved.scene.json"
    path.write_text(json.dumps({"links": [
        {"name": "hand", "joint": {"type": "moved"}, "position": [0, 0, 1], "bodies": [{"sphere": 0.1}]},
        {"name": "ball", "joint": {"type": "free"}, "density": 500, "bodies": [{"sphere": 0.1}]}], "pairs": [{"a": 0, "b": 1}]}))
    with abut.Scene(path, double) as moved:
        for call in (moved.poses, moved.distances):
            with pytest.warns(UserWarning, match="moved links are at the poses in the scene"):
                call(moved.start())


def test_wrong_pairs(scene):
    for pairs, text in (([(None, "ball")], "a name or a number, not None"), (["ball"], "or two links, not"), ([(1, 2, 3)], "or two links, not")):
        with pytest.raises(ValueError, match=text):
            scene.distances(scene.start(), pairs)


def test_distances(scene):
    """Of spheres in closed form; of two links the least distance of the pairs between them."""
    q = positions.positions(scene)
    d = scene.distances(q, smooth=False).d
    assert d.shape == (6, 5) and d.dtype == scene.context.dtype
    apart = np.linalg.norm(q[:, 2:5] - np.array([0.5, 0.05, 0.65]), axis=1) - 0.2
    np.testing.assert_allclose(d[:, 3], apart, atol=2e-5)
    few = scene.distances(q, [("lower", "post"), 3, (0, "ball"), (1, 3)], smooth=False)
    np.testing.assert_array_equal(few.d, np.stack([d[:, :2].min(1), d[:, 3], d[:, 3], d[:, 4]], 1))
    assert few.grad is None
    soft = scene.distances(q)
    assert np.abs(soft.d - d).max() < 2e-3 and (soft.d <= d + limit(scene, 1e-9, 1e-5)).all()
    assert np.abs(scene.distances(q, temperature=1e-6).d - d).max() < 2e-4
    assert scene.distances(q, []).d.shape == (6, 0)
    assert scene.distances(q[:0], grad=True).grad.shape == (0, 5, scene.nq)


def test_capsule_beside_box(exact):
    """The arm is bent by a right angle, so that the capsule's axis is across the box's end: a closed form."""
    q = exact.start()
    q[1] = np.pi / 2
    q[2:5] = 0.2, 0.2, 0.3  # the ball is beside the box's middle
    d = exact.distances(q, [("ball", "upper")], smooth=False).d
    np.testing.assert_allclose(d, [0.2 - 0.1 - 0.03], atol=1e-4)
    q[0] = -np.pi / 2  # the capsule's axis lies along x at y = -0.4, and its end 0.15 before the post's axis
    d = exact.distances(q, [0], smooth=False).d
    np.testing.assert_allclose(d, [np.hypot(0.15, 0.45) - 0.04 - 0.08], atol=2e-3)


@pytest.mark.parametrize("smooth", [True, False])
def test_gradients(exact, smooth):
    q, h = positions.positions(exact), 1e-6
    rng = np.random.default_rng(1)
    pairs = [("lower", "post"), 2, ("ball", "upper")]
    found = exact.distances(q, pairs, smooth=smooth, grad=True)
    np.testing.assert_array_equal(found.d, exact.distances(q, pairs, smooth=smooth).d)
    d = rng.normal(size=(len(q), exact.nv))
    ends = [exact.distances(exact.add(q, side * h * d), pairs, smooth=smooth).d for side in (-1, 1)]
    slope = np.einsum("npk,nk->np", found.grad, exact.map("slope_from_tangent", q, d))
    np.testing.assert_allclose(slope, (ends[1] - ends[0]) / (2 * h), atol=2e-6)
    turns = exact.map("gradient_to_tangent", q[:, None], found.grad)  # the quaternion's part is orthogonal to it
    np.testing.assert_allclose(exact.map("gradient_from_tangent", q[:, None], turns), found.grad, atol=1e-12)


def test_descent(scene):
    """What a planner does: the arm begins within the post, and descent along gradients leaves a gap."""
    q = np.zeros(scene.nq, scene.context.dtype)
    q[:] = scene.start()
    pairs, gap = [("lower", "post"), ("upper", "post")], 0.03
    assert scene.distances(q, pairs).d.min() < -0.05
    for _ in range(60):
        found = scene.distances(q, pairs, grad=True)
        lack = np.maximum(gap - found.d, 0)
        if not lack.any():
            break
        slope = lack @ found.grad[:, :2]
        q[:2] += slope * (lack @ lack) / (slope @ slope)
    assert (scene.distances(q, pairs, smooth=False).d > 0.8 * gap).all()


@pytest.mark.parametrize("law", ["lcp", "spring"])
def test_other_laws(scene, context, tmp_path, law):
    """Distances are of bodies, whatever law pushes them apart; springs between clouds have none."""
    other = abut.Scene(tmp_path / "arm.scene.json", context, contact_model=law)
    q = positions.positions(scene)
    np.testing.assert_array_equal(other.poses(q), scene.poses(q))
    assert np.abs(other.distances(q, smooth=False).d - scene.distances(q, smooth=False).d).max() < 2e-3


def test_bad_worlds(scene):
    q = positions.positions(scene)
    wanted, poses = scene.distances(q, grad=True), scene.poses(q)
    q[1, 0], q[3, 5:9] = np.nan, 0
    with np.errstate(invalid="ignore"):
        got, placed = scene.distances(q, grad=True), scene.poses(q)
    for is_now, was in ((got.d, wanted.d), (got.grad, wanted.grad), (placed, poses)):
        assert np.isnan(is_now[[1, 3]]).all()
        np.testing.assert_array_equal(is_now[[0, 2, 4, 5]], was[[0, 2, 4, 5]])


def test_refusals(scene):
    q = scene.start()
    with pytest.raises(ValueError, match=r"q has shape \(2,\), not \(9,\)"):
        scene.poses(q[:2])
    with pytest.raises(ValueError, match="there is no link with the name 'hand': there are post, upper, lower, ball"):
        scene.distances(q, [("hand", "post")])
    with pytest.raises(ValueError, match=r"there is no link 4 \(0-based\); there are 4"):
        scene.distances(q, [(4, 0)])
    with pytest.raises(ValueError, match=r"there is no candidate 5 \(0-based\); there are 5"):
        scene.distances(q, [5])
    with pytest.raises(ValueError, match=r"the scene has no pair of links \('upper', 'lower'\)"):
        scene.distances(q, [("upper", "lower")])
    with pytest.raises(abut.Error, match="temperature"):
        scene.distances(q, temperature=-1.0)
    scene.close()
    with pytest.raises(ValueError, match="this Scene is closed"):
        scene.poses(q)
