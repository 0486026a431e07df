"""Searches that do better than IBMAP-HC: local optima that are ones, and closer to the best of all graphs."""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mnlearn.algorithms.hillclimb import HillClimb
from mnlearn.algorithms.ibmap import IBMAPHC
from mnlearn.algorithms.screening import stated
from mnlearn.data import Dataset
from mnlearn.errors import InputError
from mnlearn.graphs import Graph, random_graph
from mnlearn.independence import BayesianTest
from mnlearn.protocols import Result, SearchableScore
from mnlearn.scores import MPL, PIC, BJPScore, IBScore
from mnlearn.simulate import PairwiseNetwork, sample_exact
from mnlearn.statistics import Counts

from references import counts as reference
from references import map as slow
from references.climb import hill_climb

SCORES: dict[str, Callable[[Counts], SearchableScore]] = {
    "ib": lambda counts: IBScore(BayesianTest(counts)),
    "bjp": lambda counts: BJPScore(BayesianTest(counts)),
    "mpl": MPL,
    "pic": PIC,
}
every_score = pytest.mark.parametrize("name", SCORES)


def counts(seed: int, n: int = 6, n_rows: int = 150) -> Counts:
    rng = np.random.default_rng(seed)
    cards = rng.integers(1, 4, n).tolist()
    return Counts(reference.random_dataset(rng, n_rows=n_rows, cards=cards, dependence=0.6), n_jobs=1)


def improving_flips(score: SearchableScore, graph: Graph) -> list[tuple[int, int]]:
    n, value = score.n_variables, score(graph)
    pairs = [(u, v) for u in range(n) for v in range(u + 1, n)]
    return [pair for pair in pairs if score(graph.flip(*pair)) > value + 1e-8]


@every_score
@given(seed=st.integers(0, 2**32))
@settings(max_examples=12)
def test_the_end_of_a_steepest_climb_is_a_local_optimum(name: str, seed: int) -> None:
    score = SCORES[name](counts(seed))
    for start in (None, random_graph(6, 3, seed=seed)):
        result = HillClimb(start=start, keep_steps=True).learn(score)
        assert result.converged
        assert not improving_flips(score, result.graph)
        assert result.score == pytest.approx(score(result.graph), abs=1e-9)
        assert result.steps is not None
        scores = [step.score for step in result.steps]
        assert scores == sorted(scores)


def all_gains(score: SearchableScore, graph: Graph) -> dict[tuple[int, int], float]:
    """The gain of every flip, from scratch."""
    n, value = score.n_variables, score(graph)
    return {(u, v): score(graph.flip(u, v)) - value for u in range(n) for v in range(u + 1, n)}


def assert_steepest(
    score: SearchableScore, result: Result, fixed: Collection[tuple[int, int]] = (), tabu: int = 0
) -> None:
    """Each flip of the result gains as much as any other pair would that is neither fixed nor tabu."""
    assert result.steps is not None
    graph, recent = Graph.empty(score.n_variables).add(set(fixed) & set(result.graph.edges)), list[tuple[int, int]]()
    for step in result.steps[1:]:
        if step.edge is None:  # back to the best graph, and on without tabu: the end is tested elsewhere
            break
        gains = all_gains(score, graph)
        free = [gain for pair, gain in gains.items() if pair not in fixed and pair not in recent]
        assert gains[step.edge] >= max(free) - 1e-8
        graph = graph.flip(*step.edge)
        recent = [*recent, step.edge][-tabu:] if tabu else []


def test_a_flip_that_became_the_steepest_is_not_passed_over() -> None:
    """After three flips the gain of (0, 3) rises above that of (1, 3), which was higher before."""
    rows = ["1111", "0000", "0000", "1111", "1111", "1110", "0000", "0011", "1101", "1010", "1111", "0000"]
    score = SCORES["ib"](Counts(Dataset.from_codes(np.array([list(row) for row in rows], dtype=np.uint8)), n_jobs=1))
    result = HillClimb(keep_steps=True).learn(score)
    assert_steepest(score, result)
    assert (0, 3) in result.graph
    assert result.score == pytest.approx(-5.677, abs=1e-3)


