"""Figure data of a learned network: layout, communities, order, signs and measures, computed once for all pictures."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import isfinite, log
from typing import TYPE_CHECKING

import numpy as np

from mnlearn.graphs.graph import Edge, Graph
from mnlearn.protocols import FloatArray, IntArray
from mnlearn.statistics.edge_weights import EdgeWeights
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
    weights
        Signed weights of the edges; None if they are not known.
    measures
        Confidence of the edges on every scale of the result.
    """

    names: tuple[str, ...]
    graph: Graph
    positions: FloatArray
    groups: IntArray
    order: IntArray
    weights: EdgeWeights | None
    measures: tuple[Measure, ...]

    def sign(self, edge: Edge) -> int:
        """Return 1 for a positive, −1 for a negative association, 0 for variables without an order."""
        return 0 if self.weights is None else self.weights.sign(edge)

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
    graph = learned.graph
    return FigureData(
        names=learned.names,
        graph=graph,
        positions=positions(graph, seed),
        groups=communities(graph, seed),
        order=clustering_order(graph),
        weights=learned.weights,
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
