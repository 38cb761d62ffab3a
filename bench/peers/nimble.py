#!/usr/bin/env python3
"""Hard contacts beside nimblephysics: one step of a box on a floor, its Jacobians, and what both cost on one core.

  python3.11 -m venv peer && peer/bin/pip install --no-deps nimblephysics==0.10.52.1 "numpy<2" cffi pycparser
  PYTHONPATH=build/python peer/bin/python bench/peers/nimble.py [--device NAME] [--rounds N] [--write]

The build's Python must be of the same version, 3.11. Nimble's box hangs on a translation and a ball joint, whose
velocities are abut's: linear in the world's axes, angular in the box's. (Its free joint, which times are of, counts
both in the box's axes.) abut takes the contacts that Nimble finds. Times are processor time, medians of rounds in
which both take turns: of one world a call with Nimble, which has no batches, and of 1024 with abut. --write keeps
bench/results/nimble.json and renews its table in docs/benchmarks/lcp.md. A minute.
"""
import argparse
import importlib.metadata
import json
import pathlib
import statistics
import subprocess
import tempfile
import time

import hard  # first of all: keeps this process to one core
import numpy as np
import nimblephysics_libs._nimblephysics as peer

import abut

RESULT, PAGE = hard.ROOT / "bench" / "results" / "nimble.json", hard.PAGE
BEGIN, END = "<!-- nimble: begin -->", "<!-- nimble: end -->"
FRICTION, STEP, MASS, HALF, DEPTH, GRAVITY = 0.5, 0.002, 1.3, np.array([0.1, 0.15, 0.05]), 1e-4, 9.81
INERTIA = MASS / 3 * np.diag(np.sum(HALF ** 2) - HALF ** 2)
HEIGHT = HALF[2] - DEPTH
NOTHING = 1e-9  # kg of the link between the two joints
CALLS = 200  # of Nimble in a round
MIXING = (None, 1e-8)  # what Nimble adds to A's diagonal where its first solver fails; None: its default
ASKED = 1e-3
FASTER = 20
SPEEDS = {"at rest": [0, 0, 0, 0, 0, 0], "slides askew": [1, 0.6, 0, 0, 0, 0],
          "slides and turns": [0.5, 0.3, 0, 0, 0, 0.7], "slides along x": [1, 0, 0, 0, 0, 0]}
MOTORS = [{"kind": "motor", "joint": 0, "gear": 1, "dof": i} for i in range(6)]
ALONE = {"contact_model": "lcp", "timestep": STEP, "gravity": [0, 0, -GRAVITY],
         "lcp": {"error_reduction": 0, "margin": 0},  # as Nimble has them
         "links": [{"joint": {"type": "free"}, "mass": MASS, "inertia": INERTIA.tolist()}],
         "actuators": MOTORS, "pairs": [{"friction": FRICTION}]}
FLOOR = {"contact_model": "lcp", "timestep": STEP, "gravity": [0, 0, -GRAVITY], "lcp": {"most": 4},
         "links": [{"bodies": [{"plane": [2, 2]}]},
                   {"joint": {"type": "free"}, "density": MASS / (8 * float(np.prod(HALF))),
                    "bodies": [{"box": HALF.tolist()}]}],
         "actuators": [motor | {"joint": 1} for motor in MOTORS], "pairs": [{"a": 1, "b": 0, "friction": FRICTION}]}
FACES = ((1, 3, 4, 2), (5, 6, 8, 7), (1, 2, 6, 5), (3, 7, 8, 4), (1, 5, 7, 3), (2, 4, 8, 6))


def write_scenes(folder):
    """alone, floor (a box by a word, 98 vertices), and corners (a mesh of a box's 8)."""
    x, y, z = HALF
    points = [(a * x, b * y, c * z) for c in (-1, 1) for b in (-1, 1) for a in (-1, 1)]
    (folder / "corners.obj").write_text("".join(f"v {p[0]} {p[1]} {p[2]}\n" for p in points) +
                                        "".join("f " + " ".join(map(str, face)) + "\n" for face in FACES))
    planes = [[*side, *(HALF * side)] for axis in np.eye(3) for side in (axis, -axis)]
    (folder / "corners.body.json").write_text(json.dumps({"name": "box", "mesh": "corners.obj",
                                                          "polyhedra": [{"planes": planes}]}))
    corners = json.loads(json.dumps(FLOOR))
    corners["links"][1]["bodies"] = [{"file": "corners.body.json"}]
    for name, scene in (("alone", ALONE), ("floor", FLOOR), ("corners", corners)):
        (folder / f"{name}.scene.json").write_text(json.dumps(scene))


