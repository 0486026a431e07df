"""Columns that have a type: Arrow arrays and Python objects. Imported on first use: it needs pyarrow."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Sequence
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from typing import Any
from uuid import UUID

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from mnlearn.data.columns import (
    BATCH_ROWS,
    Codes,
    ColumnReader,
    Numbers,
    ReadColumn,
    Reason,
    TooManyError,
    WholeColumns,
    by_first_row,
    code_batch,
    code_objects,
    coded_column,
    is_marker,
    mixed,
    not_a_number,
)
from mnlearn.data.dataset import MAX_STATES
from mnlearn.data.options import ColumnOptions, unfit_label
from mnlearn.data.text import TextColumn, flat, floats
from mnlearn.errors import DataError


def column_for(options: ColumnOptions, type_: Any) -> ColumnReader:
    """Return the column reader for an Arrow type and the given options."""
    kinds = pa.types
    if kinds.is_dictionary(type_):
        value_type, categories = type_.value_type, True
    else:
        value_type, categories = getattr(type_, "storage_type", type_), False
    if kinds.is_nested(value_type) or (_is_bytes(value_type) and _extension(type_) != "arrow.uuid"):
        raise not_single(options.name, f"it holds {value_type}")
    continuous = kinds.is_floating(value_type) or kinds.is_decimal(value_type)
    if options.is_numeric:
        if is_text(value_type):
            return TextColumn(options)
        if not (
            continuous or kinds.is_integer(value_type) or kinds.is_boolean(value_type) or kinds.is_null(value_type)
        ):
            raise _numbers_only(options, value_type)
        return NumberColumn(options)
    if continuous and options.is_open and not categories:
        return NumberColumn(options)
    if kinds.is_integer(value_type) and options.is_open and not categories:
        return IntegerColumn(options)
    return ValueColumn(options, categories=categories)


def whole_column(options: ColumnOptions, array: Any, type_: Any = None) -> ReadColumn:
    """Read a whole Arrow array in slices, so that too many categories are found early.

    The type is that of the column, if the array has another one for speed.
    """
    column = column_for(options, array.type if type_ is None else type_)
    for chunk in array.chunks if isinstance(array, pa.ChunkedArray) else (array,):
        add_slices(column, chunk)
    return column.finish()


def add_slices(column: ColumnReader, array: Any) -> None:
    """Read an array in slices of a bounded number of rows."""
    for start in range(0, len(array), BATCH_ROWS):
        column.add(array.slice(start, BATCH_ROWS))


class NumberColumn(Numbers):
    """Reader of a continuous column."""

    def add(self, array: Any) -> None:
        """Read the next numbers; null becomes NaN."""
        self.extend(floats(_plain(array).cast(pa.float64(), safe=False)))


class ValueColumn:
    """Reader of a categorical column of typed values: integers, booleans, strings, dates, categories of a frame."""

    def __init__(self, options: ColumnOptions, *, categories: bool = False) -> None:
        self._options = options
        self._codes = Codes(options)
        self._categories: dict[Hashable, None] | None = {} if categories and options.levels is None else None
        self._doubts: dict[str, None] = {}
        self._last: Any = None  # the dictionary read last
        self._labels: Sequence[Hashable] = ()  # those of the last values, and their codes
        self._lookup: list[int] = []

    def add(self, array: Any) -> None:
        """Read the next values."""
        coded = code_batch(pa.RecordBatch.from_arrays([array], names=["values"]), [0])[0]
        if coded is not None:
            self.add_whole(*coded)
        elif pa.types.is_dictionary(array.type):
            self._add_dictionary(array.dictionary, _rows(array))
        else:
            values = _plain(array).dictionary_encode()
            labels = self._values(values.dictionary)
            if _extension(array.type) == "arrow.uuid":
                labels = [None if label is None else str(UUID(bytes=label)) for label in labels]
            self.add_coded(labels, _rows(values))

    def add_whole(
        self, labels: Sequence[Hashable], rows: NDArray[np.integer], categories: Iterable[Hashable] | None
    ) -> None:
        """Read values that the core has coded."""
        if categories is not None:
            self.expect(categories)
        if labels != self._labels:
            doubtful = [k for k, label in enumerate(labels) if self._options.is_doubtful(label)]
            for k in by_first_row(doubtful, rows):
                self._code(labels[k])
            self._labels, self._lookup = labels, [self._code(label) for label in labels]
        self._codes.tally(labels, self._lookup, rows)
        self._codes.extend(self._lookup, rows)

    def _add_dictionary(self, dictionary: Any, rows: NDArray[np.integer]) -> None:
        """Read rows given as positions in a dictionary, of which they may use a small part."""
        if self._categories is not None and (self._last is None or not dictionary.equals(self._last)):
            self._last = dictionary
            self.expect(self._values(dictionary))
        if len(dictionary) > MAX_STATES:
            used = np.unique(rows)
            rows, dictionary = np.searchsorted(used, rows), dictionary.take(pa.array(used[used < len(dictionary)]))
        self.add_places(self._values(dictionary), rows)

    def _values(self, values: Any) -> list[Any]:
        """Return Arrow values as Python values, or raise DataError where Python has no equal ones."""
        try:
            if pa.types.is_time64(values.type) and values.type.unit == "ns":
                values = values.cast(pa.time64("us"))  # Python would drop the nanoseconds
            return values.to_pylist()  # type: ignore[no-any-return]
        except (pa.ArrowInvalid, ValueError, OverflowError) as error:
            raise DataError(
                f"column {self._options.name!r} must hold values that Python has, such as times in microseconds and "
                f"years up to 9999; it holds {values.type} ({error}). Round them, or turn them into strings."
            ) from error

    def expect(self, categories: Iterable[Hashable]) -> None:
        """Note the categories that come with the data, in their order."""
        if self._categories is not None:
            self._categories.update(dict.fromkeys(categories))

    def add_places(self, labels: Sequence[Hashable], rows: NDArray[np.integer]) -> None:
        """Read rows given as positions among labels; labels that do not occur get no code."""
        if any(label not in self._codes.index for label in labels):
            used = np.bincount(rows[:BATCH_ROWS], minlength=len(labels))
            if not used.all():
                used += np.bincount(rows[BATCH_ROWS:], minlength=len(used))[: len(used)]
            labels = [label if used[k] else None for k, label in enumerate(labels)]
        self.add_coded(labels, rows)

    def add_coded(self, labels: Iterable[Hashable], rows: NDArray[np.integer]) -> None:
        """Read rows given as positions among labels; the position after the last label is missing."""
        listed = list(labels)
        lookup = [*(self._code(label) for label in listed), 0]
        self._codes.tally(listed, lookup, rows)
        self._codes.extend(lookup, rows)

    def finish(self) -> ReadColumn:
        """Return the column with its levels in order."""
        labels = list(self._codes.index)
        return coded_column(self._codes, labels, self._options, categories=self._categories, doubts=tuple(self._doubts))

    def _code(self, label: Hashable) -> int:
        """Return the code of a value, 0 when missing."""
        if self._options.is_missing(label):
            return 0
        if self._options.is_doubtful(label):
            self._doubts[str(label)] = None
            return 0
        return self._codes.code(label)


class IntegerColumn(ValueColumn):
    """Reader of integers: categories, or numbers as soon as there are too many different ones."""

    def __init__(self, options: ColumnOptions) -> None:
        super().__init__(options)
        self._numbers: Numbers | None = None

    def add(self, array: Any) -> None:
        """Read the next integers."""
        if self._numbers is None:
            try:
                super().add(array)
            except TooManyError:
                self._numbers = self._as_numbers()
            else:
                return
        self._numbers.extend(floats(_plain(array).cast(pa.float64(), safe=False)))

    def add_whole(
        self, labels: Sequence[Hashable], rows: NDArray[np.integer], categories: Iterable[Hashable] | None
    ) -> None:
        """Read integers that the core has coded."""
        if self._numbers is None:
            try:
                super().add_whole(labels, rows, categories)
            except TooManyError:
                self._numbers = self._as_numbers()
            else:
                return
        self._numbers.extend(np.array(labels, dtype=np.float64)[rows])  # None becomes NaN

    def finish(self) -> ReadColumn:
        """Return the column."""
        return super().finish() if self._numbers is None else self._numbers.finish((), Reason.MANY)

    def _as_numbers(self) -> Numbers:
        """Return the integers so far as numbers."""
        numbers = Numbers(self._options)
        numbers.marked += self._codes.marked
        table = np.array([np.nan, *self._codes.index], dtype=np.float64)
        for chunk in self._codes.chunks:
            numbers.extend(table[chunk])
        self._codes.chunks.clear()
        return numbers


def categories_column(
    options: ColumnOptions, categories: Sequence[Hashable], rows: NDArray[np.signedinteger]
) -> ReadColumn:
    """Read positions among categories (-1 is missing), as pandas stores them; labels can be of any type."""
    if options.is_numeric:
        raise _numbers_only(options, "categories")
    unfit = next(filter(None, map(unfit_label, categories)), None)
    if unfit is not None:
        raise not_single(options.name, f"a category is {unfit}")
    column = ValueColumn(options, categories=True)
    column.expect(categories)
    column.add_places(categories, np.where(rows < 0, len(categories), rows))
    return column.finish()


def _rows(array: Any) -> NDArray[Any]:
    """Return the positions of a dictionary array; missing values have the one after the last."""
    rows, size = array.indices, len(array.dictionary)
    if rows.null_count:  # a small index type may have no number left for missing values
        rows = rows.cast(pa.int64()).fill_null(size)
    places = flat(rows)
    if places.dtype == np.uint64:
        places = places.astype(np.int64)
    if len(places) and not 0 <= int(places.min()) <= int(places.max()) <= size - (not array.indices.null_count):
        raise DataError(
            f"positions in a dictionary must be from 0 to {size - 1}; got {int(places.min())} to {int(places.max())}. "
            "Write the data again: their dictionary does not fit them."
        )
    return places


def _plain(array: Any) -> Any:
    """Return an array without dictionary or extension type."""
    if pa.types.is_dictionary(array.type):
        return array.dictionary_decode()
    return array.storage if isinstance(array, pa.ExtensionArray) else array


def _is_bytes(type_: Any) -> bool:
    """Return whether this is one of Arrow's types for bytes."""
    names = ("is_binary", "is_large_binary", "is_fixed_size_binary", "is_binary_view")
    return any(getattr(pa.types, name)(type_) for name in names if hasattr(pa.types, name))


