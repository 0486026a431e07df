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
    LogOdds,
    VarSet,
)

LEAST = log(ulp(0.0))
"""What a claim of probability 0 counts as: the log of the smallest positive number, so that all sums stay finite."""


def claims(posterior: IndependencePosterior, xs: Sequence[int], blankets: Sequence[VarSet]) -> FloatArray:
    """log Pr of all that each blanket claims of its x and each other variable  [BJP18, Eq. 8]; 0 at x itself."""
    return weigh(posterior, xs, blankets, around(xs, blankets, posterior.n_variables))


def bare_claims(posterior: IndependencePosterior) -> FloatArray | None:
    """What empty blankets claim, x ⟂ y of every pair, asked all at once and once each; None where it cannot be."""
    pairs = cast(BatchedPosterior, posterior).independent_pairs() if hasattr(posterior, "independent_pairs") else None
    if pairs is None:
        return None
    n = posterior.n_variables
    rows = np.zeros((n, n))
    rows[np.triu_indices(n, 1)] = np.where(pairs == -inf, LEAST, pairs)
    return rows + rows.T


def around(xs: Sequence[int], blankets: Sequence[VarSet], n_variables: int) -> BoolArray:
    """Each x with its blanket, as a row of truths."""
    rows = np.zeros((len(xs), n_variables), dtype=np.bool_)
    for k, (x, blanket) in enumerate(zip(xs, blankets, strict=True)):
        rows[k, [x, *blanket]] = True
    return rows


def weigh(
    posterior: IndependencePosterior,
    xs: Sequence[int],
    blankets: Sequence[VarSet],
    around: BoolArray,
    wanted: BoolArray | None = None,
) -> FloatArray:
    """`claims` for those who know already who is `around` each x; and only what is wanted, the others being NaN.

    What comes along for free is there, too: all members of a blanket do if one of them is wanted.
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
    """log Pr[x ⟂̸ y | B − y] − log Pr[x ⟂ y | B − y], a row for each x with its blanket B; NaN where not asked.

    For every y in B; and for those outside that `absent`, if given, has in the row of x.
    """
    n = posterior.n_variables
    rows, xs = np.full((n, n), nan), [x for x in range(n) if blankets[x]]
    for x, (independent, dependent) in zip(xs, _members(posterior, xs, [blankets[x] for x in xs]), strict=True):
        rows[x, sorted(blankets[x])] = dependent - independent
    for x, wanted in enumerate(() if absent is None else absent & ~around(range(n), blankets, n)):
        independent, dependent = posterior.log_odds(x, wanted.nonzero()[0], blankets[x])
        rows[x, wanted] = dependent - independent
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


def _dependent(posterior: IndependencePosterior, xs: Sequence[int], zs: Sequence[VarSet]) -> FloatArray:
    """log Pr[x ⟂̸ y | z − y] for every y in z, ascending; one set after the other."""
    return np.concatenate([odds.dependent for odds in _members(posterior, xs, zs)])


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
