"""Missing values: what counts as missing, and the policies that leave none."""

from __future__ import annotations

import datetime as dt
import io
from collections.abc import Hashable
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from data.tables import Columns, assert_same, in_form, write_csv, write_text
from mnlearn.data import overview, pack, read
from mnlearn.data.options import DOUBTFUL, NOT_A_NUMBER
from mnlearn.errors import DataError, InputError

HOLES: Columns = {"word": ["x", None, "y", "x"], "number": [1.5, 2.5, None, 4.5], "whole": [1, 2, 3, None]}


@pytest.mark.parametrize("form", ["csv", "tsv.gz", "parquet", "pandas objects", "polars", "arrow reader", "records"])
def test_the_default_raises_an_error(form: str, tmp_path: Path) -> None:
    expected = r"'word' 1, 'number' 1, 'whole' 1\. Use .*'testwise' .*missing='drop_rows' to leave out 3 of 4 rows"
    with pytest.raises(DataError, match=expected):
        read(in_form(form, HOLES, tmp_path))


@pytest.mark.parametrize("form", ["csv", "tsv.gz", "parquet", "pandas objects", "polars", "arrow reader", "records"])
def test_dropping_rows_equals_never_having_had_them(form: str, tmp_path: Path) -> None:
    holes: Columns = {name: [*values, values[0]] for name, values in HOLES.items()}
    data = read(in_form(form, holes, tmp_path), missing="drop_rows")
    assert_same(data, read({"word": ["x", "x"], "number": [1.5, 1.5], "whole": [1, 1]}))
    assert data.missing.policy == "drop_rows"
    assert dict(data.missing.counts) == {"word": 1, "number": 1, "whole": 1}
    assert data.missing.rows_dropped == 3
    assert str(data.missing) == "missing: 'word' 1, 'number' 1, 'whole' 1; rows dropped: 3"


@pytest.mark.parametrize("form", ["csv", "tsv.gz", "parquet", "pandas objects", "polars", "arrow reader", "records"])
def test_missing_as_a_state_of_its_own(form: str, tmp_path: Path) -> None:
    data = read(in_form(form, HOLES, tmp_path), columns=["word", "whole"], missing="category")
    assert data.levels == (("x", "y", None), (1, 2, 3, None))
    assert data.columns[0].tolist() == [0, 2, 1, 0]
    assert data.columns[1].tolist() == [0, 1, 2, 3]
    assert "state of its own" in str(data.missing)


def test_the_category_policy_is_suggested_only_where_possible() -> None:
    with pytest.raises(DataError, match=r"leave out 1 of 3 rows; or missing='category' to make them a state\.$"):
        read({"a": [1, None, 2], "b": [0.5, 1.5, 2.5]})
    with pytest.raises(DataError, match=r"leave out 2 of 3 rows\.$"):
        read({"a": [1, None, 2], "b": [0.5, 1.5, None]})
    with pytest.raises(DataError, match=r"leave it out with drop=\['a'\], or use missing='testwise'\.$"):
        read({"a": [1, None, None], "b": [0.5, 1.5, 2.5]}, missing="drop_rows")
    with pytest.raises(DataError, match=r"leave it out with drop=\['\w+'\], or use missing='testwise'\.$"):
        read({"a": [1, 2, 2], "b": [0.5, None, None]}, missing="drop_rows")


def test_a_complete_column_gets_no_extra_state() -> None:
    assert read({"a": [1, 2, 1], "b": [1, None, 1]}, missing="category").cards == (2, 2)


def test_a_continuous_column_cannot_have_a_missing_state() -> None:
    with pytest.raises(DataError, match=r"'number' is continuous with 1 missing .* missing='drop_rows'"):
        read(HOLES, missing="category")


