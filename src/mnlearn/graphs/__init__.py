"""The undirected graph, ways to make one, and the files it lives in."""

from mnlearn.graphs.formats import FORMATS, NamedGraph, read_graph, write_graph
from mnlearn.graphs.generators import (
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
from mnlearn.graphs.graph import Edge, Graph
from mnlearn.graphs.irregularity import irregularity, total_irregularity
from mnlearn.graphs.structures import (
    six_node_graphs,
    six_node_structures,
    sixteen_node_components,
    sixteen_node_replicas,
)

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
    "six_node_graphs",
    "six_node_structures",
    "sixteen_node_components",
    "sixteen_node_replicas",
    "star",
    "total_irregularity",
    "write_graph",
]
