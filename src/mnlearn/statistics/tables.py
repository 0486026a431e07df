"""Counted tables: added up over disjoint rows, and scored without the rows."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import inf, log, prod

import numpy as np

from mnlearn import _core
from mnlearn.errors import InputError
from mnlearn.protocols import FloatArray, Kernel, Tables


def add_tables(parts: Iterable[Tables]) -> Tables:
    """Add up tables of the same question over disjoint sets of rows.

    The sum has the same integers, in the same order, as counting all rows at once.
    """
    tables = list(parts)
    if not tables:
        raise InputError("parts must hold at least one Tables; got none. Count at least one shard.")
    first = tables[0]
    if any((t.x, t.ys, t.z) != (first.x, first.ys, first.z) for t in tables):
        raise InputError("parts must answer the same question (x, ys, z); got different ones. Ask each shard the same.")
    if any([c.shape[1:] for c in t.counts] != [c.shape[1:] for c in first.counts] for t in tables):
        raise InputError("parts must agree on the states of each variable; got different ones. Declare the levels.")
    stacked = np.concatenate([t.strata for t in tables])
    if first.z:
        strata, place = np.unique(stacked, axis=0, return_inverse=True)
    else:  # the one empty configuration
        strata, place = stacked[:1], np.zeros(len(stacked), dtype=np.intp)
    place = place.reshape(-1)
    sums = []
    for k in range(len(first.ys)):
        total = np.zeros((len(strata), *first.counts[k].shape[1:]), dtype=np.int64)
        np.add.at(total, place, np.concatenate([t.counts[k] for t in tables]))
        sums.append(total)
    return Tables(first.x, first.ys, first.z, strata, tuple(sums))


def score_tables(kernel: Kernel, tables: Tables, cards: Sequence[int]) -> FloatArray:
    """Score counted tables: the same numbers as `Counts.reduce` on the rows they were counted from."""
    z_cards = [cards[v] for v in tables.z]
    configurations = float(prod(z_cards)) if sum(map(log, z_cards)) < 700 else inf
    columns = [
        _core.score_table(
            kernel.name, kernel.settings, counts, int(counts.sum()), configurations, float(sum(map(log, z_cards)))
        )
        for counts in tables.counts
    ]
    return np.array(columns, dtype=np.float64).reshape(len(columns), len(kernel.outputs)).T
