"""Times of learners as tables of a page and as a chart: seconds against the number of variables, both logarithmic.

The chart is text (SVG), needs no plotting library and is the same on every machine.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from html import escape
from math import ceil, floor, isfinite, log10, nan
from typing import NamedTuple, TypeAlias

from mnlearn_papers.learners import Timing
from mnlearn_papers.peers import CONTINUOUS, DISCRETE
from mnlearn_papers.reproduction import Comparison

Curve: TypeAlias = Mapping[int, float]  # seconds by number of variables

PANEL_WIDTH, PANEL_HEIGHT, COLUMNS = 400, 280, 2
LEFT, RIGHT, TOP, BOTTOM = 56, 14, 34, 40  # of a panel, around its axes
HEADER, LEGEND, STEP, COLUMN = 44, 20, 20, 200
COLORS = ("#c0392b", "#2f6690", "#2a7f62", "#c98a1b", "#7d4e9e", "#1a1a1a", "#d4699d", "#6b7f3a", "#8c5a3c", "#4aa3a2")


def figures(lines: Iterable[Timing]) -> list[Comparison]:
    """Return the seconds and the errors of each line as figures of a page; a learner without an end has no errors."""
    found = []
    for line in lines:
        common = line.data, line.n_rows
        seconds = nan if line.outcome.startswith("failed") else line.seconds
        found.append(Comparison(*common, f"{line.learner} seconds", None, seconds, nan, 1, None, line.seconds))
        if line.hamming is not None:
            found.append(Comparison(*common, f"{line.learner} errors", None, line.hamming, nan, 1, None, line.seconds))
    return found


def draw_times(lines: Iterable[Timing]) -> str:
    """Return an SVG with one panel for each kind of data; lines of other packages are dashed.

    Parameters
    ----------
    lines
        The times. Kinds with a single size are left out, and learners that did not end.
    """
    panels = _curves(lines)
    learners = list(dict.fromkeys(name for curves in panels.values() for name in curves))
    styles = _styles(learners)
    rows, width = -(-len(panels) // COLUMNS), COLUMNS * PANEL_WIDTH
    legend_top = HEADER + rows * PANEL_HEIGHT
    height = legend_top + LEGEND + STEP * -(-len(learners) // (width // COLUMN))
    title = "CPU seconds of one thread against the number of variables (both logarithmic)"
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" '
        'font-family="sans-serif" font-size="12">',
        f"<title>{escape(title)}</title>",
        f'<rect width="{width}" height="{height}" rx="6" fill="#ffffff"/>',
        f'<text x="14" y="26" font-size="15" font-weight="bold" fill="#222222">{escape(title)}</text>',
    ]
    for k, (kind, curves) in enumerate(panels.items()):
        place = k % COLUMNS * PANEL_WIDTH, HEADER + k // COLUMNS * PANEL_HEIGHT
        parts += [f'<g transform="translate({place[0]},{place[1]})">', *_panel(kind, curves, styles), "</g>"]
    for k, (name, style) in enumerate(styles.items()):
        x, y = 14 + k % (width // COLUMN) * COLUMN, legend_top + 14 + k // (width // COLUMN) * STEP
        parts.append(f'<line x1="{x}" y1="{y - 4}" x2="{x + 28}" y2="{y - 4}" {style.stroke}/>')
        parts.append(f'<text x="{x + 34}" y="{y}" fill="#333333">{escape(name)}</text>')
    return "\n".join([*parts, "</svg>"]) + "\n"


class _Style(NamedTuple):
    """The look of the line of a learner."""

    color: str
    solid: bool

    @property
    def stroke(self) -> str:
        """Return the attributes of a line."""
        dash = "" if self.solid else ' stroke-dasharray="6 3"'
        return f'stroke="{self.color}" stroke-width="2" fill="none"{dash}'


def _styles(learners: Iterable[str]) -> dict[str, _Style]:
    """Return the look of each learner; colors are repeated only between ours and those of other packages."""
    peers = {*DISCRETE, *CONTINUOUS}
    ordered = sorted(learners, key=peers.__contains__)
    n_ours = sum(name not in peers for name in ordered)
    places = [*range(n_ours), *range(len(ordered) - n_ours)]
    return {name: _Style(COLORS[k % len(COLORS)], name not in peers) for name, k in zip(ordered, places, strict=True)}


def _curves(lines: Iterable[Timing]) -> dict[str, dict[str, dict[int, float]]]:
    """Return the times by kind, learner and number of variables, of the kinds with several sizes."""
    found: dict[str, dict[str, dict[int, float]]] = {}
    for line in lines:
        if isfinite(line.seconds):
            found.setdefault(line.kind, {}).setdefault(line.learner, {})[line.n_variables] = max(line.seconds, 1e-6)
    return {kind: curves for kind, curves in found.items() if len({n for curve in curves.values() for n in curve}) > 1}


def _panel(kind: str, curves: Mapping[str, Curve], styles: Mapping[str, _Style]) -> list[str]:
    """Return one panel: axes with ticks, then a line with points for each learner."""
    sizes = sorted({n for curve in curves.values() for n in curve})
    times = [seconds for curve in curves.values() for seconds in curve.values()]
    low, high = floor(log10(min(times))), ceil(log10(max(times)))
    high = max(high, low + 1)
    across, up = PANEL_WIDTH - LEFT - RIGHT, PANEL_HEIGHT - TOP - BOTTOM

    def point(n: int, seconds: float) -> tuple[float, float]:
        x = (log10(n) - log10(sizes[0])) / (log10(sizes[-1]) - log10(sizes[0]))
        y = (log10(seconds) - low) / (high - low)
        return LEFT + 10 + (across - 20) * x, TOP + up * (1 - y)

    parts = [f'<text x="{LEFT}" y="{TOP - 10}" font-weight="bold" fill="#222222">{escape(kind)}</text>']
    for power in range(low, high + 1):
        y = point(sizes[0], 10.0**power)[1]
        parts.append(f'<line x1="{LEFT}" y1="{y:.1f}" x2="{LEFT + across}" y2="{y:.1f}" stroke="#dddddd"/>')
        label = f"{10.0**power:g} s" if power >= -3 else f"{10 ** (power + 6)} µs"
        parts.append(f'<text x="{LEFT - 6}" y="{y + 4:.1f}" text-anchor="end" fill="#555555">{label}</text>')
    for n in sizes:
        x = point(n, 1.0)[0]
        parts.append(f'<text x="{x:.1f}" y="{TOP + up + 18}" text-anchor="middle" fill="#555555">{n:,}</text>')
    for name, curve in curves.items():
        parts += _line([point(n, curve[n]) for n in sorted(curve)], name, styles[name])
    return parts


def _line(points: Sequence[tuple[float, float]], name: str, style: _Style) -> list[str]:
    """Return the line of a learner; its name is shown where the mouse rests on it."""
    joined = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
    fill = style.color if style.solid else "#ffffff"
    dots = [f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3" fill="{fill}" stroke="{style.color}"/>' for x, y in points]
    return ["<g>", f"<title>{escape(name)}</title>", f'<polyline points="{joined}" {style.stroke}/>', *dots, "</g>"]
