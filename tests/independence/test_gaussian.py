"""The partial-correlation test: its numbers, and the contract every independence test keeps."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from mpmath import mp, mpf

from mnlearn.errors import InputError
from mnlearn.independence.gaussian import PartialCorrelation
from mnlearn.protocols import ExplainedTest, FloatArray, IntArray
from mnlearn.statistics import Moments

from references.moments import dataset_of, linked_rows, partial_correlation

SEEDS = st.integers(0, 2**32 - 1)
NONE: frozenset[int] = frozenset()


def pcor(rows: FloatArray, repeats: IntArray | None = None, alpha: float = 0.05) -> PartialCorrelation:
    return PartialCorrelation(Moments(dataset_of(rows, repeats)), alpha=alpha)


def a_question(rng: np.random.Generator, n_variables: int) -> tuple[int, int, frozenset[int]]:
    """A random pair and a random z."""
    x, y, *others = (int(v) for v in rng.permutation(n_variables))
    return x, y, frozenset(others[: int(rng.integers(0, len(others) + 1))])


def log_p_of(test: PartialCorrelation, x: int, y: int, z: frozenset[int]) -> float:
    support = test(x, y, z).log_support
    assert support is not None
    return support


@settings(deadline=None)
@given(SEEDS, st.integers(2, 7), st.integers(12, 60))
def test_agrees_with_residuals_and_a_high_precision_tail(seed: int, n_variables: int, n_rows: int) -> None:
    rng = np.random.default_rng(seed)
    rows = linked_rows(rng, n_rows, n_variables)
    x, y, z = a_question(rng, n_variables)
    r, dof = partial_correlation(rows, x, y, z), n_rows - len(z) - 3
    evidence = pcor(rows).evidence(x, [y], z)
    assert evidence.statistic is not None
    assert evidence.dof is not None
    assert evidence.log_p is not None
    assert evidence.dof[0] == dof
    assert evidence.statistic[0] == pytest.approx(math.atanh(r) * math.sqrt(dof), rel=1e-7, abs=1e-7)
    with mp.workdps(30):
        wanted = float(mp.log(mp.erfc(abs(mpf(float(evidence.statistic[0]))) / mp.sqrt(2))))
    assert evidence.log_p[0] == pytest.approx(wanted, rel=1e-12)
    assert evidence.independent[0] == (wanted > math.log(0.05))
    assert evidence.log_independent is None


@settings(deadline=None)
@given(SEEDS, st.integers(3, 7))
def test_contract(seed: int, n_variables: int) -> None:
    rng = np.random.default_rng(seed)
    rows, repeats = linked_rows(rng, 30, n_variables), rng.integers(1, 4, 30)
    x, y, z = a_question(rng, n_variables)
    order = rng.permutation(n_variables)
    place = np.argsort(order)
    stretched = rows * rng.choice([-1e6, 1e-6, 3.0], n_variables) + rng.uniform(-5.0, 5.0, n_variables)
    expected = log_p_of(pcor(rows, repeats), x, y, z)
    for other in (
        log_p_of(pcor(rows, repeats), y, x, z),
        log_p_of(pcor(np.repeat(rows, repeats, axis=0)), x, y, z),
        log_p_of(pcor(rng.permutation(np.repeat(rows, repeats, axis=0))), x, y, z),
        log_p_of(pcor(rows[:, order], repeats), int(place[x]), int(place[y]), frozenset(int(place[v]) for v in z)),
        log_p_of(pcor(stretched, repeats), x, y, z),
    ):
        assert other == pytest.approx(expected, rel=1e-7, abs=1e-7)


def test_a_scan_is_many_questions_at_once() -> None:
    test = pcor(linked_rows(np.random.default_rng(0), 50, 8))
    ys, z = [5, 2, 7, 2], frozenset({1, 4})
    verdicts, evidence = test.scan(0, ys, z), test.evidence(0, ys, z)
    for k, y in enumerate(ys):
        assert verdicts.one(k).independent == test(0, y, z).independent
        assert verdicts.log_support[k] == pytest.approx(log_p_of(test, 0, y, z), rel=1e-12)
    assert evidence.log_p is not None
    np.testing.assert_array_equal(evidence.log_p, verdicts.log_support)
    np.testing.assert_array_equal(evidence.independent, verdicts.independent)
    assert test.scan(0, [], z).independent.shape == (0,)
    np.testing.assert_array_equal(test.correlations(0, ys, z)[[1, 3]], test.correlations(0, [2, 2], z))


def test_is_a_judge_that_explains_itself() -> None:
    test = pcor(linked_rows(np.random.default_rng(0), 50, 8), alpha=0.01)
    assert isinstance(test, ExplainedTest)
    assert (test.name, test.n_variables, test.alpha) == ("pcor", 8, 0.01)


@pytest.mark.parametrize("n_rows", [4, 5])
def test_too_few_rows_have_no_power(n_rows: int) -> None:
    rows = linked_rows(np.random.default_rng(1), n_rows, 4)
    rows[:, 1] = rows[:, 0]
    evidence = pcor(rows).evidence(0, [1], frozenset({2, 3}))
    assert evidence.independent.all()
    for numbers in (evidence.log_p, evidence.statistic, evidence.dof):
        assert numbers is not None
        assert numbers.tolist() == [0.0]


def test_deep_tails_still_order() -> None:
    rng = np.random.default_rng(2)
    x = rng.standard_normal(2_000)
    noise = rng.standard_normal((2, 2_000))
    log_p = (
        pcor(np.column_stack([x, x + 0.01 * noise[0], x + 0.001 * noise[1], x])).scan(0, [1, 2, 3], NONE).log_support
    )
    assert np.isfinite(log_p).all()
    assert (np.diff(log_p) < 0.0).all()
    assert log_p[0] < -10_000


@settings(deadline=None)
@given(SEEDS, st.integers(1, 9), st.integers(3, 10))
def test_nan_only_where_it_cannot_be_told_with_copies_constants_sums_and_few_rows(
    seed: int, n_rows: int, n_variables: int
) -> None:
    rng = np.random.default_rng(seed)
    base = rng.integers(-1, 2, (n_rows, n_variables)).astype(np.float64)
    weights = rng.integers(-1, 2, (n_variables, n_variables)).astype(np.float64)
    rows = base @ weights * 0.1 + 0.3  # whole combinations: copies, sums and constants are common
    test = pcor(rows)
    for x in range(n_variables):
        z = frozenset(v for v in range(n_variables) if v != x and rng.random() < 0.4)
        ys = [y for y in range(n_variables) if y != x and y not in z]
        evidence = test.evidence(x, ys, z)
        assert evidence.log_p is not None
        told = ~np.isnan(evidence.log_p)  # not where z explains an end but for rounding
        assert evidence.independent[~told].all()
        for numbers in (evidence.log_p, evidence.statistic, evidence.dof):
            assert numbers is not None
            assert np.isfinite(numbers[told]).all()
        assert (evidence.log_p[told] <= 0.0).all()


def test_a_constant_variable_is_independent_of_everything() -> None:
    rows = linked_rows(np.random.default_rng(3), 200, 4)
    rows[:, 2] = 0.1
    np.testing.assert_array_equal(pcor(rows, alpha=0.999).scan(2, [0, 1], frozenset({3})).log_support, 0.0)
    assert pcor(rows, alpha=0.999).scan(2, [0, 1], frozenset({3})).independent.all()


def test_false_alarms_come_at_the_rate_of_alpha() -> None:
    rng = np.random.default_rng(4)
    test = pcor(rng.standard_normal((60, 400)), alpha=0.1)
    alarms = np.concatenate([~test.scan(x, range(x + 1, 390), frozenset({390, 395})).independent for x in range(60)])
    assert alarms.mean() == pytest.approx(0.1, abs=0.01)


def test_recovers_a_chain() -> None:
    rng = np.random.default_rng(5)
    steps = rng.standard_normal((2_000, 5))
    for v in range(1, 5):
        steps[:, v] += 0.8 * steps[:, v - 1]
    test = pcor(steps, alpha=0.001)
    for x in range(5):
        for y in range(x + 1, 5):
            rest = frozenset(range(5)) - {x, y}
            assert test(x, y, rest).independent == (y - x > 1)


@pytest.mark.parametrize("alpha", [0.0, 1.0, -0.1, 1.5, math.nan, math.inf])
def test_refuses_an_alpha_that_is_no_level(alpha: float) -> None:
    with pytest.raises(InputError, match="alpha must be between 0 and 1, both excluded; got"):
        PartialCorrelation(Moments.from_covariance(np.eye(3), 10), alpha=alpha)


@pytest.mark.parametrize(("x", "y", "z"), [(1, 1, NONE), (0, 1, frozenset({0})), (0, 1, frozenset({1})), (0, 9, NONE)])
def test_refuses_overlapping_or_unknown_variables(x: int, y: int, z: frozenset[int]) -> None:
    with pytest.raises(InputError, match="must"):
        PartialCorrelation(Moments.from_covariance(np.eye(3), 10))(x, y, z)
