"""What a blanket claims about its variable: the Markov blanket closure, weighed by an independence posterior.

Schlüter, Bromberg & Edera, AMAI (2014), Definition 2  [IBMAP14]; Eq. 8 of [BJP18]. A variable x with the blanket B
claims x ⟂ y | B of every y outside B, and x ⟂̸ y | B − y of every y in B. IB adds up all claims of all variables; BJP,
one claim of each pair.
"""

from __future__ import annotations

from math import inf, log, nan, ulp

import numpy as np

from mnlearn.errors import InputError, UnsuitableError
from mnlearn.graphs.graph import Graph
from mnlearn.protocols import BoolArray, FloatArray, IndependencePosterior, VarSet

LEAST = log(ulp(0.0))
"""What a claim of probability 0 counts as: the log of the smallest positive number, so that all sums stay finite."""


def claims(posterior: IndependencePosterior, x: int, blanket: VarSet, wanted: BoolArray | None = None) -> FloatArray:
    """log Pr of what the blanket claims of x and each other variable  [BJP18, Eq. 8]; 0 for x itself.

    With `wanted`, the others are NaN unless they came along for free: all members do if one of them is wanted.
    """
    outside = np.ones(posterior.n_variables, dtype=np.bool_) if wanted is None else wanted.copy()
    members = sorted(blanket)
    asks_members = bool(members) and bool(outside[members].any())
    outside[members] = False
    outside[x] = False
    row = np.full(outside.size, nan)
    row[x] = 0.0
    ys = np.flatnonzero(outside)
    if ys.size:
        row[ys] = posterior.log_odds(x, ys, blanket).independent
    if asks_members:
        row[members] = posterior.members(x, blanket).dependent
    row[row == -inf] = LEAST
    return row


def log_odds(posterior: IndependencePosterior, x: int, blanket: VarSet, wanted: BoolArray) -> FloatArray:
    """log Pr[x ⟂̸ y | B − y] − log Pr[x ⟂ y | B − y] for each y that is wanted, member of B or not; else NaN."""
    row, members = np.full(posterior.n_variables, nan), sorted(blanket)
    if members and wanted[members].any():
        independent, dependent = posterior.members(x, blanket)
        row[members] = dependent - independent
    outside = wanted.copy()
    outside[[x, *members]] = False
    ys = np.flatnonzero(outside)
    if ys.size:
        independent, dependent = posterior.log_odds(x, ys, blanket)
        row[ys] = dependent - independent
    return row


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
