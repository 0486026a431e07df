"""The journal of an experiment: every finished run, one line of JSON each, with a checksum.

Lines are only ever appended, and are on disk before the next run is looked at. What a killed run leaves is whole lines
and at most one torn one, which is cut off when the journal is opened again. If the disk is full, the experiment goes on
without the journal.
"""

from __future__ import annotations

import json
import logging
import os
import re
import zlib
from collections.abc import Iterable, Mapping
from contextlib import suppress
from io import FileIO
from pathlib import Path
from typing import Any, TypeAlias

from mnlearn.errors import FileError, is_number
from mnlearn.files import lock

Record: TypeAlias = Mapping[str, Any]
RunKey: TypeAlias = tuple[str, int, int, str]  # source, rows, repetition, method
_KINDS = {"source": str, "n_rows": int, "repetition": int, "method": str}  # what every record has
_CHECKED = re.compile(r'\{"checksum": "([0-9a-f]{8})", ')
_EARLIER = ('{"experiment": ', '{"source": ')  # lines of versions without checksums
_STARTS = ('{"checksum": ', *_EARLIER)
_log = logging.getLogger("mnlearn.papers")


class Journal:
    """Finished runs, in memory and if wanted in a file that no other process uses meanwhile.

    Parameters
    ----------
    experiment
        The name of the experiment; a journal of another one is refused.
    path
        The file; None keeps everything in memory.
    results
        What a record has beside source, rows, repetition and method.
    """

    def __init__(self, experiment: str, path: Path | None, results: Iterable[str] = ("seconds", "errors")) -> None:
        self._experiment, self._path = experiment, path
        self._file: FileIO | None = None
        self._end, self._failure = 0, ""
        self.records: list[Record] = []
        if path is None:
            return
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            self._file = FileIO(path, "a+")  # refused now, not after the first run
            self._open(self._file, path, results)
        except OSError as error:
            self._release()
            raise _refusal(path, error) from error
        except BaseException:
            self._release()
            raise

    def __enter__(self) -> Journal:
        return self

    def __exit__(self, *_raised: object) -> None:
        self._release()
        if self._failure:
            _log.warning("the journal %s is incomplete: %s. The runs that it lacks are run again", *self._trouble)

    @property
    def done(self) -> set[RunKey]:
        """Return the finished runs."""
        return {_key(record) for record in self.records}

    def add(self, records: Iterable[Record]) -> None:
        """Append the records and flush them to disk; on a full disk, go on without the file."""
        mine = [{"experiment": self._experiment, **record} for record in records]
        self.records += mine
        if self._file is None or self._failure:
            return
        lines = "".join(map(_line, mine)).encode()
        try:
            self._file.truncate(self._end)  # what an interrupted write left
            rest = memoryview(lines)
            while rest:
                rest = rest[os.write(self._file.fileno(), rest) :]
            os.fsync(self._file.fileno())
            self._end += len(lines)
        except OSError as error:
            self._failure = error.strerror or str(error)
            _log.warning("the journal %s cannot be written: %s. The experiment goes on without it", *self._trouble)
            with suppress(OSError):
                self._file.truncate(self._end)

    @property
    def _trouble(self) -> tuple[Path | None, str]:
        return self._path, self._failure

    def _open(self, file: FileIO, path: Path, results: Iterable[str]) -> None:
        """Read the finished runs, and cut off an incomplete last line of a killed run."""
        if not lock(file):
            raise FileError(
                f"journal must be used by one process at a time; another one uses {path}. Wait for it, or name another "
                "folder."
            )
        self.records = read_records(self._experiment, path, results)
        file.seek(0)
        self._end = file.readall().rfind(b"\n") + 1
        file.truncate(self._end)

    def _release(self) -> None:
        if self._file is not None:
            self._file.close()


def read_records(experiment: str, path: Path, results: Iterable[str]) -> list[Record]:
    """Return the finished runs of a journal; an incomplete last line is ignored, and a run that is there twice."""
    try:
        text = path.read_bytes().decode("utf-8")
    except OSError as error:
        raise _refusal(path, error) from error
    except UnicodeDecodeError as error:
        raise _no_record(path, error.object.count(b"\n", 0, error.start) + 1) from error
    whole, _, torn = text.rpartition("\n")
    lines = whole.split("\n") if whole else []
    if not any(torn.rstrip("\0").startswith(start[: len(torn.rstrip("\0"))]) for start in _STARTS):
        raise _no_record(path, len(lines) + 1)
    names = tuple(results)
    found: dict[RunKey, Record] = {}
    for number, line in enumerate(lines, start=1):
        record = _checked(experiment, path, number, line, names)
        found.setdefault(_key(record), record)
    return list(found.values())


def _key(record: Record) -> RunKey:
    return record["source"], record["n_rows"], record["repetition"], record["method"]


def _line(record: Record) -> str:
    """Return a record as a line that begins with the checksum of the rest."""
    text = json.dumps(record)
    return f'{{"checksum": "{zlib.crc32(text.encode()):08x}", {text[1:]}\n'


def _checked(experiment: str, path: Path, number: int, line: str, results: tuple[str, ...]) -> Record:
    """The record of a line, if it is one of this experiment."""
    record = _record(line, results)
    if record is None:
        raise _no_record(path, number)
    name = record.get("experiment", experiment)
    if name != experiment:
        raise FileError(
            f"journal must be of the experiment {experiment!r}; line {number} of {path} is of {name!r}. "
            "Name another file."
        )
    return record


def _record(line: str, results: tuple[str, ...]) -> Record | None:
    """The record of a line, if its checksum is right and it has what a record has."""
    match = _CHECKED.match(line)
    text = line if match is None else "{" + line[match.end() :]
    if not line.startswith(_EARLIER) if match is None else zlib.crc32(text.encode()) != int(match[1], 16):
        return None
    try:
        record = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return record if isinstance(record, dict) and _is_sound(record, results) else None


def _is_sound(record: dict[str, Any], results: tuple[str, ...]) -> bool:
    """Return whether a record has its place and these results, each of the right kind."""
    placed = all(type(record.get(name)) is kind for name, kind in _KINDS.items())
    timed = "seconds" not in record or is_number(record["seconds"])
    return placed and timed and all(name in record and _is_result(record[name]) for name in results)


def _is_result(value: Any) -> bool:
    """Return whether a value is a number, or two numbers for each learner."""
    if not isinstance(value, dict):
        return isinstance(value, int | float)
    pairs = list(value.values())
    return all(isinstance(pair, list) and len(pair) == 2 for pair in pairs) and all(
        isinstance(number, int | float) for pair in pairs for number in pair
    )


def _no_record(path: Path, number: int) -> FileError:
    return FileError(
        f"journal must hold one JSON record per line; line {number} of {path} is none, or damaged. Delete the line, or "
        "the file to begin anew."
    )


def _refusal(path: Path, error: OSError) -> FileError:
    """Convert an OSError into a FileError."""
    return FileError(
        f"journal must be a file we can read and write; {path}: {error.strerror or error}. Name another folder."
    )
