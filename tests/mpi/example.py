#!/usr/bin/env python3
"""examples/mpi.c by 1, 2 and 3 ranks: the same file to the byte: example.py ROOT PROGRAM MPIRUN [WORD...]"""
import array
import os
import subprocess
import sys
import tempfile

COUNT = 300
root, program, *mpirun = sys.argv[1:]
program = os.path.abspath(program)
passed = failed = 0


def check(good, text):
    global passed, failed
    passed += bool(good)
    failed += not good
    if not good:
        print("FAILED:", text)


def run(ranks, path):
    return subprocess.run([*mpirun, "-n", str(ranks), program, path, str(COUNT)], cwd=root, capture_output=True, text=True,
                          stdin=subprocess.DEVNULL, timeout=120, env={**os.environ, "OCL_ICD_VENDORS": "/nonexistent"})


with tempfile.TemporaryDirectory() as folder:
    files = []
    for ranks in (1, 2, 3):
        path = os.path.join(folder, f"by-{ranks}")
        done = run(ranks, path)
        check(done.returncode == 0, f"{ranks} ranks: {done.stderr}")
        with open(path, "rb") as file:
            files.append(file.read())
    if failed:
        sys.exit(1)
    distances = array.array("f", files[0])
    check(len(distances) == COUNT and distances[0] < 0 < distances[-1], f"{len(distances)} distances, from {distances[0]} to {distances[-1]}")
    check(files[1] == files[0] and files[2] == files[0], "the number of ranks changes the file")
    done = run(2, os.path.join(folder, "no folder", "file"))
    said = [line for line in done.stderr.splitlines() if "cannot be written" in line]
    check(done.returncode == 1 and len(said) == 1 and said[0].startswith("rank "), done.stderr)
print(f"{passed} passed, {failed} failed")
sys.exit(failed > 0)
