"""The scores of all graphs at once, as a sum of small tables.

A term of a score looks at a few pairs of variables only. Its table has one number for each way in which these pairs
can be edges or not; in an array with one axis of length 2 for each undecided pair, it is constant along all other axes.
The scores of all graphs are the sum of such arrays, which numpy broadcasts.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations, islice
from typing import NamedTuple, TypeGuard

import numpy as np

from mnlearn.algorithms._constraints import Constraints
from mnlearn.algorithms._space import AllGraphs
from mnlearn.algorithms._stopping import Cancelled
from mnlearn.errors import InputError
from mnlearn.protocols import FloatArray, IntArray, LocalScore, Monitor, PairScore, Score, VarSet

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
