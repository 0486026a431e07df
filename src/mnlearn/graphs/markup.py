"""Markup formats: GraphML by networkx, with more checks than its reader makes; DOT, which is only written; JSON."""

from __future__ import annotations

import io
import json
import math
import re
import warnings
from collections.abc import Mapping
from typing import Any

from mnlearn.errors import FileError, InputError
from mnlearn.graphs.graph import Edge
from mnlearn.graphs.named import EdgeNumbers, GraphBuilder, NamedGraph, check_undirected

# GraphML


_NOT_XML = "[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]"  # takes 5 ms to compile
_DEEPEST_ELEMENT = 100


def parse_graphml(text: str) -> NamedGraph:
    """Parse the one graph of a GraphML file; nodes are named by their `name` if every node has one, or by their id."""
    import networkx as nx

    if "<!DOCTYPE" in text or "<!ENTITY" in text:  # entities can expand without bound or read other files
        raise FileError("the text must not declare a DOCTYPE or entities; got such a declaration. Remove it.")
    _check_elements(text)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # networkx warns of ports and untyped keys, which do not matter for a structure
        graph = nx.parse_graphml(text)
    check_undirected(graph.is_directed(), "GraphML graph", 'If no direction is meant, set edgedefault="undirected".')
    named = {node: name for node, name in graph.nodes(data="name") if isinstance(name, str) and name}
    names = named if len(named) == len(graph) else {node: node for node in graph}
    builder = GraphBuilder()
    for node in graph:
        builder.declare(names[node])
    for u, v, attributes in graph.edges(data=True):
        builder.join(names[u], names[v], attributes)
    return builder.finish()


def _check_elements(text: str) -> None:
    """Raise FileError unless there is one graph, with every node once and every edge between its nodes."""
    from xml.parsers import expat

    depth = graphs = 0
    nodes: set[str | None] = set()
    ends: dict[str | None, None] = {}

    def start(tag: str, found: dict[str, str]) -> None:
        nonlocal depth, graphs
        depth += 1
        if depth > _DEEPEST_ELEMENT:  # a tree of them takes minutes
            raise FileError(f"elements must be nested at most {_DEEPEST_ELEMENT} deep; got more. Is it GraphML?")
        kind = tag.rpartition("}")[2]
        graphs += kind == "graph"
        if kind == "node":
            name = found.get("id")
            if name in nodes or name is None:
                raise FileError(f"every node must have an id of its own; got {name!r} twice or none at all.")
            nodes.add(name)
        elif kind == "edge":
            ends.update({found.get("source"): None, found.get("target"): None})

    def end(_tag: str) -> None:
        nonlocal depth
        depth -= 1

    parser = expat.ParserCreate(namespace_separator="}")
    parser.StartElementHandler, parser.EndElementHandler = start, end
    parser.Parse(text, True)
    if graphs > 1:
        raise FileError(f"the file must hold one graph; got {graphs}. Keep one of them.")
    for name in ends:
        if name not in nodes:
            raise FileError(f"an edge must join declared nodes; got {name!r}, which is not declared.")


def render_graphml(named: NamedGraph) -> str:
    """Return GraphML with names as ids of nodes, and numbers on edges as doubles."""
    import networkx as nx

    for name in named.names:
        if re.search(_NOT_XML, name):
            raise InputError(
                f"names in GraphML must not contain control characters, which XML forbids; got {name!r}. "
                f"Rename it, or write JSON."
            )
    graph = named.graph.to_networkx(named.names)
    for a, b, numbers in named.named_edges():
        graph.edges[a, b].update({key: float(value) for key, value in numbers.items()})
    target = io.BytesIO()
    nx.write_graphml_xml(graph, target)
    return target.getvalue().decode("utf-8")


# DOT, the language of Graphviz


def render_dot(named: NamedGraph) -> str:
    """Return DOT with every variable, then every edge, all names quoted."""
    names = [_quoted(name) for name in named.names]
    edges = []
    for (u, v), (_, _, numbers) in zip(named.graph.edges, named.named_edges(), strict=True):
        listed = ", ".join(f'{key}="{float(value)!r}"' for key, value in numbers.items())
        edges.append(f"{names[u]} -- {names[v]}" + (f" [{listed}]" if listed else ""))
    return "graph {\n" + "".join(f"  {statement};\n" for statement in [*names, *edges]) + "}\n"


def _quoted(name: str) -> str:
    """Return a name between quotes, split after a backslash at the end of a line, which would join it to the next."""
    escaped = name.replace("\\", r"\\").replace('"', r"\"")
    return '"' + re.sub(r"\\(?=\r?\n)", r'\\" + "', escaped) + '"'


# JSON, in a small schema:
#
#     {"format": "mnlearn-graph", "version": 1,
#      "variables": ["a", "b", "c"],
#      "edges": [["a", "b"], ["b", "c"]],
#      "edge_attributes": {"support": [-3.5, null]}}
#
# An end of an edge is a name (or, on reading, an index into `variables`). `edge_attributes` is optional: per attribute
# one number for each edge, in their order, null where there is none; infinities and NaN are the strings "inf", "-inf"
# and "nan". Other keys are ignored. A reader raises an error for a newer version and reads every older one.


_FORMAT = "mnlearn-graph"
_VERSION = 1
_NOT_FINITE = {"inf": math.inf, "-inf": -math.inf, "nan": math.nan}


def parse_json(text: str) -> NamedGraph:
    """Parse a graph in version 1 of the schema."""
    return graph_of_json(json_document_of(text))


