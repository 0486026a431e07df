"""Marginal association, by a local score or by a test: it decides between candidates that tie.

Neither the association of a pair nor the strength of a variable depends on names, labels or the order of the columns.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import fsum

import numpy as np
from numpy.typing import NDArray

from mnlearn._ties import Criterion, ranks
from mnlearn.graphs.graph import Edge
from mnlearn.protocols import FloatArray, Indices, LocalScore, VarSet

_NOTHING: VarSet = frozenset()


class Association:
    """Association of pairs and strength of variables, computed only where scores tie.

    The association of x and y is the gain of both ends if each is the only neighbour of the other  [MPL17, Eq. 9]. The
    strength of a variable is its mean gain by one neighbour.
    """

    def __init__(self, score: LocalScore) -> None:
        self.scored = 0
        self._score = score
        self._alone: dict[int, float] = {}
        self._strength: dict[int, float] = {}

    def joining(self, x: int, ys: Indices) -> tuple[Criterion, Criterion]:
        """Return the criteria for a new neighbour of x: the stronger association, then the stronger variable."""
        return (
            lambda tied: self.of([(x, int(y)) for y in np.asarray(ys)[tied]]),
            lambda tied: self.strengths(np.asarray(ys)[tied]),
        )

    def leaving(self, x: int, ys: Indices) -> tuple[Criterion, Criterion]:
        """Return the criteria for a neighbour of x to remove: the weaker association, then the weaker variable."""
        association, strength = self.joining(x, ys)
        return (lambda tied: -association(tied), lambda tied: -strength(tied))

    def of(self, pairs: Sequence[Edge]) -> FloatArray:
        """Return the association of each pair."""
        xs, ys = [u for u, _ in pairs], [v for _, v in pairs]
        found = self._score.additions([*xs, *ys], [_NOTHING] * (2 * len(pairs)), [[y] for y in [*ys, *xs]])
        self.scored += len(found)
        gains = np.array([value[0] for value in found]) - [self._without(x) for x in [*xs, *ys]]
        return np.asarray(gains[: len(pairs)] + gains[len(pairs) :])

    def strengths(self, ys: NDArray[np.intp]) -> FloatArray:
        """Return the strength of each variable."""
        n, new = self._score.n_variables, [y for y in dict.fromkeys(ys.tolist()) if y not in self._strength]
        others = [[v for v in range(n) if v != y] for y in new]
        for y, values in zip(new, self._score.additions(new, [_NOTHING] * len(new), others), strict=True):
            self.scored += len(values)
            self._strength[y] = float(values.mean()) - self._without(y)
        return np.array([self._strength[y] for y in ys.tolist()])

    def _without(self, x: int) -> float:
        """Return the score of x without neighbours."""
        if x not in self._alone:
            self._alone[x] = self._score.local(x, _NOTHING)
        return self._alone[x]


def strength_ranks(log_support: FloatArray) -> NDArray[np.intp]:
    """Return the rank of each variable by its mean log support of independence from the others, the strongest first.

    Equal variables are ranked by a mean in which strong partners count less; those that no mean tells apart share a
    rank.
    """
    n = len(log_support)
    first = ranks(np.array([fsum(row) for row in log_support.tolist()]) / (n - 1))
    if first.max() == n - 1:
        return first
    weighted = np.array([fsum(row) for row in (log_support * (1 + first)).tolist()]) / (n - 1)
    return ranks(first * np.float64(n) + ranks(weighted))
