"""Slow, obvious twins of the maximum-a-posteriori scores and of IBMAP-HC: one question at a time, nothing kept."""

from __future__ import annotations

from math import prod

import numpy as np

from mnlearn.graphs import Graph
from mnlearn.graphs.graph import Edge
from mnlearn.protocols import IndependencePosterior, Indices, LogOdds, Score, VarSet


class WhimsicalPosterior:
    """Probabilities drawn at random, the same whenever and from whichever end it is asked. Keeps what it was asked."""

    def __init__(self, cards: tuple[int, ...], seed: int) -> None:
        self.cards, self._seed = cards, seed
        self.asked: list[tuple[int, int, VarSet]] = []

    @property
    def n_variables(self) -> int:
        return len(self.cards)

    def log_odds(self, x: int, ys: Indices, z: VarSet) -> LogOdds:
        p = np.array([self._probability(x, int(y), z) for y in ys])
        return LogOdds(np.log(p), np.log1p(-p))

    def members(self, x: int, z: VarSet) -> LogOdds:
        p = np.array([self._probability(x, y, z - {y}) for y in sorted(z)])
        return LogOdds(np.log(p), np.log1p(-p))

    def _probability(self, x: int, y: int, z: VarSet) -> float:
        assert x != y
        assert not {x, y} & z
        self.asked.append((x, y, z))
        drawn = hash((self._seed, min(x, y), max(x, y), *sorted(z)))  # of integers: the same in every process
        return (drawn * 0x9E3779B97F4A7C15 % 2**53 + 0.5) / 2**53


class OraclePosterior:
    """Nearly sure of what separation in a known graph says."""

    def __init__(self, graph: Graph, cards: tuple[int, ...] | None = None, sure: float = 0.99) -> None:
        self.graph, self.cards, self._sure = graph, cards or (2,) * graph.n_variables, sure

    @property
    def n_variables(self) -> int:
        return self.graph.n_variables

    def log_odds(self, x: int, ys: Indices, z: VarSet) -> LogOdds:
        p = np.array([self._sure if self.graph.separates(x, int(y), z) else 1.0 - self._sure for y in ys])
        return LogOdds(np.log(p), np.log1p(-p))

    def members(self, x: int, z: VarSet) -> LogOdds:
        both = [self.log_odds(x, [y], z - {y}) for y in sorted(z)]
        return LogOdds(np.array([o.independent[0] for o in both]), np.array([o.dependent[0] for o in both]))


def claim(posterior: IndependencePosterior, graph: Graph, x: int, y: int) -> float:
    """BJP18, Eq. 8: dependence given the other neighbours, or independence given all."""
    around = graph.neighbors(x)
    if y in around:
        return float(posterior.log_odds(x, [y], around - {y}).dependent[0])
    return float(posterior.log_odds(x, [y], around).independent[0])


def ib(posterior: IndependencePosterior, graph: Graph) -> float:
    """BJP18, Eq. 7-8."""
    n = graph.n_variables
    return sum(claim(posterior, graph, x, y) for x in range(n) for y in range(n) if x != y)


def marginal(posterior: IndependencePosterior, x: int, y: int) -> float:
    """How probable independence is without any condition: the lower, the stronger the association."""
    return float(posterior.log_odds(x, [y], frozenset()).independent[0])


def precedence(posterior: IndependencePosterior) -> list[int]:
    """All variables, the strongest marginal association first; equal sums, up to rounding, by index."""
    n = posterior.n_variables
    sums = [sum(marginal(posterior, x, y) for y in range(n) if y != x) for x in range(n)]
    found, left = list[int](), sorted(range(n), key=sums.__getitem__)
    while left:
        same = 1
        while same < len(left) and sums[left[same]] - sums[left[same - 1]] <= 1e-9:
            same += 1
        found += sorted(left[:same])
        left = left[same:]
    return found


def order(posterior: IndependencePosterior, graph: Graph) -> list[int]:
    """ψ: ascending number of configurations of the blanket, then the strongest marginal association, then the index."""
    sizes = [prod(posterior.cards[y] for y in graph.neighbors(x)) for x in range(graph.n_variables)]
    return sorted(precedence(posterior), key=sizes.__getitem__)


def bjp(posterior: IndependencePosterior, graph: Graph, psi: list[int] | None = None) -> float:
    """BJP18, Eq. 11-14: what i claims of k counts if i comes before k, else it is log 1."""
    psi = order(posterior, graph) if psi is None else psi
    n = graph.n_variables
    return sum(claim(posterior, graph, psi[i], psi[k]) for i in range(n) for k in range(n) if i < k)


def pairwise_ib(posterior: IndependencePosterior, graph: Graph, u: int, v: int) -> float:
    """Both directed terms."""
    return claim(posterior, graph, u, v) + claim(posterior, graph, v, u)


def pairwise_bjp(posterior: IndependencePosterior, graph: Graph, u: int, v: int) -> float:
    """The single term of the end that comes first."""
    psi = order(posterior, graph)
    first, second = sorted((u, v), key=psi.index)
    return claim(posterior, graph, first, second)


def first_of_tied(tied: list[Edge], strength: dict[Edge, float], graph: Graph) -> Edge:
    """The strongest association; then the fewest edges at its ends; then the strongest ends; then the first."""

    def ends(pair: Edge) -> float:
        return sum(value for x in pair for other, value in strength.items() if x in other)

    tied = [pair for pair in tied if strength[pair] >= max(strength[other] for other in tied) - 1e-9]
    fewest = min(graph.degree(u) + graph.degree(v) for u, v in tied)
    tied = [(u, v) for u, v in tied if graph.degree(u) + graph.degree(v) == fewest]
    strongest = max(map(ends, tied))
    return min(pair for pair in tied if ends(pair) >= strongest - 1e-9 * max(1.0, abs(strongest) / 1000))


def ibmap_hc(posterior: IndependencePosterior, name: str) -> tuple[Graph, list[float]]:
    """IBMAP14, Algorithms 1 and 2: from no edges, flip the pair with the lowest score while that improves."""
    score = {"ib": ib, "bjp": bjp}[name]
    pairwise = {"ib": pairwise_ib, "bjp": pairwise_bjp}[name]
    graph = Graph.empty(posterior.n_variables)
    scores = [score(posterior, graph)]
    while True:
        n = graph.n_variables
        parts = {(u, v): pairwise(posterior, graph, u, v) for u in range(n) for v in range(u + 1, n)}
        tied = [pair for pair in parts if parts[pair] <= min(parts.values()) + 1e-9]
        strength = {pair: -marginal(posterior, *pair) for pair in parts}
        neighbor = graph.flip(*first_of_tied(tied, strength, graph))
        value = score(posterior, neighbor)
        if not value > scores[-1] + 1e-9:
            return graph, scores
        graph = neighbor
        scores.append(value)


def all_graphs(n_variables: int) -> list[Graph]:
    """Every graph on so many variables."""
    pairs = [(u, v) for u in range(n_variables) for v in range(u + 1, n_variables)]
    return [
        Graph(n_variables, [pair for k, pair in enumerate(pairs) if code >> k & 1]) for code in range(1 << len(pairs))
    ]


def optimum(score: Score) -> float:
    """The best score of all graphs, one after the other."""
    return max(score(graph) for graph in all_graphs(score.n_variables))


def random_edge(rng: np.random.Generator, n_variables: int) -> Edge:
    """Two different variables, the smaller first."""
    u, v = sorted(rng.choice(n_variables, 2, replace=False).tolist())
    return (u, v)
