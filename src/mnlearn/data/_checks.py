"""Rules for data sets, and for the files they are read from."""

from __future__ import annotations

import gzip
import zlib
from collections import Counter
from collections.abc import Hashable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, DTypeLike, NDArray

from mnlearn.errors import DataError, FileError, InputError, check_file, check_unmasked

MAX_STATES = 65_535
MAX_TOTAL = 2.0**62  # no sum of repeats is as large


def code_type(card: int) -> type[np.uint8] | type[np.uint16]:
    """Return the type of the codes of a variable with this many states."""
    return np.uint8 if card <= 256 else np.uint16


def check_shapes(
    names: Sequence[str],
    cards: Sequence[int],
    columns: Sequence[NDArray[np.generic]],
    levels: Sequence[tuple[Hashable, ...] | None],
) -> None:
    """Raise DataError unless every variable has a name, a card, a column and labels, and columns have one length."""
    parts = {"names": names, "cards": cards, "columns": columns, "levels": levels}
    for argument, part in parts.items():
        if not isinstance(part, list | tuple):
            raise DataError(f"{argument} must be a tuple, one entry per variable; got {part!r:.80}. Use tuple(...).")
    sizes = (len(names), len(cards), len(columns), len(levels))
    if len(set(sizes)) > 1 or not names:
        raise DataError(
            f"names, cards, columns and levels must have one entry per variable, at least one; got {sizes} entries."
        )
    check_names(names)
    for name, card, column, labels in zip(names, cards, columns, levels, strict=True):
        if not is_whole(card):
            raise DataError(f"cards must be whole numbers, 0 for a continuous variable; {name!r} has {card!r}. Count.")
        kinds: tuple[object, object] = (column, labels)
        if not isinstance(kinds[0], np.ndarray) or not isinstance(kinds[1], tuple | None):
            raise DataError(
                f"columns must be arrays, and levels tuples or None; {name!r} has a {type(column).__name__} and a "
                f"{type(labels).__name__}. Use read or Dataset.from_codes."
            )
        check_unmasked(f"column {name!r}", column, "Use read(..., missing='drop_rows'), or missing='category'.")
    lengths = sorted({column.shape for column in columns})
    if len(lengths) > 1 or len(lengths[0]) != 1 or not lengths[0][0]:
        raise DataError(f"columns must be 1-D, of one length, with at least one row; got shapes {lengths}.")


def check_names(names: Sequence[object]) -> None:
    """Raise DataError unless the names are different strings."""
    odd = [name for name in names if not isinstance(name, str)]
    if odd:
        raise DataError(f"names must be strings; got {odd[0]!r}. Use str(...).")
    twice = [name for name, count in Counter(names).items() if count > 1]
    if twice:
        raise DataError(
            f"column names must differ; {', '.join(map(repr, twice[:5]))} occurs more than once. "
            "Rename the columns so that all names differ."
        )


def check_column(
    name: str, card: int, column: NDArray[np.generic], labels: tuple[Hashable, ...] | None, *, gaps: bool = False
) -> None:
    """Raise DataError unless a column has the type and range of its card, and one label per state.

    With gaps, the code `card` or NaN marks a missing value; at least one value must be there.
    """
    if card == 0:
        _check_type(name, column, np.float64)
        if labels is not None:
            raise DataError(f"levels of {name!r} must be None because it is continuous; got {len(labels)} labels.")
        check_finite(name, column[~np.isnan(column)] if gaps else column)
        return
    check_labels(name, card, labels)
    _check_type(name, column, code_type(card + gaps))
    check_range(f"column {name!r}", column, card + gaps)


def check_kinds(
    cards: Mapping[str, int], ordinal: frozenset[str], counted: frozenset[str], gaps: frozenset[str]
) -> None:
    """Raise DataError unless ordinal variables are categorical, counts are not, and all of them are variables."""
    unknown = sorted((ordinal | counted | gaps) - set(cards))
    if unknown:
        raise DataError(f"ordinal, counted and gaps must name variables; {unknown[0]!r} does not exist. Leave it out.")
    for name in sorted(ordinal | counted):
        if (name in ordinal) is (cards[name] == 0):
            raise DataError(
                f"an ordinal variable must have levels, and a count none; {name!r} has {cards[name]}. Use read with "
                f"types={{{name!r}: ...}}."
            )


