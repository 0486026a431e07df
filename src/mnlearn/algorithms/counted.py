"""Conditional independence test that counts the tests a search uses.

A search calls a `CountedTest` in the order of its paper. Where the search names the tests that are likely to follow,
they are computed ahead in scans. A test is counted when its answer is used, so `cost` is the paper's own count,
however many tests were computed ahead.

Answers of a test about pairs without conditioning: of all pairs as matrices, or of candidate pairs as lists.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import chain, islice
from math import fsum
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mnlearn.algorithms.base import check_cancelled, check_monitor, check_variables, ordered
from mnlearn.errors import check_room, whole_number
from mnlearn.graphs.candidates import Candidates
from mnlearn.graphs.graph import Edge, Graph
from mnlearn.numbers import ascending, ranks
from mnlearn.protocols import (
    SILENT,
    BoolArray,
    FloatArray,
    IndependenceTest,
    Indices,
    Monitor,
    Question,
    Result,
    SubsetWalk,
    VarSet,
    Verdict,
    Verdicts,
    with_defaults,
)


class Marginals(ABC):
    """Decision and log support of pairs without conditioning.

    Notes
    -----
    Pairs that are no candidates count as independent without evidence: their log support is that of a p-value of 1.
    """

    n_variables: int

    @abstractmethod
    def partners(self, x: int) -> NDArray[np.intp]:
        """Return the variables that x was tested with, ascending."""

    @abstractmethod
    def dependent(self, x: int) -> NDArray[np.intp]:
        """Return the variables that depend on x, ascending."""

    @abstractmethod
    def independent(self, x: int) -> NDArray[np.intp]:
        """Return the variables that x was tested with and is independent of, ascending."""

    @abstractmethod
    def support(self, x: int, ys: NDArray[np.intp]) -> FloatArray:
        """Return the log support of x with each of these variables, which it was tested with."""

    @abstractmethod
    def between(self, x: int, y: int) -> float | None:
        """Return the log support of a pair; None if it was not tested."""

    @abstractmethod
    def dependences(self) -> NDArray[np.int64]:
        """Return the dependent pairs x < y in lexicographic order, a row each."""

    @abstractmethod
    def _totals(self) -> FloatArray:
        """Return the sum of the log support of each variable, rounded once."""

    @abstractmethod
    def _weighted_total(self, x: int, weights: NDArray[np.intp]) -> float:
        """Return the sum of the log support of x with each variable, times the weight of that variable."""

    def strength_ranks(self) -> NDArray[np.intp]:
        """Return the rank of each variable by its mean log support of independence, the strongest first.

        Equal variables are ranked by a mean in which strong partners count less; those that no mean tells apart share
        a rank.
        """
        n = self.n_variables
        first = ranks(self._totals() / (n - 1))
        tied = np.flatnonzero(np.bincount(first)[first] > 1)
        weighted = np.zeros(n)
        weighted[tied] = [self._weighted_total(x, 1 + first) / (n - 1) for x in tied.tolist()]
        return ranks(first * np.float64(n) + ranks(weighted))

    def strongest_first(self, x: int, ys: NDArray[np.intp], strength: NDArray[np.intp]) -> NDArray[np.intp]:
        """Return these variables in ascending order of their log support with x, of equals the stronger one first."""
        return ys[ascending(self.support(x, ys), strength[ys])]


class AllMarginals(Marginals):
    """Answers about all pairs.

    Parameters
    ----------
    decisions, log_support
        Symmetric matrices: whether a pair is independent (False on the diagonal), and its log support (0 there).
    """

    def __init__(self, decisions: BoolArray, log_support: FloatArray) -> None:
        self.n_variables = len(decisions)
        self._decisions, self._support = decisions, log_support

    def partners(self, x: int) -> NDArray[np.intp]:
        """Return the variables that x was tested with, ascending."""
        return np.delete(np.arange(self.n_variables), x)

    def dependent(self, x: int) -> NDArray[np.intp]:
        """Return the variables that depend on x, ascending."""
        (found,) = (~self._decisions[x]).nonzero()
        return np.asarray(found[found != x])

    def independent(self, x: int) -> NDArray[np.intp]:
        """Return the variables that x was tested with and is independent of, ascending."""
        return np.asarray(self._decisions[x].nonzero()[0])

    def support(self, x: int, ys: NDArray[np.intp]) -> FloatArray:
        """Return the log support of x with each of these variables, which it was tested with."""
        return np.asarray(self._support[x, ys])

    def between(self, x: int, y: int) -> float | None:
        """Return the log support of a pair; None if it was not tested."""
        return float(self._support[x, y])

    def dependences(self) -> NDArray[np.int64]:
        """Return the dependent pairs x < y in lexicographic order, a row each."""
        return np.argwhere(np.triu(~self._decisions, 1))

    def _totals(self) -> FloatArray:
        # Sums of two doubles each: in another order of the columns they differ by less than what they are rounded to.
        high, low = np.zeros((2, self.n_variables))
        with np.errstate(invalid="ignore"):  # infinite supports have no low part
            for row in self._support:
                total = high + row
                of_row = total - high
                low += (high - (total - of_row)) + (row - of_row)
                high = total
        return np.where(np.isfinite(high), high + low, high)

    def _weighted_total(self, x: int, weights: NDArray[np.intp]) -> float:
        return fsum((self._support[x] * weights).tolist())


class ListedMarginals(Marginals):
    """Answers about candidate pairs, listed from both ends.

    Parameters
    ----------
    candidates
        The pairs.
    decisions, log_support
        Whether each pair is independent, and its log support.
    """

    def __init__(self, candidates: Candidates, decisions: BoolArray, log_support: FloatArray) -> None:
        self.n_variables = candidates.n_variables
        self.starts, self.listed, places = candidates.directed()
        self.decisions, self.log_support = decisions[places], log_support[places]

    def _of(self, x: int) -> slice:
        return slice(int(self.starts[x]), int(self.starts[x + 1]))

    def partners(self, x: int) -> NDArray[np.intp]:
        """Return the variables that x was tested with, ascending."""
        return self.listed[self._of(x)].astype(np.intp)

    def dependent(self, x: int) -> NDArray[np.intp]:
        """Return the variables that depend on x, ascending."""
        return self.partners(x)[~self.decisions[self._of(x)]]

    def independent(self, x: int) -> NDArray[np.intp]:
        """Return the variables that x was tested with and is independent of, ascending."""
        return self.partners(x)[self.decisions[self._of(x)]]

    def support(self, x: int, ys: NDArray[np.intp]) -> FloatArray:
        """Return the log support of x with each of these variables, which it was tested with."""
        of_x = self._of(x)
        return self.log_support[of_x][self.listed[of_x].searchsorted(ys)]

    def between(self, x: int, y: int) -> float | None:
        """Return the log support of a pair; None if it was not tested."""
        of_x = self._of(x)
        place = of_x.start + int(self.listed[of_x].searchsorted(y))
        found = place < of_x.stop and self.listed[place] == y
        return float(self.log_support[place]) if found else None

    def dependences(self) -> NDArray[np.int64]:
        """Return the dependent pairs x < y in lexicographic order, a row each."""
        x = np.repeat(np.arange(self.n_variables, dtype=np.int64), np.diff(self.starts))
        found = ~self.decisions & (x < self.listed)
        return np.stack([x[found], self.listed[found].astype(np.int64)], axis=1)

    def _totals(self) -> FloatArray:
        return np.array([fsum(self.log_support[self._of(x)].tolist()) for x in range(self.n_variables)])

    def _weighted_total(self, x: int, weights: NDArray[np.intp]) -> float:
        of_x = self._of(x)
        return fsum((self.log_support[of_x] * weights[self.listed[of_x]]).tolist())


AHEAD = 1024  # default of the largest block computed ahead of need
FIRST_BLOCK = 8  # size of the block after a change of x or z; each further block of the scan doubles
_SCANS_TOGETHER = 64  # most scans in one call; the monitor is polled between calls
_PAIRS_TOGETHER = 1 << 14  # fewest pairs without conditioning in one call, as far as there are so many
_ROWS_TOGETHER = 64
_EMPTY: VarSet = frozenset()
_FEWER = "Screen first (candidates='screen'), choose fewer columns, or a method that keeps none: gsmn, sep, l1lr."


def check_ahead(ahead: int) -> None:
    """Raise InputError unless the block size is at least 1."""
    whole_number("ahead", ahead, least=1, hint="Use 1 to ask strictly one question at a time.")


def check_max_conditioning(max_conditioning: int | None) -> None:
    """Raise InputError unless the limit of the conditioning sets is None or a size."""
    if max_conditioning is not None:
        whole_number("max_conditioning", max_conditioning, least=0, hint="Use None for no limit.")


def tests_largest_sets(judge: IndependenceTest, *, keep_trace: bool) -> bool:
    """Return whether it is enough to test the largest sets: a monotone test separates by no smaller one alone.

    A trace lists the tests of the paper, so it needs all of them.
    """
    return not keep_trace and with_defaults(judge).monotone


def subset_walk(judge: IndependenceTest, *, ahead: int, keep_trace: bool) -> SubsetWalk | None:
    """Return the judge's own search over subsets, if it has one and no single test must be recorded."""
    return with_defaults(judge).subsets() if ahead > 1 and not keep_trace else None


