"""What is said about columns and rows that leave questions without an answer."""

from __future__ import annotations

import re

import numpy as np
import pytest

from mnlearn.simulate.gaussian import continuous_dataset
from mnlearn.statistics import Moments, degeneracy

SOUND = np.random.default_rng(1).standard_normal((30, 4))


def said(*extra: np.ndarray[tuple[int], np.dtype[np.float64]], n_rows: int = 30) -> list[str]:
    table = np.column_stack([SOUND, *extra])[:n_rows]
    return degeneracy.remarks(Moments(continuous_dataset(table, list("abcdefgh"[: table.shape[1]]))))


def test_sound_data_are_not_remarked_on() -> None:
    assert said() == []
    assert said(SOUND[:, 0] + 0.01 * SOUND[::-1, 1]) == []


@pytest.mark.parametrize(
    ("extra", "words"),
    [
        (np.full(30, 7.0), "never vary have no neighbours: 'e'"),
        (5.0 - 3.0 * SOUND[:, 1], "copies of each other.*'b' of 'e'"),
        (SOUND[:, 0] + SOUND[:, 1] - SOUND[:, 2], "others explain exactly"),
    ],
)
def test_each_fault_is_named_with_its_columns(extra: np.ndarray[tuple[int], np.dtype[np.float64]], words: str) -> None:
    found = said(extra)
    assert any(re.search(words, text) for text in found)
    assert len(found) == (2 if "copies" in words else 1)  # a copy is explained, too


def test_few_rows_are_remarked_on_once_whatever_follows_from_them() -> None:
    (text,) = said(n_rows=4)
    assert "4 rows for 4 variables" in text
    assert "at most 1 neighbours" in text


def test_long_lists_are_cut() -> None:
    (text,) = said(*[np.full(30, float(k)) for k in range(4)])
    assert "'e', 'f', 'g', 'h'." in text
