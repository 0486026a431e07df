"""The ledger of one run: questions put to a judge, and the account of them.

A search asks its questions through a `Ledger`, in the order of its paper. The ledger asks the judge ahead, in scans,
where the search says which questions are likely to come next; it books a question when its answer is used, so `cost`
is the paper's own account however far ahead the judge was asked.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import chain, islice
from operator import index
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mnlearn.errors import BudgetExceeded, InputError, check_room, whole_number
from mnlearn.graphs.graph import Edge, Graph
from mnlearn.protocols import (
    BoolArray,
    FloatArray,
    IndependenceTest,
    Indices,
    Question,
    Result,
    SubsetWalk,
    VarSet,
    Verdict,
    Verdicts,
    with_defaults,
)

# The account of one run: what a search asked, what it was told, what it inferred, and what that cost.
#
# A question is entered when its answer is used, so the account is the paper's own, whoever was asked and however far
# ahead.


class Account:
    """What a search used, entered question by question.

    Parameters
    ----------
    keep_trace
        Whether to keep every question, in order.
    rules
        The rules of inference that the search may book, so that each has its line in `cost` even when never used.
    keep_support
        Whether to remember by which answer each pair was decided; not needed by a search that knows itself.

    Attributes
    ----------
    phase
        What the search is doing now; "initial" is booked apart from everything else.
    """

    def __init__(self, *, keep_trace: bool, rules: Iterable[str], keep_support: bool) -> None:
        self.phase, self._keep_support, self._started = "main", keep_support, perf_counter()
        self._asked: Counter[str] = Counter()
        self._weighted: Counter[str] = Counter()
        self._inferred: Counter[str] = Counter(dict.fromkeys(rules, 0))
        self._recalled = self._largest_z = self._scanned = 0
        self._trace: list[Question] | None = [] if keep_trace else None
        self._decided: dict[Edge, float] = {}
        self._marginal: FloatArray | None = None

    def book(self, x: int, y: int, z: VarSet, verdict: Verdict) -> None:
        """Enter an answer that the search uses."""
        self._count(1, len(z), verdict.source)
        if self._keep_support and not verdict.independent:
            self._decide(x, y, verdict.log_support)
        if self._trace is not None:
            self._trace.append(Question(x, y, z, *verdict, self.phase))

    def enter(self, n_questions: int, size_z: int) -> None:
        """Book questions about sets of one size that a judge asked itself, all of them needed."""
        self._count(n_questions, size_z, "data")
        self._scanned += n_questions

    def enter_by_size(self, asked: Sequence[int]) -> None:
        """The same for sets of several sizes: how many questions there were about each, from size 0 on."""
        for size_z, n_questions in enumerate(asked):
            self.enter(n_questions, size_z)

    def infer(self, x: int, ys: Indices, z: VarSet, *, independent: bool, rule: str) -> None:
        """Book answers that a rule gave instead of the judge."""
        self._inferred[rule] += len(ys)
        if self._trace is not None:
            self._trace.extend(Question(x, int(y), z, independent, None, rule, self.phase) for y in ys)

    def result(self, graph: Graph, *, converged: bool, settings: Mapping[str, object]) -> Result:
        """The record of the run.

        The support of an edge is that of the last question about it which the judge answered with dependence; where
        rules answered every question about it, its marginal support.
        """
        support = {edge: value for edge in graph.edges if (value := self.log_support(*edge)) is not None}
        trace = None if self._trace is None else tuple(self._trace)
        return Result(graph, None, support, converged, self.cost(), settings, trace)

    def log_support(self, x: int, y: int) -> float | None:
        """The log support of the last dependence of x and y that the judge found, else the marginal one, if asked."""
        decided = self._decided.get((x, y) if x < y else (y, x))
        if decided is None and self._marginal is not None:
            return float(self._marginal[x, y])
        return decided

    def cost(self) -> dict[str, float]:
        """The account so far."""
        asked, weighted = self._asked.total(), self._weighted.total()
        initial_asked, initial_weighted = self._asked["initial"], self._weighted["initial"]
        return {
            "asked": asked,
            "weighted": weighted,
            "initial_asked": initial_asked,
            "initial_weighted": initial_weighted,
            "main_asked": asked - initial_asked,
            "main_weighted": weighted - initial_weighted,
            "inferred": self._inferred.total(),
            **{f"inferred_{rule}": count for rule, count in self._inferred.items()},
            "recalled": self._recalled,
            "largest_z": self._largest_z,
            "scanned": self._scanned,
            "seconds": perf_counter() - self._started,
        }

    def _book(self, x: int, ys: Indices, z: VarSet, answers: Verdicts) -> None:
        """Enter the answers that the search uses: those to the ys, of which there may be fewer than answers."""
        self._count(len(ys), len(z), answers.source)
        if self._keep_support and self.phase != "initial":
            for k in (~answers.independent[: len(ys)]).nonzero()[0].tolist():
                self._decide(x, int(ys[k]), float(answers.log_support[k]))
        if self._trace is not None:
            phase, verdicts = self.phase, map(answers.one, range(len(ys)))
            self._trace.extend(Question(x, int(y), z, *v, phase) for y, v in zip(ys, verdicts, strict=True))

    def _count(self, n_questions: int, size_z: int, source: str) -> None:
        """Count questions about sets of one size."""
        self._asked[self.phase] += n_questions
        self._weighted[self.phase] += n_questions * (2 + size_z)
        if n_questions and size_z > self._largest_z:
            self._largest_z = size_z
        if source == "memo":
            self._recalled += n_questions

    def _decide(self, x: int, y: int, log_support: float | None) -> None:
        """Keep what the judge last said for the dependence of a pair."""
        if log_support is not None:
            self._decided[(x, y) if x < y else (y, x)] = log_support


AHEAD = 1024  # the largest block asked ahead of need, unless a learner is told otherwise
FIRST_BLOCK = 8  # the block after a change of x or z; each further block of the same scan is twice as large
_SCANS_TOGETHER = 64  # at most, of a judge that answers many together; a monitor is heard in between
_ROWS_TOGETHER = 512
_EMPTY: VarSet = frozenset()
_FEWER = "Choose fewer columns, or a method that keeps none: gsmn, sep, l1lr."


def check_ahead(ahead: int) -> None:
    """Refuse a block size below one; learners call this when they are made."""
    whole_number("ahead", ahead, least=1, way_out="Use 1 to ask strictly one question at a time.")


def check_max_conditioning(max_conditioning: int | None) -> None:
    """Refuse a limit of the conditioning sets that is no size; learners that have one call this when they are made."""
    try:
        allowed = max_conditioning is None or index(max_conditioning) >= 0
    except TypeError:
        allowed = False
    if not allowed:
        raise InputError(
            f"max_conditioning must be None or a whole number, 0 or more; got {max_conditioning!r}. Use None for no "
            "limit."
        )


def answers_whole_families(judge: IndependenceTest, *, keep_trace: bool) -> bool:
    """Whether to ask about the largest sets of a family only: no smaller one separates what they do not.

    A trace shows the questions of the paper, so it asks them all.
    """
    return not keep_trace and with_defaults(judge).monotone


def walk_of(judge: IndependenceTest, *, ahead: int, keep_trace: bool) -> SubsetWalk | None:
    """What walks over sets by itself, if the judge has it; not where each question must be heard of in its turn."""
    return with_defaults(judge).subsets() if ahead > 1 and not keep_trace else None


class Ledger(Account):
    """An independence test that keeps the account of the search that uses it.

    Parameters
    ----------
    judge
        Any independence test, wrapped or not.
    ahead
        The largest block of questions asked ahead of need; 1 asks strictly one at a time. Questions asked ahead and
        never used are no part of the account, except of `scanned`. An outer `Audited` or `Budgeted` sees them: with
        1 it sees exactly what is booked.
    keep_trace
        Whether to keep every question, in order.
    rules
        The rules of inference that the search may book, so that each has its line in `cost` even when never used.
    keep_support
        Whether to remember by which answer each pair was decided; not needed by a search that knows itself.

    Attributes
    ----------
    phase
        What the search is doing now; "initial" is booked apart from everything else.

    Notes
    -----
    `asked` counts every question put to the judge and used; `recalled` says how many of them the judge answered from
    a memory of its own (source "memo"; a judge that answers a block partly from memory reports it as fresh). When a
    block does not fit into a budget, the rest of the run asks one question at a time, to the last that fits.

    Examples
    --------
    >>> from mnlearn.graphs.graph import Graph
    >>> from mnlearn.independence import SeparationOracle
    >>> ledger = Ledger(SeparationOracle(Graph.from_edges(4, [(0, 1), (1, 2)])))
    >>> ledger.first_dependent(0, [3, 2, 1], frozenset()), ledger.cost()["asked"], ledger.cost()["scanned"]
    (1, 2, 3)
    """

    def __init__(
        self,
        judge: IndependenceTest,
        *,
        ahead: int = AHEAD,
        keep_trace: bool = False,
        rules: Iterable[str] = (),
        keep_support: bool = True,
    ) -> None:
        check_ahead(ahead)
        if judge.n_variables < 2:
            raise InputError(
                f"judge must know at least 2 variables; got {judge.n_variables}. There is no structure to learn from "
                "fewer."
            )
        super().__init__(keep_trace=keep_trace, rules=rules, keep_support=keep_support)
        self.n_variables, self._judge, self._ahead = judge.n_variables, with_defaults(judge), ahead
        self._batched = self._judge if self._judge.batched and ahead > 1 else None
        self._block_of: tuple[int, VarSet] | None = None  # the scan whose answers are at hand
        self._block_size, self._at_hand = 1, dict[int, Verdict]()

    def marginals(self) -> tuple[BoolArray, FloatArray]:
        """Ask about every pair without conditioning, once each: independent or not, and log support, both symmetric.

        Booked as "initial". The diagonal is False, and 0 in the support.
        """
        n, phase = self.n_variables, self.phase
        check_room("judge", 9.0 * n * n, f"a decision and a number for every pair of {n:,} variables", _FEWER)
        independent, support = np.zeros((n, n), dtype=np.bool_), np.zeros((n, n))
        self.phase = "initial"
        for xs, answers in self._pairs():
            later = np.arange(n) > np.arange(xs.start, xs.stop)[:, None]
            independent[xs.start : xs.stop][later] = answers.independent
            support[xs.start : xs.stop][later] = answers.log_support
            self._book_pairs(xs, independent, support, answers.source)
        _mirror(independent)
        _mirror(support)
        self.phase, self._marginal = phase, support
        return independent, support

    def _pairs(self) -> Iterator[tuple[range, Verdicts]]:
        """What the judge says of every pair x < y given nothing, some x at a time: of all at once, if it can."""
        n = self.n_variables
        blocks = None if self._batched is None else self._batched.scan_pairs()
        if blocks is not None:
            for xs, answers in blocks:
                self._scanned += len(answers.independent)
                yield xs, answers
            return
        for first in range(0, n - 1, _SCANS_TOGETHER):
            xs = range(first, min(first + _SCANS_TOGETHER, n - 1))
            later = [list(range(x + 1, n)) for x in xs]  # read sooner than ranges
            for x, answers in zip(xs, self._scan_many(xs, later, [_EMPTY] * len(xs)), strict=True):
                yield range(x, x + 1), answers

    def _book_pairs(self, xs: range, independent: BoolArray, support: FloatArray, source: str) -> None:
        """Enter what was said of these x and all after them: together, unless each has its line in a trace."""
        n = self.n_variables
        if self._trace is None:
            self._count(sum(n - 1 - x for x in xs), 0, source)
            return
        for x in xs:
            self._book(x, range(x + 1, n), _EMPTY, Verdicts(independent[x, x + 1 :], support[x, x + 1 :], source))

    def __call__(self, x: int, y: int, z: VarSet, upcoming: Iterable[int] = ()) -> Verdict:
        """Is x independent of y given z? `upcoming`: the y likely to be asked next with the same x and z."""
        if self._block_of != (x, z):
            self._block_of, self._at_hand, self._block_size = (x, z), {}, min(FIRST_BLOCK, self._ahead)
        if y not in self._at_hand:
            block = list(islice(chain((y,), (u for u in upcoming if u != y)), self._block_size))
            answers = self._ask(x, block, z)
            pairs = zip(answers.independent.tolist(), answers.log_support.tolist(), strict=True)
            self._at_hand = {u: Verdict(*pair, answers.source) for u, pair in zip(block, pairs, strict=False)}
            self._block_size = min(2 * self._block_size, self._ahead)
        verdict = self._at_hand.pop(y)
        self.book(x, y, z, verdict)
        return verdict

    def scans(
        self, x: int, zs: Iterable[VarSet], ys_of: Callable[[VarSet], list[int]]
    ) -> Iterator[tuple[VarSet, list[int], Verdicts]]:
        """Scan after scan with the same x, all needed: for each z the ys that `ys_of` names when its turn comes.

        Where the judge answers many scans together, a block of them is asked ahead, with the ys as they are then: later
        there may be fewer. Blocks double while nothing changes.
        """
        rest, size = iter(zs), 1 if self._batched is None else min(FIRST_BLOCK, self._ahead)
        while block := list(islice(rest, size)):
            asked = [(z, ys) for z in block if (ys := ys_of(z))]
            answers = self._scan_many([x] * len(asked), [ys for _, ys in asked], [z for z, _ in asked])
            n_dropped = 0
            for (z, ys), found in zip(asked, answers, strict=True):
                left = ys_of(z)
                n_dropped += len(ys) - len(left)
                if left:
                    used = found if len(left) == len(ys) else _some(found, [k for k, y in enumerate(ys) if y in left])
                    self._book(x, left, z, used)
                    yield z, left, used
            if self._batched is not None:
                size = min(FIRST_BLOCK if n_dropped else 2 * size, _SCANS_TOGETHER, self._ahead)

    def ask_ahead(self, x: int, ys: Indices, z: VarSet) -> Verdicts:
        """Answers about the first y and, as far as `ahead` and a budget reach, about those after it; none is booked.

        For a search that keeps the answers itself; it books each one that it uses with `book`.
        """
        return self._ask(x, ys[: self._ahead], z)

    def first_dependent(self, x: int, ys: Indices, z: VarSet, *, block: int = FIRST_BLOCK) -> int:
        """Ask about one y after the other up to the first that depends on x; its place, or len(ys) if none does.

        `block`: how many of them to ask together at first.
        """
        size, start = min(block, self._ahead), 0
        while start < len(ys):
            asked = ys[start : start + size]
            answers = self._ask(x, asked, z)
            n_answers = len(answers.independent)
            (hits,) = (~answers.independent).nonzero()
            used = int(hits[0]) + 1 if len(hits) else n_answers
            self._book(x, asked[:used], z, answers)
            if len(hits):
                return start + used - 1
            start, size = start + n_answers, min(2 * size, self._ahead)
        return len(ys)

    def scan(self, x: int, ys: Indices, z: VarSet) -> Verdicts:
        """Ask about each y, all of them needed: every one is booked."""
        answers = self._scan(x, ys, z)
        self._book(x, ys, z, answers)
        return answers

    def _ask(self, x: int, block: Indices, z: VarSet) -> Verdicts:
        """Answers to the block, or to its first question alone when a budget does not reach for all of it."""
        try:
            return self._scan(x, block, z)
        except BudgetExceeded:
            if len(block) == 1:
                raise
            self._ahead = self._block_size = 1
            return self._scan(x, block[:1], z)

    def _scan_many(self, xs: Sequence[int], yss: Sequence[Indices], zs: Sequence[VarSet]) -> list[Verdicts]:
        """What the judge says of many scans, all together if it can."""
        if self._batched is None:
            return [self._scan(x, ys, z) for x, ys, z in zip(xs, yss, zs, strict=True)]
        answers = self._batched.scan_many(xs, yss, zs)
        self._scanned += sum(map(len, yss))
        return answers

    def _scan(self, x: int, ys: Indices, z: VarSet) -> Verdicts:
        """What the judge says."""
        answers = self._judge.scan(x, ys, z)
        self._scanned += len(ys)
        return answers


def _mirror(half: NDArray[Any]) -> None:
    """Copy what is above the diagonal below it, some rows at a time: a copy of the whole would take as much again."""
    for first in range(0, len(half), _ROWS_TOGETHER):
        here, after = slice(first, first + _ROWS_TOGETHER), slice(first + _ROWS_TOGETHER, None)
        half[here, here] = half[here, here] + half[here, here].T
        half[after, here] = half[here, after].T


def _some(answers: Verdicts, places: list[int]) -> Verdicts:
    """The answers at these places."""
    return Verdicts(answers.independent[places], answers.log_support[places], answers.source)
