"""Screens: the strongest partners of each variable by marginal evidence, in one pass that stores no matrix.

The evidence of a pair is the statistic of its test of independence, rounded once to single precision. Statistics of
tables with more degrees of freedom are larger by chance alone, so they are put on one scale: the value that chi-square
with one degree of freedom would need for the same p-value. For two binary variables, and for two continuous ones, this
is the statistic itself.

Partners are ordered by evidence, and equal ones by index. The order is total, so the result depends on the data alone:
not on threads, blocks, shards or the code path.

Screens of continuous variables: the strongest correlations of each, block by block, without a matrix of all.

Blocks of columns are multiplied in single precision, which only filters: a pair within rounding of its bar passes.
Those that pass are computed again in double precision, in one order of rows. So blocks and threads change no bit.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
from functools import partial
from math import inf
from statistics import NormalDist
from typing import Literal, NamedTuple, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from mnlearn import _core
from mnlearn.data.dataset import Dataset, check_no_gaps
from mnlearn.errors import InputError, UnsuitableError, check_name, is_number, whole_number
from mnlearn.graphs.candidates import Candidates
from mnlearn.numbers import expm1, log1p
from mnlearn.protocols import SILENT, Monitor
from mnlearn.protocols.statistics import FloatArray, Indices, IntArray, Kernel
from mnlearn.statistics import kernels
from mnlearn.statistics.scaling import Standardization

ScreenStatistic: TypeAlias = Literal["g2", "x2", "mi"]
"""Evidence of a pair: likelihood ratio, Pearson's chi-square, or mutual information in nats."""

KERNELS = {"g2": kernels.g2, "x2": kernels.chi2, "mi": kernels.mi}
MOST_ENTRIES = 1 << 29
"""Entries that a screen by threshold may list, two a pair: 4 GB."""
PAIRS_TOGETHER = 1 << 22  # of a block that is scored in memory
PAIRS_BETWEEN_LOOKS = 1 << 25  # at the monitor: 50 ms on one core


@dataclass(frozen=True, eq=False)
class StrongestPartners:
    """Pairs that a screen has kept, as symmetric lists: every pair is listed from both ends.

    Attributes
    ----------
    n_variables
        Number of variables.
    starts
        The partners of x are ``partners[starts[x] : starts[x + 1]]``.
    partners
        The partners of all variables one after the other, those of each variable ascending.
    evidence
        Evidence of x with each of these partners.
    complete
        False if the monitor cancelled the screen: some pairs were not looked at.
    """

    n_variables: int
    starts: NDArray[np.int64]
    partners: NDArray[np.int32]
    evidence: NDArray[np.float32]
    complete: bool = True

    def candidates(self) -> Candidates:
        """Return the pairs as candidates of a search."""
        u, v, _ = self.pairs()
        return Candidates(self.n_variables, u.astype(np.int64) * self.n_variables + v)

    def pairs(self) -> tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.float32]]:
        """Return both variables u < v and the evidence of each pair, in lexicographic order."""
        x = np.repeat(np.arange(self.n_variables, dtype=np.int32), np.diff(self.starts))
        first = x < self.partners
        return x[first], self.partners[first], self.evidence[first]

    def check(self) -> None:
        """Raise ValueError unless each list is ascending, and every pair has one evidence from both ends."""
        n, starts, partners, evidence = self.n_variables, self.starts, self.partners, self.evidence
        if len(starts) != n + 1 or len(evidence) != len(partners):
            raise ValueError("the lists are not those of the variables")
        if starts[0] != 0 or starts[-1] != len(partners) or (np.diff(starts) < 0).any():
            raise ValueError("the lists do not follow each other")
        if len(partners) and (partners.min() < 0 or partners.max() >= n):
            raise ValueError("a partner is not a variable")
        x = np.repeat(np.arange(n, dtype=np.int64), np.diff(starts))
        keys, back = x * n + partners, partners * np.int64(n) + x
        order = np.argsort(back, kind="stable")
        if (np.diff(keys) <= 0).any() or (x == partners).any() or not np.array_equal(back[order], keys):
            raise ValueError("the lists are not in order, or not symmetric")
        if not (np.isfinite(evidence) & (evidence > 0.0)).all() or not np.array_equal(evidence[order], evidence):
            raise ValueError("the evidence is not positive, or not symmetric")


