"""`mnlearn learn` from the command line."""

from __future__ import annotations

import signal
from pathlib import Path
from typing import Any

import pytest

import mnlearn.learning
from mnlearn.graphs import read_graph

KEYS = [
    *("method", "choice", "variables", "edges", "weight", "weight_measure", "support", "probability"),
    *("support_scale", "score", "converged", "cost", "settings"),
]


def test_it_prints_the_edges_and_the_cost(run: Any, data: Path) -> None:
    done = run("learn", data, "--method", "gsimn", "--alpha", "0.01")
    assert (done.code, done.err) == (0, "")
    assert done.out.startswith("12 edges among 12 variables (1 without an edge), by gsimn\n")
    assert "poor_sleep      fatigue" in done.out
    assert " tests by chi2 (alpha 0.01, dof observed), " in done.out


def test_the_document(run: Any, data: Path) -> None:
    document = run(
        "learn", data, "--method", "gsmn*", "--test", "g2", "--set", "propagation=false", "--json"
    ).document()
    assert list(document) == KEYS
    assert len(document["edges"]) == len(document["support"])
    assert document["settings"]["propagation"] is False
    assert document["settings"]["test"] == "g2"
    assert document["cost"]["asked"] > 0


def test_a_missing_method_is_noted_in_one_line(run: Any, data: Path) -> None:
    note, size = "note: no method was named: using", "(12 variables, 1,000 rows)"
    done = run("learn", data)
    assert done.err == f"{note} sep with thorough effort, because the variables are categorical {size}\n"
    done, test = run("learn", data, "--alpha", "0.01"), "chi2 (alpha 0.01, dof observed)"
    assert done.err == f"{note} gsimn with the test {test}, because alpha is for methods that use tests {size}\n"


@pytest.mark.parametrize("name", ["net.graphml", "net.edges.csv", "net.json"])
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
        (["--set", "combine=or"], "sep has no setting 'combine'"),
        (["--out", "net.xyz"], "net.xyz"),
        (["--out", "nowhere/net.graphml"], "--out must be in an existing folder"),
        (["--column", "stres", "--column", "fatigue"], "Did you mean 'stress'"),
        (["--test", "pcor"], "pcor needs continuous variables"),
        (["--column", "stress"], "at least 2"),
        (["--method", "mpl", "--test", "chi2"], "test is for methods that use a test"),
        (["--method", "mpl", "--alpha", "0.1"], "mpl has no setting 'alpha'"),
        (["--method", "gsmn", "--score", "mpl"], "score is for methods that use a score"),
        (["--method", "exhaustive"], "at most 21 undecided pairs"),
        (["--method", "pc", "--required", "stress,fatigue"], "--required is for methods that can respect it"),
        (["--method", "mpl", "--required", "stress"], "--required must have the form A,B, two columns; got 'stress'"),
        (["--method", "mpl", "--required", "stress,"], "--required must have the form A,B"),
        (["--method", "mpl", "--forbidden", "stress,fatige"], "Did you mean 'fatigue'"),
        (
            ["--method", "mpl", "--required", "stress,fatigue", "--forbidden", "fatigue,stress"],
            "--required and --forbidden must not share an edge; both name 'stress' and 'fatigue'",
        ),
        (["--method", "mpl", "--required", '"stress', "--required", 'fatigue",x'], "--required must have the form A,B"),
        (["--set", "method=ib"], "--set is for settings of a method or a score; got 'method=ib'. Use the option"),
        (["--set", "types=1"], "--set is for settings of a method or a score"),
        (["--method", "ib", "--prior", "0.4", "--set", "prior=0.3"], "--set must not repeat an option"),
        (["--jobs", "0"], "--jobs must be a whole number"),
    ],
)
def test_bad_usage_is_one_line_and_exit_2(run: Any, data: Path, words: list[str], message: str) -> None:
    assert message in run("learn", data, *words).refusal()


