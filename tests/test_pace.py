"""`.ci/pace` measures what the library still has."""

from __future__ import annotations

import sys
from importlib.machinery import SourceFileLoader
from importlib.util import module_from_spec, spec_from_loader
from pathlib import Path
from typing import Any

import pytest

SCRIPT = Path(__file__).resolve().parent.parent / ".ci" / "pace"


@pytest.fixture
def pace(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Return the script as a module."""
    monkeypatch.setattr("sys.dont_write_bytecode", True)
    loader = SourceFileLoader("pace", str(SCRIPT))
    spec = spec_from_loader("pace", loader)
    assert spec is not None
    module = module_from_spec(spec)
    monkeypatch.setitem(sys.modules, "pace", module)
    loader.exec_module(module)
    return module


@pytest.mark.slow
def test_every_item_runs(pace: Any, tmp_path: Path) -> None:
    items = pace.Workload(tmp_path).items()
    assert len(items) == sum(map(len, pace.LEARNERS.values())) + 4
    assert len({method for methods in pace.LEARNERS.values() for method in methods}) == 14
    for name, setup in items.items():
        assert pace.spent(setup, 1) > 0, name
