"""PC: drop an edge as soon as some neighbours explain it away; then see which way the others point.

Spirtes, Glymour & Scheines, Causation, Prediction, and Search (2000)  [SGS00], in the order-independent form of
Colombo & Maathuis, JMLR 15 (2014), 3921-3962  [CM14]: neighbours are fixed while sets of one size are tried, so the
order of the columns decides nothing. Made for Bayesian networks. Of a Markov network the skeleton alone is the
structure; of data from a Bayesian network the Markov network is the moralised graph. [MPL17, Sec. 5] uses both, with
a Bayesian test (hyperparameters 1/2) and at most 5 conditioning variables.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import combinations, compress
from math import isnan, nan
from typing import Literal, get_args

import numpy as np

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
from mnlearn.graphs.pdag import Pdag, Triple, orient, unshielded
from mnlearn.protocols import (
    SILENT,
    BoolArray,
    FloatArray,
    IndependenceTest,
    Indices,
    Monitor,
    Result,
    SeparatingSets,
    SetLevel,
    SubsetWalk,
    VarSet,
    Verdicts,
)

_LISTED_AT_MOST = 256  # whom to ask about given a set is listed when a block is asked and again when it is used

Output = Literal["skeleton", "moral"]
ColliderRule = Literal["majority", "conservative", "sepset"]


@dataclass(frozen=True, kw_only=True)
class PC:
    """Start with all edges; for sets of size 0, 1, 2, ... drop x − y if x ⟂ y | z for a z among the neighbours of x.

    Parameters
    ----------
    output
        ``"skeleton"``: the edges that are left, the structure of a Markov network. ``"moral"``: directions are
        sought as well, and parents of a common child are married: the Markov network of a Bayesian network.
    max_conditioning
        The largest conditioning set; None for no limit.
    colliders
        When u − m − v without u − v is u → m ← v. ``"majority"``: m is in less than half of the sets among the
        neighbours of u, and those of v, that separate u from v. ``"conservative"``: in none of them. ``"sepset"``:
        not in the one set that first separated them, as in the original; asks nothing more, but lets the order
        of the columns decide which set came first.
    ahead
        The largest block of scans asked ahead of need, where the judge answers many together; 1 asks nothing ahead.
        Changes no result.
    keep_trace
        Whether the result keeps every question in order.

    Raises
    ------
    InputError
        If a setting breaks its rule; and from `learn`, if there are fewer than 2 variables.

    Notes
    -----
    With the oracle of an undirected graph both outputs are that graph; with d-separation the skeleton, the colliders
    and the moral graph are those of the directed graph. A limit k keeps this exact if of any two variables without an
    edge one has at most k neighbours (in a directed graph: if no variable has more than k parents); with a smaller
    one edges may be left over, none is lost.

    The support of an edge is the largest log support of independence among the answers that kept it: its weakest
    evidence. An edge that moralisation adds has the support of the independence that made its ends parents.

    Questions are asked in scans: one x, one z, all y still adjacent to x. `asked` is what PC-stable asks one at a time,
    except that a z among the neighbours of both x and y is tried from one end only; `scanned` adds what was asked ahead
    and not needed. The sets for colliders are asked about anew, as phase "colliders". Without a limit
    the number of sets grows as 2^degree. A judge that can (`BaseTest.subsets`: chi2, g2 and bayes on counts) tries all
    sets of one size by itself, with the same answers and account; not with `keep_trace`, nor with an `ahead` of 1.

    Of a judge that promises strong union (`BaseTest.monotone`, as the oracle does) all levels are asked at once, if
    there is no limit: y given all other neighbours of x. The graph is the same, dense graphs come into reach, `asked`
    counts the questions that were put, and a separator is one of which nothing can be left out. Not with `keep_trace`.

    Variables and sets are taken in ascending order of the index: that decides which separator is found first, never
    which edges stay. Directions that contradict each other are kept as both (see `Pdag`); Meek's rules conclude
    nothing from these, nor from triples on which the sets disagree. A search that is stopped returns the edges it has
    not yet dropped.

    Examples
    --------
    >>> from mnlearn.graphs import grid
    >>> from mnlearn.independence import SeparationOracle
    >>> lattice = SeparationOracle(grid(3, 3))
    >>> result = PC().learn(lattice)
    >>> result.graph == lattice.graph, sorted(result.separators[0, 8])
    (True, [1, 3])
    """

    output: Output = "skeleton"
    max_conditioning: int | None = None
    colliders: ColliderRule = "majority"
    ahead: int = AHEAD
    keep_trace: bool = False

    def __post_init__(self) -> None:
        true_or_false(keep_trace=self.keep_trace)
        check_ahead(self.ahead)
        check_max_conditioning(self.max_conditioning)
        check_name("output", self.output, get_args(Output))
        check_name("colliders", self.colliders, get_args(ColliderRule))

    def learn(self, judge: IndependenceTest, monitor: Monitor = SILENT) -> Result:
        """Find the structure; see the class for what is asked and in which order."""
        test = CountedTest(judge, monitor, ahead=self.ahead, keep_trace=self.keep_trace, keep_support=False)
        edges, pdag, converged = _Edges(test.n_variables), None, True
        walk = subset_walk(judge, ahead=self.ahead, keep_trace=self.keep_trace)
        try:
            monitor.progress(0, test.n_variables, "pairs by themselves")
            edges.settle_pairs(*test.marginals())
            if self.max_conditioning is None and tests_largest_sets(judge, keep_trace=self.keep_trace):
                drop_by_all_others(edges, test, monitor)
            else:
                for size in _sizes(self.max_conditioning, edges):
                    drop_separated(edges, size, test, monitor, walk)
            if self.output == "moral":
                pdag = self._directions(edges, test, monitor, walk)
        except STOPPED:
            converged = False
        graph = edges.graph() if pdag is None else pdag.moral()
        account = test.result(graph, converged=converged, settings=asdict(self))
        return replace(account, support=edges.support(graph), separators=edges.separators, pdag=pdag)

    def _directions(self, edges: _Edges, test: CountedTest, monitor: Monitor, walk: SubsetWalk | None) -> Pdag:
        """Judge each unshielded triple, then let Meek's rules finish."""
        skeleton = edges.graph()
        triples = unshielded(skeleton)
        if self.colliders == "sepset":
            return orient(skeleton, [(u, m, v) for u, m, v in triples if m not in edges.separators[u, v]])
        votes = Votes(skeleton, test, self.max_conditioning)
        votes.collect(walk, monitor)
        judged = {triple: votes.is_collider(triple, unanimous=self.colliders == "conservative") for triple in triples}
        colliders = [triple for triple, answer in judged.items() if answer]
        return orient(skeleton, colliders, frozenset(triple for triple, answer in judged.items() if answer is None))


