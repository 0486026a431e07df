"""What every judge does alike: check its level, ask one pair as a scan of one."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable
from itertools import accumulate, pairwise
from math import log
from typing import Protocol

import numpy as np

from mnlearn.errors import InputError, UnsuitableError
from mnlearn.protocols import BatchedTest, Evidence, Indices, Kernel, Statistics, VarSet, Verdict, Verdicts

_LARGEST_TOGETHER = 12  # a larger blanket has about as many configurations as rows: one table for all saves nothing


def log_level(alpha: float) -> float:
    """log(alpha), after checking that it is a level."""
    try:
        sound = 0.0 < alpha < 1.0
    except TypeError:
        sound = False
    if not sound:
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


class SortingTest(BatchedTest, Protocol):
    """A test that decides by one number: independent iff the support is above a level."""

    @property
    def statistics(self) -> Statistics: ...
    @property
    def _kernel(self) -> Kernel: ...


def grown(judge: SortingTest, level: float, x: int, ys: Indices, z: VarSet, *, to_first: bool) -> Verdicts:
    """`scan_growing`, by statistics that can grow; nothing by others."""
    grow = getattr(judge.statistics, "grow", None)
    support = np.zeros(0) if grow is None else grow(judge._kernel, level, x, ys, z, to_first=to_first)
    return Verdicts(support > level, support)


def shrunk(judge: SortingTest, level: float, x: int, ys: Indices, z: VarSet) -> Verdicts:
    """`scan_shrinking`: by statistics that can shrink; else from one table, up to the first that leaves it."""
    shrink = getattr(judge.statistics, "shrink", None)
    support = np.zeros(0) if shrink is None else shrink(judge._kernel, level, x, ys, z)
    if len(support) or len(z) > _LARGEST_TOGETHER:
        return Verdicts(support > level, support)
    members, order = judge.scan_members(x, z), {v: k for k, v in enumerate(sorted(z))}
    places = [order[int(y)] for y in ys]
    leaving = np.flatnonzero(members.independent[places])
    used = places if not len(leaving) else places[: leaving[0] + 1]
    return Verdicts(members.independent[used], members.log_support[used])


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
