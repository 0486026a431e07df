"""Pictures and the report of networks that are too large to draw as a whole."""

from __future__ import annotations

import base64
import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mnlearn.errors import InputError, UnknownNameError
from mnlearn.graphs.graph import Graph
from mnlearn.protocols import Result
from mnlearn.regression.weights import EdgeWeights
from mnlearn.results import Learned
from mnlearn.visual import report as report_large
from mnlearn.visual.network import MOST_DRAWN, hub_excerpt, is_large, outline_of, surroundings
from mnlearn.visual.report import left_out, packed_network, render_report, varints
from report_networks import HOSTILE, huge


@pytest.fixture(scope="module")
def network() -> Learned:
    return huge()


@pytest.fixture(scope="module")
def page(network: Learned) -> str:
    return render_report(network)


def packed_in(page: str) -> Any:
    found = re.search(r'id="whole-data">(.*?)</script>', page, re.DOTALL)
    assert found is not None
    return json.loads(found[1])


def unpacked(packed: dict[str, Any]) -> list[tuple[str, str]]:
    """Return the edges as the script of the page reads them."""
    keys, key, scale, value = [], 0, 1, 0
    for byte in base64.b64decode(packed["pairs"]):
        value += (byte & 127) * scale
        scale *= 128
        if byte < 128:
            key += value
            keys.append(key)
            scale, value = 1, 0
    names = packed["names"]
    return [(names[key // len(names)], names[key % len(names)]) for key in keys]


@given(st.lists(st.integers(0, 2**50)))
def test_numbers_of_seven_bits(numbers: list[int]) -> None:
    found, value, scale = [], 0, 1
    for byte in varints(np.array(numbers, dtype=np.int64)).tolist():
        value += (byte & 127) * scale
        scale *= 128
        if byte < 128:
            found.append(value)
            value, scale = 0, 1
    assert found == numbers


def test_the_page_holds_every_edge_for_its_search(network: Learned, page: str) -> None:
    packed = packed_in(page)
    edges = [(network.names[u], network.names[v]) for u, v in network.graph.edges]
    assert unpacked(packed) == edges
    values = np.frombuffer(base64.b64decode(packed["values"]), "<f4")
    assert values == pytest.approx(np.array([network.result.support[e] for e in network.graph.edges]), rel=1e-6)
    assert [packed["names"][x] for x in packed["drawn"]] == list(hub_excerpt(network, 12, 25).names)


def test_the_page_says_what_it_leaves_out(network: Learned, page: str) -> None:
    parts = sorted(len(part) for part in network.graph.components() if len(part) > 1)
    assert f"It has {len(parts)} parts that are not joined with each other; the largest has {parts[-1]:,}" in page
    assert "Too large to draw as a whole: the picture and the heat map show" in page
    assert f"The 5,000 most certain of {network.graph.n_edges:,} edges are listed." in page
    assert "The 2,000 variables with the most neighbours are listed, of 20,000." in page
    assert "Half of the variables have at most" in page
    assert page.count("<option") == 0
    assert page.count("<tr") < 7_200
    assert len(page) < 8_000_000


def test_hostile_names_stay_text(page: str) -> None:
    assert HOSTILE[1] not in page
    assert "<img src=x" not in page


def test_a_page_of_fewer_edges_and_names_than_there_are(network: Learned, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(report_large, "MOST_EMBEDDED", 5_000)
    monkeypatch.setattr(report_large, "MOST_NAMED", 100_000)
    whole, drawn = outline_of(network), outline_of(hub_excerpt(network))
    packed = packed_network(whole, drawn)
    text = " ".join(left_out(network, whole, drawn, packed))
    assert packed["count"] <= 5_000
    assert len(packed["names"]) < 10_000
    known = {network.names[x] for x in packed["places"]}
    assert known == set(packed["names"])
    assert f"The search knows {len(known):,} variables of 20,000 and the {packed['count']:,} most certain" in text
    support = {(network.names[u], network.names[v]): s for (u, v), s in network.result.support.items()}
    kept = unpacked(packed)
    weakest = min(support[pair] for pair in kept)
    assert sum(s > weakest for (u, v), s in support.items() if {u, v} <= known) == len(kept) - 1


def test_weights_are_packed_in_sixteen_bits() -> None:
    graph = Graph(3, [(0, 1), (0, 2), (1, 2)])
    weights = EdgeWeights("log odds ratio", {(0, 1): 2.0, (0, 2): -1.0}, (True,) * 3)
    learned = Learned("mpl", ("a", "b", "c"), Result(graph, None, {}, True, {}), saved_weights=weights)
    outline = outline_of(learned)
    assert outline.weights is None
    whole = type(outline)(**{**vars(outline), "weights": weights})
    packed = packed_network(whole, outline)
    shares = np.frombuffer(base64.b64decode(packed["weights"]), "<i2")
    assert (shares / 16_384 * packed["strongest"])[:2] == pytest.approx([2.0, -1.0], rel=1e-3)
    assert shares[2] == -32_768
    assert packed["values"] is None


def test_small_networks_are_drawn_as_a_whole() -> None:
    assert not is_large(Graph(2_000))
    assert is_large(Graph(2_001))
    assert is_large(Graph.complete(201))
    assert not is_large(Graph.complete(200))


@pytest.mark.parametrize("kind", ["network", "heatmap", "degrees", "support"])
def test_pictures_of_a_large_network(network: Learned, kind: str, tmp_path: Path) -> None:
    figure = network.plot(tmp_path / "picture.png", kind=kind, title="all" if kind == "degrees" else None)
    assert (tmp_path / "picture.png").stat().st_size > 5_000
    titles = [axes.get_title("left") for axes in figure.axes]
    if kind == "network":
        assert titles[0] == "How many neighbours variables have"
        assert titles[1] == "The 8 variables with the most neighbours, and up to 25 of the strongest of each"
    if kind == "heatmap":
        assert titles[0].endswith("(the hubs and their strongest neighbours)")


def test_settings_of_nodes_need_a_part(network: Learned) -> None:
    with pytest.raises(InputError, match=r"labels is for pictures with a node for every variable.*around="):
        network.plot(labels={"site_1": "one"})
    with pytest.raises(InputError, match="kind 'centralities' needs the shortest paths"):
        network.plot(kind="centralities")
    sizes = {"site_1": 1.0, **dict.fromkeys(network.blanket("site_1"), 0.5)}
    network.plot(labels={"site_1": "one", "site_9000": "far"}, around="site_1", node_size=sizes)
    with pytest.raises(UnknownNameError, match="stranger"):
        network.plot(around="site_1", node_size={**sizes, "stranger": 1.0})


def test_the_picture_around_a_variable(network: Learned) -> None:
    near = network.blanket("site_500")
    figure = network.plot(around="site_500")
    assert figure.axes[0].get_title("left") == "mpl: within 1 edge of site_500"
    texts = {text.get_text() for text in figure.axes[0].texts}
    assert texts <= {"site_500", *near}
    with pytest.raises(UnknownNameError, match="site_x"):
        network.plot(around=["site_x"])
    with pytest.raises(InputError, match="distance must be"):
        network.plot(around="site_500", distance=0)
    with pytest.raises(InputError, match="distance is for pictures of surroundings"):
        network.plot(distance=2)
    with pytest.raises(InputError, match="around must name at most 300"):
        network.plot(around=network.names[:301])


def test_the_strongest_of_many_surroundings_are_drawn(network: Learned) -> None:
    part, rest = surroundings(network, "site_0", 1)
    around = network.graph.neighbors(0)
    assert len(part.names) == MOST_DRAWN
    assert rest == len(around) + 1 - MOST_DRAWN
    support = network.result.support
    weakest = min(support[0, network.names.index(name)] for name in part.names if name != "site_0")
    assert sum(support[0, y] > weakest for y in around) == MOST_DRAWN - 2
    figure = network.plot(around="site_0")
    assert f"{rest:,} variables with weaker edges are left out" in figure.axes[0].get_title("left")


def test_groups_of_a_part() -> None:
    edges = {(k, k + 1): 1.0 for k in range(9)}
    learned = Learned("mpl", tuple("abcdefghij"), Result(Graph(10, edges), None, edges, True, {}))
    figure = learned.plot(around="b", distance=2, groups={"one": ["a", "b"], "two": ["c", "i"]}, layout="circle")
    legends = [text.get_text() for legend in figure.legends for text in legend.get_texts()]
    assert {"one", "two", "other"} <= set(legends)
    learned.plot(around="b", groups={"two": ["i"]}, layout=np.arange(20.0).reshape(10, 2), labels=list("ABCDEFGHIJ"))
    with pytest.raises(InputError, match="same_layout_as is for whole networks"):
        learned.plot(around="b", same_layout_as=learned)


def test_a_large_network_without_edges(tmp_path: Path) -> None:
    empty = Learned("mpl", tuple(f"v{x}" for x in range(2_500)), Result(Graph(2_500), None, {}, True, {}))
    empty.plot(tmp_path / "a.png")
    empty.report(tmp_path / "a.html")
    assert "No two variables are joined" in (tmp_path / "a.html").read_text()
