"""All graphs that constraints allow, by number, each with its score."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from math import exp, inf, log

import numpy as np

from mnlearn.algorithms._gains import tolerance
from mnlearn.errors import InputError
from mnlearn.graphs.graph import Edge, Graph
from mnlearn.protocols import FloatArray, IntArray

_TINY = 1e-280  # a sum of masses below this has lost digits: it is taken again on a scale of its own


@dataclass(frozen=True, eq=False)
class AllGraphs:
    """Every graph over the undecided pairs, numbered: bit k of a number says whether `pairs[k]` is an edge.

    Attributes
    ----------
    n_variables
        How many variables there are.
    required
        The edges that all these graphs have.
    pairs
        The undecided pairs, in lexicographic order.
    scores
        The score of each graph, by number.

    Examples
    --------
    >>> two = AllGraphs(2, (), ((0, 1),), np.zeros(2))
    >>> two.graph(1).edges, two.edge_probabilities()
    (((0, 1),), {(0, 1): 0.5})
    """

    n_variables: int
    required: tuple[Edge, ...]
    pairs: tuple[Edge, ...]
    scores: FloatArray

    def __len__(self) -> int:
        return len(self.scores)

    def graph(self, number: int) -> Graph:
        """The graph of this number."""
        if not 0 <= number < len(self):
            raise InputError(f"number must be from 0 to {len(self) - 1}; got {number}.")
        chosen = [pair for k, pair in enumerate(self.pairs) if number >> k & 1]
        return Graph(self.n_variables, [*self.required, *chosen])

    def number(self, graph: Graph) -> int:
        """The number of this graph, which must be one of these."""
        number = sum(1 << k for k, pair in enumerate(self.pairs) if pair in graph)
        if graph.n_variables != self.n_variables or self.graph(number) != graph:
            raise InputError("graph must have the required edges and none that is forbidden; this one does not.")
        return number

    def best(self, k: int = 1) -> list[int]:
        """The numbers of the k best graphs, best first; of equals the sparsest, then the smallest number."""
        left, found = self.scores.copy(), list[int]()
        while len(found) < min(k, len(self)):
            top = float(left.max())
            if top == -inf:
                break
            tied = np.flatnonzero(left >= top - tolerance([top]))
            found.append(int(min(tied.tolist(), key=lambda number: (number.bit_count(), number))))
            left[found[-1]] = -inf
        return found

    def log_masses(self) -> FloatArray:
        """log P of each graph: its score, normalised over all graphs."""
        top = self.scores.max()
        masses: FloatArray = self.scores - (top + np.log(np.exp(self.scores - top).sum()))
        return masses

    def edge_log_odds(self) -> dict[Edge, float]:
        """For every pair of variables: log Σ exp(score) of the graphs with the edge against those without it.

        Infinite for an edge that is required, minus infinite for one that is forbidden.
        """
        everyone = combinations(range(self.n_variables), 2)
        found = {pair: inf if pair in self.required else -inf for pair in everyone}
        top = float(self.scores.max())
        masses = np.exp(self.scores - top)
        for k, pair in enumerate(self.pairs):
            halves = (-1, 2, 1 << k)  # before bit k, bit k, after it
            sums, scores = masses.reshape(halves).sum(axis=(0, 2)), self.scores.reshape(halves)
            absent, present = (
                top + log(sums[side]) if sums[side] > _TINY else _log_sum(scores[:, side]) for side in (0, 1)
            )
            found[pair] = present - absent
        return found

    def edge_probabilities(self) -> dict[Edge, float]:
        """For every pair of variables: the mass of all graphs that have the edge."""
        return {pair: 1 / (1 + exp(-odds)) if odds > -700 else 0.0 for pair, odds in self.edge_log_odds().items()}

    def distances(self, graph: Graph) -> IntArray:
        """The Hamming distance of each graph to this one: the pairs in which they differ."""
        if graph.n_variables != self.n_variables:
            raise InputError(f"graph must have {self.n_variables} variables, as these have; got {graph.n_variables}.")
        own = sum(1 << k for k, pair in enumerate(self.pairs) if pair in graph)
        decided = len(set(graph.edges) ^ set(self.graph(own).edges))
        differing: IntArray = n_edges(len(self.pairs))[np.arange(len(self)) ^ own] + decided
        return differing


def n_edges(n_pairs: int) -> IntArray:
    """How many bits each number below 2^n_pairs has."""
    counts = np.zeros(1, dtype=np.int64)
    for _ in range(n_pairs):
        counts = np.concatenate([counts, counts + 1])
    return counts


def _log_sum(scores: FloatArray) -> float:
    """log Σ exp(score), on the scale of the largest."""
    top = float(scores.max())
    if top == -inf:
        return top
    return top + log(float(np.exp(scores - top).sum()))
