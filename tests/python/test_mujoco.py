"""abut.mujoco: scenes of MuJoCo's models, beside how MuJoCo moves them. tests/cli/test_import.py has the command."""
import copy
import io
import json
import os
import pathlib
import shutil
import subprocess
import sys
import time
import types
import warnings

import abut
import abut.mujoco as am
import conftest
import mujoco
import numpy as np
import pytest
from abut import _import_mujoco

HERE = pathlib.Path(__file__).resolve().parent
MODELS = {path.stem: path for folder in (HERE / "models", HERE.parent / "cli" / "models") for path in sorted(folder.glob("*.xml"))}
ALONE = ("cartpole", "drone", "gripper")  # nothing touches


def load(name):
    return mujoco.MjModel.from_xml_path(str(MODELS[name]))


def quiet(function, *arguments, **words):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return function(*arguments, **words)


@pytest.fixture(scope="module")
def context():
    return abut.Context(os.environ.get("ABUT_TEST_DEVICE", "host"), precision="f64")


def test_there_are_eight_kinds():
    assert {"arm", "quadruped", "humanoid", "hand", "drone", "cartpole", "pusher", "bin"} <= MODELS.keys()


@pytest.mark.parametrize("name", sorted(MODELS))
def test_poses(name, context):
    """Of all links, by their names, at positions around the start: MuJoCo's xpos and xquat, to rounding."""
    model = load(name)
    scene, data = quiet(abut.from_mujoco, model, context), mujoco.MjData(model)
    steps = 0.5 * np.random.default_rng(1).normal(size=(5, model.nv))
    q = scene.add(np.tile(model.qpos0, (5, 1)), steps)
    links = [scene.link_names.index(model.body(i).name) for i in range(1, model.nbody)]
    for row, poses in zip(q, scene.poses(q)[:, links]):
        data.qpos[:] = row
        mujoco.mj_kinematics(model, data)
        signs = np.sign((poses[:, 3:] * data.xquat[1:]).sum(1, keepdims=True))
        np.testing.assert_allclose(poses[:, :3], data.xpos[1:], atol=1e-12)
        np.testing.assert_allclose(signs * poses[:, 3:], data.xquat[1:], atol=1e-12)


STACK = """<mujoco><option timestep="0.002"/><worldbody><geom type="plane" size="2 2 .1"/>
 <body name="box" pos="0 0 0.1"><freejoint/><geom type="box" size="0.2 0.15 0.1" density="500"/></body>
 <body name="lid" pos="0.05 0.02 0.25"><freejoint/><geom type="box" size="0.1 0.08 0.05" density="500"/></body>
 <body name="ball" pos="1 0 0.1"><freejoint/><geom type="sphere" size="0.1" density="500"/></body></worldbody></mujoco>"""


def test_contact_forces(context):
    """At rest: the forces of MuJoCo's cfrc_ext, and their moments about centres of mass by its contacts."""
    model = mujoco.MjModel.from_xml_string(STACK)
    data = mujoco.MjData(model)
    scene = quiet(abut.from_mujoco, model, context)
    s = scene.step(model.qpos0, np.zeros(model.nv), steps=600)
    f = scene.contact_forces(s.q, s.v, w=s.w, pairs=[("lid", "box"), ("box", "world"), ("lid", "ball")])
    for _ in range(600):
        mujoco.mj_step(model, data)
    mujoco.mj_rnePostConstraint(model, data)
    links = [scene.link_names.index(model.body(i).name) for i in range(1, model.nbody)]
    wanted = data.cfrc_ext[1:, 3:]
    weight = 9.81 * model.body_mass.max()
    np.testing.assert_allclose(f.link[links, :3], wanted, atol=2e-3 * weight)
    np.testing.assert_allclose(f.link[links, 3:], 0, atol=2e-3 * weight * 0.1)  # nothing turns
    lid = 9.81 * model.body("lid").mass[0]
    np.testing.assert_allclose(f.pair[:, 2], [lid, 9.81 * model.body("box").mass[0] + lid, 0], atol=2e-3 * weight)
    assert f.touching.tolist() == [True, True, False]


@pytest.mark.parametrize("name", ALONE)
def test_moves_as_mujoco(name, context):
    """States after a second, to rounding, where nothing touches. MuJoCo damps as scenes do: by Euler's method, or RK4."""
    model = load(name)
    scene = quiet(abut.from_mujoco, model, context)
    assert (scene.nq, scene.nv, scene.nu) == (model.nq, model.nv, model.nu)
    data = mujoco.MjData(model)
    random = np.random.default_rng(3)
    data.qvel[:] = 0.3 * random.normal(size=model.nv)
    data.ctrl[:] = 0.1 * random.normal(size=model.nu)
    q, v = am.state_of(data)
    model.opt.tolerance, model.opt.iterations = 0.0, 100
    steps = round(1.0 / model.opt.timestep)
    s = scene.step(q, v, np.array(data.ctrl), steps=steps)
    for _ in range(steps):
        mujoco.mj_step(model, data)
    assert s.status == 0
    assert np.abs(s.q - data.qpos).max() < 1e-9 and np.abs(s.v - data.qvel).max() < 1e-8
    there = mujoco.MjData(model)
    am.set_state(model, there, s.q, s.v)
    assert np.abs(there.qpos - data.qpos).max() < 1e-9 and np.any(there.xpos)


@pytest.mark.parametrize("name, most", [("quadruped", 0.01), ("bin", 0.003), ("pusher", 0.003), ("terrain", 0.012)])
def test_rests_as_mujoco(name, most, context):
    """After a second with contacts bodies lie within millimetres of where MuJoCo's do: contacts differ, the law does not. On the terrain a
    box that tumbles over MuJoCo's triangles, where abut's ground is smooth, comes to lie 11 mm aside."""
    model = load(name)
    scene = quiet(abut.from_mujoco, model, context)
    data = mujoco.MjData(model)
    s = quiet(scene.step, *am.state_of(data), steps=500)
    for _ in range(500):
        mujoco.mj_step(model, data)
    free = [int(at) for kind, at in zip(model.jnt_type, model.jnt_qposadr) if kind == mujoco.mjtJoint.mjJNT_FREE]
    assert s.status == 0 and free
    for at in free:
        assert np.abs(s.q[at:at + 3] - data.qpos[at:at + 3]).max() < most, (at, s.q[at:at + 3], data.qpos[at:at + 3])


DRIVEN = """<mujoco><compiler angle="radian"/><worldbody>
  <body><joint name="z" type="slide" axis="0 0 1" ref="1.25" limited="true" range="1.2 1.6"/>
    <joint name="h" axis="0 1 0" ref="0.4" pos="0 0 .1" actuatorfrcrange="-1 2" actuatorfrclimited="true"/>
    <geom size="0.1 0.3" type="capsule" pos="0.2 0 0" contype="0" conaffinity="0"/>
    <body pos="0 0.3 0.2"><joint name="k" axis="1 0 0" limited="true" range="-0.2 0.3"/>
      <geom size="0.1" pos="0.3 0 0" contype="0" conaffinity="0"/></body></body></worldbody>
  <actuator><general joint="z" gainprm="50" biastype="affine" biasprm="3 -40 -2" ctrlrange="-1 1" ctrllimited="true" forcerange="-30 60" gear="2"/>
    <position joint="h" kp="20" kv="1" ctrlrange="-0.1 0.1" ctrllimited="true" gear="-3"/><velocity joint="k" kv="0.1"/></actuator>
  <keyframe><key name="home" qpos="1.3 0.2 0.1" qvel="0 0 1" ctrl="0.5 0.3 0"/><key qpos="1.4 0 0"/></keyframe></mujoco>"""


def test_starts_and_affine_actuators(context):
    """Where a model begins, by `ref` and keyframes, and how affine actuators drive it: as MuJoCo's, to rounding, limits among it, whose
    weights are those at qpos0."""
    model = mujoco.MjModel.from_xml_string(DRIVEN)
    scene, data = quiet(abut.from_mujoco, model, context), mujoco.MjData(model)
    assert np.array_equal(scene.start(), model.qpos0) and list(scene.starts) == ["home", "1"]
    assert np.array_equal(scene.starts["1"].q, [1.4, 0, 0]) and not scene.starts["1"].v.any() and not scene.starts["1"].u.any()
    mujoco.mj_resetDataKeyframe(model, data, 0)
    start = scene.starts["home"]
    assert all(np.array_equal(a, b) for a, b in zip(start, (data.qpos, data.qvel, data.ctrl)))
    model.opt.tolerance, model.opt.iterations = 0.0, 100
    for steps, q in ((300, data.qpos), (300, model.qpos0)):
        data.qpos[:] = q
        begins, rows = am.state_of(data), 0
        s = scene.step(*begins, start.u, steps=steps)
        for _ in range(steps):
            mujoco.mj_step(model, data)
            rows += data.nefc
        assert rows and s.status == 0 and np.abs(s.q - data.qpos).max() < 1e-11 and np.abs(s.v - data.qvel).max() < 1e-10


