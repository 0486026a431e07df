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

Independence accuracy: does the graph say the same as the data of randomly drawn independences?

For real data no true graph is known. [JAIR09, Sec. 5.2] and [IBMAP14] then ask a sample T of triplets (x, y, z) twice,
of the learned graph (does z separate x and y?) and of data that the learner has not seen in full (is the test of
x and y given z positive?), and count.

The two papers differ in three ways, all of them open here:

- the data that judge: the whole data set, of which a random third was learned from [JAIR09]; a test set apart from the
  training set [IBMAP14]. That is the caller's choice of `test`.
- the triplets: as many for each size of z [JAIR09]; the second paper says only that they are drawn at random, which
  read plainly is uniformly from all triplets, most of which have a z of about half the variables.
- what counts: agreement either way [JAIR09]; queries that are independent in both [IBMAP14, as its text reads].
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any, Literal, NamedTuple, TypeAlias

import numpy as np

from mnlearn.errors import (
    InputError,
    UnknownNameError,
    UnsuitableError,
    check_listed,
    check_methods,
    check_name,
    check_room,
    is_one_of,
    whole_number,
)
from mnlearn.graphs.graph import Graph, check_graph
from mnlearn.graphs.named import NamedGraph
from mnlearn.numbers import Seed, in_order, rng_from
from mnlearn.protocols import FloatArray, IndependenceTest, IntArray, VarSet

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
        For each kind the mean of E and of V over its subgraphs; a true graph without cycles has None for 3C and 4C.

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
        kinds = list(kinds)
    return {} if kinds == [] else SubgraphScorer(truth, kinds)(learned)


class SubgraphScorer:
    """E- and V-scores of several learned graphs by the subgraphs of one true graph, which are found once.

    Parameters
    ----------
    truth, kinds
        As for `ev_scores`.

    Examples
    --------
    >>> truth = Graph(3, [(0, 1), (1, 2)])
    >>> scores = SubgraphScorer(truth, ["1N"])
    >>> scores(truth)["1N"], scores(Graph.empty(3))["1N"]
    (SubgraphScore(e=1.0, v=1.0, n_subgraphs=3), SubgraphScore(e=0.0, v=0.0, n_subgraphs=3))
    """

    def __init__(self, truth: Graph, kinds: Sequence[str] | None = None) -> None:
        if kinds is not None:
            check_listed("kinds", kinds, "kinds of subgraphs")
        chosen = list(_EXTRACTORS) if kinds is None else list(kinds)
        for kind in chosen:
            check_name("kind of subgraph", kind, _EXTRACTORS)
        if chosen and truth.n_variables > _MOST_VARIABLES:
            raise InputError(
                f"kinds must be empty for graphs of more than {_MOST_VARIABLES:,} variables, since the scores of "
                f"subgraphs take memory in the square of their number; got {truth.n_variables:,}. Use kinds=[]."
            )
        true = _neighbor_bits(truth)
        self.truth, self._true = truth, _adjacency(truth)
        self._members = {kind: _blocks(list(_EXTRACTORS[kind](truth, true)), truth.n_variables) for kind in chosen}
        self._edges = {kind: [_inside(block, self._true) for block in some] for kind, some in self._members.items()}

    def __call__(self, learned: Graph) -> dict[str, SubgraphScore]:
        """Return the scores of a learned graph by kind."""
        check_same_variables(learned, self.truth)
        found = _adjacency(learned)
        both = found.multiply(self._true)
        around = _f(*(np.asarray(matrix.sum(1)).ravel() for matrix in (both, found + self._true)))
        scores = {}
        for kind, blocks in self._members.items():
            e: list[float] = []
            v: list[float] = []
            for block, true_edges in zip(blocks, self._edges[kind], strict=True):
                e += _f(_inside(block, both), _inside(block, found) + true_edges).tolist()
                v += (block @ around / block.sum(1).A1).tolist()
            n = len(e)
            scores[kind] = SubgraphScore(in_order(e) / n, in_order(v) / n, n) if n else SubgraphScore(None, None, 0)
        return scores


_MOST_VARIABLES = 20_000  # of the true graph: their adjacency takes 400 MB
_ROWS = 1 << 14  # subgraphs examined at once