@pytest.mark.usefixtures("default_signals")
def test_ctrl_c_prints_the_best_so_far_and_exits_130(run: Any, data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real = mnlearn.learning.learn

    def pressed(*args: Any, **options: Any) -> Any:
        signal.raise_signal(signal.SIGINT)
        return real(*args, **options)

    monkeypatch.setattr(mnlearn.learning, "learn", pressed)
    before = signal.getsignal(signal.SIGINT)
    done = run("learn", data, "--json")
    assert done.code == 130
    assert '"converged": false' in done.out
    assert "interrupted" in done.err
    assert signal.getsignal(signal.SIGINT) is before


@pytest.mark.usefixtures("default_signals")
def test_a_process_that_ignores_ctrl_c_goes_on(run: Any, data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real = mnlearn.learning.learn

    def pressed(*args: Any, **options: Any) -> Any:
        signal.raise_signal(signal.SIGINT)
        return real(*args, **options)

    monkeypatch.setattr(mnlearn.learning, "learn", pressed)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    done = run("learn", data, "--method", "mpl", "--json")
    assert (done.code, done.err) == (0, "")
    assert '"converged": true' in done.out
    assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN


@pytest.mark.parametrize("method", ["ib", "bjp", "mpl", "pic", "hillclimb"])
def test_methods_by_a_score_print_it(run: Any, data: Path, method: str) -> None:
    done = run("learn", data, "--method", method)
    assert (done.code, done.err) == (0, "")
    assert "log odds" in done.out
    document = run("learn", data, "--method", method, "--json").document()
    name = document["settings"]["score"]
    assert f"{name} score {document['score']:.6f}" in done.out
    assert document["support_scale"] == "log_odds"
    assert document["support"] == sorted(document["support"], reverse=True)


def test_names_in_a_setting_keep_their_capitals(run: Any, tmp_path: Path) -> None:
    (tmp_path / "d.csv").write_text("Alpha,Beta\n" + "0,0\n1,1\n" * 20)
    words = ["learn", tmp_path / "d.csv", "--method", "bjp", "--set", "keep_absent=TRUE", "--set", "start=None"]
    document = run(*words, "--set", 'order=["Beta", "Alpha"]', "--json").document()
    assert document["settings"]["order"] == ["Beta", "Alpha"]
    assert (document["settings"]["keep_absent"], document["settings"]["start"]) == (True, None)


@pytest.mark.parametrize("method", ["ib", "bjp"])
def test_kept_steps_are_in_the_document(run: Any, data: Path, method: str) -> None:
    words = ["learn", data, "--method", method, "--json"]
    assert not {"steps", "absent"} & set(run(*words).document())
    document = run(*words, "--set", "keep_steps=true", "--set", "keep_absent=true").document()
    first, *flips = document["steps"]
    assert first["flip"] is None
    assert {tuple(step["flip"]) for step in flips} >= {
        tuple(sorted(e, key=document["variables"].index)) for e in document["edges"]
    }
    assert flips[-1]["score"] == pytest.approx(document["score"])
    assert len(document["absent"]) + len(document["edges"]) == 66
    assert all(len(pair) == 3 for pair in document["absent"])


def test_one_has_the_singular(run: Any, tmp_path: Path) -> None:
    (tmp_path / "d.csv").write_text("A,B\n" + "0,0\n1,1\n" * 20)
    assert run("learn", tmp_path / "d.csv", "--method", "ib").out.endswith("2 flips proposed, 1 flip made\n")


def test_exhaustive_shows_the_second_best(run: Any, data: Path) -> None:
    few = [word for name in ("poor_sleep", "stress", "fatigue", "headaches") for word in ("--column", name)]
    words = ["learn", data, "--method", "exhaustive", *few, "--score", "mpl", "--set", "averaging=true"]
    assert "above the next best graph, which differs in " in run(*words).out
    document = run(*words, "--json").document()
    assert len(document["edge_probabilities"]) == 6
    assert 0 < document["mass"] < 1
    assert "mass" not in run(*words[:-2], "--json").document()
    assert document["alternatives"][0]["score"] < document["score"]
    assert document["cost"]["graphs"] == 64


def test_required_and_forbidden_edges(run: Any, data: Path, tmp_path: Path) -> None:
    words = ["--required", "left_handed,stress", "--forbidden", "poor_sleep,stress", "--forbidden", "stress,low_mood"]
    document = run("learn", data, "--method", "mpl", *words, "--json").document()
    edges = {frozenset(edge) for edge in document["edges"]}
    assert frozenset(("left_handed", "stress")) in edges
    assert not edges & {frozenset(("poor_sleep", "stress")), frozenset(("stress", "low_mood"))}
    assert document["settings"]["forbidden"] == [["poor_sleep", "stress"], ["stress", "low_mood"]]
    (tmp_path / "odd.csv").write_text('"a,b",c\n' + "0,1\n1,0\n1,1\n" * 20, encoding="utf-8")
    odd = run("learn", tmp_path / "odd.csv", "--method", "mpl", "--required", '"a,b",c', "--json").document()
    assert odd["edges"] == [["a,b", "c"]]
