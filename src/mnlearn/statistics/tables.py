"""Contingency tables without their rows: sums over disjoint shards, and scores of the sums."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import accumulate
from math import inf, prod
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from mnlearn import _core
from mnlearn.errors import InputError
from mnlearn.numbers import log
from mnlearn.protocols.statistics import FloatArray, IntArray, Kernel, Tables


def add_tables(parts: Iterable[Tables]) -> Tables:
    """Add up tables of the same question over disjoint sets of rows.

    The sum has the same integers, in the same order, as counting all rows at once.
    """
    tables = list(parts)
    if not tables:
        raise InputError("parts must hold at least one Tables; got none. Count at least one shard.")
    first = tables[0]
    if any((t.x, t.ys, t.z) != (first.x, first.ys, first.z) for t in tables):
        raise InputError("parts must answer the same question (x, ys, z); got different ones. Ask each shard the same.")
    if any([c.shape[1:] for c in t.counts] != [c.shape[1:] for c in first.counts] for t in tables):
        raise InputError("parts must agree on the states of each variable; got different ones. Declare the levels.")
    stacked = np.concatenate([t.strata for t in tables])
    if first.z:
        strata, place = np.unique(stacked, axis=0, return_inverse=True)
    else:  # the one empty configuration
        strata, place = stacked[:1], np.zeros(len(stacked), dtype=np.intp)
    place = place.reshape(-1)
    sums = []
    for k in range(len(first.ys)):
        total = np.zeros((len(strata), *first.counts[k].shape[1:]), dtype=np.int64)
        np.add.at(total, place, np.concatenate([t.counts[k] for t in tables]))
        sums.append(total)
    return Tables(first.x, first.ys, first.z, strata, tuple(sums))


def complete_tables(tables: Tables, cards: Sequence[int]) -> Tables:
    """Return the rows without gaps of tables in which the code after the last state was counted like a state.

    Strata with a missing member of z are left out, and those without complete rows for any y.
    """
    rx = cards[tables.x]
    counts = [table[:, :rx, : cards[y]] for y, table in zip(tables.ys, tables.counts, strict=True)]
    kept = (tables.strata < np.array([cards[v] for v in tables.z], dtype=np.int64)).all(axis=1)
    if counts:
        kept &= np.any([table.any(axis=(1, 2)) for table in counts], axis=0)
    return Tables(
        tables.x, tables.ys, tables.z, tables.strata[kept], tuple(np.ascontiguousarray(table[kept]) for table in counts)
    )


def score_tables(kernel: Kernel, tables: Tables, cards: Sequence[int]) -> FloatArray:
    """Score tables: the numbers that `Counts.reduce` gives for the rows they were counted from."""
    z_cards = [cards[v] for v in tables.z]
    configurations = float(prod(z_cards)) if sum(map(log, z_cards)) < 700 else inf
    columns = [
        _core.score_table(
            kernel.name, kernel.settings, counts, int(counts.sum()), configurations, float(sum(map(log, z_cards)))
        )
        for counts in map(_occupied, tables.counts)
    ]
    return np.array(columns, dtype=np.float64).reshape(len(columns), len(kernel.outputs)).T


def _occupied(counts: IntArray) -> IntArray:
    """Return the strata with rows; with gaps, a y may have none in a stratum of another."""
    return np.ascontiguousarray(counts[counts.any(axis=(1, 2))])


# Tables of one shard, as workers send them.


_LARGEST_KEY = 2**62
_KINDS: dict[int, Any] = {1: np.uint8, 2: np.uint16, 4: np.uint32, 8: np.int64}  # by their bytes


class ShardTable(NamedTuple):
    """Rows of counts, each with its own configuration of states."""

    states: NDArray[Any]  # one row for each configuration, one column for each variable
    counts: NDArray[Any]

    def small(self) -> ShardTable:
        """Return the numbers in as few bytes as hold them, for sending."""
        return ShardTable(_narrow(self.states), _narrow(self.counts))


class PackedTables(NamedTuple):
    """Many parts as one piece: some hundred small arrays by themselves take five times as long between machines."""

    forms: NDArray[np.int64]  # for each part its rows, then columns and bytes a number of its states and of its counts
    content: NDArray[np.uint8]

    @classmethod
    def of(cls, parts: Sequence[ShardTable]) -> PackedTables:
        """Put parts together, in as few bytes as hold their numbers."""
        small = [part.small() for part in parts]
        forms = [(len(s), s.shape[1], s.itemsize, c.shape[1], c.itemsize) for s, c in small]
        arrays = [np.ascontiguousarray(array).reshape(-1).view(np.uint8) for part in small for array in part]
        content = np.concatenate([np.empty(0, np.uint8), *arrays])
        return cls(np.array(forms, dtype=np.int64).reshape(-1, 5), content)

    def parts(self) -> list[ShardTable]:
        """Return the tables."""
        found, end = [], 0
        for n, width, state_bytes, columns, count_bytes in self.forms.tolist():
            middle = end + n * width * state_bytes
            states, counts = self.content[end:middle], self.content[middle : middle + n * columns * count_bytes]
            end = middle + len(counts)
            found.append(
                ShardTable(
                    np.frombuffer(states.tobytes(), _KINDS[state_bytes]).reshape(n, width),
                    np.frombuffer(counts.tobytes(), _KINDS[count_bytes]).reshape(n, columns),
                )
            )
        return found


def add_shard_tables(parts: Sequence[ShardTable], cards: Sequence[int]) -> ShardTable:
    """Add tables configuration by configuration, in lexicographic order: the integers of counting all rows at once."""
    first = parts[0]
    if all(np.array_equal(part.states, first.states) for part in parts[1:]):
        total = first.counts.astype(np.int64)
        for part in parts[1:]:
            total += part.counts
        return ShardTable(first.states.astype(np.int64), total)
    keys = [_keys(part.states, cards) for part in parts]
    if keys[0].ndim == 1:
        _, first_seen, place = np.unique(np.concatenate(keys), return_index=True, return_inverse=True)
    else:
        _, first_seen, place = np.unique(np.concatenate(keys), axis=0, return_index=True, return_inverse=True)
    states = np.concatenate([part.states for part in parts])[first_seen].astype(np.int64)
    total = np.zeros((len(states), first.counts.shape[1]), dtype=np.int64)
    ends = list(accumulate(len(part.states) for part in parts))
    for part, end in zip(parts, ends, strict=True):
        total[place.reshape(-1)[end - len(part.states) : end]] += part.counts
    return ShardTable(states, total)


def _keys(states: NDArray[Any], cards: Sequence[int]) -> NDArray[Any]:
    """Return one integer for each configuration, in the same order; the configurations themselves if it overflows."""
    if prod(cards) >= _LARGEST_KEY:
        return states.astype(np.int64)
    keys = np.zeros(len(states), dtype=np.int64)
    for k, card in enumerate(cards):
        keys = keys * card + states[:, k]
    return keys


def _narrow(numbers: NDArray[Any]) -> NDArray[Any]:
    largest = int(numbers.max(initial=0))
    return numbers.astype(next(kind for kind in _KINDS.values() if largest <= np.iinfo(kind).max))


class TableScorer:
    """Scorer of tables of `n_rows` rows in all; its lookup tables are shared from table to table."""

    def __init__(self, n_rows: int) -> None:
        column = np.zeros(1, dtype=np.uint8)
        self._store = _core.Store([column], [1], np.array([n_rows], dtype=np.int64), 1)

    def score(
        self, kernel: Kernel, table: ShardTable, card: int, y_cards: Sequence[int], z_cards: Sequence[int]
    ) -> FloatArray:
        """Score the tables (x, y | z) of many y, laid out as by `_core.flat_tables`."""
        rys = np.array(y_cards, dtype=np.int32)
        counts = np.ascontiguousarray(table.counts, dtype=np.int64)
        return _core.score_tables(
            self._store, kernel.name, kernel.settings, counts, card, rys, *_configurations(z_cards)
        )

    @property
    def without_rows(self) -> int:
        """Number of tables without complete rows that were scored so far."""
        return self._store.without_rows

    def score_complete(
        self, kernel: Kernel, table: ShardTable, x: _Variable, ys: Sequence[_Variable], z_cards: Sequence[int]
    ) -> FloatArray:
        """Score the complete rows of tables in which gaps were counted after the states, each variable with both."""
        complete = np.asarray((table.states < np.array(z_cards, dtype=np.int64)).all(axis=1), dtype=np.uint8)
        return _core.score_gap_tables(
            self._store,
            kernel.name,
            kernel.settings,
            np.ascontiguousarray(table.counts, dtype=np.int64),
            complete,
            *x,
            [card for card, _ in ys],
            [gaps for _, gaps in ys],
            *_configurations(z_cards),
        )

    def rows(self, cells: ShardTable, cards: Sequence[int], gaps: Sequence[bool]) -> _core.Store:
        """Return the cells of a table as a store of rows with repeats, with the answers of the original rows."""
        kinds = [np.uint8 if card + gap <= 256 else np.uint16 for card, gap in zip(cards, gaps, strict=True)]
        columns = [np.ascontiguousarray(cells.states[:, k].astype(kind)) for k, kind in enumerate(kinds)]
        repeats: IntArray = np.ascontiguousarray(cells.counts[:, 0], dtype=np.int64)
        return _core.Store(columns, list(cards), repeats, len(repeats), share=self._store, gaps=gaps)


_Variable: TypeAlias = tuple[int, bool]  # its states, and whether it has gaps


def _configurations(z_cards: Sequence[int]) -> tuple[float, float]:
    """Return the number of configurations of z, and its logarithm."""
    number, log_number = 1.0, 0.0
    for card in z_cards:
        number *= card
        log_number += log(card)
    return number, log_number
