"""Helpers for the tests of data: equality of data sets, and one table in every form that can be read."""

from __future__ import annotations

import gzip
from collections import namedtuple
from collections.abc import Callable
from pathlib import Path

import narwhals as nw
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.csv as pacsv
import pyarrow.parquet as pq

from mnlearn.data import Dataset

Columns = dict[str, list[object]]

TABLE: Columns = {
    "size": ["small", "large", "small", "middle", "large", "small"],
    "answer": [1, 2, 2, 1, 1, 2],
    "wet": [True, False, False, True, True, False],
    "height": [1.5, 2.25, -3.0, 0.125, 1e-9, 2.0],
}


def assert_same(one: Dataset, other: Dataset) -> None:
    """Assert that two data sets agree in everything but their source."""
    assert one.names == other.names
    assert one.cards == other.cards
    assert one.levels == other.levels
    assert [label.__class__ for labels in one.levels for label in labels or ()] == [
        label.__class__ for labels in other.levels for label in labels or ()
    ]
    for mine, theirs in zip(one.columns, other.columns, strict=True):
        assert mine.dtype == theirs.dtype
        np.testing.assert_array_equal(mine, theirs)
    if one.repeats is None or other.repeats is None:
        assert one.repeats is other.repeats
    else:
        np.testing.assert_array_equal(one.repeats, other.repeats)


def write_csv(table: Columns, path: Path, delimiter: str = ",") -> Path:
    """Write a table as delimited text."""
    options = pacsv.WriteOptions(delimiter=delimiter)
    pacsv.write_csv(pa.table(table), path, options)
    return path


def write_text(folder: Path, text: str | bytes, name: str = "table.csv") -> Path:
    """Write a file; names that end in .gz are compressed."""
    content = text.encode() if isinstance(text, str) else text
    path = folder / name
    path.write_bytes(gzip.compress(content) if name.endswith(".gz") else content)
    return path


def _parquet(table: Columns, folder: Path) -> Path:
    pq.write_table(pa.table(table), folder / "t.parquet", row_group_size=2)
    return folder / "t.parquet"


def _packed(path: Path) -> Path:
    target = path.with_name(path.name + ".gz")
    target.write_bytes(gzip.compress(path.read_bytes()))
    return target


def _records(table: Columns) -> list[dict[str, object]]:
    return [dict(zip(table, row, strict=True)) for row in zip(*table.values(), strict=True)]


def _named_tuples(table: Columns) -> list[object]:
    row = namedtuple("row", list(table))  # type: ignore[misc]
    return [row(*values) for values in zip(*table.values(), strict=True)]


def _structured(table: Columns) -> object:
    columns = [np.array(values) for values in table.values()]
    kinds = [(name, column.dtype) for name, column in zip(table, columns, strict=True)]
    return np.array(list(zip(*table.values(), strict=True)), dtype=kinds)


class Capsule:
    """An object that offers nothing but the Arrow stream interface."""

    def __init__(self, table: Columns) -> None:
        self._table = pa.table(table)

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        return self._table.__arrow_c_stream__(requested_schema)


FILES: dict[str, Callable[[Columns, Path], object]] = {
    "csv": lambda table, folder: write_csv(table, folder / "t.csv"),
    "csv.gz": lambda table, folder: _packed(write_csv(table, folder / "t.csv")),
    "tsv": lambda table, folder: str(write_csv(table, folder / "t.tsv", "\t")),
    "tsv.gz": lambda table, folder: _packed(write_csv(table, folder / "t.tsv", "\t")),
    "parquet": _parquet,
    "parquet.gz": lambda table, folder: _packed(_parquet(table, folder)),
}
MEMORY: dict[str, Callable[[Columns], object]] = {
    "pandas": pd.DataFrame,
    "pandas objects": lambda table: pd.DataFrame(table, dtype=object),
    "polars": pl.DataFrame,
    "narwhals": lambda table: nw.from_native(pl.DataFrame(table)),
    "arrow table": pa.table,
    "arrow batch": pa.RecordBatch.from_pydict,
    "arrow reader": lambda table: pa.table(table).to_reader(max_chunksize=2),
    "arrow capsule": Capsule,
    "dict of lists": dict,
    "dict of arrays": lambda table: {name: np.array(values) for name, values in table.items()},
    "dict of series": lambda table: {name: pl.Series(values) for name, values in table.items()},
    "records": _records,
    "named tuples": _named_tuples,
    "structured array": _structured,
}
FORMS = [*FILES, *MEMORY]


def in_form(form: str, table: Columns, folder: Path) -> object:
    """Return the table in one of the forms that can be read."""
    return FILES[form](table, folder) if form in FILES else MEMORY[form](table)
