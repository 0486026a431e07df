"""`import mnlearn` stays light: heavy packages are imported by the functions that need them."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import mnlearn

HEAVY = ("pyarrow", "pandas", "polars", "narwhals", "networkx", "pydot", "matplotlib", "sklearn", "scipy.special")


def test_importing_the_package_imports_nothing_heavy() -> None:
    code = f"import sys, mnlearn; print(*[m for m in {HEAVY!r} if m in sys.modules])"
    found = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert found.stdout.split() == []


def test_importing_the_package_imports_none_of_its_packages() -> None:
    code = "import sys, mnlearn; print(*[m for m in sys.modules if m.startswith('mnlearn.') or m == 'numpy'])"
    found = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert found.stdout.split() == []


def test_every_public_name_is_loaded_on_use() -> None:
    assert [name for name in mnlearn.__all__ if getattr(mnlearn, name, None) is None or name not in dir(mnlearn)] == []


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


def test_the_names_of_a_package_are_loaded_on_first_use() -> None:
    code = (
        "import sys, mnlearn.algorithms as a; a.TwoPhase; print('mnlearn.algorithms.separator' in sys.modules, dir(a))"
    )
    found = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert found.stdout.startswith("False")
    assert "SeparatorEvidence" in found.stdout
    import mnlearn.statistics

    assert mnlearn.statistics.kernels.__name__ == "mnlearn.statistics.kernels"
    with pytest.raises(AttributeError, match=r"'mnlearn\.statistics' has no attribute 'Count'"):
        mnlearn.statistics.Count  # type: ignore[attr-defined]
