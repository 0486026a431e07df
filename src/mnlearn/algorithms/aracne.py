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
from dataclasses import dataclass, replace
from time import perf_counter
from typing import Literal, get_args

import numpy as np

from mnlearn.algorithms.base import Cancelled, Constraints, check_parts
from mnlearn.algorithms.screening import CandidateRule, check_rule, first_candidates, stated
from mnlearn.errors import InputError, check_name, is_number
from mnlearn.graphs.candidates import Candidates, keys_of
from mnlearn.graphs.graph import Edge, Graph
from mnlearn.numbers import ABSOLUTE, log
from mnlearn.numbers import tolerance as tie_tolerance
from mnlearn.protocols import (
    SILENT,
    BoolArray,
    FloatArray,
    InformationJudge,
    Monitor,
    PairInformationJudge,
    Result,
)

Correction = Literal["bonferroni", "fdr", "none"]


_HINT = "Use learn(data, 'aracne')."
_TRIANGLES = 1 << 20  # possible triangles that are looked up at once
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
    candidates
        The pairs that may be edges: a closed list, a `Screening`, or None for all pairs. Other pairs are not measured.

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

    With candidates the corrections still count all n(n − 1)/2 pairs. ``"bonferroni"`` keeps exactly the candidates that
    it keeps among all pairs. ``"fdr"`` takes the p-values of all other pairs as 1: a pair that it keeps is kept among
    all pairs, too, and the level holds; a few weak candidates may be lost where other pairs are significant.
    Triangles are those of candidates. Memory and time grow with the candidates and the triangles among them.

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
    candidates: CandidateRule = None

    def __post_init__(self) -> None:
        check_rule(self.candidates)
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
            return self._stopped(known, dict.fromkeys(known.required, 0.0), started)
        try:
            listed = first_candidates(self.candidates, judge, monitor)
        except Cancelled:
            return self._stopped(known, dict.fromkeys(known.required, 0.0), started)
        if listed is not None:
            return self._learn_listed(judge, known, listed, monitor, started)
        information, log_p = judge.information(), judge.log_p()
        monitor.progress(1, 2, "information of all pairs")
        if monitor.cancelled():
            return self._stopped(known, {edge: float(log_p[edge]) for edge in known.required}, started)
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
        support = {(u, v): float(log_p[u, v]) for u, v in graph.edges}
        return self._result(graph, support, counts, started)

    def _learn_listed(
        self, judge: InformationJudge, known: Constraints, listed: Candidates, monitor: Monitor, started: float
    ) -> Result:
        """Return the structure among candidate pairs, and required ones."""
        n = known.n_variables
        required = keys_of(n, np.array(sorted(known.required), dtype=np.int64).reshape(-1, 2))
        listed = listed.with_keys(required)
        pairs = listed.without(known.forbidden)
        information, log_p = _of_pairs(judge, pairs)
        monitor.progress(1, 2, "information of the candidates")
        if monitor.cancelled():
            return self._stopped(known, dict.fromkeys(known.required, 0.0), started)
        always = np.isin(pairs.keys, required)
        present = (log_p <= level_of_significance(log_p, self.alpha, self.correction, n * (n - 1) // 2)) | always
        kept = replace(pairs, keys=pairs.keys[present])
        cut = indirect_among(information[present], kept, self.tolerance) & ~always[present]
        graph = Graph(n, zip(kept.u[~cut].tolist(), kept.v[~cut].tolist(), strict=True))
        support = dict(zip(graph.edges, log_p[present][~cut].tolist(), strict=True))  # both in lexicographic order
        counts = {"asked": len(listed.keys), "significant": len(kept.keys), "cut": int(cut.sum())}
        return self._result(graph, support, counts, started)

    def _stopped(self, known: Constraints, support: dict[Edge, float], started: float) -> Result:
        """Return the required edges, when the search was stopped."""
        graph = known.apply(Graph.empty(known.n_variables))
        return replace(self._result(graph, support, {}, started), converged=False)

    def _result(self, graph: Graph, support: dict[Edge, float], counts: dict[str, int], started: float) -> Result:
        cost = {"asked": 0, **counts, "seconds": perf_counter() - started}
        return Result(graph, None, support, True, cost, stated(self))


def significant(log_p: FloatArray, alpha: float, correction: Correction) -> BoolArray:
    """Return the symmetric matrix of the pairs that are dependent at this level."""
    pairs = log_p[np.triu_indices(len(log_p), 1)]
    chosen = log_p <= level_of_significance(pairs, alpha, correction, len(pairs))
    np.fill_diagonal(chosen, False)
    return np.asarray(chosen)


def level_of_significance(log_p: FloatArray, alpha: float, correction: Correction, n_pairs: int) -> float:
    """Return the largest log p-value that is significant; of pairs that are not listed p counts as 1."""
    threshold = log(alpha)
    if correction == "bonferroni":
        threshold -= log(n_pairs)
    elif correction == "fdr":  # the largest p that is at most alpha times its rank / number of pairs
        ordered = np.sort(log_p)
        good = ordered <= threshold + log(np.arange(1, len(ordered) + 1) / n_pairs) + ABSOLUTE
        threshold = float(ordered[np.flatnonzero(good)[-1]]) if good.any() else -np.inf
    return threshold + ABSOLUTE


def indirect(information: FloatArray, present: BoolArray, tolerance: float) -> BoolArray:
    """Return the pairs that are the weakest side of a triangle: I(x; y) < (1 − ε) min(I(x; z), I(z; y)) for some z.

    A difference of rounding is none: the sides to two copies of a variable are equal.
    """
    strength = np.where(present, information, 0.0)
    rounding = tie_tolerance([float(strength.max())])
    weakest = np.zeros(present.shape, dtype=np.bool_)
    xs, ys = np.nonzero(np.triu(present, 1))
    step = max(1, _BLOCK // len(present))
    for start in range(0, len(xs), step):
        x, y = xs[start : start + step], ys[start : start + step]
        through = np.minimum(strength[x], strength[y]).max(axis=1)
        weakest[x, y] = weakest[y, x] = information[x, y] < (1.0 - tolerance) * through - rounding
    return weakest


def indirect_among(information: FloatArray, pairs: Candidates, tolerance: float) -> BoolArray:
    """Return which of these pairs, all present, are the weakest side of a triangle of them; as `indirect`."""
    starts, partners, places = pairs.directed()
    strength, degrees = information[places], np.diff(starts)
    rounding = tie_tolerance([float(information.max(initial=0.0))])
    keys = np.repeat(np.arange(pairs.n_variables, dtype=np.int64), degrees) * pairs.n_variables + partners
    swap = degrees[pairs.u] > degrees[pairs.v]  # z ranges over the partners of the end with fewer
    few, other = np.where(swap, pairs.v, pairs.u), np.where(swap, pairs.u, pairs.v).astype(np.int64)
    through, ends = np.zeros(len(few)), np.cumsum(degrees[few])
    for block in np.split(np.arange(len(few)), np.flatnonzero(np.diff(ends // _TRIANGLES)) + 1):
        sizes = degrees[few[block]]
        pair = np.repeat(np.arange(len(block)), sizes)
        side = np.arange(len(pair)) + np.repeat(starts[few[block]] - (np.cumsum(sizes) - sizes), sizes)
        wanted = other[block][pair] * pairs.n_variables + partners[side]
        back = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
        closed = keys[back] == wanted
        weaker = np.minimum(strength[side[closed]], strength[back[closed]])
        np.maximum.at(through, block[pair[closed]], weaker)
    return np.asarray(information < (1.0 - tolerance) * through - rounding)


def _of_pairs(judge: InformationJudge, pairs: Candidates) -> tuple[FloatArray, FloatArray]:
    """Return information and log p-value of each pair; from the matrices where the judge measures all pairs only."""
    if isinstance(judge, PairInformationJudge):
        return judge.of_pairs(pairs)
    return judge.information()[pairs.u, pairs.v], judge.log_p()[pairs.u, pairs.v]


def _matrix(n: int, edges: Collection[Edge]) -> BoolArray:
    """Return the symmetric matrix of the edges."""
    present = np.zeros((n, n), dtype=np.bool_)
    for u, v in edges:
        present[u, v] = present[v, u] = True
    return present
