"""Write a packed file from blocks of rows, or append rows to one; it gets its name only when it is complete.

Write data of any size to a packed file, or append to one, in constant memory.
"""

from __future__ import annotations

import json
import os
import zlib
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import dataclass, replace
from datetime import date, datetime
from decimal import Decimal
from itertools import chain
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
from mnlearn.data.streams import Spool, files_of, paths_of, read_files, read_lazy, read_stream, write_at
from mnlearn.errors import DataError, FileError, InputError, MnlearnError, check_methods, check_path, true_or_false
from mnlearn.files import check_outputs, only_user, replacing, try_to_write
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
    append: bool = False,
    monitor: Monitor = SILENT,
) -> Dataset:
    """Write data to a packed file, which is opened in milliseconds and counted without being read into memory.

    Parameters
    ----------
    source
        A path to CSV, TSV or Parquet, a folder of such files, a pattern such as ``"part-*.parquet"``, or a list of
        these; a dataset or a stream of Arrow batches, a LazyFrame of polars or a relation of DuckDB; or any other
        source that `read` accepts, such as one packed file. A pack of a pack is equal to it.
    out
        The file to write; its name ends in ``.mnpack``.
    columns, types, levels, missing, missing_values, repeats, delimiter
        As for `read`. Levels that are not declared are collected while reading.
    drop, row_names, transpose, decimal, sheet, names
        As for `read`.
    append
        Add the rows to an existing file.
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

    Appending writes a new file with the old rows and the new ones. Levels that only the new rows have are inserted in
    order, unless the levels were declared; then they are an error. A pack or a `Dataset` can be appended too. Only one
    process can append to a file at a time.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     data = pack({"rain": ["yes", "no", "no"], "umbrella": [1, 0, 0]}, folder + "/wet.mnpack")
    ...     more = pack({"rain": ["yes"] * 2, "umbrella": [1, 0]}, folder + "/wet.mnpack", append=True)
    >>> data.levels, more.n_rows
    ((('no', 'yes'), (0, 1)), 5)
    """
    check_path("out", out)
    check_methods("monitor", monitor, ("progress", "cancelled"), "Leave it out to show no progress.")
    true_or_false(append=append)
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
    target = _target(out, append=append)
    check_outputs({"out": [str(target)]}, {"source": list(map(str, paths_of(source) or ()))})
    with Spool(target.parent) as spool, append_lock(target) if append else nullcontext():
        old = open_pack(target) if append else None
        if old is not None:
            old.verify()
            options = options_of_pack(old, options)
        new = _contents(source, options, spool, monitor, old)
        if monitor.cancelled():
            raise MnlearnError(f"packing was stopped before {target.name} was complete; nothing was written.")
        write_pack(target, new if old is None else joined_contents(old, new))
    return open_pack(target)


def _target(out: str | os.PathLike[str], *, append: bool) -> Path:
    """Return the path to write to, or raise FileError."""
    target = Path(os.fsdecode(out))
    if target.suffix.lower() != SUFFIX:
        raise FileError(f"out must end in {SUFFIX}; got {target.name!r}. Use {target.stem + SUFFIX!r}.")
    if not target.parent.is_dir():
        raise FileError(f"out must be in an existing folder; there is no {str(target.parent)!r}. Create it first.")
    if append and not target.exists():
        raise FileError(f"append needs an existing pack; there is no {target}. Leave append out to create it.")
    try:
        try_to_write(target)
    except OSError as error:
        raise FileError(
            f"out must be a file that can be written; {target}: {error.strerror or error}. Name another file."
        ) from error
    return target


def _contents(source: object, options: TableOptions, spool: Spool, monitor: Monitor, old: Dataset | None) -> Contents:
    """Read a source and return what to write, or what to append to a pack."""
    least = 2 if old is None else 1
    paths = paths_of(source) or []
    coded = already_coded(_only_pack(paths) or source)
    if coded is not None and old is not None:
        return contents_like(old, select_from(coded, replace(options, columns=None, types=None, levels=None)))
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


def _only_pack(paths: Sequence[Path]) -> Path | None:
    """Return the packed file that the source is; None for other files."""
    packs = [path for path in paths if path.suffix.lower() == SUFFIX]
    if packs and len(paths) > 1:
        raise InputError(
            f"source must be one pack, or files of text or Parquet; got {len(paths)} files with the pack "
            f"{packs[0].name!r}. Pack them one by one: the first, then each of the others with append=True."
        )
    return packs[0] if packs else None


def _streamed(source: object, options: TableOptions, monitor: Monitor) -> ReadTable | None:
    """Read a table that comes in batches; None for any other."""
    if type(source).__module__.partition(".")[0] in ("builtins", "numpy", "pandas"):
        return None
    from mnlearn.data.parquet import lazy_table

    lazy = lazy_table(source)
    if lazy is not None:
        options.check_no_names(lazy.title)
        return read_lazy(lazy, options, monitor)
    if _is_stream(source):
        options.check_no_names("an Arrow stream")
        return read_stream(source, options, "the Arrow stream")
    return None


def _is_stream(source: object) -> bool:
    """Return whether this is a stream of Arrow batches rather than a data frame in memory."""
    module = type(source).__module__.partition(".")[0]
    return hasattr(source, "__arrow_c_stream__") and module not in ("pandas", "polars", "narwhals")
