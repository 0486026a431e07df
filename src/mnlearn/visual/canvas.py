"""Figures that belong to no window and no global state, and how they reach a file."""

from __future__ import annotations

import logging
import os
import re
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from mnlearn._atomic_files import replacing
from mnlearn.errors import FileError, check_path, require
from mnlearn.visual.figure_data import GROUP_COLORS, SIGN_COLORS, SIGN_WORDS, Portrait

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

FORMATS = (".png", ".svg", ".pdf")
_LACKING = re.compile(r"Glyph (\d+) .*missing from ")  # as matplotlib says it
_SHOWN = 12  # characters
_log = logging.getLogger("mnlearn.plots")

INK, FAINT = "#24292f", "#8b919a"


def new_figure(size: Sequence[float] = (7.0, 4.5)) -> Figure:
    """An empty figure, drawn without a screen."""
    require("matplotlib", "plot")
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(size[0], size[1]), layout="constrained")
    FigureCanvasAgg(figure)
    return figure


def plain_axes(axes: Axes) -> Axes:
    """Axes without the lines that say nothing."""
    axes.spines[["top", "right"]].set_visible(False)
    axes.tick_params(length=3, color=FAINT)
    return axes


def add_legend(figure: Figure, portrait: Portrait, *, noun: str) -> None:
    """What the colours mean, and what is wide or dark, below the picture of a network."""
    from matplotlib.lines import Line2D

    signs = sorted({portrait.sign(edge) for edge in portrait.graph.edges}, reverse=True)
    handles = [Line2D([], [], color=SIGN_COLORS[sign], linewidth=2.5, label=SIGN_WORDS[sign]) for sign in signs]
    if not any(signs):
        handles = []
    if portrait.measures and portrait.graph.n_edges > 1:
        label = f"{'wider and darker' if noun == 'lines' else 'darker'}: higher {portrait.measures[0].label}"
        handles.append(Line2D([], [], color=FAINT, linewidth=4.0, label=label))
    if noun == "lines" and portrait.groups.max(initial=-1) > 0:
        label = "points of one colour hang together"
        handles.append(Line2D([], [], linestyle="", marker="o", color=GROUP_COLORS[0], label=label))
    if handles:
        columns = len(handles) if figure.get_figwidth() > 9.5 else 2
        figure.legend(handles=handles, loc="outside lower center", ncols=columns, frameon=False, fontsize=8.5)


def check_picture_path(path: str | os.PathLike[str], argument: str = "path") -> Path:
    """The path of a picture; refused if its extension is none that can be drawn."""
    check_path(argument, path)
    target = Path(path)
    if target.suffix.lower() not in FORMATS:
        raise FileError(f"{argument} must end in {', '.join(FORMATS)}; got {os.fspath(path)!r}. Choose one of them.")
    return target


def save_figure(figure: Figure, path: str | os.PathLike[str]) -> None:
    """Write a figure under a temporary name, then rename, so that nothing half-written stays."""
    import matplotlib as mpl

    target = check_picture_path(path)
    usual = mpl.rc_context({"svg.hashsalt": "mnlearn"})  # else clips are named by lot in an SVG
    try:
        with replacing(target) as part, usual, _glyphs_said_once():
            figure.savefig(part, dpi=150, metadata=_no_date(target.suffix.lower()))
    except OSError as error:
        raise FileError(f"{os.fspath(path)!r} cannot be written: {error.strerror or error}.") from error


@contextmanager
def _glyphs_said_once() -> Iterator[None]:
    """One line of the log for all characters that the font lacks, where matplotlib warns of each and of each again."""
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
    """Leave out when a figure was drawn: the same data give the same file."""
    return {".svg": {"Date": None}, ".pdf": {"CreationDate": None}}.get(suffix, {})
