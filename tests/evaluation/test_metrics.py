"""Every measure against its definition, its symmetries, and what it must refuse."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mnlearn.algorithms.exhaustive import Exhaustive
from mnlearn.algorithms.gsimn import GSIMN
from mnlearn.algorithms.gsmn import GSMNStar
from mnlearn.algorithms.mpl import TwoPhase
from mnlearn.data import Dataset
from mnlearn.errors import InputError, UnknownNameError
from mnlearn.evaluation import (
    KINDS,
    Accuracy,
    align,
    compare_edges,
    ev_scores,
    f1,
    hamming,
    independence_accuracy,
    irregularity,
    normalized_hamming,
    precision,
    recall,
    sample_triplets,
    score_gap,
    success_rate,
    total_irregularity,
    weighted_tests,
)
from mnlearn.evaluation.subgraphs import count_agreements
from mnlearn.graphs import Graph, NamedGraph, cycle, path, random_graph, star
from mnlearn.independence import ChiSquare, SeparationOracle
from mnlearn.protocols import Question
from mnlearn.scores import MPL
from mnlearn.simulate import sample, with_log_odds
from mnlearn.statistics import Counts

from references import metrics as slow


@st.composite
def graphs(draw: st.DrawFn, n: int) -> Graph:
    pairs = list(combinations(range(n), 2))
    return Graph(n, draw(st.lists(st.sampled_from(pairs), unique=True)) if pairs else [])


two_graphs = st.integers(1, 7).flatmap(lambda n: st.tuples(graphs(n), graphs(n)))


@given(two_graphs)
@settings(deadline=None)
def test_edges_are_counted_pair_by_pair(pair: tuple[Graph, Graph]) -> None:
    learned, truth = pair
    found = compare_edges(learned, truth)
    tp, fp, fn, tn = slow.confusion(learned, truth, positive=True)
    assert (found.true_positives, found.false_positives, found.false_negatives, found.true_negatives) == (
        *(tp, fp, fn, tn),
    )
    turned = compare_edges(learned, truth, positives="independences")
    assert (
        turned.true_positives,
        turned.false_positives,
        turned.false_negatives,
        turned.true_negatives,
    ) == slow.confusion(learned, truth, positive=False)
    assert hamming(learned, truth) == fp + fn == turned.hamming == hamming(truth, learned)
    assert normalized_hamming(learned, truth) == pytest.approx((fp + fn) / max(1, tp + fp + fn + tn))
    assert precision(learned, truth) == recall(truth, learned) == (tp / (tp + fp) if tp + fp else 1.0)
    assert f1(learned, truth) == pytest.approx(slow.f_score(set(learned.edges), set(truth.edges)))
    p, r = precision(learned, truth), recall(learned, truth)
    assert f1(learned, truth) == pytest.approx(2 * p * r / (p + r) if p + r else 0.0)


@given(two_graphs, st.randoms(use_true_random=False))
@settings(deadline=None, max_examples=60)
def test_ev_scores_follow_their_definition_under_any_labels(pair: tuple[Graph, Graph], random: object) -> None:
    learned, truth = pair
    scores = ev_scores(learned, truth)
    assert tuple(scores) == KINDS
    for kind, score in scores.items():
        expected = slow.ev(learned, truth, kind)
        if expected is None:
            assert score == (None, None, 0)
        else:
            assert tuple(score) == pytest.approx(expected)
    labels = list(range(truth.n_variables))
    random.shuffle(labels)  # type: ignore[attr-defined]
    for kind, score in ev_scores(learned.relabel(labels), truth.relabel(labels)).items():
        assert score == pytest.approx(scores[kind])


def test_ev_scores_of_the_truth_are_one_and_wrong_edges_outside_cost_only_v() -> None:
    truth = cycle(4).add([(0, 2)])
    assert all(score[:2] == (1.0, 1.0) for score in ev_scores(truth, truth).values())
    wide_truth, learned = Graph(5, truth.edges), Graph(5, (*truth.edges, (0, 4)))
    three = ev_scores(learned, wide_truth, ["3C"])["3C"]
    assert three.e == 1.0
    assert three.v is not None
    assert three.v < 1.0


def test_published_irregularities_fit_the_total() -> None:
    # BJP18, Table 3: the double star with 16 variables has 392, twice the total irregularity.
    double_star = Graph(16, [(0, 1), *((0, x) for x in range(2, 9)), *((1, x) for x in range(9, 16))])
    assert 2 * total_irregularity(double_star) == 392
    assert irregularity(double_star) == 14 * 7
    # BJP18, Figure 2: no graph of six variables is above 26.
    best = max(total_irregularity(random_graph(6, tau, seed)) for tau in (1, 2, 3, 4) for seed in range(300))
    assert best == 26


@given(st.integers(1, 8).flatmap(graphs))
def test_irregularities_are_sums_over_pairs(graph: Graph) -> None:
    d = graph.degrees().tolist()
    assert irregularity(graph) == sum(abs(d[u] - d[v]) for u, v in graph.edges)
    assert total_irregularity(graph) == sum(abs(a - b) for a, b in combinations(d, 2))
    assert total_irregularity(Graph.empty(0)) == irregularity(Graph.empty(0)) == 0


def test_success_is_the_whole_graph_or_nothing() -> None:
    chain = path(4)
    assert success_rate([chain, chain, chain.flip(0, 3), Graph(4)], chain) == 0.5
    assert success_rate([chain, star(4)], [chain, star(4)]) == 1.0


def test_only_what_the_data_answered_has_weight() -> None:
    def asked(z: set[int], source: str) -> Question:
        return Question(0, 1, frozenset(z), True, None, source, "grow")

    trace = [asked({2, 3}, "data"), asked({2}, "memo"), asked(set(), "strong_union"), asked(set(), "data")]
    assert weighted_tests(trace) == 4 + 2


class EdgesWanted:
    """A score that likes some edges."""

    n_variables = 4

    def __call__(self, graph: Graph) -> float:
        return -float(hamming(graph, path(4)))


def test_the_gap_is_what_the_search_missed() -> None:
    score = EdgesWanted()
    assert score_gap(score, path(4), path(4)) == 0.0
    assert score_gap(score, Graph(4), path(4)) == 3.0
    with pytest.raises(InputError, match=r"optimum must be the best graph under score; it has -3.0, learned has -0.0"):
        score_gap(score, path(4), Graph(4))


def test_triplets_are_even_in_size_or_uniform_over_all() -> None:
    even = sample_triplets(6, 1001, sizes="even", seed=3)
    assert Counter(len(t.z) for t in even) == {0: 201, 1: 200, 2: 200, 3: 200, 4: 200}
    every = sample_triplets(4, 8000, sizes="all", seed=3)
    # Ordered pairs (12) times subsets of the other two (4): 48 triplets, each expected 166.7 times.
    assert len(set(every)) == 48
    expected = 8000 / 48
    statistic = sum((count - expected) ** 2 / expected for count in Counter(every).values())
    assert statistic < 82.7  # chi-square with 47 degrees of freedom: above it with probability 0.001
    for t in (*even, *every):
        assert len({t.x, t.y} | t.z) == 2 + len(t.z)
    assert even == sample_triplets(6, 1001, seed=np.random.default_rng(3))


@given(st.integers(2, 6).flatmap(lambda n: st.tuples(graphs(n), graphs(n))))
@settings(deadline=None, max_examples=30)
def test_accuracy_counts_agreements(pair: tuple[Graph, Graph]) -> None:
    graph, data = pair
    triplets = sample_triplets(graph.n_variables, 60, seed=1)
    found = count_agreements(graph, SeparationOracle(data), triplets)
    said = Counter((graph.separates(*t), data.separates(*t)) for t in triplets)
    assert found == Accuracy(said[True, True], said[False, False], said[True, False], said[False, True])
    assert found.agreement == pytest.approx(sum(a == b for a, b in said.elements()) / 60)
    assert found.shared_independences == pytest.approx(said[True, True] / 60)
    assert independence_accuracy(graph, SeparationOracle(data), n_triplets=60, seed=1) == found
    perfect = count_agreements(data, SeparationOracle(data), triplets)
    assert perfect.agreement == perfect.f1 == 1.0


def test_graphs_are_compared_by_name() -> None:
    truth = NamedGraph(path(3), ("a", "b", "c"))
    shuffled = NamedGraph(Graph(3, [(0, 2), (1, 2)]), ("c", "a", "b"))
    assert align(shuffled, truth) == (path(3), path(3))
    with pytest.raises(UnknownNameError, match="only the learned graph has 'd'"):
        align(NamedGraph(path(3), ("a", "b", "d")), truth)
    with pytest.raises(UnknownNameError, match="only the true graph has 'b' and 1 more"):
        align(NamedGraph(Graph(1), ("a",)), truth)


@pytest.mark.parametrize(
    ("ask", "message"),
    [
        (lambda: hamming(path(3), path(4)), "learned and truth must be over the same variables; got 3 and 4"),
        (lambda: f1(path(3), path(4)), "same variables"),
        (lambda: compare_edges(path(3), path(3), positives="pairs"), "positives must be 'edges'"),  # type: ignore[arg-type]
        (lambda: ev_scores(path(3), path(4)), "same variables"),
        (lambda: ev_scores(path(3), path(3), ["5C"]), "kind of subgraph '5C' does not exist"),
        (lambda: success_rate([], path(3)), "learned must hold at least one graph"),
        (lambda: success_rate([path(3)], [path(3), path(3)]), "got 1 and 2"),
        (lambda: success_rate([path(3)], path(4)), "same variables"),
        (lambda: score_gap(EdgesWanted(), path(3), path(4)), "same variables"),
        (lambda: sample_triplets(1, 5, seed=1), "n_variables must be a whole number, at least 2; got 1"),
        (lambda: sample_triplets(5, 0, seed=1), "n_triplets must be a whole number, at least 1; got 0"),
        (lambda: sample_triplets(5, 5, sizes="odd", seed=1), "sizes must be 'even' or 'all'"),  # type: ignore[arg-type]
        (lambda: independence_accuracy(path(3), SeparationOracle(path(4)), seed=1), "graph and test must be over"),
    ],
)
def test_bad_input_is_refused_by_name(ask: Callable[[], object], message: str) -> None:
    with pytest.raises(InputError, match=message):
        ask()


def test_the_weight_of_a_trace_is_the_cost_that_learners_report() -> None:
    judge = SeparationOracle(random_graph(12, 3, seed=4))
    for learner in (GSMNStar(keep_trace=True), GSIMN(keep_trace=True)):
        found = learner.learn(judge)
        assert found.trace is not None
        assert weighted_tests(found.trace) == found.cost["weighted"]


def test_measures_on_data_from_end_to_end() -> None:
    """Learn from a third of the rows, judge by all of them; and weigh a climb against the exhaustive optimum."""
    drawn = sample(with_log_odds(path(5), 2.0, seed=1), 3000, seed=2)
    third, everything = Counts(Dataset.from_codes(drawn.codes[::3])), Counts(drawn.dataset())
    learned = GSMNStar().learn(ChiSquare(third, alpha=0.01)).graph
    found = independence_accuracy(learned, ChiSquare(everything, alpha=0.01), n_triplets=400, seed=3)
    assert found.n_triplets == 400
    assert found.agreement > independence_accuracy(Graph(5), ChiSquare(everything), n_triplets=400, seed=3).agreement
    score = MPL(third)
    optimum = Exhaustive().learn(score).graph
    assert score_gap(score, TwoPhase().learn(score).graph, optimum) >= 0.0
    assert score_gap(score, Graph(5), optimum) == pytest.approx(score(optimum) - score(Graph(5)))
