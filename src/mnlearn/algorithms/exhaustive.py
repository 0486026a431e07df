"""Exhaustive search: the best of all graphs, and how much better it is than the rest.

Schlüter, Strappa, Milone & Bromberg, IJAR (2018)  [BJP18], compare scores by brute force over all graphs (Sec. 4.1):
the result then does not depend on a local search. Every score here is a sum of terms that depend on few pairs of
variables each: those of one variable (IB, MPL, PIC) or of two (BJP). The terms are tabulated once. In an array with one
axis of length 2 for each undecided pair, a term is constant along the axes of all other pairs; the scores of all graphs
are the sum of these arrays, which numpy broadcasts.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from itertools import combinations, islice
from math import inf
from time import perf_counter
from typing import NamedTuple, TypeGuard

import numpy as np

from mnlearn.algorithms.base import Cancelled, Constraints, check_cancelled, check_parts, check_variables, ordered
from mnlearn.algorithms.screening import CandidateRule, check_rule, first_candidates, stated
from mnlearn.errors import InputError, UnsuitableError, true_or_false, whole_number
from mnlearn.graphs.graph import Edge, Graph
from mnlearn.numbers import exp, log, preferred, tolerance
from mnlearn.protocols import (
    SILENT,
    BoolArray,
    FloatArray,
    IntArray,
    LocalScore,
    Monitor,
    PairScore,
    Result,
    Score,
    VarSet,
)

MOST_PAIRS = 21  # all pairs of 7 variables: 2,097,152 graphs, 16 MiB of scores


@dataclass(frozen=True)
class ExhaustiveResult(Result):
    """Result with every graph and its score, where `keep_all` is set."""

    all_graphs: AllGraphs | None = field(default=None, compare=False, repr=False)


_HINT = "Use a score, such as MPL(Counts(data))."


@dataclass(frozen=True, kw_only=True)
class Exhaustive:
    """Score all graphs and take the best.

    Parameters
    ----------
    required, forbidden
        Edges that every graph has, or none. Each halves the number of graphs.
    alternatives
        The number of next best graphs in the result: the runner-up alone by default.
    averaging
        Whether to compute the probability of every edge, the share of exp(score) of all graphs that have it; and the
        share of the optimum itself.
    keep_all
        Whether the result stores every graph with its score, 8 bytes a graph.
    candidates
        The pairs that may be edges: a closed list, a `Screening` for the strongest pairs, or None for all pairs.

    Raises
    ------
    InputError
        If required and forbidden contradict each other; and from `learn`, before anything is counted, if there
        are fewer than 2 variables or more than 21 undecided pairs.

    Notes
    -----
    Σ_x 2^(d_x) blankets are scored, d_x being the number of undecided pairs of x: n 2^(n−1) without constraints. Then
    2^m scores are summed, m ≤ 21. A local score (IB, MPL, PIC) takes n additions of arrays, BJP one for each pair; any
    other score is computed graph by graph, which is slow.

    Graphs whose scores differ by no more than rounding (1e-9, or 1e-12 of the score if that is more) are tied. Of these
    the one with the fewest edges comes first; then the one whose edges, each alone in a graph, gain most in sum; then
    the one with the smallest number (`AllGraphs`), which is the only choice that depends on the order of the columns.

    The support of an edge is its log odds given the data by model averaging, log Σ exp(score) over the graphs with the
    edge against those without it; infinite for a required edge. It is as good a posterior as the score is:
    IB counts each pair twice and pseudo-likelihoods each row n times, so all are overconfident.

    A search that is stopped returns the required edges alone.

    Examples
    --------
    >>> class Chain:  # any object that scores a graph can be used
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
    candidates: CandidateRule = None

    def __post_init__(self) -> None:
        check_rule(self.candidates)
        whole_number("alternatives", self.alternatives, least=0, hint="Use 1 for the runner-up alone.")
        true_or_false(averaging=self.averaging, keep_all=self.keep_all)

    def learn(self, judge: Score, monitor: Monitor = SILENT) -> ExhaustiveResult:
        """Return the best of all graphs that the constraints allow."""
        started = perf_counter()
        check_parts(judge, monitor, ("__call__",), _HINT)
        if hasattr(judge, "scan"):
            raise UnsuitableError(f"judge must be a score of graphs; a {type(judge).__name__} is a test. {_HINT}")
        known = Constraints(judge.n_variables, self.required, self.forbidden)
        try:
            known = replace(known, candidates=first_candidates(self.candidates, judge, monitor))
            check_space(known)
            graphs, scored = tabulate(judge, known, monitor)
        except Cancelled:
            nothing = Graph(known.n_variables, known.required)
            cost = {"graphs": 0, "scored": 0, "seconds": perf_counter() - started}
            return ExhaustiveResult(nothing, None, {}, False, cost, stated(self), support_scale="log_odds")
        best, *others = graphs.best(1 + self.alternatives)
        optimum = graphs.graph(best)
        return ExhaustiveResult(
            graph=optimum,
            score=float(graphs.scores[best]),
            support={edge: odds for edge, odds in graphs.edge_log_odds().items() if edge in optimum},
            converged=True,
            cost={"graphs": len(graphs), "scored": scored, "seconds": perf_counter() - started},
            settings=stated(self),
            support_scale="log_odds",
            probabilistic=True,
            alternatives=tuple((graphs.graph(number), float(graphs.scores[number])) for number in others),
            edge_probabilities=graphs.edge_probabilities() if self.averaging else None,
            mass=exp(graphs.log_masses()[best]) if self.averaging else None,
            all_graphs=graphs if self.keep_all else None,
        )


