"""The best single flip among the eligible ones, while it improves  [MPL17, Eq. 13; Algorithm 2].

The log-ratio (Eq. 8) of every neighbouring graph is stored in a heap; a flip changes only those at its two ends.
"""

from __future__ import annotations

from collections.abc import Sequence
from heapq import heapify, heappop, heappush
from math import fsum
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from mnlearn._ties import NOT_A_NUMBER, preferred
from mnlearn.algorithms._association import Association
from mnlearn.algorithms.base import STOPPED, check_cancelled
from mnlearn.errors import InputError
from mnlearn.graphs.candidates import Keys
from mnlearn.graphs.graph import Edge, Graph
from mnlearn.graphs.variable_lists import edge_keys, graph_of_keys
from mnlearn.protocols import FloatArray, Monitor, ScoredGraph, SearchableScore
from mnlearn.protocols.climbs import EdgeFlips, LocalClimbs

_NONE = np.empty(0, dtype=np.int64)
_FLIPPED_TOGETHER = 1000  # flips between two looks at the monitor


class PhaseTwo:
    """Flips of the eligible pairs by the gains of a scored graph."""

    def __init__(
        self, scored: ScoredGraph, eligible: Sequence[Edge], max_blanket: int | None, ties: tuple[Association, float]
    ) -> None:
        self.made, self.scored = 0, 0
        self._graph, self._edges, self._limit = scored, eligible, max_blanket
        self._association, self._rounding = ties
        graph = scored.graph
        self._degrees = graph.degrees()
        self._absent = np.fromiter((edge not in graph for edge in eligible), dtype=np.bool_, count=len(eligible))
        self._place = {edge: place for place, edge in enumerate(eligible)}
        self._at: dict[int, list[int]] = {}  # the places of the pairs of a variable in the list
        for place, edge in enumerate(eligible):
            for x in edge:
                self._at.setdefault(x, []).append(place)
        self._gains = np.full(len(eligible), -np.inf)
        self._heap: list[tuple[float, int]] = []  # (−gain, place); outdated where it is no longer the gain

    def __contains__(self, edge: Edge) -> bool:
        return not self._absent[self._place[edge]]

    def degree(self, x: int) -> int:
        """Return the number of neighbours of x in the current graph."""
        return int(self._degrees[x])

    def climb(self, monitor: Monitor) -> bool:
        """Climb to the local optimum; return False if the monitor stops it before."""
        ties = self._association.flipping(self._edges.__getitem__, lambda: self)
        try:
            check_cancelled(monitor)
            self._update(range(len(self._edges)))
            while len(best := self._best()):
                place = int(best[0]) if len(best) == 1 else preferred(best, *ties, rounding=self._rounding)
                stale = self._flip(place)
                monitor.progress(self.made, None, f"graph: {self.made} flips")
                check_cancelled(monitor)
                self._update(stale)
        except STOPPED:
            return False
        return True

    def _best(self) -> NDArray[np.intp]:
        """Return the places within rounding of the largest gain, ascending; none if it does not improve."""
        heap, gains, bar = self._heap, self._gains, self._rounding
        best: set[int] = set()
        while heap and -heap[0][0] >= bar:
            gain, place = -heap[0][0], heap[0][1]
            if gains[place] == gain:
                if not best:
                    if not gain > self._rounding:
                        break
                    bar = max(gain - self._rounding, self._rounding)
                best.add(place)
            heappop(heap)
        for place in best:
            heappush(heap, (-float(gains[place]), place))
        return np.array(sorted(best), dtype=np.intp)

    def _flip(self, place: int) -> list[int]:
        """Make the flip; return the places of the log-ratios that it changes."""
        changed = self._graph.flip(self._edges[place])
        self._degrees[list(self._edges[place])] += 1 if self._absent[place] else -1
        self._absent[place] = not self._absent[place]
        self.made += 1
        return sorted({place for x in (self._at if changed is None else changed) for place in self._at.get(x, ())})

    def _update(self, places: Sequence[int]) -> None:
        """Compute the log-ratios of these flips; minus infinity where a blanket is full."""
        self.scored += len(places)
        edges = [self._edges[place] for place in places]
        gains: FloatArray = self._graph.gains(edges)
        if np.isnan(gains).any():
            raise InputError(NOT_A_NUMBER)
        if self._limit is not None and edges:
            full = (self._degrees[np.array(edges)] >= self._limit).any(axis=1)
            gains[full & self._absent[np.asarray(places)]] = -np.inf
        self._gains[np.asarray(places, dtype=np.intp)] = gains
        found = zip(gains.tolist(), places, strict=True)
        entries = [(-gain, place) for gain, place in found if gain >= self._rounding]
        if len(entries) > len(self._heap):
            self._heap += entries
            heapify(self._heap)
        else:
            for entry in entries:
                heappush(self._heap, entry)


