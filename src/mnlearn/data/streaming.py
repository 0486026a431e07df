"""Many files, or a stream of Arrow batches, read once into collectors that keep their chunks on disk."""

from __future__ import annotations

import glob
import os
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mnlearn.data._checks import DELIMITERS, PARQUET, DataFile, RowTooLong, recognise
from mnlearn.data.columns import Column, ReadTable
from mnlearn.data.options import Selection, TableOptions
from mnlearn.errors import DataError, FileError, InputError
from mnlearn.parallel import ahead
from mnlearn.protocols import Monitor


def files_of(source: object, delimiter: str | None) -> list[DataFile] | None:
    """The files that a path, a folder, a pattern or a list of these stands for; None for what is no path."""
    listed: Sequence[Any] = source if isinstance(source, list | tuple) and source else [source]
    if not all(isinstance(one, str | os.PathLike) for one in listed):
        return None
    paths = [path for one in listed for path in _expanded(Path(os.fsdecode(one)))]
    files = [recognise(path, delimiter) for path in paths]
    if len({file.delimiter is None for file in files}) > 1:
        text = next(file.path for file in files if file.delimiter is not None)
        raise InputError(f"source must be files of one kind; got text ({text.name}) and Parquet. Pack them one by one.")
    return files


def _expanded(path: Path) -> list[Path]:
    """The files of a folder or a pattern, by name."""
    if path.is_dir():
        known = (*DELIMITERS, *PARQUET)
        inside = [p for p in sorted(path.iterdir()) if p.is_file() and not p.name.startswith((".", "_"))]
        found = [p for p in inside if p.name.lower().removesuffix(".gz").endswith(known)]
        if not found:
            raise FileError(
                f"source must hold files of data; the folder {path} has none that end in {', '.join(known)}."
            )
        return found
    if glob.has_magic(str(path)) and not path.exists():
        found = [Path(name) for name in sorted(glob.glob(str(path)))]
        if not found:
            raise FileError(f"source must match at least one file; {str(path)!r} matches none. Check the pattern.")
        return found
    return [path]


def gather_files(files: Sequence[DataFile], options: TableOptions, monitor: Monitor) -> ReadTable:
    """Read files of one kind one after the other; all again in larger blocks when a row does not fit in one."""
    larger = 1
    while True:
        try:
            return _gathered(files, options, monitor, larger)
        except RowTooLong as error:
            from mnlearn.data.csv import BLOCK_BYTES, LONGEST_ROW

            if larger * BLOCK_BYTES >= LONGEST_ROW:
                raise DataError(
                    f"source must have rows of at most {LONGEST_ROW >> 20} MB; got a longer one. Look for a quote that "
                    "is never closed."
                ) from error
            larger *= 8


def _gathered(files: Sequence[DataFile], options: TableOptions, monitor: Monitor, larger: int) -> ReadTable:
    source = str(files[0].path) if len(files) == 1 else f"{files[0].path} and {len(files) - 1} more"
    columns = _Collectors(source)
    read = partial(_read_text, larger=larger) if files[0].delimiter is not None else _read_parquet
    for done, file in enumerate(files):
        if monitor.cancelled():
            break
        columns.n_rows += read(file, options, columns)
        monitor.progress(done + 1, len(files), f"read {file.path.name}")
    return columns.gathered()


def gather_stream(stream: Any, options: TableOptions) -> ReadTable:
    """Read a stream of Arrow batches."""
    import pyarrow as pa

    from mnlearn.data.frames import read_batches_into

    reader = stream if isinstance(stream, pa.RecordBatchReader) else pa.RecordBatchReader.from_stream(stream)
    columns = _Collectors("the Arrow stream")
    selection = options.select(reader.schema.names)
    columns.n_rows = read_batches_into(columns.typed(selection, reader.schema, "the Arrow stream"), reader)
    return columns.gathered()


