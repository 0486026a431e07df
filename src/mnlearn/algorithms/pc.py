"""PC: drop an edge as soon as a set of neighbours separates its ends; then orient the other edges.

Spirtes, Glymour & Scheines, Causation, Prediction, and Search (2000)  [SGS00], in the order-independent form of
Colombo & Maathuis, JMLR 15 (2014), 3921-3962  [CM14]: neighbours are fixed while sets of one size are tested, so the
result does not depend on the order of the columns. PC was made for Bayesian networks. The structure of a Markov network
is the skeleton alone; for data from a Bayesian network it is the moralised graph. [MPL17, Sec. 5] uses both, with
a Bayesian test (hyperparameters 1/2) and at most 5 conditioning variables.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations, compress
from typing import Literal, get_args

import numpy as np

from mnlearn.algorithms._pc_edges import RemainingEdges
from mnlearn.algorithms.base import STOPPED, Cancelled, Constraints, ordered
from mnlearn.algorithms.counted import (
    AHEAD,
    CountedTest,
    check_ahead,
    check_max_conditioning,
    subset_walk,
    tests_largest_sets,
)
from mnlearn.algorithms.screening import CandidateRule, check_rule, first_candidates, stated
from mnlearn.errors import InputError, check_name, true_or_false
from mnlearn.graphs.candidates import Candidates, keys_of
from mnlearn.graphs.graph import Edge, Graph
from mnlearn.graphs.pdag import Pdag, Triple, orient, unshielded
from mnlearn.protocols import (
    SILENT,
    IndependenceTest,
    Monitor,
    PairLists,
    Result,
    SeparatingSets,
    SubsetWalk,
    VarSet,
)

_LISTED_AT_MOST = 256  # the ys of a set are needed when its block is tested and when it is used

Output = Literal["skeleton", "moral"]
ColliderRule = Literal["majority", "conservative", "sepset"]


@dataclass(frozen=True, kw_only=True)
class PC:
    """Start with all edges; for sets of size 0, 1, 2, ... drop x − y if x ⟂ y | z for a z among the neighbours of x.

    Parameters
    ----------
    output
        ``"skeleton"``: the edges that are left, the structure of a Markov network. ``"moral"``: the edges
        are oriented and parents of a common child joined: the Markov network of a Bayesian network.
    max_conditioning
        The largest conditioning set; None for no limit.
    colliders
        When u − m − v without u − v is u → m ← v. ``"majority"``: m is in less than half of the sets among the
        neighbours of u, and those of v, that separate u from v. ``"conservative"``: in none of them. ``"sepset"``:
        not in the one set that first separated them, as in the original; needs no further tests, but depends on the
        order of the columns.
    ahead
        The largest block of scans computed ahead of need, where the judge computes many together; 1 computes none
        ahead. Does not change the result.
    keep_trace
        Whether the result stores every test in order.
    candidates
        The pairs that may be edges: a closed list, a `Screening`, or None for all pairs. Not with colliders="sepset".

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

    The support of an edge is the largest log support of independence among the tests that kept it: its weakest
    evidence. An edge that moralisation adds has the support of the independence that made its ends parents.

    Tests are made in scans: one x, one z, all y still adjacent to x. `asked` counts the tests of PC-stable, except that
    a z among the neighbours of both x and y is tested from one end only; `scanned` adds the tests computed ahead and
    not needed. The sets for colliders are tested again, as phase "colliders". Without a limit
    the number of sets grows as 2^degree. A judge with a native search (`BaseTest.subsets`: chi2, g2 and bayes on
    counts, pcor) tests all sets of one size itself, with equal answers and counts; not with `keep_trace`, nor with an
    `ahead` of 1.

    With a judge for which strong union holds (`BaseTest.monotone`, such as the oracle) and no limit, there is one
    level: y is tested given all other neighbours of x. The graph is equal, dense graphs become feasible, `asked` counts
    the tests that were made, and separators are minimal. Not with `keep_trace`.

    Variables and sets are taken in ascending order of the index: that decides which separator is found first, never
    which edges stay. An edge with contradicting directions has both (see `Pdag`); Meek's rules use neither these edges
    nor triples on which the sets disagree. A search that is stopped returns the edges that are left.

    With candidates these alone are tested without conditioning, and the search starts with those that are dependent. A
    `Screening` takes its strongest pairs; nothing joins them later. Moralisation joins parents of a common child that
    are no candidates, too, except with a closed list.

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
    candidates: CandidateRule = None

    def __post_init__(self) -> None:
        true_or_false(keep_trace=self.keep_trace)
        check_ahead(self.ahead)
        check_max_conditioning(self.max_conditioning)
        check_name("output", self.output, get_args(Output))
        check_name("colliders", self.colliders, get_args(ColliderRule))
        check_rule(self.candidates)
        if self.candidates is not None and self.output == "moral" and self.colliders == "sepset":
            raise InputError(
                "colliders='sepset' needs a separating set of every pair; with candidates the other pairs have none. "
                "Use colliders='majority', or leave candidates out."
            )

    def learn(self, judge: IndependenceTest, monitor: Monitor = SILENT) -> Result:
        """Return the structure; see the class for the tests and their order."""
        test = CountedTest(judge, monitor, ahead=self.ahead, keep_trace=self.keep_trace, keep_support=False)
        edges, pdag, converged = None, None, True
        candidates = None if self.candidates is None else Candidates(test.n_variables, np.empty(0, dtype=np.int64))
        walk = subset_walk(judge, ahead=self.ahead, keep_trace=self.keep_trace)
        try:
            candidates = first_candidates(self.candidates, judge, monitor)
            monitor.progress(0, test.n_variables, "pairs without conditioning")
            edges = RemainingEdges.tested(test, candidates)
            if self.max_conditioning is None and tests_largest_sets(judge, keep_trace=self.keep_trace):
                drop_by_all_others(edges, test, monitor)
            else:
                for size in _sizes(self.max_conditioning, edges):
                    drop_separated(edges, size, test, monitor, walk)
            if self.output == "moral":
                pdag = self._directions(edges, test, monitor, walk)
        except STOPPED:
            converged = False
        edges = edges or RemainingEdges.untested(test.n_variables, candidates)
        graph = edges.pairs.graph() if pdag is None else self._moral(pdag)
        result = test.result(graph, converged=converged, settings=stated(self))
        return replace(result, support=edges.support(graph), separators=edges.separators, pdag=pdag)

    def _moral(self, pdag: Pdag) -> Graph:
        """Return the moralised graph, without the pairs that a closed list leaves out."""
        graph = pdag.moral()
        closed = self.candidates if isinstance(self.candidates, Candidates) else None
        return Constraints(graph.n_variables, candidates=closed).apply(graph)

    def _directions(self, edges: RemainingEdges, test: CountedTest, monitor: Monitor, walk: SubsetWalk | None) -> Pdag:
        """Return the directions: decide each unshielded triple, then apply Meek's rules."""
        skeleton = edges.pairs.graph()
        triples = unshielded(skeleton)
        if self.colliders == "sepset":
            return orient(skeleton, [(u, m, v) for u, m, v in triples if m not in edges.separators[u, v]])
        votes = Votes(skeleton, test, self.max_conditioning)
        votes.collect(walk, monitor)
        decided = {triple: votes.is_collider(triple, unanimous=self.colliders == "conservative") for triple in triples}
        colliders = [triple for triple, answer in decided.items() if answer]
        return orient(skeleton, colliders, frozenset(triple for triple, answer in decided.items() if answer is None))


