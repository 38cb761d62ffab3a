"""What the site's programs promise: comments and docstrings as reStructuredText, headers for Doxygen, links of pages."""
import pathlib
import re
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "docs" / "site"))
import build  # noqa: E402
import filter as header_filter  # noqa: E402
import plain  # noqa: E402


class Texts(unittest.TestCase):
    def test_prose_means_only_what_it_says(self):
        self.assertEqual(plain.as_rst(["Rows of p_ and *q*, `a b`s:", "as a::b."]), [r"Rows of p\_ and \*q\*, ``a b``\ s: as a:\:b.", ""])

    def test_a_line_that_begins_as_a_list_is_none(self):
        self.assertEqual(plain.as_rst(["- T log sum", "", "1. May"]), [r"\- T log sum", "", r"\1. May", ""])

    def test_aligned_lines_stay_aligned(self):
        self.assertEqual(plain.as_rst(["Head.", "p    (N, 3)", "     more", "Tail."]),
                         ["Head.", "", ".. code-block:: none", "", "   p    (N, 3)", "        more", "", "Tail.", ""])


class Headers(unittest.TestCase):
    def made(self, text):
        return [line for line in header_filter.documented(text).splitlines() if line and "verbatim" not in line]

    def test_a_comment_is_of_what_follows(self):
        self.assertEqual(self.made("int a;\n/* Makes it. */\nint f(void);\n"), ["int a;", "/**", "Makes it.", "int f(void);"])

    def test_a_comment_behind_a_member_is_the_members(self):
        self.assertEqual(self.made("struct s {\n  int a;  /* [m]   one\n           two */\n};\n"),
                         ["struct s {", "  int a;  /**<", "[m] one two", "};"])

    def test_other_comments_stay(self):
        for text in ("int f(int a, /* one */ int b);", "#define A 1 /* one */", "struct s { /* one */"):
            self.assertEqual(self.made("int z;\n" + text), ["int z;", text])

    def test_the_first_comment_is_the_headers(self):
        self.assertEqual(self.made("/* One.\n *\n * Two.\n */\nint a;\n"), ["/** \\file", "One.", "Two.", "int a;"])


class Objects(unittest.TestCase):
    def test_every_header_is_of_one_object(self):
        self.assertEqual(sorted(header for _, _, headers, _, _, _ in build.OBJECTS.values() for header in headers),
                         sorted(path.stem for path in (ROOT / "include" / "abut").glob("*.h")))

    def test_every_public_name_of_python_is_of_an_object(self):
        modules = build.modules_of_names()
        self.assertGreater(len(modules), 80)
        self.assertEqual([name for name, module in modules.items() if build.object_of(name, module) is None], [])
        self.assertIsNone(build.object_of("something", "_new"))

    def test_rows_name_what_headers_declare(self):
        text = "".join(path.read_text(encoding="utf-8") for path in (ROOT / "include" / "abut").glob("*.h"))
        names = [name for *_, rows in build.OBJECTS.values() for _, in_c, _ in rows for name in in_c]
        self.assertEqual([name for name in names if not re.search(rf"\b{name}\b", text)], [])


class Links(unittest.TestCase):
    def relinked(self, text, page="docs/dev/testing.md"):
        with tempfile.TemporaryDirectory() as folder:
            pages = build.Pages(pathlib.Path(folder))
            pages.done |= {pathlib.Path("docs/install.md"), pathlib.Path("README.md")}
            text = pages.relinked(pathlib.Path(page), text)
            self.copied = sorted(str(p.relative_to(folder)) for p in pathlib.Path(folder).rglob("*") if p.is_file())
            return text

    def test_pages_stay_side_by_side(self):
        self.assertEqual(self.relinked("[a](../install.md#by-meson)"), "[a](../install.md#by-meson)")
        self.assertEqual(self.relinked("[a](../../README.md)"), "[a](../project/README.md)")
        self.assertEqual(self.relinked("[a](docs/install.md)", "README.md"), "[a](../install.md)")

    def test_files_are_copied(self):
        self.assertEqual(self.relinked("[`p`](../../examples/push.py#L3)"), "[`p`](../files/examples/push.py)")
        self.assertEqual(self.copied, ["files/examples/push.py"])

    def test_folders_are_no_links(self):
        self.assertEqual(self.relinked("see [`assets`](../../assets) there"), "see `assets` there")

    def test_code_and_addresses_stay(self):
        for text in ("`[a](no.md)`", "```\n[a](no.md)\n```", "[a](https://example.org/x) [b](#here)"):
            self.assertEqual(self.relinked(text), text)

    def test_a_link_to_nothing_is_refused(self):
        with self.assertRaises(SystemExit):
            self.relinked("[a](no.md)")

    def test_notebooks_are_pages(self):
        self.assertEqual(self.relinked("[a](../notebooks/push.ipynb)"), "[a](../notebooks/push.md)")
        self.assertIn("notebooks/push.md", self.copied)


if __name__ == "__main__":
    result = unittest.TextTestRunner(stream=sys.stdout).run(unittest.defaultTestLoader.loadTestsFromModule(sys.modules[__name__]))
    failed = len(result.failures) + len(result.errors)
    print(f"{result.testsRun - failed} passed, {failed} failed")
    sys.exit(1 if failed else 0)
