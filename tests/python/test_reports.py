"""What others reported of other programs, tried here with inputs of our own: docs/dev/reports.md lists them. Models beside MuJoCo, shapes beside closed forms."""
import json
import os
import warnings

import abut
import abut.mujoco as am
import conftest
import mujoco
import numpy as np
import pytest


@pytest.fixture(scope="module")
def context():
    return abut.Context(os.environ.get("ABUT_TEST_DEVICE", "host"), precision="f64")


def quiet(function, *arguments, **words):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return function(*arguments, **words)


# ---- models ----

def arm(joint="", compiler="", more=""):
    return f"""<mujoco>{compiler}<worldbody><body pos="0 0 1"><joint name="j" axis="0 1 0" {joint}/>
        <geom type="capsule" fromto="0 0 0 .3 0 0" size=".02" mass="1"/></body></worldbody>{more}</mujoco>"""


def servo(attributes):
    return arm('range="-40 60"', more=f'<actuator><position joint="j" kp="20" {attributes}/></actuator>')


def urdf(*parts):
    return f'<robot name="r"><link name="base"/>{"".join(parts)}</robot>'


def link(name, origin='<origin xyz="0.1 0 0" rpy="0.3 0.4 0.5"/>'):
    return f"""<link name="{name}"><inertial>{origin}<mass value="1"/>
        <inertia ixx="0.1" iyy="0.2" izz="0.25" ixy="0.01" ixz="0.02" iyz="0.03"/></inertial></link>"""


def joint(name, parent, child, kind="revolute", more='<limit lower="-1" upper="1" effort="5" velocity="1"/>'):
    return f"""<joint name="{name}" type="{kind}"><parent link="{parent}"/><child link="{child}"/>
        <origin xyz="0 0 0.2" rpy="0.1 0.2 0.3"/><axis xyz="0 1 0"/>{more}</joint>"""


TURNING = '<mujoco>{}<worldbody><body><freejoint/>{}</body></worldbody></mujoco>'
MODELS = {
    "a limit that is off": (arm('limited="false" range="-10 10"'), []),
    "a limit that is on": (arm('limited="true" range="-10 10"'), []),
    "a limit by its range": (arm('range="-10 10"'), []),
    "degrees": (arm('damping=".2" stiffness="1.5" springref="20" ref="10"', '<compiler angle="degree"/>'), []),
    "radians": (arm('damping=".2" stiffness="1.5" springref=".3" ref=".1"', '<compiler angle="radian"/>'), []),
    "an inherited range of controls": (servo('inheritrange=".8"'), [2.0]),
    "ranges of controls and forces": (servo('kv="1" ctrlrange="-.3 .3" forcerange="-1 1"'), [2.0]),
    "ranges that are off": (servo('kv="1" ctrllimited="false" ctrlrange="-.3 .3" forcelimited="false" forcerange="-1 1"'), [0.6]),
    "a damping ratio": (servo('dampratio="1"'), [0.6]),
    "damping and friction of a URDF": (urdf(link("a"), joint("j", "base", "a", more='<limit lower="-1" upper="1" effort="5" velocity="1"/>'
                                                             '<dynamics damping="0.3" friction="0.2"/>')), []),
    "a turned inertia of a URDF": (urdf(link("a"), joint("j", "base", "a"), link("b"), joint("k", "a", "b")), []),
    "no origin of an inertia": (urdf(link("a", ""), joint("j", "base", "a"), link("b"), joint("k", "a", "b")), []),
    "links that fixed joints turn": (urdf(link("a"), joint("j", "base", "a"), link("b"), joint("k", "a", "b", "fixed", ""), link("c"),
                                          joint("l", "b", "c", "fixed", "")), []),
    "a continuous joint that mimics": (urdf(link("a"), joint("j", "base", "a", "continuous", ""), link("b"), joint(
        "k", "base", "b", "continuous", '<mimic joint="j" multiplier="-2" offset="0.3"/>')), []),
    "a given inertia beside geoms": (TURNING.format("", '<inertial pos=".1 0 0" mass="2" fullinertia="1 2 2.5 .1 .2 .3"/><geom size=".1"/>'), []),
    "inertia of a group": (TURNING.format('<compiler inertiagrouprange="1 1"/>', '<geom size=".1" mass="1" group="1"/>'
                                          '<geom pos=".3 0 0" type="cylinder" size=".05 .1" density="3000" group="2"/>'), []),
}


