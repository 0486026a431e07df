"""Table 1 of [MBS09], in small."""

from __future__ import annotations

import numpy as np
import pytest

from mnlearn.algorithms.aracne import ARACNE
from mnlearn.algorithms.mbs import MBS
from mnlearn.evaluation import ev_scores
from mnlearn.experiments import mbs09
from mnlearn.experiments.catalogue import REPRODUCTIONS
from mnlearn.experiments.experiment import generator_of
from mnlearn.experiments.measured import Measurement
from mnlearn.experiments.reproduction import Comparison, Key, Request
from mnlearn.graphs import Graph
from mnlearn.independence.information import GaussianInformation
from mnlearn.scores import Entropy
from mnlearn.simulate.expression import random_expression_network
from mnlearn.statistics import Moments


def test_published_figures_are_those_of_the_paper() -> None:
    assert isinstance(mbs09.TABLE_1.measure, Measurement)
    figures = mbs09.TABLE_1.measure.published
    assert len(figures) == 16 * 5 * 2 * 2  # lines; learners; as they are and logarithms; sizes
    assert figures[Key("G50", 100, "mbs E SPN")].mean == 0.55
    assert figures[Key("G50 log", 400, "lasso V 1N")].mean == 0.231
    assert figures[Key("ECOLI1", 100, "l1mb-or E 2N")].mean == 0.724
    assert figures[Key("ECOLI1", 400, "aracne V 2N")].mean == 0.622
    assert REPRODUCTIONS["mbs-table1"] is mbs09.TABLE_1


def test_the_truth_joins_regulators_of_a_gene_and_a_forest_stays_one() -> None:
    network = random_expression_network(30, 4, most_regulators=3)
    truth, n = mbs09.markov_network(network), 30
    plain = set(network.graph(proteins=True).edges)
    together = {(n + j, n + k) for js in network.regulators for j in js for k in js if j < k}
    assert set(truth.edges) == plain | together
    assert together
    forest = random_expression_network(30, 4, most_regulators=1)
    assert mbs09.markov_network(forest) == forest.graph(proteins=True)


def test_the_best_graph_of_each_setting_counts_then_the_mean_of_the_settings() -> None:
    truth = Graph(4, [(0, 1), (1, 2), (2, 3), (0, 2)])
    near, far = truth.remove([(2, 3)]), Graph.empty(4)
    found = mbs09.mean_of_settings([[far, near, truth], [far, near], [far]], truth)
    by_hand = [ev_scores(graph, truth)["1N"].v or 0.0 for graph in (truth, near, far)]
    assert found["V 1N"] == pytest.approx(sum(by_hand) / 3)
    assert "E 4C" not in found


@pytest.fixture(scope="module")
def lines() -> list[Comparison]:
    """One data set of a network of six genes, by the machinery of the table, k_max up to 3."""
    small = Measurement(
        name="mbs-small",
        trials=lambda _data: {"G6": mbs09.Expression(6, 2, logarithms=True)},
        learners=tuple(f"{name} {score} 1N" for name in mbs09.LEARNERS for score in "EV"),
        sizes=(60,),
        repetitions=1,
        published={},
    )
    with pytest.MonkeyPatch.context() as patch:  # blankets of nearly all variables take their time
        patch.setattr(mbs09, "LARGEST_K", 3)
        return small(Request())


def test_figures_are_what_they_say(lines: list[Comparison]) -> None:
    rng = generator_of("mbs-small", "G6", 60, 0)
    network = random_expression_network(6, rng, most_regulators=2)
    moments = Moments.from_covariance(np.cov(np.log(network.sample(60, rng, proteins=True)).T, bias=True), 60)
    truth, found = mbs09.markov_network(network), {line.learner: line.ours for line in lines}
    by_tolerance = [
        ev_scores(ARACNE(tolerance=d).learn(GaussianInformation(moments)).graph, truth)["1N"].v or 0.0
        for d in (0, 0.3, 0.5, 0.7)
    ]
    assert found["aracne V 1N"] == pytest.approx(np.mean(by_tolerance))

    chosen = []
    for weight in (1e-5, 3e-5, 5e-5, 7e-5):
        tried = [ev_scores(MBS(k_max=k, regularization=weight).learn(Entropy(moments)).graph, truth) for k in (1, 2, 3)]
        quality = [np.mean([x for s in scores.values() for x in (s.e, s.v) if x is not None]) for scores in tried]
        chosen.append(tried[int(np.argmax(quality))]["1N"].e or 0.0)
    assert found["mbs E 1N"] == pytest.approx(np.mean(chosen))


def test_every_learner_finds_something(lines: list[Comparison]) -> None:
    assert len(lines) == 2 * len(mbs09.LEARNERS)
    assert all(0.2 < line.ours <= 1 for line in lines)


def test_the_larger_networks_of_the_table_can_be_asked_for() -> None:
    assert isinstance(mbs09.TABLE_1.measure, Measurement)
    trials = mbs09.TABLE_1.measure.trials(None)
    assert list(trials) == ["G50", "G50 log", "ECOLI1", "ECOLI1 log"]
    assert trials["ECOLI1"] == mbs09.Expression(94, 1, logarithms=False)