@pytest.mark.parametrize("u", [[0.3, 0.05, 0.2], [1.4, 0.3, 0.2]])
def test_affine_actuators_have_derivatives(u, context):
    """By differences; a control beyond its limits has none."""
    text = DRIVEN.replace('range="1.2 1.6"', 'range="0 3"').replace('"-30 60"', '"-300 60"')
    scene = quiet(abut.from_mujoco, mujoco.MjModel.from_xml_string(text), context)
    q, v, u = np.array([1.3, -0.015, 0.1]), np.array([0.1, 0.02, -0.3]), np.array(u)
    t = scene.transition(q, v, u)
    eps = 1e-6
    for k in range(3):
        d = eps * np.eye(3)[k]
        for matrix, column, moved in ((t.B, k, ((q, v, u + d), (q, v, u - d))), (t.A, k, ((q + d, v, u), (q - d, v, u))),
                                      (t.A, 3 + k, ((q, v + d, u), (q, v - d, u)))):
            up, down = (scene.step(*at) for at in moved)
            slope = np.concatenate([up.q - down.q, up.v - down.v]) / (2 * eps)
            assert np.abs(slope - matrix[:, column]).max() < 1e-6 * max(1, np.abs(slope).max())
    g = scene.vjp(q, v, u, v_bar=[1.0, 2.0, 3.0], wrt=("u",))
    assert np.allclose(g.u, t.B[3:].T @ [1, 2, 3], rtol=1e-9, atol=1e-12)
    assert (np.abs(t.B).max(0) > 0).tolist() == (np.abs(u) < [1, 0.1, 9]).tolist()


@pytest.mark.parametrize("actuator, why", [
    ('<position joint="j" kp="3" timeconst="0.1"/>', "it has a state (dyntype filterexact)"),
    ('<general joint="j" dyntype="integrator" biastype="affine" gainprm="3"/>', "it has a state (dyntype integrator)"),
    ('<muscle joint="j" lengthrange="0 1"/>', "it has a state (dyntype muscle)"),
    ('<damper joint="j" kv="2" ctrlrange="0 1"/>', "its gain is affine and its bias none"),
    ('<plugin joint="j" plugin="mujoco.pid" ctrlrange="-1 1"><config key="kp" value="40"/></plugin>', "a plugin computes its force"),
    ('<general body="b"/>', "it drives a body, not a joint or a fixed tendon"),
])
def test_actuators_without_a_word_are_named(actuator, why):
    """None of them becomes another kind, as a motor."""
    text = f"""<mujoco><extension><plugin plugin="mujoco.pid"/></extension><worldbody><body name="b"><joint name="j"/><geom size="1"/></body></worldbody>
      <actuator>{actuator.replace(" ", " name='a' ", 1)}</actuator></mujoco>"""
    try:
        model = mujoco.MjModel.from_xml_string(text)
    except ValueError as error:
        pytest.skip(f"this MuJoCo cannot read it: {error}")
    told = []
    scene, _ = am.scene_of(model, tell=told.append)
    assert scene["actuators"] == [] and [text for text in told if "actuator" in text] == [f"actuator `a`: left out with its control: {why}"]


@pytest.mark.parametrize("kind", ["filter", "filterexact", "integrator"])
def test_time_constants_by_controls(kind, context):
    """An actuator with a state is left out, since worlds have q and v only. Its activation follows from controls alone, so that the same
    actuator without a state moves as MuJoCo's by controls that a caller has filtered (docs/limits.md)."""
    text = """<mujoco><option timestep="0.004"/><worldbody><body><joint name="j" axis="0 1 0" damping="0.1"/>
        <geom type="capsule" size="0.02 0.1" pos="0.1 0 0"/></body></worldbody>
        <actuator><general joint="j" DYN gainprm="12" biastype="affine" biasprm="0.5 -9 -1"/></actuator></mujoco>"""
    lag, steps = 0.05, 250
    model = mujoco.MjModel.from_xml_string(text.replace("DYN", f'dyntype="{kind}" dynprm="{lag}"'))
    scene = quiet(abut.from_mujoco, mujoco.MjModel.from_xml_string(text.replace("DYN", "")), context)
    data, dt, act, controls = mujoco.MjData(model), model.opt.timestep, 0.0, []
    asked = 0.4 * np.sin(0.02 * np.arange(steps))
    for u in asked:
        data.ctrl[:] = u
        mujoco.mj_step(model, data)
        controls.append([act])
        act += {"filter": (u - act) * dt / lag, "filterexact": (u - act) * -np.expm1(-dt / lag), "integrator": u * dt}[kind]
    s = scene.step([0.0], [0.0], controls=np.array(controls), steps=steps)
    assert s.status == 0 and abs(s.q[0] - data.qpos[0]) < 1e-12 and abs(data.qpos[0]) > 0.01


def test_more_keyframes_than_a_scene_has_starts(context):
    model = mujoco.MjModel.from_xml_string('<mujoco><size nkey="4100"/><worldbody><body><joint/><geom size="1"/></body></worldbody></mujoco>')
    with pytest.warns(UserWarning, match="of 4100 keyframes the first 4096 are starts"):
        assert len(abut.from_mujoco(model, context).starts) == 4096


def test_scenes_in_which_nothing_moves(context):
    """A step of no positions is a step."""
    scene = quiet(abut.from_mujoco, mujoco.MjModel.from_xml_string('<mujoco><worldbody><geom size="1"/></worldbody></mujoco>'), context)
    s = scene.step(np.zeros((3, 0)), np.zeros((3, 0)), steps=2)
    assert scene.nq == 0 and s.q.shape == (3, 0) and not np.any(s.status)


FAN = """<mujoco model="fan"><worldbody><geom name="floor" type="plane" size="3 3 1"/>
  <body name="housing" pos="0 0 1"><freejoint/><geom name="case" type="cylinder" size="0.1 0.05"/><geom name="foot" pos="0 0 -0.2" size="0.03"/>
   <body name="mount"><joint name="tilt" axis="0 1 0" range="-0.1 0.1" limited="true"/><geom size="0.01" contype="0" conaffinity="0"/>
    <body name="rotor"><joint name="spin" axis="0 0 1"/><geom name="blade" type="box" size="0.08 0.01 0.02"/>
     <geom name="tip" type="sphere" pos="0.3 0 0" size="0.02"/></body></body></body></worldbody></mujoco>"""


@pytest.mark.parametrize("text, stuck", [
    (FAN, True),
    (FAN.replace('name="spin" axis="0 0 1"', 'name="spin" type="slide" range="0 1" limited="true"'), False),   # comes out
    (FAN.replace('name="spin" axis="0 0 1"', 'name="spin" type="ball"'), False),
    (FAN.replace('axis="0 0 1"', 'axis="0 0 1" range="-inf inf" limited="true"'), True),
    (FAN.replace('axis="0 0 1"', 'type="slide" axis="0 0 1" range="0 0.01" limited="true"'), True),
    (FAN.replace('axis="0 0 1"', 'type="slide" axis="0 0 1" range="0 inf" limited="true"'), False),
    (FAN.replace("<worldbody>", '<option><flag limit="disable"/></option><worldbody>').replace(
        'axis="0 0 1"', 'type="slide" axis="0 0 1" range="0 0.01" limited="true"'), False),   # limits hold nothing
    (FAN.replace("</worldbody>", '</worldbody><contact><pair geom1="blade" geom2="case"/></contact>'), True),
])
def test_geoms_that_no_joint_can_part(text, stuck):
    told = []
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # NumPy's, of numbers that are not finite
        scene, _ = am.scene_of(mujoco.MjModel.from_xml_string(text), tell=told.append)
    overlap = [line for line in told if "overlap" in line]
    assert len(overlap) == stuck and (not stuck or overlap[0].startswith(
        "geoms `case` and `blade` of bodies `housing` and `rotor` overlap by 70 mm wherever the joints between them go"))
    pairs = [sorted([p["a"], p["b"]]) for p in scene["pairs"]]
    assert [[1, 0], [3, 0]] not in pairs and ([[1, 3]] == scene["automatic"].get("exclude")) == stuck
    assert ([[1, 1], [3, 0]] in pairs) == stuck   # the foot may touch the blade


