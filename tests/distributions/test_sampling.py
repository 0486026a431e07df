"""Samplers against the exact distribution, computed state by state; every tolerance has a known error probability."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.stats import chi2

from mnlearn import _core
from mnlearn.distributions import sampling as gibbs_module
from mnlearn.distributions.elimination import largest_table
from mnlearn.errors import InputError
from mnlearn.graphs import Graph, cycle, erdos_renyi, grid, path, random_graph, random_tree, star
from mnlearn.simulate import (
    Factor,
    FactorNetwork,
    GibbsPlan,
    PairwiseNetwork,
    agreement_factors,
    as_bayesian_network,
    component_probabilities,
    ising,
    log_partition,
    random_pairwise_factors,
    sample,
    sample_gibbs,
    uniform_factors,
    with_log_odds,
)

from references import sampling as slow

ERROR = 1e-4  # the probability that a right sampler fails a test of this file with another seed


ELIMINATED = [[0, 1, 0, 0, 1, 1], [1, 1, 0, 1, 1, 1], [0, 0, 1, 0, 0, 0]]
ENUMERATED = [[1, 0, 0, 1, 0, 0], [1, 1, 1, 1, 0, 0], [0, 0, 1, 0, 0, 0]]
GIBBS = [[1, 1, 0, 0, 1, 0], [1, 0, 0, 1, 0, 1], [0, 0, 1, 0, 0, 0]]


@st.composite
def networks(draw: st.DrawFn) -> FactorNetwork:
    """A small network of any kind, with one to three states per variable."""
    n = draw(st.integers(1, 5))
    graph = erdos_renyi(n, draw(st.floats(0, 1)), draw(st.integers(0, 50)))
    cards = draw(st.lists(st.integers(1, 3), min_size=n, max_size=n))
    if draw(st.booleans()):
        return uniform_factors(graph, draw(st.integers(0, 50)), cards=cards)
    return random_pairwise_factors(
        graph, 1.0, draw(st.integers(0, 50)), cards=cards, fields=draw(st.sampled_from([0, 1]))
    )


@given(networks())
@settings(deadline=None, max_examples=60)
def test_elimination_is_the_distribution_itself(network: FactorNetwork) -> None:
    exact = slow.distribution(network)
    directed = as_bayesian_network(network)
    for x, p in exact.items():
        product = 1.0
        for v, parents in enumerate(directed.parents):
            product *= float(directed.tables[v][(*(x[u] for u in parents), x[v])])
        assert product == pytest.approx(p, rel=1e-10)
    weights = network.log_weights(np.array(list(exact)))
    assert log_partition(network) == pytest.approx(float(np.log(np.exp(weights).sum())), rel=1e-10, abs=1e-12)


@given(networks())
@settings(deadline=None, max_examples=40)
def test_components_are_listed_state_by_state(network: FactorNetwork) -> None:
    exact = slow.distribution(network)
    for component in network.graph.components():
        table = np.zeros([network.cards[x] for x in component])
        for state, p in exact.items():
            table[tuple(state[x] for x in component)] += p
        np.testing.assert_allclose(component_probabilities(network, component), table, rtol=1e-10)


def goodness(network: FactorNetwork, codes: NDArray[np.uint8], effective: float = 1.0) -> float:
    """The chi-square p-value of the rows under the exact distribution; `effective` shrinks the number of rows."""
    exact = np.array(list(slow.distribution(network).values())).reshape(network.cards)
    observed = np.zeros(exact.shape)
    np.add.at(observed, tuple(codes.T.astype(int)), effective)
    expected = exact * len(codes) * effective
    return float(chi2.sf(((observed - expected) ** 2 / expected).sum(), expected.size - 1))


MIXED = uniform_factors(Graph(6, [(0, 1), (1, 2), (0, 2), (2, 3), (4, 5)]), seed=3, cards=(2, 3, 2, 2, 3, 2))


@pytest.mark.parametrize("method", ["enumerate", "eliminate"])
def test_exact_rows_have_the_exact_distribution(method: str) -> None:
    drawn = sample(MIXED, 60_000, seed=11, method=method)  # type: ignore[arg-type]
    assert drawn.method == method
    assert goodness(MIXED, drawn.codes) > ERROR


def test_gibbs_rows_far_apart_have_the_exact_distribution() -> None:
    # With 30 sweeps between rows of this network nothing is left of the dependence between them.
    drawn = sample(MIXED, 60_000, seed=5, method="gibbs", plan=GibbsPlan(chains=4, burn_in=200, thin=30))
    assert drawn.convergence is not None
    assert drawn.convergence.converged
    assert goodness(MIXED, drawn.codes) > ERROR


@pytest.mark.parametrize("method", ["eliminate", "gibbs"])
@pytest.mark.parametrize("which", ["ising", "uniform", "potts", "hub"])
def test_marginals_and_pair_moments_are_right(method: str, which: str) -> None:
    """Every mean and every mean product within z standard errors, z for ERROR over all of them together."""
    network = {
        "ising": lambda: ising(grid(3, 3), 0.4, seed=2).to_factors(),
        "uniform": lambda: uniform_factors(cycle(8), seed=4),
        "potts": lambda: agreement_factors(path(6), 1.5, cards=3),
        "hub": lambda: uniform_factors(star(9), seed=6),
    }[which]()
    rows = 40_000
    plan = GibbsPlan(chains=4, burn_in=500, thin=25)
    codes = sample(network, rows, seed=9, method=method, plan=plan).codes.astype(float)  # type: ignore[arg-type]
    mean, product = slow.moments(network)
    found = codes.T @ codes / rows
    z = float(np.sqrt(chi2.isf(ERROR / (len(mean) * (len(mean) + 1)), 1)))
    np.testing.assert_array_less(np.abs(codes.mean(0) - mean), z * codes.std(0) / rows**0.5 + 1e-12)
    spread = np.array([[(codes[:, i] * codes[:, j]).std() for j in range(len(mean))] for i in range(len(mean))])
    np.testing.assert_array_less(np.abs(found - product), z * spread / rows**0.5 + 1e-12)


@given(networks(), st.integers(0, 2**64 - 1))
@settings(deadline=None, max_examples=25)
def test_native_chains_are_the_slow_ones_bit_for_bit(network: FactorNetwork, key: int) -> None:
    expected = slow.gibbs(network, key, n_chains=2, n_draws=5, burn_in=3, thin=2)
    for limit in (4096, 0):  # conditionals in tables, and factors added up on the way
        before, gibbs_module._LARGEST_CONDITIONAL = gibbs_module._LARGEST_CONDITIONAL, limit
        try:
            compiled = gibbs_module._compiled(network)
        finally:
            gibbs_module._LARGEST_CONDITIONAL = before
        for threads in (1, 3):
            found = _core.gibbs(*compiled, key, 2, 5, 3, 2, threads)
            np.testing.assert_array_equal(found, expected)


def test_a_hub_too_large_for_a_table_is_sampled_by_its_factors() -> None:
    network = with_log_odds(star(16), 1.0, seed=1).to_factors()
    assert gibbs_module._LARGEST_CONDITIONAL < 2**16
    codes = sample_gibbs(network, 30_000, seed=2, plan=GibbsPlan(burn_in=200, thin=10)).astype(int)
    agree = (codes[:, :1] == codes[:, 1:]).mean(0)
    exact = np.exp(0.5) / (1 + np.exp(0.5))  # given the hub, each leaf agrees with this probability
    np.testing.assert_array_less(np.abs(agree - exact), 5 * (exact * (1 - exact) / 30_000) ** 0.5)  # 1 in 10^5


def test_rows_of_a_seed_never_change() -> None:
    """A change here changes every data set of ours: raise the version and say so."""
    network = ising(grid(2, 3), 0.5, seed=1)
    assert sample(network, 3, seed=1, method="eliminate").codes.tolist() == ELIMINATED
    assert sample(network, 3, seed=1, method="enumerate").codes.tolist() == ENUMERATED
    assert sample(network, 3, seed=1, method="gibbs").codes.tolist() == GIBBS


def test_auto_takes_the_exact_way_when_it_can() -> None:
    assert sample(agreement_factors(random_tree(300, seed=1), 1.0), 5, seed=1).method == "eliminate"
    dense = random_graph(60, 12, seed=1)
    assert largest_table(dense, (2,) * 60) > 2**20
    drawn = sample(with_log_odds(dense, 0.2, seed=1), 400, seed=1)
    assert drawn.method == "gibbs"
    assert drawn.convergence is not None
    assert drawn.dataset().n_rows == 400
    assert sample(with_log_odds(dense, 0.2, seed=1), 10, seed=1).convergence is None


def test_a_sample_is_a_data_set_with_all_its_states() -> None:
    drawn = sample(FactorNetwork((2, 4)), 3, seed=1)
    data = drawn.dataset(["a", "b"])
    assert data.names == ("a", "b")
    assert data.cards == (2, 4)
    np.testing.assert_array_equal(drawn.codes, sample(FactorNetwork((2, 4)), 3, np.random.default_rng(1)).codes)


def test_pairwise_networks_are_their_factors() -> None:
    network = PairwiseNetwork(path(3), {(0, 1): 1.2, (1, 2): -0.7}, (0.3, 0.0, -1.0))
    rows = np.array(list(slow.distribution(network.to_factors())))
    by_definition = (
        0.6 * (rows[:, 0] == rows[:, 1]) - 0.35 * (rows[:, 1] == rows[:, 2]) + 0.3 * rows[:, 0] - 1.0 * rows[:, 2]
    )
    np.testing.assert_allclose(network.to_factors().log_weights(rows), by_definition)


def test_laws_of_the_couplings() -> None:
    graph = grid(20, 20)
    assert set(ising(graph, 0.3, seed=1).log_odds.values()) == {1.2, -1.2}
    mixed = np.array(list(ising(graph, 0.3, seed=1).log_odds.values()))
    assert abs((mixed > 0).mean() - 0.5) < 4 * 0.5 / len(mixed) ** 0.5
    normal = np.array(list(ising(graph, 0.3, seed=1, law="normal").log_odds.values()))
    assert normal.std() == pytest.approx(1.2, abs=4 * 1.2 / (2 * len(normal)) ** 0.5)
    assert set(ising(graph, 0.3, seed=1, law="equal").log_odds.values()) == {1.2}
    fields = np.array(with_log_odds(graph, 1.0, seed=1, fields=0.5).fields)
    assert fields.std() == pytest.approx(0.5, abs=4 * 0.5 / (2 * len(fields)) ** 0.5)
    pure = random_pairwise_factors(path(3), 1.0, seed=1, cards=(2, 3, 4))
    for factor in pure.factors:
        np.testing.assert_allclose(factor.log_values.sum(0), 0, atol=1e-12)
        np.testing.assert_allclose(factor.log_values.sum(1), 0, atol=1e-12)


@pytest.mark.parametrize("signs", ["same", "mixed"])
def test_uniform_parameters_are_factors_with_three_uniform_entries(signs: Literal["same", "mixed"]) -> None:
    graph = star(4)
    network = with_log_odds(graph, 1.5, seed=4, signs=signs, law="uniform")
    rng = np.random.default_rng(4)
    theta = 1.5 * (np.where(rng.random(3) < 0.5, -1.0, 1.0) if signs == "mixed" else np.ones(3))
    factors = []
    for edge, t, (f00, f01, f10) in zip(graph.edges, theta, (1.0 - rng.random((3, 3))).T, strict=True):
        f11 = np.exp(t) * f01 * f10 / f00
        assert np.log(f00 * f11 / (f01 * f10)) == pytest.approx(network.log_odds[edge])
        factors.append(Factor(edge, np.log([[f00, f01], [f10, f11]])))
    expected, found = slow.distribution(FactorNetwork((2,) * 4, factors)), slow.distribution(network.to_factors())
    assert found == pytest.approx(expected)


def test_uniform_parameters_add_to_the_fields_and_keep_the_other_law_as_it_is() -> None:
    graph = grid(3, 3)
    plain = with_log_odds(graph, 1.0, seed=2, fields=0.5, law="alike")
    fields = with_log_odds(graph, 1.0, seed=2, fields=0.5, law="uniform")
    assert plain == with_log_odds(graph, 1.0, seed=2, fields=0.5)
    assert plain.log_odds == fields.log_odds
    assert np.abs(np.subtract(fields.fields, plain.fields)).min() > 0
    assert with_log_odds(Graph(3), 1.0, seed=2, law="uniform").fields == (0.0, 0.0, 0.0)


def test_uniform_parameters_make_variables_of_many_neighbours_nearly_constant() -> None:
    shares = []
    for degree in (1, 2, 4, 8):
        network = with_log_odds(random_graph(75, degree, seed=1), 1.0, seed=2, law="uniform")
        ones = sample(network, 1000, seed=3).codes.mean(0)
        shares.append(np.maximum(ones, 1 - ones).mean())
    assert shares == sorted(shares)
    assert shares[0] < 0.75
    assert shares[-1] > 0.93


def test_large_cliques_can_have_factors_on_their_pairs() -> None:
    graph = Graph(6, [(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3), (3, 4), (3, 5), (4, 5)])
    network = uniform_factors(graph, 1, max_clique=3)
    assert [f.variables for f in network.factors] == [(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3), (3, 4, 5)]
    assert network.graph == graph
    whole, limited = uniform_factors(graph, 1), uniform_factors(graph, 1, max_clique=4)
    for one, other in zip(whole.factors, limited.factors, strict=True):
        np.testing.assert_array_equal(one.log_values, other.log_values)


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (lambda: Factor((1, 0), np.zeros((2, 2))), "variables must be distinct indices in ascending order"),
        (lambda: Factor((0, 1), np.zeros(2)), "log_values must have one axis per variable, 2; got 1"),
        (lambda: Factor((0,), np.array([0.0, -np.inf])), "log_values must be finite"),
        (lambda: FactorNetwork(()), "cards must hold a number from 1 to 256 per variable"),
        (lambda: FactorNetwork((2, 300)), "cards must be at most 256; got 300"),
        (lambda: FactorNetwork((2,), [Factor((0, 1), np.zeros((2, 2)))]), r"factors must be over variables 0..0"),
        (lambda: FactorNetwork((2, 3), [Factor((0, 1), np.zeros((2, 2)))]), r"needs the shape \(2, 3\), got \(2, 2\)"),
        (lambda: uniform_factors(path(3), 1, cards=(2, 2)), "cards must be one number, or one for each of 3"),
        (lambda: uniform_factors(Graph.complete(60), 1), "room for a factor on a clique of 60 .* Set max_clique"),
        (lambda: uniform_factors(path(3), 1, max_clique=1), "max_clique must be a whole number, at least 2; got 1"),
        (lambda: agreement_factors(path(3), float("nan")), "log_odds must be a finite number; got nan"),
        (lambda: random_pairwise_factors(path(3), -1.0, 1), "strength must be at least 0; got -1.0"),
        (lambda: with_log_odds(path(3), 1.0, 1, signs="both"), "signs must be 'same' or 'mixed'"),  # type: ignore[arg-type]
        (lambda: with_log_odds(path(3), 1.0, 1, law="normal"), "law must be 'alike' or 'uniform'; got 'normal'"),  # type: ignore[arg-type]
        (lambda: with_log_odds(path(3), 1.0, 1, fields=-1), "fields must be a finite number from 0 on"),
        (lambda: ising(path(3), 1.0, 1, law="odd"), "law must be 'mixed', 'normal' or 'equal'"),  # type: ignore[arg-type]
        (lambda: sample(FactorNetwork((2,)), 0, 1), "n_rows must be a whole number, at least 1; got 0"),
        (lambda: sample(FactorNetwork((2,)), 5, 1, method="exact"), "method 'exact' does not exist"),  # type: ignore[arg-type]
        (lambda: sample(agreement_factors(grid(21, 21), 1), 5, 1, method="eliminate"), "network must be of low tree"),
        (lambda: sample(agreement_factors(path(21), 1), 5, 1, method="enumerate"), "at most 1048576 states"),
        (lambda: component_probabilities(agreement_factors(path(3), 1), (0, 1)), "closed under neighbours"),
        (lambda: GibbsPlan(chains=1), "chains must be a whole number, at least 2; got 1"),
        (lambda: GibbsPlan(thin=0), "thin must be a whole number, at least 1; got 0"),
        (lambda: GibbsPlan(burn_in=-1), "burn_in must be a whole number, at least 0; got -1"),
    ],
)
def test_bad_input_is_refused_by_name(build: Callable[[], object], message: str) -> None:
    with pytest.raises(InputError, match=message):
        build()


def test_the_core_refuses_models_that_would_read_outside() -> None:
    good: list[Any] = list(gibbs_module._compiled(with_log_odds(path(3), 1.0, seed=1).to_factors()))
    run: Any = _core.gibbs
    run(*good, 1, 2, 3, 0, 1, 1)
    wrong = {5: np.array([9] * 4, np.int32), 7: good[7][:-1], 3: good[3] + 5, 1: good[1][::-1].copy()}
    for place, part in wrong.items():
        broken = [*good]
        broken[place] = part
        with pytest.raises(ValueError, match="must"):
            run(*broken, 1, 2, 3, 0, 1, 1)
