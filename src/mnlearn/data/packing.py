"""Data of any size to a packed file, in constant memory; and more rows to a packed file that is there."""

from __future__ import annotations

import os
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain
from pathlib import Path
from types import MappingProxyType
from typing import Any, get_args

import numpy as np
from numpy.typing import NDArray

from mnlearn.data import _checks
from mnlearn.data._coding import order_key
from mnlearn.data._gather import files_of, gather_files, gather_stream
from mnlearn.data._packwriter import Block, Contents, Variable, write_pack
from mnlearn.data._request import MissingPolicy, Request, VariableType
from mnlearn.data._spool import Spool
from mnlearn.data._survey import surveyed
from mnlearn.data.dataset import Dataset, MissingReport
from mnlearn.data.packfile import SUFFIX, open_pack
from mnlearn.data.readers import read
from mnlearn.errors import DataError, FileError, InputError, MnlearnError, true_or_false
from mnlearn.protocols import SILENT, Monitor

BLOCK_ROWS = 1 << 20


def pack(
    source: object,
    out: str | os.PathLike[str],
    *,
    columns: Sequence[str] | None = None,
    types: Mapping[str, VariableType] | None = None,
    levels: Mapping[str, Sequence[Hashable]] | None = None,
    missing: MissingPolicy = "error",
    missing_values: Iterable[Hashable] = (),
    repeats: str | None = None,
    delimiter: str | None = None,
    append: bool = False,
    monitor: Monitor = SILENT,
) -> Dataset:
    """Write data to a packed file, which is opened in milliseconds and counted without being read into memory.

    Parameters
    ----------
    source
        A path to CSV, TSV or Parquet, a folder of such files, a pattern such as ``"part-*.parquet"``, or a list of
        these; a stream of Arrow batches; or whatever else `read` accepts.
    out
        The file to write; its name ends in ``.mnpack``.
    columns, types, levels, missing, missing_values, repeats, delimiter
        As for `read`. Levels that are not declared are found on the way.
    append
        Add the rows to a file that is there already.
    monitor
        Hears how many files were read, and may stop; nothing is written then.

    Returns
    -------
    Dataset
        The file, opened: what `read` gives for the same source, with columns that are mapped from it.

    Raises
    ------
    FileError
        A source cannot be read, or the file cannot be written.
    DataError
        The contents break a rule; the same ones as for `read`.

    Notes
    -----
    Sources are read once. Memory holds about a million rows at a time, whatever their number; the codes wait in an
    unnamed file beside `out`, so the disk needs room for twice the pack. The file is written under another name and
    renamed when it is complete and on the disk: who is interrupted, or out of power, finds the old file or the new one.
    So does who appends: the new file is the old rows and the new ones, written anew at the speed of the disk. Levels
    that only the new rows have are entered in their place, unless the levels were declared; then they are an error.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     data = pack({"rain": ["yes", "no", "no"], "umbrella": [1, 0, 0]}, folder + "/wet.mnpack")
    ...     more = pack({"rain": ["yes"] * 2, "umbrella": [1, 0]}, folder + "/wet.mnpack", append=True)
    >>> data.levels, more.n_rows
    ((('no', 'yes'), (0, 1)), 5)
    """
    if missing not in get_args(MissingPolicy):
        raise InputError(f"missing must be one of {', '.join(map(repr, get_args(MissingPolicy)))}; got {missing!r}.")
    true_or_false(append=append)
    target = _target(out, append=append)
    old = open_pack(target) if append else None
    if old is not None:
        old.verify()
        columns, types, levels = _as_before(old, columns, types, levels)
    with Spool(target.parent) as spool:
        request = Request(
            columns=columns,
            types=types,
            levels=levels,
            missing_values=missing_values,
            repeats=repeats,
            delimiter=delimiter,
            new_chunks=spool.chunks,
        )
        new = _contents(source, request, missing, spool, monitor, least=1 if append else 2)
        if monitor.cancelled():
            raise MnlearnError(f"packing was stopped before {target.name} was complete; nothing was written.")
        write_pack(target, new if old is None else _joined(old, new))
    return open_pack(target)


def _target(out: str | os.PathLike[str], *, append: bool) -> Path:
    """A file that can be a pack."""
    target = Path(os.fsdecode(out))
    if target.suffix.lower() != SUFFIX:
        raise FileError(f"out must end in {SUFFIX}; got {target.name!r}. Use {target.stem + SUFFIX!r}.")
    if not target.parent.is_dir():
        raise FileError(f"out must be in an existing folder; there is no {str(target.parent)!r}. Create it first.")
    if append and not target.exists():
        raise FileError(f"append needs a pack that is there; there is no {target}. Leave append out to make it.")
    return target


def _contents(
    source: object, request: Request, missing: MissingPolicy, spool: Spool, monitor: Monitor, *, least: int
) -> Contents:
    """What a source holds, ready to be written; at least so many rows."""
    files = None if _is_pack(source) else files_of(source, request.delimiter)
    if files is not None:
        return surveyed(gather_files(files, request, monitor), missing, spool, least=least)
    if request.delimiter is not None:
        raise InputError(f"delimiter is for text files; got a {type(source).__name__}. Drop the delimiter.")
    if _is_stream(source):
        return surveyed(gather_stream(source, request), missing, spool, least=least)
    asked = replace(request, new_chunks=list)
    options = {name: getattr(asked, name) for name in ("columns", "types", "levels", "missing_values", "repeats")}
    return _held(read(source, missing=missing, **options), set(request.levels or ()))


