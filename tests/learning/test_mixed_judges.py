"""Learners on tables of several kinds: by the test mixed and the score ebic, as defaults and by name."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

import mnlearn as mn
from mnlearn.data import Dataset
from mnlearn.graphs import grid
from mnlearn.graphs.graph import Graph
from mnlearn.learning import METHODS
from mnlearn.simulate import Margin, mixed_network, ordinal_field, random_gaps, spread_margins

TRUTH = grid(3, 4)
BY_TEST = ["gsmn", "gsmn*", "gsimn", "hhc-mn", "pc"]


def table(n_rows: int = 2000, seed: int = 1, *, share: float = 0.0) -> Dataset:
    kinds = [Margin(kind) for kind in ("nominal", "ordinal", "count", "continuous")]
    network = mixed_network(TRUTH, spread_margins(12, kinds, seed), seed, weakest=0.25, strongest=0.4)
    data = network.dataset(n_rows, seed=seed + 1)
    return random_gaps(data, share, seed=seed + 2) if share else data


def errors(graph: Graph, truth: Graph = TRUTH) -> int:
    return len(set(graph.edges) ^ set(truth.edges))


@pytest.mark.parametrize("method", BY_TEST)
@pytest.mark.parametrize("share", [0.0, 0.05])
def test_methods_by_tests_find_most_edges_of_a_mixed_network(method: str, share: float) -> None:
    data = table(share=share)
    learned = mn.learn(data, method)
    assert learned.settings["test"] == "mixed"
    assert learned.settings["alpha"] == METHODS[method].test_defaults["alpha"]
    assert errors(learned.graph) <= 4
    assert mn.learn(data, method, test="mixed", n_jobs=1).graph == learned.graph


@pytest.mark.parametrize(("method", "settings"), [("mbs", {}), ("hillclimb", {"score": "ebic"})])
def test_methods_by_scores_find_most_edges_of_a_mixed_network(method: str, settings: dict[str, Any]) -> None:
    learned = mn.learn(table(), method, **settings)
    assert learned.settings["score"] == "ebic"
    assert errors(learned.graph) <= 4
    assert mn.learn(table(), method, **settings, n_jobs=1).graph == learned.graph


def test_an_exhaustive_search_over_several_kinds() -> None:
    data = table().select(table().names[:4])
    found = mn.learn(data, "exhaustive", score="ebic")
    assert errors(found.graph, Graph(4, [edge for edge in TRUTH.edges if max(edge) < 4])) <= 1


@pytest.mark.parametrize("method", ["gsmn*", "pc"])
def test_order_is_used_by_default(method: str) -> None:
    truth = grid(3, 4)
    data = ordinal_field(truth, seed=3).dataset(1000, seed=4)
    ordered, nominal = mn.learn(data, method), mn.learn(data, method, test="chi2")
    assert ordered.settings["test"] == "mixed"
    assert errors(ordered.graph, truth) < errors(nominal.graph, truth)


@pytest.mark.parametrize(
    ("columns", "test", "score"),
    [
        ({"a": list("xyz") * 20, "b": list("xxy") * 20}, "chi2", "mpl"),
        ({"a": np.random.default_rng(1).standard_normal(60), "b": np.arange(60) / 7}, "pcor", "ebic"),
        ({"a": list("xyz") * 20, "b": np.arange(60) / 7}, "mixed", "ebic"),
        ({"a": pd.Categorical([1, 2, 3] * 20, ordered=True), "b": list("xxy") * 20}, "mixed", "ebic"),
        ({"a": pd.Categorical([1, 2, 2] * 20, ordered=True), "b": list("xxy") * 20}, "chi2", "mpl"),
    ],
)
def test_defaults_follow_the_kinds(columns: dict[str, Any], test: str, score: str) -> None:
    frame = pd.DataFrame(columns)
    assert mn.make_test(None, mn.read(frame)).name == test
    assert mn.learn(frame, "gsmn*", transform=None).settings["test"] == test
    assert mn.learn(frame, "mbs", transform=None).settings["score"] == score
    assert mn.learn(frame, "gsmn*", test="mixed", transform=None).converged


def test_counts_are_for_the_mixed_test_and_gaps_alone_are_not() -> None:
    rng = np.random.default_rng(1)
    counts = {"a": rng.poisson(3, 60), "b": rng.poisson(2, 60)}
    assert mn.make_test(None, mn.read(counts, types="count")).name == "mixed"
    gaps = mn.read({"a": [*list("xyz") * 20, None], "b": [None, *list("xxy") * 20]}, missing="testwise")
    assert mn.make_test(None, gaps).name == "chi2"
    numbers = mn.read({"a": [*(np.arange(60) / 7), None], "b": [None, *(np.arange(60) ** 2 / 7)]}, missing="testwise")
    assert mn.make_test(None, numbers).name == "pcor"


def test_questions_about_pairs_of_several_kinds() -> None:
    data = table(500, share=0.1)
    found = mn.independence_test(data, "x0", "x1", ["x4"])
    assert (found.test, found.n_incomplete) == ("mixed", 500 - (found.n_rows or 0))
    assert 0 < found.n_incomplete < 250
    assert found.log_p == mn.independence_test(data, "x1", "x0", ["x4"]).log_p
    first, second = mn.dependences(data, top=2)
    assert (first.test, first.log_p <= second.log_p) == ("mixed", True)  # type: ignore[operator]
    for method in ("gsmn*", "sep"):
        why = mn.learn(data, method).why("x0", "x1")
        assert why.tests[0].test == "mixed"
        assert why.tests[0].n_rows == mn.independence_test(data, "x0", "x1").n_rows


@pytest.mark.parametrize(
    ("method", "settings"), [("mbs", {}), ("mbs", {"score": "ebic"}), ("hillclimb", {"score": "ebic"})]
)
def test_scores_of_gaps_are_refused_with_methods_for_several_kinds(method: str, settings: dict[str, Any]) -> None:
    with pytest.raises(mn.UnsuitableError, match=r"needs complete data; .* or gsmn, gsmn\*, .*pc, sep\.$"):
        mn.learn(table(100, share=0.1), method, **settings)


def test_a_named_judge_of_one_type_is_refused() -> None:
    for test in ("chi2", "pcor"):
        with pytest.raises(mn.UnsuitableError, match=r"pc needs variables of one type; .*test='mixed'"):
            mn.learn(table(100), "pc", test=test)
    with pytest.raises(mn.UnsuitableError, match=r"a score for several kinds: ebic, evidence"):
        mn.make_score("mpl", table(100))
    with pytest.raises(mn.UnsuitableError, match=r"entropy needs variables of one type"):
        mn.make_score("entropy", table(100))


def test_questions_without_rows_are_counted(caplog: pytest.LogCaptureFixture) -> None:
    columns = {"a": [1.5, 2.5, 0.5, 4.5] * 5 + [None] * 20, "b": [None] * 20 + ["x", "y"] * 10, "c": list("pq") * 20}
    found = mn.learn(columns, "gsmn*", missing="testwise")
    assert found.cost["without_rows"] > 0
    assert "no row in which all of their variables are observed" in caplog.text
