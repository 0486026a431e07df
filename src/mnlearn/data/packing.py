"""Data of any size to a packed file, in constant memory; and more rows to a packed file that is there."""

from __future__ import annotations

import os
from collections.abc import Hashable, Iterable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path

from mnlearn.data.dataset import Dataset
from mnlearn.data.missing import to_contents
from mnlearn.data.options import MissingPolicy, TableOptions, VariableType, check_policy
from mnlearn.data.pack_format import SUFFIX, open_pack
from mnlearn.data.pack_writer import (
    Contents,
    append_lock,
    contents_like,
    contents_of,
    joined_contents,
    options_of_pack,
    write_pack,
)
from mnlearn.data.readers import already_coded, read, select_from
from mnlearn.data.streaming import Spool, files_of, read_files, read_stream
from mnlearn.errors import FileError, InputError, MnlearnError, check_methods, check_path, true_or_false
from mnlearn.protocols import SILENT, Monitor

BLOCK_ROWS = 1 << 20


def pack(
    source: object,
    out: str | os.PathLike[str],
    *,
    columns: Sequence[str] | None = None,
    types: Mapping[str, VariableType] | None = None,
    levels: Mapping[str, Sequence[Hashable]] | None = None,
    missing: MissingPolicy = "error",
    missing_values: Iterable[Hashable] = (),
    repeats: str | None = None,
    delimiter: str | None = None,
    append: bool = False,
    monitor: Monitor = SILENT,
) -> Dataset:
    """Write data to a packed file, which is opened in milliseconds and counted without being read into memory.

    Parameters
    ----------
    source
        A path to CSV, TSV or Parquet, a folder of such files, a pattern such as ``"part-*.parquet"``, or a list of
        these; a stream of Arrow batches; or whatever else `read` accepts.
    out
        The file to write; its name ends in ``.mnpack``.
    columns, types, levels, missing, missing_values, repeats, delimiter
        As for `read`. Levels that are not declared are found on the way.
    append
        Add the rows to a file that is there already.
    monitor
        Hears how many files were read, and may stop; nothing is written then.

    Returns
    -------
    Dataset
        The file, opened: what `read` gives for the same source, with columns that are mapped from it.

    Raises
    ------
    FileError
        A source cannot be read, or the file cannot be written.
    DataError
        The contents break a rule; the same ones as for `read`.

    Notes
    -----
    Sources are read once. Memory holds about a million rows at a time, whatever their number; the codes wait in an
    unnamed file beside `out`, so the disk needs room for twice the pack. The file is written under another name and
    renamed when it is complete and on the disk: who is interrupted, or out of power, finds the old file or the new one.
    So does who appends: the new file is the old rows and the new ones, written anew at the speed of the disk. Levels
    that only the new rows have are entered in their place, unless the levels were declared; then they are an error. A
    pack or a `Dataset` can be appended too. One at a time: a second one that appends to a file meanwhile is refused.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     data = pack({"rain": ["yes", "no", "no"], "umbrella": [1, 0, 0]}, folder + "/wet.mnpack")
    ...     more = pack({"rain": ["yes"] * 2, "umbrella": [1, 0]}, folder + "/wet.mnpack", append=True)
    >>> data.levels, more.n_rows
    ((('no', 'yes'), (0, 1)), 5)
    """
    check_policy(missing)
    check_path("out", out)
    check_methods("monitor", monitor, ("progress", "cancelled"), "Leave it out to hear nothing.")
    true_or_false(append=append)
    target = _target(out, append=append)
    with Spool(target.parent) as spool, append_lock(target) if append else nullcontext():
        old = open_pack(target) if append else None
        if old is not None:
            old.verify()
            columns, types, levels = options_of_pack(old, columns, types, levels)
        options = TableOptions(
            columns=columns,
            types=types,
            levels=levels,
            missing_values=missing_values,
            repeats=repeats,
            delimiter=delimiter,
            new_chunks=spool.chunks,
        )
        new = _contents(source, options, missing, spool, monitor, old=old)
        if monitor.cancelled():
            raise MnlearnError(f"packing was stopped before {target.name} was complete; nothing was written.")
        write_pack(target, new if old is None else joined_contents(old, new))
    return open_pack(target)


def _target(out: str | os.PathLike[str], *, append: bool) -> Path:
    """A file that can be a pack."""
    target = Path(os.fsdecode(out))
    if target.suffix.lower() != SUFFIX:
        raise FileError(f"out must end in {SUFFIX}; got {target.name!r}. Use {target.stem + SUFFIX!r}.")
    if not target.parent.is_dir():
        raise FileError(f"out must be in an existing folder; there is no {str(target.parent)!r}. Create it first.")
    if append and not target.exists():
        raise FileError(f"append needs a pack that is there; there is no {target}. Leave append out to make it.")
    return target


def _contents(
    source: object,
    options: TableOptions,
    missing: MissingPolicy,
    spool: Spool,
    monitor: Monitor,
    *,
    old: Dataset | None,
) -> Contents:
    """What a source holds, ready to be written, or to be appended to a pack."""
    least = 2 if old is None else 1
    coded = already_coded(source)
    if coded is not None and old is not None:
        return contents_like(old, select_from(coded, replace(options, columns=None, types=None, levels=None)))
    files = None if coded is not None else files_of(source, options.delimiter)
    if files is not None:
        return to_contents(read_files(files, options, monitor), missing, spool, least=least)
    if options.delimiter is not None:
        raise InputError(f"delimiter is for text files; got a {type(source).__name__}. Drop the delimiter.")
    if _is_stream(source):
        return to_contents(read_stream(source, options, "the Arrow stream"), missing, spool, least=least)
    given = {name: getattr(options, name) for name in ("columns", "types", "levels", "missing_values", "repeats")}
    return contents_of(read(source, missing=missing, **given), set(options.levels or ()))


def _is_stream(source: object) -> bool:
    """Whether this is a stream of Arrow batches, and no frame that is in memory anyway."""
    module = type(source).__module__.partition(".")[0]
    return hasattr(source, "__arrow_c_stream__") and module not in ("pandas", "polars", "narwhals")
