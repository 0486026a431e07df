"""Questions as the core takes them, and in our words why it could not read one."""

from __future__ import annotations

from collections.abc import Iterable
from math import isnan
from numbers import Real
from operator import index

import numpy as np
from numpy.typing import NDArray

from mnlearn import _core
from mnlearn.errors import InputError, true_or_false, whole_number
from mnlearn.protocols import Indices, Kernel, VarSet

UNREADABLE = (TypeError, AttributeError)  # what reading arguments of the wrong kind raises; rules raise InputError
LARGEST_INDEX = 2**31 - 1


def question(x: int, ys: Indices, z: VarSet) -> tuple[int, NDArray[np.int32], NDArray[np.int32]]:
    """x, ys and z as the core takes them; z in ascending order."""
    try:
        first, given = _index(x), [_index(v) for v in z]
    except TypeError:
        raise InputError(
            f"x must be the index of a variable and z a set of indices; got x={x!r}, z={z!r}. Use dataset.index(name)."
        ) from None
    if max([first, *given]) > LARGEST_INDEX or min([first, *given]) < 0:
        raise InputError(f"x and z must hold indices of variables; got x={x}, z={set(z)}. Use dataset.index(name).")
    given.sort()
    return first, indices("ys", ys), np.array(given, dtype=np.int32)


def indices(name: str, given: Indices) -> NDArray[np.int32]:
    """Indices as the core takes them."""
    try:
        array = np.asarray(given)
    except ValueError:  # ragged
        array = np.empty((0, 0))
    if array.dtype == np.int32 and array.ndim == 1:
        return np.ascontiguousarray(array)
    if array.ndim != 1 or (array.size and array.dtype.kind not in "iu"):
        raise InputError(f"{name} must be a sequence of variable indices; got {given!r}. Use dataset.index(name).")
    narrow = array.astype(np.int32)
    wrapped = array[narrow != array]
    if wrapped.size:
        raise InputError(f"{name} must hold indices of variables; got {wrapped[0]}. Use dataset.index(name).")
    return narrow


def _index(value: object) -> int:
    """A whole number, but not a truth: True is hardly meant as the second variable."""
    if isinstance(value, bool):
        raise TypeError
    return index(value)  # type: ignore[arg-type]


def refusal(
    error: Exception, kernel: object, xs: Indices, yss: Iterable[Indices], zs: Iterable[VarSet], **settings: object
) -> Exception:
    """What was wrong with a question that the core could not read: the first argument that is not of its kind."""
    if not isinstance(kernel, Kernel):
        return InputError(
            f"kernel must be a Kernel; got {kernel!r}. Make one by mnlearn.statistics.kernels, chi2() for instance."
        )
    try:
        questions = list(zip(xs, yss, zs, strict=False))
    except TypeError:
        return InputError(
            f"xs, yss and zs must be sequences, a place for each question; got xs={xs!r}, zs={zs!r}. Put a single "
            "question into lists, or use reduce."
        )
    for x, ys, z in questions:
        question(x, ys, z)  # raises
    for name, value in settings.items():
        _check_setting(name, value)
    return error


def check_level(level: object) -> None:
    """Refuse a level that no support can be compared with."""
    if isinstance(level, bool) or not isinstance(level, Real) or isnan(level):
        raise InputError(f"level must be a number; got {level!r}. Use log(alpha), or log(1/2) for a posterior.")


def _check_setting(name: str, value: object) -> None:
    """The rules of what `Counts.grow` and `Counts.shrink` take besides a question."""
    if name == "level":
        check_level(value)
    elif name == "ahead":
        way_out = "Use 1 to ask one question at a time."
        if whole_number(name, value, least=1, way_out=way_out) > LARGEST_INDEX:
            raise InputError(f"ahead must be a number of variables; got {value!r}. {way_out}")
    elif name == "known" and not isinstance(value, _core.Knowledge | None):
        raise InputError(
            f"known must be what knowledge() of these counts made; got a {type(value).__name__}. Make one."
        )
    elif name == "to_first":
        true_or_false(to_first=value)
