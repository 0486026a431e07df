"""Partially directed graphs, and the rules that direct more of their edges.

Meek, UAI (1995)  [MEEK95]; the rules are applied to all edges at once, so that the result does not depend on the
order of the variables, as in Colombo & Maathuis, JMLR 15 (2014)  [CM14].
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from itertools import combinations
from typing import TypeAlias

from mnlearn.graphs.graph import Edge, Graph

Arrow: TypeAlias = tuple[int, int]  # (u, v) is u → v
Triple: TypeAlias = tuple[int, int, int]  # (u, m, v), u < v: both share an edge with m, none with each other


@dataclass(frozen=True)
class Pdag:
    """A partially directed graph: some edges have a direction, the others can have either.

    Parameters
    ----------
    n_variables
        Number of variables.
    directed
        (u, v) for u → v. Both (u, v) and (v, u) mark an edge with contradicting findings.
    undirected
        (u, v) with u < v.

    Examples
    --------
    >>> collider = Pdag(4, frozenset({(0, 2), (1, 2)}), frozenset({(2, 3)}))
    >>> collider.skeleton().edges, collider.moral().edges
    (((0, 2), (1, 2), (2, 3)), ((0, 1), (0, 2), (1, 2), (2, 3)))
    """

    n_variables: int
    directed: frozenset[Arrow]
    undirected: frozenset[Edge]

    def parents(self, x: int) -> frozenset[int]:
        """Return the variables with an arrow into x."""
        return frozenset(u for u, v in self.directed if v == x)

    def skeleton(self) -> Graph:
        """Return the graph of all edges, without directions."""
        return Graph(self.n_variables, [*self.directed, *self.undirected])

    def marriages(self) -> frozenset[Edge]:
        """Return the pairs that share a child and no edge."""
        skeleton, parents = self.skeleton(), dict[int, set[int]]()
        for u, v in self.directed:
            parents.setdefault(v, set()).add(u)
        pairs = (pair for of_one_child in parents.values() for pair in combinations(sorted(of_one_child), 2))
        return frozenset(pair for pair in pairs if not skeleton.has_edge(*pair))

    def moral(self) -> Graph:
        """Return the moral graph: the skeleton with an edge between any two parents of a child."""
        return self.skeleton().add(self.marriages())


def unshielded(skeleton: Graph) -> list[Triple]:
    """Return all (u, m, v) in which u and v share a neighbour m and no edge."""
    return [
        (u, m, v)
        for m in range(skeleton.n_variables)
        for u, v in combinations(sorted(skeleton.neighbors(m)), 2)
        if not skeleton.has_edge(u, v)
    ]


def orient(skeleton: Graph, colliders: Iterable[Triple], ambiguous: Collection[Triple] = ()) -> Pdag:
    """Direct the edges of the colliders, then all edges that follow from them.

    Parameters
    ----------
    skeleton
        The edges.
    colliders
        Triples u → m ← v.
    ambiguous
        Triples that may or may not be colliders: nothing is concluded from them.
    """
    directed = {arrow for u, m, v in colliders for arrow in ((u, m), (v, m))}
    known = _Directions(skeleton, directed, frozenset(ambiguous))
    while arrows := known.implied():
        known.directed |= arrows
    undirected = (edge for edge in skeleton.edges if not known.is_directed(*edge))
    return Pdag(skeleton.n_variables, frozenset(known.directed), frozenset(undirected))


class _Directions:
    """Directions found so far, and Meek's rules for more."""

    def __init__(self, skeleton: Graph, directed: set[Arrow], ambiguous: frozenset[Triple]) -> None:
        self.skeleton, self.directed, self._ambiguous = skeleton, directed, ambiguous

    def is_directed(self, u: int, v: int) -> bool:
        """Return whether the edge has one direction or both."""
        return (u, v) in self.directed or (v, u) in self.directed

    def implied(self) -> set[Arrow]:
        """Return the arrows of one round of the rules; an edge that gets both directions gets none."""
        undirected = [edge for edge in self.skeleton.edges if not self.is_directed(*edge)]
        arrows = {arrow for u, v in undirected for arrow in ((u, v), (v, u)) if self._must_point(*arrow)}
        return {(u, v) for u, v in arrows if (v, u) not in arrows}

    def _must_point(self, a: int, b: int) -> bool:
        """Return whether a − b must be a → b; otherwise there would be a false collider or a cycle."""
        return self._chain(a, b) or self._shortcut(a, b) or self._two_ways(a, b)

    def _chain(self, a: int, b: int) -> bool:
        """u → a − b, u and b without an edge: a is not a collider, so a → b  [MEEK95, R1]."""
        return any(self._no_collider(u, a, b) for u in self._sure_parents(a) if not self.skeleton.has_edge(u, b))

    def _shortcut(self, a: int, b: int) -> bool:
        """a → m → b beside a − b: the other direction would close a cycle  [R2]."""
        return any(self._is_sure(a, m) for m in self._sure_parents(b))

    def _two_ways(self, a: int, b: int) -> bool:
        """a − c → b and a − d → b, c and d without an edge: b → a would make a a collider of c, d  [R3]."""
        ways = [c for c in self._sure_parents(b) if self.skeleton.has_edge(a, c) and not self.is_directed(a, c)]
        return any(
            not self.skeleton.has_edge(c, d) and self._no_collider(c, a, d) for c, d in combinations(sorted(ways), 2)
        )

    def _is_sure(self, u: int, v: int) -> bool:
        """Return whether there is u → v and not v → u."""
        return (u, v) in self.directed and (v, u) not in self.directed

    def _sure_parents(self, x: int) -> list[int]:
        return [u for u in self.skeleton.neighbors(x) if self._is_sure(u, x)]

    def _no_collider(self, u: int, m: int, v: int) -> bool:
        """Return whether the triple is known not to be a collider."""
        return (min(u, v), m, max(u, v)) not in self._ambiguous
