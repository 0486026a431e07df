"""A correlation matrix with its scales, from rows or from a covariance: the arithmetic behind `Moments`.

Products, factors and inverses with the same bits on every machine: those of the native core.

BLAS and LAPACK add in an order that depends on the processor. `@` is used only where sums are exact, such as those of
whole numbers, and where a result says that it agrees to some digits only.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from mnlearn import _core
from mnlearn.errors import InputError
from mnlearn.protocols.statistics import FloatArray

if TYPE_CHECKING:
    from mnlearn.data.dataset import Dataset
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


_BLOCK_VALUES = 1 << 22  # values standardized at a time: 32 MB beside the data, however many rows
_SAFE_EXPONENT = 400  # columns within 2^±400 cannot overflow a sum; beyond, they are scaled first
_TOLERANCE = 1e-8  # in units of a correlation: what a covariance read from a file may be off by


def correlation_of_rows(dataset: Dataset) -> tuple[FloatArray, FloatArray]:
    """Return the correlation matrix and the standard deviations (divisor N), repeats as weights."""
    columns, weights = _columns(dataset)
    rule = _Standard(columns, weights)
    n_variables = len(columns)
    total = np.zeros((n_variables, n_variables))
    step = max(1, _BLOCK_VALUES // n_variables)
    for start in range(0, dataset.n_records, step):
        rows = slice(start, start + step)
        block = rule.apply([column[rows] for column in columns])
        if weights is not None:
            block *= np.sqrt(weights[rows])
        total += products(block)
    return _tidy(total / (dataset.n_rows if weights is None else weights.sum()), rule.scale), rule.scale


def standardized(dataset: Dataset) -> FloatArray:
    """Return the stored rows, each column centred and of unit variance, repeats as weights; zeros where constant."""
    columns, weights = _columns(dataset)
    return _Standard(columns, weights).apply(columns).T


def standardized_columns(dataset: Dataset) -> FloatArray:
    """Return a row for each column, centred and of unit variance over its observed values; 0 for gaps."""
    columns, weights = _columns(dataset)
    found = np.zeros((len(columns), dataset.n_records))
    for v, column in enumerate(columns):
        observed = dataset.observed(v)
        kept = slice(None) if observed is None else observed
        values = [column[kept]]
        if values[0].size:
            found[v, kept] = _Standard(values, None if weights is None else weights[kept]).apply(values)[0]
    return found


class Standardization:
    """Columns of a data set, centred and of unit variance, some at a time.

    Rows with repeats are multiplied by the square roots of their numbers: products of columns are then weighted sums.
    """

    def __init__(self, dataset: Dataset) -> None:
        self._columns, weights = _columns(dataset)
        self._roots = None if weights is None else np.sqrt(weights)
        self._rule = _Standard(self._columns, weights)
        self.n_records = dataset.n_records
        self.total = float(dataset.n_rows)

    def block(self, variables: range) -> FloatArray:
        """Return a row for each of these variables; zeros for a constant one."""
        chosen = slice(variables.start, variables.stop)
        found = self._rule.apply(self._columns[chosen], chosen)
        return found if self._roots is None else found * self._roots


def _columns(dataset: Dataset) -> tuple[list[FloatArray], FloatArray | None]:
    """Return the columns and the weights of the rows, if any."""
    dataset.verify()
    weights = None if dataset.repeats is None else dataset.repeats.astype(np.float64)
    return [np.asarray(column, dtype=np.float64) for column in dataset.columns], weights


def correlation_of_covariance(covariance: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the correlation matrix and the standard deviations of a user's covariance, after checking it."""
    from scipy.linalg.lapack import dpotrf

    if covariance.ndim != 2 or covariance.shape[0] != covariance.shape[1] or not covariance.size:
        raise InputError(
            f"covariance must be a square matrix; got shape {covariance.shape}. Give one row per variable."
        )
    if not np.isfinite(covariance).all():
        raise InputError("covariance must be finite; it holds NaN or inf. Compute it from complete rows.")
    variances = np.diag(covariance)
    if (variances < 0.0).any():
        raise InputError(
            f"covariance must have no negative variance; got {variances.min():g} for variable {variances.argmin()}. "
            "Compute it from rows, or repair it first."
        )
    scale = np.sqrt(variances)
    unit = np.where(scale > 0.0, scale, 1.0)
    scaled = covariance / unit[:, None] / unit
    _require_symmetric(scaled, covariance)
    scaled = 0.5 * (scaled + scaled.T)
    if dpotrf(scaled + _TOLERANCE * np.eye(scale.size), lower=1)[1] != 0:
        raise InputError(
            "covariance must be positive semi-definite; it gives some combination of variables a negative variance. "
            "Compute it from complete rows: leaving out missing values pair by pair does this."
        )
    return _tidy(scaled, scale), scale


