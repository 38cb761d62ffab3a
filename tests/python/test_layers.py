#!/usr/bin/env python3
"""Whether modules of python/abut import each other in a circle, by imports within functions and of types too."""
import ast
import pathlib
import unittest

PACKAGE = pathlib.Path(__file__).resolve().parents[2] / "python" / "abut"
# A Context gives bodies, and a Body has its context: a type checker reads both ways. No call needs this import.
TYPES_ONLY = ("_context", "_makers")


def imports_of(name, text, modules):
    """(line, module that it imports, whether for type checkers only) of each import of the package's own modules."""
    tree = ast.parse(text)
    types = {id(inner) for node in ast.walk(tree) if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test)
             for statement in node.body for inner in ast.walk(statement)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found = [alias.name.split(".") for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            path = (["abut"] if node.level else []) + (node.module.split(".") if node.module else [])
            found = [path + [alias.name] for alias in node.names]
        else:
            continue
        for path in found:
            if path[0] == "abut":
                yield node.lineno, path[1] if path[1:] and path[1] in modules else "__init__", id(node) in types


def circle_of(graph):
    """Modules of which each imports the next, and the last the first, from the least name on; none where there is no circle."""
    done = set()

    def visit(name, trail):
        if name in trail:
            return trail[trail.index(name):]
        if name in done:
            return []
        for other in sorted(graph[name]):
            found = visit(other, [*trail, name])
            if found:
                return found
        done.add(name)
        return []

    circle = next(filter(None, (visit(name, []) for name in sorted(graph))), [])
    first = circle.index(min(circle)) if circle else 0
    return circle[first:] + circle[:first]


def faults_of(texts, types_only=TYPES_ONLY):
    """Lines that say what is wrong with modules, by their names."""
    graph, places, used = {name: set() for name in texts}, {}, False
    for name, text in texts.items():
        for line, other, types in imports_of(name, text, texts):
            if types and (name, other) == types_only:
                used = True
                continue
            graph[name].add(other)
            places.setdefault((name, other), line)
    circle = circle_of(graph)
    faults = [f"python/abut/{name}.py:{places[name, other]}: {name} imports {other}, in a circle"
              for name, other in zip(circle, circle[1:] + circle[:1])]
    return faults if used else [*faults, f"{types_only[0]} does not import {types_only[1]} for types any longer: TYPES_ONLY"]


GOOD = {"__init__": "from abut import low\nfrom abut.high import f\nfrom abut._makers import g\n", "low": "import os\n",
        "high": "from abut.low import x\nfrom abut import low, _context\n", "_makers": "from abut import high\n",
        "_context": "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from abut import _makers\n"}


class Layers(unittest.TestCase):
    def check(self, changes, *faults):
        self.assertEqual(faults_of({**GOOD, **changes}), list(faults))

    def test_no_modules_import_each_other_in_a_circle(self):
        texts = {path.stem: path.read_text(encoding="utf-8") for path in PACKAGE.glob("*.py*")}
        self.assertGreater(len(texts), 10)
        self.assertEqual(faults_of(texts), [])

    def test_layers_have_no_faults(self):
        self.check({})

    def test_circles_are_found(self):
        back = "python/abut/high.py:1: high imports low, in a circle"
        for text, line in (("from abut import high\n", 1), ("import abut.high as h\n", 1), ("\nfrom .high import f\n", 2),
                           ("from . import high\n", 1), ("def f():\n    from abut.high import g\n", 2),
                           ("import typing\nif typing.TYPE_CHECKING:\n    from abut.high import g\n", 3)):
            with self.subTest(text):
                self.check({"low": text}, back, f"python/abut/low.py:{line}: low imports high, in a circle")

    def test_the_package_is_above_all_modules(self):
        for text in ("import abut\n", "from abut import Context\n"):
            with self.subTest(text):
                self.check({"low": text}, "python/abut/__init__.py:3: __init__ imports _makers, in a circle",
                           "python/abut/_makers.py:1: _makers imports high, in a circle",
                           "python/abut/high.py:1: high imports low, in a circle",
                           "python/abut/low.py:1: low imports __init__, in a circle")

    def test_what_is_for_types_is_not_for_calls(self):
        self.check({"_context": GOOD["_context"] + "def f():\n    from abut import _makers\n"},
                   "python/abut/_context.py:5: _context imports _makers, in a circle",
                   "python/abut/_makers.py:1: _makers imports high, in a circle",
                   "python/abut/high.py:2: high imports _context, in a circle")
        self.check({"_context": ""}, "_context does not import _makers for types any longer: TYPES_ONLY")


if __name__ == "__main__":
    unittest.main()
