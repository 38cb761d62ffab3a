#!/usr/bin/env python3
"""Kernels in work-groups of one wave need no barriers, because the compiler knows the size of their groups (GROUPED,
cl/num/real.h). Compiles the solver of worlds for AMD's CDNA 2, whose waves have 64 work-items, and counts s_barrier:

  test_barriers.py CL_DIR

Exit status 77 where a tool is missing.
"""
import pathlib
import sys
import tempfile

import vendors

TARGET = "gfx90a"


def barriers_of(root, program):
    with tempfile.TemporaryDirectory() as folder:
        out = pathlib.Path(folder) / "k.s"
        vendors.clang(root, "f32", program, "amdgcn-mesa-mesa3d", f"-mcpu={TARGET}",
                      "gfx906-amdgcn-mesa-mesa3d.bc", out)
        return {name: text.count("s_barrier") for name, text in vendors.amd_parts(out.read_text()).items()
                if not name.startswith("_Z")}


def main():
    root, program = pathlib.Path(sys.argv[1]).resolve(), vendors.Program("world", 0, 0)
    try:
        found = barriers_of(root, program)
    except vendors.Absent as absent:
        print("not run:", absent)
        return 77
    if "world_solve" not in found:
        print("world_solve was not compiled")
        return 1
    wrong = {name: count for name, count in found.items() if count}
    for name, count in wrong.items():
        print(f"{name}: {count} barriers on {TARGET}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
