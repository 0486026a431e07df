"""The best blanket of each variable by a local score  [MPL17, Eq. 11; Algorithm 1].

Additions, each followed by deletions, for every variable by itself. `PhaseOne` asks any local score; `NativePhaseOne`
has the score climb by itself and only decides ties. Both give the same blankets, to the bit.

The best single flip among the eligible ones, while it improves  [MPL17, Eq. 13; Algorithm 2].

The log-ratio (Eq. 8) of every neighbouring graph is stored in a heap; a flip changes only those at its two ends.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from heapq import heapify, heappop, heappush
from math import fsum
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from mnlearn.algorithms.base import Association, Cancelled, Constraints, ScoreAssociation, check_cancelled
from mnlearn.errors import InputError
from mnlearn.graphs.candidates import Keys, VariableLists, edge_keys, graph_of_keys
from mnlearn.graphs.graph import Edge, Graph
from mnlearn.numbers import NOT_A_NUMBER, first_best, preferred, tolerance
from mnlearn.protocols import FloatArray, LocalScore, Monitor, ScoredGraph, SearchableScore, VarSet
from mnlearn.protocols.judges import DONE, TIED_JOINING, ClimbLimits, EdgeFlips, LocalClimbs

_BLOCK = 1 << 22  # candidates scored at once: 32 MiB
_CLIMBED_TOGETHER = 1 << 13  # variables climbed between two looks at the monitor


class BlanketPhase(ABC):
    """Blankets of all variables, climbed among partners; members are kept in the order in which they joined."""

    def __init__(self, score: LocalScore, known: Constraints, alone: Iterable[float], max_blanket: int | None) -> None:
        self.rounds, self._scored, self._score = 0, 0, score
        self.rounding, self.association = tolerance(alone), ScoreAssociation(score)
        self._n = known.n_variables
        self._limit = self._n - 1 if max_blanket is None else max_blanket
        self._required = neighbors_of(known.required)

    @property
    @abstractmethod
    def lists(self) -> VariableLists:
        """The blanket of each variable, its members in the order in which they joined."""

    @abstractmethod
    def climb_among(
        self, xs: NDArray[np.int32], partners: VariableLists, monitor: Monitor, *, most: int | None = None
    ) -> None:
        """Climb each x to its local optimum among its partners; no partner is forbidden.

        `most` is the limit of this climb, where it is below that of the search. Raises if the monitor cancels.
        """

    @property
    def scored(self) -> int:
        """Number of local scores computed, those that decide ties included."""
        return self._scored + self.association.scored

    def best_addition(self, x: int, ys: NDArray[np.int32], values: FloatArray, now: float) -> int | None:
        """Return the place of the best addition to the blanket of x; None if none improves."""
        return first_best(values, now, self.rounding, *self.association.joining(x, ys))

    def best_removal(self, x: int, members: Sequence[int], removed: FloatArray, now: float) -> tuple[int | None, float]:
        """Return the place of the best deletion, None if none improves, and its score; required members stay."""
        fixed = [y in self._required.get(x, ()) for y in members]
        values = np.where(fixed, -np.inf, removed)
        best = first_best(values, now, self.rounding, *self.association.leaving(x, members))
        return best, now if best is None else float(values[best])


class PhaseOne(BlanketPhase):
    """Climb by any local score.

    All variables take their next step together, so that a block of them is one batch; no blanket depends on another.
    """

    def __init__(self, score: LocalScore, known: Constraints, start: Graph, max_blanket: int | None) -> None:
        n = known.n_variables
        alone = [score.local(x, frozenset()) for x in range(n)]
        super().__init__(score, known, alone, max_blanket)
        self.blankets: list[VarSet] = [start.neighbors(x) for x in range(n)]
        self._joined = [sorted(blanket) for blanket in self.blankets]
        self._forbidden = neighbors_of(known.forbidden)
        self._given = {x for x, blanket in enumerate(self.blankets) if blanket}  # deletions come first
        self._scores = [score.local(x, blanket) if blanket else alone[x] for x, blanket in enumerate(self.blankets)]
        self._variables, self._all = np.arange(n, dtype=np.int32), np.ones(n, dtype=np.bool_)

    @property
    def lists(self) -> VariableLists:
        """The blanket of each variable, its members in the order in which they joined."""
        return VariableLists.of(self._joined)

    def climb(self, monitor: Monitor) -> bool:
        """Climb all variables among all others; return False if the monitor stops it before."""
        try:
            self.climb_among(np.arange(self._n, dtype=np.int32), None, monitor)
        except Cancelled:
            return False
        return True

    def climb_among(
        self, xs: NDArray[np.int32], partners: VariableLists | None, monitor: Monitor, *, most: int | None = None
    ) -> None:
        """Climb each x to its local optimum among its partners, None for all others."""
        growing, limit = xs.tolist(), self._limit if most is None else min(most, self._limit)
        self._shrink([x for x in growing if x in self._given], monitor)
        self._given.difference_update(growing)
        while growing:
            growing = self._grow_all(growing, partners, limit, monitor)
            # A single member has just improved the score: it stays.
            self._shrink([x for x in growing if len(self.blankets[x]) > 1], monitor)

    def _grow_all(self, xs: Sequence[int], partners: VariableLists | None, limit: int, monitor: Monitor) -> list[int]:
        """Add to each of these blankets, in blocks that bound the memory; return those that grew."""
        grown = list[int]()
        room = [x for x in xs if len(self.blankets[x]) < limit]
        widest = self._n if partners is None else int(partners.sizes.max(initial=1))
        size = max(1, _BLOCK // max(1, widest))
        for k in range(0, len(room), size):
            check_cancelled(monitor)
            monitor.progress(self._n - len(xs), self._n, f"blankets: round {self.rounds + 1}")
            grown += self._grow(room[k : k + size], partners)
        self.rounds += 1
        return grown

    def _grow(self, xs: Sequence[int], partners: VariableLists | None) -> list[int]:
        """Make the best addition to each of these blankets; return those that grew."""
        yss = [self._candidates(x, partners) for x in xs]
        grown = []
        for x, ys, values in zip(xs, yss, self._score.additions(xs, self._of(xs), yss), strict=True):
            best = self.best_addition(x, ys, values, self._scores[x])
            if best is not None:
                self.blankets[x] |= {int(ys[best])}
                self._joined[x].append(int(ys[best]))
                self._scores[x] = float(values[best])
                grown.append(x)
        self._scored += sum(map(len, yss))
        return grown

    def _shrink(self, xs: Sequence[int], monitor: Monitor) -> None:
        """Make the best deletions from each of these blankets, until none improves."""
        while xs:
            check_cancelled(monitor)
            shrunk = []
            for x, removed in zip(xs, self._score.removals(xs, self._of(xs)), strict=True):
                members = sorted(self.blankets[x])
                best, self._scores[x] = self.best_removal(x, members, removed, self._scores[x])
                if best is not None:
                    self.blankets[x] -= {members[best]}
                    self._joined[x].remove(members[best])
                    shrunk.append(x)
                self._scored += len(members)
            xs = [x for x in shrunk if self.blankets[x]]

    def _candidates(self, x: int, partners: VariableLists | None) -> NDArray[np.int32]:
        """Return the variables that may join the blanket of x, in ascending order."""
        if partners is not None:
            listed = partners.at(x)
            return listed[~np.isin(listed, list(self.blankets[x]))]
        free = self._all.copy()
        free[[x, *self.blankets[x], *self._forbidden.get(x, ())]] = False
        return self._variables[free]

    def _of(self, xs: Sequence[int]) -> list[VarSet]:
        return [self.blankets[x] for x in xs]


class NativePhaseOne(BlanketPhase):
    """Climb by a score that climbs by itself, thousands of variables in one call.

    A climb stops where several moves tie. The tie is decided here, by association, and the climb continues.
    """

    def __init__(
        self, score: LocalScore, climbs: LocalClimbs, known: Constraints, start: Graph, max_blanket: int | None
    ) -> None:
        n = known.n_variables
        everyone = np.arange(n, dtype=np.int32)
        alone = climbs.locals(everyone, VariableLists.of_sizes(np.zeros(n, dtype=np.int64), everyone[:0]))
        super().__init__(score, known, [float(np.abs(alone).max(initial=0.0))], max_blanket)
        self._climbs, self._blankets, self._scores = climbs, VariableLists.of([()] * n), alone
        if start.n_edges:
            self._blankets = VariableLists.of([sorted(start.neighbors(x)) for x in range(n)])
            self._scores = climbs.locals(everyone, self._blankets)
        self._leaving = (self._blankets.sizes > 0).astype(np.int8)  # of a given start: deletions come first
        required = [(x, y) for x, ys in self._required.items() for y in ys]
        self._fixed = np.sort(np.array([x * n + y for x, y in required], dtype=np.int64))

    @property
    def lists(self) -> VariableLists:
        """The blanket of each variable, its members in the order in which they joined."""
        return self._blankets

    def climb_among(
        self, xs: NDArray[np.int32], partners: VariableLists, monitor: Monitor, *, most: int | None = None
    ) -> None:
        """Climb each x to its local optimum among its partners."""
        limits = ClimbLimits(self._fixed, self._limit if most is None else min(most, self._limit), self.rounding)
        rounds = np.zeros(self._n, dtype=np.int64)
        for first in range(0, len(xs), _CLIMBED_TOGETHER):
            check_cancelled(monitor)
            monitor.progress(first, len(xs), f"blankets: round {self.rounds + 1}")
            pending = xs[first : first + _CLIMBED_TOGETHER]
            while len(pending):
                states = self._climb(pending, partners, limits, rounds)
                pending = pending[states != DONE]
                for x, state in zip(pending.tolist(), states[states != DONE].tolist(), strict=True):
                    self._decide(x, partners.at(x), state, rounds)
        self.rounds += int(rounds.max(initial=0))

    def _climb(
        self, xs: NDArray[np.int32], lists: VariableLists, limits: ClimbLimits, rounds: NDArray[np.int64]
    ) -> NDArray[np.int8]:
        """Climb to the optimum or the next tie; return the state of each climb."""
        found = self._climbs.climb(
            xs,
            self._blankets.chosen(xs),
            scores=self._scores[xs],
            leaving=self._leaving[xs],
            partners=lists,
            limits=limits,
        )
        self._blankets = self._blankets.replaced(xs, found.blankets)
        self._scores[xs], self._leaving[xs] = found.scores, 0
        rounds[xs] += found.rounds
        self._scored += found.scored
        return found.states

    def _decide(self, x: int, partners: NDArray[np.int32], state: int, rounds: NDArray[np.int64]) -> None:
        """Make the move that a tie leaves open, as `PhaseOne` would."""
        joined = self._blankets.at(x).tolist()
        blanket, members, now = frozenset(joined), sorted(joined), float(self._scores[x])
        if state == TIED_JOINING:
            ys = partners[~np.isin(partners, members)]
            values = self._score.additions([x], [blanket], [ys])[0]
            best = self.best_addition(x, ys, values, now)
            self._scored, rounds[x] = self._scored + len(ys), rounds[x] + 1
            joined += [] if best is None else [int(ys[best])]
            self._leaving[x] = len(joined) > 1
            now = now if best is None else float(values[best])
        else:
            place, now = self.best_removal(x, members, self._score.removals([x], [blanket])[0], now)
            self._scored += len(members)
            joined = [y for y in joined if place is None or y != members[place]]
            self._leaving[x] = bool(joined)
        self._scores[x] = now
        self._blankets = self._blankets.replaced(np.array([x], dtype=np.int32), VariableLists.of([joined]))


def neighbors_of(edges: Iterable[Edge]) -> dict[int, set[int]]:
    """Return the neighbours of each variable that has any."""
    ends: dict[int, set[int]] = {}
    for u, v in edges:
        ends.setdefault(u, set()).add(v)
        ends.setdefault(v, set()).add(u)
    return ends


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
        except Cancelled:
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
        except Cancelled:
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
