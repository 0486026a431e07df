"""Checkpoints: a folder that stores the answers of a run, so that a run which was killed can be resumed.

Records are appended to one file, each with its length and checksum. A record that was cut off or damaged is dropped
with all that follow it.
"""

from __future__ import annotations

import hashlib
import json
import os
import struct
import time
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import fields, is_dataclass
from pathlib import Path
from threading import Lock
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from mnlearn._atomic_files import lock
from mnlearn.errors import FileError, InputError, check_path, true_or_false

MARK = b"MNCHECK1"
FILE = "answers.mncheck"
FLUSH_SECONDS = 0.5  # of work that may be lost
FLUSH_BYTES = 1 << 24
_RECORD = struct.Struct("<II")  # length, checksum
_ENTRY = struct.Struct("<16sI")  # key, length
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
        Whether to continue from the stored answers; if not, the folder must hold none.

    Raises
    ------
    FileError
        If the folder holds answers and `resume` is false, or answers for other data or settings; if another process
        uses it; if it cannot be written.

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
        self._written: set[bytes] = set()
        self._waiting: list[bytes] = []
        self._lock = Lock()
        self._next = time.monotonic() + FLUSH_SECONDS
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            self._file = self.path.open("a+b")
        except OSError as error:
            raise FileError(f"checkpoint must be a folder that can be written; {folder}: {error.strerror}.") from error
        try:
            self._begin(fingerprint, resume=resume)
        except BaseException:
            self._file.close()
            raise

    def __enter__(self) -> Checkpoint:
        return self

    def __exit__(self, *_raised: object) -> None:
        self.close()

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
            return decoded(known)
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
                yield decoded(self._known[key])
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
        self._file.close()

    def _begin(self, fingerprint: str, *, resume: bool) -> None:
        _lock_file(self._file, self.path)
        self._file.seek(0)
        content = self._file.read()
        header = MARK + _record(json.dumps({"of": fingerprint}).encode())
        if content and not header.startswith(content[: len(header)]) and not content.startswith(MARK):
            raise FileError(f"checkpoint must be a folder made by mnlearn; {self.path} is not. Name another folder.")
        records = list(_records(content))
        if len(records) < 2:  # empty, cut off in its header, or a run that failed before its first answer
            self._file.truncate(0)
            self._file.write(header)
            self._sync()
            return
        if json.loads(records[0][0])["of"] != fingerprint:
            raise FileError(
                f"checkpoint must be of the same data and settings; the one in {self.path.parent} is of others. Name "
                "another folder, or use the data and settings it was made with."
            )
        if not resume:
            raise FileError(
                f"checkpoint must be an empty folder, or be resumed; {self.path.parent} holds one. Use resume=True to "
                "continue from it, or name another folder."
            )
        for payload, _ in records[1:]:
            self._known.update(_entries(payload))
        self._file.truncate(records[-1][1])

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
            self._file.write(_record(b"".join(self._waiting)))
            self._waiting.clear()
            self._sync()
        self._next = time.monotonic() + FLUSH_SECONDS

    def _sync(self) -> None:
        self._file.flush()
        os.fsync(self._file.fileno())


def open_checkpoint(
    folder: str | os.PathLike[str] | None, resume: bool, *what: object
) -> AbstractContextManager[Checkpoint | None]:
    """Open the checkpoint of a run, identified by its data and settings; without a folder, yield None."""
    true_or_false(resume=resume)
    if folder is not None:
        check_path("checkpoint", folder)
        return Checkpoint(folder, fingerprint_of(*what), resume=resume)
    if resume:
        raise InputError("resume needs a checkpoint to continue from; got none. Name its folder: checkpoint=...")
    return nullcontext()


def _record(payload: bytes) -> bytes:
    return _RECORD.pack(len(payload), zlib.crc32(payload)) + payload


def _records(content: bytes) -> Sequence[tuple[bytes, int]]:
    """Return the complete records of a file and where each ends; the rest was never finished."""
    found: list[tuple[bytes, int]] = []
    place = len(MARK)
    while content.startswith(MARK) and place + _RECORD.size <= len(content):
        length, checksum = _RECORD.unpack_from(content, place)
        payload = content[place + _RECORD.size : place + _RECORD.size + length]
        if not length or len(payload) < length or zlib.crc32(payload) != checksum:  # zeros are not a record
            break
        place += _RECORD.size + length
        found.append((payload, place))
    return found


def _entries(payload: bytes) -> dict[bytes, bytes]:
    found, place = {}, 0
    while place < len(payload):
        key, length = _ENTRY.unpack_from(payload, place)
        place += _ENTRY.size
        found[key] = payload[place : place + length]
        place += length
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
        dtype, shape = np.dtype(inside[0]), inside[1]
        size = dtype.itemsize * int(np.prod(shape, dtype=np.int64))
        array = np.frombuffer(content, dtype, offset=place, count=size // max(dtype.itemsize, 1)).reshape(shape).copy()
        place += size
        return array

    return made(json.loads(content[4 : 4 + length]))


def fingerprint_of(*parts: object) -> str:
    """Return a hash of data and settings."""
    return hashlib.blake2b(repr([_plain(part) for part in parts]).encode(), digest_size=16).hexdigest()
