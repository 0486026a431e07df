"""Walks over sets inside the core give the bits, the questions and the order of one scan at a time."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from itertools import combinations
from math import prod
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mnlearn import _core
from mnlearn.algorithms import HHCMN, PC
from mnlearn.data import Dataset
from mnlearn.errors import InputError
from mnlearn.graphs.candidates import Candidates
from mnlearn.independence import BayesianTest, ChiSquare, GTest
from mnlearn.protocols import PairLists, SetLevel
from mnlearn.statistics import Counts, kernels
from monitors import Stopping

from references import counts as reference
from references.judges import Audited
from references.subsets import account, level_by_scans, walk_of, without_seconds

JUDGES: dict[str, Any] = {
    "chi2": ChiSquare,
    "chi2-observed": lambda counts: ChiSquare(counts, dof="observed"),
    "chi2-all": lambda counts: ChiSquare(counts, dof="all"),
    "g2": GTest,
    "bayes": BayesianTest,
}
PATHS = _core.levels()


def data_of(seed: int) -> Dataset:
    """Few rows or many, not a multiple of 64; constant columns, more states than there are planes for, repeats."""
    rng = np.random.default_rng(seed)
    n_rows, n = int(rng.choice([1, 63, 200, 700])), int(rng.integers(2, 9))
    cards = rng.choice([1, 2, 2, 2, 3, 4, 5, 12] if rng.random() < 0.5 else [2, 2, 2, 3], n).tolist()
    data = reference.random_dataset(rng, n_rows=n_rows, cards=cards, dependence=float(rng.choice([0.3, 0.8])))
    return replace(data, repeats=rng.integers(1, 4, n_rows)) if rng.random() < 0.2 else data


def needs_scipy(judge: Any, size: int) -> bool:
    """Whether a question about a set of this size may have more degrees of freedom than the core has tails for."""
    return bool(judge.name != "bayes" and prod(sorted(judge.statistics.cards)[-size - 2 :]) > 40_000)


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize("name", JUDGES)
@given(seed=st.integers(0, 2**32), n_jobs=st.integers(1, 4))
@settings(max_examples=15, deadline=None)
def test_a_level_is_that_of_one_question_at_a_time(name: str, path: str, seed: int, n_jobs: int) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("MNLEARN_CORE", path)
        judge = JUDGES[name](Counts(data_of(seed), n_jobs=n_jobs))
    n = judge.n_variables
    around = np.random.default_rng(seed).random((n, n)) < 0.8
    around = np.triu(around, 1) | np.triu(around, 1).T
    for size in range(4):
        left, weakest = around.copy(), np.full((n, n), np.nan)
        answer = walk_of(judge).separate(SetLevel(size, around, left, weakest), range(n), lambda _: True)
        if answer is None:
            assert needs_scipy(judge, size)
            continue
        found, expected_weakest, asked = level_by_scans(judge, size, around)
        assert answer.finished
        assert answer.asked == asked
        assert np.array_equal(weakest, expected_weakest, equal_nan=True)
        rows = {(x, y): (tuple(z), s) for (x, y, *z), s in zip(answer.sets.tolist(), answer.log_support, strict=True)}
        assert rows == found
        assert list(rows) == list(found)
        assert np.array_equal(left, left.T)
        assert not any(left[pair] for pair in found)
        assert left.sum() == around.sum() - 2 * len(found)


@pytest.mark.parametrize("name", JUDGES)
@given(seed=st.integers(0, 2**32), n_jobs=st.integers(1, 4))
@settings(max_examples=15, deadline=None)
def test_a_level_of_lists_is_that_of_matrices(name: str, seed: int, n_jobs: int) -> None:
    judge, rng = JUDGES[name](Counts(data_of(seed), n_jobs=n_jobs)), np.random.default_rng(seed)
    n = judge.n_variables
    listed = np.triu(rng.random((n, n)) < 0.8, 1)
    lists = PairLists(*Candidates(n, np.flatnonzero(listed)).lists())
    places = np.repeat(np.arange(n), np.diff(lists.starts)), lists.partners
    listed |= listed.T
    around = np.triu(listed & (rng.random((n, n)) < 0.9), 1)
    around |= around.T
    for size in range(4):
        left, weakest = around.copy(), np.full((n, n), np.nan)
        answer = walk_of(judge).separate(SetLevel(size, around, left, weakest), range(n), lambda _: True)
        short, low = around[places], np.full(len(lists.partners), np.nan)
        level = SetLevel(size, around[places], short, low, lists)
        found = walk_of(judge).separate(level, range(n), lambda _: True)
        if answer is None or found is None:
            assert found is answer
            continue
        assert found.sets.tolist() == answer.sets.tolist()
        assert found.log_support.tolist() == answer.log_support.tolist()
        assert (found.asked, found.finished) == (answer.asked, answer.finished)
        assert (short == left[places]).all()
        assert np.array_equal(low, weakest[places], equal_nan=True)
        apart = [y for y in range(1, n) if not around[0, y]]
        neighbors = PairLists(*Candidates(n, np.flatnonzero(np.triu(around, 1))).lists())
        counted = [walk_of(judge).count_separating(0, apart, one, 2, lambda _: True) for one in (around, neighbors)]
        if counted[0] is None or counted[1] is None:
            assert counted[0] is counted[1]
        else:
            assert counted[0].counts.tolist() == counted[1].counts.tolist()
            assert list(counted[0].asked) == list(counted[1].asked)


@pytest.mark.parametrize(
    ("starts", "partners", "words"),
    [
        ([0, 1, 2], [1, 0, 0], "they end elsewhere"),
        ([0, 1], [1], "there is not one list for each variable"),
        ([0, 2, 1, 2], [1, 0], "one ends before it starts"),
        ([0, 1, 1, 1], [1], "one is listed from one end only"),
        ([0, 2, 3, 4], [2, 1, 0, 0], "a partner is out of order"),
        ([0, 1, 2, 2], [3, 0], "a partner is out of order"),
        ([0, 1, 1, 1], [0], "a partner is out of order"),
    ],
)
def test_lists_that_the_core_cannot_follow_are_refused(starts: list[int], partners: list[int], words: str) -> None:
    walk = Counts(Dataset.from_codes([[0, 1], [1, 0], [0, 0]])).subsets(kernels.chi2(), -3.0)
    lists = PairLists(np.array(starts, dtype=np.int64), np.array(partners, dtype=np.int32))
    mask, low = np.ones(len(partners), dtype=bool), np.zeros(len(partners))
    with pytest.raises(InputError, match=words if len(starts) == 4 else "lists must hold the partners"):
        walk.separate(SetLevel(1, mask, mask.copy(), low, lists), range(3), lambda _: True)
    with pytest.raises(InputError, match="left must have an entry for each partner in lists; got 9"):
        walk.separate(SetLevel(1, mask, np.ones(9, dtype=bool), low, lists), range(3), lambda _: True)


@pytest.mark.parametrize("path", PATHS)
def test_tables_of_every_size_and_shape(path: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MNLEARN_CORE", path)
    rng = np.random.default_rng(5)
    data = reference.random_dataset(rng, n_rows=20_011, cards=[2, 2, 2, 2, 2, 2, 3, 4, 9], dependence=0.5)
    for judge in (ChiSquare(Counts(data), alpha=1e-9), GTest(Counts(data), alpha=1e-9), BayesianTest(Counts(data))):
        n, around = 9, ~np.eye(9, dtype=bool)
        for size in (1, 2, 6):
            left, weakest = around.copy(), np.full((9, 9), np.nan)
            answer = walk_of(judge).separate(SetLevel(size, around, left, weakest), range(n), lambda _: True)
            if answer is None:
                assert needs_scipy(judge, size)
                continue
            found, expected, asked = level_by_scans(judge, size, around)
            assert (answer.asked, answer.sets[:, :2].tolist()) == (asked, [list(pair) for pair in found])
            assert np.array_equal(weakest, expected, equal_nan=True)


@pytest.mark.parametrize(("dof", "native"), [("adjusted", True), ("observed", True), ("all", False)])
def test_few_rows_bound_the_degrees_of_freedom_of_large_sets(dof: Any, native: bool) -> None:
    rng = np.random.default_rng(6)
    data = reference.random_dataset(rng, n_rows=300, cards=[5] * 8, dependence=0.5)
    judge, around = ChiSquare(Counts(data), alpha=1e-3, dof=dof), ~np.eye(8, dtype=bool)
    for size in (5, 6):  # 5^7 cells and more
        left, weakest = around.copy(), np.full((8, 8), np.nan)
        answer = walk_of(judge).separate(SetLevel(size, around, left, weakest), range(8), lambda _: True)
        assert (answer is not None) == native
        if answer is not None:
            found, expected, asked = level_by_scans(judge, size, around)
            assert (answer.asked, answer.sets[:, :2].tolist()) == (asked, [list(pair) for pair in found])
            assert np.array_equal(weakest, expected, equal_nan=True)


@pytest.mark.parametrize("output", ["skeleton", "moral"])
@pytest.mark.parametrize("name", JUDGES)
@given(seed=st.integers(0, 2**32), limit=st.none() | st.integers(0, 3))
@settings(max_examples=15, deadline=None)
def test_pc_is_the_same_either_way(name: str, output: Any, seed: int, limit: int | None) -> None:
    data = data_of(seed)
    learner = PC(output=output, max_conditioning=limit)
    expected = account(replace(learner, ahead=1).learn(Audited(JUDGES[name](Counts(data)))))
    for n_jobs in (1, 2, 8):
        assert account(learner.learn(JUDGES[name](Counts(data, n_jobs=n_jobs)))) == expected


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize("name", JUDGES)
@given(seed=st.integers(0, 2**32), limit=st.none() | st.integers(0, 3))
@settings(max_examples=15, deadline=None)
def test_hhc_mn_is_the_same_either_way(name: str, path: str, seed: int, limit: int | None) -> None:
    data = data_of(seed)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("MNLEARN_CORE", path)
        judge = JUDGES[name](Counts(data))
    learner = HHCMN(combine="or", max_conditioning=limit)
    expected, result = replace(learner, ahead=1).learn(judge), learner.learn(judge)
    assert (result.graph, result.support) == (expected.graph, expected.support)
    assert without_seconds(result) == without_seconds(expected)


def test_rows_of_which_few_are_distinct_are_counted_as_such() -> None:
    rng = np.random.default_rng(4)
    hidden = rng.integers(0, 2, 40_000)
    columns = [np.where(rng.random(40_000) < 0.7, hidden, rng.integers(0, 2, 40_000)) for _ in range(6)]
    judge = BayesianTest(Counts(Dataset.from_codes(columns, cards=[2] * 6)))
    assert account(PC().learn(judge)) == account(PC(ahead=1).learn(judge))
    assert HHCMN().learn(judge).support == HHCMN(ahead=1).learn(judge).support


def test_hiton_finds_who_is_held_and_how_weakly() -> None:
    rng = np.random.default_rng(3)
    first = rng.integers(0, 2, 3000)
    second = np.where(rng.random(3000) < 0.8, first, 1 - first)
    third = np.where(rng.random(3000) < 0.8, second, 1 - second)
    judge = ChiSquare(Counts(Dataset.from_codes([first, second, third])))
    found = walk_of(judge).explain_away(0, [1, 2], None, lambda _: True)
    assert found is not None
    assert list(found.members) == [1]
    assert np.isnan(found.weakest).all()  # 2 was explained away by 1 before it could be tried on it
    assert list(found.asked) == [0, 1]
    both = walk_of(judge).explain_away(1, [0, 2], None, lambda _: True)
    assert both is not None
    assert dict(zip(both.members, both.weakest, strict=True)) == {
        y: judge(1, y, frozenset({2 - y})).log_support for y in (0, 2)
    }


def test_what_the_core_has_no_tails_for_is_asked_one_scan_at_a_time() -> None:
    data = reference.random_dataset(np.random.default_rng(1), n_rows=400, cards=[60, 60, 60, 2], dependence=0.9)
    judge = ChiSquare(Counts(data), alpha=0.9, dof="all")
    around = ~np.eye(4, dtype=bool)
    assert (
        walk_of(judge).separate(SetLevel(1, around, around.copy(), np.full((4, 4), np.nan)), range(4), lambda _: True)
        is None
    )
    by_scans, one_by_one = PC().learn(judge), PC(ahead=1).learn(judge)
    assert (by_scans.graph, by_scans.support) == (one_by_one.graph, one_by_one.support)
    assert by_scans.cost["asked"] == one_by_one.cost["asked"] < by_scans.cost["scanned"]
    assert walk_of(judge).explain_away(0, [1, 2], None, lambda _: True) is None
    assert HHCMN().learn(judge).support == HHCMN(ahead=1).learn(judge).support


def test_a_question_that_is_left_open_leaves_the_whole_walk_open() -> None:
    """Also where those after it can be answered: of 20 states each, three have tails in the core, four not."""
    rng = np.random.default_rng(1)

    def noisy(column: Any) -> Any:
        return np.where(rng.random(4000) < 0.8, column, 1 - column)

    first = rng.integers(0, 2, 4000)
    second = noisy(first)
    columns = [first, second, noisy(first), noisy(first), noisy(second)]
    judge = GTest(Counts(Dataset.from_codes(columns, cards=[20] * 5)), dof="observed")
    assert walk_of(judge).explain_away(0, [1, 2, 3, 4], None, lambda _: True) is None  # 3 is open; 4 goes, given 1
    assert HHCMN().learn(judge).support == HHCMN(ahead=1).learn(judge).support


# ---- before its end


def dense_data() -> Dataset:
    rng = np.random.default_rng(2)
    hidden = rng.integers(0, 2, 4000)
    columns = [np.where(rng.random(4000) < 0.8, hidden, rng.integers(0, 2, 4000)) for _ in range(14)]
    return Dataset.from_codes(columns, cards=[2] * 14)


def dense() -> ChiSquare:
    return ChiSquare(Counts(dense_data(), n_jobs=1))


def test_a_walk_asks_whether_to_go_on_and_stops_if_not() -> None:
    heard: list[int] = []
    around = ~np.eye(14, dtype=bool)
    left, weakest = around.copy(), np.full((14, 14), np.nan)

    def enough(x: int) -> bool:
        heard.append(x)
        return False

    found = walk_of(dense()).separate(SetLevel(3, around, left, weakest), range(14), enough)
    assert found is not None
    assert (heard, found.finished) == ([0], False)
    assert 0 < found.asked < 14


def test_threads_stop_with_the_one_that_asks_and_pass_on_what_it_met() -> None:
    around = ~np.eye(14, dtype=bool)
    walk = Counts(dense_data(), n_jobs=4).subsets(kernels.chi2(), -3.0)
    level = SetLevel(3, around, around.copy(), np.full((14, 14), np.nan))
    found = walk.separate(level, range(14), lambda _: False)
    assert found is not None
    assert not found.finished
    assert found.asked < 14 * 13 * 286

    def interrupted(x: int) -> bool:
        raise KeyboardInterrupt(f"at {x}")

    with pytest.raises(KeyboardInterrupt, match="at "):
        walk.separate(level, range(14), interrupted)


@pytest.mark.parametrize("after", [1, 2, 3, 4])
def test_a_stopped_search_knows_what_separated_whom(after: int) -> None:
    result = PC().learn(dense(), Stopping(after))
    assert not result.converged
    assert len(result.separators) == 14 * 13 // 2 - result.graph.n_edges
    assert set(result.support) <= set(result.graph.edges)


@pytest.mark.parametrize("after", [1, 2, 5])
def test_a_stopped_hiton_keeps_the_variables_examined_by_then(after: int) -> None:
    whole, stopped = HHCMN(combine="or").learn(dense()), HHCMN(combine="or").learn(dense(), Stopping(after))
    assert whole.converged
    assert not stopped.converged
    assert all(min(edge) < after for edge in stopped.graph.edges)
    assert stopped.cost["asked"] < whole.cost["asked"]


def test_an_interrupt_gets_through() -> None:
    class Interrupting(Stopping):
        def cancelled(self) -> bool:
            if self.left <= 0:
                raise KeyboardInterrupt
            return False

    with pytest.raises(KeyboardInterrupt):
        PC().learn(dense(), Interrupting(3))
    with pytest.raises(KeyboardInterrupt):
        HHCMN().learn(dense(), Interrupting(3))


def test_candidates_that_are_none_are_refused() -> None:
    walk = Counts(Dataset.from_codes([[0, 1], [1, 0]])).subsets(kernels.chi2(), -3.0)
    wrong: list[tuple[Any, str]] = [
        ([0], "y must differ from x"),
        ([1, 1], "each variable once"),
        ([7], "index of a variable"),
        ([0.5], "ys must be a sequence of variable indices"),
        (None, "ys must be a sequence of variable indices"),
    ]
    for candidates, words in wrong:
        with pytest.raises(InputError, match=words):
            walk.explain_away(0, candidates, None, lambda _: True)


def test_matrices_of_another_size_are_refused() -> None:
    walk = Counts(Dataset.from_codes([[0, 1], [1, 0]])).subsets(kernels.chi2(), -3.0)
    small, large = np.zeros((2, 2), dtype=bool), np.zeros((3, 3), dtype=bool)
    for around, left, weakest in ((large, small, small), (small, large, small), (small, small, large)):
        with pytest.raises(InputError, match=r"must have a row and a column for each of 2 variables; got 3 by 3"):
            walk.separate(SetLevel(1, around, left, weakest.astype(np.float64)), range(2), lambda _: True)


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        (
            {"size": -1},
            r"size must be a whole number, at least 0; got -1\. It is the number of variables in each",
        ),
        ({"size": 2**40}, r"size must be a number of variables; got 1099511627776\."),
        ({"around": None}, r"around must be an array of bool; got a NoneType\. Use numpy\.array\(around"),
        ({"left": np.zeros((2, 2))}, r"left must be an array of bool; got one of float64\."),
        ({"left": np.zeros((2, 4), bool)[:, ::2]}, r"left must be C-contiguous and writeable; got a view\."),
    ],
)
def test_levels_of_another_kind_are_refused(changed: dict[str, Any], message: str) -> None:
    walk = Counts(Dataset.from_codes([[0, 1], [1, 0]])).subsets(kernels.chi2(), -3.0)
    level = SetLevel(1, np.ones((2, 2), bool), np.ones((2, 2), bool), np.zeros((2, 2)))
    with pytest.raises(InputError, match=message.replace("of bool;", "of bool_?;")):
        walk.separate(level._replace(**changed), range(2), lambda _: True)


@pytest.mark.parametrize("xs", [range(3), range(-1, 2), range(0, 2, 2), range(2, 0, -1), [0, 1], None])
def test_variables_that_are_no_range_of_them_are_refused(xs: Any) -> None:
    walk = Counts(Dataset.from_codes([[0, 1], [1, 0]])).subsets(kernels.chi2(), -3.0)
    level = SetLevel(1, np.ones((2, 2), bool), np.ones((2, 2), bool), np.zeros((2, 2)))
    with pytest.raises(InputError, match=r"xs must be a range within 0 to 2, in steps of 1; got .*\. Use range"):
        walk.separate(level, xs, lambda _: True)


@pytest.mark.parametrize("answer", [None, 1, "yes"])
def test_a_caller_that_says_neither_yes_nor_no_is_told_so(answer: Any) -> None:
    walk, around = walk_of(dense()), np.ones((14, 14), dtype=bool) ^ np.eye(14, dtype=bool)
    asked: dict[str, Callable[[], object]] = {
        "separate": lambda: walk.separate(
            SetLevel(1, around, around.copy(), np.zeros((14, 14))), range(14), lambda _: answer
        ),
        "explain_away": lambda: walk.explain_away(0, [1, 2, 3], None, lambda _: answer),
        "count_separating": lambda: walk.count_separating(0, [5], np.zeros((14, 14), bool), None, lambda _: answer),
    }
    for ask in asked.values():
        with pytest.raises(InputError, match=r"go_on must return true or false; got .*\. Return True for as long as"):
            ask()


def test_a_caller_may_answer_with_a_comparison_of_numpys_numbers() -> None:
    def below_five(x: int) -> Any:
        return np.int64(x) < 5

    found = walk_of(dense()).explain_away(0, [1, 2, 3], None, below_five)
    assert found is not None
    assert found.finished


def test_a_fault_of_the_caller_is_not_taken_for_ours() -> None:
    def broken(_: int) -> bool:
        raise TypeError("mine")

    with pytest.raises(TypeError, match="mine"):
        walk_of(dense()).explain_away(0, [1, 2, 3], None, broken)


@pytest.mark.parametrize("level", [None, "a", float("nan"), True])
def test_a_level_that_nothing_can_be_compared_with_is_refused(level: Any) -> None:
    counts = Counts(Dataset.from_codes([[0, 1] * 40, [1, 0] * 40]))
    with pytest.raises(InputError, match=r"level must be a number; got .*\. Use log\(alpha\)"):
        counts.subsets(kernels.chi2(), level)
    if level is not True:
        with pytest.raises(InputError, match=r"level must be a number; got"):
            counts.grow(kernels.chi2(), level, 0, [1])


# ---- votes


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize("name", JUDGES)
@given(seed=st.integers(0, 2**32), limit=st.none() | st.integers(0, 3))
@settings(max_examples=10, deadline=None)
def test_votes_are_those_of_every_set(name: str, path: str, seed: int, limit: int | None) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("MNLEARN_CORE", path)
        judge = JUDGES[name](Counts(data_of(seed), n_jobs=1))
    n = judge.n_variables
    around = np.random.default_rng(seed).random((n, n)) < 0.5
    around = np.triu(around, 1) | np.triu(around, 1).T
    for x in range(n):
        members = np.flatnonzero(around[x]).tolist()
        ys = [y for y in range(n) if y not in {x, *members}]
        found = walk_of(judge).count_separating(x, ys, around, limit, lambda _: True)
        if found is None:
            assert needs_scipy(judge, len(members))
            continue
        assert found.finished
        expected, asked = np.zeros((len(ys), 1 + len(members)), dtype=int), [0] * len(found.asked)
        for size in range(min(len(members), n if limit is None else limit) + 1):
            for z in combinations(members, size):
                for k, y in enumerate(ys):
                    if y > x or not around[y, list(z)].all():
                        asked[size] += 1
                        if judge(x, y, frozenset(z)).independent:
                            expected[k] += [1, *(m in z for m in members)]
        assert found.counts.tolist() == expected.tolist()
        assert list(found.asked) == asked


def test_votes_stop_when_asked_to() -> None:
    around = np.ones((14, 14), dtype=bool) ^ np.eye(14, dtype=bool)
    around[0, 13] = around[13, 0] = False
    found = walk_of(dense()).count_separating(0, [13], around, None, lambda _: False)
    assert found is not None
    assert not found.finished
    assert sum(found.asked) == 1
    with pytest.raises(InputError, match="z must not contain y"):
        walk_of(dense()).count_separating(0, [5], around, None, lambda _: True)
