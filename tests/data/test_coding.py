"""Coding of cells by the core, against plain Python."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from mnlearn import _core
from mnlearn.data import read
from mnlearn.data.packs import LANES, group_words, plane_layout

KINDS = [np.int8, np.int16, np.int32, np.int64, np.uint8, np.uint16, np.uint32]


@given(hnp.arrays(np.uint8, st.integers(0, 300)), hnp.arrays(np.uint8, 256))
def test_codes_through_a_table(codes: Any, table: Any) -> None:
    expected = table[codes]
    _core.recode(codes, table)
    assert np.array_equal(codes, expected)
    with pytest.raises(ValueError, match="a table of codes must have 256 places"):
        _core.recode(codes, table[:255])


@given(st.lists(st.integers(1, 9), min_size=1, max_size=6), st.integers(1, 300), st.integers(0, 2**32 - 1))
@settings(max_examples=60)
def test_planes_hold_the_rows_of_each_state(cards: list[int], n_rows: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    columns = [rng.integers(0, card, n_rows).astype(np.uint8) for card in cards]
    layout = plane_layout(cards)
    n_words = -(-n_rows // 64)
    for group in range(layout.n_groups):
        words, totals = group_words(layout, cards, columns, group)
        assert words.shape == (n_words, LANES)
        expected = np.zeros((n_words * 64, LANES), dtype=bool)
        for first, card, column in zip(layout.first, cards, columns, strict=True):
            for state in range(card - 1):
                if card > 1 and first + state in range(group * LANES, (group + 1) * LANES):
                    expected[:n_rows, first + state - group * LANES] = column == state
        bits = np.unpackbits(words.T.copy().view(np.uint8).reshape(LANES, -1), axis=1, bitorder="little")
        assert np.array_equal(bits.T.astype(bool), expected)
        assert totals.tolist() == expected.sum(axis=0).tolist()


@given(st.lists(st.lists(st.integers(-5, 300), min_size=1, max_size=8), min_size=1, max_size=6), st.sampled_from(KINDS))
@settings(max_examples=80, deadline=None)
def test_batches_of_whole_numbers_are_coded_as_one(batches: list[list[int]], kind: Any) -> None:
    most = int(np.iinfo(kind).max)
    numbers = [[min(abs(value) if kind().dtype.kind == "u" else value, most) for value in batch] for batch in batches]
    whole = [value for batch in numbers for value in batch] + [0, 1]
    chunks = [pa.array(np.array(batch, dtype=kind)) for batch in (*numbers, [0, 1])]
    table = pa.table({"x": pa.chunked_array(chunks), "y": whole})
    found = read(table, types={":": "categorical"}, missing_values=[7], missing="category")
    labels = sorted(set(whole) - {7})
    assert found.levels[0] == (*labels, *([None] if 7 in whole else []))
    expected = [len(labels) if value == 7 else labels.index(value) for value in whole]
    assert found.columns[0].tolist() == expected


@pytest.mark.parametrize("low", [2**63 - 2, 2**63 + 5, 2**64 - 2])
def test_numbers_beyond_int64_are_coded_batch_by_batch(low: int) -> None:
    batches = [pa.array([low + k for k in batch], pa.uint64()) for batch in ([0, 1, 0], [1, 0, 0], [1])]
    found = read(pa.table({"x": pa.chunked_array(batches), "y": [0, 1, 0, 1, 0, 1, 0]}))
    assert found.levels[0] == (low, low + 1)
    assert found.columns[0].tolist() == [0, 1, 0, 1, 0, 0, 1]
