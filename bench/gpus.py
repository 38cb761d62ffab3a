#!/usr/bin/env python3
"""Says by count what GPUs would do with every kernel, and writes docs/benchmarks/gpus.md.

    python3 bench/gpus.py --count build A.body.json B.body.json SMOOTHING.json POSES.npz
    python3 bench/gpus.py --compile
    python3 bench/gpus.py --write
    python3 bench/gpus.py --check

--count runs the calls of bench/counts/calls.c under Oclgrind, an interpreter of OpenCL, with the
plugin bench/counts/counts.cpp, and keeps what each launch did in bench/results/gpu-counts.json. It
needs liboclgrind-dev, llvm-14-dev and a C++ compiler, and takes minutes. --compile asks the vendors'
offline compilers how many work-items can be resident (bench/results/gpu-occupancy.json). --write
makes the page of both; --check fails where the page is another. Nothing here runs on a GPU.
"""
import argparse
import collections
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
COUNTS = ROOT / "bench" / "results" / "gpu-counts.json"
OCCUPANCY = ROOT / "bench" / "results" / "gpu-occupancy.json"
PAGE = ROOT / "docs" / "benchmarks" / "gpus.md"
FIELDS = ("items groups local instructions single wide functions steps longest requested read "
          "written").split()
GROUP = 64
POSES = (2, 6)  # two batches tell what a pose costs, and what a launch costs without any
BATCHES = (1024, 65536)

# Published peaks, of a device with nothing else to do: lanes are those that can begin a float32
# operation in each cycle; a fused multiply-add is two operations.
# NVIDIA H200 SXM data sheet: 132 multiprocessors of 128 lanes, 1.98 GHz, 67 TFLOP/s float32, 34
# float64, 4.8 TB/s. AMD Instinct MI300X data sheet: 304 units of 64 lanes, 2.1 GHz, 81.7 TFLOP/s
# float32 without packed operations, 81.7 float64, 5.3 TB/s. Intel Arc A770 specification: 512
# vector engines of 8 lanes, 2.1 GHz (17.2 TFLOP/s float32), 560 GB/s, no float64.
Device = collections.namedtuple("Device", "name target lanes clock double bandwidth units")
DEVICES = [Device("H200", "sm_90", 132 * 128, 1.98e9, 0.5, 4.8e12, 132),
           Device("MI300X", "gfx90a", 304 * 64, 2.1e9, 1.0, 5.3e12, 304),
           Device("Arc A770", "dg2", 512 * 8, 2.1e9, None, 0.56e12, 32)]
# Elementary functions (divisions, roots, exponentials) begin in a quarter of the lanes, at most.
FUNCTION_SHARE = 4
IDLE_SHARE = 0.1
MANY_STEPS = 500


def main():
    options = read_options()
    if options.count:
        count(*options.count)
    if options.compile:
        compile_all()
    if options.write:
        PAGE.write_text(page(json.loads(COUNTS.read_text()), json.loads(OCCUPANCY.read_text())))
    if options.check:
        check(page(json.loads(COUNTS.read_text()), json.loads(OCCUPANCY.read_text())))


def read_options():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--count", nargs=5, metavar=("BUILD", "A", "B", "SMOOTHING", "POSES"))
    parser.add_argument("--compile", action="store_true")
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--check", action="store_true")
    return parser.parse_args()


def commit():
    """The commit whose code runs; results and pages that are being written do not count."""
    def git(*words):
        return subprocess.run(["git", *words], capture_output=True, text=True, cwd=ROOT,
                              check=True).stdout.strip()
    changed = git("status", "--porcelain", "--", "cl", "src", "include", "bench/counts")
    return git("rev-parse", "--short", "HEAD") + ("-dirty" if changed else "")


def check(wanted):
    """Says whether the page is that of its results, as tests do."""
    same = PAGE.read_text() == wanted
    if not same:
        print(f"{PAGE.relative_to(ROOT)} is not what bench/gpus.py --write makes")
    print(f"{int(same)} passed, {int(not same)} failed")
    sys.exit(not same)


# ---- counting ----

