"""`mnlearn predictability`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a file with two joined columns and a third."""
    path = tmp_path_factory.mktemp("data") / "answers.csv"
    lines = [f"{row % 2},{row % 2 ^ (row % 7 == 0)},{row // 2 % 2}" for row in range(120)]
    path.write_text("\n".join(["a,b,c", *lines]) + "\n", encoding="utf-8")
    return path


def test_the_table_of_data_and_of_a_saved_result(run: Any, table: Path, tmp_path: Path) -> None:
    saved = tmp_path / "network.json"
    run("learn", table, "--method", "gsmn", "--out", saved)
    done = run("predictability", table, "--method", "gsmn", "--folds", "4")
    assert (done.code, done.err) == (0, "")
    assert "1 edge among 3 variables, by gsmn" in done.out
    assert [line.split() for line in done.out.splitlines() if line.strip().startswith(("a ", "c "))] == [
        ["a", "categorical", "1", "0.850", "0.850", "0.500", "0.700", "0.700"],
        ["c", "categorical", "0", "0.500", "0.500", "0.500", "0.000", "0.000"],
    ]
    assert run("predictability", saved, "--data", table, "--folds", "4").out == done.out
    document = run("predictability", table, "--method", "gsmn", "--json", "--seed", "3").document()
    assert list(document) == ["source", "method", "variables", "edges", "rows", "folds", "seed", "predictability"]
    assert (document["folds"], document["seed"], len(document["predictability"])) == (10, 3, 3)
    assert document["predictability"][0]["share"] == pytest.approx(0.7)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--folds", "1"], "--folds must be"),
        (["--folds", "121"], "--folds must be at most 120"),
        (["--seed", "-1"], "--seed must be"),
    ],
)
def test_bad_options(run: Any, table: Path, options: list[str], words: str) -> None:
    done = run("predictability", table, *options)
    assert (done.code, done.out) == (2, "")
    assert words in done.err


def test_a_saved_result_needs_its_data(run: Any, table: Path, tmp_path: Path) -> None:
    saved = tmp_path / "network.json"
    run("learn", table, "--method", "gsmn", "--out", saved)
    done = run("predictability", saved)
    assert done.code == 2
    assert "--data must be given for a saved result" in done.err


def test_the_report_has_the_table_if_it_is_wanted(run: Any, table: Path, tmp_path: Path) -> None:
    out, saved = tmp_path / "out.html", tmp_path / "network.json"
    run("report", table, "--method", "gsmn", "-o", out)
    assert "predictability-table" not in out.read_text(encoding="utf-8")
    assert run("report", table, "--method", "gsmn", "-o", out, "--predictability").code == 0
    page = out.read_text(encoding="utf-8")
    assert page.count('<table id="predictability-table"') == 1
    assert ">0.700</td>" in page
    run("learn", table, "--method", "gsmn", "--out", saved)
    assert "--predictability needs the data" in run("report", saved, "-o", out, "--predictability").err
