"""Files, data frames, arrays and records to a `Dataset`."""

from __future__ import annotations

import os
from collections.abc import Hashable, Iterable, Mapping, Sequence
from pathlib import Path

from mnlearn.data._checks import check_exists, recognise
from mnlearn.data.columns import ReadTable
from mnlearn.data.dataset import Dataset
from mnlearn.data.options import MissingPolicy, TableOptions, VariableType, check_policy
from mnlearn.errors import InputError


def read(
    source: object,
    *,
    columns: Sequence[str] | None = None,
    types: Mapping[str, VariableType] | None = None,
    levels: Mapping[str, Sequence[Hashable]] | None = None,
    missing: MissingPolicy = "error",
    missing_values: Iterable[Hashable] = (),
    repeats: str | None = None,
    delimiter: str | None = None,
) -> Dataset:
    """Read a table and code it.

    Texts, true/false, categories, dates and integers become categorical; decimal numbers become continuous.

    Parameters
    ----------
    source
        A path to CSV, TSV or Parquet (each also with .gz) or to a packed file (.mnpack, see `pack`); a pandas, polars
        or other data frame that narwhals knows; an Arrow table or anything with the Arrow stream interface; a 2-D or
        structured NumPy array; a dict of columns; a list of records (dicts, named tuples, tuples or lists); a
        `Dataset`.
    columns
        The columns to read, in this order; all of them by default.
    types
        ``{"name": "categorical"}`` or ``{"name": "continuous"}`` overrides the choice for a column. A categorical
        column of decimal numbers has its distinct values as levels.
    levels
        ``{"name": [labels]}`` declares the states of a column and their order; the column is categorical. Declared
        states count even when no row has them; a value outside them is an error.
    missing
        ``"error"`` refuses missing values; ``"drop_rows"`` leaves out every row with one; ``"category"`` gives each
        categorical column that has some one more state, the last, labelled None.
    missing_values
        Values that mark a missing value, such as ``["?", -9]``; a text that reads as a number also marks that number.
    repeats
        The name of a column of whole numbers that says how often each row occurred. It is no variable, and rows that
        occurred 0 times are left out.
    delimiter
        What separates the cells of a text file; by default a comma for .csv and a tab for .tsv and .tab.

    Returns
    -------
    Dataset
        At least 2 rows and 2 variables; `Dataset.missing` says what was missing and what was done.

    Raises
    ------
    FileError
        The file is absent, empty, damaged, not UTF-8 or of an unknown format.
    DataError
        The contents break a rule, such as ragged rows, mixed types or more than 65,535 distinct labels.
    UnknownNameError
        An option names a column that does not exist.

    Notes
    -----
    Missing are None, NaN, NaT, pandas.NA, empty or blank text, and whatever `missing_values` names. In a column of
    numbers in a text file, NaN is missing too. Other usual markers (NA, N/A, NULL, null, NaN among words, ...) may be
    labels, so they are an error until either `missing_values` or `types` says which. A declared level is never missing.

    The categories of a pandas or Arrow categorical and of a polars Enum count as declared. All other levels are
    sorted, numbers by value and texts by code point, so any coding in the same order (0/1, 1/2, -1/1) gives the
    same codes.

    In text files, blanks around a cell or a name are no part of it. Whole numbers and decimals together are
    continuous; numbers among words are an error unless the column is declared categorical, and then every cell is text.
    Rows are counted from 1, below the header. Files are streamed: memory is bounded by the coded size, not by
    the size of the file. A categorical column is refused as soon as it passes 65,535 distinct values.

    Examples
    --------
    >>> data = read({"rain": ["yes", "no", "no"], "umbrella": [1, 0, 0]})
    >>> data.levels
    (('no', 'yes'), (0, 1))
    """
    check_policy(missing)
    options = TableOptions(
        columns=columns, types=types, levels=levels, missing_values=missing_values, repeats=repeats, delimiter=delimiter
    )
    coded = already_coded(source)
    if coded is not None:
        return select_from(coded, options)
    from mnlearn.data.missing import to_dataset

    return to_dataset(load_table(source, options), missing)


def already_coded(source: object) -> Dataset | None:
    """The data set that a source is, or that a packed file holds."""
    if isinstance(source, Dataset):
        return source
    if not isinstance(source, str | os.PathLike) or not os.fsdecode(source).lower().endswith(".mnpack"):
        return None
    from mnlearn.data.pack_format import open_pack

    path = Path(os.fsdecode(source))
    check_exists(path)
    return open_pack(path)


def read_rows(
    source: object,
    *,
    columns: Sequence[str] | None = None,
    types: Mapping[str, VariableType] | None = None,
    levels: Mapping[str, Sequence[Hashable]] | None = None,
    missing: MissingPolicy = "error",
) -> Dataset:
    """Read what a known model is applied to, where one row and one column will do; otherwise as `read`.

    Examples
    --------
    >>> read_rows({"rain": ["yes"]}, levels={"rain": ["no", "yes"]}).columns[0].tolist()
    [1]
    """
    options = TableOptions(columns=columns, types=types, levels=levels)
    from mnlearn.data.missing import to_dataset

    return to_dataset(load_table(source, options), missing, least=1)


def load_table(source: object, options: TableOptions) -> ReadTable:
    """Read a source into raw columns, nothing decided yet about what is missing."""
    if not isinstance(source, str | os.PathLike):
        from mnlearn.data import frames

        if options.delimiter is not None:
            raise InputError(f"delimiter is for text files; got a {type(source).__name__}. Drop the delimiter.")
        return frames.load_memory(source, options)
    from mnlearn.data.streaming import read_files

    return read_files([recognise(Path(os.fsdecode(source)), options.delimiter)], options).joined()


def select_from(data: Dataset, options: TableOptions) -> Dataset:
    """A data set that is already coded: only its columns can still be chosen."""
    given = [name for name in ("types", "levels", "missing_values", "repeats", "delimiter") if getattr(options, name)]
    if given:
        raise InputError(
            f"{given[0]} cannot be applied to a Dataset or a pack, which is already coded. Read its source again."
        )
    return data if options.columns is None else data.select(options.columns)
