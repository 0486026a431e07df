"""Plots of experiments and of score landscapes."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from mnlearn.errors import InputError, check_name
from mnlearn.protocols import FloatArray, IntArray
from mnlearn.visual.canvas import check_picture_path, new_figure, plain_axes, save_figure
from mnlearn.visual.figure_data import GROUP_COLORS

_MARKS = "osD^vPX*<>"
_LABELS = {
    "hamming": "Hamming distance to the truth",
    "normalized_hamming": "wrong pairs, of all",
    "precision": "precision",
    "recall": "recall",
    "f1": "F",
    "seconds": "processor time (s)",
    "false_positives": "edges too many",
    "false_negatives": "edges missing",
}
_IN_LOGS = ("seconds",)


def plot_experiment(path: str | os.PathLike[str], rows: Iterable[Any], *, measure: str = "f1", title: str = "") -> None:
    """Draw the rows of an experiment: a measure against the number of rows, one line per learner, one panel per source.

    Parameters
    ----------
    path
        Where to write: .png, .svg or .pdf.
    rows
        What `mnlearn_papers.experiment.run_experiment` yields, or dicts with the keys of its table.
    measure
        Which column: f1, precision, recall, hamming, normalized_hamming, false_positives, false_negatives or seconds.
    title
        Above the figure.

    Raises
    ------
    InputError
        If there are no rows, or they have no such measure.

    Notes
    -----
    A line joins the means over the repetitions; the bars are one standard error to either side.
    """
    check_picture_path(path)
    table = [row if isinstance(row, Mapping) else row.tidy() for row in rows]
    if not table:
        raise InputError("rows must hold at least one result; got none. Run the experiment first.")
    check_name("measure", measure, [name for name in _LABELS if name in table[0]])
    sources, learners = (sorted({str(row[key]) for row in table}) for key in ("source", "learner"))
    figure = new_figure((1.5 + 4.2 * len(sources), 4.2))
    panels = figure.subplots(1, len(sources), squeeze=False, sharey=True)[0]
    for axes, source in zip(panels, sources, strict=True):
        for k, learner in enumerate(learners):
            mine = [row for row in table if (str(row["source"]), str(row["learner"])) == (source, learner)]
            sizes, means, errors = summarised(mine, measure)
            style = {"color": GROUP_COLORS[k % len(GROUP_COLORS)], "marker": _MARKS[k % len(_MARKS)]}
            axes.errorbar(sizes, means, errors, label=learner, markersize=5, linewidth=1.4, capsize=2, **style)
        plain_axes(axes).set_xscale("log")
        axes.set_title(source, parse_math=False, fontsize=10)
        axes.set_xlabel("rows")
        if measure in _IN_LOGS:
            axes.set_yscale("log")
    panels[0].set_ylabel(_LABELS[measure])
    handles, labels = panels[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside right upper", frameon=False)
    figure.suptitle(title, parse_math=False, x=0.01, ha="left")
    save_figure(figure, path)


def summarised(rows: Sequence[Mapping[str, Any]], measure: str) -> tuple[list[int], list[float], list[float]]:
    """Return sizes in ascending order, the mean at each, and its standard error (0 for one repetition)."""
    sizes = sorted({int(row["n_rows"]) for row in rows})
    values = [np.array([float(row[measure]) for row in rows if row["n_rows"] == size]) for size in sizes]
    errors = [float(v.std(ddof=1) / np.sqrt(len(v))) if len(v) > 1 else 0.0 for v in values]
    return sizes, [float(v.mean()) for v in values], errors


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
