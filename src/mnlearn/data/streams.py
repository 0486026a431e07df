"""Files and streams of Arrow batches, read once into column readers, and chunks of columns kept on disk meanwhile.

Bytes at a place in an open file, for several threads at once and on every system.
"""

from __future__ import annotations

import errno
import glob
import os
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from itertools import takewhile
from pathlib import Path
from tempfile import TemporaryFile
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from mnlearn.data.columns import ColumnReader, ReadColumn, ReadTable
from mnlearn.data.dataset import DELIMITERS, PARQUET, PROGRAM_FILES, DataFile, RowTooLong, recognise
from mnlearn.data.options import ColumnSelection, TableOptions
from mnlearn.data.variable import settled_table
from mnlearn.errors import DataError, FileError, InputError
from mnlearn.parallel import ahead
from mnlearn.protocols import SILENT, Monitor

if TYPE_CHECKING:
    from mnlearn.data.parquet import LazyTable


_moving = threading.Lock()  # where reading and writing need the one position of a file


def write_at(handle: int, data: bytes | memoryview, place: int) -> None:
    """Write bytes from a place on."""
    left = memoryview(data)
    while left:
        written = _write(handle, left, place)
        left, place = left[written:], place + written


def read_at(handle: int, room: memoryview, place: int) -> None:
    """Fill the room with the bytes from a place on."""
    while room:
        read = _read(handle, room, place)
        if read == 0:
            raise OSError(errno.EIO, "the file ends too early")
        room, place = room[read:], place + read


def _write(handle: int, data: memoryview, place: int) -> int:
    if hasattr(os, "pwrite"):
        return os.pwrite(handle, data, place)
    with _moving:
        os.lseek(handle, place, os.SEEK_SET)
        return os.write(handle, data)


def _read(handle: int, room: memoryview, place: int) -> int:
    if hasattr(os, "preadv"):
        return os.preadv(handle, [room], place)
    with _moving:
        os.lseek(handle, place, os.SEEK_SET)
        part = os.read(handle, len(room))
    room[: len(part)] = part
    return len(part)


def files_of(paths: Sequence[Path], options: TableOptions) -> list[DataFile]:
    """Return files of one kind with their formats."""
    program = next((path for path in paths if path.suffix.lower() in PROGRAM_FILES), None)
    if program is not None:
        raise InputError(
            f"source must be files of text or Parquet, or one file of another kind; got {len(paths)} files with "
            f"{program.name!r}. Pack the first one, and then the list of that pack and the others."
        )
    form: Any = {"row_names": options.row_names, "decimal": options.decimal}
    files = [recognise(path, options.delimiter, **form) for path in paths]
    if len({file.delimiter is None for file in files}) > 1:
        text = next(file.path for file in files if file.delimiter is not None)
        raise InputError(f"source must be files of one kind; got text ({text.name}) and Parquet. Pack them one by one.")
    return files


def paths_of(source: object) -> list[Path] | None:
    """Return the paths of a path, a folder, a pattern or a list of these; None if the source is not a path."""
    listed: Sequence[Any] = source if isinstance(source, list | tuple) and source else [source]
    if not all(isinstance(one, str | os.PathLike) for one in listed):
        return None
    return [path for one in listed for path in _expanded(Path(os.fsdecode(one)))]


def _expanded(path: Path) -> list[Path]:
    """Return the files of a folder or a pattern, sorted by name."""
    if os.path.isdir(path):  # also of a name that is too long
        known = (*DELIMITERS, *PARQUET)
        inside = [p for p in sorted(path.iterdir()) if p.is_file() and not p.name.startswith((".", "_"))]
        found = [p for p in inside if p.name.lower().removesuffix(".gz").endswith(known)]
        if not found:
            packs = [p.name for p in inside if p.name.lower().endswith(".mnpack")]
            hint = f"It holds packs: name one, such as {packs[0]!r}." if packs else "Check the name of the folder."
            raise FileError(
                f"source must hold files of data; the folder {path} has none that end in {', '.join(known)}. {hint}"
            )
        return found
    if glob.has_magic(str(path)) and not os.path.exists(path):
        found = [Path(name) for name in sorted(glob.glob(str(path)))]
        if not found:
            raise FileError(f"source must match at least one file; {str(path)!r} matches none. Check the pattern.")
        return found
    return [path]


