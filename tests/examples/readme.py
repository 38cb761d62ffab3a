#!/usr/bin/env python3
"""C in the documents against the tree: readme.py ROOT. docs/c.md has examples/first.c, whole, and what
README.md shows in C are lines of it, in its order."""
import pathlib
import re
import sys

root = pathlib.Path(sys.argv[1])
first = (root / "examples/first.c").read_text()
blocks = {page: re.findall(r"```c\n(.*?)```", (root / page).read_text(), re.S)
          for page in ("README.md", "docs/c.md")}
checks = {"examples/first.c stands in docs/c.md": first in blocks["docs/c.md"],
          "README.md shows some C": any(block.strip() for block in blocks["README.md"])}
for block in blocks["README.md"]:
    lines = iter(first.splitlines())
    for line in block.splitlines():
        checks[f"README.md's line of C is the next in examples/first.c: {line}"] = line in lines
failed = [name for name, holds in checks.items() if not holds]
for name in failed:
    print(f"FAILED: {name}")
print(f"{len(checks) - len(failed)} passed, {len(failed)} failed")
sys.exit(1 if failed else 0)
