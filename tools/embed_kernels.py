#!/usr/bin/env python3
"""Flattens the kernels' suites and embeds them: embed_kernels.py CL_DIR OUT_DIR GROUP:MODULE,MODULE...

A group is a set of modules whose kernels the host path compiles as one object for each kind of number.

A module's suite is CL_DIR/kernels/MODULE/suite.cl. Writes into OUT_DIR
  kernel_source.h  each suite as one text without #include (#line kept), nor comments, as bytes
  kernel_ids.h     enums of the modules and of the kernels
  kernel_table.inl the modules' names; the kernels' names, modules, argument kinds, and which run in
                   work-groups and on which numbers
  host_GROUP.inl   for the host path: the group's suites, and one function a kernel that unpacks an
                   argument array
  host_groups.inl  each kernel's group
A file whose text is the same stays as it was, so that nothing that depends on it is built again. All files are made of the
kernels' own text, so that a new kernel needs no second list.
"""
import pathlib
import re
import sys
from typing import NamedTuple

COMMENT = re.compile(r"//.*$")
INCLUDE = re.compile(r'^\s*#include "([^"]+)"\s*$')
PLAIN_ONLY = "\n#if !TANGENTS\n"  # kernels after it are not in a suite's programs on duals
DUAL_ONLY = "\n#if TANGENTS == 1\n"  # kernels between it and PLAIN_ONLY are only in programs on duals of one tangent
KERNEL = re.compile(r"^(?P<merged>MERGED\n)?(?P<adjoint>ADJOINT_)?KERNEL (?P<grouped>(?:ADJOINT_)?GROUPED )?void (?P<name>\w+)"
                    r"\((?P<arguments>[^)]*)\)\s*\{(?P<body>.*?)^\}", re.S | re.M)
HELPER = re.compile(r"^static \w[\w ]*?[ *](\w+)\(([^)]*)\)\s*\{(.*?)^\}", re.S | re.M)


class Kernel(NamedTuple):
    module: str
    name: str
    kinds: list  # of arguments: (ARGUMENT_*, C type)
    grouped: bool
    plain_only: bool
    dual_only: bool
    adjoint: bool
    merged: bool


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


def suite_of(root, module):
    return root / "kernels" / module / "suite.cl"


def listed(source):
    """The text with the arguments that kernels have for each output (geometry/outputs.h) written out: their number is
    read off the text."""
    table = dict.fromkeys(re.findall(r"\bOUTPUT\((\w+), [A-Z]\w*, \d+\)", source))
    written = {}
    for name, macro in re.findall(r"^#define (OUTPUT_\w+) CONTACT_OUTPUTS\((\w+), AND_COMMA\)$", source, flags=re.M):
        form = re.search(rf"^#define {macro}\(member, id, reals\) (.*)$", source, flags=re.M)[1]
        written[name] = ", ".join(re.sub(r"\bmember(##)?", member, form) for member in table)
    return re.sub(r"(?<!#define )\bOUTPUT_\w+", lambda found: written.get(found[0], found[0]), source)


def source_of(root, module):
    return listed("\n".join(flatten(suite_of(root, module), root)) + "\n")


def argument_kind(text):
    words = text.replace("*", " * ").split()
    if "*" in words:
        return "ARGUMENT_BUFFER", " ".join(w for w in words[:-1] if w != "GLOBAL")
    kinds = {"int": "ARGUMENT_INT", "real": "ARGUMENT_REAL"}
    return kinds.get(words[0], "ARGUMENT_STRUCT"), words[0]


def meeting_functions(source):
    """Returns a pattern of everything that synchronizes work-items: barriers, and functions that call one."""
    bodies = {match[1]: match[3] for match in HELPER.finditer(source)}
    names = {r"BARRIER\w*"}
    while True:
        pattern = re.compile(rf"\b(?:{'|'.join(sorted(names))})\b")
        more = {name for name, body in bodies.items() if pattern.search(body)} - names
        if not more:
            return pattern
        names |= more


def check_meetings(name, body, meeting):
    last = max((match.end() for match in meeting.finditer(body)), default=0)
    if re.search(r"\breturn;", body[:last]):
        sys.exit(f"kernel {name} returns before its work-items have met for the last time: see cl/num/real.h")


