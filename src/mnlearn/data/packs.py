"""Format of the packed file: codes and bit-planes as the core counts them, mapped into memory.

    preamble     64 bytes: a mark, the version, where the description is, how long the file is, checksums
    columns      the codes of one variable after the other (or float64), each at a multiple of 4,096 bytes
    repeats      int64, if rows have some
    planes       uint64, see `PlaneLayout`; none where rows have repeats
    description  JSON: names, levels, missing values, position and checksum of each part

All numbers are little-endian. The description is written last and the file gets its name only when it is complete, so
a file under this name is complete. Files of version k are read by every later version of the library. Version 2 has
kinds of variables, and gaps: the code after the last level, or NaN. Files without these are written as version 1.

Description of a packed file: names, levels and positions as JSON, checked in full before anything relies on it.

A crafted file has right checksums. So checksums find damage, and these rules find everything else.
"""

from __future__ import annotations

import datetime as dt
import hashlib
import json
import mmap
import struct
import sys
import zlib
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal, InvalidOperation
from itertools import pairwise
from math import isnan
from pathlib import Path
from types import MappingProxyType
from typing import Any, Literal, NamedTuple, get_args
from uuid import UUID

import numpy as np
from numpy.typing import NDArray

from mnlearn._core import add_planes
from mnlearn.data.dataset import MAX_TOTAL, Dataset, MissingReport, check_labels, check_names, code_type
from mnlearn.data.options import MissingPolicy
from mnlearn.errors import DataError, FileError
from mnlearn.parallel import run

_POLICIES = get_args(MissingPolicy)
_LARGEST = 2**62  # no position, length or count is larger


class Section(NamedTuple):
    """A part of the file: its start, length and checksum (CRC-32)."""

    start: int
    length: int
    checksum: int


class Description(NamedTuple):
    """Everything that the description says."""

    n_records: int
    names: tuple[str, ...]
    levels: tuple[tuple[Hashable, ...] | None, ...]
    declared: tuple[bool, ...]
    missing: MissingReport
    cuts: Mapping[str, NDArray[np.float64]]
    plane_totals: tuple[int, ...]
    sections: Mapping[str, Section]
    kinds: tuple[Literal["ordinal", "count"] | None, ...]  # None for nominal with levels, and continuous without
    gaps: tuple[bool, ...]
    reasons: Mapping[str, str]

    @property
    def cards(self) -> tuple[int, ...]:
        """Number of states of each variable, 0 if it is continuous."""
        return tuple(0 if labels is None else len(labels) for labels in self.levels)

    @property
    def types(self) -> tuple[type[np.generic], ...]:
        """The type of the values of each variable."""
        pairs = zip(self.cards, self.gaps, strict=True)
        return tuple(code_type(card + gaps) if card else np.float64 for card, gaps in pairs)


