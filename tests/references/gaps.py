"""The slow, obvious twin of test-wise statistics: drop the incomplete rows of a question, then ask complete data."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mnlearn.data.dataset import Dataset, code_type
from mnlearn.protocols import BaseTest, Indices, VarSet, Verdict, Verdicts


def with_gaps(data: Dataset, share: float, seed: int = 0, *, only: Collection[int] | None = None) -> Dataset:
    """Return the data with that share of the values missing, in all columns or only in some."""
    rng = np.random.default_rng(seed)
    chosen = range(data.n_variables) if only is None else only
    columns: list[NDArray[Any]] = list(data.columns)
    for v in sorted(chosen):
        lost = rng.random(data.n_records) < share
        column, card = columns[v].copy(), data.cards[v]
        if card:
            column = column.astype(code_type(card + 1))
        column[lost] = card if card else np.nan
        columns[v] = column
    return replace(data, columns=tuple(columns), gaps=frozenset(data.names[v] for v in chosen))


def complete_rows(data: Dataset, variables: Sequence[int]) -> Dataset | None:
    """Return the rows in which all of these variables are observed, and only these variables; None without rows."""
    kept = np.ones(data.n_records, dtype=np.bool_)
    for v in variables:
        observed = data.observed(v)
        if observed is not None:
            kept &= observed
    if not kept.any():
        return None
    return Dataset(
        names=tuple(data.names[v] for v in variables),
        cards=tuple(data.cards[v] for v in variables),
        columns=tuple(_plain(data.columns[v][kept], data.cards[v]) for v in variables),
        levels=tuple(data.levels[v] for v in variables),
        repeats=None if data.repeats is None else data.repeats[kept],
        weighting=data.weighting,
    )


def question(data: Dataset, x: int, y: int, z: Collection[int]) -> tuple[Dataset | None, int, int, frozenset[int]]:
    """Return the complete rows of one question, and x, y and z by their places in them."""
    variables = sorted({x, y, *z})
    place = {v: k for k, v in enumerate(variables)}
    return complete_rows(data, variables), place[x], place[y], frozenset(place[v] for v in z)


def _plain(column: NDArray[Any], card: int) -> NDArray[Any]:
    return np.asarray(column.astype(code_type(card) if card else np.float64))


class TwinTest(BaseTest):
    """Test that drops the incomplete rows of each question, then asks the test of complete data; slow."""

    def __init__(self, data: Dataset, make: Callable[[Dataset], BaseTest]) -> None:
        self._data, self._make = data, make

    @property
    def n_variables(self) -> int:
        """Number of variables."""
        return self._data.n_variables

    def scan(self, x: int, ys: Indices, z: VarSet) -> Verdicts:
        """Test x against each y given z."""
        found = [self._one(x, int(y), z) for y in ys]
        independent = np.array([one.independent for one in found], dtype=np.bool_)
        return Verdicts(independent, np.array([one.log_support for one in found], dtype=np.float64))

    def _one(self, x: int, y: int, z: VarSet) -> Verdict:
        rows, x_, y_, z_ = question(self._data, x, y, z)
        return Verdict(True, 0.0) if rows is None else self._make(rows)(x_, y_, z_)
