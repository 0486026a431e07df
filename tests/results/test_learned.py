"""A learned network by name: the order of its edges, and what its document says."""

from __future__ import annotations

import json
import xml.etree.ElementTree as ET
from dataclasses import replace
from math import inf
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mnlearn.errors import InputError, MissingDependencyError, UnknownNameError
from mnlearn.graphs import Graph, NamedGraph, write_graph
from mnlearn.protocols import Question, Result
from mnlearn.results import Learned, LearnedEdge

NAMES = ("rain", "wet", "slippery", "monday")
GRAPH = Graph(4, [(0, 1), (0, 2), (1, 2), (2, 3)])
BY_TEST = Result(GRAPH, None, {(0, 1): -2.0, (0, 2): -9.0, (2, 3): -9.0}, True, {"asked": 12})
BY_SCORE = Result(
    GRAPH,
    -31.5,
    {(0, 1): 2.0, (0, 2): inf, (1, 2): -0.5},
    True,
    {"scored": 7},
    {"start": Graph(2), "graph_prior": len, "required": ((0, 2),), "seed": 3, "limits": {1: (2.5, None)}},
    support_scale="log_odds",
    stages={"and": Graph(4, [(0, 1)])},
    alternatives=((Graph(4), -40.0),),
    edge_probabilities={(0, 1): 0.9, (0, 2): 1.0},
)


@pytest.mark.parametrize(
    ("result", "expected"),
    [
        (BY_TEST, ["rain-slippery", "slippery-monday", "rain-wet", "wet-slippery"]),
        (BY_SCORE, ["rain-slippery", "rain-wet", "wet-slippery", "slippery-monday"]),
    ],
)
def test_the_best_supported_edge_comes_first_on_either_scale(result: Result, expected: list[str]) -> None:
    edges = Learned("any", NAMES, result).edge_list()
    assert [f"{edge.u}-{edge.v}" for edge in edges] == expected
    assert edges[-1].support is None  # what has none comes last, ties in the order of the variables
    assert isinstance(edges[0], LearnedEdge)


def test_the_document_of_a_search_by_tests() -> None:
    document = Learned("gsmn", NAMES, BY_TEST).to_dict()
    assert list(document) == [
        *("method", "choice", "variables", "edges", "weight", "weight_measure", "support", "probability"),
        *("support_scale", "score", "converged", "cost", "settings"),
    ]
    assert document["score"] is None
    assert document["support"] == [-9.0, -9.0, -2.0, None]


def test_the_document_of_a_search_by_score_has_all_it_found() -> None:
    learned = Learned("exhaustive", NAMES, BY_SCORE)
    document: Any = learned.to_dict()
    assert (document["score"], document["support_scale"]) == (-31.5, "log_odds")
    assert document["stages"] == {"and": [["rain", "wet"]]}
    assert document["alternatives"] == [{"edges": [], "score": -40.0}]
    assert document["edge_probabilities"] == [["rain", "wet", 0.9], ["rain", "slippery", 1.0]]
    assert document["settings"]["required"] == [[0, 2]]
    assert document["settings"]["limits"] == {"1": [2.5, None]}
    assert "Graph(2" in document["settings"]["start"]
    json.dumps(document)
    assert learned.stages["and"] == Graph(4, [(0, 1)])
    assert learned.score == -31.5


def test_one_line_says_what_was_found() -> None:
    assert str(Learned("gsmn", NAMES, BY_TEST)) == "gsmn: 4 edges among 4 variables, 12 tests"
    stopped = replace(BY_SCORE, converged=False)
    assert str(Learned("ib", NAMES, stopped)) == "ib: 4 edges among 4 variables, score -31.5; stopped before its end"


def test_edges_are_a_data_frame_of_the_kind_that_is_asked_for() -> None:
    learned = Learned("exhaustive", NAMES, BY_SCORE, frequencies={(0, 1): 0.5, (0, 3): 0.25})
    frames = {kind: learned.edges(kind) for kind in ("pandas", "polars", "pyarrow")}
    assert [type(frame) for frame in frames.values()] == [pd.DataFrame, pl.DataFrame, pa.Table]
    for frame in frames.values():
        known = [name for name in LearnedEdge._fields if name != "weight"]  # there are no data
        assert list(getattr(frame, "column_names", None) or frame.columns) == known
    told = [{name: getattr(edge, name) for name in known} for edge in learned.edge_list()]
    assert frames["polars"].to_dicts() == frames["pyarrow"].to_pylist() == told
    assert frames["pandas"]["support"].tolist()[:3] == [inf, 2.0, -0.5]
    assert np.isnan(frames["pandas"]["support"][3])
    assert frames["pandas"]["frequency"].tolist() == [0.0, 0.5, 0.0, 0.0]
    assert list(Learned("gsmn", NAMES, BY_TEST).edges().columns) == ["u", "v", "support"]
    assert isinstance(Learned("gsmn", NAMES, BY_TEST, frame="polars").edges(), pl.DataFrame)
    assert list(Learned("gsmn", NAMES, Result(Graph(4), None, {}, True, {})).edges("pandas").columns)


