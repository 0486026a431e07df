"""The pictures of the report once more, by the classes of Bokeh."""

from __future__ import annotations

from math import pi
from typing import Any

import bokeh.models

models: Any = bokeh.models  # its types do not know what a column may stand for
UNCHANGED: dict[str, Any] = {"selection_glyph": None, "nonselection_glyph": None, "muted_glyph": None}
GREY = "#8b919a"


def network(edges: dict[str, Any], nodes: dict[str, Any]) -> Any:
    plot = _plot("network")
    points = models.ColumnDataSource(nodes, name="nodes")
    lines = models.Segment(
        x0="x0",
        y0="y0",
        x1="x1",
        y1="y1",
        line_width="width",
        line_color="color",
        line_alpha="alpha",
        line_cap="round",
    )
    circles = models.Scatter(
        x="x",
        y="y",
        size="size",
        fill_color="color",
        fill_alpha="alpha",
        line_color="white",
        line_alpha="alpha",
        line_width=1.2,
    )
    labels = models.Text(
        x="x",
        y="y",
        text={"field": "label"},
        y_offset={"field": "below"},
        text_alpha="alpha",
        text_color="black",
        text_align="center",
        text_baseline="top",
        text_font_size="13px",
        background_fill_color="white",
        background_fill_alpha=0.7,
    )
    source = models.ColumnDataSource(edges, name="edges")
    plot.add_glyph(source, lines, view=_view("edge_filter", len(edges["x0"])), **UNCHANGED)
    shown = plot.add_glyph(points, circles, **UNCHANGED)
    plot.add_glyph(points, labels, view=_view("label_filter", 0), name="labels", **UNCHANGED)
    plot.add_tools(models.TapTool(renderers=[shown]))
    return plot


def heatmap(cells: dict[str, Any], names: list[str], blocks: list[tuple[int, int]]) -> Any:
    """Return the heat map of few variables with frames from and to these places."""
    plot, n = _plot("heatmap", frame_align=False), len(names)
    frame = models.Quad(left="left", right="right", bottom="bottom", top="top", fill_color=GREY, fill_alpha=0.08)
    frame.update(line_color=GREY, line_alpha=0.5)
    corners = models.ColumnDataSource({"left": [0], "right": [n], "bottom": [-n], "top": [0]})
    plot.add_glyph(corners, frame, level="underlay", **UNCHANGED)
    squares = models.Rect(x="x", y="y", width=1, height=1, fill_color="color", fill_alpha="alpha")
    squares.update(line_color=GREY, line_alpha=0.25)
    source = models.ColumnDataSource(cells, name="cells")
    plot.add_glyph(source, squares, view=_view("cell_filter", len(cells["x"])), **UNCHANGED)
    sides = {"left": [a for a, _ in blocks], "right": [b for _, b in blocks]}
    framed = models.ColumnDataSource({**sides, "bottom": [-b for _, b in blocks], "top": [-a for a, _ in blocks]})
    block = models.Quad(left="left", right="right", bottom="bottom", top="top", fill_alpha=0.0)
    block.update(line_color=GREY, line_width=1.5)
    plot.add_glyph(framed, block, **UNCHANGED)
    middles = [k + 0.5 for k in range(n)]
    style = {"text": {"field": "text"}, "text_color": "black", "text_font_size": "11px", "text_baseline": "middle"}
    left = models.ColumnDataSource({"x": [-0.3] * n, "y": [-y for y in middles], "text": names})
    above = models.ColumnDataSource({"x": middles, "y": [0.3] * n, "text": names})
    plot.add_glyph(left, models.Text(x="x", y="y", text_align="right", **style), name="row_names", **UNCHANGED)
    plot.add_glyph(above, models.Text(x="x", y="y", angle=pi / 2, **style), name="column_names", **UNCHANGED)
    return plot


def _plot(name: str, **settings: Any) -> Any:
    return models.Plot(
        name=name,
        height=620,
        sizing_mode="stretch_width",
        x_range=models.Range1d(start=0, end=1),
        y_range=models.Range1d(start=0, end=1),
        toolbar=models.Toolbar(tools=[models.PanTool(), models.WheelZoomTool(modifiers={"ctrl": True})]),
        toolbar_location=None,
        min_border=0,
        outline_line_color=None,
        background_fill_alpha=0.0,
        border_fill_alpha=0.0,
        lod_threshold=None,
        **settings,
    )


def _view(name: str, rows: int) -> Any:
    return models.CDSView(filter=models.IndexFilter(indices=list(range(rows)), name=name))
