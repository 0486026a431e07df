"""Whole numbers: categories, a quantity, or a question to the caller."""

from __future__ import annotations

import logging
import math
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from numpy.typing import NDArray

from mnlearn.data import overview, pack, read
from mnlearn.data.variable import are_many
from mnlearn.errors import DataError

NAN = float("nan")
LIKERT = [1.0, 6.0, NAN, 3.0, 1.0, 3.0]
GROUP = ["a", "b", "a", "b", "a", "b"]

FORMS: dict[str, Any] = {
    "pandas": lambda values: pd.DataFrame({"item": values, "group": GROUP}),
    "polars": lambda values: pl.DataFrame({"item": values, "group": GROUP}),
    "polars null": lambda values: pl.DataFrame(
        {"item": [None if math.isnan(v) else v for v in values], "group": GROUP}
    ),
    "arrow": lambda values: pa.table({"item": pa.array(values, from_pandas=True), "group": GROUP}),
    "arrow in slices": lambda values: pa.concat_tables(
        pa.table({"item": pa.array(values[k : k + 2], pa.float64()), "group": GROUP[k : k + 2]}) for k in (0, 2, 4)
    ),
    "numpy": lambda values: {"item": np.array(values), "group": GROUP},
    "masked": lambda values: {"item": np.ma.masked_invalid(values), "group": GROUP},
    "lists": lambda values: {"item": [None if math.isnan(v) else v for v in values], "group": GROUP},
    "records": lambda values: [{"item": v, "group": g} for v, g in zip(values, GROUP, strict=True)],
    "objects": lambda values: pd.DataFrame({"item": pd.Series(values, dtype=object), "group": GROUP}),
}


