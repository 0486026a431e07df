"""Counts, scans, moments and elementary functions."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

import mnlearn as mn
from golden.engine import cases_of
from golden.tables import as_dataset, numbers
from mnlearn import _elementary, statistics

case = cases_of(__name__)

KERNELS = {
    "chi2": statistics.kernels.chi2(),
    "g2": statistics.kernels.g2("observed"),
    "mi": statistics.kernels.mi(),
    "bayes": statistics.kernels.bayes(),
    "dirichlet": statistics.kernels.dirichlet(),
    "sample size": statistics.kernels.dirichlet(sample_size=2.0),
    "entropy": statistics.kernels.entropy(),
}


def reductions(data: str) -> object:
    """Score tables by every kernel and every form of a scan."""
    table = as_dataset(data)
    counts, z = mn.Counts(table, n_jobs=1), frozenset({1, 2})
    found = {}
    for name, kernel in KERNELS.items():
        many = counts.reduce_many(kernel, [0, 3], [[3, 4], [0]], [z, frozenset({4})])
        found[name] = {
            "one": counts.reduce(kernel, 0, [3, 4], z),
            "all": counts.reduce_all(kernel),
            "many": many,
            "local": counts.local(kernel, 0, z),
            "members": counts.members(kernel, [0, 4], [z, frozenset({0, 3})]),
            "without": counts.without(kernel, [0, 4], [z, frozenset({0, 3})]),
        }
    return found


def tables_of(data: str) -> object:
    """Count tables whole, in parts, and from shards in this process; all three must agree."""
    table = as_dataset(data)
    counts = mn.Counts(table, n_jobs=1)
    whole = counts.tables(0, [3, 4], frozenset({1, 2}))
    with TemporaryDirectory() as folder:
        packed = mn.pack(table, Path(folder) / "rows.mnpack")
        shards = statistics.ShardedCounts(None, statistics.row_shards(packed, 3), n_jobs=1)
        sharded = shards.tables(0, [3, 4], frozenset({1, 2}))
        sums = [shards.reduce_all(kernel) for kernel in KERNELS.values()]
    scores = [statistics.score_tables(kernel, whole, table.cards) for kernel in KERNELS.values()]
    same = [np.array_equal(a, b) for a, b in zip(whole.counts, sharded.counts, strict=True)]
    return {
        "strata": whole.strata,
        "counts": [part.astype(np.int64) for part in whole.counts],
        "sharded equal": all(same) and np.array_equal(whole.strata, sharded.strata),
        "sharded scores": sums,
        "scores": scores,
        "cells": counts.cells(0, frozenset({1, 2})),
    }


for _data in ("survey", "states", "small", "tiny"):
    case(f"statistics reduce {_data}", _data)(reductions)
for _data in ("states", "small"):
    case(f"statistics tables {_data}", _data)(tables_of)


@case("statistics moments")
def moments() -> object:
    """Read correlations, partial correlations and entropies of continuous variables."""
    found, rows = mn.Moments(numbers()), statistics.Rows(numbers())
    return {
        "covariance": found.covariance[:3, :3],
        "correlation": found.correlation[0],
        "partial": found.partial_correlations(0, [3, 4, 5], {1, 2}),
        "members": found.member_correlations(0, {1, 2, 3}),
        "conditional": found.conditional_correlation([0, 1, 2], {3, 4}),
        "entropies": found.conditional_entropies(0, [3, 4], {1}),
        "entropy": found.conditional_entropy(0, {1, 2}),
        "ranks": rows.rank_correlation()[0],
    }


@case("statistics normal scores", close=True)
def normal_scores() -> object:
    """Compute normal scores, whose quantiles come from SciPy."""
    return statistics.Rows(numbers()).normal_scores()[:, 0][:10]


ELEMENTARY = ("exp", "expm1", "log", "log1p", "log2", "atanh", "cbrt", "erf", "erfc", "log_gamma")


@case("elementary functions")
def elementary_functions() -> object:
    """Compute each elementary function for numbers of every size and sign."""
    sizes = np.ldexp(1.0 + np.arange(64) / 64.0, np.arange(-1074, 1024)[:, None]).ravel()
    near = np.arange(-40_000, 40_000) / 9_973.0
    x = np.concatenate([sizes, -sizes, near, 1.0 + near * 1e-6, 2.0 + near * 1e-6, near * 80.0])
    return {name: np.nan_to_num(getattr(_elementary, name)(x)) + 0.0 for name in ELEMENTARY}
