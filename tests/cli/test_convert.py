"""`mnlearn convert`."""

from __future__ import annotations

from itertools import product
from pathlib import Path
from typing import Any

import pytest

from graph_files import READ
from mnlearn.graphs import Graph, read_graph, write_graph
from profiles import few

NAMES = ("sleep", "größe", "[red]", "lonely", "<b>")
GRAPH = Graph(5, [(0, 1), (1, 2), (0, 4)])
SUFFIX = {format: f".{format}" for format in READ} | {"table": ".edges.csv"}


@pytest.mark.parametrize(("source", "target"), few(product(READ, READ), 10))
def test_every_format_to_every_format(run: Any, tmp_path: Path, source: str, target: str) -> None:
    first, second = tmp_path / f"first{SUFFIX[source]}", tmp_path / f"second{SUFFIX[target]}"
    write_graph(first, GRAPH, NAMES)
    shown = run("convert", first, second)
    assert (shown.code, shown.err) == (0, "")
    assert shown.out == f"{second}: 5 variables (1 isolated), 3 edges\n"
    copy = read_graph(second)
    assert (copy.graph, copy.names) == (GRAPH, NAMES)


@pytest.mark.parametrize("target", READ)
def test_numbers_on_edges_are_kept_or_noted(run: Any, tmp_path: Path, target: str) -> None:
    first, second = tmp_path / "first.json", tmp_path / f"second{SUFFIX[target]}"
    numbers = {(0, 1): {"support": -3.5, "weight": 2.0}, (1, 2): {"support": -1.0}}
    write_graph(first, GRAPH, NAMES, attributes=numbers)
    done = run("convert", first, second, "--json")
    copy = read_graph(second)
    assert (copy.graph, copy.names) == (GRAPH, NAMES)
    if target == "csv":
        assert done.document()["left_out"] == ["support", "weight"]
        assert "cannot store these numbers on edges: support, weight" in done.err
        assert copy.attributes == {}
    else:
        assert done.document()["left_out"] == []
        assert done.err == ""
        assert copy.attributes == numbers


def test_json_describes_the_graph(run: Any, tmp_path: Path) -> None:
    first, second = tmp_path / "first.edges.csv", tmp_path / "second.gv"
    write_graph(first, GRAPH, NAMES)
    assert run("convert", first, second, "--json").document() == {
        "source": str(first),
        "target": str(second),
        "variables": 5,
        "edges": 3,
        "isolated": 1,
        "left_out": [],
    }


def test_formats_can_be_named(run: Any, tmp_path: Path) -> None:
    first, second = tmp_path / "first.dat", tmp_path / "second.dat"
    write_graph(first, GRAPH, NAMES, format="graphml")
    assert run("convert", first, second, "--from", "graphml", "--to", "json").code == 0
    assert read_graph(second, "json").graph == GRAPH


def test_an_existing_file_is_replaced(run: Any, tmp_path: Path) -> None:
    first, second = tmp_path / "first.edges.csv", tmp_path / "second.json"
    write_graph(first, GRAPH, NAMES)
    second.write_text("old")
    assert run("convert", first, second).code == 0
    assert read_graph(second).graph == GRAPH
    assert sorted(path.name for path in tmp_path.iterdir()) == ["first.edges.csv", "second.json"]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("good.edges.csv", "good.edges.csv"), "TARGET must be another file than SOURCE"),
        (("good.edges.csv", "link.json", "--from", "table"), "TARGET must be another file than SOURCE"),
        (("good.edges.csv", "nowhere/out.json"), "TARGET must be in an existing folder; there is no"),
        (("good.edges.csv", "folder.json"), "TARGET must be a file; 'folder.json' is a directory"),
        (("missing.csv", "out.json"), "there is no missing.csv"),
        (("good.edges.csv", "out.xyz"), "with one of table, csv, graphml, dot, json"),
        (("good.edges.csv", "out.json", "--to", "jason"), "graph format 'jason' does not exist. Did you mean 'json'?"),
        (("bad.json", "out.csv"), "cannot be read as JSON"),
        (("empty.csv", "out.json"), "must hold a graph; got an empty file"),
        (("latin.csv", "out.json"), "must be UTF-8"),
        (("directed.graphml", "out.json"), "undirected"),
        (("good.dot", "out.json"), "DOT is only written"),
        (("good.edges.csv", "out.gml"), "Gephi, Cytoscape, igraph and yEd read and write GraphML"),
        (("unnamed.json", "out.edges.csv"), "must not be empty"),
    ],
)
def test_refusals(
    run: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...], message: str
) -> None:
    monkeypatch.chdir(tmp_path)
    write_graph("good.edges.csv", GRAPH, NAMES)
    write_graph("unnamed.json", Graph(2, [(0, 1)]), ["", "c"])
    Path("link.json").symlink_to("good.edges.csv")
    Path("folder.json").mkdir()
    Path("bad.json").write_text("{")
    Path("empty.csv").write_text("")
    Path("latin.csv").write_bytes(b"u,v\ncaf\xe9,tea\n")
    Path("directed.graphml").write_text('<graphml><graph edgedefault="directed"><node id="a"/></graph></graphml>')
    before = sorted(path.name for path in tmp_path.iterdir())
    assert message in run("convert", *words).refusal()
    assert sorted(path.name for path in tmp_path.iterdir()) == before
