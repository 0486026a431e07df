"""Estimators in pipelines and searches, on data frames and arrays, with good and bad input."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OrdinalEncoder

from mnlearn.data import Dataset, read
from mnlearn.errors import InputError, UnknownNameError, UnsuitableError
from mnlearn.estimators import MarkovBlanketSelector, MarkovNetworkLearner
from mnlearn.estimators.network import log_pseudolikelihoods
from mnlearn.graphs.graph import Graph
from mnlearn.learning import independence_test, learn
from mnlearn.simulate import example


def survey(n_rows: int = 1500) -> pd.DataFrame:
    return pd.DataFrame(example(n_rows, seed=1).columns())


def gaussian_chain(n_rows: int, n: int = 5, seed: int = 1) -> np.ndarray[Any, np.dtype[np.float64]]:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, n))
    for j in range(1, n):
        X[:, j] += 0.8 * X[:, j - 1]
    return X


def read_by(estimator: MarkovNetworkLearner | MarkovBlanketSelector) -> Dataset:
    assert estimator.result_.data is not None
    return estimator.result_.data


def test_a_frame_gives_the_result_of_learn() -> None:
    frame = survey()
    fitted = MarkovNetworkLearner("mpl").fit(frame)
    assert fitted.graph_ == learn(frame, "mpl").graph
    assert list(fitted.feature_names_in_) == list(frame.columns) == list(fitted.result_.names)
    assert fitted.adjacency_.sum() == 2 * fitted.graph_.n_edges


def test_an_array_of_integers_is_categorical_and_one_of_floats_is_not() -> None:
    X = np.random.default_rng(0).integers(0, 3, size=(60, 3))
    assert all(read_by(MarkovNetworkLearner("mpl").fit(X)).cards)
    assert not any(read_by(MarkovNetworkLearner("pc").fit(X.astype(float))).cards)


@pytest.mark.parametrize("given", ["all", [True, True, True], [0, 1, 2], ["x0", "x1", "x2"]])
def test_categorical_features_are_given_in_four_ways(given: Any) -> None:
    X = np.random.default_rng(0).integers(0, 3, size=(60, 3)).astype(float)
    assert read_by(MarkovNetworkLearner("mpl", categorical_features=given).fit(X)).cards == (3, 3, 3)


def test_encoded_strings_give_the_result_of_the_strings() -> None:
    frame = survey(800)
    encoded = make_pipeline(OrdinalEncoder(), MarkovNetworkLearner("mpl", categorical_features="all")).fit(frame)
    assert encoded[-1].graph_ == MarkovNetworkLearner("mpl").fit(frame).graph_


def test_a_grid_search_finds_the_setting_that_predicts_best() -> None:
    X = gaussian_chain(400)
    grid = {"settings": [{"alpha": 1e-80}, {"alpha": 0.01}], "method": ["pc"]}
    found = GridSearchCV(MarkovNetworkLearner(), grid, cv=3).fit(X)
    assert found.best_params_["settings"] == {"alpha": 0.01}
    assert found.best_estimator_.graph_ == Graph.from_edges(5, [(j, j + 1) for j in range(4)])


def test_score_prefers_the_true_structure_to_none() -> None:
    X = survey(1200)
    fitted = MarkovNetworkLearner("mpl").fit(X[:800])
    empty = MarkovNetworkLearner("mpl", settings={"max_blanket": 0}).fit(X[:800])
    assert fitted.score(X[800:]) > empty.score(X[800:])


def test_score_discretises_new_rows_at_the_cuts_of_the_training_rows() -> None:
    X = gaussian_chain(600)
    fitted = MarkovNetworkLearner("mpl", discretize="frequency", bins=3).fit(X[:400])
    assert np.isfinite(fitted.score(X[400:] * 10.0))


def test_an_unseen_state_has_a_small_positive_probability() -> None:
    train = read({"a": [0, 1] * 20, "b": [0, 1] * 20})
    test = read({"a": [0, 7], "b": [1, 1]})
    found = log_pseudolikelihoods(Graph.from_edges(2, [(0, 1)]), train, test)
    assert np.isfinite(found).all()
    assert found[1] < np.log(0.05)


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 2**32), st.integers(2, 40), st.integers(1, 10))
def test_held_out_terms_match_plain_counting(seed: int, n_train: int, n_test: int) -> None:
    rng = np.random.default_rng(seed)
    train, test = (rng.integers(0, 3, size=(rows, 3)) for rows in (n_train, n_test + 1))
    graph = Graph.from_edges(3, [(0, 1), (1, 2)])
    old, new = (Dataset.from_codes(rows, cards=[3, 3, 3]) for rows in (train, test))
    expected = [sum(plain_term(train, row, x, sorted(graph.neighbors(x))) for x in range(3)) for row in test]
    np.testing.assert_allclose(log_pseudolikelihoods(graph, old, new), expected, rtol=1e-12)


def plain_term(train: Any, row: Any, x: int, around: list[int]) -> float:
    """Return log P(x | blanket), counted row by row."""
    alike = [other for other in train if all(other[j] == row[j] for j in around)]
    hits = sum(other[x] == row[x] for other in alike)
    return float(np.log((hits + 0.5) / (len(alike) + 0.5 * 4)))


def test_the_blanket_of_a_class_among_numbers() -> None:
    rng = np.random.default_rng(3)
    y = rng.integers(0, 2, size=800)
    X = np.column_stack([y + 0.7 * rng.normal(size=800), rng.normal(size=800), rng.normal(size=800) - y])
    assert MarkovBlanketSelector().fit(X, y).get_support().tolist() == [True, False, True]
    assert MarkovBlanketSelector(discretize=None).fit(X, y).get_support().tolist() == [True, False, True]
    with pytest.raises(UnsuitableError):
        MarkovBlanketSelector(discretize=None, method="mpl").fit(X, y)


def test_continuous_targets_and_features_are_not_discretised() -> None:
    X = gaussian_chain(600)
    selector = MarkovBlanketSelector().fit(np.delete(X, 2, axis=1), X[:, 2])
    assert selector.get_support(indices=True).tolist() == [1, 2]
    assert not read_by(selector).cuts


def test_a_selector_in_a_pipeline_returns_names() -> None:
    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    selector = MarkovBlanketSelector("mpl").set_output(transform="pandas")
    model = make_pipeline(selector, LogisticRegression(max_iter=5000))
    assert cross_val_score(model, X, y, cv=3).mean() > 0.85
    kept = clone(selector).fit_transform(X, y)
    assert list(kept.columns) == [name for name in X.columns if name in kept.columns]
    assert 0 < kept.shape[1] < X.shape[1]


def test_a_feature_called_y_does_not_hide_the_target() -> None:
    rng = np.random.default_rng(5)
    frame = pd.DataFrame({"y": rng.integers(0, 2, 300), "b": rng.integers(0, 2, 300)})
    selector = MarkovBlanketSelector("mpl").fit(frame, frame["y"].to_numpy())
    assert selector.get_feature_names_out().tolist() == ["y"]
    assert selector.result_.names == ("y", "b", "y_0")


@pytest.mark.parametrize(
    ("given", "error", "message"),
    [
        ("categories", UnknownNameError, "categorical_features 'categories' does not exist"),
        ([True, False], InputError, "one bool for each of the 3 features; got 2"),
        ([0, 3], InputError, "positions below 3, the number of features; got 3"),
        (["x0", "z"], UnknownNameError, "feature 'z' does not exist"),
    ],
)
def test_wrong_categorical_features_are_refused(given: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        MarkovNetworkLearner("mpl", categorical_features=given).fit(np.ones((5, 3), dtype=int))


def test_other_wrong_settings_are_refused() -> None:
    X = np.random.default_rng(0).integers(0, 2, size=(30, 3))
    with pytest.raises(UnknownNameError, match="method 'mlp' does not exist"):
        MarkovNetworkLearner("mlp").fit(X)
    with pytest.raises(InputError, match="target must be 'auto', 'categorical' or 'continuous'; got 'numbers'"):
        MarkovBlanketSelector(target="numbers").fit(X, X[:, 0])  # type: ignore[arg-type]
    with pytest.raises(InputError, match="at least 2 columns; got n_features=1"):
        MarkovNetworkLearner("mpl").fit(pd.DataFrame({"a": [0, 1, 0]}))


def test_a_selector_selects_at_least_so_many_features() -> None:
    rng = np.random.default_rng(1)
    X = rng.integers(0, 2, (200, 6))
    y = rng.integers(0, 2, 200)
    none = MarkovBlanketSelector().fit(X, y)
    assert not none.support_.any()
    one = MarkovBlanketSelector(min_features=1).fit(X, y)
    log_p = [independence_test({"x": x, "y": y}, "x", "y").log_p for x in X.T]
    assert one.get_support(indices=True).tolist() == [int(np.argmin(np.array(log_p, dtype=float)))]
    assert not one.blanket_.any()
    assert MarkovBlanketSelector(min_features=99).fit(X, y).transform(X).shape == X.shape
    y = X[:, 2] ^ (rng.random(200) < 0.05)
    both = MarkovBlanketSelector(min_features=2).fit(X, y)
    assert both.blanket_.tolist() == [False, False, True, False, False, False]
    assert both.support_.sum() == 2
    assert MarkovBlanketSelector(min_features=3).fit(X, y, sample_weight=rng.random(200)).support_.sum() == 3
    numbers = rng.exponential(size=(100, 3)) ** 3
    assert MarkovBlanketSelector(min_features=1).fit(numbers, rng.normal(size=100)).support_.sum() == 1
    with pytest.raises(InputError, match="min_features must be a whole number, at least 0; got -1"):
        MarkovBlanketSelector(min_features=-1).fit(X, y)


def test_gaps_stay_if_asked_for() -> None:
    from mnlearn.estimators.input import coded, columns_of

    X = np.where(np.arange(60).reshape(20, 3) % 7 == 0, np.nan, np.arange(60.0).reshape(20, 3) / 7)
    learner = MarkovNetworkLearner(missing="testwise")
    data = coded(*columns_of(learner, X, reset=True, missing="testwise"), missing="testwise")
    assert data.gaps == {"x0", "x1", "x2"}
