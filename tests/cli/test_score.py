"""`mnlearn score` from the command line."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import mnlearn as mn
from mnlearn.learning import SCORES


@pytest.fixture
def files(data: Path, truth: Path) -> tuple[Path, Path]:
    return data, truth


@pytest.mark.parametrize("name", SCORES)
def test_the_document(run: Any, files: tuple[Path, Path], name: str) -> None:
    document = run("score", *files, "--score", name, "--json").document()
    assert list(document) == ["score", "value", "terms", "transform"]
    assert document["score"] == name
    assert document["value"] == pytest.approx(sum(term["value"] for term in document["terms"]))
    assert document["value"] == mn.score(str(files[0]), files[1], name).value


def test_it_prints_the_lowest_terms_first_and_the_score(run: Any, files: tuple[Path, Path]) -> None:
    done = run("score", *files, "--score", "mpl", "--set", "prior_cell=1", "--jobs", "1")
    assert (done.code, done.err) == (0, "")
    lines = done.out.splitlines()
    names = mn.read_graph(files[1]).names
    terms = [float(line.split()[-1]) for line in lines if line.split()[:1] and line.split()[0] in names]
    assert terms == sorted(terms)
    assert len(terms) == 12
    value = mn.score(str(files[0]), files[1], "mpl", prior_cell=1.0).value
    assert lines[-1] == f"mpl score {value:.6f}"


def test_pairs_beyond_a_screen_are_counted(run: Any, files: tuple[Path, Path]) -> None:
    assert "and 26 more; --all lists them" in run("score", *files, "--score", "bjp").out
    assert "more; --all" not in run("score", *files, "--score", "bjp", "--all").out


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--score", "bpj"], "score 'bpj' does not exist. Did you mean 'bjp'"),
        (["--score", "mpl", "--prior", "0.5"], "mpl has no setting 'prior'"),
        (["--score", "mpl", "--set", "prior_cell"], "--set must have the form NAME=VALUE"),
        (["--column", "stress", "--column", "fatigue"], "GRAPH must have the columns of the data as its variables"),
        (["--set", "graph=3"], "--set is for settings of a method or a score; got 'graph=3'. Use the option for it"),
        (["--prior", "0.4", "--set", "prior=0.3"], "--set must not repeat an option; got 'prior=0.3'"),
        (["--jobs", "0"], "--jobs must be a whole number"),
    ],
)
def test_bad_usage_is_one_line_and_exit_2(run: Any, files: tuple[Path, Path], words: list[str], message: str) -> None:
    assert message in run("score", *files, *words).refusal()


def test_a_column_that_the_graph_lacks_is_named(run: Any, files: tuple[Path, Path], tmp_path: Path) -> None:
    (tmp_path / "small.edges.csv").write_text("u,v\nstress,headaches\n", encoding="utf-8")
    refusal = run("score", files[0], tmp_path / "small.edges.csv").refusal()
    assert (
        "'night_shifts' and 9 more are missing. Add them to the graph, or leave the column out (--column)." in refusal
    )
