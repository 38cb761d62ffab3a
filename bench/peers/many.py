#!/usr/bin/env python3
"""Worlds of many bodies: steps of abut, of MuJoCo's C engine (all cores, and one) and of MJX, by turns in one run.

  python3 bench/peers/many.py --build build [--environment DIR] [--quick] [--only SCENES] [--batches 1,64,1024]
                              [--seconds S] [--limit S] [--write] [--page]

Scenes are piles of 2, 10, 50 and 200 boxes and one of 10 figures of 18 superquadrics, which are 18 convex hulls each for MuJoCo. Prints a
line for each engine, scene and batch. --environment: a folder with the peers from PyPI, made where it is not there; else those of the Python
that runs this. --seconds is what an engine may measure for a turn; --limit ends an engine that takes longer for one, its
compilation included: that is its result. A case that an engine's rate at the batch before says to take longer is not begun, and called
"not run" with the seconds that were expected. --write keeps bench/results/many.json and renews docs/benchmarks/many.md and its
picture; --page does the latter alone. --quick: the small piles, a tenth of a second a turn, one round. The whole takes about
an hour, most of it compilation by MJX. abut is the Python package of the build (-Dpython=...).
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
    import many_scenes
except ImportError:  # without NumPy, which an environment has
    many_scenes = None

ROOT = run.ROOT
RESULT = ROOT / "bench" / "results" / "many.json"
PAGE = ROOT / "docs" / "benchmarks" / "many.md"
PICTURE = PAGE.with_suffix(".png")
BEGIN, END = "<!-- many: begin -->", "<!-- many: end -->"
CORES = len(os.sched_getaffinity(0))
SCENES = ("boxes-2", "boxes-10", "boxes-50", "boxes-200", "figures-10")
QUICK = ("boxes-2", "boxes-10")
SETTLED = 20  # steps of its own that an engine makes before it is timed
CALLS_BEFORE = 2  # of one step each, before a peer times any
MJX_SCENES = ("boxes-2", "boxes-10")  # more pairs than these take it too long to compile
ENGINES = {"abut": "abut, all cores", "abut-one": "abut, one core", "mujoco": "MuJoCo C, all cores", "mujoco-one": "MuJoCo C, one core",
           "mjx": "MJX"}
OURS = {"mujoco": "abut", "mujoco-one": "abut-one", "mjx": "abut"}
# What of `abut-dev bench --json` a row takes over, where it is told.
COUNTED = ("items", "entries", "contacts", "islands", "panel_numbers", "launches", "bytes_per_world")
NUMBERS = ("steps_per_s", "cpu_us", "contacts", "iterations", "first_call_s", "peak_MB")


def request_of(options, folder, engine, scene, batch):
    """What a peer is asked, but for the time."""
    states = {"states": str(folder / f"{scene}.npz"), "size": batch, "settled": SETTLED}
    if engine.startswith("abut"):
        device = options.device if engine == "abut" else f"{options.device}/1.0"
        return {"engine": "abut", "build": str(options.build), "device": device, "model": str(folder / f"{scene}.scene.json"), **states}
    more = {"threads": 1 if engine == "mujoco-one" else CORES} if engine != "mjx" else {}
    return {"engine": engine.removesuffix("-one"), "model": str(folder / f"{scene}.xml"), **more, **states}


def expected(request, before, seconds):
    """How long a request will take [s] by the answer at a smaller batch: what came first there, calls of a step until it is known how
    many fit into `seconds`, and by MJX all worlds' settling."""
    steps = CALLS_BEFORE + 1 + (SETTLED if request["engine"] == "mjx" else 0)
    return before["first_call_s"] + seconds + steps * request["size"] / before["steps_per_s"]


def refused(text):
    """abut says so of a scene that has more than it takes."""
    return "are the most" in text or "at most" in text or "DOFS" in text.upper()


def result_of(reply, limit):
    """"ok", "refused", or what a peer's failure is."""
    if reply and refused(reply.get("error", "")):
        return "refused"
    return run.result_of(reply, limit)


def counters(options, folder, scene, batch):
    """Means a world that the command counts, where it does; {} where it fails."""
    try:
        done = subprocess.run([str(word) for word in (
            options.build / "src" / "cli" / "abut-dev", "bench", folder / f"{scene}.scene.json", "--states", folder / f"{scene}.npz", "--batch", batch,
            "--what", "step", "--device", options.device, "--json", "--quiet")], capture_output=True, text=True,
            env=os.environ | run.ENVIRONMENT, timeout=options.limit)
    except subprocess.TimeoutExpired:
        return {}
    if done.returncode:
        return {}
    entry, = json.loads(done.stdout)
    return {name: entry[name] for name in COUNTED if name in entry}


