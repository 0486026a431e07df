"""Reading: one table from every source, the types of columns, and the options that override them."""

from __future__ import annotations

import datetime as dt
import json
import subprocess
import sys
from collections.abc import Hashable
from enum import Enum
from fractions import Fraction
from pathlib import Path
from uuid import UUID

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from data.tables import FORMS, TABLE, Columns, assert_same, in_form, write_csv, write_text
from mnlearn.data import Dataset, pack, read
from mnlearn.data.readers import read_rows
from mnlearn.errors import DataError, InputError


class Color(Enum):
    """Labels that are neither strings nor numbers."""

    RED = 1
    GREEN = 2


@pytest.fixture(scope="module")
def expected() -> Dataset:
    """Return the shared table, coded by hand."""
    return Dataset(
        names=("size", "answer", "wet", "height"),
        cards=(3, 2, 2, 0),
        columns=(
            np.array([2, 0, 2, 1, 0, 2], dtype=np.uint8),
            np.array([0, 1, 1, 0, 0, 1], dtype=np.uint8),
            np.array([1, 0, 0, 1, 1, 0], dtype=np.uint8),
            np.array(TABLE["height"]),
        ),
        levels=(("large", "middle", "small"), (1, 2), (False, True), None),
    )


@pytest.mark.parametrize("form", FORMS)
def test_every_source_gives_the_same_data(form: str, tmp_path: Path, expected: Dataset) -> None:
    data = read(in_form(form, TABLE, tmp_path))
    assert_same(data, expected)
    assert data.missing.counts == {}


@pytest.mark.parametrize("form", FORMS)
def test_every_source_can_be_restricted_to_columns(form: str, tmp_path: Path, expected: Dataset) -> None:
    data = read(in_form(form, TABLE, tmp_path), columns=["height", "size"], types={"answer": "continuous"})
    assert_same(data, expected.select(["height", "size"]))


@pytest.mark.parametrize("form", FORMS)
def test_every_source_can_hold_repeats(form: str, tmp_path: Path, expected: Dataset) -> None:
    weighted: Columns = {**TABLE, "weight": [1, 2, 3, 4, 5, 6]}
    data = read(in_form(form, weighted, tmp_path), repeats="weight")
    assert data.names == expected.names
    assert data.n_rows == 21
    assert data.repeats is not None
    assert data.repeats.tolist() == weighted["weight"]


@given(st.lists(st.tuples(st.sampled_from("xyz"), st.integers(-3, 3)), min_size=2, max_size=20), st.randoms())
def test_row_order_does_not_matter(rows: list[tuple[str, int]], random: object) -> None:
    order = list(range(len(rows)))
    random.shuffle(order)  # type: ignore[attr-defined]
    straight, shuffled = read(rows), read([rows[k] for k in order])
    assert straight.levels == shuffled.levels
    for mine, theirs in zip(straight.columns, shuffled.columns, strict=True):
        np.testing.assert_array_equal(mine[order], theirs)


@pytest.mark.parametrize("coding", [(0, 1), (1, 2), (-1, 1), (False, True), ("no", "yes"), (2**40, 2**41), (-10, -9)])
def test_any_coding_gives_the_same_codes(coding: tuple[object, object], tmp_path: Path) -> None:
    bits = np.random.default_rng(0).integers(0, 2, (30, 3))
    table: Columns = {f"x{j}": [coding[bit] for bit in bits[:, j]] for j in range(3)}
    for source in (table, write_csv(table, tmp_path / "t.csv"), pd.DataFrame(table)):
        np.testing.assert_array_equal(np.column_stack(read(source).columns), bits)


@pytest.mark.parametrize("kind", [np.int8, np.uint64, np.bool_, np.float32, np.float16, ">i4", "U5", object])
def test_arrays_of_every_kind(kind: object) -> None:
    array = np.array([[0, 1, 1], [1, 0, 1]]).astype(kind)  # type: ignore[call-overload]
    data = read(array)
    assert data.names == ("x0", "x1", "x2")
    assert data.cards == ((0, 0, 0) if np.dtype(kind).kind == "f" else (2, 2, 1))  # type: ignore[call-overload]
    assert_same(read(np.asfortranarray(array)), data)