@dataclass(frozen=True, kw_only=True)
class ScreenRule:
    """Which pairs a screen keeps.

    Parameters
    ----------
    k
        A pair is kept if it is among the k strongest of either variable. None keeps all pairs from the threshold on.
    threshold
        Least evidence of a kept pair. By default, with k, the quantile of chi-square that a share 2 k / n of
        independent pairs exceeds: of those, a variable meets about 2 k. Where fewer than k partners exceed it, these
        are kept. It makes the screen faster; 0 keeps k partners of every variable.
    statistic
        ``"g2"`` (likelihood ratio) or ``"x2"`` (Pearson's chi-square), both on the scale of one degree of freedom, or
        ``"mi"`` (mutual information in nats), which is not adjusted for the numbers of states.
    """

    k: int | None = 20
    threshold: float | None = None
    statistic: ScreenStatistic = "g2"

    def __post_init__(self) -> None:
        check_name("statistic", self.statistic, KERNELS)
        if self.k is not None:
            whole_number("k", self.k, least=1, hint="20 is usual; None keeps all pairs from the threshold on.")
        elif self.threshold is None:
            raise InputError("threshold must be given if k is None; got neither. Give k=20, or a threshold.")
        if self.threshold is not None and not (is_number(self.threshold) and 0.0 <= self.threshold < inf):
            raise InputError(
                f"threshold must be a finite number from 0; got {self.threshold!r}. 10.83 is p = 0.001 for g2 and x2."
            )

    @property
    def kernel(self) -> Kernel:
        """The score of a table."""
        return KERNELS[self.statistic]()

    def floor(self, n_variables: int, n_rows: int) -> float:
        """Return the least evidence of a pair that is kept."""
        if self.threshold is not None or self.k is None:
            return float(self.threshold or 0.0)
        quantile = chi_square_quantile(2.0 * self.k / max(n_variables, 1))
        return quantile / (2.0 * max(n_rows, 1)) if self.statistic == "mi" else quantile

    def lists(self, n_variables: int, n_rows: int) -> _core.PartnerLists:
        """Return empty lists, to which pairs can be pushed in any order."""
        k = 0 if self.k is None else min(self.k, max(n_variables, 1))
        return _core.PartnerLists(n_variables, k, self.floor(n_variables, n_rows), MOST_ENTRIES)

    def evidence(self, scores: FloatArray) -> NDArray[np.float32]:
        """Return the evidence of pairs from what the kernel gives: a row of statistics and one of dof."""
        statistic, dof = np.ascontiguousarray(scores)
        values = statistic if self.statistic == "mi" else _core.one_dof_equivalents(statistic, dof)
        return values.astype(np.float32)


def chi_square_quantile(probability: float) -> float:
    """Return the value that chi-square with one degree of freedom exceeds with this probability; 0 from 1 on."""
    return NormalDist().inv_cdf(probability / 2.0) ** 2 if probability < 1.0 else 0.0


def kept(lists: _core.PartnerLists, n_variables: int, *, complete: bool = True) -> StrongestPartners:
    """Return the pairs that lists have kept so far."""
    return StrongestPartners(n_variables, *lists.lists(), complete=complete)


class Step(NamedTuple):
    """How far a screen is: the first row that is left, the pairs that are done, and all pairs.

    The row is None within a row: a screen that went on from its beginning would push pairs twice.
    """

    row: int | None
    done: int
    total: int


