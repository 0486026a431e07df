"""Hub prior: prices of pairs by the rates of their ends, where hubs explain the evidence."""

from __future__ import annotations

from math import exp

import numpy as np
import pytest
from numpy.typing import NDArray

from mnlearn.algorithms.sep import SeparatorEvidence
from mnlearn.algorithms.sep.hubs import SHAPES, JudgedPairs, _rates, _split, hub_prices
from mnlearn.algorithms.sep.phase import price
from mnlearn.data.dataset import Dataset
from mnlearn.graphs import Graph, cycle, grid, hubs, star
from mnlearn.numbers import logistic
from mnlearn.protocols import FloatArray
from mnlearn.scores import HybridEvidence
from mnlearn.simulate import sample, uniform_factors
from mnlearn.statistics import Counts

from references import separator as slow


def judged(evidence: FloatArray, k: float, **settings: NDArray[np.bool_]) -> JudgedPairs:
    """Pairs of a symmetric matrix of evidence, with probabilities at an equal price."""
    n = len(evidence)
    ends = np.stack(np.triu_indices(n, 1))
    e = evidence[ends[0], ends[1]]
    fixed = settings.get("fixed", np.zeros(len(e), dtype=np.bool_))
    return JudgedPairs(n, ends, e, logistic(e - k), fixed)


def of_graph(graph: Graph, present: float, absent: float) -> FloatArray:
    found = np.full((graph.n_variables,) * 2, absent)
    for u, v in graph.edges:
        found[u, v] = found[v, u] = present
    return found


def doubtful_star(n: int) -> FloatArray:
    """Eight sure leaves of 0, eight with evidence 2."""
    evidence = of_graph(Graph(n, [(0, v) for v in range(1, 9)]), 20.0, -3.0)
    evidence[0, 9:17] = evidence[9:17, 0] = 2.0
    return evidence


@pytest.mark.parametrize("graph", [cycle(30), grid(5, 6)])
def test_regular_graphs_keep_the_equal_price(graph: Graph) -> None:
    n, n_pairs = graph.n_variables, graph.n_variables * (graph.n_variables - 1) // 2
    k = price(graph.n_edges, n_pairs)
    pairs = judged(of_graph(graph, 15.0, -3.0), k)
    assert hub_prices(pairs, graph.n_edges, k) is None
    rates = _rates(_split(pairs, k), SHAPES[-1])
    expected = pairs.probability.sum() / n / (n - 1)
    assert rates.alone == pytest.approx(np.full(n, expected), rel=0.02)


def test_the_last_shape_scores_as_equal_chances() -> None:
    evidence = doubtful_star(40)
    pairs = judged(evidence, 4.0)
    split = _split(pairs, 4.0)
    expected = pairs.probability.sum() / len(pairs.evidence)
    equal = np.log(1 - expected + expected * np.exp(pairs.evidence)).sum()
    assert split.score(_rates(split, 1e6)) == pytest.approx(equal, abs=1e-3 * len(pairs.evidence))


def test_a_hub_gets_its_doubtful_leaves() -> None:
    evidence, k = doubtful_star(40), price(8, 780)
    prices = hub_prices(judged(evidence, k), 8, k)
    assert prices is not None
    u, v = np.triu_indices(40, 1)
    doubtful = evidence[u, v] == 2.0
    assert k > 2.0  # none of them with equal prices
    assert (prices[doubtful] < 2.0).all()
    assert (prices[u > 0] > k).all()


def test_a_graph_without_edges_is_left_alone() -> None:
    assert hub_prices(judged(np.full((5, 5), 100.0), 2.0), 0, 2.0) is None


def test_forbidden_pairs_give_no_credit_and_required_ones_do() -> None:
    evidence = of_graph(Graph(40, [(0, v) for v in range(1, 9)]), 20.0, -3.0)
    fixed = evidence[np.triu_indices(40, 1)] == 20.0
    pairs = judged(evidence, 4.4, fixed=fixed)
    for state in (0.0, 1.0):
        pairs.probability[fixed] = state
        rates = _rates(_split(pairs, 4.4), 1.0)
        assert (rates.alone[0] > 4 * rates.alone[20]) == (state == 1.0)


