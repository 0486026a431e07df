"""Products, factors and inverses with the same bits on every machine: those of the native core.

BLAS and LAPACK add in an order that depends on the processor. `@` is used only where sums are exact, such as those of
whole numbers, and where a result says that it agrees to some digits only.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import numpy as np

from mnlearn import _core

if TYPE_CHECKING:
    from mnlearn.protocols import FloatArray, IntArray


def products(a: FloatArray, b: FloatArray | None = None) -> FloatArray:
    """Return a bᵀ, the products of the rows of a with those of b; of a with itself without b."""
    from mnlearn.parallel import cores

    left = np.ascontiguousarray(a, dtype=np.float64)
    right = left if b is None else np.ascontiguousarray(b, dtype=np.float64)
    return _core.products(left, right, os.environ.get("MNLEARN_CORE", ""), cores())


def pivoted_cholesky(matrix: FloatArray, least: float) -> tuple[FloatArray, IntArray]:
    """Return the lower factor of the variables of which the others leave more than `least`, and these in its order.

    Each time the variable with the largest remaining variance is next, the first of equals.
    """
    factor, order, rank = _core.pivoted_cholesky(np.ascontiguousarray(matrix), least)
    return np.ascontiguousarray(factor[:rank, :rank]), order[:rank]


def solve_lower(lower: FloatArray, block: FloatArray) -> FloatArray:
    """Return the solution x of lower x = block, for each column."""
    return _core.solve_lower(lower, np.ascontiguousarray(block))


def inverses(matrices: FloatArray) -> FloatArray:
    """Return the inverse of each positive definite matrix; NaN for any other."""
    return _core.invert_positive(np.ascontiguousarray(matrices))
