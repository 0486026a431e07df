"""A path of l1-penalised logistic regressions that looks only at columns which may matter.

At a penalty λ the solution is known by its gradient: |x_jᵀ(y − p)| ≤ λ for a column left out. Between two penalties the
gradient seldom moves faster than λ does, so only columns with |x_jᵀ(y − p)| ≥ 2 λ_k − λ_k−1 go to the solver (the
strong rule of Tibshirani and others, 2012), and the columns it missed, which the gradient betrays, are added until
there are none. The few columns have few distinct rows, which are all the solver sees.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mnlearn.data import Dataset
from mnlearn.data._rows import row_groups
from mnlearn.protocols import BoolArray, FloatArray, IntArray, VarSet

_FREE = 100.0  # the factor by which the intercept and required columns are scaled up, so that their penalty is 1 %
_SLACK = 1e-3  # by what share of the penalty a gradient may exceed it: the solver's own accuracy


@dataclass(frozen=True, eq=False)
class Columns:
    """Variables as numbers: one column of −½, ½ for two states, one column of 0, 1 for each of more, none for one.

    So coded, nothing depends on how states are called or ordered, and no kind of variable is favoured by its scale.
    """

    codes: tuple[IntArray, ...]  # of the states that occur
    n_states: tuple[int, ...]
    values: NDArray[np.float32]
    owner: IntArray  # the variable of each column
    free: BoolArray  # whether a column goes without penalty

    @classmethod
    def of(cls, rows: Dataset) -> Columns:
        """All variables."""
        codes = [np.unique(column, return_inverse=True) for column in rows.columns]
        n_states = tuple(len(seen) for seen, _ in codes)
        blocks = [_block(inverse.reshape(-1), size) for (_, inverse), size in zip(codes, n_states, strict=True)]
        values = np.asfortranarray(np.hstack(blocks))
        owner = np.repeat(np.arange(len(blocks)), [block.shape[1] for block in blocks])
        return cls(tuple(i.reshape(-1) for _, i in codes), n_states, values, owner, np.zeros(len(owner), np.bool_))

    def block(self, y: int) -> NDArray[np.float32]:
        """The columns of one variable."""
        return self.values[:, self.owner == y]

    def select(self, variables: VarSet, free: VarSet) -> Columns:
        """The columns of some variables, some of them without penalty."""
        kept = np.isin(self.owner, sorted(variables))
        unpenalised = np.isin(self.owner[kept], sorted(free))
        values = self.values[:, kept] * np.where(unpenalised, _FREE, 1).astype(np.float32)
        return Columns(self.codes, self.n_states, values, self.owner[kept], unpenalised)


class Regression:
    """One binary target on all columns, followed from one penalty to the next."""

    def __init__(self, rows: Dataset, columns: Columns, target: BoolArray) -> None:
        self._rows, self._columns, self._target = rows, columns, target
        assert rows.repeats is not None
        self._weights: FloatArray = rows.repeats.astype(np.float64)
        share = float(self._weights @ target) / float(self._weights.sum())
        self._active: BoolArray = columns.free.copy()
        self._gradient = self._gradient_at(np.full(len(target), share))
        self._penalty = 0.0

    def first_penalty(self) -> float:
        """The smallest penalty at which no penalised column is in."""
        penalty = float(self._gradient[~self._columns.free].max(initial=0.0))
        if self._columns.free.any() and penalty > 0:  # what is required explains part of the target
            self._fit(self._columns.free.copy(), penalty)
            penalty = float(self._gradient[~self._columns.free].max(initial=0.0))
        self._penalty = penalty
        return penalty

    def step(self, penalty: float) -> int:
        """Move on to a smaller penalty; returns how many fits it took."""
        looked_at = self._active | self._columns.free | (self._gradient >= 2 * penalty - self._penalty)
        fits = 0
        while looked_at.any():
            self._fit(looked_at, penalty)
            fits += 1
            missed = ~looked_at & (self._gradient > penalty * (1 + _SLACK))
            if not missed.any():
                break
            looked_at |= missed
        self._penalty = penalty
        return fits

    def support(self) -> VarSet:
        """The variables that have a column in."""
        return frozenset(self._columns.owner[self._active].tolist())

    def _fit(self, looked_at: BoolArray, penalty: float) -> None:
        """Solve with some of the columns on their distinct rows; note who is in, and the gradient of all."""
        from sklearn.linear_model import LogisticRegression

        columns = np.flatnonzero(looked_at)
        groups, first, weights = self._grouped(sorted(set(self._columns.owner[columns].tolist())))
        design = self._columns.values[np.ix_(first, columns)].astype(np.float64)
        solver = LogisticRegression(
            l1_ratio=1, C=1 / penalty, solver="liblinear", tol=1e-6, max_iter=1000, random_state=0,
            intercept_scaling=_FREE,
        )  # fmt: skip
        solver.fit(design, self._target[first], sample_weight=weights)
        self._active = np.zeros(len(looked_at), dtype=np.bool_)
        self._active[columns] = solver.coef_[0] != 0
        margin = design @ solver.coef_[0] + solver.intercept_
        self._gradient = self._gradient_at((0.5 + np.tanh(margin / 2) / 2)[groups])  # the logistic function

    def _grouped(self, variables: list[int]) -> tuple[IntArray, IntArray, FloatArray]:
        """The distinct rows of these variables and the target: the group of each row; a row and the weight of each."""
        groups, n_groups = row_groups([*(self._rows.columns[y] for y in variables), self._target])
        first = np.empty(n_groups, dtype=np.int64)
        first[groups] = np.arange(len(groups))
        weights: FloatArray = np.bincount(groups, weights=self._weights, minlength=n_groups).astype(np.float64)
        return groups, first, weights

    def _gradient_at(self, p: FloatArray) -> FloatArray:
        """|x_jᵀ(y − p)| for every column."""
        residual = (self._weights * (self._target - p)).astype(np.float32)
        gradient: FloatArray = np.abs(residual @ self._columns.values).astype(np.float64)
        return gradient


def _block(codes: IntArray, n_states: int) -> NDArray[np.float32]:
    """The columns of one variable."""
    if n_states < 2:
        return np.empty((len(codes), 0), dtype=np.float32)
    if n_states == 2:
        return (codes[:, None] - 0.5).astype(np.float32)
    indicators: NDArray[np.float32] = (codes[:, None] == np.arange(n_states)).astype(np.float32)
    return indicators
