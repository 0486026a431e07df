"""What is made on first use: the public names of packages, so that importing one module does not import its neighbours,
and values of objects.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from functools import cached_property
from importlib import import_module
from typing import TypeVar, overload

Value = TypeVar("Value")


class cached(cached_property[Value]):  # noqa: N801 - a decorator
    """A property that is computed on first use and kept, without a lock.

    Python 3.11 holds one lock for all objects of a class, which a process that is forked meanwhile inherits locked for
    ever. Here threads that ask at once may each compute the value, and all get the one that is kept first.
    """

    @overload
    def __get__(self, instance: None, owner: type[object] | None = None) -> cached[Value]: ...
    @overload
    def __get__(self, instance: object, owner: type[object] | None = None) -> Value: ...
    def __get__(self, instance: object, owner: type[object] | None = None) -> cached[Value] | Value:
        """Return the value of an object; the property itself of its class."""
        if instance is None:
            return self
        kept: dict[str, Value] = vars(instance)
        name = str(self.attrname)
        return kept[name] if name in kept else kept.setdefault(name, self.func(instance))


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
