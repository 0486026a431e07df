"""Continuous variables with linear dependence: Fisher's z test, and the posterior of independence.

The test is Fisher, Metron 1 (1921), 3-32, for the transform; Fisher, Metron 3 (1924), 329-332, for the degrees of
freedom that the conditioning set costs. The posterior is a closed-form Bayes factor of a partial correlation, derived
below with the prior of Maruyama & George, Annals of Statistics 39 (2011), 2740-2765  [MG11], for one coefficient.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass, field
from math import pi
from typing import ClassVar

import numpy as np

from mnlearn.errors import InputError, is_number
from mnlearn.independence.base import EvidenceTest, Strongest, log_level, require_method, screen_of
from mnlearn.numbers import ABSOLUTE, log, log1p, log_add_exp, log_gamma
from mnlearn.protocols import Evidence, FloatArray, Indices, IntArray, LogOdds, SubsetWalk, VarSet, Verdicts
from mnlearn.statistics.kernels import fisher_tails
from mnlearn.statistics.moments import Moments, TestwiseMoments


class MomentsTest(EvidenceTest):
    """Conditional independence test of continuous variables."""

    moments: Moments | TestwiseMoments

    @property
    def n_variables(self) -> int:
        """Number of variables."""
        return self.moments.n_variables

    @property
    def strongest(self) -> Strongest:
        """Function that returns the pairs among the k strongest of either variable; see `ScreeningJudge`."""
        return screen_of(self.moments, "g2")


@dataclass(frozen=True)
class PartialCorrelation(MomentsTest):
    """Test by partial correlation r: x ⟂ y | z unless artanh(r) sqrt(N - |z| - 3) is too far from 0.

    Parameters
    ----------
    moments
        Covariance of the data; `TestwiseMoments` where values are missing: N is then the rows of each question.
    alpha
        Dependent if and only if the two-sided p-value is at most this; between 0 and 1, both excluded.

    Raises
    ------
    InputError
        If alpha is outside (0, 1); in a question, if x, y and z overlap or a variable does not exist.

    Notes
    -----
    Exact in the limit for jointly Gaussian variables; detects linear dependence only. With N - |z| - 3 <= 0 there are
    too few rows: the statistic is 0 and p is 1. The same holds for a constant variable. Where z explains x or y but for
    rounding, as a copy does, the test cannot tell: statistic and log p are NaN, and the decision is independent,
    because nothing is left that could depend. |r| is at most 1 - 1e-16: the statistic of a copy is 18.7 times the root
    of the degrees of freedom, not infinite. Redundant members of z count in |z|. A scan is one factor of the block of z
    and one triangular solve for all ys.

    Examples
    --------
    >>> chain = [[1.0, 0.5, 0.25], [0.5, 1.0, 0.5], [0.25, 0.5, 1.0]]
    >>> test = PartialCorrelation(Moments.from_covariance(chain, n_rows=200))
    >>> test(0, 2, frozenset()).independent, test(0, 2, frozenset({1})).independent
    (False, True)
    """

    name: ClassVar[str] = "pcor"
    moments: Moments | TestwiseMoments
    alpha: float = 0.05
    _log_alpha: float = field(init=False, repr=False)

    def __post_init__(self) -> None:
        require_method(self, self.moments, "partial_correlations")
        object.__setattr__(self, "_log_alpha", log_level(self.alpha))

    def scan(self, x: int, ys: Indices, z: Collection[int]) -> Verdicts:
        """Test x against each y given z; the support is the natural log of the p-value."""
        _, log_p, _ = self._measure(x, ys, z)
        return Verdicts(~(log_p <= self._log_alpha), log_p)

    def evidence(self, x: int, ys: Indices, z: Collection[int]) -> Evidence:
        """Return the numbers: `statistic` is standard normal if independent, `dof` is N - |z| - 3 or else 0."""
        statistic, log_p, rows = self._measure(x, ys, z)
        dof = np.maximum(rows - len(set(z)) - 3, 0).astype(np.float64)
        independent = ~(log_p <= self._log_alpha)
        return Evidence(independent, statistic=statistic, dof=dof, log_p=log_p, n_rows=rows)

    def correlations(self, x: int, ys: Indices, z: Collection[int]) -> FloatArray:
        """Return the partial correlations behind the decision; NaN where they cannot be told."""
        return self.moments.partial_correlations(x, ys, z)

    def scan_pairs(self) -> Iterator[tuple[range, Verdicts]]:
        """Test every pair given nothing, all at once."""
        r, rows = self.moments.measured_pairs()
        _, log_p = tails_by_rows(r, rows - 3)
        yield range(self.n_variables - 1), Verdicts(~(log_p <= self._log_alpha), log_p)

    def subsets(self) -> SubsetWalk | None:
        """Return the search over conditioning sets that the moments run, if they can."""
        make = getattr(self.moments, "subsets", None)
        walk: SubsetWalk | None = None if make is None else make(self._log_alpha)
        return walk

    def _measure(self, x: int, ys: Indices, z: Collection[int]) -> tuple[FloatArray, FloatArray, IntArray]:
        """Return Fisher's z in units of its standard error, the log of its two-sided p-value (NaN: untold), and N."""
        r, rows = self.moments.measured(x, ys, z)  # checks the question
        return *tails_by_rows(r, rows - len(set(z)) - 3), rows


def tails_by_rows(r: FloatArray, dof: IntArray) -> tuple[FloatArray, FloatArray]:
    """Return Fisher's z and log p of each correlation with its own degrees of freedom, 0 for those below."""
    if not len(r) or (dof == dof[0]).all():
        return fisher_tails(r, float(max(dof[0], 0)) if len(r) else 0.0)
    statistic, log_p = np.empty_like(r), np.empty_like(r)
    for free in np.unique(dof):
        same = dof == free
        statistic[same], log_p[same] = fisher_tails(r[same], float(max(free, 0)))
    return statistic, log_p


