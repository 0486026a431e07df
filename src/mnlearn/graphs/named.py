"""Graphs with names for variables and numbers on edges, as graph files hold them."""

from __future__ import annotations

import re
from array import array
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from numbers import Real
from typing import Any, TypeAlias, TypeGuard

import numpy as np

from mnlearn.errors import FileError, InputError, MnlearnError, check_mapping
from mnlearn.graphs.graph import Edge, Graph, check_graph

Attributes: TypeAlias = Mapping[Edge, Mapping[str, float]]  # per edge: numbers by name
_KEY = re.compile(r"[A-Za-z][A-Za-z0-9_]*")  # names that GML allows; the other formats allow more
# These have another meaning in GML, GraphML or DOT.
_TAKEN = frozenset(("digraph", "edge", "graph", "id", "key", "label", "node", "source", "strict", "subgraph", "target"))


@dataclass(frozen=True)
class NamedGraph:
    """A graph, the names of its variables by index, and the numbers on its edges, if any."""

    graph: Graph
    names: tuple[str, ...]
    attributes: Attributes = field(default_factory=dict, hash=False)

    def __post_init__(self) -> None:
        check_graph("graph", self.graph)
        if not isinstance(self.names, list | tuple):
            raise InputError(f"names must be a tuple of strings; got {self.names!r:.80}. Use tuple(...).")
        if not isinstance(self.attributes, Mapping):
            raise InputError(f"attributes must be a dict by edge; got {self.attributes!r:.80}. Leave it out for none.")
        _check_names(self.names, self.graph.n_variables)
        if isinstance(self.attributes, EdgeNumbers):
            return  # made from the edges of a graph
        for edge, numbers in self.attributes.items():
            _check_numbers(edge, numbers, self.graph)

    def named_edges(self) -> Iterator[tuple[str, str, Mapping[str, float]]]:
        """Yield every edge in the order of the graph: the names of its ends, and its numbers."""
        for u, v in self.graph.edges:
            yield self.names[u], self.names[v], self.attributes.get((u, v), {})


class EdgeNumbers(Mapping[Edge, Mapping[str, float]]):
    """Numbers on the edges of a graph, held as one mapping by edge for each name.

    A dictionary for each of a million edges would take 250 MB.

    Parameters
    ----------
    edges
        The edges of the graph.
    columns
        For each name the numbers of those edges that have one; not None.

    Examples
    --------
    >>> numbers = EdgeNumbers(((0, 1), (1, 2)), {"weight": {(0, 1): 0.5}})
    >>> dict(numbers)
    {(0, 1): {'weight': 0.5}}
    """

    def __init__(self, edges: Sequence[Edge], columns: Mapping[str, Mapping[Edge, float]]) -> None:
        self._edges = edges
        self.columns = columns

    def __getitem__(self, edge: Edge) -> Mapping[str, float]:
        found = {key: column[edge] for key, column in self.columns.items() if edge in column}
        if not found:
            raise KeyError(edge)
        return found

    def get(self, edge: Edge, default: Any = None) -> Any:
        """Return the numbers of an edge, or a default; without an exception for each edge that has none."""
        return {key: column[edge] for key, column in self.columns.items() if edge in column} or default

    def __iter__(self) -> Iterator[Edge]:
        return (edge for edge in self._edges if any(edge in column for column in self.columns.values()))

    def __len__(self) -> int:
        columns = list(self.columns.values())
        return len(columns[0]) if len(columns) == 1 else sum(1 for _ in self)

    def only(self, key: str) -> EdgeNumbers:
        """Return the numbers of one name alone."""
        return EdgeNumbers(self._edges, {key: self.columns[key]})

    def __repr__(self) -> str:
        return f"EdgeNumbers({len(self)} edges, {', '.join(self.columns) or 'no numbers'})"


def graph_of_ends(
    names: tuple[str, ...], left: Sequence[int], right: Sequence[int], columns: Mapping[str, Mapping[int, float]]
) -> NamedGraph | None:
    """Return the graph whose edges join the variables at these positions; None if it is not a simple graph.

    The numbers in the columns are by the place of the edge in the two lists; those that files ignore are left out.
    """
    pairs = np.sort(np.stack([np.asarray(left, dtype=np.int64), np.asarray(right, dtype=np.int64)], axis=1), axis=1)
    keys = np.sort(pairs[:, 0] * np.int64(len(names)) + pairs[:, 1])
    if not names or (keys[1:] == keys[:-1]).any() or (pairs[:, 0] == pairs[:, 1]).any() or len(set(names)) < len(names):
        return None
    graph = Graph(len(names), pairs)
    ends: list[Edge] = [(u, v) for u, v in pairs.tolist()]
    kept = {key: {ends[k]: x for k, x in column.items()} for key, column in columns.items() if _is_number(0.0, key)}
    return NamedGraph(graph, names, EdgeNumbers(graph.edges, kept) if any(kept.values()) else {})


