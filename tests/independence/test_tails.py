"""log tail probabilities against mpmath in high precision, and their behaviour at the edges."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from mpmath import mp, mpf
from scipy.special import chdtri

from mnlearn.errors import InputError
from mnlearn.independence.base import log1mexp, log_chi2_sf, log_two_sided_normal
from profiles import few

DOFS = [0.3, 1, 2, 3, 7, 10, 39, 40, 41, 100, 999, 12_345, 200_000, 1_000_000]
DEEP_LOG_P = [-600.0, -665.0, -670.0, -700.0, -745.0, -800.0, -3e3, -23_025.85, -1e5, -1e6]


def exact_log_chi2_sf(statistic: float, dof: float) -> float:
    """Sum the series of P(a, x), or run the continued fraction of Q(a, x), with 60 digits."""
    with mp.workdps(60):
        a, x = mpf(dof) / 2, mpf(statistic) / 2
        log_front = a * mp.log(x) - x - mp.loggamma(a)
        if x < a + 1:
            term = total = 1 / a
            k = 0
            while term > total * mpf(10) ** -50:
                k += 1
                term *= x / (a + k)
                total += term
            return float(mp.log1p(-mp.exp(log_front) * total))
        return float(log_front + mp.log(_fraction(a, x)))


def _fraction(a: mpf, x: mpf) -> mpf:
    """Successive convergents of Legendre's fraction until 40 digits stand."""
    before, value, below = mpf(0), 1 / (x - a + 1), 1 / (x - a + 1)  # the last denominator is kept at 1
    previous, n = mpf(0), 0
    while abs(value - previous) > value * mpf(10) ** -40:
        n += 1
        b, term = x - a + 1 + 2 * n, n * (a - n)
        denominator = b + term * below
        previous = value
        before, value, below = value / denominator, (b * value + term * before) / denominator, 1 / denominator
    return value


def statistic_at(log_p: float, dof: float) -> float:
    """Roughly the statistic whose log p is `log_p`: exactness is not needed, only coverage."""
    low, high = dof, dof + 10.0 - 4.0 * log_p + 4.0 * np.sqrt(-log_p * dof)
    for _ in range(60):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if float(log_chi2_sf(middle, dof)) > log_p else (low, middle)
    return low


@pytest.mark.parametrize("dof", DOFS)
def test_the_deep_tail_agrees_with_high_precision(dof: float) -> None:
    for log_p in DEEP_LOG_P:
        statistic = statistic_at(log_p, dof)
        assert float(log_chi2_sf(statistic, dof)) == pytest.approx(exact_log_chi2_sf(statistic, dof), rel=1e-13)


@pytest.mark.parametrize("dof", [dof for dof in DOFS if dof <= 12_345])
@pytest.mark.parametrize("p", few([1 - 1e-12, 1 - 1e-6, 0.9, 0.51, 0.49, 0.1, 1e-3, 1e-10, 1e-100, 1e-280], 4))
def test_where_p_is_a_normal_number_it_agrees_with_high_precision(dof: float, p: float) -> None:
    statistic = float(chdtri(dof, p))
    assert float(log_chi2_sf(statistic, dof)) == pytest.approx(exact_log_chi2_sf(statistic, dof), rel=1e-12)


@pytest.mark.parametrize(
    ("dof", "ratio"), [(2e5, 1.01), (2e5, 2.0), (2e6, 0.998), (2e6, 1.0), (2e6, 1.002), (2e6, 1.3)]
)
def test_many_degrees_of_freedom(dof: float, ratio: float) -> None:
    assert float(log_chi2_sf(ratio * dof, dof)) == pytest.approx(exact_log_chi2_sf(ratio * dof, dof), rel=1e-12)


@given(st.integers(1, 1200) | st.integers(1, 40_001), st.floats(-12.0, 12.0))
@settings(max_examples=150, deadline=None)
def test_whole_degrees_of_freedom_around_their_mean(dof: int, deviations: float) -> None:
    statistic = dof * max(1e-3, 1.0 + deviations * np.sqrt(2.0 / dof))
    assert float(log_chi2_sf(statistic, dof)) == pytest.approx(exact_log_chi2_sf(statistic, dof), rel=1e-12)


def test_reference_agrees_with_mpmath() -> None:
    for statistic, dof in [(3.0, 1), (0.5, 7), (30.0, 8), (400.0, 25), (9_000.0, 12)]:
        with mp.workdps(60):
            wanted = float(mp.log(mp.gammainc(mpf(dof) / 2, mpf(statistic) / 2, regularized=True)))
        assert exact_log_chi2_sf(statistic, dof) == pytest.approx(wanted, rel=1e-15)


def test_two_degrees_of_freedom_are_an_exponential() -> None:
    statistic = np.array([1e-12, 1.0, 50.0, 1400.0, 5e4, 1e7, 1e300])
    np.testing.assert_allclose(log_chi2_sf(statistic, 2), -statistic / 2, rtol=1e-14)


def test_one_degree_of_freedom_is_a_squared_normal() -> None:
    z = np.array([1e-6, 0.1, 0.9, 1.1, 5.0, 30.0, 40.0, 1e3, 1e6])
    np.testing.assert_allclose(log_chi2_sf(z * z, 1), log_two_sided_normal(z), rtol=1e-12)


