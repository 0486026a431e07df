"""`--transform`, and the lines that report normal scores."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import mnlearn as mn
from mnlearn.distributions.gaussian import sparse_gaussian
from mnlearn.graphs import path


@pytest.fixture(scope="module")
def cubes(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A chain of five columns, cubed."""
    file = tmp_path_factory.mktemp("cubes") / "cubes.csv"
    rows = np.column_stack(sparse_gaussian(path(5), 1, weakest=0.5).dataset(200, 2).columns) ** 3
    np.savetxt(file, rows, delimiter=",", header="a,b,c,d,e", comments="")
    return file


def test_learn_reports_the_scores_and_none_turns_them_off(run: Any, cubes: Path) -> None:
    found = run("learn", cubes)
    assert found.out.splitlines()[0] == "4 edges among 5 variables, by sep, as normal scores of the ranks"
    assert (
        "using normal scores of the ranks of all continuous columns, because 5 columns are far from normal" in found.err
    )
    for option, transform in (("none", None), ("normal_scores", "normal_scores"), ("auto", "normal_scores")):
        document = run("learn", cubes, "--transform", option, "--json").document()
        assert document["settings"]["transform"] == transform
    assert "normal scores" not in run("learn", cubes, "--transform", "none").out


def test_the_option_reaches_the_other_commands(run: Any, cubes: Path, tmp_path: Path) -> None:
    assert "normal scores of the ranks" in run("test", cubes, "a", "b").out
    assert run("test", cubes, "a", "b", "--transform", "none", "--json").document()["transform"] is None
    graph = tmp_path / "graph.edges.csv"
    run("learn", cubes, "--out", graph)
    assert ", of normal scores of the ranks" in run("score", cubes, graph, "--score", "evidence").out
    score = run("score", cubes, graph, "--score", "evidence", "--transform", "none", "--json").document()
    assert score["value"] == mn.score(cubes, graph, "evidence", transform=None).value
    why = run("why", cubes, "a", "b", "--transform", "none", "--json").document()
    assert why == mn.learn(cubes, transform=None).why("a", "b").to_dict()
    judged = run("evaluate", graph, "--data", cubes, "--triplets", 100, "--transform", "none", "--json").document()
    assert judged["held_out"]["notes"] == []


def test_info_names_the_columns(run: Any, cubes: Path) -> None:
    assert "far from normal: a, b, c, d, e" in run("info", cubes).out
    assert run("info", cubes, "--json").document()["far_from_normal"] == list("abcde")


def test_refusals_name_the_option(run: Any, cubes: Path, tmp_path: Path) -> None:
    refused = run("learn", cubes, "--transform", "rank")
    assert refused.code == 2
    assert "error: --transform must be normal_scores, auto or none; got 'rank'. Leave it out for 'auto'." in refused.err
    labels = tmp_path / "labels.csv"
    labels.write_text("p,q\n" + "x,u\ny,v\n" * 20, encoding="utf-8")
    refused = run("learn", labels, "--transform", "normal_scores")
    assert (
        "error: --transform normal_scores needs continuous variables; 'p' is categorical with 2 states." in refused.err
    )
    assert "Use --transform none" in refused.err
    saved = tmp_path / "network.json"
    run("learn", cubes, "--out", saved)
    assert (
        "--transform is for learning" in run("report", saved, "--transform", "none", "--out", tmp_path / "r.html").err
    )
