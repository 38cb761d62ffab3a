#!/usr/bin/env python3
"""Sums up test runs: summarize_tests.py TESTLOG.json...

Reads what `meson test` writes into meson-logs/testlog.json. A test program ends with a line
"N passed, N failed"; one without it counts as a single check, and one that crashes, runs out of
time or fails without such a line as a failed one, as does a log that cannot be read. Prints a line
for each program, then the ten that took longest, with their seconds and the folder of their build,
and, last, the total in the same words. Exit status 1 if anything failed or nothing passed.
"""
import json
import pathlib
import re
import sys

CLOSING = re.compile(r"^(\d+) passed, (\d+) failed\s*$", re.M)
LONGEST = 10


def count(entry):
    """(passed, failed) of one program, or None where it was skipped."""
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
    """The name of the build's folder, in which a log lies as BUILD/meson-logs/NAME.json."""
    return pathlib.Path(path).resolve().parent.parent.name


def tell_longest(costs):
    """Prints the longest of costs: (seconds, name, build)."""
    if costs:
        print("the longest:")
    for seconds, name, build in sorted(costs, key=lambda cost: -cost[0])[:LONGEST]:
        print(f"{seconds:7.1f} s  {name} ({build})")


def main():
    passed = failed = skipped = 0
    costs = []
    for path in sys.argv[1:]:
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
    tell_longest(costs)
    if skipped:
        print(f"{skipped} skipped")
    print(f"{passed} passed, {failed} failed")
    sys.exit(1 if failed or not passed else 0)


if __name__ == "__main__":
    main()
