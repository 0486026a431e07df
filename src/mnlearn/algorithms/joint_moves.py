"""Joint moves of the separator phase: a variable joins both ends of an edge at once.

Edges of a clique support one another, and so do those of two parents and their child: each alone is below its price,
while both are worth it. Where no single flip is left, a variable x and an edge a − b are tried if x − a and x − b are
absent and x − a is at most SHORTFALL below its price. With x − a in the graph, a is in the separator of x and b: the
evidence of both is e_G(x, a) + e_G+xa(x, b).

Both together have a price of their own. An edge and a third variable can be chosen in E (n − 2) ways, of which 3 T are
triangles of the graph. If their number is uniform a priori, one more costs ln((E (n − 2) − 3 T) / (3 T + 1)). So a
triangle costs more than two edges in a tree or a grid, and less among cliques. Each of the two edges must also exceed
its own price given the other, or a single flip would remove it again.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import inf
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mnlearn._ties import first_best
from mnlearn.algorithms._association import EvidenceAssociation
from mnlearn.algorithms.base import check_cancelled
from mnlearn.graphs.candidates import Candidates
from mnlearn.graphs.graph import Graph
from mnlearn.graphs.separators import Numbers, Separators
from mnlearn.numbers import log
from mnlearn.protocols import BoolArray, EvidenceScore, FloatArray, Monitor, VarSet

SHORTFALL = 3.0
"""The first of the two edges is at most so far below its price. At 4 there are 0.1 errors fewer on average (28 samples
of cliques and Bayesian networks), and the moves take almost twice as long."""
SLACK = 3.0  # a move is fitted if it is at most so far below its price by estimates, given one of two separators
MOVES_TOGETHER = 512  # scans in one call; the monitor is polled between calls


@dataclass(frozen=True)
class OpenPairs:
    """Candidate pairs with their evidence.

    Parameters
    ----------
    candidates
        The pairs.
    evidence, price
        Evidence and price of each.
    may_join
        Whether it is absent and may become an edge.
    """

    candidates: Candidates
    evidence: FloatArray
    price: FloatArray
    may_join: BoolArray

    def places(self, u: NDArray[Any], v: NDArray[Any]) -> NDArray[np.intp]:
        """Return the place of each pair u − v; −1 where it is not listed."""
        keys = self.candidates.keys
        wanted = np.minimum(u, v) * np.int64(self.candidates.n_variables) + np.maximum(u, v)
        places = np.searchsorted(keys, wanted)
        return np.where(np.append(keys, -1)[places] == wanted, places, -1)


def triangle_price(graph: Graph) -> float:
    """Return ln((E (n − 2) − 3 T) / (3 T + 1)), the penalty of one more triangle on an edge; at least 0."""
    closed = sum(len(graph.neighbors(u) & graph.neighbors(v)) for u, v in graph.edges)  # 3 T
    choices = graph.n_edges * (graph.n_variables - 2)
    return max(0.0, log((choices - closed) / (closed + 1))) if closed < choices else 0.0


class JointMoves:
    """Search for variables that join both ends of an edge.

    Parameters
    ----------
    judge
        Weighs pairs.
    monitor
        May cancel the search.
    association, rounding
        Decides between moves of equal gain: the stronger association joins. Gains tie if they differ by less than
        `rounding`.
    """

    def __init__(
        self, judge: EvidenceScore, monitor: Monitor, association: EvidenceAssociation, rounding: float
    ) -> None:
        self._judge, self._monitor, self._association, self._rounding = judge, monitor, association, rounding

    def find(self, graph: Graph, pairs: OpenPairs) -> list[int]:
        """Return the places of the pairs to join, two for each move, the best move first; moves share no variable."""
        choices = _choices(graph, pairs)
        if not len(choices):
            return []
        price, separators = triangle_price(graph), Separators(graph)
        estimates = self._estimates(choices, pairs, separators)
        tried = sorted({(x, min(a, b), max(a, b)) for x, a, b in choices[estimates > price - SLACK].tolist()})
        values = self._fits(tried, pairs, separators) - price
        good = np.flatnonzero(~(values <= self._rounding)).tolist()
        tried, values = [tried[place] for place in good], values[good]
        variables = np.array(tried, dtype=np.int32).reshape(-1, 3)

        def association(tied: NDArray[np.intp]) -> FloatArray:
            edges = [(x, end) for x, a, b in (tried[place] for place in tied.tolist()) for end in (a, b)]
            return np.asarray(self._association.of(edges).reshape(-1, 2).sum(axis=1))

        found: list[int] = []
        while (best := first_best(values, 0.0, self._rounding, association)) is not None:
            x, a, b = tried[best]
            found += pairs.places(np.array([x, x]), np.array([a, b])).tolist()
            values[np.isin(variables, variables[best]).any(axis=1)] = -inf
        return found

    def _estimates(self, choices: Numbers, pairs: OpenPairs, separators: Separators) -> FloatArray:
        """Return the evidence of each choice; that of x − b to first order, given sep(b; x) and a."""
        x, a, b = choices.T
        total: FloatArray = pairs.evidence[pairs.places(x, a)]
        given = separators.numbers(b.copy(), x.copy())
        order = np.lexsort((x, given, a, b))
        same = [np.diff(row[order]) == 0 for row in (b, a, given)]
        starts = np.append(np.flatnonzero(np.append(True, ~np.logical_and.reduce(same))), len(x))
        groups = [order[begin:end] for begin, end in pairwise(starts.tolist())]
        scans = [(int(b[g[0]]), separators.set(int(given[g[0]])) | {int(a[g[0]])}, x[g]) for g in groups]
        for group, values in zip(groups, self._weigh(scans, fit_above=inf), strict=True):
            total[group] += values
        return total

    def _fits(self, tried: Sequence[tuple[int, int, int]], pairs: OpenPairs, separators: Separators) -> FloatArray:
        """Return the evidence of each move; −inf where an edge is below its own price given the other."""
        scans: list[tuple[int, VarSet, Numbers]] = []
        for variable, *ends in tried:
            for end in ends:
                separators.flip(variable, end)
            sides = [(u, v) for end in ends for u, v in ((variable, end), (end, variable))]
            scans += [(u, separators.of(u, v), np.array([v], dtype=np.int32)) for u, v in sides]
            for end in ends:
                separators.flip(variable, end)
        both = np.array([values[0] for values in self._weigh(scans, fit_above=-inf)]).reshape(-1, 2, 2).mean(axis=2)
        x, a, b = np.array(tried, dtype=np.int32).reshape(-1, 3).T
        places = np.stack([pairs.places(x, a), pairs.places(x, b)], axis=1)
        gains: FloatArray = (pairs.evidence[places] + both[:, ::-1]).max(axis=1)
        gains[(both <= pairs.price[places]).any(axis=1)] = -inf
        return gains

    def _weigh(self, scans: Sequence[tuple[int, VarSet, Numbers]], *, fit_above: float) -> Iterator[FloatArray]:
        """Yield the evidence of each scan: a variable, a separator, the others."""
        for begin in range(0, len(scans), MOVES_TOGETHER):
            check_cancelled(self._monitor)
            xs, sets, yss = zip(*scans[begin : begin + MOVES_TOGETHER], strict=True)
            for found in self._judge.pairs(xs, sets, yss, fit_above=fit_above):
                yield found.log_factor


def _choices(graph: Graph, pairs: OpenPairs) -> Numbers:
    """Return the rows x, a, b to try: an edge a − b, and x − a and x − b that may join, x − a near its price."""
    near = pairs.candidates.keys[pairs.may_join & (pairs.evidence > pairs.price - SHORTFALL)]
    u, v = np.divmod(near, graph.n_variables)
    x, a = np.concatenate([u, v]), np.concatenate([v, u])
    b = np.array([y for end in a.tolist() for y in sorted(graph.neighbors(end))], dtype=np.int64)
    x, a = np.repeat([x, a], graph.degrees()[a], axis=1)
    places = pairs.places(x, b)
    chosen: Numbers = np.stack([x, a, b], axis=1)[(places >= 0) & pairs.may_join[places]].astype(np.int32)
    return chosen
