"""Markup formats: GraphML and GML by networkx, with more checks than its readers make; DOT by pydot; JSON.

Files as this library writes them are read by `plain_markup`, which is ten times as fast as networkx.

GraphML, GML and DOT as this library writes them, a million edges in seconds.

The writers give the bytes of networkx. The readers take plain files only: every node before the edges, one statement a
line in GML and DOT, nothing nested. They return None for any other file, and for one with a fault; the general parsers
of `markup_formats` then read it, or name the fault.
"""

from __future__ import annotations

import json
import math
import re
import warnings
from collections.abc import Iterable, Iterator, Mapping
from itertools import product
from threading import Lock
from typing import Any
from xml.sax.saxutils import escape as escaped_xml

from mnlearn.errors import FileError, require
from mnlearn.graphs.graph import Edge
from mnlearn.graphs.named import EdgeLists, EdgeNumbers, GraphBuilder, NamedGraph, check_undirected
from mnlearn.graphs.programs import check_no_entities, check_xml_names

_SPACE = "http://graphml.graphdrawing.org/xmlns"
_HEAD = (
    "<?xml version='1.0' encoding='utf-8'?>\n"
    f'<graphml xmlns="{_SPACE}" xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" '
    f'xsi:schemaLocation="{_SPACE} {_SPACE}/1.0/graphml.xsd">\n'
)
_ENTITIES = {'"': "&quot;", "\r": "&#13;", "\n": "&#10;", "\t": "&#09;"}
_NUMBERS = {"int": int, "long": int, "float": float, "double": float}  # types of GraphML that are numbers
_ATTRIBUTES = {  # that a plain element may have, by its depth and tag
    (2, "key"): {"id", "for", "attr.name", "attr.type"},
    (2, "graph"): {"id", "edgedefault"},
    (3, "node"): {"id"},
    (3, "edge"): {"id", "source", "target"},
    (4, "data"): {"key"},
}


class _NotPlainError(Exception):
    """The file needs the general parser."""


# GraphML


def graphml_lines(named: NamedGraph) -> Iterator[str]:
    """Yield the lines of a GraphML file."""
    names = [escaped_xml(name, _ENTITIES) for name in named.names]
    key_of: dict[str, str] = {}
    for _, _, numbers in named.named_edges():
        for key in numbers:
            key_of.setdefault(key, f"d{len(key_of)}")
    yield _HEAD
    for key, short in reversed(key_of.items()):
        yield f'  <key id="{short}" for="edge" attr.name="{key}" attr.type="double" />\n'
    yield '  <graph edgedefault="undirected">\n'
    yield from (f'    <node id="{name}" />\n' for name in names)
    for (u, v), (_, _, numbers) in zip(named.graph.edges, named.named_edges(), strict=True):
        ends = f'    <edge source="{names[u]}" target="{names[v]}"'
        data = "".join(f'      <data key="{key_of[key]}">{float(x)!r}</data>\n' for key, x in numbers.items())
        yield f"{ends}>\n{data}    </edge>\n" if data else f"{ends} />\n"
    yield "  </graph>\n</graphml>\n"


def read_plain_graphml(text: str) -> NamedGraph | None:
    """Return the graph of a plain GraphML file; None for any other."""
    from xml.parsers import expat

    reader = _GraphmlReader()
    parser = expat.ParserCreate()
    parser.buffer_text = True
    parser.StartElementHandler, parser.EndElementHandler = reader.start, reader.end
    parser.CharacterDataHandler = reader.text
    try:
        parser.Parse(text, True)
    except (_NotPlainError, expat.ExpatError, ValueError, KeyError, OverflowError):
        return None
    return reader.graph()


