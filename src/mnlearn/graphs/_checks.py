"""What every function of a graph refuses in the same words."""

from __future__ import annotations

from mnlearn.errors import UnsuitableError
from mnlearn.graphs.graph import Graph


def check_graph(argument: str, graph: object) -> None:
    """Refuse what is no graph by index."""
    if not isinstance(graph, Graph):
        raise UnsuitableError(
            f"{argument} must be a Graph; got a {type(graph).__name__}. Of a network with names, give its .graph."
        )
