"""Strata of rows with similar covariates, and random assignment of rows to groups within them.

A difference between groups may come from a covariate that is distributed differently in them. Permutations within
strata keep the covariates of each group, up to the width of a stratum, so that such a difference is not counted.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

import numpy as np
from numpy.typing import NDArray

from mnlearn.data.dataset import Dataset, _draw, row_groups
from mnlearn.data.rows import take
from mnlearn.errors import is_number

MOST_BINS = 5
"""Bins of a number: five remove about nine tenths of the bias of a covariate  [C68]."""


def covariate_strata(dataset: Dataset, covariates: Sequence[str], *, labels: Collection[str] = ()) -> NDArray[np.int64]:
    """Return the stratum of each stored row: the combination of the values of its covariates.

    Parameters
    ----------
    dataset
        The rows.
    covariates
        Names of columns. One with more than five different numbers is divided into up to five bins with about as many
        rows each; equal numbers stay together. Missing values are a stratum of their own.
    labels
        Covariates whose numbers are labels, which are not divided.

    Examples
    --------
    >>> rows = Dataset.from_codes([[0, 0, 1, 1], [0, 1, 1, 1]], names=["sex", "site"])
    >>> covariate_strata(rows, ["sex", "site"]).tolist()
    [0, 1, 2, 2]
    """
    if not covariates:
        return np.zeros(dataset.n_records, dtype=np.int64)
    return row_groups([_binned(dataset, name, name in labels) for name in covariates])[0]


def regroup(
    dataset: Dataset, groups: NDArray[np.int64], strata: NDArray[np.int64], generator: np.random.Generator
) -> tuple[Dataset, ...]:
    """Assign the rows to groups at random: each group has as many rows of each stratum as before.

    Parameters
    ----------
    dataset
        The rows.
    groups
        The group of each stored row, from 0.
    strata
        The stratum of each stored row, from 0.
    generator
        Source of randomness.

    Examples
    --------
    >>> rows = Dataset.from_codes([[0, 1, 0, 1], [0, 0, 1, 1]])
    >>> one, two = regroup(rows, np.array([0, 1, 1, 1]), np.array([0, 0, 1, 1]), np.random.default_rng(1))
    >>> one.n_rows, two.n_rows, one.columns[1].tolist()
    (1, 3, [0])
    """
    n_groups = int(groups.max()) + 1
    if dataset.repeats is None:
        shuffled = generator.permutation(len(groups))
        drawn = np.empty_like(groups)
        drawn[shuffled[np.argsort(strata[shuffled], kind="stable")]] = groups[np.argsort(strata, kind="stable")]
        return tuple(take(dataset, np.flatnonzero(drawn == group)) for group in range(n_groups))
    repeats = np.zeros((n_groups, len(groups)), dtype=np.int64)
    for stratum in np.unique(strata):
        rows = np.flatnonzero(strata == stratum)
        left = dataset.repeats[rows]
        for group, size in enumerate(np.bincount(groups[rows], left, n_groups).astype(np.int64)):
            repeats[group, rows] = _draw(left, int(size), generator)
            left = left - repeats[group, rows]
    return tuple(dataset._weighted(drawn) for drawn in repeats)


def _binned(dataset: Dataset, name: str, as_labels: bool) -> NDArray[np.int64]:
    """Return the bin of each row: its value, or an interval of a number that has many."""
    x = dataset.index(name)
    values, levels = dataset.columns[x], dataset.levels[x]
    if levels is None:
        return _intervals(values.astype(np.float64), dataset.repeats)
    codes = values.astype(np.int64)
    numeric = np.array([*(is_number(level) for level in levels), False])  # the last marks a gap
    if as_labels or name in dataset.cuts or numeric.sum() <= MOST_BINS:
        return codes
    numbers = np.array([float(level) if known else np.nan for level, known in zip(levels, numeric[:-1], strict=True)])  # type: ignore[arg-type]
    found = codes + MOST_BINS  # labels among the numbers, such as that of missing values, keep their own strata
    rows = np.flatnonzero(numeric[codes])
    repeats = None if dataset.repeats is None else dataset.repeats[rows]
    found[rows] = _intervals(numbers[codes[rows]], repeats)
    return found


def _intervals(numbers: NDArray[np.float64], repeats: NDArray[np.int64] | None) -> NDArray[np.int64]:
    """Return the interval of each number, of up to five with about as many rows each."""
    distinct, place = np.unique(numbers, return_inverse=True)
    if len(distinct) <= MOST_BINS:
        return place.astype(np.int64)
    counts = np.bincount(place, repeats)
    middle = (np.cumsum(counts) - counts / 2) / counts.sum()
    return np.asarray(np.minimum(middle * MOST_BINS, MOST_BINS - 1)[place], dtype=np.int64)
