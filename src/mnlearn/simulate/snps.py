"""Genetic sites in linkage blocks, with planted interactions between sites of different blocks.

Sites are alleles 0 and 1 of haplotypes, or genotypes 0, 1 and 2: the sum of two haplotypes. With m the mean of a site,

    p(x) ∝ Π_blocks p(x_1) Π_k p(x_k | x_k−1)  ·  Π_interactions exp(θ (x_a − m_a) (x_b − m_b))

Within a block the allele of a site is that of the site before it with probability ρ_k, and drawn anew with the allele
frequency of the block otherwise. This chain has the same distribution in both directions. So has the sum of two of
them: given the genotype before it, a genotype depends on no earlier one. θ is the log odds ratio of a and b for each
further allele.

Every probability is positive and every factor joins two sites, so the true graph has exactly these pairs: sites that
follow each other in a block, and interactions. A block has at most one interaction, hence no cycles, and rows are drawn
exactly: the two sites of an interaction first, then each block from there in both directions.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mnlearn.data.dataset import Dataset
from mnlearn.errors import InputError, check_number, check_room, is_number, iterates, whole_number
from mnlearn.graphs.graph import Edge, Graph
from mnlearn.graphs.named import NamedGraph
from mnlearn.numbers import Seed, exp, log, rng_from
from mnlearn.protocols import FloatArray, IntArray

Alleles = NDArray[np.uint8]


@dataclass(frozen=True, eq=False)
class Snps:
    """Sites drawn from a known network.

    Attributes
    ----------
    data
        The rows: one column per site.
    truth
        The true graph, with the names of the sites.
    interactions
        The planted pairs, by name.
    """

    data: Dataset
    truth: NamedGraph
    interactions: tuple[tuple[str, str], ...]


def snps(
    n_sites: int = 10_000,
    n_rows: int = 1_000,
    *,
    block: int = 20,
    n_interactions: int = 20,
    log_odds: float = 2.0,
    ploidy: int = 1,
    linkage: tuple[float, float] = (0.5, 0.9),
    frequency: tuple[float, float] = (0.2, 0.5),
    seed: Seed = 0,
) -> Snps:
    """Draw sites in linkage blocks, with planted interactions.

    Parameters
    ----------
    n_sites, n_rows
        The size of the table.
    block
        Sites of a block; the last one may have fewer.
    n_interactions
        Number of planted pairs. Each joins two random sites of two blocks that have no other interaction.
    log_odds
        θ, the log odds ratio of an interaction for each further allele.
    ploidy
        1 for haplotypes, coded 0 and 1; 2 for genotypes, coded 0, 1 and 2.
    linkage
        The range of ρ, the correlation of sites that follow each other; uniform.
    frequency
        The range of the allele frequency of a block; uniform.
    seed
        An integer, or a generator to draw from.

    Returns
    -------
    Snps
        The data, the true graph and the planted pairs.

    Raises
    ------
    InputError
        If a setting is out of range, or there are fewer than two blocks for each interaction.

    Examples
    --------
    >>> drawn = snps(100, 50, block=10, n_interactions=2, seed=1)
    >>> drawn.data.n_variables, drawn.truth.graph.n_edges, len(drawn.interactions)
    (100, 92, 2)
    """
    n = whole_number("n_sites", n_sites, least=2, hint="Use for example 10000.")
    rows = whole_number("n_rows", n_rows, least=2, hint="Use for example 1000.")
    size = whole_number("block", block, least=1, hint="1 for sites without linkage.")
    _check(log_odds, ploidy, {"linkage": linkage, "frequency": frequency})
    check_room("n_rows", 3.0 * n * rows, f"{rows:,} rows of {n:,} sites", "Use fewer rows or sites.")
    rng, n_blocks = rng_from(seed), -(-n // size)
    start = np.arange(n_blocks) * size
    first = np.minimum(start + rng.integers(0, size, n_blocks), n - 1)  # of each block, drawn before the others
    pairs = _paired_blocks(n_blocks, n_interactions, rng)
    rates, follow = rng.uniform(*frequency, n_blocks), rng.uniform(*linkage, n)
    alleles = np.empty((ploidy, n, rows), dtype=np.uint8)
    for one in alleles:
        one[first] = rng.random((n_blocks, rows)) < rates[:, None]
    for a, b in pairs.tolist():
        doses = _interacting(rates[[a, b]], log_odds, ploidy, rows, rng)
        alleles[:, first[[a, b]]] = [doses > k for k in range(ploidy)]
    for one in alleles:
        _spread(one, first, np.append(start, n), rng, rates=rates, follow=follow)
    names = tuple(f"site_{x:0{len(str(n - 1))}d}" for x in range(n))
    planted = np.sort(first[pairs], axis=1)
    chained = [(x, x + 1) for x in range(n - 1) if (x + 1) % size]
    edges: list[Edge] = [*chained, *((u, v) for u, v in planted.tolist())]
    data = Dataset.from_codes(list(alleles.sum(axis=0, dtype=np.uint8)), cards=[ploidy + 1] * n, names=names)
    interactions = tuple((names[u], names[v]) for u, v in planted.tolist())
    return Snps(data, NamedGraph(Graph(n, edges), names), interactions)


def _check(log_odds: float, ploidy: int, ranges: dict[str, tuple[float, float]]) -> None:
    """Raise InputError for a setting that is out of range."""
    check_number("log_odds", log_odds, "Use for example 2.", least=-20.0, most=20.0)
    if ploidy not in (1, 2) or isinstance(ploidy, bool):
        raise InputError(f"ploidy must be 1 (haplotypes) or 2 (genotypes); got {ploidy!r}. Use one of the two.")
    for name, ends in ranges.items():
        found: list[Any] = list(ends) if iterates(ends) else []
        if len(found) != 2 or not all(map(is_number, found)) or not 0 < found[0] <= found[1] < 1:
            raise InputError(f"{name} must be a range within 0 and 1, both excluded; got {ends!r:.80}. Use (0.2, 0.5).")


def _paired_blocks(n_blocks: int, n_interactions: int, rng: np.random.Generator) -> IntArray:
    """Return the two blocks of each interaction; no block is in two of them."""
    count = whole_number("n_interactions", n_interactions, least=0, hint="Use 0 for none.")
    if 2 * count > n_blocks:
        raise InputError(
            f"n_interactions must leave two blocks for each; got {count} for {n_blocks} blocks. Use more sites, "
            f"smaller blocks or at most {n_blocks // 2} interactions."
        )
    return rng.permutation(n_blocks)[: 2 * count].reshape(-1, 2)


def _interacting(
    rates: FloatArray, log_odds: float, ploidy: int, rows: int, rng: np.random.Generator
) -> NDArray[np.int64]:
    """Return the doses of two sites that interact, one column per row of the table."""
    doses = np.arange(ploidy + 1)
    ways = np.array([1.0, 1.0] if ploidy == 1 else [1.0, 2.0, 1.0])
    a, b = (log(ways * rate**doses * (1 - rate) ** (ploidy - doses)) for rate in rates)
    m_a, m_b = ploidy * rates
    table = exp(a[:, None] + b + log_odds * np.outer(doses - m_a, doses - m_b))
    cell = rng.choice(table.size, size=rows, p=table.ravel() / table.sum())
    return np.stack(np.divmod(cell, ploidy + 1))


def _spread(
    alleles: Alleles,
    first: IntArray,
    bounds: IntArray,
    rng: np.random.Generator,
    *,
    rates: FloatArray,
    follow: FloatArray,
) -> None:
    """Draw the other sites of all blocks from their first ones, one step to the right or left at a time."""
    for step in (1, -1):
        for k in range(1, int(np.diff(bounds).max())):
            site = first + step * k
            some = np.flatnonzero((site >= bounds[:-1]) & (site < bounds[1:]))
            here, before = site[some], site[some] - step
            copied = rng.random((len(some), alleles.shape[1])) < follow[np.maximum(here, before), None]
            fresh = rng.random((len(some), alleles.shape[1])) < rates[some, None]
            alleles[here] = np.where(copied, alleles[before], fresh)
