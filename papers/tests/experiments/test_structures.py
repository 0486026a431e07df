"""Structures of the papers: their published numbers."""

from __future__ import annotations

from itertools import combinations

import networkx as nx
import pytest

from mnlearn.errors import InputError
from mnlearn.graphs import Graph, hubs, irregularity, star, total_irregularity
from mnlearn_papers.structures import (
    six_node_graphs,
    six_node_structures,
    sixteen_node_components,
    sixteen_node_replicas,
)


def test_six_node_structures_have_the_published_irregularities() -> None:
    graphs = six_node_structures()
    assert [total_irregularity(g) for g in graphs] == [0, 10, 18, 20, 26, 26]  # BJP18, Figure 2
    assert [irregularity(g) for g in graphs] == [0, 4, 12, 20, 18, 20]
    assert all(g.n_variables == 6 and len(g.components()) == 1 for g in graphs)
    assert not any(nx.is_isomorphic(a.to_networkx(), b.to_networkx()) for a, b in combinations(graphs, 2))


def test_graphs_by_irregularity_are_complete_and_distinct() -> None:
    every = [Graph.from_networkx(g)[0] for g in nx.graph_atlas_g() if len(g) == 6]
    assert len(every) == 156  # all graphs on six vertices
    for level in (0, 10, 26, 27):
        assert six_node_graphs(level) == tuple(g for g in every if total_irregularity(g) == level)
        assert six_node_graphs(level, over="edges") == tuple(g for g in every if irregularity(g) == level)
    of_star = [g for g in six_node_graphs(20, over="edges") if g.n_edges == 5]
    assert [nx.is_isomorphic(g.to_networkx(), star(6).to_networkx()) for g in of_star] == [True]


def test_components_and_replicas() -> None:
    parts = sixteen_node_components()
    assert {name: g.n_edges for name, g in parts.items()} == {"grid": 24, "stars": 15, "ring": 16, "triangles": 22}
    assert all(g.n_variables == 16 and len(g.components()) == 1 for g in parts.values())
    assert parts["stars"] == hubs(2, 7)
    for n in (64, 128, 256, 512):
        graph = sixteen_node_replicas(n)
        pieces = [graph.subgraph(component) for component in graph.components()]
        assert pieces == list(parts.values()) * (n // 64)


def test_bad_input_is_refused_by_name() -> None:
    with pytest.raises(InputError, match="n_variables must be a multiple of 64; got 100"):
        sixteen_node_replicas(100)
    with pytest.raises(InputError, match="multiple of 64; got 0"):
        sixteen_node_replicas(0)
    with pytest.raises(InputError, match="over must be 'pairs' or 'edges'; got 'all'"):
        six_node_graphs(3, over="all")  # type: ignore[arg-type]
