"""Bayesian tests: by the posterior probability of independence, and by marginal likelihoods.

Margaritis (2005), as given by Schlüter, Strappa, Milone & Bromberg, IJAR (2018), Appendix C  [BJP18].
Within each configuration k of z two models compete: independent, with likelihood g_k (Eq. 18), and dependent,
with h_k (Eq. 20). With the missing brackets of Eq. 19 restored, the posterior is

    P(CI | D) = Π_k p g_k / (p g_k + q h_k),    p = P(CI)^(1/K), q = 1 − p,

over all K configurations, by declared cardinalities: an empty one contributes p. No nearly equal numbers are
subtracted. P(dependent | D) = 1 − P(CI | D) keeps its digits by log1mexp, and where P(CI | D) rounds to 1, by a kernel
that adds up in logs.

`ScoreTest` is the test of Abellán, Gómez-Olmedo & Moral, PGM (2006), 1-8  [AGM06], with which [MPL17] runs PC: x
depends on y given z when y improves the marginal likelihood of x. Its hyperparameters are 1/2, and it has no level.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import accumulate, pairwise
from typing import ClassVar

import numpy as np

from mnlearn.independence.base import (
    CountsTest,
    KernelTest,
    has_gaps,
    log1mexp,
    pair_scores,
    question_rows,
    require_method,
)
from mnlearn.numbers import ABSOLUTE, log, log_add_exp, tolerance
from mnlearn.protocols import (
    Evidence,
    FloatArray,
    Indices,
    IntArray,
    Kernel,
    LogOdds,
    Statistics,
    Tables,
    VarSet,
    Verdicts,
)
from mnlearn.statistics import kernels
from mnlearn.statistics.tables import score_tables

_LEVEL = log(0.5) + ABSOLUTE  # a posterior of ½ up to rounding is a tie
_SMALLEST = 1e-290  # of −log P(CI | D): a smaller one nears the subnormal numbers, and then rounds to 0


@dataclass(frozen=True)
class BayesianTest(KernelTest):
    """Test and `IndependencePosterior`: independent iff P(CI | D) > P(not CI | D)  [BJP18, Eq. 16-20].

    Parameters
    ----------
    statistics
        Source of the tables, usually `Counts`.
    prior
        Prior probability P(M_CI).
    alpha, beta, gamma
        Dirichlet priors of a cell of x, of y, and of the pair; 1 in the papers.

    Notes
    -----
    A tie (up to rounding) means dependent, as in the paper: for a variable with a single (declared) state, without
    data, and when no stratum holds two rows, all of which leave the posterior at the prior. Where values are missing,
    and no row has all variables of a question, a tie means independent: nothing was seen.

    The log odds of a stratum of n rows are right to 1e-15 n log n up to 4 million rows: to 1e-10 at 10,000, 1e-9 at
    100,000. Larger strata are computed without that cancellation, to 1e-12 of the log odds. Both log posteriors follow
    from the log odds to the last digits, however close to 0 or to 1 the probability is.

    Examples
    --------
    >>> from mnlearn.data import Dataset
    >>> from mnlearn.statistics import Counts
    >>> test = BayesianTest(Counts(Dataset.from_codes([[0, 1] * 20, [0, 1] * 20, [0, 0, 1, 1] * 10])))
    >>> test.log_odds(0, [1, 2], frozenset()).independent.round(3).tolist()
    [-23.656, -0.438]
    """

    name: ClassVar[str] = "bayes"
    statistics: Statistics
    prior: float = 0.5
    alpha: float = 1.0
    beta: float = 1.0
    gamma: float = 1.0
    _kernel: Kernel = field(init=False, repr=False)
    _dependent: Kernel = field(init=False, repr=False)
    _level = _LEVEL

    def __post_init__(self) -> None:
        require_method(self, self.statistics, "reduce")
        priors = {"alpha": self.alpha, "beta": self.beta, "gamma": self.gamma, "prior": self.prior}
        object.__setattr__(self, "_kernel", kernels.bayes(**priors))
        object.__setattr__(self, "_dependent", kernels.bayes_dependent(**priors))

    @property
    def cards(self) -> tuple[int, ...]:
        """Number of states of each variable."""
        return self.statistics.cards

    def log_odds(self, x: int, ys: Indices, z: VarSet) -> LogOdds:
        """Return log P(CI | D) and log P(not CI | D) for each y."""
        independent, dependent, certain = _both(self.statistics.reduce(self._kernel, x, ys, z)[0])
        if certain.size:
            dependent[certain] = self.statistics.reduce(self._dependent, x, np.asarray(ys)[certain], z)[0]
        return LogOdds(independent, dependent)

    def members(self, x: int, z: VarSet) -> LogOdds:
        """Return both for every y in z, in ascending order, given the rest of z."""
        return self.members_many([x], [z])[0]

    def independent_many(self, xs: Indices, yss: Sequence[Indices], zs: Sequence[VarSet]) -> list[FloatArray]:
        """Return log P(CI | D) for each x with its ys and its z."""
        found = self.statistics.reduce_many(self._kernel, xs, yss, zs)
        return [np.minimum(scores[0], 0.0) for scores in found]

    def members_many(self, xs: Indices, zs: Sequence[VarSet]) -> list[LogOdds]:
        """Return `members` for each x with its z."""
        if not len(xs):
            return []
        found = [scores[0] for scores in self.statistics.members(self._kernel, xs, zs)]
        independent, dependent, certain = _both(np.concatenate(found))
        ends = list(accumulate(map(len, found), initial=0))
        sets = np.unique(np.searchsorted(ends, certain, side="right") - 1).tolist() if certain.size else ()
        for k in sets:
            again = self.statistics.members(self._dependent, [xs[k]], [zs[k]])[0][0]
            places = certain[(certain >= ends[k]) & (certain < ends[k + 1])]
            dependent[places] = again[places - ends[k]]
        return [LogOdds(independent[a:b], dependent[a:b]) for a, b in pairwise(ends)]

    def independent_pairs(self) -> FloatArray:
        """Return log P(CI | D) of every pair given nothing."""
        return np.concatenate([np.minimum(scores[0], 0.0) for _, scores in pair_scores(self.statistics, self._kernel)])

    def evidence(self, x: int, ys: Indices, z: VarSet) -> Evidence:
        """Return both log posteriors and the decision for each y."""
        odds = self.log_odds(x, ys, z)
        independent = odds.independent > _LEVEL
        rows = question_rows(self.statistics, x, ys, z)
        return Evidence(independent, log_independent=odds.independent, log_dependent=odds.dependent, n_rows=rows)

    def _decide(self, scores: FloatArray) -> Verdicts:
        """Return the decisions and the log posterior of independence."""
        log_independent = np.minimum(scores[0], 0.0)
        return Verdicts(log_independent > _LEVEL, log_independent)


def _both(scores: FloatArray) -> tuple[FloatArray, FloatArray, IntArray]:
    """Return both log posteriors, and the places where that of dependence must be computed in logs."""
    independent = np.minimum(scores, 0.0)
    return independent, log1mexp(independent), np.flatnonzero(independent > -_SMALLEST)


@dataclass(frozen=True)
class ScoreTest(CountsTest):
    """Independent iff log p(x | z) ≥ log p(x | y, z) and the same for y: marginal likelihoods, Dirichlet priors.

    Parameters
    ----------
    statistics
        Source of the tables, usually `Counts`.
    prior_cell
        Prior of every cell; 1/2 by default.

    Raises
    ------
    InputError
        If a setting breaks its rule.
    UnsuitableError
        If the statistics cannot count.

    Notes
    -----
    The same prior for every cell is not likelihood equivalent: y may explain x where x does not explain y. The pair is
    dependent if either direction gains, so the test is symmetric. [MPL17] does not define this; the present
    reading fits its figures (docs/reproduction.md). An exact tie, as with a constant variable, means independent. A
    scan takes two passes of the statistics.

    Examples
    --------
    >>> from mnlearn.data import Dataset
    >>> from mnlearn.statistics import Counts
    >>> test = ScoreTest(Counts(Dataset.from_codes([[0, 1] * 20, [0, 1] * 20, [0, 0, 1, 1] * 10])))
    >>> test(0, 1, frozenset()).independent, test(0, 2, frozenset()).independent
    (False, True)
    """

    name: ClassVar[str] = "score"
    statistics: Statistics
    prior_cell: float | None = None
    _kernel: Kernel = field(init=False, repr=False)
    _margins: dict[int, float] = field(init=False, repr=False, compare=False, default_factory=dict)  # log p(x)

    def __post_init__(self) -> None:
        require_method(self, self.statistics, "reduce_many")
        object.__setattr__(self, "_kernel", kernels.dirichlet(self.prior_cell))

    def evidence(self, x: int, ys: Indices, z: VarSet) -> Evidence:
        """Return the log posteriors of independence and dependence for each y, with prior odds of 1."""
        of_x = self.statistics.reduce(self._kernel, x, ys, z)[0]  # checks the indices
        others = [int(y) for y in ys]
        z = frozenset(z)
        explained = self.statistics.reduce_many(self._kernel, others, [[x]] * len(others), [z] * len(others))
        of_y = np.array([scan[0, 0] for scan in explained])
        if has_gaps(self.statistics):
            without_y, without_x = self._log_marginals(x, others, z)
            rounding = np.array([tolerance(pair) for pair in zip(without_y, without_x, strict=True)])
        else:
            without_y = np.full(len(others), self._log_marginal(x, z))
            without_x = np.array([self._log_marginal(y, z) for y in others])
            rounding = np.full(len(others), tolerance([self._log_marginal(x, z), *without_x]))
        log_factor = np.maximum(of_x - without_y, of_y - without_x)  # of dependence against independence
        return Evidence(
            log_factor <= rounding,
            log_independent=-log_add_exp(0.0, log_factor),
            log_dependent=-log_add_exp(0.0, -log_factor),
            n_rows=question_rows(self.statistics, x, others, z),
        )

    def _log_marginals(self, x: int, ys: Sequence[int], z: VarSet) -> tuple[FloatArray, FloatArray]:
        """Return log p(x | z) and log p(y | z) for each y, over the rows in which both are observed."""
        of_x, of_y = np.empty(len(ys)), np.empty(len(ys))
        cards = self.statistics.cards
        for k, y in enumerate(ys):
            found = self.statistics.tables(x, [y], z)
            (counts,) = found.counts
            for out, axis, v in ((of_x, 2, x), (of_y, 1, y)):
                summed = counts.sum(axis=axis)[:, :, None]  # the other variable as a constant
                alone = Tables(v, (v,), found.z, found.strata, (np.ascontiguousarray(summed),))
                out[k] = score_tables(self._kernel, alone, cards)[0, 0]
        return of_x, of_y

    def _log_marginal(self, x: int, z: VarSet) -> float:
        """Return log p(x | z); cached for an empty z, which every scan needs."""
        if z:
            return float(self.statistics.local(self._kernel, x, z)[0])
        if x not in self._margins:
            self._margins[x] = float(self.statistics.local(self._kernel, x, z)[0])
        return self._margins[x]
