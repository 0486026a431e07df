"""E- and V-scores: how well the pieces of the true network are found, not only its edges one by one  [MBS09, Sec. 3.1].

The paper takes subgraphs of the true network and matches "the vertex neighbourhood and edge set" of each by an F-score,
without a formula. With F(A, B) = 2 |A ∩ B| / (|A| + |B|) we read it, for the vertices S of one subgraph, as

    E(S) = F( edges of the truth within S,  learned edges within S )
    V(S) = (1 / |S|) Σ_{v ∈ S} F( N*(v), N(v) )         N*, N: neighbours in the true and in the learned network

averaged over the subgraphs of a kind. E asks whether the piece is wired right inside, V whether its vertices have the
right neighbours, inside and outside; an edge that leads out of S wrongly costs V only. The published V lie below the
published E and hardly differ between kinds, as they do under this reading and under no other that we tried
(docs/measures.md).

| kind | its subgraphs                                                                        |
|------|--------------------------------------------------------------------------------------|
| SPN  | shortest path neighbourhoods: all vertices on a shortest path of a connected pair    |
| 1N   | a vertex and its neighbours                                                          |
| 2N   | a vertex and all within two steps                                                    |
| 3C   | three vertices on a cycle of three                                                   |
| 4C   | four vertices on a cycle of four, with or without chords                             |
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations
from typing import NamedTuple, TypeAlias

from mnlearn.errors import check_listed, check_name
from mnlearn.evaluation._aligning import check_same_variables
from mnlearn.graphs.graph import Graph

Bits: TypeAlias = int  # a set of vertices: vertex v is in it when bit v is set


class SubgraphScore(NamedTuple):
    """The two scores of one kind of subgraph, and over how many subgraphs they are means; None over none."""

    e: float | None
    v: float | None
    n_subgraphs: int


def ev_scores(learned: Graph, truth: Graph, kinds: Sequence[str] | None = None) -> dict[str, SubgraphScore]:
    """E- and V-scores of a learned graph, by kind of subgraph.

    Parameters
    ----------
    learned, truth
        Two graphs over the same variables; the subgraphs are the truth's.
    kinds
        Some of `KINDS`; all when left out.

    Returns
    -------
    dict
        For each kind the mean of E and of V over its subgraphs; a truth without cycles has None for 3C and 4C.

    Notes
    -----
    A pair of sets of which both are empty scores 1. SPN has a subgraph for every connected pair, so it grows with n²;
    4C with the number of four-cycles.

    Examples
    --------
    >>> triangle = Graph(4, [(0, 1), (0, 2), (1, 2), (2, 3)])
    >>> scores = ev_scores(triangle.remove([(0, 1)]), triangle)
    >>> scores["3C"]
    SubgraphScore(e=0.8, v=0.7777777777777777, n_subgraphs=1)
    >>> scores["4C"]
    SubgraphScore(e=None, v=None, n_subgraphs=0)
    """
    check_same_variables(learned, truth)
    if kinds is not None:
        check_listed("kinds", kinds, "kinds of subgraphs")
    chosen = list(_EXTRACTORS) if kinds is None else list(kinds)
    for kind in chosen:
        check_name("kind of subgraph", kind, _EXTRACTORS)
    found, true = _neighbor_bits(learned), _neighbor_bits(truth)
    return {kind: _mean_scores(found, true, _EXTRACTORS[kind](truth, true)) for kind in chosen}


def _mean_scores(found: Sequence[Bits], true: Sequence[Bits], subgraphs: Iterator[Bits]) -> SubgraphScore:
    """The means of E and V over subgraphs."""
    around = [_f((a & b).bit_count(), a.bit_count() + b.bit_count()) for a, b in zip(found, true, strict=True)]
    n, e_sum, v_sum = 0, 0.0, 0.0
    for inside in subgraphs:
        n += 1
        both = either = 0
        right = 0.0
        for v in _members(inside):
            both += (found[v] & true[v] & inside).bit_count()
            either += (found[v] & inside).bit_count() + (true[v] & inside).bit_count()
            right += around[v]
        e_sum += _f(both, either)
        v_sum += right / inside.bit_count()
    return SubgraphScore(e_sum / n, v_sum / n, n) if n else SubgraphScore(None, None, 0)


def _f(both: int, either: int) -> float:
    """2 |A ∩ B| / (|A| + |B|)."""
    return 2 * both / either if either else 1.0


def _paths(truth: Graph, true: Sequence[Bits]) -> Iterator[Bits]:
    """For every pair u < v that a path joins: the vertices w with d(u, w) + d(w, v) = d(u, v)."""
    shells = [_shells(x, true) for x in range(truth.n_variables)]
    for u, around in enumerate(shells):
        for distance, shell in enumerate(around):
            for v in _members(shell >> (u + 1) << (u + 1)):
                on_path = 0
                for step in range(distance + 1):
                    on_path |= around[step] & shells[v][distance - step]
                yield on_path


def _balls(radius: int, true: Sequence[Bits]) -> Iterator[Bits]:
    """For every vertex: all within the radius."""
    for x in range(len(true)):
        ball = 0
        for shell in _shells(x, true)[: radius + 1]:
            ball |= shell
        yield ball


def _triangles(truth: Graph, true: Sequence[Bits]) -> Iterator[Bits]:
    """Every three vertices of which each pair is joined, once."""
    for u, v in truth.edges:
        for w in _members((true[u] & true[v]) >> (v + 1) << (v + 1)):
            yield 1 << u | 1 << v | 1 << w


def _squares(truth: Graph, true: Sequence[Bits]) -> Iterator[Bits]:
    """Every four vertices on a cycle of four, once: two of them face each other and share the other two."""
    seen: set[Bits] = set()
    for u, w in combinations(range(truth.n_variables), 2):
        for a, b in combinations(_members(true[u] & true[w]), 2):
            seen.add(1 << u | 1 << w | 1 << a | 1 << b)
    yield from sorted(seen)


_EXTRACTORS = {
    "SPN": _paths,
    "1N": lambda _truth, true: _balls(1, true),
    "2N": lambda _truth, true: _balls(2, true),
    "3C": _triangles,
    "4C": _squares,
}
KINDS: tuple[str, ...] = tuple(_EXTRACTORS)
"""The kinds of subgraph that `ev_scores` knows."""


def _neighbor_bits(graph: Graph) -> list[Bits]:
    """The neighbours of every vertex."""
    return [sum(1 << y for y in graph.neighbors(x)) for x in range(graph.n_variables)]


def _shells(x: int, neighbors: Sequence[Bits]) -> list[Bits]:
    """The vertices at distance 0, 1, 2, ... from x."""
    shells, seen = [1 << x], 1 << x
    while True:
        reached = 0
        for v in _members(shells[-1]):
            reached |= neighbors[v]
        reached &= ~seen
        if not reached:
            return shells
        shells.append(reached)
        seen |= reached


def _members(bits: Bits) -> Iterator[int]:
    """The vertices of a set, in ascending order."""
    while bits:
        lowest = bits & -bits
        yield lowest.bit_length() - 1
        bits ^= lowest
