"""Data in memory: frames, Arrow tables, arrays, records. Imported on first use: it needs pyarrow and narwhals."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence, Set
from functools import partial
from typing import Any

import narwhals as nw
import numpy as np
import pyarrow as pa
from narwhals.dependencies import is_into_dataframe, is_into_series, is_pandas_dataframe, is_pandas_series

from mnlearn.data.columns import Mixtures, ReadColumn, ReadTable
from mnlearn.data.options import ColumnOptions, SelectedColumn, TableOptions
from mnlearn.data.streaming import read_stream
from mnlearn.data.typed_columns import categories_column, object_column, whole_column
from mnlearn.errors import DataError, InputError


def load_memory(source: object, options: TableOptions) -> ReadTable:
    """Read a table in memory, or raise an error that names what cannot be read."""
    try:
        return _load(source, options)
    except pa.ArrowException as error:
        raise DataError(
            f"source must hold types that can be read; {type(source).__name__}: {error}. "
            "Convert that column, or leave it out with columns=[...]."
        ) from error


def _load(source: object, options: TableOptions) -> ReadTable:
    """Read a source by its type."""
    if isinstance(source, np.ndarray):
        return _load_array(source, options)
    if isinstance(source, Mapping):
        return _load_columns(source, options)
    if isinstance(source, list | tuple):
        return _load_records(source, options)
    source = nw.to_native(source, pass_through=True)
    if is_pandas_dataframe(source):
        return _load_pandas(source, options)
    if not isinstance(source, pa.Table | pa.RecordBatch | pa.RecordBatchReader):
        frame = nw.from_native(source, pass_through=True)
        if isinstance(frame, nw.DataFrame | nw.LazyFrame):
            return _load_frame(frame, options)
    if hasattr(source, "__arrow_c_stream__") and not is_into_series(source):
        return _load_stream(source, options)
    raise InputError(
        f"source must be a path, a data frame, an Arrow table, a 2-D array, a dict of columns or a list of records; "
        f"got {type(source).__module__}.{type(source).__qualname__}. Convert it to one of these."
    )


def _load_pandas(frame: Any, options: TableOptions) -> ReadTable:
    """Read a pandas frame by position, because its column names can be anything."""
    return _table(list(frame.columns), lambda j: frame.iloc[:, j], len(frame), options, "the data frame")


def _load_frame(frame: nw.DataFrame[Any] | nw.LazyFrame[Any], options: TableOptions) -> ReadTable:
    """Read any other frame that narwhals supports; a lazy one is computed first."""
    eager = frame.collect() if isinstance(frame, nw.LazyFrame) else frame
    if eager.implementation.is_pandas_like():
        return _load_pandas(eager.to_pandas(), options)
    return _table(eager.columns, lambda j: eager[:, j], len(eager), options, "the data frame")


def _load_stream(source: Any, options: TableOptions) -> ReadTable:
    """Read batches of Arrow columns."""
    if isinstance(source, pa.RecordBatch):
        source = pa.Table.from_batches([source])
    return read_stream(source, options, "the Arrow table").joined()


def _load_array(array: np.ndarray[Any, np.dtype[Any]], options: TableOptions) -> ReadTable:
    """Read a 2-D array, or the fields of a structured one."""
    if array.dtype.names is not None and array.ndim == 1:
        fields = array.dtype.names
        return _table(fields, lambda j: array[fields[j]], len(array), options, "the structured array")
    if isinstance(array, np.matrix):  # its columns would be 2-D
        array = np.asarray(array)
    if array.ndim != 2:
        raise InputError(f"source must be a 2-D array, one row per record; got shape {array.shape}. Reshape it.")
    names = [f"x{j}" for j in range(array.shape[1])]
    return _table(names, lambda j: array[:, j], len(array), options, "the array")


def _load_columns(columns: Mapping[Any, Any], options: TableOptions) -> ReadTable:
    """Read a dict of columns."""
    values = [_listed(name, column) for name, column in columns.items()]
    lengths = {str(name): len(column) for name, column in zip(columns, values, strict=True)}
    if len(set(lengths.values())) > 1:
        raise DataError(f"columns must have one length; got {lengths}. Cut or fill them so that every row is complete.")
    _check_one_index(columns)
    n_rows = next(iter(lengths.values()), 0)
    return _table(list(columns), values.__getitem__, n_rows, options, "the dict of columns")


def _load_records(records: Sequence[Any], options: TableOptions) -> ReadTable:
    """Read a list of dicts, named tuples, tuples or lists."""
    first = records[0] if records else ()
    if isinstance(first, Mapping):
        odd = next((k for k, record in enumerate(records) if not isinstance(record, Mapping)), None)
        if odd is not None:
            raise DataError(
                f"records must be of one form; record {odd + 1} is not a dict like the first: {records[odd]!r:.80}. "
                "Turn every record into a dict."
            )
        keys = list(dict.fromkeys(key for record in records for key in record))
        return _table(
            keys, lambda j: [record.get(keys[j]) for record in records], len(records), options, "the list of records"
        )
    for k, record in enumerate(records):
        many = record.ndim > 0 if isinstance(record, np.ndarray) else isinstance(record, Sequence)
        if isinstance(record, str | bytes) or not many:
            raise InputError(
                f"source must list records (dicts, tuples or lists); record {k + 1} is {record!r:.80}. "
                "Put the values of each row into one of these."
            )
        if len(record) != len(first):
            raise DataError(
                f"records must have one length; record {k + 1} has {len(record)} values, the first has {len(first)}. "
                "Fill missing values with None."
            )
    fields = _fields(records)
    names = fields or [f"x{j}" for j in range(len(first))]
    return _table(names, lambda j: [record[j] for record in records], len(records), options, "the list of records")


def _fields(records: Sequence[Any]) -> tuple[str, ...] | None:
    """Return the field names of named tuples, None for other records; they must be the same in every record."""
    fields = [getattr(record, "_fields", None) for record in records]
    odd = next((k for k, names in enumerate(fields) if names != fields[0]), None)
    if odd is not None:
        raise DataError(
            f"records must have the same fields in the same order; record {odd + 1} has {fields[odd]}, the first has "
            f"{fields[0]}. Turn them into dicts: record._asdict()."
        )
    return fields[0] if fields else None


def _check_one_index(columns: Mapping[Any, Any]) -> None:
    """Raise DataError if pandas columns have different indexes: their rows would be put together by position."""
    series = [(name, column) for name, column in columns.items() if is_pandas_series(column)]
    for name, column in series[1:]:
        if not column.index.equals(series[0][1].index):
            raise DataError(
                f"columns must have one index, so that their rows belong together; {str(name)!r} has another one than "
                f"{str(series[0][0])!r}. Use pandas.DataFrame(...) to put rows together by index, or "
                ".to_numpy() to do it by position."
            )


def _table(
    names: Sequence[object], fetch: Callable[[int], Any], n_rows: int, options: TableOptions, source: str
) -> ReadTable:
    """Read column by column, so that only one is in memory twice at any time."""
    selection = options.select(names)
    mixtures = Mixtures()

    def take(selected: SelectedColumn) -> ReadColumn:
        return _column(selected.options, fetch(selected.position))

    columns = [mixtures.attempt(partial(take, selected)) for selected in selection.columns]
    mixtures.report()
    return ReadTable.of(selection, [column for column in columns if column is not None], n_rows, source).joined()


def _column(options: ColumnOptions, values: Any) -> ReadColumn:
    """Read one column by its type."""
    if isinstance(values, pa.Array | pa.ChunkedArray):
        return whole_column(options, values)
    if isinstance(values, np.ndarray):
        return _array_column(options, values)
    if isinstance(values, nw.Series):
        return _series_column(options, values)
    if is_pandas_series(values):
        return _pandas_column(options, values)
    if is_into_series(values):
        return _series_column(options, nw.from_native(values, series_only=True))
    return object_column(options, values)


def _array_column(options: ColumnOptions, values: np.ndarray[Any, np.dtype[Any]]) -> ReadColumn:
    """Read a 1-D array; a masked value is missing."""
    if values.ndim != 1:
        raise DataError(
            f"column {options.name!r} must be 1-D; got shape {values.shape}. Split it into columns of their own."
        )
    if values.dtype.kind not in "biufUmM":
        return object_column(options, values.tolist())
    native = values.dtype.newbyteorder("=") if values.dtype != np.longdouble else np.dtype(np.float64)
    plain = np.ascontiguousarray(np.ma.getdata(values).astype(native, copy=False))
    mask = np.ma.getmaskarray(values) if isinstance(values, np.ma.MaskedArray) else None
    return whole_column(options, pa.array(plain, from_pandas=True, mask=mask))


def _pandas_column(options: ColumnOptions, series: Any) -> ReadColumn:
    """Read a pandas column: categories as declared, objects one by one, the rest through Arrow."""
    if hasattr(series, "cat"):
        return categories_column(options, series.cat.categories.tolist(), series.cat.codes.to_numpy())
    if series.dtype == object:
        return object_column(options, series.tolist())
    try:
        array = pa.array(series, from_pandas=True)
    except (pa.ArrowException, TypeError, ValueError):  # sparse columns and other types that Arrow does not know
        return object_column(options, series.tolist())
    if isinstance(array.type, pa.BaseExtensionType):
        return object_column(options, series.tolist())
    return whole_column(options, array)


def _series_column(options: ColumnOptions, series: nw.Series[Any]) -> ReadColumn:
    """Read any other series; a polars Categorical is read as strings, because it lists only values that occurred."""
    if series.dtype == nw.Object:
        return object_column(options, series.to_list())
    if series.dtype == nw.Categorical:
        series = series.cast(nw.String)
    return whole_column(options, series.to_arrow())


def _listed(name: object, column: Any) -> Any:
    """Return a column with a length and an order of its values."""
    if isinstance(column, Mapping | Set) or is_into_dataframe(
        column
    ):  # iterating would read keys, or an arbitrary order, as the data
        raise InputError(
            f"source must map names to lists of values, row by row; {str(name)!r} is a {type(column).__name__}. "
            "Turn it into a list; from pandas, pass the frame itself or df.to_dict('list')."
        )
    try:
        values = iter(column)
    except TypeError:  # a 0-D array has `__len__` but no length
        values = None
    if isinstance(column, str | bytes) or values is None:
        raise InputError(f"source must map names to columns; got the single value {column!r}. Wrap it in a list.")
    return column if hasattr(column, "__len__") else list(values)