def _is_pack(source: object) -> bool:
    return isinstance(source, str | os.PathLike) and os.fsdecode(source).lower().endswith(SUFFIX)


def _is_stream(source: object) -> bool:
    """Whether this is a stream of Arrow batches, and no frame that is in memory anyway."""
    module = type(source).__module__.partition(".")[0]
    return hasattr(source, "__arrow_c_stream__") and module not in ("pandas", "polars", "narwhals")


def _held(data: Dataset, declared: set[str]) -> Contents:
    """A data set that is in memory, or in another pack."""
    was_declared = (False,) * data.n_variables if data.pack is None else data.pack.declared
    if len(was_declared) != data.n_variables:
        was_declared = (False,) * data.n_variables
    return Contents(
        variables=[
            Variable(name, labels, name in declared or fixed)
            for name, labels, fixed in zip(data.names, data.levels, was_declared, strict=True)
        ],
        n_records=data.n_records,
        has_repeats=data.repeats is not None,
        missing=data.missing,
        cuts=data.cuts,
        blocks=_sliced([*data.columns, *([] if data.repeats is None else [data.repeats])]),
    )


def _sliced(columns: Sequence[NDArray[Any]]) -> Iterator[Block]:
    for start in range(0, len(columns[0]), BLOCK_ROWS):
        yield [column[start : start + BLOCK_ROWS] for column in columns]


def _as_before(
    old: Dataset,
    columns: Sequence[str] | None,
    types: Mapping[str, VariableType] | None,
    levels: Mapping[str, Sequence[Hashable]] | None,
) -> tuple[Sequence[str], dict[str, VariableType], dict[str, Sequence[Hashable]]]:
    """The options with which new rows are read as the old ones were."""
    given = {"columns": columns, "types": types, "levels": levels}
    odd = [name for name, value in given.items() if value]
    if odd:
        raise InputError(f"{odd[0]} is settled by the pack that is appended to; got {given[odd[0]]!r}. Drop it.")
    assert old.pack is not None
    kinds: dict[str, VariableType] = {
        name: "categorical" if card else "continuous" for name, card in zip(old.names, old.cards, strict=True)
    }
    fixed: dict[str, Sequence[Hashable]] = {
        name: [label for label in labels if label is not None]
        for name, labels, declared in zip(old.names, old.levels, old.pack.declared, strict=True)
        if declared and labels is not None
    }
    return old.names, kinds, fixed


def _joined(old: Dataset, new: Contents) -> Contents:
    """The rows of a pack, and those to be appended to it."""
    has_repeats = old.repeats is not None or new.has_repeats
    merged = [_merged(v, labels) for v, labels in zip(new.variables, old.levels, strict=True)]
    tables = [_table(labels, v.levels) for labels, v in zip(old.levels, merged, strict=True)]
    newer = [_table(before.levels, after.levels) for before, after in zip(new.variables, merged, strict=True)]
    counts = {
        name: old.missing.counts.get(name, 0) + new.missing.counts.get(name, 0)
        for name in old.names
        if name in old.missing.counts or name in new.missing.counts
    }
    policy = new.missing.policy if new.missing.counts else old.missing.policy
    dropped = old.missing.rows_dropped + new.missing.rows_dropped
    return Contents(
        variables=merged,
        n_records=old.n_records + new.n_records,
        has_repeats=has_repeats,
        missing=MissingReport(policy, MappingProxyType(counts), dropped),
        cuts=old.cuts,
        blocks=chain(
            _moved(_held(old, set()).blocks, tables, weighted=has_repeats),
            _moved(new.blocks, newer, weighted=has_repeats),
        ),
    )


def _merged(new: Variable, old: tuple[Hashable, ...] | None) -> Variable:
    """One variable with the levels of both: in their order, and what stands for missing last."""
    if old is None or new.levels is None:
        return new
    kept, added = ([label for label in labels if label is not None] for labels in (old, new.levels))
    if len({isinstance(label, str) for label in chain(kept, added)}) > 1:
        word = next(label for label in chain(kept, added) if isinstance(label, str))
        other = next(label for label in chain(kept, added) if not isinstance(label, str))
        raise DataError(
            f"column {new.name!r} must hold one type of value in old rows and new ones; got {word!r} and {other!r}. "
            "Pack all rows again with types={...: 'categorical'}."
        )
    fresh = [label for label in added if label not in set(kept)]
    found = kept if not fresh else sorted([*kept, *fresh], key=order_key)
    hole = (None,) if None in old or None in new.levels else ()
    return Variable(new.name, (*found, *hole), new.declared)


def _table(before: tuple[Hashable, ...] | None, after: tuple[Hashable, ...] | None) -> NDArray[Any] | None:
    """From codes among some levels to codes among more of them; None where nothing changes."""
    if before is None or after is None or before == after:
        return None
    place = {label: code for code, label in enumerate(after)}
    return np.array([place[label] for label in before], dtype=_checks.code_type(len(after)))


def _moved(blocks: Iterable[Block], tables: Sequence[NDArray[Any] | None], *, weighted: bool) -> Iterator[Block]:
    """Blocks in other codes; rows without repeats occurred once."""
    for block in blocks:
        columns = [c if table is None else table[c] for c, table in zip(block, tables, strict=False)]
        weights = block[len(tables) :] or [np.ones(len(columns[0]), dtype=np.int64)]
        yield columns + (weights if weighted else [])