def _adjacency(graph: Graph) -> Any:
    """The symmetric sparse matrix of the edges."""
    from scipy.sparse import csr_matrix

    ends = np.array(graph.edges, dtype=np.int64).reshape(-1, 2)
    places = (np.concatenate([ends[:, 0], ends[:, 1]]), np.concatenate([ends[:, 1], ends[:, 0]]))
    return csr_matrix((np.ones(2 * len(ends), dtype=np.int64), places), shape=(graph.n_variables, graph.n_variables))


def _blocks(subgraphs: Sequence[Bits], n: int) -> list[Any]:
    """Sparse matrices of some subgraphs each: a row for every subgraph, a column for every vertex."""
    from scipy.sparse import csr_matrix

    found = []
    for start in range(0, len(subgraphs), _ROWS):
        members = [list(_members(inside)) for inside in subgraphs[start : start + _ROWS]]
        ends, columns = np.cumsum([0, *map(len, members)]), [v for some in members for v in some]
        found.append(csr_matrix((np.ones(len(columns), dtype=np.int64), columns, ends), shape=(len(members), n)))
    return found


def _inside(members: Any, edges: Any) -> IntArray:
    """Twice the number of edges between members of each subgraph."""
    return np.asarray((members @ edges).multiply(members).sum(1)).ravel()


def _f(both: IntArray, either: IntArray) -> FloatArray:
    """2 |A ∩ B| / (|A| + |B|)."""
    return np.where(either > 0, 2 * both / np.maximum(either, 1), 1.0)


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


# Which graphs can be compared: those over the same variables.


def align(learned: NamedGraph, truth: NamedGraph) -> tuple[Graph, Graph]:
    """Two graphs with the same names, as graphs by index in the order of the truth.

    Parameters
    ----------
    learned, truth
        Graphs over the same names, in any order.

    Raises
    ------
    UnknownNameError
        If one of them has a variable that the other has not.

    Examples
    --------
    >>> learned = NamedGraph(Graph(3, [(0, 1)]), ("c", "b", "a"))
    >>> align(learned, NamedGraph(Graph(3), ("a", "b", "c")))[0].edges
    ((1, 2),)
    """
    for which, network in (("learned", learned), ("truth", truth)):
        if not (hasattr(network, "names") and hasattr(network, "graph")):
            raise UnsuitableError(
                f"{which} must be a graph with names; got a {type(network).__name__}. Make a NamedGraph of it."
            )
    place = {name: x for x, name in enumerate(truth.names)}
    for one, other, which in ((learned.names, set(place), "learned"), (truth.names, set(learned.names), "true")):
        strange = [name for name in one if name not in other]
        if strange:
            more = f" and {len(strange) - 1} more" if len(strange) > 1 else ""
            raise UnknownNameError(
                f"learned and truth must have the same variables; only the {which} graph has {strange[0]!r}{more}. "
                f"Compare graphs of the same data."
            )
    return learned.graph.relabel([place[name] for name in learned.names]), truth.graph


def check_same_variables(learned: Graph, truth: Graph) -> None:
    """Two graphs can be compared only over the same variables."""
    check_graph("learned", learned)
    check_graph("truth", truth)
    if learned.n_variables != truth.n_variables:
        raise InputError(
            f"learned and truth must be over the same variables; got {learned.n_variables} and {truth.n_variables}. "
            f"Align them by name (mnlearn.evaluation.align), or compare graphs of the same data."
        )


Sizes = Literal["even", "all"]


class Triplet(NamedTuple):
    """A conditional independence x ⟂ y | z, decided by a graph and by data."""

    x: int
    y: int
    z: VarSet


@dataclass(frozen=True)
class Accuracy:
    """Agreement of graph and data on a set of triplets.

    Examples
    --------
    >>> counted = Accuracy(both_independent=6, both_dependent=2, only_graph=1, only_data=1)
    >>> counted.agreement, counted.shared_independences, round(counted.f1, 3)
    (0.8, 0.6, 0.857)
    """

    both_independent: int
    both_dependent: int
    only_graph: int  # independent in the graph, dependent in the data
    only_data: int  # independent in the data, dependent in the graph

    @property
    def n_triplets(self) -> int:
        """|T|."""
        return self.both_independent + self.both_dependent + self.only_graph + self.only_data

    @property
    def agreement(self) -> float:
        """|{t ∈ T : I_graph(t) = I_data(t)}| / |T|  [JAIR09, Sec. 5.2]."""
        return (self.both_independent + self.both_dependent) / self.n_triplets

    @property
    def shared_independences(self) -> float:
        """|{t ∈ T : I_graph(t) and I_data(t)}| / |T|  [IBMAP14]."""
        return self.both_independent / self.n_triplets

    @property
    def f1(self) -> float:
        """2 TP / (2 TP + FP + FN) with the independences of the data as positives; 1 when there are none in either."""
        doubled = 2 * self.both_independent
        return doubled / (doubled + self.only_graph + self.only_data) if self.n_triplets > self.both_dependent else 1.0


