"""What can go wrong, by name.

Every message names the argument, the rule, the value and the way out, in that order. All of them
descend from `MnlearnError`, so one `except` catches whatever this library refuses on purpose.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from difflib import SequenceMatcher, get_close_matches
from importlib import import_module
from math import isfinite
from numbers import Real
from operator import index
from types import ModuleType
from typing import TypeVar

Item = TypeVar("Item")


class MnlearnError(Exception):
    """Anything this library refuses on purpose."""


class InputError(MnlearnError, ValueError):
    """An argument breaks a rule."""


class DataError(InputError):
    """The data break a rule: ragged rows, missing values, too many categories."""


class FileError(InputError):
    """A file cannot be read or written, or is not what its name says."""


class UnknownNameError(InputError, LookupError):
    """A column, test or format that does not exist; the message lists the ones that do."""


class UnsuitableError(InputError, TypeError):
    """A judge that does not fit the types of the data."""


class BudgetExceeded(MnlearnError):  # noqa: N818 - an event a search catches, not a fault
    """A `Budgeted` judge was asked more than it may answer."""


class MissingDependencyError(MnlearnError, ImportError):
    """An optional package is not installed."""


class MnlearnWarning(UserWarning):
    """Something a user should know about a result that is still valid."""


def require(module: str, extra: str) -> ModuleType:
    """Import an optional module, or say how to install it."""
    try:
        return import_module(module)
    except ImportError as error:
        raise MissingDependencyError(
            f"{module} is needed for this and is not installed. Install it with: pip install 'mnlearn[{extra}]'."
        ) from error


def unknown_name(kind: str, name: object, known: Iterable[str], *, shown: int = 12) -> UnknownNameError:
    """Build the error for a name that does not exist: nearest names first, then the known ones."""
    names = list(known)
    near = _nearest(str(name), names)
    listed = ", ".join(repr(n) for n in names[:shown]) + (f", ... ({len(names)} in all)" if len(names) > shown else "")
    hint = f" Did you mean {' or '.join(repr(n) for n in near)}?" if near else ""
    return UnknownNameError(f"{kind} {name!r} does not exist.{hint} Known: {listed or 'none'}.")


def _nearest(name: str, names: Sequence[str], most: int = 3) -> list[str]:
    """The most similar names; of equally similar ones the first, so that item_1 suggests item_01 before item_21."""
    similar = get_close_matches(name, dict.fromkeys(names), n=max(len(names), 1))
    place = {known: k for k, known in reversed(list(enumerate(names)))}
    return sorted(similar, key=lambda known: (-SequenceMatcher(None, known, name).ratio(), place[known]))[:most]


def whole_number(name: str, value: object, *, least: int, way_out: str, most: int | None = None) -> int:
    """The value as an int, or the error that says it is none, or too small, or too large."""
    try:
        number = index(value)  # type: ignore[arg-type]
    except TypeError:
        number = least - 1
    if number < least or isinstance(value, bool):
        raise InputError(f"{name} must be a whole number, at least {least}; got {value!r}. {way_out}")
    if most is not None and number > most:
        raise InputError(f"{name} must be at most {most:,}; got {value!r}. {way_out}")
    return number


def check_name(kind: str, name: object, known: Iterable[str], *, shown: int = 12) -> None:
    """Refuse what is none of the known names, whatever it is instead."""
    names = list(known)
    if not isinstance(name, str) or name not in names:
        raise unknown_name(kind, name, names, shown=shown)


def is_one_of(value: object, known: Sequence[str]) -> bool:
    """Whether the value is one of these texts; it may be anything."""
    return isinstance(value, str) and value in known


def check_path(argument: str, value: object) -> None:
    """Refuse what cannot name a file or a folder."""
    if not isinstance(value, str | os.PathLike):
        raise InputError(f"{argument} must be a text or a Path; got {value!r}. Name a file or folder.")


def check_mapping(argument: str, value: object, example: str) -> None:
    """Refuse what has no keys and values; None stands for nothing."""
    if value is not None and not isinstance(value, Mapping):
        raise InputError(f"{argument} must be a dict; got {value!r}. Write for example {example}.")


def check_listed(argument: str, value: object, what: str) -> None:
    """Refuse what is not several things in a row; a text is one thing, whatever its letters."""
    if isinstance(value, str):
        raise InputError(f"{argument} must be a list of {what}; got the text {value!r}. Use [{value!r}].")
    if not isinstance(value, Iterable):
        raise InputError(f"{argument} must be a list of {what}; got {value!r}. Put a single one into a list.")


def tuple_of(argument: str, value: Iterable[Item], what: str) -> tuple[Item, ...]:
    """Several things in a row, told once and for all."""
    check_listed(argument, value, what)
    return tuple(value)


def check_methods(argument: str, value: object, methods: Sequence[str], way_out: str) -> None:
    """Refuse an object that cannot do what will be asked of it."""
    if isinstance(value, type) or not all(callable(getattr(value, method, None)) for method in methods):
        raise UnsuitableError(
            f"{argument} must have the methods {' and '.join(methods)}; got a {type(value).__name__}. {way_out}"
        )


def check_room(argument: str, n_bytes: float, what: str, way_out: str) -> None:
    """Refuse work that would take more memory than the machine has, before any of it is taken."""
    if not hasattr(os, "sysconf"):  # there the system itself must refuse
        return
    there = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    if n_bytes > there:
        raise InputError(
            f"{argument} must leave room for {what}: {n_bytes / 1e9:,.0f} GB; got {there / 1e9:,.0f} GB of memory. "
            f"{way_out}"
        )


def is_number(value: object) -> bool:
    """Whether the value is a finite number; a truth is none, and neither is a text of digits."""
    if isinstance(value, bool):
        return False
    return isinstance(value, Real) and isfinite(value)


def true_or_false(**settings: object) -> None:
    """Refuse a setting that is neither: any text, "no" among them, would count as true."""
    for name, value in settings.items():
        if value is not True and value is not False:
            raise InputError(f"{name} must be true or false; got {value!r}. Leave it out for the default.")