def test_masked_values_are_missing() -> None:
    whole = np.ma.array([[0, 1], [1, 0], [1, 1]], mask=np.array([[0, 0], [0, 0], [1, 0]], dtype=bool))
    assert read(whole, missing="drop_rows").n_rows == 2
    assert read(whole.astype(float), missing="drop_rows").missing.counts == {"x0": 1}


def test_lists_of_rows() -> None:
    assert_same(read([[1, "a"], [2, "b"]]), read(((1, "a"), (2, "b"))))
    assert read([{"a": 1, "b": 2}, {"b": 3, "c": 4, "a": 2}, {"a": 1}], missing="category").levels == (
        (1, 2),
        (2, 3, None),
        (4, None),
    )


def test_labels_can_be_any_single_value() -> None:
    data = read(
        {
            "color": [Color.RED, Color.GREEN, Color.GREEN, Color.RED],
            "day": [dt.date(2021, 1, 1), dt.date(2020, 5, 5), dt.date(2020, 5, 5), dt.date(2019, 1, 1)],
            "huge": [2**70, -(2**70), 5, 5],
            "share": [Fraction(1, 2), Fraction(1, 3), Fraction(1, 3), Fraction(1, 2)],
        }
    )
    assert data.cards == (2, 3, 3, 2)
    assert data.levels[0] == (Color.GREEN, Color.RED)
    assert data.levels[1] == (dt.date(2019, 1, 1), dt.date(2020, 5, 5), dt.date(2021, 1, 1))
    assert data.levels[2] == (-(2**70), 5, 2**70)
    assert data.levels[3] == (Fraction(1, 3), Fraction(1, 2))


def test_other_sequences_are_columns_too() -> None:
    table = read({"a": range(3), "b": (n % 2 for n in range(3)), "c": {"x": 1, "y": 2, "z": 1}.values()})
    assert table.levels == ((0, 1, 2), (0, 1), (1, 2))


DAY, NOON, EVENING = dt.date(2020, 1, 1), dt.datetime(2020, 1, 1, 12, 30), dt.datetime(2020, 1, 1, 18)


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ([DAY, NOON, EVENING, dt.date(2020, 1, 2)], "mixes date .* and datetime|mixes datetime .* and date"),
        ([DAY, 1, 2, 3], "mixes"),
        ([NOON, 1, 2, 3], "mixes"),
        ([1.5, True, 2.5, False], "mixes"),
        ([1, np.True_, 2, 3], "mixes"),
    ],
)
def test_mixtures_are_refused_in_any_order(values: list[object], message: str) -> None:
    for turn in range(4):
        turned: list[object] = [*values[turn:], *values[:turn]]
        for column in (turned, [None, *turned], [float("nan"), *turned]):
            with pytest.raises(DataError, match=message):
                read({"a": column, "b": range(len(column))})


def test_declared_mixtures_of_dates_and_times_keep_every_label() -> None:
    for values in ([DAY, NOON, EVENING], [EVENING, DAY, NOON]):
        data = read({"a": values, "b": [0, 1, 0]}, types={"a": "categorical"})
        assert data.levels[0] == (DAY, NOON, EVENING)


def test_times_keep_their_zone_and_their_nanoseconds() -> None:
    aware = NOON.replace(tzinfo=dt.UTC)
    for values in ([NOON, aware], [aware, NOON]):
        assert set(read({"a": values, "b": [0, 1]}).levels[0] or ()) == {NOON, aware}
    close = [pd.Timestamp(1), pd.Timestamp(2), pd.NaT]
    data = read({"a": close, "b": [0, 1, 0]}, missing="drop_rows")
    assert data.levels[0] == tuple(close[:2])
    assert read({"a": [NOON, pd.Timestamp(EVENING)], "b": [0, 1]}).cards == (2, 2)


def test_small_index_types_can_mark_missing_values(tmp_path: Path) -> None:
    for kind, size in ((pa.int8(), 128), (pa.uint8(), 256)):
        labels = [f"label {k}" for k in range(size)]
        column = pa.DictionaryArray.from_arrays(pa.array([*range(size), None], kind), labels)
        data = read(pa.table({"x": column, "y": np.arange(size + 1) % 2}), missing="category")
        assert data.levels[0] == (*labels, None)
        assert data.columns[0].tolist() == list(range(size + 1))


