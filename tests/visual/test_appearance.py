"""Groups, labels, layouts, sizes, thresholds and rings of the picture of a network."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import mnlearn as mn
from mnlearn.errors import InputError, UnknownNameError
from mnlearn.graphs.graph import Graph
from mnlearn.protocols import Result
from mnlearn.regression.weights import EdgeWeights
from mnlearn.results import Learned
from mnlearn.visual.drawings import edge_route, node_factors
from mnlearn.visual.figure_data import (
    GROUP_COLORS,
    NO_GROUP_COLOR,
    Appearance,
    figure_data_of,
    group_numbers,
    label_texts,
)

NAMES = ("a1", "a2", "b1", "b2", "c")
WEIGHTS = {(0, 1): 0.5, (1, 2): -0.3, (2, 3): 0.4, (0, 4): 0.04}


@pytest.fixture(name="network", scope="module")
def _network() -> Learned:
    found = Result(Graph(5, WEIGHTS), None, dict.fromkeys(WEIGHTS, -9.0), True, {})
    return Learned("pc", NAMES, found, saved_weights=EdgeWeights("partial correlation", WEIGHTS, (True,) * 5))


def _words(figure: Any) -> set[str]:
    import matplotlib.text

    return {text.get_text() for text in figure.findobj(matplotlib.text.Text)}


def _colors(figure: Any) -> list[str]:
    from matplotlib.colors import to_hex

    return [to_hex(color) for color in figure.axes[0].collections[2].get_facecolors()]


@pytest.mark.parametrize(
    "groups",
    [
        {"a": ["a1", "a2"], "b": ["b1", "b2"]},
        {"a1": "a", "a2": "a", "b1": "b", "b2": "b"},
        ["a", "a", "b", "b", None],
        {"a1": "a", "a2": "a", "b1": "b", "b2": "b", "c": None},
    ],
)
def test_groups_in_every_form(groups: Any) -> None:
    number, names = group_numbers(NAMES, groups)
    assert number.tolist() == [0, 0, 1, 1, -1]
    assert names == ("a", "b")


def test_groups_give_colours_and_a_legend(network: Learned) -> None:
    figure = network.plot(groups={"first $x": ["a1", "a2"], "second": ["b1", "b2"]})
    assert _colors(figure) == [GROUP_COLORS[0]] * 2 + [GROUP_COLORS[1]] * 2 + [NO_GROUP_COLOR]
    assert {"first $x", "second", "other"} <= _words(figure)
    assert "one colour: one community" not in _words(figure)


def test_labels_are_written_into_the_nodes_if_they_are_short(network: Learned) -> None:
    figure: Any = network.plot(labels={"a1": "A1", "c": "Z"})
    inside = {text.get_text(): text for text in figure.axes[0].texts}
    assert set(inside) == {"A1", "a2", "b1", "b2", "Z"}
    assert {text.get_ha() + text.get_va() for text in inside.values()} == {"centercenter_baseline"}
    below: Any = network.plot(labels=["a long label", "another long one", "x", "y", "z"])
    assert {text.get_va() for text in below.axes[0].texts} == {"top"}
    assert label_texts(NAMES, list("vwxyz")) == tuple("vwxyz")


def test_a_threshold_hides_weak_edges_and_says_so(network: Learned) -> None:
    figure: Any = network.plot(threshold=0.1)
    assert len(figure.axes[0].collections[0].get_segments()) == 3
    assert "|weight| below 0.1 not drawn: 1 edge" in _words(figure)
    cells = figure_data_of(network, 0, Appearance(threshold=0.1))
    assert (cells.positions == figure_data_of(network).positions).all()


def test_layouts(network: Learned) -> None:
    circle = figure_data_of(network, 0, Appearance(layout="circle")).positions
    assert np.ptp(np.linalg.norm(circle, axis=1)) < 1e-9
    given = np.arange(10.0).reshape(5, 2)
    assert (figure_data_of(network, 0, Appearance(layout=given)).positions == given).all()
    by_name = dict(zip(NAMES, given.tolist(), strict=True))
    assert (figure_data_of(network, 0, Appearance(layout=by_name)).positions == given).all()
    grouped = Appearance(layout="groups", groups=["x", "x", "y", "y", "y"])
    assert np.isfinite(figure_data_of(network, 0, grouped).positions).all()


def test_the_layout_of_another_network_is_matched_by_name(network: Learned) -> None:
    order = [4, 2, 0, 1, 3]
    other = Learned("pc", tuple(NAMES[k] for k in order), Result(Graph(5, [(0, 1)]), None, {}, True, {}))
    same = figure_data_of(other, 0, Appearance(same_layout_as=network)).positions
    assert (same == figure_data_of(network).positions[order]).all()


def test_sizes_of_nodes(network: Learned) -> None:
    picture = figure_data_of(network)
    assert node_factors(picture, Appearance()).tolist() == [1.0] * 5
    assert node_factors(picture, Appearance(node_size=2)).tolist() == [2.0] * 5
    strength = node_factors(picture, Appearance(node_size="strength"))
    assert np.argsort(-strength, kind="stable").tolist()[0] == 1
    assert strength[1] == 1.0
    assert strength[0] == pytest.approx(np.sqrt(0.54 / 0.8))
    sizes = dict(zip(NAMES, (1.0, 0.49, 0.49, 0.49, 0.0), strict=True))
    assert node_factors(picture, Appearance(node_size=sizes)).tolist() == pytest.approx([1, 0.7, 0.7, 0.7, 0.6])
    for name in ("degree", "closeness", "betweenness"):
        assert node_factors(picture, Appearance(node_size=name)).max() == 1.0
    table = network.centrality(frame="pyarrow").to_pydict()
    for name in ("closeness", "betweenness"):
        share = np.array(table[name]) / max(table[name])
        expected = np.maximum(np.sqrt(share), 0.6)
        assert node_factors(picture, Appearance(node_size=name)) == pytest.approx(expected)


def test_rings_show_shares(network: Learned) -> None:
    figure: Any = network.plot(rings={"a1": 0.25, "a2": 1.0, "b1": 0.0})
    filled = figure.axes[0].collections[-1].get_paths()
    assert len(filled) == 2  # none for 0 and for variables without a share
    assert "ring: share, full circle for 1" in _words(figure)


def test_rings_of_predictability() -> None:
    a = [0, 1] * 40
    found = mn.learn({"a": a, "b": [x ^ (k % 9 == 0) for k, x in enumerate(a)], "c": [0, 0, 1, 1] * 20}, "gsmn")
    figure: Any = found.plot(rings=True)
    assert len(figure.axes[0].collections[-1].get_paths()) == 2  # nothing predicts c
    assert "ring: predictability, full circle for 1" in _words(figure)
    with pytest.raises(InputError, match="rings is for the kind 'network'"):
        found.plot(kind="heatmap", rings=True)


def test_a_line_bends_around_a_node_that_it_would_cross() -> None:
    places, radius = np.array([[0.0, 0.0], [4.0, 0.0], [2.0, 0.1], [2.0, 3.0]]), np.full(4, 0.4)
    route = edge_route(places, (0, 1), radius)
    assert (route[[0, -1]] == places[:2]).all()
    assert np.linalg.norm(route - places[2], axis=1).min() > 0.45
    assert len(edge_route(places, (0, 3), radius)) == 2


def test_the_heat_map_has_blocks_of_groups(network: Learned) -> None:
    picture = figure_data_of(network, 0, Appearance(groups=["x", "y", "x", "y", "x"]))
    assert sorted((size, name) for _, size, name in picture.blocks()) == [(2, "y"), (3, "x")]
    assert len(set(picture.groups[picture.order].tolist()[:2])) == 1
    figure: Any = network.plot(kind="heatmap", groups=["x", "y", "x", "y", "x"], threshold=0.1)
    assert len(figure.axes[0].patches) == 2
    assert {"x", "y"} <= _words(figure)


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        ({"groups": {"x": ["zz"]}}, "variable 'zz' does not exist"),
        ({"groups": {"x": ["a1"], "y": ["a1"]}}, "'a1' twice"),
        ({"groups": ["x"]}, "one group per variable, 5 in all; got 1"),
        ({"groups": {}}, "at least one group"),
        ({"groups": "abc"}, "groups must be a mapping"),
        ({"groups": {"a1": {}}}, "at least one group"),
        ({"labels": {"zz": "x"}}, "variable 'zz' does not exist"),
        ({"labels": [1, 2, 3, 4, 5]}, "labels must be strings; got 1"),
        ({"layout": "sping"}, "layout 'sping' does not exist. Did you mean 'spring'"),
        ({"layout": [[1, 2]]}, r"5 rows of two numbers; got the shape \(1, 2\)"),
        ({"layout": {"a1": (0, 0)}}, "coordinates of every variable; got none of 'a2'"),
        ({"layout": [[np.nan, 0]] * 5}, "finite numbers; got nan"),
        ({"node_size": "big"}, "node_size 'big' does not exist"),
        ({"node_size": 0}, "from 0.1 to 10; got 0"),
        ({"node_size": {"a1": 1}}, "a number for every variable; got none for 'a2'"),
        ({"threshold": -1}, "threshold must be a finite number from 0 on; got -1"),
        ({"rings": {"a1": 2}}, "from 0 to 1; got 2 for 'a1'"),
        ({"rings": 0.5}, "rings must be a mapping from variables to numbers"),
        ({"same_layout_as": "other"}, "must be a learned network; got str"),
        ({"kind": "degrees", "threshold": 0.1}, "threshold is for the kind 'network'; got the kind 'degrees'"),
    ],
)
def test_wrong_settings_are_refused(network: Learned, setting: dict[str, Any], message: str) -> None:
    with pytest.raises((InputError, UnknownNameError), match=message):
        network.plot(**setting)


def test_other_variables_and_two_layouts_are_refused(network: Learned) -> None:
    other = Learned("pc", ("q",), Result(Graph(1), None, {}, True, {}))
    with pytest.raises(InputError, match="only one of the two has 'a1'"):
        network.plot(same_layout_as=other)
    with pytest.raises(InputError, match="exclude each other"):
        network.plot(same_layout_as=network, layout="circle")
    bare = Learned("pc", NAMES, network.result)
    with pytest.raises(InputError, match="threshold needs weights"):
        bare.plot(threshold=0.1)
