"""Base classes of the conditional independence tests: what follows from evidence, from counts, from one kernel."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate, pairwise
from typing import ClassVar, Protocol

import numpy as np

from mnlearn.errors import InputError, UnsuitableError, is_number
from mnlearn.graphs.candidates import Candidates
from mnlearn.numbers import log
from mnlearn.protocols import (
    NO_TURNS,
    SILENT,
    BaseTest,
    Evidence,
    FloatArray,
    Indices,
    IntArray,
    Kernel,
    Knowledge,
    Monitor,
    Statistics,
    SubsetWalk,
    Turns,
    VarSet,
    Verdicts,
)
from mnlearn.statistics.screens import ScreenStatistic, StrongestPartners

_LARGEST_TOGETHER = 12  # a larger blanket has about as many configurations as rows: one table for all saves nothing
_SUGGESTIONS = {
    "Use Counts(dataset) for categorical data.": ("reduce", "reduce_many", "reduce_all"),
    "Use Moments(dataset) for continuous data.": ("partial_correlations", "correlations_all"),
    "Use Rows(dataset) for continuous data.": ("ranks",),
    "Use MixedLikelihoods(dataset) for variables of several kinds.": ("ratios",),
}


def log_level(alpha: float) -> float:
    """Return log(alpha), after checking that alpha is a level."""
    if not (is_number(alpha) and 0.0 < alpha < 1.0):
        raise InputError(f"alpha must be between 0 and 1, both excluded; got {alpha!r}. Usual values: 0.05, 0.01.")
    return log(alpha)


def require_method(judge: object, statistics: object, method: str) -> None:
    """Raise UnsuitableError, when a judge is made, unless its statistics have the method that it needs."""
    if not hasattr(statistics, method):
        suggestion = next(hint for hint, methods in _SUGGESTIONS.items() if method in methods)
        raise UnsuitableError(
            f"{type(judge).__name__} cannot use a {type(statistics).__name__}, which has no {method}. {suggestion}"
        )


def question_rows(statistics: Statistics, x: int, ys: Indices, z: VarSet) -> IntArray:
    """Return the number of rows behind each y of a scan: with gaps, those in which x, y and z are observed."""
    find = getattr(statistics, "question_rows", None)
    if find is None:
        return np.full(len(ys), statistics.n_rows, dtype=np.int64)
    rows: IntArray = find(x, ys, z)
    return rows


def has_gaps(statistics: Statistics) -> bool:
    """Whether the statistics are of data with missing values."""
    return any(getattr(statistics, "gaps", ()))


def pair_scores(statistics: Statistics, kernel: Kernel) -> Iterator[tuple[range, FloatArray]]:
    """Score every pair x < y given nothing: in blocks where the statistics have them, to save memory."""
    blocks = getattr(statistics, "all_pairs_blocks", None)
    if blocks is not None:
        yield from blocks(kernel)
    else:
        yield range(len(statistics.cards) - 1), statistics.reduce_all(kernel)


class Strongest(Protocol):
    """Function that returns the pairs that are among the k strongest of either variable by marginal evidence."""

    def __call__(self, k: int, monitor: Monitor = SILENT) -> Candidates: ...


class EvidenceTest(BaseTest):
    """Conditional independence test whose decisions are read off its evidence."""

    @abstractmethod
    def evidence(self, x: int, ys: Indices, z: VarSet) -> Evidence:
        """Return the decision for each y and the numbers behind it."""

    def scan(self, x: int, ys: Indices, z: VarSet) -> Verdicts:
        """Test x against each y given z; the support is log p, or the log posterior of independence."""
        evidence = self.evidence(x, ys, z)
        support = evidence.log_p if evidence.log_p is not None else evidence.log_independent
        assert support is not None, "a test computes one of the two"
        return Verdicts(evidence.independent, support)


def screen_of(statistics: object, statistic: ScreenStatistic) -> Strongest:
    """Return the `strongest` of a judge on these statistics: by their screen, where they have one.

    Raises
    ------
    AttributeError
        If they have none, so that the judge has no attribute `strongest`.
    """
    screen = statistics.screen  # type: ignore[attr-defined]

    def strongest(k: int, monitor: Monitor = SILENT) -> Candidates:
        found: StrongestPartners = screen(k, statistic=statistic, monitor=monitor)
        return found.candidates()

    return strongest


class CountsTest(EvidenceTest):
    """Conditional independence test of categorical variables."""

    statistics: Statistics
    _screened_by: ClassVar[ScreenStatistic] = "g2"

    @property
    def strongest(self) -> Strongest:
        """Function that returns the pairs among the k strongest of either variable; see `ScreeningJudge`."""
        return screen_of(self.statistics, self._screened_by)

    @property
    def n_variables(self) -> int:
        """Number of variables."""
        return len(self.statistics.cards)


class KernelTest(CountsTest):
    """Test by one kernel: x ⟂ y | z iff the support computed from its outputs is above a level.

    Whole blankets and searches over conditioning sets are left to the statistics, if these can run them.
    """

    batched = True
    _kernel: Kernel
    _level: float

    @abstractmethod
    def _decide(self, scores: FloatArray) -> Verdicts:
        """Return the decisions that the outputs of the kernel lead to."""

    def scan(self, x: int, ys: Indices, z: VarSet) -> Verdicts:
        """Test x against each y given z, in a third of the time that `evidence` takes for a few y."""
        return self._decide(self.statistics.reduce(self._kernel, x, ys, z))

    def scan_many(self, xs: Indices, yss: Sequence[Indices], zs: Sequence[VarSet]) -> list[Verdicts]:
        """Return the `scan` of each x with its ys and its z, in one pass of the statistics."""
        found = self.statistics.reduce_many(self._kernel, xs, yss, zs)
        return _split(self._decide(np.concatenate(found, axis=1)), (one.shape[1] for one in found)) if found else []

    def scan_members(self, x: int, z: VarSet) -> Verdicts:
        """Test x against every y in z, in ascending order, given the rest of z: all from one table of x and z."""
        return self._decide(self.statistics.members(self._kernel, [x], [z])[0])

    def scan_pairs(self) -> Iterator[tuple[range, Verdicts]]:
        """Test every pair given nothing, in as few passes of the statistics as memory allows."""
        return ((xs, self._decide(scores)) for xs, scores in pair_scores(self.statistics, self._kernel))

    def scan_growing(
        self, x: int, ys: Indices, z: VarSet, *, to_first: bool = False, ahead: int = 1, known: Knowledge | None = None
    ) -> Turns:
        """Test each y in turn given z and the dependent ones before it, as many as the statistics answer at once."""
        grow = getattr(self.statistics, "grow", None)
        if grow is None:
            return NO_TURNS
        turns: Turns = grow(self._kernel, self._level, x, ys, z, to_first=to_first, ahead=ahead, known=known)
        return turns

    def scan_shrinking(self, x: int, ys: Indices, z: VarSet, *, known: Knowledge | None = None) -> Turns:
        """Test each y in turn, a member of z, given the rest of z without the independent ones before it.

        Statistics that cannot shrink give one table, which answers up to the first y that leaves z.
        """
        shrink = getattr(self.statistics, "shrink", None)
        turns: Turns = NO_TURNS if shrink is None else shrink(self._kernel, self._level, x, ys, z, known=known)
        if turns.independent or not len(ys) or known is not None or len(z) > _LARGEST_TOGETHER:
            return turns
        members, order = self.scan_members(x, z), {v: k for k, v in enumerate(sorted(z))}
        places = [order[int(y)] for y in ys]
        leaving = np.flatnonzero(members.independent[places])
        used = places if not len(leaving) else places[: leaving[0] + 1]
        support, n, others = members.log_support[used].tolist(), len(used), len(z) - 1
        return Turns(members.independent[used].tolist(), support, [0] * n, n, n * (2 + others), others, n)

    def knowledge(self, *, mirrored: bool = False) -> Knowledge | None:
        """Return an empty knowledge base for the two methods above, if the statistics can reason."""
        make = getattr(self.statistics, "knowledge", None)
        known: Knowledge | None = None if make is None else make(mirrored=mirrored)
        return known

    def subsets(self) -> SubsetWalk | None:
        """Return the search over conditioning sets that the statistics run, if they can."""
        make = getattr(self.statistics, "subsets", None)
        walk: SubsetWalk | None = None if make is None else make(self._kernel, self._level)
        return walk


def _split(verdicts: Verdicts, lengths: Iterable[int]) -> list[Verdicts]:
    """Return the answers to scans that were joined, one by one."""
    ends = list(accumulate(lengths, initial=0))
    return [Verdicts(verdicts.independent[a:b], verdicts.log_support[a:b]) for a, b in pairwise(ends)]
