"""Memory, accounting and a budget: they change who is asked, never the answer."""

from __future__ import annotations

import pytest

from mnlearn.errors import BudgetExceeded, InputError
from mnlearn.graphs import Graph
from mnlearn.independence import Audited, Budgeted, Remembered, SeparationOracle

CHAIN = SeparationOracle(Graph.from_edges(4, [(0, 1), (1, 2), (2, 3)]))


def test_a_question_is_asked_once_whichever_way_round() -> None:
    inside = Audited(CHAIN)
    memory = Remembered(inside)
    first = memory(0, 2, frozenset({1}))
    again = memory(2, 0, frozenset({1}))
    assert (first.source, again.source) == ("data", "memo")
    assert first[:2] == again[:2]
    assert (inside.asked, memory.recalled) == (1, 1)


def test_a_scan_asks_inside_only_for_what_is_new() -> None:
    inside = Audited(CHAIN)
    memory = Remembered(inside)
    memory(0, 2, frozenset())
    found = memory.scan(0, [1, 2, 3], frozenset())
    assert found.independent.tolist() == CHAIN.scan(0, [1, 2, 3], frozenset()).independent.tolist()
    assert (inside.asked, memory.recalled, found.source) == (3, 1, "data")
    assert memory.scan(0, [3, 1], frozenset()).source == "memo"
    assert inside.asked == 3


def test_memory_is_bounded_and_keeps_what_was_used_last() -> None:
    inside = Audited(CHAIN)
    memory = Remembered(inside, max_questions=2)
    memory(0, 1, frozenset())
    memory(0, 2, frozenset())
    memory(0, 1, frozenset())  # used again: stays
    memory(0, 3, frozenset())  # pushes out (0, 2)
    assert inside.asked == 3
    memory(0, 1, frozenset())
    assert inside.asked == 3
    memory(0, 2, frozenset())
    assert inside.asked == 4


def test_the_audit_weighs_a_question_by_its_variables() -> None:
    audit = Audited(CHAIN)
    audit(0, 1, frozenset())
    audit.scan(0, [2, 3], frozenset({1}))
    audit.scan(0, [], frozenset({1, 2, 3}))
    assert (audit.asked, audit.weighted, audit.largest_z) == (3, 2 + 2 * 3, 1)


def test_a_refused_question_is_not_counted() -> None:
    audit = Audited(CHAIN)
    with pytest.raises(InputError):
        audit(0, 0, frozenset())
    assert audit.asked == 0


def test_a_budget_is_a_ceiling() -> None:
    inside = Audited(CHAIN)
    judge = Budgeted(inside, 3)
    judge.scan(0, [1, 2], frozenset())
    with pytest.raises(BudgetExceeded, match="max_tests allows 3 tests; 2 are spent, 2 more were requested"):
        judge.scan(0, [1, 2], frozenset({3}))
    assert (inside.asked, judge.left) == (2, 1)
    judge(0, 3, frozenset())
    with pytest.raises(BudgetExceeded):
        judge(0, 3, frozenset())
    assert inside.asked == 3


def test_bad_settings_are_refused() -> None:
    with pytest.raises(InputError, match="max_questions must be a whole number, at least 1"):
        Remembered(CHAIN, max_questions=0)
    with pytest.raises(InputError, match="max_tests must be a whole number, at least 0"):
        Budgeted(CHAIN, -1)
