"""Chart of the accuracy battery: of every learner the errors relative to the best one, over all cells, sorted.

A cell is a kind of network and a number of rows. The chart is text (SVG), needs no plotting library and is the same on
every machine.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from html import escape
from math import exp, log
from statistics import fmean, median

from mnlearn.errors import InputError
from mnlearn_papers.accuracy_page import is_other
from mnlearn_papers.experiment import Row

WIDTH, LEFT, RIGHT, TOP, BAND, GAP, BOTTOM = 880, 80, 214, 84, 40, 12, 44
MARKS, CEILING = (2.0, 3.0), 5.0
"""Lines of the scale, and where bands are cut off."""
OURS, OTHERS = "#c0392b", "#2f6690"


def profiles(rows: Iterable[Row], reference: str = "sep") -> dict[str, list[float]]:
    """Return the ratios of each learner to the best in each cell, sorted; the best learner first.

    Parameters
    ----------
    rows
        Results of the battery. Learners that did not run on all data sets of the reference are left out, and so are
        its variants, such as "sep-fast".
    reference
        The learner whose data sets are the cells.

    Returns
    -------
    dict
        By learner (mean errors + 1) / (mean errors of the best + 1) of all cells, ascending. Learners are sorted by the
        geometric mean.

    Examples
    --------
    >>> rows = [Row("path", 100, d, name, h, 0, h, 0.1) for d in (0, 1) for name, h in (("sep", 1), ("mpl", 3 + d))]
    >>> profiles(rows)
    {'sep': [1.0], 'mpl': [2.25]}
    """
    errors: dict[str, dict[tuple[str, int], dict[int, int]]] = {}
    for row in rows:
        errors.setdefault(row.learner, {}).setdefault((row.source, row.n_rows), {})[row.repetition] = row.hamming
    if reference not in errors:
        raise InputError(f"rows must have results of {reference!r}; got none. Run it, or name another reference.")
    cells = errors[reference]
    means = {
        name: {cell: fmean(mine[cell][draw] for draw in cells[cell]) for cell in cells}
        for name, mine in errors.items()
        if name == reference or is_other(name, reference)
        if all(draws.keys() <= mine.get(cell, {}).keys() for cell, draws in cells.items())
    }
    best = {cell: min(mine[cell] for mine in means.values()) for cell in cells}
    found = {name: sorted((mine[cell] + 1) / (best[cell] + 1) for cell in cells) for name, mine in means.items()}
    return dict(sorted(found.items(), key=lambda item: _average(item[1])))


def draw_profiles(rows: Iterable[Row], reference: str = "sep") -> str:
    """Return an SVG with one band for each learner: its ratios to the best learner of each cell, sorted.

    Parameters
    ----------
    rows, reference
        As for `profiles`.
    """
    found = profiles(rows, reference)
    height = TOP + (BAND + GAP) * len(found) + BOTTOM
    title = "Errors of every method relative to the best one"
    said = (
        f"All {len(found[reference])} cells (a kind of network and a number of rows), sorted from left to right.",
        f"Height: (errors + 1) / (errors of the best method + 1), logarithmic, cut at {CEILING:g}. Flat is best.",
    )
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" height="{height}" '
        'font-family="sans-serif" font-size="13">',
        f"<title>{escape(title)}</title>",
        f'<rect width="{WIDTH}" height="{height}" rx="6" fill="#ffffff"/>',
        f'<text x="14" y="26" font-size="15" font-weight="bold" fill="#222222">{escape(title)}</text>',
        *(_text(14, 46 + 17 * k, line, "#555555") for k, line in enumerate(said)),
    ]
    for k, (name, ratios) in enumerate(found.items()):
        base = TOP + (BAND + GAP) * (k + 1) - GAP
        parts += _band(name, ratios, base, OURS if name == reference else OTHERS)
    return "\n".join([*parts, *_shares(height - BOTTOM), "</svg>"]) + "\n"


def _band(name: str, ratios: Sequence[float], base: float, color: str) -> list[str]:
    """Return one band: lines of the scale, the sorted ratios as an area, the name before and the figures behind."""
    across = WIDTH - LEFT - RIGHT
    parts = []
    for mark in MARKS:
        y = base - _up(mark)
        parts.append(f'<line x1="{LEFT}" y1="{y:.1f}" x2="{LEFT + across}" y2="{y:.1f}" stroke="#dddddd"/>')
        parts.append(_text(LEFT + across + 4, y + 3, f"{mark:g}×", "#999999", size=9))
    step = across / len(ratios)
    corners = [f"M{LEFT},{base}"]
    for k, ratio in enumerate(ratios):
        corners.append(f"V{base - max(1.0, _up(ratio)):.1f}H{LEFT + step * (k + 1):.1f}")
    mean, middle = _average(ratios), median(ratios)
    figures = f"mean {mean:.2f}, median {middle:.2f}"
    return [
        *parts,
        f'<path d="{"".join(corners)}V{base}Z" fill="{color}"><title>{escape(name)}</title></path>',
        f'<line x1="{LEFT}" y1="{base}" x2="{LEFT + across}" y2="{base}" stroke="{color}"/>',
        _text(LEFT - 8, base - 2, name, "#222222", anchor="end", weight="bold"),
        _text(LEFT + across + 36, base - 2, figures, "#333333"),
    ]


def _shares(top: float) -> list[str]:
    """Return the scale below all bands: shares of the cells."""
    across = WIDTH - LEFT - RIGHT
    places = {share: LEFT + across * share / 100 for share in range(0, 101, 25)}
    ticks = [_text(x, top + 14, f"{share} %", "#555555", anchor="middle") for share, x in places.items()]
    return [*ticks, _text(LEFT + across / 2, top + 32, "share of the cells", "#555555", anchor="middle")]


def _text(x: float, y: float, text: str, color: str, **style: str | int) -> str:
    """Return a line of text; `anchor`, `weight` and `size` as in SVG."""
    names: Mapping[str, str] = {"anchor": "text-anchor", "weight": "font-weight", "size": "font-size"}
    more = "".join(f' {names[key]}="{value}"' for key, value in style.items())
    return f'<text x="{x:.1f}" y="{y:.1f}" fill="{color}"{more}>{escape(text)}</text>'


def _up(ratio: float) -> float:
    """Return the height of a ratio in its band."""
    return BAND * log(min(ratio, CEILING)) / log(CEILING)


def _average(ratios: Sequence[float]) -> float:
    """Return the geometric mean."""
    return exp(fmean(log(ratio) for ratio in ratios))