@every_score
@given(seed=st.integers(0, 2**32))
@settings(max_examples=12)
def test_every_flip_is_the_steepest(name: str, seed: int) -> None:
    rng = np.random.default_rng(seed)
    score = SCORES[name](counts(seed, n_rows=int(rng.integers(8, 150))))
    drawn = sorted({slow.random_edge(rng, 6) for _ in range(4)})
    required, forbidden = drawn[::2], drawn[1::2]
    assert_steepest(score, HillClimb(keep_steps=True).learn(score))
    assert_steepest(score, HillClimb(keep_steps=True, tabu=3, patience=6).learn(score), tabu=3)
    known = HillClimb(keep_steps=True, required=required, forbidden=forbidden, tabu=2, patience=4)
    assert_steepest(score, known.learn(score), drawn, tabu=2)


@pytest.mark.parametrize("make", [IBScore, BJPScore])
@given(seed=st.integers(0, 2**32))
@settings(max_examples=15)
def test_every_flip_is_the_steepest_when_nothing_fits(make: Callable[..., SearchableScore], seed: int) -> None:
    cards = tuple(np.random.default_rng(seed).integers(1, 5, 6).tolist())
    score = make(slow.WhimsicalPosterior(cards, seed))
    assert_steepest(score, HillClimb(keep_steps=True, tabu=4, patience=10).learn(score), tabu=4)


@every_score
@given(seed=st.integers(0, 2**32))
@settings(max_examples=8)
def test_every_step_is_that_of_a_search_that_caches_nothing(name: str, seed: int) -> None:
    """With required and forbidden edges, patience and tabu; few rows make many ties."""
    rng = np.random.default_rng(seed)
    score = SCORES[name](counts(seed, 5, int(rng.integers(6, 60))))
    drawn = sorted({slow.random_edge(rng, 5) for _ in range(3)})
    chosen: dict[str, Any] = {
        "patience": int(rng.integers(1, 6)),
        "tabu": int(rng.integers(4)),
        "required": drawn[::2],
        "forbidden": drawn[1::2],
    }
    result = HillClimb(keep_steps=True, **chosen).learn(score)
    expected = hill_climb(score, strengths(score), **chosen)
    assert result.steps is not None
    assert [step.edge for step in result.steps[1:]] == expected.trace
    assert result.graph == expected.best


def strengths(score: SearchableScore) -> dict[tuple[int, int], float]:
    """The marginal association of each pair: how little it fits the empty graph, or what it gains there."""
    empty = Graph.empty(score.n_variables)
    if isinstance(score, IBScore | BJPScore):
        parts = score.on(empty).pairwise
        return {(u, v): -float(parts[u, v]) for u in range(empty.n_variables) for v in range(u + 1, empty.n_variables)}
    return all_gains(score, empty)


@every_score
@given(seed=st.integers(0, 2**32))
@settings(max_examples=10)
def test_gains_of_many_pairs_equal_those_from_scratch(name: str, seed: int) -> None:
    """After any flips, all gains at once are those of one pair, and the difference of two scores."""
    rng = np.random.default_rng(seed)
    score = SCORES[name](counts(seed))
    state, touched = score.on(random_graph(6, 2, seed=seed)), None
    known: dict[tuple[int, int], float] = {}
    for _ in range(5):
        gains = all_gains(score, state.graph)
        found = dict(zip(gains, state.gains(list(gains)).tolist(), strict=True))
        assert found == pytest.approx(gains, abs=1e-8)
        if touched is not None:  # the pairs without a touched end keep their gains, bit for bit
            assert all(found[pair] == known[pair] for pair in known if not touched & set(pair))
        edge = slow.random_edge(rng, 6)
        assert state.gains([edge])[0] == pytest.approx(gains[edge], abs=1e-8)
        known, touched = found, state.flip(edge)


def test_bjp_without_its_cache_climbs_the_same_way(monkeypatch: pytest.MonkeyPatch) -> None:
    """Beyond some hundred variables the claims of flipped blankets are computed again for every step."""
    score = SCORES["bjp"](counts(4))
    cached = HillClimb(keep_steps=True, tabu=3, patience=5).learn(score)
    monkeypatch.setattr("mnlearn.scores.bjp._MOST_KEPT", 10)
    again = HillClimb(keep_steps=True, tabu=3, patience=5).learn(score)
    assert (again.steps, again.support) == (cached.steps, cached.support)
    assert again.cost["scanned"] > cached.cost["scanned"]


