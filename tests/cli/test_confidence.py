"""`mnlearn learn --bootstrap`, `mnlearn why` and `mnlearn compare-groups`."""

from __future__ import annotations

import signal
from pathlib import Path
from typing import Any

import pytest

import mnlearn
import mnlearn.learning
from mnlearn.results import Learned


def test_frequencies_are_listed_written_and_in_the_document(run: Any, data: Path, tmp_path: Path) -> None:
    words = ["learn", data, "--method", "mpl", "--bootstrap", "6", "--jobs", "1", "--out", tmp_path / "net.json"]
    done = run(*words)
    assert (done.code, done.err) == (0, "")
    assert "frequency" in done.out
    assert "frequencies of 6 samples (63.2 % of the rows each, seed 0)" in done.out
    document = run(*words, "--json").document()
    back = mnlearn.load(tmp_path / "net.json")
    assert document["frequency"] == [edge.frequency for edge in back.edge_list()]
    other = run(*words, "--bootstrap-seed", "7", "--sampling", "bootstrap", "--json").document()
    assert (other["resampling"]["seed"], other["resampling"]["sampling"]) == (7, "bootstrap")


def test_stability_selection_bounds_the_false_edges(run: Any, data: Path) -> None:
    words = ["learn", data, "--method", "mpl", "--bootstrap", "8", "--sampling", "halves", "--stable", "0.9"]
    done = run(*words, "--jobs", "1")
    assert "edges in at least 90% of them, at most" in done.out
    assert "expected to be false" in done.out


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--stable", "0.9"], "--stable is for --bootstrap; got 0.9 without it"),
        (["--sampling", "halves"], "--sampling is for --bootstrap"),
        (["--bootstrap-seed", "1"], "--bootstrap-seed is for --bootstrap"),
        (["--bootstrap", "1"], "--bootstrap must be a whole number, at least 2; got 1"),
        (["--bootstrap", "5", "--stable", "1.5"], "--stable must be above 0 and at most 1"),
        (["--bootstrap", "5", "--sampling", "jackknife"], "--sampling must be subsamples, bootstrap or halves"),
        (["--bootstrap", "5", "--bootstrap-seed", "-1"], "--bootstrap-seed must not be negative"),
    ],
)
def test_bad_options_are_refused_before_learning(
    run: Any, data: Path, words: list[str], message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(mnlearn.learning, "learn", lambda *_, **__: pytest.fail("learned"))
    assert message in run("learn", data, "--method", "mpl", *words).refusal()


@pytest.mark.usefixtures("default_signals")
def test_ctrl_c_while_resampling_writes_the_network_and_exits_130(
    run: Any, data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = Learned.bootstrap

    def pressed(*args: Any, **options: Any) -> Any:
        signal.raise_signal(signal.SIGINT)
        return real(*args, **options)

    monkeypatch.setattr(Learned, "bootstrap", pressed)
    words = ["learn", data, "--method", "mpl", "--bootstrap", "50", "--jobs", "1", "--out", tmp_path / "net.graphml"]
    done = run(*words)
    assert done.code == 130
    assert "interrupted: the network is complete" in done.err  # only the samples were cut short
    assert mnlearn.read_graph(tmp_path / "net.graphml").graph.n_edges > 0


@pytest.mark.parametrize(
    ("pair", "message"),
    [
        (["stress", "fatige"], "B: column 'fatige' does not exist. Did you mean 'fatigue'"),
        (["stress", "stress"], "A and B must be two different columns; got 'stress' twice"),
    ],
)
def test_a_bad_pair_is_refused_before_learning(
    run: Any, data: Path, pair: list[str], message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(mnlearn.learning, "learn", lambda *_, **__: pytest.fail("learned"))
    assert message in run("why", data, *pair).refusal()


def test_why_refuses_a_saved_result_as_data(run: Any, tmp_path: Path) -> None:
    message = run("why", tmp_path / "net.json", "stress", "fatigue").refusal()
    assert "DATA must be a data file" in message
    assert "--network" in message


@pytest.mark.usefixtures("default_signals")
def test_ctrl_c_while_learning_writes_the_best_so_far(
    run: Any, data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = mnlearn.learning.learn

    def pressed(*args: Any, **options: Any) -> Any:
        signal.raise_signal(signal.SIGINT)
        return real(*args, **options)

    monkeypatch.setattr(mnlearn.learning, "learn", pressed)
    done = run("learn", data, "--bootstrap", "50", "--out", tmp_path / "net.json")
    assert done.code == 130
    back = mnlearn.load(tmp_path / "net.json")
    assert (back.converged, back.resampling) == (False, None)


def test_why_prints_the_evidence(run: Any, data: Path, tmp_path: Path) -> None:
    done = run("why", data, "night_shifts", "fatigue", "--method", "mpl")
    assert (done.code, done.err) == (0, "")
    assert done.out.startswith("night_shifts - fatigue is not an edge by mpl\ngiven nothing: dependent, chi2 ")
    assert "mpl score " in done.out
    document = run("why", data, "night_shifts", "fatigue", "--method", "mpl", "--json").document()
    assert (document["edge"], document["tests"][0]["independent"]) == (False, False)
    run("learn", data, "--method", "mpl", "--out", tmp_path / "net.json")
    again = run("why", data, "night_shifts", "fatigue", "--network", tmp_path / "net.json")
    assert again.out == done.out


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["stres", "fatigue"], "column 'stres' does not exist. Did you mean 'stress'"),
        (["stress", "stress"], "A and B must be two different columns"),
        (["stress", "fatigue", "--network", "none.json"], "there is no none.json"),
        (["stress", "fatigue", "--network", "none.json", "--method", "mpl"], "--network excludes options of learning"),
    ],
)
def test_why_refuses_in_one_line(run: Any, data: Path, words: list[str], message: str) -> None:
    quiet = [] if "--network" in words else ["--method", "gsmn"]
    assert message in run("why", data, *words, *quiet).refusal()


def test_groups_are_compared(run: Any, data: Path, tmp_path: Path) -> None:
    words = ["compare-groups", data, "--by", "stress", "--method", "mpl", "--permutations", "5", "--jobs", "1"]
    done = run(*words)
    assert (done.code, done.err) == (0, "")
    assert done.out.startswith("stress = ")
    assert "edges that only one network has: " in done.out
    document = run(*words, "--group", "yes", "--group", "no", "--correction", "fdr", "--seed", "3", "--json").document()
    assert document["groups"] == ["yes", "no"]
    assert document["permutations"] == {"asked": 5, "done": 5, "seed": 3}
    assert sum(document["rows"]) == 1000
    assert document["adjustment"] is None
    more = ["--adjust", "exercise", "--adjust", "low_mood", "--plot", tmp_path / "groups.svg"]
    adjusted = run(*words, *more, "--json").document()
    assert "higher in stress = no" in (tmp_path / "groups.svg").read_text(encoding="utf-8")
    assert adjusted["adjustment"] == {"covariates": ["exercise", "low_mood"], "strata": 4, "rows": 1000}


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--by", "stres"], "by: column 'stres' does not exist. Did you mean 'stress'"),
        (["--by", "stress", "--group", "yes"], "groups must be 2 to 10 different labels of 'stress'; got 1"),
        (["--by", "stress", "--plot", "groups.txt"], "--plot must end in"),
        (["--by", "stress", "--adjust", "moood"], "adjust: column 'moood' does not exist"),
        (["--by", "stress", "--group", "yes", "--group", "maybe"], "label of 'stress' 'maybe' does not exist"),
        (["--by", "stress", "--permutations", "0"], "permutations must be a whole number, at least 1"),
        (["--by", "stress", "--correction", "x"], "correction 'x' does not exist"),
        ([], "Missing option '--by'"),
    ],
)
def test_groups_refuse_in_one_line(run: Any, data: Path, words: list[str], message: str) -> None:
    refusal = run("compare-groups", data, "--method", "mpl", *words).refusal()
    assert message.lower() in refusal.lower()
