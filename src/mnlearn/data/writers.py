"""Write a data set to CSV or Parquet, or turn it into a data frame; a file is complete or not written."""

from __future__ import annotations

import os
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, get_args

import numpy as np

from mnlearn.data.dataset import Dataset
from mnlearn.errors import FileError, InputError, MissingDependencyError, check_instance, check_name, check_path
from mnlearn.files import replacing

if TYPE_CHECKING:
    import pyarrow as pa

FrameKind: TypeAlias = Literal["pandas", "polars", "pyarrow"]
DATA_EXTENSIONS = (".csv", ".tsv", ".parquet")


def write_data(dataset: Dataset, path: str | os.PathLike[str]) -> None:
    """Write a data set with its labels to a file that `mnlearn.data.read` reads; gaps become empty cells or nulls.

    Parameters
    ----------
    dataset
        The data set; rows must not have repeats.
    path
        The file; .csv, .tsv or .parquet. An existing one is replaced.

    Raises
    ------
    FileError
        If the extension is another one, or the file cannot be written.

    Examples
    --------
    >>> import tempfile
    >>> folder = tempfile.mkdtemp()
    >>> write_data(Dataset.from_codes([[0, 1], [1, 1]], names=["a", "b"]), f"{folder}/rows.csv")
    >>> Path(folder, "rows.csv").read_text().split()
    ['a,b', '0,1', '1,1']
    """
    check_data_path(path)
    check_instance("dataset", dataset, Dataset, "Read it first: mnlearn.read(...).")
    if dataset.repeats is not None:
        raise InputError("dataset must have no repeats to be written; got repeats. Expand the rows first.")
    try:
        with replacing(path) as part:
            _write_table(_table(dataset), part, Path(path).suffix.lower())
    except OSError as error:
        reason = error.strerror or str(error)
        raise FileError(f"{os.fspath(path)!r} cannot be written: {reason}. Name another file.") from error


def frame_of_dataset(dataset: Dataset, kind: FrameKind | None = None) -> Any:
    """Return the rows with their labels as a data frame or an Arrow table.

    Parameters
    ----------
    dataset
        The rows.
    kind
        ``"pandas"``, ``"polars"`` or ``"pyarrow"``; by default the first of these that is installed. pyarrow always is.

    Raises
    ------
    MissingDependencyError
        If that library is not installed.

    Examples
    --------
    >>> frame_of_dataset(Dataset.from_codes([[0, 1], [1, 1]], names=["a", "b"]), "pyarrow").to_pylist()
    [{'a': 0, 'b': 1}, {'a': 1, 'b': 1}]
    """
    kind = first_installed_frame() if kind is None else kind
    check_name("kind of data frame", kind, get_args(FrameKind))
    table = _table(dataset)
    if kind == "pyarrow":
        return table
    module = require_frame(kind)
    return table.to_pandas() if kind == "pandas" else module.from_arrow(table)


def first_installed_frame() -> FrameKind:
    """Return pandas, else polars, else pyarrow, which is always installed."""
    kinds: tuple[FrameKind, ...] = ("pandas", "polars")
    return next((kind for kind in kinds if find_spec(kind) is not None), "pyarrow")


def require_frame(kind: str) -> Any:
    """Import a library of data frames; raise MissingDependencyError if it is not installed."""
    try:
        return import_module(kind)
    except ImportError as error:
        raise MissingDependencyError(
            f"{kind} is needed for such a data frame and is not installed. Install it (pip install {kind}), or ask for "
            "another kind."
        ) from error


def check_data_path(path: str | os.PathLike[str], argument: str = "path") -> None:
    """Raise FileError if the path cannot be written to."""
    check_path(argument, path)
    if Path(path).suffix.lower() not in DATA_EXTENSIONS:
        raise FileError(f"{argument} must end in {', '.join(DATA_EXTENSIONS)}; got {os.fspath(path)!r}. Rename it.")
    if not Path(os.path.realpath(path)).parent.is_dir():
        folder = str(Path(path).parent)
        raise FileError(f"{argument} must be in an existing folder; there is no {folder!r}. Create it first.")


def _table(dataset: Dataset) -> pa.Table:
    """Return an Arrow table of numbers and labels."""
    import pyarrow as pa

    arrays = []
    dataset.verify()
    for x, (kind, column, labels) in enumerate(zip(dataset.kinds, dataset.columns, dataset.levels, strict=True)):
        seen = dataset.observed(x)
        if labels is not None:
            arrays.append(_labelled(labels, pa.array(column, mask=None if seen is None else ~seen), kind == "ordinal"))
        elif kind == "count":
            arrays.append(pa.array(np.where(np.isnan(column), 0, column).astype(np.int64), mask=np.isnan(column)))
        else:
            arrays.append(pa.array(column, from_pandas=seen is not None))
    return pa.Table.from_arrays(arrays, names=list(dataset.names))


def _labelled(labels: tuple[Any, ...], codes: pa.Array, ordered: bool) -> Any:
    """Return the label of every code; labels of more than one type become strings, None and null stay.

    The labels of an ordinal variable are a dictionary in their order.
    """
    import pyarrow as pa

    plain = [label.item() if isinstance(label, np.generic) else label for label in labels]
    kinds = {type(label) for label in plain if label is not None}
    texts = [None if label is None else str(label) for label in plain]
    try:
        named = pa.array(plain if len(kinds) == 1 and kinds <= {str, bool, int, float} else texts)
    except (pa.ArrowInvalid, OverflowError):  # integers that Arrow has no type for
        named = pa.array(texts)
    except UnicodeEncodeError as error:
        raise InputError(
            f"labels must be Unicode text to be written; got {error.object!r}. Rename the label first."
        ) from error
    if ordered and not named.null_count:
        return pa.DictionaryArray.from_arrays(codes.cast(pa.int32()), named, ordered=True)
    return named.take(codes)


def _write_table(table: pa.Table, path: Path, extension: str) -> None:
    """Write the table in the format of its extension."""
    if extension == ".parquet":
        from pyarrow import parquet

        parquet.write_table(table, path)
        return
    _write_delimited(table, path, "\t" if extension == ".tsv" else ",")


def _write_delimited(table: pa.Table, path: Path, delimiter: str) -> None:
    """Write delimited text, quoted where needed."""
    import csv

    columns = [column.to_pylist() for column in table.columns]
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, delimiter=delimiter, lineterminator="\n")
        writer.writerow(table.column_names)
        writer.writerows(zip(*columns, strict=True))
