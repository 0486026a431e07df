"""The degree distribution of a network."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from mnlearn.protocols import IntArray
from mnlearn.visual.canvas import INK, new_figure, plain_axes
from mnlearn.visual.figure_data import GROUP_COLORS, FigureData

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_MOST_BARS = 200  # beyond, points on logarithmic axes


def plot_degrees(picture: FigureData, *, title: str = "") -> Figure:
    """Draw a histogram of the number of neighbours; points on logarithmic axes if some variable has very many.

    Parameters
    ----------
    picture
        The result of `figure_data_of`.
    title
        Title of the figure.
    """
    figure = new_figure((6.0, 3.8))
    axes = plain_axes(figure.add_subplot())
    draw_degrees(axes, np.asarray(picture.graph.degrees()))
    axes.set_title(title, parse_math=False, loc="left")
    return figure


def draw_degrees(axes: Axes, degrees: IntArray) -> None:
    """Draw the distribution into axes."""
    counts = np.bincount(degrees)
    if len(counts) > _MOST_BARS:
        some = np.flatnonzero(counts[1:]) + 1
        axes.loglog(some, counts[some], ".", color=GROUP_COLORS[0])
    else:
        axes.bar(np.arange(len(counts)), counts, color=GROUP_COLORS[0], width=0.8)
        axes.locator_params(integer=True)
    axes.axvline(float(degrees.mean()), color=INK, linewidth=1, linestyle=":")
    axes.annotate(
        f"mean {degrees.mean():.1f}",
        (float(degrees.mean()), 1.0),
        xycoords=("data", "axes fraction"),
        xytext=(4, -10),
        textcoords="offset points",
        color=INK,
    )
    axes.set(xlabel="neighbours", ylabel="variables")
