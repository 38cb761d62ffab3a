#!/usr/bin/env python3
"""Measures abut against itself: devices against parts of them, variants, precisions, starts, memory.

    python3 bench/speed_table.py build A.body.json B.body.json SMOOTHING.json POSES.npz [--write NAME]

Whatever is compared takes turns in one run; medians and extremes of the ratios are printed and,
with --write, kept in bench/results/NAME.json with device, driver and commit. Peers of other makers
are compared by bench/peers. Intel's CPU runtime is found where ABUT_INTEL_OPENCL names its folder.
"""
import argparse
import json
import os
import statistics
import struct
import subprocess
import sys
import tempfile
import time
import zipfile
from pathlib import Path

ROUNDS = 7


def main():
    options = read_options()
    run = Runner(options)
    path = Path(__file__).parent / "results" / f"{options.write}.json"
    result = {}
    if options.only and options.write and path.exists():
        result = json.loads(path.read_text())  # rows that are not measured again stay
    about = {"commit": commit(), "date": time.strftime("%Y-%m-%d"), "device": run.describe()}
    for name, measure in ROWS.items():
        if options.only and name not in options.only:
            continue
        try:
            result[name] = measure(run)
        except Skipped as reason:
            result[name] = {"not run": str(reason)}
        result[name] |= {"measured": about}
        print(name, json.dumps(result[name]), flush=True)
    if options.write:
        path.write_text(json.dumps(result, indent=1) + "\n")


def read_options():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("build", type=Path)
    parser.add_argument("bodies", nargs=2, type=Path)
    parser.add_argument("smoothing", type=Path)
    parser.add_argument("poses", type=Path)
    parser.add_argument("--write", metavar="NAME")
    parser.add_argument("--only", action="append", choices=list(ROWS))
    return parser.parse_args()


def commit():
    text = subprocess.run(["git", "describe", "--always", "--dirty"], capture_output=True, text=True,
                          cwd=Path(__file__).parent, check=False)
    return text.stdout.strip()


class Skipped(Exception):
    """A row that cannot be measured here, and why."""


class Runner:
    """Calls the command, with the drivers that are wanted alone."""

    def __init__(self, options):
        self.command = options.build / "src/cli/abut"
        self.bodies = [str(body) for body in options.bodies]
        self.pair = [*self.bodies, "--smoothing", str(options.smoothing), "--poses",
                     str(options.poses)]
        self.poses = options.poses
        self.environment = dict(os.environ)

    def devices(self):
        return json.loads(self.call(["devices", "--json"]).stdout)

    def describe(self):
        preferred = [d for d in self.devices() if d["default"]][0]
        return {key: preferred[key] for key in ("name", "platform", "driver", "compute_units")}

    def call(self, arguments, program="abut", **environment):
        return subprocess.run([str(self.command.with_name(program)), *arguments], capture_output=True, text=True,
                              env={**self.environment, **environment}, check=True)

    def bench(self, *arguments, **environment):
        """Entries of `abut-dev bench`, by variant, what and precision."""
        text = self.call(["bench", *self.pair, "--json", *arguments], "abut-dev", **environment).stdout
        return {(e["variant"], e["what"], e["precision"], e["batch"]): e for e in json.loads(text)}

    def rate(self, *arguments, **environment):
        entries = list(self.bench(*arguments, **environment).values())
        return entries[0]["poses_per_s"]


def in_turns(rounds, **calls):
    """Each call's answers, in rounds of all of them."""
    answers = {name: [] for name in calls}
    for _ in range(rounds):
        for name, call in calls.items():
            answers[name].append(call())
    return answers


def spread(numbers):
    return {"median": round(statistics.median(numbers), 4), "least": round(min(numbers), 4),
            "most": round(max(numbers), 4)}


def ratios(above, below):
    return spread([a / b for a, b in zip(above, below)])


def variants(run):
    wanted = ("full", "vertices-only", "one-sided")
    rounds = [run.bench("--variant", ",".join(wanted), "--batch", "1024") for _ in range(ROUNDS)]
    rate = {v: [r[v, "forward", "f32", 1024]["poses_per_s"] for r in rounds] for v in wanted}
    return {"poses_per_s": {v: spread(rate[v]) for v in wanted},
            "vertices-only over full": ratios(rate["vertices-only"], rate["full"]),
            "one-sided over vertices-only": ratios(rate["one-sided"], rate["vertices-only"])}


def derivatives(run):
    wanted = ("forward", "mean-gradient", "vjp", "jvp", "hessian")
    rounds = [run.bench("--what", ",".join(wanted), "--batch", "1024") for _ in range(ROUNDS)]
    seconds = {w: [r["full", w, "f32", 1024]["seconds_median"] for r in rounds] for w in wanted}
    return {w: ratios(seconds[w], seconds["forward"]) for w in wanted[1:]}


def one_pose(run):
    """Seconds end to end after the first call."""
    rounds = [run.bench("--batch", "1") for _ in range(ROUNDS)]
    return spread([r["full", "forward", "f32", 1]["seconds_median"] for r in rounds])


def float64(run):
    rounds = [run.bench("--precision", "f32,f64", "--batch", "1024") for _ in range(ROUNDS)]
    seconds = {p: [r["full", "forward", p, 1024]["seconds_median"] for r in rounds]
               for p in ("f32", "f64")}
    return {"f64 over f32": ratios(seconds["f64"], seconds["f32"])}


