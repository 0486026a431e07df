"""The node-link diagram of a network: circles for variables, lines for edges, labels in or below the circles.

The adjacency matrix of a network as a heat map, with groups or communities as blocks.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import sqrt
from typing import TYPE_CHECKING

import numpy as np

from mnlearn.graphs.graph import Edge
from mnlearn.protocols import FloatArray
from mnlearn.visual.canvas import FAINT, INK, add_legend, new_figure
from mnlearn.visual.figure_data import SIGN_COLORS, Appearance, FigureData, group_color, numbers_by_name
from mnlearn.visual.layout import fitting_labels
from mnlearn.visual.samples import weighted_centralities

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


_MARGIN = 0.06  # of the width, around the outermost points
_TOUCHING = 0.46  # radius as a share of the distance to the nearest variable
_LARGEST_INSIDE, _LARGEST_BELOW = 19.0, 8.0  # radii in points, with labels in the circles and below
_SMALLEST_FONT = 6.5  # in a circle; smaller labels are written below
_NARROW, _WIDE = 0.5, 6.0  # widths of lines in points
_RING = 0.26  # of the radius
_SMALLEST = 0.6  # radius of a node relative to the largest, so that its label fits
_FIT = 1.7  # width of a label in radii


def plot_network(picture: FigureData, *, title: str = "", look: Appearance | None = None) -> Figure:
    """Draw a learned network.

    The stronger an edge, the wider its line and the closer its ends; the surer, the more opaque. Blue edges are
    positive, red ones negative, grey ones have no sign. Nodes of one colour form a group or a community. Short labels
    are written into the nodes. Where there is no room for all labels, those of the best connected variables are
    written.

    Parameters
    ----------
    picture
        The result of `figure_data_of`.
    title
        Title of the figure.
    look
        Sizes of the nodes and rings around them.
    """
    look = Appearance() if look is None else look
    figure = new_figure(figure_size(picture))
    axes = figure.add_subplot()
    frame_network(axes, picture, title)
    rings = None if look.rings is None else look.ring_words
    add_legend(figure, picture, noun="lines", rings=rings, threshold=look.threshold)
    settle(figure)
    paint_network(axes, picture, look)
    return figure


def settle(figure: Figure, networks: Sequence[Axes] | None = None) -> None:
    """Place the axes once, those of networks (by default all) with the same scale in both directions.

    Only then is it known how large a circle is and which labels have room.
    """
    figure.draw_without_rendering()
    figure.set_layout_engine("none")
    for axes in figure.axes if networks is None else networks:
        (left, right), (low, high) = axes.get_xlim(), axes.get_ylim()
        box = axes.get_window_extent()
        scale = max((right - left) / box.width, (high - low) / box.height) / 2
        x, y = (left + right) / 2, (low + high) / 2
        axes.set_xlim(x - scale * box.width, x + scale * box.width)
        axes.set_ylim(y - scale * box.height, y + scale * box.height)


def figure_size(picture: FigureData) -> tuple[float, float]:
    """Return the size in inches, by the number of variables and the proportions of the layout."""
    width = min(7.0 + 0.35 * sqrt(picture.graph.n_variables) * 1.3, 16.0)
    wide, high = np.ptp(picture.positions, axis=0) + _spacing(picture)
    return width, float(np.clip(width * high / max(wide, 1e-12), 0.55 * width, 1.05 * width))


def frame_network(axes: Axes, picture: FigureData, title: str) -> None:
    """Prepare axes without spines and with a margin around the outermost points."""
    axes.set_axis_off()
    axes.set_title(title, parse_math=False, color=INK, fontsize=12, loc="left")
    low, high = picture.positions.min(axis=0), picture.positions.max(axis=0)
    room = np.maximum((high - low) * _MARGIN, 0.6 * _spacing(picture))
    axes.set_xlim(low[0] - room[0], high[0] + room[0])
    axes.set_ylim(low[1] - room[1], high[1] + room[1])


def paint_network(axes: Axes, picture: FigureData, look: Appearance, styles: Mapping[Edge, str] | None = None) -> None:
    """Draw edges, nodes and labels into axes whose place is settled; `styles` has the edges that are not solid."""
    unit = float(np.linalg.norm(np.diff(axes.transData.transform([(0, 0), (1, 0)]), axis=0)))
    unit *= 72.0 / axes.get_figure(root=True).dpi  # type: ignore[union-attr]
    texts = [picture.text(x) for x in range(len(picture.names))]
    room = _TOUCHING * _spacing(picture) * unit
    radius = float(np.clip(room, 2.0, _LARGEST_INSIDE)) * node_factors(picture, look)
    core = radius * (1 - _RING if look.rings is not None else 1)
    font = min(
        12.0, *(min(0.85 * r, _FIT * r / (0.6 * max(len(text), 1))) for r, text in zip(core, texts, strict=True))
    )
    inside = font >= _SMALLEST_FONT
    if not inside:
        radius *= min(1.0, _LARGEST_BELOW / max(float(radius.max()), 1e-9))
    _draw_edges(axes, picture, styles or {}, radius / unit)
    _draw_nodes(axes, picture, radius / unit, look)
    if inside:
        _write_inside(axes, picture, texts, font)
    else:
        n = len(texts)
        _write_below(axes, picture, texts, radius, font=9.5 if n <= 30 else 8.0 if n <= 100 else 6.5)


def node_factors(picture: FigureData, look: Appearance) -> FloatArray:
    """Return the radius of each node relative to the usual one; areas are proportional to sizes."""
    size, n = look.node_size, len(picture.names)
    if size is None:
        return np.ones(n)
    if isinstance(size, str):
        values = _size_measure(picture, size)
    elif isinstance(size, Mapping):
        values = numbers_by_name("node_size", picture.names, size, np.inf)
    else:
        return np.full(n, float(size))
    return np.maximum(np.sqrt(values / max(float(values.max(initial=0.0)), 1e-300)), _SMALLEST)


def _size_measure(picture: FigureData, name: str) -> FloatArray:
    """Return degree, strength, closeness or betweenness of each variable, the last three by weights."""
    if name == "degree":
        return np.asarray(picture.graph.degrees(), dtype=np.float64)
    return np.nan_to_num(weighted_centralities(picture)[name], nan=0.0)


def _spacing(picture: FigureData) -> float:
    """Return the distance of the closest two variables; 1 for a single one or for variables at one place."""
    from scipy.spatial import cKDTree

    if len(picture.positions) < 2:
        return 1.0
    distances = np.asarray(cKDTree(picture.positions).query(picture.positions, k=2)[0])
    nearest = float(distances[:, 1].min())
    return nearest if nearest > 0 else float(np.ptp(picture.positions, axis=0).max() / len(picture.positions)) or 1.0


def _draw_edges(axes: Axes, picture: FigureData, styles: Mapping[Edge, str], radius: FloatArray) -> None:
    """Draw one line per edge, the strongest on top."""
    from matplotlib.collections import LineCollection
    from matplotlib.colors import to_rgba

    edges, strength, sure = picture.graph.edges, picture.strength(), picture.opacity()
    if not edges:
        return
    crowded = min(1.0, max(sqrt(120 / len(edges)), 0.3))
    order = np.argsort(strength, kind="stable")
    axes.add_collection(
        LineCollection(
            [edge_route(picture.positions, edges[k], radius) for k in order],
            colors=[to_rgba(SIGN_COLORS[picture.sign(edges[k])], 0.2 + 0.75 * sure[k]) for k in order],
            linewidths=(_NARROW + (_WIDE - _NARROW) * strength[order]) * crowded,
            linestyles=[styles.get(edges[k], "solid") for k in order],
            capstyle="butt",
            zorder=1,
        )
    )


def edge_route(places: FloatArray, edge: Edge, radius: FloatArray) -> FloatArray:
    """Return the points of a line between two nodes: straight, or bent around the node that it would cross."""
    start, end = places[edge[0]], places[edge[1]]
    along = end - start
    length = float(np.hypot(*along))
    straight = np.stack([start, end])
    if length <= 0:
        return straight
    share = (places - start) @ along / length**2
    side = (places - start) @ np.array([-along[1], along[0]]) / length  # signed distance from the line
    crossed = (share > 0.05) & (share < 0.95) & (np.abs(side) < 1.15 * radius)
    crossed[list(edge)] = False
    if not crossed.any():
        return straight
    node = int(np.flatnonzero(crossed)[np.argmin(np.abs(side[crossed]))])
    bend = (1.3 * radius[node] - abs(side[node])) / (2 * share[node] * (1 - share[node]))
    bend = min(float(bend), 0.35 * length) * (-1.0 if side[node] > 0 else 1.0)
    t = np.linspace(0.0, 1.0, 25)[:, None]
    return np.asarray(start + t * along + 2 * t * (1 - t) * bend * np.array([-along[1], along[0]]) / length)


def _draw_nodes(axes: Axes, picture: FigureData, radius: FloatArray, look: Appearance) -> None:
    """Draw one circle per variable, with a ring if there is a share; the radii are in units of the axes."""
    from matplotlib.collections import PatchCollection
    from matplotlib.patches import Circle, Wedge

    shares = None if look.rings is None else numbers_by_name("rings", picture.names, look.rings, 1.0, whole=False)
    places = picture.positions.tolist()
    circles = [Circle((x, y), r) for (x, y), r in zip(places, radius, strict=True)]
    colors = [picture.color(x) for x in range(len(places))]
    axes.add_collection(PatchCollection(circles, facecolors="white", edgecolors="white", linewidths=1.6, zorder=2))
    if shares is None:
        axes.add_collection(PatchCollection(circles, facecolors=colors, edgecolors="none", zorder=2.1))
        return
    cores = [Circle((x, y), r * (1 - _RING)) for (x, y), r in zip(places, radius, strict=True)]
    rings = [Wedge((x, y), r, 0, 360, width=_RING * r) for (x, y), r in zip(places, radius, strict=True)]
    filled = [
        Wedge((x, y), r, 90 - 360 * share, 90, width=_RING * r)
        for (x, y), r, share in zip(places, radius, shares, strict=True)
        if share > 0
    ]
    axes.add_collection(PatchCollection(cores, facecolors=colors, edgecolors="white", linewidths=0.8, zorder=2.1))
    axes.add_collection(PatchCollection(rings, facecolors="#e4e7eb", edgecolors=INK, linewidths=0.4, zorder=2.2))
    axes.add_collection(PatchCollection(filled, facecolors=INK, edgecolors="none", zorder=2.3))


def _write_inside(axes: Axes, picture: FigureData, texts: list[str], font: float) -> None:
    """Write every label into its circle."""
    for text, (x, y) in zip(texts, picture.positions, strict=True):
        axes.text(
            x,
            y,
            text,
            ha="center",
            va="center_baseline",
            fontsize=font,
            color="white",
            fontweight="bold",
            parse_math=False,
            zorder=3,
        )


def _write_below(axes: Axes, picture: FigureData, texts: list[str], radius: FloatArray, font: float) -> None:
    """Write the labels below their circles, as many as fit."""
    from matplotlib.patheffects import withStroke

    pixels = axes.transData.transform(picture.positions)
    points = pixels * 72.0 / axes.get_figure(root=True).dpi  # type: ignore[union-attr]
    centers = points - np.stack([np.zeros(len(radius)), radius + 0.75 * font], axis=1)
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