@pytest.mark.parametrize("depth", [1e-5, 1e-3])
def test_a_slide_that_presses_on_its_table_is_a_contact(depth):
    """However short its way is: it has friction."""
    slides = "".join(f'<joint type="slide" axis="{axis}" range="-3 3" limited="true"/>' for axis in ("1 0 0", "0 1 0"))
    model = mujoco.MjModel.from_xml_string(f"""<mujoco><worldbody><geom type="box" size="4 4 0.1"/>
      <body pos="0 0 {0.2 - depth}">{slides}<geom type="cylinder" size="0.05 0.1"/></body></worldbody></mujoco>""")
    told = []
    scene, _ = am.scene_of(model, tell=told.append)
    assert not [line for line in told if "no pair" in line] and not scene["automatic"].get("exclude")


TABLE = """<mujoco><worldbody><geom name="base" type="cylinder" size="0.1 0.05"/>
  <body name="table" pos="0 0 0.1205"><joint name="turn" JOINT/><geom name="top" type="cylinder" size="0.1 0.02" pos="0 0 -0.05" margin="MARGIN"/></body>
  </worldbody></mujoco>"""


@pytest.mark.parametrize("joint, margin, said", [
    ('axis="0 0 1" type="hinge"', 0, "never touch wherever the joints between them go: they are not made a pair"),
    ('axis="1 0 0" type="slide" range="-0.05 0.05" limited="true"', 0, "never touch wherever the joints between them go: they are not made a pair"),
    ('axis="0 0 1" type="slide" range="-0.1 0.1" limited="true"', 0, "may brake them (docs/import.md#clearances)"),
    ('axis="1 0 0" type="slide"', 0, "may brake them (docs/import.md#clearances)"),   # over the rim
    ('axis="0 0 1" type="hinge"', 0.001, None),   # MuJoCo has a contact, too
    ('type="ball"', 0, None),
])
def test_clearances(joint, margin, said, context):
    """A table 0.5 mm above its base turns and slides as MuJoCo's, which touches nothing; contacts reach 11 mm, 6.9 of the fitted penetrations."""
    model = mujoco.MjModel.from_xml_string(TABLE.replace("JOINT", joint).replace("MARGIN", str(margin)))
    told = []
    scene, _ = am.scene_of(model, tell=told.append)
    about = [line for line in told if "apart" in line]
    assert len(about) == (said is not None) and (not about or about[0].startswith(
        "geoms `base` and `top` of bodies `world` and `table` are 0.5 mm apart") and about[0].endswith(said)), told
    excluded = said is not None and "not made a pair" in said
    assert scene["pairs"] == [] and bool(scene.get("automatic")) != excluded
    if excluded:
        model.opt.tolerance = 0.0
        data, made = mujoco.MjData(model), quiet(abut.from_mujoco, model, context)
        data.qvel[:] = 0.02
        s = made.step(*am.state_of(data), steps=400)
        for _ in range(400):
            mujoco.mj_step(model, data)
        assert s.status == 0 and np.abs(s.q - data.qpos).max() < 1e-12 and abs(data.qpos[0] - 0.016) < 1e-6


CARRIAGE = """<mujoco><worldbody><body name="rail" pos="0 0 1"><geom name="r" type="box" size=".3 .02 .02"/></body>
  <body name="car" pos="0 AT 1"><joint type="slide" axis="1 0 0"/><geom name="c" type="box" size=".03 .02 .02"/></body></worldbody></mujoco>"""


@pytest.mark.parametrize("gap, said", [(3e-3, "3 mm apart"), (1e-9, "touching"), (3.5e-3, None)])
def test_clearances_are_told_as_far_as_contacts_brake(gap, said, context):
    """Beside its rail: where nothing is said, nothing brakes."""
    model = mujoco.MjModel.from_xml_string(CARRIAGE.replace("AT", str(0.04 + gap)))
    told = []
    am.scene_of(model, tell=told.append)
    assert told == ([] if said is None else [
        f"geoms `r` and `c` of bodies `rail` and `car` are {said} at the start: contacts act below some 3.2 mm, and may brake them "
        "(docs/import.md#clearances)"])
    s = quiet(abut.from_mujoco, model, context).step([0.0], [1.0], steps=100)
    assert (s.v[0] == 1.0) == (said is None), s.v


def test_links_that_slide_along_each_other_at_no_distance_are_touching():
    model = mujoco.MjModel.from_xml_string(CARRIAGE.replace("AT", "0.040000001").replace(
        'axis="1 0 0"', 'axis="1 0 0" range="-.1 .1" limited="true"'))
    told = []
    am.scene_of(model, tell=told.append)
    assert told == ["geoms `r` and `c` of bodies `rail` and `car` are touching and never overlap wherever the joints between them go: "
                    "they are not made a pair"]


def test_limits_that_are_the_wrong_way_round():
    told = []
    link = '<link name="{}"><inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>'
    scene, _ = am.scene_of(mujoco.MjModel.from_xml_string(f"""<robot name="r">{link.format("a")}{link.format("b")}<joint name="knee" type="revolute">
      <parent link="a"/><child link="b"/><axis xyz="0 0 1"/><limit lower="1" upper="-0.5" effort="1" velocity="1"/></joint></robot>"""), tell=told.append)
    assert told == ["joint `knee`: its lower limit of 1 is above its upper one of -0.5: MuJoCo leaves both out"]
    assert "limits" not in scene["links"][0]["joint"]


def test_names_of_starts(context):
    model = mujoco.MjModel.from_xml_string("""<mujoco><worldbody><body><joint axis="0 0 1"/><geom size="1"/></body></worldbody>
      <keyframe><key qpos="1"/><key name="0" qpos="2"/></keyframe></mujoco>""")
    with pytest.warns(UserWarning, match="^keyframe 1: another has the name `0`, and it is the start `key\\+1`$"):
        scene = abut.from_mujoco(model, context)
    assert [(name, start.q[0]) for name, start in scene.starts.items()] == [("0", 1.0), ("key+1", 2.0)]
    with pytest.raises(KeyError, match="no start `home`: the starts of the scene are `0`, `key\\+1`"):
        scene.starts["home"]
    with pytest.raises(KeyError, match="no start `home`: the starts of the scene are none"):
        quiet(abut.from_mujoco, load("arm"), context).starts["home"]


def test_clearances_of_free_bodies_are_not_told():
    """A foot just above the floor comes down on it."""
    told = []
    am.scene_of(mujoco.MjModel.from_xml_string("""<mujoco><worldbody><geom type="plane" size="40 40 1"/>
        <body pos="0 0 0.1001"><freejoint/><geom type="box" size="0.1 0.1 0.1"/></body></worldbody></mujoco>"""), tell=told.append)
    assert not told


def test_meshes_that_only_refused_pairs_name(context):
    """They are left out, as others that can touch nothing: their files are gone when a picture would read them."""
    mesh = '<asset><mesh name="flat" vertex="-.05 -.05 -.05  .05 -.05 -.05  -.05 .05 -.05  -.05 -.05 .05"/></asset>'
    stuck = FAN.replace("<worldbody>", mesh + "<worldbody>").replace(
        'type="box" size="0.08 0.01 0.02"', 'type="mesh" mesh="flat" contype="0" conaffinity="0" pos="0.02 0.02 0.02"').replace(
        "</worldbody>", '</worldbody><contact><pair geom1="blade" geom2="case"/></contact>')
    for text in (stuck, stuck.replace('geom2="case"', 'geom2="tip"')):  # nor does a body move against itself
        model = mujoco.MjModel.from_xml_string(text)
        told = []
        scene, meshes = am.scene_of(model, tell=told.append)
        assert not meshes and "1 geom that touches nothing is left out (no geom meets them)" in told
        scene = quiet(abut.from_mujoco, model, context)
        assert abut.view(scene, scene.start()[None]).html.startswith("<!")


