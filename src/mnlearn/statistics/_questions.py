"""Questions as the core takes them, and in our words why it refused one."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import repeat
from operator import index

import numpy as np
from numpy.typing import NDArray

from mnlearn import _core
from mnlearn.errors import InputError
from mnlearn.protocols import Indices, VarSet

_LARGEST_INDEX = 2**31 - 1


def question(x: int, ys: Indices, z: VarSet) -> tuple[int, NDArray[np.int32], NDArray[np.int32]]:
    """x, ys and z as the core takes them; z in ascending order."""
    try:
        first, given = index(x), [index(v) for v in z]
    except TypeError:
        raise InputError(
            f"x must be the index of a variable and z a set of indices; got x={x!r}, z={z!r}. Use dataset.index(name)."
        ) from None
    if max([first, *given]) > _LARGEST_INDEX or min([first, *given]) < 0:
        raise InputError(f"x and z must hold indices of variables; got x={x}, z={set(z)}. Use dataset.index(name).")
    given.sort()
    return first, _indices(ys), np.array(given, dtype=np.int32)


def _indices(ys: Indices) -> NDArray[np.int32]:
    array = np.asarray(ys)
    if array.dtype == np.int32 and array.ndim == 1:
        return np.ascontiguousarray(array)
    if array.ndim != 1 or (array.size and array.dtype.kind not in "iu"):
        raise InputError(f"ys must be a sequence of variable indices; got {ys!r}. Use dataset.index(name).")
    narrow = array.astype(np.int32)
    if (narrow != array).any():  # would wrap around
        raise InputError(f"ys must hold indices of variables; got {array.max()}. Use dataset.index(name).")
    return narrow


def refusal(
    error: Exception, xs: Indices, yss: Sequence[Indices] | None, zs: Sequence[VarSet], known: object = None
) -> InputError:
    """Why the core refused: in its own words, or in ours where it could not even read the question."""
    if isinstance(error, ValueError):  # the core writes whole sentences
        return InputError(str(error))
    try:
        questions = list(zip(xs, repeat(()) if yss is None else yss, zs, strict=False))
    except TypeError:
        return InputError(
            f"xs, yss and zs must be sequences, a place for each question; got xs={xs!r}, zs={zs!r}. Put a single "
            "question into lists, or use reduce."
        )
    for x, ys, z in questions:
        question(x, ys, z)  # raises
    if not isinstance(known, _core.Knowledge | None):
        return InputError(
            f"known must be what knowledge() of these counts made; got a {type(known).__name__}. Make one."
        )
    return InputError(f"x, ys and z must be indices of variables; got something else: {error}")
