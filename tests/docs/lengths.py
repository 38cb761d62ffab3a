#!/usr/bin/env python3
"""Whether the pages that users read stay short: lengths.py ROOT

The README has at most 110 lines, and at most 120 words before its first command. Pages under docs/, except those
for maintainers and of measurements, have at most 250 lines. Sentences have at most 16 words in the mean on the
README and the tutorial, and at most 19 on any other of these pages. Tables, lists of one word and code have none.
"""
import pathlib
import re
import sys

FENCE = re.compile(r"^ *```.*?^ *```", re.M | re.S)
GENERATED = "functions.md"


def sentences(text):
    """The numbers of words of the sentences of a page's prose."""
    prose = re.sub(r"<!--.*?-->", "", FENCE.sub("", text), flags=re.S)
    blocks = re.split(r"\n\s*\n|\n(?=\s*(?:[-*]|\d+\.) )", prose)
    found = []
    for block in blocks:
        if re.match(r"\s*(\||#|!\[|<)", block):
            continue
        plain = re.sub(r"\]\([^)]*\)", "]", re.sub(r"^(?:[-*]|\d+\.) ", "", " ".join(block.split())))
        found += [len(s.split()) for s in re.split(r"(?<=[.!?:])[\"')*`\]]*\s+(?=[A-Z\[`*(])", plain)]
    return [n for n in found if n > 2]


def check(root):
    """Texts of what is too long."""
    wrong, readme = [], (root / "README.md").read_text()
    if readme.count("\n") > 110:
        wrong.append(f"README.md has {readme.count(chr(10))} lines, more than 110")
    before = len(re.sub(r"!?\[[^\]]*\]\([^)]*\)", "", readme.split("```")[0]).split())
    if before > 120:
        wrong.append(f"README.md has {before} words before its first command, more than 120")
    docs = root / "docs"
    pages = [p for p in sorted(docs.rglob("*.md"))
             if p.relative_to(docs).parts[0] not in ("dev", "benchmarks", "site", "notebooks") and p.name != GENERATED]
    for page in [root / "README.md", *pages]:
        text, name = page.read_text(), page.relative_to(root)
        if text.count("\n") > 250:
            wrong.append(f"{name} has {text.count(chr(10))} lines, more than 250")
        most = 16 if name.parts[:2] in (("README.md",), ("docs", "tutorial")) else 19
        words = sentences(text)
        mean = sum(words) / max(len(words), 1)
        if mean > most:
            wrong.append(f"{name} has {mean:.1f} words per sentence in the mean, more than {most}")
    return wrong, len(pages) + 1


if __name__ == "__main__":
    faults, count = check(pathlib.Path(sys.argv[1]))
    for fault in faults:
        print(f"FAILED: {fault}")
    print(f"{count - len(faults)} passed, {len(faults)} failed")
    sys.exit(bool(faults))
