"""Exhaustive search: the best of all graphs, and how much better it is than the rest.

Schlüter, Strappa, Milone & Bromberg, IJAR (2018)  [BJP18], compare scores by brute force over all graphs (Sec. 4.1):
nothing then depends on the luck of a climb. Every score here is a sum of terms that look at few pairs of variables
each: those of one variable (IB, MPL, PIC) or of two (BJP). So the terms are tabulated once (`_tabulate.py`), and the
scores of all graphs are the sum of these tables, one numpy addition each: no graph is scored by itself.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from itertools import combinations, islice
from math import exp, inf, log
from time import perf_counter
from typing import NamedTuple, TypeGuard

import numpy as np

from mnlearn.algorithms._search import Cancelled, Constraints, tolerance
from mnlearn.errors import InputError, true_or_false, whole_number
from mnlearn.graphs.graph import Edge, Graph
from mnlearn.protocols import SILENT, FloatArray, IntArray, LocalScore, Monitor, PairScore, Result, Score, VarSet

MOST_PAIRS = 21  # all pairs of 7 variables: 2,097,152 graphs, 16 MiB of scores


@dataclass(frozen=True)
class ExhaustiveResult(Result):
    """Result with every graph and its score, where `keep_all` is set."""

    all_graphs: AllGraphs | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, kw_only=True)
class Exhaustive:
    """Score all graphs and take the best.

    Parameters
    ----------
    required, forbidden
        Edges that every graph has, or none. Each takes a pair out of the search and halves the number of graphs.
    alternatives
        How many of the next best graphs the result names: the runner-up alone by default.
    averaging
        Whether to give every pair its probability of being an edge, the mass exp(score) of all graphs that have it;
        and the optimum its own share of that mass.
    keep_all
        Whether the result keeps every graph with its score, 8 bytes a graph.

    Raises
    ------
    InputError
        If required and forbidden contradict each other; and from `learn`, before anything is counted, if there
        are fewer than 2 variables or more than 21 undecided pairs.

    Notes
    -----
    Σ_x 2^(d_x) blankets are asked about, d_x being the undecided pairs of x: n 2^(n−1) without constraints. Then 2^m
    scores are summed, m ≤ 21. A local score (IB, MPL, PIC) takes n additions of arrays, BJP one for each pair; any
    other score is asked graph by graph, which is slow.

    Graphs whose scores differ by no more than rounding (1e-9, or 1e-12 of the score if that is more) are tied. Of these
    the one with the fewest edges comes first, then the one with the smallest number (`AllGraphs`).

    The support of an edge is its log odds given the data by model averaging, log Σ exp(score) over the graphs with the
    edge against those without it; infinite for an edge that is required. It is as good a posterior as the
    score is: IB counts each pair twice and pseudo-likelihoods each row n times, so all are too sure.

    A search that is stopped returns the required edges alone.

    Examples
    --------
    >>> class Chain:  # any object that scores a graph will do
    ...     n_variables = 3
    ...     def __call__(self, graph):
    ...         return -2.0 * len(set(graph.edges) ^ {(0, 1), (1, 2)})
    >>> result = Exhaustive(forbidden=((0, 1),)).learn(Chain())
    >>> result.graph.edges, result.score, result.alternatives
    (((1, 2),), -2.0, ((Graph(3, []), -4.0),))
    """

    required: tuple[Edge, ...] = ()
    forbidden: tuple[Edge, ...] = ()
    alternatives: int = 1
    averaging: bool = False
    keep_all: bool = False

    def __post_init__(self) -> None:
        whole_number("alternatives", self.alternatives, least=0, way_out="Use 1 for the runner-up alone.")
        true_or_false(averaging=self.averaging, keep_all=self.keep_all)

    def learn(self, judge: Score, monitor: Monitor = SILENT) -> ExhaustiveResult:
        """Score every graph that the constraints allow."""
        started = perf_counter()
        known = Constraints(judge.n_variables, self.required, self.forbidden)
        check_size(known)
        try:
            graphs, scored = tabulate(judge, known, monitor)
        except Cancelled:
            nothing = Graph(known.n_variables, known.required)
            cost = {"graphs": 0, "scored": 0, "seconds": perf_counter() - started}
            return ExhaustiveResult(nothing, None, {}, False, cost, asdict(self), support_scale="log_odds")
        best, *others = graphs.best(1 + self.alternatives)
        optimum = graphs.graph(best)
        return ExhaustiveResult(
            graph=optimum,
            score=float(graphs.scores[best]),
            support={edge: odds for edge, odds in graphs.edge_log_odds().items() if edge in optimum},
            converged=True,
            cost={"graphs": len(graphs), "scored": scored, "seconds": perf_counter() - started},
            settings=asdict(self),
            support_scale="log_odds",
            probabilistic=True,
            alternatives=tuple((graphs.graph(number), float(graphs.scores[number])) for number in others),
            edge_probabilities=graphs.edge_probabilities() if self.averaging else None,
            mass=exp(graphs.log_masses()[best]) if self.averaging else None,
            all_graphs=graphs if self.keep_all else None,
        )


def check_size(known: Constraints) -> None:
    """Refuse what is too small to have a structure, or too large to list."""
    n, free = known.n_variables, len(known.free())
    if n < 2:
        raise InputError(f"judge must know at least 2 variables; got {n}. There is no structure to learn from fewer.")
    if free > MOST_PAIRS:
        raise InputError(
            f"exhaustive search must have at most {MOST_PAIRS} undecided pairs, those of 7 variables; got {free} among "
            f"{n} variables, that is 2^{free} graphs. Require or forbid edges, take fewer variables, or climb instead "
            "(ib, bjp, mpl)."
        )


# All graphs that constraints allow, by number, each with its score.


_TINY = 1e-280  # a sum of masses below this has lost digits: it is taken again on a scale of its own


@dataclass(frozen=True, eq=False)
class AllGraphs:
    """Every graph over the undecided pairs, numbered: bit k of a number says whether `pairs[k]` is an edge.

    Attributes
    ----------
    n_variables
        How many variables there are.
    required
        The edges that all these graphs have.
    pairs
        The undecided pairs, in lexicographic order.
    scores
        The score of each graph, by number.

    Examples
    --------
    >>> two = AllGraphs(2, (), ((0, 1),), np.zeros(2))
    >>> two.graph(1).edges, two.edge_probabilities()
    (((0, 1),), {(0, 1): 0.5})
    """

    n_variables: int
    required: tuple[Edge, ...]
    pairs: tuple[Edge, ...]
    scores: FloatArray

    def __len__(self) -> int:
        return len(self.scores)

    def graph(self, number: int) -> Graph:
        """The graph of this number."""
        if not 0 <= number < len(self):
            raise InputError(f"number must be from 0 to {len(self) - 1}; got {number}.")
        chosen = [pair for k, pair in enumerate(self.pairs) if number >> k & 1]
        return Graph(self.n_variables, [*self.required, *chosen])

    def number(self, graph: Graph) -> int:
        """The number of this graph, which must be one of these."""
        number = sum(1 << k for k, pair in enumerate(self.pairs) if pair in graph)
        if graph.n_variables != self.n_variables or self.graph(number) != graph:
            raise InputError("graph must have the required edges and none that is forbidden; this one does not.")
        return number

    def best(self, k: int = 1) -> list[int]:
        """The numbers of the k best graphs, best first; of equals the sparsest, then the smallest number."""
        left, found = self.scores.copy(), list[int]()
        while len(found) < min(k, len(self)):
            top = float(left.max())
            if top == -inf:
                break
            tied = np.flatnonzero(left >= top - tolerance([top]))
            found.append(int(min(tied.tolist(), key=lambda number: (number.bit_count(), number))))
            left[found[-1]] = -inf
        return found

    def log_masses(self) -> FloatArray:
        """log P of each graph: its score, normalised over all graphs."""
        top = self.scores.max()
        masses: FloatArray = self.scores - (top + np.log(np.exp(self.scores - top).sum()))
        return masses

    def edge_log_odds(self) -> dict[Edge, float]:
        """For every pair of variables: log Σ exp(score) of the graphs with the edge against those without it.

        Infinite for an edge that is required, minus infinite for one that is forbidden.
        """
        everyone = combinations(range(self.n_variables), 2)
        found = {pair: inf if pair in self.required else -inf for pair in everyone}
        top = float(self.scores.max())
        masses = np.exp(self.scores - top)
        for k, pair in enumerate(self.pairs):
            halves = (-1, 2, 1 << k)  # before bit k, bit k, after it
            sums, scores = masses.reshape(halves).sum(axis=(0, 2)), self.scores.reshape(halves)
            absent, present = (
                top + log(sums[side]) if sums[side] > _TINY else _log_sum(scores[:, side]) for side in (0, 1)
            )
            found[pair] = present - absent
        return found

    def edge_probabilities(self) -> dict[Edge, float]:
        """For every pair of variables: the mass of all graphs that have the edge."""
        return {pair: 1 / (1 + exp(-odds)) if odds > -700 else 0.0 for pair, odds in self.edge_log_odds().items()}

    def distances(self, graph: Graph) -> IntArray:
        """The Hamming distance of each graph to this one: the pairs in which they differ."""
        if graph.n_variables != self.n_variables:
            raise InputError(f"graph must have {self.n_variables} variables, as these have; got {graph.n_variables}.")
        own = sum(1 << k for k, pair in enumerate(self.pairs) if pair in graph)
        decided = len(set(graph.edges) ^ set(self.graph(own).edges))
        differing: IntArray = n_edges(len(self.pairs))[np.arange(len(self)) ^ own] + decided
        return differing


def n_edges(n_pairs: int) -> IntArray:
    """How many bits each number below 2^n_pairs has."""
    counts = np.zeros(1, dtype=np.int64)
    for _ in range(n_pairs):
        counts = np.concatenate([counts, counts + 1])
    return counts


def _log_sum(scores: FloatArray) -> float:
    """log Σ exp(score), on the scale of the largest."""
    top = float(scores.max())
    if top == -inf:
        return top
    return top + log(float(np.exp(scores - top).sum()))


# The scores of all graphs at once, as a sum of small tables.
#
# A term of a score looks at a few pairs of variables only. Its table has one number for each way in which these pairs
# can be edges or not; in an array with one axis of length 2 for each undecided pair, it is constant along all other
# axes.
# The scores of all graphs are the sum of such arrays, which numpy broadcasts.


_BLOCK = 1024  # blankets asked about at once: bounds what a judge holds, and how long a monitor waits


class Term(NamedTuple):
    """A table over some undecided pairs: bit i of its index says whether pair number `places[i]` is an edge."""

    places: tuple[int, ...]  # ascending
    values: FloatArray


class Blankets:
    """All blankets that x can have: bit i of a blanket's number says whether `free[i]` is in it."""

    def __init__(self, x: int, known: Constraints) -> None:
        place = {pair: k for k, pair in enumerate(known.free())}
        self.x = x
        self.free = tuple(y for y in range(known.n_variables) if y != x and known.allows(x, y))
        self.places = tuple(place[min(x, y), max(x, y)] for y in self.free)  # ascends with y
        self._always = frozenset(u + v - x for u, v in known.required if x in (u, v))

    def __len__(self) -> int:
        return 1 << len(self.free)

    def __getitem__(self, number: int) -> VarSet:
        return self._always.union(y for i, y in enumerate(self.free) if number >> i & 1)


