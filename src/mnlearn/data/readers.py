"""Read files, data frames, arrays and records into a `Dataset`."""

from __future__ import annotations

import os
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple, Unpack, cast

import numpy as np
from numpy.typing import NDArray

from mnlearn.data.columns import ReadTable
from mnlearn.data.dataset import PROGRAM_FILES, DataFile, Dataset
from mnlearn.data.options import (
    DOUBTFUL,
    ColumnNames,
    ColumnOptions,
    ColumnSelection,
    MissingPolicy,
    ReadOptions,
    TableOptions,
    Types,
    VariableType,
)
from mnlearn.errors import DataError, InputError, check_file, unknown_name


def read(
    source: object,
    *,
    columns: Sequence[str] | None = None,
    types: Types | None = None,
    levels: Mapping[str, Sequence[Hashable]] | None = None,
    missing: MissingPolicy = "error",
    missing_values: Iterable[Hashable] = (),
    repeats: str | None = None,
    delimiter: str | None = None,
    drop: Iterable[str] = (),
    row_names: bool = False,
    transpose: bool = False,
    decimal: str | None = None,
    sheet: str | None = None,
    names: Sequence[str] | None = None,
    weights: str | None = None,
) -> Dataset:
    """Read a table and code it.

    Strings, booleans, categories, dates and few whole numbers become categorical; other numbers become continuous.

    Parameters
    ----------
    source
        A path to CSV, TSV or Parquet (each also with .gz), to an Excel workbook (.xlsx), an SPSS (.sav, .zsav) or Stata
        file (.dta), or to a packed file (.mnpack, see `pack`); a pandas, polars or other data frame that
        narwhals supports, except lazy ones; an Arrow table; a dataset or scanner of Arrow or anything else with the
        Arrow stream interface, such as a relation of DuckDB, which are streamed; a 2-D or structured NumPy array; a
        SciPy sparse array or matrix of 0 and 1; a dict of columns; a list of records (dicts, named tuples, tuples or
        lists); a `Dataset`.
    columns
        The columns to read, in this order; all of them by default. ``"A1:O5"`` means the columns from A1 to O5 by
        position, ``"A1:"`` those from A1 on; a column with that name comes first. So in `drop`, `types` and `levels`.
    types
        ``{"name": "nominal"}``, ``"ordinal"``, ``"count"`` or ``"continuous"`` declares what the values of a column
        are: labels, labels in an order, whole numbers from 0, or numbers. ``"categorical"`` is ordinal if the source
        has an order, otherwise nominal. ``types="ordinal"`` declares all columns.
    levels
        ``{"name": [labels]}`` declares the states of a column and their order; the column is categorical. Declared
        states count even when no row has them; a value outside them is an error.
    missing
        ``"error"`` raises an error; ``"testwise"`` keeps the gaps, so that each test and model uses the rows in which
        its own variables are observed; ``"drop_rows"`` leaves out every row with a missing value; ``"category"`` adds
        a last state, labelled None, to each categorical column with missing values.
    missing_values
        Values that mark a missing value, such as ``["?", -9]``; a string that reads as a number also marks that number.
    repeats
        The name of a column of whole numbers that says how often each row occurred. The column is not a variable, and
        rows that occurred 0 times are left out.
    delimiter
        Separator of the cells in a text file; by default a comma for .csv and a tab for .tsv and .tab.
    drop
        Columns to leave out.
    row_names
        Whether the first column holds the names of the rows, so that it is not a variable. In a text file its name may
        be empty, as pandas and R's write.csv write it, or left out, as R's write.table does.
    transpose
        Whether the rows are the variables, as in tables of gene expression. The first column holds their names, except
        in an array, which has none, and in a pandas frame with an index of names. The first line names the samples.
    decimal
        Decimal mark of numbers in a text file, ``"."`` or ``","``. With a comma, the delimiter of a .csv file is by
        default the semicolon, or else the tab, if its first line holds one.
    sheet
        The sheet of a workbook to read, by name; the first visible one by default.
    names
        Names of the columns of a 2-D array, a sparse matrix or a list of tuples or lists; x0, x1, ... by default.
    weights
        The name of a column of survey weights: finite numbers that are not negative. The column is not a variable, rows
        of weight 0 are left out, and `Dataset.n_rows` is the effective sample size. Excludes `repeats`.

    Returns
    -------
    Dataset
        At least 2 rows and 2 variables; `Dataset.missing` reports missing values and the policy applied.

    Raises
    ------
    FileError
        The file does not exist or is empty, damaged, not UTF-8 or of an unknown format.
    DataError
        The contents break a rule, such as ragged rows, mixed types or more than 65,535 distinct labels.
    UnknownNameError
        An option names a column or a sheet that does not exist.
    MissingDependencyError
        The file needs the extra ``files``, which is not installed.

    Notes
    -----
    Missing are None, NaN, NaT, pandas.NA, masked values, empty or blank strings, and the values in `missing_values`. In
    a column of numbers in a text file, NaN is missing too. The other markers of pandas (NA, N/A, NULL, None, NaN among
    words, ...) may be labels: they are an error until `missing_values` or `types` decides. A declared level is never
    missing.

    Whole numbers with many values, such as ages, are continuous, and the log says so. Many are 20 or more, or more than
    10 if most numbers between them do not occur. Consecutive ones that differ in every row number the rows: they are an
    error until `types` or `drop` decides. Decimal numbers with gaps whose values are all whole and not many are
    categories: pandas stores whole numbers with gaps so. Without gaps they are continuous, and the log says so.

    Ordinal columns take their order from `levels`, from the source (ordered categoricals of pandas and Arrow, variables
    that SPSS measures as ordinal: these are ordinal by themselves; an Enum of polars and value labels only if `types`
    says so), or else from ascending numbers or dates. Three or more strings without an order are
    an error. With ``missing="testwise"``, rows without any value are left out.

    A label is a single value: a string, a number, true or false, a date and the like. Lists, records, bytes, complex
    numbers, and true or false among numbers are an error.

    A state is a level that occurs in a row that is kept, or that `levels` declares. The categories of a pandas or Arrow
    categorical and of a polars Enum keep their order; those that no row has are not states, and `Dataset.unused` names
    them. All other levels are sorted, numbers by value and strings by code point, so any coding in the same order (0/1,
    1/2, -1/1) gives the same codes.

    In text files, blanks around a cell or a name are ignored. Whole numbers and decimals together are continuous.
    Numbers among words, and numbers with thousands separators, with another decimal mark or in hexadecimal, are an
    error unless the column is declared categorical; then every cell is a string.
    Rows are counted from 1, below the header. Files and streams are read in parts: memory is bounded by the coded size,
    not by the size of the file. A categorical column with more than 65,535 distinct values raises an error at once.

    Workbooks and files of SPSS and Stata need the extra ``files`` and are read whole. Numbers that are all whole are
    integers, as in a text file. SPSS and Stata: values declared as missing are missing; a column whose values all have
    a value label has these labels as levels, in the order of the values, unless it is declared continuous. Workbooks:
    the first row names the columns, empty rows are left out, and a cell that holds an error is missing.

    Examples
    --------
    >>> data = read({"rain": ["yes", "no", "no"], "umbrella": [1, 0, 0]})
    >>> data.levels
    (('no', 'yes'), (0, 1))
    """
    return read_source(
        source,
        TableOptions(
            columns=columns,
            types=types,
            levels=levels,
            missing=missing,
            missing_values=missing_values,
            repeats=repeats,
            delimiter=delimiter,
            drop=drop,
            row_names=row_names,
            transpose=transpose,
            decimal=decimal,
            sheet=sheet,
            names=names,
            weights=weights,
        ),
    )


