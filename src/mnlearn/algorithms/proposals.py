"""The pair that hill climbing flips next: the one that fits worst, or the one whose flip gains most.

Pairs can be barred: fixed ones, those that failed, and those that are tabu. Pairs within rounding of the best one are
tied; the search that made the proposals chooses one of them.
"""

from __future__ import annotations

from collections.abc import Callable
from math import inf
from typing import Any, TypeAlias

import numpy as np

from mnlearn._ties import tolerance
from mnlearn.algorithms.base import Constraints
from mnlearn.errors import InputError
from mnlearn.graphs.graph import Edge
from mnlearn.protocols import BoolArray, FloatArray, IntArray, PairwiseScored, ScoredGraph, VarSet

_FEW = 8  # up to so many rows are searched one by one: faster than a copy of all of them
_POLLED = 256  # gains evaluated between two polls of the monitor: about 10 ms for a few hundred variables
_POLLED_IN_BATCHES = 1 << 16  # for scores that evaluate many together, the cheaper the more there are

Choice: TypeAlias = Callable[[IntArray, IntArray], int]
"""The first and the second ends of tied pairs, in lexicographic order -> the place of the chosen one."""


def first_pair(us: IntArray, vs: IntArray) -> int:  # noqa: ARG001 - the same for all pairs
    """Choose the first of tied pairs."""
    return 0


def require_numbers(gains: FloatArray) -> FloatArray:
    """Return the gains; raise InputError for NaN, and for the gain of an infinite score. Minus infinity is a number."""
    if len(gains) and not gains[gains.argmax()] < inf:  # NaN counts as the largest
        raise InputError(
            f"judge must give the gain of every flip a number; got {gains[gains.argmax()]}. Correct the score: it may "
            "be -inf for an impossible graph, never NaN or inf."
        )
    return gains


