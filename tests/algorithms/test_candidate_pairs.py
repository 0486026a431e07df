"""Candidates of separator evidence: what a screen lists, and that the search among them finds the same."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mnlearn.algorithms.base import Constraints
from mnlearn.algorithms.sep import Effort, SeparatorEvidence
from mnlearn.algorithms.sep import blankets as _candidate_pairs
from mnlearn.algorithms.sep import blankets as evidence_blankets
from mnlearn.algorithms.sep.blankets import batched, highest, listed_partners, partners_in_pairs, strongest_pairs
from mnlearn.data.dataset import Dataset
from mnlearn.errors import InputError
from mnlearn.graphs import Graph, barabasi_albert, grid, hubs, random_graph, random_tree
from mnlearn.graphs.candidates import Candidates, StrongestPairs, every_pair, keys_of, near_pairs
from mnlearn.protocols import SILENT, FloatArray, Indices, PairEvidence, Result, VarSet
from mnlearn.scores import HybridEvidence
from mnlearn.simulate import ising, sample, uniform_factors
from mnlearn.statistics import Counts


@pytest.fixture
def screened(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    """A screen for more than ten variables."""
    monkeypatch.setattr(_candidate_pairs, "MOST_FOR_ALL_PAIRS", 10)
    monkeypatch.setattr(_candidate_pairs, "PAIRS_TOGETHER", 300)
    return monkeypatch


def learn(data: Dataset, **settings: Any) -> Result:
    return SeparatorEvidence(**settings).learn(HybridEvidence(Counts(data, n_jobs=1)))


def bayesian(n: int, n_rows: int, seed: int) -> Dataset:
    """Variables of two or three states with up to three parents and random tables: dependences of any order."""
    rng = np.random.default_rng(seed)
    cards = rng.integers(2, 4, n)
    columns: list[Any] = []
    for x in range(n):
        parents = rng.choice(x, min(x, int(rng.integers(0, 4))), replace=False)
        table = rng.dirichlet([0.5] * cards[x], size=[cards[p] for p in parents]).reshape(-1, cards[x])
        rows = np.zeros(n_rows, dtype=np.int64)
        for p in parents:
            rows = rows * cards[p] + columns[p]
        columns.append((rng.random((n_rows, 1)) > table[rows].cumsum(axis=1)[:, :-1]).sum(axis=1))
    return Dataset.from_codes(columns, cards=cards.tolist())


NETWORKS = {
    "degree 3": random_graph(60, 3, seed=1),
    "grid": grid(7, 8),
    "hubs": hubs(4, 15),
    "tree": random_tree(60, seed=1),
    "scale-free": barabasi_albert(60, 2, seed=1),
}


# ---- the same graphs


@pytest.mark.parametrize("effort", ["fast", "standard", "thorough"])
@pytest.mark.parametrize("network", NETWORKS)
def test_a_screen_loses_nothing(effort: Effort, network: str, monkeypatch: pytest.MonkeyPatch) -> None:
    graph = NETWORKS[network]
    by_factors = network in ("hubs", "tree")
    data = sample(uniform_factors(graph, seed=2) if by_factors else ising(graph, 0.5, seed=2), 800, seed=3).dataset()
    whole = learn(data, effort=effort)
    monkeypatch.setattr(_candidate_pairs, "MOST_FOR_ALL_PAIRS", 10)
    monkeypatch.setattr(_candidate_pairs, "STRONGEST", 8)
    found = learn(data, effort=effort)
    assert found.graph == whole.graph
    if effort != "fast":
        assert found.cost["expected_edges"] == pytest.approx(whole.cost["expected_edges"], rel=0.1)
        moved = [found.support[edge] - whole.support[edge] for edge in whole.graph.edges]
        assert np.abs(moved).max() < 0.1  # by another number of expected edges


def test_a_screen_loses_little_of_random_tables(monkeypatch: pytest.MonkeyPatch) -> None:
    wrong = edges = 0
    for seed in range(4):
        data = bayesian(60, 1000, seed)
        whole = learn(data, effort="standard").graph
        with monkeypatch.context() as patch:
            patch.setattr(_candidate_pairs, "MOST_FOR_ALL_PAIRS", 10)
            found = learn(data, effort="standard").graph
        wrong, edges = wrong + len(set(found.edges) ^ set(whole.edges)), edges + whole.n_edges
    assert wrong <= 0.02 * edges


@given(seed=st.integers(0, 2**32))
@settings(max_examples=10)
def test_with_all_pairs_listed_nothing_changes(seed: int) -> None:
    data = bayesian(14, 150, seed)
    whole = learn(data, keep_pairs=True)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_candidate_pairs, "MOST_FOR_ALL_PAIRS", 10)
        patch.setattr(_candidate_pairs, "STRONGEST", 14)
        found = learn(data, keep_pairs=True)
    constant = [x for x in range(14) if len(np.unique(data.columns[x])) == 1]
    assert (found.graph, set(found.support)) == (whole.graph, set(whole.support))
    if not constant:
        assert (found.support, found.cost["flips"]) == (whole.support, whole.cost["flips"])
        assert np.array_equal(np.asarray(found.log_odds), np.asarray(whole.log_odds))


# ---- what must hold


def test_what_is_known_is_kept_among_candidates(screened: pytest.MonkeyPatch) -> None:
    data = sample(ising(grid(5, 5), 0.6, seed=2), 800, seed=3).dataset()
    required, forbidden = [(24, 0), (0, 1)], [(2, 3)]
    for effort in ("fast", "standard"):
        found = learn(data, effort=effort, required=required, forbidden=forbidden)
        assert {(0, 24), (0, 1)} <= set(found.graph.edges)
        assert (2, 3) not in found.graph
        assert set(found.support) == set(found.graph.edges)


def test_the_phase_can_start_anywhere_among_candidates(screened: pytest.MonkeyPatch) -> None:
    data = sample(ising(grid(5, 5), 0.6, seed=2), 2000, seed=3).dataset()
    whole = learn(data, effort="standard").graph
    for start in (Graph(25), grid(5, 5), random_graph(25, 4, seed=5)):
        assert learn(data, effort="standard", start=start).graph == whole


def test_constant_columns_are_no_candidates(screened: pytest.MonkeyPatch) -> None:
    screened.setattr(_candidate_pairs, "STRONGEST", 3)
    columns = [*sample(ising(grid(4, 4), 0.7, seed=2), 1000, seed=3).dataset().columns]
    data = Dataset.from_codes([*columns, *[np.zeros(1000, dtype=int)] * 8], cards=[2] * 24)
    listed, varies = strongest_pairs(HybridEvidence(Counts(data)), Constraints(24), SILENT)
    assert varies.tolist() == [True] * 16 + [False] * 8
    assert listed.v.max() < 16
    assert learn(data).graph == Graph(24, grid(4, 4).edges)


def test_pairs_that_are_not_listed_share_their_odds(screened: pytest.MonkeyPatch) -> None:
    screened.setattr(_candidate_pairs, "STRONGEST", 3)
    screened.setattr(_candidate_pairs, "RESCANNED", 2)
    data = sample(ising(random_tree(40, seed=1), 0.6, seed=2), 800, seed=3).dataset()
    found = learn(data, effort="standard", keep_pairs=True)
    odds = np.asarray(found.log_odds)
    assert np.array_equal(odds, odds.T)
    values, counts = np.unique(odds[np.triu_indices(40, 1)], return_counts=True)
    others, n_others = values[counts.argmax()], counts.max()
    assert 780 - n_others == found.cost["candidate_pairs"] < 500
    assert -12 < others < -4
    total = (1 / (1 + np.exp(-odds[np.triu_indices(40, 1)]))).sum()
    assert found.cost["expected_edges"] == pytest.approx(total, rel=1e-6)


class Impatient:
    """Cancels at the k-th time it is asked."""

    def __init__(self, patience: int) -> None:
        self.patience = patience

    def progress(self, done: float, total: float | None, message: str = "") -> None: ...

    def cancelled(self) -> bool:
        self.patience -= 1
        return self.patience < 0


@pytest.mark.parametrize("patience", [0, 1, 3, 6, 9, 12, 20])
def test_a_screen_can_be_stopped(patience: int, screened: pytest.MonkeyPatch) -> None:
    data = sample(ising(grid(5, 5), 0.6, seed=2), 300, seed=3).dataset()
    found = SeparatorEvidence().learn(HybridEvidence(Counts(data, n_jobs=1)), Impatient(patience))
    assert set(found.support) == set(found.graph.edges)
    assert all(np.isfinite(value) for value in found.support.values())


# ---- the parts


class Marginal:
    """A judge that knows the evidence of each pair given nothing."""

    def __init__(self, evidence: FloatArray) -> None:
        self.n_variables, self.evidence = len(evidence), evidence

    def pairs(
        self, xs: Indices, separators: Sequence[VarSet], yss: Sequence[Indices], *, fit_above: float
    ) -> list[PairEvidence]:
        assert (set(separators), fit_above) == ({frozenset()}, np.inf)
        rows = [self.evidence[x, np.asarray(ys)] for x, ys in zip(xs, yss, strict=True)]
        return [PairEvidence(row, np.zeros(len(row), dtype=np.bool_)) for row in rows]


@given(seed=st.integers(0, 2**32), n=st.integers(2, 40), k=st.integers(1, 6), ties=st.booleans())
@settings(max_examples=60)
def test_the_strongest_of_each_variable_are_listed(seed: int, n: int, k: int, ties: bool) -> None:
    rng = np.random.default_rng(seed)
    evidence = rng.normal(-2, 3, (n, n))
    evidence = np.triu(np.round(evidence) - 0.5 if ties else evidence, 1)
    evidence += evidence.T
    forbidden = [(0, n - 1)] if n > 2 else []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_candidate_pairs, "STRONGEST", k)
        patch.setattr(_candidate_pairs, "MOST_FOR_ALL_PAIRS", 0)
        patch.setattr(_candidate_pairs, "PAIRS_TOGETHER", 50)
        found, varies = strongest_pairs(Marginal(evidence), Constraints(n, (), forbidden), SILENT)  # type: ignore[arg-type]
    listed = set()
    for x in range(n):
        others = sorted((y for y in range(n) if y != x), key=lambda y: (-evidence[x, y], min(x, y), max(x, y)))
        listed |= {(min(x, y), max(x, y)) for y in others[:k]}
    assert set(zip(found.u.tolist(), found.v.tolist(), strict=True)) == listed - set(forbidden)
    rest = [evidence[pair] for pair in combinations(range(n), 2) if pair not in listed]
    against = np.exp([value for value in rest if value < 0])
    assert found.mean_odds_of_others == pytest.approx(against.mean() if len(against) else 0.0)
    assert varies.all()


@given(seed=st.integers(0, 2**32), n=st.integers(2, 15), degree=st.floats(0, 5))
def test_near_pairs_have_a_common_neighbour(seed: int, n: int, degree: float) -> None:
    graph = random_graph(n, min(degree, n - 1), seed)
    listed = Candidates(n, np.empty(0, dtype=np.int64)).with_graph(graph)
    near = {
        (u, v)
        for u, v in combinations(range(n), 2)
        if (u, v) in graph or graph.neighbors(u) & graph.neighbors(v)
    }  # fmt: skip
    assert list(zip(listed.u.tolist(), listed.v.tolist(), strict=True)) == sorted(near)
    assert listed.with_graph(graph) is listed
    assert listed.n_others == n * (n - 1) // 2 - len(near)
    assert every_pair(n).with_graph(graph).n_others == 0
    assert listed.places(sorted(near)).tolist() == list(range(len(near)))


def test_the_neighbours_of_a_large_hub_are_not_near() -> None:
    hub = Graph(80, [(0, y) for y in range(1, 70)] + [(75, y) for y in (70, 71)])
    assert np.array_equal(
        keys_of(80, near_pairs(hub)), np.sort([*range(1, 70), 70 * 80 + 71, 70 * 80 + 75, 71 * 80 + 75])
    )


def test_the_highest_values() -> None:
    values = np.array([1.0, 3.0, 2.0, 3.0, 2.0, 2.0])
    assert highest(values, 3).tolist() == [1, 2, 3]
    assert highest(values, 9).tolist() == list(range(6))


def test_fewer_partners_are_tried_in_pairs_as_variables_grow() -> None:
    assert [partners_in_pairs(n) for n in (2, 200, 201, 800, 10**4, 10**6)] == [2, 200, 199, 100, 28, 20]


def test_shorter_lists_as_variables_grow() -> None:
    """At most about as many pairs as of 1,000 variables, until the lists are as short as they get."""
    assert [listed_partners(n) for n in (1001, 5000, 10_000, 25_000, 10**6)] == [499, 100, 50, 20, 20]


def test_rows_of_another_length_are_refused() -> None:
    with pytest.raises(InputError, match="row must have a number for each variable after x; got 2 for x=0 of 4"):
        StrongestPairs(4, 1).add(0, np.zeros(2))
    with pytest.raises(InputError, match="k must be at least 1"):
        StrongestPairs(4, 0)


def test_a_parity_is_found_among_the_strongest(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(evidence_blankets, "ALL_IN_PAIRS", 5)
    monkeypatch.setattr(evidence_blankets, "LEAST_IN_PAIRS", 4)
    rng = np.random.default_rng(2)
    a, b = rng.random((2, 800)) < 0.6  # biased, or no single one is associated with the parity at all
    others = rng.random((7, 800)) < 0.5
    data = Dataset.from_codes([a, b, a ^ b ^ (rng.random(800) < 0.05), *others])
    assert learn(data).graph == Graph(10, [(0, 1), (0, 2), (1, 2)])


def test_partners_are_the_variables_listed_with_each() -> None:
    listed = Candidates(5, keys_of(5, np.array([[3, 1], [0, 3], [1, 2]])))
    assert [row.tolist() for row in listed.partners()] == [[3], [2, 3], [1], [0, 1], []]
    assert [row.tolist() for row in every_pair(3).partners()] == [[1, 2], [0, 2], [0, 1]]


def test_judges_without_leaders_have_them_by_estimates_and_fits() -> None:
    data = sample(ising(grid(4, 4), 0.6, seed=2), 500, seed=3).dataset()

    class Plain:
        """A judge that only estimates and fits."""

        def __init__(self, judge: HybridEvidence) -> None:
            self.judge = judge

        def __getattr__(self, name: str) -> Any:
            if name == "leaders":
                raise AttributeError(name)
            return getattr(self.judge, name)

    judge = Plain(HybridEvidence(Counts(data)))
    xs, blankets = [0, 5, 5], [frozenset[int](), frozenset({1}), frozenset({1, 4, 6, 9})]
    yss = [[y for y in range(16) if y != x and y not in z] for x, z in zip(xs, blankets, strict=True)]
    above = np.array([judge.local(x, z) + 3.0 for x, z in zip(xs, blankets, strict=True)])
    rows = batched(judge).leaders(xs, blankets, yss, above)
    for x, z, ys, bound, row in zip(xs, blankets, yss, above, rows, strict=True):
        estimates, fits = judge.estimates([x], [z], [ys])[0], judge.additions([x], [z], [ys])[0]
        assert np.array_equal(row.log_factor, np.where(row.exact, fits, estimates))
        best = row.log_factor.argmax()
        assert row.exact[best] == (row.log_factor[best] > bound)
    assert [row.exact.any() for row in rows] == [True, True, False]
    leaving = batched(judge).removals(xs[1:], blankets[1:], fit_above=above[1:])
    assert [values.tolist() for values in leaving] == [v.tolist() for v in judge.removals(xs[1:], blankets[1:])]
