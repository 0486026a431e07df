"""The Gaussian posterior: its Bayes factor against the integrals it stands for, members against single questions."""

from __future__ import annotations

from math import exp, log

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.integrate import quad
from scipy.special import betaln

from mnlearn.data import Dataset
from mnlearn.errors import InputError, UnsuitableError
from mnlearn.graphs import path
from mnlearn.independence import GaussianPosterior
from mnlearn.independence.gaussian import log_bayes_factor
from mnlearn.scores import BJPScore, IBScore
from mnlearn.statistics import Counts, Moments

from references import map as slow
from references.moments import dataset_of, linked_rows, partial_correlation, residual

NONE: frozenset[int] = frozenset()


@pytest.mark.parametrize("dof", [3, 4, 5, 17, 98, 1000])
@pytest.mark.parametrize("r", [0.0, 0.05, -0.3, 0.9])
def test_the_factor_is_the_integral_over_g(r: float, dof: int) -> None:
    """∫ BF(g) prior(g) dg with v² = 1 / (1 + g), which leaves neither a pole nor an infinite range."""
    c = (dof - 4) / 2
    scale = -0.5 * dof * log(1 - r * r)  # the integrand at v = 0, taken out so that it does not overflow

    def integrand(v: float) -> float:
        prior = 2 * (1 - v * v) ** c  # g^c (1 + g)^(-c-3/2) dg, but for the constant
        return float(prior * v * exp(-0.5 * dof * log(1 - r * r + r * r * v * v) - scale))

    wanted = log(quad(integrand, 0, 1, epsabs=0, epsrel=1e-10, limit=400)[0]) + scale - betaln(c + 1, 0.5)
    assert log_bayes_factor(np.array([r]), dof)[0] == pytest.approx(wanted, rel=1e-8, abs=1e-8)


def test_the_factor_at_fixed_g_is_the_ratio_of_two_marginal_likelihoods() -> None:
    """The step before: β and σ integrated on a grid, from rows, with z regressed away."""
    rng, g = np.random.default_rng(4), 3.0
    rows = linked_rows(rng, 9, 3)
    a, b = residual(rows, 0, {2}), residual(rows, 1, {2})
    dof, r = 9 - 1 - 1, partial_correlation(rows, 0, 1, {2})
    sigma = np.exp(np.linspace(-4, 8, 2000))[:, None]  # even steps of log σ: its prior is flat
    beta = np.linspace(-9, 9, 2001) * np.sqrt(g / (a @ a)) * sigma

    def likelihood(beta: np.ndarray) -> np.ndarray:
        return np.asarray(sigma**-dof * np.exp(-(b @ b - 2 * beta * (a @ b) + beta**2 * (a @ a)) / (2 * sigma**2)))

    normal = np.exp(-0.5 * np.linspace(-9, 9, 2001) ** 2)
    dependent = (likelihood(beta) * normal).sum() / normal.sum()
    wanted = np.log(dependent / likelihood(np.zeros(1)).sum())
    assert 0.5 * (dof - 1) * log(1 + g) - 0.5 * dof * log(1 + g * (1 - r * r)) == pytest.approx(wanted, abs=1e-6)


@given(seed=st.integers(0, 2**32), n_rows=st.integers(2, 60), prior=st.sampled_from([0.5, 0.01, 0.9]))
@settings(max_examples=60)
def test_both_posteriors_are_the_factors(seed: int, n_rows: int, prior: float) -> None:
    rng = np.random.default_rng(seed)
    rows = linked_rows(rng, n_rows, 5)
    posterior = GaussianPosterior(Moments(dataset_of(rows)), prior)
    z = frozenset(rng.choice([2, 3, 4], int(rng.integers(0, 4)), replace=False).tolist())
    dof = n_rows - 1 - len(z)
    r = partial_correlation(rows, 0, 1, z) if dof > 2 else 0.0
    factor = float(log_bayes_factor(np.array([r]), dof)[0])
    odds = posterior.log_odds(0, [1], z)
    assert odds.dependent[0] - odds.independent[0] == pytest.approx(
        factor + log((1 - prior) / prior), rel=1e-6, abs=1e-6
    )
    assert np.exp(odds.dependent[0]) + np.exp(odds.independent[0]) == pytest.approx(1.0)
    assert posterior.log_odds(1, [0], z).independent[0] == pytest.approx(odds.independent[0], rel=1e-9, abs=1e-9)


@given(seed=st.integers(0, 2**32), copies=st.booleans())
@settings(max_examples=40)
def test_members_are_single_questions(seed: int, copies: bool) -> None:
    rng = np.random.default_rng(seed)
    rows = linked_rows(rng, 40, 6)
    if copies:  # one is the sum of two others, one is constant: the inverse does not exist
        rows[:, 3], rows[:, 4] = rows[:, 1] + rows[:, 2], 7.0
    posterior = GaussianPosterior(Moments(dataset_of(rows)))
    for z in (NONE, frozenset({2}), frozenset({1, 2, 3}), frozenset({1, 2, 3, 4, 5})):
        found = posterior.members(0, z)
        assert found.independent.shape == (len(z),)
        for k, y in enumerate(sorted(z)):
            single = posterior.log_odds(0, [y], z - {y})
            assert found.independent[k] == pytest.approx(single.independent[0], rel=1e-8, abs=1e-8)
            assert found.dependent[k] == pytest.approx(single.dependent[0], rel=1e-8, abs=1e-8)


def test_evidence_grows_both_ways() -> None:
    chain = np.array([[1.0, 0.5, 0.25], [0.5, 1.0, 0.5], [0.25, 0.5, 1.0]])
    few, many = (GaussianPosterior(Moments.from_covariance(chain, n_rows=n)) for n in (50, 5000))
    assert few.log_odds(0, [1], NONE).independent[0] > many.log_odds(0, [1], NONE).independent[0]
    given_middle = frozenset({1})
    assert few.log_odds(0, [2], given_middle).dependent[0] > many.log_odds(0, [2], given_middle).dependent[0]
    assert many(0, 2, given_middle).independent
    assert not many(0, 2, NONE).independent
    copy = GaussianPosterior(Moments.from_covariance(np.ones((2, 2)), n_rows=10))
    assert np.isfinite(copy.log_odds(0, [1], NONE).independent[0])
    assert copy.log_odds(0, [1], NONE).dependent[0] > -1e-9  # no fixed g could say that of ten rows


def test_scores_take_it_and_order_by_degree() -> None:
    rows = np.random.default_rng(1).standard_normal((300, 4)).cumsum(axis=1)
    posterior = GaussianPosterior(Moments(dataset_of(rows)))
    graph = path(4)
    assert IBScore(posterior)(graph) == pytest.approx(slow.ib(posterior, graph), abs=1e-9)
    order = BJPScore(posterior).visit_order(graph)
    assert {*order[:2]} == {0, 3}  # the ends of the path; association decides which comes first
    assert BJPScore(posterior)(graph) == pytest.approx(slow.bjp(posterior, graph, order), abs=1e-9)


@pytest.mark.parametrize("prior", [0.0, 1.0, -0.5, float("nan")])
def test_a_prior_that_is_none_is_refused(prior: float) -> None:
    with pytest.raises(InputError, match="prior must be between 0 and 1, both excluded; got"):
        GaussianPosterior(Moments.from_covariance(np.eye(2), n_rows=9), prior)


def test_counts_are_refused() -> None:
    counts = Counts(Dataset.from_codes([[0, 1], [1, 0]]))
    with pytest.raises(UnsuitableError, match="GaussianPosterior cannot use a Counts"):
        GaussianPosterior(counts)  # type: ignore[arg-type]
