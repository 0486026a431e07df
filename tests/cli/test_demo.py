"""`mnlearn demo`."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path
from typing import Any

import pytest

from mnlearn.data import read
from mnlearn.graphs import read_graph
from mnlearn.simulate.catalogue import example


def test_files_hold_the_example(run: Any, tmp_path: Path) -> None:
    out = tmp_path / "new" / "folder"
    assert run("demo", "--out", out, "--rows", 300, "--seed", 4).code == 0
    assert sorted(path.name for path in out.iterdir()) == [
        "learned.graphml",
        "report.html",
        "survey.csv",
        "truth.edges.csv",
    ]
    survey, data, truth = example(300, 4), read(out / "survey.csv"), read_graph(out / "truth.edges.csv")
    assert data.names == truth.names == survey.names
    assert truth.graph == survey.graph
    words = survey.columns()
    for column, name, levels in zip(data.columns, data.names, data.levels, strict=True):
        assert levels is not None
        assert [levels[code] for code in column.tolist()] == words[name]


def test_text_explains_the_separation(run: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    shown = run("demo")
    assert (shown.code, shown.err) == (0, "")
    assert "1,000 rows, 12 variables" in shown.out
    assert "edge of the true network" in shown.out
    assert "night_shifts and fatigue are dependent" in shown.out
    assert "given poor_sleep they are independent" in shown.out
    assert "so doubtful: night_shifts - social_support (22%), late_coffee - left_handed (48%)" in shown.out
    assert "Without them: 12 of the 12 true edges.\n" in shown.out
    assert Path("demo-output", "survey.csv").exists()
    assert shown.out.endswith("\nThe report is demo-output/report.html: open it in a browser.\n")
    assert "night_shifts" in Path("demo-output", "report.html").read_text(encoding="utf-8")


def test_without_the_extra_there_is_no_report(run: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "bokeh", None)
    shown = run("demo", "--out", tmp_path)
    assert shown.code == 0
    assert shown.out.endswith("A report needs the extra: pip install 'mnlearn[report]'.\n")
    assert run("demo", "--out", tmp_path, "--json").document()["files"]["report"] is None


def test_json_compares_with_the_truth(run: Any, tmp_path: Path) -> None:
    document = run("demo", "--out", tmp_path, "--json").document()
    assert list(document) == ["files", "info", "dependences", "separation", "learned", "commands"]
    assert len(document["dependences"]) == 66
    assert sum(pair["edge"] for pair in document["dependences"]) == 12
    assert all(pair["edge"] for pair in document["dependences"][:12])
    marginal, conditional = document["separation"]["marginal"], document["separation"]["conditional"]
    assert (marginal["independent"], conditional["independent"]) == (False, True)
    assert marginal["given"] == []
    assert len(conditional["given"]) == 1


def test_commands_it_proposes_work(run: Any, tmp_path: Path) -> None:
    document = run("demo", "--out", tmp_path / "with space", "--json").document()
    decisions = []
    for command in document["commands"]:
        program, *words = shlex.split(command)
        done = run(*words)
        assert (program, done.code) == ("mnlearn", 0), done.err
        decisions.append("independent: " in done.out)
    assert decisions[1:3] == [False, True]


def test_few_rows_show_no_separation(run: Any, tmp_path: Path) -> None:
    shown = run("demo", "--rows", 2, "--out", tmp_path)
    assert shown.code == 0
    assert "try --rows 1000" in shown.out
    assert run("demo", "--rows", 2, "--out", tmp_path, "--json").document()["separation"] is None


def test_same_seed_same_output(run: Any, tmp_path: Path) -> None:
    first = run("demo", "--out", tmp_path, "--seed", 9)
    assert run("demo", "--out", tmp_path, "--seed", 9) == first
    assert run("demo", "--out", tmp_path, "--seed", 8) != first


def test_refusals(run: Any, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    assert "--out must be a folder; " in run("demo", "--out", tmp_path / "file").refusal()
    assert "--out must be a folder; " in run("demo", "--out", tmp_path / "file" / "sub").refusal()
    assert "'--rows'" in run("demo", "--rows", 1, "--out", tmp_path / "never").refusal()
    assert "'--seed'" in run("demo", "--seed", -1, "--out", tmp_path / "never").refusal()
    assert not (tmp_path / "never").exists()


@pytest.mark.parametrize("name", ["survey.csv", "truth.edges.csv", "learned.graphml", "report.html"])
def test_files_of_others_are_kept(run: Any, tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_text("mine\n", encoding="utf-8")
    shown = run("demo", "--out", tmp_path, "--rows", 20)
    assert shown.code == 2
    assert f"holds another {name}, which would be lost. Name another folder." in shown.err
    assert [(file.name, file.read_text(encoding="utf-8")) for file in tmp_path.iterdir()] == [(name, "mine\n")]
