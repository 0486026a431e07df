"""Counts of missing values, and tests of whether gaps depend on other columns."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import numpy as np
import pytest
from scipy import stats

import mnlearn as mn

module = import_module("mnlearn.data.overviews")  # its function has the same name


def table(n_rows: int = 300, seed: int = 1) -> dict[str, list[Any]]:
    """Draw a table in which the gaps of `age` depend on `ward`, and those of `sex` on nothing."""
    rng = np.random.default_rng(seed)
    ward = rng.choice(list("abc"), n_rows)
    age, dose = rng.normal(50.0, 9.0, n_rows), rng.normal(size=n_rows)
    lacks = rng.random(n_rows) < np.where(ward == "a", 0.6, 0.1)
    sex, unknown = rng.choice(["f", "m"], n_rows).tolist(), rng.random(n_rows) < 0.1
    return {
        "age": [None if gap else value for gap, value in zip(lacks, age.tolist(), strict=True)],
        "ward": ward.tolist(),
        "dose": dose.tolist(),
        "sex": [None if gap else value for gap, value in zip(unknown, sex, strict=True)],
    }


def test_counts_and_rows() -> None:
    columns = table()
    found = mn.missingness(columns)
    lacks = {name: np.array([value is None for value in column]) for name, column in columns.items()}
    assert found.counts == {name: int(lacks[name].sum()) for name in ("age", "sex")}
    assert found.complete_rows == int((~lacks["age"] & ~lacks["sex"]).sum())
    assert found.fewest == ("age", "sex", found.complete_rows)
    assert found.depends() == {"age": ["ward"]}
    assert len(found.dependences) == 6


def test_tests_are_those_of_scipy() -> None:
    columns = table()
    for one in mn.missingness(columns).dependences:
        lacks = np.array([value is None for value in columns[one.column]])
        seen = np.array([value is not None for value in columns[one.other]])
        values = np.array(columns[one.other], dtype=object)[seen]
        assert one.n_rows == seen.sum()
        if isinstance(values[0], str):
            states = sorted(set(values))
            counts = [[(lacks[seen][values == state] == gap).sum() for state in states] for gap in (True, False)]
            chi2 = stats.chi2_contingency(counts, correction=False)
            assert one.p == pytest.approx(chi2.pvalue, rel=1e-9)
            assert one.strength == pytest.approx(np.sqrt(chi2.statistic / seen.sum()), rel=1e-9)
        else:
            r = stats.pearsonr(values.astype(float), lacks[seen].astype(float))
            assert one.p == pytest.approx(r.pvalue, rel=1e-9)
            assert one.strength == pytest.approx(abs(r.statistic), rel=1e-9)


def test_p_values_are_corrected_by_holm() -> None:
    found = mn.missingness(table()).dependences
    p = [one.p for one in found]
    assert p == sorted(p)
    slow = [min(max(p[j] * (len(p) - j) for j in range(k + 1)), 1.0) for k in range(len(p))]
    assert [one.p_corrected for one in found] == pytest.approx(slow)


def test_repeats_equal_repeated_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    columns = table(60)
    repeats = [1 + k % 3 for k in range(60)]
    long = {name: [value for value, n in zip(c, repeats, strict=True) for _ in range(n)] for name, c in columns.items()}
    once = mn.missingness(columns | {"n": repeats}, repeats="n").dependences
    monkeypatch.setattr(module, "_BLOCK", 7)
    for one, other in zip(once, mn.missingness(long).dependences, strict=True):
        assert (one.column, one.other) == (other.column, other.other)
        assert (one.strength, one.p) == pytest.approx((other.strength, other.p), rel=1e-9)


@pytest.mark.parametrize(
    "columns",
    [
        {"a": [1.5, None, 2.5, None], "b": [None, 1.0, None, 3.5]},  # no common row
        {"a": [0.5, None, 0.5, 0.5], "b": ["x", "x", "x", "x"]},  # constant columns
        {"a": [1e300, None, -1e300, 2.5], "b": [None, 1e-300, 2e-300, 0.5]},  # squares that overflow
    ],
)
def test_nothing_is_nan(columns: dict[str, list[Any]]) -> None:
    found = mn.missingness(columns)
    for one in found.dependences:
        assert 0.0 <= one.strength <= 1.0
        assert 0.0 <= one.p <= one.p_corrected <= 1.0
    assert not found.depends()


def test_a_complete_table_has_nothing_to_test() -> None:
    found = mn.missingness({"a": ["x", "y"] * 3, "b": [0.5, 1.5, 2.5] * 2})
    assert (found.complete_rows, found.fewest, found.dependences, dict(found.counts)) == (6, None, (), {})


def test_options_are_those_of_read() -> None:
    columns = {"a": ["x", "?", "y", "x"], "b": ["u", "v", "u", "v"]}
    assert mn.missingness(columns, missing_values=["?"]).counts == {"a": 1}
    data = mn.read(columns, missing_values=["?"], missing="testwise")
    assert mn.missingness(data) == mn.missingness(columns, missing_values=["?"])
    with pytest.raises(mn.DataError, match="every column must hold a value"):
        mn.missingness({"a": [None, None], "b": ["u", "v"]})


def test_gaps_of_many_columns_are_counted_and_some_tested(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MOST_COLUMNS", 1)
    found = mn.missingness(table())
    assert len(found.counts) == 2
    assert {one.column for one in found.dependences} == {next(iter(found.counts))}
