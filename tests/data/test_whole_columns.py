"""Columns coded all at once by the core, against the readers that code one after the other."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.csv as pacsv
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from mnlearn.data import columns as coding
from mnlearn.data import overview, read
from mnlearn.data.options import DOUBTFUL, NOT_A_NUMBER
from mnlearn.data.variable import SOME
from mnlearn.errors import MnlearnError

from references.coding import distinct_values

INTEGERS = [np.int8, np.int16, np.int32, np.int64, np.uint8, np.uint16, np.uint32, np.uint64]
WORDS = st.one_of(
    st.sampled_from(
        ["a", "b", "no", "yes", "", " ", "NA", "nan", "null", "?", "-9", "a\0", "eightcha", "ninechars", "ä"]
    ),
    st.text(max_size=20),
)
Column = tuple[str, list[Any]]  # a type, and the values


@st.composite
def columns(draw: st.DrawFn, n_rows: int) -> Column:
    """Draw the type of a column and its values; None is missing."""
    kind = draw(st.sampled_from(["bool", "str", "category", *(np.dtype(kind).name for kind in INTEGERS)]))
    if kind == "bool":
        values: st.SearchStrategy[Any] = st.booleans()
    elif kind in ("str", "category"):
        values = st.sampled_from(draw(st.lists(WORDS, min_size=1, max_size=6)))
    else:
        limits = np.iinfo(kind)
        low = draw(st.sampled_from([int(limits.min), 0, 1, int(limits.max) - 7]))
        width = draw(st.sampled_from([0, 1, 3, 300, int(limits.max) - low]))
        values = st.integers(low, min(low + width, int(limits.max)))
    drawn = draw(st.lists(values, min_size=n_rows, max_size=n_rows))
    gaps = draw(st.booleans())
    return kind, [None if gaps and draw(st.booleans()) and draw(st.booleans()) else value for value in drawn]


tables = st.integers(1, 12).flatmap(lambda n_rows: st.lists(columns(n_rows), min_size=2, max_size=5))


def pandas_frame(table: list[Column]) -> Any:
    """Return columns of NumPy types where nothing is missing, and of nullable types elsewhere."""
    frame = {}
    for j, (kind, values) in enumerate(table):
        if kind == "category":
            labels = list(dict.fromkeys(["unused", *values[::-1]]))
            frame[f"v{j}"] = pd.Series(pd.Categorical(values, [label for label in labels if label is not None]))
        elif kind == "str":
            string: Any = [object, "str", "string"][len(values) % 3]
            frame[f"v{j}"] = pd.Series(values, dtype=string)
        elif None in values:
            frame[f"v{j}"] = pd.Series(
                values, dtype={"bool": "boolean"}.get(kind, kind.replace("i", "I").replace("uI", "UI"))
            )
        else:
            frame[f"v{j}"] = pd.Series(values, dtype=kind)
    return pd.DataFrame(frame)


def arrow_table(table: list[Column]) -> pa.Table:
    arrays = {}
    for j, (kind, values) in enumerate(table):
        type_ = {"bool": pa.bool_(), "str": [pa.string(), pa.large_string(), pa.string_view()][len(values) % 3]}
        array = pa.array(values, pa.string() if kind == "category" else type_.get(kind) or pa.type_for_alias(kind))
        arrays[f"v{j}"] = array.dictionary_encode() if kind == "category" else array
    return pa.table(arrays)


def polars_frame(table: list[Column]) -> pl.DataFrame:
    names = {"bool": pl.Boolean, "str": pl.String, "category": pl.Categorical}
    kinds = [
        names.get(kind) or getattr(pl, kind.replace("i", "I").replace("uI", "UI").title().replace("Ui", "UI"))
        for kind, _ in table
    ]
    return pl.DataFrame([pl.Series(f"v{j}", column[1], dtype=kinds[j]) for j, column in enumerate(table)])


FORMS: dict[str, Callable[[list[Column]], Any]] = {
    "pandas": pandas_frame,
    "polars": polars_frame,
    "arrow": arrow_table,
    "arrow in slices": lambda table: pa.concat_tables([arrow_table(table).slice(0, 1), arrow_table(table).slice(1)]),
    "arrow slice": lambda table: pa.concat_tables([arrow_table(table)] * 2).combine_chunks().slice(len(table[0][1])),
    "dict of lists": lambda table: {f"v{j}": values for j, (_, values) in enumerate(table)},
    "objects": lambda table: pd.DataFrame({f"v{j}": values for j, (_, values) in enumerate(table)}, dtype=object),
}


@contextmanager
def one_by_one() -> Iterator[None]:
    """Let the core leave every column to its own reader."""

    def leave(codes: Any, *_found: object) -> list[None]:
        return [None] * len(codes)

    with mock.patch.object(coding, "_together", leave):
        yield


def outcome(source: Any, **options: Any) -> Any:
    """Return all that reading gives, or the error."""
    try:
        data = read(source, **options)
    except MnlearnError as error:
        return type(error), str(error)
    labels = [None if own is None else [(type(label), label) for label in own] for own in data.levels]
    codes = [(column.dtype, column.tolist(), column.flags.writeable) for column in data.columns]
    repeats = None if data.repeats is None else data.repeats.tolist()
    return data.names, data.cards, labels, codes, repeats, data.missing, dict(data.unused), data.declared


def seen(source: Any, **options: Any) -> Any:
    """Return the overview, or the error."""
    try:
        return overview(source, **options)
    except MnlearnError as error:
        return type(error), str(error)


@pytest.mark.parametrize("form", FORMS)
@given(tables, st.sampled_from(["error", "drop_rows", "category"]), st.sampled_from([(), ("?", -9, 1)]), st.data())
@settings(max_examples=60, suppress_health_check=[HealthCheck.too_slow], deadline=None)
def test_all_at_once_equals_one_by_one(form: str, table: list[Column], missing: str, markers: Any, data: Any) -> None:
    source = FORMS[form](table)
    options: dict[str, Any] = {"missing_values": markers}
    of_first = data.draw(st.sampled_from(["none", "type", "levels"]))
    if of_first == "type":
        options["types"] = {"v0": data.draw(st.sampled_from(["categorical", "continuous"]))}
    elif of_first == "levels":
        known = [value for value in dict.fromkeys(table[0][1]) if value is not None]
        options["levels"] = {"v0": [*known[::-1], "another"]}
    whole = outcome(source, missing=missing, **options), seen(source, **options)
    with one_by_one():
        assert whole == (outcome(source, missing=missing, **options), seen(source, **options))


@pytest.mark.parametrize("form", FORMS)
@given(tables)
@settings(max_examples=40, suppress_health_check=[HealthCheck.too_slow], deadline=None)
def test_labels_and_codes_against_plain_python(form: str, table: list[Column]) -> None:
    words = {"", *DOUBTFUL, *NOT_A_NUMBER}
    table = [(kind, ["x" if type(v) is str and v.strip() in words else v for v in values]) for kind, values in table]
    found = outcome(FORMS[form](table), missing="category")
    if isinstance(found[0], type):  # too few rows, or nothing but missing values
        many = any(len({value for value in values if type(value) is int}) > SOME for _, values in table)
        assert many or len(table[0][1]) < 2 or any(set(values) == {None} for _, values in table)
        return
    for (kind, values), labels, (_, codes, _) in zip(table, found[2], found[3], strict=True):
        if kind != "category" or form in ("polars", "dict of lists", "objects"):
            assert ([label for _, label in labels], codes) == distinct_values(values)
        else:
            assert [labels[code][1] for code in codes] == values


@given(st.sampled_from([*INTEGERS, np.bool_]), st.integers(2, 70), st.integers(2, 70), st.integers(0, 2**32 - 1))
@settings(max_examples=60, deadline=None)
def test_arrays_in_any_order_of_memory(kind: Any, n_rows: int, n_columns: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    values = rng.integers(0, 3, (n_rows, n_columns)).astype(kind)
    wanted = outcome(values)
    every_other = np.zeros((2 * n_rows, 2 * n_columns), dtype=kind)[::2, 1::2]
    every_other[:] = values
    read_only = values.copy()
    read_only.flags.writeable = False
    backwards = np.ascontiguousarray(values[::-1, ::-1])[::-1, ::-1]
    shifted = np.frombuffer(b"." + values.tobytes(), np.uint8)[1:].view(values.dtype).reshape(values.shape)
    packed = np.zeros((n_rows, n_columns), dtype=[("odd", "u1"), ("value", values.dtype)])
    packed["value"] = values
    others = [np.asfortranarray(values), every_other, read_only, backwards, shifted, packed["value"]]
    for other in (*others, values.astype(values.dtype.newbyteorder())):
        assert outcome(other) == wanted
    with one_by_one():
        assert outcome(values) == wanted


@pytest.mark.parametrize("n_labels", [255, 256, 257, 65_535, 65_536])
@pytest.mark.parametrize("step", [1, 1_000_003])
@pytest.mark.parametrize("gap", [False, True])
def test_many_labels(n_labels: int, step: int, gap: bool) -> None:
    values = np.arange(n_labels, dtype=np.int64)[::-1] * step
    numbers = pa.array([*values.tolist(), None] if gap else values.tolist(), pa.int64())
    table = pa.table({"number": numbers, "string": numbers.cast(pa.string()), "other": pa.array([1] * len(numbers))})
    whole = outcome(table, missing="category")
    with one_by_one():
        assert whole == outcome(table, missing="category")


def test_a_data_set_does_not_share_memory_with_its_source() -> None:
    for kind in (np.int64, np.uint8, np.bool_, np.float64):
        values = np.array([[0, 1], [1, 1], [0, 0]], dtype=kind)
        data = read(values)
        before = [column.tolist() for column in data.columns]
        values[:] = 1
        assert [column.tolist() for column in data.columns] == before


@pytest.mark.parametrize("dictionary", [["?", "b", "?", "a"], ["b", None, "a", None], ["NA", "a", "NA", "b"]])
def test_dictionaries_that_repeat_a_value(dictionary: list[Any]) -> None:
    column = pa.DictionaryArray.from_arrays(pa.array([0, 1, 2, 3, None, 2], pa.int8()), pa.array(dictionary))
    table = pa.table({"a": column, "b": [1, 2, 1, 2, 1, 2]})
    options: dict[str, Any] = {"missing_values": ["?"]}
    whole = outcome(table, missing="category", **options), seen(table, **options)
    with one_by_one():
        assert whole == (outcome(table, missing="category", **options), seen(table, **options))
    coded = coding.code_batch(table.to_batches()[0], [0])
    found = dict(enumerate(coded))
    coding.sort_labels(found, [0])
    assert coded[0] is not None
    assert found[0] is not None
    for labels, rows, _ in (coded[0], found[0]):
        assert [labels[k] for k in rows] == column.to_pylist()
    assert list(found[0][0]) == sorted(found[0][0], key=lambda label: (label is not None, label or ""))


def test_strings_that_are_not_utf8_are_refused_as_before() -> None:
    broken = pa.Array.from_buffers(
        pa.string(), 2, [None, pa.py_buffer(np.array([0, 1, 2], np.int32)), pa.py_buffer(b"\xffa")]
    )
    whole = outcome(pa.table({"a": broken, "b": [1, 2]}))
    with one_by_one():
        assert whole == outcome(pa.table({"a": broken, "b": [1, 2]}))


@pytest.mark.parametrize("suffix", [".csv", ".parquet"])
@given(
    table=tables,
    missing=st.sampled_from(["error", "drop_rows", "category"]),
    markers=st.sampled_from([(), ("?", -9, 1)]),
)
@settings(max_examples=60, suppress_health_check=list(HealthCheck), deadline=None)
def test_files_all_at_once_equal_one_by_one(
    suffix: str, table: list[Column], missing: str, markers: Any, tmp_path: Path
) -> None:
    path = tmp_path / f"table{suffix}"
    arrow = arrow_table(table)
    for j, type_ in enumerate(arrow.schema.types):
        if type_ == pa.string_view() or (suffix == ".csv" and pa.types.is_dictionary(type_)):
            arrow = arrow.set_column(j, f"v{j}", arrow.column(j).cast(pa.string()))
    if suffix == ".csv":
        pacsv.write_csv(arrow, path)
    else:
        pq.write_table(arrow, path)
    options: dict[str, Any] = {"missing_values": markers}
    whole = outcome(path, missing=missing, **options), seen(path, **options)
    with one_by_one():
        assert whole == (outcome(path, missing=missing, **options), seen(path, **options))
