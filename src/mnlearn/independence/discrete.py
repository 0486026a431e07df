"""Conditional independence tests of categorical variables: chi-square, G² and mutual information.

The native core has one rule for empty cells and strata. A stratum of z without rows adds nothing. Within a stratum,
states of x or y that do not occur there add no degrees of freedom (rule "adjusted", the default; the papers do not say
which rule they use). With no degrees of freedom left p = 1, so a constant column is independent of everything.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import chain
from math import ceil, fsum, nan, prod
from typing import ClassVar, Literal

import numpy as np

from mnlearn.errors import InputError, check_name, is_number, whole_number
from mnlearn.independence.base import (
    CountsTest,
    KernelTest,
    has_gaps,
    log_chi2_sf,
    log_level,
    question_rows,
    require_method,
)
from mnlearn.numbers import ABSOLUTE, log, log1p, tolerance
from mnlearn.protocols import Evidence, FloatArray, Indices, IntArray, Kernel, Statistics, VarSet, Verdicts
from mnlearn.statistics import kernels
from mnlearn.statistics.kernels import DofRule
from mnlearn.statistics.screens import ScreenStatistic

MAX_SHUFFLED_CELLS = 2**22
"""Largest table that `MutualInformation` shuffles; larger ones have few rows a cell."""

_CELLS_TOGETHER = 2**21  # of shuffled tables, or of expected counts, in memory at a time: 16 MB
_MAX_MARGIN_CELLS = 2**27  # 1 GiB of counts
_LOW = 5  # Cochran's rule: at most 20 % of the expected counts should be below


@dataclass(frozen=True)
class ChiSquare(KernelTest):
    """Pearson's chi-square test: dependent iff p <= alpha, p the upper tail of chi-square at Σ (o − e)² / e.

    Parameters
    ----------
    statistics
        Source of the tables, usually `Counts`.
    alpha
        Significance level, between 0 and 1.
    dof
        The rule for degrees of freedom: "adjusted", "observed" or "all"; see `mnlearn.statistics.kernels.chi2`.

    Notes
    -----
    A scan over many y is one pass of the statistics. log p is exact where p underflows: a p of 1e-10000 still orders.

    Examples
    --------
    >>> from mnlearn.data import Dataset
    >>> from mnlearn.statistics import Counts
    >>> test = ChiSquare(Counts(Dataset.from_codes([[0, 1] * 20, [0, 1] * 20, [0, 0, 1, 1] * 10])))
    >>> test(0, 1, frozenset()).independent, test(0, 2, frozenset()).independent
    (False, True)
    """

    name: ClassVar[str] = "chi2"
    _screened_by: ClassVar[ScreenStatistic] = "x2"
    statistics: Statistics
    alpha: float = 0.05
    dof: DofRule = "adjusted"
    _level: float = field(init=False, repr=False)
    _kernel: Kernel = field(init=False, repr=False)

    def __post_init__(self) -> None:
        require_method(self, self.statistics, "reduce")
        object.__setattr__(self, "_level", log_level(self.alpha))
        object.__setattr__(self, "_kernel", self._make_kernel(self.dof))

    _make_kernel = staticmethod(kernels.chi2)

    def evidence(self, x: int, ys: Indices, z: VarSet) -> Evidence:
        """Return the statistic, its degrees of freedom and log p for each y."""
        statistic, dof = self.statistics.reduce(self._kernel, x, ys, z)
        log_p = log_chi2_sf(statistic, dof)
        rows = question_rows(self.statistics, x, ys, z)
        return Evidence(log_p > self._level, statistic=statistic, dof=dof, log_p=log_p, n_rows=rows)

    def low_expected(self, x: int, y: int, z: VarSet) -> float:
        """Return the share of the expected counts that are below 5, over all observed strata of z.

        Cells of states that do not occur in a stratum expect 0 there, add nothing to the statistic and do not count.
        By Cochran's rule the chi-square distribution approximates the statistic well up to a share of 20 %. NaN if the
        table is too large to compute.
        """
        margins = self._margins(x, y, z)
        if margins is None:
            return nan
        rows, columns = margins
        occurring = int((np.count_nonzero(rows, axis=1) * np.count_nonzero(columns, axis=1)).sum())
        totals = rows.sum(1)
        large = totals >= _LOW  # no cell expects more than its stratum has
        rows, columns, totals = rows[large], columns[large], totals[large]
        step, enough = max(1, _CELLS_TOGETHER // (rows.shape[1] * columns.shape[1])), 0
        for part in (slice(start, start + step) for start in range(0, len(totals), step)):
            products = rows[part, :, None] * columns[part, None, :]  # e = product / total, compared in integers
            enough += int(np.count_nonzero(products >= _LOW * totals[part, None, None]))
        return 1.0 - enough / max(occurring, 1)

    def _margins(self, x: int, y: int, z: VarSet) -> tuple[IntArray, IntArray] | None:
        """Return the counts of the states of x and of y in each stratum of z; None if they do not fit into memory."""
        statistics, cards = self.statistics, self.statistics.cards
        if not z or has_gaps(statistics):
            cells = prod(float(cards[v]) for v in z) * cards[x] * cards[y]
            if cells > _MAX_MARGIN_CELLS and statistics.n_rows * cards[x] * cards[y] > _MAX_MARGIN_CELLS:
                return None
            counts = statistics.tables(x, [y], z).counts[0]
            return counts.sum(2), counts.sum(1)
        w = min(z, key=lambda v: (cards[v], v))  # as x of the table: no cells of x with y are counted
        strata = min(float(statistics.n_rows), prod(float(cards[v]) for v in z if v != w))
        if strata * cards[w] * (cards[x] + cards[y]) > _MAX_MARGIN_CELLS:
            return None
        rows, columns = (table.reshape(-1, table.shape[2]) for table in statistics.tables(w, [x, y], z - {w}).counts)
        return rows, columns

    def _decide(self, scores: FloatArray) -> Verdicts:
        """Return the decisions and log p from the statistics and their degrees of freedom."""
        log_p = log_chi2_sf(scores[0], scores[1])
        return Verdicts(log_p > self._level, log_p)


@dataclass(frozen=True)
class GTest(ChiSquare):
    """Likelihood-ratio test: `ChiSquare` with G² = 2 Σ o log(o / e) as the statistic.

    Parameters
    ----------
    statistics, alpha, dof
        As in `ChiSquare`.

    Examples
    --------
    >>> from mnlearn.data import Dataset
    >>> from mnlearn.statistics import Counts
    >>> test = GTest(Counts(Dataset.from_codes([[0, 1] * 20, [0, 1] * 20, [0, 0, 1, 1] * 10])))
    >>> test.evidence(0, [1, 2], frozenset()).statistic.round(3).tolist()
    [55.452, 0.0]
    """

    name: ClassVar[str] = "g2"
    _screened_by: ClassVar[ScreenStatistic] = "g2"
    _make_kernel = staticmethod(kernels.g2)


@dataclass(frozen=True)
class MutualInformation(CountsTest):
    """Test by conditional mutual information I(x; y | z) in nats: a threshold, or permutations.

    Parameters
    ----------
    statistics
        Source of the tables, usually `Counts`.
    decide
        ``"threshold"``: dependent iff I > threshold. ``"permutation"``: dependent iff p <= alpha, p the share of
        tables at least as informative among tables with x shuffled within the strata of z.
    threshold
        In nats; for ``"threshold"``.
    alpha, n_permutations, seed
        For ``"permutation"``: p = (1 + how many are as large) / (1 + n_permutations).

    Notes
    -----
    Shuffling x within a stratum keeps both margins, so shuffled tables are drawn directly with the margins fixed: the
    same distribution, at a cost that does not grow with the rows. The draws depend on the seed and on the margins, so
    neither the order of the columns nor the labels change an answer. With a threshold there is no p-value: log p is 0
    where I <= threshold and -I N elsewhere, which orders pairs by strength.
    """

    name: ClassVar[str] = "mi"
    _screened_by: ClassVar[ScreenStatistic] = "mi"
    statistics: Statistics
    decide: Literal["threshold", "permutation"] = "permutation"
    threshold: float = 0.01
    alpha: float = 0.05
    n_permutations: int = 199
    seed: int = 0
    _log_alpha: float = field(init=False, repr=False)

    def __post_init__(self) -> None:
        require_method(self, self.statistics, "reduce")
        check_name("decide", self.decide, ["threshold", "permutation"])
        if not (is_number(self.threshold) and self.threshold >= 0):
            raise InputError(f"threshold must be 0 or more, in nats; got {self.threshold}. A usual value is 0.01.")
        whole_number("n_permutations", self.n_permutations, least=1, hint="A usual value is 199.")
        whole_number("seed", self.seed, least=0, hint="Any such number will do.")
        object.__setattr__(self, "_log_alpha", log_level(self.alpha) + ABSOLUTE)  # p = alpha is dependent
        if self.decide == "permutation" and -log1p(self.n_permutations) > self._log_alpha:
            raise InputError(
                f"n_permutations must be at least {ceil(1 / self.alpha - 1 - ABSOLUTE)} for alpha={self.alpha:g}: "
                f"p is at least 1 / (1 + n_permutations); got {self.n_permutations}. Use more, or a larger alpha."
            )

    def evidence(self, x: int, ys: Indices, z: VarSet) -> Evidence:
        """Return the mutual information (as `statistic`), the degrees of freedom and log p for each y."""
        information, dof = self.statistics.reduce(kernels.mi(), x, ys, z)
        rows = question_rows(self.statistics, x, ys, z)
        if self.decide == "threshold":
            independent = information <= self.threshold + ABSOLUTE
            log_p = np.where(independent, 0.0, -information * rows)
            return Evidence(independent, statistic=information, dof=dof, log_p=log_p, n_rows=rows)
        log_p = np.array([self._log_permutation_p(int(x), int(y), z) for y in ys], dtype=np.float64)
        return Evidence(log_p > self._log_alpha, statistic=information, dof=dof, log_p=log_p, n_rows=rows)

    def _log_permutation_p(self, x: int, y: int, z: VarSet) -> float:
        """Return the log of the share of shuffled tables with at least the observed information."""
        first, second = min(x, y), max(x, y)
        cells = self.statistics.cards[first] * self.statistics.cards[second]
        if cells > MAX_SHUFFLED_CELLS:
            raise InputError(
                f"permutations need tables of at most {MAX_SHUFFLED_CELLS:,} cells; got {cells:,} for variables "
                f"{first} and {second}. Use a threshold, or the G test."
            )
        counts = self.statistics.tables(first, [second], z).counts[0]
        varied = [
            table for table in counts if min(table.any(1).sum(), table.any(0).sum()) > 1
        ]  # else it stays as it is
        margins = sorted(map(_margins, varied))
        rng = np.random.default_rng([self.seed, *chain(*chain(*margins))])
        shuffled = np.zeros(self.n_permutations)
        for rows, columns in margins:
            shuffled += _shuffled_n_log_n(rows, columns, self.n_permutations, rng)
        observed = fsum(float(_n_log_n(table[None])[0]) for table in varied)
        as_large = int((shuffled >= observed - tolerance([observed])).sum())  # equal tables must count as equal
        return float(log1p(as_large) - log1p(self.n_permutations))


def _n_log_n(tables: np.ndarray[tuple[int, ...], np.dtype[np.int64]]) -> FloatArray:
    """Return Σ o log o of each table: the only part of its mutual information that varies with fixed margins."""
    counts = tables.astype(np.float64)
    return np.asarray((counts * log(np.maximum(counts, 1.0))).sum(axis=(1, 2)))


def _margins(table: np.ndarray[tuple[int, ...], np.dtype[np.int64]]) -> tuple[list[int], list[int]]:
    """Return both margins in an order that depends neither on labels nor on which variable comes first."""
    rows, columns = sorted(sorted(margin[margin > 0].tolist()) for margin in (table.sum(1), table.sum(0)))
    return rows, columns


def _shuffled_n_log_n(rows: list[int], columns: list[int], n_draws: int, rng: np.random.Generator) -> FloatArray:
    """Return Σ o log o of tables drawn with these margins."""
    from scipy.stats import random_table

    law, shape = random_table(rows, columns, seed=rng), (len(rows), len(columns))
    batch = max(1, _CELLS_TOGETHER // (len(rows) * len(columns)))
    sizes = [min(batch, n_draws - done) for done in range(0, n_draws, batch)]
    sums = [_n_log_n(np.asarray(law.rvs(size), dtype=np.int64).reshape(size, *shape)) for size in sizes]
    return np.concatenate(sums)
