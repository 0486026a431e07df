"""Parquet files, a batch of rows at a time. Imported on first use: it needs pyarrow."""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq

from mnlearn.data import _coding
from mnlearn.data._files import DataFile
from mnlearn.data._frames import collect
from mnlearn.data._raw import RawTable
from mnlearn.data._request import Plan, Request
from mnlearn.data._typed import is_text
from mnlearn.errors import FileError, MnlearnError


def load(file: DataFile, request: Request) -> RawTable:
    """Read the columns that are asked for."""
    with opened(file) as parquet:
        plan = request.plan(parquet.schema.names)
        return collect(plan, parquet.schema, parquet.batches(plan), str(file.path))


class Opened(NamedTuple):
    """A file that was found to be sound."""

    content: Any
    parquet: Any

    @property
    def schema(self) -> Any:
        """Names and types of its columns."""
        return self.parquet.schema_arrow

    def batches(self, plan: Plan) -> Iterator[Any]:
        """The columns of a plan, some rows at a time.

        Texts come as places in a list of those that occur, as the file mostly keeps them: making every text takes seven
        times as long as all the rest of reading.
        """
        names, types = self.schema.names, self.schema.types
        wanted = [names[place.position] for place in plan.places]
        texts = [
            names[place.position]
            for place in plan.places
            if is_text(types[place.position]) and place.wish.type != "continuous"
        ]
        with pq.ParquetFile(self.content, metadata=self.parquet.metadata, read_dictionary=texts) as source:
            yield from source.iter_batches(batch_size=_coding.BATCH_ROWS, columns=wanted)


@contextmanager
def opened(file: DataFile) -> Iterator[Opened]:
    """The file, opened; what goes wrong with it inside is said in our words."""
    try:
        content = _content(file)
        with pq.ParquetFile(content) as parquet:
            yield Opened(content, parquet)
    except MnlearnError:
        raise
    except (pa.ArrowException, OSError, EOFError, zlib.error) as error:
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise FileError(
            f"path must be a sound Parquet file; {file.path} is damaged, cut short or of another format ({reason}). "
            "Write or copy it again."
        ) from error


def _content(file: DataFile) -> object:
    """What Arrow opens: the path itself, or the unpacked bytes, since Parquet is read from its end."""
    if not file.gzipped:
        return file.path
    with gzip.open(file.path, "rb") as packed:
        return pa.BufferReader(packed.read())
