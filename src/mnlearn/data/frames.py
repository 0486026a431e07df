"""Data in memory: frames, Arrow tables, arrays, records. Imported on first use: it needs pyarrow and narwhals.

SciPy sparse matrices of 0 and 1, read column by column: no dense copy of the matrix is made.

The codes of the data set take one byte a value, where a dense matrix of numbers takes eight.

Columns whose categories are in an order in their source. Imported on first use: it needs pyarrow and narwhals.

A column is marked True if the source says that the order means something, as for an ordered categorical: it is ordinal.
It is marked False if there is an order that may be one of convenience, as of an Enum of polars: it is ordinal only if
it is declared so. None marks all other columns. Few columns have categories, so only these are looked up.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence, Set
from dataclasses import replace
from functools import partial
from itertools import chain, islice
from typing import Any

import narwhals as nw
import numpy as np
import pyarrow as pa
from narwhals.dependencies import get_polars, is_into_dataframe, is_into_series, is_pandas_dataframe, is_pandas_series
from numpy.typing import NDArray

from mnlearn.data.columns import (
    Coded,
    ReadColumn,
    ReadTable,
    categorical,
    code_array,
    code_batch,
    code_frame,
    code_objects,
    pieces,
    read_columns,
    sort_labels,
)
from mnlearn.data.options import ColumnOptions, TableOptions, unfit_label
from mnlearn.data.parquet import lazy_table, open_stream
from mnlearn.data.readers import unknown_container
from mnlearn.data.streams import read_lazy
from mnlearn.data.transposed import turned
from mnlearn.data.typed import categories_column, is_text, object_column, whole_column
from mnlearn.data.variable import settled_table, whole_again
from mnlearn.errors import DataError, InputError, sound_sparse


def order_in_schema(schema: Any, position: int) -> bool | None:
    """Return the mark of a column of an Arrow table."""
    field = schema.field(position)
    if not _is_ordered(field.type):
        return None
    return not any(key.startswith(b"_PL_ENUM") for key in field.metadata or ())


def order_in_types(dtypes: Sequence[Any], position: int) -> bool | None:
    """Return the mark of a column of a frame, given the types of its columns."""
    dtype = dtypes[position]
    return False if isinstance(dtype, nw.Enum) else _is_ordered(dtype) or None


def order_of(column: Any) -> bool | None:
    """Return the mark of a column by itself."""
    if isinstance(column, pa.Array | pa.ChunkedArray):
        return _is_ordered(column.type) or None
    if is_pandas_series(column):
        return _is_ordered(column.dtype) or None
    if isinstance(column, list | np.ndarray) or not is_into_series(column):
        return None
    return order_in_types([nw.from_native(column, series_only=True).dtype], 0)


def _is_ordered(dtype: Any) -> bool:
    """Return whether a pandas or Arrow type is that of categories in an order."""
    return bool(getattr(getattr(dtype, "pyarrow_dtype", dtype), "ordered", False))


def load_memory(source: object, options: TableOptions) -> ReadTable:
    """Read a table in memory, or raise an error that names what cannot be read."""
    try:
        return _load_turned(source, options) if options.transpose else _load(source, options)
    except pa.ArrowException as error:
        raise DataError(
            f"source must hold types that can be read; {type(source).__name__}: {error}. "
            "Convert that column, or leave it out with columns=[...]."
        ) from error


def _load(source: object, options: TableOptions) -> ReadTable:  # noqa: PLR0911 - one for each type
    """Read a source by its type."""
    lazy = lazy_table(source)
    if lazy is not None:
        options.check_no_names(lazy.title)
        return read_lazy(lazy, options).joined()
    if type(source).__module__.startswith("xarray."):  # looks like a dict of columns, or streams its cells one a row
        raise unknown_container(source)
    if isinstance(source, np.ndarray):
        return _load_array(source, options)
    if is_sparse(source):
        return load_sparse(source, options)
    if isinstance(source, Mapping):
        return _load_columns(source, options)
    if isinstance(source, list | tuple):
        return _load_records(source, options)
    options.check_no_names(f"a {type(source).__name__}")
    source = nw.to_native(source, pass_through=True)
    if is_pandas_dataframe(source):
        return _load_pandas(source, options)
    if not isinstance(source, pa.Table | pa.RecordBatch | pa.RecordBatchReader):
        frame = nw.from_native(source, pass_through=True)
        if isinstance(frame, nw.DataFrame):
            return _load_frame(frame, options)
    if hasattr(source, "__arrow_c_stream__") and not is_into_series(source):
        return _load_stream(source, options)
    _check_computed(source)
    raise unknown_container(source)


def _load_turned(source: object, options: TableOptions) -> ReadTable:
    """Read a table whose rows are the variables."""
    _check_computed(source)
    lazy = lazy_table(source)
    table, names = turned(source if lazy is None else lazy.whole())
    plain = replace(options, transpose=False, row_names=False)
    return _load(table, plain) if names is None else _load_array(table, plain, names)


def _check_computed(source: object) -> None:
    """Raise InputError for a lazy frame, unless it gives a stream of Arrow batches."""
    native = nw.to_native(source, pass_through=True)
    lazy = isinstance(nw.from_native(native, pass_through=True), nw.LazyFrame)
    if lazy and not hasattr(native, "__arrow_c_stream__"):
        raise InputError(
            f"source must be a table in memory or a stream of Arrow batches; got a {type(native).__name__}, which is "
            "lazy. Use frame.collect(), or frame.sink_parquet(FILE) and read that file."
        )


def is_sparse(source: object) -> bool:
    """Return whether this is a sparse array or matrix of SciPy, which is not imported for it."""
    return type(source).__module__.startswith("scipy.sparse") and hasattr(source, "tocsc")


def _load_pandas(frame: Any, options: TableOptions) -> ReadTable:
    """Read a pandas frame by position, because its column names can be anything."""
    own: Any = {"code": partial(_code_pandas, frame), "order": partial(order_in_types, list(frame.dtypes))}
    return _table(list(frame.columns), lambda j: frame.iloc[:, j], len(frame), options, "the data frame", **own)


def _code_pandas(frame: Any, positions: Sequence[int]) -> dict[int, Coded | None]:
    """Code the columns of a pandas frame type by type: blocks of numbers, categories, and what Arrow can hold."""
    kinds: dict[np.dtype[Any], list[int]] = {}
    dtypes, others = list(frame.dtypes), []
    for j in positions:
        if isinstance(dtypes[j], np.dtype):
            kinds.setdefault(dtypes[j], []).append(j)
        else:
            others.append(j)
    coded: dict[int, Coded | None] = {}
    for kind, group in kinds.items():
        if kind.kind in "biuO" and kind.isnative:
            for part in pieces(group, len(frame), kind.itemsize):
                together = part[-1] - part[0] + 1 == len(part)  # a slice is not copied
                block = frame.iloc[:, slice(part[0], part[-1] + 1) if together else part].to_numpy()
                found = code_objects(list(block.T)) if kind.kind == "O" else code_array(block)
                coded.update(zip(part, found, strict=True))
    if others:
        arrays = _column_arrays(frame)
        listed = [j for j in others if dtypes[j].name == "category"]
        coded.update(_code_categories({j: arrays[j] for j in listed}))
        held = set(others).difference(listed)
        coded.update(_code_arrow({j: arrays[j] for j in sorted(held) if hasattr(arrays[j], "__arrow_array__")}))
    return coded


def _column_arrays(frame: Any) -> list[Any]:
    """Return the columns of a pandas frame without their index; to make a Series of each takes 9 µs, not 1."""
    arrays = getattr(frame, "_iter_column_arrays", None)
    return [series.array for _, series in frame.items()] if arrays is None else list(arrays())


def _code_categories(arrays: Mapping[int, Any]) -> dict[int, Coded | None]:
    """Code pandas categoricals, which are positions among categories; −1 is missing."""
    codes = {j: array.codes for j, array in arrays.items()}
    kinds: dict[np.dtype[Any], list[int]] = {}
    for j, own in codes.items():
        kinds.setdefault(own.dtype, []).append(j)
    coded: dict[int, Coded | None] = {}
    for kind, group in kinds.items():
        for part in pieces(group, len(codes[group[0]]), kind.itemsize):
            found = code_array(np.array([codes[j] for j in part]).T)
            for j, column in zip(part, found, strict=True):
                categories = _listed_categories(arrays[j].categories)
                fit = set(map(type, categories)) == {str} or not any(map(unfit_label, categories))
                if column is not None and fit:
                    labels = tuple([categories[place] if place >= 0 else None for place in column[0]])
                    coded[j] = (labels, column[1], categories)
    return coded


def _listed_categories(index: Any) -> tuple[Hashable, ...]:
    """Return the categories of a pandas column; those that are Arrow strings take a third of the time by themselves."""
    array = index.array
    if hasattr(array, "__arrow_array__"):
        values = array.__arrow_array__()
        if is_text(values.type):
            return tuple(values.to_pylist())
    return tuple(index.tolist())


def _code_arrow(arrays: Mapping[int, Any]) -> dict[int, Coded | None]:
    """Code pandas columns that Arrow can hold, such as strings and nullable numbers."""
    held = {}
    for j, array in arrays.items():
        try:
            values = array.__arrow_array__()
        except (pa.ArrowException, TypeError, ValueError):
            continue
        if not isinstance(values.type, pa.BaseExtensionType):
            held[j] = values
    table = pa.Table.from_arrays(list(held.values()), names=[str(j) for j in held])
    return _code_whole(table.to_batches(), list(held), range(len(held)))


def _code_whole(
    batches: list[Any], positions: Sequence[int], columns: Sequence[int] | None = None
) -> dict[int, Coded | None]:
    """Code columns of a table of Arrow batches, which are joined if there are many."""
    if len(batches) > 1:
        batches = pa.Table.from_batches(batches).combine_chunks().to_batches()
    if len(batches) != 1:  # no rows, or strings that are too long for one
        return {}
    return dict(zip(positions, code_batch(batches[0], positions if columns is None else columns), strict=True))


def _load_frame(frame: nw.DataFrame[Any], options: TableOptions) -> ReadTable:
    """Read any other frame that narwhals supports."""
    if frame.implementation.is_pandas_like():
        return _load_pandas(frame.to_pandas(), options)
    code = partial(_code_frame, frame.to_native())
    own: Any = {"code": code, "order": lambda j: order_in_types([frame[:, j].dtype], 0)}
    return _table(frame.columns, lambda j: frame[:, j], len(frame), options, "the data frame", **own)


def _code_frame(frame: Any, positions: Sequence[int]) -> dict[int, Coded | None]:
    """Code the columns of a frame through Arrow; only an Enum of polars has categories in an order."""
    if not hasattr(frame, "__arrow_c_stream__"):
        return {}
    found = code_frame(frame, positions, len(frame))
    if found is None:
        try:
            coded = _code_whole(list(pa.RecordBatchReader.from_stream(frame)), positions)
        except pa.ArrowException:  # a type that Arrow does not have
            return {}
    else:
        coded = dict(zip(positions, found, strict=True))
    listed = [j for j, found in coded.items() if found is not None and found[2] is not None]
    if listed:
        polars = get_polars()
        kinds = frame.dtypes if polars is not None and isinstance(frame, polars.DataFrame) else None
        sort_labels(coded, [j for j in listed if kinds is None or not isinstance(kinds[j], polars.Enum)])
    return coded


def _load_stream(source: Any, options: TableOptions) -> ReadTable:
    """Read batches of Arrow columns; a single one all at once."""
    if isinstance(source, pa.RecordBatch):
        source = pa.Table.from_batches([source])
    if isinstance(source, pa.Table):
        source = source.to_reader()
    with open_stream(source) as table:
        batches = table.batches((), 0)
        first = list(islice(batches, 2))
        if len(first) != 1:
            return read_lazy(table._replace(stream=lambda _names, _rows: chain(first, batches)), options).joined()
    batch = first[0]
    own: Any = {"code": partial(_code_whole, first), "order": partial(order_in_schema, batch.schema)}
    return _table(batch.schema.names, batch.column, batch.num_rows, options, "the Arrow table", **own)


def _load_array(
    array: np.ndarray[Any, np.dtype[Any]], options: TableOptions, names: Sequence[str] | None = None
) -> ReadTable:
    """Read a 2-D array, or the fields of a structured one; columns without names are called x0, x1, ..."""
    if array.dtype.names is not None and array.ndim == 1:
        options.check_no_names("a structured array")
        fields = array.dtype.names
        return _table(fields, lambda j: array[fields[j]], len(array), options, "the structured array")
    if isinstance(array, np.matrix):  # its columns would be 2-D
        array = np.asarray(array)
    if array.ndim != 2:
        raise InputError(f"source must be a 2-D array, one row per record; got shape {array.shape}. Reshape it.")
    array = whole_again(array)
    names = options.names_of(array.shape[1]) if names is None else names
    code = partial(_code_block, array)
    return _table(names, lambda j: array[:, j], len(array), options, "the array", code=code)


def _code_block(array: np.ndarray[Any, np.dtype[Any]], positions: Sequence[int]) -> dict[int, Coded | None]:
    """Code the columns of a 2-D array of whole numbers or booleans."""
    if isinstance(array, np.ma.MaskedArray) or array.dtype.kind not in "biu" or not array.dtype.isnative:
        return {}
    chosen = array if len(positions) == array.shape[1] else array[:, positions]
    return dict(zip(positions, code_array(chosen), strict=True))


def _load_columns(columns: Mapping[Any, Any], options: TableOptions) -> ReadTable:
    """Read a dict of columns."""
    options.check_no_names("a dict of columns")
    values = [_listed(name, column) for name, column in columns.items()]
    lengths = {str(name): len(column) for name, column in zip(columns, values, strict=True)}
    if len(set(lengths.values())) > 1:
        raise DataError(f"columns must have one length; got {lengths}. Cut or fill them so that every row is complete.")
    _check_one_index(columns)
    n_rows = next(iter(lengths.values()), 0)
    return load_columns(list(columns), values, options, "the dict of columns", n_rows=n_rows)


def load_columns(
    names: Sequence[object],
    columns: Any,
    options: TableOptions,
    source: str,
    *,
    n_rows: int | None = None,
    code: Callable[[Sequence[int]], Mapping[int, Coded | None]] | None = None,
    order: Callable[[int], bool | None] | None = None,
) -> ReadTable:
    """Read columns of one length under names that may repeat.

    Parameters
    ----------
    names, columns
        One name for each column; ``columns[j]`` returns one.
    options
        The options of `read`.
    source
        Their name in messages.
    n_rows
        Number of rows; by default the length of the first column.
    code
        Codes the columns at given positions; by default those that are lists.
    order
        Returns whether the categories of a column are in an order, as for `settled_table`; by default the columns show
        it.
    """
    size = n_rows if n_rows is not None else len(columns[0]) if len(columns) else 0
    order = order or (lambda j: order_of(columns[j]))
    code = code or partial(_code_lists, columns)
    return _table(names, columns.__getitem__, size, options, source, code=code, order=order)


def _code_lists(columns: Sequence[Any], positions: Sequence[int]) -> dict[int, Coded | None]:
    """Code columns that are lists of Python values."""
    held = [j for j in positions if type(columns[j]) is list]
    return dict(zip(held, code_objects([columns[j] for j in held]), strict=True)) if held else {}


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
        options.check_no_names("a list of dicts")
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
    if fields:
        options.check_no_names("a list of named tuples")
    names = fields or options.names_of(len(first))
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
    names: Sequence[object],
    fetch: Callable[[int], Any],
    n_rows: int,
    options: TableOptions,
    source: str,
    *,
    code: Callable[[Sequence[int]], Mapping[int, Coded | None]] | None = None,
    order: Callable[[int], bool | None] | None = None,
) -> ReadTable:
    """Read the columns that `code` does not code one by one, so that only one is in memory twice at any time."""
    selection = options.select(names)
    coded = {} if code is None or not n_rows else code(categorical(selection))
    columns = read_columns(selection, coded, lambda own: _column(own, fetch(own.position)))
    return settled_table(selection, columns, n_rows, source, order).joined()


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


def load_sparse(matrix: Any, options: TableOptions) -> ReadTable:
    """Read a sparse array or matrix whose values are 0 and 1, or False and True."""
    if len(matrix.shape) != 2:
        raise InputError(f"source must be a 2-D matrix, one row per record; got shape {matrix.shape}. Reshape it.")
    n_rows, n_columns = matrix.shape
    columns = _SparseColumns(matrix)
    names = options.names_of(n_columns)
    code = partial(_code_columns, columns)
    return load_columns(names, columns, options, "the sparse matrix", n_rows=n_rows, code=code)


class _SparseColumns:
    """The columns of a sparse matrix, each made dense when it is fetched."""

    def __init__(self, matrix: Any) -> None:
        self.n_rows, self._n_columns = map(int, matrix.shape)
        columns = sound_sparse("source", matrix).tocsc(copy=False)
        if not columns.has_canonical_format:
            columns = columns.copy()  # that of the caller stays as it is
            columns.sum_duplicates()
        wrong = np.flatnonzero((columns.data != 0) & (columns.data != 1))
        if wrong.size:
            first = int(wrong[0])
            j = int(np.searchsorted(columns.indptr, first, side="right")) - 1
            raise DataError(
                f"a sparse matrix must hold 0 and 1, or False and True; column {j}, data row "
                f"{int(columns.indices[first]) + 1} holds {columns.data[first]} ({wrong.size} such values). Use "
                "(matrix != 0) for presence, or .toarray() for values."
            )
        self._starts, self._rows, self._values = columns.indptr, columns.indices, columns.data != 0
        self.labels: tuple[int, int] = (False, True) if columns.dtype == np.bool_ else (0, 1)

    def __len__(self) -> int:
        return self._n_columns

    def __getitem__(self, j: int) -> NDArray[Any]:
        """Return a column as integers or booleans."""
        ones = slice(self._starts[j], self._starts[j + 1])
        column = np.zeros(self.n_rows, dtype=np.uint8)
        column[self._rows[ones][self._values[ones]]] = 1
        return column.view(np.bool_) if self.labels[0] is False else column


def _code_columns(columns: _SparseColumns, positions: Sequence[int]) -> dict[int, Coded | None]:
    """Code columns: the values are the codes already, unless all of them are equal."""
    coded: dict[int, Coded | None] = {}
    for j in positions:
        codes = columns[j].view(np.uint8)
        n_ones = int(np.count_nonzero(codes))
        if 0 < n_ones < len(codes):
            coded[j] = (columns.labels, codes, None)
        else:
            coded[j] = ((columns.labels[1 if n_ones else 0],), np.zeros_like(codes), None)
    return coded
