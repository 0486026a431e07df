"""Plots of a learned network: network, heat map, degrees, support, centralities and stability."""

from __future__ import annotations

import os
from collections.abc import Callable
from math import sqrt
from typing import TYPE_CHECKING

import numpy as np

from mnlearn.errors import InputError, check_name, whole_number
from mnlearn.protocols import FloatArray
from mnlearn.visual.canvas import (
    FAINT,
    INK,
    add_legend,
    check_picture_path,
    drawable,
    new_figure,
    plain_axes,
    save_figure,
)
from mnlearn.visual.figure_data import GROUP_COLORS, SIGN_COLORS, FigureData, figure_data_of, shown_name
from mnlearn.visual.layout import fitting_labels

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from mnlearn.results.learned import Learned


_MARGIN = 0.09  # of the width, around the outermost points: room for their names


def plot_network(picture: FigureData, *, title: str = "") -> Figure:
    """Draw a learned network.

    The surer an edge, the wider and darker its line; blue where more goes with more, red where more goes with less,
    grey where there is no direction. Points of one colour form a community, and the best connected are the largest.
    Where there is no room for all names, those of the best connected variables are written.

    Parameters
    ----------
    picture
        The result of `figure_data_of`.
    title
        Title of the figure.
    """
    n = picture.graph.n_variables
    figure = new_figure(_size(picture))
    axes = figure.add_subplot()
    axes.set_axis_off()
    axes.set_title(title, parse_math=False, color=INK, fontsize=12, loc="left")
    _frame(axes, picture)
    _draw_edges(axes, picture)
    radius = _draw_points(axes, picture)
    add_legend(figure, picture, noun="lines")
    figure.draw_without_rendering()  # places the axes: only then is it known which names have room
    figure.set_layout_engine("none")  # and names must not move them again
    _draw_names(axes, picture, radius, font=9.5 if n <= 30 else 8.0 if n <= 100 else 6.5)
    return figure


def _size(picture: FigureData) -> tuple[float, float]:
    """Return the size in inches, by the number of variables and the proportions of the layout."""
    width = min(7.0 + 0.35 * sqrt(picture.graph.n_variables) * 1.3, 16.0)
    wide, high = np.ptp(picture.positions, axis=0) + 1.0
    return width, float(np.clip(width * high / wide, 0.55 * width, 1.05 * width))


def _frame(axes: Axes, picture: FigureData) -> None:
    """Leave a margin around the outermost points."""
    low, high = picture.positions.min(axis=0), picture.positions.max(axis=0)
    room = np.maximum((high - low) * _MARGIN, 0.6)
    axes.set_xlim(low[0] - room[0], high[0] + room[0])
    axes.set_ylim(low[1] - room[1], high[1] + room[1])


def _draw_edges(axes: Axes, picture: FigureData) -> None:
    """Draw one line per edge, the most certain on top."""
    from matplotlib.collections import LineCollection
    from matplotlib.colors import to_rgba

    edges, sure = picture.graph.edges, picture.relative()
    if not edges:
        return
    crowded = 1.0 if len(edges) <= 150 else 0.5
    order = np.argsort(sure, kind="stable")
    colors = [to_rgba(SIGN_COLORS[picture.sign(edges[k])], 0.3 + 0.6 * sure[k]) for k in order]
    widths = (0.6 + 3.0 * sure[order]) * crowded
    lines = picture.positions[np.array(edges)[order]]
    axes.add_collection(LineCollection(list(lines), colors=colors, linewidths=widths, capstyle="round", zorder=1))


def _draw_points(axes: Axes, picture: FigureData) -> FloatArray:
    """Draw one point per variable and return the radii in points."""
    degrees = np.asarray(picture.graph.degrees(), dtype=np.float64)
    base = 7.0 if len(degrees) <= 30 else 5.0 if len(degrees) <= 100 else 3.2
    radius: FloatArray = base * (0.8 + 0.5 * np.sqrt(degrees / max(degrees.max(initial=1.0), 1.0)))
    axes.scatter(
        picture.positions[:, 0],
        picture.positions[:, 1],
        s=(2 * radius) ** 2,
        c=[picture.color(x) for x in range(len(degrees))],
        edgecolors="white",
        linewidths=1.0,
        zorder=2,
    )
    return radius


def _draw_names(axes: Axes, picture: FigureData, radius: FloatArray, font: float) -> None:
    """Write the names below their points, as many as fit."""
    from matplotlib.patheffects import withStroke

    pixels = axes.transData.transform(picture.positions)
    points = pixels * 72.0 / axes.get_figure(root=True).dpi  # type: ignore[union-attr]
    centers = points - np.stack([np.zeros(len(radius)), radius + 0.75 * font], axis=1)
    texts = [shown_name(name) for name in picture.names]
    for k in fitting_labels(centers, texts, font, picture.graph.degrees(), avoid=points):
        axes.annotate(
            texts[k],
            picture.positions[k],
            xytext=(0, -radius[k] - 2),
            textcoords="offset points",
            ha="center",
            va="top",
            fontsize=font,
            color=INK,
            parse_math=False,
            path_effects=[withStroke(linewidth=2.5, foreground="white")],
            zorder=3,
        )


