"""Worlds of NumPy arrays: golden answers, closed forms, positions' tangent space, shapes, refusals."""
import gc
import json
import warnings

import numpy as np
import pytest
import conftest
import worlds

import abut


# ---- answers ----

@pytest.mark.parametrize("name", worlds.CASES)
def test_golden(context, name):
    case = worlds.Case(context, name)
    want = [own for file, own in worlds.NAMES.items() if own not in "qv" and file in case.expected]
    q, v, u = (case.read(array) for array in "qvu")
    got = case.scene.step(q, v, u, want=want, **case.options)
    for file, own in worlds.NAMES.items():
        if file == "multipliers" and file in case.expected:
            case.check(file, case.without_flat(got.multipliers))
        elif file in case.expected:
            case.check(file, getattr(got, own))
    case.check_status(got.status)


@pytest.mark.parametrize("name", worlds.ROLLOUTS)
def test_golden_rollout(context, name):
    case = worlds.Case(context, name)
    q, v, options = case.rollout()
    got = case.scene.step(q, v, record=1, **options)
    case.check("rollout_q", got.q_record)
    case.check("rollout_v", got.v_record)
    np.testing.assert_array_equal(got.q_record[:, -1], got.q)
    np.testing.assert_array_equal(got.v_record[:, -1], got.v)


def test_free_fall(context, tmp_path):
    """v_n = n h g and q_n = h^2 g n (n + 1)/2, as euler has them; a turn about a main axis goes on."""
    scene = abut.Scene(worlds.write_scene(tmp_path, **worlds.FREE), context)
    assert (scene.nq, scene.nv, scene.nu, scene.links, scene.pairs) == (7, 6, 0, 1, 0)
    v = np.array([1.0, 0, 0, 0, 0, 2.0])
    got = scene.step(scene.start(), v, steps=100, record=25, gravity=[0, -2.0, -10.0])
    h, n = scene.timestep, np.array([25, 50, 75, 100])
    assert h == 0.002 and got.status == abut.WorldStatus.OK
    fall = h * h * n * (n + 1) / 2
    close = 1e-5 if context.precision == "f32" else 1e-12
    np.testing.assert_allclose(got.q_record[:, :3], np.stack([n * h, -2 * fall, -10 * fall], 1), atol=close)
    angle = n * h  # half of what it has turned by
    np.testing.assert_allclose(got.q_record[:, [3, 6]], np.stack([np.cos(angle), np.sin(angle)], 1), atol=close)
    np.testing.assert_allclose(got.v, [1, -2 * 0.2, -10 * 0.2, 0, 0, 2], atol=close)
    np.testing.assert_allclose(got.w, [0, -2, -10, 0, 0, 0], atol=10 * close)


def test_energy_and_momentum(context, tmp_path):
    """Those of a body that falls; of kept states they are those that a step from there begins with."""
    scene = abut.Scene(worlds.write_scene(tmp_path, **worlds.FREE), context)
    q, v = scene.start(), np.array([1.0, 2.0, 0, 0, 0, 2.0])
    q[:3] = [0.5, 0, 3.0]
    want, gravity = ("energy", "momentum", "energy_record"), [0, 0, -10.0]
    got = scene.step(q, v, steps=6, record=2, gravity=gravity, want=want)
    assert got.energy.shape == (2,) and got.momentum.shape == (6,) and got.energy_record.shape == (3, 2)
    first = scene.step(q, v, gravity=gravity, want=want[:2])
    close = 1e-5 if context.precision == "f32" else 1e-12
    np.testing.assert_allclose(first.energy, [0.5 * 2 * 5 + 0.5 * 0.04 * 4, 2 * 10 * 3], rtol=close)
    np.testing.assert_allclose(first.momentum, [2, 4, 0, -3 * 4, 3 * 2, 0.5 * 4 + 0.04 * 2], rtol=close)
    for k in range(3):
        there = scene.step(got.q_record[k], got.v_record[k], gravity=gravity, want=("energy",))
        np.testing.assert_allclose(got.energy_record[k], there.energy, rtol=close)
    few = scene.step(q, v, record=2, want=("energy_record",))
    assert few.energy_record.shape == (0, 2)
    many = scene.step(np.tile(q, (4, 1)), v, record=1, want=want)
    assert many.energy.shape == (4, 2) and many.energy_record.shape == (4, 1, 2)


def test_mass_and_forces(double, tmp_path):
    """The matrix is whole and symmetric, and M a = -c where nothing else acts."""
    free = {**worlds.MIXED, "links": [dict(link) for link in worlds.MIXED["links"]]}
    for link in free["links"]:
        link["joint"] = {key: x for key, x in link["joint"].items() if key not in ("damping", "stiffness")}
    scene = abut.Scene(worlds.write_scene(tmp_path, **free), double)
    q, v = worlds.random_states(scene, 5)
    got = scene.step(q, v, want=("mass", "bias", "acceleration", "smooth", "constraint"))
    np.testing.assert_array_equal(got.mass, np.swapaxes(got.mass, 1, 2))
    assert np.linalg.eigvalsh(got.mass).min() > 0
    np.testing.assert_allclose(np.einsum("nij,nj->ni", got.mass, got.acceleration), -got.bias, atol=1e-10)
    np.testing.assert_array_equal(got.smooth, got.acceleration)
    assert not got.constraint.any() and got.q_record is None
    heavier = scene.step(q, v, mass_scale=[2, 2, 2, 2], want=("mass", "bias"))
    np.testing.assert_allclose(heavier.mass, 2 * got.mass, rtol=1e-12)
    np.testing.assert_allclose(heavier.bias, 2 * got.bias, rtol=1e-9, atol=1e-12)


def test_steps_are_steps(context):
    """Many in one call are as many calls, to the bit; so are controls, and friction as the scene's."""
    case = worlds.Case(context, "cone-boxes-resting")
    q, v = case.read("q"), case.read("v")
    whole = case.scene.step(q, v, steps=6, record=2)
    state = abut.Step(q, v, None, None, None)
    kept = []
    for _ in range(6):
        state = case.scene.step(state.q, state.v, w=state.w, friction=[0.6], stiffness=[1.0])
        kept.append(state.q)
    for one, other in ((whole.q, state.q), (whole.v, state.v), (whole.w, state.w),
                       (whole.q_record, np.stack(kept[1::2], 1))):
        np.testing.assert_array_equal(one, other)
    tree = worlds.Case(context, "cone-tree-rollout")
    q, v, u = (tree.read(array) for array in "qvu")
    held = tree.scene.step(q, v, u, steps=4)
    each = tree.scene.step(q, v, controls=np.repeat(u[:, None], 4, 1))
    np.testing.assert_array_equal(held.q, each.q)


def test_smoothings(context, tmp_path):
    path = tmp_path / "box.scene.json"
    box = '{"joint": {"type": "free"}, "density": 1000, "bodies": [{"box": [0.1, 0.1, 0.1]}]}'
    path.write_text(f'{{"links": [{{"bodies": [{{"plane": [1, 1]}}]}}, {box}, {box}], "pairs": '
                    '[{"a": 0, "b": 1}, {"a": 0, "b": 2, "smoothing": {"penetration": 0.0004}}]}')
    fitted, stated = abut.Scene(path, context).smoothings()
    assert fitted["floor"] == 1e-3
    assert stated == {**fitted, "penetration": 0.0004} and fitted["penetration"] > 0.0004


