"""The pictures of the report are written without the classes of Bokeh, and are what these would write."""

from __future__ import annotations

from typing import Any

import pytest

from mnlearn.visual import drawings as heatmap
from mnlearn.visual import report_figures
from mnlearn.visual.figure_data import FigureData, figure_data_of, shown_name
from mnlearn.visual.report_figures import still_heatmap
from report_networks import hostile, large, ordinary

from references import report_figures as reference


@pytest.fixture(name="picture", params=[ordinary, hostile], ids=["ordinary", "hostile"])
def _picture(request: pytest.FixtureRequest) -> FigureData:
    return figure_data_of(request.param(), 0)


def by_bokeh(item: dict[str, Any]) -> Any:
    """Return the models of a document; Bokeh refuses unknown classes, properties and values."""
    from bokeh.document import Document
    from bokeh.embed import json_item
    from bokeh.models import Plot

    defaults = dict(json_item(Plot())["doc"])  # newer versions write the settings of the document, too
    document = Document.from_json(defaults | item["doc"])
    assert item["root_id"] == document.roots[0].id
    return document


def described(value: Any) -> Any:
    """Return a model with all its properties, except the number that it happened to get."""
    from bokeh.model import Model

    if isinstance(value, Model):
        found = value.properties_with_values(include_undefined=False)
        return type(value).__name__, {name: described(found[name]) for name in sorted(found)}
    if isinstance(value, dict):
        return {key: described(item) for key, item in value.items()}
    return [described(item) for item in value] if isinstance(value, list | tuple) else value


def test_the_network_is_the_one_that_bokeh_would_write(picture: FigureData) -> None:
    document = by_bokeh(report_figures.network_item(picture))
    edges, nodes = (dict(document.get_model_by_name(name).data) for name in ("edges", "nodes"))
    assert len(edges["x0"]) == picture.graph.n_edges
    assert nodes["label"] == [shown_name(name) for name in picture.names]
    assert described(document.roots[0]) == described(reference.network(edges, nodes))


def test_the_heat_map_is_the_one_that_bokeh_would_write(picture: FigureData) -> None:
    document = by_bokeh(report_figures.heatmap_item(picture))
    cells = dict(document.get_model_by_name("cells").data)
    names = [shown_name(picture.names[x], 20) for x in picture.order]
    assert len(cells["x"]) == 2 * picture.graph.n_edges
    blocks = [(first, first + size) for first, size, _ in picture.blocks()]
    assert described(document.roots[0]) == described(reference.heatmap(cells, names, blocks))


def test_a_large_heat_map_has_large_cells_and_names_of_communities() -> None:
    picture = figure_data_of(large(80), 0)
    document = by_bokeh(report_figures.heatmap_item(picture))
    rows = {r.name: r for r in document.roots[0].renderers if r.name}["row_names"].data_source.data
    assert 3 <= len(rows["text"]) <= 40
    assert all(" + " in text for text in rows["text"])
    assert heatmap.cell_size(500) * report_figures.HEIGHT / 500 > 3  # pixels
    texts = [text for _, _, text, *_ in still_heatmap(picture).texts]
    assert set(texts) == set(rows["text"])


def test_the_two_documents_share_no_number(picture: FigureData) -> None:
    network, heatmap = report_figures.network_item(picture), report_figures.heatmap_item(picture)
    assert network["root_id"] != heatmap["root_id"]
