"""Find the error in a text file, and its line: read it again, slowly, after the fast reader has failed."""

from __future__ import annotations

import csv
import gzip
import io
import re
import zlib
from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import NamedTuple, TypeGuard

import pyarrow as pa

from mnlearn.data.columns import MixedTypesError
from mnlearn.data.dataset import DataFile
from mnlearn.data.options import ColumnOptions
from mnlearn.errors import DataError, FileError, MnlearnError, unreadable

BROKEN = (pa.ArrowException, OSError, MemoryError, EOFError, UnicodeError, zlib.error, csv.Error)
_TO_CLOSING_QUOTE = re.compile(r'[^"]*(?:""[^"]*)*"(?!")')


class Record(NamedTuple):
    """One record of a file: the line it begins on, its number of cells, and whether its last quote is closed."""

    line: int
    cells: int
    closed: bool


def diagnose(file: DataFile, names: Sequence[str] | None, error: Exception) -> MnlearnError:
    """Return the error for a file that could not be read, with its line; `names` is None if the header is at fault."""
    if failed_system(error):
        return unreadable("path", file.path, error)
    try:
        return _not_text(file) or _misshapen(file, names) or _unreadable(file, error)
    except BROKEN as damage:
        if failed_system(damage):
            return unreadable("path", file.path, damage)
        return FileError(
            f"path must be an intact file; {file.path} is damaged, cut short or of another format ({damage}). "
            "Write or copy it again."
        )


def failed_system(error: BaseException) -> TypeGuard[OSError | MemoryError]:
    """Return whether memory ran out or the system failed, which is not the fault of the file's contents."""
    return isinstance(error, MemoryError) or (isinstance(error, OSError) and error.errno is not None)


def check_closed(file: DataFile) -> None:
    """Raise DataError if a quote is never closed, which makes one cell of the rest of the file."""
    try:
        last = deque(_records(file), maxlen=1)
    except BROKEN as error:
        raise diagnose(file, None, error) from error
    if last and not last[0].closed:
        raise _never_closed(file, last[0])


@contextmanager
def open_text(file: DataFile) -> Iterator[io.TextIOWrapper]:
    """Open the file as text, without a byte order mark and with line ends unchanged."""
    with _open_bytes(file) as stream, io.TextIOWrapper(stream, encoding="utf-8-sig", newline="") as text:
        yield text


def _open_bytes(file: DataFile) -> gzip.GzipFile | io.BufferedReader:
    """Open the unpacked bytes of the file."""
    return gzip.open(file.path, "rb") if file.gzipped else file.path.open("rb")


def _not_text(file: DataFile) -> FileError | None:
    """Return the error for the first line that is not UTF-8, if any."""
    with _open_bytes(file) as stream:
        for number, line in enumerate(stream, start=1):
            try:
                line.decode("utf-8")
            except UnicodeDecodeError as fault:
                if number == 1 and line.startswith(b"\x1f\x8b"):
                    return _packed(file)
                return FileError(
                    f"path must be UTF-8 text; line {number} of {file.path} holds the byte 0x{line[fault.start]:02x}. "
                    "Save the file again as UTF-8."
                )
    return None


def _packed(file: DataFile) -> FileError:
    """Return the error for gzipped bytes under a name without .gz."""
    if file.gzipped:
        return FileError(f"path must be text packed once; {file.path} looks gzipped twice. Unpack it once.")
    return FileError(f"path must be UTF-8 text; {file.path} looks gzipped. Name it {file.path.name}.gz.")


def _misshapen(file: DataFile, names: Sequence[str] | None) -> DataError | None:
    """Return the error for the first record with an open quote or another number of cells than the header, if any."""
    for record in _records(file):
        if not record.closed:
            return _never_closed(file, record)
        if names is not None and record.cells != len(names):
            return DataError(
                f"{file.path} must have {len(names)} cells in every row, as in its header; "
                f"line {record.line} has {record.cells}. {_remedy(record, names)} the row, or quote the cells "
                f"that hold {file.delimiter!r}."
            )
    return None


def _remedy(record: Record, names: Sequence[str]) -> str:
    """Return what to do about a row; one with a cell more than the header may be of R's write.table."""
    named = "If the first cell of every row is its name, use row_names=True. Otherwise correct"
    return named if record.cells == len(names) + 1 else "Correct"


def _unreadable(file: DataFile, error: Exception) -> FileError:
    """Return the error of the fast reader, where nothing else was found."""
    return FileError(f"path must be delimited text; {file.path} cannot be read: {error}. Check how it was written.")


def _never_closed(file: DataFile, record: Record) -> DataError:
    """Return the error for a quote that takes in the rest of the file."""
    return DataError(
        f"{file.path} must close every quote that opens a cell; a quote is never closed in the row that begins on "
        f"line {record.line}. Close or delete it."
    )


def _records(file: DataFile) -> Iterator[Record]:
    """Yield every record that is not blank; the `csv` module does not allow cells of more than 131,072 characters."""
    with open_text(file) as text:
        first, cells, inside = 1, 0, False
        for number, line in enumerate(text, start=1):
            if not inside:
                if not line.strip("\r\n"):
                    continue
                first, cells = number, 1
            marks, inside = _split(line, str(file.delimiter), inside)
            cells += marks
            if not inside:
                yield Record(first, cells, closed=True)
        if inside:
            yield Record(first, cells, closed=False)


def _split(line: str, mark: str, inside: bool) -> tuple[int, bool]:
    """Count the delimiters of a line, and return whether it ends inside quotes; `inside`: whether it begins there."""
    marks = position = 0
    while True:
        if not inside and line.startswith('"', position):
            inside, position = True, position + 1
        if inside:
            quoted = _TO_CLOSING_QUOTE.match(line, position)
            if quoted is None:
                return marks, True
            inside, position = False, quoted.end()
        position = line.find(mark, position) + 1
        if not position:
            return marks, False
        marks += 1


# Errors in the cells of a column


def other_notation(options: ColumnOptions, first: tuple[str, int]) -> MixedTypesError:
    """Return the error for numbers in another notation, which would otherwise pass for labels."""
    name, (cell, row) = options.name, first
    mark, right = ("point", "1234.5") if options.decimal == "." else ("comma", "1234,5")
    comma = " use decimal=',' if all numbers have a decimal comma," if mark == "point" and cell.count(",") == 1 else ""
    return MixedTypesError(
        f"column {name!r} must write numbers with a decimal {mark} and nothing between digits; data row {row} holds "
        f"{cell!r}. Write {right},{comma} or use types={{{name!r}: 'categorical'}} if these are labels.",
        name,
    )


def late_quote(name: str, text: str, row: int) -> DataError:
    """Return the error for a quote after a blank, which is part of the cell and opens nothing."""
    return DataError(
        f"column {name!r} must have no blank between a delimiter and a quote; data row {row} holds {text!r:.80}. "
        "Delete these blanks."
    )
