"""Pictures of the documentation are drawn by scripts; the committed files are up to date."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType

import pytest

DOCS = Path(__file__).resolve().parent.parent / "docs"


def script(name: str) -> ModuleType:
    """Import a script of the documentation."""
    spec = importlib.util.spec_from_file_location(name, DOCS / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("name", ["charts"])
def test_committed_pictures_are_up_to_date(name: str) -> None:
    for path, svg in script(name).pictures().items():
        assert path.read_text(encoding="utf-8") == svg, f"{path.name} is stale: run python docs/{name}.py"