def test_rolling(context):
    """A ball, a wheel and a box without friction come down three flush tables as down one slope, and a cart does not brake."""
    scene = abut.Scene(conftest.ROOT / "assets" / "rolling.scene.json", context)
    q = scene.start()
    time, along = 1.75, 0.684
    end = scene.step(q, np.zeros(scene.nv, context.dtype), steps=round(time / scene.timestep))
    way = (end.q - q)[[0, 7, 14, -7]] / (along * time ** 2 / 2)
    assert end.status == 0
    np.testing.assert_allclose(way, [5 / 7, 2 / 3, 0.8765, 1], rtol=0.015)  # the cart: 0.401 kg, and half of its wheels' 0.113 more
    np.testing.assert_allclose((end.q - q)[[1, 8, 15, -6]], 0, atol=2e-3)


def test_margin(context, tmp_path):
    """A box rests and holds on a slope by a margin as it does by touch, within what penetration leaves."""
    listed, automatic = [], []
    for margin in (0.0, 0.001, 0.02):
        q = np.array([[0, 0, 0.1 + margin, 1, 0, 0, 0]], context.dtype)
        listed.append(rest_on_slope(context, tmp_path / "m.scene.json", q, margin, '"pairs": [{"a": 0, "b": 1, '
                                    f'"margin": {margin}, "friction": 1}}]', ""))
        automatic.append(rest_on_slope(context, tmp_path / "m.scene.json", q, margin, '"automatic": {"friction": 1}',
                                       f', "margin": {margin}'))
    for height, creep in listed[1:] + automatic:
        assert abs(height - listed[0][0]) < 2e-5 and abs(creep - listed[0][1]) < 1e-4
    assert abs(listed[0][0]) < 3e-4 and abs(listed[0][1]) < 2e-3


def rest_on_slope(context, path, q, margin, pairs, of_body):
    path.write_text('{"gravity": [1.365, 0, -9.715], "links": [{"bodies": [{"plane": [2, 2]}]}, {"joint": {"type": "free"}, "position": [0, 0, 0.3], '
                    f'"density": 1000, "bodies": [{{"box": [0.1, 0.1, 0.1]{of_body}}}]}}], {pairs}}}')
    end = abut.Scene(path, context).step(q, np.zeros((1, 6), context.dtype), steps=500).q[0]
    return end[2] - 0.1 - margin, end[0]


def test_margin_pushes_in_the_middle(context, tmp_path):
    """Friction turns a ball that slides on its margin by an arm to the middle of the margin, as in MuJoCo."""
    radius, margin = 0.05, 0.04
    path = tmp_path / "m.scene.json"
    path.write_text('{"links": [{"bodies": [{"plane": [2, 2]}]}, {"joint": {"type": "free"}, "mass": 1, "inertia": [[0.001, 0, 0], '
                    f'[0, 0.001, 0], [0, 0, 0.001]], "bodies": [{{"sphere": {radius}}}]}}], "pairs": [{{"a": 1, "b": 0, "margin": {margin}, '
                    '"friction": 0.2}]}')
    start = np.array([0, 0, radius + margin - 0.0002, 1, 0, 0, 0], context.dtype)
    end = abut.Scene(path, context).step(start, np.array([2, 0, 0, 0, 0, 0], context.dtype), steps=50)
    assert end.status == 0 and end.v[0] < 1.9
    np.testing.assert_allclose(0.001 * end.v[4] / (2 - end.v[0]), radius + margin / 2, rtol=0.01)


# ---- pyramids of friction ----

ON_A_TABLE = """{"gravity": %s, "cone": "pyramidal", "diagonal": "%s", "links": [
 {"bodies": [{"box": [2, 2, 0.1], "position": %s, "quaternion": %s}]},
 {"position": [0, 0, 1], "joint": {"type": "free"}, "density": 400, "bodies": [{"box": [0.1, 0.08, 0.05]}]},
 {"position": [0, 0, 2], "joint": {"type": "free"}, "density": 400, "bodies": [{"box": [0.06, 0.05, 0.04]}]},
 {"position": [0, 0, 3], "joint": {"type": "free"}, "density": 400, "bodies": [{"capsule": [0.04, 0.1], "quaternion": [0.8, 0, 0.6, 0]}]},
 {"position": [0, 0, 4], "joint": {"type": "free"}, "density": 400, "bodies": [{"cylinder": [0.05, 0.06]}]},
 {"position": [0, 0, 5], "joint": {"type": "free"}, "density": 400, "bodies": [{"sphere": 0.05}]}], "automatic": {"friction": 0.4, "margin": 0.002}}"""
POSITIONS = [[0, 0, 0.0515], [0.01, 0.02, 0.1425], [0.5, 0, 0.0691], [-0.5, 0, 0.0515], [0, 0.5, 0.0515]]
SPEEDS = [[0.2, 0.1, 0], [-0.3, 0.2, 0], [0.5, -0.4, 0], [0.4, 0.7, 0], [0.3, 0.8, 0]]


def about(axis, degrees):
    half = np.radians(degrees) / 2
    return np.array([np.cos(half), *np.sin(half) * np.array(axis) / np.linalg.norm(axis)])


def matrix(quaternion):
    w, x = quaternion[0], quaternion[1:]
    hat = np.cross(x, np.eye(3)).T
    return np.eye(3) + 2 * w * hat + 2 * hat @ hat


@pytest.mark.parametrize("diagonal", ["approximate", "exact"])
def test_pyramids_turn_with_the_scene(diagonal, tmp_path):
    """Of a scene that is turned as a whole all bodies move as they do without, to rounding. They slide at angles to the world's axes."""
    context = abut.Context("host", precision="f64")
    turns = [np.array([1.0, 0, 0, 0]), about([0, 0, 1], 20), about([0, 0, 1], 45),
             about([1, -2, 0.5], 45), about([-0.3, 0.4, 1], 130)]
    ways = []
    for turn in turns:
        R = matrix(turn)
        path = tmp_path / "turned.scene.json"
        path.write_text(ON_A_TABLE % ((R @ [1.2, 0.5, -9.7]).tolist(), diagonal, (R @ [0, 0, -0.1]).tolist(), turn.tolist()))
        scene = abut.Scene(path, context)
        q = np.concatenate([[*(R @ x), *turn] for x in POSITIONS])
        v = np.concatenate([[*(R @ x), 0, 0, 0.5] for x in SPEEDS])
        end = scene.step(q, v, steps=200)
        assert end.status == 0
        ways.append(np.stack([np.concatenate([R.T @ x[:3], R.T @ matrix(x[3:7])], axis=None) for x in end.q.reshape(-1, 7)]))
    moved = np.linalg.norm(ways[0][:, :2] - np.array(POSITIONS)[:, :2], axis=1)
    assert (moved > 0.005).all(), moved
    for way in ways[1:]:
        np.testing.assert_allclose(way, ways[0], atol=1e-9)


