"""Logistic regressions on grouped rows: the one place that fits them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from mnlearn import _core
from mnlearn.protocols import FloatArray

RIDGE = 1e-6  # makes a fit finite where it separates the states; moves a log-likelihood by about as little


class LogisticFit(NamedTuple):
    """The coefficients of the columns, the intercept last, and −log L there."""

    coefficients: FloatArray
    loss: float


class GroupedRows(NamedTuple):
    """Rows that agree in all columns as one row each: how many they are, and how many of them answer 1."""

    design: FloatArray
    total: FloatArray
    ones: FloatArray

    def fit(self, penalties: FloatArray, *, tolerance: float, start: FloatArray | None = None) -> LogisticFit:
        """Minimise −log L + Σ penalty_j |b_j|, with a free intercept and a slight ridge on columns without a penalty.

        Parameters
        ----------
        penalties
            One for each column, at least 0.
        tolerance
            How far a derivative may be from its optimum.
        start
            Where to begin; zeros when left out.

        Examples
        --------
        >>> rows = GroupedRows(np.array([[-0.5], [0.5]]), np.array([100.0, 100.0]), np.array([50.0, 80.0]))
        >>> rows.fit(np.zeros(1), tolerance=1e-6).coefficients.round(3)
        array([1.386, 0.693])
        """
        design = np.ascontiguousarray(self.design)
        begin = np.zeros(design.shape[1] + 1) if start is None else start
        return LogisticFit(*_core.fit_logistic(design, self.total, self.ones, penalties, RIDGE, tolerance, begin))
