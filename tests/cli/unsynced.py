#!/usr/bin/env python3
"""A disk that fails behind a folder of results is told, and nothing that it lost counts as done: unsynced.py ABUT UNSYNCED

UNSYNCED is unsynced.c, which lets calls fail that wait for the disk.
"""
import os
import pathlib
import subprocess
import sys
import tempfile

abut, unsynced = map(os.path.abspath, sys.argv[1:])
os.chdir(pathlib.Path(__file__).resolve().parent.parent.parent)
BLOCK = 16
WORDS = ["gradient", "assets/box.body.json", "assets/box.body.json", "--poses", "assets/poses.npz", "--reduce", "energy", "--device", "host", "-q"]
failed = 0


def check(good, text):
    global failed
    if not good:
        print("FAILED:", text)
        failed += 1


def run(folder, *words, **fails):
    preload = {"LD_PRELOAD": unsynced} if fails else {}
    return subprocess.run([abut, *WORDS, "-o", f"{folder}/", *words], capture_output=True, text=True, timeout=100, env={**os.environ, **preload, **fails})


def content(folder):
    return {p.name: p.read_bytes() for p in pathlib.Path(folder).glob("*.npy")}


with tempfile.TemporaryDirectory() as scratch:
    check(run(f"{scratch}/good").returncode == 0, "without a failure")
    good = content(f"{scratch}/good")
    # The first block's data, told by the next block, or by the end where there is none; its line in the journal, behind the two
    # by which that begins; and the data of a later block.
    for name, block, done, ending, fails in (("next", BLOCK, 0, ".npy", {"ABUT_TEST_DATA_FAILS": "1"}), ("end", 10**6, 0, ".npy", {"ABUT_TEST_DATA_FAILS": "1"}),
                                             ("line", BLOCK, 0, ".journal", {"ABUT_TEST_JOURNAL_FAILS": "3"}),
                                             ("later", BLOCK, 1, ".npy", {"ABUT_TEST_DATA_FAILS": str(len(good) + 1)})):
        folder = f"{scratch}/{name}"
        told = run(folder, "--block", str(block), **fails)
        lines = pathlib.Path(folder, "part-00000-of-00001.journal").read_text().splitlines()
        check(told.returncode == 2 and f"{ending}: Input/output error" in told.stderr and told.stderr.count("\n") == 1, f"{name}: {told}")
        check(sum(line.startswith("done ") for line in lines) == done, f"{name}: {lines}")
        check(run(folder, "--resume").returncode == 0 and content(folder) == good != {}, f"{name} goes on otherwise")
print(f"{failed} failed")
sys.exit(failed != 0)
