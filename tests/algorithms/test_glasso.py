"""The graphical lasso: its solutions beside scikit-learn's on everything at once, and the walk along the path."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from mnlearn.algorithms.regularized import GraphicalLasso
from mnlearn.data import Dataset, read
from mnlearn.distributions.gaussian import sparse_gaussian
from mnlearn.errors import InputError
from mnlearn.graphs import path, random_graph
from mnlearn.graphs.graph import Edge
from mnlearn.protocols import PathStep, Result
from mnlearn.scores import EBICPrecision
from mnlearn.scores.glasso import solve
from mnlearn.statistics import Moments

from references import rivals as reference_rivals


def table(values: NDArray[np.float64]) -> Dataset:
    return read({f"v{k}": column for k, column in enumerate(values.T)})


def learn(data: Dataset) -> Result:
    return GraphicalLasso().learn(EBICPrecision(Moments(data)))


@given(seed=st.integers(0, 2**31), share=st.floats(0.2, 0.95))
@settings(max_examples=20, deadline=None)
def test_component_by_component_is_the_solution_of_the_whole(seed: int, share: float) -> None:
    values = sparse_gaussian(random_graph(10, 1.5, seed), seed + 1).sample(100, seed + 2)
    correlation = np.asarray(np.corrcoef(values.T))
    penalty = share * float(np.abs(correlation - np.eye(10)).max())
    found, slow = solve(correlation, penalty), reference_rivals.graphical_lasso(values, penalty)
    whole = np.eye(10)
    for members, theta in found.blocks:
        whole[np.ix_(members, members)] = theta
    np.testing.assert_allclose(whole, slow, atol=5e-3)  # the objective is flat where an entry is close to zero
    likelihood = np.linalg.slogdet(slow)[1] - np.trace(correlation @ slow)
    assert found.log_likelihood(correlation) == pytest.approx(likelihood, abs=1e-2)

    def objective(theta: NDArray[np.float64]) -> float:
        absolute = np.abs(theta).sum() - np.trace(np.abs(theta))
        return float(np.trace(correlation @ theta) - np.linalg.slogdet(theta)[1] + penalty * absolute)

    assert objective(whole) == pytest.approx(objective(slow), abs=1e-4)
    assert found.converged


def test_the_criterion_is_the_formula() -> None:
    values = sparse_gaussian(path(5), 1).sample(300, 2)
    judge = EBICPrecision(Moments(table(values)), gamma=0.5)
    step = judge.at(0.1)
    theta = reference_rivals.graphical_lasso(values, 0.1)
    correlation = np.corrcoef(values.T)
    n_edges = int((np.abs(np.triu(theta, 1)) > 1e-9).sum())
    log_likelihood = 300 / 2 * (np.linalg.slogdet(theta)[1] - np.trace(correlation @ theta))
    expected = -2 * log_likelihood + n_edges * np.log(300) + 4 * 0.5 * n_edges * np.log(5)
    assert len(step.support) == n_edges
    assert step.criterion == pytest.approx(expected, abs=0.05)
    u, v = next(iter(step.support))
    r2 = theta[u, v] ** 2 / (theta[u, u] * theta[v, v])
    assert step.support[u, v] == pytest.approx(-150 * np.log(1 - r2) - 0.5 * np.log(300) - np.log(5), abs=0.1)


def test_a_chain_is_found_and_constant_columns_stand_alone() -> None:
    values = sparse_gaussian(path(6), 1, weakest=0.5).sample(400, 2)
    found = learn(table(np.column_stack([values, np.full(400, 7.0)])))
    assert set(path(6).edges) <= set(found.graph.edges)
    assert not found.graph.neighbors(6)
    assert (found.support_scale, found.converged) == ("log_odds", True)
    assert np.isfinite(list(found.support.values())).all()


def test_copies_sums_and_few_rows_give_a_usable_result() -> None:
    a, b, c = np.random.default_rng(3).standard_normal((3, 40))
    found = learn(table(np.column_stack([a, a, b, a + b, c])))
    assert np.isfinite(list(found.support.values())).all()
    assert (0, 1) in found.graph.edges
    wide = learn(sparse_gaussian(path(20), 1).dataset(12, 2))
    assert np.isfinite(list(wide.support.values())).all()
    constant = learn(table(np.ones((20, 3))))
    assert constant.graph.n_edges == 0


def test_neither_order_nor_units_matter() -> None:
    values = sparse_gaussian(random_graph(8, 2.0, 4), 5).sample(150, 6)
    order = np.random.default_rng(7).permutation(8)
    first = learn(table(values))
    other = learn(table(values[:, order] * 1000.0 + 5.0))
    assert other.graph.relabel(order.tolist()) == first.graph
    assert other.score == pytest.approx(first.score or 0.0, rel=1e-3)


class Told:
    """Path with given criteria."""

    n_variables = 3

    def __init__(self, *criteria: float, failing: tuple[int, ...] = ()) -> None:
        self.criteria, self.failing, self.asked = criteria, failing, list[float]()
        self.penalties = tuple(1.0 / (k + 1) for k in range(len(criteria)))

    def at(self, penalty: float) -> PathStep:
        k = self.penalties.index(penalty)
        self.asked.append(penalty)
        support: Mapping[Edge, float] = {(0, 1): float(k)}
        return PathStep(self.criteria[k], support, k not in self.failing)


def test_the_least_criterion_wins_and_patience_ends_the_walk() -> None:
    judge = Told(5, 4, 6, 6, 1)
    assert GraphicalLasso(patience=None).learn(judge).score == -1
    judge = Told(5, 4, 6, 6, 1)
    found = GraphicalLasso(patience=2).learn(judge)
    assert (found.score, len(judge.asked), found.cost["fitted"]) == (-4, 4, 4)
    found = GraphicalLasso().learn(Told(5, 4, 3, failing=(2,)))
    assert (found.score, found.cost["fallbacks"]) == (-4, 1)


def test_a_monitor_ends_the_walk_with_the_best_so_far() -> None:
    class After:
        left = 2

        def progress(self, done: float, total: float | None, message: str = "") -> None: ...

        def cancelled(self) -> bool:
            self.left -= 1
            return self.left < 0

    found = GraphicalLasso().learn(Told(5, 4, 3), After())
    assert (found.score, found.converged) == (-4, False)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda _: GraphicalLasso(patience=0), "patience must be a whole number, at least 1; got 0"),
        (lambda moments: EBICPrecision(moments, gamma=-1), "gamma must be a number of at least 0; got -1"),
        (lambda moments: EBICPrecision(moments, smallest=1), "smallest must be between 0 and 1; got 1"),
        (lambda moments: EBICPrecision(moments, n_penalties=1), "n_penalties must be a whole number, at least 2"),
    ],
)
def test_bad_settings_are_refused(make: Callable[[Moments], Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        make(Moments(table(np.random.default_rng(8).standard_normal((10, 3)))))


@pytest.mark.parametrize(("n_rows", "seed"), [(250, 1), (2400, 2)])
def test_the_path_of_qgraph_gives_its_edges_and_weights(n_rows: int, seed: int) -> None:
    rng = np.random.default_rng(seed)  # items of five factors, which are correlated, some of them reversed
    factors = rng.normal(size=(n_rows, 5)) + 0.5 * rng.normal(size=(n_rows, 1))
    loadings = np.kron(np.eye(5), np.ones(3)) * rng.uniform(0.5, 1.0, 15) * rng.choice([1, 1, -1], 15)
    correlation = np.corrcoef((factors @ loadings + rng.normal(size=(n_rows, 15))).T)
    slow = reference_rivals.ebic_glasso(correlation, n_rows)
    judge = EBICPrecision(Moments.from_covariance(correlation, n_rows=n_rows))
    for patience in (None, 10):
        found = GraphicalLasso(patience=patience).learn(judge)
        assert found.partial_correlations is not None
        assert set(found.graph.edges) == set(zip(*map(np.ndarray.tolist, np.nonzero(np.triu(slow, 1))), strict=True))
        for edge, value in found.partial_correlations.items():
            assert value == pytest.approx(slow[edge], abs=1e-4)
