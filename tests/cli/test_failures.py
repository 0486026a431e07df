"""Files that cannot be written or read, shell completion and Ctrl-C: no traceback and no incomplete file."""

from __future__ import annotations

import errno
import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import mnlearn
import mnlearn.data.overviews
from default_signals import with_default_signals
from mnlearn.cli import main

SOURCE = str(Path(mnlearn.__file__).parents[1])
ENVIRONMENT = {**os.environ, "PYTHONPATH": SOURCE}


OUT = ["net.json", "net.graphml", "net.dot", "net.edges.csv", "net.csv"]


@pytest.mark.parametrize("name", OUT)
def test_a_full_disk_leaves_nothing_behind_and_loses_nothing(
    run: Any, data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    target = tmp_path / name
    target.write_text("what was there")

    def full(path: Path, content: bytes) -> int:
        with path.open("wb") as file:
            file.write(content[: len(content) // 2])
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(Path, "write_bytes", full)
    done = run("learn", data, "--method", "gsmn", "--out", target)
    assert done.code == 2
    assert (
        done.err == f"error: {str(target)!r} cannot be written: No space left on device. Name another file or folder.\n"
    )
    assert "edges among 12 variables" in done.out  # the result is printed all the same
    assert "wrote" not in done.out
    assert target.read_text() == "what was there"
    assert sorted(path.name for path in tmp_path.iterdir()) == [name, "survey.csv"]
    document = json.loads(run("learn", data, "--method", "gsmn", "--out", target, "--json").out)
    assert document["method"] == "gsmn"


def test_a_folder_that_cannot_be_written_is_refused_before_the_search(
    run: Any, data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "access", lambda path, _: Path(path) != tmp_path)
    monkeypatch.setattr("mnlearn.learning.learn", lambda *_, **__: pytest.fail("learned"))
    refusal = run("learn", data, "--out", tmp_path / "net.graphml").refusal()
    assert "--out must be in a writable folder" in refusal


def test_a_file_that_cannot_be_replaced_is_one_line(
    run: Any, data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def denied(*_: object) -> None:
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))

    monkeypatch.setattr(os, "replace", denied)
    done = run("learn", data, "--method", "gsmn", "--out", tmp_path / "net.graphml")
    assert (done.code, done.err.count("\n")) == (2, 1)
    assert "cannot be written: Permission denied" in done.err
    assert [path.name for path in tmp_path.iterdir()] == ["survey.csv"]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--column", "stres", "--column", "fatigue"], "column 'stres' does not exist. Did you mean 'stress'"),
        (["--method", "mlp"], "method 'mlp' does not exist. Did you mean 'mpl'"),
        (["--out", "nowhere/net.json"], "--out must be in an existing folder; there is no 'nowhere'"),
        (["--out", "."], "--out must be a file; '.' is a directory"),
        (["--out", "net.foo"], "got 'net.foo'. Choose one of them."),
        (["--bins", "3"], "--bins is for --discretize width"),
        (["--bins", "many"], "--bins"),
        (["--metod", "mpl"], "no such option"),
    ],
)
def test_bad_options_are_one_line(run: Any, data: Path, words: list[str], message: str) -> None:
    assert message.lower() in run("learn", data, *words).refusal().lower()


@pytest.mark.parametrize("method", ["mpl", "pic", "l1lr", "gsmn --test chi2"])
def test_continuous_data_and_a_categorical_method(run: Any, tmp_path: Path, method: str) -> None:
    path = tmp_path / "numbers.csv"
    path.write_text("x,y\n" + "".join(f"{k / 7:.3f},{k * k % 11 / 3:.3f}\n" for k in range(40)))
    refusal = run("learn", path, "--method", *method.split()).refusal()
    assert "continuous" in refusal
    assert "--discretize" in refusal


def test_files_that_cannot_be_read(run: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "survey.csv").write_text("a,b\n0,1\n1,0\n")
    assert "Did you mean 'survey.csv'" in run("learn", tmp_path / "survy.csv").refusal()
    assert "is a directory" in run("learn", tmp_path).refusal()
    (tmp_path / "bytes.csv").write_bytes(b"a,b\n\xff,1\n")
    assert "UTF-8" in run("learn", tmp_path / "bytes.csv").refusal()


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="a device that is always full")
def test_a_full_standard_output_is_one_line_and_exit_2(data: Path) -> None:
    with open("/dev/full", "w", encoding="utf-8") as full:
        done = subprocess.run(
            [sys.executable, "-m", "mnlearn", "info", str(data)],
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
            env=ENVIRONMENT,
            timeout=60,
        )
    assert done.returncode == 2
    assert done.stderr == "error: standard output cannot be written: No space left on device. Send it elsewhere.\n"


