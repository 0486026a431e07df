"""Figure data of a learned network: layout, communities, order, signs and measures, computed once for all pictures."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from math import isfinite, log
from typing import TYPE_CHECKING

import numpy as np

from mnlearn.data.dataset import Dataset
from mnlearn.data.normal_scores import normal_scores
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
SIGN_WORDS = {1: "positive", -1: "negative", 0: "no sign"}


@dataclass(frozen=True, eq=False)
class FigureData:
    """All that pictures of a learned network need.

    Attributes
    ----------
    names, graph
        The network.
    positions
        Coordinates of each variable, one row each; an edge has a length of about 1.
    groups
        Community of each variable, 0 the largest; −1 for a variable without an edge.
    order
        The variables in the order of a hierarchical clustering.
    correlations
        Partial correlation of each edge given the neighbours of both ends, for ordered variables.
    measures
        Confidence of the edges on every scale of the result.
    """

    names: tuple[str, ...]
    graph: Graph
    positions: FloatArray
    groups: IntArray
    order: IntArray
    correlations: Mapping[Edge, float]
    measures: tuple[Measure, ...]

    def sign(self, edge: Edge) -> int:
        """Return 1 for a positive, −1 for a negative association, 0 for variables without an order."""
        return int(np.sign(self.correlations.get(edge, 0.0)))

    def relative(self) -> FloatArray:
        """Return each edge from 0 to 1 by the first measure; 0.5 for all if there is none."""
        edges = self.graph.edges
        return self.measures[0].relative(edges) if self.measures else np.full(len(edges), 0.5)

    def color(self, x: int) -> str:
        """Return the colour of the community of a variable."""
        group = int(self.groups[x])
        return GROUP_COLORS[group] if 0 <= group < len(GROUP_COLORS) else NO_GROUP_COLOR


def figure_data_of(learned: Learned, seed: int = 0) -> FigureData:
    """Compute the figure data of a network.

    Parameters
    ----------
    learned
        The network.
    seed
        Seed of the layout and the communities.
    """
    graph, data = learned.graph, learned.data
    if data is not None and learned.settings.get("transform") == "normal_scores":
        data = normal_scores(data)
    return FigureData(
        names=learned.names,
        graph=graph,
        positions=positions(graph, seed),
        groups=communities(graph, seed),
        order=clustering_order(graph),
        correlations={} if data is None else partial_correlations(data, graph),
        measures=tuple(measures(learned)),
    )


def shown_name(name: str, most: int = 28) -> str:
    """Return a name for a picture: one line, printable, shortened."""
    plain = "".join(c if c.isprintable() else " " for c in name).strip() or "(blank)"
    return plain if len(plain) <= most else plain[: most - 1] + "…"


@dataclass(frozen=True)
class Measure:
    """One scale of the confidence in edges; larger is more certain.

    Attributes
    ----------
    key
        "frequency", "probability" or "support".
    label
        Label of an axis.
    meaning
        Explanation in words.
    values
        One number per edge that has one; larger is more certain.
    shares
        Whether the numbers are shares from 0 to 1.
    """

    key: str
    label: str
    meaning: str
    values: Mapping[Edge, float]
    shares: bool = True

    def relative(self, edges: tuple[Edge, ...]) -> FloatArray:
        """Return a number from 0 to 1 per edge for drawing: shares unchanged, others relative to their 90 % quantile.

        An edge without a number is drawn as the weakest.
        """
        values = np.array([self.values.get(edge, np.nan) for edge in edges], dtype=np.float64)
        if not self.shares and np.isfinite(values).any():
            values = np.maximum(values, 0.0) / max(float(np.nanquantile(values, 0.9)), 1e-12)
        return np.clip(np.nan_to_num(values, nan=0.0, posinf=1.0, neginf=0.0), 0.0, 1.0)


def measures(learned: Learned) -> list[Measure]:
    """Return the measures of a result, if known: frequency under resampling, probability, support, in this order.

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
    """Return the share of resampled data sets with the edge."""
    if learned.frequencies is None:
        return None
    values = {edge: float(learned.frequencies.get(edge, 0.0)) for edge in learned.graph.edges}
    drawn = "resampling" if learned.resampling is None else learned.resampling.sampling
    label = f"{'bootstrap' if drawn == 'bootstrap' else 'resampling'} frequency"
    return Measure("frequency", label, "the share of resampled data sets that had the edge", values)


def _probability(learned: Learned) -> Measure | None:
    """Return the probability of the edge, if the method gives one."""
    known, support = learned.result.edge_probabilities, learned.result.support
    values: dict[Edge, float] = {}
    for edge in learned.graph.edges:
        if known is not None and edge in known:
            values[edge] = float(known[edge])
        elif learned.result.probabilistic and edge in support:
            values[edge] = float(1.0 / (1.0 + np.exp(-np.clip(support[edge], -700, 700))))
    return Measure("probability", "probability", "how probable the edge is, by this method", values) if values else None


