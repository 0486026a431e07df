"""Slow twins for the logistic neighbourhoods: plain optimisation of the written objective, term by term."""

from __future__ import annotations

from itertools import combinations
from math import log

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize

Codes = NDArray[np.int64]


def columns_of(codes: Codes) -> tuple[NDArray[np.float64], list[int]]:
    """One column of −½, ½ for two states that occur, one of 0, 1 for each of more; and whose each is."""
    columns, owners = [], []
    for y in range(codes.shape[1]):
        seen = sorted(set(codes[:, y].tolist()))
        if len(seen) == 2:
            columns.append([0.5 if value == seen[1] else -0.5 for value in codes[:, y]])
            owners.append(y)
        elif len(seen) > 2:
            for state in seen:
                columns.append([float(value == state) for value in codes[:, y]])
                owners.append(y)
    return np.array(columns).reshape(len(columns), len(codes)).T, owners


def multinomial_log_likelihood(codes: Codes, x: int, chosen: frozenset[int]) -> float:
    """max log L of x given the chosen, by a general optimiser; a ridge of 1e-6 keeps it finite."""
    design, owners = columns_of(codes)
    X = np.column_stack([np.ones(len(codes)), design[:, [k for k, y in enumerate(owners) if y in chosen]]])
    states = np.unique(codes[:, x], return_inverse=True)[1].reshape(-1)
    n_states = states.max() + 1

    own = np.eye(n_states)[states]

    def loss(flat: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        logits = X @ flat.reshape(X.shape[1], n_states)
        log_p = logits - logits.max(axis=1, keepdims=True)
        log_p -= np.log(np.exp(log_p).sum(axis=1, keepdims=True))
        slope = X.T @ (np.exp(log_p) - own)
        return -float((log_p * own).sum()) + 5e-7 * float(flat @ flat), slope.reshape(-1) + 1e-6 * flat

    found = minimize(loss, np.zeros(X.shape[1] * n_states), jac=True, method="BFGS", options={"gtol": 1e-5})
    return -loss(found.x)[0]


def bic(codes: Codes, x: int, chosen: frozenset[int], gamma: float) -> float:
    """−2 log L + k log n + 2 γ |J| log(d − 1)."""
    n, d = codes.shape
    sizes = [len(set(codes[:, y].tolist())) for y in range(d)]
    parameters = (sizes[x] - 1) * sum(sizes[y] - 1 for y in chosen)
    fit = multinomial_log_likelihood(codes, x, chosen)
    return -2 * fit + parameters * log(n) + 2 * gamma * len(chosen) * log(max(d - 1, 1))


def best_subset(codes: Codes, x: int, gamma: float) -> frozenset[int]:
    """The set of regressors with the least criterion among all: what the path is to find."""
    others = [y for y in range(codes.shape[1]) if y != x and len(set(codes[:, y].tolist())) > 1]
    sets = [frozenset(c) for size in range(len(others) + 1) for c in combinations(others, size)]
    return min(sets, key=lambda chosen: bic(codes, x, chosen, gamma))


def penalised_gap(codes: Codes, target: NDArray[np.bool_], active: list[int], penalty: float) -> float:
    """How far the conditions of an l1 optimum are broken when only these columns may be in, as a share of the penalty.

    The penalised problem on the active columns is solved by a general optimiser with each weight split in two
    non-negative parts; then |x_jᵀ(y − p)| may exceed the penalty for no column that is out.
    """
    design, _ = columns_of(codes)
    X = design[:, active]
    k = X.shape[1]

    def objective(parts: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        weights, intercept = parts[:k] - parts[k : 2 * k], parts[2 * k]
        margin = X @ weights + intercept
        value = np.logaddexp(0, margin).sum() - margin[target].sum() + penalty * parts[: 2 * k].sum()
        residual = 1 / (1 + np.exp(-margin)) - target
        slope = X.T @ residual
        return float(value), np.concatenate([slope + penalty, -slope + penalty, [residual.sum()]])

    start = np.zeros(2 * k + 1)
    found = minimize(objective, start, jac=True, method="L-BFGS-B", bounds=[(0, None)] * (2 * k) + [(None, None)],
                     options={"ftol": 1e-15, "gtol": 1e-9, "maxiter": 5000})  # fmt: skip
    weights, intercept = found.x[:k] - found.x[k : 2 * k], found.x[2 * k]
    residual = target - 1 / (1 + np.exp(-(X @ weights + intercept)))
    outside = [j for j in range(design.shape[1]) if j not in active]
    gradient = np.abs(design[:, outside].T @ residual)
    return float(max(gradient.max(initial=0.0) / penalty - 1, 0.0))
