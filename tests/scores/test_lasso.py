"""Neighbourhoods by the lasso: three ways to choose the penalty, each beside scikit-learn on raw rows."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from sklearn.linear_model import lars_path_gram

from mnlearn.algorithms.regularized import L1LR
from mnlearn.data import Dataset, read
from mnlearn.distributions.gaussian import sparse_gaussian
from mnlearn.errors import InputError
from mnlearn.graphs import path, random_graph
from mnlearn.protocols import NeighborhoodJudge
from mnlearn.scores import EBICLasso, TheoryLasso
from mnlearn.statistics import Moments
from mnlearn.statistics.paths import lasso_path

from references import rivals as reference_rivals

JUDGES: dict[str, Callable[[Dataset], NeighborhoodJudge]] = {
    "ebic": lambda data: EBICLasso(Moments(data)),
    "l1mb": lambda data: EBICLasso(Moments(data), gamma=0.0),
    "theory": lambda data: TheoryLasso(Moments(data)),
}


def table(values: NDArray[np.float64]) -> Dataset:
    return read({f"v{k}": column for k, column in enumerate(values.T)})


def sample(seed: int, n_rows: int = 120, n: int = 8, degree: float = 2.0) -> NDArray[np.float64]:
    return sparse_gaussian(random_graph(n, degree, seed), seed + 1).sample(n_rows, seed + 2)


def around(judge: NeighborhoodJudge, x: int) -> frozenset[int]:
    return frozenset(judge.neighborhood(x, frozenset(range(judge.n_variables)) - {x}, frozenset()).support)


@given(seed=st.integers(0, 2**31), gamma=st.sampled_from([0.0, 0.5]))
@settings(max_examples=25, deadline=None)
def test_the_best_set_of_the_path_is_the_slow_twins(seed: int, gamma: float) -> None:
    values = sample(seed)
    judge = EBICLasso(Moments(table(values)), gamma)
    slow = reference_rivals.ebic_neighborhood(values, 0, gamma)
    found = around(judge, 0)
    criterion = reference_rivals.ebic(values, 0, found, gamma)
    assert criterion <= reference_rivals.ebic(values, 0, slow, gamma) + 1e-6


@given(seed=st.integers(0, 2**31))
@settings(max_examples=25, deadline=None)
def test_the_set_at_the_theorys_penalty_is_the_slow_twins(seed: int) -> None:
    values = sample(seed)
    judge = TheoryLasso(Moments(table(values)))
    assert around(judge, 0) == reference_rivals.lasso_support(values, 0, judge.penalty)


def test_the_support_is_what_leaving_out_costs() -> None:
    values = sample(3)
    found = EBICLasso(Moments(table(values))).neighborhood(1, frozenset(range(8)) - {1}, frozenset()).support
    chosen = frozenset(found)
    assert chosen
    for y, worth in found.items():
        cost = reference_rivals.ebic(values, 1, chosen - {y}, 0.5) - reference_rivals.ebic(values, 1, chosen, 0.5)
        assert worth == pytest.approx(cost / 2)
        assert worth > 0


def test_paths_of_many_steps_are_followed_to_the_end() -> None:
    rng = np.random.default_rng(5)
    values = rng.standard_normal((400, 41))
    values[:, 0] = values[:, 1:].sum(axis=1) + 0.1 * rng.standard_normal(400)  # 40 neighbours
    assert around(EBICLasso(Moments(table(values))), 0) == frozenset(range(1, 41))


@pytest.mark.parametrize("name", JUDGES)
def test_a_chain_is_found(name: str) -> None:
    truth = path(8)
    data = sparse_gaussian(truth, 1, weakest=0.5).dataset(600, 2)
    found = L1LR().learn(JUDGES[name](data))
    missed = set(truth.edges) - set(found.graph.edges)
    assert not missed
    assert len(found.graph.edges) <= 8
    assert found.support_scale == "log_odds"
    assert found.cost["fitted"] >= 8


@pytest.mark.parametrize("name", JUDGES)
def test_required_neighbours_are_in_and_others_out(name: str) -> None:
    judge = JUDGES[name](table(sample(6)))
    found = judge.neighborhood(0, frozenset({2, 3, 4}), frozenset({7})).support
    assert 7 in found
    assert set(found) <= {2, 3, 4, 7}
    assert np.isfinite(list(found.values())).all()
    only = judge.neighborhood(0, frozenset({7}), frozenset({7})).support
    assert set(only) == {7}


@pytest.mark.parametrize("name", JUDGES)
def test_neither_rows_nor_repeats_matter(name: str) -> None:
    rng = np.random.default_rng(7)
    values = np.repeat(sample(7, n_rows=60), rng.integers(1, 3, 60), axis=0)
    whole = table(values)
    first = L1LR(combine="or").learn(JUDGES[name](whole))
    for other in (table(rng.permutation(values)), whole.compact()):
        assert L1LR(combine="or").learn(JUDGES[name](other)).graph == first.graph


@pytest.mark.parametrize("name", JUDGES)
def test_the_order_and_the_units_of_columns_do_not_matter(name: str) -> None:
    rng = np.random.default_rng(8)
    values = sample(8)
    order = rng.permutation(8)
    first = L1LR(combine="or").learn(JUDGES[name](table(values))).graph
    moved = L1LR(combine="or").learn(JUDGES[name](table(values[:, order] * 10.0 ** rng.integers(-6, 6, 8) + 1.0)))
    assert moved.graph.relabel(order.tolist()) == first


@pytest.mark.parametrize("name", JUDGES)
def test_constant_copied_and_explained_columns_and_few_rows_give_a_usable_result(name: str) -> None:
    rng = np.random.default_rng(9)
    a, b, c = rng.standard_normal((3, 40))
    odd = table(np.column_stack([a, a, np.full(40, 3.0), b, a + b, c, -c]))
    found = L1LR(combine="or").learn(JUDGES[name](odd))
    assert np.isfinite(list(found.support.values())).all()
    assert (5, 6) in found.graph.edges
    assert not found.graph.neighbors(2)
    wide = sparse_gaussian(path(30), 1).dataset(16, 2)
    found = L1LR().learn(JUDGES[name](wide))
    assert np.isfinite(list(found.support.values())).all()
    assert found.graph.n_edges < 60


def test_two_rows_which_every_line_fits_have_no_edges() -> None:
    assert not L1LR(combine="or").learn(EBICLasso(Moments(sparse_gaussian(path(4), 1).dataset(2, 2)))).graph.edges


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda moments: EBICLasso(moments, gamma=-1), "gamma must be a number of at least 0; got -1"),
        (lambda moments: TheoryLasso(moments, alpha=1), "alpha must be between 0 and 1, both excluded; got 1"),
    ],
)
def test_bad_settings_are_refused(make: Callable[[Moments], Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        make(Moments(table(sample(10))))


def test_the_order_of_the_rows_does_not_add_to_an_exact_sum() -> None:
    """At the end of the path of a part of a sum, the weight of what is not in the sum is 0 but for rounding."""
    for seed in range(4):
        random = np.random.default_rng(seed)
        first, other, noise = random.standard_normal((3, 12))
        second = other + first
        rows = np.stack([first, second, first + second, noise + 0.5 * (first + second)], axis=1)
        for _ in range(8):
            judge = EBICLasso(Moments(read(random.permutation(rows))))
            assert set(judge.neighborhood(1, frozenset({0, 2, 3}), frozenset()).support) == {0, 2}


@given(seed=st.integers(0, 2**31), smallest=st.sampled_from([0.0, 0.1]))
@settings(max_examples=60, deadline=None)
def test_the_path_is_that_of_scikit_learn(seed: int, smallest: float) -> None:
    rng = np.random.default_rng(seed)
    n, n_rows = int(rng.integers(2, 30)), int(rng.integers(40, 100))
    values = rng.standard_normal((n_rows, n + 1)) @ (np.eye(n + 1) + rng.uniform(-0.5, 0.5, (n + 1, n + 1)))
    matrix = np.asarray(np.corrcoef(values.T))
    penalties, weights = lasso_path(matrix, matrix[n], allowed=np.arange(n), smallest=smallest)
    known, _, expected = lars_path_gram(
        matrix[n, :n], matrix[:n, :n], n_samples=1, method="lasso", alpha_min=max(smallest, 1e-10), max_iter=8 * n
    )
    if known[0] > smallest:
        np.testing.assert_allclose(penalties, known, rtol=0, atol=1e-6)
        np.testing.assert_allclose(weights[:n], expected, rtol=0, atol=1e-5)
    assert not weights[n].any()


@given(seed=st.integers(0, 2**31))
@settings(max_examples=25, deadline=None)
def test_neighbourhoods_together_are_those_of_each_for_any_number_of_threads(seed: int) -> None:
    data, rng = table(sample(seed, n=9)), np.random.default_rng(seed)
    everyone = frozenset(range(9))
    asked = [(x, everyone - {x}, frozenset(rng.permutation(9)[: x % 3].tolist()) - {x}) for x in range(9)]
    alone = [EBICLasso(Moments(data, n_jobs=1)).neighborhood(*question) for question in asked]
    for n_jobs in (1, 4):
        assert EBICLasso(Moments(data, n_jobs=n_jobs)).neighborhoods(asked) == alone


def test_a_regressor_that_others_explain_never_comes_in() -> None:
    values = np.random.default_rng(5).standard_normal((60, 4))
    values[:, 3] = values[:, 1] + values[:, 2]
    matrix = np.asarray(np.corrcoef(values.T))
    penalties, weights = lasso_path(matrix, matrix[0], allowed=np.arange(1, 4))
    assert (np.diff(penalties) <= 0).all()
    assert np.isfinite(weights).all()
    assert np.count_nonzero(weights[:, -1]) == 2
