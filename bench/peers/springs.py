#!/usr/bin/env python3
"""Springs between clouds: where pushing ends beside MuJoCo's contacts, and what steps cost beside JAX.

  PYTHONPATH=build/python python3 bench/peers/springs.py [--device NAME] [--rounds N] [--reference FOLDER]
                                                         [--only pushing|jax|memory] [--write]

Pushing: five sequences of strokes of a finger at a T of 26 or 4,114 points (tests/golden-dynamics/spring-pushing-five),
in float64, by each integrator and step; distances from MuJoCo's ends, and the time of the first sequence alone.
JAX: the same step of the same states by the reference of these springs (FOLDER holds spring_reference.py; by default
reference/ in the folder that ABUT_SHARED names), jit and vmap, on all cores as the library is; the two take turns, from
arrays of NumPy to arrays of NumPy. Memory: what a context's devices hold for one world, 201 and 4,096.
Needs NumPy, and JAX where it is asked for. --write keeps bench/results/springs.json and renews the tables of
docs/benchmarks/springs.md; with --only the rest stays. Ten minutes.
"""
import argparse
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

import numpy as np

import abut

ROOT = pathlib.Path(__file__).resolve().parents[2]
GOLDEN = ROOT / "tests" / "golden-dynamics"
RESULT, PAGE = ROOT / "bench" / "results" / "springs.json", ROOT / "docs" / "benchmarks" / "springs.md"
BEGIN, END = "<!-- springs: begin -->", "<!-- springs: end -->"
CLOUDS = {"t26": "26 points", "t4k": "4,114 points"}
INTEGRATORS, LENGTHS, HOLD = ("euler", "rk4", "implicit"), (2, 8, 16), 16  # [ms]
BATCHES = {"t26": 256, "t4k": 1}
WORLDS, UNDER_WAY = 4096, 201  # of which memory is asked: more than are stepped at a time; a part of these


def scene_of(name, folder, context, **words):
    """A case's scene with other words of its own, or of its contacts (reaction)."""
    case = GOLDEN / f"spring-{name}-finger"
    scene = json.loads((case / "scene.json").read_text())
    for link in scene["links"]:
        for body in link.get("bodies", []):
            body["file"] = str(case / body["file"])
    for pair in scene["pairs"]:
        pair["contact"]["reaction"] = words.pop("reaction", "point")
    path = pathlib.Path(folder) / f"{name}.scene.json"
    path.write_text(json.dumps(scene | words))
    return abut.Scene(path, context)


def timed(call):
    start = time.perf_counter()
    call()
    return time.perf_counter() - start


# ---- pushing ----
def deviations(q, ends):
    """Distances of the object's ends [cm] and angles between them [degrees]."""
    turn = (q[:, 2] - ends[:, 2] + np.pi) % (2 * np.pi) - np.pi
    return 100 * np.linalg.norm(q[:, :2] - ends[:, :2], axis=1), np.rad2deg(np.abs(turn))


def push(scene, ms, given, rounds):
    hold = HOLD // ms
    controls = np.repeat(given["controls"], hold, axis=1)
    steps = controls.shape[1]
    made = scene.step(given["q0"], np.zeros_like(given["q0"]), controls=controls)
    centimetres, degrees = deviations(made.q, given["mujoco_end"])
    alone = (given["q0"][:1], np.zeros((1, scene.nv)))
    seconds = statistics.median(timed(lambda: scene.step(*alone, controls=controls[:1])) for _ in range(rounds))
    return {"ms a step": 1e3 * seconds / steps, "seconds a simulated second": seconds / (1e-3 * ms * steps),
            "cm": [float(x) for x in centimetres], "degrees": [float(x) for x in degrees],
            "stopped": int(np.count_nonzero(made.status))}


def pushing(options, folder):
    with np.load(GOLDEN / "spring-pushing-five" / "pushing.npz") as file:
        given = {name: file[name] for name in file.files}
    rows = {}
    with context_of(options, "f64") as context:
        for cloud in CLOUDS:
            plane = [("euler", 2, "plane")]
            for integrator, ms, reaction in [(i, ms, "point") for i in INTEGRATORS for ms in LENGTHS] + plane:
                scene = scene_of(cloud, folder, context, integrator=integrator, timestep=1e-3 * ms, reaction=reaction)
                rows[f"{cloud} {integrator} {ms} {reaction}"] = push(scene, ms, given, min(options.rounds, 3))
    own = {name: deviations(given[f"mujoco_end_{name}"], given["mujoco_end"])
           for name in ("RK4_2", "Euler_8", "RK4_8", "Euler_16", "RK4_16")}
    return {"rows": rows, "MuJoCo": {name: {"cm": x.tolist(), "degrees": y.tolist()} for name, (x, y) in own.items()}}


