"""Experiments that are killed, that fail, and that are written down."""

from __future__ import annotations

import errno
import json
import os
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Mapping
from pathlib import Path

import pytest

from mnlearn.data import Dataset
from mnlearn.errors import FileError, InputError, UnknownNameError
from mnlearn.evaluation import compare_edges
from mnlearn.graphs import Graph, path
from mnlearn_papers.experiment import Experiment, Row, run_experiment, write_rows
from mnlearn_papers.journal import Journal
from mnlearn_papers.named import NamedMethod, NamedSource, experiment

PROGRAM = """
import sys, time
from pathlib import Path
from mnlearn_papers.experiment import Experiment, run_experiment, write_rows
from mnlearn.graphs import Graph
from mnlearn_papers.named import NamedSource

folder, pause = Path(sys.argv[1]), float(sys.argv[2])

def slow(data):
    with (folder / "ran").open("a") as file:
        file.write("".join(map(str, data.columns[0].tolist())) + "\\n")
    time.sleep(pause)
    return {"slow": Graph(data.n_variables)}

tried = Experiment("killed", {"path": NamedSource("path:n=3"), "tree": NamedSource("tree:n=5")}, {"slow": slow})
write_rows(run_experiment(tried, [20, 30], 4, journal=folder / "journal"), folder / "rows.csv")
"""


def started(folder: Path, pause: float) -> subprocess.Popen[bytes]:
    (folder / "program.py").write_text(PROGRAM, encoding="utf-8")
    return subprocess.Popen([sys.executable, "program.py", str(folder), str(pause)], cwd=folder, env={**os.environ})


def lines_of(file: Path) -> list[str]:
    return file.read_text(encoding="utf-8").splitlines() if file.exists() else []


@pytest.mark.slow
def test_a_run_that_is_killed_loses_nothing_and_repeats_nothing(tmp_path: Path) -> None:
    killed = tmp_path / "killed"
    killed.mkdir()
    process = started(killed, 0.2)
    deadline = time.monotonic() + 60
    while len(lines_of(killed / "journal")) < 3 and time.monotonic() < deadline:
        time.sleep(0.02)
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    kept = lines_of(killed / "journal")
    assert 3 <= len(kept) < 16
    assert started(killed, 0.0).wait() == 0
    assert lines_of(killed / "journal")[: len(kept)] == kept
    # Sixteen data sets; only the one that was under way when it was killed may have been run twice.
    runs = Counter(lines_of(killed / "ran"))
    assert len(runs) == 16
    assert sum(runs.values()) <= 17
    whole = tmp_path / "whole"
    whole.mkdir()
    assert started(whole, 0.0).wait() == 0
    seconds = 7
    cells = [[line.split(",") for line in lines_of(folder / "rows.csv")] for folder in (killed, whole)]
    for one, other in zip(*cells, strict=True):
        assert one[:seconds] + one[seconds + 1 :] == other[:seconds] + other[seconds + 1 :]


def fails_on_trees(data: Dataset) -> Mapping[str, Graph]:
    if data.n_variables == 5:
        raise InputError("no trees")
    time.sleep(0.5)  # still under way when another process meets a tree
    return {"picky": Graph(data.n_variables)}


SOURCES = {"path": NamedSource("path:n=3"), "tree": NamedSource("tree:n=5")}


def test_one_failure_does_not_cost_what_the_others_did(tmp_path: Path) -> None:
    picky = Experiment("picky", SOURCES, {"picky": fails_on_trees})
    journal = tmp_path / "journal"
    with pytest.raises(InputError, match="no trees"):
        run_experiment(picky, [20], 3, journal=journal, n_jobs=2)
    kept = len(lines_of(journal))
    assert kept >= 1
    assert len(run_experiment(picky.only(["path"]), [20], 3, journal=journal)) == 3
    assert len(lines_of(journal)) == 3


def test_a_journal_belongs_to_one_experiment(tmp_path: Path) -> None:
    run_experiment(Experiment("one", SOURCES, {"mpl": NamedMethod("mpl")}), [20], 1, journal=tmp_path / "journal")
    other = Experiment("other", SOURCES, {"mpl": NamedMethod("mpl")})
    with pytest.raises(FileError, match=r"journal must be of the experiment 'other'; line 1 .* is of 'one'"):
        run_experiment(other, [20], 1, journal=tmp_path / "journal")


@pytest.mark.parametrize("line", ["5", "[]", '{"source": "path"}', "no JSON"])
def test_a_line_that_is_no_record_is_refused(tmp_path: Path, line: str) -> None:
    (tmp_path / "journal").write_text(f"{line}\n")
    with pytest.raises(FileError, match=r"journal must hold one JSON record per line; line 1 of .* is none"):
        run_experiment(Experiment("one", SOURCES, {"mpl": NamedMethod("mpl")}), [20], 1, journal=tmp_path / "journal")


def test_a_journal_that_cannot_be_written_is_refused_before_anything_runs() -> None:
    def never(data: Dataset) -> Mapping[str, Graph]:
        raise AssertionError(data)

    with pytest.raises(FileError, match="journal must be a file we can read and write; /proc/self/journal"):
        run_experiment(Experiment("one", SOURCES, {"never": never}), [20], 1, journal=Path("/proc/self/journal"))