def test_warnings_are_summed_up():
    joints = "".join(f'<body pos="{5 * k} 0 0"><joint name="j{k}"/><geom size="1" condim="{4 if k < 2 else 6}"/></body>' for k in range(6))
    acts = "".join(f'<position name="a{k}" joint="j{k}" timeconst="1"/>' for k in range(6))
    model = mujoco.MjModel.from_xml_string(f"""<mujoco><option density="1"/><worldbody>{joints}</worldbody><actuator>{acts}</actuator></mujoco>""")
    told, each = [], []
    am.scene_of(model, tell=told.append)
    am.scene_of(model, tell=each.append, verbose=True)
    assert told == ["actuators `a0`, `a1`, `a2` and 3 more: left out with their controls: they have a state (dyntype filterexact)",
                    "geoms 0, 1: condim 4 becomes 3", "geoms 2, 3, 4 and 1 more: condim 6 becomes 3",
                    "the medium's density and viscosity are left out"]
    assert len(each) == 13 and "actuator `a5`: left out with its control: it has a state (dyntype filterexact)" in each


RAIL = """<mujoco model="rails"><option><flag contact="disable"/></option><worldbody><geom type="plane" size="4 4 .2"/>
  <geom name="rail" type="capsule" pos="0 .07 1" zaxis="1 0 0" size="0.02 2"/>
  <body name="cart" pos="0 0 1"><joint type="slide" axis="1 0 0"/><geom type="box" size="0.2 0.15 0.1"/></body></worldbody></mujoco>"""


def test_geoms_that_can_touch_nothing(context):
    """They need suit no scene, and no mesh of theirs is written; one that can touch is refused by its name."""
    told = []
    scene, _ = am.scene_of(mujoco.MjModel.from_xml_string(RAIL), tell=told.append)
    assert [list(body)[0] for body in scene["links"][0]["bodies"]] == ["plane"] and scene["links"][1]["bodies"]
    assert "1 geom that touches nothing is left out (no geom meets them)" in told
    assert quiet(abut.from_mujoco, mujoco.MjModel.from_xml_string(RAIL), context).step([0.0], [1.0], steps=3).status == 0
    touching = mujoco.MjModel.from_xml_string(RAIL.replace('contact="disable"', 'gravity="disable"'))
    with pytest.raises(ValueError, match="geom `rail` of body `world` is a capsule of radius 0.02 m and half length 2 m; scenes have at most 50 radii"):
        quiet(abut.from_mujoco, touching, context)
    flat = """<mujoco model="plates"><asset><mesh name="flat" vertex="0 0 0 1 0 0 1 1 0.001 0 1 0" face="0 1 2 0 2 3" inertia="shell"/></asset><worldbody>
      <geom type="plane" size="1 1 1" conaffinity="BITS" contype="BITS"/>
      <body name="leaf" pos="0 0 1"><freejoint/><geom name="blade" type="mesh" mesh="flat" mass="1"/></body></worldbody></mujoco>"""
    scene, meshes = quiet(am.scene_of, mujoco.MjModel.from_xml_string(flat.replace("BITS", "0")))
    assert meshes == {} and "bodies" not in scene["links"][0]
    with pytest.raises(abut.Error) as refused:
        quiet(abut.from_mujoco, mujoco.MjModel.from_xml_string(flat.replace("BITS", "1")), context)
    text = str(refused.value)
    assert text.startswith("model `plates`: geom `blade` of body `leaf`: its file, mesh `flat`: ") and ".scene.json" not in text and ".obj" not in text, text
def yawed(model, angle, steps, control=0.0):
    """Where MuJoCo and abut come to from a start whose free body, the first one, is turned about z. All controls are alike."""
    data = mujoco.MjData(model)
    data.qpos[3:7] = [np.cos(angle / 2), 0, 0, np.sin(angle / 2)]
    scene = quiet(abut.from_mujoco, model, abut.Context("host", precision="f64"))
    data.ctrl[:] = control
    s = quiet(scene.step, *am.state_of(data), np.array(data.ctrl), steps=steps)
    for _ in range(steps):
        mujoco.mj_step(model, data)
    assert s.status == 0
    return data.qpos, s.q


def crawler():
    """A ball on four legs of capsules that splay, as gymnasium's ant: friction at the tips holds it."""
    leg = """<body euler="0 0 {}"><geom type="capsule" fromto="0 0 0 0.28 0 0" size="0.08"/><body pos="0.28 0 0"><joint axis="0 0 1" range="-30 30"/>
        <geom type="capsule" fromto="0 0 0 0.28 0 0" size="0.08"/><body pos="0.28 0 0"><joint axis="0 1 0" range="30 70"/>
        <geom type="capsule" fromto="0 0 0 0.56 0 0" size="0.08"/></body></body></body>"""
    return mujoco.MjModel.from_xml_string(f"""<mujoco><compiler angle="degree"/><option integrator="RK4" timestep="0.01"/>
        <default><joint armature="1" damping="1" limited="true"/>
        <geom conaffinity="0" condim="3" density="5" friction="1 0.5 0.5" margin="0.01"/></default>
        <worldbody><geom type="plane" size="40 40 40" conaffinity="1"/><body pos="0 0 0.75"><geom type="sphere" size="0.25"/>
        <joint type="free" armature="0" damping="0" limited="false"/>{"".join(leg.format(45 + 90 * k) for k in range(4))}</body></worldbody></mujoco>""")


def test_pyramids_hold_at_any_yaw():
    """Legs hold as MuJoCo's do, whatever way they point: its pyramids turn with capsules on a plane."""
    model = crawler()
    heights = []
    for angle in np.radians([0, 20, 45]):
        there, here = yawed(model, angle, 200)
        heights.append((there[2], here[2]))
        assert abs(here[2] - there[2]) < 0.02, (angle, there[2], here[2])
    assert np.ptp(heights, axis=0).max() < 1e-6


@pytest.mark.parametrize("geom, sliding", [("capsule", False), ("box", True)])
def test_pyramids_on_a_slope(geom, sliding):
    """A capsule along a slope creeps, by at most twice MuJoCo's way, whatever way both point. A box's pyramids are the plane's, of whose
    axes the slope lies 0 to 45 degrees off, and it slides as in MuJoCo."""
    size = 'size="0.05 0.1" euler="0 90 0"' if geom == "capsule" else 'size="0.1 0.05 0.05"'
    for angle in np.radians([0, 20, 45]):
        down = 9.81 * np.sin(np.arctan(0.5)) * np.array([np.cos(angle), np.sin(angle)])
        model = mujoco.MjModel.from_xml_string(f"""<mujoco><compiler angle="degree"/><option gravity="{down[0]} {down[1]} -8.774"/><worldbody>
            <geom type="plane" size="5 5 1" friction="0.6"/>
            <body pos="0 0 0.05"><freejoint/><geom type="{geom}" {size} friction="0.6"/></body></worldbody></mujoco>""")
        there, here = (1000 * np.linalg.norm(q[:2]) for q in yawed(model, angle, 500))
        assert (there > 100) == (sliding and angle > 0)
        assert abs(here - there) < (4 if there > 100 else 6), (angle, there, here)


@pytest.mark.parametrize("margin", [0, 0.01])
def test_cart_drives_as_far(margin):
    """A cart whose four cylinders are driven comes as far in 1.5 s as MuJoCo's, at any yaw."""
    wheels = "".join(f"""<body pos="{x} {y} 0"><joint name="j{x}{y}" axis="0 1 0"/>
        <geom type="cylinder" size="0.1 0.03" euler="90 0 0" mass="0.5"/></body>""" for x in (0.2, -0.2) for y in (0.2, -0.2))
    motors = "".join(f'<motor joint="j{x}{y}"/>' for x in (0.2, -0.2) for y in (0.2, -0.2))
    model = mujoco.MjModel.from_xml_string(f"""<mujoco><compiler angle="degree"/><default><geom margin="{margin}"/></default><worldbody>
        <geom type="plane" size="10 10 0.1"/><body pos="0 0 {0.1 + 2 * margin}"><freejoint/><geom type="box" size="0.3 0.15 0.05" mass="5"/>{wheels}
        </body></worldbody><actuator>{motors}</actuator></mujoco>""")
    for angle in (0, 0.6):
        there, here = yawed(model, angle, 750, 0.25)
        ways = np.array([there[:2], here[:2]]) @ [np.cos(angle), np.sin(angle)]
        assert ways[0] > 1.2 and abs(ways[1] - ways[0]) < 0.005 * ways[0], (angle, ways)


