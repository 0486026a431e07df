"""Tables 1, 2 and 3 of [MBS09], in small."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from math import nan, sqrt
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest
from scipy.stats import ttest_1samp, ttest_ind

from mnlearn.algorithms.aracne import ARACNE
from mnlearn.algorithms.mbs import MBS
from mnlearn.errors import UnknownNameError
from mnlearn.evaluation import ev_scores
from mnlearn.evaluation.subgraphs import SubgraphScorer
from mnlearn.graphs import Graph
from mnlearn.independence.information import GaussianInformation
from mnlearn.scores import Entropy
from mnlearn.statistics import Moments
from mnlearn_papers import mbs09, mbs09_learners
from mnlearn_papers.catalogue import REPRODUCTIONS
from mnlearn_papers.experiment import generator_of
from mnlearn_papers.expression import random_expression_network
from mnlearn_papers.journal import read_records
from mnlearn_papers.mbs09 import RIVALS
from mnlearn_papers.measured import Measurement
from mnlearn_papers.reproduction import Comparison, Key, Published, Request


def test_published_figures_are_those_of_the_paper() -> None:
    assert isinstance(mbs09.TABLE_1.measure, Measurement)
    figures = mbs09.TABLE_1.measure.published
    assert len(figures) == (16 + 4) * 9 * 3 * 2  # lines and means; learners; ways to draw a network; sizes
    assert figures[Key("G50", 100, "mbs mean E")].mean == pytest.approx(0.649)
    assert figures[Key("G50", 100, "mbs E SPN")].mean == 0.55
    assert figures[Key("G50 log", 400, "gglas V 1N")] == figures[Key("G50 log", 400, "lasso V 1N")]
    assert figures[Key("G50 log", 400, "gglas V 1N")].mean == 0.231
    assert figures[Key("ECOLI1", 100, "mbor E 2N")].mean == 0.724
    assert figures[Key("ECOLI1", 400, "aracne V 2N")].mean == 0.622
    assert figures[Key("ECOLI1", 400, "order V 2N")].mean == 0.308
    assert not any(key.source.startswith(("G75", "ECOLI2")) for key in figures)
    assert REPRODUCTIONS["mbs-table1"] is mbs09.TABLE_1


def test_published_wins_and_prunings_are_those_of_the_paper() -> None:
    assert isinstance(mbs09.TABLE_2.measure, mbs09.WinsAndLosses)
    counts = mbs09.TABLE_2.measure.published
    assert len(counts) == (4 * 7 - 1) * 2 * 2 * 3 * 2  # cells; losses and wins; two tests; ways to draw; sizes
    assert counts[Key("G50", 100, "aracne losses")].mean == 3
    assert counts[Key("G75 log", 400, "mbor wins by settings")].mean == 10
    assert counts[Key("ECOLI1", 100, "gglas wins")].mean == 2
    assert Key("ECOLI2", 100, "gglas wins") not in counts
    assert isinstance(mbs09.TABLE_3.measure, Measurement)
    figures = mbs09.TABLE_3.measure.published
    assert figures[Key("G50", 100, "spcand E SPN")].mean == 0.48
    assert figures[Key("G50 log", 400, "mbs V 1N")].mean == 0.413
    assert figures[Key("G75", 400, "l1mb V 4C")].mean == 0.22
    assert not any(key.source.endswith("AND") for key in figures)
    assert REPRODUCTIONS["mbs-table2"] is mbs09.TABLE_2
    assert REPRODUCTIONS["mbs-table3"] is mbs09.TABLE_3


def test_the_truth_joins_regulators_of_a_gene_and_a_forest_stays_one() -> None:
    network = random_expression_network(30, 4, most_regulators=3)
    truth, n = mbs09.markov_network(network), 30
    plain = set(network.graph(proteins=True).edges)
    together = {(n + j, n + k) for js in network.regulators for j in js for k in js if j < k}
    assert set(truth.edges) == plain | together
    assert together
    forest = random_expression_network(30, 4, most_regulators=1)
    assert mbs09.markov_network(forest) == forest.graph(proteins=True)


def test_the_best_graph_of_each_setting_counts() -> None:
    truth = Graph(4, [(0, 1), (1, 2), (2, 3), (0, 2)])
    near, far = truth.remove([(2, 3)]), Graph.empty(4)
    found = mbs09.scores_by_setting([[far, near, truth], [far, near], [far]], SubgraphScorer(truth))
    by_hand = [ev_scores(graph, truth)["1N"].v or 0.0 for graph in (truth, near, far)]
    assert [scores["V 1N"] for scores in found] == pytest.approx(by_hand)
    assert "E 4C" not in found[0]


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Small]:
    """Two data sets of a network of six genes, by the machinery of the tables, k_max up to 3."""
    trials = {"G6": mbs09.Comparing(mbs09.Genes(6, 2, logarithms=True))}
    leads = [f"lead-{rival} {score}" for rival in RIVALS for score in mbs09.SCORES]
    counts = [f"{rival} {side} by settings" for rival in RIVALS for side in ("losses", "wins")]
    scores = [f"{name} {score} 1N" for name in mbs09_learners.LEARNERS for score in "EV"]
    table = Measurement(
        name="mbs-small", trials=lambda _data: trials, learners=(*scores, *leads, *counts), sizes=(60,), repetitions=2
    )
    with pytest.MonkeyPatch.context() as patch:  # blankets of nearly all variables take their time
        patch.setattr(mbs09_learners, "LARGEST_K", 3)
        folder = tmp_path_factory.mktemp("runs")
        yield Small(table, folder, table(Request(out=folder)))


class Small(NamedTuple):
    table: Measurement
    folder: Path
    lines: list[Comparison]


def test_figures_are_what_they_say(small: Small) -> None:
    rng = generator_of("mbs-small", "G6", 60, 0)
    network = random_expression_network(6, rng, most_regulators=2)
    moments = Moments.from_covariance(np.cov(np.log(network.sample(60, rng, proteins=True)).T, bias=True), 60)
    truth = mbs09.markov_network(network)
    [record] = [r for r in read_records("mbs-small", small.folder / "mbs-small.jsonl", ()) if r["repetition"] == 0]
    found = {name: value for name, (value, _seconds) in record["values"].items()}
    by_tolerance = [
        ev_scores(ARACNE(tolerance=d).learn(GaussianInformation(moments)).graph, truth)["1N"].v or 0.0
        for d in (0, 0.3, 0.5, 0.7)
    ]
    assert found["aracne V 1N"] == pytest.approx(np.mean(by_tolerance))

    chosen = []
    for weight in (1e-5, 3e-5, 5e-5, 7e-5):
        tried = [ev_scores(MBS(k_max=k, regularization=weight).learn(Entropy(moments)).graph, truth) for k in (1, 2, 3)]
        quality = [np.mean([x for s in scores.values() for x in (s.e, s.v) if x is not None]) for scores in tried]
        chosen.append(tried[int(np.argmax(quality))]["1N"])
    assert found["mbs E 1N"] == pytest.approx(np.mean([score.e or 0.0 for score in chosen]))
    kinds = [value for name, value in found.items() if name.startswith("mbs V ")]
    assert found["mbs mean V"] == pytest.approx(np.mean(kinds))
    lead = np.mean([score.v or 0.0 for score in chosen]) - np.mean(by_tolerance)
    assert found["lead-aracne V 1N"] == pytest.approx(lead)


def test_losses_and_wins_are_counted_by_student(small: Small) -> None:
    wins = mbs09.WinsAndLosses(small.table, {Key("G6", 60, "aracne wins"): Published(2.0, nan, 1)})
    counts = {line.learner: line for line in wins.recorded(small.folder)}
    assert list(counts)[:4] == ["aracne losses", "aracne wins", "aracne losses by settings", "aracne wins by settings"]
    assert counts["aracne wins"].published == 2.0
    leads = [line for line in small.lines if line.learner.startswith("lead-order ")]
    sides = [
        ttest_1samp([line.ours - line.sd / sqrt(2), line.ours + line.sd / sqrt(2)], 0) for line in leads if line.sd
    ]
    assert counts["order wins"].ours == sum(side.pvalue <= 0.05 and side.statistic > 0 for side in sides)
    one_rival = wins(Request(out=small.folder, methods=("mbor",)))
    assert [line.learner.split()[0] for line in one_rival] == ["mbor"] * 4
    with pytest.raises(UnknownNameError, match="method"):
        wins(Request(methods=("mbs",)))


def test_settings_are_compared_by_student() -> None:
    truth = Graph(3, [(0, 1), (1, 2)])
    part, none = Graph(3, [(0, 1)]), Graph.empty(3)
    learned = {"mbs": [[truth], [truth], [truth], [part]], "order": [[part], [none], [none], [none]]}
    found = mbs09.measured_scores({name: (graphs, 0.5) for name, graphs in learned.items()}, truth)
    values = [[ev_scores(g, truth)["1N"].e or 0.0 for [g] in learned[name]] for name in ("mbs", "order")]
    assert ttest_ind(*values).pvalue < 0.05
    assert found["order wins by settings"] == (6.0, 0.5)
    assert found["order losses by settings"].value == 0
    same = mbs09.measured_scores({"mbs": ([[truth]] * 4, 0.0), "order": ([[truth]] * 4, 0.0)}, truth)
    assert same["order wins by settings"].value == same["order losses by settings"].value == 0


def test_every_learner_finds_something(small: Small) -> None:
    scores = [
        line for line in small.lines if line.learner.split()[0] in mbs09_learners.LEARNERS and line.learner[-2:] == "1N"
    ]
    assert len(scores) == 2 * len(mbs09_learners.LEARNERS)
    assert all(0.2 < line.ours <= 1 for line in scores)


def test_pruned_searches_stay_within_their_blankets_and_are_scored() -> None:
    genes = mbs09.Genes(8, 2, logarithms=True)
    rng = np.random.default_rng(1)
    moments, _ = genes.draw(80, rng)
    for graphs in mbs09_learners.learn_within_l1mb(moments, rng, combine="and"):
        blankets = mbs09_learners.l1mb_blankets(moments, "and")
        assert all(len(list(graph.edges)) <= 3 * blankets.n_edges for graph in graphs)
    found = mbs09.Pruning(genes, "or", 3)(80, np.random.default_rng(2))
    for learner in ("mbs", "spcand", "l1mb"):
        assert 0.3 < found[f"{learner} E 1N"].value <= 1
    assert "lead-l1mb V 1N" in found


def test_gglas_joins_neighbours_and_a_stronger_prior_joins_fewer() -> None:
    moments, truth = mbs09.Genes(8, 2, logarithms=True).draw(200, np.random.default_rng(3))
    edges = [mbs09_learners.gglas(moments, gamma).n_edges for gamma in (1.0, 100.0, 1000.0, 1e7)]
    assert edges == sorted(edges, reverse=True)
    assert edges[0] > truth.n_edges
    assert edges[-1] == 0


def test_unperturbed_genes_follow_their_regulators() -> None:
    assert isinstance(mbs09.TABLE_1.measure, Measurement)
    trials = mbs09.TABLE_1.measure.trials(None)
    assert list(trials) == [
        *("G50", "G50 log", "G75", "G75 log", "ECOLI1", "ECOLI1 log", "ECOLI2", "ECOLI2 log", "ECOLI2 log noise")
    ]
    assert trials["ECOLI1"] == mbs09.Comparing(mbs09.Genes(94, 1, logarithms=False))
    few = replace(trials["ECOLI2"].genes, n_genes=6)  # type: ignore[attr-defined]
    moments, _ = few.draw(50, np.random.default_rng(1))
    network = random_expression_network(6, np.random.default_rng(1), most_regulators=1)
    still = [x for x in range(6) if not any(x in regulators for regulators in network.regulators)]
    assert still
    assert all(moments.correlation[x, 6 + x] == pytest.approx(1.0, abs=1e-6) for x in still)


def test_the_networks_of_table_3_can_be_asked_for() -> None:
    assert isinstance(mbs09.TABLE_3.measure, Measurement)
    trials = mbs09.TABLE_3.measure.trials(None)
    assert trials["G50 log"] == mbs09.Pruning(mbs09.Genes(50, 3, logarithms=True), "or", 11)
    assert trials["G75 AND"] == mbs09.Pruning(mbs09.Genes(75, 3, logarithms=False), "and", 6)
    assert len(trials) == 8
