"""Rows of numbers: standardized, ranked, in one order however they came; and matrices that follow from moments."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy import stats

from mnlearn.data import Dataset, read
from mnlearn.errors import InputError
from mnlearn.statistics import Moments, Rows, row_data
from mnlearn.statistics.row_data import correlation, shuffled


def table(values: NDArray[np.float64]) -> Dataset:
    return read({f"v{k}": column for k, column in enumerate(values.T)})


VALUES = np.random.default_rng(1).standard_normal((30, 4)) @ np.triu(np.ones((4, 4)))


def test_columns_are_standardized_and_rows_sorted() -> None:
    held = Rows(table(VALUES * 1e6 + 5.0))
    np.testing.assert_allclose(held.values.mean(axis=0), 0.0, atol=1e-12)
    np.testing.assert_allclose(held.values.std(axis=0), 1.0)
    assert (np.diff(held.values[:, 0]) >= 0).all()
    assert (held.n_rows, held.n_variables) == (30, 4)
    np.testing.assert_allclose(held.moments.correlation, np.asarray(np.corrcoef(VALUES.T)), atol=1e-12)
    with pytest.raises(ValueError, match="read-only"):
        held.values[0, 0] = 1.0


def test_repeats_are_spread_out() -> None:
    twice = table(np.repeat(VALUES, 2, axis=0))
    np.testing.assert_allclose(Rows(twice.compact()).values, Rows(twice).values, atol=1e-12)


def test_ranks_and_normal_scores() -> None:
    held = Rows(table(np.round(VALUES, 0)))  # with ties
    np.testing.assert_allclose(held.ranks, stats.rankdata(held.values, axis=0))
    np.testing.assert_allclose(held.normal_scores(), stats.norm.ppf((held.ranks - 0.5) / 30))
    expected = stats.spearmanr(held.values).statistic
    np.testing.assert_allclose(held.rank_correlation(), expected, atol=1e-12)


def test_constant_columns_correlate_with_nothing() -> None:
    r = correlation(np.column_stack([VALUES, np.full(30, 7.0)]))
    assert not r[4, :4].any()
    assert np.isfinite(r).all()


def test_shuffled_columns_keep_their_values_and_suffice() -> None:
    drawn = shuffled(VALUES, 100, seed=3)
    n = drawn.shape[1]
    assert n * (n - 1) // 2 >= 100
    for k in range(n):
        np.testing.assert_array_equal(np.sort(drawn[:, k]), np.sort(VALUES[:, k % 4]))
    np.testing.assert_array_equal(drawn, shuffled(VALUES[::-1], 100, seed=3))


def test_more_than_memory_bears_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(row_data, "MOST_VALUES", 100)
    with pytest.raises(InputError, match="at most 100 values to be expanded into rows; got 30 rows of 4"):
        Rows(table(VALUES))


@given(seed=st.integers(0, 2**32), size=st.integers(0, 3))
@settings(max_examples=20)
def test_conditional_correlations_are_the_partial_ones(seed: int, size: int) -> None:
    values = np.random.default_rng(seed).standard_normal((40, 6)) @ np.triu(np.ones((6, 6)))
    moments = Moments(table(values))
    given_, others = list(range(size)), list(range(5, size - 1, -1))
    matrix = moments.conditional_correlation(others, given_)
    for k, x in enumerate(others):
        rest = [y for y in others if y != x]
        expected = moments.partial_correlations(x, rest, given_)
        np.testing.assert_allclose(np.delete(matrix[k], k), expected, atol=1e-9)
    np.testing.assert_array_equal(np.diag(matrix), 1.0)


def test_what_is_explained_has_zeros_and_is_named() -> None:
    a, b, c = VALUES[:, :3].T
    moments = Moments(table(np.column_stack([a, b, a + b, np.full(30, 2.0), c])))
    matrix = moments.conditional_correlation([2, 3, 4], {0, 1})
    np.testing.assert_array_equal(np.diag(matrix), [0.0, 0.0, 1.0])
    assert not matrix[0, 1:].any()
    explained = moments.explained()
    assert 3 in explained
    assert len(explained) == 2
    assert not moments.correlation[3].any()
