#!/usr/bin/env python3
"""Runs an example of Python's, which asserts what it shows: run_example.py FILE [OPTION...].
Exit status 77 without NumPy."""
import importlib.util
import runpy
import sys

if importlib.util.find_spec("numpy") is None:
    print("Python's numpy is not there")
    sys.exit(77)
del sys.argv[0]
runpy.run_path(sys.argv[0], run_name="__main__")
print("1 passed, 0 failed")
