"""Enrichment of neighbourhoods in sets of variables that belong together  [MBS09, Sec. 3.3].

Where no true network is known, the genes of each neighbourhood are compared with sets of genes that belong together
(the terms of an ontology). A neighbourhood is enriched in a term when it has more of its members than a random set
of as many variables would have.

Readings. The paper's sensitivity is "min(no. of subgraphs, no. of enriched terms)", which is read as a minimum over the
enriched subgraphs: counting all of them would not measure how many are enriched.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from operator import index

import numpy as np

from mnlearn.errors import InputError, unknown_name
from mnlearn.graphs.graph import Graph
from mnlearn.protocols import FloatArray, IntArray


@dataclass(frozen=True, eq=False)
class Enrichment:
    """The p-values of all neighbourhoods (rows) in all terms (columns), and what follows from them.

    `p_values[g, t]` is the probability that a random set as large as neighbourhood g has at least as many members of
    term t; neighbourhood g is variable g with its neighbours.
    """

    terms: tuple[str, ...]
    p_values: FloatArray = field(repr=False)

    def sensitivity(self, level: float = 1e-3) -> float:
        """min(enriched subgraphs, enriched terms) / subgraphs, where enriched means p < level for some partner."""
        enriched = self.p_values < level
        return min(int(enriched.any(1).sum()), int(enriched.any(0).sum())) / len(enriched)

    def locality(self, level: float = 1e-3) -> float | None:
        """Over the enriched terms: the correlation of a term's mean p-value with the number of subgraphs it enriches.

        High when the terms that are found best belong to few subgraphs. None when there are fewer than two enriched
        terms, or when one of the two numbers is the same for all of them.
        """
        enriched = self.p_values < level
        how_many = enriched.sum(0)
        found = how_many > 0
        mean_p = np.where(enriched, self.p_values, 0.0).sum(0)[found] / how_many[found]
        if len(mean_p) < 2 or np.ptp(mean_p) == 0 or np.ptp(how_many[found]) == 0:
            return None
        return float(np.corrcoef(mean_p, how_many[found])[0, 1])

    def best(self) -> FloatArray:
        """The smallest p-value of each term."""
        return np.asarray(self.p_values.min(0))


def enrichment(graph: Graph, terms: Mapping[str, Iterable[int]]) -> Enrichment:
    """Hypergeometric p-values of every neighbourhood of radius 1 in every term.

        p(g, t) = Σ_{i ≥ k} C(K, i) C(n − K, s − i) / C(n, s)

    n variables, of which K belong to t; neighbourhood g has s members, k of them in t.

    Parameters
    ----------
    graph
        A learned network.
    terms
        By name, the variables that belong to each term; indices.

    Examples
    --------
    >>> pairs = Graph(6, [(0, 1), (2, 3), (4, 5)])
    >>> found = enrichment(pairs, {"first": [0, 1], "mixed": [0, 2]})
    >>> found.p_values[0].round(3).tolist()
    [0.067, 0.6]
    """
    n = graph.n_variables
    if not terms or not n:
        raise InputError(f"terms must hold at least one term and graph one variable; got {len(terms)} and {n}.")
    membership = np.zeros((n, len(terms)), dtype=np.int64)
    for t, (name, members) in enumerate(terms.items()):
        membership[_checked(name, members, n), t] = 1
    neighborhoods = np.eye(n, dtype=np.int64)
    for u, v in graph.edges:
        neighborhoods[u, v] = neighborhoods[v, u] = 1
    return Enrichment(tuple(terms), _upper_tails(neighborhoods, membership))


def better_terms(one: Enrichment, other: Enrichment) -> tuple[int, int]:
    """In how many terms the first network is worse, and in how many better, by the smallest p-value  [MBS09, Table 4].

    Examples
    --------
    >>> terms = {"first": [0, 1], "second": [2, 3]}
    >>> joined, apart = Graph(4, [(0, 1)]), Graph(4)
    >>> better_terms(enrichment(joined, terms), enrichment(apart, terms))
    (0, 1)
    """
    places = {name: t for t, name in enumerate(other.terms)}
    for here, there in ((one.terms, other.terms), (other.terms, one.terms)):
        strange = sorted(set(here) - set(there))
        if strange:
            raise unknown_name("term", strange[0], there)
    mine, theirs = one.best(), other.best()[[places[name] for name in one.terms]]
    return int((mine > theirs).sum()), int((mine < theirs).sum())


def _upper_tails(neighborhoods: IntArray, membership: IntArray) -> FloatArray:
    """The tail for every neighbourhood and term that share a member; the others have p = 1."""
    from scipy.stats import hypergeom

    shared = (neighborhoods.astype(np.float64) @ membership.astype(np.float64)).astype(np.int64)  # BLAS has floats only
    sizes, of_term = neighborhoods.sum(1), membership.sum(0)
    p_values = np.ones(shared.shape)
    rows, columns = np.nonzero(shared)
    p_values[rows, columns] = hypergeom.sf(shared[rows, columns] - 1, len(sizes), of_term[columns], sizes[rows])
    return p_values


def _checked(name: str, members: Iterable[int], n: int) -> list[int]:
    """The members of a term, each an index of a variable."""
    chosen = [index(x) for x in members]
    for x in chosen:
        if not 0 <= x < n:
            raise InputError(f"terms must hold indices 0..{n - 1}; got {x} in {name!r}. Drop it, or check the names.")
    return chosen
