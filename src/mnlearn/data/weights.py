"""Survey weights: how many rows weighted rows are worth, and whole rows in their place.

A sample with weights w says as much as n_eff = (Σ w)² / Σ w² rows without weights [K65]. `Dataset.repeats` then holds
the weights, scaled so that they sum to n_eff, rounded. Moments of continuous variables use them as they are. Tables of
categorical variables are counts, so `effective_rows` takes each row a whole number of times.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from math import fsum, ldexp
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from mnlearn._validate import rng_from
from mnlearn.data.dataset import Dataset, row_groups
from mnlearn.data.rows import without_foreign_levels
from mnlearn.errors import DataError, UnsuitableError
from mnlearn.numbers import log, log2

FloatArray: TypeAlias = NDArray[np.float64]
_UNITS = 2.0**40  # weights are multiples of 1 / this of the largest, so that a common factor changes nothing
_EXACT = 2.0**52  # sums of whole numbers below are exact, in any order
_MOST_WORK = 5e8  # comparisons of two cells: some seconds
_BLOCK = (64, 1024)  # fewest and most rows that are balanced together
_PASSES = 3
_MOST_ROWS = 200_000  # that are balanced: half a minute; of more rows, standard errors are small anyway
_LEAST = 1e-9  # gain that is more than rounding, as a share of that of one row


class Weighting(NamedTuple):
    """Weights of a data set.

    Attributes
    ----------
    column
        Name of the column of weights.
    n_rows
        Number of rows with a weight above 0.
    n_effective
        Effective sample size, (Σ w)² / Σ w².
    """

    column: str
    n_rows: int
    n_effective: float

    def __str__(self) -> str:
        """Return one sentence on the rows and what they are worth."""
        return (
            f"weights {self.column!r}: {self.n_rows:,} rows are worth {self.n_effective:,.1f} rows without weights "
            f"(design effect {self.n_rows / self.n_effective:.2f})"
        )


def check_weights(name: str, numbers: FloatArray, first_row: int = 0) -> FloatArray:
    """Return the weights, or raise DataError unless they are finite and not negative; see `whole_repeats`."""
    wrong = np.flatnonzero(~((numbers >= 0) & np.isfinite(numbers)))
    if len(wrong):
        shown = "nothing" if np.isnan(numbers[wrong[0]]) else numbers[wrong[0]]
        raise DataError(
            f"weights: column {name!r} must hold finite numbers that are not negative; data row "
            f"{first_row + wrong[0] + 1} holds {shown}. Correct it, or leave that row out (weight 0)."
        )
    return numbers


def scaled_weights(name: str, weights: FloatArray) -> tuple[FloatArray | None, Weighting]:
    """Scale positive weights so that they sum to the effective sample size, rounded; None if all are equal."""
    units = np.maximum(np.rint(weights / weights.max() * _UNITS), 1.0)
    total = fsum(units)
    effective = total**2 / fsum(units**2)
    facts = Weighting(name, len(weights), effective)
    if units.min() == units.max():
        return None, facts
    if effective < 2:
        raise DataError(
            f"weights: column {name!r} must be worth at least 2 rows; (sum of w)² / (sum of w²) is {effective:.2f}. "
            "Check for a weight that is far larger than all others."
        )
    scaled = units * (round(effective) / total)
    scaled.flags.writeable = False
    return scaled, facts


def weighted_rows(dataset: Dataset, n_records: int, seed: int | np.random.Generator) -> Dataset:
    """Draw weighted rows without replacement; each counts as one row and keeps its weight.

    Parameters
    ----------
    dataset
        The data, from ``read(..., weights=...)``.
    n_records
        Number of rows to draw, from 2 to all of them.
    seed
        A seed or a generator; the same seed draws the same rows.

    Returns
    -------
    Dataset
        The drawn rows in their old order. Their weights sum to their own effective sample size, rounded.

    Examples
    --------
    >>> from mnlearn.data import read
    >>> data = read({"a": [0.5, 1.5, 2.5, 3.5], "b": [1.0, 0.0, 0.2, 0.4], "w": [2.0, 1.0, 1.0, 2.0]}, weights="w")
    >>> part = weighted_rows(data, 3, seed=0)
    >>> part.n_records, part.columns[0].tolist()
    (3, [1.5, 2.5, 3.5])
    """
    if not dataset.is_weighted or dataset.weighting is None:
        return dataset.sample(n_records, seed)
    kept = np.sort(rng_from(seed).choice(dataset.n_records, size=n_records, replace=False, shuffle=False))
    weights, weighting = scaled_weights(dataset.weighting.column, np.asarray(dataset.repeats)[kept])
    return dataset._rows(kept, weights)._with(weighting=weighting)


def effective_rows(dataset: Dataset) -> Dataset:
    """Replace weighted rows of categorical variables by as many rows without weights as they are worth.

    Parameters
    ----------
    dataset
        The data, from ``read(..., weights=...)``; data without weights are returned as they are.

    Returns
    -------
    Dataset
        Rows without weights, as many as the effective sample size, rounded.

    Raises
    ------
    UnsuitableError
        If a variable is continuous.

    Notes
    -----
    A row is taken as often as its weight, scaled to the effective sample size, rounded up or down. Which rows are
    rounded up is chosen so that the shares of the states, and of the pairs of states of two columns, are close to the
    weighted ones. The first choice puts the rows in order of how common their states are and lets each pass on what it
    is rounded by; then pairs of rows exchange it for as long as the differences shrink. The result does not depend on
    the order of rows and columns, on labels or on a common factor of the weights; only ties are broken by the order of
    the labels.

    Examples
    --------
    >>> from mnlearn.data import read
    >>> data = read({"a": [0, 1, 0, 1], "b": [0, 0, 1, 1], "w": [3.0, 1.0, 1.0, 3.0]}, weights="w")
    >>> data.n_rows, [column.tolist() for column in effective_rows(data).columns]
    (3, [[0, 0, 1], [0, 1, 1]])
    """
    weights = dataset.repeats
    if weights is None or not dataset.is_weighted:
        return dataset
    if not all(dataset.cards):
        name = dataset.names[dataset.cards.index(0)]
        raise UnsuitableError(
            f"effective_rows needs categorical variables; {name!r} is continuous. Discretise it first; methods for "
            "continuous variables use the weights as they are."
        )
    dataset.verify()
    unit = ldexp(1.0, int(np.floor(log2(_EXACT / dataset.n_rows) - 1)))
    units = np.rint(weights * unit)
    shares = _shares(dataset, units)
    commonness = np.zeros(dataset.n_records)
    for column, own in zip(dataset.columns, shares, strict=True):
        commonness += log(own)[column]
    order = np.lexsort((units, row_groups(dataset.columns)[0], np.round(commonness, 9)))
    taken = np.diff(np.floor(np.cumsum(units[order]) / unit + 0.5), prepend=0.0)
    for rows in _blocks(dataset.n_records, dataset.n_variables):
        codes = np.array([column[order[rows]] for column in dataset.columns])
        taken[rows] = _balanced(_alike(codes, shares), units[order[rows]] / unit, taken[rows])
    repeats = np.empty(dataset.n_records, dtype=np.int64)
    repeats[order] = taken.astype(np.int64)
    return without_foreign_levels(dataset._rows(np.repeat(np.arange(dataset.n_records), repeats), None), dataset)


def _shares(dataset: Dataset, units: FloatArray) -> list[FloatArray]:
    """Return the weighted share of each state, and of gaps, of each column; one without rows counts as one unit."""
    sizes = [card + (name in dataset.gaps) for name, card in zip(dataset.names, dataset.cards, strict=True)]
    columns = zip(dataset.columns, sizes, strict=True)
    counts = [np.bincount(column, weights=units, minlength=size) for column, size in columns]
    return [np.maximum(own, 1.0).astype(np.float64) / units.sum() for own in counts]


def _blocks(n_rows: int, n_columns: int) -> list[slice]:
    """Return blocks of rows of nearly one size; none if there are too many rows."""
    size = int(np.clip(_MOST_WORK / (n_rows * n_columns), *_BLOCK))
    cuts = np.linspace(0, n_rows, -(-n_rows // size) + 1).round().astype(int).tolist()
    return [slice(*ends) for ends in pairwise(cuts)] if n_rows <= _MOST_ROWS else []


def _alike(codes: NDArray[Any], shares: Sequence[FloatArray]) -> FloatArray:
    """Return how alike rows are: the inner product of their standardised states, and pairs of states.

    Differences ε of the rows from their weights then move the tables of all columns and pairs of columns by ε' K ε, in
    units of their sampling variances. With s the sum over columns of δ / p − 1, where δ is 1 for equal states of share
    p, single columns have K = s, and pairs of columns (s² − q) / 2 with q the sum of the squares.
    """
    n_columns, n_rows = codes.shape
    single, squares = np.zeros((n_rows, n_rows)), np.zeros((n_rows, n_rows))
    for own, share in zip(codes, shares, strict=True):
        same = np.where(own[:, None] == own, (1.0 / share)[own], 0.0) - 1.0
        single += same
        squares += same * same
    alike: FloatArray = n_columns * single + (single * single - squares) / 2.0  # a column is in n − 1 pairs
    return alike


def _balanced(alike: FloatArray, weights: FloatArray, taken: FloatArray) -> FloatArray:
    """Exchange rounding up and down between pairs of rows for as long as ε' K ε falls; the sum stays."""
    floors = np.floor(weights)
    step = np.where(taken > floors, -1.0, 1.0)  # what rounding the other way adds
    step[floors == weights] = 0.0
    pull = (alike * (taken - weights)).sum(axis=1)
    own = np.diag(alike).copy()
    for _ in range(_PASSES):
        changed = False
        for i in np.flatnonzero(step).tolist():
            gains = 2.0 * step * pull + own + 2.0 * step[i] * step * alike[i]
            gains[step != -step[i]] = np.inf
            j = int(np.argmin(gains))
            if gains[j] + 2.0 * step[i] * pull[i] + own[i] >= -_LEAST * own[i]:
                continue
            pull += step[i] * alike[i] + step[j] * alike[j]
            step[[i, j]] = -step[[i, j]]
            changed = True
        if not changed:
            break
    return floors + (step < 0.0)
