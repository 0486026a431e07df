"""Likelihood-ratio test of variables of any kinds: nominal, ordinal, counts and continuous ones, with gaps.

x ⟂ y | z means that y adds nothing to the regression of x on z, and x nothing to that of y. Which model a variable has
follows from its kind alone: thresholds and log-linear weights of a categorical variable, least squares of a number.
Between two ordinal variables this is the adjacent-categories logit with one parameter (Agresti, Analysis of Ordinal
Categorical Data, 2010, Sec. 4.1); between two nominal ones without z it is G²; between two numbers −m ln(1 − r²).

The two ends ask the same question of two regressions. Their degrees of freedom are the same, w_x w_y with w features of
a variable, and under independence their statistics agree to first order, so the mean of both is referred to one
chi-square law. Bartlett's factor m / N of Wilks' lambda (Bartlett, JRSS Suppl. 9, 1947, 176-197) makes it nearly exact
between numbers in small samples; in logistic regression the same factor takes out most of what many features add.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

from mnlearn.independence.base import EvidenceTest, log_chi2_sf, log_level, require_method
from mnlearn.protocols import Evidence, Indices, VarSet, Verdicts
from mnlearn.statistics.likelihoods import MixedLikelihoods, PairRatios


@dataclass(frozen=True)
class MixedTest(EvidenceTest):
    """Test by likelihood ratios: x ⟂ y | z unless regressions of x on y and of y on x, beside z, gain too much.

    Parameters
    ----------
    likelihoods
        Regressions of the variables; with gaps, each question has the rows in which x, y and z are observed.
    alpha
        Dependent if and only if the p-value is at most this; between 0 and 1, both excluded.

    Raises
    ------
    InputError
        If alpha is outside (0, 1); in a question, if x, y and z overlap or a variable does not exist.

    Notes
    -----
    The statistic is the mean of both ends, with (features of x)(features of y) degrees of freedom: a number, a count or
    an ordinal variable has one feature, a nominal one its states less 1. It is linear in numbers, in log(1 + count) and
    in scores: a dependence without a trend is not found; declare such a variable nominal. States that are separated,
    as by a copy, have a finite statistic by a ridge of 1e-4. With too few rows for the features the statistic is 0 and
    p is 1. So it is where z explains a number but for rounding, and for a constant variable, which has 0 degrees of
    freedom. A model of more than 256 parameters, or of many states in very many rows, is not fitted: then the other end
    decides, and if that has as many, the answer is independent; `likelihoods.fallbacks` counts them. An end that would
    take seconds, where the other takes much less, is left out.

    Examples
    --------
    >>> from mnlearn.data import read
    >>> data = read({"dose": [0.1, 0.4, 0.5, 0.9, 1.1, 1.3] * 9, "ill": list("nnnyyy") * 9, "day": list("abccba") * 9})
    >>> test = MixedTest(MixedLikelihoods(data))
    >>> test.scan(0, [1, 2], frozenset()).independent.tolist()
    [False, True]
    """

    name: ClassVar[str] = "mixed"
    batched = True
    likelihoods: MixedLikelihoods
    alpha: float = 0.05
    _log_alpha: float = field(init=False, repr=False)

    def __post_init__(self) -> None:
        require_method(self, self.likelihoods, "ratios")
        object.__setattr__(self, "_log_alpha", log_level(self.alpha))

    @property
    def n_variables(self) -> int:
        """Number of variables."""
        return self.likelihoods.n_variables

    def evidence(self, x: int, ys: Indices, z: VarSet) -> Evidence:
        """Return the decision for each y and the numbers behind it."""
        (found,) = self.likelihoods.ratios([x], [ys], [z])
        log_p = log_chi2_sf(found.statistic, found.dof)
        return Evidence(
            log_p > self._log_alpha, statistic=found.statistic, dof=found.dof, log_p=log_p, n_rows=found.n_rows
        )

    def scan_many(self, xs: Indices, yss: Sequence[Indices], zs: Sequence[VarSet]) -> list[Verdicts]:
        """Return the `scan` of each x with its ys and its z, spread over threads."""
        return [self._decide(found) for found in self.likelihoods.ratios(xs, yss, zs)]

    def scan_pairs(self) -> Iterator[tuple[range, Verdicts]]:
        """Test every pair given nothing, all at once."""
        xs = range(self.n_variables - 1)
        found = self.likelihoods.ratios(xs, [range(x + 1, self.n_variables) for x in xs], [frozenset()] * len(xs))
        joined = (np.concatenate(parts) for parts in zip(*found, strict=True)) if found else [np.empty(0)] * 3
        yield xs, self._decide(PairRatios(*joined))

    def _decide(self, found: PairRatios) -> Verdicts:
        log_p = log_chi2_sf(found.statistic, found.dof)
        return Verdicts(log_p > self._log_alpha, log_p)
