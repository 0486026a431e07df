"""Elementary functions with the same bits on every machine: those of the native core.

Those of `math` come from the C library and those of NumPy from the processor's vector instructions: their last bits
differ between machines. What a score, a probability or a graph depends on uses these.

Comparison of scores: one tolerance, and the order of criteria that decides a tie.

Equal scores differ in their last bits: another order of columns or labels adds the same terms in another order. So a
score is better than another only if the difference exceeds rounding (`tolerance`). A tie is never an improvement: no
search runs in circles. Of tied candidates the next criterion decides, such as the marginal association (`first_best`);
only what no criterion tells apart is decided by the index. Orders are made of `ranks`, which tied values share.

Being within a tolerance is not transitive. Hence candidates are compared with the best one, never with each other, and
values that are sorted share a rank where the steps between them are that small.

Seeds and stored arrays: the one place where each is checked.
"""

from __future__ import annotations

import io
from collections.abc import Callable, Iterable, Sequence
from math import isfinite, isnan, prod
from operator import index
from typing import Any, TypeAlias, overload

import numpy as np
from numpy.typing import NDArray

from mnlearn._core import elementary, elementary_of_one
from mnlearn.errors import InputError


class Elementary:
    """Function of numbers or, element by element, of arrays; 0 and NaN give no warning."""

    def __init__(self, name: str) -> None:
        self._name = name

    @overload
    def __call__(self, x: float) -> float: ...
    @overload
    def __call__(self, x: NDArray[Any]) -> NDArray[np.float64]: ...
    def __call__(self, x: float | NDArray[Any]) -> float | NDArray[np.float64]:
        """Return the value of the function."""
        if not isinstance(x, np.ndarray):
            return elementary_of_one(self._name, float(x))
        numbers = np.ascontiguousarray(x, dtype=np.float64).reshape(-1)
        return elementary(self._name, numbers).reshape(x.shape)


exp, expm1 = Elementary("exp"), Elementary("expm1")
log, log1p, log2 = Elementary("log"), Elementary("log1p"), Elementary("log2")
atanh, cbrt = Elementary("atanh"), Elementary("cbrt")
erf, erfc = Elementary("erf"), Elementary("erfc")
log_gamma = Elementary("log_gamma")


@overload
def log_add_exp(a: float, b: float) -> float: ...
@overload
def log_add_exp(a: NDArray[np.float64], b: NDArray[np.float64] | float) -> NDArray[np.float64]: ...
@overload
def log_add_exp(a: float, b: NDArray[np.float64]) -> NDArray[np.float64]: ...
def log_add_exp(a: NDArray[np.float64] | float, b: NDArray[np.float64] | float) -> Any:
    """Return log(exp(a) + exp(b)), without overflow."""
    larger, smaller = np.maximum(a, b), np.minimum(a, b)
    with np.errstate(invalid="ignore"):
        gap = np.where(larger == smaller, 0.0, smaller - larger)  # also where both are infinite
    return larger + log1p(exp(gap))


def logistic(x: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return 1 / (1 + exp(−x)), without overflow at either end."""
    small = exp(-np.abs(x))
    return np.asarray(np.where(x >= 0.0, 1.0, small) / (1.0 + small))


def add_logs_at(sums: NDArray[np.float64], places: NDArray[Any], logs: NDArray[np.float64]) -> None:
    """Let each place of `sums` be the log of the sum of its exponential and those of the logs that belong to it."""
    top = sums.copy()
    np.maximum.at(top, places, logs)
    top[~np.isfinite(top)] = 0.0
    total = exp(sums - top)
    np.add.at(total, places, exp(logs - top[places]))
    sums[:] = top + log(total)


def in_order(values: Iterable[float]) -> float:
    """Return the sum of numbers, added one by one; `sum` compensates for rounding errors since Python 3.12."""
    total = 0.0
    for value in values:
        total += value
    return total


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


Seed: TypeAlias = "int | np.random.Generator"  # a string: importing numpy.random takes 5 ms


def rng_from(seed: Seed) -> np.random.Generator:
    """Return the generator of a seed; a generator is returned as it is."""
    if isinstance(seed, np.random.Generator):
        return seed
    try:
        number = index(seed)
    except TypeError:
        number = -1
    if number < 0 or isinstance(seed, bool):
        raise InputError(f"seed must be an integer of at least 0 or a numpy.random.Generator; got {seed!r:.80}. Use 0.")
    return np.random.default_rng(number)


def fresh(seed: Seed | None) -> Seed:
    """Return the seed, or a generator that starts anew where there is none."""
    return np.random.default_rng() if seed is None else seed


def array_of_npy(content: bytes) -> NDArray[Any]:
    """Return the array of an .npy file, read-only; raise ValueError unless its header fits its bytes.

    No memory is taken for numbers that a header announces and that are not there, and objects are never read.
    """
    file = io.BytesIO(content)
    try:
        version = np.lib.format.read_magic(file)
        read = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
        shape, by_columns, kind = read(file)
    except Exception as error:  # the types depend on NumPy's version and on the damage
        raise ValueError("the header of an array is damaged") from error
    rest = content[file.tell() :]
    if kind.kind not in "biufU" or min(shape, default=0) < 0 or prod(shape) * kind.itemsize != len(rest):
        raise ValueError(f"an array of {kind} and shape {shape} does not have {len(rest)} bytes")
    return np.frombuffer(rest, kind).reshape(shape, order="F" if by_columns else "C")
