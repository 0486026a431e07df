"""Resample rows: with replacement, in two disjoint parts, or at given positions.

Strata of rows with similar covariates, and random assignment of rows to groups within them.

A difference between groups may come from a covariate that is distributed differently in them. Permutations within
strata keep the covariates of each group, up to the width of a stratum, so that such a difference is not counted.

Survey weights: how many rows weighted rows are worth, and whole rows in their place.

A sample with weights w says as much as n_eff = (Σ w)² / Σ w² rows without weights [K65]. `Dataset.repeats` then holds
the weights, scaled so that they sum to n_eff, rounded. Moments of continuous variables use them as they are. Tables of
categorical variables are counts, so `effective_rows` takes each row a whole number of times.

Leave out the rows with gaps, after the data were read.

Observed values: in which rows all variables of a question have a value, and how many rows these are.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace
from itertools import pairwise
from math import fsum, ldexp
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from mnlearn.data.dataset import Dataset, _draw, check_not_weighted, code_type, is_whole, row_groups
from mnlearn.errors import DataError, InputError, UnsuitableError, is_number
from mnlearn.numbers import log, log2, rng_from
from mnlearn.protocols.statistics import BoolArray, IntArray


def resample(dataset: Dataset, seed: int | np.random.Generator) -> Dataset:
    """Draw as many rows as the data have, with replacement.

    Parameters
    ----------
    dataset
        The rows to draw from.
    seed
        A seed or a generator; the same seed draws the same rows.

    Returns
    -------
    Dataset
        The drawn rows in their old order, with all declared states. A row drawn k times is stored k times, unless
        the data have repeats: then it is stored once, with its repeats.

    Notes
    -----
    Rows are copied rather than weighted: counting bits of plain rows is up to 3 times as fast as adding weights.

    Examples
    --------
    >>> resample(Dataset.from_codes([[0, 1, 0, 1], [0, 0, 1, 1]]), seed=1).n_rows
    4
    """
    generator = rng_from(seed)
    if dataset.repeats is None:
        return take(dataset, np.sort(generator.integers(dataset.n_records, size=dataset.n_records)))
    shares = dataset.repeats / dataset.repeats.sum()
    return dataset._weighted(generator.multinomial(dataset.n_rows, shares).astype(np.int64))


def split(dataset: Dataset, n_rows: int, seed: int | np.random.Generator) -> tuple[Dataset, Dataset]:
    """Draw rows without replacement, and return them and the others.

    Parameters
    ----------
    dataset
        The rows to divide.
    n_rows
        Number of rows to draw: at least one, and fewer than all.
    seed
        A seed or a generator; the same seed draws the same rows.

    Raises
    ------
    InputError
        If one of the two parts would be empty.

    Examples
    --------
    >>> first, second = split(Dataset.from_codes([[0, 1, 0, 1], [0, 0, 1, 1]]), 1, seed=1)
    >>> first.n_rows, second.n_rows
    (1, 3)
    """
    if not is_whole(n_rows) or not 1 <= n_rows < dataset.n_rows:
        raise InputError(
            f"n_rows must be a whole number from 1 to {dataset.n_rows - 1}, so that both parts have rows; got "
            f"{n_rows!r}. Choose another number."
        )
    check_not_weighted(dataset, "rows split in two", "Draw with replacement (sampling='bootstrap').")
    generator = rng_from(seed)
    if dataset.repeats is not None:
        drawn = _draw(dataset.repeats, n_rows, generator)
        return dataset._weighted(drawn), dataset._weighted(dataset.repeats - drawn)
    chosen = np.zeros(dataset.n_records, dtype=np.bool_)
    chosen[generator.choice(dataset.n_records, size=n_rows, replace=False, shuffle=False)] = True
    return take(dataset, np.flatnonzero(chosen)), take(dataset, np.flatnonzero(~chosen))


def take(dataset: Dataset, kept: NDArray[np.integer]) -> Dataset:
    """Return the stored rows at given positions, with their repeats.

    Examples
    --------
    >>> take(Dataset.from_codes([[0, 1, 0], [1, 1, 0]]), np.array([2])).columns[1].tolist()
    [0]
    """
    repeats = None if dataset.repeats is None else dataset.repeats[kept]
    return dataset._rows(np.asarray(kept, dtype=np.int64), repeats)


def observed_rows(dataset: Dataset, variables: Sequence[int]) -> Dataset:
    """Return the rows in which all of some variables are observed; these variables have no gaps any more.

    Examples
    --------
    >>> gaps = Dataset(("z",), (0,), (np.array([1.0, np.nan, 2.0]),), (None,), gaps=frozenset({"z"}))
    >>> observed_rows(gaps, [0]).columns[0].tolist()
    [1.0, 2.0]
    """
    masks = {x: mask for x in variables if (mask := dataset.observed(x)) is not None}
    if not masks:
        return dataset
    kept = take(dataset, np.flatnonzero(np.logical_and.reduce(list(masks.values()))))
    columns = list(kept.columns)
    for x in masks:
        if dataset.cards[x]:
            columns[x] = columns[x].astype(code_type(dataset.cards[x]))
            columns[x].flags.writeable = False
    return kept._with(columns=tuple(columns), gaps=dataset.gaps - {dataset.names[x] for x in masks})


def without_foreign_levels(part: Dataset, whole: Dataset) -> Dataset:
    """Return some rows of a table without the levels that only its other rows have, unless they were declared.

    Examples
    --------
    >>> whole = Dataset.from_codes([[0, 1, 2], [0, 1, 1]])
    >>> without_foreign_levels(take(whole, np.array([0, 2])), whole).levels
    ((0, 2), (0, 1))
    """
    cards, columns, levels = list(part.cards), list(part.columns), list(part.levels)
    for k, (name, labels) in enumerate(zip(part.names, part.levels, strict=True)):
        if labels is None or name in part.declared:
            continue
        here, there = (np.bincount(data.columns[k], minlength=len(labels))[: len(labels)] > 0 for data in (part, whole))
        kept = here | ~there
        if not kept.all():
            levels[k] = tuple(label for label, stays in zip(labels, kept, strict=True) if stays)
            cards[k] = int(kept.sum())
            codes = np.append(np.cumsum(kept) - 1, cards[k])  # a gap comes after the last level
            columns[k] = codes.astype(code_type(cards[k] + (name in part.gaps)))[part.columns[k]]
            columns[k].flags.writeable = False
    return part._with(cards=tuple(cards), columns=tuple(columns), levels=tuple(levels), pack=None)


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


def complete_rows(dataset: Dataset) -> Dataset:
    """Return the rows in which every variable is observed, as if they had been read with ``missing="drop_rows"``.

    Raises
    ------
    DataError
        If fewer than two rows are complete.

    Examples
    --------
    >>> from mnlearn.data import read
    >>> complete_rows(read({"a": [1, None, 2], "b": [0, 1, 1]}, missing="testwise")).levels
    ((1, 2), (0, 1))
    """
    if not dataset.gaps:
        return dataset
    seen = np.ones(dataset.n_records, dtype=np.bool_)
    for name in dataset.gaps:
        seen &= np.asarray(dataset.observed(name))
    kept = np.flatnonzero(seen)
    if len(kept) < 2:
        raise DataError(
            f"missing='drop_rows' must leave at least 2 rows; {len(kept)} of {dataset.n_records} are complete. Leave "
            "out columns with many gaps (drop=[...]), or use missing='testwise'."
        )
    part = take(dataset, kept)
    if dataset.weighting is not None and part.repeats is not None:
        repeats, weighting = scaled_weights(dataset.weighting.column, part.repeats)
        part = part._with(repeats=repeats, weighting=weighting)
    plain = [np.asarray(column) for column in part.columns]
    columns = [c.astype(code_type(card)) if card else c for c, card in zip(plain, part.cards, strict=True)]
    for column in columns:
        column.flags.writeable = False
    dropped = dataset.missing.rows_dropped + dataset.n_records - len(kept)
    report = replace(dataset.missing, policy="drop_rows", rows_dropped=dropped)
    return without_foreign_levels(part._with(columns=tuple(columns), gaps=frozenset(), missing=report), dataset)


class Observed:
    """Masks of the variables with gaps.

    Parameters
    ----------
    dataset
        Any data set; without gaps every question has all rows.

    Examples
    --------
    >>> from mnlearn.data import Dataset
    >>> Observed(Dataset.from_codes([[0, 1, 1], [0, 0, 1]])).rows(0, [1], ())
    array([3])
    """

    def __init__(self, dataset: Dataset) -> None:
        self._dataset, self.n_rows = dataset, dataset.n_rows
        self._masks: dict[int, BoolArray] = {}
        self._gaps = frozenset(v for v, name in enumerate(dataset.names) if name in dataset.gaps)

    def mask(self, variables: Iterable[int]) -> BoolArray | None:
        """Return in which stored rows all of these variables have a value; None for all of the rows."""
        found: BoolArray | None = None
        for v in variables:
            if v in self._gaps:
                found = self._mask(v) if found is None else found & self._mask(v)
        return found

    def rows(self, x: int, ys: Sequence[int], z: Iterable[int]) -> IntArray:
        """Return the number of rows, repeats included, in which x, z and each y have a value."""
        common = self.mask((x, *z))
        counts = np.full(len(ys), self._count(common), dtype=np.int64)
        for k, y in enumerate(ys):
            if y in self._gaps:
                counts[k] = self._count(self._mask(y) if common is None else common & self._mask(y))
        return counts

    def missing_rows(self, variable: int) -> IntArray:
        """Return the stored rows in which a variable has no value."""
        mask = self.mask([variable])
        return np.empty(0, dtype=np.int64) if mask is None else np.flatnonzero(~mask).astype(np.int64)

    def complete(self, variables: Sequence[int]) -> Dataset | None:
        """Return the rows in which all of these variables have a value, and only these; None if there are none."""
        data = self._dataset.select(variables)
        mask = self.mask(variables)
        if mask is not None and not mask.any():
            return None
        kept = slice(None) if mask is None else mask
        parts: dict[str, object] = {
            "columns": tuple(column[kept] for column in data.columns),
            "repeats": None if data.repeats is None else data.repeats[kept],
            "gaps": frozenset(),
            "pack": None,
        }
        return data.trusted(**{**data.__dict__, **parts})

    def _mask(self, variable: int) -> BoolArray:
        if variable not in self._masks:
            observed = self._dataset.observed(variable)
            assert observed is not None, "the variable has gaps"
            self._masks[variable] = observed
        return self._masks[variable]

    def _count(self, mask: BoolArray | None) -> int:
        if mask is None:
            return self.n_rows
        repeats = self._dataset.repeats
        return int(np.count_nonzero(mask)) if repeats is None else round(float(repeats[mask].sum()))
