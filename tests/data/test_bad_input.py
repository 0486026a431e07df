"""Bad input: each case raises an error that says what is wrong and how to fix it."""

from __future__ import annotations

import gzip
import os
import resource
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from data.tables import TABLE, write_csv, write_text
from mnlearn.data import overview, read
from mnlearn.errors import DataError, FileError, InputError, MnlearnError, UnknownNameError


@pytest.mark.parametrize(
    ("text", "error", "message"),
    [
        ("", FileError, "is empty"),
        ("\n\n\n", FileError, "is empty"),
        ("a,b\n", DataError, "must have rows below its header"),
        ("a,b", DataError, "must have rows below its header"),
        ("a,b\n\n\n", DataError, "must have rows below its header"),
        ("a,b\n1,2\n", DataError, r"at least 2 rows; .* has 1"),
        ("a\n1\n2\n", DataError, r"at least 2 variables; .* gives 1"),
        ("a;b\n1;2\n3;4\n", DataError, r"has one, 'a;b'\. It looks split at ';': pass delimiter=';'"),
        ("a\tb\n1\t2\n3\t4\n", DataError, r"pass delimiter='\\t'"),
        ("a,b\n1,2\n3,4,5\n", DataError, "must have 2 cells in every row, as in its header; line 3 has 3"),
        ("a,b\n1,2\n\n3\n", DataError, "line 4 has 1"),
        ("a,b,a\n1,2,3\n4,5,6\n", DataError, "column names must differ; 'a' occurs more than once"),
        ("a,b, a\n1,2,3\n4,5,6\n", DataError, "column names must differ; 'a' occurs more than once"),
        (",a,b\n0,1,2\n1,3,4\n", DataError, "column 1 has none.*columns="),
        ("a,b\n1,2\nx,3\n", DataError, r"types=\{'a': 'categorical'\}"),
        ("a,b\n1.5,2\ninf,3\n", DataError, "data row 2 holds inf"),
        ("a,b\n1,2\n-inf,3\n", DataError, "data row 2 holds -inf"),
        (b"a,b\n1,caf\xe9\n2,x\n", FileError, r"UTF-8 text; line 2 .* byte 0xe9.*Save the file again as UTF-8"),
        (b"a,caf\xe9\n1,2\n2,3\n", FileError, "UTF-8 text; line 1"),
        (b"a,b\n1,2\n" * 9000 + b"1,\xff,2\n", FileError, "UTF-8 text; line 18001"),
        ("a,b\n1,2\n3,4\n".encode("utf-16"), FileError, "must be UTF-8 text"),
        (b"\x89PNG\r\n\x1a\n\x00\x00\xff", FileError, "must be UTF-8 text"),
        ("# hi\na,b\n1,2\n", DataError, "begins with the comment '# hi'. Delete the lines above the header"),
        ("#a;b\n1;2\n", DataError, "pass delimiter=';'"),
        ("a b\n1 2\n3 4\n", DataError, "pass delimiter=' '"),
        ('a,b\n1,2\n"3,4\n5,6\n', DataError, "quote is never closed in the row that begins on line 3"),
        ('a,b\n"1,2\n3,4\n', DataError, "never closed in the row that begins on line 2"),
        ('a,"b\n1,2\n3,4\n', DataError, "never closed in the row that begins on line 1"),
        ('a,b\n1,2\n3,"4\n5,6\n', DataError, "never closed in the row that begins on line 3"),
        ('a,b\nx,y\nx,"y\nz,""y""\nx,y\n', DataError, "never closed in the row that begins on line 3"),
        ('a,b\nx,"y\nz"\nx,"y\nz,y\n', DataError, "never closed in the row that begins on line 4"),
        ('a,b\n1,2\n3,"4', DataError, "never closed in the row that begins on line 3"),
        ("a,b\n1,x\n0,y".encode("utf-16-le"), FileError, "holds null characters, as UTF-16 does"),
        ('a, "b"\n1,2\n3,4\n', DataError, "no blank between a delimiter and a quote; the header holds ' \"b\"'"),
        ('a,b\n1, "x"\n2,"x"\n', DataError, "no blank between a delimiter and a quote; data row 1 holds ' \"x\"'"),
        ('a,b\n"1,000,000",2\n"2,000,000",3\n', DataError, "nothing between digits; data row 1 holds '1,000,000'"),
        ("a,b\n1.000.000,2\n2.000.000,3\n", DataError, "data row 1 holds '1.000.000'.*types="),
        ("a,b\n1 000,2\n2 000,3\n", DataError, "data row 1 holds '1 000'"),
        ("a,b\n1'000,2\n2'000,3\n", DataError, 'data row 1 holds "1\'000"'),
        ('a,b\n"1,5e3",2\n"2,5",3\n', DataError, "data row 1 holds '1,5e3'"),
        ("a,b\n0x1F,2\n0x20,3\n", DataError, "data row 1 holds '0x1F'"),
        ("a,b\n\u22121.5,2\n\u22122.5,3\n", DataError, "nothing between digits"),
        ('a,b\n1,"x\n\n"\n2,"a ""b"", c",3\n', DataError, "line 5 has 3"),
        ("a,b\n" + "x" * 200_000 + ",1\ny,2,3\n", DataError, "line 3 has 3"),
        ('a,"' + "b\n" * 100_000, DataError, "never closed in the row that begins on line 1"),
    ],
)
def test_files_of_text(text: str | bytes, error: type[MnlearnError], message: str, tmp_path: Path) -> None:
    for name in ("table.csv", "table.csv.gz"):
        path = write_text(tmp_path, text, name)
        with pytest.raises(error, match=message):
            read(path)


