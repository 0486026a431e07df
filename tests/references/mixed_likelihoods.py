"""Likelihood ratios of mixed variables the slow way: one regression after the other, by a general optimiser."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize
from scipy.special import logsumexp

from mnlearn.data import Dataset

from references.mixed_evidence import coding, features, helmert, rows_of

Floats = NDArray[np.float64]
RIDGE = 1e-4


def design(data: Dataset, members: Sequence[int], rows: NDArray[np.intp]) -> Floats:
    """Return the features of the members on these rows, in the ordered reading."""
    parts = [features(data, v, "ordered")[0][rows] for v in members]
    return np.hstack([np.empty((len(rows), 0)), *parts])


def log_likelihood(data: Dataset, x: int, members: Sequence[int], rows: NDArray[np.intp]) -> float:
    """Return the maximised log likelihood of x, less the ridge; of a number relative to no members."""
    f = design(data, members, rows)
    if not data.cards[x]:
        values, centred = features(data, x, "ordered")[0][rows, 0], f - f.mean(axis=0)
        values = values - values.mean()
        left = values - centred @ np.linalg.lstsq(centred, values, rcond=None)[0]
        return -0.5 * len(rows) * float(np.log(left @ left / (values @ values)))
    states, free = data.columns[x][rows].astype(int), helmert(data.cards[x])
    tested = coding(data, x, "ordered")[0]
    w, d = free.shape[1], tested.shape[1]

    def cost(t: Floats) -> tuple[float, Floats]:
        slopes = t[w:].reshape(f.shape[1], d)
        logits = free @ t[:w] + f @ slopes @ tested.T
        norm = logsumexp(logits, axis=1)
        p = np.exp(logits - norm[:, None])
        rest = np.eye(data.cards[x])[states] - p
        gradient = np.concatenate([(rest @ free).sum(axis=0), (f.T @ rest @ tested).ravel()])
        value = logits[np.arange(len(rows)), states].sum() - norm.sum() - 0.5 * RIDGE * t @ t
        return -float(value), -(gradient - RIDGE * t)

    start: Any = np.zeros(w + f.shape[1] * d)
    found = minimize(cost, start, jac=True, method="BFGS", options={"gtol": 1e-7, "maxiter": 5000})
    return -float(found.fun)


def width(data: Dataset, v: int, rows: NDArray[np.intp]) -> int:
    """Return the number of features that vary on these rows."""
    values = np.unique(data.columns[v][rows])
    return len(values) - 1 if data.kinds[v] == "nominal" else min(len(values) - 1, 1)


def ratio(data: Dataset, x: int, y: int, z: Sequence[int]) -> tuple[float, int, int]:
    """Return the statistic of x ⟂ y | z, its degrees of freedom, and the rows."""
    rows = rows_of(data, [x, y, *z])
    n, widths = len(rows), [width(data, v, rows) for v in (x, y)]
    m = n - 1 - sum(width(data, v, rows) for v in z) - (sum(widths) + 1) / 2
    gains = [
        log_likelihood(data, a, [*z, b], rows) - log_likelihood(data, a, list(z), rows) for a, b in ((x, y), (y, x))
    ]
    return m / n * sum(gains), widths[0] * widths[1], n