def kernels_of(module, source):
    plain_from, dual_from, meeting = source.find(PLAIN_ONLY), source.find(DUAL_ONLY), meeting_functions(source)
    if dual_from > plain_from:
        sys.exit(f"suite {module}: what is on duals alone comes before what is on plain numbers alone")
    found = []
    for match in KERNEL.finditer(source):
        merged, adjoint, grouped, name, arguments, body = match.groups()
        kinds = [argument_kind(a) for a in arguments.split(",")]
        check_meetings(name, body, meeting)
        if (grouped or "") != (f"{adjoint or ''}GROUPED " if re.search("get_(group|local)_id", body) else ""):
            sys.exit(f"kernel {name}: exactly the kernels of work-groups are GROUPED, see cl/num/real.h")
        found.append(Kernel(module, name, kinds, grouped is not None,
                            0 <= plain_from < match.start(), 0 <= dual_from < match.start() < plain_from,
                            adjoint is not None, merged is not None))
    return found


def merged_kernel(match):
    """A kernel's text, and that of the kernel that carries out several launches of it at once: see MERGED of
    cl/num/real.h. A row of `launches` is one of them: its first work-item among all, how many it has along the first
    dimension, and its arguments."""
    adjoint, name, arguments, body = match["adjoint"] or "", match["name"], match["arguments"], match["body"]
    kinds = [argument_kind(a) for a in arguments.split(",")]
    names = [re.search(r"(\w+)\s*$", a)[1] for a in arguments.split(",")]
    values, at = [], "2"
    for kind, type_ in kinds:
        values.append(f"(GLOBAL {type_})MERGED_MEMORY(row[{at}])" if kind == "ARGUMENT_BUFFER" else
                      f"*(GLOBAL const {type_} *)(row + {at})")
        at += f" + MERGED_SLOTS({type_})" if kind == "ARGUMENT_STRUCT" else " + 1"
    body = re.sub(r"get_g(?:lobal|roup)_id\(([01])\)", r"item_\1", body)
    body = re.sub(r"get_local_id\(0\)", "0", body)
    return (f"#if !WITH_MERGED\n{match[0]}\n#else\n"
            f"static void {name}_at(int item_0, int item_1, {arguments})\n{{{body}}}\n"
            f"{adjoint}KERNEL void {name}({arguments})\n{{\n"
            f"{name}_at((int)get_global_id(0), (int)get_global_id(1), {', '.join(names)});\n}}\n"
            f"{adjoint}KERNEL void {name}_merged(GLOBAL const ulong *launches, int count, int stride, int items, "
            "GLOBAL char *common)\n{\nconst int item = (int)get_global_id(0);\nif (item < items) {\n"
            "GLOBAL const ulong *row = merged_row(launches, count, stride, item);\n"
            "const int in = item - (int)row[0], width = (int)row[1];\n"
            f"{name}_at(in % width, in / width, {', '.join(values)});\n}}\n}}\n#endif")


def with_merged(source):
    return KERNEL.sub(lambda match: merged_kernel(match) if match["merged"] else match[0], source)


def check_once(kernels):
    names = [k.name for k in kernels]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        sys.exit(f"kernels of one name in two places: {', '.join(twice)}")


def write(path, text):
    if not path.exists() or path.read_text() != text:
        path.write_text(text)


def write_ids(out, modules, kernels):
    most = max(len(k.kinds) for k in kernels)
    text = "/* Made by tools/embed_kernels.py. */\n"
    text += "#ifndef ABUT_KERNEL_IDS_H\n#define ABUT_KERNEL_IDS_H\n\n"
    for kind, names in (("module", modules), ("kernel", [k.name for k in kernels])):
        text += f"typedef enum {kind}_id {{\n"
        text += "".join(f"  {kind.upper()}_{name.upper()},\n" for name in names)
        text += f"  {kind.upper()}_COUNT\n}} {kind}_id;\n\n"
    text += f"#define KERNEL_ARGUMENTS {most}\n\n#endif\n"
    write(out / "kernel_ids.h", text)


def write_table(out, modules, kernels):
    text = "/* Made by tools/embed_kernels.py. */\n"
    text += "static const char *const module_names[MODULE_COUNT] = {\n"
    text += "".join(f'  "{name}",\n' for name in modules) + "};\n\n"
    text += "static const kernel_entry kernel_table[KERNEL_COUNT] = {\n"
    for k in kernels:
        listed = ", ".join(kind for kind, _ in k.kinds)
        text += (f'  {{"{k.name}", MODULE_{k.module.upper()}, {len(k.kinds)}, {int(k.grouped)}, '
                 f"{int(k.plain_only)}, {int(k.dual_only)}, {int(k.adjoint)}, {int(k.merged)},\n   {{{listed}}}}},\n")
    text += "};\n"
    write(out / "kernel_table.inl", text)


