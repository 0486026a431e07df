"""Discretise continuous variables: equal width, equal frequency, or given cuts.

A cut c separates the values below c from those at or above it, so k - 1 increasing cuts make k states.

Normal scores of the ranks, and a test of which continuous variables are far from normal.

Methods for continuous data use correlations, which are right for jointly Gaussian columns. Columns that are monotone
functions of Gaussian ones, such as concentrations, counts or cubes, have a Gaussian copula: their normal scores are
Gaussian again  [LLW09].
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from types import MappingProxyType
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mnlearn.data.dataset import MAX_STATES, Dataset, code_type, is_whole
from mnlearn.errors import DataError, InputError, check_listed, check_mapping, is_one_of, real_array
from mnlearn.numbers import log

Method: TypeAlias = Literal["width", "frequency"]


def discretize(
    dataset: Dataset,
    *,
    method: Method = "width",
    bins: int | None = None,
    cuts: Mapping[str, ArrayLike] | None = None,
    columns: Sequence[str] | None = None,
) -> Dataset:
    """Turn continuous variables into categorical ones.

    Parameters
    ----------
    dataset
        Data with continuous variables or counts; the categorical ones stay as they are, and so do gaps.
    method
        ``"width"`` cuts the range into equal parts; ``"frequency"`` cuts the rows into equal parts.
    bins
        Number of states; by default k = 1 + log2(N), rounded down, for N rows with repeats included [JAIR09].
    cuts
        Cut points by variable, such as `Dataset.cuts` of another data set; the method is not used for these variables.
    columns
        The variables to discretise; every continuous one by default.

    Returns
    -------
    Dataset
        The states are labelled by their intervals, and `Dataset.cuts` holds the cuts used.

    Notes
    -----
    Every state occurs: an interval of equal width that no row falls into is joined to the one below, so there can be
    fewer states than `bins`. With given cuts every interval is a state, as declared. A constant variable gets a single
    state, and so does every run of equal values: ties are never split. The states are nominal. Gaps stay gaps, and
    their rows do not count.

    Examples
    --------
    >>> data = Dataset(("x", "y"), (0, 0), (np.array([0.0, 1, 2, 3]), np.array([1.0, 1, 1, 9])), (None, None))
    >>> discretize(data, bins=2).cuts["x"]
    array([1.5])
    """
    if not isinstance(dataset, Dataset):
        raise InputError(
            f"dataset must be a Dataset; got a {type(dataset).__name__}. Convert it with mnlearn.read first."
        )
    check_mapping("cuts", cuts, "{'age': [18, 65]}")
    if columns is not None:
        check_listed("columns", columns, "names")
    if not is_one_of(method, ("width", "frequency")):
        raise InputError(
            f"method must be 'width' or 'frequency'; got {method!r}. Give your own cuts with cuts={{...}}."
        )
    n_bins = default_bins(dataset.n_rows) if bins is None else bins
    _check_bins(n_bins)
    given = {name: checked_cuts(name, points) for name, points in (cuts or {}).items()}
    chosen = _chosen(dataset, given, columns)
    used = dict(dataset.cuts)
    dataset.verify()
    cards, arrays, levels = list(dataset.cards), list(dataset.columns), list(dataset.levels)
    for k in chosen:
        every = dataset.columns[k].astype(np.float64, copy=False)
        seen = dataset.observed(k)
        values = every if seen is None else every[seen]
        repeats = dataset.repeats if seen is None or dataset.repeats is None else dataset.repeats[seen]
        points = given.get(dataset.names[k])
        if points is None:
            points = (
                _occupied(equal_width(values, n_bins), values)
                if method == "width"
                else equal_frequency(values, n_bins, repeats)
            )
        points.flags.writeable = False
        used[dataset.names[k]] = points
        cards[k], levels[k] = len(points) + 1, interval_labels(points)
        arrays[k] = _codes(points, every, seen)
    names = {dataset.names[k] for k in chosen}
    return Dataset(
        names=dataset.names,
        cards=tuple(cards),
        columns=tuple(arrays),
        levels=tuple(levels),
        repeats=dataset.repeats,
        missing=dataset.missing,
        cuts=MappingProxyType(used),
        declared=dataset.declared | given.keys(),
        unused=dataset.unused,
        weighting=dataset.weighting,
        ordinal=dataset.ordinal,
        counted=dataset.counted - names,
        gaps=dataset.gaps,
        reasons=MappingProxyType({name: why for name, why in dataset.reasons.items() if name not in names}),
    )


def _codes(
    points: NDArray[np.float64], values: NDArray[np.float64], seen: NDArray[np.bool_] | None
) -> NDArray[np.unsignedinteger]:
    """Return the interval of each value; gaps keep a code of their own."""
    found = np.searchsorted(points, values, side="right")
    if seen is None:
        return found.astype(code_type(len(points) + 1))
    return np.where(seen, found, len(points) + 1).astype(code_type(len(points) + 2))


def default_bins(n_rows: int) -> int:
    """Return k = 1 + log2(N), rounded down."""
    return max(n_rows, 1).bit_length()


def equal_width(values: ArrayLike, bins: int) -> NDArray[np.float64]:
    """Return the cuts of `bins` intervals of equal width between the least and the greatest value.

    A constant column has no cuts; cuts that are equal in floating point are merged.
    """
    _check_bins(bins)
    column = _finite(values)
    low, high = float(column.min()), float(column.max())
    share = np.arange(1, bins) / bins
    cuts = np.unique(low * (1 - share) + high * share)  # not low + width * share: the width may overflow
    return cuts[(cuts > low) & (cuts <= high)]


def _occupied(cuts: NDArray[np.float64], values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the cuts at the lower end of intervals that hold a value."""
    counts = np.bincount(np.searchsorted(cuts, values, side="right"), minlength=len(cuts) + 1)
    return cuts[counts[1:] > 0]


