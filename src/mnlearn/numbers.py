"""Elementary functions with the same bits on every machine: those of the native core.

Those of `math` come from the C library and those of NumPy from the processor's vector instructions: their last bits
differ between machines. What a score, a probability or a graph depends on uses these.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, overload

import numpy as np

from mnlearn._core import elementary, elementary_of_one

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray


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
