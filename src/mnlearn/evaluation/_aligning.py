"""Which graphs can be compared: those over the same variables."""

from __future__ import annotations

from mnlearn.errors import InputError, UnknownNameError, UnsuitableError
from mnlearn.graphs import NamedGraph
from mnlearn.graphs._checks import check_graph
from mnlearn.graphs.graph import Graph


def align(learned: NamedGraph, truth: NamedGraph) -> tuple[Graph, Graph]:
    """Two graphs with the same names, as graphs by index in the order of the truth.

    Parameters
    ----------
    learned, truth
        Graphs over the same names, in any order.

    Raises
    ------
    UnknownNameError
        If one of them has a variable that the other has not.

    Examples
    --------
    >>> learned = NamedGraph(Graph(3, [(0, 1)]), ("c", "b", "a"))
    >>> align(learned, NamedGraph(Graph(3), ("a", "b", "c")))[0].edges
    ((1, 2),)
    """
    for which, network in (("learned", learned), ("truth", truth)):
        if not (hasattr(network, "names") and hasattr(network, "graph")):
            raise UnsuitableError(
                f"{which} must be a graph with names; got a {type(network).__name__}. Make a NamedGraph of it."
            )
    place = {name: x for x, name in enumerate(truth.names)}
    for one, other, which in ((learned.names, set(place), "learned"), (truth.names, set(learned.names), "true")):
        strange = [name for name in one if name not in other]
        if strange:
            more = f" and {len(strange) - 1} more" if len(strange) > 1 else ""
            raise UnknownNameError(
                f"learned and truth must have the same variables; only the {which} graph has {strange[0]!r}{more}. "
                f"Compare graphs of the same data."
            )
    return learned.graph.relabel([place[name] for name in learned.names]), truth.graph


def check_same_variables(learned: Graph, truth: Graph) -> None:
    """Two graphs can be compared only over the same variables."""
    check_graph("learned", learned)
    check_graph("truth", truth)
    if learned.n_variables != truth.n_variables:
        raise InputError(
            f"learned and truth must be over the same variables; got {learned.n_variables} and {truth.n_variables}. "
            f"Align them by name (mnlearn.evaluation.align), or compare graphs of the same data."
        )
