"""Columns whose categories are in an order in their source. Imported on first use: it needs pyarrow and narwhals.

A column is marked True if the source says that the order means something, as for an ordered categorical: it is ordinal.
It is marked False if there is an order that may be one of convenience, as of an Enum of polars: it is ordinal only if
it is declared so.
"""

from __future__ import annotations

from typing import Any

import narwhals as nw
import numpy as np
import pyarrow as pa
from narwhals.dependencies import is_into_series, is_pandas_series


def orders_in(schema: Any) -> dict[int, bool]:
    """Return the marks of the columns of an Arrow table, by position."""
    ordered = [j for j, type_ in enumerate(schema.types) if pa.types.is_dictionary(type_) and type_.ordered]
    about = {j: schema.field(j).metadata or {} for j in ordered}
    return {j: not any(key.startswith(b"_PL_ENUM") for key in about[j]) for j in ordered}


def orders_of_pandas(frame: Any) -> dict[int, bool]:
    """Return the marks of the columns of a pandas frame, by position."""
    return {j: True for j, dtype in enumerate(frame.dtypes) if _is_ordered(dtype)}


def orders_of_frame(frame: nw.DataFrame[Any]) -> dict[int, bool]:
    """Return the marks of the columns of another frame, by position."""
    return {j: False for j, dtype in enumerate(frame.schema.dtypes()) if isinstance(dtype, nw.Enum)}


def order_of(column: Any) -> bool | None:
    """Return the mark of a single column; None if its values have no order but that of numbers."""
    if isinstance(column, pa.Array | pa.ChunkedArray):
        return _is_ordered(column.type) or None
    if is_pandas_series(column):
        return _is_ordered(column.dtype) or None
    if isinstance(column, list | np.ndarray) or not is_into_series(column):
        return None
    return False if isinstance(nw.from_native(column, series_only=True).dtype, nw.Enum) else None


def _is_ordered(dtype: Any) -> bool:
    """Return whether a pandas or Arrow type is that of categories in an order."""
    if isinstance(dtype, np.dtype):
        return False
    return bool(getattr(getattr(dtype, "pyarrow_dtype", dtype), "ordered", False))