def test_without_pandas_and_polars_edges_are_an_arrow_table(monkeypatch: pytest.MonkeyPatch) -> None:
    learned = Learned("gsmn", NAMES, BY_TEST)
    monkeypatch.setattr("mnlearn.data.writers.find_spec", lambda _: None)
    assert isinstance(learned.edges(), pa.Table)
    monkeypatch.setitem(__import__("sys").modules, "polars", None)
    with pytest.raises(MissingDependencyError, match="polars is needed for such a data frame"):
        learned.edges("polars")
    with pytest.raises(UnknownNameError, match="kind of data frame 'excel' does not exist"):
        learned.edges("excel")  # type: ignore[arg-type]


def test_pairs_are_those_of_which_something_is_known() -> None:
    with pytest.raises(InputError, match="pairs must have been kept by the search"):
        Learned("gsmn", NAMES, BY_TEST).pair_list()
    averaged = Learned("exhaustive", NAMES, BY_SCORE)
    assert {(pair.u, pair.v) for pair in averaged.pair_list(0.5)} == {("rain", "wet"), ("rain", "slippery")}
    frame = Learned("gsmn", NAMES, BY_TEST, frequencies={(0, 3): 0.25, (0, 2): 1.0}).pairs(frame="pandas")
    assert frame["edge"].tolist() == [True, True, True, False, True]
    assert frame.iloc[3].tolist()[:2] == ["rain", "monday"]
    asked = (
        Question(3, 0, frozenset(), True, -1.0, "data", "grow"),
        Question(0, 3, frozenset({1}), True, -0.25, "data", "shrink"),
        Question(1, 3, frozenset(), False, -9.0, "data", "grow"),
        Question(1, 3, frozenset({2}), True, None, "triangle", "grow"),
    )
    traced = {(p.u, p.v): p.support for p in Learned("gsmn", NAMES, replace(BY_TEST, trace=asked)).pair_list()}
    assert traced[("rain", "monday")] == -0.25
    assert len(traced) == 5
    for least in (1.5, "much", True):
        with pytest.raises(InputError, match="least must be a probability, from 0 to 1"):
            averaged.pair_list(least)  # type: ignore[arg-type]


def test_a_summary_tells_what_was_found_and_why() -> None:
    learned = Learned("sep", NAMES, replace(BY_SCORE, converged=False), choice="no method was named: using sep")
    told = learned.summary()
    for line in (
        "network:    4 edges among 4 variables, 66.7% of all pairs",
        "hub:        slippery with 3 neighbours",
        "method:     sep (no method was named: using sep)",
        "stopped:    before the end of the search: the best network so far",
        "rain      slippery       inf        1.000",
    ):
        assert line in told.splitlines()
    assert repr(learned) == f"<Learned {learned}>"
    many = Learned("gsmn", tuple("abcdef"), Result(Graph.complete(6), None, {}, True, {}))
    assert many.summary().endswith("and 5 more: edges() has them all")
    sparse = Learned("gsmn", tuple(map(str, range(100))), Result(Graph(100, [(0, 1)]), None, {}, True, {}))
    assert "network:    1 edge among 100 variables, 0.02% of all pairs" in sparse.summary()
    large = Learned("gsmn", tuple(map(str, range(1000))), Result(Graph(1000), None, {}, True, {"asked": 499500}))
    assert str(large).startswith("gsmn: 0 edges among 1,000 variables")
    none = Learned("gsmn", ("a", "b"), Result(Graph(2), None, {}, True, {}))
    assert "isolated:   2 variables without an edge" in none.summary()
    assert none._repr_html_().count("<table>") == 1


