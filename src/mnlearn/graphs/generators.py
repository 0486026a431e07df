"""Graphs to learn from and to test with: random ones, each with a seed, and a few regular shapes."""

from __future__ import annotations

from math import floor, isfinite
from operator import index

import numpy as np
from numpy.typing import NDArray

from mnlearn.errors import InputError
from mnlearn.graphs._seeds import Seed, rng_from
from mnlearn.graphs.graph import Graph


def random_graph(n_variables: int, average_degree: float, seed: Seed) -> Graph:
    """A graph with n τ / 2 edges (rounded down), every choice of them equally likely.

    The edges are the first n τ / 2 pairs of a random permutation of all pairs [JAIR09, Sec. 5.1], τ being the average
    degree; the rest of the permutation is never drawn, so memory follows the edges.

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
    if not (isfinite(average_degree) and 0 <= average_degree <= n - 1):
        raise InputError(f"average_degree must be from 0 to n_variables - 1 = {n - 1}; got {average_degree}.")
    n_edges = floor(n * average_degree / 2 + 1e-9)  # 10 × 0.6 / 2 is 3, whatever the rounding says
    chosen = rng_from(seed).choice(n * (n - 1) // 2, size=n_edges, replace=False) if n_edges else np.empty(0, np.int64)
    return Graph(n, _pairs(chosen.astype(np.int64)).tolist())


def random_tree(n_variables: int, seed: Seed) -> Graph:
    """A tree, every labelled tree on n variables equally likely: a random Prüfer sequence, decoded."""
    n = _size("n_variables", n_variables, 1)
    rng = rng_from(seed)
    if n <= 2:
        return Graph.complete(n)
    import networkx as nx

    return Graph(n, nx.from_prufer_sequence(rng.integers(n, size=n - 2).tolist()).edges())


def grid(n_rows: int, n_columns: int) -> Graph:
    """A lattice without wrapping; the variable in row r and column c has index r * n_columns + c."""
    rows, columns = _size("n_rows", n_rows, 1), _size("n_columns", n_columns, 1)
    place = np.arange(rows * columns).reshape(rows, columns)
    across = np.stack([place[:, :-1].ravel(), place[:, 1:].ravel()], axis=1)
    down = np.stack([place[:-1].ravel(), place[1:].ravel()], axis=1)
    return Graph(rows * columns, np.concatenate([across, down]).tolist())


def path(n_variables: int) -> Graph:
    """A chain 0 - 1 - ... - (n-1)."""
    n = _size("n_variables", n_variables, 1)
    return Graph(n, ((x, x + 1) for x in range(n - 1)))


def cycle(n_variables: int) -> Graph:
    """A ring 0 - 1 - ... - (n-1) - 0."""
    n = _size("n_variables", n_variables, 3)
    return Graph(n, ((x, (x + 1) % n) for x in range(n)))


def star(n_variables: int) -> Graph:
    """A hub, variable 0, joined to all others."""
    n = _size("n_variables", n_variables, 1)
    return Graph(n, ((0, x) for x in range(1, n)))


def _size(argument: str, value: int, least: int) -> int:
    """A checked number of variables, rows or columns."""
    try:
        size = index(value)
    except TypeError:
        raise InputError(f"{argument} must be an integer; got {value!r}.") from None
    if size < least:
        raise InputError(f"{argument} must be at least {least}; got {size}.")
    return size


def _pairs(numbers: NDArray[np.int64]) -> NDArray[np.int64]:
    """Pairs (u, v), u < v, by number: (0,1), (0,2), (1,2), (0,3), ... so pair number v(v-1)/2 + u is (u, v)."""
    v = ((1 + np.sqrt(8.0 * numbers + 1)) / 2).astype(np.int64)
    v -= v * (v - 1) // 2 > numbers  # the root may round up
    v += v * (v + 1) // 2 <= numbers  # or down
    return np.stack([numbers - v * (v - 1) // 2, v], axis=1)