def test_nameless_columns_can_be_left_out(tmp_path: Path) -> None:
    path = write_text(tmp_path, ",a,b\n0,1,2\n1,3,4\n")
    assert read(path, columns=["b", "a"]).names == ("b", "a")


def test_every_mixed_column_is_named_at_once(tmp_path: Path) -> None:
    path = write_text(tmp_path, "a,b,c\n1,1,1\nx,y,2\n")
    with pytest.raises(DataError, match=r"column 'a' must hold one type.*So do 1 more: 'b'"):
        read(path)
    with pytest.raises(DataError, match=r"column 'a' must hold one type.*So do 1 more: 'b'"):
        read({"a": [1, "x"], "b": [True, 1], "c": [1, 2]})


def test_paths(tmp_path: Path) -> None:
    write_csv(TABLE, tmp_path / "survey.csv")
    with pytest.raises(FileError, match=r"there is no .*survy\.csv\. Did you mean 'survey\.csv'\?"):
        read(tmp_path / "survy.csv")
    with pytest.raises(FileError, match="Check the spelling"):
        read(tmp_path / "nowhere" / "x.csv")
    with pytest.raises(FileError, match="is a directory"):
        read(tmp_path)
    with pytest.raises(FileError, match=r"must end in one of \.csv, .*\.xlsx.*got 'survey\.numbers'.*pass delimiter"):
        read(write_text(tmp_path, "a,b\n", "survey.numbers"))
    with pytest.raises(FileError, match="is a Parquet file by its name"):
        read(write_text(tmp_path, "a,b\n", "survey.parquet"), delimiter=",")


@pytest.mark.parametrize("name", ["t.csv", "t.csv.gz", "t.parquet"])
def test_pipes_and_devices_raise_an_error(name: str, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / name)
    (tmp_path / f"link-{name}").symlink_to(name)
    (tmp_path / f"null-{name}").symlink_to("/dev/null")
    for path in (name, f"link-{name}", f"null-{name}"):
        with pytest.raises(FileError, match=r"is a pipe or a device\. Save it to disk first"):
            read(tmp_path / path)


