"""Gaussian models: densities against SciPy, conditionals against the covariance, and degenerate columns."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.stats import multivariate_normal, norm

from mnlearn import Graph, InputError, UnknownNameError, UnsuitableError
from mnlearn.distributions.gaussian import continuous_dataset
from mnlearn.graphs import grid, path
from mnlearn.model import FitReport, GaussianModel, fit
from mnlearn.simulate import sparse_gaussian

NAMES = tuple("abcdef")
GRAPH = grid(2, 3)


def values(n_rows: int = 300, seed: int = 2) -> np.ndarray:
    plain = sparse_gaussian(GRAPH, seed=1).sample(n_rows, seed)
    return np.asarray(plain * np.array([1, 2, 3, 0.1, 1, 10]) + np.arange(6))


def model() -> GaussianModel:
    found = fit(GRAPH, continuous_dataset(values(), NAMES))
    assert isinstance(found, GaussianModel)
    return found


def test_the_likelihood_is_that_of_a_normal_distribution() -> None:
    fitted, rows = model(), values(50, seed=9)
    expected = multivariate_normal(fitted.mean, fitted.covariance()).logpdf(rows)
    assert fitted.log_likelihood(continuous_dataset(rows, NAMES)) == pytest.approx(expected.sum())
    weights = np.arange(50) % 4 + 1
    repeated = continuous_dataset(np.repeat(rows, weights, 0), NAMES)
    assert fitted.log_likelihood(repeated) == pytest.approx(weights @ expected)


def test_conditionals_given_all_others_are_those_of_the_covariance() -> None:
    fitted, rows = model(), values(4, seed=9)
    found = fitted.log_conditionals(continuous_dataset(rows, NAMES))
    sigma = fitted.covariance()
    for k in range(4):
        for x in range(6):
            rest = [y for y in range(6) if y != x]
            slopes = np.linalg.solve(sigma[np.ix_(rest, rest)], sigma[rest, x])
            mean = fitted.mean[x] + slopes @ (rows[k, rest] - fitted.mean[rest])
            deviation = np.sqrt(sigma[x, x] - slopes @ sigma[rest, x])
            assert found[k, x] == pytest.approx(norm(mean, deviation).logpdf(rows[k, x]))
            evidence = {NAMES[y]: float(rows[k, y]) for y in rest}
            assert fitted.conditional(NAMES[x], evidence) == pytest.approx((mean, deviation))
            assert fitted.predict(continuous_dataset(rows, NAMES), NAMES[x])[k] == pytest.approx(mean)
    assert fitted.log_pseudolikelihood(continuous_dataset(rows, NAMES)) == pytest.approx(found.sum())


def test_given_nothing_or_a_little_it_is_the_margin() -> None:
    fitted = model()
    sigma = fitted.covariance()
    assert fitted.conditional("b") == pytest.approx((fitted.mean[1], np.sqrt(sigma[1, 1])))
    slope = sigma[1, 5] / sigma[5, 5]
    expected = (fitted.mean[1] + slope * (9.0 - fitted.mean[5]), np.sqrt(sigma[1, 1] - slope * sigma[1, 5]))
    assert fitted.conditional("b", {"f": 9.0}) == pytest.approx(expected)


def test_the_precision_has_the_zeros_of_the_graph_in_the_units_of_the_data() -> None:
    fitted = model()
    np.testing.assert_allclose(fitted.precision @ fitted.covariance(), np.eye(6), atol=1e-8)
    for u in range(6):
        for v in range(u):
            assert (fitted.precision[u, v] == 0) == (not GRAPH.has_edge(u, v))


def test_samples_have_the_means_and_covariances() -> None:
    fitted = model()
    rows = np.stack(fitted.sample_dataset(200_000, seed=1).columns, 1)
    assert fitted.sample_dataset(5, seed=1).names == NAMES
    np.testing.assert_allclose((rows.mean(0) - fitted.mean) / fitted.scale, 0, atol=0.02)
    np.testing.assert_allclose(np.cov(rows.T) / np.outer(fitted.scale, fitted.scale), np.corrcoef(rows.T), atol=0.02)
    np.testing.assert_allclose(np.corrcoef(rows.T), np.linalg.inv(fitted.standard_precision), atol=0.02)


def test_strengths_are_partial_correlations_with_their_signs() -> None:
    fitted = model()
    theta = fitted.precision
    found = fitted.strengths()
    for edge in found:
        u, v = NAMES.index(edge.u), NAMES.index(edge.v)
        rho = -theta[u, v] / np.sqrt(theta[u, u] * theta[v, v])
        assert edge.strength * (edge.sign or 0) == pytest.approx(rho)
    assert [edge.strength for edge in found] == sorted((edge.strength for edge in found), reverse=True)


def test_a_column_that_never_changes_stays_what_it_is() -> None:
    rng = np.random.default_rng(1)
    a = rng.normal(size=60)
    data = continuous_dataset(np.stack([a, a + rng.normal(size=60), np.full(60, 0.5)], 1), ["a", "b", "level"])
    fitted = fit(Graph.complete(3), data)
    assert isinstance(fitted, GaussianModel)
    assert fitted.report.notes == ("'level' never changes: it is kept at 0.5 and explains nothing",)
    assert fitted.graph == Graph.complete(3)
    assert np.all(fitted.sample_dataset(10, seed=1).columns[2] == 0.5)
    assert fitted.conditional("level", {"a": 1.0}) == (0.5, 0.0)
    assert fitted.conditional("a", {"level": 3.0}) == pytest.approx(fitted.conditional("a"))
    assert np.isfinite(fitted.log_likelihood(data))
    assert np.all(fitted.log_conditionals(data)[:, 2] == 0.0)
    assert fitted.precision[2, 2] == np.inf
    assert np.isfinite(fitted.covariance()).all()
    assert fitted.predict({"b": [0.5], "level": [0.5]}, "a").shape == (1,)
    moved = continuous_dataset(np.array([[0.0, 0.0, 0.6]]), ["a", "b", "level"])
    assert fitted.log_likelihood(moved) == -np.inf
    assert fitted.log_pseudolikelihood(moved) == -np.inf
    assert {edge.sign for edge in fitted.strengths() if "level" in (edge.u, edge.v)} == {None}


def test_a_lonely_column_is_predicted_by_its_mean() -> None:
    fitted = fit(path(2).add([]), continuous_dataset(values()[:, :2], ["a", "b"]))
    assert isinstance(fitted, GaussianModel)
    alone = fit(Graph.empty(2), continuous_dataset(values()[:, :2], ["a", "b"]))
    assert isinstance(alone, GaussianModel)
    assert alone.predict({"b": [1.0, 2.0, 3.5]}, "a").tolist() == [alone.mean[0]] * 3
    assert fitted.predict({"b": [1]}, "a").shape == (1,)  # whole numbers are numbers here


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda m: m.conditional("z"), UnknownNameError, "x: variable 'z' does not exist"),
        (lambda m: m.conditional("a", {"a": 1.0}), InputError, "evidence must not hold x itself"),
        (lambda m: m.conditional("a", {"b": "high"}), InputError, "finite numbers; got 'high' for 'b'"),
        (lambda m: m.to_pyagrum(), UnsuitableError, "pyAgrum takes discrete models; got a gaussian one"),
        (lambda m: m.to_pgmpy(), UnsuitableError, "pgmpy takes discrete models"),
        (lambda m: m.sample_dataset(0, 1), InputError, "n_rows must be a whole number"),
    ],
)
def test_bad_questions_are_refused(call: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        call(model())


def test_parts_that_do_not_fit_are_refused() -> None:
    report = FitReport("x", 0)
    with pytest.raises(InputError, match="must agree in size"):
        GaussianModel(("a",), Graph.empty(2), np.zeros(2), np.ones(2), np.eye(2), report)
    with pytest.raises(InputError, match="zero where structure has no edge"):
        GaussianModel(("a", "b"), Graph.empty(2), np.zeros(2), np.ones(2), np.array([[1, 0.1], [0.1, 1]]), report)
    with pytest.raises(InputError, match="mean and scale must be finite"):
        GaussianModel(("a", "b"), Graph.empty(2), np.zeros(2), np.array([1.0, -1.0]), np.eye(2), report)