def read_rows(source: object, columns: Sequence[str] | None = None, **options: Unpack[ReadOptions]) -> Dataset:
    """Read data for a fitted model, where one row and one column are enough; otherwise as `read`.

    Examples
    --------
    >>> read_rows({"rain": ["yes"]}, levels={"rain": ["no", "yes"]}).columns[0].tolist()
    [1]
    """
    from mnlearn.data.missing import to_dataset

    checked = TableOptions(columns=columns, **options)
    with enough_memory(source):
        return to_dataset(load_table(source, checked), checked.missing, least=1)


class IncompleteColumn(NamedTuple):
    """A column in which values may be unknown: codes of its levels, or numbers where it has none."""

    name: str
    values: NDArray[Any]
    known: NDArray[np.bool_]
    levels: tuple[Hashable, ...] | None


class SourceWithOptions(NamedTuple):
    """A source of new rows for a fitted model, with options of `read` for its form and its missing values."""

    source: object
    options: Mapping[str, Any]


def read_incomplete(
    source: object,
    columns: Sequence[str],
    *,
    types: Mapping[str, VariableType] | None = None,
    levels: Mapping[str, Sequence[Hashable]] | None = None,
) -> list[IncompleteColumn]:
    """Read those of the columns that the source has, for a fitted model; empty cells are unknown values.

    Strings that usually mark a missing value, such as NA, do so unless they are declared levels.

    Examples
    --------
    >>> [column] = read_incomplete({"rain": ["yes", None, "NA"]}, ["rain", "sun"], levels={"rain": ["no", "yes"]})
    >>> column.known.tolist(), column.values.tolist()[0], column.levels
    ([True, False, False], 1, ('no', 'yes'))
    """
    source, form = source if isinstance(source, SourceWithOptions) else (source, {})
    coded = already_coded(source)
    if coded is not None:
        coded = select_from(coded, TableOptions(**form))
        coded.verify()
        chosen = [coded.index(name) for name in columns if name in coded.names]
        return [_incomplete(coded, x) for x in chosen]
    with enough_memory(source):
        markers = [*sorted(DOUBTFUL), *form.get("missing_values", ())]
        given: Any = {**form, "missing_values": markers, "columns": columns, "types": types, "levels": levels}
        options = _PresentColumns(**given)
        table = load_table(source, options)
    found = []
    for column in table.joined().columns:
        if column.table is None:
            numbers = np.asarray(column.chunks[0], dtype=np.float64)
            found.append(IncompleteColumn(column.name, numbers, ~np.isnan(numbers), None))
        else:
            places = column.table.astype(np.int64)[column.chunks[0]] - 1
            found.append(IncompleteColumn(column.name, places, places >= 0, column.levels))
    return found