def _shell(line: str, data: Path) -> subprocess.CompletedProcess[str]:
    command = line.replace("mnlearn", f"{sys.executable} -m mnlearn").replace("DATA", str(data))
    return subprocess.run(
        ["/bin/sh", "-c", command], capture_output=True, text=True, check=False, env=ENVIRONMENT, timeout=60
    )


@pytest.mark.skipif(os.name != "posix", reason="streams of a POSIX shell")
@pytest.mark.parametrize(
    ("line", "code", "words"),
    [
        ("mnlearn info DATA >&-", 2, "standard output must be open"),
        ("mnlearn info nowhere.csv 2>&-", 2, ""),
        ("mnlearn info DATA 2>/dev/full >/dev/null", 0, ""),
        ("mnlearn info nowhere.csv 2>/dev/full", 2, ""),
        ("mnlearn --help >/dev/full", 2, "standard output cannot be written: No space left on device"),
    ],
)
def test_streams_that_are_closed_or_full_change_no_exit_code(data: Path, line: str, code: int, words: str) -> None:
    done = _shell(line, data)
    assert done.returncode == code
    assert "Traceback" not in done.stderr
    assert words in done.stderr
    assert done.stderr.count("\n") == bool(words)


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (OSError(errno.ENOSPC, "No space left on device"), "a file cannot be read or written: No space left"),
        (
            OSError(errno.EROFS, "Read-only file system", "some.file"),
            "'some.file' cannot be read or written: Read-only",
        ),
        (BrokenPipeError(errno.EPIPE, "Broken pipe"), "a file cannot be read or written: Broken pipe"),
    ],
)
def test_an_error_of_the_system_is_no_bug(
    run: Any, data: Path, monkeypatch: pytest.MonkeyPatch, error: OSError, words: str
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise error

    monkeypatch.setattr(sys.modules["mnlearn.data.overviews"], "overview", fail)
    assert words in run("info", data).refusal()


def _completed(line: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> list[str]:
    monkeypatch.setenv("_MNLEARN_COMPLETE", "complete_bash")
    monkeypatch.setenv("COMP_WORDS", line)
    monkeypatch.setenv("COMP_CWORD", str(len(line.split()) - 1))
    with pytest.raises(SystemExit) as ended:
        main([])
    assert not ended.value.code
    return capsys.readouterr().out.split()


def test_a_shell_can_complete(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    assert _completed("mnlearn lea", monkeypatch, capsys) == ["learn"]
    assert _completed("mnlearn learn --method gsm", monkeypatch, capsys) == ["gsmn", "gsmn*"]
    assert "--bootstrap-seed" in _completed("mnlearn learn --boot", monkeypatch, capsys)
    assert _completed("mnlearn test a.csv x y --test pc", monkeypatch, capsys) == ["pcor"]
    assert "pic" in _completed("mnlearn learn a.csv --score pi", monkeypatch, capsys)


@pytest.mark.skipif(os.name != "posix", reason="signals of a terminal")
def test_ctrl_c_of_a_terminal_reaches_no_worker() -> None:
    """A terminal sends it to the whole group: the workers must go on until they are stopped."""
    program = """
import os, time
from mnlearn.cli.console import progress_monitor
from mnlearn.parallel import run

def item(k):
    os.write(1, b"begun\\n")
    time.sleep(0.2)
    return k

with progress_monitor() as monitor:
    done = list(run(item, range(1000), n_jobs=2, backend="processes", monitor=monitor))
os.write(1, f"{monitor.interrupted} {0 < len(done) < 1000}\\n".encode())
"""
    with subprocess.Popen(
        with_default_signals([sys.executable, "-c", program]),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=ENVIRONMENT,
        start_new_session=True,
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "begun\n"
        os.killpg(process.pid, signal.SIGINT)
        out, err = process.communicate(timeout=60)
    assert (process.returncode, err) == (0, "")
    assert out.endswith("True True\n")
