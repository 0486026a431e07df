"""Discretise continuous variables: equal width, equal frequency, or given cuts.

A cut c separates the values below c from those at or above it, so k - 1 increasing cuts make k states.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from types import MappingProxyType
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mnlearn.data._checks import MAX_STATES, code_type, is_whole
from mnlearn.data.dataset import Dataset
from mnlearn.errors import DataError, InputError, check_listed, check_mapping, is_one_of, real_array

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
