"""Sphinx configuration of the documentation: `make docs`."""

from __future__ import annotations

import os
import re
import tomllib
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from docutils.nodes import SkipNode
from latex2mathml.converter import convert as latex_to_mathml
from pybtex.plugin import register_plugin
from pybtex.style.formatting.unsrt import Style
from pybtex.style.labels import BaseLabelStyle
from sphinx.errors import ExtensionError

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
exclude_patterns = [
    "_build",
    "examples/*",
    "README.md",
    "accuracy/*.md",
    "generated/accuracy/*.md",
    "reproduction/tables/*.md",
    "**/sg_execution_times.rst",
    "sg_execution_times.rst",
]  # */accuracy/*.md are included by other pages; reproduction/tables/*.md are filled into generated/reproduction
templates_path = ["_templates"]
html_theme = "pydata_sphinx_theme"
html_title = "mnlearn"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_theme_options: dict[str, Any] = {"show_prev_next": False, "navigation_with_keys": False}
html_baseurl = os.environ.get("READTHEDOCS_CANONICAL_URL", "")

# The address of the repository is written in pyproject.toml only; OWNER is the placeholder for a part of it.
_PROJECT = tomllib.loads(Path(__file__).parent.parent.joinpath("pyproject.toml").read_text(encoding="utf-8"))["project"]
if "OWNER" not in _PROJECT["urls"]["Repository"]:
    html_theme_options["github_url"] = _PROJECT["urls"]["Repository"]

# Markdown: formulas between dollars, and links to the headings of a page.
myst_enable_extensions = ["dollarmath", "deflist"]
myst_heading_anchors = 4
suppress_warnings = ["config.cache"]  # sorting examples by a function is not cached

# Formulas as MathML, which browsers draw themselves: the site works offline.
html_math_renderer = "mathml"

# Docstrings in NumPy style; the signatures hold the types.
autosummary_generate = True
autodoc_typehints = "none"
numpydoc_show_class_members = False
numpydoc_class_members_toctree = False


# Tutorials that are executed.
def last_figure(_block: Any, block_vars: dict[str, Any], gallery_conf: dict[str, Any]) -> str:
    """Save the figure that a block of a tutorial ends on."""
    from matplotlib.figure import Figure
    from sphinx_gallery.scrapers import figure_rst

    names = block_vars["example_globals"]
    figure = names.get("___")  # where the gallery keeps the value of the last expression
    if not isinstance(figure, Figure) or figure is names.get("__drawn__"):
        return ""
    names["__drawn__"] = figure
    path = next(block_vars["image_path_iterator"])
    figure.savefig(path, dpi=110)
    return str(figure_rst([path], gallery_conf["src_dir"]))


sphinx_gallery_conf: dict[str, Any] = {
    "examples_dirs": "examples",
    "gallery_dirs": "tutorials",
    "filename_pattern": r"/\d\d_",
    "image_scrapers": (last_figure,),
    "ignore_repr_types": r"Figure",
    "download_all_examples": False,
    "remove_config_comments": True,
    "show_memory": False,
    "write_computation_times": False,
    "show_signature": False,
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


def _write_tables(app: Any) -> None:
    """Write the tables of the pages on reproduction and accuracy from the figures of the runs."""
    from mnlearn_papers.accuracy_page import page, read_errors
    from mnlearn_papers.summaries import write_tables

    docs = Path(app.srcdir)
    folder, battery = docs / "reproduction", docs / "generated" / "accuracy" / "held-out.md"
    write_tables(folder / "tables", folder / "runs", docs / "generated" / "reproduction")
    battery.parent.mkdir(parents=True, exist_ok=True)
    battery.write_text(page(read_errors(docs / "accuracy" / "held-out.csv"), title="The held-out half"), "utf-8")


def _keep_bars(_app: Any, _what: str, _name: str, _object: Any, _options: Any, lines: list[str]) -> None:
    """Escape bars in docstrings: |z| is a formula, not a substitution."""
    lines[:] = [line if line.lstrip().startswith((">>>", "...")) else line.replace("|", r"\|") for line in lines]


def _check_pictures(app: Any, error: Exception | None) -> None:
    """Raise an error if a tutorial lacks a picture: each call of plot in its text must have left one."""
    for source in sorted(Path(app.srcdir, "examples").glob("*.py")):
        page = Path(app.outdir, "tutorials", f"{source.stem}.html")
        if error is None and page.exists():
            drawn = len(re.findall(r"<img [^>]*sphx_glr_", page.read_text(encoding="utf-8")))
            asked = len(re.findall(r"^\w.*\.plot\(", source.read_text(encoding="utf-8"), flags=re.MULTILINE))
            if drawn < asked:
                raise ExtensionError(f"{source.name} has {asked} calls of plot, but its page has {drawn} pictures")


def _formula(translator: Any, node: Any) -> None:
    """Write an inline formula as MathML."""
    translator.body.append(latex_to_mathml(node.astext()))
    raise SkipNode


def _displayed_formula(translator: Any, node: Any) -> None:
    """Write a formula on a line of its own as MathML."""
    translator.body.append(f'<div class="math">{latex_to_mathml(node.astext(), display="block")}</div>\n')
    raise SkipNode


def setup(app: Any) -> None:
    """Connect the tables of reproduction, the docstring filter and the renderer of formulas."""
    app.connect("builder-inited", _write_tables)
    app.connect("autodoc-process-docstring", _keep_bars)
    app.connect("build-finished", _check_pictures)
    app.add_html_math_renderer("mathml", inline_renderers=(_formula, None), block_renderers=(_displayed_formula, None))
