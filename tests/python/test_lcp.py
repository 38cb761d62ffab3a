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


def test_contacts_that_push_against_each_other(contexts):
    """Two opposite contacts have no solution but by rounding, which made impulses up to 1e12 of what they push against."""
    rng = np.random.default_rng(1)
    for precision, context in contexts.items():
        solved = 0
        for _ in range(600):
            normals = rng.normal(size=(rng.integers(2, 5), rng.integers(1, 4)))
            normals[1] = -normals[0] * rng.uniform(0.5, 2)
            A, b = normals @ normals.T, rng.normal(size=len(normals))
            b[:2] = -np.abs(b[:2])
            r = abut.solve_lcp(A[None], b[None], [-1] * len(b), context=context)
            solved += r.how[0] < abut.LcpEnd.SQUEEZED
        assert solved == 0, precision  # about 100 in float32


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


def turned(heading, p):
    c, s = np.cos(heading), np.sin(heading)
    return [c * p[0] - s * p[1], s * p[0] + c * p[1], p[2]]


def pushed(context, folder, tangents, heading):
    """A scene turned by `heading`: a box of 1 kg on a table, and beside it a ball on a slide, 2 cm off the box's middle."""
    turn = [np.cos(heading / 2), 0, 0, np.sin(heading / 2)]
    path = folder / "pushed.scene.json"
    path.write_text(json.dumps({
        "contact_model": "lcp", "timestep": 0.002, "lcp": {"tangents": tangents},
        "links": [{"bodies": [{"plane": [5, 5]}]},
                  {"position": [0, 0, 0.03], "quaternion": turn, "joint": {"type": "free"}, "density": 416.667,
                   "bodies": [{"box": [0.1, 0.05, 0.03]}]},
                  {"position": turned(heading, [-0.145, 0.02, 0.03]), "quaternion": turn, "mass": 0.5,
                   "joint": {"type": "slide", "axis": [1, 0, 0]}, "bodies": [{"sphere": 0.04}]}],
        "pairs": [{"a": 1, "b": 0, "friction": 0.5}, {"a": 2, "b": 1, "friction": 0.3}],
        "actuators": [{"kind": "velocity", "joint": 2, "kv": 200}]}))
    return abut.Scene(path, context)


HEADINGS = [0.0, 0.3, np.pi / 8, np.pi / 4, 1.2, np.pi / 2, 2.0, 2.9]


@pytest.mark.parametrize("tangents", [4, 8])
def test_push_does_not_depend_on_its_heading(tangents, contexts, tmp_path):
    """With the square of two tangents the box turns by 0, -26 or 16 degrees."""
    ends = []
    for heading in HEADINGS:
        with pushed(contexts["f64"], tmp_path, tangents, heading) as scene:
            at = scene.step(scene.start(), np.zeros(scene.nv), [0.3], steps=500)
        assert at.status == 0
        yaw = 2 * np.arctan2(at.q[6], at.q[3]) - heading
        ends.append([*turned(-heading, at.q[:3])[:2], 0.1 * np.arctan2(np.sin(yaw), np.cos(yaw))])
    ends = np.array(ends)
    assert ends[0, 0] > 0.2 and ends[0, 2] < -0.03
    assert (np.abs(ends - ends[0]) <= 0.05 * np.abs(ends[0])).all(), ends


@pytest.mark.parametrize("tangents", [4, 8])
def test_sliding_friction_is_mu_in_each_direction(tangents, contexts, tmp_path):
    """A box that slides without turning is braked by mu g exactly, and its path stays straight."""
    for heading in HEADINGS:
        with pushed(contexts["f64"], tmp_path, tangents, heading) as scene:
            q, v = scene.start(), np.zeros(scene.nv)
            along = np.array(turned(heading + 0.5, [1.0, 0, 0])[:2])  # away from the ball
            v[:2] = along  # a free joint's linear velocity is along the world's axes
            at = scene.step(q, v, [0.0], steps=50)
        np.testing.assert_allclose(at.v[:2], (1 - 50 * 0.002 * 0.5 * 9.81) * along, atol=2e-3)
        assert abs(along[0] * at.v[1] - along[1] * at.v[0]) < 2e-4


