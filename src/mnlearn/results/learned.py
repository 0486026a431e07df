"""The learned network that `mnlearn.learn` returns: the result of a search with the names of the variables."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, cast

import numpy as np
from numpy.typing import NDArray

from mnlearn._lazy import cached
from mnlearn.data.dataset import Dataset
from mnlearn.errors import InputError, check_name
from mnlearn.graphs.formats import carries_numbers, format_of, read_graph, write_graph, write_whole
from mnlearn.graphs.graph import Edge, Graph
from mnlearn.graphs.named import EdgeNumbers, NamedGraph
from mnlearn.numbers import logistic
from mnlearn.protocols import SILENT, Monitor, Question, Result
from mnlearn.results.analysis import Analysis
from mnlearn.results.edges import (
    Frame,
    LearnedEdge,
    edge_columns,
    edge_frame,
    edge_numbers,
    extra_columns,
    ranked_edges,
    ranked_pairs,
)
from mnlearn.results.explain import Recipe, Why, words_of_test
from mnlearn.results.files import attach_data, json_document, no_recipe, render
from mnlearn.results.measures import Predictable
from mnlearn.results.pictures import Pictures
from mnlearn.results.summary import (
    NetworkDifference,
    as_html,
    cost_words,
    difference,
    headline,
    summary_text,
    words_of_rows,
)

if TYPE_CHECKING:
    from scipy.sparse import csr_array

    from mnlearn.analysis.samples import Resampling, Sampling
    from mnlearn.regression.weights import EdgeWeights


@dataclass(frozen=True, repr=False)
class Learned(Analysis, Predictable, Pictures):
    """A learned network, with variables by name.

    Attributes
    ----------
    method
        The name of the method.
    names
        The variables, in the order of the data.
    result
        The record of the search itself, by index.
    data
        The data it was learned from; None for a network read from a file.
    frequencies
        Share of the resampled data sets in which each pair is an edge, by index; None before resampling.
    choice
        The method chosen for these data and the reason, in one line; None if a method was named.
    resampling
        How rows were resampled.
    frame
        The library of the data frame that the data came in, if any.
    recipe
        How it was learned, to learn again from other rows; not saved in files.
    n_rows
        Number of rows it was learned from, repeats included.
    saved_weights
        The weights that a file held; see `weights`.

    Examples
    --------
    >>> from mnlearn.graphs.graph import Graph
    >>> from mnlearn.protocols import Result
    >>> chain = Result(Graph.from_edges(3, [(0, 1), (1, 2)]), None, {(0, 1): -9.0, (1, 2): -4.0}, True, {"asked": 5})
    >>> learned = Learned("gsmn", ("rain", "wet", "slippery"), chain)
    >>> [(edge.u, edge.v) for edge in learned.edge_list()]
    [('rain', 'wet'), ('wet', 'slippery')]
    >>> learned.blanket("wet")
    ('rain', 'slippery')
    """

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
    saved_weights: EdgeWeights | None = field(default=None, compare=False)

    @cached
    def weights(self) -> EdgeWeights | None:
        """Signed weights of the edges and the name of their measure; None without data.

        Log odds ratios of binary variables, partial correlations of ordered ones, else conditional mutual information:
        see docs/weights.md. The graphical lasso has partial correlations of its own, which are shrunk.
        """
        from mnlearn.regression.weights import weights_of

        return weights_of(self)

    @property
    def graph(self) -> Graph:
        """The learned structure, by index."""
        return self.result.graph

    @property
    def converged(self) -> bool:
        """Whether the search ended by itself and was not cancelled."""
        return self.result.converged

    @property
    def score(self) -> float | None:
        """The score of the structure in natural-log units; None for methods by tests."""
        return self.result.score

    @property
    def support_scale(self) -> str:
        """Scale of the support: "log_independence" (smaller is stronger) or "log_odds" (larger is stronger)."""
        return self.result.support_scale

    @property
    def stages(self) -> Mapping[str, Graph]:
        """Intermediate graphs of the method by name, such as the AND and OR graphs of mpl."""
        return self.result.stages

    @property
    def cost(self) -> Mapping[str, float]:
        """Counts of tests and scores, and seconds."""
        return self.result.cost

    @property
    def cost_in_words(self) -> str:
        """The cost of the search and its test, in words."""
        return cost_words(self)

    @property
    def rows_in_words(self) -> str:
        """The number of rows in words; of weighted rows also the effective number."""
        return words_of_rows(self)

    @property
    def settings(self) -> Mapping[str, object]:
        """Settings that repeat the run."""
        return self.result.settings

    @property
    def test(self) -> str | None:
        """The test with its level and rule for degrees of freedom, in words; None for methods that use no tests."""
        return words_of_test(self.settings)

    @property
    def trace(self) -> tuple[Question, ...] | None:
        """Every test in order, if the search kept them (`keep_trace=True`)."""
        return self.result.trace

    def edges(self, frame: Frame | None = None) -> Any:
        """Return the edges as a data frame or an Arrow table, the best supported first.

        Parameters
        ----------
        frame
            ``"pandas"``, ``"polars"`` or ``"pyarrow"``; by default the library of the data, else the first of these
            that is installed. pyarrow always is.

        Returns
        -------
        pandas.DataFrame, polars.DataFrame or pyarrow.Table
            Columns ``u``, ``v``, ``weight`` and ``support``; ``probability`` if the method gives one, and
            ``frequency`` after resampling. Edges without support come last, ties in the order of the variables.

        Raises
        ------
        MissingDependencyError
            If that library is not installed.

        See Also
        --------
        edge_list : the edges as a list of named tuples.
        """
        return edge_frame(edge_columns(self), self.frame if frame is None else frame, always=extra_columns(self))

    def edge_list(self) -> list[LearnedEdge]:
        """Return the edges as named tuples, in the order of `edges`."""
        return ranked_edges(self)

    def pairs(self, least: float = 0.0, *, frame: Frame | None = None) -> Any:
        """Return every pair with a known number, absent ones too, as a table like that of `edges`.

        The column ``edge`` marks the edges of the network.

        Parameters
        ----------
        least
            The smallest probability to return; the smallest frequency, if the method has no probabilities.
        frame
            As for `edges`.

        Raises
        ------
        InputError
            If the search kept the edges only. Pairs are kept by sep with ``keep_pairs=True``, by hill climbing with
            ``keep_absent=True``, by exhaustive with ``averaging=True``, by methods by tests with ``keep_trace=True``
            (the separated pairs), and by resampling (pairs that are an edge in some sample).
        """
        found, edges = self.pair_list(least), {(edge.u, edge.v) for edge in self.edge_list()}
        joined = [(pair.u, pair.v) in edges for pair in found]
        columns = {name: [getattr(pair, name) for pair in found] for name in LearnedEdge._fields}
        return edge_frame(columns, self.frame if frame is None else frame, always=extra_columns(self), edge=joined)

    def pair_list(self, least: float = 0.0) -> list[LearnedEdge]:
        """Return the pairs as named tuples, in the order of `pairs`."""
        return ranked_pairs(self, least)

    def probabilities(self) -> NDArray[np.float64]:
        """Return the probability of every edge, present or absent: a symmetric matrix in the order of `names`.

        Raises
        ------
        InputError
            If the search did not keep all pairs.
        """
        found, n = self.result, len(self.names)
        if found.log_odds is not None:
            return logistic(found.log_odds)
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
        """Return the neighbours of a variable: given them it is independent of all others."""
        return tuple(self.names[v] for v in sorted(self.graph.neighbors(self._place(name))))

    def adjacency(self, *, weighted: bool = False) -> csr_array:
        """Return the graph as a symmetric SciPy sparse matrix, in the order of `names`.

        Parameters
        ----------
        weighted
            The entries are the weights of the edges instead of ones; NaN where a weight is undefined.

        Raises
        ------
        InputError
            If there are no weights.
        """
        from mnlearn.regression.weights import weighted_adjacency

        ones = self.graph.adjacency()
        return weighted_adjacency(ones, self.weights) if weighted else ones

    def to_networkx(self) -> Any:
        """Return a networkx graph with the names of the variables and the numbers of each edge."""
        graph = self.graph.to_networkx(self.names)
        for (u, v), numbers in self._numbers().items():
            graph.edges[self.names[u], self.names[v]].update(numbers)
        return graph

    def compare(self, other: Learned | NamedGraph | str | os.PathLike[str]) -> NetworkDifference:
        """Compare this network with another one over the same variables.

        Parameters
        ----------
        other
            A learned network, a graph with names, or a file that `mnlearn.read_graph` reads.

        Raises
        ------
        InputError
            If it is something else.
        UnknownNameError
            If the variables of the two differ.
        """
        if isinstance(other, str | os.PathLike):
            other = read_graph(other)
        if not isinstance(other, Learned | NamedGraph):
            raise InputError(
                f"other must be a learned network, a graph with names or the path of a graph file; got "
                f"{type(other).__name__}. Pass what mnlearn.learn or mnlearn.read_graph returned."
            )
        return difference(NamedGraph(self.graph, self.names), NamedGraph(other.graph, other.names))

    def why(self, x: str, y: str) -> Why:
        """Compute the evidence for or against an edge between two variables.

        Tests given the empty set and given the neighbours of either end; the score with and without the edge; for sep,
        the separating sets and their evidence; and the tests of the search itself, if it kept them.

        Parameters
        ----------
        x, y
            Two variables.

        Raises
        ------
        UnknownNameError
            If a variable is unknown.
        InputError
            If the network has no data.
        """
        u, v = sorted((self._place(x), self._place(y)))
        if u == v:
            raise InputError(f"x and y must be two different variables; got {x!r} twice. Name another one.")
        recipe, data = self.ingredients("why")
        return recipe.explain(self, (u, v), data)

    def bootstrap(
        self,
        n_samples: int = 200,
        *,
        sampling: Sampling = "subsamples",
        seed: int = 0,
        n_jobs: int | None = None,
        client: Any = None,
        checkpoint: str | os.PathLike[str] | None = None,
        resume: bool = False,
        monitor: Monitor = SILENT,
    ) -> Learned:
        """Learn again from rows drawn anew, and count how often each pair is an edge.

        Parameters
        ----------
        n_samples
            How many times.
        sampling
            ``"subsamples"``: 63.2 % of the rows, without replacement. ``"bootstrap"``: as many rows as there are, with
            replacement; repeated rows make false edges common (docs/confidence.md). ``"halves"``: both halves of random
            splits, for stability selection.
        seed
            The same seed gives the same frequencies, for any number of jobs.
        n_jobs
            Number of processes: None or −1 for all cores, else that many. Any number gives the same result.
        client
            A `distributed.Client`, to use its workers instead.
        checkpoint
            A folder that keeps every sample that is done.
        resume
            Continue from the checkpoint: the frequencies equal those of one whole run.
        monitor
            Receives the progress and may cancel: the frequencies are then those of the samples so far.

        Returns
        -------
        Learned
            This network with `frequencies` and `resampling`, which `edges`, `pairs` and files include.

        Raises
        ------
        InputError
            If a setting is invalid, or the network has no data.
        """
        from mnlearn.analysis.samples import resampled

        draw = {"sampling": sampling, "seed": seed, "n_jobs": n_jobs, "client": client, "monitor": monitor}
        stored = {"checkpoint": checkpoint, "resume": resume}
        return resampled(self, n_samples, **cast(Any, draw), **cast(Any, stored))

    def stable(self, threshold: float = 0.5) -> Learned:
        """Return the network of the pairs that are an edge in at least this share of the samples.

        With ``bootstrap(sampling="halves")`` this is stability selection, and `resampling.expected_false` bounds the
        number of false edges.

        Parameters
        ----------
        threshold
            The smallest frequency.

        Raises
        ------
        InputError
            If there are no frequencies; call `bootstrap` first.
        """
        from mnlearn.analysis.samples import stable

        return stable(self, threshold)

    def with_data(self, data: object) -> Learned:
        """Return this network with its data attached, for `why` and `bootstrap` after loading from a file.

        Parameters
        ----------
        data
            The data it was learned from, as accepted by `mnlearn.read`; read with the same options as before.

        Raises
        ------
        InputError
            If the variables or the number of rows differ.
        """
        return attach_data(self, data)

    def ingredients(self, what: str) -> tuple[Recipe, Dataset]:
        """Return the recipe and the data, or raise InputError with a hint how to attach them."""
        if self.recipe is None:
            raise no_recipe(self, what)
        if self.data is None:
            raise InputError(
                f"{what} needs the data, which are not in files; got a network without. Attach them: "
                f"learned.with_data(data).{what}(...)."
            )
        return self.recipe, self.data

    def save(self, path: str | os.PathLike[str], *, format: str | None = None) -> None:
        """Write the network to a file: the whole result as JSON, the graph alone in the other formats.

        The weight of each edge is written to every format; support, probability and frequency to those that can hold
        more than one number. The data are not written.

        Parameters
        ----------
        path
            The file; its extension sets the format. `mnlearn.load` reads ``.json``, `mnlearn.read_graph` the graph
            of any format.
        format
            One of `mnlearn.graphs.FORMATS`, if the extension is not one of them.

        Raises
        ------
        FileError
            If the file cannot be written; no partial file is left.
        """
        from mnlearn.regression.weights import weights_alone

        numbers = self._numbers()
        if format_of(path, format) == "json":
            write_whole(path, render(self, numbers))
        else:
            kept = numbers if carries_numbers(path, format) else weights_alone(numbers)
            write_graph(path, self.graph, self.names, format=format, attributes=kept)

    def summary(self) -> str:
        """Return a few lines on the network, its data and method, and the strongest edges."""
        return summary_text(self)

    def to_dict(self) -> dict[str, object]:
        """Return the document that `mnlearn learn --json` prints; `support` is in the order of `edges`."""
        return json_document(self)

    def __str__(self) -> str:
        """Return one line on the network."""
        return headline(self)

    def __repr__(self) -> str:
        return f"<Learned {headline(self)}>"

    def _repr_html_(self) -> str:
        """Return the summary as HTML for a notebook."""
        return as_html(self)

    def _place(self, name: str) -> int:
        """Return the index of a variable."""
        check_name("variable", name, self.names)
        return self.names.index(name)

    def _numbers(self) -> EdgeNumbers:
        """Return the known numbers of each edge, by index."""
        edges = self.graph.edges
        columns = edge_numbers(self, edges, list(map(self.result.support.get, edges)))
        known = {
            name: {edge: value for edge, value in zip(edges, column, strict=True) if value is not None}
            for name, column in columns.items()
        }
        return EdgeNumbers(edges, {name: column for name, column in known.items() if column})