@pytest.mark.parametrize("form", FORMS)
def test_whole_decimals_with_gaps_are_read_as_the_same_column_of_a_file(form: str, tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("item,group\n1,a\n6,b\n,a\n3,b\n1,a\n3,b\n")
    source = FORMS[form](LIKERT)
    for policy in ("drop_rows", "category"):
        expected = read(path, missing=policy)
        found = read(source, missing=policy)
        assert found.levels == expected.levels
        assert [column.tolist() for column in found.columns] == [column.tolist() for column in expected.columns]
        assert [type(label) for label in found.levels[0] or ()] == [type(label) for label in expected.levels[0] or ()]
        assert found.missing == expected.missing
    with pytest.raises(DataError, match=r"missing values: 'item' 1\. .*missing='category'"):
        read(source)
    assert read(source, missing="drop_rows", types={"item": "continuous"}).cards == (0, 2)


@pytest.mark.parametrize("form", FORMS)
def test_without_gaps_or_with_fractions_decimals_are_continuous(form: str, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, logger="mnlearn")
    assert read(FORMS[form]([1.0, 6.0, 2.0, 3.0, 1.0, 3.0])).cards == (0, 2)
    assert caplog.messages == [
        "read as continuous, because they are stored as decimals, though all values are whole: 'item'. "
        "types={'item': 'categorical'} makes categories of a column"
    ]
    assert read(FORMS[form]([1.5, *LIKERT[1:]]), missing="drop_rows").cards == (0, 2)
    assert read(FORMS[form]([NAN, 1e300, *LIKERT[2:]]), missing="drop_rows").cards == (0, 2)
    assert len(caplog.messages) == 1


def test_decimals_in_a_file_follow_the_same_rule(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, logger="mnlearn")
    frame = pd.DataFrame({"item": LIKERT, "group": GROUP})
    frame.to_csv(tmp_path / "t.csv", index=False)  # 1.0, 6.0, nothing, ...
    frame.to_parquet(tmp_path / "t.parquet")
    for source in (tmp_path / "t.csv", tmp_path / "t.parquet"):
        found = read(source, missing="drop_rows")
        assert found.levels == ((1, 3, 6), ("a", "b"))
        assert "read as categories, because all values are whole and some are missing: 'item'" in caplog.text
        packed = pack(source, tmp_path / "t.mnpack", missing="drop_rows")
        assert packed.levels == found.levels
        assert packed.columns[0].tolist() == found.columns[0].tolist()
    frame["item"] = [-9.0, *LIKERT[1:2], 2.0, *LIKERT[3:]]
    assert read(frame, missing_values=[-9], missing="drop_rows").levels[0] == (1, 2, 3, 6)


def test_many_whole_decimals_stay_continuous() -> None:
    table = {"age": [NAN, *map(float, range(18, 58))], "group": GROUP[:1] + GROUP[:2] * 20}
    assert read(table, missing="drop_rows").cards == (0, 2)
    assert overview(table).variables[0].reason == "many whole numbers"


@pytest.mark.parametrize(
    ("values", "many"),
    [
        (range(1, 7), False),
        (range(1, 13), False),
        (range(11), False),
        (range(19), False),
        (range(20), True),
        ([0, 1], False),
        ([10 * k for k in range(10)], False),
        ([10 * k for k in range(11)], True),
        ([*range(1, 9), 77, 88, 99], True),
    ],
)
def test_many_are_twenty_or_more_than_ten_that_are_not_consecutive(values: Any, many: bool) -> None:
    assert are_many(values) is many


@pytest.mark.parametrize("form", ["csv", "parquet", "frame", "polars", "array", "lists"])
def test_many_whole_numbers_are_continuous(form: str, tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, logger="mnlearn")
    ages = np.random.default_rng(1).integers(18, 90, 300)
    frame = pd.DataFrame({"age": ages, "sex": ages % 2, "month": ages % 12})
    frame.to_csv(tmp_path / "t.csv", index=False)
    frame.to_parquet(tmp_path / "t.parquet")
    sources: dict[str, Any] = {
        "csv": tmp_path / "t.csv",
        "parquet": tmp_path / "t.parquet",
        "frame": frame,
        "polars": pl.from_pandas(frame),
        "array": frame.to_numpy(),
        "lists": frame.to_dict("list"),
    }
    source, name = sources[form], "x0" if form == "array" else "age"
    n = len(set(ages.tolist()))
    found = read(source)
    assert found.cards == (0, 2, 12)
    assert np.array_equal(found.columns[0], ages.astype(np.float64))
    assert found.reasons == {name: "many whole numbers"}
    assert caplog.messages == [
        f"read as continuous, because they hold many different whole numbers: '{name}'. "
        f"types={{'{name}': 'categorical'}} makes categories of a column, types={{'{name}': 'count'}} declares counts"
    ]
    assert read(source, types={name: "continuous"}).reasons == {name: "declared"}
    assert read(source, types={name: "categorical"}).cards == (n, 2, 12)
    assert read(source, drop=[name]).cards == (2, 12)
    assert read(source, levels={name: list(range(18, 90))}).cards == (72, 2, 12)
    assert [v.reason for v in overview(source).variables] == ["many whole numbers", *["whole numbers"] * 2]
    assert overview(source, types={name: "continuous"}).variables[0].reason == "declared"


def test_many_whole_numbers_with_gaps_are_numbers_with_gaps(tmp_path: Path) -> None:
    ages = [None, *range(18, 90), *range(20, 40)]
    path = tmp_path / "t.csv"
    path.write_text("age,sex\n" + "".join(f"{'' if a is None else a},{k % 2}\n" for k, a in enumerate(ages)))
    found = read(path, missing="testwise")
    assert found.cards == (0, 2)
    assert found.gaps == {"age"}
    assert np.isnan(found.columns[0][0])
    assert found.columns[0][1:].tolist() == ages[1:]
    packed = pack(path, tmp_path / "t.mnpack", missing="testwise")
    assert packed.columns[0].tobytes() == found.columns[0].tobytes()
    assert packed.reasons == found.reasons == {"age": "many whole numbers"}


@pytest.mark.parametrize("start", [0, 1, 1000])
def test_row_numbers_must_be_declared_or_dropped(start: int) -> None:
    table: dict[str, Any] = {"id": np.random.default_rng(5).permutation(np.arange(start, start + 30)), "b": [0, 1] * 15}
    told = rf"column 'id' must be declared, or left out; it holds 30 different whole numbers, {start} to {start + 29}, "
    with pytest.raises(DataError, match=told + r"one for each row.* Use drop=\['id'\], or types={'id': 'continuous'}"):
        read(table)
    assert overview(table).unsettled == ("id",)
    assert read(table, types={"id": "continuous"}).cards == (0, 2)
    assert read({**table, "id": [start, *table["id"][1:]]}, types={"id": "categorical"}).n_rows == 30
    with pytest.raises(DataError, match=r"'id' must be .* So does 'k'\.$"):
        read({**table, "k": range(30)})
    assert read({**table, "id": [start + 31, *table["id"][1:]]}).cards == (0, 2)


def test_numbers_too_large_for_a_float_are_identifiers() -> None:
    with pytest.raises(DataError, match="as row numbers and identifiers do"):
        read({"id": [2**60 + 7 * k for k in range(30)], "b": [0, 1] * 15})


def test_categories_and_strings_are_not_asked_about() -> None:
    codes = [str(k) for k in range(40)]
    frame = pd.DataFrame({"word": [f"w{c}" for c in codes], "code": pd.Categorical(range(40)), "half": [0, 1] * 20})
    assert read(frame).cards == (40, 40, 2)
    assert [v.reason for v in overview(frame).variables] == ["words", "categories of the source", "whole numbers"]


def test_a_first_column_of_names_is_recognised() -> None:
    counts = np.random.default_rng(2).poisson(80, (60, 5))
    table = {"gene": [f"g{k}" for k in range(60)], **{f"s{k}": counts[:, k] for k in range(5)}}
    assert read(table).cards == (60, 0, 0, 0, 0, 0)


def test_estimators_follow_the_dtype() -> None:
    from mnlearn.estimators import MarkovNetworkLearner

    rng = np.random.default_rng(3)
    codes = np.column_stack([rng.integers(0, 40, 200), rng.integers(0, 2, 200)])
    for X in (codes, pd.DataFrame(codes, columns=["a", "b"]).astype("Int64")):
        assert MarkovNetworkLearner("mpl").fit(X).n_features_in_ == 2
    gaps = np.where(codes[:, :1] < 2, np.nan, rng.normal(size=(200, 3)) * [1, 1, 0] + codes[:, 1:])
    continuous: Any = MarkovNetworkLearner("mbs", missing="drop_rows").fit(gaps).result_.data
    assert continuous.cards == (0, 0, 0)
    likert = pd.DataFrame({"a": LIKERT * 5, "b": [1, 2, 1] * 10})
    data: Any = MarkovNetworkLearner("mpl", missing="category").fit(likert).result_.data
    assert data.levels == ((1, 3, 6, None), (1, 2))


MANY_STATES = 70_000


def very_many(tmp_path: Path, form: str, values: NDArray[np.int64]) -> Any:
    """Return a table of two columns, of which the first has more values than a categorical one may have."""
    frame = pd.DataFrame({"id": values, "b": np.arange(len(values)) % 2})
    if form == "csv":
        frame.to_csv(tmp_path / "t.csv", index=False)
        return tmp_path / "t.csv"
    if form == "parquet":
        frame.to_parquet(tmp_path / "t.parquet", row_group_size=20_000)
        return tmp_path / "t.parquet"
    forms: dict[str, Any] = {
        "frame": frame,
        "polars": pl.from_pandas(frame),
        "array": frame.to_numpy(),
        "reader": pa.Table.from_pandas(frame).to_reader(max_chunksize=9_000),
        "lists": {name: frame[name].tolist() for name in frame},
    }
    return forms[form]


@pytest.mark.parametrize("form", ["csv", "parquet", "frame", "polars", "array", "reader", "lists"])
def test_more_whole_numbers_than_categories_are_continuous(form: str, tmp_path: Path) -> None:
    values = np.random.default_rng(6).permutation(np.arange(MANY_STATES) * 3)
    found = read(very_many(tmp_path, form, values))
    assert found.cards == (0, 2)
    assert np.array_equal(found.columns[0], values.astype(np.float64))
    assert list(found.reasons.values()) == ["many whole numbers"]
    told = "it holds 70,000 different whole numbers, 5 to 70004, one for each row"
    with pytest.raises(DataError, match=told):
        read(very_many(tmp_path, form, np.random.default_rng(7).permutation(np.arange(MANY_STATES)) + 5))


def test_very_many_whole_numbers_with_gaps_markers_and_decimals(tmp_path: Path) -> None:
    cells = [str(2 * k) for k in range(MANY_STATES)] + ["", "-9"]
    path = tmp_path / "t.csv"
    path.write_text("a,b\n" + "".join(f"{cell},{k % 2}\n" for k, cell in enumerate(cells)))
    found = read(path, missing="testwise", missing_values=[-9])
    assert dict(found.missing.counts) == {"a": 2}
    assert np.isnan(found.columns[0][-2:]).all()
    with path.open("a") as file:
        file.write("0.5,1\n")
    assert read(path, missing="testwise", missing_values=[-9]).reasons == {}
    with path.open("a") as file:
        file.write("word,1\n")
    with pytest.raises(DataError, match="column 'a' must"):
        read(path, missing="testwise", missing_values=[-9])


MARKED = {"age": ["31", "?", "07", "44.5"], "item": ["10", "2", "?", "02"], "code": ["a", "?", "2", "3"]}


@pytest.mark.parametrize("library", [dict, pd.DataFrame, pl.DataFrame])
def test_strings_of_numbers_beside_a_marker_are_numbers(library: Any) -> None:
    found = read(library(MARKED), missing="testwise", missing_values=["?"])
    assert found.kinds == ("continuous", "nominal", "nominal")
    assert found.columns[0].tolist() == pytest.approx([31.0, np.nan, 7.0, 44.5], nan_ok=True)
    assert found.levels[1:] == ((2, 10), ("2", "3", "a"))
    assert found.columns[1].tolist() == [1, 0, 2, 0]
    assert found.reasons["item"] == "numbers beside a marker of missing values"
    scale = read(library(MARKED), missing="testwise", missing_values=["?"], types={"age": "ordinal"})
    assert (scale.kinds[0], scale.levels[0]) == ("ordinal", (7.0, 31.0, 44.5))


def test_strings_of_numbers_stay_labels_without_a_marker_or_if_declared() -> None:
    plain = {"item": ["10", "2", None, "2"], "b": ["x", "y", "x", "y"]}
    assert read(plain, missing="testwise").levels[0] == ("10", "2")
    declared = read(MARKED, missing="testwise", missing_values=["?"], types={"item": "nominal"})
    assert declared.levels[1] == ("02", "10", "2")
    named = read(MARKED, missing="testwise", missing_values=["?"], levels={"item": ["2", "02", "10"]})
    assert named.levels[1] == ("2", "02", "10")
