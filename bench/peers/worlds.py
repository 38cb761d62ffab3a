#!/usr/bin/env python3
"""Worlds: what steps and their derivatives cost, beside the contacts alone, MuJoCo's C engine and MJX.

  python3 bench/peers/worlds.py --build build [--environment DIR] [--bodies A B] [--only ROWS] [--write] [--page]

Prints a table of ratios, each the median over rounds in which all that is compared takes turns; calls of abut
alone take turns within `abut-dev bench`. --environment: a folder with the peers from PyPI, made where it is not
there; else those of the Python that runs this, which needs NumPy. --write keeps bench/results/worlds.json and
renews the table of docs/benchmarks/worlds.md; --page does the latter alone. A peer that is absent, fails or
passes --limit is its row's result. Three to six minutes; --batch and --rounds make it shorter.
"""
import argparse
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile

import run

try:
    import world_scenes
except ImportError:  # without NumPy, which an environment has
    world_scenes = None

ROOT = run.ROOT
RESULT = ROOT / "bench" / "results" / "worlds.json"
PAGE = ROOT / "docs" / "benchmarks" / "worlds.md"
BEGIN, END = "<!-- worlds: begin -->", "<!-- worlds: end -->"
CORES = len(os.sched_getaffinity(0))
HULLS, HULLS_OF_MJX, MJX_WORLDS = 18, 5, 64
ROLLOUT_WORLDS, ROLLOUT_STEPS = 128, 100
TREES, TREE_STEPS = 4096, 10
DIFFERENCED = 128  # worlds that mjd_transitionFD is timed with


class Absent(Exception):
    """A row that cannot be measured, and why."""


class Bench:
    def __init__(self, options, folder):
        self.options, self.folder = options, folder
        self.command = options.build / "src" / "cli" / "abut"
        self.peers = {name: run.Peer(sys.executable, "worlds") for name in ("step", "transition", "tree", "mjx")}
        self.first = {}

    def abut(self, scene, batch, whats=("step",), steps=1, device=None):
        """Entries of `abut-dev bench`, by what."""
        done = subprocess.run([str(word) for word in (
            f"{self.command}-dev", "bench", self.folder / f"{scene}.scene.json", "--states", self.folder / f"{scene}.npz", "--batch",
            batch, "--what", ",".join(whats), "--steps", steps, "--device", device or self.options.device, "--json",
            "--quiet")], capture_output=True, text=True, env=os.environ | run.ENVIRONMENT)
        if done.returncode:
            raise Absent(f"failed: {done.stderr.strip().splitlines()[-1] if done.stderr.strip() else done.returncode}")
        return {entry["what"]: entry for entry in json.loads(done.stdout)}

    def peer(self, name, what, model, states, size, **more):
        """Its answer of one call, or Absent."""
        request = {"what": what, "model": str(self.folder / f"{model}.xml"), "size": size,
                   "states": str(self.folder / f"{states}.npz"), **more}
        reply = self.peers[name].ask(request, self.options.limit)
        result = run.result_of(reply, self.options.limit)
        if result != "ok":
            raise Absent(result)
        self.first[name] = reply["first_call_s"]
        return reply

    def stop(self):
        for peer in self.peers.values():
            peer.stop()


def spread(numbers):
    return {"median": float(f"{statistics.median(numbers):.4g}"), "least_seen": float(f"{min(numbers):.4g}"),
            "most": float(f"{max(numbers):.4g}"), "rounds": len(numbers)}


def in_turns(rounds, **calls):
    """Rounds of all calls -> each one's answers; one that is Absent is asked no more and has none."""
    answers, absent = {name: [] for name in calls}, {}
    for _ in range(rounds):
        for name, call in calls.items():
            if name not in absent:
                try:
                    answers[name].append(call())
                except Absent as reason:
                    absent[name], answers[name] = str(reason), []
    return answers, absent


def row(name, least, aim, above, below=None, **more):
    """`above` over `below`, round by round. Of times smaller is better: `least` is the most then."""
    numbers = [a / b for a, b in zip(above, below)] if below is not None else above
    return {"row": name, "least": least, "aim": aim, **(spread(numbers) if numbers else {}), **more}


def rate(reply, size, steps=1):
    return size * steps / reply["seconds"]


# ---- the rows ----
WHATS = ("step", "step-vjp", "transition", "contacts", "list")


