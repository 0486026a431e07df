"""Continuous columns: every method that accepts them, settings of the regularised methods, odd columns, mixtures."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

import mnlearn as mn
from mnlearn.distributions.gaussian import sparse_gaussian
from mnlearn.graphs import path
from mnlearn.learning import METHODS, learn

CHAIN = sparse_gaussian(path(5), 1, weakest=0.5).dataset(500, 2)
TABLE = dict(zip(CHAIN.names, CHAIN.columns, strict=True))
CATEGORICAL = {"mpl", "pic", "l1lr"}  # for categorical variables only
A, B, C = np.random.default_rng(3).standard_normal((3, 40))
ODD = {"a": A, "twin": A, "flat": np.full(40, 1.5), "b": B, "sum": A + B, "c": C}


@pytest.mark.parametrize("method", sorted(set(METHODS) - CATEGORICAL))
def test_every_method_for_continuous_columns_finds_the_chain(method: str) -> None:
    learned = learn(TABLE, method)
    wrong = set(learned.graph.edges) ^ set(path(5).edges)
    assert len(wrong) <= (4 if method == "glasso" else 2)
    assert learned.converged
    assert {"seconds"} <= set(learned.cost)
    settings: dict[str, Any] = dict(learned.settings)
    assert learn(TABLE, settings.pop("method"), **settings).graph == learned.graph


@pytest.mark.parametrize("method", sorted(set(METHODS) - CATEGORICAL))
def test_odd_columns_and_few_rows_are_logged_and_accepted(method: str, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level("WARNING", logger="mnlearn.learning"):
        learned = learn(ODD, method)
    assert "constant, so without an edge: 'flat'" in caplog.messages
    assert "copies, which no method can tell apart: 'twin' of 'a'" in caplog.messages
    assert not learned.blanket("flat")
    assert all(edge.support is None or not np.isnan(edge.support) for edge in learned.edge_list())
    caplog.clear()
    wide = {f"v{k}": column for k, column in enumerate(np.random.default_rng(4).standard_normal((7, 6)))}
    with caplog.at_level("WARNING", logger="mnlearn.learning"):
        learned = learn(wide, method)
    assert "6 rows for 7 varying variables" in caplog.text
    assert all(edge.support is None or not np.isnan(edge.support) for edge in learned.edge_list())


@pytest.mark.parametrize("method", [method for method in METHODS if not METHODS[method].takes_several_kinds()])
def test_a_mixture_is_refused_with_advice(method: str) -> None:
    mixed = {"a": A, "b": ["x", "y"] * 20, "c": C}
    rule = f"{re.escape(method)} needs variables of one type; 'a' is continuous and 'b' is categorical"
    way_out = r"Use sep, pc or gsmn\* \(test='mixed'\), or mbs \(score='ebic'\), .*\(discretize='frequency'\)"
    with pytest.raises(mn.UnsuitableError, match=rf"^{rule}\. {way_out}"):
        learn(mixed, method)
    if method in ("mpl", "aracne"):
        assert learn(mixed, method, discretize="frequency").converged


def test_answers_stored_as_decimals_are_read_with_advice(caplog: pytest.LogCaptureFixture) -> None:
    answers = {"a": [1.0, 2.0, None, 3.0] * 10, "b": [2.0, 1.0, 2.0, 1.0] * 10}
    with caplog.at_level("WARNING", logger="mnlearn.learning"):
        learn(answers, missing="drop_rows")
    assert "if the whole numbers of 'b' are labels, use types={'b': 'categorical'}" in caplog.text
    with pytest.raises(mn.UnsuitableError, match=r"'b' are labels, use types=\{'b': 'categorical'\}"):
        learn(answers, "mpl", missing="drop_rows")
    assert learn(answers, missing="drop_rows", types={"b": "categorical"}).n_rows == 30


@pytest.mark.parametrize(
    ("method", "settings"),
    [
        ("aracne", {"information": "rank"}),
        ("aracne", {"information": "kernel", "n_pairs": 500}),
        ("aracne", {"significance": "permutation", "seed": 3}),
        ("aracne", {"correction": "fdr", "tolerance": 0.1, "alpha": 0.01}),
        ("lasso", {"penalty": "theory", "alpha": 0.1}),
        ("lasso", {"combine": "or", "gamma": 1.0}),
        ("glasso", {"gamma": 0.25, "n_penalties": 12}),
    ],
)
def test_settings_reach_the_regularised_judges(method: str, settings: dict[str, Any]) -> None:
    learned = learn(TABLE, method, **settings)
    assert settings.items() <= dict(learned.settings).items()
    assert set(path(5).edges) <= set(learned.graph.edges)


def test_required_and_forbidden_edges_are_given_by_name() -> None:
    for method in ("aracne", "lasso", "l1mb"):
        learned = learn(TABLE, method, required=[("x0", "x4")], forbidden=[("x1", "x2")])
        assert "x4" in learned.blanket("x0")
        assert "x2" not in learned.blanket("x1")
    with pytest.raises(mn.InputError, match=r"required is for methods that can respect it .*; glasso cannot"):
        learn(TABLE, "glasso", required=[("x0", "x4")])


@pytest.mark.parametrize(
    ("method", "settings", "message"),
    [
        ("aracne", {"information": "knn"}, "information 'knn' does not exist.*'gaussian', 'rank', 'kernel'"),
        (
            "aracne",
            {"information": "kernel", "significance": "theory"},
            "significance must be 'permutation' for kernel",
        ),
        ("lasso", {"penalty": "cv"}, "penalty 'cv' does not exist.*'ebic', 'theory'"),
        ("lasso", {"alpha": 0.1}, "alpha is for penalty='theory'; got penalty='ebic', which accepts gamma"),
        ("lasso", {"penalty": "theory", "gamma": 1.0}, "gamma is for penalty='ebic'; got penalty='theory'"),
        ("lasso", {"colour": 1}, "lasso has no setting 'colour'.* its judge accepts alpha, gamma, penalty"),
        ("l1mb", {"gamma": 1.0}, "l1mb has no setting 'gamma'; it accepts candidates, combine, forbidden, required"),
        (
            "glasso",
            {"penalty": "cv"},
            "glasso has no setting 'penalty'.* its judge accepts gamma, n_penalties, smallest",
        ),
    ],
)
def test_bad_settings_are_refused(method: str, settings: dict[str, Any], message: str) -> None:
    with pytest.raises(mn.InputError, match=message):
        learn(TABLE, method, **settings)


def test_categorical_columns_are_refused() -> None:
    codes = {"a": ["x", "y"] * 20, "b": ["x", "x", "y", "y"] * 10}
    for method in ("lasso", "l1mb", "glasso"):
        with pytest.raises(mn.UnsuitableError, match=f"{method} needs continuous variables; 'a' is categorical with 2"):
            learn(codes, method)
    assert learn(codes, "aracne").graph.n_edges == 0
    with pytest.raises(mn.InputError, match="information is for continuous variables; all of these are categorical"):
        learn(codes, "aracne", information="rank")


def test_mbs_uses_the_score_of_the_paper_if_its_penalty_is_given_else_the_criterion() -> None:
    assert learn(TABLE, "mbs").settings["score"] == "ebic"
    assert learn(TABLE, "mbs", k_max=2).settings["score"] == "ebic"
    for settings in ({"regularization": 1e-4, "k_max": 2}, {"choose": "cv"}, {"score": "entropy"}):
        learned = learn(TABLE, "mbs", **settings)
        assert learned.settings["score"] == "entropy"
        assert {edge for edge in path(5).edges if edge in learned.graph} == set(path(5).edges)
    assert learn(TABLE, "mbs", score="ebic", choose="cv").settings["score"] == "ebic"
    codes = {"a": ["x", "y"] * 20, "b": ["x", "y"] * 20}
    for wishes, score in (
        ({}, "mpl"),
        ({"k_max": 1}, "mpl"),
        ({"gamma": 1.0}, "ebic"),
        ({"choose": "ebic"}, "entropy"),
    ):
        learned = learn(codes, "mbs", **wishes)
        assert (learned.settings["score"], learned.graph.edges) == (score, ((0, 1),))


def test_gamma_of_mbs_is_that_of_its_score() -> None:
    assert learn(TABLE, "mbs", gamma=1000.0).graph.n_edges == 0
    assert learn(TABLE, "mbs", score="entropy", gamma=1000.0).cost["rounds"] == 1


def test_mbs_refuses_scores_that_are_not_a_sum_over_variables() -> None:
    with pytest.raises(mn.UnsuitableError, match="MBS cannot search by a BJPScore, which has no local"):
        learn(TABLE, "mbs", score="bjp")
