"""Screens the slow way: every pair in a dictionary, every list sorted."""

from __future__ import annotations

from itertools import combinations
from math import log, nan

import numpy as np
from numpy.typing import NDArray
from scipy.stats import chi2

from mnlearn.data import Dataset


def table(data: Dataset, x: int, y: int) -> NDArray[np.int64]:
    """Return the contingency table of the rows in which both are observed, without empty rows and columns."""
    rows = np.ones(data.n_records, dtype=bool)
    for v in (x, y):
        observed = data.observed(v)
        rows &= True if observed is None else observed
    weights = np.ones(data.n_records, dtype=np.int64) if data.repeats is None else data.repeats
    counts = np.zeros((data.cards[x], data.cards[y]), dtype=np.int64)
    codes = [np.asarray(data.columns[v][rows], dtype=np.int64) for v in (x, y)]
    np.add.at(counts, tuple(codes), weights[rows])
    counts = counts[counts.sum(axis=1) > 0]
    return np.asarray(counts[:, counts.sum(axis=0) > 0])


def evidence(counts: NDArray[np.int64], statistic: str) -> float:
    """Return the statistic of a table on the scale of one degree of freedom, or its information in nats."""
    n, dof = int(counts.sum()), (counts.shape[0] - 1) * (counts.shape[1] - 1)
    if dof <= 0:
        return 0.0
    expected = np.outer(counts.sum(axis=1), counts.sum(axis=0)) / n
    if statistic == "x2":
        value = float(((counts - expected) ** 2 / expected).sum())
    else:
        cells = zip(counts.ravel().tolist(), expected.ravel().tolist(), strict=True)
        value = 2.0 * sum(o * log(o / e) for o, e in cells if o)
    if statistic == "mi":
        return value / (2 * n)
    tail = float(chi2.sf(value, dof))
    return value if dof == 1 else float(chi2.isf(tail, 1)) if tail > 1e-290 else nan  # too small for this way


def kept_pairs(
    n_variables: int, values: dict[tuple[int, int], float], k: int | None, least: float
) -> dict[tuple[int, int], float]:
    """Return the pairs that are among the k strongest of either end, of those with enough evidence."""
    enough = {pair: value for pair, value in values.items() if value > 0 and value >= least}
    if k is None:
        return enough
    chosen: set[tuple[int, int]] = set()
    for x in range(n_variables):
        mine = [(-value, u + v - x, (u, v)) for (u, v), value in enough.items() if x in (u, v)]
        chosen |= {pair for _, _, pair in sorted(mine)[:k]}
    return {pair: enough[pair] for pair in chosen}


def all_evidence(data: Dataset, statistic: str) -> dict[tuple[int, int], float]:
    """Return the evidence of every pair."""
    return {(u, v): evidence(table(data, u, v), statistic) for u, v in combinations(range(data.n_variables), 2)}
