"""Graphs: comparison with networkx, and invariants."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable
from itertools import combinations
from typing import Any

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import coo_array, csr_array, csr_matrix

from mnlearn.errors import InputError
from mnlearn.graphs import Graph


@st.composite
def graphs(draw: st.DrawFn, least: int = 1, most: int = 9) -> Graph:
    """A graph of any density."""
    n = draw(st.integers(least, most))
    pairs = list(combinations(range(n), 2))
    return Graph(n, draw(st.lists(st.sampled_from(pairs), unique=True)) if pairs else [])


@st.composite
def questions(draw: st.DrawFn) -> tuple[Graph, frozenset[int], frozenset[int], frozenset[int]]:
    """A graph and disjoint sets x, y, z, x and y not empty."""
    graph = draw(graphs(least=2))
    role = draw(st.lists(st.integers(0, 3), min_size=graph.n_variables, max_size=graph.n_variables))
    role[:2] = [0, 1]
    order = draw(st.permutations(range(graph.n_variables)))
    x, y, z = (frozenset(v for v, r in zip(order, role, strict=True) if r == k) for k in (0, 1, 2))
    return graph, x, y, z


@settings(deadline=None)
@given(questions())
def test_separates_is_disconnection_once_z_is_removed(asked: tuple[Graph, Any, Any, Any]) -> None:
    graph, x, y, z = asked
    rest = graph.to_networkx()
    rest.remove_nodes_from(z)
    joined = any(nx.has_path(rest, a, b) for a in x for b in y)
    assert graph.separates(x, y, z) is not joined
    assert graph.separates(y, x, z) is not joined
    assert graph.reachable(x, z) == set().union(*(nx.node_connected_component(rest, a) for a in x))


@settings(deadline=None)
@given(questions())
def test_reachable_agrees_with_separates(asked: tuple[Graph, Any, Any, Any]) -> None:
    graph, xs, _, z = asked
    x = min(xs)
    reached = graph.reachable(x, z)
    for y in set(range(graph.n_variables)) - z - {x}:
        assert graph.separates(x, y, z) is (y not in reached)


@settings(deadline=None)
@given(graphs(least=2), st.data())
def test_flip_changes_one_pair_and_twice_changes_nothing(graph: Graph, data: st.DataObject) -> None:
    u, v = data.draw(st.sampled_from(list(combinations(range(graph.n_variables), 2))))
    flipped = graph.flip(v, u)
    assert set(flipped.edges) ^ set(graph.edges) == {(u, v)}
    assert flipped.n_edges == len(flipped.edges)
    assert flipped != graph
    assert flipped.flip(u, v) == graph
    assert hash(flipped.flip(u, v)) == hash(graph)


@settings(deadline=None)
@given(graphs(), st.randoms(use_true_random=False))
def test_equality_and_hash_ignore_the_order_of_edges(graph: Graph, shuffler: Any) -> None:
    edges = [edge if shuffler.random() < 0.5 else edge[::-1] for edge in graph.edges]
    shuffler.shuffle(edges)
    again = Graph.empty(graph.n_variables).add(edges + edges[:1])
    assert again == graph
    assert hash(again) == hash(graph)
    assert again.edges == graph.edges
    assert again.n_edges == graph.n_edges
    assert graph != Graph(graph.n_variables + 1, graph.edges)
    assert graph != "graph"


@settings(deadline=None)
@given(graphs(), st.randoms(use_true_random=False))
def test_relabelling_keeps_the_structure(graph: Graph, shuffler: Any) -> None:
    new = list(range(graph.n_variables))
    shuffler.shuffle(new)
    moved = graph.relabel(new)
    assert moved.edges == tuple(sorted(tuple(sorted((new[u], new[v]))) for u, v in graph.edges))
    assert sorted(moved.degrees()) == sorted(graph.degrees())
    assert sorted(map(len, moved.components())) == sorted(map(len, graph.components()))
    assert moved.relabel(np.argsort(new).tolist()) == graph
    assert moved.subgraph(new) == graph
    assert moved.complement() == graph.complement().relabel(new)


@settings(deadline=None)
@given(graphs())
def test_components_and_subgraphs_agree_with_networkx(graph: Graph) -> None:
    theirs = graph.to_networkx()
    assert set(map(frozenset, graph.components())) == set(map(frozenset, nx.connected_components(theirs)))
    assert list(graph.components()) == sorted(tuple(sorted(c)) for c in graph.components())
    some = frozenset(range(0, graph.n_variables, 2))
    assert graph.subgraph(some).to_networkx(sorted(some)).edges == theirs.subgraph(some).edges
    assert graph.complement() == Graph.from_networkx(nx.complement(theirs))[0]
    assert graph.add(graph.complement().edges) == Graph.complete(graph.n_variables)


@settings(deadline=None)
@given(graphs())
def test_neighbours_edges_and_degrees_agree(graph: Graph) -> None:
    for u, v in combinations(range(graph.n_variables), 2):
        told = {graph.has_edge(u, v), (v, u) in graph, v in graph.neighbors(u), u in graph.neighbors(v)}
        assert told == {(u, v) in graph.edges}
    assert [graph.degree(x) for x in range(graph.n_variables)] == graph.degrees().tolist()
    assert graph.degrees().sum() == 2 * graph.n_edges


@settings(deadline=None)
@given(graphs())
def test_every_conversion_is_reversible(graph: Graph) -> None:
    matrix = graph.adjacency()
    assert matrix.nnz == 2 * graph.n_edges
    assert matrix.has_canonical_format
    dense = matrix.toarray()
    for same in (
        matrix,
        coo_array(matrix),
        csr_matrix(matrix),
        dense,
        dense.astype(bool),
        -0.3 * dense,
        dense.tolist(),
    ):
        assert Graph.from_adjacency(same) == graph
    names = tuple(f"v{x}" for x in range(graph.n_variables))
    assert Graph.from_networkx(graph.to_networkx(names)) == (graph, names)
    assert pickle.loads(pickle.dumps(graph)) == graph
    assert copy.deepcopy(graph) == graph
    assert Graph.from_edges(graph.n_variables, np.array(graph.edges, dtype=np.int32).reshape(-1, 2)) == graph


def test_add_and_remove_are_sets_of_edges() -> None:
    chain = Graph(4, [(0, 1), (1, 2)])
    assert chain.add([(2, 1), (2, 3)]).edges == ((0, 1), (1, 2), (2, 3))
    assert chain.remove([(1, 0)]).edges == ((1, 2),)
    assert chain.edges == ((0, 1), (1, 2))
    assert chain.remove([(0, 1), (1, 0)]).n_edges == 1
    with pytest.raises(InputError, match=r"edges must be edges of the graph; got \(0, 3\)"):
        chain.remove([(3, 0)])


def test_a_graph_cannot_be_changed_in_place() -> None:
    graph = Graph.complete(3)
    with pytest.raises(AttributeError):
        graph.n_variables = 4  # type: ignore[misc]
    with pytest.raises(AttributeError):
        graph.anything = 1  # type: ignore[attr-defined]


def test_small_graphs_and_their_repr() -> None:
    assert Graph.empty(0).components() == ()
    assert Graph.empty(0).adjacency().shape == (0, 0)
    assert repr(Graph(3, [(2, 0)])) == "Graph(3, [(0, 2)])"
    assert repr(Graph.complete(9)).endswith(", ... (36 in all)])")
    assert Graph.complete(4).n_edges == 6
    assert Graph.complete(3).separates((), 1) is True
    assert isinstance(next(iter(Graph.empty(3).reachable(np.int64(1)))), int)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (lambda: Graph(-1), "n_variables must not be negative; got -1"),
        (lambda: Graph(2.5), "n_variables must be an integer; got 2.5"),  # type: ignore[arg-type]
        (lambda: Graph(2, [(0, 2)]), r"an edge must name variables by index, 0..1; got \(0, 2\)"),
        (lambda: Graph(2, [(-1, 0)]), r"got \(-1, 0\)"),
        (lambda: Graph(2, [(1, 1)]), r"an edge must join two different variables; got \(1, 1\)"),
        (lambda: Graph(2, [(0, 1, 2)]), "an edge must be a pair"),
        (lambda: Graph(2, [(0.0, 1)]), "an edge must be a pair"),  # type: ignore[list-item]
        (lambda: Graph(2, "ab"), "edges must be a list of pairs of variables, not a string; got"),  # type: ignore[arg-type]
        (lambda: Graph(2, [(0, 1)]).neighbors(2), "x must name variables by index, 0..1; got 2"),
        (lambda: Graph(2, [(0, 1)]).neighbors(-1), "got -1"),
        (lambda: Graph.empty(0).neighbors(0), "the graph is empty"),
        (lambda: Graph(2).has_edge(0, 5), "v must name variables by index, 0..1; got 5"),
        (lambda: Graph(2).flip(0, 0), "two different variables"),
        (lambda: Graph(3).separates(0, 1, {0}), r"x and z must be disjoint; got x=\{0\}, z=\{0\}"),
        (lambda: Graph(3).separates(0, 1, {1, 2}), "y and z must be disjoint"),
        (lambda: Graph(3).separates({0, 1}, 1), "x and y must be disjoint"),
        (lambda: Graph(3).separates(0, 3), "y must name variables by index"),
        (lambda: Graph(3).separates("a", 1), "x must be an index or a set of indices"),  # type: ignore[arg-type]
        (lambda: Graph(3).reachable(0, {7}), "z must name variables by index, 0..2; got 7"),
        (lambda: Graph(3).subgraph([0, 0]), r"variables must be distinct; got \[0, 0\]"),
        (lambda: Graph(3).subgraph([3]), "variables must name variables by index"),
        (lambda: Graph(3).relabel([0, 1, 1]), r"permutation must hold each of 0..2 once; got \[0, 1, 1\]"),
        (lambda: Graph(3).to_networkx(["a", "b"]), "names must hold one distinct name for each of 3"),
        (lambda: Graph.from_networkx(nx.DiGraph([(0, 1)])), "graph must be undirected; got a DiGraph"),
        (lambda: Graph.from_networkx(nx.Graph([(0, 0)])), "graph must have no self loops; got one on 0"),
        (lambda: Graph.from_adjacency([[0, 1], [0, 0]]), r"symmetric; entry \(0, 1\) is 1 and entry \(1, 0\) is 0"),
        (lambda: Graph.from_adjacency([[0, 1], [2, 0]]), "matrix must be symmetric"),
        (lambda: Graph.from_adjacency(csr_array([[0, 0], [1e-300, 0]])), "matrix must be symmetric"),
        (lambda: Graph.from_adjacency(np.eye(2)), r"zero diagonal; entry \(0, 0\) is not"),
        (lambda: Graph.from_adjacency([[0, np.nan], [np.nan, 0]]), "finite numbers"),
        (lambda: Graph.from_adjacency(np.zeros((2, 3))), r"square; got shape \(2, 3\)"),
        (lambda: Graph.from_adjacency([[0], [1, 0]]), "rows of different lengths"),
        (lambda: Graph.from_adjacency([["a"]]), "booleans or real numbers"),
    ],
)
def test_bad_input_is_refused_by_name(build: Callable[[], object], message: str) -> None:
    with pytest.raises(InputError, match=message):
        build()


def test_twenty_thousand_variables_need_no_dense_matrix() -> None:
    n = 20_000
    ends = np.random.default_rng(3).integers(n, size=(100_000, 2))
    graph = Graph(n, ends[ends[:, 0] != ends[:, 1]].tolist())
    matrix = graph.adjacency()
    assert matrix.data.nbytes + matrix.indices.nbytes + matrix.indptr.nbytes < 2_000_000
    assert Graph.from_adjacency(matrix) == graph
    assert sum(map(len, graph.components())) == n
    flipped = graph.flip(0, 1)
    shared = sum(graph.neighbors(x) is flipped.neighbors(x) for x in range(n))
    assert shared == n - 2


@given(graph=graphs(), data=st.data())
def test_waves_are_the_variables_at_each_distance(graph: Graph, data: st.DataObject) -> None:
    x = data.draw(st.integers(0, graph.n_variables - 1))
    distance = data.draw(st.sampled_from([0, 1, 2, 10**12]))
    far = nx.single_source_shortest_path_length(graph.to_networkx(), x)
    waves = graph.waves(x, distance)
    assert len(waves) == 1 + min(distance, max(far.values()))
    assert waves == tuple(tuple(sorted(y for y in far if far[y] == d)) for d in range(len(waves)))


@pytest.mark.parametrize("distance", [-1, 1.5, "a", True, None])
def test_other_distances_are_refused(distance: Any) -> None:
    with pytest.raises(InputError, match="distance must be a whole number, at least 0; got "):
        Graph(3, [(0, 1)]).waves(0, distance)
