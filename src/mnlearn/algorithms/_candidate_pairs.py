"""Candidate pairs of separator evidence: all pairs, or lists of partners that a screen finds.

The screen takes every variable's strongest partners by marginal evidence in one pass over all pairs, and later the best
of all others given the blanket found so far. Memory grows with the number of candidates, not of pairs.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from math import inf

import numpy as np
from numpy.typing import NDArray

from mnlearn.algorithms._search import Constraints, check_cancelled
from mnlearn.graphs.graph import Edge, Graph
from mnlearn.graphs.separating_sets import Numbers
from mnlearn.graphs.strongest_pairs import Keys, StrongestPairs
from mnlearn.protocols import BoolArray, EvidenceScore, FloatArray, Monitor, VarSet

MOST_FOR_ALL_PAIRS = 1000  # variables; of more a screen chooses the candidates
STRONGEST, RESCANNED = 20, 20  # least partners of each variable by marginal evidence, and given a blanket
PAIRS_TOGETHER = 1 << 18  # pairs in one call; the monitor is polled between calls
MOST_AROUND = 64  # neighbours of a variable with more are no candidates for each other by that alone


@dataclass(frozen=True)
class Candidates:
    """Pairs u < v in lexicographic order, and the odds of the other pairs.

    Parameters
    ----------
    n_variables
        Number of variables.
    keys
        u n + v of each pair, ascending.
    mean_odds_of_others
        Mean of exp(evidence) of the pairs that are not listed.
    """

    n_variables: int
    keys: Keys
    mean_odds_of_others: float = 0.0

    @property
    def u(self) -> Numbers:
        """The first variable of each pair."""
        return (self.keys // self.n_variables).astype(np.int32)

    @property
    def v(self) -> Numbers:
        """The second variable of each pair."""
        return (self.keys % self.n_variables).astype(np.int32)

    @property
    def n_others(self) -> int:
        """Number of pairs that are not listed."""
        return self.n_variables * (self.n_variables - 1) // 2 - len(self.keys)

    def partners(self) -> list[Numbers]:
        """Return the variables that are listed with each variable, ascending."""
        x, y = np.concatenate([self.u, self.v]), np.concatenate([self.v, self.u])
        order = np.lexsort((y, x))
        return np.split(y[order], np.cumsum(np.bincount(x, minlength=self.n_variables))[:-1])

    def places(self, pairs: Collection[Edge]) -> NDArray[np.intp]:
        """Return the places of those of these pairs that are listed."""
        if not pairs:
            return np.empty(0, dtype=np.intp)
        ends = np.array(list(pairs), dtype=np.int64)
        wanted = ends[:, 0] * self.n_variables + ends[:, 1]
        places = np.searchsorted(self.keys, wanted)
        found: NDArray[np.intp] = places[np.append(self.keys, -1)[places] == wanted]
        return found

    def without(self, pairs: Collection[Edge]) -> Candidates:
        """Return all but these pairs."""
        return replace(self, keys=np.delete(self.keys, self.places(pairs)))

    def with_keys(self, keys: Keys) -> Candidates:
        """Return these pairs and those of other keys; itself if none is new."""
        new = self.others(keys)
        return replace(self, keys=np.sort(np.concatenate([self.keys, new]), kind="stable")) if len(new) else self

    def others(self, keys: Keys) -> Keys:
        """Return those of these keys that are not listed."""
        places = np.searchsorted(self.keys, keys)
        found: Keys = keys[np.append(self.keys, -1)[places] != keys]
        return found

    def with_graph(self, graph: Graph) -> Candidates:
        """Return these pairs with those that are joined in a graph, or at distance two; itself if none is new."""
        return self.with_keys(keys_of(graph.n_variables, near_pairs(graph))) if self.n_others else self


def every_pair(n_variables: int) -> Candidates:
    """Return all pairs."""
    u, v = np.triu_indices(n_variables, 1)
    return Candidates(n_variables, u * np.int64(n_variables) + v)


def keys_of(n_variables: int, pairs: NDArray[np.int64]) -> Keys:
    """Return u n + v of each pair of two different variables in either order, ascending and each once."""
    low, high = pairs.min(axis=1), pairs.max(axis=1)
    keys: Keys = np.sort((low * np.int64(n_variables) + high)[low < high])  # np.unique takes ten times as long
    return keys[np.flatnonzero(np.diff(keys, prepend=-1))]


def near_pairs(graph: Graph) -> NDArray[np.int64]:
    """Return the pairs that are joined, or have a common neighbour of at most MOST_AROUND neighbours."""
    edges = np.array(graph.edges, dtype=np.int64).reshape(-1, 2)
    middle, around = np.concatenate([edges, edges[:, ::-1]]).T
    around = around[np.argsort(middle, kind="stable")]
    degrees = np.bincount(middle, minlength=graph.n_variables)
    starts = np.cumsum(degrees) - degrees
    found = [edges]
    for degree in range(2, min(int(degrees.max(initial=0)), MOST_AROUND) + 1):
        rows = around[starts[degrees == degree][:, None] + np.arange(degree)]
        a, b = np.triu_indices(degree, 1)
        found.append(np.stack([rows[:, a].ravel(), rows[:, b].ravel()], axis=1))
    return np.concatenate(found)


def highest(values: FloatArray, k: int) -> NDArray[np.intp]:
    """Return the places of the k highest values, ascending; of equal ones the first."""
    if len(values) <= k:
        return np.arange(len(values))
    bar = np.partition(values, len(values) - k)[-k]
    above, level = np.flatnonzero(values > bar), np.flatnonzero(values == bar)
    return np.sort(np.concatenate([above, level[: k - len(above)]]))


# The screen.


def strongest_pairs(judge: EvidenceScore, known: Constraints, monitor: Monitor) -> tuple[Candidates, BoolArray]:
    """Return the pairs that are among the strongest of either variable by marginal evidence, to first order.

    And for each variable, whether it has evidence with any other: a constant has none. Evidence for an edge of a pair
    that is not listed is explained by its neighbours, so the odds of the others are those against an edge.
    """
    n = judge.n_variables
    everyone = np.arange(n, dtype=np.int32)
    strongest = StrongestPairs(n, listed_partners(n))
    for xs in _blocks(range(n - 1), [n - 1 - x for x in range(n - 1)]):
        check_cancelled(monitor)
        monitor.progress(xs[0], n, "screen")
        found = judge.pairs(xs, [frozenset()] * len(xs), [everyone[x + 1 :] for x in xs], fit_above=inf)
        for x, row in zip(xs, found, strict=True):
            strongest.add(x, row.log_factor)
    listed = Candidates(n, strongest.keys(), strongest.mean_odds_of_others())
    return listed.without(known.fixed), strongest.varies()


def listed_partners(n_variables: int) -> int:
    """Return how many partners of each variable are listed: about as many pairs in all as without a screen."""
    return max(STRONGEST, MOST_FOR_ALL_PAIRS**2 // (2 * n_variables))


def rescanned_pairs(
    judge: EvidenceScore, xs: Sequence[int], blankets: Sequence[VarSet], varies: BoolArray, monitor: Monitor
) -> Keys:
    """Return the keys of the pairs of each x with the RESCANNED best of all others given its blanket.

    They are ranked by `rankings` of the judge, or to first order. Others that do not vary are left out.
    """
    rank = getattr(judge, "rankings", judge.estimates)
    n, found = judge.n_variables, [np.empty((0, 2), dtype=np.int64)]
    for part in _blocks(range(len(xs)), [n] * len(xs)):
        check_cancelled(monitor)
        monitor.progress(part[0], len(xs), "screen given blankets")
        outside = []
        for k in part:
            may = varies.copy()
            may[[xs[k], *blankets[k]]] = False
            outside.append(np.flatnonzero(may).astype(np.int32))
        rows = rank([xs[k] for k in part], [blankets[k] for k in part], outside)
        for k, ys, row in zip(part, outside, rows, strict=True):
            best = ys[highest(row, RESCANNED)].astype(np.int64)
            found.append(np.stack([np.full(len(best), xs[k]), best], axis=1))
    return keys_of(n, np.concatenate(found))


def _blocks(things: Sequence[int], sizes: Sequence[int]) -> Iterator[list[int]]:
    """Split them into blocks with not too many pairs in each."""
    block, total = list[int](), 0
    for thing, size in zip(things, sizes, strict=True):
        if block and total + size > PAIRS_TOGETHER:
            yield block
            block, total = [], 0
        block.append(thing)
        total += size
    if block:
        yield block
