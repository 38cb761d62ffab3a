#!/usr/bin/env python3
"""Worlds of two builds of abut by turns in one run: whether what worlds.py measures has become slower.

  python3 bench/peers/versions.py OLD_BUILD NEW_BUILD [--bodies A B] [--rounds N] [--only CALLS] [--device pocl/1.0] [--smoothing JSON]
                                  [--write]

Builds are those of the Python package (-Dpython=...), the command among them. Each call is made once by either build, N times over (25). Prints
milliseconds of a core a call, the least and the median, and the new build's over the old one's: of the least, and the median of those of each
round. It is the process' own time, which other programs on the machine disturb least. The scenes and states are those of worlds.py, made by the
new build. --smoothing: members of a smoothing that the pair has in the new build alone, in a second set of rows, so that both compute the
same where fits have changed. --write renews the table of docs/benchmarks/worlds.md. Needs NumPy.
"""
import argparse
import json
import pathlib
import statistics
import subprocess
import sys
import tempfile

import run
import world_scenes
import worlds

BEGIN, END = "<!-- versions: begin -->", "<!-- versions: end -->"
CALLS = {  # name: scene, worlds, what, steps
    "step": ("pair", 1024, "step", 1), "vjp": ("pair", 1024, "vjp", 1), "transition": ("pair", 1024, "transition", 1),
    "few-step": ("pair", 64, "step", 1), "few-vjp": ("pair", 64, "vjp", 1), "few-transition": ("pair", 64, "transition", 1),
    "single": ("pair", 1, "step", 1), "rollout": ("pair", worlds.ROLLOUT_WORLDS, "step", worlds.ROLLOUT_STEPS),
    "rollout-vjp": ("pair", worlds.ROLLOUT_WORLDS, "vjp", worlds.ROLLOUT_STEPS), "tree": ("tree", worlds.TREES, "step", worlds.TREE_STEPS)}
LONG = 5  # of calls with many steps so many times fewer rounds


def row_of(peers, builds, folder, name, options, fitted_as_old):
    scene, size, what, steps = CALLS[name]
    scenes = [f"{scene}.scene.json", f"{scene}-as-before.scene.json" if fitted_as_old else f"{scene}.scene.json"]
    request = {"states": str(folder / f"{scene}.npz"), "size": size, "device": options.device, "what": what, "steps": steps}
    times = [[], []]
    for turn in range(max(1, options.rounds // (LONG if steps > worlds.TREE_STEPS else 1))):
        for side in (0, 1) if turn % 2 else (1, 0):  # who begins takes turns, too
            reply = peers[side].ask(request | {"build": str(builds[side]), "scene": str(folder / scenes[side])}, options.limit)
            result = run.result_of(reply, options.limit)
            if result != "ok":
                return [name, f"{('old', 'new')[side]} build {result}", "", "", ""]
            times[side].append(1e3 * reply["cpu"])
    before, after = times
    told = f"{scene}, {size:,} worlds, {what}" + (f", {steps} steps" if steps > 1 else "") + (", as fitted before" if fitted_as_old else "")
    return [told, *(f"{min(t):.3g}, {statistics.median(t):.3g}" for t in times), f"{min(after) / min(before):.2f}",
            f"{statistics.median(b / a for a, b in zip(before, after)):.2f}"]


def rows(options, folder):
    builds = [build.resolve() for build in options.builds]
    bodies = [path.resolve() for path in options.bodies]
    command = builds[1] / "src" / "cli" / "abut"
    solids = world_scenes.write_pair(folder, bodies, ())
    world_scenes.write_states(folder, bodies, solids, 1024, command, options.device.split("/")[0])
    world_scenes.write_tree(folder, worlds.TREES)
    if options.smoothing:
        scene = json.loads((folder / "pair.scene.json").read_text())
        scene["pairs"][0]["smoothing"] = json.loads(options.smoothing)
        (folder / "pair-as-before.scene.json").write_text(json.dumps(scene))
    peers = [run.Peer(sys.executable, "versions") for _ in builds]
    try:
        for name in options.only.split(","):
            for fitted_as_old in (False, True) if options.smoothing and CALLS[name][0] == "pair" else (False,):
                yield row_of(peers, builds, folder, name, options, fitted_as_old)
    finally:
        for peer in peers:
            peer.stop()


def commit_of(build):
    return subprocess.run(["git", "-C", str(build.resolve().parent), "rev-parse", "--short", "HEAD"], capture_output=True, text=True).stdout.strip()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("builds", type=pathlib.Path, nargs=2, metavar="BUILD")
    case = worlds.ROOT / "tests" / "golden" / "figure-softsort"
    parser.add_argument("--bodies", type=pathlib.Path, nargs=2, default=[case / f"{side}.body.json" for side in "ab"])
    parser.add_argument("--device", default="pocl/1.0")
    parser.add_argument("--rounds", type=int, default=25)
    parser.add_argument("--limit", type=float, default=300.0, help="seconds for one request")
    parser.add_argument("--smoothing")
    parser.add_argument("--only", default=",".join(CALLS), help="of " + ",".join(CALLS))
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args()
    if not set(options.only.split(",")) <= set(CALLS):
        parser.error(f"--only takes any of {','.join(CALLS)}")
    lines = ["| call | before [ms]: least, median | now | least over least | median of rounds |", "| --- | --- | --- | --- | --- |"]
    print("\n".join(lines))
    with tempfile.TemporaryDirectory(prefix="abut-versions-") as folder:
        for row in rows(options, pathlib.Path(folder)):
            lines.append("| " + " | ".join(row) + " |")
            print(lines[-1], flush=True)
    if options.write:
        about = f"Commits {' and '.join(commit_of(build) for build in options.builds)}; {options.rounds} rounds, device {options.device}."
        head, rest = worlds.PAGE.read_text().split(BEGIN)
        worlds.PAGE.write_text(head + "\n".join([BEGIN, *lines, "", about, END]) + rest.split(END)[1])


if __name__ == "__main__":
    main()