class Watch:
    """Keeps the account, tells the monitor how far the tables are, and ends the search when the monitor asks for it."""

    def __init__(self, monitor: Monitor, total: int) -> None:
        self.scored = 0
        self._monitor, self._total = monitor, total

    def blocks(self, numbers: range) -> Iterator[list[int]]:
        """The numbers in blocks, for as long as nobody asks to stop."""
        left = iter(numbers)
        while block := list(islice(left, _BLOCK)):
            if self._monitor.cancelled():
                raise Cancelled
            self._monitor.progress(min(self.scored, self._total), self._total, "tabulating terms")
            yield block


def tabulate(score: Score, known: Constraints, monitor: Monitor) -> tuple[AllGraphs, int]:
    """Score every graph that the constraints allow; also how many terms were asked."""
    blankets = [Blankets(x, known) for x in range(known.n_variables)]
    pairs = tuple(known.free())
    if _is_pair_score(score):
        watch = Watch(monitor, sum(map(len, blankets)))
        scores = total(pair_terms(score, blankets, watch), len(pairs))
    elif _is_local(score):
        watch = Watch(monitor, sum(map(len, blankets)))
        scores = total((local_term(score, around, watch) for around in blankets), len(pairs))
    else:
        watch = Watch(monitor, 1 << len(pairs))
        scores = one_by_one(score, known, watch)
    if np.isnan(scores).any() or scores.max() == -np.inf:
        raise InputError("score must give each graph a number, and one of them a finite one; it gave NaN or only -inf.")
    return AllGraphs(known.n_variables, tuple(sorted(known.required)), pairs, scores), watch.scored


