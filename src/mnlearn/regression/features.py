"""Features of variables of any kind: how each one enters the interactions of a mixed model.

| kind | features |
|---|---|
| nominal, binary | orthonormal contrasts of its r states, r − 1 |
| ordinal, 3 or more states | the standardised score of its states, 1 |
| continuous | the standardised value, 1 |
| count | the standardised log(1 + count), 1 |

A variable that never changes has no features. Renaming the states of a nominal variable rotates its contrasts, which
changes no penalty on the squares of coefficients.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mnlearn.data.dataset import Dataset, Kind
from mnlearn.numbers import expm1, log1p
from mnlearn.protocols.statistics import FloatArray


@dataclass(frozen=True, eq=False)
class Features:
    """The features of one variable.

    Attributes
    ----------
    kind
        What its values are.
    table
        Of a categorical variable: the features of each state, states × features. Else empty.
    center, scale
        Of a numeric variable: mean and standard deviation of its values, for a count of log(1 + count); a scale of 0
        marks one that never changes.
    """

    kind: Kind
    table: FloatArray
    center: float = 0.0
    scale: float = 0.0

    @property
    def card(self) -> int:
        """Number of states; 0 of a numeric variable."""
        return len(self.table)

    @property
    def size(self) -> int:
        """Number of features."""
        return self.table.shape[1] if self.card else int(self.scale > 0)

    @property
    def is_signed(self) -> bool:
        """Whether it has one feature that rises with its values or states, so that its interactions have a sign."""
        return self.size == 1

    def standardised(self, values: NDArray[Any]) -> FloatArray:
        """Return values of a numeric variable on the scale of its feature; NaN stays."""
        numbers = values.astype(np.float64)
        numbers = log1p(numbers) if self.kind == "count" else numbers
        return np.asarray(
            (numbers - self.center) / self.scale if self.scale else np.where(np.isnan(numbers), numbers, 0)
        )

    def original(self, feature: FloatArray) -> FloatArray:
        """Return the values of a numeric variable for its feature; counts are not rounded."""
        numbers = self.center + self.scale * feature
        return expm1(numbers) if self.kind == "count" else np.asarray(numbers)


def features_of(data: Dataset, x: int) -> Features:
    """Return the features of one variable, standardised over the rows in which it is observed; none if it never is.

    Examples
    --------
    >>> features_of(Dataset.from_codes([[0, 1, 1, 0]]), 0).table.round(3).tolist()
    [[-0.707], [0.707]]
    """
    kind, card, seen = data.kinds[x], data.cards[x], data.observed(x)
    values = data.columns[x] if seen is None else data.columns[x][seen]
    weights = data.repeats if seen is None or data.repeats is None else data.repeats[seen]
    if not card:
        numbers = values.astype(np.float64)
        center, scale = _moments(log1p(numbers) if kind == "count" else numbers, weights)
        return Features(kind, np.empty((0, 0)), center, scale)
    if kind == "nominal" or card <= 2:
        return Features(kind, contrasts(card))
    scores = data.level_scores(x)
    center, scale = _moments(scores[values], weights)
    table = (scores - center)[:, None] / scale if scale else np.empty((card, 0))
    return Features(kind, table)


def contrasts(card: int) -> FloatArray:
    """Return orthonormal Helmert contrasts: card × (card − 1), every column of sum 0 and length 1.

    Examples
    --------
    >>> contrasts(3).round(3).tolist()
    [[-0.707, -0.408], [0.707, -0.408], [0.0, 0.816]]
    """
    table = np.zeros((card, max(card - 1, 0)))
    for k in range(1, card):
        table[:k, k - 1], table[k, k - 1] = -1.0, float(k)
        table[:, k - 1] /= np.sqrt(k * (k + 1.0))
    return table


def _moments(values: FloatArray, weights: NDArray[Any] | None) -> tuple[float, float]:
    """Return the mean and the standard deviation (divisor N), measured from the first value; 0 if all are equal."""
    if not len(values):
        return 0.0, 0.0
    first = float(values[0])
    moved = values - first
    mean = float(np.average(moved, weights=weights))
    deviation = float(np.sqrt(np.average((moved - mean) ** 2, weights=weights)))
    constant = deviation <= 1e-12 * (1.0 + float(np.abs(values).max()))
    return (first if constant else first + mean), (0.0 if constant else deviation)
