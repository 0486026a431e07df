"""GSMN and GSMN*: the paper's example, its counts, and the pseudocode question by question."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from mnlearn.algorithms.counted import AllMarginals
from mnlearn.algorithms.gsmn import GSMN, GSMNStar, Orders
from mnlearn.errors import InputError
from mnlearn.graphs import Graph, path, random_graph
from mnlearn.independence import ChiSquare, SeparationOracle
from mnlearn.statistics import Counts
from profiles import few

from references import counts as reference
from references import gsmn as reference_gsmn
from references.gsmn import FIGURE_1, PaperExample, any_judge, asked_about, lines, visited

# ---- the paper's example


def test_the_orders_of_figure_2() -> None:
    orders = Orders(AllMarginals(np.zeros((8, 8), dtype=np.bool_), PaperExample().log_p))
    assert list(orders.to_visit) == [5, 3, 7, 0, 1, 6, 2, 4]
    assert orders.grow_order(5, np.delete(np.arange(8), 5)) == [3, 4, 1, 6, 2, 7, 0]
    assert orders.grow_order(7, np.delete(np.arange(8), 7)) == [2, 6, 3, 0, 4, 1, 5]


def test_the_grow_phase_of_figure_2() -> None:
    result = GSMNStar(keep_trace=True).learn(PaperExample())
    assert result.graph == FIGURE_1
    assert asked_about(result, 5, "grow") == [
        (3, set(), False, "data"),
        (4, {3}, False, "data"),
        (1, {3, 4}, True, "data"),
        (6, {3, 4}, False, "data"),
        (2, {3, 4, 6}, True, "data"),
        (7, {3, 4, 6}, False, "data"),
        (0, {3, 4, 6, 7}, True, "data"),
    ]
    assert asked_about(result, 5, "shrink") == [
        (7, {3, 4, 6}, False, "data"),
        (6, {3, 4, 7}, False, "data"),
        (4, {3, 6, 7}, False, "data"),
        (3, {4, 6, 7}, False, "data"),
    ]


def test_the_changes_of_order_in_figure_5() -> None:
    orders = Orders(AllMarginals(np.zeros((8, 8), dtype=np.bool_), PaperExample().log_p))
    del orders.to_visit[5]
    orders.change(5, [3, 4, 6, 7])
    assert orders.grow_order(7, np.delete(np.arange(8), 7)) == [3, 4, 6, 5, 2, 0, 1]
    assert orders.grow_order(3, np.delete(np.arange(8), 3))[0] == 5
    assert orders.grow_order(6, np.delete(np.arange(8), 6))[:3] == [3, 4, 5]
    assert list(orders.to_visit) == [7, 3, 0, 1, 6, 2, 4]
    assert visited(GSMNStar(keep_trace=True).learn(PaperExample()))[:2] == [5, 7]


def test_a_later_change_of_order_comes_before_an_earlier_one() -> None:
    orders = Orders(AllMarginals(np.zeros((8, 8), dtype=np.bool_), PaperExample().log_p))
    orders.change(5, [3, 4, 6, 7])
    orders.change(0, [1, 6, 7])
    assert orders.grow_order(7, np.delete(np.arange(8), 7)) == [1, 6, 0, 3, 4, 5, 2]
    for visited_by_then in (5, 3, 7, 0, 1, 6):
        del orders.to_visit[visited_by_then]
    orders.change(3, [2, 6, 5])
    assert list(orders.to_visit) == [2, 4]


def test_propagation_puts_those_that_are_known_last() -> None:
    result = GSMNStar(keep_trace=True).learn(PaperExample())
    assert asked_about(result, 7, "grow")[-1] == (5, {3, 4, 6}, False, "propagation")
    assert [y for y, *_ in asked_about(result, 7, "grow")] == [3, 4, 6, 2, 0, 1, 5]


# ---- the paper's counts


@pytest.mark.parametrize(
    ("settings", "weighted"), [({"propagation": False}, 60), ({}, 40)], ids=["without", "with propagation"]
)
def test_weighted_tests_of_table_1_where_nothing_depends(settings: dict[str, Any], weighted: int) -> None:
    # Lenses and baloons, n = 5: 60 and 40, counted without the savings of line 22.
    result = GSMNStar(skip_marginal=False, **settings).learn(SeparationOracle(Graph.empty(5)))
    assert result.cost["weighted"] == weighted
    assert result.cost["initial_weighted"] == 20


def test_line_22_asks_nothing_where_nothing_depends() -> None:
    result = GSMNStar(keep_trace=True).learn(SeparationOracle(Graph.empty(5)))
    assert (result.cost["main_asked"], result.cost["inferred_marginal"]) == (0, 20)
    assert asked_about(result, 1, "grow") == [(y, set(), True, "marginal") for y in (0, 2, 3, 4)]


# ---- the pseudocode, question by question


@pytest.mark.parametrize("kind", ["oracle", "data"])
@pytest.mark.parametrize("seed", few(range(40), 6))
def test_gsmn_star_is_algorithm_3(kind: str, seed: int) -> None:
    settings: dict[str, Any] = {"propagation": seed % 2 == 0, "skip_marginal": seed % 4 < 2}
    twin = reference_gsmn.Concrete(any_judge(kind, seed), **settings)
    truth = twin.run()
    for ahead in (1, 3, 1024):
        result = GSMNStar(keep_trace=True, ahead=ahead, **settings).learn(any_judge(kind, seed))
        assert lines(result) == twin.lines
        assert result.graph == truth


@pytest.mark.parametrize("kind", ["oracle", "data"])
@pytest.mark.parametrize("seed", few(range(20), 4))
def test_gsmn_is_algorithms_1_and_2(kind: str, seed: int) -> None:
    twin = reference_gsmn.Outline(any_judge(kind, seed))
    truth = twin.run()
    for ahead in (1, 1024):
        result = GSMN(keep_trace=True, ahead=ahead).learn(any_judge(kind, seed))
        assert lines(result) == twin.lines
        assert result.graph == truth


# ---- sound, for every setting


@pytest.mark.parametrize("degree", [1, 2, 4, 8])
@pytest.mark.parametrize("learner", [GSMN(), GSMNStar(), GSMNStar(propagation=False), GSMNStar(skip_marginal=False)])
def test_the_oracle_gives_the_true_graph(learner: GSMN | GSMNStar, degree: int) -> None:
    for seed in few(range(30), 5):
        truth = random_graph(9 + seed % 6, degree, seed)
        assert learner.learn(SeparationOracle(truth)).graph == truth


# ---- what it returns


def test_the_support_of_an_edge_is_that_of_the_last_test_that_found_it() -> None:
    data = reference.random_dataset(np.random.default_rng(3), n_rows=500, cards=[2, 3, 2, 3, 2])
    test = ChiSquare(Counts(data))
    result = GSMNStar(keep_trace=True).learn(test)
    assert result.trace is not None
    assert result.graph.n_edges
    for u, v in result.graph.edges:
        found = [q for q in result.trace if {q.x, q.y} == {u, v} and q.source == "data" and not q.independent]
        last = [q for q in found if q.phase != "initial"][-1]
        assert result.support[u, v] == last.log_support == pytest.approx(test(u, v, last.z).log_support)


def test_a_stopped_search_keeps_the_edges_of_those_it_examined() -> None:
    class StopAfter:
        """Cancels once this many variables have been announced."""

        def __init__(self, n_announced: int) -> None:
            self.left = n_announced

        def progress(self, done: float, total: float | None, message: str = "") -> None:
            assert (total, message) == (6, f"variable {done + 1} of 6")
            self.left -= 1

        def cancelled(self) -> bool:
            return self.left <= 0

    oracle = SeparationOracle(path(6))
    assert GSMN().learn(oracle, StopAfter(4)).graph == Graph(6, [(0, 1), (1, 2), (2, 3)])
    result = GSMNStar().learn(oracle, StopAfter(10))
    assert result.converged
    assert result.graph == path(6)


@pytest.mark.parametrize("learner", [GSMN, GSMNStar])
def test_bad_settings_are_refused_when_the_learner_is_made(learner: type[GSMN] | type[GSMNStar]) -> None:
    with pytest.raises(InputError, match="ahead must be a whole number, at least 1; got 0"):
        learner(ahead=0)
