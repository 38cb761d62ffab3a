#!/usr/bin/env python3
"""The package under `mypy --strict`, and its stub against the module: run_mypy.py ROOT CACHE. CACHE is a folder that
mypy keeps, so that a later run is quick. Exit status 77 without mypy."""
import importlib.util
import subprocess
import sys
import tempfile

if importlib.util.find_spec("mypy") is None:
    print("Python's mypy is not there")
    sys.exit(77)
with tempfile.TemporaryDirectory() as elsewhere:
    settings = ["--config-file", f"{sys.argv[1]}/pyproject.toml"]
    strict = ["-m", "mypy", "--strict", "--cache-dir", sys.argv[2], *settings, "-p", "abut"]
    failed = sum(subprocess.run([sys.executable, *command], cwd=folder).returncode != 0
                 for command, folder in ((strict, f"{sys.argv[1]}/python"),
                                         (["-m", "mypy.stubtest", "abut._abut"], elsewhere)))
print(f"{2 - failed} passed, {failed} failed")
sys.exit(failed != 0)
