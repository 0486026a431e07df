"""Graph files: a written graph is read back; anything else raises an error."""

from __future__ import annotations

import csv
import json
import math
import os
import threading
from pathlib import Path

import networkx as nx
import pytest
from hypothesis import HealthCheck, given, settings

from graph_files import BROKEN_LINES, UGLY, can_carry, named_graphs
from mnlearn.errors import FileError, InputError
from mnlearn.graphs import FORMATS, Graph, NamedGraph, random_graph, read_graph, write_graph
from mnlearn.graphs.named import Attributes
from profiles import few

EXTENSION = {format: f".{format}" for format in FORMATS} | {"table": ".edges.csv"}
WITH_NUMBERS = ("table", "graphml", "gml", "gexf", "cyjs", "dot", "json")


@pytest.mark.parametrize("format", FORMATS)
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


@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize("degree", few([3, 0, 1, 10], 1))
def test_every_unusual_name_at_once(format: str, degree: int, tmp_path: Path) -> None:
    names = [name for name in UGLY + BROKEN_LINES if can_carry(format, name)]
    graph = random_graph(len(names), degree, seed=degree)
    write_graph(tmp_path / "x", graph, names, format=format)
    assert read_graph(tmp_path / "x", format) == NamedGraph(graph, tuple(names))


@pytest.mark.parametrize("format", FORMATS)
def test_names_default_to_indices_in_order(format: str, tmp_path: Path) -> None:
    graph = Graph(5, [(0, 4), (2, 3), (0, 3)])
    write_graph(tmp_path / "x", graph, format=format)
    assert read_graph(tmp_path / "x", format) == NamedGraph(graph, ("0", "1", "2", "3", "4"))


@pytest.mark.parametrize("format", ["graphml", "gml"])
def test_networkx_reads_what_we_write_and_the_reverse(format: str, tmp_path: Path) -> None:
    path = tmp_path / f"g.{format}"
    write_graph(path, Graph(3, [(0, 2)]), ["a b", "ü", "7"], attributes={(0, 2): {"support": -1.5}})
    theirs = getattr(nx, f"read_{format}")(path)
    assert list(theirs) == ["a b", "ü", "7"]
    assert list(theirs.edges(data=True)) == [("a b", "7", {"support": -1.5})]
    getattr(nx, f"write_{format}")(nx.karate_club_graph(), path)
    ours = read_graph(path)
    assert nx.is_isomorphic(ours.graph.to_networkx(), nx.karate_club_graph())
    assert set(ours.attributes) == set(ours.graph.edges)


@pytest.mark.parametrize(
    ("text", "names", "edges"),
    [
        ("a\tb\nb\tc\nd\n", "abcd", [(0, 1), (1, 2)]),
        ("# a graph\n\n0 1\n1 2\n3\n", "0123", [(0, 1), (1, 2)]),
        ("0 1\r\n1 2\r\n", "012", [(0, 1), (1, 2)]),
        ("\ufeffa\tb", "ab", [(0, 1)]),
        ("a\nb\na\tb\n", "ab", [(0, 1)]),
    ],
)
def test_edge_lists_by_hand(text: str, names: str, edges: list[tuple[int, int]], tmp_path: Path) -> None:
    path = tmp_path / "hand.txt"
    path.write_bytes(text.encode())
    assert read_graph(path) == NamedGraph(Graph(len(names), edges), tuple(names))


def test_spaces_belong_to_names_once_there_are_tabs(tmp_path: Path) -> None:
    path = tmp_path / "x.tsv"
    path.write_text("body mass\tage\nshoe size\n", encoding="utf-8")
    assert read_graph(path).names == ("body mass", "age", "shoe size")
    write_graph(path, Graph(3, [(0, 2)]), ["a", "b c", "d"])
    assert path.read_text(encoding="utf-8") == "a\nb c\t\na\td\n"
    write_graph(path, Graph(3, [(0, 1), (0, 2)]), ["a", "b", "d"])
    assert path.read_text(encoding="utf-8") == "a\tb\na\td\n"


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


