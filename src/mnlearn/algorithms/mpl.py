"""Two-phase search: every blanket by itself, then one graph from the edges that the blankets propose.

Pensar, Nyman, Niiranen & Corander, Bayesian Analysis (2017)  [MPL17], Sec. 4.2. A graph is a set of blankets that agree
with one another (Eq. 10). The first phase drops the agreement, which leaves one small problem per variable (Eq. 11);
the edges found from either end are then few enough to search the graphs made of them (Eq. 12, 13).

The paper searches by its marginal pseudo-likelihood; any score that is a sum over variables can be used, among them its
rival PIC. All blankets are searched in step, so that each round scores many candidates at once.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from time import perf_counter
from typing import Literal, Protocol, get_args

import numpy as np
from numpy.typing import NDArray

from mnlearn._ties import first_best, tolerance
from mnlearn.algorithms._association import ScoreAssociation
from mnlearn.algorithms._search import STOPPED, Constraints, check_cancelled, check_monitor, check_parts
from mnlearn.errors import InputError, UnsuitableError, check_name, whole_number
from mnlearn.graphs.graph import Edge, Graph
from mnlearn.protocols import SILENT, FloatArray, LocalScore, Monitor, Result, ScoredGraph, SearchableScore, VarSet

Combine = Literal["phase2", "and", "or", "conflict"]
_BLOCK = 1 << 22  # candidates scored at once: 32 MiB


class LocalSearchableScore(LocalScore, SearchableScore, Protocol):
    """Score that is a sum over variables and can be updated from flip to flip: MPL, PIC, IB."""


@dataclass(frozen=True, kw_only=True)
class TwoPhase:
    """Climb to the best blanket of each variable, then to the best graph made of the edges they propose.

    Parameters
    ----------
    combine
        How the blankets make one graph. ``"phase2"``: climb by single flips among the edges of the OR graph, from
        no edges, as in [MPL17]. ``"and"``: both ends must propose an edge. ``"or"``: one is enough. ``"conflict"``:
        climb from the AND graph, flipping only pairs on which the two ends disagree  [BJP18, Sec. 2.2.1].
    max_blanket
        The most neighbours of a variable; None for no limit. The OR graph alone may have more: there the limit holds
        for the proposals of each variable.
    required, forbidden
        Edges that every graph of the search has, or none.
    start
        A graph, or the result of another search, to start both phases from ("conflict": the first one); its edges may
        be removed again. None for no edges, as in the paper.

    Raises
    ------
    InputError
        If a setting breaks its rule; and from `learn`, before anything is scored, if there are fewer than 2
        variables, or the graph to start from or the required edges do not fit.
    UnsuitableError
        From `learn`, if the judge is not a local score.

    Notes
    -----
    Phase 1 for each variable: the best addition, then the best deletions until none improves, and again
    [MPL17, Algorithm 1]. Phase 2: the best flip, while it improves [Algorithm 2]; after a flip only the flips at its
    two ends are evaluated again. The variables are searched in step but independently of each other.

    A tie does not improve. Of moves whose scores tie, the stronger marginal association joins and the weaker leaves;
    then, in phase 2, the edge of variables with fewer neighbours is taken; then the variable that is associated more
    with all others. So the order of the columns matters only for variables that no marginal association tells apart,
    such as exact copies: the first of them is taken.

    The support of an edge is the loss of score without it: the log pseudo Bayes factor of Eq. 9, plus the log prior
    odds when the score has a graph prior. Larger is stronger. Pseudo-likelihood counts each row once for every
    variable, so the factor is overconfident as a probability.

    A search that is stopped in phase 1 returns the edges that both ends propose so far (either end, for "or"); in
    phase 2, its current graph. `stages` of the result holds the AND and the OR graph, and the graph of phase 2.

    Examples
    --------
    >>> from mnlearn.data import Dataset
    >>> from mnlearn.scores import MPL
    >>> from mnlearn.statistics import Counts
    >>> rows = [(x ^ y, y, z ^ y) for y in (0, 1) for x in (0, 0, 0, 1) for z in (0, 0, 0, 1)] * 10
    >>> result = TwoPhase().learn(MPL(Counts(Dataset.from_codes(list(zip(*rows))))))
    >>> result.graph.edges
    ((0, 1), (1, 2))
    >>> result.stages["or"] == result.graph
    True
    """

    combine: Combine = "phase2"
    max_blanket: int | None = None
    required: tuple[Edge, ...] = ()
    forbidden: tuple[Edge, ...] = ()
    start: Graph | Result | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.start, Graph | Result | None):
            raise InputError(
                f"start must be a Graph or the result of a search; got a {type(self.start).__name__}. Leave it out to "
                "start from no edges."
            )
        check_name("combine", self.combine, get_args(Combine))
        if self.max_blanket is not None:
            whole_number("max_blanket", self.max_blanket, least=0, hint="Use None for no limit.")

    def learn(self, judge: LocalSearchableScore, monitor: Monitor = SILENT) -> Result:
        """Return the graph of the two phases; see the class."""
        started = perf_counter()
        check_monitor(monitor)
        known, start = self._known(judge)
        blankets = PhaseOne(judge, known, start, self.max_blanket)
        converged = blankets.climb(monitor)  # phase 1
        stages = {"and": blankets.both(), "or": blankets.either()}
        cost = {"phase1_scored": blankets.scored, "rounds": blankets.rounds, "phase2_scored": 0, "flips": 0}
        if converged and self.combine in ("phase2", "conflict"):
            first = start if self.combine == "phase2" else stages["and"]
            scored = judge.on(first)
            flips = PhaseTwo(scored, self._eligible(known, first, stages), self.max_blanket, blankets)
            converged = flips.climb(monitor)
            stages[self.combine] = scored.graph
            cost |= {"phase2_scored": flips.scored, "flips": flips.made}
        else:
            scored = judge.on(stages["or" if self.combine == "or" else "and"])
        support = edge_support(scored)
        return Result(
            graph=scored.graph,
            score=scored.value,
            support=support,
            converged=converged,
            cost={**cost, "scored": cost["phase1_scored"] + cost["phase2_scored"], "seconds": perf_counter() - started},
            settings={setting.name: getattr(self, setting.name) for setting in fields(self)} | {"start": self._given()},
            support_scale="log_odds",
            stages=stages,
        )

    def _given(self) -> Graph | None:
        """Return the given start as a graph."""
        return self.start.graph if isinstance(self.start, Result) else self.start

    def _eligible(self, known: Constraints, first: Graph, stages: Mapping[str, Graph]) -> list[Edge]:
        """Return the edges that phase 2 may flip: G_or (Eq. 12) and the given start; or only the disputed ones."""
        if self.combine == "conflict":
            edges = set(stages["or"].edges) - set(stages["and"].edges)
        else:
            edges = {*stages["or"].edges, *first.edges}
        return sorted(edges - known.fixed)

    def _known(self, judge: LocalSearchableScore) -> tuple[Constraints, Graph]:
        """Return the constraints and the start, checked before anything is scored."""
        for method in ("additions", "removals", "on"):
            if not hasattr(judge, method):
                raise UnsuitableError(
                    f"TwoPhase cannot search by a {type(judge).__name__}, which has no {method}. Use a score that is a "
                    "sum over variables, such as MPL or PIC."
                )
        n = check_parts(judge, SILENT, ("on",), "Use MPL(Counts(data)) or PIC(Counts(data)).")
        given = self._given()
        if given is not None and given.n_variables != n:
            raise InputError(
                f"start must be a graph on the {n} variables of the judge; got one on {given.n_variables}. Leave "
                "it out to start from no edges."
            )
        known = Constraints(n, self.required, self.forbidden)
        start = known.apply(Graph.empty(n) if given is None else given)
        fullest = int(start.degrees().max())
        if self.max_blanket is not None and fullest > self.max_blanket:
            raise InputError(
                f"max_blanket must leave room for the required edges and the start; got {self.max_blanket}, where a "
                f"variable has {fullest} neighbours to begin with. Raise it, or drop some edges."
            )
        return known, start


class PhaseOne:
    """Additions, each followed by deletions, for every variable by itself  [MPL17, Eq. 11; Algorithm 1].

    All variables take their next step together, so that a block of them is one batch; no blanket depends on another.
    """

    def __init__(self, score: LocalScore, known: Constraints, start: Graph, max_blanket: int | None) -> None:
        n = known.n_variables
        self.blankets: list[VarSet] = [start.neighbors(x) for x in range(n)]
        self._scored, self.rounds = 0, 0
        alone = [score.local(x, frozenset()) for x in range(n)]
        self.rounding, self.association = tolerance(alone), ScoreAssociation(score)
        self._scores = [score.local(x, blanket) if blanket else alone[x] for x, blanket in enumerate(self.blankets)]
        self._score, self._limit = score, n - 1 if max_blanket is None else max_blanket
        self._required, self._forbidden = neighbors_of(known.required), neighbors_of(known.forbidden)
        self._variables, self._all = np.arange(n, dtype=np.int32), np.ones(n, dtype=np.bool_)

    def climb(self, monitor: Monitor) -> bool:
        """Climb to the local optimum; return False if the monitor stops it before."""
        try:
            self._shrink([x for x, blanket in enumerate(self.blankets) if blanket], monitor)  # of a given start
            growing = list(range(len(self.blankets)))
            while growing:
                growing = self._grow_all(growing, monitor)
                # A single member has just improved the score: it stays.
                self._shrink([x for x in growing if len(self.blankets[x]) > 1], monitor)
        except STOPPED:
            return False
        return True

    @property
    def scored(self) -> int:
        """Number of local scores computed, those that decide ties included."""
        return self._scored + self.association.scored

    def both(self) -> Graph:
        """Return E_and: the edges that both ends propose."""
        pairs = ((x, y) for x, blanket in enumerate(self.blankets) for y in blanket)
        return Graph(len(self.blankets), ((x, y) for x, y in pairs if x in self.blankets[y]))

    def either(self) -> Graph:
        """Return E_or: the edges that at least one end proposes."""
        return Graph(len(self.blankets), ((x, y) for x, blanket in enumerate(self.blankets) for y in blanket))

    def _grow_all(self, xs: Sequence[int], monitor: Monitor) -> list[int]:
        """Add to each of these blankets, in blocks that bound the memory; return those that grew."""
        n, grown = len(self.blankets), list[int]()
        room = [x for x in xs if len(self.blankets[x]) < self._limit]
        size = max(1, _BLOCK // n)
        for k in range(0, len(room), size):
            check_cancelled(monitor)
            monitor.progress(n - len(xs), n, f"blankets: round {self.rounds + 1}")
            grown += self._grow(room[k : k + size])
        self.rounds += 1
        return grown

    def _grow(self, xs: Sequence[int]) -> list[int]:
        """Make the best addition to each of these blankets; return those that grew."""
        yss = [self._candidates(x) for x in xs]
        grown = []
        for x, ys, values in zip(xs, yss, self._score.additions(xs, self._of(xs), yss), strict=True):
            best = first_best(values, self._scores[x], self.rounding, *self.association.joining(x, ys))
            if best is not None:
                self.blankets[x] |= {int(ys[best])}
                self._scores[x] = float(values[best])
                grown.append(x)
        self._scored += sum(map(len, yss))
        return grown

    def _shrink(self, xs: Sequence[int], monitor: Monitor) -> None:
        """Make the best deletions from each of these blankets, until none improves; required members stay."""
        while xs:
            check_cancelled(monitor)
            shrunk = []
            for x, removed in zip(xs, self._score.removals(xs, self._of(xs)), strict=True):
                members = sorted(self.blankets[x])
                fixed = [y in self._required.get(x, ()) for y in members]
                values = np.where(fixed, -np.inf, removed)
                best = first_best(values, self._scores[x], self.rounding, *self.association.leaving(x, members))
                if best is not None:
                    self.blankets[x] -= {members[best]}
                    self._scores[x] = float(values[best])
                    shrunk.append(x)
                self._scored += len(members)
            xs = [x for x in shrunk if self.blankets[x]]

    def _candidates(self, x: int) -> NDArray[np.int32]:
        """Return the variables that may join the blanket of x, in ascending order."""
        free = self._all.copy()
        free[[x, *self.blankets[x], *self._forbidden.get(x, ())]] = False
        return self._variables[free]

    def _of(self, xs: Sequence[int]) -> list[VarSet]:
        return [self.blankets[x] for x in xs]


def neighbors_of(edges: Iterable[Edge]) -> dict[int, set[int]]:
    """Return the neighbours of each variable that has any."""
    ends: dict[int, set[int]] = {}
    for u, v in edges:
        ends.setdefault(u, set()).add(v)
        ends.setdefault(v, set()).add(u)
    return ends


class PhaseTwo:
    """The best single flip among the eligible ones, while it improves  [MPL17, Eq. 13; Algorithm 2].

    The log-ratio (Eq. 8) of every neighbouring graph is stored; a flip changes only those at its two ends.
    """

    def __init__(
        self, scored: ScoredGraph, eligible: Sequence[Edge], max_blanket: int | None, phase_one: PhaseOne
    ) -> None:
        self.made, self.scored = 0, 0
        self._graph, self._edges, self._limit = scored, eligible, max_blanket
        self._association, self._rounding = phase_one.association, 2 * phase_one.rounding
        self._at: dict[int, list[int]] = {}  # the places of the pairs of a variable in the list
        for place, edge in enumerate(eligible):
            for x in edge:
                self._at.setdefault(x, []).append(place)

    def climb(self, monitor: Monitor) -> bool:
        """Climb to the local optimum; return False if the monitor stops it before."""
        try:
            check_cancelled(monitor)
            gains = self._gains(range(len(self._edges)))
            ties = self._association.flipping(self._edges.__getitem__, lambda: self._graph.graph)
            while (best := first_best(gains, 0.0, self._rounding, *ties)) is not None:
                stale = self._flip(self._edges[best])
                monitor.progress(self.made, None, f"graph: {self.made} flips")
                check_cancelled(monitor)
                gains[stale] = self._gains(stale)
        except STOPPED:
            return False
        return True

    def _flip(self, edge: Edge) -> list[int]:
        """Make the flip; return the places of the log-ratios that it changes."""
        changed = self._graph.flip(edge)
        self.made += 1
        return sorted({place for x in (self._at if changed is None else changed) for place in self._at.get(x, ())})

    def _gains(self, places: Sequence[int]) -> FloatArray:
        """Return the log-ratios of these flips; minus infinity where a blanket is full."""
        self.scored += len(places)
        edges = [self._edges[place] for place in places]
        gains = self._graph.gains(edges)
        if self._limit is not None:
            graph = self._graph.graph
            for k, (u, v) in enumerate(edges):
                if not graph.has_edge(u, v) and max(graph.degree(u), graph.degree(v)) >= self._limit:
                    gains[k] = -float("inf")
        return gains


def edge_support(scored: ScoredGraph) -> dict[Edge, float]:
    """Return log K of each edge, present against absent: the loss of score without it  [MPL17, Eq. 9]."""
    edges = scored.graph.edges
    return dict(zip(edges, (-scored.gains(edges)).tolist(), strict=True))
