"""Discrete Markov networks as products of factors, and the distributions that the papers draw their data from.

    p(x) = (1 / Z) Π_f φ_f(x_f),   φ_f > 0

Variables may have any number of states. Two variables of one factor are neighbours. How to draw rows from such a
network is in `sampling.py`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import combinations
from math import prod
from operator import index

import numpy as np
from numpy.typing import NDArray

from mnlearn._validate import Seed, rng_from
from mnlearn.errors import (
    InputError,
    check_instance,
    check_number,
    check_room,
    iterates,
    real_array,
    tuple_of,
    whole_number,
)
from mnlearn.graphs.graph import Graph, check_graph
from mnlearn.numbers import log
from mnlearn.protocols import FloatArray

MOST_STATES = 256  # a code is one byte


@dataclass(frozen=True, eq=False)
class Factor:
    """log φ over a few variables: `log_values` has one axis for each of `variables`, in ascending order.

    Examples
    --------
    >>> Factor((0, 2), np.log([[3.0, 1.0], [1.0, 3.0]])).log_values.shape
    (2, 2)
    """

    variables: tuple[int, ...]
    log_values: FloatArray = field(repr=False)

    def __post_init__(self) -> None:
        variables = _indices(self.variables)
        values = real_array("log_values", self.log_values, "Give one number per configuration.")
        if not variables or list(variables) != sorted(set(variables)) or variables[0] < 0:
            raise InputError(f"variables must be distinct indices in ascending order; got {self.variables}.")
        if values.ndim != len(variables):
            raise InputError(f"log_values must have one axis per variable, {len(variables)}; got {values.ndim}.")
        if not np.isfinite(values).all():
            raise InputError(f"log_values must be finite (every factor is positive); got others for {variables}.")
        values.flags.writeable = False
        object.__setattr__(self, "variables", variables)
        object.__setattr__(self, "log_values", values)


def _indices(variables: object) -> tuple[int, ...]:
    """Return the indices of variables; raise InputError for anything else."""
    try:
        return tuple(index(x) for x in variables)  # type: ignore[attr-defined]
    except TypeError:
        raise InputError(
            f"variables must be a tuple of indices; got {variables!r}. Write for example (0, 2)."
        ) from None


@dataclass(frozen=True, eq=False)
class FactorNetwork:
    """A distribution over variables 0..n-1 as a product of factors.

    Parameters
    ----------
    cards
        The number of states of each variable, from 1 to 256.
    factors
        The factors; a variable in none of them is uniform.

    Examples
    --------
    >>> network = FactorNetwork((2, 2, 3), [Factor((0, 1), np.log([[3.0, 1.0], [1.0, 3.0]]))])
    >>> network.graph.edges
    ((0, 1),)
    """

    cards: Sequence[int]
    factors: Sequence[Factor] = ()
    graph: Graph = field(init=False)

    def __post_init__(self) -> None:
        cards = tuple(map(_card, tuple_of("cards", self.cards, "numbers of states")))
        factors = tuple_of("factors", self.factors, "factors")
        for factor in factors:
            check_instance("factors", factor, Factor, "Make each a Factor(variables, log_values).")
        if not cards or not all(1 <= card <= MOST_STATES for card in cards):
            raise InputError(f"cards must hold a number from 1 to {MOST_STATES} per variable; got {cards}.")
        for factor in factors:
            if factor.variables[-1] >= len(cards):
                raise InputError(f"factors must be over variables 0..{len(cards) - 1}; got {factor.variables}.")
            wanted = tuple(cards[x] for x in factor.variables)
            if factor.log_values.shape != wanted:
                raise InputError(
                    f"factors must have one value per configuration; the one over {factor.variables} needs the shape "
                    f"{wanted}, got {factor.log_values.shape}."
                )
        joined = {pair for factor in factors for pair in combinations(factor.variables, 2)}
        object.__setattr__(self, "cards", cards)
        object.__setattr__(self, "factors", factors)
        object.__setattr__(self, "graph", Graph(len(cards), joined))

    @property
    def n_variables(self) -> int:
        """Number of variables."""
        return len(self.cards)

    def log_weights(self, codes: NDArray[np.integer]) -> FloatArray:
        """log Π_f φ_f for every row: the log probability but for log Z."""
        rows = np.asarray(codes, dtype=np.intp)
        total = np.zeros(len(rows))
        for factor in self.factors:
            total += factor.log_values[tuple(rows[:, x] for x in factor.variables)]
        return total

    def __repr__(self) -> str:
        return f"FactorNetwork({self.n_variables} variables, {len(self.factors)} factors)"


def uniform_factors(
    graph: Graph, seed: Seed, *, cards: int | Sequence[int] = 2, max_clique: int | None = None
) -> FactorNetwork:
    """A factor on every maximal clique, each of its values drawn from the uniform distribution on (0, 1).

    The distributions of [MPL17, Sec. 5.1] and [BJP18, Sec. 4.1]. Some edges come out weak, which makes them hard to
    find whatever the number of rows.

    Parameters
    ----------
    graph
        The independence structure.
    seed
        An integer, or a generator to draw from.
    cards
        The number of states, of all variables or of each.
    max_clique
        A clique of more variables has a factor on each of its pairs instead; None for no limit. The values of a
        factor double with every binary variable.

    Raises
    ------
    InputError
        If `max_clique` is less than 2, or a factor does not fit into memory.

    Examples
    --------
    >>> network = uniform_factors(Graph(4, [(0, 1), (1, 2), (0, 2)]), seed=1)
    >>> [factor.variables for factor in network.factors]
    [(0, 1, 2), (3,)]
    """
    import networkx as nx

    states, rng = _states(cards, graph), rng_from(seed)
    largest = graph.n_variables
    if max_clique is not None:
        largest = whole_number("max_clique", max_clique, least=2, hint="Use None for no limit.")
    cliques = [tuple(sorted(clique)) for clique in nx.find_cliques(graph.to_networkx())]
    scopes = sorted({scope for c in cliques for scope in ([c] if len(c) <= largest else combinations(c, 2))})
    for scope in scopes:
        values = 8.0 * prod(float(states[x]) for x in scope)
        check_room("graph", values, f"a factor on a clique of {len(scope)} variables", "Set max_clique, such as 16.")
    # 1 - u is in (0, 1], where the logarithm is finite.
    return FactorNetwork(states, [Factor(c, log(1.0 - rng.random(tuple(states[x] for x in c)))) for c in scopes])


def agreement_factors(graph: Graph, log_odds: float, *, cards: int | Sequence[int] = 2) -> FactorNetwork:
    """Pairwise factors φ(a, b) = exp(θ / 2 [a = b]): the log odds ratio θ for any number of states.

    For states a ≠ b of both ends, log φ(a,a) φ(b,b) / (φ(a,b) φ(b,a)) = θ. With two states this is
    `PairwiseNetwork.uniform`; with more it is the Potts model.

    Parameters
    ----------
    graph
        The independence structure.
    log_odds
        θ; positive makes neighbours agree, negative makes them differ.
    cards
        The number of states, of all variables or of each.

    Examples
    --------
    >>> agreement_factors(Graph(2, [(0, 1)]), 2.0, cards=3).factors[0].log_values.tolist()
    [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]
    """
    states = _states(cards, graph)
    _check_number("log_odds", log_odds)
    return FactorNetwork(states, [Factor((u, v), log_odds / 2 * np.eye(states[u], states[v])) for u, v in graph.edges])


def random_pairwise_factors(
    graph: Graph, strength: float, seed: Seed, *, cards: int | Sequence[int] = 2, fields: float = 0.0
) -> FactorNetwork:
    """Pairwise factors whose log values are normal, without the part that a single variable could carry.

    Rows and columns of log φ sum to zero, so the factor is pure interaction; with two states its log odds ratio is
    normal with standard deviation 2 · `strength`, of either sign.

    Parameters
    ----------
    graph
        The independence structure.
    strength
        The standard deviation of the log values before their row and column means are taken away.
    seed
        An integer, or a generator to draw from.
    cards
        The number of states, of all variables or of each; at least 2 where there is an edge.
    fields
        The standard deviation of the log value of each state of a single variable; 0 adds no such factors.
    """
    states, rng = _states(cards, graph), rng_from(seed)
    for name, value in (("strength", strength), ("fields", fields)):
        _check_number(name, value)
        if value < 0:
            raise InputError(f"{name} must be at least 0; got {value}.")
    factors = []
    for u, v in graph.edges:
        values = rng.normal(0.0, strength, (states[u], states[v]))
        values -= values.mean(0, keepdims=True)
        factors.append(Factor((u, v), values - values.mean(1, keepdims=True)))
    if fields:
        factors += [Factor((x,), rng.normal(0.0, fields, states[x])) for x in range(graph.n_variables)]
    return FactorNetwork(states, factors)


def _states(cards: int | Sequence[int], graph: Graph) -> tuple[int, ...]:
    """One number of states per variable of the graph."""
    check_graph("graph", graph)
    n_variables = graph.n_variables
    states = (_card(cards),) * n_variables if not iterates(cards) else tuple(map(_card, cards))
    if len(states) != n_variables:
        raise InputError(f"cards must be one number, or one for each of {n_variables} variables; got {len(states)}.")
    return states


def _card(value: object) -> int:
    """A number of states."""
    return whole_number("cards", value, least=1, most=MOST_STATES, hint="Use 2 for variables with two states.")


def _check_number(name: str, value: float) -> None:
    """A finite number."""
    check_number(name, value, "Leave it out, or use for example 1.")
