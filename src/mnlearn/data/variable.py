"""Kinds of the columns that were read: ordinal ones have an order, counts are whole numbers from 0.

Columns of whole numbers: categories or a quantity.

Few whole numbers are categories, such as the answers 1 to 6 of a questionnaire. Many of them, such as ages or counts,
are a quantity, unless they number the rows. Programs that have no missing integers, as pandas mostly does, store whole
numbers with gaps as decimals; these are whole numbers again here.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Hashable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mnlearn.data.columns import ReadColumn, ReadTable, Reason, order_key, reason_of
from mnlearn.data.dataset import check_counts
from mnlearn.data.options import DOUBTFUL, NOT_A_NUMBER, Chunks, ColumnOptions, ColumnSelection
from mnlearn.errors import DataError


def check_whole_counts(column: ReadColumn) -> None:
    """Raise DataError unless every number of a column declared as a count is a whole number from 0, or missing."""
    first_row = 0
    for chunk in column.chunks:
        check_counts(column.name, chunk, first_row)
        first_row += len(chunk)


def check_order(options: ColumnOptions, column: ReadColumn, *, in_order: bool) -> None:
    """Raise DataError unless the levels of a column declared as ordinal have an order.

    Parameters
    ----------
    options, column
        The column that was read.
    in_order
        Whether its categories have an order in the source.
    """
    levels = column.levels or ()
    if in_order or options.levels is not None or len(levels) <= 2:  # two states are in order either way
        return
    marks = [label for label in levels if label in DOUBTFUL or label in NOT_A_NUMBER]
    if marks:
        raise DataError(
            f"column {column.name!r} must be clear about what is missing to be ordinal; it holds {marks[0]!r}. Use "
            f"missing_values=[{', '.join(map(repr, marks))}], or list it in levels={{{column.name!r}: [...]}}."
        )
    if any(isinstance(label, str) for label in levels) or not _are_ascending(levels):
        shown = ", ".join(map(repr, levels[:4])) + (", ..." if len(levels) > 4 else "")
        raise DataError(
            f"types[{column.name!r}] can be 'ordinal' for states in an order only; nothing says the order of {shown}. "
            f"Use levels={{{column.name!r}: [lowest, ..., highest]}}, or an ordered categorical."
        )


def _are_ascending(levels: Sequence[Hashable]) -> bool:
    """Return whether labels that are not strings are in ascending order."""
    keys = [order_key(label) for label in levels]
    return len({key[0] for key in keys}) == 1 and list(levels) == sorted(levels, key=order_key)


_log = logging.getLogger("mnlearn.data")

MANY = 20  # distinct whole numbers that may be a quantity
SOME = 10  # as many may be one too if most numbers between them do not occur
_WIDEST = 1 << 16  # from the least to the greatest; a wider column has many values or odd ones
_GLANCE = 1000
_WHOLE = re.compile(r"[+-]?[0-9]{1,15}")
_NUMBER = re.compile(r"[+-]?([0-9]{1,15}|[0-9]+\.[0-9]*|\.[0-9]+)([eE][+-]?[0-9]{1,3})?")


def are_many(values: Sequence[int]) -> bool:
    """Return whether whole numbers in ascending order are so many, or so far apart, that they may be a quantity.

    Examples
    --------
    >>> are_many(range(1, 13)), are_many(range(18, 90)), are_many([0, 1, 2, 3, 5, 8, 13, 21, 34, 55, 89])
    (False, True, True)
    """
    n = len(values)
    return n >= MANY or (n > SOME and values[-1] - values[0] + 1 > 2 * n)


def settled_table(
    selection: ColumnSelection,
    columns: list[ReadColumn],
    n_rows: int,
    source: str,
    order: Callable[[int], bool | None] | None = None,
) -> ReadTable:
    """Return a table of the columns of a selection, in its order, each with its kind and the reason for it.

    `order` returns whether the column at a position has categories in an order in the source: True if it is ordinal
    for that, False if only when it is declared so, None if not.
    """
    n = len(selection.variables)
    pairs = zip(selection.variables, columns[:n], strict=True)
    settled = [_settled(own, column, order) for own, column in pairs]
    repeats = selection.repeats
    weighted = repeats is not None and repeats.is_weights
    return ReadTable(settled, None if repeats is None else columns[n], n_rows, source, weighted)


def _settled(options: ColumnOptions, column: ReadColumn, order: Callable[[int], bool | None] | None) -> ReadColumn:
    """Return a column with its kind and the reason; many whole numbers are numbers, whole decimals with gaps coded."""
    if column.marked and options.type in (None, "ordinal") and options.levels is None:
        column = _without_marker(options, column)
    if not options.is_open:
        return _declared(options, column, None if order is None else order(options.position))
    if column.categories and order is not None and order(options.position):
        return column._replace(kind="ordinal", reason=Reason.ORDERED)
    if column.levels is None:
        return _settled_decimals(options, column)
    if len(column.levels) <= SOME or column.categories:
        return column
    whole = [label for label in column.levels if type(label) is int]
    if len(whole) < len(column.levels) or not are_many(whole):
        return column
    return column._replace(reason=Reason.NUMBERED) if _number_rows(column, whole) else _as_numbers(options, column)


def _declared(options: ColumnOptions, column: ReadColumn, order: bool | None) -> ReadColumn:
    """Return a column whose type or levels were declared, with its kind."""
    column = column._replace(reason=Reason.DECLARED)
    if options.type == "count":
        check_whole_counts(column)
        return column._replace(kind="count")
    if options.type == "ordinal":
        check_order(options, column, in_order=order is not None)
        return column._replace(kind="ordinal")
    ordinal = order and options.type != "nominal" and column.levels is not None
    return column._replace(kind="ordinal") if ordinal else column


def _without_marker(options: ColumnOptions, column: ReadColumn) -> ReadColumn:
    """Return a column of strings as numbers if only a marker of missing values, such as ?, made strings of them.

    A file with such a column is read as numbers and gaps; a frame that was made from it holds strings.
    """
    levels: Sequence[Any] = column.levels or ()
    if column.categories or not levels or not all(type(label) is str and _NUMBER.fullmatch(label) for label in levels):
        return column
    values, places = np.unique(np.array([float(label) for label in levels]), return_inverse=True)
    if not np.isfinite(values).all():
        return column
    known = np.concatenate([[0], places.reshape(-1) + 1])[np.asarray(column.table)]
    column = column._replace(final=False, reason=Reason.BESIDE_MARKER)
    whole = all(_WHOLE.fullmatch(label) for label in levels)
    if whole or options.type == "ordinal":
        codes = known.astype(np.uint8 if len(values) < 256 else np.uint16)
        return column._replace(table=codes, levels=tuple((values.astype(np.int64) if whole else values).tolist()))
    numbers = np.concatenate([[np.nan], values])[known]
    chunks = options.new_chunks()
    for chunk in column.chunks:
        chunks.append(numbers[chunk])
    return column._replace(chunks=chunks, table=None, levels=None)


def _number_rows(column: ReadColumn, values: Sequence[int]) -> bool:
    """Return whether whole numbers number the rows: all different and consecutive, or too large for a quantity."""
    if max(abs(values[0]), abs(values[-1])) >= 2**53:
        return True
    if values[-1] - values[0] + 1 != len(values):
        return False
    known = np.asarray(column.table) != 0
    return sum(int(np.count_nonzero(known[chunk])) for chunk in column.chunks) == len(values)


def _reason_of_many(chunks: Chunks) -> Reason:
    """Return whether more whole numbers than categories can be are a quantity, or number the rows."""
    known = [chunk[~np.isnan(chunk)] for chunk in chunks if not np.isnan(chunk).all()]
    low, high = min(float(part.min()) for part in known), max(float(part.max()) for part in known)
    if any((part != np.floor(part)).any() for part in known):
        return Reason.BY_VALUE  # decimals came later
    n = sum(map(len, known))
    if max(abs(low), abs(high)) >= 2**53:
        return Reason.NUMBERED
    if high - low + 1 != n:
        return Reason.MANY
    seen = np.zeros(n, dtype=np.bool_)
    for part in known:
        seen[(part - low).astype(np.int64)] = True
    return Reason.NUMBERED if seen.all() else Reason.MANY


def _as_numbers(options: ColumnOptions, column: ReadColumn) -> ReadColumn:
    """Return a column of many whole numbers as a continuous one."""
    numbers = np.array([np.nan, *(column.levels or ())], dtype=np.float64)[np.asarray(column.table)]
    chunks = options.new_chunks()
    for chunk in column.chunks:
        chunks.append(numbers[chunk])
    return column._replace(chunks=chunks, table=None, levels=None, final=False, reason=Reason.MANY)


def _settled_decimals(options: ColumnOptions, column: ReadColumn) -> ReadColumn:
    """Return a column of numbers as it is, unless they are few, all whole, and some are missing."""
    if column.reason is Reason.MANY:
        return column._replace(reason=_reason_of_many(column.chunks))
    found = _whole_values(column.chunks)
    if found is None:
        return column
    values, lacks = found
    if not len(values):
        return column
    if are_many(values.tolist()):
        return column._replace(reason=Reason.MANY) if lacks else column
    if not lacks:
        return column._replace(reason=Reason.WHOLE_DECIMALS)
    chunks = options.new_chunks()
    for chunk in column.chunks:
        known = ~np.isnan(chunk)
        codes = np.zeros(len(chunk), dtype=np.uint8)
        codes[known] = np.searchsorted(values, chunk[known]) + 1
        chunks.append(codes)
    table = np.arange(len(values) + 1, dtype=np.uint8)
    levels = tuple(values.astype(np.int64).tolist())
    return column._replace(chunks=chunks, table=table, levels=levels, reason=Reason.WHOLE_WITH_GAPS)


def _whole_values(chunks: Chunks) -> tuple[NDArray[np.float64], bool] | None:
    """Return the distinct values and whether any is missing; None unless all are whole and close to each other."""
    seen: NDArray[np.float64] = np.empty(0)
    lacks = False
    for chunk in chunks:
        if (
            len(chunk) and np.isfinite(chunk[0]) and chunk[0] % 1 > 0
        ):  # most columns of decimals show themselves at once
            return None
        for part in (chunk[:_GLANCE], chunk):
            gaps = np.isnan(part)
            known = part[~gaps] if gaps.any() else part
            if not _fit(known):
                return None
        lacks = lacks or len(known) < len(chunk)
        seen = np.union1d(seen, _distinct(known))
        if not _fit(seen):
            return None
    return seen, lacks


def _fit(values: NDArray[Any]) -> bool:
    """Return whether the values are whole and not far apart."""
    if not len(values):
        return True
    low, high = float(values.min()), float(values.max())
    return bool(abs(low) < 2**53 and abs(high) < 2**53 and high - low < _WIDEST and (values == np.floor(values)).all())


def _distinct(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the distinct values of whole numbers that are not far apart; counting is faster than sorting them."""
    if not len(values):
        return values
    low = values.min()
    places = np.flatnonzero(np.bincount((values - low).astype(np.int64)))
    return np.asarray(places + low, dtype=np.float64)


