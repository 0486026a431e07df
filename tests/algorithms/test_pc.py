"""PC finds skeleton, colliders and moral graph; whatever the order of the columns."""

from __future__ import annotations

from itertools import combinations

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mnlearn.algorithms.pc import PC, ColliderRule
from mnlearn.data.dataset import Dataset
from mnlearn.errors import InputError
from mnlearn.graphs import Graph, cycle, grid, path, random_graph, star
from mnlearn.graphs.pdag import Pdag, orient, unshielded
from mnlearn.independence import BayesianTest, ChiSquare, SeparationOracle
from mnlearn.protocols import IndependenceTest, Indices, VarSet, Verdict, Verdicts
from mnlearn.statistics import Counts
from monitors import Budget, Stopping
from profiles import few

from references import counts as reference
from references.dag import Dag, DSeparationOracle, random_dag
from references.judges import Audited, Whimsical, cached

RULES: list[ColliderRule] = ["majority", "conservative", "sepset"]


def noisy(seed: int, n: int = 7, n_rows: int = 120) -> Dataset:
    """Few rows: many answers are wrong, which is where an order could matter."""
    rng = np.random.default_rng(seed)
    return reference.random_dataset(rng, n_rows=n_rows, cards=rng.integers(2, 4, n).tolist(), dependence=0.6)


def pc_stable(test: IndependenceTest) -> tuple[Graph, dict[tuple[int, int], VarSet], int]:
    """PC-stable as written: pair by pair, set by set, one question at a time; and how many different ones."""
    judge = Audited(test)
    asked, n = cached(judge), test.n_variables
    adjacent = {x: set(range(n)) - {x} for x in range(n)}
    separators: dict[tuple[int, int], VarSet] = {}
    size = 0
    while any(len(adjacent[x]) > size for x in range(n)):
        frozen = {x: sorted(adjacent[x]) for x in range(n)}
        for x in range(n):
            for y in frozen[x]:
                for z in map(frozenset, combinations([v for v in frozen[x] if v != y], size)):
                    if y in adjacent[x] and asked(x, y, z).independent:
                        adjacent[x].remove(y)
                        adjacent[y].remove(x)
                        separators[min(x, y), max(x, y)] = z
        size += 1
    return Graph(n, [(x, y) for x in range(n) for y in adjacent[x]]), separators, judge.asked


# ---- the truth behind the other tests


@given(seed=st.integers(0, 2**32), n=st.integers(2, 7), degree=st.floats(0, 4))
@settings(max_examples=40)
def test_the_oracle_of_directed_graphs_agrees_with_networkx(seed: int, n: int, degree: float) -> None:
    dag = random_dag(n, degree, seed)
    graph = nx.DiGraph(list(dag.arrows))
    graph.add_nodes_from(range(n))
    oracle, rng = DSeparationOracle(dag), np.random.default_rng(seed)
    for _ in range(10):
        x, y, *others = rng.permutation(n).tolist()
        z = frozenset(others[: rng.integers(0, len(others) + 1)])
        assert oracle(x, y, z).independent == nx.is_d_separator(graph, {x}, {y}, set(z))


# ---- exact answers, exact structure


@pytest.mark.parametrize("rule", RULES)
@given(seed=st.integers(0, 2**32), n=st.integers(2, 9), degree=st.floats(0, 5))
@settings(max_examples=40)
def test_an_undirected_graph_is_its_own_moral_graph(rule: ColliderRule, seed: int, n: int, degree: float) -> None:
    truth = random_graph(n, min(degree, n - 1), seed)
    result = PC(output="moral", colliders=rule).learn(SeparationOracle(truth))
    assert result.graph == truth
    assert result.pdag is not None
    assert not result.pdag.directed
    assert all(truth.separates(*pair, z) for pair, z in result.separators.items())


@pytest.mark.parametrize("rule", RULES)
@given(seed=st.integers(0, 2**32), n=st.integers(2, 10), degree=st.floats(0, 4))
@settings(max_examples=40)
def test_a_directed_graph_gives_its_skeleton_colliders_and_moral_graph(
    rule: ColliderRule, seed: int, n: int, degree: float
) -> None:
    dag = random_dag(n, degree, seed)
    assert PC().learn(DSeparationOracle(dag)).graph == dag.skeleton()
    result = PC(output="moral", colliders=rule).learn(DSeparationOracle(dag))
    assert result.pdag is not None
    assert result.pdag.skeleton() == dag.skeleton()
    assert result.graph == result.pdag.moral() == dag.moral()
    found = result.pdag
    pointed = {(u, m, v) for u, m, v in unshielded(dag.skeleton()) if {u, v} <= found.parents(m)}
    assert pointed == dag.colliders()
    assert set(result.support) == set(result.graph.edges)


