"""Pages from Python: what they hold, how notebooks show them, and what is refused. tests/view has them in a browser."""
import base64
import json
import pathlib
import re
import zlib

import numpy as np
import pytest

import abut

ASSETS = pathlib.Path(__file__).parents[2] / "assets"


@pytest.fixture(scope="module")
def pair():
    box = abut.load(ASSETS / "box.body.json")
    return abut.Pair(box, box)


def held(page):
    return json.loads(re.search(r'id="object">(.*?)</script>', page.html, re.S)[1])


def array_of(page, name):
    """An array of a page, whose numbers come as planes of their bytes."""
    of = held(page)["arrays"][name]
    packed = zlib.decompress(base64.b64decode(re.search(r'id="arrays">(.*?)</script>', page.html, re.S)[1]), -15)
    planes = np.frombuffer(packed, np.uint8, int(of["type"][1]) * of["columns"] * of["rows"], of["at"]).reshape(-1, of["rows"])
    return np.ascontiguousarray(planes.T).view("<" + of["type"])


def test_a_pair(pair, tmp_path):
    poses = np.zeros((3, 6))
    poses[:, 2] = [0.17, 0.3, np.nan]
    with pytest.warns(UserWarning, match=r"poses of 1 of 3 frames \(2 first\) are not finite"):
        page = abut.view(pair, None, poses, first=1, names=["</script><b>", "B"], time=[0.0, 0.1, 0.2], picture=(0, 0))
    said = held(page)
    assert [b["name"] for b in said["bodies"]] == ["</script><b>", "B"] and "</script><b>" not in page.html
    assert said["frames"] == 3 and said["first"] == 1 and said["arrays"]["time"]["rows"] == 3
    active = abut.active(pair, None, poses, threshold=0.05)
    assert said["arrays"]["p"]["rows"] == len(active) > 3
    assert np.isclose(said["deepest"], np.abs(active.d).max())
    assert 'id="picture" alt' not in page.html
    page.save(tmp_path / "page.html")
    assert (tmp_path / "page.html").read_text(encoding="utf-8") == page.html
    frame = page._repr_html_()
    assert frame.startswith("<iframe srcdoc=") and "<script" not in frame


def test_forms_of_poses(pair):
    twist = np.array([0.0, 0.0, 0.17, 0.0, 0.0, 0.5])
    pose, matrix = abut.pose.exp(twist), np.eye(4)
    matrix[:2, :2] = [[np.cos(0.5), -np.sin(0.5)], [np.sin(0.5), np.cos(0.5)]]
    matrix[2, 3] = 0.17
    rows = [held(abut.view(pair, None, p, picture=(0, 0)))["arrays"]["p"]["rows"] for p in (twist, pose, matrix)]
    assert rows[0] == rows[1] == rows[2] > 0


def test_a_scene():
    scene = abut.Scene(ASSETS / "plate.scene.json")
    start = scene.start()
    page = abut.view(scene, np.stack([start, start]), time=[0.0, 0.1], energy=np.ones((2, 2)), picture=(0, 0))
    said = held(page)
    assert said["scene"] and said["frames"] == 2 and len(said["bodies"]) == len(scene.bodies)
    assert "energy" in {c["name"] for c in said["curves"]}
    with pytest.raises(ValueError, match=rf"q has shape \({len(start)},\), not \(N, {len(start)}\)"):
        abut.view(scene, start)
    with pytest.warns(UserWarning, match=r"positions of 1 of 2 frames \(1 first\) are not finite"):
        abut.view(scene, np.stack([start, np.full_like(start, np.nan)]), picture=(0, 0))


