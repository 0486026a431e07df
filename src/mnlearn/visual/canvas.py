"""Matplotlib figures without a window or global state: axes, legend, and writing to a file.

The degree distribution of a network.
"""

from __future__ import annotations

import logging
import os
import re
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from mnlearn.errors import FileError, check_path, require
from mnlearn.files import replacing, write_errors
from mnlearn.protocols import IntArray
from mnlearn.visual.figure_data import GROUP_COLORS, SIGN_COLORS, SIGN_WORDS, FigureData, strongest

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


FORMATS = (".png", ".svg", ".pdf")
_LACKING = re.compile(r"Glyph (\d+) .*missing from ")  # as matplotlib says it
_SHOWN = 12  # characters
_NOTEBOOK_DPI = 110
_log = logging.getLogger("mnlearn.plots")

INK, FAINT = "#24292f", "#8b919a"


def new_figure(size: Sequence[float] = (7.0, 4.5)) -> Figure:
    """Return an empty figure that needs no screen and that a notebook shows."""
    require("matplotlib", "plot")
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    figure = _figure_class()(figsize=(size[0], size[1]), layout="constrained")
    FigureCanvasAgg(figure)
    return figure


@cache
def _figure_class() -> type[Figure]:
    """Return a class of figures with a rich display; matplotlib has one only for figures of pyplot."""
    from matplotlib.figure import Figure

    class NetworkFigure(Figure):
        def _repr_png_(self) -> bytes:
            """Return the picture as PNG, which notebooks show."""
            found = BytesIO()
            with _glyphs_said_once():
                self.savefig(found, format="png", dpi=_NOTEBOOK_DPI)
            return found.getvalue()

    return NetworkFigure


def plain_axes(axes: Axes) -> Axes:
    """Remove the top and right spines of the axes and return them."""
    axes.spines[["top", "right"]].set_visible(False)
    axes.tick_params(length=3, color=FAINT)
    return axes


def add_legend(
    figure: Figure, picture: FigureData, *, noun: str, rings: str | None = None, threshold: float | None = None
) -> None:
    """Add a legend below the picture of a network: colours, widths and opacity; groups with names to its right."""
    from matplotlib.lines import Line2D

    signs = sorted({picture.sign(edge) for edge in picture.graph.edges}, reverse=True)
    handles = [Line2D([], [], color=SIGN_COLORS[sign], linewidth=2.5, label=SIGN_WORDS[sign]) for sign in signs]
    if not any(signs):
        handles = []
    for width, label in _scales(picture, noun, threshold):
        handles.append(Line2D([], [], color=FAINT, linewidth=width, label=label))
    if rings is not None:
        label = f"ring: {rings}, full circle for 1"
        handles.append(Line2D([], [], linestyle="", marker="o", fillstyle="none", color=INK, label=label))
    if noun == "lines" and picture.groups.max(initial=-1) > 0 and not picture.group_names:
        label = "one colour: one community"
        handles.append(Line2D([], [], linestyle="", marker="o", color=GROUP_COLORS[0], label=label))
    if handles:
        columns = len(handles) if figure.get_figwidth() > 11 else 3 if figure.get_figwidth() > 7 else 2
        figure.legend(handles=handles, loc="outside lower center", ncols=columns, frameon=False, fontsize=8.5)
    if picture.group_names:
        add_group_legend(figure, picture)


def _scales(picture: FigureData, noun: str, threshold: float | None) -> list[tuple[float, str]]:
    """Return the widths and the words of the legend for the strength and the confidence of edges."""
    found: list[tuple[float, str]] = []
    more, weights, measure = "wider" if noun == "lines" else "darker", picture.weights, picture.confidence()
    if picture.graph.n_edges > 1 and weights is not None:
        full = strongest(weights) if picture.widest is None else picture.widest
        found.append((4.5, f"{more}: larger |{weights.measure}|, up to {full:.2g}"))
        if measure is not None and noun == "lines":
            found.append((1.5, f"more opaque: higher {measure.label}"))
    elif picture.graph.n_edges > 1 and measure is not None:
        found.append((4.0, f"{'wider and darker' if noun == 'lines' else 'darker'}: higher {measure.label}"))
    if threshold is not None:
        found.append(
            (0.0, f"|weight| below {threshold:g} not drawn: {picture.hidden} edge{'s' * (picture.hidden != 1)}")
        )
    return found


def add_group_legend(figure: Figure, picture: FigureData) -> None:
    """Add the names of the groups with their colours to the right of the picture."""
    from matplotlib.lines import Line2D

    handles = [
        Line2D([], [], linestyle="", marker="o", markersize=9, color=color, label=drawable(name)[:40])
        for color, name in picture.group_legend()
    ]
    legend = figure.legend(handles=handles, loc="outside right upper", frameon=False, fontsize=9.5)
    for text in legend.get_texts():
        text.set_parse_math(False)


def drawable(text: str) -> str:
    """Return the text with halves of characters escaped, which no font draws."""
    return text.encode("utf-8", "backslashreplace").decode("utf-8")


def check_picture_path(path: str | os.PathLike[str], argument: str = "path") -> Path:
    """Return the path of a picture, or raise FileError for an unknown extension."""
    check_path(argument, path)
    target = Path(path)
    if target.suffix.lower() not in FORMATS:
        raise FileError(f"{argument} must end in {', '.join(FORMATS)}; got {os.fspath(path)!r}. Choose one of them.")
    return target


def save_figure(figure: Figure, path: str | os.PathLike[str]) -> None:
    """Write a figure under a temporary name, then rename it, so that no partial file is left."""
    import matplotlib as mpl

    target = check_picture_path(path)
    usual = mpl.rc_context({"svg.hashsalt": "mnlearn"})  # else clips are named by lot in an SVG
    with write_errors(path), replacing(target) as part, usual, _glyphs_said_once():
        figure.savefig(part, dpi=150, metadata=_no_date(target.suffix.lower()))


def svg_of(draw: Callable[[], Figure]) -> bytes:
    """Draw a figure and return it as SVG."""
    import matplotlib as mpl

    found = BytesIO()
    with mpl.rc_context({"svg.hashsalt": "mnlearn"}), _glyphs_said_once():
        draw().savefig(found, format="svg", metadata=_no_date(".svg"))
    return found.getvalue()


@contextmanager
def _glyphs_said_once() -> Iterator[None]:
    """Log missing characters of the font in one line instead of a warning for each."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        yield
    lacking = dict.fromkeys(found[1] for w in caught if (found := _LACKING.match(str(w.message))))
    if lacking:
        characters = "".join(chr(int(code)) for code in lacking)
        shown = characters[:_SHOWN] + ("..." if len(characters) > _SHOWN else "")
        _log.warning(
            "the font of the picture lacks %s: boxes stand there. Set another (matplotlib's font.family)", shown
        )
    for w in caught:
        if not _LACKING.match(str(w.message)):
            warnings.warn_explicit(w.message, w.category, w.filename, w.lineno)


def _no_date(suffix: str) -> dict[str, None]:
    """Return metadata without the date, so that equal data give equal files."""
    return {".svg": {"Date": None}, ".pdf": {"CreationDate": None}}.get(suffix, {})


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