_NAMED_UP_TO = 80  # variables: beyond, their names are too small to read
_EMPTY = "#f1f3f5"


def plot_heatmap(picture: FigureData, *, title: str = "") -> Figure:
    """Draw the adjacency as a heat map: one row and one column per variable, in the order of a clustering.

    Variables that are near each other in the network stand side by side, so that groups show as blocks. Colours are
    those of the network: the surer an edge, the darker its cell.

    Parameters
    ----------
    picture
        The result of `figure_data_of`.
    title
        Title of the figure.
    """
    n = picture.graph.n_variables
    side = float(np.clip(2.8 + 0.16 * n, 4.5, 12.0))
    figure = new_figure((side, side + 0.4))
    axes = figure.add_subplot()
    axes.imshow(cell_colors(picture)[np.ix_(picture.order, picture.order)], interpolation="nearest")
    axes.set_title(title, parse_math=False, color=INK, fontsize=12, loc="left")
    axes.tick_params(length=0)
    axes.spines[:].set_visible(False)
    names = [shown_name(picture.names[x], 20) for x in picture.order] if n <= _NAMED_UP_TO else []
    font = 8.0 if n <= 40 else 6.0
    axes.set_xticks(range(len(names)), names, rotation=90, fontsize=font, parse_math=False)
    axes.set_yticks(range(len(names)), names, fontsize=font, parse_math=False)
    if not names:
        axes.set_xlabel(f"{n} variables, near ones side by side", color=INK)
    if n <= 40:
        axes.set_xticks(np.arange(n + 1) - 0.5, minor=True)
        axes.set_yticks(np.arange(n + 1) - 0.5, minor=True)
        axes.grid(which="minor", color="white", linewidth=1.0)
        axes.tick_params(which="minor", length=0)
    add_legend(figure, picture, noun="cells")
    return figure


def cell_colors(picture: FigureData) -> FloatArray:
    """Return the colour of each cell as RGB: the colour of the sign, paler for less certain edges."""
    from matplotlib.colors import to_rgb

    n = picture.graph.n_variables
    cells = np.full((n, n, 3), to_rgb(_EMPTY))
    for edge, sure in zip(picture.graph.edges, picture.relative(), strict=True):
        share = 0.3 + 0.7 * sure
        color = share * np.array(to_rgb(SIGN_COLORS[picture.sign(edge)])) + (1 - share) * np.array(to_rgb(_EMPTY))
        cells[edge] = cells[edge[::-1]] = color
    return cells


_MOST_CENTRAL = 25  # variables listed in the picture of centralities
CENTRALITIES = {
    "degree": "neighbours",
    "closeness": "closeness (near to all)",
    "betweenness": "betweenness (between others)",
}


def plot_degrees(picture: FigureData, *, title: str = "") -> Figure:
    """Draw a histogram of the number of neighbours.

    Parameters
    ----------
    picture
        The result of `figure_data_of`.
    title
        Title of the figure.
    """
    degrees = np.asarray(picture.graph.degrees())
    counts = np.bincount(degrees)
    figure = new_figure((6.0, 3.8))
    axes = plain_axes(figure.add_subplot())
    axes.bar(np.arange(len(counts)), counts, color=GROUP_COLORS[0], width=0.8)
    axes.axvline(float(degrees.mean()), color=INK, linewidth=1, linestyle=":")
    axes.annotate(
        f"mean {degrees.mean():.1f}",
        (float(degrees.mean()), 1.0),
        xycoords=("data", "axes fraction"),
        xytext=(4, -10),
        textcoords="offset points",
        color=INK,
    )
    axes.locator_params(integer=True)
    axes.set(xlabel="neighbours", ylabel="variables")
    axes.set_title(title, parse_math=False, loc="left")
    return figure


def plot_support(picture: FigureData, *, title: str = "") -> Figure:
    """Draw the confidence in the edges, one histogram per measure.

    Parameters
    ----------
    picture
        The result of `figure_data_of`.
    title
        Title of the figure.
    """
    scales = picture.measures
    if not scales:
        raise InputError(
            "kind 'support' needs edges with a support; this network has none. Draw kind='network' instead."
        )
    figure = new_figure((1.0 + 4.4 * len(scales), 3.6))
    panels = figure.subplots(1, len(scales), squeeze=False)[0]
    for axes, measure in zip(panels, scales, strict=True):
        values = np.array(list(measure.values.values()))
        plain_axes(axes).hist(values, bins=20, range=(0.0, 1.0) if measure.shares else None, color=GROUP_COLORS[0])
        axes.set(xlabel=measure.label, ylabel="edges")
        axes.locator_params(axis="y", integer=True)
    figure.suptitle(title, parse_math=False, x=0.01, ha="left")
    return figure


