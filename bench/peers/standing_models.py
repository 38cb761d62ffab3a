"""Lets models of installed packages stand or fall for a second in MuJoCo and in abut, and compares how high their torsos are then.

    python bench/peers/standing_models.py [--only TEXT] [--seconds 1] [--json OUT.json]

Each model begins where MuJoCo's own begins (qpos0, or the keyframe that is named below) without speed and without control, and has contacts with a
ground or with a hand. The torso is the heaviest body that is free against the world, or the object that is named below. MuJoCo's step
runs in float64, abut's in its host's float64. A height is right within 2 cm or 5 % of MuJoCo's, whichever is more.

`other cone` is how far MuJoCo's own height moves when its friction cones are elliptic instead of pyramidal, or the other way: a model that
balances on its feet falls over by what rounding and friction leave, so that this says how well a height is determined at all. `falls` is
MuJoCo's vertical speed of the torso at the end: a model falls fast where it is above 1 m/s. Packages that are not installed are skipped by name.
"""
import argparse
import importlib.metadata
import importlib.util
import json
import pathlib
import subprocess
import sys
import time
import warnings

import mujoco
import numpy as np

FALLS_FAST = 1.0  # m/s
NEAR, SHARE = 0.02, 0.05  # m, and of MuJoCo's height
BRAX, SUITE, GYM = "brax/envs/assets/", "dm_control/suite/", "gymnasium/envs/mujoco/assets/"
ROBOTICS, SAFETY = "gymnasium_robotics/envs/assets/", "safety_gymnasium/assets/xmls/"
# Files, and the body and the keyframe where they are not the torso and qpos0. Copies of one model in several packages are one here.
MODELS = (
    (BRAX + "ant.xml",), (BRAX + "humanoid.xml",), (BRAX + "humanoidstandup.xml",),
    (SUITE + "cheetah.xml",), (SUITE + "dog.xml",), (SUITE + "hopper.xml",), (SUITE + "humanoid.xml",), (SUITE + "humanoid_CMU.xml",),
    (SUITE + "quadruped.xml",), (SUITE + "walker.xml",),
    (GYM + "ant.xml",), (GYM + "half_cheetah.xml",), (GYM + "hopper.xml",), (GYM + "humanoid.xml",), (GYM + "humanoidstandup.xml",),
    (GYM + "walker2d.xml",), (GYM + "walker2d_v5.xml",),
    ("gymnasium_robotics/envs/multiagent_mujoco/assets/coupled_half_cheetah.xml",),
    (ROBOTICS + "hand/manipulate_block.xml", "object"), (ROBOTICS + "hand/manipulate_egg.xml", "object"),
    (ROBOTICS + "hand/manipulate_pen.xml", "object"), (ROBOTICS + "adroit_hand/adroit_pen.xml", "Object"),
    (ROBOTICS + "adroit_hand/adroit_relocate.xml", "Object"), (ROBOTICS + "fetch/pick_and_place.xml", "object0"),
    (ROBOTICS + "kitchen_franka/kitchen_assets/kitchen_env_model.xml", "kettle"),
    ("gym_aloha/assets/bimanual_viperx_transfer_cube.xml", "box", 0),
    (SAFETY + "ant.xml",), (SAFETY + "car.xml",), (SAFETY + "doggo.xml",), (SAFETY + "racecar.xml",),
)


def path_of(name):
    """Where the file is, or None where its package is not installed."""
    package, rest = name.split("/", 1)
    spec = importlib.util.find_spec(package)
    places = [] if spec is None else list(spec.submodule_search_locations or [])
    found = [pathlib.Path(place) / rest for place in places if (pathlib.Path(place) / rest).is_file()]
    return found[0] if found else None


def torso_of(model):
    """The heaviest child of the world that is free, or that several joints move."""
    moved = [b for b in range(1, model.nbody) if model.body_parentid[b] == 0 and model.body_jntnum[b] > 0
             and (model.jnt_type[model.body_jntadr[b]] == mujoco.mjtJoint.mjJNT_FREE or model.body_jntnum[b] > 1)]
    return max(moved, key=lambda b: model.body_subtreemass[b])