@given(seed=st.integers(0, 2**32), n=st.integers(3, 6), degree=st.floats(1, 3.5))
@settings(max_examples=40)
def test_all_directions_that_equivalent_graphs_share_are_found(seed: int, n: int, degree: float) -> None:
    dag = random_dag(n, degree, seed)
    pdag = PC(output="moral").learn(DSeparationOracle(dag)).pdag
    assert pdag is not None
    assert pdag.directed == dag.compelled()


@pytest.mark.parametrize(("n", "degree", "seed"), few([(60, 1, 0), (60, 1, 1), (60, 2, 2), (40, 2.5, 3)], 2))
def test_larger_sparse_graphs(n: int, degree: float, seed: int) -> None:
    truth = random_graph(n, degree, seed)
    assert PC().learn(SeparationOracle(truth)).graph == truth
    dag = random_dag(n, degree, seed)
    assert PC(output="moral").learn(DSeparationOracle(dag)).graph == dag.moral()


def test_an_isolated_pair_and_a_full_graph() -> None:
    assert PC().learn(SeparationOracle(Graph.empty(2))).graph == Graph.empty(2)
    assert PC(output="moral").learn(SeparationOracle(Graph.complete(6))).graph == Graph.complete(6)


# ---- a limit of the conditioning sets


def test_a_limit_is_kept_and_loses_no_edge() -> None:
    truth = grid(3, 3)
    for limit in range(5):
        result = PC(max_conditioning=limit).learn(SeparationOracle(truth))
        assert result.cost["largest_z"] <= limit
        assert set(truth.edges) <= set(result.graph.edges)
        # Of two variables that are no neighbours one has at most 3; two in the middle of opposite sides need all 3.
        assert (result.graph == truth) == (limit >= 3)


def test_a_limit_of_none_conditions_on_nothing() -> None:
    result = PC(max_conditioning=0).learn(SeparationOracle(path(4)))
    assert result.graph == Graph.complete(4)
    assert result.cost["asked"] == result.cost["initial_asked"] == 6


# ---- the order of the columns


@pytest.mark.parametrize("rule", ["majority", "conservative"])
@given(seed=st.integers(0, 2**32))
@settings(max_examples=40)
def test_the_order_of_the_columns_decides_nothing(rule: ColliderRule, seed: int) -> None:
    data = noisy(seed)
    order = np.random.default_rng(seed + 1).permutation(len(data.cards))
    moved = Dataset.from_codes([data.columns[v] for v in order], cards=[data.cards[v] for v in order])
    place = np.argsort(order).tolist()
    learner = PC(output="moral", colliders=rule)
    before = learner.learn(ChiSquare(Counts(data), alpha=0.1))
    after = learner.learn(ChiSquare(Counts(moved), alpha=0.1))
    assert before.pdag is not None
    assert after.pdag is not None
    assert before.graph.relabel(place) == after.graph
    assert before.pdag.skeleton().relabel(place) == after.pdag.skeleton()
    assert {(place[u], place[v]) for u, v in before.pdag.directed} == after.pdag.directed


# ---- what is asked, and what it says about an edge


@pytest.mark.parametrize("judge", ["data", "whim"])
@given(seed=st.integers(0, 2**32))
@settings(max_examples=30)
def test_the_account_is_that_of_one_question_at_a_time(judge: str, seed: int) -> None:
    test: IndependenceTest = ChiSquare(Counts(noisy(seed)), alpha=0.1) if judge == "data" else Whimsical(8, seed, 0.1)
    graph, separators, asked = pc_stable(test)
    for learner in (PC(), PC(ahead=1), PC(ahead=3)):
        result = learner.learn(test)
        assert result.graph == graph
        assert result.cost["asked"] == asked <= result.cost["scanned"]
        assert result.separators == separators
    assert PC(ahead=1).learn(test).cost["scanned"] == asked


def test_separators_are_a_mapping_of_the_pairs_without_an_edge() -> None:
    judge = ChiSquare(Counts(noisy(3)), alpha=0.1)
    _, expected, _ = pc_stable(judge)
    found = PC().learn(judge)
    by_nothing = sorted(pair for pair, z in expected.items() if not z)
    assert list(found.separators)[: len(by_nothing)] == by_nothing
    assert set(found.separators) == set(expected)
    assert len(found.separators) == len(expected) == 21 - found.graph.n_edges
    pair = next(iter(expected))
    assert found.separators[np.int64(pair[0]), np.int64(pair[1])] == expected[pair]  # type: ignore[index]
    for wrong in (found.graph.edges[0], pair[::-1], (-1, 2), (0, 99), (0,), "ab", None):
        assert wrong not in found.separators
    stopped = PC().learn(judge, Stopping(after=0))
    assert not stopped.converged
    assert (stopped.separators, stopped.support, stopped.graph) == ({}, {}, Graph.complete(7))


