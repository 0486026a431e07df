"""From columns as they were read to a `Dataset`: what is missing, what is impossible, what is left."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mnlearn._core import recode
from mnlearn.data import _checks
from mnlearn.data.columns import ReadColumn, too_many
from mnlearn.data.dataset import Dataset, MissingReport
from mnlearn.data.options import MissingPolicy, RawColumn, RawTable
from mnlearn.data.pack_writer import Block, Contents, Variable
from mnlearn.data.streaming import ReadTable, Spool, SpooledChunks
from mnlearn.errors import DataError
from mnlearn.parallel import run


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


# What is missing, and which rows stay: the rules of `_policy.py` for chunks that are on disk, a chunk at a time.


CHUNKS_TOGETHER = 16  # about a million rows: enough for several threads, little enough to hold


@dataclass
class _Survey:
    """The rows that stay, chunk by chunk, and what is missing in those that occurred."""

    kept: SpooledChunks | None  # None: all of them
    counts: dict[str, int]
    n_before: int
    n_incomplete: int
    n_after: int


def surveyed(gathered: ReadTable, missing: MissingPolicy, spool: Spool, *, least: int = 2) -> Contents:
    """Apply the policy for missing values and say what is to be written, at least so many rows."""
    table = _told(gathered)
    check_size(table, least)
    found = _survey(gathered, missing, spool)
    check_columns(table, found.counts, found.n_before)
    if found.counts and missing == "error":
        raise incomplete_data(table, found.counts, found.n_incomplete, found.n_before)
    if found.n_after < least:
        raise nothing_left(table, found.counts, found.n_before, found.n_after)
    report = MissingReport(missing, MappingProxyType(found.counts), found.n_before - found.n_after)
    columns = [_final_chunks(column, found, report) for column in gathered.columns]
    return Contents(
        variables=[
            Variable(column.name, levels, column.declared)
            for column, (levels, _) in zip(gathered.columns, columns, strict=True)
        ],
        n_records=found.n_after,
        has_repeats=gathered.repeats is not None,
        missing=report,
        cuts={},
        blocks=_blocks(gathered, [table for _, table in columns], found.kept),
    )


def _told(gathered: ReadTable) -> RawTable:
    """The table as messages need it: without its values."""
    columns = [
        RawColumn(c.name, np.empty(0, np.float64 if c.levels is None else np.uint8), c.levels, c.declared, c.doubts)
        for c in gathered.columns
    ]
    return RawTable(columns, None, gathered.n_rows, gathered.source)


def _survey(gathered: ReadTable, missing: MissingPolicy, spool: Spool) -> _Survey:
    """Look through all rows for what is missing; only columns where something may be."""
    doubtful = [column for column in gathered.columns if _may_lack(column)]
    if not doubtful and gathered.repeats is None:
        return _Survey(None, {}, gathered.n_rows, 0, gathered.n_rows)
    kept, counts = spool.chunks(), dict.fromkeys((column.name for column in gathered.columns), 0)
    n_before = n_incomplete = n_after = first_row = 0
    for k in range(len(gathered.columns[0].chunks)):
        stays = _occurred(gathered, k, first_row)
        incomplete = np.zeros(len(stays), dtype=np.bool_)
        for column in doubtful:
            lacks = _lacking(column, k, first_row) & stays
            counts[column.name] += int(np.count_nonzero(lacks))
            incomplete |= lacks
        n_before += int(np.count_nonzero(stays))
        n_incomplete += int(np.count_nonzero(incomplete))
        if missing == "drop_rows":
            stays &= ~incomplete
        n_after += int(np.count_nonzero(stays))
        first_row += len(stays)
        kept.append(stays)
    counts = {name: count for name, count in counts.items() if count}
    return _Survey(None if n_after == gathered.n_rows else kept, counts, n_before, n_incomplete, n_after)


def _may_lack(column: ReadColumn) -> bool:
    """Whether the column may hold a missing value, or one that is no number."""
    if column.table is None:
        return True
    assert isinstance(column.chunks, SpooledChunks)
    return column.chunks.has_zeros or not column.table[1:].all()


def _chunk(column: ReadColumn, k: int) -> NDArray[Any]:
    assert isinstance(column.chunks, SpooledChunks)
    return column.chunks[k]


def _lacking(column: ReadColumn, k: int, first_row: int) -> NDArray[np.bool_]:
    """Where the k-th chunk of a column lacks a value."""
    chunk = _chunk(column, k)
    if column.table is not None:
        return np.asarray((column.table == 0)[chunk])
    check_not_infinite(column.name, chunk, first_row)
    return np.asarray(np.isnan(chunk))


def _occurred(gathered: ReadTable, k: int, first_row: int) -> NDArray[np.bool_]:
    """Which rows of the k-th chunks occurred at all."""
    if gathered.repeats is None:
        return np.ones(len(_chunk(gathered.columns[0], k)), dtype=np.bool_)
    repeats = gathered.repeats
    return whole_repeats(repeats.name, _chunk(repeats, k), first_row) > 0


def _final_chunks(
    column: ReadColumn, found: _Survey, report: MissingReport
) -> tuple[tuple[Any, ...] | None, NDArray[np.generic] | None]:
    """The levels a column will have, and the table from the codes in its chunks to those it will keep."""
    if column.levels is None or column.table is None:
        if report.policy == "category" and column.name in report.counts:
            raise no_category(column.name, report.counts[column.name])
        return None, None
    levels, place = column.levels, np.arange(-1, len(column.levels))
    if found.kept is not None and not column.declared:  # a level that only other rows had is no level
        used = np.zeros(len(levels) + 1, dtype=np.int64)
        for k, stays in enumerate(found.kept):
            used += np.bincount(column.table[_chunk(column, k)][stays], minlength=len(used))
        used[0] = 0
        place = np.cumsum(used > 0) - 1
        levels = tuple(label for label, count in zip(levels, used[1:], strict=True) if count)
    if report.policy == "category" and column.name in report.counts:
        levels = (*levels, None)
    if len(levels) > _checks.MAX_STATES:
        raise too_many(column.name)
    place[0] = len(levels) - 1
    return levels, place.astype(_checks.code_type(len(levels)))[column.table]


def _blocks(
    gathered: ReadTable, tables: list[NDArray[np.generic] | None], kept: SpooledChunks | None
) -> Iterator[Block]:
    """The rows that stay, in their final codes, about a million at a time."""
    n_chunks = len(gathered.columns[0].chunks)
    for start in range(0, n_chunks, CHUNKS_TOGETHER):
        places = range(start, min(start + CHUNKS_TOGETHER, n_chunks))
        masks = None if kept is None else [kept[k] for k in places]

        def final(position: int, places: range = places, masks: Any = masks) -> NDArray[Any]:
            column, table = gathered.columns[position], tables[position]
            if masks is None and table is not None and isinstance(column.chunks, SpooledChunks):
                whole = column.chunks.together(places)
                if whole is not None and table.dtype == whole.dtype:
                    return _recoded_here(whole, table, complete=not column.chunks.has_zeros)
            parts = [_recoded(_chunk(column, k), table) for k in places]
            return np.concatenate(parts if masks is None else [p[m] for p, m in zip(parts, masks, strict=True)])

        block = list(run(final, range(len(gathered.columns))))
        if gathered.repeats is not None:
            weights = np.concatenate([_chunk(gathered.repeats, k) for k in places]).astype(np.int64)
            block.append(weights if masks is None else weights[np.concatenate(masks)])
        yield block


def _recoded_here(codes: NDArray[np.uint8], table: NDArray[Any], *, complete: bool) -> NDArray[np.uint8]:
    """Codes of single bytes in their final form, in place; `complete` if none of them is 0."""
    if complete and bool((table[1:] == np.arange(len(table) - 1)).all()):
        codes -= 1
    else:
        recode(codes, np.resize(table, 256))
    return codes


def _recoded(chunk: NDArray[Any], table: NDArray[np.generic] | None) -> NDArray[Any]:
    """A chunk in its final codes; codes that only move by one need no table."""
    if table is None:
        return chunk
    steady = chunk.dtype == table.dtype and bool((table[1:] == np.arange(len(table) - 1)).all())
    return chunk - 1 if steady and bool(chunk.all()) else table[chunk]
