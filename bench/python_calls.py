#!/usr/bin/env python3
"""What Python's calls cost beside C's own, in one process, by turns.

    PYTHONPATH=build/python python3 bench/python_calls.py [--write]

Needs NumPy; JAX and torch are measured where they are there (give the same results file to two
environments: rows that are not measured are kept; with MALLOC_TRIM_THRESHOLD_ set, rows say so). Each row is the median of paired differences at
batch 1 [us], or of paired ratios at batch 1,024. --write keeps bench/results/python-calls.json and
makes the table of docs/benchmarks/python.md of it; --page does the latter alone.
"""
import argparse
import json
import os
import pathlib
import statistics
import subprocess
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
RESULT = ROOT / "bench" / "results" / "python-calls.json"
PAGE = ROOT / "docs" / "benchmarks" / "python.md"
BEGIN, END = "<!-- calls: begin -->", "<!-- calls: end -->"
TURNS = {1: 2001, 1024: 41}
OUTPUTS = ("p", "d", "n", "activity")


def by_turns(one, other, turns):
    """Paired times of two calls, which change places."""
    times = []
    for turn in range(turns + 5):
        pair = [0.0, 0.0]
        for k in (0, 1) if turn % 2 else (1, 0):
            begin = time.perf_counter()
            (one, other)[k]()
            pair[k] = time.perf_counter() - begin
        times.append(pair)
    return times[5:]


def compared(times, batch):
    if batch == 1:
        differences = [1e6 * (b - a) for a, b in times]
        return {"over_us": round(statistics.median(differences), 1)}
    return {"ratio": round(statistics.median(b / a for a, b in times), 4)}


class Calls:
    """C's calls with arrays that stand ready."""

    def __init__(self, abut, np, batch):
        from abut._native import ffi, lib
        self.abut, self.np, self.lib, self.ffi = abut, np, lib, ffi
        self.context = abut.Context(os.environ.get("ABUT_BENCH_DEVICE", "pocl"))
        self.pair = self.context.pair(*(self.context.load(ROOT / "assets" / f"{name}.body.json")
                                        for name in ("figure", "part")))
        rng = np.random.default_rng(1)
        self.p1 = np.zeros((batch, 6), np.float32)
        self.p2 = (rng.normal(size=(batch, 6)) * [.15, .15, .15, 1, 1, 1]).astype(np.float32)
        self.out = dict(zip(OUTPUTS, (getattr(abut.contacts(self.pair, self.p1, self.p2), name)
                                      for name in OUTPUTS)))
        self.out["status"] = np.empty(batch, np.uint8)
        self.g = [np.empty((batch, 6), np.float32) for _ in range(2)]
        self.bar = np.ones((batch, self.pair.C), np.float32)
        self.value = np.empty(batch, np.float32)
        place = ffi.from_buffer
        self.batch = ffi.new("abut_batch *")
        self.empty = ffi.new("abut_batch *")
        lib.abutpy_set_batch(self.batch, batch, 0, place(self.p1), place(self.p2),
                             *(place(self.out[name]) for name in OUTPUTS),
                             place("uint8_t[]", self.out["status"]))
        null = ffi.NULL
        lib.abutpy_set_batch(self.empty, batch, 0, place(self.p1), place(self.p2), null, null, null,
                             null, null)
        self.gradients = ffi.new("abut_gradients *")
        self.gradients.pose1, self.gradients.pose2 = map(place, self.g)
        self.bars = ffi.new("abut_cotangents *")
        self.bars.d = place(self.bar)
        self.d_alone = ffi.new("abut_batch *")
        lib.abutpy_set_batch(self.d_alone, batch, 0, place(self.p1), place(self.p2), null,
                             place(self.out["d"]), null, null, null)
        self.same = ffi.new("abut_pair *")[0]
        self.kept = [place(self.p1), place(self.p2)]

    def forward(self):
        assert not self.lib.abut_contacts(self.pair.handle, self.batch)

    def one(self):
        assert not self.lib.abut_contacts(self.pair.handle, self.d_alone)

    def forward_and_back(self):
        """d alone, then what a cotangent of it gives."""
        assert not self.lib.abut_contacts(self.pair.handle, self.d_alone)
        assert not self.lib.abut_vjp(self.pair.handle, self.same, self.empty, self.bars, self.gradients)


