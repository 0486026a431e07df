"""The adjacency matrix of a network as a heat map, with groups or communities as blocks."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from mnlearn.protocols import FloatArray
from mnlearn.visual.appearance import Appearance
from mnlearn.visual.canvas import FAINT, INK, add_legend, new_figure
from mnlearn.visual.figure_data import SIGN_COLORS, FigureData, group_color

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_NAMED_UP_TO = 80  # variables: beyond, their names are too small to read
_EMPTY = "#f1f3f5"
_CELLS_ACROSS = 220  # of at least this share of the picture, so that single edges are seen in a large network
_BLOCK_NAMES = 40  # places across: a smaller block has no room for its name


def plot_heatmap(picture: FigureData, *, title: str = "", look: Appearance | None = None) -> Figure:
    """Draw the adjacency as a heat map: one row and one column per variable, groups or communities side by side.

    The colour of a cell is the sign of its edge, and the darker, the stronger. Groups are framed and named at the
    sides. Cells of large networks are drawn larger than their place, the strongest on top.

    Parameters
    ----------
    picture
        The result of `figure_data_of`.
    title
        Title of the figure.
    look
        The threshold, for the legend.
    """
    n = picture.graph.n_variables
    side = float(np.clip(2.8 + 0.16 * n, 4.5, 12.0))
    figure = new_figure((side, side + 0.4))
    axes = figure.add_subplot()
    axes.imshow(enlarged_cells(picture), interpolation="nearest")
    axes.set_title(title, parse_math=False, color=INK, fontsize=12, loc="left")
    axes.tick_params(length=0)
    axes.spines[:].set_visible(False)
    places, names = side_names(picture, _NAMED_UP_TO)
    font = 9.0 if n > _NAMED_UP_TO else 8.0 if n <= 40 else 6.0
    middles = [place - 0.5 for place in places]
    axes.set_xticks(middles, names, rotation=90, fontsize=font, parse_math=False, color=INK)
    axes.set_yticks(middles, names, fontsize=font, parse_math=False, color=INK)
    if n > _NAMED_UP_TO:
        axes.set_xlabel(f"{n} variables", color=INK)
    elif picture.group_names:
        for x, *ticks in zip(picture.order, axes.get_xticklabels(), axes.get_yticklabels(), strict=True):
            for tick in ticks:
                tick.set_color(picture.color(x))
    if n <= 40:
        axes.set_xticks(np.arange(n + 1) - 0.5, minor=True)
        axes.set_yticks(np.arange(n + 1) - 0.5, minor=True)
        axes.grid(which="minor", color="white", linewidth=1.0)
        axes.tick_params(which="minor", length=0)
    _frame_blocks(axes, picture)
    add_legend(figure, picture, noun="cells", threshold=None if look is None else look.threshold)
    return figure


def _frame_blocks(axes: Axes, picture: FigureData) -> None:
    """Draw a frame around each group on the diagonal."""
    from matplotlib.patches import Rectangle

    for first, size, _ in picture.blocks():
        color = group_color(int(picture.groups[picture.order[first]])) if picture.group_names else FAINT
        corner = (first - 0.5, first - 0.5)
        axes.add_patch(Rectangle(corner, size, size, fill=False, edgecolor=color, linewidth=1.3, zorder=3))


def side_names(picture: FigureData, up_to: int) -> tuple[list[float], list[str]]:
    """Return places and names at the sides: of the variables, or of the large groups beyond this many variables."""
    n = len(picture.names)
    if n <= up_to:
        return [x + 0.5 for x in range(n)], [picture.text(x, 20) for x in picture.order]
    large = [(first + size / 2, name) for first, size, name in picture.blocks() if size * _BLOCK_NAMES >= n]
    return [place for place, _ in large], [name for _, name in large]


def cell_colors(picture: FigureData) -> FloatArray:
    """Return the colour of each cell as RGB: the colour of the sign, paler for weaker edges."""
    from matplotlib.colors import to_rgb

    n = picture.graph.n_variables
    cells = np.full((n, n, 3), to_rgb(_EMPTY))
    for edge, strength in zip(picture.graph.edges, picture.strength(), strict=True):
        share = 0.3 + 0.7 * strength
        color = share * np.array(to_rgb(SIGN_COLORS[picture.sign(edge)])) + (1 - share) * np.array(to_rgb(_EMPTY))
        cells[edge] = cells[edge[::-1]] = color
    return cells


def cell_size(n: int) -> int:
    """Return how many places of the heat map of n variables the cell of one edge covers in each direction."""
    return 2 * round((n / _CELLS_ACROSS - 1) / 2) + 1 if n > _CELLS_ACROSS else 1


def enlarged_cells(picture: FigureData) -> FloatArray:
    """Return the colours in the order of the picture, with the cells of edges enlarged, the strongest on top."""
    cells, order = cell_colors(picture), picture.order
    found = cells[np.ix_(order, order)]
    reach = cell_size(len(order)) // 2
    if not reach:
        return found
    place = np.empty(len(order), dtype=np.int64)
    place[order] = np.arange(len(order))
    edges = picture.graph.edges
    for k in np.argsort(picture.strength(), kind="stable"):
        for u, v in (edges[k], edges[k][::-1]):
            rows, columns = (slice(max(place[x] - reach, 0), place[x] + reach + 1) for x in (u, v))
            found[rows, columns] = cells[u, v]
    return found