def _require_symmetric(scaled: FloatArray, covariance: FloatArray) -> None:
    """Raise InputError if the two halves differ by more than rounding, and name the worst entry."""
    difference = np.abs(scaled - scaled.T)
    if (difference > _TOLERANCE).any():
        x, y = divmod(int(difference.argmax()), len(scaled))
        raise InputError(
            f"covariance must be symmetric; got {covariance[x, y]:g} at ({x}, {y}) and {covariance[y, x]:g} at "
            f"({y}, {x}). Average it with its transpose if that is what you mean."
        )


def _tidy(correlation: FloatArray, scale: FloatArray) -> FloatArray:
    """Put exact ones on the diagonal and exact zeros for constant variables, and clip to ±1."""
    np.clip(correlation, -1.0, 1.0, out=correlation)
    constant = scale == 0.0
    correlation[constant, :] = 0.0
    correlation[:, constant] = 0.0
    np.fill_diagonal(correlation, ~constant)
    return correlation


class _Standard:
    """Rule that centres columns and scales them to unit variance, without overflow or loss of the centre."""

    def __init__(self, columns: Sequence[FloatArray], weights: FloatArray | None) -> None:
        """Measure the columns, some at a time; `scale` holds their standard deviations, 0 for a constant one."""
        step = max(1, _BLOCK_VALUES // columns[0].size)
        parts = [_measure(np.array(columns[k : k + step]), weights) for k in range(0, len(columns), step)]
        self._exponents, self._first, self._second, self._size, self.scale = map(
            np.concatenate, zip(*parts, strict=True)
        )

    def apply(self, columns: Sequence[FloatArray], chosen: slice = slice(None)) -> FloatArray:
        """Return the standardized values of the chosen columns, a row for each; zeros for a constant one."""
        values = _moved(np.array(columns), self._exponents[chosen])
        values -= self._first[chosen, None]
        values -= self._second[chosen, None]
        values /= self._size[chosen, None]
        values[self.scale[chosen] == 0.0] = 0.0
        return values


def _measure(
    values: FloatArray, weights: FloatArray | None
) -> tuple[NDArray[np.intc], FloatArray, FloatArray, FloatArray, FloatArray]:
    """Return the exponents, both centres, the size and the standard deviation of columns, each a row of `values`."""
    low, high = values.min(axis=1), values.max(axis=1)
    exponents = np.frexp(np.maximum(-low, high))[1]
    exponents[np.abs(exponents) <= _SAFE_EXPONENT] = 0
    values = _moved(values, exponents)
    first = _means(values, weights)
    values -= first[:, None]
    second = _means(values, weights)  # the mean was rounded: centre what is left once more
    values -= second[:, None]
    largest = np.abs(values).max(axis=1)
    largest[largest == 0.0] = 1.0
    values /= largest[:, None]
    np.square(values, out=values)
    size = np.where(low == high, 1.0, largest * np.sqrt(_means(values, weights)))
    scale = np.where(low == high, 0.0, np.maximum(np.ldexp(size, exponents), 5e-324))
    return exponents, first, second, size, scale


def _moved(values: FloatArray, exponents: NDArray[np.intc]) -> FloatArray:
    """Divide each row by a power of two, which is exact."""
    return np.ldexp(values, -exponents[:, None]) if exponents.any() else values


def _means(values: FloatArray, weights: FloatArray | None) -> FloatArray:
    """Return the weighted mean of each row."""
    return np.asarray(values.mean(axis=1) if weights is None else products(values, weights[None])[:, 0] / weights.sum())
