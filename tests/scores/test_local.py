"""A graph under a local score: flips and gains against scoring from nothing."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mnlearn.errors import InputError
from mnlearn.graphs import Graph
from mnlearn.protocols import FloatArray, Indices, VarSet
from mnlearn.scores import MPL, PIC, Decomposed, LocallyScored
from mnlearn.statistics import Counts

from references import counts as reference


class Whim(Decomposed):
    """Score by hash that records the variables of its calls."""

    def __init__(self, n: int, seed: int) -> None:
        self._n, self._seed, self.asked = n, seed, list[int]()

    @property
    def n_variables(self) -> int:
        return self._n

    def local(self, x: int, blanket: VarSet) -> float:
        return float(np.random.default_rng([self._seed, x, *sorted(blanket)]).standard_normal())

    def additions(self, xs: Indices, blankets: Sequence[VarSet], yss: Sequence[Indices]) -> list[FloatArray]:
        self.asked += [int(x) for x in xs]
        return [np.array([self.local(x, b | {int(y)}) for y in ys]) for x, b, ys in zip(xs, blankets, yss, strict=True)]

    def removals(self, xs: Indices, blankets: Sequence[VarSet]) -> list[FloatArray]:
        self.asked += [int(x) for x in xs]
        return [np.array([self.local(x, b - {y}) for y in sorted(b)]) for x, b in zip(xs, blankets, strict=True)]


@given(seed=st.integers(0, 2**32), n=st.integers(2, 7))
@settings(max_examples=30)
def test_a_gain_is_the_difference_of_full_scores(seed: int, n: int) -> None:
    rng, score = np.random.default_rng(seed), Whim(n, seed)
    pairs = list(combinations(range(n), 2))
    scored = score.on(Graph(n, [pair for pair in pairs if rng.random() < 0.3]))
    for _ in range(12):
        asked = [pairs[k] for k in rng.integers(0, len(pairs), 5)]  # the same twice, either direction
        asked = [(v, u) if rng.random() < 0.5 else (u, v) for u, v in asked]
        full = [score(scored.graph.flip(u, v)) - score(scored.graph) for u, v in asked]
        assert scored.gains(asked) == pytest.approx(full, abs=1e-12)
        edge = pairs[int(rng.integers(len(pairs)))]
        before = dict(zip(pairs, scored.gains(pairs).tolist(), strict=True))
        graph, changed = scored.graph, scored.flip(edge)
        assert scored.graph == graph.flip(*edge)
        assert changed == set(edge)
        assert scored.value == pytest.approx(score(scored.graph), abs=1e-12)
        assert scored.terms == pytest.approx([score.local(x, scored.graph.neighbors(x)) for x in range(n)])
        after = dict(zip(pairs, scored.gains(pairs).tolist(), strict=True))
        assert all(before[pair] == after[pair] for pair in pairs if changed.isdisjoint(pair))


@pytest.mark.parametrize("make", [MPL, PIC])
def test_thousands_of_flips_leave_no_drift(make: type[MPL] | type[PIC]) -> None:
    rng = np.random.default_rng(1)
    score = make(Counts(reference.random_dataset(rng, n_rows=200, cards=[2, 3, 2, 4, 2, 2, 3, 2])))
    pairs = list(combinations(range(8), 2))
    scored = score.on(Graph.empty(8))
    for k in rng.integers(0, len(pairs), 2000):
        scored.flip(pairs[k])
    assert scored.value == pytest.approx(score(scored.graph), abs=1e-9)
    fresh = score.on(scored.graph)
    assert scored.gains(pairs) == pytest.approx(fresh.gains(pairs), abs=1e-9)


def test_only_the_two_ends_of_a_flip_are_scored_again() -> None:
    score = Whim(9, seed=3)
    pairs = list(combinations(range(9), 2))
    scored = score.on(Graph(9, [(0, 1), (1, 2), (4, 5)]))
    scored.gains(pairs)
    assert sorted(set(score.asked)) == list(range(9))
    score.asked.clear()
    scored.gains(pairs)
    scored.flip((1, 2))
    assert score.asked == []
    scored.gains(pairs)
    assert set(score.asked) == {1, 2}
    assert len(score.asked) <= 4  # additions and removals, one scan each


@pytest.mark.parametrize("bad", [(1, 1), (0, 3), (-1, 2)])
def test_pairs_that_are_none_are_refused(bad: tuple[int, int]) -> None:
    scored = LocallyScored(Whim(3, 0), Graph.empty(3))
    for ask in (scored.flip, lambda edge: scored.gains([(0, 1), edge])):
        with pytest.raises(InputError, match="edges must hold pairs of two different variables, 0 to 2"):
            ask(bad)