def test_uuids_are_read_as_strings(tmp_path: Path) -> None:
    ids = [UUID(int=2), None, UUID(int=1), UUID(int=2)]
    table = pa.table({"id": pa.array([i and i.bytes for i in ids], pa.uuid()), "y": [1, 2, 3, 4]})
    pq.write_table(table, tmp_path / "t.parquet")
    for source in (table, tmp_path / "t.parquet"):
        data = read(source, missing="category")
        assert data.levels[0] == (str(UUID(int=1)), str(UUID(int=2)), None)
        assert data.columns[0].tolist() == [1, 2, 0, 1]


def test_categories_of_frames_that_occur_count_and_keep_their_order() -> None:
    labels = ["b", "a", "b", "a"]
    categories = ["z", "b", "y", "a", "x"]
    sources = [
        pd.DataFrame({"x": pd.Categorical(labels, categories=categories), "y": [1, 2, 3, 4]}),
        pl.DataFrame({"x": pl.Series(labels, dtype=pl.Enum(categories)), "y": [1, 2, 3, 4]}),
        pa.table({"x": pa.DictionaryArray.from_arrays([1, 3, 1, 3], categories), "y": [1, 2, 3, 4]}),
    ]
    for source in sources:
        data = read(source)
        assert (data.levels[0], data.cards[0], data.columns[0].tolist()) == (("b", "a"), 2, [0, 1, 0, 1])
        assert (data.declared, dict(data.unused)) == (frozenset(), {"x": ("z", "y", "x")})
        assert data.select(["y"]).unused == {}
        declared = read(source, levels={"x": categories})
        assert (declared.cards[0], set(declared.declared), declared.unused == {}) == (5, {"x"}, True)


def test_a_dictionary_of_which_the_rows_use_a_small_part() -> None:
    size = 70_000  # more than a variable can have states
    rows = np.arange(200_000) % 3 + size - 3
    index = pa.array(rows, mask=np.arange(200_000) == 5)
    table = pa.table({"x": pa.DictionaryArray.from_arrays(index, pa.array(range(size))), "y": np.arange(200_000) % 2})
    data = read(table, missing="category")
    assert (data.levels[0], len(data.unused["x"])) == ((69_997, 69_998, 69_999, None), 69_997)
    assert data.columns[0][:7].tolist() == [0, 1, 2, 0, 1, 3, 0]
    frame = pd.DataFrame({"x": pd.Categorical(rows[:4], categories=range(size)), "y": [1, 2, 3, 4]})
    assert read(frame).levels[0] == (69_997, 69_998, 69_999)


@pytest.mark.parametrize("kind", [pa.int8(), pa.uint8(), pa.uint32(), pa.uint64()])
def test_positions_in_a_dictionary_of_any_type(kind: pa.DataType) -> None:
    places = pa.array([2, 0, None, 2], kind)
    table = pa.table({"x": pa.DictionaryArray.from_arrays(places, ["a", "b", "c"]), "y": [1, 2, 3, 4]})
    data = read(table, missing="category")
    assert (data.levels[0], data.columns[0].tolist()) == (("a", "c", None), [1, 0, 2, 1])


def test_positions_outside_their_dictionary_are_refused() -> None:
    for wrong in (3, -1):
        broken = pa.DictionaryArray.from_arrays(pa.array([0, wrong, 1]), pa.array(["a", "b", "c"]), safe=False)
        with pytest.raises(DataError, match="positions in a dictionary must be from 0 to 2; got"):
            read(pa.table({"x": broken, "y": [1, 2, 3]}))


def test_categories_survive_parquet(tmp_path: Path) -> None:
    frame = pd.DataFrame({"x": pd.Categorical(["c", "a", "c"], categories=["c", "b", "a"]), "y": ["a", "b", "a"]})
    frame.to_parquet(tmp_path / "t.parquet")
    assert read(tmp_path / "t.parquet").levels == (("c", "a"), ("a", "b"))


