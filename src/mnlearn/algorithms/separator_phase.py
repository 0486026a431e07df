"""The separator phase: flip the pair that the evidence given its separators contradicts most, until none is.

An edge costs the more the fewer edges there are, and edges that are there but not sure enough to be drawn are edges
too: when nothing is contradicted any more, the probabilities of all pairs are added up, and their sum takes the place
of the number of edges that are drawn (`_recount`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from math import inf, log
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from mnlearn.algorithms._search import Cancelled, Constraints
from mnlearn.algorithms.separating_sets import Separators
from mnlearn.graphs.graph import Edge, Graph
from mnlearn.protocols import EvidenceScore, FloatArray, Monitor, VarSet

MOST_FLIPS_OF_A_PAIR = 4
MOST_FLIPS = 40  # times the number of variables
MOST_RECOUNTS = 20
MOST_ROUNDS, SETTLED = 100, 1e-6  # of a recount, each from the last one's prices; and when it is done, in edges
SCANS_TOGETHER = 512  # asked at once; in between the monitor is heard
Places: TypeAlias = NDArray[np.intp]
Numbers: TypeAlias = NDArray[np.int32]


def price(n_edges: float, n_pairs: int) -> float:
    """k(E): what the (E + 1)-th edge costs under a uniform prior on their number."""
    return max(0.0, log((n_pairs - n_edges) / (n_edges + 1))) if n_edges < n_pairs else 0.0


class SeparatorPhase:
    """A graph, the evidence of every pair given its separators, and the flips that the evidence asks for."""

    def __init__(
        self, judge: EvidenceScore, graph: Graph, known: Constraints, monitor: Monitor, *, near: float
    ) -> None:
        n = judge.n_variables
        self.n_flips = 0
        self._n_recounts = 0
        self._missed = 0.0  # edges that are expected beyond those in the graph
        self.weighed = False  # whether every pair has been, once
        self._near = near
        self._judge, self._monitor, self._n = judge, monitor, n
        self._separators = Separators(graph)
        self._n_pairs = n * (n - 1) // 2
        self._log_factor = np.zeros((n, n))  # [x, y]: ev(x, y | sep(x; y))
        self._given = np.full((n, n), -1, dtype=np.int32)  # [x, y]: the number of the separator it was taken given
        self._exact = np.zeros((n, n), dtype=np.bool_)
        self._known = known
        self._free = np.triu(known.mask())
        self._flips: Counter[Edge] = Counter()

    @property
    def graph(self) -> Graph:
        """The graph as it is now."""
        return self._separators.graph

    @property
    def expected_edges(self) -> float:
        """How many edges there are by their probabilities, those of absent pairs included."""
        return self.graph.n_edges + self._missed

    def run(self) -> bool:
        """Flip until nothing is contradicted; false if the limit on flips came first."""
        self._refresh_all()
        self.weighed = True
        while self.n_flips < MOST_FLIPS * self._n:
            self._listen()
            worst = self._most_contradicted()
            if worst is None:
                quiet = not self._refresh_all() or self._most_contradicted() is None
                if quiet and not self._recount():
                    return True
            elif not self._refresh([worst]):
                self._flip(worst)
        return False

    def log_odds(self) -> FloatArray:
        """e_G − k of every pair, k counting the other edges; −inf on the diagonal."""
        present = self._present()
        k_absent, k_present = self._prices()
        odds = self._evidence() - np.where(present, k_present, k_absent)
        np.fill_diagonal(odds, -inf)
        return odds

    def support(self) -> dict[Edge, float]:
        """The log-odds of each edge."""
        k = self._prices()[1]
        return {(u, v): float(self._log_factor[u, v] + self._log_factor[v, u]) / 2 - k for u, v in self.graph.edges}

    def _evidence(self) -> FloatArray:
        """e_G of every pair."""
        return (self._log_factor + self._log_factor.T) / 2

    def _present(self) -> NDArray[np.bool_]:
        present = np.zeros((self._n, self._n), dtype=np.bool_)
        ends = np.array(self.graph.edges, dtype=np.intp).reshape(-1, 2)
        present[ends[:, 0], ends[:, 1]] = present[ends[:, 1], ends[:, 0]] = True
        return present

    def _prices(self) -> tuple[float, float]:
        """k for one edge more, and k for the last of those there are."""
        one_less = max(0.0, self.expected_edges - 1)
        return price(self.expected_edges, self._n_pairs), price(one_less, self._n_pairs) if self.graph.n_edges else 0.0

    def _recount(self) -> bool:
        """Find how many edges are expected beyond those in the graph; false if as many as before.

        The sum of all probabilities less the edges, at prices that count them already; at least none, and no more than
        are seen: where the data say little about any pair, all of them together must not say much. (With one allowed
        where none is seen, independent data had false edges in 9 of 120 draws instead of 4.)
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
        """The free pair with the largest violation, fitted; None if there is none."""
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
            u, v = divmod(int(violation.argmax()), self._n)
            return (u, v) if violation[u, v] > TOLERANCE else None

    def _flip(self, edge: Edge) -> None:
        """Flip it, and weigh again the edges that have other separators now."""
        self.n_flips += 1
        self._flips[edge] += 1
        if self._flips[edge] == MOST_FLIPS_OF_A_PAIR:
            self._free[edge] = False
        changed = self._separators.flip(*edge)
        self._monitor.progress(self.n_flips, None, f"separators, {self.graph.n_edges} edges")
        self._refresh({(min(x, y), max(x, y)) for x in changed for y in self.graph.neighbors(x)})

    def _refresh(self, pairs: Collection[Edge]) -> bool:
        """Weigh these pairs again where their separators have changed; false if none has."""
        ends = np.array(sorted(pairs), dtype=np.intp).reshape(-1, 2)
        number = self._separators.number
        there = np.array([number(u, v) for u, v in ends.tolist()], dtype=np.int32)
        back = np.array([number(v, u) for u, v in ends.tolist()], dtype=np.int32)
        return self._weigh(ends[:, 0], ends[:, 1], there, back)

    def _refresh_all(self) -> bool:
        """The same for all pairs."""
        numbers = self._separators.numbers()
        u, v = np.triu_indices(self._n, 1)
        return self._weigh(u, v, numbers[u, v], numbers[v, u])

    def _weigh(self, u: Places, v: Places, there: Numbers, back: Numbers) -> bool:
        """Ask for ev(u, v | S) in both directions where S is another than before; once if both have the same."""
        stale_there, stale_back = self._given[u, v] != there, self._given[v, u] != back
        if not (stale_there.any() or stale_back.any()):
            return False
        same = there == back
        ask_back = stale_back & ~same
        self._ask(
            np.concatenate([u[stale_there], v[ask_back]]),
            np.concatenate([v[stale_there], u[ask_back]]),
            np.concatenate([there[stale_there], back[ask_back]]),
            self._prices()[0] - self._near,
        )
        self._mirror(u[same], v[same])
        return True

    def _fit(self, pairs: NDArray[np.bool_]) -> None:
        """Fit what was only estimated of these pairs (u < v)."""
        u, v = np.nonzero(pairs)
        same = self._given[u, v] == self._given[v, u]
        there, back = ~self._exact[u, v], ~self._exact[v, u] & ~same
        x, y = np.concatenate([u[there], v[back]]), np.concatenate([v[there], u[back]])
        self._ask(x, y, self._given[x, y], -inf)
        self._mirror(u[same], v[same])

    def _mirror(self, u: Places, v: Places) -> None:
        """The evidence of one direction is that of the other."""
        for known in (self._log_factor, self._exact, self._given):
            known[v, u] = known[u, v]

    def _ask(self, x: Places, y: Places, given: Numbers, fit_above: float) -> None:
        """ev(x, y | the separator of that number); edges are fitted, whatever they seem to be worth."""
        present = self._present()[x, y]
        for chosen, above in ((present, -inf), (~present, fit_above)):
            order = np.lexsort((y[chosen], given[chosen], x[chosen]))
            self._scan(x[chosen][order], y[chosen][order], given[chosen][order], above)

    def _scan(self, x: Places, y: Places, given: Numbers, fit_above: float) -> None:
        """The same in scans, all y with one x and one separator together; sorted by x and separator."""
        new = np.ones(len(x), dtype=np.bool_)
        new[1:] = (np.diff(x) != 0) | (np.diff(given) != 0)
        starts = np.append(np.flatnonzero(new), len(x))
        for begin in range(0, len(starts) - 1, SCANS_TOGETHER):
            self._listen()
            part = starts[begin : begin + SCANS_TOGETHER + 1]
            here = slice(part[0], part[-1])
            sets = [self._separators.sets[number] for number in given[part[:-1]]]
            yss = np.split(y[here], part[1:-1] - part[0])
            found = self._judge.pairs(x[part[:-1]], sets, yss, fit_above=fit_above)
            self._log_factor[x[here], y[here]] = np.concatenate([scan.log_factor for scan in found])
            self._exact[x[here], y[here]] = np.concatenate([scan.exact for scan in found])
            self._given[x[here], y[here]] = given[here]

    def _listen(self) -> None:
        if self._monitor.cancelled():
            raise Cancelled


