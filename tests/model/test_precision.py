"""Precision matrices with given zeros: against iterative scaling, and where no maximum would exist."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mnlearn import DataError, Dataset, Graph, InputError, UnsuitableError
from mnlearn.distributions.gaussian import continuous_dataset
from mnlearn.graphs import cycle, grid
from mnlearn.model import fit_precision
from mnlearn.simulate import sparse_gaussian

from references import model as slow


@settings(max_examples=25, deadline=None)
@given(st.data())
def test_it_is_what_iterative_scaling_finds(data: st.DataObject) -> None:
    n = data.draw(st.integers(2, 6))
    graph = Graph(n, data.draw(st.lists(st.sampled_from(list(combinations(range(n), 2))), unique=True)))
    rng = np.random.default_rng(data.draw(st.integers(0, 10**6)))
    values = rng.normal(size=(40, n)) @ rng.normal(size=(n, n)) + 0.5 * rng.normal(size=(40, n))
    fitted = fit_precision(graph, continuous_dataset(values))
    assert fitted.converged
    assert fitted.ridge == 0.0
    expected = slow.scaled_precision(np.asarray(np.corrcoef(values.T)), graph)
    np.testing.assert_allclose(fitted.precision, expected, rtol=1e-6, atol=1e-6 * np.abs(expected).max())


def test_zeros_are_exact_and_the_edges_have_the_correlations_of_the_data() -> None:
    graph = grid(4, 4)
    data = sparse_gaussian(graph, seed=1).dataset(200, seed=2)
    fitted = fit_precision(graph, data)
    absent = ~(graph.adjacency().toarray().astype(bool) | np.eye(16, dtype=bool))
    assert np.all(fitted.precision[absent] == 0.0)
    assert np.array_equal(fitted.precision, fitted.precision.T)
    implied, correlation = np.linalg.inv(fitted.precision), np.corrcoef(np.stack(data.columns))
    for u, v in graph.edges:
        assert implied[u, v] == pytest.approx(correlation[u, v], abs=1e-8)
    np.testing.assert_allclose(np.diag(implied), 1.0, atol=1e-8)


def test_units_and_offsets_do_not_matter() -> None:
    values = sparse_gaussian(cycle(5), seed=1).sample(100, seed=2)
    plain = fit_precision(cycle(5), continuous_dataset(values))
    units = np.array([1.0, 1e-6, 1e6, 3.0, 0.5])
    other = fit_precision(cycle(5), continuous_dataset(values * units + 1e3 * units))
    np.testing.assert_allclose(other.precision, plain.precision, rtol=1e-7)
    np.testing.assert_allclose(other.scale, plain.scale * units, rtol=1e-9)
    np.testing.assert_allclose(other.mean, (plain.mean + 1e3) * units, rtol=1e-9)


def test_repeats_are_rows() -> None:
    values = sparse_gaussian(cycle(4), seed=1).sample(30, seed=2)
    weights = np.arange(30) % 3 + 1
    one_by_one = continuous_dataset(np.repeat(values, weights, axis=0))
    stored = Dataset(one_by_one.names, (0,) * 4, tuple(values.T.copy()), (None,) * 4, weights)
    first, second = fit_precision(cycle(4), one_by_one), fit_precision(cycle(4), stored)
    np.testing.assert_allclose(first.precision, second.precision, rtol=1e-9)
    np.testing.assert_allclose(first.mean, second.mean, rtol=1e-9)


@pytest.mark.parametrize("n_rows", [2, 5, 30])
def test_fewer_rows_than_variables_are_shrunk_by_one_row(n_rows: int) -> None:
    graph = grid(6, 6)
    fitted = fit_precision(graph, sparse_gaussian(graph, seed=1).dataset(n_rows, seed=3))
    assert fitted.ridge == pytest.approx(1 / (n_rows + 1))
    assert fitted.converged
    assert np.linalg.eigvalsh(fitted.precision)[0] > 0


def test_constant_copied_and_summed_columns_give_a_sound_matrix() -> None:
    rng = np.random.default_rng(1)
    a, b = rng.normal(size=(2, 100))
    data = continuous_dataset(np.stack([a, b, a, a + b, np.full(100, 7.0)], 1))
    fitted = fit_precision(Graph.complete(5), data)
    assert fitted.scale[4] == 0.0
    assert fitted.mean[4] == 7.0
    assert np.array_equal(fitted.precision[4], [0, 0, 0, 0, 1])
    assert fitted.ridge == pytest.approx(1 / 101)
    assert np.isfinite(fitted.precision).all()
    assert np.linalg.eigvalsh(fitted.precision)[0] > 0


def test_bad_input_is_refused() -> None:
    data = continuous_dataset(np.random.default_rng(1).normal(size=(4, 6)))
    with pytest.raises(InputError, match="ridge must be a number from 0 to 1; got 2"):
        fit_precision(Graph.empty(6), data, ridge=2)
    with pytest.raises(InputError, match="ridge must make the correlation matrix positive definite; with 0"):
        fit_precision(Graph.empty(6), data, ridge=0)
    with pytest.raises(DataError, match="data must have at least 2 rows to have a variance; got 1"):
        fit_precision(Graph.empty(2), continuous_dataset(np.zeros((1, 2))))
    with pytest.raises(UnsuitableError, match="'gaussian' needs continuous variables; 'x0' has 2 states"):
        fit_precision(Graph.empty(2), Dataset.from_codes(np.array([[0, 1], [1, 0]])))
    with pytest.raises(InputError, match="graph must have one variable for each of 6 in the data; got 2"):
        fit_precision(Graph.empty(2), data)
