"""What a blanket claims about its variable: the Markov blanket closure, weighed by an independence posterior.

Schlüter, Bromberg & Edera, AMAI (2014), Definition 2  [IBMAP14]; Eq. 8 of [BJP18]. A variable x with the blanket B
claims x ⟂ y | B of every y outside B, and x ⟂̸ y | B − y of every y in B. IB adds up all claims of all variables; BJP,
one claim of each pair.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import inf, log, nan, ulp
from typing import cast

import numpy as np

from mnlearn.errors import InputError, UnsuitableError
from mnlearn.graphs.graph import Graph
from mnlearn.protocols import (
    BatchedPosterior,
    BoolArray,
    FloatArray,
    IndependencePosterior,
    Indices,
    IntArray,
    LogOdds,
    VarSet,
)

LEAST = log(ulp(0.0))
"""What a claim of probability 0 counts as: the log of the smallest positive number, so that all sums stay finite."""


def claims(
    posterior: IndependencePosterior, xs: Sequence[int], blankets: Sequence[VarSet], wanted: BoolArray | None = None
) -> FloatArray:
    """log Pr of what each blanket claims of its x and each other variable  [BJP18, Eq. 8]; a row per x, 0 at x itself.

    `wanted` has a row per x, too; all is wanted if it is left out. What is not wanted is NaN, unless it came along for
    free: all members of a blanket do if one of them is wanted.
    """
    rows = np.full((len(xs), posterior.n_variables), nan)
    scans, sets = list[tuple[int, IntArray]](), list[int]()
    for k, (x, blanket) in enumerate(zip(xs, blankets, strict=True)):
        rows[k, x] = 0.0
        outside = np.ones(rows.shape[1], dtype=np.bool_) if wanted is None else wanted[k].copy()
        if blanket:
            members = list(blanket)
            if wanted is None or outside[members].any():
                sets.append(k)
            outside[members] = False
        outside[x] = False
        ys = outside.nonzero()[0]
        if ys.size:
            scans.append((k, ys))
    zs = [blankets[k] for k, _ in scans]
    found = _independent(posterior, [xs[k] for k, _ in scans], [ys.astype(np.int32) for _, ys in scans], zs)
    for (k, ys), values in zip(scans, found, strict=True):
        rows[k, ys] = values
    for k, odds in zip(sets, _members(posterior, [xs[k] for k in sets], [blankets[k] for k in sets]), strict=True):
        rows[k, sorted(blankets[k])] = odds.dependent
    rows[rows == -inf] = LEAST
    return rows


def log_odds(
    posterior: IndependencePosterior, blankets: Sequence[VarSet], *, absent: BoolArray | None = None
) -> FloatArray:
    """log Pr[x ⟂̸ y | B − y] − log Pr[x ⟂ y | B − y], a row for each x with its blanket B; NaN where not asked.

    For every y in B; and for those outside that `absent`, if given, has in the row of x.
    """
    n = posterior.n_variables
    rows, xs = np.full((n, n), nan), [x for x in range(n) if blankets[x]]
    for x, (independent, dependent) in zip(xs, _members(posterior, xs, [blankets[x] for x in xs]), strict=True):
        rows[x, sorted(blankets[x])] = dependent - independent
    for x, wanted in enumerate(() if absent is None else absent):
        outside = wanted & ~mask(blankets[x] | {x}, n)
        independent, dependent = posterior.log_odds(x, outside.nonzero()[0], blankets[x])
        rows[x, outside] = dependent - independent
    return rows


def _independent(
    posterior: IndependencePosterior, xs: Sequence[int], yss: Sequence[Indices], zs: Sequence[VarSet]
) -> list[FloatArray]:
    """log Pr[x ⟂ y | z] for many scans: at once, if the posterior can; else one by one."""
    if hasattr(posterior, "independent_many"):
        return cast(BatchedPosterior, posterior).independent_many(xs, yss, zs)
    return [posterior.log_odds(x, ys, z).independent for x, ys, z in zip(xs, yss, zs, strict=True)]


def _members(posterior: IndependencePosterior, xs: Sequence[int], zs: Sequence[VarSet]) -> list[LogOdds]:
    """The members of many sets: at once, if the posterior can; else one by one."""
    if hasattr(posterior, "members_many"):
        return cast(BatchedPosterior, posterior).members_many(xs, zs)
    return [posterior.members(x, z) for x, z in zip(xs, zs, strict=True)]


def mask(members: VarSet, n_variables: int) -> BoolArray:
    """A set of variables as an array of truths."""
    chosen = np.zeros(n_variables, dtype=np.bool_)
    chosen[list(members)] = True
    return chosen


def require_posterior(score: str, posterior: object) -> None:
    """Refuse, when a score is made, a judge that decides but does not weigh."""
    for method in ("log_odds", "members"):
        if not hasattr(posterior, method):
            raise UnsuitableError(
                f"{score} needs an independence posterior; a {type(posterior).__name__} has no {method}. "
                "Use BayesianTest(Counts(data)) for categorical data, GaussianPosterior(Moments(data)) for continuous."
            )


def require_variables(graph: Graph, n_variables: int) -> None:
    """Refuse a graph over another number of variables."""
    if graph.n_variables != n_variables:
        raise InputError(
            f"graph must have the {n_variables} variables of the posterior; got {graph.n_variables}. "
            "Make it over the same columns."
        )
