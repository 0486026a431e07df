"""Files of other programs: Excel workbooks, SPSS and Stata. Imported on first use: it needs the extra `files`.

Each is read whole by the library made for it, into columns that then take the path of a table in memory. Numbers that
are all whole become integers, as in a text file: Excel and SPSS store every number as a decimal.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Collection, Hashable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple
from zipfile import ZipFile

import numpy as np
import pyarrow as pa

from mnlearn.data.columns import ReadTable, order_key
from mnlearn.data.dataset import PROGRAM_FILES
from mnlearn.data.frames import load_columns, load_memory
from mnlearn.data.options import NUMERIC, TableOptions
from mnlearn.errors import FileError, MnlearnError, check_file, require, unknown_name, unreadable
from mnlearn.foreign import unmarked
from mnlearn.processes import LimitError, run_child

_log = logging.getLogger("mnlearn.data")

_PROTECTED = bytes.fromhex("d0cf11e0a1b11ae1")  # start of an encrypted .xlsx, and of a workbook of before 2007

_LEAST_SECONDS, _BYTES_PER_SECOND = 60.0, 2**18  # far slower than any of the readers
_LEAST_MEMORY, _OF_A_CELL, _OF_PACKED = 2**31, 40, 10_000  # per byte of a workbook's parts, and of other files
_MOST_PACKED = 1100  # bytes that one byte of a ZIP archive can hold: 1032


class ProgramTable(NamedTuple):
    """Names and columns of a table; any names until they are selected."""

    names: Sequence[object]
    columns: Sequence[Any]
    orders: Mapping[int, bool] = MappingProxyType({})  # of columns with categories, as for `settled_table`


def load_program_file(path: Path, options: TableOptions) -> ReadTable:
    """Read the table of a file by its extension, or raise FileError for a file that is not what its name says."""
    check_file("path", path)
    kind = path.suffix.lower()
    for name in ("delimiter", "decimal"):
        if getattr(options, name) is not None:
            raise FileError(
                f"{name} is for delimited text; {path} is {PROGRAM_FILES[kind]} by its name. Drop the {name}."
            )
    if options.sheet is not None and kind != ".xlsx":
        raise FileError(f"sheet is for workbooks (.xlsx); {path} is {PROGRAM_FILES[kind]} by its name. Drop the sheet.")
    readers: Mapping[str, Callable[[Path, TableOptions], ProgramTable]] = {
        ".xlsx": _read_workbook,
        ".sav": partial(_read_labelled, "read_sav"),
        ".zsav": partial(_read_labelled, "read_sav"),
        ".dta": partial(_read_labelled, "read_dta"),
    }
    table = readers[kind](path, options)
    columns = [whole(column) for column in table.columns]
    if options.transpose:
        listed = [column.to_pylist() if hasattr(column, "to_pylist") else column for column in columns]
        return load_memory(dict(enumerate(listed)), options)
    return load_columns(table.names, columns, options, str(path), order=table.orders.get)


@contextmanager
def _intact(path: Path) -> Iterator[None]:
    """Turn whatever a library raises into FileError: damaged files raise all kinds of errors inside them."""
    try:
        yield
    except MnlearnError:
        raise
    except OSError as error:
        raise unreadable("path", path, error) from error
    except LimitError as error:
        raise FileError(
            f"path must be {PROGRAM_FILES[path.suffix.lower()]} of a size that its table needs; {path} is not: "
            f"{error}. Delete what is far from the table, such as a single cell, or save the table as CSV."
        ) from error
    except Exception as error:
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise FileError(
            f"path must be {PROGRAM_FILES[path.suffix.lower()]} that is intact; {path} is damaged, cut short or of "
            f"another format ({reason}). Save it again from the program that wrote it."
        ) from error


def _check_installed(module: str) -> None:
    """Raise MissingDependencyError without the library, which another process imports."""
    if find_spec(module) is None:
        require(module, "files")


def _read_apart(reader: str, path: Path, *args: str) -> Any:
    """Return what a reader of `mnlearn.foreign` finds, in a process of its own: a crafted file may crash it."""
    with _intact(path):
        size = _unpacked(path)
        seconds = _LEAST_SECONDS + size / _BYTES_PER_SECOND
        memory = _LEAST_MEMORY + size * (_OF_A_CELL if path.suffix.lower() == ".xlsx" else _OF_PACKED)
        answer = run_child(f"mnlearn.foreign:{reader}", str(path), *args, seconds=seconds, memory=memory)
        return json.loads(answer, object_hook=unmarked)


def _unpacked(path: Path) -> int:
    """Return the size of a file, or that of the parts of a workbook, as their directory gives them."""
    if path.suffix.lower() != ".xlsx":
        return path.stat().st_size
    with ZipFile(path) as packed:
        sizes = [part.file_size for part in packed.infolist()]
    if sum(sizes) > _MOST_PACKED * path.stat().st_size:
        raise ValueError(f"its parts claim to be {sum(sizes):,} bytes large")
    return sum(sizes)


def whole(values: Any) -> Any:
    """Return numbers as integers if all of them are whole, and other values as they are."""
    present = [value for value in values if value is not None] if isinstance(values, list) else []
    if not present or not all(type(value) in (int, float) for value in present):
        return values
    numbers = np.array([np.nan if value is None else value for value in values], dtype=np.float64)
    missing = np.isnan(numbers)
    known = numbers[~missing]
    if not known.size or not np.all((known == np.floor(known)) & (np.abs(known) < 2.0**53)):
        return numbers
    return pa.array(np.where(missing, 0.0, numbers).astype(np.int64), mask=missing)


def states_by_label(values: Sequence[Any], labels: Mapping[Any, Any]) -> Any:
    """Return the values as categories named by their labels, in the order of the values; None unless all have one."""
    present = {value for value in values if not _is_gone(value)}
    texts = [str(label) for label in labels.values()]
    if not present or not present <= labels.keys() or len(set(texts)) < len(texts) or not all(map(str.strip, texts)):
        return None
    order = sorted(labels)
    place: dict[Hashable, int] = {value: k for k, value in enumerate(order)}
    rows = pa.array([None if _is_gone(value) else place[value] for value in values], pa.int32())
    return pa.DictionaryArray.from_arrays(rows, pa.array([str(labels[value]) for value in order]))


def _is_gone(value: Any) -> bool:
    """Return whether a value is None or NaN."""
    return value is None or value != value  # noqa: PLR0124 - NaN of any type


# Excel


def _read_workbook(path: Path, options: TableOptions) -> ProgramTable:
    """Read one sheet: its first row that is not empty names the columns."""
    _check_installed("python_calamine")
    with path.open("rb") as file:
        if file.read(len(_PROTECTED)) == _PROTECTED:
            raise FileError(
                f"path must be an Excel workbook without a password; {path} is encrypted, or a workbook of before "
                "2007. Save it again as .xlsx without a password."
            )
    name = _chosen_sheet(path, _read_apart("excel_sheets", path), options.sheet)
    rows = _read_apart("excel_rows", path, name)
    rows = [row for row in ([_cell(cell) for cell in row] for row in rows) if any(cell is not None for cell in row)]
    if not rows:
        raise FileError(f"path must hold a table; sheet {name!r} of {path} is empty. Name another sheet (sheet=...).")
    header, body = ["" if cell is None else str(cell) for cell in rows[0]], rows[1:]
    columns = [[row[j] for row in body] for j in range(len(header))]
    used = [j for j, column in enumerate(columns) if header[j] or any(cell is not None for cell in column)]
    return ProgramTable([header[j] for j in used], [columns[j] for j in used])


def _cell(value: Any) -> Any:
    """Return a cell without the blanks around a string; None if nothing is left."""
    return (value.strip() or None) if isinstance(value, str) else value


def _chosen_sheet(path: Path, sheets: Sequence[tuple[str, bool]], wanted: str | None) -> str:
    """Return the name of the sheet to read: the first one that is visible, if none is named."""
    names = [name for name, _ in sheets]
    if wanted is not None:
        if wanted not in names:
            raise unknown_name("sheet", wanted, names)
        return wanted
    visible = [name for name, is_visible in sheets if is_visible]
    if not visible:
        raise FileError(f"path must hold a sheet with a table; {path} has none that is visible. Name it (sheet=...).")
    if len(names) > 1:
        _log.info("reading sheet %r of %s; it has %d sheets", visible[0], path.name, len(names))
    return visible[0]


# SPSS and Stata


def _read_labelled(reader: str, path: Path, options: TableOptions) -> ProgramTable:
    """Read a file of SPSS or Stata; values that its author declared as missing are missing."""
    _check_installed("pyreadstat")
    found = _read_apart("spss_or_stata", path, reader)
    names = [column["name"] for column in found]
    numbers = _as_numbers(options, names)
    columns: list[Any] = []
    orders: dict[int, bool] = {}
    for name, column in zip(names, found, strict=True):
        values = column["values"]
        labels = _labels_of_values(dict(column["labels"]), column["missing"], values)
        states = states_by_label(values, labels) if labels and name not in numbers else None
        if column["measure"] == "ordinal" and name not in numbers:
            orders[len(columns)] = True
            states = _in_order(values) if states is None else states
        elif states is not None:  # the order of the values counts only if the column is declared ordinal
            orders[len(columns)] = False
        columns.append([None if _is_gone(value) else value for value in values] if states is None else states)
    return ProgramTable(names, columns, orders=orders)


def _in_order(values: Sequence[Any]) -> Any:
    """Return numbers as categories in ascending order; None for strings and for nothing but missing values."""
    present = sorted({value for value in values if not _is_gone(value)}, key=order_key)
    if not present or any(isinstance(value, str) for value in present):
        return None
    place: dict[Hashable, int] = {value: k for k, value in enumerate(present)}
    rows = pa.array([None if _is_gone(value) else place[value] for value in values], pa.int32())
    labels = whole(present)
    return pa.DictionaryArray.from_arrays(rows, labels if isinstance(labels, pa.Array) else pa.array(labels))


def _as_numbers(options: TableOptions, names: Sequence[str]) -> Collection[str]:
    """Return the columns whose values are numbers whatever their labels."""
    types = {} if options.transpose else options.types_of(names)
    numeric = {name for name, kind in types.items() if kind in NUMERIC}
    return numeric | {name for name in (options.repeats, options.weights) if name is not None}


def _labels_of_values(labels: Mapping[Any, str], missing: Sequence[Any], values: Sequence[Any]) -> dict[Any, str]:
    """Return the labels of values that are not missing; Stata's .a to .z, given as letters, are."""
    texts = any(isinstance(value, str) for value in values)
    found = {value: label for value, label in labels.items() if isinstance(value, str) is texts}
    ranges = [(part["lo"], part["hi"]) if isinstance(part, Mapping) else (part, part) for part in missing]
    return {value: label for value, label in found.items() if not any(low <= value <= high for low, high in ranges)}
