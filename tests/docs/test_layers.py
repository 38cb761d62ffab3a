"""layers.py's own promises: what it finds in small trees made here."""
import pathlib
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import layers  # noqa: E402

TABLE = """# Architecture
## Layers
Words, and `code`.

```text
top       middle base
top/sub   base

middle    base cl/geometry

base
cl/geometry
```
"""
FILES = {
    "docs/dev/architecture.md": TABLE,
    "src/base/base.h": "#include <string.h>\n", "src/base/made.c": '#include "kernel_ids.h"\n',
    "src/middle/middle.h": '#include "base/base.h"\n#include <abut/body.h>\n',
    "src/middle/shape.c": '#include "middle/middle.h"\n\n#include "geometry/shape.h"\n#include "middle/made.h"\n',
    "src/top/part/part.h": '#include "base/base.h"\n',
    "src/top/top.c": '#include "part/part.h"\n# include <middle/middle.h>\n',
    "src/top/sub/sub.c": '#include "base/base.h"\n',
}
NOT_ALLOWED = "which the layers of docs/dev/architecture.md do not allow"


class Layers(unittest.TestCase):
    def check(self, changes, *faults):
        with tempfile.TemporaryDirectory() as folder:
            for name, text in {**FILES, **changes}.items():
                path = pathlib.Path(folder, name)
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(text)
            self.assertEqual(layers.faults_of(folder)[0], list(faults))

    def table(self, old, new, *faults):
        self.check({layers.TABLE: TABLE.replace(old, new)}, *faults)

    def test_a_tree_that_keeps_to_its_table_has_no_faults(self):
        self.check({})

    def test_new_includes_are_found(self):
        self.check({"src/base/up.c": '\n#include "middle/middle.h"\n'},
                   f"src/base/up.c:2: base -> middle: includes middle/middle.h, {NOT_ALLOWED}")
        self.check({"src/base/up.c": '#include "middle/made.h"\n'},
                   f"src/base/up.c:1: base -> middle: includes middle/made.h, {NOT_ALLOWED}")
        self.check({"src/top/other.inl": '#include "geometry/shape.h"\n'},
                   f"src/top/other.inl:1: top -> cl/geometry: includes geometry/shape.h, {NOT_ALLOWED}")

    def test_a_subfolder_with_a_line_is_a_folder(self):
        self.check({"src/top/sub/sub.h": "", "src/top/other.c": '#include "sub/sub.h"\n'},
                   f"src/top/other.c:1: top -> top/sub: includes sub/sub.h, {NOT_ALLOWED}")

    def test_what_nobody_needs_is_found(self):
        self.check({"src/middle/shape.c": ""},
                   "docs/dev/architecture.md:9: middle -> cl/geometry: is allowed, but no file of middle needs it "
                   "any longer")

    def test_folders_and_lines_belong_together(self):
        self.check({"src/new/a.c": "", "src/new/b.c": ""}, "src/new: docs/dev/architecture.md has no layer for it")
        self.table("\nbase\n", "\nbase\ngone\n", "docs/dev/architecture.md:12: gone: there is no such folder")

    def test_a_table_that_is_no_table_is_found(self):
        self.table("\n\nbase\n", "\nbase\n", *(
            f"docs/dev/architecture.md:{line}: middle -> {other}: {other} is in no layer below middle"
            for line, other in ((9, "base"), (9, "cl/geometry"))))
        self.table("top/sub   base", "top/sub   base none",
                   "docs/dev/architecture.md:7: top/sub -> none: there is no line for none",
                   "docs/dev/architecture.md:7: top/sub -> none: is allowed, but no file of top/sub needs it any "
                   "longer")
        self.check({layers.TABLE: "# Architecture\n"},
                   'docs/dev/architecture.md: no block of code under the heading "Layers"',
                   *(f"src/{folder}: docs/dev/architecture.md has no layer for it"
                     for folder in ("base", "middle", "top")))


if __name__ == "__main__":
    unittest.main()
