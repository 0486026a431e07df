"""Grow, join: the steps by which several papers find Markov blankets and make one graph of them."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Protocol

from mnlearn.graphs.graph import Graph
from mnlearn.protocols import VarSet, Verdict


class Asking(Protocol):
    """Whom the steps ask: a ledger, or something that reasons before it asks the ledger."""

    def __call__(self, x: int, y: int, z: VarSet) -> Verdict: ...
    def first_dependent(self, x: int, ys: Sequence[int], z: VarSet) -> int:
        """The place of the first y that depends on x given z, asked for one after the other; len(ys) if none does."""
        ...


def grow(asking: Asking, x: int, candidates: Sequence[int]) -> list[int]:
    """Who, tried once and in this order, depends on x given those before; in order of joining."""
    blanket: list[int] = []
    start = 0
    while start < len(candidates):
        start += asking.first_dependent(x, candidates[start:], frozenset(blanket)) + 1
        blanket.extend(candidates[start - 1 : start])
    return blanket


def union(n_variables: int, blankets: Mapping[int, Collection[int]]) -> Graph:
    """The graph that joins x and y when one is in the blanket of the other."""
    return Graph(n_variables, [(x, y) for x, blanket in blankets.items() for y in blanket])
