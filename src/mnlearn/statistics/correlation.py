"""A correlation matrix with its scales, from rows or from a covariance: the arithmetic behind `Moments`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from mnlearn.errors import InputError
from mnlearn.protocols.statistics import FloatArray

if TYPE_CHECKING:
    from mnlearn.data.dataset import Dataset

_BLOCK_VALUES = 1 << 22  # values standardized at a time: 32 MB beside the data, however many rows
_SAFE_EXPONENT = 400  # columns within 2^±400 cannot overflow a sum; beyond, they are scaled first
_TOLERANCE = 1e-8  # in units of a correlation: what a covariance read from a file may be off by


def correlation_of_rows(dataset: Dataset) -> tuple[FloatArray, FloatArray]:
    """Return the correlation matrix and the standard deviations (divisor N), repeats as weights."""
    dataset.verify()
    columns = [np.asarray(column, dtype=np.float64) for column in dataset.columns]
    weights = None if dataset.repeats is None else dataset.repeats.astype(np.float64)
    rules = [_Standard(column, weights) for column in columns]
    n_variables = len(columns)
    total = np.zeros((n_variables, n_variables))
    step = max(1, _BLOCK_VALUES // n_variables)
    for start in range(0, dataset.n_records, step):
        rows = slice(start, start + step)
        block = np.array([rule.apply(column[rows]) for rule, column in zip(rules, columns, strict=True)])
        if weights is not None:
            block *= np.sqrt(weights[rows])
        total += block @ block.T
    scale = np.array([rule.scale for rule in rules])
    return _tidy(total / dataset.n_rows, scale), scale


def standardized(dataset: Dataset) -> FloatArray:
    """Return the stored rows, each column centred and of unit variance, repeats as weights; zeros where constant."""
    dataset.verify()
    weights = None if dataset.repeats is None else dataset.repeats.astype(np.float64)
    columns = [np.asarray(column, dtype=np.float64) for column in dataset.columns]
    return np.column_stack([_Standard(column, weights).apply(column) for column in columns])


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
    """Rule that centres a column and scales it to unit variance, without overflow or loss of the centre."""

    def __init__(self, column: FloatArray, weights: FloatArray | None) -> None:
        """Measure the column; `scale` is its standard deviation, 0 if it is constant."""
        low, high = float(column.min()), float(column.max())
        exponent = int(np.frexp(max(-low, high))[1])
        self._exponent = exponent if abs(exponent) > _SAFE_EXPONENT else 0
        self._centres, self._size, self.scale = (0.0, 0.0), 1.0, 0.0
        if low == high:
            return
        values = self._moved(column)
        first = _mean(values, weights)
        values = values - first
        second = _mean(values, weights)  # the mean was rounded: centre what is left once more
        values -= second
        largest = float(np.abs(values).max())
        values /= largest
        self._centres = (first, second)
        self._size = largest * float(np.sqrt(_mean(values * values, weights)))
        self.scale = max(float(np.ldexp(self._size, self._exponent)), 5e-324)

    def apply(self, values: FloatArray) -> FloatArray:
        """Return the standardized values; zeros for a constant column."""
        if self.scale == 0.0:
            return np.zeros(values.size)
        first, second = self._centres
        return (self._moved(values) - first - second) / self._size

    def _moved(self, values: FloatArray) -> FloatArray:
        """Return the values times a power of two, which is exact."""
        return np.ldexp(values, -self._exponent) if self._exponent else values


def _mean(values: FloatArray, weights: FloatArray | None) -> float:
    """Return the weighted mean."""
    return float(values.mean() if weights is None else weights @ values / weights.sum())
