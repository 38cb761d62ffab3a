#!/usr/bin/env python3
"""Whether run.py and run_blocks.py tell failures from successes. Needs pytest."""
import importlib.util
import pathlib
import subprocess
import sys
import tempfile

if importlib.util.find_spec("pytest") is None:
    print("Python's pytest is not there")
    sys.exit(77)
HERE = pathlib.Path(__file__).resolve().parent
passed = failed = 0

TESTS = """
import pytest
def test_good(): pass
def test_bad(): assert 1 == 2
def test_skipped(): pytest.skip("why")
@pytest.fixture
def broken(): raise ValueError
def test_broken(broken): pass
@pytest.fixture
def late():
    yield
    raise ValueError
def test_late(late): pass
"""
PAGE = """
```python
x = 1
```
<!-- not run: it would end -->
```python
raise SystemExit
```
```python
import torch_that_is_not_there
```
```python
assert x == 1
with open("assets/a") as file:
    assert file.read() == "a"
```
```sh
false
```
"""


def check(name, command, status, *lines):
    global passed, failed
    done = subprocess.run([sys.executable, *map(str, command)], text=True, capture_output=True)
    holds = done.returncode == status and all(line in done.stdout for line in lines)
    passed, failed = passed + holds, failed + (not holds)
    if not holds:
        print(f"FAILED: {name}: status {done.returncode}, not {status}, or none of {lines} in\n"
              f"{done.stdout}{done.stderr}")


with tempfile.TemporaryDirectory() as folder:
    root = pathlib.Path(folder)
    for name, text in {"test_a.py": TESTS, "test_b.py": "import nothing_of_this_name\n",
                       "test_c.py": "", "test_d.py": "def test_good(): pass\n"}.items():
        (root / name).write_text(text)
    run = HERE / "run.py"
    check("failures count", [run, "json", root / "test_a.py"], 1, "\n1 passed, 3 failed\n")
    check("a file that cannot be read", [run, "json", root / "test_b.py"], 1, "\n0 passed, 1 failed\n")
    check("a file without tests", [run, "json", root / "test_c.py"], 1, "\n0 passed, 1 failed\n")
    check("a good file", [run, "json", root / "test_d.py"], 0, "\n1 passed, 0 failed\n")
    check("no framework", [run, "nothing_of_this_name", root / "test_d.py"], 77, "nothing_of_this_name")
    blocks = HERE / "run_blocks.py"
    (root / "assets").mkdir()
    (root / "assets/a").write_text("a")
    (root / "page.md").write_text(PAGE)
    (root / "good.md").write_text("```python\nx = 1\n```\n")
    check("blocks", [blocks, root, "page.md", "good.md"], 1, "FAILED: page.md:10", "it would end",
          "\n3 passed, 1 failed\n")
    check("good blocks", [blocks, root, "good.md", "absent.md"], 0, "absent.md is not there",
          "\n1 passed, 0 failed\n")
    check("no blocks", [blocks, root, "absent.md"], 77)
print(f"{passed} passed, {failed} failed")
sys.exit(1 if failed else 0)