def test_a_link_to_a_file_is_a_file(tmp_path: Path) -> None:
    write_csv(TABLE, tmp_path / "t.csv")
    (tmp_path / "link.csv").symlink_to("t.csv")
    assert read(tmp_path / "link.csv").n_rows == 6


def test_gzipped_under_another_name(tmp_path: Path) -> None:
    packed = gzip.compress(b"a,b\n1,2\n3,4\n")
    with pytest.raises(FileError, match=r"looks gzipped\. Name it t\.csv\.gz"):
        read(write_text(tmp_path, packed, "t.csv"))
    with pytest.raises(FileError, match=r"looks gzipped twice\. Unpack it once"):
        read(write_text(tmp_path, packed, "t.csv.gz"))


@pytest.mark.skipif(os.geteuid() == 0, reason="root may open everything")
def test_a_file_without_permission(tmp_path: Path) -> None:
    path = write_csv(TABLE, tmp_path / "t.csv")
    path.chmod(0)
    with pytest.raises(FileError, match="Permission denied"):
        read(path)


@pytest.mark.parametrize("damage", ["cut", "tail", "checksum", "plain", "none"])
def test_damaged_gzip(damage: str, tmp_path: Path) -> None:
    packed = gzip.compress(b"a,b\n" + b"".join(b"%d,%d\n" % (k % 7, k % 13) for k in range(20_000)))
    broken = {
        "cut": packed[: len(packed) // 2],
        "tail": packed[:-3],
        "checksum": packed[:-8] + b"\x00\x00\x00\x00" + packed[-4:],
        "plain": b"a,b\n1,2\n3,4\n",
        "none": b"",
    }[damage]
    path = tmp_path / "t.csv.gz"
    path.write_bytes(broken)
    with pytest.raises(FileError, match="is empty" if damage == "none" else "damaged, cut short or of another format"):
        read(path)


@pytest.mark.parametrize("name", ["t.parquet", "t.parquet.gz"])
@pytest.mark.parametrize("kept", [0, 0.001, 0.1, 0.5, 0.99])
def test_truncated_parquet(name: str, kept: float, tmp_path: Path) -> None:
    pq.write_table(pa.table({"a": list(range(1000)), "b": ["x", "y"] * 500}), tmp_path / "whole.parquet")
    whole = (tmp_path / "whole.parquet").read_bytes()
    with pytest.raises(FileError, match=r"must be an intact Parquet file.*Write or copy it again"):
        read(write_text(tmp_path, whole[: int(kept * len(whole))], name))


def test_parquet_with_damaged_pages(tmp_path: Path) -> None:
    path = tmp_path / "t.parquet"
    pq.write_table(pa.table({"a": list(range(5000)), "b": ["x", "y"] * 2500}), path, compression="gzip")
    content = bytearray(path.read_bytes())
    content[200:1200] = bytes(1000)
    path.write_bytes(content)
    with pytest.raises(FileError, match="must be an intact Parquet file"):
        read(path)


def test_text_under_a_parquet_name(tmp_path: Path) -> None:
    with pytest.raises(FileError, match="must be an intact Parquet file"):
        read(write_text(tmp_path, "a,b\n1,2\n3,4\n", "t.parquet"))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"columns": ["size", "hight"]}, r"columns: column 'hight' does not exist\. Did you mean 'height'"),
        ({"types": {"hight": "continuous"}}, "types: column 'hight' does not exist"),
        ({"levels": {"hight": [1]}}, "levels: column 'hight' does not exist"),
        ({"repeats": "weight"}, "repeats: column 'weight' does not exist"),
    ],
)
def test_unknown_columns(options: dict[str, object], message: str, tmp_path: Path) -> None:
    for source in (TABLE, pl.DataFrame(TABLE), write_csv(TABLE, tmp_path / "t.csv")):
        with pytest.raises(UnknownNameError, match=message):
            read(source, **options)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"columns": "size"}, r"columns must be a list of names.*Use \['size'\]"),
        ({"columns": ["size", "size"]}, "columns must name each column once"),
        ({"columns": ["size"]}, "at least 2 variables"),
        (
            {"types": {"size": "discrete"}},
            "must be one of 'nominal', 'ordinal', .*; got 'discrete'",
        ),
        ({"types": {"size": "continuous"}}, "must hold numbers.*data row 1 holds 'small'"),
        ({"levels": {"size": "small"}}, "must be a list of labels"),
        ({"levels": {"size": []}}, "1 to 65,535 different labels; got 0"),
        ({"levels": {"size": ["small", "small"]}}, "got 2, 1 different"),
        ({"levels": {"size": ["small", None]}}, "must not list None or NaN"),
        ({"levels": {"size": [["small"]]}}, "must be hashable"),
        ({"levels": {"size": ["small"]}}, "also hold 'large', 'middle'"),
        (
            {"levels": {"size": ["small"]}, "types": {"size": "continuous"}},
            "cannot be declared for a column of",
        ),
        ({"delimiter": ","}, "delimiter is for text files"),
        ({"delimiter": "::"}, "delimiter must be one ASCII character"),
        ({"delimiter": ""}, "delimiter must be one ASCII character"),
        ({"delimiter": "é"}, "delimiter must be one ASCII character, .*; got 'é'"),
        ({"delimiter": "\0"}, "delimiter must be one ASCII character"),
        ({"delimiter": 9}, "delimiter must be one ASCII character"),
    ],
)
def test_options(options: dict[str, object], message: str) -> None:
    with pytest.raises(InputError, match=message):
        read(TABLE, **options)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("source", "message"),
    [
        (7, "source must be a path, a data frame"),
        (pl.Series([1, 2]), "source must be a path, a data frame"),
        ([1, 2, 3], "record 1 is 1"),
        (["ab", "cd"], "record 1 is 'ab'"),
        ([(1, 2), (3,)], "record 2 has 1 values, the first has 2"),
        ([{"a": 1, "b": 1}, (1, 2)], "record 2 is not a dict"),
        ([], "at least 2 rows"),
        ({}, "at least 2 rows"),
        ({"a": [1, 2], "b": [1]}, "must have one length"),
        ({"a": 1, "b": [1]}, "the single value 1"),
        ({"a": {0: 5, 1: 6}, "b": {0: 7, 1: 8}}, r"'a' is a dict\. .*df\.to_dict\('list'\)"),
        (pd.DataFrame({"a": [5, 6], "b": [7, 8]}).to_dict(), "'a' is a dict"),
        ({"a": {5, 6}, "b": [7, 8]}, r"'a' is a set\. Turn it into a list"),
        ({"a": [5, 6], "b": frozenset({7, 8})}, "'b' is a frozenset"),
        ({"a": np.array(3), "b": [1, 2]}, r"the single value array\(3\)"),
        ([np.array(1), np.array(2)], r"record 1 is array\(1\)"),
        ({"a": [[1], [2]], "b": [1, 2]}, "must hold single values: .*; data row 1 holds a list"),
        ({"a": np.zeros((2, 2)), "b": [1, 2]}, "must be 1-D"),
        ({1: [1, 2], "1": [3, 4]}, "'1' occurs more than once"),
        (pd.DataFrame(), "at least 2 rows"),
        (pd.DataFrame({"a": [], "b": []}), "at least 2 rows; the data frame has 0"),
        (pd.DataFrame([[1, 2], [3, 4]], columns=["a", "a"]), "'a' occurs more than once"),
        (
            pd.DataFrame({"a": [1, "x", 2.5], "b": [1, 2, 3]}),
            r"whole numbers \(1, data row 1\) and text \('x', data row 2",
        ),
        (pd.DataFrame({"a": [1.5, np.inf], "b": [1, 2]}), "data row 2 holds inf"),
        (pa.table([[1, 2], [3, 4]], names=["a", "a"]), "'a' occurs more than once"),
        (pa.table({"a": [[1], [2]], "b": [1, 2]}), "must hold single values: .*; it holds list"),
        (np.zeros(3), r"2-D array, one row per record; got shape \(3,\)"),
        (np.zeros((1, 3)), "at least 2 rows; the array has 1"),
        (np.zeros((3, 1)), "at least 2 variables; the array gives 1"),
        (np.array([[1.5, np.nan], [1, 2]]), "missing values: 'x1' 1"),
    ],
)
def test_sources(source: object, message: str) -> None:
    with pytest.raises(InputError, match=message):
        read(source)


