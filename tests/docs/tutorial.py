#!/usr/bin/env python3
"""Does what docs/tutorial says, as a reader would: tutorial.py ROOT BIN [PYTHON PACKAGE].

Files that a page shows are written, its commands run, its programs too. What a program prints is what the page says, to 2 %. Without a Python
that has NumPy, and the package, the programs that need them are left out, and said so."""
import os
import pathlib
import re
import subprocess
import sys
import tempfile

root, folder = (pathlib.Path(x).resolve() for x in sys.argv[1:3])
python, package = (sys.argv[3], sys.argv[4]) if len(sys.argv) > 4 else ("", "")
if python and subprocess.run([python, "-c", "import numpy"], capture_output=True).returncode:
    python = ""
pages = sorted((root / "docs/tutorial").glob("[0-9]*.md"))
passed, failed = 0, 0


def check(holds, text):
    global passed, failed
    passed, failed = passed + holds, failed + (not holds)
    if not holds:
        print(f"FAILED: {text}")


def numbers(text):
    return [float(x) for x in re.findall(r"[-+]?\d+\.?\d*(?:e[-+]?\d+)?", text)]


def is_like(got, said):
    """Whether two texts have the same numbers, to 2 % or half of the last digit that is printed."""
    got, said = numbers(got), numbers(said)
    return len(got) == len(said) > 0 and all(abs(a - b) <= 0.02 * max(abs(b), 0.1) for a, b in zip(got, said))


def run(command, env, at):
    return subprocess.run(command, cwd=at, env=env, capture_output=True, text=True, timeout=600)


with tempfile.TemporaryDirectory() as made:
    at = pathlib.Path(made)
    (at / "assets").symlink_to(root / "assets")
    env = {**os.environ, "PATH": f"{folder}{os.pathsep}{os.environ['PATH']}"}
    if package:
        env["PYTHONPATH"] = package
    check(len(pages) == 3, f"{len(pages)} pages are not three")
    for page in pages:
        text = page.read_text()
        blocks = re.findall(r"(?:`([\w.]+)`:\n\n)?```(\w*)\n(.*?)```", text, re.S)
        for i, (name, kind, body) in enumerate(blocks):
            if name:
                (at / name).write_text(body)
            if kind == "sh" and "export PATH" not in body:
                got = run(["sh", "-e", "-c", body], env, at)
                check(got.returncode == 0 and "warning" not in got.stderr, f"{page.name}: {body}{got.stderr}")
            if kind == "python" and python:
                got = run([python, at / name], env, at)
                check(got.returncode == 0, f"{page.name}: {name}: {got.stderr}")
                check(is_like(got.stdout, blocks[i + 1][2]), f"{page.name}: {name} prints\n{got.stdout}and the page says\n{blocks[i + 1][2]}")
if not python:
    print("programs in Python: left out, as there is no NumPy")
print(f"{passed} passed, {failed} failed")
sys.exit(1 if failed else 0)