def test_statuses(context, tmp_path):
    scene = abut.Scene(worlds.write_scene(tmp_path, divergence=10, **worlds.FREE), context)
    q = np.tile(scene.start(), (4, 1))
    v = np.zeros((4, 6))
    q[1, 3:] = 0
    q[2, 0] = np.nan
    v[3, 0] = 11
    with pytest.warns(UserWarning) as told:
        got = scene.step(q, v, gravity=[0, 0, 0])
    texts = [str(w.message) for w in told]
    assert len(texts) == 2 and texts[0].startswith("1 of 4 worlds (3 first) diverge"), texts
    assert "2 of 4 worlds (1 first) had states" in texts[1] and told[0].filename == __file__
    assert [abut.WorldStatus(int(s)) for s in got.status] == [
        abut.WorldStatus.OK, abut.WorldStatus.BAD_INPUT, abut.WorldStatus.BAD_INPUT,
        abut.WorldStatus.DIVERGED]
    assert (got.status & abut.WorldStatus.STOPS != 0).tolist() == [False, True, True, True]
    assert not abut.WorldStatus.FAST & abut.WorldStatus.STOPS
    assert got.status.dtype == np.uint32 and got.iterations.dtype == np.uint32
    np.testing.assert_array_equal(got.q[3], q[3].astype(got.q.dtype))  # as it was
    v[:, 2] = -10 + 2.5 * 5 * scene.timestep  # beyond 10 m/s by the third step
    q[:] = q[0]
    v[3] = 0
    got = scene.step(q, v, gravity=[0, 0, -5], steps=6, want=("status_step",))
    never = 2**32 - 1
    assert got.status_step.tolist() == [[never, 2] + [never] * 10] * 3 + [[never] * 12]


def test_what_is_too_fast_is_named(context, tmp_path):
    (tmp_path / "fast.scene.json").write_text(
        '{"gravity": [0, 0, 0], "links": [{"bodies": [{"box": [1, 1, 0.005]}]}, {"position": [0, 0, 0.2], '
        '"joint": {"type": "free"}, "density": 1000, "bodies": [{"sphere": 0.05}]}], "pairs": [{"a": 1, "b": 0}]}')
    scene = abut.Scene(tmp_path / "fast.scene.json", context)
    q, v = np.tile(scene.start(), (2, 1)), np.zeros((2, 6))
    v[1, 2] = -20.0
    with pytest.warns(UserWarning, match=r"1 of 2 worlds \(1 first\) had bodies that .*: link 1 and link 0 \(abut.WorldSt"):
        assert scene.step(q, v, steps=10, want=("fast_links",)).fast_links.tolist() == [[0, 0], [2, 1]]
    with pytest.warns(UserWarning, match="fast_links"):
        assert scene.step(q, v, steps=10).fast_links is None


# ---- shapes and kinds ----

def test_leading_axes(context, tmp_path):
    scene = abut.Scene(worlds.write_scene(tmp_path, **worlds.MIXED), context)
    q, v = worlds.random_states(scene, 6)
    u = np.array([0.3, -0.2])
    flat = scene.step(q, v, u)
    folded = scene.step(q.reshape(2, 3, -1), v.reshape(2, 3, -1), np.broadcast_to(u, (3, 2)))
    assert folded.q.shape == (2, 3, scene.nq) and folded.status.shape == (2, 3)
    np.testing.assert_array_equal(folded.q.reshape(flat.q.shape), flat.q)
    one = scene.step(q[0], v[0], u)
    assert one.q.shape == (scene.nq,) and one.status.shape == ()
    np.testing.assert_array_equal(one.q, flat.q[0])
    many = scene.step(q[0], v[0], u, gravity=np.zeros((5, 3)), record=1, steps=3, want=("mass",))
    assert many.q_record.shape == (5, 3, scene.nq) and many.mass.shape == (5, scene.nv, scene.nv)
    none = scene.step(q[:0], v[:0])
    assert none.q.shape == (0, scene.nq) and none.status.shape == (0,)
    with pytest.raises(abut.Error, match="at least 1"):
        scene.step(q, v, steps=0)
    assert {a.dtype for a in (flat.q, flat.v, flat.w)} == {context.dtype}
    whole = scene.step(np.round(q).astype(int), np.zeros(scene.nv, int))
    assert whole.q.dtype == context.dtype


def test_refusals(context, tmp_path):
    path = worlds.write_scene(tmp_path, **worlds.MIXED)
    scene = abut.Scene(path, context)
    q, v = worlds.random_states(scene, 2)
    for given, text in [
            ({"q": q[:, :3]}, r"q has shape \(2, 3\), not \(..., 13\)"),
            ({"v": v[:, 1:]}, "v has shape"), ({"v": np.zeros(())}, "v has shape"),
            ({"u": np.zeros(3)}, r"u has shape \(3,\), not \(..., 2\)"),
            ({"q": q, "gravity": np.zeros((3, 3))}, "do not have the same batch dimensions: q"),
            ({"gravity": [0.0, 9.81]}, "gravity has shape"), ({"steps": -1}, "steps is -1"),
            ({"record": 0.5}, "record is 0.5"), ({"want": ("energies",)}, "want 'energies' is not"),
            ({"want": ("energy_record",)}, "recorded states"),
            ({"u": np.zeros(2), "controls": np.zeros((3, 2))}, "not both"),
            ({"controls": np.zeros((3, 2)), "steps": 4}, r"controls has shape"),
            ({"q": np.array(["a"])}, "expected numbers")]:
        with pytest.raises(ValueError, match=text):
            scene.step(**{"q": q, "v": v, **given})
    with pytest.raises(abut.Error, match="no-such") as raised:
        abut.Scene(tmp_path / "no-such.scene.json", context)
    assert raised.value.name == "ABUT_ERROR_READ"
    bad = worlds.write_scene(tmp_path, "bad", links=[{"mass": -1}])
    with pytest.raises(abut.Error, match=r"bad.scene.json:1: .*mass") as raised:
        context.scene(bad)
    assert raised.value.name == "ABUT_ERROR_FORMAT"
    scene.close()
    with pytest.raises(ValueError, match="closed"):
        scene.step(q, v)
    assert "closed" in repr(scene)


def test_given_contacts_are_checked(double):
    case = worlds.Case(double, "cone-given-contacts")
    q, v, contacts = case.read("q"), case.read("v"), case.options["contacts"]
    with pytest.raises(abut.Error, match="give the contacts"):
        case.scene.step(q, v)
    with pytest.raises(ValueError, match="d has shape"):
        case.scene.step(q, v, contacts=contacts._replace(d=contacts.d[:, 1:]))
    with pytest.raises(ValueError, match="pair has 1 contacts"):
        case.scene.step(q, v, contacts=contacts._replace(pair=contacts.pair[:1]))
    with pytest.raises(ValueError, match="owner must be a row"):
        case.scene.step(q, v, contacts=contacts._replace(owner=np.zeros(24)))
    # Of 2 ** 32 only zeros are left in 32 bits.
    for name, number, what in (("owner", 2 ** 32, "link"), ("opposing", -2 ** 32 - 1, "link"), ("pair", 2 ** 32, "pair")):
        which = np.array(getattr(contacts, name), np.int64)
        which[-1] = number
        with pytest.raises(ValueError, match=f"^{name} holds {number}, which is no {what}$"):
            case.scene.step(q, v, contacts=contacts._replace(**{name: which}))
    with pytest.raises(ValueError, match="^owner holds 18446744073709551615, which"):
        case.scene.step(q, v, contacts=contacts._replace(owner=np.full(24, 2 ** 64 - 1, np.uint64)))
    with pytest.raises(abut.Error, match="contact 0 names pair 99"):
        case.scene.step(q, v, contacts=contacts._replace(pair=np.full(24, 99)))
    none = abut.GivenContacts(*(np.zeros(0, int),) * 3, *(np.zeros(shape) for shape in ((0, 3), 0, (0, 3), 0)))
    free = case.scene.step(q, v, contacts=none, want=("constraint",))
    assert np.isfinite(free.q).all()


