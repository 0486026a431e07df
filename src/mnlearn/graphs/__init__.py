"""The undirected graph, ways to make one, and the files it lives in."""

from mnlearn.graphs.formats import FORMATS, NamedGraph, read_graph, write_graph
from mnlearn.graphs.generators import cycle, grid, path, random_graph, random_tree, star
from mnlearn.graphs.graph import Edge, Graph

__all__ = [
    "FORMATS",
    "Edge",
    "Graph",
    "NamedGraph",
    "cycle",
    "grid",
    "path",
    "random_graph",
    "random_tree",
    "read_graph",
    "star",
    "write_graph",
]
