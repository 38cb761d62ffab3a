#!/usr/bin/env python3
"""Which folder of src includes which, against the table of docs/dev/architecture.md: layers.py ROOT

The table is the first block of code under the heading "Layers": a line for each folder, with the folders
whose files its own may include. Blank lines part layers, the highest first, and what a folder may include
lies in layers below its own, so that folders cannot lead in a circle. A subfolder such as world/law counts
as part of its folder unless the table has a line for it. Wrong are an include that the table does not
have, and whatever the table has that no file needs any longer.
"""
import collections
import pathlib
import re
import sys

TABLE = "docs/dev/architecture.md"
BLOCK = re.compile(r"^## Layers\n(?:(?!^#|^```).*\n)*^```.*\n((?:(?!^```).*\n)*)^```", re.M)
INCLUDE = re.compile(r"\s*#\s*include\s+([\"<])([^\">]+)[\">]")
SUFFIXES = (".c", ".h", ".inl")
ELSEWHERE = ("cl/geometry",)  # what the table has beside folders of src


class Row(collections.namedtuple("Row", "place layer may")):
    """Where a folder's line is, its layer, counted from the highest, and what it may include."""


def table_of(text):
    """The rows by their folders, and lines that say what is wrong with the table itself."""
    block = BLOCK.search(text)
    if not block:
        return {}, [f"{TABLE}: no block of code under the heading \"Layers\""]
    rows, layer, faults = {}, 0, []
    first = text.count("\n", 0, block.start(1)) + 1
    for number, line in enumerate(block.group(1).splitlines(), first):
        folder, *may = line.split() or [None]
        layer += not folder
        if folder:
            rows[folder] = Row(f"{TABLE}:{number}", layer, may)
    for folder, row in rows.items():
        for other in row.may:
            if other not in rows:
                faults.append(f"{row.place}: {folder} -> {other}: there is no line for {other}")
            elif rows[other].layer <= row.layer:
                faults.append(f"{row.place}: {folder} -> {other}: {other} is in no layer below {folder}")
    return rows, faults


def folder_of(path, rows):
    """The folder of the table that a path in src is part of, or None."""
    return next((str(p) for p in pathlib.PurePosixPath(path).parents if str(p) in rows), None)


def target_of(path, quote, name, known):
    """The file that an include of src/`path` leads to, as a path in src or of ELSEWHERE; None where it is
    not the tree's own, or is made in the build folder."""
    here = pathlib.PurePosixPath(path)
    for folder in here.parents if quote == '"' else (pathlib.PurePosixPath(""),):
        if str(folder / name) in known:
            return str(folder / name)
    aside = f"cl/{name}"
    return aside if aside.startswith(tuple(f"{e}/" for e in ELSEWHERE)) else name if "/" in name else None


def includes_of(source, files):
    """(path, line, what is included as it stands there, the path that it leads to)"""
    for path in files:
        lines = (source / path).read_text(encoding="utf-8").splitlines()
        for number, line in enumerate(lines, 1):
            match = INCLUDE.match(line)
            target = match and target_of(path, *match.groups(), files)
            if target:
                yield path, number, match.group(2), target


def faults_of(root):
    """Lines that say what is wrong, and how much was looked at."""
    root = pathlib.Path(root)
    source = root / "src"
    rows, faults = table_of((root / TABLE).read_text(encoding="utf-8"))
    files = dict.fromkeys(sorted(p.relative_to(source).as_posix() for p in source.rglob("*")
                                 if p.suffix in SUFFIXES))
    known = {path: folder_of(path, rows) for path in files}
    faults += [f"src/{folder}: {TABLE} has no layer for it"
               for folder in dict.fromkeys(path.split("/")[0] for path in files if not known[path])]
    faults += [f"{row.place}: {folder}: there is no such folder" for folder, row in rows.items()
               if folder not in known.values() and folder not in ELSEWHERE]
    used, looked = set(), len(files)
    for path, number, name, target in includes_of(source, files):
        own, other = known[path], folder_of(target, rows)
        if None in (own, other) or own == other:
            continue
        looked += 1
        used.add((own, other))
        if other not in rows[own].may:
            faults.append(f"src/{path}:{number}: {own} -> {other}: includes {name}, which the layers of "
                          f"{TABLE} do not allow")
    for own, row in rows.items():
        for other in row.may:
            looked += 1
            if (own, other) not in used:
                faults.append(f"{row.place}: {own} -> {other}: is allowed, but no file of {own} needs it any "
                              "longer")
    return faults, looked


if __name__ == "__main__":
    wrong, total = faults_of(sys.argv[1])
    for fault in wrong:
        print(f"FAILED: {fault}")
    print(f"{total - len(wrong)} passed, {len(wrong)} failed")
    sys.exit(1 if wrong else 0)