def measure(options, folder, python):
    """Scene by scene, batch by batch: rounds in which all engines take turns. An engine that failed at a scene is asked no
    more of it."""
    peers, rows = {name: run.Peer(python, "many") for name in ENGINES}, []
    for scene in options.only:
        ended = {} if scene in MJX_SCENES else {"mjx": "not run: too many pairs to compile"}
        before = {}  # an engine's first answer at the batch before, with what it compiled
        for batch in options.batches:
            replies = {name: [] for name in ENGINES}
            for name in before:
                request = request_of(options, folder, name, scene, batch)
                seconds = expected(request, before[name], options.seconds)
                if name not in ended and seconds > options.limit:
                    ended[name] = f"not run: it would take {seconds:,.0f} s, longer than --limit {options.limit:g}"
            for _ in range(options.rounds):
                for name in ENGINES:
                    if name in ended:
                        continue
                    reply = peers[name].ask(request_of(options, folder, name, scene, batch) | {"seconds": options.seconds}, options.limit)
                    result = result_of(reply, options.limit)
                    if result == "ok":
                        replies[name].append(reply)
                    else:
                        ended[name] = result
            before |= {name: answers[0] for name, answers in replies.items() if answers}
            counted = counters(options, folder, scene, batch) if replies["abut"] else {}
            for name in ENGINES:
                row = {"scene": scene, "batch": batch, "engine": name, "result": ended.get(name, "ok")}
                if replies[name]:
                    row |= {key: float(f"{statistics.median(r[key] for r in replies[name]):.4g}")
                            for key in NUMBERS if key in replies[name][0]}
                    row["precision"] = replies[name][0]["precision"]
                if name in OURS and replies[name] and replies[OURS[name]]:
                    ratios = [a["steps_per_s"] / b["steps_per_s"] for a, b in zip(replies[OURS[name]], replies[name])]
                    row["abut_over"] = float(f"{statistics.median(ratios):.3g}")
                    busy = [b["cpu_us"] / a["cpu_us"] for a, b in zip(replies[OURS[name]], replies[name])]
                    row["abut_over_a_core_each"] = float(f"{statistics.median(busy):.3g}")
                if name == "abut" and counted:
                    row |= {key: float(f"{value:.4g}") for key, value in counted.items()}
                rows.append(row)
                print(f"{scene:11} {batch:5}  {ENGINES[name]:20} " + (
                    f"{row['steps_per_s']:12.4g} steps/s {row['cpu_us']:10.4g} us of core time per step"
                    if "steps_per_s" in row else row["result"]), flush=True)
    for peer in peers.values():
        peer.stop()
    return rows


# ---- the page ----
def digits(x):
    return "" if x is None else f"{x:,.0f}" if x >= 100 else f"{x:.3g}"


def table(rows):
    """A line for each scene, batch and engine; those of an engine that did not run say why."""
    names = ["scene", "worlds", "engine", "steps/s", "core time per step [us]", "abut's steps/s over it", "a core each", "items",
             "entries", "contacts", "iterations", "launches", "kB a world"]
    lines = [names, ["---"] * len(names)]
    for r in rows:
        size = r.get("bytes_per_world")
        lines.append([r["scene"], f"{r['batch']:,}", ENGINES[r["engine"]],
                      digits(r["steps_per_s"]) if "steps_per_s" in r else r["result"],
                      *(digits(r.get(key)) for key in ("cpu_us", "abut_over", "abut_over_a_core_each", "items", "entries", "contacts", "iterations", "launches")),
                      digits(size / 1e3 if size else None)])
    return ["| " + " | ".join(line) + " |" for line in lines]


def renew(page, kept):
    about = kept["about"]
    picture = page.with_suffix(".png")
    drawn = [f"![Time of a core a step over the number of worlds, for each scene and engine]({picture.name})", ""] if picture.exists() else []
    lines = [*drawn, *table(kept["rows"]), "",
             f"{about['processor']}; {about['driver']}; {about['versions']}; commit {about['commit']}, {about['date']}, "
             f"load before {about['load before']}."]
    head, rest = page.read_text().split(BEGIN)
    page.write_text(head + "\n".join([BEGIN, *lines, END]) + rest.split(END)[1])


