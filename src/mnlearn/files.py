"""Atomic replacement and locking of files: a file is written completely or not at all, and never over an input."""

from __future__ import annotations

import errno
import os
import shutil
import signal
import stat
import sys
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from itertools import combinations
from pathlib import Path
from secrets import token_hex
from types import FrameType
from typing import IO, Any, NoReturn

from mnlearn.errors import FileError

_LOCKED_BYTE = 2**31 - 2  # the last that Windows can lock by this call: a locked byte cannot be read


def lock(file: IO[bytes]) -> bool:
    """Lock an open file until it is closed; return False if another process holds it. No-op without locks."""
    if sys.platform == "win32":
        return _lock_on_windows(file)
    try:
        import fcntl
    except ImportError:
        return True
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:  # a file system without locks
        return True
    return True


def _lock_on_windows(file: IO[bytes]) -> bool:
    from importlib import import_module

    msvcrt: Any = import_module("msvcrt")  # which type checkers know on Windows only
    place = os.lseek(file.fileno(), 0, os.SEEK_CUR)
    try:
        os.lseek(file.fileno(), _LOCKED_BYTE, os.SEEK_SET)
        msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)
    except OSError as error:  # others: a file system without locks
        return error.errno not in (errno.EACCES, errno.EDEADLK)
    finally:
        os.lseek(file.fileno(), place, os.SEEK_SET)
    return True


@contextmanager
def only_user(path: Path) -> Iterator[bool]:
    """Reserve a file that is replaced while it is used; yield False if another process has reserved it.

    A file beside it is locked and removed at the end; one that a killed process left is not locked any more.
    """
    guard = path.with_name(f".{path.name}.lock")
    while True:
        with guard.open("ab") as file:
            free = lock(file)
            if free and not _still_named(file, guard):  # its last user has just removed it
                continue
            try:
                yield free
            finally:
                if free:
                    with suppress(OSError):
                        guard.unlink()
        if free and sys.platform == "win32":  # which removes no open file; one that is open again is in use
            with suppress(OSError):
                guard.unlink()
        return


def _still_named(file: IO[bytes], path: Path) -> bool:
    try:
        return os.path.samestat(os.fstat(file.fileno()), path.stat())
    except FileNotFoundError:
        return False


@contextmanager
def replacing(path: str | os.PathLike[str]) -> Iterator[Path]:
    """Yield a temporary path beside the file: renamed to it when the block succeeds, deleted when it fails.

    It keeps the extension, from which some writers infer the format. Failures are plain OSErrors: the caller knows the
    argument to name in its message. SIGTERM and SIGHUP end the program after the temporary file is deleted.

    Parameters
    ----------
    path
        The file to write; an existing one is replaced and keeps its permissions. Symbolic links are followed.

    Examples
    --------
    >>> import tempfile
    >>> folder = Path(tempfile.mkdtemp())
    >>> with replacing(folder / "a.txt") as part:
    ...     _ = part.write_text("whole")
    >>> [(file.name, file.read_text()) for file in folder.iterdir()]
    [('a.txt', 'whole')]
    """
    target = _target(path)
    part = target.with_name(f".mnlearn-{os.getpid()}-{token_hex(4)}{target.suffix}")
    with _ending_in_order():
        try:
            yield part
            _sync(part)
            if target.exists():
                shutil.copymode(target, part)
            os.replace(part, target)
        finally:
            part.unlink(missing_ok=True)


@contextmanager
def write_errors(path: str | os.PathLike[str]) -> Iterator[None]:
    """Turn an OSError inside into a FileError that names the file."""
    try:
        yield
    except OSError as error:
        reason = error.strerror or str(error)
        raise FileError(f"{os.fspath(path)!r} cannot be written: {reason}. Name another file or folder.") from error


def _sync(path: Path) -> None:
    """Write a file to the disk, so that a full disk is known before the old file is replaced."""
    with path.open("rb+") as file:
        os.fsync(file.fileno())


def try_to_write(path: str | os.PathLike[str]) -> None:
    """Raise OSError if a file cannot be written, without writing to it: an empty file is made beside it and deleted."""
    part = _target(path)
    part = part.with_name(f".mnlearn-{os.getpid()}-{token_hex(4)}{part.suffix}")
    os.close(os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666))
    part.unlink()


def _target(path: str | os.PathLike[str]) -> Path:
    """Return the file that a path leads to, or raise OSError if it must not be replaced."""
    try:
        target = Path(os.path.realpath(path))
        mode = target.stat().st_mode
    except FileNotFoundError:
        return target
    except ValueError as error:  # a null character
        raise OSError(errno.EINVAL, str(error)) from error
    if stat.S_ISDIR(mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
    if not stat.S_ISREG(mode):  # replaced, a device would be gone for every program
        raise OSError(errno.EINVAL, "it is a device or a pipe, not a file on disk")
    if not os.access(target, os.W_OK):
        raise PermissionError(errno.EACCES, "the file is read-only")
    return target


@contextmanager
def _ending_in_order() -> Iterator[None]:
    """Make the signals that end a program raise SystemExit inside; handlers of the program stay."""
    signals = [signal.SIGTERM, *([signal.SIGHUP] if hasattr(signal, "SIGHUP") else [])]
    mine = [one for one in signals if signal.getsignal(one) is signal.SIG_DFL]
    if threading.current_thread() is not threading.main_thread():  # Python allows signal handlers only there
        mine = []
    for one in mine:
        signal.signal(one, _end)
    try:
        yield
    finally:
        for one in mine:
            signal.signal(one, signal.SIG_DFL)


def _end(number: int, _frame: FrameType | None) -> NoReturn:
    raise SystemExit(128 + number)


# No output is one of the inputs.


def same_file(one: str | os.PathLike[str], other: str | os.PathLike[str]) -> bool:
    """Return whether two paths lead to one file, which need not exist: by links, by other spellings, by hard links."""
    with suppress(OSError, ValueError):
        if os.path.samefile(one, other):
            return True
    try:
        return os.path.realpath(one) == os.path.realpath(other)
    except (OSError, ValueError):
        return False


def check_outputs(outputs: Mapping[str, list[str]], inputs: Mapping[str, list[str]]) -> None:
    """Raise FileError if an output is one of the inputs, or two outputs are one file.

    Parameters
    ----------
    outputs, inputs
        The files of each argument.
    """
    for name, paths in outputs.items():
        for other, read in inputs.items():
            _check_apart(name, paths, other, read, "which it would overwrite")
    for (name, paths), (other, written) in combinations(list(outputs.items()), 2):
        _check_apart(name, paths, other, written, "or one of the two is lost")


def _check_apart(name: str, paths: list[str], other: str, others: list[str], why: str) -> None:
    for path in paths:
        for file in others:
            if same_file(path, file):
                got = f"{path!r} for both" if path == file else f"{path!r} and {file!r}, the same file"
                raise FileError(f"{name} must be another file than {other}, {why}; got {got}. Name a new file.")
