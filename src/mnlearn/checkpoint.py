"""Checkpoints: a folder that stores the answers of a run, so that a run which was killed can be resumed.

Records are appended to one file, each with its length and its checksums. The first names the version that wrote the
file and the run. A last record that a killed run cut off is dropped; any other damage is an error. If the disk is full,
the run goes on without the checkpoint.
"""

from __future__ import annotations

import errno
import hashlib
import json
import logging
import os
import struct
import time
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext, suppress
from dataclasses import fields, is_dataclass
from io import FileIO
from math import prod
from pathlib import Path
from threading import Lock
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from mnlearn.errors import FileError, InputError, MnlearnError, check_path, true_or_false
from mnlearn.files import lock

MARK = b"MNCHECK2"
FILE = "answers.mncheck"
FLUSH_SECONDS = 0.5  # of work that may be lost
FLUSH_BYTES = 1 << 24
_RECORD = struct.Struct("<III")  # length, checksum, checksum of these two
_LOST = 16  # zeros at the end of a record that tell of a write that a power failure lost
_FULL = (errno.ENOSPC, errno.EDQUOT)
_ENTRY = struct.Struct("<16sI")  # key, length
_log = logging.getLogger("mnlearn.checkpoint")
_DAMAGE = (ValueError, TypeError, LookupError, ArithmeticError, AttributeError, AssertionError)
Value = TypeVar("Value")