def parse_description(text: bytes) -> Description:
    """Return the description, or raise ValueError with the rule that it breaks."""
    try:
        document = json.loads(text.decode("utf-8"), object_pairs_hook=_object)
        return _description(document)
    except RecursionError:
        raise ValueError("it is nested too deeply") from None
    except KeyError as error:
        raise ValueError(f"it lacks {error}") from None
    except (TypeError, AttributeError, InvalidOperation, OverflowError) as error:
        raise ValueError(str(error) or type(error).__name__) from None


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return a JSON object, or raise ValueError if a key occurs twice."""
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("a key occurs twice")
    return found


def _description(document: dict[str, Any]) -> Description:
    variables = _listed("variables", document["variables"])
    names = tuple(_string("a name", variable["name"]) for variable in variables)
    check_names(names)
    if not names:
        raise ValueError("it has no variables")
    levels = tuple(_levels(name, v["levels"]) for name, v in zip(names, variables, strict=True))
    return Description(
        n_records=_whole("n_records", document["n_records"], least=1),
        names=names,
        levels=levels,
        declared=tuple(_flag(variable["declared"]) for variable in variables),
        missing=_missing(document["missing"]),
        cuts=_cuts(document["cuts"], names),
        plane_totals=tuple(_whole("a plane total", n) for n in _listed("plane_totals", document["plane_totals"])),
        sections={name: _section(name, part) for name, part in document["sections"].items()},
        kinds=tuple(_kind(variable, labels) for variable, labels in zip(variables, levels, strict=True)),
        gaps=tuple(_flag(variable.get("gaps", False)) for variable in variables),
        reasons={
            name: _string("a reason", v["reason"]) for name, v in zip(names, variables, strict=True) if "reason" in v
        },
    )


def _kind(written: dict[str, Any], levels: tuple[Hashable, ...] | None) -> Literal["ordinal", "count"] | None:
    """Return the kind of a variable, which fits its levels."""
    kind = written.get("kind")
    if kind not in ("ordinal", "count", None):
        raise ValueError(f"the kind of a variable is {str(kind)[:40]!r}")
    if kind is not None and (kind == "count") is (levels is not None):
        raise ValueError(f"a variable with {len(levels or ())} levels is of the kind {kind!r}")
    return kind


def _levels(name: str, written: Any) -> tuple[Hashable, ...] | None:
    """Return the labels of a variable, different and hashable; None for a continuous one."""
    if written is None:
        return None
    labels = tuple(from_json(label) for label in _listed("levels", written))
    if not labels:
        raise ValueError(f"levels of {name!r} are empty")
    check_labels(name, len(labels), labels)
    return labels


def _missing(written: dict[str, Any]) -> MissingReport:
    policy = written["policy"]
    if policy not in _POLICIES:
        raise ValueError(f"the policy for missing values is {policy!r}")
    counts = {_string("a name", name): _whole("a count", n) for name, n in written["counts"].items()}
    alone = {_string("a name", name): _whole("a count", n) for name, n in written.get("alone", {}).items()}
    dropped = _whole("rows_dropped", written["rows_dropped"])
    return MissingReport(policy, MappingProxyType(counts), dropped, MappingProxyType(alone))


def _cuts(written: dict[str, Any], names: Sequence[str]) -> Mapping[str, NDArray[np.float64]]:
    """Return the cut points of each variable, in ascending order."""
    for name, cuts in written.items():
        if name not in names:
            raise ValueError(f"there are cuts of {name!r}, which is not a variable")
        if not all(type(cut) in (int, float) for cut in _listed("cuts", cuts)) or any(a > b for a, b in pairwise(cuts)):
            raise ValueError(f"the cuts of {name!r} are not ascending numbers")
    found = {name: np.array(cuts, dtype=np.float64) for name, cuts in written.items()}
    if any(np.isnan(cuts).any() for cuts in found.values()):
        raise ValueError("a cut is NaN")
    return MappingProxyType(found)


def _section(name: str, part: Any) -> Section:
    if len(_listed("a section", part)) != 3:
        raise ValueError(f"section {name!r} is not a start, a length and a checksum")
    return Section(*(_whole(f"section {name!r}", number) for number in part))


def _whole(what: str, value: Any, *, least: int = 0) -> int:
    if type(value) is not int or not least <= value <= _LARGEST:
        raise ValueError(f"{what} must be a whole number of at least {least}; got {str(value)[:40]}")
    return value


def _flag(value: Any) -> bool:
    if type(value) is not bool:
        raise ValueError(f"declared and gaps must be true or false; got {str(value)[:40]}")
    return value


def _listed(what: str, value: Any) -> list[Any]:
    if not isinstance(value, list):
        raise TypeError(f"{what} must be a list; got {str(value)[:40]}")
    return value


def _string(what: str, value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError(f"{what} must be a string; got {str(value)[:40]}")
    value.encode()  # lone surrogates raise UnicodeEncodeError, a ValueError
    return value


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
    "tuple": lambda parts: tuple(from_json(part) for part in _listed("a tuple", parts)),
}


def as_json(label: Hashable) -> object:
    """Return a label for JSON; a type that JSON lacks becomes an object with one entry, the type."""
    if label is None or type(label) in (bool, int, float, str):
        return label
    for kind, name, write in _WRITERS:
        if isinstance(label, kind):
            return _kept(label, {name: write(label)})
    plain = getattr(label, "item", None)  # NumPy scalars
    if callable(plain):
        return _kept(label, as_json(plain()))
    raise DataError(
        f"labels must be strings, numbers, booleans, dates, times or bytes to be written to a file; got {label!r}. "
        "Turn them into strings first."
    )


def _kept(label: Hashable, written: object) -> object:
    """Return what is written for a label, or raise DataError if another label would be read."""
    if from_json(written) != label:
        raise DataError(
            f"labels must keep their value in a file, times in microseconds; got {label!r}. Round the labels, or turn "
            "them into strings first."
        )
    return written


def from_json(value: Any) -> Hashable:
    """Return the label that `as_json` wrote, or raise ValueError, TypeError or KeyError."""
    if isinstance(value, dict):
        ((kind, written),) = value.items()
        label = _READERS[kind](written)
        hash(label)  # a signalling NaN of decimal has none
        return label
    if isinstance(value, str):
        return _string("a label", value)
    if value is not None and type(value) not in (bool, int, float):
        raise ValueError(f"a label must be a string or a number; got {str(value)[:40]}")
    if isinstance(value, float) and isnan(value):
        raise ValueError("a label is NaN")
    return value  # type: ignore[no-any-return]


MARK = b"\x89MNPACK\n"
VERSION = 2
SUFFIX = ".mnpack"
ALIGNMENT = 4096
PREAMBLE = struct.Struct("<8sIIQQQI")  # mark, version, length of this, description: start, length; file size, checksum
PREAMBLE_BYTES = 64
AT_ONCE = 1 << 24  # bytes; smaller files are verified when they are opened, larger ones before they are counted
_CHECK_BYTES = 1 << 22


@dataclass(eq=False)
class Pack:
    """A packed file, mapped into memory.

    Attributes
    ----------
    path
        The file.
    fingerprint
        Digest of the description, which has the checksums of all parts: equal files have equal fingerprints.
    names, cards
        Names and numbers of states of the variables, in the order of the file.
    columns
        The variables in the order of the file.
    planes
        Bit-planes of all variables, or None.
    plane_totals
        The number of rows of each plane.
    declared
        For each variable, whether its levels were declared rather than found.
    counted, gaps
        For each variable, whether it holds counts, and whether values are missing.
    """

    path: Path
    fingerprint: str
    names: tuple[str, ...] = ()
    cards: tuple[int, ...] = ()
    columns: tuple[NDArray[Any], ...] = ()
    planes: NDArray[np.uint64] | None = None
    plane_totals: NDArray[np.uint32] | None = None
    declared: tuple[bool, ...] = ()
    counted: tuple[bool, ...] = ()
    gaps: tuple[bool, ...] = ()
    _sections: Mapping[str, Section] = field(default_factory=dict)
    _verified: bool = False

    def verify(self) -> None:
        """Read the whole file once; raise FileError if a checksum differs or a value breaks a rule of data sets."""
        if self._verified:
            return
        with self.path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content:
            if len(content) < max(part.start + part.length for part in self._sections.values()):
                raise _damaged(self.path, "it was cut short after it was opened")
            found = run(lambda name: self._check(content, name), self._sections)
            wrong = [(name, rule) for name, rule in zip(self._sections, found, strict=True) if rule]
        if wrong:
            (name, rule), more = wrong[0], len(wrong) - 1
            raise FileError(
                f"path must be an intact pack; {self.path} {rule} {name}"
                + (f" and {more} more parts" if more else "")
                + ". Copy it again, or pack the data again."
            )
        self._verified = True

    def _check(self, content: mmap.mmap, name: str) -> str | None:
        """Return what is wrong with a part, or None. Both checks look at a block while it is in cache."""
        section, checksum, sound, total = self._sections[name], 0, True, 0.0
        place = int(name.split()[1]) if name.startswith("column") else None
        for block in _blocks(content, section):
            checksum = zlib.crc32(block, checksum)
            if name == "repeats":
                repeats = np.frombuffer(block, np.int64)
                sound, total = sound and int(repeats.min()) >= 1, total + float(repeats.sum(dtype=np.float64))
            elif place is not None:
                sound = sound and self._is_sound(place, np.frombuffer(block, self.columns[place].dtype))
            block.release()
        if checksum != section.checksum:
            return "was altered or damaged in"
        return None if sound and total < MAX_TOTAL else "holds values that break a rule of data sets in"

    def _is_sound(self, place: int, values: NDArray[Any]) -> bool:
        """Return whether values of a variable are codes of its levels, finite numbers or counts; gaps where allowed."""
        if self.cards[place]:
            return int(values.max()) < self.cards[place] + self.gaps[place]
        known = values[~np.isnan(values)] if self.gaps[place] else values
        fit = np.isfinite(known)
        if self.counted[place]:
            fit &= (known >= 0) & (known == np.floor(known))
        return bool(fit.all())

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
    text, start = _text_of_description(path)
    try:
        described = parse_description(text)
        _check_sections(described, start)
        return _mapped(path, described, hashlib.sha256(text).hexdigest()[:32])
    except ValueError as error:
        if isinstance(error, FileError):
            raise
        raise FileError(
            f"path must be an intact pack; the description in {path} does not fit its contents ({error}). "
            "Pack the data again."
        ) from error


def _text_of_description(path: Path) -> tuple[bytes, int]:
    """Return the description of a file and where it starts, after checking that the file is complete."""
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
    return text, start


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
    if version < 1 or start < PREAMBLE_BYTES or start + length != whole:
        raise _damaged(path, "its first bytes do not fit its length")
    return start, length, checksum


def preamble(start: int, text: bytes, version: int = VERSION) -> bytes:
    """Return the first bytes of a file whose description starts at `start`."""
    head = PREAMBLE.pack(MARK, version, PREAMBLE_BYTES, start, len(text), start + len(text), zlib.crc32(text))
    head = head.ljust(PREAMBLE_BYTES - 4, b"\0")
    return head + zlib.crc32(head).to_bytes(4, "little")


def _check_sections(described: Description, end: int) -> None:
    """Raise ValueError unless the parts are those of the variables, each of its length, apart and within the file."""
    expected = _lengths(described)
    sections = described.sections
    if set(sections) != set(expected):
        raise ValueError(f"its parts are not those of its variables: {sorted(set(sections) ^ set(expected))[0]!r}")
    for name, part in sections.items():
        if part.length != expected[name]:
            raise ValueError(f"{name} has {part.length} bytes where {expected[name]} were expected")
        if part.start < PREAMBLE_BYTES or part.start + part.length > end:
            raise ValueError(f"{name} lies outside of the file")
        if part.start % (ALIGNMENT if not name.startswith("planes") or name == "planes 0" else 8 * LANES):
            raise ValueError(f"{name} does not start where it must")
    for (_, one), (name, other) in pairwise(sorted(sections.items(), key=lambda item: item[1].start)):
        if one.start + one.length > other.start:
            raise ValueError(f"{name} overlaps another part")


def _lengths(described: Description) -> dict[str, int]:
    """Return the length in bytes of every part that a file must have."""
    found = {f"column {k}": described.n_records * np.dtype(kind).itemsize for k, kind in enumerate(described.types)}
    if "repeats" in described.sections:
        return found | {"repeats": described.n_records * 8}
    layout = plane_layout(described.cards)
    if "planes 0" in described.sections and len(described.plane_totals) != layout.n_planes:
        raise ValueError(f"it has totals of {len(described.plane_totals)} planes; there are {layout.n_planes}")
    if max(described.plane_totals, default=0) > described.n_records:
        raise ValueError(f"a plane has {max(described.plane_totals)} of {described.n_records} rows")
    if "planes 0" in described.sections and any(described.gaps):
        raise ValueError("it has planes and gaps")
    n_groups = layout.n_groups if "planes 0" in described.sections else 0
    return found | {f"planes {g}": -(-described.n_records // 64) * 8 * LANES for g in range(n_groups)}


def _mapped(path: Path, described: Description, fingerprint: str) -> Dataset:
    """Return the data set whose columns are in the file."""
    cards, sections = described.cards, described.sections
    with path.open("rb") as file:
        content = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    columns = tuple(_array(content, sections[f"column {k}"], kind) for k, kind in enumerate(described.types))
    pack = Pack(path, fingerprint, described.names, cards, columns, declared=described.declared, _sections=sections)
    pack.counted, pack.gaps = tuple(kind == "count" for kind in described.kinds), described.gaps
    if "planes 0" in sections:
        pack.planes = _planes(content, sections)
        pack.plane_totals = np.array(described.plane_totals, dtype=np.uint32)
    if len(content) <= AT_ONCE:
        pack.verify()
    return Dataset.trusted(
        names=described.names,
        cards=cards,
        columns=columns,
        levels=described.levels,
        repeats=_array(content, sections["repeats"], np.int64) if "repeats" in sections else None,
        missing=described.missing,
        cuts=described.cuts,
        pack=pack,
        declared=_chosen(described.names, described.declared),
        unused=MappingProxyType({}),
        ordinal=_chosen(described.names, [kind == "ordinal" for kind in described.kinds]),
        counted=_chosen(described.names, pack.counted),
        gaps=_chosen(described.names, described.gaps),
        reasons=MappingProxyType(described.reasons),
        weighting=None,
    )


def _chosen(names: Sequence[str], flags: Sequence[bool]) -> frozenset[str]:
    """Return the names whose flag is set."""
    return frozenset(name for name, flag in zip(names, flags, strict=True) if flag)


def _planes(content: mmap.mmap, sections: Mapping[str, Section]) -> NDArray[np.uint64]:
    """Return the groups of planes, which follow each other, as one array."""
    groups = [sections[f"planes {group}"] for group in range(sum(name.startswith("planes") for name in sections))]
    if any(one.start + one.length != other.start for one, other in pairwise(groups)):
        raise ValueError("its planes do not follow each other")
    return _array(content, Section(groups[0].start, sum(group.length for group in groups), 0), np.uint64)


def reopen(path: Path, fingerprint: str, names: Sequence[str]) -> Dataset:
    """Open a file again in another process, or some of its columns."""
    data = open_pack(path)
    if data.pack is None or data.pack.fingerprint != fingerprint:
        raise FileError(
            f"path must be the file that was pickled; {path} was replaced since. Open it again: mnlearn.read(...)."
        )
    return data if tuple(names) == data.names else data.select(names)


def _array(content: mmap.mmap, section: Section, kind: Any) -> NDArray[Any]:
    """Return a part of the file as a read-only array."""
    return np.frombuffer(content, kind, section.length // np.dtype(kind).itemsize, section.start)


def _same_memory(one: NDArray[Any], other: NDArray[Any]) -> bool:
    here, there = one.__array_interface__["data"][0], other.__array_interface__["data"][0]
    return bool(here == there and one.shape == other.shape and one.dtype == other.dtype)


def _blocks(content: mmap.mmap, section: Section) -> Iterator[memoryview]:
    """Yield the bytes of a part in pieces, so that other threads can run."""
    end = section.start + section.length
    with memoryview(content) as view:
        for start in range(section.start, end, _CHECK_BYTES):
            yield view[start : min(start + _CHECK_BYTES, end)]


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
