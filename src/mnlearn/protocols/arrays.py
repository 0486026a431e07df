"""What variables, sets of them and numbers about them are called in every signature."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

VarSet: TypeAlias = frozenset[int]  # inside the library a variable is an index 0..n-1
FloatArray: TypeAlias = NDArray[np.float64]
IntArray: TypeAlias = NDArray[np.int64]
BoolArray: TypeAlias = NDArray[np.bool_]
Indices: TypeAlias = Sequence[int] | NDArray[np.integer[Any]]  # the many y of a scan