class EdgeLists:
    """Edges of a file as they are read: positions of their ends, and numbers in columns by the place of the edge.

    A million edges take 100 MB, a third of those of a `GraphBuilder`, which names the fault of a file.
    """

    def __init__(self) -> None:
        self._left, self._right = array("q"), array("q")
        self._columns: dict[str, dict[int, float]] = {}

    def add(self, u: int, v: int) -> None:
        """Add an edge between the variables at two positions."""
        self._left.append(u)
        self._right.append(v)

    def number(self, key: str, value: float) -> None:
        """Add a number of the last edge."""
        self._columns.setdefault(key, {})[len(self._left) - 1] = value

    def graph(self, names: Iterable[str]) -> NamedGraph | None:
        """Return the graph over variables of these names; None if it is not a simple graph."""
        return graph_of_ends(tuple(names), self._left, self._right, self._columns)

    def checked(self, names: Sequence[str]) -> NamedGraph:
        """Return the graph over variables of these names; raise FileError that names the fault if there is one."""
        found = self.graph(names)
        if found is not None:
            return found
        builder = GraphBuilder()
        for name in names:
            builder.declare(name)
        for u, v in zip(self._left, self._right, strict=True):
            builder.join(names[u], names[v])
        return builder.finish()


class GraphBuilder:
    """Collects variables and edges from a parser; raises FileError unless they form a simple undirected graph."""

    def __init__(self) -> None:
        self._position: dict[str, int] = {}
        self._numbers: dict[Edge, Mapping[str, float]] = {}

    def declare(self, name: str) -> None:
        """Add a variable, for formats that list each of them once."""
        if name in self._position:
            raise FileError(f"a variable must be declared once; got {name!r} twice. Rename one of the two.")
        self.add(name)

    def add(self, name: str) -> None:
        """Add a variable unless it is known, for formats without a list of variables."""
        self._position.setdefault(name, len(self._position))

    def join(self, a: str, b: str, numbers: Mapping[str, object] | None = None) -> None:
        """Add an edge between two known variables; of its attributes, numbers are kept."""
        for name in (a, b):
            if name not in self._position:
                raise FileError(f"an edge must join declared variables; got {name!r}, which is not declared.")
        if a == b:
            raise FileError(f"an edge must join two different variables; got {a!r} twice. Remove the self loop.")
        u, v = sorted((self._position[a], self._position[b]))
        if (u, v) in self._numbers:
            raise FileError(f"an edge must be given once; got {a!r} - {b!r} twice. Remove one of the two.")
        self._numbers[u, v] = {k: float(value) for k, value in (numbers or {}).items() if _is_number(value, k)}

    def finish(self) -> NamedGraph:
        """Return the graph of all variables and edges."""
        if not self._position:
            raise FileError("a graph must have at least one variable; got none.")
        graph = Graph(len(self._position), self._numbers)
        return NamedGraph(graph, tuple(self._position), {edge: n for edge, n in self._numbers.items() if n})


@contextmanager
def parser_errors() -> Iterator[None]:
    """Turn any error of another library's parser into FileError."""
    try:
        yield
    except (MnlearnError, MemoryError):
        raise
    except Exception as error:  # their types depend on the library, its version and the damage
        reason = " ".join(str(error).split()) or type(error).__name__
        raise FileError(f"the file is damaged or of another kind; the parser says: {reason[:200]}") from error


def check_undirected(directed: bool, title: str, advice: str) -> None:
    """Raise FileError for a directed graph."""
    if directed:
        raise FileError(f"the graph must be undirected; got a directed {title}. {advice}")


def _is_number(value: object, key: str) -> TypeGuard[Real]:
    """Return whether an attribute found in a file is kept."""
    named = _KEY.fullmatch(key) is not None and key.lower() not in _TAKEN
    return named and isinstance(value, Real) and not isinstance(value, bool)


def _check_names(names: Sequence[str], n_variables: int) -> None:
    """Raise InputError unless there is one distinct, encodable string per variable."""
    if n_variables == 0:
        raise InputError("graph must have at least one variable to be named or written; got none.")
    if len(names) != n_variables:
        raise InputError(f"names must hold one name for each of {n_variables} variables; got {len(names)}.")
    seen: set[str] = set()
    for name in names:
        if not isinstance(name, str):
            raise InputError(f"names must be strings; got {name!r}. Pass str(name).")
        if name in seen:
            raise InputError(f"names must be distinct; got {name!r} twice. Rename one of the two.")
        if any("\ud800" <= letter <= "\udfff" for letter in name):
            raise InputError(f"names must be valid Unicode; got {name!r}. Remove its lone surrogates.")
        seen.add(name)


def _check_numbers(edge: Any, numbers: Mapping[str, float], graph: Graph) -> None:
    """Raise InputError unless attributes belong to an edge, have a plain name and are numbers."""
    if not isinstance(edge, tuple) or len(edge) != 2 or edge not in graph or edge[0] >= edge[1]:
        raise InputError(
            f"attributes must belong to edges (u, v) of the graph with u < v; got {edge!r}. Leave out the others."
        )
    check_mapping(f"attributes[{edge}]", numbers, "{'weight': 0.5}")
    for key, value in numbers.items():
        if not _is_number(value, key):
            raise InputError(
                f"attributes must be numbers under a name of letters, digits and _ (none of "
                f"{', '.join(sorted(_TAKEN))}); got {key!r}: {value!r} for edge {edge}."
            )
