#!/usr/bin/env python3
"""Makes the site: build.py BUILD-FOLDER [OUT]

Collects the pages of docs/ and what they link to in BUILD-FOLDER/site-source, writes the pages of the API from the headers and
from the built package (BUILD-FOLDER/python), and has Sphinx make OUT (BUILD-FOLDER/site) of it. A warning is an error. It needs
no network. Ends with status 77, which Meson takes for a skipped test, where a program or a package is missing.
"""
import ast
import importlib.util
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import xml.etree.ElementTree as ET

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
sys.path.insert(0, str(HERE))
from objects import OBJECTS  # noqa: E402

NEEDED = ("sphinx", "myst_parser", "furo", "breathe", "numpy", "cffi")
FENCE = re.compile(r"^ {0,3}(```+|~~~+)[^\n]*\n.*?^ {0,3}\1[`~]*[ \t]*$|(?<!`)(`+)(?!`).+?(?<!`)\2(?!`)", re.M | re.S)
LINK = re.compile(r"(?P<image>!?)\[(?P<text>(?:[^\[\]]|\[[^\[\]]*\](?:\([^()]*\))?)*)\]\(\s*<?(?P<target>[^\s()<>]+)>?(?P<title>\s+\"[^\"]*\")?\s*\)")
REFERENCE = re.compile(r"^(?P<head> {0,3}\[[^\]^][^\]]*\]:\s*)<?(?P<target>[^\s<>]+)>?", re.M)
TAG = re.compile(r"(?P<head><(?:a|img)\b[^>]*?\b(?:href|src)=[\"'])(?P<target>[^\"']*)")
SCHEME = re.compile(r"^([a-z][a-z0-9+.-]*:|#|//)", re.I)


class Pages:
    """The pages with what they link to, copied so that links outside of docs/ lead somewhere too."""

    def __init__(self, source):
        self.source, self.done = source, set()

    def add_all(self):
        for pattern in ("*.md", "*.ipynb"):
            for path in sorted((ROOT / "docs").rglob(pattern)):
                if "site" not in path.relative_to(ROOT / "docs").parts:
                    self.add(path.relative_to(ROOT))
        for name in ("README.md", "CONTRIBUTING.md", "CHANGELOG.md", "SECURITY.md"):
            self.add(pathlib.Path(name))

    def place(self, path):
        """Where a file of the repository is in the site's source, both relative."""
        name = path.with_suffix(".md") if path.suffix == ".ipynb" else path
        if path.parts[0] == "docs":
            return name.relative_to("docs")
        return pathlib.Path("project" if name.suffix == ".md" else "files") / name

    def add(self, path):
        """Copies a file once, a page with its links changed."""
        if path in self.done:
            return
        self.done.add(path)
        out = self.source / self.place(path)
        out.parent.mkdir(parents=True, exist_ok=True)
        if path.suffix not in (".md", ".ipynb"):
            shutil.copyfile(ROOT / path, out)
            return
        text = (ROOT / path).read_text(encoding="utf-8")
        out.write_text(self.relinked(path, page_of(text) if path.suffix == ".ipynb" else text), encoding="utf-8")

    def target(self, page, link):
        """A link of a page as the site needs it; None where it leads to a folder, of which the site has no page."""
        if SCHEME.match(link):
            return link
        address, _, anchor = link.partition("#")
        path = pathlib.Path(os.path.normpath(page.parent / address))
        if path.parts[0] == ".." or not (ROOT / path).exists():
            raise SystemExit(f"FAILED: {page}: {link} leads to no file of the repository")
        if (ROOT / path).is_dir():
            if not (ROOT / path / "README.md").exists():
                return None
            path = path / "README.md"
        self.add(path)
        new = os.path.relpath(self.place(path), self.place(page).parent)
        return f"{new}#{anchor}" if anchor and path.suffix == ".md" else new

    def relinked(self, page, text):
        codes = []

        def hide(found):
            codes.append(found[0])
            return f"\0{len(codes) - 1}\0"

        def link(found):
            new = self.target(page, found["target"])
            inner = LINK.sub(link, found["text"])
            return inner if new is None else f"{found['image']}[{inner}]({new}{found['title'] or ''})"

        def head(found):
            return found["head"] + (self.target(page, found["target"]) or "#")

        for pattern, change in ((FENCE, hide), (LINK, link), (REFERENCE, head), (TAG, head)):
            text = pattern.sub(change, text)
        return re.sub("\0(\\d+)\0", lambda found: codes[int(found[1])], text)


