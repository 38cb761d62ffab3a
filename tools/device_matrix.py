#!/usr/bin/env python3
"""Runs the golden answers on every device that is there and writes the device matrix of a page.

  python3 tools/device_matrix.py BUILD [--write docs/benchmarks/devices.md] [--device WORDS ...]
                                 [--case FOLDER ...] [--limit SECONDS]

BUILD is a Meson build folder. Devices come from `abut devices --json`, so what the OpenCL loader
finds under the present environment is what runs (RUSTICL_ENABLE, OCL_ICD_VENDORS). Runs under
different environments are merged: a row that the table holds and that is not here now is kept with
its date. A kind of device that never ran says so, and so does what ran out of its time: some
drivers compile the programs of derivatives for minutes.
"""
import argparse
import datetime
import json
import os
import pathlib
import re
import subprocess
import sys
import time

BEGIN, END = "<!-- device matrix: begin -->", "<!-- device matrix: end -->"
HEADER = ["device", "platform, driver", "what ran", "float32: worst p, d, n, activity",
          "mean gradient, VJP, JVP", "float64: worst p, d, n, activity", "mean gradient, VJP, JVP",
          "poses/s: forward", "mean gradient", "date"]
NEVER = ["AMD GPU", "NVIDIA GPU", "Intel GPU"]
LINE = re.compile(r"^(\S+)\s+f(?:32|64) (p|d|n|activity|mean_g|vjp_g|jvp_\w+)\s+worst (\S+),")
VALUES, GRADIENTS = ("p", "d", "n", "activity"), ("mean_g", "vjp_g", "jvp")
LATE = "not done in {} s"

# Lanes for platforms on which compiling all derivatives for the usual lanes would take a quarter of an hour, by words of the
# platform's name.
DERIVATIVE_LANES = {"rusticl": 1}


def lanes_of(device):
    platform = device["platform"].lower()
    return next((n for words, n in DERIVATIVE_LANES.items() if words in platform), None)


def run(command, limit, **environment):
    """Returns output and exit status; None if it took longer than `limit` seconds."""
    env = {k: v for k, v in os.environ.items() if k != "ABUT_SHARED"}  # only cases of the repository
    words = " ".join(pathlib.Path(str(c)).name for c in command[:4])
    start, done = time.monotonic(), None
    try:
        done = subprocess.run([str(c) for c in command], env=dict(env, **environment), text=True,
                              capture_output=True, timeout=limit, check=False)
    except subprocess.TimeoutExpired:
        pass
    print(f"  {time.monotonic() - start:.0f} s: {words}", file=sys.stderr, flush=True)
    return done


# ---- golden answers ----

def worst_of(text):
    worst = {}
    for line in text.splitlines():
        found = LINE.match(line)
        if found:
            name = "jvp" if found[2].startswith("jvp") else found[2]
            error = float(found[3])
            worst[name] = error if error != error else max(worst.get(name, 0.0), error)
    return worst


def listed(worst, names):
    return ", ".join(f"{worst[k]:.0e}" if k in worst else "not run" for k in names)


def golden_cells(build, device, precision, cases, limit):
    """Returns cells of values and of derivatives, and which of them completed."""
    program = build / "tests" / "core" / "test_golden"
    lanes = lanes_of(device)
    environment = {"ABUT_TEST_DEVICE": str(device["index"])}
    if lanes:
        environment["ABUT_TEST_LANES"] = str(lanes)
    done, late = run([program, precision, *cases], limit, **environment), False
    if done is None:
        late = True
        done = run([program, precision, *cases], limit, ABUT_TEST_VALUES_ONLY="1", **environment)
    if done is None:
        return [LATE.format(limit)] * 2, None
    if done.returncode == 77:
        return ["not run: no float64"] * 2, None
    worst = worst_of(done.stdout)
    if not worst:
        text = (done.stdout + done.stderr).strip().splitlines() or [f"status {done.returncode}"]
        return ["failed: " + text[-1][:80].replace("|", "/")] * 2, None
    fails = "" if done.returncode == 0 else " (**fails**)"
    derivatives = LATE.format(limit) if late else listed(worst, GRADIENTS) + fails
    ran = "values" if late else "values and derivatives"
    return [listed(worst, VALUES) + fails, derivatives], ran


