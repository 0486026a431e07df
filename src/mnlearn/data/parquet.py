"""Parquet files, and tables that come in batches: datasets and scanners of Arrow, and streams of Arrow batches.

Imported on first use: it needs pyarrow.
"""

from __future__ import annotations

import gzip
import sys
import zlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq

from mnlearn.data.columns import BATCH_ROWS, ReadColumn, categorical, code_batch, read_columns, sort_labels
from mnlearn.data.dataset import DataFile
from mnlearn.data.options import ColumnOptions, ColumnSelection
from mnlearn.data.text_errors import failed_system
from mnlearn.data.typed import is_text, whole_column
from mnlearn.errors import DataError, FileError, MnlearnError, unreadable
from mnlearn.parallel import ahead

BATCH_BYTES = 1 << 26


@contextmanager
def open_parquet(file: DataFile) -> Iterator[ParquetSource]:
    """Open a Parquet file; errors of the parser inside the context become FileError."""
    try:
        content = _content(file)
        with pq.ParquetFile(content) as parquet:
            yield ParquetSource(content, parquet)
    except MnlearnError:
        raise
    except (pa.ArrowException, OSError, MemoryError, EOFError, zlib.error) as error:
        if failed_system(error):
            raise unreadable("path", file.path, error) from error
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise FileError(
            f"path must be an intact Parquet file; {file.path} is damaged, cut short or of another format ({reason}). "
            "Write or copy it again."
        ) from error


def _content(file: DataFile) -> object:
    """Return what Arrow opens: the path, or the unpacked bytes, because Parquet is read from its end."""
    if not file.gzipped:
        return file.path
    with gzip.open(file.path, "rb") as packed:
        return pa.BufferReader(packed.read())


class ParquetSource(NamedTuple):
    """An open Parquet file."""

    content: Any
    parquet: Any

    @property
    def schema(self) -> Any:
        """Names and types of the columns."""
        return self.parquet.schema_arrow

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return int(self.parquet.metadata.num_rows)

    def batches(self, selection: ColumnSelection) -> Iterator[Any]:
        """Yield the columns of a selection, some rows at a time."""
        with self._opened(selection) as source:
            size = batch_rows(len(selection.columns))
            yield from source.iter_batches(size, columns=self._wanted(selection), use_threads=pa.cpu_count() > 1)

    def table(self, selection: ColumnSelection) -> Any:
        """Return the columns of a selection."""
        with self._opened(selection) as source:
            return source.read(columns=self._wanted(selection))

    def _wanted(self, selection: ColumnSelection) -> list[str]:
        """Return the names of the columns."""
        names = self.schema.names
        return [names[own.position] for own in selection.columns]

    def _opened(self, selection: ColumnSelection) -> Any:
        """Return the file, opened so that strings come as positions in a dictionary.

        So the file usually stores them: decoding every string takes seven times as long as the rest of reading.
        """
        names, types = self.schema.names, self.schema.types
        texts = [
            names[own.position] for own in selection.columns if is_text(types[own.position]) and not own.is_numeric
        ]
        return pq.ParquetFile(self.content, metadata=self.parquet.metadata, read_dictionary=texts)


