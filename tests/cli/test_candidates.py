"""The options --candidates, --k and --no-rescans."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import mnlearn as mn
from mnlearn.graphs import read_graph


def test_a_screen_is_chosen_by_options(run: Any, data: Path) -> None:
    document = run(
        "learn", data, "--method", "pc", "--candidates", "screen", "--k", "4", "--no-rescans", "--json"
    ).document()
    stated = {name: document["settings"][name] for name in ("candidates", "k", "rescans")}
    assert stated == {"candidates": "screen", "k": 4, "rescans": False}


def test_all_pairs_are_the_default(run: Any, data: Path) -> None:
    given = run("learn", data, "--method", "pc", "--candidates", "all", "--json").document()
    default = run("learn", data, "--method", "pc", "--json").document()
    assert given["edges"] == default["edges"]
    assert "candidates" not in default["settings"]


@pytest.mark.parametrize("name", ["pairs.edges.csv", "pairs.graphml", "pairs.json"])
def test_a_graph_file_lists_the_candidates(run: Any, data: Path, truth: Path, tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    assert run("convert", truth, path).code == 0
    listed = {frozenset(edge[:2]) for edge in read_graph(path).named_edges()}
    document = run("learn", data, "--method", "hhc-mn", "--candidates", path, "--json").document()
    assert document["edges"]
    assert {frozenset(edge) for edge in document["edges"]} <= listed


def test_a_saved_screen_lists_the_candidates(run: Any, data: Path, tmp_path: Path) -> None:
    mn.screen(data, k=3).save(tmp_path / "survey.screen")
    document = run("learn", data, "--method", "pc", "--candidates", tmp_path / "survey.screen", "--json").document()
    fresh = run("learn", data, "--method", "pc", "--candidates", "screen", "--k", "3", "--json").document()
    assert document["edges"] == fresh["edges"]
    assert document["settings"]["candidates"].startswith("screened:")


def test_a_damaged_screen_is_refused_as_one(run: Any, data: Path, tmp_path: Path) -> None:
    path = tmp_path / "empty.mns"
    path.touch()
    assert (
        "--candidates must be a screen, as mnlearn screen --out writes it"
        in run("learn", data, "--method", "pc", "--candidates", path).refusal()
    )


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--k", "4"], "--k is for --candidates screen; got k=4 with no candidates"),
        (["--candidates", "screen", "--k", "0"], "--k must be a whole number, at least 1; got 0"),
        (["--candidates", "all", "--no-rescans"], "--no-rescans is for a screen"),
        (["--candidates", "missing.graphml"], "--candidates must be an existing file; there is no missing.graphml"),
        (["--candidates", "missing.mns"], "--candidates must be an existing file; there is no missing.mns"),
        (["--candidates", "scren"], "--candidates must be an existing file; there is no scren"),
    ],
)
def test_other_options_are_refused(run: Any, data: Path, words: list[str], message: str) -> None:
    assert message in run("learn", data, "--method", "pc", *words).refusal()


def test_groups_are_compared_among_candidates(run: Any, data: Path) -> None:
    done = run(
        *("compare-groups", data, "--by", "night_shifts", "--method", "hhc-mn", "--column", "stress"),
        *("--column", "fatigue", "--column", "exercise", "--permutations", "3", "--candidates", "screen", "--k", "1"),
    )
    assert done.code == 0, done.err