def _extension(type_: Any) -> str:
    """Return the name of an extension type, or nothing."""
    return str(getattr(type_, "extension_name", ""))


_TEXT = frozenset(getattr(pa, name)().id for name in ("string", "large_string", "string_view") if hasattr(pa, name))


def is_text(type_: Any) -> bool:
    """Return whether this is one of Arrow's string types."""
    return type_.id in _TEXT


# Columns of Python objects: records, lists, object columns


_FLAGS, _WHOLE, _DECIMAL = "true/false", "whole numbers", "numbers"
_FAMILIES: tuple[tuple[type, ...], ...] = (
    (bool, np.bool_),
    (int, float, Decimal, np.integer, np.floating),
    (str,),
)
_SAME = frozenset({date, datetime, time, timedelta, np.datetime64, np.timedelta64})  # not their subclasses


def object_column(options: ColumnOptions, values: Sequence[object]) -> ReadColumn:
    """Read a list of values: by the core if they are simple, or through Arrow if it has a type for all of them."""
    if type(values) is list and values and not options.is_numeric:
        coded = code_objects([values])[0]
        if coded is not None:
            return WholeColumns().column(options, *coded)
    array = _as_arrow(values)
    return _each(options, values) if array is None else whole_column(options, array)


def _as_arrow(values: Sequence[object]) -> Any:
    """Return the values as an Arrow array, or None if it would change their labels."""
    if not _are_alike(values):
        return None
    try:
        array = pa.array(values, from_pandas=True)
    except (pa.ArrowException, OverflowError, TypeError, ValueError):
        return None
    kinds = pa.types
    if kinds.is_nested(array.type) or kinds.is_binary(array.type) or isinstance(array, pa.ExtensionArray):
        return None
    return array