def test_forces(tmp_path):
    """A box on another one is held with its weight, and so is the lower one by both of its neighbours together."""
    box = {"joint": {"type": "free"}, "density": 500}
    (tmp_path / "boxes.scene.json").write_text(json.dumps({
        "timestep": 0.002,
        "links": [{"name": "floor", "bodies": [{"plane": [1, 1]}]},
                  {"name": "lower", "position": [0, 0, 0.0996], "bodies": [{"box": [0.15, 0.12, 0.1]}], **box},
                  {"name": "upper", "position": [0.02, 0.01, 0.2792], "bodies": [{"box": [0.1, 0.08, 0.08]}], **box}],
        "pairs": [{"a": "lower", "b": "floor"}, {"a": "upper", "b": "lower"}]}))
    scene = abut.Scene(tmp_path / "boxes.scene.json")
    rest = scene.step(scene.start(), np.zeros(12), steps=500)
    above, lost = scene.start(), np.full(14, np.nan)
    above[[2, 9]] += [1.0, 2.0]
    with pytest.warns(UserWarning, match="positions of 1 of 3 frames"):
        page = abut.view(scene, [rest.q, lost, above], v=np.stack([rest.v, rest.v, rest.v]), picture=(0, 0), threshold=1 / 255)
    forces = array_of(page, "forces").reshape(3, 3, 3)
    weights = 500 * 9.81 * 8 * np.array([0.15 * 0.12 * 0.1, 0.1 * 0.08 * 0.08])
    assert np.isnan(forces[:, 0]).all() and np.isnan(forces[1]).all()
    assert np.allclose(forces[0, 1:, 2], weights, rtol=0.02) and np.abs(forces[0, 1:, :2]).max() < 1
    assert (forces[2, 1:] == 0).all()

    # Each contact's own, on the first body of its pair, to 12 digits: together they bear what lies on them, and are what each link is pushed with.
    assert "unforced" not in held(page) and [b["still"] for b in held(page)["bodies"]] == [True, False, False]
    single, number = array_of(page, "contact_forces"), array_of(page, "pair")[:, 0]
    sums = {tuple(p["bodies"]): single[number == i].sum(axis=0) for i, p in enumerate(held(page)["pairs"])}
    assert np.allclose(sums[1, 0], [0, 0, weights.sum()], atol=0.02 * weights[0])
    assert np.allclose(sums[2, 1], [0, 0, weights[1]], atol=0.02 * weights[0])
    assert np.allclose(sums[1, 0] - sums[2, 1], forces[0, 1], atol=0.01) and np.allclose(sums[2, 1], forces[0, 2], atol=0.01)
    assert np.allclose(held(page)["centres"][1], 0, atol=1e-9)
    with pytest.raises(ValueError, match=r"v has shape \(1, 12\), not \(2, 12\)"):
        abut.view(scene, [rest.q, rest.q], v=rest.v[None])
    driven = abut.Scene(pathlib.Path(__file__).parents[1] / "world/scenes/two-boxes.scene.json")
    with pytest.raises(abut.Error, match="a scene with controls if the controls are not given"):
        abut.view(driven, driven.start()[None], v=np.zeros((1, driven.nv)))
    assert "has controls" in held(abut.view(driven, driven.start()[None], picture=(0, 0)))["unforced"]
    known = abut.view(driven, driven.start()[None], v=np.zeros((1, driven.nv)), u=np.zeros((1, driven.nu)), picture=(0, 0))
    assert "unforced" not in held(known) and "forces" in held(known)["arrays"]
    of_all = abut.view(driven, driven.start()[None], v=np.zeros((1, driven.nv)), u=np.zeros(driven.nu), picture=(0, 0))
    assert np.array_equal(array_of(of_all, "forces"), array_of(known, "forces"), equal_nan=True)
    with pytest.raises(ValueError, match=r"u has shape \(2, 1\)"):
        abut.view(driven, driven.start()[None], v=np.zeros((1, driven.nv)), u=np.zeros((2, 1)))


@pytest.mark.parametrize("given, error", [
    (dict(pose2=np.zeros((2, 5))), ValueError), (dict(pose1=np.zeros((3, 6)), pose2=np.zeros((2, 6))), ValueError),
    (dict(), ValueError), (dict(pose2=np.zeros(6), names=["a"]), ValueError), (dict(pose2=np.zeros(6), time=[0.0, 1.0]), ValueError),
    (dict(pose2=np.zeros((2, 6)), time=[1.0, 0.0]), abut.Error), (dict(pose2=np.zeros(6), first=1), abut.Error),
    (dict(pose2=np.zeros(6), threshold=0.0), abut.Error), (dict(pose2=np.zeros(6), picture=(9999, 1)), abut.Error),
    (dict(pose2=np.zeros(6), energy=[[0.0, 0.0]]), ValueError), (dict(pose2=np.zeros(6), v=[[0.0]]), ValueError), (dict(pose2=np.zeros(6), u=[[0.0]]), ValueError), (dict(pose2=np.zeros((0, 6))), abut.Error),
])
def test_refusals(pair, given, error):
    with pytest.raises(error):
        abut.view(pair, **given)


@pytest.mark.parametrize("pose, text", [
    (np.zeros((2, 3, 6)), r"pose2 has shape \(2, 3, 6\), but a page has only one axis of frames: use pose2.reshape\(-1, 6\)"),
    (np.zeros((2, 3, 4, 4)), r"pose2.reshape\(-1, 4, 4\)"), (np.zeros((2, 5)), r"pose2 has shape \(2, 5\), not \(6,\)"),
    (1.0, r"pose2 has shape \(\), not"), ([[0.0] * 6, [0.0]], "pose2 is ragged"), ("x", "pose2 has dtype str"),
])
def test_poses_that_are_none(pair, pose, text):
    with pytest.raises(ValueError, match=text):
        abut.view(pair, None, pose)


def test_what_is_no_pair():
    with pytest.raises(ValueError, match="not an abut.Pair"):
        abut.view("pair")
