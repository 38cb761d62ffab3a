#!/usr/bin/env python3
"""Builds the kernel suite with a vendor's own compiler, without its hardware:
build_kernels.py VENDOR PRECISION CL_DIR

VENDOR is nvidia (clang to PTX, then ptxas), amd (clang to GCN and RDNA assembly) or intel (ocloc).
Prints registers and spills of every kernel on every target. A kernel of the suite that a compiler
refuses or leaves out is a failure; spills are figures to watch, not failures. Exit status 77, with
the name of what is absent, where a tool is missing.
"""
import glob
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

NVIDIA_TARGETS = ["sm_70", "sm_80", "sm_90"]  # ptxas of a later toolkit may know fewer: those are left out
AMD_TARGETS = ["gfx900", "gfx1030", "gfx1100"]
INTEL_TARGETS = ["tgllp", "dg2"]
KERNEL = re.compile(r"^(?:ADJOINT_)?KERNEL void (\w+)\(", re.M)


def skip(text):
    print("not run:", text)
    sys.exit(77)


def tool(names, folders=()):
    for name in names:
        found = shutil.which(name) or next((p for f in folders for p in glob.glob(f"{f}/{name}")), None)
        if found:
            return found
    skip(f"{names[0]} is not installed")
    return None


def run(command):
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return done.returncode, done.stdout + done.stderr


def defines(precision, tangents):
    """What the library passes on a GPU; __OPENCL_VERSION__ is the OpenCL runtime's to define."""
    wide = "1" if precision == "f64" else "0"
    return ["-D__OPENCL_VERSION__=120", f"-DREAL_DOUBLE={wide}", "-DWIDE=1", "-DLANES=1", "-DWG=64",
            f"-DTANGENTS={tangents}"]


def clang_command(precision, tangents, root, target, cpu, library):
    flag = "-march=" if target.startswith("nvptx") else "-mcpu="
    return [tool(["clang-15", "clang"]), "-target", target, flag + cpu, "-cl-std=CL1.2", "-x", "cl",
            "-Xclang", "-finclude-default-header", "-O3", "-nogpulib", "-Wno-unused-command-line-argument",
            "-Xclang", "-mlink-bitcode-file", "-Xclang", library, *defines(precision, tangents), f"-I{root}",
            "-S", str(root / "kernels" / "suite.cl")]


def library_of(name):
    path = pathlib.Path(os.environ.get("ABUT_CLC", "/usr/lib/clc")) / name
    if not path.exists():
        skip(f"{path} is not installed (libclc)")
    return str(path)


def nvidia(precision, tangents, root, out):
    """PTX is made once, for the older target; ptxas then makes each device's code."""
    library = library_of("nvptx64--nvidiacl.bc")
    ptxas = tool(["ptxas"], ["/usr/local/cuda*/bin"])
    code, text = run([*clang_command(precision, tangents, root, "nvptx64--nvidiacl", "sm_70", library),
                      "-o", out / "k.ptx"])
    if code:
        yield "nvptx64", {}, text
        return
    for target in NVIDIA_TARGETS:
        code, text = run([ptxas, f"-arch={target}", "-v", out / "k.ptx", "-o", out / "k.cubin"])
        if "is not defined for option" in text or "Unsupported gpu architecture" in text:
            print(f"{target}: left out, this ptxas does not know it")
            continue
        found = {}
        for part in text.split("Compiling entry function ")[1:]:
            name = part.split("'")[1]
            frame = re.search(rf"properties for {name}\n\s+(\d+) bytes stack frame, (\d+) bytes spill", part)
            used = re.search(r"Used (\d+) registers", part)
            if frame and used:
                found[name] = f"{used[1]} registers, {frame[2]} bytes spilled, {frame[1]} on the stack"
        yield target, found, text if code else ""


def amd_figures(assembly):
    """The comment block after each kernel; functions that were not inlined have one without occupancy."""
    found, name, figures = {}, "", {}
    for line in assembly.splitlines():
        label = re.match(r"(\w+):\s+; @(\w+)$", line)
        figure = re.match(r"; (NumVgprs|ScratchSize|Occupancy): (\d+)", line)
        if label:
            name, figures = label[1], {}
        elif figure:
            figures[figure[1]] = figure[2]
            if figure[1] == "Occupancy":
                found[name] = (f"{figures['NumVgprs']} VGPRs, {figures['ScratchSize']} bytes of scratch, "
                               f"occupancy {figures['Occupancy']}")
    return found


def amd(precision, tangents, root, out):
    library = library_of("gfx906-amdgcn-mesa-mesa3d.bc")
    for target in AMD_TARGETS:
        path = out / f"{target}.s"
        code, text = run([*clang_command(precision, tangents, root, "amdgcn-mesa-mesa3d", target, library),
                          "-o", path])
        found = amd_figures(path.read_text()) if not code else {}
        yield target, found, text if code else ""


def intel(precision, tangents, root, out):
    ocloc = tool(["ocloc"])
    options = " ".join(["-cl-std=CL1.2", *defines(precision, tangents)[1:], f"-I{root}"])
    source = root / "kernels" / "suite.cl"
    for target in INTEL_TARGETS:
        code, text = run([ocloc, "compile", "-file", source, "-device", target, "-options", options,
                          "-out_dir", out])
        found = {name: "built" for name in KERNEL.findall(suite_text(root, tangents))} if not code else {}
        yield target, found, text if code else ""


PLAIN_ONLY = ("compact.cl", "render.cl")  # behind #if !TANGENTS in suite.cl


def suite_text(root, tangents):
    return "\n".join(p.read_text() for p in sorted((root / "kernels").glob("*.cl"))
                     if not (tangents and p.name in PLAIN_ONLY))


def build(vendor, precision, tangents, root):
    """Prints every kernel's figures; how many there are, how many are missing."""
    expected = KERNEL.findall(suite_text(root, tangents))
    numbers = "dual" if tangents else "plain"
    passed = failed = 0
    with tempfile.TemporaryDirectory() as out:
        for target, found, error in globals()[vendor](precision, tangents, root, pathlib.Path(out)):
            if error:
                print(f"{target} {precision} {numbers} does not build:\n{error[:4000]}")
            for name in expected:
                print(f"{target} {precision} {numbers} {name:25} {found.get(name, 'MISSING')}")
            passed += sum(name in found for name in expected)
            failed += sum(name not in found for name in expected)
    return passed, failed


def main():
    vendor, precision, root = sys.argv[1], sys.argv[2], pathlib.Path(sys.argv[3]).resolve()
    counts = [build(vendor, precision, tangents, root) for tangents in (0, 1)]
    passed, failed = (sum(c[i] for c in counts) for i in (0, 1))
    print(f"{passed} passed, {failed} failed")
    sys.exit(1 if failed or not passed else 0)


if __name__ == "__main__":
    main()