def _are_alike(values: Sequence[object]) -> bool:
    """Return whether Arrow keeps values of these types as they are.

    Its result for a mixture depends on the order: after a date it cuts a datetime to its day and reads 1 as
    2 January 1970, after 1.5 it reads True as 1, after a datetime it drops a time zone. pandas' own times lose their
    nanoseconds.
    """
    types = {type_ for type_ in set(map(type, values)) if type_.__name__ not in ("NoneType", "NAType", "NaTType")}
    families = {next((family[0] for family in _FAMILIES if issubclass(type_, family)), type_) for type_ in types}
    if families == {datetime}:
        return len({value.tzinfo for value in values if type(value) is datetime}) == 1
    if families == {str, int}:  # NaN marks a missing value; Arrow rejects any other number among strings
        return types <= {str, float}
    return len(families) <= 1 and all(family in _SAME or family in (bool, int, str) for family in families)


def _each(options: ColumnOptions, values: Sequence[object]) -> ReadColumn:
    """Read value by value: labels can be anything hashable, but of one kind unless declared categorical."""
    labels = [_label(options, value, row) for row, value in enumerate(values, start=1)]
    doubts = tuple(dict.fromkeys(str(label) for label in labels if options.is_doubtful(label)))
    gone = [label for label in labels if options.is_missing(label) or options.is_doubtful(label)]
    marked = Counter(str(label).strip() for label in gone if is_marker(label))
    labels = [None if options.is_missing(label) or options.is_doubtful(label) else label for label in labels]
    kinds: dict[str, tuple[Hashable, int]] = {}
    for row, label in enumerate(labels, start=1):
        if label is not None:
            kinds.setdefault(_kind(label), (label, row))
    _check_one_kind(options, kinds)
    if options.is_numeric or (options.is_open and _DECIMAL in kinds):
        return _numbers(options, labels, kinds, doubts)._replace(marked=marked)
    codes = Codes(options)
    rows = np.array([0 if label is None else codes.code(label) for label in labels], dtype=np.uint16)
    codes.extend(range(len(codes.index) + 1), rows)
    return coded_column(codes, list(codes.index), options, doubts=doubts)._replace(marked=marked)


