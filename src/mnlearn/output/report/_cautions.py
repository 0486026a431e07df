"""What a reader should know before trusting a network."""

from __future__ import annotations

from collections.abc import Iterator
from math import prod
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from mnlearn.data import Dataset, overview
from mnlearn.data.overview import Overview
from mnlearn.graphs.graph import Graph
from mnlearn.output.report._words import counted, listed

if TYPE_CHECKING:
    from mnlearn.output.learned import Learned

DENSE = 0.35  # of all pairs
FEW_ROWS_A_CELL = 5  # as in the usual rule for a chi-square
FEW_ROWS_A_NEIGHBOUR = 10  # of a continuous variable
RARE = 5  # rows
UNSTABLE = 0.5  # of the resamples


class Caution(NamedTuple):
    """A heading, and what it means."""

    title: str
    text: str


def cautions(learned: Learned, seen: Overview | None = None) -> list[Caution]:
    """Everything worth a warning, the gravest first; `seen` is the overview of its data, where there is one already."""
    if seen is None and learned.data is not None:
        seen = overview(learned.data)
    found = [*_of_the_search(learned), *_of_the_resamples(learned)]
    if learned.data is not None and seen is not None:
        found += [*_of_small_data(learned.data, learned.graph), *_of_columns(learned.data, seen)]
    return found


def _of_the_search(learned: Learned) -> Iterator[Caution]:
    """Stopped, empty, dense."""
    graph, n = learned.graph, len(learned.names)
    if not learned.converged:
        yield Caution(
            "The search did not come to its end",
            "It was stopped, or ran out of its allowance. This is the best network it had; run it again for longer "
            "before relying on it.",
        )
    if not graph.n_edges:
        yield Caution(
            "The network is empty",
            "Either the variables have nothing to do with each other, or there are too few rows to tell. More rows, "
            "fewer categories per variable or a less strict method may show more.",
        )
    pairs = n * (n - 1) // 2
    if n >= 6 and graph.n_edges > DENSE * pairs:
        yield Caution(
            "The network is dense",
            f"It joins {graph.n_edges / pairs:.0%} of all pairs. So many edges often mean that something common to all "
            "variables was not measured, or that the method was not strict enough; single edges say little then.",
        )


def _of_the_resamples(learned: Learned) -> Iterator[Caution]:
    """Edges that did not hold up, and pairs that came close."""
    if learned.frequencies is None:
        return
    names, graph = learned.names, learned.graph
    weak = [f"{names[u]} – {names[v]}" for u, v in graph.edges if learned.frequencies.get((u, v), 0.0) < UNSTABLE]
    if weak:
        yield Caution(
            f"{counted(len(weak), 'edge')} did not hold up",
            f"In less than half of the resampled data sets: {listed(weak)}.",
        )
    close = [pair for pair, share in learned.frequencies.items() if share >= UNSTABLE and pair not in graph]
    if close:
        yield Caution(
            f"{counted(len(close), 'pair')} came close",
            "Not in the network, but in at least half of the resampled data sets: "
            f"{listed([f'{names[u]} – {names[v]}' for u, v in close])}.",
        )


def _of_small_data(data: Dataset, graph: Graph) -> Iterator[Caution]:
    """Too few rows for the neighbourhoods that were found."""
    rows = data.n_rows
    thin = sorted((rows / _rows_wanted(data, graph, x), x) for x in range(data.n_variables) if graph.degree(x))
    names = [data.names[x] for share, x in thin if share < 1]
    if names:
        have = "has" if len(names) == 1 else "have"
        yield Caution(
            "Few rows for some neighbourhoods",
            f"Taken together with the neighbours, {listed(names)} {have} more combinations of values than {rows:,} "
            f"rows can fill with {FEW_ROWS_A_CELL} each. Edges there rest on little; more rows or fewer "
            "categories would help.",
        )
    if data.n_variables > rows:
        yield Caution("More variables than rows", f"{data.n_variables:,} variables, {rows:,} rows.")


def _rows_wanted(data: Dataset, graph: Graph, x: int) -> int:
    """How many rows the table of x and its neighbours wants; where they are continuous, their number decides."""
    cards = [data.cards[y] for y in (x, *graph.neighbors(x))]
    if not any(cards):
        return FEW_ROWS_A_NEIGHBOUR * len(cards)
    return FEW_ROWS_A_CELL * prod(card for card in cards if card)


def _of_columns(data: Dataset, seen: Overview) -> Iterator[Caution]:
    """Constant, doubled, rare, missing."""
    if seen.constant:
        never = "never changes" if len(seen.constant) == 1 else "never change"
        yield Caution("Constant variables", f"{listed(list(seen.constant))} {never} and can have no edge.")
    for group in seen.duplicated:
        yield Caution(
            "The same variable twice",
            f"{listed(list(group))} carry the same information; each can hide the other's edges. Keep one of them.",
        )
    rare = rare_variables(data)
    if rare:
        yield Caution(
            "Rare categories",
            f"{listed(rare)}: some category occurs in fewer than {RARE} rows. Little can be learned about it; consider "
            "joining it with another.",
        )
    if data.missing.counts:
        yield Caution("Missing values", f"In {listed(list(data.missing.counts))}. {_done_about_gaps(data)}")


def _done_about_gaps(data: Dataset) -> str:
    """What was done about missing values, and what that means."""
    if data.missing.policy == "drop_rows":
        rows = data.missing.rows_dropped
        left_out = f"{counted(rows, 'row')} with a gap {'was' if rows == 1 else 'were'} left out"
        return f"{left_out}, which does no harm only if gaps have nothing to do with the values."
    return "Gaps count as a category of their own, which can join variables that share their gaps."


def rare_variables(data: Dataset) -> list[str]:
    """The variables that have a state in only a few rows, or in none."""
    found = []
    for name, card, column in zip(data.names, data.cards, data.columns, strict=True):
        if card and np.bincount(column, weights=data.repeats, minlength=card).min() < RARE:
            found.append(name)
    return found