class WeakestPairs:
    """The pair with the lowest part in the score  [IBMAP14, Algorithm 2, line 1].

    The weakest pair of each variable is stored. A flip changes two rows of the parts: the other variables compare two
    new numbers with their weakest, and only those whose weakest pair it was search their row again.
    """

    def __init__(self, state: PairwiseScored, barred: BoolArray, choose: Choice = first_pair) -> None:
        self._parts, self._barred, self._choose = state.pairwise, barred, choose
        self._anything_barred = bool(barred.sum() > len(barred))  # beyond the diagonal
        self._low: FloatArray = np.empty(len(barred))
        self._at: IntArray = np.empty(len(barred), dtype=np.int64)
        self._search(np.arange(len(barred)))

    def best(self) -> tuple[Edge, None] | None:
        """Return the pair to flip, without its gain; None if all are barred."""
        x = int(self._low.argmin())
        lowest = float(self._low[x])
        if lowest == inf:
            return None
        reach = lowest + tolerance([lowest])
        close = self._low <= reach
        if np.count_nonzero(close) > 2:  # the two ends of the weakest pair, and of others
            return self._chosen(close.nonzero()[0], reach), None
        y = int(self._at[x])
        return (min(x, y), max(x, y)), None

    def bar(self, edge: Edge) -> None:
        """Exclude a pair."""
        self._anything_barred = True
        self._set(edge, barred=True)

    def unbar(self, edge: Edge) -> None:
        """Include a pair again."""
        self._set(edge, barred=False)

    def flipped(self, edge: Edge, touched: VarSet | None) -> None:  # noqa: ARG002 - parts change at the ends only
        """Update the weakest pairs after a flip."""
        u, v = edge
        again = (self._at == u) | (self._at == v)
        again[[u, v]] = True
        for x in edge:
            part = self._row(x)
            for y in (part <= self._low).nonzero()[0].tolist():
                if part[y] < self._low[y] or x < self._at[y]:
                    self._low[y], self._at[y] = part[y], x
        self._search(again.nonzero()[0])

    def _chosen(self, rows: IntArray, reach: float) -> Edge:
        """Return the chosen one of the pairs of these variables whose parts are within reach."""
        tied = np.array([self._row(x)[rows] for x in rows.tolist()]) <= reach
        us, vs = (rows[ends] for ends in np.triu(tied, 1).nonzero())
        k = self._choose(us, vs)
        return int(us[k]), int(vs[k])

    def _set(self, edge: Edge, *, barred: bool) -> None:
        u, v = edge
        self._barred[u, v] = self._barred[v, u] = barred
        self._search(np.array([u, v]))

    def _row(self, x: int) -> FloatArray:
        """Return the parts of the pairs of x, inf where barred."""
        return np.where(self._barred[x], inf, self._parts[x]) if self._anything_barred else self._parts[x]

    def _search(self, rows: IntArray) -> None:
        """Find the weakest pair of these variables, by blocks of rows to avoid a copy of all parts."""
        if len(rows) <= _FEW:
            for x in rows.tolist():
                part = self._row(x)
                self._at[x] = at = part.argmin()
                self._low[x] = part[at]
            return
        step = max(1, (1 << 17) // len(self._low))
        for start in range(0, len(rows), step):
            some = rows[start : start + step]
            parts = self._parts[some]
            if self._anything_barred:
                parts[self._barred[some]] = inf
            at = parts.argmin(axis=1)
            self._at[some], self._low[some] = at, parts[np.arange(len(some)), at]


class SteepestPairs:
    """The pair whose flip gains most.

    All gains are exact when they are compared. A flip makes the gains stale that it may have changed, as the score
    says; these alone are evaluated again. No stale gain serves as a bound: after a flip any gain may rise.
    """

    def __init__(
        self,
        state: ScoredGraph,
        known: Constraints,
        choose: Choice = first_pair,
        poll: Callable[[], None] = lambda: None,
    ) -> None:
        self._state, self._n, self._choose, self._poll = state, known.n_variables, choose, poll
        self._rounding = tolerance([state.value])
        self._listed = known.candidates
        if self._listed is None:
            self._us, self._vs = (ends.astype(np.int64) for ends in np.triu_indices(self._n, 1))
        else:
            self._us, self._vs = self._listed.u.astype(np.int64), self._listed.v.astype(np.int64)
            self._starts, _, self._directed = self._listed.directed()
        self._free = np.ones(len(self._us), dtype=np.bool_)
        for u, v in known.fixed:
            self._free[self._place(u, v)] = False
        self._stale = np.ones(len(self._us), dtype=np.bool_)
        self._gains = np.zeros(len(self._us))

    def best(self) -> tuple[Edge, float] | None:
        """Return the pair to flip and its gain; None if all are barred."""
        self._evaluate((self._stale & self._free).nonzero()[0])
        gains = np.where(self._free, self._gains, -inf)
        best = gains.max(initial=-inf)
        if best == -inf:
            return None
        tied = (gains >= best - self._rounding).nonzero()[0]
        k = int(tied[self._choose(self._us[tied], self._vs[tied]) if len(tied) > 1 else 0])
        return (int(self._us[k]), int(self._vs[k])), float(self._gains[k])

    def bar(self, edge: Edge) -> None:
        """Exclude a pair."""
        self._free[self._place(*edge)] = False

    def unbar(self, edge: Edge) -> None:
        """Include a pair again."""
        self._free[self._place(*edge)] = True

    def flipped(self, edge: Edge, touched: VarSet | None) -> None:
        """Mark the gains of the flipped pair and of all pairs with a `touched` end as stale; None: all gains."""
        if touched is None:
            self._stale[:] = True
            return
        for x in {*edge, *touched}:
            if self._listed is not None:
                self._stale[self._directed[self._starts[x] : self._starts[x + 1]]] = True
                continue
            self._stale[self._place(np.arange(x), x)] = True
            self._stale[self._place(x, x + 1) : self._place(x, self._n)] = True

    def _place(self, u: Any, v: Any) -> Any:
        """Return the place of the pair u < v in lexicographic order; arrays of places for arrays of ends.

        A pair that is not listed has an empty array of places.
        """
        if self._listed is not None:
            return self._listed.places([(u, v)])
        return u * (2 * self._n - u - 1) // 2 + v - u - 1

    def _evaluate(self, some: IntArray) -> None:
        """Evaluate these gains by blocks, polling in between: all pairs of a few hundred variables may take minutes."""
        step = _POLLED if hasattr(self._state, "pairwise") else _POLLED_IN_BATCHES
        for start in range(0, len(some), step):
            self._poll()
            few = some[start : start + step]
            pairs = list(zip(self._us[few].tolist(), self._vs[few].tolist(), strict=True))
            self._gains[few] = require_numbers(self._state.gains(pairs))
            self._stale[few] = False
