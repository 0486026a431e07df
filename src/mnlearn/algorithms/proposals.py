"""The pair that hill climbing flips next: the one that fits worst, or the one whose flip gains most.

Both classes store an order over all pairs, which a flip changes at its two ends only. Pairs can be barred: fixed ones,
those that failed, and those that are tabu.
"""

from __future__ import annotations

from collections.abc import Callable
from math import inf

import numpy as np

from mnlearn.graphs.graph import Edge
from mnlearn.protocols import BoolArray, FloatArray, IntArray, PairwiseScored, ScoredGraph, VarSet

_FEW = 8  # up to so many rows are searched one by one: faster than a copy of all of them
_POLLED = 256  # gains evaluated between two polls of the monitor: about 10 ms for a few hundred variables
_POLLED_IN_BATCHES = 1 << 16  # for scores that evaluate many together, the cheaper the more there are
_BLOCK = 64  # gains evaluated at once: a score may evaluate many pairs in the time of a few


class WeakestPairs:
    """The pair with the lowest part in the score; ties by the first pair  [IBMAP14, Algorithm 2, line 1].

    The weakest pair of each variable is stored. A flip changes two rows of the parts: the other variables compare two
    new numbers with their weakest, and only those whose weakest pair it was search their row again.
    """

    def __init__(self, state: PairwiseScored, barred: BoolArray) -> None:
        self._parts, self._barred = state.pairwise, barred
        self._anything_barred = bool(barred.sum() > len(barred))  # beyond the diagonal
        self._low: FloatArray = np.empty(len(barred))
        self._at: IntArray = np.empty(len(barred), dtype=np.int64)
        self._search(np.arange(len(barred)))

    def best(self) -> tuple[Edge, None] | None:
        """Return the pair to flip, without its gain; None if all are barred."""
        x = int(self._low.argmin())
        if self._low[x] == inf:
            return None
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
    """The pair whose flip gains most; ties by the first pair. Gains are evaluated again only when they matter.

    A gain that a flip may have changed becomes a guess. The pair with the highest gain or guess is evaluated until it
    is exact; before the answer that nothing improves, all pairs are. A guess that is too low may cost the steepest
    step, but the climb always ends at a local optimum.
    """

    def __init__(self, state: ScoredGraph, barred: BoolArray, poll: Callable[[], None] = lambda: None) -> None:
        n = len(barred)
        self._state, self._barred, self._poll = state, barred, poll
        self._us, self._vs = (ends.astype(np.int64) for ends in np.triu_indices(n, 1))
        self._guessed = np.ones(len(self._us), dtype=np.bool_)
        # A part is the log of a probability: the pair itself gains at most minus its part.
        parts = getattr(state, "pairwise", None)
        self._gains = np.full(len(self._us), inf) if parts is None else -parts[self._us, self._vs]

    def best(self) -> tuple[Edge, float] | None:
        """Return the pair to flip and its gain; None if all are barred."""
        while True:
            open_gains = np.where(self._barred[self._us, self._vs], -inf, self._gains)
            k = int(open_gains.argmax()) if len(open_gains) else -1
            if k < 0 or open_gains[k] == -inf:
                return None
            if self._guessed[k]:
                self._evaluate(self._foremost(open_gains))
            elif open_gains[k] <= 0.0 and (self._guessed & (open_gains > -inf)).any():
                self._evaluate(np.flatnonzero(self._guessed & (open_gains > -inf)))
            else:
                return (int(self._us[k]), int(self._vs[k])), float(open_gains[k])

    def bar(self, edge: Edge) -> None:
        """Exclude a pair."""
        self._barred[edge] = self._barred[edge[::-1]] = True

    def unbar(self, edge: Edge) -> None:
        """Include a pair again."""
        self._barred[edge] = self._barred[edge[::-1]] = False

    def flipped(self, edge: Edge, touched: VarSet | None) -> None:
        """Negate the gain of the flipped pair; the gains of pairs with a `touched` end become guesses."""
        if touched is None:
            self._guessed[:] = True
        else:
            doubtful = np.zeros(len(self._barred), dtype=np.bool_)
            doubtful[list(touched)] = True
            self._guessed |= doubtful[self._us] | doubtful[self._vs]
        own = (self._us == edge[0]) & (self._vs == edge[1])
        self._gains[own] = -self._gains[own]

    def _foremost(self, gains: FloatArray) -> IntArray:
        """Return the guesses to evaluate now: the highest, and those after it up to the best exact gain."""
        known = gains[~self._guessed].max(initial=-inf)
        ahead = np.flatnonzero(self._guessed & (gains >= known) & (gains > -inf))
        if np.isposinf(gains[ahead]).any():
            return ahead  # no estimate yet: all at once
        return ahead[np.argsort(-gains[ahead], kind="stable")[:_BLOCK]]

    def _evaluate(self, some: IntArray) -> None:
        """Evaluate these gains by blocks, polling in between: all pairs of a few hundred variables may take minutes."""
        step = _POLLED if hasattr(self._state, "pairwise") else _POLLED_IN_BATCHES
        for start in range(0, len(some), step):
            self._poll()
            few = some[start : start + step]
            self._gains[few] = self._state.gains(list(zip(self._us[few].tolist(), self._vs[few].tolist(), strict=True)))
            self._guessed[few] = False
