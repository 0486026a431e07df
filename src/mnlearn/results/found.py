"""What a search found, by the names of the variables: edges, pairs, blankets, and the numbers known of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from numpy.typing import NDArray

from mnlearn.data.dataset import Dataset
from mnlearn.errors import DataError, InputError, check_name
from mnlearn.graphs.graph import Edge, Graph
from mnlearn.protocols import SILENT, Monitor, Question, Result
from mnlearn.results.edges import (
    Frame,
    LearnedEdge,
    edge_frame,
    kind_of_frame,
    named_edge,
    numbers_told,
    probabilities_of,
    ranked_edges,
    ranked_pairs,
)
from mnlearn.results.resampling import Resampling

if TYPE_CHECKING:
    from scipy.sparse import csr_array

    from mnlearn.results.explain import Why
    from mnlearn.results.learned import Learned


_NUMBERS = ("support", "probability", "frequency")  # of an edge, in files


@dataclass(frozen=True, repr=False)
class Found:
    """The part of `Learned` that is read off the record of a search; see there for the attributes."""

    method: str
    names: tuple[str, ...]
    result: Result
    data: Dataset | None = field(default=None, compare=False)
    frequencies: Mapping[Edge, float] | None = None
    choice: str | None = None
    resampling: Resampling | None = None
    frame: Frame | None = field(default=None, compare=False)
    recipe: Recipe | None = field(default=None, compare=False)
    n_rows: int | None = None

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

    def edges(self, frame: Frame | None = None) -> Any:
        """The edges as a data frame, the best supported first.

        Parameters
        ----------
        frame
            ``"pandas"``, ``"polars"`` or ``"pyarrow"``; by default what the data came in, else the first of these that
            is installed.

        Returns
        -------
        data frame
            Columns ``u``, ``v`` and ``support``; ``probability`` where the method stands for one, and ``frequency``
            once rows were resampled. An edge without support comes last, ties in the order of the variables.

        Raises
        ------
        MissingDependencyError
            If a kind was asked for that is not installed.

        See Also
        --------
        edge_list : the same as a list of named tuples.
        """
        return edge_frame(self.edge_list(), self.frame if frame is None else frame, always=numbers_told(self))

    def edge_list(self) -> list[LearnedEdge]:
        """The edges as named tuples, in the order of `edges`."""
        return ranked_edges(self)

    def pairs(self, least: float = 0.0, *, frame: Frame | None = None) -> Any:
        """Every pair of which the result knows something, absent ones too, as a data frame like that of `edges`.

        The column ``edge`` says which of them are edges of the network.

        Parameters
        ----------
        least
            The smallest probability of interest; the smallest frequency, where the method has no probabilities.
        frame
            As for `edges`.

        Raises
        ------
        InputError
            If the search kept the edges only. All pairs are kept by sep with ``keep_pairs=True``, by climbs with
            ``keep_absent=True``, by exhaustive with ``averaging=True``, by methods that ask tests with
            ``keep_trace=True`` (those that a test separated), and by resampling (those that ever were an edge).
        """
        found, edges = self.pair_list(least), {(edge.u, edge.v) for edge in self.edge_list()}
        joined = [(pair.u, pair.v) in edges for pair in found]
        return edge_frame(found, self.frame if frame is None else frame, always=numbers_told(self), edge=joined)

    def pair_list(self, least: float = 0.0) -> list[LearnedEdge]:
        """The pairs as named tuples, in the order of `pairs`."""
        return ranked_pairs(self, least)

    def probabilities(self) -> NDArray[np.float64]:
        """The probability of every edge, present or absent: a symmetric matrix in the order of `names`, its diagonal 0.

        Raises
        ------
        InputError
            If the search did not keep all pairs.
        """
        found, n = self.result, len(self.names)
        if found.log_odds is not None:
            return probabilities_of(found.log_odds)
        if found.edge_probabilities is None:
            raise InputError(
                f"probabilities of all pairs are kept by the method sep with keep_pairs=True, and by exhaustive with "
                f"averaging=True; got a result of {self.method} without them. Learn again with one of these."
            )
        chance = np.zeros((n, n))
        for (u, v), share in found.edge_probabilities.items():
            chance[u, v] = chance[v, u] = share
        return chance

    def blanket(self, name: str) -> tuple[str, ...]:
        """The neighbours of a variable: given them it is independent of all others."""
        return tuple(self.names[v] for v in sorted(self.graph.neighbors(self._place(name))))

    def adjacency(self) -> csr_array:
        """The graph as a symmetric SciPy sparse matrix, in the order of `names`."""
        return self.graph.adjacency()

    def to_networkx(self) -> Any:
        """The graph as a networkx graph with the variables' names, and what is known of each edge on it."""
        graph = self.graph.to_networkx(self.names)
        for (u, v), numbers in self._numbers().items():
            graph.edges[self.names[u], self.names[v]].update(numbers)
        return graph

    def _place(self, name: str) -> int:
        """The index of a variable."""
        check_name("variable", name, self.names)
        return self.names.index(name)

    def _numbers(self) -> dict[Edge, dict[str, float]]:
        """What is known of each edge, by index."""
        support = self.result.support
        known = {edge: named_edge(self, edge, support.get(edge)) for edge in self.graph.edges}
        numbers = {
            edge: {key: getattr(pair, key) for key in _NUMBERS if getattr(pair, key) is not None}
            for edge, pair in known.items()
        }
        return {edge: found for edge, found in numbers.items() if found}


# What a learned network must know to be asked again: how it was learned, told by whoever learned it.


class Recipe(Protocol):
    """How a network is learned, but for the data. `mnlearn.learn` puts one into every result."""

    def read(self, data: object) -> Dataset:
        """The data as they were read for the first network."""
        ...

    def learn(self, dataset: Dataset, *, n_jobs: int | None = None, monitor: Monitor = SILENT) -> Learned:
        """The network of other rows."""
        ...

    def explain(self, learned: Learned, edge: Edge, dataset: Dataset) -> Why:
        """The evidence behind one pair."""
        ...


def attached(learned: Learned, data: object) -> Learned:
    """The result with its data at hand; see `Learned.with_data`."""
    if learned.recipe is None:
        raise InputError("data can be given to what mnlearn.learn or mnlearn.load returned; got another network.")
    dataset = learned.recipe.read(data)
    if dataset.names != learned.names:
        differing = sorted({*dataset.names} ^ {*learned.names})
        what = f"{differing[0]!r} is only in one of the two" if differing else "their order is another"
        raise DataError(f"data must have the variables of the network, in their order; {what}. Give it its own data.")
    if learned.n_rows not in (None, dataset.n_rows):
        raise DataError(
            f"data must be those that the network was learned from, {learned.n_rows} rows; got {dataset.n_rows}. To "
            "learn from other rows, call mnlearn.learn(data, **learned.settings)."
        )
    return replace(learned, data=dataset, frame=kind_of_frame(data))