def page_of(notebook):
    """A notebook as a page: its text, and its code as blocks."""
    cells = []
    for cell in json.loads(notebook)["cells"]:
        text = "".join(cell["source"]).strip()
        cells.append(text if cell["cell_type"] == "markdown" else f"```python\n{text}\n```")
    return "\n\n".join(cells) + "\n"


def title(text, line):
    return [text, line * len(text), ""]


def write_index(source):
    """The first page, with all pages of each folder: a new page is there by itself."""
    lines = (HERE / "index.rst").read_text(encoding="utf-8").splitlines()
    folders = sorted({path.parent.relative_to(source) for path in source.rglob("*.md")} - {pathlib.Path("."), pathlib.Path("api")},
                     key=lambda folder: (folder.parts[0] in ("benchmarks", "dev", "project"), folder))
    first = ["README", "install"]
    groups = [("Pages", [*(name for name in first if (source / f"{name}.md").exists()), "*"]), ("API", ["api/index"])]
    for folder in folders:
        caption = {"dev": "For developers", "project": "The project"}.get(str(folder), str(folder).capitalize())
        if folder.parts[0] == "project":
            if folder == pathlib.Path("project"):
                groups.append((caption, sorted(str(p.relative_to(source).with_suffix("")) for p in (source / "project").rglob("*.md"))))
        else:
            groups.append((caption, [f"{folder}/*"]))
    for caption, entries in groups:
        lines += [".. toctree::", "   :glob:", "   :hidden:", f"   :caption: {caption}", "", *(f"   {entry}" for entry in entries), ""]
    (source / "index.rst").write_text("\n".join(lines), encoding="utf-8")


def make_xml(folder):
    folder.mkdir(parents=True)
    settings = (HERE / "Doxyfile").read_text(encoding="utf-8")
    settings += (f'INPUT = "{ROOT / "include" / "abut"}"\nINPUT_FILTER = "{sys.executable} {HERE / "filter.py"}"\n'
                 f'OUTPUT_DIRECTORY = "{folder}"\nSTRIP_FROM_PATH = "{ROOT / "include"}"\n')
    subprocess.run(["doxygen", "-"], input=settings, text=True, check=True)
    return folder / "xml"


def text_of(member):
    """What a comment says, of an enumerator without a name of its enumeration."""
    verbatim = member.find(".//verbatim")
    return " ".join(verbatim.text.removeprefix("embed:rst").split()) if verbatim is not None else ""


def c_of(header, xml):
    """Directives of Breathe for what a header declares, in its order; and the names."""
    parts, names = [], set()
    compound = next(c for c in ET.parse(xml / "index.xml").getroot() if c.get("kind") == "file" and c.findtext("name") == f"{header}.h")
    root = ET.parse(xml / f"{compound.get('refid')}.xml").getroot()
    for inner in root.iter("innerclass"):
        place = ET.parse(xml / f"{inner.get('refid')}.xml").find("compounddef/location")
        parts.append((int(place.get("line")), [f".. doxygenstruct:: {inner.text}", "   :members:", "   :undoc-members:", ""]))
        names.add(inner.text)
    for member in root.iter("memberdef"):
        kind, name, line = member.get("kind"), member.findtext("name"), int(member.find("location").get("line"))
        if kind == "enum" and not name.startswith("abut"):
            rows = [f"``{value.findtext('name')}`` ({value.findtext('initializer', '').strip('= ')})\n   {text_of(value) or '.'}\n"
                    for value in member.iter("enumvalue")]
            parts.append((line, [*"\n".join(rows).splitlines(), ""]))
        elif kind in ("enum", "function", "typedef") or (kind == "define" and text_of(member)):
            parts.append((line, [f".. doxygen{kind}:: {name}", ""]))
            names.add(name)
    return [text for _, lines in sorted(parts, key=lambda part: part[0]) for text in lines], names


