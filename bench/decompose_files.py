#!/usr/bin/env python3
"""Decomposes every mesh below a folder by a few primitives, and lists what became of each.

    python3 bench/decompose_files.py BUILD [FOLDER] [--primitives 3] [--seconds 120] [--only PART] [--write NAME]

Without FOLDER those of $ABUT_SHARED/data; exit status 77 where that is not there. Each file ends in a body with its figures or in a refusal with its text; whatever else happens, such as a
signal, a timeout, a text without the file's name, a figure that is not finite, or a body that a contact query
refuses, is counted as a fault and the exit status is 1. With --write the list is kept in
bench/results/NAME.json, with device and commit.
"""
import argparse
import json
import math
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ENDINGS = (".obj", ".stl", ".ply", ".off")
FIGURES = ("primitives", "iou", "chamfer_percent", "hausdorff_percent", "largest_uncovered", "largest_surplus",
           "depth_ratio_median", "depth_ratio_95")
POSE = "x1,y1,z1,qw1,qx1,qy1,qz1,x2,y2,z2,qw2,qx2,qy2,qz2\n0,0,0,1,0,0,0,0,0,0,1,0,0,0\n"


def main():
    options = read_options()
    if not options.folder.is_dir():
        print(f"not run: {options.folder} is no folder")
        return 77
    faults = 0
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "poses.csv").write_text(POSE)
        for path in meshes_of(options.folder, options.only):
            row = {"file": str(path.relative_to(options.folder))} | decompose(options, path, Path(folder))
            rows.append(row)
            faults += "fault" in row
            print(told(row), flush=True)
    print(f"{sum('iou' in r for r in rows)} bodies, {sum('refused' in r for r in rows)} refusals, {faults} faults")
    if options.write:
        keep(options, rows)
    return 1 if faults or not rows else 0


def read_options():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("build", type=Path)
    p.add_argument("folder", type=Path, nargs="?", default=Path(os.environ.get("ABUT_SHARED", "/none")) / "data")
    p.add_argument("--primitives", type=int, default=3)
    p.add_argument("--seconds", type=float, default=120)
    p.add_argument("--only", default="", help="files whose path has this in it")
    p.add_argument("--write", metavar="NAME")
    return p.parse_args()


def meshes_of(folder, only):
    return sorted(p for p in folder.rglob("*") if p.suffix.lower() in ENDINGS and only in str(p.relative_to(folder)))


def run(options, *arguments):
    """The exit status, None after too long, and both texts."""
    try:
        done = subprocess.run([options.build / "src/cli/abut", *arguments], capture_output=True, text=True,
                              timeout=options.seconds)
    except subprocess.TimeoutExpired:
        return None, "", f"no end after {options.seconds:g} s"
    return done.returncode, done.stdout, done.stderr


def decompose(options, path, folder):
    body = folder / "made.body.json"
    status, out, errors = run(options, "decompose", path, "--primitives", str(options.primitives), "--json", "-o", body)
    lines = [line for line in errors.splitlines() if line]
    if status == 2:
        text = lines[-1].removeprefix("abut: ") if lines else ""
        row = {"refused": text.replace(f"{path.parent}/", "")}
        return row if path.name in text and not body.exists() else row | {"fault": "the text names no file"}
    if status != 0:
        return {"fault": f"status {status}: {errors.strip()}"}
    report = json.loads(out)
    row = {name: report[name] for name in FIGURES} | {"seconds": round(sum(report["seconds"].values()), 2)}
    row["warnings"] = [line.removeprefix("abut: warning: ").replace(f"{path.parent}/", "") for line in lines
                       if line.startswith("abut: warning: ")]
    if not all(math.isfinite(row[name]) for name in FIGURES):
        row["fault"] = "a figure is not finite"
    status, out, errors = run(options, "contacts", body, body, "--poses", folder / "poses.csv", "-o", folder / "c.npz")
    if status != 0:
        row["fault"] = f"contacts end with status {status}: {errors.strip()}"
    for made in folder.glob("made.*"):
        made.unlink()
    return row


def told(row):
    text = f"{row['file']}: "
    if "iou" in row:
        text += (f"{row['primitives']} primitives, IoU {row['iou']:.3f}, Chamfer {row['chamfer_percent']:.2f} %, uncovered "
                 f"{100 * row['largest_uncovered']:.1f} %, surplus {100 * row['largest_surplus']:.1f} %, depth "
                 f"{row['depth_ratio_median']:.2f} {row['depth_ratio_95']:.2f}, {row['seconds']} s")
        text += "".join(f"\n    warning: {line}" for line in row["warnings"])
    elif "refused" in row:
        text += f"refused: {row['refused']}"
    return text + (f"\n    FAULT: {row['fault']}" if "fault" in row else "")


def keep(options, rows):
    commit = subprocess.run(["git", "describe", "--always", "--dirty"], cwd=Path(__file__).parent, capture_output=True,
                            text=True, check=False).stdout.strip()
    status, out, _ = run(options, "devices", "--json")
    device = json.loads(out)[0]["name"] if status == 0 else ""
    path = Path(__file__).parent / "results" / f"{options.write}.json"
    about = {"commit": commit, "date": time.strftime("%Y-%m-%d"), "device": device, "primitives": options.primitives}
    files = [{key: value for key, value in row.items() if key != "seconds"} for row in rows]
    path.write_text(json.dumps({"measured": about, "files": files}, indent=1) + "\n")


if __name__ == "__main__":
    sys.exit(main())
