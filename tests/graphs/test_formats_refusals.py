"""Errors for files without a simple undirected graph, and for arguments that no format can write."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from graph_files import READ
from mnlearn.errors import FileError, InputError, UnknownNameError
from mnlearn.graphs import FORMATS, Graph, NamedGraph, read_graph, write_graph
from mnlearn.graphs.named import Attributes

XML = (
    '<graphml xmlns="http://graphml.graphdrawing.org/xmlns"><graph edgedefault="{}">'
    '<node id="a"/><node id="b"/>{}</graph></graphml>'
)
JSON = '{{"format": "mnlearn-graph", "version": {}, "variables": {}, "edges": {}}}'
AB = '["a", "b"]'
BOMB = (
    '<?xml version="1.0"?><!DOCTYPE lolz [<!ENTITY a "lol">'
    + "".join(f'<!ENTITY {y} "{f"&{x};" * 10}">' for x, y in zip("abcdefgh", "bcdefghi", strict=True))
    + "]>"
    + XML.format("undirected", '<node id="&i;"/>')
)


def edge(source: str, target: str, more: str = "") -> str:
    """A GraphML edge."""
    return f'<edge source="{source}" target="{target}" {more}/>'


@pytest.mark.parametrize(
    ("format", "text", "message"),
    [
        ("csv", ",a,b\na,0,1\nb,0,0\n", r"symmetric; got 1 for \('a', 'b'\) and 0 for \('b', 'a'\)"),
        ("csv", ",a,b\na,0,1\nb,2,0\n", "must be symmetric"),
        ("csv", ",a,b\na,0,1\n", "square; got 2 names in the header and 1 rows"),
        ("csv", ",a,b\na,1,0\nb,0,0", "two different variables; got 'a' twice"),
        ("csv", ",a,a\na,0,0\na,0,0", "declared once; got 'a' twice"),
        ("csv", ",a,b\nb,0,1\na,1,0", "same order; got 'b' for 'a'"),
        ("csv", ",a,b\na,0,x\nb,x,0", "row 'a' must hold numbers"),
        ("csv", ",a,b\na,0,\nb,,0", "row 'a' must hold numbers"),
        ("csv", ",a,b\na,0,nan\nb,nan,0", "row 'a' must hold finite numbers"),
        ("csv", ",a,b\na,0\nb,1,0", "row 'a' must hold 2 numbers; got 1"),
        ("csv", '"a', "damaged or of another kind"),
        ("csv", "alone", "at least one variable"),
        ("graphml", XML.format("directed", edge("a", "b")), "undirected; got a directed GraphML graph"),
        ("graphml", XML.format("undirected", edge("a", "b", 'directed="true"')), "directed=true edge"),
        ("graphml", XML.format("undirected", edge("a", "a")), "two different variables; got 'a' twice"),
        ("graphml", XML.format("undirected", edge("a", "c")), "declared nodes; got 'c'"),
        ("graphml", XML.format("undirected", edge("a", "b") + edge("b", "a")), "given once; got 'a' - 'b' twice"),
        ("graphml", XML.format("undirected", '<node id="a"/>'), "id of its own; got 'a' twice"),
        ("graphml", XML.format("undirected", "</graph><graph>"), "one graph; got 2"),
        ("graphml", XML.format("undirected", "")[:-9], "damaged or of another kind; the parser says"),
        ("graphml", XML.format("undirected", "<hyperedge/>"), "hyperedges"),
        ("graphml", "<a/>", "damaged or of another kind"),
        ("graphml", BOMB, "must not declare a DOCTYPE or entities"),
        ("graphml", "<graphml>" + "<a>" * 1_000_000, "nested at most 100 deep"),
        ("json", JSON.format(2, AB, "[]"), '"version" must be at most 1 .* got 2, written by a newer one. Upgrade'),
        ("json", JSON.format('"1"', AB, "[]"), "positive integer; got '1'"),
        ("json", JSON.format(1, '["a", "a"]', "[]"), "declared once; got 'a' twice"),
        ("json", JSON.format(1, '["a", 1]', "[]"), "list of strings; got 1"),
        ("json", JSON.format(1, "[]", "[]"), "at least one variable"),
        ("json", JSON.format(1, '["\\ud800"]', "[]"), "valid Unicode"),
        ("json", JSON.format(1, AB, '[["a", "c"]]'), "declared variables; got 'c'"),
        ("json", JSON.format(1, AB, "[[0, 2]]"), "names or indices .* got 2"),
        ("json", JSON.format(1, AB, "[[true, 0]]"), "names or indices .* got True"),
        ("json", JSON.format(1, AB, '[["a", "a"]]'), "two different variables"),
        ("json", JSON.format(1, AB, '[["a", "b"], ["b", "a"]]'), "given once"),
        ("json", JSON.format(1, AB, '[["a"]]'), r"list of pairs; got \['a'\]"),
        ("json", JSON.format(1, AB, '"ab"'), '"edges" must be a list'),
        ("json", JSON.format(1, AB, '[[0, 1]], "edge_attributes": []'), "must be an object"),
        ("json", JSON.format(1, AB, '[[0, 1]], "edge_attributes": {"w": []}'), "one number or null per edge, 1 in all"),
        ("json", JSON.format(1, AB, '[[0, 1]], "edge_attributes": {"w": ["x"]}'), "numbers or null; got 'x'"),
        ("json", JSON.format(1, AB, '[[0, 1]], "edge_attributes": {"w": [NaN]}'), "JSON numbers; got NaN"),
        ("json", JSON.format(1, AB, '[[0, 1]], "edge_attributes": {"w": [1' + "0" * 400 + "]}"), "damaged"),
        ("json", JSON.format(1, AB, "[]")[:-4], "damaged or of another kind"),
        ("json", '{"format": "other"}', "not an mnlearn graph"),
        ("json", "[" * 100_000, "damaged or of another kind"),
    ],
)
def test_files_without_a_simple_graph_are_refused(format: str, text: str, message: str, tmp_path: Path) -> None:
    path = tmp_path / "given"
    path.write_bytes(text.encode("utf-8"))
    with pytest.raises(FileError, match=message) as caught:
        read_graph(path, format)
    assert str(caught.value).startswith(repr(str(path)))
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("format", READ)
def test_missing_and_empty_files_are_refused(format: str, tmp_path: Path) -> None:
    with pytest.raises(FileError, match="must be an existing file; there is no"):
        read_graph(tmp_path / "missing", format)
    with pytest.raises(FileError, match="is a directory"):
        read_graph(tmp_path, format)
    (tmp_path / "empty").write_text("\n \n")
    with pytest.raises(FileError, match="must hold a graph; got an empty file"):
        read_graph(tmp_path / "empty", format)
    (tmp_path / "bytes").write_bytes(b"\xff\xfe<\x00")
    with pytest.raises(FileError, match="must be UTF-8 text; byte 0 is not"):
        read_graph(tmp_path / "bytes", format)
    with pytest.raises(FileError, match="must be a name without null characters"):
        read_graph("nul\0", format)


@pytest.mark.parametrize("format", READ)
@given(text=st.text(st.characters(exclude_categories=["Cs"]), max_size=40), cut=st.integers(0, 400))
@settings(deadline=None, max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_damage_never_raises_an_error_of_another_library(format: str, text: str, cut: int, tmp_path: Path) -> None:
    path = tmp_path / "given"
    write_graph(path, Graph(4, [(0, 1), (2, 3)]), ["a", "b c", "d", "é"], format=format)
    whole = path.read_text(encoding="utf-8")
    for damaged in (text, whole[:cut] + text, whole[:cut] + text + whole[cut:]):
        path.write_bytes(damaged.encode("utf-8"))
        found: object = None
        with suppress(FileError):
            found = read_graph(path, format)
        assert found is None or isinstance(found, NamedGraph)


def test_unknown_formats_list_the_known_ones(tmp_path: Path) -> None:
    with pytest.raises(UnknownNameError, match=r"graph format 'grapml' does not exist\. Did you mean 'graphml'"):
        read_graph(tmp_path / "x", "grapml")
    known = r"known extension \(.edges.csv, .csv, .*igraph and yEd read and write GraphML\. .* with one of table, csv"
    with pytest.raises(FileError, match=known):
        write_graph(tmp_path / "x.gml", Graph(1))
    with pytest.raises(FileError, match=r"cannot be read: DOT is only written\. Read GraphML, JSON or a CSV of edges"):
        read_graph(tmp_path / "x.dot")


@pytest.mark.parametrize(
    ("names", "attributes", "message"),
    [
        (["a"], {}, "names must hold one name for each of 2 variables; got 1"),
        (["a", "a"], {}, "names must be distinct; got 'a' twice"),
        (["a", 1], {}, "names must be strings; got 1"),
        (["a", "\ud800"], {}, "valid Unicode"),
        (["a", "b"], {(1, 0): {"w": 1.0}}, r"edges \(u, v\) of the graph with u < v; got \(1, 0\)"),
        (["a", "b"], {(0, 1): {"w": "x"}}, "attributes must be numbers .* got 'w': 'x'"),
        (["a", "b"], {(0, 1): {"my key": 1.0}}, "under a name of letters"),
        (["a", "b"], {(0, 1): {"Source": 1.0}}, "none of digraph, edge, graph, id, key, label"),
    ],
)
@pytest.mark.parametrize("format", FORMATS)
def test_bad_arguments(format: str, names: list[str], attributes: Attributes, message: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=message):
        write_graph(tmp_path / "x", Graph(2, [(0, 1)]), names, format=format, attributes=attributes)
    assert list(tmp_path.iterdir()) == []


def test_numbers_are_not_dropped_silently(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"attributes must be finite weights .* Write JSON, .* or an edge table"):
        write_graph(tmp_path / "x", Graph(2, [(0, 1)]), format="csv", attributes={(0, 1): {"w": 1.0}})


def test_paths_that_cannot_be_written(tmp_path: Path) -> None:
    with pytest.raises(FileError, match="cannot be written: No such file or directory"):
        write_graph(tmp_path / "no" / "x.json", Graph(1))
    (tmp_path / "x.json").mkdir()
    with pytest.raises(FileError, match="cannot be written: Is a directory"):
        write_graph(tmp_path / "x.json", Graph(1))
    assert [found.name for found in tmp_path.iterdir()] == ["x.json"]
    with pytest.raises(InputError, match="at least one variable to be named or written"):
        write_graph(tmp_path / "y.json", Graph(0))