def check_space(known: Constraints) -> None:
    """Raise InputError if there are fewer than 2 variables or too many graphs to list."""
    n, free = known.n_variables, len(known.free())
    check_variables(n)
    if free > MOST_PAIRS:
        raise InputError(
            f"exhaustive search must have at most {MOST_PAIRS} undecided pairs, those of 7 variables; got {free} among "
            f"{n} variables, that is 2^{free} graphs. Require or forbid edges, give "
            "candidates, take fewer variables, or climb instead (ib, bjp, mpl)."
        )


_TINY = 1e-280  # a sum below this has lost digits: it is computed again on a scale of its own


@dataclass(frozen=True, eq=False)
class AllGraphs:
    """Every graph over the undecided pairs, by number: bit k of a number is set if `pairs[k]` is an edge.

    Attributes
    ----------
    n_variables
        Number of variables.
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
        """Return the graph of this number."""
        if not 0 <= number < len(self):
            raise InputError(f"number must be from 0 to {len(self) - 1}; got {number}.")
        chosen = [pair for k, pair in enumerate(self.pairs) if number >> k & 1]
        return Graph(self.n_variables, [*self.required, *chosen])

    def number(self, graph: Graph) -> int:
        """Return the number of this graph, which must be one of these."""
        number = sum(1 << k for k, pair in enumerate(self.pairs) if pair in graph)
        if graph.n_variables != self.n_variables or self.graph(number) != graph:
            raise InputError("graph must have the required edges and none that is forbidden; this one does not.")
        return number

    def best(self, k: int = 1) -> list[int]:
        """Return the numbers of the k best graphs, best first; ties as in `Exhaustive`."""
        left, found = self.scores.copy(), list[int]()
        while len(found) < min(k, len(self)):
            top = float(left.max())
            if top == -inf:
                break
            rounding = tolerance([top])
            tied = np.flatnonzero(left >= top - rounding)
            sparsest = lambda some: -self._bits(some).sum(axis=1, dtype=float)  # noqa: E731
            found.append(preferred(tied, sparsest, self._alone, rounding=rounding))
            left[found[-1]] = -inf
        return found

    def _bits(self, numbers: IntArray) -> BoolArray:
        """Return a row for each number: which of the pairs are edges."""
        return np.asarray((numbers[:, None] >> np.arange(len(self.pairs)) & 1).astype(np.bool_))

    def _alone(self, numbers: IntArray) -> FloatArray:
        """Return the sum, over the edges of each graph, of what an edge gains in a graph without others."""
        single = self.scores[[1 << k for k in range(len(self.pairs))]]
        gains = np.subtract(single, self.scores[0], out=np.zeros(len(single)), where=np.isfinite(single))
        return np.asarray(np.where(self._bits(numbers) & np.isfinite(gains), gains, 0.0).sum(axis=1))

    def log_masses(self) -> FloatArray:
        """Return log P of each graph: its score, normalised over all graphs."""
        top = self.scores.max()
        masses: FloatArray = self.scores - (top + log(exp(self.scores - top).sum()))
        return masses

    def edge_log_odds(self) -> dict[Edge, float]:
        """Return for every pair log Σ exp(score) of the graphs with the edge against those without it.

        Infinite for a required edge, minus infinite for a forbidden one.
        """
        found = {p: inf if p in self.required else -inf for p in combinations(range(self.n_variables), 2)}
        top = float(self.scores.max())
        masses = exp(self.scores - top)
        for k, pair in enumerate(self.pairs):
            halves = (-1, 2, 1 << k)  # before bit k, bit k, after it
            sums, scores = masses.reshape(halves).sum(axis=(0, 2)), self.scores.reshape(halves)
            absent, present = (
                top + log(sums[side]) if sums[side] > _TINY else _log_sum(scores[:, side]) for side in (0, 1)
            )
            found[pair] = present - absent
        return found

    def edge_probabilities(self) -> dict[Edge, float]:
        """Return for every pair the share of exp(score) of the graphs that have the edge."""
        return {pair: 1 / (1 + exp(-odds)) if odds > -700 else 0.0 for pair, odds in self.edge_log_odds().items()}

    def distances(self, graph: Graph) -> IntArray:
        """Return the Hamming distance of each graph to this one: the number of pairs in which they differ."""
        if graph.n_variables != self.n_variables:
            raise InputError(f"graph must have {self.n_variables} variables, as these have; got {graph.n_variables}.")
        own = sum(1 << k for k, pair in enumerate(self.pairs) if pair in graph)
        decided = len(set(graph.edges) ^ set(self.graph(own).edges))
        differing: IntArray = n_edges(len(self.pairs))[np.arange(len(self)) ^ own] + decided
        return differing


def n_edges(n_pairs: int) -> IntArray:
    """Return the number of set bits of each number below 2^n_pairs."""
    counts = np.zeros(1, dtype=np.int64)
    for _ in range(n_pairs):
        counts = np.concatenate([counts, counts + 1])
    return counts


def _log_sum(scores: FloatArray) -> float:
    """Return log Σ exp(score), on the scale of the largest."""
    top = float(scores.max())
    if top == -inf:
        return top
    return top + log(float(exp(scores - top).sum()))


_BLOCK = 1024  # blankets scored at once: bounds the memory of a judge and the time between two polls


class Term(NamedTuple):
    """Table over some undecided pairs: bit i of its index is set if pair number `places[i]` is an edge."""

    places: tuple[int, ...]  # ascending
    values: FloatArray


class PossibleBlankets:
    """All possible blankets of x: bit i of a blanket's number is set if `free[i]` is in it."""

    def __init__(self, x: int, known: Constraints) -> None:
        place = {pair: k for k, pair in enumerate(known.free())}
        self.x = x
        self.free = tuple(y for y in range(known.n_variables) if y != x and known.allows(x, y))
        self.places = tuple(place[ordered(x, y)] for y in self.free)  # ascends with y
        self._always = frozenset(u + v - x for u, v in known.required if x in (u, v))

    def __len__(self) -> int:
        return 1 << len(self.free)

    def __getitem__(self, number: int) -> VarSet:
        return self._always.union(y for i, y in enumerate(self.free) if number >> i & 1)


