"""Delimited text, streamed: blocks of the file become codes and are forgotten.

Every cell arrives as text and `TextColumn` finds out what a column holds, so no block has to be read twice.
Imported on first use: it needs pyarrow.
"""

from __future__ import annotations

import csv
import gzip
import io
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.csv as pacsv

from mnlearn.data._coding import Mixtures
from mnlearn.data._files import DataFile
from mnlearn.data._raw import RawTable
from mnlearn.data._request import Plan, Request
from mnlearn.data._text import TextColumn
from mnlearn.errors import DataError, FileError, MnlearnError

BLOCK_BYTES = 1 << 20  # measured: larger blocks are no faster and hold more
HEADERS_PER_BLOCK = 64  # a wide table needs larger blocks, or every column pays for a few rows
LONGEST_ROW = 1 << 26  # beyond this, a quote that never closes is the likelier story
_BROKEN = (pa.ArrowException, OSError, EOFError, UnicodeError, zlib.error, csv.Error)


class Header(NamedTuple):
    """The first record of a file: the names, and how many lines and characters it took."""

    names: list[str]
    lines: int
    length: int


class _RowTooLong(Exception):  # noqa: N818 - never leaves this file
    """A row did not fit in a block."""


def load(file: DataFile, request: Request) -> RawTable:
    """Read the columns that are asked for."""
    try:
        header = _read_header(file)
    except _BROKEN as error:
        raise _diagnose(file, None, error) from error
    plan = request.plan(header.names)
    block = max(BLOCK_BYTES, HEADERS_PER_BLOCK * header.length)
    while True:
        try:
            return _stream(file, header, plan, block)
        except _RowTooLong as error:
            if block >= LONGEST_ROW:
                raise FileError(
                    f"path must be text with rows under {LONGEST_ROW >> 20} MB; {file.path} has a longer one. "
                    "Look for a quote that is opened and never closed."
                ) from error
            block *= 8


def _stream(file: DataFile, header: Header, plan: Plan, block: int) -> RawTable:
    """Read the file once, in blocks of so many bytes."""
    columns = {str(place.position): TextColumn(place.wish) for place in plan.places}
    mixtures = Mixtures()
    n_rows = 0
    try:
        with _open_reader(file, header, list(columns), block) as reader:
            for batch in reader:
                n_rows += batch.num_rows
                for key, column in columns.items():
                    mixtures.attempt(partial(column.add, batch.column(key)))
                mixtures.report()
    except MnlearnError:
        raise
    except _BROKEN as error:
        if "straddl" in str(error) or "block size" in str(error):
            raise _RowTooLong from error
        raise _diagnose(file, header, error) from error
    return plan.table([column.finish() for column in columns.values()], n_rows, str(file.path))


@contextmanager
def _open_reader(file: DataFile, header: Header, keys: list[str], block: int) -> Iterator[Any]:
    """Open the rows after the header; columns are called by their position, every cell is text."""
    positions = [str(position) for position in range(len(header.names))]
    read = pacsv.ReadOptions(block_size=block, column_names=positions, skip_rows=header.lines)
    parse = pacsv.ParseOptions(delimiter=file.delimiter, newlines_in_values=True)
    convert = pacsv.ConvertOptions(column_types=dict.fromkeys(positions, pa.string()), include_columns=keys)
    with (
        pa.input_stream(str(file.path), compression="gzip" if file.gzipped else None) as stream,
        pacsv.open_csv(stream, read_options=read, parse_options=parse, convert_options=convert) as reader,
    ):
        yield reader


def _read_header(file: DataFile) -> Header:
    """Read the first record, and make sure that another one follows."""
    with _open_bytes(file) as stream:
        reader = csv.reader(io.TextIOWrapper(stream, encoding="utf-8-sig", newline=""), delimiter=str(file.delimiter))
        names = [name.strip() for name in next(filter(None, reader), [])]
        lines = reader.line_num
        if not names:
            raise FileError(f"path must be a table with a header; {file.path} is empty. Check how it was written.")
        if next(filter(None, reader), None) is None:
            raise DataError(f"{file.path} must have rows below its header; it has none. Check how it was written.")
    _check_split(file, names)
    return Header(names, lines, sum(map(len, names)) + len(names))


def _check_split(file: DataFile, names: list[str]) -> None:
    """A single column whose name holds another delimiter was split at the wrong one."""
    other = next((mark for mark in ";\t|, " if mark in names[0]), None) if len(names) == 1 else None
    if other is not None:
        raise DataError(
            f"{file.path} must have at least 2 columns; split at {file.delimiter!r} it has one, {names[0]!r}. "
            f"It looks split at {other!r}: pass delimiter={other!r}."
        )


def _open_bytes(file: DataFile) -> gzip.GzipFile | io.BufferedReader:
    """The bytes of the file, unpacked."""
    return gzip.open(file.path, "rb") if file.gzipped else file.path.open("rb")


def _diagnose(file: DataFile, header: Header | None, error: Exception) -> MnlearnError:
    """Read the file again, slowly, to say what is wrong with it and where."""
    try:
        return _fault(file, header, error)
    except _BROKEN as damage:
        return FileError(
            f"path must be a sound file; {file.path} is damaged, cut short or of another format ({damage}). "
            "Write or copy it again."
        )


def _fault(file: DataFile, header: Header | None, error: Exception) -> MnlearnError:
    """The first line that is not UTF-8, or has another number of cells than the header."""
    with _open_bytes(file) as stream:
        for number, line in enumerate(stream, start=1):
            try:
                line.decode("utf-8")
            except UnicodeDecodeError as fault:
                return FileError(
                    f"path must be UTF-8 text; line {number} of {file.path} holds the byte 0x{line[fault.start]:02x}. "
                    "Save the file again as UTF-8."
                )
    if header is not None:
        with _open_bytes(file) as stream:
            reader = csv.reader(
                io.TextIOWrapper(stream, encoding="utf-8-sig", newline=""), delimiter=str(file.delimiter)
            )
            for record in filter(None, reader):
                if len(record) != len(header.names):
                    return DataError(
                        f"{file.path} must have {len(header.names)} cells in every row, as in its header; "
                        f"line {reader.line_num} has {len(record)}. Mend the row, or quote the cells that hold "
                        f"{file.delimiter!r}."
                    )
    return FileError(f"path must be delimited text; {file.path} cannot be read: {error}. Check how it was written.")
