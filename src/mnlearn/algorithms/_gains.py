"""When one score is better than another: by more than rounding."""

from __future__ import annotations

from collections.abc import Iterable

from mnlearn.protocols import FloatArray

_ABSOLUTE, _RELATIVE = 1e-9, 1e-12


def tolerance(worths: Iterable[float]) -> float:
    """What rounding may do to scores of this size: two sums of the same terms in another order differ by less."""
    return max(_ABSOLUTE, _RELATIVE * max((abs(worth) for worth in worths), default=0.0))


def first_best(values: FloatArray, now: float, rounding: float) -> int | None:
    """The place of the best value, the first of equals; None if none is better than now. A tie is no improvement."""
    if not len(values):
        return None
    best = float(values[values.argmax()])  # half the time of max() for a few hundred values
    if not best > now + rounding:
        return None
    return int((values >= max(best - rounding, now + rounding)).argmax())
