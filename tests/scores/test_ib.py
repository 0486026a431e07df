"""IB-score: the closure's claims added up, and kept so from flip to flip."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mnlearn.data import Dataset
from mnlearn.errors import InputError, UnsuitableError
from mnlearn.graphs import Graph, cycle, path, random_graph, star
from mnlearn.independence import BayesianTest, ChiSquare
from mnlearn.protocols import Indices, LogOdds, VarSet
from mnlearn.scores import IBScore
from mnlearn.statistics import Counts
from profiles import few

from references import counts as reference
from references import map as slow

CARDS = (2, 3, 2, 4, 1, 2, 3)


def bayes(seed: int, cards: tuple[int, ...] = CARDS, n_rows: int = 150, n_jobs: int = 1) -> BayesianTest:
    data = reference.random_dataset(np.random.default_rng(seed), n_rows=n_rows, cards=cards, dependence=0.6)
    return BayesianTest(Counts(data, n_jobs=n_jobs))


@given(seed=st.integers(0, 2**32), degree=st.floats(0.0, 4.0))
@settings(max_examples=40)
def test_it_is_the_sum_of_the_terms_of_the_posterior(seed: int, degree: float) -> None:
    posterior, graph = bayes(seed), random_graph(7, degree, seed=seed)
    score = IBScore(posterior)
    assert score(graph) == pytest.approx(slow.ib(posterior, graph), abs=1e-9)
    assert score.on(graph).value == pytest.approx(slow.ib(posterior, graph), abs=1e-9)
    locals_ = [score.local(x, graph.neighbors(x)) for x in range(7)]
    assert sum(locals_) == pytest.approx(score(graph), abs=1e-9)
    parts = score.on(graph).pairwise
    for u in range(7):
        assert parts[u, u] == np.inf
        for v in range(u):
            assert parts[u, v] == parts[v, u] == pytest.approx(slow.pairwise_ib(posterior, graph, u, v), abs=1e-9)


@pytest.mark.parametrize("shape", [path(4), cycle(4), star(4)], ids=["chain", "cycle", "star"])
def test_chain_cycle_and_star_by_hand(shape: Graph) -> None:
    """Every claim of a chain 0-1-2-3, a cycle 0-1-2-3-0 and a star with the hub 0, written out."""
    ind, dep = "ind", "dep"
    written: dict[Graph, list[tuple[str, int, int, set[int]]]] = {
        path(4): [
            *[(dep, 0, 1, set()), (ind, 0, 2, {1}), (ind, 0, 3, {1})],
            *[(dep, 1, 0, {2}), (dep, 1, 2, {0}), (ind, 1, 3, {0, 2})],
            *[(ind, 2, 0, {1, 3}), (dep, 2, 1, {3}), (dep, 2, 3, {1})],
            *[(ind, 3, 0, {2}), (ind, 3, 1, {2}), (dep, 3, 2, set())],
        ],
        cycle(4): [
            *[(dep, 0, 1, {3}), (ind, 0, 2, {1, 3}), (dep, 0, 3, {1})],
            *[(dep, 1, 0, {2}), (dep, 1, 2, {0}), (ind, 1, 3, {0, 2})],
            *[(ind, 2, 0, {1, 3}), (dep, 2, 1, {3}), (dep, 2, 3, {1})],
            *[(dep, 3, 0, {2}), (ind, 3, 1, {0, 2}), (dep, 3, 2, {0})],
        ],
        star(4): [
            *[(dep, 0, 1, {2, 3}), (dep, 0, 2, {1, 3}), (dep, 0, 3, {1, 2})],
            *[(dep, 1, 0, set()), (ind, 1, 2, {0}), (ind, 1, 3, {0})],
            *[(dep, 2, 0, set()), (ind, 2, 1, {0}), (ind, 2, 3, {0})],
            *[(dep, 3, 0, set()), (ind, 3, 1, {0}), (ind, 3, 2, {0})],
        ],
    }
    posterior = bayes(5, (2, 3, 4, 2))
    total = 0.0
    for claim, x, y, z in written[shape]:
        odds = posterior.log_odds(x, [y], frozenset(z))
        total += float((odds.dependent if claim == dep else odds.independent)[0])
    assert IBScore(posterior)(shape) == pytest.approx(total, abs=1e-9)


@pytest.mark.parametrize("kind", ["data", "whims"])
def test_thousands_of_flips_keep_the_score_of_a_fresh_start(kind: str) -> None:
    posterior = bayes(3) if kind == "data" else slow.WhimsicalPosterior((2,) * 12, 3)
    rng, n = np.random.default_rng(1), posterior.n_variables
    score = IBScore(posterior)
    state = score.on(random_graph(n, 2, seed=1))
    for step in few(range(2000), 400):
        edge = slow.random_edge(rng, n)
        before, gain = state.value, state.gains([edge])[0]
        assert state.flip(edge) == frozenset(edge)
        assert state.value - before == pytest.approx(gain, abs=1e-9)
        if step % 250 == 0:
            fresh = score.on(state.graph)
            assert state.value == pytest.approx(score(state.graph), abs=1e-9)
            np.testing.assert_allclose(state.pairwise, fresh.pairwise, rtol=0, atol=1e-9)
    assert state.value == pytest.approx(score(state.graph), abs=1e-9)


def test_gains_at_hand_are_those_of_a_fresh_start() -> None:
    posterior = slow.WhimsicalPosterior((2,) * 7, 4)
    score, rng = IBScore(posterior), np.random.default_rng(2)
    state = score.on(Graph.empty(7))
    pairs = [(u, v) for u in range(7) for v in range(u + 1, 7)]
    for _ in range(20):
        np.testing.assert_allclose(state.gains(pairs), score.on(state.graph).gains(pairs), atol=1e-9)
        asked = len(posterior.asked)
        state.gains(pairs)
        assert len(posterior.asked) == asked
        state.flip(slow.random_edge(rng, 7))


def test_a_flip_asks_two_variables_anew_and_nobody_else() -> None:
    posterior = slow.WhimsicalPosterior((2,) * 9, 8)
    state = IBScore(posterior).on(Graph.empty(9))
    assert len(posterior.asked) == 36  # without conditioning a pair is asked once, not from either end
    assert state.cost == {"recomputed": 0, "scanned": 36}
    posterior.asked.clear()
    state.gains([(2, 5)])
    state.flip((2, 5))
    assert {x for x, _, _ in posterior.asked} == {2, 5}
    assert len(posterior.asked) == 16 == len(set(posterior.asked))
    assert state.cost == {"recomputed": 16, "scanned": 52}


def test_additions_and_removals_are_what_local_says() -> None:
    score = IBScore(bayes(9))
    blankets: list[VarSet] = [frozenset({1, 3}), frozenset()]
    added = score.additions([0, 2], blankets, [[2, 5], [4]])
    assert added[0].tolist() == [score.local(0, frozenset({1, 3, y})) for y in (2, 5)]
    assert added[1].tolist() == [score.local(2, frozenset({4}))]
    removed = score.removals([0, 2], blankets)
    assert removed[0].tolist() == [score.local(0, frozenset({3})), score.local(0, frozenset({1}))]
    assert removed[1].shape == (0,)
    assert score.terms([0], [blankets[0]])[0].sum() == pytest.approx(score.local(0, blankets[0]))


def test_the_log_odds_of_a_pair_are_those_of_both_ends() -> None:
    posterior, graph = bayes(2), random_graph(7, 2, seed=6)
    state = IBScore(posterior).on(graph)
    assert list(state.log_odds()) == list(graph.edges)
    for (u, v), odds in state.log_odds(absent=True).items():
        total = 0.0
        for x, y in ((u, v), (v, u)):
            both = posterior.log_odds(x, [y], graph.neighbors(x) - {y})
            total += float(both.dependent[0] - both.independent[0])
        assert odds == pytest.approx(total, rel=1e-9, abs=1e-9)
        if (u, v) in graph:
            assert state.log_odds()[u, v] == odds


@given(seed=st.integers(0, 2**32))
@settings(max_examples=15)
def test_order_of_rows_and_columns_labels_and_repeats_do_not_matter(seed: int) -> None:
    rng = np.random.default_rng(seed)
    cards = np.array(CARDS)
    data = reference.random_dataset(rng, n_rows=60, cards=cards.tolist(), dependence=0.6)
    codes, graph = np.array(data.columns), random_graph(7, 2, seed=seed)
    expected = IBScore(BayesianTest(Counts(data)))(graph)

    def scored(columns: np.ndarray, graph: Graph, cards: np.ndarray, repeats: np.ndarray | None = None) -> float:
        counts = Counts(Dataset.from_codes(list(columns), cards=cards.tolist(), repeats=repeats))
        return IBScore(BayesianTest(counts))(graph)

    new = rng.permutation(7)  # variable x becomes new[x]
    assert scored(codes[np.argsort(new)], graph.relabel(new.tolist()), cards[np.argsort(new)]) == pytest.approx(
        expected
    )
    assert scored(codes[:, rng.permutation(60)], graph, cards) == pytest.approx(expected)
    assert scored(cards[:, None] - 1 - codes, graph, cards) == pytest.approx(expected)
    unique, repeats = np.unique(codes, axis=1, return_counts=True)
    assert scored(unique, graph, cards, repeats) == pytest.approx(expected)


def test_the_number_of_threads_does_not_matter() -> None:
    graph = random_graph(40, 4, seed=1)
    one, two = (IBScore(bayes(1, (2, 3) * 20, 500, n_jobs)).on(graph) for n_jobs in (1, 2))
    assert one.value == two.value
    assert np.array_equal(one.pairwise, two.pairwise)


class _Certain:
    """Posterior of a user whose probabilities are 0 and 1."""

    n_variables, cards = 3, (2, 2, 2)

    def log_odds(self, x: int, ys: Indices, z: VarSet) -> LogOdds:  # noqa: ARG002 - the same for all
        return LogOdds(np.zeros(len(ys)), np.full(len(ys), -np.inf))

    def members(self, x: int, z: VarSet) -> LogOdds:
        return self.log_odds(x, sorted(z), z)


def test_an_impossible_claim_stays_finite() -> None:
    state = IBScore(_Certain()).on(Graph(3, [(0, 1)]))
    assert state.value == pytest.approx(2 * np.log(5e-324))
    state.flip((0, 1))
    assert state.value == 0.0


def test_an_improbable_claim_counts_by_its_logarithm() -> None:
    """Two independent columns with 40 states: dependence is less probable than any positive double."""
    rng = np.random.default_rng(1)
    data = Dataset.from_codes([rng.integers(0, card, 100_000) for card in (40, 40, 2)])
    posterior = BayesianTest(Counts(data))
    dependent = posterior.log_odds(0, [1], frozenset()).dependent[0]
    assert -3000 < dependent < -2000
    state = IBScore(posterior).on(Graph(3, [(0, 1)]))
    assert state.value == pytest.approx(2 * dependent, rel=1e-3)
    state.flip((0, 1))
    assert state.value == pytest.approx(IBScore(posterior)(Graph.empty(3)), abs=1e-9)


def test_what_cannot_be_scored_is_refused() -> None:
    data = Dataset.from_codes([[0, 1], [1, 0]])
    with pytest.raises(UnsuitableError, match="IBScore needs an independence posterior; a ChiSquare has no log_odds"):
        IBScore(ChiSquare(Counts(data)))  # type: ignore[arg-type]
    score = IBScore(BayesianTest(Counts(data)))
    for refused in (score, score.on):
        with pytest.raises(InputError, match="graph must have the 2 variables of the posterior; got 3"):
            refused(Graph.empty(3))
    with pytest.raises(InputError, match=r"edge must join two different variables, 0 to 1; got \(1, 1\)"):
        score.on(Graph.empty(2)).flip((1, 1))
