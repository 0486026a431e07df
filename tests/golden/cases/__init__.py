"""All golden cases: one module for each package of mnlearn. They are registered when this package is imported."""

from importlib import import_module
from pathlib import Path

from golden.engine import CASES

__all__ = ["CASES"]

for _path in sorted(Path(__file__).parent.glob("[!_]*.py")):
    import_module(f"{__name__}.{_path.stem}")
