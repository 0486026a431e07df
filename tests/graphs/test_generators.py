"""Generated graphs: their shape, and one graph per seed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from itertools import combinations
from math import comb

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mnlearn.errors import InputError
from mnlearn.graphs import (
    Graph,
    barabasi_albert,
    clique_chain,
    cycle,
    disjoint_union,
    erdos_renyi,
    grid,
    hubs,
    path,
    random_graph,
    random_tree,
    star,
)
from mnlearn.graphs.generators import _pairs

RANDOM_6 = ((0, 1), (1, 2), (1, 3), (2, 3), (2, 5), (3, 4))
SCALE_FREE_6 = ((0, 1), (0, 2), (0, 3), (1, 4), (2, 3), (2, 5), (3, 4), (3, 5))
ERDOS_RENYI_5 = ((0, 1), (0, 2), (1, 4), (2, 3))
TREE_6 = ((0, 2), (1, 3), (2, 4), (3, 5), (4, 5))


@settings(deadline=None)
@given(st.integers(1, 40), st.floats(0, 1), st.integers(0, 5))
def test_a_random_graph_has_half_n_tau_edges(n: int, share: float, seed: int) -> None:
    tau = share * (n - 1)
    graph = random_graph(n, tau, seed)
    assert graph.n_variables == n
    assert graph.n_edges == int(n * tau / 2 + 1e-9)
    assert graph == random_graph(n, tau, np.random.default_rng(seed))


def test_every_choice_of_edges_is_equally_likely() -> None:
    rng = np.random.default_rng(11)
    found = Counter(random_graph(4, 1, rng) for _ in range(3000))
    assert len(found) == comb(6, 2)
    expected = 3000 / comb(6, 2)
    # chi-square with 14 degrees of freedom: above 36.1 with probability 0.001
    assert sum((count - expected) ** 2 / expected for count in found.values()) < 36.1


def test_a_large_random_graph_draws_only_its_edges() -> None:
    graph = random_graph(5_000, 8, seed=1)
    assert graph.n_edges == 20_000
    assert graph != random_graph(5_000, 8, seed=2)
    assert random_graph(30, 29, seed=0) == Graph.complete(30)


def test_pair_numbers_are_exact_where_roots_round() -> None:
    small = _pairs(np.arange(comb(60, 2)))
    assert sorted(map(tuple, small.tolist())) == list(combinations(range(60), 2))
    v = np.array([2, 10**6, 3 * 10**8, 10**9], dtype=np.int64)
    first = v * (v - 1) // 2
    assert _pairs(first).tolist() == [[0, x] for x in v.tolist()]
    assert _pairs(first - 1).tolist() == [[x - 2, x - 1] for x in v.tolist()]


@settings(deadline=None)
@given(st.integers(1, 30), st.integers(0, 50))
def test_a_random_tree_is_a_tree(n: int, seed: int) -> None:
    tree = random_tree(n, seed)
    assert nx.is_tree(tree.to_networkx())
    assert tree == random_tree(n, seed)


def test_every_labelled_tree_is_equally_likely() -> None:
    rng = np.random.default_rng(5)
    found = Counter(random_tree(4, rng) for _ in range(3200))
    assert len(found) == 4**2
    assert sum((count - 200) ** 2 / 200 for count in found.values()) < 37.7  # 15 degrees of freedom, 0.001


def test_regular_shapes() -> None:
    assert grid(2, 3).edges == ((0, 1), (0, 3), (1, 2), (1, 4), (2, 5), (3, 4), (4, 5))
    assert grid(1, 4) == path(4)
    assert nx.is_isomorphic(grid(4, 5).to_networkx(), nx.grid_2d_graph(4, 5))
    assert cycle(4).edges == ((0, 1), (0, 3), (1, 2), (2, 3))
    assert star(4).edges == ((0, 1), (0, 2), (0, 3))
    assert path(1) == star(1) == grid(1, 1) == Graph.empty(1)


def test_every_graph_of_an_erdos_renyi_draw_has_its_probability() -> None:
    rng = np.random.default_rng(8)
    found = Counter(erdos_renyi(3, 0.3, rng) for _ in range(4000))
    assert len(found) == 8
    expected = {graph: 4000 * 0.3**graph.n_edges * 0.7 ** (3 - graph.n_edges) for graph in found}
    statistic = sum((count - expected[graph]) ** 2 / expected[graph] for graph, count in found.items())
    assert statistic < 24.3  # chi-square with 7 degrees of freedom: above it with probability 0.001
    assert erdos_renyi(20_000, 1e-4, seed=1).n_edges < 30_000
    assert erdos_renyi(9, 0.5, seed=4) == erdos_renyi(9, 0.5, np.random.default_rng(4))


@settings(deadline=None)
@given(st.integers(1, 4), st.integers(0, 30), st.integers(0, 20))
def test_scale_free_graphs_grow_by_m_links(m: int, more: int, seed: int) -> None:
    n = m + 1 + more
    graph = barabasi_albert(n, m, seed)
    assert graph.n_edges == m * (n - m)
    assert len(graph.components()) == 1
    for x in range(m + 1, n):
        assert sum(y < x for y in graph.neighbors(x)) == m
    assert graph == barabasi_albert(n, m, np.random.default_rng(seed))


def test_new_variables_prefer_high_degrees() -> None:
    rng = np.random.default_rng(2)
    found = Counter(next(iter(barabasi_albert(4, 1, rng).neighbors(3))) for _ in range(4000))
    # m = 1 starts from the pair 0 - 1; 2 joins either end, and then 3 joins the middle with probability 1/2.
    middle = sum(found[x] for x in (0, 1))
    assert abs(middle / 4000 - (1 / 2 + 1 / 4)) < 4 * (0.75 * 0.25 / 4000) ** 0.5


def test_periodic_lattices_wrap() -> None:
    torus = grid(4, 5, periodic=True)
    assert nx.is_isomorphic(torus.to_networkx(), nx.grid_2d_graph(4, 5, periodic=True))
    assert set(torus.degrees().tolist()) == {4}
    assert grid(2, 2, periodic=True) == grid(2, 2)
    assert grid(1, 5, periodic=True) == cycle(5)
    assert grid(5, 1, periodic=True) == cycle(5)


def test_hubs_and_cliques_in_a_row() -> None:
    assert hubs(1, 5) == star(6)
    assert hubs(2, 7).degrees().tolist() == [8, 8, *[1] * 14]
    assert hubs(4, 7).degrees().tolist() == [10] * 4 + [1] * 28
    assert clique_chain(6, 2) == path(6)
    assert clique_chain(6, 3, 0) == disjoint_union([Graph.complete(3)] * 2)
    assert sorted(map(sorted, nx.find_cliques(clique_chain(7, 4, 2).to_networkx()))) == [
        *([0, 1, 2, 3], [2, 3, 4, 5], [4, 5, 6]),
    ]
    assert clique_chain(2, 5) == Graph.complete(2)
    assert disjoint_union([]) == Graph.empty(0)


def test_seeds_give_the_graphs_they_always_gave() -> None:
    """A change here changes published figures: raise the version and note it in the changelog."""
    assert random_graph(6, 2, seed=1).edges == RANDOM_6
    assert barabasi_albert(6, 2, seed=1).edges == SCALE_FREE_6
    assert erdos_renyi(5, 0.4, seed=1).edges == ERDOS_RENYI_5
    assert random_tree(6, seed=1).edges == TREE_6


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (lambda: erdos_renyi(5, 1.1, 1), "probability must be from 0 to 1; got 1.1"),
        (lambda: erdos_renyi(5, float("nan"), 1), "got nan"),
        (lambda: barabasi_albert(3, 3, 1), "n_variables must be at least 4; got 3"),
        (lambda: barabasi_albert(3, 0, 1), "n_links must be at least 1; got 0"),
        (lambda: hubs(0, 3), "n_hubs must be at least 1"),
        (lambda: hubs(2, -1), "n_leaves must be at least 0"),
        (lambda: clique_chain(5, 1), "clique_size must be at least 2"),
        (lambda: clique_chain(5, 3, 3), "overlap must be less than clique_size = 3; got 3"),
        (lambda: random_graph(0, 0, 1), "n_variables must be at least 1; got 0"),
        (lambda: random_graph(5, 4.1, 1), "average_degree must be from 0 to n_variables - 1 = 4; got 4.1"),
        (lambda: random_graph(5, -1, 1), "got -1"),
        (lambda: random_graph(5, float("nan"), 1), "got nan"),
        (lambda: random_graph(5, 1, -1), "seed must be an integer of at least 0 or a numpy.random.Generator; got -1"),
        (lambda: random_graph(5, 1, None), "got None"),  # type: ignore[arg-type]
        (lambda: random_tree(0, 1), "n_variables must be at least 1"),
        (lambda: random_tree(2, None), "seed must be"),  # type: ignore[arg-type]
        (lambda: cycle(2), "n_variables must be at least 3; got 2"),
        (lambda: grid(0, 3), "n_rows must be at least 1"),
        (lambda: grid(3, 0), "n_columns must be at least 1"),
        (lambda: star(1.5), "n_variables must be an integer; got 1.5"),  # type: ignore[arg-type]
        (lambda: path(0), "n_variables must be at least 1"),
    ],
)
def test_bad_input_is_refused_by_name(build: Callable[[], object], message: str) -> None:
    with pytest.raises(InputError, match=message):
        build()
