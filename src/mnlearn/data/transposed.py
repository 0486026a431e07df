"""Tables whose rows are the variables, such as those of gene expression, and text with decimal commas.

Imported on first use: it needs pyarrow and narwhals.
"""

from __future__ import annotations

import csv
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import islice
from typing import Any

import narwhals as nw
import numpy as np
import pyarrow as pa
from narwhals.dependencies import is_pandas_dataframe

from mnlearn.data.columns import Mixtures, ReadColumn, ReadTable
from mnlearn.data.dataset import DataFile
from mnlearn.data.options import ColumnOptions, TableOptions
from mnlearn.data.text import TextColumn, read_header, with_points
from mnlearn.data.text_errors import BROKEN, check_closed, diagnose, open_text
from mnlearn.data.variable import settled_table
from mnlearn.errors import DataError, InputError


def read_transposed(file: DataFile, options: TableOptions) -> ReadTable:
    """Read a text file whose rows are the variables: each has its name in the first cell."""
    file = file._replace(row_names=True)
    header = read_header(file)
    names: list[str] = []
    rows: list[Any] = []  # Arrow strings, which take little more memory than the file
    try:
        for name, *cells in _records(file, len(header.names), header.lines):
            names.append(name.strip())
            rows.append(pa.array(cells, pa.string()))
    except BROKEN as error:
        raise diagnose(file, None, error) from error
    selection = replace(options, row_names=False).select(names)
    mixtures = Mixtures()
    tried = [mixtures.attempt(partial(_row_column, own, rows[own.position])) for own in selection.columns]
    mixtures.report()
    columns = [column for column in tried if column is not None]
    return settled_table(selection, columns, len(header.names) - 1, f"{file.path}, transposed,").joined()


def _records(file: DataFile, width: int, n_lines: int) -> Iterator[list[str]]:
    """Yield the records below the header, which all have the same number of cells."""
    with open_text(file) as text:
        reader = csv.reader(text, delimiter=str(file.delimiter))
        for _ in islice(text, n_lines):
            pass
        for record in filter(None, reader):
            if len(record) != width:
                check_closed(file)
                raise DataError(
                    f"{file.path} must have {width} cells in every row, the name of the variable first; line "
                    f"{n_lines + reader.line_num} has {len(record)}. Correct the row, or quote the cells that hold "
                    f"{file.delimiter!r}."
                )
            yield record


def _row_column(options: ColumnOptions, cells: Any) -> ReadColumn:
    """Read the cells of one row as a column."""
    column = TextColumn(options)
    pointed = with_points(cells, options)
    column.add(pointed.slice(0, 1))  # most rows are numbers, which need not be coded once that is known
    column.add(pointed.slice(1))
    return column.finish()


def turned(source: object) -> tuple[Any, list[str] | None]:
    """Return a table in memory with rows and columns exchanged, and the names of its columns if it is an array.

    The first column holds the names of the rows, except in a 2-D array and in a pandas frame that has names as its
    index.
    """
    if isinstance(source, np.ndarray) and source.dtype.names is None:
        return source.T, None
    names, columns = _parts(source)
    labels = [str(name) for name in names]
    arrays = [np.asarray(column) for column in columns]
    if arrays and all(array.ndim == 1 and array.dtype.kind in "biuf" for array in arrays):
        return np.array(arrays), labels
    listed = [list(column) for column in columns]
    return {name: [column[k] for column in listed] for k, name in enumerate(_different(labels))}, None


def _parts(source: object) -> tuple[Iterable[object], list[Any]]:
    """Return the names of the rows, and the columns of values."""
    source = nw.to_native(source, pass_through=True)
    if is_pandas_dataframe(source):
        return _pandas_parts(source)
    if isinstance(source, np.ndarray):
        return _first_apart([source[field] for field in source.dtype.names or ()])
    if isinstance(source, Mapping):
        return _first_apart(list(source.values()))
    if isinstance(source, list | tuple):
        return _first_apart(_columns_of_records(source))
    frame = nw.from_native(source, eager_only=True, pass_through=True)
    if isinstance(frame, nw.DataFrame):  # old polars frames have no Arrow stream
        source = frame.to_arrow()
    if not isinstance(source, pa.Table | pa.RecordBatch) and not hasattr(source, "__arrow_c_stream__"):
        raise InputError(
            f"transpose is for files, data frames, arrays, dicts of columns and lists of records; got a "
            f"{type(source).__name__}. Transpose it before."
        )
    table: Any = _index_first(source if isinstance(source, pa.Table) else pa.table(source))
    return _first_apart([column.to_pylist() if column.null_count else column.to_numpy() for column in table.columns])


def _index_first(table: Any) -> Any:
    """Return the table with the index of a pandas frame, which Arrow stores last, as its first column."""
    index = [name for name in (table.schema.pandas_metadata or {}).get("index_columns", ()) if isinstance(name, str)]
    if len(index) != 1 or index[0] not in table.column_names:
        return table
    return table.select([*index, *(name for name in table.column_names if name != index[0])])


def _pandas_parts(frame: Any) -> tuple[Iterable[object], list[Any]]:
    """Return the names of the rows of a pandas frame, and its columns of values.

    The names are in the index if it holds strings, or numbers other than 0, 1, ... while the first column holds numbers
    too. A frame without any names, as one made of an array, gets x0, x1, ...
    """
    columns = [frame.iloc[:, j].to_numpy() for j in range(frame.shape[1])]
    numbers = bool(columns) and columns[0].dtype.kind in "biuf"
    counted = [type(index).__name__ == "RangeIndex" for index in (frame.index, frame.columns)]
    if frame.index.dtype.kind == "O" or (numbers and not counted[0]):
        return frame.index, columns
    return ([f"x{k}" for k in range(len(frame))], columns) if numbers and all(counted) else _first_apart(columns)


def _first_apart(columns: Sequence[Any]) -> tuple[Iterable[object], list[Any]]:
    """Return the first column, which holds names, and the others."""
    if len(columns) < 2:
        raise DataError(
            f"transpose needs a column of names and columns of values; got {len(columns)}. Check what the table holds."
        )
    return columns[0], list(columns[1:])


def _columns_of_records(records: Sequence[Any]) -> list[list[Any]]:
    """Return the columns of dicts, tuples or lists of one length."""
    keys = list(records[0]) if records and isinstance(records[0], Mapping) else []
    rows = [
        [record[key] for key in keys] if isinstance(record, Mapping) and set(record) == set(keys) else record
        for record in records
    ]
    if any(not isinstance(row, list | tuple) or len(row) != len(rows[0]) for row in rows):
        raise DataError(
            "records must be dicts with the same keys, or lists of one length; got others. Fill gaps with None."
        )
    return [list(column) for column in zip(*rows, strict=True)]


def _different(names: Sequence[str]) -> Sequence[str]:
    """Return the names; raise DataError if one occurs twice, which a dict would hide."""
    from mnlearn.data.dataset import check_names

    check_names(names)
    return names
