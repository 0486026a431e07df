"""Scans of mixed data in the core: all questions on odd tables, and questions that break a rule."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from mnlearn import _core
from mnlearn.data import Dataset
from mnlearn.errors import InputError
from mnlearn.statistics.evidence import MixedScans

QUESTIONS = ("local", "estimates", "additions", "leaders", "pairs", "removals")


def odd_table(n_rows: int, seed: int) -> Dataset:
    """Return columns of all kinds with gaps: many states, one state, copies, ties, all different."""
    rng = np.random.default_rng(seed)
    number = rng.normal(size=n_rows)
    columns: list[NDArray[Any]] = [
        rng.integers(0, 2, n_rows).astype(np.uint8),
        rng.integers(0, 41, n_rows).astype(np.uint8),
        rng.integers(0, 7, n_rows).astype(np.uint8),
        np.zeros(n_rows, dtype=np.uint8),
        number,
        np.where(rng.random(n_rows) < 0.3, np.nan, -2 * number),
        rng.poisson(0.5, n_rows).astype(np.float64),
        np.full(n_rows, 3.0),
    ]
    names = tuple("abcdefgh")
    levels = (("n", "y"), tuple(range(40)), tuple(range(6)), ("only", "never"), None, None, None, None)
    return Dataset(
        names,
        (2, 40, 6, 2, 0, 0, 0, 0),  # the codes 40 and 6 mark missing values
        tuple(columns),
        levels,
        ordinal=frozenset({"c"}),
        counted=frozenset({"g"}),
        gaps=frozenset({"b", "c", "f"}),
    )


@pytest.mark.parametrize("n_rows", [2, 3, 9, 60, 300])
@pytest.mark.parametrize("three_way", [False, True])
def test_every_question_has_a_finite_answer(n_rows: int, three_way: bool) -> None:
    data = odd_table(n_rows, n_rows)
    scans = MixedScans(data, n_jobs=1)
    rng = np.random.default_rng(1)
    for question in QUESTIONS:
        xs = [int(x) for x in rng.permutation(8)]
        zs = [frozenset(int(v) for v in rng.permutation(8)[: rng.integers(0, 5)] if v != x) for x in xs]
        yss = [[y for y in range(8) if y != x and y not in z] for x, z in zip(xs, zs, strict=True)]
        for threshold in (-np.inf, 0.0, np.inf):
            rows = scans.rows(question, xs, zs, yss, three_way=three_way, thresholds=threshold, relative=True)
            assert rows.shape[0] == 4
            assert np.isfinite(rows).all()


def test_constant_columns_add_nothing() -> None:
    scans = MixedScans(odd_table(100, 5))
    rows = scans.rows("pairs", [0, 3, 7], [frozenset()] * 3, [[3, 7], [0, 4], [1, 5]], thresholds=-np.inf)
    assert rows[0].tolist() == [0.0] * 6


@pytest.mark.parametrize(
    ("x", "z", "ys", "message"),
    [
        (8, frozenset(), [0], "must be the index of a variable"),
        (0, frozenset({9}), [1], "must be the index of a variable"),
        (0, frozenset(), [-1], "must be the index of a variable"),
        (0, frozenset({0}), [1], "z must not contain x or y"),
        (0, frozenset({1}), [1], "z must not contain x or y"),
        (0, frozenset(), [0], "y must not be x"),
    ],
)
def test_questions_that_break_a_rule_are_refused(x: int, z: frozenset[int], ys: list[int], message: str) -> None:
    with pytest.raises(InputError, match=message):
        MixedScans(odd_table(20, 1)).rows("pairs", [x], [z], [ys])


def test_the_core_refuses_odd_columns() -> None:
    codes, numbers, none = np.array([0, 1, 3], dtype=np.uint8), np.array([0.5, 1.0, 2.0]), np.empty(0)
    for columns, kinds, cards, message in (
        ([codes], ["nominal"], [2], "codes must be from 0 to the number of states"),
        ([numbers], ["nominal"], [2], "numeric columns must hold doubles"),
        ([codes], ["numeric"], [0], "numeric columns must hold doubles"),
        ([codes], ["other"], [3], "kinds must be nominal, ordinal or numeric"),
        ([codes, numbers[:2]], ["nominal", "numeric"], [3, 0], "the same number of rows"),
    ):
        with pytest.raises(InputError, match=message):
            _core.MixedData(columns, kinds, cards, [none] * len(columns), None)
