#!/usr/bin/env python3
"""Sums up test runs: summarize_tests.py TESTLOG.json...

Reads what `meson test` writes into meson-logs/testlog.json. A test program ends with a line
"N passed, N failed"; one without it counts as a single check, and one that crashes, runs out of
time or fails without such a line as a failed one, as does a log that cannot be read. Prints a line
for each program, then the ten that took longest, with their seconds and the folder of their build,
those of the usual run that took more than 4 s, and, last, the total in the same words. Exit status 1 if
anything failed or nothing passed, and, with ABUT_TEST_SLOW_FAILS=1, if a usual test took that long: seconds
are those of a clock, and other programs of the machine lengthen them.
"""
import json
import os
import pathlib
import re
import sys

CLOSING = re.compile(r"^(\d+) passed, (\d+) failed\s*$", re.M)
LONGEST = 10
USUAL_MOST = 4.0  # seconds allowed for a test of the usual run


def count(entry):
    """Returns (passed, failed) of one program, or None if it was skipped."""
    if entry["result"] == "SKIP":
        return None
    text = (entry.get("stdout") or "") + "\n" + (entry.get("stderr") or "")
    found = CLOSING.findall(text)
    passed = sum(int(p) for p, _ in found)
    failed = sum(int(f) for _, f in found)
    good = entry["result"] in ("OK", "EXPECTEDFAIL")
    if not found:
        return (1, 0) if good else (0, 1)
    return passed, failed if good else max(failed, 1)


def reason(entry):
    lines = (entry.get("stdout") or "").strip().splitlines()
    return f" ({lines[-1]})" if lines else ""


def build_of(path):
    """Returns the name of the build folder from a log's path BUILD/meson-logs/NAME.json."""
    return pathlib.Path(path).resolve().parent.parent.name


def tell_longest(costs):
    """Prints the longest of costs: (seconds, name, build)."""
    if costs:
        print("the longest:")
    for seconds, name, build in sorted(costs, key=lambda cost: -cost[0])[:LONGEST]:
        print(f"{seconds:7.1f} s  {name} ({build})")


def usual_of(path):
    """The names of a log's tests that the usual run has, by what Meson keeps in the build's folder. None of a build with
    sanitizers, or optimised little: programs take several times as long there."""
    info = pathlib.Path(path).resolve().parent.parent / "meson-info"
    try:
        options = {option["name"]: option["value"] for option in json.loads((info / "intro-buildoptions.json").read_text())}
        tests = json.loads((info / "intro-tests.json").read_text())
    except (OSError, ValueError):
        return set()
    if options.get("b_sanitize", "none") != "none" or options.get("optimization") not in ("2", "3"):
        return set()
    return {test["name"] for test in tests if "long" not in {suite.partition(":")[2] or suite for suite in test["suite"]}}


def tell_slow(costs):
    """Names the usual tests that took too long, slowest first. Returns whether there are any."""
    slow = [f"{name} ({seconds:.1f} s, {build})" for seconds, name, build in sorted(costs, key=lambda cost: -cost[0])
            if seconds > USUAL_MOST]
    if slow:
        print(f"usual tests above {USUAL_MOST:g} s: " + ", ".join(slow))
    return bool(slow)


def main():
    passed = failed = skipped = 0
    costs, usual_costs = [], []
    for path in sys.argv[1:]:
        usual = usual_of(path)
        try:
            with open(path, encoding="utf-8") as log:
                entries = [json.loads(line) for line in log]
        except (OSError, ValueError) as error:
            print(f"{path}: cannot be read ({error}): 1 failed")
            failed += 1
            continue
        for entry in entries:
            counted = count(entry)
            if counted is None:
                skipped += 1
                print(f"{entry['name']}: skipped{reason(entry)}")
                continue
            passed += counted[0]
            failed += counted[1]
            print(f"{entry['name']}: {counted[0]} passed, {counted[1]} failed")
            if "duration" in entry:
                costs.append((entry["duration"], entry["name"], build_of(path)))
                if entry["name"].partition(" / ")[2] in usual:
                    usual_costs.append(costs[-1])
    tell_longest(costs)
    slow = tell_slow(usual_costs) and os.environ.get("ABUT_TEST_SLOW_FAILS") == "1"
    if skipped:
        print(f"{skipped} skipped")
    print(f"{passed} passed, {failed} failed")
    sys.exit(1 if failed or not passed or slow else 0)


if __name__ == "__main__":
    main()
