"""Resampling, splitting and taking rows."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mnlearn.data import Dataset
from mnlearn.data.rows import resample, split, take
from mnlearn.errors import InputError


def rows_of(data: Dataset) -> Counter[tuple[Any, ...]]:
    """Return every row as often as it occurs."""
    found: Counter[tuple[Any, ...]] = Counter()
    for k in range(data.n_records):
        found[tuple(column[k].item() for column in data.columns)] += 1 if data.repeats is None else int(data.repeats[k])
    return found


@st.composite
def tables(draw: st.DrawFn) -> Dataset:
    n = draw(st.integers(2, 12))
    codes = np.array(draw(st.lists(st.tuples(st.integers(0, 2), st.integers(0, 1)), min_size=n, max_size=n)))
    repeats = draw(st.none() | st.lists(st.integers(1, 4), min_size=n, max_size=n))
    return Dataset.from_codes(codes, cards=(3, 2), repeats=repeats)


@given(tables(), st.integers(0, 2**32))
def test_a_resample_has_as_many_rows_and_no_new_ones(data: Dataset, seed: int) -> None:
    drawn = resample(data, seed)
    assert drawn.n_rows == data.n_rows
    assert set(rows_of(drawn)) <= set(rows_of(data))
    assert (drawn.cards, drawn.names, drawn.levels) == (data.cards, data.names, data.levels)
    assert rows_of(resample(data, seed)) == rows_of(drawn)


@given(tables(), st.integers(0, 2**32), st.data())
def test_two_parts_hold_all_rows(data: Dataset, seed: int, draw: st.DataObject) -> None:
    n_rows = draw.draw(st.integers(1, data.n_rows - 1))
    first, rest = split(data, n_rows, seed)
    assert first.n_rows == n_rows
    assert rows_of(first) + rows_of(rest) == rows_of(data)


def test_every_row_is_equally_likely() -> None:
    plain = Dataset.from_codes([[0, 1, 2, 3]])
    weighted = Dataset.from_codes([[0, 1, 2]], repeats=[1, 1, 2])
    drawn: Counter[Any] = Counter()
    heavy: Counter[Any] = Counter()
    for seed in range(500):
        drawn += rows_of(resample(plain, seed))
        heavy += rows_of(resample(weighted, seed))
    assert all(abs(count - 500) < 100 for count in drawn.values())  # some 4.5 standard deviations
    assert abs(heavy[(2,)] - 1000) < 120


def test_rows_keep_their_repeats_and_their_numbers() -> None:
    data = Dataset.from_codes([[0, 1, 2]], repeats=[5, 6, 7])
    assert rows_of(take(data, np.array([0, 2]))) == {(0,): 5, (2,): 7}
    real = Dataset(("x",), (0,), (np.array([0.5, 1.5, 2.5]),), (None,))
    assert set(resample(real, 1).columns[0].tolist()) <= {0.5, 1.5, 2.5}


@pytest.mark.parametrize("n_rows", [0, 3, 1.5, True])
def test_both_parts_must_have_rows(n_rows: Any) -> None:
    with pytest.raises(InputError, match="n_rows must be a whole number from 1 to 2"):
        split(Dataset.from_codes([[0, 1, 2]]), n_rows, 1)
