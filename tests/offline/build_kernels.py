#!/usr/bin/env python3
"""Builds the kernels with a vendor's own compiler, without its hardware:

  build_kernels.py VENDOR PRECISION CL_DIR [TARGET ...]

VENDOR is nvidia, amd or intel; without targets, all of it. Prints registers, spills, private memory
and occupancy of every kernel of every program. It fails where a compiler refuses a program or
leaves out a kernel, and where a kernel spills, or keeps in private memory, more than
known_spills.json says (compared only where the compiler is of the version that was recorded). Exit
status 77, with the name of what is absent, where a tool is missing. What was built before is not
built again (kept.py).
"""
import pathlib
import sys

import kept
import known
import vendors

AGAIN = "where that is meant or cannot be helped: tools/offline_compilers.py --write --target "


class Counts:
    passed = failed = 0

    def add(self, good, text):
        print(text)
        self.passed += good
        self.failed += not good


def text_of(f):
    return (f"{f.registers} registers, {f.spilled} bytes spilled, {f.memory} of private memory, "
            f"occupancy {f.occupancy}" if f else "MISSING")


def check_target(counts, vendor, precision, program, root, target, found, recorded):
    where = f"{target} {precision} {vendors.name_of(program)}"
    for name in vendors.kernels_of(root, program):
        counts.add(name in found, f"{where} {name:26} {text_of(found.get(name))}")
    beyond = list(known.excesses(recorded, target, precision, vendors.name_of(program), found))
    then, now = recorded.get(target, {}).get("compiler"), vendors.compiler(vendor, target)
    if then and then != now:
        print(f"{where}: known spills are of {then}, this is {now}: not compared")
        beyond = []
    for text in beyond:
        counts.add(False, f"NEW SPILL: {text}\n  {AGAIN}{target}")


def check_program(counts, vendor, precision, program, root, targets, recorded):
    try:
        for target, found in kept.build(vendor, precision, program, root, targets):
            if found is None:
                print(f"not run: {target} {precision} (no float64, or no compiler that knows it)")
            else:
                check_target(counts, vendor, precision, program, root, target, found, recorded)
    except vendors.Refused as refused:
        counts.add(False, f"{vendor} {precision} {vendors.name_of(program)} does not build:\n"
                   f"{str(refused)[:4000]}")


def main():
    vendor, precision, root = sys.argv[1], sys.argv[2], pathlib.Path(sys.argv[3]).resolve()
    counts = Counts()
    try:
        for program in vendors.PROGRAMS:
            check_program(counts, vendor, precision, program, root,
                          sys.argv[4:] or vendors.TARGETS[vendor], known.load())
    except vendors.Absent as absent:
        print("not run:", absent)
        return 77
    print(f"{counts.passed} passed, {counts.failed} failed")
    return 1 if counts.failed or not counts.passed else 0


if __name__ == "__main__":
    sys.exit(main())
