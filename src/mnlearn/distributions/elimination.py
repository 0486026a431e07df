"""Variable elimination: exact sampling and partition functions of networks of low tree-width.

Eliminating x multiplies the factors that hold x into one table over x and its present neighbours S, keeps p(x | S), and
passes the sum over x on as a factor over S. What was kept is a Bayesian network of the same distribution, in which the
parents of x are eliminated after it; drawn forward it gives independent rows from exactly that distribution, and what
is left at the end is the partition function. A tree never needs a table of more than two variables; a grid of k columns
needs tables of k + 1.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from math import prod

import numpy as np

from mnlearn.distributions.bayesian import BayesianNetwork
from mnlearn.distributions.factors import Factor, FactorNetwork
from mnlearn.errors import InputError, check_instance
from mnlearn.graphs.graph import Graph
from mnlearn.numbers import exp, log
from mnlearn.protocols import FloatArray

LARGEST_TABLE = 2**20  # cells of one table while eliminating: 8 megabytes


def as_bayesian_network(network: FactorNetwork) -> BayesianNetwork:
    """Return this distribution as a Bayesian network, from which rows can be drawn exactly.

    Parameters
    ----------
    network
        A network of low tree-width: no table may have more than 2^20 cells; see `largest_table`.

    Examples
    --------
    >>> from mnlearn.distributions.factors import agreement_factors
    >>> chain = as_bayesian_network(agreement_factors(Graph(3, [(0, 1), (1, 2)]), 2.0))
    >>> chain.parents, chain.sample(4, seed=1).n_rows
    (((1,), (2,), ()), 4)
    """
    steps, _ = _eliminate(network)
    tables = {x: (scope, table) for x, scope, table in steps}
    return BayesianNetwork(
        names=tuple(f"x{x}" for x in range(network.n_variables)),
        states=tuple(tuple(map(str, range(card))) for card in network.cards),
        parents=tuple(tables[x][0] for x in range(network.n_variables)),
        tables=tuple(tables[x][1] for x in range(network.n_variables)),
    )


def log_partition(network: FactorNetwork) -> float:
    """log Z = log Σ_x Π_f φ_f(x_f), exactly.

    Examples
    --------
    >>> from mnlearn.distributions.factors import agreement_factors
    >>> round(float(np.exp(log_partition(agreement_factors(Graph(3, [(0, 1), (1, 2)]), 2.0)))), 3)  # 2 (1 + e)²
    27.651
    """
    return _eliminate(network)[1]


def largest_table(graph: Graph, cards: Sequence[int]) -> int:
    """Return the number of cells of the largest table that eliminating all variables of a graph needs."""
    return max((cells for _, cells in elimination_order(graph, cards)), default=1)


def tree_width(graph: Graph) -> int:
    """Return an upper bound of the tree-width, by eliminating the variable with the fewest neighbours first.

    Examples
    --------
    >>> tree_width(Graph(3, [(0, 1), (1, 2)])), tree_width(Graph.complete(4))
    (1, 3)
    """
    return largest_table(graph, (2,) * graph.n_variables).bit_length() - 2


def joint_log_values(factors: Iterable[Factor], scope: Sequence[int], cards: Sequence[int]) -> FloatArray:
    """Σ log φ over the factors, all within the scope, as a table with one axis per variable of the scope."""
    total = np.zeros([cards[y] for y in scope])
    place = {y: axis for axis, y in enumerate(scope)}
    for factor in factors:
        axes = [place[y] for y in factor.variables]
        shape = [1] * len(scope)
        for axis, y in zip(axes, factor.variables, strict=True):
            shape[axis] = cards[y]
        total += factor.log_values.transpose(np.argsort(axes)).reshape(shape)
    return total


def _eliminate(network: FactorNetwork) -> tuple[list[tuple[int, tuple[int, ...], FloatArray]], float]:
    """For every variable in the order of elimination: itself, its S and p(x | S); and log Z."""
    check_instance("network", network, FactorNetwork, "Make one, such as uniform_factors(graph, seed).")
    order = elimination_order(network.graph, network.cards)
    largest = max(cells for _, cells in order)
    if largest > LARGEST_TABLE:
        raise InputError(
            f"network must be of low tree-width for an exact answer, no table above {LARGEST_TABLE} cells; got one of "
            f"{largest}. Sample it with method='gibbs'."
        )
    waiting: list[dict[int, Factor]] = [{} for _ in network.cards]  # by variable: the factors that hold it
    numbered = list(network.factors)
    for number, factor in enumerate(numbered):
        for y in factor.variables:
            waiting[y][number] = factor
    steps, log_z = [], 0.0
    for x, _ in order:
        mine = dict(waiting[x])
        scope = tuple(sorted({y for factor in mine.values() for y in factor.variables} - {x}))
        message, conditional = _summed_out(joint_log_values(mine.values(), (*scope, x), network.cards))
        steps.append((x, scope, conditional))
        for number, factor in mine.items():
            for y in factor.variables:
                del waiting[y][number]
        if scope:
            numbered.append(Factor(scope, message))
            for y in scope:
                waiting[y][len(numbered) - 1] = numbered[-1]
        else:
            log_z += float(message)
    return steps, log_z


def _summed_out(log_values: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return log Σ_x over the last axis, and the share of each x in the sum."""
    top = log_values.max(-1, keepdims=True)
    weights = exp(log_values - top)
    sums = np.cumsum(weights, axis=-1)[..., -1:]  # summed in sequence, so that every machine gives the same bits
    return (top + log(sums))[..., 0], weights / sums


def elimination_order(graph: Graph, cards: Sequence[int], last: Collection[int] = ()) -> list[tuple[int, int]]:
    """Return a greedy elimination order, smallest table first, with the number of cells of each table.

    The variables in `last` follow all others.
    """
    neighbors = [set(graph.neighbors(x)) for x in range(graph.n_variables)]
    cells = [cards[x] * prod(cards[y] for y in neighbors[x]) for x in range(graph.n_variables)]
    left = set(range(graph.n_variables))
    first = left.difference(last)
    order = []
    while left:
        x = min(first or left, key=lambda y: (cells[y], y))
        order.append((x, cells[x]))
        left.remove(x)
        first.discard(x)
        for y in neighbors[x]:
            neighbors[y] |= neighbors[x]
            neighbors[y] -= {x, y}
            cells[y] = cards[y] * prod(cards[w] for w in neighbors[y])
    return order
