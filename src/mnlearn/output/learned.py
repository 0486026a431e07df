"""A learned network with the names of its variables: what `mnlearn.learn` returns."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from math import inf
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from mnlearn.data import Dataset
from mnlearn.errors import InputError, unknown_name
from mnlearn.graphs.formats import carries_numbers, write_graph
from mnlearn.graphs.graph import Edge, Graph
from mnlearn.protocols import Question, Result

if TYPE_CHECKING:
    from scipy.sparse import csr_array


class LearnedEdge(NamedTuple):
    """One pair by name, with its support on the scale of the result; a list of them makes a data frame.

    The probability is known where a method stands for one: separator evidence, and averages over all graphs. The
    log-odds of other scores rank the edges; most are far too sure of themselves to be turned into probabilities.
    """

    u: str
    v: str
    support: float | None
    probability: float | None = None


@dataclass(frozen=True)
class Learned:
    """What a method found in the data, by name.

    Attributes
    ----------
    method
        The name of the method.
    names
        The variables, in the order of the data.
    result
        The record of the search itself, by index.
    data
        What it was learned from, where that is at hand: a network read from a file has none.
    frequencies
        In which share of the resampled data each pair was an edge, by index, where that was asked for.

    Examples
    --------
    >>> from mnlearn.graphs.graph import Graph
    >>> chain = Result(Graph.from_edges(3, [(0, 1), (1, 2)]), None, {(0, 1): -9.0, (1, 2): -4.0}, True, {"asked": 5})
    >>> learned = Learned("gsmn", ("rain", "wet", "slippery"), chain)
    >>> [(edge.u, edge.v) for edge in learned.edges()]
    [('rain', 'wet'), ('wet', 'slippery')]
    >>> learned.blanket("wet")
    ('rain', 'slippery')
    """

    method: str
    names: tuple[str, ...]
    result: Result
    data: Dataset | None = field(default=None, compare=False, repr=False)
    frequencies: Mapping[Edge, float] | None = field(default=None, repr=False)

    @property
    def graph(self) -> Graph:
        """The learned structure, by index."""
        return self.result.graph

    @property
    def converged(self) -> bool:
        """Whether the search came to its own end."""
        return self.result.converged

    @property
    def score(self) -> float | None:
        """The score of the structure in natural-log units, where the method weighs structures."""
        return self.result.score

    @property
    def support_scale(self) -> str:
        """What the support of an edge is: "log_independence", the smaller the surer, or "log_odds", the larger."""
        return self.result.support_scale

    @property
    def stages(self) -> Mapping[str, Graph]:
        """Graphs that the method found on its way, by name: for instance the and and or graphs of mpl."""
        return self.result.stages

    @property
    def cost(self) -> Mapping[str, float]:
        """What the search asked and how long it took."""
        return self.result.cost

    @property
    def settings(self) -> Mapping[str, object]:
        """Enough to run it again."""
        return self.result.settings

    @property
    def trace(self) -> tuple[Question, ...] | None:
        """Every question in order, when the search was told to keep them (`keep_trace=True`)."""
        return self.result.trace

    def edges(self) -> list[LearnedEdge]:
        """The edges, the best supported first; one without support comes last, ties in the order of the variables."""
        support, sign = self.result.support, -1.0 if self.support_scale == "log_odds" else 1.0
        found = sorted(self.graph.edges, key=lambda edge: (sign * support.get(edge, sign * inf), edge))
        return [self._edge(edge, support.get(edge)) for edge in found]

    def pairs(self, least: float = 0.0) -> list[LearnedEdge]:
        """Every pair that is an edge with at least this probability, absent ones too, the most probable first.

        Parameters
        ----------
        least
            The smallest probability of interest.

        Raises
        ------
        InputError
            If the search did not keep all pairs.
        """
        odds = self._all_odds()
        n = len(self.names)
        chance = self.probabilities()
        listed = [(u, v) for u in range(n) for v in np.flatnonzero(chance[u, u + 1 :] >= least) + u + 1]
        listed.sort(key=lambda pair: (-odds[pair], pair))
        return [LearnedEdge(self.names[u], self.names[v], float(odds[u, v]), float(chance[u, v])) for u, v in listed]

    def probabilities(self) -> NDArray[np.float64]:
        """The probability of every edge, present or absent: a symmetric matrix in the order of `names`, its diagonal 0.

        Raises
        ------
        InputError
            If the search did not keep all pairs.
        """
        return _probability(self._all_odds())

    def _all_odds(self) -> NDArray[np.float64]:
        """The log-odds of every pair."""
        if self.result.log_odds is not None:
            return self.result.log_odds
        raise InputError(
            f"probabilities of all pairs are kept by the method sep with keep_pairs=True; got a result of "
            f"{self.method} without them. Learn again with keep_pairs=True."
        )

    def _edge(self, edge: tuple[int, int], support: float | None) -> LearnedEdge:
        """One edge by name."""
        known = self.result.edge_probabilities
        probability = None if known is None else known.get(edge)
        if probability is None and support is not None and self.result.probabilistic:
            probability = float(_probability(np.array(support)))
        return LearnedEdge(self.names[edge[0]], self.names[edge[1]], support, probability)

    def blanket(self, name: str) -> tuple[str, ...]:
        """The neighbours of a variable: given them it is independent of all others."""
        if name not in self.names:
            raise unknown_name("variable", name, self.names)
        return tuple(self.names[v] for v in sorted(self.graph.neighbors(self.names.index(name))))

    def adjacency(self) -> csr_array:
        """The graph as a symmetric SciPy sparse matrix, in the order of `names`."""
        return self.graph.adjacency()

    def to_networkx(self) -> Any:
        """The graph as a networkx graph with the variables' names."""
        return self.graph.to_networkx(self.names)

    def save(self, path: str | os.PathLike[str], *, format: str | None = None) -> None:
        """Write the graph to a file, the support of each edge with it where the format can carry numbers.

        Parameters
        ----------
        path
            Where to write; the extension tells the format.
        format
            One of `mnlearn.graphs.FORMATS`, when the extension does not tell.
        """
        kept = self._numbers() if carries_numbers(path, format) else None
        write_graph(path, self.graph, self.names, format=format, attributes=kept)

    def _numbers(self) -> dict[tuple[int, int], dict[str, float]]:
        """What is known of each edge, by index."""
        numbers: dict[tuple[int, int], dict[str, float]] = {}
        for pair, value in self.result.support.items():
            probability = self._edge(pair, value).probability
            numbers[pair] = {"support": value} | ({} if probability is None else {"probability": probability})
        return numbers

    def to_dict(self) -> dict[str, object]:
        """The document that `mnlearn learn --json` prints; `support` is in the order of `edges`."""
        edges = self.edges()
        return {
            "method": self.method,
            "variables": list(self.names),
            "edges": [[edge.u, edge.v] for edge in edges],
            "support": [edge.support for edge in edges],
            "probability": [edge.probability for edge in edges],
            "support_scale": self.support_scale,
            "score": self.score,
            "converged": self.converged,
            "cost": dict(self.cost),
            "settings": {name: _plain(value) for name, value in self.settings.items()},
            **self._beside(),
        }

    def _beside(self) -> dict[str, object]:
        """What only some methods find."""
        found = self.result
        beside: dict[str, object] = {}
        if found.stages:
            beside["stages"] = {name: self._named(graph) for name, graph in found.stages.items()}
        if found.alternatives:
            beside["alternatives"] = [{"edges": self._named(g), "score": value} for g, value in found.alternatives]
        if found.edge_probabilities is not None:
            pairs = found.edge_probabilities.items()
            beside["edge_probabilities"] = [[self.names[u], self.names[v], share] for (u, v), share in pairs]
        elif found.log_odds is not None:
            beside["edge_probabilities"] = [[pair.u, pair.v, pair.probability] for pair in self.pairs()]
        return beside | self._kept(found)

    def _kept(self, found: Any) -> dict[str, object]:
        """What a search was told to keep: the mass of the best graph; steps of a climb, the support of absent pairs."""
        kept: dict[str, object] = {}
        if getattr(found, "mass", None) is not None:
            kept["mass"] = found.mass
        if getattr(found, "steps", None) is not None:
            kept["steps"] = [{"flip": step.edge and self._pair(step.edge), "score": step.score} for step in found.steps]
        if getattr(found, "absent", None) is not None:
            kept["absent"] = [[*self._pair(pair), support] for pair, support in found.absent.items()]
        return kept

    def _named(self, graph: Graph) -> list[list[str]]:
        """The edges of a graph by name."""
        return [self._pair(edge) for edge in graph.edges]

    def _pair(self, edge: Edge) -> list[str]:
        """Two variables by name."""
        return [self.names[x] for x in edge]

    def __str__(self) -> str:
        """What was found, in one line."""
        ended = "" if self.converged else "; stopped before its end"
        asked = f", {int(self.cost.get('asked', 0))} tests" if self.support_scale == "log_independence" else ""
        score = f", score {self.score:.6g}" if self.score is not None else ""
        n, m = len(self.names), self.graph.n_edges
        return f"{self.method}: {m} edge{'s' * (m != 1)} among {n} variables{score}{asked}{ended}"


def _probability(log_odds: NDArray[np.float64]) -> NDArray[np.float64]:
    """1 / (1 + exp(−x)), without overflow at either end."""
    small = np.exp(-np.abs(log_odds))
    return np.where(log_odds >= 0, 1.0, small) / (1.0 + small)


def _plain(value: object) -> object:
    """A setting as JSON knows it; an object of the user's own is named."""
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [_plain(item) for item in value]
    return value if value is None or isinstance(value, str | int | float) else repr(value)