def test_categories_of_any_kind_and_without_rows() -> None:
    low, middle, high = pd.interval_range(0, 3)
    ages = pd.Series(pd.Categorical([low, middle, low], categories=[middle, low, high]))
    numbers = pd.Series(pd.Categorical([0.5, None, 0.25]))
    data = read({"ages": ages, "numbers": numbers}, missing="category")
    assert data.levels == ((middle, low), (0.25, 0.5, None))
    kept = read({"ages": ages, "y": [1, 2, 3]}, levels={"ages": [low, middle]})
    assert kept.levels[0] == (low, middle)


def test_levels_of_a_polars_categorical_are_sorted() -> None:
    frame = pl.DataFrame({"x": pl.Series(["b", "a", "b"], dtype=pl.Categorical), "y": [1, 2, 3]})
    assert read(frame).levels[0] == ("a", "b")


def test_less_usual_columns_of_frames() -> None:
    frame = pd.DataFrame(
        {
            "sparse": pd.arrays.SparseArray([0, 1, 0]),
            "period": pd.period_range("2020-01", periods=3, freq="M"),
            "nullable": pd.array([1, None, 2], dtype="Int64"),
            "when": pd.Series(["2020-01-02", "2020-01-01", None], dtype="datetime64[ns]"),
            "flag": [True, None, False],
        }
    )
    data = read(frame, missing="category")
    assert data.cards == (2, 3, 3, 3, 3)
    assert data.levels[3] == (dt.datetime(2020, 1, 1), dt.datetime(2020, 1, 2), None)
    objects = pl.DataFrame({"o": pl.Series([Fraction(1, 2), Fraction(1, 3)] * 2, dtype=pl.Object), "d": [1, 2, 3, 4]})
    assert read(objects).levels[0] == (Fraction(1, 3), Fraction(1, 2))
    decimals = pa.table(
        {"d": pa.array([1, 2, 3], pa.decimal128(5, 2)), "v": pa.array(["a", "b", "a"], pa.string_view())}
    )
    assert read(decimals).cards == (0, 2)


def test_types_override_the_choice(tmp_path: Path) -> None:
    for source in (TABLE, write_csv(TABLE, tmp_path / "t.csv"), pl.DataFrame(TABLE)):
        data = read(source, types={"answer": "continuous", "height": "categorical"})
        assert data.cards == (3, 0, 2, 6)
        assert data.levels[3] == (-3.0, 1e-9, 0.125, 1.5, 2.0, 2.25)
        assert data.columns[1].tolist() == [1.0, 2.0, 2.0, 1.0, 1.0, 2.0]


def test_strings_of_a_frame_stay_strings_unless_declared_continuous() -> None:
    frame = pd.DataFrame({"n": ["10", "9", "9.5"], "y": [1, 2, 3]})
    assert read(frame).levels[0] == ("10", "9", "9.5")
    assert read(frame, types={"n": "continuous"}).columns[0].tolist() == [10, 9, 9.5]
    coded = pa.table({"n": pa.array(["10", "9", None]).dictionary_encode(), "y": [1, 2, 3]})
    assert read(coded, types={"n": "continuous"}, missing="drop_rows").columns[0].tolist() == [10, 9]


def test_declared_levels_keep_their_order_and_count(tmp_path: Path) -> None:
    declared: dict[str, list[Hashable]] = {
        "size": ["small", "middle", "large", "huge"],
        "answer": [3, 2, 1],
        "wet": [True, False],
    }
    for source in (TABLE, write_csv(TABLE, tmp_path / "t.csv"), pd.DataFrame(TABLE)):
        data = read(source, levels=declared)
        assert data.cards == (4, 3, 2, 0)
        assert data.levels[0] == ("small", "middle", "large", "huge")
        assert data.columns[1].tolist() == [2, 1, 1, 2, 2, 1]
        assert data.columns[2].tolist() == [0, 1, 1, 0, 0, 1]


def test_declared_strings_keep_leading_zeros(tmp_path: Path) -> None:
    path = write_text(tmp_path, "zip,y\n01,a\n1,b\n001,c\n")
    assert read(path).cards[0] == 1
    assert read(path, levels={"zip": ["1", "01", "001"]}).columns[0].tolist() == [1, 0, 2]


