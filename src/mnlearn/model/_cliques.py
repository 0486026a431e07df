"""The sets of variables that factors are put on."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from mnlearn.errors import InputError
from mnlearn.graphs.graph import Graph

LARGEST_MODEL = 2**22  # cells of all factors together: 32 megabytes


def all_cliques(graph: Graph, cards: Sequence[int]) -> list[tuple[int, ...]]:
    """Every non-empty clique, not only the maximal ones, by size and then by index."""
    import networkx as nx

    network = graph.to_networkx()
    for largest in nx.find_cliques(network):  # its own cliques have Π (r + 1) − 1 cells: seen without listing them
        _check_size(prod(cards[x] + 1 for x in largest) - 1)
    found: list[tuple[int, ...]] = []
    cells = 0
    for clique in nx.enumerate_all_cliques(network):
        cells += prod(cards[x] for x in clique)
        _check_size(cells)
        found.append(tuple(sorted(clique)))
    return sorted(found, key=lambda clique: (len(clique), clique))


def _check_size(cells: int) -> None:
    """Refuse factors that would not fit."""
    if cells > LARGEST_MODEL:
        raise InputError(
            f"graph must have cliques small enough for factors of at most {LARGEST_MODEL} cells in all; got "
            f"{cells:.3g} or more. Use method='pseudolikelihood' with interactions='pairwise', or a sparser graph."
        )


def pairs_and_singles(graph: Graph) -> list[tuple[int, ...]]:
    """Every variable and every edge."""
    return [*((x,) for x in range(graph.n_variables)), *graph.edges]
