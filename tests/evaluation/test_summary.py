"""One record for all measures."""

from __future__ import annotations

from pathlib import Path

import pytest

from mnlearn.errors import InputError
from mnlearn.evaluation import compare_edges, ev_scores, evaluate
from mnlearn.graphs import NamedGraph, cycle, path, write_graph
from mnlearn.protocols import Result
from mnlearn.results import Learned


def test_it_holds_what_the_single_measures_say(tmp_path: Path) -> None:
    found = evaluate(path(5), cycle(5))
    assert found.edges == compare_edges(path(5), cycle(5))
    assert found.ev == ev_scores(path(5), cycle(5))
    assert (found.variables, found.learned_edges, found.true_edges) == (5, 4, 5)
    assert evaluate(path(5), cycle(5), kinds=[]).ev == {}
    names = tuple("abcde")
    write_graph(tmp_path / "learned.json", path(5), names)
    assert evaluate(tmp_path / "learned.json", NamedGraph(cycle(5), names)) == found
    document = found.to_dict()
    keys = {"hamming", "fp", "fn", "precision", "recall", "f1", "normalized_hamming", "ev"}
    assert keys <= set(document)


def test_what_was_learned_is_a_graph_with_names() -> None:
    learned = Learned("pc", ("c", "b", "a"), Result(path(3), None, {}, True, {}))
    found = evaluate(learned, NamedGraph(path(3), ("a", "b", "c")))
    assert found.edges.hamming == 0


def test_bad_input_is_refused_by_name() -> None:
    with pytest.raises(InputError, match="must both have names, or neither"):
        evaluate(path(2), NamedGraph(path(2), ("a", "b")))
    with pytest.raises(InputError, match="learned must be a graph, with or without names, or a file; got a int"):
        evaluate(3, path(2))