@pytest.mark.parametrize("name", ["x.csv", "x.edges"])
def test_weights_come_back_and_an_edge_of_weight_0_stays_an_edge(name: str, tmp_path: Path) -> None:
    graph = Graph(4, [(0, 1), (1, 2), (2, 3)])
    weights = {(0, 1): {"weight": -0.25}, (1, 2): {"weight": 0.0}}
    write_graph(tmp_path / name, graph, list("abcd"), attributes=weights)
    found = read_graph(tmp_path / name)
    assert found.graph == graph
    assert found.attributes[0, 1] == {"weight": -0.25}
    assert abs(found.attributes[1, 2]["weight"]) < 1e-200


def test_dot_by_hand(tmp_path: Path) -> None:
    path = tmp_path / "x.gv"
    path.write_text(
        'strict graph "g -> h" { node [shape=box]; label="x -> y" // a -> b\n'
        'c -- d:n [weight=2, color=red, "log_p"="-1.5"]; subgraph cluster_1 { e; "f\\\ng" -- h }\n'
        "i -- {j k} ; l -- m -- n }",
        encoding="utf-8",
    )
    named = read_graph(path)
    assert named.names == ("c", "d", "e", "fg", "h", "i", "j", "k", "l", "m", "n")
    assert named.graph.edges == ((0, 1), (3, 4), (5, 6), (5, 7), (8, 9), (9, 10))
    assert named.attributes == {(0, 1): {"weight": 2.0, "log_p": -1.5}}


def test_labels_and_names_of_foreign_files(tmp_path: Path) -> None:
    (tmp_path / "x.gml").write_text(
        'graph [ node [ id 3 label "é" ] node [ id 1 label 5 ] edge [ source 1 target 3 ] ]'
    )
    assert read_graph(tmp_path / "x.gml").names == ("é", "5")
    (tmp_path / "x.gml").write_text("graph [ node [ id 3 ] node [ id 1 ] edge [ source 1 target 3 value 2 ] ]")
    assert read_graph(tmp_path / "x.gml") == NamedGraph(Graph(2, [(0, 1)]), ("3", "1"), {(0, 1): {"value": 2.0}})
    graph = nx.Graph([("n0", "n1")])
    nx.set_node_attributes(graph, {"n0": "age", "n1": "sex"}, "name")
    nx.write_graphml(graph, tmp_path / "x.graphml")
    assert read_graph(tmp_path / "x.graphml").names == ("age", "sex")


def test_networkx_reads_our_gexf_and_the_reverse(tmp_path: Path) -> None:
    path, numbers = tmp_path / "g.gexf", {(0, 2): {"weight": -0.5, "support": -1.5}, (1, 2): {"support": math.inf}}
    write_graph(path, Graph(3, [(0, 2), (1, 2)]), ["a b", "ü<", "7"], attributes=numbers)
    theirs = nx.read_gexf(path, version="1.3") if _knows_gexf_1_3() else None
    if theirs is not None:
        found = {(a, b): {k: x for k, x in d.items() if k != "id"} for a, b, d in theirs.edges(data=True)}
        assert list(theirs) == ["a b", "ü<", "7"]
        assert found == {("a b", "7"): numbers[0, 2], ("ü<", "7"): numbers[1, 2]}
    for version in ("1.1draft", "1.2draft", *(("1.3",) if _knows_gexf_1_3() else ())):
        nx.write_gexf(nx.karate_club_graph(), path, version=version)
        ours = read_graph(path)
        assert nx.is_isomorphic(ours.graph.to_networkx(), nx.karate_club_graph())
        weights = {tuple(sorted((int(a), int(b)))): d["weight"] for a, b, d in nx.karate_club_graph().edges(data=True)}
        names = [int(name) for name in ours.names]
        assert {tuple(sorted((names[u], names[v]))): x["weight"] for (u, v), x in ours.attributes.items()} == weights


def _knows_gexf_1_3() -> bool:
    """Return whether this networkx reads version 1.3; older ones do not."""
    return "1.3" in nx.readwrite.gexf.GEXF.versions