@pytest.mark.parametrize("cone", ["pyramidal", "elliptic"])
def test_margins_hold(cone):
    """A box rests on its margin, and creeps by about a millimetre a second on a slope of 0.14 as MuJoCo's does."""
    model = mujoco.MjModel.from_xml_string(f"""<mujoco><option cone="{cone}" gravity="1.365 0 -9.715"/><worldbody>
        <geom type="plane" size="5 5 1" margin="0.02"/><body pos="0 0 0.12"><freejoint/><geom type="box" size="0.1 0.1 0.1"/></body></worldbody></mujoco>""")
    there, here = yawed(model, 0, 500)
    assert min(there[2], here[2]) > 0.1195 and max(there[0], here[0]) < 0.0015


ROD = '<geom type="capsule" size=".05 .2" pos="0 0.05 -.2"/>'
CHAIN = f"""<body pos="0 0 1"><joint type="hinge" axis="0 1 0" damping="0.1"/>{ROD}<body name="rod" pos="0 0 -.4"><joint type="ball"/>{ROD}</body></body>
    <body name="box" pos=".5 .1 .6"><freejoint/><site name="corner" pos=".1 0 .1" euler="10 20 30"/><geom type="box" size=".1 .2 .15"/></body>"""
JOINTS = f"""<body pos="0 0 1"><joint name="a" axis="0 1 0" ref="0.3"/>{ROD}<body pos="0 0 -.4"><joint name="b" type="slide" axis="1 0 .5"/>{ROD}</body></body>
    <body pos=".5 .1 .6"><joint name="c" axis="1 .2 0"/><joint name="d" type="slide" axis="0 0 1"/><geom type="box" size=".1 .2 .15" pos=".1 .1 .1"/></body>"""
STRINGS = """<tendon><fixed name="t" stiffness="30" damping="2" springlength="0.1 0.2"><joint joint="a" coef=".5"/><joint joint="d" coef="-2"/></fixed>
    <fixed name="s"><joint joint="c" coef=".7"/><joint joint="b" coef="1"/></fixed></tendon>
    <actuator><motor tendon="t" gear="3"/><position tendon="s" kp="10" kv="1" gear="2" forcerange="-1 1"/></actuator>"""
COUPLED = {
    "connect": (CHAIN, '<connect body1="rod" body2="box" anchor="0 0.02 -.4"/>'),
    "connect to the world": (CHAIN, '<connect body1="box" body2="world" anchor=".1 .1 .1"/>'),
    "weld": (CHAIN, '<weld body1="rod" body2="box" anchor="0.1 0 -.4" torquescale="0.7" solref=".03 1.2" solimp=".8 .97 .2 .4 3"/>'),
    "weld to the world, and connect": (CHAIN, '<weld body1="box"/><connect body1="rod" body2="world" anchor=".1 .1 .1"/>'),
    "sites": (CHAIN.replace("<geom", '<site name="end" pos="0 0 -.4"/><geom', 2).replace('<site name="end" pos="0 0 -.4"/>', "", 1),
              '<weld site1="end" site2="corner"/>'),
    "joints": (JOINTS, '<joint joint1="a" joint2="c" polycoef="0.1 .8 .3 -.1 .05"/><joint joint1="b" polycoef=".2 0 0 0 0"/>'),
    "tendons": (JOINTS, '<tendon tendon1="t" tendon2="s" polycoef="0 -.5 .1 0 0"/><tendon tendon1="s"/>')}


@pytest.mark.parametrize("name", COUPLED)
def test_couples_as_mujoco(name, context):
    """Steps of random states with equality constraints and tendons, where nothing touches."""
    bodies, equalities = COUPLED[name]
    model = mujoco.MjModel.from_xml_string(
        f'<mujoco><default><geom contype="0" conaffinity="0"/></default><worldbody>{bodies}</worldbody>{STRINGS if bodies is JOINTS else ""}'
        f"<equality>{equalities}</equality></mujoco>")
    model.opt.tolerance, model.opt.iterations = 0.0, 100
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.filterwarnings("ignore", message=".*touches nothing.*|.*touch nothing.*")
        scene = abut.from_mujoco(model, context)
    random = np.random.default_rng(4)
    for _ in range(5):
        data = mujoco.MjData(model)
        mujoco.mj_integratePos(model, data.qpos, 0.3 * random.normal(size=model.nv), 1.0)
        data.qvel[:], data.ctrl[:] = random.normal(size=model.nv), random.normal(size=model.nu)
        step = scene.step(*am.state_of(data), np.array(data.ctrl), steps=3)
        mujoco.mj_step(model, data, 3)
        there = am.state_of(data)
        assert np.max(np.abs(step.q - there[0])) < 1e-9 and np.max(np.abs(step.v - there[1])) < 1e-9 * np.max(np.abs(there[1]))


HAND = """<body name="a" pos="0 0 1"><joint name="j" axis="0 1 0"/><geom size=".05" fromto="0 0 0 .5 0 0" type="capsule"/>
    <body name="b" pos=".5 0 0"><joint axis="0 1 0"/><geom size=".05" fromto="0 0 0 .4 0 0" type="capsule"/>
    <body name="c" pos=".4 0 0"><joint type="ball"/><geom size=".05 .04 .03" type="box" pos=".05 0 0"/></body></body></body>"""
MOVED = {
    "weld to a free body": """<body name="m" mocap="true" pos=".1 .2 .5" quat=".8 .2 .4 -.4"/><body name="f" pos="0 .1 .4" quat=".9 .1 -.3 .2"><freejoint/>
        <geom type="box" size=".1 .2 .15" pos=".05 0 .02"/></body>@<weld body1="m" body2="f" relpose=".1 0 -.1 .9 .1 .2 0" solref=".02 1"/>""",
    "weld to an arm, and an actuator": f"""<body name="m" mocap="true" pos=".8 0 1.1"><body name="n" pos="0 0 .1"/></body>{HAND}@
        <weld body1="n" body2="c" anchor=".05 .01 .02" torquescale=".3"/>""",
    "two, with a child on a joint": f"""<body name="m" mocap="true" pos=".8 0 1.1" quat="1 0 1 0"><body name="n" pos=".2 .1 0"><joint axis="1 1 0" pos=".05 0 .1"/>
        <geom size=".1 .05 .02" type="box" pos=".1 0 0"/></body></body><body name="o" mocap="true" pos="0 1 0"/>{HAND}@<connect body1="n" body2="c"
        anchor=".05 .01 .02"/><connect body1="o" body2="b" anchor="0 .1 0"/>"""}


@pytest.mark.parametrize("name", MOVED)
def test_mocap_bodies_as_mujoco(name, context):
    """Steps of random states and mocap poses, where nothing touches."""
    bodies, equalities = MOVED[name].split("@")
    drives = '<general joint="j" dyntype="filter" dynprm="1" gainprm="0"/><position joint="j" kp="3"/>' if "actuator" in name else ""  # the first is left out, with its control
    model = mujoco.MjModel.from_xml_string(
        f"""<mujoco><default><geom contype="0" conaffinity="0"/></default><worldbody>{bodies}</worldbody>
        <equality>{equalities}</equality><actuator>{drives}</actuator></mujoco>""")
    model.opt.tolerance, model.opt.iterations = 0.0, 100
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        scene = abut.from_mujoco(model, context)
    assert scene.nu == bool(drives) + 6 * model.nmocap
    random = np.random.default_rng(7)
    for _ in range(5):
        data = mujoco.MjData(model)
        mujoco.mj_integratePos(model, data.qpos, 0.3 * random.normal(size=model.nv), 1.0)
        data.qvel[:], data.ctrl[:] = random.normal(size=model.nv), random.normal(size=model.nu)
        for _ in range(3):
            data.mocap_pos[:] += 0.1 * random.normal(size=(model.nmocap, 3))
            data.mocap_quat[:] += random.normal(size=(model.nmocap, 4))
            step = scene.step(*am.state_of(data), am.controls_of(model, data))
            mujoco.mj_step(model, data)
            there = am.state_of(data)
            assert np.max(np.abs(step.q - there[0])) < 1e-9 and np.max(np.abs(step.v - there[1])) < 1e-9 * np.max(np.abs(there[1]))