def check_counts(name: str, column: NDArray[np.generic], first_row: int = 0) -> None:
    """Raise DataError unless the values, NaN apart, are whole numbers from 0; `first_row` rows came before these."""
    numbers = column.astype(np.float64, copy=False)
    wrong = np.flatnonzero(~(np.isnan(numbers) | ((numbers >= 0) & (numbers == np.floor(numbers)))))
    if len(wrong):
        raise DataError(
            f"column {name!r} holds counts, which are whole numbers from 0; data row {first_row + wrong[0] + 1} "
            f"holds {numbers[wrong[0]]:g} ({len(wrong)} such rows). Use types={{{name!r}: 'continuous'}}."
        )


def check_labels(name: str, card: int, labels: tuple[Hashable, ...] | None) -> None:
    """Raise DataError unless the number of states is possible and there is one label per state, all different."""
    if not 1 <= card <= MAX_STATES:
        raise DataError(f"cards must be from 0 to {MAX_STATES:,}; {name!r} has {card}.")
    if labels is None or len(labels) != card or len(set(labels)) != card:
        got = "none" if labels is None else f"{len(labels)} labels, {len(set(labels))} different"
        raise DataError(f"levels of {name!r} must be {card} different labels, one per state; got {got}.")


def check_finite(name: str, column: NDArray[np.generic]) -> None:
    """Raise DataError for NaN and infinity."""
    wrong = np.flatnonzero(~np.isfinite(column.astype(np.float64, copy=False)))
    if len(wrong):
        raise DataError(
            f"column {name!r} is continuous and must hold finite numbers; data row {wrong[0] + 1} holds "
            f"{column[wrong[0]]} ({len(wrong)} such rows). Replace the value, drop these rows, or leave the column out."
        )


def check_range(what: str, codes: NDArray[np.generic], card: int) -> None:
    """Raise DataError unless the codes are from 0 to card - 1."""
    low, high = int(codes.min()), int(codes.max())
    if low < 0 or high >= card:
        raise DataError(f"{what} must hold codes from 0 to {card - 1}; got {low if low < 0 else high}.")


def check_repeats(repeats: NDArray[Any], n_records: int, *, weighted: bool = False) -> None:
    """Raise DataError unless there is one positive count, or weight, per stored row; counts must fit in int64."""
    check_unmasked("repeats", repeats)
    if not isinstance(repeats, np.ndarray):
        raise DataError(f"repeats must be an array, one count per row; got {repeats!r:.80}. Use np.array(...).")
    if weighted and repeats.dtype == np.float64 and repeats.shape == (n_records,):
        if not (np.isfinite(repeats).all() and repeats.min() > 0):
            raise DataError(
                "repeats must be finite and above 0 if they are weights; got others. Use read(weights=...)."
            )
        return
    if repeats.dtype != np.int64 or repeats.shape != (n_records,):
        raise DataError(
            f"repeats must be int64, one for each of the {n_records} rows; got {repeats.dtype} {repeats.shape}."
        )
    if int(repeats.min()) < 1:
        raise DataError(f"repeats must be at least 1; got {int(repeats.min())}. Leave out the rows that did not occur.")
    check_total(float(repeats.sum(dtype=np.float64)))


def check_total(total: float) -> None:
    """Raise DataError if the sum of the repeats is too large for int64."""
    if total >= MAX_TOTAL:
        raise DataError("repeats must add up to less than 2**62 rows; got more. Divide them by a common factor.")


def code_columns(codes: ArrayLike | Sequence[ArrayLike]) -> list[NDArray[np.integer]]:
    """Return the columns of a 2-D array or a list, or raise DataError unless they are integers of one length."""
    check_unmasked("codes", codes, "Use read(..., missing='drop_rows'), or missing='category'.")
    if isinstance(codes, np.ndarray):
        columns = list(codes.T) if codes.ndim == 2 else []
    else:
        try:
            columns = [np.asarray(column) for column in codes]  # type: ignore[union-attr]
        except (TypeError, ValueError):  # not a list, or a column with lists inside
            columns = []
    shapes = sorted({column.shape for column in columns})
    kinds = {column.dtype.kind for column in columns}
    if len(shapes) != 1 or len(shapes[0]) != 1 or kinds - set("biu"):
        raise DataError(
            "codes must be a 2-D array of integers or a list of integer columns of one length; got "
            f"shapes {shapes or type(codes).__name__}. Use read(...) for other data."
        )
    return columns


def is_whole(value: object) -> bool:
    """Return whether the value is an integer of Python or NumPy; booleans are not."""
    return isinstance(value, int | np.integer) and not isinstance(value, bool)


