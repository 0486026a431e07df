"""Static pictures of a network as SVG: for print, for browsers without scripts, and for notebooks."""

from __future__ import annotations

from dataclasses import dataclass, field
from html import escape
from math import sqrt

import numpy as np

from mnlearn.visual.figure_data import NO_GROUP_COLOR, SIGN_COLORS, FigureData
from mnlearn.visual.heatmap import cell_size, side_names
from mnlearn.visual.layout import fitting_labels
from mnlearn.visual.report_figures import NAMED_UP_TO

WIDTH = 1000.0  # of the drawing, in its own unit


@dataclass(frozen=True)
class Still:
    """Lines, points, cells and labels of one static picture."""

    width: float
    height: float
    lines: list[tuple[float, float, float, float, str, float, float]]  # two ends, colour, width, opacity
    points: list[tuple[float, float, float, str]]  # center, radius, colour
    texts: list[tuple[float, float, str, float, str, int]]  # place, text, size, anchor, turn in degrees
    cells: list[tuple[float, float, float, str, float]]  # corner, side, colour, opacity
    frames: list[tuple[float, float, float]] = field(default_factory=list)  # corner, side

    def svg(self, label: str) -> str:
        """Return the picture as an SVG element; label and texts are escaped."""
        parts = [
            f'<rect x="{x:.2f}" y="{y:.2f}" width="{side:.2f}" height="{side:.2f}" fill="{color}" '
            f'fill-opacity="{alpha:.2f}"/>'
            for x, y, side, color, alpha in self.cells
        ]
        parts += [
            f'<rect x="{x:.2f}" y="{y:.2f}" width="{side:.2f}" height="{side:.2f}" fill="none" '
            f'stroke="{NO_GROUP_COLOR}" stroke-width="1.5"/>'
            for x, y, side in self.frames
        ]
        parts += [
            f'<line x1="{x0:.1f}" y1="{y0:.1f}" x2="{x1:.1f}" y2="{y1:.1f}" stroke="{color}" '
            f'stroke-width="{width:.2f}" stroke-opacity="{alpha:.2f}" stroke-linecap="round"/>'
            for x0, y0, x1, y1, color, width, alpha in self.lines
        ]
        parts += [
            f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{radius:g}" fill="{color}" stroke="white"/>'
            for x, y, radius, color in self.points
        ]
        for x, y, text, size, anchor, turn in self.texts:
            turned = f' transform="rotate({turn} {x:.1f} {y:.1f})"' if turn else ""
            parts.append(
                f'<text x="{x:.1f}" y="{y:.1f}" font-size="{size:.1f}" text-anchor="{anchor}" fill="currentColor"'
                f"{turned}>{escape(text)}</text>"
            )
        head = f'<svg viewBox="0 0 {self.width:.1f} {self.height:.1f}" role="img" aria-label="{escape(label)}"'
        return "\n".join([f'{head} xmlns="http://www.w3.org/2000/svg">', *parts, "</svg>"])


def still_network(picture: FigureData) -> Still:
    """Return the static network with as many names as fit."""
    low, high = picture.positions.min(axis=0), picture.positions.max(axis=0)
    span = np.maximum(high - low, 0.5)
    scale = min((WIDTH - 140) / span[0], (0.8 * WIDTH - 70) / span[1], 160.0)
    height = span[1] * scale + 70
    at = np.stack(
        [
            (picture.positions[:, 0] - (low + high)[0] / 2) * scale + WIDTH / 2,
            (high[1] - picture.positions[:, 1]) * scale + 25,
        ],
        axis=1,
    )
    n = len(at)
    radius, font = (10.0, 18.0) if n <= 40 else (6.0, 12.0) if n <= 120 else (4.0, 9.0)
    edges, strength, sure = picture.graph.edges, picture.strength(), picture.opacity()
    crowded = min(1.0, sqrt(150 / max(len(edges), 1)))
    lines = [
        (
            *at[u].tolist(),
            *at[v].tolist(),
            SIGN_COLORS[picture.sign((u, v))],
            (0.8 + 5.2 * wide) * crowded,
            0.25 + 0.65 * dark,
        )
        for (u, v), wide, dark in zip(edges, strength, sure, strict=True)
    ]
    points = [(float(x), float(y), radius, picture.color(k)) for k, (x, y) in enumerate(at)]
    names = [picture.text(x) for x in range(n)]
    centers = at + np.array([0.0, radius + 0.7 * font])
    kept = fitting_labels(centers, names, font, picture.graph.degrees(), avoid=at)
    texts = [(float(at[k, 0]), float(at[k, 1] + radius + font), names[k], font, "middle", 0) for k in kept]
    return Still(WIDTH, float(height), lines, points, texts, [])


def still_heatmap(picture: FigureData) -> Still:
    """Return the static heat map, with names of the variables, or of the groups if there are many variables."""
    n = picture.graph.n_variables
    margin, side = 150.0, (WIDTH - 300.0) / n
    place = np.empty(n, dtype=np.int64)
    place[picture.order] = np.arange(n)
    large = cell_size(n)
    corner = margin - side * (large - 1) / 2
    cells = [
        (
            corner + side * float(place[b]),
            corner + side * float(place[a]),
            side * large,
            SIGN_COLORS[picture.sign(edge)],
            0.3 + 0.7 * float(s),
        )
        for edge, s in zip(picture.graph.edges, picture.strength(), strict=True)
        for a, b in (edge, edge[::-1])
    ]
    places, names = side_names(picture, NAMED_UP_TO)
    font = min(13.0, 0.8 * side) if len(names) == n else 13.0
    texts: list[tuple[float, float, str, float, str, int]] = []
    for at, name in zip(places, names, strict=True):
        middle = margin + side * at + font / 3
        texts += [(margin - 6, middle, name, font, "end", 0), (middle, margin - 6, name, font, "start", -90)]
    frames = [(margin + side * first, margin + side * first, side * size) for first, size, _ in picture.blocks()]
    return Still(WIDTH, WIDTH - (margin - 10), [], [], texts, cells, frames)