def _label(options: ColumnOptions, value: object, row: int) -> Hashable:
    """Return a value as a label: NumPy scalars become Python values, every missing value becomes None."""
    if isinstance(value, np.ma.MaskedArray) and not value.ndim:  # a masked value taken out of its array
        value = None if value.mask else value.data[()]
    if isinstance(value, np.longdouble | np.clongdouble):  # Python has no such numbers: `item` returns them as they are
        value = float(value) if isinstance(value, np.longdouble) else complex(value)
    if isinstance(value, np.generic) and not isinstance(value, np.datetime64 | np.timedelta64):
        value = value.item()
    if type(value).__name__ in ("NAType", "NaTType") or (isinstance(value, np.generic) and np.isnat(value)):
        return None
    unfit = unfit_label(value)
    if unfit is not None:
        raise not_single(options.name, f"data row {row} holds {unfit}")
    return value


def _numbers_only(options: ColumnOptions, found: object) -> DataError:
    """Return the error for a column that cannot be continuous, or hold repeats."""
    if options.is_weights:
        return DataError(
            f"weights: column {options.name!r} must hold numbers; it holds {found}. Turn them into numbers."
        )
    if options.is_repeats:
        return DataError(
            f"repeats: column {options.name!r} must hold whole numbers; it holds {found}. Turn them into integers."
        )
    return DataError(
        f"types[{options.name!r}] can be {options.type!r} for numbers only; the column holds {found}. Turn them into "
        "numbers, or drop that type."
    )


def not_single(name: str, found: str) -> DataError:
    """Return the error for a column of lists, records, bytes or complex numbers."""
    return DataError(
        f"column {name!r} must hold single values: numbers, strings, true/false or dates; {found}. Split it into "
        f"columns of their own, turn it into strings, or leave it out with drop=[{name!r}]."
    )


def _kind(label: Hashable) -> str:
    """Return the kind of a label, in words."""
    if isinstance(label, bool):
        return _FLAGS
    if isinstance(label, int):
        return _WHOLE
    if isinstance(label, float | Decimal):
        return _DECIMAL
    if isinstance(label, datetime):  # pandas' timestamps too
        return "datetime"
    return "text" if isinstance(label, str) else type(label).__qualname__


def _check_one_kind(options: ColumnOptions, kinds: dict[str, tuple[Hashable, int]]) -> None:
    """Raise an error for two kinds of values, unless both are numbers or the type was given.

    True among numbers is always an error: it would be the same label as 1.
    """
    first = next(iter(kinds), None)
    if first is None or not (options.is_open or {_FLAGS, _WHOLE} <= kinds.keys() or {_FLAGS, _DECIMAL} <= kinds.keys()):
        return
    alike = {_WHOLE, _DECIMAL} if first in (_WHOLE, _DECIMAL) else {first}
    other = next((kind for kind in kinds if kind not in alike), None)
    if other is not None:
        raise mixed(options.name, (first, *kinds[first]), (other, *kinds[other]))


def _numbers(
    options: ColumnOptions, labels: Sequence[Hashable], kinds: dict[str, tuple[Hashable, int]], doubts: tuple[str, ...]
) -> ReadColumn:
    """Return the column as numbers."""
    for kind, (label, row) in kinds.items():
        if kind not in (_WHOLE, _DECIMAL):
            raise not_a_number(options, label, row)
    numbers = Numbers(options)
    numbers.extend(np.array([np.nan if label is None else float(label) for label in labels]))  # type: ignore[arg-type]
    return numbers.finish(doubts)


# Streams of Arrow batches


def read_batches_into(columns: Sequence[tuple[str, ColumnReader]], batches: Iterable[Any]) -> int:
    """Read batches into column readers and return the number of rows."""
    n_rows = 0
    for batch in batches:
        n_rows += batch.num_rows
        where = {name: position for position, name in enumerate(batch.schema.names)}
        placed = [(where[name], column) for name, column in columns]
        for start in range(0, batch.num_rows, BATCH_ROWS):
            _read_batch(placed, batch.slice(start, BATCH_ROWS))
    return n_rows


def _read_batch(columns: Sequence[tuple[int, ColumnReader]], batch: Any) -> None:
    """Read some rows into column readers: values are coded for all columns together."""
    values = [position for position, column in columns if isinstance(column, ValueColumn)]
    found = iter(code_batch(batch, values))
    for position, column in columns:
        if isinstance(column, ValueColumn) and (coded := next(found)) is not None:
            column.add_whole(*coded)
        else:
            column.add(batch.column(position))