def read_files(files: Sequence[DataFile], options: TableOptions, monitor: Monitor = SILENT) -> ReadTable:
    """Read files of one kind one after the other; read all again in larger blocks if a row does not fit in one."""
    larger = 1
    while True:
        try:
            return _read_files(files, options, monitor, larger)
        except RowTooLong as error:
            from mnlearn.data.text import LONGEST_ROW
            from mnlearn.data.text_errors import diagnose

            if error.block >= LONGEST_ROW:
                raise diagnose(error.file, error.names, error) from error
            larger *= 8


def _read_files(files: Sequence[DataFile], options: TableOptions, monitor: Monitor, larger: int) -> ReadTable:
    source = str(files[0].path) if len(files) == 1 else f"{files[0].path} and {len(files) - 1} more"
    table = _TableReader(source, options)
    alone = len(files) == 1 and options.new_chunks is list
    text = files[0].delimiter is not None
    read = partial(_read_text, larger=larger) if text else partial(_read_parquet, alone=alone)
    for done, file in enumerate(files):
        if monitor.cancelled():
            break
        table.n_rows += read(file, table)
        monitor.progress(done + 1, len(files), f"read {file.path.name}")
    return table.finish()


def read_lazy(source: LazyTable, options: TableOptions, monitor: Monitor = SILENT) -> ReadTable:
    """Read a table that comes in batches."""
    from mnlearn.data.parquet import batch_rows
    from mnlearn.data.typed import read_batches_into

    table = _TableReader(source.title, options)
    columns = table.typed(table.select(source.schema.names, source.title), source.schema)
    batches = source.batches([name for name, _ in columns], batch_rows(len(columns)))
    table.n_rows = read_batches_into(columns, takewhile(lambda _: not monitor.cancelled(), batches))
    return table.finish()


class _TableReader:
    """A reader for each selected column, shared by all files."""

    def __init__(self, source: str, options: TableOptions) -> None:
        self.source, self.n_rows = source, 0
        self._options = options
        self._columns: dict[str, ColumnReader] = {}
        self._types: dict[str, str] = {}
        self._selection: ColumnSelection | None = None
        self.whole: list[ReadColumn] | None = None  # all columns, if they were read at once
        self.order: Callable[[int], bool | None] | None = None

    def select(self, names: Sequence[str], where: str) -> ColumnSelection:
        """Return the columns to read in a file; all files must have them, in any order."""
        selection = self._options.select(names)
        if self._selection is None:
            self._selection = selection
        first, here = ({own.name for own in s.columns} for s in (self._selection, selection))
        odd = sorted(first ^ here)
        if odd:
            fault = "lacks it" if odd[0] in first else "is the first to have it"
            raise DataError(
                f"all files must have the same columns; {where} {fault}: {odd[0]!r}. Choose those that all have with "
                "columns=[...]."
            )
        return selection

    def text(self, selection: ColumnSelection) -> dict[str, Any]:
        """Return the readers of text columns by their position in the file."""
        from mnlearn.data.text import TextColumn

        return {str(own.position): self._columns.setdefault(own.name, TextColumn(own)) for own in selection.columns}

    def typed(self, selection: ColumnSelection, schema: Any, where: str = "") -> list[tuple[str, ColumnReader]]:
        """Return the readers of typed columns with the names that the columns have in a batch."""
        from mnlearn.data.frames import order_in_schema
        from mnlearn.data.typed import column_for

        if self.order is None:  # by the positions of the first file
            self.order = partial(order_in_schema, schema)
        names = schema.names  # a new list at every call
        for own in selection.columns:
            type_ = schema.field(own.position).type
            first = self._types.setdefault(own.name, str(type_))
            if str(type_) != first:
                raise DataError(
                    f"column {own.name!r} must have one type in all files; it is {first} at first and {type_} in "
                    f"{where}. Write the files with one schema, or leave it out with drop=[{own.name!r}]."
                )
            if own.name not in self._columns:
                self._columns[own.name] = column_for(own, type_)
        return [(names[own.position], self._columns[own.name]) for own in selection.columns]

    def finish(self) -> ReadTable:
        """Return the table once all files are read."""
        if self._selection is None:
            raise DataError(f"data must have at least 2 rows; {self.source} has 0. Read data with more rows.")
        columns = self.whole or [self._columns[own.name].finish() for own in self._selection.columns]
        return settled_table(self._selection, columns, self.n_rows, self.source, self.order)