# ---- each setting does what it says


@given(seed=st.integers(0, 2**32))
@settings(max_examples=20)
def test_patience_tries_the_next_weakest(seed: int) -> None:
    score = BJPScore(slow.WhimsicalPosterior((2, 3, 2, 3, 2, 2), seed))
    scores = []
    for patience in (1, 3, 15):
        result = IBMAPHC(patience=patience).learn(score)
        state = score.on(result.graph)
        weakest = sorted(((u, v) for u in range(6) for v in range(u + 1, 6)), key=lambda e: state.pairwise[e])
        assert max(state.gains(weakest[:patience])) <= 1e-9
        scores.append(result.score)
    assert not improving_flips(score, result.graph)  # all fifteen pairs were tried


@every_score
@pytest.mark.parametrize("extra", [{"tabu": 3, "patience": 10}, {"patience": 4}], ids=str)
def test_what_is_added_never_ends_lower(name: str, extra: dict[str, int]) -> None:
    for seed in range(4):
        score = SCORES[name](counts(seed))
        plain, better = HillClimb().learn(score), HillClimb(**extra).learn(score)  # type: ignore[arg-type]
        assert better.score is not None
        assert plain.score is not None
        assert better.score >= plain.score - 1e-9
        assert better.score == pytest.approx(score(better.graph), abs=1e-9)


def test_tabu_pairs_stay_as_they_are() -> None:
    score = IBScore(slow.WhimsicalPosterior((2,) * 6, 3))
    result = HillClimb(tabu=5, patience=12, keep_steps=True).learn(score)
    assert result.steps is not None
    turns = [step.edge for step in result.steps]
    back = turns.index(None, 1) if None in turns[1:] else len(turns)
    for k in range(1, back):
        assert turns[k] not in turns[max(1, k - 5) : k]
    assert any(later.score < earlier.score for earlier, later in zip(result.steps, result.steps[1:], strict=False))


@every_score
@given(seed=st.integers(0, 2**32))
@settings(max_examples=5)
def test_every_search_respects_what_is_known_beforehand(name: str, seed: int) -> None:
    rng = np.random.default_rng(seed)
    score = SCORES[name](counts(seed))
    drawn = sorted({slow.random_edge(rng, 6) for _ in range(6)})
    required, forbidden = drawn[::2], drawn[1::2]
    result = HillClimb(tabu=2, patience=3, required=required, forbidden=forbidden, keep_steps=True).learn(score)
    assert set(required) <= set(result.graph.edges)
    assert not set(forbidden) & set(result.graph.edges)
    assert result.steps is not None
    assert not set(drawn) & {step.edge for step in result.steps}


def test_everything_fixed_leaves_nothing_to_do() -> None:
    score = SCORES["ib"](counts(1, 3))
    for learner in (HillClimb, IBMAPHC):
        result = learner(required=[(0, 1)], forbidden=[(0, 2), (1, 2)]).learn(score)
        assert result.graph == Graph(3, [(0, 1)])
        assert result.converged


# ---- against the best of all graphs


@pytest.mark.slow
@pytest.mark.parametrize("name", ["ib", "bjp"])
def test_better_searches_reach_the_optimum_more_often(name: str) -> None:
    """Dense six-node graphs, where IBMAP-HC is weak, against the best of all 32,768 graphs."""
    from mnlearn.algorithms.exhaustive import Exhaustive

    reached = {"weakest": 0, "steepest": 0, "tabu": 0}
    for seed in range(5):
        rows = sample_exact(PairwiseNetwork.uniform(random_graph(6, 3.5, seed=seed), 1.0), 500, seed)
        score = SCORES[name](Counts(Dataset.from_codes(rows, cards=[2] * 6), n_jobs=1))
        best = Exhaustive().learn(score).score
        assert best is not None
        climbs = {
            "weakest": IBMAPHC(),
            "steepest": HillClimb(),
            "tabu": HillClimb(tabu=5, patience=40),
        }
        for kind, learner in climbs.items():
            found = learner.learn(score).score
            assert found is not None
            assert found <= best + 1e-8
            reached[kind] += found >= best - 1e-8
    assert max(reached["weakest"], reached["steepest"]) <= reached["tabu"]
    assert reached["tabu"] >= 4


