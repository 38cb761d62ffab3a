"""Does a scene that `abut import` makes move as MuJoCo's model does? Without contacts, from random states.

    python check_import.py ABUT MODEL...

Each model is imported, stepped by `abut simulate` in float64 and by MuJoCo's C engine with contacts and equality constraints
off, and the largest difference of q and v over all steps is printed. Exit status 1 where it is beyond LIMIT. Actuators that the
import has left out get no gain and no bias in MuJoCo. Where joints have a `ref`, both take the exact diagonal of rows: scenes
have the approximate one from q = 0, MuJoCo from where bodies stand at `ref`.
"""
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

import mujoco
import numpy as np

STEPS, WORLDS, SEED, LIMIT = 100, 4, 7, 1e-10
FREE, SLIDE, HINGE = (int(getattr(mujoco.mjtJoint, "mjJNT_" + kind)) for kind in ("FREE", "SLIDE", "HINGE"))
NO_BIAS = int(mujoco.mjtBias.mjBIAS_NONE)


def has_references(model):
    single = [at for kind, at in zip(model.jnt_type, model.jnt_qposadr) if kind in (HINGE, SLIDE)]
    return bool(model.qpos0[single].any())


def import_model(command, model, folder, exact):
    """-> the scene's path, without pairs, and the names or numbers of the actuators that were left out."""
    scene = folder / "model.scene.json"
    run = subprocess.run([command, "import", "-q", model, "-o", scene], check=True, capture_output=True, text=True,
                         env=os.environ | {"ABUT_PYTHON": sys.executable})
    text = json.loads(scene.read_text())
    text |= dict(pairs=[], tolerance=1e-13, iterations=100, line_iterations=100) | (dict(diagonal="exact") if exact else {})
    for link in text["links"]:
        link.pop("bodies", None)
    scene.write_text(json.dumps(text))
    return scene, re.findall(r"actuator `?([^`:]+)`?: left out with its control", run.stderr)


def without_actuators(model, names):
    """Takes away what the scene has not. -> the controls that are left."""
    gone = [i for i in range(model.nu) if (model.actuator(i).name or str(i)) in names]
    for i in gone:
        model.actuator_dyntype[i] = mujoco.mjtDyn.mjDYN_NONE
        model.actuator_gaintype[i] = mujoco.mjtGain.mjGAIN_FIXED
        model.actuator_biastype[i] = NO_BIAS
        model.actuator_gainprm[i] = 0
    return [i for i in range(model.nu) if i not in gone]


def as_scenes(model):
    """Scenes damp implicitly, which the import warns of; both solve rows by Newton's method to the end."""
    model.opt.disableflags &= ~int(mujoco.mjtDisableBit.mjDSBL_EULERDAMP)
    model.opt.solver = mujoco.mjtSolver.mjSOL_NEWTON
    model.opt.tolerance, model.opt.iterations, model.opt.ls_iterations = 0, 100, 100


def random_states(model, random):
    """Some hinges and slides beyond their limits, some balls and free bodies turned anyhow."""
    q, v = np.tile(model.qpos0, (WORLDS, 1)), random.normal(size=(WORLDS, model.nv))
    for kind, at, limits, limited in zip(model.jnt_type, model.jnt_qposadr, model.jnt_range, model.jnt_limited):
        if kind in (HINGE, SLIDE):
            low, high = limits if limited else (-1, 1)
            q[:, at] = random.uniform(low - .05 * (high - low), high + .05 * (high - low), WORLDS)
        else:
            at += 3 * (kind == FREE)
            turn = random.normal(size=(WORLDS, 4))
            q[:, at:at + 4] = turn / np.linalg.norm(turn, axis=1, keepdims=True)
    return q, v


def random_controls(model, random):
    """Motors also beyond their range, which clips their force; servos within, as scenes have no range for them."""
    u = random.normal(size=(WORLDS, model.nu))
    for i in range(model.nu):
        if model.actuator_ctrllimited[i]:
            low, high = model.actuator_ctrlrange[i]
            motor = model.actuator_biastype[i] == NO_BIAS
            u[:, i] = random.uniform(low - motor * .2, high + motor * .2, WORLDS)
    return u


def step_mujoco(model, q, v, u):
    data, out = mujoco.MjData(model), [np.zeros((STEPS + 1, *q.shape)), np.zeros((STEPS + 1, *v.shape))]
    for world in range(WORLDS):
        mujoco.mj_resetData(model, data)
        data.qpos[:], data.qvel[:], data.ctrl[:] = q[world], v[world], u[world]
        for step in range(STEPS + 1):
            out[0][step, world], out[1][step, world] = data.qpos, data.qvel
            mujoco.mj_step(model, data)
    return out


def step_abut(command, scene, q, v, u):
    folder = scene.parent
    np.savez(folder / "states.npz", q=q, v=v)
    np.savez(folder / "controls.npz", u=u)
    subprocess.run([command, "simulate", "-q", scene, "--states", folder / "states.npz", "--controls", folder / "controls.npz",
                    "--steps", str(STEPS), "--record", "1", "--precision", "f64", "-o", folder / "out.npz"], check=True)
    with np.load(folder / "out.npz") as arrays:
        return arrays["q"], arrays["v"]


def check(command, path):
    """The largest difference of q and of v, relative to the largest entry of v where that is above 1."""
    random = np.random.default_rng(SEED)
    model = mujoco.MjModel.from_xml_path(str(path))
    with tempfile.TemporaryDirectory() as folder:
        scene, names = import_model(command, path, pathlib.Path(folder), has_references(model))
        kept = without_actuators(model, names)
        model.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_CONTACT | mujoco.mjtDisableBit.mjDSBL_EQUALITY
        if has_references(model):
            model.opt.enableflags |= mujoco.mjtEnableBit.mjENBL_DIAGEXACT
        as_scenes(model)
        q, v = random_states(model, random)
        u = random_controls(model, random)
        theirs, ours = step_mujoco(model, q, v, u), step_abut(command, scene, q, v, u[:, kept])
    q_off, v_off = (np.abs(a - b).max() for a, b in zip(ours, theirs))
    return q_off, v_off / max(1, np.abs(theirs[1]).max())


def main(command, *models):
    worst = 0
    for model in models:
        q_off, v_off = check(command, model)
        worst = max(worst, q_off, v_off)
        print(f"{model}: q within {q_off:.1e}, v within {v_off:.1e} over {STEPS} steps")
    return int(worst > LIMIT)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