# ---- beside JAX ----
def states_of(cloud):
    with np.load(GOLDEN / f"spring-{cloud}-finger" / "force.npz") as file:
        rows = np.arange(BATCHES[cloud]) % len(file["q"])
        return [file[name][rows] for name in "qvu"]


def reference_step(options, cloud, integrator):
    """A call of JAX on arrays of NumPy -> q', v'; in the precision that JAX has when it is first called."""
    sys.path.insert(0, str(options.reference))
    import jax
    import spring_reference as sr
    case = GOLDEN / f"spring-{cloud}-finger"
    model = sr.Model(json.loads((case / "scene.json").read_text()))
    geometry = {}
    for index, link in enumerate(model.scene["links"]):
        for body in link.get("bodies", []):
            words = json.loads((case / body["file"]).read_text())
            vertices, faces = read_obj(case / words["mesh"])
            geometry[index] = sr.aopc_of_mesh(vertices, faces, eps1=words["aopc"]["eps1"])
    step = jax.jit(jax.vmap(lambda q, v, u: model.step(q, v, u, geometry, integrator=integrator)))
    return lambda *state: [np.asarray(x) for x in step(*state)]


def read_obj(path):
    lines = [line.split() for line in path.read_text().splitlines() if line[:2] in ("v ", "f ")]
    return (np.array([words[1:4] for words in lines if words[0] == "v"], float),
            [[int(word.split("/")[0]) - 1 for word in words[1:]] for words in lines if words[0] == "f"])


def beside_jax(options, folder):
    rows = {}
    for cloud in CLOUDS:
        for integrator in ("euler", "implicit"):
            for precision in ("f64", "f32"):
                rows[f"{cloud} {integrator} {precision}"] = compare(options, folder, cloud, integrator, precision)
    return {"rows": rows, "version": sys.modules["jax"].__version__}


def compare(options, folder, cloud, integrator, precision):
    sys.path.insert(0, str(options.reference))
    import spring_reference  # noqa: F401 (it sets JAX's precision)
    import jax
    state = [x.astype(np.float64 if precision == "f64" else np.float32) for x in states_of(cloud)]
    with context_of(options, precision) as context, jax.enable_x64(precision == "f64"):
        scene = scene_of(cloud, folder, context, integrator=integrator)
        theirs = reference_step(options, cloud, integrator)
        calls = (lambda: scene.step(*state), lambda: theirs(*state))
        ours, wanted = calls[0](), calls[1]()
        launches = context.counters["launches"]
        rounds = [[timed(call) for call in calls] for _ in range(options.rounds)]
        launches = (context.counters["launches"] - launches) // options.rounds
    return {"worlds": BATCHES[cloud], "abut [ms]": 1e3 * statistics.median(a for a, _ in rounds),
            "JAX [ms]": 1e3 * statistics.median(b for _, b in rounds),
            "ratio": statistics.median(b / a for a, b in rounds), "launches": launches,
            "ratios": [min(b / a for a, b in rounds), max(b / a for a, b in rounds)],
            "velocities apart [m/s, rad/s]": float(np.abs(ours.v - wanted[1]).max())}


# ---- memory ----
def memory(options, folder):
    rows = {}
    for precision in ("f32", "f64"):
        for integrator in ("euler", "implicit"):
            held = {count: held_of(options, folder, precision, integrator, count) for count in (1, UNDER_WAY, WORLDS)}
            rows[f"{integrator} {precision}"] = {
                "bytes of one world": held[1][0], "bytes of all": held[WORLDS][0],
                "bytes a world under way": (held[UNDER_WAY][0] - held[1][0]) / (UNDER_WAY - 1),
                "worlds at a time": held[WORLDS][2], "seconds a step": held[WORLDS][1]}
    return {"rows": rows, "worlds": WORLDS}


