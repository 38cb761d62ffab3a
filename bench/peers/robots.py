"""Steps of robots' models by abut and by MuJoCo, one core each, in one run: a table of ratios.

    python bench/peers/robots.py [--models FOLDER ...] [--only TEXT] [--json OUT.json] [--seconds 0.5] [--rounds 5]

Models are files of Python packages (gymnasium, dm_control, gymnasium_robotics, robosuite); those that are not installed are
named and skipped. --models names folders in which packages are looked for as well. MuJoCo steps N worlds by mujoco.rollout on one thread. abut steps
them in float32 on the host path and, where there is one, on PoCL, each on one core; the faster of the two is in the table, with its first call, in
which kernels are compiled or read from the cache. All begin where MuJoCo is after half a second with random controls, so that contacts are there.
Both sides take turns, and ratios are of medians. `vjp` is a gradient of one step by q, v and u, whose
end is known, over the step itself.
"""
import argparse
import importlib.util
import json
import os
import pathlib
import statistics
import subprocess
import sys
import time
import warnings

os.environ.setdefault("POCL_MAX_PTHREAD_COUNT", "1")
os.environ.setdefault("POCL_CPU_MAX_CU_COUNT", "1")  # its name since PoCL 5

HEAD, TAIL = 0.5, 0.3  # seconds before the start, of controls of this share of their ranges
MODELS = (
    ("half_cheetah", "gymnasium/envs/mujoco/assets/half_cheetah.xml"), ("hopper", "gymnasium/envs/mujoco/assets/hopper.xml"),
    ("walker2d", "gymnasium/envs/mujoco/assets/walker2d.xml"), ("ant", "gymnasium/envs/mujoco/assets/ant.xml"),
    ("humanoid, gymnasium", "gymnasium/envs/mujoco/assets/humanoid.xml"), ("humanoid, dm_control", "dm_control/suite/humanoid.xml"),
    ("panda", "robosuite/models/assets/robots/panda/robot.xml"), ("ur5e", "robosuite/models/assets/robots/ur5e/robot.xml"),
    ("spot", "robosuite/models/assets/robots/spot/robot.xml"),
    ("shadow hand, block", "gymnasium_robotics/envs/assets/hand/manipulate_block.xml"))
COUNTS = (1, 64)


def find(path, folders):
    """A package's file, or None."""
    package = path.split("/")[0]
    for folder in folders:
        if (folder / path).exists():
            return folder / path
    spec = importlib.util.find_spec(package)
    places = list(spec.submodule_search_locations or []) if spec else []
    found = [pathlib.Path(place).parent / path for place in places]
    return next((one for one in found if one.exists()), None)


def states(model, count):
    """Where worlds are after HEAD seconds, and their controls."""
    random = np.random.default_rng(5)
    q, v, u = (np.zeros((count, width)) for width in (model.nq, model.nv, model.nu))
    for i in range(count):
        data = mujoco.MjData(model)
        low, high = np.where(model.actuator_ctrllimited[:, None], model.actuator_ctrlrange, [-1.0, 1.0]).T if model.nu else ([], [])
        data.ctrl[:] = 0.5 * (np.add(low, high)) + TAIL * random.uniform(-0.5, 0.5, model.nu) * np.subtract(high, low)
        mujoco.mj_step(model, data, max(1, round(HEAD / model.opt.timestep)))
        q[i], v[i], u[i] = data.qpos, data.qvel, data.ctrl
    return q, v, u


class Peer:
    """MuJoCo's C engine on one thread."""

    def __init__(self, model, q, v, u):
        self.model, self.data, self.pool = model, mujoco.MjData(model), mujoco.rollout.Rollout(nthread=1)
        size = mujoco.mj_stateSize(model, mujoco.mjtState.mjSTATE_FULLPHYSICS)
        self.begin, self.u = np.zeros((len(q), size)), u
        for i, row in enumerate(q):
            self.data.qpos[:], self.data.qvel[:] = row, v[i]
            mujoco.mj_getState(model, self.data, self.begin[i], mujoco.mjtState.mjSTATE_FULLPHYSICS)

    def step(self, steps):
        control = np.repeat(self.u[:, None], steps, 1) if self.model.nu else None
        began = time.perf_counter()
        self.pool.rollout(self.model, [self.data], self.begin, control, nstep=steps)
        return (time.perf_counter() - began) / steps


