"""Paths of l1-penalised logistic regressions on binary columns, which the native core follows.

A column is a bit for each row; its value is −½ or ½. The solver sees only the columns that matter at a penalty and
only their distinct rows: see native/evidence/logistic_path.hpp.
"""

from __future__ import annotations

import os
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from mnlearn import _core
from mnlearn._core import LogisticPath as LogisticPath  # noqa: PLC0414 - a path that BinaryColumns starts
from mnlearn._core import fit_logistic as fit_logistic  # noqa: PLC0414 - for tests, which do not import the core
from mnlearn.protocols.statistics import BoolArray, FloatArray, IntArray

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
