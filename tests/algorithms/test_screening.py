"""Screens of judges with a screen of their own and without, and what searches add to them."""

from __future__ import annotations

from dataclasses import replace
from math import fsum
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mnlearn.algorithms import GSMN, GSMNStar
from mnlearn.algorithms.aracne import ARACNE, indirect, indirect_among, level_of_significance
from mnlearn.algorithms.base import Constraints
from mnlearn.algorithms.counted import AllMarginals, ListedMarginals
from mnlearn.algorithms.screening import Screening, grown_candidates, strongest_pairs
from mnlearn.data import Dataset
from mnlearn.errors import InputError, UnsuitableError
from mnlearn.graphs import Graph, cycle, random_graph
from mnlearn.graphs.candidates import Candidates, every_pair, keys_of
from mnlearn.independence import BayesianTest, ChiSquare, GTest, MutualInformation, SeparationOracle
from mnlearn.independence.information import CountedInformation
from mnlearn.protocols import SILENT, IndependenceTest, Indices, Monitor, VarSet, Verdict, Verdicts
from mnlearn.scores import MPL, IBScore, L1Logistic
from mnlearn.statistics import Counts

from references.judges import Audited

N = 9


def some_data(seed: int, n: int = N) -> Dataset:
    rng = np.random.default_rng(seed)
    codes = rng.integers(0, 2, (n, 80))
    for x in range(1, n):
        copied = rng.random(80) < 0.5
        codes[x, copied] = codes[rng.integers(0, x), copied]
    return Dataset.from_codes(list(codes), cards=[2] * n)


class Plain:
    """A test with the least that a test must have."""

    def __init__(self, test: IndependenceTest) -> None:
        self._test, self.n_variables = test, test.n_variables

    def __call__(self, x: int, y: int, z: VarSet) -> Verdict:
        return self._test(x, y, z)

    def scan(self, x: int, ys: Indices, z: VarSet) -> Verdicts:
        return self._test.scan(x, ys, z)


def brute_force(evidence: Any, k: int) -> set[tuple[int, int]]:
    """Return the pairs among the k strongest of either variable, of equals the first; evidence of 0 counts as none."""
    found = set()
    n = len(evidence)
    for x in range(n):
        order = sorted((y for y in range(n) if y != x and evidence[x][y] != 0), key=lambda y: (-evidence[x][y], y))
        found |= {(min(x, y), max(x, y)) for y in order[:k]}
    return found


def pairs_of(candidates: Candidates) -> set[tuple[int, int]]:
    return set(zip(candidates.u.tolist(), candidates.v.tolist(), strict=True))


@given(seed=st.integers(0, 2**32), k=st.integers(1, N + 2))
@settings(max_examples=15)
def test_any_test_is_screened_by_its_support(seed: int, k: int) -> None:
    judge = GTest(Counts(some_data(seed)))
    evidence = np.zeros((N, N))
    for x in range(N):
        others = [y for y in range(N) if y != x]
        evidence[x, others] = -judge.scan(x, others, frozenset()).log_support
    assert pairs_of(strongest_pairs(Plain(judge), k, SILENT)) == brute_force(evidence, k)


@pytest.mark.parametrize("make", [ChiSquare, GTest, BayesianTest, MutualInformation])
def test_tests_screen_by_their_statistics(make: Any) -> None:
    judge = make(Counts(some_data(1)))
    own, by_scans = judge.strongest(N), strongest_pairs(Plain(judge), N, SILENT)
    assert pairs_of(by_scans) <= pairs_of(own)


def test_a_test_without_a_screen_is_asked_about_every_pair() -> None:
    audited = Audited(GTest(Counts(some_data(2))))
    assert len(strongest_pairs(audited, 2, SILENT).keys)
    assert audited.asked == N * (N - 1) // 2


def test_the_oracle_lists_the_nearest() -> None:
    ring = SeparationOracle(cycle(8))
    assert pairs_of(ring.strongest(2)) == set(cycle(8).edges)
    assert len(ring.strongest(8).keys) == 28


