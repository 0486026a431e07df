"""How well a structure, fitted to some rows, foretells others: the log pseudo-likelihood of held-out rows."""

from __future__ import annotations

from collections.abc import Iterator
from math import fsum

import numpy as np

from mnlearn.data import Dataset
from mnlearn.data.rows import take
from mnlearn.errors import InputError, whole_number
from mnlearn.graphs.graph import Graph
from mnlearn.protocols import FloatArray, Score
from mnlearn.scores.mpl import MPL
from mnlearn.statistics import Counts

_LEAST_SHARE = 1e-10  # the share of a variance that counts as something left, as in `Moments`


def folds_of(rows: Dataset, n_folds: int, seed: int) -> Iterator[tuple[Dataset, Dataset]]:
    """The rows without each fold, and the fold; a stored row that occurred often stays in one piece."""
    whole_number("n_folds", n_folds, least=2, way_out="Usual are 5 and 10.")
    if rows.n_records < 2 * n_folds:
        raise InputError(
            f"n_folds must leave at least 2 different rows in each fold; got {n_folds} for {rows.n_records} rows. Take "
            "fewer folds, or choose by the criterion (choose='ebic')."
        )
    order = np.random.default_rng(seed).permutation(rows.n_records)
    for fold in range(n_folds):
        held = np.zeros(rows.n_records, dtype=np.bool_)
        held[order[fold::n_folds]] = True
        yield take(rows, np.flatnonzero(~held)), take(rows, np.flatnonzero(held))


def heldout_score(rows: Dataset, train: Dataset, test: Dataset) -> Score:
    """The score of graphs by what they foretell of the test rows; `rows` are both together."""
    return _Tables(rows, train) if any(rows.cards) else _Regressions(train, test)


class _Regressions:
    """Σ_i Σ_rows log N(x_i; its regression on M_i): coefficients and variances from the training rows."""

    def __init__(self, train: Dataset, test: Dataset) -> None:
        origin, weights = _matrix(train)[0], _weights(train)
        reach = np.abs(_matrix(train) - origin).max(axis=0)  # of the order of 1 from here on: squares keep to floats
        reach[reach == 0.0] = 1.0
        rows, new = ((_matrix(part) - origin) / reach for part in (train, test))
        mean = np.average(rows, axis=0, weights=weights)
        spread = np.sqrt(np.average((rows - mean) ** 2, axis=0, weights=weights))
        unit = np.where(spread > 0.0, spread, 1.0)
        known = (rows - mean) / unit * np.sqrt(weights / weights.sum())[:, None]
        self.n_variables = train.n_variables
        self._covariance, self._log_unit = known.T @ known, np.log(unit) + np.log(reach)
        self._new, self._weights = (new - mean) / unit, _weights(test)

    def __call__(self, graph: Graph) -> float:
        return fsum(self._local(x, sorted(graph.neighbors(x))) for x in range(self.n_variables))

    def _local(self, x: int, blanket: list[int]) -> float:
        """The log density of the new values of x given those of its blanket."""
        shared = self._covariance[blanket, x]
        slopes = np.linalg.lstsq(self._covariance[np.ix_(blanket, blanket)], shared, rcond=_LEAST_SHARE)[0]
        variance = max(float(self._covariance[x, x] - slopes @ shared), _LEAST_SHARE)
        missed = self._new[:, x] - self._new[:, blanket] @ slopes
        constant = 0.5 * np.log(2.0 * np.pi * variance) + self._log_unit[x]
        return -float(self._weights @ (constant + 0.5 * missed**2 / variance))


class _Tables:
    """log p(test rows | training rows), Dirichlet priors of 1/2: what MPL says of all less of those."""

    def __init__(self, rows: Dataset, train: Dataset) -> None:
        self.n_variables = rows.n_variables
        self._all, self._train = (MPL(Counts(part), graph_prior=None) for part in (rows, train))

    def __call__(self, graph: Graph) -> float:
        return self._all(graph) - self._train(graph)


def _matrix(rows: Dataset) -> FloatArray:
    return np.column_stack([np.asarray(column, dtype=np.float64) for column in rows.columns])


def _weights(rows: Dataset) -> FloatArray:
    return np.ones(rows.n_records) if rows.repeats is None else rows.repeats.astype(np.float64)
