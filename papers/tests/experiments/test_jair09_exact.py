"""Figures 6 and 7 of [JAIR09], in small."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mnlearn.algorithms.gsimn import GSIMN
from mnlearn.algorithms.gsmn import GSMNStar
from mnlearn.errors import InputError, UnknownNameError
from mnlearn.evaluation.metrics import weighted_tests
from mnlearn.graphs import random_graph
from mnlearn.independence import SeparationOracle
from mnlearn_papers.experiment import generator_of
from mnlearn_papers.jair09 import FIGURE_6, FIGURE_7, ForwardChaining, WeightedRatios
from mnlearn_papers.reproduction import Request


def test_a_ratio_is_that_of_the_tests_in_the_traces() -> None:
    request = Request(sizes=(12,), sources=("degree=2",), repetitions=1)
    lines = {line.learner: line for line in FIGURE_6.measure(request)}
    graph = random_graph(12, 2, generator_of("gsimn-figure6", "degree=2", 12, 0))
    oracle = SeparationOracle(graph)
    gsimn = weighted_tests(GSIMN(skip_marginal=False, keep_trace=True).learn(oracle).trace or ())
    for name, propagation in (("with-propagation", True), ("without-propagation", False)):
        star = GSMNStar(skip_marginal=False, propagation=propagation, keep_trace=True).learn(oracle)
        assert lines[name].ours == pytest.approx(gsimn / weighted_tests(star.trace or ()))


@pytest.mark.slow
def test_dense_networks_save_more_the_larger_they_are() -> None:
    lines = {
        (line.n_rows, line.learner): line.ours
        for line in FIGURE_6.measure(Request(sizes=(20, 45), sources=("degree=8",), repetitions=2))
    }
    for name, published in (("with-propagation", 0.60), ("without-propagation", 0.25)):
        assert lines[45, name] == pytest.approx(published, abs=0.08)  # published for many variables
        assert lines[45, name] < lines[20, name]
        assert lines[45, name] == pytest.approx(lines[45, f"{name} line 22"], abs=0.02)  # hardly anyone stands alone


@pytest.mark.slow
def test_forward_chaining_asks_no_more_and_hardly_less() -> None:
    lines = FIGURE_7.measure(Request(sizes=(2, 6, 9), repetitions=3))
    assert {(m.source, m.n_rows) for m in lines} == {
        ("degree=1", 2), ("degree=1", 6), ("degree=1", 9), ("degree=2", 6), ("degree=2", 9),
        ("degree=4", 6), ("degree=4", 9), ("degree=8", 9),
    }  # fmt: skip
    assert all(0.75 < m.ours <= 1 for m in lines)
    assert any(m.ours < 1 for m in lines)
    complete = [m.ours for m in lines if (m.source, m.n_rows) in (("degree=1", 2), ("degree=8", 9))]
    assert complete == [1.0] * 4  # complete graphs: nothing to infer but by both alike


def test_where_there_are_fewer_pairs_than_edges_there_is_no_figure() -> None:
    assert WeightedRatios(8)(8, np.random.default_rng(1)) == {}
    assert ForwardChaining(1)(1, np.random.default_rng(1)) == {}


def test_a_stopped_run_continues_and_processes_change_nothing(tmp_path: Path) -> None:
    small: dict[str, Any] = {"sizes": (6, 10, 6), "sources": ("degree=2", "degree=1"), "methods": ("with-propagation",)}
    first = FIGURE_6.measure(Request(**small, repetitions=1, out=tmp_path))
    before = (tmp_path / "gsimn-figure6.jsonl").read_text()
    second = FIGURE_6.measure(Request(**small, repetitions=3, out=tmp_path, n_jobs=2))
    assert (tmp_path / "gsimn-figure6.jsonl").read_text().startswith(before)
    fresh = FIGURE_6.measure(Request(**small, repetitions=3))
    assert [line[:8] for line in second] == [line[:8] for line in fresh]
    assert [line[:3] for line in first] == [line[:3] for line in fresh]
    assert [line.n for line in fresh] == [3] * 4
    rows = (tmp_path / "gsimn-figure6.runs.csv").read_text().splitlines()
    assert rows[0] == "source,size,repetition,learner,value,seconds"
    assert len(rows) == 1 + 2 * 2 * 3 * 4


def test_a_monitor_may_stop() -> None:
    class Stop:
        said = 0.0

        def progress(self, done: float, total: float | None, message: str = "") -> None:  # noqa: ARG002
            self.said = done

        def cancelled(self) -> bool:
            return self.said >= 2

    lines = FIGURE_6.measure(Request(sizes=(6,), sources=("degree=1",), repetitions=5, monitor=Stop()))
    assert {line.n for line in lines} == {2}


def test_bad_requests_are_refused() -> None:
    with pytest.raises(UnknownNameError, match="source 'degree=3' does not exist"):
        FIGURE_6.measure(Request(sources=("degree=3",)))
    with pytest.raises(UnknownNameError, match="method 'gsimm' does not exist"):
        FIGURE_7.measure(Request(methods=("gsimm",)))
    with pytest.raises(InputError, match="repetitions must be a whole number, at least 1; got 0"):
        FIGURE_7.measure(Request(repetitions=0))
    with pytest.raises(InputError, match="sizes must be a whole number, at least 1; got 0"):
        FIGURE_7.measure(Request(sizes=(0,)))
