"""Lasso paths by least angles from second moments, in the native core.

Paths of l1-penalised logistic regressions on binary columns, which the native core follows.

A column is a bit for each row; its value is −½ or ½. The solver sees only the columns that matter at a penalty and
only their distinct rows: see native/evidence/logistic_path.hpp.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from mnlearn import _core
from mnlearn._core import LogisticPath as LogisticPath  # noqa: PLC0414 - a path that BinaryColumns starts
from mnlearn._core import fit_logistic as fit_logistic  # noqa: PLC0414 - for tests, which do not import the core
from mnlearn.protocols.statistics import BoolArray, FloatArray, IntArray
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
        8 * n,
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


RIDGE = 1e-6  # keeps a fit finite where the columns separate the states; changes a log-likelihood by about as much


class BinaryColumns:
    """Columns of bits for logistic regressions.

    Parameters
    ----------
    columns
        True where the value is ½.
    repeats
        How often each row occurs.

    Examples
    --------
    >>> rows = np.array([[0, 0], [0, 1], [1, 0], [1, 1]], dtype=bool)
    >>> columns = BinaryColumns(list(rows.T), np.array([40, 10, 10, 40]))
    >>> path = columns.path(rows[:, 0], barred=np.array([True, False]), free=np.array([False, False]))
    >>> path.first_penalty()
    15.0
    >>> path.step(10.0), path.active()
    (1, [1])
    """

    def __init__(self, columns: Sequence[BoolArray], repeats: IntArray) -> None:
        self._weights: FloatArray = repeats.astype(np.float64)
        self._planes = _packed(columns, len(repeats))

    def path(self, target: BoolArray, *, barred: BoolArray, free: BoolArray) -> LogisticPath:
        """Start a path of regressions.

        Parameters
        ----------
        target
            The rows with response 1.
        barred, free
            Columns that never enter; columns without a penalty, which have a slight ridge instead.
        """
        level = os.environ.get("MNLEARN_CORE", "")
        response = _packed([target], len(self._weights))[0]
        return _core.LogisticPath(self._planes, self._weights, response, barred, free, RIDGE, level)


def _packed(columns: Sequence[BoolArray], n_rows: int) -> NDArray[np.uint64]:
    """Return a row of words for each column; the first row of the data is the lowest bit."""
    planes = np.zeros((len(columns), -(-n_rows // 64)), dtype="<u8")
    for words, column in zip(planes.view(np.uint8), columns, strict=True):
        bits = np.packbits(column, bitorder="little")
        words[: len(bits)] = bits
    return planes.astype(np.uint64, copy=False)
