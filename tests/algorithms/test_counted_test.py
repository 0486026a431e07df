"""The counted test counts the tests of the paper, however many are computed ahead."""

from __future__ import annotations

from math import inf

import numpy as np
import pytest

from mnlearn.algorithms.base import Cancelled
from mnlearn.algorithms.counted import CountedTest
from mnlearn.errors import InputError
from mnlearn.graphs import Graph, path
from mnlearn.independence import SeparationOracle
from mnlearn.protocols import BaseTest, IndependenceTest, Indices, Question, VarSet, Verdict, Verdicts
from monitors import Budget

from references.judges import Audited

NOTHING: frozenset[int] = frozenset()
AHEAD = [1, 2, 3, 7, 1024]
CHAIN = SeparationOracle(path(20))


class Numbered:
    """Finds everything dependent; the k-th answer has support -k."""

    n_variables = 3

    def __init__(self) -> None:
        self.count = 0

    def __call__(self, x: int, y: int, z: VarSet) -> Verdict:
        return self.scan(x, [y], z).one(0)

    def scan(self, x: int, ys: Indices, z: VarSet) -> Verdicts:  # noqa: ARG002 - it has one answer for all
        numbers = self.count - np.arange(1.0, len(ys) + 1)
        self.count -= len(ys)
        return Verdicts(np.zeros(len(ys), dtype=np.bool_), numbers)


@pytest.mark.parametrize("ahead", AHEAD)
def test_only_used_answers_are_counted(ahead: int) -> None:
    outer = Audited(CHAIN)
    test = CountedTest(outer, ahead=ahead, keep_trace=True)
    ys = [19, 18, 17, 16, 15, 14, 13, 12, 11, 10, 2, 1, 9]
    assert test.first_dependent(3, ys, frozenset({4})) == 10
    cost = test.cost()
    assert cost["asked"] == cost["main_asked"] == 11
    assert cost["weighted"] == 33
    assert cost["scanned"] == outer.asked >= 11
    assert cost["largest_z"] == 1
    trace = test.result(Graph.empty(20), converged=True, settings={}).trace
    assert trace is not None
    assert [(q.y, q.independent) for q in trace] == [(y, y > 4) for y in ys[:11]]
    if ahead == 1:
        assert outer.asked == 11


@pytest.mark.parametrize("ahead", AHEAD)
def test_upcoming_tests_are_computed_ahead_and_counted_when_used(ahead: int) -> None:
    outer = Audited(CHAIN)
    test = CountedTest(outer, ahead=ahead)
    ys = [9, 8, 7, 6, 5, 4, 2]
    answers = [test(3, y, NOTHING, upcoming=ys[k + 1 :]).independent for k, y in enumerate(ys[:3])]
    assert answers == [False] * 3
    assert test.cost()["asked"] == 3
    assert outer.asked == test.cost()["scanned"] == (3 if ahead == 1 else {2: 4, 3: 3}.get(ahead, 7))
    assert test(3, 9, frozenset({5})).independent
    assert test.cost()["asked"] == 4


def test_an_unannounced_test_is_computed() -> None:
    test = CountedTest(CHAIN)
    assert not test(3, 5, NOTHING, upcoming=[6, 7]).independent
    assert test(3, 9, frozenset({5}), upcoming=[8]).independent
    assert not test(3, 4, frozenset({5})).independent
    assert not test(3, 2, frozenset({5})).independent
    assert test.cost()["asked"] == 4


@pytest.mark.parametrize("ahead", AHEAD)
def test_initial_tests_are_counted_separately(ahead: int) -> None:
    graph = Graph.from_edges(5, [(0, 1), (3, 4)])
    outer = Audited(SeparationOracle(graph))
    test = CountedTest(outer, ahead=ahead)
    independent, support = test.marginals()
    assert (independent == independent.T).all()
    assert (support == support.T).all()
    assert [(x, y) for x in range(5) for y in range(x + 1, 5) if not independent[x, y]] == list(graph.edges)
    test(0, 1, frozenset({2}))
    cost = test.cost()
    assert (cost["initial_asked"], cost["initial_weighted"]) == (10, 20)
    assert (cost["main_asked"], cost["main_weighted"]) == (1, 3)
    assert (cost["asked"], cost["weighted"]) == (outer.asked, outer.weighted) == (11, 23)


