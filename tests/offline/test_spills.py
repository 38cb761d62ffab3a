#!/usr/bin/env python3
"""The tests of spills notice one: figures are read off what the compilers print (samples of it
stand here), and what exceeds the known ones is told. Needs no compiler."""
import os
import pathlib
import shutil
import tempfile

import kept
import known
import vendors

PTXAS = """ptxas info    : Compiling entry function 'field' for 'sm_90'
ptxas info    : Function properties for field
    24 bytes stack frame, 8 bytes spill stores, 12 bytes spill loads
ptxas info    : Used 255 registers, used 0 barriers, 40 bytes cumulative stack size
ptxas info    : Function properties for helper
    0 bytes stack frame, 16 bytes spill stores, 16 bytes spill loads
ptxas info    : Compiling entry function 'gate' for 'sm_90'
ptxas info    : Function properties for gate
    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
ptxas info    : Used 32 registers, used 0 barriers
"""
AMD = """field:                                  ; @field
\ts_add_u32 s4, s4, helper@rel32@lo+4
\tbuffer_store_dword v1, off, s[0:3], s32 ; 4-byte Folded Spill
; Kernel info:
; NumVgprs: 256
; ScratchSize: 40
; Occupancy: 4
helper:                                 ; @helper
\tbuffer_store_dword v2, off, s[0:3], s32 ; 8-byte Folded Spill
; Function info:
; NumVgprs: 60
; ScratchSize: 12
gate:                                   ; @gate
; Kernel info:
; NumVgprs: 20
; ScratchSize: 0
; Occupancy: 16
"""
INTEL = b"""\0\0version: '1.20'
kernels:
  - name:            field
    execution_env:
      grf_count:       128
      simd_size:       8
    per_thread_memory_buffers:
      - type:            scratch
        usage:           spill_fill_space
        size:            1024
      - type:            global
        usage:           private_space
        size:            56
  - name:            poses
    execution_env:
      grf_count:       128
      simd_size:       16
    per_thread_memory_buffers:
      - type:            scratch
        usage:           single_space
        size:            1024
  - name:            gate
    execution_env:
      grf_count:       128
      simd_size:       32
\0"""
passed = failed = 0


def check(got, want, what):
    global passed, failed
    passed += got == want
    failed += got != want
    if got != want:
        print(f"{what}: {got}, not {want}")


def brief(found):
    return {name: (f.registers, f.spilled, f.memory, f.occupancy) for name, f in found.items()}


def check_parsers():
    check(brief(vendors.ptxas_figures("sm_90", PTXAS)),
          {"field": (255, 24, 40, 8), "gate": (32, 0, 0, 64)}, "ptxas")
    check(brief(vendors.amd_figures("gfx1030", AMD)),
          {"field": (256, 12, 40, 4), "gate": (20, 0, 0, 16)}, "AMD")
    log = "warning: kernel field  compiled SIMD8 allocated 128 regs and spilled around 42"
    check(brief(vendors.ze_figures(INTEL, log)),
          {"field": (128, 128, 184, 8), "poses": (128, 0, 64, 16), "gate": (128, 0, 0, 32)}, "Intel")
    log = log.replace("field", "poses")
    check(vendors.ze_figures(INTEL, log)["poses"].spilled, 64, "Intel, one space")


def check_warps():
    """Of CUDA's occupancy tables: registers -> warps resident at 64 threads a block."""
    for target, registers, warps in (("sm_90", 32, 64), ("sm_90", 33, 48), ("sm_90", 64, 32),
                                     ("sm_75", 32, 32), ("sm_86", 32, 32), ("sm_89", 40, 48),
                                     ("sm_80", 255, 8)):
        check(vendors.warps_resident(target, registers), warps, f"{target} at {registers}")


def check_excesses():
    found = vendors.ptxas_figures("sm_90", PTXAS)
    for spilled, memory, count in ((24, 40, 0), (30, 48, 0), (23, 40, 1), (24, 39, 1), (0, 0, 1)):
        recorded = {"sm_90": {"f32": {"manifold plain forward": {"field": [spilled, memory]}}}}
        told = list(known.excesses(recorded, "sm_90", "f32", "manifold plain forward", found))
        check(len(told), count, f"known {spilled}, {memory}")
    recorded = {"sm_90": {"f32": {"manifold plain forward": {"field": [24, 40]}}}}
    for place in (("sm_80", "f32", "manifold plain forward"),
                  ("sm_90", "f64", "manifold plain forward"),
                  ("sm_90", "f32", "manifold duals forward"),
                  ("sm_90", "f32", "field plain forward")):
        check(len(list(known.excesses(recorded, *place, found))), 1, "elsewhere")
    check(known.entry_of(found), {"field": [24, 40]}, "what is recorded")


def check_file():
    """What is stored is of kernels and targets that there are."""
    for target, entry in known.load().items():
        check(any(target in targets for targets in vendors.TARGETS.values()), True, target)
        names = {vendors.name_of(p) for p in vendors.PROGRAMS}
        for precision in ("f32", "f64"):
            check(set(entry.get(precision, names)) - names, set(), f"{target} {precision}")


def check_kept():
    """Figures are kept, not those of another text, and built again where their file is damaged."""
    figures = {"field": vendors.Figures(255, 24, 40, 8, 64)}
    program, built, real = vendors.PROGRAMS[0], [], (vendors.build, vendors.compiler)

    def build(vendor, precision, program, root, targets):
        built.extend(targets)
        return [(target, None if target == "old" else figures) for target in targets]

    def again(root, *targets):
        built.clear()
        return dict(kept.build("nvidia", "f32", program, root, targets))

    with tempfile.TemporaryDirectory() as scratch:
        root, other = vendors.PROJECT / "cl", pathlib.Path(scratch) / "cl"
        shutil.copytree(root, other)
        suite = other / "kernels" / program.module / "suite.cl"
        suite.write_text(suite.read_text("utf-8") + "\n", "utf-8")
        os.environ["ABUT_OFFLINE_CACHE"] = str(pathlib.Path(scratch) / "kept")
        vendors.build, vendors.compiler = build, lambda vendor, target: f"{vendor} 1"
        for what, targets, want in (("new", ["sm_80", "old"], ["sm_80", "old"]),
                                    ("kept", ["sm_80", "old"], ["old"]),
                                    ("one more", ["sm_80", "sm_90"], ["sm_90"])):
            found = again(root, *targets)
            check(built, want, what)
            check(found, {t: None if t == "old" else figures for t in targets}, f"{what}: figures")
        again(other, "sm_80")
        check(built, ["sm_80"], "another text")
        for path in (pathlib.Path(scratch) / "kept").iterdir():
            path.write_text("{\"field\": [1", "utf-8")
        check(again(root, "sm_80"), {"sm_80": figures}, "damaged: figures")
        check(built, ["sm_80"], "damaged")
        vendors.compiler = lambda vendor, target: f"{vendor} 2"
        again(root, "sm_80")
        check(built, ["sm_80"], "another compiler")
        os.environ["ABUT_OFFLINE_CACHE"] = "off"
        again(root, "sm_80")
        check(built, ["sm_80"], "off")
    vendors.build, vendors.compiler = real


check_parsers()
check_kept()
check_warps()
check_excesses()
check_file()
print(f"{passed} passed, {failed} failed")
raise SystemExit(1 if failed or not passed else 0)