class _GraphmlReader:
    """Handlers of the elements of a plain GraphML file."""

    def __init__(self) -> None:
        self._depth = self._graphs = 0
        self._keys: dict[str, tuple[str, str]] = {}  # name and type, by id
        self._position: dict[str, int] = {}
        self._named: dict[int, str] = {}
        self._ends = EdgeLists()
        self._data: tuple[str, str] | None = None  # key of the open data element
        self._text = ""
        self._in_edge = False

    def start(self, tag: str, found: dict[str, str]) -> None:
        self._depth += 1
        if self._depth == 1:
            if tag != "graphml" or found.get("xmlns") != _SPACE:
                raise _NotPlainError
            return
        known = _ATTRIBUTES.get((self._depth, tag))
        if known is None or not found.keys() <= known:
            raise _NotPlainError
        if tag == "data":
            self._data, self._text = self._keys[found["key"]], ""
        elif tag == "edge":
            self._ends.add(self._position[found["source"]], self._position[found["target"]])
            self._in_edge = True
        elif tag == "node":
            self._declare(found["id"])
        elif tag == "key":
            self._keys[found["id"]] = found["attr.name"], found["attr.type"]
        else:
            self._graphs += 1
            if self._graphs > 1 or found.get("edgedefault") != "undirected":
                raise _NotPlainError

    def _declare(self, node: str) -> None:
        if node in self._position:
            raise _NotPlainError
        self._position[node] = len(self._position)
        self._in_edge = False

    def text(self, text: str) -> None:
        if self._data is not None:
            self._text += text

    def end(self, tag: str) -> None:
        self._depth -= 1
        if tag != "data" or self._data is None:
            return
        (name, kind), self._data = self._data, None
        if kind in _NUMBERS and self._text:
            value = float(_NUMBERS[kind](self._text))
            if self._in_edge:
                self._ends.number(name, value)
        elif kind == "string":
            if name == "name" and not self._in_edge and self._text:
                self._named[len(self._position) - 1] = self._text
        else:
            raise _NotPlainError

    def graph(self) -> NamedGraph | None:
        whole = len(self._named) == len(self._position)
        return self._ends.graph(self._named.values() if whole else self._position)


# GML


_GML_NODE = re.compile(r'  node \[\n    id (\d{1,9})\n    label "([^"\n]*)"\n  \]\n')
_GML_EDGE = re.compile(
    r"  edge \[\n    source (\d{1,9})\n    target (\d{1,9})\n((?:    [A-Za-z][0-9A-Za-z_]* [^\s\"\[\]]+\n)*)  \]\n"
)
_GML_REAL = re.compile(r"[+-]?(?:\d+\.\d*(?:E[+-]?\d+)?|INF)|-?\d{1,9}")
_REFERENCE = re.compile(r"&#(\d{1,7});")


def gml_lines(named: NamedGraph) -> Iterator[str]:
    """Yield the lines of a GML file; as GML requires, other characters than ASCII are references."""
    yield "graph [\n"
    for x, name in enumerate(named.names):
        label = re.sub('[^ -~]|[&"]', lambda found: f"&#{ord(found.group())};", name)
        yield f'  node [\n    id {x}\n    label "{label}"\n  ]\n'
    for (u, v), (_, _, numbers) in zip(named.graph.edges, named.named_edges(), strict=True):
        data = "".join(f"    {key} {_gml_real(float(value))}\n" for key, value in numbers.items())
        yield f"  edge [\n    source {u}\n    target {v}\n{data}  ]\n"
    yield "]\n"


def _gml_real(value: float) -> str:
    """Return a number with a decimal point, which GML requires, and a sign before infinity."""
    text = repr(value).upper()
    if text == "INF":
        return "+INF"
    mantissa, mark, exponent = text.partition("E")
    return f"{mantissa}.E{exponent}" if mark and "." not in mantissa else text


