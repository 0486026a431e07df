"""HHC-MN: the neighbours of each variable by interleaved HITON-PC, then one graph from all of them.

Schlüter, Bromberg & Edera, AMAI (2014)  [IBMAP14] omit the last step of HHC (Aliferis, Statnikov, Tsamardinos, Mani &
Koutsoukos, JMLR 11 (2010), 171-234  [GLL10]), which orients edges: in a Markov network the parents and children
of a variable are its neighbours. The idea is HITON's: take in the strongest candidates first, and try at once
to explain away everything taken in by every set of the others.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import combinations
from typing import Literal, get_args

from mnlearn.algorithms._counted_test import (
    AHEAD,
    CountedTest,
    check_ahead,
    check_max_conditioning,
    subset_walk,
    tests_largest_sets,
)
from mnlearn.algorithms._search import STOPPED, Cancelled
from mnlearn.errors import check_name, true_or_false
from mnlearn.graphs.graph import Edge, Graph
from mnlearn.protocols import SILENT, Around, BoolArray, FloatArray, IndependenceTest, Monitor, Result, VarSet, Verdict

Combine = Literal["and", "or"]


@dataclass(frozen=True, kw_only=True)
class HHCMN:
    """Join x and y if HITON-PC finds y around x and (or) x around y.

    Parameters
    ----------
    combine
        ``"and"``: both ends must find each other. ``"or"``: one is enough.
    max_conditioning
        The largest conditioning set (max-k of [GLL10]); None for no limit.
    ahead
        The largest block of questions asked ahead of need; 1 asks strictly one at a time. Changes no result.
    keep_trace
        Whether the result keeps every question in order.

    Raises
    ------
    InputError
        If a setting breaks its rule; and from `learn`, if there are fewer than 2 variables.

    Notes
    -----
    With the oracle of an undirected graph both rules return that graph: a neighbour is never separated, and whoever
    is still there at the end has been tried with all subsets of the others, the neighbourhood among them. A limit k
    keeps this exact if no variable has more than k neighbours; for "and" it is enough that of any two variables
    without an edge one has at most k. With a smaller limit edges may be left over, none is lost.

    The sets are all subsets: for each variable the number of questions grows as 2^d with its degree, on data with the
    most candidates it holds at one time. Take a limit when that may be more than about ten.

    The support of an edge is the largest log support of independence among the answers that kept it, from the ends
    that kept it: its weakest evidence. Candidates come in ascending order of their marginal log support, sets by
    size and then in the order in which their members came in; ties by index. Pairs are asked about without
    conditioning once, not from either end. Members are tried only with sets that contain the newcomer: with all
    others they have been tried before, so a final round of elimination would have nothing left to ask. A search that
    is stopped takes the word of one end where the other has not been examined.

    A judge that can (`BaseTest.subsets`: chi2, g2 and bayes on counts) tries the sets around a variable by itself, with
    the same answers and account; not with `keep_trace`, nor with an `ahead` of 1.

    Of a judge that promises strong union (`BaseTest.monotone`, as the oracle does) only the largest sets are asked
    about: where they do not separate, no subset does. The graph is the same, dense graphs come into reach, and `asked`
    counts the questions that were put. Not with `keep_trace`.

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

    def __post_init__(self) -> None:
        true_or_false(keep_trace=self.keep_trace)
        check_ahead(self.ahead)
        check_max_conditioning(self.max_conditioning)
        check_name("combine", self.combine, get_args(Combine))

    def learn(self, judge: IndependenceTest, monitor: Monitor = SILENT) -> Result:
        """Find the structure; see the class for what is asked and in which order."""
        test = CountedTest(judge, monitor, ahead=self.ahead, keep_trace=self.keep_trace, keep_support=False)
        sets = Subsets(self.max_conditioning, tests_largest_sets(judge, keep_trace=self.keep_trace))
        n, found, converged = test.n_variables, dict[int, Mapping[int, float]](), True
        walk = subset_walk(judge, ahead=self.ahead, keep_trace=self.keep_trace)

        def go_on(_: int) -> bool:
            return not monitor.cancelled()

        try:
            independent, support = test.marginals()
            for x in range(n):
                monitor.progress(x, n, f"variable {x + 1} of {n}")
                candidates = by_association(x, independent, support)
                around = None if walk is None else walk.explain_away(x, candidates, self.max_conditioning, go_on)
                if around is not None:
                    found[x] = booked(around, support[x], test)
                else:
                    found[x] = parents_and_children(x, candidates, support[x], test, sets)
        except STOPPED:
            converged = False
        edges = combined(found, self.combine)
        result = test.result(Graph(n, edges), converged=converged, settings=asdict(self))
        return replace(result, support=edges)


