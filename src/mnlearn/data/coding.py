"""Codes of whole columns, made by the native core for many columns at a time."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from mnlearn._core import code_arrow, code_block, code_lists, code_stream
from mnlearn.data.columns import Mixtures, ReadColumn, WholeColumns
from mnlearn.data.options import ColumnOptions, ColumnSelection

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