def whole_again(values: NDArray[Any]) -> NDArray[Any]:
    """Return a 2-D array of decimals as masked integers if gaps made decimals of them: few, all whole, some missing.

    An array has one dtype, so that gaps in one column make decimals of all others.
    """
    if values.dtype.kind != "f" or isinstance(values, np.ma.MaskedArray):
        return values
    start = values[:1].ravel()
    gaps = np.isnan(values) if _fit(start[~np.isnan(start)]) else np.zeros(0, dtype=np.bool_)
    known = values[~gaps] if gaps.any() else np.empty(0)
    if not len(known) or not _fit(known) or are_many(_distinct(known).tolist()):
        return values
    return np.ma.MaskedArray(np.where(gaps, 0, values).astype(np.int64), gaps)


def reason_in_words(column: ReadColumn) -> str:
    """Return why a column has its type: what its values are, unless there is a better reason."""
    if reason_of(column):
        return reason_of(column)
    return "categories of the source" if column.categories else kind_in_words(column.levels)


def kind_in_words(levels: Sequence[Hashable] | None) -> str:
    """Return what the values of a column are, given its levels; None stands for a missing value."""
    if levels is None:
        return "decimal numbers"
    kinds = {type(label) for label in levels if label is not None}
    known: dict[type, str] = {int: "whole numbers", str: "words", bool: "true or false"}
    return next((words for kind, words in known.items() if kinds == {kind}), "labels")


