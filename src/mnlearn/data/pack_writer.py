"""Write data of any size to a packed file, in constant memory; it gets its name only when it is complete."""

from __future__ import annotations

import json
import os
import zlib
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import date, datetime
from decimal import Decimal
from itertools import chain, groupby
from pathlib import Path
from types import MappingProxyType
from typing import Any, Literal, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from mnlearn.data.columns import ReadTable, order_key
from mnlearn.data.dataset import PROGRAM_FILES, Dataset, MissingReport, check_not_weighted, code_type
from mnlearn.data.missing import to_contents
from mnlearn.data.options import MissingPolicy, TableOptions, Types
from mnlearn.data.packs import (
    ALIGNMENT,
    LANES,
    PREAMBLE_BYTES,
    SUFFIX,
    as_json,
    group_words,
    open_pack,
    plane_layout,
    preamble,
)
from mnlearn.data.readers import already_coded, check_no_delimiter, check_no_sheet, read_source, select_from
from mnlearn.data.streams import Spool, files_of, paths_of, read_files, read_lazy, write_at
from mnlearn.errors import DataError, FileError, InputError, MnlearnError, check_methods, check_path
from mnlearn.files import check_outputs, replacing, try_to_write
from mnlearn.parallel import run
from mnlearn.protocols import SILENT, Monitor

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
        return np.float64 if self.levels is None else code_type(self.card + self.gaps)

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


# Joining packed files with other rows


BLOCK_ROWS = 1 << 20


def joined_sources(parts: Sequence[object], options: TableOptions, spool: Spool, monitor: Monitor) -> Contents:
    """Read a packed file and what follows it; the others take its columns, its types and its declared levels."""
    coded = [already_coded(part) for part in parts]
    chosen = TableOptions(columns=options.columns, drop=options.drop, types=options.types, levels=options.levels)
    own = chosen if None in coded else options
    first = coded[0]
    assert first is not None
    first = select_from(first, own)
    own, alike = replace(own, columns=first.names, drop=()), _options_like(first, options)
    found = [contents_of(first)]
    for part, data in zip(parts[1:], coded[1:], strict=True):
        if data is None:
            found.append(_read_contents(part, alike, spool, monitor, least=1))
        else:
            found.append(_contents_like(first, select_from(data, own)))
    return _joined(found)


