"""Penalised pseudo-likelihood: the objective against row-by-row sums, the optimum, and what must not matter."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mnlearn import Dataset, Graph, InputError, UnknownNameError, UnsuitableError
from mnlearn.distributions.gaussian import continuous_dataset
from mnlearn.graphs import grid
from mnlearn.model import fit_pseudolikelihood
from mnlearn.model.canonical import all_cliques
from mnlearn.model.pseudolikelihood import PseudoLikelihood, _Layout
from mnlearn.simulate import Factor, FactorNetwork, sample, uniform_factors

from references import model as slow
from references.sampling import distribution

GRAPH = Graph(4, [(0, 1), (1, 2), (0, 2), (2, 3)])
CARDS = (2, 3, 2, 2)


def rows(n_rows: int = 300, seed: int = 2) -> Dataset:
    return sample(uniform_factors(GRAPH, seed=5, cards=CARDS), n_rows, seed).dataset()


@settings(max_examples=20, deadline=None)
@given(st.data())
def test_the_objective_and_its_slope_are_those_of_sums_over_rows(data: Any) -> None:
    n = data.draw(st.integers(2, 4))
    cards = tuple(data.draw(st.lists(st.integers(2, 3), min_size=n, max_size=n)))
    graph = Graph(n, data.draw(st.lists(st.sampled_from(list(combinations(range(n), 2))), unique=True)))
    rng = np.random.default_rng(data.draw(st.integers(0, 1000)))
    codes = np.stack([rng.integers(card, size=12) for card in cards], 1)
    layout = _Layout.of(all_cliques(graph, cards), cards)
    problem = PseudoLikelihood.of(layout, Dataset.from_codes(codes, cards=cards))
    theta = rng.normal(size=layout.size)
    value, slope = problem.loss(theta, 0.7)
    assert value == pytest.approx(-slow.penalised(layout.network(theta), codes.tolist(), 0.7))
    for k in rng.choice(layout.size, size=min(6, layout.size), replace=False):
        step = np.zeros(layout.size)
        step[k] = 1e-6
        rise = (problem.loss(theta + step, 0.7)[0] - problem.loss(theta - step, 0.7)[0]) / 2e-6
        assert slope[k] == pytest.approx(rise, abs=1e-6)


def test_products_with_the_hessian_are_differences_of_gradients() -> None:
    data = rows(50)
    layout = _Layout.of(all_cliques(GRAPH, CARDS), CARDS)
    problem = PseudoLikelihood.of(layout, data)
    rng = np.random.default_rng(1)
    theta, direction = rng.normal(size=(2, layout.size))
    found = problem.curvature(problem.probabilities(theta)[0], direction, 0.7)
    ahead, behind = (problem.loss(theta + step * direction, 0.7)[1] for step in (1e-5, -1e-5))
    np.testing.assert_allclose(found, (ahead - behind) / 2e-5, atol=1e-6)


def test_the_gap_bounds_what_is_left_to_gain() -> None:
    data = rows(500)
    early, late = fit_pseudolikelihood(GRAPH, data, max_iterations=2), fit_pseudolikelihood(GRAPH, data)
    assert (early.converged, late.converged) == (False, True)
    codes = np.stack(data.columns, 1).tolist()
    gained = slow.penalised(late.network, codes, 1.0) - slow.penalised(early.network, codes, 1.0)
    assert 1e-6 < gained <= early.gap


@pytest.mark.parametrize("interactions", ["cliques", "pairwise"])
def test_no_change_of_any_cell_raises_the_objective(interactions: Any) -> None:
    data, ridge = rows(40), 0.5
    fitted = fit_pseudolikelihood(GRAPH, data, interactions=interactions, ridge=ridge)
    assert fitted.converged
    assert fitted.gap < 1e-10
    codes = np.stack(data.columns, 1).tolist()
    best = slow.penalised(fitted.network, codes, ridge)
    for k, factor in enumerate(fitted.network.factors):
        for step in (1e-3, -1e-3):
            table = factor.log_values.copy()
            table.ravel()[k % table.size] += step
            changed = [Factor(f.variables, table) if f is factor else f for f in fitted.network.factors]
            assert slow.penalised(FactorNetwork(CARDS, changed), codes, ridge) < best


def test_pairwise_has_no_factor_of_three_variables() -> None:
    sizes = {len(f.variables) for f in fit_pseudolikelihood(GRAPH, rows(), interactions="pairwise").network.factors}
    assert sizes == {1, 2}
    assert max(len(f.variables) for f in fit_pseudolikelihood(GRAPH, rows()).network.factors) == 3


def test_many_rows_lead_back_to_the_distribution() -> None:
    network = uniform_factors(GRAPH, seed=5, cards=CARDS)
    found = fit_pseudolikelihood(GRAPH, sample(network, 300_000, seed=1).dataset()).network
    exact, fitted = distribution(network), distribution(found)
    assert max(abs(exact[x] - fitted[x]) for x in exact) < 0.005


def test_without_edges_the_shares_of_the_states_are_found() -> None:
    data = Dataset.from_codes(np.array([[0, 1]] * 30 + [[1, 1]] * 70), cards=[2, 2])
    found = fit_pseudolikelihood(Graph.empty(2), data, ridge=1e-6)
    assert found.converged
    (h,) = [f.log_values for f in found.network.factors if f.variables == (0,)]
    assert h[1] - h[0] == pytest.approx(np.log(70 / 30), abs=1e-5)


def test_states_that_never_occur_stay_finite() -> None:
    data = Dataset.from_codes(np.array([[0, 0]] * 50 + [[1, 1]] * 50), cards=[3, 2])
    found = fit_pseudolikelihood(Graph(2, [(0, 1)]), data)
    assert found.converged
    assert all(np.isfinite(f.log_values).all() for f in found.network.factors)
    assert slow.posterior(found.network, 0, {})[2] < 0.05


def test_rows_may_come_in_any_order_and_be_stored_as_repeats() -> None:
    data = rows()
    order = np.random.default_rng(1).permutation(data.n_records)
    shuffled = Dataset.from_codes(np.stack(data.columns, 1)[order], cards=CARDS)
    first = fit_pseudolikelihood(GRAPH, data).network.factors
    for other in (shuffled, data.compact()):
        again = fit_pseudolikelihood(GRAPH, other).network.factors
        assert all(np.array_equal(a.log_values, b.log_values) for a, b in zip(first, again, strict=True))


def test_columns_and_states_may_be_renamed() -> None:
    data = rows()
    turned = fit_pseudolikelihood(GRAPH.relabel([3, 2, 1, 0]), data.select([3, 2, 1, 0])).network
    by_scope = {tuple(sorted(3 - x for x in f.variables)): f.log_values.transpose() for f in turned.factors}
    codes = np.stack(data.columns, 1)
    codes[:, 1] = 2 - codes[:, 1]
    swapped = fit_pseudolikelihood(GRAPH, Dataset.from_codes(codes, cards=CARDS)).network
    for a, b in zip(fit_pseudolikelihood(GRAPH, data).network.factors, swapped.factors, strict=True):
        np.testing.assert_allclose(by_scope[a.variables], a.log_values, atol=1e-5)
        mirrored = np.flip(b.log_values, b.variables.index(1)) if 1 in b.variables else b.log_values
        np.testing.assert_allclose(mirrored, a.log_values, atol=1e-5)


def test_a_lattice_that_no_exact_method_could_hold_is_fitted() -> None:
    lattice = grid(25, 25)
    codes = np.random.default_rng(1).integers(2, size=(200, 625))
    assert fit_pseudolikelihood(lattice, Dataset.from_codes(codes, cards=[2] * 625)).converged


def test_too_few_steps_are_reported() -> None:
    assert not fit_pseudolikelihood(GRAPH, rows(), max_iterations=1).converged


def test_bad_settings_are_refused() -> None:
    with pytest.raises(InputError, match="ridge must be a number above 0; got 0"):
        fit_pseudolikelihood(GRAPH, rows(20), ridge=0)
    with pytest.raises(InputError, match="max_iterations must be a whole number, at least 1; got 0"):
        fit_pseudolikelihood(GRAPH, rows(20), max_iterations=0)
    wrong: Any = "clique"
    with pytest.raises(UnknownNameError, match=r"interactions 'clique' does not exist. Did you mean 'cliques'"):
        fit_pseudolikelihood(GRAPH, rows(20), interactions=wrong)
    with pytest.raises(UnsuitableError, match="'pseudolikelihood' needs categorical variables"):
        fit_pseudolikelihood(Graph.empty(2), continuous_dataset(np.eye(2)))
    many = Dataset.from_codes(np.arange(600).reshape(300, 2) % 300, cards=[300, 300])
    with pytest.raises(InputError, match="at most 256 states per variable for a model; 'x0' has 300"):
        fit_pseudolikelihood(Graph.empty(2), many)
