"""The vendors' own compilers, as they run without their hardware: what each makes of one program of
a module of kernels, as figures of every kernel.

NVIDIA: clang to PTX, then ptxas for each target (clang's PTX is the same text for sm_70 and sm_86).
AMD: clang to GCN, CDNA and RDNA assembly. Intel: ocloc. A tool or library that is absent raises
Absent with its name.
"""
import collections
import functools
import glob
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

PROJECT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(PROJECT / "tools"))
import embed_kernels  # noqa: E402

# All figures are of one work-item. `spilled`: bytes that the kernel's instructions spill (NVIDIA,
# AMD) or the space for it, which the compiler rounds up (Intel); `memory`: bytes of private memory,
# with that space; `occupancy`: how many of a vendor's units of work can be resident (NVIDIA, AMD)
# or a unit's lanes (Intel), and `most` its limit.
Figures = collections.namedtuple("Figures", "registers spilled memory occupancy most")
Program = collections.namedtuple("Program", "module tangents adjoint")

TARGETS = {
    "nvidia": ["sm_70", "sm_75", "sm_80", "sm_86", "sm_89", "sm_90"],
    "amd": ["gfx900", "gfx906", "gfx90a", "gfx1030", "gfx1100"],
    "intel": ["tgllp", "dg2", "xe_hp_sdv"],
}
OPTIONS = ["-cl-std=CL1.2", "-cl-denorms-are-zero"]  # as in src/engine/device/opencl.c
NO_FLOAT64 = ["tgllp", "dg2"]
GROUP = 64  # work-items of a work-group on GPUs, src/engine/device/tuning.c


class Absent(Exception):
    pass


class Refused(Exception):
    """A compiler does not know a target or does not build a program; the text is its own."""


def name_of(program):
    numbers = {0: "plain", 1: "duals", 6: "duals of 6"}[program.tangents]
    return f"{program.module} {numbers} {'adjoint' if program.adjoint else 'forward'}"


def suite_of(root, program):
    return embed_kernels.suite_of(root, program.module)


def kernels_of(root, program):
    source = embed_kernels.source_of(root, program.module)
    return [k.name for k in embed_kernels.kernels_of(program.module, source)
            if k.adjoint == bool(program.adjoint) and not (k.plain_only and program.tangents)
            and not (k.dual_only and program.tangents != 1)]


def programs_of(root):
    """Those of every module that have a kernel."""
    modules = sorted(path.parent.name for path in (root / "kernels").glob("*/suite.cl"))
    every = [Program(module, tangents, adjoint) for module in modules
             for tangents, adjoint in ((0, 0), (0, 1), (1, 0), (1, 1), (6, 0))]
    return [program for program in every if kernels_of(root, program)]


PROGRAMS = programs_of(PROJECT / "cl")


def tool(*names):
    for name in names:
        if shutil.which(name):
            return shutil.which(name)
    raise Absent(f"{names[0]} is not installed")


def run(*command):
    done = subprocess.run([str(c) for c in command], capture_output=True, text=True, check=False)
    return done.returncode, done.stdout + done.stderr


def defines(root, precision, program, wide):
    """What src/engine/device/opencl.c passes on a GPU."""
    return [f"-DREAL_DOUBLE={int(precision == 'f64')}", f"-DWIDE={int(wide)}", "-DLANES=1",
            f"-DWG={GROUP}", f"-DTANGENTS={program.tangents}",
            f"-DWITH_FORWARD={1 - program.adjoint}", f"-DWITH_ADJOINT={program.adjoint}",
            f"-I{root}"]


@functools.cache
def version(path):
    found = re.search(r"(?:version |V)(\d[\d.]*)", run(path, "--version")[1])
    return found[1] if found else "of unknown version"


# ---- clang, for NVIDIA and AMD ----

def libclc():
    return os.environ.get("ABUT_CLC", "/usr/lib/clc")


