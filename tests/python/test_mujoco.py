"""abut.mujoco: scenes of MuJoCo's models, beside what `abut import` makes of them and beside how MuJoCo moves them."""
import json
import os
import pathlib
import shutil
import subprocess
import sys
import warnings

import abut
import abut.mujoco as am
import mujoco
import numpy as np
import pytest

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


def same(a, b, where=""):
    assert type(a) is type(b) or (isinstance(a, (int, float)) and isinstance(b, (int, float))), where
    if isinstance(b, dict):
        assert a.keys() == b.keys(), where
        for key in b:
            same(a[key], b[key], f"{where}.{key}")
    elif isinstance(b, list):
        assert len(a) == len(b), where
        for i, pair in enumerate(zip(a, b)):
            same(*pair, f"{where}[{i}]")
    elif isinstance(b, float):
        assert abs(a - b) <= 1e-12 * max(1.0, abs(b)), (where, a, b)
    else:
        assert a == b, (where, a, b)


def test_there_are_eight_kinds():
    assert {"arm", "quadruped", "humanoid", "hand", "drone", "cartpole", "pusher", "bin"} <= MODELS.keys()


@pytest.mark.parametrize("name", MODELS)
def test_as_the_command(name, tmp_path):
    """Two texts of the same rules: the command's, in C, where it is built with this MuJoCo, and this module's."""
    command = os.environ.get("ABUT_TEST_COMMAND")
    if not command:
        pytest.skip("ABUT_TEST_COMMAND names no command")
    run = subprocess.run([command, "import", "-q", MODELS[name], "-o", tmp_path / "m.scene.json"], capture_output=True, text=True)
    if run.returncode == 2 and ("without MuJoCo" in run.stderr or "does not read it" in run.stderr):
        pytest.skip(run.stderr)
    assert run.returncode == 0, run.stderr
    told = []
    scene, meshes = am.scene_of(load(name), "m", told.append)
    same(scene, json.loads((tmp_path / "m.scene.json").read_text()))
    assert told == [line.removeprefix("abut: warning: ") for line in run.stderr.splitlines()]
    for file, text in meshes.items():
        assert (tmp_path / file).read_text() == text


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
    low, high = np.where(model.actuator_ctrllimited, model.actuator_ctrlrange.T, [[-np.inf], [np.inf]])
    data.ctrl[:] = np.clip(data.ctrl, low, high)   # scenes have no range of controls
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


@pytest.mark.parametrize("name, most", [("quadruped", 0.01), ("bin", 0.003), ("pusher", 0.003)])
def test_rests_as_mujoco(name, most, context):
    """After a second with contacts bodies lie within millimetres of where MuJoCo's do: contacts differ, the law does not."""
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


def test_warnings_name_what_is_left_out():
    with pytest.warns(UserWarning, match="tendon `pull`: tendons are left out"):
        am.scene_of(load("hand"))


def test_refusals(tmp_path):
    model = load("hand")
    with pytest.raises(ValueError, match="end with .scene.json"):
        quiet(am.write, model, tmp_path / "hand.json")
    (tmp_path / "hand.wedge.obj").write_text("mine\n")
    with pytest.raises(ValueError, match="not of an import"):
        quiet(am.write, model, tmp_path / "hand.scene.json")
    assert not (tmp_path / "hand.scene.json").exists()
    with pytest.raises(ValueError, match="no bodies"):
        am.scene_of(mujoco.MjModel.from_xml_string("<mujoco/>"))


def test_as_a_program(tmp_path):
    run = subprocess.run([sys.executable, "-m", "abut.mujoco", str(MODELS["hand"]), "-o", str(tmp_path / "h.scene.json")],
                         capture_output=True, text=True)
    assert run.returncode == 0 and "abut: warning: tendon `pull`: tendons are left out" in run.stderr, run.stderr
    assert json.loads((tmp_path / "h.scene.json").read_text())["links"]
    shutil.copy(MODELS["hand"], tmp_path / "bad.xml")
    (tmp_path / "bad.xml").write_text("<mujoco><worldbody><geom type='blob'/></worldbody></mujoco>")
    run = subprocess.run([sys.executable, "-m", "abut.mujoco", "bad.xml", "-o", "b.scene.json"], cwd=tmp_path, capture_output=True,
                         text=True)
    assert run.returncode == 2 and run.stderr.startswith("abut: bad.xml: MuJoCo "), run.stderr
    assert not (tmp_path / "b.scene.json").exists()
