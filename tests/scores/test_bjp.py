"""BJP: every pair is weighed once, by the end with the smaller blanket; and stays so from flip to flip."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mnlearn.data import Dataset
from mnlearn.errors import InputError, UnsuitableError
from mnlearn.graphs import Graph, cycle, path, random_graph, star
from mnlearn.independence import BayesianTest, ChiSquare
from mnlearn.scores import BJPScore
from mnlearn.statistics import Counts
from profiles import few

from references import counts as reference
from references import map as slow

CARDS = (2, 3, 2, 4, 1, 2, 3)


def bayes(seed: int, cards: tuple[int, ...] = CARDS, n_rows: int = 150, n_jobs: int = 1) -> BayesianTest:
    data = reference.random_dataset(np.random.default_rng(seed), n_rows=n_rows, cards=cards, dependence=0.6)
    return BayesianTest(Counts(data, n_jobs=n_jobs))


# ---- the score


def test_the_example_of_the_paper() -> None:
    """BJP18, Section 3.1, d): which tests are computed; the other half are 1 and never asked."""
    posterior = slow.WhimsicalPosterior((2, 2, 2, 2), 1)
    score, hub = BJPScore(posterior), star(4)
    a, b, c, last = score.visit_order(hub)  # the leaves, of equal size, by their association; the hub comes last
    assert ({a, b, c}, last) == ({1, 2, 3}, 0)
    posterior.asked.clear()
    value = score(hub)
    given_hub, nothing = frozenset({0}), frozenset[int]()
    assert sorted(posterior.asked) == sorted(
        [
            *[(a, b, given_hub), (a, c, given_hub), (a, 0, nothing)],
            *[(b, c, given_hub), (b, 0, nothing)],
            (c, 0, nothing),
        ]
    )
    independent = [posterior.log_odds(x, [y], given_hub).independent[0] for x, y in ((1, 2), (1, 3), (2, 3))]
    dependent = [posterior.log_odds(x, [0], nothing).dependent[0] for x in (1, 2, 3)]
    assert value == pytest.approx(sum(independent) + sum(dependent), abs=1e-12)


def test_the_orders_of_appendix_b() -> None:
    """The hub first costs the tests given two leaves; the default is the first of the paper's four orders."""
    posterior, hub = bayes(1, (2, 2, 2, 2), 500), star(4)
    for psi in ([1, 2, 3, 0], [1, 2, 0, 3], [1, 0, 2, 3], [0, 1, 2, 3]):
        score = BJPScore(posterior, order=psi)
        assert score.visit_order(hub) == psi
        assert score(hub) == pytest.approx(slow.bjp(posterior, hub, psi), abs=1e-9)
        assert score.on(hub).value == pytest.approx(slow.bjp(posterior, hub, psi), abs=1e-9)
    assert BJPScore(posterior)(hub) == BJPScore(posterior, order=[1, 2, 3, 0])(hub)


def test_chain_cycle_and_star_by_hand() -> None:
    """Cards 2, 3, 4, 2. A blanket's size is the number of its configurations, not of its members."""
    posterior = bayes(5, (2, 3, 4, 2))
    ind, dep = "ind", "dep"
    # chain 0-1-2-3: sizes 3, 2*4, 3*2, 4, so 0, 3, 2, 1
    # cycle: 0 has {1, 3}: 6, 1 has {0, 2}: 8, 2 has {1, 3}: 6, 3 has {0, 2}: 8, so 0 and 2, then 1 and 3
    # star: 0 has 3*4*2, the leaves 2 each, so the leaves, then 0
    # ties: the strength of the marginal association is, in descending order, that of 2, 3, 1, 0
    written: list[tuple[Graph, list[int], list[tuple[str, int, int, set[int]]]]] = [
        (
            path(4),
            [0, 3, 2, 1],
            [
                *[(dep, 0, 1, set()), (ind, 0, 2, {1}), (ind, 0, 3, {1})],
                *[(ind, 3, 1, {2}), (dep, 3, 2, set())],
                (dep, 2, 1, {3}),
            ],
        ),
        (
            cycle(4),
            [2, 0, 3, 1],
            [
                *[(dep, 0, 1, {3}), (ind, 0, 2, {1, 3}), (dep, 0, 3, {1})],
                *[(dep, 2, 1, {3}), (dep, 2, 3, {1})],
                (ind, 1, 3, {0, 2}),
            ],
        ),
        (
            star(4),
            [2, 3, 1, 0],
            [
                *[(dep, 1, 0, set()), (ind, 1, 2, {0}), (ind, 1, 3, {0})],
                *[(dep, 2, 0, set()), (ind, 2, 3, {0})],
                (dep, 3, 0, set()),
            ],
        ),
    ]
    for graph, psi, terms in written:
        total = 0.0
        for claim, x, y, z in terms:
            odds = posterior.log_odds(x, [y], frozenset(z))
            total += float((odds.dependent if claim == dep else odds.independent)[0])
        assert BJPScore(posterior).visit_order(graph) == psi
        assert BJPScore(posterior)(graph) == pytest.approx(total, abs=1e-9)