class Account:
    """Counts of the tests that a search uses, and on request their trace.

    Parameters
    ----------
    keep_trace
        Whether to store every test, in order.
    rules
        Names of the inference rules of the search; each has its entry in `cost`, even if never used.
    keep_support
        Whether to store the answer that decided each pair.

    Attributes
    ----------
    phase
        Current phase of the search; "initial" is counted separately.
    """

    def __init__(self, *, keep_trace: bool, rules: Iterable[str], keep_support: bool) -> None:
        self.phase, self._keep_support, self._started = "main", keep_support, perf_counter()
        self._asked: Counter[str] = Counter()
        self._weighted: Counter[str] = Counter()
        self._inferred: Counter[str] = Counter(dict.fromkeys(rules, 0))
        self._recalled = self._largest_z = self._scanned = 0
        self._trace: list[Question] | None = [] if keep_trace else None
        self._decided: dict[Edge, float] = {}
        self._marginal: Marginals | None = None

    def record(self, x: int, y: int, z: VarSet, verdict: Verdict) -> None:
        """Record a test whose answer the search uses."""
        self._count(1, len(z), verdict.source)
        if self._keep_support and not verdict.independent:
            self._decide(x, y, verdict.log_support)
        if self._trace is not None:
            self._trace.append(Question(x, y, z, *verdict, self.phase))

    def record_sizes(self, asked: Iterable[tuple[int, int]]) -> None:
        """Record tests that a judge chose itself: pairs of the size of the set and the number of tests."""
        for size_z, n_tests in asked:
            self._count(n_tests, size_z, "data")
            self._scanned += n_tests

    def record_inferred(self, x: int, ys: Indices, z: VarSet, *, independent: bool, rule: str) -> None:
        """Record answers that an inference rule gave instead of a test."""
        self._inferred[rule] += len(ys)
        if self._trace is not None:
            self._trace.extend(Question(x, int(y), z, independent, None, rule, self.phase) for y in ys)

    def result(self, graph: Graph, *, converged: bool, settings: Mapping[str, object]) -> Result:
        """Return the result of the search.

        The support of an edge is that of the last test that found its ends dependent; where rules gave every answer, it
        is the marginal support.
        """
        support = {edge: value for edge in graph.edges if (value := self.log_support(*edge)) is not None}
        trace = None if self._trace is None else tuple(self._trace)
        return Result(graph, None, support, converged, self.cost(), settings, trace)

    def log_support(self, x: int, y: int) -> float | None:
        """Return the log support of the last test that found x and y dependent, else of the marginal test, if any."""
        decided = self._decided.get(ordered(x, y))
        return self._marginal.between(x, y) if decided is None and self._marginal is not None else decided

    def cost(self) -> dict[str, float]:
        """Return the counts so far."""
        asked, weighted = self._asked.total(), self._weighted.total()
        initial_asked, initial_weighted = self._asked["initial"], self._weighted["initial"]
        return {
            "asked": asked,
            "weighted": weighted,
            "initial_asked": initial_asked,
            "initial_weighted": initial_weighted,
            "main_asked": asked - initial_asked,
            "main_weighted": weighted - initial_weighted,
            "inferred": self._inferred.total(),
            **{f"inferred_{rule}": count for rule, count in self._inferred.items()},
            "recalled": self._recalled,
            "largest_z": self._largest_z,
            "scanned": self._scanned,
            "seconds": perf_counter() - self._started,
        }

    def _record_scan(self, x: int, ys: Indices, z: VarSet, answers: Verdicts) -> None:
        """Record the answers that the search uses: those about the ys, which may be fewer than the answers."""
        self._count(len(ys), len(z), answers.source)
        if self._keep_support and self.phase != "initial":
            for k in (~answers.independent[: len(ys)]).nonzero()[0].tolist():
                self._decide(x, int(ys[k]), float(answers.log_support[k]))
        if self._trace is not None:
            phase, verdicts = self.phase, map(answers.one, range(len(ys)))
            self._trace.extend(Question(x, int(y), z, *v, phase) for y, v in zip(ys, verdicts, strict=True))

    def _count(self, n_tests: int, size_z: int, source: str) -> None:
        self._asked[self.phase] += n_tests
        self._weighted[self.phase] += n_tests * (2 + size_z)
        if n_tests and size_z > self._largest_z:
            self._largest_z = size_z
        if source == "memo":
            self._recalled += n_tests

    def _decide(self, x: int, y: int, log_support: float | None) -> None:
        if log_support is not None:
            self._decided[ordered(x, y)] = log_support