def test_mocap_bodies_push(context):
    """A mocap wall pushes a box over a plane as far as MuJoCo's does, and a moved link has no contact with what cannot move."""
    model = mujoco.MjModel.from_xml_string("""<mujoco><worldbody><geom type="plane" size="3 3 .1"/>
        <body name="wall" mocap="true" pos="-.2 0 .1"><geom type="box" size=".05 .3 .1"/></body>
        <body name="box" pos="0 .02 .1"><freejoint/><geom type="box" size=".1 .1 .1"/></body></worldbody>
        <keyframe><key name="turned" qpos="0 0 .1 1 0 0 0" mpos="-.3 0 .2" mquat="0.6 0 0 0.8"/></keyframe></mujoco>""")
    scene = quiet(abut.from_mujoco, model, context)
    assert sorted(map(tuple, scene.candidates.tolist())) == [(0, 2), (1, 2)]
    angle = 2.0 * np.arctan2(0.8, 0.6)
    assert np.allclose(scene.starts["turned"].u, [-0.1, 0, 0.1, 0, 0, angle], atol=1e-15)
    data = mujoco.MjData(model)
    state = am.state_of(data)
    for step in range(400):
        data.mocap_pos[0][0] = -0.2 + 0.5e-3 * step
        u = am.controls_of(model, data)
        assert np.allclose(u, [0.5e-3 * step, 0, 0, 0, 0, 0])
        mujoco.mj_step(model, data)
        after = scene.step(*state, u)
        state = after.q, after.v
    assert data.qpos[0] > 0.12 and abs(after.q[0] - data.qpos[0]) < 5e-3, (after.q, data.qpos)
    with pytest.raises(abut.Error, match="control 0 of world 0 moves a link"):
        scene.find_contacts(after.q, forces=True, u=u)


def test_couplings_that_are_left_out():
    """Spatial tendons with what holds them, constraints that are off, and what holds only the world, each by its name."""
    model = mujoco.MjModel.from_xml_string(f"""<mujoco><worldbody>{CHAIN}<body name="post"><geom size="1"/></body><site name="hook" pos="0 0 1"/></worldbody>
        <tendon><spatial name="rope"><site site="hook"/><site site="corner"/></spatial></tendon>
        <equality><weld name="off" body1="box" active="false"/><tendon name="tight" tendon1="rope"/><weld name="still" body1="post"/></equality></mujoco>""")
    with pytest.warns(UserWarning) as told:
        assert "equalities" not in am.scene_of(model)
    lines = "\n".join(str(one.message) for one in told)
    for line in ("tendon `rope`: spatial tendons are left out", "equality `off`: left out: it is not active at the start",
                 "equality `tight`: left out: it holds a spatial tendon", "equality `still`: left out: neither side can move"):
        assert line in lines, lines


MIMIC = """<robot name="pair"><link name="base"/>
 <link name="one">{0}</link><joint name="first" type="revolute"><parent link="base"/><child link="one"/>{1}</joint>
 <link name="two">{0}</link><joint name="second" type="revolute"><parent link="base"/><child link="two"/><origin xyz="0 0 1"/>{1}<mimic joint="first" multiplier="{2}"/></joint>
</robot>"""


def mimic(multiplier):
    return MIMIC.format('<inertial><mass value="1"/><inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/></inertial>'
                        '<collision><geometry><sphere radius="0.1"/></geometry></collision>',
                        '<axis xyz="0 0 1"/><limit lower="-1" upper="1" effort="1" velocity="1"/>', multiplier)


def test_mimic_joints_are_named():
    """URDF's mimic is an equality without a name: what is said of it names its joint, not its number."""
    model = mujoco.MjModel.from_xml_string(mimic(-1.0))
    assert model.neq == 1 and not model.names[model.name_eqadr[0]:model.name_eqadr[0] + 1].strip(b"\0")
    model.eq_data[0][1] = np.nan
    with pytest.raises(ValueError, match=r"^the scene's equalities\[0\] \(equality of joint `second`\)\.polynomial\[1\] is nan; "):
        quiet(am.scene_of, model)
    model.eq_data[0][1], model.eq_solref[0], told = -1.0, [-1.0, 1.0], []
    am.scene_of(model, tell=told.append)
    assert told == ["equality of joint `second`: solref -1 1 has two signs; MuJoCo takes 0.02 1 then, too"], told
    model.eq_active0[0], told = False, []
    am.scene_of(model, tell=told.append)
    assert told == ["equality of joint `second`: left out: it is not active at the start"], told


def test_planes_end_nowhere(context):
    """MuJoCo draws a plane in its size, and lets things rest beyond it."""
    model = mujoco.MjModel.from_xml_string("""<mujoco><worldbody><geom type="plane" size="0.5 20 1" pos="1 0 0"/>
        <body pos="-2 0 0.1"><freejoint/><geom type="box" size="0.1 0.1 0.1"/></body></worldbody></mujoco>""")
    there, here = yawed(model, 0, 200)
    assert np.abs(here[:3] - there[:3]).max() < 1e-3 and there[2] > 0.099
    told = []
    scene, _ = am.scene_of(model, tell=told.append)
    assert scene["links"][0]["bodies"][0]["plane"][0] >= 10 and scene["links"][0]["bodies"][0]["plane"][1] >= 20 and not told


def test_warnings_name_what_is_left_out():
    with pytest.warns(UserWarning, match="tendon `pull`: its length limits are left out$"):
        am.scene_of(load("hand"))


def test_limits_of_tendons_that_couple_joints():
    told = []
    joints = "".join(f'<body><joint name="{name}" axis="0 0 1"/><geom size="1" contype="0"/>' for name in ("FFJ1", "FFJ0"))
    am.scene_of(mujoco.MjModel.from_xml_string(f"""<mujoco><worldbody>{joints}</body></body></worldbody><tendon>
      <fixed name="one" range="0 1" limited="true"><joint joint="FFJ1" coef="1"/></fixed>
      <fixed name="two" range="0 1" limited="true"><joint joint="FFJ0" coef="1"/><joint joint="FFJ1" coef="-1"/></fixed></tendon></mujoco>"""),
                tell=told.append)
    assert told[:2] == ["tendon `one`: its length limits are left out",
                        "tendon `two`: its length limits are left out, so that joints which they couple move by themselves"], told


def test_height_fields_that_are_too_fine():
    with pytest.warns(UserWarning, match="geom `strip`: a height field of 2 by 2049 nodes is left out"):
        am.scene_of(load("terrain"))


def test_warnings_are_of_the_line_that_calls():
    """Each line that makes a scene is told, once, by Python's own filter."""
    model = load("hand")
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("default")
        abut.from_mujoco(model).close()
        first = len(told)
        am.from_mujoco(model).close()
        assert first and len(told) == 2 * first
        heavy = mujoco.MjModel.from_xml_string("""<mujoco><worldbody><geom type="plane" size="1 1 1"/>
            <body pos="0 0 0.1"><freejoint/><geom type="box" size="0.1 0.1 0.1" density="1e6"/></body></worldbody></mujoco>""")
        abut.from_mujoco(heavy, contact_model="spring").close()
    assert "its spring gives way" in str(told[-1].message)   # what the scene itself tells
    assert {warning.filename for warning in told} == {__file__}


def test_ranges_without_ends():
    """A range that is infinite both ways is none; an end that is, is so far that nothing reaches it."""
    told = []
    scene, _ = am.scene_of(load("edges"), tell=told.append)
    _, upper, half, fore = scene["links"]
    assert "limits" not in upper["joint"]
    assert half["joint"]["limits"] == [-0.4, 1e10] and fore["joint"]["limits"] == [-1e10, -1.0]
    assert [a.get("force_limits") for a in scene["actuators"]] == [None, [-1.0, 1e10], [-1e10, 3.0], [-1e10, 0.5], [-1e10, 5.0], None]
    assert [a.get("control_limits") for a in scene["actuators"]] == [None] * 4 + [[-1e10, 3.0], None] and told == []
    # Where zeros have a sign nothing is written that is not there without it.
    assert "quaternion" not in half and "quaternion" not in half["bodies"][0] and "-0.0" not in json.dumps(scene)
    assert upper["name"] == "a" * 200 + "/" + "b" * 200 and half["name"] == "a" * 200