def json_document_of(text: str) -> dict[str, Any]:
    """Return the document of a JSON file, or raise FileError unless it is one of a graph."""
    document = json.loads(text, parse_constant=_reject_constant)
    if not isinstance(document, dict) or document.get("format") != _FORMAT:
        raise FileError(f'the document must be an object with "format": "{_FORMAT}"; it is not an mnlearn graph.')
    return document


def graph_of_json(document: Mapping[str, Any]) -> NamedGraph:
    """Return the graph of a JSON document."""
    _check_version(document.get("version"))
    variables, edges = _listed(document, "variables"), _listed(document, "edges")
    numbers = _numbers_by_edge(document.get("edge_attributes", {}), len(edges))
    builder = GraphBuilder()
    for name in variables:
        if not isinstance(name, str):
            raise FileError(f'"variables" must be a list of strings; got {name!r}.')
        builder.declare(name)
    for edge, attributes in zip(edges, numbers, strict=True):
        if not isinstance(edge, list) or len(edge) != 2:
            raise FileError(f'"edges" must be a list of pairs; got {edge!r}.')
        builder.join(_end(edge[0], variables), _end(edge[1], variables), attributes)
    return builder.finish()


def _reject_constant(constant: str) -> None:
    """Raise FileError for NaN and Infinity, which Python would read but JSON does not have."""
    raise FileError(f'numbers must be JSON numbers; got {constant}. Write the string "inf", "-inf" or "nan" instead.')


def _check_version(version: object) -> None:
    """Raise FileError unless the version is ours or older."""
    if not isinstance(version, int) or isinstance(version, bool) or version < 1:
        raise FileError(f'"version" must be a positive integer; got {version!r}.')
    if version > _VERSION:
        raise FileError(
            f'"version" must be at most {_VERSION} for this mnlearn; got {version}, written by a newer one. '
            f"Upgrade mnlearn, or write the graph as GraphML there."
        )


def _listed(document: Mapping[str, Any], key: str) -> list[Any]:
    """Return a required list of the document."""
    found = document.get(key)
    if not isinstance(found, list):
        raise FileError(f'"{key}" must be a list; got {"nothing" if key not in document else repr(found)[:60]}.')
    return found


def _end(end: object, variables: list[str]) -> str:
    """Return the name at one end of an edge."""
    if isinstance(end, int) and not isinstance(end, bool) and 0 <= end < len(variables):
        return variables[end]
    if not isinstance(end, str):
        raise FileError(f'"edges" must join names or indices into "variables"; got {end!r}.')
    return end


def _numbers_by_edge(columns: object, n_edges: int) -> list[dict[str, float]]:
    """Return the columns of `edge_attributes` as one record per edge."""
    if not isinstance(columns, dict):
        raise FileError(f'"edge_attributes" must be an object; got {columns!r}.')
    records: list[dict[str, float]] = [{} for _ in range(n_edges)]
    for key, column in columns.items():
        if not isinstance(column, list) or len(column) != n_edges:
            raise FileError(f'"edge_attributes" must hold one number or null per edge, {n_edges} in all, for {key!r}.')
        for record, value in zip(records, column, strict=True):
            if value is not None:
                record[key] = _number(key, value)
    return records


def _number(key: str, value: object) -> float:
    """Return one number of an attribute."""
    if isinstance(value, str) and value in _NOT_FINITE:
        return _NOT_FINITE[value]
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise FileError(f'"edge_attributes" must be numbers or null; got {value!r} for {key!r}.')
    return float(value)


def render_json(named: NamedGraph) -> str:
    """Return the document, one edge a line."""
    document = json_of_graph(named)
    parts = [
        f'"format": {_text(_FORMAT)}',
        f'"version": {_VERSION}',
        f'"variables": {_block([_text(name) for name in document["variables"]])}',
        f'"edges": {_block([_text(edge) for edge in document["edges"]])}',
    ]
    if "edge_attributes" in document:
        parts.append(f'"edge_attributes": {_text(document["edge_attributes"])}')
    return "{\n  " + ",\n  ".join(parts) + "\n}\n"


def json_of_graph(named: NamedGraph) -> dict[str, Any]:
    """Return the document as JSON values."""
    names, edges = named.names, named.graph.edges
    columns: Mapping[str, Mapping[Edge, float]]
    if isinstance(named.attributes, EdgeNumbers):
        columns = named.attributes.columns
    else:
        keys = {key for numbers in named.attributes.values() for key in numbers}
        columns = {key: {e: found[key] for e, found in named.attributes.items() if key in found} for key in keys}
    document: dict[str, Any] = {"format": _FORMAT, "version": _VERSION, "variables": list(names)}
    document["edges"] = [[names[u], names[v]] for u, v in edges]
    if columns:
        document["edge_attributes"] = {key: list(map(_plain, map(columns[key].get, edges))) for key in sorted(columns)}
    return document


def _text(value: object) -> str:
    """Return compact JSON without escapes for letters."""
    return json.dumps(value, ensure_ascii=False, allow_nan=False)


def _block(items: list[str]) -> str:
    """Return a list with one item a line."""
    return "[\n    " + ",\n    ".join(items) + "\n  ]" if items else "[]"


def _plain(value: float | None) -> float | str | None:
    """Return a number that JSON can hold, or its name."""
    if value is None:
        return None
    number = float(value)
    return number if math.isfinite(number) else str(number)
