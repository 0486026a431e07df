"""Delimited text, streamed: blocks of the file become codes and are forgotten.

Every cell arrives as text and `TextColumn` finds out what a column holds, so no block has to be read twice.
Imported on first use: it needs pyarrow.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.csv as pacsv

from mnlearn.data._coding import Mixtures
from mnlearn.data._faults import BROKEN, check_closed, diagnose, open_text
from mnlearn.data._files import DataFile, RowTooLong
from mnlearn.data._raw import RawTable
from mnlearn.data._request import Plan, Request
from mnlearn.data._text import TextColumn
from mnlearn.errors import DataError, FileError, MnlearnError

BLOCK_BYTES = 1 << 20  # measured: larger blocks are no faster and hold more
HEADERS_PER_BLOCK = 64  # a wide table needs larger blocks, or every column pays for a few rows
LONGEST_ROW = 1 << 26  # beyond this, a quote that never closes is the likelier story


class Header(NamedTuple):
    """The first record of a file: the names, and how many lines and characters it took."""

    names: list[str]
    lines: int
    length: int


def load(file: DataFile, request: Request) -> RawTable:
    """Read the columns that are asked for."""
    header = read_header(file)
    plan = request.plan(header.names)
    block = first_block(header)
    while True:
        try:
            return _stream(file, header, plan, block)
        except RowTooLong as error:
            if block >= LONGEST_ROW:
                raise diagnose(file, header.names, error) from error
            block *= 8


def _stream(file: DataFile, header: Header, plan: Plan, block: int) -> RawTable:
    """Read the file once, in blocks of so many bytes."""
    columns = {str(place.position): TextColumn(place.wish) for place in plan.places}
    n_rows = fill(columns, file, header, block)
    return plan.table([column.settle().whole() for column in columns.values()], n_rows, str(file.path))


def fill(columns: Mapping[str, TextColumn], file: DataFile, header: Header, block: int) -> int:
    """Read the file into collectors, each called by the position of its column; how many rows there were."""
    last = str(len(header.names) - 1)
    mixtures = Mixtures()
    n_rows, suspect = 0, False
    try:
        with _open_reader(file, header, list(dict.fromkeys([*columns, last])), block) as reader:
            for batch in reader:
                n_rows += batch.num_rows
                suspect = _ends_over_lines(batch.column(last))
                for key, column in columns.items():
                    mixtures.attempt(partial(column.add, batch.column(key)))
                mixtures.report()
    except MnlearnError:
        if suspect:
            check_closed(file)
        raise
    except BROKEN as error:
        if "straddl" in str(error) or "block size" in str(error):
            raise RowTooLong(f"a row takes more than {block >> 20} MB") from error
        raise diagnose(file, header.names, error) from error
    if suspect:
        check_closed(file)
    return n_rows


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


def first_block(header: Header) -> int:
    """How many bytes to read at a time."""
    return max(BLOCK_BYTES, HEADERS_PER_BLOCK * header.length)


def read_header(file: DataFile) -> Header:
    """Read the first record, and make sure that another one follows."""
    try:
        return _read_header(file)
    except BROKEN as error:
        raise diagnose(file, None, error) from error


def _read_header(file: DataFile) -> Header:
    with open_text(file) as text:
        reader = csv.reader(text, delimiter=str(file.delimiter))
        names = [name.strip() for name in next(filter(None, reader), [])]
        lines = reader.line_num
        has_rows = any(block.strip("\r\n") for block in iter(partial(text.read, BLOCK_BYTES), ""))
    if not names:
        raise FileError(f"path must be a table with a header; {file.path} is empty. Check how it was written.")
    if not has_rows:
        check_closed(file)
        raise DataError(f"{file.path} must have rows below its header; it has none. Check how it was written.")
    _check_split(file, names)
    return Header(names, lines, sum(map(len, names)) + len(names))


def _check_split(file: DataFile, names: list[str]) -> None:
    """A single column whose name holds another delimiter was split at the wrong one, or is a remark."""
    if len(names) > 1:
        return
    remark = names[0].startswith("#")
    other = next((mark for mark in (";\t|," if remark else ";\t|, ") if mark in names[0]), None)
    if other is not None:
        raise DataError(
            f"{file.path} must have at least 2 columns; split at {file.delimiter!r} it has one, {names[0]!r}. "
            f"It looks split at {other!r}: pass delimiter={other!r}."
        )
    if remark:
        raise DataError(
            f"{file.path} must begin with a header, the names of its columns; it begins with the remark {names[0]!r}. "
            "Delete the lines above the header."
        )


def _ends_over_lines(cells: Any) -> bool:
    """Whether the last cell holds a line end, as it does when its quote is never closed and swallows what follows."""
    cell = cells[-1].as_py() if len(cells) else None
    return cell is not None and ("\n" in cell or "\r" in cell)
