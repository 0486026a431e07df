"""Candidate pairs: the pairs of variables that a search looks at, all of them or those that a screen lists.

Memory grows with the number of candidates, not with the number of pairs.

The strongest pairs of every variable by evidence, in one pass over all pairs that stores no matrix.

A list of variables for each variable, in two arrays: blankets or partners without an object for each.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from itertools import chain, pairwise
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from mnlearn import _core
from mnlearn.errors import InputError
from mnlearn.graphs.graph import Edge, Graph
from mnlearn.numbers import exp

Keys: TypeAlias = NDArray[np.int64]
"""u n + v of pairs u < v."""

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
    def u(self) -> NDArray[np.int32]:
        """The first variable of each pair."""
        return (self.keys // self.n_variables).astype(np.int32)

    @property
    def v(self) -> NDArray[np.int32]:
        """The second variable of each pair."""
        return (self.keys % self.n_variables).astype(np.int32)

    @property
    def n_others(self) -> int:
        """Number of pairs that are not listed."""
        return self.n_variables * (self.n_variables - 1) // 2 - len(self.keys)

    def partners(self) -> list[NDArray[np.int32]]:
        """Return the variables that are listed with each variable, ascending."""
        starts, partners = self.lists()
        return np.split(partners, starts[1:-1])

    def lists(self) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
        """Return the partners of all variables one after the other, each ascending, and where those of x begin.

        The partners of x are ``partners[starts[x] : starts[x + 1]]``; every pair is listed from both ends.
        """
        n, u, v = self.n_variables, self.keys // self.n_variables, self.keys % self.n_variables
        both = np.sort(np.concatenate([self.keys, v * n + u]))  # a fifth of the time of lexsort
        starts = np.searchsorted(both, np.arange(n + 1, dtype=np.int64) * n)
        return starts.astype(np.int64), (both % n).astype(np.int32)

    def directed(self) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.intp]]:
        """Return `lists`, and for each partner the place of its pair among the keys."""
        starts, partners = self.lists()
        x = np.repeat(np.arange(self.n_variables, dtype=np.int64), np.diff(starts))
        low, high = np.minimum(x, partners), np.maximum(x, partners)
        return starts, partners, np.searchsorted(self.keys, low * self.n_variables + high)

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

    def around(self, graph: Graph, *, closed: bool) -> Candidates:
        """Return these pairs with those that are joined in a graph; unless closed, also those at distance two."""
        if not closed:
            return self.with_graph(graph)
        return self.with_keys(keys_of(graph.n_variables, np.array(graph.edges, dtype=np.int64).reshape(-1, 2)))

    def only(self, graph: Graph) -> Graph:
        """Return the graph with those of its edges that are listed."""
        u, v = np.divmod(self.keys[self.places(graph.edges)], self.n_variables)
        return Graph(graph.n_variables, zip(u.tolist(), v.tolist(), strict=True))


class PlacesByVariable:
    """The places of the pairs of each variable among candidates.

    Parameters
    ----------
    candidates
        The pairs.

    Examples
    --------
    >>> index = PlacesByVariable(every_pair(4))  # 01 02 03 12 13 23
    >>> index.with_first(np.array([1])).tolist(), index.with_second(np.array([3, 1])).tolist()
    ([3, 4], [2, 4, 5, 0])
    """

    def __init__(self, candidates: Candidates) -> None:
        n, v = candidates.n_variables, candidates.v
        self._first = np.searchsorted(candidates.keys, np.arange(n + 1) * np.int64(n))
        self._by_second = np.argsort(v, kind="stable").astype(np.int32)
        self._second = np.concatenate([[0], np.cumsum(np.bincount(v, minlength=n))])

    def with_first(self, variables: NDArray[Any]) -> NDArray[np.intp]:
        """Return the places of the pairs whose first variable is one of these."""
        return _runs(self._first[variables], self._first[variables + 1])

    def with_second(self, variables: NDArray[Any]) -> NDArray[np.intp]:
        """Return the places of the pairs whose second variable is one of these."""
        return self._by_second[_runs(self._second[variables], self._second[variables + 1])].astype(np.intp)


def _runs(begins: NDArray[np.intp], ends: NDArray[np.intp]) -> NDArray[np.intp]:
    """Return the whole numbers from each begin to before its end, one run after the other."""
    sizes = ends - begins
    found: NDArray[np.intp] = np.arange(sizes.sum()) + np.repeat(begins - np.cumsum(sizes) + sizes, sizes)
    return found


def pairs_of_lists(n_variables: int, starts: NDArray[np.int64], partners: NDArray[np.int32]) -> Candidates:
    """Return the pairs that either of their variables lists; the reverse of `Candidates.lists`."""
    x = np.repeat(np.arange(n_variables, dtype=np.int64), np.diff(starts))
    return Candidates(n_variables, keys_of(n_variables, np.stack([x, partners.astype(np.int64)], axis=1)))


def check_candidates(candidates: Candidates, n_variables: int) -> None:
    """Raise InputError unless the candidates are pairs of these variables."""
    if candidates.n_variables != n_variables:
        raise InputError(
            f"candidates must be pairs of the {n_variables} variables of the judge; got pairs of "
            f"{candidates.n_variables}. Screen the same data."
        )


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
    return _near(graph.n_variables, np.array(graph.edges, dtype=np.int64).reshape(-1, 2))


def near_pairs_of(n_variables: int, edges: Keys) -> Keys:
    """Return the keys of `near_pairs` of the graph with these edges."""
    return keys_of(n_variables, _near(n_variables, np.stack([edges // n_variables, edges % n_variables], axis=1)))


def _near(n_variables: int, edges: NDArray[np.int64]) -> NDArray[np.int64]:
    middle, around = np.concatenate([edges, edges[:, ::-1]]).T
    around = around[np.argsort(middle, kind="stable")]
    degrees = np.bincount(middle, minlength=n_variables)
    starts = np.cumsum(degrees) - degrees
    found = [edges]
    for degree in range(2, min(int(degrees.max(initial=0)), MOST_AROUND) + 1):
        rows = around[starts[degrees == degree][:, None] + np.arange(degree)]
        a, b = np.triu_indices(degree, 1)
        found.append(np.stack([rows[:, a].ravel(), rows[:, b].ravel()], axis=1))
    return np.concatenate(found)


class StrongestPairs:
    """Pairs that are among the k strongest of an end.

    Parameters
    ----------
    n_variables
        Number of variables.
    k
        Number of partners of each variable; of equal ones the first are kept.

    Notes
    -----
    Memory: at most 2 k partners of each variable. Evidence of exactly 0 counts as none: a constant column has 0 with
    every other.

    Examples
    --------
    >>> strongest = StrongestPairs(4, k=1)
    >>> for x, row in enumerate([[5.0, -1.0, 2.0], [3.0, -2.0], [-3.0]]):
    ...     strongest.add(x, np.array(row))
    >>> [divmod(key, 4) for key in strongest.keys().tolist()]
    [(0, 1), (0, 3), (1, 2)]
    >>> round(strongest.mean_odds_of_others(), 3)
    0.184
    """

    def __init__(self, n_variables: int, k: int) -> None:
        self._core = _core.StrongestPartners(n_variables, k)

    def add(self, x: int, row: NDArray[np.float64]) -> None:
        """Add the evidence of x with each later variable; rows in the order of x."""
        self._core.add(x, row)

    def keys(self) -> Keys:
        """Return the pairs, ascending."""
        return self._core.pairs()[0]

    def varies(self) -> NDArray[np.bool_]:
        """Return, for each variable, whether it has any evidence with another."""
        return np.frombuffer(self._core.varies(), dtype=np.bool_)

    def mean_odds_of_others(self) -> float:
        """Return the mean of exp(evidence) of the other pairs whose evidence is against an edge; 0 if there is none."""
        count, odds = self._core.against()
        evidence = self._core.pairs()[1]
        listed = evidence[evidence < 0]
        n_others = count - len(listed)
        return max(0.0, odds - float(exp(listed).sum())) / n_others if n_others else 0.0


@dataclass(frozen=True, eq=False)
class VariableLists:
    """Lists one after the other: the k-th is ``members[starts[k] : starts[k + 1]]``.

    Examples
    --------
    >>> lists = VariableLists.of([[1, 2], [], [0]])
    >>> lists.at(0).tolist(), lists.sizes.tolist()
    ([1, 2], [2, 0, 1])
    >>> lists.replaced(np.array([0]), VariableLists.of([[2]])).members.tolist()
    [2, 0]
    """

    starts: NDArray[np.int64]
    members: NDArray[np.int32]

    @classmethod
    def of(cls, lists: Sequence[Collection[int]]) -> VariableLists:
        """Return these lists in two arrays."""
        sizes = np.fromiter(map(len, lists), dtype=np.int64, count=len(lists))
        return cls.of_sizes(sizes, np.fromiter(chain.from_iterable(lists), dtype=np.int32, count=int(sizes.sum())))

    @classmethod
    def of_sizes(cls, sizes: NDArray[np.int64], members: NDArray[np.int32]) -> VariableLists:
        """Return lists of these lengths."""
        starts = np.zeros(len(sizes) + 1, dtype=np.int64)
        np.cumsum(sizes, out=starts[1:])
        return cls(starts, members)

    @classmethod
    def joined(cls, parts: Sequence[VariableLists]) -> VariableLists:
        """Return the lists of all parts, one part after the other."""
        sizes = np.concatenate([np.empty(0, dtype=np.int64), *(part.sizes for part in parts)])
        return cls.of_sizes(sizes, np.concatenate([np.empty(0, dtype=np.int32), *(part.members for part in parts)]))

    @property
    def sizes(self) -> NDArray[np.int64]:
        """Length of each list."""
        return np.diff(self.starts)

    def __len__(self) -> int:
        return len(self.starts) - 1

    def at(self, k: int) -> NDArray[np.int32]:
        """Return the k-th list."""
        return self.members[self.starts[k] : self.starts[k + 1]]

    def sets(self) -> list[frozenset[int]]:
        """Return each list as a set."""
        members, starts = self.members.tolist(), self.starts.tolist()
        return [frozenset(members[a:b]) for a, b in pairwise(starts)]

    def chosen(self, ks: NDArray[np.int32]) -> VariableLists:
        """Return some of the lists; ks ascending, each once."""
        may = np.zeros(len(self), dtype=np.bool_)
        may[ks] = True
        return VariableLists.of_sizes(self.sizes[ks], self.members[np.repeat(may, self.sizes)])

    def replaced(self, ks: NDArray[np.int32], lists: VariableLists) -> VariableLists:
        """Return the lists with those at ks replaced; ks ascending, each once."""
        new = np.zeros(len(self), dtype=np.bool_)
        new[ks] = True
        sizes = self.sizes
        kept = self.members[~np.repeat(new, sizes)]
        sizes[ks] = lists.sizes
        rows = np.repeat(new, sizes)
        members = np.empty(len(rows), dtype=np.int32)
        members[rows], members[~rows] = lists.members, kept
        return VariableLists.of_sizes(sizes, members)

    def first(self, most: int) -> VariableLists:
        """Return at most so many members of each list, the first ones."""
        place = np.arange(len(self.members)) - np.repeat(self.starts[:-1], self.sizes)
        return VariableLists.of_sizes(np.minimum(self.sizes, most), self.members[place < most])

    def pairs(self) -> NDArray[np.int64]:
        """Return (k, member) for each member of the k-th list."""
        ks = np.repeat(np.arange(len(self), dtype=np.int64), self.sizes)
        return np.stack([ks, self.members.astype(np.int64)], axis=1)


def graph_of_keys(n_variables: int, keys: Keys) -> Graph:
    """Return the graph with these pairs for edges: u n + v with u < v, ascending, each once."""
    u, v = keys // n_variables, keys % n_variables
    ends, others = np.concatenate([u, v]), np.concatenate([v, u]).astype(np.int32)
    order = np.argsort(ends, kind="stable")
    lists = VariableLists.of_sizes(np.bincount(ends, minlength=n_variables).astype(np.int64), others[order])
    return Graph._share(lists.sets(), len(keys))


def edge_keys(graph: Graph) -> Keys:
    """Return u n + v of each edge u < v, ascending."""
    n = graph.n_variables
    neighbors = [graph.neighbors(x) for x in range(n)]
    pairs = VariableLists.of(neighbors).pairs()
    upper = pairs[pairs[:, 0] < pairs[:, 1]]
    keys: Keys = np.sort(upper[:, 0] * n + upper[:, 1])
    return keys


def both_ends(lists: VariableLists) -> tuple[Keys, Keys]:
    """Return the keys of the pairs that both variables list, and of those that at least one of them lists."""
    n, pairs = len(lists), lists.pairs()
    keys = np.sort(pairs.min(axis=1) * np.int64(n) + pairs.max(axis=1))
    first = np.flatnonzero(np.diff(keys, prepend=-1))
    either = keys[first]
    return either[np.diff(first, append=len(keys)) > 1], either
