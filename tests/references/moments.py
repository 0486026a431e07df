"""Slow twins of `Moments`: regressions on the rows, one pair at a time."""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence

import numpy as np
from scipy.linalg import solve_triangular
from scipy.linalg.lapack import dpstrf

from mnlearn.data.dataset import Dataset
from mnlearn.protocols import FloatArray, IntArray

EXPLAINED, CLEAR, LARGEST = 1e-10, 1e-6, 1.0 - 2.0**-53


def dataset_of(rows: FloatArray, repeats: IntArray | None = None) -> Dataset:
    """A dataset of continuous variables, one per column of `rows`."""
    n_variables = rows.shape[1]
    return Dataset(
        names=tuple(f"v{i}" for i in range(n_variables)),
        cards=(0,) * n_variables,
        columns=tuple(np.ascontiguousarray(rows[:, i]) for i in range(n_variables)),
        levels=(None,) * n_variables,
        repeats=repeats,
    )


def linked_rows(rng: np.random.Generator, n_rows: int, n_variables: int) -> FloatArray:
    """Gaussian rows whose variables depend on one another, none of them nearly a sum of the others."""
    mixing = np.eye(n_variables) + rng.uniform(-0.9, 0.9, (n_variables, n_variables)) / n_variables
    return np.asarray(rng.standard_normal((n_rows, n_variables)) @ mixing + 0.5 * rng.standard_normal(n_variables))


def residual(rows: FloatArray, x: int, z: Collection[int]) -> FloatArray:
    """Residuals of x after an ordinary least-squares regression on z and a constant."""
    design = np.column_stack([np.ones(len(rows)), *(rows[:, v] for v in sorted(z))])
    weights = np.linalg.lstsq(design, rows[:, x], rcond=None)[0]
    return np.asarray(rows[:, x] - design @ weights)


def partial_correlation(rows: FloatArray, x: int, y: int, z: Collection[int]) -> float:
    """The correlation of two residuals; 0 if one of them is nothing."""
    a, b = residual(rows, x, z), residual(rows, y, z)
    spread_a, spread_b = np.linalg.norm(residual(rows, x, ())), np.linalg.norm(residual(rows, y, ()))
    if a @ a <= EXPLAINED * spread_a**2 or b @ b <= EXPLAINED * spread_b**2:
        return 0.0
    return float(a @ b / np.sqrt((a @ a) * (b @ b)))


def conditional_entropy(rows: FloatArray, x: int, z: Collection[int]) -> float:
    """The entropy of a Gaussian with the variance (divisor N) of the residual."""
    return 0.5 * float(np.log(2.0 * np.pi * math.e * np.mean(residual(rows, x, z) ** 2)))


def partial_by_lapack(correlation: FloatArray, x: int, ys: Sequence[int], z: Collection[int]) -> FloatArray:
    """Partial correlations from a correlation matrix; NaN where 1e-6 of some variance or less is left."""
    members = np.array([v for v in sorted(z) if correlation[v, v]], dtype=np.int64)
    varies, everyone = np.diag(correlation), np.array([x, *ys], dtype=np.int64)
    solved, shares = np.empty((0, len(everyone))), np.ones(1)
    if members.size:
        factor, order, _, _ = dpstrf(correlation[np.ix_(members, members)], tol=0.0, lower=1)
        shares = np.square(np.diag(factor))
        solved = solve_triangular(factor, correlation[np.ix_(members[order - 1], everyone)], lower=True)
    left = varies[everyone] - np.square(solved).sum(axis=0)
    r = (correlation[x, everyone] - solved[:, 0] @ solved)[1:] / np.sqrt(np.maximum(left[1:] * left[0], 1e-300))
    r[np.minimum(left[1:], min(left[0], float(shares.min()))) <= CLEAR] = np.nan
    r[varies[everyone[1:]] * varies[x] == 0.0] = 0.0
    return np.asarray(np.clip(r, -LARGEST, LARGEST))
