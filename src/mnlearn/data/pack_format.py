"""Format of the packed file: codes and bit-planes as the core counts them, mapped into memory.

    preamble     64 bytes: a mark, the version, where the description is, how long the file is, checksums
    columns      the codes of one variable after the other (or float64), each at a multiple of 4,096 bytes
    repeats      int64, if rows have some
    planes       uint64, see `PlaneLayout`; none where rows have repeats
    description  JSON: names, levels, missing values, position and checksum of each part

All numbers are little-endian. The description is written last and the file gets its name only when it is complete, so
a file under this name is complete. Files of version k are read by every later version of the library.
"""

from __future__ import annotations

import datetime as dt
import hashlib
import json
import mmap
import struct
import sys
import zlib
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple
from uuid import UUID

import numpy as np
from numpy.typing import NDArray

from mnlearn._core import add_planes
from mnlearn.data import _checks
from mnlearn.data.dataset import Dataset, MissingReport
from mnlearn.errors import DataError, FileError
from mnlearn.parallel import run

MARK = b"\x89MNPACK\n"
VERSION = 1
SUFFIX = ".mnpack"
ALIGNMENT = 4096
PREAMBLE = struct.Struct("<8sIIQQQI")  # mark, version, length of this, description: start, length; file size, checksum
PREAMBLE_BYTES = 64
AT_ONCE = 1 << 24  # bytes; smaller files are verified when they are opened, larger ones before they are counted
_CHECK_BYTES = 1 << 22


class Section(NamedTuple):
    """A part of the file: its start, length and checksum (CRC-32)."""

    start: int
    length: int
    checksum: int


@dataclass(eq=False)
class Pack:
    """A packed file, mapped into memory.

    Attributes
    ----------
    path
        The file.
    fingerprint
        Digest of the description, which has the checksums of all parts: equal files have equal fingerprints.
    columns
        The variables in the order of the file.
    planes
        Bit-planes of all variables, or None.
    plane_totals
        The number of rows of each plane.
    declared
        For each variable, whether its levels were declared rather than found.
    """

    path: Path
    fingerprint: str
    columns: tuple[NDArray[Any], ...] = ()
    planes: NDArray[np.uint64] | None = None
    plane_totals: NDArray[np.uint32] | None = None
    declared: tuple[bool, ...] = ()
    _sections: dict[str, Section] = field(default_factory=dict)
    _verified: bool = False

    def verify(self) -> None:
        """Read the whole file and compare checksums, only once; raise FileError if one differs."""
        if self._verified:
            return
        with self.path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content:
            found = run(lambda part: _checksum(content, part), self._sections.values())
            wrong = [name for name, sum_ in zip(self._sections, found, strict=True) if sum_ != self._sections[name][2]]
        if wrong:
            raise FileError(
                f"path must be an intact pack; {self.path} was altered or damaged in {wrong[0]}"
                + (f" and {len(wrong) - 1} more parts" if len(wrong) > 1 else "")
                + ". Copy it again, or pack the data again."
            )
        self._verified = True

    def holds(self, columns: Sequence[NDArray[Any]]) -> bool:
        """Return whether each of these columns is a whole column of the file."""
        mine = {column.__array_interface__["data"][0]: column for column in self.columns}
        return all(
            _same_memory(column, mine.get(column.__array_interface__["data"][0], np.empty(0))) for column in columns
        )

    def planes_of(self, columns: Sequence[NDArray[Any]]) -> NDArray[np.uint64] | None:
        """Return the bit-planes if these are all columns of the file, in its order; otherwise None."""
        same = len(columns) == len(self.columns) and all(map(_same_memory, columns, self.columns))
        return self.planes if same else None


def open_pack(path: Path) -> Dataset:
    """Map a packed file into memory."""
    described, fingerprint = _description(path)
    try:
        return _mapped(path, described, fingerprint)
    except (KeyError, TypeError, ValueError, IndexError) as error:
        if isinstance(error, FileError):
            raise
        raise FileError(
            f"path must be an intact pack; the description in {path} does not fit its contents ({error}). "
            "Pack the data again."
        ) from error


def _description(path: Path) -> tuple[dict[str, Any], str]:
    """Return the description of a file and its digest, after checking that the file is complete."""
    if sys.byteorder != "little":
        raise FileError(f"packs need a little-endian machine; this one is not. Read the source of {path} instead.")
    try:
        size = path.stat().st_size
        with path.open("rb") as file:
            start, length, checksum = _preamble(path, file.read(PREAMBLE_BYTES), size)
            file.seek(start)
            text = file.read(length)
    except OSError as error:
        raise FileError(f"path must be a file that can be opened; {path}: {error.strerror or error}.") from error
    if zlib.crc32(text) != checksum:
        raise _damaged(path, "its description was altered")
    return json.loads(text), hashlib.sha256(text).hexdigest()[:32]


