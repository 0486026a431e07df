"""Blanket claims: the Markov blanket closure, weighted by an independence posterior.

Schlüter, Bromberg & Edera, AMAI (2014), Definition 2  [IBMAP14]; Eq. 8 of [BJP18]. A variable x with the blanket B
claims x ⟂ y | B of every y outside B, and x ⟂̸ y | B − y of every y in B. IB adds up all claims of all variables; BJP,
one claim of each pair.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import inf, nan, ulp
from typing import cast

import numpy as np

from mnlearn.errors import InputError, UnsuitableError, check_room
from mnlearn.graphs.graph import Graph, check_graph
from mnlearn.numbers import log
from mnlearn.protocols import (
    BatchedPosterior,
    BoolArray,
    FloatArray,
    IndependencePosterior,
    Indices,
    LogOdds,
    VarSet,
)

LEAST = log(ulp(0.0))
"""Log probability that stands for -inf: that of the smallest positive double, so that all sums stay finite.

`BayesianTest` and `GaussianPosterior` compute in logs and never give it; a posterior that takes the logarithm of a
probability does.
"""


def claims(posterior: IndependencePosterior, xs: Sequence[int], blankets: Sequence[VarSet]) -> FloatArray:
    """Return log Pr of the claim of each blanket about x and every other variable  [BJP18, Eq. 8]; 0 at x."""
    return weigh(posterior, xs, blankets, members_mask(xs, blankets, posterior.n_variables))


def check_pairs_fit(n_variables: int) -> None:
    """Raise InputError if the claims and parts of all pairs need more memory than there is."""
    advice = "Choose fewer columns, or a method that stores none: mpl, sep, gsmn*."
    what = f"the parts of every pair of {n_variables:,} variables"
    check_room("posterior", 17.0 * n_variables**2, what, advice)


def bare_claims(posterior: IndependencePosterior) -> FloatArray | None:
    """Return the claims of empty blankets, x ⟂ y for every pair, in one batch; None if the posterior has no batch."""
    pairs = cast(BatchedPosterior, posterior).independent_pairs() if hasattr(posterior, "independent_pairs") else None
    if pairs is None:
        return None
    n = posterior.n_variables
    rows = np.zeros((n, n))
    rows[np.triu_indices(n, 1)] = np.where(pairs == -inf, LEAST, pairs)
    return rows + rows.T


def members_mask(xs: Sequence[int], blankets: Sequence[VarSet], n_variables: int) -> BoolArray:
    """Return a boolean row per x that marks x and its blanket."""
    rows = np.zeros((len(xs), n_variables), dtype=np.bool_)
    try:
        for k, (x, blanket) in enumerate(zip(xs, blankets, strict=True)):
            rows[k, [x, *blanket]] = True
    except (TypeError, ValueError, IndexError, OverflowError):
        raise InputError(
            f"blankets must be sets of indices below {n_variables}, one for each x; got {blankets!r:.80}. Use "
            "dataset.index(name)."
        ) from None
    return rows


def weigh(
    posterior: IndependencePosterior,
    xs: Sequence[int],
    blankets: Sequence[VarSet],
    around: BoolArray,
    wanted: BoolArray | None = None,
) -> FloatArray:
    """Return the wanted `claims` given the mask `around` of each x and its blanket; others are NaN.

    All members of a blanket are computed if one of them is wanted: they cost nothing more.
    """
    rows, ks = np.full(around.shape, nan), range(len(xs))
    inside, outside = around.copy(), ~around
    for k in ks:
        inside[k, xs[k]] = False
    sets = [k for k in ks if blankets[k]]
    if wanted is not None:
        outside &= wanted
        used = np.asarray((inside & wanted).any(axis=1))
        inside &= used[:, None]
        sets = [k for k in sets if used[k]]
    yss = [row.nonzero()[0].astype(np.int32) for row in outside]
    asked = [k for k in ks if yss[k].size]
    if asked:
        some = ([xs[k] for k in asked], [yss[k] for k in asked], [blankets[k] for k in asked])
        rows[outside] = np.concatenate(_independent(posterior, *some))
    if sets:
        rows[inside] = _dependent(posterior, [xs[k] for k in sets], [blankets[k] for k in sets])
    rows[rows == -inf] = LEAST
    for k in ks:
        rows[k, xs[k]] = 0.0
    return rows


def log_odds(
    posterior: IndependencePosterior, blankets: Sequence[VarSet], *, absent: BoolArray | None = None
) -> FloatArray:
    """Return log Pr[x ⟂̸ y | B − y] − log Pr[x ⟂ y | B − y], a row for each x with its blanket B; NaN elsewhere.

    For every y in B, and for those outside that `absent` marks in the row of x.
    """
    n = posterior.n_variables
    rows, xs = np.full((n, n), nan), [x for x in range(n) if blankets[x]]
    for x, (independent, dependent) in zip(xs, _members(posterior, xs, [blankets[x] for x in xs]), strict=True):
        rows[x, sorted(blankets[x])] = dependent - independent
    for x, wanted in enumerate(() if absent is None else absent & ~members_mask(range(n), blankets, n)):
        independent, dependent = posterior.log_odds(x, wanted.nonzero()[0], blankets[x])
        rows[x, wanted] = dependent - independent
    return rows


def _independent(
    posterior: IndependencePosterior, xs: Sequence[int], yss: Sequence[Indices], zs: Sequence[VarSet]
) -> list[FloatArray]:
    """Return log Pr[x ⟂ y | z] for many scans, in one batch if the posterior has one."""
    if hasattr(posterior, "independent_many"):
        return cast(BatchedPosterior, posterior).independent_many(xs, yss, zs)
    return [posterior.log_odds(x, ys, z).independent for x, ys, z in zip(xs, yss, zs, strict=True)]


def _members(posterior: IndependencePosterior, xs: Sequence[int], zs: Sequence[VarSet]) -> list[LogOdds]:
    """Return the members of many sets, in one batch if the posterior has one."""
    if hasattr(posterior, "members_many"):
        return cast(BatchedPosterior, posterior).members_many(xs, zs)
    return [posterior.members(x, z) for x, z in zip(xs, zs, strict=True)]


def _dependent(posterior: IndependencePosterior, xs: Sequence[int], zs: Sequence[VarSet]) -> FloatArray:
    """log Pr[x ⟂̸ y | z − y] for every y in z, ascending; one set after the other."""
    return np.concatenate([odds.dependent for odds in _members(posterior, xs, zs)])


def require_posterior(score: str, posterior: object) -> None:
    """Raise UnsuitableError for a test that is not an independence posterior."""
    for method in ("log_odds", "members"):
        if not hasattr(posterior, method):
            raise UnsuitableError(
                f"{score} needs an independence posterior; a {type(posterior).__name__} has no {method}. "
                "Use BayesianTest(Counts(data)) for categorical data, GaussianPosterior(Moments(data)) for continuous."
            )


def require_variables(graph: Graph, n_variables: int) -> None:
    """Raise InputError for a graph over another number of variables."""
    check_graph("graph", graph)
    if graph.n_variables != n_variables:
        raise InputError(
            f"graph must have the {n_variables} variables of the posterior; got {graph.n_variables}. "
            "Make it over the same columns."
        )
