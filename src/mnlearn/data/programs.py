"""Files of other programs: Excel workbooks, SPSS and Stata. Imported on first use: it needs the extra `files`.

Each is read whole by the library made for it, into columns that then take the path of a table in memory. Numbers that
are all whole become integers, as in a text file: Excel and SPSS store every number as a decimal.
"""

from __future__ import annotations

import logging
import subprocess
import sys
import zipfile
from collections.abc import Callable, Collection, Hashable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from mnlearn.data.columns import ReadTable, order_key
from mnlearn.data.dataset import PROGRAM_FILES
from mnlearn.data.frames import load_columns, load_memory
from mnlearn.data.options import NUMERIC, TableOptions
from mnlearn.errors import FileError, MnlearnError, check_file, require, unknown_name, unreadable

_log = logging.getLogger("mnlearn.data")

_PROTECTED = bytes.fromhex("d0cf11e0a1b11ae1")  # start of an encrypted .xlsx, and of a workbook of before 2007


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
    except Exception as error:
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise FileError(
            f"path must be {PROGRAM_FILES[path.suffix.lower()]} that is intact; {path} is damaged, cut short or of "
            f"another format ({reason}). Save it again from the program that wrote it."
        ) from error


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
    calamine = require("python_calamine", "files")
    with path.open("rb") as file:
        if file.read(len(_PROTECTED)) == _PROTECTED:
            raise FileError(
                f"path must be an Excel workbook without a password; {path} is encrypted, or a workbook of before "
                "2007. Save it again as .xlsx without a password."
            )
    with _intact(path):
        with zipfile.ZipFile(path) as packed:  # calamine does not compare checksums
            damaged = packed.testzip()
        if damaged is not None:
            raise FileError(f"path must be an intact Excel workbook; {path} is damaged in {damaged}. Save it again.")
        workbook = calamine.CalamineWorkbook.from_path(str(path))
        name = _chosen_sheet(path, workbook.sheets_metadata, options.sheet)
        rows = workbook.get_sheet_by_name(name).to_python()
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


def _chosen_sheet(path: Path, sheets: Sequence[Any], wanted: str | None) -> str:
    """Return the name of the sheet to read: the first one that is visible, if none is named."""
    tables = [sheet for sheet in sheets if str(sheet.typ).endswith("WorkSheet")]
    names = [str(sheet.name) for sheet in tables]
    if wanted is not None:
        if wanted not in names:
            raise unknown_name("sheet", wanted, names)
        return wanted
    visible = [str(sheet.name) for sheet in tables if str(sheet.visible).endswith(".Visible")]
    if not visible:
        raise FileError(f"path must hold a sheet with a table; {path} has none that is visible. Name it (sheet=...).")
    if len(names) > 1:
        _log.info("reading sheet %r of %s; it has %d sheets", visible[0], path.name, len(names))
    return visible[0]


# SPSS and Stata


def _read_labelled(reader: str, path: Path, options: TableOptions) -> ProgramTable:
    """Read a file of SPSS or Stata; values that its author declared as missing are missing."""
    pyreadstat = require("pyreadstat", "files")
    read = getattr(pyreadstat, reader)
    with _intact(path):
        _check_head(reader, path)
        data, about = read(str(path), output_format="dict")
        ranges = read(str(path), output_format="dict", metadataonly=True, user_missing=True)[1].missing_ranges
    numbers = _as_numbers(options, list(data))
    columns: list[Any] = []
    orders: dict[int, bool] = {}
    for name, values in data.items():
        listed = values.tolist() if isinstance(values, np.ndarray) else list(values)
        labels = _labels_of_values(about.variable_value_labels.get(name, {}), ranges.get(name, ()), listed)
        states = states_by_label(listed, labels) if labels and name not in numbers else None
        if about.variable_measure.get(name) == "ordinal" and name not in numbers:
            orders[len(columns)] = True
            states = _in_order(listed) if states is None else states
        elif states is not None:  # the order of the values counts only if the column is declared ordinal
            orders[len(columns)] = False
        columns.append([None if _is_gone(value) else value for value in listed] if states is None else states)
    return ProgramTable(list(data), columns, orders=orders)


def _in_order(values: Sequence[Any]) -> Any:
    """Return numbers as categories in ascending order; None for strings and for nothing but missing values."""
    present = sorted({value for value in values if not _is_gone(value)}, key=order_key)
    if not present or any(isinstance(value, str) for value in present):
        return None
    place: dict[Hashable, int] = {value: k for k, value in enumerate(present)}
    rows = pa.array([None if _is_gone(value) else place[value] for value in values], pa.int32())
    labels = whole(present)
    return pa.DictionaryArray.from_arrays(rows, labels if isinstance(labels, pa.Array) else pa.array(labels))


def _check_head(reader: str, path: Path) -> None:
    """Raise FileError for a damaged SPSS file that crashes pyreadstat: its head is read in another process first.

    Of SPSS files with a few wrong bytes, two in a hundred end the process that reads them; none of Stata's did.
    """
    if reader != "read_sav":
        return
    code = "import sys, pyreadstat; pyreadstat.read_sav(sys.argv[1], metadataonly=True, output_format='dict')"
    done = subprocess.run([sys.executable, "-c", code, str(path)], capture_output=True, check=False)
    if done.returncode not in (0, 1):  # 1: an exception, which the same call raises here
        raise ValueError("it crashes its reader")


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
