"""Features of variables of any kind: how each one enters the interactions of a mixed model.

| kind | features |
|---|---|
| nominal, binary | orthonormal contrasts of its r states, r − 1 |
| ordinal, 3 or more states | the standardised score of its states, 1 |
| continuous | the standardised value, 1 |
| count | the standardised log(1 + count), 1 |

A variable that never changes has no features. Renaming the states of a nominal variable rotates its contrasts, which
changes no penalty on the squares of coefficients.

Columns of features and the layout of parameters, for the pseudo-likelihood of variables of any kind.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from mnlearn._lazy import cached
from mnlearn.data.dataset import Dataset, Kind
from mnlearn.numbers import expm1, log1p
from mnlearn.protocols.statistics import FloatArray

if TYPE_CHECKING:
    from scipy.sparse import csr_array


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


Pair = tuple[int, int]


class Interactions(NamedTuple):
    """Parameters of the joint density; entries that a kind does not have are empty or 0."""

    thresholds: tuple[FloatArray, ...]  # t_x, a number per state
    linear: FloatArray  # h
    curvature: FloatArray  # k; 1 for a categorical variable or one that never changes
    weights: dict[Pair, FloatArray]  # W_uv for u < v


@dataclass(frozen=True, eq=False)
class Layout:
    """Where the parameters lie in one vector: thresholds, then h, k, and the weights of each pair."""

    features: Sequence[Features]
    pairs: tuple[Pair, ...]

    @cached
    def states(self) -> list[slice]:
        """The thresholds of each variable."""
        ends = np.cumsum([each.card for each in self.features]).tolist()
        return [slice(end - each.card, end) for each, end in zip(self.features, ends, strict=True)]

    @cached
    def linear(self) -> slice:
        """h of all variables; without meaning for categorical ones."""
        start = self.states[-1].stop
        return slice(start, start + len(self.features))

    @cached
    def curvature(self) -> slice:
        """k of all variables."""
        return slice(self.linear.stop, self.linear.stop + len(self.features))

    @cached
    def blocks(self) -> list[slice]:
        """W of each pair."""
        ends = np.cumsum([self.features[u].size * self.features[v].size for u, v in self.pairs]) + self.curvature.stop
        starts = [self.curvature.stop, *ends.tolist()]
        return [slice(a, b) for a, b in pairwise(starts)]

    @cached
    def size(self) -> int:
        """Length of the vector."""
        return int(self.blocks[-1].stop if self.blocks else self.curvature.stop)

    def block(self, vector: FloatArray, place: int) -> FloatArray:
        """Return W of one pair as a matrix: a view."""
        u, v = self.pairs[place]
        return vector[self.blocks[place]].reshape(self.features[u].size, self.features[v].size)

    def unpacked(self, vector: FloatArray) -> Interactions:
        """Return the parameters of a vector."""
        thresholds = tuple(vector[states].copy() for states in self.states)
        weights = {pair: self.block(vector, place).copy() for place, pair in enumerate(self.pairs)}
        return Interactions(thresholds, vector[self.linear].copy(), vector[self.curvature].copy(), weights)


@dataclass(frozen=True, eq=False)
class FeatureColumn:
    """The features of one variable in all rows; 0 in rows in which it is missing."""

    table: FloatArray  # of a categorical variable, with a row of zeros for a missing value
    states: NDArray[np.intp] | None  # the number of states where it is missing; None of a numeric variable
    values: FloatArray  # of a numeric variable
    known: NDArray[np.bool_]
    one_hot: csr_array | None  # states × rows

    @classmethod
    def of(cls, data: Dataset, x: int, features: Features) -> FeatureColumn:
        """Read one column of the data."""
        from scipy.sparse import csr_array

        seen = data.observed(x)
        known = np.ones(data.n_records, dtype=np.bool_) if seen is None else seen
        if not features.card:
            values = np.where(known, features.standardised(data.columns[x]), 0.0)
            return cls(np.empty((0, features.size)), None, values if features.scale else values * 0.0, known, None)
        states = data.columns[x].astype(np.intp)
        table = np.concatenate([features.table, np.zeros((1, features.size))])
        rows = np.arange(data.n_records)
        one_hot = csr_array((np.ones(len(rows)), (states, rows)), shape=(len(table), len(rows)))
        return cls(table, states, np.empty(0), known, one_hot)

    @cached
    def known_states(self) -> NDArray[np.intp]:
        """The states, 0 where they are missing."""
        return np.zeros(0, dtype=np.intp) if self.states is None else np.where(self.known, self.states, 0)

    def times(self, weights: FloatArray) -> FloatArray:
        """Return Φ W."""
        return self.values[:, None] * weights if self.states is None else (self.table @ weights)[self.states]

    def transposed(self, rows: FloatArray) -> FloatArray:
        """Return Φᵀ A."""
        if self.one_hot is None:
            return self.values[None] @ rows
        return np.asarray(self.table.T @ (self.one_hot @ rows))

    def counts(self, weights: FloatArray) -> FloatArray:
        """Return the weighted count of each state."""
        if self.states is None:
            return np.empty(0)
        return np.asarray(np.bincount(self.states, weights, len(self.table))[:-1], dtype=np.float64)

    def squares_transposed(self, rows: FloatArray) -> FloatArray:
        """Return (Φ²)ᵀ A, the squares of single features."""
        if self.one_hot is None:
            return (self.values**2)[None] @ rows
        return np.asarray((self.table**2).T @ (self.one_hot @ rows))


def row_weights(data: Dataset, columns: Sequence[FeatureColumn], pairs: Sequence[Pair]) -> list[FloatArray]:
    """Return for each variable the weight of each row: 0 where it or a neighbour is missing."""
    weights = np.ones(data.n_records) if data.repeats is None else data.repeats.astype(np.float64)
    found = [weights * column.known for column in columns]
    for u, v in pairs:
        found[u], found[v] = found[u] * columns[v].known, found[v] * columns[u].known
    return found
