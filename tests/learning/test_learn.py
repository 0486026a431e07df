"""`learn`: one call from data to a network."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import mnlearn as mn
from mnlearn.algorithms import SeparatorEvidence
from mnlearn.algorithms.sep import blankets as _candidate_pairs
from mnlearn.algorithms.sep import blankets as evidence_blankets
from mnlearn.learning import METHODS, SCORES, TESTS, learn, method_settings
from mnlearn.protocols import Question
from mnlearn.simulate import example

SURVEY = example(3000, seed=1)


BY_TEST = sorted(name for name, named in METHODS.items() if named.judge == "test")
FEW = ["night_shifts", "late_coffee", "screen_in_bed", "poor_sleep", "stress", "headaches"]  # few enough for exhaustive
CONTINUOUS = ("lasso", "l1mb", "glasso")  # for continuous variables only
FEW_GRAPH = SURVEY.graph.subgraph([SURVEY.names.index(name) for name in FEW])  # the other variables are not read


def columns_for(method: str) -> list[str]:
    return FEW if method == "exhaustive" else list(SURVEY.names)


@pytest.mark.parametrize("method", BY_TEST)
def test_every_method_by_tests_finds_the_example_nearly(method: str) -> None:
    learned = learn(SURVEY.columns(), method, alpha=0.01)
    wrong = set(learned.graph.edges) ^ set(SURVEY.graph.edges)
    assert len(wrong) <= (6 if method == "gsimn-fch" else 3)  # one wrong test, with all that is inferred from it
    assert learned.method == method
    assert learned.names == tuple(SURVEY.names)
    assert learned.converged
    assert learned.cost["asked"] > 0
    assert learned.settings["method"] == method
    assert learned.settings["test"] == ("g2" if method in ("pc", "hhc-mn") else "chi2")


@pytest.mark.parametrize("method", sorted(set(METHODS) - set(BY_TEST) - {"exhaustive", *CONTINUOUS}))
def test_every_other_method_finds_the_example_nearly(method: str) -> None:
    quick: dict[str, Any] = {"n_penalties": 20, "smallest": 0.01, "patience": 3} if method == "l1lr" else {}
    learned = learn(SURVEY.columns(), method, **quick)
    assert len(set(learned.graph.edges) ^ set(SURVEY.graph.edges)) <= 4
    assert (learned.method, learned.converged) == (method, True)
    if METHODS[method].judge == "score":
        score = str(learned.settings["score"])
        assert score == {"hillclimb": "bjp", "mbs": "mpl", "sep": "evidence"}.get(method, method)
    if METHODS[method].judge == "score" and method != "sep":  # sep does not maximise a score of whole graphs
        assert learned.score == pytest.approx(mn.score(SURVEY.columns(), learned, score).value, abs=1e-6)
    support = [edge.support for edge in learned.edge_list() if edge.support is not None]
    assert len(support) == learned.graph.n_edges
    assert support == sorted(support, reverse=learned.support_scale == "log_odds")
    settings: dict[str, Any] = dict(learned.settings)
    assert learn(SURVEY.columns(), settings.pop("method"), n_jobs=1, **settings).graph == learned.graph
    json.dumps(learned.to_dict())


def test_the_default_suits_the_data_and_is_logged(caplog: pytest.LogCaptureFixture) -> None:
    rng = np.random.default_rng(1)
    numbers = {name: rng.normal(size=60) for name in "abc"}
    for data, options, said in (
        (SURVEY.columns(), {}, "sep with thorough effort, because the variables are categorical"),
        (SURVEY.columns(), {"effort": "fast"}, "sep with fast effort, because the variables are categorical"),
        (
            SURVEY.columns(),
            {"test": "g2"},
            "gsimn with the test g2 (alpha 0.01, dof observed), because test is for methods that use tests",
        ),
        (
            SURVEY.columns(),
            {"alpha": 0.1},
            "gsimn with the test chi2 (alpha 0.1, dof observed), because alpha is for methods that use tests",
        ),
        (numbers, {}, "sep with thorough effort, because the variables are continuous"),
        (
            numbers,
            {"alpha": 0.01},
            "gsimn with the test pcor (alpha 0.01), because alpha is for methods that use tests",
        ),
    ):
        caplog.clear()
        with caplog.at_level("INFO", logger="mnlearn.learning"):
            learned = learn(data, **options)
        size = f"{len(learned.names)} variables, {learned.data.n_rows if learned.data else 0:,} rows"
        assert caplog.messages == [learned.choice] == [f"no method was named: using {said} ({size})"]
        assert learned.method == said.split()[0]


def test_what_many_variables_leave_out_is_logged(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    pairs = "sep: two variables that join together are searched among the 6 strongest partners of each"
    screen = "sep: a screen chooses the pairs to weigh, because there are more than 5 variables: the 20 "
    monkeypatch.setattr(_candidate_pairs, "MOST_FOR_ALL_PAIRS", 5)
    monkeypatch.setattr(evidence_blankets, "ALL_IN_PAIRS", 8)
    monkeypatch.setattr(evidence_blankets, "LEAST_IN_PAIRS", 3)
    for effort, said in (("thorough", [screen, pairs]), ("standard", [screen]), ("fast", [screen])):
        caplog.clear()
        with caplog.at_level("INFO", logger="mnlearn.learning"):
            assert learn(SURVEY.columns(), "sep", effort=effort).settings["effort"] == effort
        assert [message[: len(start)] for message, start in zip(caplog.messages, said, strict=True)] == said
    assert not SeparatorEvidence().limits(5)


def test_edges_have_probabilities_and_absent_pairs_on_request(tmp_path: Path) -> None:
    learned = learn(SURVEY.columns(), "sep", keep_pairs=True)
    for edge in learned.edge_list():
        assert edge.support is not None
        assert edge.probability == pytest.approx(1 / (1 + np.exp(-edge.support)))
        assert (edge.probability or 0.0) > 0.5
    chance = learned.probabilities()
    assert chance.shape == (12, 12)
    assert np.array_equal(chance, chance.T)
    assert (chance.diagonal() == 0).all()
    pairs = learned.pair_list()
    assert len(pairs) == 66
    assert pairs[: learned.graph.n_edges] == learned.edge_list()
    chances = [pair.probability or 0.0 for pair in pairs]
    assert chances == sorted(chances, reverse=True)
    assert learned.pair_list(0.5) == learned.edge_list()
    assert 12 <= len(learned.pair_list(0.05)) < 66
    document: Any = learned.to_dict()
    json.dumps(document)
    assert document["probability"] == [edge.probability for edge in learned.edge_list()]
    assert len(document["edge_probabilities"]) == 66
    learned.save(tmp_path / "net.graphml")
    saved = mn.read_graph(tmp_path / "net.graphml").attributes
    assert all(numbers["probability"] == pytest.approx(chance[edge]) for edge, numbers in saved.items())
    for other in (learn(SURVEY.columns(), "sep"), learn(SURVEY.columns(), "gsimn")):
        with pytest.raises(mn.InputError, match=r"Learn again with keep_pairs=True \(sep\)"):
            other.pair_list()
    for method in ("gsimn", "mpl", "bjp", "l1lr"):  # without probabilities
        assert all(edge.probability is None for edge in learn(SURVEY.columns(), method).edge_list())


def test_stages_of_a_search_are_kept() -> None:
    learned = learn(SURVEY.columns(), "mpl")
    assert set(learned.stages) == {"and", "or", "phase2"}
    assert set(learned.stages["and"].edges) <= set(learned.stages["or"].edges)
    document: Any = learned.to_dict()
    assert {frozenset(edge) for edge in document["stages"]["phase2"]} == {frozenset(e) for e in document["edges"]}


@pytest.mark.parametrize("score", sorted(set(SCORES) - {"entropy"}))  # without a penalty every edge is best
def test_exhaustive_finds_the_few_nearly_by_every_score(score: str) -> None:
    learned = learn(SURVEY.columns(), "exhaustive", score=score, columns=FEW, averaging=True)
    assert len(set(learned.graph.edges) ^ set(FEW_GRAPH.edges)) <= 1
    assert (learned.settings["method"], learned.settings["score"]) == ("exhaustive", score)
    assert learned.converged
    assert learned.score == pytest.approx(mn.score(SURVEY.columns(), learned, score, columns=FEW).value, abs=1e-8)
    support = [edge.support for edge in learned.edge_list() if edge.support is not None]
    assert support == sorted(support, reverse=True)
    document: Any = learned.to_dict()
    assert (document["score"], document["support_scale"]) == (learned.score, "log_odds")
    (runner_up,) = document["alternatives"]
    assert runner_up["score"] < learned.score
    assert len(document["edge_probabilities"]) == 15
    json.dumps(document)


@pytest.mark.parametrize("test", sorted(set(TESTS) - {"pcor", "bayes-pcor", "mi"}))
def test_every_discrete_test_can_be_used(test: str) -> None:
    assert len(set(learn(SURVEY.columns(), "gsmn*", test=test).graph.edges) ^ set(SURVEY.graph.edges)) <= 7


def test_continuous_columns_take_partial_correlations() -> None:
    rng = np.random.default_rng(4)
    a, b, c = rng.standard_normal((3, 500))
    table = {"a": a, "b": a + b, "c": a + b + c}  # a - b - c
    learned = learn(table, alpha=0.001)
    assert learned.settings["test"] == "pcor"
    assert [(e.u, e.v) for e in sorted(learned.edge_list())] == [("a", "b"), ("b", "c")]


def test_settings_of_a_result_reproduce_it() -> None:
    first = learn(SURVEY.columns(), "gsimn", test="g2", alpha=0.02, mirrored=True)
    settings: dict[str, Any] = dict(first.settings)
    again = learn(SURVEY.columns(), settings.pop("method"), **settings)
    assert again.graph == first.graph
    assert {k: v for k, v in again.cost.items() if k != "seconds"} == {
        k: v for k, v in first.cost.items() if k != "seconds"
    }


def test_settings_of_a_result_include_the_reading_options() -> None:
    rng = np.random.default_rng(6)
    a = rng.standard_normal(300)
    table = {"a": a, "b": a + rng.standard_normal(300), "c": rng.standard_normal(300), "left_out": ["?"] * 300}
    first = learn(table, "gsmn*", columns=["a", "b", "c"], discretize="frequency", bins=3, missing="drop_rows")
    settings: dict[str, Any] = dict(first.settings)
    assert (settings["discretize"], settings["bins"], settings["missing"]) == ("frequency", 3, "drop_rows")
    again = learn(table, settings.pop("method"), **settings)
    assert (again.names, again.graph) == (first.names, first.graph)


def test_column_order_and_repeats_do_not_matter_to_pc() -> None:
    columns = SURVEY.columns()
    turned = dict(reversed(columns.items()))
    ends = {frozenset((e.u, e.v)) for e in learn(columns, "pc").edge_list()}
    assert {frozenset((e.u, e.v)) for e in learn(turned, "pc").edge_list()} == ends
    data = mn.read(columns).compact()
    assert data.n_records < data.n_rows
    assert {frozenset((e.u, e.v)) for e in learn(data, "pc").edge_list()} == ends


def test_edges_come_best_supported_first_and_blankets_by_name() -> None:
    learned = learn(SURVEY.columns(), alpha=0.01)
    support = [edge.support for edge in learned.edge_list() if edge.support is not None]
    assert len(support) == learned.graph.n_edges
    assert support == sorted(support)
    for name in learned.names:
        assert {name in learned.blanket(other) for other in learned.blanket(name)} <= {True}
    with pytest.raises(mn.UnknownNameError, match=r"variable 'fatige' does not exist\. Did you mean 'fatigue'"):
        learned.blanket("fatige")


def test_a_trace_is_kept_on_request() -> None:
    assert learn(SURVEY.columns()).trace is None
    trace = learn(SURVEY.columns(), "gsimn", keep_trace=True).trace
    assert trace
    assert all(isinstance(question, Question) for question in trace)


@pytest.mark.parametrize("end", ["graphml", "json", "edges.csv", "csv"])
def test_saved_networks_read_back_equal(end: str, tmp_path: Path) -> None:
    name = f"net.{end}"
    learned = learn(SURVEY.columns(), alpha=0.01)
    learned = replace(learned, frequencies={edge: (k + 1) / 20 for k, edge in enumerate(learned.graph.edges)})
    learned.save(tmp_path / name)
    named = mn.read_graph(tmp_path / name)
    assert (named.graph, named.names) == (learned.graph, learned.names)
    if name != "net.csv":
        assert {e: n["support"] for e, n in named.attributes.items()} == dict(learned.result.support)
        assert {e: n["frequency"] for e, n in named.attributes.items()} == learned.frequencies


def test_other_forms() -> None:
    learned = learn(SURVEY.columns(), alpha=0.01)
    assert learned.adjacency().sum() == 2 * learned.graph.n_edges
    assert set(learned.to_networkx().nodes) == set(learned.names)
    assert str(learned).startswith("gsimn: 13 edges among 12 variables, ")
    document = learned.to_dict()
    assert list(document) == [
        *("method", "choice", "variables", "edges", "weight", "weight_measure", "support", "probability"),
        *("support_scale", "score", "converged", "cost", "settings"),
    ]
    assert (document["support_scale"], document["score"]) == ("log_independence", None)


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"method": "gsim"}, mn.UnknownNameError, r"method 'gsim' does not exist\. Did you mean 'gsimn'"),
        ({"test": "chi"}, mn.UnknownNameError, "test 'chi' does not exist"),
        ({"alpha": 0.0}, mn.InputError, "alpha must be between 0 and 1"),
        ({"alpha": 1.0}, mn.InputError, "alpha must be between 0 and 1"),
        ({"method": "gsimn", "propagate": True}, mn.InputError, "gsimn has no setting 'propagate'"),
        ({"propagate": True}, mn.InputError, "sep has no setting 'propagate'; it accepts"),
        ({"method": "pc", "max_conditioning": -1}, mn.InputError, "max_conditioning must be a whole"),
        ({"test": "pcor"}, mn.UnsuitableError, "pcor needs continuous variables"),
        ({"test": "bayes", "alpha": 0.1}, mn.InputError, "bayes has no setting 'alpha'"),
        ({"columns": ["stress"]}, mn.InputError, "at least 2"),
        (
            {"method": "gsimn", "score": "mpl"},
            mn.InputError,
            r"score is for methods that use a score \(.*exhaustive.*\); gsimn does not",
        ),
        (
            {"method": "exhaustive", "test": "g2"},
            mn.InputError,
            r"test is for methods that use a test \(gsmn",
        ),
        (
            {"method": "exhaustive", "score": "mlp"},
            mn.UnknownNameError,
            r"score 'mlp' does not exist\. Did you mean 'mpl'",
        ),
        (
            {"method": "exhaustive", "score": "mpl", "alpha": 0.1},
            mn.InputError,
            "exhaustive has no setting 'alpha'",
        ),
        (
            {"method": "exhaustive", "score": "pic", "prior_cell": 1},
            mn.InputError,
            "its score pic accepts cardinalities",
        ),
        ({"method": "exhaustive"}, mn.InputError, "at most 21 undecided pairs, those of 7 variables; got 66 among 12"),
        (
            {"alpha": 0.1, "required": [("stress", "fatigue")]},
            mn.InputError,
            r"required is for methods that can respect it \(.*exhaus",
        ),
        ({"method": "exhaustive", "required": ["ab"]}, mn.InputError, "required must hold pairs of two different"),
        ({"method": "exhaustive", "required": [("stress",)]}, mn.InputError, r"got \('stress',\)"),
        (
            {"method": "exhaustive", "forbidden": [("stress", "stress")]},
            mn.InputError,
            "forbidden must hold pairs of two",
        ),
        ({"method": "exhaustive", "forbidden": [("stres", "fatigue")]}, mn.UnknownNameError, "Did you mean 'stress'"),
        ({"method": "mpl", "score": "bjp"}, mn.InputError, "score must be mpl for the method mpl; got 'bjp'"),
        ({"method": "mpl", "start": [("stress", "x")]}, mn.UnknownNameError, "variable 'x' does not exist"),
        ({"method": "l1lr", "test": "g2"}, mn.InputError, r"test is for methods that use .*; l1lr does not"),
        ({"method": "l1lr", "score": "ib"}, mn.InputError, r"score is for methods that use .*; l1lr does not"),
        ({"method": "l1lr", "alpha": 0.1}, mn.InputError, "its judge accepts gamma, n_penalties, patience, smallest"),
        ({"method": "l1lr", "gamma": -1}, mn.InputError, "gamma must be a number of at least 0"),
        ({"n_jobs": 0}, mn.InputError, "n_jobs must be a whole number, at least 1; got 0"),
        ({"method": "ib", "required": 5}, mn.InputError, "required must hold pairs of two different.*; got 5"),
        ({"method": "ib", "forbidden": [5]}, mn.InputError, "forbidden must hold pairs of two different.*; got 5"),
        (
            {"method": "ib", "required": [("stress", "fatigue")], "forbidden": [("fatigue", "stress")]},
            mn.InputError,
            "required and forbidden must not share an edge; both name 'stress' and 'fatigue'",
        ),
        ({"method": "ib", "start": 5}, mn.InputError, "start must be a file, a graph, .*; got 5"),
        ({"method": "ib", "start": mn.Graph(3)}, mn.InputError, "start must have one variable for each of the 12"),
        ({"method": "bjp", "order": 5}, mn.InputError, "order must be a list of names; got 5"),
        (
            {"method": "bjp", "order": ["stress", "stress"]},
            mn.InputError,
            r"order must hold each of the 12 variables once; got \['stress', 'stress'\]",
        ),
        (
            {"method": "ib", "restarts": 5},
            mn.InputError,
            "ib has no setting 'restarts'; it accepts .*patience.*tabu",
        ),
        ({"method": "ib", "keep_steps": "no"}, mn.InputError, "keep_steps must be true or false; got 'no'"),
        ({"method": "exhaustive", "averaging": 1}, mn.InputError, "averaging must be true or false; got 1"),
        ({"method": "gsimn", "propagation": "no"}, mn.InputError, "propagation must be true or false; got 'no'"),
        ({"method": "pc", "keep_trace": "no"}, mn.InputError, "keep_trace must be true or false; got 'no'"),
        ({"method": "sep", "keep_pairs": "no"}, mn.InputError, "keep_pairs must be true or false; got 'no'"),
        ({"method": "mbs", "seed": "x"}, mn.InputError, "seed must be a whole number, at least 0; got 'x'"),
        ({"method": "mbs", "seed": -1}, mn.InputError, "seed must be a whole number, at least 0; got -1"),
        ({"method": "ib", "prior": "x"}, mn.InputError, "prior must lie between 0 and 1, both excluded; got 'x'"),
        ({"method": "mpl", "prior_cell": "x"}, mn.InputError, "prior_cell must be a positive number; got 'x'"),
        ({"method": "mpl", "sample_size": True}, mn.InputError, "sample_size must be a positive number; got True"),
        ({"method": "mpl", "graph_prior": [1]}, mn.InputError, r"graph_prior must be a strength.*; got \[1\]"),
        ({"method": "l1lr", "gamma": "x"}, mn.InputError, "gamma must be a number of at least 0; got 'x'"),
        ({"method": "l1lr", "smallest": "x"}, mn.InputError, "smallest must be between 0 and 1; got 'x'"),
    ],
)
def test_bad_input_is_refused_at_once(options: dict[str, Any], error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        learn(SURVEY.columns(), **options)


def test_forward_chaining_refuses_many_variables_before_any_test() -> None:
    table = {f"v{k}": [0, 1, 0, 1] for k in range(40)}
    with pytest.raises(mn.InputError, match="variables"):
        learn(table, "gsimn-fch")


def test_settings_of_a_method_are_known_with_their_defaults() -> None:
    assert method_settings("gsmn*")["propagation"] is True


def test_a_cancelled_search_returns_the_best_so_far() -> None:
    class Impatient:
        def progress(self, done: float, total: float | None, message: str = "") -> None: ...

        def cancelled(self) -> bool:
            return True

    numbers = {name: np.random.default_rng(2).normal(size=40) for name in "abc"}
    for method in METHODS:
        if method in CONTINUOUS:
            learned = learn(numbers, method, monitor=Impatient())
        else:
            learned = learn(SURVEY.columns(), method, columns=columns_for(method), monitor=Impatient())
        assert not learned.converged


def test_required_and_forbidden_edges_are_given_by_name() -> None:
    required, forbidden = [("headaches", "night_shifts")], [("poor_sleep", "stress")]
    learned = learn(SURVEY.columns(), "exhaustive", columns=FEW, required=required, forbidden=forbidden)
    edges = {frozenset((edge.u, edge.v)) for edge in learned.edge_list()}
    assert frozenset(required[0]) in edges
    assert frozenset(forbidden[0]) not in edges
    settings: dict[str, Any] = dict(learned.settings)
    assert learn(SURVEY.columns(), settings.pop("method"), **settings).graph == learned.graph


def test_a_graph_to_start_from_is_matched_by_name(tmp_path: Path) -> None:
    first = learn(SURVEY.columns(), "mpl")
    first.save(tmp_path / "net.graphml")
    for start in (first, tmp_path / "net.graphml", [(edge.u, edge.v) for edge in first.edge_list()], first.graph):
        again = learn(SURVEY.columns(), "mpl", start=start)
        assert again.graph == first.graph
        assert len(again.settings["start"]) == first.graph.n_edges  # type: ignore[arg-type]


@pytest.mark.parametrize("score", ["ib", "bjp"])
def test_continuous_columns_take_the_gaussian_posterior(score: str) -> None:
    rng = np.random.default_rng(4)
    a, b, c = rng.standard_normal((3, 500))
    learned = learn({"a": a, "b": a + b, "c": a + b + c}, "exhaustive", score=score)  # a - b - c
    assert [(edge.u, edge.v) for edge in sorted(learned.edge_list())] == [("a", "b"), ("b", "c")]
    with pytest.raises(
        mn.UnsuitableError, match="exhaustive needs variables of one type; 'a' is continuous and 'b' is"
    ):
        learn({"a": a, "b": (b > 0).astype(int)}, "exhaustive", score=score)
