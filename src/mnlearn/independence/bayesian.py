"""The Bayesian test: the posterior probability that x and y are independent given z.

Margaritis (2005), as given by Schlüter, Strappa, Milone & Bromberg, IJAR (2018), Appendix C  [BJP18].
Within each configuration k of z two models compete: independent, with likelihood g_k (Eq. 18), and dependent,
with h_k (Eq. 20). The brackets missing from Eq. 19 put back, the posterior collapses to

    P(CI | D) = Π_k p g_k / (p g_k + q h_k),    p = P(CI)^(1/K), q = 1 − p,

over all K configurations, by declared cardinalities: an empty one contributes p. Nothing is subtracted from
anything nearly equal to it, and P(dependent | D) = 1 − P(CI | D) keeps its digits by log1mexp.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import accumulate, pairwise
from math import log
from typing import ClassVar

import numpy as np

from mnlearn.independence._base import CountsTest, KernelTest, pair_scores, require_method
from mnlearn.independence._tails import log1mexp
from mnlearn.protocols import Evidence, FloatArray, Indices, Kernel, LogOdds, Statistics, VarSet, Verdicts
from mnlearn.statistics import kernels

_LOG_HALF = log(0.5)


@dataclass(frozen=True)
class BayesianTest(KernelTest):
    """Independent iff P(CI | D) > P(not CI | D); also weighs, as an `IndependencePosterior`  [BJP18, Eq. 16-20].

    Parameters
    ----------
    statistics
        Where the tables come from, usually `Counts`.
    prior
        P(M_CI) before the data.
    alpha, beta, gamma
        Dirichlet priors of a cell of x, of y, and of the pair; 1 in the papers.

    Notes
    -----
    An exact tie says dependent, as in the paper: that is so for a variable with a single (declared) state, without
    data, and when no stratum holds two rows, all of which leave the posterior at the prior. Both log posteriors are
    right to about 1e-14 of the log-likelihoods they come from: to 1e-9 up to some 100,000 rows, 1e-6 at a billion.

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
    _level = _LOG_HALF

    def __post_init__(self) -> None:
        require_method(self, self.statistics, "reduce")
        kernel = kernels.bayes(alpha=self.alpha, beta=self.beta, gamma=self.gamma, prior=self.prior)
        object.__setattr__(self, "_kernel", kernel)

    @property
    def cards(self) -> tuple[int, ...]:
        """How many states each variable has."""
        return self.statistics.cards

    def log_odds(self, x: int, ys: Indices, z: VarSet) -> LogOdds:
        """log P(CI | D) and log P(not CI | D) for each y."""
        return _both(self.statistics.reduce(self._kernel, x, ys, z)[0])

    def members(self, x: int, z: VarSet) -> LogOdds:
        """The same for every y in z, in ascending order, given the rest of z."""
        return _both(self.statistics.members(self._kernel, [x], [z])[0][0])

    def independent_many(self, xs: Indices, yss: Sequence[Indices], zs: Sequence[VarSet]) -> list[FloatArray]:
        """log P(CI | D) for many scans at once: what `log_odds` says of each."""
        found = self.statistics.reduce_many(self._kernel, xs, yss, zs)
        return [np.minimum(scores[0], 0.0) for scores in found]

    def members_many(self, xs: Indices, zs: Sequence[VarSet]) -> list[LogOdds]:
        """Both log posteriors for the members of many sets at once: what `members` says of each."""
        if not len(xs):
            return []
        found = [scores[0] for scores in self.statistics.members(self._kernel, xs, zs)]
        independent, dependent = _both(np.concatenate(found))
        ends = list(accumulate(map(len, found), initial=0))
        return [LogOdds(independent[a:b], dependent[a:b]) for a, b in pairwise(ends)]

    def independent_pairs(self) -> FloatArray:
        """log P(CI | D) of every pair given nothing: what `log_odds` says of each."""
        return np.concatenate([np.minimum(scores[0], 0.0) for _, scores in pair_scores(self.statistics, self._kernel)])

    def evidence(self, x: int, ys: Indices, z: VarSet) -> Evidence:
        """Both log posteriors and the decision for each y."""
        odds = self.log_odds(x, ys, z)
        independent = odds.independent > _LOG_HALF
        return Evidence(independent, log_independent=odds.independent, log_dependent=odds.dependent)

    def _decide(self, scores: FloatArray) -> Verdicts:
        """Return the decisions and the log posterior of independence."""
        log_independent = np.minimum(scores[0], 0.0)
        return Verdicts(log_independent > _LOG_HALF, log_independent)


def _both(log_independent: FloatArray) -> LogOdds:
    log_independent = np.minimum(log_independent, 0.0)
    return LogOdds(log_independent, log1mexp(log_independent))


# A test by score: x depends on y given z when y improves the marginal likelihood of x.
#
# Abellán, Gómez-Olmedo & Moral, PGM (2006), 1-8  [AGM06], with which [MPL17] runs PC: hyperparameters 1/2, and no
# level
# to choose.


@dataclass(frozen=True)
class ScoreTest(CountsTest):
    """Independent iff log p(x | z) ≥ log p(x | y, z) and the same for y: marginal likelihoods, Dirichlet priors.

    Parameters
    ----------
    statistics
        Where the tables come from, usually `Counts`.
    prior_cell
        The prior of every cell; 1/2 when nothing is given.

    Raises
    ------
    InputError
        If a setting breaks its rule.
    UnsuitableError
        If the statistics cannot count.

    Notes
    -----
    The same prior for every cell is not likelihood equivalent: y may explain x where x does not explain y. Dependent is
    who gains from the other in either direction, so the answer does not depend on who asks. [MPL17] does not say which
    reading it takes; this one was chosen by its figures, see docs/reproduction.md. An exact tie, as with a constant
    variable, says independent. A scan takes two passes of the statistics.

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
        """The log posteriors of independence and dependence for each y, equally probable before the data."""
        others = [int(y) for y in ys]
        alone = np.array([self._alone(y, z) for y in others])
        explained = self.statistics.reduce_many(self._kernel, others, [[x]] * len(others), [z] * len(others))
        gain_of_x = self.statistics.reduce(self._kernel, x, ys, z)[0] - self._alone(x, z)
        gain_of_y = np.array([scan[0, 0] for scan in explained]) - alone
        log_factor = np.maximum(gain_of_x, gain_of_y)  # of dependence against independence
        return Evidence(
            log_factor <= 0, log_independent=-np.logaddexp(0, log_factor), log_dependent=-np.logaddexp(0, -log_factor)
        )

    def _alone(self, x: int, z: VarSet) -> float:
        """log p(x | z); without z, where every scan asks for it, computed once."""
        if z:
            return float(self.statistics.local(self._kernel, x, z)[0])
        if x not in self._margins:
            self._margins[x] = float(self.statistics.local(self._kernel, x, z)[0])
        return self._margins[x]
