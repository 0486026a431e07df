"""Moments against regressions on the rows, and its promises about units, order, repeats and singular blocks."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import ArrayLike

from mnlearn.errors import InputError, UnsuitableError
from mnlearn.protocols import FloatArray
from mnlearn.statistics import scaling as correlation
from mnlearn.statistics.moments import EXPLAINED, LARGEST, Moments

from references.moments import conditional_entropy, dataset_of, linked_rows, partial_correlation

SEEDS = st.integers(0, 2**32 - 1)
NONE: frozenset[int] = frozenset()


def a_question(rng: np.random.Generator, n_variables: int) -> tuple[int, list[int], frozenset[int]]:
    """A random x, a random z and all the other variables as ys."""
    x, *others = (int(v) for v in rng.permutation(n_variables))
    size = int(rng.integers(0, n_variables - 1))
    return x, others[size:], frozenset(others[:size])


@settings(deadline=None)
@given(SEEDS, st.integers(2, 8), st.integers(20, 60))
def test_agrees_with_regressions_on_the_rows(seed: int, n_variables: int, n_rows: int) -> None:
    rng = np.random.default_rng(seed)
    rows = linked_rows(rng, n_rows, n_variables)
    moments = Moments(dataset_of(rows))
    x, ys, z = a_question(rng, n_variables)
    r = moments.partial_correlations(x, ys, z)
    np.testing.assert_allclose(r, [partial_correlation(rows, x, y, z) for y in ys], rtol=0, atol=1e-9)
    entropies = moments.conditional_entropies(x, ys, z)
    np.testing.assert_allclose(entropies, [conditional_entropy(rows, x, z | {y}) for y in ys], rtol=0, atol=1e-9)
    assert moments.conditional_entropy(x, z) == pytest.approx(conditional_entropy(rows, x, z), abs=1e-9)


@settings(deadline=None)
@given(SEEDS, st.integers(2, 6))
def test_repeats_equal_repeating_rows(seed: int, n_variables: int) -> None:
    rng = np.random.default_rng(seed)
    rows, repeats = linked_rows(rng, 25, n_variables), rng.integers(1, 6, 25)
    repeats[0] = 1_000
    counted, spelled_out = Moments(dataset_of(rows, repeats)), Moments(dataset_of(np.repeat(rows, repeats, axis=0)))
    assert counted.n_rows == spelled_out.n_rows == repeats.sum()
    np.testing.assert_allclose(counted.covariance, spelled_out.covariance, rtol=1e-10, atol=1e-12)
    x, ys, z = a_question(rng, n_variables)
    a, b = (m.partial_correlations(x, ys, z) for m in (counted, spelled_out))
    np.testing.assert_allclose(a, b, rtol=0, atol=1e-8)


def messy_rows(rng: np.random.Generator, n_rows: int, n_variables: int) -> FloatArray:
    """Columns that copy, add up, rescale or repeat one another, or do not vary at all."""
    columns = [rng.standard_normal(n_rows)]
    while len(columns) < n_variables:
        one, other = (columns[int(k)] for k in rng.integers(0, len(columns), 2))
        makers = [
            rng.standard_normal(n_rows),
            np.full(n_rows, 0.1),
            np.zeros(n_rows),
            one.copy(),
            one + other,
            3.0 - 1e9 * one,
            one + 10.0 ** rng.uniform(-12, -3) * rng.standard_normal(n_rows),
            rng.integers(0, 2, n_rows).astype(np.float64),
            1e12 + 1e-4 * one,
        ]
        columns.append(makers[int(rng.integers(len(makers)))])
    return np.column_stack(columns)


@settings(deadline=None)
@given(SEEDS, st.integers(1, 12), st.integers(2, 12))
def test_never_infinite_and_nan_only_where_nothing_is_left(seed: int, n_rows: int, n_variables: int) -> None:
    rng = np.random.default_rng(seed)
    messy = messy_rows(rng, n_rows, n_variables)
    moments = Moments(dataset_of(messy))
    x, ys, z = a_question(rng, n_variables)
    r = moments.partial_correlations(x, ys, z)
    untold = np.isnan(r)
    assert (np.abs(r[~untold]) <= LARGEST).all()
    assert np.isfinite(np.arctanh(r[~untold])).all()
    assert not untold.any() or z
    for y in np.asarray(ys)[untold].tolist():  # z explains an end, or a member of z, but for rounding
        explained = Moments(dataset_of(messy[:, [x, y, *sorted(z)]])).explained()
        assert len(explained) > 0
    assert np.isfinite(moments.conditional_entropies(x, ys, z)).all()
    assert np.isfinite(moments.conditional_entropy(x, z))
    assert (moments.conditional_entropies(x, ys, z) <= moments.conditional_entropy(x, z) + 1e-12).all()
    assert np.isfinite(moments.correlations_all()).all()
    assert np.isfinite(moments.covariance).all()


@settings(deadline=None)
@given(SEEDS, st.integers(3, 7))
def test_column_and_row_order_change_nothing(seed: int, n_variables: int) -> None:
    rng = np.random.default_rng(seed)
    rows = linked_rows(rng, 30, n_variables)
    x, ys, z = a_question(rng, n_variables)
    order = rng.permutation(n_variables)
    place = np.argsort(order)
    shuffled = Moments(dataset_of(rng.permutation(rows[:, order], axis=0)))
    moved_z = frozenset(int(place[v]) for v in z)
    np.testing.assert_allclose(
        Moments(dataset_of(rows)).partial_correlations(x, ys, z),
        shuffled.partial_correlations(int(place[x]), place[ys], moved_z),
        rtol=0,
        atol=1e-9,
    )


def test_column_order_does_not_matter_where_z_is_redundant() -> None:
    rng = np.random.default_rng(5)
    base = linked_rows(rng, 50, 5)
    rows = np.column_stack([base, base[:, 2] + base[:, 3], base[:, 4], np.ones(50)])
    expected = Moments(dataset_of(base)).partial_correlations(0, [1], {2, 3, 4})
    for _ in range(30):
        order = rng.permutation(8)
        place = np.argsort(order)
        moments = Moments(dataset_of(rows[:, order]))
        r = moments.partial_correlations(int(place[0]), [int(place[1])], {int(v) for v in place[2:]})
        np.testing.assert_allclose(r, expected, rtol=0, atol=1e-12)


@pytest.mark.parametrize("unit", [1e-300, 1e-9, -1e-3, 1e9, 1e300])
def test_units_do_not_matter(unit: float) -> None:
    rows = linked_rows(np.random.default_rng(1), 40, 5)
    scaled = rows.copy()
    scaled[:, 0] *= unit
    scaled[:, 2] *= unit
    a, b = Moments(dataset_of(rows)), Moments(dataset_of(scaled))
    sign = np.array([np.sign(unit), 1.0, np.sign(unit)])
    np.testing.assert_allclose(
        b.partial_correlations(0, [1, 2, 3], {4}) * sign,
        a.partial_correlations(0, [1, 2, 3], {4}),
        rtol=0,
        atol=1e-12,
    )
    gained = b.conditional_entropies(0, [1, 2], {3}) - a.conditional_entropies(0, [1, 2], {3})
    np.testing.assert_allclose(gained, np.log(abs(unit)), rtol=1e-12)


def test_values_at_the_end_of_the_range_of_numbers() -> None:
    rows = np.array([[1.7e308, 5e-324, 1.0], [-1.7e308, 0.0, 2.0], [1.7e308, 5e-324, 0.5], [0.0, 0.0, 1.0]])
    moments = Moments(dataset_of(rows))
    assert np.isfinite(moments.correlations_all()).all()
    assert np.isfinite(moments.conditional_entropies(1, [0, 2], NONE)).all()
    assert np.isinf(moments.covariance[0, 0])


def test_an_offset_costs_only_what_storing_it_costs() -> None:
    rng = np.random.default_rng(2)
    rows = np.round(linked_rows(rng, 60, 4) * 1024.0) / 1024.0  # 1e12 + k / 1024 is stored exactly
    a, b = Moments(dataset_of(rows)), Moments(dataset_of(rows + 1e12))
    np.testing.assert_allclose(a.correlations_all(), b.correlations_all(), rtol=0, atol=1e-14)
    np.testing.assert_allclose(a.covariance, b.covariance, rtol=1e-12)


def test_covariance_is_numpys_with_divisor_n_and_read_only() -> None:
    rows = linked_rows(np.random.default_rng(3), 30, 6)
    moments = Moments(dataset_of(rows))
    np.testing.assert_allclose(moments.covariance, np.cov(rows.T, bias=True), rtol=1e-12)
    with pytest.raises(ValueError, match="read-only"):
        moments.covariance[0, 0] = 1.0
    assert (moments.n_rows, moments.n_variables, moments.names[5]) == (30, 6, "v5")


def test_rows_in_blocks_give_the_same_covariance(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(4)
    data = dataset_of(linked_rows(rng, 101, 5), rng.integers(1, 4, 101))
    whole = Moments(data).covariance
    monkeypatch.setattr(correlation, "_BLOCK_VALUES", 50)
    np.testing.assert_allclose(Moments(data).covariance, whole, rtol=1e-12)


def test_all_correlations_come_in_the_order_of_the_pairs() -> None:
    moments = Moments(dataset_of(linked_rows(np.random.default_rng(6), 30, 5)))
    pairs = [(x, y) for x in range(5) for y in range(x + 1, 5)]
    expected = [float(moments.partial_correlations(x, [y], NONE)[0]) for x, y in pairs]
    np.testing.assert_array_equal(moments.correlations_all(), expected)
    assert Moments(dataset_of(np.ones((3, 1)))).correlations_all().shape == (0,)


def test_from_covariance_agrees_with_the_rows() -> None:
    rows = linked_rows(np.random.default_rng(7), 40, 6)
    rows[:, 5] = 2.0
    by_rows = Moments(dataset_of(rows))
    by_matrix = Moments.from_covariance(by_rows.covariance, 40, names=by_rows.names)
    assert (by_matrix.names, by_matrix.n_rows) == (by_rows.names, 40)
    for z in (NONE, frozenset({2, 3}), frozenset({2, 5})):
        for a, b in (
            (by_rows.partial_correlations(0, [1, 4], z), by_matrix.partial_correlations(0, [1, 4], z)),
            (by_rows.conditional_entropies(0, [1, 4], z), by_matrix.conditional_entropies(0, [1, 4], z)),
        ):
            np.testing.assert_allclose(a, b, rtol=0, atol=1e-12)
    np.testing.assert_allclose(by_matrix.covariance, by_rows.covariance, rtol=1e-14)
    assert Moments.from_covariance(np.eye(2), 9).names == ("x0", "x1")


def test_a_constant_correlates_with_nothing_and_what_others_explain_cannot_be_told() -> None:
    rng = np.random.default_rng(8)
    base = linked_rows(rng, 30, 3)
    rows = np.column_stack([base, np.full(30, 0.1), base[:, 0] - 2.0 * base[:, 1]])
    moments = Moments(dataset_of(rows))
    np.testing.assert_array_equal(moments.partial_correlations(3, [0, 1, 4], {2}), 0.0)
    np.testing.assert_array_equal(moments.partial_correlations(4, [2, 3], {0, 1}), [np.nan, 0.0])
    assert np.isnan(moments.partial_correlations(2, [4], {0, 1})[0])
    assert moments.partial_correlations(4, [0], {1})[0] == pytest.approx(1.0, abs=1e-12)


def test_entropies_have_a_floor() -> None:
    rng = np.random.default_rng(9)
    base = 7.0 * linked_rows(rng, 30, 2)
    moments = Moments(dataset_of(np.column_stack([base, base[:, 0] + base[:, 1], np.ones(30)])))
    floor = 0.5 * np.log(2.0 * np.pi * math.e * EXPLAINED * moments.covariance[2, 2])
    assert moments.conditional_entropy(2, {0, 1}) == pytest.approx(floor)
    np.testing.assert_allclose(moments.conditional_entropies(2, [1], {0}), floor)
    assert moments.conditional_entropy(3, {0}) == pytest.approx(0.5 * np.log(2.0 * np.pi * math.e * EXPLAINED))


def test_the_remembered_factor_is_that_of_the_question() -> None:
    rows = linked_rows(np.random.default_rng(10), 40, 6)
    moments = Moments(dataset_of(rows))
    for z in ({4}, {5}, {4, 5}, {4}, NONE, {4, 5}):
        for x in (0, 1):
            fresh = Moments(dataset_of(rows)).partial_correlations(x, [2, 3], z)
            np.testing.assert_array_equal(moments.partial_correlations(x, [2, 3], z), fresh)


def test_questions_leave_their_arguments_alone_and_may_be_empty() -> None:
    moments = Moments(dataset_of(linked_rows(np.random.default_rng(11), 40, 6)))
    ys, z = np.array([3, 1]), {4, 2}
    for _ in range(2):
        np.testing.assert_array_equal(
            moments.partial_correlations(0, ys, z), moments.partial_correlations(0, ys[::-1], z)[::-1]
        )
    assert (ys.tolist(), z) == ([3, 1], {2, 4})
    narrow = moments.partial_correlations(0, ys.astype(np.uint64), z)
    np.testing.assert_array_equal(narrow, moments.partial_correlations(0, ys, z))
    assert moments.partial_correlations(0, [], z).shape == moments.conditional_entropies(0, (), z).shape == (0,)


@pytest.mark.parametrize(
    ("x", "ys", "z", "match"),
    [
        (0, [0], NONE, r"ys must not contain x or a member of z; got y=0, which is x"),
        (0, [1, 2], {2, 3}, r"got y=2, which is a member of z=\{2, 3\}"),
        (3, [1], {1, 3}, r"z must not contain x or y; got x=3, z=\{1, 3\}"),
        (5, [1], NONE, r"must be variables 0\.\.4; got 5"),
        (0, [-1], NONE, r"must be variables 0\.\.4; got -1"),
        (0, [1], {9}, r"must be variables 0\.\.4; got 9"),
        (0, [1.5], NONE, r"ys must be a sequence of variable indices"),
        (0.5, [1], NONE, r"x and z must be variable indices; got x=0\.5"),
        (0, [1], {"age"}, r"x and z must be variable indices"),
        (0, [[1, 2]], NONE, r"ys must be a sequence of variable indices"),
    ],
)
def test_refuses_questions_that_make_no_sense(x: Any, ys: Sequence[Any], z: Any, match: str) -> None:
    moments = Moments(dataset_of(linked_rows(np.random.default_rng(12), 20, 5)))
    with pytest.raises(InputError, match=match):
        moments.partial_correlations(x, ys, z)
    with pytest.raises(InputError, match=match):
        moments.conditional_entropies(x, ys, z)


def test_refuses_categorical_variables() -> None:
    rows = linked_rows(np.random.default_rng(13), 20, 2)
    data = replace(
        dataset_of(rows),
        names=("age", "smoker"),
        cards=(0, 2),
        columns=(rows[:, 0], np.arange(20, dtype=np.uint8) % 2),
        levels=(None, ("no", "yes")),
    )
    with pytest.raises(UnsuitableError, match=r"needs continuous variables; 'smoker' has 2 states.* or use Counts"):
        Moments(data)


@pytest.mark.parametrize(
    ("covariance", "match"),
    [
        ([[1.0, 0.5]], r"square matrix; got shape \(1, 2\)"),
        (np.empty((0, 0)), r"square matrix; got shape \(0, 0\)"),
        ([[1.0, np.nan], [np.nan, 1.0]], "must be finite"),
        ([[1.0, 0.2], [0.3, 1.0]], r"must be symmetric; got 0\.2 at \(0, 1\) and 0\.3 at \(1, 0\)"),
        ([[1.0, 0.0], [0.0, -1.0]], "no negative variance; got -1 for variable 1"),
        ([[1.0, 1.1], [1.1, 1.0]], "positive semi-definite"),
        ([[0.0, 0.5], [0.5, 1.0]], "positive semi-definite"),
        ([[1.0, 0.9, -0.9], [0.9, 1.0, 0.9], [-0.9, 0.9, 1.0]], "positive semi-definite"),
    ],
)
def test_refuses_what_is_no_covariance(covariance: ArrayLike, match: str) -> None:
    with pytest.raises(InputError, match=match):
        Moments.from_covariance(covariance, 10)


def test_from_covariance_refuses_bad_names_and_rows() -> None:
    for names in (["a"], ["a", "a"]):
        with pytest.raises(InputError, match=f"names must be 2 different names.* got {len(names)}, 1 different"):
            Moments.from_covariance(np.eye(2), 10, names=names)
    for n_rows in (0, -3, 2.5):
        with pytest.raises(InputError, match=f"n_rows must be a whole number from 1; got {n_rows}"):
            Moments.from_covariance(np.eye(2), n_rows)  # type: ignore[arg-type]
