"""Policies for missing values: from the columns that were read to a `Dataset`, or to the contents of a packed file.

Both take the same steps, chunk by chunk: find what is missing, check it, choose the rows that stay and their final
codes. A table in memory is one chunk; one on disk has many, and only a few of them are in memory at a time.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from mnlearn._core import recode
from mnlearn.data.columns import ReadColumn, ReadTable, Reason, byte_table, reason_of, too_many
from mnlearn.data.dataset import MAX_STATES, Dataset, MissingReport, check_total, code_type, costly_columns
from mnlearn.data.options import Chunks, MissingPolicy
from mnlearn.data.rows import Weighting, check_weights, scaled_weights
from mnlearn.data.streams import Spool, SpooledChunks
from mnlearn.data.variable import check_settled, log_decimals
from mnlearn.errors import DataError
from mnlearn.parallel import run

if TYPE_CHECKING:
    from mnlearn.data.pack_writer import Block, Contents

CHUNKS_TOGETHER = 16  # about a million rows: enough for several threads, few enough for memory


class _Survey(NamedTuple):
    """Missing values in the rows that occurred, and the rows that stay."""

    kept: Chunks | None  # a mask for each chunk; None if all rows stay
    counts: dict[str, int]  # by column; complete columns are left out
    n_before: int
    n_incomplete: int
    n_after: int
    alone: dict[str, int]  # rows by column in which no other one lacks a value
    gaps: frozenset[str] = frozenset()  # columns whose missing values stay missing


class _Clean(NamedTuple):
    """Outcome of a policy: the rows that stay, and for each column its levels and the table to its final codes."""

    kept: Chunks | None
    n_rows: int
    report: MissingReport
    levels: list[tuple[Hashable, ...] | None]
    codes: list[NDArray[Any] | None]
    gaps: frozenset[str]


def to_dataset(table: ReadTable, missing: MissingPolicy, *, least: int = 2) -> Dataset:
    """Apply a policy to a table of one chunk and return at least `least` rows; the chunks of the table are used up."""
    clean = _cleaned(table, missing, list, least)
    rows = None if clean.kept is None else clean.kept[0]
    columns = []
    for column, codes in zip(table.columns, clean.codes, strict=True):
        values = column.chunks.pop()
        if rows is not None or codes is not None:
            values = _final_values(column, values, rows, codes)
        values.setflags(write=False)
        columns.append(values)
    repeats, weighting = _repeats_of(table, rows)
    told = [column for column in table.columns if column.reason is not Reason.BY_VALUE]  # few, mostly
    return Dataset.trusted(  # checked again it would take four times as long where columns are short
        names=tuple(column.name for column in table.columns),
        cards=tuple(0 if labels is None else len(labels) for labels in clean.levels),
        columns=tuple(columns),
        levels=tuple(clean.levels),
        repeats=repeats,
        weighting=weighting,
        missing=clean.report,
        declared=frozenset(column.name for column in table.columns if column.declared),
        ordinal=frozenset(column.name for column in told if column.kind == "ordinal"),
        counted=frozenset(column.name for column in told if column.kind == "count"),
        gaps=clean.gaps,
        reasons=MappingProxyType({column.name: reason_of(column) for column in told}),
        cuts=MappingProxyType({}),
        pack=None,
        unused=MappingProxyType(
            {
                column.name: unused
                for column, levels in zip(table.columns, clean.levels, strict=True)
                if column.categories and (unused := column.unused(levels))
            }
        ),
    )


def to_contents(table: ReadTable, missing: MissingPolicy, spool: Spool, *, least: int = 2) -> Contents:
    """Apply a policy to a table on disk and return what to write, at least `least` rows."""
    from mnlearn.data.pack_writer import Contents, Variable

    clean = _cleaned(table, missing, spool.chunks, least)
    return Contents(
        variables=[
            Variable(column.name, levels, column.declared, column.kind, column.name in clean.gaps, reason_of(column))
            for column, levels in zip(table.columns, clean.levels, strict=True)
        ],
        n_records=clean.n_rows,
        has_repeats=table.repeats is not None,
        missing=clean.report,
        cuts={},
        blocks=_blocks(table, clean),
    )


def _cleaned(table: ReadTable, missing: MissingPolicy, new_chunks: Callable[[], Chunks], least: int) -> _Clean:
    """Check the table, and decide which rows stay and how they are coded."""
    check_table_size(table, least)
    found = _survey(table, missing, new_chunks())
    _check_columns(table, found)
    if found.counts and missing == "error":
        raise _incomplete(table, found)
    if found.n_after < least:
        raise too_few_rows(table, found.counts, found.n_before, found.n_after, missing)
    log_decimals(table)
    report = _report(missing, found)
    final = [_final_levels(column, found.kept, report, column.name in found.gaps) for column in table.columns]
    levels, codes = [levels for levels, _ in final], [codes for _, codes in final]
    return _Clean(found.kept, found.n_after, report, levels, codes, found.gaps)


def _survey(table: ReadTable, missing: MissingPolicy, kept: Chunks) -> _Survey:
    """Count missing values; only columns that may have some are read."""
    suspects = [column for column in table.columns if column.may_lack]
    if not suspects and table.repeats is None:
        return _Survey(None, {}, table.n_rows, 0, table.n_rows, {})
    counts = dict.fromkeys((column.name for column in suspects), 0)
    alone = np.zeros(len(suspects), dtype=np.int64)
    n_before = n_incomplete = n_empty = n_after = first_row = 0
    total = 0.0
    for k in range(len(table.columns[0].chunks)):
        stays = np.ones(len(table.columns[0].chunks[k]), dtype=np.bool_)
        if table.repeats is not None:
            check: Callable[..., NDArray[Any]] = check_weights if table.weighted else whole_repeats
            repeats = check(table.repeats.name, table.repeats.chunks[k], first_row)
            stays, total = repeats > 0, total + float(0 if table.weighted else repeats.sum(dtype=np.float64))
        gaps = Gaps(len(stays))
        for column in suspects:
            lacks = _lacking(column, column.chunks[k], first_row) & stays
            counts[column.name] += int(np.count_nonzero(lacks))
            gaps.add(lacks)
        incomplete = gaps.in_some
        alone += gaps.alone()
        n_before += int(np.count_nonzero(stays))
        n_incomplete += int(np.count_nonzero(incomplete))
        if missing == "drop_rows":
            stays &= ~incomplete
        elif missing == "testwise" and len(suspects) == len(table.columns):
            n_empty += int(np.count_nonzero(gaps.in_all))
            stays &= ~gaps.in_all
        n_after += int(np.count_nonzero(stays))
        first_row += len(stays)
        kept.append(stays)
    check_total(total)
    by_name = dict(zip(counts, alone.tolist(), strict=True))
    counts = {name: count for name, count in counts.items() if count}
    alone_of = {name: by_name[name] for name in counts if by_name[name]}
    kept_gaps = frozenset(name for name, count in counts.items() if missing == "testwise" and count > n_empty)
    chosen = None if n_after == table.n_rows else kept
    return _Survey(chosen, counts, n_before, n_incomplete, n_after, alone_of, kept_gaps)


class Gaps:
    """Rows that lack a value in some column, in all and in one only, while the columns are added one by one."""

    def __init__(self, n_rows: int) -> None:
        self.in_some = np.zeros(n_rows, dtype=np.bool_)
        self.in_all = np.ones(n_rows, dtype=np.bool_)
        self._in_several = np.zeros(n_rows, dtype=np.bool_)
        self._first = np.full(n_rows, -1, dtype=np.int32)
        self._n_columns = 0

    def add(self, lacks: NDArray[np.bool_]) -> None:
        """Add the rows that the next column lacks."""
        self._in_several |= self.in_some & lacks
        self._first[lacks & ~self.in_some] = self._n_columns
        self.in_some |= lacks
        self.in_all &= lacks
        self._n_columns += 1

    def alone(self) -> NDArray[np.int64]:
        """Return the number of rows that lack only this column, for each of them."""
        rows = self.in_some & ~self._in_several
        return np.bincount(self._first[rows], minlength=self._n_columns)


def _report(missing: MissingPolicy, found: _Survey) -> MissingReport:
    """Return what was missing, and what became of it."""
    counts, alone = MappingProxyType(found.counts), MappingProxyType(found.alone)
    return MissingReport(missing, counts, found.n_before - found.n_after, alone)


def _lacking(column: ReadColumn, chunk: NDArray[Any], first_row: int) -> NDArray[np.bool_]:
    """Return where a chunk of a column lacks a value."""
    if column.table is None:
        check_not_infinite(column.name, chunk, first_row)
        return np.asarray(np.isnan(chunk))
    missing = np.flatnonzero(column.table == 0)
    return np.asarray(chunk == missing[0] if len(missing) == 1 else (column.table == 0)[chunk])


def _final_levels(
    column: ReadColumn, kept: Chunks | None, report: MissingReport, has_gaps: bool
) -> tuple[tuple[Hashable, ...] | None, NDArray[Any] | None]:
    """Return the levels that a column will have, and the table from the codes in its chunks to the final ones."""
    with_missing = report.policy == "category" and column.name in report.counts
    if column.levels is None:
        if with_missing:
            raise DataError(
                f"missing='category' is for categorical columns; {column.name!r} is continuous with "
                f"{report.counts[column.name]} missing values. Use missing='testwise', missing='drop_rows', or "
                f"types={{{column.name!r}: 'categorical'}}."
            )
        return None, None
    if column.final and kept is None:
        return column.levels, None
    levels, codes = kept_levels(column, kept)
    if with_missing:
        levels = (*levels, None)
    if len(levels) > MAX_STATES:
        raise too_many(column.name)
    codes[codes < 0] = len(levels) - (not has_gaps)
    return levels, codes.astype(code_type(len(levels) + has_gaps))


def kept_levels(column: ReadColumn, kept: Chunks | None) -> tuple[tuple[Hashable, ...], NDArray[np.int64]]:
    """Return the levels of the rows that stay, and the place among them of each code in the chunks, -1 for missing.

    A level that only other rows have is dropped unless it was declared.
    """
    assert column.levels is not None
    assert column.table is not None
    places = column.table.astype(np.int64) - 1
    if kept is None or column.declared:
        return column.levels, places
    used = np.zeros(len(column.levels) + 1, dtype=np.bool_)
    for k, rows in enumerate(kept):
        used[places[np.bincount(column.chunks[k][rows], minlength=len(places)) > 0]] = True
    used = used[:-1]  # the last stands for missing
    levels = tuple(label for label, keep in zip(column.levels, used, strict=True) if keep)
    return levels, np.append(np.cumsum(used) - 1, -1)[places]


def _blocks(table: ReadTable, clean: _Clean) -> Iterator[Block]:
    """Yield the rows that stay, in their final codes, about a million at a time."""
    n_chunks = len(table.columns[0].chunks)
    for start in range(0, n_chunks, CHUNKS_TOGETHER):
        places = range(start, min(start + CHUNKS_TOGETHER, n_chunks))
        rows = None if clean.kept is None else _together(clean.kept, places)

        def final(k: int, places: range = places, rows: Any = rows) -> NDArray[Any]:
            column = table.columns[k]
            return _final_values(column, _together(column.chunks, places), rows, clean.codes[k])

        block = list(run(final, range(len(table.columns))))
        if table.repeats is not None:
            block.append(_weights(_together(table.repeats.chunks, places), rows))
        yield block


def _together(chunks: Chunks, places: range) -> NDArray[Any]:
    """Return some chunks on disk as one array."""
    assert isinstance(chunks, SpooledChunks)
    return chunks.together(places)


def _repeats_of(table: ReadTable, rows: NDArray[np.bool_] | None) -> tuple[NDArray[Any] | None, Weighting | None]:
    """Return the repeats of the rows that stay, or their weights."""
    if table.repeats is None:
        return None, None
    numbers = table.repeats.chunks.pop()
    if table.weighted:
        return scaled_weights(table.repeats.name, numbers if rows is None else numbers[rows])
    return _weights(numbers, rows), None


def _weights(numbers: NDArray[Any], rows: NDArray[np.bool_] | None) -> NDArray[np.int64]:
    """Return the repeats of the rows that stay."""
    weights = (numbers if rows is None else numbers[rows]).astype(np.int64)
    weights.flags.writeable = False
    return weights


def _final_values(
    column: ReadColumn, values: NDArray[Any], rows: NDArray[np.bool_] | None, codes: NDArray[Any] | None
) -> NDArray[Any]:
    """Return the rows that stay in their final codes; `values` may be overwritten."""
    if rows is not None:
        values = values[rows]
    if codes is None:
        return values
    assert column.table is not None
    one_up = not (column.may_lack or column.table[0]) and (codes[1:] == np.arange(len(codes) - 1)).all()
    if one_up and values.dtype == codes.dtype:
        values -= 1
    elif values.dtype == codes.dtype == np.uint8:
        recode(values, byte_table(codes[:256]))
    else:
        values = codes[values]
    return values


# Checks and errors


def check_table_size(table: ReadTable, least: int = 2) -> None:
    """Raise DataError if there are too few rows or columns: 2 to learn from, 1 to apply a model to."""
    if table.n_rows < least:
        rows = f"{least} row{'s' * (least > 1)}"
        raise DataError(f"data must have at least {rows}; {table.source} has {table.n_rows}. Read data with more rows.")
    if len(table.columns) < least:
        raise DataError(
            f"data must have at least {least} variable{'s' * (least > 1)}; {table.source} gives {len(table.columns)}. "
            "Name more columns, or check the delimiter if it is a text file."
        )


def whole_repeats(name: str, numbers: NDArray[np.float64], first_row: int = 0) -> NDArray[np.int64]:
    """Return repeats as integers, or raise DataError; `first_row` rows came before these."""
    wrong = np.flatnonzero(~((numbers >= 0) & (numbers < 2.0**53) & (numbers == np.floor(numbers))))
    if len(wrong):
        shown = "nothing" if np.isnan(numbers[wrong[0]]) else numbers[wrong[0]]
        raise DataError(
            f"repeats: column {name!r} must hold whole numbers from 0 to 2**53; data row {first_row + wrong[0] + 1} "
            f"holds {shown}. Round the weights, or leave that row out."
        )
    return numbers.astype(np.int64)


def check_not_infinite(name: str, numbers: NDArray[np.float64], first_row: int) -> None:
    """Raise DataError if a number is infinite; `first_row` rows came before these."""
    if bool(np.isinf(numbers).any()):
        row = int(np.argmax(np.isinf(numbers)))
        raise DataError(
            f"column {name!r} is continuous and must hold finite numbers; data row {first_row + row + 1} holds "
            f"{numbers[row]}. Replace it, or name it in missing_values=[float('inf'), float('-inf')]."
        )


def _check_columns(table: ReadTable, found: _Survey) -> None:
    """Raise DataError if a column is all missing, or unclear about what is missing or whether it is categorical."""
    empty = [name for name, count in found.counts.items() if count == found.n_before]
    if empty:
        raise DataError(
            f"every column must hold a value; {', '.join(map(repr, empty[:5]))} is missing in all {found.n_before} "
            f"rows. Leave it out with drop=[{empty[0]!r}]."
        )
    for column in table.columns:
        if column.doubts:
            raise _doubtful(column)
    check_settled(table)


def _doubtful(column: ReadColumn) -> DataError:
    """Return the error for strings that usually mark a missing value but may be labels."""
    listed = ", ".join(map(repr, column.doubts))
    name = column.name
    return DataError(
        f"column {name!r} must be clear about what is missing; it holds {listed}, which may mark a missing value. "
        f"Use missing_values=[{listed}] if so, or types={{{name!r}: 'categorical'}} if it is a label."
    )


class IncompleteDataError(DataError):
    """Data have missing values where the policy accepts none; `listed` names the columns with their counts."""

    def __init__(self, message: str, listed: str = "") -> None:
        super().__init__(message)
        self.listed = listed


def _incomplete(table: ReadTable, found: _Survey) -> DataError:
    """Return the error for missing values where the policy accepts none."""
    worst = sorted(found.counts, key=lambda name: -found.counts[name])
    listed = ", ".join(f"{name!r} {found.counts[name]}" for name in worst[:8])
    more = f" and {len(worst) - 8} more columns" if len(worst) > 8 else ""
    return IncompleteDataError(
        f"missing='error' requires complete data; missing values: {listed}{more}. Use missing='testwise' to use, for "
        "each test and model, the rows in which its own variables are observed; "
        f"or missing='drop_rows' to leave out {found.n_incomplete} of {found.n_before} rows"
        + "".join(
            f", {rows} of them only because of {name!r} (drop=[{name!r}])"
            for name, rows in costly_columns(found.alone, found.n_incomplete).items()
        )
        + ("; or missing='category' to make them a state." if _are_categorical(table, found.counts) else "."),
        listed + more,
    )


def too_few_rows(
    table: ReadTable, counts: dict[str, int], n_before: int, n_after: int, missing: MissingPolicy = "drop_rows"
) -> DataError:
    """Return the error for too few complete rows, or too few rows that occurred."""
    if not counts:
        rows = "with a weight other than zero" if table.weighted else "that occurred"
        return DataError(
            f"data must have at least 2 rows {rows}; {table.source} has {n_after}. Check the "
            f"{'weights' if table.weighted else 'repeats'}."
        )
    worst = max(counts, key=lambda name: counts[name])
    if missing == "testwise":
        return DataError(
            f"data must have at least 2 rows with a value; {n_after} of {n_before} have one. Read data with more rows."
        )
    return DataError(
        f"missing='drop_rows' must leave at least 2 rows; {n_after} of {n_before} are complete. The worst column is "
        f"{worst!r} with {counts[worst]} missing: leave it out with drop=[{worst!r}], or use "
        "missing='testwise'."
    )


def _are_categorical(table: ReadTable, counts: dict[str, int]) -> bool:
    """Return whether every column with missing values can have a state for them."""
    return all(column.levels is not None for column in table.columns if column.name in counts)
