"""Decimal commas in text: numbers with a comma get a point, and those with a point a comma, which is an error later."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import pyarrow as pa

from mnlearn.data.options import ColumnOptions

_COMMA = r"^(\s*[+-]?[0-9]*),([0-9]+(?:[eE][+-]?[0-9]+)?\s*)$"
_POINT = r"^(\s*[+-]?[0-9]*)\.([0-9]+(?:[eE][+-]?[0-9]+)?\s*)$"


def batches_with_points(batches: Iterable[Any], columns: Sequence[ColumnOptions]) -> Iterator[Any]:
    """Yield batches of strings whose numbers have decimal points; the columns come first, in this order."""
    commas = any(own.decimal == "," for own in columns)
    for batch in batches:
        if not commas:
            yield batch
            continue
        arrays = [with_points(batch.column(k), own) for k, own in enumerate(columns)]
        arrays += [batch.column(k) for k in range(len(columns), batch.num_columns)]
        yield pa.RecordBatch.from_arrays(arrays, names=batch.schema.names)


def with_points(cells: Any, options: ColumnOptions) -> Any:
    """Return cells whose decimal commas are points.

    A number with a point may have a separator of thousands there (1.234 is 1234 in German), so it gets a comma, and the
    column is refused. Cells of a categorical column keep their points: they may be labels such as 3.5 for a date.
    """
    if options.decimal != ",":
        return cells
    import pyarrow.compute as pc  # slow to import

    pointed = pc.replace_substring_regex(cells, _COMMA, r"\1.\2")
    if not options.is_open and not options.is_numeric:
        return pointed
    return pc.if_else(
        pc.match_substring_regex(cells, _POINT), pc.replace_substring_regex(cells, _POINT, r"\1,\2"), pointed
    )


def cell_as_written(cell: str, options: ColumnOptions) -> str:
    """Return a cell as the file writes it."""
    if options.decimal == "," and (re.fullmatch(_COMMA, cell) or re.fullmatch(_POINT, cell)):
        return cell.translate({ord("."): ",", ord(","): "."})
    return cell
