"""The slow, obvious twin of blankets among candidates that grow: sets, loops, every score from nothing."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from itertools import combinations

from references.mpl import TIE, Local, Pair, association, either_and_both, first_best, strength


def climb(
    local: Local,
    n: int,
    x: int,
    joined: list[int],
    *,
    among: Iterable[int],
    required: Iterable[int] = (),
    limit: int | None = None,
    leaving: bool = False,
) -> list[int]:
    """Additions from a blanket among some variables, each followed by deletions; members in the order they joined."""
    joined = list(joined)

    def shrink() -> None:
        while True:
            members = sorted(set(joined) - set(required))
            ties = (
                lambda k, ys=members: -association(local, x, ys[k]),
                lambda k, ys=members: -strength(local, n, ys[k]),
            )
            now = local(x, frozenset(joined))
            k = first_best([local(x, frozenset(joined) - {y}) for y in members], now, ties)
            if k is None:
                return
            joined.remove(members[k])

    if leaving:
        shrink()
    while limit is None or len(joined) < limit:
        candidates = sorted(set(among) - set(joined))
        ties = (
            lambda k, ys=candidates: association(local, x, ys[k]),
            lambda k, ys=candidates: strength(local, n, ys[k]),
        )
        blanket = frozenset(joined)
        k = first_best([local(x, blanket | {y}) for y in candidates], local(x, blanket), ties)
        if k is None:
            break
        joined.append(candidates[k])
        if len(joined) > 1:
            shrink()
    return joined


def strongest_given(local: Local, n: int, x: int, blanket: Iterable[int], k: int) -> list[int]:
    """The k variables that improve the blanket most, the better first."""
    given = frozenset(blanket)
    now = local(x, given)
    gains = {y: local(x, given | {y}) - now for y in range(n) if y != x and y not in given}
    return sorted((y for y in gains if gains[y] > TIE), key=lambda y: (-gains[y], y))[:k]


@dataclass
class Screened:
    """The rule step by step: first members, scan, climb, neighbours of neighbours, scan, and the last two again."""

    local: Local
    n: int
    pairs: set[Pair]
    required: set[Pair] = field(default_factory=set)
    forbidden: set[Pair] = field(default_factory=set)
    start: set[Pair] = field(default_factory=set)
    limit: int | None = None

    def run(self, *, rescans: bool, closed: bool = False) -> list[list[int]]:
        first = (self.start | self.required) - self.forbidden
        self.pairs = (self.pairs | first) - self.forbidden
        self.joined = [sorted(sum(p) - x for p in first if x in p) for x in range(self.n)]
        self.given = {x for x in range(self.n) if self.joined[x]}
        everyone = set(range(self.n))
        if rescans and not closed:
            self._climb(everyone, most=1)
            self._rescan()
        self._climb(everyone)
        if not closed:
            self._around()
        if rescans and not closed:
            self._climb(self._rescan())
            self._around()
        return self.joined

    def _climb(self, xs: set[int], most: int | None = None) -> None:
        limit = self.limit if most is None else most if self.limit is None else min(most, self.limit)
        for x in sorted(xs):
            among = {sum(p) - x for p in self.pairs if x in p}
            required = {sum(p) - x for p in self.required if x in p}
            self.joined[x] = climb(
                self.local,
                self.n,
                x,
                self.joined[x],
                among=among,
                required=required,
                limit=limit,
                leaving=x in self.given,
            )
        self.given -= xs

    def _add(self, pairs: Iterable[Pair]) -> set[int]:
        new = {(min(p), max(p)) for p in pairs} - self.pairs - self.forbidden
        self.pairs |= new
        return {x for pair in new for x in pair}

    def _rescan(self) -> set[int]:
        found = []
        for x, blanket in enumerate(self.joined):
            if blanket:
                found += [(x, y) for y in strongest_given(self.local, self.n, x, blanket[:4], 10)]
        return self._add(found)

    def _around(self) -> None:
        while True:
            either, _ = either_and_both([frozenset(blanket) for blanket in self.joined])
            near = set(either)
            for x in range(self.n):
                near |= set(combinations(sorted(sum(p) - x for p in either if x in p), 2))
            xs = self._add(near)
            if not xs:
                return
            self._climb(xs)