class PairScan(Protocol):
    """All pairs of some variables, row by row, pushed to lists.

    A row is a variable with some of the others; every pair belongs to one row.
    """

    @property
    def n_variables(self) -> int: ...
    @property
    def lists(self) -> _core.PartnerLists: ...
    def scan(self, first: int) -> Iterator[Step]:
        """Push the pairs of the rows from the first on; yield after each block of rows."""
        ...


class Snapshots(Protocol):
    """Store of pairs kept so far, from which a scan can be resumed."""

    def latest(self) -> tuple[int, StrongestPartners] | None:
        """Return the last stored pairs and the first row that they lack."""
        ...

    def offer(self, step: Step, so_far: Callable[[], StrongestPartners]) -> None:
        """Store the pairs kept so far, if it is time."""
        ...


def run(scan: PairScan, monitor: Monitor = SILENT, snapshots: Snapshots | None = None) -> StrongestPartners:
    """Scan all rows and return the pairs that are kept; not all are scanned if the monitor cancels."""
    stored = None if snapshots is None else snapshots.latest()
    first = 0
    if stored is not None:
        first, partners = stored
        scan.lists.push(*partners.pairs())
    for step in scan.scan(first):
        if snapshots is not None:
            snapshots.offer(step, partial(kept, scan.lists, scan.n_variables))
        monitor.progress(step.done, step.total, "screening pairs")
        if step.done < step.total and monitor.cancelled():
            return kept(scan.lists, scan.n_variables, complete=False)
    return kept(scan.lists, scan.n_variables)