def numpy_rows(c):
    yield "NumPy, contacts with `out`", c.forward, lambda: c.abut.contacts(c.pair, c.p1, c.p2,
                                                                            out=c.out)


def jax_rows(c):
    import abut.jax as aj
    import jax
    p1, p2 = jax.numpy.asarray(c.p1), jax.numpy.asarray(c.p2)
    forward = jax.jit(lambda x, y: aj.contacts(c.pair, x, y))
    loss = jax.jit(jax.value_and_grad(lambda x, y: aj.contacts(c.pair, x, y, want=("d",)).d.sum(),
                                      argnums=(0, 1)))
    one = jax.jit(lambda x, y: aj.contacts(c.pair, x, y, want=("d",)).d)
    yield "JAX, `jit` of contacts", c.forward, lambda: jax.block_until_ready(forward(p1, p2))
    yield "JAX, `jit` of only `d`", c.one, lambda: jax.block_until_ready(one(p1, p2))
    yield ("JAX, `value_and_grad` of the sum of `d`, compared with contacts and VJP", c.forward_and_back,
           lambda: jax.block_until_ready(loss(p1, p2)))


def torch_rows(c):
    import abut.torch as at
    import torch
    torch.set_num_threads(1)
    p1, p2 = torch.from_numpy(c.p1), torch.from_numpy(c.p2)
    x, y = p1.clone().requires_grad_(), p2.clone().requires_grad_()

    def back():
        x.grad = y.grad = None
        at.contacts(c.pair, x, y, want=("d",)).d.sum().backward()

    yield "torch, contacts", c.forward, lambda: at.contacts(c.pair, p1, p2)
    yield ("torch, contacts and backward of the sum of `d`, compared with contacts and VJP",
           c.forward_and_back, back)


def measure():
    import abut
    import numpy as np
    rows = {}
    for batch in TURNS:
        calls = Calls(abut, np, batch)
        for source, module in ((numpy_rows, "numpy"), (jax_rows, "jax"), (torch_rows, "torch")):
            try:
                found = list(source(calls))
            except ImportError:
                continue
            version = __import__(module).__version__
            for name, one, other in found:
                if "MALLOC_TRIM_THRESHOLD_" in os.environ:
                    name += "; memory kept"
                row = compared(by_turns(one, other, TURNS[batch]), batch)
                rows.setdefault(name, {"version": f"{module} {version}"}).update(row)
                print(name, batch, row, flush=True)
    device = calls.context.device
    return rows, {"device": device.name, "driver": f"{device.platform} {device.driver}",
                  "contacts": calls.pair.C, "load": round(os.getloadavg()[0], 1),
                  "date": time.strftime("%Y-%m-%d"),
                  "commit": subprocess.run(["git", "rev-parse", "--short", "HEAD"], cwd=ROOT, check=True,
                                           capture_output=True, text=True).stdout.strip()}


def table(result):
    lines = ["| call | batch 1: over C [us] | batch 1,024: times C | version |", "|---|---|---|---|"]
    for name, row in result["rows"].items():
        lines.append(f"| {name} | {row['over_us']:.1f} | {row['ratio']:.3f} | {row['version']} |")
    about = result["about"]
    return "\n".join([*lines, "", f"{about['device']}, {about['driver']}; {about['contacts']:,} contacts a "
                      f"pose, float32; commit {about['commit']}, {about['date']}, load {about['load']}."])


def write_page(result):
    text = PAGE.read_text()
    head, rest = text.split(BEGIN)
    PAGE.write_text(f"{head}{BEGIN}\n{table(result)}\n{END}{rest.split(END)[1]}")


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--page", action="store_true")
    options = parser.parse_args()
    old = json.loads(RESULT.read_text()) if RESULT.exists() else {"rows": {}}
    if options.page:
        write_page(old)
        return
    rows, about = measure()
    if options.write:
        result = {"about": about, "rows": {**old["rows"], **rows}}
        RESULT.write_text(json.dumps(result, indent=1) + "\n")
        write_page(result)


if __name__ == "__main__":
    main()
