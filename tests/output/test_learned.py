"""A learned network by name: the order of its edges, and what its document says."""

from __future__ import annotations

import json
from dataclasses import replace
from math import inf
from typing import Any

import pytest

from mnlearn.graphs import Graph
from mnlearn.output import Learned, LearnedEdge
from mnlearn.protocols import Result

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
    edges = Learned("any", NAMES, result).edges()
    assert [f"{edge.u}-{edge.v}" for edge in edges] == expected
    assert edges[-1].support is None  # what has none comes last, ties in the order of the variables
    assert isinstance(edges[0], LearnedEdge)


def test_the_document_of_a_search_by_tests() -> None:
    document = Learned("gsmn", NAMES, BY_TEST).to_dict()
    assert list(document) == [
        *("method", "variables", "edges", "support", "probability", "support_scale", "score", "converged"),
        *("cost", "settings"),
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
