"""Climbs by a local score in the native core: whole blankets and flips of edges, for many variables in one call."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from mnlearn import _core
from mnlearn._ties import ABSOLUTE, RELATIVE
from mnlearn.graphs.variable_lists import VariableLists
from mnlearn.protocols import FloatArray
from mnlearn.protocols.climbs import Climbed, ClimbLimits, EdgeFlips


class NativeClimbs:
    """`LocalClimbs` of a kernel of counts; made by `Counts.local_climbs`."""

    def __init__(self, score: _core.LocalScore) -> None:
        self._score = score

    def locals(self, xs: NDArray[np.int32], blankets: VariableLists) -> FloatArray:
        """Return the score of each x with its blanket."""
        return self._score.locals(xs, blankets.starts, blankets.members)

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
        start = (xs, blankets.starts, blankets.members, scores, leaving)
        rules = (limits.required, limits.most, limits.rounding)
        found = self._score.climb(*start, partners.starts, partners.members, *rules)
        starts, members, values, states, rounds, scored = found
        return Climbed(VariableLists(starts, members), values, states, rounds, scored)

    def strongest(
        self, xs: NDArray[np.int32], blankets: VariableLists, k: int, *, ys: VariableLists | None = None
    ) -> VariableLists:
        """Return the k variables that improve the blanket of each x most, among all or its ys; none that do not.

        Ranked by score, then by index. `ys` holds those that a filter has left, ascending.
        """
        now = self.locals(xs, blankets)
        bars = now + np.maximum(ABSOLUTE, RELATIVE * np.abs(now))
        among = () if ys is None else (ys.starts, ys.members)
        starts, members, _ = self._score.strongest(xs, blankets.starts, blankets.members, bars, k, *among)
        return VariableLists(starts, members)

    def removal_gains(self, us: NDArray[np.int32], vs: NDArray[np.int32], scores: FloatArray) -> FloatArray:
        """Return the change of the score without each edge u < v of a graph, in lexicographic order."""
        return self._score.removal_gains(us, vs, scores)

    def flips(self, graph: NDArray[np.int32], eligible: NDArray[np.int32], *, most: int, rounding: float) -> EdgeFlips:
        """Return the flips of the eligible pairs from a graph: arrays of two rows, u < v, in lexicographic order."""
        return _core.EdgeFlips(self._score, graph[0], graph[1], eligible[0], eligible[1], most, rounding)
