"""SciPy sparse matrices of 0 and 1, read column by column: no dense copy of the matrix is made.

The codes of the data set take one byte a value, where a dense matrix of numbers takes eight.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mnlearn.data.coding import Coded
from mnlearn.data.columns import ReadTable
from mnlearn.data.frames import load_columns
from mnlearn.data.options import TableOptions
from mnlearn.errors import DataError, InputError


def load_sparse(matrix: Any, options: TableOptions) -> ReadTable:
    """Read a sparse array or matrix whose values are 0 and 1, or False and True."""
    if len(matrix.shape) != 2:
        raise InputError(f"source must be a 2-D matrix, one row per record; got shape {matrix.shape}. Reshape it.")
    n_rows, n_columns = matrix.shape
    columns = _SparseColumns(matrix)
    names = options.names_of(n_columns)
    code = partial(_code_columns, columns)
    return load_columns(names, columns, options, "the sparse matrix", n_rows=n_rows, code=code)


class _SparseColumns:
    """The columns of a sparse matrix, each made dense when it is fetched."""

    def __init__(self, matrix: Any) -> None:
        self.n_rows, self._n_columns = map(int, matrix.shape)
        columns = matrix.tocsc(copy=False)
        if not columns.has_canonical_format:
            columns = columns.copy()  # that of the caller stays as it is
            columns.sum_duplicates()
        wrong = np.flatnonzero((columns.data != 0) & (columns.data != 1))
        if wrong.size:
            first = int(wrong[0])
            j = int(np.searchsorted(columns.indptr, first, side="right")) - 1
            raise DataError(
                f"a sparse matrix must hold 0 and 1, or False and True; column {j}, data row "
                f"{int(columns.indices[first]) + 1} holds {columns.data[first]} ({wrong.size} such values). Use "
                "(matrix != 0) for presence, or .toarray() for values."
            )
        self._starts, self._rows, self._values = columns.indptr, columns.indices, columns.data != 0
        self.labels: tuple[Any, Any] = (False, True) if columns.dtype == np.bool_ else (0, 1)

    def __len__(self) -> int:
        return self._n_columns

    def __getitem__(self, j: int) -> NDArray[Any]:
        """Return a column as integers or booleans."""
        ones = slice(self._starts[j], self._starts[j + 1])
        column = np.zeros(self.n_rows, dtype=np.uint8)
        column[self._rows[ones][self._values[ones]]] = 1
        return column.view(np.bool_) if self.labels[0] is False else column


def _code_columns(columns: _SparseColumns, positions: Sequence[int]) -> dict[int, Coded | None]:
    """Code columns: the values are the codes already, unless all of them are equal."""
    coded: dict[int, Coded | None] = {}
    for j in positions:
        codes = columns[j].view(np.uint8)
        n_ones = int(np.count_nonzero(codes))
        if 0 < n_ones < len(codes):
            coded[j] = (columns.labels, codes, None)
        else:
            coded[j] = ((columns.labels[1 if n_ones else 0],), np.zeros_like(codes), None)
    return coded
