"""`mnlearn bench`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from mnlearn_papers import speed

FIGURES = [
    speed.Figure("all pairs: counting", 3.14159, "pair", "popcount limit", 1.25, False, 1.4, 1.2),
    speed.Figure("scan: counting", 2.0e6, "y", "np.bincount", 123.4, True, 200.0),
    speed.Figure("a whole search", 3.2e9, "run"),
    speed.Figure("scoring: g2", 3.0, "y and stratum", required=2.5),
]


def test_text_and_json_show_the_same_figures(run: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[bool] = []

    def measure(*, quick: bool) -> list[speed.Figure]:
        calls.append(quick)
        return FIGURES

    monkeypatch.setattr(speed, "measure", measure)
    document = run("bench", "--json").document()
    assert document == {"figures": [figure.as_dict() for figure in FIGURES]}
    shown = run("bench", "--quick").out
    assert calls == [False, True]
    for line in ("3.14 ns", "1.25x the time", "<= 1.4x: yes", "123x faster", ">= 200x: no", "3.2 s", "<= 2.5ns: no"):
        assert line in shown


def test_accuracy_compares_learners_and_continues_where_it_stopped(run: Any, tmp_path: Path) -> None:
    words = ("bench", "accuracy", "--kind", "parity", "--learner", "sep", "--learner", "pic", "--sizes", "200,300")
    shown = run(*words, "--draws", "2", "--out", str(tmp_path)).out
    assert "learner" in shown
    assert "0 cells where another is better" in shown
    document = run(*words, "--draws", "2", "--out", str(tmp_path), "--json").document()
    assert [line["learner"] for line in document["learners"]] == ["sep", "pic"]
    assert [(cell["kind"], cell["n_rows"]) for cell in document["cells"]] == [("parity", 200), ("parity", 300)]
    assert document["learners"][1]["behind"]["n"] == 4
    journal = (tmp_path / "accuracy-development.jsonl").read_text(encoding="utf-8")
    assert len(journal.splitlines()) == 8  # nothing was run twice
    assert (tmp_path / "accuracy-development.csv").read_text(encoding="utf-8").count("\n") == 9
    assert "### By number of rows" in (tmp_path / "accuracy-development.md").read_text(encoding="utf-8")
    assert (tmp_path / "accuracy-development-profile.svg").read_text(encoding="utf-8").startswith("<svg")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--half", "both"), "half 'both' does not exist"),
        (("--learner", "glasso"), "learner 'glasso' does not exist"),
        (("--kind", "stairs"), "source 'stairs' does not exist. Did you mean 'stars'"),
        (("--sizes", "few"), "--sizes must be whole numbers"),
        (("--kind", "parity", "--learner", "pic", "--draws", "0"), "draws must be a whole number, at least 1"),
        (
            ("--kind", "parity", "--learner", "pic", "--against", "sep", "--sizes", "50"),
            "--against 'sep' does not exist",
        ),
    ],
)
def test_accuracy_refuses_in_one_line(run: Any, words: tuple[str, ...], message: str) -> None:
    done = run("bench", "accuracy", *words)
    assert done.code == 2
    assert message in done.err


def test_accuracy_checks_the_reference_before_any_run(run: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mnlearn_papers.accuracy.Battery.run", lambda *_, **__: pytest.fail("ran"))
    assert (
        "--against 'seep' does not exist. Did you mean 'sep'" in run("bench", "accuracy", "--against", "seep").refusal()
    )
    words = ("--kind", "wide", "--learner", "sep", "--learner", "l1lr", "--against", "l1lr")  # which leaves it out
    assert "--against 'l1lr' does not exist" in run("bench", "accuracy", *words).refusal()
    assert "jobs" in run("bench", "accuracy", "--jobs", "0").refusal()


def test_learners_are_measured_and_fill_a_page(run: Any, tmp_path: Path) -> None:
    words = ("bench", "learners", "--kind", "example", "--learner", "pc", "--learner", "mpl", "--rows", "300")
    document = run(*words, "--out", str(tmp_path), "--json").document()
    assert [(line["data"], line["learner"], line["outcome"]) for line in document["figures"]] == [
        ("example n=12", "mpl", "ended"),
        ("example n=12", "pc", "ended"),
    ]
    assert isinstance(document["missing"], list)
    shown = run(*words, "--out", str(tmp_path)).out
    assert "CPU seconds" in shown
    assert "example n=12" in shown
    assert len((tmp_path / "learners.jsonl").read_text(encoding="utf-8").splitlines()) == 2  # nothing was run twice
    assert (tmp_path / "learners.svg").read_text(encoding="utf-8").startswith("<svg")
    page = tmp_path / "page.md"
    page.write_text("<!-- table learners\nquantity: errors\ncell: mean 0\n-->\n<!-- end -->\n", encoding="utf-8")
    assert "1 tables" in run("bench", "learners", "--page", page, "--out", tmp_path).out
    assert "| example n=12 | 300 | 1 |" in page.read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--kind", "trees"), "kind 'trees' does not exist. Did you mean 'tree'"),
        (("--learner", "pyagrum"), "learner 'pyagrum' does not exist"),
        (("--limit", "0"), "--limit must be a number of seconds above 0"),
        (("--rows", "1"), "rows must be a whole number, at least 2"),
        (("--page", "page.md"), "--out must be the folder of the runs for --page"),
    ],
)
def test_learners_refuses_in_one_line(run: Any, words: tuple[str, ...], message: str) -> None:
    assert message in run("bench", "learners", *words).refusal()
