#!/usr/bin/env python3
"""The README against the tree: readme.py ROOT. Its C example is examples/first.c, and what it links exists."""
import pathlib
import re
import sys

root = pathlib.Path(sys.argv[1])
text = (root / "README.md").read_text()
checks = {"examples/first.c stands in the README": (root / "examples/first.c").read_text() in text}
for target in re.findall(r"\]\(([^)#:]+)\)", text):
    checks[f"{target} exists"] = (root / target).exists()
for name in re.findall(r"`((?:src|cl|include|tests|tools|bench|docs|examples|assets)/[\w./-]+)`", text):
    checks[f"{name} exists"] = (root / name).exists()
failed = [name for name, holds in checks.items() if not holds]
for name in failed:
    print(f"FAILED: {name}")
print(f"{len(checks) - len(failed)} passed, {len(failed)} failed")
sys.exit(1 if failed else 0)
