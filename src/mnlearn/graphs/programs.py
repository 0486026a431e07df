"""Formats of programs that draw networks: GEXF of Gephi and Cytoscape JSON, read and written here.

Names are the ids and the labels of nodes. The weight of an edge is the `weight` of the format, other numbers are
attributes of the edge.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any
from xml.sax.saxutils import escape as escaped_xml

from mnlearn.errors import FileError, InputError
from mnlearn.graphs.named import EdgeLists, NamedGraph, check_undirected

_NOT_XML = "[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]"  # takes 5 ms to compile
_ENTITIES = {'"': "&quot;", "\r": "&#13;", "\n": "&#10;", "\t": "&#09;"}
_SPACE = "http://gexf.net/1.3"
_HEAD = (
    '<?xml version="1.0" encoding="UTF-8"?>\n'
    f'<gexf xmlns="{_SPACE}" xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" '
    f'xsi:schemaLocation="{_SPACE} {_SPACE}/gexf.xsd" version="1.3">\n'
    '  <graph defaultedgetype="undirected">\n'
)
_NOT_FINITE = {"inf": math.inf, "-inf": -math.inf, "nan": math.nan}


def check_xml_names(named: NamedGraph, title: str) -> None:
    """Raise InputError for names that XML cannot hold."""
    for name in named.names:
        if re.search(_NOT_XML, name):
            raise InputError(
                f"names in {title} must not contain control characters, which XML forbids; got {name!r}. "
                f"Rename it, or write JSON or GML."
            )


def check_no_entities(text: str) -> None:
    """Raise FileError for XML with entities of its own, which can expand without bound or read other files."""
    if "<!DOCTYPE" in text or "<!ENTITY" in text:
        raise FileError("the text must not declare a DOCTYPE or entities; got such a declaration. Remove it.")


class _Nodes:
    """Nodes of a file: their ids, and the names beside them."""

    def __init__(self) -> None:
        self.position: dict[str, int] = {}
        self.names: list[str | None] = []

    def add(self, node: str | None, name: str | None) -> None:
        """Add a node."""
        if node is None or node in self.position:
            raise FileError(f"every node must have an id of its own; got {node!r} twice or none at all.")
        self.position[node] = len(self.position)
        self.names.append(name)

    def at(self, node: str | None) -> int:
        """Return the position of a node at an end of an edge."""
        place = None if node is None else self.position.get(node)
        if place is None:
            raise FileError(f"an edge must join declared nodes; got {node!r}, which is not declared before it.")
        return place

    def chosen(self) -> list[str]:
        """Return the names if every node has one, or the ids."""
        named = [name for name in self.names if name is not None]
        unnamed = len(named) < len(self.names) or (len(named) > 1 and not any(named))
        return list(self.position) if unnamed else named


# GEXF


def render_gexf(named: NamedGraph) -> str:
    """Return GEXF 1.3 with names as ids and labels of nodes, and numbers on edges as doubles."""
    check_xml_names(named, "GEXF")
    return "".join(_gexf_lines(named))


def _gexf_lines(named: NamedGraph) -> Iterator[str]:
    """Yield the lines of a GEXF file."""
    names = [escaped_xml(name, _ENTITIES) for name in named.names]
    keys = dict.fromkeys(key for _, _, numbers in named.named_edges() for key in numbers if key != "weight")
    place = {key: k for k, key in enumerate(keys)}
    yield _HEAD
    if place:
        yield '    <attributes class="edge">\n'
        yield from (f'      <attribute id="{k}" title="{key}" type="double"/>\n' for key, k in place.items())
        yield "    </attributes>\n"
    yield "    <nodes>\n"
    yield from (f'      <node id="{name}" label="{name}"/>\n' for name in names)
    yield "    </nodes>\n    <edges>\n"
    for k, (u, v) in enumerate(named.graph.edges):
        numbers = dict(named.attributes.get((u, v), {}))
        weight = numbers.pop("weight", None)
        line = f'      <edge id="{k}" source="{names[u]}" target="{names[v]}"'
        yield line if weight is None else f'{line} weight="{_xml_number(weight)}"'
        values = (f'<attvalue for="{place[key]}" value="{_xml_number(x)}"/>' for key, x in numbers.items())
        yield f"><attvalues>{''.join(values)}</attvalues></edge>\n" if numbers else "/>\n"
    yield "    </edges>\n  </graph>\n</gexf>\n"


def _xml_number(value: float) -> str:
    """Return a number as XML Schema writes it."""
    number = float(value)
    return repr(number) if math.isfinite(number) else {"inf": "INF", "-inf": "-INF"}.get(str(number), "NaN")


def parse_gexf(text: str) -> NamedGraph:
    """Parse the one graph of a GEXF file, 1.1 to 1.3; nodes are named by their label if every node has one."""
    from xml.parsers import expat

    check_no_entities(text)
    reader = _GexfReader()
    parser = expat.ParserCreate(namespace_separator=" ")
    parser.StartElementHandler, parser.EndElementHandler = reader.start, reader.end
    parser.Parse(text, True)
    if reader.graphs != 1:
        raise FileError(f"the file must hold one graph; got {reader.graphs}. Is it GEXF?")
    return reader.edges.checked(reader.nodes.chosen())


class _GexfReader:
    """Handlers of the elements of a GEXF file."""

    def __init__(self) -> None:
        self.graphs = 0
        self.nodes, self.edges = _Nodes(), EdgeLists()
        self._titles: dict[str, str] = {}  # of the attributes of edges that are numbers, by id
        self._open: list[str] = []
        self._of_edges = self._in_edge = False

    def start(self, space_and_tag: str, found: dict[str, str]) -> None:
        """Read the start of an element."""
        space, _, tag = space_and_tag.rpartition(" ")
        self._open.append(tag)
        if len(self._open) > 100:
            raise FileError("elements must be nested at most 100 deep; got more. Is it GEXF?")
        if len(self._open) == 1 and tag != "gexf":
            raise FileError(f"the first element must be gexf; got {tag[:60]!r}. Is it GEXF?")
        if "/viz" not in space and tag in self._HANDLERS:
            self._HANDLERS[tag](self, found)

    def end(self, _tag: str) -> None:
        """Read the end of an element."""
        if self._open.pop() in ("edge", "node"):
            self._in_edge = False

    def _graph(self, found: Mapping[str, str]) -> None:
        self.graphs += 1
        if self.graphs > 1:
            raise FileError("the file must hold one graph; got several. Keep one of them.")
        if found.get("mode", "static") != "static":
            raise FileError(f"the graph must be static; got mode={found['mode']!r}. Save it at one point of time.")
        self._directed = found.get("defaultedgetype", "undirected")

    def _attributes(self, found: Mapping[str, str]) -> None:
        self._of_edges = found.get("class") == "edge"

    def _attribute(self, found: Mapping[str, str]) -> None:
        if self._of_edges and found.get("type") in ("double", "float", "integer", "long", "int", "short"):
            self._titles[found["id"]] = found.get("title", found["id"])

    def _node(self, found: Mapping[str, str]) -> None:
        self.nodes.add(found.get("id"), found.get("label"))
        self._in_edge = False

    def _edge(self, found: Mapping[str, str]) -> None:
        kind = found.get("type", self._directed)
        check_undirected(kind != "undirected", "GEXF graph", 'If no direction is meant, set type="undirected".')
        self.edges.add(self.nodes.at(found.get("source")), self.nodes.at(found.get("target")))
        self._in_edge = True
        if "weight" in found:
            self.edges.number("weight", _number_in("weight", found["weight"]))

    def _value(self, found: Mapping[str, str]) -> None:
        title = self._titles.get(found.get("for", found.get("id", "")))
        if self._in_edge and title is not None and found.get("value"):
            self.edges.number(title, _number_in(title, found["value"]))

    _HANDLERS = {  # noqa: RUF012 - a table of methods
        "graph": _graph,
        "attributes": _attributes,
        "attribute": _attribute,
        "node": _node,
        "edge": _edge,
        "attvalue": _value,
    }


def _number_in(title: str, text: str) -> float:
    """Return the number in an attribute."""
    try:
        return float(text)
    except ValueError:
        raise FileError(
            f"{title} of an edge must be a number; got {text[:60]!r}. Correct it, or leave it out."
        ) from None


# Cytoscape JSON


def render_cytoscape(named: NamedGraph) -> str:
    """Return the elements of Cytoscape and cytoscape.js, one a line, with names as ids of nodes."""
    nodes = [_text({"data": {"id": name, "value": name, "name": name}}) for name in named.names]
    edges = [
        _text({"data": {"id": f"e{k}", "source": a, "target": b, **{key: _plain(x) for key, x in numbers.items()}}})
        for k, (a, b, numbers) in enumerate(named.named_edges())
    ]
    return (
        '{\n"format_version": "1.0",\n"data": {},\n"directed": false,\n"multigraph": false,\n"elements": {\n'
        f'"nodes": [\n{_joined(nodes)}],\n"edges": [\n{_joined(edges)}]\n}}\n}}\n'
    )


def _text(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, allow_nan=False)


def _joined(lines: Sequence[str]) -> str:
    return ",\n".join(lines) + ("\n" if lines else "")


def _plain(value: float) -> float | str:
    """Return a number that JSON can hold, or its name."""
    number = float(value)
    return number if math.isfinite(number) else str(number)


def parse_cytoscape(text: str) -> NamedGraph:
    """Parse the elements of Cytoscape or cytoscape.js; nodes are named by `name` if every node has one, or by id."""
    document = json.loads(text, parse_constant=_reject_constant)
    if not isinstance(document, dict) or "elements" not in document:
        raise FileError('the document must be an object with "elements"; it is not a graph of Cytoscape.')
    check_undirected(document.get("directed") is True, "graph", 'If no direction is meant, set "directed": false.')
    nodes, edges = _Nodes(), EdgeLists()
    listed_nodes, listed_edges = _elements(document["elements"])
    for data in listed_nodes:
        name = data.get("name")
        nodes.add(_identifier(data, "id"), name if isinstance(name, str) else None)
    for data in listed_edges:
        edges.add(nodes.at(_identifier(data, "source")), nodes.at(_identifier(data, "target")))
        for key, value in data.items():
            number = _NOT_FINITE.get(value) if isinstance(value, str) else value
            if key != "SUID" and isinstance(number, int | float) and not isinstance(number, bool):
                edges.number(key, float(number))
    return edges.checked(nodes.chosen())


def _reject_constant(constant: str) -> None:
    """Raise FileError for NaN and Infinity, which Python would read but JSON does not have."""
    raise FileError(f'numbers must be JSON numbers; got {constant}. Write the string "inf", "-inf" or "nan" instead.')


def _elements(elements: object) -> tuple[list[Mapping[str, Any]], list[Mapping[str, Any]]]:
    """Return the data of the nodes and of the edges, from an object of two lists or from one list."""
    if isinstance(elements, dict):
        parts = [elements.get("nodes", []), elements.get("edges", [])]
    elif isinstance(elements, list):
        grouped: tuple[list[Any], list[Any]] = ([], [])
        for element in elements:
            grouped[_is_edge(element)].append(element)
        parts = list(grouped)
    else:
        raise FileError(f'"elements" must be an object or a list; got {repr(elements)[:60]}.')
    for part in parts:
        if not isinstance(part, list):
            raise FileError(f'"nodes" and "edges" must be lists; got {repr(part)[:60]}.')
    return list(_data_of(parts[0])), list(_data_of(parts[1]))


def _is_edge(element: object) -> bool:
    """Return whether an element of one list is an edge."""
    if not isinstance(element, dict):
        return False
    data = element.get("data")
    return element.get("group") == "edges" or (isinstance(data, dict) and "source" in data)


def _data_of(elements: Iterable[object]) -> Iterator[Mapping[str, Any]]:
    """Yield the data of each element."""
    for element in elements:
        data = element.get("data") if isinstance(element, dict) else None
        if not isinstance(data, dict):
            raise FileError(f'every node and edge must have an object "data"; got {repr(element)[:60]}.')
        yield data


def _identifier(data: Mapping[str, Any], key: str) -> str:
    """Return an id, which may be a number in files of other programs."""
    found = data.get(key)
    if isinstance(found, str | int) and not isinstance(found, bool):
        return str(found)
    raise FileError(f'"{key}" must be a string; got {"nothing" if key not in data else repr(found)[:60]}.')
