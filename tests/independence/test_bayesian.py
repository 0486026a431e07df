"""The Bayesian test against the paper's formula taken literally, in sixty digits."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mnlearn.data import Dataset
from mnlearn.independence import BayesianTest
from mnlearn.statistics import Counts

from references import counts as reference


@given(
    st.lists(st.integers(1, 5), min_size=4, max_size=6),
    st.integers(1, 120),
    st.sampled_from([(1.0, 1.0, 1.0, 0.5), (0.5, 0.5, 0.5, 0.5), (1.0, 2.0, 0.25, 0.9), (1.0, 1.0, 1.0, 1e-6)]),
    st.floats(0.0, 0.95),
    st.integers(0, 2**32),
)
@settings(max_examples=200)
def test_both_posteriors_equal_the_literal_formula(
    cards: list[int], n_rows: int, priors: tuple[float, float, float, float], dependence: float, seed: int
) -> None:
    rng = np.random.default_rng(seed)
    data = reference.random_dataset(rng, n_rows=n_rows, cards=cards, dependence=dependence)
    alpha, beta, gamma, prior = priors
    test = BayesianTest(Counts(data), prior=prior, alpha=alpha, beta=beta, gamma=gamma)
    for z in ([], [2], list(range(2, len(cards)))):
        got = test.log_odds(0, [1], frozenset(z))
        tables = reference.strata(data, 0, 1, z)
        want = reference.bayes(
            tables, cards[0], cards[1], reference.n_configurations(data, z), (alpha, beta, gamma), prior
        )
        assert got.independent[0] == pytest.approx(float(want[0]), rel=1e-9, abs=1e-9)
        assert got.dependent[0] == pytest.approx(float(want[1]), rel=1e-9, abs=1e-9)


def test_a_posterior_of_dependence_far_below_one_keeps_its_digits() -> None:
    """Many rows of independent data: P(dependent) is small, and must not be 0 or a rounding error."""
    rng = np.random.default_rng(2)
    data = Dataset.from_codes(rng.integers(0, 4, (3000, 2)))
    odds = BayesianTest(Counts(data)).log_odds(0, [1], frozenset())
    want = reference.bayes(reference.strata(data, 0, 1, []), 4, 4, 1, (1.0, 1.0, 1.0), 0.5)
    assert odds.dependent[0] < -15
    assert odds.dependent[0] == pytest.approx(float(want[1]), rel=1e-9)


@pytest.mark.parametrize(
    "columns",
    [
        [[0, 0, 0, 0], [0, 1, 0, 1], [0, 1, 1, 0]],  # x has one state
        [[0, 1, 0, 1], [0, 0, 0, 0], [0, 1, 1, 0]],  # y has one state
        [[0, 1], [1, 0], [0, 1]],  # given z every stratum has a single row
    ],
)
def test_an_exact_tie_is_dependent(columns: list[list[int]]) -> None:
    test = BayesianTest(Counts(Dataset.from_codes(columns)))
    evidence = test.evidence(0, [1], frozenset({2}))
    assert evidence.log_independent is not None
    assert evidence.log_independent[0] == np.log(0.5)
    assert not evidence.independent[0]


def test_an_unseen_configuration_pulls_towards_the_prior() -> None:
    """K counts declared configurations: declaring more states of z weakens what the data say."""
    rng = np.random.default_rng(3)
    x = rng.integers(0, 2, 200)
    columns = [x, x, rng.integers(0, 2, 200)]
    few = BayesianTest(Counts(Dataset.from_codes(columns, cards=[2, 2, 2]))).log_odds(0, [1], frozenset({2}))
    many = BayesianTest(Counts(Dataset.from_codes(columns, cards=[2, 2, 60_000]))).log_odds(0, [1], frozenset({2}))
    assert few.independent[0] < many.independent[0] < np.log(0.5)


def test_declaring_a_constant_column_binary_makes_it_independent() -> None:
    data = Dataset.from_codes([[0] * 50, [0, 1] * 25], cards=[2, 2])
    assert BayesianTest(Counts(data))(0, 1, frozenset()).independent


def test_many_questions_at_once_are_single_questions() -> None:
    rng = np.random.default_rng(5)
    test = BayesianTest(Counts(reference.random_dataset(rng, n_rows=90, cards=[2, 3, 2, 4, 1, 2], dependence=0.6)))
    xs, zs = [0, 3, 5], [frozenset({1, 2}), frozenset[int](), frozenset({0, 1, 2, 4})]
    yss = [[3, 4], [0, 1, 2], [3]]
    for x, ys, z, found in zip(xs, yss, zs, test.independent_many(xs, yss, zs), strict=True):
        assert found.tolist() == test.log_odds(x, ys, z).independent.tolist()
    for x, z, odds in zip(xs, zs, test.members_many(xs, zs), strict=True):
        assert odds.independent.tolist() == test.members(x, z).independent.tolist()
        assert odds.dependent.tolist() == test.members(x, z).dependent.tolist()
    assert test.independent_many([], [], []) == test.members_many([], []) == []