class Checkpoint:
    """Folder that stores the answers of one run.

    Parameters
    ----------
    folder
        Created if it does not exist.
    fingerprint
        Of the data and the settings: a checkpoint of another run is rejected.
    resume
        Whether to continue from the stored answers, whose folder must exist; if not, the folder must hold none.

    Raises
    ------
    FileError
        If the folder holds answers and `resume` is false, or answers for other data or settings, of another version of
        mnlearn, or damaged ones; if another process uses it; if it cannot be written.

    Notes
    -----
    A write that fails later, on a full disk, does not end the run: it goes on without the checkpoint. A warning is
    logged at once and when the checkpoint is closed. What was stored before can be resumed.

    Examples
    --------
    >>> import numpy as np
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     with Checkpoint(folder, "of this example") as checkpoint:
    ...         first = checkpoint.recall("two", lambda: np.array([2.0]))
    ...     with Checkpoint(folder, "of this example", resume=True) as checkpoint:
    ...         again = checkpoint.recall("two", lambda: np.array([-1.0]))
    >>> first.tolist(), again.tolist()
    ([2.0], [2.0])
    """

    def __init__(self, folder: str | os.PathLike[str], fingerprint: str, *, resume: bool = False) -> None:
        self.path = Path(folder) / FILE
        self._known: dict[bytes, bytes] = {}
        self._recalled = False
        self._written: set[bytes] = set()
        self._waiting: list[bytes] = []
        self._lock = Lock()
        self._next = time.monotonic() + FLUSH_SECONDS
        self._end = self._seed = 0
        self._failure = ""
        check_checkpoint(folder, resume)
        self._file: FileIO | None = None
        self._file = self._opened()
        try:
            self._begin(fingerprint, resume=resume)
        except BaseException:
            self._release()
            raise

    def __enter__(self) -> Checkpoint:
        return self

    def __exit__(self, _kind: object, raised: object, _trace: object) -> None:
        """Release the folder; an answer of another form, which made the run fail, becomes a FileError."""
        self.close()
        if self._recalled and isinstance(raised, _DAMAGE) and not isinstance(raised, MnlearnError):
            raise FileError(
                f"checkpoint must hold answers of this run; with those in {self.path} it fails ({raised}). Delete the "
                "file and start the run again."
            ) from raised

    @property
    def n_known(self) -> int:
        """Number of answers that were stored when it was opened."""
        return len(self._known)

    def recall(self, question: object, find: Callable[[], Any]) -> Any:
        """Return the stored answer to a question, or call `find` and store its result.

        Answers are arrays, numbers, strings, and lists and dicts of these.
        """
        key = key_of(question)
        known = self._known.get(key)
        if known is not None:
            self._recalled = True
            return self._sound(decoded, known)
        answer = find()
        self._store(key, encoded(answer))
        return answer

    def knows(self, question: object) -> bool:
        """Return whether the answer to a question is stored."""
        return key_of(question) in self._known

    def items(self, run: Callable[[list[Value]], Iterable[Any]], items: Sequence[Value]) -> Iterator[Any]:
        """Yield the answers to many items in their order: stored ones, and those of `run` for the others.

        Parameters
        ----------
        run
            Returns the answers to a list of items in its order, as `mnlearn.parallel.run` does; fewer if cancelled.
        items
            The items; an item is identified by its position.
        """
        keys = [key_of(("item", k)) for k in range(len(items))]
        fresh = iter(run([item for key, item in zip(keys, items, strict=True) if key not in self._known]))
        for key in keys:
            if key in self._known:
                self._recalled = True
                yield self._sound(decoded, self._known[key])
                continue
            for answer in fresh:
                content = encoded(answer)
                self._store(key, content)
                yield decoded(content)  # as it will be when it is resumed
                break
            else:
                return

    def flush(self) -> None:
        """Write the waiting answers to the disk."""
        with self._lock:
            self._flush()

    def close(self) -> None:
        """Write the waiting answers and release the folder."""
        self.flush()
        self._release()
        if self._failure:
            _log.warning(
                "the checkpoint in %s is incomplete: %s. The result is not affected; a resumed run computes the rest "
                "again",
                self.path.parent,
                self._failure,
            )

    def _opened(self) -> FileIO | None:
        """Return the file, or None if the disk is full; raise FileError if it cannot be made for another reason."""
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            return FileIO(self.path, "a+")
        except (OSError, ValueError) as error:
            if isinstance(error, OSError) and error.errno in _FULL:
                self._give_up(error)
                return None
            reason = getattr(error, "strerror", None) or str(error)
            raise FileError(
                f"checkpoint must be a folder that can be written; {self.path.parent}: {reason}. Name another folder."
            ) from error

    def _release(self) -> None:
        if self._file is not None:
            self._file.close()

    def _begin(self, fingerprint: str, *, resume: bool) -> None:
        """Read the stored answers, or begin a new file."""
        if self._file is None:
            return
        _lock_file(self._file, self.path)
        self._file.seek(0)
        content = self._file.readall()
        records, end = self._records(content)
        if len(records) < 2:  # empty, cut off in its first record, or a run that failed before its first answer
            if resume:
                _log.warning("there are no answers in %s yet: the run starts from its beginning", self.path.parent)
            self._start(fingerprint)
            return
        self._check_run(records[0], fingerprint)
        if not resume:
            raise FileError(
                f"checkpoint must be an empty folder, or be resumed; {self.path.parent} holds one. Use resume=True to "
                "continue from it, or name another folder."
            )
        for payload in records[1:]:
            self._known.update(self._sound(_entries, payload))
        self._end, self._seed = end, zlib.crc32(records[0])
        if end < len(content):
            _log.warning("the last record in %s was cut off; its answers are computed again", self.path)
            with suppress(OSError):
                self._file.truncate(end)

    def _start(self, fingerprint: str) -> None:
        """Begin a new file."""
        run = json.dumps({"version": _version(), "of": fingerprint}).encode()
        self._append(MARK + _record(run, 0))
        self._seed = zlib.crc32(run)

    def _records(self, content: bytes) -> tuple[list[bytes], int]:
        """Return the complete records, and where the last one ends."""
        if MARK.startswith(content[: len(MARK)]):
            return self._sound(_records, content)
        if content.startswith(MARK[:-1]):
            raise self._of_another_version("another one")
        raise FileError(f"checkpoint must be a folder made by mnlearn; {self.path} is not. Name another folder.")

    def _check_run(self, record: bytes, fingerprint: str) -> None:
        """Raise FileError unless the first record is of this version and this run."""
        version, run = self._sound(lambda text: [str(json.loads(text)[name]) for name in ("version", "of")], record)
        if version != _version():
            raise self._of_another_version(version)
        if run != fingerprint:
            raise FileError(
                f"checkpoint must be of the same data and settings; the one in {self.path.parent} is of others. Name "
                "another folder, or use the data and settings it was made with."
            )

    def _of_another_version(self, version: str) -> FileError:
        return FileError(
            f"checkpoint must be of this version of mnlearn, {_version()}; {self.path} was written by {version}. Name "
            "another folder, or resume it with that version."
        )

    def _sound(self, read: Callable[[bytes], Value], content: bytes) -> Value:
        """Return what is read from bytes of the file, or raise FileError if they are damaged."""
        try:
            return read(content)
        except (*_DAMAGE, struct.error, RecursionError) as error:
            raise FileError(
                f"checkpoint must be as mnlearn wrote it; {self.path} is damaged. Restore the file, or delete it and "
                "start the run again."
            ) from error

    def _store(self, key: bytes, answer: bytes) -> None:
        with self._lock:
            if key in self._written:
                return
            self._written.add(key)
            self._waiting.append(_ENTRY.pack(key, len(answer)) + answer)
            if time.monotonic() >= self._next or sum(map(len, self._waiting[-64:])) > FLUSH_BYTES:
                self._flush()

    def _flush(self) -> None:
        if self._waiting:
            self._append(_record(b"".join(self._waiting), self._seed))
            self._waiting.clear()
        self._next = time.monotonic() + FLUSH_SECONDS

    def _append(self, record: bytes) -> None:
        """Write a record to the disk; if that fails, go on without the checkpoint."""
        if self._file is None or self._failure:
            return
        try:
            self._file.truncate(self._end)  # what an interrupted write left
            rest = memoryview(record)
            while rest:
                rest = rest[os.write(self._file.fileno(), rest) :]
            os.fsync(self._file.fileno())
            self._end += len(record)
        except OSError as error:
            self._give_up(error)

    def _give_up(self, error: OSError) -> None:
        """Say that nothing more is stored, and leave the file as it was before the write that failed."""
        self._failure = error.strerror or str(error)
        _log.warning(
            "the checkpoint in %s cannot be written: %s. The run goes on without it", self.path.parent, self._failure
        )
        if self._file is not None:
            with suppress(OSError):
                self._file.truncate(self._end)