def count_rows(source: object) -> int:
    """Return the number of stored rows of a source, whatever its columns hold."""
    source, form = source if isinstance(source, SourceWithOptions) else (source, {})
    coded = already_coded(source)
    return load_table(source, _FirstColumn(**form)).n_rows if coded is None else coded.n_records


@dataclass(frozen=True, kw_only=True)
class _FirstColumn(TableOptions):
    """Options to read the first column alone, as labels."""

    def select(self, names: Sequence[object]) -> ColumnSelection:
        """Select the first column."""
        return ColumnSelection([ColumnOptions(str(names[0]), 0, "categorical")] if names else [], None)


def _incomplete(data: Dataset, x: int) -> IncompleteColumn:
    """Return a column of a data set; a gap and a state for missing values are unknown."""
    values: NDArray[Any] = data.columns[x]
    levels = data.levels[x]
    if levels is None:
        return IncompleteColumn(data.names[x], values, ~np.isnan(values), None)
    empty = np.array([*(label is None for label in levels), True])  # the last one marks a gap
    return IncompleteColumn(data.names[x], values, ~empty[values], levels)


@dataclass(frozen=True, kw_only=True)
class _PresentColumns(TableOptions):
    """Options whose columns, types and levels count only where the source has such a column."""

    def select(self, names: Sequence[object]) -> ColumnSelection:
        """Match the options with the columns of a source."""
        known = {str(name) for name in names}
        present = [name for name in self.columns or () if name in known]
        if not present:
            raise unknown_name(
                "data must have a column of the model; column", (self.columns or ("",))[0], sorted(known)
            )
        given = cast("Mapping[str, VariableType]", self.types or {})
        types = {name: kind for name, kind in given.items() if name in known}
        levels = {name: labels for name, labels in (self.levels or {}).items() if name in known}
        options = replace(self, columns=present, types=types, levels=levels)
        return TableOptions(**vars(options)).select(names)


def read_source(source: object, options: TableOptions) -> Dataset:
    """Read a table with checked options; see `read`."""
    coded = already_coded(source)
    if coded is not None:
        return select_from(coded, options)
    from mnlearn.data.missing import to_dataset

    with enough_memory(source):
        return to_dataset(load_table(source, options), options.missing)