def local_term(score: LocalScore, blankets: Blankets, watch: Watch) -> Term:
    """local(x, B) for every blanket B of x, asked as additions to each B of those that come after its last member."""
    x, free, values = blankets.x, blankets.free, np.empty(len(blankets))
    values[0] = score.local(x, blankets[0])
    watch.scored += 1
    for block in watch.blocks(range(len(blankets) // 2)):  # whoever has the last of the free has nobody after it
        after = [range(number.bit_length(), len(free)) for number in block]
        found = score.additions(
            [x] * len(block), [blankets[number] for number in block], [[free[i] for i in new] for new in after]
        )
        for number, new, locals_ in zip(block, after, found, strict=True):
            values[[number | 1 << i for i in new]] = locals_
            watch.scored += len(new)
    return Term(blankets.places, values)


def pair_terms(score: PairScore, blankets: list[Blankets], watch: Watch) -> Iterator[Term]:
    """For each pair of variables, what the first of its ends tells about it: a table over the blankets of both."""
    told, ranks = [], []
    for around in blankets:
        rows, of_x = np.empty((len(around), len(blankets))), np.empty(len(around), dtype=object)
        for block in watch.blocks(range(len(around))):
            xs, held = [around.x] * len(block), [around[number] for number in block]
            rows[block], of_x[block] = score.terms(xs, held), score.ranks(xs, held)
            watch.scored += len(block)
        told.append(rows)
        ranks.append(of_x)
    for x, y in combinations(range(len(blankets)), 2):
        places = tuple(sorted({*blankets[x].places, *blankets[y].places}))
        numbers_x, numbers_y = (within(blankets[v].places, places) for v in (x, y))
        x_first = ranks[x][numbers_x] <= ranks[y][numbers_y]  # of equals the lower index
        yield Term(places, np.where(x_first, told[x][numbers_x, y], told[y][numbers_y, x]))


def one_by_one(score: Score, known: Constraints, watch: Watch) -> FloatArray:
    """The score of each graph, asked graph by graph."""
    n_pairs = len(known.free())
    space = AllGraphs(known.n_variables, tuple(known.required), tuple(known.free()), np.zeros(1 << n_pairs))
    for block in watch.blocks(range(1 << n_pairs)):
        space.scores[block] = [score(space.graph(number)) for number in block]
        watch.scored += len(block)
    return space.scores


def within(few: tuple[int, ...], many: tuple[int, ...]) -> IntArray:
    """For each number over the bits `many`: the number that its bits `few` make; both ascend, few being among many."""
    numbers = np.zeros(1, dtype=np.int64)
    for place in many:
        bit = 1 << few.index(place) if place in few else 0
        numbers = np.concatenate([numbers, numbers | bit])
    return numbers


def total(terms: Iterator[Term], n_pairs: int) -> FloatArray:
    """The sum of all terms, for each graph by number."""
    scores = np.zeros((2,) * n_pairs)
    for places, values in terms:
        scores += values.reshape([2 if k in places else 1 for k in reversed(range(n_pairs))])
    return scores.reshape(-1)


def _is_pair_score(score: Score) -> TypeGuard[PairScore]:
    return hasattr(score, "terms") and hasattr(score, "ranks")


def _is_local(score: Score) -> TypeGuard[LocalScore]:
    return hasattr(score, "local") and hasattr(score, "additions")
