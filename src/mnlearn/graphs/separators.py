"""Separating sets close to x for every pair (x, y), in a graph that changes flip by flip.

sep(x; y) is the part of N(x) − {y} that a search from y in G − x reaches without passing through N(x): it separates x
from y in G without the edge x − y. All y in one component of G − N[x] share it: the neighbours of x adjacent to the
component, its boundary. So one search for components serves every y at once.
"""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from mnlearn import _core
from mnlearn.graphs.graph import Edge, Graph

Numbers: TypeAlias = NDArray[np.int32]
MOST_STORED = 1 << 16  # sets that are stored as Python objects, 20 MB; each is made in a microsecond


class Separators:
    """sep(x; y) for all x and y, each searched on demand; a flip says which it may change.

    Parameters
    ----------
    graph
        The first graph; flips change the object, not this graph.

    Notes
    -----
    Memory: the graph, and every set that was found. Sets are numbered in order of discovery: two separators are
    equal if and only if their numbers are. For each x the search takes the time of all components of G − N[x] but the
    largest.

    Examples
    --------
    >>> ring = Separators(Graph(5, [(0, 1), (1, 2), (2, 3), (3, 4), (0, 4)]))
    >>> sorted(ring.of(0, 2)), sorted(ring.of(0, 1))
    ([1, 4], [4])
    >>> around, side = ring.flip(2, 3)
    >>> around.tolist(), side.tolist()
    ([0, 1, 2, 3, 4], [])
    >>> sorted(ring.of(0, 2))
    [1]
    """

    def __init__(self, graph: Graph) -> None:
        ends = np.array(graph.edges, dtype=np.int32).reshape(-1, 2)
        self.n_edges = graph.n_edges
        self._graph, self._flipped = graph, set[Edge]()  # the graph as it was, and the pairs flipped since
        self._core = _core.SeparatingSets(graph.n_variables, ends[:, 0].copy(), ends[:, 1].copy())
        self._sets: dict[int, frozenset[int]] = {}

    @property
    def graph(self) -> Graph:
        """The current graph."""
        if self._flipped:
            present = [pair for pair in self._flipped if pair in self._graph]
            self._graph = self._graph.remove(present).add(self._flipped.difference(present))
            self._flipped = set()
        return self._graph

    def of(self, x: int, y: int) -> frozenset[int]:
        """Return sep(x; y)."""
        return self.set(int(self.numbers(np.array([x], np.int32), np.array([y], np.int32))[0]))

    def numbers(self, xs: Numbers, ys: Numbers) -> Numbers:
        """Return the number of sep(x; y) for each x and its y."""
        return self._core.numbers(xs, ys)

    def set(self, number: int) -> frozenset[int]:
        """Return the set of a number."""
        found = self._sets.get(number)
        if found is None:
            if len(self._sets) >= MOST_STORED:
                self._sets.clear()
            found = self._sets[number] = frozenset(self._core.set(number))
        return found

    def flip(self, u: int, v: int) -> tuple[Numbers, Numbers]:
        """Flip a pair; return where separators may have changed.

        sep(x; y) may differ for x among the first variables returned, and for x and y of which exactly one is among the
        second ones: one side of the graph where the pair alone joins two sides.
        """
        around, side, joined = self._core.flip(u, v)
        self.n_edges += 1 if joined else -1
        self._flipped ^= {(u, v) if u < v else (v, u)}
        return around, side