@contextmanager
def enough_memory(source: object) -> Iterator[None]:
    """Raise DataError where memory runs out while a source is read."""
    try:
        yield
    except MemoryError as error:
        shown = os.fsdecode(source) if isinstance(source, str | os.PathLike) else f"a {type(source).__name__}"
        raise DataError(
            f"source must fit into memory; there is not enough of it to read {shown}. Read fewer columns "
            "(columns=[...]), or pack the file (mnlearn pack) on a machine with more memory."
        ) from error


def already_coded(source: object) -> Dataset | None:
    """Return the data set that the source is, or that a packed file holds; None for other sources."""
    if isinstance(source, Dataset):
        return source
    if not isinstance(source, str | os.PathLike) or not os.fsdecode(source).lower().endswith(".mnpack"):
        return None
    from mnlearn.data.packs import open_pack

    path = Path(os.fsdecode(source))
    check_file("path", path)
    return open_pack(path)


def select_from(data: Dataset, options: TableOptions) -> Dataset:
    """Select columns of a data set that is already coded; other options raise InputError."""
    fixed = ("types", "levels", "missing_values", "repeats", "delimiter", "sheet", "names", "weights")
    given = [name for name in (*fixed, "row_names", "transpose", "decimal") if getattr(options, name)]
    if given:
        raise InputError(
            f"{given[0]} cannot be applied to a Dataset or a pack, which is already coded; got "
            f"{getattr(options, given[0])!r}. Drop it, or read the source of the data again."
        )
    if data.gaps and options.missing == "drop_rows":
        from mnlearn.data.rows import complete_rows

        data = complete_rows(data)
    elif data.missing.counts and options.missing not in ("error", data.missing.policy):
        raise InputError(
            f"missing={options.missing!r} cannot be applied to a Dataset or a pack, which was read with "
            f"missing={data.missing.policy!r}. Drop it, or read the source of the data again."
        )
    if options.columns is None and not options.drop:
        return data
    names = ColumnNames(data.names).choose(options.columns, options.drop)
    if len(names) < 2:
        left = "columns names" if options.columns is not None else "drop leaves"
        raise DataError(f"data must have at least 2 variables; {left} {len(names)}. Name more columns.")
    return data.select(names)


def load_table(source: object, options: TableOptions) -> ReadTable:
    """Read the columns of a source, before missing values are handled."""
    if isinstance(source, str | os.PathLike):
        path = Path(os.fsdecode(source))
        options.check_no_names(path.name)
        if path.suffix.lower() in PROGRAM_FILES:
            from mnlearn.data.programs import load_program_file

            return load_program_file(path, options)
        from mnlearn.data.streams import files_of, read_files

        check_no_sheet(path.name, options)
        files = files_of([path], options)
        return transposed_file(files[0], options) if options.transpose else read_files(files, options).joined()
    check_no_delimiter(source, options)
    from mnlearn.data.frames import load_memory

    return load_memory(source, options)


def transposed_file(file: DataFile, options: TableOptions) -> ReadTable:
    """Read a file whose rows are the variables."""
    if file.delimiter is not None:
        from mnlearn.data.transposed import read_transposed

        return read_transposed(file, options)
    from mnlearn.data.frames import load_memory
    from mnlearn.data.parquet import open_parquet

    with open_parquet(file) as source:
        return load_memory(source.parquet.read(), options)


def check_no_delimiter(source: object, options: TableOptions) -> None:
    """Raise InputError if the delimiter or the decimal mark is given for data that are not in text files."""
    for name in ("delimiter", "decimal"):
        if getattr(options, name) is not None:
            raise InputError(f"{name} is for text files; got a {type(source).__name__}. Drop the {name}.")
    check_no_sheet(f"a {type(source).__name__}", options)


def check_no_sheet(source: str, options: TableOptions) -> None:
    """Raise InputError if a sheet is named for data that are not in a workbook."""
    if options.sheet is not None:
        raise InputError(f"sheet is for workbooks (.xlsx); got {source}. Drop the sheet.")


def unknown_container(source: Any) -> InputError:
    """Return the error for a source that is not a table."""
    return InputError(
        "source must be a path, a data frame, an Arrow table or dataset, a 2-D array, a sparse matrix, a dict of "
        f"columns or a list of records; got {type(source).__module__}.{type(source).__qualname__}. Convert it to one "
        "of these, such as a NumPy array of rows and columns or a pandas frame."
    )
