"""What is known beforehand: edges that must be there, and edges that must not."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field
from operator import index

import numpy as np

from mnlearn.errors import InputError
from mnlearn.graphs.graph import Edge, Graph
from mnlearn.protocols import BoolArray


@dataclass(frozen=True)
class Constraints:
    """Required and forbidden edges of a graph on n variables, checked.

    Parameters
    ----------
    n_variables
        How many variables there are.
    required, forbidden
        Pairs of indices, in either direction.

    Raises
    ------
    InputError
        If a pair does not name two different variables, or is both required and forbidden.

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
    fixed: frozenset[Edge] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "required", self._checked("required", self.required))
        object.__setattr__(self, "forbidden", self._checked("forbidden", self.forbidden))
        both = frozenset(self.required) & frozenset(self.forbidden)
        if both:
            u, v = min(both)
            raise InputError(f"required and forbidden must not share an edge; both name ({u}, {v}). Drop it from one.")
        object.__setattr__(self, "fixed", frozenset(self.required) | frozenset(self.forbidden))

    def allows(self, u: int, v: int) -> bool:
        """Whether a search may flip this pair."""
        return ((u, v) if u < v else (v, u)) not in self.fixed

    def free(self) -> list[Edge]:
        """The pairs that a search may flip, in lexicographic order."""
        n = self.n_variables
        return [(u, v) for u in range(n) for v in range(u + 1, n) if (u, v) not in self.fixed]

    def mask(self) -> BoolArray:
        """The same as a symmetric matrix: true where a search may flip; false on the diagonal."""
        may = ~np.eye(self.n_variables, dtype=np.bool_)
        for u, v in self.fixed:
            may[u, v] = may[v, u] = False
        return may

    def apply(self, graph: Graph) -> Graph:
        """The graph with what is required added and what is forbidden removed."""
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
            found.add((u, v) if u < v else (v, u))
        return frozenset(found)
