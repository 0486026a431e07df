"""Generators of graphs: random ones and regular shapes.

A seed gives the same graph on every machine, because only plain random numbers of NumPy are drawn.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import combinations
from math import floor
from operator import index

import numpy as np
from numpy.typing import NDArray

from mnlearn.errors import InputError, is_number, true_or_false, tuple_of
from mnlearn.graphs.graph import Graph, check_graph
from mnlearn.numbers import Seed, rng_from

_LARGEST = 10**7  # variables of a graph made of Python sets


def random_graph(n_variables: int, average_degree: float, seed: Seed) -> Graph:
    """Return a graph with n τ / 2 edges (rounded down), every choice of them equally likely.

    The edges are the first n τ / 2 pairs of a random permutation of all pairs [JAIR09, Sec. 5.1], τ being the average
    degree; the rest of the permutation is never drawn, so memory is linear in the edges.

    Parameters
    ----------
    n_variables
        n, at least 1.
    average_degree
        τ, from 0 to n - 1.
    seed
        An integer, or a generator to draw from.

    Examples
    --------
    >>> random_graph(50, 4, seed=1).n_edges
    100
    """
    n = _size("n_variables", n_variables, 1)
    if not (is_number(average_degree) and 0 <= average_degree <= n - 1):
        raise InputError(f"average_degree must be from 0 to n_variables - 1 = {n - 1}; got {average_degree}.")
    n_edges = floor(n * average_degree / 2 + 1e-9)  # 10 × 0.6 / 2 is 3 despite rounding
    return _uniform_graph(n, n_edges, rng_from(seed))


def erdos_renyi(n_variables: int, probability: float, seed: Seed) -> Graph:
    """Return a graph in which each pair is joined independently with the same probability.

    The number of edges is drawn first, from its binomial distribution, then the pairs; memory is linear in the edges.

    Parameters
    ----------
    n_variables
        n, at least 1.
    probability
        Of each edge, from 0 to 1.
    seed
        An integer, or a generator to draw from.

    Examples
    --------
    >>> erdos_renyi(5, 1.0, seed=1) == Graph.complete(5)
    True
    """
    n = _size("n_variables", n_variables, 1)
    if not (is_number(probability) and 0 <= probability <= 1):
        raise InputError(f"probability must be from 0 to 1; got {probability}.")
    rng = rng_from(seed)
    return _uniform_graph(n, int(rng.binomial(n * (n - 1) // 2, probability)), rng)


def barabasi_albert(n_variables: int, n_links: int, seed: Seed) -> Graph:
    """Return a scale-free graph: variables are added one by one, linked by preferential attachment  [BJP18, Sec. 4.2].

    The first `n_links` + 1 variables form a star around variable 0; every later one is joined to `n_links` different
    earlier ones, each drawn with probability in proportion to its degree.

    Parameters
    ----------
    n_variables
        n, more than `n_links`.
    n_links
        m, at least 1; with m = 1 the graph is a tree. There are m (n − m) edges.
    seed
        An integer, or a generator to draw from.

    Examples
    --------
    >>> barabasi_albert(20, 2, seed=1).n_edges
    36
    """
    m = _size("n_links", n_links, 1)
    n = _size("n_variables", n_variables, m + 1)
    rng = rng_from(seed)
    edges = [(0, x) for x in range(1, m + 1)]
    ends = [x for edge in edges for x in edge]  # every variable as often as its degree
    for x in range(m + 1, n):
        chosen: set[int] = set()
        while len(chosen) < m:
            chosen.add(ends[int(rng.random() * len(ends))])
        edges += [(y, x) for y in sorted(chosen)]
        ends += [end for y in sorted(chosen) for end in (y, x)]
    return Graph(n, edges)


def random_tree(n_variables: int, seed: Seed) -> Graph:
    """Return a tree, every labelled tree on n variables equally likely, from a random Prüfer sequence."""
    n = _size("n_variables", n_variables, 1)
    rng = rng_from(seed)
    if n <= 2:
        return Graph.complete(n)
    import networkx as nx

    return Graph(n, nx.from_prufer_sequence(rng.integers(n, size=n - 2).tolist()).edges())


def grid(n_rows: int, n_columns: int, *, periodic: bool = False) -> Graph:
    """Return a lattice; the variable in row r and column c has index r * n_columns + c.

    Parameters
    ----------
    n_rows, n_columns
        Its sides, at least 1 each.
    periodic
        Whether the last row and column are joined to the first, as on a torus. On a side of one or two this adds
        no edge.

    Examples
    --------
    >>> grid(3, 4).n_edges, grid(3, 4, periodic=True).n_edges
    (17, 24)
    """
    rows, columns = _size("n_rows", n_rows, 1), _size("n_columns", n_columns, 1)
    true_or_false(periodic=periodic)
    place = np.arange(rows * columns).reshape(rows, columns)
    across = np.stack([place[:, :-1].ravel(), place[:, 1:].ravel()], axis=1)
    down = np.stack([place[:-1].ravel(), place[1:].ravel()], axis=1)
    wrapped = [np.stack([place[:, -1], place[:, 0]], axis=1)] if periodic and columns > 2 else []
    wrapped += [np.stack([place[-1], place[0]], axis=1)] if periodic and rows > 2 else []
    return Graph(rows * columns, np.concatenate([across, down, *wrapped]).tolist())


def path(n_variables: int) -> Graph:
    """Return a chain 0 - 1 - ... - (n-1)."""
    n = _size("n_variables", n_variables, 1)
    return Graph(n, ((x, x + 1) for x in range(n - 1)))


def cycle(n_variables: int) -> Graph:
    """Return a ring 0 - 1 - ... - (n-1) - 0."""
    n = _size("n_variables", n_variables, 3)
    return Graph(n, ((x, (x + 1) % n) for x in range(n)))


def star(n_variables: int) -> Graph:
    """Return a star: variable 0 is joined to all others."""
    n = _size("n_variables", n_variables, 1)
    return Graph(n, ((0, x) for x in range(1, n)))


def hubs(n_hubs: int, n_leaves: int) -> Graph:
    """Return hubs that are joined to one another, each with its own leaves.

    Parameters
    ----------
    n_hubs
        Number of hubs, at least 1: the variables 0, 1, ...
    n_leaves
        Number of leaves of each hub; those of hub 0 come first.

    Notes
    -----
    `hubs(1, k)` is a star. `hubs(2, 7)` is the double star that [BJP18] calls Hub 1; its larger hub networks are only
    drawn, and `hubs(4, 7)` (total irregularity 1008, printed 958) is near to Hub 2, not equal to it.

    Examples
    --------
    >>> hubs(2, 2).edges
    ((0, 1), (0, 2), (0, 3), (1, 4), (1, 5))
    """
    centres, leaves = _size("n_hubs", n_hubs, 1), _size("n_leaves", n_leaves, 0)
    spokes = [(hub, centres + hub * leaves + leaf) for hub in range(centres) for leaf in range(leaves)]
    return Graph(centres * (1 + leaves), [*Graph.complete(centres).edges, *spokes])


def clique_chain(n_variables: int, clique_size: int, overlap: int = 1) -> Graph:
    """Return cliques in a row, each sharing its first variables with the last ones of the previous clique.

    Parameters
    ----------
    n_variables
        At least 1. The last clique is smaller when the variables run out.
    clique_size
        At least 2.
    overlap
        Number of variables that two neighbouring cliques share, from 0 (no edge between them) to `clique_size` − 1.

    Examples
    --------
    >>> clique_chain(5, 3).edges
    ((0, 1), (0, 2), (1, 2), (2, 3), (2, 4), (3, 4))
    """
    n, size = _size("n_variables", n_variables, 1), _size("clique_size", clique_size, 2)
    shared = _size("overlap", overlap, 0)
    if shared >= size:
        raise InputError(f"overlap must be less than clique_size = {size}; got {shared}.")
    cliques = (range(start, min(start + size, n)) for start in range(0, n, size - shared))
    return Graph(n, {pair for clique in cliques for pair in combinations(clique, 2)})


def disjoint_union(graphs: Iterable[Graph]) -> Graph:
    """Return graphs side by side without edges between them; variables are numbered in the order of the graphs.

    Examples
    --------
    >>> disjoint_union([path(2), path(3)]).edges
    ((0, 1), (2, 3), (3, 4))
    """
    edges: list[tuple[int, int]] = []
    start = 0
    for graph in tuple_of("graphs", graphs, "graphs"):
        check_graph("graphs", graph)
        edges += [(start + u, start + v) for u, v in graph.edges]
        start += graph.n_variables
    return Graph(start, edges)


def _size(argument: str, value: int, least: int) -> int:
    """Return a checked number of variables, rows or columns."""
    try:
        size = index(None if isinstance(value, bool) else value)  # type: ignore[arg-type]
    except TypeError:
        raise InputError(f"{argument} must be an integer; got {value!r}. Give a whole number.") from None
    if size < least:
        raise InputError(f"{argument} must be at least {least}; got {size}. Choose a larger one.")
    if size > _LARGEST:
        raise InputError(f"{argument} must be at most {_LARGEST:,}; got {size}. Choose a smaller one.")
    return size


def _uniform_graph(n: int, n_edges: int, rng: np.random.Generator) -> Graph:
    """Return a graph with this many edges, every choice of them equally likely."""
    if not n_edges:
        return Graph(n)
    chosen = rng.choice(n * (n - 1) // 2, size=n_edges, replace=False)
    return Graph(n, _pairs(chosen.astype(np.int64)).tolist())


def _pairs(numbers: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return pairs (u, v), u < v, by number: (0,1), (0,2), (1,2), (0,3), ... so pair number v(v-1)/2 + u is (u, v)."""
    v = ((1 + np.sqrt(8.0 * numbers + 1)) / 2).astype(np.int64)
    v -= v * (v - 1) // 2 > numbers  # the root may round up
    v += v * (v + 1) // 2 <= numbers  # or down
    return np.stack([numbers - v * (v - 1) // 2, v], axis=1)


# The two measures of unequal degrees that [BJP18] calls irregularity


def irregularity(graph: Graph) -> int:
    """Return irr(G) = Σ_{(i,j) ∈ E} |d(i) − d(j)|: the imbalance of its edges; 0 for a regular graph  [BJP18, Eq. 15].

    Examples
    --------
    >>> irregularity(Graph(4, [(0, 1), (1, 2), (2, 3)]))
    2
    """
    check_graph("graph", graph)
    degrees = graph.degrees()
    return int(sum(abs(degrees[u] - degrees[v]) for u, v in graph.edges))


def total_irregularity(graph: Graph) -> int:
    """Return Σ_{i<j} |d(i) − d(j)| over all pairs, joined or not  [BJP18, Table 1; Table 3 lists its double].

    Examples
    --------
    >>> total_irregularity(Graph(4, [(0, 1), (1, 2), (2, 3)]))
    4
    """
    check_graph("graph", graph)
    ascending = np.sort(graph.degrees())
    # The i-th smallest of n is subtracted n − 1 − i times and added i times.
    return int((ascending * (2 * np.arange(len(ascending)) - len(ascending) + 1)).sum())
