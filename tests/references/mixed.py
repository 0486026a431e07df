"""Mixed networks the slow way: row by row, state by state, and by integration on a grid."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from math import exp, log, pi
from typing import Any

import numpy as np

from mnlearn.regression.features import Features, Interactions

Row = Sequence[float | None]  # codes and standardised numbers; None where a value is missing


def phi(features: Features, value: float) -> list[float]:
    """The features of one value."""
    return features.table[int(value)].tolist() if features.card else [value][: features.size]


def eta(features: Sequence[Features], found: Interactions, x: int, row: Row) -> list[float]:
    """Σ_v W_xv φ_v, one sum after the other."""
    total = [0.0] * features[x].size
    for (u, v), weights in found.weights.items():
        if x not in (u, v):
            continue
        y = v if x == u else u
        other = phi(features[y], row[y])  # type: ignore[arg-type]
        for i in range(features[x].size):
            for k, value in enumerate(other):
                total[i] += float(weights[i, k] if x == u else weights[k, i]) * value
    return total


def log_local(features: Sequence[Features], found: Interactions, x: int, row: Row) -> float:
    """log p(x | its neighbours) of one row."""
    field, each = eta(features, found, x, row), features[x]
    if not each.card:
        k, h = float(found.curvature[x]), float(found.linear[x])
        mean = (h + sum(field)) / k
        return 0.5 * log(k / (2 * pi)) - 0.5 * k * (row[x] - mean) ** 2  # type: ignore[operator]
    logits = [
        float(found.thresholds[x][a]) + sum(f * p for f, p in zip(field, phi(each, a), strict=True))
        for a in range(each.card)
    ]
    return logits[int(row[x])] - log(sum(map(exp, logits)))  # type: ignore[arg-type]


def penalised(features: Sequence[Features], found: Interactions, rows: Sequence[Row], ridge: float) -> float:
    """The penalised pseudo-likelihood; a variable has the rows in which it and its neighbours are known."""
    total = 0.0
    for x, each in enumerate(features):
        if not each.size and not each.card:
            continue
        family = {x} | {y for edge in found.weights if x in edge for y in edge}
        total += sum(log_local(features, found, x, row) for row in rows if all(row[y] is not None for y in family))
        unit = 1.0 if each.card else 1.0 / float(found.curvature[x])
        total -= ridge / 2 * float((found.thresholds[x] ** 2).sum() + found.linear[x] ** 2 * unit)
        total -= ridge / 4 * unit * sum(float((w**2).sum()) for edge, w in found.weights.items() if x in edge)
    return total


def exponent(features: Sequence[Features], found: Interactions, row: Row) -> float:
    """log p + log Z of a complete row."""
    total = 0.0
    for x, each in enumerate(features):
        value = float(row[x])  # type: ignore[arg-type]
        if each.card:
            total += float(found.thresholds[x][int(value)])
        else:
            total += float(found.linear[x]) * value - float(found.curvature[x]) / 2 * value**2
    for (u, v), weights in found.weights.items():
        total += float(np.array(phi(features[u], row[u])) @ weights @ np.array(phi(features[v], row[v])))  # type: ignore[arg-type]
    return total


def grid_joint(features: Sequence[Features], found: Interactions, points: np.ndarray) -> tuple[list[Any], np.ndarray]:
    """Every configuration of states and grid points of numbers, and its share of the mass."""
    axes = [range(each.card) if each.card else points.tolist() for each in features]
    rows = list(product(*axes))
    logs = np.array([exponent(features, found, row) for row in rows])
    mass = np.exp(logs - logs.max())
    return rows, mass / mass.sum()
