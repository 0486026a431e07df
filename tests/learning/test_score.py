"""Scoring a graph in one call: variables by name, terms that add up."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import mnlearn as mn
from mnlearn.data import read
from mnlearn.graphs import Graph, NamedGraph
from mnlearn.independence import BayesianTest
from mnlearn.learning import SCORES, make_score, score
from mnlearn.scores import BJPScore
from mnlearn.simulate import example
from mnlearn.statistics import Counts

SURVEY = example(800, seed=5)
COLUMNS = SURVEY.columns()
DATA = read(COLUMNS)
TRUE = NamedGraph(SURVEY.graph, SURVEY.names)


@pytest.mark.parametrize("name", SCORES)
def test_the_terms_add_up_to_the_score_of_the_class(name: str) -> None:
    found = score(COLUMNS, TRUE, name)
    judge = make_score(name, DATA)
    assert found.score == name
    assert found.value == pytest.approx(judge(SURVEY.graph), abs=1e-8)
    assert found.value == pytest.approx(sum(part.value for part in found.terms), abs=1e-9)
    size = 2 if name == "bjp" else 1
    assert {len(part.variables) for part in found.terms} == {size}
    assert len(found.terms) == (66 if name == "bjp" else 12)
    assert found.value > score(COLUMNS, [], name).value


@pytest.mark.parametrize("name", SCORES)
def test_variables_are_matched_by_name_in_any_order(name: str, tmp_path: Path) -> None:
    expected = score(COLUMNS, SURVEY.graph, name).value
    turned = NamedGraph(SURVEY.graph.relabel(range(11, -1, -1)), SURVEY.names[::-1])
    mn.write_graph(tmp_path / "net.graphml", turned.graph, turned.names)
    pairs = [(SURVEY.names[v], SURVEY.names[u]) for u, v in SURVEY.graph.edges]
    for graph in (TRUE, turned, tmp_path / "net.graphml", str(tmp_path / "net.graphml"), pairs):
        assert score(COLUMNS, graph, name).value == expected


def test_a_learned_network_can_be_scored() -> None:
    learned = mn.learn(COLUMNS, alpha=0.01)
    assert score(COLUMNS, learned, "mpl").value == score(COLUMNS, learned.graph, "mpl").value


@pytest.mark.parametrize("name", SCORES)
def test_rows_labels_repeats_and_threads_do_not_matter(name: str) -> None:
    expected = score(COLUMNS, TRUE, name).value
    rows = np.random.default_rng(2).permutation(800)
    shuffled = {column: [values[row] for row in rows] for column, values in COLUMNS.items()}
    relabelled = {column: [{"yes": "a", "no": "b"}[v] for v in values] for column, values in COLUMNS.items()}
    for data in (shuffled, relabelled, DATA.compact()):
        assert score(data, TRUE, name).value == pytest.approx(expected, rel=1e-12)
    assert score(COLUMNS, TRUE, name, n_jobs=1).value == score(COLUMNS, TRUE, name, n_jobs=2).value


def test_settings_reach_the_score() -> None:
    assert score(COLUMNS, TRUE, "mpl", prior_cell=1.0).value != score(COLUMNS, TRUE, "mpl").value
    assert score(COLUMNS, TRUE, "pic", penalty="parameters").value > score(COLUMNS, TRUE, "pic").value
    few = score(COLUMNS, [("stress", "headaches")], "mpl", columns=["stress", "headaches"], graph_prior=None)
    assert [part.variables for part in few.terms] == [("stress",), ("headaches",)]


def test_the_order_of_bjp_is_given_by_name() -> None:
    names = list(SURVEY.names)
    places = [names.index(name) for name in names[::-1]]
    expected = BJPScore(BayesianTest(Counts(DATA)), order=places)(SURVEY.graph)
    assert score(COLUMNS, TRUE, "bjp", order=names[::-1]).value == pytest.approx(expected)
    assert expected != score(COLUMNS, TRUE, "bjp").value
    with pytest.raises(mn.UnknownNameError, match="order: variable 'stres' does not exist"):
        score(COLUMNS, TRUE, "bjp", order=["stres", *names[1:]])
    with pytest.raises(mn.InputError, match="order must hold each of the 12 variables once"):
        score(COLUMNS, TRUE, "bjp", order=names[1:])
    with pytest.raises(mn.InputError, match=r"order must be a list of names; got 'stress'\. Write \['stress'\]"):
        score(COLUMNS, TRUE, "bjp", order="stress")


def test_the_document() -> None:
    document = score(COLUMNS, TRUE, "mpl").to_dict()
    assert list(document) == ["score", "value", "terms", "transform"]
    assert json.loads(json.dumps(document))["terms"][0]["variables"] == ["night_shifts"]


@pytest.mark.parametrize(
    ("graph", "options", "error", "message"),
    [
        (TRUE, {"score": "mp"}, mn.UnknownNameError, r"score 'mp' does not exist\. Did you mean 'mpl'"),
        (
            TRUE,
            {"score": "mpl", "prior": 0.4},
            mn.InputError,
            "mpl has no setting 'prior'; it accepts prior_",
        ),
        (TRUE, {"score": "mpl", "prior_cell": -1.0}, mn.InputError, "prior_cell must be a positive number"),
        (Graph(3), {}, mn.InputError, "graph must have one variable for each of the 12 columns; got 3"),
        (
            NamedGraph(Graph(1), ("stres",)),
            {},
            mn.UnknownNameError,
            "column 'stres' does not exist. Did you mean 'stress'",
        ),
        (NamedGraph(Graph(1), ("stress",)), {}, mn.InputError, "'night_shifts' and 10 more are missing. Add them"),
        (TRUE, {"columns": SURVEY.names[1:]}, mn.UnknownNameError, "column 'night_shifts' does not exist"),
        ([("stress", "stress")], {}, mn.InputError, "graph must hold pairs of two different variables by name"),
        (None, {}, mn.InputError, "graph must be a file, a graph, a learned network or pairs of names; got None"),
        ("nowhere.graphml", {}, mn.FileError, "nowhere.graphml"),
    ],
)
def test_graphs_and_settings_that_do_not_fit_are_refused(
    graph: Any, options: Any, error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        score(COLUMNS, graph, **{"score": "mpl", **options})


def test_continuous_variables_are_refused_by_scores_that_count() -> None:
    table = {"a": [0.5, 1.5, 2.25] * 5, "b": [0, 1, 0] * 5}
    with pytest.raises(mn.UnsuitableError, match=r"mpl needs categorical variables; 'a' is continuous\. Discretise it"):
        score(table, [], "mpl")
    assert len(score(table, [], "mpl", discretize="frequency", bins=2).terms) == 2


@pytest.mark.slow
def test_blankets_with_more_configurations_than_a_float_can_count_are_scored() -> None:
    n = 1030
    columns = {f"v{k}": [0, 1, k % 2, 1 - k % 2] for k in range(n)}
    hub = Graph(n, [(0, k) for k in range(1, n)])
    expected = BJPScore(BayesianTest(Counts(read(columns))))(hub)
    assert score(columns, hub, "bjp").value == pytest.approx(expected, rel=1e-12)
