"""What is missing, and which rows stay: the rules of `_policy.py` for chunks that are on disk, a chunk at a time."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mnlearn._core import recode
from mnlearn.data import _checks, _policy
from mnlearn.data._coding import Settled, too_many
from mnlearn.data._gather import Gathered
from mnlearn.data._packwriter import Block, Contents, Variable
from mnlearn.data._raw import RawColumn, RawTable
from mnlearn.data._request import MissingPolicy
from mnlearn.data._spool import Spool, SpooledChunks
from mnlearn.data.dataset import MissingReport
from mnlearn.parallel import run

CHUNKS_TOGETHER = 16  # about a million rows: enough for several threads, little enough to hold


@dataclass
class _Survey:
    """The rows that stay, chunk by chunk, and what is missing in those that occurred."""

    kept: SpooledChunks | None  # None: all of them
    counts: dict[str, int]
    n_before: int
    n_incomplete: int
    n_after: int


def surveyed(gathered: Gathered, missing: MissingPolicy, spool: Spool, *, least: int = 2) -> Contents:
    """Apply the policy for missing values and say what is to be written, at least so many rows."""
    table = _told(gathered)
    _policy.check_size(table, least)
    found = _survey(gathered, missing, spool)
    _policy.check_columns(table, found.counts, found.n_before)
    if found.counts and missing == "error":
        raise _policy.incomplete_data(table, found.counts, found.n_incomplete, found.n_before)
    if found.n_after < least:
        raise _policy.nothing_left(table, found.counts, found.n_before, found.n_after)
    report = MissingReport(missing, MappingProxyType(found.counts), found.n_before - found.n_after)
    columns = [_final(column, found, report) for column in gathered.columns]
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


def _told(gathered: Gathered) -> RawTable:
    """The table as messages need it: without its values."""
    columns = [
        RawColumn(c.name, np.empty(0, np.float64 if c.levels is None else np.uint8), c.levels, c.declared, c.doubts)
        for c in gathered.columns
    ]
    return RawTable(columns, None, gathered.n_rows, gathered.source)


def _survey(gathered: Gathered, missing: MissingPolicy, spool: Spool) -> _Survey:
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


def _may_lack(column: Settled) -> bool:
    """Whether the column may hold a missing value, or one that is no number."""
    if column.table is None:
        return True
    assert isinstance(column.chunks, SpooledChunks)
    return column.chunks.has_zeros or not column.table[1:].all()


def _chunk(column: Settled, k: int) -> NDArray[Any]:
    assert isinstance(column.chunks, SpooledChunks)
    return column.chunks[k]


def _lacking(column: Settled, k: int, first_row: int) -> NDArray[np.bool_]:
    """Where the k-th chunk of a column lacks a value."""
    chunk = _chunk(column, k)
    if column.table is not None:
        return np.asarray((column.table == 0)[chunk])
    _policy.check_not_infinite(column.name, chunk, first_row)
    return np.asarray(np.isnan(chunk))


def _occurred(gathered: Gathered, k: int, first_row: int) -> NDArray[np.bool_]:
    """Which rows of the k-th chunks occurred at all."""
    if gathered.repeats is None:
        return np.ones(len(_chunk(gathered.columns[0], k)), dtype=np.bool_)
    repeats = gathered.repeats
    return _policy.whole_repeats(repeats.name, _chunk(repeats, k), first_row) > 0


def _final(
    column: Settled, found: _Survey, report: MissingReport
) -> tuple[tuple[Any, ...] | None, NDArray[np.generic] | None]:
    """The levels a column will have, and the table from the codes in its chunks to those it will keep."""
    if column.levels is None or column.table is None:
        if report.policy == "category" and column.name in report.counts:
            raise _policy.no_category(column.name, report.counts[column.name])
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
    gathered: Gathered, tables: list[NDArray[np.generic] | None], kept: SpooledChunks | None
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
