"""The best blanket of each variable by a local score  [MPL17, Eq. 11; Algorithm 1].

Additions, each followed by deletions, for every variable by itself. `PhaseOne` asks any local score; `NativePhaseOne`
has the score climb by itself and only decides ties. Both give the same blankets, to the bit.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from mnlearn._ties import first_best, tolerance
from mnlearn.algorithms._association import ScoreAssociation
from mnlearn.algorithms.base import STOPPED, Constraints, check_cancelled
from mnlearn.graphs.graph import Edge, Graph
from mnlearn.graphs.variable_lists import VariableLists
from mnlearn.protocols import FloatArray, LocalScore, Monitor, VarSet
from mnlearn.protocols.climbs import DONE, TIED_JOINING, ClimbLimits, LocalClimbs

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
        except STOPPED:
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