def test_scenes_are_collected(double, tmp_path):
    path = worlds.write_scene(tmp_path, **worlds.FREE)
    with abut.Scene(path, double) as scene:
        handle = scene.handle
    assert abut._worlds.lib.abut_destroy_scene(handle) != 0  # gone
    scene = double.scene(path)
    handle = scene.handle
    del scene
    gc.collect()
    assert abut._worlds.lib.abut_destroy_scene(handle) != 0
    default = abut.Scene(path)
    assert default.context is abut.default_context()


# ---- positions ----

def test_add_and_subtract(context, tmp_path):
    scene = abut.Scene(worlds.write_scene(tmp_path, **worlds.MIXED), context)
    q, _ = worlds.random_states(scene, 50)
    close = 1e-5 if context.precision == "f32" else 1e-14
    d = np.random.default_rng(1).uniform(-1.8, 1.8, (50, scene.nv))  # turns by less than pi
    d[:20] *= np.logspace(-12, 0, 20)[:, None]
    moved = scene.add(q, d)
    # Position, quaternion, hinge, ball, slide.
    np.testing.assert_allclose(moved[:, [0, 1, 2, 7, 12]], (q[:, [0, 1, 2, 7, 12]] + d[:, [0, 1, 2, 6, 10]]),
                               atol=close)
    for at in (slice(3, 7), slice(8, 12)):
        np.testing.assert_allclose(np.linalg.norm(moved[:, at], axis=1), 1, atol=close)
    np.testing.assert_allclose(scene.subtract(moved, q), d, atol=3 * close)
    np.testing.assert_allclose(scene.subtract(q, q), 0, atol=1e-16)
    turned = scene.start()
    turned[3:7] = [np.cos(0.3), 0, 0, np.sin(0.3)]
    quarter = scene.add(turned, np.eye(scene.nv)[5] * np.pi / 2)
    np.testing.assert_allclose(quarter[3:7], [np.cos(0.3 + np.pi / 4), 0, 0, np.sin(0.3 + np.pi / 4)], atol=close)
    # A quaternion's length and sign do not count.
    longer = q.copy()
    longer[:, 3:7] *= -3
    np.testing.assert_allclose(scene.subtract(moved, longer), scene.subtract(moved, q), atol=3 * close)
    np.testing.assert_allclose(scene.add(longer, d)[:, 3:7], -moved[:, 3:7], atol=close)
    longer[7, 3:7] = 0
    longer[8, 0] = np.inf
    assert np.isnan(scene.add(longer, d)).any(1).tolist() == [k in (7, 8) for k in range(50)]
    with pytest.raises(ValueError, match="d has shape"):
        scene.add(q, d[:, 1:])
    with pytest.raises(ValueError, match="do not have the same batch"):
        scene.subtract(q, q[:3])


def test_a_step_is_along_velocity(double, tmp_path):
    """q' = q (+) h v'."""
    scene = abut.Scene(worlds.write_scene(tmp_path, **worlds.MIXED), double)
    q, v = worlds.random_states(scene, 5)
    got = scene.step(q, v)
    np.testing.assert_allclose(scene.subtract(got.q, q), scene.timestep * got.v, atol=1e-12)


def test_maps_of_derivatives(double, tmp_path):
    """Against differences of (+) and (-), and each other's transposes; of any length of quaternion."""
    scene = abut.Scene(worlds.write_scene(tmp_path, **worlds.MIXED), double)
    rng = np.random.default_rng(3)
    q, _ = worlds.random_states(scene, 4)
    d, step = rng.normal(size=(4, scene.nv)), 1e-6
    slope = (scene.add(q, step * d) - scene.add(q, -step * d)) / (2 * step)
    np.testing.assert_allclose(scene.map("slope_from_tangent", q, d), slope, atol=1e-9)
    longer = q.copy()
    longer[:, 3:7] *= 1.7
    longer[:, 8:12] *= 0.2
    x = rng.normal(size=(4, scene.nq))
    moved = scene.subtract(longer + step * x, longer - step * x) / (2 * step)
    np.testing.assert_allclose(scene.map("slope_to_tangent", longer, x), moved, atol=1e-8)
    for kind in ("slope", "gradient"):
        there = scene.map(kind + "_from_tangent", longer, d)
        np.testing.assert_allclose(scene.map(kind + "_to_tangent", longer, there), d, atol=1e-12)
    for one, other in (("slope_from_tangent", "gradient_to_tangent"),
                       ("gradient_from_tangent", "slope_to_tangent")):
        np.testing.assert_allclose((scene.map(one, longer, d) * x).sum(1), (scene.map(other, longer, x) * d).sum(1),
                                   atol=1e-12)
    g = scene.map("gradient_from_tangent", longer, d)
    np.testing.assert_allclose((g[:, 3:7] * longer[:, 3:7]).sum(1), 0, atol=1e-12)
    np.testing.assert_array_equal(g[:, [0, 1, 2, 7, 12]], d[:, [0, 1, 2, 6, 10]])
    with pytest.raises(ValueError, match="'tangent' is not among"):
        scene.map("tangent", q, d)




# ---- derivatives ----

SLOPES = ("q", "v", "u", *worlds.PARAMETERS)


def cotangents(case, q, name):
    """A file's cotangent of (q', v') in the tangent space, by the numbers of q'."""
    bar = case.read(name)
    return {"q_bar": case.scene.map("gradient_from_tangent", np.nan_to_num(q), bar[..., :case.scene.nv]),
            "v_bar": bar[..., case.scene.nv:]}


@pytest.mark.parametrize("name", worlds.CASES)
def test_golden_gradients(context, name):
    case = worlds.Case(context, name)
    q, v, u = (case.read(array) for array in "qvu")
    made = case.scene.step(q, v, u, **case.options)
    bars = cotangents(case, made.q, "cotangent")
    g = case.scene.vjp(q, v, u, made=made, wrt=SLOPES, **bars, **case.options)
    state = np.concatenate([case.scene.map("gradient_to_tangent", np.nan_to_num(q), g.q), g.v], -1)
    good = np.isfinite(state).all(1)
    assert good.all() or case.name == "cone-status-stopped"
    state[~good] = 0  # whose q is none
    case.check("vjp_state", state)
    for slope in SLOPES[2:]:
        if "vjp_" + slope in case.expected:
            case.check("vjp_" + slope, getattr(g, slope))
    if "cotangent_qacc" in case.inputs and "qacc_vjp_p" in case.expected:
        g = case.scene.vjp(q, v, u, acceleration_bar=case.read("cotangent_qacc"),
                           wrt=("p", "d", "n", "activity"), **case.options)
        for array in ("p", "d", "n", "activity"):
            case.check("qacc_vjp_" + array, getattr(g, array))


