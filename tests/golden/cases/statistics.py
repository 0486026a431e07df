"""Counts, scans, moments and elementary functions."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

import mnlearn as mn
from golden.engine import cases_of, jobs
from golden.tables import as_dataset, declared, near_copies, numbers
from mnlearn import numbers as _elementary
from mnlearn import statistics

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
    counts, z = mn.Counts(table, n_jobs=jobs()), frozenset({1, 2})
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
    counts = mn.Counts(table, n_jobs=jobs())
    whole = counts.tables(0, [3, 4], frozenset({1, 2}))
    with TemporaryDirectory() as folder:
        packed = mn.pack(table, Path(folder) / "rows.mnpack")
        shards = statistics.ShardedCounts(None, statistics.row_shards(packed, 3), n_jobs=jobs())
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


# --- Declared kinds, gaps, weights and repeats of rows --------------------------------------------------------------

for _data in ("answers gaps", "answers repeats"):
    case(f"statistics reduce {_data}", _data)(reductions)


@case("statistics shards")
def shards() -> object:
    """Count, screen and learn from shards in this process; all as from whole rows."""
    found = {}
    with TemporaryDirectory() as folder:
        for name in ("answers repeats", "states"):
            packed = mn.pack(as_dataset(name), Path(folder) / f"{name}.mnpack")
            parts = statistics.ShardedCounts(None, statistics.row_shards(packed, 3), n_jobs=jobs())
            whole = mn.Counts(as_dataset(name), n_jobs=jobs())
            xs, zs = [0, 4], [frozenset({1, 2}), frozenset({0, 3})]
            kernels = KERNELS.items()
            near = parts.screen(2)
            found[name] = {
                "pairs": {kernel: parts.reduce_pairs(chosen, range(3)) for kernel, chosen in kernels},
                "local": {kernel: parts.local(chosen, 0, zs[0]) for kernel, chosen in kernels},
                "members": {kernel: parts.members(chosen, xs, zs) for kernel, chosen in kernels},
                "without": {kernel: parts.without(chosen, xs, zs) for kernel, chosen in kernels},
                "equal": all(np.array_equal(parts.reduce_all(k), whole.reduce_all(k)) for k in KERNELS.values()),
                "screen": [near.starts, near.partners, near.evidence],
                "learned": {
                    "gsmn": mn.GSMN().learn(mn.ChiSquare(parts)).graph,
                    "mpl": mn.TwoPhase().learn(mn.MPL(parts)).graph,
                    "sep": mn.SeparatorEvidence().learn(mn.HybridEvidence(parts)).support,
                },
            }
    return found


def likelihoods(data: str) -> object:
    """Fit the regressions that the mixed test and scores ask for."""
    table = as_dataset(data)
    found, n = mn.MixedLikelihoods(table, n_jobs=jobs()), table.n_variables
    xs, zs = list(range(n)), [frozenset({(x + 1) % n, (x + 2) % n}) for x in range(n)]
    others = [[y for y in range(n) if y != x and y not in z] for x, z in zip(xs, zs, strict=True)]
    return {
        "ratios": found.ratios(xs, others, zs),
        "alone": found.local(xs, [frozenset()] * n),
        "local": found.local(xs, zs),
        "additions": found.additions(xs, zs, others),
    }


for _data in ("clinic", "clinic repeats", "ratings", "events"):
    case(f"statistics likelihoods {_data}", _data)(likelihoods)


@case("statistics ratios with gaps")
def ratios_with_gaps() -> object:
    """Compare fits to the rows of each question."""
    found = mn.MixedLikelihoods(declared("clinic gaps"), n_jobs=jobs())
    return found.ratios([0, 3, 4], [[2, 5], [6, 7], [1, 0]], [frozenset({1}), frozenset(), frozenset({5, 6})])


@case("statistics moments with gaps")
def moments_with_gaps() -> object:
    """Read correlations of the rows of each question, and moments of weighted rows."""
    found = statistics.TestwiseMoments(declared("sizes gaps"), n_jobs=jobs())
    weighted = mn.Moments(declared("sizes weights"))
    return {
        "pairs": found.measured_pairs(),
        "all": found.correlations_all(),
        "partial": found.measured(0, [3, 4, 5], {1, 2}),
        "members": found.measured_members(0, {1, 2, 3}),
        "rows": found.question_rows(0, [3, 4, 5], {1, 2}),
        "weighted": [weighted.covariance, weighted.partial_correlations(0, [3, 4], {1, 2})],
    }


@case("statistics near copies")
def moments_of_near_copies() -> object:
    """Read partial correlations of a column, its near copy and its copy but for rounding."""
    found = {noise: mn.Moments(near_copies(noise)) for noise in (1e-3, 1e-6)}
    return {
        str(noise): {
            "partial": moments.partial_correlations(2, [0, 3, 4], {1}),
            "both": moments.partial_correlations(3, [2, 4], {0, 1}),
            "members": moments.member_correlations(2, {0, 1, 3}),
            "entropies": moments.conditional_entropies(2, [0, 3], {1}),
            "explained": moments.explained(),
        }
        for noise, moments in found.items()
    }
