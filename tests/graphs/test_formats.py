"""Graph files: a written graph is read back; anything else raises an error."""

from __future__ import annotations

import csv
import json
import math
import os
from pathlib import Path

import networkx as nx
import pytest
from hypothesis import HealthCheck, given, settings

from graph_files import BROKEN_LINES, READ, UGLY, can_carry, named_graphs
from mnlearn.errors import FileError, InputError
from mnlearn.graphs import Graph, NamedGraph, random_graph, read_graph, write_graph
from mnlearn.graphs.named import Attributes, EdgeNumbers
from profiles import few

EXTENSION = {format: f".{format}" for format in READ} | {"table": ".edges.csv"}
WITH_NUMBERS = ("table", "graphml", "json")


@pytest.mark.parametrize("format", READ)
@given(named=named_graphs())
@settings(deadline=None, max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_a_written_graph_is_read_back(format: str, named: NamedGraph, tmp_path: Path) -> None:
    path = tmp_path / f"graph{EXTENSION[format]}"
    carried: Attributes = named.attributes if format in WITH_NUMBERS else {}
    if all(can_carry(format, name) for name in named.names):
        write_graph(path, named.graph, named.names, attributes=carried)
        assert read_graph(path) == NamedGraph(named.graph, named.names, carried)
    else:
        with pytest.raises(InputError, match=r"names in .* must not .*Rename it, or write"):
            write_graph(path, named.graph, named.names, attributes=carried)


@pytest.mark.parametrize("format", READ)
@pytest.mark.parametrize("degree", few([3, 0, 1, 10], 1))
def test_every_unusual_name_at_once(format: str, degree: int, tmp_path: Path) -> None:
    names = [name for name in UGLY + BROKEN_LINES if can_carry(format, name)]
    graph = random_graph(len(names), degree, seed=degree)
    write_graph(tmp_path / "x", graph, names, format=format)
    assert read_graph(tmp_path / "x", format) == NamedGraph(graph, tuple(names))


@pytest.mark.parametrize("format", READ)
def test_names_default_to_indices_in_order(format: str, tmp_path: Path) -> None:
    graph = Graph(5, [(0, 4), (2, 3), (0, 3)])
    write_graph(tmp_path / "x", graph, format=format)
    assert read_graph(tmp_path / "x", format) == NamedGraph(graph, ("0", "1", "2", "3", "4"))


def test_networkx_reads_what_we_write_and_the_reverse(tmp_path: Path) -> None:
    path = tmp_path / "g.graphml"
    write_graph(path, Graph(3, [(0, 2)]), ["a b", "ü", "7"], attributes={(0, 2): {"support": -1.5}})
    theirs = nx.read_graphml(path)
    assert list(theirs) == ["a b", "ü", "7"]
    assert list(theirs.edges(data=True)) == [("a b", "7", {"support": -1.5})]
    nx.write_graphml(nx.karate_club_graph(), path)
    ours = read_graph(path)
    assert nx.is_isomorphic(ours.graph.to_networkx(), nx.karate_club_graph())
    assert set(ours.attributes) == set(ours.graph.edges)


def test_dot_quotes_names(tmp_path: Path) -> None:
    write_graph(tmp_path / "x.gv", Graph(3, [(0, 2)]), ['a "b"', "\\", "c\\\n"], attributes={(0, 2): {"weight": -1.5}})
    text = (tmp_path / "x.gv").read_text(encoding="utf-8")
    lines = [r'"a \"b\"";', r'"\\";', '"c\\\\" + "\n";', r'"a \"b\"" -- "c\\" + "' + '\n" [weight="-1.5"];']
    assert text == "graph {\n" + "".join(f"  {line}\n" for line in lines) + "}\n"


def test_a_spreadsheet_finds_no_formula_in_the_csv(tmp_path: Path) -> None:
    names = ["=1+1", "+x", "-y", "@z", "\t=2", "'=3", "plain", "＝4"]
    write_graph(tmp_path / "x.csv", Graph.complete(len(names)), names)
    with (tmp_path / "x.csv").open(newline="", encoding="utf-8") as file:
        cells = [cell for row in csv.reader(file) for cell in row]
    assert not any(cell.startswith(("=", "+", "-", "@", "\t", "\r", "＝")) for cell in cells)
    assert read_graph(tmp_path / "x.csv").names == tuple(names)


def test_adjacency_by_hand(tmp_path: Path) -> None:
    path = tmp_path / "x.csv"
    path.write_text('id,"a, b",=c,d\r\n"a, b",0,0.5,0\r\n=c,0.5,0,0\r\nd,0,0,0\r\n', encoding="utf-8", newline="")
    assert read_graph(path) == NamedGraph(Graph(3, [(0, 1)]), ("a, b", "=c", "d"), {(0, 1): {"weight": 0.5}})


def test_weights_come_back_and_an_edge_of_weight_0_stays_an_edge(tmp_path: Path) -> None:
    graph = Graph(4, [(0, 1), (1, 2), (2, 3)])
    weights = {(0, 1): {"weight": -0.25}, (1, 2): {"weight": 0.0}}
    write_graph(tmp_path / "x.csv", graph, list("abcd"), attributes=weights)
    found = read_graph(tmp_path / "x.csv")
    assert found.graph == graph
    assert found.attributes[0, 1] == {"weight": -0.25}
    assert abs(found.attributes[1, 2]["weight"]) < 1e-200


def test_nodes_of_foreign_files_are_named_by_their_names(tmp_path: Path) -> None:
    graph = nx.Graph([("n0", "n1")])
    nx.set_node_attributes(graph, {"n0": "age", "n1": "sex"}, "name")
    nx.write_graphml(graph, tmp_path / "x.graphml")
    assert read_graph(tmp_path / "x.graphml").names == ("age", "sex")


def test_the_json_schema_is_the_documented_one(tmp_path: Path) -> None:
    path = tmp_path / "x.json"
    write_graph(path, Graph(3, [(0, 1), (1, 2)]), ["a", "b", "c"], attributes={(0, 1): {"support": -math.inf}})
    assert json.loads(path.read_text(encoding="utf-8")) == {
        "format": "mnlearn-graph",
        "version": 1,
        "variables": ["a", "b", "c"],
        "edges": [["a", "b"], ["b", "c"]],
        "edge_attributes": {"support": ["-inf", None]},
    }
    document = {"format": "mnlearn-graph", "version": 1, "variables": ["a", "b"], "edges": [[1, 0]], "made_by": "hand"}
    path.write_text(json.dumps(document), encoding="utf-8")
    assert read_graph(path) == NamedGraph(Graph(2, [(0, 1)]), ("a", "b"))


def test_writing_replaces_the_whole_file_or_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "x.json"
    write_graph(path, Graph(2), ["old", "older"])
    before = path.read_bytes()
    with pytest.raises(InputError):
        write_graph(path, Graph(2), ["same", "same"])

    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "replace", interrupted)
    with pytest.raises(KeyboardInterrupt):
        write_graph(path, Graph(2), ["new", "newer"])
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]