def _options_like(old: Dataset, options: TableOptions) -> TableOptions:
    """Return the options that read new rows as the rows of the pack were read."""
    return replace(
        options,
        columns=old.names,
        drop=(),
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


def _contents_like(old: Dataset, data: Dataset) -> Contents:
    """Return coded rows, in memory or in another pack, to add to those of a pack."""
    for x, (name, before, labels) in enumerate(zip(old.names, old.levels, data.levels, strict=True)):
        kinds = old.kinds[x], data.kinds[x]
        if kinds[0] != kinds[1]:
            raise DataError(
                f"column {name!r} must have one type in old and new rows; it is {kinds[0]} in the first pack and "
                f"{kinds[1]} in the rows to add. Pack the source of one of the two again with types={{...}}."
            )
        fixed = name in old.declared or _is_fixed(old, name, before or ())
        outside = [label for label in labels or () if label is not None and label not in (before or ())]
        if fixed and outside:
            raise DataError(
                f"levels[{name!r}] were fixed when the first pack was made; the rows to add also hold {outside[0]!r}. "
                "Pack all rows again with longer levels."
            )
    return contents_of(data)


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


def _joined(parts: Sequence[Contents]) -> Contents:
    """Return the rows of the parts, which have the same variables, one after the other."""
    merged, missing = parts[0].variables, parts[0].missing
    names = [variable.name for variable in merged]
    for part in parts[1:]:
        missing = _both(names, missing, part.missing, has_gaps=any(variable.gaps for variable in merged))
        merged = [_merged(old, new) for old, new in zip(merged, part.variables, strict=True)]
    has_repeats = any(part.has_repeats for part in parts)
    return Contents(
        variables=merged,
        n_records=sum(part.n_records for part in parts),
        has_repeats=has_repeats,
        missing=missing,
        cuts=parts[0].cuts,
        blocks=chain.from_iterable(_moved(part, merged, weighted=has_repeats) for part in parts),
    )


def _added(names: Sequence[str], old: Mapping[str, int], new: Mapping[str, int]) -> Mapping[str, int]:
    """Return the sums of two counts by name, in the order of the names."""
    return MappingProxyType({name: old.get(name, 0) + new.get(name, 0) for name in names if name in old or name in new})


def _both(names: Sequence[str], old: MissingReport, new: MissingReport, *, has_gaps: bool) -> MissingReport:
    """Return what was missing in all rows; raise DataError for gaps in some of them and a state in the others."""
    policies = [report.policy for report in (old, new) if report.counts]
    if {"testwise", "category"} <= set(policies):
        raise DataError(f"missing must be {policies[0]!r}, as in the first pack; got {policies[1]!r}. Use the same.")
    return MissingReport(
        new.policy if new.counts and not has_gaps else old.policy,
        _added(names, old.counts, new.counts),
        old.rows_dropped + new.rows_dropped,
        _added(names, old.alone, new.alone),
    )


def _merged(old: Variable, new: Variable) -> Variable:
    """Return a variable with the levels of both, in order, the missing state last."""
    gaps = old.gaps or new.gaps
    if old.levels is None or new.levels is None:
        return replace(old, gaps=gaps)
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


def _moved(part: Contents, variables: Sequence[Variable], *, weighted: bool) -> Iterator[Block]:
    """Yield the blocks of a part in the codes of all; rows without repeats occurred once."""
    tables = [_table(before, after) for before, after in zip(part.variables, variables, strict=True)]
    for block in part.blocks:
        columns = [c if table is None else table[c] for c, table in zip(block, tables, strict=False)]
        weights = block[len(tables) :] or [np.ones(len(columns[0]), dtype=np.int64)]
        yield columns + (weights if weighted else [])


def pack(
    source: object,
    out: str | os.PathLike[str],
    *,
    columns: Sequence[str] | None = None,
    types: Types | None = None,
    levels: Mapping[str, Sequence[Hashable]] | None = None,
    missing: MissingPolicy = "error",
    missing_values: Iterable[Hashable] = (),
    repeats: str | None = None,
    delimiter: str | None = None,
    drop: Iterable[str] = (),
    row_names: bool = False,
    transpose: bool = False,
    decimal: str | None = None,
    sheet: str | None = None,
    names: Sequence[str] | None = None,
    monitor: Monitor = SILENT,
) -> Dataset:
    """Write data to a packed file, which is opened in milliseconds and counted without being read into memory.

    Parameters
    ----------
    source
        A path to CSV, TSV or Parquet, a folder of such files, a pattern such as ``"part-*.parquet"``, or a list of
        these; a dataset of Arrow or a stream of Arrow batches, such as a relation of DuckDB; or any other source that
        `read` accepts, such as one packed file. A pack of a pack is equal to it. A list that begins with a packed file,
        such as ``["years.mnpack", "2025.parquet"]``, gives its rows and then those of the other sources.
    out
        The file to write; its name ends in ``.mnpack``.
    columns, types, levels, missing, missing_values, repeats, delimiter
        As for `read`. Levels that are not declared are collected while reading.
    drop, row_names, transpose, decimal, sheet, names
        As for `read`.
    monitor
        Receives the number of files read, and may cancel; then nothing is written.

    Returns
    -------
    Dataset
        The file, opened: equal to the result of `read`, with columns mapped from the file.

    Raises
    ------
    FileError
        A source cannot be read, or the file cannot be written.
    DataError
        The contents break a rule of `read`.

    Notes
    -----
    Sources are read once. Memory holds about a million rows at a time. Codes are kept in an unnamed file beside `out`,
    so the disk needs room for twice the pack. The file is written under another name and renamed when it is complete
    and on the disk: after an interruption or a power failure there is the old file or the new one.

    In a list after a packed file, the other sources take its columns, types and declared levels. Levels that only they
    have are inserted in order, unless the levels were declared; then they are an error.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     data = pack({"rain": ["yes", "no", "no"], "umbrella": [1, 0, 0]}, folder + "/wet.mnpack")
    ...     new = {"rain": ["yes"] * 2, "umbrella": [1, 0]}
    ...     more = pack([folder + "/wet.mnpack", new], folder + "/more.mnpack")
    >>> data.levels, more.n_rows
    ((('no', 'yes'), (0, 1)), 5)
    """
    check_path("out", out)
    check_methods("monitor", monitor, ("progress", "cancelled"), "Leave it out to show no progress.")
    options = TableOptions(
        columns=columns,
        types=types,
        levels=levels,
        missing=missing,
        missing_values=missing_values,
        repeats=repeats,
        delimiter=delimiter,
        drop=drop,
        row_names=row_names,
        transpose=transpose,
        decimal=decimal,
        sheet=sheet,
        names=names,
    )
    target = _target(out)
    parts = _parts_of(source)
    read = [path for part in parts for path in paths_of(part) or ()]
    check_outputs({"out": [str(target)]}, {"source": list(map(str, read))})
    with Spool(target.parent) as spool:
        if len(parts) > 1:
            contents = joined_sources(parts, options, spool, monitor)
        else:
            contents = _read_contents(parts[0], options, spool, monitor, least=2)
        if monitor.cancelled():
            raise MnlearnError(f"packing was stopped before {target.name} was complete; nothing was written.")
        write_pack(target, contents)
    return open_pack(target)


def _target(out: str | os.PathLike[str]) -> Path:
    """Return the path to write to, or raise FileError."""
    target = Path(os.fsdecode(out))
    if target.suffix.lower() != SUFFIX:
        raise FileError(f"out must end in {SUFFIX}; got {target.name!r}. Use {target.stem + SUFFIX!r}.")
    if not target.parent.is_dir():
        raise FileError(f"out must be in an existing folder; there is no {str(target.parent)!r}. Create it first.")
    try:
        try_to_write(target)
    except OSError as error:
        raise FileError(
            f"out must be a file that can be written; {target}: {error.strerror or error}. Name another file."
        ) from error
    return target


def _parts_of(source: object) -> list[object]:
    """Return the sources to pack one after the other: more than one only if the first is a packed file."""
    listed = source if isinstance(source, list | tuple) else [source]
    if not listed or not isinstance(listed[0], str | os.PathLike):
        return [source]
    found: list[Any] = []
    for one in listed:
        found += paths_of(one) or [one]
    place = next((k for k, part in enumerate(found) if _is_pack(part)), None)
    if place is None:
        return [source]
    if place > 0:
        raise InputError(
            f"source must have a packed file first, because the other sources take its columns and types; got "
            f"{found[place].name!r} after {place} other{'s' * (place > 1)}. Name it first."
        )
    runs = groupby(found, key=_is_streamed)
    return [part for streamed, run in runs for part in ([list(run)] if streamed else run)]


def _is_pack(part: object) -> bool:
    return isinstance(part, Path) and part.suffix.lower() == SUFFIX


def _is_streamed(part: object) -> bool:
    """Return whether this is a file of text or Parquet, which is read together with the next ones."""
    return isinstance(part, Path) and part.suffix.lower() not in (SUFFIX, *PROGRAM_FILES)


def _read_contents(source: object, options: TableOptions, spool: Spool, monitor: Monitor, *, least: int) -> Contents:
    """Read a source of at least so many rows and return what to write."""
    paths = paths_of(source) or []
    coded = already_coded(source)
    if coded is not None:
        return contents_of(select_from(coded, options))
    on_disk = replace(options, new_chunks=spool.chunks)
    if options.transpose or (len(paths) == 1 and paths[0].suffix.lower() in PROGRAM_FILES):
        return contents_of(read_source(_only_file(source, paths), options))
    if paths:
        options.check_no_names(paths[0].name)
        check_no_sheet(paths[0].name, options)
        files = files_of(paths, options)
        return to_contents(read_files(files, on_disk, monitor), options.missing, spool, least=least)
    check_no_delimiter(source, options)
    streamed = _streamed(source, on_disk, monitor)
    if streamed is not None:
        return to_contents(streamed, options.missing, spool, least=least)
    return contents_of(read_source(source, options))


def _only_file(source: object, paths: Sequence[Path]) -> object:
    """Return the source of a table to transpose, which is one file at most."""
    if len(paths) > 1:
        raise InputError(f"transpose is for one file at a time; got {len(paths)}. Pack them one by one.")
    return paths[0] if paths else source


def _streamed(source: object, options: TableOptions, monitor: Monitor) -> ReadTable | None:
    """Read a table that comes in batches; None for any other."""
    if type(source).__module__.partition(".")[0] in ("builtins", "numpy", "pandas"):
        return None
    from mnlearn.data.parquet import lazy_table, open_stream

    lazy = lazy_table(source)
    if lazy is not None:
        options.check_no_names(lazy.title)
        return read_lazy(lazy, options, monitor)
    if _is_stream(source):
        options.check_no_names("an Arrow stream")
        with open_stream(source) as table:
            return read_lazy(table, options, monitor)
    return None


def _is_stream(source: object) -> bool:
    """Return whether this is a stream of Arrow batches rather than a data frame in memory."""
    module = type(source).__module__.partition(".")[0]
    return hasattr(source, "__arrow_c_stream__") and module not in ("pandas", "polars", "narwhals", "xarray")
