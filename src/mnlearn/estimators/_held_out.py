"""How well a network explains rows that it was not learned from.

Every variable is predicted from its blanket by what the training rows say: smoothed frequencies where all variables
are categorical, a linear regression where all are continuous. The sum of the logarithms is the log pseudo-likelihood.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from mnlearn.data import Dataset
from mnlearn.errors import DataError
from mnlearn.graphs.graph import Graph

FloatArray = NDArray[np.float64]
Codes = NDArray[np.int64]


def log_pseudolikelihoods(graph: Graph, train: Dataset, test: Dataset, *, prior: float = 0.5) -> FloatArray:
    """Of every row of `test`, the sum over variables of log P(x | blanket) as `train` has it.

    Parameters
    ----------
    graph
        The blankets.
    train, test
        The same variables, coded alike or not: states are matched by label.
    prior
        What is added to every count. A state that `train` never had is one more state, with a count of 0.
    """
    total = np.zeros(test.n_records)
    if all(train.cards):
        old, new = _matched(train, test)
        for x, around in _blankets(graph):
            total += _frequencies(old[:, [x, *around]], new[:, [x, *around]], train.cards[x] + 1, prior)
        return total
    old_values, new_values = (np.column_stack(data.columns).astype(float) for data in (train, test))
    for x, around in _blankets(graph):
        total += _regression(old_values, new_values, x, around)
    return total


def _blankets(graph: Graph) -> list[tuple[int, list[int]]]:
    return [(x, sorted(graph.neighbors(x))) for x in range(graph.n_variables)]


def _matched(train: Dataset, test: Dataset) -> tuple[Codes, Codes]:
    """Both tables by the states of `train`; a state it does not know gets the code after its last."""
    old = np.column_stack(train.columns).astype(np.int64)
    new = np.empty((test.n_records, train.n_variables), dtype=np.int64)
    for x, (known, seen) in enumerate(zip(train.levels, test.levels, strict=True)):
        new[:, x] = _translation(known or (), seen or ())[np.asarray(test.columns[x], dtype=np.int64)]
    return old, new


def _translation(known: Sequence[Hashable], seen: Sequence[Hashable]) -> Codes:
    places: Mapping[Hashable, int] = {label: place for place, label in enumerate(known)}
    return np.array([places.get(label, len(known)) for label in seen], dtype=np.int64)


def _frequencies(train: Codes, test: Codes, states: int, prior: float) -> FloatArray:
    """log P(x | blanket) of every test row; x is the first column, and a blanket never seen says all states alike."""
    both = np.concatenate([train, test])
    strata = np.unique(both[:, 1:], axis=0, return_inverse=True)[1].ravel()
    cells, of_train = strata * states + both[:, 0], len(train)
    size = (int(strata.max()) + 1) * states
    table = np.bincount(cells[:of_train], minlength=size).reshape(-1, states) + prior
    chance = table / table.sum(axis=1, keepdims=True)
    found: FloatArray = np.log(chance.ravel()[cells[of_train:]])
    return found


def _regression(train: FloatArray, test: FloatArray, x: int, around: Sequence[int]) -> FloatArray:
    """log p(x | blanket) of every test row, by least squares with the variance of the residuals."""
    n_rows = len(train)
    old = np.column_stack([np.ones(n_rows), train[:, list(around)]])
    weights, *_ = np.linalg.lstsq(old, train[:, x], rcond=None)
    left = train[:, x] - old @ weights
    spread = np.var(train[:, x])
    if spread <= 0.0:
        raise DataError(
            f"X must vary in every feature to be scored; feature {x} is constant in the training rows. Drop it."
        )
    variance = max(float(left @ left) / max(n_rows - old.shape[1], 1), 1e-9 * float(spread))
    missed = test[:, x] - np.column_stack([np.ones(len(test)), test[:, list(around)]]) @ weights
    found: FloatArray = -0.5 * (np.log(2.0 * np.pi * variance) + missed**2 / variance)
    return found
