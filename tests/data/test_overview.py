"""The overview: sizes, types, missing, constant, duplicated."""

from __future__ import annotations

import datetime as dt
import json
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from data.tables import Columns, in_form, write_text
from mnlearn.data import Dataset, overview, pack, read
from mnlearn.errors import DataError

TABLE: Columns = {
    "group": ["a", "b", "a", "c", "a"],
    "renamed": [7, 3, 7, 9, 7],
    "always": [1, 1, 1, 1, 1],
    "height": [1.5, 2.5, None, 4.5, 0.5],
    "twin": [1.5, 2.5, None, 4.5, 0.5],
    "holes": ["x", None, None, "y", "x"],
}


@pytest.mark.parametrize("form", ["csv", "parquet", "pandas", "polars", "records"])
def test_a_table_with_everything(form: str, tmp_path: Path) -> None:
    found = overview(in_form(form, TABLE, tmp_path))
    by_name = {variable.name: variable for variable in found.variables}
    assert (found.n_rows, found.n_records) == (5, 5)
    assert [variable.type for variable in found.variables] == [*["categorical"] * 3, *["continuous"] * 2, "categorical"]
    assert [variable.cardinality for variable in found.variables] == [3, 3, 1, 0, 0, 2]
    assert [variable.missing for variable in found.variables] == [0, 0, 0, 1, 1, 2]
    assert found.constant == ("always",)
    assert set(found.duplicated) == {("group", "renamed"), ("height", "twin")}
    assert (by_name["height"].low, by_name["height"].high) == (0.5, 4.5)
    assert (by_name["group"].most_common, by_name["group"].most_common_count) == ("a", 3)
    assert found.duplicate_rows == 0


def test_missing_values_and_markers_are_counted(tmp_path: Path) -> None:
    path = write_text(tmp_path, "a,b,c,d\n1,NA,,x\n?,y,,x\n2,NA,,x\n")
    found = overview(path, missing_values=["?"])
    assert [(v.type, v.missing, v.doubtful) for v in found.variables] == [
        ("categorical", 1, ()),
        ("categorical", 2, ("NA",)),
        ("empty", 3, ()),
        ("categorical", 0, ()),
    ]
    assert found.constant == ("b", "d")
    assert found.duplicated == ()


def test_repeats_count_as_rows(tmp_path: Path) -> None:
    found = overview({"a": ["x", "y", "y"], "b": [1, 2, 2], "w": [5, 1, 1]}, repeats="w")
    assert (found.n_rows, found.n_records, found.duplicate_rows) == (7, 3, 1)
    assert (found.variables[0].most_common, found.variables[0].most_common_count) == ("x", 5)


def test_rows_that_did_not_occur_are_ignored() -> None:
    table = {
        "a": ["x", "only here", "y", "y", None],
        "b": pd.Categorical(["p", "q", "p", "p", "q"], categories=["p", "q", "r"]),
        "c": [1.5, 99.5, 2.5, 2.5, None],
        "w": [5, 0, 1, 2, 0],
    }
    found = overview(table, repeats="w")
    assert (found.n_rows, found.n_records, found.duplicate_rows) == (8, 3, 1)
    assert [(v.cardinality, v.missing) for v in found.variables] == [(2, 0), (1, 0), (0, 0)]
    assert (found.variables[2].high, found.constant) == (2.5, ("b",))
    assert found == overview(read(table, repeats="w"))
    with pytest.raises(DataError, match="at least 2 rows that occurred"):
        overview({"a": [1, 2], "b": [3, 4], "w": [1, 0]}, repeats="w")


