"""The bench of learners: what it measures, how it ends, its run file, its tables and its chart."""

from __future__ import annotations

import time
import xml.etree.ElementTree as ET
from math import inf, isnan
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mnlearn.data import Dataset
from mnlearn.distributions.gaussian import continuous_dataset
from mnlearn.errors import InputError, UnknownNameError
from mnlearn.graphs import Graph, path
from mnlearn_papers import peers
from mnlearn_papers.experiment import Case
from mnlearn_papers.learners import Bench, DataSet, Learner, Timing, as_frame, recorded_times
from mnlearn_papers.learners_page import draw_times, figures
from mnlearn_papers.named import FrameMethod, learner_bench
from mnlearn_papers.page import fill_page


def chain(n_rows: int, rng: np.random.Generator) -> Case:
    codes = np.cumsum(rng.random((n_rows, 4)) < 0.2, axis=1) % 2
    return Case(Dataset.from_codes(codes), path(4))


def long_chain(n_rows: int, rng: np.random.Generator) -> Case:
    codes = np.cumsum(rng.random((n_rows, 6)) < 0.2, axis=1) % 2
    return Case(Dataset.from_codes(codes), path(6))


def nothing(frame: Any) -> Graph:
    return Graph(len(frame.columns))


def endless(frame: Any) -> Graph:
    time.sleep(600)
    return Graph(len(frame.columns))


def broken(frame: Any) -> Graph:
    raise ValueError("no\nrows")


SETS = [DataSet("chain", 6, long_chain), DataSet("chain", 4, chain)]


def test_slow_and_broken_learners_do_not_stop_the_others(tmp_path: Path) -> None:
    learners: dict[str, Learner] = {"endless": endless, "broken": broken, "nothing": nothing, "mpl": FrameMethod("mpl")}
    bench = Bench(SETS, learners, {}, n_rows=500, limit=3.0)
    journal = tmp_path / "learners.jsonl"
    lines = bench.run(journal=journal)
    outcomes = {(line.data, line.learner): line.outcome for line in lines}
    assert outcomes["chain n=4", "endless"] == "stopped"
    assert outcomes["chain n=6", "endless"] == "left out"  # the larger one came first in the list
    assert outcomes["chain n=4", "broken"] == outcomes["chain n=6", "broken"] == "failed: ValueError: no rows"
    found = {(line.data, line.learner): line.hamming for line in lines}
    assert found["chain n=4", "nothing"] == 3
    assert found["chain n=6", "nothing"] == 5
    assert found["chain n=4", "mpl"] == 0
    assert all(line.seconds < 60 if line.outcome == "ended" else line.seconds == inf for line in lines)
    assert recorded_times(journal) == lines
    idle: dict[str, Learner] = dict.fromkeys(learners, broken)
    assert Bench(SETS, idle, {}, n_rows=500, limit=3.0).run(journal=journal) == lines


def test_settings_and_names_are_checked() -> None:
    with pytest.raises(InputError, match="limit must be a number of seconds above 0; got nan"):
        Bench(SETS, {}, {}, limit=float("nan"))
    with pytest.raises(InputError, match="n_rows must be a whole number, at least 2"):
        Bench(SETS, {}, {}, n_rows=1)
    bench = Bench(SETS, {"nothing": nothing}, {"other": nothing})
    with pytest.raises(UnknownNameError, match=r"kind 'chains' does not exist\. Did you mean 'chain'"):
        bench.only(["chains"], [])
    with pytest.raises(UnknownNameError, match="learner 'nothin' does not exist"):
        bench.only([], ["nothin"])
    assert bench.only([], ["other"]).discrete == {}


def test_packages_that_are_missing_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(peers, "find_spec", lambda _: None)
    bench, missing = learner_bench()
    assert set(missing) == {"pyagrum", "pgmpy", "causal-learn", "scikit-learn"}
    assert set(bench.discrete) == {"sep", "mpl", "pc", "gsmn*", "gsimn", "hhc-mn", "aracne"}
    assert set(bench.continuous) == {"sep", "glasso", "lasso", "pc"}


@pytest.mark.parametrize("name", list(peers.DISCRETE))
def test_peers_find_a_chain(name: str) -> None:
    peer = peers.DISCRETE[name]
    pytest.importorskip(peer.module)
    case = chain(2000, np.random.default_rng(2))
    assert peer(as_frame(case.data)) == case.truth


@pytest.mark.parametrize("name", list(peers.CONTINUOUS))
def test_continuous_peers_find_the_edges_of_a_chain(name: str) -> None:
    peer = peers.CONTINUOUS[name]
    pytest.importorskip(peer.module)
    steps = np.random.default_rng(1).normal(size=(500, 4))
    values = np.column_stack([steps[:, 0], *(steps[:, k] + steps[:, k - 1] for k in range(1, 4))])
    frame = as_frame(continuous_dataset(values))
    assert set(path(4).edges) <= set(peer(frame).edges)


LINES = [
    Timing("binary", 64, 2000, 90, "pc", 0.01234, 1, 2, "ended"),
    Timing("binary", 256, 2000, 380, "pc", 0.2, 3, 4, "ended"),
    Timing("binary", 64, 2000, 90, "pyagrum-pc", 1.5, 0, 7, "ended"),
    Timing("binary", 256, 2000, 380, "pyagrum-pc", inf, None, None, "left out"),
    Timing("example", 12, 2000, 12, "pgmpy-hc", inf, None, None, "failed: ValueError: no"),
]


def test_a_page_shows_times_errors_and_what_did_not_end() -> None:
    marks = "<!-- table learners\nlines: source = data\nquantity: {}\ncell: {}\n-->\n<!-- end -->\n"
    seconds = fill_page(marks.format("seconds", "seconds 2"), lambda _: figures(LINES)).text
    assert "| data | pc | pyagrum-pc | pgmpy-hc |" in seconds
    assert "| binary n=64 | 0.012 | 1.5 |  |" in seconds
    assert "| binary n=256 | 0.2 | — |  |" in seconds
    assert "| example n=12 |  |  | failed |" in seconds
    errors = fill_page(marks.format("errors", "mean 0"), lambda _: figures(LINES)).text
    assert "| binary n=64 | 3 | 7 |" in errors
    assert "| binary n=256 | 7 |  |" in errors
    assert isnan(figures(LINES)[-1].ours)


def test_the_chart_has_a_line_for_each_learner() -> None:
    svg = draw_times(LINES)
    root = ET.fromstring(svg)
    lines = root.findall(".//{http://www.w3.org/2000/svg}polyline")
    assert len(lines) == 2
    assert ["stroke-dasharray" in line.attrib for line in lines] == [False, True]
    texts = [text.text for text in root.iter("{http://www.w3.org/2000/svg}text")]
    assert {"binary", "pc", "pyagrum-pc", "256", "0.01 s"} <= set(texts)
    assert "example" not in texts  # one size makes no line
