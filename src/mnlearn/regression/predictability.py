"""Regressions of a variable on its neighbours, fitted to all rows and to all folds but one.

- Numbers: linear regression, of a count that of log(1 + count). Numeric states count as the numbers that they are,
  levels of ordinal variables as their scores, states without an order as indicators.
- States: multinomial logistic regression, which is the conditional distribution of a variable in a pairwise Markov
  network. The predictors are an indicator for each state of a neighbour, and the standardised values of a continuous
  one. A ridge penalty of ½ Σ β² on all coefficients but the intercepts, on the scale of the log-likelihood of all rows,
  keeps them finite.

Rows are sorted by their contents and then dealt to random folds. So the order of the rows changes nothing, and a row
that occurs r times is dealt as r rows. A row with a weight is dealt as one row and counts by its weight.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from mnlearn.data.dataset import Dataset, check_no_gaps
from mnlearn.errors import InputError, check_room
from mnlearn.numbers import exp, log
from mnlearn.protocols.statistics import FloatArray, IntArray
from mnlearn.regression.weights import numbers_of, ordered_variables

Loss: TypeAlias = Callable[[FloatArray], tuple[FloatArray, FloatArray]]  # values and slopes of several functions

RIDGE = 1.0
_MOST_NUMBERS = 100_000_000  # of one regression: 800 MB
_MOST_CURVATURES = 50_000_000  # states × predictors²: 400 MB
_BLOCK = 1_000_000  # numbers that a batch of fits works on: they stay in the cache
_SINGULAR = 1e-10  # share of the largest eigenvalue; less is rounding
_TIED = 1e-6  # difference of log probabilities
_ITERATIONS, _HALVINGS, _MEMORY, _PRECISION = 500, 40, 10, 1e-12


class NeighborRegressions:
    """Regressions of variables on others, with cross-validation.

    Parameters
    ----------
    data
        The data.
    folds
        Number of folds; at most the number of rows.
    seed
        Seed of the folds.

    Examples
    --------
    >>> x = [0] * 30 + [1] * 30
    >>> data = Dataset.from_codes([x, [0] * 25 + [1] * 30 + [0] * 5])
    >>> [round(each, 3) for each in NeighborRegressions(data, folds=5, seed=0).guessed(0, {1})]
    [0.833, 0.833]
    """

    def __init__(self, data: Dataset, folds: int, seed: int) -> None:
        check_no_gaps(data, "a regression on neighbours", "the rows in which they are observed")
        most = min(data.n_rows, _MOST_NUMBERS // max(data.n_records, 1))
        if folds > most:
            raise InputError(
                f"folds must be at most {most:,} for data with {data.n_rows:,} rows; got {folds}. Use fewer folds, "
                "such as 10, or more rows."
            )
        order = _sorted_rows(data, seed)
        repeats = np.ones(data.n_records, dtype=np.int64) if data.repeats is None else data.repeats[order]
        columns = tuple(column[order] for column in data.columns)
        weighting = data.weighting if data.is_weighted else None
        kinds: Any = {"ordinal": data.ordinal, "counted": data.counted}
        self._data = Dataset(data.names, data.cards, columns, data.levels, repeats, weighting=weighting, **kinds)
        self._ordered = ordered_variables(data)
        self._held = _dealt(repeats, folds, seed)
        self._repeats = repeats.astype(np.float64)

    def explained(self, x: int, neighbors: Collection[int]) -> tuple[float, float] | None:
        """Return R² of a linear regression: of all rows, and of each row by a fit to the other folds.

        R² is 1 minus the squared error, divided by that of the mean of the rows which the regression is fitted to.
        None if x is constant, or if there are too many states for an indicator each.
        """
        target = self._standardised(numbers_of(self._data, x, ordered=True))
        n, width = len(target), sum(self._width(y) for y in neighbors)
        if not target.shape[1] or n * width > _MOST_NUMBERS:
            return None
        blocks = [self._standardised(numbers_of(self._data, y, ordered=self._ordered[y])) for y in sorted(neighbors)]
        regressors = np.concatenate([target[:, :0], *blocks], axis=1)
        if not regressors.shape[1]:
            return 0.0, 0.0
        if regressors.shape[1] > n:  # the scores on the principal components give the same predictions
            left, lengths, _ = np.linalg.svd(regressors, full_matrices=False)
            regressors = left * lengths
        rows = np.concatenate([np.ones((n, 1)), regressors, target], axis=1)
        held = np.stack([_products(rows, weights) for weights in self._held])
        return _shares_explained(held)

    def _width(self, x: int) -> int:
        """Return how many columns of numbers a regressor has."""
        return 1 if self._ordered[x] else self._data.cards[x]

    def _standardised(self, columns: FloatArray) -> FloatArray:
        """Return columns of mean 0 and variance 1; constant columns are left out."""
        centred = columns - np.average(columns, axis=0, weights=self._repeats)
        deviation = np.sqrt(np.average(centred**2, axis=0, weights=self._repeats))
        kept = deviation > 1e-12 * (1.0 + np.abs(columns).max(axis=0))
        return np.asarray(centred[:, kept] / deviation[kept])

    def guessed(self, x: int, neighbors: Collection[int]) -> tuple[float, float] | None:
        """Return the accuracy of the most probable state: of all rows, and of each row by a fit to the other folds.

        Equally probable states count in equal shares. Without neighbours, both numbers are the share of the most
        common state. None if there are too many states.
        """
        states, target = np.unique(self._data.columns[x], return_inverse=True)
        marginal = float(np.bincount(target, self._repeats).max() / self._data.n_rows)
        varying = [y for y in sorted(neighbors) if np.ptp(self._data.columns[y]) > 0]
        if len(states) == 1 or not varying:
            return marginal, marginal
        place, first = _configurations([self._data.columns[y] for y in varying])
        width = 1 + sum(max(self._data.cards[y], 1) for y in varying)
        if len(first) * (width + len(states)) > _MOST_NUMBERS or width**2 * len(states) > _MOST_CURVATURES:
            return None
        design = self._design(varying, first)
        counted = _Counted(place, target, len(first), len(states))
        return self._accuracies(design, counted)

    def _design(self, neighbors: Collection[int], first: IntArray) -> FloatArray:
        """Return the predictors in these rows: ones, then indicators of states or standardised values."""
        blocks = [np.ones((len(first), 1))]
        for y in neighbors:
            values = self._data.columns[y]
            if self._data.cards[y]:
                states, codes = np.unique(values, return_inverse=True)
                blocks.append(np.eye(len(states))[codes[first]])
            else:
                blocks.append(self._standardised(numbers_of(self._data, y, ordered=True))[first])
        return np.concatenate(blocks, axis=1)

    def _accuracies(self, design: FloatArray, counted: _Counted) -> tuple[float, float]:
        """Return both accuracies of a logistic regression on these predictors."""
        everything = counted(self._repeats[None])
        fits = _LogisticFits(design)
        start, log_odds = fits.fit(everything)
        whole, held_out = _hits(log_odds, everything), 0.0
        for weights in _batches(self._held, everything.size):
            _, log_odds = fits.fit(counted(self._repeats - weights), start)
            held_out += _hits(log_odds, counted(weights))
        return whole / self._data.n_rows, held_out / self._data.n_rows


# Folds.


def _sorted_rows(data: Dataset, seed: int) -> IntArray:
    """Return the rows sorted by a random hash of their values, so that the order of the data does not matter.

    A state counts by its rank among the states by frequency, so that
    its label does not matter.
    """
    rng = np.random.default_rng(seed)
    key = np.zeros(data.n_records, dtype=np.uint64)
    columns = list(zip(data.columns, data.cards, strict=True))
    if data.repeats is not None and data.is_weighted:
        columns.append((data.repeats, 0))  # equal rows may have different weights
    for column, card in columns:
        if card:
            counts = np.bincount(column, data.repeats, card)
            values = np.argsort(np.argsort(-counts, kind="stable"))[column].astype(np.uint64)
        else:
            values = (column.astype(np.float64) + 0.0).view(np.uint64)  # −0 becomes 0
        factor, other = rng.integers(1 << 63, size=2, dtype=np.uint64)
        mixed = (values + other) * (2 * factor + np.uint64(1))
        key += (mixed ^ (mixed >> np.uint64(32))) * (2 * other + np.uint64(1))
    return np.argsort(key, kind="stable")


def _dealt(repeats: NDArray[Any], folds: int, seed: int) -> FloatArray:
    """Return how often each row is in each fold, or its weight there: folds × rows.

    Equal rows must not be spread evenly: a held-out row would then always be known from its copies.
    """
    n_records = len(repeats)
    if repeats.dtype == np.float64:  # weights
        fold = np.random.default_rng(seed).permutation(n_records) % folds
        return np.asarray(np.where(fold == np.arange(folds)[:, None], repeats, 0.0))
    n_rows = int(repeats.sum())
    check_room("data", 24.0 * n_rows, "the folds of all rows", "Use fewer rows, or divide the repeats by a number.")
    fold = np.random.default_rng(seed).permutation(n_rows) % folds
    cell = fold * n_records + np.repeat(np.arange(n_records), repeats)
    return np.bincount(cell, minlength=folds * n_records).reshape(folds, n_records).astype(np.float64)


# Linear regression.


def _products(rows: FloatArray, weights: FloatArray) -> FloatArray:
    """Return Σ w a aᵀ over the rows a."""
    kept = np.flatnonzero(weights)
    chosen = rows[kept]
    return np.asarray(chosen.T @ (chosen * weights[kept, None]))


def _shares_explained(held: FloatArray) -> tuple[float, float]:
    """Return both R² from the products of 1, the regressors and the target in each fold."""
    total = held.sum(axis=0)
    known = np.concatenate([total[None], total - held])  # the rows of each fit
    judged = np.concatenate([total[None], held])
    inverse = np.linalg.pinv(known[:, :-1, :-1], rcond=_SINGULAR, hermitian=True)
    error = np.concatenate([inverse @ known[:, :-1, -1:], np.full((len(known), 1, 1), -1.0)], axis=1)
    missed = np.maximum((error.transpose(0, 2, 1) @ judged @ error)[:, 0, 0], 0.0)
    mean = known[:, 0, -1] / known[:, 0, 0]
    spread = judged[:, -1, -1] - 2 * mean * judged[:, 0, -1] + mean**2 * judged[:, 0, 0]
    return float(1.0 - missed[0] / spread[0]), float(1.0 - missed[1:].sum() / spread[1:].sum())


# Multinomial logistic regression.


def _configurations(columns: list[np.ndarray]) -> tuple[IntArray, IntArray]:
    """Return the index of the configuration of each row, and the first row of each configuration."""
    place = np.zeros(len(columns[0]), dtype=np.int64)
    for column in columns:
        values, codes = np.unique(column, return_inverse=True)
        _, first, place = np.unique(place * len(values) + codes, return_index=True, return_inverse=True)
    return place, first


class _Counted:
    """Counts of rows by configuration of the neighbours and state of the target."""

    def __init__(self, place: IntArray, target: IntArray, n_configurations: int, n_states: int) -> None:
        self._cell = target.astype(np.int64) * n_configurations + place
        self._shape = n_states, n_configurations

    def __call__(self, weights: FloatArray) -> FloatArray:
        """Return the counts for each row of weights: states × weights × configurations."""
        n_states, n_configurations = self._shape
        size = n_states * n_configurations
        return np.stack([np.bincount(self._cell, one, size).reshape(self._shape) for one in weights], axis=1)


def _batches(weights: FloatArray, size: int) -> Iterator[FloatArray]:
    """Yield the folds in batches whose fits have limited size."""
    step = max(1, _BLOCK // size)
    yield from (weights[k : k + step] for k in range(0, len(weights), step))


def _hits(log_odds: FloatArray, counts: FloatArray) -> float:
    """Return how many rows have the most probable state; equally probable ones count in equal shares."""
    best = log_odds >= log_odds.max(axis=0) - _TIED
    return float(((counts * best).sum(axis=0) / best.sum(axis=0)).sum())


class _LogisticFits:
    """Regressions on the same predictors, fitted to different counts.

    Coefficients are states × fits × predictors. Adding a constant to the coefficients of all states changes no
    probability; the penalty keeps their mean at 0.
    """

    def __init__(self, design: FloatArray) -> None:
        self._design = design
        self._penalty = np.full(design.shape[1], RIDGE)
        self._penalty[0] = 0.0

    def fit(self, counts: FloatArray, start: FloatArray | None = None) -> tuple[FloatArray, FloatArray]:
        """Return the coefficients of each fit, and the log probabilities of the states up to a constant.

        Parameters
        ----------
        counts
            States × fits × configurations. A state without rows is impossible in that fit.
        start
            Coefficients of one fit to start from; by default those without neighbours.
        """
        totals = counts.sum(axis=0)
        offset = np.where(counts.any(axis=2), 0.0, -np.inf)[:, :, None]

        def loss(point: FloatArray) -> tuple[FloatArray, FloatArray]:
            log_odds = point @ self._design.T + offset
            top = log_odds.max(axis=0)
            chance = exp(log_odds - top)
            norm = chance.sum(axis=0)
            chance *= totals / norm
            pull = point * self._penalty
            seen = np.where(counts > 0, log_odds, 0.0)
            value = (totals * (top + log(norm))).sum(axis=1) - _inner(counts, seen) + 0.5 * _inner(point, pull)
            return value, (chance - counts) @ self._design + pull

        shape = (len(counts), counts.shape[1], self._design.shape[1])
        if start is None:
            start = np.zeros(shape)
            start[:, :, 0] = log(counts.sum(axis=2))
            start -= start.mean(axis=0)
        found = _minimised(loss, np.broadcast_to(start, shape), self._metric(start[:, :1], totals[0]))
        return found, found @ self._design.T + offset

    def _metric(self, point: FloatArray, totals: FloatArray) -> FloatArray:
        """Return for each state the inverse of Xᵀ diag(n p) X + penalty, about that of the curvature of the loss.

        The blocks between states are left out: where p is the same in all configurations, they change nothing.
        """
        log_odds = point[:, 0] @ self._design.T
        chance = exp(log_odds - log_odds.max(axis=0))
        chance *= totals / chance.sum(axis=0)
        curvature = (self._design.T * chance[:, None, :]) @ self._design
        largest = curvature[:, 0, 0].max()
        curvature[:, np.arange(len(self._penalty)), np.arange(len(self._penalty))] += self._penalty + 1e-9 * largest
        return np.linalg.inv(curvature)


def _minimised(loss: Loss, point: FloatArray, metric: FloatArray) -> FloatArray:
    """Return the minimum of convex functions of parts [:, k, :] of a point, by the L-BFGS method."""
    value, slope = loss(point)
    steps: list[tuple[FloatArray, FloatArray, FloatArray]] = []
    for _ in range(_ITERATIONS):
        active = _inner(slope, _times(slope, metric)) > _PRECISION
        if not active.any():
            break
        direction = _direction(slope, steps, metric) * active[:, None]
        gain, length = -_inner(slope, direction), np.ones(len(active))
        for _ in range(_HALVINGS):
            trial = point + length[:, None] * direction
            new_value, new_slope = loss(trial)
            worse = new_value > value - 1e-4 * length * gain + 1e-13 * np.abs(value)
            if not worse.any():
                break
            length = np.where(worse, length / 2, length)
        change, bend = trial - point, new_slope - slope
        product = _inner(change, bend)
        bent = product > 0
        steps = [*steps[1 - _MEMORY :], (change, bend, np.where(bent, 1.0 / np.where(bent, product, 1.0), 0.0))]
        point, value, slope = trial, new_value, new_slope
    return point


def _direction(
    slope: FloatArray, steps: list[tuple[FloatArray, FloatArray, FloatArray]], metric: FloatArray
) -> FloatArray:
    """Return −H⁻¹ slope by the two loops of L-BFGS: H is the inverse of the metric, corrected by the last steps."""
    direction, shares = -slope, []
    for change, bend, inverse in reversed(steps):
        share = inverse * _inner(change, direction)
        direction = direction - share[:, None] * bend
        shares.append(share)
    direction = _times(direction, metric)
    for (change, bend, inverse), share in zip(steps, reversed(shares), strict=True):
        direction = direction + (share - inverse * _inner(bend, direction))[:, None] * change
    return direction


def _times(slope: FloatArray, metric: FloatArray) -> FloatArray:
    """Return the slope times the metric, without the mean over the states, along which the loss does not change."""
    found = slope @ metric
    return np.asarray(found - found.mean(axis=0))


def _inner(a: FloatArray, b: FloatArray) -> FloatArray:
    """Return the inner product of each fit, over states and predictors."""
    return np.asarray(np.einsum("kfp,kfp->f", a, b))