def drop_separated(edges: _Edges, size: int, test: CountedTest, monitor: Monitor, walk: SubsetWalk | None) -> None:
    """One level of PC-stable: neighbours are those of its beginning, whatever it drops  [CM14]."""
    test.phase, n = f"level {size}", test.n_variables

    def tell(x: int) -> bool:
        monitor.progress(x, n, f"sets of {size}: {edges.count()} edges left")
        return not monitor.cancelled()

    if walk is not None and edges.settle_level(size, walk, test, tell):
        return
    around = [edges.neighbors(x) for x in range(n)]
    known = [frozenset(members) for members in around]
    for x in range(n):
        tell(x)
        _drop_around(x, edges, map(frozenset, combinations(around[x], size)), known, test)


def drop_by_all_others(edges: _Edges, test: CountedTest, monitor: Monitor) -> None:
    """All levels in one, for a judge with strong union: if any neighbours of x separate it from y, all of them do."""
    test.phase = "all levels"
    for x in range(test.n_variables):
        monitor.progress(x, test.n_variables, f"sets of all sizes: {edges.count()} edges left")
        for y in edges.neighbors(x):
            z = frozenset(edges.neighbors(x)) - {y}
            answers = test.scan(x, (y,), z)
            if answers.independent[0]:
                z = _without_the_idle(x, y, z, test)
            edges.settle(x, [y], z, answers)