def drop_separated(
    edges: RemainingEdges, size: int, test: CountedTest, monitor: Monitor, walk: SubsetWalk | None
) -> None:
    """Run one level of PC-stable, with the neighbours at its start  [CM14]."""
    test.phase, n = f"level {size}", test.n_variables

    def go_on(x: int) -> bool:
        monitor.progress(x, n, f"sets of {size}: {edges.count()} edges left")
        return not monitor.cancelled()

    if walk is not None and edges.settle_level(size, walk, test, go_on):
        return
    neighbors = [edges.pairs.neighbors(x) for x in range(n)]
    known = [frozenset(members) for members in neighbors]
    for x in range(n):
        go_on(x)
        _drop_edges_of(x, edges, map(frozenset, combinations(neighbors[x], size)), known, test)


def drop_by_all_others(edges: RemainingEdges, test: CountedTest, monitor: Monitor) -> None:
    """Run all levels in one, for a test with strong union: if some neighbours of x separate it from y, all do."""
    test.phase = "all levels"
    for x in range(test.n_variables):
        monitor.progress(x, test.n_variables, f"sets of all sizes: {edges.count()} edges left")
        for y in edges.pairs.neighbors(x):
            z = frozenset(edges.pairs.neighbors(x)) - {y}
            answers = test.scan(x, (y,), z)
            if answers.independent[0]:
                z = _minimal(x, y, z, test)
            edges.settle(x, [y], z, answers)


