"""Logistic neighbourhoods against plain optimisation, and against the best of all subsets where the path finds it."""

from __future__ import annotations

import warnings
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from mnlearn.data import Dataset
from mnlearn.errors import InputError, UnsuitableError
from mnlearn.graphs import grid
from mnlearn.scores import L1Logistic
from mnlearn.scores.logistic import Columns, Regression
from mnlearn.simulate import PairwiseNetwork, sample_exact

from references import l1lr as reference

NOBODY: frozenset[int] = frozenset()


def others(data: Dataset, x: int) -> frozenset[int]:
    return frozenset(range(data.n_variables)) - {x}


def chosen(data: Dataset, x: int, **settings: float) -> frozenset[int]:
    return frozenset(L1Logistic(data, **settings).neighborhood(x, others(data, x), NOBODY).support)  # type: ignore[arg-type]


def ising(n_rows: int, seed: int = 1) -> Dataset:
    """A grid of nine binary variables."""
    return Dataset.from_codes(sample_exact(PairwiseNetwork.uniform(grid(3, 3), 1.6), n_rows, seed))


def three_states(n_rows: int, seed: int) -> NDArray[np.int64]:
    """0 → 1 → 2 of three states each, 3 alone, 4 binary and after 2."""
    rng = np.random.default_rng(seed)
    codes = rng.integers(0, 3, size=(n_rows, 5))
    for child, parent in ((1, 0), (2, 1)):
        kept = rng.random(n_rows) < 0.6
        codes[:, child] = np.where(kept, codes[:, parent], codes[:, child])
    codes[:, 4] = np.where(rng.random(n_rows) < 0.8, codes[:, 2] == 0, rng.random(n_rows) < 0.5)
    return codes


@st.composite
def tables(draw: st.DrawFn) -> NDArray[np.int64]:
    """A few rows of a few variables with 1 to 3 states: constant columns, copies and separations included."""
    n, rows = draw(st.integers(2, 4)), draw(st.integers(4, 40))
    rng = np.random.default_rng(draw(st.integers(0, 10_000)))
    codes = np.column_stack([rng.integers(0, draw(st.integers(1, 3)), rows) for _ in range(n)])
    for y in range(1, n):
        if draw(st.booleans()):
            codes[:, y] = np.where(rng.random(rows) < draw(st.sampled_from([0.5, 0.9, 1.0])), codes[:, 0], codes[:, y])
    return codes


@given(tables())
@settings(max_examples=10)
def test_support_is_half_the_drop_of_the_criterion(codes: NDArray[np.int64]) -> None:
    data = Dataset.from_codes(codes)
    found = L1Logistic(data, gamma=0.25).neighborhood(0, others(data, 0), NOBODY)
    best = frozenset(found.support)
    for y, support in found.support.items():
        drop = reference.bic(codes, 0, best - {y}, 0.25) - reference.bic(codes, 0, best, 0.25)
        assert support == pytest.approx(drop / 2, abs=2e-3)


@pytest.mark.parametrize("x", [0, 4, 8])
def test_binary_neighbourhoods_are_the_best_subsets(x: int) -> None:
    data = ising(400).select([0, 1, 2, 4, 8])
    codes = np.column_stack(data.columns).astype(np.int64)
    place = [0, 1, 2, 4, 8].index(x)
    assert chosen(data, place) == reference.best_subset(codes, place, 0.5)


def test_neighbourhoods_of_many_states_are_the_best_subsets() -> None:
    codes = three_states(500, seed=3)
    data = Dataset.from_codes(codes)
    for x in range(5):
        assert chosen(data, x) == reference.best_subset(codes, x, 0.5)
    assert chosen(data, 1) == {0, 2}


@given(tables(), st.floats(0.05, 0.9))
@settings(max_examples=30)
def test_each_step_of_a_path_is_an_optimum(codes: NDArray[np.int64], share: float) -> None:
    rows = Dataset.from_codes(codes).compact()
    assert rows.repeats is not None
    columns = Columns(rows)
    if columns.n_states[0] < 2:
        return
    regression = Regression(columns, 0, 1, others(rows, 0), NOBODY)
    first = regression.first_penalty()
    if first == 0:
        return
    for penalty in (0.8 * first, share * 0.8 * first):
        regression.step(penalty)
        repeated = np.repeat(np.column_stack(rows.columns)[:, 1:].astype(np.int64), rows.repeats, axis=0)
        own = int((columns.owner == 0).sum())
        active = [column - own for column in regression.active()]
        gap = reference.penalised_gap(repeated, np.repeat(columns.codes[0] == 1, rows.repeats), active, penalty)
        assert gap < 1e-4


@pytest.mark.parametrize("data", [ising(300), Dataset.from_codes(three_states(200, seed=2))])
def test_together_each_finds_what_it_finds_alone(data: Dataset) -> None:
    judge = L1Logistic(data)
    asked = [(x, others(data, x) - {2}, frozenset({0}) if x == 1 else NOBODY) for x in (3, 0, 1, 4)]
    assert judge.neighborhoods(asked) == [judge.neighborhood(*question) for question in asked]
    assert judge.neighborhoods([]) == []


def test_the_graph_behind_enough_rows_is_found() -> None:
    data, truth = ising(4000), grid(3, 3)
    for x in (0, 1, 4):
        assert chosen(data, x) == truth.neighbors(x)


