"""Pictures of several networks over the same variables: side by side in one layout, and the difference of two."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from mnlearn.errors import InputError, check_listed, whole_number
from mnlearn.graphs.graph import Edge, Graph
from mnlearn.regression.weights import EdgeWeights
from mnlearn.visual.canvas import (
    FAINT,
    add_group_legend,
    add_legend,
    check_picture_path,
    drawable,
    new_figure,
    save_figure,
)
from mnlearn.visual.drawings import figure_size, frame_network, paint_network, settle
from mnlearn.visual.figure_data import (
    SIGN_COLORS,
    Appearance,
    FigureData,
    Groups,
    Labels,
    Layout,
    NodeSize,
    check_appearance,
    figure_data_of,
    relative_strengths,
    strongest,
)
from mnlearn.visual.layout import communities, positions

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from mnlearn.results.learned import Learned

_PER_ROW = 3  # networks side by side
_ONLY_FIRST, _ONLY_SECOND = "dashed", "dotted"


def plot_side_by_side(
    networks: Sequence[Learned],
    path: str | os.PathLike[str] | None = None,
    *,
    titles: Sequence[str] | None = None,
    title: str = "",
    seed: int = 0,
    groups: Groups | None = None,
    labels: Labels | None = None,
    layout: Layout | None = None,
    node_size: NodeSize | None = None,
    threshold: float | None = None,
) -> Figure:
    """Draw networks over the same variables side by side, in one layout and with one scale of widths.

    The layout and the communities follow from the mean absolute weights of all networks.

    Parameters
    ----------
    networks
        Two or more learned networks; variables are matched by name.
    path
        The file: .png, .svg or .pdf.
    titles
        Title of each network; by default one line on it.
    title
        Title of the whole picture.
    seed
        Seed of the layout.
    groups, labels, layout, node_size, threshold
        As for `Learned.plot`.

    Raises
    ------
    InputError
        If the networks have other variables or other measures of weights, or a setting does not fit.
    FileError
        If the file cannot be written, or has another extension.
    MissingDependencyError
        If matplotlib is not installed.
    """
    several = _checked_networks(networks, 2)
    look = Appearance(groups=groups, labels=labels, layout=layout, node_size=node_size, threshold=threshold)
    words = _checked_titles(titles, [str(one) for one in several])
    _check_call(path, seed, look, several[0].names)
    pictures = _pictures_in_one_layout(several, seed, look)
    columns = min(len(several), _PER_ROW)
    rows = -(-len(several) // columns)
    width, height = figure_size(pictures[0])
    scale = min(1.0, 18.0 / (columns * width))
    figure = new_figure((columns * width * scale, rows * (height + 0.4) * scale))
    panels = figure.subplots(rows, columns, squeeze=False).ravel()
    for axes, picture, text in zip(panels, pictures, words, strict=False):
        frame_network(axes, picture, text)
    for axes in panels[len(several) :]:
        axes.set_axis_off()
    figure.suptitle(drawable(str(title)), parse_math=False, x=0.01, ha="left")
    hidden = sum(picture.hidden for picture in pictures)
    add_legend(figure, replace(_all_signs(pictures), hidden=hidden), noun="lines", threshold=threshold)
    settle(figure)
    for axes, picture in zip(panels, pictures, strict=False):
        paint_network(axes, picture, look)
    if path is not None:
        save_figure(figure, path)
    return figure


def plot_difference(
    first: Learned,
    second: Learned,
    path: str | os.PathLike[str] | None = None,
    *,
    titles: Sequence[str] = ("first", "second"),
    title: str | None = None,
    seed: int = 0,
    groups: Groups | None = None,
    labels: Labels | None = None,
    layout: Layout | None = None,
    node_size: NodeSize | None = None,
    threshold: float | None = None,
    pairs: Iterable[tuple[str, str]] | None = None,
) -> Figure:
    """Draw the difference of the weights of two networks.

    Blue lines are pairs with a higher weight in the first network, red ones in the second; the larger the difference,
    the wider. Dashed lines are edges of the first network only, dotted ones of the second only.

    Parameters
    ----------
    first, second
        Two learned networks over the same variables.
    path
        The file: .png, .svg or .pdf.
    titles
        Names of the two networks.
    title
        Title of the picture; by default the two names.
    seed
        Seed of the layout.
    groups, labels, layout, node_size
        As for `Learned.plot`.
    threshold
        Smaller differences are not drawn.
    pairs
        The pairs to draw, by name, such as those with a small p-value; by default all.

    Raises
    ------
    InputError
        If the networks have other variables, other measures of weights or no weights, or a setting does not fit.
    FileError
        If the file cannot be written, or has another extension.
    MissingDependencyError
        If matplotlib is not installed.
    """
    both = _checked_networks([first, second], 2)
    look = Appearance(groups=groups, labels=labels, layout=layout, node_size=node_size, threshold=threshold)
    names = _checked_titles(titles, ["first", "second"])
    _check_call(path, seed, look, first.names)
    if first.weights is None:
        raise InputError(
            "first and second must have weights, which follow from the data; got networks without. Attach the data: "
            "learned.with_data(data)."
        )
    picture, styles = _difference_picture(both, seed, look, _chosen(pairs, first.names))
    figure = new_figure(figure_size(picture))
    axes = figure.add_subplot()
    frame_network(axes, picture, drawable(f"{names[0]} − {names[1]}" if title is None else str(title)))
    _add_difference_legend(figure, picture, names, styles, threshold)
    settle(figure)
    paint_network(axes, picture, look, styles)
    if path is not None:
        save_figure(figure, path)
    return figure


def _pictures_in_one_layout(networks: Sequence[Learned], seed: int, look: Appearance) -> list[FigureData]:
    """Return the figure data of all networks, with the layout, groups and widths of all together."""
    names = networks[0].names
    graph, strengths, widest = _joint(networks)
    joint = positions(graph, seed, strengths) if look.layout is None or look.layout == "spring" else None
    shared = look if joint is None else replace(look, layout=dict(zip(names, joint, strict=True)))
    if look.groups is None:  # else the layouts of circles would have other groups in every network
        number = communities(graph, seed, strengths)
        shared = replace(shared, groups=dict(zip(names, number.tolist(), strict=True)))
    pictures = [replace(figure_data_of(one, seed, shared), widest=widest) for one in networks]
    if isinstance(shared.layout, str):  # circles: in the order of the first network
        placed = dict(zip(names, pictures[0].positions, strict=True))
        pictures = [replace(one, positions=np.array([placed[name] for name in one.names])) for one in pictures]
    if look.groups is None:
        by_name = dict(zip(names, number, strict=True))
        pictures = [
            replace(one, groups=np.array([by_name[name] for name in one.names]), group_names=()) for one in pictures
        ]
    return pictures


def _joint(networks: Sequence[Learned]) -> tuple[Graph, dict[Edge, float] | None, float | None]:
    """Return the union of the graphs by the variables of the first, mean strengths, and the weight of full width."""
    names = networks[0].names
    aligned = [_aligned(one, names) for one in networks]
    edges = sorted({edge for graph, _ in aligned for edge in graph.edges})
    union = Graph(len(names), edges)
    known = [weights for _, weights in aligned if weights is not None]
    if not known:
        return union, None, None
    widest = max(strongest(weights) for weights in known)
    each = [relative_strengths(weights, widest) for weights in known]
    return union, {edge: sum(one.get(edge, 0.0) for one in each) / len(each) for edge in edges}, widest


def _aligned(learned: Learned, names: Sequence[str]) -> tuple[Graph, EdgeWeights | None]:
    """Return graph and weights with the variables in another order."""
    if learned.names == tuple(names):
        return learned.graph, learned.weights
    place = {name: x for x, name in enumerate(names)}
    moved = {edge: _sorted_pair(*(place[learned.names[x]] for x in edge)) for edge in learned.graph.edges}
    graph, weights = Graph(len(names), list(moved.values())), learned.weights
    if weights is None:
        return graph, None
    ordered = dict(zip(learned.names, weights.ordered, strict=True))
    values = {moved[edge]: value for edge, value in weights.values.items() if edge in moved}
    return graph, EdgeWeights(weights.measure, values, tuple(ordered[name] for name in names))


def _sorted_pair(u: int, v: int) -> Edge:
    return (u, v) if u < v else (v, u)


def _difference_picture(
    both: Sequence[Learned], seed: int, look: Appearance, chosen: set[Edge] | None
) -> tuple[FigureData, dict[Edge, str]]:
    """Return the figure data of the difference of two networks, and the lines that are not solid."""
    names = both[0].names
    (here, a), (there, b) = (_aligned(one, names) for one in both)
    assert a is not None  # checked by the caller
    assert b is not None
    changes = {
        edge: a.values.get(edge, 0.0) - b.values.get(edge, 0.0)
        for edge in sorted({*here.edges, *there.edges})
        if chosen is None or edge in chosen
    }
    differing = {edge: change for edge, change in changes.items() if change != 0}
    kept = [edge for edge, change in differing.items() if abs(change) >= (look.threshold or 0.0)]
    base = _pictures_in_one_layout(both, seed, replace(look, threshold=None))[0]
    styles = {edge: _ONLY_FIRST if edge in here else _ONLY_SECOND for edge in kept if (edge in here) != (edge in there)}
    picture = replace(
        base,
        graph=Graph(len(names), kept),
        weights=EdgeWeights(a.measure, differing, (True,) * len(names)),
        measures=(),
        hidden=len(differing) - len(kept),
        widest=None,
    )
    return picture, styles


def _add_difference_legend(
    figure: Figure, picture: FigureData, names: Sequence[str], styles: dict[Edge, str], threshold: float | None
) -> None:
    """Add the legend of a difference."""
    from matplotlib.lines import Line2D

    weights = picture.weights
    assert weights is not None
    entries = [(SIGN_COLORS[1], "solid", 2.5, f"higher in {names[0]}")]
    entries.append((SIGN_COLORS[-1], "solid", 2.5, f"higher in {names[1]}"))
    for style, name in ((_ONLY_FIRST, names[0]), (_ONLY_SECOND, names[1])):
        if style in styles.values():
            entries.append((FAINT, style, 2.0, f"an edge in {name} only"))
    if picture.graph.n_edges > 1:
        label = f"wider: larger difference of the {weights.measure}, up to {strongest(weights):.2g}"
        entries.append((FAINT, "solid", 4.5, label))
    if threshold is not None:
        entries.append((FAINT, "solid", 0.0, f"differences below {threshold:g} not drawn: {picture.hidden}"))
    handles = [
        Line2D([], [], color=color, linestyle=cast(Any, style), linewidth=width, label=drawable(label)[:90])
        for color, style, width, label in entries
    ]
    legend = figure.legend(handles=handles, loc="outside lower center", ncols=2, frameon=False, fontsize=8.5)
    for text in legend.get_texts():
        text.set_parse_math(False)
    if picture.group_names:
        add_group_legend(figure, picture)


def _all_signs(pictures: Sequence[FigureData]) -> FigureData:
    """Return the picture whose edges have the most signs, for the legend."""
    return max(pictures, key=lambda one: (len({one.sign(edge) for edge in one.graph.edges}), one.graph.n_edges))


def _checked_networks(networks: Sequence[Learned], least: int) -> list[Learned]:
    """Return the networks, or raise InputError unless they have the same variables and the same kind of weights."""
    check_listed("networks", networks, "learned networks")
    several = list(networks)
    if len(several) < least:
        raise InputError(f"networks must be at least {least}; got {len(several)}. Use result.plot() for one.")
    for one in several:
        if not hasattr(one, "graph") or not hasattr(one, "weights"):
            raise InputError(
                f"networks must be learned networks; got {type(one).__name__}. Pass what mnlearn.learn returned."
            )
        strange = sorted(set(one.names) ^ set(several[0].names))
        if strange:
            raise InputError(
                f"networks must have the same variables; only one of two has {strange[0]!r}. Learn them from the same "
                "columns."
            )
    measures = {None if one.weights is None else one.weights.measure for one in several}
    if len(measures) > 1:
        found = " and ".join(sorted("no weights" if one is None else one for one in measures))
        raise InputError(
            f"networks must have weights of one measure; got {found}. Learn them from data of the same types, or "
            "attach the data: learned.with_data(data)."
        )
    return several


def _checked_titles(titles: Sequence[str] | None, default: Sequence[str]) -> list[str]:
    """Return one title per network."""
    if titles is None:
        return [drawable(text) for text in default]
    check_listed("titles", titles, "strings")
    found = list(titles)
    if len(found) != len(default) or not all(isinstance(text, str) for text in found):
        raise InputError(f"titles must be {len(default)} strings, one per network; got {titles!r:.80}. Leave them out.")
    return [drawable(text) for text in found]


def _check_call(path: str | os.PathLike[str] | None, seed: int, look: Appearance, names: tuple[str, ...]) -> None:
    """Check the other arguments before any work."""
    if path is not None:
        check_picture_path(path)
    whole_number("seed", seed, least=0, hint="Leave it out for the usual layout.")
    check_appearance(look, names)


def _chosen(pairs: Iterable[Any] | None, names: Sequence[str]) -> set[Edge] | None:
    """Return pairs of names as edges by index."""
    if pairs is None:
        return None
    check_listed("pairs", pairs, "pairs of variables")
    place, found = {name: x for x, name in enumerate(names)}, set()
    for pair in pairs:
        if not isinstance(pair, list | tuple) or len(pair) != 2 or not all(isinstance(name, str) for name in pair):
            raise InputError(f"pairs must be pairs of names; got {pair!r:.80}. Use [('a', 'b')], for example.")
        strange = [name for name in pair if name not in place]
        if strange:
            raise InputError(f"pairs must have variables of the networks; got {strange[0]!r}. Use their names.")
        found.add(_sorted_pair(*(place[name] for name in pair)))
    return found
