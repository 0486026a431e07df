"""Slow, obvious twin of steepest hill climbing: every gain from scratch before every step."""

from __future__ import annotations

from collections.abc import Collection
from itertools import combinations

from mnlearn.graphs import Graph
from mnlearn.graphs.graph import Edge
from mnlearn.protocols import Score

from references.map import first_of_tied

ROUNDING = 1e-9


class Climb:
    """One search, its trace and its best graph; None in the trace is a move to another graph without a flip."""

    def __init__(self, score: Score, strength: dict[Edge, float], fixed: Collection[Edge], start: Graph) -> None:
        self.graph = self.best = start
        self.trace: list[Edge | None] = []
        self._score, self._strength = score, strength
        self.free = [pair for pair in combinations(range(score.n_variables), 2) if pair not in fixed]

    def gain(self, pair: Edge) -> float:
        return self._score(self.graph.flip(*pair)) - self._score(self.graph)

    def flip(self, pair: Edge) -> bool:
        """Flip the pair; return whether the graph is the best so far."""
        self.graph = self.graph.flip(*pair)
        self.trace.append(pair)
        return self.compare()

    def compare(self) -> bool:
        better = self._score(self.graph) > self._score(self.best) + ROUNDING
        if better:
            self.best = self.graph
        return better

    def move(self, graph: Graph) -> None:
        self.graph = graph
        self.trace.append(None)

    def steepest(self, pairs: Collection[Edge]) -> Edge:
        gains = {pair: self.gain(pair) for pair in pairs}
        tied = [pair for pair in pairs if gains[pair] >= max(gains.values()) - ROUNDING]
        return first_of_tied(tied, self._strength, self.graph)

    def improve(self) -> bool:
        pair = self.steepest(self.free)
        return self.gain(pair) > ROUNDING and (self.flip(pair) or True)

    def tabu(self, length: int, patience: int) -> None:
        recent, waited = list[Edge](), 0
        while waited < patience and len(recent) < len(self.free):
            pair = self.steepest([pair for pair in self.free if pair not in recent])
            waited = 0 if self.flip(pair) else waited + 1
            recent = [*recent, pair][-length:]
        if self.graph != self.best:
            self.move(self.best)


def hill_climb(
    score: Score,
    strength: dict[Edge, float],
    *,
    patience: int,
    tabu: int,
    required: Collection[Edge],
    forbidden: Collection[Edge],
) -> Climb:
    """The settings are those of `HillClimb`; strength is the marginal association of each pair."""
    run = Climb(score, strength, {*required, *forbidden}, Graph(score.n_variables, required))
    if tabu:
        run.tabu(tabu, patience)
    while run.improve():
        pass
    return run