def test_names_are_text_in_a_notebook_and_on_a_terminal() -> None:
    bad = ("<script>alert(1)</script>", "\x1b[31mred\n", "a&b", "d")
    learned = Learned("gsmn", bad, BY_TEST)
    assert "<script>" not in learned._repr_html_()
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in learned._repr_html_()
    assert "\x1b" not in learned.summary()
    assert "\\x1b[31mred\\n" in learned.summary()


def test_a_notebook_shows_a_small_picture_that_is_always_the_same() -> None:
    edges = {(k, k + 1): -5.0 for k in range(9)}
    names = ("<b>", *(f"x{k}" for k in range(9)))
    html = Learned("gsmn", names, Result(Graph(10, edges), None, edges, True, {}))._repr_html_()
    drawn = html[html.index("<svg") : html.index("</svg>") + 6]
    assert drawn.count("<circle") == 10
    assert drawn.count("<line") == 9
    assert "&lt;b&gt;" in drawn
    assert ET.fromstring(drawn).tag.endswith("svg")
    assert html == Learned("gsmn", names, Result(Graph(10, edges), None, edges, True, {}))._repr_html_()
    large = Learned("gsmn", tuple(f"x{k}" for k in range(61)), Result(Graph(61, edges), None, edges, True, {}))
    assert "<svg" not in large._repr_html_()


def test_two_networks_side_by_side(tmp_path: Any) -> None:
    learned = Learned("gsmn", NAMES, BY_TEST)
    other = NamedGraph(Graph(4, [(0, 3), (1, 2), (0, 1)]), ("monday", "wet", "rain", "slippery"))
    write_graph(tmp_path / "other.graphml", other.graph, other.names)
    found = learned.compare(other)
    assert found.shared == (("rain", "wet"), ("slippery", "monday"))
    assert found.only_here == (("rain", "slippery"), ("wet", "slippery"))
    assert found.only_there == (("wet", "monday"),)
    assert (found.hamming, found.jaccard) == (3, 0.4)
    assert learned.compare(tmp_path / "other.graphml") == found
    assert learned.compare(learned).to_dict()["kappa"] == 1.0
    assert str(found).splitlines()[1] == "only here: rain - slippery"
    with pytest.raises(UnknownNameError, match="only the other one has 'tuesday'"):
        learned.compare(NamedGraph(Graph(4), ("rain", "wet", "slippery", "tuesday")))
    with pytest.raises(UnknownNameError, match="only this one has 'monday'"):
        learned.compare(NamedGraph(Graph(3), ("rain", "wet", "slippery")))


@given(st.sets(st.integers(0, 9)), st.sets(st.integers(0, 9)))
def test_kappa_is_that_of_the_table_of_pairs(here: set[int], there: set[int]) -> None:
    """The obvious way: mark every pair in both networks, and compare the marks."""
    pairs = [(u, v) for u in range(5) for v in range(u + 1, 5)]
    first, second = (Graph(5, [pairs[k] for k in chosen]) for chosen in (here, there))
    names = tuple("abcde")
    found = Learned("any", names, Result(first, None, {}, True, {})).compare(NamedGraph(second, names))
    marks = [(k in here, k in there) for k in range(10)]
    agreed = sum(a == b for a, b in marks) / 10
    assert found.hamming == sum(a != b for a, b in marks)
    chance = sum(sum(a == s for a, _ in marks) * sum(b == s for _, b in marks) for s in (True, False)) / 100
    assert found.kappa == pytest.approx(1.0 if here == there else (agreed - chance) / (1 - chance))


@pytest.mark.parametrize("frame", ["pandas", "polars", "pyarrow"])
def test_a_network_without_edges_has_the_same_columns(frame: Any) -> None:
    empty = Result(Graph(4), None, {}, True, {}, support_scale="log_odds", probabilistic=True)
    known = Learned("sep", NAMES, empty, frequencies={(0, 1): 0.25})
    edges, pairs = known.edges(frame), known.pairs(frame=frame)
    columns = ["u", "v", "support", "probability", "frequency"]
    assert list(getattr(edges, "column_names", edges.columns)) == columns
    assert list(getattr(pairs, "column_names", pairs.columns)) == [*columns, "edge"]
    assert len(edges) == 0
    plain = Learned("gsmn", NAMES, replace(empty, probabilistic=False))
    assert list(plain.edges("pandas").columns) == columns[:3]


def test_only_networks_are_compared() -> None:
    with pytest.raises(InputError, match=r"other must be a learned network, .* got int\. Pass what mnlearn\.learn"):
        Learned("gsmn", NAMES, BY_TEST).compare(3)  # type: ignore[arg-type]