def check_checkpoint(folder: str | os.PathLike[str] | None, resume: bool) -> None:
    """Raise an error for a checkpoint that cannot be opened or resumed, before any work."""
    true_or_false(resume=resume)
    if folder is not None:
        check_path("checkpoint", folder)
    elif resume:
        raise InputError("resume needs a checkpoint to continue from; got none. Name its folder: checkpoint=...")
    if folder is not None and resume and not os.path.isdir(folder):
        raise FileError(
            f"resume needs a checkpoint to continue from; there is no folder {os.fspath(folder)!r}. Correct its name, "
            "or start a run without resume=True."
        )


def open_checkpoint(
    folder: str | os.PathLike[str] | None, resume: bool, *what: object
) -> AbstractContextManager[Checkpoint | None]:
    """Open the checkpoint of a run, identified by its data and settings; without a folder, yield None."""
    check_checkpoint(folder, resume)
    return nullcontext() if folder is None else Checkpoint(folder, fingerprint_of(*what), resume=resume)


def _version() -> str:
    from mnlearn import __version__

    return __version__


def _record(payload: bytes, seed: int) -> bytes:
    """Return a record; the checksums depend on the first record, so that one of another run is damage."""
    sums = struct.pack("<II", len(payload), zlib.crc32(payload, seed))
    return sums + struct.pack("<I", zlib.crc32(sums, seed)) + payload


def _records(content: bytes) -> tuple[list[bytes], int]:
    """Return the complete records of a file and where the last one ends; raise ValueError if one is damaged."""
    found: list[bytes] = []
    place = len(MARK)
    while place < len(content):
        payload = _record_at(content, place, zlib.crc32(found[0]) if found else 0)
        if payload is None:
            break
        found.append(payload)
        place += _RECORD.size + len(payload)
    return found, place