@pytest.mark.parametrize("name", MODELS)
def test_moves_as_mujoco(name, context):
    text, u = MODELS[name]
    model = mujoco.MjModel.from_xml_string(text)
    scene = quiet(abut.from_mujoco, model, context)
    model.opt.disableflags |= int(mujoco.mjtDisableBit.mjDSBL_CONTACT)
    model.opt.tolerance, model.opt.iterations, model.opt.ls_iterations = 0, 100, 100
    data = mujoco.MjData(model)
    if model.nv == 6:
        data.qvel[:] = 0.1, 0.2, 0.3, 1, 2, 3
    data.ctrl[:] = u
    s = scene.step(*am.state_of(data), u or None, steps=300)
    for _ in range(300):
        mujoco.mj_step(model, data)
    assert np.abs(data.qpos - model.qpos0).max() > 0.05
    np.testing.assert_allclose(s.q, data.qpos, atol=1e-12)


# A prism over an L, which is not convex: inertias of it differ.
OUTLINE = 0.1 * np.array([[0, 0], [3, 0], [3, 1], [1, 1], [1, 2], [0, 2]])
CORNERS = np.concatenate([np.c_[OUTLINE, np.zeros(6)], np.c_[OUTLINE, np.full(6, 0.15)]])
FACES = [f for a, b, c in ((0, 1, 2), (0, 2, 3), (0, 3, 4), (0, 4, 5)) for f in ((a, c, b), (6 + a, 6 + b, 6 + c))] + [
    f for i in range(6) for j in ((i + 1) % 6,) for f in ((i, j, 6 + j), (i, 6 + j, 6 + i))]


@pytest.mark.parametrize("mesh", ['inertia="convex"', 'refpos=".1 .2 .3" refquat=".70710678 0 0 .70710678" scale="2 3 4"', *(
    pytest.param(word, marks=conftest.long)
    for word in ('inertia="legacy"', 'inertia="exact"', 'inertia="shell"', 'scale="1 -1 1"', 'scale="-1 -1 -1"'))])
def test_frames_and_inertias_of_meshes(mesh, context):
    """Meshes move as MuJoCo's, and their lowest corner lies as high above the ground."""
    def words(rows):
        return " ".join(str(x) for x in np.asarray(rows).ravel())
    model = mujoco.MjModel.from_xml_string(
        f'<mujoco><asset><mesh name="L" vertex="{words(CORNERS)}" face="{words(FACES)}" {mesh}/></asset><worldbody>'
        '<geom type="plane" size="2 2 .1" pos="0 0 -3"/><body><freejoint/><geom type="mesh" mesh="L" density="500"/></body></worldbody></mujoco>')
    scene = quiet(abut.from_mujoco, model, context)
    data = mujoco.MjData(model)
    data.qvel[:] = 0.1, 0.2, 0.3, 3, 2, 1
    s = scene.step(*am.state_of(data), steps=100)
    for _ in range(100):
        mujoco.mj_step(model, data)
    np.testing.assert_allclose(s.q, data.qpos, atol=1e-12)
    mujoco.mj_kinematics(model, data)
    lowest = (model.mesh_vert @ data.geom_xmat[1].reshape(3, 3).T + data.geom_xpos[1])[:, 2].min() + 3
    assert abs(scene.distances(s.q, [(0, 1)], smooth=False).d[0] - lowest) < 1.2e-5 * lowest  # as far as a plane's field goes


# ---- shapes ----

