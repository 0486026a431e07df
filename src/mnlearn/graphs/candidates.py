"""Candidate pairs: the pairs of variables that a search looks at, all of them or those that a screen lists.

Memory grows with the number of candidates, not with the number of pairs.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from mnlearn.errors import InputError
from mnlearn.graphs.graph import Edge, Graph

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
        starts, partners, _ = self.directed()
        return starts, partners

    def directed(self) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.intp]]:
        """Return `lists`, and for each partner the place of its pair among the keys."""
        u, v = self.u, self.v
        x, y = np.concatenate([u, v]), np.concatenate([v, u])
        order = np.lexsort((y, x))
        starts = np.zeros(self.n_variables + 1, dtype=np.int64)
        np.cumsum(np.bincount(x, minlength=self.n_variables), out=starts[1:])
        return starts, y[order], order % max(1, len(u))

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
