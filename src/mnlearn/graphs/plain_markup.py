"""GraphML, GML and DOT as this library writes them, a million edges in seconds.

The writers give the bytes of networkx. The readers take plain files only: every node before the edges, one statement a
line in GML and DOT, nothing nested. They return None for any other file, and for one with a fault; the general parsers
of `markup_formats` then read it, or name the fault.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from xml.sax.saxutils import escape as escaped_xml

from mnlearn.graphs.named import EdgeLists, NamedGraph

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
