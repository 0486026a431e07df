"""`mnlearn reproduce`."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import pytest

from mnlearn_papers import catalogue, summaries
from mnlearn_papers.measured import Measurement


def test_the_list_names_every_experiment(run: Any) -> None:
    text = run("reproduce", "--list").out
    assert "mpl-table1" in text
    assert "mpl-table3" in text
    listed = run("reproduce", "--list", "--json").document()["experiments"]
    assert {"name", "title", "sizes", "reps", "data"} == set(listed[0])


def test_figures_are_printed_written_and_continued(run: Any, tmp_path: Path) -> None:
    words = ("reproduce", "mpl-table1", "--source", "d=64", "--method", "mpl", "--sizes", "250", "--out", tmp_path)
    done = run(*words, "--reps", 2)
    assert done.code == 0
    assert "d=64" in done.out
    assert "of 1 published figures are within 3 standard errors" in done.out
    assert "Chi-square is" in done.out
    assert "The smallest difference that could be seen is" in done.out
    assert {"mpl-table1.csv", "mpl-table1.jsonl", "mpl-table1.runs.csv"} <= {p.name for p in tmp_path.iterdir()}
    before = (tmp_path / "mpl-table1.jsonl").read_text()
    figures = run(*words, "--reps", 3, "--json").document()["figures"]
    assert (tmp_path / "mpl-table1.jsonl").read_text().startswith(before)
    (mpl,) = [figure for figure in figures if figure["learner"] == "mpl"]
    assert (mpl["n"], mpl["published"]) == (3, 50.0)


def test_a_page_gets_its_tables_from_the_runs(run: Any, tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(
        "<!-- table mpl-table1\ncell: mean 1\n-->\n<!-- end -->\n<!-- table bjp-real\n-->\nold\n<!-- end -->\n"
    )
    run(
        "reproduce",
        "mpl-table1",
        "--source",
        "d=64",
        "--sizes",
        "250",
        "--reps",
        1,
        "--method",
        "mpl",
        "--out",
        tmp_path,
    )
    done = run("reproduce", "--page", page, "--out", tmp_path)
    assert "1 tables from" in done.out
    assert "unchanged, without runs in the folder: bjp-real" in done.err
    assert "| d=64 | 250 | 1 |" in page.read_text()
    assert "\nold\n" in page.read_text()
    assert not list(tmp_path.glob(".mnlearn-*"))
    listed = run("reproduce", "--list", "--out", tmp_path)
    assert "1 of >9600" in listed.out  # nothing is known of the other methods
    assert "* cells without a run are estimated from the nearest cells of their method" in listed.err
    assert "in full" in listed.out  # of "CPU s in full", which a narrow terminal breaks
    spent = {
        item["name"]: item for item in run("reproduce", "--list", "--out", tmp_path, "--json").document()["experiments"]
    }
    assert (spent["mpl-table1"]["done"], spent["mpl-table1"]["of"]) == (1, 9600)
    assert "done" not in spent["bjp-real"]


def test_a_page_without_tables_is_refused(run: Any, tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("# Results\n")
    refused = run("reproduce", "--page", page, "--out", tmp_path).refusal()
    assert "--page must hold a table to fill;" in refused
    assert "has no <!-- table. Name another." in refused
    assert page.read_text() == "# Results\n"


def test_a_page_from_summaries_is_that_from_runs(run: Any, tmp_path: Path) -> None:
    runs, kept, page = tmp_path / "runs", tmp_path / "kept", tmp_path / "page.md"
    small = ("--source", "d=64", "--sizes", "250", "--reps", 3, "--method", "mpl")
    assert run("reproduce", "mpl-table1", *small, "--out", runs).code == 0
    page.write_text(
        "<!-- table mpl-table1\n-->\n<!-- end -->\n"
        "<!-- table mpl-table1\nquantity: false\ncell: error 3\n-->\n<!-- end -->\n"
        "<!-- table costs\nlines: source\ncell: mean 3\n-->\n<!-- end -->\n"
    )
    done = run("reproduce", "--summaries", kept, "--page", page, "--out", runs)
    assert "2 summaries from" in done.out
    assert {path.name for path in kept.iterdir()} == {"costs.csv", "mpl-table1.csv"}
    from_runs = page.read_text(encoding="utf-8")
    assert from_runs.count("| d=64 | 250 | 3 |") == 2
    assert run("reproduce", "--page", page, "--out", kept).code == 0
    assert page.read_text(encoding="utf-8") == from_runs
    again = tmp_path / "again"
    assert run("reproduce", "--summaries", again, "--out", kept).code == 0
    assert (again / "mpl-table1.csv").read_bytes() == (kept / "mpl-table1.csv").read_bytes()


def test_costs_are_a_table_and_unknown_tables_are_refused(run: Any, tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("<!-- table costs\nlines: source = experiment\ncell: mean 0\n-->\nold\n<!-- end -->\n")
    assert "unchanged, without runs in the folder: costs" in run("reproduce", "--page", page, "--out", tmp_path).err
    small = ("--source", "degree=1", "--sizes", "5", "--reps", "2", "--out", tmp_path)
    assert run("reproduce", "gsimn-figure6", *small).code == 0
    assert run("reproduce", "--page", page, "--out", tmp_path).code == 0
    assert "| gsimn-figure6 | 2 | 2000 |" in page.read_text()
    page.write_text("<!-- table mpl-table9\n-->\n<!-- end -->\n")
    refused = run("reproduce", "--page", page, "--out", tmp_path)
    assert refused.code == 2
    assert "table 'mpl-table9' does not exist" in refused.err


@pytest.fixture(name="two")
def _two(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let there be two small experiments, one of which needs data."""
    figure6 = catalogue.REPRODUCTIONS["gsimn-figure6"]
    small = replace(cast("Measurement", figure6.measure), sizes=(10,), repetitions=2)
    both = {"gsimn-figure6": replace(figure6, measure=small), "mpl-table3": catalogue.REPRODUCTIONS["mpl-table3"]}
    monkeypatch.setattr(catalogue, "REPRODUCTIONS", both)
    monkeypatch.setattr(summaries, "REPRODUCTIONS", both)
    monkeypatch.delenv("MNLEARN_DATA", raising=False)


