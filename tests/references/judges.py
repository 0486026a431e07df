"""Judges for tests of searches: distances as evidence, random answers that never change, an account, a cache."""

from __future__ import annotations

from collections.abc import Callable
from math import log

import numpy as np

from mnlearn.graphs import Graph
from mnlearn.protocols import BaseTest, IndependenceTest, Indices, VarSet, Verdict, Verdicts


class GradedOracle:
    """The separation oracle with associations that fade along the shortest open path, as they do in data."""

    def __init__(self, graph: Graph) -> None:
        self.graph = graph

    @property
    def n_variables(self) -> int:
        return self.graph.n_variables

    def __call__(self, x: int, y: int, z: VarSet) -> Verdict:
        return self.scan(x, (y,), z).one(0)

    def scan(self, x: int, ys: Indices, z: VarSet) -> Verdicts:
        distance, wave = {x: 0}, {x}
        while wave:
            wave = {v for u in wave for v in self.graph.neighbors(u)} - set(distance) - z
            distance |= dict.fromkeys(wave, 1 + max(distance.values()))
        support = np.array([-100.0 / distance[int(y)] if int(y) in distance else 0.0 for y in ys])
        return Verdicts(support == 0.0, support)


class Whimsical:
    """Answers drawn at random, the same ones whenever and from whichever end it is asked: no graph fits them.

    A search that takes another turn than the one written down will sooner or later show it here.
    """

    def __init__(self, n_variables: int, seed: int, independent: float = 0.3) -> None:
        self.n_variables, self._seed, self._independent = n_variables, seed, independent

    def __call__(self, x: int, y: int, z: VarSet) -> Verdict:
        drawn = hash((self._seed, min(x, y), max(x, y), *sorted(z)))  # of integers: the same in every process
        share = (drawn * 0x9E3779B97F4A7C15 % 2**64 + 1) / 2**64
        # Without conditioning nearly everything depends: there is more to decide later.
        return Verdict(bool(share < (self._independent if z else 0.1)), log(share))

    def scan(self, x: int, ys: Indices, z: VarSet) -> Verdicts:
        answers = [self(x, int(y), z) for y in ys]
        support = np.array([a.log_support for a in answers], dtype=np.float64)
        return Verdicts(np.array([a.independent for a in answers], dtype=np.bool_), support)


class Audited(BaseTest):
    """Account of the questions to the test inside; never batched, so a search puts its questions one scan at a time."""

    def __init__(self, test: IndependenceTest) -> None:
        self._test = test
        self.asked, self.weighted, self.largest_z = 0, 0, 0

    @property
    def n_variables(self) -> int:
        return self._test.n_variables

    def scan(self, x: int, ys: Indices, z: VarSet) -> Verdicts:
        answers = self._test.scan(x, ys, z)
        self.asked += len(ys)
        self.weighted += len(ys) * (2 + len(z))
        self.largest_z = max(self.largest_z, len(z) if len(ys) else 0)
        return answers


def cached(test: IndependenceTest) -> Callable[[int, int, VarSet], Verdict]:
    """Return the test with a cache: each question, from either end, reaches it once."""
    known: dict[tuple[int, int, VarSet], Verdict] = {}

    def ask(x: int, y: int, z: VarSet) -> Verdict:
        question = (min(x, y), max(x, y), z)
        if question not in known:
            known[question] = test(x, y, z)
        return known[question]

    return ask
