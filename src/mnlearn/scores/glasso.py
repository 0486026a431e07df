"""Graphical lasso: penalised precision matrices and the criterion that chooses among them.

[FHT08] for the estimate; scikit-learn solves it. What is added here: variables that no chain of correlations above λ
connects are independent in the solution, so each such component is solved by itself, exactly (Mazumder & Hastie, JMLR
13 (2012), 781-794  [MH12]). At penalties of interest most components are small.

The criterion is −2 log L(Θ) + |E| log N + 4 γ |E| log n at the penalised estimate, as usual in practice; [FD10] take
the maximum of the likelihood on the graph instead, for which scikit-learn has no solver. The shrunken estimate makes
edges look weaker than they are: expect few of them, or none.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import fsum
from typing import NamedTuple

import numpy as np

from mnlearn._lazy import cached
from mnlearn.errors import InputError, is_number, require, whole_number
from mnlearn.graphs.graph import Edge
from mnlearn.numbers import ascending, log, log1p
from mnlearn.protocols import FloatArray, IntArray, PathStep
from mnlearn.scores.logistic import quick_and_quiet
from mnlearn.statistics.moments import EXPLAINED, LARGEST, Moments

_INNER = 1e-7  # scikit-learn's 1e-4 lets the outer loop run in circles: 100 steps instead of 3 to 6
_STEPS = 100  # of the outer loop, at most
_PRESENT = 1e-9  # a partial correlation below it is the solver's rounding


@dataclass(frozen=True, eq=False)
class EBICPrecision:
    """The graphical lasso judged by the extended BIC.

    Parameters
    ----------
    moments
        The covariance of the data; correlations are used.
    gamma
        γ of the criterion, at least 0.
    n_penalties, smallest
        Number of penalties, in geometric steps from the one that leaves no edge to this share of it.

    Raises
    ------
    InputError
        If a setting is invalid.
    MissingDependencyError
        If scikit-learn is not installed (``pip install 'mnlearn[sklearn]'``).

    Notes
    -----
    The path is that of the R package qgraph (EBICglasso), so edges and partial correlations are the same. The support
    of an edge with partial correlation r in the estimate is −N log(1 − r²) / 2 − log N / 2 − 2 γ log n:
    half of what leaving it out would add to the criterion, to first order. Constant variables have no edges.

    Examples
    --------
    >>> judge = EBICPrecision(Moments.from_covariance([[1.0, 0.6], [0.6, 1.0]], n_rows=100))
    >>> list(judge.at(0.1).support), list(judge.at(0.7).support)
    ([(0, 1)], [])
    """

    moments: Moments
    gamma: float = 0.5
    n_penalties: int = 100
    smallest: float = 0.01

    def __post_init__(self) -> None:
        if not (is_number(self.gamma) and self.gamma >= 0):
            raise InputError(f"gamma must be a number of at least 0; got {self.gamma!r}. Use 0.5, or 0 for the BIC.")
        _check_path(self.n_penalties, self.smallest)
        require("sklearn", "sklearn")

    @property
    def n_variables(self) -> int:
        """Number of variables."""
        return self.moments.n_variables

    @cached
    def penalties(self) -> tuple[float, ...]:
        """From the smallest that leaves no edge, downwards."""
        return _descending(self._correlation, self.n_penalties, self.smallest)

    def at(self, penalty: float) -> PathStep:
        """The estimate at this penalty."""
        n_rows = self.moments.n_rows
        found = solve(self._correlation, penalty)
        partial = found.partial_correlations()
        support = _support(partial, n_rows, 0.5 * log(n_rows) + 2 * self.gamma * log(self.n_variables))
        price = log(n_rows) + 4 * self.gamma * log(self.n_variables)
        criterion = -n_rows * found.log_likelihood(self._correlation) + len(support) * price
        return PathStep(criterion, support, found.converged, partial)

    @cached
    def _correlation(self) -> FloatArray:
        return self.moments.correlation


class Precision(NamedTuple):
    """A penalised estimate, block by block; variables that are in no block are independent of all others."""

    blocks: list[tuple[list[int], FloatArray]]  # variables and their part of Θ
    lone: list[int]
    variances: FloatArray  # of all variables; at least `EXPLAINED`
    converged: bool

    def log_likelihood(self, moments: FloatArray) -> float:
        """log det Θ − tr(SΘ) for second moments S: twice the log-likelihood of a row, up to a constant."""
        spread = self.variances[self.lone]
        total = -float(log(spread).sum() + (np.diag(moments)[self.lone] / spread).sum())
        for members, theta in self.blocks:
            total += float(np.linalg.slogdet(theta)[1] - np.sum(moments[np.ix_(members, members)] * theta))
        return total

    def partial_correlations(self) -> dict[Edge, float]:
        """The edges, each with its partial correlation −Θ_uv / √(Θ_uu Θ_vv)."""
        found: dict[Edge, float] = {}
        for members, theta in self.blocks:
            scale = np.sqrt(np.diag(theta))
            r = np.clip(-theta / np.outer(scale, scale), -LARGEST, LARGEST)
            for u, v in zip(*np.nonzero(np.triu(np.abs(r) > _PRESENT, 1)), strict=True):
                found[min(members[u], members[v]), max(members[u], members[v])] = float(r[u, v])
        return dict(sorted(found.items()))


def _support(partial: Mapping[Edge, float], n_rows: int, price: float) -> dict[Edge, float]:
    """The edges, each with −N log(1 − r²) / 2 less its price, r being its partial correlation."""
    return {edge: -0.5 * n_rows * (log1p(-r) + log1p(r)) - price for edge, r in partial.items()}


def solve(covariance: FloatArray, penalty: float) -> Precision:
    """The graphical lasso, each component of the correlations above the penalty by itself  [MH12]."""
    from scipy.sparse.csgraph import connected_components
    from sklearn.covariance import graphical_lasso

    linked = np.abs(covariance) > penalty
    np.fill_diagonal(linked, False)
    n_parts, part = connected_components(linked, directed=False)
    order = _by_strength(covariance)
    members = [order[part[order] == k].tolist() for k in range(n_parts)] if n_parts < len(part) else []
    blocks, converged = [], True
    with quick_and_quiet():
        for block in (block for block in members if len(block) > 1):
            here = np.ix_(block, block)
            try:
                _, theta, n_steps = graphical_lasso(
                    covariance[here], penalty, enet_tol=_INNER, max_iter=_STEPS, return_n_iter=True
                )
                converged = converged and n_steps < _STEPS
            except (FloatingPointError, np.linalg.LinAlgError):  # too close to singular at this penalty
                return Precision([], list(range(len(part))), _variances(covariance), False)
            blocks.append((block, (theta + theta.T) / 2))
    inside = {x for block, _ in blocks for x in block}
    lone = [x for x in range(len(part)) if x not in inside]
    return Precision(blocks, lone, _variances(covariance), converged)


def _by_strength(covariance: FloatArray) -> IntArray:
    """Return the variables from the strongest correlations to the weakest.

    The solver stops within a tolerance: in this order it does so at the same estimate for any order of the columns.
    """
    return ascending(-np.array([fsum(row) for row in np.abs(covariance).tolist()]))


def _variances(covariance: FloatArray) -> FloatArray:
    return np.maximum(np.diag(covariance), EXPLAINED)


def _descending(correlation: FloatArray, n_penalties: int, smallest: float) -> tuple[float, ...]:
    """From the smallest penalty that leaves no edge, in geometric steps; one penalty if there is nothing to find."""
    first = float(np.abs(correlation - np.diag(np.diag(correlation))).max())
    return tuple((first * np.geomspace(1.0, smallest, n_penalties)).tolist()) if first > 0 else (1.0,)


def _check_path(n_penalties: int, smallest: float) -> None:
    """The rules of a path of penalties."""
    whole_number("n_penalties", n_penalties, least=2, hint="Use for example 30.")
    if not (is_number(smallest) and 0 < smallest < 1):
        raise InputError(f"smallest must be between 0 and 1; got {smallest!r}. Use for example 0.1.")
