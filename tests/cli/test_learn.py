"""`mnlearn learn` from the command line."""

from __future__ import annotations

import signal
from pathlib import Path
from typing import Any

import pytest

import mnlearn.pipeline
from mnlearn.graphs import read_graph

KEYS = ["method", "variables", "edges", "support", "support_scale", "score", "converged", "cost", "settings"]


@pytest.fixture
def data(run: Any, tmp_path: Path) -> Path:
    run("demo", "--out", tmp_path, "--json")
    return tmp_path / "survey.csv"


def test_it_prints_the_edges_and_the_cost(run: Any, data: Path) -> None:
    done = run("learn", data, "--method", "gsimn", "--alpha", "0.01")
    assert (done.code, done.err) == (0, "")
    assert done.out.startswith("12 edges among 12 variables (1 without an edge), by gsimn\n")
    assert "poor_sleep      fatigue" in done.out
    assert "tests" in done.out


def test_the_document(run: Any, data: Path) -> None:
    document = run(
        "learn", data, "--method", "gsmn*", "--test", "g2", "--set", "propagation=false", "--json"
    ).document()
    assert list(document) == KEYS
    assert len(document["edges"]) == len(document["support"])
    assert document["settings"]["propagation"] is False
    assert document["settings"]["test"] == "g2"
    assert document["cost"]["asked"] > 0


def test_no_method_named_is_said_in_one_line(run: Any, data: Path) -> None:
    assert run("learn", data).err == "note: no method was named: using gsimn with the test chi2\n"


@pytest.mark.parametrize("name", ["net.graphml", "net.edges", "net.json"])
def test_the_graph_is_written(run: Any, data: Path, tmp_path: Path, name: str) -> None:
    document = run("learn", data, "--out", tmp_path / name, "--json").document()
    named = read_graph(tmp_path / name)
    assert sorted((u, v) for u, v, _ in named.named_edges()) == sorted(tuple(edge) for edge in document["edges"])


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--method", "gsim"], "method 'gsim' does not exist. Did you mean 'gsimn'"),
        (["--alpha", "1.5"], "alpha must be between 0 and 1"),
        (["--set", "propagation"], "--set must have the form NAME=VALUE; got 'propagation'"),
        (["--set", "ahead=2", "--set", "ahead=3"], "--set must name each setting once"),
        (["--set", "combine=or"], "combine is no setting of the method gsimn"),
        (["--out", "net.xyz"], "net.xyz"),
        (["--out", "nowhere/net.graphml"], "--out must be in an existing folder"),
        (["--column", "stres", "--column", "fatigue"], "Did you mean 'stress'"),
        (["--test", "pcor"], "pcor needs continuous variables"),
        (["--column", "stress"], "at least 2"),
    ],
)
def test_bad_usage_is_one_line_and_exit_2(run: Any, data: Path, words: list[str], message: str) -> None:
    assert message in run("learn", data, *words).refusal()


def test_ctrl_c_prints_the_best_so_far_and_exits_130(run: Any, data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real = mnlearn.pipeline.learn

    def pressed(*args: Any, **options: Any) -> Any:
        signal.raise_signal(signal.SIGINT)
        return real(*args, **options)

    monkeypatch.setattr(mnlearn.pipeline, "learn", pressed)
    before = signal.getsignal(signal.SIGINT)
    done = run("learn", data, "--json")
    assert done.code == 130
    assert '"converged": false' in done.out
    assert "interrupted" in done.err
    assert signal.getsignal(signal.SIGINT) is before
