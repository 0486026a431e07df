"""ARACNE: join the pairs that share information, then cut the weakest side of every triangle.

Margolin, Nemenman, Basso, Wiggins, Stolovitzky, Dalla Favera & Califano, BMC Bioinformatics 7 (2006), S7  [ARACNE06]; a
rival in [MBS09]. If x and y depend on each other only through z, then I(x; y) ≤ min(I(x; z), I(z; y)): the
data-processing inequality. So of three pairs that all share significant information the weakest counts as indirect
and is removed, unless it is within a tolerance of the next. On trees that is right in the limit of many rows; a true
triangle loses one of its edges (with tolerance 0 no triangle remains).

The judge estimates and tests the information: `mnlearn.independence.information`.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import asdict, dataclass
from math import log
from time import perf_counter
from typing import Literal, get_args

import numpy as np

from mnlearn import _ties as ties
from mnlearn.algorithms._search import Constraints, check_parts
from mnlearn.errors import InputError, check_name, is_number
from mnlearn.graphs.graph import Edge, Graph
from mnlearn.protocols import SILENT, BoolArray, FloatArray, InformationJudge, Monitor, Result

Correction = Literal["bonferroni", "fdr", "none"]


_HINT = "Use learn(data, 'aracne')."
_BLOCK = 1 << 17  # sides compared at once: 1 MiB, which stays in the cache


@dataclass(frozen=True, kw_only=True)
class ARACNE:
    """Keep pairs with significant mutual information; of each triangle among them remove the weakest side.

    Parameters
    ----------
    alpha
        The level of significance.
    correction
        The quantity that alpha bounds: ``"bonferroni"`` the probability of any false pair, ``"fdr"`` the expected
        share of false ones among those kept (Benjamini & Hochberg), ``"none"`` the probability of each.
    tolerance
        ε: a side goes if its information is below 1 − ε times that of both others. 0 is the inequality itself; 1
        removes nothing.
    required, forbidden
        Edges that are always present and never cut, and edges that are absent and cut nothing: pairs of indices.

    Raises
    ------
    InputError
        If a setting breaks its rule; and from `learn`, if there are fewer than 2 variables.

    Notes
    -----
    All triangles of the graph of significant pairs are examined before any edge is removed: the order of the
    variables does not matter. Sides that are equal up to rounding are not below each other and all stay. The support of
    an edge is the log of its p-value before correction. Cost: one measure of all pairs, then n³ comparisons at most.
    `cost` counts pairs `asked`, those `significant`, and those `cut` by the inequality.

    Examples
    --------
    >>> from mnlearn.independence.information import GaussianInformation
    >>> from mnlearn.statistics import Moments
    >>> chain = [[1.0, 0.5, 0.25], [0.5, 1.0, 0.5], [0.25, 0.5, 1.0]]
    >>> ARACNE().learn(GaussianInformation(Moments.from_covariance(chain, n_rows=500))).graph
    Graph(3, [(0, 1), (1, 2)])
    """

    alpha: float = 0.05
    correction: Correction = "bonferroni"
    tolerance: float = 0.0
    required: Collection[Edge] = ()
    forbidden: Collection[Edge] = ()

    def __post_init__(self) -> None:
        if not (is_number(self.alpha) and 0 < self.alpha < 1):
            raise InputError(f"alpha must be between 0 and 1, both excluded; got {self.alpha!r}. A usual value: 0.05.")
        check_name("correction", self.correction, get_args(Correction))
        if not (is_number(self.tolerance) and 0 <= self.tolerance <= 1):
            raise InputError(f"tolerance must be from 0 to 1; got {self.tolerance!r}. 0 is the inequality itself.")

    def learn(self, judge: InformationJudge, monitor: Monitor = SILENT) -> Result:
        """Return the structure; see the class."""
        started, n = perf_counter(), check_parts(judge, monitor, ("information", "log_p"), _HINT)
        known = Constraints(n, self.required, self.forbidden)
        if monitor.cancelled():
            return self._result(known.apply(Graph.empty(n)), np.zeros((n, n)), {}, started, converged=False)
        information, log_p = judge.information(), judge.log_p()
        monitor.progress(1, 2, "information of all pairs")
        if monitor.cancelled():
            return self._result(known.apply(Graph.empty(n)), log_p, {}, started, converged=False)
        present = significant(log_p, self.alpha, self.correction)
        fixed = ~known.mask()
        present = np.where(fixed, _matrix(n, known.required), present)
        cut = indirect(information, present, self.tolerance) & ~fixed
        upper = np.triu(present & ~cut, 1)
        graph = Graph(n, zip(*(ends.tolist() for ends in np.nonzero(upper)), strict=True))
        counts = {
            "asked": n * (n - 1) // 2,
            "significant": int(present.sum()) // 2,
            "cut": int((cut & present).sum()) // 2,
        }
        return self._result(graph, log_p, counts, started, converged=True)

    def _result(
        self, graph: Graph, log_p: FloatArray, counts: dict[str, int], started: float, *, converged: bool
    ) -> Result:
        cost = {"asked": 0, **counts, "seconds": perf_counter() - started}
        support = {(u, v): float(log_p[u, v]) for u, v in graph.edges}
        return Result(graph, None, support, converged, cost, asdict(self))


def significant(log_p: FloatArray, alpha: float, correction: Correction) -> BoolArray:
    """Return the symmetric matrix of the pairs that are dependent at this level."""
    pairs = log_p[np.triu_indices(len(log_p), 1)]
    threshold = log(alpha)
    if correction == "bonferroni":
        threshold -= log(len(pairs))
    elif correction == "fdr":  # the largest p that is at most alpha times its rank / number of pairs
        ordered = np.sort(pairs)
        good = ordered <= threshold + np.log(np.arange(1, len(pairs) + 1) / len(pairs)) + ties.ABSOLUTE
        threshold = float(ordered[np.flatnonzero(good)[-1]]) if good.any() else -np.inf
    chosen = log_p <= threshold + ties.ABSOLUTE
    np.fill_diagonal(chosen, False)
    return np.asarray(chosen)


def indirect(information: FloatArray, present: BoolArray, tolerance: float) -> BoolArray:
    """Return the pairs that are the weakest side of a triangle: I(x; y) < (1 − ε) min(I(x; z), I(z; y)) for some z.

    A difference of rounding is none: the sides to two copies of a variable are equal.
    """
    strength = np.where(present, information, 0.0)
    rounding = ties.tolerance([float(strength.max())])
    weakest = np.zeros(present.shape, dtype=np.bool_)
    xs, ys = np.nonzero(np.triu(present, 1))
    step = max(1, _BLOCK // len(present))
    for start in range(0, len(xs), step):
        x, y = xs[start : start + step], ys[start : start + step]
        through = np.minimum(strength[x], strength[y]).max(axis=1)
        weakest[x, y] = weakest[y, x] = information[x, y] < (1.0 - tolerance) * through - rounding
    return weakest


def _matrix(n: int, edges: Collection[Edge]) -> BoolArray:
    """Return the symmetric matrix of the edges."""
    present = np.zeros((n, n), dtype=np.bool_)
    for u, v in edges:
        present[u, v] = present[v, u] = True
    return present
