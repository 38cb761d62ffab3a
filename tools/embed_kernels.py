#!/usr/bin/env python3
"""Flattens the kernel suite and embeds it: embed_kernels.py SUITE.cl INCLUDE_DIR OUT_DIR

Writes into OUT_DIR
  kernel_source.h  the suite as one text without #include (#line kept), as bytes
  kernel_ids.h     an enum of the kernels
  kernel_table.inl their names, argument kinds, and which run in work-groups
  kernel_shims.inl for the host path: one function a kernel that unpacks an argument array
All are read off the kernels' own text, so a new kernel needs no second list.
"""
import pathlib
import re
import sys

INCLUDE = re.compile(r'^\s*#include "([^"]+)"\s*$')
PLAIN_ONLY = "\n#if !TANGENTS\n"  # kernels behind it are not in the program on duals
KERNEL = re.compile(r"^(?P<adjoint>ADJOINT_)?KERNEL void (\w+)\(([^)]*)\)\s*\{(.*?)^\}", re.S | re.M)


def flatten(path, root):
    lines = [f'#line 1 "{path.relative_to(root)}"']
    for number, line in enumerate(path.read_text().splitlines(), 1):
        found = INCLUDE.match(line)
        if found:
            lines += flatten(root / found[1], root)
            lines.append(f'#line {number + 1} "{path.relative_to(root)}"')
        else:
            lines.append(line)
    return lines


def argument_kind(text):
    words = text.replace("*", " * ").split()
    if "*" in words:
        return "ARGUMENT_BUFFER", " ".join(w for w in words[:-1] if w != "GLOBAL")
    return ("ARGUMENT_INT" if words[0] == "int" else "ARGUMENT_REAL"), words[0]


def kernels_of(source):
    found = []
    plain_from = source.index(PLAIN_ONLY)
    for match in KERNEL.finditer(source):
        adjoint, name, arguments, body = match.groups()
        kinds = [argument_kind(a) for a in arguments.split(",")]
        found.append((name, kinds, "get_group_id" in body, match.start() > plain_from,
                      adjoint is not None))
    return found


def write_table(out, kernels):
    most = max(len(k[1]) for k in kernels)
    text = "/* Made by tools/embed_kernels.py. */\n"
    text += "typedef enum kernel_id {\n"
    text += "".join(f"  KERNEL_{name.upper()},\n" for name, *_ in kernels)
    text += "  KERNEL_COUNT\n} kernel_id;\n\n"
    text += f"#define KERNEL_ARGUMENTS {most}\n"
    (out / "kernel_ids.h").write_text(text)
    text = "/* Made by tools/embed_kernels.py. */\n"
    text += "static const kernel_entry kernel_table[KERNEL_COUNT] = {\n"
    for name, kinds, grouped, plain, adjoint in kernels:
        listed = ", ".join(kind for kind, _ in kinds)
        text += f'  {{"{name}", {len(kinds)}, {int(grouped)}, {int(plain)}, {int(adjoint)},\n   {{{listed}}}}},\n'
    text += "};\n"
    (out / "kernel_table.inl").write_text(text)


def write_shims(out, kernels):
    field = {"ARGUMENT_BUFFER": "pointer", "ARGUMENT_INT": "integer", "ARGUMENT_REAL": "number"}
    text = "/* Made by tools/embed_kernels.py. */\n"
    for plain_only in (False, True):
        text += "#if !TANGENTS\n" if plain_only else ""
        for name, kinds, _, plain, _ in kernels:
            values = ", ".join(f"({kind_type})a[{i}].{field[kind]}"
                               for i, (kind, kind_type) in enumerate(kinds))
            if plain == plain_only:
                text += (f"static void call_{name}(const host_argument *a)\n"
                         f"{{\n  {name}({values});\n}}\n\n")
        text += "#endif\n" if plain_only else ""
    text += "static const host_function host_functions[KERNEL_COUNT] = {\n"
    text += "".join(f"  call_{name},\n" for name, _, _, plain, _ in kernels if not plain)
    text += "#if !TANGENTS\n"
    text += "".join(f"  call_{name},\n" for name, _, _, plain, _ in kernels if plain)
    text += "#endif\n};\n"
    (out / "kernel_shims.inl").write_text(text)


def write_source(out, source):
    data = source.encode() + b"\0"
    rows = [", ".join(str(b) for b in data[i:i + 24]) for i in range(0, len(data), 24)]
    text = "/* Made by tools/embed_kernels.py. */\nstatic const char kernel_source[] = {\n"
    text += ",\n".join(rows) + "\n};\n"
    (out / "kernel_source.h").write_text(text)


def main():
    suite, root, out = (pathlib.Path(a).resolve() for a in sys.argv[1:4])
    source = "\n".join(flatten(suite, root)) + "\n"
    kernels = kernels_of(source)
    write_source(out, source)
    write_table(out, kernels)
    write_shims(out, kernels)


if __name__ == "__main__":
    main()