def _read_text(file: DataFile, table: _TableReader, *, larger: int) -> int:
    from mnlearn.data.text import first_block, read_csv_into, read_header

    header = read_header(file)
    columns = table.text(table.select(header.names, str(file.path)))
    return read_csv_into(columns, file, header, larger * first_block(header))


def _read_parquet(file: DataFile, table: _TableReader, *, alone: bool) -> int:
    from mnlearn.data.frames import order_in_schema
    from mnlearn.data.parquet import batch_rows, open_parquet, read_whole_batch
    from mnlearn.data.typed import read_batches_into

    with open_parquet(file) as parquet:
        selection = table.select(parquet.schema.names, str(file.path))
        small = alone and parquet.n_rows <= batch_rows(len(selection.columns))
        batches: Any = parquet.table(selection).to_batches() if small else ahead(parquet.batches(selection))
        if small and len(batches) == 1:
            table.whole = read_whole_batch(selection, batches[0], parquet.schema)
            table.order = partial(order_in_schema, parquet.schema)
            return parquet.n_rows
        return read_batches_into(table.typed(selection, parquet.schema, str(file.path)), batches)


class Spool:
    """A temporary file without a name for chunks of columns; it is removed when the program ends, even by a crash."""

    def __init__(self, folder: Path) -> None:
        self._folder, self._end = folder, 0
        with self._on_disk():
            self._file = TemporaryFile(dir=folder)  # noqa: SIM115 - closed by the context of the spool itself

    def __enter__(self) -> Spool:
        return self

    def __exit__(self, *_raised: object) -> None:
        self._file.close()

    def chunks(self) -> SpooledChunks:
        """Return an empty list of chunks for one column."""
        return SpooledChunks(self)

    def write(self, chunk: NDArray[Any]) -> int:
        """Write a chunk and return where it starts."""
        start = self._end
        data = np.ascontiguousarray(chunk).data.cast("B")
        with self._on_disk():
            write_at(self._file.fileno(), data, self._end)
            self._end += len(data)
        return start

    @contextmanager
    def _on_disk(self) -> Iterator[None]:
        """Name the folder when it cannot be written: a failure inside is not one of the file that is read."""
        try:
            yield
        except OSError as error:
            raise FileError(
                f"out must be in a folder with room for the rows; {self._folder}: {error.strerror or error}. Name "
                "another folder."
            ) from error

    def read_into(self, chunk: NDArray[Any], start: int) -> None:
        """Fill an array from the file."""
        read_at(self._file.fileno(), chunk.data.cast("B"), start)


class SpooledChunks:
    """The chunks of one column, in a spool."""

    def __init__(self, spool: Spool) -> None:
        self._spool = spool
        self._parts: list[tuple[int, np.dtype[Any], int]] = []  # start, type and length of each chunk

    def append(self, chunk: NDArray[Any]) -> None:
        """Add a chunk."""
        self._parts.append((self._spool.write(chunk), chunk.dtype, len(chunk)))

    def __getitem__(self, k: int) -> NDArray[Any]:
        """Return the k-th chunk."""
        start, kind, length = self._parts[k]
        chunk = np.empty(length, kind)
        self._spool.read_into(chunk, start)
        return chunk

    def together(self, places: range) -> NDArray[Any]:
        """Return some chunks, one after the other, as one array."""
        parts = [self._parts[k] for k in places]
        kinds = {kind for _, kind, _ in parts}
        if len(kinds) > 1:
            return np.concatenate([self[k] for k in places])
        whole, end = np.empty(sum(length for _, _, length in parts), kinds.pop()), 0
        for start, _, length in parts:
            self._spool.read_into(whole[end : end + length], start)
            end += length
        return whole

    def pop(self) -> NDArray[Any]:
        """Remove the last chunk and return it."""
        chunk = self[-1]
        self._parts.pop()
        return chunk

    def clear(self) -> None:
        """Remove all chunks."""
        self._parts.clear()

    def __len__(self) -> int:
        return len(self._parts)

    def __iter__(self) -> Iterator[NDArray[Any]]:
        return (self[k] for k in range(len(self._parts)))
