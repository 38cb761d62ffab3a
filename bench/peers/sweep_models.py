"""Takes every model file of installed packages into a scene, and says what became of it: a table by packages, and each refusal.

    python bench/peers/sweep_models.py [FOLDER ...] [--json OUT.json] [--seconds 120] [--only TEXT] [--jobs 2]

Files are *.xml, *.mjcf and *.urdf of the packages below, as far as they are installed, or of the folders that are named. A file that
MuJoCo itself does not load (a part that others include, meshes that are not there) is counted and left aside. Each of the others is
loaded by abut.from_mujoco twice, so that fields come from the cache the second time, and makes ten steps: it is taken, or refused with
a reason. A reason that names no element of the model is a fault, and so is a process that ends by itself; either makes the exit status 1.
"""
import argparse
import collections
import concurrent.futures
import importlib.util
import json
import os
import pathlib
import re
import subprocess
import sys
import time
import warnings

PACKAGES = ("brax", "dm_control", "gym_aloha", "gym_xarm", "gymnasium", "gymnasium_robotics", "loco_mujoco", "metaworld", "mujoco",
            "mujoco_playground", "myosuite", "panda_gym", "robosuite", "safety_gymnasium", "airo_models")
DATA = ("cmeel.prefix/share/example-robot-data",)  # beside packages
NAMED = re.compile(r"\b(geom|body|mesh|joint|actuator|model|link)s?\b")


def one(path):
    """What became of one file, as a dictionary; in a process of its own."""
    import abut
    import mujoco
    import numpy as np
    import resource

    said, found = [], {}
    try:
        model = mujoco.MjModel.from_xml_path(path)
    except Exception as error:
        return {"state": "not MuJoCo's", "why": " ".join(str(error).split())[:200]}
    found = {"geoms": int(model.ngeom), "bodies": int(model.nbody), "actuators": int(model.nu)}
    context = abut.Context("host", precision="f64")
    try:
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            for key in ("first", "again"):
                began = time.perf_counter()
                scene = abut.from_mujoco(model, context)
                found[key] = time.perf_counter() - began
                if key == "first":
                    said = [str(w.message) for w in told]
                    scene.close()
        if not np.allclose(scene.start(), model.qpos0, rtol=0.0, atol=1e-12):   # quaternions get length 1 once more
            raise AssertionError("the model's start is not qpos0")
        began = time.perf_counter()
        step = scene.step(scene.start(), np.zeros(scene.nv), steps=10)
        found |= {"steps": time.perf_counter() - began, "status": int(step.status), "pairs": len(scene.candidates), "nu": scene.nu}
        found |= {"state": "taken", "why": ""}
    except (ValueError, abut.Error) as error:
        found |= {"state": "refused", "why": str(error)}
    found |= {"warnings": said, "MB": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024}
    return found


def in_process(path, seconds):
    try:
        run = subprocess.run([sys.executable, __file__, "--one", path], capture_output=True, text=True, timeout=seconds, errors="replace")
    except subprocess.TimeoutExpired:
        return {"state": "too long", "why": f"more than {seconds:g} s"}
    lines = run.stdout.splitlines()
    if run.returncode or not lines:
        return {"state": "broken", "why": f"status {run.returncode}: {(run.stderr.splitlines() or [''])[-1][:200]}"}
    return json.loads(lines[-1])


def folders():
    for name in PACKAGES:
        spec = importlib.util.find_spec(name)
        places = [] if spec is None else list(spec.submodule_search_locations or [])
        if places:
            yield name, pathlib.Path(places[0])
        else:
            print(f"skipped: {name} is not installed", file=sys.stderr)
    for place in DATA:
        there = [pathlib.Path(path) / place for path in sys.path if (pathlib.Path(path) / place).is_dir()]
        if there:
            yield there[0].name, there[0]
        else:
            print(f"skipped: {pathlib.Path(place).name} is not installed", file=sys.stderr)


def files_of(folder):
    return sorted({path for ending in ("xml", "mjcf", "urdf") for path in folder.rglob(f"*.{ending}")})


def table(results):
    by = collections.defaultdict(list)
    for r in results:
        by[r["package"]].append(r)
    print(f"{'package':22} files MuJoCo loads  taken refused too long broken   first s (worst)  again s (worst)   MB")
    for package, rows in [*by.items(), ("all", results)]:
        states = collections.Counter(r["state"] for r in rows)
        taken = [r for r in rows if r["state"] == "taken"]
        worst = [max((r[key] for r in taken), default=0.0) for key in ("first", "again", "MB")]
        print(f"{package:22} {len(rows):5} {len(rows) - states['not MuJoCo' + chr(39) + 's']:12} {states['taken']:6} {states['refused']:7} "
              f"{states['too long']:8} {states['broken']:6} {worst[0]:17.2f} {worst[1]:16.2f} {worst[2]:5.0f}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", nargs="*", type=pathlib.Path)
    parser.add_argument("--json", type=pathlib.Path)
    parser.add_argument("--seconds", type=float, default=120.0)
    parser.add_argument("--only", default="", help="of files whose path has this text")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--one", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one:
        print(json.dumps(one(options.one)))
        return 0
    all_files = [(name, path) for name, folder in ([(f.name, f) for f in options.folder] or folders())
                 for path in files_of(folder) if options.only in str(path)]
    if not all_files:
        print("no model files were found", file=sys.stderr)
        return 77
    results = []
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        for (package, path), found in zip(all_files, pool.map(lambda file: in_process(str(file[1]), options.seconds), all_files)):
            results.append({"package": package, "file": str(path)} | found)
            if found["state"] != "not MuJoCo's":
                print(f"{found['state']:9} {package}: {path.name}: {found.get('first', 0.0):.2f} s, {len(found.get('warnings', []))} warnings "
                      f"{found['why'][:240]}", flush=True)
    table(results)
    if options.json:
        options.json.write_text(json.dumps(results, indent=1))
    faults = [r for r in results if r["state"] == "broken" or (r["state"] == "refused" and not NAMED.search(r["why"]))]
    for r in faults:
        print(f"fault: {r['file']}: {r['why']}")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