def solid(body, half):
    body.createShapeNode(peer.dynamics.BoxShape(2 * half)).createCollisionAspect()
    body.setFrictionCoeff(FRICTION)
    body.setRestitutionCoeff(0)


def nimble_world(free=False):
    world = peer.simulation.World()
    world.setTimeStep(STEP)
    world.setGravity(np.array([0, 0, -GRAVITY]))
    floor, box = peer.dynamics.Skeleton(), peer.dynamics.Skeleton()
    joint, body = floor.createWeldJointAndBodyNodePair()
    solid(body, np.array([5, 5, 0.5]))
    below = peer.math.Isometry3()
    below.set_translation(np.array([0, 0, -0.5]))
    joint.setTransformFromParentBodyNode(below)
    if free:
        body = box.createFreeJointAndBodyNodePair()[1]
    else:
        between = box.createTranslationalJointAndBodyNodePair()[1]
        between.setInertia(peer.dynamics.Inertia(NOTHING, np.zeros(3), NOTHING * 1e-3 * np.eye(3)))
        body = box.createBallJointAndBodyNodePair(between)[1]
    body.setInertia(peer.dynamics.Inertia(MASS, np.zeros(3), INERTIA))
    solid(body, HALF)
    world.addSkeleton(floor)
    world.addSkeleton(box)
    height = np.array([0, 0, HEIGHT, 0, 0, 0])
    world.setPositions(np.roll(height, 3) if free else height)
    return world


def set_speed(world, v):
    world.setVelocities(np.array(v, float))
    world.setControlForces(np.zeros(6))


def of_nimble(world, v):
    """v', dv'/dv, dv'/dtau, and where the contacts are: their points and depths."""
    set_speed(world, v)
    step = peer.neural.forwardPass(world, True)
    contacts = world.getLastCollisionResult().getContacts()
    return (step.getPostStepVelocity(), step.getVelVelJacobian(world), step.getControlForceVelJacobian(world),
            np.array([c.point for c in contacts]), np.array([-c.penetrationDepth for c in contacts]))


def given(p, d, worlds=1):
    count = len(d)
    return abut.GivenContacts([0] * count, [-1] * count, [0] * count, np.tile(p, (worlds, 1, 1)), np.tile(d, (worlds, 1)),
                              np.tile([0.0, 0, 1], (worlds, count, 1)), np.ones((worlds, count)))


def state(v):
    return np.array([[0, 0, HEIGHT, 1, 0, 0, 0]]), np.array([v], float), np.zeros((1, 6))


def differences(scene, world, v):
    """Largest ones, without units: of v' over the largest speed or g dt, of the others over what they are in the air:
    1, and dt over the mass or inertia."""
    v1, a, b, p, d = of_nimble(world, v)
    contacts = given(p, d)
    step, both = scene.step(*state(v), contacts=contacts), scene.transition(*state(v), contacts=contacts)
    inertia = np.concatenate([[MASS] * 3, np.diag(INERTIA)])
    ours_v, ours_a, ours_b = np.asarray(step.v)[0], np.asarray(both.A)[0][6:, 6:], np.asarray(both.B)[0][6:]
    return {"contacts": len(d), "v": float(np.abs(v1 - ours_v).max() / max(np.abs(v).max(), GRAVITY * STEP)),
            "dv": float(np.abs(a - ours_a).max()), "dtau": float(np.abs((b - ours_b) * inertia / STEP).max())}


def all_differences(scene, world, mixing):
    if mixing:
        world.setFallbackConstraintForceMixingConstant(mixing)
    return [(name, {"mixing": world.getFallbackConstraintForceMixingConstant(), **differences(scene, world, v)})
            for name, v in SPEEDS.items()]


def in_turns(rounds, calls):
    """ms a world of each call, by name -> (call, worlds)."""
    times = {name: [] for name in calls}
    for turn in range(rounds + 1):  # the first warms up
        for name, (call, worlds) in calls.items():
            start = time.process_time()
            call()
            if turn:
                times[name].append(1e3 * (time.process_time() - start) / worlds)
    return {name: statistics.median(x) for name, x in times.items()}


def repeated(call):
    def again():
        for _ in range(CALLS):
            call()
    return again