def python_of(name):
    """The directive of autodoc for a name of the package."""
    import enum
    import abut
    thing = getattr(abut, name)
    if isinstance(thing, type):
        if issubclass(thing, Exception):
            return [f".. autoexception:: abut.{name}", ""]
        options = ["   :members:"] + (["   :undoc-members:"] if issubclass(thing, enum.Enum) else [])
        return [f".. autoclass:: abut.{name}", *options, ""]
    if type(thing).__name__ == "module":
        return [f".. automodule:: abut.{name}", "   :members:", ""]
    return [f".. autofunction:: abut.{name}" if callable(thing) else f".. autodata:: abut.{name}", ""]


def modules_of_names():
    """The module that abut imports each public name from, by the text of its __init__.py; abut itself where it imports none."""
    tree = ast.parse((ROOT / "python" / "abut" / "__init__.py").read_text(encoding="utf-8"))
    public = next(ast.literal_eval(node.value) for node in tree.body
                  if isinstance(node, ast.Assign) and getattr(node.targets[0], "id", "") == "__all__")
    modules = {alias.asname or alias.name: alias.name if node.module == "abut" else node.module.removeprefix("abut.")
               for node in tree.body if isinstance(node, ast.ImportFrom) and node.module.split(".")[0] == "abut" for alias in node.names}
    return {name: modules.get(name, "abut") for name in public}


def object_of(name, module):
    """The page that a name of the package is on, or None."""
    return next((page for page, (_, _, _, modules, own, _) in OBJECTS.items() if name in own or module in modules), None)


def has(thing, name):
    for part in name.split("."):
        if not hasattr(thing, part):
            return False
        thing = getattr(thing, part)
    return True


def write_api(source, xml):
    """A page for each object; how many names of C and Python are on them."""
    import abut
    headers = {path.stem for path in (ROOT / "include" / "abut").glob("*.h")}
    listed = [header for _, _, some, _, _, _ in OBJECTS.values() for header in some]
    if headers != set(listed):
        raise SystemExit(f"FAILED: docs/site/objects.py and include/abut differ: {', '.join(sorted(headers ^ set(listed)))}")
    modules = modules_of_names()
    homeless = [name for name, module in modules.items() if object_of(name, module) is None]
    if homeless:
        raise SystemExit(f"FAILED: docs/site/objects.py has no page for {', '.join(homeless)}")
    c = {header: c_of(header, xml) for header in headers}
    all_c = set().union(*(names for _, names in c.values()))
    structs = {line.split(":: ")[1] for lines, _ in c.values() for line in lines if line.startswith(".. doxygenstruct::")}
    (source / "api").mkdir()
    contents = [*title("API by object", "="), "Each page has the functions of C beside those of Python, and then all of both with their comments.", "",
                ".. toctree::", "   :maxdepth: 1", ""]
    for page, (name, about, some, _, _, rows) in OBJECTS.items():
        lines = [*title(name, "="), about, "", ".. list-table::", "   :class: beside", "   :header-rows: 1", "", "   * - task", "     - C", "     - Python"]
        for task, in_c, in_python in rows:
            unknown = [n for n in in_c if n not in all_c] + [f"abut.{n}" for n in in_python if not has(abut, n)]
            if unknown:
                raise SystemExit(f"FAILED: docs/site/objects.py names {', '.join(unknown)}, which is not there")
            lines += [f"   * - {task}", "     - " + ", ".join(f":c:{'struct' if n in structs else 'func'}:`{n}`" for n in in_c), "     - " + ", ".join(f":py:obj:`abut.{n}`" for n in in_python)]
        lines += ["", *title("C", "-")]
        for header in some:
            lines += [*title(f"abut/{header}.h", "^"), f".. doxygenfile:: {header}.h", "   :sections: detaileddescription", "", *c[header][0]]
        lines += [*title("Python", "-")]
        for n, module in modules.items():
            if object_of(n, module) == page:
                lines += python_of(n)
        (source / "api" / f"{page}.rst").write_text("\n".join(line.rstrip() for line in lines) + "\n", encoding="utf-8")
        contents.append(f"   {page}")
    (source / "api" / "index.rst").write_text("\n".join(contents) + "\n", encoding="utf-8")
    return all_c, set(modules)


