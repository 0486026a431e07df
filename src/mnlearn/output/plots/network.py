"""The network as points and lines."""

from __future__ import annotations

from math import sqrt
from typing import TYPE_CHECKING

import numpy as np

from mnlearn.output._labels import fitting_labels
from mnlearn.output.plots._canvas import INK, add_legend, new_figure
from mnlearn.output.portrait import SIGN_COLORS, Portrait, shown_name
from mnlearn.protocols import FloatArray

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_MARGIN = 0.09  # of the width, around the outermost points: room for their names


def plot_network(portrait: Portrait, *, title: str = "") -> Figure:
    """Draw a learned network.

    The surer an edge, the wider and darker its line; blue where more goes with more, red where more goes with less,
    grey where there is no direction. Points of one colour form a community, and the best connected are the largest.
    Where there is no room for all names, those of the best connected variables are written.

    Parameters
    ----------
    portrait
        What `portray` worked out.
    title
        Above the figure.
    """
    n = portrait.graph.n_variables
    figure = new_figure(_size(portrait))
    axes = figure.add_subplot()
    axes.set_axis_off()
    axes.set_title(title, parse_math=False, color=INK, fontsize=12, loc="left")
    _frame(axes, portrait)
    _draw_edges(axes, portrait)
    radius = _draw_points(axes, portrait)
    add_legend(figure, portrait, noun="lines")
    figure.draw_without_rendering()  # places the axes: only then is it known which names have room
    figure.set_layout_engine("none")  # and names must not move them again
    _draw_names(axes, portrait, radius, font=9.5 if n <= 30 else 8.0 if n <= 100 else 6.5)
    return figure


def _size(portrait: Portrait) -> tuple[float, float]:
    """Inches: more for more variables, in the proportions of the layout."""
    width = min(7.0 + 0.35 * sqrt(portrait.graph.n_variables) * 1.3, 16.0)
    wide, high = np.ptp(portrait.positions, axis=0) + 1.0
    return width, float(np.clip(width * high / wide, 0.55 * width, 1.05 * width))


def _frame(axes: Axes, portrait: Portrait) -> None:
    """Room around the outermost points."""
    low, high = portrait.positions.min(axis=0), portrait.positions.max(axis=0)
    room = np.maximum((high - low) * _MARGIN, 0.6)
    axes.set_xlim(low[0] - room[0], high[0] + room[0])
    axes.set_ylim(low[1] - room[1], high[1] + room[1])


def _draw_edges(axes: Axes, portrait: Portrait) -> None:
    """One line per edge, the surest on top."""
    from matplotlib.collections import LineCollection
    from matplotlib.colors import to_rgba

    edges, sure = portrait.graph.edges, portrait.relative()
    if not edges:
        return
    crowded = 1.0 if len(edges) <= 150 else 0.5
    order = np.argsort(sure, kind="stable")
    colors = [to_rgba(SIGN_COLORS[portrait.sign(edges[k])], 0.3 + 0.6 * sure[k]) for k in order]
    widths = (0.6 + 3.0 * sure[order]) * crowded
    lines = portrait.positions[np.array(edges)[order]]
    axes.add_collection(LineCollection(list(lines), colors=colors, linewidths=widths, capstyle="round", zorder=1))


def _draw_points(axes: Axes, portrait: Portrait) -> FloatArray:
    """One point per variable; returns their radii in points."""
    degrees = np.asarray(portrait.graph.degrees(), dtype=np.float64)
    base = 7.0 if len(degrees) <= 30 else 5.0 if len(degrees) <= 100 else 3.2
    radius: FloatArray = base * (0.8 + 0.5 * np.sqrt(degrees / max(degrees.max(initial=1.0), 1.0)))
    axes.scatter(
        portrait.positions[:, 0],
        portrait.positions[:, 1],
        s=(2 * radius) ** 2,
        c=[portrait.color(x) for x in range(len(degrees))],
        edgecolors="white",
        linewidths=1.0,
        zorder=2,
    )
    return radius


def _draw_names(axes: Axes, portrait: Portrait, radius: FloatArray, font: float) -> None:
    """Names below their points, as many as have room."""
    from matplotlib.patheffects import withStroke

    pixels = axes.transData.transform(portrait.positions)
    points = pixels * 72.0 / axes.get_figure(root=True).dpi  # type: ignore[union-attr]
    centers = points - np.stack([np.zeros(len(radius)), radius + 0.75 * font], axis=1)
    texts = [shown_name(name) for name in portrait.names]
    for k in fitting_labels(centers, texts, font, portrait.graph.degrees(), avoid=points):
        axes.annotate(
            texts[k],
            portrait.positions[k],
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