def test_scores_and_information_are_screened() -> None:
    counts = Counts(some_data(3))
    score = MPL(counts)
    bare = score.on(Graph.empty(N))
    evidence = np.zeros((N, N))
    for x in range(N):
        for y in range(x):
            evidence[x, y] = evidence[y, x] = float(bare.gains([(y, x)])[0])

    class NoScreen:
        n_variables = N

        def on(self, graph: Graph) -> Any:
            return score.on(graph)

    assert pairs_of(strongest_pairs(NoScreen(), 2, SILENT)) == brute_force(evidence, 2)
    assert len(strongest_pairs(IBScore(BayesianTest(counts)), 2, SILENT).keys) >= N
    information = CountedInformation(counts)

    class Matrices:
        n_variables = N

        def information(self) -> Any:
            return information.information()

    assert pairs_of(strongest_pairs(Matrices(), 2, SILENT)) == brute_force(information.information(), 2)


def test_judges_of_neighbourhoods_cannot_be_screened() -> None:
    with pytest.raises(UnsuitableError, match="a screen needs a judge that weighs pairs of variables; a L1Logistic"):
        strongest_pairs(L1Logistic(some_data(4)), 2, SILENT)


# ---- growing


def test_a_search_finds_a_neighbour_of_a_neighbour() -> None:
    triangle = SeparationOracle(Graph(5, [(0, 1), (1, 2), (0, 2), (3, 4)]))
    start = Candidates(5, keys_of(5, np.array([(0, 1), (1, 2), (3, 4)])))
    learner = GSMNStar(candidates=Screening(listed=start))
    assert learner.learn(triangle).graph == triangle.graph
    assert replace(learner, candidates=start).learn(triangle).graph.n_edges == 3


class Rescanned(Plain):
    """A test that offers one pair to a scan given blankets."""

    def __init__(self, test: IndependenceTest, pair: tuple[int, int]) -> None:
        super().__init__(test)
        self.pair, self.blankets = pair, list[VarSet]()

    def strongest(self, k: int, monitor: Monitor = SILENT) -> Candidates:
        found = SeparationOracle.strongest(self._test, k, monitor)  # type: ignore[arg-type]
        return found.without([self.pair])

    def strongest_given(self, xs: Indices, blankets: Any, k: int, monitor: Monitor = SILENT) -> Candidates:  # noqa: ARG002
        self.blankets = list(blankets)
        return Candidates(self.n_variables, keys_of(self.n_variables, np.array([self.pair])))


@pytest.mark.parametrize(
    ("learner", "scans"),
    [(GSMN(), True), (GSMNStar(skip_marginal=False), True), (GSMNStar(), False)],
    ids=["gsmn", "gsmn* without line 22", "gsmn*"],
)
def test_blankets_are_scanned_where_a_marginal_trace_is_not_needed(learner: Any, scans: bool) -> None:
    truth = Graph(6, [(0, 1), (2, 3), (4, 5)])
    judge = Rescanned(SeparationOracle(truth), (4, 5))
    found = replace(learner, candidates=Screening(k=1)).learn(judge)
    assert ((4, 5) in found.graph) is scans
    assert (judge.blankets != []) is scans
    without = replace(learner, candidates=Screening(k=1, rescans=False)).learn(judge)
    assert (4, 5) not in without.graph


def test_growing_adds_nothing_to_all_pairs() -> None:
    everything = every_pair(4)
    assert grown_candidates(everything, cycle(4), Screening(), SeparationOracle(cycle(4)), SILENT) is everything


# ---- lists in place of matrices


@given(seed=st.integers(0, 2**32), n=st.integers(2, 7))
@settings(max_examples=30)
def test_listed_answers_are_those_of_the_matrix(seed: int, n: int) -> None:
    rng = np.random.default_rng(seed)
    support = np.round(-rng.random((n, n)) * 3, 1)
    support = np.triu(support, 1) + np.triu(support, 1).T
    independent = support > -1
    np.fill_diagonal(independent, False)
    u, v = np.triu_indices(n, 1)
    dense = AllMarginals(independent, support)
    listed = ListedMarginals(every_pair(n), independent[u, v], support[u, v])
    assert dense.strength_ranks().tolist() == listed.strength_ranks().tolist()
    assert dense.dependences().tolist() == listed.dependences().tolist()
    strength = dense.strength_ranks()
    for x in range(n):
        for method in ("partners", "dependent", "independent"):
            assert getattr(dense, method)(x).tolist() == getattr(listed, method)(x).tolist()
        order = [one.strongest_first(x, one.partners(x), strength).tolist() for one in (dense, listed)]
        assert order[0] == order[1]
        assert all(dense.between(x, y) == listed.between(x, y) for y in range(n) if y != x)


