"""Two-phase search: every blanket by itself, then one graph from the edges that the blankets propose.

Pensar, Nyman, Niiranen & Corander, Bayesian Analysis (2017)  [MPL17], Sec. 4.2. A graph is a set of blankets that agree
with one another (Eq. 10). The first phase drops the agreement, which leaves one small problem per variable (Eq. 11);
the edges found from either end are then few enough to search the graphs made of them (Eq. 12, 13).

The paper searches by its marginal pseudo-likelihood; any score that is a sum over variables can be used, among them its
rival PIC. All blankets are searched in step, so that each round scores many candidates at once.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from time import perf_counter
from typing import Literal, Protocol, get_args

from mnlearn.algorithms.base import Constraints, check_monitor, check_parts
from mnlearn.algorithms.climbs import BlanketPhase, FlipRules, NativePhaseOne, PhaseOne, flip_edges, flip_edges_natively
from mnlearn.algorithms.screening import ScreenedBlankets, Screening, check_screened
from mnlearn.errors import InputError, UnsuitableError, check_name, whole_number
from mnlearn.graphs.candidates import Candidates, Keys, both_ends, edge_keys, graph_of_keys
from mnlearn.graphs.graph import Edge, Graph
from mnlearn.protocols import SILENT, LocalScore, Monitor, Result, SearchableScore
from mnlearn.protocols.judges import ClimbingScore, LocalClimbs

Combine = Literal["phase2", "and", "or", "conflict"]


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
    candidates
        Pairs that the search looks at; None for all. `Candidates` are a closed list: no other pair becomes an edge,
        those of the start and the required ones excepted. A `Screening` finds the strongest partners of each variable
        and lets the list grow; see the notes.

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

    With a `Screening` the first candidates are the strongest partners of each variable by marginal evidence. With
    rescans each blanket first grows to one member, and the 10 variables that improve it most join the list of its
    variable. Then the blankets are climbed; their neighbours of neighbours join the lists, and the blankets are climbed
    again, until no pair is new. With rescans the 10 best of all variables given each blanket join once more, given at
    most its first 4 members, and the last two steps are repeated. A pair is a candidate from both ends. The graph prior
    stays that of all n variables. What no scan sees, such as the parity of fair coins, is found by no search of this
    kind, with candidates or without. `cost` has the number of `candidate_pairs` and of `rescanned_pairs`.

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
    candidates: Candidates | Screening | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.candidates, Candidates | Screening | None):
            raise InputError(
                f"candidates must be Candidates, a Screening or None; got a {type(self.candidates).__name__}. "
                "Use Screening() for the strongest partners of each variable."
            )
        if not isinstance(self.start, Graph | Result | None):
            raise InputError(
                f"start must be a Graph or the result of a search; got a {type(self.start).__name__}. Leave it out to "
                "start from no edges."
            )
        check_name("combine", self.combine, get_args(Combine))
        if self.max_blanket is not None:
            whole_number("max_blanket", self.max_blanket, least=0, hint="Use None for no limit.")

    def limits(self, n_variables: int) -> list[str]:
        """Return what the search leaves out, one sentence for each."""
        if self.candidates is None:
            return []
        if isinstance(self.candidates, Candidates):
            return [f"only the {len(self.candidates.keys):,} candidate pairs may become edges"]
        listed = self.candidates.listed
        found = (
            f"the {self.candidates.k} strongest partners of each by marginal evidence"
            if listed is None
            else f"the {len(listed.keys):,} pairs of a screen"
        )
        found += ", neighbours of neighbours"
        if self.candidates.rescans:
            found += ", and the strongest of all given the first member of a blanket and given the blanket"
        return [f"the neighbours of {n_variables:,} variables are searched among candidates: {found}"]

    def learn(self, judge: LocalSearchableScore, monitor: Monitor = SILENT) -> Result:
        """Return the graph of the two phases; see the class."""
        started = perf_counter()
        check_monitor(monitor)
        known, start = self._known(judge)
        climbs = judge.climbs() if isinstance(judge, ClimbingScore) else None
        blankets, cost, converged = self._blankets(judge, climbs, (known, start), monitor)  # phase 1
        both, either = both_ends(blankets.lists)
        n = known.n_variables
        stages = {"and": graph_of_keys(n, both), "or": graph_of_keys(n, either)}
        first, eligible = stages["or" if self.combine == "or" else "and"], None
        if converged and self.combine in ("phase2", "conflict"):
            first = start if self.combine == "phase2" else first
            eligible = self._eligible(known, first, both, either)
        rules = FlipRules(eligible, self.max_blanket, (blankets.association, 2 * blankets.rounding))
        if climbs is None:
            found = flip_edges(judge, first, rules, monitor)
        else:
            found = flip_edges_natively(climbs, first, rules, monitor)
        if eligible is not None:
            stages[self.combine] = found.graph
        cost |= {"phase2_scored": found.scored, "flips": found.made}
        return Result(
            graph=found.graph,
            score=found.score,
            support=found.support,
            converged=converged and found.converged,
            cost={**cost, "scored": cost["phase1_scored"] + cost["phase2_scored"], "seconds": perf_counter() - started},
            settings=self._settings(),
            support_scale="log_odds",
            stages=stages,
        )

    def _blankets(
        self,
        judge: LocalSearchableScore,
        climbs: LocalClimbs | None,
        given: tuple[Constraints, Graph],
        monitor: Monitor,
    ) -> tuple[BlanketPhase, dict[str, float], bool]:
        """Return the blankets of phase 1, their cost, and whether the search ran to its end."""
        blankets: BlanketPhase
        counted: dict[str, float] = {}
        if self.candidates is None:
            blankets = everywhere = PhaseOne(judge, *given, self.max_blanket)
            converged = everywhere.climb(monitor)
        else:
            if climbs is None:
                blankets = PhaseOne(judge, *given, self.max_blanket)
            else:
                blankets = NativePhaseOne(judge, climbs, *given, self.max_blanket)
            screened = ScreenedBlankets(blankets, *given, self.candidates)
            converged = screened.climb(judge, monitor)
            counted = {"candidate_pairs": len(screened.candidates.keys), "rescanned_pairs": screened.rescanned}
        return blankets, {"phase1_scored": blankets.scored, "rounds": blankets.rounds, **counted}, converged

    def _settings(self) -> dict[str, object]:
        """Return the settings; candidates only where there are any."""
        found = {setting.name: getattr(self, setting.name) for setting in fields(self)} | {"start": self._given()}
        return {name: value for name, value in found.items() if name != "candidates" or value is not None}

    def _given(self) -> Graph | None:
        """Return the given start as a graph."""
        return self.start.graph if isinstance(self.start, Result) else self.start

    def _eligible(self, known: Constraints, first: Graph, both: Keys, either: Keys) -> Keys:
        """Return the edges that phase 2 may flip: G_or (Eq. 12) and the given start; or only the disputed ones."""
        n = known.n_variables
        listed = Candidates(n, either)
        if self.combine == "conflict":
            listed = Candidates(n, Candidates(n, both).others(either))
        else:
            listed = listed.with_keys(edge_keys(first))
        return listed.without(known.fixed).keys

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
        check_screened(self.candidates, judge, n)
        known = Constraints(n, self.required, self.forbidden)
        start = known.apply(Graph.empty(n) if given is None else given)
        fullest = int(start.degrees().max())
        if self.max_blanket is not None and fullest > self.max_blanket:
            raise InputError(
                f"max_blanket must leave room for the required edges and the start; got {self.max_blanket}, where a "
                f"variable has {fullest} neighbours to begin with. Raise it, or drop some edges."
            )
        return known, start
