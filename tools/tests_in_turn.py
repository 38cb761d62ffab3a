#!/usr/bin/env python3
"""Names the long tests, those whose turn it is first: tests_in_turn.py BUILD PIECE TURN.

`.ci/run` takes of the long tier what its time holds, in pieces of PIECE tests, and begins with piece TURN, counted round and
round, so that over some changes all are run (`./bootstrap test all` runs every one). Tests stand in the order in which they
share programs of a device, which take longer to compile than to run: devices of OpenCL in double, with lane widths and
work-groups, in float, then what asks no device by name.

Prints one name a line. Failures of devices are not among them: `.ci/run` tries them by itself.
"""
import json
import subprocess
import sys


def group_of(name, suites):
    """Returns the position of a long test in the order, or None for other tests."""
    if "long" not in suites or {"failures", "unshared"} & suites:
        return None
    if not {"pocl", "devices"} & suites:
        return 3
    return 1 if "lane" in name or "groups" in name else 0 if "f64" in name else 2


def main():
    if len(sys.argv) != 4 or not (sys.argv[2].isdecimal() and sys.argv[3].isdecimal() and int(sys.argv[2])):
        sys.exit("usage: tests_in_turn.py BUILD PIECE TURN")
    build, piece, turn = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    listed = subprocess.run(["meson", "introspect", "--tests", build], capture_output=True, text=True, check=True)
    groups = [[], [], [], []]
    for test in json.loads(listed.stdout):
        group = group_of(test["name"], {suite.partition(":")[2] or suite for suite in test["suite"]})
        if group is not None:
            groups[group].append(test["name"])
    names = sum(groups, [])
    pieces = -(-len(names) // piece)
    first = turn % pieces * piece if pieces else 0
    print(*names[first:], *names[:first], sep="\n")


if __name__ == "__main__":
    main()
