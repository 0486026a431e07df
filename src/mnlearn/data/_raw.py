"""Columns as they were read, before anything is decided about what is missing."""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray


class Chunks(Protocol):
    """Where a column keeps its values while it is read: a list, or a file for what does not fit into memory."""

    def append(self, chunk: NDArray[Any], /) -> None: ...
    def pop(self) -> NDArray[Any]: ...
    def clear(self) -> None: ...
    def __len__(self) -> int: ...
    def __iter__(self) -> Iterator[NDArray[Any]]: ...


@dataclass
class RawColumn:
    """One column: 0 where missing and k + 1 for the k-th level; or float64 with NaN where missing."""

    name: str
    values: NDArray[np.generic]
    levels: tuple[Hashable, ...] | None
    declared: bool = False  # the levels stay even when no row has them
    doubts: tuple[str, ...] = ()  # texts taken as missing that the caller should confirm

    @property
    def numbers(self) -> NDArray[np.float64]:
        """The values of a continuous column."""
        return self.values.astype(np.float64, copy=False)

    def missing(self) -> NDArray[np.bool_]:
        """Where a value is missing."""
        return np.isnan(self.numbers) if self.levels is None else np.asarray(self.values == 0)


@dataclass
class RawTable:
    """The variables, the repeats beside them, and what to call the source in a message."""

    columns: list[RawColumn]
    repeats: RawColumn | None
    n_rows: int
    source: str
