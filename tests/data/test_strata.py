"""Strata of covariates and random assignment of rows within them."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mnlearn.data import Dataset, read
from mnlearn.data.rows import covariate_strata, regroup


@given(st.data(), st.booleans(), st.integers(0, 2**32))
def test_each_group_keeps_its_rows_of_each_stratum(data: st.DataObject, repeated: bool, seed: int) -> None:
    n = data.draw(st.integers(2, 12))
    numbers = st.lists(st.integers(0, 2), min_size=n, max_size=n)
    strata, groups = np.array(data.draw(numbers)), np.array(data.draw(numbers))
    repeats = data.draw(st.lists(st.integers(1, 4), min_size=n, max_size=n)) if repeated else None
    rows = Dataset.from_codes([list(range(n)), strata.tolist()], cards=(n, 3), repeats=repeats)
    parts = regroup(rows, groups, strata, np.random.default_rng(seed))
    counts = np.ones(n, dtype=int) if repeats is None else np.array(repeats)
    total = np.zeros(n, dtype=int)
    for group, part in enumerate(parts):
        drawn = np.zeros(n, dtype=int)
        drawn[part.columns[0]] = 1 if part.repeats is None else part.repeats
        for stratum in range(3):
            assert drawn[strata == stratum].sum() == counts[(strata == stratum) & (groups == group)].sum()
        total += drawn
    assert total.tolist() == counts.tolist()


def test_all_assignments_are_equally_likely() -> None:
    rows = Dataset.from_codes([[0, 1, 2, 3], [0, 0, 0, 1]], cards=(4, 2))
    groups, strata, generator = np.array([0, 1, 1, 1]), np.array([0, 0, 0, 1]), np.random.default_rng(1)
    first = Counter(regroup(rows, groups, strata, generator)[0].columns[0].tolist()[0] for _ in range(600))
    assert sorted(first) == [0, 1, 2]
    assert min(first.values()) > 150
    weighted = Dataset.from_codes([[0, 1], [0, 0]], cards=(2, 2), repeats=[2, 1])
    drawn = [regroup(weighted, np.array([0, 1]), np.zeros(2, dtype=np.int64), generator)[1] for _ in range(300)]
    assert np.mean([part.columns[0][0] for part in drawn]) == pytest.approx(1 / 3, abs=0.1)


def test_numbers_with_many_values_are_divided_into_five() -> None:
    age = [*range(20, 70)] * 2
    table = read({"age": age, "site": ["n", "s"] * 50, "x": [0.5, *range(99)]}, types={"age": "categorical"})
    strata = covariate_strata(table, ["age"])
    assert np.bincount(strata).tolist() == [20] * 5
    assert all(np.ptp(np.array(age)[strata == k]) == 9 for k in range(5))
    assert covariate_strata(table, ["x"]).max() == 4
    assert covariate_strata(table, ["age", "site"]).max() == 9
    assert covariate_strata(table, ["age"], labels={"age"}).max() == 49
    assert covariate_strata(table, []).tolist() == [0] * 100


def test_a_common_number_has_its_own_stratum_and_a_label_too() -> None:
    table = read({"n": [0] * 60 + [*range(1, 41)], "other": [0, 1] * 50}, types={"n": "categorical"})
    strata = covariate_strata(table, ["n"])
    assert len(set(strata[:60])) == 1
    assert strata[0] not in strata[60:]
    mixed = read({"n": [None, *range(1, 30)], "other": [0, 1] * 15}, missing="category", types={"n": "categorical"})
    found = covariate_strata(mixed, ["n"])
    assert found[0] not in found[1:]
    assert len(set(found)) == 6


def test_repeats_count_as_rows() -> None:
    values = [1, 2, 3, 4, 5, 6]
    repeats = [5, 1, 1, 1, 1, 1]
    stored = read({"n": values, "r": repeats, "o": [0, 1] * 3}, repeats="r", types={"n": "categorical"})
    plain = read({"n": np.repeat(values, repeats), "o": [0, 1] * 5}, types={"n": "categorical"})
    assert covariate_strata(stored, ["n"]).tolist() == [covariate_strata(plain, ["n"])[k] for k in (0, 5, 6, 7, 8, 9)]
