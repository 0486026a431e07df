"""The best of a sum of small tables, by elimination: exact wherever the tables that arise stay small."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from mnlearn.graphs.graph import Graph
from mnlearn.simulate.elimination import elimination_order, joint_log_values
from mnlearn.simulate.factors import Factor

LARGEST_TABLE = 2**20
"""Cells of the largest table that elimination may make."""


def best_of_sum(
    factors: Sequence[Factor], cards: Sequence[int], graph: Graph
) -> tuple[float, NDArray[np.int64]] | None:
    """max_x Σ_f f(x_f) and an x that has it; None if a table would have more than 2^20 cells.

    One variable after the other is maximised out of the tables that hold it; then their values follow backwards.
    """
    order = elimination_order(graph, cards)
    if max((cells for _, cells in order), default=1) > LARGEST_TABLE:
        return None
    waiting: list[dict[int, Factor]] = [{} for _ in cards]  # by variable: the tables that hold it
    numbered = list(factors)
    for number, factor in enumerate(numbered):
        for y in factor.variables:
            waiting[y][number] = factor
    total, choices = 0.0, []
    for x, _ in order:
        mine = dict(waiting[x])
        scope = tuple(sorted({y for factor in mine.values() for y in factor.variables} - {x}))
        table = joint_log_values(mine.values(), (*scope, x), cards)
        choices.append((x, scope, table.argmax(-1)))
        for number, factor in mine.items():
            for y in factor.variables:
                del waiting[y][number]
        if scope:
            numbered.append(Factor(scope, table.max(-1)))
            for y in scope:
                waiting[y][len(numbered) - 1] = numbered[-1]
        else:
            total += float(table.max())
    best = np.zeros(len(cards), dtype=np.int64)
    for x, scope, choice in reversed(choices):
        best[x] = choice[tuple(best[list(scope)])]
    return total, best
