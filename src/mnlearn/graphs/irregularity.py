"""How unequal the degrees of a graph are: the two numbers that [BJP18] calls irregularity."""

from __future__ import annotations

import numpy as np

from mnlearn.graphs._checks import check_graph
from mnlearn.graphs.graph import Graph


def irregularity(graph: Graph) -> int:
    """irr(G) = Σ_{(i,j) ∈ E} |d(i) − d(j)|: the imbalance of its edges; 0 for a regular graph  [BJP18, Eq. 15].

    Examples
    --------
    >>> irregularity(Graph(4, [(0, 1), (1, 2), (2, 3)]))
    2
    """
    check_graph("graph", graph)
    degrees = graph.degrees()
    return int(sum(abs(degrees[u] - degrees[v]) for u, v in graph.edges))


def total_irregularity(graph: Graph) -> int:
    """Σ_{i<j} |d(i) − d(j)| over all pairs, joined or not: what Table 1 of [BJP18] lists (Table 3 lists its double).

    Examples
    --------
    >>> total_irregularity(Graph(4, [(0, 1), (1, 2), (2, 3)]))
    4
    """
    check_graph("graph", graph)
    ascending = np.sort(graph.degrees())
    # The i-th smallest of n is subtracted n − 1 − i times and added i times.
    return int((ascending * (2 * np.arange(len(ascending)) - len(ascending) + 1)).sum())