def _preamble(path: Path, head: bytes, size: int) -> tuple[int, int, int]:
    """Return the start, length and checksum of the description."""
    if not head.startswith(MARK):
        what = "is empty" if not head else "has other first bytes"
        raise FileError(f"path must be a pack, written by mnlearn pack; {path} {what}. Pack the data again.")
    if len(head) < PREAMBLE_BYTES:
        raise _damaged(path, "it is cut short")
    _, version, _, start, length, whole, checksum = PREAMBLE.unpack_from(head)
    if version > VERSION:
        raise FileError(
            f"path must be a pack of version {VERSION} or older; {path} has version {version}. Update mnlearn."
        )
    if zlib.crc32(head[: PREAMBLE_BYTES - 4]) != int.from_bytes(head[-4:], "little"):
        raise _damaged(path, "its first bytes were altered")
    if size < whole:
        raise _damaged(path, f"it is cut short: {size:,} of {whole:,} bytes are there")
    if size > whole:
        raise _damaged(path, f"{size - whole:,} bytes were added to it")
    return start, length, checksum


def preamble(start: int, text: bytes) -> bytes:
    """Return the first bytes of a file whose description starts at `start`."""
    head = PREAMBLE.pack(MARK, VERSION, PREAMBLE_BYTES, start, len(text), start + len(text), zlib.crc32(text))
    head = head.ljust(PREAMBLE_BYTES - 4, b"\0")
    return head + zlib.crc32(head).to_bytes(4, "little")


