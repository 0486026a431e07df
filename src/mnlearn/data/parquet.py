"""Parquet files. Imported on first use: it needs pyarrow."""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq

from mnlearn.data._checks import DataFile
from mnlearn.data.coding import categorical, code_batch, read_columns, sort_labels
from mnlearn.data.columns import BATCH_ROWS, ReadColumn
from mnlearn.data.options import ColumnOptions, ColumnSelection
from mnlearn.data.text_errors import failed_system
from mnlearn.data.typed import is_text, whole_column
from mnlearn.errors import FileError, MnlearnError, unreadable

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
