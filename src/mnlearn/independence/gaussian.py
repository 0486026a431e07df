"""The partial-correlation test: Fisher's z, for continuous variables whose dependence is linear.

Fisher, Metron 1 (1921), 3-32, for the transform; Fisher, Metron 3 (1924), 329-332, for the rows that the
conditioning set costs.
"""

from __future__ import annotations

from collections.abc import Collection
from math import sqrt

import numpy as np

from mnlearn.independence._asking import log_level, require_answers
from mnlearn.independence._tails import log_two_sided_normal
from mnlearn.protocols import Evidence, FloatArray, Indices, Verdict, Verdicts
from mnlearn.statistics.moments import Moments


class PartialCorrelation:
    """x ⟂ y | z unless artanh(r) sqrt(N - |z| - 3) is too far from 0, r being their partial correlation.

    Parameters
    ----------
    moments
        The covariance of the data.
    alpha
        Dependent if and only if the two-sided p-value is at most this; between 0 and 1, both excluded.

    Raises
    ------
    InputError
        If alpha is outside (0, 1); and from a question, if x, y and z overlap or there is no such variable.

    Notes
    -----
    Exact in the limit for jointly Gaussian variables; sees linear dependence only. With N - |z| - 3 <= 0 there are too
    few rows to tell anything: the statistic is 0 and p is 1. The same holds for a variable that is constant or
    explained by z (see `mnlearn.statistics.moments.EXPLAINED`). All of z counts in |z|, redundant members included.
    A scan is one factor of the block of z and one triangular solve for all ys; it reads no rows.

    Examples
    --------
    >>> chain = [[1.0, 0.5, 0.25], [0.5, 1.0, 0.5], [0.25, 0.5, 1.0]]
    >>> test = PartialCorrelation(Moments.from_covariance(chain, n_rows=200))
    >>> test(0, 2, frozenset()).independent, test(0, 2, frozenset({1})).independent
    (False, True)
    """

    name = "pcor"

    def __init__(self, moments: Moments, alpha: float = 0.05) -> None:
        require_answers(
            "PartialCorrelation", moments, "partial_correlations", "Use Moments(dataset) for continuous data."
        )
        self._log_alpha = log_level(alpha)
        self._moments, self._alpha = moments, float(alpha)

    @property
    def n_variables(self) -> int:
        """The number of variables."""
        return self._moments.n_variables

    @property
    def alpha(self) -> float:
        """The level of the test."""
        return self._alpha

    def __call__(self, x: int, y: int, z: Collection[int]) -> Verdict:
        """Judge one pair: a scan of one."""
        return self.scan(x, (y,), z).one(0)

    def scan(self, x: int, ys: Indices, z: Collection[int]) -> Verdicts:
        """Judge x with each y given z; the support is the natural log of the p-value."""
        _, log_p = self._measure(x, ys, z)
        return Verdicts(log_p > self._log_alpha, log_p)

    def evidence(self, x: int, ys: Indices, z: Collection[int]) -> Evidence:
        """Judge with the numbers: `statistic` is standard normal if independent, `dof` is N - |z| - 3 or else 0."""
        statistic, log_p = self._measure(x, ys, z)
        dof = np.full(log_p.shape, float(self._dof(z)))
        return Evidence(independent=log_p > self._log_alpha, statistic=statistic, dof=dof, log_p=log_p)

    def correlations(self, x: int, ys: Indices, z: Collection[int]) -> FloatArray:
        """The partial correlations behind the decision."""
        return self._moments.partial_correlations(x, ys, z)

    def _measure(self, x: int, ys: Indices, z: Collection[int]) -> tuple[FloatArray, FloatArray]:
        """Fisher's z in units of its standard error, and the log of its two-sided p-value."""
        statistic = np.arctanh(self._moments.partial_correlations(x, ys, z)) * sqrt(self._dof(z))
        return statistic, log_two_sided_normal(statistic)

    def _dof(self, z: Collection[int]) -> int:
        """N - |z| - 3, or 0 if that leaves nothing to judge by."""
        return max(self._moments.n_rows - len(set(z)) - 3, 0)
