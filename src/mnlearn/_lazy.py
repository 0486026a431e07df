"""Packages whose public names are loaded on first use: importing one module does not import its neighbours."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from importlib import import_module


def on_first_use(
    package: str, names: Sequence[str], modules: Sequence[str]
) -> tuple[Callable[[str], object], Callable[[], list[str]]]:
    """Return `__getattr__` and `__dir__` of a package.

    Parameters
    ----------
    package
        The `__name__` of the package.
    names
        Its public names. One that is also the name of a module must be that module, because importing a module sets
        the name.
    modules
        The modules that define the names; they are searched in this order. One of another package is written in full.
    """

    def load(name: str) -> object:
        if name in modules:
            return import_module(f"{package}.{name}")
        for module in modules if name in names else ():
            source = import_module(module if "." in module else f"{package}.{module}")
            if hasattr(source, name):
                value: object = getattr(source, name)
                setattr(sys.modules[package], name, value)
                return value
        raise AttributeError(f"module {package!r} has no attribute {name!r}")

    def listed() -> list[str]:
        return sorted({*vars(sys.modules[package]), *names})

    return load, listed
