"""Write data of any size to a packed file, or append to one, in constant memory."""

from __future__ import annotations

import os
from collections.abc import Hashable, Iterable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path

from mnlearn.data._checks import PROGRAM_FILES
from mnlearn.data.columns import ReadTable
from mnlearn.data.dataset import Dataset
from mnlearn.data.missing import to_contents
from mnlearn.data.options import MissingPolicy, TableOptions, Types
from mnlearn.data.pack_writer import (
    Contents,
    append_lock,
    contents_like,
    contents_of,
    joined_contents,
    options_of_pack,
    write_pack,
)
from mnlearn.data.packs import SUFFIX, open_pack
from mnlearn.data.readers import already_coded, check_no_delimiter, check_no_sheet, read_source, select_from
from mnlearn.data.streams import Spool, files_of, paths_of, read_files, read_lazy, read_stream
from mnlearn.errors import FileError, InputError, MnlearnError, check_methods, check_path, true_or_false
from mnlearn.files import check_outputs, try_to_write
from mnlearn.protocols import SILENT, Monitor


def pack(
    source: object,
    out: str | os.PathLike[str],
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
    append: bool = False,
    monitor: Monitor = SILENT,
) -> Dataset:
    """Write data to a packed file, which is opened in milliseconds and counted without being read into memory.

    Parameters
    ----------
    source
        A path to CSV, TSV or Parquet, a folder of such files, a pattern such as ``"part-*.parquet"``, or a list of
        these; a dataset or a stream of Arrow batches, a LazyFrame of polars or a relation of DuckDB; or any other
        source that `read` accepts, such as one packed file. A pack of a pack is equal to it.
    out
        The file to write; its name ends in ``.mnpack``.
    columns, types, levels, missing, missing_values, repeats, delimiter
        As for `read`. Levels that are not declared are collected while reading.
    drop, row_names, transpose, decimal, sheet, names
        As for `read`.
    append
        Add the rows to an existing file.
    monitor
        Receives the number of files read, and may cancel; then nothing is written.

    Returns
    -------
    Dataset
        The file, opened: equal to the result of `read`, with columns mapped from the file.

    Raises
    ------
    FileError
        A source cannot be read, or the file cannot be written.
    DataError
        The contents break a rule of `read`.

    Notes
    -----
    Sources are read once. Memory holds about a million rows at a time. Codes are kept in an unnamed file beside `out`,
    so the disk needs room for twice the pack. The file is written under another name and renamed when it is complete
    and on the disk: after an interruption or a power failure there is the old file or the new one.

    Appending writes a new file with the old rows and the new ones. Levels that only the new rows have are inserted in
    order, unless the levels were declared; then they are an error. A pack or a `Dataset` can be appended too. Only one
    process can append to a file at a time.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     data = pack({"rain": ["yes", "no", "no"], "umbrella": [1, 0, 0]}, folder + "/wet.mnpack")
    ...     more = pack({"rain": ["yes"] * 2, "umbrella": [1, 0]}, folder + "/wet.mnpack", append=True)
    >>> data.levels, more.n_rows
    ((('no', 'yes'), (0, 1)), 5)
    """
    check_path("out", out)
    check_methods("monitor", monitor, ("progress", "cancelled"), "Leave it out to show no progress.")
    true_or_false(append=append)
    options = TableOptions(
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
    )
    target = _target(out, append=append)
    check_outputs({"out": [str(target)]}, {"source": list(map(str, paths_of(source) or ()))})
    with Spool(target.parent) as spool, append_lock(target) if append else nullcontext():
        old = open_pack(target) if append else None
        if old is not None:
            old.verify()
            options = options_of_pack(old, options)
        new = _contents(source, options, spool, monitor, old)
        if monitor.cancelled():
            raise MnlearnError(f"packing was stopped before {target.name} was complete; nothing was written.")
        write_pack(target, new if old is None else joined_contents(old, new))
    return open_pack(target)


def _target(out: str | os.PathLike[str], *, append: bool) -> Path:
    """Return the path to write to, or raise FileError."""
    target = Path(os.fsdecode(out))
    if target.suffix.lower() != SUFFIX:
        raise FileError(f"out must end in {SUFFIX}; got {target.name!r}. Use {target.stem + SUFFIX!r}.")
    if not target.parent.is_dir():
        raise FileError(f"out must be in an existing folder; there is no {str(target.parent)!r}. Create it first.")
    if append and not target.exists():
        raise FileError(f"append needs an existing pack; there is no {target}. Leave append out to create it.")
    try:
        try_to_write(target)
    except OSError as error:
        raise FileError(
            f"out must be a file that can be written; {target}: {error.strerror or error}. Name another file."
        ) from error
    return target


def _contents(source: object, options: TableOptions, spool: Spool, monitor: Monitor, old: Dataset | None) -> Contents:
    """Read a source and return what to write, or what to append to a pack."""
    least = 2 if old is None else 1
    paths = paths_of(source) or []
    coded = already_coded(_only_pack(paths) or source)
    if coded is not None and old is not None:
        return contents_like(old, select_from(coded, replace(options, columns=None, types=None, levels=None)))
    if coded is not None:
        return contents_of(select_from(coded, options))
    on_disk = replace(options, new_chunks=spool.chunks)
    if options.transpose or (len(paths) == 1 and paths[0].suffix.lower() in PROGRAM_FILES):
        return contents_of(read_source(_only_file(source, paths), options))
    if paths:
        options.check_no_names(paths[0].name)
        check_no_sheet(paths[0].name, options)
        files = files_of(paths, options)
        return to_contents(read_files(files, on_disk, monitor), options.missing, spool, least=least)
    check_no_delimiter(source, options)
    streamed = _streamed(source, on_disk, monitor)
    if streamed is not None:
        return to_contents(streamed, options.missing, spool, least=least)
    return contents_of(read_source(source, options))


def _only_file(source: object, paths: Sequence[Path]) -> object:
    """Return the source of a table to transpose, which is one file at most."""
    if len(paths) > 1:
        raise InputError(f"transpose is for one file at a time; got {len(paths)}. Pack them one by one.")
    return paths[0] if paths else source


def _only_pack(paths: Sequence[Path]) -> Path | None:
    """Return the packed file that the source is; None for other files."""
    packs = [path for path in paths if path.suffix.lower() == SUFFIX]
    if packs and len(paths) > 1:
        raise InputError(
            f"source must be one pack, or files of text or Parquet; got {len(paths)} files with the pack "
            f"{packs[0].name!r}. Pack them one by one: the first, then each of the others with append=True."
        )
    return packs[0] if packs else None


def _streamed(source: object, options: TableOptions, monitor: Monitor) -> ReadTable | None:
    """Read a table that comes in batches; None for any other."""
    if type(source).__module__.partition(".")[0] in ("builtins", "numpy", "pandas"):
        return None
    from mnlearn.data.lazy_tables import lazy_table

    lazy = lazy_table(source)
    if lazy is not None:
        options.check_no_names(lazy.title)
        return read_lazy(lazy, options, monitor)
    if _is_stream(source):
        options.check_no_names("an Arrow stream")
        return read_stream(source, options, "the Arrow stream")
    return None


def _is_stream(source: object) -> bool:
    """Return whether this is a stream of Arrow batches rather than a data frame in memory."""
    module = type(source).__module__.partition(".")[0]
    return hasattr(source, "__arrow_c_stream__") and module not in ("pandas", "polars", "narwhals")
