"""Scores made of random numbers, and the slow, obvious way through all graphs."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

import numpy as np

from mnlearn.graphs.graph import Edge, Graph
from mnlearn.protocols import FloatArray, Indices, VarSet


def mask(members: VarSet) -> int:
    return sum(1 << y for y in members)


class RandomLocal:
    """A sum over variables: one random number for each blanket of each variable."""

    def __init__(self, n_variables: int, seed: int) -> None:
        self.n_variables = n_variables
        self.values = np.random.default_rng(seed).normal(size=(n_variables, 1 << n_variables))
        self.asked: list[tuple[int, VarSet]] = []

    def local(self, x: int, blanket: VarSet) -> float:
        assert x not in blanket
        self.asked.append((x, blanket))
        return float(self.values[x, mask(blanket)])

    def additions(self, xs: Indices, blankets: Sequence[VarSet], yss: Sequence[Indices]) -> list[FloatArray]:
        return [
            np.array([self.local(int(x), blanket | {int(y)}) for y in ys])
            for x, blanket, ys in zip(xs, blankets, yss, strict=True)
        ]

    def removals(self, xs: Indices, blankets: Sequence[VarSet]) -> list[FloatArray]:
        return [
            np.array([self.local(int(x), blanket - {y}) for y in sorted(blanket)])
            for x, blanket in zip(xs, blankets, strict=True)
        ]

    def __call__(self, graph: Graph) -> float:
        return float(sum(self.values[x, mask(graph.neighbors(x))] for x in range(self.n_variables)))


class RandomPairs:
    """A sum over pairs: what the end of lower rank tells, both by its blanket; ranks often tie."""

    def __init__(self, n_variables: int, seed: int) -> None:
        rng = np.random.default_rng(seed)
        self.n_variables = n_variables
        self.terms_of = rng.normal(size=(n_variables, 1 << n_variables, n_variables))
        self.rank = rng.integers(3, size=(n_variables, 1 << n_variables)).astype(np.float64)

    def terms(self, xs: Indices, blankets: Sequence[VarSet]) -> FloatArray:
        return np.array([self.terms_of[int(x), mask(blanket)] for x, blanket in zip(xs, blankets, strict=True)])

    def ranks(self, xs: Indices, blankets: Sequence[VarSet]) -> FloatArray:
        return np.array([self.rank[int(x), mask(blanket)] for x, blanket in zip(xs, blankets, strict=True)])

    def __call__(self, graph: Graph) -> float:
        value = 0.0
        for x, y in combinations(range(self.n_variables), 2):
            around_x, around_y = mask(graph.neighbors(x)), mask(graph.neighbors(y))
            if self.rank[x, around_x] <= self.rank[y, around_y]:
                value += self.terms_of[x, around_x, y]
            else:
                value += self.terms_of[y, around_y, x]
        return value


class Plain:
    """Any score, with nothing to it but the score."""

    def __init__(self, score: RandomLocal | RandomPairs) -> None:
        self.n_variables, self._score = score.n_variables, score

    def __call__(self, graph: Graph) -> float:
        return self._score(graph)


def all_graphs(n_variables: int, required: Sequence[Edge] = (), forbidden: Sequence[Edge] = ()) -> list[Graph]:
    """Every graph that has what is required and nothing that is forbidden."""
    pairs = list(combinations(range(n_variables), 2))
    every = [Graph(n_variables, edges) for size in range(len(pairs) + 1) for edges in combinations(pairs, size)]
    return [g for g in every if {*required} <= {*g.edges} and not {*forbidden} & {*g.edges}]
