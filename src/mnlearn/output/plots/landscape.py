"""The landscape of a score: every graph against its distance to one of them."""

from __future__ import annotations

import os
from collections.abc import Mapping

import numpy as np

from mnlearn.errors import InputError
from mnlearn.output.plots._canvas import new_figure, save_figure
from mnlearn.protocols import FloatArray, IntArray

_MOST_POINTS = 100_000  # beyond, only the band is drawn: points would hide each other and fill the file
_MARKERS = {"center": ("o", "tab:green"), "best": ("*", "tab:red")}
_OTHER_MARKERS = (("D", "tab:purple"), ("s", "tab:orange"), ("^", "tab:brown"), ("v", "tab:pink"))


def plot_landscape(
    path: str | os.PathLike[str],
    distances: IntArray,
    scores: FloatArray,
    *,
    marks: Mapping[str, tuple[int, float]] | None = None,
    title: str = "",
) -> None:
    """Draw the scores of graphs against their Hamming distance to one of them, as in [IBMAP14, Appendix].

    Parameters
    ----------
    path
        Where to write; the extension tells the format: .png, .svg or .pdf. A file that is there is replaced.
    distances, scores
        One entry per graph: `Landscape.distances`, `Landscape.scores`.
    marks
        Graphs to point out: distance and score by name. A structure that was learned is a diamond, as in the paper.
    title
        Above the figure.

    Raises
    ------
    InputError
        If the arrays do not fit together.
    FileError
        If the file cannot be written, or its extension is none of these.
    MissingDependencyError
        If matplotlib is not installed.

    Notes
    -----
    The band reaches from the lowest score at each distance to the highest, the darker one from quartile to
    quartile. Beyond 100,000 graphs the single points are left out.
    """
    if np.ndim(distances) != 1 or np.shape(distances) != np.shape(scores) or not len(distances):
        raise InputError(
            f"distances and scores must be lists of one length, at least 1; got the shapes {np.shape(distances)} and "
            f"{np.shape(scores)}. Take both from one Landscape."
        )
    figure = new_figure()
    axes = figure.add_subplot()
    at = np.unique(distances)
    bands = np.array([np.quantile(scores[distances == d], (0, 0.25, 0.5, 0.75, 1)) for d in at]).T
    axes.fill_between(at, bands[0], bands[4], color="tab:blue", alpha=0.12, linewidth=0)
    axes.fill_between(at, bands[1], bands[3], color="tab:blue", alpha=0.25, linewidth=0)
    axes.plot(at, bands[2], color="tab:blue", linewidth=1, label="median")
    if len(scores) <= _MOST_POINTS:
        axes.scatter(distances, scores, s=2, color="black", alpha=0.15, linewidths=0, rasterized=True)
    others = iter(_OTHER_MARKERS * (1 + len(marks or {})))
    for name, (distance, value) in (marks or {}).items():
        marker, color = _MARKERS[name] if name in _MARKERS else next(others)
        label = name.replace("$", r"\$")
        axes.plot(distance, value, marker, color=color, markersize=9, markeredgecolor="white", label=label)
    axes.set(xlabel="Hamming distance", ylabel="score (natural log)", title=title.replace("$", r"\$"))
    axes.legend(frameon=False)
    save_figure(figure, path)
