#!/usr/bin/env python3
"""Processes that start together where nothing is kept yet compile each program once: cold.py ABUT KEPT

KEPT is kept.c, which notes what a driver puts into its cache. PoCL, which keeps each kernel in a file of its own; else skipped. One
process has the whole device, the others a part each, as ranks have, where it can be divided.
"""
import json
import os
import pathlib
import subprocess
import sys
import tempfile

abut, kept = map(os.path.abspath, sys.argv[1:])
root = pathlib.Path(__file__).resolve().parent.parent.parent
listed = subprocess.run([abut, "devices", "--json"], capture_output=True, text=True, check=True).stdout
if "Portable Computing Language" not in listed:
    print("skipped: there is no PoCL")
    sys.exit(77)

units = next(d["compute_units"] for d in json.loads(listed) if d["platform"] == "Portable Computing Language")
DEVICES = ["pocl", "pocl/1.0", "pocl/1.1"] if units > 1 else ["pocl"] * 3

with tempfile.TemporaryDirectory() as folder:
    note = os.path.join(folder, "note")
    caches = {name: os.path.join(folder, name.lower()) for name in ("POCL_CACHE_DIR", "ABUT_CACHE_DIR", "XDG_RUNTIME_DIR")}
    for path in caches.values():
        os.mkdir(path, 0o700)
    words = ["closest", "assets/figure.body.json", "assets/part.body.json", "--poses", "assets/poses.npz", "-q"]
    processes = [subprocess.Popen([abut, *words, "--device", device, "-o", os.path.join(folder, f"{i}.npz")], cwd=root, stdin=subprocess.DEVNULL,
                                  env={**os.environ, **caches, "LD_PRELOAD": kept, "ABUT_TEST_KEPT": note})
                 for i, device in enumerate(DEVICES)]
    status = [process.wait(timeout=500) for process in processes]
    names = [line for line in pathlib.Path(note).read_text().splitlines() if line.endswith((".so", ".bc"))]
    answers = {pathlib.Path(folder, f"{i}.npz").read_bytes() for i in range(len(DEVICES))}
    twice = sorted({name for name in names if names.count(name) > 1})
print(f"{len(DEVICES)} processes kept {len(names)} programs and kernels, {len(twice)} of them more than once")
for text, good in (("a process failed", not any(status)), ("answers differ", len(answers) == 1), ("nothing was kept", names),
                   (f"compiled more than once: {twice}", not twice)):
    if not good:
        print("FAILED:", text)
        sys.exit(1)
