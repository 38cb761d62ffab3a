#!/usr/bin/env python3
"""A test on a device beside the default ones: golden_on.py WHERE PRECISION PROGRAM ARGUMENT...

WHERE is rusticl (Mesa's OpenCL on llvmpipe), intel (Intel's CPU runtime, in the folder that ABUT_INTEL_OPENCL names, or in a
Python environment that holds intel-opencl-rt), oclgrind (an interpreter that reports races, uninitialised values and wrong
calls; a report is a failure), or all: PoCL, rusticl and Intel's in one context, without those that are absent, by name.
Exit status 77 with a line that names what is absent.
"""
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

WHERE, PRECISION, PROGRAM, *ARGUMENTS = sys.argv[1:]
COMMAND = [PROGRAM, PRECISION, *ARGUMENTS]


def skip(text):
    print(f"not run: {text}")
    sys.exit(77)


def driver(pattern):
    """The text of a driver's file for the loader, or nothing."""
    found = [path for folder in ("/etc/OpenCL/vendors", "/usr/share/OpenCL/vendors")
             for path in sorted(pathlib.Path(folder).glob(pattern))]
    return found[0].read_text(encoding="utf-8") if found else None


def intel_driver():
    """Intel's, whose folder the loader of libraries is to look into."""
    named = os.environ.get("ABUT_INTEL_OPENCL", "")
    for folder in (named, f"{named}/lib", os.environ.get("VIRTUAL_ENV", "") + "/lib", "/opt/intel/lib",
                   "/opt/intel/oneapi/compiler/latest/lib"):
        if os.path.exists(f"{folder}/libintelocl.so"):
            os.environ["LD_LIBRARY_PATH"] = ":".join(filter(None, (folder, os.environ.get("LD_LIBRARY_PATH"))))
            return f"{folder}/libintelocl.so\n"
    return None


def oclgrind(scratch):
    """Without -cl-opt-disable clang's inliner leaves llvm.experimental.noalias.scope.decl in the kernels, which oclgrind's
    interpreter of that LLVM does not know."""
    if not shutil.which("oclgrind"):
        skip("oclgrind is not installed (Debian: oclgrind)")
    os.environ.pop("ABUT_SHARED", None)  # more cases would take minutes here, and so would derivatives
    os.environ.update(ABUT_TEST_VALUES_ONLY="1", ABUT_TEST_DEVICE="oclgrind")
    log = pathlib.Path(scratch, "reports")
    status = subprocess.call(["oclgrind", *"--build-options -cl-opt-disable --check-api --uninitialized --data-races "
                              "--max-errors 20 --log".split(), log, *COMMAND])
    if log.exists() and log.stat().st_size:
        print("oclgrind reports:", *log.read_text(encoding="utf-8").split("\n")[:200], sep="\n")
        return 1
    return status


def main():
    with tempfile.TemporaryDirectory() as scratch:
        if WHERE == "oclgrind":
            return oclgrind(scratch)
        kinds = (("intel", "Intel's CPU runtime", "is not in ABUT_INTEL_OPENCL (pip install intel-opencl-rt)", intel_driver),
                 ("pocl", "PoCL", "is not installed (Debian: pocl-opencl-icd)", lambda: driver("pocl*.icd")),
                 ("rusticl", "rusticl", "is not installed (Debian: mesa-opencl-icd)", lambda: driver("rusticl*.icd")))
        there = 0
        for kind, name, why, find in kinds:
            text = find() if WHERE in (kind, "all") else None
            if text:
                pathlib.Path(scratch, f"{kind}.icd").write_text(text, encoding="utf-8")
                there += 1
            elif WHERE == kind:
                skip(f"{name} {why}")
            elif WHERE == "all":
                print(f"without {name}, which {why}")
        if WHERE == "all" and there < 2:
            skip("devices of fewer than two platforms")
        os.environ["OCL_ICD_VENDORS"] = scratch
        if WHERE != "intel":
            # llvmpipe compiles 16 lanes of all derivatives for a quarter of an hour.
            os.environ.update(RUSTICL_ENABLE="llvmpipe", ABUT_TEST_LANES="1")
        if WHERE == "all":
            os.environ["ABUT_TEST_KINDS"] = "all"
        else:
            os.environ["ABUT_TEST_DEVICE"] = WHERE
        if WHERE == "rusticl":
            os.environ["ABUT_TEST_SOME"] = "1"  # and each context's anew
        return subprocess.call(COMMAND)


if __name__ == "__main__":
    sys.exit(main())