def check_settled(table: ReadTable) -> None:
    """Raise DataError for whole numbers that seem to number the rows."""
    unsettled = [column for column in table.columns if column.reason is Reason.NUMBERED]
    if not unsettled:
        return
    column, *others = unsettled
    name, found = column.name, _span(column)
    shown = ", ".join(repr(other.name) for other in others[:3]) + f" and {len(others) - 3} more" * (len(others) > 3)
    raise DataError(
        f"column {name!r} must be declared, or left out; it holds {found[0]:,} different whole numbers, {found[1]} "
        f"to {found[2]}, one for each row, as row numbers and identifiers do. Use drop=[{name!r}], or "
        f"types={{{name!r}: 'continuous'}} or types={{{name!r}: 'categorical'}}." + f" So does {shown}." * bool(others)
    )


def _span(column: ReadColumn) -> tuple[int, int, int]:
    """Return how many different whole numbers a column holds, the least and the greatest."""
    levels: Sequence[Any] = column.levels or ()
    if levels:
        return len(levels), levels[0], levels[-1]
    values = np.unique(np.concatenate(list(column.chunks)))
    values = values[~np.isnan(values)]
    return len(values), int(values[0]), int(values[-1])


def log_decimals(table: ReadTable) -> None:
    """Log which decimal numbers were read as whole ones because of gaps, and which could have been."""
    for reason, text in _DECISIONS.items():
        names = [column.name for column in table.columns if column.reason is reason]
        if names:
            shown = ", ".join(map(repr, names[:4])) + (f" and {len(names) - 4} more" if len(names) > 4 else "")
            _log.info(text, shown, *[names[0]] * text.count("%r"))


_DECISIONS = {
    Reason.MANY: "read as continuous, because they hold many different whole numbers: %s. "
    "types={%r: 'categorical'} makes categories of a column, types={%r: 'count'} declares counts",
    Reason.WHOLE_WITH_GAPS: "read as categories, because all values are whole and some are missing: %s. "
    "types={%r: 'continuous'} keeps a column as numbers",
    Reason.BESIDE_MARKER: "read as numbers, because all strings but the markers of missing values are numbers: %s. "
    "types={%r: 'nominal'} keeps a column as labels",
    Reason.WHOLE_DECIMALS: "read as continuous, because they are stored as decimals, though all values are whole: %s. "
    "types={%r: 'categorical'} makes categories of a column",
}
