"""Settings of Sphinx for the site. build.py collects the pages, and calls Sphinx with this file."""
import importlib.util
import os
import pathlib
import re
import sys

from pygments.lexers import TextLexer

sys.path.insert(0, str(pathlib.Path(__file__).parent))
from plain import as_rst  # noqa: E402

project = "abut"
author = "the authors of abut"
version = release = os.environ["ABUT_SITE_VERSION"]
extensions = ["myst_parser", "breathe", "sphinx.ext.autodoc"]
root_doc = "index"
exclude_patterns = ["files"]  # what pages link to, and is no page

html_theme = "furo"
html_title = f"abut {version}"
html_copy_source = False
html_show_sourcelink = False
# Summaries of hits are fetched from the pages, which browsers refuse without a server.
html_show_search_summary = False
html_static_path = [str(pathlib.Path(__file__).parent / "static")]
html_css_files = ["site.css"]

myst_heading_anchors = 6
myst_enable_extensions = ["html_image"]
suppress_warnings = [
    "misc.highlighting_failure",  # samples leave out parts by "...", which JSON does not have
]
highlight_language = "none"
smartquotes = False  # texts of the API have quotes and dots that are code

breathe_projects = {"abut": os.environ["ABUT_SITE_XML"]}
breathe_default_project = "abut"
breathe_domain_by_extension = {"h": "c"}
breathe_show_include = False
c_maximum_signature_line_length = 80
maximum_signature_line_length = 100

autodoc_member_order = "bysource"
autodoc_typehints = "signature"
autodoc_preserve_defaults = True
# The frameworks that the package can use, and that this interpreter lacks.
autodoc_mock_imports = [name for name in ("jax", "torch", "pyopencl", "mpi4py", "mujoco") if importlib.util.find_spec(name) is None]


def plain_docstring(app, what, name, obj, options, lines):
    lines[:] = as_rst(list(lines))


def skip_fields(app, what, name, obj, skip, options):
    """A named tuple's fields are in its table; what Python says of them is that they are there."""
    return True if re.match(r"Alias for field number", getattr(obj, "__doc__", None) or "") else None


def setup(app):
    app.add_lexer("csv", TextLexer)
    app.connect("autodoc-process-docstring", plain_docstring)
    app.connect("autodoc-skip-member", skip_fields)
