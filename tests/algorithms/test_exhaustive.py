"""Exhaustive search against the obvious loop over all graphs."""

from __future__ import annotations

from itertools import combinations
from math import exp, inf, log
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mnlearn.algorithms.exhaustive import AllGraphs, Exhaustive
from mnlearn.errors import InputError
from mnlearn.graphs.graph import Edge, Graph

from references.exhaustive import Plain, RandomLocal, RandomPairs, all_graphs

SCORES: dict[str, Any] = {"local": RandomLocal, "pairs": RandomPairs}


@st.composite
def constrained(draw: st.DrawFn) -> tuple[int, tuple[Edge, ...], tuple[Edge, ...]]:
    """A number of variables, and pairs that are required or forbidden."""
    n = draw(st.integers(2, 5))
    pairs = list(combinations(range(n), 2))
    fate = draw(st.lists(st.sampled_from(["free", "free", "required", "forbidden"]), min_size=len(pairs)))
    fates = dict(zip(pairs, fate, strict=False))
    required, forbidden = (tuple(p for p in pairs if fates[p] == kind) for kind in ("required", "forbidden"))
    return n, required, forbidden


@pytest.mark.parametrize("kind", SCORES)
@given(problem=constrained(), seed=st.integers(0, 2**32))
@settings(max_examples=40, deadline=None)
def test_it_is_the_loop_over_all_graphs(kind: str, problem: tuple[int, Any, Any], seed: int) -> None:
    n, required, forbidden = problem
    score = SCORES[kind](n, seed)
    result = Exhaustive(required=required, forbidden=forbidden, alternatives=3, averaging=True, keep_all=True).learn(
        score
    )
    graphs = all_graphs(n, required, forbidden)
    ranked = sorted(graphs, key=score, reverse=True)
    assert result.graph == ranked[0]
    assert result.score == pytest.approx(score(ranked[0]), abs=1e-12)
    assert [graph for graph, _ in result.alternatives] == ranked[1:4]
    assert [value for _, value in result.alternatives] == pytest.approx([score(graph) for graph in ranked[1:4]])
    assert result.converged
    assert result.cost["graphs"] == len(graphs)
    assert result.all_graphs is not None
    for number in range(len(graphs)):
        assert result.all_graphs.scores[number] == pytest.approx(score(result.all_graphs.graph(number)), abs=1e-12)
    mass = {graph: exp(score(graph)) for graph in graphs}
    assert result.mass == pytest.approx(mass[result.graph] / sum(mass.values()), abs=1e-12)
    for pair in combinations(range(n), 2):
        share = sum(m for graph, m in mass.items() if pair in graph) / sum(mass.values())
        assert result.edge_probabilities is not None
        assert result.edge_probabilities[pair] == pytest.approx(share, abs=1e-12)
        if pair in result.graph:
            assert result.support[pair] == (inf if pair in required else pytest.approx(log(share / (1 - share))))
    assert set(result.support) == set(result.graph.edges)
    assert result.support_scale == "log_odds"


