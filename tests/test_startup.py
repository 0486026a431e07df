"""`import mnlearn` stays light: heavy packages are imported by the functions that need them."""

from __future__ import annotations

import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

import mnlearn

HEAVY = (
    *("pyarrow", "pandas", "polars", "narwhals", "networkx", "matplotlib", "sklearn", "scipy.special"),
    *("bokeh", "jinja2", "dask", "distributed", "pyagrum", "joblib", "threadpoolctl", "typer", "rich"),
)


def test_importing_the_package_imports_nothing_heavy() -> None:
    code = f"import sys, mnlearn; print(*[m for m in {HEAVY!r} if m in sys.modules])"
    found = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert found.stdout.split() == []


def test_importing_the_package_imports_none_of_its_packages() -> None:
    code = "import sys, mnlearn; print(*[m for m in sys.modules if m.startswith('mnlearn.') or m == 'numpy'])"
    found = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert found.stdout.split() == []


def test_the_names_of_other_packages_do_not_import_scikit_learn() -> None:
    code = (
        "import sys, mnlearn\n"
        "for name in mnlearn.__all__:\n"
        "    if name not in ('MarkovBlanketSelector', 'MarkovNetworkLearner'): getattr(mnlearn, name)\n"
        "print('sklearn' in sys.modules)"
    )
    found = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert found.stdout == "False\n"


def test_every_public_name_is_loaded_on_use() -> None:
    assert [name for name in mnlearn.__all__ if getattr(mnlearn, name, None) is None or name not in dir(mnlearn)] == []


@pytest.mark.parametrize(
    "package", ["algorithms", "graphs", "independence", "learning", "results", "scores", "statistics"]
)
def test_every_name_of_a_package_is_loaded_on_use(package: str) -> None:
    module = import_module(f"mnlearn.{package}")
    assert [name for name in module.__all__ if getattr(module, name, None) is None or name not in dir(module)] == []


def test_a_name_is_the_object_of_its_package() -> None:
    import mnlearn.learning

    assert mnlearn.score is mnlearn.learning.score  # not a module of that name
    assert callable(mnlearn.discretize)
    assert "example" in getattr(mnlearn, "simulate").__all__  # noqa: B009 - a package, not a name of the imports
    with pytest.raises(AttributeError, match="no attribute 'lern'"):
        mnlearn.lern  # type: ignore[attr-defined]


def test_reading_a_complete_csv_needs_no_data_frame_library(tmp_path: Path) -> None:
    path = tmp_path / "table.csv"
    path.write_text("a,b,c\n10,x,0.5\n20,y,2.5\n10,x,1.5\n", encoding="utf-8")
    code = f"""
import sys, mnlearn
mnlearn.read({str(path)!r})
print(*[m for m in ("pandas", "polars", "narwhals", "pyarrow.parquet") if m in sys.modules])
"""
    found = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert found.stdout.split() == []


# What `mnlearn learn FILE.csv` does without. scipy.special, sklearn and the like are for other methods; pydantic is for
# options that are numbers; pyarrow.compute for cells that are longer than one character.
NOT_TO_LEARN = (
    *("pandas", "polars", "narwhals", "networkx", "matplotlib", "sklearn", "joblib", "scipy", "bokeh", "jinja2"),
    *("asyncio", "multiprocessing", "concurrent.futures", "pydantic", "pyarrow.compute", "pyarrow.parquet"),
    *("numpy.ma", "numpy.random"),
    *("dask", "distributed", "pyagrum", "python_calamine", "pyreadstat", "threadpoolctl"),
    *("mnlearn.simulate", "mnlearn.model", "mnlearn.evaluation.metrics", "mnlearn.visual"),
    *("mnlearn.cli.report", "mnlearn_papers", "importlib.metadata"),
)


def modules_after(*words: str) -> set[str]:
    """Run a command in a new process and return the modules that are loaded at its end."""
    code = f"import sys\nfrom mnlearn.cli import main\nassert main({list(words)!r}) == 0\nprint()\nprint(*sys.modules)"
    found = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    return set(found.stdout.splitlines()[-1].split())


@pytest.fixture(name="table")
def _table(tmp_path: Path) -> str:
    path = tmp_path / "table.csv"
    path.write_text("a,b,c\n" + "1,x,0\n0,y,1\n1,y,0\n0,x,1\n" * 20, encoding="utf-8")
    return str(path)


def test_learning_from_a_csv_file_imports_nothing_that_it_does_not_need(table: str) -> None:
    loaded = modules_after("learn", table, "--method", "mpl")
    assert "mnlearn.learning.api" in loaded
    assert [name for name in NOT_TO_LEARN if name in loaded] == []


def test_the_first_call_of_learn_imports_nothing_that_it_does_not_need(table: str) -> None:
    code = f"import sys, mnlearn; mnlearn.learn({table!r}, 'mpl'); print(*sys.modules)"
    found = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert [name for name in (*NOT_TO_LEARN, "typer", "rich") if name in found.stdout.split()] == []


def test_a_report_imports_the_classes_of_no_figure_library(table: str, tmp_path: Path) -> None:
    loaded = modules_after("learn", table, "--method", "mpl", "--report", str(tmp_path / "report.html"))
    assert "networkx" in loaded
    heavy = ("bokeh.models", "bokeh.plotting", "bokeh.resources", "matplotlib", "pandas", "sklearn", "scipy.stats")
    assert [name for name in heavy if name in loaded] == []


def test_help_imports_neither_numpy_nor_rich() -> None:
    loaded = modules_after("--help")
    assert "mnlearn.cli.compare" in loaded  # all commands are listed
    assert "mnlearn_papers" not in loaded
    assert [name for name in ("numpy", "rich.console", "pydantic", *NOT_TO_LEARN[:15]) if name in loaded] == []


def test_the_names_of_a_package_are_loaded_on_first_use() -> None:
    code = "import sys, mnlearn.algorithms as a; a.TwoPhase; print('mnlearn.algorithms.sep' in sys.modules, dir(a))"
    found = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert found.stdout.startswith("False")
    assert "SeparatorEvidence" in found.stdout
    import mnlearn.statistics

    assert mnlearn.statistics.kernels.__name__ == "mnlearn.statistics.kernels"
    with pytest.raises(AttributeError, match=r"'mnlearn\.statistics' has no attribute 'Count'"):
        mnlearn.statistics.Count  # type: ignore[attr-defined]
