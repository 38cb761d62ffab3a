#!/usr/bin/env python3
"""Every link of every .md file against the tree: links.py ROOT

Relative targets, images among them, must exist; anchors must be headings of the page that they
name, by GitHub's rule; every page under docs/ must be reachable from README.md; the map, docs/README.md,
must link every page for users, which are those under docs/ but outside docs/dev; and files that a page
names in backticks by their path from ROOT must be there. Links to other hosts are not asked.
"""
import html
import os
import pathlib
import re
import sys
import urllib.parse

LINK = re.compile(r"!?\[(?:[^\[\]]|\[[^\[\]]*\](?:\([^()]*\))?)*\]"  # text, or an image in its place
                  r"\(\s*<?([^\s()<>]*(?:\([^\s()]*\)[^\s()<>]*)*)>?(?:\s+[\"'][^)]*)?\s*\)")
INNER = re.compile(r"!\[[^\[\]]*\]\(\s*<?([^\s()<>]*)>?[^)]*\)")  # an image that is a link's text
REFERENCE = re.compile(r"^ {0,3}\[[^\]^][^\]]*\]:\s*<?([^\s<>]+)>?", re.M)
TAG = re.compile(r"<(?:a|img)\b[^>]*?\b(?:href|src)=[\"']([^\"']*)[\"']", re.I)
NAMED = re.compile(r"<[a-z]+\b[^>]*?\b(?:id|name)=[\"']([^\"']+)[\"']", re.I)
FENCE = re.compile(r"^ {0,3}(```+|~~~+)[^\n]*\n.*?(?:^ {0,3}\1[`~]*[ \t]*$|\Z)", re.M | re.S)
CODE = re.compile(r"(`+)(?!`)(.+?)(?<!`)\1(?!`)", re.S)
HEADING = re.compile(r"^ {0,3}#{1,6}[ \t]+(.*?)(?:[ \t]+#+)?[ \t]*$|^(?=\S)([^\n]+)\n(?:=+|-+)[ \t]*$", re.M)
SCHEME = re.compile(r"^[a-z][a-z0-9+.-]*:", re.I)
PATH = re.compile(r"`((?:src|cl|include|tests|tools|bench|docs|examples|assets)/[\w./-]+)`")
MAP, MAINTAINERS = "docs/README.md", "docs/dev"
HISTORY = "CHANGELOG.md"  # which names files as they were


def pages_of(root):
    """The repository's own .md files: not those of builds, of hidden folders, of others."""
    found = []
    for folder, folders, files in os.walk(root):
        top = pathlib.Path(folder) == root
        folders[:] = sorted(f for f in folders if not f.startswith(".") and
                            not (top and (f.startswith("build") or f in ("shared", "subprojects"))))
        found += [pathlib.Path(folder, f) for f in sorted(files) if f.endswith(".md")]
    return found


def without_code(text):
    return CODE.sub("", FENCE.sub("", text))


def links_of(text):
    text = re.sub(r"<!--.*?-->", "", without_code(text), flags=re.S)
    return list(dict.fromkeys(html.unescape(link) for pattern in (LINK, INNER, REFERENCE, TAG)
                              for link in pattern.findall(text)))


def slug(heading):
    """GitHub's: the text that is shown, in small letters, less punctuation, blanks as hyphens."""
    shown = re.sub(r"!?\[([^\]]*)\](?:\([^)]*\)|\[[^\]]*\])", r"\1", heading)
    shown = re.sub(r"<[^>]*>", "", shown)
    shown = re.sub(r"(?<!\w)(_{1,3})(?=\S)(.+?)(?<=\S)\1(?!\w)", r"\2", shown)
    shown = html.unescape(re.sub(r"[`*~]", "", shown))
    return re.sub(r"[^\w\- ]", "", shown.strip().lower()).replace(" ", "-")


def anchors_of(text):
    seen, anchors = {}, set(NAMED.findall(without_code(text)))
    for marked, underlined in HEADING.findall(FENCE.sub("", text)):
        name = slug(marked or underlined)
        count = seen.get(name, 0)
        seen[name] = count + 1
        anchors.add(f"{name}-{count}" if count else name)
    return anchors


def is_exact(path):
    """Whether a path is there in these very letters, whatever the file system makes of them."""
    while path != path.parent:
        if path.parent.exists() and path.name not in os.listdir(path.parent):
            return False
        path = path.parent
    return True


def page_at(target):
    """The page that a target shows: a folder shows its README."""
    return target / "README.md" if target.is_dir() else target


def fault_of(root, page, link, anchors):
    """What is wrong with a link of a page, or None; and the file it leads to, or None."""
    address, _, anchor = link.partition("#")
    if SCHEME.match(link) or link.startswith("//"):
        return None, None
    place = root / address.lstrip("/") if address.startswith("/") else page.parent / address
    target = pathlib.Path(os.path.normpath(place.parent / urllib.parse.unquote(place.name)
                                           if address else page))
    if root not in (target, *target.parents):
        return "leads out of the repository", None
    if not target.exists() or not is_exact(target):
        return "leads to no file", None
    shown = page_at(target)
    if anchor and shown.suffix == ".md" and urllib.parse.unquote(anchor) not in anchors(shown):
        return "leads to no heading", None
    return None, shown


def faults_of(root):
    """Lines that say what is wrong, and how much was looked at."""
    root = pathlib.Path(root).resolve()
    pages, known, faults, looked = pages_of(root), {}, [], 0

    def anchors(path):
        if path not in known:
            known[path] = anchors_of(path.read_text(encoding="utf-8")) if path.exists() else set()
        return known[path]

    leads = {}
    for page in pages:
        text, name = page.read_text(encoding="utf-8"), page.relative_to(root)
        leads[page] = set()
        for link in links_of(text):
            fault, target = fault_of(root, page, link, anchors)
            leads[page].add(target)
            looked += 1
            if fault:
                faults.append(f"{name}: {link} {fault}")
        for path in PATH.findall(text) if name.name != HISTORY else []:
            looked += 1
            if not (root / path).exists():
                faults.append(f"{name}: {path} is not there")
    reached, new = set(), [root / "README.md"]
    while new:
        page = new.pop()
        if page in leads and page not in reached:
            reached.add(page)
            new += [target for target in leads[page] if target]
    for page in pages:
        looked += 1
        if page not in reached and root / "docs" in page.parents:
            faults.append(f"{page.relative_to(root)} is not reached from README.md")
    users = [page for page in pages if root / "docs" in page.parents and root / MAINTAINERS not in page.parents]
    for page in users if root / MAP in leads else []:
        looked += 1
        if page != root / MAP and page not in leads[root / MAP]:
            faults.append(f"{page.relative_to(root)} is not on the map, {MAP}")
    return faults, looked


if __name__ == "__main__":
    wrong, total = faults_of(sys.argv[1])
    for line in wrong:
        print(f"FAILED: {line}")
    print(f"{total - len(wrong)} passed, {len(wrong)} failed")
    sys.exit(1 if wrong else 0)
