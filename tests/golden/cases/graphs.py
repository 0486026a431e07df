"""Generators and formats of graphs."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import mnlearn as mn
from golden.engine import cases_of
from mnlearn import graphs
from mnlearn.graphs.formats import carries_numbers

case = cases_of(__name__)


@case("graphs")
def generators() -> object:
    """Make one graph by every generator."""
    return {
        "random": graphs.random_graph(30, 3.0, 1),
        "erdos_renyi": graphs.erdos_renyi(30, 0.1, 2),
        "barabasi_albert": graphs.barabasi_albert(30, 2, 3),
        "tree": graphs.random_tree(30, 4),
        "grid": graphs.grid(3, 4, periodic=True),
        "hubs": graphs.hubs(3, 4),
        "cliques": graphs.clique_chain(10, 3, 1),
        "union": graphs.disjoint_union([graphs.path(3), graphs.cycle(4), graphs.star(4)]),
        "irregularity": [graphs.irregularity(graphs.star(6)), graphs.total_irregularity(graphs.star(6))],
    }


@case("file graph formats")
def graph_formats() -> object:
    """Write a graph without attributes in every format."""
    found: dict[str, dict[str, Any]] = {}
    with TemporaryDirectory() as folder:
        for name in graphs.FORMATS:
            path = Path(folder) / f"graph.{name}"
            mn.write_graph(path, graphs.grid(2, 3), [f"node {x}" for x in range(6)], format=name)
            found[name] = {"file": path.read_text(encoding="utf-8").splitlines()}
            if name != "dot":
                found[name]["read"] = mn.read_graph(path, name).graph
    return found


@case("file graph formats with numbers")
def graph_formats_with_numbers() -> object:
    """Write a graph with numbers of its edges in every format."""
    graph, found = graphs.cycle(4), {}
    weights = {edge: {"weight": 0.5 - k} for k, edge in enumerate(graph.edges)}
    both = {edge: {**numbers, "support": 10.0 / (2 + edge[1])} for edge, numbers in weights.items()}
    with TemporaryDirectory() as folder:
        for name in graphs.FORMATS:
            path = Path(folder) / f"graph.{name}"
            mn.write_graph(
                path, graph, list("abcd"), format=name, attributes=both if carries_numbers(path, name) else weights
            )
            text = path.read_text(encoding="utf-8").splitlines()
            read = mn.read_graph(path, name) if name != "dot" else None
            found[name] = {"file": text} | (
                {} if read is None else {"read": read.graph, "attributes": dict(read.attributes)}
            )
    return found