def whole_numbers(what: str, values: ArrayLike, length: int) -> NDArray[np.int64]:
    """Return non-negative integers, one per entry; 2.0 counts as 2."""
    check_unmasked(what, values)
    try:
        numbers = np.asarray(values)
    except ValueError:  # ragged
        numbers = np.empty(0, dtype=object)
    if numbers.shape != (length,) or numbers.dtype.kind not in "biuf":
        raise InputError(
            f"{what} must be {length} whole numbers; got {numbers.dtype} of shape {numbers.shape}. Give one for each."
        )
    wrong = np.flatnonzero(~((numbers >= 0) & (numbers < 2**53) & (numbers == np.floor(numbers))))
    if len(wrong):
        k = int(wrong[0])
        raise InputError(
            f"{what} must be whole numbers from 0 to 2**53; entry {k + 1} is {numbers[k]}. Round or drop it."
        )
    return numbers.astype(np.int64)


def _check_type(name: str, column: NDArray[np.generic], expected: DTypeLike) -> None:
    """Raise DataError unless the column has exactly the type of its card."""
    if column.dtype != np.dtype(expected):
        raise DataError(
            f"column {name!r} must be {np.dtype(expected)}; got {column.dtype}. Use read or Dataset.from_codes."
        )


# Files of data


DELIMITERS = {".csv": ",", ".tsv": "\t", ".tab": "\t"}
PARQUET = (".parquet", ".pq")
PROGRAM_FILES = {
    ".xlsx": "an Excel workbook",
    ".sav": "an SPSS file",
    ".zsav": "an SPSS file",
    ".dta": "a Stata file",
    ".rds": "an R file",
}
"""Files of other programs, in words; the extra `files` reads them."""


class DataFile(NamedTuple):
    """An existing file and its format; a delimiter of None means Parquet."""

    path: Path
    delimiter: str | None
    gzipped: bool
    row_names: bool = False  # whether the first cell of each row is its name


class RowTooLong(Exception):  # noqa: N818 - never leaves the readers
    """A row of text does not fit in a block."""

    def __init__(self, file: DataFile, names: Sequence[str], block: int) -> None:
        super().__init__(f"a row takes more than {block >> 20} MB")
        self.file, self.names, self.block = file, names, block


def recognise(path: Path, delimiter: str | None, *, row_names: bool = False, decimal: str | None = None) -> DataFile:
    """Find the format of a file by its name; with a delimiter any file is delimited text."""
    check_file("path", path)
    gzipped = path.suffix.lower() == ".gz"
    suffix = Path(path.stem).suffix.lower() if gzipped else path.suffix.lower()
    if suffix in PARQUET:
        odd = "delimiter" if delimiter is not None else "decimal" if decimal is not None else None
        if odd is not None:
            raise FileError(f"{odd} is for delimited text; {path} is a Parquet file by its name. Drop the {odd}.")
        return DataFile(path, None, gzipped)
    split_at = delimiter or DELIMITERS.get(suffix)
    if decimal == "," and delimiter is None and split_at == ",":
        split_at = _delimiter_beside_commas(path, gzipped)
    if split_at is None:
        if suffix == ".mnpack":
            raise FileError(f"path must be a pack as it was written; {path} is gzipped. Unpack it with gunzip first.")
        if suffix in PROGRAM_FILES:
            raise FileError(
                f"path must be {PROGRAM_FILES[suffix]} as it was saved; {path} is gzipped. Unpack it with gunzip first."
            )
        known, others = ", ".join([*DELIMITERS, *PARQUET]), ", ".join(PROGRAM_FILES)
        raise FileError(
            f"path must end in one of {known} (or these with .gz), {others} or .mnpack; got {path.name!r}. "
            "Rename the file, or pass delimiter=',' (or another) if it is delimited text."
        )
    return DataFile(path, split_at, gzipped, row_names)


def _delimiter_beside_commas(path: Path, gzipped: bool) -> str:
    """Return the delimiter of text with decimal commas: the semicolon or the tab of its first line, else the comma."""
    try:
        with gzip.open(path, "rb") if gzipped else path.open("rb") as file:
            line = next((line for line in iter(lambda: file.readline(1 << 20), b"") if line.strip()), b"")
    except (OSError, EOFError, zlib.error):  # the reader says what is wrong
        return ","
    return next((mark for mark in ";\t" if mark.encode() in line), ",")
