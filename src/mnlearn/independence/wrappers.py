"""Wrappers around a test (cache, accounting, budget), and the separation oracle of a known graph.

A wrapper is a test like the one inside it, so they nest: `Audited(Budgeted(Remembered(test), 10_000))`.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable, Sized
from dataclasses import dataclass
from math import nan
from operator import index
from threading import Lock
from typing import ClassVar, cast

import numpy as np

from mnlearn.errors import BudgetExceeded, InputError, check_methods, iterates, true_or_false, whole_number
from mnlearn.graphs.candidates import Candidates, keys_of
from mnlearn.graphs.graph import Graph, check_graph
from mnlearn.independence.base import EvidenceTest, Strongest
from mnlearn.protocols import (
    SILENT,
    BaseTest,
    Evidence,
    IndependenceTest,
    Indices,
    Monitor,
    ScreeningJudge,
    VarSet,
    Verdict,
    Verdicts,
)

_Question = tuple[int, int, tuple[int, ...]]  # the smaller index, the larger, z in order: independence is symmetric


class _Wrapper(BaseTest):
    """Test around another one; never batched, so that it sees the questions one scan at a time."""

    def __init__(self, test: IndependenceTest) -> None:
        check_methods("test", test, ("__call__", "scan"), "Use a test, such as ChiSquare(Counts(data)).")
        self._test = test

    @property
    def n_variables(self) -> int:
        """Number of variables."""
        return self._test.n_variables

    @property
    def strongest(self) -> Strongest:
        """Screen of the test inside, if it has one: no question, so it is neither cached nor counted."""
        return cast(ScreeningJudge, self._test).strongest


class Remembered(_Wrapper):
    """Cache: each question reaches the test inside only once.

    Parameters
    ----------
    test
        The test inside.
    max_questions
        Number of cached answers; beyond it the least recently used one is dropped.

    Attributes
    ----------
    recalled
        Number of answers from the cache.
    """

    def __init__(self, test: IndependenceTest, max_questions: int = 1_000_000) -> None:
        whole_number("max_questions", max_questions, least=1, hint="Leave it out for a million.")
        super().__init__(test)
        self._max_questions = max_questions
        self._guard = Lock()  # several threads may share one cache
        self._answers: OrderedDict[_Question, Verdict] = OrderedDict()
        self.recalled = 0

    def __call__(self, x: int, y: int, z: VarSet) -> Verdict:
        """Return the cached answer with source "memo", or a fresh one."""
        known = self._recall(x, y, z)
        if known is not None:
            return known
        verdict = self._test(x, y, z)
        self._store(_question(x, y, z), verdict)
        return verdict

    def scan(self, x: int, ys: Indices, z: VarSet) -> Verdicts:
        """Scan only the y that are not cached; the source is "memo" if all were."""
        _check_listed(x, ys, z)
        answers = [self._recall(x, y, z) for y in ys]
        unknown = [k for k, answer in enumerate(answers) if answer is None]
        source = "memo" if answers and not unknown else "data"
        if unknown:
            fresh = self._test.scan(x, [int(ys[k]) for k in unknown], z)
            source = fresh.source
            for place, k in enumerate(unknown):
                answers[k] = fresh.one(place)
                self._store(_question(x, int(ys[k]), z), fresh.one(place))
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

    def _store(self, question: _Question, verdict: Verdict) -> None:
        with self._guard:
            self._answers[question] = verdict
            if len(self._answers) > self._max_questions:
                self._answers.popitem(last=False)


class Audited(_Wrapper):
    """Account of the questions to the test inside.

    Attributes
    ----------
    asked
        Number of questions; each y of a scan is one.
    weighted
        Sum of 2 + |z| over the questions: the cost in the accounting of [JAIR09, Sec. 5].
    largest_z
        Size of the largest conditioning set.
    """

    def __init__(self, test: IndependenceTest) -> None:
        super().__init__(test)
        self.asked, self.weighted, self.largest_z = 0, 0, 0

    def __call__(self, x: int, y: int, z: VarSet) -> Verdict:
        """Test, then count one question."""
        verdict = self._test(x, y, z)
        self._count(1, len(z))
        return verdict

    def scan(self, x: int, ys: Indices, z: VarSet) -> Verdicts:
        """Test, then count a question for each y."""
        answers = self._test.scan(x, ys, z)
        self._count(len(ys), len(z))
        return answers

    def _count(self, n_questions: int, size_z: int) -> None:
        self.asked += n_questions
        self.weighted += n_questions * (2 + size_z)
        self.largest_z = max(self.largest_z, size_z if n_questions else 0)


class Budgeted(_Wrapper):
    """Hard limit of tests: raises `BudgetExceeded` for the question that would pass it.

    Parameters
    ----------
    test
        The test inside.
    max_tests
        Number of questions; each y of a scan is one. A scan that does not fit raises as a whole.

    Attributes
    ----------
    left
        Number of questions that are left.
    """

    def __init__(self, test: IndependenceTest, max_tests: int) -> None:
        whole_number("max_tests", max_tests, least=0, hint="Leave the wrapper out for no limit.")
        super().__init__(test)
        self.max_tests = self.left = max_tests

    def __call__(self, x: int, y: int, z: VarSet) -> Verdict:
        """Spend one question, then test."""
        self._spend(1)
        return self._test(x, y, z)

    def scan(self, x: int, ys: Indices, z: VarSet) -> Verdicts:
        """Spend a question per y, then test."""
        _check_listed(x, ys, z)
        self._spend(len(ys))
        return self._test.scan(x, ys, z)

    def _spend(self, n_questions: int) -> None:
        if n_questions > self.left:
            raise BudgetExceeded(
                f"max_tests allows {self.max_tests} tests; {self.max_tests - self.left} are spent, {n_questions} more "
                "were requested. Raise max_tests, or use the result so far."
            )
        self.left -= n_questions


def _question(x: int, y: int, z: VarSet) -> _Question:
    """Return the key of a question; raise InputError for what cannot be one."""
    try:
        return _ordered(_index(x), _index(y), tuple(sorted(map(_index, z))))
    except (TypeError, ValueError):
        raise _not_indices(x, y, z) from None


def _check_listed(x: object, ys: object, z: object) -> None:
    """Raise InputError unless ys is a sequence."""
    if not iterates(ys) or not isinstance(ys, Sized):
        raise _not_indices(x, ys, z)


def _index(value: object) -> int:
    """Return an index; a bool raises TypeError, since True is hardly meant as the second variable."""
    if isinstance(value, bool):
        raise TypeError
    return index(value)  # type: ignore[arg-type]


def _ordered(x: int, y: int, z: tuple[int, ...]) -> _Question:
    return (x, y, z) if x < y else (y, x, z)


def _not_indices(x: object, y: object, z: object) -> InputError:
    """Return the error for a question that is not about indices of variables."""
    return InputError(
        f"x, y and z must be indices of variables; got x={x!r:.40}, y={y!r:.40}, z={z!r:.40}. Use dataset.index(name)."
    )


def _stack(answers: Iterable[Verdict], source: str) -> Verdicts:
    listed = list(answers)
    support = [nan if a.log_support is None else a.log_support for a in listed]
    return Verdicts(
        np.array([a.independent for a in listed], dtype=np.bool_), np.array(support, dtype=np.float64), source
    )


@dataclass(frozen=True)
class SeparationOracle(EvidenceTest):
    """Oracle of a graph: x ⟂ y | z iff z separates x from y. With it a sound search returns this graph.

    Parameters
    ----------
    graph
        The true graph.
    monotone
        Whether searches may rely on strong union: a set that separates two variables still does when more is given.
        Those that try all subsets of a set then test the set itself, and their account counts these tests. Use False
        for the account of their papers, question by question. The graph is the same.

    Notes
    -----
    A scan is one search from x. log p is 0 for independent and -inf for dependent pairs.

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
        check_graph("graph", self.graph)
        true_or_false(monotone=self.monotone)

    @property
    def n_variables(self) -> int:
        """Number of variables."""
        return self.graph.n_variables

    def evidence(self, x: int, ys: Indices, z: VarSet) -> Evidence:
        """Return the decisions, with log p of 0 or -inf."""
        try:
            x, candidates, z = _index(x), [_index(y) for y in ys], frozenset(map(_index, z))
        except TypeError:
            raise _not_indices(x, ys, z) from None
        for y in candidates:
            if y == x or y in z or not 0 <= y < self.n_variables:
                raise InputError(
                    f"y must be a variable other than x and outside z; got x={x}, y={y}, z={sorted(z)}. "
                    "Ask about two different variables, neither of them in z."
                )
        reached = self.graph.reachable(x, z)
        independent = np.array([y not in reached for y in candidates], dtype=np.bool_)
        return Evidence(independent, log_p=np.where(independent, 0.0, -np.inf))

    def strongest(self, k: int, monitor: Monitor = SILENT) -> Candidates:
        """Return the pairs of each variable with the k nearest, of equally near ones those with the lowest index."""
        n, found = self.n_variables, [np.empty((0, 2), dtype=np.int64)]
        for x in range(n):
            if monitor.cancelled():
                break
            near, reached, edge = list[int](), {x}, {x}
            while edge and len(near) < k:
                edge = {y for v in edge for y in self.graph.neighbors(v)} - reached
                reached |= edge
                near += sorted(edge)
            found.append(np.array([(x, y) for y in near[:k]], dtype=np.int64).reshape(-1, 2))
        return Candidates(n, keys_of(n, np.concatenate(found)))
