"""A first look at a table: sizes, types, what is missing, what is constant, what is there twice."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from hashlib import blake2b
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from mnlearn.data.dataset import Dataset, row_groups
from mnlearn.data.options import RawColumn, RawTable, TableOptions, VariableType
from mnlearn.data.readers import already_coded, load_table, select_from


@dataclass(frozen=True)
class VariableOverview:
    """One variable.

    Attributes
    ----------
    name, type
        ``"categorical"``, ``"continuous"``, or ``"empty"`` when every value is missing.
    cardinality
        Number of states, declared ones included; 0 for a continuous variable.
    missing
        How many stored rows have no value.
    constant
        Whether there is only one value, missing ones aside.
    low, high
        Range of a continuous variable.
    most_common, most_common_count
        The most frequent level of a categorical variable and its rows, repeats included; the first such level in a tie.
    doubtful
        Texts counted as missing here that `read` will ask about, such as NA.
    """

    name: str
    type: Literal["categorical", "continuous", "empty"]
    cardinality: int
    missing: int
    constant: bool
    low: float | None = None
    high: float | None = None
    most_common: Hashable = None
    most_common_count: int = 0
    doubtful: tuple[str, ...] = ()


@dataclass(frozen=True)
class Overview:
    """A whole table.

    Attributes
    ----------
    n_rows, n_records
        Rows with repeats included, and stored rows.
    variables
        One entry per variable.
    constant
        Names of the variables that never change.
    duplicated
        Groups of variables that carry the same information: categorical ones equal up to the names of their states,
        continuous ones equal in value. Constant variables are not listed again.
    duplicate_rows
        Stored rows that repeat an earlier one.
    """

    n_rows: int
    n_records: int
    variables: tuple[VariableOverview, ...]
    constant: tuple[str, ...]
    duplicated: tuple[tuple[str, ...], ...]
    duplicate_rows: int

    def as_dict(self) -> dict[str, object]:
        """Return plain lists, numbers and texts, ready for JSON; what JSON does not know becomes text."""
        plain = asdict(self)
        for variable in plain["variables"]:
            for key in ("low", "high", "most_common"):
                value = variable[key]
                known = isinstance(value, str | int | None) or (isinstance(value, float) and np.isfinite(value))
                variable[key] = value if known else str(value)
        return plain


def overview(
    source: object,
    *,
    columns: Sequence[str] | None = None,
    types: Mapping[str, VariableType] | None = None,
    levels: Mapping[str, Sequence[Hashable]] | None = None,
    missing_values: Iterable[Hashable] = (),
    repeats: str | None = None,
    delimiter: str | None = None,
) -> Overview:
    """Look over a table without asking that it be complete.

    Parameters
    ----------
    source, columns, types, levels, missing_values, repeats, delimiter
        As for `read`. Missing values are counted, not refused; rows that occurred 0 times are left out here too.

    Returns
    -------
    Overview
        What there is.

    Examples
    --------
    >>> seen = overview({"a": [1, 2, None], "b": ["x", "y", "y"], "c": [0, 0, 0]})
    >>> seen.variables[0].missing, seen.constant
    (1, ('c',))
    """
    from mnlearn.data.missing import check_size, occurred, row_repeats

    options = TableOptions(
        columns=columns, types=types, levels=levels, missing_values=missing_values, repeats=repeats, delimiter=delimiter
    )
    coded = already_coded(source)
    if coded is not None:
        coded.verify()
        chosen = select_from(coded, options)
        return _describe(_raw(chosen), chosen.repeats)
    table = load_table(source, options)
    check_size(table)
    return _describe(*occurred(table, row_repeats(table)))


def _describe(table: RawTable, repeats: NDArray[np.int64] | None) -> Overview:
    """Describe raw columns."""
    variables = tuple(_variable(column, repeats) for column in table.columns)
    constant = {variable.name for variable in variables if variable.constant or variable.type == "empty"}
    _, n_distinct = row_groups(column.values for column in table.columns)
    return Overview(
        n_rows=table.n_rows if repeats is None else int(repeats.sum()),
        n_records=table.n_rows,
        variables=variables,
        constant=tuple(variable.name for variable in variables if variable.constant),
        duplicated=_duplicated([column for column in table.columns if column.name not in constant]),
        duplicate_rows=table.n_rows - n_distinct,
    )


def _variable(column: RawColumn, repeats: NDArray[np.int64] | None) -> VariableOverview:
    """Describe one column."""
    missing = int(np.count_nonzero(column.missing()))
    if missing == len(column.values):
        return VariableOverview(column.name, "empty", len(column.levels or ()), missing, False, doubtful=column.doubts)
    if column.levels is None:
        low, high = float(np.nanmin(column.numbers)), float(np.nanmax(column.numbers))
        return VariableOverview(
            column.name, "continuous", 0, missing, low == high, low=low, high=high, doubtful=column.doubts
        )
    counts = np.bincount(column.values, weights=repeats, minlength=len(column.levels) + 1)[1:]
    top = int(np.argmax(counts))
    return VariableOverview(
        column.name,
        "categorical",
        len(column.levels),
        missing,
        constant=int(np.count_nonzero(counts)) == 1,
        most_common=column.levels[top],
        most_common_count=int(counts[top]),
        doubtful=column.doubts,
    )


def _duplicated(columns: Sequence[RawColumn]) -> tuple[tuple[str, ...], ...]:
    """Groups of columns that split the rows in the same way."""
    groups: dict[bytes, list[str]] = {}
    for column in columns:
        groups.setdefault(_fingerprint(column), []).append(column.name)
    return tuple(tuple(names) for names in groups.values() if len(names) > 1)


def _fingerprint(column: RawColumn) -> bytes:
    """A digest that is the same for the same numbers, or for codes that differ only in what they are called."""
    if column.levels is None:
        numbers = column.numbers + 0.0  # -0.0 becomes 0.0
        numbers[np.isnan(numbers)] = np.nan  # one NaN of the many
        return blake2b(numbers.tobytes(), person=b"continuous").digest()
    n_rows = len(column.values)
    first = np.full(len(column.levels) + 1, n_rows, dtype=np.int64)
    first[column.values[::-1]] = np.arange(n_rows - 1, -1, -1)  # the last write, the first row, stays
    rank = np.empty(len(first), dtype=np.uint16)
    rank[np.argsort(first, kind="stable")] = np.arange(len(first))
    return blake2b(rank[column.values].tobytes(), person=b"categorical").digest()


def _raw(data: Dataset) -> RawTable:
    """A data set as columns that might have missing values, though it has none."""
    columns = [
        RawColumn(name, values if labels is None else values.astype(np.uint16) + np.uint16(1), labels, declared=True)
        for name, values, labels in zip(data.names, data.columns, data.levels, strict=True)
    ]
    return RawTable(columns, None, data.n_records, "the data set")