def test_integer_column_names_become_strings() -> None:
    assert read(pd.DataFrame([[1, 2], [3, 4]]), columns=["1", "0"]).names == ("1", "0")


def test_parquet_columns_with_dots_in_their_names(tmp_path: Path) -> None:
    pq.write_table(pa.table({"a.b": [1, 2], "a": [3, 4], "c": [5, 6]}), tmp_path / "t.parquet")
    assert read(tmp_path / "t.parquet", columns=["c", "a.b"]).levels == ((5, 6), (1, 2))


def test_columns_are_found_in_any_order(tmp_path: Path) -> None:
    table = pa.table({f"v{j}": [j, j + 1, j] for j in range(50)})
    pq.write_table(table, tmp_path / "t.parquet")
    chosen = [f"v{j}" for j in (30, 2, 49, 0)]
    for source in (table, tmp_path / "t.parquet"):
        assert read(source, columns=chosen).levels == ((30, 31), (2, 3), (49, 50), (0, 1))


def test_a_data_set_passes_through(expected: Dataset) -> None:
    assert read(expected) is expected
    assert read(expected, columns=["wet", "size"]).names == ("wet", "size")
    with pytest.raises(InputError, match="types cannot be applied to a Dataset"):
        read(expected, types={"wet": "categorical"})


@pytest.mark.slow
def test_reading_streams(tmp_path: Path) -> None:
    program = Path(__file__).parents[2] / "papers" / "benchmarks"
    command = [sys.executable, str(program), "reading-memory", "--rows", "300000", "--json"]
    printed = subprocess.run(command, check=True, capture_output=True, text=True, cwd=tmp_path).stdout
    assert json.loads(printed.splitlines()[0])["peak over coded size"] < 6


def test_importing_the_package_is_light() -> None:
    check = "import sys, mnlearn.data; print([m for m in ('pyarrow', 'narwhals', 'pandas') if m in sys.modules])"
    assert subprocess.run([sys.executable, "-c", check], check=True, capture_output=True, text=True).stdout == "[]\n"


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=40, deadline=None)
@given(
    rows=st.lists(
        st.tuples(
            st.text(st.characters(codec="utf-8", categories=("L", "P", "S")), min_size=1), st.floats(-1e300, 1e300)
        ),
        min_size=2,
        max_size=8,
    )
)
def test_files_and_frames_agree_on_any_string_and_number(rows: list[tuple[str, float]], tmp_path: Path) -> None:
    table: Columns = {"word": [f"w{word}" for word, _ in rows], "number": [number + 0.5 for _, number in rows]}
    frame = read(pd.DataFrame(table))
    for form in ("csv", "tsv.gz", "parquet", "records"):
        if form == "csv" and all(float(str(number)).is_integer() for number in table["number"]):
            continue  # in a file, 2.0 written as 2 is a whole number
        assert_same(read(in_form(form, table, tmp_path), types={"number": "continuous"}), frame)


def test_one_row_and_one_column_are_enough_for_a_model(tmp_path: Path) -> None:
    levels = {"a": ["x", "y"]}
    path = tmp_path / "one.csv"
    path.write_text("a\ny\n", encoding="utf-8")
    for source in ({"a": ["y"]}, pd.DataFrame({"a": ["y"]}), path):
        found = read_rows(source, columns=["a"], levels=levels)
        assert (found.n_rows, found.cards, found.columns[0].tolist()) == (1, (2,), [1])
    with pytest.raises(DataError, match="data must have at least 1 row; "):
        read_rows({"a": []}, levels=levels)


TEXTS = st.lists(st.none() | st.sampled_from(["", "a", "b", "ä", "yes", "no", "NA"]), min_size=6, max_size=40)


