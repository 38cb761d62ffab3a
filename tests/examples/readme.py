#!/usr/bin/env python3
"""C in the documents against the tree: readme.py ROOT. docs/c.md has examples/first.c, whole."""
import pathlib
import re
import sys

root = pathlib.Path(sys.argv[1])
blocks = re.findall(r"```c\n(.*?)```", (root / "docs/c.md").read_text(), re.S)
found = (root / "examples/first.c").read_text() in blocks
print("1 passed, 0 failed" if found else "FAILED: examples/first.c is not in docs/c.md\n0 passed, 1 failed")
sys.exit(0 if found else 1)
