"""What users say by name, as the indices that everything inside the library works with."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence

from mnlearn.data import Dataset
from mnlearn.errors import InputError, unknown_name
from mnlearn.graphs import NamedGraph, read_graph
from mnlearn.graphs.graph import Edge, Graph
from mnlearn.output.learned import Learned

GraphLike = str | os.PathLike[str] | NamedGraph | Learned | Graph | Iterable[Sequence[str]]
"""A file, a graph with names, a learned network, a graph in the order of the columns, or pairs of names."""


def variables_by_name(argument: str, chosen: Iterable[str], names: Sequence[str]) -> tuple[int, ...]:
    """The places of these variables."""
    place = {name: x for x, name in enumerate(names)}
    if isinstance(chosen, str):
        raise InputError(f"{argument} must be a list of names; got {chosen!r}. Write [{chosen!r}].")
    found = []
    for name in chosen:
        if name not in place:
            raise unknown_name(f"{argument}: variable", name, names)
        found.append(place[name])
    return tuple(found)


def edges_by_name(argument: str, pairs: Iterable[Sequence[str]], names: Sequence[str]) -> tuple[Edge, ...]:
    """Pairs of names as edges, each once, in ascending order."""
    found = set()
    for pair in pairs:
        if isinstance(pair, str) or len(ends := tuple(pair)) != 2 or ends[0] == ends[1]:
            raise InputError(
                f"{argument} must hold pairs of two different variables by name; got {pair!r}. "
                f"Write for example [({names[0]!r}, {names[-1]!r})]."
            )
        u, v = sorted(variables_by_name(argument, ends, names))
        found.add((u, v))
    return tuple(sorted(found))


def named_edges(graph: Graph, names: Sequence[str]) -> list[list[str]]:
    """The edges as pairs of names, for documents."""
    return [[names[u], names[v]] for u, v in graph.edges]


def graph_over(dataset: Dataset, graph: GraphLike) -> Graph:
    """The graph with the data's columns as its variables, matched by name.

    Raises
    ------
    InputError
        If the graph has other variables than the data.
    """
    if isinstance(graph, Graph):
        if graph.n_variables != dataset.n_variables:
            raise InputError(
                f"graph must have one variable for each of the {dataset.n_variables} columns; got "
                f"{graph.n_variables}. Choose the columns (columns=[...]), or give it with names."
            )
        return graph
    if isinstance(graph, str | os.PathLike):
        graph = read_graph(graph)
    if isinstance(graph, NamedGraph | Learned):
        _check_same(graph.names, dataset.names)
        place = [dataset.names.index(name) for name in graph.names]
        return graph.graph.relabel(place)
    return Graph(dataset.n_variables, edges_by_name("graph", graph, dataset.names))


def _check_same(of_graph: Sequence[str], of_data: Sequence[str]) -> None:
    """Every variable is in both."""
    for name in of_graph:
        if name not in of_data:
            raise unknown_name("graph must have the columns of the data as its variables: column", name, of_data)
    missing = [name for name in of_data if name not in of_graph]
    if missing:
        raise InputError(
            f"graph must have every column of the data as a variable; {missing[0]!r}"
            f"{f' and {len(missing) - 1} more are' if len(missing) > 1 else ' is'} missing. Add "
            f"{'them' if len(missing) > 1 else 'it'} to the graph, or leave the column out (columns=[...])."
        )