class NoTable:
    """An Arrow stream of something other than a table."""

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        return pa.chunked_array([[1, 2]]).__arrow_c_stream__(requested_schema)


def test_arrow_that_cannot_be_read() -> None:
    runs = pa.RunEndEncodedArray.from_arrays([1, 3], ["x", "y"])
    for source in (pa.table({"a": runs, "b": [1, 2, 3]}), NoTable()):
        with pytest.raises(DataError, match=r"must be an Arrow stream that can be read|must hold single values"):
            read(source)


def test_types_that_cannot_become_numbers() -> None:
    frame = pd.DataFrame({"d": pd.to_datetime(["2020", "2021"]), "c": pd.Categorical(["x", "y"])})
    for name in frame.columns:
        with pytest.raises(DataError, match="continuous"):
            read(frame, types={name: "continuous"})


@pytest.mark.parametrize(
    ("values", "found"),
    [
        ([1j, 2j], "data row 1 holds a complex number"),
        (np.array([1, 2j]), "data row 1 holds a complex number"),
        (pd.Series([1j, 2j]), "data row 1 holds a complex number"),
        ([(1, 2), (3, 4)], "data row 1 holds a tuple, several values in one"),
        ([{"x": 1}, {"x": 2}], "data row 1 holds a dict, several values in one"),
        ([frozenset("a"), frozenset("b")], "holds a frozenset"),
        (["a", ["b"]], "data row 2 holds a list"),
        ([b"a", b"b"], "data row 1 holds bytes"),
        (np.array([b"a", b"b"]), "data row 1 holds bytes"),
        (np.array([(1, 2), (3, 4)], dtype="i4,i4"), "holds a tuple"),
        ([np.array([1, 2]), np.array([3, 4])], "holds an array of shape"),
        ([object(), object()], "an object of type object, not a value"),
        ([len, print], "not a value"),
        (pd.Series([(1, 2), (3, 4)]).astype("category"), "a category is a tuple"),
        (pd.Series([(1, 2), (3, 4)]), "holds a tuple"),
        (pl.Series([[1], [2]]), "it holds large_list"),
        (pl.Series([{"x": 1}, {"x": 2}]), "it holds struct"),
        (pl.Series([b"a", b"b"]), "it holds large_binary"),
        (pa.array([b"a", b"b"], pa.binary(1)), "it holds fixed_size_binary"),
        (pa.array([[1], [2]]), "it holds list"),
    ],
)
@pytest.mark.parametrize("types", [None, {"a": "categorical"}])
def test_values_that_are_not_single_are_no_categories(values: Any, found: str, types: Any) -> None:
    with pytest.raises(DataError, match=f"'a' must hold single values: .*; .*{found}.* drop="):
        read({"a": values, "b": [1, 2]}, types=types)


