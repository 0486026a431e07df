"""Figure data of a learned network: layout, communities, order, signs and measures, computed once for all pictures."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import isfinite, isnan, log
from typing import TYPE_CHECKING

import numpy as np

from mnlearn.errors import InputError
from mnlearn.graphs.graph import Edge, Graph
from mnlearn.protocols import FloatArray, IntArray
from mnlearn.visual.appearance import Appearance, coordinates, group_numbers, label_texts
from mnlearn.visual.layout import (
    block_order,
    clustering_order,
    communities,
    on_circle,
    on_group_circles,
    positions,
)

if TYPE_CHECKING:
    from mnlearn.regression.weights import EdgeWeights
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
        The network; the graph has the edges to draw.
    positions
        Coordinates of each variable, one row each; an edge has a length of about 1.
    groups
        Group of each variable, or community, 0 the largest; −1 for a variable without one.
    order
        The variables in the order of a hierarchical clustering, each group together.
    weights
        Signed weights of the edges; None if they are not known.
    measures
        Confidence of the edges on every scale of the result.
    labels
        Text of each variable in pictures.
    group_names
        Names of the groups; none for communities.
    hidden
        Number of edges that are not drawn because their weight is below a threshold.
    widest
        Absolute weight that is drawn with full width, if several networks share it.
    """

    names: tuple[str, ...]
    graph: Graph
    positions: FloatArray
    groups: IntArray
    order: IntArray
    weights: EdgeWeights | None
    measures: tuple[Measure, ...]
    labels: tuple[str, ...] = ()
    group_names: tuple[str, ...] = ()
    hidden: int = 0
    widest: float | None = None

    def sign(self, edge: Edge) -> int:
        """Return 1 for a positive, −1 for a negative association, 0 for variables without an order."""
        return 0 if self.weights is None else self.weights.sign(edge)

    def text(self, x: int, most: int = 28) -> str:
        """Return the label of a variable, or its name, on one line."""
        return shown_name(self.labels[x] if self.labels else self.names[x], most)

    def strength(self) -> FloatArray:
        """Return a number from 0 to 1 per edge: its absolute weight; its confidence if there are no weights."""
        if self.weights is None:
            return self.relative()
        found = relative_strengths(self.weights, self.widest)
        return np.array([found.get(edge, 0.0) for edge in self.graph.edges], dtype=np.float64)

    def confidence(self) -> Measure | None:
        """Return the measure that opacity shows: probability, else frequency, else support.

        Without weights it is the first measure, which then also sets the width.
        """
        if self.weights is None:
            return self.measures[0] if self.measures else None
        by_key = {measure.key: measure for measure in self.measures}
        return next((by_key[key] for key in ("probability", "frequency", "support") if key in by_key), None)

    def opacity(self) -> FloatArray:
        """Return each edge from 0 to 1 by its confidence; 1 for all if none is known."""
        measure, edges = self.confidence(), self.graph.edges
        return np.ones(len(edges)) if measure is None else measure.relative(edges)

    def relative(self) -> FloatArray:
        """Return each edge from 0 to 1 by the first measure; 0.5 for all if there is none."""
        edges = self.graph.edges
        return self.measures[0].relative(edges) if self.measures else np.full(len(edges), 0.5)

    def color(self, x: int) -> str:
        """Return the colour of the group of a variable."""
        return group_color(int(self.groups[x]))

    def group_legend(self) -> list[tuple[str, str]]:
        """Return the colour and the name of each named group; those that share a grey are "other"."""
        found = [(group_color(k), name) for k, name in enumerate(self.group_names[: len(GROUP_COLORS)])]
        rest = len(self.group_names) > len(found) or bool((self.groups < 0).any())
        return [*found, (NO_GROUP_COLOR, "other")] if found and rest else found

    def blocks(self) -> list[tuple[int, int, str]]:
        """Return the first place, the size and the name of each group in `order`; variables without one are left out.

        A community has the name of the variable with the most neighbours in it.
        """
        found: list[tuple[int, int, str]] = []
        in_order = self.groups[self.order]
        starts = [k for k in range(len(in_order)) if k == 0 or in_order[k] != in_order[k - 1]]
        for first, end in zip(starts, [*starts[1:], len(in_order)], strict=True):
            group, members = int(in_order[first]), self.order[first:end].tolist()
            if group < 0:
                continue
            hub = max(members, key=lambda x: (self.graph.degree(x), -x))
            more = f" + {len(members) - 1}" if len(members) > 1 else ""
            name = shown_name(self.group_names[group], 20) if self.group_names else self.text(hub, 16) + more
            found.append((first, end - first, name))
        return found


def group_color(group: int) -> str:
    """Return the colour of a group by number; grey for none and beyond the last colour."""
    return GROUP_COLORS[group] if 0 <= group < len(GROUP_COLORS) else NO_GROUP_COLOR


