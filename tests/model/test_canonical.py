"""Per-variable canonical factors: Eq. 5 as it stands, Theorem 2.1, and estimates from data."""

from __future__ import annotations

from itertools import combinations, product
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mnlearn import Dataset, Graph, InputError, UnsuitableError
from mnlearn.distributions.gaussian import continuous_dataset
from mnlearn.model import canonical_factors, canonical_factors_of
from mnlearn.simulate import component_probabilities

from references import model as slow

EPSILON = np.finfo(np.float64).eps


@st.composite
def networks(draw: st.DrawFn, most: int = 4) -> tuple[Graph, tuple[int, ...], int]:
    n = draw(st.integers(1, most))
    pairs = list(combinations(range(n), 2))
    edges = draw(st.lists(st.sampled_from(pairs), unique=True)) if pairs else []
    cards = tuple(draw(st.lists(st.integers(2, 4), min_size=n, max_size=n)))
    return Graph(n, edges), cards, draw(st.integers(0, 2**32 - 1))


@settings(max_examples=60, deadline=None)
@given(networks(), st.data())
def test_the_product_is_the_joint_to_machine_precision(drawn: tuple[Graph, tuple[int, ...], int], data: Any) -> None:
    graph, cards, seed = drawn
    joint = slow.markov_joint(graph, cards, seed)
    default = [data.draw(st.integers(0, card - 1)) for card in cards]
    found = canonical_factors_of(joint, graph, default=default)
    assert [f.variables for f in found.network.factors] == sorted(slow.cliques(graph), key=lambda c: (len(c), c))
    error = np.abs(np.log(found.joint()) - np.log(joint)).max()
    assert error < 20 * EPSILON * max(1.0, -float(np.log(joint).min()))


@settings(max_examples=30, deadline=None)
@given(st.lists(st.integers(2, 4), min_size=1, max_size=4), st.integers(0, 2**32 - 1))
def test_any_positive_joint_is_reproduced_on_the_complete_graph(cards: list[int], seed: int) -> None:
    joint = np.random.default_rng(seed).dirichlet(np.ones(int(np.prod(cards)))).reshape(cards) + 1e-12
    joint /= joint.sum()
    again = canonical_factors_of(joint).joint()
    np.testing.assert_allclose(again, joint, rtol=1e-12)


@settings(max_examples=15, deadline=None)
@given(networks(most=3), st.data())
def test_each_factor_is_the_sum_of_eq_5_whichever_member_is_chosen(
    drawn: tuple[Graph, tuple[int, ...], int], data: Any
) -> None:
    graph, cards, seed = drawn
    joint = slow.markov_joint(graph, cards, seed)
    default = [data.draw(st.integers(0, card - 1)) for card in cards]
    for factor in canonical_factors_of(joint, graph, default=default).network.factors:
        clique = factor.variables
        for d in product(*(range(cards[x]) for x in clique)):
            for i in clique:
                expected = slow.canonical_factor(joint, graph, clique, i, d, default)
                assert factor.log_values[d] == pytest.approx(expected, abs=1e-10)


def test_a_factor_is_one_wherever_a_member_is_in_its_default_state() -> None:
    joint = slow.markov_joint(Graph.complete(3), (2, 3, 2), 1)
    (last,) = [f for f in canonical_factors_of(joint, default=(1, 2, 0)).network.factors if len(f.variables) == 3]
    assert np.abs(last.log_values[1]).max() < 1e-12
    assert np.abs(last.log_values[:, 2]).max() < 1e-12
    assert np.abs(last.log_values[:, :, 0]).max() < 1e-12


def test_maximal_cliques_alone_do_not_make_the_joint() -> None:
    joint = slow.markov_joint(Graph.complete(2), (2, 2), 3)
    found = canonical_factors_of(joint)
    pair = found.network.factors[-1].log_values
    assert np.abs(np.exp(found.log_default + pair) - joint).max() > 0.01  # type: ignore[operator]


def _data(n_rows: int = 400, seed: int = 1) -> Dataset:
    rng = np.random.default_rng(seed)
    joint = slow.markov_joint(Graph(4, [(0, 1), (1, 2), (0, 2), (2, 3)]), (2, 3, 2, 2), 7)
    states = rng.choice(joint.size, size=n_rows, p=joint.ravel())
    return Dataset.from_codes(np.stack(np.unravel_index(states, joint.shape), 1), cards=joint.shape)


