"""One run of Markov blanket search: blankets that agree at every moment, and what each pair of them would gain."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import fsum
from typing import Literal, cast

import numpy as np
from numpy.typing import NDArray

from mnlearn.algorithms._search import Constraints, check_cancelled, first_best, tolerance
from mnlearn.graphs.graph import Edge, Graph
from mnlearn.protocols import FloatArray, Indices, LocalScore, Monitor, Move, VarSet

_BLOCK = 1 << 22  # gains asked for at once: 32 MiB of answers
Exchanges = Callable[[int, VarSet, Indices], Sequence[FloatArray]]


class Regularized:
    """What each variable is worth, less λ log |M|: the paper's −S(X | M) for any local score  [MBS09, Sec. 2.4].

    An empty blanket costs nothing, as one of a single neighbour does.
    """

    def __init__(self, judge: LocalScore, regularization: float) -> None:
        self.judge, self.n_variables = judge, judge.n_variables
        self._price = regularization * np.log(np.maximum(np.arange(judge.n_variables + 1), 1))
        self._exchanges = cast(Exchanges | None, getattr(judge, "exchanges", None))

    def __call__(self, graph: Graph) -> float:
        """−Σ S of a whole graph."""
        return self.judge(graph) - fsum(self._price[graph.degrees()])

    def local(self, x: int, blanket: VarSet) -> float:
        """−S(x | blanket)."""
        return self.judge.local(x, blanket) - float(self._price[len(blanket)])

    def additions(self, xs: Indices, blankets: Sequence[VarSet], yss: Sequence[Indices]) -> list[FloatArray]:
        """The same with one more neighbour, each y in turn."""
        found = self.judge.additions(xs, blankets, yss)
        return [values - self._price[len(blanket) + 1] for values, blanket in zip(found, blankets, strict=True)]

    def removals(self, xs: Indices, blankets: Sequence[VarSet]) -> list[FloatArray]:
        """The same with one neighbour less, each in turn in ascending order."""
        found = self.judge.removals(xs, blankets)
        return [values - self._price[len(blanket) - 1] for values, blanket in zip(found, blankets, strict=True)]

    def exchanges(self, x: int, blanket: VarSet, ys: Indices) -> list[FloatArray]:
        """The same with y for a member: a row of all y for each member in ascending order."""
        if self._exchanges is not None:
            found = self._exchanges(x, blanket, ys)
        else:
            rest = [blanket - {member} for member in sorted(blanket)]
            found = self.judge.additions([x] * len(rest), rest, [ys] * len(rest))
        return [values - self._price[len(blanket)] for values in found]


class ConsistentSearch:
    """The blankets as they are, symmetric after every move, and the gain of each pair from either end.

    `half[x, y]` is by how much x would gain if y joined its blanket; a pair gains half[x, y] + half[y, x]  [Eq. 6]. A
    move changes two or three blankets, so two or three rows of it.
    """

    def __init__(self, score: Regularized, known: Constraints, *, k_hard: int, deletions: bool) -> None:
        n = known.n_variables
        self.moves: list[Move] = []
        self.scored = 0
        self.score, self._k_hard = score, k_hard
        self._stages = (self._add, self._swap, self._delete) if deletions else (self._add, self._swap)
        start = Graph(n, known.required)
        self._blankets: list[VarSet] = [start.neighbors(x) for x in range(n)]
        self._sizes = start.degrees()
        self._required = frozenset(known.required)
        self._may = known.mask()  # [x, y]: whether a move of x may take y in; not what is tabu to x, nor a fixed pair
        self._worth = [score.local(x, blanket) for x, blanket in enumerate(self._blankets)]
        self._rounding = 3 * tolerance(self._worth)
        self._half: FloatArray = np.empty((0, 0))
        self._removed: dict[int, dict[int, float]] = {}  # [x][y]: what x would be worth without its neighbour y

    def graph(self) -> Graph:
        """The graph that the blankets agree on."""
        return Graph(
            len(self._blankets), ((x, y) for x, blanket in enumerate(self._blankets) for y in blanket if x < y)
        )

    def round(self, k: int, monitor: Monitor) -> bool:
        """The stages of round k, one after the other; whether a later round can differ from doing nothing."""
        n, before = len(self._blankets), len(self.moves)
        if not self._half.size:
            self._begin(monitor)
        for done, stage in enumerate(self._stages):
            for x in range(n):
                check_cancelled(monitor)
                monitor.progress(done * n + x, len(self._stages) * n, f"blankets of up to {k}: {len(self.moves)} moves")
                stage(x, k)
        return len(self.moves) > before or int(self._sizes.max()) >= k

    def _add(self, x: int, k: int) -> None:
        """The best new neighbour of x, if the two gain by it and both have room."""
        if self._sizes[x] >= k:
            return
        half = self._half
        gains = np.where(self._may[x] & (self._sizes < k), half[x] + half[:, x], -np.inf)
        best = first_best(gains, 0.0, self._rounding)
        if best is not None:
            self._worth[x] += half[x, best]
            self._worth[best] += half[best, x]
            self._join(x, best)
            self._made(Move(k, x, best, None, float(gains[best])))

    def _swap(self, x: int, k: int) -> None:
        """For each neighbour of x: the one that had better be in its place, the change of all three counted."""
        waiting = [y for y in sorted(self._blankets[x]) if _edge(x, y) not in self._required]
        while waiting:
            members = sorted(self._blankets[x])
            open_to = self._may[x] & (self._sizes < self._k_hard)
            open_to[members] = False
            ys = np.flatnonzero(open_to)
            instead = self.score.exchanges(x, self._blankets[x], ys)
            self.scored += len(ys) * len(members)
            swapped = False
            while waiting and not swapped:
                y = waiting.pop(0)
                swapped = self._swap_out(x, y, ys, instead[members.index(y)], k=k)

    def _swap_out(self, x: int, y: int, ys: NDArray[np.int64], instead: FloatArray, *, k: int) -> bool:
        """Exchange the neighbour y of x for the best of ys, if the three gain by it; y is tabu to x from then on."""
        without = self._without(y)[x]
        gains = (instead - self._worth[x]) + (without - self._worth[y]) + self._half[ys, x]
        best = first_best(gains, 0.0, self._rounding)
        if best is None:
            return False
        q = int(ys[best])
        self._worth[x], self._worth[y] = float(instead[best]), without
        self._worth[q] += self._half[q, x]
        self._part(x, y)
        self._may[x, y] = False
        self._join(x, q)
        self._made(Move(k, x, q, y, float(gains[best])))
        return True

    def _delete(self, x: int, k: int) -> None:
        """Let neighbours of x go without whom it and they are worth more, the worst first. Not in the paper."""
        while members := [y for y in sorted(self._blankets[x]) if _edge(x, y) not in self._required]:
            alone, others = self._without(x), [self._without(y)[x] for y in members]
            gains = np.array(
                [(alone[y] - self._worth[x]) + (w - self._worth[y]) for y, w in zip(members, others, strict=True)]
            )
            best = first_best(gains, 0.0, self._rounding)
            if best is None:
                return
            y = members[best]
            self._worth[x], self._worth[y] = alone[y], others[best]
            self._part(x, y)
            self._made(Move(k, x, None, y, float(gains[best])))

    def _join(self, x: int, y: int) -> None:
        for one, other in ((x, y), (y, x)):
            self._blankets[one] |= {other}
            self._removed.pop(one, None)
            self._sizes[one] += 1

    def _part(self, x: int, y: int) -> None:
        for one, other in ((x, y), (y, x)):
            self._blankets[one] -= {other}
            self._removed.pop(one, None)
            self._sizes[one] -= 1

    def _without(self, x: int) -> dict[int, float]:
        """What x would be worth without each of its neighbours; remembered until its blanket changes."""
        if x not in self._removed:
            values = self.score.removals([x], [self._blankets[x]])[0]
            self._removed[x] = dict(zip(sorted(self._blankets[x]), values.tolist(), strict=True))
            self.scored += len(values)
        return self._removed[x]

    def _made(self, move: Move) -> None:
        """Note the move, and ask again what its variables would gain."""
        self.moves.append(move)
        self._ask([x for x in (move.x, move.added, move.removed) if x is not None])

    def _begin(self, monitor: Monitor) -> None:
        """Ask for the gains of all pairs from either end, block by block."""
        n = len(self._blankets)
        self._half = np.full((n, n), -np.inf)
        step = max(1, _BLOCK // n)
        for first in range(0, n, step):
            check_cancelled(monitor)
            self._ask(range(first, min(first + step, n)))

    def _ask(self, xs: Sequence[int]) -> None:
        """The gains of these variables by every new neighbour."""
        half, blankets = self._half, [self._blankets[x] for x in xs]
        yss = [outside(x, blanket, len(half)) for x, blanket in zip(xs, blankets, strict=True)]
        for x, ys, values in zip(xs, yss, self.score.additions(xs, blankets, yss), strict=True):
            half[x] = -np.inf
            half[x, ys] = values - self._worth[x]
            self.scored += len(ys)


def outside(x: int, blanket: VarSet, n_variables: int) -> NDArray[np.int64]:
    """Everyone but x and its blanket, in ascending order."""
    free = np.ones(n_variables, dtype=np.bool_)
    free[[x, *blanket]] = False
    return np.flatnonzero(free)


def _edge(x: int, y: int) -> Edge:
    return (x, y) if x < y else (y, x)


# Every blanket by itself, by the same stages: what Markov blanket search is compared with  [MBS09, Sec. 2.4].


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
            check_cancelled(monitor)
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
