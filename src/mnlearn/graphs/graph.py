"""The undirected graph, the result of every search.

Graphs are immutable. A changed graph is a new one that shares the unchanged neighbour sets, so a flip costs one copy
of n references and two small sets. A variable is an index 0..n-1; names are in `mnlearn.data` and in the file formats.

Graphs as arrays: rows of pairs, and symmetric adjacency matrices.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from itertools import chain, islice
from operator import index
from typing import TYPE_CHECKING, Any, TypeAlias, cast, final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mnlearn.errors import (
    InputError,
    UnsuitableError,
    check_listed,
    check_methods,
    check_unmasked,
    iterates,
    sound_sparse,
    tuple_of,
    whole_number,
)

if TYPE_CHECKING:
    from scipy.sparse import csr_array


def neighbors_of_array(pairs: NDArray[Any], n: int) -> tuple[frozenset[int], ...] | None:
    """Return the neighbours of each variable by the rows of an integer array; None if some row is not an edge."""
    if pairs.ndim != 2 or pairs.shape[1] != 2 or pairs.dtype.kind not in "iu" or np.ma.isMaskedArray(pairs):
        return None
    if len(pairs) and (pairs.min() < 0 or pairs.max() >= n or (pairs[:, 0] == pairs[:, 1]).any()):
        return None  # the loop over the pairs names the first of them
    ends = np.concatenate([pairs, pairs[:, ::-1]])
    order = np.argsort(ends[:, 0], kind="stable")
    others, bounds = ends[order, 1].tolist(), np.cumsum(np.bincount(ends[:, 0], minlength=n)).tolist()
    return tuple(frozenset(others[a:b]) for a, b in zip([0, *bounds], bounds, strict=False))


def symmetric_entries(matrix: Any) -> tuple[int, NDArray[np.int32], NDArray[np.int32]]:
    """Return the size, and the rows and columns of the non-zero entries, of an adjacency matrix."""
    from scipy.sparse import coo_array, issparse

    check_unmasked("matrix", matrix)
    try:
        values: Any = sound_sparse("matrix", matrix) if issparse(matrix) else np.asarray(cast(ArrayLike, matrix))
    except ValueError:
        raise InputError("matrix must be square; got rows of different lengths.") from None
    if values.ndim != 2 or values.shape[0] != values.shape[1]:
        raise InputError(f"matrix must be square; got shape {values.shape}.")
    if values.dtype.kind not in "biuf":
        raise InputError(f"matrix must hold booleans or real numbers; got dtype {values.dtype}.")
    entries = coo_array(values).tocsr().astype(np.float64)
    entries.eliminate_zeros()
    if not np.isfinite(entries.data).all():
        raise InputError("matrix must hold finite numbers; got NaN or infinity. Use 0 where there is no edge.")
    looped = np.flatnonzero(entries.diagonal())
    if len(looped):
        raise InputError(f"matrix must have a zero diagonal; entry ({looped[0]}, {looped[0]}) is not. Set it to 0.")
    _check_symmetric(entries)
    rows, columns = entries.nonzero()
    return int(values.shape[0]), rows, columns


def _check_symmetric(entries: Any) -> None:
    """Raise InputError unless a matrix is symmetric; values may differ by rounding, zeros may not."""
    mirrored = entries.T.tocsr()
    one_sided = (entries != 0) != (mirrored != 0)
    unequal = abs(entries - mirrored) > 1e-8 * abs(entries).maximum(abs(mirrored))
    wrong = (one_sided + unequal).tocoo()
    if wrong.nnz:
        u, v = int(wrong.row[0]), int(wrong.col[0])
        raise InputError(
            f"matrix must be symmetric; entry ({u}, {v}) is {entries[u, v]:g} and entry ({v}, {u}) is "
            f"{entries[v, u]:g}. If an edge in either direction is meant, pass (matrix != 0) + (matrix.T != 0)."
        )


Edge: TypeAlias = tuple[int, int]  # (u, v) with u < v
_MOST_VARIABLES = 2**31 - 1  # the largest index
_SHOWN = 8  # edges in a repr


@final
class Graph:
    """An immutable undirected graph on the variables 0..n-1, without self loops.

    Two graphs are equal when they have as many variables and the same edges. Edges may be given in either
    direction and more than once; they are kept as (u, v) with u < v.

    Parameters
    ----------
    n_variables
        Number of variables, isolated ones included.
    edges
        Pairs of indices; an integer array of two columns is read fastest.

    Examples
    --------
    >>> chain = Graph(3, [(0, 1), (1, 2)])
    >>> chain.separates(0, 2, {1}), chain.separates(0, 2)
    (True, False)
    >>> chain.flip(0, 2) == Graph.complete(3)
    True
    """

    __slots__ = ("_edges", "_n_edges", "_neighbors")
    _neighbors: tuple[frozenset[int], ...]
    _n_edges: int
    _edges: tuple[Edge, ...] | None  # computed at first use

    def __init__(self, n_variables: int, edges: Iterable[Sequence[int]] = ()) -> None:
        n = _count(n_variables)
        listed = neighbors_of_array(edges, n) if isinstance(edges, np.ndarray) else None
        if listed is not None:
            self._neighbors, self._n_edges, self._edges = listed, sum(map(len, listed)) // 2, None
            return
        neighbors: list[set[int]] = [set() for _ in range(n)]
        for u, v in _checked_edges(edges, n):
            neighbors[u].add(v)
            neighbors[v].add(u)
        self._neighbors = tuple(map(frozenset, neighbors))
        self._n_edges = sum(map(len, neighbors)) // 2
        self._edges = None

    @classmethod
    def _share(cls, neighbors: Iterable[frozenset[int]], n_edges: int) -> Graph:
        """Return a graph of neighbour sets that are symmetric and free of loops; nothing is checked."""
        graph = object.__new__(cls)
        graph._neighbors = tuple(neighbors)
        graph._n_edges = n_edges
        graph._edges = None
        return graph

    @classmethod
    def empty(cls, n_variables: int) -> Graph:
        """Return the graph without edges."""
        return cls(n_variables)

    @classmethod
    def complete(cls, n_variables: int) -> Graph:
        """Return the graph with every edge; its memory is quadratic in the number of variables."""
        n = _count(n_variables)
        all_variables = frozenset(range(n))
        return cls._share((all_variables - {x} for x in range(n)), n * (n - 1) // 2)

    @classmethod
    def from_edges(cls, n_variables: int, edges: Iterable[Sequence[int]]) -> Graph:
        """Return the graph with these edges: pairs of indices, in any direction; a repeated pair counts once."""
        return cls(n_variables, edges)

    @classmethod
    def from_adjacency(cls, matrix: Any) -> Graph:
        """Return the graph whose edges are the non-zero entries of a symmetric matrix with a zero diagonal.

        Parameters
        ----------
        matrix
            Square; anything NumPy reads as two-dimensional, or any SciPy sparse matrix or array. Entries may be
            booleans, integers or weights; (u, v) and (v, u) must agree up to rounding.
        """
        n, rows, columns = symmetric_entries(matrix)
        return cls(n, np.stack([rows, columns], axis=1))

    @classmethod
    def from_networkx(cls, graph: Any) -> tuple[Graph, tuple[Hashable, ...]]:
        """Return a networkx graph with indices for nodes, and the nodes in order of their index (that of networkx)."""
        check_methods("graph", graph, ("is_directed",), "Use a networkx.Graph.")
        if graph.is_directed():
            raise InputError(
                f"graph must be undirected; got a {type(graph).__name__}. Decide what its directions mean, for "
                f"instance with graph.to_undirected() or networkx.moral_graph(graph)."
            )
        names: tuple[Hashable, ...] = tuple(graph.nodes)
        position = {name: x for x, name in enumerate(names)}
        for u, v in graph.edges():
            if u == v:
                raise InputError(
                    f"graph must have no self loops; got one on {u!r}. Remove them with "
                    f"graph.remove_edges_from(list(networkx.selfloop_edges(graph)))."
                )
        return cls(len(names), ((position[u], position[v]) for u, v in graph.edges())), names

    @property
    def n_variables(self) -> int:
        """Number of variables."""
        return len(self._neighbors)

    @property
    def n_edges(self) -> int:
        """Number of edges."""
        return self._n_edges

    @property
    def edges(self) -> tuple[Edge, ...]:
        """All edges (u, v) with u < v, in ascending order."""
        if self._edges is None:
            pairs = enumerate(self._neighbors)
            self._edges = tuple((u, v) for u, others in pairs for v in sorted(others) if u < v)
        return self._edges

    def neighbors(self, x: int) -> frozenset[int]:
        """Return the variables that share an edge with x: its Markov blanket."""
        try:
            if 0 <= x < len(self._neighbors) and x is not True and x is not False:
                return self._neighbors[x]
        except (TypeError, ValueError):  # not an index
            pass
        raise _out_of_range("x", x, len(self._neighbors))

    def degree(self, x: int) -> int:
        """Return the number of neighbours of x."""
        return len(self.neighbors(x))

    def degrees(self) -> NDArray[np.int64]:
        """Return the number of neighbours of every variable, by index."""
        return np.fromiter(map(len, self._neighbors), dtype=np.int64, count=len(self._neighbors))

    def has_edge(self, u: int, v: int) -> bool:
        """Return whether u and v share an edge."""
        try:
            known = bool(0 <= index(v) < len(self._neighbors))
        except (TypeError, ValueError):  # not an index
            known = False
        if not known:
            raise _out_of_range("v", v, len(self._neighbors))
        return index(v) in self.neighbors(u)

    def __contains__(self, edge: Sequence[int]) -> bool:
        u, v = edge
        return self.has_edge(u, v)

    def flip(self, u: int, v: int) -> Graph:
        """Return the graph in which the pair (u, v) has an edge if it has none here, and none if it has one."""
        n = self.n_variables
        u, v = _checked_pair((u, v), n)
        neighbors = list(self._neighbors)
        present = v in neighbors[u]
        neighbors[u] ^= {v}
        neighbors[v] ^= {u}
        return Graph._share(neighbors, self._n_edges + (-1 if present else 1))

    def add(self, edges: Iterable[Sequence[int]]) -> Graph:
        """Return the graph with these edges as well; existing ones stay."""
        return self._changed(_checked_edges(edges, self.n_variables), frozenset.union)

    def remove(self, edges: Iterable[Sequence[int]]) -> Graph:
        """Return the graph without these edges, each of which must exist."""
        leaving = list(_checked_edges(edges, self.n_variables))
        for u, v in leaving:
            if v not in self._neighbors[u]:
                raise InputError(
                    f"edges must be edges of the graph; got ({u}, {v}), which is not. Use flip(u, v) to change a pair "
                    f"in any state."
                )
        return self._changed(leaving, frozenset.difference)

    def _changed(self, edges: Iterable[Edge], change: Callable[..., frozenset[int]]) -> Graph:
        """Return the graph after union or difference with these edges; only the neighbour sets of their ends change."""
        touched: dict[int, set[int]] = {}
        for u, v in edges:
            touched.setdefault(u, set()).add(v)
            touched.setdefault(v, set()).add(u)
        neighbors = list(self._neighbors)
        degree_change = 0
        for x, others in touched.items():
            neighbors[x] = change(neighbors[x], others)
            degree_change += len(neighbors[x]) - len(self._neighbors[x])
        return Graph._share(neighbors, self._n_edges + degree_change // 2)

    def reachable(self, x: int | Iterable[int], z: Iterable[int] = frozenset()) -> frozenset[int]:
        """Return the variables joined to x by a path that avoids z, x included: its component without z.

        One search is enough for a whole scan: y is separated from x by z if it is neither in z nor in this set.
        """
        starts, blocked = self._members("x", x), self._members("z", z)
        _check_disjoint("x", starts, "z", blocked)
        seen = set(blocked)
        for _ in self._flood(starts, seen):
            pass
        return frozenset(seen - blocked)

    def separates(self, x: int | Iterable[int], y: int | Iterable[int], z: Iterable[int] = frozenset()) -> bool:
        """Return whether every path between x and y meets z.

        Parameters
        ----------
        x, y
            Indices, or sets of them; disjoint from z and from each other. An empty set is separated from any other.
        z
            The separating set; may be empty.

        Notes
        -----
        One breadth-first search from x, linear in the edges it meets; it ends at the first member of y.
        """
        starts, goals, blocked = self._members("x", x), self._members("y", y), self._members("z", z)
        _check_disjoint("x", starts, "z", blocked)
        _check_disjoint("y", goals, "z", blocked)
        _check_disjoint("x", starts, "y", goals)
        return all(goals.isdisjoint(wave) for wave in self._flood(starts, set(blocked)))

    def waves(self, x: int | Iterable[int], distance: int) -> tuple[tuple[int, ...], ...]:
        """Return the variables at distance 0, 1, ..., `distance` from x, each ascending, up to the farthest that exist.

        Examples
        --------
        >>> Graph(4, [(0, 1), (1, 2), (2, 3)]).waves(0, 2)
        ((0,), (1,), (2,))
        """
        steps = whole_number("distance", distance, least=0, hint="Use 1 for the neighbours.")
        reached = islice(self._flood(self._members("x", x), set()), min(steps, self.n_variables) + 1)
        return tuple(tuple(sorted(wave)) for wave in reached)

    def _flood(self, starts: AbstractSet[int], seen: set[int]) -> Iterator[AbstractSet[int]]:
        """Yield the variables at each distance from the starts; skip those in `seen`, and add the new ones to it."""
        wave = set(starts)
        while wave:
            seen |= wave
            yield wave
            # Against a comprehension: 6 % less time at n = 100, half of it at n = 20,000.
            wave = set().union(*map(self._neighbors.__getitem__, wave)) - seen

    def _members(self, argument: str, variables: int | Iterable[int]) -> frozenset[int]:
        """Return one index or many as a checked set."""
        try:
            listed: Any = variables if iterates(variables) else (variables,)
            members: frozenset[int] = frozenset(map(index, listed))
        except TypeError:
            raise InputError(f"{argument} must be an index or a set of indices; got {variables!r}.") from None
        for x in members:
            if not 0 <= x < len(self._neighbors):
                raise _out_of_range(argument, x, len(self._neighbors))
        return members

    def components(self) -> tuple[tuple[int, ...], ...]:
        """Return the connected components, each in ascending order, ordered by their smallest member."""
        seen: set[int] = set()
        floods = (self._flood({x}, seen) for x in range(self.n_variables) if x not in seen)
        return tuple(tuple(sorted(chain.from_iterable(waves))) for waves in floods)

    def subgraph(self, variables: Collection[int]) -> Graph:
        """Return the graph on some of the variables: `variables[i]` becomes i (a set is read in ascending order)."""
        check_listed("variables", variables, "indices")
        listed = list(variables)
        self._members("variables", listed)
        chosen = sorted(map(index, listed)) if isinstance(variables, AbstractSet) else [index(x) for x in listed]
        position = {x: i for i, x in enumerate(chosen)}
        if len(position) < len(chosen):
            raise InputError(f"variables must be distinct; got {chosen}.")
        kept = self._members("variables", chosen)
        neighbors = [frozenset(position[y] for y in self._neighbors[x] & kept) for x in chosen]
        return Graph._share(neighbors, sum(map(len, neighbors)) // 2)

    def relabel(self, permutation: Sequence[int]) -> Graph:
        """Return the graph with other indices: variable x becomes `permutation[x]`."""
        check_listed("permutation", permutation, "indices")
        try:
            new = [index(x) for x in permutation]
        except TypeError:
            raise InputError(f"permutation must hold indices; got {permutation!r:.80}. Use whole numbers.") from None
        if sorted(new) != list(range(self.n_variables)):
            listed = ", ".join(map(str, new[:12])) + (", ..." if len(new) > 12 else "")
            raise InputError(f"permutation must hold each of 0..{self.n_variables - 1} once; got [{listed}].")
        neighbors: list[frozenset[int]] = [frozenset()] * self.n_variables
        for x, others in enumerate(self._neighbors):
            neighbors[new[x]] = frozenset(new[y] for y in others)
        return Graph._share(neighbors, self._n_edges)

    def complement(self) -> Graph:
        """Return the graph with exactly the other edges; its memory is quadratic in the number of variables."""
        n = self.n_variables
        all_variables = frozenset(range(n))
        others = (all_variables - neighbors - {x} for x, neighbors in enumerate(self._neighbors))
        return Graph._share(others, n * (n - 1) // 2 - self._n_edges)

    def adjacency(self) -> csr_array[np.int8]:
        """Return the adjacency matrix: a sparse array with a one for each edge, in both directions."""
        from scipy.sparse import csr_array

        n = self.n_variables
        degrees = self.degrees()
        ends = np.fromiter(chain.from_iterable(self._neighbors), np.int32, 2 * self._n_edges)
        ends = ends[np.lexsort((ends, np.repeat(np.arange(n), degrees)))]
        starts = np.concatenate(([0], np.cumsum(degrees))).astype(np.int32)
        return csr_array((np.ones(len(ends), dtype=np.int8), ends, starts), shape=(n, n))

    def to_networkx(self, names: Sequence[Hashable] | None = None) -> Any:
        """Return the graph as a `networkx.Graph`; nodes are the names, or the indices if there are none."""
        import networkx as nx

        labels: Sequence[Hashable] = range(self.n_variables)
        if names is not None:
            labels = tuple_of("names", names, "names")
            if not all(isinstance(name, Hashable) for name in labels):
                raise InputError(f"names must be hashable, such as strings; got {labels!r:.80}. Use str(...).")
        if len(labels) != self.n_variables or len(set(labels)) != self.n_variables:
            raise InputError(
                f"names must hold one distinct name for each of {self.n_variables} variables; got {len(labels)} names, "
                f"{len(set(labels))} of them distinct."
            )
        graph = nx.Graph()
        graph.add_nodes_from(labels)
        graph.add_edges_from((labels[u], labels[v]) for u, v in self.edges)
        return graph

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Graph):
            return NotImplemented
        return self._n_edges == other._n_edges and self._neighbors == other._neighbors

    def __hash__(self) -> int:
        # A frozenset caches its hash, so after a flip only two sets are hashed again.
        return hash(self._neighbors)

    def __reduce__(self) -> tuple[type[Graph], tuple[int, tuple[Edge, ...]]]:
        return Graph, (self.n_variables, self.edges)

    def __repr__(self) -> str:
        shown = ", ".join(map(str, self.edges[:_SHOWN]))
        more = f", ... ({self._n_edges} in all)" if self._n_edges > _SHOWN else ""
        return f"Graph({self.n_variables}, [{shown}{more}])"


def _count(n_variables: int) -> int:
    """Return a checked number of variables."""
    try:
        n = index(n_variables)
    except TypeError:
        raise InputError(f"n_variables must be an integer; got {n_variables!r}. Count them.") from None
    if n < 0:
        raise InputError(f"n_variables must not be negative; got {n}. Count them.")
    if n > _MOST_VARIABLES:
        raise InputError(f"n_variables must be at most {_MOST_VARIABLES:,}; got {n}. Leave variables out.")
    return n


def _checked_edges(edges: Iterable[Sequence[int]], n: int) -> Iterator[Edge]:
    """Return the edges as pairs u < v of plain integers within range."""
    check_listed("edges", edges, "pairs of variables")
    return (_checked_pair(edge, n) for edge in edges)


def _checked_pair(edge: Sequence[int], n: int) -> Edge:
    """Return one edge as (u, v) with u < v."""
    try:
        u, v = edge
        u, v = index(u), index(v)
    except (TypeError, ValueError):
        raise InputError(f"an edge must be a pair of variable indices; got {edge!r}. Write (0, 1).") from None
    if not (0 <= u < n and 0 <= v < n):
        raise _out_of_range("an edge", f"({u}, {v})", n)
    if u == v:
        raise InputError(f"an edge must join two different variables; got ({u}, {v}).")
    return (u, v) if u < v else (v, u)


def _out_of_range(argument: str, got: object, n: int) -> InputError:
    """Return the error for an index out of range."""
    known = f"0..{n - 1}" if n else "no variable at all: the graph is empty"
    return InputError(f"{argument} must name variables by index, {known}; got {got}. Count them from 0.")


def _check_disjoint(one: str, a: frozenset[int], other: str, b: frozenset[int]) -> None:
    """Raise InputError unless two sets are disjoint."""
    if not a.isdisjoint(b):
        raise InputError(f"{one} and {other} must be disjoint; got {one}={_shown(a)}, {other}={_shown(b)}.")


def _shown(members: frozenset[int]) -> str:
    """Return a short string for a set of indices."""
    listed = ", ".join(map(str, sorted(members)[:12]))
    return "{" + listed + (", ..." if len(members) > 12 else "") + "}"


def check_graph(argument: str, graph: object) -> None:
    """Raise UnsuitableError unless the argument is a Graph."""
    if not isinstance(graph, Graph):
        raise UnsuitableError(
            f"{argument} must be a Graph; got a {type(graph).__name__}. For a network with names, pass its .graph."
        )
