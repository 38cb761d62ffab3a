#!/usr/bin/env python3
"""On NFS each range is locked while it is written, and the folder is looked at again once its lock is had: nfs.py ABUT NFS

NFS is nfs.c, which says that files lie there, and notes what is done with them.
"""
import os
import pathlib
import subprocess
import sys
import tempfile

abut, shim = map(os.path.abspath, sys.argv[1:])
os.chdir(pathlib.Path(__file__).resolve().parent.parent.parent)
WORDS = ["gradient", "assets/box.body.json", "assets/box.body.json", "--poses", "assets/poses.npz", "--reduce", "energy", "--device", "host",
         "--block", "16", "-q"]
NFS, EXT4 = "0x6969", "0xef53"
failed = 0


def check(good, text):
    global failed
    if not good:
        print("FAILED:", text)
        failed += 1


def run(folder, *words, kind=None, **more):
    preload = {"LD_PRELOAD": shim, "ABUT_TEST_FSTYPE": kind, "ABUT_TEST_NOTE": f"{folder}.note"} if kind else {}
    told = subprocess.run([abut, *WORDS, "-o", f"{folder}/", *words], capture_output=True, text=True, timeout=100, check=False,
                          env={**os.environ, "OCL_ICD_VENDORS": "/nonexistent", **preload, **more})
    note = pathlib.Path(f"{folder}.note")
    return told, [line.split() for line in note.read_text().splitlines()] if note.exists() else []


def content(folder):
    return {p.name: p.read_bytes() for p in pathlib.Path(folder).glob("*.npy")}


with tempfile.TemporaryDirectory() as scratch:
    check(run(f"{scratch}/alone")[0].returncode == 0, "without a note")
    good = content(f"{scratch}/alone")
    for part in ("1/2", "0/2"):
        told, note = run(f"{scratch}/nfs", "--shard", part, kind=NFS)
        check(told.returncode == 0, told)
        begun = [i for i, line in enumerate(note) if line[:2] == ["LOCK", "abut.lock"]]
        check(len(begun) == 1 and note[begun[0] + 1][:2] == ["OPEN", "nfs"], f"part {part} does not look again at the folder: {note}")
        # Rows are written once the arrays are open, which is behind the folder's lock; its maker writes their headers alone.
        rows = [line for line in note if line[0] in ("LOCK", "UNLOCK", "WRITE") and line[1].endswith(".npy") and line[2] != "0"]
        threes = [rows[i : i + 3] for i in range(0, len(rows), 3)]
        check(threes and all([line[0] for line in three] == ["LOCK", "WRITE", "UNLOCK"] and len({tuple(line[1:]) for line in three}) == 1
                             for three in threes), f"part {part} writes without a lock of the range: {rows}")
        os.unlink(f"{scratch}/nfs.note")
    check(subprocess.run([abut, "merge", f"{scratch}/nfs", "-q"], check=False).returncode == 0 and content(f"{scratch}/nfs") == good != {},
          "parts on NFS differ")
    told, note = run(f"{scratch}/ext4", kind=EXT4)
    locked = [line for line in note if line[0] == "LOCK" and line[1].endswith(".npy")]
    check(told.returncode == 0 and content(f"{scratch}/ext4") == good and note and not locked, f"{told}: {locked}")
    told, note = run(f"{scratch}/fails", kind=NFS, ABUT_TEST_LOCK_FAILS="1")
    check(told.returncode == 2 and told.stderr.count("\n") == 1 and ".npy: No locks available" in told.stderr, told)
    check(run(f"{scratch}/fails", "--resume")[0].returncode == 0 and content(f"{scratch}/fails") == good, "goes on otherwise")
print(f"{failed} failed")
sys.exit(failed != 0)