def test_long_thin_triangles():
    """A ball beside a triangle of 200 m by micrometres: the closest point lies on the triangle, in both precisions."""
    random = np.random.default_rng(5)
    for precision, within in (("f64", 1e-12), ("f32", 2e-6)):
        context = abut.Context(os.environ.get("ABUT_TEST_DEVICE", "host"), precision=precision)
        for _ in range(40):
            length, height = 10 ** random.uniform(0, 2.3), 10 ** random.uniform(-7, -1)
            triangle = np.array([[0, 0, 0], [length, 0, 0], [random.uniform(0.2, 1) * length, height, 0]], np.float32)
            x, gap = random.uniform(0.1, 0.9) * length, random.uniform(0.1, 1.0)
            found = abut.closest(abut.Shape("hull", triangle, context=context), abut.Shape("sphere", 0.05, context=context), None,
                                 np.array([x, -0.3, gap, 0, 0, 0]))  # the edge along x is nearest
            assert abs(found.d - (np.hypot(0.3, gap) - 0.05)) < within * length
            assert np.abs(found.p1 - [x, 0, 0]).max() < 2 * np.sqrt(within) * length and abs(found.p1[1]) < within * length


@pytest.mark.parametrize("sides", [3, 4, 5, 6, 16])
def test_prisms_that_overlap_off_their_middles(sides, context):
    turn = 2 * np.pi * np.arange(sides) / sides
    ring = 0.5 * np.c_[np.cos(turn), np.sin(turn)]
    prism = abut.Shape("hull", np.concatenate([np.c_[ring, np.full(sides, z)] for z in (-0.5, 0.5)]), context=context)
    at = np.stack(np.meshgrid(*2 * [np.linspace(0, 0.6, 13)]), -1).reshape(-1, 2)
    found = abut.closest(prism, prism, None, np.c_[at, np.zeros((len(at), 4))])
    normals = np.c_[np.cos(turn + np.pi / sides), np.sin(turn + np.pi / sides)]
    normals = np.concatenate([normals, -normals])
    depth = np.minimum(((ring @ normals.T).max(0) - (ring @ normals.T).min(0) - at @ normals.T).min(1), 1.0)
    inside = depth > 0
    assert inside.sum() > 50 and np.isfinite(found.d).all() and np.isfinite(found.p1).all()
    np.testing.assert_allclose(found.d[inside], -depth[inside], atol=1e-12)


@pytest.mark.parametrize("points, far", [([[1, 2, 3]], 19), ([[1, 0, 0]] * 2, 2), ([[i, 0, 2] for i in range(5)], 5),
                                         ([[0, 0, 3], [1, 0, 3], [0, 1, 3]], 10), (1e-23 * np.eye(3), 1),
                                         (np.repeat([[x, y, z] for x in (2, 3) for y in (0, 1) for z in (0, 1)], 100, 0), 5)])
def test_hulls_without_a_volume(points, far, context):
    found = abut.closest(abut.Shape("hull", np.array(points, float), context=context), abut.Shape("sphere", 0.1, context=context), None,
                         np.array([0, -1, 0, 0, 0, 0.0]))
    assert found.status == 0 and abs(found.d - (np.sqrt(far) - 0.1)) < 1e-10


def turned(angle, axis):
    axis = np.asarray(axis) / np.linalg.norm(axis)
    return np.r_[np.cos(angle / 2), np.sin(angle / 2) * axis]


def matrix(quaternion):
    m = np.zeros(9)
    mujoco.mju_quat2Mat(m, quaternion)
    return m.reshape(3, 3)


def ground_and_ball(folder, context, heights, position=(0, 0, 0), quaternion=(1, 0, 0, 0)):
    path = folder / "ground.scene.json"
    path.write_text(json.dumps({"automatic": True, "links": [
        {"position": list(position), "quaternion": list(quaternion),
         "bodies": [{"height_field": {"heights": np.asarray(heights).tolist(), "size": [1, 0.8], "base": 1}}]},
        {"joint": {"type": "free"}, "density": 1000, "position": [9, 9, 9], "bodies": [{"sphere": 0.05}]}]}))
    return abut.Scene(path, context)


def test_height_fields_that_are_moved_and_turned(context, tmp_path):
    """Distances, normals and points of contacts are in the world's axes."""
    place, turn, slope = np.array([2.0, -3.0, 1.0]), turned(1.1, [1, 2, 3]), np.array([0.2, -0.1])
    heights = 0.2 + slope[0] * np.linspace(-1, 1, 11)[None] + slope[1] * np.linspace(-0.8, 0.8, 9)[:, None]
    scene = ground_and_ball(tmp_path, context, heights, place, turn)
    normal = np.r_[-slope, 1] / np.sqrt(1 + slope @ slope)
    foot = np.array([0.05, 0.1, 0.2 + slope @ [0.05, 0.1]])
    for depth in (-0.001, 0.0, 0.002):
        q = np.r_[matrix(turn) @ (foot + normal * (0.05 - depth)) + place, 1, 0, 0, 0]
        assert abs(scene.distances(q, [(0, 1)], smooth=False).d[0] + depth) < 1e-12
        found = scene.find_contacts(q)
        deepest = found.d.argmin()
        np.testing.assert_allclose(np.abs(found.n[deepest] @ matrix(turn) @ normal), 1, atol=1e-9)
        assert np.abs(found.p[deepest] - matrix(turn) @ foot - place).max() < 0.003