def test_networkx_reads_our_cytoscape_json_and_the_reverse(tmp_path: Path) -> None:
    path = tmp_path / "g.cyjs"
    write_graph(path, Graph(3, [(0, 2)]), ["a b", "ü", "7"], attributes={(0, 2): {"weight": -0.5}})
    theirs = nx.cytoscape_graph(json.loads(path.read_text(encoding="utf-8")))
    assert list(theirs) == ["a b", "ü", "7"]
    assert theirs.edges["a b", "7"]["weight"] == -0.5
    path.write_text(json.dumps(nx.cytoscape_data(nx.karate_club_graph())))
    ours = read_graph(path)
    assert ours.graph.edges == tuple(sorted(tuple(sorted(pair)) for pair in nx.karate_club_graph().edges))
    assert ours.names == tuple(map(str, range(34)))
    assert ours.attributes[0, 1] == {"weight": 4.0}


def test_files_of_gephi_and_cytoscape(tmp_path: Path) -> None:
    (tmp_path / "g.gexf").write_text(
        '<?xml version="1.0" encoding="UTF-8"?><gexf xmlns="http://gexf.net/1.3" version="1.3" '
        'xmlns:viz="http://gexf.net/1.3/viz"><meta lastmodifieddate="2022-01-01"><creator>Gephi 0.10.1</creator></meta>'
        '<graph defaultedgetype="undirected" mode="static"><attributes class="node" mode="static">'
        '<attribute id="0" title="age" type="integer"/></attributes><attributes class="edge" mode="static">'
        '<attribute id="0" title="support" type="double"/><attribute id="1" title="kind" type="string"/></attributes>'
        '<nodes count="3"><node id="n1" label="age"><attvalues><attvalue for="0" value="3"/></attvalues>'
        '<viz:size value="10.0"/><viz:position x="1.0" y="2.0"/></node><node id="n2" label="sex"/>'
        '<node id="n3" label=""/></nodes><edges count="1"><edge id="0" source="n2" target="n1" weight="0.25">'
        '<attvalues><attvalue for="0" value="-INF"/><attvalue for="1" value="x"/></attvalues>'
        '<viz:color r="1" g="2" b="3"/></edge></edges></graph></gexf>'
    )
    numbers = {(0, 1): {"weight": 0.25, "support": -math.inf}}
    assert read_graph(tmp_path / "g.gexf") == NamedGraph(Graph(3, [(0, 1)]), ("age", "sex", ""), numbers)
    nodes = [{"data": {"id": str(60 + k), "SUID": 60 + k, "name": name}} for k, name in enumerate("ab")]
    data = {"id": "70", "source": "61", "target": "60", "SUID": 70, "selected": False, "support": 2, "w": "inf"}
    expected = NamedGraph(Graph(2, [(0, 1)]), ("a", "b"), {(0, 1): {"support": 2.0, "w": math.inf}})
    for elements in (
        {"nodes": nodes, "edges": [{"data": data, "selected": False}]},
        [*nodes, {"data": data}],
        [{"group": "nodes", **node} for node in nodes] + [{"group": "edges", "data": data}],
    ):
        (tmp_path / "g.cyjs").write_text(json.dumps({"generated_by": "cytoscape-3.10.0", "elements": elements}))
        assert read_graph(tmp_path / "g.cyjs") == expected


def test_nodes_without_labels_are_named_by_id(tmp_path: Path) -> None:
    (tmp_path / "g.gexf").write_text(
        '<gexf><graph><nodes><node id="a" label="x"/><node id="b"/></nodes></graph></gexf>'
    )
    assert read_graph(tmp_path / "g.gexf").names == ("a", "b")
    empty = '<gexf><graph><nodes><node id="a" label=""/><node id="b" label=""/></nodes></graph></gexf>'
    (tmp_path / "g.gexf").write_text(empty)
    assert read_graph(tmp_path / "g.gexf").names == ("a", "b")


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


def test_dot_is_read_from_several_threads(tmp_path: Path) -> None:
    write_graph(tmp_path / "x.dot", Graph.complete(8))
    found: list[NamedGraph] = []
    threads = [threading.Thread(target=lambda: found.append(read_graph(tmp_path / "x.dot"))) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [named.graph for named in found] == [Graph.complete(8)] * 4


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