@pytest.mark.parametrize("name", [pytest.param(name, marks=[conftest.long] if name == "cone-figure-pair" else []) for name in worlds.ROLLOUTS])
def test_golden_gradients_of_rollouts(double, name):
    case = worlds.Case(double, name)
    q, v, options = case.rollout()
    steps = case.expected["rollout_q"].shape[1]
    made = case.scene.step(q, v, **options)
    g = case.scene.vjp(q, v, made=made, wrt=SLOPES, **options, **cotangents(case, made.q, "cotangent_rollout"))
    case.check("rollout_grad_q", case.scene.map("gradient_to_tangent", q, g.q))
    for slope in SLOPES[1:]:
        if "rollout_grad_" + slope in case.expected:
            case.check("rollout_grad_" + slope, getattr(g, slope))
    # Of states that are kept on the way: the last one is the state after all steps.
    kept = case.scene.step(q, v, record=steps, **options)
    bars = cotangents(case, made.q, "cotangent_rollout")
    again = case.scene.vjp(q, v, record=steps, made=kept, q_record_bar=bars["q_bar"][:, None],
                           v_record_bar=bars["v_bar"][:, None], **options)
    np.testing.assert_array_equal(again.q, g.q)
    np.testing.assert_array_equal(again.v, g.v)


def test_gradients_without_ends(double, tmp_path):
    """Without quaternions a gradient needs no state at the end: it is the same to the bit, and no step is made for it. What has
    the wrong shape is named."""
    hinge = {"joint": {"type": "hinge", "axis": [0, 1, 0]}, "mass": 1, "inertia": np.eye(3).tolist()}
    joints = ({"type": "hinge", "axis": [1, 0, 0]}, {"type": "free"})
    for joint, more in zip(joints, (0, 1)):
        path = worlds.write_scene(tmp_path, timestep=0.01, links=[hinge, {**hinge, "com": [0.1, 0, 0.2], "joint": joint}])
        with abut.Scene(path, double) as scene:
            q, v = scene.start() + 0.1, np.linspace(0.1, 1, scene.nv)
            bars = {"q_bar": np.ones(scene.nq), "v_bar": np.ones(scene.nv), "q_record_bar": np.ones((2, scene.nq)), "record": 1}
            made = scene.step(q, v, steps=2, record=1)
            before = double.counters["launches"]
            given = scene.vjp(q, v, steps=2, made=made, **bars)
            middle = double.counters["launches"]
            anew = scene.vjp(q, v, steps=2, **bars)
            assert np.array_equal(given.q, anew.q) and np.array_equal(given.v, anew.v)
            assert (double.counters["launches"] - middle > middle - before) == more
            with pytest.raises(ValueError, match="q_bar"):
                scene.vjp(q, v, q_bar=np.ones(scene.nq + 1))


def test_gradients_by_numbers(double, tmp_path):
    """Against differences of the numbers given, quaternions of any length among them."""
    scene = abut.Scene(worlds.write_scene(tmp_path, **worlds.MIXED), double)
    rng = np.random.default_rng(5)
    q, v = worlds.random_states(scene, 3)
    q[:, 3:7] *= 1.5
    q[:, 8:12] *= -0.7
    given = {"q": q, "v": v, "controls": rng.normal(size=(3, 4, 2)),
             "mass_scale": rng.uniform(0.5, 2, (3, 4)), "gravity": rng.normal(size=(3, 3))}
    bars = {"q_bar": rng.normal(size=(3, 13)), "v_bar": rng.normal(size=(3, 11)),
            "q_record_bar": rng.normal(size=(3, 2, 13)), "v_record_bar": rng.normal(size=(3, 2, 11))}

    def loss(**changed):
        s = scene.step(**{**given, **changed}, record=2)
        return sum((bars[name + "_bar"] * getattr(s, name)).reshape(3, -1).sum(1)
                   for name in ("q", "v", "q_record", "v_record"))

    g = scene.vjp(**given, **bars, record=2, wrt=SLOPES)
    assert g.u.shape == (3, 4, 2) and g.friction.shape == (3, 0)
    for name in given:
        slope = getattr(g, "u" if name == "controls" else name)
        for _ in range(4):
            t = rng.normal(size=given[name].shape)
            step = 1e-6
            wanted = (loss(**{name: given[name] + step * t}) - loss(**{name: given[name] - step * t})) / (2 * step)
            np.testing.assert_allclose((slope * t).reshape(3, -1).sum(1), wanted, rtol=1e-7, atol=1e-7)
    for at in (slice(3, 7), slice(8, 12)):
        np.testing.assert_allclose((g.q[:, at] * q[:, at]).sum(1), 0, atol=1e-10)


def test_refusals_of_gradients(double, tmp_path):
    scene = abut.Scene(worlds.write_scene(tmp_path, **worlds.MIXED), double)
    q, v = worlds.random_states(scene, 2)
    for given, text in [({}, "give at least one cotangent"), ({"v_bar": v[:, 1:]}, "v_bar has shape"),
                        ({"v_record_bar": v[:, None]}, "recorded states"),
                        ({"v_bar": v, "wrt": ("w",)}, "wrt 'w' is not among"),
                        ({"v_bar": v, "wrt": ("p",)}, "no contacts are given")]:
        with pytest.raises(ValueError, match=text):
            scene.vjp(q, v, **given)


def test_gradients_of_stopped_worlds(context, tmp_path):
    scene = abut.Scene(worlds.write_scene(tmp_path, **worlds.FREE), context)
    q, v = np.tile(scene.start(), (3, 1)), np.ones((3, 6))
    q[1, 3:] = 0
    q[2, 1] = np.nan
    g = scene.vjp(q, v, q_bar=np.ones((3, 7)), v_bar=np.ones((3, 6)), wrt=SLOPES)
    for slope in g[:7]:
        assert np.isfinite(slope).all() and not slope[1:].any()
    assert g.q[0].any() and g.v[0].all()


def test_gradients_of_worlds_that_stop_on_the_way(double):
    case = worlds.Case(double, "cone-tree-rollout")
    q, v, options = case.rollout()
    stopped = case.expected["rollout_status"].any(1)
    assert stopped.tolist() == [False, False, True]
    g = case.scene.vjp(q, v, **options, q_bar=np.ones_like(q), wrt=SLOPES)
    for slope in (g.q, g.v, g.u, g.mass_scale, g.gravity):
        assert not slope[stopped].any() and slope[~stopped].any()


# ---- forward mode, linear models ----

