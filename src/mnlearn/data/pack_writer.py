"""Write a packed file from blocks of rows, or append rows to one; it gets its name only when it is complete."""

from __future__ import annotations

import json
import os
import zlib
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from datetime import date, datetime
from decimal import Decimal
from itertools import chain
from pathlib import Path
from types import MappingProxyType
from typing import Any, Literal, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from mnlearn.data import _checks
from mnlearn.data._positions import write_at
from mnlearn.data.columns import order_key
from mnlearn.data.dataset import Dataset, MissingReport, check_not_weighted
from mnlearn.data.options import TableOptions
from mnlearn.data.pack_description import as_json
from mnlearn.data.packs import ALIGNMENT, LANES, PREAMBLE_BYTES, group_words, plane_layout, preamble
from mnlearn.errors import DataError, FileError, InputError
from mnlearn.files import only_user, replacing
from mnlearn.parallel import run

Block: TypeAlias = list[NDArray[Any]]  # some rows of every variable, followed by their repeats if there are any
WORD = 64  # rows in one word of a plane


@dataclass(frozen=True)
class Variable:
    """A column of the file."""

    name: str
    levels: tuple[Hashable, ...] | None
    declared: bool = False
    kind: Literal["ordinal", "count"] | None = None  # None for nominal with levels, and continuous without
    gaps: bool = False
    reason: str = ""

    @property
    def card(self) -> int:
        """Number of states, 0 if it is continuous."""
        return 0 if self.levels is None else len(self.levels)

    @property
    def type(self) -> Any:
        """The type of its values."""
        return np.float64 if self.levels is None else _checks.code_type(self.card + self.gaps)

    def described(self) -> dict[str, object]:
        """Return the entry in the description; kind, gaps and reason are left out where there are none."""
        labels = self.levels and [as_json(label) for label in self.levels]
        more = {"kind": self.kind, "gaps": self.gaps, "reason": self.reason}
        return {"name": self.name, "levels": labels, "declared": self.declared, **{k: v for k, v in more.items() if v}}


@dataclass(frozen=True)
class Contents:
    """Contents of the file to write."""

    variables: Sequence[Variable]
    n_records: int
    has_repeats: bool
    missing: MissingReport
    cuts: Mapping[str, NDArray[np.float64]]
    blocks: Iterable[Block]


class _Part:
    """A part of the file that is written from its start, and its checksum so far."""

    def __init__(self, handle: int, start: int, length: int) -> None:
        self._handle, self.start, self.length = handle, start, length
        self._at, self.checksum = start, 0

    def write(self, values: NDArray[Any]) -> None:
        data = np.ascontiguousarray(values).data.cast("B")
        self.checksum = zlib.crc32(data, self.checksum)
        write_at(self._handle, data, self._at)
        self._at += len(data)

    @property
    def is_full(self) -> bool:
        return self._at == self.start + self.length


class _Layout(NamedTuple):
    """The parts of a file."""

    columns: list[_Part]
    planes: list[_Part]  # one for each group of eight, one after the other
    end: int


def write_pack(path: Path, contents: Contents) -> None:
    """Write a complete file or none: under a temporary name, to the disk, then renamed."""
    try:
        with replacing(path) as part:
            handle = os.open(part, os.O_RDWR | os.O_CREAT | os.O_TRUNC | getattr(os, "O_BINARY", 0), 0o666)
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
    has_gaps = any(variable.gaps for variable in contents.variables)  # the last state would hold them too
    planes = plane_layout([] if contents.has_repeats or has_gaps else cards)
    layout = _layout_of(handle, contents, planes.n_groups)
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
    parts = [*layout.columns, *layout.planes]
    if not all(part.is_full for part in parts):
        raise RuntimeError("the blocks of a pack hold another number of rows than expected")
    text = _description(contents, layout, totals[: planes.n_planes].tolist())
    write_at(handle, text, layout.end)
    version = 2 if has_gaps or any(variable.kind for variable in contents.variables) else 1
    write_at(handle, preamble(layout.end, text, version), 0)


