"""Where variables stand, which belong together, and in what order they are listed."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mnlearn.graphs.graph import Graph
from mnlearn.visual.layout import (
    block_order,
    clustering_order,
    communities,
    components,
    fitting_labels,
    on_circle,
    on_group_circles,
    positions,
)

TWO_CLIQUES = Graph(
    9, [(u, v) for block in ((0, 2, 4, 6), (1, 3, 5, 7)) for u in block for v in block if u < v] + [(0, 1)]
)


@st.composite
def graphs(draw: st.DrawFn) -> Graph:
    n = draw(st.integers(1, 14))
    pairs = [(u, v) for v in range(n) for u in range(v)]
    return Graph(n, draw(st.lists(st.sampled_from(pairs), unique=True)) if pairs else [])


@settings(max_examples=20)
@given(graphs(), st.integers(0, 3))
def test_every_variable_has_a_place_of_its_own_and_the_same_one_every_time(graph: Graph, seed: int) -> None:
    places = positions(graph, seed)
    assert places.shape == (graph.n_variables, 2)
    assert np.isfinite(places).all()
    assert len(np.unique(places.round(6), axis=0)) == graph.n_variables
    assert (positions(graph, seed) == places).all()


@settings(max_examples=20)
@given(graphs())
def test_parts_are_those_of_networkx_and_do_not_overlap(graph: Graph) -> None:
    parts = components(graph)
    assert {frozenset(part) for part in parts} == set(map(frozenset, nx.connected_components(graph.to_networkx())))
    places = positions(graph)
    boxes = [(places[part].min(axis=0), places[part].max(axis=0)) for part in parts]
    for k, (low, high) in enumerate(boxes):
        for other_low, other_high in boxes[:k]:
            assert (other_low > high + 0.5).any() or (low > other_high + 0.5).any()


def test_an_edge_is_about_one_long() -> None:
    chain = Graph(6, [(k, k + 1) for k in range(5)])
    lengths = np.linalg.norm(np.diff(positions(chain), axis=0), axis=1)
    assert ((lengths > 0.7) & (lengths < 2.0)).all()


@settings(max_examples=20)
@given(graphs(), st.integers(0, 5))
def test_no_two_variables_overlap_whatever_the_weights(graph: Graph, seed: int) -> None:
    rng = np.random.default_rng(seed)
    strengths = {edge: float(rng.random() ** 4) for edge in graph.edges}
    places = positions(graph, 0, strengths)
    apart = np.linalg.norm(places[:, None] - places[None], axis=2) + 9 * np.eye(graph.n_variables)
    assert apart.min() > 0.8


def test_strong_edges_are_short() -> None:
    path = Graph(3, [(0, 1), (1, 2)])
    short, long = np.linalg.norm(np.diff(positions(path, 0, {(0, 1): 1.0, (1, 2): 0.3}), axis=0), axis=1)
    assert long > 2 * short


def test_places_on_circles() -> None:
    circle = on_circle([2, 0, 1, 3])
    assert np.linalg.norm(circle, axis=1) == pytest.approx(np.full(4, np.sqrt(0.5)))
    assert np.argmax(circle[:, 1]) == 2
    groups = np.array([0, 1, 0, 1, -1, 0])
    places = on_group_circles(groups, np.arange(6))
    centers = [places[groups == group].mean(axis=0) for group in (0, 1, -1)]
    for k, group in enumerate((0, 1)):
        own = np.linalg.norm(places[groups == group] - centers[k], axis=1).max()
        others = np.linalg.norm(places[groups != group] - centers[k], axis=1).min()
        assert others > own + 0.5


@pytest.mark.slow
def test_a_large_part_is_laid_out_by_springs_and_seeded() -> None:
    ring = Graph(330, [(k, (k + 1) % 330) for k in range(330)])
    assert (positions(ring, 1) == positions(ring, 1)).all()
    assert (positions(ring, 1) != positions(ring, 2)).any()


def test_communities_are_numbered_by_size_and_loners_have_none() -> None:
    assert communities(TWO_CLIQUES).tolist() == [0, 1, 0, 1, 0, 1, 0, 1, -1]
    assert communities(Graph(3)).tolist() == [-1, -1, -1]


def test_communities_follow_the_weights() -> None:
    ring = Graph(6, [(k, (k + 1) % 6) for k in range(6)])
    strengths = {(0, 1): 1.0, (2, 3): 1.0, (4, 5): 1.0}
    assert communities(ring, 0, {edge: strengths.get(edge, 0.01) for edge in ring.edges}).tolist() == [0, 0, 1, 1, 2, 2]


def test_the_order_of_blocks_keeps_groups_together() -> None:
    order = block_order(np.array([3, 1, 0, 2, 4]), np.array([0, 1, 0, 1, -1]))
    assert order.tolist() == [3, 1, 0, 2, 4]
    assert block_order(np.array([3, 0, 1, 2, 4]), np.array([0, 1, 0, 1, -1])).tolist() == [3, 1, 0, 2, 4]


@given(graphs())
def test_the_order_of_a_clustering_lists_each_once(graph: Graph) -> None:
    assert sorted(clustering_order(graph).tolist()) == list(range(graph.n_variables))


def test_the_order_of_a_clustering_keeps_groups_together() -> None:
    order = clustering_order(TWO_CLIQUES).tolist()
    assert order[-1] == 8
    assert {frozenset(x % 2 for x in order[:4]), frozenset(x % 2 for x in order[4:8])} == {
        frozenset({0}),
        frozenset({1}),
    }


@given(st.lists(st.tuples(st.integers(0, 60), st.integers(0, 60)), min_size=1, max_size=20))
def test_labels_never_cover_each_other_and_the_first_is_always_there(
    places: list[tuple[int, int]],
) -> None:
    texts = [f"name{k}" for k in range(len(places))]
    centers = np.array(places, dtype=np.float64)
    priority = np.arange(len(places))[::-1]
    kept = fitting_labels(centers, texts, 2.0, priority)
    assert kept[0] == 0
    for i in kept:
        for j in kept:
            if i != j:
                wide, high = np.abs(centers[i] - centers[j])
                assert wide >= 2.0 * 0.58 * (len(texts[i]) + len(texts[j])) / 2 or high >= 2.0 * 1.15


def test_a_label_does_not_cover_the_point_of_another() -> None:
    centers = np.array([[0.0, 0.0], [30.0, 0.0]])
    points = np.array([[0.0, 5.0], [1.0, 0.0]])
    assert fitting_labels(centers, ["alpha", "beta"], 2.0, [2, 1], avoid=points) == [1]


@pytest.mark.parametrize("n", [1, 2, 3])
def test_tiny_graphs_have_an_order(n: int) -> None:
    assert sorted(clustering_order(Graph(n)).tolist()) == list(range(n))