@pytest.mark.parametrize("values", [[True, 1], [False, 0.0], [np.True_, 1], [1, True, 2], [True, Decimal(1)]])
@pytest.mark.parametrize("types", [None, {"a": "categorical"}])
def test_true_and_one_are_never_one_label(values: Any, types: Any) -> None:
    with pytest.raises(DataError, match=r"it mixes .*numbers.*turn all of them into strings if both are labels"):
        read({"a": values, "b": list(range(len(values)))}, types=types)


@pytest.mark.parametrize("values", [[True, False], np.array([True, False]), pa.array([True, False])])
def test_true_is_not_the_declared_level_one(values: Any, tmp_path: Path) -> None:
    for source in ({"a": values, "b": [1, 2]}, write_text(tmp_path, "a,b\ntrue,1\n1,2\n")):
        with pytest.raises(DataError, match=r"levels\['a'\] must list every value"):
            read(source, levels={"a": [0, 1]})
    assert read({"a": values, "b": [1, 2]}, levels={"a": [True, False]}).columns[0].tolist() == [0, 1]


def test_equal_digits_and_numbers_stay_two_labels() -> None:
    assert read({"a": [1, "1", 1], "b": [1, 2, 3]}, types={"a": "categorical"}).levels[0] == (1, "1")


@pytest.mark.parametrize("labels", [[(1, 2)], [1j], [b"a"], [object()]])
def test_levels_must_be_single_values_too(labels: Any) -> None:
    with pytest.raises(InputError, match=r"levels\['a'\] must be single values"):
        read({"a": [1, 2], "b": [1, 2]}, levels={"a": labels})


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        ([1, -1], "whole numbers from 0 .*data row 2 holds -1.0"),
        ([1, 0.5], "data row 2 holds 0.5"),
        ([1, None], "data row 2 holds nothing"),
        (["1", "x"], "repeats: column 'w' must hold whole numbers; data row 2 holds 'x'"),
        ([1e300, 1], "data row 1 holds 1e"),
        ([1, 0], "at least 2 rows that occurred"),
    ],
)
def test_repeats(weights: list[object], message: str) -> None:
    with pytest.raises(DataError, match=message):
        read({"a": [1, 2], "b": [3, 4], "w": weights}, repeats="w")