def started(model, key):
    data = mujoco.MjData(model)
    if key is not None:
        mujoco.mj_resetDataKeyframe(model, data, key)
    data.ctrl[:], data.qvel[:] = 0.0, 0.0
    mujoco.mj_forward(model, data)
    return data


def by_mujoco(model, key, body, steps):
    """Height at the end, vertical speed there, and how many contacts."""
    data = started(model, key)
    for _ in range(steps):
        mujoco.mj_step(model, data)
    mujoco.mj_forward(model, data)
    speed = np.zeros(6)
    mujoco.mj_objectVelocity(model, data, mujoco.mjtObj.mjOBJ_BODY, body, speed, 0)
    return float(data.xpos[body][2]), float(speed[5]), int(data.ncon)


def by_abut(model, key, body, steps):
    import abut

    data = started(model, key)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        scene = abut.from_mujoco(model, abut.Context("host", precision="f64"))
        step = scene.step(np.array(data.qpos), np.array(data.qvel), np.zeros(scene.nu), steps=steps)
    data.qpos[:] = step.q
    mujoco.mj_kinematics(model, data)
    return float(data.xpos[body][2]), int(step.status)


def compare(name, body=None, key=None, seconds=1.0):
    model = mujoco.MjModel.from_xml_path(str(path_of(name)))
    torso = torso_of(model) if body is None else model.body(body).id
    steps = round(seconds / model.opt.timestep)
    begin = float(started(model, key).xpos[torso][2])
    height, speed, contacts = by_mujoco(model, key, torso, steps)
    began = time.perf_counter()
    own, status = by_abut(model, key, torso, steps)
    took = time.perf_counter() - began
    model.opt.cone = 1 - model.opt.cone
    other = by_mujoco(model, key, torso, steps)[0]
    return {"model": name, "body": model.body(torso).name, "start": begin, "mujoco": height, "abut": own, "off": own - height,
            "other_cone": other - height, "falls": -speed, "contacts": contacts, "status": status, "seconds": took,
            "right": abs(own - height) <= max(NEAR, SHARE * abs(height))}


def commit():
    run = subprocess.run(["git", "rev-parse", "--short", "HEAD"], cwd=pathlib.Path(__file__).parent, capture_output=True, text=True)
    return run.stdout.strip() or "unknown"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="", help="models whose path has this text")
    parser.add_argument("--seconds", type=float, default=1.0)
    parser.add_argument("--json", type=pathlib.Path)
    options = parser.parse_args()
    mujoco.set_mju_user_warning(lambda text: None)
    rows = []
    print("| model | body | start [m] | MuJoCo [m] | abut [m] | off [mm] | other cone [mm] | falls [m/s] | status | |")
    print("|---|---|---|---|---|---|---|---|---|---|", flush=True)
    for entry in MODELS:
        if options.only not in entry[0]:
            continue
        if path_of(entry[0]) is None:
            print(f"skipped: {entry[0]} is not installed", file=sys.stderr)
            continue
        r = compare(*entry, seconds=options.seconds)
        rows.append(r)
        print(f"| {r['model']} | {r['body']} | {r['start']:.3f} | {r['mujoco']:.4f} | {r['abut']:.4f} | {1e3 * r['off']:.1f} | "
              f"{1e3 * r['other_cone']:.1f} | {r['falls']:.2f} | {r['status']} | {'' if r['right'] else 'off'} |", flush=True)
    if not rows:
        print("no model was found", file=sys.stderr)
        return 77
    slow = [r for r in rows if abs(r["falls"]) <= FALLS_FAST]
    versions = ", ".join(f"{name} {importlib.metadata.version(name)}" for name in
                         dict.fromkeys(["mujoco", *(r["model"].split("/")[0] for r in rows)]))
    print(f"\n{sum(r['right'] for r in slow)} of {len(slow)} models that stand or fall slowly are right, and "
          f"{sum(r['right'] for r in rows)} of all {len(rows)}; {time.strftime('%Y-%m-%d')}, {versions}, commit {commit()}")
    if options.json:
        options.json.write_text(json.dumps(rows, indent=1))
    return 0


if __name__ == "__main__":
    sys.exit(main())
