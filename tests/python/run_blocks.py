#!/usr/bin/env python3
"""Runs what the documents show in Python: run_blocks.py ROOT PAGE...

The ```python blocks of a page run one after the other in one namespace, in a folder of their own with
assets/ in it. Left out are those after a comment <!-- not run: why -->, and, by name, those that
import a framework that is missing, with what follows from them. A page that is not there is skipped.
The last line is "N passed, N failed".
"""
import importlib.util
import os
import pathlib
import re
import shutil
import sys
import tempfile
import traceback

FRAMEWORKS = ("jax", "torch", "pyopencl", "mujoco", "scipy")
BLOCK = re.compile(r"(<!-- not run: [^>]*-->\s*)?^```python\n(.*?)^```", re.M | re.S)
IMPORTS = re.compile(r"^\s*(?:import|from)\s+(.*)", re.M)


def missing(text, namespace):
    """The framework that a block wants and that is missing, or None."""
    named = " ".join(IMPORTS.findall(text)).replace("abut.opencl", "pyopencl")
    for framework in FRAMEWORKS:
        if re.search(rf"\b{framework}\b", named) and not importlib.util.find_spec(framework):
            return framework
    # What an earlier block, left out, would have given, and this one does not give itself.
    own = given(text)
    for name, framework in namespace["__left_out__"].items():
        if name not in own and re.search(rf"\b{re.escape(name)}\b", text):
            return framework
    return None


def given(text):
    """The names that a block gives to those after it."""
    names = set(re.findall(r"^(?:def|class)\s+(\w+)", text, re.M))
    for target in re.findall(r"^([\w, ]+?)\s*=[^=]", text, re.M):
        names.update(re.findall(r"\w+", target))
    for line in re.findall(r"^import\s+(.*)", text, re.M):
        for part in line.split("#")[0].split(","):
            words = part.split()
            names.add(words[-1].split(".")[0] if "as" not in words else words[-1])
    for line in re.findall(r"^from\s+\S+\s+import\s+(.*)", text, re.M):
        names.update(part.split()[-1] for part in line.split("#")[0].strip("()").split(",") if part.split())
    return names - {"abut", "numpy", "np"}


def run_page(root, page, work):
    """(passed, failed, left out) of one page."""
    text = (root / page).read_text(encoding="utf-8")
    passed = failed = left = 0
    namespace = {"__name__": "__main__", "__left_out__": {}}
    shutil.copytree(root / "assets", work / "assets")
    os.chdir(work)
    for match in BLOCK.finditer(text):
        comment, block = match.groups()
        line = text.count("\n", 0, match.start(2)) + 1
        absent = None if comment else missing(block, namespace)
        if comment or absent:
            left += 1
            print(f"{page}:{line}: left out: {absent + ' is missing' if absent else comment.strip()}")
            if absent:
                namespace["__left_out__"].update(
                    {name: absent for name in given(block) - namespace.keys()})
            continue
        try:
            # Empty lines before it, so that a traceback has the page's line.
            exec(compile("\n" * (line - 1) + block, page, "exec"), namespace)
            passed += 1
            for name in given(block):
                namespace["__left_out__"].pop(name, None)
        except BaseException:
            failed += 1
            print(f"FAILED: {page}:{line}\n{traceback.format_exc()}", flush=True)
    return passed, failed, left


def main():
    root = pathlib.Path(sys.argv[1]).resolve()
    passed = failed = left = 0
    for page in sys.argv[2:]:
        if not (root / page).exists():
            print(f"{page} is not there")
            continue
        with tempfile.TemporaryDirectory() as folder:
            counts = run_page(root, page, pathlib.Path(folder))
            os.chdir("/")
        passed, failed, left = (a + b for a, b in zip((passed, failed, left), counts))
    if not passed and not failed:
        print("Python in the documents: no block to run")
        sys.exit(77)
    print(f"{passed} passed, {failed} failed")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
