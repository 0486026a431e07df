"""Comparison of scores: one tolerance, and the order of criteria that decides a tie.

Equal scores differ in their last bits: another order of columns or labels adds the same terms in another order. So a
score is better than another only if the difference exceeds rounding (`tolerance`). A tie is never an improvement: no
search runs in circles. Of tied candidates the next criterion decides, such as the marginal association (`first_best`);
only what no criterion tells apart is decided by the index. Orders are made of `ranks`, which tied values share.

Being within a tolerance is not transitive. Hence candidates are compared with the best one, never with each other, and
values that are sorted share a rank where the steps between them are that small.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from math import isfinite, isnan
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from mnlearn.errors import InputError

ABSOLUTE, RELATIVE = 1e-9, 1e-12
"""Scores tie if they differ by less than ABSOLUTE, or by less than RELATIVE times their size."""

NOT_A_NUMBER = "score must give numbers; got NaN. Correct it: it may be -inf for an impossible choice."

Criterion: TypeAlias = Callable[[NDArray[np.intp]], NDArray[np.float64]]
"""The places of tied candidates -> a value for each, higher is better. Called only where there is a tie."""


def tolerance(scores: Iterable[float]) -> float:
    """Return the rounding error of scores of this size: sums of the same terms in another order differ by less."""
    return max(ABSOLUTE, RELATIVE * max((abs(score) for score in scores if isfinite(score)), default=0.0))


def first_best(values: NDArray[np.float64], now: float, rounding: float, *criteria: Criterion) -> int | None:
    """Return the place of the best value; None if none exceeds `now` by more than rounding; InputError for NaN.

    Of the values within rounding of the best one the criteria decide, one after the other; at last the index.
    """
    if not len(values):
        return None
    best = float(values[values.argmax()])  # half the time of max() for a few hundred values
    if not best > now + rounding:
        if isnan(best) or isnan(now):  # NaN counts as the largest
            raise InputError(NOT_A_NUMBER)
        return None
    tied = (values >= max(best - rounding, now + rounding)).nonzero()[0]
    return int(tied[0]) if len(tied) == 1 else preferred(tied, *criteria, rounding=rounding)


def preferred(tied: NDArray[np.intp], *criteria: Criterion, rounding: float = ABSOLUTE) -> int:
    """Return the one of these places that the first criterion to tell them apart puts highest; at last the first.

    `rounding` is the least difference that counts: that of the scores of which the criteria are made.
    """
    for criterion in criteria:
        if len(tied) == 1:
            break
        values = np.asarray(criterion(tied), dtype=np.float64)
        best = values.max()
        tied = tied[values >= best - max(rounding, tolerance([float(best)]))]
    return int(tied[0])


def exceeds(value: float, than: float) -> bool:
    """Return whether a score is larger than another by more than rounding."""
    return value > than + tolerance(number for number in (value, than) if isfinite(number))


def first_maximum(values: Sequence[float]) -> int:
    """Return the place of the largest value, the first of equals."""
    best = max(values)
    return next(place for place, value in enumerate(values) if not exceeds(best, value))


def below(values: NDArray[np.float64], than: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Return where a value is smaller than the other by more than rounding; equal infinities are equal."""
    sizes = np.maximum(np.abs(values), np.abs(than))
    gaps: NDArray[Any] = np.subtract(than, values, out=np.zeros(values.shape), where=values != than)
    return np.asarray(gaps > np.maximum(ABSOLUTE, RELATIVE * np.where(np.isfinite(sizes), sizes, 0.0)))


def ranks(values: NDArray[np.float64]) -> NDArray[np.intp]:
    """Return the rank of each value in ascending order, from 0; values within rounding of the next share a rank.

    Examples
    --------
    >>> ranks(np.array([0.3, 0.1 + 0.2, 2.0, -1.0])).tolist()
    [1, 1, 2, 0]
    """
    order = values.argsort(kind="stable")
    return _numbered(order, _steps(values, order))


def ascending(values: NDArray[np.float64], *then: NDArray[np.intp]) -> NDArray[np.intp]:
    """Return the places of the values in ascending order; of tied values the lower of the ranks `then` comes first."""
    order = values.argsort(kind="stable")
    steps = _steps(values, order)
    return order if steps.all() else np.lexsort((*reversed(then), _numbered(order, steps)))


def _steps(values: NDArray[np.float64], order: NDArray[np.intp]) -> NDArray[np.bool_]:
    """Return where a value in this order is below the next by more than rounding."""
    return below(values[order[:-1]], values[order[1:]])


def _numbered(order: NDArray[np.intp], steps: NDArray[np.bool_]) -> NDArray[np.intp]:
    """Return the number of steps before each value."""
    found = np.zeros(len(order), dtype=np.intp)
    found[order[1:]] = np.cumsum(steps)
    return found
