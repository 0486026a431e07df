"""Kinds of the columns that were read: ordinal ones have an order, counts are whole numbers from 0."""

from __future__ import annotations

from collections.abc import Hashable, Sequence

from mnlearn.data._checks import check_counts
from mnlearn.data.columns import ReadColumn, order_key
from mnlearn.data.options import DOUBTFUL, NOT_A_NUMBER, ColumnOptions
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