def test_rows_repeats_states_and_columns_may_come_in_any_order() -> None:
    codes, rng = three_states(300, seed=5), np.random.default_rng(6)
    plain = Dataset.from_codes(codes)
    before = L1Logistic(plain).neighborhood(1, others(plain, 1), NOBODY).support
    shuffled = Dataset.from_codes(rng.permutation(codes))
    assert L1Logistic(shuffled).neighborhood(1, others(plain, 1), NOBODY).support == before
    assert L1Logistic(plain.compact()).neighborhood(1, others(plain, 1), NOBODY).support == before
    renamed = Dataset.from_codes(np.column_stack([np.array([2, 0, 1])[codes[:, :4]], 1 - codes[:, 4]]))
    assert L1Logistic(renamed).neighborhood(1, others(plain, 1), NOBODY).support == pytest.approx(before, abs=1e-4)
    order = [3, 1, 4, 0, 2]
    moved = L1Logistic(plain.select(order)).neighborhood(1, others(plain, 1), NOBODY).support
    assert {order[y]: support for y, support in moved.items()} == pytest.approx(before, abs=1e-4)


def test_a_state_that_splits_the_rows_like_another_does_not_let_the_first_column_decide() -> None:
    """0, 1 and 2 share a state; 1 and 2 are copies: of 1, only 2 may be the neighbour, in whatever order they come."""
    near, copied = [2, 1, 0, 0, 2, 1, 0, 1, 2, 2, 2, 0], [2, 1, 0, 0, 1, 1, 0, 1, 2, 2, 2, 0]
    assert chosen(Dataset.from_codes([near, copied, copied]), 1) == {2}
    assert chosen(Dataset.from_codes([copied, copied, near]), 0) == {1}


def test_states_that_never_occur_do_not_count() -> None:
    codes = three_states(300, seed=5)
    declared = Dataset.from_codes(codes, cards=[5] * 5)
    assert chosen(declared, 1) == chosen(Dataset.from_codes(codes), 1)


def test_constants_copies_and_separations_are_finite_and_silent() -> None:
    rng = np.random.default_rng(1)
    a = rng.integers(0, 2, 200)
    rare = np.zeros(200, dtype=np.int64)
    rare[7] = 1
    nothing = np.zeros(200, dtype=np.int64)
    data = Dataset.from_codes(np.column_stack([a, a, 1 - a, nothing, rare, rng.integers(0, 3, 200)]))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = [L1Logistic(data).neighborhood(x, others(data, x), NOBODY) for x in range(6)]
    assert found[3].support == {}
    assert not any(3 in each.support for each in found)
    assert len(found[0].support) == 1  # a copy explains all; the second copy nothing more
    assert np.isfinite([support for each in found for support in each.support.values()]).all()


@pytest.mark.parametrize("often", [20_000_003, 2**30 + 100, 2**40])
@pytest.mark.parametrize("x", [0, 2])  # whose state 1 is rare; whose state 0 is
def test_rare_states_are_seen_among_any_number_of_rows(x: int, often: int) -> None:
    rows = Dataset.from_codes([[0, 0, 1, 0], [0, 1, 1, 0], [1, 0, 1, 0]], repeats=[often, 1, 1, 1])
    columns, n_ones = Columns(rows), (1, 2, often + 1)[x]
    residual = np.where(columns.codes[x] == 1, rows.n_rows - n_ones, -n_ones) / rows.n_rows * columns.repeats
    values = np.column_stack([codes - 0.5 for codes in columns.codes])
    gradient = np.abs(residual @ values)
    regression = Regression(columns, x, 1, others(rows, x), frozenset())
    assert regression.first_penalty() == pytest.approx(np.delete(gradient, x).max(), rel=1e-6)
    assert 1 in chosen(rows, x)


def test_candidates_and_required_are_kept_to() -> None:
    data = ising(400)
    judge = L1Logistic(data)
    assert 1 not in judge.neighborhood(0, others(data, 0) - {1}, NOBODY).support
    required = judge.neighborhood(0, others(data, 0), frozenset({8})).support
    assert required.keys() == {1, 3, 8}
    assert required[8] < 0 < required[1]
    assert judge.neighborhood(0, NOBODY, frozenset({8})).support.keys() == {8}
    assert judge.neighborhood(0, NOBODY, NOBODY) == ({}, 0)


def test_gamma_makes_neighbourhoods_smaller() -> None:
    data = ising(60, seed=9)
    sizes = [sum(len(chosen(data, x, gamma=gamma)) for x in (0, 4)) for gamma in (0, 0.5, 50)]
    assert sizes == sorted(sizes, reverse=True)
    assert sizes[0] > sizes[-1] == 0


def test_patience_ends_the_path_early() -> None:
    data = ising(300)
    whole = L1Logistic(data, patience=None).neighborhood(4, others(data, 4), NOBODY)
    short = L1Logistic(data, patience=2).neighborhood(4, others(data, 4), NOBODY)
    assert short.fits < whole.fits
    assert short.support == whole.support


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (lambda data: L1Logistic(data, gamma=-0.1), "gamma must be a number of at least 0; got -0.1"),
        (lambda data: L1Logistic(data, gamma=float("nan")), "gamma must be"),
        (lambda data: L1Logistic(data, smallest=1), "smallest must be between 0 and 1; got 1"),
        (lambda data: L1Logistic(data, n_penalties=1), "n_penalties must be a whole number, at least 2; got 1"),
        (lambda data: L1Logistic(data, patience=0), "patience must be a whole number, at least 1; got 0. Use None"),
    ],
)
def test_bad_settings_are_refused(build: Callable[[Dataset], object], message: str) -> None:
    with pytest.raises(InputError, match=message):
        build(ising(10))


def test_continuous_variables_are_refused() -> None:
    column = np.array([0.5, 1.5])
    data = Dataset(("a",), (0,), (column,), (None,))
    with pytest.raises(
        UnsuitableError, match=r"l1lr needs categorical variables; 'a' is continuous. Discretise it .discretize="
    ):
        L1Logistic(data)
