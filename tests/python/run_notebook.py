#!/usr/bin/env python3
"""Runs the code of a notebook, cell after cell, without Jupyter: run_notebook.py NOTEBOOK

The last expression of a cell is its value, as in a notebook, and must show itself there. Each notebook must show a page of
abut.view. Outputs are kept out of the repository, so that a notebook has none. Exit status 77 without NumPy.
"""
import ast
import importlib.util
import json
import os
import pathlib
import sys


def run(source, name, names):
    """The value of a cell."""
    tree = ast.parse(source, name)
    last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    exec(compile(tree, name, "exec"), names)
    return eval(compile(ast.Expression(last.value), name, "eval"), names) if last else None


def main():
    path = pathlib.Path(sys.argv[1]).resolve()
    if importlib.util.find_spec("numpy") is None:
        print("Python's numpy is not there")
        return 77
    import abut
    cells = [cell for cell in json.loads(path.read_text(encoding="utf-8"))["cells"] if cell["cell_type"] == "code"]
    stored = [i for i, cell in enumerate(cells) if cell["outputs"] or cell["execution_count"]]
    assert not stored, f"{path.name}: outputs of cells {stored} are stored; clear them"
    os.chdir(path.parent)  # where Jupyter runs it
    names, shown = {"__name__": "__main__"}, []
    for i, cell in enumerate(cells):
        value = run("".join(cell["source"]), f"{path.name}, cell {i}", names)
        if isinstance(value, abut.View):
            shown.append(value._repr_html_())
        elif value is not None:
            print(repr(value))
    assert shown, f"{path.name} shows no page of abut.view"
    for html in shown:
        assert html.startswith("<iframe srcdoc=") and len(html) > 50_000, f"{path.name}: a page is not shown in a frame"
    print(f"{len(cells)} cells, {len(shown)} pages shown")
    print("1 passed, 0 failed")
    return 0


if __name__ == "__main__":
    sys.exit(main())
