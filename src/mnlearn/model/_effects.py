"""What each set of variables adds to log p that no smaller set could: the zero-sum form of a product of factors.

Every log-linear model has one way of being written as Σ_D e_D with each e_D of mean zero over any one of its variables;
e_D is then the pure interaction of D. Of an edge {u, v} it gives the log odds ratio, averaged over all else:

    ω(a, a′, b, b′) = e_uv(a, b) − e_uv(a′, b) − e_uv(a, b′) + e_uv(a′, b′)

and what higher interactions e_D, D ⊃ {u, v}, may add to or take from it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import combinations

import numpy as np

from mnlearn.graphs.graph import Edge
from mnlearn.protocols import FloatArray
from mnlearn.simulate.factors import Factor


def pure_interactions(factors: Iterable[Factor]) -> dict[tuple[int, ...], FloatArray]:
    """e_D of every set of two or more variables within a factor."""
    found: dict[tuple[int, ...], FloatArray] = {}
    for factor in factors:
        for size in range(2, len(factor.variables) + 1):
            for kept in combinations(range(len(factor.variables)), size):
                scope = tuple(factor.variables[axis] for axis in kept)
                part = _pure(factor.log_values, kept)
                found[scope] = found[scope] + part if scope in found else part
    return found


def edge_strength(edge: Edge, effects: Mapping[tuple[int, ...], FloatArray]) -> tuple[float, int | None]:
    """The root mean square of the log odds ratios over states a ≠ a′, b ≠ b′ and all else, and their sign.

    The terms of the zero-sum form are orthogonal, so their mean squares add up. Of two binary variables the strength is
    the absolute log odds ratio; there is a sign where no states of the others could turn it round.
    """
    square, direct, doubt = 0.0, 0.0, 0.0
    shape = (1, 1)
    for scope, table in effects.items():
        if edge[0] in scope and edge[1] in scope:
            axes = (scope.index(edge[0]), scope.index(edge[1]))
            shape = (table.shape[axes[0]], table.shape[axes[1]])
            square += float(np.mean(table**2))
            if len(scope) == 2:
                direct = 4.0 * float(table[0, 0])
            else:
                doubt += 4.0 * float(np.abs(table).max())
    if min(shape) < 2:
        return 0.0, None
    share = (1 - 1 / shape[0]) * (1 - 1 / shape[1])
    strength = float(np.sqrt(4.0 * square / share))
    sign = (1 if direct > 0 else -1) if shape == (2, 2) and abs(direct) > doubt else None
    return strength, sign


def _pure(log_values: FloatArray, kept: tuple[int, ...]) -> FloatArray:
    """Averaged over the axes that are not kept, and centred along each that is."""
    dropped = tuple(axis for axis in range(log_values.ndim) if axis not in kept)
    table = log_values.mean(axis=dropped)
    for axis in range(table.ndim):
        table = table - table.mean(axis=axis, keepdims=True)
    return np.asarray(table)
