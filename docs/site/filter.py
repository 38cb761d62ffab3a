#!/usr/bin/env python3
"""A header as Doxygen understands it: filter.py HEADER

The comments of the headers are plain ones. Here those before a declaration, and those behind a member, become comments of
Doxygen's that hold reStructuredText for Breathe (plain.py). The headers need no marks for this.
"""
import pathlib
import re
import sys
import textwrap

sys.path.insert(0, str(pathlib.Path(__file__).parent))
from plain import as_rst, prose  # noqa: E402

COMMENT = re.compile(r"/\*(.*?)\*/", re.S)
CPLUSPLUS = re.compile(r"#ifdef __cplusplus\n.*?#endif\n", re.S)


def lines_of(comment):
    """The lines of a comment's text, without stars and without the indentation that they share."""
    first, *more = comment.strip().splitlines()
    if more and all(re.match(r"\s*\*", line) or not line.strip() for line in more):
        more = [re.sub(r"^\s*\* ?", "", line) for line in more]
    else:
        more = textwrap.dedent("\n".join(more)).splitlines()
    return [first, *more]


def documented(text):
    out, at, depth = [], 0, 0
    for found in COMMENT.finditer(text):
        code = text[at:found.start()]
        depth += code.count("{") - code.count("}")
        before = text[text.rfind("\n", 0, found.start()) + 1:found.start()].strip()
        after = text[found.end():].split("\n", 1)[0].strip()
        at = found.end()
        out.append(code)
        lines = lines_of(found[1])
        if found.start() == 0:
            mark, rst = "/** \\file\n", as_rst(lines)
        elif not before and not after:
            mark, rst = "/**\n", as_rst(lines)
        elif before and not after and depth > 0 and not before.endswith("{"):
            mark, rst = "/**<\n", prose(re.sub(r" {2,}", " ", line) for line in lines)
        else:
            out.append(found[0])
            continue
        out.append(mark + "\\verbatim embed:rst\n" + "\n".join(rst) + "\n\\endverbatim */")
    return "".join(out) + text[at:]


if __name__ == "__main__":
    print(documented(CPLUSPLUS.sub("", pathlib.Path(sys.argv[1]).read_text(encoding="utf-8"))))
