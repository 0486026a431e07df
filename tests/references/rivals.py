"""Slow twins of the rivals: plain loops, densities by SciPy, and scikit-learn on raw rows."""

from __future__ import annotations

import warnings
from itertools import combinations
from math import exp, log, pi, sqrt

import numpy as np
from numpy.typing import NDArray

Rows = NDArray[np.float64]


def kernel_information(x: Rows, y: Rows, width: float) -> float:
    """The mean of log f(x, y) / f(x) f(y), each density a sum over all rows, term by term."""

    def kernel(distance: float) -> float:
        return exp(-0.5 * (distance / width) ** 2) / (sqrt(2 * pi) * width)

    total, n = 0.0, len(x)
    for i in range(n):
        of_x = [kernel(x[i] - x[j]) for j in range(n)]
        of_y = [kernel(y[i] - y[j]) for j in range(n)]
        joint = sum(a * b for a, b in zip(of_x, of_y, strict=True)) / n
        total += log(joint / (sum(of_x) / n * sum(of_y) / n))
    return max(total / n, 0.0)


def aracne(information: Rows, present: set[frozenset[int]], tolerance: float) -> set[frozenset[int]]:
    """Significant pairs without the weakest side of every triangle."""
    kept = set(present)
    for triangle in combinations(range(len(information)), 3):
        sides = [frozenset(side) for side in combinations(triangle, 2)]
        if not all(side in present for side in sides):
            continue
        for side in sides:
            others = [information[tuple(sorted(other))] for other in sides if other != side]
            if information[tuple(sorted(side))] < (1 - tolerance) * min(others):
                kept.discard(side)
    return kept


def lasso_support(rows: Rows, x: int, penalty: float) -> frozenset[int]:
    """Who has a weight in scikit-learn's lasso of x on all others, all standardized."""
    from sklearn.linear_model import Lasso

    z = (rows - rows.mean(0)) / rows.std(0)
    others = [y for y in range(rows.shape[1]) if y != x]
    solver = Lasso(alpha=penalty, tol=1e-10, max_iter=100_000).fit(z[:, others], z[:, x])
    return frozenset(y for y, weight in zip(others, solver.coef_, strict=True) if weight != 0)


def ebic(rows: Rows, x: int, chosen: frozenset[int], gamma: float) -> float:
    """N log σ² + |J| log N + 2 γ |J| log(n − 1) of the least-squares fit."""
    n_rows, n = rows.shape
    design = np.column_stack([np.ones(n_rows), rows[:, sorted(chosen)]])
    left = rows[:, x] - design @ np.linalg.lstsq(design, rows[:, x], rcond=None)[0]
    spread = float(left @ left) / n_rows
    return float(n_rows * log(spread) + len(chosen) * (log(n_rows) + 2 * gamma * log(n - 1)))


def ebic_neighborhood(rows: Rows, x: int, gamma: float) -> frozenset[int]:
    """The best set along the whole path of scikit-learn's LARS on raw rows."""
    from sklearn.linear_model import lars_path

    z = (rows - rows.mean(0)) / rows.std(0)
    others = [y for y in range(rows.shape[1]) if y != x]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        _, _, weights = lars_path(z[:, others], z[:, x], method="lasso")
    sets = [frozenset(others[k] for k in np.flatnonzero(column)) for column in weights.T]
    return min([frozenset[int](), *sets], key=lambda chosen: ebic(rows, x, chosen, gamma))


def graphical_lasso(rows: Rows, penalty: float) -> Rows:
    """The whole precision matrix at once."""
    from sklearn.covariance import graphical_lasso as solve

    return np.asarray(solve(np.corrcoef(rows.T), penalty, enet_tol=1e-9, tol=1e-7)[1])