# The Bayes factor. Let a and b be the residuals of x and y after least squares on a constant and z: vectors with
# ν = N − 1 − |z| degrees of freedom and correlation r. Dependence means b = βa + noise, independence means β = 0; the
# coefficients of z, the constant and the logarithm of the noise's scale σ have flat priors. With
# β ~ Normal(0, g σ² / |a|²) both integrate in closed form:
#
#     BF(g) = (1 + g)^((ν−1)/2) (1 + g (1 − r²))^(−ν/2).
#
# With a fixed g no correlation, however perfect, proves dependence. So g has the prior
# g^c (1 + g)^(−c−3/2) / B(c + 1, 1/2) with c = (ν − 4)/2, under which 1/(1 + g) is Beta(1/2, c + 1): β has tails like
# Cauchy's. It is chosen so that the powers of 1 + g cancel, and ∫ g^c (1 + g (1 − r²))^(−ν/2) dg is a Beta integral:
#
#     BF = Γ((ν−1)/2) / (√π Γ(ν/2)) · (1 − r²)^(−(ν−2)/2).
#
# It depends on r² alone, so it is symmetric in x and y.


_LEVEL = log(0.5) + ABSOLUTE  # a posterior of ½ up to rounding is a tie
_SERIES_FROM = 500.0  # from here on the term left out is below the last digit


@dataclass(frozen=True)
class GaussianPosterior(MomentsTest):
    """Test and `IndependencePosterior` of Gaussian variables: P(x ⟂ y | z) = 1 / (1 + BF (1 − p)/p).

    Parameters
    ----------
    moments
        Covariance of the data; `TestwiseMoments` where values are missing: N is then the rows of each question.
    prior
        p, the prior probability of independence.

    Raises
    ------
    InputError
        If the prior is not between 0 and 1; in a question, if x, y and z overlap or a variable does not exist.

    Notes
    -----
    The factor is derived in the source of this module. With N − 1 − |z| ≤ 2 there are too few rows, and the posterior
    is the prior. So it is where z explains x or y but for rounding, as a copy does: r cannot be told. A constant
    variable has r = 0: evidence of independence. As a test it decides for the more probable hypothesis; an exact tie
    means dependent, as in `BayesianTest`, unless r cannot be told: nothing is left then that could depend. Nor does it
    where values are missing and no row has all variables of a question.

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
    moments: Moments | TestwiseMoments
    prior: float = 0.5

    def __post_init__(self) -> None:
        require_method(self, self.moments, "partial_correlations")
        if not (is_number(self.prior) and 0.0 < self.prior < 1.0):
            raise InputError(
                f"prior must be between 0 and 1, both excluded; got {self.prior!r}. The usual value is 0.5."
            )

    @property
    def cards(self) -> tuple[int, ...]:
        """A zero for each variable: continuous ones have no states."""
        return (0,) * self.n_variables

    def log_odds(self, x: int, ys: Indices, z: VarSet) -> LogOdds:
        """Return log P(independent | D) and log P(dependent | D) for each y."""
        return self._weigh(*self.moments.measured(x, ys, z), len(set(z)))

    def members(self, x: int, z: VarSet) -> LogOdds:
        """Return both for every y in z, in ascending order, given the rest of z."""
        return self._weigh(*self.moments.measured_members(x, z), len(set(z)) - 1)

    def evidence(self, x: int, ys: Indices, z: VarSet) -> Evidence:
        """Return both log posteriors and the decision for each y."""
        r, rows = self.moments.measured(x, ys, z)
        odds = self._weigh(r, rows, len(set(z)))
        independent = (odds.independent > _LEVEL) | np.isnan(r) | (rows == 0)
        return Evidence(independent, log_independent=odds.independent, log_dependent=odds.dependent, n_rows=rows)

    def _weigh(self, r: FloatArray, rows: IntArray, n_given: int) -> LogOdds:
        """Return the posteriors from the Bayes factor of dependence."""
        factor = np.zeros_like(r)
        for n_rows in np.unique(rows):
            same = rows == n_rows
            factor[same] = log_bayes_factor(r[same], int(n_rows) - 1 - n_given)
        odds = factor + log(1.0 - self.prior) - log(self.prior)
        return LogOdds(-log_add_exp(0.0, odds), -log_add_exp(0.0, -odds))


def _log_gamma_ratio(a: float) -> float:
    """Return log Γ(a) − log Γ(a + 1/2), for large a by its series: the difference would cancel."""
    if a < _SERIES_FROM:
        return log_gamma(a) - log_gamma(a + 0.5)
    inverse = 1.0 / a
    return -0.5 * log(a) - log1p(
        -inverse * (1 / 8 - inverse * (1 / 128 + inverse * (5 / 1024 - inverse * (21 / 32768))))
    )


def log_bayes_factor(r: FloatArray, dof: int) -> FloatArray:
    """Return log BF of dependence for each partial correlation with ν degrees of freedom; 0 for ν ≤ 2 and for NaN."""
    if dof <= 2:
        return np.zeros_like(r)
    constant = _log_gamma_ratio(0.5 * (dof - 1)) - 0.5 * log(pi)
    log_left = np.where(np.abs(r) < 0.5, log1p(-r * r), log1p(-r) + log1p(r))  # of 1 − r²
    return np.asarray(np.where(np.isnan(r), 0.0, constant - 0.5 * (dof - 2) * log_left))