@pytest.mark.parametrize("degree", few([4, 8], 1))
def test_dense_graphs_of_a_judge_with_strong_union(degree: int) -> None:
    truth = random_graph(60, degree, seed=degree)
    assert PC().learn(SeparationOracle(truth)).graph == truth


@given(seed=st.integers(0, 2**32), n=st.integers(2, 8), degree=st.floats(0, 5), limit=st.none() | st.integers(0, 4))
@settings(max_examples=50, deadline=None)
def test_strong_union_changes_no_graph(seed: int, n: int, degree: float, limit: int | None) -> None:
    truth = random_graph(n, min(degree, n - 1), seed)
    one, every = (
        PC(max_conditioning=limit).learn(SeparationOracle(truth, monotone=promise)) for promise in (True, False)
    )
    assert (one.graph, one.support) == (every.graph, every.support)
    assert one.separators.keys() == every.separators.keys()
    for (x, y), z in one.separators.items():
        assert truth.separates(x, y, z)
        if limit is None:  # nothing of it can be left out
            assert not any(truth.separates(x, y, z - {v}) for v in z)
    moral = PC(output="moral", max_conditioning=limit).learn(SeparationOracle(truth))
    assert (
        moral.graph == PC(output="moral", max_conditioning=limit).learn(SeparationOracle(truth, monotone=False)).graph
    )


def test_no_question_is_asked_twice() -> None:
    trace = PC(keep_trace=True).learn(SeparationOracle(random_graph(10, 3, seed=4))).trace
    assert trace is not None
    questions = [(min(q.x, q.y), max(q.x, q.y), q.z) for q in trace]
    assert len(set(questions)) == len(questions)
    assert {q.phase for q in trace} >= {"initial", "level 1", "level 2"}
    assert all(q.phase == ("initial" if not q.z else f"level {len(q.z)}") for q in trace)


@given(seed=st.integers(0, 2**32))
@settings(max_examples=25)
def test_an_edge_is_supported_by_its_weakest_evidence(seed: int) -> None:
    result = PC(keep_trace=True, output="moral").learn(BayesianTest(Counts(noisy(seed))))
    assert result.trace is not None
    assert result.pdag is not None
    skeleton = result.pdag.skeleton()
    for u, v in result.graph.edges:
        answers = [q for q in result.trace if {q.x, q.y} == {u, v} and q.phase != "colliders"]
        if skeleton.has_edge(u, v):
            assert result.support[u, v] == max(q.log_support for q in answers if q.log_support is not None)
        else:  # married: what made them parents is the independence found last
            assert answers[-1].independent
            assert result.support[u, v] == answers[-1].log_support
            assert result.separators[u, v] == answers[-1].z


class _Reticent(Whimsical):
    """Gives no number for its answers given two variables or more."""

    def scan(self, x: int, ys: Indices, z: VarSet) -> Verdicts:
        answers = super().scan(x, ys, z)
        return answers if len(z) < 2 else Verdicts(answers.independent, np.full(len(ys), np.nan))


@pytest.mark.parametrize("seed", range(4))
def test_an_answer_without_a_number_takes_no_evidence_away(seed: int) -> None:
    result = PC(keep_trace=True).learn(_Reticent(7, seed, independent=0.05))
    assert result.trace is not None
    assert any(len(q.z) > 1 for q in result.trace)
    for u, v in result.graph.edges:
        given = [q.log_support for q in result.trace if {q.x, q.y} == {u, v} and len(q.z) < 2]
        assert result.support[u, v] == max(support for support in given if support is not None)


# ---- directions


def test_each_rule_of_meek() -> None:
    chain = orient(Graph(4, [(0, 2), (1, 2), (2, 3)]), [(0, 2, 1)])
    assert (2, 3) in chain.directed  # R1
    shortcut = orient(Graph(4, [(0, 1), (3, 1), (1, 2), (0, 2)]), [(0, 1, 3)])
    assert shortcut.directed == {(0, 1), (3, 1), (1, 2), (0, 2)}  # R1, then R2
    two_ways = orient(Graph(4, [(0, 1), (0, 2), (0, 3), (2, 1), (3, 1)]), [(2, 1, 3)])
    assert two_ways.directed == {(2, 1), (3, 1), (0, 1)}  # R3
    assert two_ways.undirected == {(0, 2), (0, 3)}


