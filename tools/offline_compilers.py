#!/usr/bin/env python3
"""Builds every kernel for every target of the vendors' offline compilers and says what comes out.

  python3 tools/offline_compilers.py [--target NAME ...] [--module NAME ...] [--write]

Prints the table of registers, spills and occupancy of docs/benchmarks/compilers.md. --write puts it
there and the spills into tests/offline/known_spills.json, beyond which the tests fail; rows of
targets that are not asked for, or whose compiler is absent, are kept. With --module programs of
these modules alone are built: their spills are recorded, and the page's table, which is of all, stays. ptxas of CUDA 13 no longer
knows sm_70: ABUT_PTXAS names an older one beside it.
"""
import argparse
import concurrent.futures
import os
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "benchmarks" / "compilers.md"
sys.path.insert(0, str(ROOT / "tests" / "offline"))
import known  # noqa: E402
import vendors  # noqa: E402

BEGIN, END = "<!-- offline compilers: begin -->", "<!-- offline compilers: end -->"
HEADER = ["target, compiler", "kernels", "float32: most registers", "spilled", "private memory",
          "occupancy", "float64: most registers", "spilled", "private memory", "occupancy"]


def built(job):
    """Returns (target, precision, program, figures) of one program on one vendor's targets."""
    vendor, precision, program, targets = job
    try:
        return [(target, precision, program, found) for target, found in
                vendors.build(vendor, precision, program, ROOT / "cl", targets) if found]
    except (vendors.Absent, vendors.Refused) as reason:
        print(f"not run: {vendor} {precision} {vendors.name_of(program)}: {str(reason)[:2000]}",
              file=sys.stderr)
    return []


def build_all(wanted, modules):
    """target -> precision -> program's name -> figures of its kernels."""
    jobs = []
    for vendor, targets in vendors.TARGETS.items():
        here = [t for t in targets if not wanted or t in wanted]
        # Intel's compiler takes minutes for the largest program, so each target is a separate job.
        groups = [[t] for t in here] if vendor == "intel" else [here] if here else []
        jobs += [(vendor, precision, program, group) for group in groups
                 for precision in ("f32", "f64") for program in vendors.PROGRAMS
                     if not modules or program.module in modules]
    out = {}
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for results in pool.map(built, jobs[::-1]):
            for target, precision, program, found in results:
                names = vendors.kernels_of(ROOT / "cl", program)
                entry = out.setdefault(target, {}).setdefault(precision, {})
                entry[vendors.name_of(program)] = {name: found[name] for name in names}
    return out


def named(name, program):
    numbers = next((n for n in ("duals of 6", "duals") if n in program), None)
    return f"{name}, {numbers}" if numbers else name


def most(figures, field):
    """The largest figure, and the kernel that has it."""
    return max(((getattr(f, field), named(k, program)) for program, k, f in figures),
               key=lambda m: m[0])


def share_text(figures, field):
    sizes = [getattr(f, field) for _, _, f in figures]
    if not any(sizes):
        return "0"
    value, name = most(figures, field)
    count = sum(s > 0 for s in sizes)
    return f"{count} kernel{'s' if count > 1 else ''}, most {value:,} B ({name})"


def occupancy_text(vendor, figures):
    values = sorted(f.occupancy for _, _, f in figures)
    least, middle, best = values[0], values[len(values) // 2], figures[0][2].most
    if vendor == "intel":
        return f"{least} to {values[-1]} lanes, median {middle}"
    unit = {"nvidia": "warps", "amd": "waves"}[vendor]
    return f"{least} to {values[-1]}, median {middle}, of {best} {unit}"


def cells(vendor, programs):
    if not programs:
        return ["no float64" if vendor == "intel" else "not run", "", "", ""]
    figures = [(program, k, f) for program, kernels in programs.items() for k, f in kernels.items()]
    registers, name = most(figures, "registers")
    text = f"{registers} (of 128, always)" if vendor == "intel" else f"{registers} ({name})"
    return [text, share_text(figures, "spilled"), share_text(figures, "memory"),
            occupancy_text(vendor, figures)]


def row_of(vendor, target, precisions):
    count = sum(len(kernels) for programs in precisions.values() for kernels in programs.values())
    return [f"{target}, {vendors.compiler(vendor, target)}", str(count),
            *cells(vendor, precisions.get("f32")), *cells(vendor, precisions.get("f64"))]


def read_rows(text):
    table = text.split(BEGIN)[1].split(END)[0].strip().splitlines()[2:] if BEGIN in text else []
    rows = [[c.strip() for c in line.strip().strip("|").split("|")] for line in table]
    return {re.split(r"[, ]", r[0])[0]: r for r in rows if len(r) == len(HEADER)}


def write_table(table):
    text = PAGE.read_text()
    head, rest = text.split(BEGIN)
    PAGE.write_text(f"{head}{BEGIN}\n{table}\n{END}{rest.split(END)[1]}")


def write_spills(results, modules):
    recorded = known.load()
    for vendor, target in ((v, t) for v, targets in vendors.TARGETS.items() for t in targets):
        entry = recorded.pop(target, None)
        if target in results:
            before = entry if modules and entry else {}
            entry = {**before, "compiler": vendors.compiler(vendor, target)}
            for precision, programs in results[target].items():
                names = [vendors.name_of(p) for p in vendors.PROGRAMS]
                entry[precision] = {name: known.entry_of(programs[name]) if name in programs else before[precision][name]
                                    for name in names if name in programs or name in before.get(precision, {})}
        if entry:
            recorded[target] = entry  # in the order of vendors.TARGETS
    known.save(recorded)


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--target", action="append", default=[])
    parser.add_argument("--module", action="append", default=[])
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args()
    results = build_all(options.target, options.module)
    rows = read_rows(PAGE.read_text())
    for vendor, targets in vendors.TARGETS.items():
        rows.update({t: row_of(vendor, t, results[t]) for t in targets if t in results})
    order = [t for targets in vendors.TARGETS.values() for t in targets]
    lines = [HEADER, ["---"] * len(HEADER), *(rows[t] for t in order if t in rows)]
    table = "\n".join("| " + " | ".join(line) + " |" for line in lines)
    print(table)
    if options.write:
        write_spills(results, options.module)
    if options.write and not options.module:
        write_table(table)


if __name__ == "__main__":
    main()
