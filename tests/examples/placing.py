#!/usr/bin/env python3
"""Runs the commands of docs/poses.md around an example that places a body: placing.py ROOT BUILD NAME

They run as they stand there, in a folder that links to the tree. Exits with 77 (skipped) for
`placing.py absent`, which stands in where an example cannot be built.
"""
import pathlib
import re
import subprocess
import sys
import tempfile

results = []


def check(name, holds):
    results.append(bool(holds))
    if not holds:
        print(f"FAILED: {name}")


def link(root, build, folder):
    for name, target in (("assets", root / "assets"), ("build", build)):
        (folder / name).symlink_to(target)


def run_commands(root, folder, program):
    """The shell lines that name the program, and what they print."""
    text = (root / "docs/poses.md").read_text()
    blocks = [block for block in re.findall(r"```sh\n(.*?)```", text, re.S) if program in block]
    check("docs/poses.md has the example's commands", len(blocks) == 1)
    done = subprocess.run(["sh", "-e"], input="".join(blocks), text=True, cwd=folder,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    print(done.stdout)
    check(f"the commands run: {done.stderr}", done.returncode == 0)
    runs = blocks[0].count(program)
    check("says each time that B is placed", done.stdout.count("\nplaced: ") == runs > 1)
    pictures = re.findall(r"-o (\S+\.png)", blocks[0])
    check("draws the ends", pictures and all((folder / name).read_bytes()[:4] == b"\x89PNG"
                                             for name in pictures))


def check_refusals(folder, program):
    body = "assets/box.body.json"
    for arguments, code in (([], 2), ([body, "absent.json", "out"], 1),
                            ([body, body, "absent/out"], 1)):
        done = subprocess.run([program, *arguments], cwd=folder, capture_output=True, text=True)
        check(f"{arguments} gives {code} and a word", done.returncode == code and done.stderr.strip())


def main():
    if sys.argv[1] == "absent":
        return 77
    root, build = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2]).resolve()
    program = f"build/tests/examples/{sys.argv[3]}"
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        link(root, build, folder)
        run_commands(root, folder, program)
        check_refusals(folder, program)
    print(f"{sum(results)} passed, {len(results) - sum(results)} failed")
    return 0 if all(results) else 1


if __name__ == "__main__":
    sys.exit(main())
