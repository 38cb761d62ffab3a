#!/usr/bin/env python3
"""Lists the functions of C and the names of Python from the sources: tools/list_functions.py [--check]

Writes docs/functions.md: the functions of C by header and the names of Python by module, each with the first sentence of its
comment or docstring. --check writes nothing and exits with 1 if the page differs from the sources.
"""
import ast
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "functions.md"
MODULES = {"abut": "__init__", "abut.pose": "pose", "abut.torch": "torch", "abut.jax": "jax", "abut.mpi": "mpi", "abut.mujoco": "mujoco", "abut.opencl": "opencl"}
# The comment directly before a function belongs to it.
FUNCTION = re.compile(r"(?:/\*(?P<comment>(?:(?!\*/).)*)\*/\s*)?^(?P<head>ABUT_API\b[^;{]*?)\b(?P<name>abut_\w+)\s*\(\s*(?P<type>\w+)", re.S | re.M)

HEAD = """# Functions of C and names of Python

This page lists every public function and class, with one sentence each. `tools/list_functions.py` makes it from the sources. Shapes, units and errors are
in the header of each function, and in the docstrings that Python's `help()` shows.
"""


def sentence(text):
    """The first sentence of a comment's first paragraph, on one line and escaped for a table."""
    lines = [line.strip().lstrip("*").strip() for line in text.strip().splitlines()]
    lines = lines[: lines.index("")] if "" in lines else lines
    text = " ".join(lines)
    found = re.match(r"(.*?(?<!\.)(?<! al)\.)(\s+[A-Za-z`]|\s*$)", text)
    return (found.group(1) if found else text).rstrip(":").replace("|", "\\|")


def functions_of(header):
    """(name, sentence) of a header's functions. The first function of several that share a comment has the sentence."""
    out, first = [], ""
    for found in FUNCTION.finditer(header.read_text(encoding="utf-8")):
        name, said = found["name"], sentence(found["comment"]) if found["comment"] else ""
        if not said and name.startswith("abut_default_"):
            said = f"Returns an `{name.replace('default_', '')}` with default values."
        elif not said and re.match("abut_(destroy|free)_", name):
            said = f"{'Destroys' if 'destroy' in name else 'Frees the memory of'} an `{found['type']}`."
        if found["comment"]:
            first = name
        out.append((name, said or f"Belongs to `{first}`, whose comment describes both."))
    return out


def said_of(path, name):
    """Returns the docstring of a name of a module, from the file of the package that defines it. For a constant, its trailing comment."""
    text = path.read_text(encoding="utf-8")
    for node in ast.parse(text).body:
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)) and node.name == name:
            return ast.get_docstring(node)
        if isinstance(node, ast.Assign) and getattr(node.targets[0], "id", "") == name:
            return text.splitlines()[node.lineno - 1].partition("#")[2].strip()
        if isinstance(node, ast.ImportFrom) and node.module and node.module.split(".")[0] == "abut":
            for alias in node.names:
                if (alias.asname or alias.name) == name:
                    of = node.module.split(".")[1:] or [alias.name]
                    there = path.parent / f"{of[0]}.py"
                    return said_of(there, alias.name) if node.module != "abut" else ast.get_docstring(ast.parse(there.read_text(encoding="utf-8")))
    return None


def names_of(path):
    """The names that a module exports, with the first sentence of each docstring."""
    exported = next(ast.literal_eval(node.value) for node in ast.parse(path.read_text(encoding="utf-8")).body
                    if isinstance(node, ast.Assign) and getattr(node.targets[0], "id", "") == "__all__")
    out = []
    for name in sorted(exported, key=lambda n: (n.lower(), n)):
        text = said_of(path, name)
        out.append((name, sentence(text.split("\n\n")[0]) if text else ""))
    return out


def page():
    lines = [HEAD, "## C\n"]
    for header in sorted((ROOT / "include" / "abut").glob("*.h")):
        rows = functions_of(header)
        if rows:
            lines += [f"### {header.name}\n", "| function | |", "|---|---|"]
            lines += [f"| `{name}` | {text} |" for name, text in rows] + [""]
    lines += ["## Python\n"]
    for module, file in MODULES.items():
        lines += [f"### {module}\n", "| name | |", "|---|---|"]
        lines += [f"| `{name}` | {text} |" for name, text in names_of(ROOT / "python" / "abut" / f"{file}.py")] + [""]
    return "\n".join(lines)


def main():
    text = page()
    silent = [line for line in text.splitlines() if re.match(r"\| `\w+` \|\s*\|$", line)]
    if silent:
        print("0 passed, 1 failed: no description of", *silent)
        return 1
    if "--check" in sys.argv[1:]:
        same = PAGE.exists() and PAGE.read_text(encoding="utf-8") == text
        print(f"{int(same)} passed, {int(not same)} failed" + ("" if same else ": run tools/list_functions.py"))
        return int(not same)
    PAGE.write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
