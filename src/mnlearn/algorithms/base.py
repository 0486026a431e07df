"""Parts that the searches share: required and forbidden edges, and cancellation."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from operator import index
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from mnlearn.errors import BudgetExceeded, InputError, UnsuitableError, check_methods
from mnlearn.graphs.candidates import Candidates, check_candidates
from mnlearn.graphs.graph import Edge, Graph
from mnlearn.protocols import BoolArray, Monitor


@dataclass(frozen=True)
class Constraints:
    """Required and forbidden edges of a graph on n variables, checked.

    Parameters
    ----------
    n_variables
        How many variables there are.
    required, forbidden
        Pairs of indices, in either direction.
    candidates
        The only pairs that may be edges, required ones excepted; None for all pairs.

    Raises
    ------
    InputError
        If a pair does not name two different variables, or is both required and forbidden, or the candidates are pairs
        of another number of variables.

    Examples
    --------
    >>> known = Constraints(4, required=[(2, 0)], forbidden=[(1, 3)])
    >>> known.apply(Graph(4, [(1, 3), (0, 1)])).edges
    ((0, 1), (0, 2))
    >>> len(known.free())
    4
    """

    n_variables: int
    required: Collection[Edge] = ()
    forbidden: Collection[Edge] = ()
    candidates: Candidates | None = None
    fixed: frozenset[Edge] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        if self.candidates is not None:
            check_candidates(self.candidates, self.n_variables)
        object.__setattr__(self, "required", self._checked("required", self.required))
        object.__setattr__(self, "forbidden", self._checked("forbidden", self.forbidden))
        both = frozenset(self.required) & frozenset(self.forbidden)
        if both:
            u, v = min(both)
            raise InputError(f"required and forbidden must not share an edge; both name ({u}, {v}). Drop it from one.")
        object.__setattr__(self, "fixed", frozenset(self.required) | frozenset(self.forbidden))

    def allows(self, u: int, v: int) -> bool:
        """Return whether a search may flip this pair."""
        pair = ordered(u, v)
        return pair not in self.fixed and (self.candidates is None or len(self.candidates.places([pair])) > 0)

    def free(self) -> list[Edge]:
        """Return the pairs that a search may flip, in lexicographic order."""
        n = self.n_variables
        if self.candidates is not None:
            listed = zip(self.candidates.u.tolist(), self.candidates.v.tolist(), strict=True)
            return [pair for pair in listed if pair not in self.fixed]
        return [(u, v) for u in range(n) for v in range(u + 1, n) if (u, v) not in self.fixed]

    def mask(self) -> BoolArray:
        """Return the symmetric matrix of the pairs that a search may flip; False on the diagonal."""
        n = self.n_variables
        if self.candidates is None:
            may = ~np.eye(n, dtype=np.bool_)
        else:
            may = np.zeros((n, n), dtype=np.bool_)
            may[self.candidates.u, self.candidates.v] = may[self.candidates.v, self.candidates.u] = True
        for u, v in self.fixed:
            may[u, v] = may[v, u] = False
        return may

    def partners(self) -> list[NDArray[np.int32]] | None:
        """Return the variables that a search may join to each variable, ascending; None for all but fixed pairs."""
        return None if self.candidates is None else self.candidates.without(self.fixed).partners()

    def apply(self, graph: Graph) -> Graph:
        """Return the graph with the required edges added and those removed that are forbidden or no candidates."""
        if self.candidates is not None:
            kept = self.candidates.places(graph.edges)
            ends = self.candidates.u[kept].tolist(), self.candidates.v[kept].tolist()
            graph = Graph(self.n_variables, zip(*ends, strict=True))
        return graph.add(self.required).remove(edge for edge in self.forbidden if edge in graph)

    def _checked(self, name: str, edges: Collection[Edge]) -> frozenset[Edge]:
        found = set()
        for edge in edges:
            try:
                u, v = (index(end) for end in edge)
            except (TypeError, ValueError):
                raise InputError(
                    f"{name} must hold pairs of variables; got {edge!r}. Write for example [(0, 1)]."
                ) from None
            if u == v or not (0 <= u < self.n_variables and 0 <= v < self.n_variables):
                raise InputError(
                    f"{name} must hold pairs of two different variables, 0 to {self.n_variables - 1}; "
                    f"got {(u, v)}. Drop or correct it."
                )
            found.add(ordered(u, v))
        return frozenset(found)


class Cancelled(Exception):  # noqa: N818 - an event that a search catches, not an error
    """The monitor cancels the search, which returns its best result so far."""


STOPPED = (BudgetExceeded, Cancelled)


def check_cancelled(monitor: Monitor) -> None:
    """Raise Cancelled if the monitor cancels the search."""
    if monitor.cancelled():
        raise Cancelled


def check_parts(judge: object, monitor: object, methods: Sequence[str], hint: str) -> int:
    """Return the number of variables; raise UnsuitableError for a judge or monitor of the wrong kind."""
    check_methods("judge", judge, methods, hint)
    check_monitor(monitor)
    n_variables = getattr(judge, "n_variables", None)
    if not isinstance(n_variables, int):
        raise UnsuitableError(f"judge must have n_variables, a number; a {type(judge).__name__} has none. {hint}")
    check_variables(n_variables)
    return n_variables


def check_monitor(monitor: object) -> None:
    """Raise UnsuitableError unless the monitor can receive progress and cancel."""
    check_methods("monitor", monitor, ("progress", "cancelled"), "Leave it out for none.")


def check_variables(n_variables: int) -> None:
    """Raise InputError if there are fewer than 2 variables."""
    if n_variables < 2:
        raise InputError(
            f"judge must know at least 2 variables; got {n_variables}. There is no structure to learn from fewer."
        )


def edges_of_neighborhoods(
    found: Mapping[int, Mapping[int, float]], rule: Literal["and", "or"], weigh: Callable[[float, float], float]
) -> dict[Edge, float]:
    """Return the edges that both ends choose ("and") or at least one of them ("or"), each with its support.

    Parameters
    ----------
    found
        For each variable its neighbours with their support. A variable that is missing agrees with all others.
    rule
        How the two ends are combined.
    weigh
        Combines the support of the two ends: min or max.
    """
    edges: dict[Edge, float] = {}
    for x, neighbors in found.items():
        for y, support in neighbors.items():
            if rule == "or" or y not in found or x in found[y]:
                edge = ordered(x, y)
                edges[edge] = weigh(support, edges.get(edge, support))
    return edges


def ordered(x: int, y: int) -> Edge:
    """Return the pair with the smaller index first."""
    return (x, y) if x < y else (y, x)