def count(build, *inputs):
    inputs = [str(pathlib.Path(path).resolve()) for path in inputs]
    build = pathlib.Path(build).resolve()
    with tempfile.TemporaryDirectory() as folder:
        out = pathlib.Path(folder)
        make(build, out)
        runs = [start(build, out, poses, inputs) for poses in POSES]
        failed = [poses for poses, process in zip(POSES, runs) if process.wait()]
        if failed:
            sys.exit(f"counting {failed} poses failed")
        first, second = (read_counts(out / f"{poses}.csv") for poses in POSES)
    calls = {name: [per_pose(a, b) for a, b in zip(first[name], second[name])] for name in first}
    about = {"commit": commit(), "date": time.strftime("%Y-%m-%d"), "poses": POSES}
    COUNTS.write_text(json.dumps({"measured": about, "calls": calls}, indent=1) + "\n")


def make(build, out):
    """The plugin and the program whose calls are counted."""
    counts, flags = ROOT / "bench" / "counts", ["-O2", "-Wall", "-Wextra"]
    llvm = subprocess.run(["llvm-config-14", "--includedir"], capture_output=True, text=True,
                          check=True).stdout.strip()
    subprocess.run([os.environ.get("CXX", "c++"), "-std=c++17", "-fno-rtti", "-shared", "-fPIC",
                    *flags, "-isystem", llvm, counts / "counts.cpp", "-loclgrind",
                    "-o", out / "counts.so"], check=True)
    subprocess.run([os.environ.get("CC", "cc"), "-std=c11", *flags, f"-I{ROOT}/include",
                    counts / "calls.c", f"-L{build}/src", "-labut", f"-Wl,-rpath,{build}/src",
                    "-o", out / "calls"], check=True)


def start(build, out, poses, inputs):
    path = out / f"{poses}.csv"
    env = {**os.environ, "ABUT_COUNTS": str(path), "ABUT_TUNING": "", "ABUT_CACHE_DIR": "off"}
    return subprocess.Popen(["oclgrind", "--max-wgsize", str(GROUP), "--plugins", out / "counts.so",
                             out / "calls", path, *inputs, str(poses)], env=env, cwd=build)


def read_counts(path):
    """call -> its launches in order: kernel's name and counts."""
    calls, launches = {}, None
    for line in path.read_text().splitlines():
        if line.startswith("# "):
            launches = calls.setdefault(line[2:], []) if line != "# unmeasured" else []
        else:
            name, *numbers = line.split(",")
            launches.append((name, dict(zip(FIELDS, map(int, numbers)))))
    return calls


def per_pose(first, second):
    """A launch's counts: those of none and what each pose adds; the longest work-item's as found."""
    (name, a), (other, b) = first, second
    assert name == other, "launches differ with the batch"
    out = {"kernel": name, "local": b["local"], "steps": max(a["steps"], b["steps"]),
           "longest": max(a["longest"], b["longest"])}
    for field in FIELDS:
        if field not in out:
            each = (b[field] - a[field]) / (POSES[1] - POSES[0])
            out[field] = [max(0, a[field] - POSES[0] * each), each]
    if name == "offsets":  # a work-item's run of counts, gone through twice, grows with the batch
        out["longer"] = 2 * 6 / GROUP
    for field in ("items", "groups"):  # one work-item a pose: 64 of them a group
        if out[field][1] == 0 and name != "offsets":
            out[field] = [0, 1 if field == "items" else 1 / GROUP]
    return out


# ---- compiling ----

def compile_all():
    sys.path.insert(0, str(ROOT / "tests" / "offline"))
    import vendors  # pylint: disable=import-outside-toplevel
    kernels = {}
    for vendor, target in (("nvidia", "sm_90"), ("amd", "gfx90a"), ("intel", "dg2")):
        for adjoint in (0, 1):
            program = vendors.Program("manifold", 0, adjoint)
            for _, figures in vendors.build(vendor, "f32", program, ROOT / "cl", [target]):
                for name in vendors.kernels_of(ROOT / "cl", program):
                    f = figures[name]
                    kernels.setdefault(name, {})[target] = [f.registers, f.occupancy, f.most]
    about = {"commit": commit(), "date": time.strftime("%Y-%m-%d"),
             "compilers": {t: vendors.compiler(v, t) for v, t in
                           (("nvidia", "sm_90"), ("amd", "gfx90a"), ("intel", "dg2"))}}
    OCCUPANCY.write_text(json.dumps({"measured": about, "kernels": kernels}, indent=1) + "\n")