def independence_accuracy(
    graph: Graph, test: IndependenceTest, *, n_triplets: int = 10_000, sizes: Sizes = "even", seed: Seed
) -> Accuracy:
    """Ask randomly drawn independences of a graph and of data, and count how often they agree.

    Parameters
    ----------
    graph
        What was learned.
    test
        Answers from the data that judge: the whole set [JAIR09] or a test set [IBMAP14].
    n_triplets
        |T|; 10,000 in both papers' experiments.
    sizes
        How large the conditioning sets are; see `sample_triplets`.
    seed
        An integer, or a generator to draw from.

    Examples
    --------
    >>> from mnlearn.independence import SeparationOracle
    >>> chain = Graph(4, [(0, 1), (1, 2), (2, 3)])
    >>> independence_accuracy(chain, SeparationOracle(chain), n_triplets=200, seed=1).agreement
    1.0
    """
    check_graph("graph", graph)
    check_methods("test", test, ("__call__", "scan"), "Use a test, such as ChiSquare(Counts(data)).")
    if test.n_variables != graph.n_variables:
        raise InputError(
            f"graph and test must be over the same variables; got {graph.n_variables} and {test.n_variables}. Make "
            f"the test from the data that the graph was learned from."
        )
    return count_agreements(graph, test, sample_triplets(graph.n_variables, n_triplets, sizes=sizes, seed=seed))


def count_agreements(graph: Graph, test: IndependenceTest, triplets: Iterable[Triplet]) -> Accuracy:
    """Compare graph and data on each triplet."""
    counts = np.zeros((2, 2), dtype=np.int64)
    for x, y, z in triplets:
        counts[int(graph.separates(x, y, z)), int(test(x, y, z).independent)] += 1
    (both_dependent, only_data), (only_graph, both_independent) = counts.tolist()
    return Accuracy(both_independent, both_dependent, only_graph, only_data)


def sample_triplets(n_variables: int, n_triplets: int, *, sizes: Sizes = "even", seed: Seed) -> list[Triplet]:
    """Draw triplets (x, y, z): a pair at random, then the first m of a random permutation of the others.

    Parameters
    ----------
    n_variables
        n, at least 2.
    n_triplets
        How many, at least 1; the same triplet may be drawn twice.
    sizes
        "even": as many triplets for each m from 0 to n − 2 (the first sizes get one more where it does not come out
        even) [JAIR09, Sec. 5.2]. "all": every triplet equally likely, so that m is binomial with mean (n − 2) / 2.
    seed
        An integer, or a generator to draw from.

    Examples
    --------
    >>> [len(t.z) for t in sample_triplets(4, 6, seed=1)]
    [0, 0, 1, 1, 2, 2]
    """
    n = whole_number("n_variables", n_variables, least=2, hint="A triplet has two variables beside z.")
    total = whole_number("n_triplets", n_triplets, least=1, hint="The papers take 10,000.")
    check_room("n_triplets", 200.0 * total + 50.0 * n, f"{total:,} triplets of {n:,} variables", "Draw fewer triplets.")
    if not is_one_of(sizes, ("even", "all")):
        raise InputError(f"sizes must be 'even' or 'all'; got {sizes!r}. Use one of the two.")
    rng = rng_from(seed)
    ms = _even_sizes(n, total) if sizes == "even" else rng.binomial(n - 2, 0.5, size=total).tolist()
    return list(_drawn(n, ms, rng))


def _even_sizes(n: int, total: int) -> list[int]:
    """m for every triplet: 0, 0, ..., 1, 1, ..., n − 2."""
    each, left = divmod(total, n - 1)
    return [m for m in range(n - 1) for _ in range(each + (m < left))]


def _drawn(n: int, ms: Iterable[int], rng: np.random.Generator) -> Iterator[Triplet]:
    """A permutation per triplet: its first two are the pair, the next m the conditioning set."""
    for m in ms:
        x, y, *z = rng.permutation(n)[: m + 2].tolist()
        yield Triplet(x, y, frozenset(z))
