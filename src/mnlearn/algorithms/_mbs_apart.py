"""Every blanket by itself, by the same stages: what Markov blanket search is compared with  [MBS09, Sec. 2.4]."""

from __future__ import annotations

from typing import Literal

import numpy as np

from mnlearn.algorithms._constraints import Constraints
from mnlearn.algorithms._gains import first_best, tolerance
from mnlearn.algorithms._mbs_search import Move, Regularized, outside
from mnlearn.algorithms._stopping import listen
from mnlearn.graphs.graph import Graph
from mnlearn.protocols import Monitor, VarSet


class ApartSearch:
    """Blankets that need not agree; a graph has what both ends want ("and") or what one end wants ("or")."""

    def __init__(
        self, score: Regularized, known: Constraints, *, combine: Literal["and", "or"], deletions: bool
    ) -> None:
        n = known.n_variables
        self.moves: list[Move] = []
        self.scored = 0
        self.score, self._combine, self._deletions = score, combine, deletions
        start = Graph(n, known.required)
        self._required = [start.neighbors(x) for x in range(n)]
        self._blankets: list[VarSet] = list(self._required)
        self._may = known.mask()
        self._worth = [score.local(x, blanket) for x, blanket in enumerate(self._blankets)]
        self._rounding = 3 * tolerance(self._worth)

    def graph(self) -> Graph:
        """The graph of the blankets as they are."""
        wanted = [(x, y) for x, blanket in enumerate(self._blankets) for y in blanket]
        if self._combine == "and":
            wanted = [(x, y) for x, y in wanted if x in self._blankets[y]]
        return Graph(len(self._blankets), wanted)

    def round(self, k: int, monitor: Monitor) -> bool:
        """One addition to each blanket that has less than k, then swaps; whether a later round can differ."""
        n, before = len(self._blankets), len(self.moves)
        for x in range(n):
            listen(monitor)
            monitor.progress(x, n, f"blankets of up to {k}: {len(self.moves)} moves")
            if len(self._blankets[x]) < k:
                self._take(x, None, k)
            for y in sorted(self._blankets[x] - self._required[x]):
                if self._take(x, y, k):
                    self._may[x, y] = False  # tabu from now on
            while self._deletions and self._delete(x, k):
                pass
        return len(self.moves) > before or max(map(len, self._blankets)) >= k

    def _take(self, x: int, leaving: int | None, k: int) -> bool:
        """Let the best one in, for the one that leaves if there is one."""
        rest = self._blankets[x] if leaving is None else self._blankets[x] - {leaving}
        ys = outside(x, self._blankets[x], len(self._blankets))
        ys = ys[self._may[x, ys]]
        values = self.score.additions([x], [rest], [ys])[0]
        self.scored += len(ys)
        best = first_best(values, self._worth[x], self._rounding)
        if best is None:
            return False
        self.moves.append(Move(k, x, int(ys[best]), leaving, float(values[best]) - self._worth[x]))
        self._blankets[x], self._worth[x] = rest | {int(ys[best])}, float(values[best])
        return True

    def _delete(self, x: int, k: int) -> bool:
        """Let the one go without whom x is worth most, if that is more than now."""
        members = sorted(self._blankets[x])
        if not members:
            return False
        stays = [y in self._required[x] for y in members]
        values = np.where(stays, -np.inf, self.score.removals([x], [self._blankets[x]])[0])
        self.scored += len(members)
        best = first_best(values, self._worth[x], self._rounding)
        if best is None:
            return False
        self.moves.append(Move(k, x, None, members[best], float(values[best]) - self._worth[x]))
        self._blankets[x], self._worth[x] = self._blankets[x] - {members[best]}, float(values[best])
        return True