def _logistic(log_odds: FloatArray) -> FloatArray:
    """1 / (1 + exp(−x)), without overflow."""
    small = np.exp(-np.abs(log_odds))
    return np.where(log_odds >= 0, 1.0, small) / (1.0 + small)


# Blankets by evidence: for each variable the neighbours that explain it best, all variables side by side.
#
# The objective of a blanket Z of x is H(x | Z) − |Z| ln n, and every step raises it: so the climb ends.


TOLERANCE = 1e-9  # a smaller rise is rounding, and no improvement
MOST_BEFORE_PAIRS = 3  # look for pairs only around blankets of at most so many


@dataclass
class _Climb:
    """One variable on its way."""

    x: int
    blanket: VarSet
    required: VarSet
    candidates: NDArray[np.int64]  # whoever may ever join
    value: float = 0.0
    joined: dict[int, float] = field(default_factory=dict)  # what each member was worth when it came

    def open(self) -> NDArray[np.int64]:
        """Who may join now."""
        return self.candidates[~np.isin(self.candidates, list(self.blanket))]


class Blankets:
    """Climb from the required neighbours: the best addition, then every worthwhile removal, again and again.

    Parameters
    ----------
    judge
        Weighs blankets.
    known
        Required neighbours never leave, forbidden ones never join.
    look_ahead
        Whether to try pairs of variables, with the full table, where no single one helps.
    monitor
        May stop the climb.
    """

    def __init__(self, judge: EvidenceScore, known: Constraints, *, look_ahead: bool, monitor: Monitor) -> None:
        n = judge.n_variables
        self._judge, self._look_ahead, self._monitor = judge, look_ahead, monitor
        self._price = log(n)
        may = known.mask()
        self.climbs = [_Climb(x, frozenset(), frozenset(), np.flatnonzero(may[x])) for x in range(n)]
        for u, v in known.required:
            for x, y in ((u, v), (v, u)):
                self.climbs[x].required |= {y}
        for climb in self.climbs:
            climb.blanket = climb.required

    def run(self) -> None:
        """Climb until nobody can rise."""
        active, n = self.climbs, len(self.climbs)
        for climb, value in zip(active, self._judge.locals(range(n), [c.blanket for c in active]), strict=True):
            climb.value = float(value)
        while active:
            self._listen()
            self._monitor.progress(n - len(active), n, "blankets")
            grown = self._grow(active)
            self._shrink(grown)
            done = {c.x for c in active} - {c.x for c in grown}
            paired = [c for c in active if c.x in done and self._add_pair(c)] if self._look_ahead else []
            active = sorted([*grown, *paired], key=lambda climb: climb.x)

    def evidence(self) -> dict[tuple[int, int], float]:
        """For each x and y where y is in x's blanket or x in y's: what y is worth to x given the rest."""
        worth = {}
        leaving = self._judge.removals([c.x for c in self.climbs], [c.blanket for c in self.climbs])
        for climb, values in zip(self.climbs, leaving, strict=True):
            worth.update({(climb.x, y): climb.value - h for y, h in zip(sorted(climb.blanket), values, strict=True)})
        missed: list[list[int]] = [[] for _ in self.climbs]  # whoever counts x in without being counted in
        for climb in self.climbs:
            for y in climb.blanket:
                if climb.x not in self.climbs[y].blanket:
                    missed[y].append(climb.x)
        for climb, ys, values in zip(self.climbs, missed, self._additions(self.climbs, missed), strict=True):
            worth.update({(climb.x, y): h - climb.value for y, h in zip(ys, values, strict=True)})
        return {pair: float(value) for pair, value in worth.items()}

    def first_impressions(self) -> dict[tuple[int, int], float]:
        """What each member of a blanket was worth when it joined: all that a climb cut short can tell."""
        return {(climb.x, y): climb.joined[y] for climb in self.climbs for y in climb.blanket if y in climb.joined}

    def _grow(self, active: Sequence[_Climb]) -> list[_Climb]:
        """Add to each the y that raises it most, if by more than ln n. Returns those that grew."""
        open_ = [climb.open() for climb in active]
        ranked = self._judge.estimates([c.x for c in active], [c.blanket for c in active], open_)
        values = [np.array(row) for row in ranked]
        exact = [np.zeros(len(row), dtype=np.bool_) for row in values]
        grown, undecided = [], list(range(len(active)))
        while undecided:  # rank by estimates, fit the leaders, until every leader is fitted
            leaders = {}
            for k in undecided:
                best = self._leader(values[k], active[k].value + self._price)
                if best is not None and not exact[k][best]:
                    leaders[k] = best
                elif best is not None:
                    self._join(active[k], {int(open_[k][best])}, float(values[k][best]))
                    grown.append(active[k])
            undecided = list(leaders)
            fitted = self._additions([active[k] for k in undecided], [[open_[k][leaders[k]]] for k in undecided])
            for k, value in zip(undecided, fitted, strict=True):
                values[k][leaders[k]], exact[k][leaders[k]] = value[0], True
        return sorted(grown, key=lambda climb: climb.x)

    def _shrink(self, climbs: Sequence[_Climb]) -> None:
        """Drop from each the member it misses least, for as long as it misses it by less than ln n."""
        while climbs:
            self._listen()
            smaller = self._judge.removals([c.x for c in climbs], [c.blanket for c in climbs])
            dropped = []
            for climb, values in zip(climbs, smaller, strict=True):
                members = sorted(climb.blanket)
                values[[k for k, y in enumerate(members) if y in climb.required]] = -np.inf
                worst = self._leader(values, climb.value - self._price)
                if worst is not None:
                    climb.blanket -= {members[worst]}
                    climb.value = float(values[worst])
                    dropped.append(climb)
            climbs = dropped

    def _add_pair(self, climb: _Climb) -> bool:
        """Add the two variables that explain x best together, if by more than 2 ln n."""
        if len(climb.blanket) > MOST_BEFORE_PAIRS:
            return False
        self._listen()
        found = self._judge.best_pair(climb.x, climb.blanket, climb.open())
        if found is None or found[1] - climb.value <= 2 * self._price + TOLERANCE:
            return False
        pair = frozenset(found[0])
        self._join(climb, pair, self._judge.local(climb.x, climb.blanket | pair))
        return True

    @staticmethod
    def _join(climb: _Climb, newcomers: VarSet | set[int], value: float) -> None:
        climb.joined.update(dict.fromkeys(newcomers, (value - climb.value) / len(newcomers)))
        climb.blanket |= newcomers
        climb.value = value

    @staticmethod
    def _leader(values: FloatArray, than: float) -> int | None:
        """The largest value, if it is larger than that; ties by index."""
        if not len(values):
            return None
        best = int(values.argmax())
        return best if values[best] > than + TOLERANCE else None

    def _additions(self, climbs: Sequence[_Climb], yss: Sequence[Sequence[int]]) -> list[FloatArray]:
        return self._judge.additions([c.x for c in climbs], [c.blanket for c in climbs], yss)

    def _listen(self) -> None:
        if self._monitor.cancelled():
            raise Cancelled
