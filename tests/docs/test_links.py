"""links.py's own promises: what it finds in small trees made here."""
import pathlib
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import links  # noqa: E402

FILES = {
    "README.md": """# A title
[page](docs/page.md) [part](docs/page.md#two-words-f) [folder](docs/more/) [here](#a-title)
[twice](docs/page.md#again-1) ![picture](docs/picture.png "its title") [site](https://example.org/no)
[![badge](docs/picture.png)](LICENSE) and `src/there.c`; `[no](link.md)`
```
[in code](nowhere.md)
# no heading
```
""",
    "docs/page.md": "# Page\n## Two *words*, `f()`\n### Again\n## Again\n[up](../README.md#a-title)\n",
    "docs/more/README.md": "# More\n[page](../page.md#page)\n",
    "docs/picture.png": "", "LICENSE": "", "src/there.c": "",
    "build/page.md": "[in a build](nowhere.md)", "shared/page.md": "[not ours](nowhere.md)",
}


class Links(unittest.TestCase):
    def faults(self, **changes):
        with tempfile.TemporaryDirectory() as folder:
            for name, text in {**FILES, **changes.get("files", {})}.items():
                path = pathlib.Path(folder, name)
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(text)
            return links.faults_of(folder)[0]

    def test_a_tree_without_faults_has_none(self):
        self.assertEqual(self.faults(), [])

    def broken(self, line, fault):
        self.assertEqual(self.faults(files={"docs/page.md": FILES["docs/page.md"] + line + "\n"}),
                         [f"docs/page.md: {fault}"])

    def test_links_to_nothing_are_found(self):
        self.broken("[gone](gone.md)", "gone.md leads to no file")
        self.broken("![gone](gone.png)", "gone.png leads to no file")
        self.broken("[gone](../src/gone.c#L3)", "../src/gone.c#L3 leads to no file")
        self.broken("[x]: gone.md", "gone.md leads to no file")
        self.broken('<img src="gone.png">', "gone.png leads to no file")
        self.broken("[![badge](gone.png)](../LICENSE)", "gone.png leads to no file")
        self.broken("[letters](Page.md)", "Page.md leads to no file")

    def test_anchors_of_no_heading_are_found(self):
        self.broken("[gone](#gone)", "#gone leads to no heading")
        self.broken("[gone](../README.md#page)", "../README.md#page leads to no heading")
        self.broken("[third](#again-2)", "#again-2 leads to no heading")
        self.broken("[code](../README.md#no-heading)", "../README.md#no-heading leads to no heading")
        self.broken("[folder](more/#less)", "more/#less leads to no heading")

    def test_links_out_of_the_tree_are_found(self):
        self.broken("[out](../../etc)", "../../etc leads out of the repository")

    def test_names_of_files_are_checked(self):
        self.broken("`src/gone.c`", "src/gone.c is not there")
        self.assertEqual(self.faults(files={"CHANGELOG.md": "`src/gone.c` went"}), [])

    def test_a_page_that_nobody_leads_to_is_found(self):
        alone = {"docs/alone.md": "[other](other.md)", "docs/other.md": "[alone](alone.md)"}
        self.assertEqual(self.faults(files=alone),
                         [f"{name} is not reached from README.md" for name in alone])

    def test_a_page_that_is_not_on_the_map_is_found(self):
        pages = {"docs/README.md": "[more](more/README.md)", "docs/dev/inner.md": "# Inner",
                 "docs/more/README.md": "[page](../page.md) [map](../README.md) [inner](../dev/inner.md)"}
        self.assertEqual(self.faults(files=pages), ["docs/page.md is not on the map, docs/README.md"])
        pages["docs/README.md"] += " [page](page.md)"
        self.assertEqual(self.faults(files=pages), [])

    def test_anchors_are_named_as_on_github(self):
        for heading, name in (("Two words", "two-words"), ("`abut_vjp`, `_jvp`", "abut_vjp-_jvp"),
                              ("What is left out, and why", "what-is-left-out-and-why"),
                              ("A [link](x.md) & *more*", "a-link--more"), ("1 Größe", "1-größe"),
                              ("A _slanted_ word", "a-slanted-word"), ("a_b_c", "a_b_c")):
            self.assertEqual(links.slug(heading), name)


if __name__ == "__main__":
    unittest.main()