def batch_rows(n_columns: int) -> int:
    """Return how many rows of a file to hold at a time: many, which takes less time, if there are few columns."""
    return max(BATCH_ROWS, min(16 * BATCH_ROWS, BATCH_BYTES // (8 * max(1, n_columns))))


def read_whole_batch(selection: ColumnSelection, batch: Any, schema: Any) -> list[ReadColumn]:
    """Read a table that is one batch; `schema` has the types of its columns, where strings are not dictionaries."""
    names, types = schema.names, schema.types
    where = {name: place for place, name in enumerate(batch.schema.names)}
    positions = categorical(selection)
    coded = dict(zip(positions, code_batch(batch, [where[names[j]] for j in positions]), strict=True))
    sort_labels(coded, (j for j in positions if not pa.types.is_dictionary(types[j])))

    def read(own: ColumnOptions) -> ReadColumn:
        return whole_column(own, batch.column(where[names[own.position]]), types[own.position])

    return read_columns(selection, coded, read)


class LazyTable(NamedTuple):
    """A table in batches: its name in messages, its Arrow schema, and how to read it."""

    title: str
    schema: Any
    stream: Callable[[Sequence[str], int], Iterator[Any]]
    collect: Callable[[], Any]

    def batches(self, names: Sequence[str], rows: int) -> Iterator[Any]:
        """Yield the named columns in batches of about that many rows; an error of the source becomes one of ours."""
        source = _guarded(self.title, lambda: self.stream(names, rows))
        while (batch := _guarded(self.title, lambda: next(source, None))) is not None:
            yield batch

    def whole(self) -> Any:
        """Return the table in memory."""
        return _guarded(self.title, self.collect)


def lazy_table(source: Any) -> LazyTable | None:
    """Return a dataset or a scanner of Arrow as a table in batches; None for any other source."""
    ds = sys.modules.get("pyarrow.dataset")  # its objects exist only if it was imported
    if ds is None or not isinstance(source, ds.Dataset | ds.Scanner):
        return None
    return _of_scanner(source) if isinstance(source, ds.Scanner) else _of_dataset(source)


@contextmanager
def open_stream(source: Any) -> Iterator[LazyTable]:
    """Open a stream of Arrow batches, which is read once, as a table in batches."""
    if isinstance(source, pa.RecordBatchReader):
        yield _of_reader(source)
        return
    with _guarded(STREAM, partial(pa.RecordBatchReader.from_stream, source)) as reader:
        yield _of_reader(reader)


STREAM = "an Arrow stream"


def _of_reader(reader: Any) -> LazyTable:
    return LazyTable(STREAM, reader.schema, lambda _names, _rows: iter(reader), reader.read_all)


def _of_dataset(dataset: Any) -> LazyTable:
    """Return an Arrow dataset as a table in batches, in the order of its files."""

    def stream(names: Sequence[str], rows: int) -> Iterator[Any]:
        # The threads of Arrow would read up to 1 GB ahead of a slow reader.
        limits = {"batch_size": rows, "batch_readahead": 1, "fragment_readahead": 1, "use_threads": False}
        return ahead(dataset.scanner(columns=list(names), **limits, **_scan_options(dataset)).to_batches())

    return LazyTable("an Arrow dataset", dataset.schema, stream, dataset.to_table)


def _scan_options(dataset: Any) -> dict[str, Any]:
    """Return options for Parquet files, of which Arrow holds all bytes by default; not if the dataset has its own."""
    import pyarrow.dataset as ds

    form: Any = getattr(dataset, "format", None)
    parquet: Any = getattr(ds, "ParquetFileFormat", ())
    if not isinstance(form, parquet):
        return {}
    own = form.default_fragment_scan_options
    if getattr(own, "parquet_decryption_config", None):
        return {}
    usual = ds.ParquetFragmentScanOptions()
    return {"fragment_scan_options": ds.ParquetFragmentScanOptions(pre_buffer=False)} if own == usual else {}


def _of_scanner(scanner: Any) -> LazyTable:
    """Return an Arrow scanner, whose columns, rows and batches are already chosen, as a table in batches."""

    def stream(names: Sequence[str], _rows: int) -> Iterator[Any]:
        return (batch.select(list(names)) for batch in scanner.to_batches())

    return LazyTable("an Arrow scanner", scanner.projected_schema, stream, scanner.to_table)


def _guarded(title: str, step: Callable[[], Any]) -> Any:
    """Run a step of a library; its errors become ours."""
    try:
        return step()
    except (MnlearnError, MemoryError):
        raise
    except Exception as error:
        reason = (next(iter(str(error).splitlines()), "") or type(error).__name__).rstrip(".")
        kind = FileError if isinstance(error, OSError) else DataError
        raise kind(
            f"source must be {title} that can be read; {reason}. Correct the query, or check or write its files again."
        ) from error
