"""A learned network with the names of its variables: what `mnlearn.learn` returns."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

from mnlearn.data.dataset import Dataset
from mnlearn.errors import InputError
from mnlearn.graphs.formats import carries_numbers, format_of, read_graph, write_graph, write_whole
from mnlearn.graphs.named import NamedGraph
from mnlearn.protocols import SILENT, Monitor
from mnlearn.results.difference import NetworkDifference, difference
from mnlearn.results.explain import Why
from mnlearn.results.files import document, render
from mnlearn.results.found import Found, Recipe, attached
from mnlearn.results.resampling import Sampling, resampled, stable
from mnlearn.results.summary import as_html, one_line, summary

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@dataclass(frozen=True, repr=False)
class Learned(Found):
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
    >>> from mnlearn.protocols import Result
    >>> chain = Result(Graph.from_edges(3, [(0, 1), (1, 2)]), None, {(0, 1): -9.0, (1, 2): -4.0}, True, {"asked": 5})
    >>> learned = Learned("gsmn", ("rain", "wet", "slippery"), chain)
    >>> [(edge.u, edge.v) for edge in learned.edge_list()]
    [('rain', 'wet'), ('wet', 'slippery')]
    >>> learned.blanket("wet")
    ('rain', 'slippery')
    """

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
        from mnlearn.visual.network import draw

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
        from mnlearn.visual.report import write_report

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
