"""HHC-MN: the neighbours of each variable by interleaved HITON-PC, then one graph from all of them.

Schlüter, Bromberg & Edera, AMAI (2014)  [IBMAP14] omit the last step of HHC (Aliferis, Statnikov, Tsamardinos, Mani &
Koutsoukos, JMLR 11 (2010), 171-234  [GLL10]), which orients edges: in a Markov network the parents and children
of a variable are its neighbours. HITON includes the strongest candidates first, and tests at once whether a set of the
other members separates a member from the variable.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from mnlearn.algorithms.base import Cancelled, edges_of_neighborhoods
from mnlearn.algorithms.counted import (
    AHEAD,
    CountedTest,
    Marginals,
    check_ahead,
    check_max_conditioning,
    subset_walk,
    tests_largest_sets,
)
from mnlearn.algorithms.screening import CandidateRule, check_rule, first_candidates, stated
from mnlearn.errors import check_name, true_or_false
from mnlearn.graphs.graph import Graph
from mnlearn.protocols import SILENT, Around, IndependenceTest, Monitor, Result, VarSet, Verdict

Combine = Literal["and", "or"]


@dataclass(frozen=True, kw_only=True)
class HHCMN:
    """Join x and y if HITON-PC finds y as a neighbour of x and (or) x as a neighbour of y.

    Parameters
    ----------
    combine
        ``"and"``: both ends must find each other. ``"or"``: one is enough.
    max_conditioning
        The largest conditioning set (max-k of [GLL10]); None for no limit.
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
    With the oracle of an undirected graph both rules return that graph: a neighbour is never separated, and a member
    that remains has been tested with all subsets of the others, the neighbourhood among them. A limit k
    keeps this exact if no variable has more than k neighbours; for "and" it is enough that of any two variables
    without an edge one has at most k. With a smaller limit edges may be left over, none is lost.

    The sets are all subsets: for each variable the number of tests grows as 2^d with its degree, on data with the
    largest number of members at one time. Set a limit when that may exceed about ten.

    The support of an edge is the largest log support of independence among the tests that kept it, from the ends
    that kept it: its weakest evidence. Candidates come in ascending order of their marginal log support, sets by
    size and then in the order in which their members were included. Of candidates that tie, the one that is associated
    more with all others comes first; the order of the columns matters only where that ties, too. Each pair is tested
    without conditioning once. Members are tested only with sets that contain the newcomer: all other sets have been
    tested before, so a final round of elimination is not needed. A search that is stopped uses the decision of one end
    where the other has not been examined.

    A judge with a native search (`BaseTest.subsets`: chi2, g2, bayes on counts; pcor) tests the sets around a variable
    itself, with equal answers and counts; not with `keep_trace`, nor with an `ahead` of 1.

    With a judge for which strong union holds (`BaseTest.monotone`, such as the oracle) only the largest sets are
    tested: where they do not separate, no subset does. The graph is equal, dense graphs become feasible, and `asked`
    counts the tests that were made. Not with `keep_trace`.

    With candidates these alone are tested without conditioning, and may be in a set. HITON-PC includes no variable
    without a marginal dependence, so a `Screening` has nothing to rescan for: its strongest pairs are all candidates.

    Examples
    --------
    >>> from mnlearn.graphs import cycle
    >>> from mnlearn.independence import SeparationOracle
    >>> ring = SeparationOracle(cycle(6))
    >>> HHCMN().learn(ring).graph == HHCMN(combine="or").learn(ring).graph == ring.graph
    True
    """

    combine: Combine = "and"
    max_conditioning: int | None = None
    ahead: int = AHEAD
    keep_trace: bool = False
    candidates: CandidateRule = None

    def __post_init__(self) -> None:
        true_or_false(keep_trace=self.keep_trace)
        check_ahead(self.ahead)
        check_rule(self.candidates)
        check_max_conditioning(self.max_conditioning)
        check_name("combine", self.combine, get_args(Combine))

    def learn(self, judge: IndependenceTest, monitor: Monitor = SILENT) -> Result:
        """Return the structure; see the class for the tests and their order."""
        test = CountedTest(judge, monitor, ahead=self.ahead, keep_trace=self.keep_trace, keep_support=False)
        sets = Subsets(self.max_conditioning, tests_largest_sets(judge, keep_trace=self.keep_trace))
        n, found, converged = test.n_variables, dict[int, Mapping[int, float]](), True
        walk = subset_walk(judge, ahead=self.ahead, keep_trace=self.keep_trace)

        def go_on(_: int) -> bool:
            return not monitor.cancelled()

        try:
            answers = test.marginal_answers(first_candidates(self.candidates, judge, monitor))
            strength = answers.strength_ranks()
            for x in range(n):
                monitor.progress(x, n, f"variable {x + 1} of {n}")
                candidates = by_association(x, answers, strength)
                order = list(candidates)
                neighbors = None if walk is None else walk.explain_away(x, order, self.max_conditioning, go_on)
                if neighbors is not None:
                    found[x] = natively_found(neighbors, candidates, test)
                else:
                    found[x] = parents_and_children(x, candidates, test, sets)
        except Cancelled:
            converged = False
        edges = edges_of_neighborhoods(found, self.combine, max)
        result = test.result(Graph(n, edges), converged=converged, settings=stated(self))
        return replace(result, support=edges)


def by_association(x: int, answers: Marginals, strength: NDArray[np.intp]) -> dict[int, float]:
    """Return the variables that depend on x without conditioning, each with its log support.

    The strongest association comes first. Of equals the one that is associated more with all others comes first, then
    the first column.
    """
    order = answers.strongest_first(x, answers.dependent(x), strength)
    return dict(zip(order.tolist(), answers.support(x, order).tolist(), strict=True))


def parents_and_children(
    x: int, marginal: Mapping[int, float], test: CountedTest, subsets: Subsets
) -> Mapping[int, float]:
    """Return the neighbours of x by interleaved HITON-PC, each with its weakest evidence  [GLL10].

    `marginal` has the candidates in their order, each with its log support without conditioning.
    """
    candidates = list(marginal)
    held = _Members(x, marginal, test)
    for k, newcomer in enumerate(candidates):
        test.phase = "inclusion"
        if held.separates(newcomer, subsets(held.members), candidates[k + 1 :]):
            continue
        before = tuple(held.members)
        held.members.append(newcomer)
        test.phase = "elimination"
        for place, y in enumerate(before):
            others = [u for u in held.members if u not in (y, newcomer)]
            if held.separates(y, subsets(others, newcomer), before[place + 1 :]):
                held.members.remove(y)
    return held.evidence()


def natively_found(neighbors: Around, marginal: Mapping[int, float], test: CountedTest) -> Mapping[int, float]:
    """Return the neighbours of x that a native search found, recording its tests."""
    test.phase = "inclusion"
    test.record_sizes(enumerate(neighbors.asked))
    if not neighbors.finished:
        raise Cancelled
    pairs = zip(neighbors.members, neighbors.weakest, strict=True)
    return {y: max(marginal[y], weakest) for y, weakest in pairs}  # NaN never exceeds it


@dataclass(frozen=True)
class Subsets:
    """The sets to test: non-empty ones of at most `limit` members, or only the largest of these."""

    limit: int | None
    largest_only: bool = False

    def __call__(self, members: Sequence[int], *always: int) -> Iterator[VarSet]:
        """Yield the subsets of the members, each with `always` added; by size, then in order."""
        room = len(members) if self.limit is None else min(len(members), self.limit - len(always))
        least = 0 if always else 1
        for size in range(max(least, room) if self.largest_only else least, room + 1):
            yield from (frozenset(chosen + always) for chosen in combinations(members, size))


class _Members:
    """The current members of the neighbourhood of x, and answers about them that were computed ahead."""

    def __init__(self, x: int, marginal: Mapping[int, float], test: CountedTest) -> None:
        self.members: list[int] = []
        self._x, self._test = x, test
        self._weakest = dict(marginal)
        self._ahead: dict[tuple[int, VarSet], Verdict] = {}
        self._doomed: dict[int, VarSet] = {}  # the separating set of a variable, found ahead of its turn

    def separates(self, y: int, sets: Iterable[VarSet], after: Sequence[int]) -> bool:
        """Return whether one of the sets separates x from y; `after` may be tested with these sets next."""
        for z in sets:
            verdict = self._ahead.pop((y, z), None) or self._scan(y, z, after)
            self._test.record(self._x, y, z, verdict)
            if verdict.independent:
                return True
            if verdict.log_support is not None:
                self._weakest[y] = max(self._weakest[y], verdict.log_support)
        return False

    def evidence(self) -> dict[int, float]:
        """Return the members, each with its weakest evidence."""
        return {y: self._weakest[y] for y in self.members}

    def _scan(self, y: int, z: VarSet, after: Sequence[int]) -> Verdict:
        """Test y with z, in one scan with those after it that no known set separates yet."""
        held = frozenset(self.members)
        block = [y, *(u for u in after if u not in z and (u, z) not in self._ahead and not self._is_doomed(u, held))]
        answers = self._test.scan_ahead(self._x, block, z)
        for k in range(1, len(answers.independent)):
            self._ahead[block[k], z] = answers.one(k)
            if answers.independent[k]:
                self._doomed[block[k]] = z
        return answers.one(0)

    def _is_doomed(self, y: int, held: VarSet) -> bool:
        """Return whether a set of current members is known to separate y from x."""
        return y in self._doomed and self._doomed[y] <= held
