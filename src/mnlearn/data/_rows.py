"""Which rows are equal, without building the rows."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray


def row_groups(columns: Iterable[NDArray[np.generic]]) -> tuple[NDArray[np.int64], int]:
    """Number the distinct rows: the group of every row, and how many groups there are.

    Codes of several columns are packed into one integer until it would overflow; then the packed values
    are numbered anew. A sort is paid once per 62 bits of codes, not once per column.
    """
    packed: NDArray[np.int64] | None = None
    size = 1
    for column in columns:
        codes, card = _numbered(column)
        if packed is None:
            packed, size = codes, card
            continue
        if size * card >= 2**62:
            packed, size = _renumbered(packed)
        packed = packed * card + codes
        size *= card
    if packed is None:
        return np.empty(0, dtype=np.int64), 0
    return _renumbered(packed)


def _numbered(column: NDArray[np.generic]) -> tuple[NDArray[np.int64], int]:
    """A column as integers from 0, and a bound on them."""
    if column.dtype.kind == "f":  # NaN equals NaN here, -0.0 equals 0.0
        return _renumbered(column)
    return column.astype(np.int64), int(column.max(initial=0)) + 1


def _renumbered(values: NDArray[np.generic]) -> tuple[NDArray[np.int64], int]:
    """Values as ranks among the distinct ones."""
    distinct, ranks = np.unique(values, return_inverse=True)
    return ranks.reshape(-1).astype(np.int64, copy=False), max(len(distinct), 1)