@pytest.mark.parametrize("make", [IBScore, BJPScore])
def test_a_posterior_that_knows_the_graph_is_maximised_by_it(make: Callable[..., SearchableScore]) -> None:
    """Consistency, without the luck of a sample: only the true graph has no claim that is false."""
    for truth in slow.all_graphs(4)[::5]:
        score = make(slow.OraclePosterior(truth, (2, 3, 2, 4)))
        scores = {graph: score(graph) for graph in slow.all_graphs(4)}
        assert max(scores, key=scores.__getitem__) == truth
        assert sorted(scores.values())[-2] < scores[truth] - 1.0


@pytest.mark.parametrize("make", [IBScore, BJPScore])
def test_climbs_find_a_graph_that_the_posterior_knows(make: Callable[..., SearchableScore]) -> None:
    for seed in range(5):
        truth = random_graph(8, 2.5, seed=seed)
        learner = IBMAPHC(tabu=7, patience=30)
        assert learner.learn(make(slow.OraclePosterior(truth))).graph == truth


# ---- results and refusals


@pytest.mark.parametrize("name", ["mpl", "pic"])
def test_support_of_a_local_score_is_what_it_would_lose(name: str) -> None:
    score = SCORES[name](counts(3))
    result = HillClimb(keep_absent=True).learn(score)
    assert result.absent is not None
    assert set(result.support) == set(result.graph.edges)
    for (u, v), lost in result.support.items():
        assert lost == pytest.approx(score(result.graph) - score(result.graph.flip(u, v)), abs=1e-9)
        assert lost > 0
    for (u, v), gained in result.absent.items():
        assert gained == pytest.approx(score(result.graph.flip(u, v)) - score(result.graph), abs=1e-9)
        assert gained <= 1e-9


def test_settings_are_enough_to_run_it_again() -> None:
    score = SCORES["mpl"](counts(3))
    learner = HillClimb(tabu=2, start=Graph(6, [(0, 1)]), required=[(0, 2)])
    settings_of = learner.learn(score).settings
    assert settings_of == {**stated(learner), "start": ((0, 1),)}


@pytest.mark.parametrize(
    ("setting", "value", "message"),
    [
        ("proposals", "best", r"proposals 'best' does not exist.*'steepest', 'weakest'"),
        ("patience", 0, "patience must be a whole number, at least 1; got 0"),
        ("tabu", -1, "tabu must be a whole number, at least 0; got -1"),
        ("max_steps", -2, "max_steps must be a whole number, at least 0; got -2"),
    ],
)
def test_settings_that_break_a_rule_are_refused(setting: str, value: object, message: str) -> None:
    for learner in (HillClimb, IBMAPHC):
        with pytest.raises(InputError, match=message):
            learner(**{setting: value})  # type: ignore[arg-type]


@every_score
def test_the_monitor_is_polled_while_gains_are_evaluated(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mnlearn.algorithms.hillclimb._POLLED", 5)
    monkeypatch.setattr("mnlearn.algorithms.hillclimb._POLLED_IN_BATCHES", 5)
    monitor = Impatient(2)
    result = HillClimb(start=Graph.empty(6)).learn(SCORES[name](counts(1)), monitor)
    assert (result.converged, result.graph) == (False, Graph.empty(6))  # before all 15 gains were known
    assert monitor.asked == 3


@given(seed=st.integers(0, 2**32), limit=st.integers(0, 12))
@settings(max_examples=30)
def test_a_limit_of_flips_holds(seed: int, limit: int) -> None:
    search = HillClimb(start=random_graph(6, 2, seed=seed), tabu=3, patience=9, max_steps=limit)
    assert search.learn(SCORES["bjp"](counts(seed))).cost["flips"] <= limit


class Impatient:
    """A monitor that goes along with so many questions."""

    def __init__(self, patience: int) -> None:
        self.asked, self._patience = 0, patience

    def progress(self, done: float, total: float | None, message: str = "") -> None:
        """Say nothing."""

    def cancelled(self) -> bool:
        self.asked += 1
        return self.asked > self._patience