@pytest.mark.parametrize("name", worlds.CASES)
def test_golden_transitions(context, name):
    case = worlds.Case(context, name)
    q, v, u = (case.read(array) for array in "qvu")
    t = case.scene.transition(q, v, u, want=worlds.PARAMETERS, **case.options)
    assert t.B.shape == (len(q), 2 * case.scene.nv, case.scene.nu)
    found = {"A": t.A, "B": t.B, **{"P_" + key: getattr(t, key) for key in worlds.PARAMETERS}}
    for array, matrix in found.items():
        if array in case.expected:
            case.check(array, matrix)
    for file, own in {"q1": "q", "v1": "v"}.items():
        case.check(file, getattr(t.step, own))
    case.check_status(t.step.status)


@pytest.mark.parametrize("name", ["cone-tree-rollout", "cone-boxes-resting", "cone-given-contacts",
                                  "cone-actuators-rk4", "cone-status-stopped"])
def test_tangents_and_transitions(context, name):
    """One step's tangents are its matrices times those of the tangent space."""
    case = worlds.Case(context, name)
    scene, rng = case.scene, np.random.default_rng(4)
    q, v, u = (case.read(array) for array in "qvu")
    shapes = {"q": scene.nv, "v": scene.nv, "u": scene.nu, "mass_scale": scene.links,
              "friction": scene.pairs, "stiffness": scene.pairs, "gravity": 3}
    x = {key: rng.normal(size=(len(q), width)).astype(case.dtype) for key, width in shapes.items()}
    t = scene.transition(q, v, u, want=worlds.PARAMETERS, **case.options)
    columns = np.concatenate([t.A, t.B, *(getattr(t, key) for key in worlds.PARAMETERS)], -1)
    wanted = np.einsum("nij,nj->ni", columns, np.concatenate(list(x.values()), -1))
    q_tangent = np.nan_to_num(scene.map("slope_from_tangent", q, x.pop("q")))
    got = scene.jvp(q, v, u, q_tangent=q_tangent, **case.options,
                    **{key + "_tangent": value for key, value in x.items()})
    np.testing.assert_array_equal(got.step.q, t.step.q)
    assert np.isfinite(got.q).all() and np.isfinite(got.v).all() and got.q_record is None
    moved = np.nan_to_num(scene.map("slope_to_tangent", got.step.q, got.q))
    close = 1e-3 if context.precision == "f32" else 1e-11
    for world, one in enumerate(np.concatenate([moved, got.v], 1)):
        np.testing.assert_allclose(one, wanted[world], atol=close * (np.abs(wanted[world]).max() or 1))


def test_tangents_by_numbers(double, tmp_path):
    """Against differences of the numbers given, quaternions of any length among them; and against
    gradients."""
    scene = abut.Scene(worlds.write_scene(tmp_path, **worlds.MIXED), double)
    rng = np.random.default_rng(5)
    q, v = worlds.random_states(scene, 3)
    q[:, 3:7] *= 1.5
    q[:, 8:12] *= -0.7
    given = {"q": q, "v": v, "controls": rng.normal(size=(3, 4, 2)),
             "mass_scale": rng.uniform(0.5, 2, (3, 4)), "gravity": rng.normal(size=(3, 3))}
    own = {name: "u" if name == "controls" else name for name in given}
    tangents = {name: rng.normal(size=x.shape) for name, x in given.items()}
    fields, step = ("q", "v", "q_record", "v_record"), 1e-6

    def moved(sign, names):
        return scene.step(**{name: x + sign * step * tangents[name] if name in names else x
                             for name, x in given.items()}, record=2)

    for names in (*((name,) for name in given), tuple(given)):
        got = scene.jvp(**given, record=2, **{own[name] + "_tangent": tangents[name] for name in names})
        for field, ahead, behind in ((f, getattr(moved(1, names), f), getattr(moved(-1, names), f)) for f in fields):
            np.testing.assert_allclose(getattr(got, field), (ahead - behind) / (2 * step), rtol=1e-6, atol=1e-7)
    np.testing.assert_array_equal(got.step.q_record, scene.step(**given, record=2).q_record)
    bars = {field: rng.normal(size=getattr(got, field).shape) for field in fields}
    g = scene.vjp(**given, record=2, wrt=list(own.values()), **{field + "_bar": bar for field, bar in bars.items()})
    np.testing.assert_allclose(
        sum((bar * getattr(got, field)).reshape(3, -1).sum(1) for field, bar in bars.items()),
        sum((getattr(g, own[name]) * x).reshape(3, -1).sum(1) for name, x in tangents.items()), rtol=1e-10)


def test_tangents_of_rollouts_with_contacts(double):
    case = worlds.Case(double, "cone-boxes-resting")
    q, v, options = case.rollout()
    scene, rng, step = case.scene, np.random.default_rng(6), 1e-7
    d, dv = 1e-1 * rng.normal(size=v.shape), 1e-1 * rng.normal(size=v.shape)
    got = scene.jvp(q, v, q_tangent=scene.map("slope_from_tangent", q, d), v_tangent=dv, record=1, **options)
    ahead, behind = (scene.step(scene.add(q, s * d), v + s * dv, record=1, **options) for s in (step, -step))
    for world, (one, other) in enumerate(zip(got.v_record, (ahead.v_record - behind.v_record) / (2 * step))):
        np.testing.assert_allclose(one, other, atol=1e-4 * np.abs(other).max())
    np.testing.assert_array_equal(got.q_record[:, -1], got.q)
    np.testing.assert_array_equal(got.v_record[:, -1], got.v)


def test_shapes_of_tangents(context, tmp_path):
    scene = abut.Scene(worlds.write_scene(tmp_path, **worlds.MIXED), context)
    q, v = worlds.random_states(scene, 6)
    flat = scene.jvp(q, v, v_tangent=np.ones(scene.nv), u_tangent=[1.0, 0.0], steps=3, record=2)
    folded = scene.jvp(q.reshape(2, 3, -1), v.reshape(2, 3, -1), v_tangent=np.ones((3, scene.nv)),
                       u_tangent=[1.0, 0.0], steps=3, record=2)
    for field in ("q", "v", "q_record", "v_record"):
        np.testing.assert_array_equal(getattr(folded, field).reshape(getattr(flat, field).shape), getattr(flat, field))
    assert flat.q_record.shape == (6, 1, scene.nq) and flat.q.dtype == context.dtype
    one = scene.transition(q[0], v[0])
    assert one.A.shape == (22, 22) and one.B.shape == (22, 2) and one.gravity is None
    assert scene.transition(q[:0], v[:0], want=("gravity",)).gravity.shape == (0, 22, 3)
    assert scene.jvp(q[:0], v[:0], q_tangent=q[:0]).q.shape == (0, scene.nq)
    with pytest.raises(abut.Error, match="at least 1"):
        scene.jvp(q, v, v_tangent=v, steps=0)
    few = scene.jvp(q, v, v_tangent=v, record=9)
    assert few.q_record.shape == (6, 0, scene.nq)
    for given, text in [({}, "give at least one tangent"), ({"q_tangent": v}, "q_tangent has shape"),
                        ({"u_tangent": np.ones((3, 2))}, "u_tangent has shape")]:
        with pytest.raises(ValueError, match=text):
            scene.jvp(q, v, **given)
    with pytest.raises(ValueError, match="want 'A' is not"):
        scene.transition(q, v, want=("A",))


# ---- hard contacts ----