def read_plain_gml(text: str) -> NamedGraph | None:
    """Return the graph of a plain GML file; None for any other."""
    if not text.startswith("graph [\n"):
        return None
    position: dict[str, int] = {}
    names: list[str] = []
    ends, end = EdgeLists(), len("graph [\n")
    try:
        for found in _runs(_GML_NODE, text, end):
            position[found[1]] = len(names)
            names.append(_label(found[2]))
            end = found.end()
        for found in _runs(_GML_EDGE, text, end):
            ends.add(position[found[1]], position[found[2]])
            for line in found[3].splitlines():
                key, value = line.split()
                ends.number(key, _real(value))
            end = found.end()
    except (_NotPlainError, KeyError, ValueError):
        return None
    plain = text[end:].strip() == "]" and len(position) == len(names)
    return ends.graph(names) if plain else None


def _runs(pattern: re.Pattern[str], text: str, start: int) -> Iterator[re.Match[str]]:
    """Yield matches that follow each other without a gap."""
    found = pattern.match(text, start)
    while found:
        yield found
        found = pattern.match(text, found.end())


def _label(text: str) -> str:
    """Return the name of a label."""
    name = _REFERENCE.sub(lambda found: chr(int(found[1])), text) if "&" in text else text
    if "&" in _REFERENCE.sub("", text):
        raise _NotPlainError
    return name


def _real(text: str) -> float:
    """Return a number, or raise _NotPlainError."""
    if not _GML_REAL.fullmatch(text):
        raise _NotPlainError
    return float(text)


# DOT


_DOT_NAME = r'"((?:[^"\\\n]|\\["\\])*)"'
_DOT_NODE = re.compile(rf"  {_DOT_NAME};\n")
_DOT_EDGE = re.compile(rf'  {_DOT_NAME} -- {_DOT_NAME}(?: \[((?:\w+="[^"\\\n]*"(?:, )?)+)\])?;\n')
_DOT_NUMBER = re.compile(r'(\w+)="([^"]*)"')


def read_plain_dot(text: str) -> NamedGraph | None:
    """Return the graph of a plain DOT file; None for any other."""
    if not text.startswith("graph {\n"):
        return None
    position: dict[str, int] = {}
    ends, end = EdgeLists(), len("graph {\n")
    for found in _runs(_DOT_NODE, text, end):
        position.setdefault(found[1], len(position))
        end = found.end()
    try:
        for found in _runs(_DOT_EDGE, text, end):
            ends.add(position[found[1]], position[found[2]])
            for key, value in _DOT_NUMBER.findall(found[3] or ""):
                ends.number(key, float(value))
            end = found.end()
    except (KeyError, ValueError):
        return None
    names = (re.sub(r'\\(["\\])', r"\1", name) if "\\" in name else name for name in position)
    return ends.graph(names) if text[end:].strip() == "}" else None


_DEEPEST_ELEMENT = 100
_MARK = "'"  # put before every quoted GML string, because networkx changes the strings "()" and "[]"


def parse_graphml(text: str) -> NamedGraph:
    """Parse the one graph of a GraphML file; nodes are named by their `name` if every node has one, or by their id."""
    check_no_entities(text)
    plain = read_plain_graphml(text)
    return _general_graphml(text) if plain is None else plain


def _general_graphml(text: str) -> NamedGraph:
    """Parse any GraphML file."""
    import networkx as nx

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # networkx warns of ports and untyped keys, which do not matter for a structure
        _check_elements(text)
        graph = nx.parse_graphml(text)
    check_undirected(graph.is_directed(), "GraphML graph", 'If no direction is meant, set edgedefault="undirected".')
    named = {node: name for node, name in graph.nodes(data="name") if isinstance(name, str) and name}
    return _built(graph, named if len(named) == len(graph) else {node: node for node in graph})


def _check_elements(text: str) -> None:
    """Raise FileError unless there is one graph, with every node once and every edge between its nodes."""
    from xml.etree import ElementTree

    _check_nesting(text)
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


