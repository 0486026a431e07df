"""Rules of the sources: examples run, results use the elementary functions of the core, versions agree."""

from __future__ import annotations

import tomllib
from pathlib import Path

import mnlearn
import mnlearn_papers
from test_docstrings import check_examples
from test_elementary import foreign_functions

PAPERS = Path(__file__).resolve().parents[2]
SOURCE = PAPERS / "src" / "mnlearn_papers"


def test_examples_run() -> None:
    check_examples(mnlearn_papers, least=50)


def test_results_use_no_elementary_function_of_numpy_or_the_c_library() -> None:
    searches = [SOURCE / name for name in ("directed.py", "landscape.py")]
    assert not foreign_functions([*searches, *(SOURCE / "optimize").glob("*.py")])


def test_the_version_is_that_of_the_library() -> None:
    project = tomllib.loads((PAPERS / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert project["version"] == mnlearn.__version__
    assert project["dependencies"] == [f"mnlearn=={mnlearn.__version__}"]