def batches(made: list[int]) -> Iterator[pa.RecordBatch]:
    """Yield ten million different labels, a batch at a time, and count those that were read."""
    for start in range(0, 10_000_000, 20_000):
        made.append(start)
        yield pa.record_batch({"id": [f"label {k}" for k in range(start, start + 20_000)], "b": [0, 1] * 10_000})


def test_a_million_categories_stop_the_reading_early(tmp_path: Path) -> None:
    made: list[int] = []
    reader = pa.RecordBatchReader.from_batches(next(batches([])).schema, batches(made))
    with pytest.raises(DataError, match="'id' must have at most 65,535 distinct values"):
        read(reader)
    assert len(made) <= 5
    words = write_text(tmp_path, "id,b\n" + "".join(f"w{k},{k % 2}\n" for k in range(1_000_000)), "words.csv")
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with pytest.raises(DataError, match=r"at most 65,535 distinct .*types=\{'id': 'continuous'\}"):
        read(words)
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 100_000  # kB
    path = write_text(tmp_path, "id,b\n" + "".join(f"{k},{k % 2}\n" for k in range(1_000_000)))
    with pytest.raises(DataError, match=r"1,000,000 different whole numbers, .*types=\{'id': 'continuous'\}"):
        read(path)
    assert read(np.arange(2_000_000).reshape(-1, 2)).cards == (0, 0)
    assert read(path, types={"id": "continuous"}).cards == (0, 2)


def test_the_largest_number_of_categories() -> None:
    table = {"a": np.arange(65_535), "b": np.arange(65_535) % 2}
    as_labels: Any = {"a": "categorical"}
    assert read(table, types=as_labels).cards == (65_535, 2)
    holes = {"a": pd.array([*range(65_535), None], dtype="Int64"), "b": np.arange(65_536) % 2}
    assert read(holes, missing="drop_rows", types=as_labels).cards == (65_535, 2)
    with pytest.raises(DataError, match="at most 65,535"):
        read(holes, missing="category", types=as_labels)
    frame = pd.DataFrame({"a": pd.Categorical([0, 1], categories=range(65_536)), "b": [1, 2]})
    assert read(frame).cards == (2, 2)
    frame = pd.DataFrame({"a": pd.Categorical(range(65_536)), "b": np.arange(65_536) % 2})
    with pytest.raises(DataError, match="at most 65,535"):
        read(frame)