@pytest.mark.parametrize("seed", range(12))
def test_prices_are_those_of_matrices_of_all_pairs(seed: int) -> None:
    """Pairs far below the threshold count to first order only."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(20, 40))
    graph = hubs(3, n // 3 - 1)
    n = graph.n_variables
    evidence = np.where(of_graph(graph, 1.0, 0.0) > 0, rng.normal(4, 5, (n, n)), rng.normal(-4, 2, (n, n)))
    evidence = np.triu(evidence, 1) + np.triu(evidence, 1).T
    k = 3.5
    u, v = np.triu_indices(n, 1)
    pairs = judged(evidence, k)
    fixed = rng.random((n, n)) < 0.05
    fixed = np.triu(fixed, 1) | np.triu(fixed, 1).T
    p = np.where(fixed, evidence > k, 1 / (1 + np.exp(k - evidence)))
    np.fill_diagonal(p, 0.0)
    pairs = JudgedPairs(n, pairs.ends, pairs.evidence, p[u, v], fixed[u, v])
    n_edges = int((pairs.evidence > k).sum())
    found, expected = hub_prices(pairs, n_edges, k), slow.hub_prices(evidence, p, n_edges, fixed)
    assert (found is None) == (expected is None)
    if found is not None and expected is not None:
        assert found == pytest.approx(expected[u, v], abs=0.05)


# ---- in the search


def stars(n_rows: int, seed: int) -> tuple[Dataset, Graph]:
    graph = hubs(4, 15)
    return sample(uniform_factors(graph, seed=seed), n_rows, seed=seed + 1).dataset(), graph


def learn(data: Dataset, n_jobs: int = 1, **settings: object):  # type: ignore[no-untyped-def]
    return SeparatorEvidence(effort="standard", keep_pairs=True, **settings).learn(  # type: ignore[arg-type]
        HybridEvidence(Counts(data, n_jobs=n_jobs))
    )


def test_hubs_are_found_with_fewer_errors(monkeypatch: pytest.MonkeyPatch) -> None:
    with_hubs = equal = 0
    for seed in range(4):
        data, truth = stars(1000, seed)
        with_hubs += len(set(learn(data).graph.edges) ^ set(truth.edges))
        with monkeypatch.context() as patch:
            patch.setattr("mnlearn.algorithms.sep.phase.hub_prices", lambda *_: None)
            equal += len(set(learn(data).graph.edges) ^ set(truth.edges))
    assert with_hubs <= equal - 8


def test_odds_support_and_graph_agree() -> None:
    found = learn(stars(1000, 0)[0])
    n = found.graph.n_variables
    for u in range(n):
        for v in range(u + 1, n):
            assert ((u, v) in found.graph) == (found.log_odds[u, v] > 0)
    assert all(found.log_odds[edge] == value for edge, value in found.support.items())
    total = sum(1 / (1 + exp(-x)) for x in found.log_odds[np.triu_indices(n, 1)])
    assert found.cost["expected_edges"] == pytest.approx(total, abs=0.1)


def test_rows_columns_and_threads_change_nothing() -> None:
    data, _ = stars(1000, 0)
    expected = learn(data)
    threads = learn(data, n_jobs=3)
    assert (threads.graph, threads.support) == (expected.graph, expected.support)
    rng = np.random.default_rng(0)
    table, order = np.column_stack(data.columns), rng.permutation(64)
    moved = learn(Dataset.from_codes(table[rng.permutation(len(table))][:, order]))
    assert Graph(64, [(order[u], order[v]) for u, v in moved.graph.edges]) == expected.graph


def test_required_and_forbidden_pairs_keep_their_state() -> None:
    data, truth = stars(1000, 0)
    required, forbidden = [(1, 17), (2, 3)], list(truth.edges[:5])
    found = learn(data, required=required, forbidden=forbidden)
    assert set(required) <= set(found.graph.edges)
    assert not set(forbidden) & set(found.graph.edges)
    assert set(found.support) == set(found.graph.edges)


def test_it_works_with_a_screen(monkeypatch: pytest.MonkeyPatch) -> None:
    data, _ = stars(1000, 0)
    whole = learn(data)
    monkeypatch.setattr("mnlearn.algorithms.sep.blankets.MOST_FOR_ALL_PAIRS", 10)
    found = learn(data)
    assert found.cost["candidate_pairs"] < 64 * 63 // 2
    assert len(set(found.graph.edges) ^ set(whole.graph.edges)) <= 1


def test_a_star_is_symmetric_in_its_leaves() -> None:
    evidence = of_graph(star(20), 6.0, -3.0)
    prices = hub_prices(judged(evidence, 2.0), 19, 2.0)
    assert prices is not None
    u, _ = np.triu_indices(20, 1)
    assert np.ptp(prices[u == 0]) < 1e-9
    assert np.ptp(prices[u > 0]) < 1e-9