def _without_the_idle(x: int, y: int, z: VarSet, test: CountedTest) -> VarSet:
    """A smallest part of z that still separates: none of it could be left out."""
    for v in sorted(z, reverse=True):
        if test.scan(x, (y,), z - {v}).independent[0]:
            z -= {v}
    return z


def _drop_around(x: int, edges: _Edges, sets: Iterable[VarSet], known: Sequence[VarSet], test: CountedTest) -> None:
    """Try each set on all that are left around x."""
    left = edges.neighbors(x)
    listed: dict[VarSet, list[int]] = {}  # with those that are left now

    def untried(z: VarSet) -> list[int]:
        ys = listed.get(z)
        if ys is None:
            if len(listed) == _LISTED_AT_MOST:
                listed.clear()
            # From the other end, y < x has asked this already if it has all of z around it.
            ys = listed[z] = [y for y in left if y not in z and (y > x or not z <= known[y])]
        return ys

    for z, ys, answers in test.scans(x, sets, untried):
        if edges.settle(x, ys, z, answers):
            left = edges.neighbors(x)
            listed.clear()


def _sizes(limit: int | None, edges: _Edges) -> Iterator[int]:
    """Sizes of conditioning sets from 1 on, for as long as some x has that many neighbours besides y."""
    size = 1
    while (limit is None or size <= limit) and edges.largest_degree() > size:
        yield size
        size += 1


class _Edges:
    """The edges not yet dropped, with their weakest evidence; and what separated the others."""

    def __init__(self, n_variables: int) -> None:
        self.adjacent = ~np.eye(n_variables, dtype=np.bool_)
        self.separators: dict[Edge, VarSet] = {}
        self._weakest = np.full((n_variables, n_variables), nan)  # as asked from the variable of the row
        self._marginal = self._weakest
        self._parting: dict[Edge, float] = {}  # the support of the answer that dropped a pair given some set

    def count(self) -> int:
        """How many are left."""
        return int(np.count_nonzero(self.adjacent)) // 2

    def largest_degree(self) -> int:
        """The most neighbours that a variable has left."""
        return int(self.adjacent.sum(axis=1).max())

    def graph(self) -> Graph:
        """The edges that are left."""
        return Graph(len(self.adjacent), np.argwhere(np.triu(self.adjacent)).tolist())

    def neighbors(self, x: int) -> list[int]:
        """Who is left around x, in ascending order."""
        neighbors: list[int] = np.flatnonzero(self.adjacent[x]).tolist()
        return neighbors

    def settle(self, x: int, ys: Indices, z: VarSet, answers: Verdicts) -> bool:
        """Drop the independent, remember the weakest evidence of the others; whether any was dropped."""
        ys = np.asarray(ys)
        self._weakest[x, ys] = np.fmax(self._weakest[x, ys], answers.log_support)  # a judge need not give any
        dropped = np.flatnonzero(answers.independent)
        for y, support in zip(ys[dropped].tolist(), answers.log_support[dropped].tolist(), strict=True):
            self.adjacent[x, y] = self.adjacent[y, x] = False
            self._part(x, y, z, support)
        return len(dropped) > 0

    def settle_pairs(self, independent: BoolArray, support: FloatArray) -> None:
        """The same for every pair, asked without conditioning."""
        self.adjacent[independent] = False
        self._marginal, self._weakest = support, support.copy()
        pairs = (ends.tolist() for ends in np.nonzero(np.triu(independent)))
        self.separators = dict.fromkeys(zip(*pairs, strict=True), frozenset())

    def settle_level(self, size: int, walk: SubsetWalk, test: CountedTest, go_on: Callable[[int], bool]) -> bool:
        """The same for all sets of one size, tried by a walk; whether it could."""
        level = SetLevel(size, self.adjacent.copy(), self.adjacent, self._weakest)
        found = walk.separate(level, range(test.n_variables), go_on)
        if found is None:
            return False
        test.record_sizes([(size, found.asked)])
        for (x, y, *z), support in zip(found.sets.tolist(), found.log_support.tolist(), strict=True):
            self._part(x, y, frozenset(z), support)
        if not found.finished:
            raise Cancelled
        return True

    def support(self, graph: Graph) -> dict[Edge, float]:
        """The weakest evidence of each edge; where there is none, since none was asked for, no entry."""
        found = {(u, v): float(np.fmax(self._weakest[u, v], self._weakest[v, u])) for u, v in graph.edges}
        married = (edge for edge in graph.edges if not self.adjacent[edge])
        found |= {edge: self._parting.get(edge, float(self._marginal[edge])) for edge in married}
        return {edge: value for edge, value in found.items() if not isnan(value)}

    def _part(self, x: int, y: int, z: VarSet, support: float) -> None:
        """Remember what separated a pair, and how sure that was."""
        edge = (x, y) if x < y else (y, x)
        self.separators[edge], self._parting[edge] = z, support


