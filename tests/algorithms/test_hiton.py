"""HHC-MN: HITON-PC around each variable, strongest candidates first, one graph from all of them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from itertools import combinations
from math import inf

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mnlearn.algorithms.base import edges_of_neighborhoods
from mnlearn.algorithms.hiton import HHCMN, Combine, Subsets
from mnlearn.data.dataset import Dataset
from mnlearn.errors import InputError
from mnlearn.graphs import Graph, cycle, grid, path, random_graph, random_tree, star
from mnlearn.independence import BayesianTest, ChiSquare, SeparationOracle
from mnlearn.protocols import IndependenceTest, Indices, VarSet, Verdict, Verdicts
from mnlearn.statistics import Counts
from monitors import Budget
from profiles import few

from references import counts as reference
from references.judges import Audited, GradedOracle, Whimsical, cached

RULES: list[Combine] = ["and", "or"]


def noisy(seed: int, n: int = 7, n_rows: int = 150) -> Dataset:
    """Few rows: the two ends of an edge often disagree."""
    rng = np.random.default_rng(seed)
    return reference.random_dataset(rng, n_rows=n_rows, cards=rng.integers(2, 4, n).tolist(), dependence=0.6)


def hiton_pc(test: Callable[[int, int, VarSet], Verdict], n: int, x: int, limit: int | None = None) -> set[int]:
    """Interleaved HITON-PC as written: after every inclusion all members are tried with all sets of the others."""

    def separated(y: int, others: list[int]) -> bool:
        sizes = range(len(others) + 1 if limit is None else min(limit, len(others)) + 1)
        return any(test(x, y, frozenset(z)).independent for size in sizes for z in combinations(others, size))

    marginal = {y: test(x, y, frozenset()) for y in range(n) if y != x}
    strength = {y: answer.log_support or 0.0 for y, answer in marginal.items() if not answer.independent}
    held: list[int] = []
    for newcomer in sorted(strength, key=lambda y: (strength[y], y)):
        held.append(newcomer)
        for y in (newcomer, *held[:-1]):
            if separated(y, [u for u in held if u != y]):
                held.remove(y)
            if newcomer not in held:
                break
    return set(held)


# ---- exact answers, exact structure


@pytest.mark.parametrize("rule", RULES)
@given(seed=st.integers(0, 2**32), n=st.integers(2, 9), degree=st.floats(0, 5))
@settings(max_examples=50)
def test_the_oracle_gives_the_true_graph(rule: Combine, seed: int, n: int, degree: float) -> None:
    truth = random_graph(n, min(degree, n - 1), seed)
    assert HHCMN(combine=rule).learn(SeparationOracle(truth)).graph == truth
    assert HHCMN(combine=rule).learn(GradedOracle(truth)).graph == truth


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("truth", [random_graph(9, 8, seed=0), Graph.complete(8), star(9), grid(3, 4)])
def test_dense_small_graphs(rule: Combine, truth: Graph) -> None:
    assert HHCMN(combine=rule).learn(SeparationOracle(truth)).graph == truth


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize(
    "truth",
    few([grid(6, 10), random_graph(60, 1, seed=0), random_graph(60, 2, seed=1), random_graph(60, 3, seed=2)], 1),
)
def test_larger_sparse_graphs_where_the_strongest_come_first(rule: Combine, truth: Graph) -> None:
    assert HHCMN(combine=rule).learn(GradedOracle(truth)).graph == truth


@pytest.mark.parametrize("truth", few([random_graph(60, 1, seed=0), random_tree(40, seed=1), path(60), cycle(30)], 2))
def test_larger_sparse_graphs_without_an_order(truth: Graph) -> None:
    assert HHCMN().learn(SeparationOracle(truth)).graph == truth


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("degree", few([8, 4], 1))
def test_dense_graphs_of_a_judge_with_strong_union(rule: Combine, degree: int) -> None:
    truth = random_graph(60 if degree == 4 else 30, degree, seed=degree)
    assert HHCMN(combine=rule).learn(SeparationOracle(truth)).graph == truth


@given(seed=st.integers(0, 2**32), n=st.integers(2, 8), degree=st.floats(0, 5), limit=st.none() | st.integers(0, 4))
@settings(max_examples=50, deadline=None)
def test_strong_union_changes_the_account_and_nothing_else(seed: int, n: int, degree: float, limit: int | None) -> None:
    truth = random_graph(n, min(degree, n - 1), seed)
    learner = HHCMN(max_conditioning=limit)
    one, every = (learner.learn(SeparationOracle(truth, monotone=promise)) for promise in (True, False))
    assert (one.graph, one.support) == (every.graph, every.support)
    assert one.cost["asked"] <= every.cost["asked"]
    traced = HHCMN(max_conditioning=limit, keep_trace=True).learn(SeparationOracle(truth))
    assert traced.cost["asked"] == every.cost["asked"]


def test_a_limit_below_the_degrees_leaves_edges_over_and_loses_none() -> None:
    truth = grid(3, 3)  # one variable has 4 neighbours, four have 3, four have 2
    for limit in range(5):
        both, either = (
            HHCMN(combine=rule, max_conditioning=limit).learn(SeparationOracle(truth)) for rule in ("and", "or")
        )
        assert both.cost["largest_z"] <= limit
        assert set(truth.edges) <= set(both.graph.edges) <= set(either.graph.edges)
        assert (both.graph == truth) >= (limit >= 3)  # of any two without an edge one has at most 3 neighbours
        assert (either.graph == truth) >= (limit >= 4)
    assert HHCMN(max_conditioning=0).learn(SeparationOracle(truth)).graph == Graph.complete(9)


# ---- the published algorithm


@pytest.mark.parametrize("limit", [None, 2])
@pytest.mark.parametrize("judge", ["data", "whim"])
@given(seed=st.integers(0, 2**32))
@settings(max_examples=30)
def test_it_does_what_is_written_and_asks_nothing_else(judge: str, limit: int | None, seed: int) -> None:
    test: IndependenceTest = ChiSquare(Counts(noisy(seed)), alpha=0.1) if judge == "data" else Whimsical(8, seed, 0.05)
    n, found, different = test.n_variables, dict[int, set[int]](), 0
    for x in range(n):
        audited = Audited(test)
        found[x] = hiton_pc(cached(audited), n, x, limit)
        different += audited.asked
    result = HHCMN(max_conditioning=limit).learn(test)
    assert result.graph == Graph(n, [(x, y) for x in range(n) for y in found[x] if x in found[y]])
    either = HHCMN(max_conditioning=limit, combine="or").learn(test)
    assert either.graph == Graph(n, [(x, y) for x in range(n) for y in found[x]])
    # A pair is asked about without conditioning once, not from either end.
    assert result.cost["asked"] == different - n * (n - 1) // 2


@pytest.mark.parametrize("judge", ["data", "whim"])
@given(seed=st.integers(0, 2**32))
@settings(max_examples=25)
def test_asking_ahead_changes_nothing_but_what_is_scanned(judge: str, seed: int) -> None:
    test: IndependenceTest = BayesianTest(Counts(noisy(seed))) if judge == "data" else Whimsical(7, seed, 0.1)
    strict = HHCMN(ahead=1, keep_trace=True)
    expected = strict.learn(test)
    assert expected.cost["scanned"] == expected.cost["asked"]
    for ahead in (2, 3, 1024):
        result = replace(strict, ahead=ahead).learn(test)
        assert (result.graph, result.support) == (expected.graph, expected.support)
        assert result.trace == expected.trace
        assert result.cost["asked"] == expected.cost["asked"] <= result.cost["scanned"]


def test_scans_are_shared_by_the_candidates() -> None:
    class Counted(GradedOracle):
        scans = 0

        def scan(self, x: int, ys: Indices, z: VarSet) -> Verdicts:
            self.scans += 1
            return super().scan(x, ys, z)

    judge = Counted(random_graph(40, 2, seed=3))
    result = HHCMN().learn(judge)
    assert judge.scans < result.cost["asked"] / 3
    assert result.cost["scanned"] < 2 * result.cost["asked"]


def test_the_strongest_come_first_and_ties_go_by_index() -> None:
    class Ranked(GradedOracle):
        def scan(self, x: int, ys: Indices, z: VarSet) -> Verdicts:  # noqa: ARG002 - no set explains anything
            strength = {1: -3.0, 2: -5.0, 3: -3.0, 4: -9.0}
            support = np.array([strength.get(x + int(y), -1.0) if 0 in (x, y) else 0.0 for y in ys])
            return Verdicts(support == 0.0, support)

    trace = HHCMN(keep_trace=True, max_conditioning=1).learn(Ranked(star(5))).trace
    assert trace is not None
    inclusions = [(q.y, *q.z) for q in trace if q.x == 0 and q.phase == "inclusion"]
    assert inclusions == [(2, 4), (1, 4), (1, 2), (3, 4), (3, 2), (3, 1)]
    eliminations = [(q.y, *q.z) for q in trace if q.x == 0 and q.phase == "elimination"]
    assert eliminations == [(4, 2), (4, 1), (2, 1), (4, 3), (2, 3), (1, 3)]
    assert {q.phase for q in trace} == {"initial", "inclusion", "elimination"}


def test_sets_come_by_size_and_then_in_order() -> None:
    assert list(Subsets(None)([3, 1, 2])) == [{3}, {1}, {2}, {3, 1}, {3, 2}, {1, 2}, {1, 2, 3}]
    assert list(Subsets(2)([3, 1], 9)) == [{9}, {3, 9}, {1, 9}]
    assert list(Subsets(0)([3, 1])) == list(Subsets(0)([3, 1], 9)) == list(Subsets(None)([])) == []


def test_the_largest_sets_stand_for_all() -> None:
    largest = Subsets(None, largest_only=True)
    assert list(largest([3, 1, 2])) == [{1, 2, 3}]
    assert list(largest([3, 1], 9)) == [{1, 3, 9}]
    assert list(largest([], 9)) == [{9}]
    assert list(largest([])) == []
    assert list(Subsets(2, largest_only=True)([3, 1, 2])) == [{3, 1}, {3, 2}, {1, 2}]
    assert list(Subsets(1, largest_only=True)([3, 1], 9)) == [{9}]
    assert list(Subsets(0, largest_only=True)([3, 1], 9)) == []


# ---- one graph from all of them


def test_both_ends_or_either() -> None:
    found = {0: {1: -4.0, 2: -8.0}, 1: {0: -2.0}, 2: {}, 3: {2: -1.0}}
    assert edges_of_neighborhoods(found, "and", max) == {(0, 1): -2.0}
    assert edges_of_neighborhoods(found, "or", max) == {(0, 1): -2.0, (0, 2): -8.0, (2, 3): -1.0}
    assert edges_of_neighborhoods({0: {1: -4.0, 2: -8.0}, 2: {}}, "and", max) == {(0, 1): -4.0}  # 1 was not examined


@pytest.mark.parametrize("rule", RULES)
@given(seed=st.integers(0, 2**32))
@settings(max_examples=25)
def test_an_edge_is_supported_by_its_weakest_evidence(rule: Combine, seed: int) -> None:
    result = HHCMN(combine=rule, keep_trace=True).learn(ChiSquare(Counts(noisy(seed)), alpha=0.1))
    assert result.trace is not None
    assert set(result.support) == set(result.graph.edges)
    for u, v in result.graph.edges:
        ends = []
        for x in (u, v):
            of_end = [q for q in result.trace if {q.x, q.y} == {u, v} and (q.x == x or q.phase == "initial")]
            if not any(q.independent for q in of_end):
                ends.append(max(-inf if q.log_support is None else q.log_support for q in of_end))
        assert result.support[u, v] == max(ends)
        assert rule == "or" or len(ends) == 2


# ---- before its end


@pytest.mark.parametrize("budget", [0, 10, 36, 40, 70])
def test_a_spent_budget_keeps_the_variables_examined_by_then(budget: int) -> None:
    judge = Audited(SeparationOracle(grid(3, 3)))
    result = HHCMN().learn(judge, Budget(judge, budget))
    assert not result.converged
    assert result.cost["asked"] <= judge.asked < budget + 9
    assert set(result.support) == set(result.graph.edges)
    assert set(result.graph.edges) <= set(grid(3, 3).edges)  # the oracle is never wrong about an examined variable


def test_a_monitor_with_room_for_every_question_cancels_nothing() -> None:
    judge, again = (Audited(SeparationOracle(grid(3, 3), monotone=False)) for _ in range(2))
    needed = int(HHCMN().learn(judge).cost["asked"])
    assert HHCMN(ahead=1).learn(again, Budget(again, needed + 1)).converged
    again.asked = 0
    assert not HHCMN(ahead=1).learn(again, Budget(again, needed - 1)).converged


@pytest.mark.parametrize("limit", [-1, 0.5, "all"])
def test_a_limit_that_is_not_a_size_is_refused(limit: object) -> None:
    with pytest.raises(InputError, match="max_conditioning must be a whole number"):
        HHCMN(max_conditioning=limit)  # type: ignore[arg-type]


def test_unknown_settings_are_refused() -> None:
    with pytest.raises(InputError, match=r"combine 'both' does not exist.*'and', 'or'"):
        HHCMN(combine="both")  # type: ignore[arg-type]
    with pytest.raises(InputError, match="ahead must be a whole number, at least 1"):
        HHCMN(ahead=0)