@pytest.mark.parametrize(
    "nothing",
    [None, float("nan"), np.nan, np.float32("nan"), pd.NA, pd.NaT, "", "  ", Decimal("nan"), np.datetime64("NaT")],
)
def test_every_kind_of_missing_value(nothing: object) -> None:
    for labels in (["x", "y"], [Fraction(1, 3), Fraction(1, 2)], [dt.date(2020, 1, 1), dt.date(2021, 1, 1)]):
        data = read({"a": [*labels, nothing, labels[0]], "b": [1, 2, 1, 2]}, missing="category")
        assert data.levels[0] == (*labels, None)


def test_missing_dates_and_flags() -> None:
    days = [dt.datetime(2020, 1, 1), pd.NaT, dt.datetime(2021, 1, 1)]
    frame = pd.DataFrame(
        {"day": pd.Series(days, dtype="datetime64[ns]"), "flag": pd.array([True, None, False], dtype="boolean")}
    )
    assert dict(read(frame, missing="drop_rows").missing.counts) == {"day": 1, "flag": 1}


@pytest.mark.parametrize("markers", [["?", -9], ["?", "-9"], ("?", -9.0), {"?", np.int64(-9)}])
def test_named_markers(markers: list[Hashable], tmp_path: Path) -> None:
    table: Columns = {"w": ["x", "?", "y", "x", "y"], "i": [1, 2, -9, 1, 1], "f": [0.5, 1.5, 2.5, -9.0, 1.5]}
    for form in ("csv", "parquet", "pandas", "records", "polars"):
        data = read(in_form(form, table, tmp_path), missing_values=markers, missing="drop_rows")
        assert dict(data.missing.counts) == {"w": 1, "i": 1, "f": 1}
        assert_same(data, read({"w": ["x", "y"], "i": [1, 1], "f": [0.5, 1.5]}))


def test_a_marker_among_numbers_keeps_them_numbers(tmp_path: Path) -> None:
    path = write_text(tmp_path, "a,b\n1,0.5\n?,?\n2,1.5\n ? ,2\n")
    data = read(path, missing_values=["?"], missing="drop_rows")
    assert data.levels == ((1, 2), None)


def test_infinity_can_be_named_missing(tmp_path: Path) -> None:
    path = write_text(tmp_path, "a,b\n1.5,1\ninf,2\n-inf,1\n2.5,2\n")
    data = read(path, missing_values=[float("inf"), float("-inf")], missing="drop_rows")
    assert data.columns[0].tolist() == [1.5, 2.5]


def test_markers_in_objects_and_categories() -> None:
    never = dt.date(9999, 9, 9)
    days = {"a": [dt.date(2020, 1, 1), never, dt.date(2020, 1, 2)], "b": [1, 2, 3]}
    assert dict(read(days, missing_values=[never], missing="drop_rows").missing.counts) == {"a": 1}
    frame = pd.DataFrame({"a": pd.Categorical(["x", "?", "y"]), "b": [1, 2, 3]})
    assert read(frame, missing_values=["?"], missing="category").levels[0] == ("x", "y", None)


def test_a_declared_level_is_never_missing(tmp_path: Path) -> None:
    path = write_text(tmp_path, "a,b\n?,?\nx,1\nNA,2\n")
    data = read(path, missing_values=["?"], levels={"a": ["x", "?", "NA"]}, missing="category")
    assert data.levels == (("x", "?", "NA"), (1, 2, None))
    codes = read({"a": [-9, 1, 1], "b": [-9, 1, 2]}, missing_values=[-9], levels={"a": [-9, 1]}, missing="category")
    assert codes.levels == ((-9, 1), (1, 2, None))


