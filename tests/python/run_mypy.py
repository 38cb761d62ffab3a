#!/usr/bin/env python3
"""The package under `mypy --strict`: run_mypy.py ROOT. Exit status 77 without mypy."""
import importlib.util
import subprocess
import sys
import tempfile

if importlib.util.find_spec("mypy") is None:
    print("Python's mypy is not there")
    sys.exit(77)
with tempfile.TemporaryDirectory() as cache:
    status = subprocess.run([sys.executable, "-m", "mypy", "--strict", "--cache-dir", cache, "--config-file",
                             f"{sys.argv[1]}/pyproject.toml", "-p", "abut"],
                            cwd=f"{sys.argv[1]}/python").returncode
print("0 passed, 1 failed" if status else "1 passed, 0 failed")
sys.exit(status)