def calls_of_nimble(world):
    set_speed(world, np.zeros(6))
    one = np.ones(12)

    def jacobians():
        step = peer.neural.forwardPass(world, True)
        for name in ("PosPos", "PosVel", "VelPos", "VelVel", "ControlForceVel"):
            getattr(step, f"get{name}Jacobian")(world)
    return {"Nimble, step": (repeated(lambda: peer.neural.forwardPass(world, True)), CALLS),
            "Nimble, step and Jacobians": (repeated(jacobians), CALLS),
            "Nimble, step and VJP": (repeated(lambda: peer.neural.forwardPass(world, True).backpropState(world, one)), CALLS)}


def calls_of_abut(name, scene, make_contacts):
    """Of a box at rest; w is the acceleration before, from which classes are guessed, as in a rollout."""
    def options(worlds):
        contacts = make_contacts(worlds)
        return {"contacts": contacts} if contacts else {}
    w = scene.step(*state(np.zeros(6)), **options(1)).w
    rows = [np.tile(x, (hard.WORLDS, 1)) for x in state(np.zeros(6))]
    more = options(hard.WORLDS) | {"w": np.tile(w, (hard.WORLDS, 1))}
    return {f"{name}, step": (lambda: scene.step(*rows, **more), hard.WORLDS),
            f"{name}, step and Jacobians": (lambda: scene.transition(*rows, **more), hard.WORLDS)}


def measure(options):
    world = nimble_world()
    kept = {"worlds": hard.WORLDS, "cores": 1, "nimblephysics": importlib.metadata.version("nimblephysics"), "commit":
            subprocess.run(["git", "rev-parse", "--short", "HEAD"], cwd=hard.ROOT, capture_output=True,
                           text=True).stdout.strip()}
    chosen = {"device": options.device} if options.device else {}
    found = of_nimble(world, np.zeros(6))[3:]
    calls = calls_of_nimble(nimble_world(free=True))
    with abut.Context(precision="f32", **chosen) as f32, abut.Context(precision="f64", **chosen) as f64, \
            tempfile.TemporaryDirectory() as folder:
        kept["device"] = f64.devices[0].device.name
        write_scenes(pathlib.Path(folder))
        for context, precision in ((f32, "f32"), (f64, "f64")):
            alone, floor, corners = (abut.Scene(pathlib.Path(folder) / f"{name}.scene.json", context)
                                     for name in ("alone", "floor", "corners"))
            calls |= calls_of_abut(f"abut {precision}, these contacts", alone, lambda worlds: given(*found, worlds))
            calls |= calls_of_abut(f"abut {precision}, 8 vertices", corners, lambda worlds: None)
            calls |= calls_of_abut(f"abut {precision}, 98 vertices", floor, lambda worlds: None)
            if precision == "f64":
                kept["differences"] = [{"case": name, **compared} for mixing in MIXING
                                       for name, compared in all_differences(alone, world, mixing)]
        kept["ms"] = in_turns(options.rounds, calls)
    return kept


def table(kept):
    lines = ["| a box on a floor | Nimble's mixing | contacts | v' | dv'/dv | dv'/dtau | asked |", "|---|---|---|---|---|---|---|"]
    for r in kept["differences"]:
        most = max(r["v"], r["dv"], r["dtau"])
        lines.append(f"| {r['case']} | {r['mixing']:g} | {r['contacts']} | {r['v']:.1e} | {r['dv']:.1e} | {r['dtau']:.1e} | "
                     f"{ASKED:g}: {'met' if most <= ASKED else 'not met'} |")
    theirs = kept["ms"]["Nimble, step and Jacobians"]
    lines += ["", "| a box at rest | ms a world | Nimble's over it |", "|---|---|---|"]
    for name, ms in kept["ms"].items():
        over = f"{theirs / ms:.1f} x" if name.startswith("abut") and "Jacobians" in name else ""
        lines.append(f"| {name} | {ms:.4f} | {over} |")
    lines.append(f"\nnimblephysics {kept['nimblephysics']}; {kept['device']}, one core, abut in batches of {kept['worlds']}; commit "
                 f"{kept['commit']}. Asked of Nimble's step with Jacobians over abut's: {FASTER} x.")
    return "\n".join(lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--device", help="as of abut.Context; the default one")
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args()
    kept = measure(options)
    print(table(kept))
    if options.write:
        RESULT.write_text(json.dumps(kept, indent=1) + "\n")
        before, _, rest = PAGE.read_text().partition(BEGIN)
        PAGE.write_text(before + BEGIN + "\n" + table(kept) + "\n" + END + rest.partition(END)[2])


if __name__ == "__main__":
    main()
