"""The Markov blanket of one variable, without the rest of the network.

By evidence, `evidence_target` chooses the variables that matter: the blanket of the target by evidence
(sep/blankets.py), the blankets of its members, and the strongest partners of the target, given nothing and given
its blanket. Separator evidence then learns the network of these variables alone. For members of the
blanket in it, and near members, their own blankets are chosen as well: they hold what separates them from the target.
The prior still counts all variables, or pairs that were chosen because they look like edges would be too cheap.

By tests, `grow_shrink_target` is what GSMN and GSMN* do for the first variable they examine  [JAIR09], and
`hiton_target` finds the neighbours in the graph of HHC-MN: those of HITON-PC that find the target, too  [GLL10].
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from math import inf
from time import perf_counter

import numpy as np

from mnlearn.algorithms.base import Cancelled, Constraints, edges_of_neighborhoods, ordered
from mnlearn.algorithms.blankets import CountedBlanketTest, Propagated
from mnlearn.algorithms.counted import CountedTest, subset_walk, tests_largest_sets
from mnlearn.algorithms.gsmn import GSMN, GSMNStar, grow_shrink
from mnlearn.algorithms.hiton import HHCMN, Subsets, natively_found, parents_and_children
from mnlearn.algorithms.screening import stated
from mnlearn.algorithms.sep import SeparatorEvidence, with_copies
from mnlearn.algorithms.sep.blankets import MOST_FOR_ALL_PAIRS, STRONGEST, EvidenceBlankets, highest, rescanned_pairs
from mnlearn.algorithms.sep.phase import price
from mnlearn.graphs.graph import Edge, Graph
from mnlearn.numbers import ascending, log
from mnlearn.protocols import SILENT, EvidenceScore, FittedPrior, IndependenceTest, Monitor, Result

ALL_ARE_NEAR = 60  # up to so many variables all of them are chosen, and the blanket is that of the whole network
NEARLY = -2.0
"""Variables with at least these log-odds get their own blankets chosen. On samples of trees, grids, cliques and random
graphs of 200 to 500 variables the errors are then those of the whole network; at 0 there are a third more."""
SURE = 3.0
"""Of more than 1000 variables, members with lower log-odds must be confirmed given their own blankets: the best of so
many partners looks like a member by chance. Among fewer variables this would lose more true members than false ones."""
MOST_ROUNDS = 5  # networks that are learned for one target


def evidence_target(
    judge: EvidenceScore,
    target: int,
    learner: SeparatorEvidence,
    narrowed: Callable[[list[int]], EvidenceScore],
    monitor: Monitor = SILENT,
) -> Result:
    """Return the blanket of a target by separator evidence, as a graph with edges at the target only.

    Parameters
    ----------
    judge
        Weighs blankets and pairs of all variables.
    target
        The variable.
    learner
        Only its effort counts.
    narrowed
        Returns the judge of some variables only, in this order.
    monitor
        Receives the progress, and can cancel.

    Notes
    -----
    `absent` has the log-odds of the other variables that were weighed, and `cost["near"]` counts the variables of the
    last network. Cost: a scan of all variables for each step of the climb of the target and of each member, and a few
    small networks.
    """
    started, thorough = perf_counter(), learner.effort == "thorough"
    searcher = replace(learner, keep_pairs=learner.effort != "fast")
    score = judge.with_three_way(thorough)
    near = _NearTarget(score, target, look_ahead=thorough, monitor=monitor)
    support, absent, converged = dict[int, float](), dict[int, float](), False
    edges: list[Edge] = []  # of the last network, by index among all variables
    try:
        near.choose()
        for _ in range(MOST_ROUNDS):
            chosen = sorted(near.variables)
            if edges:
                place = {x: k for k, x in enumerate(chosen)}
                searcher = replace(searcher, start=Graph(len(chosen), [(place[u], place[v]) for u, v in edges]))
            found = searcher.learn(narrowed(chosen), monitor, surcharge=near.surcharge)
            edges = [(chosen[u], chosen[v]) for u, v in found.graph.edges] if searcher.keep_pairs else []
            support, absent = _weighed(found, chosen, target)
            converged = found.converged
            nearly = [y for y, odds in absent.items() if odds > NEARLY]
            if not converged or not near.add_around([*support, *nearly]):
                break
        if converged and judge.n_variables > MOST_FOR_ALL_PAIRS:
            weak = near.unconfirmed(support, found)
            absent |= {y: weak[y] for y in weak}
            support = {y: odds for y, odds in support.items() if y not in weak}
    except Cancelled:
        converged, support = False, support or near.members_so_far()
    cost: dict[str, float] = {**score.work, "near": len(near.variables), "seconds": perf_counter() - started}
    star = {ordered(target, y): value for y, value in support.items()}
    others = {ordered(target, y): value for y, value in absent.items()}
    graph, settings = Graph(judge.n_variables, star), {"effort": learner.effort}
    found = Result(graph, None, star, converged, cost, settings, support_scale="log_odds", probabilistic=True)
    return replace(found, absent=others)


def _weighed(found: Result, chosen: Sequence[int], target: int) -> tuple[dict[int, float], dict[int, float]]:
    """Return the log-odds of the members of the blanket, and of the other variables, by index among all variables."""
    place = chosen.index(target)
    support = {chosen[y]: found.support[ordered(place, y)] for y in sorted(found.graph.neighbors(place))}
    odds = [] if found.log_odds is None else found.log_odds[place].tolist()
    return support, {x: value for x, value in zip(chosen, odds, strict=False) if x not in support and value > -inf}


class _NearTarget:
    """The variables that matter for the blanket of a target, chosen by evidence: itself, and those found so far."""

    def __init__(self, judge: EvidenceScore, target: int, *, look_ahead: bool, monitor: Monitor) -> None:
        n = judge.n_variables
        self._judge, self._target, self._monitor = judge, target, monitor
        self._known = with_copies(Constraints(n), getattr(judge, "copies", {}))
        dense = hasattr(judge, "leaders")
        self._blankets = EvidenceBlankets(judge, self._known, look_ahead=look_ahead, dense=dense, monitor=monitor)
        self.variables = {target} if n > ALL_ARE_NEAR else set(range(n))
        self._climbed = set(self.variables)

    def choose(self) -> None:
        """Choose the blanket of the target by evidence, those of its members, and its strongest partners."""
        n, target = self._judge.n_variables, self._target
        if len(self.variables) == n:
            return
        (blanket,) = self._blankets.run_for([target])
        self.variables |= blanket
        allowed = np.array([y != target and self._known.allows(target, y) for y in range(n)])
        free = np.flatnonzero(allowed).astype(np.int32)
        (marginal,) = self._judge.pairs([target], [frozenset()], [free], fit_above=inf)
        self.variables |= set(free[highest(marginal.log_factor, STRONGEST)].tolist())
        keys = rescanned_pairs(self._judge, [target], [blanket], allowed, self._monitor)
        self.variables |= set(np.concatenate(np.divmod(keys, n)).tolist())
        self.add_around(blanket)

    def add_around(self, members: Collection[int]) -> bool:
        """Choose the blankets of these variables by evidence, too; return False if those are chosen already."""
        new, before = sorted(set(members) - self._climbed), len(self.variables)
        self._climbed |= set(new)
        if new:
            self.variables |= frozenset().union(*self._blankets.run_for(new))
        return len(self.variables) > before

    def unconfirmed(self, support: Mapping[int, float], found: Result) -> dict[int, float]:
        """Return the weak members that their own blankets by evidence explain away, with their log-odds then.

        In the network of the chosen variables the separator of a member and the target lacks variables whose paths to
        the target run through others. Given its whole blanket the evidence of a member that is one by chance is lower.
        """
        judge = self._judge.with_prior(found.cost) if isinstance(self._judge, FittedPrior) else self._judge
        m, target = len(self.variables), self._target
        k = self.surcharge + price(max(0, found.graph.n_edges - 1), m * (m - 1) // 2)
        weak = {}
        for y in [y for y, odds in support.items() if odds < SURE and self._known.allows(target, y)]:
            around = self._blankets.climbs[y].blanket - {target}
            sides = judge.pairs([target, y], [frozenset(support) - {y}, around], [[y], [target]], fit_above=-inf)
            odds = sum(float(side.log_factor[0]) for side in sides) / 2 - k
            if odds <= 0:
                weak[y] = odds
        return weak

    def members_so_far(self) -> dict[int, float]:
        """Return the current blanket of the target by evidence, each member with its evidence less ln n."""
        climb = self._blankets.climbs[self._target]
        return {y: climb.joined[y] - log(self._judge.n_variables) for y in climb.blanket if y in climb.joined}

    @property
    def surcharge(self) -> float:
        """Price of an edge in the whole network less that among the chosen variables: ln((n − 1) / (m − 1)).

        Both networks have as many edges for each variable, a priori.
        """
        m = len(self.variables)
        return log((self._judge.n_variables - 1) / (m - 1)) if m > 1 else 0.0


def grow_shrink_target(
    judge: IndependenceTest, target: int, learner: GSMN | GSMNStar, monitor: Monitor = SILENT
) -> Result:
    """Return the blanket of a target by grow-shrink, as a graph with edges at the target only.

    Parameters
    ----------
    judge
        Tests.
    target
        The variable.
    learner
        GSMN tries the others by index. GSMN* tries those that depend on the target without conditioning, or all of
        them, the strongest first; of equals the first column.
    monitor
        Can cancel; the result then has no edges.
    """
    test = CountedBlanketTest(judge, monitor, ahead=learner.ahead)
    blanket, converged = list[int](), False
    try:
        if isinstance(learner, GSMNStar):
            order = list(_strongest_first(test, target, all_others=not learner.skip_marginal))
            blanket = test.shrink(target, test.grow(target, order, Propagated()), Propagated())
        else:
            blanket = grow_shrink(test, target, range(test.n_variables))
        converged = True
    except Cancelled:
        pass
    graph = Graph(test.n_variables, [(target, y) for y in blanket])
    return test.result(graph, converged=converged, settings=stated(learner))


def hiton_target(judge: IndependenceTest, target: int, learner: HHCMN, monitor: Monitor = SILENT) -> Result:
    """Return the neighbours of a target by HITON-PC that find the target, too, as edges at the target only.

    Parameters
    ----------
    judge
        Tests.
    target
        The variable.
    learner
        The settings; with its rule "or" the neighbours of the target itself are returned, without the second search.
    monitor
        Can cancel; neighbours that were not examined by then stay.
    """
    test = CountedTest(judge, monitor, ahead=learner.ahead, keep_support=False)
    found, converged = dict[int, Mapping[int, float]](), False
    try:
        found[target] = _neighbors(judge, test, target, learner, monitor)
        for y in found[target] if learner.combine == "and" else ():
            monitor.progress(len(found), len(found[target]) + 1, "neighbours of neighbours")
            found[y] = _neighbors(judge, test, y, learner, monitor)
        converged = True
    except Cancelled:
        pass
    edges = edges_of_neighborhoods(found, learner.combine, max)
    support = {edge: value for edge, value in edges.items() if target in edge}
    result = test.result(Graph(test.n_variables, support), converged=converged, settings=stated(learner))
    return replace(result, support=support)


def _neighbors(
    judge: IndependenceTest, test: CountedTest, x: int, learner: HHCMN, monitor: Monitor
) -> Mapping[int, float]:
    """Return the neighbours of x by interleaved HITON-PC, each with its weakest evidence."""
    candidates = _strongest_first(test, x, all_others=False)
    walk = subset_walk(judge, ahead=learner.ahead, keep_trace=False)
    if walk is not None:
        found = walk.explain_away(x, list(candidates), learner.max_conditioning, lambda _: not monitor.cancelled())
        if found is not None:
            return natively_found(found, candidates, test)
    sets = Subsets(learner.max_conditioning, tests_largest_sets(judge, keep_trace=False))
    return parents_and_children(x, candidates, test, sets)


def _strongest_first(test: CountedTest, x: int, *, all_others: bool) -> dict[int, float]:
    """Return the variables that depend on x without conditioning, or all others, each with its log support.

    The strongest association comes first, of equals the first column.
    """
    others = np.delete(np.arange(test.n_variables), x)
    phase, test.phase = test.phase, "initial"
    answers = test.scan(x, others.tolist(), frozenset())
    test.phase = phase
    chosen = np.arange(len(others)) if all_others else np.flatnonzero(~answers.independent)
    order = chosen[ascending(answers.log_support[chosen], chosen)]
    return dict(zip(others[order].tolist(), answers.log_support[order].tolist(), strict=True))
