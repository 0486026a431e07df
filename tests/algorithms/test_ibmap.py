"""IBMAP-HC against its pseudocode taken literally, for both scores."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mnlearn.algorithms.gsmn import GSMNStar
from mnlearn.algorithms.hillclimb import WeakestPairs
from mnlearn.algorithms.ibmap import IBMAPHC
from mnlearn.data import Dataset
from mnlearn.errors import InputError, UnsuitableError
from mnlearn.graphs import Graph, cycle, path, random_graph, star
from mnlearn.independence import BayesianTest, GaussianPosterior
from mnlearn.protocols import IndependencePosterior
from mnlearn.scores import MPL, BJPScore, IBScore
from mnlearn.simulate import PairwiseNetwork, sample_exact
from mnlearn.statistics import Counts, Moments

from references import counts as reference
from references import map as slow
from references.moments import dataset_of

SCORES: dict[str, Callable[[IndependencePosterior], IBScore | BJPScore]] = {"ib": IBScore, "bjp": BJPScore}
both = pytest.mark.parametrize("name", SCORES)


def bayes(data: Dataset, n_jobs: int = 1) -> BayesianTest:
    return BayesianTest(Counts(data, n_jobs=n_jobs))


def sampled(graph: Graph, n_rows: int = 2000, strength: float = 2.0, seed: int = 1) -> Dataset:
    rows = sample_exact(PairwiseNetwork.uniform(graph, strength), n_rows, seed)
    return Dataset.from_codes(rows, cards=[2] * graph.n_variables)


# ---- as published


@both
@given(seed=st.integers(0, 2**32), n=st.integers(2, 7))
@settings(max_examples=40)
def test_every_step_is_the_pseudocodes_when_nothing_fits(name: str, seed: int, n: int) -> None:
    rng = np.random.default_rng(seed)
    posterior = slow.WhimsicalPosterior(tuple(rng.integers(1, 5, n).tolist()), seed)
    result = IBMAPHC(keep_steps=True).learn(SCORES[name](posterior))
    graph, scores = slow.ibmap_hc(posterior, name)
    assert result.graph == graph
    assert result.steps is not None
    assert [step.score for step in result.steps] == pytest.approx(scores, abs=1e-9)
    assert result.score == pytest.approx(scores[-1], abs=1e-9)
    assert result.converged
    flipped = Graph.empty(n)
    for step in result.steps[1:]:
        assert step.edge is not None
        flipped = flipped.flip(*step.edge)
    assert flipped == graph


@both
@given(seed=st.integers(0, 2**32), repeats=st.booleans())
@settings(max_examples=15)
def test_every_step_is_the_pseudocodes_on_data(name: str, seed: int, repeats: bool) -> None:
    rng = np.random.default_rng(seed)
    cards = rng.integers(1, 4, 6).tolist()
    data = reference.random_dataset(rng, n_rows=200, cards=cards, dependence=0.6, repeats=repeats)
    result = IBMAPHC(keep_steps=True).learn(SCORES[name](bayes(data)))
    graph, scores = slow.ibmap_hc(bayes(data), name)
    assert result.graph == graph
    assert result.steps is not None
    assert [step.score for step in result.steps] == pytest.approx(scores, abs=1e-9)


@both
@pytest.mark.parametrize("graph", [path(6), cycle(6), star(5)], ids=["chain", "cycle", "star"])
def test_it_finds_what_the_data_show(name: str, graph: Graph) -> None:
    assert IBMAPHC().learn(SCORES[name](bayes(sampled(graph)))).graph == graph


@both
def test_continuous_variables(name: str) -> None:
    precision = np.eye(8) + 0.4 * (np.eye(8, k=1) + np.eye(8, k=-1))
    rows = np.random.default_rng(1).multivariate_normal(np.zeros(8), np.linalg.inv(precision), 1000)
    result = IBMAPHC().learn(SCORES[name](GaussianPosterior(Moments(dataset_of(rows)))))
    assert result.graph == path(8)


@both
def test_ties_go_to_the_first_pair(name: str) -> None:
    """Columns that are copies of one another: all pairs are equally weak, and stay so for a while."""
    column = np.random.default_rng(1).integers(0, 2, 100)
    result = IBMAPHC(keep_steps=True).learn(SCORES[name](bayes(Dataset.from_codes([column] * 4))))
    assert result.steps is not None
    assert result.steps[1].edge == (0, 1)
    assert result.graph == slow.ibmap_hc(bayes(Dataset.from_codes([column] * 4)), name)[0]


@both
def test_an_exact_tie_does_not_improve(name: str) -> None:
    """A variable with a single state is as independent as it is dependent, of everything."""
    data = Dataset.from_codes([[0] * 40, [0, 1] * 20, [0, 0, 1, 1] * 10])
    assert IBMAPHC().learn(SCORES[name](bayes(data))).graph.degree(0) == 0


# ---- what it costs


def test_ib_recomputes_two_blankets_a_proposal() -> None:
    result = IBMAPHC().learn(IBScore(bayes(sampled(path(9)))))
    assert result.cost["flips"] == 8
    assert result.cost["proposed"] == 9  # the last one failed
    assert result.cost["recomputed"] == 9 * 2 * 8
    assert result.cost["scanned"] == 36 + result.cost["recomputed"]
    assert result.cost["seconds"] > 0


def test_bjp_recomputes_what_the_order_touches() -> None:
    """The pairs whose judge, or whose judge's blanket, is another after each proposed flip, and no others."""
    posterior = slow.WhimsicalPosterior((2, 3, 2, 4, 2, 3, 2), 9)
    result = IBMAPHC(keep_steps=True).learn(BJPScore(posterior))
    assert result.steps is not None

    def judged(graph: Graph) -> dict[tuple[int, int], tuple[int, frozenset[int]]]:
        psi = slow.order(posterior, graph)
        first = {(u, v): min(u, v, key=psi.index) for u in range(7) for v in range(u + 1, 7)}
        return {pair: (x, graph.neighbors(x)) for pair, x in first.items()}

    def changed(one: Graph, other: Graph) -> int:
        before, after = judged(one), judged(other)
        return sum(before[pair] != after[pair] for pair in before)

    graph, expected = Graph.empty(7), 0
    for step in result.steps[1:]:
        assert step.edge is not None
        expected += changed(graph, graph.flip(*step.edge))
        graph = graph.flip(*step.edge)
    last = min(
        ((u, v) for u in range(7) for v in range(u + 1, 7)), key=lambda e: slow.pairwise_bjp(posterior, graph, *e)
    )
    assert result.cost["recomputed"] == expected + changed(graph, graph.flip(*last))


