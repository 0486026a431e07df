"""Graphs as arrays: rows of pairs, and symmetric adjacency matrices."""

from __future__ import annotations

from typing import Any, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mnlearn.errors import InputError, check_unmasked


def neighbors_of_array(pairs: NDArray[Any], n: int) -> tuple[frozenset[int], ...] | None:
    """Return the neighbours of each variable by the rows of an integer array; None if some row is not an edge."""
    if pairs.ndim != 2 or pairs.shape[1] != 2 or pairs.dtype.kind not in "iu" or np.ma.isMaskedArray(pairs):
        return None
    if len(pairs) and (pairs.min() < 0 or pairs.max() >= n or (pairs[:, 0] == pairs[:, 1]).any()):
        return None  # the loop over the pairs names the first of them
    ends = np.concatenate([pairs, pairs[:, ::-1]])
    order = np.argsort(ends[:, 0], kind="stable")
    others, bounds = ends[order, 1].tolist(), np.cumsum(np.bincount(ends[:, 0], minlength=n)).tolist()
    return tuple(frozenset(others[a:b]) for a, b in zip([0, *bounds], bounds, strict=False))


def symmetric_entries(matrix: Any) -> tuple[int, NDArray[np.int32], NDArray[np.int32]]:
    """Return the size, and the rows and columns of the non-zero entries, of an adjacency matrix."""
    from scipy.sparse import coo_array, issparse

    check_unmasked("matrix", matrix)
    try:
        values: Any = matrix if issparse(matrix) else np.asarray(cast(ArrayLike, matrix))
    except ValueError:
        raise InputError("matrix must be square; got rows of different lengths.") from None
    if values.ndim != 2 or values.shape[0] != values.shape[1]:
        raise InputError(f"matrix must be square; got shape {values.shape}.")
    if values.dtype.kind not in "biuf":
        raise InputError(f"matrix must hold booleans or real numbers; got dtype {values.dtype}.")
    entries = coo_array(values).tocsr().astype(np.float64)
    entries.eliminate_zeros()
    if not np.isfinite(entries.data).all():
        raise InputError("matrix must hold finite numbers; got NaN or infinity. Use 0 where there is no edge.")
    looped = np.flatnonzero(entries.diagonal())
    if len(looped):
        raise InputError(f"matrix must have a zero diagonal; entry ({looped[0]}, {looped[0]}) is not. Set it to 0.")
    _check_symmetric(entries)
    rows, columns = entries.nonzero()
    return int(values.shape[0]), rows, columns


def _check_symmetric(entries: Any) -> None:
    """Raise InputError unless a matrix is symmetric; values may differ by rounding, zeros may not."""
    mirrored = entries.T.tocsr()
    one_sided = (entries != 0) != (mirrored != 0)
    unequal = abs(entries - mirrored) > 1e-8 * abs(entries).maximum(abs(mirrored))
    wrong = (one_sided + unequal).tocoo()
    if wrong.nnz:
        u, v = int(wrong.row[0]), int(wrong.col[0])
        raise InputError(
            f"matrix must be symmetric; entry ({u}, {v}) is {entries[u, v]:g} and entry ({v}, {u}) is "
            f"{entries[v, u]:g}. If an edge in either direction is meant, pass (matrix != 0) + (matrix.T != 0)."
        )