def relative_strengths(weights: EdgeWeights, widest: float | None = None) -> dict[Edge, float]:
    """Return the absolute weight of each edge from 0 to 1, relative to the strongest.

    An outlier counts as twice the 90 % quantile at most, so that it does not make all other edges thin.
    """
    full = strongest(weights) if widest is None else widest
    return {edge: 0.0 if isnan(value) else min(abs(value) / full, 1.0) for edge, value in weights.values.items()}


def strongest(weights: EdgeWeights) -> float:
    """Return the absolute weight that is drawn with full width."""
    values = np.abs([value for value in weights.values.values() if isfinite(value)])
    found = min(float(values.max()), 2 * float(np.quantile(values, 0.9))) if len(values) else 0.0
    return found if found > 0 else 1.0


def figure_data_of(learned: Learned, seed: int = 0, look: Appearance | None = None) -> FigureData:
    """Compute the figure data of a network.

    Parameters
    ----------
    learned
        The network.
    seed
        Seed of the layout and the communities.
    look
        Groups, labels, layout and threshold, if not the default ones.
    """
    look = Appearance() if look is None else look
    graph, weights, names = learned.graph, learned.weights, learned.names
    strengths = None if weights is None else relative_strengths(weights)
    groups, group_names = (
        (communities(graph, seed, strengths), ()) if look.groups is None else group_numbers(names, look.groups)
    )
    order = block_order(clustering_order(graph), groups)
    drawn = _strong_edges(graph, weights, look.threshold)
    return FigureData(
        names=names,
        graph=drawn,
        positions=_laid_out(learned, seed, look, groups, order),
        groups=groups,
        order=order,
        weights=weights,
        measures=tuple(measures(learned)),
        labels=() if look.labels is None else label_texts(names, look.labels),
        group_names=group_names,
        hidden=graph.n_edges - drawn.n_edges,
    )


def _strong_edges(graph: Graph, weights: EdgeWeights | None, threshold: float | None) -> Graph:
    """Return the graph without the edges whose absolute weight is below the threshold."""
    if threshold is None:
        return graph
    if weights is None:
        raise InputError(
            "threshold needs weights of the edges, which follow from the data; got a network without. Attach the "
            "data: learned.with_data(data)."
        )
    return Graph(graph.n_variables, [edge for edge in graph.edges if abs(weights.values.get(edge, 0.0)) >= threshold])


def _laid_out(learned: Learned, seed: int, look: Appearance, groups: IntArray, order: IntArray) -> FloatArray:
    """Return the coordinates of the variables in the layout of the settings."""
    if look.same_layout_as is not None:
        other = look.same_layout_as
        place = {name: x for x, name in enumerate(other.names)}
        return weighted_positions(other, seed)[[place[name] for name in learned.names]]
    if look.layout is None or isinstance(look.layout, str):
        named = {
            "circle": lambda: on_circle(order.tolist()),
            "groups": lambda: on_group_circles(groups, order),
        }
        return named.get(look.layout or "", lambda: weighted_positions(learned, seed))()
    return coordinates(learned.names, look.layout)


def weighted_positions(learned: Learned, seed: int) -> FloatArray:
    """Return the layout of a network in which strong edges are short."""
    weights = learned.weights
    return positions(learned.graph, seed, None if weights is None else relative_strengths(weights))


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
    edges = learned.graph.edges
    odds = np.array([support.get(edge, np.nan) for edge in edges] if learned.result.probabilistic else [])
    chances = (1.0 / (1.0 + np.exp(-np.clip(odds, -700, 700)))).tolist() or [None] * len(edges)
    for edge, chance in zip(edges, chances, strict=True):
        if known is not None and edge in known:
            values[edge] = float(known[edge])
        elif chance is not None and edge in support:
            values[edge] = chance
    return Measure("probability", "probability", "how probable the edge is, by this method", values) if values else None


def _support(learned: Learned) -> Measure | None:
    """Return the support: log odds unchanged, p-values as −log10."""
    odds = learned.support_scale == "log_odds"
    turned = 1.0 if odds else -1.0 / log(10.0)
    joined = set(learned.graph.edges)
    values = {e: turned * s for e, s in learned.result.support.items() if e in joined and not isnan(s)}
    largest = max((abs(value) for value in values.values() if isfinite(value)), default=1.0)
    values = {edge: float(min(max(value, -2 * largest), 2 * largest)) for edge, value in values.items()}
    if not values:
        return None
    if odds:
        return Measure("support", "log odds", "the natural log odds of the edge, by the method's score", values, False)
    meaning = "evidence of the tests against independence: minus the decimal logarithm of the p-value"
    return Measure("support", "evidence (−log10 p)", meaning, values, False)