def _mapped(path: Path, described: dict[str, Any], fingerprint: str) -> Dataset:
    """Return the data set whose columns are in the file."""
    n_records, variables = described["n_records"], described["variables"]
    with path.open("rb") as file:
        content = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    sections = {name: Section(*part) for name, part in described["sections"].items()}
    cards = tuple(0 if v["levels"] is None else len(v["levels"]) for v in variables)
    columns = tuple(
        _array(content, sections[f"column {k}"], np.float64 if card == 0 else _checks.code_type(card), n_records)
        for k, card in enumerate(cards)
    )
    repeats = _array(content, sections["repeats"], np.int64, n_records) if "repeats" in sections else None
    pack = Pack(path, fingerprint, columns, declared=tuple(v["declared"] for v in variables), _sections=sections)
    if "planes 0" in sections:  # the groups follow each other
        n_groups = plane_layout(cards).n_groups
        groups = [sections[f"planes {group}"] for group in range(n_groups)]
        together = Section(groups[0].start, sum(group.length for group in groups), 0)
        pack.planes = _array(content, together, np.uint64, n_groups * 8 * -(-n_records // 64))
        pack.plane_totals = np.array(described["plane_totals"], dtype=np.uint32)
    if len(content) <= AT_ONCE:
        pack.verify()
    missing = described["missing"]
    return Dataset.trusted(
        names=tuple(v["name"] for v in variables),
        cards=cards,
        columns=columns,
        levels=tuple(_levels(v["levels"]) for v in variables),
        repeats=repeats,
        missing=MissingReport(missing["policy"], MappingProxyType(missing["counts"]), missing["rows_dropped"]),
        cuts=MappingProxyType({name: np.array(cuts) for name, cuts in described["cuts"].items()}),
        pack=pack,
        declared=frozenset(v["name"] for v in variables if v["declared"]),
        unused=MappingProxyType({}),
    )


def reopen(path: Path, fingerprint: str, names: Sequence[str]) -> Dataset:
    """Open a file again in another process, or some of its columns."""
    data = open_pack(path)
    if data.pack is None or data.pack.fingerprint != fingerprint:
        raise FileError(
            f"path must be the file that was pickled; {path} was replaced since. Open it again: mnlearn.read(...)."
        )
    return data if tuple(names) == data.names else data.select(names)


def _levels(written: Iterable[Any] | None) -> tuple[Hashable, ...] | None:
    return None if written is None else tuple(from_json(label) for label in written)


def _array(content: mmap.mmap, section: Section, kind: Any, length: int) -> NDArray[Any]:
    """Return a part of the file as a read-only array."""
    if section.length != length * np.dtype(kind).itemsize:
        raise ValueError(f"a part has {section.length} bytes where {length} values were expected")
    return np.frombuffer(content, kind, length, section.start)


def _same_memory(one: NDArray[Any], other: NDArray[Any]) -> bool:
    here, there = one.__array_interface__["data"][0], other.__array_interface__["data"][0]
    return bool(here == there and one.shape == other.shape and one.dtype == other.dtype)


def _checksum(content: mmap.mmap, section: Section) -> int:
    """Return the CRC-32 of a part, read in pieces so that other threads can run."""
    view, checksum = memoryview(content), 0
    for start in range(section.start, section.start + section.length, _CHECK_BYTES):
        end = min(start + _CHECK_BYTES, section.start + section.length)
        checksum = zlib.crc32(view[start:end], checksum)
    view.release()
    return checksum


def _damaged(path: Path, why: str) -> FileError:
    return FileError(f"path must be an intact pack; {path} is damaged: {why}. Copy it again, or pack the data again.")


# Bit-planes in the order in which the native core counts them.
#
# A variable of r states has r − 1 planes, one for each state but the last; bit i of a plane says whether row i has the
# state. Eight planes lie side by side, word by word: word w of plane p is at `((p // 8) * n_words + w) * 8 + p % 8`.


MAX_PLANE_CARD = 9  # above it, planes would take more memory than the codes
LANES = 8
BLOCK = 512  # no variable's planes cross a multiple of this
NO_PLANE = 2**32 - 1


class PlaneLayout(NamedTuple):
    """The planes of each variable."""

    first: tuple[int, ...]  # per variable its first plane, or NO_PLANE
    n_planes: int

    @property
    def n_groups(self) -> int:
        """Number of groups of eight planes."""
        return -(-self.n_planes // LANES)


def plane_layout(cards: Sequence[int]) -> PlaneLayout:
    """Number the planes of all variables that have planes."""
    first, n_planes = [], 0
    for card in cards:
        if not 2 <= card <= MAX_PLANE_CARD:
            first.append(NO_PLANE)
            continue
        if n_planes % BLOCK + card - 1 > BLOCK:
            n_planes = (n_planes // BLOCK + 1) * BLOCK
        first.append(n_planes)
        n_planes += card - 1
    return PlaneLayout(tuple(first), n_planes)


def group_words(
    layout: PlaneLayout, cards: Sequence[int], columns: Sequence[NDArray[Any]], group: int
) -> tuple[NDArray[np.uint64], NDArray[np.int64]]:
    """Return the words of eight planes for a block of rows, word by word, and the number of rows in each plane."""
    n_words = -(-len(columns[0]) // 64)
    words = np.zeros((n_words, LANES), dtype=np.uint64)
    totals = np.zeros(LANES, dtype=np.int64)
    for variable, first in enumerate(layout.first):
        if first == NO_PLANE:
            continue
        begin, end = max(0, group * LANES - first), min(cards[variable] - 1, (group + 1) * LANES - first)
        if begin < end:
            codes = np.ascontiguousarray(columns[variable], dtype=np.uint8)
            add_planes(codes, begin, end - begin, words.reshape(-1), first + begin - group * LANES, totals)
    return words, totals


# Labels of states as JSON and back, with their types. A subclass comes before its parent: a datetime is a date too.
_WRITERS: tuple[tuple[type, str, Callable[[Any], object]], ...] = (
    (dt.datetime, "datetime", lambda label: label.isoformat()),
    (dt.date, "date", lambda label: label.isoformat()),
    (dt.time, "time", lambda label: label.isoformat()),
    (dt.timedelta, "timedelta", lambda label: [label.days, label.seconds, label.microseconds]),
    (Decimal, "decimal", str),
    (UUID, "uuid", str),
    (bytes, "bytes", lambda label: label.hex()),
    (tuple, "tuple", lambda label: [as_json(part) for part in label]),
)
_READERS: Mapping[str, Callable[[Any], Hashable]] = {
    "datetime": dt.datetime.fromisoformat,
    "date": dt.date.fromisoformat,
    "time": dt.time.fromisoformat,
    "timedelta": lambda parts: dt.timedelta(*parts),
    "decimal": Decimal,
    "uuid": UUID,
    "bytes": bytes.fromhex,
    "tuple": lambda parts: tuple(from_json(part) for part in parts),
}


def as_json(label: Hashable) -> object:
    """Return a label for JSON; a type that JSON lacks becomes an object with one entry, the type."""
    if label is None or type(label) in (bool, int, float, str):
        return label
    for kind, name, write in _WRITERS:
        if isinstance(label, kind):
            return {name: write(label)}
    plain = getattr(label, "item", None)  # NumPy scalars
    if callable(plain):
        return as_json(plain())
    raise DataError(
        f"labels must be strings, numbers, booleans, dates, times or bytes to be written to a file; got {label!r}. "
        "Turn them into strings first."
    )


def from_json(value: Any) -> Hashable:
    """Return the label that `as_json` wrote."""
    if not isinstance(value, dict):
        return value  # type: ignore[no-any-return]
    ((kind, written),) = value.items()
    return _READERS[kind](written)