@given(
    TEXTS,
    st.sampled_from([pa.string(), pa.large_string()]),
    st.booleans(),
    st.sampled_from([3, 7, 1000]),
    st.booleans(),
)
@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_strings_of_parquet_equal_those_of_the_table(
    tmp_path: Path, texts: list[str | None], kind: pa.DataType, coded: bool, group: int, declared: bool
) -> None:
    table = pa.table({"t.t": pa.array(["a", "b", *texts], kind), "u": pa.array([True, False] + [True] * len(texts))})
    pq.write_table(table, tmp_path / "t.parquet", use_dictionary=coded, row_group_size=group)
    levels = {"t.t": ["yes", "no", "ä", "b", "a", "NA", ""]} if declared else None
    here, there = (
        read(source, missing="category", levels=levels, missing_values=["NA", ""])
        for source in (table, tmp_path / "t.parquet")
    )
    assert_same(here, there)


def test_a_dictionary_value_without_rows_is_not_a_level(tmp_path: Path) -> None:
    column = pa.DictionaryArray.from_arrays(pa.array([1, 2, 1, 2]), pa.array(["never", "often", "seldom"]))
    table = pa.table({"t": column, "u": [1, 2, 1, 1]})
    assert read(table, levels={"t": ["seldom", "often"]}).levels[0] == ("seldom", "often")
    plain = table.set_column(0, "t", column.cast(pa.string()))
    for source in (table, plain):  # positions in a dictionary of three, declared as strings or as categories
        pq.write_table(source, tmp_path / "t.parquet")
        found = read(tmp_path / "t.parquet", levels={"t": ["seldom", "often"]})
        assert found.levels[0] == ("seldom", "often")
        assert found.columns[0].tolist() == [1, 0, 1, 0]


def test_constant_booleans_have_one_level(tmp_path: Path) -> None:
    pq.write_table(pa.table({"f": [True] * 9, "g": [True, False, True] * 3}), tmp_path / "t.parquet")
    found = read(tmp_path / "t.parquet")
    assert found.levels == ((True,), (False, True))
    assert found.columns[1].tolist() == [1, 0, 1] * 3


@pytest.mark.parametrize(
    "values",
    [
        pa.array([1, 2, 3000], pa.time64("ns")),
        pa.array([1, 2, 3000], pa.time64("ns")).dictionary_encode(),
        pa.array([10**18, 1, 2], pa.timestamp("us")),
        pa.array([10**8, 1, 2], pa.date32()),
        pa.array([10**17, 1, 2], pa.duration("s")),
    ],
    ids=str,
)
def test_times_that_python_does_not_have_are_refused(values: pa.Array, tmp_path: Path) -> None:
    table = pa.table({"a": values, "b": [1, 2, 3]})
    with pytest.raises(DataError, match="column 'a' must hold values that Python has, such as times in microseconds"):
        read(table)
    pq.write_table(table, tmp_path / "t.parquet")
    with pytest.raises(DataError, match="column 'a' must hold values that Python has"):
        read(tmp_path / "t.parquet")


def test_times_in_whole_microseconds_are_read() -> None:
    data = read(pa.table({"a": pa.array([1000, 2000, 3000], pa.time64("ns")), "b": [1, 2, 3]}))
    assert data.levels[0] == tuple(dt.time(0, 0, 0, k) for k in (1, 2, 3))


def test_categories_keep_their_order_wherever_they_occur_first(tmp_path: Path) -> None:
    places = np.where(np.arange(150_000) < 140_000, 2, 0).astype(np.int8)
    labels = pa.DictionaryArray.from_arrays(pa.array(places), ["z", "never", "a"])
    table = pa.table({"x": labels, "y": np.arange(150_000) % 2})
    later = pa.DictionaryArray.from_arrays(pa.array([1, 0], pa.int8()), ["new", "z"])
    both = pa.concat_tables([table, pa.table({"x": later, "y": [0, 1]})])
    pq.write_table(table, tmp_path / "t.parquet", row_group_size=70_000)
    packed = pack(tmp_path / "t.parquet", tmp_path / "t.mnpack")
    for data in (read(table), read(tmp_path / "t.parquet"), packed, read(table.to_pandas())):
        assert data.levels[0] == ("z", "a")
        assert data.columns[0][[0, -1]].tolist() == [1, 0]
    for data in (read(both), read(pa.RecordBatchReader.from_batches(both.schema, both.to_batches()))):
        assert data.levels[0] == ("z", "a", "new")
        assert data.unused == {"x": ("never",)}
        assert data.columns[0][-2:].tolist() == [0, 2]
