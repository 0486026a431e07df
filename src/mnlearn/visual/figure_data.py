"""What every picture of a learned network is drawn from, worked out once: places, groups, order, signs, sureness."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from math import isfinite, log
from typing import TYPE_CHECKING

import numpy as np

from mnlearn.data.dataset import Dataset
from mnlearn.graphs.graph import Edge, Graph
from mnlearn.protocols import FloatArray, IntArray
from mnlearn.visual.layout import clustering_order, communities, positions

if TYPE_CHECKING:
    from mnlearn.results.learned import Learned


# Distinct to most kinds of colour vision, dark enough on white and light enough on black; further groups share a grey.
GROUP_COLORS = (
    *("#3b7dd8", "#e08a1e", "#2a9d74", "#c2578f", "#7d67c9"),
    *("#b59b13", "#3aa6bd", "#c0563c", "#6c8f2f", "#9a6b4c"),
)
NO_GROUP_COLOR = "#8b919a"
SIGN_COLORS = {1: "#2f6db5", -1: "#c44536", 0: "#7a808a"}
SIGN_WORDS = {1: "more with more", -1: "more with less", 0: "no direction"}


@dataclass(frozen=True, eq=False)
class Portrait:
    """A learned network as a picture wants it.

    Attributes
    ----------
    names, graph
        The network.
    positions
        Where each variable stands, one row each; an edge is about 1 long.
    groups
        The number of each variable's community, 0 the largest; −1 without an edge.
    order
        The variables in the order of a clustering.
    correlations
        The partial correlation of each edge given the neighbours of both ends, where the data have one.
    measures
        How sure the edges are, on every scale there is.
    """

    names: tuple[str, ...]
    graph: Graph
    positions: FloatArray
    groups: IntArray
    order: IntArray
    correlations: Mapping[Edge, float]
    measures: tuple[Measure, ...]

    def sign(self, edge: Edge) -> int:
        """1 if more goes with more, −1 if more goes with less, 0 where nothing has a direction."""
        return int(np.sign(self.correlations.get(edge, 0.0)))

    def relative(self) -> FloatArray:
        """Each edge from 0 to 1 by the plainest scale there is; 0.5 for all where there is none."""
        edges = self.graph.edges
        return self.measures[0].relative(edges) if self.measures else np.full(len(edges), 0.5)

    def color(self, x: int) -> str:
        """The colour of a variable: its group's."""
        group = int(self.groups[x])
        return GROUP_COLORS[group] if 0 <= group < len(GROUP_COLORS) else NO_GROUP_COLOR


def portray(learned: Learned, seed: int = 0) -> Portrait:
    """Work out all that pictures of a network need.

    Parameters
    ----------
    learned
        What was learned.
    seed
        For the layout and the groups: the same seed gives the same picture.
    """
    graph = learned.graph
    return Portrait(
        names=learned.names,
        graph=graph,
        positions=positions(graph, seed),
        groups=communities(graph, seed),
        order=clustering_order(graph),
        correlations={} if learned.data is None else partial_correlations(learned.data, graph),
        measures=tuple(measures(learned)),
    )


def shown_name(name: str, most: int = 28) -> str:
    """A name as pictures write it: on one line, nothing that moves the cursor, not too long."""
    plain = "".join(c if c.isprintable() else " " for c in name).strip() or "(blank)"
    return plain if len(plain) <= most else plain[: most - 1] + "…"


# How sure each edge is, on every scale that a result has, turned so that more is surer.


@dataclass(frozen=True)
class Measure:
    """One scale on which the edges of a result can be compared.

    Attributes
    ----------
    key
        "frequency", "probability" or "support".
    label
        What to write on an axis.
    meaning
        The same as a sentence.
    values
        One number per edge that has one; more is surer.
    shares
        Whether the numbers are shares from 0 to 1.
    """

    key: str
    label: str
    meaning: str
    values: Mapping[Edge, float]
    shares: bool = True

    def relative(self, edges: tuple[Edge, ...]) -> FloatArray:
        """For each edge a number from 0 to 1 to draw it by: shares as they are, others by the best of the strong.

        An edge without a number is drawn as the weakest.
        """
        values = np.array([self.values.get(edge, np.nan) for edge in edges], dtype=np.float64)
        if not self.shares and np.isfinite(values).any():
            values = np.maximum(values, 0.0) / max(float(np.nanquantile(values, 0.9)), 1e-12)
        return np.clip(np.nan_to_num(values, nan=0.0, posinf=1.0, neginf=0.0), 0.0, 1.0)


def measures(learned: Learned) -> list[Measure]:
    """The scales that a result has: frequency under resampling, probability, support; the plainest first.

    Examples
    --------
    >>> from mnlearn.graphs.graph import Graph
    >>> from mnlearn.results import Learned
    >>> from mnlearn.protocols import Result
    >>> found = Result(Graph(2, [(0, 1)]), None, {(0, 1): -4.6}, True, {})
    >>> [(measure.key, round(measure.values[0, 1], 1)) for measure in measures(Learned("gsmn", ("a", "b"), found))]
    [('support', 2.0)]
    """
    found = [_frequency(learned), _probability(learned), _support(learned)]
    return [measure for measure in found if measure is not None]


def _frequency(learned: Learned) -> Measure | None:
    """The share of the resamples that had the edge."""
    if learned.frequencies is None:
        return None
    values = {edge: float(learned.frequencies.get(edge, 0.0)) for edge in learned.graph.edges}
    drawn = "resampling" if learned.resampling is None else learned.resampling.sampling
    label = f"{'bootstrap' if drawn == 'bootstrap' else 'resampling'} frequency"
    return Measure("frequency", label, "the share of resampled data sets that had the edge", values)