def test_deep_in_a_height_field_the_way_out_is_up(context, tmp_path):
    scene = ground_and_ball(tmp_path, context, np.zeros((21, 21)))
    depth = np.linspace(-0.01, 0.4, 42)
    q = np.array([[0.013, 0.017, 0.05 - x, 1, 0, 0, 0] for x in depth])
    np.testing.assert_allclose(scene.distances(q, [(0, 1)], smooth=False).d[:, 0], -depth, atol=1e-12)
    found = scene.find_contacts(q[2:])
    assert len(np.unique(found.world)) == 40 and (np.abs(found.n[:, 2]) > 1 - 1e-9).all()
    for x in (0.01, 0.04, 0.2):
        assert scene.step([0.013, 0.017, 0.05 - x, 1, 0, 0, 0], np.zeros(6), steps=5).v[2] > 0.1


def test_rays_down_a_height_field_cross_it_once(context):
    """Also those through its nodes and along the lines of its grid."""
    ground = context.height_field(0.05 * np.random.default_rng(1).normal(size=(21, 21)), size=(1, 1), base=0.5)
    along = np.linspace(-0.95, 0.95, 39)
    x, y, z = np.meshgrid(along, along, np.linspace(-0.4, 0.4, 81), indexing="ij")
    inside = ground.evaluate(np.stack([x, y, z], -1).reshape(-1, 3))[0].reshape(x.shape) < 0
    assert inside[..., 0].all() and not inside[..., -1].any() and (np.diff(inside, axis=-1).sum(-1) == 1).all()


@pytest.mark.parametrize("word, low", [({"capsule": [0.05, 0.1]}, 0.15), ({"cylinder": [0.05, 0.1]}, 0.1), ({"sphere": 0.05}, 0.05)])
def test_upright_on_a_plane_derivatives_are_finite(word, low, context, tmp_path):
    """Where an axis is along the normal, and nothing moves."""
    path = tmp_path / "upright.scene.json"
    path.write_text(json.dumps({"links": [{"bodies": [{"plane": [5, 5]}]}, {"joint": {"type": "free"}, "density": 1000, "bodies": [word]}],
                                "pairs": [{"a": 1, "b": 0}]}))
    scene = abut.Scene(path, context)
    for height in (low + 0.2, low, low - 0.001):
        q, v = np.array([0, 0, height, 1, 0, 0, 0]), np.zeros(6)
        g = scene.vjp(q, v, None, steps=3, q_bar=np.ones(7), v_bar=np.ones(6), wrt=("q", "v", "friction"))
        assert all(np.isfinite(x).all() for x in (g.q, g.v, g.friction, scene.transition(q, v).A))
        assert abs(scene.distances(q, [(0, 1)], grad=True).grad.reshape(-1)[2] - 1) < 1e-3


@pytest.mark.parametrize("model, speed, words", [("cone", 0.5, {"smoothing": {"cone_inset": 0.0025}}), ("cone", 2, {"smoothing": {"cone_inset": 0.01}}),
                                                 ("lcp", 5, {})])
def test_flush_cubes_that_fall_on_each_other(model, speed, words, context, tmp_path):
    """Cubes of 40 mm, with what docs/limits.md says of soft contacts."""
    path = tmp_path / "cubes.scene.json"
    cube = {"bodies": [{"box": [0.02, 0.02, 0.02]}]}
    path.write_text(json.dumps({"contact_model": model, "links": [cube, {"joint": {"type": "free"}, "density": 1000, **cube}],
                                "pairs": [{"a": 1, "b": 0, **words}]}))
    scene = abut.Scene(path, context)
    s = scene.step([0, 0, 0.0404, 1, 0, 0, 0], [0, 0, -speed, 0, 0, 0], steps=500)
    assert s.status == 0 and abs(s.q[2] - 0.04) < 2e-4 and np.abs(s.v).max() < 1e-3


