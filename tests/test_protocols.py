"""The nouns lie in several files and are imported from one place."""

from __future__ import annotations

import importlib
import pkgutil

import pytest

from mnlearn import protocols

FILES = [f"mnlearn.protocols.{found.name}" for found in pkgutil.iter_modules(protocols.__path__)]


@pytest.mark.parametrize("name", FILES)
def test_every_noun_of_a_file_can_be_imported_from_the_package(name: str) -> None:
    module = importlib.import_module(name)
    own = {k for k, v in vars(module).items() if getattr(v, "__module__", None) == name and not k.startswith("_")}
    assert own <= set(protocols.__all__)
    assert all(getattr(protocols, noun) is getattr(module, noun) for noun in own)


def test_nothing_is_promised_twice_or_missing() -> None:
    assert len(set(protocols.__all__)) == len(protocols.__all__)
    assert all(hasattr(protocols, noun) for noun in protocols.__all__)
