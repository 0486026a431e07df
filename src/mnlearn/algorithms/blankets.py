"""Grow and shrink phases of Markov blanket searches, shared by several papers.

Each test of a phase depends on the answers before it: a variable found dependent is part of all later conditioning
sets. A judge that runs whole phases itself (`BaseTest.scan_growing`) is given the phase, with the inference rules it
may use (`Knowledge`); any other is called in scans. The counts are equal.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from itertools import compress, islice
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from mnlearn.algorithms.base import check_cancelled, ordered
from mnlearn.algorithms.counted import AHEAD, FIRST_BLOCK, CountedTest, Marginals
from mnlearn.graphs.candidates import Candidates
from mnlearn.graphs.graph import Graph
from mnlearn.protocols import (
    SILENT,
    IndependenceTest,
    Indices,
    Knowledge,
    Monitor,
    Question,
    Turns,
    VarSet,
    Verdict,
    Verdicts,
)

MARGINAL, PROPAGATION = "marginal", "propagation"  # rules that need no test
_IN_A_ROW = 16  # largest block that the judge tests one by one; a larger block is a scan


class Propagated(NamedTuple):
    """Variables examined before x: those with x in their blanket, and those without  [JAIR09, T and F]."""

    inside: Sequence[int] = ()
    outside: Sequence[int] = ()


class GrowShrinkTest(Protocol):
    """Test with whole grow and shrink phases: the counted test, or one that infers answers first."""

    def grow(self, x: int, candidates: Sequence[int], known: Propagated) -> list[int]:
        """Return the candidates that depend on x given those accepted before, then the known members."""
        ...

    def shrink(self, x: int, blanket: Sequence[int], known: Propagated) -> list[int]:
        """Return the members that stay, tested from last to first given all others left; known members stay."""
        ...


class CountedBlanketTest(CountedTest):
    """Counted test of a blanket search; the parameters are those of `CountedTest`."""

    def __init__(
        self,
        judge: IndependenceTest,
        monitor: Monitor = SILENT,
        *,
        ahead: int = AHEAD,
        keep_trace: bool = False,
        rules: Iterable[str] = (),
    ) -> None:
        super().__init__(judge, monitor, ahead=ahead, keep_trace=keep_trace, rules=rules)
        self._blankets = self._batched
        self._known: Knowledge | None = None
        self._sources: Sequence[str] = ("data",)
        self._answers: Marginals | None = None
        self._turns: tuple[int, list[int]] = (-1, [])  # x, and the members of its blanket in the order of their tests
        self._shrunk: dict[int, tuple[VarSet, Verdict]] = {}  # answers about them, each with its conditioning set

    def use_knowledge(self, rules: Sequence[str], *, mirrored: bool) -> Knowledge | None:
        """Let the judge apply these rules itself from now on; return its knowledge base, or None if it has none."""
        known = None if self._blankets is None else self._blankets.knowledge(mirrored=mirrored)
        if known is not None:
            self._known, self._sources = known, ("data", *rules)
        return known

    @property
    def infers(self) -> bool:
        """Whether the judge applies inference rules itself."""
        return self._known is not None

    def marginal_answers(self, candidates: Candidates | None) -> Marginals:
        """Test every candidate pair once without conditioning; see `CountedTest.marginal_answers`."""
        self._answers = super().marginal_answers(candidates)
        return self._answers

    def marginally_dependent(self, x: int) -> NDArray[np.intp]:
        """Return the variables that depend on x marginally, ascending; record the others as inferred."""
        assert self._answers is not None, "marginals come first"
        self.phase = "grow"
        self.record_inferred(x, self._answers.independent(x), frozenset(), independent=True, rule=MARGINAL)
        return self._answers.dependent(x)

    def grow(self, x: int, candidates: Sequence[int], known: Propagated) -> list[int]:
        """Return the candidates that depend on x given those accepted before, then the known members."""
        self.phase, blanket = "grow", list[int]()
        tried = self.grow_natively(x, candidates, blanket)
        while tried < len(candidates):  # the judge has no native phase, or not for this set
            tried += super().first_dependent(x, candidates[tried:], frozenset(blanket)) + 1
            blanket += candidates[tried - 1 : tried]
        return self.propagate(x, blanket, known)

    def grow_natively(self, x: int, candidates: Sequence[int], blanket: list[int], *, to_first: bool = False) -> int:
        """Let the judge grow the blanket as far as it can; return how many candidates were tested."""
        tried, size = 0, len(blanket)
        while self._blankets is not None and tried < len(candidates) and not (to_first and len(blanket) > size):
            check_cancelled(self._monitor)
            rest = candidates[tried:] if tried else candidates
            turns = self._blankets.scan_growing(
                x, rest, frozenset(blanket), to_first=to_first, ahead=self._ahead, known=self._known
            )
            if not turns.independent:
                break
            if self._trace is not None:
                self._trace.extend(self._trace_of(x, [*blanket], rest, turns, grows=True))
            self._record_turns(x, rest, turns)
            blanket += [y for y, independent in zip(rest, turns.independent, strict=False) if not independent]
            tried += len(turns.independent)
        return tried

    def propagate(self, x: int, blanket: list[int], known: Propagated) -> list[int]:
        """Record that examined variables decide about x; return the blanket with those inside added."""
        if self._trace is None:
            self._inferred[PROPAGATION] += len(known.inside) + len(known.outside)
            return [*blanket, *known.inside]
        for y in known.inside:
            self.record_inferred(x, (y,), frozenset(blanket), independent=False, rule=PROPAGATION)
            blanket.append(y)
        self.record_inferred(x, known.outside, frozenset(blanket), independent=True, rule=PROPAGATION)
        return blanket

    def first_dependent(  # type: ignore[override]
        self, x: int, ys: Sequence[int], z: VarSet, *, block: int = FIRST_BLOCK
    ) -> int:
        """Test one y after the other; return the index of the first that depends on x given z, or len(ys)."""
        blanket = [*z]
        tried = self.grow_natively(x, ys, blanket, to_first=True)
        if len(blanket) > len(z):
            return tried - 1
        return tried + super().first_dependent(x, ys[tried:], z, block=block)

    def shrink(self, x: int, blanket: Sequence[int], known: Propagated) -> list[int]:
        """Return the members that stay, tested from last to first given all others left; known members stay."""
        self.phase, left = "shrink", [*blanket]
        return self.shrink_by_tests(self, x, left, self.shrink_natively(x, left, known.inside), known.inside)

    def shrink_natively(self, x: int, blanket: list[int], inside: Collection[int]) -> Sequence[int]:
        """Let the judge shrink the blanket as far as it can; return the members that are still to be tested."""
        order = blanket[::-1]
        if self._blankets is None:
            return order
        check_cancelled(self._monitor)
        members = [y for y in order if y not in inside]
        turns = self._blankets.scan_shrinking(x, members, frozenset(blanket), known=self._known)
        n_answers = len(turns.independent)
        tried = len(order) if n_answers == len(members) else order.index(members[n_answers])
        if self._trace is not None:
            self._trace.extend(self._trace_of(x, [*blanket], order[:tried], turns, inside, grows=False))
        self._inferred[PROPAGATION] += tried - n_answers
        self._record_turns(x, members, turns)
        for y in compress(members, turns.independent):
            blanket.remove(y)
        return order[tried:]

    def shrink_by_tests(
        self,
        test: Callable[[int, int, VarSet], Verdict],
        x: int,
        blanket: list[int],
        order: Sequence[int],
        inside: Collection[int],
    ) -> list[int]:
        """Return the blanket without the members that a test in this order finds independent of x."""
        for y in order:
            z = frozenset(blanket) - {y}
            if y in inside:
                self.record_inferred(x, (y,), z, independent=False, rule=PROPAGATION)
            elif test(x, y, z).independent:
                blanket.remove(y)
        return blanket

    def expect_turns(self, x: int, members: Iterable[int]) -> None:
        """Announce that these members of the blanket of x are tested next, in this order, each given the rest.

        A member found independent leaves the blanket.
        """
        self._turns, self._shrunk = (x, list(members)), {}

    def __call__(self, x: int, y: int, z: VarSet, upcoming: Iterable[int] = ()) -> Verdict:
        """Test x and y given z; `upcoming` are the y likely to be tested next with the same x and z."""
        verdict = self._in_turn(x, y, z)
        if verdict is None:
            return super().__call__(x, y, z, upcoming)
        self.record(x, y, z, verdict)
        return verdict

    def _scan_block(self, x: int, block: Indices, z: VarSet) -> Verdicts:
        """Return answers to the first of the block: all, or up to the first that depends on x, where z changes."""
        if self._blankets is not None and len(block) <= _IN_A_ROW:
            check_cancelled(self._monitor)
            turns = self._blankets.scan_growing(x, block, z, to_first=True)
            if turns.independent:
                self._scanned += turns.scanned
                return Verdicts(np.array(turns.independent), np.array(turns.log_support, dtype=np.float64))
        return super()._scan_block(x, block, z)

    def _in_turn(self, x: int, y: int, z: VarSet) -> Verdict | None:
        """Return the answer about an announced member; the first one computes those after it, too."""
        if self._blankets is None or x != self._turns[0] or y not in self._turns[1]:
            return None
        if y not in self._shrunk or self._shrunk[y][0] != z:
            blanket, members = z | {y}, self._turns[1][self._turns[1].index(y) :]
            members = [u for u in members if u in blanket]
            check_cancelled(self._monitor)
            turns = self._blankets.scan_shrinking(x, members, blanket)
            self._scanned, self._shrunk = self._scanned + turns.scanned, {}
            for u, independent, support in zip(members, turns.independent, turns.log_support, strict=False):
                self._shrunk[u] = blanket - {u}, Verdict(independent, support)
                blanket = blanket - {u} if independent else blanket
        return self._shrunk[y][1] if y in self._shrunk else None

    def _record_turns(self, x: int, ys: Sequence[int], turns: Turns) -> None:
        """Record the answers about the first of the ys."""
        for y, independent, support in zip(ys, turns.independent, turns.log_support, strict=False):
            if not (independent or support is None):
                self._decided[ordered(x, y)] = support
        self._asked[self.phase] += turns.asked
        self._weighted[self.phase] += turns.weighted
        self._largest_z, self._scanned = max(self._largest_z, turns.largest_z), self._scanned + turns.scanned
        if turns.asked < len(turns.rules):
            self._inferred.update(self._sources[rule] for rule in turns.rules if rule)

    def _trace_of(
        self, x: int, blanket: list[int], ys: Sequence[int], turns: Turns, inside: Collection[int] = (), *, grows: bool
    ) -> Iterator[Question]:
        """Yield the lines of the trace of a native phase; members inside need no test."""
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
            if independent != grows:  # growing, a dependent one joins; shrinking, an independent one leaves
                blanket.append(y) if grows else blanket.remove(y)


class InferenceTest(ABC):
    """Grow and shrink phases for tests that may infer an answer: test by test, unless the judge infers itself."""

    _test: CountedBlanketTest

    @abstractmethod
    def __call__(self, x: int, y: int, z: VarSet, upcoming: Iterable[int] = ()) -> Verdict:
        """Decide about x and y given z; `upcoming` are the y likely to be tested next with the same x and z."""

    def grow(self, x: int, candidates: Sequence[int], known: Propagated) -> list[int]:
        """Return the candidates that depend on x given those accepted before, then the known members."""
        self._test.phase, blanket = "grow", list[int]()
        tried = self._test.grow_natively(x, candidates, blanket) if self._test.infers else 0
        z = frozenset(blanket)
        for k in range(tried, len(candidates)):
            y = candidates[k]
            if not self(x, y, z, islice(candidates, k + 1, None)).independent:
                blanket.append(y)
                z = z | {y}
        return self._test.propagate(x, blanket, known)

    def shrink(self, x: int, blanket: Sequence[int], known: Propagated) -> list[int]:
        """Return the members that stay, tested from last to first given all others left; known members stay."""
        self._test.phase, left, test = "shrink", [*blanket], self._test
        order = test.shrink_natively(x, left, known.inside) if test.infers else left[::-1]
        if order:
            test.expect_turns(x, [y for y in order if y not in known.inside])
        return test.shrink_by_tests(self, x, left, order, known.inside)


def union(n_variables: int, blankets: Mapping[int, Collection[int]]) -> Graph:
    """Return the graph that joins x and y when one is in the blanket of the other."""
    return Graph(n_variables, [(x, y) for x, blanket in blankets.items() for y in blanket])
