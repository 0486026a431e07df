"""Independence accuracy: does the graph say the same as the data of randomly drawn independences?

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

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np

from mnlearn._validate import Seed, rng_from
from mnlearn.errors import InputError, check_methods, check_room, is_one_of, whole_number
from mnlearn.graphs.graph import Graph, check_graph
from mnlearn.protocols import IndependenceTest, VarSet

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
