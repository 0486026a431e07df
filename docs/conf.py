"""Sphinx configuration of the documentation: `make docs`."""

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
copyright = "the mnlearn developers"  # Sphinx requires this name
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
exclude_patterns = ["_build", "examples/*", "README.md", "accuracy/*.md"]  # accuracy/*.md are included by other pages
templates_path = ["_templates"]
html_theme = "pydata_sphinx_theme"
html_title = "mnlearn"
html_theme_options: dict[str, Any] = {"show_prev_next": False, "navigation_with_keys": False}

# Markdown: formulas between dollars, and links to the headings of a page.
myst_enable_extensions = ["dollarmath", "deflist"]
myst_heading_anchors = 4
suppress_warnings = ["config.cache"]  # sorting examples by a function is not cached

# Docstrings in NumPy style; the signatures hold the types.
autosummary_generate = True
autodoc_typehints = "none"
numpydoc_show_class_members = False
numpydoc_class_members_toctree = False

# Tutorials that are executed.
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

# References are labelled with the keys that docstrings use.
bibtex_bibfiles = ["references.bib"]
bibtex_default_style = "by_key"


class _KeyLabels(BaseLabelStyle):  # type: ignore[misc]
    """Label style that uses the citation keys."""

    def format_labels(self, sorted_entries: Iterable[Any]) -> Iterable[str]:
        """Return the label of every entry, in order."""
        return (entry.key for entry in sorted_entries)


class _ByKey(Style):  # type: ignore[misc]
    """Plain bibliography style with citation keys as labels."""

    default_label_style = _KeyLabels


register_plugin("pybtex.style.formatting", "by_key", _ByKey)


def _keep_bars(_app: Any, _what: str, _name: str, _object: Any, _options: Any, lines: list[str]) -> None:
    """Escape bars in docstrings: |z| is a formula, not a substitution."""
    lines[:] = [line if line.lstrip().startswith((">>>", "...")) else line.replace("|", r"\|") for line in lines]


def setup(app: Any) -> None:
    """Connect the docstring filter."""
    app.connect("autodoc-process-docstring", _keep_bars)
