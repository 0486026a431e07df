"""Screens: the strongest partners of each variable by marginal evidence, in one pass that stores no matrix.

The evidence of a pair is the statistic of its test of independence, rounded once to single precision. Statistics of
tables with more degrees of freedom are larger by chance alone, so they are put on one scale: the value that chi-square
with one degree of freedom would need for the same p-value. For two binary variables, and for two continuous ones, this
is the statistic itself.

Partners are ordered by evidence, and equal ones by index. The order is total, so the result depends on the data alone:
not on threads, blocks, shards or the code path.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from math import inf
from statistics import NormalDist
from typing import Literal, NamedTuple, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from mnlearn import _core
from mnlearn.errors import InputError, check_name, is_number, whole_number
from mnlearn.graphs.candidates import Candidates
from mnlearn.protocols import SILENT, Monitor
from mnlearn.protocols.statistics import FloatArray, Kernel
from mnlearn.statistics import kernels

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
