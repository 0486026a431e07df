"""The network as a square of cells."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from mnlearn.output.plots._canvas import INK, add_legend, new_figure
from mnlearn.output.portrait import SIGN_COLORS, Portrait, shown_name
from mnlearn.protocols import FloatArray

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_NAMED_UP_TO = 80  # variables: beyond, their names are too small to read
_EMPTY = "#f1f3f5"


def plot_heatmap(portrait: Portrait, *, title: str = "") -> Figure:
    """Draw the adjacency as a heat map: one row and one column per variable, in the order of a clustering.

    Variables that are near each other in the network stand side by side, so that groups show as blocks. Colours are
    those of the network: the surer an edge, the darker its cell.

    Parameters
    ----------
    portrait
        What `portray` worked out.
    title
        Above the figure.
    """
    n = portrait.graph.n_variables
    side = float(np.clip(2.8 + 0.16 * n, 4.5, 12.0))
    figure = new_figure((side, side + 0.4))
    axes = figure.add_subplot()
    axes.imshow(cell_colors(portrait)[np.ix_(portrait.order, portrait.order)], interpolation="nearest")
    axes.set_title(title, parse_math=False, color=INK, fontsize=12, loc="left")
    axes.tick_params(length=0)
    axes.spines[:].set_visible(False)
    names = [shown_name(portrait.names[x], 20) for x in portrait.order] if n <= _NAMED_UP_TO else []
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
    add_legend(figure, portrait, noun="cells")
    return figure


def cell_colors(portrait: Portrait) -> FloatArray:
    """The colour of each pair's two cells as red, green and blue: the sign's colour, paler where less sure."""
    from matplotlib.colors import to_rgb

    n = portrait.graph.n_variables
    cells = np.full((n, n, 3), to_rgb(_EMPTY))
    for edge, sure in zip(portrait.graph.edges, portrait.relative(), strict=True):
        share = 0.3 + 0.7 * sure
        color = share * np.array(to_rgb(SIGN_COLORS[portrait.sign(edge)])) + (1 - share) * np.array(to_rgb(_EMPTY))
        cells[edge] = cells[edge[::-1]] = color
    return cells