GRAPH = Graph(4, [(0, 1), (1, 2), (0, 2), (2, 3)])


def test_estimates_are_those_of_the_smoothed_counts_row_by_row() -> None:
    data, alpha = _data(60), 0.3
    rows = np.stack(data.columns, 1).tolist()
    default = canonical_factors(GRAPH, data).default

    def log_p(i: int, states: list[int]) -> float:
        alike = [row for row in rows if all(row[y] == states[y] for y in GRAPH.neighbors(i))]
        own = sum(row[i] == states[i] for row in alike)
        return float(np.log((own + alpha) / (len(alike) + alpha * data.cards[i])))

    for factor in canonical_factors(GRAPH, data, smoothing=alpha).network.factors:
        for d in product(*(range(data.cards[x]) for x in factor.variables)):
            each = []
            for i in factor.variables:
                total = 0.0
                for kept in slow.subsets(factor.variables):
                    sigma = [d[factor.variables.index(x)] if x in kept else default[x] for x in range(4)]
                    total += (-1) ** (len(factor.variables) - len(kept)) * log_p(i, sigma)
                each.append(total)
            assert factor.log_values[d] == pytest.approx(np.mean(each), abs=1e-12)


def test_many_rows_lead_back_to_the_joint() -> None:
    joint = slow.markov_joint(GRAPH, (2, 3, 2, 2), 7)
    network = canonical_factors(GRAPH, _data(200_000)).network
    found = component_probabilities(network, range(4))
    assert np.abs(found - joint).max() < 0.01


def test_neither_the_order_of_rows_nor_that_of_columns_matters() -> None:
    data = _data()
    order = np.random.default_rng(3).permutation(data.n_records)
    shuffled = Dataset.from_codes(np.stack(data.columns, 1)[order], cards=data.cards)
    first, second = (canonical_factors(GRAPH, d).network for d in (data, shuffled))
    assert all(np.array_equal(a.log_values, b.log_values) for a, b in zip(first.factors, second.factors, strict=True))
    compact = canonical_factors(GRAPH, data.compact()).network
    assert all(np.array_equal(a.log_values, b.log_values) for a, b in zip(first.factors, compact.factors, strict=True))
    turned = canonical_factors(GRAPH.relabel([3, 2, 1, 0]), data.select([3, 2, 1, 0])).network
    by_scope = {tuple(sorted(3 - x for x in f.variables)): f.log_values.transpose() for f in turned.factors}
    for factor in first.factors:
        np.testing.assert_allclose(by_scope[factor.variables], factor.log_values, atol=1e-12)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"smoothing": 0.0}, "smoothing must be a number above 0; got 0.0"),
        ({"smoothing": "much"}, "smoothing must be a number above 0; got 'much'"),
        ({"default": [0, 0]}, "default must hold one state for each of 4 variables; got 2"),
        ({"default": [0, 3, 0, 0]}, "default must hold states below 3 for variable 1; got 3"),
        ({"default": [0, -1, 0, 0]}, "default must be a whole number, at least 0; got -1"),
    ],
)
def test_settings_are_refused_by_name(change: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        canonical_factors(GRAPH, _data(20), **change)


def test_what_does_not_fit_is_refused() -> None:
    with pytest.raises(InputError, match="graph must have one variable for each of 4 in the data; got 3"):
        canonical_factors(Graph.empty(3), _data(20))
    with pytest.raises(UnsuitableError, match="'canonical' needs categorical variables; 'x0' is continuous"):
        canonical_factors(Graph.empty(2), continuous_dataset(np.zeros((3, 2)) + np.eye(3, 2)))
    with pytest.raises(InputError, match="joint must hold positive probabilities of sum 1"):
        canonical_factors_of([[0.5, 0.5], [0.0, 0.0]])
    with pytest.raises(InputError, match="joint must hold positive probabilities of sum 1"):
        canonical_factors_of([0.5, 0.6])
    wide = Dataset.from_codes(np.random.default_rng(1).integers(2, size=(10, 30)), cards=[2] * 30)
    with pytest.raises(InputError, match="graph must have cliques small enough"):
        canonical_factors(Graph.complete(30), wide)
