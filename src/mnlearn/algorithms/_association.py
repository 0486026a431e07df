"""Marginal association, by a local score or by a test: it decides between candidates that tie.

Neither the association of a pair nor the strength of a variable depends on names, labels or the order of the columns.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Sequence
from math import inf

import numpy as np
from numpy.typing import NDArray

from mnlearn._ties import Criterion
from mnlearn.graphs.graph import Edge, Graph
from mnlearn.protocols import EvidenceScore, FloatArray, Indices, LocalScore, VarSet

_NOTHING: VarSet = frozenset()


class Association(ABC):
    """Association of pairs and strength of variables, computed only where scores tie.

    The strength of a variable is its mean association with the others, or the gain of its own end.
    """

    def __init__(self, n_variables: int) -> None:
        self._n = n_variables
        self._strength: dict[int, float] = {}

    @abstractmethod
    def of(self, pairs: Sequence[Edge]) -> FloatArray:
        """Return the association of each pair."""

    @abstractmethod
    def _means(self, xs: Sequence[int], others: Sequence[Indices]) -> Iterable[float]:
        """Return the mean association of each x with its others."""

    def strengths(self, xs: NDArray[np.intp]) -> FloatArray:
        """Return the strength of each variable."""
        new = [x for x in dict.fromkeys(xs.tolist()) if x not in self._strength]
        others = [[y for y in range(self._n) if y != x] for x in new]
        self._strength.update(zip(new, self._means(new, others), strict=True))
        return np.array([self._strength[x] for x in xs.tolist()])

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

    def flipping(
        self, pair_at: Callable[[int], Edge], graph: Callable[[], Graph]
    ) -> tuple[Criterion, Criterion, Criterion]:
        """Return the criteria for a flip of the pair at some place: association, few neighbours, strength.

        The stronger association joins, the weaker one leaves; so with the strength.
        """

        def chosen(tied: NDArray[np.intp]) -> list[Edge]:
            return [pair_at(place) for place in tied.tolist()]

        def signs(tied: NDArray[np.intp]) -> FloatArray:
            return np.array([-1.0 if edge in graph() else 1.0 for edge in chosen(tied)])

        def few_neighbors(tied: NDArray[np.intp]) -> FloatArray:
            return np.array([-float(graph().degree(u) + graph().degree(v)) for u, v in chosen(tied)])

        def strength(tied: NDArray[np.intp]) -> FloatArray:
            ends = np.array(chosen(tied), dtype=np.intp)
            return np.asarray(signs(tied) * self.strengths(ends.ravel()).reshape(ends.shape).sum(axis=1))

        return (lambda tied: signs(tied) * self.of(chosen(tied))), few_neighbors, strength


class ScoreAssociation(Association):
    """Association by a local score: the gain of both ends, each with the other alone  [MPL17, Eq. 9]."""

    def __init__(self, score: LocalScore) -> None:
        super().__init__(score.n_variables)
        self.scored = 0
        self._score = score
        self._alone: dict[int, float] = {}

    def of(self, pairs: Sequence[Edge]) -> FloatArray:
        """Return the association of each pair."""
        xs, ys = [u for u, _ in pairs], [v for _, v in pairs]
        gains = np.array([gain[0] for gain in self._gains([*xs, *ys], [[y] for y in [*ys, *xs]])])
        return np.asarray(gains[: len(pairs)] + gains[len(pairs) :])

    def _means(self, xs: Sequence[int], others: Sequence[Indices]) -> Iterable[float]:
        return [float(gain.mean()) for gain in self._gains(xs, others)]

    def _gains(self, xs: Sequence[int], yss: Sequence[Indices]) -> list[FloatArray]:
        """Return the gain of each x by each of its ys alone."""
        self.scored += sum(map(len, yss))
        found = self._score.additions(xs, [_NOTHING] * len(xs), yss)
        return [values - self._without(x) for x, values in zip(xs, found, strict=True)]

    def _without(self, x: int) -> float:
        """Return the score of x without neighbours."""
        if x not in self._alone:
            self._alone[x] = self._score.local(x, _NOTHING)
        return self._alone[x]


class EvidenceAssociation(Association):
    """Association by evidence: ev(x, y) given nothing; the strengths to first order, without fits."""

    def __init__(self, judge: EvidenceScore) -> None:
        super().__init__(judge.n_variables)
        self._judge = judge

    def of(self, pairs: Sequence[Edge]) -> FloatArray:
        """Return the association of each pair."""
        xs, yss = [u for u, _ in pairs], [[v] for _, v in pairs]
        found = self._judge.pairs(xs, [_NOTHING] * len(xs), yss, fit_above=-inf)
        return np.array([pair.log_factor[0] for pair in found])

    def _means(self, xs: Sequence[int], others: Sequence[Indices]) -> Iterable[float]:
        found = self._judge.pairs(xs, [_NOTHING] * len(xs), others, fit_above=inf)
        return [float(pair.log_factor.mean()) for pair in found]
