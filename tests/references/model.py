"""Parameters and inference the slow way: subset by subset, state by state, row by row."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import chain, combinations, product
from math import exp, log

import numpy as np
from numpy.typing import NDArray

from mnlearn import Graph
from mnlearn.simulate import FactorNetwork

from references.sampling import distribution

Joint = NDArray[np.float64]


def subsets(members: Sequence[int]) -> list[tuple[int, ...]]:
    """Every subset, the empty one first."""
    return list(chain.from_iterable(combinations(members, k) for k in range(len(members) + 1)))


def cliques(graph: Graph) -> list[tuple[int, ...]]:
    """Every non-empty set whose members are all joined."""
    everyone = subsets(range(graph.n_variables))[1:]
    return [s for s in everyone if all(graph.has_edge(u, v) for u, v in combinations(s, 2))]


def conditional(joint: Joint, i: int, around: Sequence[int], states: Sequence[int]) -> float:
    """P(X_i = states[i] | the variables around it as in states), by adding up the joint."""
    above = below = 0.0
    for x in product(*map(range, joint.shape)):
        if all(x[y] == states[y] for y in around):
            below += joint[x]
            above += joint[x] if x[i] == states[i] else 0.0
    return above / below


def canonical_factor(
    joint: Joint, graph: Graph, clique: Sequence[int], i: int, d: Sequence[int], default: Sequence[int]
) -> float:
    """log ψ⁺_D(d) by the sum of [MBS09, Eq. 5], as it stands."""
    total = 0.0
    for kept in subsets(clique):
        sigma = list(default)
        for x in kept:
            sigma[x] = d[list(clique).index(x)]
        sign = (-1) ** (len(clique) - len(kept))
        total += sign * log(conditional(joint, i, sorted(graph.neighbors(i)), sigma))
    return total


def markov_joint(graph: Graph, cards: Sequence[int], seed: int) -> Joint:
    """A positive joint whose independences are those of the graph: a random factor on every clique."""
    rng = np.random.default_rng(seed)
    logs = np.zeros(cards)
    for clique in cliques(graph):
        table = rng.normal(0.0, 0.7, [cards[x] if x in clique else 1 for x in range(len(cards))])
        logs = logs + table
    joint = np.exp(logs)
    return np.asarray(joint / joint.sum())


def log_conditional(network: FactorNetwork, x: int, row: Sequence[int]) -> float:
    """log p(x_j | all others) from the product of all factors."""

    def weight(state: int) -> float:
        changed = [state if y == x else row[y] for y in range(len(row))]
        return exp(sum(float(f.log_values[tuple(changed[v] for v in f.variables)]) for f in network.factors))

    return log(weight(row[x]) / sum(weight(a) for a in range(network.cards[x])))


def penalised(network: FactorNetwork, rows: Sequence[Sequence[int]], ridge: float) -> float:
    """The log pseudo-likelihood less half the ridge times the sum of squares of all log values."""
    fit = sum(log_conditional(network, x, row) for row in rows for x in range(network.n_variables))
    return fit - ridge / 2 * sum(float((f.log_values**2).sum()) for f in network.factors)


def posterior(network: FactorNetwork, x: int, evidence: Mapping[int, int]) -> list[float]:
    """P(x | evidence) by listing all states."""
    sums = [0.0] * network.cards[x]
    for state, p in distribution(network).items():
        if all(state[y] == code for y, code in evidence.items()):
            sums[state[x]] += p
    return [value / sum(sums) for value in sums]


def scaled_precision(correlation: NDArray[np.float64], graph: Graph, rounds: int = 3000) -> NDArray[np.float64]:
    """Iterative proportional scaling: set the margins of every edge and variable right in turn, again and again."""
    theta = np.diag(1.0 / np.diag(correlation))
    scopes = [list(edge) for edge in graph.edges] + [[x] for x in range(graph.n_variables)]
    for _ in range(rounds):
        before = theta.copy()
        for scope in scopes:
            at = np.ix_(scope, scope)
            theta[at] += np.linalg.inv(correlation[at]) - np.linalg.inv(np.linalg.inv(theta)[at])
        if np.abs(theta - before).max() < 1e-13:
            break
    return theta
