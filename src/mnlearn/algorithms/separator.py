"""Separator evidence: join two variables if the evidence for it is positive given what separates them otherwise.

A method of this library, without a paper. Three ideas:

- the evidence of an edge is a log Bayes factor, ev(x, y | S), of local models with a linear penalty for hubs that
  still include interactions of any order (H of `mnlearn.scores.evidence`);
- it is conditional on a separator of the two in the current graph, not on whole blankets:
  e_G(x, y) = [ev(x, y | sep(x; y)) + ev(x, y | sep(y; x))] / 2. On a tree that is the marginal Bayes factor, on a grid
  close to the test given the blanket, and for two parents of a common child it conditions on the child;
- the number of edges is uniform a priori, and so are the graphs of each number: the (E + 1)-th edge costs
  k(E) = max(0, ln((M − E) / (E + 1))), M = n (n − 1) / 2. E is the expected number of edges by the probabilities of
  all pairs, not the number of present edges. There is no parameter, and independent data give almost no false edges.

The search starts from blankets joined by OR and flips the pair that the evidence contradicts most, until none is
contradicted (separator_phase.py). In the end e_G − k are log-odds: every pair has a probability.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import log
from time import perf_counter
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from mnlearn._ties import ABSOLUTE, first_best, tolerance
from mnlearn.algorithms._association import EvidenceAssociation
from mnlearn.algorithms._search import STOPPED, Constraints, check_cancelled, check_parts, check_variables
from mnlearn.algorithms.separator_phase import SeparatorPhase, price
from mnlearn.errors import InputError, check_name, true_or_false
from mnlearn.graphs.graph import Edge, Graph
from mnlearn.protocols import SILENT, EvidenceScore, FloatArray, Monitor, Result, VarSet

Effort = Literal["fast", "standard", "thorough"]
NEAR: Mapping[str, float] = {"standard": 3.0, "thorough": 8.0}
"""Absent pairs are fitted where a one-step estimate is this close to the threshold. On samples of Alarm, Insurance,
stars and grids fits exceeded estimates by at most 3.1, with three-way terms, which estimates omit, by 6.3."""

MOST_BEFORE_PAIRS = 3  # pairs are searched only for blankets of at most so many members


@dataclass(frozen=True, kw_only=True)
class SeparatorEvidence:
    """Flip the pair that the evidence given its separators contradicts most, until none is.

    Parameters
    ----------
    effort
        ``"fast"``: blankets by evidence, joined by OR. ``"standard"``: then the separator phase. ``"thorough"``:
        also three-way terms, and a search over pairs of variables where no single one improves.
    required, forbidden
        Edges that every graph of the search has, or none: pairs of indices.
    start
        Where the separator phase starts; None for the blankets.
    keep_pairs
        Whether the result stores the log-odds of all pairs (`Result.log_odds`).

    Raises
    ------
    InputError
        If a setting breaks its rule; and from `learn`, if there are fewer than 2 variables.

    Notes
    -----
    Deterministic, no random numbers. Of equal evidence the stronger marginal association joins and the weaker leaves,
    then the pair with fewer neighbours is flipped, then the one whose variables are associated more with all others. So
    the order of the columns matters only for variables that no marginal association tells apart, such as exact copies:
    the first of them is taken. A pair flips at most 4 times, and there are at most 40 n flips.

    The support of an edge is e_G − k(E − 1), its log-odds; the probability is 1 / (1 + exp(−support)). E is the sum of
    the probabilities of all pairs, `cost["expected_edges"]`, but at most twice the number of present edges. With
    ``"fast"`` the support is the mean evidence of the two ends given the rest of their blankets, less k(E − 1), E
    counting the edges. The evidence of absent pairs far below the threshold is a one-step estimate, that of present and
    doubtful ones a fit.

    Cost: the evidence of each pair is computed given its two separators, all y with a common separator in one scan;
    after a flip only where separators have changed. The search over pairs of variables is cubic in their number.
    Memory: a few numbers for each pair.

    Examples
    --------
    >>> from mnlearn.data import Dataset
    >>> from mnlearn.scores import HybridEvidence
    >>> from mnlearn.statistics import Counts
    >>> a, b = [0, 1] * 40, [0, 0, 1, 1] * 20
    >>> data = Dataset.from_codes([a, a, b, [u ^ v for u, v in zip(a, b)]])
    >>> SeparatorEvidence().learn(HybridEvidence(Counts(data))).graph
    Graph(4, [(0, 1), (0, 2), (0, 3), (2, 3)])
    """

    effort: Effort = "thorough"
    required: Collection[Edge] = ()
    forbidden: Collection[Edge] = ()
    start: Graph | None = None
    keep_pairs: bool = False

    def __post_init__(self) -> None:
        true_or_false(keep_pairs=self.keep_pairs)
        check_name("effort", self.effort, get_args(Effort))
        if self.effort == "fast" and (self.start is not None or self.keep_pairs):
            given = "start" if self.start is not None else "keep_pairs"
            raise InputError(
                f"{given} is for the separator phase, which effort='fast' skips; got both. Use effort='standard'."
            )

    def learn(self, judge: EvidenceScore, monitor: Monitor = SILENT) -> Result:
        """Return the structure; see the class for the order of the steps."""
        started = perf_counter()
        check_parts(judge, monitor, ("with_three_way",), "Use HybridEvidence(Counts(data)).")
        known = self._checked(judge.n_variables)
        score = judge.with_three_way(self.effort == "thorough")
        blankets = EvidenceBlankets(score, known, look_ahead=self.effort == "thorough", monitor=monitor)
        phase: SeparatorPhase | None = None
        evidence: Mapping[tuple[int, int], float] | None = None
        try:
            if self.start is None:
                blankets.run()
            if self.effort == "fast":
                evidence, converged = blankets.evidence(), True
            else:
                graph = start_graph(blankets, known, self.start)
                ties = (blankets.association, blankets.rounding)
                phase = SeparatorPhase(score, graph, known, monitor, near=NEAR[self.effort], ties=ties)
                converged = phase.run()
        except STOPPED:
            converged = False
        if phase and phase.weighed:
            graph, support = phase.graph, phase.support()
        else:
            graph = start_graph(blankets, known, self.start)
            support = by_blankets(graph, blankets.first_evidence() if evidence is None else evidence)
        cost: dict[str, float] = {**score.work, "flips": phase.n_flips if phase else 0}
        if phase and phase.weighed:
            cost["expected_edges"] = phase.expected_edges
        cost["seconds"] = perf_counter() - started
        found = Result(
            graph, None, support, converged, cost, vars(self).copy(), support_scale="log_odds", probabilistic=True
        )
        return replace(found, log_odds=phase.log_odds()) if phase and self.keep_pairs else found

    def _checked(self, n: int) -> Constraints:
        check_variables(n)
        if self.start is not None and self.start.n_variables != n:
            raise InputError(
                f"start must have the {n} variables of the judge; got {self.start.n_variables}. Start from a graph of "
                "the same data."
            )
        return Constraints(n, self.required, self.forbidden)


def start_graph(blankets: EvidenceBlankets, known: Constraints, start: Graph | None) -> Graph:
    """Return the given start, or the graph that joins x and y when one is in the blanket of the other."""
    if start is None:
        start = Graph(len(blankets.climbs), [(c.x, y) for c in blankets.climbs for y in c.blanket])
    return known.apply(start)


def by_blankets(graph: Graph, evidence: Mapping[tuple[int, int], float]) -> dict[Edge, float]:
    """Return the log-odds of each edge without separators: the mean evidence of its two ends, less k."""
    n = graph.n_variables
    k = price(graph.n_edges - 1, n * (n - 1) // 2) if graph.n_edges else 0.0
    return {(u, v): (evidence.get((u, v), 0.0) + evidence.get((v, u), 0.0)) / 2 - k for u, v in graph.edges}


@dataclass
class _Climb:
    """The blanket of one variable during the climb."""

    x: int
    blanket: VarSet
    required: VarSet
    candidates: NDArray[np.int64]  # variables that may join at any time
    value: float = 0.0
    joined: dict[int, float] = field(default_factory=dict)  # the evidence for each member when it joined

    def outside(self) -> NDArray[np.int64]:
        """Return the variables that may join now."""
        return self.candidates[~np.isin(self.candidates, list(self.blanket))]


class EvidenceBlankets:
    """Blankets by evidence: from the required neighbours, the best addition, then every removal that improves.

    The objective of a blanket Z of x is H(x | Z) − |Z| ln n. Every step raises it, so the climb ends.

    Parameters
    ----------
    judge
        Scores blankets.
    known
        Required neighbours never leave, forbidden ones never join.
    look_ahead
        Whether to try pairs of variables, with the full table, where no single one improves.
    monitor
        May cancel the climb.
    """

    def __init__(self, judge: EvidenceScore, known: Constraints, *, look_ahead: bool, monitor: Monitor) -> None:
        n = judge.n_variables
        self._judge, self._look_ahead, self._monitor = judge, look_ahead, monitor
        self._penalty = log(n)
        self.rounding, self.association = ABSOLUTE, EvidenceAssociation(judge)
        may = known.mask()
        self.climbs = [_Climb(x, frozenset(), frozenset(), np.flatnonzero(may[x])) for x in range(n)]
        for u, v in known.required:
            for x, y in ((u, v), (v, u)):
                self.climbs[x].required |= {y}
        for climb in self.climbs:
            climb.blanket = climb.required

    def run(self) -> None:
        """Climb until no blanket improves."""
        active, n = self.climbs, len(self.climbs)
        for climb, value in zip(active, self._judge.locals(range(n), [c.blanket for c in active]), strict=True):
            climb.value = float(value)
        self.rounding = tolerance(climb.value for climb in active)
        while active:
            check_cancelled(self._monitor)
            self._monitor.progress(n - len(active), n, "blankets")
            grown = self._grow(active)
            self._shrink(grown)
            done = {c.x for c in active} - {c.x for c in grown}
            paired = [c for c in active if c.x in done and self._add_pair(c)] if self._look_ahead else []
            active = sorted([*grown, *paired], key=lambda climb: climb.x)

    def evidence(self) -> dict[tuple[int, int], float]:
        """Return the evidence for y to x given the rest of its blanket, where y is in that of x or x in that of y."""
        found = {}
        leaving = self._judge.removals([c.x for c in self.climbs], [c.blanket for c in self.climbs])
        for climb, values in zip(self.climbs, leaving, strict=True):
            found.update({(climb.x, y): climb.value - h for y, h in zip(sorted(climb.blanket), values, strict=True)})
        missed: list[list[int]] = [[] for _ in self.climbs]  # for x: outside its blanket, with x in theirs
        for climb in self.climbs:
            for y in climb.blanket:
                if climb.x not in self.climbs[y].blanket:
                    missed[y].append(climb.x)
        for climb, ys, values in zip(self.climbs, missed, self._additions(self.climbs, missed), strict=True):
            found.update({(climb.x, y): h - climb.value for y, h in zip(ys, values, strict=True)})
        return {pair: float(value) for pair, value in found.items()}

    def first_evidence(self) -> dict[tuple[int, int], float]:
        """Return the evidence for each member when it joined: the only evidence of a cancelled climb."""
        return {(climb.x, y): climb.joined[y] for climb in self.climbs for y in climb.blanket if y in climb.joined}

    def _grow(self, active: Sequence[_Climb]) -> list[_Climb]:
        """Add to each the y that raises it most, if by more than ln n; return those that grew."""
        outside = [climb.outside() for climb in active]
        ranked = self._judge.estimates([c.x for c in active], [c.blanket for c in active], outside)
        values = [np.array(row) for row in ranked]
        exact = [np.zeros(len(row), dtype=np.bool_) for row in values]
        grown, undecided = [], list(range(len(active)))
        while undecided:  # rank by estimates and fit the best, until every best one is fitted
            leaders = {}
            for k in undecided:
                ties = self.association.joining(active[k].x, outside[k])
                best = first_best(values[k], active[k].value + self._penalty, self.rounding, *ties)
                if best is not None and not exact[k][best]:
                    leaders[k] = best
                elif best is not None:
                    self._join(active[k], {int(outside[k][best])}, float(values[k][best]))
                    grown.append(active[k])
            undecided = list(leaders)
            fitted = self._additions([active[k] for k in undecided], [[outside[k][leaders[k]]] for k in undecided])
            for k, value in zip(undecided, fitted, strict=True):
                values[k][leaders[k]], exact[k][leaders[k]] = value[0], True
        return sorted(grown, key=lambda climb: climb.x)

    def _shrink(self, climbs: Sequence[_Climb]) -> None:
        """Remove from each the member with the least evidence, while that is less than ln n."""
        while climbs:
            check_cancelled(self._monitor)
            smaller = self._judge.removals([c.x for c in climbs], [c.blanket for c in climbs])
            dropped = []
            for climb, values in zip(climbs, smaller, strict=True):
                members = sorted(climb.blanket)
                values[[k for k, y in enumerate(members) if y in climb.required]] = -np.inf
                ties = self.association.leaving(climb.x, members)
                worst = first_best(values, climb.value - self._penalty, self.rounding, *ties)
                if worst is not None:
                    climb.blanket -= {members[worst]}
                    climb.value = float(values[worst])
                    dropped.append(climb)
            climbs = dropped

    def _add_pair(self, climb: _Climb) -> bool:
        """Add the best pair of variables, if it raises the score by more than 2 ln n; return whether it does."""
        if len(climb.blanket) > MOST_BEFORE_PAIRS:
            return False
        check_cancelled(self._monitor)
        found = self._judge.best_pair(climb.x, climb.blanket, climb.outside())
        if found is None or found[1] - climb.value <= 2 * self._penalty + self.rounding:
            return False
        pair = frozenset(found[0])
        self._join(climb, pair, self._judge.local(climb.x, climb.blanket | pair))
        return True

    @staticmethod
    def _join(climb: _Climb, newcomers: VarSet | set[int], value: float) -> None:
        climb.joined.update(dict.fromkeys(newcomers, (value - climb.value) / len(newcomers)))
        climb.blanket |= newcomers
        climb.value = value

    def _additions(self, climbs: Sequence[_Climb], yss: Sequence[Sequence[int]]) -> list[FloatArray]:
        return self._judge.additions([c.x for c in climbs], [c.blanket for c in climbs], yss)
