"""reStructuredText of the project's comments and docstrings, which are plain text with aligned tables."""
import re

CODE = re.compile(r"`([^`\n]+)`")
SPECIAL = re.compile(r"([\\*`|_])")
# What docutils would take for the beginning of a list, a directive, a section or a field.
BEGINS = re.compile(r"([-+*•=~^#>.:]|\(?\w{1,3}[.)]\s)")


def escaped(text):
    return SPECIAL.sub(r"\\\1", text).replace("::", r":\:")


def prose(lines):
    """A paragraph: names in backticks are code, and nothing else has a meaning."""
    text, out, at = " ".join(line.strip() for line in lines), [], 0
    for found in CODE.finditer(text):
        before, after = text[at:found.start()], text[found.end():found.end() + 1]
        out += [escaped(before), r"\ " if before and not before[-1].isspace() else "", f"``{found[1].strip()}``",
                r"\ " if after and not after.isspace() else ""]
        at = found.end()
    text = "".join(out) + escaped(text[at:])
    return ["\\" + text if BEGINS.match(text) and text[0] != "\\" else text, ""]


def table(lines):
    """Lines that are aligned by their author stay as they are."""
    return [".. code-block:: none", "", *("   " + line for line in lines), ""]


def is_table(line):
    return line[:1].isspace() or re.search(r"\S {2,}\S", line) is not None


def as_rst(lines):
    """Lines of reStructuredText of lines without their comment's marks and common indentation."""
    out, run, kind = [], [], None
    for line in [*lines, ""]:
        line = line.rstrip()
        now = None if not line else table if is_table(line) else prose
        if now is not kind and run:
            out += kind(run)
            run = []
        kind = now
        if line:
            run.append(line)
    return out
