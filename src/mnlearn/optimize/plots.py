"""Figures of a run: how fitness rose, and what was learned. Axes of the caller's, or a figure of their own."""

from __future__ import annotations

from collections.abc import Sequence
from math import cos, pi, sin
from typing import TYPE_CHECKING, Any

from mnlearn.errors import InputError, require
from mnlearn.graphs.graph import Graph
from mnlearn.optimize.history import Optimum

if TYPE_CHECKING:
    from matplotlib.axes import Axes


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