def test_a_size_named_twice_is_refused() -> None:
    with pytest.raises(InputError, match="sizes must be different numbers of rows; got 20 twice"):
        run_experiment(Experiment("one", SOURCES, {"mpl": NamedMethod("mpl")}), [20, 30, 20], 1)


def test_rows_tell_every_measure_of_edges() -> None:
    learned, truth = Graph(4, [(0, 1), (0, 3)]), path(4)
    found = compare_edges(learned, truth)
    row = Row("s", 10, 0, "m", found.hamming, found.false_positives, found.false_negatives, 0.5, 4, 3)
    assert row.confusion == found
    assert row.tidy()["f1"] == found.f1
    assert row.tidy()["normalized_hamming"] == found.normalized_hamming


def test_the_table_is_csv_or_parquet(tmp_path: Path) -> None:
    import pyarrow.parquet as pq

    rows = run_experiment(experiment("written", ["path:n=3"], ["mpl", "pc"], settings={"pc": {"alpha": 0.01}}), [50], 2)
    write_rows(rows, tmp_path / "rows.csv")
    write_rows(rows, tmp_path / "rows.parquet")
    table = pq.read_table(tmp_path / "rows.parquet").to_pylist()
    assert [line["learner"] for line in table] == ["mpl", "pc"] * 2
    assert table[0] == rows[0].tidy()
    assert lines_of(tmp_path / "rows.csv")[0].split(",") == list(table[0])
    write_rows([], tmp_path / "none.csv")
    assert lines_of(tmp_path / "none.csv") == lines_of(tmp_path / "rows.csv")[:1]


def test_names_are_checked_before_anything_runs() -> None:
    with pytest.raises(UnknownNameError, match=r"method 'mlp' does not exist. Did you mean 'mpl'"):
        experiment("e", ["path"], ["mlp"])
    with pytest.raises(UnknownNameError, match="method 'mlp' does not exist"):
        experiment("e", ["path"], ["mpl"], settings={"mlp": {}})
    with pytest.raises(InputError, match="networks and methods must name at least one each; got 0 and 1"):
        experiment("e", [], ["mpl"])


def one_journal(folder: Path) -> Path:
    run_experiment(Experiment("one", SOURCES, {"mpl": NamedMethod("mpl")}), [20], 2, journal=folder / "journal")
    return folder / "journal"


def test_a_damaged_byte_of_a_journal_is_an_error(tmp_path: Path) -> None:
    file = one_journal(tmp_path)
    content = file.read_bytes()
    for place in range(0, len(content) - 1, 3):
        damaged = bytearray(content)
        damaged[place] ^= 1
        file.write_bytes(damaged)
        with pytest.raises(
            FileError, match=r"journal must hold one JSON record per line; line \d of .* is none, or damaged"
        ):
            Journal("one", file)
        assert file.read_bytes() == damaged


def test_a_torn_line_is_cut_off_and_a_line_of_something_else_is_not(tmp_path: Path) -> None:
    file = one_journal(tmp_path)
    content = file.read_bytes()
    for size in range(len(content)):
        file.write_bytes(content[:size])
        with Journal("one", file) as book:
            assert len(book.records) == content[:size].count(b"\n")
        assert file.read_bytes() == content[: content[:size].rfind(b"\n") + 1]
    file.write_text("all that I have written this year")
    with pytest.raises(FileError, match="line 1 of"):
        Journal("one", file)
    assert file.read_text() == "all that I have written this year"


def test_a_journal_is_used_by_one_process_at_a_time(tmp_path: Path) -> None:
    with Journal("one", tmp_path / "journal"), pytest.raises(FileError, match="journal must be used by one process"):
        Journal("one", tmp_path / "journal")


def test_a_run_that_is_there_twice_counts_once(tmp_path: Path) -> None:
    file = one_journal(tmp_path)
    file.write_bytes(file.read_bytes() * 2)
    with Journal("one", file) as book:
        assert len(book.records) == 4


def test_lines_of_earlier_versions_are_read(tmp_path: Path) -> None:
    file = one_journal(tmp_path)
    lines = [json.loads(line) for line in lines_of(file)]
    file.write_text("".join(json.dumps({k: v for k, v in line.items() if k != "checksum"}) + "\n" for line in lines))
    with Journal("one", file) as book:
        assert len(book.records) == 4


def test_a_full_disk_does_not_end_an_experiment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def full(*_: object) -> int:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    tried = Experiment("one", SOURCES, {"mpl": NamedMethod("mpl")})
    with monkeypatch.context() as patched:
        patched.setattr(os, "write", full)
        assert len(run_experiment(tried, [20], 2, journal=tmp_path / "journal")) == 4
    texts = [record.getMessage() for record in caplog.records if record.name == "mnlearn.papers"]
    assert ["goes on without it" in text for text in texts] == [True, False]
    assert (tmp_path / "journal").read_bytes() == b""
