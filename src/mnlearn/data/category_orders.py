"""Columns whose categories are in an order in their source. Imported on first use: it needs pyarrow and narwhals.

A column is marked True if the source says that the order means something, as for an ordered categorical: it is ordinal.
It is marked False if there is an order that may be one of convenience, as of an Enum of polars: it is ordinal only if
it is declared so. None marks all other columns. Few columns have categories, so only these are looked up.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import narwhals as nw
import numpy as np
import pyarrow as pa
from narwhals.dependencies import is_into_series, is_pandas_series


def order_in_schema(schema: Any, position: int) -> bool | None:
    """Return the mark of a column of an Arrow table."""
    field = schema.field(position)
    if not _is_ordered(field.type):
        return None
    return not any(key.startswith(b"_PL_ENUM") for key in field.metadata or ())


def order_in_types(dtypes: Sequence[Any], position: int) -> bool | None:
    """Return the mark of a column of a frame, given the types of its columns."""
    dtype = dtypes[position]
    return False if isinstance(dtype, nw.Enum) else _is_ordered(dtype) or None


def order_of(column: Any) -> bool | None:
    """Return the mark of a column by itself."""
    if isinstance(column, pa.Array | pa.ChunkedArray):
        return _is_ordered(column.type) or None
    if is_pandas_series(column):
        return _is_ordered(column.dtype) or None
    if isinstance(column, list | np.ndarray) or not is_into_series(column):
        return None
    return order_in_types([nw.from_native(column, series_only=True).dtype], 0)


def _is_ordered(dtype: Any) -> bool:
    """Return whether a pandas or Arrow type is that of categories in an order."""
    return bool(getattr(getattr(dtype, "pyarrow_dtype", dtype), "ordered", False))
