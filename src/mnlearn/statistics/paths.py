"""Lasso paths by least angles from second moments, in the native core."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from mnlearn import _core
from mnlearn.protocols.statistics import FloatArray, IntArray
from mnlearn.statistics.moments import EXPLAINED


class Criterion(NamedTuple):
    """N log σ²(J) + |J| price, and where a path ends: beyond `most` members, or after `patience` sets no better."""

    n_rows: int
    price: float
    most: int
    patience: int


def lasso_path(
    gram: FloatArray,
    shared: FloatArray,
    *,
    allowed: IntArray | None = None,
    smallest: float = 0.0,
    max_steps: int | None = None,
) -> tuple[FloatArray, FloatArray]:
    """Return the penalties at which the path bends, descending, and the weights there, a column each.

    Parameters
    ----------
    gram, shared
        Second moments of the regressors, with each other and with the target.
    allowed
        Places of the regressors that may have a weight; all by default.
    smallest
        Penalty at which the path ends.
    max_steps
        Largest number of bends; eight times the number of regressors by default.

    Notes
    -----
    A regressor that others explain but for rounding has no weight. Weights below rounding are 0.

    Examples
    --------
    >>> penalties, weights = lasso_path(np.eye(2), np.array([0.5, 0.2]))
    >>> penalties.round(3).tolist(), weights.round(3).tolist()
    ([0.5, 0.2, 0.0], [[0.0, 0.3, 0.5], [0.0, 0.0, 0.2]])
    """
    n = len(shared)
    penalties, weights = _core.lasso_path(
        np.ascontiguousarray(gram),
        np.ascontiguousarray(shared),
        np.arange(n) if allowed is None else allowed,
        max(smallest, EXPLAINED),
        8 * n if max_steps is None else max_steps,
    )
    return penalties, weights.T


def lasso_by_criterion(
    correlation: FloatArray, xs: Sequence[int], alloweds: Sequence[IntArray], criterion: Criterion, *, n_threads: int
) -> list[tuple[list[int], int]]:
    """Return the set along the path of each x with the least criterion, the first of equals, and how many were fitted.

    Parameters
    ----------
    correlation
        Correlations of all variables.
    xs, alloweds
        Each variable to be explained, and those that may explain it.
    criterion
        Criterion of a set, fitted without penalty.
    n_threads
        Number of threads; any number gives the same bits.

    Examples
    --------
    >>> chain = np.array([[1.0, 0.5, 0.25], [0.5, 1.0, 0.5], [0.25, 0.5, 1.0]])
    >>> lasso_by_criterion(chain, [0], [np.array([1, 2])], Criterion(500, 6.2, 100, 5), n_threads=1)
    [([1], 2)]
    """
    return _core.lasso_by_criterion(np.ascontiguousarray(correlation), xs, alloweds, *criterion, EXPLAINED, n_threads)