@given(seed=st.integers(0, 2**32), degree=st.floats(0.0, 4.0))
@settings(max_examples=40)
def test_it_equals_the_equations(seed: int, degree: float) -> None:
    posterior, graph = bayes(seed), random_graph(7, degree, seed=seed)
    score = BJPScore(posterior)
    assert score.visit_order(graph) == slow.order(posterior, graph)
    assert score(graph) == pytest.approx(slow.bjp(posterior, graph), abs=1e-9)
    state = score.on(graph)
    assert state.value == pytest.approx(slow.bjp(posterior, graph), abs=1e-9)
    for u in range(7):
        assert state.pairwise[u, u] == np.inf
        for v in range(u):
            expected = slow.pairwise_bjp(posterior, graph, u, v)
            assert state.pairwise[u, v] == state.pairwise[v, u] == pytest.approx(expected, abs=1e-9)


def test_terms_and_ranks_make_the_score() -> None:
    posterior, graph = bayes(3), random_graph(7, 3, seed=3)
    score = BJPScore(posterior)
    blankets = [graph.neighbors(x) for x in range(7)]
    terms, ranks = score.terms(range(7), blankets), score.ranks(range(7), blankets)
    first = [(x, y) for x in range(7) for y in range(7) if (ranks[x], x) < (ranks[y], y)]
    assert sum(terms[x, y] for x, y in first) == pytest.approx(score(graph), abs=1e-9)


@pytest.mark.parametrize("states", [2, 2**27, 2**31, 2**62])
def test_gains_of_many_pairs_for_blankets_of_any_size(states: int) -> None:
    """Sizes that differ in their last digit, and those that no 64 bits can hold."""
    score = BJPScore(slow.WhimsicalPosterior((states, states + 1, states - 1, 2, states, 3), 5))
    graph = Graph(6, [(0, 1), (0, 2), (1, 3), (3, 4), (4, 5), (2, 5)])
    pairs = [(u, v) for u in range(6) for v in range(u + 1, 6)]
    expected = [score(graph.flip(*pair)) - score(graph) for pair in pairs]
    assert score.on(graph).gains(pairs) == pytest.approx(expected, abs=1e-9)


def test_ranks_tell_apart_what_floats_confuse() -> None:
    judge = BJPScore(slow.WhimsicalPosterior((2, 2, 2**27, 2**27, 2**27 - 1, 2**27 + 1), 1))
    first, second = judge.ranks([0, 1], [frozenset({2, 3}), frozenset({4, 5})])
    assert float(first) == float(second)
    assert first > second


# ---- from flip to flip


@pytest.mark.parametrize("order", [None, (3, 1, 6, 0, 2, 5, 4)], ids=["by size", "given"])
@pytest.mark.parametrize("kind", ["data", "whims"])
def test_thousands_of_flips_keep_the_score_of_a_fresh_start(kind: str, order: tuple[int, ...] | None) -> None:
    posterior = bayes(3) if kind == "data" else slow.WhimsicalPosterior(CARDS, 3)
    rng = np.random.default_rng(1)
    score = BJPScore(posterior, order)
    state = score.on(random_graph(7, 2, seed=1))
    for step in few(range(2000), 400):
        edge = slow.random_edge(rng, 7)
        before, gain = state.value, state.gains([edge])[0]
        state.flip(edge)
        assert state.value - before == pytest.approx(gain, abs=1e-9)
        if step % 100 == 0:
            assert state.value == pytest.approx(score(state.graph), abs=1e-9)
            np.testing.assert_allclose(state.pairwise, score.on(state.graph).pairwise, rtol=0, atol=1e-9)
    assert state.value == pytest.approx(score(state.graph), abs=1e-9)


@given(seed=st.integers(0, 2**32), degree=st.floats(0.0, 3.0))
@settings(max_examples=40)
def test_only_what_the_order_touches_is_recomputed(seed: int, degree: float) -> None:
    """A part is computed anew if who comes first, or the blanket of who comes first, is another after the flip."""
    posterior, graph = slow.WhimsicalPosterior(CARDS, seed), random_graph(7, degree, seed=seed)
    state = BJPScore(posterior).on(graph)
    edge = slow.random_edge(np.random.default_rng(seed), 7)
    state.flip(edge)

    def judged(graph: Graph) -> dict[tuple[int, int], tuple[int, frozenset[int]]]:
        psi = slow.order(posterior, graph)
        first = {(u, v): min(u, v, key=psi.index) for u in range(7) for v in range(u + 1, 7)}
        return {pair: (x, graph.neighbors(x)) for pair, x in first.items()}

    old, new = judged(graph), judged(graph.flip(*edge))
    assert state.cost["recomputed"] == sum(old[pair] != new[pair] for pair in old)
    # What the flip asks of the two ends is that and no more; the rest comes from whole rows of smaller blankets.
    posterior.asked.clear()
    again = BJPScore(posterior).on(graph)
    posterior.asked.clear()
    again.gains([edge])
    members = max(len(graph.neighbors(x)) + 1 for x in edge)
    own = [pair for pair in posterior.asked if pair[0] in edge]
    assert len(own) <= sum(new[pair][0] in edge for pair in new) + 2 * members
    assert not [(x, y, z) for x, y, z in posterior.asked if x not in edge and z - graph.neighbors(x)]


