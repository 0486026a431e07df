"""Files that are replaced as a whole: killed writers, devices, permissions, locks, and names of one file."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest

import mnlearn
from default_signals import with_default_signals
from mnlearn.errors import FileError
from mnlearn.files import check_outputs, only_user, replacing, same_file, write_errors

ENVIRONMENT = {**os.environ, "PYTHONPATH": str(Path(mnlearn.__file__).parents[1])}
PROGRAM = """
import os, signal, sys
from mnlearn.files import replacing
with replacing(sys.argv[1]) as part:
    part.write_text("half")
    os.kill(os.getpid(), int(sys.argv[2]))
"""


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGINT])
def test_a_writer_that_is_told_to_end_leaves_the_old_file(tmp_path: Path, number: signal.Signals) -> None:
    file = tmp_path / "file.txt"
    file.write_text("old")
    command = with_default_signals([sys.executable, "-c", PROGRAM, str(file), str(int(number))])
    done = subprocess.run(command, capture_output=True, check=False, env=ENVIRONMENT, timeout=60)
    assert done.returncode in (128 + number, -number)
    assert [path.name for path in tmp_path.iterdir()] == ["file.txt"]
    assert file.read_text() == "old"


@pytest.mark.usefixtures("default_signals")
def test_handlers_are_as_before(tmp_path: Path) -> None:
    before = signal.getsignal(signal.SIGTERM)
    with replacing(tmp_path / "a") as part:
        part.write_text("a")
        assert signal.getsignal(signal.SIGTERM) is not before
    assert signal.getsignal(signal.SIGTERM) is before


@pytest.mark.usefixtures("default_signals")
@pytest.mark.parametrize("handler", [signal.SIG_IGN, lambda *_: None])
def test_handlers_of_the_program_stay(tmp_path: Path, handler: Any) -> None:
    signal.signal(signal.SIGTERM, handler)
    with replacing(tmp_path / "a") as part:
        part.write_text("a")
        assert signal.getsignal(signal.SIGTERM) is handler
    assert signal.getsignal(signal.SIGTERM) is handler


def test_another_thread_can_write(tmp_path: Path) -> None:
    def write() -> None:
        with replacing(tmp_path / "a") as part:
            part.write_text("a")

    thread = threading.Thread(target=write)
    thread.start()
    thread.join()
    assert (tmp_path / "a").read_text() == "a"


def test_what_is_no_file_is_not_replaced(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "loop").symlink_to("loop")
    for path in (
        "/dev/null",
        tmp_path / "pipe",
        tmp_path,
        tmp_path / "loop",
        f"{tmp_path}/a\0b",
        tmp_path / ("x" * 300),
    ):
        with pytest.raises(FileError, match="cannot be written"), write_errors(path), replacing(path) as part:
            part.write_text("new")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["loop", "pipe"]
    assert not Path("/dev/null").is_file()


def test_an_error_while_writing_leaves_the_old_file(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("old")
    with pytest.raises(ValueError, match="half"), replacing(tmp_path / "a.csv") as part:  # noqa: PT012 - half of it
        part.write_text("ne")
        raise ValueError("half")
    assert [(file.name, file.read_text()) for file in tmp_path.iterdir()] == [("a.csv", "old")]


def test_a_file_in_the_making_has_another_name_with_the_same_extension(tmp_path: Path) -> None:
    with replacing(tmp_path / "a.svg") as part:
        part.write_text("new")
        assert not (tmp_path / "a.svg").exists()
        assert part.suffix == ".svg"
    assert [file.name for file in tmp_path.iterdir()] == ["a.svg"]


def test_a_link_stays_and_its_file_is_replaced(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to("file")
    with replacing(tmp_path / "link") as part:
        part.write_text("new")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "file").read_text() == "new"


def test_a_file_has_one_user_at_a_time(tmp_path: Path) -> None:
    with only_user(tmp_path / "a") as first, only_user(tmp_path / "a") as second, only_user(tmp_path / "b") as other:
        assert (first, second, other) == (True, False, True)
    assert list(tmp_path.iterdir()) == []


def test_paths_of_one_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("a").write_text("")
    os.link("a", "hard")
    Path("soft").symlink_to("a")
    for other in ("./a", tmp_path / "a", "hard", "soft", f"../{tmp_path.name}/a"):
        assert same_file("a", other)
    assert same_file("new", tmp_path / "new")
    for other in ("b", "a\0", "a/b", tmp_path):
        assert not same_file("a", other)
    check_outputs({"out": ["b"], "report": ["c"]}, {"data": ["a"]})
    with pytest.raises(
        FileError, match=r"report must be another file than data, which it would overwrite; got 'soft' and"
    ):
        check_outputs({"out": ["b"], "report": ["soft"]}, {"data": ["a"]})
    with pytest.raises(
        FileError, match=r"out must be another file than report, or one of the two is lost; got 'b' for both"
    ):
        check_outputs({"out": ["b"], "report": ["b"]}, {})
