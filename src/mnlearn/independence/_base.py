"""What every judge does alike: check its level, ask one pair as a scan of one."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator
from itertools import accumulate, pairwise
from math import log

import numpy as np

from mnlearn.errors import InputError, UnsuitableError, is_number
from mnlearn.protocols import (
    Evidence,
    FloatArray,
    Indices,
    Kernel,
    Knowledge,
    Statistics,
    SubsetWalk,
    Turns,
    VarSet,
    Verdict,
    Verdicts,
)

_LARGEST_TOGETHER = 12  # a larger blanket has about as many configurations as rows: one table for all saves nothing
_NO_TURNS = Turns([], [], [], 0, 0, 0, 0)


def log_level(alpha: float) -> float:
    """log(alpha), after checking that it is a level."""
    if not (is_number(alpha) and 0.0 < alpha < 1.0):
        raise InputError(f"alpha must be between 0 and 1, both excluded; got {alpha!r}. Usual values: 0.05, 0.01.")
    return log(alpha)


def require_answers(judge: str, statistics: object, method: str, way_out: str) -> None:
    """Refuse, when a judge is made, statistics that cannot answer it."""
    if not hasattr(statistics, method):
        raise UnsuitableError(
            f"{judge} cannot judge by a {type(statistics).__name__}, which has no {method}. {way_out}"
        )


def cut(verdicts: Verdicts, lengths: Iterable[int]) -> list[Verdicts]:
    """The answers to scans that were joined, each by itself again."""
    ends = list(accumulate(lengths, initial=0))
    return [Verdicts(verdicts.independent[a:b], verdicts.log_support[a:b]) for a, b in pairwise(ends)]


def all_pairs(statistics: Statistics, kernel: Kernel) -> Iterator[tuple[range, FloatArray]]:
    """Every pair x < y given nothing, scored: in blocks where the statistics have them, for memory's sake."""
    blocks = getattr(statistics, "all_pairs_blocks", None)
    if blocks is not None:
        yield from blocks(kernel)
    else:
        yield range(len(statistics.cards) - 1), statistics.reduce_all(kernel)


class Growing(ABC):
    """What a test by one number does for whole blankets: it leaves them to its statistics, if these can grow."""

    statistics: Statistics
    _kernel: Kernel
    _level: float  # independent iff the support is above it

    @abstractmethod
    def scan_members(self, x: int, z: VarSet) -> Verdicts:
        """Every y in z, in ascending order, given the rest of z."""

    def scan_growing(
        self,
        x: int,
        ys: Indices,
        z: VarSet,
        *,
        to_first: bool = False,
        ahead: int = 1,
        known: Knowledge | None = None,
    ) -> Turns:
        """Each y in turn given z and the dependent ones before it, as many as the statistics answer at once."""
        grow = getattr(self.statistics, "grow", None)
        if grow is None:
            return _NO_TURNS
        turns: Turns = grow(self._kernel, self._level, x, ys, z, to_first=to_first, ahead=ahead, known=known)
        return turns

    def scan_shrinking(self, x: int, ys: Indices, z: VarSet, *, known: Knowledge | None = None) -> Turns:
        """Each y in turn, a member of z, given the rest of z without the independent ones before it; likewise.

        Statistics that cannot shrink give one table, for those up to the first that leaves it.
        """
        shrink = getattr(self.statistics, "shrink", None)
        turns: Turns = _NO_TURNS if shrink is None else shrink(self._kernel, self._level, x, ys, z, known=known)
        if turns.independent or not len(ys) or known is not None or len(z) > _LARGEST_TOGETHER:
            return turns
        members, order = self.scan_members(x, z), {v: k for k, v in enumerate(sorted(z))}
        places = [order[int(y)] for y in ys]
        leaving = np.flatnonzero(members.independent[places])
        used = places if not len(leaving) else places[: leaving[0] + 1]
        support, n, others = members.log_support[used].tolist(), len(used), len(z) - 1
        return Turns(members.independent[used].tolist(), support, [0] * n, n, n * (2 + others), others, n)

    def knowledge(self, *, mirrored: bool = False) -> Knowledge | None:
        """What rules may answer in these scans, if the statistics can reason."""
        make = getattr(self.statistics, "knowledge", None)
        known: Knowledge | None = None if make is None else make(mirrored=mirrored)
        return known

    def subsets(self) -> SubsetWalk | None:
        """Walks over sets that the statistics take by themselves, if they can."""
        make = getattr(self.statistics, "subsets", None)
        walk: SubsetWalk | None = None if make is None else make(self._kernel, self._level)
        return walk


class Explained(ABC):
    """The face our judges share: a single question and a scan are both read off the evidence."""

    @abstractmethod
    def evidence(self, x: int, ys: Indices, z: VarSet) -> Evidence:
        """The decision for each y, and the numbers behind it."""

    def __call__(self, x: int, y: int, z: VarSet) -> Verdict:
        """Is x independent of y given z?"""
        return self.scan(x, (y,), z).one(0)

    def scan(self, x: int, ys: Indices, z: VarSet) -> Verdicts:
        """The same for many y; the support is log p, or the log posterior of independence."""
        evidence = self.evidence(x, ys, z)
        support = evidence.log_p if evidence.log_p is not None else evidence.log_independent
        assert support is not None, "a test computes one of the two"
        return Verdicts(evidence.independent, support)
