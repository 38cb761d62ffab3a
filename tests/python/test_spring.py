"""Springs between point clouds from Python."""
import pathlib

import abut
import numpy as np
import pytest

GOLDEN = pathlib.Path(__file__).parent.parent / "golden-dynamics"
FINGER = GOLDEN / "spring-t26-finger"


@pytest.fixture
def clouds():
    return abut.load_cloud(FINGER / "t26.obj", eps1=1e-4), abut.load_cloud(FINGER / "finger.obj")


def states():
    expected = np.load(FINGER / "force.npz")
    q, v = expected["q"], expected["v"]
    pose1, pose2, twist1, twist2 = (np.zeros((len(q), n)) for n in (7, 7, 6, 6))
    pose1[:, :2], pose1[:, 3], pose1[:, 6] = q[:, :2], np.cos(q[:, 2] / 2), np.sin(q[:, 2] / 2)
    pose2[:, :2], pose2[:, 3] = q[:, 3:], 1
    twist1[:, :2], twist1[:, 5], twist2[:, :2] = v[:, :2], v[:, 2], v[:, 3:]
    return expected, (pose1, pose2, twist1, twist2)


def test_golden(contexts, clouds):
    expected, at = states()
    got = abut.springs(*clouds, *at, context=contexts["f64"])
    wanted = expected["wrench"][:, 1, :3]
    np.testing.assert_allclose(got.wrench2[:, :3], wanted, atol=1e-10 * np.abs(wanted).max())
    np.testing.assert_allclose(got.distance, expected["distance"], atol=1e-12)
    np.testing.assert_allclose(got.separation[:2], expected["Phi"], atol=1e-12)
    np.testing.assert_allclose(got.weights[:2], expected["beta"], atol=1e-10)
    np.testing.assert_allclose(got.wrench1[:, :3], -got.wrench2[:, :3])


def test_slopes(contexts, clouds):
    _, (pose1, pose2, twist1, twist2) = states()
    context, h = contexts["f64"], 1e-6
    bar = np.array([1.0, -2, 0.5, 0.3, 0.2, -0.1])
    law = np.array([5000, 0.5, 0.1, 0.01, 2e-3, 1e-3])
    g = abut.springs_vjp(*clouds, pose1, pose2, twist1, twist2, wrench1=bar, parameters=law, context=context)
    value = lambda p, t, c: abut.springs(*clouds, pose1, p, twist1, t, parameters=c, context=context).wrench1 @ bar
    along = np.array([0.1, -0.2, 0.3, 0.1, 0.2, 0.3, -0.1])
    by_pose = (value(pose2 + h * along, twist2, law) - value(pose2 - h * along, twist2, law)) / (2 * h)
    by_twist = (value(pose2, twist2 + h * along[:6], law) - value(pose2, twist2 - h * along[:6], law)) / (2 * h)
    by_law = (value(pose2, twist2, law * (1 + h)) - value(pose2, twist2, law * (1 - h))) / (2 * h)
    for slope, quotient in ((g.pose2 @ along, by_pose), (g.twist2 @ along[:6], by_twist), (g.parameters @ law, by_law)):
        np.testing.assert_allclose(slope, quotient, atol=1e-6 * np.abs(slope).max())
    assert g.jacobian.shape == (len(pose1), 7, 18)


def test_field(context, clouds):
    box = abut.load_cloud(GOLDEN / "spring-box-field" / "box.obj")
    expected = np.load(GOLDEN / "spring-box-field" / "field3.npz")
    phi, gradient = abut.evaluate_cloud(box, expected["x"][3:], context=context)
    np.testing.assert_allclose(phi, expected["quads_phi"][3:], atol=1e-6)
    np.testing.assert_allclose(gradient, expected["quads_gradient"][3:], atol=2e-3)
    sharper = box._replace(kernels=np.tile(np.eye(3) * 1e-5, (len(box.points), 1, 1)))
    assert np.abs(abut.evaluate_cloud(sharper, expected["x"][3:], context=context)[0] - phi).max() > 1e-4


def test_soft_points(contexts):
    folder = GOLDEN / "spring-horseshoe-box"
    expected = np.load(folder / "expected.npz")
    bodies = abut.load_cloud(folder / "horseshoe.obj"), abut.load_cloud(folder / "box.obj")
    eps2, count, tau = expected["parameters"]
    pose1 = np.zeros((8, 7))
    pose1[:, 1], pose1[:, 3], pose1[:, 6] = expected["y"], np.cos(expected["yaw"] / 2), np.sin(expected["yaw"] / 2)
    at = [0, 0, 0, 1, 0, 0, 0]
    points, weights = abut.soft_points(*bodies, pose1, at, int(count), tau, eps2=eps2, context=contexts["f64"])
    np.testing.assert_allclose(points, expected["points"], atol=1e-12)
    np.testing.assert_allclose(weights, expected["z"], atol=1e-10)
    with pytest.raises(abut.Error, match="vertices"):
        abut.soft_points(bodies[0]._replace(vertices=None), bodies[1], pose1, at, 8, context=contexts["f64"])
    with pytest.raises(ValueError):
        abut.soft_points(bodies[0]._replace(face_sizes=[3]), bodies[1], pose1, at, 8, context=contexts["f64"])


def test_refusals(context, clouds):
    pose = [0, 0, 0, 1, 0, 0, 0]
    one = abut.springs(*clouds, pose, pose, context=context)
    assert one.wrench1.shape == (6,) and one.distance.shape == () and one.weights.shape == (26 + 96,)
    none = abut.springs(*clouds, np.zeros((0, 7)), pose, context=context)
    assert none.wrench1.shape == (0, 6)
    mixed = abut.springs(*clouds, None, np.zeros(6), context=context)
    assert np.array_equal(mixed.wrench1, abut.springs(*clouds, np.zeros(6), np.eye(4), context=context).wrench1)
    for wrong in ({"pose1": pose[:5]}, {"pose2": pose[:4]}, {"twist1": [0, 0]}, {"parameters": [1, 2]},
                  {"dissipation": "c2"}, {"reaction": "line"}, {"cloud1": clouds[0]._replace(eps1=[1.0])}):
        with pytest.raises(ValueError):
            abut.springs(**{"cloud1": clouds[0], "cloud2": clouds[1], "pose1": pose, "pose2": pose, **wrong},
                         context=context)
    with pytest.raises(TypeError):
        abut.springs(*clouds, pose, pose, stiffness=1.0, context=context)
    with pytest.raises(abut.Error):
        abut.springs(*clouds, pose, pose, eps2=0.0, context=context)
    with pytest.raises(abut.Error):
        abut.springs_vjp(*clouds, pose, pose, reaction="plane", context=context)
    with pytest.raises(abut.Error):
        abut.load_cloud("no such mesh.obj")
