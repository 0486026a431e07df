"""Scores that are infinite or not a number: a search refuses them by name, or works around an impossible graph."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import inf, nan
from typing import Any

import numpy as np
import pytest

from mnlearn.algorithms import IBMAPHC, MBS, Exhaustive, HillClimb, TwoPhase
from mnlearn.errors import InputError
from mnlearn.graphs import Graph
from mnlearn.protocols import FloatArray, Indices, LogOdds, VarSet
from mnlearn.scores import BJPScore, IBScore
from mnlearn.scores.local import Decomposed

CLIMBS = [
    *(HillClimb(), HillClimb(tabu=2, patience=5), HillClimb(tabu=3, patience=9)),
    HillClimb(start=Graph(4, [(0, 1), (1, 2)])),
]


class BySize(Decomposed):
    """The score of a blanket is a function of its size."""

    n_variables = 4

    def __init__(self, of_size: Callable[[int], float]) -> None:
        self._of_size = of_size

    def local(self, x: int, blanket: VarSet) -> float:
        assert x not in blanket
        return self._of_size(len(blanket))

    def additions(self, xs: Indices, blankets: Sequence[VarSet], yss: Sequence[Indices]) -> list[FloatArray]:
        assert len(xs) == len(blankets)
        return [np.full(len(ys), self._of_size(len(blanket) + 1)) for blanket, ys in zip(blankets, yss, strict=True)]

    def removals(self, xs: Indices, blankets: Sequence[VarSet]) -> list[FloatArray]:
        assert len(xs) == len(blankets)
        return [np.full(len(blanket), self._of_size(len(blanket) - 1)) for blanket in blankets]


class Posterior:
    """The log probability of every claim is a function of the size of its condition."""

    n_variables, cards = 4, (2, 2, 2, 2)

    def __init__(self, of_size: Callable[[int], float]) -> None:
        self._of_size = of_size

    def log_odds(self, x: int, ys: Indices, z: VarSet) -> LogOdds:
        assert x not in z
        values = np.full(len(ys), self._of_size(len(z)))
        return LogOdds(values, values)

    def members(self, x: int, z: VarSet) -> LogOdds:
        assert x not in z
        values = np.full(len(z), self._of_size(len(z) - 1))
        return LogOdds(values, values)


@pytest.mark.parametrize("learner", [*CLIMBS, TwoPhase(), MBS(), Exhaustive()], ids=str)
@pytest.mark.parametrize("bad_size", [0, 1, 2])
def test_nan_is_refused(learner: Any, bad_size: int) -> None:
    score = BySize(lambda size: nan if size == bad_size else -3.0 + size)
    with pytest.raises(InputError, match=r"(judge|score) must give .*(NaN|nan)"):
        learner.learn(score)


@pytest.mark.parametrize("learner", [*CLIMBS[1:], Exhaustive()], ids=str)
def test_an_infinite_score_is_refused(learner: Any) -> None:
    with pytest.raises(InputError, match=r"(judge|score) must give .*inf"):
        learner.learn(BySize(lambda size: inf if size == 2 else -1.0))


@pytest.mark.parametrize("learner", [*CLIMBS[:3], TwoPhase(), Exhaustive()], ids=str)
def test_impossible_graphs_are_avoided(learner: Any) -> None:
    score = BySize(lambda size: -inf if size == 2 else float(size))
    result = learner.learn(score)
    assert result.converged
    assert np.isfinite(result.score)
    assert result.score == score(result.graph)


def test_an_impossible_start_is_refused() -> None:
    with pytest.raises(InputError, match="finite score; BySize gives -inf for one with 0 edges"):
        HillClimb().learn(BySize(lambda size: float(size) if size else -inf))


def test_phase_one_leaves_an_impossible_start() -> None:
    """The rounding of scores comes from those that are finite."""
    result = TwoPhase(combine="or").learn(BySize(lambda size: -abs(size - 1.0) if size else -inf))
    assert result.graph.degrees().min() > 0


@pytest.mark.parametrize("make", [IBScore, BJPScore])
@pytest.mark.parametrize("learner", [IBMAPHC(), IBMAPHC(tabu=2, patience=3), HillClimb(), Exhaustive()], ids=str)
def test_a_posterior_of_nan_is_refused(make: Callable[..., Any], learner: Any) -> None:
    with pytest.raises(InputError, match=r"(judge|score) must give .*nan"):
        learner.learn(make(Posterior(lambda _: nan)))
