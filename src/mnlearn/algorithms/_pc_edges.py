"""Edges that PC has not dropped yet, with their weakest evidence, and the separators of the others.

All pairs are matrices, candidate pairs lists: memory then grows with the number of candidates.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping
from math import isnan, nan
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mnlearn.algorithms.base import Cancelled, ordered
from mnlearn.algorithms.counted import CountedTest
from mnlearn.graphs.candidates import Candidates
from mnlearn.graphs.graph import Edge, Graph
from mnlearn.protocols import (
    BoolArray,
    FloatArray,
    Indices,
    PairLists,
    Separated,
    SetLevel,
    SubsetWalk,
    VarSet,
    Verdicts,
)


class Pairs(ABC):
    """Pairs of variables, and which of them are still joined; stored from both ends.

    Attributes
    ----------
    adjacent
        Whether each pair is joined; the search changes it.
    lists
        The partners of each variable; None for all pairs.
    """

    adjacent: BoolArray
    lists: PairLists | None = None
    n_variables: int

    @abstractmethod
    def at(self, x: int, ys: Any) -> Any:
        """Return where the pairs of x with these variables, or this one, are stored."""

    @abstractmethod
    def neighbors(self, x: int) -> list[int]:
        """Return the variables that are still joined to x, ascending."""

    @abstractmethod
    def ends(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return the first and the second variables of the joined pairs u < v, in lexicographic order."""

    @abstractmethod
    def separated(self) -> Iterator[Edge]:
        """Yield the pairs u < v that are not joined, in lexicographic order."""

    @abstractmethod
    def has(self, u: int, v: int) -> bool:
        """Return whether this pair u < v was ever looked at."""

    @abstractmethod
    def largest_degree(self) -> int:
        """Return the largest number of variables that are joined to one."""

    def drop(self, x: int, y: int) -> None:
        """Separate a pair."""
        self.adjacent[self.at(x, y)] = self.adjacent[self.at(y, x)] = False

    def graph(self) -> Graph:
        """Return the graph of the joined pairs."""
        return Graph(self.n_variables, zip(*(ends.tolist() for ends in self.ends()), strict=True))


