"""Mutual information of every pair: its estimates, and the chance that it is nothing."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy import stats

from mnlearn.data import Dataset, read
from mnlearn.errors import InputError, UnknownNameError, UnsuitableError
from mnlearn.independence import CountedInformation, GaussianInformation, GTest, RowInformation
from mnlearn.independence.information import log_tail
from mnlearn.statistics import Counts, Moments, Rows

from references import rivals as reference_rivals


def table(values: NDArray[np.float64]) -> Dataset:
    return read({f"v{k}": column for k, column in enumerate(values.T)})


def drawn(seed: int, n_rows: int = 80, n: int = 4) -> NDArray[np.float64]:
    rng = np.random.default_rng(seed)
    return np.asarray(rng.standard_normal((n_rows, n)) @ (np.eye(n) + 0.5 * np.eye(n, k=1)))


def test_gaussian_information_and_its_p_value_are_the_formulas() -> None:
    values = drawn(1)
    for judge in (GaussianInformation(Moments(table(values))), RowInformation(Rows(table(values)), "gaussian")):
        r = np.asarray(np.corrcoef(values.T))[0, 1]
        assert judge.information()[0, 1] == pytest.approx(-0.5 * np.log(1 - r * r))
        z = np.arctanh(r) * np.sqrt(77)
        assert judge.log_p()[1, 0] == pytest.approx(np.log(2 * stats.norm.sf(abs(z))))
        assert not np.diag(judge.information()).any()
        assert not np.diag(judge.log_p()).any()


def test_rank_information_is_spearmans() -> None:
    values = drawn(2)
    judge = RowInformation(Rows(table(values)))
    rho = stats.spearmanr(values[:, 0], values[:, 1]).statistic
    assert judge.information()[0, 1] == pytest.approx(-0.5 * np.log(1 - (2 * np.sin(np.pi * rho / 6)) ** 2))
    curved = RowInformation(Rows(table(np.column_stack([np.exp(values[:, 0]), values[:, 1:] ** 3]))))
    np.testing.assert_allclose(curved.information(), judge.information(), atol=1e-12)
    np.testing.assert_allclose(curved.log_p(), judge.log_p(), atol=1e-10)


@given(seed=st.integers(0, 2**32), width=st.sampled_from([None, 0.3, 1.0]))
@settings(max_examples=10, deadline=None)
def test_kernel_information_is_its_slow_twins(seed: int, width: float | None) -> None:
    values = np.round(drawn(seed, n_rows=12, n=3), 1)  # with ties
    rows = Rows(table(values))
    judge = RowInformation(rows, "kernel", "permutation", n_pairs=100, width=width)
    scores = rows.normal_scores()
    for u, v in ((0, 1), (0, 2), (1, 2)):
        slow = reference_rivals.kernel_information(scores[:, u], scores[:, v], width or 12 ** (-1 / 6))
        assert judge.information()[u, v] == pytest.approx(slow, abs=1e-12)


def test_kernels_see_what_correlations_do_not() -> None:
    rng = np.random.default_rng(3)
    a = rng.standard_normal(200)
    rows = Rows(table(np.column_stack([a, a * a + 0.3 * rng.standard_normal(200), rng.standard_normal(200)])))
    log_p = RowInformation(rows, "kernel", "permutation").log_p()
    assert log_p[0, 1] < -12
    assert log_p[0, 2] > -6
    assert log_p[1, 2] > -6
    assert RowInformation(rows, "rank").log_p()[0, 1] > -6


@pytest.mark.parametrize("estimate", ["gaussian", "rank", "kernel"])
def test_p_values_by_permutation_are_uniform_on_independent_data(estimate: Any) -> None:
    rng = np.random.default_rng(4)
    rows = Rows(table(rng.standard_normal((60, 40))))
    p = np.exp(RowInformation(rows, estimate, "permutation", seed=1).log_p()[np.triu_indices(40, 1)])
    assert stats.kstest(p, "uniform").statistic < 0.06  # 780 pairs
    assert 0 < p.min() < 0.02


def test_permutations_agree_with_theory_far_out() -> None:
    values = drawn(5, n_rows=100, n=8)
    rows = Rows(table(values))
    theory = RowInformation(rows, "gaussian").log_p()
    by_draws = RowInformation(rows, "gaussian", "permutation").log_p()
    assert theory.min() < -12
    near = theory > -15
    np.testing.assert_allclose(by_draws[near], theory[near], atol=2.5)  # an exponential tail, far beyond any draw


def test_the_tail_falls_exponentially_beyond_what_was_drawn() -> None:
    null = np.random.default_rng(6).exponential(size=100_000)
    values = np.array([0.5, 2.0, 20.0, 60.0])
    np.testing.assert_allclose(log_tail(values, null), -values, rtol=0.1)
    assert log_tail(np.array([1.0]), np.zeros(50))[0] == pytest.approx(np.log(1 / 51))


@given(seed=st.integers(0, 2**32))
@settings(max_examples=10, deadline=None)
@pytest.mark.parametrize("estimate", ["gaussian", "rank", "kernel"])
def test_neither_the_order_of_rows_nor_how_repeats_are_stored_matters(estimate: Any, seed: int) -> None:
    rng = np.random.default_rng(seed)
    values = np.repeat(drawn(seed, n_rows=20, n=3), rng.integers(1, 3, 20), axis=0)
    whole = table(values)
    some: dict[str, Any] = {"significance": "permutation", "n_pairs": 300}
    first = RowInformation(Rows(whole), estimate, **some)
    for other in (table(rng.permutation(values)), whole.compact()):
        again = RowInformation(Rows(other), estimate, **some)
        np.testing.assert_allclose(again.information(), first.information(), atol=1e-12)
        np.testing.assert_allclose(again.log_p(), first.log_p(), atol=1e-6)


@pytest.mark.parametrize("estimate", ["gaussian", "rank", "kernel"])
def test_constant_and_copied_columns_give_numbers(estimate: Any) -> None:
    a, b = np.random.default_rng(7).standard_normal((2, 30))
    rows = Rows(table(np.column_stack([a, np.full(30, 2.5), a, -a, b])))
    judge = RowInformation(rows, estimate, "permutation", n_pairs=500)
    information, log_p = judge.information(), judge.log_p()
    assert np.isfinite(information).all()
    assert np.isfinite(log_p).all()
    assert information[1].max() < 1e-12
    assert not log_p[1].any()
    assert information[0, 2] == pytest.approx(information[0, 3])
    assert log_p[0, 2] < -8
    nothing = RowInformation(Rows(table(np.ones((9, 2)))), estimate, "permutation")
    assert not nothing.log_p().any()


def test_tables_are_judged_as_the_g_test_does() -> None:
    codes = np.random.default_rng(8).integers(0, 3, (200, 4))
    data = Dataset.from_codes(codes.T.tolist())
    judge, test = CountedInformation(Counts(data)), GTest(Counts(data))
    verdicts = test.scan(0, [1, 2, 3], frozenset())
    np.testing.assert_allclose(judge.log_p()[0, 1:], verdicts.log_support)
    assert (judge.information() == judge.information().T).all()


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"estimate": "knn"}, UnknownNameError, "information 'knn' does not exist.*'gaussian', 'rank', 'kernel'"),
        ({"significance": "guess"}, UnknownNameError, "significance 'guess' does not exist"),
        ({"estimate": "kernel"}, InputError, "significance must be 'permutation' for kernel densities"),
        ({"n_pairs": 10}, InputError, "n_pairs must be a whole number, at least 100; got 10"),
        ({"seed": -1}, InputError, "seed must be a whole number, at least 0; got -1"),
        ({"width": 0}, InputError, "width must be a positive number; got 0"),
    ],
)
def test_bad_settings_are_refused(options: dict[str, Any], error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        RowInformation(Rows(table(drawn(9))), **options)


def test_categorical_columns_have_no_rows_of_numbers() -> None:
    with pytest.raises(UnsuitableError, match="Rows needs continuous variables; 'a' has 2 states"):
        Rows(read({"a": ["x", "y"], "b": [0.5, 1.5]}))
    with pytest.raises(UnsuitableError, match="CountedInformation cannot use a Moments"):
        CountedInformation(Moments(table(drawn(9))))  # type: ignore[arg-type]
