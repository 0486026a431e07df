"""Matplotlib figures without a window or global state: axes, legend, and writing to a file."""

from __future__ import annotations

import logging
import os
import re
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from mnlearn._atomic_files import replacing, write_errors
from mnlearn.errors import FileError, check_path, require
from mnlearn.visual.figure_data import GROUP_COLORS, SIGN_COLORS, SIGN_WORDS, FigureData

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

FORMATS = (".png", ".svg", ".pdf")
_LACKING = re.compile(r"Glyph (\d+) .*missing from ")  # as matplotlib says it
_SHOWN = 12  # characters
_log = logging.getLogger("mnlearn.plots")

INK, FAINT = "#24292f", "#8b919a"


def new_figure(size: Sequence[float] = (7.0, 4.5)) -> Figure:
    """Return an empty figure that needs no screen."""
    require("matplotlib", "plot")
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(size[0], size[1]), layout="constrained")
    FigureCanvasAgg(figure)
    return figure


def plain_axes(axes: Axes) -> Axes:
    """Remove the top and right spines of the axes and return them."""
    axes.spines[["top", "right"]].set_visible(False)
    axes.tick_params(length=3, color=FAINT)
    return axes


def add_legend(figure: Figure, picture: FigureData, *, noun: str) -> None:
    """Add a legend for colours and widths below the picture of a network."""
    from matplotlib.lines import Line2D

    signs = sorted({picture.sign(edge) for edge in picture.graph.edges}, reverse=True)
    handles = [Line2D([], [], color=SIGN_COLORS[sign], linewidth=2.5, label=SIGN_WORDS[sign]) for sign in signs]
    if not any(signs):
        handles = []
    if picture.measures and picture.graph.n_edges > 1:
        label = f"{'wider and darker' if noun == 'lines' else 'darker'}: higher {picture.measures[0].label}"
        handles.append(Line2D([], [], color=FAINT, linewidth=4.0, label=label))
    if noun == "lines" and picture.groups.max(initial=-1) > 0:
        label = "one colour: one community"
        handles.append(Line2D([], [], linestyle="", marker="o", color=GROUP_COLORS[0], label=label))
    if handles:
        columns = len(handles) if figure.get_figwidth() > 9.5 else 2
        figure.legend(handles=handles, loc="outside lower center", ncols=columns, frameon=False, fontsize=8.5)


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
