"""Pictures and file names of the documentation follow the code."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path
from types import ModuleType

ROOT = Path(__file__).resolve().parent.parent
DOCS, SOURCE = ROOT / "docs", ROOT / "src" / "mnlearn"


def script(name: str) -> ModuleType:
    """Import a script of the documentation."""
    spec = importlib.util.spec_from_file_location(name, DOCS / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def check_pictures(name: str) -> None:
    """Compare the pictures that a script of the documentation draws with the files."""
    for path, svg in script(name).pictures().items():
        assert path.read_text(encoding="utf-8") == svg, f"{path.name} is stale: run python docs/{name}.py"


def test_the_committed_picture_is_up_to_date() -> None:
    check_pictures("architecture")


def test_files_named_on_the_architecture_page_exist() -> None:
    page = (DOCS / "architecture.md").read_text(encoding="utf-8")
    named = {path for path in re.findall(r"`([\w./-]+/[\w./-]*)`", page) if not re.search(r"[A-Z]{4}", path)}
    assert len(named) > 30
    assert not [path for path in sorted(named) if not ((ROOT / path).exists() or (SOURCE / path).exists())]


def test_the_architecture_page_names_every_package() -> None:
    page = (DOCS / "architecture.md").read_text(encoding="utf-8")
    packages = [name for name in script("architecture").package_imports() if name[0] != "_" and "." not in name]
    assert not [name for name in packages if f"`{name}`" not in page]
