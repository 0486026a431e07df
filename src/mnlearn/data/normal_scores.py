"""Normal scores of the ranks, and a test of which continuous variables are far from normal.

Methods for continuous data use correlations, which are right for jointly Gaussian columns. Columns that are monotone
functions of Gaussian ones, such as concentrations, counts or cubes, have a Gaussian copula: their normal scores are
Gaussian again  [LLW09].
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from mnlearn.data.dataset import Dataset
from mnlearn.errors import InputError
from mnlearn.numbers import log

FloatArray = NDArray[np.float64]

LEVEL = 0.001
"""Probability that columns of a Gaussian data set, however many, are called far from normal."""
LEAST_UNEXPLAINED = 0.005
"""Share of the variance of a column that its normal scores must leave unexplained to call it far from normal."""
LEAST_ROWS = 10
"""Number of rows below which no column is called far from normal."""


def normal_scores(dataset: Dataset) -> Dataset:
    """Replace each continuous variable by the normal scores of its ranks: Φ⁻¹((rank − 3/8) / (N + 1/4)).

    Parameters
    ----------
    dataset
        Data with continuous variables; counts and categorical ones stay as they are.

    Returns
    -------
    Dataset
        The same rows. Equal values have the mean of their ranks; a constant variable has scores of 0. Repeats count as
        that many equal rows. Gaps stay gaps, and ranks are those among the observed values.

    Notes
    -----
    Any increasing function of a column has the same scores, any decreasing one the negative ones, bit for bit. The
    largest score of N rows is about √(2 log N), so outliers cannot dominate. One sort for each variable, and memory for
    another copy of the data.

    Examples
    --------
    >>> data = Dataset(("x",), (0,), (np.array([3.0, 1, 100, 3]),), (None,))
    >>> normal_scores(data).columns[0].round(2).tolist()
    [0.0, -1.05, 1.05, 0.0]
    """
    if not isinstance(dataset, Dataset):
        raise InputError(
            f"dataset must be a Dataset; got a {type(dataset).__name__}. Convert it with mnlearn.read first."
        )
    dataset.verify()
    untied = _untied_scores(dataset)
    columns = list(dataset.columns)
    for k in _continuous(dataset):
        values, repeats, seen = _observed(dataset, k)
        scores = _scores_of(values, repeats, untied if seen is None else None)
        columns[k] = scores if seen is None else _filled(scores, seen)
    return dataset._with(columns=tuple(columns), pack=None)


def _continuous(dataset: Dataset) -> list[int]:
    """Return the positions of the continuous variables; counts are not among them."""
    return [k for k, kind in enumerate(dataset.kinds) if kind == "continuous"]


def _observed(dataset: Dataset, variable: int) -> tuple[FloatArray, NDArray[np.int64] | None, NDArray[np.bool_] | None]:
    """Return the observed values of a variable, their repeats, and where they are; None if there are no gaps."""
    values = dataset.columns[variable].astype(np.float64, copy=False)
    seen = dataset.observed(variable)
    if seen is None:
        return values, dataset.repeats, None
    return values[seen], None if dataset.repeats is None else dataset.repeats[seen], seen


def _filled(values: FloatArray, seen: NDArray[np.bool_]) -> FloatArray:
    """Return values in their rows, NaN in the others."""
    column = np.full(len(seen), np.nan)
    column[seen] = values
    column.flags.writeable = False
    return column


def far_from_normal(dataset: Dataset) -> tuple[str, ...]:
    """Return the continuous variables that are clearly not normal, by the test of Shapiro and Francia.

    Parameters
    ----------
    dataset
        The data; counts and categorical variables are never among the names. Gaps do not count.

    Notes
    -----
    The p-values are corrected for the number of variables  [BH95]: if all are normal, the probability of any name is
    `LEVEL`. One sort for each variable.
    """
    places = _continuous(dataset)
    if not places:
        return ()
    dataset.verify()
    untied = _untied_scores(dataset)
    observed = (_observed(dataset, k) for k in places)
    log_p = np.array([log_p_normal(column, r, untied if seen is None else None) for column, r, seen in observed])
    return tuple(dataset.names[k] for k, far in zip(places, rejected(log_p), strict=True) if far)


def rejected(log_p: FloatArray) -> NDArray[np.bool_]:
    """Return which of several log p-values are significant at `LEVEL`, corrected for their number  [BH95]."""
    ascending = np.sort(log_p)
    below = np.flatnonzero(ascending <= log(LEVEL * np.arange(1, log_p.size + 1) / max(log_p.size, 1)))
    return log_p <= (ascending[below[-1]] if below.size else -np.inf)


def log_p_normal(
    values: FloatArray, repeats: NDArray[np.int64] | None = None, untied: FloatArray | None = None
) -> float:
    """Return the log p-value of the test of Shapiro and Francia that a sample is normal.

    It is 0 for a constant, for fewer than `LEAST_ROWS` rows, and if less than `LEAST_UNEXPLAINED` is at stake: of many
    rows, small deviations are significant and do not matter.

    `untied` are the scores of the ranks 1 to N, if known.

    W' is the squared correlation of the sample with its normal scores. log(1 − W') is nearly normal, with the mean and
    the standard deviation of [R93], stated there for 5 to 5,000 rows. In draws of 20 to 20,000 normal rows, 0.052 to
    0.062 of the p-values are below 0.05, and 0.011 to 0.013 are below 0.01.
    """
    from scipy.special import log_ndtr

    n_rows = len(values) if repeats is None else round(float(repeats.sum()))
    order = np.argsort(values)
    ordered = values[order]
    if n_rows < LEAST_ROWS or ordered[0] == ordered[-1]:
        return 0.0
    weights = None if repeats is None else repeats[order]
    scores = _ordered_scores(ordered, weights, untied)
    share = np.ones(len(values)) if weights is None else weights.astype(np.float64)
    centred = ordered / max(-ordered[0], ordered[-1])  # sums of squares of the values themselves may overflow
    centred -= (share * centred).sum() / n_rows
    explained = (share * scores * centred).sum()
    total = (share * scores * scores).sum() * (share * centred * centred).sum()
    if not total > 0.0:  # the spread is rounding
        return 0.0
    unexplained = 1.0 - explained * explained / total
    if unexplained < LEAST_UNEXPLAINED:
        return 0.0
    log_n = log(n_rows)
    mean = -1.2725 + 1.0521 * (log(log_n) - log_n)
    deviation = 1.0308 - 0.26758 * (log(log_n) + 2.0 / log_n)
    return float(log_ndtr((mean - log(unexplained)) / deviation))


def _scores_of(values: FloatArray, repeats: NDArray[np.int64] | None, untied: FloatArray | None) -> FloatArray:
    """Return the normal score of each value."""
    order = np.argsort(values)
    scores = np.empty(len(values))
    scores[order] = _ordered_scores(values[order], None if repeats is None else repeats[order], untied)
    scores.flags.writeable = False
    return scores


def _ordered_scores(ordered: FloatArray, repeats: NDArray[np.int64] | None, untied: FloatArray | None) -> FloatArray:
    """Return the normal scores of values in ascending order."""
    first = np.concatenate([[True], ordered[1:] != ordered[:-1]])
    if untied is not None and first.all():
        return untied
    starts = np.flatnonzero(first)
    ends = np.cumsum(np.ones(len(ordered), dtype=np.int64) if repeats is None else repeats)
    last = ends[np.append(starts[1:], len(ordered)) - 1]  # rank of the last row of each run of equal values
    before = np.append(0, last[:-1])
    scores = _scores_of_ranks((before + 1 + last) / 2.0, round(float(last[-1])))
    return np.repeat(scores, np.diff(np.append(starts, len(ordered))))


def _untied_scores(dataset: Dataset) -> FloatArray | None:
    """Return the scores of the ranks 1 to N, which all columns without ties share; None if rows are repeated."""
    n_rows = dataset.n_rows
    return None if dataset.repeats is not None else _scores_of_ranks(np.arange(1.0, n_rows + 1.0), n_rows)


def _scores_of_ranks(ranks: FloatArray, n_rows: int) -> FloatArray:
    """Return Φ⁻¹((rank − 3/8) / (N + 1/4)) by the lower tail, so that opposite ranks have exactly opposite scores."""
    from scipy.special import ndtri

    lower = np.minimum(ranks, n_rows + 1.0 - ranks)
    return np.copysign(ndtri((lower - 0.375) / (n_rows + 0.25)), ranks - (n_rows + 1.0) / 2.0)