def test_nothing_is_concluded_from_a_doubtful_triple() -> None:
    skeleton = Graph(4, [(0, 2), (1, 2), (2, 3)])
    assert orient(skeleton, [(0, 2, 1)], {(0, 2, 3), (1, 2, 3)}).undirected == {(2, 3)}
    assert orient(skeleton, [(0, 2, 1)], {(0, 2, 3)}).directed == {(0, 2), (1, 2), (2, 3)}


def test_contradictions_are_kept_as_both_directions_and_marry_all_parents() -> None:
    pdag = orient(path(4), [(0, 1, 2), (1, 2, 3)])  # 0 → 1 ↔ 2 ← 3
    assert pdag.directed == {(0, 1), (2, 1), (1, 2), (3, 2)}
    assert pdag.moral() == Graph(4, [(0, 1), (1, 2), (2, 3), (0, 2), (1, 3)])
    assert pdag.marriages() == {(0, 2), (1, 3)}


def test_two_rules_against_each_other_leave_an_edge_as_it_is() -> None:
    # 0 → 2 ← 1 asks for 2 → 3; 4 → 3 ← 5 asks for 3 → 2.
    pdag = orient(Graph(6, [(0, 2), (1, 2), (2, 3), (4, 3), (5, 3)]), [(0, 2, 1), (4, 3, 5)])
    assert pdag.undirected == {(2, 3)}


def test_majority_and_unanimity_differ_where_the_sets_disagree() -> None:
    class Split:
        """0 − 1 − 2; 0 and 2 are independent given nothing, given {3}, given {1, 3}: 1 is in one set of three."""

        n_variables = 4

        def __init__(self) -> None:
            self._truth = SeparationOracle(Graph(4, [(0, 1), (1, 2), (2, 3), (0, 3), (1, 3)]))

        def __call__(self, x: int, y: int, z: VarSet) -> Verdict:
            return self.scan(x, [y], z).one(0)

        def scan(self, x: int, ys: Indices, z: VarSet) -> Verdicts:
            answers = self._truth.scan(x, ys, z)
            for k, y in enumerate(ys):
                if {x, int(y)} == {0, 2}:
                    answers.independent[k] = z in (frozenset(), frozenset({3}), frozenset({1, 3}))
            return answers

    majority = PC(output="moral").learn(Split()).pdag
    conservative = PC(output="moral", colliders="conservative").learn(Split()).pdag
    assert majority is not None
    assert conservative is not None
    assert {(0, 1), (2, 1)} <= majority.directed
    assert not conservative.directed


def test_a_partially_directed_graph_knows_its_parents() -> None:
    pdag = Pdag(3, frozenset({(0, 2), (1, 2)}), frozenset())
    assert pdag.parents(2) == {0, 1}
    assert pdag.parents(0) == frozenset()


def test_collider_rules_cost_what_they_ask() -> None:
    judge = SeparationOracle(cycle(6))
    plain, voted = PC(output="moral", colliders="sepset").learn(judge), PC(output="moral").learn(judge)
    assert plain.cost["asked"] == PC().learn(judge).cost["asked"] < voted.cost["asked"]


# ---- before its end


def test_a_spent_budget_leaves_the_edges_not_yet_dropped() -> None:
    truth = star(6)
    for budget in (0, 3, 15, 18, 30):
        judge = Audited(SeparationOracle(truth))
        result = PC(output="moral").learn(judge, Budget(judge, budget))
        assert not result.converged
        assert judge.asked < budget + 6
        assert result.cost["asked"] <= judge.asked
        assert set(truth.edges) <= set(result.graph.edges)
        assert result.pdag is None
        assert set(result.support) <= set(result.graph.edges)
    assert PC().learn(SeparationOracle(truth), Stopping(after=0)).support == {}


@pytest.mark.parametrize("limit", [-1, 1.5, "2"])
def test_a_limit_that_is_not_a_size_is_refused(limit: object) -> None:
    with pytest.raises(InputError, match="max_conditioning must be a whole number"):
        PC(max_conditioning=limit)  # type: ignore[arg-type]


def test_unknown_settings_are_refused() -> None:
    with pytest.raises(InputError, match=r"output 'dag' does not exist.*'skeleton', 'moral'"):
        PC(output="dag")  # type: ignore[arg-type]
    with pytest.raises(InputError, match=r"colliders 'vote' does not exist.*'majority'"):
        PC(colliders="vote")  # type: ignore[arg-type]


def test_the_directed_reference_lists_compelled_arrows() -> None:
    assert Dag(3, frozenset({(0, 1), (1, 2)})).compelled() == frozenset()
    assert Dag(3, frozenset({(0, 2), (1, 2)})).compelled() == {(0, 2), (1, 2)}
