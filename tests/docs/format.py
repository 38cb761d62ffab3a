#!/usr/bin/env python3
"""Checks that changed C and OpenCL C texts are as clang-format 14 makes them: format.py ROOT [FILE...]

Without files it takes those of the working tree, and of the last commits, that differ. Ends with status 77,
which Meson takes for a skipped test, where clang-format 14 or the history is not there.
"""
import pathlib
import re
import shutil
import subprocess
import sys

FOLDERS = ("src", "cl", "include", "tests", "python", "bench", "examples")
SUFFIXES = (".c", ".h", ".inl", ".cl")
COMMITS = 20
MADE = re.compile(r"\bMade by (the reference|\w+\.py|tools/)")  # by a program: its first lines say so


def output_of(root, *words):
    done = subprocess.run(words, cwd=root, capture_output=True, text=True)
    return done.stdout if done.returncode == 0 else None


def clang_format():
    for name in ("clang-format-14", "clang-format"):
        if shutil.which(name) and " 14." in subprocess.run([name, "--version"], capture_output=True, text=True).stdout:
            return name
    return None


def changed_files(root):
    count = output_of(root, "git", "rev-list", "--count", "--first-parent", "HEAD")
    if count is None:
        return None
    names = output_of(root, "git", "diff", "--name-only", "--relative", f"HEAD~{min(COMMITS, int(count) - 1)}")
    more = output_of(root, "git", "ls-files", "--others", "--exclude-standard")
    return None if names is None or more is None else (names + more).splitlines()


def is_ours(root, name):
    path = root / name
    if not name.startswith(tuple(f"{folder}/" for folder in FOLDERS)) or not name.endswith(SUFFIXES) or not path.is_file():
        return False
    with open(path, encoding="utf-8") as file:
        return not MADE.search("".join(file.readline() for _ in range(3)))


def main():
    root = pathlib.Path(sys.argv[1]).resolve()
    program = clang_format()
    names = sys.argv[2:] or changed_files(root)
    if program is None or names is None:
        print("clang-format 14 and git are needed: skipped")
        return 77
    names = sorted({name for name in names if is_ours(root, name)})
    if names:
        done = subprocess.run([program, "--dry-run", "--ferror-limit=1", *names], cwd=root, capture_output=True, text=True)
        faults = sorted({line.split(": warning:")[0] for line in done.stderr.splitlines() if ": warning:" in line})
    else:
        faults = []
    for fault in faults:
        print(f"{fault}: not as clang-format makes it: run `clang-format -i` on the file")
    print(f"{len(names) - len(faults)} passed, {len(faults)} failed")
    return bool(faults)


sys.exit(main())
