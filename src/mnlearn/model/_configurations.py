"""Observed configurations of neighbours with their counts, and the cliques that factors are defined on."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from mnlearn.data.dataset import Dataset, row_groups
from mnlearn.data.rows import observed_rows
from mnlearn.distributions.factors import MOST_STATES
from mnlearn.errors import DataError, InputError, UnsuitableError, check_instance
from mnlearn.graphs.graph import Graph
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