def held_of(options, folder, precision, integrator, count):
    """Bytes that devices hold after a step of so many worlds, its seconds once warm, worlds a chunk."""
    with context_of(options, precision) as context, np.load(GOLDEN / "spring-t4k-finger" / "force.npz") as file:
        rows = np.arange(count) % len(file["q"])
        scene = scene_of("t4k", folder, context, integrator=integrator)
        call = lambda: scene.step(*(file[name][rows] for name in "qvu"))  # noqa: E731
        first = call()
        before = context.counters["chunks"]
        seconds = timed(call)
        chunks = context.counters["chunks"] - before
        if first.status.any() or not np.isfinite(first.q).all():
            sys.exit("a world has stopped")
        return context.counters["resident"], seconds, -(-count // max(chunks, 1))


# ---- the page ----
def context_of(options, precision):
    chosen = {"device": options.device} if options.device else {}
    return abut.Context(precision=precision, fallback="none", **chosen)


def spread(numbers, digits):
    return f"{np.mean(numbers):.{digits}f} ± {np.std(numbers):.{digits}f}"


def ends_of(r):
    stopped = f" ({r['stopped']} of 5 stopped)" if r["stopped"] else ""
    far = np.mean(r["cm"])
    if not np.isfinite(far) or far > 1e3:
        return f"away{stopped} | away"
    return f"{spread(r['cm'], 2)}{stopped} | {spread(r['degrees'], 1)}"


def pushing_table(kept):
    lines = ["| object | integrator | step [ms] | time a step [ms] | time a simulated second [s] | distance [cm] | angle [deg] |",
             "|---|---|---|---|---|---|---|"]
    for name, r in kept["rows"].items():
        cloud, integrator, ms, reaction = name.split()
        how = integrator + (', "plane"' if reaction == "plane" else "")
        lines.append(f"| {CLOUDS[cloud]} | {how} | {ms} | {r['ms a step']:.3f} | {r['seconds a simulated second']:.3f} | {ends_of(r)} |")
    for name, r in kept["MuJoCo"].items():
        integrator, ms = name.split("_")
        lines.append(f"| MuJoCo itself | {integrator} | {ms} | | | {ends_of(r | {'stopped': 0})} |")
    return "\n".join(lines)


def jax_table(kept):
    lines = ["| one step | worlds | | abut [ms] | JAX [ms] | ratio | from, to | launches |", "|---|---|---|---|---|---|---|---|"]
    for name, r in kept["rows"].items():
        cloud, integrator, precision = name.split()
        lines.append(f"| {CLOUDS[cloud]}, {integrator} | {r['worlds']} | {precision} | {r['abut [ms]']:.3f} | {r['JAX [ms]']:.1f} | "
                     f"{r['ratio']:.0f} x | {r['ratios'][0]:.0f}, {r['ratios'][1]:.0f} | {r['launches']} |")
    return "\n".join(lines)


def memory_table(kept):
    lines = [f"| step of {kept['worlds']:,} worlds of 4,114 points | held with one world [kB] | with all [MB] | "
             "a world under way [kB] | worlds at a time | time [s] |", "|---|---|---|---|---|---|"]
    for name, r in kept["rows"].items():
        lines.append(f"| {name.replace(' ', ', ')} | {r['bytes of one world'] / 1e3:.0f} | {r['bytes of all'] / 1e6:.1f} | "
                     f"{r['bytes a world under way'] / 1e3:.1f} | {r['worlds at a time']:,} | {r['seconds a step']:.2f} |")
    return "\n".join(lines)


PARTS = {"pushing": (pushing, pushing_table), "jax": (beside_jax, jax_table), "memory": (memory, memory_table)}


def tables(kept):
    parts = [make(kept[name]) + f"\n\n{kept[name]['device']}, {kept[name]['cores']} cores, commit {kept[name]['commit']}."
             for name, (_, make) in PARTS.items() if name in kept]
    return "\n\n".join(parts)


def measure(options, name, folder):
    with context_of(options, "f32") as context:
        device = context.devices[0].device.name
    commit = subprocess.run(["git", "rev-parse", "--short", "HEAD"], cwd=ROOT, capture_output=True, text=True).stdout.strip()
    return PARTS[name][0](options, folder) | {"device": device, "cores": len(os.sched_getaffinity(0)), "commit": commit}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--device", help="as of abut.Context; the default one")
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--reference", type=pathlib.Path, default=pathlib.Path(os.environ.get("ABUT_SHARED", ".")) / "reference")
    parser.add_argument("--only", choices=PARTS)
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args()
    kept = json.loads(RESULT.read_text()) if options.only and RESULT.exists() else {}
    with tempfile.TemporaryDirectory() as folder:
        for name in [options.only] if options.only else PARTS:
            kept[name] = measure(options, name, folder)
            print(PARTS[name][1](kept[name]), flush=True)
    if options.write:
        RESULT.write_text(json.dumps(kept, indent=1) + "\n")
        before, _, rest = PAGE.read_text().partition(BEGIN)
        PAGE.write_text(before + BEGIN + "\n" + tables(kept) + "\n" + END + rest.partition(END)[2])


if __name__ == "__main__":
    main()
