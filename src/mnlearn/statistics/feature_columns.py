"""Columns of features and the layout of parameters, for the pseudo-likelihood of variables of any kind."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from mnlearn.data.dataset import Dataset
from mnlearn.protocols.statistics import FloatArray
from mnlearn.regression.features import Features

if TYPE_CHECKING:
    from scipy.sparse import csr_array

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

    @cached_property
    def states(self) -> list[slice]:
        """The thresholds of each variable."""
        ends = np.cumsum([each.card for each in self.features]).tolist()
        return [slice(end - each.card, end) for each, end in zip(self.features, ends, strict=True)]

    @cached_property
    def linear(self) -> slice:
        """h of all variables; without meaning for categorical ones."""
        start = self.states[-1].stop
        return slice(start, start + len(self.features))

    @cached_property
    def curvature(self) -> slice:
        """k of all variables."""
        return slice(self.linear.stop, self.linear.stop + len(self.features))

    @cached_property
    def blocks(self) -> list[slice]:
        """W of each pair."""
        ends = np.cumsum([self.features[u].size * self.features[v].size for u, v in self.pairs]) + self.curvature.stop
        starts = [self.curvature.stop, *ends.tolist()]
        return [slice(a, b) for a, b in pairwise(starts)]

    @cached_property
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

    @cached_property
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