def _check_nesting(text: str) -> None:
    """Raise FileError for elements that are nested so deeply that a tree of them takes minutes."""
    from xml.parsers import expat

    depth = 0

    def start(*_: object) -> None:
        nonlocal depth
        depth += 1
        if depth > _DEEPEST_ELEMENT:
            raise FileError(f"elements must be nested at most {_DEEPEST_ELEMENT} deep; got more. Is it GraphML?")

    def end(*_: object) -> None:
        nonlocal depth
        depth -= 1

    parser = expat.ParserCreate()
    parser.StartElementHandler, parser.EndElementHandler = start, end
    parser.Parse(text, True)


def render_graphml(named: NamedGraph) -> str:
    """Return GraphML with names as ids of nodes, and numbers on edges as doubles."""
    check_xml_names(named, "GraphML")
    return "".join(graphml_lines(named))


def parse_gml(text: str) -> NamedGraph:
    """Parse the one graph of a GML file; nodes are named by their label if every node has one, or by their id."""
    plain = read_plain_gml(text)
    return _general_gml(text) if plain is None else plain


def _general_gml(text: str) -> NamedGraph:
    """Parse any GML file."""
    import networkx as nx

    ascii_text = re.sub(r"[^\x00-\x7f]", lambda letter: f"&#{ord(letter.group())};", text)
    lines = [line.removesuffix("\r") for line in ascii_text.split("\n")]
    graph = nx.parse_gml(lines, label=None, destringizer=lambda found: _MARK + found)
    check_undirected(graph.is_directed(), "GML graph", "If no direction is meant, remove its line `directed 1`.")
    labels = {node: label for node, label in graph.nodes(data="label") if label is not None}
    names = labels if len(labels) == len(graph) else {node: node for node in graph}
    return _built(graph, {node: _unmarked(name) for node, name in names.items()})


def _unmarked(name: object) -> str:
    """Return a label or id as it is in the file."""
    return name[len(_MARK) :] if isinstance(name, str) else str(name)


def render_gml(named: NamedGraph) -> str:
    """Return GML with names as labels of nodes; as GML requires, other characters than ASCII are references."""
    return "".join(gml_lines(named))


def _built(graph: Any, names: dict[Any, str]) -> NamedGraph:
    """Return a parsed graph under the names of its nodes."""
    builder = GraphBuilder()
    for node in graph:
        builder.declare(names[node])
    edges: Iterable[tuple[Any, Any, dict[str, Any]]] = graph.edges(data=True)
    for u, v, attributes in edges:
        builder.join(names[u], names[v], attributes)
    return builder.finish()


# DOT, the language of Graphviz: read by pydot (the extra `dot`), written here


_PARSER = Lock()  # pydot's parser is not safe to use from two threads
_QUOTED = re.compile(r'"(?:\\.|[^"\\])*"', re.DOTALL)
_OPAQUE = re.compile(rf"{_QUOTED.pattern}|/\*(?:.*?\*/|.*)|//[^\n]*|^[ \t]*#[^\n]*", re.DOTALL | re.MULTILINE)
_DEEPEST = 6  # braces; the time of the parser doubles with each
_MOST_JOINED = 1_000_000  # edges of one statement
_DEFAULTS = frozenset({"node", "edge", "graph"})  # `node [shape=box]` does not declare a variable
_UNDIRECTED = "If no direction is meant, write `graph` for `digraph` and `--` for `->`."


def parse_dot(text: str) -> NamedGraph:
    """Parse the one undirected graph of a DOT file with its subgraphs; variables in order of first appearance."""
    plain = read_plain_dot(text)
    return _general_dot(text) if plain is None else plain


def _general_dot(text: str) -> NamedGraph:
    """Parse any DOT file."""
    require("pydot", "dot")
    _check_depth(_OPAQUE.sub("", text))
    with _PARSER, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # old spellings within pydot and pyparsing
        # Not `graph_from_dot_data`, which prints its errors and ignores what follows the graph.
        graphs = require("pydot.dot_parser", "dot").GraphParser.parser.parse_string(text, parse_all=True)
    if len(graphs) != 1:
        raise FileError(f"the file must hold one graph; got {len(graphs)}. Keep one of them.")
    directed = graphs[0].get_type() == "digraph" or "->" in _OPAQUE.sub("", text)
    check_undirected(directed, "DOT graph", _UNDIRECTED)
    builder = GraphBuilder()
    _collect(graphs[0].obj_dict, builder)
    return builder.finish()


