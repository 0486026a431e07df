"""Windows and macOS: their modules and calls, replaced by simple ones where nothing can run on them."""

from __future__ import annotations

import errno
import os
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

import mnlearn as mn
from mnlearn.data import streams as _positions
from mnlearn.files import lock, only_user


class Locks(ModuleType):
    """Stand-in for the module of Windows that locks bytes from the position of a file on."""

    LK_NBLCK = 2

    def __init__(self, failure: int = 0) -> None:
        super().__init__("msvcrt")
        self.failure = failure
        self.held: set[tuple[int, int, int]] = set()  # device, file, first byte

    def locking(self, handle: int, mode: int, n_bytes: int) -> None:
        assert (mode, n_bytes) == (self.LK_NBLCK, 1)
        if self.failure:
            raise OSError(self.failure, "refused")
        state = os.fstat(handle)
        byte = (state.st_dev, state.st_ino, os.lseek(handle, 0, os.SEEK_CUR))
        if byte in self.held:
            raise PermissionError(errno.EACCES, "locked")
        self.held.add(byte)


def on_windows(monkeypatch: pytest.MonkeyPatch, failure: int = 0) -> Locks:
    locks = Locks(failure)
    monkeypatch.setattr(sys, "platform", "win32")
    monkeypatch.setitem(sys.modules, "msvcrt", locks)
    monkeypatch.setitem(sys.modules, "fcntl", None)
    return locks


def test_a_file_is_locked_on_windows_and_its_position_stays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    locks = on_windows(monkeypatch)
    path = tmp_path / "file"
    path.write_bytes(b"content")
    with path.open("rb") as first, path.open("rb") as second:
        assert first.read(3) == b"con"
        place = os.lseek(first.fileno(), 0, os.SEEK_CUR)
        assert lock(first)
        assert os.lseek(first.fileno(), 0, os.SEEK_CUR) == place
        assert not lock(second)
    ((_, _, byte),) = locks.held
    assert byte >= 2**31 - 2  # no byte that others read


@pytest.mark.parametrize(("failure", "free"), [(errno.EDEADLK, False), (errno.EINVAL, True)])
def test_a_file_system_without_locks_is_no_other_user(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, failure: int, free: bool
) -> None:
    on_windows(monkeypatch, failure)
    with (tmp_path / "file").open("wb") as file:
        assert lock(file) == free


def test_the_guard_of_a_file_is_removed_once_it_is_closed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    on_windows(monkeypatch)
    opened: list[Any] = []
    plain_open, plain_unlink = Path.open, Path.unlink

    def open_and_note(path: Path, *arguments: Any, **options: Any) -> Any:
        opened.append(plain_open(path, *arguments, **options))
        return opened[-1]

    def unlink_closed(path: Path, missing_ok: bool = False) -> None:
        if not all(file.closed for file in opened):
            raise PermissionError(errno.EACCES, "in use")
        plain_unlink(path, missing_ok=missing_ok)

    monkeypatch.setattr(Path, "open", open_and_note)
    monkeypatch.setattr(Path, "unlink", unlink_closed)
    with only_user(tmp_path / "a") as free:
        assert free
        assert [path.name for path in tmp_path.iterdir()] == [".a.lock"]
    assert list(tmp_path.iterdir()) == []


def test_bytes_at_a_place_without_the_calls_of_posix(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(os, "pwrite")
    monkeypatch.delattr(os, "preadv")
    with (tmp_path / "file").open("wb+", buffering=0) as file:
        _positions.write_at(file.fileno(), b"world", 6)
        _positions.write_at(file.fileno(), memoryview(b"hello "), 0)
        room = bytearray(8)
        _positions.read_at(file.fileno(), memoryview(room), 2)
        assert bytes(room) == b"llo worl"
        with pytest.raises(OSError, match="ends too early"):
            _positions.read_at(file.fileno(), memoryview(room), 8)


def test_packs_have_the_same_bytes_without_the_calls_of_posix(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rows = np.random.default_rng(0).integers(0, 3, (500, 4))
    csv = tmp_path / "rows.csv"
    csv.write_text("a,b,c,d\n" + "\n".join(",".join(map(str, row)) for row in rows.tolist()) + "\n")
    mn.data.pack(csv, tmp_path / "one.mnpack")
    monkeypatch.delattr(os, "pwrite")
    monkeypatch.delattr(os, "preadv")
    mn.data.pack(csv, tmp_path / "other.mnpack")
    assert (tmp_path / "one.mnpack").read_bytes() == (tmp_path / "other.mnpack").read_bytes()


def test_files_are_opened_without_the_translation_of_newlines(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    binary = 1 << 40  # a bit that no system here has
    flags: list[int] = []
    plain = os.open

    def noted(path: Any, flag: int, *more: Any, **options: Any) -> int:
        flags.append(flag)
        return plain(path, flag & ~binary, *more, **options)

    monkeypatch.setattr(os, "O_BINARY", binary, raising=False)
    monkeypatch.setattr(os, "open", noted)
    mn.data.pack(mn.Dataset.from_codes(np.eye(4, dtype=int)), tmp_path / "rows.mnpack")
    assert any(flag & binary and flag & os.O_RDWR for flag in flags)
