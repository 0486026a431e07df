"""Joint moves: a variable joins both ends of an edge where neither edge alone is worth its price."""

from __future__ import annotations

from itertools import combinations
from math import log

import numpy as np
import pytest
from numpy.typing import NDArray

from mnlearn.algorithms.base import Cancelled, EvidenceAssociation
from mnlearn.algorithms.sep import SeparatorEvidence
from mnlearn.algorithms.sep import moves as joint_moves
from mnlearn.algorithms.sep.moves import JointMoves, OpenPairs, triangle_price
from mnlearn.algorithms.sep.phase import price
from mnlearn.data.dataset import Dataset
from mnlearn.graphs import Graph, cycle, grid
from mnlearn.graphs.candidates import every_pair
from mnlearn.protocols import SILENT
from mnlearn.scores import HybridEvidence
from mnlearn.statistics import Counts

from references import separator as slow


def with_parity(seed: int, order: tuple[int, ...] = (0, 1, 2, 3, 4, 5)) -> HybridEvidence:
    """1 follows 0, and 2 follows the parity of both: 2 is worth little to either alone. 3, 4, 5 are noise."""
    rng = np.random.default_rng(seed)
    columns: NDArray[np.int64] = rng.integers(0, 2, (6, 200))
    columns[1] = np.where(rng.random(200) < 0.7, columns[0], columns[1])
    columns[2] = np.where(rng.random(200) < 0.6, columns[0] ^ columns[1], columns[2])
    return HybridEvidence(Counts(Dataset.from_codes(list(columns[list(order)])), n_jobs=1))


def pairs_of(judge: HybridEvidence, graph: Graph, closed: tuple[tuple[int, int], ...] = ()) -> OpenPairs:
    """All pairs with their separator evidence in a graph."""
    n = judge.n_variables
    pairs = list(combinations(range(n), 2))
    evidence = np.array([slow.separator_evidence(judge, graph, *pair) for pair in pairs])
    k = np.full(len(pairs), price(graph.n_edges, len(pairs)))
    return OpenPairs(every_pair(n), evidence, k, np.array([p not in graph and p not in closed for p in pairs]))


def found_in(judge: HybridEvidence, graph: Graph, pairs: OpenPairs) -> set[tuple[int, int]]:
    moves = JointMoves(judge, SILENT, EvidenceAssociation(judge), 1e-9)
    listed = list(combinations(range(judge.n_variables), 2))
    return {listed[place] for place in moves.find(graph, pairs)}


@pytest.mark.parametrize("graph", [Graph(6, [(0, 1)]), cycle(7), grid(3, 4), Graph.complete(5), Graph.empty(4)])
def test_the_price_of_a_triangle(graph: Graph) -> None:
    assert triangle_price(graph) == pytest.approx(slow.triangle_price(graph))


def test_triangles_are_dear_in_a_ring_and_cheap_among_cliques() -> None:
    cliques = Graph(20, [(c + u, c + v) for c in range(0, 20, 4) for u, v in combinations(range(4), 2)])
    assert triangle_price(cycle(20)) == pytest.approx(log(20 * 18))
    assert triangle_price(cycle(20)) > 2 * price(20, 190)
    assert triangle_price(cliques) < 2 * price(cliques.n_edges, 190)


@pytest.mark.parametrize("seed", [1, 7, 8, 12])
def test_a_variable_joins_both_ends_of_an_edge(seed: int) -> None:
    judge, graph = with_parity(seed), Graph(6, [(0, 1)])
    pairs = pairs_of(judge, graph)
    assert (pairs.evidence[[1, 5]] < pairs.price[[1, 5]]).all()  # 0 - 2 and 1 - 2, each alone
    assert found_in(judge, graph, pairs) == {(0, 2), (1, 2)}


def test_columns_in_another_order_give_the_same_moves() -> None:
    order = (4, 2, 0, 5, 1, 3)
    at = {variable: place for place, variable in enumerate(order)}
    judge, graph = with_parity(1, order), Graph(6, [(at[0], at[1])])
    expected = {tuple(sorted((at[2], at[end]))) for end in (0, 1)}
    assert found_in(judge, graph, pairs_of(judge, graph)) == expected


def test_pairs_that_may_not_join_stay_apart() -> None:
    judge, graph = with_parity(1), Graph(6, [(0, 1)])
    assert found_in(judge, graph, pairs_of(judge, graph, closed=((1, 2),))) == set()
    pairs, left = pairs_of(judge, graph), np.arange(15) != 5  # all but 1 - 2
    listed = every_pair(6).without([(1, 2)])
    some = OpenPairs(listed, pairs.evidence[left], pairs.price[left], pairs.may_join[left])
    assert found_in(judge, graph, some) == set()


def test_without_edges_there_is_nothing_to_join() -> None:
    judge = with_parity(1)
    assert found_in(judge, Graph.empty(6), pairs_of(judge, Graph.empty(6))) == set()


def test_a_search_for_moves_can_be_cancelled() -> None:
    class Impatient:
        def progress(self, done: float, total: float | None, message: str = "") -> None: ...
        def cancelled(self) -> bool:
            return True

    judge, graph = with_parity(1), Graph(6, [(0, 1)])
    with pytest.raises(Cancelled):
        JointMoves(judge, Impatient(), EvidenceAssociation(judge), 1e-9).find(graph, pairs_of(judge, graph))


@pytest.mark.parametrize("seed", [7, 24, 27])
def test_the_phase_makes_joint_moves(seed: int) -> None:
    judge, start = with_parity(seed), Graph(6, [(0, 1)])
    found = SeparatorEvidence(effort="standard", start=start).learn(judge)
    graph, flips, _ = slow.separator_phase(judge.with_three_way(False), start)
    assert (found.graph, found.cost["flips"]) == (graph, flips)
    assert all(odds > 0 for odds in found.support.values())


def test_without_joint_moves_the_variable_stays_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    learner = SeparatorEvidence(effort="standard", start=Graph(6, [(0, 1)]))
    assert learner.learn(with_parity(7)).graph == Graph(6, [(0, 1), (0, 2), (1, 2)])
    monkeypatch.setattr(joint_moves, "SHORTFALL", -np.inf)
    assert learner.learn(with_parity(7)).graph == Graph(6, [(0, 1)])