class Own:
    """abut in float32 on one device."""

    def __init__(self, model, device, q, v, u):
        self.context = abut.Context(device, precision="f32")
        self.scene = abut.from_mujoco(model, self.context)
        kept = [c for c in getattr(self.scene, "controls", range(self.scene.nu))][:self.scene.nu]
        self.q, self.v = q.astype(np.float32), v.astype(np.float32)
        self.u = u[:, kept].astype(np.float32) if self.scene.nu else None
        began = time.perf_counter()
        self.step(1)
        self.vjp()
        self.first = time.perf_counter() - began

    def step(self, steps):
        began = time.perf_counter()
        self.status = self.scene.step(self.q, self.v, self.u, steps=steps).status
        return (time.perf_counter() - began) / steps

    def vjp(self):
        made = self.scene.step(self.q, self.v, self.u)  # as torch and JAX have it, when they ask for a gradient
        began = time.perf_counter()
        self.scene.vjp(self.q, self.v, self.u, q_bar=np.ones_like(self.q), v_bar=np.ones_like(self.v), made=made)
        return time.perf_counter() - began


def steps_for(side, seconds):
    """How many steps take about so long, at most what half a second of a scene has."""
    once = min(side.step(2) for _ in range(2))
    return int(min(max(2, seconds / once), 200))


def measure(model, count, devices, seconds, rounds):
    q, v, u = states(model, count)
    peer, own = Peer(model, q, v, u), {device: Own(model, device, q, v, u) for device in devices}
    steps = min(steps_for(side, seconds) for side in (peer, *own.values()))
    times = {name: [] for name in ("MuJoCo", *own)}
    gradients = {name: [] for name in own}
    for _ in range(rounds):
        times["MuJoCo"].append(peer.step(steps))
        for name, side in own.items():
            times[name].append(side.step(steps))
            gradients[name].append(side.vjp() / side.step(1))
    middle = {name: statistics.median(all_) for name, all_ in times.items()}
    best = min(own, key=middle.__getitem__)
    return {"count": count, "steps": steps, "mujoco_us": 1e6 * middle["MuJoCo"] / count, "abut_us": 1e6 * middle[best] / count, "device": best,
            "ratio": middle[best] / middle["MuJoCo"], "vjp": statistics.median(gradients[best]), "first_s": own[best].first,
            "ratios": {name: middle[name] / middle["MuJoCo"] for name in own}, "status": int(np.bitwise_or.reduce(np.ravel(own[best].status)))}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--models", nargs="*", default=[], type=pathlib.Path)
    parser.add_argument("--only", default="")
    parser.add_argument("--json")
    parser.add_argument("--seconds", type=float, default=0.5)
    parser.add_argument("--rounds", type=int, default=5)
    o = parser.parse_args()
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})  # one core for all of it
    devices, rows = ["host"] + (["pocl"] if any("pocl" in d.name.lower() or "pthread" in d.name.lower() for d in abut.devices()) else []), []
    print(f"MuJoCo {mujoco.__version__}, abut {abut.__version__}, float32 on {', '.join(devices)}, one core")
    print("| model | N | MuJoCo [us] | abut [us] | ratio | device | VJP over step | first call [s] | status |\n|---|---|---|---|---|---|---|---|---|")
    for name, path in MODELS:
        if o.only not in name:
            continue
        file = find(path, o.models)
        if not file:
            print(f"{name}: {path} is not installed, skipped", file=sys.stderr)
            continue
        try:
            model = mujoco.MjModel.from_xml_path(str(file))
        except ValueError as error:
            print(f"{name}: MuJoCo does not load {path}: {error}, skipped", file=sys.stderr)
            continue
        for count in COUNTS:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                row = measure(model, count, devices, o.seconds, o.rounds) | {"model": name}
            rows.append(row)
            print(f"| {name} | {count} | {row['mujoco_us']:.1f} | {row['abut_us']:.1f} | {row['ratio']:.2f} | {row['device']} | "
                  f"{row['vjp']:.1f} | {row['first_s']:.1f} | {row['status']} |", flush=True)
    if o.json:
        commit = subprocess.run(["git", "rev-parse", "--short", "HEAD"], cwd=pathlib.Path(__file__).parent, capture_output=True, text=True).stdout.strip()
        drivers = {d.name: d.driver for d in abut.devices()}
        about = {"mujoco": mujoco.__version__, "abut": abut.__version__, "commit": commit, "devices": drivers, "rows": rows}
        pathlib.Path(o.json).write_text(json.dumps(about, indent=1) + "\n")


try:
    import abut
    import mujoco
    import mujoco.rollout
    import numpy as np
except ImportError as error:
    sys.exit(f"robots.py needs the package `{error.name}`")
if __name__ == "__main__":
    main()
