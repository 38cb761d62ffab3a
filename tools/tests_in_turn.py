#!/usr/bin/env python3
"""Names the long tests whose turn it is: tests_in_turn.py BUILD TURN.

The long tier is dealt into three parts, of which `.ci/run` takes one a change, by the
commit's name (`./bootstrap test all` takes every one). Tests that share programs of a device, which
take longer to compile than to run, are in the same part:

  0  devices of OpenCL in double
  1  the other tests of devices: lane widths and work-groups, the command, derivatives
  2  what asks no device by name: the host path in float, examples, Python, bodies, worlds at length

and one of the three self-tests, which take longest, is in each.

Prints one name a line. Failures of devices are not among them: `.ci/run` tries them by itself.
"""
import json
import subprocess
import sys

TURNS = 3
APART = {"self-test of contacts": 0, "self-test of derivatives": 1, "self-test of others": 2}


def turn_of(name, suites):
    """The part in which a test is, or None where it is not one of the long tier."""
    if "long" not in suites or "failures" in suites or "unshared" in suites:
        return None
    if name in APART:
        return APART[name]
    if not {"pocl", "devices"} & suites:
        return 2
    return 0 if "f64" in name else 1


def main():
    if len(sys.argv) != 3 or not sys.argv[2].isdecimal():
        sys.exit("usage: tests_in_turn.py BUILD TURN")
    build, turn = sys.argv[1], int(sys.argv[2]) % TURNS
    listed = subprocess.run(["meson", "introspect", "--tests", build], capture_output=True, text=True, check=True)
    for test in json.loads(listed.stdout):
        suites = {suite.partition(":")[2] or suite for suite in test["suite"]}
        if turn_of(test["name"], suites) == turn:
            print(test["name"])


if __name__ == "__main__":
    main()
