"""Separating sets close to x for every pair (x, y), in a graph that changes flip by flip.

sep(x; y) is the part of N(x) − {y} that a search from y in G − x reaches without passing through N(x): it separates x
from y in G without the edge x − y. All y in one component of G − N[x] share it: the neighbours of x adjacent to the
component, its boundary. So one search for components serves every y at once.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from mnlearn.graphs.graph import Graph
from mnlearn.protocols import VarSet

_CELLS_TOGETHER = 1 << 21  # (x, v) whose components are found at once: some 50 bytes each
_NOT_OUTSIDE = -1


class Separators:
    """sep(x; y) for all x and y; a flip recomputes only the separators that it may change.

    Parameters
    ----------
    graph
        The first graph; flips change the object, not this graph.

    Notes
    -----
    Memory: one integer for each (x, y). Sets are numbered in order of discovery: two separators are equal if and only
    if their numbers are.

    Examples
    --------
    >>> ring = Separators(Graph(5, [(0, 1), (1, 2), (2, 3), (3, 4), (0, 4)]))
    >>> sorted(ring.of(0, 2)), sorted(ring.of(0, 1))
    ([1, 4], [4])
    >>> sorted(ring.flip(2, 3))
    [0, 1, 2, 3, 4]
    >>> sorted(ring.of(0, 2))
    [1]
    """

    def __init__(self, graph: Graph) -> None:
        n = graph.n_variables
        self.graph = graph
        self.sets: list[VarSet] = []  # by number
        self._number: dict[VarSet, int] = {}
        self._component = np.full((n, n), _NOT_OUTSIDE, dtype=np.int32)  # [x, v]: v's component without N[x]
        self._boundaries = [np.empty(0, dtype=np.int32)] * n  # [x][component]: the number of its boundary
        self._stale = set(range(n))

    def of(self, x: int, y: int) -> VarSet:
        """Return sep(x; y)."""
        return self.sets[self.number(x, y)]

    def number(self, x: int, y: int) -> int:
        """Return the number of sep(x; y)."""
        self._find()
        here = int(self._component[x, y])
        return int(self._boundaries[x][here]) if here != _NOT_OUTSIDE else self._beside(x, y)

    def numbers(self) -> NDArray[np.int32]:
        """Return the number of sep(x; y) for all x and y; −1 on the diagonal."""
        self._find()
        n = self.graph.n_variables
        numbers = np.full((n, n), -1, dtype=np.int32)
        for x in range(n):
            numbers[x] = np.append(self._boundaries[x], np.int32(-1))[self._component[x]]  # −1 last: where it is −1
            for y in self.graph.neighbors(x):
                numbers[x, y] = self._beside(x, y)
        return numbers

    def flip(self, u: int, v: int) -> set[int]:
        """Flip a pair; return every x for which some sep(x; y) may have changed."""
        self._find()
        at_u, at_v = self._component[:, u], self._component[:, v]
        touched = at_u != at_v  # a new edge within one component, or between two neighbours of x, changes nothing
        if (u, v) in self.graph:
            touched |= at_u != _NOT_OUTSIDE  # their component may fall apart
        common = self.graph.neighbors(u) & self.graph.neighbors(v)
        self.graph = self.graph.flip(u, v)
        self._stale |= {u, v, *np.flatnonzero(touched).tolist()}
        return self._stale | common

    def _beside(self, x: int, y: int) -> int:
        """Return sep(x; y) of a neighbour y: common neighbours, and boundaries of the components adjacent to y."""
        neighbors, component, boundaries = self.graph.neighbors(x), self._component[x], self._boundaries[x]
        reached: set[int] = set(neighbors & self.graph.neighbors(y))
        for number in {int(boundaries[component[v]]) for v in self.graph.neighbors(y) - neighbors if v != x}:
            reached |= self.sets[number]
        return self._numbered(frozenset(reached - {y}))

    def _numbered(self, separator: VarSet) -> int:
        number = self._number.setdefault(separator, len(self.sets))
        if number == len(self.sets):
            self.sets.append(separator)
        return number

    def _find(self) -> None:
        """Update every stale x, many at once."""
        if not self._stale:
            return
        stale, n = sorted(self._stale), self.graph.n_variables
        together = max(1, _CELLS_TOGETHER // max(1, n))
        for begin in range(0, len(stale), together):
            self._find_components(stale[begin : begin + together])
        self._stale = set()

    def _find_components(self, xs: list[int]) -> None:
        """Find the components of G − N[x] for each x, as those of one graph with a copy of all variables per x."""
        from scipy.sparse import coo_array
        from scipy.sparse.csgraph import connected_components

        n = self.graph.n_variables
        outside = np.ones((len(xs), n), dtype=np.bool_)
        for k, x in enumerate(xs):
            outside[k, [x, *self.graph.neighbors(x)]] = False
        ends = np.array(self.graph.edges, dtype=np.int64).reshape(-1, 2)
        copy, edge = np.nonzero(outside[:, ends[:, 0]] & outside[:, ends[:, 1]])
        u, v = copy * n + ends[edge, 0], copy * n + ends[edge, 1]
        links = coo_array((np.ones(len(u), dtype=np.int8), (u, v)), shape=(outside.size, outside.size))
        label = connected_components(links, directed=False)[1].reshape(outside.shape)
        component = label - label.min(axis=1, keepdims=True)
        component[~outside] = _NOT_OUTSIDE
        self._component[xs] = component
        for k, x in enumerate(xs):
            self._boundaries[x] = self._find_boundaries(x, int(component[k].max(initial=_NOT_OUTSIDE)) + 1)

    def _find_boundaries(self, x: int, n_components: int) -> NDArray[np.int32]:
        """Return the boundary of every component outside N[x]: mostly empty, where many variables are far away."""
        row = self._component[x].tolist()
        reached: dict[int, set[int]] = {}
        for a in self.graph.neighbors(x):
            for v in self.graph.neighbors(a):
                if row[v] != _NOT_OUTSIDE:
                    reached.setdefault(row[v], set()).add(a)
        boundaries = np.full(n_components, self._numbered(frozenset()), dtype=np.int32)
        for component, boundary in reached.items():
            boundaries[component] = self._numbered(frozenset(boundary))
        return boundaries