class _Collectors:
    """One collector for each column, shared by all files."""

    def __init__(self, source: str) -> None:
        self.source, self.n_rows = source, 0
        self._columns: dict[str, Column] = {}
        self._kinds: dict[str, str] = {}
        self._selection: Selection | None = None

    def text(self, selection: Selection, where: str) -> dict[str, Any]:
        """By position in the file."""
        from mnlearn.data.csv import TextColumn

        self._check(selection, where)
        for selected in selection.columns:
            if selected.options.name not in self._columns:
                self._columns[selected.options.name] = TextColumn(selected.options)
        return {str(selected.position): self._columns[selected.options.name] for selected in selection.columns}

    def typed(self, selection: Selection, schema: Any, where: str) -> list[tuple[str, Column]]:
        """With the names that the columns have in a batch."""
        from mnlearn.data.typed_columns import column_for

        self._check(selection, where)
        found = []
        for position, options in selection.columns:
            kind = str(schema.field(position).type)
            if options.name not in self._columns:
                self._columns[options.name], self._kinds[options.name] = (
                    column_for(options, schema.field(position).type),
                    kind,
                )
            elif kind != self._kinds[options.name]:
                raise DataError(
                    f"column {options.name!r} must have one type in all files; it is "
                    f"{self._kinds[options.name]} at first and {kind} in {where}. "
                    "Write the files with one schema, or leave it out with columns=[...]."
                )
            found.append((schema.field(position).name, self._columns[options.name]))
        return found

    def gathered(self) -> ReadTable:
        """Everything, once all files were read."""
        if self._selection is None:
            raise DataError(f"data must have at least 2 rows; {self.source} has 0. Read data with more rows.")
        settled = [self._columns[selected.options.name].finish() for selected in self._selection.variables]
        weights = self._selection.repeats
        repeats = None if weights is None else self._columns[weights.options.name].finish()
        return ReadTable(settled, repeats, self.n_rows, self.source)

    def _check(self, selection: Selection, where: str) -> None:
        """All files have the same columns, in any order."""
        if self._selection is None:
            self._selection = selection
            return
        first, here = (_names(p.columns) for p in (self._selection, selection))
        odd = sorted(first ^ here)
        if odd:
            how = "lacks it" if odd[0] in first else "is the first to have it"
            raise DataError(
                f"all files must have the same columns; {where} {how}: {odd[0]!r}. Choose those that all have with "
                "columns=[...]."
            )


def _names(columns: Iterable[Any]) -> set[str]:
    return {selected.options.name for selected in columns}


def _read_text(file: DataFile, options: TableOptions, columns: _Collectors, *, larger: int) -> int:
    from mnlearn.data.csv import first_block, read_csv_into, read_header

    header = read_header(file)
    return read_csv_into(
        columns.text(options.select(header.names), str(file.path)), file, header, larger * first_block(header)
    )


def _read_parquet(file: DataFile, options: TableOptions, columns: _Collectors) -> int:
    from mnlearn.data.frames import open_parquet, read_batches_into

    with open_parquet(file) as parquet:
        selection = options.select(parquet.schema.names)
        typed = columns.typed(selection, parquet.schema, str(file.path))
        return read_batches_into(typed, ahead(parquet.batches(selection)))


# Chunks of columns kept in a file while they are read: memory holds the current ones only.


class Spool:
    """A file without a name that goes away with the program, however that ends."""

    def __init__(self, folder: Path) -> None:
        self._file = TemporaryFile(dir=folder)  # noqa: SIM115 - closed by the context of the spool itself
        self._end = 0

    def __enter__(self) -> Spool:
        return self

    def __exit__(self, *_raised: object) -> None:
        self._file.close()

    def chunks(self) -> SpooledChunks:
        """A place for the chunks of one column."""
        return SpooledChunks(self)

    def write(self, chunk: NDArray[Any]) -> int:
        """Keep a chunk; where it is."""
        start = self._end
        data = np.ascontiguousarray(chunk).data.cast("B")
        while data:
            written = os.pwrite(self._file.fileno(), data, self._end)
            data, self._end = data[written:], self._end + written
        return start

    def read(self, start: int, kind: np.dtype[Any], length: int) -> NDArray[Any]:
        """A chunk that was kept."""
        chunk = np.empty(length, kind)
        self.read_into(chunk, start)
        return chunk

    def read_into(self, chunk: NDArray[Any], start: int) -> None:
        """A chunk that was kept, where the caller wants it."""
        view, done = chunk.data.cast("B"), 0
        while done < len(view):
            done += os.preadv(self._file.fileno(), [view[done:]], start + done)


class SpooledChunks:
    """The chunks of one column."""

    def __init__(self, spool: Spool) -> None:
        self._spool = spool
        self._kept: list[tuple[int, np.dtype[Any], int]] = []

    def append(self, chunk: NDArray[Any]) -> None:
        """Keep a chunk."""
        self._kept.append((self._spool.write(chunk), chunk.dtype, len(chunk)))

    def __getitem__(self, k: int) -> NDArray[Any]:
        """The k-th chunk."""
        return self._spool.read(*self._kept[k])

    def together(self, places: range) -> NDArray[Any]:
        """Return some chunks, one after the other, as one array."""
        kept = [self._kept[k] for k in places]
        kinds = {kind for _, kind, _ in kept}
        if len(kinds) > 1:
            return np.concatenate([self[k] for k in places])
        whole, end = np.empty(sum(length for _, _, length in kept), kinds.pop()), 0
        for start, _, length in kept:
            self._spool.read_into(whole[end : end + length], start)
            end += length
        return whole

    def pop(self) -> NDArray[Any]:
        """The last chunk, given up."""
        chunk = self[-1]
        self._kept.pop()
        return chunk

    def clear(self) -> None:
        """Give up all chunks."""
        self._kept.clear()

    def __len__(self) -> int:
        return len(self._kept)

    def __iter__(self) -> Iterator[NDArray[Any]]:
        return (self[k] for k in range(len(self._kept)))
