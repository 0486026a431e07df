"""Exceptions of the library, and the checks of arguments that raise them.

Every message names the argument, the rule, the value and what to do instead, in that order. All exceptions derive from
`MnlearnError`, so one `except` catches everything that this library raises on purpose.
"""

from __future__ import annotations

import errno
import os
import sys
from collections.abc import Iterable, Mapping, Sequence
from difflib import SequenceMatcher, get_close_matches
from importlib import import_module
from math import inf, isfinite
from numbers import Real
from operator import index
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any, TypeGuard, TypeVar

if TYPE_CHECKING:
    from numpy import float64
    from numpy.ma import MaskedArray
    from numpy.typing import NDArray

Item = TypeVar("Item")


class MnlearnError(Exception):
    """Base class of the exceptions that this library raises on purpose."""


class InputError(MnlearnError, ValueError):
    """An argument breaks a rule."""


class DataError(InputError):
    """The data break a rule: ragged rows, missing values, too many categories."""


class FileError(InputError):
    """A file cannot be read or written, or is not what its name says."""


class UnknownNameError(InputError, LookupError):
    """A column, test or format does not exist; the message lists those that do."""


class UnsuitableError(InputError, TypeError):
    """A judge does not fit the types of the data."""


class MissingDependencyError(MnlearnError, ImportError):
    """An optional package is not installed."""


class DeviceError(MnlearnError, RuntimeError):
    """A GPU is missing, too small or lost."""


class MnlearnWarning(UserWarning):
    """Warning about a result that is still valid."""


def require(module: str, extra: str) -> ModuleType:
    """Import an optional module; raise MissingDependencyError with the install command if it is missing."""
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
    """Return the most similar names; ties keep their order, so that item_1 suggests item_01 before item_21."""
    similar = get_close_matches(name, dict.fromkeys(names), n=max(len(names), 1))
    place = {known: k for k, known in reversed(list(enumerate(names)))}
    return sorted(similar, key=lambda known: (-SequenceMatcher(None, known, name).ratio(), place[known]))[:most]


def whole_number(name: str, value: object, *, least: int, hint: str, most: int | None = None) -> int:
    """Return the value as an int; raise InputError if it is not an integer from `least` to `most`."""
    try:
        number = index(value)  # type: ignore[arg-type]
    except TypeError:
        number = least - 1
    if number < least or isinstance(value, bool) or hasattr(value, "__len__"):  # an array of one number has it
        raise InputError(f"{name} must be a whole number, at least {least}; got {value!r}. {hint}")
    if most is not None and number > most:
        raise InputError(f"{name} must be at most {most:,}; got {value!r}. {hint}")
    return number


def check_name(kind: str, name: object, known: Iterable[str], *, shown: int = 12) -> None:
    """Raise UnknownNameError unless `name` is one of the known names."""
    names = list(known)
    if not isinstance(name, str) or name not in names:
        raise unknown_name(kind, name, names, shown=shown)


def is_one_of(value: object, known: Sequence[str]) -> bool:
    """Return whether the value is one of these strings."""
    return isinstance(value, str) and value in known


def check_path(argument: str, value: object) -> None:
    """Raise InputError unless the value is a path: a string or a PathLike."""
    if not isinstance(value, str | os.PathLike):
        raise InputError(f"{argument} must be a string or a Path; got {value!r}. Name a file or folder.")
    text = os.fsdecode(value)
    if not text or "\0" in text:
        raise FileError(
            f"{argument} must be a name without null characters, not empty; got {text!r}. Name a file or folder."
        )


def check_file(argument: str, path: str | os.PathLike[str]) -> Path:
    """Return the path of a file to read; raise FileError unless it is a file on disk that can be opened."""
    check_path(argument, path)
    file = Path(os.fsdecode(path))
    try:
        if file.is_dir():
            raise FileError(f"{argument} must be a file; {file} is a directory. Name one file in it.")
        check_link(argument, file)
        if not file.exists():
            raise _absent(argument, file)
        if not file.is_file():  # opening a pipe would wait for its writer, a device may never end
            raise FileError(f"{argument} must be a file on disk; {file} is a pipe or a device. Save it to disk first.")
        with file.open("rb"):
            pass
    except OSError as error:
        raise unreadable(argument, file, error) from error
    return file