def test_overview_rejects_bad_sources(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="at least 2 rows"):
        overview(write_text(tmp_path, "a,b\n1,2\n"))
    with pytest.raises(FileError, match="there is no"):
        overview(tmp_path / "none.csv")


class Pair(NamedTuple):
    a: int
    b: int


class Swapped(NamedTuple):
    b: int
    a: int


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ([Pair(1, 2), Swapped(2, 1)], r"record 2 has \('b', 'a'\), the first has \('a', 'b'\).*_asdict"),
        ([Pair(1, 2), (2, 1)], "record 2 has None"),
        ({"a": pd.Series([1, 2], index=[5, 6]), "b": pd.Series([1, 2], index=[6, 5])}, "'b' has another one than 'a'"),
        ({"a": pd.DataFrame({"z": [1, 2]}), "b": [1, 2]}, "'a' is a DataFrame"),
        ({"a": pl.DataFrame({"z": [1, 2]}), "b": [1, 2]}, "'a' is a DataFrame"),
        (np.ones((3, 2), dtype=np.clongdouble), "data row 1 holds a complex number"),
        ([1, 2], "record 1 is 1. Put the values of each row"),
    ],
    ids=str,
)
def test_rows_that_do_not_belong_together_are_refused(source: Any, message: str) -> None:
    with pytest.raises(MnlearnError, match=message):
        read(source)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"columns": {"a", "b"}}, "columns must be a list of names; got .*, which has no order. Use a list"),
        ({"levels": {"a": {"x", "y"}}}, r"levels\['a'\] must be a list of labels; got .*, which has no order"),
        ({"levels": {"a": {"x": 1, "y": 2}}}, r"levels\['a'\] must be a list of labels"),
        ({"missing_values": {"a": ["x"]}}, "missing_values must be a list of values for all columns, not a dict"),
    ],
    ids=["columns", "levels", "levels by number", "markers"],
)
def test_options_without_an_order_or_with_names_are_refused(options: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        read({"a": ["x", "y"], "b": [0, 1]}, **options)


def test_options_that_can_be_read_once_are_read_once() -> None:
    data = read({"a": ["x", "y"], "b": [0, 1]}, columns=(name for name in "ba"), levels={"a": (x for x in "yx")})  # type: ignore[arg-type, dict-item]
    assert data.names == ("b", "a")
    assert data.levels == ((0, 1), ("y", "x"))
    labels = read({"a": ["x", "y"], "b": [0, 1]}, levels={"b": np.array([1, 0])}).levels[1]  # type: ignore[dict-item]
    assert [type(label) for label in labels or ()] == [int, int]


def test_extended_precision_is_read_as_numbers() -> None:
    numbers = np.array([[1.5, 0.5], [2.0, 1.0]], dtype=np.longdouble)
    for source in (numbers, pd.DataFrame(numbers, columns=["x0", "x1"]), [tuple(row) for row in numbers]):
        assert [column.tolist() for column in read(source).columns] == [[1.5, 2.0], [0.5, 1.0]]


def test_repeats_that_are_no_numbers_are_named() -> None:
    frame = pd.DataFrame({"a": [0, 1], "b": [1, 0], "w": pd.Categorical([1, 2])})
    with pytest.raises(DataError, match="repeats: column 'w' must hold whole numbers; it holds categories"):
        read(frame, repeats="w")


def test_quotes_that_are_closed_are_no_fault(tmp_path: Path) -> None:
    data = read(write_text(tmp_path, 'a,"""b"""\n1,"x ""y"""\n2,"z"'))
    assert data.names == ("a", '"b"')
    assert data.levels[1] == ('x "y"', "z")


def test_words_with_digits_stay_labels(tmp_path: Path) -> None:
    data = read(write_text(tmp_path, "a,b\n192.168.0.1,1.2.3\n10.0.0.1,1.2.4\n"))
    assert data.cards == (2, 2)
