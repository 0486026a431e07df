"""`mnlearn convert`."""

from __future__ import annotations

from itertools import product
from pathlib import Path
from typing import Any

import pytest

from mnlearn.graphs import FORMATS, Graph, read_graph, write_graph
from profiles import few

NAMES = ("sleep", "größe", "[red]", "lonely", "<b>")
GRAPH = Graph(5, [(0, 1), (1, 2), (0, 4)])
SUFFIX = {format: f".{format}" for format in FORMATS} | {"table": ".edges.csv"}


@pytest.mark.parametrize(("source", "target"), few(product(FORMATS, FORMATS), 10))
def test_every_format_to_every_format(run: Any, tmp_path: Path, source: str, target: str) -> None:
    first, second = tmp_path / f"first{SUFFIX[source]}", tmp_path / f"second{SUFFIX[target]}"
    write_graph(first, GRAPH, NAMES)
    shown = run("convert", first, second)
    assert (shown.code, shown.err) == (0, "")
    assert shown.out == f"{second}: 5 variables (1 isolated), 3 edges\n"
    copy = read_graph(second)
    assert (copy.graph, copy.names) == (GRAPH, NAMES)


@pytest.mark.parametrize("target", FORMATS)
def test_numbers_on_edges_are_kept_or_noted(run: Any, tmp_path: Path, target: str) -> None:
    first, second = tmp_path / "first.json", tmp_path / f"second{SUFFIX[target]}"
    numbers = {(0, 1): {"support": -3.5, "weight": 2.0}, (1, 2): {"support": -1.0}}
    write_graph(first, GRAPH, NAMES, attributes=numbers)
    done = run("convert", first, second, "--json")
    copy = read_graph(second)
    assert (copy.graph, copy.names) == (GRAPH, NAMES)
    if target in ("edges", "csv"):
        assert done.document()["left_out"] == ["support", "weight"]
        assert "cannot store these numbers on edges: support, weight" in done.err
        assert copy.attributes == {}
    else:
        assert done.document()["left_out"] == []
        assert done.err == ""
        assert copy.attributes == numbers


def test_json_describes_the_graph(run: Any, tmp_path: Path) -> None:
    first, second = tmp_path / "first.edges", tmp_path / "second.gv"
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
    write_graph(first, GRAPH, NAMES, format="gml")
    assert run("convert", first, second, "--from", "gml", "--to", "json").code == 0
    assert read_graph(second, "json").graph == GRAPH


def test_an_existing_file_is_replaced(run: Any, tmp_path: Path) -> None:
    first, second = tmp_path / "first.edges", tmp_path / "second.json"
    write_graph(first, GRAPH, NAMES)
    second.write_text("old")
    assert run("convert", first, second).code == 0
    assert read_graph(second).graph == GRAPH
    assert sorted(path.name for path in tmp_path.iterdir()) == ["first.edges", "second.json"]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("good.edges", "good.edges"), "TARGET must be another file than SOURCE"),
        (("good.edges", "link.json", "--from", "edges"), "TARGET must be another file than SOURCE"),
        (("good.edges", "nowhere/out.json"), "TARGET must be in an existing folder; there is no"),
        (("good.edges", "folder.json"), "TARGET must be a file; 'folder.json' is a directory"),
        (("missing.edges", "out.json"), "there is no missing.edges"),
        (("good.edges", "out.xyz"), "with one of edges, table, csv, graphml, gml, gexf, cyjs, dot, json"),
        (("good.edges", "out.json", "--to", "jason"), "graph format 'jason' does not exist. Did you mean 'json'?"),
        (("bad.json", "out.edges"), "cannot be read as JSON"),
        (("empty.edges", "out.json"), "must hold a graph; got an empty file"),
        (("latin.edges", "out.json"), "must be UTF-8"),
        (("directed.dot", "out.json"), "undirected"),
        (("tab.json", "out.edges"), "tab"),
    ],
)
def test_refusals(
    run: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...], message: str
) -> None:
    monkeypatch.chdir(tmp_path)
    write_graph("good.edges", GRAPH, NAMES)
    write_graph("tab.json", Graph(2, [(0, 1)]), ["a\tb", "c"], attributes={(0, 1): {"support": 1.0}})
    Path("link.json").symlink_to("good.edges")
    Path("folder.json").mkdir()
    Path("bad.json").write_text("{")
    Path("empty.edges").write_text("")
    Path("latin.edges").write_bytes(b"caf\xe9\ttea\n")
    Path("directed.dot").write_text("digraph { a -> b }")
    before = sorted(path.name for path in tmp_path.iterdir())
    assert message in run("convert", *words).refusal()
    assert sorted(path.name for path in tmp_path.iterdir()) == before
