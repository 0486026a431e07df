"""Plain GraphML, GML and DOT: bytes of networkx, and graphs that the general parsers also read."""

from __future__ import annotations

import io

import networkx as nx
import pytest
from hypothesis import given, settings

from graph_files import can_carry, named_graphs
from mnlearn.graphs import Graph, NamedGraph
from mnlearn.graphs.markup import (
    _general_dot,
    _general_gml,
    _general_graphml,
    parse_dot,
    parse_gml,
    parse_graphml,
    read_plain_dot,
    read_plain_gml,
    read_plain_graphml,
    render_dot,
    render_gml,
    render_graphml,
)
from mnlearn.graphs.named import EdgeNumbers, graph_of_ends

PLAIN = NamedGraph(
    Graph(4, [(0, 1), (1, 2)]), ('a "b"', "c & <d>", "é", "back\\slash"), {(0, 1): {"weight": -1.5, "support": 1e-300}}
)
KINDS = {
    "graphml": (render_graphml, read_plain_graphml, _general_graphml, parse_graphml),
    "gml": (render_gml, read_plain_gml, _general_gml, parse_gml),
    "dot": (render_dot, read_plain_dot, _general_dot, parse_dot),
}


def as_networkx(named: NamedGraph) -> nx.Graph:
    graph = named.graph.to_networkx(named.names)
    for a, b, numbers in named.named_edges():
        graph.edges[a, b].update({key: float(value) for key, value in numbers.items()})
    return graph


@given(named=named_graphs())
@settings(deadline=None, max_examples=60)
def test_the_writers_give_the_bytes_of_networkx(named: NamedGraph) -> None:
    graph = as_networkx(named)
    assert render_gml(named) == "".join(f"{line}\n" for line in nx.generate_gml(graph))
    if all(can_carry("graphml", name) for name in named.names):
        target = io.BytesIO()
        nx.write_graphml_xml(graph, target, encoding="utf-8")
        assert render_graphml(named) == target.getvalue().decode("utf-8")


@pytest.mark.parametrize("format", KINDS)
@given(named=named_graphs())
@settings(deadline=None, max_examples=40)
def test_plain_files_mean_what_the_general_parsers_read(format: str, named: NamedGraph) -> None:
    write, plain, general, _ = KINDS[format]
    if all(can_carry(format, name) for name in named.names):
        text = write(named)
        found = plain(text)
        assert found is None or found == general(text)


@pytest.mark.parametrize("format", KINDS)
def test_ordinary_files_are_plain(format: str) -> None:
    write, plain, _, _ = KINDS[format]
    assert plain(write(PLAIN)) == PLAIN
    assert plain(write(NamedGraph(Graph(1), ("alone",)))) == NamedGraph(Graph(1), ("alone",))


@pytest.mark.parametrize(
    ("format", "old", "new"),
    [
        ("graphml", '<graph edgedefault="undirected">', '<graph edgedefault="directed">'),
        ("graphml", "<node id", '<node colour="red" id'),
        ("graphml", '"double"', '"boolean"'),
        ("graphml", "-1.5", "much"),
        ("graphml", 'target="é"', 'target="stranger"'),
        ("graphml", "</graphml>", ""),
        ("gml", "graph [", "graph [\n  directed 1"),
        ("gml", "  edge [", "  edge [ # here"),
        ("gml", "target 2", "target 9"),
        ("gml", "target 2", "target 1"),
        ("gml", "-1.5", "[ x 1 ]"),
        ("gml", "&#233;", "&eacute;"),
        ("dot", "graph {", "digraph {"),
        ("dot", "--", "->"),
        ("dot", '"é";', "é;"),
        ("dot", '  "é";\n', ""),
        ("dot", '"-1.5"', '"red"'),
        ("dot", "}", "} graph {}"),
    ],
)
def test_other_files_go_to_the_general_parsers(format: str, old: str, new: str) -> None:
    write, plain, general, parse = KINDS[format]
    text = write(PLAIN)
    assert old in text
    changed = text.replace(old, new)
    assert plain(changed) is None
    outcomes = []
    for read in (general, parse):
        try:
            outcomes.append(repr(read(changed)))
        except Exception as error:  # whatever its type, it is the same one
            outcomes.append(repr(error))
    assert outcomes[0] == outcomes[1]


def test_lists_that_are_no_simple_graph() -> None:
    assert graph_of_ends((), [], [], {}) is None
    assert graph_of_ends(("a", "a"), [], [], {}) is None
    assert graph_of_ends(("a", "b"), [0], [0], {}) is None
    assert graph_of_ends(("a", "b"), [0, 1], [1, 0], {}) is None
    found = graph_of_ends(("a", "b", "c"), [1, 2], [0, 1], {"w": {1: 0.5}, "label": {0: 1.0}})
    assert found is not None
    assert found.graph.edges == ((0, 1), (1, 2))
    assert dict(found.attributes) == {(1, 2): {"w": 0.5}}


def test_numbers_in_columns_are_a_mapping_by_edge() -> None:
    edges = ((0, 1), (0, 2), (1, 2))
    numbers = EdgeNumbers(edges, {"a": {(0, 1): 1.0}, "b": {(0, 1): 2.0, (1, 2): 3.0}})
    assert dict(numbers) == {(0, 1): {"a": 1.0, "b": 2.0}, (1, 2): {"b": 3.0}}
    assert len(numbers) == 2
    assert numbers.get((0, 2), {}) == {}
    with pytest.raises(KeyError):
        numbers[0, 2]
    assert dict(numbers.only("a")) == {(0, 1): {"a": 1.0}}
    assert repr(numbers) == "EdgeNumbers(2 edges, a, b)"
