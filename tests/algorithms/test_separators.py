"""Close separators: found for all y at once, and kept while the graph changes."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mnlearn.algorithms import separating_sets
from mnlearn.algorithms.separating_sets import Separators
from mnlearn.graphs import Graph, cycle, path, random_graph, star

from references.separator import flood


@given(seed=st.integers(0, 2**32), n=st.integers(2, 9), degree=st.floats(0, 5))
@settings(max_examples=60)
def test_they_are_what_a_flood_meets_through_all_flips(seed: int, n: int, degree: float) -> None:
    rng = np.random.default_rng(seed)
    graph = random_graph(n, min(degree, n - 1), seed)
    found = Separators(graph)
    before = {pair: flood(graph, *pair) for pair in permutations(range(n), 2)}
    for _ in range(6):
        u, v = sorted(rng.choice(n, 2, replace=False).tolist())
        touched, graph = found.flip(u, v), graph.flip(u, v)
        assert found.graph == graph
        after = {pair: flood(graph, *pair) for pair in permutations(range(n), 2)}
        assert {pair: found.of(*pair) for pair in after} == after
        assert {x for x, y in after if after[x, y] != before[x, y]} <= touched
        numbers = found.numbers()
        assert all(found.sets[numbers[pair]] == after[pair] for pair in after)
        assert (numbers.diagonal() == -1).all()
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


def test_many_at_a_time_or_few_make_no_difference(monkeypatch: pytest.MonkeyPatch) -> None:
    graph = random_graph(40, 3, seed=1)
    whole = Separators(graph)
    monkeypatch.setattr(separating_sets, "_CELLS_TOGETHER", 100)
    parts = Separators(graph)
    assert all(whole.of(x, y) == parts.of(x, y) for x, y in permutations(range(40), 2))
