"""Separator evidence: join two variables if the data speak for it given what separates them otherwise.

Our own method, published nowhere. Three ideas:

- the evidence of an edge is a log Bayes factor, ev(x, y | S), of local models that charge a hub a linear price and
  still see interactions of any order (H of `mnlearn.scores.evidence`);
- it is taken given a separator of the two in the present graph, not given whole blankets:
  e_G(x, y) = [ev(x, y | sep(x; y)) + ev(x, y | sep(y; x))] / 2. On a tree that is the marginal Bayes factor, on a grid
  close to the test given the blanket, and for two parents of a common child it conditions on the child;
- the number of edges is uniform a priori, and so are the graphs of each number: the (E + 1)-th edge costs
  k(E) = max(0, ln((M − E) / (E + 1))), M = n (n − 1) / 2. E is the number of edges that are expected, by the
  probabilities of all pairs, not of those that are drawn alone. Nothing to set, and hardly a false edge on independent
  data.

The search starts from blankets joined by OR (`_evidence_blankets.py`) and flips the pair that the evidence contradicts
most, until none is contradicted. In the end e_G − k are log-odds: every pair has a probability.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from time import perf_counter
from typing import Literal, get_args

from mnlearn.algorithms._search import STOPPED, Constraints
from mnlearn.algorithms.separator_phase import Blankets, SeparatorPhase, price
from mnlearn.errors import InputError, check_name, true_or_false
from mnlearn.graphs.graph import Edge, Graph
from mnlearn.protocols import SILENT, EvidenceScore, Monitor, Result

Effort = Literal["fast", "standard", "thorough"]
NEAR: Mapping[str, float] = {"standard": 3.0, "thorough": 8.0}
"""Absent pairs are fitted where a one-step estimate comes this close to the threshold. On samples of Alarm, Insurance,
stars and grids fits exceeded estimates by at most 3.1, with three-way terms, which no estimate foresees, by 6.3."""


@dataclass(frozen=True, kw_only=True)
class SeparatorEvidence:
    """Flip the pair that the evidence given its separators contradicts most, until none is.

    Parameters
    ----------
    effort
        ``"fast"``: blankets by evidence, joined by OR. ``"standard"``: then the separator phase. ``"thorough"``:
        also three-way terms, and a look at pairs of variables where no single one helps.
    required, forbidden
        Edges that must be there, and edges that must not: pairs of indices.
    start
        Where the separator phase starts; None for the blankets.
    keep_pairs
        Whether the result keeps the log-odds of all pairs, absent ones too (`Result.log_odds`).

    Raises
    ------
    InputError
        If a setting breaks its rule; and from `learn`, if there are fewer than 2 variables.

    Notes
    -----
    Deterministic, no random numbers; ties go to the smallest index and the first pair in lexicographic order. A pair
    flips at most 4 times, and there are at most 40 n flips. The support of an edge is e_G − k(E − 1), its log-odds; the
    probability is 1 / (1 + exp(−support)). E is the sum of the probabilities of all pairs, `cost["expected_edges"]`,
    but at most twice the edges that are drawn. With ``"fast"`` the support is what the ends are worth to each other
    given the rest of their blankets, less k(E − 1), E counting the edges. Absent pairs far below the threshold are
    weighed by a one-step estimate, present and doubtful ones by fits.

    Cost: each pair is weighed given its two separators, all y behind the same separator in one scan; a flip weighs
    again only what has other separators now. The look at pairs of variables is cubic in their number. Memory: some
    numbers for each pair.

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
                f"{given} is for the separator phase, which effort='fast' does without; got both. Use "
                "effort='standard'."
            )

    def learn(self, judge: EvidenceScore, monitor: Monitor = SILENT) -> Result:
        """Find the structure; see the class for what is asked and in which order."""
        began = perf_counter()
        known = self._checked(judge.n_variables)
        weigh = judge.with_three_way(self.effort == "thorough")
        blankets = Blankets(weigh, known, look_ahead=self.effort == "thorough", monitor=monitor)
        phase: SeparatorPhase | None = None
        worth: Mapping[tuple[int, int], float] | None = None
        try:
            if self.start is None:
                blankets.run()
            if self.effort == "fast":
                worth, converged = blankets.evidence(), True
            else:
                graph = joined(blankets, known, self.start)
                phase = SeparatorPhase(weigh, graph, known, monitor, near=NEAR[self.effort])
                converged = phase.run()
        except STOPPED:
            converged = False
        if phase and phase.weighed:
            graph, support = phase.graph, phase.support()
        else:
            graph = joined(blankets, known, self.start)
            support = by_blankets(graph, blankets.first_impressions() if worth is None else worth)
        cost: dict[str, float] = {**weigh.work, "flips": phase.n_flips if phase else 0}
        if phase and phase.weighed:
            cost["expected_edges"] = phase.expected_edges
        cost["seconds"] = perf_counter() - began
        found = Result(
            graph, None, support, converged, cost, vars(self).copy(), support_scale="log_odds", probabilistic=True
        )
        return replace(found, log_odds=phase.log_odds()) if phase and self.keep_pairs else found

    def _checked(self, n: int) -> Constraints:
        if n < 2:
            raise InputError(f"SeparatorEvidence needs at least 2 variables; got {n}. There is nothing to join.")
        if self.start is not None and self.start.n_variables != n:
            raise InputError(
                f"start must have the {n} variables of the judge; got {self.start.n_variables}. Start from a graph of "
                "the same data."
            )
        return Constraints(n, self.required, self.forbidden)


def joined(blankets: Blankets, known: Constraints, start: Graph | None) -> Graph:
    """An edge where either end has the other in its blanket; or the graph to start from."""
    if start is None:
        start = Graph(len(blankets.climbs), [(c.x, y) for c in blankets.climbs for y in c.blanket])
    return known.apply(start)


def by_blankets(graph: Graph, worth: Mapping[tuple[int, int], float]) -> dict[Edge, float]:
    """The log-odds of each edge without separators: the mean of what its ends are worth to each other, less k."""
    n = graph.n_variables
    k = price(graph.n_edges - 1, n * (n - 1) // 2) if graph.n_edges else 0.0
    return {(u, v): (worth.get((u, v), 0.0) + worth.get((v, u), 0.0)) / 2 - k for u, v in graph.edges}
