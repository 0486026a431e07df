"""Comparison of scores: what counts as a tie, and what decides it."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np

from mnlearn.numbers import ABSOLUTE, RELATIVE, exceeds, first_best, first_maximum, preferred, ranks, tolerance


def test_a_difference_of_rounding_is_a_tie_and_no_improvement() -> None:
    values = np.array([0.3, 0.1 + 0.2])
    assert first_best(values, 0.0, tolerance(values)) == 0
    assert first_best(values[::-1].copy(), 0.0, tolerance(values)) == 0
    assert first_best(values, 0.3, tolerance(values)) is None


def test_the_tolerance_grows_with_the_scores() -> None:
    assert tolerance([]) == tolerance([1.0, -3.0]) == ABSOLUTE
    assert tolerance([1.0, -1e6]) == 1e-6


def test_the_first_criterion_that_tells_them_apart_decides() -> None:
    weak, strong = np.array([1.0, 1.0, 1.0 + 1e-12]), np.array([1.0, 3.0, 2.0])
    tied = np.arange(3)
    assert preferred(tied, lambda at: weak[at], lambda at: strong[at]) == 1
    assert preferred(tied, lambda at: weak[at]) == 0
    assert preferred(np.array([0, 2]), lambda at: strong[at], lambda at: weak[at]) == 2


def test_criteria_are_not_called_without_a_tie() -> None:
    def never(_: np.ndarray) -> np.ndarray:
        raise AssertionError

    assert first_best(np.array([1.0, 2.0]), 0.0, 1e-9, never) == 1


def test_equal_values_share_a_rank_in_any_order() -> None:
    values = np.array([0.3, -np.inf, 0.1 + 0.2, 5.0, -np.inf, np.inf, 1e9, 1e9 * (1 + 1e-14)])
    expected = np.array([1, 0, 1, 2, 0, 4, 3, 3])
    assert ranks(values).tolist() == expected.tolist()
    assert ranks(values[::-1].copy()).tolist() == expected[::-1].tolist()
    assert ranks(np.array([])).tolist() == []


def test_the_first_maximum() -> None:
    assert first_maximum([1.0, 0.1 + 0.2, 3.0, 3.0 + 1e-12]) == 2
    assert first_maximum([0.1 + 0.2, 0.3]) == first_maximum([0.3, 0.1 + 0.2]) == 0
    assert first_maximum([-np.inf, -np.inf]) == 0
    assert exceeds(1.0, -np.inf)
    assert not exceeds(0.1 + 0.2, 0.3)


def test_the_native_core_has_the_same_tolerance() -> None:
    header = (Path(__file__).parent.parent / "native" / "scan" / "ties.hpp").read_text(encoding="utf-8")
    found = re.search(r"kTieAbsolute = (\S+), kTieRelative = (\S+);", header)
    assert found is not None
    assert (float(found[1]), float(found[2])) == (ABSOLUTE, RELATIVE)