# ---- worlds ----

PLANE = {"bodies": [{"plane": [50, 50]}]}


def world(folder, context, model, *links, **more):
    path = folder / "world.scene.json"
    path.write_text(json.dumps({"contact_model": model, "links": list(links), **more}))
    return abut.Scene(path, context)


def free(word, position, quaternion=(1, 0, 0, 0)):
    return {"joint": {"type": "free"}, "density": 1000, "position": list(position), "quaternion": list(quaternion), "bodies": [word]}


LAWS = pytest.mark.parametrize("model", ["cone", "lcp"])


@LAWS
@pytest.mark.parametrize("word, share", [({"sphere": 0.05}, 0.4), ({"cylinder": [0.05, 0.1]}, 0.5)])
def test_round_words_roll_down_a_slope(word, share, model, context, tmp_path):
    """share: I / (m r^2), by which a = g sin / (1 + share). A word's mesh weighs, so that it is a little off."""
    angle = np.radians(4)
    gravity = [9.81 * np.sin(angle), 0, -9.81 * np.cos(angle)]
    scene = world(tmp_path, context, model, PLANE, free(word, [0, 0, 0.05], turned(np.pi / 2, [1, 0, 0])), gravity=gravity,
                  pairs=[{"a": 1, "b": 0, "friction": 0.8}])
    s = scene.step(scene.start(), np.zeros(6), steps=500)
    assert s.status == 0 and abs(s.q[0] / (gravity[0] / (1 + share) / 2) - 1) < 0.015 and abs(s.q[1]) < 1e-3


@LAWS
@pytest.mark.parametrize("word", [{"sphere": 0.05}, {"cylinder": [0.05, 0.1]}])
def test_round_words_come_to_rest(word, model, context, tmp_path):
    """They neither rock nor roll on by themselves."""
    scene = world(tmp_path, context, model, PLANE, free(word, [0, 0, 0.1], turned(np.pi / 2, [1, 0, 0])), pairs=[{"a": 1, "b": 0}])
    s = scene.step(scene.start(), np.zeros(6), steps=1000)
    assert s.status == 0 and np.abs(s.v).max() < 1e-6 and np.abs(s.q[:2]).max() < 1e-6


@LAWS
def test_a_launched_box_does_not_tip(model, context, tmp_path):
    scene = world(tmp_path, context, model, PLANE, free({"box": [0.05, 0.05, 0.05]}, [0, 0, 0.05]), pairs=[{"a": 1, "b": 0, "friction": 0.5}])
    s = scene.step(scene.start(), [3, 0, 0, 0, 0, 0], steps=500)
    assert s.status == 0 and matrix(s.q[3:])[2, 2] > 1 - 1e-6 and abs(s.q[0] - 9 / 9.81) < 0.01


@LAWS
def test_a_bar_on_a_smaller_cube_rests(model, context, tmp_path):
    scene = world(tmp_path, context, model, PLANE, free({"box": [0.05, 0.05, 0.05]}, [0, 0, 0.05]), free({"box": [0.2, 0.03, 0.02]}, [0, 0, 0.12]),
                  automatic=True)
    s = scene.step(scene.start(), np.zeros(12), steps=500)
    assert s.status == 0 and np.abs(s.v).max() < 1e-6 and abs(s.q[9] - 0.12) < 1e-3


@pytest.mark.parametrize("heading", [0.3, np.pi / 4, 1.2])
def test_pushed_boxes_do_not_turn(heading, context, tmp_path):
    """Of hard contacts, which bound friction along two axes apart."""
    scene = world(tmp_path, context, "lcp", PLANE, free({"box": [0.05, 0.05, 0.05]}, [0, 0, 0.05]), pairs=[{"a": 1, "b": 0, "friction": 0.5}])
    s = scene.step(scene.start(), [np.cos(heading), np.sin(heading), 0, 0, 0, 0], steps=300)
    assert s.status == 0 and abs(s.q[6]) < 1e-6
