"""`import mnlearn` stays light: heavy packages are imported by the functions that need them."""

from __future__ import annotations

import subprocess
import sys

HEAVY = ("pyarrow", "pandas", "polars", "narwhals", "networkx", "pydot", "matplotlib", "sklearn", "scipy.special")


def test_importing_the_package_imports_nothing_heavy() -> None:
    code = f"import sys, mnlearn; print(*[m for m in {HEAVY!r} if m in sys.modules])"
    found = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert found.stdout.split() == []
