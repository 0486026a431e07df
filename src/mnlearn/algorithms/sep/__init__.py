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
  Where a few variables have most of the edges, each pair has its own price (hubs.py).

The search starts from blankets joined by OR and flips the pair that the evidence contradicts most, until none is
contradicted (phase.py). Then better rivals replace edges (moves.py), and variables join both ends of an
edge at once. In the end e_G − k are log-odds, corrected for rivals: every pair has a probability.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from time import perf_counter
from typing import Literal, get_args

from mnlearn.algorithms.base import Cancelled, Constraints, check_parts, check_variables, ordered
from mnlearn.algorithms.screening import Screening
from mnlearn.algorithms.sep import blankets as screens
from mnlearn.algorithms.sep.blankets import EvidenceBlankets, partners_in_pairs
from mnlearn.algorithms.sep.phase import SeparatorPhase, price
from mnlearn.errors import InputError, check_name, true_or_false
from mnlearn.graphs.candidates import Candidates, check_candidates, every_pair
from mnlearn.graphs.graph import Edge, Graph
from mnlearn.protocols import SILENT, EvidenceScore, FittedPrior, Monitor, Result

Effort = Literal["fast", "standard", "thorough"]
NEAR = 3.0
"""Absent pairs are fitted where a one-step estimate is this close to the threshold. On samples of Alarm, Insurance,
stars and grids fits exceeded estimates by at most 3.1. The judge itself sees to three-way terms."""

MOST_OF_COPIES = 200_000  # pairs with a copy
MOST_WITH_ALL_ODDS = 10_000  # variables, for the log-odds of all pairs: 800 MB


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
        Whether the result stores the log-odds of all pairs (`Result.log_odds`). Pairs that a screen left out share one
        value, the mean of their odds. For at most 10,000 variables: it is a matrix of n² numbers.
    candidates
        Pairs that may become edges, beside the required ones; or how they are found. None: all pairs of up to 1000
        variables, a screen of more.

    Raises
    ------
    InputError
        If a setting breaks its rule; and from `learn`, if there are fewer than 2 variables, candidates of other
        variables, or too many variables for `keep_pairs`.

    Notes
    -----
    Deterministic, no random numbers. Of equal evidence the stronger marginal association joins and the weaker leaves,
    then the pair with fewer neighbours is flipped, then the one whose variables are associated more with all others. So
    the order of the columns matters only for variables that no marginal association tells apart. Of exact copies, whose
    edges no data can tell apart, the first has the edges of all, and the others are joined to it alone. A pair flips at
    most 4 times, and there are at most 40 n flips.

    The support of an edge is its log-odds; the probability is 1 / (1 + exp(−support)). They are e_G − k, or less where
    a rival explains the edge nearly as well (moves.py). The graph has the pairs with a probability above 1/2.
    `cost["expected_edges"]` is the sum of the probabilities of all pairs. With ``"fast"`` the support is the mean
    evidence of the two ends given the rest of their blankets, less k(E − 1), E counting the edges. The evidence of
    absent pairs far below the threshold is a one-step estimate, that of present and doubtful ones a fit.

    A judge whose prior can be fitted (`FittedPrior`, such as `GaussianEvidence`) is fitted to the start graph before
    the separator phase; `cost` has the numbers of the prior.

    Cost: the evidence of each pair is computed given its two separators, all y with a common separator in one scan;
    after a flip only where separators have changed. Of more than 1000 variables a screen chooses the pairs to weigh,
    and of more than 200 the search over pairs of variables is among the strongest partners of each (`limits`).
    Memory: a few numbers for each pair that is weighed.

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
    candidates: Candidates | Screening | None = None

    def __post_init__(self) -> None:
        true_or_false(keep_pairs=self.keep_pairs)
        if not isinstance(self.candidates, Candidates | Screening | None):
            raise InputError(
                f"candidates must be Candidates, a Screening or None; got a {type(self.candidates).__name__}. Use "
                "Screening(k=20), or leave it out."
            )
        check_name("effort", self.effort, get_args(Effort))
        if self.effort == "fast" and (self.start is not None or self.keep_pairs):
            given = "start" if self.start is not None else "keep_pairs"
            raise InputError(
                f"{given} is for the separator phase, which effort='fast' skips; got both. Use effort='standard'."
            )

    def limits(self, n_variables: int) -> list[str]:
        """Return what the search leaves out for so many variables, one sentence for each."""
        found, m = [], partners_in_pairs(n_variables)
        most, many = screens.MOST_FOR_ALL_PAIRS, screens.MOST_FOR_EVIDENCE
        if self.candidates is None and n_variables > most:
            k = screens.listed_partners(n_variables)
            found.append(
                f"a screen chooses the pairs to weigh, because there are more than {most:,} variables: the {k} "
                "strongest partners of each, and those found given its neighbours"
            )
            if n_variables > many:
                found.append(f"of more than {many:,} variables the screen ranks by full tables, not by evidence")
        if self.effort == "thorough" and m < n_variables:
            found.append(f"two variables that join together are searched among the {m} strongest partners of each")
        return found

    def learn(self, judge: EvidenceScore, monitor: Monitor = SILENT, *, surcharge: float = 0.0) -> Result:
        """Return the structure; see the class for the order of the steps.

        Parameters
        ----------
        judge
            Weighs blankets and pairs.
        monitor
            Receives the progress, and can cancel.
        surcharge
            Added to the price of every edge, where the judge knows only some variables of a larger network.
        """
        started = perf_counter()
        check_parts(judge, monitor, ("with_three_way",), "Use HybridEvidence(Counts(data)).")
        closed = self.candidates if isinstance(self.candidates, Candidates) else None
        known = with_copies(self._checked(judge.n_variables), getattr(judge, "copies", {}), closed)
        score = judge.with_three_way(self.effort == "thorough")
        look_ahead, dense = self.effort == "thorough", self.effort != "fast" and hasattr(score, "leaders")
        blankets = EvidenceBlankets(
            score,
            known,
            look_ahead=look_ahead,
            dense=dense,
            monitor=monitor,
            surcharge=surcharge,
            candidates=self.candidates,
        )
        phase: SeparatorPhase | None = None
        evidence: Mapping[tuple[int, int], float] | None = None
        try:
            if self.start is None:
                blankets.run()
            else:
                blankets.screen()
            if self.effort == "fast":
                evidence, converged = blankets.evidence(), True
            else:
                graph = self._start(blankets, known)
                score = with_fitted_prior(score, graph, blankets)
                blankets.release()
                phase = SeparatorPhase(
                    score,
                    graph,
                    known,
                    monitor,
                    near=NEAR,
                    candidates=blankets.candidates,
                    closed=blankets.closed,
                    ties=(blankets.association, blankets.rounding),
                    surcharge=surcharge,
                )
                converged = phase.run()
        except Cancelled:
            converged = False
        if phase and phase.weighed:
            graph, support = phase.drawn()
        else:
            graph = self._start(blankets, known)
            support = by_blankets(graph, blankets.first_evidence() if evidence is None else evidence, surcharge)
        cost: dict[str, float] = {**score.work, "flips": phase.n_flips if phase else 0}
        if phase and phase.weighed:
            cost["expected_edges"] = phase.sum_of_probabilities()
            cost.update(getattr(score, "prior", {}))
            if blankets.candidates is not None:
                cost["candidate_pairs"] = phase.n_weighed
        cost["seconds"] = perf_counter() - started
        found = Result(
            graph, None, support, converged, cost, self._settings(), support_scale="log_odds", probabilistic=True
        )
        return replace(found, log_odds=phase.log_odds()) if phase and phase.weighed and self.keep_pairs else found

    def _settings(self) -> dict[str, object]:
        """Return the settings; candidates only where there are any."""
        return {name: value for name, value in vars(self).items() if name != "candidates" or value is not None}

    def _start(self, blankets: EvidenceBlankets, known: Constraints) -> Graph:
        """Return where the separator phase starts."""
        graph = blankets.graph() if self.start is None else self.start
        return known.apply(self.candidates.only(graph) if isinstance(self.candidates, Candidates) else graph)

    def _checked(self, n: int) -> Constraints:
        check_variables(n)
        if isinstance(self.candidates, Candidates):
            check_candidates(self.candidates, n)
        if self.keep_pairs and n > MOST_WITH_ALL_ODDS:
            raise InputError(
                f"keep_pairs needs a matrix of all pairs, for at most {MOST_WITH_ALL_ODDS:,} variables; got {n:,}. "
                "Leave it out: the support of the result has the log-odds of every edge."
            )
        if self.start is not None and self.start.n_variables != n:
            raise InputError(
                f"start must have the {n} variables of the judge; got {self.start.n_variables}. Start from a graph of "
                "the same data."
            )
        return Constraints(n, self.required, self.forbidden)