class NativePhaseTwo:
    """Flips by a score that climbs by itself; only ties are decided here."""

    def __init__(self, flips: EdgeFlips, eligible: NDArray[np.int32], ties: tuple[Association, float]) -> None:
        self._flips, self._eligible = flips, eligible
        self._association, self._rounding = ties

    @property
    def made(self) -> int:
        """Number of flips made."""
        return self._flips.made

    @property
    def scored(self) -> int:
        """Number of gains computed."""
        return self._flips.scored

    def __contains__(self, edge: Edge) -> bool:
        first, last = (int(np.searchsorted(self._eligible[0], edge[0], side)) for side in ("left", "right"))
        return self._flips.present(first + int(np.searchsorted(self._eligible[1][first:last], edge[1])))

    def degree(self, x: int) -> int:
        """Return the number of neighbours of x in the current graph."""
        return self._flips.degree(x)

    def climb(self, monitor: Monitor) -> bool:
        """Climb to the local optimum; return False if the monitor stops it before."""
        ties = self._association.flipping(self._pair_at, lambda: self)
        try:
            check_cancelled(monitor)
            while not self._flips.done:
                tied = self._flips.run(_FLIPPED_TOGETHER).astype(np.intp)
                if len(tied):
                    self._flips.flip(preferred(tied, *ties, rounding=self._rounding))
                monitor.progress(self.made, None, f"graph: {self.made} flips")
                check_cancelled(monitor)
        except STOPPED:
            return False
        return True

    def _pair_at(self, place: int) -> Edge:
        return int(self._eligible[0][place]), int(self._eligible[1][place])


class Combined(NamedTuple):
    """Graph of phase 2, or of a rule that needs none, with its score."""

    graph: Graph
    score: float
    support: dict[Edge, float]  # log K of each edge, present against absent: the loss of score without it  [Eq. 9]
    converged: bool = True
    scored: int = 0  # gains computed
    made: int = 0  # flips


class FlipRules(NamedTuple):
    """Pairs that may be flipped, u n + v ascending, and the rules of the flips."""

    eligible: Keys | None  # None: no flips
    max_blanket: int | None
    ties: tuple[Association, float]


def flip_edges(judge: SearchableScore, first: Graph, rules: FlipRules, monitor: Monitor) -> Combined:
    """Climb from a graph by flips of the eligible pairs; with none, return the graph with its score."""
    n, scored, keys = first.n_variables, judge.on(first), _NONE if rules.eligible is None else rules.eligible
    pairs = zip((keys // n).tolist(), (keys % n).tolist(), strict=True)
    flips = PhaseTwo(scored, list(pairs), rules.max_blanket, rules.ties)
    converged = rules.eligible is None or flips.climb(monitor)
    edges = scored.graph.edges
    support = dict(zip(edges, (-scored.gains(edges)).tolist(), strict=True))
    return Combined(scored.graph, scored.value, support, converged, flips.scored, flips.made)


def flip_edges_natively(climbs: LocalClimbs, first: Graph, rules: FlipRules, monitor: Monitor) -> Combined:
    """Climb as `flip_edges` does, to the bit, by a score that climbs by itself."""
    n, limit = first.n_variables, rules.max_blanket
    eligible = _ends(n, _NONE if rules.eligible is None else rules.eligible)
    flips = climbs.flips(
        _ends(n, edge_keys(first)), eligible, most=n if limit is None else limit, rounding=rules.ties[1]
    )
    search = NativePhaseTwo(flips, eligible, rules.ties)
    converged = rules.eligible is None or search.climb(monitor)
    us, vs = flips.edges()
    graph = graph_of_keys(n, us.astype(np.int64) * n + vs)
    losses = -climbs.removal_gains(us, vs, flips.scores())
    support = dict(zip(graph.edges, losses.tolist(), strict=True))
    return Combined(graph, fsum(flips.scores().tolist()), support, converged, search.scored, search.made)


def _ends(n_variables: int, keys: Keys) -> NDArray[np.int32]:
    """Return both ends of each pair: two rows."""
    return np.stack([keys // n_variables, keys % n_variables]).astype(np.int32)