def sub_devices(run):
    need_parts(run, "pocl")
    batch = ("--batch", "4096")
    rate = in_turns(ROUNDS, one=lambda: run.rate("--device", "pocl/1.0", *batch),
                    two=lambda: run.rate("--device", "pocl/1", *batch),
                    whole=lambda: run.rate("--device", "pocl", *batch))
    return {"poses_per_s": {name: spread(rate[name]) for name in rate},
            "two parts over one": ratios(rate["two"], rate["one"]),
            "whole over one part": ratios(rate["whole"], rate["one"])}


def two_vendors(run):
    with tempfile.TemporaryDirectory() as folder:
        environment = intel_environment(folder)
        batch = ("--batch", "4096")
        names = {"pocl": ("pocl/1.0",), "intel": ("intel/1.0",),
                 "both": ("pocl/1.0", "intel/1.1")}
        calls = {name: lambda d=devices: run.rate(
            *[word for device in d for word in ("--device", device)], *batch, **environment)
                 for name, devices in names.items()}
        rate = in_turns(2 * ROUNDS + 1, **calls) # the noisiest row
    better = max(("pocl", "intel"), key=lambda name: statistics.median(rate[name]))
    return {"poses_per_s": {name: spread(rate[name]) for name in rate}, "better": better,
            "both over the better": ratios(rate["both"], rate[better])}


def need_parts(run, platform):
    words = {"pocl": "Portable Computing Language"}
    found = [d for d in run.devices() if words[platform] in d["platform"]]
    if not found or found[0]["compute_units"] < 2:
        raise Skipped(f"{platform} has no two compute units here")


def intel_environment(folder):
    """PoCL and Intel's CPU runtime as the only drivers."""
    runtime = Path(os.environ.get("ABUT_INTEL_OPENCL", "")) / "libintelocl.so"
    pocl = [p for p in Path("/etc/OpenCL/vendors").glob("pocl*.icd")]
    if not runtime.exists() or not pocl:
        raise Skipped("Intel's CPU runtime is not in ABUT_INTEL_OPENCL, or PoCL is absent")
    Path(folder, "intel.icd").write_text(f"{runtime}\n")
    Path(folder, "pocl.icd").write_text(pocl[0].read_text())
    library_path = os.environ.get("LD_LIBRARY_PATH", "")
    return {"OCL_ICD_VENDORS": folder,
            "LD_LIBRARY_PATH": f"{runtime.parent}:{library_path}".rstrip(":")}


def starts(run):
    """Seconds of a whole process that computes one pose: with nothing compiled before, and again."""
    first, again = [], []
    for _ in range(3):
        with tempfile.TemporaryDirectory() as folder:
            caches = {"ABUT_CACHE_DIR": f"{folder}/abut", "POCL_CACHE_DIR": f"{folder}/pocl"}
            os.mkdir(f"{folder}/pocl")
            poses = Path(folder, "one.csv")
            poses.write_text("r1x,r1y,r1z,w1x,w1y,w1z,r2x,r2y,r2z,w2x,w2y,w2z\n"
                             + ",".join(["0"] * 6 + ["0.3"] + ["0"] * 5) + "\n")
            arguments = ["contacts", *run.pair[:4], "--poses", str(poses), "-o",
                         f"{folder}/out.npz", "-q"]
            for times, count in ((first, 1), (again, 5)):
                for _ in range(count):
                    start = time.monotonic()
                    run.call(arguments, **caches)
                    times.append(time.monotonic() - start)
    return {"first": spread(first), "again": spread(again)}


def million(run):
    """Peak memory of the command for gradients alone of a million poses."""
    with tempfile.TemporaryDirectory() as folder:
        poses = Path(folder, "million.npz")
        repeat_poses(run.poses, poses, 10**6)
        arguments = ["gradient", *run.pair[:4], "--poses", str(poses), "--mean-distance", "-o",
                     f"{folder}/g.npz", "-q"]
        start = time.monotonic()
        child = subprocess.Popen([run.command, *map(str, arguments)])
        _, status, usage = os.wait4(child.pid, 0) # this child's alone
        seconds = time.monotonic() - start
    if status:
        raise Skipped(f"the command ended with {status}")
    return {"MiB": round(usage.ru_maxrss / 1024), "seconds": round(seconds, 1)}


def repeat_poses(source, target, count):
    """The float64 arrays of an archive, over and over."""
    with zipfile.ZipFile(source) as archive, zipfile.ZipFile(target, "w") as out:
        for name in archive.namelist():
            data = archive.read(name)
            header = 10 + struct.unpack("<H", data[8:10])[0]
            rows, width = shape_of(data[10:header].decode("latin1"))
            body = data[header:]
            times = count // rows + 1
            text = ("{'descr': '<f8', 'fortran_order': False, 'shape': (%d, %d), }"
                    % (count, width))
            text += " " * (-(len(text) + 11) % 64) + "\n"
            out.writestr(name, b"\x93NUMPY\x01\x00" + struct.pack("<H", len(text)) +
                         text.encode("latin1") + (body * times)[:8 * width * count])


def shape_of(header):
    inside = header[header.index("(") + 1:header.index(")")]
    rows, width = [int(word) for word in inside.split(",") if word.strip()]
    return rows, width


ROWS = {"variants": variants, "derivatives": derivatives, "one pose": one_pose,
        "float64": float64, "sub-devices": sub_devices, "two vendors": two_vendors,
        "starts": starts, "a million poses": million}

if __name__ == "__main__":
    sys.exit(main())