class AllPairs(Pairs):
    """All pairs, as a symmetric matrix with False on its diagonal."""

    def __init__(self, adjacent: BoolArray) -> None:
        self.adjacent, self.n_variables = adjacent, len(adjacent)

    def at(self, x: int, ys: Any) -> Any:
        """Return where the pairs of x with these variables, or this one, are stored."""
        return x, ys

    def neighbors(self, x: int) -> list[int]:
        """Return the variables that are still joined to x, ascending."""
        found: list[int] = np.flatnonzero(self.adjacent[x]).tolist()
        return found

    def ends(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return the first and the second variables of the joined pairs u < v, in lexicographic order."""
        u, v = np.nonzero(self.adjacent)
        return u[u < v], v[u < v]

    def separated(self) -> Iterator[Edge]:
        """Yield the pairs u < v that are not joined, in lexicographic order."""
        for u, row in enumerate(self.adjacent):
            yield from ((u, v) for v in (np.flatnonzero(~row[u + 1 :]) + (u + 1)).tolist())

    def has(self, u: int, v: int) -> bool:
        """Return whether this pair u < v was ever looked at."""
        return 0 <= u < v < self.n_variables

    def largest_degree(self) -> int:
        """Return the largest number of variables that are joined to one."""
        return int(self.adjacent.sum(axis=1).max())


class ListedPairs(Pairs):
    """Candidate pairs, as the lists of the partners of each variable."""

    def __init__(self, n_variables: int, lists: PairLists, adjacent: BoolArray) -> None:
        self.n_variables, self.lists, self.adjacent = n_variables, lists, adjacent
        self._starts, self._partners = lists

    def at(self, x: int, ys: Any) -> Any:
        """Return where the pairs of x with these variables, or this one, are stored."""
        first = self._starts[x]
        return first + self._partners[first : self._starts[x + 1]].searchsorted(ys)

    def neighbors(self, x: int) -> list[int]:
        """Return the variables that are still joined to x, ascending."""
        of_x = slice(self._starts[x], self._starts[x + 1])
        found: list[int] = self._partners[of_x][self.adjacent[of_x]].tolist()
        return found

    def ends(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return the first and the second variables of the joined pairs u < v, in lexicographic order."""
        return self._ends(self.adjacent)

    def separated(self) -> Iterator[Edge]:
        """Yield the pairs u < v that are not joined, in lexicographic order."""
        yield from zip(*(ends.tolist() for ends in self._ends(~self.adjacent)), strict=True)

    def has(self, u: int, v: int) -> bool:
        """Return whether this pair u < v was ever looked at."""
        if not 0 <= u < v < self.n_variables:
            return False
        place = self.at(u, v)
        return bool(place < self._starts[u + 1] and self._partners[place] == v)

    def largest_degree(self) -> int:
        """Return the largest number of variables that are joined to one."""
        return int(np.bincount(self._firsts()[self.adjacent], minlength=1).max(initial=0))

    def _firsts(self) -> NDArray[np.int64]:
        """Return the variable whose list each partner is in."""
        return np.repeat(np.arange(self.n_variables, dtype=np.int64), np.diff(self._starts))

    def _ends(self, chosen: BoolArray) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        firsts = self._firsts()
        chosen = chosen & (firsts < self._partners)
        return firsts[chosen], self._partners[chosen].astype(np.int64)


class RemainingEdges:
    """The remaining edges with their weakest evidence, and the separators of the others.

    Parameters
    ----------
    pairs
        The pairs, with their dependences without conditioning.
    support
        The log support of each pair without conditioning; overwritten, since it is the largest array of the search.
    """

    def __init__(self, pairs: Pairs, support: FloatArray) -> None:
        self.pairs, self.separators = pairs, StoredSeparators(pairs)
        self._weakest = support  # as tested from the first variable; of a dropped pair that of its last test

    @classmethod
    def tested(cls, test: CountedTest, candidates: Candidates | None) -> RemainingEdges:
        """Return the candidates, or all pairs, that depend on each other without conditioning."""
        if candidates is None:
            independent, support = test.marginals()
            np.fill_diagonal(independent, True)
            return cls(AllPairs(np.logical_not(independent, out=independent)), support)
        answers = test.listed_marginals(candidates)
        lists = PairLists(answers.starts, answers.listed)
        return cls(ListedPairs(test.n_variables, lists, ~answers.decisions), answers.log_support.copy())

    @classmethod
    def untested(cls, n_variables: int, candidates: Candidates | None) -> RemainingEdges:
        """Return all edges, without evidence."""
        if candidates is None:
            adjacent = ~np.eye(n_variables, dtype=np.bool_)
            return cls(AllPairs(adjacent), np.full(adjacent.shape, nan))
        lists = PairLists(*candidates.lists())
        n_ends = len(lists.partners)
        return cls(ListedPairs(n_variables, lists, np.ones(n_ends, dtype=np.bool_)), np.full(n_ends, nan))

    def count(self) -> int:
        """Return the number of remaining edges."""
        return int(np.count_nonzero(self.pairs.adjacent)) // 2

    def settle(self, x: int, ys: Indices, z: VarSet, answers: Verdicts) -> bool:
        """Drop the independent pairs and update the evidence of the others; return whether any was dropped."""
        ys = np.asarray(ys)
        here = self.pairs.at(x, ys)
        self._weakest[here] = np.fmax(self._weakest[here], answers.log_support)  # it may be NaN
        dropped = np.flatnonzero(answers.independent)
        for y, support in zip(ys[dropped].tolist(), answers.log_support[dropped].tolist(), strict=True):
            self.pairs.drop(x, y)
            self.separators.add(x, y, z, support)
        return len(dropped) > 0

    def settle_level(self, size: int, walk: SubsetWalk, test: CountedTest, go_on: Callable[[int], bool]) -> bool:
        """Drop the pairs that a native search separates by sets of one size; return False if it cannot."""
        adjacent = self.pairs.adjacent
        level = SetLevel(size, adjacent.copy(), adjacent, self._weakest, self.pairs.lists)
        found = walk.separate(level, range(test.n_variables), go_on)
        if found is None:
            return False
        test.record_sizes([(size, found.asked)])
        self.separators.add_level(found)
        if not found.finished:
            raise Cancelled
        return True

    def support(self, graph: Graph) -> dict[Edge, float]:
        """Return the weakest evidence of each edge that has any."""
        found = {edge: self._support(*edge) for edge in graph.edges}
        return {edge: value for edge, value in found.items() if not isnan(value)}

    def _support(self, u: int, v: int) -> float:
        """Return the weakest evidence of an edge; of one that was added, the support of the test that separated it."""
        if not self.pairs.has(u, v):
            return nan
        here, back = self.pairs.at(u, v), self.pairs.at(v, u)
        if self.pairs.adjacent[here]:
            return float(np.fmax(self._weakest[here], self._weakest[back]))
        return self.separators.support((u, v), float(self._weakest[here]))


class StoredSeparators(Mapping[Edge, VarSet]):
    """The first set that separated each pair without an edge: the empty set for all pairs that are not stored.

    Parameters
    ----------
    pairs
        The pairs with the remaining edges, which the search changes. Pairs that are no candidates have no separator.
    """

    def __init__(self, pairs: Pairs) -> None:
        self._all = pairs
        self._levels: list[Separated] = []  # not yet among the pairs below: few are ever looked at
        self._found: dict[Edge, tuple[VarSet, float]] = {}  # the pairs that a set separated, with its support

    def add(self, x: int, y: int, z: VarSet, support: float) -> None:
        """Store the separator of a pair and the support of its test."""
        self._pairs()[ordered(x, y)] = z, support

    def add_level(self, found: Separated) -> None:
        """Store the separators that a native search found."""
        self._levels.append(found)

    def support(self, edge: Edge, marginal: float) -> float:
        """Return the support of the test that separated a pair, that without conditioning for a pair not stored."""
        return self._pairs().get(edge, (None, marginal))[1]

    def __getitem__(self, edge: Edge) -> VarSet:
        found = self._pairs().get(edge)
        if found is None and not self._is_separated(edge):
            raise KeyError(edge)
        return frozenset() if found is None else found[0]

    def __iter__(self) -> Iterator[Edge]:
        found = self._pairs()
        yield from (pair for pair in self._all.separated() if pair not in found)
        yield from found

    def __len__(self) -> int:
        n = self._all.n_variables
        n_pairs = n * (n - 1) if self._all.lists is None else len(self._all.lists.partners)
        return (n_pairs - int(np.count_nonzero(self._all.adjacent))) // 2

    def __repr__(self) -> str:
        return f"<separators of {len(self)} pairs>"

    def _is_separated(self, edge: object) -> bool:
        """Return whether this is a pair (u, v) with u < v that has no edge."""
        match edge:
            case int() | np.integer() as u, int() | np.integer() as v:
                return self._all.has(int(u), int(v)) and not self._all.adjacent[self._all.at(int(u), int(v))]
        return False

    def _pairs(self) -> dict[Edge, tuple[VarSet, float]]:
        """Return the stored pairs in the order in which they were separated."""
        for level in self._levels:
            for (x, y, *z), support in zip(level.sets.tolist(), level.log_support.tolist(), strict=True):
                self._found[ordered(x, y)] = frozenset(z), support
        self._levels.clear()
        return self._found