def _check_depth(text: str) -> None:
    """Raise FileError for subgraphs that are nested too deeply."""
    depth = 0
    for brace in re.findall("[{}]", text):
        depth += 1 if brace == "{" else -1
        if depth > _DEEPEST:
            raise FileError(
                f"subgraphs must be nested at most {_DEEPEST - 1} deep; got more. Write the edges without subgraphs."
            )


def _collect(box: Mapping[str, Any], builder: GraphBuilder) -> list[str]:
    """Add the statements of a graph or subgraph in their order; return the names of its variables."""
    inside: list[str] = []
    for kind, statement in sorted(_statements(box), key=lambda found: int(found[1]["sequence"])):
        if kind == "nodes" and statement["name"] not in _DEFAULTS:
            inside += _members(statement["name"], builder)
        elif kind == "subgraphs":
            inside += _collect(statement, builder)
        elif kind == "edges":
            left, right = (_members(point, builder) for point in statement["points"])
            inside += left + right
            if len(left) * len(right) > _MOST_JOINED:
                raise FileError(
                    f"a statement must join at most {_MOST_JOINED:,} pairs; got {len(left) * len(right):,}. Split it."
                )
            for a, b in product(left, right):
                builder.join(a, b, _numbers(statement["attributes"]))
    return inside


def _statements(box: Mapping[str, Any]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Yield nodes, edges and subgraphs, each with its kind; pydot stores them in three tables of lists."""
    for kind in ("nodes", "edges", "subgraphs"):
        for same in box[kind].values():
            yield from ((kind, statement) for statement in same)


def _members(point: str | Mapping[str, Any], builder: GraphBuilder) -> list[str]:
    """Return the variables at one end of an edge: one, or all of a subgraph such as `{a b}`."""
    if not isinstance(point, str):
        return list(dict.fromkeys(_collect(point, builder)))
    name = _unquoted(point)
    builder.add(name)
    return [name]


def _unquoted(identifier: str) -> str:
    r"""Return the name of a DOT identifier, without its port; `\"` and `\\` are one character each."""
    quoted = _QUOTED.match(identifier)
    if quoted:
        return re.sub(r'\\(["\\])', r"\1", quoted.group()[1:-1])
    return identifier if identifier.startswith("<") else identifier.partition(":")[0]


def _numbers(attributes: Mapping[str, object]) -> dict[str, float]:
    """Return the attributes that are numbers."""
    found = {}
    for key, value in attributes.items():
        try:
            found[_unquoted(key)] = float(_unquoted(str(value)))
        except ValueError:  # a colour, a label
            continue
    return found


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
    plain = _plain_graph(variables, edges, document.get("edge_attributes", {}))
    if plain is not None:
        return plain
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


def _plain_graph(variables: list[Any], edges: list[Any], columns: Any) -> NamedGraph | None:
    """Return the graph of a document without a fault, with ends by name; None for any other."""
    if not isinstance(columns, dict) or not all(isinstance(column, list) for column in columns.values()):
        return None
    if not all(isinstance(name, str) for name in variables) or any(len(c) != len(edges) for c in columns.values()):
        return None
    position = {name: x for x, name in enumerate(variables)}
    found = EdgeLists()
    try:
        numbers = {key: iter(column) for key, column in columns.items()}
        for a, b in edges:
            if type(a) is not str or type(b) is not str:
                return None
            found.add(position[a], position[b])
            for key, column in numbers.items():
                value = next(column)
                if value is not None:
                    found.number(key, _number(key, value))
    except (KeyError, TypeError, ValueError, FileError):
        return None
    return found.graph(variables)


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
