"""Finding out what a path is, before it is read."""

from __future__ import annotations

from difflib import get_close_matches
from pathlib import Path
from typing import NamedTuple

from mnlearn.errors import FileError

DELIMITERS = {".csv": ",", ".tsv": "\t", ".tab": "\t"}
PARQUET = (".parquet", ".pq")


class DataFile(NamedTuple):
    """A file that exists, and how to read it; a delimiter of None means Parquet."""

    path: Path
    delimiter: str | None
    gzipped: bool


class RowTooLong(Exception):  # noqa: N818 - never leaves the readers
    """A row of text did not fit in a block."""


def recognise(path: Path, delimiter: str | None) -> DataFile:
    """Tell the format from the name; a delimiter given by the caller makes any file delimited text."""
    check_exists(path)
    gzipped = path.suffix.lower() == ".gz"
    suffix = Path(path.stem).suffix.lower() if gzipped else path.suffix.lower()
    if suffix in PARQUET:
        if delimiter is not None:
            raise FileError(
                f"delimiter is for delimited text; {path} is a Parquet file by its name. Drop the delimiter."
            )
        return DataFile(path, None, gzipped)
    split_at = delimiter or DELIMITERS.get(suffix)
    if split_at is None:
        known = ", ".join([*DELIMITERS, *PARQUET, ".mnpack"])
        raise FileError(
            f"path must end in one of {known} (or these with .gz); got {path.name!r}. "
            "Rename the file, or pass delimiter=',' (or another) if it is delimited text."
        )
    return DataFile(path, split_at, gzipped)


def check_exists(path: Path) -> None:
    """The path is a file that may be opened."""
    try:
        if path.is_dir():
            raise FileError(f"path must be a file; {path} is a directory. Name one file in it.")
        if not path.exists():
            folder = path.parent
            near = get_close_matches(path.name, [p.name for p in folder.iterdir()] if folder.is_dir() else [], n=3)
            hint = f"Did you mean {' or '.join(map(repr, near))}?" if near else "Check the spelling and the folder."
            raise FileError(f"path must be an existing file; there is no {path}. {hint}")
        if not path.is_file():  # opening a pipe would wait for its writer, and files are read more than once
            raise FileError(f"path must be a file on disk; {path} is a pipe or a device. Save it to disk first.")
        with path.open("rb"):
            pass
    except OSError as error:
        raise FileError(f"path must be a file that can be opened; {path}: {error.strerror or error}.") from error