def with_copies(known: Constraints, copies: Mapping[int, int], closed: Candidates | None = None) -> Constraints:
    """Return the constraints with every copy joined to its original only, unless they say otherwise.

    Pairs that a closed list of candidates leaves out count as forbidden.

    The data cannot tell copies apart: the first of them stands for all. Of more than MOST_OF_COPIES pairs with a copy
    this would take longer than the search, and copies are variables like any other.
    """
    if not copies or len(copies) * known.n_variables > MOST_OF_COPIES:
        return known
    required, forbidden = set(known.required), set(known.forbidden)
    everyone, partners = range(known.n_variables), None if closed is None else closed.partners()
    for copy, original in copies.items():
        for other in everyone if partners is None else {original, *partners[original].tolist()}:
            if other == copy or ordered(original, other) in known.forbidden:
                continue  # the copy may have an edge that its original may not
            listed = other != original or partners is None or copy in partners[original]
            if listed and (pair := ordered(copy, other)) not in known.fixed:
                (required if other == original else forbidden).add(pair)
    return Constraints(known.n_variables, required, forbidden)


def with_fitted_prior(judge: EvidenceScore, graph: Graph, found: EvidenceBlankets) -> EvidenceScore:
    """Return the judge with its prior fitted to the candidate pairs given the neighbours in a graph, if it can."""
    if not isinstance(judge, FittedPrior):
        return judge
    chosen = found.candidates
    listed = every_pair(graph.n_variables) if chosen is None else chosen.around(graph, closed=found.closed)
    blankets = [graph.neighbors(x) for x in range(graph.n_variables)]
    return judge.fitted_to(blankets, listed.partners())


def by_blankets(graph: Graph, evidence: Mapping[tuple[int, int], float], surcharge: float) -> dict[Edge, float]:
    """Return the log-odds of each edge without separators: the mean evidence of its two ends, less k."""
    n = graph.n_variables
    k = surcharge + price(graph.n_edges - 1, n * (n - 1) // 2) if graph.n_edges else 0.0
    return {(u, v): (evidence.get((u, v), 0.0) + evidence.get((v, u), 0.0)) / 2 - k for u, v in graph.edges}
