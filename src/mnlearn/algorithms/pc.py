"""PC: drop an edge as soon as a set of neighbours separates its ends; then orient the other edges.

Spirtes, Glymour & Scheines, Causation, Prediction, and Search (2000)  [SGS00], in the order-independent form of
Colombo & Maathuis, JMLR 15 (2014), 3921-3962  [CM14]: neighbours are fixed while sets of one size are tested, so the
result does not depend on the order of the columns. PC was made for Bayesian networks. The structure of a Markov network
is the skeleton alone; for data from a Bayesian network it is the moralised graph. [MPL17, Sec. 5] uses both, with
a Bayesian test (hyperparameters 1/2) and at most 5 conditioning variables.

Edges that PC has not dropped yet, with their weakest evidence, and the separators of the others.

All pairs are matrices, candidate pairs lists: memory then grows with the number of candidates.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations, compress
from math import isnan, nan
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from mnlearn.algorithms.base import Cancelled, Constraints, ordered
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
    BoolArray,
    FloatArray,
    IndependenceTest,
    Indices,
    Monitor,
    PairLists,
    Result,
    Separated,
    SeparatingSets,
    SetLevel,
    SubsetWalk,
    VarSet,
    Verdicts,
)


class Pairs(ABC):
    """Pairs of variables, and which of them are still joined; stored from both ends.

    Attributes
    ----------
    adjacent
        Whether each pair is joined; the search changes it.
    lists
        The partners of each variable; None for all pairs.
    """

    adjacent: BoolArray
    lists: PairLists | None = None
    n_variables: int

    @abstractmethod
    def at(self, x: int, ys: Any) -> Any:
        """Return where the pairs of x with these variables, or this one, are stored."""

    @abstractmethod
    def neighbors(self, x: int) -> list[int]:
        """Return the variables that are still joined to x, ascending."""

    @abstractmethod
    def ends(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return the first and the second variables of the joined pairs u < v, in lexicographic order."""

    @abstractmethod
    def separated(self) -> Iterator[Edge]:
        """Yield the pairs u < v that are not joined, in lexicographic order."""

    @abstractmethod
    def has(self, u: int, v: int) -> bool:
        """Return whether this pair u < v was ever looked at."""

    @abstractmethod
    def largest_degree(self) -> int:
        """Return the largest number of variables that are joined to one."""

    def drop(self, x: int, y: int) -> None:
        """Separate a pair."""
        self.adjacent[self.at(x, y)] = self.adjacent[self.at(y, x)] = False

    def graph(self) -> Graph:
        """Return the graph of the joined pairs."""
        return Graph(self.n_variables, zip(*(ends.tolist() for ends in self.ends()), strict=True))


