"""Candidate pairs of a search: all pairs, or lists of partners that a screen finds."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from mnlearn.graphs.graph import Edge, Graph
from mnlearn.graphs.separating_sets import Numbers

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
    keys: NDArray[np.int64]
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

    def places(self, pairs: Collection[Edge]) -> NDArray[np.intp]:
        """Return the places of those of these pairs that are listed."""
        if not pairs:
            return np.empty(0, dtype=np.intp)
        ends = np.array(list(pairs), dtype=np.int64)
        wanted = ends[:, 0] * self.n_variables + ends[:, 1]
        places = np.minimum(np.searchsorted(self.keys, wanted), len(self.keys) - 1)
        found: NDArray[np.intp] = places[self.keys[places] == wanted]
        return found

    def with_graph(self, graph: Graph) -> Candidates:
        """Return these pairs with those that are joined in a graph, or at distance two; itself if none is new."""
        if not self.n_others:
            return self
        keys = np.union1d(self.keys, keys_of(graph.n_variables, near_pairs(graph)))
        return self if len(keys) == len(self.keys) else replace(self, keys=keys)


def all_pairs(n_variables: int) -> Candidates:
    """Return all pairs."""
    u, v = np.triu_indices(n_variables, 1)
    return Candidates(n_variables, u * np.int64(n_variables) + v)


def keys_of(n_variables: int, pairs: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return u n + v of each pair of two different variables in either order, ascending and each once."""
    low, high = pairs.min(axis=1), pairs.max(axis=1)
    return np.unique((low * np.int64(n_variables) + high)[low < high])


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