def by_association(x: int, independent: BoolArray, support: FloatArray) -> list[int]:
    """The candidates of x: all that depend on it without conditioning, strongest first, ties by index."""
    (candidates,) = (~independent[x]).nonzero()
    strongest_first = candidates[support[x, candidates].argsort(kind="stable")]
    return [y for y in strongest_first.tolist() if y != x]


def parents_and_children(
    x: int, candidates: Sequence[int], marginal: FloatArray, test: CountedTest, subsets: Subsets
) -> Mapping[int, float]:
    """Interleaved HITON-PC: who stays around x, each with its weakest evidence  [GLL10]."""
    around = _Around(x, marginal, test)
    for k, newcomer in enumerate(candidates):
        test.phase = "inclusion"
        if around.explains(newcomer, subsets(around.members), candidates[k + 1 :]):
            continue
        before = tuple(around.members)
        around.members.append(newcomer)
        test.phase = "elimination"
        for place, y in enumerate(before):
            others = [u for u in around.members if u not in (y, newcomer)]
            if around.explains(y, subsets(others, newcomer), before[place + 1 :]):
                around.members.remove(y)
    return around.evidence()


def booked(around: Around, marginal: FloatArray, test: CountedTest) -> Mapping[int, float]:
    """The same as a judge found it that tried the sets itself."""
    test.phase = "inclusion"
    test.record_sizes(enumerate(around.asked))
    if not around.finished:
        raise Cancelled
    pairs = zip(around.members, around.weakest, strict=True)
    return {y: max(float(marginal[y]), weakest) for y, weakest in pairs}  # NaN is no larger than anything


@dataclass(frozen=True)
class Subsets:
    """Which sets to try: non-empty ones of at most `limit`, or of these the largest only."""

    limit: int | None
    largest_only: bool = False

    def __call__(self, members: Sequence[int], *always: int) -> Iterator[VarSet]:
        """Some of the members, and what is always in the sets; by size, then in order."""
        room = len(members) if self.limit is None else min(len(members), self.limit - len(always))
        least = 0 if always else 1
        for size in range(max(least, room) if self.largest_only else least, room + 1):
            yield from (frozenset(chosen + always) for chosen in combinations(members, size))


def combined(found: Mapping[int, Mapping[int, float]], rule: Combine) -> dict[Edge, float]:
    """The edges by the rule, each with its weakest evidence; an end that was never examined agrees."""
    edges: dict[Edge, float] = {}
    for x, around in found.items():
        for y, evidence in around.items():
            if rule == "or" or y not in found or x in found[y]:
                edge = (x, y) if x < y else (y, x)
                edges[edge] = max(evidence, edges.get(edge, evidence))
    return edges


class _Around:
    """The variables held around x, and the answers at hand about them: the test books those that are used."""

    def __init__(self, x: int, marginal: FloatArray, test: CountedTest) -> None:
        self.members: list[int] = []
        self._x, self._test = x, test
        self._weakest = marginal.tolist()
        self._at_hand: dict[tuple[int, VarSet], Verdict] = {}
        self._doomed: dict[int, VarSet] = {}  # by a set that was asked about ahead of its turn

    def explains(self, y: int, sets: Iterable[VarSet], after: Sequence[int]) -> bool:
        """Whether one of the sets separates x from y; `after`: who may be asked about the same sets next."""
        for z in sets:
            verdict = self._at_hand.pop((y, z), None) or self._ask(y, z, after)
            self._test.record(self._x, y, z, verdict)
            if verdict.independent:
                return True
            if verdict.log_support is not None:
                self._weakest[y] = max(self._weakest[y], verdict.log_support)
        return False

    def evidence(self) -> dict[int, float]:
        """Whoever is left, each with its weakest evidence."""
        return {y: self._weakest[y] for y in self.members}

    def _ask(self, y: int, z: VarSet, after: Sequence[int]) -> Verdict:
        """One scan with z for y and for those after it that have nothing against them yet."""
        held = frozenset(self.members)
        block = [y, *(u for u in after if u not in z and (u, z) not in self._at_hand and not self._is_doomed(u, held))]
        answers = self._test.scan_ahead(self._x, block, z)
        for k in range(1, len(answers.independent)):
            self._at_hand[block[k], z] = answers.one(k)
            if answers.independent[k]:
                self._doomed[block[k]] = z
        return answers.one(0)

    def _is_doomed(self, y: int, held: VarSet) -> bool:
        """Whether a set of variables still held is known to separate y from x."""
        return y in self._doomed and self._doomed[y] <= held
