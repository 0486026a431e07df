"""Plots of centralities, of bootstrap intervals and difference tests, and of stability when cases are dropped."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from mnlearn.errors import InputError, check_name
from mnlearn.evaluation.centrality import CENTRALITIES, centralities
from mnlearn.protocols import FloatArray
from mnlearn.visual.canvas import FAINT, INK, check_picture_path, drawable, new_figure, plain_axes, save_figure
from mnlearn.visual.figure_data import GROUP_COLORS, SIGN_COLORS, FigureData, shown_name

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from mnlearn.analysis.intervals import Intervals
    from mnlearn.analysis.stability import Stability

_MOST_CENTRAL = 25  # variables listed in the picture of centralities
_REPORTED_UP_TO = 500  # variables: beyond, shortest paths take seconds
_NAMED_UP_TO = 120  # rows: beyond, their names are too small to read


def plot_centralities(picture: FigureData, *, title: str = "") -> Figure:
    """Draw the weighted centralities of the variables, the strongest first; of the first 25 if there are more.

    Parameters
    ----------
    picture
        The result of `figure_data_of`; without weights, every edge counts 1.
    title
        Title of the figure.
    """
    table = weighted_centralities(picture)
    ranked = np.argsort(-table["strength"], kind="stable").tolist()
    listed = ranked[:_MOST_CENTRAL][::-1]
    figure = new_figure((2.0 + 1.75 * len(table), 1.7 + 0.26 * len(listed)))
    panels = figure.subplots(1, len(table), sharey=True, squeeze=False)[0]
    for axes, (key, values) in zip(panels, table.items(), strict=True):
        plain_axes(axes).axvline(0.0, color=FAINT, linewidth=0.8)
        axes.hlines(range(len(listed)), 0, values[listed], color=FAINT, linewidth=1)
        axes.scatter(values[listed], range(len(listed)), color=[picture.color(x) for x in listed], s=30, zorder=2)
        axes.set_xlabel(CENTRALITIES[key].replace(" ", "\n", 1), fontsize=9)
        axes.tick_params(labelsize=8)
        axes.margins(x=0.12, y=0.5 / max(len(listed), 1))
    panels[0].set_yticks(range(len(listed)), [picture.text(x) for x in listed], parse_math=False)
    more = f" (the first {len(listed)} of {len(ranked)})" if len(ranked) > len(listed) else ""
    unweighted = " (without weights)" if picture.weights is None else ""
    figure.suptitle(title + more + unweighted, parse_math=False, x=0.01, ha="left")
    return figure


def weighted_centralities(picture: FigureData) -> dict[str, FloatArray]:
    """Return the centralities by name, those of bridges only between groups; without weights, every edge counts 1."""
    edges = picture.graph.edges
    known = dict.fromkeys(edges, 1.0) if picture.weights is None else picture.weights.values
    weights = np.array([[known.get(edge, 0.0) for edge in edges]], dtype=np.float64)
    alone = -1 - np.arange(len(picture.names))  # a variable without a group is a group of its own
    groups = np.where(picture.groups < 0, alone, picture.groups)
    found = centralities(picture.graph.n_variables, edges, weights, groups)
    joined = {int(groups[x]) for edge in edges for x in edge}
    return {name: values[0] for name, values in found.items() if len(joined) > 1 or not name.startswith("bridge")}


class CentralityRows(NamedTuple):
    """The table of centralities in a report: headings, and of each variable its index and its numbers."""

    headings: list[str]
    rows: list[tuple[int, list[float]]]


def centrality_rows(picture: FigureData) -> CentralityRows | None:
    """Return the weighted centralities, the strongest first; None without weights, edges, or with many variables."""
    if picture.weights is None or not picture.graph.n_edges or len(picture.names) > _REPORTED_UP_TO:
        return None
    table = weighted_centralities(picture)
    order = np.argsort(-table["strength"], kind="stable").tolist()
    rows = [(x, [float(values[x]) for values in table.values()]) for x in order]
    return CentralityRows([CENTRALITIES[name] for name in table], rows)


def draw_intervals(
    found: Intervals, path: str | os.PathLike[str] | None = None, *, kind: str = "edges", title: str | None = None
) -> Figure:
    """Draw bootstrap intervals or difference tests; see `Intervals.plot`."""
    check_name("kind of picture", kind, ("edges", "differences", *CENTRALITIES))
    if path is not None:
        check_picture_path(path)
    if not found.learned.graph.n_edges:
        raise InputError("a picture of intervals needs edges; this network has none. Learn from more rows.")
    if kind == "edges":
        figure = _plot_edges(found, drawable(repr(found)[len("<Intervals ") : -1] if title is None else str(title)))
    else:
        what = "weights" if kind == "differences" else CENTRALITIES[kind]
        figure = _plot_differences(found, kind, drawable(f"Differences of {what}" if title is None else str(title)))
    if path is not None:
        save_figure(figure, path)
    return figure


def _plot_edges(found: Intervals, title: str) -> Figure:
    """Draw one line per edge of the network, sorted by weight: the weight, the mean of the samples, the interval."""
    rows = [row for row in found.edges("pyarrow").to_pylist() if row["edge"]][::-1]
    numbers = {name: np.array([row[name] for row in rows]) for name in ("weight", "mean", "low", "high")}
    named = len(rows) <= _NAMED_UP_TO
    figure = new_figure((7.0, float(np.clip(1.4 + (0.19 if named else 0.05) * len(rows), 3.0, 24.0))))
    axes = plain_axes(figure.add_subplot())
    places = np.arange(len(rows))
    axes.axvline(0.0, color=FAINT, linewidth=0.8)
    axes.hlines(places, numbers["low"], numbers["high"], color=FAINT, linewidth=3.0, alpha=0.55)
    signs = [SIGN_COLORS[int(np.sign(value))] for value in numbers["weight"]]
    axes.scatter(numbers["mean"], places, s=14, color="white", edgecolors=INK, linewidths=0.8, label="mean of samples")
    axes.scatter(numbers["weight"], places, s=14, color=signs, label="weight", zorder=3)
    names = [shown_name(f"{row['u']} - {row['v']}", 40) for row in rows] if named else []
    axes.set_yticks(places[: len(names)], names, fontsize=7, parse_math=False)
    axes.margins(y=0.6 / len(rows))
    measure = found.learned.weights.measure if found.learned.weights is not None else "weight"
    axes.set_xlabel(f"{measure}, with its {found.level:.0%} interval")
    axes.legend(frameon=False, fontsize=8, loc="lower right")
    figure.suptitle(title, parse_math=False, x=0.01, ha="left", fontsize=10)
    return figure


def _plot_differences(found: Intervals, kind: str, title: str) -> Figure:
    """Draw a matrix of difference tests: black where two differ; the values on the diagonal."""
    names, p = found.differences("weight" if kind == "differences" else kind)
    side = float(np.clip(2.4 + 0.16 * len(names), 4.0, 20.0))
    figure = new_figure((side, side))
    axes = figure.add_subplot()
    shades = np.where(p < 1.0 - found.level, 0.15, 0.85)
    np.fill_diagonal(shades, 1.0)
    axes.imshow(shades, cmap="gray", vmin=0.0, vmax=1.0, interpolation="nearest")
    axes.spines[:].set_visible(False)
    axes.tick_params(length=0)
    shown = [shown_name(name, 30) for name in names] if len(names) <= _NAMED_UP_TO else []
    font = 8.0 if len(names) <= 40 else 5.5
    axes.set_xticks(range(len(shown)), shown, rotation=90, fontsize=font, parse_math=False)
    axes.set_yticks(range(len(shown)), shown, fontsize=font, parse_math=False)
    _values_on_diagonal(axes, found, kind, font)
    axes.set_xlabel(f"black: p < {1.0 - found.level:.3g}, not corrected", fontsize=8)
    figure.suptitle(title, parse_math=False, x=0.01, ha="left", fontsize=10)
    return figure


def _values_on_diagonal(axes: Axes, found: Intervals, kind: str, font: float) -> None:
    """Write the value of each row on the diagonal, where there is room."""
    if kind == "differences":
        values = [found.weights.observed[k] for k in found.order() if found.weights.pairs[k] in found.learned.graph]
    else:
        values = sorted(found.observed[kind], reverse=True)
    if len(values) <= 40:
        for k, value in enumerate(values):
            axes.text(k, k, f"{value:.2f}", ha="center", va="center", fontsize=0.55 * font, color=INK)


def draw_stability(found: Stability, path: str | os.PathLike[str] | None = None, *, title: str | None = None) -> Figure:
    """Draw the correlation with all rows over the share of rows kept; see `Stability.plot`."""
    if path is not None:
        check_picture_path(path)
    figure = new_figure((8.0, 4.6))
    axes = plain_axes(figure.add_subplot())
    axes.axhline(found.correlation, color=FAINT, linewidth=0.8, linestyle=":")
    rows = found.table("pyarrow").to_pylist()
    titles, cs = {"weight": "weights of the edges", **CENTRALITIES}, found.cs_coefficient
    for k, (name, label) in enumerate(titles.items()):
        here = [row for row in rows if row["measure"] == name and row["mean"] is not None]
        kept = np.array([100 * (1 - row["dropped"]) for row in here])
        mean, low, high = (np.array([row[key] for row in here]) for key in ("mean", "low", "high"))
        color = GROUP_COLORS[k % len(GROUP_COLORS)]
        axes.plot(kept, mean, ".-", color=color, label=f"{label} (CS {cs[name]:.2f})", linewidth=1.4)
        axes.fill_between(kept, low, high, color=color, alpha=0.08, linewidth=0)
    axes.set(xlabel="rows kept (%)", ylabel="correlation with all rows", xlim=(92, 23))
    axes.set_ylim(top=1.02)
    axes.legend(frameon=False, fontsize=8, loc="center left", bbox_to_anchor=(1.0, 0.5))
    words = repr(found)[len("<Stability ") : -1] if title is None else str(title)
    figure.suptitle(drawable(words), parse_math=False, x=0.01, ha="left", fontsize=10)
    if path is not None:
        save_figure(figure, path)
    return figure