# ---- speed ----

def speed(build, device, case, what, limit, lanes=None):
    command = [build / "src" / "cli" / "abut-dev", "bench", case / "a.body.json", case / "b.body.json",
               "--smoothing", case / "smoothing.json", "--batch", "1024", "--variant", "full",
               "--what", what, "--device", device["index"], "--json", "--quiet"]
    done = run([*command, *(["--lanes", lanes] if lanes else [])], limit)
    if done is None:
        return LATE.format(limit)
    if done.returncode:
        return "failed"
    text = f"{json.loads(done.stdout)[0]['poses_per_s']:,.0f}"
    return f"{text} ({lanes} lane{'s' if lanes > 1 else ''})" if lanes else text


# ---- the table ----

def row_of(build, device, cases, benched, limit):
    gpu = " (GPU)" if device["type"] == "gpu" else ""
    cells, ran = {}, {}
    for precision in ("f32", "f64"):
        cells[precision], ran[precision] = golden_cells(build, device, precision, cases, limit)
    lanes = lanes_of(device)
    parts = [f"{name}: {ran[p]}" for p, name in (("f32", "float32"), ("f64", "float64")) if ran[p]]
    ending = [f"cases: {len(cases)}", *([f"lanes: {lanes}"] if lanes else [])]
    words = "; ".join([*(parts or ["nothing"]), *ending])
    return [device["name"] + gpu, f"{device['platform']}, {device['driver']}", words, *cells["f32"],
            *cells["f64"], speed(build, device, benched, "forward", limit),
            speed(build, device, benched, "mean-gradient", limit, lanes),
            datetime.date.today().isoformat()]


def read_rows(text):
    table = text.split(BEGIN)[1].split(END)[0].strip().splitlines()[2:] if BEGIN in text else []
    rows = [[c.strip() for c in line.strip().strip("|").split("|")] for line in table]
    for r in rows:
        if len(r) != len(HEADER) and r[-1] != "":
            print(f"dropped, of another table's shape: {r[0]}, {r[1]}", file=sys.stderr)
    return {(r[0], r[1]): r for r in rows if len(r) == len(HEADER) and r[2] != "not run"}


def table_of(rows):
    lines = [HEADER, ["---"] * len(HEADER), *rows]
    gpus = [r[0] + r[1] for r in rows if r[0].endswith("(GPU)")]
    for kind in NEVER:
        if not any(kind.split()[0] in text for text in gpus):
            lines.append([kind, "", *["not run"] * (len(HEADER) - 3), ""])
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("--write", type=pathlib.Path)
    parser.add_argument("--case", action="append", default=[])
    parser.add_argument("--device", action="append", default=[])
    parser.add_argument("--limit", type=int, default=1200, help="seconds of one program (1200)")
    options = parser.parse_args()
    root = pathlib.Path(__file__).resolve().parent.parent
    golden = root / "tests" / "golden"
    cases = options.case or sorted(str(p.parent) for p in golden.glob("*/expected.npz"))
    command = [options.build / "src" / "cli" / "abut", "devices", "--json"]
    devices = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    rows = read_rows(options.write.read_text()) if options.write else {}
    for device in devices:
        words = " ".join(str(device[k]) for k in ("index", "name", "platform", "version")).lower()
        if options.device and not any(w.lower() in words for w in options.device):
            continue
        print(f"{device['name']}, {device['platform']}", file=sys.stderr, flush=True)
        row = row_of(options.build, device, cases, golden / "figure-softsort", options.limit)
        rows[(row[0], row[1])] = row
        print(" | ".join(row), flush=True)
        if options.write:  # after each device, so that a later failure does not lose it
            head, rest = options.write.read_text().split(BEGIN)
            table = table_of(list(rows.values()))
            options.write.write_text(f"{head}{BEGIN}\n{table}\n{END}{rest.split(END)[1]}")


if __name__ == "__main__":
    main()
