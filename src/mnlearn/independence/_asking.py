"""What every judge does alike: check its level, ask one pair as a scan of one."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable
from itertools import accumulate, pairwise
from math import log

from mnlearn.errors import InputError, UnsuitableError
from mnlearn.protocols import Evidence, Indices, VarSet, Verdict, Verdicts


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
