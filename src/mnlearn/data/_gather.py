"""Many files, or a stream of Arrow batches, read once into collectors that keep their chunks on disk."""

from __future__ import annotations

import glob
import os
from collections.abc import Iterable, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from mnlearn.data._coding import Column, Settled
from mnlearn.data._files import DELIMITERS, PARQUET, DataFile, RowTooLong, recognise
from mnlearn.data._request import Plan, Request
from mnlearn.errors import DataError, FileError, InputError
from mnlearn.parallel import ahead
from mnlearn.protocols import Monitor


class Gathered(NamedTuple):
    """All rows of all sources: the variables, the repeats beside them, and what to call the source in a message."""

    columns: list[Settled]
    repeats: Settled | None
    n_rows: int
    source: str


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


def gather_files(files: Sequence[DataFile], request: Request, monitor: Monitor) -> Gathered:
    """Read files of one kind one after the other; all again in larger blocks when a row does not fit in one."""
    larger = 1
    while True:
        try:
            return _gathered(files, request, monitor, larger)
        except RowTooLong as error:
            from mnlearn.data._delimited import BLOCK_BYTES, LONGEST_ROW

            if larger * BLOCK_BYTES >= LONGEST_ROW:
                raise DataError(
                    f"source must have rows of at most {LONGEST_ROW >> 20} MB; got a longer one. Look for a quote that "
                    "is never closed."
                ) from error
            larger *= 8


def _gathered(files: Sequence[DataFile], request: Request, monitor: Monitor, larger: int) -> Gathered:
    source = str(files[0].path) if len(files) == 1 else f"{files[0].path} and {len(files) - 1} more"
    columns = _Collectors(source)
    read = partial(_read_text, larger=larger) if files[0].delimiter is not None else _read_parquet
    for done, file in enumerate(files):
        if monitor.cancelled():
            break
        columns.n_rows += read(file, request, columns)
        monitor.progress(done + 1, len(files), f"read {file.path.name}")
    return columns.gathered()


def gather_stream(stream: Any, request: Request) -> Gathered:
    """Read a stream of Arrow batches."""
    import pyarrow as pa

    from mnlearn.data._frames import fill

    reader = stream if isinstance(stream, pa.RecordBatchReader) else pa.RecordBatchReader.from_stream(stream)
    columns = _Collectors("the Arrow stream")
    plan = request.plan(reader.schema.names)
    columns.n_rows = fill(columns.typed(plan, reader.schema, "the Arrow stream"), reader)
    return columns.gathered()


class _Collectors:
    """One collector for each column, shared by all files."""

    def __init__(self, source: str) -> None:
        self.source, self.n_rows = source, 0
        self._columns: dict[str, Column] = {}
        self._kinds: dict[str, str] = {}
        self._plan: Plan | None = None

    def text(self, plan: Plan, where: str) -> dict[str, Any]:
        """By position in the file."""
        from mnlearn.data._text import TextColumn

        self._check(plan, where)
        for place in plan.places:
            if place.wish.name not in self._columns:
                self._columns[place.wish.name] = TextColumn(place.wish)
        return {str(place.position): self._columns[place.wish.name] for place in plan.places}

    def typed(self, plan: Plan, schema: Any, where: str) -> list[tuple[str, Column]]:
        """With the names that the columns have in a batch."""
        from mnlearn.data._typed import column_for

        self._check(plan, where)
        found = []
        for position, wish in plan.places:
            kind = str(schema.field(position).type)
            if wish.name not in self._columns:
                self._columns[wish.name], self._kinds[wish.name] = column_for(wish, schema.field(position).type), kind
            elif kind != self._kinds[wish.name]:
                raise DataError(
                    f"column {wish.name!r} must have one type in all files; it is {self._kinds[wish.name]} at first "
                    f"and {kind} in {where}. Write the files with one schema, or leave it out with columns=[...]."
                )
            found.append((schema.field(position).name, self._columns[wish.name]))
        return found

    def gathered(self) -> Gathered:
        """Everything, once all files were read."""
        if self._plan is None:
            raise DataError(f"data must have at least 2 rows; {self.source} has 0. Read data with more rows.")
        settled = [self._columns[place.wish.name].settle() for place in self._plan.variables]
        weights = self._plan.repeats
        repeats = None if weights is None else self._columns[weights.wish.name].settle()
        return Gathered(settled, repeats, self.n_rows, self.source)

    def _check(self, plan: Plan, where: str) -> None:
        """All files have the same columns, in any order."""
        if self._plan is None:
            self._plan = plan
            return
        first, here = (_names(p.places) for p in (self._plan, plan))
        odd = sorted(first ^ here)
        if odd:
            how = "lacks it" if odd[0] in first else "is the first to have it"
            raise DataError(
                f"all files must have the same columns; {where} {how}: {odd[0]!r}. Choose those that all have with "
                "columns=[...]."
            )


def _names(places: Iterable[Any]) -> set[str]:
    return {place.wish.name for place in places}


def _read_text(file: DataFile, request: Request, columns: _Collectors, *, larger: int) -> int:
    from mnlearn.data._delimited import fill, first_block, read_header

    header = read_header(file)
    return fill(columns.text(request.plan(header.names), str(file.path)), file, header, larger * first_block(header))


def _read_parquet(file: DataFile, request: Request, columns: _Collectors) -> int:
    from mnlearn.data._frames import fill
    from mnlearn.data._parquet import opened

    with opened(file) as parquet:
        plan = request.plan(parquet.schema.names)
        typed = columns.typed(plan, parquet.schema, str(file.path))
        return fill(typed, ahead(parquet.batches(plan)))
