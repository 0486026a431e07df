"""Interactive Bokeh pictures of the report: network and heat map.

Bokeh draws them on a canvas, pans, zooms and handles clicks. What a click does, what the pointer shows, which names and
edges are drawn is up to the page's own script, which knows the parts by their names: `nodes`, `edges`, `labels`.

Static pictures of a network as SVG: for print, for browsers without scripts, and for notebooks.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from html import escape
from itertools import count
from math import sqrt
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from mnlearn.visual.drawings import cell_size, side_names
from mnlearn.visual.figure_data import NO_GROUP_COLOR, SIGN_COLORS, FigureData
from mnlearn.visual.layout import fitting_labels

HEIGHT = 620  # pixels
NAMED_UP_TO = 60  # variables of the heat map


def bokeh_script() -> str:
    """Return the JavaScript of the installed Bokeh package; nothing is downloaded."""
    from bokeh.settings import settings

    return (Path(settings.bokehjs_path()) / "js" / "bokeh.min.js").read_bytes().decode("utf-8")


def network_item(picture: FigureData) -> dict[str, Any]:
    """Return the network for `Bokeh.embed.embed_item`."""
    plot = _Plot("network")
    nodes = plot.source(_node_columns(picture), name="nodes")
    plot.draw(
        "Segment",
        plot.source(_edge_columns(picture), name="edges"),
        {name: name for name in ("x0", "y0", "x1", "y1")}
        | {"line_width": "width", "line_color": "color", "line_alpha": "alpha"},
        {"line_cap": "round"},
        view=plot.filtered("edge_filter", list(range(picture.graph.n_edges))),
    )
    points = plot.draw(
        "Scatter",
        nodes,
        {"x": "x", "y": "y", "size": "size", "fill_color": "color", "fill_alpha": "alpha", "line_alpha": "alpha"},
        {"line_color": "white", "line_width": 1.2},
    )
    plot.draw(
        "Text",
        _reference(nodes),
        {"x": "x", "y": "y", "text": "label", "y_offset": "below", "text_alpha": "alpha"},
        {
            "text_color": "black",
            "text_align": "center",
            "text_baseline": "top",
            "text_font_size": "13px",
            "background_fill_color": "white",
            "background_fill_alpha": 0.7,
        },
        view=plot.filtered("label_filter", []),
        name="labels",
    )
    return plot.item(tools=[plot.model("TapTool", renderers=[_reference(points)])])


def heatmap_item(picture: FigureData) -> dict[str, Any]:
    """Return the heat map for `Bokeh.embed.embed_item`: two cells per edge, rows from the top down."""
    n = picture.graph.n_variables
    plot = _Plot("heatmap")
    twice, side = _cell_columns(picture), cell_size(n)
    plot.draw(
        "Quad",
        plot.source({"left": [0], "right": [n], "bottom": [-n], "top": [0]}),
        {side: side for side in ("left", "right", "bottom", "top")},
        {"fill_color": "#8b919a", "fill_alpha": 0.08, "line_color": "#8b919a", "line_alpha": 0.5},
        level="underlay",
    )
    plot.draw(
        "Rect",
        plot.source(twice, name="cells"),
        {"x": "x", "y": "y", "fill_color": "color", "fill_alpha": "alpha"},
        {"width": side, "height": side, "line_color": "#8b919a", "line_alpha": 0.25 if n <= NAMED_UP_TO else 0.0},
        view=plot.filtered("cell_filter", list(range(len(twice["x"])))),
    )
    plot.draw(
        "Quad",
        plot.source(_block_columns(picture)),
        {side: side for side in ("left", "right", "bottom", "top")},
        {"fill_alpha": 0.0, "line_color": "#8b919a", "line_width": 1.5},
    )
    places, names = side_names(picture, NAMED_UP_TO)
    room = 0.3 if n <= NAMED_UP_TO else 0.005 * n
    fields = {"x": "x", "y": "y", "text": "text"}
    style = {"text_color": "black", "text_font_size": "11px", "text_baseline": "middle"}
    left = plot.source({"x": [-room] * len(names), "y": [-place for place in places], "text": names})
    above = plot.source({"x": places, "y": [room] * len(names), "text": names})
    turned = {"angle": float(np.pi / 2), "text_align": "left"}
    plot.draw("Text", left, fields, {"text_align": "right", **style}, name="row_names")
    plot.draw("Text", above, fields, {**turned, **style}, name="column_names")
    return plot.item(frame_align=False)


def _block_columns(picture: FigureData) -> dict[str, Any]:
    """Return one frame per group, rows from the top down."""
    blocks = [(first, first + size) for first, size, _ in picture.blocks()]
    return {
        "left": [first for first, _ in blocks],
        "right": [end for _, end in blocks],
        "bottom": [-end for _, end in blocks],
        "top": [-first for first, _ in blocks],
    }


def _edge_columns(picture: FigureData) -> dict[str, Any]:
    """Return one line per edge."""
    edges, strength, sure, at = picture.graph.edges, picture.strength(), picture.opacity(), picture.positions
    crowded = min(1.0, sqrt(150 / max(len(edges), 1)))
    return {
        "x0": [float(at[u, 0]) for u, _ in edges],
        "y0": [float(at[u, 1]) for u, _ in edges],
        "x1": [float(at[v, 0]) for _, v in edges],
        "y1": [float(at[v, 1]) for _, v in edges],
        "color": [SIGN_COLORS[picture.sign(edge)] for edge in edges],
        "width": [float(max((0.8 + 6.2 * s) * crowded, 0.6)) for s in strength],
        "alpha": [float((0.25 + 0.65 * s) * (0.5 + 0.5 * crowded)) for s in sure],
    }


def _node_columns(picture: FigureData) -> dict[str, Any]:
    """Return one point per variable."""
    degrees = np.asarray(picture.graph.degrees(), dtype=np.float64)
    base = 18.0 if len(degrees) <= 40 else 13.0 if len(degrees) <= 120 else 9.0
    size = base * (0.75 + 0.5 * np.sqrt(degrees / max(degrees.max(initial=1.0), 1.0)))
    return {
        "x": picture.positions[:, 0].tolist(),
        "y": picture.positions[:, 1].tolist(),
        "label": [picture.text(x) for x in range(len(degrees))],
        "color": [picture.color(x) for x in range(len(degrees))],
        "size": size.tolist(),
        "below": (size / 2 + 2).tolist(),
        "alpha": [1.0] * len(degrees),
    }


def _cell_columns(picture: FigureData) -> dict[str, Any]:
    """Return two cells per edge, in the order of the clustering."""
    edges, strength = picture.graph.edges, picture.strength()
    place = np.empty(len(picture.order), dtype=np.int64)
    place[picture.order] = np.arange(len(picture.order))
    ends = [(edge, k) for k, edge in enumerate(edges)] + [(edge[::-1], k) for k, edge in enumerate(edges)]
    return {
        "x": [float(place[v]) + 0.5 for (_, v), _ in ends],
        "y": [-float(place[u]) - 0.5 for (u, _), _ in ends],
        "color": [SIGN_COLORS[picture.sign(edges[k])] for _, k in ends],
        "alpha": [float(0.3 + 0.7 * strength[k]) for _, k in ends],
    }


Model: TypeAlias = dict[str, Any]  # of Bokeh, or a reference to one


class _Plot:
    """A plot without axes, as wide as the page, in the JSON that `bokeh.embed.json_item` writes.

    Written directly because importing `bokeh.models` takes 0.6 s. What is left out has the default value of Bokeh.
    """

    def __init__(self, name: str) -> None:
        self._name = name
        self._numbers = count(1)
        self._renderers: list[Model] = []

    def model(self, kind: str, **attributes: Any) -> Model:
        """Return a new model of this class."""
        return {"type": "object", "name": kind, "id": f"{self._name}{next(self._numbers)}", "attributes": attributes}

    def source(self, columns: Mapping[str, list[Any]], **attributes: Any) -> Model:
        """Return a table of columns."""
        data = {"type": "map", "entries": [list(entry) for entry in columns.items()]}
        return self.model("ColumnDataSource", data=data, **attributes)

    def filtered(self, name: str, rows: list[int]) -> Model:
        """Return a view of some rows, whose filter has a name."""
        return self.model("CDSView", filter=self.model("IndexFilter", name=name, indices=rows))

    def draw(
        self, kind: str, source: Model, fields: dict[str, str], values: dict[str, Any], **attributes: Any
    ) -> Model:
        """Draw a shape for each row: some of its properties are columns, others have one value for all rows.

        A click changes no shape: the script of the page decides what stands out.
        """
        columns = {name: {"type": "field", "field": column} for name, column in fields.items()}
        constant = {name: {"type": "value", "value": value} for name, value in values.items()}
        glyph = self.model(kind, **columns, **constant)
        unchanged = dict.fromkeys(("selection_glyph", "nonselection_glyph", "muted_glyph"))
        renderer = self.model("GlyphRenderer", data_source=source, glyph=glyph, **unchanged, **attributes)
        self._renderers.append(renderer)
        return renderer

    def item(self, tools: Sequence[Model] = (), **attributes: Any) -> dict[str, Any]:
        """Return the whole document; drag to pan, Ctrl and wheel to zoom."""
        import bokeh

        zoom = self.model("WheelZoomTool", modifiers={"type": "map", "entries": [["ctrl", True]]})
        plot = self.model(
            "Plot",
            name=self._name,
            height=HEIGHT,
            sizing_mode="stretch_width",
            x_range=self.model("Range1d"),
            y_range=self.model("Range1d"),
            renderers=self._renderers,
            toolbar=self.model("Toolbar", tools=[self.model("PanTool"), zoom, *tools]),
            toolbar_location=None,
            min_border=0,
            outline_line_color=None,
            background_fill_alpha=0.0,
            border_fill_alpha=0.0,
            lod_threshold=None,
            **attributes,
        )
        document = {"version": bokeh.__version__, "title": "", "roots": [plot]}
        return {"target_id": None, "root_id": plot["id"], "doc": document, "version": bokeh.__version__}


def _reference(model: Model) -> Model:
    """Return a reference to a model that was written before."""
    return {"id": model["id"]}


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
