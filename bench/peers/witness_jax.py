#!/usr/bin/env python3
"""Witness points of abut and of JAX on one core, by turns, on the same queries.

  python3 bench/peers/witness_jax.py --build build [--core 0] [--device pocl] [--sizes 10000,100000,1000000]
                                     [--rounds 7] [--out bench/results]

Needs jax and numpy. Both sides compute float32 from host arrays to host arrays, each pinned to the same core
with one thread, warm and compiled. abut writes into arrays that exist; XLA makes its own. The queries are those of
bench/witness, whose answers are compared with those of manifold_reference.py, jit and vmap. A round times each
side for a while. Times are seconds a query, medians of the rounds' medians; ratios, medians of the rounds'. Beside
the time on the wall stands the processor time of all threads: the same on an idle machine, and of more use on a
busy one. "copy" is memcpy of as many bytes as an edge pair reads and writes: what memory allows.
"""
import argparse
import csv
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
COLUMNS = ["what", "queries", "precision", "abut", "jax", "copy", "ratio", "ratio_least", "ratio_most",
           "abut_processor", "jax_processor", "ratio_processor", "most_apart"]
SECONDS = 0.3
SHAPES = {"edges1": (2, 3), "edges2": (2, 3), "points1": (3,), "points2": (3,), "interior": (),
          "points": (3,), "triangles": (3, 3), "projected": (3,)}
IN_OUT = {"edges": (["edges1", "edges2"], ["points1", "points2", "interior"]),
          "faces": (["points", "triangles"], ["projected"])}


def pin(core):
    """Of this process and those that it starts; before JAX is loaded."""
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {core})
    os.environ["POCL_MAX_PTHREAD_COUNT"] = "1"
    os.environ["OMP_NUM_THREADS"] = "1"
    flags = os.environ.get("XLA_FLAGS", "")
    os.environ["XLA_FLAGS"] = f"{flags} --xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1"


def abut_seconds(options, what, size, folder=None):
    command = [options.build / "bench" / "witness", "-d", options.device, "-w", f"{what},copy", "-n", str(size),
               "-t", str(SECONDS), *(["-s", folder] if folder else [])]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    options.device_name = done.stderr.strip()
    rows = {r["what"]: r for r in csv.DictReader(done.stdout.splitlines())}
    return [float(x) for x in (rows[what]["seconds_per_query"], rows[what]["processor"],
                               rows["copy"]["seconds_per_query"])]


def jax_call(what, arguments):
    import jax
    import numpy as np

    sys.path.insert(0, str(HERE))
    from manifold_reference import Smoothing, ee_witness, vf_project
    jax.config.update("jax_enable_x64", False)  # the reference switches it on
    sm = Smoothing()
    one = (lambda p, q: ee_witness(p, q, sm)) if what == "edges" else (lambda v, t: (vf_project(v, t, sm),))
    f = jax.jit(jax.vmap(one))
    return lambda: [np.asarray(x) for x in f(*arguments)]


def jax_seconds(call, size):
    seconds, processor = [], []
    while len(seconds) < 2 or sum(seconds) < SECONDS:
        start, spent = time.perf_counter(), time.process_time()
        call()
        processor.append(time.process_time() - spent)
        seconds.append(time.perf_counter() - start)
    return [statistics.median(x) / size for x in (seconds, processor)]


def compare(options, what, size):
    import numpy as np

    with tempfile.TemporaryDirectory() as folder:
        abut_seconds(options, what, size, folder)
        read = lambda name: np.fromfile(os.path.join(folder, name), np.float32).reshape(size, *SHAPES[name])
        arguments, answers = ([read(name) for name in names] for names in IN_OUT[what])
    call = jax_call(what, arguments)
    found = call()
    apart = max(float(np.abs(a - b).max()) for a, b in zip(answers, found))
    rounds = []
    for _ in range(options.rounds):
        theirs = jax_seconds(call, size)
        rounds.append((*abut_seconds(options, what, size), *theirs))
    middle = lambda f: statistics.median(f(*r) for r in rounds)
    ratios = [theirs / ours for ours, _, _, theirs, _ in rounds]
    figures = {"abut": middle(lambda a, ap, c, j, jp: a), "jax": middle(lambda a, ap, c, j, jp: j),
               "copy": middle(lambda a, ap, c, j, jp: c), "ratio": statistics.median(ratios),
               "ratio_least": min(ratios), "ratio_most": max(ratios),
               "abut_processor": middle(lambda a, ap, c, j, jp: ap),
               "jax_processor": middle(lambda a, ap, c, j, jp: jp),
               "ratio_processor": middle(lambda a, ap, c, j, jp: jp / ap), "most_apart": apart}
    return {"what": what, "queries": size, "precision": "f32", **{k: f"{x:.4g}" for k, x in figures.items()}}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build")
    parser.add_argument("--core", type=int, default=0)
    parser.add_argument("--device", default="pocl")
    parser.add_argument("--sizes", default="10000,100000,1000000")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--out", type=pathlib.Path)
    options = parser.parse_args()
    pin(options.core)
    load = os.getloadavg()[0]
    rows = [compare(options, what, int(size)) for what in IN_OUT for size in options.sizes.split(",")]
    import jax

    from run import processor

    commit = subprocess.run(["git", "-C", ROOT, "describe", "--always", "--dirty"], capture_output=True, text=True)
    about = {"device": options.device_name, "processor": processor(),
             "cores used": 1, "commit": commit.stdout.strip() or "?", "jax": jax.__version__,
             "date": time.strftime("%Y-%m-%d"), "load before": f"{load:.1f}"}
    out = open(options.out / f"witness-{options.device}.csv", "w", newline="") if options.out else sys.stdout
    out.writelines(f"# {key}: {value}\n" for key, value in about.items())
    writer = csv.DictWriter(out, COLUMNS, lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)


if __name__ == "__main__":
    main()
