"""Experiments: what is drawn, what is run, what is kept, and what a killed run leaves behind."""

from __future__ import annotations

import csv
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mnlearn.data import Dataset
from mnlearn.errors import FileError, InputError, UnknownNameError
from mnlearn.graphs import Graph, path
from mnlearn_papers.experiment import Case, Experiment, Row, generator_of, run_experiment, write_rows


@dataclass(frozen=True)
class Coins:
    """Independent coins, and a chain as their truth; remembers nothing."""

    n: int

    def __call__(self, n_rows: int, rng: np.random.Generator) -> Case:
        return Case(Dataset.from_codes(rng.integers(0, 2, (n_rows, self.n)), cards=[2] * self.n), path(self.n))


def ends(data: Dataset) -> Mapping[str, Graph]:
    """Two graphs of one run; one of them depends on the data."""
    first = int(data.columns[0][0])
    return {"ends": Graph(data.n_variables, [(0, data.n_variables - 1)] * first), "nothing": Graph(data.n_variables)}


def chain(data: Dataset) -> Mapping[str, Graph]:
    return {"chain": path(data.n_variables)}


COINS = Experiment("coins", {"three": Coins(3), "four": Coins(4)}, {"ends": ends, "chain": chain})


def stable(rows: list[Row]) -> list[tuple[Any, ...]]:
    """The rows but for the seconds."""
    return [row[:7] for row in rows]


def test_every_source_size_repetition_and_method_has_its_rows() -> None:
    rows = run_experiment(COINS, [5, 7], 3)
    assert len(rows) == 2 * 2 * 3 * 3
    assert stable(rows)[:3] == [
        ("three", 5, 0, "chain", 0, 0, 0),
        ("three", 5, 0, "ends", *stable(rows)[1][4:]),
        ("three", 5, 0, "nothing", 2, 0, 2),
    ]
    for row in rows:
        drawn = COINS.sources[row.source](row.n_rows, generator_of("coins", row.source, row.n_rows, row.repetition))
        if row.learner == "ends":
            assert row.false_positives == int(drawn.data.columns[0][0])
            assert row.hamming == row.false_positives + row.false_negatives


def test_data_are_the_same_whatever_else_is_run() -> None:
    some = run_experiment(COINS.only(["four"], ["ends"]), [7], 2)
    assert stable(some) == [row for row in stable(run_experiment(COINS, [5, 7], 3)) if row[:2] == ("four", 7)
                            and row[2] < 2 and row[3] != "chain"]  # fmt: skip
    first = generator_of("coins", "four", 7, 0).random()
    assert first == generator_of("coins", "four", 7, 0).random()
    others = [("coins", "four", 7, 1), ("coins", "four", 8, 0), ("coins", "five", 7, 0), ("dice", "four", 7, 0)]
    assert len({first, *(generator_of(*other).random() for other in others)}) == 5


def test_pairs_that_are_left_out_are_not_run() -> None:
    less = Experiment(COINS.name, COINS.sources, COINS.methods, frozenset({("four", "ends")}))
    assert {(row.source, row.learner) for row in run_experiment(less, [5], 1)} == {
        ("three", "ends"),
        ("three", "nothing"),
        ("three", "chain"),
        ("four", "chain"),
    }


def test_processes_give_the_same_rows() -> None:
    assert stable(run_experiment(COINS, [5], 2, n_jobs=2)) == stable(run_experiment(COINS, [5], 2))


class Counting:
    """A method that counts its runs, and fails at the third."""

    def __init__(self, fail_at: int | None = None) -> None:
        self.runs, self.fail_at = 0, fail_at

    def __call__(self, data: Dataset) -> Mapping[str, Graph]:
        self.runs += 1
        if self.runs == self.fail_at:
            raise KeyboardInterrupt
        return {"counted": Graph(data.n_variables)}


def test_a_killed_run_continues_where_it_stopped(tmp_path: Path) -> None:
    journal = tmp_path / "deep" / "coins.jsonl"
    with pytest.raises(KeyboardInterrupt):
        run_experiment(Experiment("coins", COINS.sources, {"m": Counting(fail_at=4)}), [5, 7], 2, journal=journal)
    assert len(journal.read_text().splitlines()) == 3
    with journal.open("a") as file:
        file.write('{"source": "four", "n_ro')  # the power fails in the middle of a line
    again = Counting()
    rows = run_experiment(Experiment("coins", COINS.sources, {"m": again}), [5, 7], 2, journal=journal)
    assert again.runs == 8 - 3
    assert stable(rows) == stable(run_experiment(Experiment("coins", COINS.sources, {"m": Counting()}), [5, 7], 2))
    assert all(json.loads(line) for line in journal.read_text().splitlines())
    nothing_new = Counting()
    fewer = run_experiment(Experiment("coins", COINS.sources, {"m": nothing_new}), [5], 1, journal=journal)
    assert nothing_new.runs == 0
    assert [(row.source, row.n_rows, row.repetition) for row in fewer] == [("three", 5, 0), ("four", 5, 0)]


def test_a_monitor_hears_the_progress_and_may_stop(tmp_path: Path) -> None:
    class After:
        def __init__(self) -> None:
            self.heard = list[tuple[float, float | None]]()

        def progress(self, done: float, total: float | None, message: str = "") -> None:
            self.heard.append((done, total))
            assert "coins" in message

        def cancelled(self) -> bool:
            return len(self.heard) >= 2

    monitor = After()
    rows = run_experiment(COINS, [5, 7], 3, monitor=monitor, journal=tmp_path / "j")
    assert monitor.heard == [(2, 24), (4, 24)]
    assert len(rows) == 2 * 3


def test_rows_are_written_as_csv(tmp_path: Path) -> None:
    rows = run_experiment(COINS, [5], 1)
    write_rows(rows, tmp_path / "rows.csv")
    with (tmp_path / "rows.csv").open(newline="") as file:
        read = list(csv.DictReader(file))
    assert [row["learner"] for row in read] == [row.learner for row in rows]
    assert list(read[0]) == [*Row._fields[:-1], "normalized_hamming", "precision", "recall", "f1"]
    assert [p.name for p in tmp_path.iterdir()] == ["rows.csv"]


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        (([], 1), InputError, "sizes must name at least one number of rows; got none"),
        (([0], 1), InputError, "sizes must be a whole number, at least 1; got 0"),
        (([5], 0), InputError, "repetitions must be a whole number, at least 1; got 0"),
    ],
)
def test_bad_requests_are_refused(arguments: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        run_experiment(COINS, *arguments)


def test_bad_names_and_journals_are_refused(tmp_path: Path) -> None:
    with pytest.raises(UnknownNameError, match=r"source 'fuor' does not exist. Did you mean 'four'"):
        COINS.only(["fuor"])
    with pytest.raises(UnknownNameError, match="method 'mpl' does not exist"):
        COINS.only([], ["mpl"])
    (tmp_path / "bad").write_text("{}\nnonsense\n")
    with pytest.raises(FileError, match=r"line 1 of .*bad is none"):
        run_experiment(COINS, [5], 1, journal=tmp_path / "bad")
    with pytest.raises(FileError, match="journal must be a file we can read and write"):
        run_experiment(COINS, [5], 1, journal=tmp_path)
    with pytest.raises(InputError, match="n_jobs must be a whole number, at least 1"):
        run_experiment(COINS, [5], 1, n_jobs=0)