# ---- what follows ----

def at(value, batch):
    return value[0] + value[1] * batch


def times(launch, device, batch):
    """Lower bounds of a launch's time, by what bounds it [s]."""
    items = max(at(launch["items"], batch), 1)
    lanes = min(items, device.lanes)
    wide = at(launch["wide"], batch)
    double = 0 if device.double is None else wide * (1 / device.double - 1)
    functions = at(launch["functions"], batch) * (FUNCTION_SHARE - 1)
    issued = at(launch["instructions"], batch) + double + functions
    bytes_moved = at(launch["read"], batch) + at(launch["written"], batch)
    longest = launch["longest"] + launch.get("longer", 0) * batch
    return {"instructions": issued / lanes / device.clock, "memory": bytes_moved / device.bandwidth,
            "longest item": longest / device.clock}


def bound(launches, device, batch):
    """The sum of what bounds each launch, and what bounds most of it."""
    total, shares = 0, collections.Counter()
    for launch in launches:
        reason, least = max(times(launch, device, batch).items(), key=lambda t: t[1])
        total += least
        shares[reason] += least
    return total, shares.most_common(1)[0][0]


def occupancy_text(figures, target):
    if target not in figures:
        return "not built"
    registers, resident, most = figures[target]
    if target == "dg2":
        return f"{resident} lanes"
    return f"{registers}: {resident} of {most}"


def heaviest(calls):
    """Of each kernel the launch that does most, and the call that it is of."""
    found = {}
    for call, launches in calls.items():
        for launch in launches:
            name = launch["kernel"]
            if name not in found or at(launch["instructions"], 1) > at(
                    found[name][1]["instructions"], 1):
                found[name] = (call, launch)
    return found


def table(header, rows):
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join("| " + " | ".join(str(c) for c in row) + " |" for row in lines)


def micro(seconds):
    return f"{1e6 * seconds:,.3g}" if seconds < 1e-3 else f"{1e6 * seconds:,.0f}"


def call_rows(calls):
    for name, launches in calls.items():
        operations = sum(at(x["single"], 1024) + at(x["wide"], 1024) for x in launches) / 1024
        moved = sum(at(x["read"], 1024) + at(x["written"], 1024) for x in launches) / 1024
        cells = [name, len(launches), f"{operations / 1e6:.2f}", f"{moved / 1e3:.0f}"]
        for device in DEVICES:
            for batch in BATCHES:
                total, reason = bound(launches, device, batch)
                cells.append(f"{micro(total)} ({reason}), {batch / total / 1e6:.1f} M/s")
        yield cells


def kernel_rows(kernels, occupancy):
    for name, (call, x) in sorted(kernels.items()):
        figures = occupancy.get(name, {})
        busy = at(x["items"], 1024) / DEVICES[0].lanes
        yield [f"`{name}`", call, f"{at(x['items'], 1024):,.0f}, {at(x['groups'], 1024):,.0f}",
               f"{at(x['items'], 65536):,.0f}, {at(x['groups'], 65536):,.0f}",
               f"{100 * min(busy, 1):.0f} %", x["steps"], f"{x['longest']:,}",
               f"{(at(x['single'], 1024) + at(x['wide'], 1024)) / 1024:,.0f}",
               f"{at(x['functions'], 1024) / 1024:,.0f}",
               f"{at(x['read'], 1024) / 1024:,.0f}, {at(x['written'], 1024) / 1024:,.0f}",
               f"{at(x['requested'], 1024) / 1024:,.0f}", x["local"],
               *(occupancy_text(figures, d.target) for d in DEVICES)]


def time_rows(kernels):
    for name, (_, x) in sorted(kernels.items()):
        cells = [f"`{name}`"]
        for device in DEVICES:
            for batch in BATCHES:
                total, reason = bound([x], device, batch)
                cells.append(f"{micro(total)} ({reason})")
        yield cells


