"""The landscape of a score: how good are graphs, by how far they are from one of them?

Schlüter, Bromberg & Edera, AMAI (2014)  [IBMAP14], Appendix: all structures of a small domain, sorted by their Hamming
distance to the true one, against their scores. A score that a climb can trust falls with the distance; where the
structure that was learned lies tells the fault of the search from that of the score. All graphs can be scored up to 7
variables; for more, `sample_landscape` draws some at every distance.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from itertools import combinations
from typing import NamedTuple

import numpy as np

from mnlearn.algorithms.base import check_parts
from mnlearn.algorithms.exhaustive import Exhaustive
from mnlearn.errors import InputError, check_mapping, tuple_of, whole_number
from mnlearn.graphs.graph import Edge, Graph, check_graph
from mnlearn.numbers import Seed, rng_from
from mnlearn.protocols import SILENT, FloatArray, IntArray, Monitor, Score


class Ring(NamedTuple):
    """The scores of the graphs at one distance."""

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
    """The distance and the score of every graph, or of a sample.

    Attributes
    ----------
    distances, scores
        One entry per graph: all in the order of their numbers (`AllGraphs`), a sample by distance.
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
    named = _named_graphs(score, center, marked)
    required, forbidden = tuple_of("required", required, "edges"), tuple_of("forbidden", forbidden, "edges")
    search = Exhaustive(required=tuple(required), forbidden=tuple(forbidden), keep_all=True)
    found = search.learn(score, monitor)
    if found.all_graphs is None:
        raise InputError("the search was cancelled, and a landscape needs all graphs. Let it run to its end.")
    middle = found.graph if center is None else center
    places = {"center": middle, "best": found.graph, **named}
    marks = {name: _place(score, graph, middle) for name, graph in places.items()}
    return Landscape(found.all_graphs.distances(middle), found.all_graphs.scores, marks)


def sample_landscape(
    score: Score,
    center: Graph,
    seed: Seed,
    *,
    per_distance: int = 20,
    marked: Mapping[str, Graph] | None = None,
    monitor: Monitor = SILENT,
) -> Landscape:
    """Score random graphs at every distance from one of them, for any number of variables.

    Parameters
    ----------
    score
        Any score.
    center
        The graph that distances are to, usually the true one.
    seed
        An integer, or a generator to draw from.
    per_distance
        How many graphs are drawn, at most a million, at each distance from 1 to n(n − 1)/2 − 1, each choice of flipped
        pairs equally likely; the center and the graph with all pairs flipped are scored once.
    marked
        Graphs to find in the landscape, by name, such as what a search returned.
    monitor
        Receives the progress.

    Returns
    -------
    Landscape
        "best" is the highest of the graphs drawn and the graphs marked.

    Raises
    ------
    InputError
        If a graph has another number of variables, or the monitor cancels.

    Notes
    -----
    All distances have the same weight in `correlation`. In a landscape of all graphs most graphs, and most of the
    weight, are at middle distances.

    Examples
    --------
    >>> class Chain:
    ...     n_variables = 10
    ...     def __call__(self, graph):
    ...         return -2.0 * len(set(graph.edges) ^ {(0, 1), (1, 2)})
    >>> seen = sample_landscape(Chain(), Graph(10, [(0, 1), (1, 2)]), seed=1, per_distance=3)
    >>> len(seen.scores), round(seen.correlation(), 6), seen.marks["best"].distance
    (134, -1.0, 0)
    """
    check_parts(score, monitor, ("__call__",), "Use a score, such as MPL(Counts(data)).")
    check_graph("center", center)
    named, rng = _named_graphs(score, center, marked), rng_from(seed)
    drawn = whole_number("per_distance", per_distance, least=1, most=10**6, hint="A usual number is 20.")
    n = center.n_variables
    pairs, edges = list(combinations(range(n), 2)), set(center.edges)
    distances: list[int] = []
    scores: list[float] = []
    for distance in range(len(pairs) + 1):
        if monitor.cancelled():
            raise InputError("the sampling was cancelled, and a landscape needs all distances. Let it run to its end.")
        monitor.progress(distance, len(pairs) + 1, f"distance {distance}")
        for _ in range(drawn if 0 < distance < len(pairs) else 1):
            flipped = {pairs[k] for k in rng.choice(len(pairs), distance, replace=False)}
            distances.append(distance)
            scores.append(score(Graph(n, edges ^ flipped)))
    marks = {name: _place(score, graph, center) for name, graph in {"center": center, **named}.items()}
    top = int(np.argmax(scores))
    best = max([Place(distances[top], scores[top]), *marks.values()], key=lambda place: place.score)
    return Landscape(np.array(distances), np.array(scores), {"center": marks["center"], "best": best, **marks})


def _named_graphs(score: Score, center: Graph | None, marked: Mapping[str, Graph] | None) -> dict[str, Graph]:
    """Return the marked graphs; raise InputError unless these and the center have the variables of the score."""
    check_mapping("marked", marked, "{'truth': graph}")
    for name, graph in {**({"center": center} if center is not None else {}), **(marked or {})}.items():
        check_graph(name, graph)
        if graph.n_variables != score.n_variables:
            raise InputError(
                f"{name} must be a graph on the {score.n_variables} variables of the score; got {graph.n_variables}."
            )
    return dict(marked or {})


def _place(score: Score, graph: Graph, center: Graph) -> Place:
    """Where a graph lies."""
    return Place(len(set(graph.edges) ^ set(center.edges)), score(graph))
