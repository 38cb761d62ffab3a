#!/usr/bin/env python3
"""Hard contacts: what steps and their Jacobians cost on one core, and how often the guess of classes is right.

  PYTHONPATH=build/python python3 bench/peers/lcp_worlds.py [--device NAME] [--rounds N] [--write]

Times are processor time, medians of calls of batches of worlds, each divided by its worlds. The jumpworm's
contacts are given (tests/golden-dynamics); the box is one by a word on a plane, through the manifold, at rest.
Differences are what the same Jacobians cost as central differences, in one batch of steps. Needs NumPy. --write
keeps bench/results/lcp-worlds.json and renews the table of docs/benchmarks/lcp.md. A minute.
"""
import argparse
import json
import os
import pathlib
import statistics
import subprocess
import tempfile
import time

os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
os.environ["POCL_MAX_PTHREAD_COUNT"] = "1"

import numpy as np  # noqa: E402 (after the drivers' settings)

import abut  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parents[2]
GOLDEN = ROOT / "tests" / "golden-dynamics"
RESULT, PAGE = ROOT / "bench" / "results" / "lcp-worlds.json", ROOT / "docs" / "benchmarks" / "lcp.md"
BEGIN, END = "<!-- hard: begin -->", "<!-- hard: end -->"
WORLDS = 1024
DROPPED, FALLING, ENDED = 64, 250, 1000  # worlds and steps of a box that falls, tumbles, and lies
BOX = {"contact_model": "lcp", "timestep": 0.002, "lcp": {"most": 8},
       "links": [{"bodies": [{"plane": [2, 2]}]},
                 {"joint": {"type": "free"}, "position": [0, 0, 0.3], "quaternion": [0.9, 0.3, 0.2, 0.1],
                  "density": 1000, "bodies": [{"box": [0.1, 0.15, 0.05]}]}],
       "pairs": [{"a": 1, "b": 0, "friction": 0.5, "restitution": 0.3}]}


def median(rounds, call, worlds):
    """ms a world."""
    call()
    times = []
    for _ in range(rounds):
        start = time.process_time()
        call()
        times.append(1e3 * (time.process_time() - start) / worlds)
    return statistics.median(times)


def costs(scene, rounds, q, v, u, w, make_contacts):
    """Of a step, of it with A and B, and of the steps that central differences of these take."""
    def tiled(count):
        given = make_contacts(count)
        return [np.tile(x, (count, 1)) for x in (q, v, u)], {
            "w": np.tile(w, (count, 1)), **({"contacts": given} if given else {})}
    rows, options = tiled(WORLDS)
    columns = 2 * (2 * scene.nv + scene.nu)
    many, more = tiled(WORLDS * columns // 8)
    step = median(rounds, lambda: scene.step(*rows, **options), WORLDS)
    jacobians = median(rounds, lambda: scene.transition(*rows, **options), WORLDS)
    differences = median(rounds, lambda: scene.step(*many, **more), WORLDS / 8)
    how = scene.step(*rows, **options).iterations
    return {"step": step, "jacobians": jacobians, "differences": differences, "how": abut.LcpEnd(int(how[0])).name}


def jumpworm(context, rounds, state):
    """w: the acceleration of the step before, from which classes are guessed, as in a rollout."""
    scene = abut.Scene(GOLDEN / "lcp-jumpworm" / "scene.json", context)
    with np.load(GOLDEN / "lcp-jumpworm" / f"state{state}.npz") as file:
        x = {name: file[name] for name in file.files}
    count = len(x["d"])

    def contacts(worlds):
        return abut.GivenContacts(x["owner"], x["other"], np.zeros(count, int), *(
            np.tile(x[name], (worlds,) + (1,) * x[name].ndim) for name in "pdn"), np.ones((worlds, count)))
    warm = scene.step(x["q"], x["v"], x["u"], contacts=abut.GivenContacts(
        x["owner"], x["other"], np.zeros(count, int), x["p"], x["d"], x["n"], np.ones(count))).w
    return costs(scene, rounds, x["q"], x["v"], x["u"], warm, contacts)


def box(context, rounds, folder):
    path = pathlib.Path(folder) / "box.scene.json"
    path.write_text(json.dumps(BOX))
    scene = abut.Scene(path, context)
    q, v, w = np.tile(scene.start(), (DROPPED, 1)), np.random.default_rng(1).normal(0, 0.3, (DROPPED, scene.nv)), None
    right = {"impact": [], "rest": []}
    failed = 0
    for step in range(ENDED):
        got = scene.step(q, v, w=w)
        touching = np.abs(got.v).max(1) < 1e-3
        warm = got.iterations == abut.LcpEnd.WARM
        failed += int((got.iterations == abut.LcpEnd.FAILED).sum())
        if step > 100:
            right["rest"] += warm[touching].tolist()
            right["impact"] += warm[~touching & (np.abs(got.w - [0, 0, -9.81, 0, 0, 0]).max(1) > 1)].tolist()
        q, v, w = got.q, got.v, got.w
    at_rest = costs(scene, rounds, q[0], v[0], np.zeros(0), w[0], lambda worlds: None)
    shares = {name: {"steps": len(x), "right": float(np.mean(x))} for name, x in right.items()}
    return at_rest, shares | {"failed": failed}


def measure(options):
    kept = {"worlds": WORLDS, "cores": 1, "commit": subprocess.run(
        ["git", "rev-parse", "--short", "HEAD"], cwd=ROOT, capture_output=True, text=True).stdout.strip(), "precision": {}}
    for precision in ("f32", "f64"):
        chosen = {"device": options.device} if options.device else {}
        with abut.Context(precision=precision, **chosen) as context, tempfile.TemporaryDirectory() as folder:
            kept["device"] = context.devices[0].device.name
            at_rest, shares = box(context, options.rounds, folder)
            kept["precision"][precision] = {
                "jumpworm, landing": jumpworm(context, options.rounds, 0),
                "jumpworm, at a limit": jumpworm(context, options.rounds, 1),
                "box at rest, 8 contacts": at_rest, "guesses": shares}
    return kept


def table(kept):
    lines = ["| | | step [ms] | with A and B [ms] | by central differences [ms] | over that | classes |", "|---|---|---|---|---|---|---|"]
    for precision, rows in kept["precision"].items():
        for name, r in rows.items():
            if name != "guesses":
                lines.append(f"| {name} | {precision} | {r['step']:.4f} | {r['jacobians']:.4f} | {r['differences']:.3f} | "
                             f"{r['differences'] / r['jacobians']:.1f} x | {r['how']} |")
    lines += ["", "| guesses that are right | steps | |", "|---|---|---|"]
    for precision, rows in kept["precision"].items():
        for name in ("rest", "impact"):
            r = rows["guesses"][name]
            lines.append(f"| {name}, {precision} | {r['steps']} | {100 * r['right']:.1f} % |")
    lines.append(f"\n{kept['device']}, one core, batches of {kept['worlds']}, processor time a world; commit {kept['commit']}. FAILED: "
                 f"{sum(rows['guesses']['failed'] for rows in kept['precision'].values())} steps.")
    return "\n".join(lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--device", help="as of abut.Context; the default one")
    parser.add_argument("--rounds", type=int, default=9)
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