@pytest.mark.parametrize("dof", [0.0, np.inf, 1e18, 1e300])
def test_no_or_endless_degrees_of_freedom_give_p_one(dof: float) -> None:
    assert float(log_chi2_sf(123.0, dof)) == 0.0


def test_edges_of_the_statistic() -> None:
    np.testing.assert_array_equal(log_chi2_sf([0.0, -1e-9, np.inf, np.inf], [3, 3, 3, 0]), [0.0, 0.0, -np.inf, 0.0])
    assert log_chi2_sf([], []).shape == (0,)
    assert log_chi2_sf(np.ones((2, 1)), [1, 2, 3]).shape == (2, 3)


def test_never_nan_and_never_infinite_over_the_whole_range_of_numbers() -> None:
    grid = np.concatenate([10.0 ** np.arange(-300, 309, 4.0), [5e-324, 0.5, 1.0, 2.0, 1.7e308]])
    log_p = log_chi2_sf(*np.meshgrid(grid, grid))
    assert np.isfinite(log_p).all()
    assert (log_p <= 0.0).all()


@given(st.floats(0.1, 1e7), st.floats(0.0, 1e8), st.floats(0.0, 1e8))
def test_falls_as_the_statistic_grows(dof: float, one: float, other: float) -> None:
    low, high = log_chi2_sf(np.sort([one, other]), dof)
    assert high <= low + 1e-12 * abs(low)


@given(st.floats(0.1, 1e7), st.floats(0.1, 1e7), st.floats(0.0, 1e8))
def test_rises_with_the_degrees_of_freedom(one: float, other: float, statistic: float) -> None:
    low, high = log_chi2_sf(statistic, np.sort([one, other]))
    assert low <= high + 1e-12 * abs(low)


@pytest.mark.parametrize("dof", DOFS)
def test_no_step_where_the_method_changes(dof: float) -> None:
    edge = statistic_at(np.log(1e-290), dof)
    nearby = edge * (1.0 + np.linspace(-1e-6, 1e-6, 41))
    slopes = np.diff(log_chi2_sf(nearby, dof)) / np.diff(nearby)
    np.testing.assert_allclose(slopes, slopes.mean(), rtol=1e-3)


@pytest.mark.parametrize(("statistic", "dof", "match"), [(np.nan, 1, "statistic must not be NaN"), (1, -2, "got -2"),
                                                         (1, np.nan, "dof must be 0 or more")])  # fmt: skip
def test_refuses_what_is_no_statistic(statistic: float, dof: float, match: str) -> None:
    with pytest.raises(InputError, match=match):
        log_chi2_sf([1.0, statistic], dof)


def test_two_sided_normal_agrees_with_high_precision() -> None:
    z = [1e-12, 1e-3, 0.5, 0.999, 1.0, 1.5, 3.0, 10.0, 37.5, 38.5, 500.0, 1e5, 1e8]
    with mp.workdps(40):
        wanted = [float(mp.log(mp.erfc(mpf(v) / mp.sqrt(2)))) for v in z]
    np.testing.assert_allclose(log_two_sided_normal(z), wanted, rtol=1e-13)
    np.testing.assert_array_equal(log_two_sided_normal(np.negative(z)), log_two_sided_normal(z))
    np.testing.assert_array_equal(log_two_sided_normal([0.0, np.inf, -np.inf]), [0.0, -np.inf, -np.inf])


def test_two_sided_normal_refuses_nan() -> None:
    with pytest.raises(InputError, match="z must not be NaN"):
        log_two_sided_normal(np.nan)


def test_log1mexp_agrees_with_high_precision() -> None:
    log_p = [-1e-300, -1e-17, -1e-9, -0.1, -0.69, -0.7, -2.0, -40.0, -700.0]
    with mp.workdps(400):
        wanted = [float(mp.log(-mp.expm1(mpf(v)))) for v in log_p]
    np.testing.assert_allclose(log1mexp(log_p), wanted, rtol=1e-15)
    np.testing.assert_array_equal(log1mexp([0.0, -np.inf, -1e6]), [-np.inf, 0.0, 0.0])


@pytest.mark.parametrize("log_p", [1e-12, np.nan])
def test_log1mexp_refuses_what_is_no_log_probability(log_p: float) -> None:
    with pytest.raises(InputError, match="log_p must be 0 or less"):
        log1mexp([-1.0, log_p])


@pytest.mark.parametrize("dof", [0.3, 2, 7, 20, 38, 40, 41, 140, 999, 4000])
def test_a_p_value_near_one_keeps_its_digits(dof: float) -> None:
    """log p = -Pr[chi² <= statistic]: the statistic is a small part of the degrees of freedom."""
    for share in (0.9, 0.51, 0.49, 0.1, 1e-3, 1e-5, 1e-8):
        want = exact_log_chi2_sf(share * dof, dof)
        if want < -1e-300:
            assert float(log_chi2_sf(share * dof, dof)) == pytest.approx(want, rel=1e-12)