@pytest.mark.parametrize("precision", ["f32", "f64"])
def test_ends_far_away_do_nothing(precision, tmp_path):
    """Steps and their derivatives are the same, to the bit, as with ends that are merely far enough."""
    scene, _ = quiet(am.scene_of, load("edges"))
    answers = []
    for far in (1e10, 1e4):
        path = tmp_path / "far.scene.json"
        path.write_text(json.dumps(scene).replace("10000000000.0", repr(far)))
        assert (repr(far) in path.read_text()) and json.loads(path.read_text())
        with abut.Context("host", precision=precision) as on, abut.Scene(path, on) as one:
            s = one.step([0.0] * 3, [1.0] * 3, [0.1] * 6, steps=50)
            assert s.status == 0
            answers.append([s.q, s.v, one.transition(s.q, s.v, [0.1] * 6).A])
    for a, b in zip(*answers):
        assert np.all(np.isfinite(a)) and np.array_equal(a, b)


@pytest.mark.parametrize("change, place", [
    (("<geom size", "<geom mass='inf' size"), "links[3] (body `fore`).mass is inf"),
    (('name="elbow"', "name='elbow' damping='inf'"), "links[3] (body `fore`).joint.damping is inf"),
    (('name="elbow"', "name='elbow' damping='nan'"), "links[3] (body `fore`).joint.damping is nan"),
    (('name="elbow"', "name='elbow' solreflimit='-inf -1'"), "links[3] (body `fore`).joint.solref_limit[0] is -inf"),
    (('gear="2"', "gear='inf'"), "actuators[1] (actuator `upward`).gear is inf"),
    (("<geom size", "<geom friction='inf' size"), "links[3].bodies[0] (geom 2 of body `fore`).friction is inf"),
    (("<worldbody>", "<option gravity='0 0 -inf'/><worldbody>"), "gravity[2] is -inf"),
])
def test_numbers_that_are_not_finite_are_refused(change, place, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)   # MuJoCo logs there what it warns of
    text = MODELS["edges"].read_text()
    assert change[0] in text
    (tmp_path / "m.xml").write_text(text.replace(*change))
    model = mujoco.MjModel.from_xml_path(str(tmp_path / "m.xml"))
    message = f"the scene's {place}; scenes can contain only finite numbers"
    with np.errstate(invalid="ignore"), pytest.raises(ValueError) as error:
        quiet(am.write, model, tmp_path / "m.scene.json")
    assert str(error.value) == message and set(os.listdir()) <= {"m.xml", "MUJOCO_LOG.TXT"}
    run = subprocess.run([sys.executable, "-m", "abut.mujoco", "m.xml", "-o", "m.scene.json"], capture_output=True, text=True)
    assert run.returncode == 2 and run.stderr.splitlines()[-1] == f"abut: m.xml: {message}", run.stderr
    assert set(os.listdir()) <= {"m.xml", "MUJOCO_LOG.TXT"}


@pytest.mark.parametrize("chosen, kinds", [("ALL", "both"), ("PAIR", "explicit"), ("DYNAMIC", "dynamic")])
def test_pairs_that_are_looked_at(chosen, kinds, monkeypatch):
    """Before MuJoCo 3 an option chose between explicit pairs and those by geoms' bits."""
    model = mujoco.MjModel.from_xml_string("""<mujoco><worldbody><geom name="floor" type="plane" size="1 1 1"/>
        <body pos="0 0 1"><freejoint/><geom name="a" size="0.1"/></body><body pos="0 0 2"><freejoint/><geom name="b" size="0.1"/></body>
        </worldbody><contact><pair geom1="a" geom2="floor" margin="0.125"/></contact></mujoco>""")
    numbers = types.SimpleNamespace(mjCOL_ALL=0, mjCOL_PAIR=1, mjCOL_DYNAMIC=2)
    monkeypatch.setattr(mujoco, "mjtCollision", numbers, raising=False)

    class Before3:
        def __init__(self, of, **own):
            self.of, self.own = of, own

        def __getattr__(self, name):
            return self.own[name] if name in self.own else getattr(self.of, name)

    maker = _import_mujoco._Maker(model, "m", print, list_pairs=True)
    maker.m = Before3(model, opt=Before3(model.opt, collision=getattr(numbers, f"mjCOL_{chosen}")))
    maker.dynamic = maker._dynamic_pairs()
    explicit = [(0, 1, 0.125)]
    found = [(*sorted((p["a"][0], p["b"][0])), p.get("margin")) for p in maker.pairs()]
    others = [(0, 2, None), (1, 2, None)]
    assert found == {"both": explicit + others, "explicit": explicit, "dynamic": [(0, 1, None)] + others}[kinds]


def test_versions_of_any_spelling(monkeypatch):
    """MuJoCo's text may end with letters; its number does not."""
    monkeypatch.setattr(mujoco, "__version__", "3.3.0rc1")
    assert quiet(am.scene_of, load("arm"))[0]["links"]
    for number, version in ((237, (2, 3, 7)), (330, (3, 3, 0)), (3004000, (3, 4, 0)), (3011001, (3, 11, 1))):
        monkeypatch.setattr(mujoco, "mj_version", lambda number=number: number)
        assert _import_mujoco._version() == version


def test_what_is_no_model():
    for make in (abut.from_mujoco, am.from_mujoco, am.scene_of):
        with pytest.raises(TypeError, match="expected a mujoco.MjModel, .*, not str"):
            make("robot.xml")


@conftest.long
def test_without_an_import_of_its_own():
    """abut.mujoco is there before abut.from_mujoco was called, and no other name is."""
    code = "import abut, sys; assert 'mujoco' not in sys.modules; print(abut.mujoco.state_of.__name__, hasattr(abut, 'mujoko'))"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert run.returncode == 0 and run.stdout == "state_of False\n", run.stderr


def of_before(folder):
    """An earlier import into a folder: what its files hold."""
    quiet(am.write, load("hand"), folder / "h.scene.json")
    (folder / "h.scene.json").write_text("of before\n")
    (folder / "h.wedge.obj").write_text(_import_mujoco._MESH_HEAD + "of before\n")
    return {path.name: path.read_text() for path in folder.iterdir()}


@conftest.long
@pytest.mark.parametrize("blocks", [0, 1])
def test_all_files_or_none(blocks, tmp_path):
    """A disk that is full leaves what was there, and nothing else; `ulimit -f` counts blocks of 512 bytes, or of 1024."""
    for folder in ("old", "new"):
        (tmp_path / folder).mkdir()
    before = of_before(tmp_path / "old")
    for folder, left in (("old", before), ("new", {})):
        run = subprocess.run(["sh", "-c", f'ulimit -f {blocks}; exec "$@"', "sh", sys.executable, "-m", "abut.mujoco", MODELS["hand"],
                              "-o", f"{folder}/h.scene.json"], capture_output=True, text=True, cwd=tmp_path)
        assert run.returncode == 1, run.stderr
        assert run.stderr.splitlines()[-1].startswith(f"abut: {folder}/h."), run.stderr
        assert {path.name: path.read_text() for path in (tmp_path / folder).iterdir()} == left


def test_a_name_that_cannot_be_taken(tmp_path, monkeypatch):
    """The scene's name fails last, when a mesh has its own: the mesh goes if it was not there before."""
    replace = os.replace

    def fails(source, target):
        if str(target).endswith(".scene.json"):
            raise PermissionError("no")
        replace(source, target)

    monkeypatch.setattr(os, "replace", fails)
    with pytest.raises(PermissionError):
        quiet(am.write, load("hand"), tmp_path / "h.scene.json")
    assert not os.listdir(tmp_path)


def test_outputs_that_cannot_be(tmp_path):
    model = load("hand")
    (tmp_path / "h.scene.json").mkdir()
    with pytest.raises(OSError, match="h.scene.json: exists and is not a regular file"):
        quiet(am.write, model, tmp_path / "h.scene.json")
    with pytest.raises(OSError, match="m.scene.json: the folder .*nowhere/: No such file or directory"):
        quiet(am.write, model, tmp_path / "nowhere" / "m.scene.json")
    (tmp_path / "x.wedge.obj").mkdir()
    with pytest.raises(OSError, match="x.wedge.obj: exists and is not a regular file"):
        quiet(am.write, model, tmp_path / "x.scene.json")
    assert sorted(os.listdir(tmp_path)) == ["h.scene.json", "x.wedge.obj"]
    # A link stays one, and its file is written.
    (tmp_path / "to").mkdir()
    (tmp_path / "l.scene.json").symlink_to("to/l.scene.json")
    quiet(am.write, load("arm"), tmp_path / "l.scene.json")
    assert (tmp_path / "l.scene.json").is_symlink() and json.loads((tmp_path / "to" / "l.scene.json").read_text())


