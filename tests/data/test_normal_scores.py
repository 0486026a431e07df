"""Normal scores of the ranks, and the test of which columns are far from normal."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.stats import expon, norm, rankdata, t

import mnlearn as mn
from mnlearn.data import Dataset, normal_scores
from mnlearn.data.transforms import LEAST_ROWS, far_from_normal, log_p_normal

MARGINS: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "cubed": lambda g: g**3,
    "exponential": lambda g: expon.ppf(norm.cdf(g)),
    "uniform": norm.cdf,
    "t2": lambda g: t.ppf(norm.cdf(g), 2),
}


def table(columns: np.ndarray, repeats: np.ndarray | None = None) -> Dataset:
    """A data set of continuous columns."""
    n = len(columns)
    return Dataset(tuple(f"x{k}" for k in range(n)), (0,) * n, tuple(map(np.array, columns)), (None,) * n, repeats)


def reference(values: np.ndarray) -> np.ndarray:
    """Normal scores by SciPy: mean ranks of ties, Blom's positions."""
    return norm.ppf((rankdata(values) - 0.375) / (len(values) + 0.25))


def scores(values: np.ndarray, repeats: np.ndarray | None = None) -> np.ndarray:
    return np.asarray(normal_scores(table(np.array([values]), repeats)).columns[0])


@given(
    arrays(np.float64, st.integers(2, 40), elements=st.sampled_from([-1e300, -2.5, -0.0, 0.0, 1e-300, 3.0, 7.0, 1e300]))
)
def test_scores_are_those_of_scipy_with_ties(values: np.ndarray) -> None:
    np.testing.assert_allclose(scores(values), reference(values), rtol=1e-12, atol=1e-15)


@given(st.integers(0, 2**32 - 1), st.integers(2, 60))
def test_scores_depend_on_the_order_alone(seed: int, n_rows: int) -> None:
    rng = np.random.default_rng(seed)
    values = rng.integers(-9, 10, n_rows) / 4  # ties
    for change in (np.exp, np.arctan, lambda x: x**3, lambda x: 1e9 + 5 * x):
        np.testing.assert_array_equal(scores(change(values)), scores(values))
    np.testing.assert_array_equal(scores(-np.exp(values)), -scores(values))
    order = rng.permutation(n_rows)
    np.testing.assert_array_equal(scores(values[order]), scores(values)[order])


@given(st.integers(0, 2**32 - 1), st.integers(1, 30))
def test_repeats_count_as_equal_rows(seed: int, n_rows: int) -> None:
    rng = np.random.default_rng(seed)
    values, repeats = rng.integers(0, 5, n_rows).astype(float), rng.integers(1, 6, n_rows)
    every = np.repeat(values, repeats)
    np.testing.assert_array_equal(np.repeat(scores(values, repeats), repeats), scores(every))
    assert log_p_normal(values, repeats) == pytest.approx(log_p_normal(every), rel=1e-9, abs=1e-12)


def test_constants_two_rows_and_categorical_columns() -> None:
    np.testing.assert_array_equal(scores(np.full(7, 2.5)), np.zeros(7))
    low, high = scores(np.array([3.0, -1.0]))
    assert low == -high > 0
    mixed = mn.read({"a": [0.5, 1.5, 9.5], "b": ["x", "y", "x"]})
    found = normal_scores(mixed)
    assert found.names == mixed.names
    assert found.levels == mixed.levels
    np.testing.assert_array_equal(found.columns[1], mixed.columns[1])
    with pytest.raises(mn.InputError, match="dataset must be a Dataset; got a list"):
        normal_scores([1.0, 2.0])  # type: ignore[arg-type]


@pytest.mark.parametrize("n_rows", [20, 50, 200, 1000, 10_000])
def test_gaussian_columns_are_not_far_from_normal(n_rows: int) -> None:
    n = max(20, min(2000, 200_000 // n_rows))
    columns = np.random.default_rng(n_rows).standard_normal((n, n_rows))
    assert far_from_normal(table(columns * 1e-200 + 3e-199)) == ()
    if n_rows > 200:  # log p of deviations too small to matter is 0 by rule
        return
    log_p = np.array([log_p_normal(column) for column in columns])
    assert abs(np.mean(log_p <= np.log(0.05)) - 0.055) < 4 * np.sqrt(0.05 / n)


@pytest.mark.parametrize("n_rows", [50, 200, 1000, 10_000])
@pytest.mark.parametrize("margin", MARGINS)
def test_other_margins_are_far_from_normal(margin: str, n_rows: int) -> None:
    columns = MARGINS[margin](np.random.default_rng(n_rows).standard_normal((50, n_rows)))
    far = far_from_normal(table(columns))
    if margin == "uniform" and n_rows == 50:
        assert far == ()  # such columns lose next to nothing: the correlation with normal scores is 0.98
    else:
        assert len(far) >= (25 if n_rows == 50 else 48)


def test_only_the_columns_that_are_far_are_named() -> None:
    columns = np.random.default_rng(1).standard_normal((40, 300))
    columns[7] = np.exp(columns[7])
    columns[9] = 4.0
    assert far_from_normal(table(columns)) == ("x7",)
    assert far_from_normal(table(columns[:, : LEAST_ROWS - 1])) == ()


def test_deviations_that_do_not_matter_are_not_named() -> None:
    columns = t.ppf(norm.cdf(np.random.default_rng(5).standard_normal((20, 20_000))), 30)
    assert far_from_normal(table(columns)) == ()


def test_few_distinct_values_are_judged_by_their_own_scores() -> None:
    rng = np.random.default_rng(2)
    binary, rounded = rng.integers(0, 2, 500).astype(float), np.round(2 * rng.standard_normal(500))
    assert log_p_normal(binary) == 0.0  # normal scores of two values are a linear function of them
    assert log_p_normal(rounded) > np.log(0.01)
    zeros = np.maximum(rng.standard_normal(500) - 0.5, 0.0)
    assert far_from_normal(table(np.array([binary, rounded, zeros]))) == ("x2",)
