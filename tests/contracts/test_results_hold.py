"""Score, support and end of a result, computed from scratch; also of searches that were stopped."""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mnlearn.algorithms import IBMAPHC, MBS, Exhaustive, HillClimb, TwoPhase
from mnlearn.graphs import Graph
from mnlearn.graphs.graph import Edge
from mnlearn.independence import BayesianTest
from mnlearn.protocols import Result
from mnlearn.scores import MPL, PIC, BJPScore, ExtendedBIC, IBScore
from mnlearn.statistics import Counts

from references import counts as reference
from references import map as slow

N = 6
SCORES: dict[str, Callable[[Counts], Any]] = {
    "ib": lambda counts: IBScore(BayesianTest(counts)),
    "bjp": lambda counts: BJPScore(BayesianTest(counts)),
    "mpl": MPL,
    "pic": PIC,
    "ebic": ExtendedBIC,
}
ALL: dict[str, Any] = {"tabu": 3, "patience": 4, "keep_absent": True}
CLIMBS: dict[str, tuple[Any, str]] = {
    **{f"ibmap {score}": (IBMAPHC, score) for score in ("ib", "bjp")},
    **{f"hillclimb {score}": (HillClimb, score) for score in SCORES},
}
OTHERS: dict[str, tuple[Any, str]] = {
    **{f"two phases {score}": (TwoPhase, score) for score in ("ib", "mpl", "pic", "ebic")},
    **{f"mbs {score}": (MBS, score) for score in ("mpl", "pic", "ebic")},
}


def counts(seed: int) -> Counts:
    rng = np.random.default_rng(seed)
    n_rows, cards = int(rng.integers(5, 120)), rng.integers(1, 4, N).tolist()
    return Counts(reference.random_dataset(rng, n_rows=n_rows, cards=cards, dependence=0.6), n_jobs=1)


def known(seed: int) -> dict[str, tuple[Edge, ...]]:
    rng = np.random.default_rng(seed)
    drawn = sorted({slow.random_edge(rng, N) for _ in range(4)})
    return {"required": tuple(drawn[::2]), "forbidden": tuple(drawn[1::2])}


def log_odds(name: str, counts: Counts, graph: Graph, pair: Edge, *, climbed: bool) -> float:
    """Gain of the edge; for climbs by IB and BJP, present against absent given the context, by single questions."""
    score = SCORES[name](counts)
    if name not in ("ib", "bjp") or not climbed:
        return float(score(graph.add([pair])) - score(graph.remove([pair] if pair in graph else [])))
    posterior = BayesianTest(counts)
    psi = slow.order(posterior, graph)
    ends = pair if name == "ib" else (min(pair, key=psi.index),)
    found = [posterior.log_odds(x, [sum(pair) - x], graph.neighbors(x) - set(pair)) for x in ends]
    return float(sum(odds.dependent[0] - odds.independent[0] for odds in found))


def assert_holds(result: Result, name: str, counts: Counts, *, climbed: bool = True) -> None:
    """The score and the support of the result are those of its graph."""
    score = SCORES[name](counts)
    assert result.score == pytest.approx(score(result.graph), abs=1e-8)
    assert set(result.support) == set(result.graph.edges)
    stated = {**result.support, **(result.absent or {})}
    if result.absent is not None:
        assert set(stated) == set(combinations(range(N), 2))
    for pair, odds in stated.items():
        assert odds == pytest.approx(log_odds(name, counts, result.graph, pair, climbed=climbed), abs=1e-8)
    assert all(value >= 0 for value in result.cost.values())


def improvements(name: str, counts: Counts, graph: Graph, fixed: set[Edge]) -> list[Edge]:
    score = SCORES[name](counts)
    value, free = score(graph), set(combinations(range(N), 2)) - fixed
    return [pair for pair in sorted(free) if score(graph.flip(*pair)) > value + 1e-8]