LANDED = {"contact_model": "lcp", "timestep": 0.01, "links": [
    {"joint": {"type": "slide", "axis": [0, 0, 1]}, "mass": 1, "inertia": np.eye(3).tolist()}],
    "actuators": [{"kind": "motor", "joint": 0}], "pairs": [{"friction": 0, "restitution": 0}]}


def landed(count):
    """A point that touches the floor, of `count` worlds."""
    one = np.ones((count, 1))
    return abut.GivenContacts([0], [-1], [0], p=np.zeros((count, 1, 3)), d=0 * one,
                              n=np.tile([0, 0, 1.0], (count, 1, 1)), activity=one)


def test_hard_contacts(context, tmp_path):
    """What lies stays, whatever its weight; what is pulled up leaves; a guess that is right ends it."""
    scene = abut.Scene(worlds.write_scene(tmp_path, **LANDED), context)
    u = np.array([[0.0], [9.0], [11.0]])
    got = scene.step(np.zeros((3, 1)), np.zeros((3, 1)), u, contacts=landed(3), want=("constraint",))
    close = 1e-5 if context.precision == "f32" else 1e-12
    np.testing.assert_allclose(got.v[:, 0], [0, 0, 0.01 * (11 - 9.81)], atol=close)
    np.testing.assert_allclose(got.constraint[:, 0], [9.81, 0.81, 0], atol=200 * close)
    assert got.status.tolist() == [0] * 3 and got.iterations[0] == abut.LcpEnd.WARM