@pytest.mark.parametrize("kind", SCORES)
@pytest.mark.parametrize("n", [2, 3, 4, 5, 6])
def test_tables_give_every_graph_the_score_it_has(kind: str, n: int) -> None:
    score = SCORES[kind](n, seed=n)
    graphs = Exhaustive(keep_all=True).learn(score).all_graphs
    assert graphs is not None
    assert len(graphs) == 2 ** (n * (n - 1) // 2)
    rng = np.random.default_rng(n)
    for number in rng.integers(len(graphs), size=200).tolist():
        graph = graphs.graph(number)
        assert graphs.scores[number] == pytest.approx(score(graph), abs=1e-12)
        assert graphs.number(graph) == number


def test_any_score_will_do() -> None:
    score = RandomPairs(4, seed=3)
    plain, tabulated = Exhaustive(keep_all=True).learn(Plain(score)), Exhaustive(keep_all=True).learn(score)
    assert plain.all_graphs is not None
    assert tabulated.all_graphs is not None
    assert plain.all_graphs.scores == pytest.approx(tabulated.all_graphs.scores)
    assert (plain.graph, plain.alternatives[0][0]) == (tabulated.graph, tabulated.alternatives[0][0])
    assert plain.cost["scored"] == 64


def test_every_blanket_is_asked_about_once() -> None:
    score = RandomLocal(6, seed=1)
    result = Exhaustive().learn(score)
    assert len(score.asked) == len(set(score.asked)) == result.cost["scored"] == 6 * 2**5


def test_constraints_let_in_more_variables() -> None:
    n, free = 12, {(0, 1), (2, 7), (3, 11), (7, 8), (1, 2)}
    forbidden = tuple(pair for pair in combinations(range(n), 2) if pair not in free | {(4, 5)})
    score = RandomLocal(n, seed=8)
    result = Exhaustive(required=((5, 4),), forbidden=forbidden).learn(score)
    assert result.cost["graphs"] == 2 ** len(free)
    candidates = [
        Graph(n, [(4, 5), *edges]) for size in range(len(free) + 1) for edges in combinations(sorted(free), size)
    ]
    assert result.graph == max(candidates, key=score)
    everything_decided = Exhaustive(forbidden=tuple(combinations(range(n), 2))).learn(score)
    assert (everything_decided.graph, everything_decided.alternatives) == (Graph.empty(n), ())


def test_relabelling_the_variables_relabels_the_optimum() -> None:
    score, turn = RandomLocal(5, seed=4), [3, 1, 4, 0, 2]

    class Turned:
        n_variables = 5

        def __call__(self, graph: Graph) -> float:
            return score(graph.relabel(np.argsort(turn).tolist()))

    assert Exhaustive().learn(Turned()).graph == Exhaustive().learn(score).graph.relabel(turn)


class Flat:
    """Score that is equal for all graphs up to rounding."""

    n_variables = 3

    def __call__(self, graph: Graph) -> float:
        return -40.0 + 1e-12 * graph.n_edges


def test_of_equals_the_sparsest_comes_first_then_the_first_pair() -> None:
    result = Exhaustive(keep_all=True).learn(Flat())
    assert (result.graph.edges, result.alternatives[0][0].edges) == ((), ((0, 1),))
    assert result.all_graphs is not None
    edges = [result.all_graphs.graph(number).edges for number in result.all_graphs.best(99)]
    assert edges[:5] == [(), ((0, 1),), ((0, 2),), ((1, 2),), ((0, 1), (0, 2))]
    assert len(edges) == 8


# ---- masses


def test_masses_keep_their_digits_however_far_the_scores_are_apart() -> None:
    graphs = AllGraphs(
        3, (), ((0, 1), (0, 2), (1, 2)), np.array([0.0, -1000, -2000, -3000, -4000, -5000, -6000, -7000])
    )
    odds = graphs.edge_log_odds()
    assert [odds[pair] for pair in graphs.pairs] == pytest.approx([-1000, -2000, -4000])
    assert list(graphs.edge_probabilities().values()) == [0.0, 0.0, 0.0]
    assert graphs.log_masses() == pytest.approx(graphs.scores)
    even = AllGraphs(2, (), ((0, 1),), np.array([-1e6, -1e6]))
    assert even.edge_probabilities() == {(0, 1): 0.5}
    assert np.exp(even.log_masses()).sum() == pytest.approx(1)


def test_distances_are_the_pairs_that_differ() -> None:
    graphs = AllGraphs(4, ((0, 1),), ((0, 2), (2, 3)), np.zeros(4))
    truth = Graph(4, [(0, 2), (1, 3)])  # which has not the required edge, and has one that is forbidden
    expected = [len(set(graphs.graph(k).edges) ^ set(truth.edges)) for k in range(4)]
    assert graphs.distances(truth).tolist() == expected
    assert graphs.distances(graphs.graph(3)).tolist() == [2, 1, 1, 0]


# ---- bad input, and an early end


class Unasked:
    """A score that must not be asked."""

    def __init__(self, n_variables: int) -> None:
        self.n_variables = n_variables

    def __call__(self, graph: Graph) -> float:
        raise AssertionError(f"asked about {graph}")


@pytest.mark.parametrize(
    ("n", "options", "message"),
    [
        (0, {}, "at least 2 variables; got 0"),
        (1, {}, "at least 2 variables; got 1"),
        (8, {}, r"at most 21 undecided pairs, those of 7 variables; got 28 among 8 variables, that is 2\^28 graphs"),
        (3, {"required": ((0, 3),)}, r"required must hold pairs of two different variables, 0 to 2; got \(0, 3\)"),
        (3, {"required": ((0, 1),), "forbidden": ((1, 0),)}, "required and forbidden must not share an edge"),
    ],
)
def test_what_cannot_be_done_is_refused_before_anything_is_scored(n: int, options: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        Exhaustive(**options).learn(Unasked(n))


def test_settings_are_checked_when_they_are_made() -> None:
    with pytest.raises(InputError, match="alternatives must be a whole number, at least 0; got -1"):
        Exhaustive(alternatives=-1)


@pytest.mark.parametrize("value", [float("nan"), -inf])
def test_a_score_must_give_numbers(value: float) -> None:
    class Broken:
        n_variables = 2

        def __call__(self, graph: Graph) -> float:
            return value + graph.n_edges

    with pytest.raises(InputError, match="score must give each graph a number"):
        Exhaustive().learn(Broken())


def test_numbers_and_graphs_of_another_space_are_refused() -> None:
    graphs = AllGraphs(3, ((0, 1),), ((0, 2),), np.zeros(2))
    with pytest.raises(InputError, match="number must be from 0 to 1; got 2"):
        graphs.graph(2)
    with pytest.raises(InputError, match="graph must have the required edges"):
        graphs.number(Graph(3, [(0, 2)]))
    with pytest.raises(InputError, match="graph must have 3 variables"):
        graphs.distances(Graph(4))


class Listener:
    """Monitor that may cancel, and stores the progress."""

    def __init__(self, *, impatient: bool) -> None:
        self.impatient, self.received = impatient, list[tuple[float, float | None, str]]()

    def progress(self, done: float, total: float | None, message: str = "") -> None:
        self.received.append((done, total, message))

    def cancelled(self) -> bool:
        return self.impatient


@pytest.mark.parametrize("score", [RandomLocal(5, 1), RandomPairs(5, 1), Plain(RandomLocal(4, 1))])
def test_a_monitor_stops_it_with_what_is_known(score: Any) -> None:
    monitor = Listener(impatient=True)
    result = Exhaustive(required=((1, 2),)).learn(score, monitor)
    assert (result.converged, result.score, result.graph.edges) == (False, None, ((1, 2),))
    assert monitor.received == []


def test_a_monitor_hears_how_far_it_is() -> None:
    monitor = Listener(impatient=False)
    Exhaustive().learn(RandomPairs(6, 1), monitor)
    assert monitor.received == [(32 * x, 6 * 32, "tabulating terms") for x in range(6)]