def pair_rows(b):
    """All that the pair's step is compared with but MJX, in the same rounds."""
    n, few = b.options.batch, min(DIFFERENCED, b.options.batch)
    model = f"pair-{HULLS}"
    answers, absent = in_turns(
        b.options.rounds, abut=lambda: b.abut("pair", n, WHATS),
        mujoco=lambda: b.peer("step", "step", model, model, n, threads=CORES, steps=1),
        differences=lambda: b.peer("transition", "transition", model, model, few, threads=CORES))
    ours = answers["abut"]
    if not ours:
        raise Absent(absent["abut"])
    listed = [r["list"]["seconds_on_device"] for r in ours]
    steps = [r["step"]["seconds_median"] for r in ours]
    rates = [r["step"]["steps_per_s"] for r in ours]
    seconds = {w: [r[w]["seconds_median"] for r in ours] for w in WHATS}
    about = {"worlds": n, "ms": {w: spread([1e3 * s for s in seconds[w]])["median"] for w in WHATS} |
             {"list, only kernels": spread([1e3 * s for s in listed])["median"]},
             "active contacts a world": round(ours[0]["list"]["entries_per_world"], 1),
             "iterations": round(ours[0]["step"]["iterations"], 2)}
    yield row("step over the active contacts of the same poses, kernels' time", 1.5, 1.2, steps, listed, **about)
    yield row("the same over the list's whole call", None, None, steps, seconds["list"])
    yield row("the same over only the sum of activities (no normals, nothing listed)", None, None, steps,
              seconds["contacts"])
    theirs = [rate(r, n) for r in answers["mujoco"]]
    yield row(f"steps/s over MuJoCo C, {HULLS} hulls a body, {CORES} threads", 0.5, 1.0, rates[:len(theirs)], theirs,
              **result(absent.get("mujoco"), abut=rates, mujoco=theirs, **{"its contacts a world": [r["contacts"] for r in answers["mujoco"]]}))
    yield row("VJP of a step over the step", 3.0, 2.0, [r["step-vjp"]["ratio_to_step"] for r in ours])
    yield row("A and B together (24 columns) over the step", 8.0, 5.0, [r["transition"]["ratio_to_step"] for r in ours])
    both = [n / s for s in seconds["transition"]]
    theirs = [rate(r, few) for r in answers["differences"]]
    yield row(f"states/s with A and B over mjd_transitionFD, {CORES} threads", 3.0, 10.0, both[:len(theirs)], theirs,
              **result(absent.get("differences"), abut=both, mujoco=theirs))


def result(reason, **numbers):
    """Medians of what a ratio is made of, or why there is none."""
    return ({"result": reason} if reason else {}) | {k: spread(v)["median"] for k, v in numbers.items() if v}


