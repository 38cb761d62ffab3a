#!/usr/bin/env python3
"""Embeds the page of `abut view`: embed_page.py OUT.h OUT.js PAGE.html PAGE.css WIRE.h PART.js...

The parts of the script, in the order in which they are given, become the body of one function, OUT.js, behind a constant of
what WIRE.h defines.
PAGE.html has the marks @STYLE@, @SCRIPT@, @POLICY@, @LIVE@, @OBJECT@, @ARRAYS@ and @PICTURE@. The first two are replaced by the
style and the script, the third by a Content-Security-Policy that lets these two run by their hashes and nothing else, and no request
be made. At the others the text is cut into the parts that OUT.h has, as bytes.
"""
import base64
import hashlib
import json
import pathlib
import re
import sys

PARTS = ("page_head", "page_before_object", "page_before_arrays", "page_before_picture", "page_tail")


def source_of(text):
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def policy_of(style, script):
    return (f"default-src 'none'; script-src {source_of(script)}; style-src {source_of(style)}; img-src data: blob:; "
            "base-uri 'none'; form-action 'none'")


def bytes_of(name, text):
    rows = [", ".join(str(b) for b in text.encode()[i:i + 24]) for i in range(0, len(text.encode()), 24)]
    return f"static const unsigned char {name}[] = {{\n  " + ",\n  ".join(rows) + "};\n"


def wire_of(text):
    """Returns the numbers, texts and lists of WIRE.h, by their names without WIRE_. A list contains a macro X's entries."""
    wire = {}

    def value_of(word):
        if word.startswith("WIRE_"):
            return wire[word.removeprefix("WIRE_")]
        return int(word, 0) if word[0].isdigit() else word.strip('"')

    text = re.sub(r"/\*.*?\*/", "", text, flags=re.S).replace("\\\n", " ")
    for name, listed, body in re.findall(r"^#define WIRE_(\w+)(\(X\))? +(.+)$", text, re.M):
        entries = [[value_of(word.strip()) for word in entry.split(",")] for entry in re.findall(r"X\(([^()]*)\)", body)]
        wire[name] = entries if listed else value_of(body.strip())
    return wire


def script_of(wire, parts):
    for path in parts:
        if "</" in path.read_text().replace("<\\/", ""):
            sys.exit(f"{path}: it must not hold '</', which would end the script's element")
    return f"'use strict';\n(() => {{\nconst WIRE = {json.dumps(wire, separators=(',', ':'))};\n\n" + "\n".join(path.read_text() for path in parts) + "})();\n"


def main(out, out_script, page, style, wire, *parts):
    html, css = pathlib.Path(page).read_text(), pathlib.Path(style).read_text()
    js = script_of(wire_of(pathlib.Path(wire).read_text()), [pathlib.Path(path) for path in parts])
    marks = {"STYLE": css, "SCRIPT": js, "POLICY": policy_of(css, js)}
    html = re.sub("@(STYLE|SCRIPT|POLICY)@", lambda mark: marks[mark[1]], html)
    cut = re.split("@LIVE@|@OBJECT@|@ARRAYS@|@PICTURE@", html)
    if len(cut) != len(PARTS):
        sys.exit(f"{page}: it needs one each of @LIVE@, @OBJECT@, @ARRAYS@ and @PICTURE@, in this order")
    pathlib.Path(out).write_text("/* Made by tools/embed_page.py. */\n" + "".join(map(bytes_of, PARTS, cut)))
    pathlib.Path(out_script).write_text(js)


if __name__ == "__main__":
    main(*sys.argv[1:])
