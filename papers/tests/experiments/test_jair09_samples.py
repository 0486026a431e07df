"""Figures 8 to 13 of [JAIR09], in small."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from mnlearn.algorithms.gsimn import GSIMN
from mnlearn.algorithms.gsmn import GSMNStar
from mnlearn.errors import FileError
from mnlearn.evaluation.metrics import normalized_hamming, weighted_tests
from mnlearn.independence import ChiSquare
from mnlearn.statistics import Counts
from mnlearn_papers import jair09 as samples
from mnlearn_papers.experiment import RandomNetwork, generator_of
from mnlearn_papers.jair09 import LINE_22
from mnlearn_papers.reproduction import Request
from networks import DATA, needs_data

SPARSE = "n=50 degree=1 odds=1.5"


def test_numbers_are_those_of_the_learned_graph_and_its_trace() -> None:
    request = Request(sizes=(500,), sources=(SPARSE,), repetitions=1)
    (distance,) = [m for m in samples.FIGURES_8_9.measure(request) if m.learner == "gsimn distance"]
    (tests,) = [m for m in samples.FIGURES_10_11.measure(request) if m.learner == "gsimn tests"]
    case = RandomNetwork(50, 1, 1.5)(500, generator_of("gsimn-samples", SPARSE, 500, 0))
    result = GSIMN(skip_marginal=False, keep_trace=True).learn(ChiSquare(Counts(case.data), alpha=0.05, dof="adjusted"))
    assert distance.ours == normalized_hamming(result.graph, case.truth)
    assert tests.ours == weighted_tests(result.trace or ())
    assert (case.truth.n_edges, case.data.n_rows) == (25, 500)


def test_both_figures_come_from_the_same_trials(tmp_path: Path) -> None:
    request = Request(sizes=(300,), sources=(SPARSE,), repetitions=1, out=tmp_path)
    distances = samples.FIGURES_8_9.measure(request)
    before = (tmp_path / "gsimn-samples.jsonl").read_text()
    tests = samples.FIGURES_10_11.measure(request)
    assert (len(distances), len(tests)) == (2 * 6, 2 * 11)
    found = {line.learner: line.ours for line in [*distances, *tests]}
    for suffix in ("", ", observed"):
        gsimn, star = (found[f"{name} distance{suffix}"] for name in ("gsimn-line22", "gsmn*"))
        assert found[f"difference distance{suffix}"] == pytest.approx(gsimn - star)
        gsimn, star = (found[f"{name} tests{suffix}"] for name in ("gsimn-line22", "gsmn*"))
        assert found[f"ratio tests{suffix}"] == pytest.approx(gsimn / star)
    assert (tmp_path / "gsimn-samples.jsonl").read_text() == before


def test_sparse_networks_are_learned_with_fewer_tests_and_no_more_errors() -> None:
    request = Request(sizes=(4000,), sources=(SPARSE,), repetitions=2)
    trials = {m.learner: m.ours for figure in (samples.FIGURES_8_9, samples.FIGURES_10_11)
              for m in figure.measure(request)}  # fmt: skip
    assert trials["gsimn-line22 tests"] < 0.5 * trials["gsmn* tests"] < trials["gsmn*-without-propagation tests"]
    assert trials["gsimn-line22 distance"] <= trials["gsmn* distance"] + 0.01 < 0.1


def test_every_setting_of_the_paper_is_there() -> None:
    sources = samples._random_networks(None)
    assert len(sources) == 2 * 2 * 4 * 3
    assert {source.removesuffix(" uniform") for source in sources} == set(sources) - {f"{s} uniform" for s in sources}
    case = RandomNetwork(75, 8, 2)(20, np.random.default_rng(1))
    assert (case.truth.n_edges, case.data.cards) == (300, (2,) * 75)


def test_the_law_of_the_parameters_decides_whether_inference_costs_accuracy() -> None:
    dense = "n=50 degree=4 odds=1"
    request = Request(sizes=(8000,), sources=(dense, f"{dense} uniform"), repetitions=2)
    lines = {(m.source, m.learner): m.ours for m in samples.FIGURES_8_9.measure(request)}
    assert lines[dense, "difference distance, observed"] > 0.02
    assert abs(lines[f"{dense} uniform", "difference distance, observed"]) < 0.02


@needs_data
def test_moral_networks() -> None:
    request = Request(sizes=(500,), sources=("Insurance",), repetitions=1, data=DATA)
    tests = {line.learner: line.ours for line in samples.FIGURE_13.measure(request)}
    assert tests["gsimn-line22 tests"] < tests["gsmn* tests"] < tests["gsmn*-without-propagation tests"]
    assert all(line.ours < 0.3 for line in samples.FIGURE_12.measure(request))


def test_without_data_the_error_says_where_to_put_them(tmp_path: Path) -> None:
    with pytest.raises(FileError, match=r"data must be the folder that holds networks/\*\.bif; got none"):
        samples.FIGURE_12.measure(Request())
    with pytest.raises(FileError, match=r"networks/hailfinder\.bif; .* does not"):
        samples.FIGURE_13.measure(Request(data=tmp_path))


def test_with_line_22_in_both_learners_only_inference_is_compared() -> None:
    request = Request(sizes=(300,), sources=("degree=1", "degree=1 uniform"), repetitions=1)
    found = {(line.source, line.learner): line.ours for line in LINE_22.measure(request)}
    case = RandomNetwork(75, 1, 1)(300, generator_of("gsimn-line22", "degree=1", 300, 0))
    gsimn, star = (
        learner.learn(ChiSquare(Counts(case.data), alpha=0.05, dof="observed")) for learner in (GSIMN(), GSMNStar())
    )
    assert found["degree=1", "tests"] == pytest.approx(gsimn.cost["weighted"] / star.cost["weighted"])
    distance = normalized_hamming(gsimn.graph, case.truth) - normalized_hamming(star.graph, case.truth)
    assert found["degree=1", "distance"] == pytest.approx(distance)
    assert len(found) == 4
