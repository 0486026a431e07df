"""From columns as they were read to a `Dataset`: what is missing, what is impossible, what is left."""

from __future__ import annotations

from dataclasses import replace
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from mnlearn.data import _checks
from mnlearn.data._coding import too_many
from mnlearn.data._raw import RawColumn, RawTable
from mnlearn.data._request import MissingPolicy
from mnlearn.data.dataset import Dataset, MissingReport
from mnlearn.errors import DataError


def to_dataset(table: RawTable, missing: MissingPolicy, *, least: int = 2) -> Dataset:
    """Apply the policy for missing values and make the record of at least so many rows; the table is used up."""
    check_size(table, least)
    repeats = row_repeats(table)
    kept = np.ones(table.n_rows, dtype=np.bool_) if repeats is None else repeats > 0
    counts, incomplete = _count_missing(table, kept)
    n_before = int(np.count_nonzero(kept))
    check_columns(table, counts, n_before)
    if counts and missing == "error":
        raise incomplete_data(table, counts, int(np.count_nonzero(incomplete)), n_before)
    if missing == "drop_rows":
        kept &= ~incomplete
    n_after = int(np.count_nonzero(kept))
    if n_after < least:
        raise nothing_left(table, counts, n_before, n_after)
    rows = None if n_after == table.n_rows else kept
    return _assemble(table, repeats, rows, MissingReport(missing, MappingProxyType(counts), n_before - n_after))


def occurred(table: RawTable, repeats: NDArray[np.int64] | None) -> tuple[RawTable, NDArray[np.int64] | None]:
    """Leave out the rows that occurred 0 times, and the levels that only they had."""
    if repeats is None or bool(repeats.all()):
        return table, repeats
    rows = repeats > 0
    n_rows = int(np.count_nonzero(rows))
    if n_rows < 2:
        raise nothing_left(table, {}, table.n_rows, n_rows)
    columns = [_restricted(column, rows) for column in table.columns]
    return RawTable(columns, None, n_rows, table.source), repeats[rows]


def check_size(table: RawTable, least: int = 2) -> None:
    """A structure needs at least two rows and two variables; what a model is applied to, one of each."""
    if table.n_rows < least:
        rows = f"{least} row{'s' * (least > 1)}"
        raise DataError(f"data must have at least {rows}; {table.source} has {table.n_rows}. Read data with more rows.")
    if len(table.columns) < least:
        raise DataError(
            f"data must have at least {least} variable{'s' * (least > 1)}; {table.source} gives {len(table.columns)}. "
            "Name more columns, or check the delimiter if it is a text file."
        )


def row_repeats(table: RawTable) -> NDArray[np.int64] | None:
    """The column of repeats as whole numbers."""
    if table.repeats is None:
        return None
    repeats = whole_repeats(table.repeats.name, table.repeats.numbers)
    _checks.check_total(repeats)
    return repeats


def whole_repeats(name: str, numbers: NDArray[np.float64], first_row: int = 0) -> NDArray[np.int64]:
    """Repeats as whole numbers; `first_row` rows came before these."""
    wrong = np.flatnonzero(~((numbers >= 0) & (numbers < 2.0**53) & (numbers == np.floor(numbers))))
    if len(wrong):
        shown = "nothing" if np.isnan(numbers[wrong[0]]) else numbers[wrong[0]]
        raise DataError(
            f"repeats: column {name!r} must hold whole numbers from 0 to 2**53; data row {first_row + wrong[0] + 1} "
            f"holds {shown}. Round the weights, or leave that row out."
        )
    return numbers.astype(np.int64)


def _count_missing(table: RawTable, kept: NDArray[np.bool_]) -> tuple[dict[str, int], NDArray[np.bool_]]:
    """Missing values per column that has some, and the rows that have some."""
    counts: dict[str, int] = {}
    incomplete = np.zeros(table.n_rows, dtype=np.bool_)
    for column in table.columns:
        mask = column.missing() & kept
        count = int(np.count_nonzero(mask))
        if count:
            counts[column.name] = count
            incomplete |= mask
    return counts, incomplete


def check_columns(table: RawTable, counts: dict[str, int], n_rows: int) -> None:
    """No column is all missing, none holds infinity, none holds texts that may or may not mean missing."""
    empty = [name for name, count in counts.items() if count == n_rows]
    if empty and n_rows:
        raise DataError(
            f"every column must hold a value; {', '.join(map(repr, empty[:5]))} is missing in all {n_rows} rows. "
            "Leave it out by listing the others in columns=[...]."
        )
    for column in table.columns:
        if column.doubts:
            raise _doubtful(column)
        if column.levels is None:
            check_not_infinite(column.name, column.numbers)


