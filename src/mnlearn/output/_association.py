"""Which way two joined variables go together: the partial correlation of the two given the neighbours of both.

The graph of a Markov network has no signs; the data behind it may. A number, a yes-or-no question and a state that is a
number have an order, so that more of one can go with more or with less of the other. The sign that two variables show
alone can be their neighbours' doing; hence the neighbours are held fixed.
"""

from __future__ import annotations

from collections.abc import Hashable

import numpy as np

from mnlearn.data import Dataset
from mnlearn.graphs.graph import Edge, Graph
from mnlearn.protocols import FloatArray

_MOST_ROWS = 20_000  # a sign needs no more
_MOST_STATES = 20  # of a variable without an order that is held fixed


def partial_correlations(data: Dataset, graph: Graph) -> dict[Edge, float]:
    """For each edge of two ordered variables that both vary: their partial correlation given all their neighbours."""
    table = _Table(data)
    found: dict[Edge, float] = {}
    for u, v in graph.edges:
        if table.ordered[u] and table.ordered[v]:
            given = sorted((graph.neighbors(u) | graph.neighbors(v)) - {u, v})
            value = table.partial(u, v, given)
            if value is not None:
                found[u, v] = value
    return found


def ordered_variables(data: Dataset) -> list[bool]:
    """Whether each variable has an order: continuous, of two states, or of states that are numbers."""
    return [levels is None or len(levels) == 2 or all(map(_is_number, levels)) for levels in data.levels]


def _is_number(level: Hashable) -> bool:
    """Whether a state is a number; a truth counts, its two states have an order anyway."""
    return isinstance(level, int | float | np.integer | np.floating)


class _Table:
    """The columns as numbers: standardised where there is an order, else one column per state."""

    def __init__(self, data: Dataset) -> None:
        self.ordered = ordered_variables(data)
        self._data = data
        self._rows = np.arange(0, data.n_records, max(1, -(-data.n_records // _MOST_ROWS)))
        repeats = np.ones(len(self._rows)) if data.repeats is None else data.repeats[self._rows].astype(np.float64)
        self._root_weights = np.sqrt(repeats / repeats.sum())
        self._blocks: dict[int, FloatArray] = {}

    def partial(self, u: int, v: int, given: list[int]) -> float | None:
        """The correlation of what is left of u and v once a linear model of the given is taken from both."""
        pair = np.concatenate([self._block(u), self._block(v)], axis=1)
        if pair.shape[1] < 2:
            return None  # one of them never changes
        held = [self._block(w) for w in given if self.ordered[w] or self._data.cards[w] <= _MOST_STATES]
        basis = np.concatenate(held, axis=1) if held else pair[:, :0]
        if basis.shape[1] >= len(pair) - 2:
            basis = pair[:, :0]  # more is held fixed than there are rows: nothing would be left
        coefficients = np.linalg.lstsq(basis, pair, rcond=1e-8)[0]
        left = pair - basis @ coefficients
        (uu, uv), (_, vv) = left.T @ left
        return float(np.clip(uv / np.sqrt(uu * vv), -1.0, 1.0)) if min(uu, vv) > 1e-10 else None

    def _block(self, x: int) -> FloatArray:
        """The columns that stand for x, centred, each row by the root of its weight; none if it never changes."""
        if x not in self._blocks:
            self._blocks[x] = self._standardised(self._numbers(x))
        return self._blocks[x]

    def _numbers(self, x: int) -> FloatArray:
        """x as numbers: itself, the numbers that its states are, or which state it is in."""
        values, levels = self._data.columns[x][self._rows], self._data.levels[x]
        if levels is None:
            return values.astype(np.float64)[:, None]
        if all(map(_is_number, levels)):
            return np.asarray([float(level) for level in levels])[values.astype(np.int64)][:, None]  # type: ignore[arg-type]
        codes = values.astype(np.int64)
        return codes[:, None].astype(np.float64) if len(levels) == 2 else np.eye(len(levels))[codes][:, 1:]

    def _standardised(self, columns: FloatArray) -> FloatArray:
        """Mean 0 and length 1, weights counted; columns that never change are left out."""
        weights = self._root_weights[:, None]
        centred = (columns - (weights**2 * columns).sum(axis=0)) * weights
        length = np.sqrt((centred**2).sum(axis=0))
        kept = length > 1e-12 * (1.0 + np.abs(columns).max(axis=0))
        return np.asarray(centred[:, kept] / length[kept])
