"""Parquet files, a batch of rows at a time. Imported on first use: it needs pyarrow."""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from mnlearn.data import _coding
from mnlearn.data._files import DataFile
from mnlearn.data._frames import collect
from mnlearn.data._raw import RawTable
from mnlearn.data._request import Plan, Request
from mnlearn.errors import FileError, MnlearnError


def load(file: DataFile, request: Request) -> RawTable:
    """Read the columns that are asked for."""
    with opened(file) as parquet:
        plan = request.plan(parquet.schema_arrow.names)
        return collect(plan, parquet.schema_arrow, batches_of(parquet, plan), str(file.path))


@contextmanager
def opened(file: DataFile) -> Iterator[Any]:
    """The file, opened; what goes wrong with it inside is said in our words."""
    try:
        with pq.ParquetFile(_content(file)) as parquet:
            yield parquet
    except MnlearnError:
        raise
    except (pa.ArrowException, OSError, EOFError, zlib.error) as error:
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise FileError(
            f"path must be a sound Parquet file; {file.path} is damaged, cut short or of another format ({reason}). "
            "Write or copy it again."
        ) from error


def batches_of(parquet: Any, plan: Plan) -> Iterator[Any]:
    """The columns of a plan, some rows at a time."""
    names = parquet.schema_arrow.names
    wanted = [names[place.position] for place in plan.places]
    return parquet.iter_batches(batch_size=_coding.BATCH_ROWS, columns=wanted)  # type: ignore[no-any-return]


def _content(file: DataFile) -> object:
    """What Arrow opens: the path itself, or the unpacked bytes, since Parquet is read from its end."""
    if not file.gzipped:
        return file.path
    with gzip.open(file.path, "rb") as packed:
        return pa.BufferReader(packed.read())
