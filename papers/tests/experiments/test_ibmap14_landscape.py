"""The landscape of the IB-score in small: its numbers are those of the graphs, one by one."""

from __future__ import annotations

import numpy as np
import pytest

from mnlearn.algorithms.exhaustive import Exhaustive
from mnlearn.algorithms.ibmap import IBMAPHC
from mnlearn.graphs import random_graph
from mnlearn.independence import BayesianTest
from mnlearn.scores import IBScore
from mnlearn.simulate import sample, with_log_odds
from mnlearn.statistics import Counts
from mnlearn_papers import ibmap14 as paper
from mnlearn_papers.landscape import sample_landscape
from mnlearn_papers.reproduction import Request


def test_the_numbers_are_those_of_the_search_and_of_the_best_graph() -> None:
    found = paper.Surface(2)(300, np.random.default_rng(3))
    rng = np.random.default_rng(3)
    truth = random_graph(6, 2, rng)
    score = IBScore(BayesianTest(Counts(sample(with_log_odds(truth, 1.0, rng), 300, rng).dataset())))
    best, climbed = Exhaustive().learn(score).graph, IBMAPHC().learn(score).graph
    assert found["gap"].value == pytest.approx(score(best) - score(climbed), abs=1e-9)
    assert found["reached"].value == float(best == climbed)
    assert found["error of the best"].value == len(set(best.edges) ^ set(truth.edges))
    assert found["error of ibmap-hc"].value == len(set(climbed.edges) ^ set(truth.edges))
    assert -1 < found["correlation"].value < 0


def test_the_landscape_at_its_smallest() -> None:
    request = Request(sizes=(50, 3200), sources=("tau=1",), repetitions=4)
    found = {(line.n_rows, line.learner): line.ours for line in paper.LANDSCAPE.measure(request)}
    assert set(found) == {(n, name) for n in (50, 3200) for name in paper.LANDSCAPE_NUMBERS}
    assert found[3200, "correlation"] < min(-0.2, found[50, "correlation"])
    assert found[3200, "error of the best"] < 1 < found[50, "error of the best"]
    assert found[3200, "reached"] == 1.0


def test_the_numbers_of_a_sample_are_those_of_its_graphs() -> None:
    found = paper.SampledSurface(9, 2)(400, np.random.default_rng(3))
    rng = np.random.default_rng(3)
    truth = random_graph(9, 2, rng)
    score = IBScore(BayesianTest(Counts(sample(with_log_odds(truth, 1.0, rng), 400, rng).dataset())))
    climbed = IBMAPHC().learn(score).graph
    seen = sample_landscape(score, truth, rng, per_distance=16)
    highest = max(seen.scores.max(), score(climbed))
    assert found["surpassed"].value == float(highest > score(climbed) + 1e-6)
    assert found["truth ahead"].value == float(score(truth) > score(climbed) + 1e-6)
    assert found["error of ibmap-hc"].value == len(set(climbed.edges) ^ set(truth.edges))
    assert found["correlation"].value == pytest.approx(seen.correlation())
    near = seen.distances <= 3  # of 36
    correlation = np.corrcoef(seen.distances[near], seen.scores[near])[0, 1]
    assert found["nearby"].value == pytest.approx(correlation)


def test_a_sampled_landscape_at_its_smallest() -> None:
    request = Request(sizes=(200, 3200), sources=("n=6 tau=1", "n=12 tau=1"), repetitions=2)
    found = {(line.source, line.n_rows, line.learner): line.ours for line in paper.SAMPLED_LANDSCAPE.measure(request)}
    assert len(found) == 2 * 2 * len(paper.SAMPLED_NUMBERS)
    for source in request.sources:
        assert found[source, 3200, "error of ibmap-hc"] <= 1
        assert found[source, 3200, "nearby"] < 0
