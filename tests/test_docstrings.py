"""Every example in a docstring runs and prints what it says."""

from __future__ import annotations

import doctest
import importlib
import pkgutil

import pytest

import mnlearn

MODULES = sorted(
    module.name
    for module in pkgutil.walk_packages(mnlearn.__path__, "mnlearn.")
    if not module.name.endswith(("_core", "__main__"))
)


@pytest.mark.parametrize("name", MODULES)
def test_examples_run(name: str) -> None:
    assert doctest.testmod(importlib.import_module(name)).failed == 0


def test_there_are_examples() -> None:
    found = sum(len(doctest.DocTestFinder().find(importlib.import_module(name))) for name in MODULES)
    assert found > 50
