"""Every example in a docstring runs and prints what it says."""

from __future__ import annotations

import doctest
import importlib
import pkgutil

import mnlearn

MODULES = sorted(
    module.name
    for module in pkgutil.walk_packages(mnlearn.__path__, "mnlearn.")
    if not module.name.endswith(("_core", "__main__", "device_kernels"))  # which Triton compiles
)


def test_examples_run() -> None:
    results = {name: doctest.testmod(importlib.import_module(name)) for name in MODULES}
    assert [name for name, result in results.items() if result.failed] == []
    assert sum(result.attempted for result in results.values()) > 300