@pytest.mark.usefixtures("two")
def test_all_experiments_are_one_page(run: Any, tmp_path: Path) -> None:
    out = tmp_path / "runs"
    done = run("reproduce", "all", "--budget", "1m", "--out", out)
    assert done.code == 0
    assert "gsimn-figure6" in done.out
    assert f"{out / 'reproduction.md'}: the tables of 1 experiment" in " ".join(done.out.split())
    assert "not run, since --data is missing or incomplete: mpl-table3" in done.err
    assert {"reproduction.md", "reproduction.svg", "gsimn-figure6.csv", "costs.csv"} <= {p.name for p in out.iterdir()}
    page = (out / "reproduction.md").read_text()
    assert "| gsimn-figure6 | 0 |" in page
    assert "- mpl-table3: its data are missing" in page
    assert run("reproduce", "--page", out / "reproduction.md", "--out", out).code == 0
    assert (out / "reproduction.md").read_text() == page
    before = (out / "gsimn-figure6.jsonl").read_text()
    document = run("reproduce", "all", "--out", out, "--json").document()
    assert (out / "gsimn-figure6.jsonl").read_text() == before
    assert [line["name"] for line in document["experiments"]] == ["gsimn-figure6", "all"]
    assert document["experiments"][0]["runs"] == 8
    assert (document["without_data"], document["unfinished"], document["failed"]) == (["mpl-table3"], [], [])


@pytest.mark.usefixtures("two")
def test_without_any_run_there_is_no_page(run: Any, tmp_path: Path) -> None:
    refused = run("reproduce", "all", "--budget", "0.000001s", "--out", tmp_path)
    assert "no run ended within the time limit, or before Ctrl-C" in refused.refusal()


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ((), "NAME must be one of the experiments; got none"),
        (("all",), "--out must be a folder for the runs of all experiments; got none. Add --out runs."),
        (("all", "--out", "x", "--budget", "2"), "--budget must be a time with its unit, s, m or h; got '2'"),
        (("all", "--out", "x", "--budget", "0h"), "--budget must be a time with its unit, s, m or h; got '0h'"),
        (("all", "--out", "x", "--budget", "soon"), "--budget must be a time with its unit, s, m or h; got 'soon'"),
        (("all", "--out", "x", "--sizes", "250"), "--sizes is of one experiment; got it with all"),
        (("all", "--out", "x", "--reps", "0"), "--reps must be a whole number, at least 1; got 0"),
        (("mpl-table1", "--budget", "2h"), "--budget is a limit of all experiments; got 2h with mpl-table1"),
        (("mpl-tabel1",), "experiment 'mpl-tabel1' does not exist. Did you mean 'mpl-table1'"),
        (("mpl-table3",), "--data must be the folder of the data, which mpl-table3 needs; got none"),
        (("mpl-table3", "--data", "/nowhere"), "--data must be a folder; there is no /nowhere"),
        (("mpl-table1", "--sizes", "many"), "--sizes must be whole numbers with commas between; got 'many'"),
        (("mpl-table1", "--sizes", "0"), "--sizes must be whole numbers of at least 1; got 0"),
        (("mpl-table1", "--sizes", "9,9"), "--sizes must be different numbers of rows; got 9 twice. Drop one."),
        (("bjp-table1", "--sizes", "0"), "--sizes must be whole numbers of at least 1; got 0"),
        (("bjp-table1", "--sizes", ""), "--sizes must be whole numbers with commas between; got ''"),
        (("bjp-table1", "--sizes", "9,9"), "--sizes must be different numbers of rows; got 9 twice. Drop one."),
        (("mpl-table1", "--out", "/proc/self"), "--out must be a folder that can be written; '/proc/self'"),
        (("mpl-table1", "--reps", "0"), "--reps must be a whole number, at least 1; got 0"),
        (("mpl-table1", "--source", "d=32"), "source 'd=32' does not exist"),
        (("mpl-table1", "--method", "bjp"), "method 'bjp' does not exist"),
        (("--page", "x.md"), "--out must be the folder of the runs for --page; got none"),
        (("--page", "/nowhere.md", "--out", "/"), "--page must be a readable text file; /nowhere.md"),
        (("--summaries", "kept"), "--out must be the folder of the runs for --summaries; got none"),
        (("mpl-table1", "--summaries", "kept"), "--summaries excludes an experiment; got mpl-table1"),
        (("mpl-table1", "--page", "x.md"), "--page excludes an experiment; got mpl-table1"),
        (("mpl-table1", "--out", "/dev/null/x"), "--out must be a folder; '/dev/null/x' is below '/dev/null'"),
    ],
)
def test_bad_requests_are_refused(run: Any, monkeypatch: pytest.MonkeyPatch, words: Any, message: str) -> None:
    monkeypatch.delenv("MNLEARN_DATA", raising=False)
    assert message in run("reproduce", *words).refusal()
