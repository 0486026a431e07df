"""Parquet files. Imported on first use: it needs pyarrow.

Tables that a library reads or computes piece by piece, so that they need not fit into memory.

These are datasets and scanners of Arrow, lazy frames of polars and relations of DuckDB. Imported on first use: it needs
pyarrow.
"""

from __future__ import annotations

import gzip
import logging
import sys
import zlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
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


_log = logging.getLogger("mnlearn.data")


class LazyTable(NamedTuple):
    """A table in batches: its name in messages, its Arrow schema, and how to read it."""

    title: str
    schema: Any
    stream: Callable[[Sequence[str], int], Iterator[Any]]
    collect: Callable[[], Any]
    ordered: Callable[[int], bool | None] | None = None  # as for `settled_table`, unless the schema says it

    def batches(self, names: Sequence[str], rows: int) -> Iterator[Any]:
        """Yield the named columns in batches of about that many rows; an error of the source becomes one of ours."""
        source = _guarded(self.title, lambda: self.stream(names, rows))
        while (batch := _guarded(self.title, lambda: next(source, None))) is not None:
            yield batch

    def whole(self) -> Any:
        """Return the table in memory."""
        return _guarded(self.title, self.collect)


def lazy_table(source: Any) -> LazyTable | None:
    """Return a table in batches if the source is one; libraries that are not in use are not imported."""
    if type(source).__module__.startswith("narwhals"):
        import narwhals as nw

        source = nw.to_native(source, pass_through=True)
    for module, names, wrap in _KINDS:
        library = sys.modules.get(module)
        kinds = tuple(getattr(library, name) for name in names if hasattr(library, name))
        if isinstance(source, kinds):
            found: LazyTable = _guarded(f"a {type(source).__name__}", partial(wrap, source))
            return found
    return None


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


def _of_relation(relation: Any) -> LazyTable:
    """Return a relation of DuckDB as a table in batches."""

    def stream(names: Sequence[str], rows: int) -> Iterator[Any]:
        quoted = ('"' + name.replace('"', '""') + '"' for name in names)
        return iter(reader(relation.project(", ".join(quoted)), rows))

    def reader(chosen: Any, rows: int) -> Any:
        newer = hasattr(chosen, "to_arrow_reader")
        return chosen.to_arrow_reader(rows) if newer else chosen.fetch_record_batch(rows)

    schema = reader(relation.limit(0), 1).schema
    return LazyTable("a DuckDB relation", schema, stream, lambda: reader(relation, 1 << 16).read_all())


def _of_lazy_frame(frame: Any) -> LazyTable:
    """Return a lazy frame of polars as a table in batches; a Categorical, which has no order, becomes strings."""
    import polars as pl

    schema = frame.collect_schema()
    texts = [name for name, dtype in schema.items() if isinstance(dtype, pl.Categorical)]
    plain = pl.DataFrame(schema={**schema, **dict.fromkeys(texts, pl.String)}).to_arrow().schema
    enums = [isinstance(dtype, pl.Enum) for dtype in schema.values()]

    def stream(names: Sequence[str], rows: int) -> Iterator[Any]:
        query = frame.select(pl.col(name).cast(pl.String) if name in texts else pl.col(name) for name in names)
        pieces = (
            query.collect_batches(chunk_size=rows, maintain_order=True)
            if hasattr(query, "collect_batches")
            else _through_a_file(query, rows)
        )
        return (batch for piece in pieces for batch in piece.to_arrow().to_batches())

    return LazyTable("a LazyFrame", plain, stream, frame.collect, lambda j: False if enums[j] else None)


def _through_a_file(query: Any, rows: int) -> Iterator[Any]:
    """Yield a query of an older polars piece by piece: it is computed once, into a temporary file."""
    import polars as pl

    with TemporaryDirectory() as folder:
        file = Path(folder) / "rows.parquet"
        try:
            query.sink_parquet(file, compression="lz4", row_group_size=rows)
        except pl.exceptions.InvalidOperationError:
            _log.info("this polars cannot stream the query, so all its rows are in memory; a newer polars may")
            yield query.collect()
            return
        kinds = dict(query.collect_schema())  # the file has no Enum
        start = 0
        while len(piece := pl.scan_parquet(file).slice(start, rows).collect()):
            yield piece.cast(kinds)
            start += len(piece)


def _of_dataset_or_scanner(source: Any) -> LazyTable:
    return _of_scanner(source) if hasattr(source, "projected_schema") else _of_dataset(source)


_KINDS: tuple[tuple[str, tuple[str, ...], Callable[[Any], LazyTable]], ...] = (
    ("pyarrow.dataset", ("Dataset", "Scanner"), _of_dataset_or_scanner),
    ("polars", ("LazyFrame",), _of_lazy_frame),
    ("duckdb", ("DuckDBPyRelation",), _of_relation),
)
"""Modules that may be in use, their classes, and what makes a table in batches of each."""


def _guarded(title: str, step: Callable[[], Any]) -> Any:
    """Run a step of a library; its errors become ours."""
    try:
        return step()
    except OSError as error:
        raise FileError(
            f"source must be {title} whose files can be read; {_first_line(error)}. Check or write its files again."
        ) from error
    except (pa.ArrowException, *_errors_of_libraries()) as error:
        raise DataError(
            f"source must be {title} that can be computed; {_first_line(error)}. Correct the query or its files."
        ) from error


def _errors_of_libraries() -> list[type[Exception]]:
    """Return the base classes of the errors of the libraries in use."""
    found = []
    with suppress(KeyError, AttributeError):
        found.append(sys.modules["polars"].exceptions.PolarsError)
    with suppress(KeyError, AttributeError):
        found.append(sys.modules["duckdb"].Error)
    return found


def _first_line(error: Exception) -> str:
    return next(iter(str(error).splitlines()), "") or type(error).__name__
