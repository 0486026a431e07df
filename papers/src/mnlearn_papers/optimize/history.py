"""Result of an optimisation: best individual, history of generations, and plots."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import cos, nan, pi, sin
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, get_args

import numpy as np
from numpy.typing import NDArray

from mnlearn.errors import InputError, MissingDependencyError, check_name, require
from mnlearn.graphs.graph import Graph

if TYPE_CHECKING:
    from matplotlib.axes import Axes


FrameLibrary = Literal["pandas", "polars", "pyarrow"]


class Generation(NamedTuple):
    """One generation.

    Attributes
    ----------
    number
        0 is the population that a run starts with.
    best, mean
        Of the fitness in this population; the mean is over finite values.
    evaluations
        Number of fitness evaluations so far.
    graph
        The structure that the new individuals of this generation were drawn with; None for the first.
    learn_seconds, sample_seconds, fitness_seconds
        Where the time went.
    """

    number: int
    best: float
    mean: float
    evaluations: int
    graph: Graph | None
    learn_seconds: float
    sample_seconds: float
    fitness_seconds: float = nan


@dataclass(frozen=True, eq=False, repr=False)
class Optimum:
    """The best individual of a run, and how it was found.

    Attributes
    ----------
    individual
        The values of its genes, from 0 on.
    fitness
        Its fitness.
    reason
        Why the run ended: ``"target"``, ``"generations"``, ``"evaluations"``, ``"patience"``, ``"uniform"`` (all
        individuals were the same), ``"callback"``, ``"cancelled"``, ``"interrupted"``; ``"failed"`` in what an error
        carries.
    history
        Every generation.
    settings
        Enough to run it again.
    """

    individual: NDArray[np.int64]
    fitness: float
    reason: str
    history: tuple[Generation, ...]
    settings: Mapping[str, object] = field(default_factory=dict)

    @property
    def reached(self) -> bool:
        """Whether the target was reached."""
        return self.reason == "target"

    @property
    def evaluations(self) -> int:
        """Number of fitness evaluations."""
        return self.history[-1].evaluations if self.history else 0

    @property
    def generations(self) -> int:
        """Number of generations after the first population."""
        return self.history[-1].number if self.history else 0

    @property
    def graph(self) -> Graph | None:
        """The last structure that was learned; None if there was no need."""
        return self.history[-1].graph if self.history else None

    def frame(self, library: FrameLibrary = "pandas") -> Any:
        """The history as a data frame: a row for each generation, the structure as a list of edges.

        Parameters
        ----------
        library
            ``"pandas"``, ``"polars"`` or ``"pyarrow"``; the first two must be installed.
        """
        return history_frame(self.history, library)

    def __repr__(self) -> str:
        """Fitness, cost, and why it ended."""
        told = f"fitness {self.fitness:g} after {self.evaluations} evaluations, {self.generations} generations"
        return f"<Optimum: {told}; ended by {self.reason}>"


def history_frame(history: Sequence[Generation], library: FrameLibrary = "pandas") -> Any:
    """Generations as a data frame; see `Optimum.frame`."""
    check_name("library", library, get_args(FrameLibrary))
    columns: dict[str, list[Any]] = {
        name: [getattr(line, name) for line in history] for name in Generation._fields if name != "graph"
    }
    columns["n_edges"] = [None if line.graph is None else line.graph.n_edges for line in history]
    columns["edges"] = [None if line.graph is None else [list(edge) for edge in line.graph.edges] for line in history]
    if library == "pyarrow":
        import pyarrow as pa

        pairs = pa.list_(pa.list_(pa.int64()))
        return pa.table({name: pa.array(v, type=pairs if name == "edges" else None) for name, v in columns.items()})
    try:
        module: Any = __import__(library)
    except ImportError as error:
        raise MissingDependencyError(
            f"library must be installed; {library} is not. Install it, or use library='pyarrow'."
        ) from error
    return module.DataFrame(columns)


# Figures of a run: how fitness rose, and what was learned. Axes of the caller's, or a figure of their own.


def plot_convergence(results: Optimum | Sequence[Optimum], axes: Axes | None = None) -> Axes:
    """Best and mean fitness of each generation against the evaluations so far; several runs in one plot.

    Parameters
    ----------
    results
        A run, or several.
    axes
        Where to draw; a new figure if left out. Save it with ``axes.figure.savefig(path)``.
    """
    runs: list[Any] = [results] if isinstance(results, Optimum) else list(results)
    if not runs or not all(isinstance(run, Optimum) and run.history for run in runs):
        raise InputError(f"results must be runs with a history; got {results!r:.60}. Give what maximize returned.")
    drawn = _axes(axes)
    for k, run in enumerate(runs):
        spent = [line.evaluations for line in run.history]
        several = f", run {k + 1}" if len(runs) > 1 else ""
        drawn.plot(spent, [line.best for line in run.history], f"C{k % 10}-", label=f"best{several}")
        drawn.plot(spent, [line.mean for line in run.history], f"C{k % 10}:", label=f"mean{several}")
    drawn.set(xlabel="fitness evaluations", ylabel="fitness")
    drawn.legend(frameon=False, fontsize="small")
    return drawn


def plot_structure(graph: Graph, truth: Graph | None = None, axes: Axes | None = None) -> Axes:
    """The genes on a circle, with the edges that were learned.

    Parameters
    ----------
    graph
        A structure, such as ``result.graph``.
    truth
        The structure of the problem: edges that are only learned are drawn in red, those only true dashed in grey.
    axes
        Where to draw; a new figure if left out.
    """
    if truth is not None and truth.n_variables != graph.n_variables:
        raise InputError(
            f"truth must have the {graph.n_variables} variables of the graph; got {truth.n_variables}. Give its own."
        )
    drawn, n = _axes(axes, size=(5.0, 5.0)), graph.n_variables
    at = [(sin(2 * pi * x / n), cos(2 * pi * x / n)) for x in range(n)]
    true = set(graph.edges if truth is None else truth.edges)
    kinds: list[tuple[set[tuple[int, int]], dict[str, Any]]] = [
        (true & set(graph.edges), {"color": "C0", "linewidth": 1.0}),
        (set(graph.edges) - true, {"color": "C3", "linewidth": 0.8}),
        (true - set(graph.edges), {"color": "0.7", "linewidth": 0.8, "linestyle": "--"}),
    ]
    for edges, style in kinds:
        for u, v in sorted(edges):
            drawn.plot([at[u][0], at[v][0]], [at[u][1], at[v][1]], zorder=1, **style)
    drawn.scatter([x for x, _ in at], [y for _, y in at], s=max(4.0, 600 / n), color="black", zorder=2)
    drawn.set(aspect="equal", title=f"{graph.n_edges} edges")
    drawn.set_axis_off()
    return drawn


def _axes(axes: Axes | None, size: tuple[float, float] = (6.0, 4.0)) -> Axes:
    """The caller's, or those of a figure that belongs to no window."""
    if axes is not None:
        return axes
    require("matplotlib", "plot")
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=size, layout="constrained")
    FigureCanvasAgg(figure)
    return figure.add_subplot()
