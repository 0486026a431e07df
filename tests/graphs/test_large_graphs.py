"""Graphs of many variables: arrays of pairs, formats, and what is refused."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import mnlearn as mn
from graph_files import READ
from mnlearn.errors import InputError
from mnlearn.graphs import Graph, NamedGraph, read_graph, write_graph

N, EDGES = 20_000, 100_000


@pytest.fixture(scope="module")
def named() -> NamedGraph:
    rng = np.random.default_rng(0)
    pairs = rng.integers(0, N, (EDGES, 2))
    graph = Graph(N, pairs[pairs[:, 0] != pairs[:, 1]])
    weights = dict(zip(graph.edges, rng.normal(size=graph.n_edges).tolist(), strict=True))
    return NamedGraph(graph, tuple(f"v{x}" for x in range(N)), {edge: {"weight": w} for edge, w in weights.items()})


@st.composite
def pairs_of_few(draw: st.DrawFn) -> tuple[int, list[tuple[int, int]], str]:
    """A number of variables, pairs of which some are out of range, and a type of integers."""
    n = draw(st.integers(0, 8))
    index = st.integers(-1, n)
    return n, draw(st.lists(st.tuples(index, index), max_size=20)), draw(st.sampled_from("iIqh"))


@given(case=pairs_of_few())
def test_arrays_of_pairs_are_read_as_lists_are(case: tuple[int, list[tuple[int, int]], str]) -> None:
    n, pairs, kind = case
    array = np.array(pairs, dtype=np.int64).reshape(-1, 2).astype(kind)
    outcomes = []
    for edges in (array, array.tolist()):
        try:
            outcomes.append(repr(Graph(n, edges)))
        except InputError as error:
            outcomes.append(str(error))
    assert outcomes[0] == outcomes[1]


def test_the_adjacency_matrix_is_in_order() -> None:
    graph = Graph(500, np.random.default_rng(1).permutation(500).reshape(-1, 2))
    matrix = graph.add([(0, 1), (0, 499), (250, 3)]).adjacency()
    expected = np.zeros((500, 500), dtype=np.int8)
    for u, v in graph.add([(0, 1), (0, 499), (250, 3)]).edges:
        expected[u, v] = expected[v, u] = 1
    assert (matrix.toarray() == expected).all()
    assert matrix.has_sorted_indices or (np.diff(matrix.indices[: matrix.indptr[1]]) > 0).all()


@pytest.mark.parametrize("format", [name for name in READ if name != "csv"])
def test_a_hundred_thousand_edges_come_back(format: str, named: NamedGraph, tmp_path: Path) -> None:
    write_graph(tmp_path / "graph", named.graph, named.names, format=format, attributes=named.attributes)
    found = read_graph(tmp_path / "graph", format)
    assert found.graph == named.graph
    assert found.names == named.names
    assert dict(found.attributes) == named.attributes


def test_a_matrix_of_so_many_variables_is_refused(named: NamedGraph, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"at most 10,000 variables; got 20,000. Write an edge table"):
        write_graph(tmp_path / "graph.csv", named.graph, named.names)
    assert not list(tmp_path.iterdir())


def test_subgraphs_are_not_scored_unless_they_are_asked_for(named: NamedGraph) -> None:
    found = mn.evaluate(named, named)
    assert found.edges.hamming == 0
    assert not found.ev
    with pytest.raises(InputError, match=r"more than 20,000 variables"):
        mn.evaluate(Graph(20_001), Graph(20_001), kinds=["1N"])
