"""GraphML and GML, parsed and written by networkx; what its readers would let pass is refused here."""

from __future__ import annotations

import io
import re
import warnings
from collections.abc import Iterable
from typing import Any

from mnlearn.errors import FileError, InputError
from mnlearn.graphs._named import Assembly, NamedGraph, refuse_directed

_NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_MARK = "'"  # put before every quoted GML text, because networkx turns the texts "()" and "[]" into other things


def parse_graphml(text: str) -> NamedGraph:
    """The one graph of a GraphML file; nodes go by their `name` if every node has one, otherwise by their id."""
    import networkx as nx

    if "<!DOCTYPE" in text or "<!ENTITY" in text:  # entities can expand without bound or read other files
        raise FileError("the text must not declare a DOCTYPE or entities; got such a declaration. Remove it.")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # networkx warns of ports and untyped keys, which are no part of a structure
        _check_elements(text)
        graph = nx.parse_graphml(text)
    refuse_directed(graph.is_directed(), "GraphML graph", 'If no direction is meant, set edgedefault="undirected".')
    named = {node: name for node, name in graph.nodes(data="name") if isinstance(name, str) and name}
    return _assembled(graph, named if len(named) == len(graph) else {node: node for node in graph})


def _check_elements(text: str) -> None:
    """One graph; every node once; every edge between nodes that exist."""
    from xml.etree import ElementTree

    found: dict[str, list[Any]] = {"graph": [], "node": [], "edge": []}
    for element in ElementTree.fromstring(text).iter():
        found.get(str(element.tag).rpartition("}")[2], []).append(element)
    if len(found["graph"]) > 1:
        raise FileError(f"the file must hold one graph; got {len(found['graph'])}. Keep one of them.")
    known: set[str | None] = set()
    for node in found["node"]:
        if node.get("id") in known or node.get("id") is None:
            raise FileError(f"every node must have an id of its own; got {node.get('id')!r} twice or none at all.")
        known.add(node.get("id"))
    for edge in found["edge"]:
        for end in (edge.get("source"), edge.get("target")):
            if end not in known:
                raise FileError(f"an edge must join declared nodes; got {end!r}, which is not declared.")


def render_graphml(named: NamedGraph) -> str:
    """Nodes whose id is the name; numbers on edges as doubles."""
    import networkx as nx

    for name in named.names:
        if _NOT_XML.search(name):
            raise InputError(
                f"names in GraphML must not contain control characters, which XML forbids; got {name!r}. "
                f"Rename it, or write JSON or GML."
            )
    target = io.BytesIO()
    nx.write_graphml_xml(_as_networkx(named), target, encoding="utf-8")
    return target.getvalue().decode("utf-8")


def parse_gml(text: str) -> NamedGraph:
    """The one graph of a GML file; nodes go by their label if every node has one, otherwise by their id."""
    import networkx as nx

    ascii_text = re.sub(r"[^\x00-\x7f]", lambda letter: f"&#{ord(letter.group())};", text)
    lines = [line.removesuffix("\r") for line in ascii_text.split("\n")]
    graph = nx.parse_gml(lines, label=None, destringizer=lambda found: _MARK + found)
    refuse_directed(graph.is_directed(), "GML graph", "If no direction is meant, remove its line `directed 1`.")
    labels = {node: label for node, label in graph.nodes(data="label") if label is not None}
    names = labels if len(labels) == len(graph) else {node: node for node in graph}
    return _assembled(graph, {node: _unmarked(name) for node, name in names.items()})


def _unmarked(name: object) -> str:
    """A label or id as it stands in the file."""
    return name[len(_MARK) :] if isinstance(name, str) else str(name)


def render_gml(named: NamedGraph) -> str:
    """Nodes whose label is the name; what is not ASCII is written as a character reference, as GML asks."""
    import networkx as nx

    return "".join(f"{line}\n" for line in nx.generate_gml(_as_networkx(named)))


def _assembled(graph: Any, names: dict[Any, str]) -> NamedGraph:
    """A parsed graph under the names of its nodes."""
    assembly = Assembly()
    for node in graph:
        assembly.declare(names[node])
    edges: Iterable[tuple[Any, Any, dict[str, Any]]] = graph.edges(data=True)
    for u, v, attributes in edges:
        assembly.join(names[u], names[v], attributes)
    return assembly.finish()


def _as_networkx(named: NamedGraph) -> Any:
    """The graph with plain floats on its edges, so that each attribute has one type in the file."""
    graph = named.graph.to_networkx(named.names)
    for a, b, numbers in named.named_edges():
        graph.edges[a, b].update({key: float(value) for key, value in numbers.items()})
    return graph
