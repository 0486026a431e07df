"""Grow, shrink, join: the steps by which several papers find Markov blankets and make one graph of them.

The questions of these steps depend on each other: whoever is found dependent is given in all questions that follow. A
judge that decides question after question by itself (`BaseTest.scan_growing`) is handed the whole step, with what it
may infer by rules (`Knowledge`); any other is asked in scans. The account is the same.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from itertools import compress, islice
from typing import Protocol

import numpy as np

from mnlearn.algorithms._counted_test import AHEAD, FIRST_BLOCK, Ledger
from mnlearn.graphs.graph import Graph
from mnlearn.protocols import (
    IndependenceTest,
    Indices,
    Knowledge,
    Question,
    Turns,
    VarSet,
    Verdict,
    Verdicts,
)

PROPAGATION = "propagation"
_IN_A_ROW = 16  # so many y and no more are asked about one by one; a larger block is a scan


class Asking(Protocol):
    """Whom the steps ask: a ledger, or something that reasons before it asks the ledger."""

    def grow(self, x: int, candidates: Sequence[int]) -> list[int]:
        """Who, tried once and in this order, depends on x given those before; in order of joining."""
        ...

    def shrink(self, x: int, blanket: Sequence[int], inside: Collection[int]) -> list[int]:
        """Who stays, tried from the last to the first given all others that are left; who is `inside` does anyway."""
        ...


class BlanketLedger(Ledger):
    """The ledger of a search for blankets; the parameters are those of `Ledger`."""

    def __init__(
        self, judge: IndependenceTest, *, ahead: int = AHEAD, keep_trace: bool = False, rules: Iterable[str] = ()
    ) -> None:
        super().__init__(judge, ahead=ahead, keep_trace=keep_trace, rules=rules)
        self._blankets = self._batched
        self._known: Knowledge | None = None
        self._sources: Sequence[str] = ("data",)
        self._turns: tuple[int, list[int]] = (-1, [])  # x, and the members of its blanket in the order of their turns
        self._shrunk: dict[int, tuple[VarSet, Verdict]] = {}  # the answers about them at hand, each given what

    def knowledge(self, *, mirrored: bool) -> Knowledge | None:
        """What the judge can reason by itself while it decides question after question, if it can."""
        return None if self._blankets is None else self._blankets.knowledge(mirrored=mirrored)

    def reason_by(self, known: Knowledge, rules: Sequence[str]) -> None:
        """Let the judge try these rules of its own knowledge before it looks at the data, from now on."""
        self._known, self._sources = known, ("data", *rules)

    @property
    def reasons(self) -> bool:
        """Whether the judge does so."""
        return self._known is not None

    def grow(self, x: int, candidates: Sequence[int]) -> list[int]:
        """Who, tried once and in this order, depends on x given those before; in order of joining."""
        blanket: list[int] = []
        tried = self.grow_at_once(x, candidates, blanket)
        while tried < len(candidates):  # a judge that does not decide by itself, or not here
            tried += super().first_dependent(x, candidates[tried:], frozenset(blanket)) + 1
            blanket += candidates[tried - 1 : tried]
        return blanket

    def grow_at_once(self, x: int, candidates: Sequence[int], blanket: list[int], *, to_first: bool = False) -> int:
        """Let the judge grow the blanket as far as it goes by itself: how many were tried, all of it booked."""
        tried, size = 0, len(blanket)
        while self._blankets is not None and tried < len(candidates) and not (to_first and len(blanket) > size):
            rest = candidates[tried:] if tried else candidates
            turns = self._blankets.scan_growing(
                x, rest, frozenset(blanket), to_first=to_first, ahead=self._ahead, known=self._known
            )
            if not turns.independent:
                break
            if self._trace is not None:
                self._trace.extend(self._lines(x, [*blanket], rest, turns, grows=True))
            self._book_turns(x, rest, turns)
            blanket += [y for y, independent in zip(rest, turns.independent, strict=False) if not independent]
            tried += len(turns.independent)
        return tried

    def first_dependent(  # type: ignore[override]
        self, x: int, ys: Sequence[int], z: VarSet, *, block: int = FIRST_BLOCK
    ) -> int:
        """Ask about one y after the other up to the first that depends on x; its place, or len(ys) if none does."""
        blanket = [*z]
        tried = self.grow_at_once(x, ys, blanket, to_first=True)
        if len(blanket) > len(z):
            return tried - 1
        return tried + super().first_dependent(x, ys[tried:], z, block=block)

    def shrink(self, x: int, blanket: Sequence[int], inside: Collection[int]) -> list[int]:
        """Who stays, tried from the last to the first given all others that are left; who is `inside` does anyway."""
        kept = [*blanket]
        return self.shrink_by_questions(self, x, kept, self.shrink_at_once(x, kept, inside), inside)

    def shrink_at_once(self, x: int, blanket: list[int], inside: Collection[int]) -> Sequence[int]:
        """Let the judge shrink the blanket as far as it goes by itself: whose turn is left, all before it booked."""
        order = blanket[::-1]
        if self._blankets is None:
            return order
        members = [y for y in order if y not in inside]
        turns = self._blankets.scan_shrinking(x, members, frozenset(blanket), known=self._known)
        n_answers = len(turns.independent)
        tried = len(order) if n_answers == len(members) else order.index(members[n_answers])
        if self._trace is not None:
            self._trace.extend(self._lines(x, [*blanket], order[:tried], turns, inside, grows=False))
        self._inferred[PROPAGATION] += tried - n_answers
        self._book_turns(x, members, turns)
        for y in compress(members, turns.independent):
            blanket.remove(y)
        return order[tried:]

    def shrink_by_questions(
        self,
        asked: Callable[[int, int, VarSet], Verdict],
        x: int,
        kept: list[int],
        order: Sequence[int],
        inside: Collection[int],
    ) -> list[int]:
        """Who stays of those kept so far, tried in this order, each by a question to whoever is asked."""
        for y in order:
            z = frozenset(kept) - {y}
            if y in inside:
                self.infer(x, (y,), z, independent=False, rule=PROPAGATION)
            elif asked(x, y, z).independent:
                kept.remove(y)
        return kept

    def believe(self, x: int, inside: Sequence[int], outside: Sequence[int], blanket: list[int]) -> None:
        """Book what examined variables said of x: who is inside joins the blanket, one after the other."""
        if self._trace is None:
            self._inferred[PROPAGATION] += len(inside) + len(outside)
            blanket += inside
            return
        for y in inside:
            self.infer(x, (y,), frozenset(blanket), independent=False, rule=PROPAGATION)
            blanket.append(y)
        self.infer(x, outside, frozenset(blanket), independent=True, rule=PROPAGATION)

    def expect_turns(self, x: int, members: Iterable[int]) -> None:
        """Say that these members of the blanket of x will be asked about next, in this order, each given the rest.

        Whoever turns out independent leaves the blanket.
        """
        self._turns, self._shrunk = (x, list(members)), {}

    def __call__(self, x: int, y: int, z: VarSet, upcoming: Iterable[int] = ()) -> Verdict:
        """Is x independent of y given z? `upcoming`: the y likely to be asked next with the same x and z."""
        verdict = self._in_turn(x, y, z)
        if verdict is None:
            return super().__call__(x, y, z, upcoming)
        self.book(x, y, z, verdict)
        return verdict

    def _ask(self, x: int, block: Indices, z: VarSet) -> Verdicts:
        """Answers to the first of the block: all, or up to the first that depends on x, for there z changes."""
        if self._blankets is not None and len(block) <= _IN_A_ROW:
            turns = self._blankets.scan_growing(x, block, z, to_first=True)
            if turns.independent:
                self._scanned += turns.scanned
                return Verdicts(np.array(turns.independent), np.array(turns.log_support, dtype=np.float64))
        return super()._ask(x, block, z)

    def _in_turn(self, x: int, y: int, z: VarSet) -> Verdict | None:
        """The answer about a member of a blanket that was announced; the first one asked for brings those after it."""
        if self._blankets is None or x != self._turns[0] or y not in self._turns[1]:
            return None
        if y not in self._shrunk or self._shrunk[y][0] != z:
            blanket, members = z | {y}, self._turns[1][self._turns[1].index(y) :]
            members = [u for u in members if u in blanket]
            turns = self._blankets.scan_shrinking(x, members, blanket)
            self._scanned, self._shrunk = self._scanned + turns.scanned, {}
            for u, independent, support in zip(members, turns.independent, turns.log_support, strict=False):
                self._shrunk[u] = blanket - {u}, Verdict(independent, support)
                blanket = blanket - {u} if independent else blanket
        return self._shrunk[y][1] if y in self._shrunk else None

    def _book_turns(self, x: int, ys: Sequence[int], turns: Turns) -> None:
        """Enter the answers about the first of the ys."""
        for y, independent, support in zip(ys, turns.independent, turns.log_support, strict=False):
            if not (independent or support is None):
                self._decided[(x, y) if x < y else (y, x)] = support
        self._asked[self.phase] += turns.asked
        self._weighted[self.phase] += turns.weighted
        self._largest_z, self._scanned = max(self._largest_z, turns.largest_z), self._scanned + turns.scanned
        if turns.asked < len(turns.rules):
            self._inferred.update(self._sources[rule] for rule in turns.rules if rule)

    def _lines(
        self, x: int, blanket: list[int], ys: Sequence[int], turns: Turns, inside: Collection[int] = (), *, grows: bool
    ) -> Iterator[Question]:
        """The same for the trace, question by question; of those inside, that there was nothing to ask."""
        answers = zip(turns.independent, turns.log_support, turns.rules, strict=True)
        for y in ys:
            if y in inside:
                yield Question(x, y, frozenset(blanket) - {y}, False, None, PROPAGATION, self.phase)
                continue
            answer = next(answers, None)
            if answer is None:
                return
            independent, support, rule = answer
            yield Question(x, y, frozenset(blanket) - {y}, independent, support, self._sources[rule], self.phase)
            if independent != grows:  # a dependent one joins, an independent one leaves
                blanket.append(y) if grows else blanket.remove(y)


class Reasoning(ABC):
    """The steps for whoever may know an answer before it is asked: question by question, unless the judge reasons."""

    _ledger: BlanketLedger

    @abstractmethod
    def __call__(self, x: int, y: int, z: VarSet, upcoming: Iterable[int] = ()) -> Verdict:
        """Is x independent of y given z? `upcoming`: the y likely to be asked next with the same x and z."""

    def grow(self, x: int, candidates: Sequence[int]) -> list[int]:
        """Who, tried once and in this order, depends on x given those before; in order of joining."""
        blanket: list[int] = []
        tried = self._ledger.grow_at_once(x, candidates, blanket) if self._ledger.reasons else 0
        z = frozenset(blanket)
        for k in range(tried, len(candidates)):
            y = candidates[k]
            if not self(x, y, z, islice(candidates, k + 1, None)).independent:
                blanket.append(y)
                z = z | {y}
        return blanket

    def shrink(self, x: int, blanket: Sequence[int], inside: Collection[int]) -> list[int]:
        """Who stays, tried from the last to the first given all others that are left; who is `inside` does anyway."""
        kept, ledger = [*blanket], self._ledger
        order = ledger.shrink_at_once(x, kept, inside) if ledger.reasons else kept[::-1]
        if order:
            ledger.expect_turns(x, [y for y in order if y not in inside])
        return ledger.shrink_by_questions(self, x, kept, order, inside)


def union(n_variables: int, blankets: Mapping[int, Collection[int]]) -> Graph:
    """The graph that joins x and y when one is in the blanket of the other."""
    return Graph(n_variables, [(x, y) for x, blanket in blankets.items() for y in blanket])
