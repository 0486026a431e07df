"""Separator phase: flip the pair that the evidence given its separators contradicts most, until none is.

The prior penalty of an edge grows as the number of edges falls. Absent edges with some probability count, too: when no
pair is contradicted any more, the sum of all edge probabilities replaces the number of present edges (`_recount`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection
from math import inf, log
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from mnlearn._ties import ABSOLUTE, first_best
from mnlearn.algorithms._association import EvidenceAssociation
from mnlearn.algorithms._search import Constraints, check_cancelled, ordered
from mnlearn.algorithms.separating_sets import Separators
from mnlearn.graphs.graph import Edge, Graph
from mnlearn.protocols import EvidenceScore, FloatArray, Monitor

MOST_FLIPS_OF_A_PAIR = 4
MOST_FLIPS = 40  # times the number of variables
MOST_RECOUNTS = 20
MOST_ROUNDS, SETTLED = 100, 1e-6  # limit of iterations in a recount; and its tolerance, in edges
SCANS_TOGETHER = 512  # scans in one call; the monitor is polled between calls
Places: TypeAlias = NDArray[np.intp]
Numbers: TypeAlias = NDArray[np.int32]


def price(n_edges: float, n_pairs: int) -> float:
    """Return k(E), the penalty of the (E + 1)-th edge under a uniform prior on the number of edges."""
    return max(0.0, log((n_pairs - n_edges) / (n_edges + 1))) if n_edges < n_pairs else 0.0


class SeparatorPhase:
    """Search by flips over a graph, with the evidence of every pair given its separators."""

    def __init__(
        self,
        judge: EvidenceScore,
        graph: Graph,
        known: Constraints,
        monitor: Monitor,
        *,
        near: float,
        ties: tuple[EvidenceAssociation, float] | None = None,
    ) -> None:
        n = judge.n_variables
        self.n_flips = 0
        self._n_recounts = 0
        self._missed = 0.0  # expected edges beyond those in the graph
        self.weighed = False  # whether the evidence of all pairs is known
        self._near = near
        self._judge, self._monitor, self._n = judge, monitor, n
        self._separators = Separators(graph)
        self._n_pairs = n * (n - 1) // 2
        self._log_factor = np.zeros((n, n))  # [x, y]: ev(x, y | sep(x; y))
        self._given = np.full((n, n), -1, dtype=np.int32)  # [x, y]: the number of the separator of this evidence
        self._exact = np.zeros((n, n), dtype=np.bool_)
        self._known = known
        self._free = np.triu(known.mask())
        self._flips: Counter[Edge] = Counter()
        association, self._rounding = (EvidenceAssociation(judge), ABSOLUTE) if ties is None else ties
        self._ties = association.flipping(self._pair_at, lambda: self.graph)

    @property
    def graph(self) -> Graph:
        """The current graph."""
        return self._separators.graph

    @property
    def expected_edges(self) -> float:
        """Expected number of edges by the probabilities of all pairs."""
        return self.graph.n_edges + self._missed

    def run(self) -> bool:
        """Flip until no pair is contradicted; return False if the limit of flips is reached before."""
        self._refresh_all()
        self.weighed = True
        while self.n_flips < MOST_FLIPS * self._n:
            check_cancelled(self._monitor)
            worst = self._most_contradicted()
            if worst is None:
                quiet = not self._refresh_all() or self._most_contradicted() is None
                if quiet and not self._recount():
                    return True
            elif not self._refresh([worst]):
                self._flip(worst)
        return False

    def log_odds(self) -> FloatArray:
        """Return e_G − k of every pair, k counting the other edges; −inf on the diagonal."""
        present = self._present()
        k_absent, k_present = self._prices()
        odds = self._evidence() - np.where(present, k_present, k_absent)
        np.fill_diagonal(odds, -inf)
        return odds

    def support(self) -> dict[Edge, float]:
        """Return the log-odds of each edge."""
        k = self._prices()[1]
        return {(u, v): float(self._log_factor[u, v] + self._log_factor[v, u]) / 2 - k for u, v in self.graph.edges}

    def _evidence(self) -> FloatArray:
        """Return e_G of every pair."""
        return (self._log_factor + self._log_factor.T) / 2

    def _present(self) -> NDArray[np.bool_]:
        present = np.zeros((self._n, self._n), dtype=np.bool_)
        ends = np.array(self.graph.edges, dtype=np.intp).reshape(-1, 2)
        present[ends[:, 0], ends[:, 1]] = present[ends[:, 1], ends[:, 0]] = True
        return present

    def _prices(self) -> tuple[float, float]:
        """Return k for one more edge, and k for the last of the present edges."""
        one_less = max(0.0, self.expected_edges - 1)
        return price(self.expected_edges, self._n_pairs), price(one_less, self._n_pairs) if self.graph.n_edges else 0.0

    def _recount(self) -> bool:
        """Compute the expected number of edges beyond those in the graph; return False if it has not changed.

        It is the sum of all probabilities less the present edges, with penalties that count it already. It is at least
        0 and at most the number of present edges: many weak probabilities must not add up to much. (With one allowed
        where none is present, independent data had false edges in 9 of 120 draws instead of 4.)
        """
        if self._n_recounts == MOST_RECOUNTS:
            return False
        self._n_recounts += 1
        before, n_edges = self._missed, self.graph.n_edges
        pairs = np.triu_indices(self._n, 1)
        free, present, evidence = self._known.mask()[pairs], self._present()[pairs], self._evidence()[pairs]
        for _ in range(MOST_ROUNDS):
            k_absent, k_present = self._prices()
            probability = _logistic(evidence - np.where(present, k_present, k_absent))
            expected = float((probability - present)[free].sum())
            last, self._missed = self._missed, min(max(0.0, expected), float(n_edges))
            if abs(self._missed - last) < SETTLED:
                break
        return abs(self._missed - before) > SETTLED

    def _most_contradicted(self) -> Edge | None:
        """Return the free pair with the largest violation, fitted; None if there is none."""
        k_absent, k_present = self._prices()
        present = self._present()
        while True:
            evidence = self._evidence()
            near = self._free & ~present & (evidence > k_absent - self._near) & ~(self._exact & self._exact.T)
            if near.any():
                self._fit(near)
                continue
            violation = np.where(present, k_present - evidence, evidence - k_absent)
            violation[~self._free] = -inf
            place = first_best(violation.ravel(), 0.0, self._rounding, *self._ties)
            return None if place is None else self._pair_at(place)

    def _pair_at(self, place: int) -> Edge:
        """Return the pair at a place of the flattened matrix."""
        return divmod(place, self._n)

    def _flip(self, edge: Edge) -> None:
        """Flip the pair, and compute the evidence of the edges whose separators have changed."""
        self.n_flips += 1
        self._flips[edge] += 1
        if self._flips[edge] == MOST_FLIPS_OF_A_PAIR:
            self._free[edge] = False
        changed = self._separators.flip(*edge)
        self._monitor.progress(self.n_flips, None, f"separators, {self.graph.n_edges} edges")
        self._refresh({ordered(x, y) for x in changed for y in self.graph.neighbors(x)})

    def _refresh(self, pairs: Collection[Edge]) -> bool:
        """Compute the evidence of these pairs where their separators have changed; return False if none has."""
        ends = np.array(sorted(pairs), dtype=np.intp).reshape(-1, 2)
        number = self._separators.number
        there = np.array([number(u, v) for u, v in ends.tolist()], dtype=np.int32)
        back = np.array([number(v, u) for u, v in ends.tolist()], dtype=np.int32)
        return self._weigh(ends[:, 0], ends[:, 1], there, back)

    def _refresh_all(self) -> bool:
        """Compute the evidence of all pairs whose separators have changed; return False if none has."""
        numbers = self._separators.numbers()
        u, v = np.triu_indices(self._n, 1)
        return self._weigh(u, v, numbers[u, v], numbers[v, u])

    def _weigh(self, u: Places, v: Places, there: Numbers, back: Numbers) -> bool:
        """Compute ev(u, v | S) in both directions where S has changed; once if both separators are equal."""
        stale_there, stale_back = self._given[u, v] != there, self._given[v, u] != back
        if not (stale_there.any() or stale_back.any()):
            return False
        same = there == back
        ask_back = stale_back & ~same
        self._compute(
            np.concatenate([u[stale_there], v[ask_back]]),
            np.concatenate([v[stale_there], u[ask_back]]),
            np.concatenate([there[stale_there], back[ask_back]]),
            self._prices()[0] - self._near,
        )
        self._mirror(u[same], v[same])
        return True

    def _fit(self, pairs: NDArray[np.bool_]) -> None:
        """Fit the evidence of these pairs (u < v) where it is only estimated."""
        u, v = np.nonzero(pairs)
        same = self._given[u, v] == self._given[v, u]
        there, back = ~self._exact[u, v], ~self._exact[v, u] & ~same
        x, y = np.concatenate([u[there], v[back]]), np.concatenate([v[there], u[back]])
        self._compute(x, y, self._given[x, y], -inf)
        self._mirror(u[same], v[same])

    def _mirror(self, u: Places, v: Places) -> None:
        """Copy the evidence of one direction to the other."""
        for known in (self._log_factor, self._exact, self._given):
            known[v, u] = known[u, v]

    def _compute(self, x: Places, y: Places, given: Numbers, fit_above: float) -> None:
        """Compute ev(x, y | the separator of that number); edges are always fitted."""
        present = self._present()[x, y]
        for chosen, above in ((present, -inf), (~present, fit_above)):
            order = np.lexsort((y[chosen], given[chosen], x[chosen]))
            self._scan(x[chosen][order], y[chosen][order], given[chosen][order], above)

    def _scan(self, x: Places, y: Places, given: Numbers, fit_above: float) -> None:
        """Compute them in scans, all y with one x and one separator together; sorted by x and separator."""
        new = np.ones(len(x), dtype=np.bool_)
        new[1:] = (np.diff(x) != 0) | (np.diff(given) != 0)
        starts = np.append(np.flatnonzero(new), len(x))
        for begin in range(0, len(starts) - 1, SCANS_TOGETHER):
            check_cancelled(self._monitor)
            part = starts[begin : begin + SCANS_TOGETHER + 1]
            here = slice(part[0], part[-1])
            sets = [self._separators.sets[number] for number in given[part[:-1]]]
            yss = np.split(y[here], part[1:-1] - part[0])
            found = self._judge.pairs(x[part[:-1]], sets, yss, fit_above=fit_above)
            self._log_factor[x[here], y[here]] = np.concatenate([scan.log_factor for scan in found])
            self._exact[x[here], y[here]] = np.concatenate([scan.exact for scan in found])
            self._given[x[here], y[here]] = given[here]


def _logistic(log_odds: FloatArray) -> FloatArray:
    """Return 1 / (1 + exp(−x)), without overflow."""
    small = np.exp(-np.abs(log_odds))
    return np.where(log_odds >= 0, 1.0, small) / (1.0 + small)