def _minimal(x: int, y: int, z: VarSet, test: CountedTest) -> VarSet:
    """Return a minimal subset of z that still separates x from y."""
    for v in sorted(z, reverse=True):
        if test.scan(x, (y,), z - {v}).independent[0]:
            z -= {v}
    return z


def _drop_edges_of(
    x: int, edges: RemainingEdges, sets: Iterable[VarSet], known: Sequence[VarSet], test: CountedTest
) -> None:
    """Test each set on all remaining neighbours of x."""
    left = edges.pairs.neighbors(x)
    listed: dict[VarSet, list[int]] = {}  # for the current neighbours

    def untried(z: VarSet) -> list[int]:
        ys = listed.get(z)
        if ys is None:
            if len(listed) == _LISTED_AT_MOST:
                listed.clear()
            # y < x has tested this set from its end already if all of z are neighbours of y.
            ys = listed[z] = [y for y in left if y not in z and (y > x or not z <= known[y])]
        return ys

    for z, ys, answers in test.scans(x, sets, untried):
        if edges.settle(x, ys, z, answers):
            left = edges.pairs.neighbors(x)
            listed.clear()


def _sizes(limit: int | None, edges: RemainingEdges) -> Iterator[int]:
    """Yield the sizes of conditioning sets from 1 on, while some x has that many neighbours besides y."""
    size = 1
    while (limit is None or size <= limit) and edges.pairs.largest_degree() > size:
        yield size
        size += 1


class Votes:
    """Votes on colliders: for each pair at distance two the separating sets, and how many contain each variable.

    The sets are subsets of the neighbours of either end, in the skeleton  [CM14].
    """

    def __init__(self, skeleton: Graph, test: CountedTest, limit: int | None) -> None:
        self._skeleton, self._test, self._limit = skeleton, test, limit
        self._sets: Counter[Edge] = Counter()
        self._sets_with: Counter[Triple] = Counter()

    def collect(self, walk: SubsetWalk | None, monitor: Monitor) -> None:
        """Test all of these sets, by the native search if there is one."""
        self._test.phase, n = "colliders", self._skeleton.n_variables
        edges = np.array(self._skeleton.edges, dtype=np.int64).reshape(-1, 2)
        around = PairLists(*Candidates(n, keys_of(n, edges)).lists())

        def go_on(_: int) -> bool:
            return not monitor.cancelled()

        for x in range(n):
            neighbors = sorted(self._skeleton.neighbors(x))
            apart = sorted({w for y in neighbors for w in self._skeleton.neighbors(y)} - {x, *neighbors})
            if not apart:
                continue
            counted = None if walk is None else walk.count_separating(x, apart, around, self._limit, go_on)
            if counted is None:
                self._scan(x, apart, neighbors)
            else:
                self._add(x, apart, neighbors, counted)

    def _scan(self, x: int, apart: list[int], neighbors: list[int]) -> None:
        """Test all variables at distance two from x, except where the other end has tested the set already."""
        for size in range(min(len(neighbors), len(neighbors) if self._limit is None else self._limit) + 1):
            for z in map(frozenset, combinations(neighbors, size)):
                ys = [y for y in apart if y > x or not z <= self._skeleton.neighbors(y)]
                independent = self._test.scan(x, ys, z).independent.tolist() if ys else ()
                for y in compress(ys, independent):
                    self._sets[ordered(x, y)] += 1
                    self._sets_with.update(_triple(x, m, y) for m in z)

    def _add(self, x: int, apart: list[int], neighbors: list[int], counted: SeparatingSets) -> None:
        """Add the counts of the native search."""
        self._test.record_sizes(enumerate(counted.asked))
        if not counted.finished:
            raise Cancelled
        for y, (n_sets, *n_with) in zip(apart, counted.counts.tolist(), strict=True):
            self._sets[ordered(x, y)] += n_sets
            for m, count in zip(neighbors, n_with, strict=True):
                self._sets_with[_triple(x, m, y)] += count

    def is_collider(self, triple: Triple, *, unanimous: bool) -> bool | None:
        """Return whether m is in few of the sets that separate u from v; None if that is undecided."""
        u, _, v = triple
        n_sets, n_with = self._sets[u, v], self._sets_with[triple]
        if n_sets == 0 or (unanimous and 0 < n_with < n_sets) or 2 * n_with == n_sets:
            return None
        return 2 * n_with < n_sets


def _triple(x: int, m: int, y: int) -> Triple:
    return (x, m, y) if x < y else (y, m, x)