def test_levels_without_rows_are_named(tmp_path: Path) -> None:
    frame = pd.DataFrame(
        {"a": pd.Categorical(["x", "y", "x"], categories=["w", "x", "y", "z"]), "b": [1, 2, 1], "c": ["p", "q", "q"]}
    )
    frame.to_parquet(tmp_path / "t.parquet")
    for source in (frame, tmp_path / "t.parquet", read(frame)):
        found = overview(source)
        assert (found.unused, [v.cardinality for v in found.variables]) == (("a",), [2, 2, 2])
        assert [v.unused for v in found.variables] == [("w", "z"), (), ()]
    declared: dict[str, list[Any]] = {"b": [1, 2, 3], "c": ["p", "q"]}
    out = pack(frame, tmp_path / "t.mnpack", levels=declared)
    for source in (frame, read(frame, levels=declared)):
        found = overview(source, levels=None if isinstance(source, Dataset) else declared)
        assert (found.unused, [v.cardinality for v in found.variables]) == (("a", "b"), [2, 3, 2])
    assert overview(out).unused == ("b",)
    dates = pd.DataFrame({"d": pd.Categorical([dt.date(2020, 1, 1)] * 2, [dt.date(2020, 1, k) for k in (1, 2)])})
    plain = overview(dates.assign(y=[1, 2])).as_dict()
    assert json.loads(json.dumps(plain))["variables"][0]["unused"] == ["2020-01-02"]


def test_a_doubtful_category_is_not_one_without_rows() -> None:
    frame = pd.DataFrame({"a": pd.Categorical(["x", "NA", "y"], categories=["x", "y", "NA", "z"]), "b": [1, 2, 3]})
    found = overview(frame).variables[0]
    assert (found.doubtful, found.unused, found.missing) == (("NA",), ("z",), 1)


def test_overview_of_a_data_set() -> None:
    table = {"a": ["x", "y", "y"], "b": [1, 2, 2], "c": [0.5, 0.5, 0.5]}
    assert overview(read(table)) == overview(table)
    assert overview(read(table), columns=["c", "a"]).constant == ("c",)


def test_infinity_shows_in_the_range() -> None:
    found = overview({"a": [1.5, float("inf")], "b": [1, 2]})
    assert found.variables[0].high == float("inf")
    assert json.dumps(found.as_dict(), allow_nan=False).count('"inf"') == 1


def test_an_overview_as_json() -> None:
    half, third = Fraction(1, 2), Fraction(1, 3)
    found = overview({"a": [half, third, half], "b": [True, False, True], "c": [1.5, None, 2.5]})
    plain = json.loads(json.dumps(found.as_dict()))
    assert plain["variables"][0]["most_common"] == "1/2"
    assert plain["variables"][1]["most_common"] is True
    assert plain["duplicated"] == [["a", "b"]]


@given(st.lists(st.integers(0, 3), min_size=4, max_size=30), st.permutations(range(4)), st.integers(0, 2**32))
def test_duplicates_are_equal_up_to_the_names_of_the_states(column: list[int], names: list[int], seed: int) -> None:
    other = np.random.default_rng(seed).integers(0, 4, len(column)).tolist()
    found = overview({"a": column, "b": [f"s{names[value]}" for value in column], "c": other})
    same_partition = len(set(column)) == len(set(other)) == len(set(zip(column, other, strict=True)))
    if len(set(column)) == 1:
        assert found.duplicated == ()
    else:
        assert found.duplicated == ((("a", "b", "c") if same_partition else ("a", "b")),)


@given(st.lists(st.tuples(st.integers(0, 2), st.sampled_from([0.5, 1.5, None])), min_size=2, max_size=30))
def test_duplicate_rows(rows: list[tuple[int, float | None]]) -> None:
    if all(number is None for _, number in rows):
        rows.append((0, 0.5))
    assert overview(rows).duplicate_rows == len(rows) - len(set(rows))


def test_more_states_than_a_byte_holds() -> None:
    column = np.arange(1000)
    assert overview({"a": column, "b": column[::-1].copy(), "c": column // 2}).duplicated == (("a", "b"),)


def test_missing_values_are_counted_by_marker(tmp_path: Path) -> None:
    path = write_text(tmp_path, "a,b,c\n1,x,1.5\n?,NA,?\n-9,y,-9\n,z,2.5\nNA,?,3.5\n")
    words = ["x", "NA", "y", "z", "?"]
    frame = pd.DataFrame({"a": [1, "?", -9, None, "NA"], "b": words, "c": [1.5, None, -9, 2.5, 3.5]})
    for source, last in ((path, {"?": 1, "-9": 1}), (frame, {"-9": 1})):
        found = overview(source, missing_values=["?", -9]).variables
        assert [v.missing for v in found] == [4, 2, 2]
        assert [dict(v.marked) for v in found] == [{"?": 1, "-9": 1, "NA": 1}, {"?": 1, "NA": 1}, last]