def _record_at(content: bytes, place: int, seed: int) -> bytes | None:
    """Return a record; None if it is the last one, and a kill cut it off or a power failure left zeros of it."""
    start = place + _RECORD.size
    if start > len(content):
        return None
    length, checksum, own = _RECORD.unpack_from(content, place)
    if own != zlib.crc32(content[place : start - 4], seed):
        if content[place:].strip(b"\0"):
            raise ValueError("the lengths are damaged")
        return None
    payload = content[start : start + length]
    if len(payload) < length:
        return None
    if zlib.crc32(payload, seed) != checksum:
        if start + length < len(content) or not payload.endswith(bytes(_LOST)):
            raise ValueError("the answers are damaged")
        return None
    return payload


def _entries(payload: bytes) -> dict[bytes, bytes]:
    """Return the answers in a record by their keys."""
    found, place = {}, 0
    while place < len(payload):
        key, length = _ENTRY.unpack_from(payload, place)
        place += _ENTRY.size
        found[key] = payload[place : place + length]
        place += length
    if place != len(payload):
        raise ValueError("an answer is longer than its record")
    return found


def _lock_file(file: Any, path: Path) -> None:
    """Raise FileError if another process uses the file."""
    if not lock(file):
        raise FileError(
            f"checkpoint must be used by one process at a time; another one uses {path.parent}. Wait for it, or "
            "name another folder."
        )


# Keys of questions, and answers as bytes.


def key_of(question: object) -> bytes:
    """Return the 16-byte key of a question; equal sets and arrays have equal keys."""
    return hashlib.blake2b(repr(_plain(question)).encode(), digest_size=16).digest()


def _plain(value: Any) -> object:
    """Return the value as tuples, numbers and strings, whose repr is the same in every process."""
    if isinstance(value, frozenset | set):
        return ("set", *sorted(_plain(one) for one in value))  # type: ignore[type-var]
    if isinstance(value, np.ndarray):
        return tuple(value.tolist())
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, list | tuple | range):
        return tuple(_plain(one) for one in value)
    return value


def encoded(answer: Any) -> bytes:
    """Return an answer as bytes: its structure in JSON, then its arrays."""
    arrays: list[NDArray[Any]] = []
    form = json.dumps(_form(answer, arrays)).encode()
    return b"".join([struct.pack("<I", len(form)), form, *(np.ascontiguousarray(array).tobytes() for array in arrays)])


def _form(value: Any, arrays: list[NDArray[Any]]) -> Any:
    if isinstance(value, np.ndarray):
        arrays.append(value)
        return {"array": [value.dtype.str, list(value.shape)]}
    if is_dataclass(value):
        return _form([getattr(value, part.name) for part in fields(value)], arrays)
    if isinstance(value, Mapping):
        return {"dict": [[_form(key, arrays), _form(item, arrays)] for key, item in value.items()]}
    if isinstance(value, list | tuple):
        return {"list": [_form(item, arrays) for item in value]}
    return value.item() if isinstance(value, np.generic) else value


def decoded(content: bytes) -> Any:
    """Return the answer that was encoded, with lists in place of tuples."""
    (length,) = struct.unpack_from("<I", content)
    place = 4 + length

    def made(form: Any) -> Any:
        nonlocal place
        if not isinstance(form, dict):
            return form
        ((kind, inside),) = form.items()
        if kind == "list":
            return [made(item) for item in inside]
        if kind == "dict":
            found = [(made(key), made(item)) for key, item in inside]
            return {tuple(key) if isinstance(key, list) else key: item for key, item in found}
        dtype, shape = np.dtype(inside[0]), [int(length) for length in inside[1]]
        count = prod(shape)
        if dtype.kind not in "biuf" or min(shape, default=0) < 0:
            raise ValueError(f"no array of numbers: {inside}")
        array = np.frombuffer(content, dtype, count=count, offset=place).reshape(shape).copy()
        place += count * dtype.itemsize
        return array

    return made(json.loads(content[4 : 4 + length]))


def fingerprint_of(*parts: object) -> str:
    """Return a hash of data and settings."""
    return hashlib.blake2b(repr([_plain(part) for part in parts]).encode(), digest_size=16).hexdigest()
