"""Undirected graphs, generators of graphs, and graph files."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mnlearn.graphs.formats import FORMATS, read_graph, write_graph
    from mnlearn.graphs.generators import (
        barabasi_albert,
        clique_chain,
        cycle,
        disjoint_union,
        erdos_renyi,
        grid,
        hubs,
        irregularity,
        path,
        random_graph,
        random_tree,
        star,
        total_irregularity,
    )
    from mnlearn.graphs.graph import Edge, Graph
    from mnlearn.graphs.named import NamedGraph

__all__ = [
    "FORMATS",
    "Edge",
    "Graph",
    "NamedGraph",
    "barabasi_albert",
    "clique_chain",
    "cycle",
    "disjoint_union",
    "erdos_renyi",
    "grid",
    "hubs",
    "irregularity",
    "path",
    "random_graph",
    "random_tree",
    "read_graph",
    "star",
    "total_irregularity",
    "write_graph",
]

if not TYPE_CHECKING:
    from mnlearn._lazy import on_first_use

    _MODULES = ("graph", "named", "formats", "generators")
    __getattr__, __dir__ = on_first_use(__name__, __all__, _MODULES)