@pytest.mark.parametrize("marker", ["NA", "N/A", "null", "NULL", "<NA>", "NaN", "nan"])
def test_usual_markers_among_words_raise_an_error(marker: str, tmp_path: Path) -> None:
    table: Columns = {"a": ["x", marker, "y"], "b": [1, 2, 3]}
    for form in ("csv", "parquet", "pandas", "records"):
        source = in_form(form, table, tmp_path)
        with pytest.raises(DataError, match=rf"holds '{marker}', which may mark .* missing_values=\['{marker}'\]"):
            read(source, missing="drop_rows")
        assert read(source, missing="drop_rows", missing_values=[marker]).n_rows == 2
        assert read(source, types={"a": "categorical"}).cards[0] == 3


@pytest.mark.parametrize("numbers", [["1", "2"], ["1.5", "2"], ["2", "1.5"]])
def test_usual_markers_among_numbers_raise_an_error(numbers: list[str], tmp_path: Path) -> None:
    path = write_text(tmp_path, "a,b\n" + "".join(f"{cell},1\n" for cell in ["NA", *numbers, "NA"]))
    with pytest.raises(DataError, match="holds 'NA', which may mark a missing value"):
        read(path, missing="drop_rows")
    assert read(path, missing="drop_rows", missing_values=["NA"]).n_rows == 2
    with pytest.raises(DataError, match=r"must hold numbers.*data row 1 holds 'NA'"):
        read(path, types={"a": "continuous"})


def test_words_such_as_none_are_labels() -> None:
    assert read({"a": ["none", "nothing", "na", "-"], "b": [1, 2, 1, 2]}).cards[0] == 4


def test_every_marker_of_pandas_is_in_doubt() -> None:
    known = DOUBTFUL | NOT_A_NUMBER
    found = pd.read_csv(io.StringIO("a\n" + "\n".join(PANDAS)), keep_default_na=True)["a"]
    assert found.isna().all()  # the list is that of the installed pandas
    assert set(PANDAS) <= known
    assert {str(None), str(pd.NaT), str(pd.NA), str(np.nan)} <= known


PANDAS = (
    *("#N/A", "#N/A N/A", "#NA", "-1.#IND", "-1.#QNAN", "-NaN", "-nan", "1.#IND", "1.#QNAN", "<NA>", "N/A", "NA"),
    *("NULL", "NaN", "None", "n/a", "nan", "null"),
)


def words_with(marker: str) -> dict[str, Any]:
    """Return one column with a marker among words in every container, and a file of text and of Parquet."""
    words = ["yes", marker, "no", "yes"]
    other = [1, 2, 1, 2]
    return {
        "list": {"a": words, "b": other},
        "records": [{"a": word, "b": k} for word, k in zip(words, other, strict=True)],
        "strings": np.array([words, ["x", "y", "x", "y"]]).T,
        "objects": {"a": np.array(words, dtype=object), "b": other},
        "pandas": pd.DataFrame({"a": words, "b": other}),
        "pandas strings": pd.DataFrame({"a": pd.array(words, dtype="string"), "b": other}),
        "pandas categories": pd.DataFrame({"a": pd.Categorical(words), "b": other}),
        "polars": pl.DataFrame({"a": words, "b": other}),
        "polars categories": pl.DataFrame({"a": pl.Series(words, dtype=pl.Categorical), "b": other}),
        "arrow": pa.table({"a": words, "b": other}),
        "arrow dictionary": pa.table({"a": pa.array(words).dictionary_encode(), "b": other}),
    }


@pytest.mark.parametrize("marker", ["None", "NA", "nan", "#N/A N/A", "-1.#IND"])
def test_a_marker_among_words_is_in_doubt_in_every_container(marker: str, tmp_path: Path) -> None:
    sources = words_with(marker)
    sources["csv"] = write_csv(sources["list"], tmp_path / "t.csv")
    sources["parquet"] = tmp_path / "t.parquet"
    pq.write_table(sources["arrow"], sources["parquet"])
    for form, source in sources.items():
        first = "x0" if form == "strings" else "a"
        with pytest.raises(DataError, match=f"'{first}' must be clear about what is missing; it holds '{marker}'"):
            read(source)
        kept = read(source, types={first: "categorical"})
        assert sorted(map(str, kept.levels[0] or ())) == sorted(["yes", "no", marker]), form
        gone = read(source, missing_values=[marker], missing="drop_rows")
        assert gone.n_rows == 3, form


