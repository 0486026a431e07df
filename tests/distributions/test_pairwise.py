"""Samples against the exact distribution, computed here from the definition."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from math import exp, log

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from mnlearn.errors import InputError
from mnlearn.graphs import Graph, cycle, path, random_graph
from mnlearn.simulate import PairwiseNetwork, sample_exact, state_probabilities


def brute_force(network: PairwiseNetwork) -> dict[tuple[int, ...], float]:
    """p(x) for every x, term by term."""
    weights = {}
    for x in product((0, 1), repeat=network.graph.n_variables):
        agreeing = sum(theta / 2 for (u, v), theta in network.log_odds.items() if x[u] == x[v])
        weights[x] = exp(agreeing + sum(h * value for h, value in zip(network.fields, x, strict=True)))
    total = sum(weights.values())
    return {x: weight / total for x, weight in weights.items()}


@st.composite
def networks(draw: st.DrawFn) -> PairwiseNetwork:
    """A small network with fields, of one or more components."""
    n = draw(st.integers(1, 5))
    graph = random_graph(n, draw(st.floats(0, n - 1)), draw(st.integers(0, 20)))
    number = st.floats(-3, 3)
    fields = draw(st.lists(number, min_size=n, max_size=n))
    return PairwiseNetwork(graph, {edge: draw(number) for edge in graph.edges}, fields)


@given(networks())
@settings(deadline=None, max_examples=50)
def test_component_probabilities_follow_the_definition(network: PairwiseNetwork) -> None:
    for component in network.graph.components():
        exact: NDArray[np.float64] = np.zeros(1 << len(component))
        for x, p in brute_force(network).items():
            exact[sum(x[variable] << place for place, variable in enumerate(component))] += p
        np.testing.assert_allclose(state_probabilities(network, component), exact, rtol=1e-12)


def test_the_edge_parameter_is_the_log_odds_ratio() -> None:
    p = brute_force(PairwiseNetwork(path(2), {(0, 1): 1.7}, (0.4, -1.1)))
    assert log(p[0, 0] * p[1, 1] / (p[0, 1] * p[1, 0])) == pytest.approx(1.7)


def test_samples_have_the_exact_distribution() -> None:
    graph = Graph(5, [(0, 1), (1, 2), (0, 2), (3, 4)])
    network = PairwiseNetwork(graph, {(0, 1): 1.0, (1, 2): -1.5, (0, 2): 0.5, (3, 4): 2.0}, (0.2, 0, -0.4, 0.6, 0))
    rows = 40_000
    codes = sample_exact(network, rows, seed=7)
    observed = np.bincount(codes @ (1 << np.arange(5)), minlength=32)
    exact = np.zeros(32)
    for x, p in brute_force(network).items():
        exact[sum(value << place for place, value in enumerate(x))] = p
    statistic = ((observed - rows * exact) ** 2 / (rows * exact)).sum()
    assert statistic < 61.1  # chi-square with 31 degrees of freedom: above it with probability 0.001


def test_components_are_independent_and_isolated_variables_follow_their_field() -> None:
    codes = sample_exact(PairwiseNetwork(Graph(2), {}, (0.0, log(3))), 100_000, seed=1)
    assert abs(codes[:, 1].mean() - 0.75) < 4.5 * (0.75 * 0.25 / 100_000) ** 0.5  # wrong once in 150,000 seeds
    assert abs(np.corrcoef(codes.T.astype(float))[0, 1]) < 4.5 / 100_000**0.5


def test_same_seed_same_rows() -> None:
    network = PairwiseNetwork.uniform(cycle(6), 1.5)
    codes = sample_exact(network, 50, seed=3)
    assert codes.dtype == np.uint8
    assert codes.shape == (50, 6)
    np.testing.assert_array_equal(codes, sample_exact(network, 50, np.random.default_rng(3)))
    assert (codes != sample_exact(network, 50, seed=4)).any()


def test_extreme_parameters_stay_finite() -> None:
    codes = sample_exact(PairwiseNetwork(path(3), {(0, 1): 2000.0, (1, 2): -2000.0}, (0, -1500, 0)), 200, seed=1)
    assert (codes[:, 0] == codes[:, 1]).all()
    assert (codes[:, 1] != codes[:, 2]).all()


def test_twenty_variables_are_enumerated_and_more_are_refused() -> None:
    assert sample_exact(PairwiseNetwork.uniform(path(20), 1.0), 10, seed=1).shape == (10, 20)
    with pytest.raises(InputError, match=r"components of at most 20 variables .* got one of 21"):
        sample_exact(PairwiseNetwork.uniform(path(21), 1.0), 10, seed=1)
    assert sample_exact(PairwiseNetwork.uniform(Graph(400), 1.0), 3, seed=1).shape == (3, 400)


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (lambda: PairwiseNetwork(path(3), {(0, 1): 1.0}), r"one number for each edge .* \(1, 2\) is missing"),
        (lambda: PairwiseNetwork(path(2), {(0, 1): 1.0, (0, 2): 1.0}), r"\(0, 2\) is not an edge"),
        (lambda: PairwiseNetwork(path(2), {(1, 0): 1.0}), r"log_odds must hold"),
        (lambda: PairwiseNetwork(path(2), {(0, 1): float("nan")}), r"log_odds must be finite; got nan for \(0, 1\)"),
        (lambda: PairwiseNetwork(path(2), {(0, 1): 1.0}, (1.0,)), "fields must hold one number for each of 2"),
        (lambda: PairwiseNetwork(path(2), {(0, 1): 1.0}, (1.0, float("inf"))), "fields must be finite"),
        (
            lambda: sample_exact(PairwiseNetwork.uniform(path(2), 1), 0, 1),
            "n_rows must be a whole number, at least 1",
        ),
        (lambda: sample_exact(PairwiseNetwork.uniform(path(2), 1), 1.5, 1), "n_rows must be a whole number"),  # type: ignore[arg-type]
        (lambda: sample_exact(PairwiseNetwork.uniform(path(2), 1), 5, "x"), "seed must be"),  # type: ignore[arg-type]
        (lambda: state_probabilities(PairwiseNetwork.uniform(path(3), 1), (0, 1)), "closed under neighbours"),
    ],
)
def test_bad_input_is_refused_by_name(build: Callable[[], object], message: str) -> None:
    with pytest.raises(InputError, match=message):
        build()
