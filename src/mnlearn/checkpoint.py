"""Checkpoints: a folder that stores the finished items of a run, so that a run which was killed can be resumed.

An item is one of many equal parts: a sample of a bootstrap, a part of the pairs of a screen. Records are appended to
one file, each with its length and its checksums. The first names the version that wrote the file and the run. A last
record that a killed run cut off is dropped; any other damage is an error. If the disk is full, the run goes on without
the checkpoint.
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
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext, suppress
from io import FileIO
from math import prod
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from mnlearn.errors import FileError, InputError, check_path, true_or_false
from mnlearn.files import lock

MARK = b"MNCHECK2"
FILE = "answers.mncheck"
FLUSH_SECONDS = 0.5  # of work that may be lost
_RECORD = struct.Struct("<III")  # length, checksum, checksum of these two
_LOST = 16  # zeros at the end of a record that tell of a write that a power failure lost
_FULL = (errno.ENOSPC, errno.EDQUOT)
_ENTRY = struct.Struct("<16sI")  # key, length
_log = logging.getLogger("mnlearn.checkpoint")
_DAMAGE = (ValueError, TypeError, LookupError, ArithmeticError, AttributeError, RecursionError, struct.error)
Value = TypeVar("Value")
Answer = TypeVar("Answer")


class Checkpoint:
    """Folder that stores the finished items of one run.

    Parameters
    ----------
    folder
        Created if it does not exist.
    fingerprint
        Of the data and the settings: a checkpoint of another run is rejected.
    resume
        Whether to continue from the stored items, whose folder must exist; if not, the folder must hold none.

    Raises
    ------
    FileError
        If the folder holds items and `resume` is false, or items of other data or settings, of another version of
        mnlearn, or damaged ones; if another process uses it; if it cannot be written.

    Notes
    -----
    A write that fails later, on a full disk, does not end the run: it goes on without the checkpoint. A warning is
    logged at once and when the checkpoint is closed. What was stored before can be resumed.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     with Checkpoint(folder, "of this example") as checkpoint:
    ...         first = list(checkpoint.items(lambda words: map(len, words), ["a", "bb"], int))
    ...     with Checkpoint(folder, "of this example", resume=True) as checkpoint:
    ...         again = list(checkpoint.items(lambda words: map(print, words), ["a", "bb"], int))
    >>> first, again
    ([1, 2], [1, 2])
    """

    def __init__(self, folder: str | os.PathLike[str], fingerprint: str, *, resume: bool = False) -> None:
        self.path = Path(folder) / FILE
        self._known: dict[bytes, bytes] = {}
        self._waiting: list[bytes] = []
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

    def __exit__(self, *_: object) -> None:
        self.close()

    def items(
        self,
        run: Callable[[list[Value]], Iterable[Any]],
        items: Sequence[Value],
        form: Callable[[Any], Answer],
    ) -> Iterator[Answer]:
        """Yield the answers to many items in their order: stored ones, and those of `run` for the others.

        Answers are arrays, numbers, strings, and lists of these.

        Parameters
        ----------
        run
            Returns the answers to a list of items in its order, as `mnlearn.parallel.run` does; fewer if cancelled.
        items
            The items; an item is identified by its position.
        form
            Returns an answer, whose tuples the file made lists, as the caller needs it; raises for one of another form.
        """
        names = [("item", k) for k in range(len(items))]
        known = [self._known.get(key_of(name)) for name in names]
        fresh = iter(run([item for item, stored in zip(items, known, strict=True) if stored is None]))
        for name, stored in zip(names, known, strict=True):
            if stored is not None:
                yield self._sound(lambda content: form(decoded(content)), stored)
                continue
            for answer in fresh:
                yield form(decoded(self.store(name, answer)))  # as it will be when it is resumed
                break
            else:
                return

    def stored(self, name: object, form: Callable[[Any], Answer]) -> Answer | None:
        """Return what the file held under a name when it was opened, in its form; None if nothing."""
        known = self._known.get(key_of(name))
        return None if known is None else self._sound(lambda content: form(decoded(content)), known)

    def store(self, name: object, answer: Any) -> bytes:
        """Store an answer under a name that is new, at the latest when the checkpoint is closed; return its bytes."""
        content = encoded(answer)
        self._waiting.append(_ENTRY.pack(key_of(name), len(content)) + content)
        if time.monotonic() >= self._next:
            self._flush()
        return content

    def close(self) -> None:
        """Write the waiting answers and release the folder."""
        self._flush()
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
        if not lock(self._file):
            raise FileError(
                f"checkpoint must be used by one process at a time; another one uses {self.path.parent}. Wait for it, "
                "or name another folder."
            )
        self._file.seek(0)
        content = self._file.readall()
        records, end = self._records(content)
        if len(records) < 2:  # empty, cut off in its first record, or a run that failed before its first answer
            if resume:
                _log.warning("there are no answers in %s yet: the run starts from its beginning", self.path.parent)
            run = json.dumps({"version": _version(), "of": fingerprint}).encode()
            self._append(MARK + _record(run, 0))
            self._seed = zlib.crc32(run)
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
        except _DAMAGE as error:
            raise FileError(
                f"checkpoint must be as mnlearn wrote it; {self.path} is damaged. Restore the file, or delete it and "
                "start the run again."
            ) from error

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
    if folder is not None and os.path.lexists(folder) and not os.path.isdir(folder):
        what = "a file" if os.path.exists(folder) else "a link that leads nowhere"
        raise FileError(f"checkpoint must be a folder; {os.fspath(folder)!r} is {what}. Name another folder.")
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


def key_of(name: object) -> bytes:
    """Return the 16-byte key of a name, made of strings, numbers and tuples of them."""
    return hashlib.blake2b(repr(name).encode(), digest_size=16).digest()


def fingerprint_of(*parts: object) -> str:
    """Return a hash of data and settings."""
    return hashlib.blake2b(repr([*parts]).encode(), digest_size=16).hexdigest()


def encoded(answer: Any) -> bytes:
    """Return an answer as bytes: its structure in JSON, then its arrays."""
    arrays: list[NDArray[Any]] = []

    def form(value: Any) -> Any:
        if isinstance(value, np.ndarray):
            arrays.append(value)
            return {"array": [value.dtype.str, list(value.shape)]}
        return {"list": [form(item) for item in value]} if isinstance(value, list | tuple) else value

    text = json.dumps(form(answer)).encode()
    return b"".join([struct.pack("<I", len(text)), text, *(np.ascontiguousarray(array).tobytes() for array in arrays)])


def decoded(content: bytes) -> Any:
    """Return the answer that was encoded, with lists in place of tuples."""
    (length,) = struct.unpack_from("<I", content)
    place = 4 + length

    def made(form: dict[str, Any]) -> Any:
        nonlocal place
        ((kind, inside),) = form.items()
        if kind == "list":
            return list(inside)
        dtype, shape = np.dtype(inside[0]), [int(length) for length in inside[1]]
        count = prod(shape)
        if kind != "array" or dtype.kind not in "biuf" or min(shape, default=0) < 0:
            raise ValueError(f"no array of numbers: {inside}")
        array = np.frombuffer(content, dtype, count=count, offset=place).reshape(shape).copy()
        place += count * dtype.itemsize
        return array

    return json.loads(content[4:place], object_hook=made)
