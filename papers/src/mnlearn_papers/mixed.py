"""Tables of several kinds and with gaps whose network is known, and simpler readings of them.

A reading is a way to give one table to a learner:

| reading | table |
|---|---|
| mnlearn | kinds and gaps as they are |
| nominal | order of states ignored |
| numbers | codes as continuous values |
| cut | numbers cut into three classes, all nominal |
| dropped | rows with gaps dropped |
| category | missing as a state of its own |
| complete | the table before values were removed |
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from mnlearn.data.dataset import Dataset
from mnlearn.distributions.bif import read_bif
from mnlearn.distributions.factors import FactorNetwork, random_pairwise_factors, uniform_factors
from mnlearn.distributions.sampling import sample
from mnlearn.graphs.generators import disjoint_union, grid, hubs, random_graph, star
from mnlearn.graphs.graph import Graph
from mnlearn.simulate.margins import Margin, dependent_gaps, random_gaps, random_thresholds, spread_margins
from mnlearn.simulate.mixed import latent_network, mixed_network, ordinal_field

Rng: TypeAlias = np.random.Generator
Rows: TypeAlias = Callable[[int, Rng], Dataset]
Law: TypeAlias = Callable[[Graph, Rng], Rows]
Source: TypeAlias = Callable[[int, Rng, Path], tuple[Graph, Dataset]]

FEWEST_ROWS = 10
"""A table with fewer rows is not learned: its graph counts as empty."""

THIRDS = (
    *(Margin("nominal", states=3), Margin("ordinal", states=5), Margin("continuous")),
    *(Margin("nominal", states=4), Margin("ordinal", states=5), Margin("continuous")),
)
ALL_KINDS = (
    *(Margin("nominal", states=3), Margin("nominal", states=5, skew=0.7), Margin("ordinal", states=5)),
    *(Margin("ordinal", states=5, skew=1.0), Margin("count", mean=0.7), Margin("count", mean=4.0)),
    Margin("continuous"),
)
_SHAPES: Mapping[str, Callable[[Rng], Graph]] = {
    "random": lambda rng: random_graph(20, 3.0, rng),
    "hubs": lambda _: hubs(2, 9),
    "grid": lambda _: grid(4, 5),
}


def _on_graph(shape: Callable[[Rng], Graph], law: Law, n_rows: int, rng: Rng, _data: Path) -> tuple[Graph, Dataset]:
    """Draw a graph, the parameters of a law and rows."""
    graph = shape(rng)
    return graph, law(graph, rng)(n_rows, rng)


def _on_three_graphs(law: Law) -> Mapping[str, Source]:
    """Return one source for each shape."""
    return {name: partial(_on_graph, shape, law) for name, shape in _SHAPES.items()}


def _from_file(name: str, n_rows: int, rng: Rng, data: Path) -> tuple[Graph, Dataset]:
    """Draw rows from a Bayesian network in a file."""
    network = read_bif(data / "networks" / f"{name}.bif")
    return network.moral_graph(), network.sample(n_rows, rng)


def _ordered_file(name: str, n_rows: int, rng: Rng, data: Path) -> tuple[Graph, Dataset]:
    """Draw rows from a Bayesian network in a file; columns of at least three states are declared ordinal."""
    truth, rows = _from_file(name, n_rows, rng, data)
    return truth, declared_ordinal(rows)


def _rows_of(network: FactorNetwork) -> Rows:
    """Return the sampler of a discrete network."""
    return lambda n_rows, rng: sample(network, n_rows, rng).dataset()


def _declared_tables(states: int) -> Law:
    """Return random tables on nominal states that are declared ordinal."""

    def law(graph: Graph, rng: Rng) -> Rows:
        rows = _rows_of(random_pairwise_factors(graph, 0.35, rng, cards=states))
        return lambda n_rows, rng: declared_ordinal(rows(n_rows, rng))

    return law


def _of_margins(margins: Sequence[Margin], **strengths: float) -> Law:
    """Return mixed networks with these margins in turn; shares of states differ."""

    def law(graph: Graph, rng: Rng) -> Rows:
        chosen = random_thresholds(spread_margins(graph.n_variables, margins, rng), 0.6, rng)
        return mixed_network(graph, chosen, rng, **strengths).dataset

    return law


def _latent(margin: Margin) -> Law:
    """Return latent Gaussian networks with one margin."""
    return lambda graph, rng: latent_network(graph, [margin] * graph.n_variables, rng).dataset


SOURCES: Mapping[str, Mapping[str, Source]] = {
    "ordinal field": _on_three_graphs(lambda graph, rng: ordinal_field(graph, rng, thresholds=0.6).dataset),
    "skewed ordinal field": _on_three_graphs(
        lambda graph, rng: ordinal_field(graph, rng, weakest=0.2, strongest=0.5, skew=1.0).dataset
    ),
    "latent Gaussian, 5 classes": _on_three_graphs(_latent(Margin("ordinal", states=5))),
    "nominal, 4 states": _on_three_graphs(_declared_tables(4)),
    "nominal, 5 states": _on_three_graphs(_declared_tables(5)),
    "mixed": _on_three_graphs(_of_margins(THIRDS)),
    "counts of mean 0.7": _on_three_graphs(_of_margins([Margin("count", mean=0.7)], weakest=0.08, strongest=0.2)),
    "counts of mean 4": _on_three_graphs(_of_margins([Margin("count", mean=4.0)], weakest=0.08, strongest=0.2)),
    "latent Gaussian counts": _on_three_graphs(_latent(Margin("count", mean=1.0))),
    "independent": {"empty": partial(_on_graph, lambda _: Graph(20), _of_margins(ALL_KINDS))},
    "stars": {
        "stars": partial(
            _on_graph,
            lambda _: disjoint_union([star(16)] * 4),
            lambda graph, rng: _rows_of(uniform_factors(graph, rng)),
        )
    },
    "alarm": {"file": partial(_from_file, "alarm")},
    "alarm, ordinal": {"file": partial(_ordered_file, "alarm")},
    "insurance, ordinal": {"file": partial(_ordered_file, "insurance")},
}
"""Sources of tables by name, and by the name of the graph."""


@dataclass(frozen=True)
class Section:
    """A table of results.

    Attributes
    ----------
    sources
        Names of `SOURCES`.
    sizes
        Numbers of rows.
    readings
        Names of readings, "mnlearn" first.
    gaps
        "none", a percentage, or "by a column".
    draws
        Draws of each graph, size and kind of gaps.
    """

    sources: tuple[str, ...]
    sizes: tuple[int, ...]
    readings: tuple[str, ...]
    gaps: tuple[str, ...] = ("none",)
    draws: int = 10


SECTIONS: Mapping[str, Section] = {
    "ordinal": Section(("ordinal field",), (250, 500, 1000, 2000), ("mnlearn", "nominal", "numbers")),
    "skewed": Section(("skewed ordinal field",), (250, 1000), ("mnlearn", "nominal", "numbers")),
    "latent": Section(("latent Gaussian, 5 classes",), (250, 1000), ("mnlearn", "nominal", "numbers")),
    "declared": Section(("nominal, 4 states", "nominal, 5 states"), (500, 2000), ("mnlearn", "nominal", "numbers")),
    "networks": Section(
        ("alarm, ordinal", "insurance, ordinal"), (500, 2000), ("mnlearn", "nominal", "numbers"), draws=5
    ),
    "mixed": Section(("mixed",), (250, 1000, 4000), ("mnlearn", "cut", "numbers")),
    "counts": Section(
        ("counts of mean 0.7", "counts of mean 4", "latent Gaussian counts"),
        (250, 1000),
        ("mnlearn", "cut", "numbers"),
        draws=4,
    ),
    "missing": Section(
        ("alarm", "stars"),
        (1000, 4000),
        ("mnlearn", "complete", "category", "dropped"),
        gaps=("5 %", "20 %", "40 %", "by a column"),
        draws=4,
    ),
    "missing-mixed": Section(
        ("mixed", "ordinal field"), (1000,), ("mnlearn", "complete", "dropped"), gaps=("5 %", "20 %"), draws=4
    ),
    "independent": Section(("independent",), (250, 1000), ("mnlearn",)),
}
"""All tables of results by name."""


class Case(NamedTuple):
    """One draw of one section."""

    section: str
    source: str
    graph: str
    n_rows: int
    gaps: str
    seed: int

    def tables(self, data: Path) -> tuple[Graph, Mapping[str, Dataset | None]]:
        """Return the true graph and the table of each reading; None if it has fewer than `FEWEST_ROWS` rows.

        Parameters
        ----------
        data
            Folder of the data, for sources in files.
        """
        rng = np.random.default_rng([self.seed, self.n_rows, *f"{self.source}/{self.graph}".encode()])
        truth, whole = SOURCES[self.source][self.graph](self.n_rows, rng, data)
        gap_rng = np.random.default_rng([self.seed, self.n_rows, *self.gaps.encode()])
        holed = _with_gaps(whole, self.gaps, gap_rng)
        readings = SECTIONS[self.section].readings
        return truth, {name: whole if name == "complete" else READINGS[name](holed) for name in readings}


def cases(section: str, first_seed: int, draws: int | None = None) -> Iterator[Case]:
    """Yield all draws of a section."""
    chosen = SECTIONS[section]
    seeds = range(first_seed, first_seed + (chosen.draws if draws is None else draws))
    for source, n_rows, gaps, seed in product(chosen.sources, chosen.sizes, chosen.gaps, seeds):
        for graph in SOURCES[source]:
            yield Case(section, source, graph, n_rows, gaps, seed)


def _with_gaps(data: Dataset, gaps: str, rng: Rng) -> Dataset:
    """Remove values."""
    if gaps == "none":
        return data
    return (
        dependent_gaps(data, rng) if gaps == "by a column" else random_gaps(data, float(gaps.rstrip(" %")) / 100, rng)
    )


def declared_ordinal(data: Dataset) -> Dataset:
    """Return the data with all columns of at least three states declared ordinal."""
    wide = frozenset(name for name, card in zip(data.names, data.cards, strict=True) if card > 2)
    return replace(data, ordinal=wide)


def as_nominal(data: Dataset) -> Dataset:
    """Return the data without the order of states."""
    return replace(data, ordinal=frozenset())


def as_numbers(data: Dataset) -> Dataset:
    """Return complete data with codes as continuous values."""
    columns = tuple(column.astype(np.float64) for column in data.columns)
    return Dataset(data.names, (0,) * data.n_variables, columns, (None,) * data.n_variables)


def as_classes(data: Dataset) -> Dataset:
    """Return complete data with numbers cut into three classes of nearly equal frequency; all columns are nominal."""
    columns, cards = list(data.columns), list(data.cards)
    for x, (column, card) in enumerate(zip(columns, cards, strict=True)):
        if not card:
            values: Any = column
            cuts = np.unique(np.quantile(values, (1 / 3, 2 / 3)))
            columns[x], cards[x] = np.searchsorted(cuts, values).astype(np.uint8), len(cuts) + 1
    levels = tuple(tuple(range(card)) for card in cards)
    return Dataset(data.names, tuple(cards), tuple(columns), levels, declared=frozenset(data.names))


def without_rows(data: Dataset) -> Dataset | None:
    """Return the rows without gaps; None if there are fewer than `FEWEST_ROWS`."""
    kept = np.ones(data.n_records, dtype=np.bool_)
    for name in data.gaps:
        kept &= np.asarray(data.observed(name))
    if kept.sum() < FEWEST_ROWS:
        return None
    types = [np.float64 if not card else np.uint8 if card <= 256 else np.uint16 for card in data.cards]
    columns = tuple(column[kept].astype(kind) for column, kind in zip(data.columns, types, strict=True))
    return replace(data, columns=columns, gaps=frozenset())


def with_category(data: Dataset) -> Dataset:
    """Return categorical data with missing as a state of its own."""
    cards = tuple(card + (name in data.gaps) for name, card in zip(data.names, data.cards, strict=True))
    levels = tuple(tuple(range(card)) for card in cards)
    return replace(data, cards=cards, levels=levels, gaps=frozenset())


READINGS: Mapping[str, Callable[[Dataset], Dataset | None]] = {
    "mnlearn": lambda data: data,
    "nominal": as_nominal,
    "numbers": as_numbers,
    "cut": as_classes,
    "dropped": without_rows,
    "category": with_category,
}
"""Readings of a table by name; "complete" is the table before values were removed."""