# Why a kernel that stands out stays as it is.
REASONS = {
    "poses": "one work-item a pose: a chain of a few hundred float64 operations, as long as a launch",
    "near_plan": "one work-item a pose: it looks through a pose's bounds of blocks, once",
    "entries_listed": "one work-item a pose: it merges the entries that the caller names",
    "offsets": "one work-group in all: sums of a chunk's counts, a 64th of them a work-item",
}


def standing_out(kernels):
    idle = [n for n, (_, x) in sorted(kernels.items())
            if at(x["items"], 1024) < IDLE_SHARE * DEVICES[0].lanes]
    serial = [n for n, (_, x) in sorted(kernels.items()) if x["steps"] > MANY_STEPS]
    lines = []
    for names, what in ((idle, "leaves nine tenths of an H200's lanes idle at batch 1,024"),
                        (serial, f"has a work-item of more than {MANY_STEPS} serial steps")):
        lines += [f"- `{n}` {what}: {REASONS.get(n, 'to be done')}." for n in names]
    return "\n".join(lines) if lines else "None."


def page(counts, occupancy):
    calls = {n: c for n, c in counts["calls"].items() if c}
    kernels = heaviest(calls)
    about, compiled = counts["measured"], occupancy["measured"]
    call_header = ["call", "launches", "10⁶ operations a pose", "kB moved a pose"]
    time_header = ["kernel"]
    for device in DEVICES:
        for batch in BATCHES:
            call_header.append(f"{device.name}, {batch:,} poses: µs at least (bound), poses")
            time_header.append(f"{device.name}, {batch:,} poses: µs at least (bound)")
    kernel_header = ["kernel", "in the call", "1,024 poses: work-items, groups", "65,536 poses",
                     "of an H200's lanes, 1,024 poses", "serial steps", "instructions of the longest item",
                     "operations a pose", "functions a pose", "bytes read, written a pose",
                     "bytes asked for a pose", "local bytes", "sm_90: registers, warps",
                     "gfx90a: registers, waves", "dg2"]
    compilers = "; ".join(f"{t}: {text}" for t, text in compiled["compilers"].items())
    return f"""# GPUs, by count

Nothing on this page was measured on a GPU (devices.md has what was). `python3 bench/gpus.py` counts what the kernels do, on an
interpreter of OpenCL (Oclgrind), with one lane a work-item and work-groups of {GROUP}, as they run on GPUs, and divides by what the
vendors publish of an H200, an MI300X and an Arc A770. So the times are lower bounds: what a device cannot beat.

The pair is of two armadillos (18 superquadrics, 305 vertices and 909 edges each, 18 kept; float32), deep in each other. Counted for
batches of {POSES[0]} and {POSES[1]} poses, extrapolated to 1,024 and 65,536; commit {about["commit"]}, {about["date"]}: later
changes to how groups add up their sums are not counted yet.

## Whole calls

Least times of all launches of a call, one after the other, and what bounds most of it: *instructions*, each begun in a lane of the
device (elementary functions in a quarter of them, float64 where the device has it at its own rate); *memory*, each sector of 32 bytes
moved once a launch; *longest item*, the work-item that executes most instructions, one a cycle. What a launch itself takes, a few
microseconds on most drivers, comes on top, and so does what a work-item waits for: memory, and the result before the next one.

{table(call_header, call_rows(calls))}

## Kernels

Each in the call in which it does most. *Serial steps*: turns of loops that the longest work-item takes, loops over the numbers of a
vector or wrench among them. *Bytes*: distinct sectors of 32 bytes; *asked for*: by all work-items, of which a cache serves most.
Registers and resident warps, waves or lanes by the offline
compilers ({compilers}); gfx90a stands for the MI300X, which clang 15 does not know.

{table(kernel_header, kernel_rows(kernels, occupancy["kernels"]))}

Kernels that stand out:

{standing_out(kernels)}

## Least times

{table(time_header, time_rows(kernels))}
"""


if __name__ == "__main__":
    main()
