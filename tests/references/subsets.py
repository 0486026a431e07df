"""Slow twin of a level of PC-stable, one question at a time, and what two searches are compared by."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np

from mnlearn.protocols import BaseTest, IndependenceTest, Result, SubsetWalk


def walk_of(judge: IndependenceTest) -> SubsetWalk:
    assert isinstance(judge, BaseTest)
    walk = judge.subsets()
    assert walk is not None
    return walk


def level_by_scans(
    judge: IndependenceTest, size: int, around: np.ndarray[Any, Any]
) -> tuple[dict[tuple[int, int], tuple[tuple[int, ...], float]], np.ndarray[Any, Any], int]:
    """Reference implementation of `SubsetWalk.separate`: separators, weakest evidence, questions."""
    n, left, found, asked = len(around), around.copy(), {}, 0
    weakest = np.full((n, n), np.nan)
    for x in range(n):
        for z in combinations(np.flatnonzero(around[x]).tolist(), size):
            ys = [y for y in np.flatnonzero(left[x]).tolist() if y not in z and (y > x or not around[y, list(z)].all())]
            asked += len(ys)
            for y in ys:
                answer = judge(x, y, frozenset(z))
                assert answer.log_support is not None
                weakest[x, y] = np.fmax(weakest[x, y], answer.log_support)
                if answer.independent:
                    left[x, y] = left[y, x] = False
                    found[x, y] = z, answer.log_support
    return found, weakest, asked


def without_seconds(result: Result) -> dict[str, float]:
    return {key: value for key, value in result.cost.items() if key != "seconds"}


def account(result: Result) -> tuple[object, ...]:
    """Everything but the time."""
    return result.graph, result.support, result.separators, result.pdag, without_seconds(result), result.converged
