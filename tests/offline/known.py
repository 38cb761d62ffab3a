"""Spills that are known: known_spills.json beside this file.

target -> {"compiler": its version, precision: {program: {kernel: [bytes spilled, bytes of private
memory]}}}, of the kernels that have either.
"""
import json
import pathlib

PATH = pathlib.Path(__file__).resolve().parent / "known_spills.json"


def load():
    return json.loads(PATH.read_text()) if PATH.exists() else {}


def save(known):
    """One line a program."""
    lines = []
    for target, entry in known.items():
        rows = [f'    "compiler": {json.dumps(entry["compiler"])}']
        for precision in (p for p in ("f32", "f64") if p in entry):
            programs = ",\n".join(f"      {json.dumps(name)}: {json.dumps(kernels)}"
                                  for name, kernels in entry[precision].items())
            rows.append(f'    "{precision}": {{\n{programs}\n    }}')
        lines.append(f'  "{target}": {{\n' + ",\n".join(rows) + "\n  }")
    PATH.write_text("{\n" + ",\n".join(lines) + "\n}\n")


def entry_of(found):
    return {name: [f.spilled, f.memory] for name, f in sorted(found.items())
            if f.spilled or f.memory}


def excesses(known, target, precision, program, found):
    """What spills, or lies in private memory, beyond what is known, in words."""
    before = known.get(target, {}).get(precision, {}).get(program, {})
    for name, (spilled, memory) in entry_of(found).items():
        was_spilled, was_memory = before.get(name, [0, 0])
        if spilled > was_spilled or memory > was_memory:
            yield (f"{target} {precision} {program} {name}: {spilled} bytes spilled, {memory} of "
                   f"private memory; known are {was_spilled} and {was_memory}")
