"""All that a learned graph is worth beside the true one, in one record: what `mnlearn evaluate` prints."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from mnlearn.errors import InputError
from mnlearn.evaluation.metrics import Confusion, SubgraphScore, align, compare_edges, ev_scores
from mnlearn.graphs import NamedGraph, read_graph
from mnlearn.graphs.graph import Graph


@dataclass(frozen=True)
class Evaluation:
    """A learned graph against the truth.

    Attributes
    ----------
    variables, learned_edges, true_edges
        How large the two graphs are.
    edges
        The pairs by what was learned and what is true.
    ev
        E- and V-scores by kind of subgraph.
    """

    variables: int
    learned_edges: int
    true_edges: int
    edges: Confusion
    ev: Mapping[str, SubgraphScore]

    def to_dict(self) -> dict[str, object]:
        """The document that `mnlearn evaluate --json` prints."""
        found = self.edges
        return {
            "variables": self.variables,
            "learned_edges": self.learned_edges,
            "true_edges": self.true_edges,
            "hamming": found.hamming,
            "fp": found.false_positives,
            "fn": found.false_negatives,
            "precision": found.precision,
            "recall": found.recall,
            "f1": found.f1,
            "normalized_hamming": found.normalized_hamming,
            "ev": {kind: {"e": s.e, "v": s.v, "subgraphs": s.n_subgraphs} for kind, s in self.ev.items()},
        }


def evaluate(learned: object, truth: object, *, kinds: Sequence[str] | None = None) -> Evaluation:
    """Hold a learned graph against the true one.

    Parameters
    ----------
    learned, truth
        Two graphs by index; or two with names (files, `NamedGraph`, what `mnlearn.learn` returns), which are matched
        by name in any order.
    kinds
        The kinds of subgraph for E- and V-scores; all when left out, none for an empty list.

    Raises
    ------
    InputError
        If the two are not over the same variables.

    Examples
    --------
    >>> found = evaluate(Graph(3, [(0, 1)]), Graph(3, [(0, 1), (1, 2)]))
    >>> found.edges.hamming, found.edges.recall, found.ev["1N"].n_subgraphs
    (1, 0.5, 3)
    """
    one, other = _graph("learned", learned), _graph("truth", truth)
    if isinstance(one, NamedGraph) and isinstance(other, NamedGraph):
        one, other = align(one, other)
    if isinstance(one, NamedGraph) or isinstance(other, NamedGraph):
        raise InputError("learned and truth must both have names, or neither; got one of each. Name both.")
    found = compare_edges(one, other)
    return Evaluation(other.n_variables, one.n_edges, other.n_edges, found, ev_scores(one, other, kinds))


def _graph(argument: str, given: object) -> Graph | NamedGraph:
    """A graph, or one from a file."""
    if isinstance(given, Graph | NamedGraph):
        return given
    if isinstance(given, str | os.PathLike):
        return read_graph(given)
    graph, names = getattr(given, "graph", None), getattr(given, "names", None)
    if isinstance(graph, Graph) and isinstance(names, tuple):
        return NamedGraph(graph, names)
    raise InputError(f"{argument} must be a graph, with or without names, or a file; got a {type(given).__name__}.")
