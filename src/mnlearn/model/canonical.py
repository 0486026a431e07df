"""Per-variable canonical factors: a Markov network in closed form from the conditionals of single variables.

Roy, Lane & Werner-Washburne, ICML 2009  [MBS09, Sec. 2.3]. With a default assignment x̄, the factor of a clique D is

    log ψ⁺_D(d) = Σ_U⊆D (−1)^|D∖U| log P(X_i = σ_i(U, d) | M_i = σ(U, d)),   any X_i ∈ D            (Eq. 5)

where σ takes d for the variables in U and x̄ for all others, and M_i are the neighbours of X_i. Then

    P(x) = P(x̄) Π_D ψ⁺_D(x_D),

so that nothing but P(x̄) = 1 / Z needs more than one variable and its neighbours at a time. The product is over all
non-empty cliques; where the paper says maximal ones, it would drop the lower terms of the Möbius inversion.

Difference from the paper: Theorem 2.1 holds for any X_i in D when the conditionals belong to one distribution.
Estimated conditionals need not, and the choice would make the result depend on the order of the columns; we take the
mean over all X_i in D. Estimates are (n + α) / (N + α r), so that every factor is positive as the theorem asks.

Observed configurations of neighbours with their counts, and the cliques that factors are defined on.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from math import prod
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mnlearn.data.dataset import Dataset, row_groups
from mnlearn.data.rows import observed_rows
from mnlearn.distributions.factors import MOST_STATES, Factor, FactorNetwork
from mnlearn.errors import (
    DataError,
    InputError,
    UnsuitableError,
    check_instance,
    is_number,
    real_array,
    tuple_of,
    whole_number,
)
from mnlearn.graphs.graph import Graph, check_graph
from mnlearn.numbers import exp, log
from mnlearn.protocols import FloatArray, IntArray


class Configurations(NamedTuple):
    """`counts[m, a]`: how often x = a when the others are as in row m of `codes`, one column per other."""

    codes: IntArray
    counts: FloatArray


def observed(dataset: Dataset, x: int, others: Sequence[int]) -> Configurations:
    """The observed configurations of the others, in an order that does not depend on the order of the rows.

    Rows in which x or one of the others is missing are left out.
    """
    dataset = observed_rows(dataset, [x, *others])
    card, n_records = dataset.cards[x], dataset.n_records
    groups, n_groups = row_groups([dataset.columns[y] for y in others])
    if not others:
        groups, n_groups = np.zeros(n_records, dtype=np.int64), 1
    cells = groups * card + dataset.columns[x].astype(np.int64)
    counts = np.bincount(cells, weights=dataset.repeats, minlength=n_groups * card).reshape(n_groups, card)
    one_of = np.empty(n_groups, dtype=np.int64)
    one_of[groups] = np.arange(n_records)
    codes = np.empty((n_groups, len(others)), dtype=np.int64)
    for place, y in enumerate(others):
        codes[:, place] = dataset.columns[y][one_of]
    return Configurations(codes, counts.astype(np.float64, copy=False))


def unseen_states(dataset: Dataset) -> list[str]:
    """Return notes on states that no row has and on categorical columns that never change."""
    notes = []
    for x, (name, card) in enumerate(zip(dataset.names, dataset.cards, strict=True)):
        mask = dataset.observed(x)
        column: NDArray[Any] = dataset.columns[x] if mask is None else dataset.columns[x][mask]
        seen = len(np.unique(column)) if card else card
        if seen == 1 and card > 1:
            notes.append(f"{name!r} never changes: its other {card - 1} states rest on the prior alone")
        elif seen < card:
            notes.append(f"{name!r} has {card - seen} states that no row has; they rest on the prior alone")
    return notes


def rows_used(graph: Graph, dataset: Dataset) -> list[str]:
    """Return a note on the rows that gaps leave to the variables; raise DataError if one has none."""
    if not dataset.gaps:
        return []
    rows = []
    for x, name in enumerate(dataset.names):
        kept = observed_rows(dataset, [x, *sorted(graph.neighbors(x))])
        if not kept.n_records:
            raise DataError(
                f"data must have rows in which a variable and its neighbours are observed; {name!r} has none. Fill "
                "gaps first, or use a sparser graph."
            )
        rows.append(kept.n_rows)
    return [
        "values are missing: each variable is fitted to the rows in which it and its neighbours are observed, "
        f"{min(rows)} to {max(rows)} of {dataset.n_rows}"
    ]


def check_categorical(dataset: Dataset, method: str) -> None:
    """Raise an error for variables that no table of factors can hold."""
    check_instance("data", dataset, Dataset, "Read it first: mnlearn.read(...).")
    for name, card in zip(dataset.names, dataset.cards, strict=True):
        if not card:
            raise UnsuitableError(
                f"method {method!r} needs categorical variables; {name!r} is continuous. Discretise it "
                "(discretize='frequency'), or use method='gaussian' where all variables are continuous."
            )
        if card > MOST_STATES:
            raise InputError(
                f"data must have at most {MOST_STATES} states per variable for a model; {name!r} has {card}. Join "
                "states, or leave the column out (columns=[...])."
            )


LARGEST_MODEL = 2**22  # cells of all factors together: 32 megabytes


def all_cliques(graph: Graph, cards: Sequence[int]) -> list[tuple[int, ...]]:
    """Every non-empty clique, not only the maximal ones, by size and then by index."""
    import networkx as nx

    network = graph.to_networkx()
    for largest in nx.find_cliques(network):  # its own cliques have Π (r + 1) − 1 cells: seen without listing them
        _check_size(prod(cards[x] + 1 for x in largest) - 1)
    found: list[tuple[int, ...]] = []
    cells = 0
    for clique in nx.enumerate_all_cliques(network):
        cells += prod(cards[x] for x in clique)
        _check_size(cells)
        found.append(tuple(sorted(clique)))
    return sorted(found, key=lambda clique: (len(clique), clique))


def _check_size(cells: int) -> None:
    """Raise InputError for factors that would not fit in memory."""
    if cells > LARGEST_MODEL:
        raise InputError(
            f"graph must have cliques small enough for factors of at most {LARGEST_MODEL} cells in all; got "
            f"{cells:.3g} or more. Use method='pseudolikelihood' with interactions='pairwise', or a sparser graph."
        )


def pairs_and_singles(graph: Graph) -> list[tuple[int, ...]]:
    """Every variable and every edge."""
    return [*((x,) for x in range(graph.n_variables)), *graph.edges]


LogConditional: TypeAlias = Callable[[int, tuple[int, ...]], FloatArray]
"""log P(X_i | the others in D, the rest of M_i at x̄) for i and a clique D with i: one axis per variable of D."""


@dataclass(frozen=True, eq=False)
class CanonicalFactors:
    """ψ⁺ of every non-empty clique, and the assignment they are relative to.

    Attributes
    ----------
    default
        x̄: one state per variable. Every factor is 1 wherever one of its variables is in this state.
    network
        The product of the factors; its log partition function is −log P(x̄).
    log_default
        log P(x̄), where it is known.
    """

    default: tuple[int, ...]
    network: FactorNetwork = field(repr=False)
    log_default: float | None = None

    def joint(self) -> FloatArray:
        """P(x̄) Π ψ⁺ for every assignment, one axis per variable; for small networks."""
        from mnlearn.distributions.elimination import joint_log_values, log_partition

        cards = self.network.cards
        log_default = -log_partition(self.network) if self.log_default is None else self.log_default
        return np.asarray(exp(log_default + joint_log_values(self.network.factors, range(len(cards)), cards)))


def canonical_factors(
    graph: Graph, data: Dataset, *, default: Sequence[int] | None = None, smoothing: float = 0.5
) -> CanonicalFactors:
    """The canonical factors of a graph, estimated from data.

    Parameters
    ----------
    graph
        Over the columns of the data.
    data
        Categorical variables.
    default
        x̄ as codes, one per variable; by default the most frequent state of each, the first one in a tie. Estimates
        are best where many rows are in their default state.
    smoothing
        α > 0, added to every count; 1/2 is the Jeffreys prior.

    Notes
    -----
    One pass over the rows per variable; then each clique of k variables costs k tables of its own size.

    Examples
    --------
    >>> data = Dataset.from_codes(np.array([[0, 0], [0, 0], [0, 1], [1, 0], [1, 1], [1, 1]]))
    >>> found = canonical_factors(Graph(2, [(0, 1)]), data)
    >>> found.default, [factor.variables for factor in found.network.factors]
    ((0, 0), [(0,), (1,), (0, 1)])
    """
    check_categorical(data, "canonical")
    check_graph_size(graph, data.n_variables)
    if not (is_number(smoothing) and smoothing > 0):
        raise InputError(f"smoothing must be a number above 0; got {smoothing!r}. Use for example 0.5.")
    chosen = most_frequent(data) if default is None else checked_default(default, data.cards)
    blankets = [tuple(sorted(graph.neighbors(x))) for x in range(data.n_variables)]
    seen = [observed(data, x, blankets[x]) for x in range(data.n_variables)]

    def estimate(i: int, clique: tuple[int, ...]) -> FloatArray:
        return _estimated(i, clique, blankets[i], seen[i], cards=data.cards, default=chosen, smoothing=smoothing)

    return CanonicalFactors(chosen, _product(graph, data.cards, chosen, estimate))


def canonical_factors_of(
    joint: ArrayLike, graph: Graph | None = None, *, default: Sequence[int] | None = None
) -> CanonicalFactors:
    """The canonical factors of a known joint distribution: their product is that distribution again  [Theorem 2.1].

    Parameters
    ----------
    joint
        P(x) for every x, one axis per variable; positive everywhere, of sum 1.
    graph
        A graph whose missing edges are independences of the joint; by default the complete one, which has none.
    default
        x̄, one state per variable; by default all 0. Any will do.

    Examples
    --------
    >>> joint = np.array([[0.4, 0.1], [0.2, 0.3]])
    >>> bool(np.allclose(canonical_factors_of(joint).joint(), joint))
    True
    """
    p = real_array("joint", joint, "Give probabilities.")
    if not p.ndim or not np.isfinite(p).all() or (p <= 0).any() or abs(p.sum() - 1) > 1e-6:
        raise InputError(
            f"joint must hold positive probabilities of sum 1, one axis per variable; got the shape {p.shape}, the "
            f"smallest {p.min(initial=np.inf):g} and the sum {p.sum():g}. Normalise it, and add a little to zeros."
        )
    over = Graph.complete(p.ndim) if graph is None else graph
    check_graph_size(over, p.ndim)
    chosen = checked_default([0] * p.ndim if default is None else default, p.shape)

    def known(i: int, clique: tuple[int, ...]) -> FloatArray:
        return _conditional_of(p, i, clique, over.neighbors(i), chosen)

    network = _product(over, p.shape, chosen, known)
    return CanonicalFactors(chosen, network, float(log(p[chosen])))


def most_frequent(data: Dataset) -> tuple[int, ...]:
    """The most frequent state of every variable, the first one in a tie."""
    counts = (
        np.bincount(column.astype(np.int64), weights=data.repeats, minlength=card)[:card]  # without gaps
        for column, card in zip(data.columns, data.cards, strict=True)
    )
    return tuple(int(np.argmax(count)) for count in counts)


def checked_default(default: Sequence[int], cards: Sequence[int]) -> tuple[int, ...]:
    """One state per variable, each of them there."""
    listed = tuple_of("default", default, "states")
    states = [whole_number("default", state, least=0, hint="States are numbered from 0.") for state in listed]
    if len(states) != len(cards):
        raise InputError(f"default must hold one state for each of {len(cards)} variables; got {len(states)}.")
    for x, (state, card) in enumerate(zip(states, cards, strict=True)):
        if state >= card:
            raise InputError(f"default must hold states below {card} for variable {x}; got {state}. Use 0 or another.")
    return tuple(states)


def check_graph_size(graph: Graph, n_variables: int) -> None:
    """Raise InputError unless the graph has one variable per column of the data."""
    check_graph("graph", graph)
    if graph.n_variables != n_variables:
        raise InputError(
            f"graph must have one variable for each of {n_variables} in the data; got {graph.n_variables}. Take the "
            "columns that the graph is over."
        )


def _product(graph: Graph, cards: Sequence[int], default: Sequence[int], log_p: LogConditional) -> FactorNetwork:
    """ψ⁺ of every clique, in logs: the mean over X_i in D of Eq. 5."""
    factors = []
    for clique in all_cliques(graph, cards):
        each = [inverted(log_p(i, clique), [default[x] for x in clique]) for i in clique]
        factors.append(Factor(clique, np.mean(each, axis=0)))
    return FactorNetwork(tuple(cards), factors)


def inverted(log_p: FloatArray, default: Sequence[int]) -> FloatArray:
    """Σ_U⊆D (−1)^|D∖U| log P(σ(U, d)) for all d at once  [Eq. 5].

    The sum over subsets factorises: per variable, what the table is less what it is at that variable's default.
    """
    for axis, state in enumerate(default):
        log_p = log_p - np.take(log_p, [state], axis=axis)
    return log_p


def _estimated(
    i: int,
    clique: tuple[int, ...],
    blanket: tuple[int, ...],
    seen: Configurations,
    *,
    cards: Sequence[int],
    default: Sequence[int],
    smoothing: float,
) -> FloatArray:
    """log P(X_i | the others in D, the rest of M_i at x̄) by smoothed counts."""
    others = tuple(x for x in clique if x != i)
    fits = np.ones(len(seen.codes), dtype=np.bool_)
    cells = np.zeros(len(seen.codes), dtype=np.int64)
    for place, y in enumerate(blanket):
        if y in others:
            cells = cells * cards[y] + seen.codes[:, place]
        else:
            fits &= seen.codes[:, place] == default[y]
    counts = np.zeros((int(np.prod([cards[y] for y in others], dtype=np.int64)), cards[i]))
    counts[cells[fits]] = seen.counts[fits]
    totals = counts.sum(1, keepdims=True)
    log_p = log(counts + smoothing) - log(totals + smoothing * cards[i])
    return np.moveaxis(log_p.reshape([cards[y] for y in (*others, i)]), -1, clique.index(i))


def _conditional_of(
    joint: FloatArray, i: int, clique: tuple[int, ...], blanket: frozenset[int], default: Sequence[int]
) -> FloatArray:
    """log P(X_i | the others in D, the rest of M_i at x̄) of a known joint."""
    outside = tuple(x for x in range(joint.ndim) if x != i and x not in blanket)
    marginal = joint.sum(axis=outside, keepdims=True)
    fixed = [
        slice(None) if x in clique else default[x] if x in blanket else 0 for x in range(joint.ndim)
    ]  # outside the blanket the axis has one place
    table = marginal[tuple(fixed)]
    return np.asarray(log(table) - log(table.sum(axis=clique.index(i), keepdims=True)))