def _probability(learned: Learned) -> Measure | None:
    """The probability of the edge, where the method stands for one."""
    known, support = learned.result.edge_probabilities, learned.result.support
    values: dict[Edge, float] = {}
    for edge in learned.graph.edges:
        if known is not None and edge in known:
            values[edge] = float(known[edge])
        elif learned.result.probabilistic and edge in support:
            values[edge] = float(1.0 / (1.0 + np.exp(-np.clip(support[edge], -700, 700))))
    return Measure("probability", "probability", "how probable the edge is, by this method", values) if values else None


def _support(learned: Learned) -> Measure | None:
    """The method's own evidence: log-odds as they are, p-values as powers of ten."""
    odds = learned.support_scale == "log_odds"
    turned = 1.0 if odds else -1.0 / log(10.0)
    values = {e: turned * s for e, s in learned.result.support.items() if e in learned.graph and not np.isnan(s)}
    largest = max((abs(value) for value in values.values() if isfinite(value)), default=1.0)
    values = {edge: float(np.clip(value, -2 * largest, 2 * largest)) for edge, value in values.items()}
    if not values:
        return None
    if odds:
        return Measure("support", "log odds", "the natural log odds of the edge, by the method's score", values, False)
    meaning = "how strongly the tests speak against independence: minus the power of ten of the p-value"
    return Measure("support", "evidence (−log10 p)", meaning, values, False)


# Which way two joined variables go together: the partial correlation of the two given the neighbours of both.
#
# The graph of a Markov network has no signs; the data behind it may. A number, a yes-or-no question and a state that
# is a
# number have an order, so that more of one can go with more or with less of the other. The sign that two variables
# show
# alone can be their neighbours' doing; hence the neighbours are held fixed.


_MOST_ROWS = 20_000  # a sign needs no more
_MOST_STATES = 20  # of a variable without an order that is held fixed


def partial_correlations(data: Dataset, graph: Graph) -> dict[Edge, float]:
    """For each edge of two ordered variables that both vary: their partial correlation given all their neighbours."""
    table = _Table(data)
    found: dict[Edge, float] = {}
    for u, v in graph.edges:
        if table.ordered[u] and table.ordered[v]:
            given = sorted((graph.neighbors(u) | graph.neighbors(v)) - {u, v})
            value = table.partial(u, v, given)
            if value is not None:
                found[u, v] = value
    return found


def ordered_variables(data: Dataset) -> list[bool]:
    """Whether each variable has an order: continuous, of two states, or of states that are numbers."""
    return [levels is None or len(levels) == 2 or all(map(_is_number, levels)) for levels in data.levels]


def _is_number(level: Hashable) -> bool:
    """Whether a state is a number; a truth counts, its two states have an order anyway."""
    return isinstance(level, int | float | np.integer | np.floating)


class _Table:
    """The columns as numbers: standardised where there is an order, else one column per state."""

    def __init__(self, data: Dataset) -> None:
        self.ordered = ordered_variables(data)
        self._data = data
        self._rows = np.arange(0, data.n_records, max(1, -(-data.n_records // _MOST_ROWS)))
        repeats = np.ones(len(self._rows)) if data.repeats is None else data.repeats[self._rows].astype(np.float64)
        self._root_weights = np.sqrt(repeats / repeats.sum())
        self._blocks: dict[int, FloatArray] = {}

    def partial(self, u: int, v: int, given: list[int]) -> float | None:
        """The correlation of what is left of u and v once a linear model of the given is taken from both."""
        pair = np.concatenate([self._block(u), self._block(v)], axis=1)
        if pair.shape[1] < 2:
            return None  # one of them never changes
        held = [self._block(w) for w in given if self.ordered[w] or self._data.cards[w] <= _MOST_STATES]
        basis = np.concatenate(held, axis=1) if held else pair[:, :0]
        if basis.shape[1] >= len(pair) - 2:
            basis = pair[:, :0]  # more is held fixed than there are rows: nothing would be left
        coefficients = np.linalg.lstsq(basis, pair, rcond=1e-8)[0]
        left = pair - basis @ coefficients
        (uu, uv), (_, vv) = left.T @ left
        return float(np.clip(uv / np.sqrt(uu * vv), -1.0, 1.0)) if min(uu, vv) > 1e-10 else None

    def _block(self, x: int) -> FloatArray:
        """The columns that stand for x, centred, each row by the root of its weight; none if it never changes."""
        if x not in self._blocks:
            self._blocks[x] = self._standardised(self._numbers(x))
        return self._blocks[x]

    def _numbers(self, x: int) -> FloatArray:
        """x as numbers: itself, the numbers that its states are, or which state it is in."""
        values, levels = self._data.columns[x][self._rows], self._data.levels[x]
        if levels is None:
            return values.astype(np.float64)[:, None]
        if all(map(_is_number, levels)):
            return np.asarray([float(level) for level in levels])[values.astype(np.int64)][:, None]  # type: ignore[arg-type]
        codes = values.astype(np.int64)
        return codes[:, None].astype(np.float64) if len(levels) == 2 else np.eye(len(levels))[codes][:, 1:]

    def _standardised(self, columns: FloatArray) -> FloatArray:
        """Mean 0 and length 1, weights counted; columns that never change are left out."""
        weights = self._root_weights[:, None]
        centred = (columns - (weights**2 * columns).sum(axis=0)) * weights
        length = np.sqrt((centred**2).sum(axis=0))
        kept = length > 1e-12 * (1.0 + np.abs(columns).max(axis=0))
        return np.asarray(centred[:, kept] / length[kept])
