"""A path of l1-penalised logistic regressions that looks only at columns which may matter.

At a penalty λ the solution is known by its gradient: |x_jᵀ(y − p)| ≤ λ for a column left out. Between two penalties the
gradient seldom moves faster than λ does, so only columns with |x_jᵀ(y − p)| ≥ 2 λ_k − λ_k−1 go to the solver (the
strong rule of Tibshirani and others, 2012), and the columns it missed, which the gradient betrays, are added until
there are none. The few columns have few distinct rows, which are all the solver sees.

What is left is the gradient of all columns, a product of the residuals with all rows. Regressions are generators that
yield their residuals and are sent the product, so that many of them can share one product of matrices (`together`).
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from math import log
from typing import NamedTuple, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

from mnlearn.data import Dataset
from mnlearn.protocols import BoolArray, FloatArray, IntArray, VarSet
from mnlearn.statistics import Counts
from mnlearn.statistics.logistic import GroupedRows

_SLACK = 1e-3  # by what share of the penalty a gradient may exceed it
_ACCURACY = 1e-5  # of the solver, in the same unit
_EXACT_ROWS = 2**23  # so many are counted in halves without rounding
_BLOCK = 2**24  # numbers of residuals that are multiplied at a time

T = TypeVar("T")
Floats: TypeAlias = NDArray[np.float32]
Asking: TypeAlias = Generator[Floats, Floats, T]
"""Yields residuals, is sent their products with all columns, returns what it found."""


class Columns:
    """Variables as numbers: one column of −½, ½ for two states, one column of 0, 1 for each of more, none for one.

    So coded, nothing depends on how states are called or ordered, and no kind of variable is favoured by its scale.

    Parameters
    ----------
    rows
        Distinct rows with their repeats.
    """

    def __init__(self, rows: Dataset) -> None:
        assert rows.repeats is not None
        found = [np.unique(column, return_inverse=True) for column in rows.columns]
        self.codes: list[IntArray] = [inverse.reshape(-1) for _, inverse in found]  # of the states that occur
        self.n_states = tuple(len(seen) for seen, _ in found)
        self.repeats: IntArray = rows.repeats
        self.counts = Counts(Dataset.from_codes(self.codes, cards=self.n_states, repeats=rows.repeats), n_jobs=1)
        widths = [size if size > 2 else size - 1 for size in self.n_states]
        self.owner = np.repeat(np.arange(len(widths)), widths)  # the variable of each column
        self.state = np.concatenate([np.arange(w) if w > 1 else np.full(w, -1) for w in widths])  # or −1: −½, ½
        self.values: Floats = np.empty((rows.n_records, len(self.owner)), dtype=np.float32, order="F")
        for j, (y, state) in enumerate(zip(self.owner, self.state, strict=True)):
            self.values[:, j] = self.codes[y] - 0.5 if state < 0 else self.codes[y] == state
        self.sums: FloatArray = self.repeats.astype(np.float64) @ self.values

    def belong_to(self, variables: VarSet) -> BoolArray:
        """Which columns are those of some variables."""
        return np.isin(self.owner, sorted(variables))


def alone(asking: Asking[T], columns: Columns) -> T:
    """What one of them finds."""
    return together([asking], columns)[0]


def together(askings: Sequence[Asking[T]], columns: Columns) -> list[T]:
    """What each of them finds; their products are made together, a block at a time."""
    block = max(1, min(len(askings), _BLOCK // max(1, len(columns.values))))
    found: list[T] = []
    for first in range(0, len(askings), block):
        found += _in_step(askings[first : first + block], columns.values)
    return found


def _in_step(askings: Sequence[Asking[T]], values: Floats) -> list[T]:
    """All ask, all are answered, until the last has found what it looked for."""
    found: dict[int, T] = {}
    answers: dict[int, Floats | None] = dict.fromkeys(range(len(askings)))
    while answers:
        residuals: dict[int, Floats] = {}
        for place, answer in answers.items():
            try:
                residuals[place] = next(askings[place]) if answer is None else askings[place].send(answer)
            except StopIteration as end:
                found[place] = end.value
        products = np.stack(list(residuals.values())) @ values if residuals else ()
        answers = dict(zip(residuals, products, strict=True))
    return [found[place] for place in range(len(askings))]


class Regression:
    """Whether x is in a state, on some columns, followed from one penalty to the next.

    Parameters
    ----------
    columns
        All columns.
    x, state
        What is explained.
    candidates, required
        The variables whose columns may be in; those whose columns go without penalty.
    """

    def __init__(self, columns: Columns, x: int, state: int, candidates: VarSet, required: VarSet) -> None:
        self._columns, self._x, self._state = columns, x, state
        self._barred = ~columns.belong_to(candidates | required)
        self._free = columns.belong_to(required)
        self._coefficients = np.zeros(len(columns.owner) + 1)  # the intercept last
        self._gradient = np.zeros(len(columns.owner))
        self._penalty = 0.0
        self._weights: Floats = columns.repeats.astype(np.float32)
        self._ones: Floats = self._weights * (columns.codes[x] == state)

    def first_penalty(self) -> Asking[float]:
        """The smallest penalty at which no penalised column is in."""
        n_rows, inside = self._columns.counts.n_rows, self._columns.codes[self._x] == self._state
        n_ones = int(self._columns.repeats[inside].sum())
        share = n_ones / n_rows
        if n_rows < _EXACT_ROWS:
            product = yield self._ones  # whole and half numbers: exact, in whatever order they are summed
            self._see(product - share * self._columns.sums)
        else:
            product = yield (self._columns.repeats * (inside - share)).astype(np.float32)
            self._see(product.astype(np.float64))
        self._coefficients[-1] = log(n_ones) - log(n_rows - n_ones)
        penalty = self._largest()
        if self._free.any() and penalty > 0:  # what is required explains part of x
            yield from self._fit(self._free.copy(), penalty)
            penalty = self._largest()
        self._penalty = penalty
        return penalty

    def step(self, penalty: float) -> Asking[int]:
        """Move on to a smaller penalty; returns how many fits it took."""
        looked_at = self.active() | self._free | (self._gradient >= 2 * penalty - self._penalty)
        looked_at &= ~self._barred
        fits = 0
        while looked_at.any():
            yield from self._fit(looked_at, penalty)
            fits += 1
            missed = ~looked_at & (self._gradient > penalty * (1 + _SLACK))
            if not missed.any():
                break
            looked_at |= missed
        self._penalty = penalty
        return fits

    def active(self) -> BoolArray:
        """Which columns are in."""
        inside: BoolArray = self._coefficients[:-1] != 0
        return inside

    def support(self) -> VarSet:
        """The variables that have a column in."""
        return frozenset(self._columns.owner[self.active()].tolist())

    def _largest(self) -> float:
        """The largest derivative of a penalised column."""
        return float(self._gradient[~self._free].max(initial=0.0))

    def _see(self, gradient: FloatArray) -> None:
        """Keep |x_jᵀ(y − p)| of every column that may be in."""
        self._gradient = np.where(self._barred, 0.0, np.abs(gradient))

    def _fit(self, looked_at: BoolArray, penalty: float) -> Asking[None]:
        """Solve with some of the columns; note who is in, and the gradient of all."""
        columns = np.flatnonzero(looked_at)
        places = np.append(columns, -1)
        penalties = np.where(self._free[columns], 0.0, penalty)
        rows = Model(self._columns, self._x, self._state, columns).rows()
        found = rows.fit(penalties, tolerance=_ACCURACY * penalty, start=self._coefficients[places]).coefficients
        self._coefficients = np.zeros_like(self._coefficients)
        self._coefficients[places] = found
        inside = np.flatnonzero(self.active())
        margin = self._columns.values[:, inside] @ found[:-1][found[:-1] != 0].astype(np.float32) + np.float32(
            found[-1]
        )
        p = np.float32(0.5) + np.tanh(margin / 2) / 2  # the logistic function
        product = yield self._ones - self._weights * p
        self._see(product.astype(np.float64))


class Model(NamedTuple):
    """Some columns that explain whether x is in a state."""

    columns: Columns
    x: int
    state: int
    chosen: IntArray  # ascending

    def rows(self) -> GroupedRows:
        """The cells of the table of x and the owners of the columns: as few rows as there are different ones."""
        owner, meant = self.columns.owner[self.chosen], self.columns.state[self.chosen]
        states, counts = self.columns.counts.cells(self.x, frozenset(owner.tolist()))
        if meant.max(initial=-1) < 0:  # every variable has one column
            design: FloatArray = states[:-1].T.astype(np.float64) - 0.5
        else:
            codes = states[np.unique(owner, return_inverse=True)[1].reshape(-1)].T
            design = np.where(meant < 0, codes - 0.5, codes == meant).astype(np.float64)
        total: FloatArray = counts.astype(np.float64)
        return GroupedRows(design, total, total * (states[-1] == self.state))
