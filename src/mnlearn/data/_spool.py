"""Chunks of columns kept in a file while they are read: memory holds the current ones only."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any

import numpy as np
from numpy.typing import NDArray


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
        self.has_zeros = False  # of codes: whether a value is missing

    def append(self, chunk: NDArray[Any]) -> None:
        """Keep a chunk."""
        self.has_zeros = self.has_zeros or not chunk.all()
        self._kept.append((self._spool.write(chunk), chunk.dtype, len(chunk)))

    def __getitem__(self, k: int) -> NDArray[Any]:
        """The k-th chunk."""
        return self._spool.read(*self._kept[k])

    def together(self, places: range) -> NDArray[np.uint8] | None:
        """Some chunks one after the other, if all are of single bytes."""
        kept = [self._kept[k] for k in places]
        if any(kind != np.uint8 for _, kind, _ in kept):
            return None
        whole, end = np.empty(sum(length for _, _, length in kept), dtype=np.uint8), 0
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