@given(seed=st.integers(0, 2**32))
@settings(max_examples=30)
def test_the_weakest_pair_is_kept_track_of(seed: int) -> None:
    rng = np.random.default_rng(seed)
    state = IBScore(slow.WhimsicalPosterior((2,) * 9, seed)).on(random_graph(9, 2, seed=seed))
    barred = np.eye(9, dtype=np.bool_)
    pairs, left_out = WeakestPairs(state, barred), set[tuple[int, int]]()
    for _ in range(40):
        parts = state.pairwise.copy()
        for u, v in left_out:
            parts[u, v] = parts[v, u] = np.inf
        assert pairs.best() == (divmod(int(parts.argmin()), 9), None)
        u, v = slow.random_edge(rng, 9)
        action = rng.integers(0, 4)
        if action == 0 and (u, v) not in left_out:
            pairs.bar((u, v))
            left_out.add((u, v))
        elif action == 1 and left_out:
            pairs.unbar(left_out.pop())
        else:
            pairs.flipped((u, v), state.flip((u, v)))


# ---- where it starts, and what it must respect


@both
def test_it_starts_from_the_given_graph(name: str) -> None:
    graph = cycle(6)
    data = sampled(graph)
    score = SCORES[name](bayes(data))
    from_graph = IBMAPHC(start=graph, keep_steps=True).learn(score)
    assert from_graph.graph == graph
    assert from_graph.steps is not None
    assert from_graph.steps[0].edge is None
    assert from_graph.steps[0].score == pytest.approx(score(graph))
    other = GSMNStar().learn(bayes(data))
    assert IBMAPHC(start=other).learn(score).graph == IBMAPHC(start=other.graph).learn(score).graph == graph
    assert IBMAPHC(start=graph).learn(score).settings["start"] == graph.edges


