"""Scores that are sums over variables, and a graph that keeps such a score up to date flip by flip.

A flip of {u, v} changes the blankets of u and v and no other, so it changes two terms of the sum  [MPL17, Eq. 9].
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from math import fsum

import numpy as np

from mnlearn.errors import InputError
from mnlearn.graphs.graph import Edge, Graph
from mnlearn.protocols import FloatArray, Indices, LocalScore, VarSet


class Decomposed(ABC):
    """The face our local scores share: a graph is worth the sum of what its variables are worth  [MPL17, Eq. 7]."""

    @property
    @abstractmethod
    def n_variables(self) -> int:
        """How many variables the score knows."""

    @abstractmethod
    def local(self, x: int, blanket: VarSet) -> float:
        """What x is worth with these neighbours."""

    @abstractmethod
    def additions(self, xs: Indices, blankets: Sequence[VarSet], yss: Sequence[Indices]) -> list[FloatArray]:
        """For each x with its blanket and its ys: what x is worth with one more neighbour, each y in turn."""

    @abstractmethod
    def removals(self, xs: Indices, blankets: Sequence[VarSet]) -> list[FloatArray]:
        """For each x with its blanket: what x is worth with one neighbour less, each in turn in ascending order."""

    def __call__(self, graph: Graph) -> float:
        """The score of a whole graph, in natural logs; higher is better."""
        return self.on(graph).value

    def on(self, graph: Graph) -> LocallyScored:
        """The graph with its score, ready to be flipped."""
        return LocallyScored(self, graph)


class LocallyScored:
    """A graph under a local score: what each variable is worth, and would be worth after each flip asked about.

    Parameters
    ----------
    score
        Any `LocalScore`.
    graph
        Where to start; flips change the object, not this graph.

    Notes
    -----
    Only what a flip makes stale is scored again: the flips at its two ends, and of those only the end's own half
    [MPL17, Sec. 4.2]. Memory grows with the pairs asked about.

    Examples
    --------
    >>> from mnlearn.data import Dataset
    >>> from mnlearn.scores import MPL
    >>> from mnlearn.statistics import Counts
    >>> score = MPL(Counts(Dataset.from_codes([[0, 1] * 20, [0, 1] * 20, [0, 0, 1, 1] * 10])))
    >>> scored = score.on(Graph.empty(3))
    >>> scored.gains([(0, 1), (0, 2)]).round(2).tolist()
    [50.2, -3.89]
    >>> sorted(scored.flip((0, 1)))
    [0, 1]
    >>> scored.graph
    Graph(3, [(0, 1)])
    """

    def __init__(self, score: LocalScore, graph: Graph) -> None:
        n = score.n_variables
        if graph.n_variables != n:
            raise InputError(
                f"graph must have the {n} variables of the score; got one on {graph.n_variables}. Score it by the data "
                "it belongs to."
            )
        self._score, self._graph = score, graph
        self._local = [score.local(x, graph.neighbors(x)) for x in range(n)]
        self._flipped: list[dict[int, float]] = [{} for _ in range(n)]  # [x][y]: x's worth if {x, y} were flipped

    @property
    def graph(self) -> Graph:
        """The graph as it is now."""
        return self._graph

    @property
    def value(self) -> float:
        """Its score."""
        return fsum(self._local)

    @property
    def terms(self) -> tuple[float, ...]:
        """What each variable contributes to the score."""
        return tuple(self._local)

    def gains(self, edges: Sequence[Edge]) -> FloatArray:
        """For each pair: by how much the score would change if it alone were flipped  [MPL17, Eq. 9]."""
        self._fill(edges)
        local, flipped = self._local, self._flipped
        changes = ((flipped[u][v] - local[u]) + (flipped[v][u] - local[v]) for u, v in edges)
        return np.fromiter(changes, dtype=np.float64, count=len(edges))

    def flip(self, edge: Edge) -> VarSet:
        """Flip a pair for good. Returns its ends, the only variables whose pairs may have other gains now."""
        self._fill([edge])
        u, v = edge
        self._graph = self._graph.flip(u, v)
        self._local[u], self._local[v] = self._flipped[u][v], self._flipped[v][u]
        self._flipped[u], self._flipped[v] = {}, {}
        return frozenset(edge)

    def _fill(self, edges: Sequence[Edge]) -> None:
        """Score every half of these flips that is not known yet, all in two batches."""
        n, flipped = self._score.n_variables, self._flipped
        joining: dict[int, dict[int, None]] = {}
        leaving: dict[int, None] = {}
        for u, v in edges:
            if u == v or not (0 <= u < n and 0 <= v < n):
                raise InputError(f"edges must hold pairs of two different variables, 0 to {n - 1}; got {(u, v)}.")
            for x, y in ((u, v), (v, u)):
                if y in flipped[x]:
                    continue
                if y in self._graph.neighbors(x):
                    leaving[x] = None
                else:
                    joining.setdefault(x, {})[y] = None
        self._fill_additions(list(joining), [np.fromiter(ys, np.int32, len(ys)) for ys in joining.values()])
        self._fill_removals(list(leaving))

    def _fill_additions(self, xs: list[int], yss: list[Indices]) -> None:
        if xs:
            found = self._score.additions(xs, [self._graph.neighbors(x) for x in xs], yss)
            for x, ys, values in zip(xs, yss, found, strict=True):
                self._flipped[x].update(zip(np.asarray(ys).tolist(), values.tolist(), strict=True))

    def _fill_removals(self, xs: list[int]) -> None:
        if xs:
            blankets = [self._graph.neighbors(x) for x in xs]
            for x, blanket, values in zip(xs, blankets, self._score.removals(xs, blankets), strict=True):
                self._flipped[x].update(zip(sorted(blanket), values.tolist(), strict=True))
