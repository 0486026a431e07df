"""`mnlearn simulate`, `evaluate` and `compare`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from mnlearn.data import read
from mnlearn.graphs import Graph, read_graph, write_graph


def test_data_and_truth_are_written(run: Any, tmp_path: Path) -> None:
    out = tmp_path / "rows.csv"
    done = run("simulate", "path:n=5", "--rows", 40, "--seed", 3, "--out", out)
    assert (done.code, done.err) == (0, "")
    truth = tmp_path / "rows.truth.edges.csv"
    assert done.out == (f"{out}: 40 rows of 5 variables, exact, by elimination\n{truth}: the true network, 4 edges\n")
    assert read(out).n_rows == 40
    assert read_graph(truth).graph.n_edges == 4
    first = out.read_bytes()
    run("simulate", "path:n=5", "--rows", 40, "--seed", 3, "--out", out)
    assert out.read_bytes() == first
    run("simulate", "path:n=5", "--rows", 40, "--seed", 4, "--out", out)
    assert out.read_bytes() != first


def test_json_and_gibbs(run: Any, tmp_path: Path) -> None:
    out, truth = tmp_path / "rows.parquet", tmp_path / "t.graphml"
    words = ("--method", "gibbs", "--chains", 2, "--burn-in", 50, "--thin", 2, "--truth", truth, "--json")
    document = run("simulate", "grid", "--distribution", "ising:coupling=0.2", "--out", out, *words).document()
    assert document["files"] == {"data": str(out), "truth": str(truth)}
    expected = {"rows": 1000, "variables": 16, "edges": 24, "seed": 1, "converged": True}
    assert {key: document[key] for key in expected} == expected
    assert document["drawn"].startswith("Gibbs chains, converged: largest split R-hat 1.0")
    assert read_graph(truth).graph.n_variables == read(out).n_variables == 16


def test_rows_that_may_be_wrong_are_noted(run: Any, tmp_path: Path) -> None:
    words = ("--method", "gibbs", "--burn-in", 5, "--thin", 1, "--rows", 400, "--out", tmp_path / "r.csv")
    done = run("simulate", "grid", "--distribution", "ising:coupling=3,law=equal", *words)
    assert done.code == 0
    assert done.err.startswith("note: the rows may not follow the distribution: Gibbs chains, NOT converged")


def test_settings_of_chains_that_were_not_run_are_noted(run: Any, tmp_path: Path) -> None:
    words = ("simulate", "path:n=3", "--out", tmp_path / "r.csv", "--chains", 8, "--burn-in", 9)
    done = run(*words)
    assert (done.code, "exact" in done.out) == (0, True)
    assert done.err.startswith("note: --chains, --burn-in had no effect: there were no Gibbs chains")
    assert run(*words, "--method", "gibbs").err == ""


def test_gaps_are_empty_cells(run: Any, tmp_path: Path) -> None:
    out = tmp_path / "holed.csv"
    words = ("--distribution", "mixed:kinds=nominal+count,mean=2", "--gaps", "mcar:share=0.3", "--rows", 200)
    done = run("simulate", "path:n=4", *words, "--out", out)
    assert (done.code, done.err) == (0, "")
    assert f"{out}: 200 rows of 4 variables, a Gibbs chain of 100 sweeps for each row" in done.out
    cells = [cell for line in out.read_text().splitlines()[1:] for cell in line.split(",")]
    assert len(cells) == 800
    assert 180 < cells.count("") < 300
    assert set(cells) <= {"", "a", "b", "c", *map(str, range(20))}
    assert run("simulate", "path:n=4", "--gaps", "often", "--out", out).code == 2


def test_the_list_has_every_name(run: Any) -> None:
    document = run("simulate", "--list", "--json").document()
    assert {"random", "grid", "tree"} <= set(document["networks"])
    assert document["distributions"]["odds"]["settings"] == {
        "theta": 1.5,
        "signs": "same",
        "fields": 0.0,
        "law": "alike",
    }
    shown = run("simulate", "--list").out
    assert all(name in shown for kind in document.values() for name in kind)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("simulate",), "NETWORK must be given"),
        (("simulate", "ring"), "network 'ring' does not exist"),
        (("simulate", "path", "--rows", "0"), "--rows must be a whole number, at least 1; got 0"),
        (("simulate", "path", "--seed", "-1"), "at least 0; got -1"),
        (("simulate", "path", "--out", "rows.xls"), "must end in .csv, .tsv, .parquet"),
        (("simulate", "path", "--truth", "graph.png"), "must end in a known extension"),
        (("simulate", "path", "--method", "magic"), "method 'magic' does not exist"),
        (
            ("simulate", "path", "--distribution", "gaussian", "--method", "gibbs"),
            "--method must be auto for 'gaussian', which is drawn in one way only; got 'gibbs'. Drop it.",
        ),
        (("simulate", "alarm.bif", "--method", "enumerate"), "--method must be auto for 'alarm.bif'"),
        (("simulate", "path", "--out", "rows.csv", "--truth", "./rows.csv"), "--truth must be another file than --out"),
        (("simulate", "path", "--chains", "1"), "chains must be a whole number, at least 2"),
        (("simulate", "broken.bif"), "broken.bif"),
    ],
)
def test_bad_options_write_nothing(
    run: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...], message: str
) -> None:
    monkeypatch.chdir(tmp_path)
    assert message in run(*words).refusal()
    assert not list(tmp_path.iterdir())


def test_evaluate_prints_every_measure(run: Any, tmp_path: Path) -> None:
    learned, truth = tmp_path / "learned.graphml", tmp_path / "truth.edges.csv"
    write_graph(truth, Graph(4, [(0, 1), (0, 2), (1, 2), (2, 3)]), ["a", "b", "c", "d"])
    write_graph(learned, Graph(4, [(3, 2), (2, 0), (3, 1)]), ["d", "b", "c", "a"])  # a-c, c-d, a-b by name
    document = run("evaluate", learned, truth, "--json").document()
    expected = {"hamming": 1, "fp": 0, "fn": 1, "precision": 1.0, "recall": 0.75}
    assert {key: document[key] for key in expected} == expected
    assert document["f1"] == pytest.approx(6 / 7)
    assert document["normalized_hamming"] == pytest.approx(1 / 6)
    right = (1 + 2 / 3 + 4 / 5) / 3  # the neighbours of a, of b and of c
    assert document["ev"]["3C"] == {"e": pytest.approx(0.8), "v": pytest.approx(right), "subgraphs": 1}
    assert document["ev"]["4C"] == {"e": None, "v": None, "subgraphs": 0}
    assert set(run("evaluate", learned, truth, "--kinds", "1N", "--json").document()["ev"]) == {"1N"}
    shown = run("evaluate", learned, truth).out
    assert "Hamming distance 1 (0 too many, 1 missing), 0.1667 of all pairs" in shown
    assert "precision 1, recall 0.75, F 0.8571" in shown
    assert "subgraphs" not in run("evaluate", learned, truth, "--kinds", "none").out


def test_evaluate_judges_by_held_out_data(run: Any, tmp_path: Path) -> None:
    data, later, truth = tmp_path / "data.csv", tmp_path / "later.csv", tmp_path / "data.truth.edges.csv"
    run("simulate", "path:n=6", "--rows", 600, "--seed", 1, "--out", data)
    run("simulate", "path:n=6", "--rows", 300, "--seed", 1, "--out", later)
    asked = ("evaluate", truth, "--data", later, "--triplets", 200, "--seed", 2)
    document = run(*asked, "--train", data, "--test", "g2", "--json").document()
    assert set(document) == {"held_out"}
    found = document["held_out"]
    assert (found["test"], found["rows"], found["train_rows"], found["folds"]) == ("g2", 300, 600, None)
    assert sum(found["triplets"].values()) == 200
    assert [each["size"] for each in found["by_size"]] == [0, 1, 2, 3, 4]
    assert found["gain"]["mean"] > 0
    shown = run(*asked, "--folds", 3).out
    assert "independence accuracy 0." in shown
    assert "(3 folds)" in shown
    both = run("evaluate", truth, truth, "--data", later, "--triplets", 50, "--json").document()
    assert both["hamming"] == 0
    assert both["held_out"]["edges"] == 5


def test_evaluate_refuses_options_that_do_not_fit(run: Any, tmp_path: Path) -> None:
    graph, data = tmp_path / "graph.edges.csv", tmp_path / "data.csv"
    graph.write_text("u,v\na,b\n", encoding="utf-8")
    data.write_text("a,c\n0,1\n1,0\n", encoding="utf-8")
    assert "TRUTH or --data must be given; got neither" in run("evaluate", graph).refusal()
    assert "--train is for held-out data; got no --data" in run("evaluate", graph, graph, "--train", data).refusal()
    refusal = run("evaluate", graph, graph, "--missing", "drop_rows").refusal()
    assert "an option for reading data is for held-out data; got no --data" in refusal
    assert "--kinds is for a comparison with TRUTH" in run("evaluate", graph, "--data", data, "--kinds", "1N").refusal()
    both = run("evaluate", graph, "--data", data, "--train", data, "--folds", "3").refusal()
    assert "--folds is for cross-validation; got --train as well" in both
    few = run("evaluate", graph, "--data", data, "--folds", "1").refusal()
    assert (
        "--folds must be a whole number, at least 2; got 1. Use for example 5, or give the rows to fit to (--train)"
        in few
    )
    data.write_text("a,b\n0,1\n1,0\n", encoding="utf-8")
    none = run("evaluate", graph, "--data", data, "--triplets", "0").refusal()
    assert "--triplets must be a whole number, at least 1; got 0" in none
    data.write_text("a,c\n0,1\n1,0\n", encoding="utf-8")
    refusal = run("evaluate", graph, "--data", data).refusal()
    assert "data must have a column for each variable of the graph: column 'b' does not exist" in refusal


def test_evaluate_refuses_other_variables(run: Any, tmp_path: Path) -> None:
    one, other = tmp_path / "one.edges.csv", tmp_path / "other.edges.csv"
    write_graph(one, Graph(2, [(0, 1)]), ["a", "b"])
    write_graph(other, Graph(2, [(0, 1)]), ["a", "c"])
    assert (
        "learned and truth must have the same variables; only the learned graph has 'b'"
        in run("evaluate", one, other).refusal()
    )
    assert "kind of subgraph '9C' does not exist" in run("evaluate", one, one, "--kinds", "9C").refusal()
    assert "there is no" in run("evaluate", one, tmp_path / "none.edges.csv").refusal()


def test_compare_runs_every_method(run: Any, tmp_path: Path) -> None:
    out, truth = tmp_path / "rows.csv", tmp_path / "rows.truth.edges.csv"
    run("simulate", "path:n=8", "--distribution", "odds:theta=2.5", "--rows", 3000, "--out", out)
    words = ("compare", out, "--truth", truth, "--methods", "gsmn*,mpl,exhaustive", "--alpha", 0.001)
    document = run(*words, "--json").document()
    assert (document["rows"], document["variables"]) == (3000, 8)
    gsmn, mpl, exhaustive = document["methods"]
    assert (gsmn["method"], gsmn["hamming"], gsmn["f1"]) == ("gsmn*", 0, 1.0)
    assert (mpl["method"], mpl["fp"] + mpl["fn"]) == ("mpl", mpl["hamming"])
    assert gsmn["cost"]["asked"] > 0
    assert gsmn["seconds"] >= 0
    assert exhaustive["method"] == "exhaustive"
    assert "exhaustive search must have at most 21 undecided pairs" in exhaustive["error"]
    shown = run(*words)
    lines = [line for line in shown.out.splitlines() if line.strip()]
    assert [line.split()[0] for line in lines[2:-1]] == ["gsmn*", "mpl", "exhaustive"]
    assert lines[-1] == "gsmn* by chi2 (alpha 0.001, dof observed)"
    assert gsmn["settings"]["dof"] == "observed"
    assert shown.err.startswith("note: exhaustive: exhaustive search must have")
    assert json.dumps(document)


def test_compare_counts_tests_only(run: Any, tmp_path: Path) -> None:
    out, truth = tmp_path / "rows.csv", tmp_path / "rows.truth.edges.csv"
    run("simulate", "path:n=4", "--distribution", "odds:theta=2.5", "--rows", 500, "--out", out)
    lines = run("compare", out, "--truth", truth, "--methods", "gsmn,l1lr").out.splitlines()
    gsmn, l1lr = (next(line.split() for line in lines if line.split()[:1] == [name]) for name in ("gsmn", "l1lr"))
    assert (len(gsmn), len(l1lr)) == (10, 9)  # l1lr asks no independence test


def test_compare_refuses_before_it_learns(run: Any, tmp_path: Path) -> None:
    out, truth = tmp_path / "rows.csv", tmp_path / "rows.truth.edges.csv"
    run("simulate", "path:n=4", "--rows", 50, "--out", out)
    assert "method 'magic' does not exist" in run("compare", out, "--truth", truth, "--methods", "pc,magic").refusal()
    assert "named once each; got 'pc' twice" in run("compare", out, "--truth", truth, "--methods", "pc,pc").refusal()
    assert "at least one method" in run("compare", out, "--truth", truth, "--methods", ",").refusal()
    other = tmp_path / "other.edges.csv"
    write_graph(other, Graph(2), ["x0", "y"])
    assert "must have the same variables" in run("compare", out, "--truth", other, "--methods", "pc").refusal()
