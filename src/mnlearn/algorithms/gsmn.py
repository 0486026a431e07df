"""GSMN and GSMN*: grow-shrink learning of Markov networks.

Bromberg, Margaritis & Honavar, JAIR 35 (2009), 449-485  [JAIR09]; grow-shrink itself is from Margaritis & Thrun,
NIPS 12 (2000). The neighbours of a variable x are its Markov blanket: grow a set until nothing else depends on x given
it, then drop the members that the rest explains. GSMN is the outline (Algorithms 1 and 2). GSMN* (Algorithms 3 and 4)
fixes the orders, does not start over, and uses the blankets of the variables examined before (propagation).

The tests count themselves (`CountedBlanketTest`), so that the lines below are those of the paper.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from mnlearn.algorithms.base import Cancelled
from mnlearn.algorithms.blankets import MARGINAL, PROPAGATION, CountedBlanketTest, GrowShrinkTest, Propagated, union
from mnlearn.algorithms.counted import AHEAD, Marginals, check_ahead
from mnlearn.algorithms.screening import (
    CandidateRule,
    Screening,
    check_rule,
    first_candidates,
    grown_candidates,
    stated,
)
from mnlearn.errors import true_or_false
from mnlearn.graphs.candidates import Candidates
from mnlearn.protocols import SILENT, IndependenceTest, Monitor, Result

RULES_OF_ALGORITHM_3 = (MARGINAL, PROPAGATION)
Blankets: TypeAlias = dict[int, list[int]]


@dataclass(frozen=True, kw_only=True)
class GSMN:
    """Join x to every member of its blanket, grown and shrunk with a fresh start after each change.

    Parameters
    ----------
    ahead
        The largest block of tests computed ahead of need; 1 computes one at a time. Does not change the result.
    keep_trace
        Whether the result stores every test in order.
    candidates
        The pairs that may be edges: a closed list, a `Screening`, or None for all pairs. Other pairs are not tested.

    Raises
    ------
    InputError
        If a setting breaks its rule; and from `learn`, if there are fewer than 2 variables.

    Notes
    -----
    Algorithms 1 and 2 of [JAIR09]. The paper leaves the orders open: variables are examined and tried by index, so
    another order of the columns may give another graph on data; GSMN* fixes the orders by the data. x and
    y are joined when either blanket holds the other (line 5). About n² tests when all variables are independent; each
    member of a blanket adds a new pass. There is no initial phase: all tests belong to the main loop.

    With a `Screening` the search runs among the strongest partners of each variable. Then the neighbours of neighbours
    join the candidates, and with rescans those that a judge finds in a scan of all variables given each blanket
    (`RescanningJudge`). If any is new, the search runs again among all of them. `cost` counts both runs.

    Examples
    --------
    >>> from mnlearn.graphs import cycle
    >>> from mnlearn.independence import SeparationOracle
    >>> GSMN().learn(SeparationOracle(cycle(5))).graph == cycle(5)
    True
    """

    ahead: int = AHEAD
    keep_trace: bool = False
    candidates: CandidateRule = None

    def __post_init__(self) -> None:
        true_or_false(keep_trace=self.keep_trace)
        check_ahead(self.ahead)
        check_rule(self.candidates)

    def learn(self, judge: IndependenceTest, monitor: Monitor = SILENT) -> Result:
        """Return the structure  [JAIR09, Algorithm 1]."""
        test = CountedBlanketTest(judge, monitor, ahead=self.ahead, keep_trace=self.keep_trace)
        n = test.n_variables

        def search(listed: Candidates | None, blankets: Blankets) -> None:
            partners = None if listed is None else listed.partners()
            for x in range(n):
                monitor.progress(x, n, f"variable {x + 1} of {n}")
                blankets[x] = grow_shrink(test, x, range(n) if partners is None else partners[x].tolist())

        blankets, converged = among_candidates(self.candidates, judge, monitor, search)
        return test.result(union(n, blankets), converged=converged, settings=stated(self))


def among_candidates(
    rule: CandidateRule,
    judge: IndependenceTest,
    monitor: Monitor,
    search: Callable[[Candidates | None, Blankets], None],
) -> tuple[Blankets, bool]:
    """Run a search of blankets among candidates; for a `Screening` once more among those that its graph adds.

    Return the blankets, and whether the search ended. One that is stopped leaves the blankets of its first run, as many
    as there are by then.
    """
    found: Blankets = {}
    try:
        listed = first_candidates(rule, judge, monitor)
        search(listed, found)
        if isinstance(rule, Screening) and listed is not None:
            grown = grown_candidates(listed, union(judge.n_variables, found), rule, judge, monitor)
            if grown is not listed:
                again: Blankets = {}
                search(grown, again)
                found = again
    except Cancelled:
        return found, False
    return found, True


def grow_shrink(test: CountedBlanketTest, x: int, candidates: Sequence[int]) -> list[int]:
    """Return the blanket of x among the candidates by GS, in order of index  [JAIR09, Algorithm 2]."""
    blanket: list[int] = []
    test.phase = "grow"
    while True:
        others = [y for y in candidates if y != x and y not in blanket]
        place = test.first_dependent(x, others, frozenset(blanket))
        if place == len(others):
            break
        blanket.append(others[place])  # lines 4-6: a new member, and all others are tried again
    test.phase = "shrink"
    removed: int | None = x
    while removed is not None:
        z = frozenset(blanket)
        test.expect_turns(x, sorted(blanket))
        removed = next((y for y in sorted(blanket) if test(x, y, z - {y}).independent), None)
        blanket = [y for y in blanket if y != removed]  # lines 9-11: one member less, and all others are tried again
    return blanket


@dataclass(frozen=True, kw_only=True)
class GSMNStar:
    """GSMN*: as GSMN, strongest candidates first, every pair decided once, no fresh starts.

    Parameters
    ----------
    propagation
        Whether the blanket of a variable examined before decides about x (lines 13-17). Without it every pair is
        tested from both ends, and joined when either end finds the other (line 39).
    skip_marginal
        Whether two marginally independent variables count as independent given any set (line 22).
    ahead
        The largest block of tests computed ahead of need; 1 computes one at a time. Does not change the result.
    keep_trace
        Whether the result stores every test in order, inferred answers included.
    candidates
        The pairs that may be edges: a closed list, a `Screening`, or None for all pairs. Other pairs are not tested.

    Raises
    ------
    InputError
        If a setting breaks its rule; and from `learn`, if there are fewer than 2 variables.

    Notes
    -----
    Algorithms 3 and 4 of [JAIR09]. The initial phase uses n(n - 1)/2 tests, the main loop about as many with
    propagation and twice as many without; the published counts were made without line 22. Of equal
    p-values the variable that is associated more with all others comes first; the order of the columns matters only
    where that ties, too. For the pairs that line 22 skips, the trace shows the marginal test, before the grow phase.

    A search that a monitor stops returns the edges of the variables examined by then.

    With candidates the initial phase tests these alone, and the orders are by their p-values; any other pair counts as
    independent, with a p-value of 1. A `Screening` adds the neighbours of neighbours after a first run, as for GSMN.
    Given blankets it scans only without `skip_marginal`: line 22 excludes what has no marginal trace.

    Examples
    --------
    >>> from mnlearn.graphs import cycle
    >>> from mnlearn.independence import SeparationOracle
    >>> result = GSMNStar().learn(SeparationOracle(cycle(5)))
    >>> result.graph == cycle(5), result.cost["initial_asked"], result.cost["inferred_propagation"]
    (True, 10, 15)
    """

    propagation: bool = True
    skip_marginal: bool = True
    ahead: int = AHEAD
    keep_trace: bool = False
    candidates: CandidateRule = None

    def __post_init__(self) -> None:
        true_or_false(propagation=self.propagation, skip_marginal=self.skip_marginal, keep_trace=self.keep_trace)
        check_ahead(self.ahead)
        check_rule(self.candidates)

    def learn(self, judge: IndependenceTest, monitor: Monitor = SILENT) -> Result:
        """Return the structure  [JAIR09, Algorithm 3], testing the pairs that propagation leaves open."""
        rules = RULES_OF_ALGORITHM_3
        test = CountedBlanketTest(judge, monitor, ahead=self.ahead, keep_trace=self.keep_trace, rules=rules)
        search = Algorithm3(test, test, propagation=self.propagation, skip_marginal=self.skip_marginal)
        return search.run(self, judge, monitor)


class LearnsByAlgorithm3(Protocol):
    """Learner by Algorithm 3, with its candidates."""

    @property
    def candidates(self) -> CandidateRule: ...


class Algorithm3:
    """Algorithm 3, which GSMN* and GSIMN share; they differ in the test of lines 23 and 36.

    Parameters
    ----------
    counted
        The test of the initial phase, whose counts make the result.
    test
        The test of the grow and shrink phases.
    propagation, skip_marginal
        See `GSMNStar`.
    """

    def __init__(
        self, counted: CountedBlanketTest, test: GrowShrinkTest, *, propagation: bool, skip_marginal: bool
    ) -> None:
        self._counted, self._test, self._propagation, self._skip_marginal = counted, test, propagation, skip_marginal
        self._blankets: Blankets = {}  # B, of the variables examined so far

    def run(
        self,
        learner: LearnsByAlgorithm3,
        judge: IndependenceTest,
        monitor: Monitor,
        seed: Callable[[Marginals], None] = lambda _: None,
    ) -> Result:
        """Return the result of lines 1-40; `seed` is called with the answers of the initial phase."""
        n, rule = self._counted.n_variables, learner.candidates
        if isinstance(rule, Screening) and self._skip_marginal:
            rule = replace(rule, rescans=False)  # what has no marginal trace is skipped all the same

        def search(listed: Candidates | None, blankets: Blankets) -> None:
            self._blankets = blankets
            answers = self._counted.marginal_answers(listed)  # lines 3-4
            seed(answers)
            orders = Orders(answers)  # lines 5-9
            while orders.to_visit:  # line 11
                monitor.progress(len(blankets), n, f"variable {len(blankets) + 1} of {n}")
                x, _ = orders.to_visit.popitem(last=False)  # line 12
                blankets[x] = self._examine(x, orders)  # lines 13-38

        blankets, converged = among_candidates(rule, judge, monitor, search)
        return self._counted.result(union(n, blankets), converged=converged, settings=stated(learner))

    def _examine(self, x: int, orders: Orders) -> list[int]:
        """Return the blanket of x  [lines 13-38]."""
        skip = self._skip_marginal  # line 22: if p_xy < α
        candidates = self._counted.marginally_dependent(x) if skip else orders.answers.partners(x)
        unknown, known = self._propagate(x, orders.grow_order(x, candidates))  # lines 13-17: T and F come last
        blanket = self._test.grow(x, unknown, known)  # lines 19-24
        orders.change(x, blanket)  # lines 25-33
        return self._test.shrink(x, blanket, known)  # lines 34-38

    def _propagate(self, x: int, order: Sequence[int]) -> tuple[list[int], Propagated]:
        """Return the candidates to test, and those about which an examined blanket decides  [lines 14, 15: T, F]."""
        blankets = self._blankets if self._propagation else {}
        unknown, inside, outside = list[int](), list[int](), list[int]()
        for y in order:
            blanket = blankets.get(y)
            (unknown if blanket is None else inside if x in blanket else outside).append(y)
        return unknown, Propagated(inside, outside)


class Orders:
    """The order π of the variables and the grow order λ of each, by log p of the initial phase.

    Of candidates that tie the stronger variable comes first; at last the index decides.
    """

    def __init__(self, answers: Marginals) -> None:
        self.answers, self._strength = answers, answers.strength_ranks()
        self.to_visit = OrderedDict.fromkeys(self._strength.argsort(kind="stable").tolist())  # π  [line 5]
        self._promoted: dict[int, list[tuple[int, ...]]] = {}

    def grow_order(self, x: int, candidates: NDArray[np.intp]) -> list[int]:
        """Return λ_x of the candidates: the latest promotion first, then ascending p, strongest first  [line 8]."""
        order: list[int] = self.answers.strongest_first(x, candidates, self._strength).tolist()
        if x not in self._promoted:
            return order
        front = dict.fromkeys(chain.from_iterable(reversed(self._promoted[x])))
        return list(dict.fromkeys([*filter(set(order).__contains__, front), *order]))

    def change(self, x: int, blanket: Sequence[int]) -> None:
        """Move the members before y, then x, to the front of each λ_y; visit the last unvisited member next."""
        last = None
        for k, y in enumerate(blanket):
            if y in self.to_visit:  # the orders of visited variables are never used again
                self._promoted.setdefault(y, []).append((*blanket[:k], x))  # lines 25-28
                last = y
        if last is not None:
            self.to_visit.move_to_end(last, last=False)  # lines 29-33