def _layout_of(handle: int, contents: Contents, n_groups: int) -> _Layout:
    """Return the position of every part."""
    kinds = [variable.type for variable in contents.variables] + [np.int64] * contents.has_repeats
    columns, end = [], _aligned(PREAMBLE_BYTES)
    for kind in kinds:
        length = contents.n_records * np.dtype(kind).itemsize
        columns.append(_Part(handle, end, length))
        end = _aligned(end + length)
    length = -(-contents.n_records // WORD) * 8 * LANES
    planes = [_Part(handle, end + group * length, length) for group in range(n_groups)]
    return _Layout(columns, planes, end + n_groups * length)


def _description(contents: Contents, layout: _Layout, totals: list[int]) -> bytes:
    parts = {f"column {k}": part for k, part in enumerate(layout.columns)}
    if contents.has_repeats:
        parts["repeats"] = parts.pop(f"column {len(layout.columns) - 1}")
    sections = {name: [part.start, part.length, part.checksum] for name, part in parts.items()}
    sections |= {f"planes {g}": [part.start, part.length, part.checksum] for g, part in enumerate(layout.planes)}
    missing = contents.missing
    described = {
        "n_records": contents.n_records,
        "variables": [variable.described() for variable in contents.variables],
        "missing": {
            "policy": missing.policy,
            "counts": dict(missing.counts),
            "rows_dropped": missing.rows_dropped,
            **({"alone": dict(missing.alone)} if missing.alone else {}),
        },
        "cuts": {name: list(map(float, cuts)) for name, cuts in contents.cuts.items()},
        "plane_totals": totals,
        "sections": sections,
    }
    return json.dumps(described, ensure_ascii=False, allow_nan=True).encode()


def whole_words(blocks: Iterable[Block]) -> Iterator[Block]:
    """Yield the rows in blocks of whole words of 64; only the last may be shorter."""
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
    """Write the new name to the disk, where folders can be opened."""
    with suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


# Appending rows to a packed file


BLOCK_ROWS = 1 << 20


@contextmanager
def append_lock(path: Path) -> Iterator[None]:
    """Reserve a file for appending; raise FileError if another process appends: the rows of one would be lost."""
    with only_user(path) as free:
        if not free:
            raise FileError(f"append must run alone; another process is appending to {path}. Wait for it to end.")
        yield


def options_of_pack(old: Dataset, options: TableOptions) -> TableOptions:
    """Return the options that read new rows as the rows of the pack were read."""
    odd = next((name for name in ("columns", "types", "levels") if getattr(options, name)), None)
    if odd is not None:
        raise InputError(f"{odd} is fixed by the pack that is appended to; got {getattr(options, odd)!r}. Drop it.")
    assert old.pack is not None
    return replace(
        options,
        columns=old.names,
        types=dict(zip(old.names, old.kinds, strict=True)),
        levels={
            name: [label for label in labels if label is not None]
            for name, labels in zip(old.names, old.levels, strict=True)
            if labels is not None and (name in old.declared or _is_fixed(old, name, labels))
        },
    )


def _is_fixed(old: Dataset, name: str, labels: Sequence[Hashable]) -> bool:
    """Return whether a pack cannot have more levels of a variable: where only their list says the order."""
    return name in old.ordinal and any(isinstance(label, str) for label in labels)


def contents_like(old: Dataset, data: Dataset) -> Contents:
    """Return coded rows, in memory or in another pack, as rows to append to a pack."""
    chosen = data.select(old.names)
    assert old.pack is not None
    for x, (name, before, labels) in enumerate(zip(old.names, old.levels, chosen.levels, strict=True)):
        kinds = old.kinds[x], chosen.kinds[x]
        if kinds[0] != kinds[1]:
            raise DataError(
                f"column {name!r} must have one type in old and new rows; it is {kinds[0]} in the pack and "
                f"{kinds[1]} in the rows to append. Pack the source of one of the two again with types={{...}}."
            )
        fixed = name in old.declared or _is_fixed(old, name, before or ())
        outside = [label for label in labels or () if label is not None and label not in (before or ())]
        if fixed and outside:
            raise DataError(
                f"levels[{name!r}] were fixed when the pack was made; the rows to append also hold {outside[0]!r}. "
                "Pack all rows again with longer levels."
            )
    found = contents_of(chosen)
    alike = zip(found.variables, old.pack.declared, strict=True)
    return replace(found, variables=[replace(variable, declared=fixed) for variable, fixed in alike])


def contents_of(data: Dataset) -> Contents:
    """Return the contents of a data set in memory or in another pack."""
    check_not_weighted(data, "rows of a pack", "Pack them with the column of weights as a variable.")
    data.verify()
    report, names = data.missing, frozenset(data.names)
    counts, alone = ({name: n for name, n in part.items() if name in names} for part in (report.counts, report.alone))
    return Contents(
        variables=[_variable(data, x) for x in range(data.n_variables)],
        n_records=data.n_records,
        has_repeats=data.repeats is not None,
        missing=replace(report, counts=MappingProxyType(counts), alone=MappingProxyType(alone)),
        cuts=data.cuts,
        blocks=_sliced([*data.columns, *([] if data.repeats is None else [data.repeats])]),
    )


def _variable(data: Dataset, x: int) -> Variable:
    """Return a variable of a data set as one to write."""
    name = data.names[x]
    return Variable(
        name,
        data.levels[x],
        name in data.declared,
        "ordinal" if name in data.ordinal else "count" if name in data.counted else None,
        name in data.gaps,
        data.reasons.get(name, ""),
    )


def _sliced(columns: Sequence[NDArray[Any]]) -> Iterator[Block]:
    for start in range(0, len(columns[0]), BLOCK_ROWS):
        yield [column[start : start + BLOCK_ROWS] for column in columns]


def _added(names: Sequence[str], old: Mapping[str, int], new: Mapping[str, int]) -> Mapping[str, int]:
    """Return the sums of two counts by name, in the order of the names."""
    return MappingProxyType({name: old.get(name, 0) + new.get(name, 0) for name in names if name in old or name in new})


def joined_contents(old: Dataset, new: Contents) -> Contents:
    """Return the rows of a pack, followed by those to append."""
    has_repeats = old.repeats is not None or new.has_repeats
    _check_policies(old, new)
    present = contents_of(old)
    merged = [_merged(before, v) for before, v in zip(present.variables, new.variables, strict=True)]
    tables = [_table(before, after) for before, after in zip(present.variables, merged, strict=True)]
    newer = [_table(before, after) for before, after in zip(new.variables, merged, strict=True)]
    policy = new.missing.policy if new.missing.counts and not old.gaps else old.missing.policy
    dropped = old.missing.rows_dropped + new.missing.rows_dropped
    counts = _added(old.names, old.missing.counts, new.missing.counts)
    alone = _added(old.names, old.missing.alone, new.missing.alone)
    return Contents(
        variables=merged,
        n_records=old.n_records + new.n_records,
        has_repeats=has_repeats,
        missing=MissingReport(policy, counts, dropped, alone),
        cuts=old.cuts,
        blocks=chain(
            _moved(present.blocks, tables, weighted=has_repeats),
            _moved(new.blocks, newer, weighted=has_repeats),
        ),
    )


def _check_policies(old: Dataset, new: Contents) -> None:
    """Raise DataError if missing values are gaps in the old rows and a state in the new ones, or the other way."""
    policies = [report.policy for report in (old.missing, new.missing) if report.counts]
    if {"testwise", "category"} <= set(policies):
        raise DataError(
            f"missing must be {policies[0]!r}, as in the pack that is appended to; got {policies[1]!r}. Use the same."
        )


def _merged(old: Variable, new: Variable) -> Variable:
    """Return a variable with the levels of both, in order, the missing state last."""
    gaps = old.gaps or new.gaps
    if old.levels is None or new.levels is None:
        return replace(new, gaps=gaps, reason=old.reason)
    kept, added = ([label for label in labels if label is not None] for labels in (old.levels, new.levels))
    known = {_family(label) for label in kept}
    odd = next((label for label in added if _family(label) not in known), None)
    if kept and odd is not None:
        raise DataError(
            f"column {new.name!r} must hold one type of value in old and new rows; got {kept[0]!r} and {odd!r}. "
            "Pack all rows again with types={...: 'categorical'}."
        )
    fresh = [label for label in added if label not in set(kept)]
    found = kept if not fresh else sorted([*kept, *fresh], key=order_key)
    hole = (None,) if None in old.levels or None in new.levels else ()
    return replace(old, levels=(*found, *hole), gaps=gaps)


def _family(label: Hashable) -> type:
    """Return the type of a label, one for all numbers; True is not 1, though Python says that they are equal."""
    families = (bool, (int, float, Decimal), str, datetime, date)
    found = next((family for family in families if isinstance(label, family)), type(label))
    return float if isinstance(found, tuple) else found


def _table(before: Variable, after: Variable) -> NDArray[Any] | None:
    """Return the table from codes among some levels, and a gap, to codes among more; None where nothing changes."""
    if before.levels is None or after.levels is None or (before.levels == after.levels and before.type == after.type):
        return None
    place = {label: code for code, label in enumerate(after.levels)}
    codes = [place[label] for label in before.levels] + [after.card] * before.gaps
    return np.array(codes, dtype=after.type)


def _moved(blocks: Iterable[Block], tables: Sequence[NDArray[Any] | None], *, weighted: bool) -> Iterator[Block]:
    """Yield blocks in other codes; rows without repeats occurred once."""
    for block in blocks:
        columns = [c if table is None else table[c] for c, table in zip(block, tables, strict=False)]
        weights = block[len(tables) :] or [np.ones(len(columns[0]), dtype=np.int64)]
        yield columns + (weights if weighted else [])
