#!/usr/bin/env python3
"""What there is to call, from the sources: tools/list_functions.py [--check]

Writes docs/functions.md: the functions of C by header and the names of Python by module, each with the first sentence of its
comment or docstring. --check writes nothing and ends with 1 where the page is not what the sources say.
"""
import ast
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "functions.md"
MODULES = {"abut": "__init__", "abut.pose": "pose", "abut.torch": "torch", "abut.jax": "jax", "abut.mujoco": "mujoco", "abut.opencl": "opencl"}
# A comment that stands right before a function is its own.
FUNCTION = re.compile(r"(?:/\*(?P<comment>(?:(?!\*/).)*)\*/\s*)?^(?P<head>ABUT_API\b[^;{]*?)\b(?P<name>abut_\w+)\s*\(", re.S | re.M)

HEAD = """# What there is to call

Made from the sources by `tools/list_functions.py`. Each header, docstring and `help()` has the shapes, units and errors.
"""


def sentence(text):
    """The first sentence of a comment's first paragraph, on one line and fit for a table."""
    lines = [line.strip().lstrip("*").strip() for line in text.strip().splitlines()]
    lines = lines[: lines.index("")] if "" in lines else lines
    text = " ".join(lines)
    found = re.match(r"(.*?\.)(\s+[A-Z`]|\s*$)", text)
    return (found.group(1) if found else text).rstrip(":").replace("|", "\\|")


def functions_of(header):
    """(name, sentence) of a header's functions; of those that share a comment the first has it."""
    out = []
    for found in FUNCTION.finditer(header.read_text(encoding="utf-8")):
        name, said = found["name"], sentence(found["comment"]) if found["comment"] else ""
        if not said and name.startswith("abut_default_"):
            said = f"What an `{name.replace('default_', '')}` begins as: defaults, and nothing asked for."
        elif not said and re.match("abut_(destroy|free)_", name):
            said = "Frees it."
        out.append((name, said))
    return out


def names_of(path):
    """What a module exports, with the first sentence of each docstring."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    exported, home, own = [], {}, {}
    for node in tree.body:
        if isinstance(node, ast.Assign) and getattr(node.targets[0], "id", "") == "__all__":
            exported = ast.literal_eval(node.value)
        elif isinstance(node, ast.ImportFrom) and node.module and node.module.startswith("abut._"):
            home.update({a.name: node.module.split(".")[1] for a in node.names})
        elif isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            own[node.name] = node
    out = []
    for name in sorted(exported, key=lambda n: (n.lower(), n)):
        node = own.get(name)
        if not node and name in home:
            there = ast.parse((path.parent / f"{home[name]}.py").read_text(encoding="utf-8"))
            node = next((n for n in there.body if getattr(n, "name", "") == name), None)
        text = node and ast.get_docstring(node)
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
    if "--check" in sys.argv[1:]:
        same = PAGE.exists() and PAGE.read_text(encoding="utf-8") == text
        print(f"{int(same)} passed, {int(not same)} failed" + ("" if same else ": run tools/list_functions.py"))
        return int(not same)
    PAGE.write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
