"""How the documentation is built: `make docs`."""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import Any

from pybtex.plugin import register_plugin
from pybtex.style.formatting.unsrt import Style
from pybtex.style.labels import BaseLabelStyle

import mnlearn

project = "mnlearn"
author = "The mnlearn developers"
copyright = "the mnlearn developers"  # the name that Sphinx looks for
release = mnlearn.__version__

extensions = [
    "myst_parser",
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.viewcode",
    "sphinx_gallery.gen_gallery",
    "sphinxcontrib.bibtex",
]
exclude_patterns = ["_build", "examples/*", "README.md", "accuracy/*.md"]  # the last are parts of other pages
templates_path = ["_templates"]
html_theme = "pydata_sphinx_theme"
html_title = "mnlearn"
html_theme_options: dict[str, Any] = {"show_prev_next": False, "navigation_with_keys": False}

# Markdown: formulas between dollars, and links to the headings of a page.
myst_enable_extensions = ["dollarmath", "deflist"]
myst_heading_anchors = 4
suppress_warnings = ["config.cache"]  # the examples are sorted by a function

# Docstrings: NumPy's sections; types stand in the signatures.
autosummary_generate = True
autodoc_typehints = "none"
numpydoc_show_class_members = False
numpydoc_class_members_toctree = False

# Executed pages.
sphinx_gallery_conf: dict[str, Any] = {
    "examples_dirs": "examples",
    "gallery_dirs": "tutorials",
    "filename_pattern": r"/\d\d_",
    "image_scrapers": ("matplotlib",),
    "download_all_examples": False,
    "remove_config_comments": True,
    "show_memory": False,
    "min_reported_time": 1e6,
    "within_subsection_order": "FileNameSortKey",
    "abort_on_example_error": True,
}
os.environ.setdefault("MPLBACKEND", "agg")

# References are labelled as the docstrings name them.
bibtex_bibfiles = ["references.bib"]
bibtex_default_style = "by_key"


class _KeyLabels(BaseLabelStyle):  # type: ignore[misc]
    """Labels are the keys themselves."""

    def format_labels(self, sorted_entries: Iterable[Any]) -> Iterable[str]:
        """The label of every entry, in order."""
        return (entry.key for entry in sorted_entries)


class _ByKey(Style):  # type: ignore[misc]
    """The plain style, with keys for labels."""

    default_label_style = _KeyLabels


register_plugin("pybtex.style.formatting", "by_key", _ByKey)


def _keep_bars(_app: Any, _what: str, _name: str, _object: Any, _options: Any, lines: list[str]) -> None:
    """A bar in a docstring is a formula's, |z| for instance, not a substitution."""
    lines[:] = [line if line.lstrip().startswith((">>>", "...")) else line.replace("|", r"\|") for line in lines]


def setup(app: Any) -> None:
    """What Sphinx calls first."""
    app.connect("autodoc-process-docstring", _keep_bars)
