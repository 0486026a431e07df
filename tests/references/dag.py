"""Directed acyclic graphs for the tests of searches: the slow truth about separation, moralisation and equivalence."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations, product

import numpy as np

from mnlearn.errors import InputError
from mnlearn.graphs import Graph
from mnlearn.protocols import Indices, VarSet, Verdict, Verdicts

Arrow = tuple[int, int]  # (u, v) is u → v
Collider = tuple[int, int, int]  # (u, child, v) with u < v and no edge between u and v


@dataclass(frozen=True)
class Dag:
    """A directed acyclic graph; its arrows may point in any order of the indices."""

    n_variables: int
    arrows: frozenset[Arrow]

    def parents(self, x: int) -> frozenset[int]:
        return frozenset(u for u, v in self.arrows if v == x)

    def children(self, x: int) -> frozenset[int]:
        return frozenset(v for u, v in self.arrows if u == x)

    def skeleton(self) -> Graph:
        return Graph(self.n_variables, self.arrows)

    def moral(self) -> Graph:
        """Every pair of parents married, directions dropped."""
        married = [pair for x in range(self.n_variables) for pair in combinations(sorted(self.parents(x)), 2)]
        return Graph(self.n_variables, [*self.arrows, *married])

    def colliders(self) -> frozenset[Collider]:
        """The v-structures."""
        skeleton = self.skeleton()
        return frozenset(
            (u, x, v)
            for x in range(self.n_variables)
            for u, v in combinations(sorted(self.parents(x)), 2)
            if not skeleton.has_edge(u, v)
        )

    def is_acyclic(self) -> bool:
        left = set(range(self.n_variables))
        while left:
            sources = {x for x in left if self.parents(x).isdisjoint(left)}
            if not sources:
                return False
            left -= sources
        return True

    def compelled(self) -> frozenset[Arrow]:
        """The arrows that every Markov equivalent graph has, by listing all of them: for a dozen edges at most."""
        common: frozenset[Arrow] | None = None
        for other in self._same_skeleton():
            if other.colliders() == self.colliders() and other.is_acyclic():
                common = other.arrows if common is None else common & other.arrows
        assert common is not None, "the graph is equivalent to itself"
        return common

    def _same_skeleton(self) -> Iterator[Dag]:
        edges = self.skeleton().edges
        for turned in product((False, True), repeat=len(edges)):
            arrows = ((v, u) if turn else (u, v) for (u, v), turn in zip(edges, turned, strict=True))
            yield Dag(self.n_variables, frozenset(arrows))


def random_dag(n_variables: int, average_degree: float, seed: int) -> Dag:
    """Arrows drawn at random along a random order of the variables."""
    rng = np.random.default_rng(seed)
    place = rng.permutation(n_variables)
    pairs = list(combinations(range(n_variables), 2))
    n_edges = min(len(pairs), round(n_variables * average_degree / 2))
    chosen = rng.choice(len(pairs), size=n_edges, replace=False)
    drawn = (pairs[k] for k in chosen)
    return Dag(n_variables, frozenset((u, v) if place[u] < place[v] else (v, u) for u, v in drawn))


class DSeparationOracle:
    """x ⟂ y | z iff z d-separates x from y: a ball rolls from x along the trails that z leaves open."""

    def __init__(self, dag: Dag) -> None:
        self.dag = dag
        self._parents = [dag.parents(x) for x in range(dag.n_variables)]
        self._children = [dag.children(x) for x in range(dag.n_variables)]

    @property
    def n_variables(self) -> int:
        return self.dag.n_variables

    def __call__(self, x: int, y: int, z: VarSet) -> Verdict:
        return self.scan(x, (y,), z).one(0)

    def scan(self, x: int, ys: Indices, z: VarSet) -> Verdicts:
        candidates = [int(y) for y in ys]
        if x in z or any(y == x or y in z for y in candidates):
            raise InputError(f"x, y and z must be disjoint; got x={x}, ys={candidates}, z={sorted(z)}.")
        reached = self._reached(x, z)
        independent = np.array([y not in reached for y in candidates], dtype=np.bool_)
        return Verdicts(independent, np.where(independent, 0.0, -np.inf))

    def _reached(self, x: int, z: VarSet) -> set[int]:
        """The variables that an open trail joins to x."""
        above = set(z)  # z and its ancestors: a collider is open when it is one of them
        while grown := {u for v in above for u in self._parents[v]} - above:
            above |= grown
        seen: set[tuple[int, bool]] = set()
        rolling = [(x, True)]  # True: it came from a child, or starts here
        while rolling:
            state = rolling.pop()
            if state in seen:
                continue
            seen.add(state)
            at, from_child = state
            if at not in z:
                rolling += [(child, False) for child in self._children[at]]
            if (from_child and at not in z) or (not from_child and at in above):
                rolling += [(parent, True) for parent in self._parents[at]]
        return {at for at, _ in seen if at not in z}
