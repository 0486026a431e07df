"""Cost of experiments, so far and in full."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from mnlearn_papers.campaign import as_figures, costs, estimate
from mnlearn_papers.catalogue import REPRODUCTIONS
from mnlearn_papers.experiment import RunCell
from mnlearn_papers.reproduction import Request


def write(folder: Path, name: str, runs: list[tuple[str, int, int, str, float]]) -> None:
    records = [
        {"experiment": name, "source": source, "n_rows": n_rows, "repetition": k, "method": method, "seconds": seconds,
         "drawing": 0.5, "errors": {}, "values": {}}
        for source, n_rows, k, method, seconds in runs
    ]  # fmt: skip
    (folder / f"{name}.jsonl").write_text("".join(json.dumps(record) + "\n" for record in records))


def test_missing_runs_are_estimated_cell_by_cell(tmp_path: Path) -> None:
    assert costs(REPRODUCTIONS, tmp_path) == []
    sources = [f"d={64 * k}" for k in (1, 2, 4, 8)]
    runs = [(source, 250, k, "mpl", float(k)) for source in sources for k in (0, 1)]
    write(tmp_path, "mpl-table1", [*runs, *((source, 250, 0, "l1lr", 8.0) for source in sources)])
    (cost,) = costs(REPRODUCTIONS, tmp_path)
    assert cost.experiments == ("mpl-table1",)
    assert (cost.done, cost.of, cost.seconds) == (12, 9600, 8 * 1.0 + 4 * 8.5)
    scale = sum((250, 500, 1000, 2000, 4000, 8000)) / 250  # the other sizes, in proportion
    assert cost.in_full == pytest.approx(100 * 4 * scale * (1.0 + 8.5))
    assert cost.estimated == 2 * 4 * 5
    assert not cost.complete  # nothing is known of pic and pc
    figures = {(line.source, line.learner): line.ours for line in as_figures([cost])}
    assert figures["mpl-table1", "of"] == figures["all", "of"] == 9600
    assert {learner for _, learner in figures} == {"done", "of", "seconds", "in_full", "estimated"}


def test_experiments_of_one_journal_are_one_line(tmp_path: Path) -> None:
    cells = REPRODUCTIONS["gsimn-figures8-9"].measure.cells(None)
    write(tmp_path, "gsimn-samples", [(cell.source, cell.n_rows, 0, "all", 4.0) for cell in cells])
    (cost,) = costs(REPRODUCTIONS, tmp_path)
    assert cost.experiments == ("gsimn-figures8-9", "gsimn-figures10-11")
    assert (cost.done, cost.of, cost.estimated, cost.complete) == (len(cells), 10 * len(cells), 0, True)
    assert (cost.seconds, cost.in_full) == pytest.approx((4.5 * len(cells), 45.0 * len(cells)))
    (line,) = [line for line in as_figures([cost]) if (line.source, line.learner) == ("all", "in_full")]
    assert line.ours == cost.in_full


def test_without_the_data_only_what_was_run_is_counted(tmp_path: Path) -> None:
    write(tmp_path, "mpl-table3", [("Alarm", 250, 0, "mpl", 1.0)])
    (cost,) = costs(REPRODUCTIONS, tmp_path)
    assert (cost.of, cost.estimated, cost.complete) == (600, 5, False)


def test_journals_without_times_are_estimated_from_those_with_times(tmp_path: Path) -> None:
    write(tmp_path, "mpl-table1", [("d=64", 250, k, "mpl", 2.0) for k in range(4)])
    lines = (tmp_path / "mpl-table1.jsonl").read_text().splitlines()
    told, *untold = [json.loads(line) for line in lines]
    for record in untold:
        del record["drawing"], record["values"]
    (tmp_path / "mpl-table1.jsonl").write_text("".join(json.dumps(r) + "\n" for r in [*untold, told]))
    (cost,) = costs(REPRODUCTIONS, tmp_path)
    assert cost.done == 4
    assert cost.seconds == pytest.approx(10.0)
    (tmp_path / "mpl-table1.jsonl").write_text("".join(json.dumps(r) + "\n" for r in untold))
    (cost,) = costs(REPRODUCTIONS, tmp_path)
    assert (cost.done, cost.seconds, cost.in_full) == (3, None, None)
    assert [line.learner for line in as_figures([cost]) if line.source != "all"] == ["done", "of", "estimated"]


def test_the_nearest_cell_is_of_the_same_method() -> None:
    known = {RunCell("a", 100, "x"): 1.0, RunCell("c", 100, "x"): 5.0, RunCell("a", 800, "x"): 9.0}
    assert estimate(RunCell("a", 800, "x"), known, "abc") == 9.0
    assert estimate(RunCell("a", 400, "x"), known, "abc") == 4.5
    assert estimate(RunCell("d", 200, "x"), known, "abcd") == 10.0
    assert estimate(RunCell("a", 100, "y"), known, "abc") is None


def test_runs_tell_their_processor_time(tmp_path: Path) -> None:
    for name, request in (
        ("mpl-table1", Request(sizes=(500,), sources=("d=64",), methods=("mpl",), repetitions=1, out=tmp_path)),
        ("gsimn-figure6", Request(sizes=(25,), sources=("degree=2",), repetitions=1, out=tmp_path)),
    ):
        REPRODUCTIONS[name].measure(request)
    for cost in costs(REPRODUCTIONS, tmp_path):
        assert cost.done == 1
        assert cost.seconds is not None
        assert 0 < cost.seconds < 60
        assert cost.in_full is not None
        assert cost.in_full > 100 * cost.seconds