def test_refusals(tmp_path):
    model = load("hand")
    with pytest.raises(ValueError, match="end with .scene.json"):
        quiet(am.write, model, tmp_path / "hand.json")
    (tmp_path / "hand.wedge.obj").write_text("mine\n")
    with pytest.raises(ValueError, match="not written by an import"):
        quiet(am.write, model, tmp_path / "hand.scene.json")
    assert not (tmp_path / "hand.scene.json").exists()
    with pytest.raises(ValueError, match="no bodies"):
        am.scene_of(mujoco.MjModel.from_xml_string("<mujoco/>"))


def test_as_a_program(tmp_path):
    run = subprocess.run([sys.executable, "-m", "abut.mujoco", str(MODELS["hand"]), "-o", str(tmp_path / "h.scene.json")],
                         capture_output=True, text=True)
    assert run.returncode == 0 and "abut: warning: tendon `pull`: its length limits are left out" in run.stderr, run.stderr
    assert json.loads((tmp_path / "h.scene.json").read_text())["links"]
    shutil.copy(MODELS["hand"], tmp_path / "bad.xml")
    (tmp_path / "bad.xml").write_text("<mujoco><worldbody><geom type='blob'/></worldbody></mujoco>")
    run = subprocess.run([sys.executable, "-m", "abut.mujoco", "bad.xml", "-o", "b.scene.json"], cwd=tmp_path, capture_output=True,
                         text=True)
    assert run.returncode == 2 and run.stderr.startswith("abut: bad.xml: MuJoCo "), run.stderr
    assert not (tmp_path / "b.scene.json").exists()
    assert run.stderr.count("\n") == 1, run.stderr   # MuJoCo's reason has several lines
    (tmp_path / "bad.xml").write_text("<mujoco/>")
    shutil.copy(MODELS["arm"], tmp_path / "arm.scene.json")
    for model, to, status, says in (
            ("arm.scene.json", "arm.scene.json", 2, "arm.scene.json: is also an input of this command; use another output file"),
            ("bad.xml", "b.scene.json", 2, "bad.xml: the model has no bodies except the world, and no geoms that may touch anything"),
            ("bad.xml", "b.json", 2, "b.json: the name of a scene must end with .scene.json"),
            ("arm.scene.json", "no/b.scene.json", 2, "no/b.scene.json: the folder no/: No such file or directory"))[:1 if conftest.USUAL else 4]:
        run = subprocess.run([sys.executable, "-m", "abut.mujoco", model, "-o", to], cwd=tmp_path, capture_output=True, text=True)
        assert run.returncode == status and run.stderr == f"abut: {says}\n", run.stderr
    assert (tmp_path / "arm.scene.json").read_text() == MODELS["arm"].read_text()


# ---- automatic pairs ----

def _found_by_mujoco(model):
    """Geoms between which MuJoCo finds contacts where every two are near enough."""
    m = copy.copy(model)
    m.geom_margin[:] = 1e3
    m.pair_margin[:] = 1e3
    data = mujoco.MjData(m)
    mujoco.mj_kinematics(m, data)
    mujoco.mj_collision(m, data)
    return {frozenset((int(c.geom1), int(c.geom2))) for c in data.contact}


def _geoms(model, scene):
    """The geom of each body of a scene, by its number: bodies come in the order of geoms, but for those that are left out."""
    maker = _import_mujoco._Maker(model, "m", lambda text: None)
    order = sorted((maker.last[int(model.geom_bodyid[g])], maker.place[g], g) for g in range(model.ngeom) if maker.place[g] >= 0)
    assert [[link, place] for link, place, _ in order] == scene.bodies.tolist()
    return [g for *_, g in order]


@pytest.mark.parametrize("flag", ["enable", "disable"])
@pytest.mark.parametrize("name", MODELS)
def test_candidates_are_mujocos(name, flag, context, tmp_path):
    """The pairs of a scene, listed or automatic, are MuJoCo's, and bodies of automatic pairs state what mixes as its geoms do."""
    text = MODELS[name].read_text()
    if not text.lstrip().startswith("<mujoco") or "<flag" in text:
        pytest.skip("the model has flags of its own, or takes none")
    copy = MODELS[name].parent / f"flag-{flag}-{os.getpid()}.xml"  # beside its meshes
    copy.write_text(text.replace("<worldbody>", f'<option><flag filterparent="{flag}"/></option><worldbody>', 1))
    try:
        model = mujoco.MjModel.from_xml_path(str(copy))
    finally:
        copy.unlink()
    scene = quiet(abut.from_mujoco, model, context)
    listed = quiet(abut.from_mujoco, model, context, list_pairs=True)
    geoms = _geoms(model, scene)
    found = {frozenset(geoms[b] for b in pair) for pair in scene.candidates}
    assert found == {pair for pair in _found_by_mujoco(model) if pair <= set(geoms)}
    assert found == {frozenset(geoms[b] for b in pair) for pair in listed.candidates}
    assert len(found) == len(scene.candidates) == len(listed.candidates) == listed.pairs
    assert scene.parameters == scene.pairs + len({b for pair in scene.candidates[scene.pairs:] for b in pair})
    q, v = am.state_of(mujoco.MjData(model))
    a, b = quiet(scene.step, q, v, steps=100), quiet(listed.step, q, v, steps=100)
    assert a.status == b.status == 0 and np.abs(a.q - b.q).max() < 1e-9


def test_meshes_whose_names_differ_in_case_have_files_of_their_own():
    vertices = 'vertex="0 0 0 1 0 0 0 1 0 0 0 1"'
    model = mujoco.MjModel.from_xml_string(f"""<mujoco><asset><mesh name="a" {vertices}/><mesh name="A" {vertices}/><mesh name="b" {vertices}/>
        </asset><worldbody><geom type="mesh" mesh="a"/><body><freejoint/><geom type="mesh" mesh="A"/></body>
        <body><freejoint/><geom type="mesh" mesh="b"/></body></worldbody></mujoco>""")
    _, meshes = abut.mujoco.scene_of(model, "two", lambda text: None)
    assert len({name.lower() for name in meshes}) == 3 and "two.b.obj" in meshes


def test_loading_is_told(context):
    told = []
    scene = quiet(am.from_mujoco, load("hand"), context, progress=lambda what, share: told.append((what, share)))
    shares = [share for _, share in told]
    assert len(told) >= 5 and shares == sorted(shares) and 0.5 < shares[-1] < 1.0
    assert all("geom" in what and "links[" not in what for what, _ in told)  # by the model's names

    def enough(what, share):
        if len(told) == 2:
            raise RuntimeError(what)
        told.append(what)

    told = []
    with pytest.raises(RuntimeError, match="geom"):
        quiet(am.from_mujoco, load("hand"), context, progress=enough)
    assert quiet(am.from_mujoco, load("hand"), context, progress=False).links == scene.links
    with pytest.raises(TypeError, match="progress is 3"):
        am.from_mujoco(load("hand"), context, progress=3)


def test_a_line_on_a_terminal(monkeypatch):
    class Terminal(io.StringIO):
        def isatty(self):
            return True

    from abut import _progress

    for stream, seen in ((Terminal(), True), (io.StringIO(), False)):
        monkeypatch.setattr(sys, "stderr", stream)
        monkeypatch.setattr(_progress, "_AFTER", 0.05)
        told = _progress.teller(None, lambda what: f"model: {what}")
        told.tell("a body", 0.25)
        time.sleep(0.3)
        told.tell("another", 0.5)  # at once, as a line is there
        told.end()
        told.tell("the next one", 0.75)  # not before its own time
        told.end()
        assert stream.getvalue() == seen * "\r\033[Kabut: model: a body, 25%\r\033[Kabut: model: another, 50%\r\033[K"


def test_building_is_told():
    told = []
    with abut.Context(os.environ.get("ABUT_TEST_DEVICE", "host"), progress=lambda what, share: told.append((what, share))) as own:
        scene = quiet(am.from_mujoco, load("gripper"), own)
        scene.step(scene.start(), np.zeros(scene.nv))
        if own.device.type == "host":
            assert not told
        else:
            assert told and [share for _, share in told] == [0.0, 1.0] * (len(told) // 2)
            assert any("kernels of module world for" in what for what, _ in told)