def mjx_rows(b):
    n, few = b.options.batch, min(MJX_WORLDS, b.options.batch)
    answers, absent = in_turns(
        max(1, b.options.rounds // 2), abut=lambda: b.abut("pair", n)["step"]["steps_per_s"],
        mjx=lambda: rate(b.peer("mjx", "mjx", f"pair-{HULLS_OF_MJX}", f"pair-{HULLS_OF_MJX}", few), few))
    yield row(f"steps/s over MJX, {HULLS_OF_MJX} x {HULLS_OF_MJX} hulls, {few} worlds", 100.0, 300.0,
              answers["abut"][:len(answers["mjx"])], answers["mjx"],
              **result(absent.get("mjx"), abut=answers["abut"], mjx=answers["mjx"], first_call_s=[b.first.get("mjx", 0)]))


def rollout_rows(b):
    n = min(ROLLOUT_WORLDS, b.options.batch)
    answers = b.abut("pair", n, ("step", "step-vjp"), steps=ROLLOUT_STEPS)
    yield row(f"gradient of a rollout of {ROLLOUT_STEPS} steps over the rollout", 5.0, 3.5, [answers["step-vjp"]["ratio_to_step"]],
              worlds=n, ms={w: float(f"{1e3 * r['seconds_median']:.4g}") for w, r in answers.items()})


def single_rows(b):
    times = [1e3 * b.abut("pair", 1)["step"]["seconds_median"] for _ in range(b.options.rounds)]
    yield row("single world, a step end to end after the first [ms]", 1.0, 0.3, times)


def tree_rows(b):
    n = TREES if b.options.batch >= 1024 else b.options.batch
    core = b.options.core
    answers, absent = in_turns(
        b.options.rounds, abut=lambda: b.abut("tree", n, steps=TREE_STEPS, device=core)["step"]["steps_per_s"],
        mujoco=lambda: rate(b.peer("tree", "step", "tree", "tree", n, threads=1, steps=TREE_STEPS), n, TREE_STEPS))
    if "abut" in absent:
        raise Absent(absent["abut"])
    try:
        apart = {"largest difference after 10 steps, float64": float(f"{world_scenes.steps_apart(b.folder, b.command, core):.2g}")}
    except ImportError:
        apart = {}
    yield row(f"tree of {world_scenes.LINKS} links, batch {n:,}, steps/s over MuJoCo C, one core each", 0.5, 1.0,
              answers["abut"][:len(answers["mujoco"])], answers["mujoco"], **apart,
              **result(absent.get("mujoco"), abut=answers["abut"], mujoco=answers["mujoco"]))


def parts_rows(b):
    if CORES < 2:
        raise Absent("not run: one core")
    n, device = b.options.batch, b.options.core.rsplit(".", 1)[0]
    answers, absent = in_turns(b.options.rounds,
                               one=lambda: b.abut("pair", n, device=b.options.core)["step"]["steps_per_s"],
                               two=lambda: b.abut("pair", n, device=device)["step"]["steps_per_s"])
    for reason in absent.values():
        raise Absent(reason)
    yield row(f"all sub-devices of one core ({CORES}) over one", 1.8, 1.95, answers["two"], answers["one"],
              **result(None, one=answers["one"], two=answers["two"]))


ROWS = {"pair": pair_rows, "mjx": mjx_rows, "rollout": rollout_rows, "single": single_rows, "tree": tree_rows,
        "parts": parts_rows}


# ---- the table ----
def digits(x):
    return "" if x is None else f"{x:,.0f}" if x >= 100 else f"{x:.3g}"


def table(rows):
    lines = [["", "at least", "aim", "measured", "from - to", ""], ["---"] * 6]
    for r in rows:
        extremes = f"{digits(r['least_seen'])} - {digits(r['most'])}" if r.get("rounds", 0) > 1 else ""
        lines.append([r["row"], digits(r["least"]), digits(r["aim"]), digits(r.get("median")), extremes, r.get("result", "")])
    return ["| " + " | ".join(line) + " |" for line in lines]


def renew(page, kept):
    lines = table(kept["rows"])
    pair = kept["rows"][0] if "ms" in kept["rows"][0] else {}
    if pair:
        times = ", ".join(f"{name} {digits(ms)}" for name, ms in pair["ms"].items())
        lines += ["", f"The pair, {pair['worlds']:,} worlds, ms per call: {times}; {digits(pair['active contacts a world'])} "
                  f"active contacts per world, {pair['iterations']} iterations of Newton's method."]
    about = kept["about"]
    lines += ["", f"{about['processor']}; {about['driver']}; {about['versions']}; commit {about['commit']}, {about['date']}, "
              f"load before {about['load before']}."]
    head, rest = page.read_text().split(BEGIN)
    page.write_text(head + "\n".join([BEGIN, *lines, END]) + rest.split(END)[1])


def measure(b, names):
    rows = []
    for name in names:
        try:
            found = list(ROWS[name](b))
        except Absent as reason:
            found = [{"row": name, "least": None, "aim": None, "result": str(reason)}]
        for r in found:
            print(f"{r['row']:76} {digits(r.get('median')):>8}  (at least {digits(r['least']) or '-'}, aim "
                  f"{digits(r['aim']) or '-'}) {r.get('result', '')}", flush=True)
        rows += found
    return rows


def read_options():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    case = ROOT / "tests" / "golden" / "figure-softsort"
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build")
    parser.add_argument("--environment", type=pathlib.Path)
    parser.add_argument("--bodies", type=pathlib.Path, nargs=2, default=[case / f"{side}.body.json" for side in "ab"],
                        help="bodies of 18 superquadrics or more that are added")
    parser.add_argument("--device", default="pocl")
    parser.add_argument("--core", default="pocl/1.0", help="a sub-device of one core")
    parser.add_argument("--batch", type=int, default=1024)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--limit", type=float, default=300.0, help="seconds for one request to a peer")
    parser.add_argument("--only", default=",".join(ROWS), help="of " + ",".join(ROWS))
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--page", action="store_true")
    options = parser.parse_args()
    if not set(options.only.split(",")) <= set(ROWS):
        parser.error(f"--only takes any of {','.join(ROWS)}")
    options.build, options.bodies = options.build.resolve(), [path.resolve() for path in options.bodies]
    if not options.page and not (options.build / "src" / "cli" / "abut").exists():
        parser.error(f"{options.build} holds no build of abut: meson setup, ninja")
    return options


def measure_all(options):
    with tempfile.TemporaryDirectory(prefix="abut-worlds-") as name:
        b = Bench(options, pathlib.Path(name))
        about = run.circumstances(options, sys.executable, {"bodies": options.bodies})
        solids = world_scenes.write_pair(b.folder, options.bodies, (HULLS, HULLS_OF_MJX))
        about |= world_scenes.write_states(b.folder, options.bodies, solids, 1024, b.command, options.device)
        world_scenes.write_tree(b.folder, TREES)
        try:
            return {"about": about, "rows": measure(b, options.only.split(","))}
        finally:
            b.stop()


def main():
    options = read_options()
    if options.page:
        renew(PAGE, json.loads(RESULT.read_text()))
        return
    if options.environment:
        python = str(run.environment(options.environment.absolute()))
        words = [word for i, word in enumerate(sys.argv[1:], 1)
                 if not word.startswith("--environment") and sys.argv[i - 1] != "--environment"]
        os.execv(python, [python, str(pathlib.Path(__file__).resolve()), *words])
    if not world_scenes:
        sys.exit("worlds.py needs NumPy: --environment DIR has it")
    kept = measure_all(options)
    print("\n".join(table(kept["rows"])))
    if options.write:
        RESULT.write_text(json.dumps(kept, indent=1) + "\n")
        renew(PAGE, kept)


if __name__ == "__main__":
    main()