def _support(learned: Learned) -> Measure | None:
    """Return the support: log odds unchanged, p-values as −log10."""
    odds = learned.support_scale == "log_odds"
    turned = 1.0 if odds else -1.0 / log(10.0)
    values = {e: turned * s for e, s in learned.result.support.items() if e in learned.graph and not np.isnan(s)}
    largest = max((abs(value) for value in values.values() if isfinite(value)), default=1.0)
    values = {edge: float(np.clip(value, -2 * largest, 2 * largest)) for edge, value in values.items()}
    if not values:
        return None
    if odds:
        return Measure("support", "log odds", "the natural log odds of the edge, by the method's score", values, False)
    meaning = "evidence of the tests against independence: minus the decimal logarithm of the p-value"
    return Measure("support", "evidence (−log10 p)", meaning, values, False)


# Signs of edges. Numbers, binary variables and numeric states have an order, so an edge between two of them is positive
# or negative. The marginal sign may be due to common neighbours; the partial correlation given the neighbours of both
# ends is not.


_MOST_ROWS = 20_000  # a sign needs no more
_MOST_STATES = 20  # of a variable without an order that is held fixed


def partial_correlations(data: Dataset, graph: Graph) -> dict[Edge, float]:
    """Return the partial correlation of each edge of ordered variables, given the neighbours of both ends."""
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
    """Return whether each variable has an order: continuous, binary, or with numeric states."""
    return [levels is None or len(levels) == 2 or all(map(_is_number, levels)) for levels in data.levels]


def _is_number(level: Hashable) -> bool:
    """Return whether a state is a number; bools count."""
    return isinstance(level, int | float | np.integer | np.floating)


class _Table:
    """Columns as numbers: standardised if ordered, else one indicator column per state."""

    def __init__(self, data: Dataset) -> None:
        self.ordered = ordered_variables(data)
        self._data = data
        self._rows = np.arange(0, data.n_records, max(1, -(-data.n_records // _MOST_ROWS)))
        repeats = np.ones(len(self._rows)) if data.repeats is None else data.repeats[self._rows].astype(np.float64)
        self._root_weights = np.sqrt(repeats / repeats.sum())
        self._blocks: dict[int, FloatArray] = {}

    def partial(self, u: int, v: int, given: list[int]) -> float | None:
        """Return the correlation of the residuals of u and v after a linear regression on the given variables."""
        pair = np.concatenate([self._block(u), self._block(v)], axis=1)
        if pair.shape[1] < 2:
            return None  # one of them never changes
        held = [self._block(w) for w in given if self.ordered[w] or self._data.cards[w] <= _MOST_STATES]
        basis = np.concatenate(held, axis=1) if held else pair[:, :0]
        if basis.shape[1] >= len(pair) - 2:
            basis = pair[:, :0]  # more regressors than rows: no residual would be left
        coefficients = np.linalg.lstsq(basis, pair, rcond=1e-8)[0]
        left = pair - basis @ coefficients
        (uu, uv), (_, vv) = left.T @ left
        return float(np.clip(uv / np.sqrt(uu * vv), -1.0, 1.0)) if min(uu, vv) > 1e-10 else None

    def _block(self, x: int) -> FloatArray:
        """Return the columns of x, centred and weighted; none if x never changes."""
        if x not in self._blocks:
            self._blocks[x] = self._standardised(self._numbers(x))
        return self._blocks[x]

    def _numbers(self, x: int) -> FloatArray:
        """Return x as numbers: its values, its numeric states, or indicators of its states."""
        values, levels = self._data.columns[x][self._rows], self._data.levels[x]
        if levels is None:
            return values.astype(np.float64)[:, None]
        if all(map(_is_number, levels)):
            return np.asarray([float(level) for level in levels])[values.astype(np.int64)][:, None]  # type: ignore[arg-type]
        codes = values.astype(np.int64)
        return codes[:, None].astype(np.float64) if len(levels) == 2 else np.eye(len(levels))[codes][:, 1:]

    def _standardised(self, columns: FloatArray) -> FloatArray:
        """Return columns of weighted mean 0 and length 1; constant columns are left out."""
        weights = self._root_weights[:, None]
        centred = (columns - (weights**2 * columns).sum(axis=0)) * weights
        length = np.sqrt((centred**2).sum(axis=0))
        kept = length > 1e-12 * (1.0 + np.abs(columns).max(axis=0))
        return np.asarray(centred[:, kept] / length[kept])