def test_every_rule_has_its_line_even_when_it_was_never_used() -> None:
    test = CountedTest(CHAIN, rules=("propagation", "marginal"), keep_trace=True)
    test.phase = "grow"
    test.record_inferred(0, [3, 4], NOTHING, independent=True, rule="propagation")
    cost = test.cost()
    assert (cost["inferred"], cost["inferred_propagation"], cost["inferred_marginal"], cost["asked"]) == (2, 2, 0, 0)
    trace = test.result(Graph.empty(20), converged=True, settings={}).trace
    assert trace is not None
    assert trace[0] == Question(0, 3, NOTHING, True, None, "propagation", "grow")


def test_support_is_of_the_last_dependence_found_or_else_marginal() -> None:
    test = CountedTest(Numbered())
    assert test.log_support(0, 1) is None
    test.marginals()
    assert test.log_support(0, 1) == test.log_support(1, 0) == -1
    test(1, 0, frozenset({2}))
    assert test.log_support(0, 1) == -4
    result = test.result(Graph.complete(3), converged=True, settings={"a": 1})
    assert result.support == {(0, 1): -4.0, (0, 2): -2.0, (1, 2): -3.0}
    assert (result.settings, result.trace, result.score) == ({"a": 1}, None, None)


@pytest.mark.parametrize("ahead", AHEAD)
@pytest.mark.parametrize("budget", [1, 4, 5, 9])
def test_a_monitor_that_counts_tests_is_a_budget(ahead: int, budget: int) -> None:
    inner = Audited(SeparationOracle(Graph.empty(30)))
    test = CountedTest(inner, Budget(inner, budget), ahead=ahead)
    with pytest.raises(Cancelled):
        test.first_dependent(0, range(1, 30), NOTHING)
    assert inner.asked == test.cost()["asked"] == test.cost()["scanned"] < budget + ahead


class Recalling(BaseTest):
    """The chain with a cache of its own: the second and later answers to a question have the source "memo"."""

    n_variables = CHAIN.n_variables

    def __init__(self) -> None:
        self._known = set[tuple[int, VarSet]]()

    def scan(self, x: int, ys: Indices, z: VarSet) -> Verdicts:
        questions, answers = {(y, z) for y in ys}, CHAIN.scan(x, ys, z)
        known = questions <= self._known
        self._known |= questions
        return Verdicts(answers.independent, answers.log_support, "memo" if known else "data")


def test_answers_from_a_memory_are_asked_and_also_recalled() -> None:
    test = CountedTest(Recalling(), ahead=1)
    for _ in range(3):
        assert test(0, 1, NOTHING).log_support == -inf
        test(0, 2, NOTHING)
    assert (test.cost()["asked"], test.cost()["recalled"]) == (6, 4)


def test_a_counted_test_is_an_independence_test() -> None:
    test = CountedTest(CHAIN)
    judge: IndependenceTest = test
    assert isinstance(judge, IndependenceTest)
    assert test.scan(0, [1, 2, 3], NOTHING).independent.tolist() == [False] * 3
    assert test.scan(0, [], NOTHING).independent.tolist() == []
    assert test.first_dependent(0, [], NOTHING) == 0
    assert test.cost()["asked"] == 3


def test_bad_settings_are_refused() -> None:
    with pytest.raises(InputError, match="ahead must be a whole number, at least 1; got 0"):
        CountedTest(CHAIN, ahead=0)
    with pytest.raises(InputError, match="judge must know at least 2 variables; got 1"):
        CountedTest(SeparationOracle(Graph.empty(1)))
