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


def ebic_glasso(correlation: Rows, n_rows: int, gamma: float = 0.5) -> Rows:
    """Partial correlations of the penalised estimate with the least extended BIC, as qgraph::EBICglasso defines it.

    100 penalties from the largest correlation down to a hundredth of it; the diagonal is not penalised. Each estimate
    by the alternating direction method of multipliers, from the one before.
    """
    n = len(correlation)
    largest = float(np.abs(correlation - np.eye(n)).max())
    estimate, dual, best, least = np.eye(n), np.zeros((n, n)), np.eye(n), np.inf
    for penalty in np.exp(np.linspace(np.log(largest), np.log(0.01 * largest), 100)):
        estimate, dual = _admm(correlation, float(penalty), estimate, dual)
        n_edges = int((np.triu(estimate, 1) != 0).sum())
        log_likelihood = n_rows / 2 * (np.linalg.slogdet(estimate)[1] - np.sum(correlation * estimate))
        criterion = -2 * log_likelihood + n_edges * np.log(n_rows) + 4 * n_edges * gamma * np.log(n)
        if criterion < least:
            best, least = estimate, criterion
    scale = np.sqrt(np.diag(best))
    return np.asarray(-best / np.outer(scale, scale) + 2 * np.eye(n))


def _admm(correlation: Rows, penalty: float, estimate: Rows, dual: Rows) -> tuple[Rows, Rows]:
    """Minimise tr(SΘ) − log det Θ + λ Σ_{u≠v} |Θ_uv|."""
    for _ in range(5000):
        values, vectors = np.linalg.eigh(estimate - dual - correlation)
        smooth = (vectors * ((values + np.sqrt(values**2 + 4)) / 2)) @ vectors.T
        moved = smooth + dual
        before, estimate = estimate, np.sign(moved) * np.maximum(np.abs(moved) - penalty, 0)
        np.fill_diagonal(estimate, np.diag(moved))
        dual = moved - estimate
        if max(np.abs(smooth - estimate).max(), np.abs(estimate - before).max()) < 1e-7:
            break
    return estimate, dual