class NativeScreen:
    """Scan of a data set in the native core, in an order of rows of its own.

    A device that filters pairs itself pushes the pairs that pass: see `pairs` for the ways that the core offers.

    Parameters
    ----------
    store
        The data set.
    rule
        Which pairs are kept.
    n_threads
        Number of threads.

    Attributes
    ----------
    lists
        The pairs kept so far. ``lists.bars()`` has, for each variable, the evidence below which no partner is needed.
    pairs
        Scores pairs and pushes them to the lists, with the same bits in each of three ways: ``pairs.scan(first, last,
        n_threads)`` takes whole rows, each once and in any order; ``pairs.push_binary(xs, ys, both)`` takes pairs of
        binary variables with the number of rows in which both have code 1; ``pairs.push_pairs(xs, ys, n_threads)``
        counts any pairs.
    """

    def __init__(self, store: _core.Store, rule: ScreenRule, n_threads: int) -> None:
        self.lists = rule.lists(store.n_variables, store.n_rows)
        self.pairs = _core.PairScreen(store, self.lists, rule.kernel.name, n_threads)
        self.n_variables, self._n_threads = store.n_variables, n_threads
        self._together = max(16, min(2048, PAIRS_BETWEEN_LOOKS // max(self.pairs.size, 1)))

    def scan(self, first: int) -> Iterator[Step]:
        """Scan the rows from the first on, in blocks of about 50 ms."""
        size = self.pairs.size
        for start in range(first, size, self._together):
            stop = min(start + self._together, size)
            self.pairs.scan(start, stop, self._n_threads)
            yield Step(stop, pairs_before(size, stop), pairs_before(size, size))


class PairStatistics(Protocol):
    """Statistics that score every pair with x in a range."""

    @property
    def n_rows(self) -> int: ...
    @property
    def n_variables(self) -> int: ...
    def reduce_pairs(self, kernel: Kernel, xs: range) -> FloatArray: ...


class BlockScreen:
    """Scan by statistics that score blocks of pairs, without a filter: rows are the variables in their order."""

    def __init__(self, statistics: PairStatistics, rule: ScreenRule) -> None:
        self.n_variables = statistics.n_variables
        self.lists = rule.lists(self.n_variables, statistics.n_rows)
        self._statistics, self._rule = statistics, rule

    def scan(self, first: int) -> Iterator[Step]:
        """Score the rows from the first on, in blocks of 4 million pairs."""
        n = self.n_variables
        for xs in blocks_of_pairs(n, PAIRS_TOGETHER, first):
            evidence = self._rule.evidence(self._statistics.reduce_pairs(self._rule.kernel, xs))
            push_block(self.lists, xs, n, evidence)
            yield Step(xs.stop, pairs_before(n, xs.stop), pairs_before(n, n))


def push_block(lists: _core.PartnerLists, xs: range, n_variables: int, evidence: NDArray[np.float32]) -> None:
    """Push the pairs x < y with x in a range, in lexicographic order, that pass the bar of either end."""
    bars, start = lists.bars(), 0
    for x in xs:
        row = evidence[start : start + n_variables - 1 - x]
        start += len(row)
        passed = np.flatnonzero(row >= np.minimum(bars[x], bars[x + 1 :])).astype(np.int32)
        lists.push(np.full(len(passed), x, dtype=np.int32), passed + np.int32(x + 1), row[passed])


def pairs_before(n_variables: int, x: int) -> int:
    """Return the number of pairs u < v with u < x."""
    return x * (2 * n_variables - x - 1) // 2


def blocks_of_pairs(n_variables: int, most: int, first: int = 0) -> Iterator[range]:
    """Yield ranges of x from the first on with at most `most` pairs x < y each, but at least one x."""
    while first < n_variables - 1:
        last = first + 1
        while last < n_variables - 1 and pairs_before(n_variables, last + 1) - pairs_before(n_variables, first) <= most:
            last += 1
        yield range(first, last)
        first = last


LARGEST = 1.0 - 2.0**-53  # |r| of a copy, as `Moments` reports it: its evidence is finite
_SINGLE_ROWS = 1 << 14  # up to here single precision filters well: its error bound grows with the rows
_BLOCK_VALUES = 1 << 22  # of a block of columns: 32 MB


def correlation_evidence(r: FloatArray, n_rows: IntArray | int, statistic: ScreenStatistic) -> NDArray[np.float32]:
    """Return the evidence of correlations: −N log(1 − r²) as G², N r² as X², −log(1 − r²) / 2 in nats."""
    squares = np.square(np.clip(r, -LARGEST, LARGEST))
    if statistic == "x2":
        return np.asarray(n_rows * squares, dtype=np.float32)
    ratio = -log1p(-squares)
    return np.asarray(0.5 * ratio if statistic == "mi" else n_rows * ratio, dtype=np.float32)


def least_correlation(evidence: NDArray[np.float32], n_rows: int, statistic: ScreenStatistic) -> FloatArray:
    """Return the |r| that has this evidence; the reverse of `correlation_evidence`."""
    wanted = evidence.astype(np.float64)
    if statistic == "x2":
        return np.asarray(np.sqrt(np.minimum(wanted / n_rows, 1.0)))
    return np.asarray(np.sqrt(-expm1(-(2.0 * wanted if statistic == "mi" else wanted / n_rows))))


class Correlations(Protocol):
    """Correlations of one x with many y, and the rows behind each."""

    @property
    def n_rows(self) -> int: ...
    @property
    def n_variables(self) -> int: ...
    def measured(self, x: int, ys: Indices, z: Collection[int]) -> tuple[FloatArray, IntArray]: ...


class RowScreen:
    """Scan by the correlations of one variable after the other with all later ones."""

    def __init__(self, statistics: Correlations, rule: ScreenRule) -> None:
        self.n_variables = statistics.n_variables
        self.lists = rule.lists(self.n_variables, statistics.n_rows)
        self._statistics, self._rule = statistics, rule

    def scan(self, first: int) -> Iterator[Step]:
        """Push the pairs of the rows from the first on, one row at a time."""
        n = self.n_variables
        for x in range(first, n - 1):
            r, n_rows = self._statistics.measured(x, range(x + 1, n), ())
            evidence = correlation_evidence(np.nan_to_num(r), n_rows, self._rule.statistic)
            push_block(self.lists, range(x, x + 1), n, evidence)
            yield Step(x + 1, pairs_before(n, x + 1), pairs_before(n, n))


class CorrelationScreen:
    """Scan of a data set of continuous variables; rows are blocks of columns.

    Parameters
    ----------
    dataset
        Continuous variables without gaps. `repeats` count as that many equal rows.
    rule
        Which pairs are kept.

    Notes
    -----
    Memory: the data set and blocks of 32 MB. The products take 2 N operations a pair, by BLAS.

    Examples
    --------
    >>> from mnlearn.statistics.screens import run
    >>> rows = np.random.default_rng(0).normal(size=(100, 3))
    >>> rows[:, 2] += rows[:, 0]
    >>> data = Dataset(("a", "b", "c"), (0, 0, 0), tuple(rows.T.copy()), (None,) * 3)
    >>> run(CorrelationScreen(data, ScreenRule(k=1, threshold=10))).pairs()[1].tolist()
    [2]
    """

    def __init__(self, dataset: Dataset, rule: ScreenRule) -> None:
        for name, card in zip(dataset.names, dataset.cards, strict=True):
            if card:
                raise UnsuitableError(
                    f"CorrelationScreen needs continuous variables; {name!r} has states. Select the continuous "
                    "columns, or use Counts."
                )
        check_no_gaps(dataset, "CorrelationScreen", "TestwiseMoments")
        self.n_rows, self.n_variables = dataset.n_rows, dataset.n_variables
        self.lists = rule.lists(self.n_variables, self.n_rows)
        self._rows, self._rule = Standardization(dataset), rule
        self._block = int(np.clip(_BLOCK_VALUES // max(self._rows.n_records, 1), 16, 2048))

    def scan(self, first: int) -> Iterator[Step]:
        """Push the pairs of the blocks from the first on with themselves and all later ones."""
        n, dtype = self.n_variables, self._filter_type()
        n_blocks = -(-n // self._block)
        for b in range(first, n_blocks):
            xs = self._columns(b)
            of_x = self._rows.block(xs)
            narrow = of_x.astype(dtype, copy=False)
            for c in range(b, n_blocks):
                ys = self._columns(c)
                of_y = of_x if c == b else self._rows.block(ys)
                self._push((b, of_x), (c, of_y), narrow @ of_y.astype(dtype, copy=False).T)
                left = len(xs) * (n - ys.stop)  # pairs of this block with later ones
                row = b + 1 if c == n_blocks - 1 else None
                yield Step(row, pairs_before(n, xs.stop) - left, pairs_before(n, n))

    def _push(self, x: tuple[int, FloatArray], y: tuple[int, FloatArray], products: NDArray[np.floating]) -> None:
        """Push the pairs of two blocks that pass a bar."""
        (b, of_x), (c, of_y) = x, y
        bars = least_correlation(self.lists.bars(), self.n_rows, self._rule.statistic)
        bars = bars * (1.0 - 1e-6) - self._rounding()
        low = bars[self._columns(b).start :][: len(of_x)], bars[self._columns(c).start :][: len(of_y)]
        passed = np.abs(products) >= self._rows.total * np.minimum(low[0][:, None], low[1]).astype(products.dtype)
        if b == c:
            passed = np.triu(passed, 1)
        i, j = (found.astype(np.int32) for found in np.nonzero(passed))
        r = _core.row_dots(of_x, i, of_y, j) / self._rows.total
        evidence = correlation_evidence(r, self.n_rows, self._rule.statistic)
        self.lists.push(i + np.int32(b * self._block), j + np.int32(c * self._block), evidence)

    def _columns(self, block: int) -> range:
        return range(block * self._block, min((block + 1) * self._block, self.n_variables))

    def _filter_type(self) -> type[np.floating]:
        return np.float32 if self._rows.n_records <= _SINGLE_ROWS else np.float64

    def _rounding(self) -> float:
        """Return the largest error of a correlation from the product of two blocks, whatever the order of its sum."""
        unit = 2.0**-24 if self._filter_type() is np.float32 else 2.0**-53
        return 1.1 * (self._rows.n_records + 4) * unit
