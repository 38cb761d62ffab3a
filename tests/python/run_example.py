#!/usr/bin/env python3
"""Runs an example of Python's, which asserts what it shows: run_example.py FILE [OPTION...].
Exit status 77 without NumPy, or without MuJoCo where the example imports it."""
import importlib.util
import pathlib
import runpy
import sys

source = pathlib.Path(sys.argv[1]).read_text()
for module in ("numpy", "mujoco"):
    if f"import {module}" in source and importlib.util.find_spec(module) is None:
        print(f"Python's {module} is not there")
        sys.exit(77)
del sys.argv[0]
sys.path.insert(0, str(pathlib.Path(sys.argv[0]).parent))  # as where Python runs it
runpy.run_path(sys.argv[0], run_name="__main__")
print("1 passed, 0 failed")
