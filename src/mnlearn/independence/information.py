"""Mutual information of every pair of variables and its significance: the judges of ARACNE.

Margolin and others, BMC Bioinformatics 7 (2006), S7  [ARACNE06]. Mutual information in nats, by four estimates:

- Gaussian: −log(1 − r²) / 2 of the correlation r;
- by ranks: the Gaussian estimate with r = 2 sin(π ρ / 6), the value that Spearman's ρ implies for variables that are
  normal up to monotone transformations. Invariant to such transformations, robust to outliers;
- by kernel densities of the ranks' normal scores, the estimate of the paper: it detects dependence of any shape;
- of categorical variables, by their table.

Significance: by theory (Fisher's z; with the variance 1.06 / (N − 3) of Fieller, Hartley & Pearson, Biometrika 44
(1957), 470-481, for ρ; chi-square for tables), or by the null distribution of shuffled columns, all pairs of them
together. As in the paper, its tail falls exponentially, which gives p-values far below one over the number of pairs.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import sqrt
from typing import Literal, get_args

import numpy as np

from mnlearn._lazy import cached
from mnlearn.errors import InputError, check_name, is_number, whole_number
from mnlearn.graphs.candidates import Candidates
from mnlearn.independence.base import (
    Strongest,
    log_chi2_sf,
    log_two_sided_normal,
    question_rows,
    require_method,
    screen_of,
)
from mnlearn.independence.gaussian import tails_by_rows
from mnlearn.numbers import atanh, log, log1p
from mnlearn.protocols import FloatArray, Statistics
from mnlearn.statistics import kernels
from mnlearn.statistics.moments import LARGEST, Moments, TestwiseMoments
from mnlearn.statistics.row_data import Rows, correlation, kernel_information, shuffled

Estimate = Literal["gaussian", "rank", "kernel"]
Significance = Literal["theory", "permutation"]
USUAL_PAIRS = 10_000
"""Default number of pairs of shuffled columns in a null distribution."""
_TAIL = 0.01  # share of the null distribution from whose excess the decay of its tail is estimated
_FIELLER = 1.06  # times 1 / (N − 3): the variance of Fisher's z of Spearman's ρ


@dataclass(frozen=True, eq=False)
class GaussianInformation:
    """Mutual information −log(1 − r²) / 2 of jointly Gaussian variables; p-values by Fisher's z.

    Parameters
    ----------
    moments
        Covariance of the data; `TestwiseMoments` where values are missing.

    Examples
    --------
    >>> judge = GaussianInformation(Moments.from_covariance([[1.0, 0.5], [0.5, 1.0]], n_rows=100))
    >>> judge.information().round(3).tolist()
    [[0.0, 0.144], [0.144, 0.0]]
    """

    moments: Moments | TestwiseMoments

    def __post_init__(self) -> None:
        require_method(self, self.moments, "correlations_all")

    @property
    def n_variables(self) -> int:
        """Number of variables."""
        return self.moments.n_variables

    def information(self) -> FloatArray:
        """Return the mutual information of every pair, in nats."""
        return _square(gaussian_information(self.moments.correlations_all()), self.n_variables)

    def log_p(self) -> FloatArray:
        """Return the log p-value of every pair, 0 on the diagonal."""
        r, rows = self.moments.measured_pairs()
        return _square(tails_by_rows(r, rows - 3)[1], self.n_variables)

    @property
    def strongest(self) -> Strongest:
        """Function that returns the pairs among the k strongest of either variable; see `ScreeningJudge`."""
        return screen_of(self.moments, "g2")

    def of_pairs(self, pairs: Candidates) -> tuple[FloatArray, FloatArray]:
        """Return the mutual information and the log p-value of each pair."""
        found = [self.moments.measured(x, ys, ()) for x, ys in _later_partners(pairs)]
        r, rows = (np.concatenate([one[k] for one in found] or [np.empty(0)]) for k in (0, 1))
        return gaussian_information(r), tails_by_rows(r, rows.astype(np.int64) - 3)[1]


@dataclass(frozen=True, eq=False)
class RowInformation:
    """Mutual information estimated from rows: by values, by ranks, or by kernel densities of their normal scores.

    Parameters
    ----------
    rows
        The data.
    estimate
        ``"gaussian"``, ``"rank"`` or ``"kernel"``, as described at the top of this module.
    significance
        ``"theory"`` (gaussian, rank) or ``"permutation"``.
    n_pairs
        Number of pairs of shuffled columns in the null distribution.
    seed
        Seed of the shuffling.
    width
        Width of the kernel; N^(−1/6) by default.

    Raises
    ------
    InputError
        If a setting breaks its rule.

    Notes
    -----
    The null distribution is one for all pairs: of the columns as they are, taken in turn. For ranks without ties that
    is exact; for values it is a mixture over the columns, and depends on their order by chance.

    Examples
    --------
    >>> from mnlearn.data import read
    >>> a = np.linspace(-1.0, 1.0, 60)
    >>> judge = RowInformation(Rows(read({"a": a, "b": a * a})), estimate="kernel", significance="permutation")
    >>> bool(judge.log_p()[0, 1] < -9), bool(RowInformation(judge.rows, estimate="rank").log_p()[0, 1] < -1)
    (True, False)
    """

    rows: Rows
    estimate: Estimate = "rank"
    significance: Significance = "theory"
    n_pairs: int = USUAL_PAIRS
    seed: int = 0
    width: float | None = None

    def __post_init__(self) -> None:
        require_method(self, self.rows, "ranks")
        check_name("information", self.estimate, get_args(Estimate))
        check_name("significance", self.significance, get_args(Significance))
        if self.estimate == "kernel" and self.significance == "theory":
            raise InputError(
                "significance must be 'permutation' for kernel densities, whose mutual information has no known null "
                "distribution; got 'theory'. Use 'permutation', or another estimate."
            )
        whole_number("n_pairs", self.n_pairs, least=100, hint=f"The usual number is {USUAL_PAIRS:,}.")
        whole_number("seed", self.seed, least=0, hint="Any such number will do.")
        if self.width is not None and not (is_number(self.width) and self.width > 0):
            raise InputError(f"width must be a positive number; got {self.width!r}. Leave it out for N^(-1/6).")

    @property
    def n_variables(self) -> int:
        """Number of variables."""
        return self.rows.n_variables

    def information(self) -> FloatArray:
        """Return the mutual information of every pair, in nats."""
        return self._information.copy()

    def log_p(self) -> FloatArray:
        """Return the log p-value of every pair, 0 on the diagonal."""
        if self.significance == "permutation":
            return self._log_p_by_null()
        rank = self.estimate == "rank"
        r = self.rows.rank_correlation() if rank else correlation(self.rows.values)
        np.fill_diagonal(r, 0.0)
        return log_two_sided_normal(atanh(r) * sqrt(max(self.rows.n_rows - 3, 0) / (_FIELLER if rank else 1.0)))

    @cached
    def _information(self) -> FloatArray:
        return self._measure(self._columns())

    def _columns(self) -> FloatArray:
        """Return the columns that are measured and shuffled."""
        if self.estimate == "kernel":
            return self.rows.normal_scores()
        return self.rows.ranks if self.estimate == "rank" else self.rows.values

    def _measure(self, columns: FloatArray) -> FloatArray:
        """Return the estimate for every pair of columns."""
        if self.estimate == "kernel":
            return kernel_information(columns, self.width)
        r = correlation(columns)
        np.fill_diagonal(r, 0.0)
        return gaussian_information(2.0 * np.sin(np.pi / 6 * r) if self.estimate == "rank" else r)

    def _log_p_by_null(self) -> FloatArray:
        columns = self._columns()
        varying = columns[:, np.ptp(columns, axis=0) > 0]
        log_p = np.zeros_like(self._information)
        if not varying.shape[1]:
            return log_p
        null = self._measure(shuffled(varying, self.n_pairs, self.seed))
        log_p += log_tail(self._information, null[np.triu_indices(len(null), 1)])
        log_p[np.ptp(columns, axis=0) == 0, :] = 0.0
        log_p[:, np.ptp(columns, axis=0) == 0] = 0.0
        np.fill_diagonal(log_p, 0.0)
        return log_p


@dataclass(frozen=True, eq=False)
class CountedInformation:
    """Mutual information of categorical variables, G² / (2N); p-values by chi-square.

    Parameters
    ----------
    counts
        Source of the tables: `Counts`.

    Examples
    --------
    >>> from mnlearn.data import Dataset
    >>> from mnlearn.statistics import Counts
    >>> CountedInformation(Counts(Dataset.from_codes([[0, 1] * 9, [0, 1] * 9]))).information()[0].round(3).tolist()
    [0.0, 0.693]
    """

    counts: Statistics

    def __post_init__(self) -> None:
        require_method(self, self.counts, "reduce_all")

    @property
    def n_variables(self) -> int:
        """Number of variables."""
        return len(self.counts.cards)

    def information(self) -> FloatArray:
        """Return the mutual information of every pair, in nats."""
        return _square(self.counts.reduce_all(kernels.mi())[0], self.n_variables)

    def log_p(self) -> FloatArray:
        """Return the log p-value of every pair, 0 on the diagonal."""
        information, dof = self.counts.reduce_all(kernels.mi())
        n = self.n_variables
        rows = [question_rows(self.counts, x, range(x + 1, n), frozenset()) for x in range(n)]
        return _square(log_chi2_sf(2.0 * np.concatenate(rows) * information, dof), n)

    @property
    def strongest(self) -> Strongest:
        """Function that returns the pairs among the k strongest of either variable; see `ScreeningJudge`."""
        return screen_of(self.counts, "g2")

    def of_pairs(self, pairs: Candidates) -> tuple[FloatArray, FloatArray]:
        """Return the mutual information and the log p-value of each pair."""
        asked = list(_later_partners(pairs))
        if not asked:
            return np.empty(0), np.empty(0)
        xs, yss = [x for x, _ in asked], [ys for _, ys in asked]
        found = self.counts.reduce_many(kernels.mi(), xs, yss, [frozenset()] * len(xs))
        information, dof = np.concatenate(found, axis=1)
        rows = np.concatenate([question_rows(self.counts, x, ys, frozenset()) for x, ys in asked])
        return information, log_chi2_sf(2.0 * rows * information, dof)


def gaussian_information(r: FloatArray) -> FloatArray:
    """Return −log(1 − r²) / 2, finite also where |r| is 1."""
    bounded = np.clip(r, -LARGEST, LARGEST)
    return np.asarray(-0.5 * (log1p(-bounded) + log1p(bounded)) + 0.0)  # no negative zeros


def log_tail(values: FloatArray, null: FloatArray) -> FloatArray:
    """Return log Pr[null ≥ value] for each value: by counting, and in the last hundredth by an exponential tail.

    Beyond the threshold u that a share `_TAIL` of the null exceeds, by e on average: log share − (value − u) / e.
    """
    ordered = np.sort(null)
    n_above = len(ordered) - np.searchsorted(ordered, values, side="left")
    counted = log1p(n_above) - log1p(len(ordered))
    threshold = float(np.quantile(ordered, 1.0 - _TAIL))
    beyond = ordered[ordered > threshold]
    if not len(beyond):
        return np.asarray(counted)
    excess = float(np.mean(beyond)) - threshold
    extended = log(len(beyond) / len(ordered)) - (values - threshold) / excess
    return np.asarray(np.where(values > threshold, extended, counted))


def _later_partners(pairs: Candidates) -> Iterator[tuple[int, list[int]]]:
    """Yield each first variable of some pairs with the second ones, all in ascending order."""
    u, v = pairs.u, pairs.v
    for part in np.split(np.arange(len(u)), np.flatnonzero(np.diff(u)) + 1) if len(u) else ():
        yield int(u[part[0]]), v[part].tolist()


def _square(pairs: FloatArray, n: int) -> FloatArray:
    """Return a symmetric matrix with zeros on its diagonal, from its pairs in lexicographic order."""
    matrix, end = np.zeros((n, n)), 0
    for x in range(n - 1):
        begin, end = end, end + n - 1 - x
        matrix[x, x + 1 :] = matrix[x + 1 :, x] = pairs[begin:end]
    return matrix
