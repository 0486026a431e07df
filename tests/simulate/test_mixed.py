"""Mixed pairwise networks: exact distributions by enumeration, and Gibbs rows that follow them."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import chi2, kstest, poisson

from mnlearn.errors import InputError, UnknownNameError
from mnlearn.graphs import Graph, cycle, erdos_renyi, grid, path, star
from mnlearn.protocols import FloatArray
from mnlearn.simulate import Margin, MixedNetwork, mixed_network, ordinal_field, random_thresholds, spread_margins

KINDS = (Margin("nominal", 3), Margin("ordinal", 4, skew=0.4), Margin("count", mean=0.7), Margin("continuous"))


def slow_probabilities(network: MixedNetwork) -> FloatArray:
    """Return the joint distribution state by state; continuous variables are summed over a fine grid."""
    points = np.linspace(-8, 8, 65)
    values = [margin.features() if margin.kind != "continuous" else points[:, None] for margin in network.margins]
    joint = np.zeros([len(value) for value in values])
    for state in product(*(range(len(value)) for value in values)):
        log = 0.0
        for x, a in enumerate(state):
            margin = network.margins[x]
            log += -(points[a] ** 2) / 2 if margin.kind == "continuous" else np.log(margin.shares()[a])
        for (u, v), block in network.blocks.items():
            log += values[u][state[u]] @ block @ values[v][state[v]]
        joint[state] = np.exp(log)
    numbers = tuple(x for x, margin in enumerate(network.margins) if margin.kind == "continuous")
    found = joint.sum(axis=numbers)
    return np.asarray(found / found.sum())


@pytest.mark.parametrize("first", KINDS)
@pytest.mark.parametrize("second", KINDS)
def test_probabilities_of_all_pairs_of_kinds_equal_a_slow_sum(first: Margin, second: Margin) -> None:
    network = mixed_network(path(2), [first, second], seed=3, weakest=0.3, strongest=0.6)
    np.testing.assert_allclose(network.probabilities(), slow_probabilities(network), atol=1e-12)


def test_continuous_variables_between_others_are_integrated_out() -> None:
    margins = [Margin("ordinal", 3), Margin("continuous"), Margin("nominal", 3), Margin("continuous")]
    network = mixed_network(cycle(4), margins, seed=1, weakest=0.4, strongest=0.6)
    np.testing.assert_allclose(network.probabilities(), slow_probabilities(network), atol=1e-10)


@pytest.mark.parametrize("graph", [path(5), star(5), cycle(5), Graph(5)])
def test_gibbs_rows_follow_the_exact_distribution(graph: Graph) -> None:
    margins = [*KINDS, Margin("continuous")]
    network = mixed_network(graph, margins, seed=2, weakest=0.3, strongest=0.5)
    rows = 40_000
    columns = network.sample(rows, seed=3)
    expected = network.probabilities() * rows
    found = np.zeros(expected.shape)
    np.add.at(found, tuple(columns[:3]), 1)
    common = expected >= 5
    cells = [*zip(found[common], expected[common], strict=True), (found[~common].sum(), expected[~common].sum())]
    statistic = sum((a - b) ** 2 / b for a, b in cells)
    assert chi2.sf(statistic, len(cells) - 1) > 1e-4
    # Given the states, the continuous variables are normal with one covariance.
    features = [margin.features()[codes] for margin, codes in zip(margins, columns[:3], strict=False)]
    pulls = np.zeros((2, rows))
    for (u, v), block in network.blocks.items():
        if u < 3 <= v:
            pulls[v - 3] += (features[u] @ block)[:, 0]
    apart = np.stack(columns[3:]) - network.covariance @ pulls
    whitened = np.linalg.solve(np.linalg.cholesky(network.covariance), apart)
    assert kstest(whitened.ravel(), "norm").pvalue > 1e-4
    assert abs(np.mean(whitened[0] * whitened[1])) < 4 / rows**0.5


@given(st.integers(1, 12), st.floats(0, 1), st.integers(0, 100))
@settings(deadline=None, max_examples=30)
def test_any_graph_and_kinds_give_rows(n: int, p: float, seed: int) -> None:
    graph = erdos_renyi(n, p, seed)
    margins = spread_margins(n, KINDS, seed)
    network = mixed_network(graph, margins, seed)
    data = network.dataset(20, seed, sweeps=3)
    assert data.kinds == tuple(margin.kind for margin in margins)
    assert data.n_rows == 20
    for (u, v), block in network.blocks.items():
        strength = np.sqrt((block**2).sum())
        assert strength <= 0.35 + 1e-12
        if "continuous" not in (margins[u].kind, margins[v].kind):
            assert strength >= 0.12 - 1e-12


def test_strong_couplings_of_continuous_variables_are_reduced_until_the_law_exists() -> None:
    network = mixed_network(star(20), [Margin("continuous")] * 20, seed=1, weakest=0.5, strongest=0.8)
    assert np.linalg.eigvalsh(np.linalg.inv(network.covariance))[0] == pytest.approx(0.1)


def test_seeds_and_names() -> None:
    network = ordinal_field(grid(2, 3), seed=1, states=4)
    one, other = (network.dataset(50, seed, list("abcdef")) for seed in (7, np.random.default_rng(7)))
    assert one.fingerprint() == other.fingerprint()
    assert one.names == tuple("abcdef")
    assert one.levels[0] == (1, 2, 3, 4)
    assert one.fingerprint() != network.dataset(50, 8, list("abcdef")).fingerprint()


def test_margins_without_neighbours_have_their_shares() -> None:
    margins = [Margin("ordinal", 5, skew=1.0), Margin("count", mean=3.0), Margin("nominal", 30), Margin("continuous")]
    data = MixedNetwork(Graph(4), tuple(margins), {}).dataset(20_000, seed=1)
    for x in (0, 2):
        shares = np.bincount(data.columns[x], minlength=data.cards[x]) / 20_000
        np.testing.assert_allclose(shares, margins[x].shares(), atol=4 * 0.5 / 20_000**0.5)
    np.testing.assert_allclose(margins[1].shares(), poisson.pmf(np.arange(len(margins[1].shares())), 3.0))
    assert abs(float(np.mean(data.columns[1].astype(float))) - 3.0) < 4 * (3.0 / 20_000) ** 0.5
    assert data.levels[2] is not None
    assert data.levels[2][-1] == "s30"
    assert data.counted == {"x1"}


def test_thresholds_are_log_weights_of_states() -> None:
    margin = Margin("ordinal", 3, skew=1.0, thresholds=(0.0, 1.0, 2.0 + np.log(2)))
    np.testing.assert_allclose(margin.shares(), [0.25, 0.25, 0.5])
    even, uneven = Margin("count"), random_thresholds([Margin("count"), Margin("nominal", 4)], 1.0, seed=1)
    assert uneven[0] == even
    assert len(set(uneven[1].thresholds)) == 4
    network = ordinal_field(path(3), seed=1, thresholds=0.5)
    assert len({margin.thresholds for margin in network.margins}) == 3
    np.testing.assert_allclose(network.probabilities(), slow_probabilities(network), atol=1e-12)


@pytest.mark.parametrize("margin", [Margin("nominal", 5), Margin("ordinal", 5)])
def test_features_have_mean_zero_and_variance_one(margin: Margin) -> None:
    features = margin.features()
    np.testing.assert_allclose(features.mean(axis=0), 0.0, atol=1e-12)
    np.testing.assert_allclose(features.T @ features / 5, np.eye(margin.n_features), atol=1e-12)


def test_a_count_follows_a_poisson_law_with_log_link_up_to_its_bound() -> None:
    network = MixedNetwork(path(2), (Margin("ordinal", 2), Margin("count", mean=4.0)), {(0, 1): np.array([[0.5]])})
    joint = network.probabilities()
    bound = 10  # 4 + 3 √4
    for row, rate in zip(joint, (4 * np.exp(-0.25), 4 * np.exp(0.25)), strict=True):
        ratios = row[1 : bound + 1] / row[:bound]
        np.testing.assert_allclose(ratios, rate / np.arange(1, bound + 1))


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Margin("ordinal", states=1), "states must be"),
        (lambda: Margin("count", mean=0.0), "mean must be"),
        (lambda: Margin("ordinal", 3, thresholds=(0.0, 1.0)), "one entry for each of 3 states; got 2"),
        (lambda: Margin("ordinal", 2, thresholds=(0.0, float("inf"))), "every one of thresholds"),
        (lambda: random_thresholds([Margin("ordinal")], -1.0, 1), "deviation must be"),
        (lambda: Margin("ordinal", skew=float("nan")), "skew must be"),
        (lambda: mixed_network(path(3), [Margin("count")], 1), "one entry for each of 3 variables; got 1"),
        (lambda: mixed_network(path(1), ["count"], 1), "margins must be"),  # type: ignore[list-item]
        (lambda: ordinal_field(path(2), 1, weakest=0.5), "0 < weakest <= strongest"),
        (lambda: ordinal_field(path(2), 1).sample(0, 1), "n_rows must be"),
        (lambda: ordinal_field(path(2), 1).sample(1, 1, sweeps=0), "sweeps must be"),
        (lambda: ordinal_field(path(20), 1).probabilities(), "at most 1,048,576 states"),
        (lambda: spread_margins(3, [], 1), "margins must hold at least one"),
        (lambda: MixedNetwork(path(2), (Margin("count"),) * 2, {}), "blocks must have one entry"),
        (lambda: MixedNetwork(path(2), (Margin("count"),) * 2, {(0, 1): [[1.0, 2.0]]}), "shape"),  # type: ignore[dict-item]
        (
            lambda: MixedNetwork(path(2), (Margin("continuous"),) * 2, {(0, 1): np.array([[1.5]])}),
            "positive definite; its smallest eigenvalue is -0.5",
        ),
    ],
)
def test_bad_arguments_are_named(make: object, message: str) -> None:
    assert callable(make)
    with pytest.raises(InputError, match=message):
        make()


def test_an_unknown_kind_is_named() -> None:
    with pytest.raises(UnknownNameError, match="kind 'orderly' does not exist"):
        Margin("orderly")  # type: ignore[arg-type]
