"""Graphs with names for variables and numbers on edges, as graph files hold them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from numbers import Real
from typing import Any, TypeAlias, TypeGuard

from mnlearn.errors import FileError, InputError, MnlearnError, check_mapping
from mnlearn.graphs.graph import Edge, Graph, check_graph

Attributes: TypeAlias = Mapping[Edge, Mapping[str, float]]  # per edge: numbers by name
_KEY = re.compile(r"[A-Za-z][A-Za-z0-9_]*")  # names that no format has to quote
# These have another meaning in GraphML or DOT.
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


class GraphBuilder:
    """Collects variables and edges from a parser; raises FileError unless they form a simple undirected graph."""

    def __init__(self) -> None:
        self._position: dict[str, int] = {}
        self._edges: dict[Edge, Edge] = {}
        self._columns: dict[str, dict[Edge, float]] = {}

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
        try:
            u, v = self._position[a], self._position[b]
        except KeyError as error:
            raise FileError(f"an edge must join declared variables; got {error}, which is not declared.") from None
        if u == v:
            raise FileError(f"an edge must join two different variables; got {a!r} twice. Remove the self loop.")
        edge = (u, v) if u < v else (v, u)
        if self._edges.setdefault(edge, edge) is not edge:
            raise FileError(f"an edge must be given once; got {a!r} - {b!r} twice. Remove one of the two.")
        for key, value in (numbers or {}).items():
            if _is_number(value, key):
                self._columns.setdefault(key, {})[edge] = float(value)

    def finish(self) -> NamedGraph:
        """Return the graph of all variables and edges."""
        if not self._position:
            raise FileError("a graph must have at least one variable; got none.")
        graph = Graph(len(self._position), self._edges)
        attributes = EdgeNumbers(graph.edges, self._columns) if self._columns else {}
        return NamedGraph(graph, tuple(self._position), attributes)


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
