"""Which unshielded triples are colliders, by the votes of all sets that separate their ends  [CM14]."""

from __future__ import annotations

from collections import Counter
from itertools import combinations, compress

import numpy as np

from mnlearn.algorithms._ledger import Ledger
from mnlearn.algorithms._orientation import Triple
from mnlearn.algorithms._stopping import Cancelled
from mnlearn.graphs.graph import Edge, Graph
from mnlearn.protocols import Monitor, SeparatingSets, SubsetWalk


class Votes:
    """For each pair at distance two: how many sets separate it, and in how many of them a variable is.

    The sets are those among the neighbours of either end, in the skeleton  [CM14].
    """

    def __init__(self, skeleton: Graph, ledger: Ledger, limit: int | None) -> None:
        self._skeleton, self._ledger, self._limit = skeleton, ledger, limit
        self._sets: Counter[Edge] = Counter()
        self._sets_with: Counter[Triple] = Counter()

    def collect(self, walk: SubsetWalk | None, monitor: Monitor) -> None:
        """Ask for all of them; a walk, if there is one, tries the sets by itself."""
        self._ledger.phase, n = "colliders", self._skeleton.n_variables
        adjacent = np.zeros((n, n), dtype=np.bool_)
        for u, v in self._skeleton.edges:
            adjacent[u, v] = adjacent[v, u] = True

        def go_on(_: int) -> bool:
            return not monitor.cancelled()

        for x in range(n):
            around = sorted(self._skeleton.neighbors(x))
            apart = sorted({w for y in around for w in self._skeleton.neighbors(y)} - {x, *around})
            if not apart:
                continue
            counted = None if walk is None else walk.count_separating(x, apart, adjacent, self._limit, go_on)
            if counted is None:
                self._scan(x, apart, around)
            else:
                self._enter(x, apart, around, counted)

    def _scan(self, x: int, apart: list[int], around: list[int]) -> None:
        """Scan after scan: all that are two steps from x, except where the other end has asked already."""
        for size in range(min(len(around), len(around) if self._limit is None else self._limit) + 1):
            for z in map(frozenset, combinations(around, size)):
                ys = [y for y in apart if y > x or not z <= self._skeleton.neighbors(y)]
                independent = self._ledger.scan(x, ys, z).independent.tolist() if ys else ()
                for y in compress(ys, independent):
                    self._sets[_pair(x, y)] += 1
                    self._sets_with.update(_triple(x, m, y) for m in z)

    def _enter(self, x: int, apart: list[int], around: list[int], counted: SeparatingSets) -> None:
        """The same, counted by a walk."""
        self._ledger.enter_by_size(counted.asked)
        if not counted.finished:
            raise Cancelled
        for y, (n_sets, *n_with) in zip(apart, counted.counts.tolist(), strict=True):
            self._sets[_pair(x, y)] += n_sets
            for m, count in zip(around, n_with, strict=True):
                self._sets_with[_triple(x, m, y)] += count

    def is_collider(self, triple: Triple, *, unanimous: bool) -> bool | None:
        """Whether m is in few of the sets that separate u from v; None when they do not tell."""
        u, _, v = triple
        n_sets, n_with = self._sets[u, v], self._sets_with[triple]
        if n_sets == 0 or (unanimous and 0 < n_with < n_sets) or 2 * n_with == n_sets:
            return None
        return 2 * n_with < n_sets


def _pair(x: int, y: int) -> Edge:
    return (x, y) if x < y else (y, x)


def _triple(x: int, m: int, y: int) -> Triple:
    return (x, m, y) if x < y else (y, m, x)