class CountedTest(Account):
    """Independence test that counts the answers a search uses and polls its monitor.

    Parameters
    ----------
    judge
        Any independence test.
    monitor
        Polled before each call of the judge; raises `Cancelled` where it cancels the search.
    ahead
        The largest block of tests computed ahead of need; 1 computes one at a time. Tests that are never used count
        in `scanned` only. The judge computes them: with 1 it computes exactly what is counted.
    keep_trace, rules, keep_support
        See `Account`.

    Notes
    -----
    `asked` counts the tests whose answers were used; `recalled` those among them that the judge answered from a cache
    (source "memo"; a block that is partly cached counts as fresh).

    Examples
    --------
    >>> from mnlearn.graphs.graph import Graph
    >>> from mnlearn.independence import SeparationOracle
    >>> test = CountedTest(SeparationOracle(Graph.from_edges(4, [(0, 1), (1, 2)])))
    >>> test.first_dependent(0, [3, 2, 1], frozenset()), test.cost()["asked"], test.cost()["scanned"]
    (1, 2, 3)
    """

    def __init__(
        self,
        judge: IndependenceTest,
        monitor: Monitor = SILENT,
        *,
        ahead: int = AHEAD,
        keep_trace: bool = False,
        rules: Iterable[str] = (),
        keep_support: bool = True,
    ) -> None:
        check_ahead(ahead)
        check_monitor(monitor)
        self._judge = with_defaults(judge)
        self.n_variables = self._judge.n_variables
        check_variables(self.n_variables)
        super().__init__(keep_trace=keep_trace, rules=rules, keep_support=keep_support)
        self._monitor, self._ahead = monitor, ahead
        self._batched = self._judge if self._judge.batched and ahead > 1 else None
        self._block_of: tuple[int, VarSet] | None = None  # x and z of the answers computed ahead
        self._block_size, self._block = 1, dict[int, Verdict]()

    def marginals(self) -> tuple[BoolArray, FloatArray]:
        """Test every pair once without conditioning; return two symmetric matrices: independent, and log support.

        Counted as "initial". The diagonal is False, and 0 in the support.
        """
        n, phase = self.n_variables, self.phase
        check_room("judge", 9.0 * n * n, f"a decision and a number for every pair of {n:,} variables", _FEWER)
        independent, support = np.zeros((n, n), dtype=np.bool_), np.zeros((n, n))
        self.phase = "initial"
        for xs, answers in self._scan_pairs():
            later = np.arange(n) > np.arange(xs.start, xs.stop)[:, None]
            independent[xs.start : xs.stop][later] = answers.independent
            support[xs.start : xs.stop][later] = answers.log_support
            self._record_pairs(xs, independent, support, answers.source)
        _mirror(independent)
        _mirror(support)
        self.phase, self._marginal = phase, AllMarginals(independent, support)
        return independent, support

    def marginal_answers(self, candidates: Candidates | None) -> Marginals:
        """Test every candidate pair once without conditioning, or every pair if there are no candidates.

        Counted as "initial".
        """
        return AllMarginals(*self.marginals()) if candidates is None else self.listed_marginals(candidates)

    def listed_marginals(self, candidates: Candidates) -> ListedMarginals:
        """Test every candidate pair once without conditioning; counted as "initial"."""
        phase, self.phase = self.phase, "initial"
        starts, later = np.searchsorted(candidates.u, np.arange(self.n_variables + 1)), candidates.v
        independent, support = np.empty(len(later), dtype=np.bool_), np.empty(len(later))
        for xs in _blocks_of_scans(starts):
            yss = [later[starts[x] : starts[x + 1]].tolist() for x in xs]
            for x, ys, answers in zip(xs, yss, self._scan_many(xs, yss, [_EMPTY] * len(xs)), strict=True):
                self._record_initial(x, ys, answers)
                independent[starts[x] : starts[x + 1]] = answers.independent
                support[starts[x] : starts[x + 1]] = answers.log_support
        found = ListedMarginals(candidates, independent, support)
        self.phase, self._marginal = phase, found
        return found

    def _scan_pairs(self) -> Iterator[tuple[range, Verdicts]]:
        """Yield the answers for every pair x < y, some x at a time: by the judge's own loop, if it has one."""
        n, blocks = self.n_variables, self._judge.scan_pairs() if self._ahead > 1 else None
        if blocks is not None:
            check_cancelled(self._monitor)
            for xs, answers in blocks:
                self._scanned += len(answers.independent)
                yield xs, answers
                check_cancelled(self._monitor)
            return
        for first in range(0, n - 1, _SCANS_TOGETHER):
            xs = range(first, min(first + _SCANS_TOGETHER, n - 1))
            later = [list(range(x + 1, n)) for x in xs]  # lists are read faster than ranges
            for x, answers in zip(xs, self._scan_many(xs, later, [_EMPTY] * len(xs)), strict=True):
                yield range(x, x + 1), answers

    def _record_pairs(self, xs: range, independent: BoolArray, support: FloatArray, source: str) -> None:
        """Record the tests of these x with all later variables; one by one only for a trace."""
        n = self.n_variables
        if self._trace is None:
            self._count(sum(n - 1 - x for x in xs), 0, source)
            return
        for x in xs:
            self._record_initial(x, range(x + 1, n), Verdicts(independent[x, x + 1 :], support[x, x + 1 :], source))

    def _record_initial(self, x: int, ys: Indices, answers: Verdicts) -> None:
        """Record tests of x without conditioning."""
        if self._trace is None:
            self._count(len(ys), 0, answers.source)
        else:
            self._record_scan(x, ys, _EMPTY, answers)

    def __call__(self, x: int, y: int, z: VarSet, upcoming: Iterable[int] = ()) -> Verdict:
        """Test x and y given z; `upcoming` are the y likely to be tested next with the same x and z."""
        if self._block_of != (x, z):
            self._block_of, self._block, self._block_size = (x, z), {}, min(FIRST_BLOCK, self._ahead)
        if y not in self._block:
            block = list(islice(chain((y,), (u for u in upcoming if u != y)), self._block_size))
            answers = self._scan_block(x, block, z)
            pairs = zip(answers.independent.tolist(), answers.log_support.tolist(), strict=True)
            self._block = {u: Verdict(*pair, answers.source) for u, pair in zip(block, pairs, strict=False)}
            self._block_size = min(2 * self._block_size, self._ahead)
        verdict = self._block.pop(y)
        self.record(x, y, z, verdict)
        return verdict

    def scan(self, x: int, ys: Indices, z: VarSet) -> Verdicts:
        """Test x with each y given z; all answers are used."""
        answers = self._scan(x, ys, z)
        self._record_scan(x, ys, z, answers)
        return answers

    def scans(
        self, x: int, zs: Iterable[VarSet], ys_of: Callable[[VarSet], list[int]]
    ) -> Iterator[tuple[VarSet, list[int], Verdicts]]:
        """Yield scan after scan with the same x: each z with the ys that `ys_of` returns at its turn.

        Where the judge computes many scans together, a block of them is computed ahead, with the ys at that time; later
        there may be fewer. Blocks double while nothing changes.
        """
        rest, size = iter(zs), 1 if self._batched is None else min(FIRST_BLOCK, self._ahead)
        while block := list(islice(rest, size)):
            asked = [(z, ys) for z in block if (ys := ys_of(z))]
            answers = self._scan_many([x] * len(asked), [ys for _, ys in asked], [z for z, _ in asked])
            n_dropped = 0
            for (z, ys), found in zip(asked, answers, strict=True):
                left = ys_of(z)
                n_dropped += len(ys) - len(left)
                if left:
                    used = found if len(left) == len(ys) else _select(found, [k for k, y in enumerate(ys) if y in left])
                    self._record_scan(x, left, z, used)
                    yield z, left, used
            if self._batched is not None:
                size = min(FIRST_BLOCK if n_dropped else 2 * size, _SCANS_TOGETHER, self._ahead)

    def scan_ahead(self, x: int, ys: Indices, z: VarSet) -> Verdicts:
        """Return the answers about the first ys, as many as `ahead` allows, without recording them.

        For a search that stores answers itself and calls `record` for each one that it uses.
        """
        return self._scan_block(x, ys[: self._ahead], z)

    def first_dependent(self, x: int, ys: Indices, z: VarSet, *, block: int = FIRST_BLOCK) -> int:
        """Test one y after the other; return the index of the first that depends on x given z, or len(ys).

        `block` is the number of tests computed together at first.
        """
        size, start = min(block, self._ahead), 0
        while start < len(ys):
            asked = ys[start : start + size]
            answers = self._scan_block(x, asked, z)
            n_answers = len(answers.independent)
            (hits,) = (~answers.independent).nonzero()
            used = int(hits[0]) + 1 if len(hits) else n_answers
            self._record_scan(x, asked[:used], z, answers)
            if len(hits):
                return start + used - 1
            start, size = start + n_answers, min(2 * size, self._ahead)
        return len(ys)

    def _scan_block(self, x: int, block: Indices, z: VarSet) -> Verdicts:
        """Return the answers to the block, or to as many of the first as a judge decides together."""
        return self._scan(x, block, z)

    def _scan_many(self, xs: Sequence[int], yss: Sequence[Indices], zs: Sequence[VarSet]) -> list[Verdicts]:
        """Return the answers to many scans, computed together if the judge can."""
        if self._batched is None:
            return [self._scan(x, ys, z) for x, ys, z in zip(xs, yss, zs, strict=True)]
        check_cancelled(self._monitor)
        answers = self._batched.scan_many(xs, yss, zs)
        self._scanned += sum(map(len, yss))
        return answers

    def _scan(self, x: int, ys: Indices, z: VarSet) -> Verdicts:
        check_cancelled(self._monitor)
        answers = self._judge.scan(x, ys, z)
        self._scanned += len(ys)
        return answers


def _blocks_of_scans(starts: NDArray[np.int64]) -> Iterator[list[int]]:
    """Yield the variables with a later partner, some at a time; the pairs of x begin at its start."""
    sizes = np.diff(starts)
    block, total = list[int](), 0
    for x in np.flatnonzero(sizes).tolist():
        block.append(x)
        total += int(sizes[x])
        if total >= _PAIRS_TOGETHER:
            yield block
            block, total = [], 0
    if block:
        yield block


def _mirror(half: NDArray[Any]) -> None:
    """Copy the entries above the diagonal below it, by blocks of rows to save memory."""
    for first in range(0, len(half), _ROWS_TOGETHER):
        here, after = slice(first, first + _ROWS_TOGETHER), slice(first + _ROWS_TOGETHER, None)
        half[here, here] = half[here, here] + half[here, here].T
        half[after, here] = half[here, after].T


def _select(answers: Verdicts, places: list[int]) -> Verdicts:
    """Return the answers at these places."""
    return Verdicts(answers.independent[places], answers.log_support[places], answers.source)
