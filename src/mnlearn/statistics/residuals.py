"""Residuals of near-copies: regressions on the rows themselves, in extended precision.

A correlation matrix is known to 1e-16, so a residual of the share 1e-10 of a variance, that of a column within 1e-5 of
a copy, keeps six digits, and one of 1e-16 keeps none. The rows know more: their residuals have the size 1e-5 where the
share is 1e-10. Sums run in long doubles, so what limits the digits is how the values were stored.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from mnlearn.protocols.statistics import FloatArray

if TYPE_CHECKING:
    from mnlearn.data.dataset import Dataset

LongArray: TypeAlias = NDArray[np.longdouble]

DIGITS = 100.0
"""How many times its rounding error a residual must be to count: two digits are then sure."""

REDUNDANT = 0.08
"""Share of that below which a residual is what rounding of the stored values leaves of a copy or a sum: none."""

_STORED = 2.0**-53  # relative rounding error of a stored value
_COMPUTED = 4.0 * float(np.finfo(np.longdouble).eps)
_BLOCK_VALUES = 1 << 20  # long doubles at a time: 16 MB, however many rows
_KEPT_VALUES = 1 << 22  # long doubles of centred columns that are cached: 64 MB


class Space(NamedTuple):
    """Orthonormal basis of a conditioning set, a row for each direction, and how far each may be off.

    A set is not known if a member is neither redundant nor more than rounding.
    """

    z: tuple[int, ...]
    basis: LongArray
    errors: FloatArray
    known: bool = True


class _Left(NamedTuple):
    """Residuals of some variables, a row each, with their sizes and the largest rounding errors of these."""

    rows: LongArray
    sizes: FloatArray
    errors: FloatArray

    @property
    def known(self) -> NDArray[np.bool_]:
        """Which residuals are more than rounding."""
        return np.asarray(self.sizes > DIGITS * self.errors)


class Residuals:
    """Partial correlations from rows, each column centred and of length 1, repeats as weights.

    Parameters
    ----------
    dataset
        The continuous variables; only columns that a question names are read.
    """

    def __init__(self, dataset: Dataset) -> None:
        self._dataset = dataset
        self._roots = None if dataset.repeats is None else np.sqrt(dataset.repeats.astype(np.longdouble))
        self._last: Space | None = None
        self._columns: dict[int, tuple[LongArray, float]] = {}

    @property
    def dataset(self) -> Dataset:
        """The rows."""
        return self._dataset

    def correlations(self, x: int, ys: NDArray[np.int64], z: tuple[int, ...]) -> FloatArray:
        """Return the partial correlation of x with each y given z; NaN where rounding is all that z leaves of one."""
        space = self._space(z)
        of_x = self._given(space, [x])
        found = np.full(ys.size, np.nan)
        if not (space.known and of_x.known[0]):
            return found
        step = max(1, _BLOCK_VALUES // of_x.rows.shape[1])
        for start in range(0, ys.size, step):
            of_y = self._given(space, ys[start : start + step].tolist())
            shared = (of_y.rows @ of_x.rows[0]).astype(np.float64) / (of_x.sizes[0] * np.maximum(of_y.sizes, 1e-300))
            found[start : start + step] = np.where(of_y.known, shared, np.nan)
        return found

    def is_copy(self, u: int, v: int) -> bool:
        """Return whether u leaves no more of v than rounding of the stored values."""
        left = self._given(self._space((u,)), [v])
        return bool(left.sizes[0] <= REDUNDANT * DIGITS * left.errors[0])

    def _space(self, z: tuple[int, ...]) -> Space:
        """Return the basis of z without members that others explain; the larger residual first, ties by index."""
        last = self._last  # read once: another thread may replace it meanwhile
        if last is not None and last.z == z:
            return last
        n = self._dataset.n_records
        space = Space(z, np.empty((0, n), dtype=np.longdouble), np.empty(0))
        left = self._given(space, list(z))
        while (open_ := np.flatnonzero(left.known)).size:
            k = int(open_[left.sizes[open_].argmax()])
            row, error = left.rows[k] / left.sizes[k], left.errors[k] / left.sizes[k]
            space = Space(z, np.vstack((space.basis, row)), np.append(space.errors, error))
            left = _without(left, row, error)
            left.sizes[k] = 0.0
        known = not (left.sizes > REDUNDANT * DIGITS * left.errors).any()
        self._last = space = space._replace(known=known)
        return space

    def _given(self, space: Space, variables: list[int]) -> _Left:
        """Return the residuals of some variables given a conditioning set."""
        columns = [self._columns.get(v) or self._column(v) for v in variables]
        rows = np.array([row for row, _ in columns], dtype=np.longdouble).reshape(len(columns), -1)
        left = _Left(rows, np.ones(len(columns)), np.array([error for _, error in columns]))
        left.sizes[:] = _sizes(rows)
        for row, error in zip(space.basis, space.errors.tolist(), strict=True):
            left = _without(left, row, error)
        return left

    def _column(self, v: int) -> tuple[LongArray, float]:
        """Return a column, centred and of length 1 (zeros if constant), and the size of its rounding errors."""
        values = np.asarray(self._dataset.columns[v]).astype(np.longdouble)
        values = np.ldexp(values, -int(np.frexp(np.abs(values).max())[1]))  # squares stay in range
        stored = values if self._roots is None else values * self._roots
        for _ in range(2):  # the mean is rounded: centre what is left once more
            values = values - self._mean(values)
        if self._roots is not None:
            values = values * self._roots
        size = np.sqrt(values @ values)
        if not size > 0.0:
            return np.zeros_like(values), 1.0
        made = values / size, float(_STORED * np.sqrt(stored @ stored) / size) + _COMPUTED
        if (len(self._columns) + 1) * values.size <= _KEPT_VALUES:
            self._columns[v] = made
        return made

    def _mean(self, values: LongArray) -> np.longdouble:
        if self._roots is None:
            return np.longdouble(values.mean())
        return np.longdouble((values * self._roots) @ self._roots / (self._roots @ self._roots))


def _without(left: _Left, row: LongArray, error: float) -> _Left:
    """Take out one direction, twice: once leaves what rounding of the first left."""
    rows = left.rows
    for _ in range(2):
        rows = rows - (rows @ row)[:, None] * row
    return _Left(rows, _sizes(rows), left.errors + left.sizes * (error + _COMPUTED))


def _sizes(rows: LongArray) -> FloatArray:
    return np.asarray(np.sqrt(np.einsum("ij,ij->i", rows, rows)), dtype=np.float64)
