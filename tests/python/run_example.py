#!/usr/bin/env python3
"""Runs an example of Python's, which asserts what it shows: run_example.py FILE [OPTION...].
Exit status 77 without NumPy."""
import importlib.util
import pathlib
import runpy
import sys

if importlib.util.find_spec("numpy") is None:
    print("Python's numpy is not there")
    sys.exit(77)
del sys.argv[0]
sys.path.insert(0, str(pathlib.Path(sys.argv[0]).parent))  # as where Python runs it
runpy.run_path(sys.argv[0], run_name="__main__")
print("1 passed, 0 failed")
