"""Writing a packed file: blocks of rows in, one file out, under its name only when it is complete."""

from __future__ import annotations

import json
import os
import zlib
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from mnlearn.data import _checks
from mnlearn.data._labels import as_json
from mnlearn.data._planes import LANES, group_words, plane_layout
from mnlearn.data.dataset import MissingReport
from mnlearn.data.packfile import ALIGNMENT, PREAMBLE_BYTES, preamble
from mnlearn.errors import FileError
from mnlearn.parallel import run
from mnlearn.writing import replacing

Block: TypeAlias = list[NDArray[Any]]  # the same rows of every variable, and their repeats after them if there are some
WORD = 64  # rows in one word of a plane


@dataclass(frozen=True)
class Variable:
    """A column of the file to be."""

    name: str
    levels: tuple[Hashable, ...] | None
    declared: bool = False

    @property
    def card(self) -> int:
        """Number of states, 0 if it is continuous."""
        return 0 if self.levels is None else len(self.levels)

    @property
    def type(self) -> Any:
        """The type of its values."""
        return np.float64 if self.levels is None else _checks.code_type(self.card)


@dataclass(frozen=True)
class Contents:
    """What is to be written."""

    variables: Sequence[Variable]
    n_records: int
    has_repeats: bool
    missing: MissingReport
    cuts: Mapping[str, NDArray[np.float64]]
    blocks: Iterable[Block]


class _Stretch:
    """A part of the file that grows from its start, and the checksum so far."""

    def __init__(self, handle: int, start: int, length: int) -> None:
        self._handle, self.start, self.length = handle, start, length
        self._at, self.checksum = start, 0

    def write(self, values: NDArray[Any]) -> None:
        data = np.ascontiguousarray(values).data.cast("B")
        self.checksum = zlib.crc32(data, self.checksum)
        while data:
            written = os.pwrite(self._handle, data, self._at)
            data, self._at = data[written:], self._at + written

    @property
    def is_full(self) -> bool:
        return self._at == self.start + self.length


class _Layout(NamedTuple):
    """The parts of a file of so many rows."""

    columns: list[_Stretch]
    planes: list[_Stretch]  # one for each group of eight, one after the other
    end: int


def write_pack(path: Path, contents: Contents) -> None:
    """Write a file, or nothing: under another name, to the disk, and only then under its own."""
    try:
        with replacing(path) as part:
            handle = os.open(part, os.O_RDWR | os.O_CREAT | os.O_TRUNC, 0o666)
            try:
                _write(handle, contents)
                os.fsync(handle)
            finally:
                os.close(handle)
    except OSError as error:
        raise FileError(f"out must be a file that can be written; {path}: {error.strerror or error}.") from error
    _sync_folder(path.parent)


def _write(handle: int, contents: Contents) -> None:
    cards = [variable.card for variable in contents.variables]
    planes = plane_layout([] if contents.has_repeats else cards)
    layout = _laid_out(handle, contents, planes.n_groups)
    totals = np.zeros(planes.n_groups * LANES, dtype=np.int64)
    for block in whole_words(contents.blocks):

        def write_column(k: int, block: Block = block) -> None:
            layout.columns[k].write(block[k])

        def write_group(group: int, block: Block = block) -> None:
            words, rows = group_words(planes, cards, block, group)
            layout.planes[group].write(words)
            totals[group * LANES : (group + 1) * LANES] += rows

        for _ in run(write_column, range(len(layout.columns))):
            pass
        for _ in run(write_group, range(planes.n_groups)):
            pass
    stretches = [*layout.columns, *layout.planes]
    if not all(stretch.is_full for stretch in stretches):
        raise RuntimeError("the blocks of a pack hold another number of rows than was announced")
    text = _description(contents, layout, totals[: planes.n_planes].tolist())
    os.pwrite(handle, text, layout.end)
    os.pwrite(handle, preamble(layout.end, text), 0)


def _laid_out(handle: int, contents: Contents, n_groups: int) -> _Layout:
    """Give every part its place."""
    kinds = [variable.type for variable in contents.variables] + [np.int64] * contents.has_repeats
    columns, end = [], _aligned(PREAMBLE_BYTES)
    for kind in kinds:
        length = contents.n_records * np.dtype(kind).itemsize
        columns.append(_Stretch(handle, end, length))
        end = _aligned(end + length)
    length = -(-contents.n_records // WORD) * 8 * LANES
    planes = [_Stretch(handle, end + group * length, length) for group in range(n_groups)]
    return _Layout(columns, planes, end + n_groups * length)


def _description(contents: Contents, layout: _Layout, totals: list[int]) -> bytes:
    parts = {f"column {k}": stretch for k, stretch in enumerate(layout.columns)}
    if contents.has_repeats:
        parts["repeats"] = parts.pop(f"column {len(layout.columns) - 1}")
    sections = {name: [part.start, part.length, part.checksum] for name, part in parts.items()}
    sections |= {f"planes {g}": [part.start, part.length, part.checksum] for g, part in enumerate(layout.planes)}
    missing = contents.missing
    described = {
        "n_records": contents.n_records,
        "variables": [
            {"name": v.name, "levels": v.levels and [as_json(label) for label in v.levels], "declared": v.declared}
            for v in contents.variables
        ],
        "missing": {"policy": missing.policy, "counts": dict(missing.counts), "rows_dropped": missing.rows_dropped},
        "cuts": {name: list(map(float, cuts)) for name, cuts in contents.cuts.items()},
        "plane_totals": totals,
        "sections": sections,
    }
    return json.dumps(described, ensure_ascii=False, allow_nan=True).encode()


def whole_words(blocks: Iterable[Block]) -> Iterator[Block]:
    """The same rows in blocks of whole words of 64; only the last may be shorter."""
    left: Block | None = None
    for block in blocks:
        joined = block if left is None else [np.concatenate(pair) for pair in zip(left, block, strict=True)]
        whole = len(joined[0]) // WORD * WORD
        if whole:
            yield [column[:whole] for column in joined]
        left = [column[whole:] for column in joined] if whole < len(joined[0]) else None
    if left is not None:
        yield left


def _aligned(place: int) -> int:
    return -(-place // ALIGNMENT) * ALIGNMENT


def _sync_folder(folder: Path) -> None:
    """Make sure that the new name is on the disk, where folders can be opened."""
    with suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
