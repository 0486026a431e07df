"""A list of variables for each variable, in two arrays: blankets or partners without an object for each."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from itertools import chain, pairwise

import numpy as np
from numpy.typing import NDArray

from mnlearn.graphs.candidates import Keys
from mnlearn.graphs.graph import Graph


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
