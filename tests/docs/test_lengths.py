#!/usr/bin/env python3
"""Whether lengths.py finds pages that are too long, in a tree of its own."""
import pathlib
import tempfile

import lengths

LONG = "This sentence has a good many words, so many in fact that nobody who reads it would say it aloud. "

with tempfile.TemporaryDirectory() as folder:
    root = pathlib.Path(folder)
    (root / "docs" / "dev").mkdir(parents=True)
    (root / "docs" / "tutorial").mkdir()
    (root / "README.md").write_text("Short words.\n```sh\nrun\n```\n")
    (root / "docs" / "dev" / "notes.md").write_text("\n" * 300 + LONG)
    (root / "docs" / "functions.md").write_text("\n" * 300)
    (root / "docs" / "tutorial" / "a.md").write_text("It runs a command now.\n\n| a | " + LONG + "|\n\n```\n" + LONG + "\n```\n")
    faults, count = lengths.check(root)
    assert not faults and count == 2, faults
    (root / "README.md").write_text("word " * 121 + "\n```\nrun\n```\n" + "line.\n\n" * 60)
    (root / "docs" / "tutorial" / "a.md").write_text(LONG * 3)
    (root / "docs" / "long.md").write_text("\n" * 251)
    faults, count = lengths.check(root)
    assert count == 3 and len(faults) == 5, faults  # the README: lines, words before its command, words per sentence
assert lengths.sentences("One two three. Four five six seven!\n\n- An item here.\n- Another item") == [3, 4, 3]
print("3 passed, 0 failed")