@both
@given(seed=st.integers(0, 2**32))
@settings(max_examples=20)
def test_what_is_known_beforehand_is_respected(name: str, seed: int) -> None:
    rng = np.random.default_rng(seed)
    posterior = slow.WhimsicalPosterior((2,) * 7, seed)
    drawn = {slow.random_edge(rng, 7) for _ in range(8)}
    required, forbidden = list(drawn)[:4], list(drawn)[4:]
    for start in (None, random_graph(7, 3, seed=seed)):
        result = IBMAPHC(required=required, forbidden=forbidden, start=start, keep_steps=True).learn(
            SCORES[name](posterior)
        )
        assert set(required) <= set(result.graph.edges)
        assert not set(forbidden) & set(result.graph.edges)
        assert result.steps is not None
        assert not drawn & {step.edge for step in result.steps}


@both
def test_support_is_the_log_odds(name: str) -> None:
    score = SCORES[name](bayes(sampled(cycle(6))))
    result = IBMAPHC(keep_absent=True).learn(score)
    odds = score.on(result.graph).log_odds(absent=True)
    assert result.support_scale == "log_odds"
    assert result.absent is not None
    assert dict(result.support) | dict(result.absent) == odds
    assert set(result.support) == set(result.graph.edges)
    assert min(result.support.values()) > 0 > max(result.absent.values())
    assert IBMAPHC().learn(score).absent is None


@both
def test_the_number_of_threads_does_not_matter(name: str) -> None:
    data = reference.random_dataset(np.random.default_rng(1), n_rows=500, cards=[2, 3] * 15, dependence=0.4)
    one, two = (IBMAPHC().learn(SCORES[name](bayes(data, n_jobs))) for n_jobs in (1, 2))
    assert (one.graph, one.score, one.support) == (two.graph, two.score, two.support)


# ---- before its end, and not at all


@both
def test_a_monitor_can_stop_it(name: str) -> None:
    class Impatient:
        messages: list[str]

        def __init__(self) -> None:
            self.messages = []

        def progress(self, done: float, total: float | None, message: str = "") -> None:  # noqa: ARG002
            self.messages.append(message)

        def cancelled(self) -> bool:
            return len(self.messages) > 3

    monitor, score = Impatient(), SCORES[name](bayes(sampled(cycle(6))))
    result = IBMAPHC().learn(score, monitor)
    assert not result.converged
    assert result.graph.n_edges == 3
    assert result.score == pytest.approx(score(result.graph))
    assert "3 flips" in monitor.messages[-1]
    limited = IBMAPHC(max_steps=3).learn(score)
    assert (limited.graph, limited.converged) == (result.graph, False)


def test_what_it_cannot_work_with_is_refused() -> None:
    data = sampled(path(3), 50)
    with pytest.raises(UnsuitableError, match="proposals='weakest' needs a score that is a sum over pairs; MPL"):
        IBMAPHC().learn(MPL(Counts(data)))
    with pytest.raises(InputError, match="judge must know at least 2 variables; got 1"):
        IBMAPHC().learn(IBScore(bayes(Dataset.from_codes([[0, 1]]))))
    with pytest.raises(InputError, match="start must have the 3 variables of the score; got 4"):
        IBMAPHC(start=path(4)).learn(IBScore(bayes(data)))
    with pytest.raises(InputError, match="start must be a Graph or the result of a search; got a list"):
        IBMAPHC(start=[(0, 1)])  # type: ignore[arg-type]
    with pytest.raises(InputError, match=r"required must hold pairs of two different variables, 0 to 2; got \(0, 3\)"):
        IBMAPHC(required=[(0, 3)]).learn(IBScore(bayes(data)))
