"""Wrap any judge, change none: memory, accounting, a budget.

Each is an independence test like the one inside it, so they nest: `Audited(Budgeted(Remembered(test), 10_000))`.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable
from dataclasses import dataclass
from math import nan
from threading import Lock
from typing import ClassVar

import numpy as np

from mnlearn.errors import BudgetExceeded, InputError, true_or_false, whole_number
from mnlearn.graphs.graph import Graph
from mnlearn.independence._base import EvidenceTest
from mnlearn.protocols import BaseTest, Evidence, IndependenceTest, Indices, VarSet, Verdict, Verdicts

_Question = tuple[int, int, tuple[int, ...]]  # the smaller index, the larger, z in order: independence is symmetric


class _Wrapper(BaseTest):
    """Test around another one; never batched, so that it sees the questions one scan at a time."""

    def __init__(self, test: IndependenceTest) -> None:
        self._test = test

    @property
    def n_variables(self) -> int:
        """Number of variables."""
        return self._test.n_variables


class Remembered(_Wrapper):
    """Asks the same question of the test inside only once.

    Parameters
    ----------
    test
        The judge inside.
    max_questions
        How many answers are kept; past that, the one not used for longest goes.

    Attributes
    ----------
    recalled
        How many answers came from memory.
    """

    def __init__(self, test: IndependenceTest, max_questions: int = 1_000_000) -> None:
        whole_number("max_questions", max_questions, least=1, way_out="Leave it out for a million.")
        super().__init__(test)
        self._max_questions = max_questions
        self._guard = Lock()  # several threads may share one memory
        self._answers: OrderedDict[_Question, Verdict] = OrderedDict()
        self.recalled = 0

    def __call__(self, x: int, y: int, z: VarSet) -> Verdict:
        """The remembered answer with source "memo", or a fresh one."""
        known = self._recall(x, y, z)
        if known is not None:
            return known
        verdict = self._test(x, y, z)
        self._keep(_question(x, y, z), verdict)
        return verdict

    def scan(self, x: int, ys: Indices, z: VarSet) -> Verdicts:
        """Ask inside, in one scan, only for the y not yet known; the source is "memo" when all were known."""
        answers = [self._recall(x, int(y), z) for y in ys]
        unknown = [k for k, answer in enumerate(answers) if answer is None]
        source = "memo" if answers and not unknown else "data"
        if unknown:
            fresh = self._test.scan(x, [int(ys[k]) for k in unknown], z)
            source = fresh.source
            for place, k in enumerate(unknown):
                answers[k] = fresh.one(place)
                self._keep(_question(x, int(ys[k]), z), fresh.one(place))
        return _stack((a for a in answers if a is not None), source)

    def _recall(self, x: int, y: int, z: VarSet) -> Verdict | None:
        question = _question(x, y, z)
        with self._guard:
            known = self._answers.get(question)
            if known is None:
                return None
            self._answers.move_to_end(question)
            self.recalled += 1
        return known._replace(source="memo")

    def _keep(self, question: _Question, verdict: Verdict) -> None:
        with self._guard:
            self._answers[question] = verdict
            if len(self._answers) > self._max_questions:
                self._answers.popitem(last=False)


class Audited(_Wrapper):
    """Counts what is asked of the test inside.

    Attributes
    ----------
    asked
        How many questions, each y of a scan being one.
    weighted
        The same, each question weighing 2 + |z|: the cost in the first paper's accounting  [JAIR09, Sec. 5].
    largest_z
        The size of the largest conditioning set.
    """

    def __init__(self, test: IndependenceTest) -> None:
        super().__init__(test)
        self.asked, self.weighted, self.largest_z = 0, 0, 0

    def __call__(self, x: int, y: int, z: VarSet) -> Verdict:
        """Ask, then count."""
        verdict = self._test(x, y, z)
        self._count(1, len(z))
        return verdict

    def scan(self, x: int, ys: Indices, z: VarSet) -> Verdicts:
        """Ask, then count each y."""
        answers = self._test.scan(x, ys, z)
        self._count(len(ys), len(z))
        return answers

    def _count(self, n_questions: int, size_z: int) -> None:
        self.asked += n_questions
        self.weighted += n_questions * (2 + size_z)
        self.largest_z = max(self.largest_z, size_z if n_questions else 0)


class Budgeted(_Wrapper):
    """Refuses, by `BudgetExceeded`, the question that would pass the budget: a ceiling, never a hint.

    Parameters
    ----------
    test
        The judge inside.
    max_tests
        How many questions may be asked; each y of a scan is one. A scan that does not fit is refused whole.

    Attributes
    ----------
    left
        How many questions may still be asked.
    """

    def __init__(self, test: IndependenceTest, max_tests: int) -> None:
        whole_number("max_tests", max_tests, least=0, way_out="Leave the wrapper out for no limit.")
        super().__init__(test)
        self.max_tests = self.left = max_tests

    def __call__(self, x: int, y: int, z: VarSet) -> Verdict:
        """Spend one, then ask."""
        self._spend(1)
        return self._test(x, y, z)

    def scan(self, x: int, ys: Indices, z: VarSet) -> Verdicts:
        """Spend one per y, then ask."""
        self._spend(len(ys))
        return self._test.scan(x, ys, z)

    def _spend(self, n_questions: int) -> None:
        if n_questions > self.left:
            raise BudgetExceeded(
                f"max_tests allows {self.max_tests} tests; {self.max_tests - self.left} are spent, {n_questions} more "
                "were asked. Raise max_tests, or use the result so far."
            )
        self.left -= n_questions


def _question(x: int, y: int, z: VarSet) -> _Question:
    return (x, y, tuple(sorted(z))) if x < y else (y, x, tuple(sorted(z)))


def _stack(answers: Iterable[Verdict], source: str) -> Verdicts:
    listed = list(answers)
    support = [nan if a.log_support is None else a.log_support for a in listed]
    return Verdicts(
        np.array([a.independent for a in listed], dtype=np.bool_), np.array(support, dtype=np.float64), source
    )


# The separation oracle: answers from a known graph, for tests of searches and for counting their questions.


@dataclass(frozen=True)
class SeparationOracle(EvidenceTest):
    """x ⟂ y | z iff z separates x from y in the graph: a sound search must then return this graph.

    Parameters
    ----------
    graph
        The truth.
    monotone
        Whether to tell searches that whatever separates two variables still does when more is given (strong union).
        Those that try all subsets of a set then ask about the set itself, and their account holds what was asked.
        False for the account of their papers, question by question. Changes no graph.

    Notes
    -----
    A scan floods once from x. log p is 0 for independent and -inf for dependent pairs: the oracle has no doubt.

    Examples
    --------
    >>> from mnlearn.graphs import Graph
    >>> chain = SeparationOracle(Graph.from_edges(3, [(0, 1), (1, 2)]))
    >>> chain(0, 2, frozenset()).independent, chain(0, 2, frozenset({1})).independent
    (False, True)
    """

    name: ClassVar[str] = "oracle"
    graph: Graph
    monotone: bool = True

    def __post_init__(self) -> None:
        true_or_false(monotone=self.monotone)

    @property
    def n_variables(self) -> int:
        """How many variables the graph has."""
        return self.graph.n_variables

    def evidence(self, x: int, ys: Indices, z: VarSet) -> Evidence:
        """The decisions; the only number behind them is certainty."""
        candidates = [int(y) for y in ys]
        for y in candidates:
            if y == x or y in z or not 0 <= y < self.n_variables:
                raise InputError(
                    f"y must be a variable other than x and outside z; got x={x}, y={y}, z={sorted(z)}. "
                    "Ask about two different variables, neither of them in z."
                )
        reached = self.graph.reachable(x, z)
        independent = np.array([y not in reached for y in candidates], dtype=np.bool_)
        return Evidence(independent, log_p=np.where(independent, 0.0, -np.inf))