def clang(root, precision, program, triple, cpu, library, out):
    path = pathlib.Path(libclc()) / library
    if not path.exists():
        raise Absent(f"{path} (libclc) is not installed")
    # __OPENCL_VERSION__ is the OpenCL runtime's to define.
    code, text = run(tool("clang-15", "clang"), "-target", triple, cpu, *OPTIONS, "-x", "cl", "-O3",
                     "-Xclang", "-finclude-default-header", "-nogpulib",
                     "-Wno-unused-command-line-argument", "-Xclang", "-mlink-bitcode-file",
                     "-Xclang", path, "-D__OPENCL_VERSION__=120",
                     *defines(root, precision, program, True), "-S", "-o", out,
                     suite_of(root, program))
    if code:
        raise Refused(text)


# ---- NVIDIA ----

# Per multiprocessor: warps and work-groups at most; 65536 registers in four parts, each warp's in
# units of 256 (NVIDIA, CUDA C++ Programming Guide, technical specifications by compute capability).
# Local memory of a work-group, at most 1.5 kB, never binds.
SM_LIMITS = {"sm_70": (64, 32), "sm_75": (32, 16), "sm_80": (64, 32), "sm_86": (48, 16),
             "sm_89": (48, 24), "sm_90": (64, 32)}


def warps_resident(target, registers):
    most_warps, most_groups = SM_LIMITS[target]
    by_registers = 4 * (16384 // ((registers * 32 + 255) // 256 * 256))
    warps = GROUP // 32
    return min(most_warps, by_registers, most_groups * warps) // warps * warps


@functools.cache
def ptxas_for(target):
    """The first that knows the target: toolkits forget old devices; ABUT_PTXAS names one more."""
    found = [shutil.which("ptxas"), *sorted(glob.glob("/usr/local/cuda*/bin/ptxas")),
             os.environ.get("ABUT_PTXAS")]
    found = [path for path in found if path]
    if not found:
        raise Absent("ptxas (CUDA toolkit) is not installed")
    for path in found:
        if f"'{target}'" in run(path, "--help")[1]:
            return path
    return None


def ptxas_figures(target, text):
    """After an entry ptxas lists the functions that it calls: their spills are the entry's, too."""
    found = {}
    for part in text.split("Compiling entry function ")[1:]:
        used = re.search(r"Used (\d+) registers", part)
        stack = (re.search(r"(\d+) bytes cumulative stack size", part) or
                 re.search(r"(\d+) bytes stack frame", part))
        spilled = sum(int(s) for s in re.findall(r"(\d+) bytes spill stores", part))
        if used:
            warps = warps_resident(target, int(used[1]))
            found[part.split("'")[1]] = Figures(int(used[1]), spilled, int(stack[1]), warps,
                                                SM_LIMITS[target][0])
    return found


def nvidia(precision, program, root, targets):
    with tempfile.TemporaryDirectory() as folder:
        out = pathlib.Path(folder)
        for target in targets:
            ptxas_for(target)  # absent tools show before the work
        clang(root, precision, program, "nvptx64--nvidiacl", "-march=sm_70",
              "nvptx64--nvidiacl.bc", out / "k.ptx")
        for target in targets:
            if not ptxas_for(target):
                yield target, None
                continue
            code, text = run(ptxas_for(target), f"-arch={target}", "-v", out / "k.ptx",
                             "-o", out / "k.cubin")
            if code:
                raise Refused(text)
            yield target, ptxas_figures(target, text)


def nvidia_version(target):
    ptxas = ptxas_for(target)
    ending = f"ptxas {version(ptxas)}" if ptxas else "no ptxas that knows it"
    return f"{amd_version(target)}, {ending}"


# ---- AMD ----

# Waves of a SIMD unit, at most.
WAVES = {"gfx900": 10, "gfx906": 10, "gfx90a": 8, "gfx1030": 16, "gfx1100": 16}
FIGURE = re.compile(r"^; (NumVgprs|ScratchSize|Occupancy): (\d+)", re.M)


def amd_parts(assembly):
    """Kernels and functions that were not inlined: name -> text, with the comments behind it."""
    pieces = re.split(r"^(\w+):\s+; @\1$", assembly, flags=re.M)
    return dict(zip(pieces[1::2], pieces[2::2]))


def amd_figures(target, assembly):
    parts = amd_parts(assembly)
    functions = {name for name, text in parts.items() if "; Function info:" in text}

    def reached(name, seen):
        for callee in functions - seen:
            if re.search(rf"\b{callee}@", parts[name]):
                seen = reached(callee, seen | {callee})
        return seen

    def spilled(name):
        return sum(int(b) for b in re.findall(r"(\d+)-byte Folded Spill", parts[name]))

    found = {}
    for name, text in parts.items():
        figure = {k: int(v) for k, v in FIGURE.findall(text)}
        if "; Kernel info:" in text:
            spills = sum(spilled(n) for n in reached(name, {name}))
            found[name] = Figures(figure["NumVgprs"], spills, figure["ScratchSize"],
                                  figure["Occupancy"], WAVES[target])
    return found


def amd(precision, program, root, targets):
    with tempfile.TemporaryDirectory() as folder:
        for target in targets:
            path = pathlib.Path(folder) / f"{target}.s"
            clang(root, precision, program, "amdgcn-mesa-mesa3d", f"-mcpu={target}",
                  "gfx906-amdgcn-mesa-mesa3d.bc", path)
            yield target, amd_figures(target, path.read_text())


def amd_version(_):
    return f"clang {version(tool('clang-15', 'clang'))}"


# ---- Intel ----

BUFFER = re.compile(r"- type:\s+\w+\n\s+usage:\s+(\w+)\n\s+size:\s+(\d+)")


def ze_figures(binary, log):
    """The .ze_info section is YAML text; which kernels spill, the log says."""
    start = binary.find(b"\nkernels:")
    info = binary[start:].split(b"\0")[0].decode() if start >= 0 else ""
    found = {}
    for part in info.split("  - name:")[1:]:
        if "simd_size" not in part:
            continue
        name, lanes = part.split()[0], int(re.search(r"simd_size:\s+(\d+)", part)[1])
        spilled = memory = 0
        for use, size in BUFFER.findall(part):
            share = int(size) if use == "private_space" else int(size) // lanes  # a unit's, else
            memory += share
            if use == "spill_fill_space" or (use == "single_space" and f"kernel {name} " in log):
                spilled += share
        registers = int(re.search(r"grf_count:\s+(\d+)", part)[1])
        found[name] = Figures(registers, spilled, memory, lanes, 32)
    return found


def intel(precision, program, root, targets):
    ocloc = tool("ocloc")
    with tempfile.TemporaryDirectory() as folder:
        for target in targets:
            if precision == "f64" and target in NO_FLOAT64:
                yield target, None
                continue
            wide = target not in NO_FLOAT64
            options = " ".join([*OPTIONS, *defines(root, precision, program, wide)])
            for name in (target, {"dg2": "acm-g10"}.get(target, target)):
                code, text = run(ocloc, "compile", "-file", suite_of(root, program),
                                 "-device", name, "-options", options, "-internal_options",
                                 "-cl-intel-allow-zebin", "-out_dir", folder, "-output", "k",
                                 "-output_no_suffix")
                if not code:
                    break
            if code:
                raise Refused(text)
            yield target, ze_figures((pathlib.Path(folder) / "k").read_bytes(), text)


@functools.cache
def intel_version(_):
    """ocloc answers a query in a file of the query's name."""
    ocloc = tool("ocloc")
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([ocloc, "query", "OCL_DRIVER_VERSION"], cwd=folder, capture_output=True,
                       check=False)
        path = pathlib.Path(folder) / "OCL_DRIVER_VERSION"
        text = path.read_text().strip("\0\n ") if path.exists() else "of unknown version"
    return f"ocloc {text}"


def build(vendor, precision, program, root, targets):
    """Pairs of a target and its kernels' figures; None where it does not take part."""
    return {"nvidia": nvidia, "amd": amd, "intel": intel}[vendor](precision, program, root, targets)


def compiler(vendor, target):
    versions = {"nvidia": nvidia_version, "amd": amd_version, "intel": intel_version}
    return versions[vendor](target)