def test_only_declared_levels_stay_when_their_rows_are_dropped() -> None:
    frame = pl.DataFrame({"a": pl.Series(["x", "y", "x"], dtype=pl.Enum(["x", "y", "z"])), "b": [1, None, 2]})
    assert read(frame, missing="drop_rows").levels[0] == ("x",)
    assert read(frame, missing="drop_rows").unused == {"a": ("y", "z")}
    assert read(frame, missing="drop_rows", levels={"a": ["x", "y", "z"]}).levels[0] == ("x", "y", "z")
    assert read({"a": ["x", "y", "x"], "b": [1, None, 2]}, missing="drop_rows").levels[0] == ("x",)


def test_rows_that_did_not_occur_are_left_out() -> None:
    table = {"a": ["x", None, "y", "x"], "b": [1, 2, 3, 1], "w": [2, 0, 0.0, 1]}
    data = read(table, repeats="w")
    assert data.levels == (("x",), (1,))
    assert (data.n_records, data.n_rows) == (2, 3)
    assert data.missing.counts == {}


@pytest.mark.parametrize("policy", ["error", "drop_rows", "category"])
def test_a_column_that_is_all_missing(policy: str, tmp_path: Path) -> None:
    for cells in (["", ""], ["?", "?"], ["NaN", ""]):
        path = write_text(tmp_path, "a,b,c\n" + "".join(f"{cell},1,x\n" for cell in cells))
        with pytest.raises(DataError, match=r"'a' is missing in all 2 rows\. Leave it out"):
            read(path, missing=policy, missing_values=["?"])  # type: ignore[arg-type]
    with pytest.raises(DataError, match="'a' is missing in all 2 rows"):
        read(pd.DataFrame({"a": [None, None], "b": [1, 2]}), missing=policy)  # type: ignore[arg-type]


def test_too_few_complete_rows() -> None:
    table = {"a": [1, None, None], "b": [1, 2, None]}
    with pytest.raises(DataError, match=r"1 of 3 are complete\. The worst column is 'a' with 2 missing"):
        read(table, missing="drop_rows")


def test_unknown_policies_and_markers() -> None:
    with pytest.raises(InputError, match=r"missing must be one of 'error', 'drop_rows', 'category', .*; got 'drop'"):
        read(HOLES, missing="drop")  # type: ignore[arg-type]
    with pytest.raises(InputError, match=r"must be a list of values, not a string; got '\?'"):
        read(HOLES, missing_values="?")


def test_what_a_column_costs(tmp_path: Path) -> None:
    table: dict[str, list[Any]] = {name: [0, 1] * 50 for name in ("a", "b", "school")}
    table["school"][:30] = [None] * 30
    table["a"][25:31] = [None] * 6
    data = read(table, missing="drop_rows")
    assert data.missing.alone == {"a": 1, "school": 25}
    assert str(data.missing) == "missing: 'school' 30, 'a' 6; rows dropped: 31; drop=['school'] keeps 25 of them"
    assert read(table, drop=["school"], missing="drop_rows").n_rows == data.n_rows + 25
    with pytest.raises(DataError, match=r"31 of 100 rows, 25 of them only because of 'school' \(drop=\['school'\]\)"):
        read(table)
    packed = pack(table, tmp_path / "t.mnpack", missing="drop_rows")
    assert packed.missing == data.missing
    both = pack([tmp_path / "t.mnpack", table], tmp_path / "both.mnpack", missing="drop_rows")
    assert both.missing.alone == {"a": 2, "school": 50}
    seen = overview(table)
    assert seen.incomplete_rows == 31
    assert [variable.missing_alone for variable in seen.variables] == [1, 0, 25]
