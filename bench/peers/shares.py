#!/usr/bin/env python3
"""Shares of a step of worlds of many bodies: the broad phase, the order of elimination and the Hessian's factor.

  python3 bench/peers/shares.py --build build [--environment DIR] [--only SCENES] [--batch N] [--device pocl/1.0] [--write]

Needs `ninja -C BUILD bench/liblaunch_times.so`, which tells how long each kernel runs while `abut-dev bench` makes calls of twenty steps from the starts of many.py.
A share is that of all kernels of a step. The factor is made within the solver's kernel: it is told by world_factor, the kernel
that makes a Hessian once, with what contacts add to it, and factors it, times the iterations; so it is at most that. --write renews the table in
docs/benchmarks/many.md.
"""
import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile

import many
import run

BEGIN, END = "<!-- shares: begin -->", "<!-- shares: end -->"
BROAD = ("world_boxes", "world_candidates", "world_candidates_again", "world_pair_counts", "world_pair_counts_of_all", "world_pair_sums",
         "world_pair_totals", "world_kept_pairs")  # cl/kernels/world/broad.cl
ORDER = ("world_order", "world_order_sums", "world_order_totals")


def launches(options, folder, scene, what, steps):
    """{kernel: {"launches", "seconds"}} of a run of `abut-dev bench`, and the mean iterations of a world in the last of `steps`."""
    times = folder / "times.json"
    done = subprocess.run([str(word) for word in (
        options.build / "src" / "cli" / "abut-dev", "bench", folder / f"{scene}.scene.json", "--states", folder / f"{scene}.npz", "--batch", options.batch,
        "--what", what, "--steps", steps, "--device", options.device, "--json", "--quiet")], capture_output=True, text=True, check=True,
        env=os.environ | run.ENVIRONMENT | {"LD_PRELOAD": str(options.library), "LAUNCH_TIMES": str(times)})
    return json.loads(times.read_text()), json.loads(done.stdout)[0].get("iterations")


def share_of(times, names):
    return sum(times[name]["seconds"] for name in names if name in times) / sum(t["seconds"] for t in times.values())


def row_of(options, folder, scene):
    step, iterations = launches(options, folder, scene, "step", many.SETTLED)
    back, _ = launches(options, folder, scene, "step-vjp", 1)
    once = [back[name]["seconds"] / back[name]["launches"] for name in ("world_factor", "world_solve")]
    solver = share_of(step, ["world_solve"])
    factor = solver * min(1.0, iterations * once[0] / once[1])
    numbers = [share_of(step, BROAD), share_of(step, ORDER), factor, solver]
    return [scene, f"{options.batch}", *(f"{100 * x:.2g} %" for x in numbers), f"{iterations:.3g}"]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path, default=many.ROOT / "build")
    parser.add_argument("--environment", type=pathlib.Path)
    parser.add_argument("--only", default="boxes-10,boxes-50,boxes-200")
    parser.add_argument("--batch", type=int, default=16)
    parser.add_argument("--device", default="pocl/1.0")
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args()
    options.build = options.build.resolve()
    options.library = options.build / "bench" / "liblaunch_times.so"
    names = options.only.split(",")
    if not set(names) <= set(many.SCENES):
        parser.error(f"--only takes any of {','.join(many.SCENES)}")
    if not options.library.exists():
        parser.error(f"{options.library} is not there: ninja -C {options.build} bench/liblaunch_times.so")
    if options.environment:
        python = str(run.environment(options.environment.absolute()))
        words = [word for i, word in enumerate(sys.argv[1:], 1)
                 if not word.startswith("--environment") and sys.argv[i - 1] != "--environment"]
        os.execv(python, [python, str(pathlib.Path(__file__).resolve()), *words])
    if not many.many_scenes:
        sys.exit("shares.py needs NumPy and MuJoCo: --environment DIR has them")
    lines = ["| scene | worlds | broad phase | order | factor, at most | solver, factor included | iterations |", "| --- " * 7 + "|"]
    print("\n".join(lines))
    with tempfile.TemporaryDirectory(prefix="abut-shares-") as folder:
        many.many_scenes.write(pathlib.Path(folder), names)
        for name in names:
            lines.append("| " + " | ".join(row_of(options, pathlib.Path(folder), name)) + " |")
            print(lines[-1], flush=True)
    if options.write:
        head, rest = many.PAGE.read_text().split(BEGIN)
        many.PAGE.write_text(head + "\n".join([BEGIN, *lines, END]) + rest.split(END)[1])


if __name__ == "__main__":
    main()
