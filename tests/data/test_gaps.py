"""Data sets with gaps: discretise, rank, resample, weigh, compare columns, describe, write."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from data.tables import assert_same
from mnlearn.data import Dataset, discretize, effective_rows, normal_scores, overview, read, write_data
from mnlearn.data.dataset import copied_columns
from mnlearn.data.rows import resample, split, take, without_foreign_levels
from mnlearn.data.transforms import far_from_normal
from mnlearn.data.writers import FrameKind, frame_of_dataset
from mnlearn.errors import UnsuitableError
from mnlearn.learning.inputs import decide_transform, oddities, transformed

NAN = float("nan")


def holes(n: int = 200, seed: int = 1, share: float = 0.2) -> Dataset:
    """Return a mixed table with gaps in every column but the last."""
    rng = np.random.default_rng(seed)
    table: dict[str, list[Any]] = {
        "skewed": np.exp(rng.normal(size=n) * 2).tolist(),
        "normal": rng.normal(size=n).tolist(),
        "visits": rng.poisson(3, n).tolist(),
        "group": rng.choice(["a", "b", "c"], n).tolist(),
        "rank": rng.integers(1, 5, n).tolist(),
        "full": rng.choice(["x", "y"], n).tolist(),
    }
    for name in list(table)[:-1]:
        table[name] = [None if rng.random() < share else value for value in table[name]]
    return read(table, missing="testwise", types={"visits": "count", "rank": "ordinal"})


def same_gaps(one: Dataset, other: Dataset, name: str) -> bool:
    """Return whether a column has its gaps in the same rows of two tables."""
    return bool(np.array_equal(np.asarray(one.observed(name)), np.asarray(other.observed(name))))


def observed(data: Dataset, name: str) -> np.ndarray[Any, Any]:
    """Return the values of a column without gaps."""
    seen = data.observed(name)
    column = data.columns[data.index(name)]
    return column if seen is None else column[seen]


@pytest.mark.parametrize(
    "settings", [{"method": "width"}, {"method": "frequency", "bins": 3}, {"cuts": {"normal": [0]}}]
)
def test_gaps_stay_when_numbers_are_cut(settings: Any) -> None:
    data = holes()
    cut = discretize(data, **settings)
    assert cut.gaps == data.gaps
    assert cut.kinds[-3:] == data.kinds[-3:]
    assert "count" not in cut.kinds
    for name in ("skewed", "normal", "visits"):
        assert same_gaps(cut, data, name)
        alone = Dataset((name,), (0,), (np.array(observed(data, name)),), (None,))
        assert discretize(alone, cuts={name: cut.cuts[name]}).columns[0].tolist() == observed(cut, name).tolist()


def test_ranks_are_those_among_the_observed_rows() -> None:
    data = holes()
    scores = normal_scores(data)
    assert scores.gaps == data.gaps
    assert scores.kinds == data.kinds
    for name in ("skewed", "normal"):
        alone = Dataset((name,), (0,), (np.array(observed(data, name)),), (None,))
        assert observed(scores, name).tolist() == normal_scores(alone).columns[0].tolist()
        assert same_gaps(scores, data, name)
    for name in ("visits", "group", "rank", "full"):
        assert scores.columns[data.index(name)] is data.columns[data.index(name)]
    assert far_from_normal(data) == ("skewed",)


def test_the_transform_of_a_mixed_table_is_decided_by_its_continuous_columns() -> None:
    data = holes()
    assert decide_transform(data, "auto") == "normal_scores"
    assert decide_transform(data.select(["normal", "group", "visits"]), "auto") is None
    assert decide_transform(data.select(["visits", "full"]), "auto") is None
    assert decide_transform(data, None) is None
    assert transformed(data, "normal_scores").columns[2] is data.columns[2]
    with pytest.raises(UnsuitableError, match="needs continuous variables; 'group' is categorical"):
        decide_transform(data.select(["group", "full"]), "normal_scores")
    with pytest.raises(UnsuitableError, match="needs continuous variables; 'visits' holds counts"):
        decide_transform(data.select(["visits"]), "normal_scores")


def test_rows_are_drawn_with_their_gaps() -> None:
    data = holes()
    for part in (resample(data, seed=1), *split(data, 50, seed=2), take(data, np.arange(40))):
        assert part.gaps == data.gaps
        for name in data.gaps:
            column = part.columns[data.index(name)]
            assert column.dtype == data.columns[data.index(name)].dtype
    few = take(data, np.flatnonzero(data.columns[3] != 1)[:60])
    less = without_foreign_levels(few, data)
    assert less.levels[3] == ("a", "c")
    assert same_gaps(less, few, "group")
    labels: list[Any] = ["a", "c", None]
    before: list[Any] = ["a", "b", "c", None]
    assert [labels[k] for k in less.columns[3].tolist()] == [before[k] for k in few.columns[3].tolist()]


def test_equal_rows_with_gaps_are_stored_once() -> None:
    data = read({"a": ["x", None, "x", None], "b": [0.5, NAN, 0.5, 1.5], "c": [1, 1, 1, 2]}, missing="testwise")
    small = data.compact()
    assert (small.n_records, small.n_rows) == (3, 4)


def test_weights_become_rows_with_gaps() -> None:
    rng = np.random.default_rng(3)
    n = 400
    group = [None if rng.random() < 0.3 else str(v) for v in rng.integers(0, 3, n)]
    table = {"a": group, "b": rng.integers(0, 2, n), "w": rng.choice([0.5, 1.0, 2.0], n)}
    data = read(table, missing="testwise", weights="w")
    rows = effective_rows(data)
    assert rows.n_records == data.n_rows
    assert rows.gaps == {"a"}
    weights = np.asarray(data.repeats)
    expected = np.bincount(data.columns[0], weights, 4) / weights.sum()
    found = np.bincount(rows.columns[0], minlength=4) / rows.n_records
    assert np.abs(expected - found).max() < 0.01


def test_copies_have_the_same_gaps() -> None:
    a = np.array([0, 1, 2, 0, 1, 2], np.uint8)  # two levels, 2 marks a gap
    three = np.array([0, 1, 2, 0, 1, 2], np.uint8)
    other = np.array([1, 0, 2, 1, 0, 2], np.uint8)
    moved = np.array([0, 1, 2, 0, 2, 1], np.uint8)
    one = np.array([0, 2, 2, 0, 2, 0], np.uint8)
    assert copied_columns([a, three, other, moved], [2, 3, 2, 2]) == {2: 0}
    assert copied_columns([one, one], [2, 2]) == {}  # constant among the observed


def test_oddities_do_not_count_gaps() -> None:
    data = read(
        {
            "same": [1.5, None, 1.5, 1.5, 1.5, None],
            "x": [0.1, 0.2, None, 0.4, 0.5, 0.6],
            "y": [0.1, 0.2, None, 0.4, 0.5, 0.6],
            "z": [0.1, 0.2, 0.3, 0.4, None, 0.6],
            "mostly": [0.0, 0.0, 0.0, 0.0, None, 7.5],
            "a": ["u", "v", "u", None, "v", "u"],
            "b": [1, 2, 1, None, 2, 1],
            "c": [1, 2, 1, 2, 2, 1],
        },
        missing="testwise",
    )
    told = oddities(data)
    assert "constant, so without an edge: 'same'" in told
    assert "copies, which no method can tell apart: 'y' of 'x', 'b' of 'a'" in told
    assert any("one value in most rows" in line and "'mostly' 80%" in line for line in told)


def test_an_overview_of_gaps_is_that_of_the_source(tmp_path: Path) -> None:
    rng = np.random.default_rng(4)
    frame = pd.DataFrame(
        {
            "age": np.where(rng.random(100) < 0.1, np.nan, rng.integers(18, 80, 100)),
            "size": pd.Categorical(rng.choice(["s", "m", "l"], 100), ["s", "m", "l"], ordered=True),
            "word": [None if rng.random() < 0.2 else w for w in rng.choice(["a", "b"], 100)],
            "visits": rng.poisson(2, 100),
            "dose": rng.normal(size=100),
        }
    )
    options: Any = {"types": {"visits": "count"}}
    found = overview(frame, **options)
    assert [v.kind for v in found.variables] == ["continuous", "ordinal", "nominal", "count", "continuous"]
    assert [v.reason for v in found.variables] == [
        "many whole numbers",
        "ordered in the source",
        "words",
        "declared",
        "decimal numbers",
    ]
    assert found.complete_rows + found.incomplete_rows == 100
    assert found.complete_rows == int(frame.notna().all(axis=1).sum())
    assert [v.missing_share for v in found.variables] == frame.isna().mean().tolist()
    again = overview(read(frame, missing="testwise", **options))
    for one, other in zip(found.variables, again.variables, strict=True):
        assert (one.kind, one.missing, one.missing_alone, one.low, one.high, one.most_common, one.reason) == (
            other.kind,
            other.missing,
            other.missing_alone,
            other.low,
            other.high,
            other.most_common,
            other.reason,
        )
    assert (again.complete_rows, again.duplicate_rows) == (found.complete_rows, found.duplicate_rows)
    cut = overview(discretize(read(frame, missing="testwise", **options)))
    assert cut.variables[0].reason == "cut into intervals"


@pytest.mark.parametrize("extension", ["csv", "tsv", "parquet"])
def test_gaps_are_written_as_nothing(extension: str, tmp_path: Path) -> None:
    data = holes(60)
    path = tmp_path / f"t.{extension}"
    write_data(data, path)
    levels = {"rank": data.levels[4] or ()}
    again = read(path, missing="testwise", types={"visits": "count", "rank": "ordinal"}, levels=levels)
    assert_same(again, data)
    assert (again.kinds, again.gaps, again.missing.counts) == (data.kinds, data.gaps, data.missing.counts)


def test_order_and_gaps_are_kept_in_frames_and_parquet(tmp_path: Path) -> None:
    sizes = pd.Categorical(["s", None, "l", "m"], ["s", "m", "l"], ordered=True)
    data = read(pd.DataFrame({"size": sizes, "n": [1.0, 2.0, None, 0.5], "k": [0, 1, 1, 0]}), missing="testwise")
    write_data(data, tmp_path / "t.parquet")
    kinds: tuple[FrameKind, ...] = ("pandas", "pyarrow")
    for source in (tmp_path / "t.parquet", *(frame_of_dataset(data, kind) for kind in kinds)):
        again = read(source, missing="testwise")
        assert_same(again, data)
        assert again.kinds == data.kinds
    frame: Any = frame_of_dataset(data, "polars")
    assert frame["size"].to_list() == ["s", None, "l", "m"]
    assert frame["n"].null_count() == 1


@given(st.lists(st.none() | st.floats(-1e6, 1e6), min_size=3, max_size=40).filter(lambda v: any(v) and None in v))
def test_any_numbers_with_gaps_keep_their_order_in_scores(values: list[float | None]) -> None:
    data = read({"x": values, "b": [0.5] * len(values)}, missing="testwise", types="continuous")
    scores, numbers = normal_scores(data).columns[0], data.columns[0]
    seen = ~np.isnan(numbers)
    assert np.array_equal(np.isnan(scores), ~seen)
    order = np.argsort(numbers[seen], kind="stable")
    assert (np.diff(scores[seen][order]) >= 0).all()
