"""DOT, the language of Graphviz: read by pydot (the extra `dot`), written here."""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterator, Mapping
from itertools import product
from threading import Lock
from typing import Any

from mnlearn.errors import FileError, require
from mnlearn.graphs._named import Assembly, NamedGraph, refuse_directed

_PARSER = Lock()  # pydot's parser is not safe to use from two threads
_QUOTED = re.compile(r'"(?:\\.|[^"\\])*"', re.DOTALL)
_OPAQUE = re.compile(rf"{_QUOTED.pattern}|/\*.*?\*/|//[^\n]*|^\s*#[^\n]*", re.DOTALL | re.MULTILINE)
_DEFAULTS = frozenset({"node", "edge", "graph"})  # `node [shape=box]` declares no variable
_WAY_OUT = "If no direction is meant, write `graph` for `digraph` and `--` for `->`."


def parse_dot(text: str) -> NamedGraph:
    """The one undirected graph of a DOT file, its subgraphs included; variables in order of first appearance."""
    require("pydot", "dot")
    with _PARSER, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # old spellings within pydot and pyparsing
        # Not `graph_from_dot_data`, which prints its errors and overlooks what follows the graph.
        graphs = require("pydot.dot_parser", "dot").GraphParser.parser.parse_string(text, parse_all=True)
    if len(graphs) != 1:
        raise FileError(f"the file must hold one graph; got {len(graphs)}. Keep one of them.")
    directed = graphs[0].get_type() == "digraph" or "->" in _OPAQUE.sub("", text)
    refuse_directed(directed, "DOT graph", _WAY_OUT)
    assembly = Assembly()
    _collect(graphs[0].obj_dict, assembly)
    return assembly.finish()


def _collect(box: Mapping[str, Any], assembly: Assembly) -> list[str]:
    """Enter the statements of a graph or subgraph in their order; the names of the variables in it."""
    inside: list[str] = []
    for kind, statement in sorted(_statements(box), key=lambda found: int(found[1]["sequence"])):
        if kind == "nodes" and statement["name"] not in _DEFAULTS:
            inside += _members(statement["name"], assembly)
        elif kind == "subgraphs":
            inside += _collect(statement, assembly)
        elif kind == "edges":
            left, right = (_members(point, assembly) for point in statement["points"])
            inside += left + right
            for a, b in product(left, right):
                assembly.join(a, b, _numbers(statement["attributes"]))
    return inside


def _statements(box: Mapping[str, Any]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Nodes, edges and subgraphs, each with its kind; pydot keeps them in three tables of lists."""
    for kind in ("nodes", "edges", "subgraphs"):
        for same in box[kind].values():
            yield from ((kind, statement) for statement in same)


def _members(point: str | Mapping[str, Any], assembly: Assembly) -> list[str]:
    """The variables at one end of an edge: one, or all of a subgraph such as `{a b}`."""
    if not isinstance(point, str):
        return list(dict.fromkeys(_collect(point, assembly)))
    name = _unquoted(point)
    assembly.meet(name)
    return [name]


def _unquoted(identifier: str) -> str:
    r"""The name that a DOT identifier stands for, without its port; `\"` and `\\` are one character each."""
    quoted = _QUOTED.match(identifier)
    if quoted:
        return re.sub(r'\\(["\\])', r"\1", quoted.group()[1:-1])
    return identifier if identifier.startswith("<") else identifier.partition(":")[0]


def _numbers(attributes: Mapping[str, object]) -> dict[str, float]:
    """The attributes that are numbers."""
    found = {}
    for key, value in attributes.items():
        try:
            found[_unquoted(key)] = float(_unquoted(str(value)))
        except ValueError:  # a colour, a label
            continue
    return found


def render_dot(named: NamedGraph) -> str:
    """Every variable, then every edge, all names quoted."""
    names = [_quoted(name) for name in named.names]
    edges = []
    for (u, v), (_, _, numbers) in zip(named.graph.edges, named.named_edges(), strict=True):
        listed = ", ".join(f'{key}="{float(value)!r}"' for key, value in numbers.items())
        edges.append(f"{names[u]} -- {names[v]}" + (f" [{listed}]" if listed else ""))
    return "graph {\n" + "".join(f"  {statement};\n" for statement in [*names, *edges]) + "}\n"


def _quoted(name: str) -> str:
    """A name between quotes; a backslash at the end of a line would join it to the next, so the text is cut there."""
    escaped = name.replace("\\", r"\\").replace('"', r"\"")
    return '"' + re.sub(r"\\(?=\r?\n)", r'\\" + "', escaped) + '"'
