"""Gaussian networks: zeros where there is no edge, and rows with exactly that covariance."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mnlearn.errors import InputError
from mnlearn.graphs import Graph, barabasi_albert, cycle, erdos_renyi, grid, hubs, path, star
from mnlearn.independence import PartialCorrelation
from mnlearn.simulate import GaussianNetwork, equal_partial_correlations, sparse_gaussian
from mnlearn.statistics import Moments


@given(st.integers(1, 15), st.floats(0, 1), st.integers(0, 100), st.sampled_from(["mixed", "same"]))
@settings(deadline=None, max_examples=50)
def test_a_drawn_network_is_definite_with_unit_variances(n: int, p: float, seed: int, signs: str) -> None:
    graph = erdos_renyi(n, p, seed)
    network = sparse_gaussian(graph, seed, signs=signs)  # type: ignore[arg-type]
    assert network.graph == graph
    assert np.linalg.eigvalsh(network.precision)[0] > 0
    np.testing.assert_allclose(np.diag(network.covariance()), 1.0, rtol=1e-8)
    np.testing.assert_allclose(network.covariance() @ network.precision, np.eye(n), atol=1e-8)
    partial = network.partial_correlations()
    assert np.abs(partial - np.diag(np.diag(partial))).max(initial=0.0) < 1
    if signs == "same":
        assert (partial >= 0).all()


@pytest.mark.parametrize("graph", [path(6), star(6), cycle(6), grid(2, 3), hubs(2, 2), barabasi_albert(6, 2, 1)])
def test_rows_have_the_exact_covariance(graph: Graph) -> None:
    network, rows = sparse_gaussian(graph, seed=3), 20_000
    values = network.sample(rows, seed=5)
    covariance = network.covariance()
    found = values.T @ values / rows
    # Each entry has variance (σ_uu σ_vv + σ_uv²) / N; 5 of them: wrong once in 10^5 over all entries.
    bound = 5 * np.sqrt((np.outer(np.diag(covariance), np.diag(covariance)) + covariance**2) / rows)
    np.testing.assert_array_less(np.abs(found - covariance), bound)
    np.testing.assert_allclose(values, network.sample(rows, np.random.default_rng(5)))


def test_missing_edges_are_partial_independences() -> None:
    network = sparse_gaussian(cycle(6), seed=2)
    test = PartialCorrelation(Moments(network.dataset(4000, seed=1)), alpha=1e-4)
    for u in range(6):
        for v in range(u + 1, 6):
            rest = frozenset(range(6)) - {u, v}
            assert test(u, v, rest).independent == (not network.graph.has_edge(u, v))


def test_equal_partial_correlations_are_equal() -> None:
    network = equal_partial_correlations(grid(3, 3), -0.2)
    partial = network.partial_correlations()
    assert {round(float(partial[u, v]), 12) for u, v in network.graph.edges} == {-0.2}
    assert network.graph == grid(3, 3)
    data = network.dataset(10, seed=1, names=[f"gene{i}" for i in range(9)])
    assert data.cards == (0,) * 9
    assert data.names[8] == "gene8"


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (lambda: GaussianNetwork([[1.0, 2.0]]), r"precision must be a square matrix .* got the shape \(1, 2\)"),  # type: ignore[arg-type]
        (lambda: GaussianNetwork(np.array([[1.0, 0.5], [0.4, 1.0]])), "precision must be symmetric"),
        (
            lambda: GaussianNetwork(np.array([[1.0, 2.0], [2.0, 1.0]])),
            "definite; its smallest eigenvalue is -1",
        ),
        (lambda: GaussianNetwork(np.array([[np.nan]])), "finite numbers"),
        (lambda: sparse_gaussian(path(3), 1, weakest=0.0), "0 < weakest <= strongest; got 0.0 and 0.8"),
        (lambda: sparse_gaussian(path(3), 1, signs="both"), "signs must be 'mixed' or 'same'"),  # type: ignore[arg-type]
        (lambda: equal_partial_correlations(star(17), 0.3), r"correlation must stay below 0.2500 .* got 0.3"),
        (lambda: equal_partial_correlations(path(3), 1.0), "correlation must be between -1 and 1; got 1.0"),
        (lambda: sparse_gaussian(path(3), 1).sample(0, 1), "n_rows must be a whole number, at least 1; got 0"),
    ],
)
def test_bad_input_is_refused_by_name(build: Callable[[], object], message: str) -> None:
    with pytest.raises(InputError, match=message):
        build()