def faults_of(out, c, python, pages):
    """What the site lacks."""
    faults = [f"{page} has no page of the site" for page in pages if not (out / page.with_suffix(".html")).exists()]
    index = (out / "searchindex.js").read_text(encoding="utf-8")
    if not index.startswith("Search.setIndex("):
        faults.append("the index of the search is not a script: browsers cannot read it without a server")
    text = "".join(path.read_text(encoding="utf-8") for path in (out / "api").glob("*.html"))
    faults += [f"{name} is not on a page of the API" for name in sorted(c) if f'id="c.{name}"' not in text]
    faults += [f"abut.{name} is not on a page of the API" for name in sorted(python)
               if f'id="abut.{name}"' not in text and f'id="module-abut.{name}"' not in text]
    for path in out.rglob("*.html"):
        for tag in re.findall(r"<(?:script|link|img|iframe)\b[^>]*\b(?:src|href)=\"(?:https?:)?//[^>]*>", path.read_text(encoding="utf-8")):
            faults.append(f"{path.relative_to(out)} loads from the network: {tag}")
    return faults


def search_faults(out):
    """What a search finds that needs no server; where node is missing it is not tried."""
    if shutil.which("node") is None:
        print("node is missing: the search was not tried")
        return []
    wanted = {"abut_create_pair": "api/pair", "abut.closest": "api/shape", "time of impact": "ccd", "kettledrum": None}
    done = subprocess.run(["node", HERE / "search.js", out, *wanted], capture_output=True, text=True)
    if done.returncode:
        return [f"the search ends with {done.stderr}"]
    found = [line.split() for line in done.stdout.splitlines()]
    return [f"the search for {words} finds {', '.join(pages[:5]) or 'nothing'}" for (words, page), pages in zip(wanted.items(), found)
            if (pages if page is None else page not in pages[:10])]


def main():
    build = pathlib.Path(sys.argv[1]).resolve()
    out = pathlib.Path(sys.argv[2]).resolve() if len(sys.argv) > 2 else build / "site"
    missing = [name for name in NEEDED if importlib.util.find_spec(name) is None]
    if shutil.which("doxygen") is None:
        missing.append("doxygen")
    if missing:
        print(f"for the site {', '.join(missing)} is missing: ./bootstrap docs installs it")
        return 77
    sys.path.insert(0, str(build / "python"))
    if importlib.util.find_spec("abut") is None:
        print(f"the Python package is not built in {build}")
        return 77
    import abut
    source = out.with_name(out.name + "-source")
    for folder in (source, out):
        shutil.rmtree(folder, ignore_errors=True)
    source.mkdir(parents=True)
    pages = Pages(source / "pages")
    pages.add_all()
    xml = make_xml(source / "doxygen")
    c, python = write_api(source / "pages", xml)
    write_index(source / "pages")
    os.environ["ABUT_SITE_VERSION"], os.environ["ABUT_SITE_XML"] = abut.__version__, str(xml)
    os.environ["PYTHONPATH"] = os.pathsep.join([str(build / "python"), os.environ.get("PYTHONPATH", "")])
    done = subprocess.run([sys.executable, "-m", "sphinx", "-q", "-W", "--keep-going", "-b", "html", "-c", HERE, "-d", source / "doctrees",
                           source / "pages", out])
    if done.returncode:
        print("0 passed, 1 failed")
        return 1
    made = [pages.place(path) for path in pages.done if path.suffix in (".md", ".ipynb")]
    faults = faults_of(out, c, python, made) + search_faults(out)
    for fault in faults:
        print(f"FAILED: {fault}")
    print(f"the site begins at {out / 'index.html'}")
    print(f"{len(made) + len(c) + len(python) - len(faults)} passed, {len(faults)} failed")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
