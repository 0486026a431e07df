"""Which unshielded triples are colliders, by the votes of all sets that separate their ends  [CM14]."""

from __future__ import annotations

from collections import Counter
from itertools import combinations

import numpy as np

from mnlearn.algorithms._ledger import Ledger
from mnlearn.algorithms._orientation import Triple
from mnlearn.graphs.graph import Edge, Graph
from mnlearn.protocols import VarSet


class Votes:
    """For each pair at distance two: how many sets separate it, and in how many of them a variable is.

    The sets are those among the neighbours of either end, in the skeleton  [CM14].
    """

    def __init__(self, skeleton: Graph, ledger: Ledger, limit: int | None) -> None:
        self._skeleton, self._ledger = skeleton, ledger
        self._sets: Counter[Edge] = Counter()
        self._sets_with: Counter[Triple] = Counter()
        ledger.phase = "colliders"
        for x in range(skeleton.n_variables):
            around = sorted(skeleton.neighbors(x))
            apart = {w for y in around for w in skeleton.neighbors(y)} - {x, *around}
            for size in range(min(len(around), len(around) if limit is None else limit) + 1 if apart else 0):
                for z in combinations(around, size):
                    self._collect(x, sorted(apart), frozenset(z))

    def _collect(self, x: int, apart: list[int], z: VarSet) -> None:
        """One scan: all that are two steps from x, except where the other end has asked already."""
        ys = [y for y in apart if y > x or not z <= self._skeleton.neighbors(y)]
        if not ys:
            return
        for k in np.flatnonzero(self._ledger.scan(x, ys, z).independent).tolist():
            u, v = sorted((x, ys[k]))
            self._sets[u, v] += 1
            self._sets_with.update((u, m, v) for m in z)

    def is_collider(self, triple: Triple, *, unanimous: bool) -> bool | None:
        """Whether m is in few of the sets that separate u from v; None when they do not tell."""
        u, _, v = triple
        n_sets, n_with = self._sets[u, v], self._sets_with[triple]
        if n_sets == 0 or (unanimous and 0 < n_with < n_sets) or 2 * n_with == n_sets:
            return None
        return 2 * n_with < n_sets
