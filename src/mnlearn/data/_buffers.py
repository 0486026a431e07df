"""Arrow arrays as NumPy arrays, straight from their buffers.

`Array.to_numpy` imports pandas wherever it is installed, 0.3 s before the first row is read; so does every Python value
handed to pyarrow, which happens here only for columns with something missing. Imported on first use: it needs pyarrow.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray


def flat(array: Any) -> NDArray[Any]:
    """The values of an array of numbers without nulls, shared, not copied."""
    kind = np.dtype(str(array.type))  # "int32", "double": NumPy knows them by these names
    return np.frombuffer(array.buffers()[1], kind, len(array), array.offset * kind.itemsize)


def floats(array: Any) -> NDArray[np.float64]:
    """The values of a float64 array, NaN for null."""
    return flat(array.fill_null(pa.scalar(np.nan, pa.float64())) if array.null_count else array)
