"""A picture of a learned network, by the name of its kind."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import TYPE_CHECKING

from mnlearn.errors import check_name, whole_number
from mnlearn.output.plots._canvas import check_picture_path, save_figure
from mnlearn.output.plots.distributions import plot_centralities, plot_degrees, plot_stability, plot_support
from mnlearn.output.plots.matrix import plot_heatmap
from mnlearn.output.plots.network import plot_network
from mnlearn.output.portrait import portray

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from mnlearn.output.learned import Learned

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
    """Draw a learned network, and write the picture to a file if one is named.

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
    whole_number("seed", seed, least=0, way_out="Leave it out for the usual layout.")
    words = str(learned) if title is None else title
    if kind == "stability":
        figure = plot_stability(learned, title=words)
    else:
        figure = _PORTRAITS[kind](portray(learned, seed), title=words)
    if path is not None:
        save_figure(figure, path)
    return figure