def test_the_hub_is_hardly_ever_asked() -> None:
    """A star grown leaf by leaf: from the second leaf on the hub is the last, and makes no claim at all."""
    posterior = slow.WhimsicalPosterior((2,) * 8, 5)
    state = BJPScore(posterior).on(Graph.empty(8))
    state.flip((0, 1))
    for leaf in range(2, 8):
        posterior.asked.clear()
        state.flip((0, leaf))
        assert 0 not in {x for x, _, _ in posterior.asked}
    assert state.value == pytest.approx(slow.bjp(posterior, star(8)), abs=1e-9)


def test_the_log_odds_of_a_pair_are_those_of_the_first() -> None:
    posterior, graph = bayes(2), random_graph(7, 2, seed=6)
    state, psi = BJPScore(posterior).on(graph), slow.order(posterior, graph)
    assert list(state.log_odds()) == list(graph.edges)
    everything = state.log_odds(absent=True)
    assert list(everything) == [(u, v) for u in range(7) for v in range(u + 1, 7)]
    for (u, v), odds in everything.items():
        x, y = sorted((u, v), key=psi.index)
        both = posterior.log_odds(x, [y], graph.neighbors(x) - {y})
        assert odds == pytest.approx(float(both.dependent[0] - both.independent[0]), rel=1e-9, abs=1e-9)
        if (u, v) in graph:
            assert state.log_odds()[u, v] == odds


# ---- what may and may not matter


@given(seed=st.integers(0, 2**32))
@settings(max_examples=15)
def test_the_order_of_columns_matters_only_where_sizes_tie(seed: int) -> None:
    rng = np.random.default_rng(seed)
    data = reference.random_dataset(rng, n_rows=60, cards=list(CARDS), dependence=0.6)
    graph, codes = random_graph(7, 2, seed=seed), np.array(data.columns)
    new = rng.permutation(7)
    relabelled = graph.relabel(new.tolist())
    back = np.argsort(new)
    moved = BayesianTest(Counts(Dataset.from_codes(list(codes[back]), cards=np.array(CARDS)[back].tolist())))
    psi = [int(new[x]) for x in BJPScore(BayesianTest(Counts(data))).visit_order(graph)]
    expected = BJPScore(BayesianTest(Counts(data)))(graph)
    assert BJPScore(moved, order=psi)(relabelled) == pytest.approx(expected)
    shuffled = Dataset.from_codes(list(codes[:, rng.permutation(60)]), cards=CARDS)
    assert BJPScore(BayesianTest(Counts(shuffled)))(graph) == pytest.approx(expected)


def test_the_number_of_threads_does_not_matter() -> None:
    graph = random_graph(40, 4, seed=1)
    one, two = (BJPScore(bayes(1, (2, 3) * 20, 500, n_jobs)).on(graph) for n_jobs in (1, 2))
    assert one.value == two.value
    assert np.array_equal(one.pairwise, two.pairwise)


def test_a_blanket_with_more_configurations_than_a_number_can_hold() -> None:
    cards = (9,) * 400
    score = BJPScore(slow.WhimsicalPosterior(cards, 2))
    assert score.visit_order(star(400))[-1] == 0
    state = score.on(star(400))
    state.flip((0, 7))
    assert state.value == pytest.approx(score(star(400).flip(0, 7)), abs=1e-9)


def test_what_cannot_be_scored_is_refused() -> None:
    data = Dataset.from_codes([[0, 1], [1, 0]])
    with pytest.raises(UnsuitableError, match="BJPScore needs an independence posterior; a ChiSquare has no log_odds"):
        BJPScore(ChiSquare(Counts(data)))  # type: ignore[arg-type]
    posterior = BayesianTest(Counts(data))
    for order in ([0], [0, 0], [1, 2]):
        with pytest.raises(InputError, match="order must hold each of 0 to 1 once; got"):
            BJPScore(posterior, order)
    for refused in (BJPScore(posterior), BJPScore(posterior).on, BJPScore(posterior).visit_order):
        with pytest.raises(InputError, match="graph must have the 2 variables of the posterior; got 3"):
            refused(Graph.empty(3))
