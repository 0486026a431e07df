"""The promise of every variable for x given z, table by table."""

from __future__ import annotations

from math import log, log1p, pi

import numpy as np

from mnlearn.data.dataset import Dataset
from mnlearn.protocols import VarSet


def promises(data: Dataset, x: int, z: VarSet) -> dict[int, float]:
    """The larger of one step of the pairwise model and of chi-square in all strata less their price."""
    columns = np.stack([np.asarray(column) for column in data.columns])
    strata = np.unique(columns[sorted(z)], axis=1, return_inverse=True)[1].ravel() if z else np.zeros(data.n_rows, int)
    found = {}
    for y in range(len(columns)):
        if y == x or y in z:
            continue
        total = variance = squares = cost = 0.0
        for s in range(int(strata.max(initial=0)) + 1):
            in_x, in_y = columns[x][strata == s] == 0, columns[y][strata == s] == 0
            n, a, b = len(in_x), int(in_x.sum()), int(in_y.sum())
            d, v = float((in_x & in_y).sum()) - a * b / n, a * (n - a) * b * (n - b) / n**3
            total, variance, squares = total + d, variance + v, squares + (d * d / v if v else 0.0)
            cost += log1p(pi / 8 * n) / 2
        pairwise = total**2 / (2 * variance + 1) - log(2 * variance + 1) / 2
        found[y] = max(pairwise, squares / 2 - cost)
    return found
