"""The landscape of a score: how good is every graph, by how far it is from one of them?

Schlüter, Bromberg & Edera, AMAI (2014)  [IBMAP14], Appendix: all structures of a small domain, sorted by their Hamming
distance to the true one, against their scores. A score that a climb can trust falls with the distance; where the
structure that was learned lies tells the fault of the search from that of the score.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from mnlearn.algorithms.exhaustive import Exhaustive
from mnlearn.errors import InputError, check_mapping, tuple_of
from mnlearn.graphs.graph import Edge, Graph, check_graph
from mnlearn.protocols import SILENT, FloatArray, IntArray, Monitor, Score


class Ring(NamedTuple):
    """The scores of all graphs at one distance."""

    distance: int
    graphs: int
    lowest: float
    lower_quartile: float
    median: float
    upper_quartile: float
    highest: float


class Place(NamedTuple):
    """Where one graph lies."""

    distance: int
    score: float


@dataclass(frozen=True, eq=False)
class Landscape:
    """The distance and the score of every graph.

    Attributes
    ----------
    distances, scores
        One entry per graph, in the order of their numbers (`AllGraphs`).
    marks
        Graphs of interest: "center", the one that distances are to; "best"; and any that were named.
    """

    distances: IntArray
    scores: FloatArray
    marks: Mapping[str, Place]

    def columns(self) -> dict[str, IntArray | FloatArray]:
        """One row per graph, ready for a data frame or a CSV file."""
        return {"distance": self.distances, "score": self.scores}

    def rings(self) -> list[Ring]:
        """The scores at each distance in five numbers; distances that no graph has are left out."""
        order = np.argsort(self.distances, kind="stable")
        distances, starts = np.unique(self.distances[order], return_index=True)
        parts = np.split(self.scores[order], starts[1:])
        return [
            Ring(int(d), len(part), *map(float, _quartiles(part))) for d, part in zip(distances, parts, strict=True)
        ]

    def correlation(self) -> float:
        """Pearson's correlation of distance and score: −1 if every step away from the center costs the same.

        Graphs with the score -inf are left out.
        """
        finite = np.isfinite(self.scores)
        scores, distances = self.scores[finite], self.distances[finite]
        if np.ptp(scores) == 0 or np.ptp(distances) == 0:
            return 0.0
        return float(np.corrcoef(distances, scores)[0, 1])


def _quartiles(scores: FloatArray) -> FloatArray:
    """Return the quartiles; with scores of -inf, between which and others there is no mean, those that occur."""
    shares = (0, 0.25, 0.5, 0.75, 1)
    finite = np.isfinite(scores).all()
    return np.asarray(np.quantile(scores, shares) if finite else np.quantile(scores, shares, method="lower"))


def landscape(
    score: Score,
    center: Graph | None = None,
    *,
    marked: Mapping[str, Graph] | None = None,
    required: Collection[Edge] = (),
    forbidden: Collection[Edge] = (),
    monitor: Monitor = SILENT,
) -> Landscape:
    """Score every graph, and measure how far it is from one of them.

    Parameters
    ----------
    score
        Any score, of at most 7 variables unless edges are required or forbidden: see `Exhaustive`.
    center
        The graph that distances are to, usually the true one; the best one when left out.
    marked
        Graphs to find in the landscape, by name, such as what a search returned.
    required, forbidden
        Edges that all graphs have, or none.
    monitor
        Receives the progress.

    Raises
    ------
    InputError
        If there are too many graphs, or a graph has another number of variables.

    Examples
    --------
    >>> class Chain:
    ...     n_variables = 3
    ...     def __call__(self, graph):
    ...         return 6.0 - 2.0 * len(set(graph.edges) ^ {(0, 1), (1, 2)})
    >>> seen = landscape(Chain(), marked={"empty": Graph.empty(3)})
    >>> [(ring.distance, ring.graphs, ring.highest) for ring in seen.rings()]
    [(0, 1, 6.0), (1, 3, 4.0), (2, 3, 2.0), (3, 1, 0.0)]
    >>> seen.marks["empty"]
    Place(distance=2, score=2.0)
    """
    check_mapping("marked", marked, "{'truth': graph}")
    required, forbidden = tuple_of("required", required, "edges"), tuple_of("forbidden", forbidden, "edges")
    named = {**({"center": center} if center is not None else {}), **(marked or {})}
    for name, graph in named.items():
        check_graph(name, graph)
        if graph.n_variables != score.n_variables:
            raise InputError(
                f"{name} must be a graph on the {score.n_variables} variables of the score; got {graph.n_variables}."
            )
    search = Exhaustive(required=tuple(required), forbidden=tuple(forbidden), keep_all=True)
    found = search.learn(score, monitor)
    if found.all_graphs is None:
        raise InputError("the search was cancelled, and a landscape needs all graphs. Let it run to its end.")
    middle = found.graph if center is None else center
    distances = found.all_graphs.distances(middle)
    places = {"center": middle, "best": found.graph, **(marked or {})}
    marks = {name: Place(len(set(graph.edges) ^ set(middle.edges)), score(graph)) for name, graph in places.items()}
    return Landscape(distances, found.all_graphs.scores, marks)
