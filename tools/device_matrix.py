#!/usr/bin/env python3
"""Runs the golden answers on every device that is there and writes the README's device matrix.

  python3 tools/device_matrix.py BUILD [--write README.md] [--case FOLDER ...] [--device WORDS ...]

BUILD is a Meson build folder. Devices come from `abut devices --json`, so what the OpenCL loader finds
under the present environment is what runs (RUSTICL_ENABLE, OCL_ICD_VENDORS). Runs under different
environments are merged: a row that the table holds and that is not here now is kept with its date. A kind
of device that never ran says so.
"""
import argparse
import datetime
import json
import os
import pathlib
import re
import subprocess

BEGIN, END = "<!-- device matrix: begin -->", "<!-- device matrix: end -->"
HEADER = ["device", "platform, driver", "float32: worst p, d, n, activity", "float64: the same",
          "poses/s", "date"]
NEVER = ["AMD GPU", "NVIDIA GPU", "Intel GPU"]
LINE = re.compile(r"^(\S+)\s+f(?:32|64) (p|d|n|activity)\s+worst (\S+),")


def run_golden(build, device, precision, cases):
    env = dict(os.environ, ABUT_TEST_DEVICE=str(device["index"]))
    done = subprocess.run([build / "tests" / "core" / "test_golden", precision, *cases], env=env,
                          capture_output=True, text=True)
    if done.returncode == 77:
        return "not run: no float64"
    worst = {}
    for line in done.stdout.splitlines():
        found = LINE.match(line)
        if found:
            worst[found[2]] = max(worst.get(found[2], 0.0), float(found[3]))
    if not worst:
        return "failed: " + (done.stdout + done.stderr).strip().splitlines()[-1][:80]
    text = ", ".join(f"{worst[k]:.0e}" for k in ("p", "d", "n", "activity"))
    return text if done.returncode == 0 else text + " (**fails**)"


def bench(build, device, case):
    done = subprocess.run([build / "src" / "cli" / "abut", "bench", case / "a.body.json",
                           case / "b.body.json", "--smoothing", case / "smoothing.json", "--batch",
                           "1024", "--variant", "full", "--device", str(device["index"]), "--json",
                           "--quiet"], capture_output=True, text=True)
    if done.returncode:
        return "failed"
    return f"{json.loads(done.stdout)[0]['poses_per_s']:,.0f}"


def row_of(build, device, cases, benched):
    return [device["name"], f"{device['platform']}, {device['driver']}",
            run_golden(build, device, "f32", cases), run_golden(build, device, "f64", cases),
            bench(build, device, benched), datetime.date.today().isoformat()]


def read_rows(text):
    table = text.split(BEGIN)[1].split(END)[0].strip().splitlines()[2:] if BEGIN in text else []
    rows = [[c.strip() for c in line.strip().strip("|").split("|")] for line in table]
    return {(r[0], r[1]): r for r in rows if len(r) == len(HEADER) and r[2] != "not run"}


def table_of(rows):
    lines = [HEADER, ["---"] * len(HEADER), *rows]
    ran = " ".join(r[0] + r[1] for r in rows)
    for kind in NEVER:
        vendor = kind.split()[0]
        if not re.search(vendor + r".*(GPU|Graphics|Radeon|H200|GeForce|Arc)", ran):
            lines.append([kind, "", "not run", "not run", "not run", ""])
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("--write", type=pathlib.Path)
    parser.add_argument("--case", action="append", default=[])
    parser.add_argument("--device", action="append", default=[])
    options = parser.parse_args()
    root = pathlib.Path(__file__).resolve().parent.parent
    golden = root / "tests" / "golden"
    cases = options.case or sorted(str(p.parent) for p in golden.glob("*/expected.npz"))
    devices = json.loads(subprocess.run([options.build / "src" / "cli" / "abut", "devices", "--json"],
                                        check=True, capture_output=True, text=True).stdout)
    text = options.write.read_text() if options.write else ""
    rows = read_rows(text)
    for device in devices:
        words = f"{device['index']} {device['name']} {device['platform']}".lower()
        if options.device and not any(w.lower() in words for w in options.device):
            continue
        row = row_of(options.build, device, cases, golden / "figure-softsort")
        rows[(row[0], row[1])] = row
        print(" | ".join(row), flush=True)
    if options.write:
        head, rest = text.split(BEGIN)
        options.write.write_text(head + BEGIN + "\n" + table_of(list(rows.values())) + "\n" + END +
                                 rest.split(END)[1])


if __name__ == "__main__":
    main()
