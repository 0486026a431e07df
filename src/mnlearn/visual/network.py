"""Plots of a learned network: network, heat map, degrees, support, centralities and stability."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

import numpy as np

from mnlearn.errors import InputError, check_name, whole_number
from mnlearn.visual.appearance import Appearance, check_appearance
from mnlearn.visual.canvas import check_picture_path, drawable, new_figure, plain_axes, save_figure
from mnlearn.visual.degrees import plot_degrees
from mnlearn.visual.drawings import plot_network
from mnlearn.visual.figure_data import GROUP_COLORS, FigureData, figure_data_of
from mnlearn.visual.heatmap import plot_heatmap
from mnlearn.visual.large import (
    LARGE_VARIABLES,
    check_overview,
    hub_excerpt,
    is_large,
    outline_of,
    plot_overview,
    surroundings,
    titled,
)
from mnlearn.visual.samples import plot_centralities

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from mnlearn.results.learned import Learned


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
