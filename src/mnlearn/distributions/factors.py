"""Discrete Markov networks as products of factors, and the distributions that the papers draw their data from.

    p(x) = (1 / Z) Π_f φ_f(x_f),   φ_f > 0

Variables may have any number of states. Two variables of one factor are neighbours. How to draw rows from such a
network is in `sampling.py`.

Binary pairwise Markov networks, and exact samples from them by listing states (see `sampling.py` for larger ones).

    p(x) ∝ exp( Σ_(u,v)∈E θ_uv [x_u = x_v] / 2  +  Σ_u h_u x_u ),   x ∈ {0, 1}ⁿ

The factor of an edge has log odds ratio log φ(0,0) φ(1,1) / (φ(0,1) φ(1,0)) = θ_uv, so θ > 0 makes the two variables
agree and θ < 0 makes them differ. Without fields h every variable is 1 with probability one half.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from math import isfinite, prod
from operator import index
from typing import Literal, TypeAlias, get_args

import numpy as np
from numpy.typing import NDArray

from mnlearn.errors import (
    InputError,
    check_instance,
    check_number,
    check_room,
    is_one_of,
    iterates,
    real_array,
    tuple_of,
    whole_number,
)
from mnlearn.graphs.graph import Edge, Graph, check_graph
from mnlearn.numbers import Seed, exp, log, rng_from
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


ParameterLaw: TypeAlias = Literal["alike", "uniform"]
"""How the parameters of a network with given log odds ratios are drawn: see `with_log_odds`."""

LARGEST_COMPONENT = 20  # 2^20 states of one component fit in a few tens of megabytes


@dataclass(frozen=True)
class PairwiseNetwork:
    """A graph with one log odds ratio per edge and, if wanted, one field per variable.

    Parameters
    ----------
    graph
        The independence structure.
    log_odds
        θ for every edge (u, v), u < v.
    fields
        h for every variable: its log odds of 1 against 0, its neighbours apart. Zeros when left out.

    Examples
    --------
    >>> chain = PairwiseNetwork(Graph(3, [(0, 1), (1, 2)]), {(0, 1): 2.0, (1, 2): -1.5})
    >>> sample_exact(chain, n_rows=4, seed=1).shape
    (4, 3)
    """

    graph: Graph
    log_odds: Mapping[Edge, float] = field(hash=False)
    fields: Sequence[float] = ()

    def __post_init__(self) -> None:
        fields = tuple(map(float, self.fields)) or (0.0,) * self.graph.n_variables
        _check(self.graph, self.log_odds, fields)
        object.__setattr__(self, "log_odds", {edge: float(self.log_odds[edge]) for edge in self.graph.edges})
        object.__setattr__(self, "fields", fields)

    @classmethod
    def uniform(cls, graph: Graph, log_odds: float) -> PairwiseNetwork:
        """Return the network with one log odds ratio on every edge and no fields."""
        return cls(graph, dict.fromkeys(graph.edges, log_odds))

    def to_factors(self) -> FactorNetwork:
        """Return this distribution as a product of factors."""
        pairs = [Factor(edge, theta / 2 * np.eye(2)) for edge, theta in self.log_odds.items()]
        singles = [Factor((x,), np.array([0.0, h])) for x, h in enumerate(self.fields) if h]
        return FactorNetwork((2,) * self.graph.n_variables, [*pairs, *singles])


def with_log_odds(
    graph: Graph,
    log_odds: float,
    seed: Seed,
    *,
    signs: Literal["same", "mixed"] = "same",
    fields: float = 0.0,
    law: ParameterLaw = "alike",
) -> PairwiseNetwork:
    """Return a network with one log odds ratio on every edge, other parameters random [JAIR09, Sec. 5.1.2; IBMAP14].

    Parameters
    ----------
    graph
        The independence structure.
    log_odds
        θ of every edge; 1, 1.5 and 2 in the paper.
    seed
        An integer, or a generator to draw from.
    signs
        "mixed" takes θ or −θ, each with probability one half, edge by edge.
    fields
        The standard deviation of the fields, which are normal; without fields both states are equally frequent.
    law
        "alike": all factors are equal up to their sign. "uniform": φ(0,0), φ(0,1) and φ(1,0) of each factor are
        uniform on (0, 1), and φ(1,1) is set by the log odds ratio. The papers leave this open.

    Notes
    -----
    A factor of the second law is one of the first with a field at either end: log φ(1,0)/φ(0,0) + θ/2 at the first
    variable, log φ(0,1)/φ(0,0) + θ/2 at the second. Fields add up over the neighbours, so with several of them nearly
    every variable is in state 1 in nearly every row: docs/simulation.md shows the shares by degree.

    Examples
    --------
    >>> chain = Graph(4, [(0, 1), (1, 2), (2, 3)])
    >>> sorted(set(with_log_odds(chain, 2.0, seed=3, signs="mixed").log_odds.values()))
    [-2.0, 2.0]
    >>> uniform = with_log_odds(chain, 2.0, seed=3, law="uniform")
    >>> set(uniform.log_odds.values()), len(set(uniform.fields))
    ({2.0}, 4)
    """
    check_graph("graph", graph)
    for name, value, known in (("signs", signs, ("same", "mixed")), ("law", law, get_args(ParameterLaw))):
        if not is_one_of(value, known):
            raise InputError(f"{name} must be {known[0]!r} or {known[1]!r}; got {value!r}. Use one of the two.")
    check_number("log_odds", log_odds, "1, 1.5 and 2 are usual.")
    check_number("fields", fields, "It is a standard deviation; 0 for none.", least=0)
    rng = rng_from(seed)
    sign = np.where(rng.random(graph.n_edges) < 0.5, -1.0, 1.0) if signs == "mixed" else np.ones(graph.n_edges)
    theta = log_odds * sign
    single = rng.normal(0.0, fields, graph.n_variables) if fields else np.zeros(graph.n_variables)
    if law == "uniform" and graph.n_edges:
        # 1 - u is in (0, 1], where the logarithm is finite.
        log_00, log_01, log_10 = log(1.0 - rng.random((3, graph.n_edges)))
        us, vs = np.array(graph.edges).T
        np.add.at(single, us, log_10 - log_00 + theta / 2)
        np.add.at(single, vs, log_01 - log_00 + theta / 2)
    return PairwiseNetwork(graph, dict(zip(graph.edges, theta.tolist(), strict=True)), single.tolist())


def ising(
    graph: Graph, coupling: float, seed: Seed, *, law: Literal["mixed", "normal", "equal"] = "mixed"
) -> PairwiseNetwork:
    """An Ising model p(s) ∝ exp( Σ_(u,v)∈E J_uv s_u s_v ) of spins s = −1, 1 (codes 0, 1): a log odds ratio of 4 J.

    Parameters
    ----------
    graph
        Where the spins sit: `mnlearn.graphs.grid(k, k, periodic=True)` for the usual lattice, or any other.
    coupling
        How strong the couplings are.
    seed
        An integer, or a generator to draw from.
    law
        "mixed": J is ±`coupling` with equal probability, a spin glass [IBMAP14]. "normal": J is normal with that
        standard deviation. "equal": J is `coupling`.

    Examples
    --------
    >>> sorted(set(ising(Graph(3, [(0, 1), (1, 2)]), 0.5, seed=1, law="equal").log_odds.values()))
    [2.0]
    """
    check_graph("graph", graph)
    check_number("coupling", coupling, "A usual value is 0.5.")
    if not is_one_of(law, ("mixed", "normal", "equal")):
        raise InputError(f"law must be 'mixed', 'normal' or 'equal'; got {law!r}. Use one of them.")
    if law != "normal":
        return with_log_odds(graph, 4 * coupling, seed, signs="mixed" if law == "mixed" else "same")
    couplings = rng_from(seed).normal(0.0, 1.0, graph.n_edges) * coupling
    return PairwiseNetwork(graph, dict(zip(graph.edges, (4 * couplings).tolist(), strict=True)))


def sample_exact(network: PairwiseNetwork, n_rows: int, seed: Seed) -> NDArray[np.uint8]:
    """Draw independent rows from the exact distribution by listing the states of every connected component.

    Parameters
    ----------
    network
        Its components have at most 20 variables each.
    n_rows
        Number of rows to draw.
    seed
        An integer, or a generator to draw from; the same seed gives the same rows.

    Returns
    -------
    array
        Codes 0 and 1, rows by variables.

    Notes
    -----
    Time and memory grow with 2^k for a component of k variables, then with n_rows.
    """
    check_instance("network", network, PairwiseNetwork, "Use simulate.sample for other networks.")
    rows, rng = whole_number("n_rows", n_rows, least=1, hint="Ask for at least one row."), rng_from(seed)
    check_room("n_rows", 8.0 * rows * network.graph.n_variables, f"{rows:,} rows", "Draw fewer rows.")
    codes = np.zeros((rows, network.graph.n_variables), dtype=np.uint8)
    for component in network.graph.components():
        cumulative = np.cumsum(state_probabilities(network, component))
        # Dividing by the last sum keeps a draw close to 1 from falling behind every state.
        states = np.searchsorted(cumulative / cumulative[-1], rng.random(rows), side="right")
        for place, x in enumerate(component):
            codes[:, x] = states >> place & 1
    return codes


def state_probabilities(network: PairwiseNetwork, component: Sequence[int]) -> NDArray[np.float64]:
    """The probability of each state of one connected component; bit i of a state's number is `component[i]`."""
    if len(component) > LARGEST_COMPONENT:
        raise InputError(
            f"network must have components of at most {LARGEST_COMPONENT} variables to be sampled by enumeration; got "
            f"one of {len(component)}. Take a graph of smaller components."
        )
    graph = network.graph.subgraph(component)
    if any(network.graph.degree(x) != graph.degree(i) for i, x in enumerate(component)):
        raise InputError("component must be closed under neighbours; take it from network.graph.components().")
    states = np.arange(1 << len(component), dtype=np.int64)
    log_weights = np.zeros(len(states))
    for i, x in enumerate(component):
        log_weights += network.fields[x] * (states >> i & 1)
    for i, j in graph.edges:
        u, v = sorted((component[i], component[j]))
        log_weights += network.log_odds[u, v] / 2 * (((states >> i) ^ (states >> j)) & 1 ^ 1)
    weights = exp(log_weights - log_weights.max())
    probabilities: NDArray[np.float64] = weights / weights.sum()
    return probabilities


def _check(graph: Graph, odds: Mapping[Edge, float], fields: Sequence[float]) -> None:
    """Raise InputError unless every edge has a number and every variable a field."""
    if set(odds) != set(graph.edges):
        wrong = sorted(set(odds) ^ set(graph.edges))[0]
        raise InputError(
            f"log_odds must hold one number for each edge (u, v), u < v, of the graph and for nothing else; {wrong} is "
            f"{'missing' if wrong in graph.edges else 'not an edge'}."
        )
    for edge, theta in odds.items():
        if not isfinite(theta):
            raise InputError(f"log_odds must be finite; got {theta} for {edge}.")
    if len(fields) != graph.n_variables:
        raise InputError(f"fields must hold one number for each of {graph.n_variables} variables; got {len(fields)}.")
    if not all(map(isfinite, fields)):
        raise InputError(f"fields must be finite; got {tuple(fields)}.")
