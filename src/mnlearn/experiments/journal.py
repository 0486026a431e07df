"""The journal of an experiment: every finished run, one line of JSON each.

Lines are only ever appended, and are on disk before the next run is looked at. What a killed run leaves is whole lines
and at most one torn one, which is cut off when the journal is opened again.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, TypeAlias

from mnlearn._atomic_files import replacing
from mnlearn.errors import FileError

Record: TypeAlias = Mapping[str, Any]
RunKey: TypeAlias = tuple[str, int, int, str]  # source, rows, repetition, method
_KEYS = frozenset(("source", "n_rows", "repetition", "method"))  # what every record has


class Journal:
    """Finished runs, in memory and if wanted in a file.

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
        self.records: list[Record] = []
        if path is None:
            return
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            if path.exists():
                _cut_off(path)
                self.records = read_records(experiment, path, results)
            path.open("a").close()  # refused now, not after the first run
        except OSError as error:
            raise _refusal(path, error) from error

    @property
    def done(self) -> set[RunKey]:
        """Return the finished runs."""
        return {(r["source"], r["n_rows"], r["repetition"], r["method"]) for r in self.records}

    def add(self, records: Iterable[Record]) -> None:
        """Append the records and flush them to disk."""
        mine = [{"experiment": self._experiment, **record} for record in records]
        self.records += mine
        if self._path is None:
            return
        try:
            with self._path.open("a", encoding="utf-8") as file:
                file.write("".join(json.dumps(record) + "\n" for record in mine))
                file.flush()
                os.fsync(file.fileno())
        except OSError as error:
            raise _refusal(self._path, error) from error


def read_records(experiment: str, path: Path, results: Iterable[str]) -> list[Record]:
    """Return the finished runs of a journal; an incomplete last line is ignored."""
    text = path.read_text(encoding="utf-8")
    keys = _KEYS.union(results)
    return [_checked(experiment, path, number, line, keys) for number, line in enumerate(_whole(text), start=1)]


def _whole(text: str) -> list[str]:
    """The lines that have an end."""
    return text[: text.rfind("\n") + 1].splitlines()


def _checked(experiment: str, path: Path, number: int, line: str, keys: frozenset[str]) -> Record:
    """The record of a line, if it is one of this experiment."""
    record = _record(line, keys)
    if record is None:
        raise FileError(
            f"journal must hold one JSON record per line; line {number} of {path} is none. Delete the line, or "
            "the file to begin anew."
        )
    name = record.get("experiment", experiment)
    if name != experiment:
        raise FileError(
            f"journal must be of the experiment {experiment!r}; line {number} of {path} is of {name!r}. "
            "Name another file."
        )
    return record


def _record(line: str, keys: frozenset[str]) -> Record | None:
    """The record of a line, if it is one with these keys."""
    try:
        record = json.loads(line)
    except ValueError:
        return None
    return record if isinstance(record, dict) and record.keys() >= keys else None


def _refusal(path: Path, error: OSError) -> FileError:
    """Convert an OSError into a FileError."""
    return FileError(
        f"journal must be a file we can read and write; {path}: {error.strerror or error}. Name another folder."
    )


def _cut_off(path: Path) -> None:
    """Truncate an incomplete last line of a killed run."""
    text = path.read_text(encoding="utf-8")
    whole = text[: text.rfind("\n") + 1]
    if whole != text:
        with replacing(path) as part:
            part.write_text(whole, encoding="utf-8")
