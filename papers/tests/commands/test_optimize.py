"""`mnlearn optimize`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest


def test_a_problem_is_solved_and_printed(run: Any, tmp_path: Path) -> None:
    history, plot = tmp_path / "run.csv", tmp_path / "run.png"
    words = ("optimize", "royal-road:n=12", "--population", 200, "--seed", 1)
    done = run(*words, "--history", history, "--plot", plot)
    assert (done.code, done.err) == (0, "")
    assert done.out.startswith("royal-road:n=12,group=4: fitness 12 of 12, the optimum\n")
    assert done.out.endswith("ended by target\n1 1 1 1 1 1 1 1 1 1 1 1\n")
    lines = history.read_text(encoding="utf-8").splitlines()
    assert lines[0] == "generation,best,mean,evaluations,n_edges"
    assert lines[1].startswith("0,")
    assert plot.read_bytes().startswith(b"\x89PNG")
    document = run(*words, "--json").document()
    expected = {"fitness": 12, "optimum": 12, "individual": [1] * 12, "reason": "target"}
    assert {key: document[key] for key in expected} == expected
    assert document["evaluations"] == int(lines[-1].split(",")[3])


def test_learners_by_name_and_a_checkpoint(run: Any, tmp_path: Path) -> None:
    path = tmp_path / "run.npz"
    words = ("optimize", "onemax:n=10", "--population", 60, "--generations", 2, "--checkpoint", path, "--json")
    first = run(*words, "--learner", "moa", "--max-neighbors", 1).document()
    assert path.exists()
    assert run(*words, "--learner", "moa", "--max-neighbors", 1).document() == first
    assert "other settings" in run(*words, "--learner", "moa").refusal()
    assert run("optimize", "onemax:n=10", "--learner", "gsmn", "--population", 60, "--json").document()["fitness"] == 10


def test_a_formula_is_read_from_a_file(run: Any, tmp_path: Path) -> None:
    path = tmp_path / "small.cnf"
    path.write_text("p cnf 3 3\n1 0\n-1 2 0\n-2 -3 0\n", encoding="utf-8")
    document = run("optimize", path, "--population", 20, "--json").document()
    assert (document["fitness"], document["individual"]) == (3, [1, 1, 0])


def test_the_list_has_every_problem(run: Any) -> None:
    assert set(run("optimize", "--list", "--json").document()["problems"]) == {
        *("onemax", "royal-road", "trap", "nk", "ising")
    }
    assert "group=4" in run("optimize", "--list").out


@pytest.mark.parametrize(
    ("words", "rule"),
    [
        ((), "PROBLEM must be given"),
        (("onemx",), "problem 'onemx' does not exist"),
        (("none.cnf",), "there is no"),
        (("onemax", "--learner", "magic"), "method 'magic' does not exist"),
        (("onemax", "--max-neighbors", "2"), "--max-neighbors is for --learner moa"),
        (("onemax", "--population", "1"), "population must be"),
        (("onemax:n=4", "--population", "20", "--plot", "run.bmp"), "--plot must end in"),
        (("onemax:n=4", "--plot", "none/run.png"), "--plot must be in an existing folder"),
        (("onemax:n=4", "--history", "none/run.csv"), "--history must be in an existing folder"),
    ],
)
def test_bad_options_are_refused(run: Any, words: tuple[str, ...], rule: str) -> None:
    assert rule in run("optimize", *words).refusal()