def draw(kept, path):
    """Microseconds of a core a step over the number of worlds, a panel a scene."""
    try:
        import matplotlib
        matplotlib.use("Agg")
        import matplotlib.pyplot as plt
    except ImportError:
        print("not drawn: no package matplotlib")
        return
    colours = {"abut": "#c1272d", "abut-one": "#e69f00", "mujoco": "#555555", "mujoco-one": "#999999", "mjx": "#0072b2"}
    names = list(dict.fromkeys(r["scene"] for r in kept["rows"]))
    figure, panels = plt.subplots(1, len(names), figsize=(2.6 * len(names) + 1.5, 3.2), dpi=120, sharey=True, squeeze=False)
    for panel, scene in zip(panels[0], names):
        for engine, colour in colours.items():
            points = [(r["batch"], r["cpu_us"]) for r in kept["rows"] if (r["scene"], r["engine"]) == (scene, engine) and "cpu_us" in r]
            if points:
                panel.plot(*zip(*points), marker="o", markersize=3, color=colour, label=ENGINES[engine])
        if any(r["result"] == "refused" for r in kept["rows"] if r["scene"] == scene):
            panel.text(0.5, 0.9, "refused by abut", ha="center", transform=panel.transAxes, fontsize=8)
        panel.set(xscale="log", yscale="log", title=scene, xlabel="worlds")
        panel.grid(alpha=0.3)
    panels[0][0].set_ylabel("core time per step [us]")
    handles = {label: h for panel in panels[0] for h, label in zip(*panel.get_legend_handles_labels())}
    figure.legend(handles.values(), handles.keys(), loc="lower center", ncols=len(handles), frameon=False, fontsize=8)
    figure.tight_layout(rect=(0, 0.08, 1, 1))
    figure.savefig(path)


def read_options(words=None):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build")
    parser.add_argument("--environment", type=pathlib.Path)
    parser.add_argument("--device", default="pocl")
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--only", help="of " + ",".join(SCENES))
    parser.add_argument("--batches", help="1,64,1024")
    parser.add_argument("--rounds", type=int)
    parser.add_argument("--seconds", type=float)
    parser.add_argument("--limit", type=float, help="seconds for one request to a peer")
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--page", action="store_true")
    options = parser.parse_args(words)
    fitting = ((QUICK, "1,64", 1, 0.1, 120.0) if options.quick else (SCENES, "1,64,1024", 3, 2.0, 600.0))
    for name, value in zip(("only", "batches", "rounds", "seconds", "limit"), fitting):
        if getattr(options, name) is None:
            setattr(options, name, value)
    if isinstance(options.only, str):
        options.only = tuple(options.only.split(","))
    options.batches = [int(word) for word in options.batches.split(",")]
    options.build = options.build.resolve()
    if not set(options.only) <= set(SCENES):
        parser.error(f"--only takes any of {','.join(SCENES)}")
    if not options.page and not (options.build / "src" / "cli" / "abut").exists():
        parser.error(f"{options.build} holds no build of abut: meson setup, ninja")
    return options


def main():
    options = read_options()
    if options.page:
        if not RESULT.exists():
            sys.exit(f"there is no {RESULT}: --write makes it")
        kept = json.loads(RESULT.read_text())
    else:
        if options.environment:
            python = str(run.environment(options.environment.absolute()))
            words = [word for i, word in enumerate(sys.argv[1:], 1)
                     if not word.startswith("--environment") and sys.argv[i - 1] != "--environment"]
            os.execv(python, [python, str(pathlib.Path(__file__).resolve()), *words])
        if not many_scenes:
            sys.exit("many.py needs NumPy and MuJoCo: --environment DIR has them")
        with tempfile.TemporaryDirectory(prefix="abut-many-") as name:
            folder = pathlib.Path(name)
            about = run.circumstances(options, sys.executable, {"bodies": [many_scenes.FIGURE]})
            about["starts"] = many_scenes.write(folder, options.only)
            kept = {"about": about, "rows": measure(options, folder, sys.executable)}
        print("\n".join(table(kept["rows"])))
    if options.page or options.write:
        if options.write:
            RESULT.write_text(json.dumps(kept, indent=1) + "\n")
        draw(kept, PICTURE)
        renew(PAGE, kept)


if __name__ == "__main__":
    main()