class Progress:
    """Number of terms scored so far, reported to the monitor, which may cancel the search."""

    def __init__(self, monitor: Monitor, total: int) -> None:
        self.scored = 0
        self._monitor, self._total = monitor, total

    def blocks(self, numbers: range) -> Iterator[list[int]]:
        """Yield the numbers in blocks; raise Cancelled if the monitor cancels."""
        left = iter(numbers)
        while block := list(islice(left, _BLOCK)):
            check_cancelled(self._monitor)
            self._monitor.progress(min(self.scored, self._total), self._total, "tabulating terms")
            yield block


def tabulate(score: Score, known: Constraints, monitor: Monitor) -> tuple[AllGraphs, int]:
    """Return the score of every graph that the constraints allow, and the number of terms scored."""
    blankets = [PossibleBlankets(x, known) for x in range(known.n_variables)]
    pairs = tuple(known.free())
    if _is_pair_score(score):
        progress = Progress(monitor, sum(map(len, blankets)))
        scores = total(pair_terms(score, blankets, progress), len(pairs))
    elif _is_local(score):
        progress = Progress(monitor, sum(map(len, blankets)))
        scores = total((local_term(score, of_x, progress) for of_x in blankets), len(pairs))
    else:
        progress = Progress(monitor, 1 << len(pairs))
        scores = one_by_one(score, known, progress)
    if not np.isfinite(scores.max()):  # NaN counts as the largest
        raise InputError(
            "score must give each graph a number below inf, and one of them a finite one; the highest of all "
            f"{len(scores)} is {scores.max()}. Correct the score: it may be -inf for an impossible graph."
        )
    return AllGraphs(known.n_variables, tuple(sorted(known.required)), pairs, scores), progress.scored