def test_a_link_is_followed_and_not_replaced(tmp_path: Path) -> None:
    (tmp_path / "link.json").symlink_to(tmp_path / "real.json")
    write_graph(tmp_path / "link.json", Graph(1), ["a"])
    assert (tmp_path / "link.json").is_symlink()
    assert read_graph(tmp_path / "real.json").names == ("a",)


def test_an_edge_table_suits_spreadsheets(tmp_path: Path) -> None:
    path = tmp_path / "net.edges.csv"
    attributes = {(0, 1): {"support": -2.5, "frequency": 0.75}, (1, 2): {"support": -math.inf}}
    write_graph(path, Graph(4, [(0, 1), (1, 2)]), ["=1+1", "b", "@c", "alone"], attributes=attributes)
    assert path.read_text() == "u,v,support,frequency\n'=1+1,b,-2.5,0.75\nb,'@c,'-inf,\nalone,,,\n"
    for format in (None, "csv"):  # the reader of .csv recognises both
        assert read_graph(path, format).attributes == attributes
    path.write_text("source,target,weight,colour\na,b,2,red\nb,c,,blue\n")
    found = read_graph(path)
    assert (found.names, found.attributes) == (("a", "b", "c"), {(0, 1): {"weight": 2.0}})


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("u,v,support\na,b\n", "row 2 must have 3 cells, as the header has; got 2"),
        ("u,v\na,b\nb,a\n", "row 3: an edge must be given once"),
        ("u,v\na,a\n", "row 2: an edge must join two different variables"),
        ("x,y\na,b\n", "the first two headings must be u and v; got x, y"),
        ("u,v\n", "at least one variable"),
    ],
)
def test_damaged_edge_tables_are_refused(text: str, message: str, tmp_path: Path) -> None:
    (tmp_path / "net.edges.csv").write_text(text)
    with pytest.raises(FileError, match=message):
        read_graph(tmp_path / "net.edges.csv")


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
