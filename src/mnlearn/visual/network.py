"""Plots of a learned network: network, heat map, degrees, support, centralities and stability.

Pictures of networks with too many variables or edges to draw: hubs, degrees, and the surroundings of variables.

No layout is computed for more than some hundred variables.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from mnlearn.errors import InputError, check_name, whole_number
from mnlearn.graphs.graph import Graph
from mnlearn.visual.canvas import (
    INK,
    add_legend,
    check_picture_path,
    draw_degrees,
    drawable,
    new_figure,
    plain_axes,
    plot_degrees,
    save_figure,
)
from mnlearn.visual.drawings import frame_network, paint_network, plot_heatmap, plot_network, settle
from mnlearn.visual.figure_data import GROUP_COLORS, Appearance, FigureData, check_appearance, figure_data_of, measures
from mnlearn.visual.samples import plot_centralities

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from mnlearn.results.learned import Learned


LARGE_VARIABLES, LARGE_EDGES = 2_000, 20_000  # with more, layouts and pages take minutes
MOST_DRAWN = 300  # variables: the layout by all distances takes two seconds
_HUBS, _EACH = 8, 25


def is_large(graph: Graph) -> bool:
    """Return whether a network is too large to draw every variable."""
    return graph.n_variables > LARGE_VARIABLES or graph.n_edges > LARGE_EDGES


def outline_of(learned: Learned) -> FigureData:
    """Return the figure data of a network without layout, communities and weights."""
    n = len(learned.names)
    return FigureData(
        names=learned.names,
        graph=learned.graph,
        positions=np.zeros((n, 2)),
        groups=np.full(n, -1, dtype=np.int64),
        order=np.arange(n),
        weights=None,
        measures=tuple(measures(learned)),
    )


def hubs_of(graph: Graph, count: int) -> list[int]:
    """Return the variables with the most neighbours, the first in a tie."""
    degrees = graph.degrees()
    first = np.argsort(-degrees, kind="stable")[:count].tolist()
    return [x for x in first if degrees[x]]


def strongest_neighbors(learned: Learned, x: int, most: int) -> list[int]:
    """Return the neighbours of a variable with the best support."""
    support, sign = learned.result.support, -1.0 if learned.support_scale == "log_odds" else 1.0
    ranked = sorted((sign * support.get((min(x, y), max(x, y)), -sign * np.inf), y) for y in learned.graph.neighbors(x))
    return [y for _, y in ranked[:most]]


def hub_excerpt(learned: Learned, hubs: int = _HUBS, each: int = _EACH) -> Learned:
    """Return the network of the variables with the most neighbours and the strongest of these."""
    chosen = set(first := hubs_of(learned.graph, hubs)).union(*(strongest_neighbors(learned, x, each) for x in first))
    return learned.among(learned.names[x] for x in sorted(chosen) or range(min(len(learned.names), MOST_DRAWN)))


def surroundings(learned: Learned, names: str | Iterable[str], distance: int) -> tuple[Learned, int]:
    """Return the network around some variables to draw, and how many variables are left out of it.

    Beyond `MOST_DRAWN` variables, those with the best support of an edge towards the middle are kept.
    """
    steps = whole_number("distance", distance, least=1, hint="Use 1 for the neighbours alone.")
    chosen = set(learned.among(names).names)
    waves = learned.graph.waves([x for x, name in enumerate(learned.names) if name in chosen], steps)
    kept, total = list(waves[0]), sum(map(len, waves))
    if len(kept) > MOST_DRAWN:
        raise InputError(f"around must name at most {MOST_DRAWN} variables; got {len(kept)}. Name fewer of them.")
    for inner, wave in pairwise(waves):
        kept += _most_joined(learned, inner, wave)[: MOST_DRAWN - len(kept)]
    return learned.among(learned.names[x] for x in kept), total - len(kept)


def _most_joined(learned: Learned, inner: Sequence[int], wave: Sequence[int]) -> list[int]:
    """Return the variables of a wave, those with the best support of an edge to the one inside it first."""
    support, sign = learned.result.support, -1.0 if learned.support_scale == "log_odds" else 1.0
    within = set(inner)

    def best(y: int) -> tuple[float, int]:
        edges = ((min(x, y), max(x, y)) for x in learned.graph.neighbors(y) & within)
        return min((sign * support.get(edge, -sign * np.inf) for edge in edges), default=np.inf), y

    return sorted(wave, key=best)


def check_overview(look: Appearance, n_variables: int) -> None:
    """Raise InputError for settings of nodes and edges, which a picture of a whole large network does not have."""
    given = look.given()
    if given:
        raise InputError(
            f"{given[0]} is for pictures with a node for every variable, up to {LARGE_VARIABLES:,} of them; got a "
            f"network of {n_variables:,}. Draw a part of it with around=..., or drop {given[0]}."
        )


def plot_overview(learned: Learned, *, title: str = "", seed: int = 0) -> Figure:
    """Draw the degree distribution of a large network, and beside it its hubs with their strongest neighbours.

    Parameters
    ----------
    learned
        The network.
    title
        Title of the figure.
    seed
        Seed of the layout.
    """
    part = hub_excerpt(learned)
    picture = figure_data_of(part, seed)
    figure = new_figure((15.0, 7.4))
    left, right = figure.subplots(1, 2, width_ratios=(1.0, 2.1))
    draw_degrees(plain_axes(left), learned.graph.degrees())
    left.set_title("How many neighbours variables have", loc="left", fontsize=11)
    hubs = len(hubs_of(learned.graph, _HUBS))
    what = f"The {hubs} variables with the most neighbours, and up to {_EACH} of the strongest of each"
    frame_network(right, picture, what)
    right.title.set_fontsize(11)
    figure.suptitle(title, parse_math=False, x=0.01, ha="left", color=INK)
    add_legend(figure, picture, noun="lines")
    settle(figure, [right])
    paint_network(right, picture, Appearance())
    return figure


def titled(title: str, names: str | Iterable[str], distance: int, left_out: int) -> str:
    """Return the title of a picture of surroundings."""
    listed = [names] if isinstance(names, str) else list(names)
    near = ", ".join(listed[:3]) + (f" and {len(listed) - 3} more" if len(listed) > 3 else "")
    more = f"; {left_out:,} variables with weaker edges are left out" if left_out else ""
    return f"{title}: within {distance} edge{'s' * (distance != 1)} of {near}{more}"


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
_SETTINGS: dict[str, tuple[str, ...]] = {  # of each kind; network has all
    "heatmap": ("groups", "labels", "threshold"),
    "centralities": ("groups", "labels"),
}


def draw(
    learned: Learned,
    path: str | os.PathLike[str] | None = None,
    *,
    kind: str = "network",
    title: str | None = None,
    seed: int = 0,
    look: Appearance | None = None,
) -> Figure:
    """Draw a learned network, and write the picture to a file if a path is given.

    Parameters
    ----------
    learned
        What `mnlearn.learn` returned.
    path
        Where to write; the extension tells the format: .png, .svg or .pdf. A file that is there is replaced.
    kind
        One of `KINDS`: network, heatmap, degrees, support, centralities, or stability for bootstrap frequencies. Of a
        large network, `network` draws the degrees and the hubs, and `heatmap` the hubs.
    title
        Above the picture; by default one line that says what was learned.
    seed
        For the layout: the same seed gives the same picture.
    look
        Groups, labels, layout, sizes, threshold and rings.

    Returns
    -------
    Figure
        A matplotlib figure; a notebook shows it.

    Raises
    ------
    UnknownNameError
        If there is no such kind.
    InputError
        If a setting does not fit the variables or the kind.
    FileError
        If the file cannot be written, or its extension is none of these.
    MissingDependencyError
        If matplotlib is not installed.
    """
    look = Appearance() if look is None else look
    check_name("kind of picture", kind, KINDS)
    if path is not None:
        check_picture_path(path)
    whole_number("seed", seed, least=0, hint="Leave it out for the usual layout.")
    _check_settings(kind, look)
    check_appearance(look, learned.names)
    words = drawable(str(learned) if title is None else str(title))
    figure = _drawn(learned, kind, words, seed, look)
    if path is not None:
        save_figure(figure, path)
    return figure


def draw_around(
    learned: Learned,
    path: str | os.PathLike[str] | None,
    names: str | Iterable[str],
    distance: int,
    **how: Any,
) -> Figure:
    """Draw the surroundings of some variables, as `draw` draws a network; beyond 300 variables, the strongest."""
    listed: str | list[str] = names if isinstance(names, str) else list(names)
    part, left_out = surroundings(learned, listed, distance)
    if how["title"] is None:
        how["title"] = titled(learned.method, listed, distance, left_out)
    how["look"] = how["look"].among(learned.names, part.names)
    return draw(part, path, **how)


def _drawn(learned: Learned, kind: str, title: str, seed: int, look: Appearance) -> Figure:
    """Draw one kind of picture; of a large network its hubs where each variable would be a node or a row."""
    if kind == "stability":
        return plot_stability(learned, title=title)
    if kind in ("degrees", "support"):
        return _PORTRAITS[kind](outline_of(learned), title=title)
    large = is_large(learned.graph)
    if large and kind == "centralities":
        raise InputError(
            f"kind 'centralities' needs the shortest paths of all pairs and is for at most {LARGE_VARIABLES:,} "
            f"variables; got {len(learned.names):,}. Draw a part of the network with around=..."
        )
    if large:
        check_overview(look, len(learned.names))
    if large and kind == "network":
        return plot_overview(learned, title=title, seed=seed)
    if large:
        learned, title = hub_excerpt(learned), f"{title} (the hubs and their strongest neighbours)"
    picture = figure_data_of(learned, seed, look)
    return _PORTRAITS[kind](picture, title=title, **({} if kind == "centralities" else {"look": look}))


def _check_settings(kind: str, look: Appearance) -> None:
    """Raise InputError for a setting that this kind of picture does not use."""
    if kind == "network":
        return
    known = _SETTINGS.get(kind, ())
    for name in look.given():
        if name not in known:
            accepted = f"accepts {', '.join(known)}" if known else "has no such settings"
            raise InputError(f"{name} is for the kind 'network'; got the kind {kind!r}, which {accepted}. Drop {name}.")
