"""A learned network with the names of its variables: what `mnlearn.learn` returns."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, cast

import numpy as np
from numpy.typing import NDArray

from mnlearn.data import Dataset
from mnlearn.errors import InputError, check_name
from mnlearn.graphs.formats import NamedGraph, carries_numbers, format_of, read_graph, write_graph, write_whole
from mnlearn.graphs.graph import Edge, Graph
from mnlearn.output._document import document
from mnlearn.output._frames import Frame, LearnedEdge, edge_frame
from mnlearn.output._ranking import named_edge, numbers_told, probabilities_of, ranked_edges, ranked_pairs
from mnlearn.output._saved import render
from mnlearn.output._summary import as_html, one_line, summary
from mnlearn.output.difference import NetworkDifference, difference
from mnlearn.output.recipe import Recipe, attached
from mnlearn.output.resampling import Resampling, Sampling, resampled, stable
from mnlearn.output.why import Why
from mnlearn.protocols import SILENT, Monitor, Question, Result

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from scipy.sparse import csr_array

_NUMBERS = ("support", "probability", "frequency")  # of an edge, in files


@dataclass(frozen=True, repr=False)
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
    choice
        What was chosen for these data and why, in one line, where no method was named.
    resampling
        How the frequencies came about.
    frame
        Which kind of data frame the data came in, if they did.
    recipe
        How it was learned, to do it again with other rows; not in files.
    n_rows
        From how many rows, repeats included.

    Examples
    --------
    >>> from mnlearn.graphs.graph import Graph
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

    def compare(self, other: Learned | NamedGraph | str | os.PathLike[str]) -> NetworkDifference:
        """Hold this network against another one over the same variables.

        Parameters
        ----------
        other
            What `learn` returned, a graph with names, or a file that `mnlearn.read_graph` reads.

        Raises
        ------
        InputError
            If it is nothing of the kind.
        UnknownNameError
            If one of the two has a variable that the other has not.
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
        """The evidence for or against an edge between two variables, asked of the data anew.

        Tests given nothing and given the neighbours of either end; the score with and without the edge; for sep, the
        separators and what the data say given them; and what the search itself asked, if it kept that.

        Parameters
        ----------
        x, y
            Two variables.

        Raises
        ------
        UnknownNameError
            If there is no such variable.
        InputError
            If the data are not at hand.
        """
        u, v = sorted((self._place(x), self._place(y)))
        if u == v:
            raise InputError(f"x and y must be two different variables; got {x!r} twice. Ask about two.")
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
            How many processes: None or −1 for all cores, else that many. Any number gives the same result.
        client
            A `distributed.Client`, to use its workers instead.
        checkpoint
            A folder that keeps every sample that is done.
        resume
            Go on from what the checkpoint holds: the frequencies are those of one whole run.
        monitor
            Hears the progress, and may stop: the frequencies are those of the samples so far.

        Returns
        -------
        Learned
            The same network; `frequencies` and `resampling` are known, and `edges`, `pairs` and files have them.

        Raises
        ------
        InputError
            If a setting breaks its rule, or the data are not at hand.
        """
        draw = {"sampling": sampling, "seed": seed, "n_jobs": n_jobs, "client": client, "monitor": monitor}
        return resampled(self, n_samples, **cast(Any, draw), checkpoint=checkpoint, resume=resume)

    def stable(self, threshold: float = 0.5) -> Learned:
        """The network of the pairs that are an edge in at least this share of the samples.

        With ``bootstrap(sampling="halves")`` this is stability selection, and `resampling.expected_false` bounds the
        number of false edges.

        Parameters
        ----------
        threshold
            The smallest frequency.

        Raises
        ------
        InputError
            If rows were not resampled.
        """
        return stable(self, threshold)

    def with_data(self, data: object) -> Learned:
        """The same result with its data at hand, for `why` and `bootstrap`: a network from a file has none.

        Parameters
        ----------
        data
            What it was learned from: whatever `mnlearn.data.read` accepts. It is read as it was then.

        Raises
        ------
        InputError
            If these are other data: other variables, or another number of rows.
        """
        return attached(self, data)

    def ingredients(self, what: str) -> tuple[Recipe, Dataset]:
        """How it was learned, and from what; or the error that says how to get at them."""
        if self.recipe is None:
            raise InputError(
                f"{what} is for networks that mnlearn.learn or mnlearn.load returned; got another one. Learn it again."
            )
        if self.data is None:
            raise InputError(
                f"{what} needs the data, which are not in files; got a network without. Attach them: "
                f"learned.with_data(data).{what}(...)."
            )
        return self.recipe, self.data

    def adjacency(self) -> csr_array:
        """The graph as a symmetric SciPy sparse matrix, in the order of `names`."""
        return self.graph.adjacency()

    def to_networkx(self) -> Any:
        """The graph as a networkx graph with the variables' names, and what is known of each edge on it."""
        graph = self.graph.to_networkx(self.names)
        for (u, v), numbers in self._numbers().items():
            graph.edges[self.names[u], self.names[v]].update(numbers)
        return graph

    def save(self, path: str | os.PathLike[str], *, format: str | None = None) -> None:
        """Write the network to a file: the whole result as JSON, the graph alone in the other formats.

        What is known of each edge (support, probability, frequency) goes with it where the format can carry numbers.
        The data do not.

        Parameters
        ----------
        path
            Where to write; the extension tells the format. `mnlearn.load` reads a ``.json`` back, `mnlearn.read_graph`
            the graph of any of them.
        format
            One of `mnlearn.graphs.FORMATS`, when the extension does not tell.

        Raises
        ------
        FileError
            If the file cannot be written; nothing half-written stays.
        """
        numbers = self._numbers()
        if format_of(path, format) == "json":
            write_whole(path, render(self, numbers))
        else:
            kept = numbers if carries_numbers(path, format) else None
            write_graph(path, self.graph, self.names, format=format, attributes=kept)

    def summary(self) -> str:
        """What was learned, from what and how, and the strongest edges: a few lines of text."""
        return summary(self)

    def plot(
        self,
        path: str | os.PathLike[str] | None = None,
        *,
        kind: str = "network",
        title: str | None = None,
        seed: int = 0,
    ) -> Figure:
        """Draw the network, and write the picture to a file if one is named.

        Parameters
        ----------
        path
            Where to write: .png, .svg or .pdf.
        kind
            network, heatmap, degrees, support, centralities, or stability for bootstrap frequencies.
        title
            Above the picture; by default one line that says what was learned.
        seed
            For the layout: the same seed gives the same picture.

        Returns
        -------
        Figure
            A matplotlib figure; a notebook shows it.

        Raises
        ------
        UnknownNameError
            If there is no such kind.
        FileError
            If the file cannot be written, or has another extension.
        MissingDependencyError
            If matplotlib is not installed.
        """
        from mnlearn.output.plots import draw

        return draw(self, path, kind=kind, title=title, seed=seed)

    def report(
        self, path: str | os.PathLike[str], *, title: str | None = None, source: str | None = None, seed: int = 0
    ) -> None:
        """Write a report: one HTML file with all that was learned, which any browser opens without a network.

        Parameters
        ----------
        path
            Where to write: .html.
        title
            At the top of the page.
        source
            What the data are called in the call that runs it again.
        seed
            For the layout of the picture: the same seed gives the same places.

        Raises
        ------
        FileError
            If the file cannot be written, or has another extension.
        MissingDependencyError
            If jinja2 or bokeh is not installed.
        """
        from mnlearn.output.report import write_report

        write_report(self, path, title=title, source=source, seed=seed)

    def to_dict(self) -> dict[str, object]:
        """The document that `mnlearn learn --json` prints; `support` is in the order of `edges`."""
        return document(self)

    def __str__(self) -> str:
        """What was found, in one line."""
        return one_line(self)

    def __repr__(self) -> str:
        """The same, marked as an object."""
        return f"<Learned {one_line(self)}>"

    def _repr_html_(self) -> str:
        """The summary for a notebook."""
        return as_html(self)

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
