#!/usr/bin/env python3
"""The examples of worlds by each contact law: tools/examples_by_law.py [--models LAW,LAW...] [EXAMPLE...]

Runs examples/throw.py, identify.py and push.py on their scenes as of each law (contact_model of abut.Scene), without their
own checks, which are those of the soft law that they are for (python -O), and shows what they print. Ten minutes for all.
Needs the Python package and NumPy.
"""
import argparse
import pathlib
import subprocess
import sys

EXAMPLES = pathlib.Path(__file__).resolve().parent.parent / "examples"
RUN = """
import pathlib, runpy, sys, abut
law, path = sys.argv[1:]
class Scene(abut.Scene):
    def __init__(self, name, context=None):
        super().__init__(name, context, contact_model=law)
abut.Scene = Scene
sys.argv = [path]
sys.path.insert(0, str(pathlib.Path(path).parent))
runpy.run_path(path, run_name="__main__")
"""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--models", default="cone,lcp,spring")
    parser.add_argument("examples", nargs="*", default=["throw", "identify", "push"])
    options = parser.parse_args()
    failed = 0
    for example in options.examples:
        for law in options.models.split(","):
            print(f"-- {example} by {law}", flush=True)
            command = [sys.executable, "-O", "-c", RUN, law, str(EXAMPLES / f"{example}.py")]
            failed += subprocess.run(command, check=False).returncode != 0
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main())