def check_not_infinite(name: str, numbers: NDArray[np.float64], first_row: int = 0) -> None:
    """No infinity among the numbers; `first_row` rows came before these."""
    if bool(np.isinf(numbers).any()):
        row = int(np.argmax(np.isinf(numbers)))
        raise DataError(
            f"column {name!r} is continuous and must hold finite numbers; data row {first_row + row + 1} holds "
            f"{numbers[row]}. Replace it, or name it in missing_values=[float('inf'), float('-inf')]."
        )


def _assemble(
    table: RawTable, repeats: NDArray[np.int64] | None, rows: NDArray[np.bool_] | None, report: MissingReport
) -> Dataset:
    """Make the final columns one by one, giving up each raw one on the way."""
    names = tuple(column.name for column in table.columns)
    levels, columns = [], []
    table.columns.reverse()
    while table.columns:
        column = _final(table.columns.pop(), rows, report)
        column.values.flags.writeable = False
        levels.append(column.levels)
        columns.append(column.values)
    return Dataset(
        names=names,
        cards=tuple(0 if labels is None else len(labels) for labels in levels),
        columns=tuple(columns),
        levels=tuple(levels),
        repeats=repeats if repeats is None or rows is None else repeats[rows],
        missing=report,
    )


def _final(column: RawColumn, rows: NDArray[np.bool_] | None, report: MissingReport) -> RawColumn:
    """One column in the codes it will keep: missing as the last state, or no more there."""
    if rows is not None:
        column = _restricted(column, rows)
    if column.levels is None:
        if report.policy == "category" and column.name in report.counts:
            raise no_category(column.name, report.counts[column.name])
        return RawColumn(column.name, column.values, None)
    has_hole = report.policy == "category" and column.name in report.counts
    final = (*column.levels, None) if has_hole else column.levels
    if len(final) > _checks.MAX_STATES:
        raise too_many(column.name)
    table = np.arange(-1, len(column.levels))
    table[0] = len(final) - 1
    return RawColumn(column.name, table.astype(_checks.code_type(len(final)))[column.values], final)


def _restricted(column: RawColumn, rows: NDArray[np.bool_]) -> RawColumn:
    """Some rows of a column; a level that only the others had is no level, unless it was declared."""
    values = column.values[rows]
    if column.levels is None or column.declared:
        return replace(column, values=values)
    kept = np.bincount(values, minlength=len(column.levels) + 1) > 0
    kept[0] = False
    levels = tuple(label for label, keep in zip(column.levels, kept[1:], strict=True) if keep)
    return replace(column, values=np.cumsum(kept).astype(values.dtype)[values], levels=levels)


def no_category(name: str, count: int) -> DataError:
    """The error for a continuous column that cannot have a state for what is missing."""
    return DataError(
        f"missing='category' is for categorical columns; {name!r} is continuous with {count} missing values. "
        f"Use missing='drop_rows', or types={{{name!r}: 'categorical'}}."
    )


def incomplete_data(table: RawTable, counts: dict[str, int], n_incomplete: int, n_rows: int) -> DataError:
    """The error for missing values that nobody said what to do about."""
    worst = sorted(counts, key=lambda name: -counts[name])
    listed = ", ".join(f"{name!r} {counts[name]}" for name in worst[:8])
    more = f" and {len(worst) - 8} more columns" if len(worst) > 8 else ""
    return DataError(
        f"missing='error' asks for complete data; missing values: {listed}{more}. "
        f"Use missing='drop_rows' to leave out {n_incomplete} of {n_rows} rows"
        + (", or missing='category' to keep them." if _are_categorical(table, counts) else ".")
    )


def _are_categorical(table: RawTable, counts: dict[str, int]) -> bool:
    """Whether every column with something missing can have a state for it."""
    return all(column.levels is not None for column in table.columns if column.name in counts)


def nothing_left(table: RawTable, counts: dict[str, int], n_before: int, n_after: int) -> DataError:
    """The error for too few complete rows, or too few rows with a weight."""
    if not counts:
        return DataError(
            f"data must have at least 2 rows that occurred; {table.source} has {n_after}. Check the repeats."
        )
    worst = max(counts, key=lambda name: counts[name])
    return DataError(
        f"missing='drop_rows' must leave at least 2 rows; {n_after} of {n_before} are complete. The worst column is "
        f"{worst!r} with {counts[worst]} missing: leave it out with columns=[...]"
        + (", or use missing='category'." if _are_categorical(table, counts) else ".")
    )


def _doubtful(column: RawColumn) -> DataError:
    """The error for texts that usually mark a missing value but may be labels."""
    listed = ", ".join(map(repr, column.doubts))
    name = column.name
    return DataError(
        f"column {name!r} must be clear about what is missing; it holds {listed}, which may mark a missing value. "
        f"Use missing_values=[{listed}] if so, or types={{{name!r}: 'categorical'}} if it is a label."
    )
