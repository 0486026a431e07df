"""Close separators: found for all y at once, and kept while the graph changes."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mnlearn.errors import InputError
from mnlearn.graphs import Graph, cycle, path, random_graph, random_tree, star
from mnlearn.graphs.separators import Separators
from mnlearn.protocols import VarSet

from references.separator import flood


def all_of(found: Separators, n: int) -> dict[tuple[int, int], VarSet]:
    """Every separator, by one question about all pairs in an order of its own."""
    pairs = np.array(list(permutations(range(n), 2)), dtype=np.int32)
    shuffled = pairs[np.random.default_rng(n).permutation(len(pairs))]
    numbers = found.numbers(shuffled[:, 0].copy(), shuffled[:, 1].copy()).tolist()
    sets = {(x, y): found.set(number) for (x, y), number in zip(shuffled.tolist(), numbers, strict=True)}
    assert len(set(numbers)) == len(set(sets.values()))  # equal if and only if their numbers are
    return sets


@given(seed=st.integers(0, 2**32), n=st.integers(2, 14), degree=st.floats(0, 4), tree=st.booleans())
@settings(max_examples=150)
def test_they_are_what_a_flood_meets_through_all_flips(seed: int, n: int, degree: float, tree: bool) -> None:
    rng = np.random.default_rng(seed)
    graph = random_tree(n, seed) if tree else random_graph(n, min(degree, n - 1), seed)
    found = Separators(graph)
    before = {pair: flood(graph, *pair) for pair in permutations(range(n), 2)}
    assert all_of(found, n) == before
    for _ in range(6):
        u, v = sorted(rng.choice(n, 2, replace=False).tolist())
        (around, side), graph = found.flip(u, v), graph.flip(u, v)
        assert found.graph == graph
        after = {pair: flood(graph, *pair) for pair in permutations(range(n), 2)}
        assert all_of(found, n) == after
        for (x, y), separator in after.items():
            assert separator == before[x, y] or x in around or (x in side) != (y in side)
        before = after


@given(seed=st.integers(0, 2**32), n=st.integers(2, 9), degree=st.floats(0, 5))
@settings(max_examples=60)
def test_they_separate_without_the_edge(seed: int, n: int, degree: float) -> None:
    graph = random_graph(n, min(degree, n - 1), seed)
    found = Separators(graph)
    for x, y in permutations(range(n), 2):
        assert found.of(x, y) <= graph.neighbors(x) - {y}
        assert graph.remove([(x, y)] if y in graph.neighbors(x) else []).separates(x, y, found.of(x, y))


def test_small_cases() -> None:
    assert Separators(path(5)).of(0, 4) == {1}
    assert Separators(path(5)).of(1, 2) == frozenset()  # without the edge they are apart
    assert Separators(star(5)).of(1, 2) == {0}
    assert Separators(cycle(5)).of(0, 1) == {4}
    assert Separators(Graph(4, [(0, 1), (2, 3)])).of(0, 2) == frozenset()
    assert Separators(Graph.complete(4)).of(0, 1) == {2, 3}


def test_a_flip_changes_little() -> None:
    """Between two sides that only the pair joins, only what is between them; else only x close to the pair."""
    around, side = Separators(path(9)).flip(2, 3)
    assert (around.tolist(), sorted(side.tolist())) == ([], [0, 1, 2])
    ladder = Graph(20, [(k, k + 1) for k in range(19) if k != 9] + [(k, k + 10) for k in range(10)])
    around, side = Separators(ladder).flip(4, 14)
    assert (set(around.tolist()) <= {2, 3, 4, 5, 6, 12, 13, 14, 15, 16}, side.tolist()) == (True, [])


def test_pairs_that_are_none_are_refused() -> None:
    found = Separators(path(4))
    for x, y in ((1, 1), (0, 4), (-1, 2)):
        with pytest.raises(InputError, match="two different variables, 0 to 3"):
            found.of(x, y)
        with pytest.raises(InputError, match="two different variables, 0 to 3"):
            found._core.flip(x, y)