class AllPairs(Pairs):
    """All pairs, as a symmetric matrix with False on its diagonal."""

    def __init__(self, adjacent: BoolArray) -> None:
        self.adjacent, self.n_variables = adjacent, len(adjacent)

    def at(self, x: int, ys: Any) -> Any:
        """Return where the pairs of x with these variables, or this one, are stored."""
        return x, ys

    def neighbors(self, x: int) -> list[int]:
        """Return the variables that are still joined to x, ascending."""
        found: list[int] = np.flatnonzero(self.adjacent[x]).tolist()
        return found

    def ends(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return the first and the second variables of the joined pairs u < v, in lexicographic order."""
        u, v = np.nonzero(self.adjacent)
        return u[u < v], v[u < v]

    def separated(self) -> Iterator[Edge]:
        """Yield the pairs u < v that are not joined, in lexicographic order."""
        for u, row in enumerate(self.adjacent):
            yield from ((u, v) for v in (np.flatnonzero(~row[u + 1 :]) + (u + 1)).tolist())

    def has(self, u: int, v: int) -> bool:
        """Return whether this pair u < v was ever looked at."""
        return 0 <= u < v < self.n_variables

    def largest_degree(self) -> int:
        """Return the largest number of variables that are joined to one."""
        return int(self.adjacent.sum(axis=1).max())


class ListedPairs(Pairs):
    """Candidate pairs, as the lists of the partners of each variable."""

    def __init__(self, n_variables: int, lists: PairLists, adjacent: BoolArray) -> None:
        self.n_variables, self.lists, self.adjacent = n_variables, lists, adjacent
        self._starts, self._partners = lists

    def at(self, x: int, ys: Any) -> Any:
        """Return where the pairs of x with these variables, or this one, are stored."""
        first = self._starts[x]
        return first + self._partners[first : self._starts[x + 1]].searchsorted(ys)

    def neighbors(self, x: int) -> list[int]:
        """Return the variables that are still joined to x, ascending."""
        of_x = slice(self._starts[x], self._starts[x + 1])
        found: list[int] = self._partners[of_x][self.adjacent[of_x]].tolist()
        return found

    def ends(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return the first and the second variables of the joined pairs u < v, in lexicographic order."""
        return self._ends(self.adjacent)

    def separated(self) -> Iterator[Edge]:
        """Yield the pairs u < v that are not joined, in lexicographic order."""
        yield from zip(*(ends.tolist() for ends in self._ends(~self.adjacent)), strict=True)

    def has(self, u: int, v: int) -> bool:
        """Return whether this pair u < v was ever looked at."""
        if not 0 <= u < v < self.n_variables:
            return False
        place = self.at(u, v)
        return bool(place < self._starts[u + 1] and self._partners[place] == v)

    def largest_degree(self) -> int:
        """Return the largest number of variables that are joined to one."""
        return int(np.bincount(self._firsts()[self.adjacent], minlength=1).max(initial=0))

    def _firsts(self) -> NDArray[np.int64]:
        """Return the variable whose list each partner is in."""
        return np.repeat(np.arange(self.n_variables, dtype=np.int64), np.diff(self._starts))

    def _ends(self, chosen: BoolArray) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        firsts = self._firsts()
        chosen = chosen & (firsts < self._partners)
        return firsts[chosen], self._partners[chosen].astype(np.int64)


class RemainingEdges:
    """The remaining edges with their weakest evidence, and the separators of the others.

    Parameters
    ----------
    pairs
        The pairs, with their dependences without conditioning.
    support
        The log support of each pair without conditioning; overwritten, since it is the largest array of the search.
    """

    def __init__(self, pairs: Pairs, support: FloatArray) -> None:
        self.pairs, self.separators = pairs, StoredSeparators(pairs)
        self._weakest = support  # as tested from the first variable; of a dropped pair that of its last test

    @classmethod
    def tested(cls, test: CountedTest, candidates: Candidates | None) -> RemainingEdges:
        """Return the candidates, or all pairs, that depend on each other without conditioning."""
        if candidates is None:
            independent, support = test.marginals()
            np.fill_diagonal(independent, True)
            return cls(AllPairs(np.logical_not(independent, out=independent)), support)
        answers = test.listed_marginals(candidates)
        lists = PairLists(answers.starts, answers.listed)
        return cls(ListedPairs(test.n_variables, lists, ~answers.decisions), answers.log_support.copy())

    @classmethod
    def untested(cls, n_variables: int, candidates: Candidates | None) -> RemainingEdges:
        """Return all edges, without evidence."""
        if candidates is None:
            adjacent = ~np.eye(n_variables, dtype=np.bool_)
            return cls(AllPairs(adjacent), np.full(adjacent.shape, nan))
        lists = PairLists(*candidates.lists())
        n_ends = len(lists.partners)
        return cls(ListedPairs(n_variables, lists, np.ones(n_ends, dtype=np.bool_)), np.full(n_ends, nan))

    def count(self) -> int:
        """Return the number of remaining edges."""
        return int(np.count_nonzero(self.pairs.adjacent)) // 2

    def settle(self, x: int, ys: Indices, z: VarSet, answers: Verdicts) -> bool:
        """Drop the independent pairs and update the evidence of the others; return whether any was dropped."""
        ys = np.asarray(ys)
        here = self.pairs.at(x, ys)
        self._weakest[here] = np.fmax(self._weakest[here], answers.log_support)  # it may be NaN
        dropped = np.flatnonzero(answers.independent)
        for y, support in zip(ys[dropped].tolist(), answers.log_support[dropped].tolist(), strict=True):
            self.pairs.drop(x, y)
            self.separators.add(x, y, z, support)
        return len(dropped) > 0

    def settle_level(self, size: int, walk: SubsetWalk, test: CountedTest, go_on: Callable[[int], bool]) -> bool:
        """Drop the pairs that a native search separates by sets of one size; return False if it cannot."""
        adjacent = self.pairs.adjacent
        level = SetLevel(size, adjacent.copy(), adjacent, self._weakest, self.pairs.lists)
        found = walk.separate(level, range(test.n_variables), go_on)
        if found is None:
            return False
        test.record_sizes([(size, found.asked)])
        self.separators.add_level(found)
        if not found.finished:
            raise Cancelled
        return True

    def support(self, graph: Graph) -> dict[Edge, float]:
        """Return the weakest evidence of each edge that has any."""
        found = {edge: self._support(*edge) for edge in graph.edges}
        return {edge: value for edge, value in found.items() if not isnan(value)}

    def _support(self, u: int, v: int) -> float:
        """Return the weakest evidence of an edge; of one that was added, the support of the test that separated it."""
        if not self.pairs.has(u, v):
            return nan
        here, back = self.pairs.at(u, v), self.pairs.at(v, u)
        if self.pairs.adjacent[here]:
            return float(np.fmax(self._weakest[here], self._weakest[back]))
        return self.separators.support((u, v), float(self._weakest[here]))


class StoredSeparators(Mapping[Edge, VarSet]):
    """The first set that separated each pair without an edge: the empty set for all pairs that are not stored.

    Parameters
    ----------
    pairs
        The pairs with the remaining edges, which the search changes. Pairs that are no candidates have no separator.
    """

    def __init__(self, pairs: Pairs) -> None:
        self._all = pairs
        self._levels: list[Separated] = []  # not yet among the pairs below: few are ever looked at
        self._found: dict[Edge, tuple[VarSet, float]] = {}  # the pairs that a set separated, with its support

    def add(self, x: int, y: int, z: VarSet, support: float) -> None:
        """Store the separator of a pair and the support of its test."""
        self._pairs()[ordered(x, y)] = z, support

    def add_level(self, found: Separated) -> None:
        """Store the separators that a native search found."""
        self._levels.append(found)

    def support(self, edge: Edge, marginal: float) -> float:
        """Return the support of the test that separated a pair, that without conditioning for a pair not stored."""
        return self._pairs().get(edge, (None, marginal))[1]

    def __getitem__(self, edge: Edge) -> VarSet:
        found = self._pairs().get(edge)
        if found is None and not self._is_separated(edge):
            raise KeyError(edge)
        return frozenset() if found is None else found[0]

    def __iter__(self) -> Iterator[Edge]:
        found = self._pairs()
        yield from (pair for pair in self._all.separated() if pair not in found)
        yield from found

    def __len__(self) -> int:
        n = self._all.n_variables
        n_pairs = n * (n - 1) if self._all.lists is None else len(self._all.lists.partners)
        return (n_pairs - int(np.count_nonzero(self._all.adjacent))) // 2

    def __repr__(self) -> str:
        return f"<separators of {len(self)} pairs>"

    def _is_separated(self, edge: object) -> bool:
        """Return whether this is a pair (u, v) with u < v that has no edge."""
        match edge:
            case int() | np.integer() as u, int() | np.integer() as v:
                return self._all.has(int(u), int(v)) and not self._all.adjacent[self._all.at(int(u), int(v))]
        return False

    def _pairs(self) -> dict[Edge, tuple[VarSet, float]]:
        """Return the stored pairs in the order in which they were separated."""
        for level in self._levels:
            for (x, y, *z), support in zip(level.sets.tolist(), level.log_support.tolist(), strict=True):
                self._found[ordered(x, y)] = frozenset(z), support
        self._levels.clear()
        return self._found


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
        except Cancelled:
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
