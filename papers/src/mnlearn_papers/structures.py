"""Structures that papers draw and do not list: those of six variables of [BJP18] and of sixteen of [MPL17]."""

from __future__ import annotations

from typing import Literal

from mnlearn.errors import InputError
from mnlearn.graphs.generators import (
    clique_chain,
    cycle,
    disjoint_union,
    grid,
    hubs,
    irregularity,
    star,
    total_irregularity,
)
from mnlearn.graphs.graph import Graph

_COMPONENT = 16  # variables in each of the four components of [MPL17]


def six_node_structures() -> tuple[Graph, ...]:
    """Return six graphs of six variables with total irregularities 0, 10, 18, 20, 26 and 26  [BJP18, Figure 2].

    The figure gives these numbers and a drawing. Ours: a ring; a ring of five with one more variable; a hub with four
    neighbours, one of which has another neighbour; a star; and two of the four connected graphs that reach 26,
    the maximum on six variables.

    Examples
    --------
    >>> [total_irregularity(graph) for graph in six_node_structures()]
    [0, 10, 18, 20, 26, 26]
    """
    ring_and_one = Graph(6, [*cycle(5).edges, (0, 5)])
    hub_and_tail = Graph(6, [(0, 1), (0, 2), (0, 3), (0, 4), (4, 5)])
    two_triangles = star(6).add([(1, 2), (1, 3)])
    three_triangles = star(6).add([(1, 2), (1, 3), (1, 4)])
    return cycle(6), ring_and_one, hub_and_tail, star(6), two_triangles, three_triangles


def six_node_graphs(level: int, *, over: Literal["pairs", "edges"] = "pairs") -> tuple[Graph, ...]:
    """Return all graphs of six variables with one irregularity, each once up to isomorphism.

    Parameters
    ----------
    level
        The irregularity wanted.
    over
        "pairs" sums |d(i) − d(j)| over all pairs, as the published numbers do; "edges" over the edges [BJP18, Eq. 15].

    Examples
    --------
    >>> len(six_node_graphs(26)), len(six_node_graphs(0, over="edges"))
    (8, 18)
    """
    if over not in ("pairs", "edges"):
        raise InputError(f"over must be 'pairs' or 'edges'; got {over!r}. Use one of the two.")
    from networkx.generators.atlas import graph_atlas_g

    measure = total_irregularity if over == "pairs" else irregularity
    of_six = (Graph.from_networkx(graph)[0] for graph in graph_atlas_g() if len(graph) == 6)
    return tuple(graph for graph in of_six if measure(graph) == level)


def sixteen_node_components() -> dict[str, Graph]:
    """Return the four components of 16 variables from which [MPL17, Sec. 5.1] builds its networks.

    They are only drawn there; this choice gives magnitudes like those of its Table 1: a 4 x 4 grid (24 edges), two
    joined stars (15), a ring (16), and a chain of triangles (22, the last link a single edge).

    Examples
    --------
    >>> {name: graph.n_edges for name, graph in sixteen_node_components().items()}
    {'grid': 24, 'stars': 15, 'ring': 16, 'triangles': 22}
    """
    return {
        "grid": grid(4, 4),
        "stars": hubs(2, 7),
        "ring": cycle(_COMPONENT),
        "triangles": clique_chain(_COMPONENT, 3),
    }


def sixteen_node_replicas(n_variables: int) -> Graph:
    """Return the four components side by side, 1, 2, 4 or 8 times each, or as often as fits  [MPL17, Sec. 5.1].

    Parameters
    ----------
    n_variables
        A multiple of 64; the paper has 64, 128, 256 and 512.

    Examples
    --------
    >>> graph = sixteen_node_replicas(128)
    >>> graph.n_variables, graph.n_edges, len(graph.components())
    (128, 154, 8)
    """
    components = tuple(sixteen_node_components().values())
    times, left = divmod(n_variables, _COMPONENT * len(components))
    if times < 1 or left:
        raise InputError(f"n_variables must be a multiple of 64; got {n_variables}. The paper has 64, 128, 256, 512.")
    return disjoint_union(components * times)
