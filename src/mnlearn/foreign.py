"""Readers of formats of other programs by libraries made for them, which a crafted file may crash or fill the memory.

`mnlearn.data` calls each in a process of its own (`mnlearn.processes`), so this module imports little.
"""

from __future__ import annotations

import json
import zipfile
from collections.abc import Callable, Mapping
from datetime import date, datetime, time, timedelta
from functools import partial
from typing import TYPE_CHECKING

from mnlearn.errors import require

if TYPE_CHECKING:
    from numpy import generic
    from numpy.typing import NDArray

_READ: Mapping[str, Callable[..., object]] = {
    "$datetime": datetime.fromisoformat,
    "$date": date.fromisoformat,
    "$time": time.fromisoformat,
    "$seconds": partial(timedelta, 0),
}


def excel_sheets(path: str) -> bytes:
    """Return the sheets of an Excel workbook that hold tables: name, and whether it is visible."""
    with zipfile.ZipFile(path) as packed:  # calamine does not compare checksums
        damaged = packed.testzip()
    if damaged is not None:
        raise ValueError(f"its part {damaged} is damaged")
    parts = require("python_calamine", "files").CalamineWorkbook.from_path(path).sheets_metadata
    tables = [part for part in parts if str(part.typ).endswith("WorkSheet")]
    return _written([[str(part.name), str(part.visible).endswith(".Visible")] for part in tables])


def excel_rows(path: str, name: str) -> bytes:
    """Return the rows of a sheet."""
    book = require("python_calamine", "files").CalamineWorkbook.from_path(path)
    return _written(book.get_sheet_by_name(name).to_python())


def spss_or_stata(path: str, reader: str) -> bytes:
    """Return the columns of a file of SPSS or Stata: name, values, labels of values, missing values, measure."""
    read = getattr(require("pyreadstat", "files"), reader)
    data, about = read(path, output_format="dict")
    ranges = read(path, output_format="dict", metadataonly=True, user_missing=True)[1].missing_ranges
    return _written(
        [
            {
                "name": name,
                "values": values if isinstance(values, list) else values.tolist(),
                "labels": list(about.variable_value_labels.get(name, {}).items()),
                "missing": list(ranges.get(name, ())),
                "measure": about.variable_measure.get(name),
            }
            for name, values in data.items()
        ]
    )


def _written(document: object) -> bytes:
    return json.dumps(document, default=_marked, separators=(",", ":")).encode()


def _marked(value: NDArray[generic] | generic | datetime | date | time | timedelta) -> object:
    """Return a value that JSON does not have as an object with one marked entry."""
    if isinstance(value, timedelta):
        return {"$seconds": value.total_seconds()}
    if isinstance(value, datetime | date | time):  # a datetime is a date too
        return {f"${'datetime' if isinstance(value, datetime) else type(value).__name__}": value.isoformat()}
    return value.tolist()


def unmarked(document: dict[str, str]) -> object:
    """Return the value of an object with one marked entry, any other object as it is: the hook of `json.loads`."""
    mark, value = next(iter(document.items())) if len(document) == 1 else ("", "")
    return _READ[mark](value) if mark in _READ else document
