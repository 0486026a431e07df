"""Columns while they are read: codes are collected batch by batch, then put in the order of their labels.

Codes of whole columns, made by the native core for many columns at a time.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import date, time, timedelta
from decimal import Decimal
from enum import Enum
from functools import partial
from numbers import Real
from types import MappingProxyType
from typing import Any, Literal, NamedTuple, Protocol, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

from mnlearn._core import code_arrow, code_block, code_lists, code_stream, recode
from mnlearn.data.dataset import MAX_STATES
from mnlearn.data.options import Chunks, ColumnOptions, ColumnSelection, is_nan
from mnlearn.errors import DataError

BATCH_ROWS = 1 << 16
_NO_CODES = np.zeros(256, dtype=np.uint8)
NOT_MARKED: Mapping[str, int] = MappingProxyType({})
T = TypeVar("T")


class Reason(Enum):
    """Reason for the type of a column, where its values alone do not show it."""

    BY_VALUE = "the type of its values"
    DECLARED = "declared"
    ORDERED = "ordered in the source"
    MANY = "many whole numbers"
    NUMBERED = "whole numbers that number the rows: to be declared"
    WHOLE_WITH_GAPS = "whole decimals with gaps"
    BESIDE_MARKER = "numbers beside a marker of missing values"
    WHOLE_DECIMALS = "whole decimals without gaps"


class ColumnReader(Protocol):
    """Reader of one column, one Arrow array after another."""

    def add(self, array: object) -> None: ...
    def finish(self) -> ReadColumn: ...


class ReadColumn(NamedTuple):
    """A column whose every value was read: its values in chunks, and what they mean.

    With a table the chunks are positions in it, and it holds 0 for missing and k + 1 for the k-th level; without one
    they are numbers, NaN where missing.
    """

    name: str
    chunks: Chunks
    table: NDArray[np.generic] | None = None
    levels: tuple[Hashable, ...] | None = None
    declared: bool = False  # the levels stay even when no row has them
    doubts: tuple[str, ...] = ()  # strings taken as missing that the caller should confirm
    may_lack: bool = True  # whether a value may be missing, or a number infinite
    final: bool = False  # whether the chunks are final codes while all rows stay
    marked: Mapping[str, int] = NOT_MARKED  # how many values were missing by each marker; blanks not counted
    categories: tuple[Hashable, ...] = ()  # those that came with the data, whether a row has them or not
    reason: Reason = Reason.BY_VALUE
    kind: Literal["ordinal", "count"] | None = None  # None for nominal with levels, and continuous without

    def unused(self, levels: Iterable[Hashable] | None) -> tuple[Hashable, ...]:
        """Return the categories that came with the data and are not among the final levels."""
        used = set(levels or ())
        return tuple(label for label in self.categories if label not in used)

    def joined(self) -> ReadColumn:
        """Return the column in one chunk; the old chunks are released one by one."""
        if self.table is not None and len(self.chunks) == 1:  # numbers may be those of the caller
            return self
        end = sum(map(len, self.chunks))
        values = np.empty(end, np.result_type(*{chunk.dtype for chunk in self.chunks}) if end else np.float64)
        while len(self.chunks):
            chunk = self.chunks.pop()
            values[end - len(chunk) : end] = chunk
            end -= len(chunk)
        return self._replace(chunks=[values])


def reason_of(column: ReadColumn) -> str:
    """Return why a column has its kind, in words; nothing where its values show it."""
    return "" if column.reason is Reason.BY_VALUE else str(column.reason.value)


class ReadTable(NamedTuple):
    """The variables that were read, the repeats beside them, and the name of the source in messages."""

    columns: list[ReadColumn]
    repeats: ReadColumn | None
    n_rows: int
    source: str
    weighted: bool = False  # the repeats are weights

    def joined(self) -> ReadTable:
        """Return the table with each column in one chunk."""
        repeats = None if self.repeats is None else self.repeats.joined()
        columns = [column if column.final and len(column.chunks) == 1 else column.joined() for column in self.columns]
        return self._replace(columns=columns, repeats=repeats)


class Codes:
    """Codes of the rows so far, 0 for missing and k for the k-th label, and the labels in order of first occurrence."""

    def __init__(self, options: ColumnOptions) -> None:
        self.name = options.name
        self.n_rows = 0
        self.index: dict[Hashable, int] = {}
        self.chunks = options.new_chunks()
        self.has_zeros = False
        self.marked: Counter[str] = Counter()
        self._lookup: Sequence[int] = ()  # of the last rows, as a table
        self._table: NDArray[Any] = _NO_CODES
        self._one_up = False  # whether it only adds one

    def tally(self, labels: Sequence[object], lookup: Sequence[int], rows: NDArray[np.integer]) -> None:
        """Count the values among these rows that were missing by a marker."""
        markers = [k for k, label in enumerate(labels) if not lookup[k] and is_marker(label)] if 0 in lookup else []
        if markers:
            counts = np.bincount(rows, minlength=len(labels))
            for k in by_first_row([k for k in markers if counts[k]], rows):
                self.marked[str(labels[k]).strip()] += int(counts[k])

    def code(self, label: Hashable) -> int:
        """Return the code of a label, new or known."""
        code = self.index.get(label)
        if code is None:
            if len(self.index) == MAX_STATES:
                raise too_many(self.name)
            code = self.index[label] = len(self.index) + 1
        return code

    def extend(self, lookup: Sequence[int], rows: NDArray[np.integer]) -> None:
        """Append rows given as positions in `lookup`, a list of codes."""
        if lookup is not self._lookup:
            kind = np.uint8 if max(lookup, default=0) <= 255 else np.uint16
            table = np.array(lookup or [0], dtype=kind)
            small = kind is np.uint8 and len(table) <= 256
            self._one_up = small and lookup == list(range(1, len(lookup) + 1))
            self._lookup, self._table = lookup, byte_table(table) if small else table
        codes: NDArray[Any]
        if self._one_up and rows.dtype == np.uint8:
            codes = rows + np.uint8(1)
        elif len(self._table) == 256 and self._table.dtype == np.uint8 and rows.dtype.itemsize <= 4:
            codes = rows.astype(np.uint8)
            recode(codes, self._table)
        else:
            codes = np.take(self._table, rows)
        self.has_zeros = self.has_zeros or (0 in lookup and not codes.all())
        self.chunks.append(codes)
        self.n_rows += len(codes)


def byte_table(codes: NDArray[Any]) -> NDArray[np.uint8]:
    """Return a table for `recode` that begins with these codes."""
    table = np.zeros(256, dtype=np.uint8)
    table[: len(codes)] = codes
    return table


class Numbers:
    """Values of a continuous column: float64, NaN where missing."""

    def __init__(self, options: ColumnOptions) -> None:
        self.name = options.name
        self.n_rows = 0
        self._markers = np.array(_floats(options.markers.numbers), dtype=np.float64)
        self._chunks = options.new_chunks()
        self.marked: Counter[str] = Counter()

    def extend(self, values: NDArray[np.float64]) -> None:
        """Append values; named markers become missing."""
        for marker in self._markers.tolist():
            found = values == marker
            if found.any():
                self.marked[f"{marker:g}"] += int(np.count_nonzero(found))
                values = np.where(found, np.nan, values)
        self._chunks.append(values)
        self.n_rows += len(values)

    def finish(self, doubts: Sequence[str] = (), reason: Reason = Reason.BY_VALUE) -> ReadColumn:
        """Return the column."""
        return ReadColumn(self.name, self._chunks, doubts=tuple(doubts), marked=self.marked, reason=reason)


def _floats(numbers: Iterable[float]) -> list[float]:
    """Return the numbers that are not too large for a float."""
    found = []
    for number in numbers:
        with suppress(OverflowError):
            found.append(float(number))
    return found


def by_first_row(positions: Iterable[int], rows: NDArray[np.integer]) -> list[int]:
    """Return positions among labels in the order of the first row of each; all of them occur."""
    chosen = list(positions)
    if len(chosen) < 2:
        return chosen
    if len(chosen) < 16:
        return sorted(chosen, key=lambda k: int(np.argmax(rows == k)))
    first = np.zeros(max(int(rows.max()), *chosen) + 1, dtype=np.int64)
    first[rows[::-1]] = np.arange(len(rows) - 1, -1, -1)  # the last write is that of the first row
    return sorted(chosen, key=lambda k: int(first[k]))


def is_marker(value: object) -> bool:
    """Return whether a missing value is a marker with a name: not None, NaN or blank."""
    return value is not None and not is_nan(value) and bool(str(value).strip())


class Meaning(NamedTuple):
    """Meaning of the positions in the chunks of a categorical column: a table to the levels, 0 for missing."""

    levels: tuple[Hashable, ...]
    table: NDArray[np.generic]
    categories: tuple[Hashable, ...]

    @classmethod
    def of(
        cls, labels: Sequence[Hashable | None], options: ColumnOptions, categories: Iterable[Hashable] | None = None
    ) -> Meaning:
        """Put the labels of the positions in order; a label of None is missing.

        Declared levels keep their order and count even if no row has them. The `categories` that came with the data
        keep their order, but only those that occur are levels. All others are sorted.
        """
        seen = dict.fromkeys(label for label in labels if label is not None)
        kept: tuple[Hashable, ...] = ()
        if options.levels is not None:
            _check_inside(options, seen)
            levels = options.levels
        elif categories is not None:
            kept = tuple(label for label in categories if not (options.is_missing(label) or options.is_doubtful(label)))
            levels = tuple(label for label in kept if label in seen)
        else:
            levels = tuple(sorted(seen, key=order_key))
        place = {label: k for k, label in enumerate(levels, start=1)}
        table = [0 if label is None else place[label] for label in labels]
        return cls(levels, np.array(table, dtype=np.uint8 if len(levels) <= 255 else np.uint16), kept)


def coded_column(
    codes: Codes,
    labels: Sequence[Hashable | None],
    options: ColumnOptions,
    *,
    categories: Iterable[Hashable] | None = None,
    doubts: Sequence[str] = (),
) -> ReadColumn:
    """Return a categorical column; `labels[k - 1]` is the label of code k, None when missing, and every code occurs."""
    meaning = Meaning.of([None, *labels], options, categories)
    return ReadColumn(
        codes.name,
        codes.chunks,
        meaning.table,
        meaning.levels,
        declared=options.levels is not None,
        doubts=tuple(doubts),
        may_lack=codes.has_zeros or None in labels,
        categories=meaning.categories,
        marked=codes.marked + _in_doubt(codes, labels),
    )


class WholeColumns:
    """Columns whose values were coded all at once; those with the same labels share what is made of these."""

    def __init__(self) -> None:
        self._known: dict[object, _Judged] = {}

    def column(
        self,
        options: ColumnOptions,
        labels: tuple[Hashable | None, ...],
        rows: NDArray[np.unsignedinteger],
        categories: tuple[Hashable, ...] | None = None,
    ) -> ReadColumn:
        """Return a column given as positions of the rows among labels; every label occurs, and None is missing."""
        judged = None
        if options.type is None and options.levels is None:
            # To Python the labels 0, 1 equal False, True; those of categories can be of several types.
            kinds = type(labels[-1]) if categories is None else tuple(map(type, (*labels, *categories)))
            judged = self._known.get((labels, kinds, categories))
        if judged is None:
            judged = _Judged.of(labels, options, categories)
            if options.is_open:
                self._known[labels, kinds, categories] = judged
        (levels, table, kept), may_lack, final, unclear = judged
        doubts, marked = judged.in_rows(rows) if unclear else ((), NOT_MARKED)
        return ReadColumn(
            options.name, [rows], table, levels, options.levels is not None, doubts, may_lack, final, marked, kept
        )


class _Judged(NamedTuple):
    """Labels that were checked for markers of missing values."""

    meaning: Meaning
    may_lack: bool
    final: bool
    unclear: tuple[tuple[int, str, bool], ...]  # labels taken as missing: position, label, whether it is a doubt

    @classmethod
    def of(
        cls, labels: Sequence[Hashable | None], options: ColumnOptions, categories: tuple[Hashable, ...] | None
    ) -> _Judged:
        """Judge every label by the options of its column."""
        doubts = [options.is_doubtful(label) and not options.is_missing(label) for label in labels]
        kept = [
            None if doubt or options.is_missing(label) else label for label, doubt in zip(labels, doubts, strict=True)
        ]
        meaning = Meaning.of(kept, options, categories)
        unclear = tuple(
            (k, str(label), doubts[k]) for k, label in enumerate(labels) if kept[k] is None and is_marker(label)
        )
        final = len(meaning.levels) == len(labels) and bool((meaning.table == np.arange(1, len(labels) + 1)).all())
        return cls(meaning, None in kept, final, unclear)

    def in_rows(self, rows: NDArray[np.unsignedinteger]) -> tuple[tuple[str, ...], Counter[str]]:
        """Return the doubts in order of first occurrence, and how many rows each marker has."""
        counts = np.bincount(rows)
        place = {found[0]: found for found in self.unclear}
        unclear = [place[k] for k in by_first_row(place, rows)]
        marked: Counter[str] = Counter()
        for k, label, _ in unclear:
            marked[label.strip()] += int(counts[k])
        return tuple(dict.fromkeys(label for _, label, doubt in unclear if doubt)), marked


def _in_doubt(codes: Codes, labels: Sequence[Hashable | None]) -> Counter[str]:
    """Count the cells with a code whose label turned out to be missing."""
    places = {code: str(cell) for (cell, code), label in zip(codes.index.items(), labels, strict=True) if label is None}
    return Counter(
        {cell: sum(int(np.count_nonzero(chunk == code)) for chunk in codes.chunks) for code, cell in places.items()}
    )


def order_key(label: Hashable) -> tuple[object, ...]:  # noqa: PLR0911 - one line per type
    """Return the sort key of a label, independent of the rows: numbers by value, strings by code point."""
    if isinstance(label, Real | Decimal):
        return (0, label)
    if isinstance(label, str):
        return (1, label)
    if isinstance(label, date | time):
        return (2, type(label).__name__, label.isoformat())
    if isinstance(label, timedelta):
        return (3, label)
    if isinstance(label, bytes):
        return (4, label)
    if isinstance(label, tuple):
        return (5, tuple(order_key(part) for part in label))
    if isinstance(label, frozenset):
        return (6, sorted(order_key(part) for part in label))
    # A default repr is a memory address: such labels stay in order of first occurrence.
    shown = "" if type(label).__repr__ is object.__repr__ else repr(label)
    return (7, type(label).__qualname__, shown)


# Errors


class TooManyError(DataError):
    """A column has more distinct values than a categorical variable may have."""


def too_many(name: str) -> TooManyError:
    """Return the error for a column with more distinct values than a categorical variable may have."""
    return TooManyError(
        f"column {name!r} must have at most {MAX_STATES:,} distinct values to be categorical; it has more. "
        f"Leave it out with drop=[{name!r}], or, if it is a quantity, read it with types={{{name!r}: 'continuous'}}."
    )


class MixedTypesError(DataError):
    """A column holds two kinds of values; the message shows one of each."""

    def __init__(self, message: str, name: str) -> None:
        super().__init__(message)
        self.name = name


class Mixtures:
    """Collects the columns with mixed types, so that one message names them all."""

    def __init__(self) -> None:
        self._found: list[MixedTypesError] = []

    def attempt(self, step: Callable[[], T]) -> T | None:
        """Run a step for one column; store its error for later."""
        try:
            return step()
        except MixedTypesError as error:
            self._found.append(error)
            return None

    def report(self) -> None:
        """Raise the first error, with the names of the other columns."""
        if not self._found:
            return
        first, *others = self._found
        if not others:
            raise first
        listed = ", ".join(repr(error.name) for error in others[:8]) + (", ..." if len(others) > 8 else "")
        raise MixedTypesError(f"{first} So do {len(others)} more: {listed}.", first.name)


def mixed(name: str, first: tuple[str, object, int], second: tuple[str, object, int]) -> MixedTypesError:
    """Return the error for a column that holds two kinds of values; each is (kind, example, data row)."""
    (one, example, row), (other, counterexample, other_row) = sorted((first, second), key=lambda found: found[2])
    marker = example if one == "text" else counterexample
    equal = "true/false" in (one, other) and "numbers" in f"{one} {other}"  # True and 1 would be one label
    instead = "turn all of them into strings" if equal else f"use types={{{name!r}: 'categorical'}}"
    return MixedTypesError(
        f"column {name!r} must hold one type of value; it mixes {one} ({example!r}, data row {row}) and "
        f"{other} ({counterexample!r}, data row {other_row}). Use missing_values=[{marker!r}] if that marks a "
        f"missing value, or {instead} if both are labels.",
        name,
    )


def not_a_number(options: ColumnOptions, value: object, row: int) -> DataError:
    """Return the error for a value in a continuous column that is not a number."""
    name = options.name
    if options.is_repeats:
        what = (
            "weights: column {} must hold numbers"
            if options.is_weights
            else "repeats: column {} must hold whole numbers"
        )
        return DataError(f"{what.format(repr(name))}; data row {row} holds {value!r}. Correct or drop it.")
    return DataError(
        f"column {name!r} must hold numbers because it is read as {options.type or 'continuous'}; data row {row} holds "
        f"{value!r}. Use missing_values=[{value!r}] if it marks a missing value, or types={{{name!r}: 'categorical'}}."
    )


class UndeclaredError(DataError):
    """A column holds a label that its declared levels do not list."""

    def __init__(self, column: str, label: Hashable, message: str) -> None:
        super().__init__(message)
        self.column, self.label = column, label


def _check_inside(options: ColumnOptions, seen: dict[Hashable, None]) -> None:
    """Raise UndeclaredError if a label is not among the declared levels."""
    outside = sorted((label for label in seen if not options.is_declared(label)), key=order_key)
    if outside:
        more = f" and {len(outside) - 3} more" if len(outside) > 3 else ""
        listed = ", ".join(map(repr, outside[:3]))
        raise UndeclaredError(
            options.name,
            outside[0],
            f"levels[{options.name!r}] must list every value of the column; the data also hold {listed}{more}. "
            "Add them to the levels, or name them in missing_values=[...].",
        )


Coded: TypeAlias = tuple[tuple[Any, ...], NDArray[np.unsignedinteger], tuple[Hashable, ...] | None]
"""Labels in ascending order, after None if a value is missing; the position of each row among them; and the categories
that came with the data."""


def code_array(values: NDArray[Any]) -> list[Coded | None]:
    """Code the columns of a 2-D array of whole numbers or booleans; None for one with too many distinct values."""
    if not values.flags.aligned or any(step % values.itemsize for step in values.strides):
        values = values.copy()
    codes = np.empty(values.shape[::-1], dtype=np.uint8)
    return _together(codes, *code_block(values, codes))


def code_objects(columns: list[Any]) -> list[Coded | None]:
    """Code lists, or 1-D arrays of objects; None for one that holds anything but strings, whole numbers or booleans."""
    codes = np.empty((len(columns), len(columns[0])), dtype=np.uint8)
    return _together(codes, *code_lists(columns, codes))


def code_batch(batch: Any, columns: Sequence[int]) -> list[Coded | None]:
    """Code columns of an Arrow batch.

    None stands for a column of other types than whole numbers, booleans, strings and dictionaries of strings; or with
    too many distinct values.
    """
    codes = np.empty((len(columns), batch.num_rows), dtype=np.uint8)
    return _together(codes, *code_arrow(batch.__arrow_c_array__(), columns, codes))


def code_frame(frame: Any, columns: Sequence[int], n_rows: int) -> list[Coded | None] | None:
    """Code columns of an object with the Arrow stream interface, as `code_batch` does; None unless it is one batch."""
    codes = np.empty((len(columns), n_rows), dtype=np.uint8)
    found = code_stream(frame.__arrow_c_stream__(), columns, codes)
    return None if found is None else _together(codes, *found)


def _together(
    codes: NDArray[np.uint8],
    labels: list[tuple[Any, ...] | None],
    wide: dict[int, NDArray[np.uint16]],
    categories: dict[int, tuple[Any, ...]],
) -> list[Coded | None]:
    """Return what belongs to each column."""
    rows: list[NDArray[np.unsignedinteger]] = list(codes)
    for k, own in wide.items():
        rows[k] = own
    came = [categories.get(k) for k in range(len(rows))] if categories else [None] * len(rows)
    return [None if found is None else (found, own, kept) for found, own, kept in zip(labels, rows, came, strict=True)]


def sort_labels(coded: dict[int, Coded | None], positions: Iterable[int]) -> None:
    """Replace columns of categories by columns without, whose labels are in ascending order."""
    known: dict[tuple[Any, ...], tuple[tuple[Any, ...], NDArray[np.uint16]]] = {}
    for j in positions:
        found = coded[j]
        if found is None or found[2] is None:
            continue
        labels, rows, _ = found
        if labels not in known:
            order = sorted(range(len(labels)), key=lambda k: (labels[k] is not None, labels[k] or ""))
            known[labels] = tuple(labels[k] for k in order), np.argsort(order).astype(np.uint16)
        in_order, places = known[labels]
        coded[j] = (in_order, places.astype(rows.dtype)[rows], None)


def read_columns(
    selection: ColumnSelection, coded: Mapping[int, Coded | None], read: Callable[[ColumnOptions], ReadColumn]
) -> list[ReadColumn]:
    """Return the columns of a selection: those coded by their position in the source, and the others by `read`."""
    whole, mixtures = WholeColumns(), Mixtures()
    columns: list[ReadColumn | None] = []
    for own in selection.columns:
        found = coded.get(own.position)
        if found is not None:
            columns.append(whole.column(own, *found))
        else:
            columns.append(mixtures.attempt(partial(read, own)))
    mixtures.report()
    return [column for column in columns if column is not None]


def categorical(selection: ColumnSelection) -> list[int]:
    """Return the positions of the columns that may be categorical."""
    return [own.position for own in selection.columns if not own.is_numeric]


def pieces(positions: Sequence[int], n_rows: int, item_bytes: int) -> Iterator[Sequence[int]]:
    """Split columns so that a copy of each part takes little memory."""
    size = max(1, (1 << 26) // max(1, n_rows * item_bytes))
    return (positions[start : start + size] for start in range(0, len(positions), size))