def condition(kernel):
    """Returns the condition under which a kernel is in the host path's text."""
    parts = ["!TANGENTS"] * kernel.plain_only + ["TANGENTS == 1"] * kernel.dual_only + ["WITH_ADJOINT"] * kernel.adjoint
    return " && ".join(parts) or "1"


def write_shims(out, groups, kernels):
    value = {"ARGUMENT_BUFFER": "({0})a[{1}].pointer", "ARGUMENT_INT": "({0})a[{1}].integer",
             "ARGUMENT_REAL": "({0})a[{1}].number",
             "ARGUMENT_STRUCT": "*(const {0} *)a[{1}].structure"}
    for group, modules in groups.items():
        own = [k for k in kernels if k.module in modules]
        text = "/* Made by tools/embed_kernels.py. */\n"
        text += "".join(f'#include "kernels/{module}/suite.cl"\n' for module in modules) + "\n"
        for k in own:
            values = ", ".join(value[kind].format(kind_type, i) for i, (kind, kind_type) in enumerate(k.kinds))
            text += (f"#if {condition(k)}\nstatic void call_{k.name}(const host_argument *a)\n"
                     f"{{\n  {k.name}({values});\n}}\n#endif\n\n")
        text += "static const host_function host_functions[KERNEL_COUNT + 1] = {\n"
        text += "".join(f"#if {condition(k)}\n  [KERNEL_{k.name.upper()}] = call_{k.name},\n#endif\n" for k in own)
        # A group may have no kernels on duals, but an array must not be empty.
        write(out / f"host_{group}.inl", text + "  [KERNEL_COUNT] = NULL};\n")
    group_of = {module: number for number, modules in enumerate(groups.values()) for module in modules}
    text = "/* Made by tools/embed_kernels.py. */\n#define EACH_HOST_GROUP(X, name)"
    text += "".join(f" X({group}, name)" for group in groups) + "\n\n"
    text += "static const unsigned char host_groups[KERNEL_COUNT] = {\n"
    text += "".join(f"  [KERNEL_{k.name.upper()}] = {group_of[k.module]},\n" for k in kernels)
    write(out / "host_groups.inl", text + "};\n")


def bare(source):
    """Returns the text without comments and indentation, line by line: this saves a third of the embedded size."""
    lines = (line if line.startswith("#line") else COMMENT.sub("", line).strip() for line in source.split("\n"))
    return "\n".join(lines)


def embedded(name, source):
    data = source.encode() + b"\0"
    rows = [", ".join(str(b) for b in data[i:i + 24]) for i in range(0, len(data), 24)]
    return f"static const char {name}[] = {{\n" + ",\n".join(rows) + "\n};\n"


def pieces_of(source):
    """Cuts the text where an included file starts or ends, so that common files are embedded once."""
    return [piece for piece in re.split(r"^(?=#line )", bare(source), flags=re.M) if piece]


def write_sources(out, sources):
    names = {}
    text = '/* Made by tools/embed_kernels.py. */\n#include "kernel_ids.h"\n'
    suites = ""
    for module, source in sources.items():
        pieces = pieces_of(with_merged(source))
        for piece in pieces:
            if piece not in names:
                names[piece] = f"kernel_piece_{len(names)}"
                text += embedded(names[piece], piece)
        suites += f"static const char *const kernel_suite_{module}[] = {{\n"
        suites += "".join(f"  {names[piece]},\n" for piece in pieces) + "  NULL};\n"
    text += suites + "/* A suite's text is its pieces, one behind the other. */\n"
    text += "static const char *const *const kernel_sources[MODULE_COUNT] = {\n"
    text += "".join(f"  kernel_suite_{m},\n" for m in sources) + "};\n"
    write(out / "kernel_source.h", text)


def main():
    root, out = (pathlib.Path(a).resolve() for a in sys.argv[1:3])
    groups = {group: modules.split(",") for group, modules in (argument.split(":") for argument in sys.argv[3:])}
    modules = [module for group in groups.values() for module in group]
    sources = {module: source_of(root, module) for module in modules}
    kernels = [k for module in modules for k in kernels_of(module, sources[module])]
    check_once(kernels)
    write_sources(out, sources)
    write_ids(out, modules, kernels)
    write_table(out, modules, kernels)
    write_shims(out, groups, kernels)


if __name__ == "__main__":
    main()
