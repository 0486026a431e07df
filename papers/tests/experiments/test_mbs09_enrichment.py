"""Section 3.3 of [MBS09], in small."""

from __future__ import annotations

import sys
from math import isnan

import numpy as np
import pytest

from mnlearn.distributions.gaussian import sparse_gaussian
from mnlearn.graphs import Graph
from mnlearn.statistics import Moments
from mnlearn_papers import mbs09_learners as study
from mnlearn_papers.catalogue import REPRODUCTIONS
from mnlearn_papers.enrichment import better_terms, enrichment
from mnlearn_papers.measured import Measurement
from mnlearn_papers.reproduction import Request


def test_modules_fill_all_variables_and_hold_most_edges() -> None:
    modules, truth = study.planted_modules(300, np.random.default_rng(1))
    assert [x for module in modules for x in module] == list(range(300))
    assert all(8 <= len(module) <= 67 for module in modules)
    inside = sum(any(u in module and v in module for module in modules) for u, v in truth.edges)
    assert 0.85 < inside / truth.n_edges < 1


def test_terms_are_planted_at_three_widths_and_matched_by_random_ones() -> None:
    modules, truth = study.planted_modules(300, np.random.default_rng(1))
    terms = study.annotation(modules, truth, np.random.default_rng(2))
    assert sum(name.startswith("part") for name in terms) == 50
    planted = [name for name in terms if not name.startswith("random")]
    assert [len(terms[name]) for name in planted] == [len(terms[f"random {k}"]) for k in range(len(planted))]
    own = [len(set(terms[f"module {k}"]) & set(module)) / len(module) for k, module in enumerate(modules)]
    assert 0.6 < np.mean(own) < 0.85
    assert set(terms["united 0"]) & set(modules[1])


def test_discoveries_are_those_of_benjamini_and_hochberg() -> None:
    p = np.array([[0.04, 0.001], [0.03, 0.5]])
    assert study.discovery_threshold(p, 0.05) == 0.001
    assert study.discovery_threshold(p, 0.06) == 0.04
    assert study.discovery_threshold(np.ones(3), 0.05) == -1.0


def test_figures_are_what_they_say() -> None:
    rng = np.random.default_rng(3)
    found = {name: measured.value for name, measured in study.Modules(120)(150, np.random.default_rng(3)).items()}
    modules, truth = study.planted_modules(120, rng)
    terms = study.annotation(modules, truth, rng)
    rows = sparse_gaussian(truth, rng).sample(150, rng)
    moments = Moments.from_covariance(np.cov(rows.T, bias=True), 150)
    graphs = {name: learn(moments) for name, learn in study.NETWORK_LEARNERS.items()}
    planted = {name: members for name, members in terms.items() if not name.startswith("random")}
    tested = {name: enrichment(graph, planted) for name, graph in graphs.items()}
    for name, graph in graphs.items():
        assert found[f"{name} edges"] == graph.n_edges
        assert found[f"{name} sensitivity 1e-4"] == tested[name].sensitivity(1e-4)
        assert found[f"{name} found"] > found[f"{name} false"]
    assert (found["aracne worse"], found["aracne better"]) == better_terms(tested["mbs"], tested["aracne"])
    assert found["all MiB"] > 10 or isnan(found["all MiB"])


def test_nothing_is_found_in_an_empty_network() -> None:
    modules, truth = study.planted_modules(60, np.random.default_rng(1))
    terms = study.annotation(modules, truth, np.random.default_rng(2))
    measures = study._measures(enrichment(Graph.empty(60), terms))
    assert measures["sensitivity 1e-3"] == measures["found"] == measures["false"] == 0
    assert isnan(measures["locality 1e-3"])


def test_the_experiment_runs_by_its_name() -> None:
    assert isinstance(study.ENRICHMENT.measure, Measurement)
    assert REPRODUCTIONS["mbs-enrichment"] is study.ENRICHMENT
    assert study.ENRICHMENT.measure.trials(None) == {"modules": study.Modules(1808)}
    small = Measurement(
        name="mbs-enrichment-small",
        trials=lambda _data: {"modules": study.Modules(60)},
        learners=study.ENRICHMENT.measure.learners,
        sizes=(80,),
        repetitions=1,
    )
    lines = {line.learner: line.ours for line in small(Request())}
    assert 0 < lines["mbs recall"] <= 1
    assert "mbs worse" not in lines


def test_macos_counts_memory_in_bytes(monkeypatch: pytest.MonkeyPatch) -> None:
    here = study._peak()
    monkeypatch.setattr(sys, "platform", "darwin")
    assert study._peak() == pytest.approx(here / 1024, rel=0.5)