def check_link(argument: str, path: Path) -> None:
    """Raise FileError for a link that leads to nothing."""
    if os.path.islink(path) and not os.path.exists(path):
        raise FileError(
            f"{argument} must lead to something; {path} is a link to {os.readlink(path)}, where there is nothing. "
            "Correct the link, or name the file itself."
        )


def _absent(argument: str, file: Path) -> FileError:
    """Return the error for a path where there is nothing; it names the nearest names."""
    folder = file.parent
    names = [p.name for p in folder.iterdir() if p.exists()] if folder.is_dir() else []
    near = get_close_matches(file.name, names, n=3)
    hint = f"Did you mean {' or '.join(map(repr, near))}?" if near else "Check the spelling and the folder."
    return FileError(f"{argument} must be an existing file; there is no {file}. {hint}")


def unreadable(argument: str, file: str | os.PathLike[str], error: OSError | MemoryError) -> FileError:
    """Return the error for a file that the system could not read: not the fault of what it holds."""
    if isinstance(error, MemoryError) or error.errno == errno.ENOMEM:
        return FileError(
            f"{argument} must fit into memory; there is not enough of it to read {os.fspath(file)}. Close other "
            "programs, read fewer columns, or use a machine with more memory."
        )
    return FileError(
        f"{argument} must be a file that can be read; {os.fspath(file)}: {error.strerror or error}. Check the disk "
        "and the permissions."
    )


def read_bytes(argument: str, path: str | os.PathLike[str]) -> bytes:
    """Return the content of a file; raise FileError if it cannot be read."""
    file = check_file(argument, path)
    try:
        return file.read_bytes()
    except (OSError, MemoryError) as error:
        raise unreadable(argument, file, error) from error


def check_mapping(argument: str, value: object, example: str) -> None:
    """Raise InputError unless the value is a mapping or None."""
    if value is not None and not isinstance(value, Mapping):
        raise InputError(f"{argument} must be a dict; got {value!r}. Write for example {example}.")


def check_listed(argument: str, value: object, what: str) -> None:
    """Raise InputError unless the value is an iterable other than a string."""
    if isinstance(value, str):
        raise InputError(f"{argument} must be a list of {what}, not a string; got {value!r}. Use [{value!r}].")
    if isinstance(value, bytes) or not iterates(value):
        raise InputError(f"{argument} must be a list of {what}; got {value!r:.80}. Put a single one into a list.")


def iterates(value: object) -> TypeGuard[Iterable[Any]]:
    """Return whether the value can be iterated over; an array without dimensions cannot, though it looks so."""
    return isinstance(value, Iterable) and getattr(value, "ndim", 1) != 0


def check_instance(argument: str, value: object, kind: type, hint: str) -> None:
    """Raise UnsuitableError unless the value is of this type."""
    if not isinstance(value, kind):
        raise UnsuitableError(f"{argument} must be a {kind.__name__}; got a {type(value).__name__}. {hint}")


def check_number(argument: str, value: object, hint: str, *, least: float = -inf, most: float = inf) -> None:
    """Raise InputError unless the value is a finite number within these limits."""
    if not is_number(value) or not least <= value <= most:  # type: ignore[operator]
        within = (
            "" if least == -inf and most == inf else f" from {least:g}" + (f" to {most:g}" if most < inf else " on")
        )
        raise InputError(f"{argument} must be a finite number{within}; got {value!r:.80}. {hint}")


def tuple_of(argument: str, value: Iterable[Item], what: str) -> tuple[Item, ...]:
    """Return an iterable other than a string as a tuple."""
    check_listed(argument, value, what)
    return tuple(value)


def check_methods(argument: str, value: object, methods: Sequence[str], hint: str) -> None:
    """Raise UnsuitableError unless the value is an object with these methods."""
    if isinstance(value, type) or not all(callable(getattr(value, method, None)) for method in methods):
        raise UnsuitableError(
            f"{argument} must have the method{'s' * (len(methods) > 1)} {' and '.join(methods)}; got a "
            f"{type(value).__name__}. {hint}"
        )