def plot_centralities(picture: FigureData, *, title: str = "") -> Figure:
    """Draw centralities of the variables: degree, closeness, betweenness; of the most central ones if many.

    Parameters
    ----------
    picture
        The result of `figure_data_of`.
    title
        Title of the figure.
    """
    table = centralities(picture)
    ranked = sorted(range(len(picture.names)), key=lambda x: (-table["degree"][x], -table["betweenness"][x], x))
    listed = ranked[:_MOST_CENTRAL][::-1]
    figure = new_figure((9.0, 1.6 + 0.26 * len(listed)))
    panels = figure.subplots(1, len(table), sharey=True, squeeze=False)[0]
    for axes, (key, values) in zip(panels, table.items(), strict=True):
        plain_axes(axes)
        axes.hlines(range(len(listed)), 0, values[listed], color=FAINT, linewidth=1)
        axes.scatter(values[listed], range(len(listed)), color=[picture.color(x) for x in listed], s=36, zorder=2)
        axes.set_xlabel(CENTRALITIES[key], fontsize=9)
        axes.set_xlim(left=-0.03 * max(float(values.max()), 1e-9))
        axes.margins(y=0.5 / len(listed))
    panels[0].set_yticks(range(len(listed)), [shown_name(picture.names[x]) for x in listed], parse_math=False)
    more = f" (the first {len(listed)} of {len(ranked)})" if len(ranked) > len(listed) else ""
    figure.suptitle(title + more, parse_math=False, x=0.01, ha="left")
    return figure


def centralities(picture: FigureData) -> dict[str, FloatArray]:
    """Return degree, and closeness and betweenness from 0 to 1, per variable."""
    import networkx as nx

    graph = picture.graph.to_networkx()
    everyone = range(picture.graph.n_variables)
    found = {"closeness": nx.closeness_centrality(graph), "betweenness": nx.betweenness_centrality(graph)}
    table = {"degree": np.asarray(picture.graph.degrees(), dtype=np.float64)}
    return table | {name: np.array([values[x] for x in everyone]) for name, values in found.items()}


def plot_stability(learned: Learned, *, title: str = "") -> Figure:
    """Draw the resampling frequencies of all pairs, and the number of edges above each threshold.

    Parameters
    ----------
    learned
        A result with frequencies under resampling.
    title
        Title of the figure.

    Raises
    ------
    InputError
        If the result has no frequencies.
    """
    if learned.frequencies is None:
        raise InputError(
            "kind 'stability' needs frequencies under resampling; this result has none. Ask for them first: "
            "result.bootstrap(100), or --bootstrap 100."
        )
    ranked = sorted(((share, pair in learned.graph) for pair, share in learned.frequencies.items()), reverse=True)
    shares = np.array([share for share, _ in ranked], dtype=np.float64)
    kept = np.array([edge for _, edge in ranked], dtype=bool)
    figure = new_figure((9.0, 3.8))
    left, right = figure.subplots(1, 2)
    places = np.arange(1, len(shares) + 1)
    for chosen, color, label in ((kept, GROUP_COLORS[0], "in the network"), (~kept, GROUP_COLORS[1], "not in it")):
        plain_axes(left).plot(places[chosen], shares[chosen], ".", color=color, label=label, markersize=6)
    left.set(xlabel="pairs, most frequent first", ylabel="resampling frequency", ylim=(-0.03, 1.03))
    left.legend(frameon=False)
    levels = np.linspace(0.0, 1.0, 101)
    for chosen, color in ((kept, GROUP_COLORS[0]), (~kept, GROUP_COLORS[1])):
        counts = (shares[chosen][None, :] >= levels[:, None]).sum(axis=1)
        plain_axes(right).step(levels[1:], counts[1:], color=color, where="pre")
    right.set(xlabel="at least this frequency", ylabel="pairs", xlim=(0, 1.0))
    right.set_ylim(bottom=0)
    figure.suptitle(title, parse_math=False, x=0.01, ha="left")
    return figure


_PORTRAITS: dict[str, Callable[..., Figure]] = {
    "network": plot_network,
    "heatmap": plot_heatmap,
    "degrees": plot_degrees,
    "support": plot_support,
    "centralities": plot_centralities,
}
KINDS: tuple[str, ...] = (*_PORTRAITS, "stability")


def draw(
    learned: Learned,
    path: str | os.PathLike[str] | None = None,
    *,
    kind: str = "network",
    title: str | None = None,
    seed: int = 0,
) -> Figure:
    """Draw a learned network, and write the picture to a file if a path is given.

    Parameters
    ----------
    learned
        What `mnlearn.learn` returned.
    path
        Where to write; the extension tells the format: .png, .svg or .pdf. A file that is there is replaced.
    kind
        One of `KINDS`: network, heatmap, degrees, support, centralities, or stability for bootstrap frequencies.
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
        If the file cannot be written, or its extension is none of these.
    MissingDependencyError
        If matplotlib is not installed.
    """
    check_name("kind of picture", kind, KINDS)
    if path is not None:
        check_picture_path(path)
    whole_number("seed", seed, least=0, hint="Leave it out for the usual layout.")
    words = drawable(str(learned) if title is None else str(title))
    if kind == "stability":
        figure = plot_stability(learned, title=words)
    else:
        figure = _PORTRAITS[kind](figure_data_of(learned, seed), title=words)
    if path is not None:
        save_figure(figure, path)
    return figure
