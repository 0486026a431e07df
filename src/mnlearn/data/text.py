"""Delimited text, read in blocks: each block becomes codes and is released.

Every cell is read as a string, and `TextColumn` finds the type of a column. A column starts as distinct strings with
codes. The first decimal number makes it continuous for good; otherwise its type is decided at the end. So the result
does not depend on where a block ends, unlike that of a reader that guesses types from the first block.
Imported on first use because it needs pyarrow.

Decimal commas in text: numbers with a comma get a point, and those with a point a comma, which is an error later.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from decimal import Decimal, InvalidOperation
from enum import Enum, auto
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.csv as pacsv
from numpy.typing import NDArray

from mnlearn.data.columns import (
    Codes,
    Mixtures,
    Numbers,
    ReadColumn,
    Reason,
    by_first_row,
    code_batch,
    coded_column,
    is_marker,
    mixed,
    not_a_number,
)
from mnlearn.data.dataset import MAX_STATES, DataFile, RowTooLong
from mnlearn.data.options import DOUBTFUL, NOT_A_NUMBER, ColumnOptions, is_nan
from mnlearn.data.text_errors import BROKEN, check_closed, diagnose, late_quote, open_text, other_notation
from mnlearn.errors import DataError, FileError, MnlearnError

_COMMA = r"^(\s*[+-]?[0-9]*),([0-9]+(?:[eE][+-]?[0-9]+)?\s*)$"
_POINT = r"^(\s*[+-]?[0-9]*)\.([0-9]+(?:[eE][+-]?[0-9]+)?\s*)$"


def batches_with_points(batches: Iterable[Any], columns: Sequence[ColumnOptions]) -> Iterator[Any]:
    """Yield batches of strings whose numbers have decimal points; the columns come first, in this order."""
    commas = any(own.decimal == "," for own in columns)
    for batch in batches:
        if not commas:
            yield batch
            continue
        arrays = [with_points(batch.column(k), own) for k, own in enumerate(columns)]
        arrays += [batch.column(k) for k in range(len(columns), batch.num_columns)]
        yield pa.RecordBatch.from_arrays(arrays, names=batch.schema.names)


def with_points(cells: Any, options: ColumnOptions) -> Any:
    """Return cells whose decimal commas are points.

    A number with a point may have a separator of thousands there (1.234 is 1234 in German), so it gets a comma, and the
    column is refused. Cells of a categorical column keep their points: they may be labels such as 3.5 for a date.
    """
    if options.decimal != ",":
        return cells
    import pyarrow.compute as pc  # slow to import

    pointed = pc.replace_substring_regex(cells, _COMMA, r"\1.\2")
    if not options.is_open and not options.is_numeric:
        return pointed
    return pc.if_else(
        pc.match_substring_regex(cells, _POINT), pc.replace_substring_regex(cells, _POINT, r"\1,\2"), pointed
    )


def cell_as_written(cell: str, options: ColumnOptions) -> str:
    """Return a cell as the file writes it."""
    if options.decimal == "," and (re.fullmatch(_COMMA, cell) or re.fullmatch(_POINT, cell)):
        return cell.translate({ord("."): ",", ord(","): "."})
    return cell


BLOCK_BYTES = 1 << 21  # measured: larger blocks are no faster and hold more
HEADERS_PER_BLOCK = 64  # a wide table needs larger blocks, or every column pays for a few rows
LARGE_BLOCK = 1 << 24
LONGEST_ROW = 1 << 26  # beyond this, a quote that is never closed is more likely


class Header(NamedTuple):
    """The first record of a file: the names, and its number of lines and characters."""

    names: list[str]
    lines: int
    length: int


def read_csv_into(columns: Mapping[str, TextColumn], file: DataFile, header: Header, block: int) -> int:
    """Read a file into column readers, keyed by the position of the column, and return the number of rows."""
    last = str(len(header.names) - 1)
    mixtures = Mixtures()
    n_rows, suspect = 0, False
    try:
        with _open_reader(file, header, list(dict.fromkeys([*columns, last])), block) as (reader, source):
            for batch in batches_with_points(reader, [column.options for column in columns.values()]):
                n_rows += batch.num_rows
                suspect = _ends_over_lines(batch.column(last))
                for step in _steps(list(columns.values()), batch):
                    mixtures.attempt(step)
                mixtures.report()
            suspect = suspect or source.may_end_inside_quotes()
    except MnlearnError:
        if suspect:
            check_closed(file)
        raise
    except BROKEN as error:
        if "straddl" in str(error) or "block size" in str(error):
            raise RowTooLong(file, header.names, block) from error
        raise diagnose(file, header.names, error) from error
    if suspect:
        check_closed(file)
    return n_rows


def _steps(columns: Sequence[TextColumn], batch: Any) -> Iterator[Callable[[], None]]:
    """Yield what reads each column of a batch; strings are coded for all columns together."""
    strings = [k for k, column in enumerate(columns) if not column.is_numeric]
    coded = dict(zip(strings, code_batch(batch, strings), strict=True))
    for k, column in enumerate(columns):
        found = coded.get(k)
        if found is None:
            yield partial(column.add, batch.column(k))
        else:
            yield partial(column.add_coded, found[0], found[1], partial(batch.column, k))


class _Source:
    """The bytes of a file as the fast reader asks for them; the last ones are kept."""

    closed = False

    def __init__(self, stream: Any) -> None:
        self._stream = stream
        self._last = b""

    def read(self, size: int) -> bytes:
        """Return the next bytes."""
        block: bytes = self._stream.read(size)
        self._last = block or self._last
        return block

    def may_end_inside_quotes(self) -> bool:
        """Return whether the file ends without a line end and with a quote in its last line."""
        return b'"' in self._last[max(self._last.rfind(b"\r"), self._last.rfind(b"\n")) + 1 :]


@contextmanager
def _open_reader(file: DataFile, header: Header, keys: list[str], block: int) -> Iterator[tuple[Any, _Source]]:
    """Open the rows below the header; columns are named by their position, every cell is a string."""
    positions = [str(position) for position in range(len(header.names))]
    read = pacsv.ReadOptions(block_size=block, column_names=positions, skip_rows=header.lines)
    parse = pacsv.ParseOptions(delimiter=file.delimiter, newlines_in_values=True)
    convert = pacsv.ConvertOptions(column_types=dict.fromkeys(positions, pa.string()), include_columns=keys)
    with (
        pa.input_stream(str(file.path), compression="gzip" if file.gzipped else None) as stream,
        pacsv.open_csv(
            pa.PythonFile(source := _Source(stream), mode="r"),
            read_options=read,
            parse_options=parse,
            convert_options=convert,
        ) as reader,
    ):
        yield reader, source


def first_block(header: Header) -> int:
    """Return the number of bytes to read at a time."""
    return max(BLOCK_BYTES, HEADERS_PER_BLOCK * header.length, min(LARGE_BLOCK, 16 * HEADERS_PER_BLOCK * header.length))


def read_header(file: DataFile) -> Header:
    """Read the first record, and check that another one follows."""
    try:
        return _read_header(file)
    except BROKEN as error:
        raise diagnose(file, None, error) from error


def _read_header(file: DataFile) -> Header:
    with open_text(file) as text:
        reader = csv.reader(text, delimiter=str(file.delimiter))
        cells = next(filter(None, reader), [])
        names = [name.strip() for name in cells]
        lines = reader.line_num
        row = next(filter(None, reader), []) if file.row_names else []
        if len(row) == len(names) + 1:  # as R's write.table writes it
            names.insert(0, "")
        has_rows = bool(row) or any(block.strip("\r\n") for block in iter(partial(text.read, BLOCK_BYTES), ""))
    if not names:
        raise FileError(f"path must be a table with a header; {file.path} is empty. Check how it was written.")
    if not has_rows:
        check_closed(file)
        raise DataError(f"{file.path} must have rows below its header; it has none. Check how it was written.")
    _check_text(file, cells)
    _check_split(file, names)
    return Header(names, lines, sum(map(len, names)) + len(names))


def _check_text(file: DataFile, cells: list[str]) -> None:
    """Raise an error for names that show another encoding, or quotes that do not open a cell."""
    if any("\0" in cell for cell in cells):
        raise FileError(
            f"path must be UTF-8 text; the header of {file.path} holds null characters, as UTF-16 does. Save the file "
            "again as UTF-8."
        )
    late = next((cell for cell in cells if cell[:1].isspace() and cell.lstrip().startswith('"')), None)
    if late is not None:
        raise DataError(
            f"{file.path} must have no blank between a delimiter and a quote; the header holds {late!r}. "
            "Delete these blanks."
        )


def _check_split(file: DataFile, names: list[str]) -> None:
    """Raise DataError if the only column looks like a comment or like cells with another delimiter."""
    if len(names) > 1:
        return
    comment = names[0].startswith("#")
    other = next((mark for mark in (";\t|," if comment else ";\t|, ") if mark in names[0]), None)
    if other is not None:
        raise DataError(
            f"{file.path} must have at least 2 columns; split at {file.delimiter!r} it has one, {names[0]!r}. "
            f"It looks split at {other!r}: pass delimiter={other!r}{_or_decimal(other)}."
        )
    if comment:
        raise DataError(
            f"{file.path} must begin with a header, the names of its columns; it begins with the comment {names[0]!r}. "
            "Delete the lines above the header."
        )


def _or_decimal(mark: str) -> str:
    """Return what else to pass for files in the format of countries with decimal commas."""
    return ", or decimal=',' if its numbers have decimal commas" if mark == ";" else ""


def _ends_over_lines(cells: Any) -> bool:
    """Return whether the last cell holds a line end, as it does when its quote is never closed."""
    cell = cells[-1].as_py() if len(cells) else None
    return cell is not None and ("\n" in cell or "\r" in cell)


# Types of cells and columns


_WHOLE = re.compile(r"[+-]?[0-9]{1,300}")
_DECIMAL = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
_WHOLE_VALUE = re.compile(r"([+-]?[0-9]{1,300})(?:\.0*)?")
_EXACT = 2**53  # a float has every whole number up to this
_NOTATION = re.compile(  # numbers that are written in another way, and would pass for words
    r"[+\u2212-]?[0-9]*,[0-9]+(?:[eE][+-]?[0-9]+)?"  # with a decimal comma
    r"|[+\u2212-]?[0-9]{1,3}(?:([.,'\u2019_ \u00a0\u2009\u202f])[0-9]{3})(?:\1[0-9]{3})*(?:[.,][0-9]+)?"  # 1,234.5
    r"|\u2212[0-9]+(?:\.[0-9]+)?"  # with the minus sign of typesetting
    r"|[+-]?0[xX][0-9a-fA-F]+"
)
_FLAGS = frozenset({"true", "True", "TRUE", "false", "False", "FALSE"})
_INFINITE = frozenset(
    f"{sign}{text}" for sign in ("", "+", "-") for text in ("inf", "Inf", "INF", "infinity", "Infinity")
)


class Kind(Enum):
    """Type of a cell by its form."""

    WHOLE = auto()
    DECIMAL = auto()
    INFINITE = auto()
    NAN = auto()
    FLAG = auto()
    NOTATION = auto()  # a number with a decimal comma, thousands separators or the like
    DOUBT = auto()  # NA and the like
    WORD = auto()


_NUMBERS = {Kind.WHOLE, Kind.DECIMAL, Kind.INFINITE}
_WORDS = {Kind.FLAG, Kind.NOTATION, Kind.WORD}


def kind_of(cell: str) -> Kind:
    """Classify a cell that is neither missing nor surrounded by blanks."""
    if _WHOLE.fullmatch(cell):
        return Kind.WHOLE
    if _DECIMAL.fullmatch(cell):
        return Kind.DECIMAL
    for kind, texts in (
        (Kind.FLAG, _FLAGS),
        (Kind.DOUBT, DOUBTFUL),
        (Kind.NAN, NOT_A_NUMBER),
        (Kind.INFINITE, _INFINITE),
    ):
        if cell in texts:
            return kind
    return Kind.NOTATION if _NOTATION.fullmatch(cell) else Kind.WORD


class TextColumn:
    """Reader of a column of text cells; all of them together decide its type."""

    def __init__(self, options: ColumnOptions) -> None:
        self.options = options
        self._codes = Codes(options)
        self._known: dict[str | None, int] = {None: 0}
        self._texts: Sequence[str | None] = ()  # the strings of the last cells, and their codes
        self._lookup: list[int] = []
        self._kinds: dict[Kind, tuple[str, int]] = {}  # the first cell of each kind, and its data row
        self._doubts: dict[str, None] = {}
        self._numbers = Numbers(options) if options.is_numeric else None
        self._reason = Reason.BY_VALUE

    def add(self, array: Any) -> None:
        """Read the next cells."""
        if pa.types.is_dictionary(array.type):
            array = array.dictionary_decode()
        if self._numbers is not None:
            self._numbers.extend(self._parsed(array, self._numbers))
            return
        self.add_coded(*distinct(array), lambda: array)

    @property
    def is_numeric(self) -> bool:
        """Return whether the column is continuous by now."""
        return self._numbers is not None

    def add_coded(self, texts: Sequence[str | None], rows: NDArray[np.integer], array: Callable[[], Any]) -> None:
        """Read the next cells as positions among strings; `array` returns the cells themselves."""
        if texts != self._texts:
            new = [position for position, text in enumerate(texts) if text not in self._known]
            if self._are_too_many(texts, new):
                self._numbers, self._reason = self._as_numbers(), Reason.MANY
                self.add(array())
                return
            for position in by_first_row(new, rows):
                if self._learn(texts[position], position, rows) is Kind.DECIMAL and self.options.is_open:
                    self._numbers = self._as_numbers()
                    self.add(array())
                    return
            self._texts, self._lookup = texts, [self._known[text] for text in texts]
        self._codes.tally(texts, self._lookup, rows)
        self._codes.extend(self._lookup, rows)

    def finish(self) -> ReadColumn:
        """Decide the type and return the column."""
        if (
            self._numbers is None
            and self.options.is_open
            and Kind.INFINITE in self._kinds
            and set(self._kinds).isdisjoint(_WORDS)
        ):
            self._numbers = self._as_numbers()
        if self._numbers is not None:
            return self._numbers.finish(tuple(self._doubts), self._reason)
        if self.options.levels is not None:
            labels = [self._declared(cell) for cell in self._codes.index]
            _check_digits(self.options.name, self._codes.index, labels)
        else:
            labels = self._labels()
        return coded_column(self._codes, labels, self.options, doubts=tuple(self._doubts))

    def _are_too_many(self, texts: Sequence[str | None], new: Sequence[int]) -> bool:
        """Return whether new strings make more different numbers than a categorical column may have."""
        if not self.options.is_open or len(self._codes.index) + len(new) <= MAX_STATES or len(new) < 2:
            return False
        cells = ((texts[position] or "").strip() for position in new)
        kinds = {kind_of(cell) for cell in cells if not self._is_missing(cell)} | set(self._kinds)
        known = len(self._codes.index) + sum(not self._is_missing((texts[k] or "").strip()) for k in new)
        return kinds <= {*_NUMBERS, Kind.NAN} and known > MAX_STATES

    def _learn(self, text: str | None, position: int, rows: NDArray[np.integer]) -> Kind | None:
        """Give a new string its code and note the first cell of its kind; raise an error for numbers among words."""
        cell = (text or "").strip()
        if cell.startswith('"') and text is not None and text[0].isspace():
            raise late_quote(self.options.name, text, _first_row(rows, position, self._codes.n_rows))
        if self._is_missing(cell):
            self._known[text] = 0
            return None
        kind = kind_of(cell)
        if kind not in self._kinds:
            self._kinds[kind] = (cell_as_written(cell, self.options), _first_row(rows, position, self._codes.n_rows))
            self._check_one_kind()
        self._known[text] = self._codes.code(cell)
        return kind

    def _labels(self) -> list[Hashable | None]:
        """Return the label of each code when no levels were declared."""
        plain = set(self._kinds) - ({Kind.NAN, Kind.DOUBT} if self.options.is_open else {Kind.NAN})
        if self.options.is_open and Kind.NOTATION in plain and Kind.WORD not in plain:
            raise other_notation(self.options, self._kinds[Kind.NOTATION])
        read = next((read for kinds, read in _READINGS if plain <= kinds), str)
        labels = [self._label(cell, read) for cell in self._codes.index]
        if read is _value:
            _check_digits(self.options.name, self._codes.index, labels)
        return labels

    def _label(self, cell: Hashable, read: Callable[[str], Hashable]) -> Hashable | None:
        """Return the label of one cell in a column parsed by `read`; None when it is missing."""
        text = str(cell)
        kind = kind_of(text)
        if kind not in (Kind.NAN, Kind.DOUBT):
            return read(text)
        if read is str and not self.options.is_open:
            return text
        if kind is Kind.DOUBT or read not in (int, _value):
            self._doubts[text] = None
        return None

    def _declared(self, cell: Hashable) -> Hashable | None:
        """Return the declared level that equals a cell as a string, number or flag; the cell itself if none does."""
        text, kind = str(cell), kind_of(str(cell))
        if text in self.options.declared:
            return text
        if kind is Kind.NAN:
            return None
        value = next((read(text) for kinds, read in _READINGS if kind in kinds), text)
        return value if self.options.is_declared(value) else text

    def _as_numbers(self) -> Numbers:
        """Return the cells so far as a continuous column."""
        numbers = Numbers(self.options)
        table = np.array([np.nan] + [self._number(str(cell)) for cell in self._codes.index])
        numbers.marked += self._codes.marked
        cells = [None, *self._codes.index]
        for chunk in self._codes.chunks:
            counts = np.bincount(chunk, minlength=len(cells))
            missing = (k for k, cell in enumerate(cells) if counts[k] and cell is not None and is_nan(float(table[k])))
            numbers.marked.update({str(cells[k]): int(counts[k]) for k in missing})
            numbers.extend(table[chunk])
        self._codes.chunks.clear()
        return numbers

    def _parsed(self, array: Any, numbers: Numbers) -> NDArray[np.float64]:
        """Return cells as numbers: all at once if they are plain numbers and named markers, otherwise one by one."""
        values = _cast(array)
        if values is None:
            import pyarrow.compute as pc  # slow to import, and not needed for complete columns

            blank = pc.is_in(array, value_set=pa.array(["", *self.options.markers.texts], type=array.type))
            values = _cast(pc.if_else(blank, pa.scalar(None, array.type), array))
            if values is not None:
                found, rows = distinct(array.filter(blank))
                counts = np.bincount(rows, minlength=len(found))
                named = {str(text): int(counts[k]) for k, text in enumerate(found) if is_marker(text) and counts[k]}
                numbers.marked.update(named)
        if values is not None:
            return values
        texts, rows = distinct(array)
        table = [float("nan")] * len(texts)
        for k in by_first_row(range(len(texts)), rows):
            table[k] = self._number(texts[k], partial(_first_row, rows, k, numbers.n_rows))
        for position, text in enumerate(texts):
            if is_nan(table[position]) and is_marker(text) and (count := int(np.count_nonzero(rows == position))):
                numbers.marked[str(text).strip()] += count
        return np.take(np.array(table, dtype=np.float64), rows)

    def _number(self, text: str | None, row: Callable[[], int] = int) -> float:
        """Return one cell of a continuous column as a number, NaN when missing."""
        cell = (text or "").strip()
        kind = Kind.NAN if self._is_missing(cell) else kind_of(cell)
        if kind in _NUMBERS:
            return float(cell)
        if kind is Kind.DOUBT and self.options.is_open:
            self._doubts[cell] = None
        elif kind is not Kind.NAN:
            self._kinds.setdefault(kind, (cell_as_written(cell, self.options), row()))
            self._check_one_kind()
            raise not_a_number(self.options, cell_as_written(cell, self.options), row())
        return float("nan")

    def _is_missing(self, cell: str) -> bool:
        """Return whether a cell is blank, a named marker or a named number; a declared level never is missing."""
        if not self.options.markers.numbers or kind_of(cell) not in _NUMBERS:
            return self.options.is_missing(cell)
        declared = cell in self.options.declared or _value(cell) in self.options.declared
        return not declared and (self.options.is_missing(cell) or _value(cell) in self.options.markers)

    def _check_one_kind(self) -> None:
        """Raise an error for numbers among words unless the type or the levels were given."""
        if not self.options.is_open:
            return
        number = next((kind for kind in (Kind.WHOLE, Kind.DECIMAL) if kind in self._kinds), None)
        word = next((kind for kind in (Kind.WORD, Kind.FLAG, Kind.NOTATION) if kind in self._kinds), None)
        if number is not None and word is Kind.NOTATION:
            raise other_notation(self.options, self._kinds[word])
        if number is not None and word is not None:
            raise mixed(self.options.name, ("numbers", *self._kinds[number]), ("text", *self._kinds[word]))


def distinct(array: Any) -> tuple[Sequence[str | None], NDArray[np.integer]]:
    """Return the distinct strings of an array, and the position of each row among them."""
    coded = code_batch(pa.RecordBatch.from_arrays([array], names=["cells"]), [0])[0]
    if coded is not None:
        return coded[:2]
    encoded = array.dictionary_encode()  # very many
    texts = encoded.dictionary.to_pylist()
    rows = encoded.indices.fill_null(len(texts)) if encoded.null_count else encoded.indices
    return [*texts, None] if encoded.null_count else texts, flat(rows)


def _cast(array: Any) -> NDArray[np.float64] | None:
    """Return strings as numbers with NaN for null, or None if one of them is not a plain number."""
    try:
        numbers = array.cast(pa.float64())
    except pa.ArrowInvalid:
        return None
    return floats(numbers)


def _first_row(rows: NDArray[np.integer], position: int, before: int) -> int:
    """Return the data row, counted from 1, of the first cell with this string."""
    return before + int(np.argmax(rows == position)) + 1


def _value(cell: str) -> int | float:
    """Return the value of a number; a whole one keeps digits that a float does not have."""
    whole = _WHOLE_VALUE.fullmatch(cell)
    if whole is not None and abs(int(whole[1])) > _EXACT:
        return int(whole[1])
    return float(cell)


def _check_digits(name: str, cells: Iterable[Hashable], labels: Sequence[Hashable]) -> None:
    """Raise DataError if two cells have one label because a float does not have all of their digits."""
    first: dict[Hashable, str] = {}
    for cell, label in zip(map(str, cells), labels, strict=True):
        other = first.setdefault(label, cell)
        if other is not cell and isinstance(label, int | float) and not _are_equal(cell, other):
            raise DataError(
                f"column {name!r} must hold labels that differ as 64-bit numbers; {other!r} and {cell!r} do not. Round "
                f"them, or declare them as strings: levels={{{name!r}: [{other!r}, {cell!r}, ...]}}."
            )


def _are_equal(one: str, other: str) -> bool:
    """Return whether two cells are one number or one flag."""
    try:
        return Decimal(one) == Decimal(other)
    except InvalidOperation:
        return Kind.FLAG is kind_of(one) is kind_of(other)


def _flag(cell: str) -> bool:
    """Return the value of a true/false cell."""
    return cell.lower() == "true"


_READINGS: tuple[tuple[set[Kind], Callable[[str], Hashable]], ...] = (
    ({Kind.WHOLE}, int),
    (_NUMBERS, _value),
    ({Kind.FLAG}, _flag),
)


# Arrow buffers as NumPy arrays. `Array.to_numpy` would import pandas where it is installed, which takes 0.3 s; so does
# every Python value passed to pyarrow, which happens here only for columns with missing values.


def flat(array: Any) -> NDArray[Any]:
    """Return the values of an array of numbers without nulls; they are shared, not copied."""
    kind = np.dtype(str(array.type))  # "int32", "double": NumPy knows them by these names
    return np.frombuffer(array.buffers()[1], kind, len(array), array.offset * kind.itemsize)


def floats(array: Any) -> NDArray[np.float64]:
    """Return the values of a float64 array, NaN for null."""
    return flat(array.fill_null(pa.scalar(np.nan, pa.float64())) if array.null_count else array)