# Which unshielded triples are colliders, by the votes of all sets that separate their ends  [CM14].


class Votes:
    """For each pair at distance two: how many sets separate it, and in how many of them a variable is.

    The sets are those among the neighbours of either end, in the skeleton  [CM14].
    """

    def __init__(self, skeleton: Graph, test: CountedTest, limit: int | None) -> None:
        self._skeleton, self._test, self._limit = skeleton, test, limit
        self._sets: Counter[Edge] = Counter()
        self._sets_with: Counter[Triple] = Counter()

    def collect(self, walk: SubsetWalk | None, monitor: Monitor) -> None:
        """Ask for all of them; a walk, if there is one, tries the sets by itself."""
        self._test.phase, n = "colliders", self._skeleton.n_variables
        adjacent = np.zeros((n, n), dtype=np.bool_)
        for u, v in self._skeleton.edges:
            adjacent[u, v] = adjacent[v, u] = True

        def go_on(_: int) -> bool:
            return not monitor.cancelled()

        for x in range(n):
            around = sorted(self._skeleton.neighbors(x))
            apart = sorted({w for y in around for w in self._skeleton.neighbors(y)} - {x, *around})
            if not apart:
                continue
            counted = None if walk is None else walk.count_separating(x, apart, adjacent, self._limit, go_on)
            if counted is None:
                self._scan(x, apart, around)
            else:
                self._enter(x, apart, around, counted)

    def _scan(self, x: int, apart: list[int], around: list[int]) -> None:
        """Scan after scan: all that are two steps from x, except where the other end has asked already."""
        for size in range(min(len(around), len(around) if self._limit is None else self._limit) + 1):
            for z in map(frozenset, combinations(around, size)):
                ys = [y for y in apart if y > x or not z <= self._skeleton.neighbors(y)]
                independent = self._test.scan(x, ys, z).independent.tolist() if ys else ()
                for y in compress(ys, independent):
                    self._sets[_pair(x, y)] += 1
                    self._sets_with.update(_triple(x, m, y) for m in z)

    def _enter(self, x: int, apart: list[int], around: list[int], counted: SeparatingSets) -> None:
        """The same, counted by a walk."""
        self._test.record_sizes(enumerate(counted.asked))
        if not counted.finished:
            raise Cancelled
        for y, (n_sets, *n_with) in zip(apart, counted.counts.tolist(), strict=True):
            self._sets[_pair(x, y)] += n_sets
            for m, count in zip(around, n_with, strict=True):
                self._sets_with[_triple(x, m, y)] += count

    def is_collider(self, triple: Triple, *, unanimous: bool) -> bool | None:
        """Whether m is in few of the sets that separate u from v; None when they do not tell."""
        u, _, v = triple
        n_sets, n_with = self._sets[u, v], self._sets_with[triple]
        if n_sets == 0 or (unanimous and 0 < n_with < n_sets) or 2 * n_with == n_sets:
            return None
        return 2 * n_with < n_sets


def _pair(x: int, y: int) -> Edge:
    return (x, y) if x < y else (y, x)


def _triple(x: int, m: int, y: int) -> Triple:
    return (x, m, y) if x < y else (y, m, x)
