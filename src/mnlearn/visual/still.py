"""Static pictures of a network as numbers for an SVG: for print, and for browsers without scripts."""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt

import numpy as np

from mnlearn.visual.figure_data import SIGN_COLORS, FigureData, shown_name
from mnlearn.visual.layout import fitting_labels

WIDTH = 1000.0  # of the drawing, in its own unit
_STATIC_NAMES_UP_TO = 60


@dataclass(frozen=True)
class Still:
    """Lines, points, cells and labels of one static picture."""

    width: float
    height: float
    lines: list[tuple[float, float, float, float, str, float, float]]  # two ends, colour, width, opacity
    points: list[tuple[float, float, float, str]]  # center, radius, colour
    texts: list[tuple[float, float, str, float, str, int]]  # place, text, size, anchor, turn in degrees
    cells: list[tuple[float, float, float, str, float]]  # corner, side, colour, opacity


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
    radius, font = (9.0, 15.0) if n <= 40 else (6.0, 12.0) if n <= 120 else (4.0, 9.0)
    edges, sure = picture.graph.edges, picture.relative()
    crowded = min(1.0, sqrt(150 / max(len(edges), 1)))
    lines = [
        (
            *at[u].tolist(),
            *at[v].tolist(),
            SIGN_COLORS[picture.sign((u, v))],
            (1.0 + 3.5 * s) * crowded,
            0.35 + 0.55 * s,
        )
        for (u, v), s in zip(edges, sure, strict=True)
    ]
    points = [(float(x), float(y), radius, picture.color(k)) for k, (x, y) in enumerate(at)]
    names = [shown_name(name) for name in picture.names]
    centers = at + np.array([0.0, radius + 0.7 * font])
    kept = fitting_labels(centers, names, font, picture.graph.degrees(), avoid=at)
    texts = [(float(at[k, 0]), float(at[k, 1] + radius + font), names[k], font, "middle", 0) for k in kept]
    return Still(WIDTH, float(height), lines, points, texts, [])


def still_heatmap(picture: FigureData) -> Still:
    """Return the static heat map, with names if they are readable."""
    n = picture.graph.n_variables
    named = n <= _STATIC_NAMES_UP_TO
    margin, side = (150.0, (WIDTH - 300.0) / n) if named else (10.0, (WIDTH - 20.0) / n)
    place = np.empty(n, dtype=np.int64)
    place[picture.order] = np.arange(n)
    cells = [
        (
            margin + side * float(place[b]),
            margin + side * float(place[a]),
            side,
            SIGN_COLORS[picture.sign(edge)],
            0.35 + 0.65 * float(s),
        )
        for edge, s in zip(picture.graph.edges, picture.relative(), strict=True)
        for a, b in (edge, edge[::-1])
    ]
    font = min(13.0, 0.8 * side)
    texts: list[tuple[float, float, str, float, str, int]] = []
    for k, x in enumerate(picture.order if named else ()):
        name, middle = shown_name(picture.names[x], 20), margin + side * (k + 0.5)
        texts += [
            (margin - 6, middle + font / 3, name, font, "end", 0),
            (middle + font / 3, margin - 6, name, font, "start", -90),
        ]
    return Still(2 * margin + side * n, 2 * margin + side * n - (margin - 10), [], [], texts, cells)
