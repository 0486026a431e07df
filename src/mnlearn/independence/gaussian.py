"""The partial-correlation test: Fisher's z, for continuous variables whose dependence is linear.

Fisher, Metron 1 (1921), 3-32, for the transform; Fisher, Metron 3 (1924), 329-332, for the rows that the
conditioning set costs.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from math import lgamma, log, pi, sqrt
from typing import ClassVar

import numpy as np

from mnlearn.errors import InputError, is_number
from mnlearn.independence._base import EvidenceTest, log_level, require_method
from mnlearn.independence._tails import log_two_sided_normal
from mnlearn.protocols import Evidence, FloatArray, Indices, LogOdds, VarSet, Verdicts
from mnlearn.statistics.moments import Moments


class PartialCorrelation(EvidenceTest):
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
        require_method(self, moments, "partial_correlations")
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


# The posterior of independence for continuous variables: a closed-form Bayes factor of a partial correlation.
#
# The prior is Maruyama & George's, Annals of Statistics 39 (2011), 2740-2765  [MG11], for one coefficient.
# Let a and b be what least squares on a constant and z leaves of x and y: vectors with ν = N − 1 − |z| degrees of
# freedom
# and correlation r. Dependent says b = βa + noise, independent says β = 0; the coefficients of z, the constant and
# the
# logarithm of the noise's scale σ have flat priors. With β ~ Normal(0, g σ² / |a|²) both integrate in closed form:
#
#     BF(g) = (1 + g)^((ν−1)/2) (1 + g (1 − r²))^(−ν/2).
#
# A fixed g would not let any correlation, however perfect, prove dependence. So g has the prior
# g^c (1 + g)^(−c−3/2) / B(c + 1, 1/2) with c = (ν − 4)/2, under which 1/(1 + g) is Beta(1/2, c + 1): β has tails like
# Cauchy's. It is chosen so that the powers of 1 + g cancel, and ∫ g^c (1 + g (1 − r²))^(−ν/2) dg is a Beta integral:
#
#     BF = Γ((ν−1)/2) / (√π Γ(ν/2)) · (1 − r²)^(−(ν−2)/2).
#
# It depends on r² alone, so x and y may change places.


_LOG_HALF = log(0.5)


@dataclass(frozen=True)
class GaussianPosterior(EvidenceTest):
    """P(x ⟂ y | z) = 1 / (1 + BF (1 − p)/p) for jointly Gaussian variables, as an `IndependencePosterior`.

    Parameters
    ----------
    moments
        The covariance of the data.
    prior
        p, the probability of independence before the data.

    Raises
    ------
    InputError
        If the prior is not between 0 and 1; and from a question, if x, y and z overlap or there is no such variable.

    Notes
    -----
    The factor is derived in the text of this module. With N − 1 − |z| ≤ 2 there are too few rows to tell anything, and
    the posterior is the prior. A variable that is constant or explained by z has r = 0: evidence of independence. As a
    test it says independent iff that is the more probable; an exact tie says dependent, as `BayesianTest` does.

    Examples
    --------
    >>> chain = [[1.0, 0.5, 0.25], [0.5, 1.0, 0.5], [0.25, 0.5, 1.0]]
    >>> posterior = GaussianPosterior(Moments.from_covariance(chain, n_rows=200))
    >>> posterior.log_odds(0, [1, 2], frozenset()).dependent.round(3).tolist()
    [-0.0, -0.03]
    >>> posterior.log_odds(0, [2], frozenset({1})).independent.round(3).tolist()
    [-0.055]
    """

    name: ClassVar[str] = "bayes-pcor"
    moments: Moments
    prior: float = 0.5

    def __post_init__(self) -> None:
        require_method(self, self.moments, "partial_correlations")
        if not (is_number(self.prior) and 0.0 < self.prior < 1.0):
            raise InputError(
                f"prior must be between 0 and 1, both excluded; got {self.prior!r}. The usual value is 0.5."
            )

    @property
    def n_variables(self) -> int:
        """How many variables the data have."""
        return self.moments.n_variables

    @property
    def cards(self) -> tuple[int, ...]:
        """A zero for each variable: continuous ones have no states to count."""
        return (0,) * self.n_variables

    def log_odds(self, x: int, ys: Indices, z: VarSet) -> LogOdds:
        """log P(independent | D) and log P(dependent | D) for each y."""
        return self._weigh(self.moments.partial_correlations(x, ys, z), len(set(z)))

    def members(self, x: int, z: VarSet) -> LogOdds:
        """The same for every y in z, in ascending order, given the rest of z."""
        return self._weigh(self.moments.member_correlations(x, z), len(set(z)) - 1)

    def evidence(self, x: int, ys: Indices, z: VarSet) -> Evidence:
        """Both log posteriors and the decision for each y."""
        odds = self.log_odds(x, ys, z)
        independent = odds.independent > _LOG_HALF
        return Evidence(independent, log_independent=odds.independent, log_dependent=odds.dependent)

    def _weigh(self, r: FloatArray, n_given: int) -> LogOdds:
        """The posteriors from the Bayes factor of dependence."""
        odds = log_bayes_factor(r, self.moments.n_rows - 1 - n_given) + log(1.0 - self.prior) - log(self.prior)
        return LogOdds(-np.logaddexp(0.0, odds), -np.logaddexp(0.0, -odds))


def log_bayes_factor(r: FloatArray, dof: int) -> FloatArray:
    """log BF of dependence for each partial correlation with ν degrees of freedom; 0 if ν tells nothing."""
    if dof <= 2:
        return np.zeros_like(r)
    constant = lgamma(0.5 * (dof - 1)) - lgamma(0.5 * dof) - 0.5 * log(pi)
    return np.asarray(constant - 0.5 * (dof - 2) * (np.log1p(-r) + np.log1p(r)))
