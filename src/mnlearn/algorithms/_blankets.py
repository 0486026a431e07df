"""Grow, shrink, join: the steps by which several papers find Markov blankets and make one graph of them.

The questions of these steps depend on each other: whoever is found dependent is given in all questions that follow. A
judge that decides question after question by itself (`BlanketTest`) is handed the whole step; any other is asked in
scans. The account is the same.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import islice
from typing import Protocol

import numpy as np

from mnlearn.algorithms._ledger import AHEAD, FIRST_BLOCK, Ledger
from mnlearn.graphs.graph import Graph
from mnlearn.protocols import BlanketTest, IndependenceTest, Indices, Question, VarSet, Verdict, Verdicts

PROPAGATION = "propagation"
_IN_A_ROW = 16  # so many y and no more are asked about one by one; a larger block is a scan
_NO_ANSWERS = Verdicts(np.zeros(0, dtype=np.bool_), np.zeros(0))


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
        self._blankets = judge if isinstance(judge, BlanketTest) and ahead > 1 else None
        self._turns: tuple[int, list[int]] = (-1, [])  # x, and the members of its blanket in the order of their turns
        self._shrunk: dict[int, tuple[VarSet, Verdict]] = {}  # the answers about them at hand, each given what

    def grow(self, x: int, candidates: Sequence[int]) -> list[int]:
        """Who, tried once and in this order, depends on x given those before; in order of joining."""
        blanket: list[int] = []
        start = 0
        while start < len(candidates):
            joined, tried = self._grow_at_once(x, candidates[start:], frozenset(blanket), to_first=False)
            blanket += joined
            start += tried
            if start < len(candidates):  # many independent in a row, or a judge that does not decide by itself
                block = 2 * tried if tried else FIRST_BLOCK
                start += super().first_dependent(x, candidates[start:], frozenset(blanket), block=block) + 1
                blanket += candidates[start - 1 : start]
        return blanket

    def first_dependent(  # type: ignore[override]
        self, x: int, ys: Sequence[int], z: VarSet, *, block: int = FIRST_BLOCK
    ) -> int:
        """Ask about one y after the other up to the first that depends on x; its place, or len(ys) if none does."""
        joined, tried = self._grow_at_once(x, ys, z, to_first=True)
        if joined or tried == len(ys):
            return tried - len(joined)
        return tried + super().first_dependent(x, ys[tried:], z, block=2 * tried if tried else block)

    def shrink(self, x: int, blanket: Sequence[int], inside: Collection[int]) -> list[int]:
        """Who stays, tried from the last to the first given all others that are left; who is `inside` does anyway."""
        order = [*reversed(blanket)]
        answers = self._shrink_at_once(x, [y for y in order if y not in inside], frozenset(blanket))
        verdicts = iter(zip(answers.independent.tolist(), answers.log_support.tolist(), strict=True))
        kept = frozenset(blanket)
        for y in order:
            if y in inside:
                self.infer(x, (y,), kept if self._trace is None else kept - {y}, independent=False, rule=PROPAGATION)
                continue
            answer = next(verdicts, None)
            if answer is None:
                independent = self(x, y, kept - {y}).independent
            else:
                independent = answer[0]
                self._book_member(x, y, kept, Verdict(*answer, answers.source))
            if independent:
                kept -= {y}
        return [y for y in blanket if y in kept]

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
            answers = self._blankets.scan_growing(x, block, z, to_first=True)
            if len(answers.independent):
                self._scanned += len(answers.independent)
                return answers
        return super()._ask(x, block, z)

    def _in_turn(self, x: int, y: int, z: VarSet) -> Verdict | None:
        """The answer about a member of a blanket that was announced; the first one asked for brings those after it."""
        if x != self._turns[0] or y not in self._turns[1]:
            return None
        if y not in self._shrunk or self._shrunk[y][0] != z:
            blanket, turns = z | {y}, self._turns[1][self._turns[1].index(y) :]
            turns = [u for u in turns if u in blanket]
            answers = self._shrink_at_once(x, turns, blanket)
            self._shrunk = {}
            for k, u in enumerate(turns[: len(answers.independent)]):
                verdict = answers.one(k)
                self._shrunk[u] = blanket - {u}, verdict
                blanket = blanket - {u} if verdict.independent else blanket
        return self._shrunk[y][1] if y in self._shrunk else None

    def _book_member(self, x: int, y: int, blanket: VarSet, verdict: Verdict) -> None:
        """Enter the answer about y given the rest of the blanket, which nobody needs to see without a trace."""
        if self._trace is not None:
            self.book(x, y, blanket - {y}, verdict)
            return
        self._count(1, len(blanket) - 1, verdict.source)
        if not verdict.independent:
            self._decide(x, y, verdict.log_support)

    def _shrink_at_once(self, x: int, turns: Sequence[int], blanket: VarSet) -> Verdicts:
        """What the judge says in these turns, as far as it goes at once; none of it booked."""
        answers = _NO_ANSWERS if self._blankets is None else self._blankets.scan_shrinking(x, turns, blanket)
        self._scanned += len(answers.independent)
        return answers

    def _grow_at_once(self, x: int, ys: Sequence[int], z: VarSet, *, to_first: bool) -> tuple[list[int], int]:
        """Who of the ys joins z, as far as the judge goes at once, and how many were tried; all of it booked."""
        if self._blankets is None:
            return [], 0
        answers = self._blankets.scan_growing(x, ys, z, to_first=to_first)
        n_tried, joined, since = len(answers.independent), list[int](), 0
        self._scanned += n_tried
        verdicts = zip(answers.independent.tolist(), answers.log_support.tolist(), strict=True)
        for k, (y, (independent, support)) in enumerate(zip(ys, verdicts, strict=False)):
            if self._trace is not None:
                self._trace.append(Question(x, y, z, independent, support, answers.source, self.phase))
            if not independent:
                self._count(k + 1 - since, len(z), answers.source)
                self._decide(x, y, support)
                joined.append(y)
                z, since = z | {y}, k + 1
        self._count(n_tried - since, len(z), answers.source)
        return joined, n_tried


class Reasoning(ABC):
    """The steps for whoever may know an answer before it is asked: question by question."""

    _ledger: BlanketLedger

    @abstractmethod
    def __call__(self, x: int, y: int, z: VarSet, upcoming: Iterable[int] = ()) -> Verdict:
        """Is x independent of y given z? `upcoming`: the y likely to be asked next with the same x and z."""

    def grow(self, x: int, candidates: Sequence[int]) -> list[int]:
        """Who, tried once and in this order, depends on x given those before; in order of joining."""
        blanket: list[int] = []
        z: VarSet = frozenset()
        for k, y in enumerate(candidates):
            if not self(x, y, z, islice(candidates, k + 1, None)).independent:
                blanket.append(y)
                z = z | {y}
        return blanket

    def shrink(self, x: int, blanket: Sequence[int], inside: Collection[int]) -> list[int]:
        """Who stays, tried from the last to the first given all others that are left; who is `inside` does anyway."""
        kept = list(blanket)
        self._ledger.expect_turns(x, [y for y in reversed(kept) if y not in inside])
        for y in tuple(reversed(kept)):
            z = frozenset(kept) - {y}
            if y in inside:
                self._ledger.infer(x, (y,), z, independent=False, rule=PROPAGATION)
            elif self(x, y, z).independent:
                kept.remove(y)
        return kept


def union(n_variables: int, blankets: Mapping[int, Collection[int]]) -> Graph:
    """The graph that joins x and y when one is in the blanket of the other."""
    return Graph(n_variables, [(x, y) for x, blanket in blankets.items() for y in blanket])