def test_bounces_on_a_moved_link(double, tmp_path):
    """What turns and moves all of a world with its start, a plate that a ball bounces off by its controls among that, turns and moves
    its end: derivatives by the controls must add up to that with those by the rest."""
    path = tmp_path / "bounce.scene.json"
    path.write_text(json.dumps({
        "contact_model": "lcp", "timestep": 0.01, "links": [
            {"joint": {"type": "moved"}, "position": [0.1, 0, 0.2], "bodies": [{"plane": [2, 2]}]},
            {"joint": {"type": "free"}, "density": 500, "bodies": [{"sphere": 0.1}]}],
        "pairs": [{"a": 1, "b": 0, "restitution": 0.7, "friction": 0.2}]}))
    with abut.Scene(path, double) as scene:
        q, v = np.array([0.3, 0.1, 0.351, 1, 0, 0, 0]), np.array([0.4, 0.1, -3, 0, 0, 0])
        u = np.array([0.01, 0.02, 0.05, 0.1, -0.05, 0.2])
        end, t = scene.step(q, v, u), scene.transition(q, v, u, want=("gravity",))
        assert end.v[2] > 1.5
        assert np.abs(t.B[:, :3]).max() > 1 and np.allclose(t.B[:, :3] + t.A[:, :3], np.eye(12)[:, :3], atol=1e-12)
        angle, middle = np.linalg.norm(u[3:]), np.array([0.1, 0, 0.2]) + u[:3]
        cross = np.cross(np.eye(3), u[3:])  # the matrix of s x
        spin = np.eye(3) + (1 - np.cos(angle)) / angle**2 * cross + (angle - np.sin(angle)) / angle**3 * cross @ cross
        for axis in np.eye(3):
            by = t.A[:, :3] @ np.cross(axis, q[:3] - middle) + t.A[:, 3:6] @ axis + t.A[:, 6:9] @ np.cross(axis, v[:3])
            by += t.B[:, 3:] @ np.linalg.solve(spin, axis) + t.gravity @ np.cross(axis, [0, 0, -9.81])
            assert np.allclose(by[:3], np.cross(axis, end.q[:3] - middle), atol=1e-12)
            assert np.allclose(by[6:9], np.cross(axis, end.v[:3]), atol=1e-12)
        bar = np.random.default_rng(3).normal(size=12) * (np.arange(12) // 3 != 1)  # none of the ball's turn
        back = scene.vjp(q, v, u, q_bar=np.append(bar[:3], np.zeros(4)), v_bar=bar[6:], wrt=("u",))
        assert np.allclose(back.u, bar @ t.B, atol=1e-12)


def test_escape(context, tmp_path):
    """A clamped contact hides the actuator from a loss that wants the body to rise; open, it does not."""
    scene = abut.Scene(worlds.write_scene(tmp_path, **LANDED), context)
    still = np.zeros((2, 1))
    bars = {"v_bar": np.array([[-1.0], [1.0]]), "contacts": landed(2)}  # d loss / d v': up, and down
    hidden = scene.vjp(still, still, still, **bars)
    assert hidden.escaped is None and not hidden.u.any() and not hidden.v.any()
    seen = scene.vjp(still, still, still, escape=True, **bars)
    close = 1e-6 if context.precision == "f32" else 1e-12
    np.testing.assert_allclose(seen.u[:, 0], [-0.01, 0], atol=close)
    np.testing.assert_allclose(seen.v[:, 0], [-1, 0], atol=close)
    assert seen.escaped.tolist() == [1, 0]


def test_contact_model(context, tmp_path):
    """A scene as of another model: what its own has alone is left aside, a box bounces as that model says."""
    falling = {"integrator": "rk4", "links": [
        {"bodies": [{"plane": [2, 2]}]},
        {"joint": {"type": "free"}, "position": [0, 0, 0.3], "density": 500, "bodies": [{"box": [0.1, 0.1, 0.1]}]}],
        "pairs": [{"a": 1, "b": 0, "restitution": 0.8}]}
    path = worlds.write_scene(tmp_path, **falling)
    soft, hard = abut.Scene(path, context), context.scene(path, contact_model="lcp")
    up = [max(scene.step(scene.start(), np.zeros(6), steps=150, record=1).v_record[:, 2]) for scene in (soft, hard)]
    assert 1.55 < up[1] < 1.62 and up[0] < 1.0  # 0.8 times 1.98 m/s
    with pytest.raises(abut.Error, match="no contact model \"stiff\""):
        abut.Scene(path, context, contact_model="stiff")


def test_automatic_pairs(tmp_path):
    """Bodies by number, candidates, and a column of friction and of stiffness for each body that is in one."""
    ball = {"joint": {"type": "free"}, "density": 500}
    links = [{"bodies": [{"plane": [5, 5], "friction": 0.2}]},
             {**ball, "position": [0, 0, 0.1], "bodies": [{"box": [0.1, 0.1, 0.1]}, {"sphere": 0.05, "position": [0, 0, 0.15], "contype": 0,
                                                                                    "conaffinity": 0}]},
             {**ball, "position": [0, 0.5, 0.1], "bodies": [{"box": [0.1, 0.1, 0.1], "friction": 0.6}]}]
    path = tmp_path / "automatic.scene.json"
    path.write_text(json.dumps({"links": links, "automatic": {"friction": 0.4}, "pairs": [{"a": [1, 1], "b": 0, "friction": 0.9}]}))
    with abut.Context("host", precision="f64") as on, abut.Scene(path, on) as scene:
        assert scene.bodies.tolist() == [[0, 0], [1, 0], [1, 1], [2, 0]]
        assert scene.candidates.tolist() == [[2, 0], [0, 1], [0, 3], [1, 3]]
        assert (scene.pairs, scene.parameters, scene.kinds, scene.trees) == (1, 4, 3, 2)
        q, v = scene.start(), np.r_[np.zeros(6), 1.0, np.zeros(5)]
        slow = scene.step(q, v, steps=50)
        same = scene.step(q, v, steps=50, friction=[0.9, 0.2, 0.4, 0.6], stiffness=np.ones(4))
        fast = scene.step(q, v, steps=50, friction=[0.9, 0.2, 0.4, 0.1])
        counts = scene.step(q, v, steps=50, want=("counts",)).counts
        assert counts.shape == (6,) and counts[0] == 50 and counts[1] >= counts[2] >= 100 and counts[4] == 100
        assert np.array_equal(slow.q, same.q) and fast.q[7] > slow.q[7] + 1e-3
        gradients = scene.vjp(q, v, steps=50, v_bar=np.ones(scene.nv), wrt=("friction", "stiffness"))
        assert gradients.friction.shape == gradients.stiffness.shape == (4,)
        assert gradients.friction[3] and gradients.friction[1] == gradients.friction[0] == 0
        with pytest.raises(ValueError, match="friction has shape"):
            scene.step(q, v, friction=np.ones(3))
        with pytest.raises(abut.Error, match="automatic pairs"):
            scene.step(q, v, want=("multipliers",))
        far = q.copy()
        far[8] += 5.0
        batch = np.stack([[q, far], [far, q]])
        near = scene.near(batch)
        worlds = [near[near[:, 0] == w, 1:].tolist() for w in range(4)]
        assert near.dtype == np.int64 and worlds[0] == worlds[3] and worlds[1] == worlds[2]
        assert [0, 1] in worlds[0] and [2, 0] not in worlds[0]  # the box rests; the ball above it is far from the plane
        found = scene.find_contacts(batch, 0.01)
        assert set(map(tuple, np.c_[found.world, found.bodies].tolist())) <= set(map(tuple, near.tolist()))
        assert np.all(np.diff(found.world.astype(int)) >= 0) and set(found.world.tolist()) == {0, 1, 2, 3}
        assert found.p.shape == found.n.shape == (len(found.slot), 3) and found.activity.min() >= 0.01
        assert np.array_equal(scene.candidates[found.candidate], found.bodies)
        pushed = scene.find_contacts(batch, 0, forces=True, v=v)
        assert found.force is None and pushed.force.shape == pushed.p.shape and not np.isnan(pushed.force).any()
        held = scene.step(batch, v, want=("constraint",)).constraint.reshape(4, -1)  # of links 1 and 2, each 3 and 3
        links_of = scene.bodies[pushed.bodies, 0]
        for link in (1, 2):
            on_link = ((links_of[:, 0] == link) * 1 - (links_of[:, 1] == link) * 1)[:, None] * pushed.force
            sums = np.stack([on_link[pushed.world == w].sum(axis=0) for w in range(4)])
            assert np.allclose(sums, held[:, 6 * link - 6:6 * link - 3], atol=1e-6 * np.abs(held).max())
            assert sums[0, 2] > 10.0
        with pytest.raises(ValueError, match="v has shape"):
            scene.find_contacts(batch, forces=True, v=v[:5])
        with pytest.raises(abut.Error, match="world 1: position 2 .0-based. is nan; it must be finite"):
            scene.near(np.stack([q, np.r_[0, 0, np.nan, q[3:]]]))
        with pytest.raises(ValueError, match="q has shape"):
            scene.near(q[:5])
    links[2]["position"] = [0, 0.1, 0.1]
    path.write_text(json.dumps({"links": links, "automatic": True}))
    with pytest.warns(UserWarning, match=r"links\[1\].bodies\[0\] and links\[2\].bodies\[0\] overlap by 99.1 mm at the start"), \
            abut.Context("host") as on:
        abut.Scene(path, on).close()


@pytest.mark.parametrize("bound", ["capacity", "most_contacts"])
def test_contacts_that_are_left_out_are_told_by_the_key_that_left_them_out(bound, context, tmp_path):
    scene = abut.Scene(worlds.write_scene(tmp_path, **{bound: 2}, links=[
        {"bodies": [{"plane": [5, 5]}]},
        {"joint": {"type": "free"}, "density": 500, "position": [0, 0, 0.1], "bodies": [{"box": [0.1, 0.1, 0.1]}]}], pairs=[{"a": 1, "b": 0}]), context)
    with pytest.warns(UserWarning, match=f"had more contacts than .*`{bound}`.*: some contacts were left out"):
        got = scene.step(scene.start(), np.zeros(6))
    assert got.status == abut.WorldStatus.OVERFLOW


def test_a_scene_that_says_nothing_of_pairs_warns(context, tmp_path):
    path = tmp_path / "silent.scene.json"
    links = '"links": [{"bodies": [{"plane": [5, 5]}]}, {"joint": {"type": "free"}, "density": 500, "position": [0, 0, 1], '\
        '"bodies": [{"sphere": 0.1}]}]'
    path.write_text(f"{{{links}}}")
    with pytest.warns(UserWarning, match="no bodies can touch: the scene has neither `pairs` nor `automatic`"):
        abut.Scene(path, context)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for said in ('"pairs": []', '"automatic": false', '"automatic": true'):
            path.write_text(f"{{{said}, {links}}}")
            abut.Scene(path, context)


def test_scenes_of_a_dict(context, tmp_path, monkeypatch):
    """What a scene's file holds, as a dict: the same scene; files that it names are found from the working directory."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "cube.obj").write_text("".join(f"v {x} {y} {z}\n" for x in (0, 1) for y in (0, 1) for z in (0, 1)) +
                                       "f 1 2 4 3\nf 5 7 8 6\nf 1 5 6 2\nf 3 4 8 7\nf 1 3 7 5\nf 2 6 8 4\n")
    made = {"links": [{"bodies": [{"plane": [2, 2]}]},
                      {"joint": {"type": "free"}, "position": [0, 0, 3], "density": 100, "bodies": [{"file": "cube.obj"}]}],
            "pairs": [{"a": 1, "b": 0}]}
    (tmp_path / "made.scene.json").write_text(json.dumps(made))
    made["links"][1]["position"] = np.array([0, 0, 3])
    with abut.Scene(made, context) as one, abut.Scene("made.scene.json", context) as other:
        ends = [s.step(s.start(), np.zeros(6), steps=3).q for s in (one, other)]
    np.testing.assert_array_equal(*ends)
    with pytest.raises(abut.Error, match=r"^scene:1: links\[0\].x: unknown key"):
        abut.Scene({"links": [{"x": 1}]}, context)
    assert sorted(p.name for p in tmp_path.iterdir()) == ["cube.obj", "made.scene.json"]


@pytest.mark.parametrize("law, counts", [(None, {"friction": "1e-5", "stiffness": "1e-6"}), ("lcp", {"friction": "0"})])
def test_negative_parameters_are_warned_about(context, law, counts):
    with abut.Scene(conftest.ROOT / "assets" / "drop.scene.json", context, contact_model=law) as scene:
        for name, number in counts.items():
            with pytest.warns(UserWarning, match=f"^{name} has negative numbers, which count as {number}$"):
                scene.step(scene.start(), np.zeros(scene.nv), **{name: np.full(scene.parameters, -1.0)})