def is_masked_array(value: object) -> TypeGuard[MaskedArray[Any, Any]]:
    """Return whether a value is a masked array: there are none unless numpy.ma was imported, which takes 8 ms."""
    ma = sys.modules.get("numpy.ma")
    return ma is not None and isinstance(value, ma.MaskedArray)


def check_unmasked(argument: str, values: object, hint: str = "Fill or drop them first.") -> None:
    """Raise InputError if an array, or something in a list, is masked: NumPy drops the mask without a word."""
    n_masked = _count_masked(values)
    if n_masked:
        raise InputError(f"{argument} must not hold masked values; got {n_masked} of them. {hint}")


def _count_masked(values: object) -> int:
    """Return the number of masked values in an array, a list, or a list of these."""
    from numpy import ndarray

    if isinstance(values, list | tuple):
        return sum(map(_count_masked, values))
    if is_masked_array(values):
        from numpy import ma

        return int(ma.getmaskarray(values).sum()) if values.dtype.names is None else int(ma.is_masked(values))
    return _count_masked(values.ravel().tolist()) if isinstance(values, ndarray) and values.dtype == object else 0


def real_array(argument: str, values: object, hint: str) -> NDArray[float64]:
    """Return a copy of the values as float64; raise InputError unless they are real numbers, none of them masked."""
    import numpy as np

    check_unmasked(argument, values)
    try:
        array = np.array(values)
    except ValueError:  # ragged
        array = np.array(None)
    if array.dtype.kind not in "biuf":
        raise InputError(f"{argument} must be an array of real numbers; got {values!r:.80}. {hint}")
    return array.astype(np.float64)


def sound_sparse(argument: str, matrix: Any) -> Any:
    """Return a SciPy sparse matrix after a look at its indices, which SciPy's conversions trust; raise InputError."""
    try:
        _check(matrix.dtype.kind in "biufc", f"it holds {matrix.dtype}")
        if matrix.format in ("csr", "csc", "bsr"):
            matrix.check_format(full_check=True)
            return matrix
        if matrix.format in ("lil", "dia"):
            starts = matrix.rows if matrix.format == "lil" else matrix.offsets
            _check(len(starts) == len(matrix.data), "it has not one list of places for each list of values")
        if matrix.format == "lil":
            _check([*map(len, matrix.rows)] == [*map(len, matrix.data)], "it has not one place for each value")
        entries = matrix.tocoo(copy=False)
        for places, size in zip((entries.row, entries.col), entries.shape, strict=False):
            _check(len(places) == len(entries.data), "it has not one place for each value")
            _check(not len(places) or 0 <= places.min() <= places.max() < size, f"a place is not below {size}")
    except (ArithmeticError, AttributeError, LookupError, RuntimeError, TypeError, ValueError) as error:
        raise InputError(
            f"{argument} must be a sparse matrix whose indices fit its shape; it is damaged: {error}. Make it anew."
        ) from error
    return entries


def _check(holds: bool, fault: str) -> None:
    if not holds:
        raise ValueError(fault)


def check_room(argument: str, n_bytes: float, what: str, hint: str) -> None:
    """Raise InputError if the work would need more memory than the machine has."""
    if not hasattr(os, "sysconf"):  # no way to find out: the system raises MemoryError later
        return
    there = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    if n_bytes > there:
        raise InputError(
            f"{argument} must leave room for {what}: {n_bytes / 1e9:,.0f} GB; got {there / 1e9:,.0f} GB of memory. "
            f"{hint}"
        )


def is_number(value: object) -> bool:
    """Return whether the value is a finite real number; bools and strings are not."""
    if isinstance(value, bool) or not isinstance(value, Real):
        return False
    try:
        return isfinite(value)
    except OverflowError:  # an integer beyond all floats
        return False


def true_or_false(**settings: object) -> None:
    """Raise InputError for a setting that is not a bool: any string, "no" included, would count as true."""
    for name, value in settings.items():
        if value is not True and value is not False:
            raise InputError(f"{name} must be true or false; got {value!r}. Leave it out for the default.")
