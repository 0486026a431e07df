"""What every picture of a learned network is drawn from, worked out once: places, groups, order, signs, sureness."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from mnlearn.graphs.graph import Edge, Graph
from mnlearn.output._association import partial_correlations
from mnlearn.output._layout import clustering_order, communities, positions
from mnlearn.output.measures import Measure, measures
from mnlearn.protocols import FloatArray, IntArray

if TYPE_CHECKING:
    from mnlearn.output.learned import Learned

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
