"""Every example in a docstring runs and prints what it says."""

from __future__ import annotations

import doctest
import importlib
import pkgutil
from types import ModuleType

import mnlearn


def check_examples(package: ModuleType, *, least: int) -> None:
    """Run the examples of all modules of a package, of which there are at least so many."""
    modules = sorted(
        module.name
        for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}.")
        if not module.name.endswith(("_core", "__main__", "gpu_kernels"))  # which Triton compiles
    )
    results = {name: doctest.testmod(importlib.import_module(name)) for name in modules}
    assert [name for name, result in results.items() if result.failed] == []
    assert sum(result.attempted for result in results.values()) >= least


def test_examples_run() -> None:
    check_examples(mnlearn, least=300)
