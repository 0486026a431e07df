"""Genetic sites: rows follow the stated distribution, and the true graph has its factors."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest

from mnlearn.errors import InputError
from mnlearn.simulate import snps

RATE, FOLLOW, THETA = 0.3, 0.7, 1.5


def listed(ploidy: int, planted: tuple[int, int]) -> dict[tuple[int, ...], float]:
    """Return the probability of every row of two blocks of two sites, from the product of the factors."""
    allele = np.array([1 - RATE, RATE])
    step = FOLLOW * np.eye(2) + (1 - FOLLOW) * allele
    states = list(product(range(ploidy + 1), repeat=2))
    block = dict.fromkeys(states, 0.0)
    for chains in product(product(range(2), repeat=2), repeat=ploidy):  # haplotypes of one block
        sums = tuple(int(x) for x in np.sum(chains, axis=0))
        block[sums] += float(np.prod([allele[a] * step[a, b] for a, b in chains]))
    a, b = planted
    found = {}
    for row in product(range(ploidy + 1), repeat=4):
        joint = block[row[0], row[1]] * block[row[2], row[3]]
        found[row] = joint * np.exp(THETA * (row[a] - ploidy * RATE) * (row[b] - ploidy * RATE))
    total = sum(found.values())
    return {row: value / total for row, value in found.items()}


@pytest.mark.parametrize("ploidy", [1, 2])
@pytest.mark.parametrize("seed", [0, 1, 3])
def test_rows_have_the_probabilities_of_the_model(ploidy: int, seed: int) -> None:
    n_rows = 40_000
    how: dict[str, Any] = {"linkage": (FOLLOW, FOLLOW), "frequency": (RATE, RATE), "log_odds": THETA}
    drawn = snps(4, n_rows, block=2, n_interactions=1, ploidy=ploidy, seed=seed, **how)
    ((u, v),) = drawn.interactions
    expected = listed(ploidy, (drawn.data.names.index(u), drawn.data.names.index(v)))
    codes = np.stack(drawn.data.columns, axis=1)
    counts = dict.fromkeys(expected, 0)
    for row, count in zip(*np.unique(codes, axis=0, return_counts=True), strict=True):
        counts[tuple(map(int, row))] = int(count)
    statistic = sum((counts[row] - n_rows * p) ** 2 / (n_rows * p) for row, p in expected.items())
    freedom = len(expected) - 1
    assert statistic < freedom + 5 * np.sqrt(2 * freedom)


def test_the_true_graph_has_blocks_and_interactions() -> None:
    drawn = snps(103, 10, block=10, n_interactions=4, seed=2)
    place = {name: x for x, name in enumerate(drawn.truth.names)}
    planted = {(place[u], place[v]) for u, v in drawn.interactions}
    chained = {(x, x + 1) for x in range(102) if x // 10 == (x + 1) // 10}
    assert set(drawn.truth.graph.edges) == chained | planted
    assert len({x // 10 for pair in planted for x in pair}) == 8  # no block twice
    assert drawn.truth.names == drawn.data.names
    assert set(drawn.data.cards) == {2}


def test_the_seed_settles_everything() -> None:
    one, same, other = (snps(50, 20, block=5, n_interactions=2, seed=seed) for seed in (1, 1, 2))
    assert (np.stack(one.data.columns) == np.stack(same.data.columns)).all()
    assert one.interactions == same.interactions
    assert (np.stack(one.data.columns) != np.stack(other.data.columns)).any()


@pytest.mark.parametrize("block", [1, 2, 7, 100])
def test_blocks_of_any_size(block: int) -> None:
    drawn = snps(60, 30, block=block, n_interactions=0, ploidy=2)
    assert drawn.data.n_variables == 60
    assert drawn.truth.graph.n_edges == sum((x + 1) % block != 0 for x in range(59))
    assert max(int(column.max()) for column in drawn.data.columns) == 2


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"n_sites": 1}, "n_sites must be"),
        ({"n_rows": 0}, "n_rows must be"),
        ({"block": 0}, "block must be"),
        ({"n_interactions": 6}, "n_interactions must leave two blocks for each; got 6 for 10 blocks"),
        ({"n_interactions": -1}, "n_interactions must be"),
        ({"ploidy": 3}, "ploidy must be 1"),
        ({"linkage": (0.5, 1.0)}, "linkage must be a range"),
        ({"frequency": 0.3}, "frequency must be a range"),
        ({"log_odds": float("nan")}, "log_odds must be"),
        ({"seed": -1}, "seed must be"),
    ],
)
def test_settings_out_of_range(settings: dict[str, Any], words: str) -> None:
    with pytest.raises(InputError, match=words):
        snps(**{"n_sites": 100, "n_rows": 20, "block": 10, "n_interactions": 2, **settings})