@pytest.mark.parametrize("n", [3, 40])
def test_totals_are_those_of_exact_sums_rounded_once(n: int) -> None:
    rng = np.random.default_rng(n)
    support = -rng.random((n, n)) * 10.0 ** rng.integers(-9, 9, (n, n))
    support = np.triu(support, 1) + np.triu(support, 1).T
    u, v = np.triu_indices(n, 1)
    for totals in (
        AllMarginals(support > -1, support)._totals(),
        ListedMarginals(every_pair(n), support[u, v] > -1, support[u, v])._totals(),
    ):
        assert totals.tolist() == [fsum(row) for row in support]
    support[0, 1] = support[1, 0] = -np.inf
    assert AllMarginals(support > -1, support)._totals()[:2].tolist() == [-np.inf, -np.inf]


def test_pairs_that_were_not_listed_have_no_answer() -> None:
    listed = ListedMarginals(Candidates(4, np.array([1, 6])), np.array([True, False]), np.array([-0.5, -9.0]))
    assert listed.between(0, 3) is None
    assert listed.between(2, 1) == -9.0
    assert listed.partners(3).tolist() == []
    assert listed.strength_ranks().tolist() == [2, 0, 1, 3]


# ---- ARACNE among candidates


@given(seed=st.integers(0, 2**32), n=st.integers(2, 9), tolerance=st.sampled_from([0.0, 0.15, 1.0]))
@settings(max_examples=40)
def test_triangles_among_lists_are_those_of_the_matrix(seed: int, n: int, tolerance: float) -> None:
    graph = random_graph(n, min(n - 1, 4), seed)
    rng = np.random.default_rng(seed)
    information = np.round(np.triu(rng.random((n, n)), 1), 1)
    information += information.T
    present = np.zeros((n, n), dtype=bool)
    for u, v in graph.edges:
        present[u, v] = present[v, u] = True
    pairs = Candidates(n, keys_of(n, np.array(graph.edges, dtype=np.int64).reshape(-1, 2)))
    expected = indirect(information, present, tolerance)[pairs.u, pairs.v]
    assert indirect_among(information[pairs.u, pairs.v], pairs, tolerance).tolist() == expected.tolist()


def test_pairs_that_are_not_listed_count_in_the_corrections() -> None:
    log_p = np.log([1e-6, 1e-4, 0.01])
    assert level_of_significance(log_p, 0.05, "bonferroni", 100) == pytest.approx(np.log(0.05 / 100), abs=1e-8)
    assert level_of_significance(log_p, 0.05, "fdr", 100) == pytest.approx(np.log(1e-4), abs=1e-8)
    counts = Counts(some_data(5))
    everything = ARACNE(correction="fdr").learn(CountedInformation(counts))
    some = ARACNE(correction="fdr", candidates=Screening(k=2)).learn(CountedInformation(counts))
    assert some.cost["significant"] <= everything.cost["significant"]


# ---- constraints with candidates


def test_constraints_keep_required_edges_and_drop_what_is_not_listed() -> None:
    listed = Candidates(4, keys_of(4, np.array([(0, 1), (1, 2)])))
    known = Constraints(4, required=[(2, 3)], forbidden=[(1, 2)], candidates=listed)
    assert known.free() == [(0, 1)]
    assert known.allows(1, 0)
    assert not known.allows(0, 2)
    assert known.apply(Graph(4, [(0, 1), (0, 2), (1, 2)])).edges == ((0, 1), (2, 3))
    assert [x.tolist() for x in known.partners() or []] == [[1], [0], [], []]
    assert known.mask().sum() == 2
    with pytest.raises(InputError, match="candidates must be pairs of the 5 variables"):
        Constraints(5, candidates=listed)
