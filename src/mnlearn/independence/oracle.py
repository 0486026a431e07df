"""Separation oracle of a known graph."""

from __future__ import annotations

from dataclasses import dataclass
from operator import index
from typing import ClassVar

import numpy as np

from mnlearn.errors import InputError, true_or_false
from mnlearn.graphs.candidates import Candidates, keys_of
from mnlearn.graphs.graph import Graph, check_graph
from mnlearn.independence.base import EvidenceTest
from mnlearn.protocols import SILENT, Evidence, Indices, Monitor, VarSet


def _index(value: object) -> int:
    """Return an index; a bool raises TypeError, since True is hardly meant as the second variable."""
    if isinstance(value, bool):
        raise TypeError
    return index(value)  # type: ignore[arg-type]


def _not_indices(x: object, y: object, z: object) -> InputError:
    """Return the error for a question that is not about indices of variables."""
    return InputError(
        f"x, y and z must be indices of variables; got x={x!r:.40}, y={y!r:.40}, z={z!r:.40}. Use dataset.index(name)."
    )


@dataclass(frozen=True)
class SeparationOracle(EvidenceTest):
    """Oracle of a graph: x ⟂ y | z iff z separates x from y. With it a sound search returns this graph.

    Parameters
    ----------
    graph
        The true graph.
    monotone
        Whether searches may rely on strong union: a set that separates two variables still does when more is given.
        Those that try all subsets of a set then test the set itself, and their account counts these tests. Use False
        for the account of their papers, question by question. The graph is the same.

    Notes
    -----
    A scan is one search from x. log p is 0 for independent and -inf for dependent pairs.

    Examples
    --------
    >>> from mnlearn.graphs import Graph
    >>> chain = SeparationOracle(Graph.from_edges(3, [(0, 1), (1, 2)]))
    >>> chain(0, 2, frozenset()).independent, chain(0, 2, frozenset({1})).independent
    (False, True)
    """

    name: ClassVar[str] = "oracle"
    graph: Graph
    monotone: bool = True

    def __post_init__(self) -> None:
        check_graph("graph", self.graph)
        true_or_false(monotone=self.monotone)

    @property
    def n_variables(self) -> int:
        """Number of variables."""
        return self.graph.n_variables

    def evidence(self, x: int, ys: Indices, z: VarSet) -> Evidence:
        """Return the decisions, with log p of 0 or -inf."""
        try:
            x, candidates, z = _index(x), [_index(y) for y in ys], frozenset(map(_index, z))
        except TypeError:
            raise _not_indices(x, ys, z) from None
        for y in candidates:
            if y == x or y in z or not 0 <= y < self.n_variables:
                raise InputError(
                    f"y must be a variable other than x and outside z; got x={x}, y={y}, z={sorted(z)}. "
                    "Ask about two different variables, neither of them in z."
                )
        reached = self.graph.reachable(x, z)
        independent = np.array([y not in reached for y in candidates], dtype=np.bool_)
        return Evidence(independent, log_p=np.where(independent, 0.0, -np.inf))

    def strongest(self, k: int, monitor: Monitor = SILENT) -> Candidates:
        """Return the pairs of each variable with the k nearest, of equally near ones those with the lowest index."""
        n, found = self.n_variables, [np.empty((0, 2), dtype=np.int64)]
        for x in range(n):
            if monitor.cancelled():
                break
            near, reached, edge = list[int](), {x}, {x}
            while edge and len(near) < k:
                edge = {y for v in edge for y in self.graph.neighbors(v)} - reached
                reached |= edge
                near += sorted(edge)
            found.append(np.array([(x, y) for y in near[:k]], dtype=np.int64).reshape(-1, 2))
        return Candidates(n, keys_of(n, np.concatenate(found)))