def local_term(score: LocalScore, blankets: PossibleBlankets, progress: Progress) -> Term:
    """Return local(x, B) for every blanket B of x, computed as additions of the variables after its last member."""
    x, free, values = blankets.x, blankets.free, np.empty(len(blankets))
    values[0] = score.local(x, blankets[0])
    progress.scored += 1
    for block in progress.blocks(range(len(blankets) // 2)):  # a blanket with the last free variable has none after it
        after = [range(number.bit_length(), len(free)) for number in block]
        found = score.additions(
            [x] * len(block), [blankets[number] for number in block], [[free[i] for i in new] for new in after]
        )
        for number, new, locals_ in zip(block, after, found, strict=True):
            values[[number | 1 << i for i in new]] = locals_
            progress.scored += len(new)
    return Term(blankets.places, values)


def pair_terms(score: PairScore, blankets: list[PossibleBlankets], progress: Progress) -> Iterator[Term]:
    """Yield for each pair of variables the term of its first end: a table over the blankets of both."""
    terms, ranks = [], []
    for of_x in blankets:
        rows, ranks_x = np.empty((len(of_x), len(blankets))), np.empty(len(of_x), dtype=object)
        for block in progress.blocks(range(len(of_x))):
            xs, sets = [of_x.x] * len(block), [of_x[number] for number in block]
            rows[block], ranks_x[block] = score.terms(xs, sets), score.ranks(xs, sets)
            progress.scored += len(block)
        terms.append(rows)
        ranks.append(ranks_x)
    for x, y in combinations(range(len(blankets)), 2):
        places = tuple(sorted({*blankets[x].places, *blankets[y].places}))
        numbers_x, numbers_y = (within(blankets[v].places, places) for v in (x, y))
        x_first = ranks[x][numbers_x] <= ranks[y][numbers_y]  # of equals, which a score may give, the lower index
        yield Term(places, np.where(x_first, terms[x][numbers_x, y], terms[y][numbers_y, x]))


def one_by_one(score: Score, known: Constraints, progress: Progress) -> FloatArray:
    """Return the score of each graph, computed graph by graph."""
    n_pairs = len(known.free())
    space = AllGraphs(known.n_variables, tuple(known.required), tuple(known.free()), np.zeros(1 << n_pairs))
    for block in progress.blocks(range(1 << n_pairs)):
        space.scores[block] = [score(space.graph(number)) for number in block]
        progress.scored += len(block)
    return space.scores


def within(few: tuple[int, ...], many: tuple[int, ...]) -> IntArray:
    """Return for each number over the bits `many` the number of its bits `few`; both ascend, few is part of many."""
    numbers = np.zeros(1, dtype=np.int64)
    for place in many:
        bit = 1 << few.index(place) if place in few else 0
        numbers = np.concatenate([numbers, numbers | bit])
    return numbers


def total(terms: Iterator[Term], n_pairs: int) -> FloatArray:
    """Return the sum of all terms, for each graph by number."""
    scores = np.zeros((2,) * n_pairs)
    for places, values in terms:
        with np.errstate(invalid="ignore"):  # inf less inf is NaN, which is refused later
            scores += values.reshape([2 if k in places else 1 for k in reversed(range(n_pairs))])
    return scores.reshape(-1)


def _is_pair_score(score: Score) -> TypeGuard[PairScore]:
    return hasattr(score, "terms") and hasattr(score, "ranks")


def _is_local(score: Score) -> TypeGuard[LocalScore]:
    return hasattr(score, "local") and hasattr(score, "additions")
