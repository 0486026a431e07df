"""Cost of experiments, so far and in full."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from mnlearn.experiments.catalogue import REPRODUCTIONS
from mnlearn.experiments.costs import Cost, as_figures, costs
from mnlearn.experiments.reproduction import Request


def write(folder: Path, name: str, runs: list[tuple[str, int, str, float]]) -> None:
    records = [
        {"experiment": name, "source": source, "n_rows": 10, "repetition": k, "method": method, "seconds": seconds,
         "drawing": 0.5, "errors": {}, "values": {}}
        for source, k, method, seconds in runs
    ]  # fmt: skip
    (folder / f"{name}.jsonl").write_text("".join(json.dumps(record) + "\n" for record in records))


def test_missing_runs_are_reckoned_cell_by_cell(tmp_path: Path) -> None:
    assert costs(REPRODUCTIONS, tmp_path) == []
    write(tmp_path, "mpl-table1", [("d=64", 0, "mpl", 1.0), ("d=64", 1, "mpl", 2.0), ("d=64", 0, "l1lr", 8.0)])
    write(tmp_path, "gsimn-samples", [("a", 0, "all", 4.0)])
    samples, mpl = costs(REPRODUCTIONS, tmp_path)
    assert samples == Cost(("gsimn-figures8-9", "gsimn-figures10-11"), 1, 10, 4.5, 45.0)
    assert mpl[:4] == (("mpl-table1",), 3, 200, 12.5)
    assert mpl.in_full == pytest.approx(100 * 2.0 + 100 * 8.5)
    figures = {(line.source, line.learner): line.ours for line in as_figures([samples, mpl])}
    assert figures["gsimn-figures8-9 and gsimn-figures10-11", "of"] == 10
    assert figures["all", "in_full"] == pytest.approx(1095)


def test_journals_that_do_not_tell_their_time_are_reckoned_by_those_that_do(tmp_path: Path) -> None:
    write(tmp_path, "mpl-table1", [("d=64", k, "mpl", 2.0) for k in range(4)])
    lines = (tmp_path / "mpl-table1.jsonl").read_text().splitlines()
    told, *untold = [json.loads(line) for line in lines]
    for record in untold:
        del record["drawing"], record["values"]
    (tmp_path / "mpl-table1.jsonl").write_text("".join(json.dumps(r) + "\n" for r in [*untold, told]))
    (cost,) = costs(REPRODUCTIONS, tmp_path)
    assert cost.done == 4
    assert (cost.seconds, cost.in_full) == pytest.approx((10.0, 250.0))
    (tmp_path / "mpl-table1.jsonl").write_text("".join(json.dumps(r) + "\n" for r in untold))
    (cost,) = costs(REPRODUCTIONS, tmp_path)
    assert (cost.done, cost.seconds, cost.in_full) == (3, None, None)
    assert [line.learner for line in as_figures([cost]) if line.source != "all"] == ["done", "of"]


def test_runs_tell_their_processor_time(tmp_path: Path) -> None:
    for name, request in (
        ("mpl-table1", Request(sizes=(500,), sources=("d=64",), methods=("mpl",), repetitions=1, out=tmp_path)),
        ("gsimn-figure6", Request(sizes=(20,), sources=("degree=2",), repetitions=1, out=tmp_path)),
    ):
        REPRODUCTIONS[name].measure(request)
    for cost in costs(REPRODUCTIONS, tmp_path):
        assert (cost.done, cost.of) == (1, 100)
        assert cost.seconds is not None
        assert 0 < cost.seconds < 60
        assert cost.in_full == pytest.approx(100 * cost.seconds)
