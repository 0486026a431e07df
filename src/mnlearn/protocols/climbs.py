"""Climbs by a local score for many variables in one call; searches use them where a score offers them."""

from __future__ import annotations

from typing import NamedTuple, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from mnlearn.graphs.variable_lists import VariableLists
from mnlearn.protocols.statistics import FloatArray

DONE, TIED_JOINING, TIED_LEAVING = 0, 1, 2
"""States of a climb. A tie stops it: the caller decides it and continues."""


class Climbed(NamedTuple):
    """Blankets after a climb, one entry for each variable that was climbed."""

    blankets: VariableLists  # in the order in which the members joined
    scores: FloatArray
    states: NDArray[np.int8]
    rounds: NDArray[np.int32]  # additions tried
    scored: int  # number of local scores computed


class ClimbLimits(NamedTuple):
    """Rules of a climb."""

    required: NDArray[np.int64]  # x n + y of members that stay, ascending, from both ends
    most: int  # members of a blanket
    rounding: float  # a difference of scores up to this is a tie


class EdgeFlips(Protocol):
    """Graph with its score, and the gains of flipping some pairs. Mutable."""

    @property
    def done(self) -> bool:
        """Whether no flip improves."""
        ...

    @property
    def made(self) -> int:
        """Number of flips made."""
        ...

    @property
    def scored(self) -> int:
        """Number of gains computed."""
        ...

    def run(self, most: int) -> NDArray[np.int32]:
        """Make at most so many flips; return the places of the best ones where several tie."""
        ...

    def flip(self, place: int) -> None: ...
    def present(self, place: int) -> bool: ...
    def degree(self, x: int) -> int: ...
    def edges(self) -> tuple[NDArray[np.int32], NDArray[np.int32]]: ...
    def scores(self) -> FloatArray:
        """Return the local score of each variable."""
        ...


class LocalClimbs(Protocol):
    """Climbs by one local score; its numbers are those of `LocalScore`, to the bit."""

    def locals(self, xs: NDArray[np.int32], blankets: VariableLists) -> FloatArray:
        """Return the score of each x with its blanket."""
        ...

    def climb(
        self,
        xs: NDArray[np.int32],
        blankets: VariableLists,
        *,
        scores: FloatArray,
        leaving: NDArray[np.int8],
        partners: VariableLists,
        limits: ClimbLimits,
    ) -> Climbed:
        """Climb from each blanket among the partners of x; where `leaving`, with deletions first."""
        ...

    def strongest(
        self, xs: NDArray[np.int32], blankets: VariableLists, k: int, *, ys: VariableLists | None = None
    ) -> VariableLists:
        """Return the k variables that improve the blanket of each x most, among all or its ys; none that do not."""
        ...

    def removal_gains(self, us: NDArray[np.int32], vs: NDArray[np.int32], scores: FloatArray) -> FloatArray:
        """Return the change of the score without each edge u < v of a graph, in lexicographic order."""
        ...

    def flips(self, graph: NDArray[np.int32], eligible: NDArray[np.int32], *, most: int, rounding: float) -> EdgeFlips:
        """Return the flips of the eligible pairs from a graph: arrays of two rows, u < v, in lexicographic order."""
        ...


@runtime_checkable
class ClimbingScore(Protocol):
    """Local score that climbs by itself."""

    def climbs(self) -> LocalClimbs | None:
        """Return the climbs by this score; None where its settings or statistics have none."""
        ...