def test_what_holds_on_a_slope(contexts, tmp_path):
    """A polygon within the circle of mu holds at least cos(pi / (2 tangents)) of mu, whatever the direction."""
    mu = 0.5
    for tangents in (4, 8):
        for heading in HEADINGS:
            for share, holds in ((0.99 * np.cos(np.pi / (2 * tangents)), True), (1.03, False)):
                slope = np.arctan(share * mu)
                with pushed(contexts["f64"], tmp_path, tangents, heading) as scene:
                    down = np.array(turned(0.7, [np.sin(slope), 0, -np.cos(slope)]))
                    v = np.zeros(scene.nv)
                    at = scene.step(scene.start(), v, [0.0], steps=100, gravity=9.81 * down)
                speed = at.v[:2] @ down[:2] / np.linalg.norm(down[:2])
                want = 0.0 if holds else 100 * 0.002 * 9.81 * (np.sin(slope) - mu * np.cos(slope))
                assert speed == pytest.approx(want, abs=1e-4 if holds else 0.15 * want), (tangents, heading, holds)


def test_number_of_tangents_is_checked(contexts, tmp_path):
    with pytest.raises(abut.Error, match="lcp.tangents: tangents is 3; it must be 2, 4 or 8"):
        pushed(contexts["f64"], tmp_path, 3, 0.0)


def test_derivatives_of_friction_at_its_bound(contexts, tmp_path):
    """A box that is pressed in, slides and spins: friction rows at their bound with hardly any speed keep their force in derivatives."""
    path = tmp_path / "pressed.scene.json"
    path.write_text(json.dumps({
        "contact_model": "lcp", "timestep": 0.002, "lcp": {"slop": 2e-5, "elastic": "none"},
        "links": [{"bodies": [{"plane": [9, 9]}]},
                  {"position": [0, 0, 0.03], "joint": {"type": "free"}, "density": 400, "bodies": [{"box": [0.12, 0.1, 0.06]}]}],
        "pairs": [{"a": 1, "b": 0, "friction": 0.3}]}))
    rng, n = np.random.default_rng(1), 200
    with abut.Scene(path, contexts["f64"]) as scene:
        q = scene.add(np.tile(scene.start(), (n, 1)), 1e-5 * rng.normal(size=(n, 6)) * [1, 1, .3, .3, .3, 0] + [0, 0, 0, 0, 0, 1e-4])
        v = rng.normal(size=(n, 6)) * [1, 1, 0, .002, .002, 4]
        v[:, 2] = -0.002
        A = np.asarray(scene.transition(q, v).A)[:, :, 5]
        ends = []
        for h in (1e-6, 1e-7):
            one, other = (scene.step(scene.add(q, np.tile([0, 0, 0, 0, 0, s], (n, 1))), v) for s in (h, -h))
            ends.append(np.concatenate([scene.subtract(one.q, other.q), one.v - other.v], -1) / (2 * h))
    scale = np.abs(ends[0]).max(1)
    smooth = np.abs(ends[0] - ends[1]).max(1) < 1e-5 * scale
    assert smooth.mean() > 0.8 and np.abs(A - ends[0]).max(1)[smooth].max() < 1e-4 * scale[smooth].min()


def test_classes_do_not_depend_on_the_order_of_rows(context):
    """A contact's rows one after another, or all normals first."""
    A, b, mu = np.eye(3) * 2, np.array([-4.0, 2.0, 0.1]), np.array([0, 0.5, 0.5])
    A[0, 1] = A[1, 0] = 0.3
    apart = np.zeros((6, 6))
    apart[:3, :3] = apart[3:, 3:] = A
    order = [0, 3, 1, 2, 4, 5]
    one = abut.solve_lcp(apart, np.tile(b, 2), [-1, 0, 0, -1, 3, 3], mu=np.tile(mu, 2), context=context)
    other = abut.solve_lcp(apart[np.ix_(order, order)], np.tile(b, 2)[order], [-1, -1, 0, 0, 1, 1], mu=np.tile(mu, 2)[order],
                           context=context)
    assert (one.classes[order] == other.classes).all()