@pytest.mark.parametrize("name", CLIMBS)
@given(seed=st.integers(0, 2**32), everything=st.booleans())
@settings(max_examples=8)
def test_a_climb(name: str, seed: int, everything: bool) -> None:
    (learner, score), edges, table = CLIMBS[name], known(seed), counts(seed)
    result = learner(**edges, **(ALL if everything else {})).learn(SCORES[score](table))
    assert result.converged
    assert_holds(result, score, table)
    if learner is HillClimb:  # IBMAP-HC ends, as published, at the first proposal that fails
        assert not improvements(score, table, result.graph, {*edges["required"], *edges["forbidden"]})


@pytest.mark.parametrize("name", OTHERS)
@given(seed=st.integers(0, 2**32))
@settings(max_examples=8)
def test_other_searches(name: str, seed: int) -> None:
    (learner, score), table = OTHERS[name], counts(seed)
    result = learner(**known(seed)).learn(SCORES[score](table))
    assert result.converged
    assert_holds(result, score, table, climbed=False)


@pytest.mark.parametrize("name", SCORES)
def test_exhaustive_search(name: str) -> None:
    for seed in range(3):
        rng = np.random.default_rng(seed)
        table = Counts(reference.random_dataset(rng, n_rows=60, cards=[2, 3, 1, 2], dependence=0.6), n_jobs=1)
        score = SCORES[name](table)
        result = Exhaustive(keep_all=True).learn(score)
        assert result.all_graphs is not None
        values = {graph: score(graph) for graph in slow.all_graphs(4)}
        assert {graph: result.all_graphs.scores[result.all_graphs.number(graph)] for graph in values} == pytest.approx(
            values, abs=1e-8
        )
        assert result.score == pytest.approx(max(values.values()), abs=1e-8)
        for edge, odds in result.support.items():
            with_it, without = (
                np.logaddexp.reduce([value for graph, value in values.items() if (edge in graph) == side])
                for side in (True, False)
            )
            assert odds == pytest.approx(with_it - without, abs=1e-7)


class Stop:
    """A monitor that cancels when it is polled for the k-th time."""

    def __init__(self, after: int) -> None:
        self.left = after

    def progress(self, done: float, total: float | None, message: str = "") -> None:
        assert done >= 0
        assert total is None or done <= total
        assert message is not None

    def cancelled(self) -> bool:
        self.left -= 1
        return self.left < 0


@pytest.mark.parametrize("name", [*CLIMBS, *OTHERS])
def test_a_search_that_was_cancelled(name: str) -> None:
    learner, score = (CLIMBS | OTHERS)[name]
    settings_of = {**known(3), **(ALL if name in CLIMBS else {})}
    table, after, spent = counts(3), 0, -1.0
    while True:
        result = learner(**settings_of).learn(SCORES[score](table), Stop(after))
        assert_holds(result, score, table, climbed=name in CLIMBS)
        assert set(settings_of["required"]) <= set(result.graph.edges)
        assert not set(settings_of["forbidden"]) & set(result.graph.edges)
        made = result.cost.get("flips", result.cost.get("scored", 0.0))
        assert made >= spent
        spent, after = made, after + 1 + after // 3
        if result.converged:
            break
    assert result.graph == learner(**settings_of).learn(SCORES[score](table)).graph


@pytest.mark.parametrize("name", CLIMBS)
def test_a_climb_with_a_limit_of_flips(name: str) -> None:
    (learner, score), table = CLIMBS[name], counts(3)
    best = -np.inf
    for limit in range(40):
        result = learner(**ALL, max_steps=limit, keep_steps=True).learn(SCORES[score](table))
        assert_holds(result, score, table)
        assert result.steps is not None
        assert result.cost["flips"] == sum(step.edge is not None for step in result.steps) <= limit
        assert result.score is not None
        assert result.score == pytest.approx(max(step.score for step in result.steps), abs=1e-8)
        assert result.score >= best - 1e-8
        best = result.score
        if result.converged:
            break