def equal_frequency(values: ArrayLike, bins: int, repeats: ArrayLike | None = None) -> NDArray[np.float64]:
    """Return cuts that leave about N / bins rows in each interval, halfway between neighbouring values.

    Each cut is the boundary between distinct values whose number of rows below is nearest to its share,
    the lower one in a tie; equal cuts are merged.
    """
    _check_bins(bins)
    column = _finite(values)
    weights = np.ones(len(column)) if repeats is None else real_array("repeats", repeats, "Give one per value.")
    distinct, group = np.unique(column, return_inverse=True)
    below = np.cumsum(np.bincount(group.reshape(-1), weights=weights))[:-1]
    if not len(below):
        return np.empty(0)
    target = np.arange(1, bins) * (float(weights.sum()) / bins)
    right = np.clip(np.searchsorted(below, target), 0, len(below) - 1)
    left = np.maximum(right - 1, 0)
    nearest = np.unique(np.where(target - below[left] <= below[right] - target, left, right))
    low, high = distinct[nearest], distinct[nearest + 1]
    middle = low / 2 + high / 2
    inside = (middle > low) & (middle <= high)
    return np.asarray(np.where(inside, middle, high), dtype=np.float64)


def checked_cuts(name: str, points: ArrayLike) -> NDArray[np.float64]:
    """Return given cuts, or raise InputError unless they are finite and strictly increasing."""
    cuts = np.atleast_1d(real_array(f"cuts[{name!r}]", points, "Write for example [18, 65]."))
    if cuts.ndim != 1 or not bool(np.isfinite(cuts).all()) or not bool((np.diff(cuts) > 0).all()):
        raise InputError(
            f"cuts[{name!r}] must be finite and strictly increasing; got {points!r}. Sort them, drop repeats."
        )
    if len(cuts) >= MAX_STATES:
        raise InputError(f"cuts[{name!r}] must make at most {MAX_STATES:,} states; got {len(cuts)} cuts.")
    return cuts


def interval_labels(cuts: NDArray[np.float64]) -> tuple[str, ...]:
    """Return labels such as < 1, [1, 2), >= 2, with as few digits as keep the cuts different."""
    if not len(cuts):
        return ("all",)
    for digits in range(4, 18):
        shown = [f"{cut:.{digits}g}" for cut in cuts]
        if len({float(text) for text in shown}) == len(cuts):
            break
    inner = [f"[{low}, {high})" for low, high in pairwise(shown)]
    return (f"< {shown[0]}", *inner, f">= {shown[-1]}")


def _chosen(dataset: Dataset, given: Mapping[str, object], columns: Sequence[str] | None) -> list[int]:
    """Return the variables to discretise: those named, or every continuous one."""
    named = [dataset.index(name) for name in [*given, *(() if columns is None else columns)]]
    for k in named:
        if dataset.cards[k]:
            raise InputError(
                f"columns and cuts must name continuous variables; {dataset.names[k]!r} has {dataset.cards[k]} states. "
                "Leave it out, or read it with types={...: 'continuous'}."
            )
    if columns is not None:
        return sorted(set(named))
    return [k for k, card in enumerate(dataset.cards) if card == 0]


def _check_bins(bins: int) -> None:
    """Raise InputError unless a variable can have this number of states."""
    if not is_whole(bins) or not 1 <= bins <= MAX_STATES:
        raise InputError(f"bins must be a whole number from 1 to {MAX_STATES:,}; got {bins!r}.")


def _finite(values: ArrayLike) -> NDArray[np.float64]:
    """Return values as a column, or raise DataError unless they are finite numbers."""
    column = real_array("values", values, "Give a column of numbers.")
    if column.ndim != 1 or not column.size or not bool(np.isfinite(column).all()):
        raise DataError(
            f"values must be a non-empty 1-D column of finite numbers; got shape {column.shape}. Drop NaN, inf."
        )
    return column


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
